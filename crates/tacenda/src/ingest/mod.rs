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
pub use draft::Draft;
pub use draft::Finding;
pub use draft::Guess;
pub use draft::draft;
pub use error::CODES;
pub use error::IngestError;
pub use error::Kind;
pub use error::Problem;
pub use error::SaidIn;
pub use policy_file::Loaded;
pub use policy_file::PolicyFileError;
pub use policy_file::canonical;
pub use policy_file::faults_of;
pub use policy_file::is_looser;
pub use policy_file::read_policy;
pub use snapshot::ReadOptions;
pub use snapshot::Snapshot;
pub use snapshot::read_snapshot;
pub use sniff::Layout;
pub use source::Compression;
pub use source::Content;
pub use source::Looked;
pub use source::Source;

#[cfg(test)]
mod tests;
