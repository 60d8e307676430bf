//! Readers in, encoded tables out; and the policy file.
//!
//! Text is met here and in the writers, nowhere else. [`Source`] recognises an input by its contents,
//! [`read_snapshot`] turns it into a table of codes, [`IngestError`] says what is wrong with it.

mod error;
mod source;
mod transcode;
mod sniff;
mod encode;
mod columns;
mod text;
mod columnar;
mod snapshot;
mod delta;
pub mod policy_file;
mod draft;
pub mod foreign;

pub use delta::read_delta;
pub use draft::{Draft, Finding, Guess, draft};
pub use error::{CODES, IngestError, Kind, Problem, SaidIn};
pub use policy_file::{Loaded, PolicyFileError, Remembered, faults_of, read_policy};
pub use snapshot::{ReadOptions, Snapshot, read_snapshot};
pub use sniff::Layout;
pub use source::{Compression, Content, Looked, Source};

#[cfg(test)]
mod tests;
