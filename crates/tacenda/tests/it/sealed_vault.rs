//! The vault is encrypted: nothing private is in any byte that was ever written, and whoever steals it has nothing.

use crate::crash_disk::{CrashDisk, DiskFault, Kept};
use crate::small_project::{publish, root, state};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tacenda::ingest::Given;
use tacenda::keys::{KeyFolder, VaultKey};
use tacenda::ledger::{
    Disk, DiskFile, Folder, LedgerError, Lock, NewProject, RealDisk, Reseal, ResealError, SealedDisk, Status, Store,
    is_sealed, reseal, unsealed, verify,
};
use tacenda::model::{RecordKey, Seed};
use tacenda::use_cases;
use tacenda::use_cases::{ProjectFolder, ReleaseRequest, UseCaseError, VerifyRequest};

/// A folder of keys that is removed at the end.
struct Keys(tempfile::TempDir);

impl Keys {
    fn new() -> Keys {
        Keys(tempfile::tempdir().unwrap())
    }

    fn folder(&self) -> KeyFolder {
        KeyFolder::at(&self.0.path().join("keys"))
    }
}

/// A hand-made project, sealed or in the clear.
fn init(disk: Arc<dyn Disk>, place: &Path, keys: Option<&KeyFolder>) -> Result<Store, LedgerError> {
    let key = keys.map(|_| VaultKey::random().unwrap());
    let wrapped = keys.zip(key.as_ref()).map(|(keys, key)| keys.wrap(key).unwrap());
    let disk: Arc<dyn Disk> = match key {
        Some(key) => Arc::new(SealedDisk::new(disk, key)),
        None => disk,
    };
    let new = NewProject {
        series: "wards",
        seed: Seed(*b"the seed is a canary of 32 bytes"),
        wrapped_key: wrapped.as_deref(),
        policy_digest: "p",
        policy_canonical: "policy with a canary inside",
        at: "2026-01-01T00:00:00Z",
    };
    Store::init(disk, place, new)
}

fn open(disk: Arc<dyn Disk>, place: &Path, keys: &KeyFolder) -> Store {
    Store::open_write(unsealed(disk, place, Some(keys)).unwrap(), place).unwrap()
}

/// A disk that remembers every byte that was ever written to it.
#[derive(Default)]
pub struct Recording(pub Arc<Mutex<Vec<u8>>>);

struct RecordedFile(Box<dyn DiskFile>, Arc<Mutex<Vec<u8>>>);

impl Write for RecordedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.0.write(bytes)?;
        self.1.lock().unwrap().extend_from_slice(&bytes[..written]);
        Ok(written)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl DiskFile for RecordedFile {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        self.0.sync_and_close()
    }
}

impl Disk for Recording {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        RealDisk.read(path)
    }
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        RealDisk.open(path)
    }
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        // Names are written too.
        self.0.lock().unwrap().extend_from_slice(path.to_str().unwrap().as_bytes());
        Ok(Box::new(RecordedFile(RealDisk.create(path)?, Arc::clone(&self.0))))
    }
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        RealDisk.append(path, bytes)
    }
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        RealDisk.truncate(path, len)
    }
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }
    fn remove_file(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_file(path)
    }
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }
    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()> {
        RealDisk.create_folder(path, kind)
    }
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_folder(path)
    }
    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        RealDisk.list(path)
    }
    fn exists(&self, path: &Path) -> io::Result<bool> {
        RealDisk.exists(path)
    }
    fn status(&self, path: &Path) -> io::Result<Status> {
        RealDisk.status(path)
    }
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        RealDisk.try_lock(path)
    }
}

