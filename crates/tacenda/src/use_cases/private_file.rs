//! Files that are written beside a project: for the steward alone, and never through a link.
//!
//! Somebody else may have prepared the folder. A link in the place of a file that is about to be written may lead to any file
//! of the user.

use crate::use_cases::UseCaseError;
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// Writes a file that only its owner can read, whole or not at all. A link in its place is refused. What was there before is
/// replaced, not changed: others may have it open.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), UseCaseError> {
    refuse_link(path)?;
    let write = || -> io::Result<()> {
        let mut new = beside(path)?;
        new.write_all(bytes)?;
        new.persist(path).map(drop).map_err(|error| error.error)
    };
    write().map_err(UseCaseError::file(path))
}

/// Whether [`write_private`] can write a file. Nothing is changed.
pub fn assert_private(path: &Path) -> Result<(), UseCaseError> {
    refuse_link(path)?;
    beside(path).map(drop).map_err(UseCaseError::file(path))
}

/// A new file in the same folder, which only its owner can read.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    // The name of the new file is nobody's concern.
    NamedTempFile::with_prefix_in(".tacenda-", folder).map_err(|error| error.kind().into())
}

/// Refuses to write where a link or something that is no file stands.
pub(super) fn refuse_link(path: &Path) -> Result<(), UseCaseError> {
    let why = "it is a symbolic link or no regular file; remove it, or name another file";
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() => {
            Err(UseCaseError::file(path)(io::Error::new(io::ErrorKind::InvalidInput, why)))
        }
        _ => Ok(()),
    }
}
