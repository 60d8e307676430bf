//! Opening a project: what is committed, and what a crash left behind.
//!
//! Everything with a whole line is committed. If the folder of a line is still staged, it is moved into place. A
//! folder, a vault file or a torn line that no line names is removed. Two states cannot come from a crash and are
//! refused: a ledger shorter than the vault's head says, and a release under its final name that the ledger does not
//! name.

use crate::ledger::head::{HEAD, Head};
use crate::ledger::line::LEDGER;
use crate::ledger::sealed::{KEY_FILES, RESEALED};
use crate::ledger::staging::{STAGING, is_staged, staged_name};
use crate::ledger::store::{release_name, series};
use crate::ledger::vault::VAULT;
use crate::ledger::{Disk, Event, FileKind, Folder, LedgerError, Lock, Publication, line, vault};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// What an open found.
pub(super) struct Found {
    pub events: Vec<Event>,
    pub whole: u64,
    torn: u64,
    head: Head,
}

/// Takes the lock.
pub(super) fn lock(disk: &dyn Disk, root: &Path) -> Result<Box<dyn Lock>, LedgerError> {
    refuse_links(disk, root)?;
    refuse_open(disk, root)?;
    let path = root.join(".tacenda/lock");
    let lock = disk.try_lock(&path).map_err(|error| LedgerError::disk("lock", &path, error))?;
    lock.ok_or_else(|| LedgerError::Locked { root: root.into() })
}

/// Reads the public part of a project: the ledger and the release folders, without the vault. Lost last lines of the
/// ledger are not noticed this way, unless there is a release that it does not name.
pub(super) fn look_outside(disk: &dyn Disk, root: &Path) -> Result<Found, LedgerError> {
    refuse_links(disk, root)?;
    refuse_open(disk, root)?;
    let folders = release_folders(disk, root)?;
    let lines = line::read(&read_ledger(disk, root)?)?;
    if lines.events.is_empty() {
        return Err(LedgerError::NoProject { root: root.into() });
    }
    refuse_unknown(&folders, &lines.events)?;
    Ok(Found { events: lines.events, whole: lines.whole, torn: lines.torn, head: Head::none() })
}

/// Refuses a release under its final name that the ledger does not name.
fn refuse_unknown(folders: &ReleaseFolders, events: &[Event]) -> Result<(), LedgerError> {
    let releases = events.iter().filter_map(Event::publication).count() as u32;
    let known = |folder: &String| (1..=releases).any(|number| *folder == release_name(series(events), number));
    match folders.of(series(events)).find(|folder| !known(folder)) {
        Some(folder) => Err(LedgerError::UnknownRelease { folder }),
        None => Ok(()),
    }
}

/// Reads the state of a project and changes nothing.
///
/// Folders and head are read before the ledger. A writer works in the opposite order, so every folder that is seen here
/// must have its line.
pub(super) fn look(disk: &dyn Disk, root: &Path) -> Result<Found, LedgerError> {
    refuse_links(disk, root)?;
    refuse_open(disk, root)?;
    refuse_loose(disk, root)?;
    let folders = release_folders(disk, root)?;
    let head = Head::read(disk, root)?;
    let lines = line::read(&read_ledger(disk, root)?)?;
    let found = lines.events.len() as u64;
    let wanted = head.as_ref().map_or(0, |head| head.seq);
    if found < wanted {
        return Err(LedgerError::CutShort { file: LEDGER.into(), found, wanted });
    }
    if found == 0 {
        return Err(LedgerError::NoProject { root: root.into() });
    }
    // The head is read again, because the project may just have been set up.
    let head = head.map_or_else(|| Head::read(disk, root), |head| Ok(Some(head)))?;
    let head = head.ok_or_else(|| LedgerError::VaultMissing { file: vault::shown(HEAD) })?;
    if head.seq > 0 && lines.events.get(head.seq as usize - 1).is_none_or(|event| event.hash != head.hash) {
        return Err(LedgerError::Vault { file: vault::shown(HEAD), fault: "it belongs to another ledger" });
    }
    refuse_unknown(&folders, &lines.events)?;
    Ok(Found { events: lines.events, whole: lines.whole, torn: lines.torn, head })
}

