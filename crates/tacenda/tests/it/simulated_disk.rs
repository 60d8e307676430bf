//! A disk in memory that lies: it fails, writes to the wrong place, lets a second writer in, or has a bug of ours planted.
//!
//! It stands before a [`CrashDisk`], which knows what a power cut leaves. One of these is one writer's sight of the disk.

use crate::crash_disk::CrashDisk;
use std::io;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tacenda::ledger::{Disk, DiskFile, Folder, Lock, Status};

/// What goes wrong beside power cuts, once.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Mishap {
    /// Nothing.
    None,
    /// The rename with this number fails.
    Rename(usize),
    /// The write with this number goes into another file, which is drawn by the other number.
    Misdirected(usize, u64),
}

/// A bug that is planted, to see that it is found. Each makes the disk look as the program would leave it if a line of it
/// were missing.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Planted {
    /// No bug.
    None,
    /// Files of the vault are not synced.
    VaultFileSync,
    /// The names in the vault are not synced.
    VaultFolderSync,
    /// Files of a staged release are not synced.
    StagedFileSync,
    /// The names in a staged release are not synced.
    StagedFolderSync,
    /// The ledger is not compared right before a line is appended.
    CompareAndSwap,
    /// The old files of the vault are swept before the line is appended.
    EarlySweep,
    /// The old files of the vault are never removed.
    NoSweep,
    /// Nobody asks the anchor.
    Anchor,
}

/// What somebody else does to the disk in between.
type Meddling = Box<dyn FnOnce() + Send>;

/// One writer's sight of a disk.
pub struct SimulatedDisk {
    disk: Arc<CrashDisk>,
    mishap: Mishap,
    planted: Planted,
    operations: AtomicUsize,
    /// The operation that last appended a line.
    appended: AtomicUsize,
    renames: AtomicUsize,
    writes: Arc<AtomicUsize>,
    meddling: Mutex<Option<(usize, Meddling)>>,
    /// The ledger as it was first seen; what a writer knows that never compares.
    ledger: Mutex<Option<Vec<u8>>>,
}

impl SimulatedDisk {
    pub fn new(disk: &Arc<CrashDisk>, mishap: Mishap, planted: Planted) -> SimulatedDisk {
        SimulatedDisk {
            disk: Arc::clone(disk),
            mishap,
            planted,
            operations: AtomicUsize::new(0),
            appended: AtomicUsize::new(0),
            renames: AtomicUsize::new(0),
            writes: Arc::default(),
            meddling: Mutex::new(None),
            ledger: Mutex::new(None),
        }
    }

    /// The same, and somebody else is let in before this operation.
    pub fn meddled(self, at: usize, meddling: Meddling) -> SimulatedDisk {
        SimulatedDisk { meddling: Mutex::new(Some((at, meddling))), ..self }
    }

    /// How many operations, renames and writes there were.
    pub fn counts(&self) -> [usize; 3] {
        [&self.operations, &self.renames, &*self.writes].map(|count| count.load(Ordering::Relaxed))
    }

    /// The number of the operation that last appended a line.
    pub fn appended(&self) -> usize {
        self.appended.load(Ordering::Relaxed)
    }

    fn step(&self) {
        let now = self.operations.fetch_add(1, Ordering::Relaxed) + 1;
        let due = {
            let mut meddling = self.meddling.lock().unwrap();
            if meddling.as_ref().is_some_and(|(at, _)| *at <= now) { meddling.take() } else { None }
        };
        if let Some((_, meddle)) = due {
            meddle();
        }
    }

    /// Whether this file or folder is one whose sync was taken out.
    fn is_unsynced(&self, path: &Path, is_folder: bool) -> bool {
        let (in_vault, in_staging) = (is_in(path, "vault"), is_in(path, "staging"));
        match self.planted {
            Planted::VaultFileSync => in_vault && !is_folder,
            Planted::VaultFolderSync => in_vault && is_folder,
            Planted::StagedFileSync => in_staging && !is_folder,
            Planted::StagedFolderSync => in_staging && is_folder && !path.ends_with("staging"),
            _ => false,
        }
    }

    fn is_ledger(path: &Path) -> bool {
        path.ends_with("ledger.jsonl")
    }

