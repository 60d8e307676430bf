//! What can go wrong with a release folder. No error shows what stands in a cell.

use std::io;

/// Why a release folder cannot be written, read or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// A file could not be written.
    #[error("cannot write {file}: {source}; nothing was published, free the disk or fix its permissions and run again")]
    Write {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// A file could not be read.
    #[error("cannot read {file}: {source}; is this a release folder?")]
    Read {
        /// The file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The manifest does not say what a manifest says.
    #[error("manifest.json: {what}; fetch the release again from its publisher")]
    Manifest {
        /// What is wrong with it.
        what: String,
    },
    /// The manifest comes from a later version.
    #[error("manifest.json has format {found}, this version reads format {known}; use a newer version")]
    TooNew {
        /// The format of the manifest.
        found: u64,
        /// The format that is known.
        known: u64,
    },
    /// A file is not the one that was published.
    #[error("{file} does not match its checksum in {list}; fetch the release again from its publisher")]
    Digest {
        /// The file.
        file: String,
        /// Where its checksum stands.
        list: &'static str,
    },
    /// A cell cannot be read as what the manifest says of its column.
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
    },
    /// The file as a whole is not what the manifest says.
    #[error("{file}: {what}; fetch the release again from its publisher")]
    File {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// A question cannot be understood.
    #[error("position {position} of the question: {what}")]
    Question {
        /// Where, counted in characters from 1.
        position: usize,
        /// What is wrong and what to write instead.
        what: String,
    },
    /// A question names a column that is not there.
    #[error("position {position} of the question: there is no column {column:?}{hint}")]
    NoColumn {
        /// Where, counted in characters from 1.
        position: usize,
        /// The name in the question.
        column: String,
        /// The nearest name, as half a sentence.
        hint: String,
    },
    /// A question compares a column with something that is not a value of it.
    #[error("position {position} of the question: {what}{hint}")]
    NoValue {
        /// Where, counted in characters from 1.
        position: usize,
        /// What is wrong.
        what: String,
        /// The nearest value, as half a sentence.
        hint: String,
    },
}

/// Code, what it means, and what to do: one row an error.
pub const CODES: &[(&str, &str, &str)] = &[
    (
        "F401",
        "A file of the release could not be written.",
        "Nothing was published. Free the disk or fix its permissions and run the command again.",
    ),
    (
        "F402",
        "A file of the release could not be read.",
        "Name the release's folder, the one that holds manifest.json.",
    ),
    (
        "F403",
        "The manifest is damaged or was edited.",
        "Fetch the release again from its publisher. A manifest is never edited by hand.",
    ),
    ("F404", "The manifest was written by a later version.", "Read the release with a newer version of tacenda."),
    (
        "F405",
        "A file is not the one that was published: its checksum differs.",
        "Fetch the release again from its publisher. Do not use these numbers.",
    ),
    (
        "F406",
        "A cell cannot be read as what the manifest says of its column.",
        "Fetch the release again from its publisher. Spreadsheets change cells when they save.",
    ),
    (
        "F407",
        "A file is not what the manifest says: columns, rows or groups differ.",
        "Fetch the release again from its publisher.",
    ),
    (
        "F410",
        "The question cannot be understood.",
        "Write comparisons joined by `and`: age >= 65 and diagnosis in (flu, 'broken leg').",
    ),
    ("F411", "The question names a column the release does not have.", "Use a column of the release; quote odd names."),
    (
        "F412",
        "The question compares a column with something that is no value of it.",
        "Numbers and dates are written as in the release, categories by a value or a group of the hierarchy.",
    ),
];

impl FolderError {
    /// The code `explain` knows.
    pub fn code(&self) -> &'static str {
        match self {
            FolderError::Write { .. } => "F401",
            FolderError::Read { .. } => "F402",
            FolderError::Manifest { .. } => "F403",
            FolderError::TooNew { .. } => "F404",
            FolderError::Digest { .. } => "F405",
            FolderError::Cell { .. } => "F406",
            FolderError::File { .. } => "F407",
            FolderError::Question { .. } => "F410",
            FolderError::NoColumn { .. } => "F411",
            FolderError::NoValue { .. } => "F412",
        }
    }

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
            | FolderError::File { .. } => 5,
            FolderError::Question { .. } | FolderError::NoColumn { .. } | FolderError::NoValue { .. } => 2,
        }
    }
}
