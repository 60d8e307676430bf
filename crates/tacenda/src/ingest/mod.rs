//! Readers in, encoded tables out; and the policy file.
//!
//! Text is met here and in the writers, nowhere else. [`Source`] recognises an input by its contents,
//! [`read_snapshot`] turns it into a table of codes, [`IngestError`] says what is wrong with it.
//!
//! # Who reads quotes
//! A text file is read twice, and four pieces of code interpret its quotes. Each is needed; all four follow one rule:
//! a quote opens only at the start of a cell, a doubled one stands for itself, and text behind a closing one is an error.
//!
//! - `sniff::Candidate`, in the first reading: counts delimiters outside quotes, once for each delimiter that comes into
//!   question. The delimiter must be known before anything can be split, and a quote that never closes must be reported
//!   with the line in which it opens, which the `csv` crate cannot tell.
//! - `text::Quotes`, in the second reading: finds where records end, so that chunks go to different threads whole. It
//!   looks at quotes and line breaks only, by vector instructions, because one thread does it for all others.
//! - the `csv` crate splits a chunk that holds a quote into cells. It is right in every odd case, and slower.
//! - `text::each_plain_record` splits a chunk without any quote: most chunks of most files, several times as fast.
//!
//! Properties in `text` compare the plain splitter with the crate, and chunks that were cut with the text as a whole.

mod error;
mod spool;
mod source;
mod sheet;
mod transcode;
mod sniff;
mod encode;
mod columns;
mod text;
mod columnar;
mod person;
mod snapshot;
mod delta;
pub mod policy_file;
mod draft;
pub mod foreign;

pub use delta::read_delta;
pub use draft::{Draft, DraftColumn, Guess, draft};
pub(crate) use error::CODES;
pub use error::{IngestError, Kind, Problem, SaidIn};
pub(crate) use policy_file::faults_of;
pub use policy_file::{AddedLeaves, Loaded, PolicyFileError, Remembered, read_policy};
pub use snapshot::{ReadOptions, Snapshot, read_snapshot};
pub use sniff::Layout;
pub use source::{Compression, Content, Given, Looked, Source};

#[cfg(test)]
mod tests;