/// Which private things stand in these bytes: the seed, the policy, texts, keys of people, the marks of Parquet.
fn canaries(bytes: &[u8]) -> Vec<&'static str> {
    let (history, _) = state(2);
    let person = [history.records[3].key.hi.to_le_bytes(), history.records[4].key.hi.to_le_bytes()].concat();
    let private: [(&str, &[u8]); 5] = [
        ("seed", b"the seed is a canary"),
        ("policy", b"policy with a canary"),
        ("texts", b"night ward"),
        ("people", &person),
        ("tables", b"PAR1"),
    ];
    let is_there = |needle: &[u8]| bytes.windows(needle.len()).any(|found| found == needle);
    private.into_iter().filter(|(_, needle)| is_there(needle)).map(|(name, _)| name).collect()
}

#[test]
fn no_byte_that_was_ever_written_shows_anything_private() {
    let keys = Keys::new();
    for keys in [None, Some(keys.folder())] {
        let (folder, disk) = (tempfile::tempdir().unwrap(), Recording::default());
        let written = Arc::clone(&disk.0);
        let mut store = init(Arc::new(disk), folder.path(), keys.as_ref()).unwrap();
        publish(&mut store, 1).unwrap();
        store.keep_planned("plan", &state(1).1).unwrap();
        publish(&mut store, 2).unwrap();
        assert!(store.history().unwrap() == state(2).0 && store.snapshot().unwrap() == Some(state(2).1));
        assert!(verify(&store).is_empty());
        let found = canaries(&written.lock().unwrap());
        match keys {
            None => assert_eq!(found, ["seed", "policy", "texts", "people", "tables"], "the canaries sing"),
            Some(_) => assert!(found.is_empty(), "{found:?}"),
        }
    }
}

/// The attack that re-identified everybody: a copy of the vault, or of the whole project, without the user's keys.
#[test]
fn a_stolen_vault_without_its_key_gives_nothing() {
    let (keys, thief) = (Keys::new(), Keys::new());
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(Arc::new(RealDisk), folder.path(), Some(&keys.folder())).unwrap();
    publish(&mut store, 1).unwrap();
    drop(store);
    let mut stolen = Vec::new();
    for entry in fs::read_dir(folder.path().join(".tacenda/vault")).unwrap() {
        stolen.extend(fs::read(entry.unwrap().path()).unwrap());
    }
    assert!(stolen.len() > 1000 && canaries(&stolen).is_empty());
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    assert_eq!(Store::open_read(Arc::clone(&disk), folder.path()).unwrap_err().code(), "L503");
    thief.folder().make_vault_identity().unwrap();
    let refused = unsealed(Arc::clone(&disk), folder.path(), Some(&thief.folder())).err().unwrap();
    assert_eq!((refused.code(), refused.exit_code()), ("K605", 6));
    // What left can be looked at, and the ledger's end is checked, without the key.
    let look = Store::open_look(Arc::clone(&disk), folder.path()).unwrap();
    assert!(!look.has_vault() && look.releases() == 1 && verify(&look).is_empty());
    // The recovery key opens it, and so does the key.
    let recovery = Keys::new();
    recovery.folder().make_vault_identity().unwrap();
    fs::copy(keys.folder().path().join("recovery.key"), recovery.folder().path().join("recovery.key")).unwrap();
    for keys in [&keys, &recovery] {
        assert!(open(Arc::clone(&disk), folder.path(), &keys.folder()).history().unwrap() == state(1).0);
    }
}

/// A thief who knows everybody's name looks them up in a copy of a project: `p7` has which age and which illness?
fn looked_up(stolen: &Path, keys: Option<&KeyFolder>) -> usize {
    let disk = unsealed(Arc::new(RealDisk), stolen, keys).ok();
    let store = Store::open_read(disk.unwrap_or(Arc::new(RealDisk)), stolen).ok();
    let Some((seed, table)) = store.and_then(|store| Some((store.seed().ok()?.clone(), store.snapshot().ok()??)))
    else {
        return 0;
    };
    let secret = seed.key("identifier");
    let knows = |person: &usize| {
        let key = RecordKey::of(&secret, format!("p{person}").as_bytes());
        table.find(key).is_some_and(|row| {
            let illness = table.values.cells(table.sensitive()[row.index()]).join("");
            table.quasi(0)[row.index()] as usize == 20 + person % 50 && illness == ILLNESS[person % 4]
        })
    };
    (0..220).filter(knows).count()
}

