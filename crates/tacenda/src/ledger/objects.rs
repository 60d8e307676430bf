//! A project in object storage: a disk over a store that gets, puts, copies, lists and deletes objects.
//!
//! | object | holds |
//! |---|---|
//! | `.tacenda/ledger/NNNNNNNN` | a line of the ledger, or nothing: a writer that came by. Joined in order they are the ledger |
//! | `.tacenda/vault-NNNNNNNN/…` | the vault, named after the object with the first line |
//! | `.tacenda/staging/rNNNN.ATTEMPT/…`, `releases/…` | as in a project folder |
//!
//! An object of the ledger is put where none is, and never changed or removed: that is the commit. Object storage has no locks.
//! In their place a writer begins by putting an empty object after the last one. Whoever came before aims at that very number,
//! and can commit no more. So what lay there before belongs to nobody, unless a line names it, and may be removed. What comes
//! later belongs to a later writer and stays. Two writers that set up one project write two vaults, and one first line decides.
//!
//! A put that fails may have been done, or be done late. After such a failure of a line its writer puts an empty object of the
//! same number: then the line is there, or can never come. If that fails too, nobody is told that nothing was published.
//!
//! A folder is renamed by copies and then deletions. The list of its checksums is copied last, and a release folder without it
//! is not there. Files that hold people while a release is made stay on this machine.
//!
//! # Needs
//! A put if absent that is atomic, and a listing that has everything that was put before it began.

use crate::ledger::head::{HEAD, Head};
use crate::ledger::line::LEDGER;
use crate::ledger::sealed::KEY_FILES;
use crate::ledger::store::{release_name, series};
use crate::ledger::vault::{PLANNED, SCRATCH, VAULT};
use crate::ledger::{Disk, DiskFile, Event, FileKind, Folder, LedgerError, Lock, RealDisk, Status, line, recover};
use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::TempDir;