/// Whether power was lost while a project was set up: there is no line yet, and the vault has nothing but what is written before the
/// first one.
pub(super) fn is_unborn(disk: &dyn Disk, root: &Path) -> Result<bool, LedgerError> {
    let is_early = |name: &String| {
        let name = name.strip_suffix(RESEALED).unwrap_or(name);
        [vault::SEED, HEAD].contains(&name)
            || KEY_FILES.contains(&name)
            || ["head.next", "policy-0000"].iter().any(|begin| name.starts_with(begin))
    };
    let is_early = list_folder(disk, &root.join(VAULT))?.iter().all(is_early);
    Ok(is_early && matches!(look(disk, root), Err(LedgerError::NoProject { .. })))
}

/// Refuses links where this room writes or removes files, because they may lead to other people's files.
fn refuse_links(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    let own = [".tacenda", VAULT, STAGING, LEDGER, ".tacenda/lock", "releases"].map(|name| root.join(name));
    let series = list_folder(disk, &root.join("releases"))?.into_iter().map(|name| root.join("releases").join(name));
    let staged = list_folder(disk, &root.join(STAGING))?.into_iter().filter(|name| is_staged(name));
    let staged = staged.map(|name| root.join(STAGING).join(name));
    for path in own.into_iter().chain(series).chain(staged) {
        let status = disk.status(&path).map_err(|error| LedgerError::disk("read", &path, error))?;
        if status.kind == FileKind::Other {
            return Err(LedgerError::Link { file: inside(root, &path) });
        }
    }
    Ok(())
}

/// The names in a folder; none if the path is a link or no folder.
fn list_folder(disk: &dyn Disk, path: &Path) -> Result<Vec<String>, LedgerError> {
    let status = disk.status(path).map_err(|error| LedgerError::disk("read", path, error))?;
    if status.kind == FileKind::Folder { list(disk, path) } else { Ok(Vec::new()) }
}

/// Refuses a vault that people other than its owner may read or write, as ssh does with its keys.
fn refuse_loose(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    let vault = root.join(VAULT);
    let files = list_folder(disk, &vault)?.into_iter().filter(|name| vault::is_private(name));
    for path in std::iter::once(vault.clone()).chain(files.map(|name| vault.join(name))) {
        let status = disk.status(&path).map_err(|error| LedgerError::disk("read", &path, error))?;
        if status.kind == FileKind::Other {
            return Err(LedgerError::Link { file: inside(root, &path) });
        }
        if !status.is_private {
            let (open, way_out) = ("read or written by others", format!("chmod -R go-rwx {VAULT}"));
            return Err(LedgerError::Loose { file: inside(root, &path), open, way_out });
        }
    }
    Ok(())
}

/// Refuses a ledger that everybody may write: its lines would be anybody's word. Others may read it.
fn refuse_open(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    match [".tacenda", LEDGER].into_iter().find(|name| disk.may_all_write(&root.join(name))) {
        Some(name) => {
            let (file, way_out) = (name.into(), "chmod -R o-w .tacenda".into());
            Err(LedgerError::Loose { file, open: "written by everybody", way_out })
        }
        None => Ok(()),
    }
}