const ILLNESS: [&str; 4] = ["canary-flu", "canary-gout", "canary-asthma", "canary-angina"];

/// 220 of 220 people were re-identified from a copy of the vault. Without the key it is nobody.
#[test]
fn nobody_is_re_identified_from_a_stolen_project() {
    let (keys, thief) = (Keys::new(), Keys::new());
    thief.folder().make_vault_identity().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("tacenda.toml"), POLICY).unwrap();
    let rows = (0..220).map(|id| format!("p{id},,{},{}\n", 20 + id % 50, ILLNESS[id % 4]));
    fs::write(place("table.csv"), format!("id,note,age,illness\n{}", rows.collect::<String>())).unwrap();
    let project = ProjectFolder { root: folder.path().into(), keys: Some(keys.folder()), ..ProjectFolder::default() };
    let data = Some(Given::Path(place("table.csv")));
    let request = ReleaseRequest { project: project.clone(), data, ..ReleaseRequest::default() };
    request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    assert_eq!([None, Some(&thief.folder())].map(|keys| looked_up(folder.path(), keys)), [0, 0]);
    // The attack works where it can: with the key, and in the clear.
    assert_eq!(looked_up(folder.path(), Some(&keys.folder())), 220);
    use_cases::reseal_vault(&project, Reseal::Unlock).unwrap();
    assert_eq!(looked_up(folder.path(), None), 220);
}

/// The files of a vault, by the part of their name before the number.
fn file(folder: &Path, kind: &str) -> PathBuf {
    let entries = fs::read_dir(folder.join(".tacenda/vault")).unwrap().map(|entry| entry.unwrap().path());
    entries.into_iter().find(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind)).unwrap()
}

#[test]
fn a_sealed_file_that_is_changed_cut_or_swapped_is_refused() {
    let keys = Keys::new();
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(Arc::new(RealDisk), folder.path(), Some(&keys.folder())).unwrap();
    publish(&mut store, 1).unwrap();
    let earlier = fs::read(file(folder.path(), "regions-")).unwrap();
    publish(&mut store, 2).unwrap();
    drop(store);
    let refused = || {
        let disk = unsealed(Arc::new(RealDisk), folder.path(), Some(&keys.folder())).unwrap();
        let opened = Store::open_read(disk, folder.path()).and_then(|store| store.history().map(drop));
        opened.err().map(|error| error.code())
    };
    assert_eq!(refused(), None);
    let (regions, cells) = (file(folder.path(), "regions-"), file(folder.path(), "cells-"));
    let good = fs::read(&regions).unwrap();
    for at in 0..good.len() {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&regions, bad).unwrap();
        assert_eq!(refused(), Some("L503"), "byte {at}");
    }
    for len in (0..good.len()).step_by(11) {
        fs::write(&regions, &good[..len]).unwrap();
        assert_eq!(refused(), Some("L503"), "cut to {len}");
    }
    // Regions and cells hold the same here; only their names differ.
    fs::write(&regions, fs::read(&cells).unwrap()).unwrap();
    assert_eq!(refused(), Some("L503"), "another file");
    fs::write(&regions, earlier).unwrap();
    assert_eq!(refused(), Some("L503"), "an earlier release's file");
    fs::write(&regions, &good).unwrap();
    assert_eq!(refused(), None);
}

