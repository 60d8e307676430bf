//! Keys: who signed, who approved, and who may open the vault.
//!
//! A person's keys lie in a folder of that person, apart from every project ([`KeyFolder`]). The library is given the place;
//! only the command and the Python package choose the user's. A signing key is minisign's: `minisign -V` checks what it
//! signed. Lines of the ledger and statements are signed with the same key, over the text that DSSE prescribes.
//!
//! # Guarantee
//! No secret key, passphrase or text behind it is printed in `Debug`, in an error or in a log.

mod error;
mod public;
mod signer;
mod trust;
mod statement;
mod place;
mod stream;
mod age_file;
mod vault_key;

pub use error::KeyError;
pub use place::{AskPassphrase, KeyFolder, NewKey};
pub use public::PublicKey;
pub(crate) use public::untrusted_comment;
pub use signer::Signer;
pub use statement::{ReleaseStatement, STATEMENT, StatementFacts};
pub(crate) use stream::{ChunkReader, ChunkWriter, Chunks};
pub use trust::{Introduction, Succession, Trust};
pub use vault_key::{VaultIdentity, VaultKey};

/// The name of the file that introduces the signer of a release.
pub const SIGNER: &str = "signer.json";