/// A path relative to the project folder.
fn inside(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Refuses to continue if the lock is lost or the ledger has changed since it was opened: another writer was active.
pub(super) fn refuse_overtaken(
    disk: &dyn Disk,
    root: &Path,
    lock: &dyn Lock,
    whole: u64,
    head: &str,
) -> Result<(), LedgerError> {
    let path = root.join(".tacenda/lock");
    if !lock.is_held().map_err(|error| LedgerError::disk("read", &path, error))? {
        return Err(LedgerError::Overtaken);
    }
    let bytes = read_ledger(disk, root)?;
    let last = line::read(&bytes)?.events.pop();
    let same = bytes.len() as u64 == whole && last.is_none_or(|event| event.hash == head);
    if same { Ok(()) } else { Err(LedgerError::Overtaken) }
}

/// Tells a writer of another one, unseen, in place of the damage that the work of that one looks like from here: files of the
/// state before are gone, and there is a release without a line. The ledger only grows if another writer was here.
pub(super) fn or_overtaken(disk: &dyn Disk, root: &Path, whole: u64, error: LedgerError) -> LedgerError {
    let has_grown = || tail(disk, root, whole).is_ok_and(|tail| !tail.is_empty());
    if error.exit_code() == 5 && has_grown() { LedgerError::Overtaken } else { error }
}

/// What stands in the ledger behind its first `whole` bytes.
pub(super) fn tail(disk: &dyn Disk, root: &Path, whole: u64) -> Result<Vec<u8>, LedgerError> {
    let mut bytes = read_ledger(disk, root)?;
    Ok(bytes.split_off((whole as usize).min(bytes.len())))
}

/// Removes a line that does not count, or was written in part, and says whether it is gone. It stays if others have built on it.
/// Another writer's line may stand before it. What stands behind a line that is out of its place is out of place too: its writer
/// finds that out in the same way.
pub(super) fn take_back(disk: &dyn Disk, root: &Path, whole: u64, line: &[u8]) -> Result<bool, LedgerError> {
    let ledger = root.join(LEDGER);
    let tail = tail(disk, root, whole)?;
    if tail.len() > line.len() && tail.starts_with(line) {
        return Ok(false);
    }
    let in_part = tail.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let in_part = Some(in_part).filter(|&at| at < tail.len() && line.starts_with(&tail[at..]));
    if let Some(at) = tail.windows(line.len()).position(|there| there == line).or(in_part) {
        let cut = disk.truncate(&ledger, whole + at as u64);
        cut.map_err(|error| LedgerError::disk("write", &ledger, error))?;
    }
    Ok(true)
}

/// Removes the files of the vault that an attempt wrote. The next open for writing removes what is left.
pub(super) fn discard(disk: &dyn Disk, root: &Path, attempt: &str) {
    let (vault, mark) = (root.join(VAULT), format!(".{attempt}"));
    let ours = |name: &String| vault::is_state(name) && name.contains(&mark);
    for name in disk.list(&vault).unwrap_or_default().iter().filter(|name| ours(name)) {
        let _ = disk.remove_file(&vault.join(name));
    }
}

/// Finishes or removes what a crash left. The lock must be held.
pub(super) fn settle(disk: &dyn Disk, root: &Path, found: &Found, attempt: &str) -> Result<(), LedgerError> {
    let ledger = root.join(LEDGER);
    if found.torn > 0 {
        disk.truncate(&ledger, found.whole).map_err(|error| LedgerError::disk("write", &ledger, error))?;
    }
    let last = found.events.last().expect("a project has a first line");
    if found.head.seq < last.seq {
        create_release_parent(disk, root, series(&found.events))?;
        finish(disk, root, &found.events)?;
        Head { seq: last.seq, hash: last.hash.clone() }.prepare(disk, root, attempt)?;
        Head::take(disk, root, attempt)?;
    }
    sweep_staging(disk, root)?;
    sweep_vault(disk, root)?;
    let there = list(disk, &root.join(VAULT))?;
    match state(&found.events).keys().find(|name| !there.contains(name)) {
        Some(name) => Err(LedgerError::VaultMissing { file: vault::shown(name) }),
        None => Ok(()),
    }
}

/// Moves the release of the last line out of staging, unless that has been done.
pub(super) fn finish(disk: &dyn Disk, root: &Path, events: &[Event]) -> Result<(), LedgerError> {
    let Some(publication) = events.last().and_then(Event::publication) else {
        return Ok(());
    };
    let name = release_name(series(events), publication.number);
    let (place, staged) = (root.join(&name), staged_folder(root, publication));
    let fault = |error| LedgerError::disk("rename", &place, error);
    if !disk.exists(&place).map_err(fault)? {
        if !disk.exists(&staged).map_err(fault)? {
            return Err(LedgerError::MissingRelease { folder: name });
        }
        disk.rename(&staged, &place).map_err(fault)?;
    }
    disk.sync_folder(&root.join("releases").join(series(events))).map_err(fault)?;
    disk.sync_folder(&root.join(STAGING)).map_err(fault)
}

/// The staging folder of a release.
pub(super) fn staged_folder(root: &Path, publication: &Publication) -> PathBuf {
    let attempt = vault::attempt_of(&publication.vault, publication.number);
    root.join(STAGING).join(staged_name(publication.number, attempt))
}

/// Makes the folder that releases are renamed into, durably.
pub(super) fn create_release_parent(disk: &dyn Disk, root: &Path, series: &str) -> Result<(), LedgerError> {
    let releases = root.join("releases");
    let create = || {
        disk.create_folder(&releases.join(series), Folder::Plain)?;
        disk.sync_folder(&releases)?;
        disk.sync_folder(root)
    };
    create().map_err(|error| LedgerError::disk("create", &releases, error))
}

/// Prepares the folder for a new project, unless there is or was one.
pub(super) fn clear_for_init(disk: &dyn Disk, root: &Path, series: &str) -> Result<(), LedgerError> {
    match look(disk, root) {
        Ok(_) => return Err(LedgerError::Exists { root: root.into() }),
        Err(LedgerError::NoProject { .. }) => {}
        Err(other) => return Err(other),
    }
    if let Some(folder) = release_folders(disk, root)?.of(series).next() {
        return Err(LedgerError::UnknownRelease { folder });
    }
    sweep_staging(disk, root)?;
    sweep_vault(disk, root)?;
    let ledger = root.join(LEDGER);
    let create = || {
        disk.create(&ledger)?.sync_and_close()?;
        disk.sync_folder(&root.join(".tacenda"))
    };
    create().map_err(|error| LedgerError::disk("create", &ledger, error))
}

/// The files of the vault that the last line names.
pub(super) fn state(events: &[Event]) -> &BTreeMap<String, String> {
    events.iter().rev().find_map(Event::vault).expect("the first line has files")
}

/// Removes the files of the vault that the last line does not name. Files that this room did not write stay. The files
/// are listed before the ledger is read, so files that another writer commits in between are not in the list.
pub(super) fn sweep_vault(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    let vault = root.join(VAULT);
    let names = list(disk, &vault)?;
    let events = line::read(&read_ledger(disk, root)?)?.events;
    let is_named = |name: &String| !events.is_empty() && state(&events).contains_key(name);
    let leftovers: Vec<String> = names.into_iter().filter(|name| vault::is_state(name) && !is_named(name)).collect();
    for name in &leftovers {
        let path = vault.join(name);
        disk.remove_file(&path).map_err(|error| LedgerError::disk("remove", &path, error))?;
    }
    if leftovers.is_empty() {
        return Ok(());
    }
    disk.sync_folder(&vault).map_err(|error| LedgerError::disk("sync", &vault, error))
}

fn sweep_staging(disk: &dyn Disk, root: &Path) -> Result<(), LedgerError> {
    let staging = root.join(STAGING);
    // Files that this room did not stage stay: a desktop or a file server may have left them.
    let names: Vec<String> = list(disk, &staging)?.into_iter().filter(|name| is_staged(name)).collect();
    for name in &names {
        let path = staging.join(name);
        disk.remove_folder(&path).map_err(|error| LedgerError::disk("remove", &path, error))?;
    }
    if names.is_empty() {
        return Ok(());
    }
    disk.sync_folder(&staging).map_err(|error| LedgerError::disk("sync", &staging, error))
}

/// Every folder that is named like a release, by series and name.
struct ReleaseFolders(Vec<(String, String)>);

impl ReleaseFolders {
    /// The release folders of a series, relative to the project folder.
    fn of<'a>(&'a self, series: &'a str) -> impl Iterator<Item = String> + 'a {
        self.0.iter().filter(move |(of, _)| of == series).map(|(series, name)| format!("releases/{series}/{name}"))
    }
}

fn release_folders(disk: &dyn Disk, root: &Path) -> Result<ReleaseFolders, LedgerError> {
    let releases = root.join("releases");
    let mut folders = Vec::new();
    for series in list(disk, &releases)? {
        let path = releases.join(&series);
        let names = match disk.list(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => continue,
            other => other.map_err(|error| LedgerError::disk("list", &path, error))?,
        };
        let is_release = |name: &String| {
            name.strip_prefix('r')
                .is_some_and(|rest| rest.len() >= 4 && rest.bytes().all(|digit| digit.is_ascii_digit()))
        };
        folders.extend(names.into_iter().filter(is_release).map(|name| (series.clone(), name)));
    }
    Ok(ReleaseFolders(folders))
}

fn read_ledger(disk: &dyn Disk, root: &Path) -> Result<Vec<u8>, LedgerError> {
    let path = root.join(LEDGER);
    match disk.read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        other => other.map_err(|error| LedgerError::disk("read", &path, error)),
    }
}

fn list(disk: &dyn Disk, path: &Path) -> Result<Vec<String>, LedgerError> {
    disk.list(path).map_err(|error| LedgerError::disk("list", path, error))
}