/// Files longer than a chunk, at and around its length: every one reads back, none can be cut at the border of a chunk.
#[test]
fn files_of_every_length_read_back_and_lose_no_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let vault = folder.path().join(".tacenda/vault");
    fs::create_dir_all(&vault).unwrap();
    let disk = SealedDisk::new(Arc::new(RealDisk), VaultKey::random().unwrap());
    for length in [0, 1, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073, 300_000] {
        let text: Vec<u8> = (0..length).map(|at| (at * 7 % 251) as u8).collect();
        let path = vault.join("keys-0001.00000000.parquet");
        let mut file = disk.create(&path).unwrap();
        // In pieces that do not fit the chunks.
        text.chunks(10_007).for_each(|piece| file.write_all(piece).unwrap());
        file.sync_and_close().unwrap();
        assert!(disk.read(&path).unwrap() == text, "{length} bytes");
        let sealed = fs::read(&path).unwrap();
        // Under another name, or as that of another release, it cannot be opened.
        for name in ["cells-0001.00000000.parquet", "keys-0002.00000000.parquet"] {
            fs::write(vault.join(name), &sealed).unwrap();
            assert!(disk.read(&vault.join(name)).is_err(), "{name}");
        }
        for cut in (43..sealed.len()).step_by(65_536 + 16).filter(|&cut| cut < sealed.len()) {
            fs::write(&path, &sealed[..cut]).unwrap();
            assert!(disk.read(&path).is_err(), "{length} bytes cut to {cut}");
        }
    }
}

#[test]
fn an_older_vault_is_read_locked_rekeyed_and_unlocked() {
    let keys = Keys::new();
    let folder = tempfile::tempdir().unwrap();
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let mut store = init(Arc::clone(&disk), folder.path(), None).unwrap();
    publish(&mut store, 1).unwrap();
    drop(store);
    let ledger = || fs::read(folder.path().join(".tacenda/ledger.jsonl")).unwrap();
    let before = ledger();
    let vault = || -> Vec<u8> {
        let entries = fs::read_dir(folder.path().join(".tacenda/vault")).unwrap();
        entries.flat_map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect()
    };
    assert_eq!(canaries(&vault()).len(), 4);
    // With keys at hand an older vault opens as it is.
    assert!(open(Arc::clone(&disk), folder.path(), &keys.folder()).history().unwrap() == state(1).0);
    let mut sealed_as = Vec::new();
    for (how, found) in
        [(Reseal::Lock, 0), (Reseal::Lock, 0), (Reseal::Rekey, 0), (Reseal::Unlock, 4), (Reseal::Rekey, 0)]
    {
        assert!(reseal(Arc::clone(&disk), folder.path(), &keys.folder(), how).unwrap() > 8);
        assert_eq!(canaries(&vault()).len(), found, "{how:?}");
        assert_eq!(is_sealed(&RealDisk, folder.path()), how != Reseal::Unlock);
        let store = open(Arc::clone(&disk), folder.path(), &keys.folder());
        assert!(verify(&store).is_empty() && store.history().unwrap() == state(1).0, "{how:?}");
        assert!(ledger() == before, "the ledger stays as it is");
        sealed_as.push(fs::read(folder.path().join(".tacenda/vault/key.age")).ok());
    }
    // Locking twice keeps the key; rekeying does not.
    assert!(sealed_as[0] == sealed_as[1] && sealed_as[1] != sealed_as[2]);
    let mut store = open(disk, folder.path(), &keys.folder());
    publish(&mut store, 2).unwrap();
    assert!(verify(&store).is_empty() && canaries(&vault()).is_empty());
}

