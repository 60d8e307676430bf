//! Files that are written beside a project: for the steward alone, and never through a link.
//!
//! Somebody else may have prepared the folder. A link in the place of a file that is about to be written may lead to any file
//! of the user.

use crate::use_cases::UseCaseError;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

/// Writes a file that only its owner can read. A link in its place is refused.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<(), UseCaseError> {
    refuse_link(path)?;
    let write = || -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        // One that was there before may have been open to others.
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        file.write_all(bytes)
    };
    write().map_err(UseCaseError::file(path))
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