/// What is put.
#[derive(Clone, Copy)]
pub enum ObjectBody<'a> {
    /// Bytes.
    Bytes(&'a [u8]),
    /// A file of this machine, for what is large.
    File(&'a Path),
}

/// What is needed from object storage. Keys are relative to the project.
pub trait Objects: Send + Sync {
    /// What an object holds; [`io::ErrorKind::NotFound`] where there is none.
    fn get(&self, key: &str) -> io::Result<Vec<u8>>;
    /// An object to be read from its beginning.
    fn open(&self, key: &str) -> io::Result<Box<dyn Read + Send>>;
    /// Whether there is such an object.
    fn has(&self, key: &str) -> io::Result<bool>;
    /// Puts an object, whole or not at all. One that is there is replaced.
    fn put(&self, key: &str, body: ObjectBody<'_>) -> io::Result<()>;
    /// Puts an object where there is none; otherwise [`io::ErrorKind::AlreadyExists`].
    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<()>;
    /// Copies an object, whole or not at all; [`io::ErrorKind::NotFound`] where there is none.
    fn copy(&self, from: &str, to: &str) -> io::Result<()>;
    /// Deletes an object, if there is one.
    fn delete(&self, key: &str) -> io::Result<()>;
    /// All keys in a folder, which ends with a slash, and in its folders; in any order.
    fn list(&self, folder: &str) -> io::Result<Vec<String>>;
}

const LINES: &str = ".tacenda/ledger/";
const STAGED: &str = ".tacenda/staging/";
const VAULTS: &str = ".tacenda/vault-";

/// How many bytes of a file wait in memory. What is larger waits in a file.
const IN_MEMORY: usize = 8 << 20;

/// How often a writer tries to be the last one that came.
const TRIES: usize = 50;

/// The key of an object of the ledger.
fn line_key(number: u64) -> String {
    format!("{LINES}{number:08}")
}

fn vault_prefix(number: u64) -> String {
    format!("{VAULTS}{number:08}/")
}

/// The number of the vault that a key lies in.
fn vault_of(key: &str) -> Option<u64> {
    key.strip_prefix(VAULTS)?.split_once('/')?.0.parse().ok()
}

/// Whether another writer may be about to commit an object, or has. No line names the tables of plans.
fn may_be_committed(key: &str) -> bool {
    let name = key.rsplit('/').next().unwrap_or_default();
    key.starts_with(STAGED) || vault_of(key).is_some() && !name.starts_with(PLANNED)
}

/// The disk of a project in object storage. One writer at a time uses it; others have their own.
pub struct ObjectsDisk {
    objects: Arc<dyn Objects>,
    root: PathBuf,
    /// The file of a release folder that is put in place last.
    last: String,
    seen: Arc<Mutex<Seen>>,
    local: Mutex<Option<Arc<Local>>>,
}

/// What is known of the objects.
#[derive(Default)]
struct Seen {
    /// What the objects of the ledger hold, from the first on.
    lines: Vec<Vec<u8>>,
    writer: Option<Writer>,
}

/// What a writer knows.
struct Writer {
    /// The number of its next line.
    next: u64,
    /// The number of its vault. Another writer may set up another one meanwhile.
    vault: u64,
    /// A line that may have arrived.
    unsure: Option<Vec<u8>>,
    /// What lay there when it came, and what it wrote itself.
    own: BTreeSet<String>,
}

impl Seen {
    /// The number of the object with the first line.
    fn first(&self) -> Option<u64> {
        self.lines.iter().position(|line| !line.is_empty()).map(|place| place as u64 + 1)
    }
}

/// Where a path leads.
enum Leads {
    Ledger,
    /// A file on this machine.
    Local(PathBuf),
    Key(String),
    /// In the vault of a project that there is not yet.
    Nowhere,
}

impl ObjectsDisk {
    /// The project `root`, which is a path by its looks only. `last` is the name of the list of checksums of a release.
    pub fn new(objects: Arc<dyn Objects>, root: &Path, last: &str) -> ObjectsDisk {
        ObjectsDisk { objects, root: root.into(), last: last.into(), seen: Arc::default(), local: Mutex::default() }
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        seen(&self.seen)
    }

    /// Reads the objects of the ledger that are new.
    fn refresh(&self) -> io::Result<()> {
        self.refresh_from(&self.objects.list(LINES).map_err(lost)?)
    }

    /// The same from a listing. Numbers without a gap are the only proof that nothing is lost in between.
    fn refresh_from(&self, listed: &[String]) -> io::Result<()> {
        let numbers: BTreeSet<u64> = listed.iter().filter_map(|key| key.strip_prefix(LINES)?.parse().ok()).collect();
        let mut known = self.seen().lines.len() as u64;
        let count = numbers.len() as u64;
        if numbers.last().is_some_and(|&last| last != count) || numbers.first() == Some(&0) || count < known {
            return Err(damaged("an object of the ledger is gone"));
        }
        while known < count {
            known += 1;
            let line = self.objects.get(&line_key(known)).map_err(lost)?;
            let mut seen = self.seen();
            if seen.lines.len() as u64 + 1 == known {
                seen.lines.push(line);
            }
        }
        Ok(())
    }

    /// The number of the vault, if there is one.
    fn vault(&self) -> io::Result<Option<u64>> {
        let known = {
            let seen = self.seen();
            seen.writer.as_ref().map(|writer| writer.vault).or_else(|| seen.first())
        };
        match known {
            Some(number) => Ok(Some(number)),
            None => {
                self.refresh()?;
                Ok(self.seen().first())
            }
        }
    }

    fn place(&self, path: &Path) -> io::Result<Leads> {
        let outside = || io::Error::new(io::ErrorKind::InvalidInput, "it is not in the project");
        let parts = path.strip_prefix(&self.root).map_err(|_| outside())?.components();
        let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
        let name = parts.ok_or_else(outside)?.join("/");
        if name == LEDGER {
            return Ok(Leads::Ledger);
        }
        let Some(in_vault) = name.strip_prefix(VAULT).filter(|rest| rest.is_empty() || rest.starts_with('/')) else {
            return Ok(Leads::Key(name));
        };
        let file = in_vault.trim_start_matches('/');
        if file.starts_with(&format!("{SCRATCH}-")) {
            return Ok(Leads::Local(self.local()?.folder.path().join(file)));
        }
        let key = |number| format!("{}{file}", vault_prefix(number)).trim_end_matches('/').to_string();
        Ok(self.vault()?.map_or(Leads::Nowhere, |number| Leads::Key(key(number))))
    }

    /// The folder on this machine, made when it is needed.
    fn local(&self) -> io::Result<Arc<Local>> {
        let mut local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(local) = &*local {
            return Ok(Arc::clone(local));
        }
        let made = Arc::new(Local::new(&std::env::temp_dir())?);
        Ok(Arc::clone(local.insert(made)))
    }

    /// Whether a key is that of a release folder: of what is published nothing else lies so deep.
    fn is_release(key: &str) -> bool {
        key.starts_with("releases/") && key.matches('/').count() == 2
    }

    /// Whether a folder is there. A release folder is once its last file is.
    fn has_folder(&self, key: &str) -> io::Result<bool> {
        match Self::is_release(key) {
            true => self.objects.has(&format!("{key}/{}", self.last)),
            false => Ok(!self.objects.list(&folder(key))?.is_empty()),
        }
    }

    /// Whether this writer may remove an object: what came after it may be committed by a later one.
    fn may_remove(&self, key: &str) -> bool {
        let is_own = || self.seen().writer.as_ref().is_some_and(|writer| writer.own.contains(key));
        !key.starts_with(LINES) && (!may_be_committed(key) || is_own())
    }

    /// Refuses to begin anew where all lines are gone and a vault says that there were some.
    fn refuse_lost(&self, listed: &[String]) -> io::Result<()> {
        if self.seen().first().is_some() {
            return Ok(());
        }
        for key in listed.iter().filter(|key| vault_of(key).is_some() && key.ends_with(&format!("/{HEAD}"))) {
            if !Head::none().is_written(&self.objects.get(key)?) {
                return Err(damaged("the ledger is gone, and the vault is not"));
            }
        }
        Ok(())
    }

    /// Refuses storage that puts where something is: there one writer could replace the line of another.
    fn refuse_overwriting(&self, number: u64) -> io::Result<()> {
        let cannot = "this object storage has no put if absent; two writers would not be kept apart";
        match self.objects.put_if_absent(&line_key(number), b"") {
            Ok(()) => Err(io::Error::new(io::ErrorKind::Unsupported, cannot)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Finds out whether the line counts of which that is not known.
    fn settle(&self) -> io::Result<bool> {
        let Some((number, line)) =
            self.seen().writer.as_ref().and_then(|writer| Some((writer.next, writer.unsure.clone()?)))
        else {
            return Ok(true);
        };
        let there = match self.objects.put_if_absent(&line_key(number), b"") {
            Ok(()) => Vec::new(),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.objects.get(&line_key(number))?,
            Err(error) => return Err(error),
        };
        let mut seen = self.seen();
        let counts = there == line;
        if let Some(writer) = &mut seen.writer {
            writer.unsure = None;
            // Where another writer came first, the next line finds a taken number too.
            writer.next += u64::from(counts);
        }
        Ok(counts)
    }

    /// Deletes the vaults of writers that did not set up the project. Whatever they do, their first line comes too late.
    fn sweep_vaults(&self, listed: &[String], live: u64) {
        for key in listed.iter().filter(|key| vault_of(key).is_some_and(|number| number != live)) {
            // If this fails, the next writer does it.
            let _ = self.objects.delete(key);
        }
    }

    fn read_key(&self, place: Leads) -> io::Result<String> {
        match place {
            Leads::Key(key) => Ok(key),
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

fn seen(seen: &Mutex<Seen>) -> MutexGuard<'_, Seen> {
    seen.lock().unwrap_or_else(PoisonError::into_inner)
}

fn folder(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key}/") }
}

/// An error that nobody takes for a ledger that was never begun.
fn lost(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::NotFound { io::Error::other(error) } else { error }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

impl Disk for ObjectsDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.place(path)? {
            Leads::Ledger => {
                self.settle()?;
                self.refresh()?;
                Ok(self.seen().lines.concat())
            }
            Leads::Local(path) => RealDisk.read(&path),
            other => self.objects.get(&self.read_key(other)?),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        match self.place(path)? {
            Leads::Ledger => Ok(Box::new(io::Cursor::new(self.read(path)?))),
            Leads::Local(path) => RealDisk.open(&path),
            other => self.objects.open(&self.read_key(other)?),
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        match self.place(path)? {
            // The objects of a ledger are made by its lines.
            Leads::Ledger => Ok(Box::new(NoFile)),
            Leads::Local(path) => RealDisk.create(&path),
            other => {
                let key = self.read_key(other)?;
                if let Some(writer) = &mut self.seen().writer {
                    writer.own.insert(key.clone());
                }
                Ok(Box::new(ObjectFile {
                    objects: Arc::clone(&self.objects),
                    key,
                    waiting: Vec::new(),
                    spool: None,
                    local: self.local()?,
                }))
            }
        }
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (Leads::Ledger, Some(number)) = (self.place(path)?, self.seen().writer.as_ref().map(|writer| writer.next))
        else {
            return Err(io::Error::new(io::ErrorKind::Unsupported, "a line is added to the ledger by its writer"));
        };
        match self.objects.put_if_absent(&line_key(number), bytes) {
            Ok(()) => {
                if let Some(writer) = &mut self.seen().writer {
                    writer.next += 1;
                }
                Ok(())
            }
            Err(error) => {
                if let Some(writer) = &mut self.seen().writer {
                    writer.unsure = Some(bytes.to_vec());
                }
                match self.settle() {
                    Ok(true) => Ok(()),
                    _ => Err(error),
                }
            }
        }
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        match self.place(path)? {
            Leads::Ledger if self.read(path)?.len() as u64 == len => Ok(()),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "in object storage nothing is cut off")),
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let (source, target) = (self.read_key(self.place(from)?)?, self.read_key(self.place(to)?)?);
        let mut keys = self.objects.list(&folder(&source))?;
        if keys.is_empty() && !Self::is_release(&target) {
            self.objects.copy(&source, &target)?;
            return self.objects.delete(&source);
        }
        // The last file says that the others are there.
        keys.sort_unstable_by_key(|key| key.ends_with(&format!("/{}", self.last)));
        let copied =
            keys.iter().try_for_each(|key| self.objects.copy(key, &format!("{target}{}", &key[source.len()..])));
        match copied {
            // Another writer that saw the line was faster.
            Err(error) if error.kind() == io::ErrorKind::NotFound && self.has_folder(&target)? => {}
            other => other?,
        }
        if !self.has_folder(&target)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        keys.iter().try_for_each(|key| self.objects.delete(key))
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        match self.place(path)? {
            Leads::Local(path) => RealDisk.remove_file(&path),
            Leads::Key(key) if self.may_remove(&key) => self.objects.delete(&key),
            _ => Ok(()),
        }
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let Leads::Key(key) = self.place(path)? else { return Ok(()) };
        let keys = self.objects.list(&folder(&key))?;
        keys.iter().filter(|key| self.may_remove(key)).try_for_each(|key| self.objects.delete(key))
    }

    fn create_folder(&self, _path: &Path, _kind: Folder) -> io::Result<()> {
        // Object storage has none.
        Ok(())
    }

    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        // What is put is durable.
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let Leads::Key(key) = self.place(path)? else { return Ok(Vec::new()) };
        let folder = folder(&key);
        let keys = self.objects.list(&folder)?;
        if Self::is_release(&key) && !keys.iter().any(|found| found[folder.len()..] == *self.last) {
            return Ok(Vec::new());
        }
        let names = keys.iter().filter_map(|key| key.strip_prefix(&folder)?.split('/').next());
        Ok(names.collect::<BTreeSet<&str>>().into_iter().map(String::from).collect())
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        match self.place(path)? {
            Leads::Ledger => {
                self.refresh()?;
                Ok(self.seen().first().is_some())
            }
            Leads::Local(path) => RealDisk.exists(&path),
            Leads::Key(key) => Ok(self.objects.has(&key)? || self.has_folder(&key)?),
            Leads::Nowhere => Ok(false),
        }
    }

    /// Access is that of the bucket, and there are no links.
    fn status(&self, path: &Path) -> io::Result<Status> {
        let kind = match self.place(path)? {
            Leads::Ledger if self.exists(path)? => FileKind::File,
            Leads::Local(path) => return RealDisk.status(&path),
            Leads::Key(key) if self.objects.has(&key)? => FileKind::File,
            Leads::Key(key) if !self.objects.list(&folder(&key))?.is_empty() => FileKind::Folder,
            _ => FileKind::Absent,
        };
        Ok(Status { kind, is_private: true })
    }

    /// Puts an empty object into the ledger: from now on no writer that came before can commit. Another writer that comes
    /// later does the same to this one.
    fn try_lock(&self, _path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        if self.seen().writer.is_some() {
            return Ok(None);
        }
        for _ in 0..TRIES {
            // Listed before the object is put: whoever wrote what is listed came before.
            let listed = self.objects.list(".tacenda/")?;
            self.refresh_from(&listed)?;
            self.refuse_lost(&listed)?;
            let number = self.seen().lines.len() as u64 + 1;
            match self.objects.put_if_absent(&line_key(number), b"") {
                Ok(()) => {}
                // Another writer came meanwhile; or the put was done twice, which does no harm.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            self.refuse_overwriting(number)?;
            let first = self.seen().first();
            if let Some(first) = first {
                self.sweep_vaults(&listed, first);
            }
            let own = listed.into_iter().filter(|key| may_be_committed(key)).collect();
            let next = number + 1;
            self.seen().writer = Some(Writer { next, vault: first.unwrap_or(next), unsure: None, own });
            return Ok(Some(Box::new(ObjectLock { objects: Arc::clone(&self.objects), seen: Arc::clone(&self.seen) })));
        }
        Ok(None)
    }
}

/// A writer, as long as this lives.
struct ObjectLock {
    objects: Arc<dyn Objects>,
    seen: Arc<Mutex<Seen>>,
}

impl Lock for ObjectLock {
    fn is_held(&self) -> io::Result<bool> {
        let next = seen(&self.seen).writer.as_ref().map(|writer| writer.next);
        Ok(match next {
            Some(next) => !self.objects.has(&line_key(next))?,
            None => false,
        })
    }
}

impl Drop for ObjectLock {
    fn drop(&mut self) {
        seen(&self.seen).writer = None;
    }
}

/// An object that is put when it is closed. What is large waits in a file of this machine, and not in memory.
struct ObjectFile {
    objects: Arc<dyn Objects>,
    key: String,
    waiting: Vec<u8>,
    spool: Option<tempfile::NamedTempFile>,
    local: Arc<Local>,
}

impl Write for ObjectFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.spool.is_none() && self.waiting.len() + bytes.len() <= IN_MEMORY {
            self.waiting.extend_from_slice(bytes);
            return Ok(bytes.len());
        }
        if self.spool.is_none() {
            let mut spool = tempfile::NamedTempFile::new_in(self.local.folder.path())?;
            spool.write_all(&std::mem::take(&mut self.waiting))?;
            self.spool = Some(spool);
        }
        self.spool.as_mut().map_or(Ok(0), |spool| spool.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for ObjectFile {
    fn sync_and_close(mut self: Box<Self>) -> io::Result<()> {
        match self.spool.take() {
            Some(mut spool) => {
                spool.flush()?;
                self.objects.put(&self.key, ObjectBody::File(spool.path()))
            }
            None => self.objects.put(&self.key, ObjectBody::Bytes(&self.waiting)),
        }
    }
}

/// The empty ledger.
struct NoFile;

impl Write for NoFile {
    fn write(&mut self, _bytes: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl DiskFile for NoFile {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

/// A private folder on this machine. It goes with its process; what a killed one left, the next one removes.
struct Local {
    folder: TempDir,
    /// Says that its process lives.
    _lock: Box<dyn Lock>,
}

const LOCAL: &str = "tacenda-objects-";

impl Local {
    fn new(parent: &Path) -> io::Result<Local> {
        let locked = |folder: &Path| RealDisk.try_lock(&folder.join("lock"));
        for entry in fs::read_dir(parent)?.flatten() {
            let is_ours = entry.file_name().to_string_lossy().starts_with(LOCAL);
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            // One without a lock may be about to get it.
            if is_ours
                && is_folder
                && entry.path().join("lock").exists()
                && let Ok(Some(_lock)) = locked(&entry.path())
            {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        for _ in 0..TRIES {
            let folder = tempfile::Builder::new().prefix(LOCAL).tempdir_in(parent)?;
            // Another process may take it for a left one, just now.
            if let Ok(Some(lock)) = locked(folder.path())
                && lock.is_held().unwrap_or(false)
            {
                return Ok(Local { folder, _lock: lock });
            }
        }
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Copies what is committed into a folder of this machine, where the command reads it: the ledger, the releases that it names,
/// and with `vault` the vault as it lies there. What is missing is left out: [`verify`](crate::ledger::verify) tells.
pub fn fetch(disk: &dyn Disk, root: &Path, into: &Path, vault: bool) -> Result<Vec<String>, LedgerError> {
    let put = |name: &str, input: &mut dyn Read| {
        let path = into.join(name);
        let mut write = || {
            let parent = path.parent().expect("a file has a folder");
            let kind = if name.starts_with(VAULT) { Folder::Private } else { Folder::Plain };
            RealDisk.create_folder(parent, kind)?;
            let mut file = RealDisk.create(&path)?;
            io::copy(input, &mut file)?;
            file.sync_and_close()
        };
        write().map_err(|error| LedgerError::disk("write", &path, error))
    };
    let unread = |path: &Path| {
        let path = path.to_path_buf();
        move |error| LedgerError::disk("read", &path, error)
    };
    // In the order that readers keep: a head is never ahead of its ledger, nor a release.
    let head = root.join(VAULT).join(HEAD);
    let head_bytes = match vault {
        true => disk.read(&head).map(Some).or_else(absent).map_err(unread(&head))?,
        false => None,
    };
    let ledger = root.join(LEDGER);
    let bytes = disk.read(&ledger).map_err(unread(&ledger))?;
    let events = line::read(&bytes)?.events;
    if events.is_empty() {
        return Err(LedgerError::NoProject { root: root.into() });
    }
    put(LEDGER, &mut &bytes[..])?;
    let mut names = Vec::new();
    if let Some(bytes) = head_bytes {
        put(&format!("{VAULT}/{HEAD}"), &mut &bytes[..])?;
        let files = recover::state(&events).keys().map(String::as_str).chain(KEY_FILES);
        names.extend(files.map(|name| format!("{VAULT}/{name}")));
    }
    for publication in events.iter().filter_map(Event::publication) {
        let folder = release_name(series(&events), publication.number);
        names.extend(publication.files.keys().map(|name| format!("{folder}/{name}")));
    }
    let mut fetched = vec![LEDGER.to_string()];
    for name in names {
        let path = root.join(&name);
        if let Some(mut input) = disk.open(&path).map(Some).or_else(absent).map_err(unread(&path))? {
            put(&name, &mut *input)?;
            fetched.push(name);
        }
    }
    Ok(fetched)
}

fn absent<T>(error: io::Error) -> io::Result<Option<T>> {
    if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_process_left_on_this_machine_is_removed_by_the_next() {
        let parent = tempfile::tempdir().unwrap();
        let living = Local::new(parent.path()).unwrap();
        let Local { folder, _lock } = Local::new(parent.path()).unwrap();
        let left = folder.keep();
        fs::write(left.join("scratch-0000"), "people").unwrap();
        // Its process is gone.
        drop(_lock);
        let next = Local::new(parent.path()).unwrap();
        assert!(!left.exists() && living.folder.path().exists() && next.folder.path().exists());
        drop((living, next));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