/// Everybody who knows `vault.pub` can wrap a key of their own. Dropped into the vault as the next key, it would seal whatever is
/// written next, for whoever dropped it.
#[test]
fn a_key_that_somebody_dropped_into_the_vault_is_refused() {
    let keys = Keys::new();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    let vault = |name: &str| place(&format!("project/.tacenda/vault/{name}"));
    fs::create_dir(place("project")).unwrap();
    fs::write(place("project/tacenda.toml"), POLICY).unwrap();
    let project = || ProjectFolder { root: place("project"), keys: Some(keys.folder()), ..ProjectFolder::default() };
    let publish = |first: usize| {
        let rows = (first..first + 40).map(|id| format!("p{id},,{},{}\n", 20 + id % 50, ILLNESS[id % 4]));
        fs::write(place("table.csv"), format!("id,note,age,illness\n{}", rows.collect::<String>())).unwrap();
        let data = Some(Given::Path(place("table.csv")));
        let request = ReleaseRequest { project: project(), data, ..ReleaseRequest::default() };
        request.prepare(None, &|_, _| {})?.publish(&|_, _| {}).map(drop)
    };
    publish(0).unwrap();
    let drop_in = |name: &str, bytes: &[u8]| {
        fs::write(vault(name), bytes).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(vault(name), fs::Permissions::from_mode(0o600)).unwrap();
        }
    };
    let own = keys.folder().wrap(&VaultKey::random().unwrap()).unwrap();
    let files = || -> Vec<(PathBuf, Vec<u8>)> {
        let paths = fs::read_dir(place("project/.tacenda/vault")).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<_> = paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect();
        files.sort();
        files
    };
    for (next, tag) in [(&own[..], None), (&own, Some([7; 32])), (b"no age file", None)] {
        drop_in("key.next.age", next);
        tag.into_iter().for_each(|tag: [u8; 32]| drop_in("key.next.tag", &tag));
        let before = files();
        let rekeyed = use_cases::reseal_vault(&project(), Reseal::Rekey).err().map(|error| error.code());
        let unlocked = use_cases::reseal_vault(&project(), Reseal::Unlock).err().map(|error| error.code());
        let packed = use_cases::backup(&project(), &place("kept.age")).err().map(|error| error.code());
        let codes = [publish(4).err().map(|error| error.code()), rekeyed, unlocked, packed];
        assert_eq!(codes, [Some("K509"); 4]);
        assert!(files() == before && !place("kept.age").exists());
        // The advice of the error.
        fs::rename(vault("key.next.age"), place("moved")).unwrap();
        let _ = fs::remove_file(vault("key.next.tag"));
    }
    publish(4).unwrap();
    // A tag without its key is what a rekey leaves that ended early. The next one replaces it.
    drop_in("key.next.tag", &[7; 32]);
    use_cases::reseal_vault(&project(), Reseal::Rekey).unwrap();
    assert!(!vault("key.next.tag").exists() && !vault("key.next.age").exists());
    publish(8).unwrap();
}

/// Two programs at once: one has read the key, the other decrypts the vault and throws the key away.
#[test]
fn a_writer_does_not_seal_with_a_key_that_is_gone() {
    let keys = Keys::new();
    let folder = tempfile::tempdir().unwrap();
    drop(init(Arc::new(RealDisk), folder.path(), Some(&keys.folder())).unwrap());
    let slow = unsealed(Arc::new(RealDisk), folder.path(), Some(&keys.folder())).unwrap();
    reseal(Arc::new(RealDisk), folder.path(), &keys.folder(), Reseal::Unlock).unwrap();
    assert_eq!(Store::open_write(slow, folder.path()).err().unwrap().code(), "E708");
    let mut store = open(Arc::new(RealDisk), folder.path(), &keys.folder());
    publish(&mut store, 1).unwrap();
}

fn empty() -> Arc<CrashDisk> {
    let disk = CrashDisk::new();
    disk.create_folder(root(), Folder::Plain).unwrap();
    disk.sync_folder(root().parent().unwrap()).unwrap();
    disk.copy(DiskFault::Never)
}

