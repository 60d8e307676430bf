//! Why a request has no answer.

use crate::model::coded;
use crate::publish::ProjectError;
use crate::use_cases::DatabaseError;
use std::io;
use std::path::{Path, PathBuf};

/// Why a request has no answer. Nothing was changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UseCaseError {
    /// The request does not say what to do.
    #[error("{0}")]
    Usage(String),
    /// Files are to be audited, and no quasi-identifier is named.
    #[error("name the columns that an attacker may know: --quasi age,zip,sex --sensitive disease")]
    NoColumns {
        /// The columns that the files have.
        columns: Vec<String>,
    },
    /// The project has published nothing.
    #[error("the project has no release yet; name files, or publish first")]
    NoRelease,
    /// No release has that name.
    #[error("there is no such release; tacenda log lists them")]
    NoSuchRelease,
    /// A file that should be a plan is none.
    #[error("{} is not a plan: {what}; make one with tacenda plan", .file.display())]
    NotAPlan {
        /// The file.
        file: PathBuf,
        /// Why not.
        what: String,
    },
    /// The promise cannot be met with a table.
    #[error("{error}")]
    NotMet {
        /// Why not.
        error: ProjectError,
        /// What explains it, one sentence each.
        notes: Vec<String>,
    },
    /// A file that should be written already exists.
    #[error("{0}")]
    Exists(String),
    /// An adopted release has no folder of ours.
    #[error("release {release} was made elsewhere and is kept unchanged in {}; read it with tacenda audit", .folder.display())]
    MadeElsewhere {
        /// Its number.
        release: u32,
        /// Where it is kept.
        folder: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("{file}: {source}")]
    File {
        /// The file.
        file: String,
        /// Why.
        source: io::Error,
    },
    /// A database did not do what it should.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Everything that can go wrong between a policy file and a release.
    #[error(transparent)]
    Project(ProjectError),
}

impl<E: Into<ProjectError>> From<E> for UseCaseError {
    fn from(error: E) -> UseCaseError {
        UseCaseError::Project(error.into())
    }
}

impl UseCaseError {
    /// Its code, with a page in `explain`.
    pub fn code(&self) -> &'static str {
        match self {
            UseCaseError::Usage(_) | UseCaseError::NoColumns { .. } => RequestFault::Usage.code(),
            UseCaseError::NoRelease | UseCaseError::NoSuchRelease => RequestFault::NoSuchRelease.code(),
            UseCaseError::NotAPlan { .. } => RequestFault::NotAPlan.code(),
            UseCaseError::Exists(_) => RequestFault::NothingToStartFrom.code(),
            UseCaseError::MadeElsewhere { .. } => RequestFault::MadeElsewhere.code(),
            UseCaseError::File { .. } => RequestFault::Environment.code(),
            UseCaseError::Database(error) => error.code(),
            UseCaseError::NotMet { error, .. } | UseCaseError::Project(error) => error.code(),
        }
    }

    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            UseCaseError::File { .. } => 7,
            UseCaseError::Database(error) => error.exit_code(),
            UseCaseError::NotMet { error, .. } | UseCaseError::Project(error) => error.exit_code(),
            _ => 2,
        }
    }

    /// Wrong use, in a sentence.
    pub(super) fn usage(message: impl Into<String>) -> UseCaseError {
        UseCaseError::Usage(message.into())
    }

    /// For `map_err` where a file could not be read or written.
    pub(super) fn file(path: &Path) -> impl Fn(io::Error) -> UseCaseError + '_ {
        |source| UseCaseError::File { file: path.display().to_string(), source }
    }
}

coded! {
    /// What can be wrong with a request; the last two are the command's.
    #[derive(Clone, Copy, Debug, Eq, PartialEq)]
    pub enum RequestFault of units {
        Environment = "U701", "the environment failed",
            "A file could not be written or read, or a pipe closed. Nothing was published.";
        Usage = "U201", "wrong use",
            "The command line does not say what to do. tacenda help COMMAND explains it.";
        NoSuchRelease = "U202", "no such release",
            "A release is named by its folder, its number (2 or r0002) or its label. tacenda log lists them.";
        NotAPlan = "U203", "not a plan",
            "A plan file is what tacenda plan writes. It holds digests of a table, a policy and the ledger.";
        NothingToStartFrom = "U204", "no project, or a project already",
            "The folder already has a project, or the command needs a project and there is none.";
        MadeElsewhere = "U205", "a release made elsewhere",
            "An adopted release is kept unchanged. It has no manifest that describes its columns, so show and count \
             cannot read it. tacenda audit can.";
        NobodyAgreed = "U601", "nobody agreed",
            "Publishing asks once, because a published release cannot be taken back. init asks about each column. \
             Answer on a terminal, or use --yes in a script.";
        Bug = "B701", "a bug",
            "This is a bug in Tacenda. The next run removes or completes what this one left. Please report the command \
             and the message; neither contains a cell of your table.";
    }
}
