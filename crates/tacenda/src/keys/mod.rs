//! Keys: who signed, who approved, and who may open the vault.
//!
//! A person's keys are in that person's own folder, outside every project ([`KeyFolder`]). The caller passes the folder
//! to the library; the command and the Python package choose the user's. A signing key is a minisign key, so `minisign
//! -V` checks its signatures. Lines of the ledger and statements are signed with the same key, over the text that DSSE
//! prescribes.
//!
//! # Guarantee
//! No secret key and no passphrase is printed by `Debug`, in an error or in a log.

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