/// Power is lost at every operation of locking, rekeying and unlocking: the vault opens, and the same again finishes it.
#[test]
fn a_crash_while_the_key_changes_leaves_a_vault_that_opens() {
    let keys = Keys::new();
    let plain = empty();
    publish(&mut init(Arc::clone(&plain) as Arc<dyn Disk>, root(), None).unwrap(), 1).unwrap();
    let sealed = plain.copy(DiskFault::Never);
    reseal(Arc::clone(&sealed) as Arc<dyn Disk>, root(), &keys.folder(), Reseal::Lock).unwrap();
    let mut crashes = 0;
    for (start, how) in [(&plain, Reseal::Lock), (&sealed, Reseal::Rekey), (&sealed, Reseal::Unlock)] {
        let whole = start.copy(DiskFault::Never);
        reseal(Arc::clone(&whole) as Arc<dyn Disk>, root(), &keys.folder(), how).unwrap();
        for at in 1..=whole.operations().0 {
            let disk = start.copy(DiskFault::Crash(at));
            let ended = reseal(Arc::clone(&disk) as Arc<dyn Disk>, root(), &keys.folder(), how);
            assert!(
                ended.is_err() == disk.is_dead() || matches!(ended, Err(ResealError::Ledger(_))),
                "{how:?} at {at}"
            );
            for kept in [Kept::Nothing, Kept::Random(at as u64)] {
                let after = disk.after_crash(kept);
                let store = open(Arc::clone(&after) as Arc<dyn Disk>, root(), &keys.folder());
                assert!(
                    verify(&store).is_empty() && store.history().unwrap() == state(1).0,
                    "{how:?} at {at}, {kept:?}"
                );
                drop(store);
                reseal(Arc::clone(&after) as Arc<dyn Disk>, root(), &keys.folder(), how).unwrap();
                let vault: Vec<u8> = after
                    .files()
                    .into_iter()
                    .filter(|(name, _)| name.contains("/vault/"))
                    .flat_map(|(_, bytes)| bytes)
                    .collect();
                assert_eq!(canaries(&vault).is_empty(), how != Reseal::Unlock, "{how:?} at {at}, {kept:?}");
                let mut store = open(Arc::clone(&after) as Arc<dyn Disk>, root(), &keys.folder());
                publish(&mut store, 2).unwrap();
                assert!(verify(&store).is_empty());
                crashes += 1;
            }
        }
    }
    assert!(crashes > 200, "only {crashes} crashes were tried");
}

/// Power is lost at every operation of a publish into a sealed vault: the old state or the new one.
#[test]
fn a_crash_while_a_sealed_vault_is_published_into_leaves_the_old_state_or_the_new() {
    let keys = Keys::new();
    let start = empty();
    publish(&mut init(Arc::clone(&start) as Arc<dyn Disk>, root(), Some(&keys.folder())).unwrap(), 1).unwrap();
    let whole = start.copy(DiskFault::Never);
    publish(&mut open(Arc::clone(&whole) as Arc<dyn Disk>, root(), &keys.folder()), 2).unwrap();
    for at in 1..=whole.operations().0 {
        let disk = start.copy(DiskFault::Crash(at));
        let opened = unsealed(Arc::clone(&disk) as Arc<dyn Disk>, root(), Some(&keys.folder()));
        let opened = opened.ok().and_then(|disk| Store::open_write(disk, root()).ok());
        opened.into_iter().for_each(|mut store| drop(publish(&mut store, 2)));
        for kept in [Kept::Nothing, Kept::Random(at as u64)] {
            let after = disk.after_crash(kept);
            let mut store = open(Arc::clone(&after) as Arc<dyn Disk>, root(), &keys.folder());
            let found = store.releases();
            assert!(found == 1 || found == 2, "at {at}, {kept:?}");
            assert!(verify(&store).is_empty() && store.history().unwrap() == state(found).0, "at {at}, {kept:?}");
            publish(&mut store, found + 1).unwrap();
            assert!(verify(&store).is_empty());
        }
    }
}

const POLICY: &str = "policy = 1\n[series]\nname = 'sealed'\n[columns]\nid = { role = 'identifier' }\nnote = { role = 'drop' }\n\
    age = { role = 'quasi', type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive', type = 'category' }\n\
    [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

