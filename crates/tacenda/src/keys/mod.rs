//! Keys: who signed, and who approved.
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

pub use error::KeyError;
pub use place::{AskPassphrase, KeyFolder, NewKey};
pub use public::PublicKey;
pub(crate) use public::untrusted_comment;
pub use signer::Signer;
pub use statement::{ReleaseStatement, STATEMENT, StatementFacts};
pub use trust::{Introduction, Succession, Trust};

/// The name of the file that introduces the signer of a release.
pub const SIGNER: &str = "signer.json";
