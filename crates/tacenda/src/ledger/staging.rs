//! A release folder before its commit: `.tacenda/staging/rNNNN.ATTEMPT`, on the same file system as its final place.

use crate::ledger::{Disk, DiskFile, FileDigest, LedgerError};
use crate::model::hex;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, io};

/// The staging folder, relative to the project folder.
pub(super) const STAGING: &str = ".tacenda/staging";

/// The name of a staged folder. Earlier versions wrote it without the attempt.
pub(super) fn staged_name(number: u32, attempt: &str) -> String {
    match attempt {
        "" => format!("r{number:04}"),
        attempt => format!("r{number:04}.{attempt}"),
    }
}

/// Whether a name is one that this room gives to staged folders.
pub(super) fn is_staged(name: &str) -> bool {
    name.strip_prefix('r')
        .is_some_and(|rest| rest.len() >= 4 && rest.bytes().take(4).all(|digit| digit.is_ascii_digit()))
}

/// A release folder that is being filled. If it is dropped before its commit, it removes itself.
pub struct Staging {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    number: u32,
    files: Arc<Mutex<Files>>,
    keep: bool,
}

#[derive(Default)]
struct Files {
    finished: BTreeMap<String, FileDigest>,
    /// The lengths of finished files whose checksum the caller computes.
    unvouched: BTreeMap<String, u64>,
    begun: usize,
}

impl Staging {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf, number: u32) -> Staging {
        Staging { disk, folder, number, files: Arc::default(), keep: false }
    }

    /// The number of the release.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates a file in it. Several threads may write several files at once.
    ///
    /// # Panics
    /// If the name is not a plain file name.
    pub fn create(&self, name: &str) -> Result<StagedFile, LedgerError> {
        self.begin(name, Some(Sha256::new()))
    }

    /// The same for a writer that computes the checksum itself and passes it to [`Staging::vouch`] when the file is
    /// finished. Hashing a large release twice would take a noticeable part of the time.
    pub fn create_unhashed(&self, name: &str) -> Result<StagedFile, LedgerError> {
        self.begin(name, None)
    }

    /// The checksum of a finished file that was created unhashed.
    ///
    /// # Panics
    /// If there is no such file, or its length differs, because then the checksum belongs to something else.
    pub fn vouch(&self, name: &str, digest: FileDigest) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes = files.unvouched.remove(name);
        assert_eq!(bytes, Some(digest.bytes), "a checksum is of a finished file, the whole of it");
        files.finished.insert(name.into(), digest);
    }

    fn begin(&self, name: &str, hasher: Option<Sha256>) -> Result<StagedFile, LedgerError> {
        assert!(!name.is_empty() && !name.contains(['/', '\\']), "a staged file has a plain name");
        let path = self.folder.join(name);
        let file = self.disk.create(&path).map_err(|error| LedgerError::disk("write", &path, error))?;
        self.files.lock().unwrap_or_else(PoisonError::into_inner).begun += 1;
        let files = Arc::clone(&self.files);
        Ok(StagedFile { file, path, name: name.into(), hasher, bytes: 0, files })
    }

    /// Writes a whole file.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<FileDigest, LedgerError> {
        let mut file = self.create(name)?;
        file.write_all(bytes).map_err(|error| LedgerError::disk("write", &self.folder.join(name), error))?;
        Ok(file.finish()?.expect("it was hashed on the way"))
    }

    /// The finished files.
    pub fn files(&self) -> BTreeMap<String, FileDigest> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner).finished.clone()
    }

    /// Makes the names of all files durable.
    ///
    /// # Panics
    /// If a file was begun and not finished, which is a bug of the caller.
    pub(super) fn seal(&self) -> Result<BTreeMap<String, FileDigest>, LedgerError> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        assert_eq!(files.begun, files.finished.len(), "every staged file is finished, and written once");
        self.disk.sync_folder(&self.folder).map_err(|error| LedgerError::disk("sync", &self.folder, error))?;
        Ok(files.finished.clone())
    }

    /// With `keep`, the folder stays when this is dropped, because the ledger may rely on it.
    pub(super) fn keep(&mut self, keep: bool) {
        self.keep = keep;
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.keep {
            // If this fails, the next open for writing removes it.
            let _ = self.disk.remove_folder(&self.folder);
            // Without this, what was staged would come back with a power cut.
            let _ = self.folder.parent().map(|parent| self.disk.sync_folder(parent));
        }
    }
}

impl fmt::Debug for Staging {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Staging(release {})", self.number)
    }
}

/// A file of a release that is being written. It is hashed on the way, unless its writer does that.
pub struct StagedFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    name: String,
    hasher: Option<Sha256>,
    bytes: u64,
    files: Arc<Mutex<Files>>,
}

impl StagedFile {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Syncs and closes the file, and returns its checksum if it was hashed. A file that is dropped instead can never
    /// be committed.
    pub fn finish(self) -> Result<Option<FileDigest>, LedgerError> {
        self.file.sync_and_close().map_err(|error| LedgerError::disk("write", &self.path, error))?;
        let bytes = self.bytes;
        let digest = self.hasher.map(|hasher| FileDigest { sha256: hex(&hasher.finalize()), bytes });
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        match &digest {
            Some(digest) => _ = files.finished.insert(self.name, digest.clone()),
            None => _ = files.unvouched.insert(self.name, bytes),
        }
        Ok(digest)
    }
}

impl Write for StagedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        if let Some(hasher) = &mut self.hasher {
            hasher.update(&bytes[..written]);
        }
        self.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}