/// The same with a real folder and the whole of a publish: plan, publish, retract, verify. Texts of values are published, so
/// they are looked for outside of the releases only.
#[test]
fn a_real_project_keeps_its_private_texts_to_itself() {
    let keys = Keys::new();
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name);
    fs::write(place("tacenda.toml"), POLICY).unwrap();
    let rows = (0..40).map(|id| format!("canary-id-{id},canary-note,{},{}\n", 20 + id % 50, ILLNESS[id % 4]));
    fs::write(place("table.csv"), format!("id,note,age,illness\n{}", rows.collect::<String>())).unwrap();
    let project =
        || ProjectFolder { root: folder.path().into(), keys: Some(keys.folder()), ..ProjectFolder::default() };
    let request = || ReleaseRequest {
        project: project(),
        data: Some(Given::Path(place("table.csv"))),
        ..ReleaseRequest::default()
    };
    let plan = use_cases::plan(request(), None, &|_, _| {}).unwrap().plan;
    let outside = || -> Vec<String> {
        let mut singing = Vec::new();
        let mut folders = vec![place(".tacenda")];
        while let Some(next) = folders.pop() {
            for entry in fs::read_dir(next).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => folders.push(path),
                    false if fs::read(&path).unwrap().windows(7).any(|bytes| bytes == b"canary-") => {
                        singing.push(path.display().to_string());
                    }
                    false => {}
                }
            }
        }
        singing
    };
    assert!(outside().is_empty(), "{:?}", outside());
    assert!(!fs::read_to_string(&plan).unwrap().contains("canary-"));
    ReleaseRequest { data: None, ..request() }.prepare(Some(plan), &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    use_cases::retract(&project(), "1", "it was a test").unwrap();
    assert!(outside().is_empty(), "{:?}", outside());
    let own = keys.folder();
    let verified =
        use_cases::verify(&VerifyRequest { own: Some(&own), ..VerifyRequest::of(folder.path()) }, &|_, _| {});
    let verified = verified.unwrap();
    assert!(verified.whole && verified.vault, "{:?}", verified.faults);
    // Without the keys: closed to the next release, open to a look.
    let thief = Keys::new();
    let stranger = ProjectFolder { keys: Some(thief.folder()), ..project() };
    let refused = ReleaseRequest { project: stranger, ..request() }.prepare(None, &|_, _| {}).err().unwrap();
    assert_eq!(refused.code(), "K605");
    assert!(use_cases::verify(&VerifyRequest::of(folder.path()), &|_, _| {}).unwrap().whole);
    // In the clear the canaries sing.
    use_cases::reseal_vault(&project(), Reseal::Unlock).unwrap();
    assert!(!outside().is_empty());
}

#[test]
fn a_passphrase_closes_the_key_of_the_vault() {
    let keys = Keys::new();
    let wrapped = keys.folder().wrap(&VaultKey::random().unwrap()).unwrap();
    assert!(!keys.folder().vault_identity().unwrap().has_passphrase);
    assert!(keys.folder().set_vault_passphrase(Some("correct horse")).unwrap().has_passphrase);
    // Whoever has the key for recovery needs no passphrase.
    keys.folder().unwrap(&wrapped).unwrap();
    fs::remove_file(keys.folder().path().join("recovery.key")).unwrap();
    assert_eq!(keys.folder().unwrap(&wrapped).unwrap_err().code(), "K601");
    let asked = |word: &'static str| keys.folder().asking(Arc::new(move |_| Some(word.into())));
    assert_eq!(asked("battery staple").unwrap(&wrapped).unwrap_err().code(), "K602");
    asked("correct horse").unwrap(&wrapped).unwrap();
    let secret = fs::read(keys.folder().path().join("vault.key")).unwrap();
    assert!(!secret.windows(10).any(|bytes| bytes == b"AGE-SECRET"));
    assert!(!asked("correct horse").set_vault_passphrase(None).unwrap().has_passphrase);
    keys.folder().unwrap(&wrapped).unwrap();
}

/// Errors of keys come out of use cases with their own codes.
#[test]
fn a_loose_vault_key_is_refused() {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let keys = Keys::new();
        let wrapped = keys.folder().wrap(&VaultKey::random().unwrap()).unwrap();
        for name in ["recovery.key", "vault.key"] {
            let path = keys.folder().path().join(name);
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            let error = UseCaseError::from(keys.folder().unwrap(&wrapped).unwrap_err());
            assert_eq!((error.code(), error.exit_code()), ("K504", 5));
            fs::remove_file(path).unwrap();
        }
    }
}
