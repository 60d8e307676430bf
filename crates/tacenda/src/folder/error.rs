//! What can go wrong with a release folder. No error shows the content of a cell.

use crate::model::coded;
use std::io;

coded! {
    /// Why a release folder cannot be written, read or asked.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum FolderError {
        #[error("cannot write {file}: {source}; nothing was published, free the disk or fix its permissions and run again")]
        Write {
            /// The file.
            file: String,
            /// What the system said.
            source: io::Error,
        } = "F401", "a file of the release could not be written",
            "Nothing was published. Free the disk or fix its permissions and run the command again.";
        #[error("cannot read {file}: {source}; is this a release folder?")]
        Read {
            /// The file.
            file: String,
            /// What the system said.
            source: io::Error,
        } = "F402", "a file of the release could not be read",
            "Name the release's folder, the one that holds manifest.json.";
        #[error("manifest.json: {what}; fetch the release again from its publisher")]
        Manifest {
            /// What is wrong with it.
            what: String,
        } = "F403", "the manifest is damaged or was edited",
            "Fetch the release again from its publisher. A manifest is never edited by hand.";
        #[error("manifest.json has format {found}, this version reads format {known}; use a newer version")]
        TooNew {
            /// The format of the manifest.
            found: u64,
            /// The format that is known.
            known: u64,
        } = "F404", "the manifest was written by a later version",
            "Read the release with a newer version of tacenda.";
        #[error("{file} does not match its checksum in {list}; fetch the release again from its publisher")]
        Digest {
            /// The file.
            file: String,
            /// Where its checksum stands.
            list: &'static str,
        } = "F405", "a file is not the one that was published: its checksum differs",
            "Fetch the release again from its publisher. Do not use these numbers.";
        #[error("{file}, line {line}, column {column}: {what}; fetch the release again from its publisher")]
        Cell {
            /// The file.
            file: String,
            /// The line (for Parquet the row), counted from 1.
            line: u64,
            /// The column.
            column: String,
            /// What is wrong, without the cell's text.
            what: &'static str,
        } = "F406", "a cell cannot be read as what the manifest says of its column",
            "Fetch the release again from its publisher. Spreadsheets change cells when they save.";
        #[error("{file}: {what}; fetch the release again from its publisher")]
        File {
            /// The file.
            file: String,
            /// What is wrong.
            what: String,
        } = "F407", "a file is not what the manifest says: columns, rows or groups differ",
            "Fetch the release again from its publisher.";
        #[error("{file} is not on the list of checksums, so nothing vouches for it; remove it, or fetch the release again")]
        Unlisted {
            /// The file.
            file: String,
        } = "F408", "a file that is no part of the release",
            "Somebody added this file to the folder. The list of checksums does not name it, so nobody can tell who made it \
             or whether it was changed. Remove it, or fetch the release again from its publisher.";
        #[error("position {position} of the question: {what}")]
        Question {
            /// Where, counted in characters from 1.
            position: usize,
            /// What is wrong and what to write instead.
            what: String,
        } = "F410", "the question cannot be understood",
            "Write comparisons joined by `and`: age >= 65 and diagnosis in (flu, 'broken leg').";
        #[error("position {position} of the question: there is no column {column:?}{hint}")]
        NoColumn {
            /// Where, counted in characters from 1.
            position: usize,
            /// The name in the question.
            column: String,
            /// The nearest name, as half a sentence.
            hint: String,
        } = "F411", "the question names a column the release does not have",
            "Use a column of the release; quote odd names.";
        #[error("position {position} of the question: {what}{hint}")]
        NoValue {
            /// Where, counted in characters from 1.
            position: usize,
            /// What is wrong.
            what: String,
            /// The nearest value, as half a sentence.
            hint: String,
        } = "F412", "the question compares a column with something that is no value of it",
            "Numbers and dates are written as in the release, categories by a value or a group of the hierarchy.";
    }
}

impl FolderError {
    /// What the program ends with.
    pub fn exit_code(&self) -> u8 {
        match self {
            FolderError::Write { .. } => 7,
            FolderError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound => 2,
            FolderError::Read { .. } => 7,
            FolderError::TooNew { .. } => 2,
            FolderError::Manifest { .. }
            | FolderError::Digest { .. }
            | FolderError::Cell { .. }
            | FolderError::File { .. }
            | FolderError::Unlisted { .. } => 5,
            FolderError::Question { .. } | FolderError::NoColumn { .. } | FolderError::NoValue { .. } => 2,
        }
    }
}
