//! Reads tables and policy files, and turns tables into codes.
//!
//! Only this room and the writers handle text. [`Source`] recognises an input by its contents, [`read_snapshot`] turns
//! it into a table of codes, [`IngestError`] says what is wrong with it.
//!
//! # Who reads quotes
//! A text file is read twice, and four pieces of code interpret its quotes. Each is needed, and all four follow one
//! rule: a quote opens only at the start of a cell, a doubled quote is a literal one, and text after a closing quote is
//! an error.
//!
//! - `sniff::Candidate`, in the first reading, counts delimiters outside quotes, for each possible delimiter. The
//!   delimiter must be known before anything can be split. A quote that never closes must be reported with the line in
//!   which it opens, and the `csv` crate does not know that line.
//! - `text::Quotes`, in the second reading, finds where records end, so that threads get whole records. It looks at
//!   quotes and line breaks only, by vector instructions, because one thread does it for all others.
//! - The `csv` crate splits a chunk that holds a quote into cells. It is right in every special case, and slower.
//! - `text::each_plain_record` splits a chunk without any quote, several times as fast. Most chunks of most files have
//!   none.
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
mod frames;
mod delta;
pub mod policy_file;
mod draft;
pub mod foreign;

pub use delta::read_delta;
pub(crate) use draft::hierarchy_text;
pub use draft::{Draft, DraftColumn, Guess, draft};
pub(crate) use error::CODES;
pub use error::{IngestError, Kind, Problem, SaidIn};
pub(crate) use frames::{
    FrameEncoder, duplicates, numbered_public, numbered_values, refuse_columns, refuse_problems, refuse_row_count,
};
pub(crate) use policy_file::faults_of;
pub use policy_file::{AddedLeaves, Loaded, PolicyFileError, Remembered, read_policy};
pub(crate) use snapshot::{Batch, ReadInBatches, read_in_batches, row_count};
pub use snapshot::{ReadOptions, Snapshot, read_snapshot};
pub use sniff::Layout;
pub use source::{Compression, Content, Given, Looked, Source};

#[cfg(test)]
mod tests;
