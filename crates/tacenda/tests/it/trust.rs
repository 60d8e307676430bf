//! Whoever restores, copies, forks or tampers with a project is told so, and nobody's files are lost.

use crate::small_project::{init, publish};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tacenda::ledger::{Anchors, Disk, DiskFile, Folder, LedgerError, Lock, RealDisk, Status, Store, verify};

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn project(releases: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(real(), folder.path()).unwrap();
    (1..=releases).for_each(|number| publish(&mut store, number).unwrap());
    folder
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(done.success());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_project_costs_nobody_their_files() {
    for link in [".tacenda/staging", ".tacenda/vault", ".tacenda", ".tacenda/lock", "releases", "releases/wards"] {
        let (folder, outside) = (project(1), tempfile::tempdir().unwrap());
        let precious = outside.path().join("precious/r0001");
        fs::create_dir_all(&precious).unwrap();
        let place = folder.path().join(link);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&place).unwrap(),
            Ok(_) => fs::remove_file(&place).unwrap(),
            Err(_) => {}
        }
        std::os::unix::fs::symlink(outside.path().join("precious"), &place).unwrap();
        let refused = Store::open_write(real(), folder.path()).err().map(|error| error.code());
        assert_eq!(refused, Some("L509"), "{link}");
        assert!(precious.exists(), "{link}");
    }
}

#[test]
fn a_stray_file_in_staging_stays_and_stops_nobody() {
    let folder = project(1);
    let stray = folder.path().join(".tacenda/staging/.DS_Store");
    fs::write(&stray, "").unwrap();
    publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    assert!(stray.exists());
}

