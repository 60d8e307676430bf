//! Lets the folder's writer write into the ledger's staging folder.
//!
//! The writer drops each file when it is done with it; here that syncs and closes it. What goes wrong
//! then is kept until [`StagedFiles::finish`].

use crate::folder::{FolderError, Written};
use crate::ledger::{FileDigest, LedgerError, StagedFile, Staging};
use crate::publish::ProjectError;
use std::io;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

/// The files of one release, being staged.
pub struct StagedFiles<'a> {
    staging: &'a Staging,
    first_error: Arc<Mutex<Option<LedgerError>>>,
}

impl<'a> StagedFiles<'a> {
    pub fn new(staging: &'a Staging) -> StagedFiles<'a> {
        StagedFiles { staging, first_error: Arc::default() }
    }

    /// A new file.
    pub fn create(&self, name: &str) -> io::Result<Box<dyn Write + Send>> {
        match self.staging.create_unhashed(name) {
            Ok(file) => Ok(Box::new(Closing { file: Some(file), first_error: Arc::clone(&self.first_error) })),
            Err(error) => {
                keep(&self.first_error, error);
                Err(io::Error::other("the file cannot be created"))
            }
        }
    }

    /// Hands the writer's answer on, or the first thing that went wrong with the disk: that is nearer to the
    /// truth than what the writer made of it. The checksums of the files go to the ledger.
    pub fn finish(self, written: Result<Vec<Written>, FolderError>) -> Result<Vec<String>, ProjectError> {
        if let Some(error) = self.first_error.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error.into());
        }
        let names = written?.into_iter().map(|file| {
            self.staging.vouch(&file.name, FileDigest { sha256: file.sha256, bytes: file.bytes });
            file.name
        });
        Ok(names.collect())
    }
}

struct Closing {
    file: Option<StagedFile>,
    first_error: Arc<Mutex<Option<LedgerError>>>,
}

impl Write for Closing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let file = self.file.as_mut().expect("a file is written before it is closed");
        match file.write(bytes) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                keep(&self.first_error, LedgerError::disk("write", file.path(), error));
                Err(io::Error::other("the file cannot be written"))
            }
            done => done,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().expect("a file is flushed before it is closed").flush()
    }
}

impl Drop for Closing {
    fn drop(&mut self) {
        if let Some(Err(error)) = self.file.take().map(StagedFile::finish) {
            keep(&self.first_error, error);
        }
    }
}

fn keep(slot: &Mutex<Option<LedgerError>>, error: LedgerError) {
    slot.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
}