    fn sweep_early(&self, new: &Path) {
        let Some(vault) = new.parent() else { return };
        let number = |name: &str| name.split(['-', '.']).nth(1).and_then(|part| part.parse::<u32>().ok());
        let newest = new.file_name().and_then(|name| number(&name.to_string_lossy()));
        for name in self.disk.list(vault).unwrap_or_default() {
            if number(&name).zip(newest).is_some_and(|(old, newest)| old < newest) {
                let _ = self.disk.remove_file(&vault.join(name));
            }
        }
        let _ = self.disk.sync_folder(vault);
    }
}

fn is_in(path: &Path, folder: &str) -> bool {
    path.components().any(|part| part.as_os_str() == folder)
}

struct SimulatedFile {
    file: Box<dyn DiskFile>,
    disk: Arc<CrashDisk>,
    path: PathBuf,
    mishap: Mishap,
    writes: Arc<AtomicUsize>,
    is_unsynced: bool,
}

/// Puts bytes where they do not belong: over the beginning of another file.
fn misdirect(disk: &CrashDisk, path: &Path, bytes: &[u8], draw: u64) {
    let files: Vec<(String, Vec<u8>)> =
        disk.files().into_iter().filter(|(name, _)| Path::new(name) != path && !name.ends_with("/lock")).collect();
    let Some((name, content)) = files.get((draw % files.len().max(1) as u64) as usize) else { return };
    let mut content = content.clone();
    let reach = bytes.len().min(content.len());
    content[..reach].copy_from_slice(&bytes[..reach]);
    disk.tamper(name, content);
}

/// Whether this write is the one that goes astray, and where.
fn strays(mishap: Mishap, writes: &AtomicUsize) -> Option<u64> {
    let now = writes.fetch_add(1, Ordering::Relaxed) + 1;
    match mishap {
        Mishap::Misdirected(at, draw) if at == now => Some(draw),
        _ => None,
    }
}

impl Write for SimulatedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match strays(self.mishap, &self.writes) {
            Some(draw) => misdirect(&self.disk, &self.path, bytes, draw),
            None => self.file.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl DiskFile for SimulatedFile {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        if self.is_unsynced { Ok(()) } else { self.file.sync_and_close() }
    }
}

/// A lock that is always said to be held.
struct BlindLock(#[expect(dead_code, reason = "held as long as it lives")] Box<dyn Lock>);

impl Lock for BlindLock {
    fn is_held(&self) -> io::Result<bool> {
        Ok(true)
    }
}

impl Disk for SimulatedDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.step();
        let found = self.disk.read(path)?;
        if self.planted == Planted::CompareAndSwap && Self::is_ledger(path) {
            return Ok(self.ledger.lock().unwrap().get_or_insert(found).clone());
        }
        Ok(found)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        self.step();
        self.disk.open(path)
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step();
        if self.planted == Planted::EarlySweep && is_in(path, "vault") {
            self.sweep_early(path);
        }
        Ok(Box::new(SimulatedFile {
            file: self.disk.create(path)?,
            disk: Arc::clone(&self.disk),
            path: path.into(),
            mishap: self.mishap,
            writes: Arc::clone(&self.writes),
            is_unsynced: self.is_unsynced(path, false),
        }))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step();
        self.appended.store(self.operations.load(Ordering::Relaxed), Ordering::Relaxed);
        if let Some(known) = self.ledger.lock().unwrap().as_mut().filter(|_| Self::is_ledger(path)) {
            known.extend_from_slice(bytes);
        }
        match strays(self.mishap, &self.writes) {
            Some(draw) => {
                misdirect(&self.disk, path, bytes, draw);
                Ok(())
            }
            None => self.disk.append(path, bytes),
        }
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.step();
        self.disk.truncate(path, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step();
        let now = self.renames.fetch_add(1, Ordering::Relaxed) + 1;
        match self.mishap {
            Mishap::Rename(at) if at == now => Err(io::Error::other("this rename failed")),
            _ => self.disk.rename(from, to),
        }
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step();
        if self.planted == Planted::NoSweep && is_in(path, "vault") {
            return Ok(());
        }
        self.disk.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        self.disk.remove_folder(path)
    }

    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()> {
        self.step();
        self.disk.create_folder(path, kind)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        if self.is_unsynced(path, true) { Ok(()) } else { self.disk.sync_folder(path) }
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.step();
        self.disk.list(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.step();
        self.disk.exists(path)
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        self.disk.status(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.step();
        let lock = self.disk.try_lock(path)?;
        Ok(match self.planted {
            Planted::CompareAndSwap => lock.map(|lock| Box::new(BlindLock(lock)) as Box<dyn Lock>),
            _ => lock,
        })
    }
}