#[cfg(unix)]
#[test]
fn a_vault_that_others_can_read_is_refused_and_the_advice_works() {
    use std::os::unix::fs::PermissionsExt;
    for (name, mode) in [("", 0o755), ("/seed", 0o644), ("/head", 0o660)] {
        let folder = project(1);
        let path = PathBuf::from(format!("{}/.tacenda/vault{name}", folder.path().display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(Store::open_read(real(), folder.path()).unwrap_err().code(), "L510", "{name}");
        assert_eq!(Store::open_write(real(), folder.path()).unwrap_err().code(), "L510", "{name}");
        let advice = ["-R", "go-rwx", ".tacenda/vault"];
        let done = std::process::Command::new("chmod").args(advice).current_dir(folder.path()).status().unwrap();
        assert!(done.success());
        publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    }
}

/// A disk on which somebody takes the lock for stale and publishes too, at one operation of the first writer.
struct Meddled {
    root: PathBuf,
    operations: AtomicUsize,
    at: usize,
    removes_lock: bool,
}

impl Meddled {
    fn step(&self) {
        if self.operations.fetch_add(1, Ordering::Relaxed) + 1 != self.at {
            return;
        }
        let lock = self.root.join(".tacenda/lock");
        match self.removes_lock {
            true => fs::remove_file(&lock).unwrap(),
            // As on a file system without locks: the other writer has the same file.
            false => fs::rename(&lock, self.root.join("kept")).unwrap(),
        }
        if let Ok(mut store) = Store::open_write(real(), &self.root) {
            let next = store.releases() + 1;
            publish(&mut store, next).unwrap();
        }
        if !self.removes_lock {
            fs::rename(self.root.join("kept"), &lock).unwrap();
        }
    }
}

impl Disk for Meddled {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.step();
        RealDisk.read(path)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        self.step();
        RealDisk.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        self.step();
        RealDisk.create(path)
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        RealDisk.append(path, bytes)
    }
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.step();
        RealDisk.truncate(path, len)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.step();
        RealDisk.remove_file(path)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        RealDisk.remove_folder(path)
    }
    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()> {
        self.step();
        RealDisk.create_folder(path, kind)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.step();
        RealDisk.sync_folder(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.step();
        RealDisk.list(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.step();
        RealDisk.exists(path)
    }
    fn status(&self, path: &Path) -> io::Result<Status> {
        RealDisk.status(path)
    }
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        RealDisk.try_lock(path)
    }
}

/// What two writers leave that do not see each other: how often each won.
fn two_writers(removes_lock: bool) -> [u32; 2] {
    let start = project(1);
    let meddled =
        |root: &Path, at: usize| Meddled { root: root.into(), operations: AtomicUsize::new(0), at, removes_lock };
    let whole = tempfile::tempdir().unwrap();
    copy(start.path(), whole.path());
    let counting = Arc::new(meddled(whole.path(), usize::MAX));
    let mut store = Store::open_write(Arc::clone(&counting) as Arc<dyn Disk>, whole.path()).unwrap();
    let opening = counting.operations.load(Ordering::Relaxed);
    publish(&mut store, 2).unwrap();
    let mut won = [0, 0];
    for at in opening + 1..=counting.operations.load(Ordering::Relaxed) {
        let folder = tempfile::tempdir().unwrap();
        copy(start.path(), folder.path());
        let disk: Arc<dyn Disk> = Arc::new(meddled(folder.path(), at));
        let mut first = Store::open_write(disk, folder.path()).unwrap();
        let result = publish(&mut first, 2);
        drop(first);
        let mut after = Store::open_write(real(), folder.path()).unwrap();
        let faults = verify(&after);
        assert!(faults.is_empty(), "at operation {at}, first writer {result:?}: {faults:?}");
        let lines = after.releases();
        assert!(lines == 2 || lines == 3, "at operation {at}");
        // Overtaken after its line was there, the first one counts, and says so.
        let counts = result.is_ok() || matches!(result, Err(LedgerError::Unfinished { .. }));
        assert!(counts || lines == 2, "what failed left nothing");
        won[usize::from(result.is_err())] += 1;
        publish(&mut after, lines + 1).unwrap();
        assert!(verify(&after).is_empty());
    }
    won
}

#[test]
fn two_writers_that_do_not_see_each_other_leave_one_whole_series() {
    let removed = two_writers(true);
    assert!(removed[1] > 20, "the first writer was overtaken: {removed:?}");
    let unlocked = two_writers(false);
    assert!(unlocked[1] > 20, "the first writer was overtaken: {unlocked:?}");
}

#[test]
fn any_earlier_state_is_refused_whatever_is_published_then() {
    let (state, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let anchors = Anchors::at(state.path());
    let mut store = init(real(), folder.path()).unwrap();
    store.hold_against(&anchors, "now", None).unwrap();
    let mut backups = Vec::new();
    for number in 1..=4 {
        let backup = tempfile::tempdir().unwrap();
        copy(folder.path(), backup.path());
        backups.push(backup);
        publish(&mut store, number).unwrap();
    }
    drop(store);
    for (releases, backup) in backups.iter().enumerate() {
        let mut restored = Store::open_write(real(), backup.path()).unwrap();
        let refused = restored.hold_against(&anchors, "now", None).unwrap_err();
        assert_eq!((refused.code(), refused.exit_code()), ("L511", 5), "with {releases} releases");
        assert_eq!(Store::open_look(real(), backup.path()).unwrap().compare_with(&anchors).unwrap_err().code(), "L511");
    }
    // The newest state goes on.
    let mut newest = Store::open_write(real(), folder.path()).unwrap();
    newest.hold_against(&anchors, "now", None).unwrap();
    publish(&mut newest, 5).unwrap();
    drop(newest);
    // A person may go on from an older one, and the ledger says why.
    let mut restored = Store::open_write(real(), backups[3].path()).unwrap();
    restored.hold_against(&anchors, "now", Some("release 4 never left the house")).unwrap();
    publish(&mut restored, 4).unwrap();
    drop(restored);
    let mut again = Store::open_write(real(), backups[3].path()).unwrap();
    again.hold_against(&anchors, "now", None).unwrap();
    let told = again.events().iter().any(|event| format!("{:?}", event.what).contains("never left the house"));
    assert!(told);
    // The other branch is behind now: two series with one seed are never both continued unnoticed.
    let mut other = Store::open_write(real(), folder.path()).unwrap();
    assert_eq!(other.hold_against(&anchors, "now", None).unwrap_err().code(), "L511");
}

#[test]
fn a_damaged_anchor_is_said_to_be_one() {
    let (state, folder) = (tempfile::tempdir().unwrap(), project(1));
    let anchors = Anchors::at(state.path());
    Store::open_write(real(), folder.path()).unwrap().hold_against(&anchors, "now", None).unwrap();
    let file = fs::read_dir(state.path()).unwrap().next().unwrap().unwrap().path();
    let good = fs::read(&file).unwrap();
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    let mut store = Store::open_write(real(), folder.path()).unwrap();
    let error = store.hold_against(&anchors, "now", None).unwrap_err();
    assert!(matches!(error, LedgerError::BadAnchor { .. }));
    // The advice of the error.
    fs::remove_file(&file).unwrap();
    store.hold_against(&anchors, "now", None).unwrap();
    assert_eq!(fs::read(&file).unwrap(), good);
}
