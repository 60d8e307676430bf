//! Lets the folder's writer write into the ledger's staging folder.
//!
//! `folder` and `ledger` do not know each other. A disk error of the ledger passes through the folder's writer as the
//! cause of an [`io::Error`], and is unwrapped here.

use crate::folder;
use crate::folder::{FolderError, Issue, ManifestFacts, Target, WrittenFile};
use crate::ledger::{FileDigest, LedgerError, StagedFile, Staging};
use crate::publish::ProjectError;
use std::io;
use std::io::Write;

/// Writes all files of a release into the staging folder; their checksums go to the ledger.
pub(super) fn write_staged(
    staging: &Staging,
    issue: &Issue<'_>,
    facts: &ManifestFacts,
) -> Result<Vec<WrittenFile>, ProjectError> {
    let mut create = |name: &str| -> io::Result<Box<dyn Target>> {
        Ok(Box::new(InStaging(staging.create_unhashed(name).map_err(io::Error::other)?)))
    };
    let written = folder::write_with_digests(issue, facts, &mut create).map_err(cause)?;
    for file in &written {
        staging.vouch(&file.name, FileDigest { sha256: file.sha256.clone(), bytes: file.bytes });
    }
    Ok(written)
}

/// A file in the staging folder.
struct InStaging(StagedFile);

impl Write for InStaging {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes).map_err(|error| match error.kind() {
            // The caller tries again.
            io::ErrorKind::Interrupted => error,
            _ => io::Error::other(LedgerError::disk("write", self.0.path(), error)),
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Target for InStaging {
    fn finish(self: Box<Self>) -> io::Result<()> {
        self.0.finish().map(drop).map_err(io::Error::other)
    }
}

/// The ledger's error behind a failed write, if the ledger caused it.
fn cause(error: FolderError) -> ProjectError {
    match error {
        FolderError::Write { file, source } => match source.downcast::<LedgerError>() {
            Ok(error) => error.into(),
            Err(source) => FolderError::Write { file, source }.into(),
        },
        other => other.into(),
    }
}
