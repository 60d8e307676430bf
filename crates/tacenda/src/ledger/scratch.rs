//! Files that hold people while a release is made and they do not fit into memory.
//!
//! They lie in the vault, so they are private, and encrypted where the vault is. No line of the ledger names them: they
//! are removed when the release is made or has failed, and after a crash by the next open for writing.

use crate::ledger::vault::{SCRATCH, name, unread};
use crate::ledger::{Disk, DiskFile, LedgerError};
use std::fmt;
use std::io::{self, BufWriter, Read, Write};
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
pub struct ScratchFile {
    number: u32,
    bytes: u64,
}

impl ScratchFile {
    /// How many bytes it holds.
    pub fn bytes(self) -> u64 {
        self.bytes
    }
}

/// A scratch file that is being read.
pub struct ScratchReader {
    input: Box<dyn Read + Send>,
    name: String,
    path: PathBuf,
}

impl ScratchReader {
    /// Fills `into` as far as the file goes. Returns how many bytes that are.
    pub fn fill(&mut self, into: &mut [u8]) -> Result<usize, LedgerError> {
        let mut filled = 0;
        while filled < into.len() {
            match self.input.read(&mut into[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unread(&self.name, &self.path, error)),
            }
        }
        Ok(filled)
    }
}

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
        let file = ScratchFile { number: self.made.fetch_add(1, Ordering::Relaxed), bytes: 0 };
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

    /// Opens a file, to be read from its beginning.
    pub fn open(&self, file: ScratchFile) -> Result<ScratchReader, LedgerError> {
        let (name, path) = (self.name(file), self.path(file));
        let input = self.disk.open(&path).map_err(|error| unread(&name, &path, error))?;
        Ok(ScratchReader { input, name, path })
    }

    /// What a file holds.
    pub fn read(&self, file: ScratchFile) -> Result<Vec<u8>, LedgerError> {
        let mut bytes = vec![0; file.bytes as usize];
        let read = self.open(file)?.fill(&mut bytes)?;
        bytes.truncate(read);
        Ok(bytes)
    }

    /// Removes a file that is no longer needed.
    pub fn remove(&self, file: ScratchFile) -> Result<(), LedgerError> {
        let path = self.path(file);
        self.disk.remove_file(&path).map_err(|error| LedgerError::disk("remove", &path, error))
    }

    fn name(&self, file: ScratchFile) -> String {
        name(SCRATCH, file.number, &self.attempt)
    }

    fn path(&self, file: ScratchFile) -> PathBuf {
        self.folder.join(self.name(file))
    }
}

impl ScratchWriter {
    /// Appends bytes.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), LedgerError> {
        self.file.bytes += bytes.len() as u64;
        self.out.write_all(bytes).map_err(|error| LedgerError::disk("write", &self.path, error))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        for number in 0..self.made.load(Ordering::Relaxed) {
            // If this fails, the next open for writing removes it.
            let _ = self.disk.remove_file(&self.path(ScratchFile { number, bytes: 0 }));
        }
    }
}

impl fmt::Debug for Scratch {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Scratch({} files)", self.made.load(Ordering::Relaxed))
    }
}

impl fmt::Debug for ScratchReader {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ScratchReader(…)")
    }
}

impl fmt::Debug for ScratchWriter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("ScratchWriter(…)")
    }
}
