//! Files that hold people while a release is made and they do not fit into memory.
//!
//! They lie in the vault, so they are private, and encrypted where the vault is. No line of the ledger names them: they
//! are removed when the release is made or has failed, and after a crash by the next open for writing.

use crate::ledger::vault::{SCRATCH, name, unread};
use crate::ledger::{Disk, DiskFile, LedgerError};
use std::fmt;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

/// How many bytes of a file wait to be written.
const WAITING: usize = 1 << 14;

/// Makes scratch files, and removes them all in the end.
pub struct Scratch {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
    attempt: String,
    made: AtomicU32,
}

/// A scratch file that is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ScratchFile(u32);

/// A scratch file that is being written.
pub struct ScratchWriter {
    out: BufWriter<Box<dyn DiskFile>>,
    path: PathBuf,
    file: ScratchFile,
}

impl Scratch {
    pub(super) fn new(disk: Arc<dyn Disk>, folder: PathBuf, attempt: String) -> Scratch {
        Scratch { disk, folder, attempt, made: AtomicU32::new(0) }
    }

    /// Begins a file.
    pub fn create(&self) -> Result<ScratchWriter, LedgerError> {
        let file = ScratchFile(self.made.fetch_add(1, Ordering::Relaxed));
        let path = self.path(file);
        let out = self.disk.create(&path).map_err(|error| LedgerError::disk("write", &path, error))?;
        Ok(ScratchWriter { out: BufWriter::with_capacity(WAITING, out), path, file })
    }

    /// Ends a file.
    pub fn finish(&self, writer: ScratchWriter) -> Result<ScratchFile, LedgerError> {
        let ScratchWriter { out, path, file } = writer;
        let fault = |error| LedgerError::disk("write", &path, error);
        out.into_inner().map_err(|error| fault(error.into_error()))?.close().map_err(fault)?;
        Ok(file)
    }

    /// Writes a whole file.
    pub fn write(&self, bytes: &[u8]) -> Result<ScratchFile, LedgerError> {
        let mut writer = self.create()?;
        writer.write(bytes)?;
        self.finish(writer)
    }

    /// What a file holds.
    pub fn read(&self, file: ScratchFile) -> Result<Vec<u8>, LedgerError> {
        let path = self.path(file);
        self.disk.read(&path).map_err(|error| unread(&self.name(file), &path, error))
    }

    /// Removes a file that is no longer needed.
    pub fn remove(&self, file: ScratchFile) -> Result<(), LedgerError> {
        let path = self.path(file);
        self.disk.remove_file(&path).map_err(|error| LedgerError::disk("remove", &path, error))
    }

    fn name(&self, file: ScratchFile) -> String {
        name(SCRATCH, file.0, &self.attempt)
    }

    fn path(&self, file: ScratchFile) -> PathBuf {
        self.folder.join(self.name(file))
    }
}

impl ScratchWriter {
    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), LedgerError> {
        self.out.write_all(bytes).map_err(|error| LedgerError::disk("write", &self.path, error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for file in 0..self.made.load(Ordering::Relaxed) {
            // If this fails, the next open for writing removes it.
            let _ = self.disk.remove_file(&self.path(ScratchFile(file)));
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Scratch({} files)", self.made.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for ScratchWriter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ScratchWriter(…)")
    }
}
