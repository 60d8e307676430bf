//! A project in object storage: whatever request fails, is done late or is the last one, and whoever writes at the same time,
//! there is one whole series, and what was said to be published is in it.
//!
//! The bucket is in memory. After every request it must keep rule 3: nothing lies under `releases/` that no line names. A
//! bucket that puts where it should not must be found out.

use crate::small_project::{publish, root, state};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Cursor, Read};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::{fs, thread};
use tacenda::keys::{KeyFolder, VaultKey};
use tacenda::ledger::{
    Disk, Forgotten, LedgerError, NewProject, ObjectBody, Objects, ObjectsDisk, RealDisk, SealedDisk, Store, What,
    fetch, unpack, unsealed, verify,
};
use tacenda::model::{Rng, Seed};
use tempfile::TempDir;

type Contents = BTreeMap<String, Vec<u8>>;

/// The file of a hand-made release that is put in place last.
const LAST: &str = "manifest.json";

/// A request that changes something.
#[derive(Clone)]
enum Change {
    Put(String, Vec<u8>),
    PutIfAbsent(String, Vec<u8>),
    Copy(String, String),
    Delete(String),
}

impl Change {
    fn apply(&self, contents: &mut Contents) -> io::Result<()> {
        match self {
            Change::Put(key, bytes) => _ = contents.insert(key.clone(), bytes.clone()),
            Change::PutIfAbsent(key, _) if contents.contains_key(key) => {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            Change::PutIfAbsent(key, bytes) => _ = contents.insert(key.clone(), bytes.clone()),
            Change::Copy(from, to) => {
                let bytes = contents.get(from).ok_or(io::ErrorKind::NotFound)?.clone();
                contents.insert(to.clone(), bytes);
            }
            Change::Delete(key) => _ = contents.remove(key),
        }
        let (Change::Put(key, _) | Change::PutIfAbsent(key, _) | Change::Copy(_, key) | Change::Delete(key)) = self;
        if key.starts_with("releases/") {
            refuse_unknown(contents);
        }
        Ok(())
    }
}

/// Rule 3, and: a release folder with its last file is whole.
fn refuse_unknown(contents: &Contents) {
    let lines =
        contents.iter().filter(|(key, line)| key.starts_with(".tacenda/ledger/") && contains(line, "wards.csv"));
    let releases = lines.count();
    for key in contents.keys().filter_map(|key| key.strip_prefix("releases/wards/r")) {
        let number: usize = key[..4].parse().unwrap();
        assert!(number <= releases, "release {number} is out, and no line names it");
        let has = |name: &str| contents.contains_key(&format!("releases/wards/r{number:04}/{name}"));
        assert!(!has(LAST) || has("wards.csv"), "half of release {number} is taken for a whole one");
    }
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|found| found == text.as_bytes())
}

/// When a request is done that its writer is told has failed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Done {
    Never,
    AtOnce,
    /// After everything else that this writer does.
    Late,
}

const WAYS: [Done; 3] = [Done::Never, Done::AtOnce, Done::Late];

#[derive(Clone, Copy, Debug)]
enum Mishap {
    None,
    /// From this request on nothing is done, but perhaps this one.
    Dies(usize, Done),
    /// This request fails.
    Fails(usize, Done),
}

/// Says whose request is next.
struct Turns {
    /// Who is present, whose turn it is, and how often it passes on: one in so many.
    state: Mutex<(Rng, BTreeSet<usize>, usize, u64)>,
    changed: Condvar,
}

impl Turns {
    fn new(seed: u64, writers: usize) -> Arc<Turns> {
        let mut rng = Rng::from_number(seed);
        let bursts = [1, 3, 10, 30][rng.below(4) as usize];
        let state = Mutex::new((rng, (0..writers).collect(), 0, bursts));
        Arc::new(Turns { state, changed: Condvar::new() })
    }

    fn wait(&self, who: usize) {
        let state = self.state.lock().unwrap();
        drop(self.changed.wait_while(state, |state| state.2 != who).unwrap());
    }

    fn pass(&self, leaves: Option<usize>) {
        let (rng, present, next, bursts) = &mut *self.state.lock().unwrap();
        leaves.iter().for_each(|who| _ = present.remove(who));
        if leaves.is_none() && rng.below(*bursts) > 0 {
            return;
        }
        let at = rng.below(present.len().max(1) as u64) as usize;
        *next = present.iter().nth(at).copied().unwrap_or(usize::MAX);
        self.changed.notify_all();
    }
}

/// Whether a bucket puts where something is, against its word.
#[derive(Clone, Copy, PartialEq)]
enum Overwrites {
    No,
    /// Where nobody asks whether it does.
    Lines,
    Yes,
}

/// A bucket, as one writer reaches it.
struct Bucket {
    contents: Arc<Mutex<Contents>>,
    mishap: Mishap,
    requests: AtomicUsize,
    late: Mutex<Vec<Change>>,
    /// The requests that changed something.
    changes: Mutex<BTreeSet<usize>>,
    turns: Option<(Arc<Turns>, usize)>,
    overwrites: Overwrites,
}

impl Bucket {
    fn new(contents: &Arc<Mutex<Contents>>, mishap: Mishap) -> Bucket {
        let (contents, requests) = (Arc::clone(contents), AtomicUsize::new(0));
        Bucket {
            contents,
            mishap,
            requests,
            late: Mutex::default(),
            changes: Mutex::default(),
            turns: None,
            overwrites: Overwrites::No,
        }
    }

    fn contents(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn request<T>(&self, work: impl FnOnce(&mut Contents, Done) -> io::Result<T>) -> io::Result<T> {
        self.turns.iter().for_each(|(turns, who)| turns.wait(*who));
        let now = self.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let answer = match self.mishap {
            Mishap::Dies(at, _) if now > at => Err(io::Error::other("it is dead")),
            Mishap::Dies(at, done) | Mishap::Fails(at, done) if now == at => {
                let _ = work(&mut self.contents(), done);
                Err(io::ErrorKind::TimedOut.into())
            }
            _ => work(&mut self.contents(), Done::AtOnce),
        };
        self.turns.iter().for_each(|(turns, _)| turns.pass(None));
        answer
    }

    fn change(&self, change: Change) -> io::Result<()> {
        self.request(|contents, done| {
            self.changes.lock().unwrap().insert(self.requests());
            match done {
                Done::AtOnce => change.apply(contents),
                Done::Late => {
                    self.late.lock().unwrap().push(change);
                    Ok(())
                }
                Done::Never => Ok(()),
            }
        })
    }

    /// What is late arrives.
    fn arrive(&self) {
        for change in self.late.lock().unwrap().drain(..) {
            let _ = change.apply(&mut self.contents());
        }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }

    /// Every request, and the ways in which it can fail. What changes nothing fails in one way.
    fn failures(&self) -> Vec<(usize, Done)> {
        let changes = self.changes.lock().unwrap();
        let ways = |at: &usize| if changes.contains(at) { &WAYS[..] } else { &WAYS[..1] };
        (1..=self.requests()).flat_map(|at| ways(&at).iter().map(move |&done| (at, done))).collect()
    }
}

impl Objects for Bucket {
    fn get(&self, key: &str) -> io::Result<Vec<u8>> {
        self.request(|contents, _| Ok(contents.get(key).ok_or(io::ErrorKind::NotFound)?.clone()))
    }

    fn open(&self, key: &str) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(Cursor::new(self.get(key)?)))
    }

    fn has(&self, key: &str) -> io::Result<bool> {
        self.request(|contents, _| Ok(contents.contains_key(key)))
    }

    fn put(&self, key: &str, body: ObjectBody<'_>) -> io::Result<()> {
        let bytes = match body {
            ObjectBody::Bytes(bytes) => bytes.to_vec(),
            ObjectBody::File(path) => fs::read(path)?,
        };
        self.change(Change::Put(key.into(), bytes))
    }

    fn put_if_absent(&self, key: &str, bytes: &[u8]) -> io::Result<()> {
        self.change(match self.overwrites {
            Overwrites::Yes => Change::Put(key.into(), bytes.into()),
            Overwrites::Lines if !bytes.is_empty() => Change::Put(key.into(), bytes.into()),
            _ => Change::PutIfAbsent(key.into(), bytes.into()),
        })
    }

    fn copy(&self, from: &str, to: &str) -> io::Result<()> {
        self.change(Change::Copy(from.into(), to.into()))
    }

    fn delete(&self, key: &str) -> io::Result<()> {
        self.change(Change::Delete(key.into()))
    }

    fn list(&self, folder: &str) -> io::Result<Vec<String>> {
        assert!(folder.is_empty() || folder.ends_with('/'), "{folder}");
        self.request(|contents, _| {
            let mut keys: Vec<String> = contents.keys().filter(|key| key.starts_with(folder)).cloned().collect();
            // In any order.
            let mut rng = Rng::from_number(self.requests() as u64);
            (1..keys.len()).for_each(|at| keys.swap(at, rng.below(at as u64 + 1) as usize));
            Ok(keys)
        })
    }
}

fn keys() -> KeyFolder {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    KeyFolder::at(&FOLDER.get_or_init(|| tempfile::tempdir().unwrap()).path().join("keys"))
}

fn disk(bucket: &Arc<Bucket>) -> Arc<dyn Disk> {
    Arc::new(ObjectsDisk::new(Arc::clone(bucket) as Arc<dyn Objects>, root(), LAST))
}

fn open_write(bucket: &Arc<Bucket>) -> Result<Store, LedgerError> {
    let below = disk(bucket);
    let opened = unsealed(Arc::clone(&below), root(), Some(&keys()));
    Store::open_write(opened.map_err(|_| LedgerError::Overtaken)?, root())
}

/// Sets a project up, encrypted, with a seed of its own.
fn init(bucket: &Arc<Bucket>, seed: u8) -> Result<Store, LedgerError> {
    let key = VaultKey::random().unwrap();
    let wrapped = keys().wrap(&key).unwrap();
    let new = NewProject {
        series: "wards",
        seed: Seed([seed; 32]),
        wrapped_key: Some(&wrapped),
        policy_digest: "digest of the policy",
        policy_canonical: "policy = 1\n",
        at: "2026-01-01T00:00:00Z",
    };
    Store::init(Arc::new(SealedDisk::new(disk(bucket), key)), root(), new)
}

fn quiet(contents: &Arc<Mutex<Contents>>) -> Arc<Bucket> {
    Arc::new(Bucket::new(contents, Mishap::None))
}

fn copy(contents: &Arc<Mutex<Contents>>) -> Arc<Mutex<Contents>> {
    Arc::new(Mutex::new(contents.lock().unwrap().clone()))
}

/// A project with so many releases.
fn project(releases: u32) -> Arc<Mutex<Contents>> {
    let contents: Arc<Mutex<Contents>> = Arc::default();
    let mut store = init(&quiet(&contents), 7).unwrap();
    (1..=releases).for_each(|number| publish(&mut store, number).unwrap());
    drop(store);
    contents
}

/// Publishes the next release.
fn publish_next(bucket: &Arc<Bucket>) -> Result<(), LedgerError> {
    let mut store = open_write(bucket)?;
    let number = store.releases() + 1;
    publish(&mut store, number)
}

/// Asserts that what is there is whole and tidy, for whoever opens it next. Returns the number of releases and of lines.
fn assert_whole(contents: &Arc<Mutex<Contents>>, what: &str) -> (u32, usize) {
    let store = open_write(&quiet(contents)).unwrap_or_else(|error| panic!("{what}: it does not open: {error}"));
    let faults = verify(&store);
    assert!(faults.is_empty(), "{what}: {faults:?}");
    let releases = store.releases();
    let (history, snapshot) = (store.history().unwrap(), store.snapshot().unwrap());
    if releases > 0 && history.erased.is_empty() {
        assert!((history, snapshot) == (state(releases).0, Some(state(releases).1)), "{what}: it is another history");
    }
    let lines = store.events().len();
    let named = store.events().iter().rev().find_map(|event| match &event.what {
        What::Init(init) => Some(&init.vault),
        What::Publish(publication) => Some(&publication.vault),
        What::Erase(erasure) => Some(&erasure.vault),
        _ => None,
    });
    let named: BTreeSet<String> = named.unwrap().keys().cloned().collect();
    drop(store);
    for key in contents.lock().unwrap().keys() {
        let name = key.rsplit('/').next().unwrap();
        let stays = ["head", "key.age"].contains(&name) || named.contains(name);
        let is_fine = match key.strip_prefix(".tacenda/") {
            Some(own) => own.starts_with("ledger/") || own.starts_with("vault-") && stays,
            None => key.starts_with("releases/"),
        };
        assert!(is_fine, "{what}: {key} is left");
    }
    (releases, lines)
}

/// Asserts that the series goes on.
fn assert_goes_on(contents: &Arc<Mutex<Contents>>, what: &str) {
    let (before, _) = assert_whole(contents, what);
    publish_next(&quiet(contents)).unwrap_or_else(|error| panic!("{what}: it does not go on: {error}"));
    assert_eq!(assert_whole(contents, what).0, before + 1, "{what}");
}

/// How the requests of the next release can fail.
fn failures(start: &Arc<Mutex<Contents>>) -> Vec<(usize, Done)> {
    let bucket = quiet(&copy(start));
    publish_next(&bucket).unwrap();
    println!("the next release takes {} requests", bucket.requests());
    bucket.failures()
}

#[test]
fn a_publish_that_dies_at_any_request_leaves_the_old_state_or_the_new() {
    for releases in [0, 2] {
        let start = project(releases);
        let mut seen = [0, 0];
        for (at, done) in failures(&start) {
            let what = format!("dies at {at}, {done:?}");
            let contents = copy(&start);
            let bucket = Arc::new(Bucket::new(&contents, Mishap::Dies(at, done)));
            let result = publish_next(&bucket);
            let (found, _) = assert_whole(&contents, &what);
            assert!(found == releases || found == releases + 1, "{what}: {found} releases");
            assert!(result.is_err() || found == releases + 1, "{what}: it was said to be published");
            seen[(found - releases) as usize] += 1;
            bucket.arrive();
            assert_eq!(assert_whole(&contents, &what).0, found, "{what}: what came late counts");
            assert_goes_on(&contents, &what);
        }
        assert!(seen[0] > 50 && seen[1] > 15, "both sides of the commit were tried: {seen:?}");
    }
}

#[test]
fn a_request_that_fails_is_told_and_taken_back_or_finished_whenever_it_is_done() {
    let start = project(1);
    let mut codes = BTreeMap::new();
    for (at, done) in failures(&start) {
        let what = format!("fails at {at}, {done:?}");
        let contents = copy(&start);
        let bucket = Arc::new(Bucket::new(&contents, Mishap::Fails(at, done)));
        let result = publish_next(&bucket);
        let wanted = match &result {
            Ok(()) | Err(LedgerError::Unfinished { .. }) => 2..=2,
            Err(LedgerError::Uncertain { .. }) => 1..=2,
            Err(_) => 1..=1,
        };
        *codes.entry(result.map_or_else(|error| error.code(), |()| "ok")).or_insert(0) += 1;
        // It arrives before anybody looks, or after.
        if at % 2 == 0 {
            bucket.arrive();
        }
        let (found, _) = assert_whole(&contents, &what);
        assert!(wanted.contains(&found), "{what}: {found} releases");
        bucket.arrive();
        assert_eq!(assert_whole(&contents, &what).0, found, "{what}: what came late counts");
        assert_goes_on(&contents, &what);
    }
    assert!(codes.contains_key("ok") && codes.contains_key("E705") && codes.contains_key("E703"), "{codes:?}");
}

#[test]
fn an_init_that_dies_leaves_no_project_or_a_whole_one() {
    let whole = quiet(&Arc::default());
    drop(init(&whole, 7).unwrap());
    let mut seen = [0, 0];
    for (at, done) in whole.failures() {
        let what = format!("init dies at {at}, {done:?}");
        let contents: Arc<Mutex<Contents>> = Arc::default();
        let bucket = Arc::new(Bucket::new(&contents, Mishap::Dies(at, done)));
        let result = init(&bucket, 7).map(drop);
        let is_there = match open_write(&quiet(&contents)).map(drop) {
            Ok(()) => true,
            Err(LedgerError::NoProject { .. }) => false,
            Err(other) => panic!("{what}: {other}"),
        };
        assert!(result.is_err() || is_there, "{what}: it was said to be set up");
        seen[usize::from(is_there)] += 1;
        if !is_there {
            drop(init(&quiet(&contents), 8).unwrap_or_else(|error| panic!("{what}: {error}")));
        }
        bucket.arrive();
        // Nothing is left of the other vault.
        assert_goes_on(&contents, &what);
    }
    assert!(seen[0] > 10 && seen[1] > 3, "both sides of the commit were tried: {seen:?}");
}

#[test]
fn dying_while_a_death_is_cleaned_up_changes_nothing() {
    let start = project(1);
    for (at, _) in failures(&start).into_iter().filter(|(_, done)| *done == Done::AtOnce) {
        let contents = copy(&start);
        let _ = publish_next(&Arc::new(Bucket::new(&contents, Mishap::Dies(at, Done::AtOnce))));
        let whole = quiet(&copy(&contents));
        let found = open_write(&whole).unwrap().releases();
        for again in (1..=whole.requests()).step_by(3) {
            let second = copy(&contents);
            let bucket = Arc::new(Bucket::new(&second, Mishap::Dies(again, Done::AtOnce)));
            let _ = open_write(&bucket);
            assert_eq!(assert_whole(&second, &format!("dies at {at} and {again}")).0, found);
        }
    }
}

/// What a writer of several does.
fn take_part(bucket: &Arc<Bucket>, seed: u64, who: usize, forgets: bool) -> Result<(), LedgerError> {
    let mut store = match open_write(bucket) {
        Err(LedgerError::NoProject { .. }) => init(bucket, (seed % 100) as u8 * 2 + who as u8)?,
        opened => opened?,
    };
    let releases = store.releases();
    if !forgets || releases == 0 {
        return publish(&mut store, releases + 1);
    }
    let (mut history, table) = (store.history()?, store.snapshot()?.unwrap());
    let keys = [table.keys()[0]];
    history.forget(&keys, true);
    store.forget("2026-05-01T00:00:00Z", Forgotten { people: 1, retain: None }, &history, &table.without(&keys).0)
}

/// Writers that do not see each other, in an order that the seed says; one may die. Returns how many were overtaken.
fn live(seed: u64, overwrites: Overwrites) -> usize {
    let mut rng = Rng::from_number(seed);
    let writers = 2 + rng.below(2) as usize;
    let contents = match seed % 3 {
        0 => Arc::default(),
        _ => project(seed as u32 % 2),
    };
    let before = if seed.is_multiple_of(3) { 0 } else { assert_whole(&contents, "at first").1 };
    let turns = Turns::new(seed, writers);
    let dies = (rng.below(2) == 0).then(|| 1 + rng.below(120) as usize);
    let part = |who: usize| {
        let mishap = match dies {
            Some(at) if who == 0 => Mishap::Dies(at, WAYS[at % 3]),
            _ => Mishap::None,
        };
        let turns = Arc::clone(&turns);
        let bucket = Bucket { turns: Some((Arc::clone(&turns), who)), overwrites, ..Bucket::new(&contents, mishap) };
        let bucket = Arc::new(bucket);
        move || {
            let result = catch_unwind(AssertUnwindSafe(|| take_part(&bucket, seed, who, seed % 5 == who as u64)));
            // The others go on, whatever was found.
            turns.pass(Some(who));
            (result.unwrap_or_else(|found| resume_unwind(found)), bucket)
        }
    };
    let results: Vec<(Result<(), LedgerError>, Arc<Bucket>)> = thread::scope(|scope| {
        let running: Vec<_> = (0..writers).map(|who| scope.spawn(part(who))).collect();
        running.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    let what = format!("seed {seed}");
    let is_sure = |result: &Result<(), LedgerError>| matches!(result, Ok(()) | Err(LedgerError::Unfinished { .. }));
    let sure = results.iter().filter(|(result, _)| is_sure(result)).count();
    if sure == 0 && !contents.lock().unwrap().iter().any(|(key, line)| key.contains("/ledger/") && !line.is_empty()) {
        drop(init(&quiet(&contents), 200).unwrap_or_else(|error| panic!("{what}: {error}")));
    }
    let (_, lines) = assert_whole(&contents, &what);
    // Setting up is a line too, and who died may have written one that nobody was told of.
    assert!(lines >= before + sure, "{what}: {sure} lines were told of, and {before} became {lines}");
    results.iter().for_each(|(_, bucket)| bucket.arrive());
    assert_eq!(assert_whole(&contents, &what).1, lines, "{what}: what came late counts");
    assert_goes_on(&contents, &what);
    results.iter().filter(|(result, _)| matches!(result, Err(LedgerError::Overtaken))).count()
}

#[test]
fn writers_that_do_not_see_each_other_leave_one_whole_series() {
    let lives = if std::env::var_os("TACENDA_LONG").is_some() { 50_000 } else { 300 };
    let overtaken: usize = (0..lives).map(|seed| live(seed, Overwrites::No)).sum();
    assert!(overtaken as u64 > lives / 3, "writers were overtaken {overtaken} times");
}

#[test]
fn a_bucket_that_puts_where_something_is_is_found_out() {
    let hook = take_hook();
    set_hook(Box::new(|_| {}));
    let found = (0..200).any(|seed| catch_unwind(|| live(seed, Overwrites::Lines)).is_err());
    set_hook(hook);
    assert!(found, "the writers are kept apart by something else");
    // One that never keeps its word is refused by the first writer.
    let contents = project(1);
    let bucket = Bucket { overwrites: Overwrites::Yes, ..Bucket::new(&contents, Mishap::None) };
    let error = publish_next(&Arc::new(bucket)).unwrap_err();
    assert!(error.to_string().contains("no put if absent"), "{error}");
    assert_eq!(assert_whole(&contents, "afterwards").0, 1);
}

#[test]
fn a_lost_object_of_the_ledger_is_told() {
    let start = project(2);
    let keys: Vec<String> = start.lock().unwrap().keys().filter(|key| key.contains("/ledger/")).cloned().collect();
    let remove = |gone: &[String]| {
        let contents = copy(&start);
        gone.iter().for_each(|key| _ = contents.lock().unwrap().remove(key));
        let bucket = quiet(&contents);
        let opened = Store::open_write(disk(&bucket), root()).map(drop);
        let begun = init(&bucket, 9).map(drop);
        (opened.unwrap_err(), begun.unwrap_err())
    };
    for at in 0..keys.len() {
        let (error, _) = remove(&keys[at..=at]);
        assert!(["E703", "L502", "L505"].contains(&error.code()), "{at}: {error}");
        let (error, begun) = remove(&keys[at..]);
        // Where all lines are gone it looks like no project, and a new one is refused.
        assert!(["L502", "L505", "L201", "E703"].contains(&error.code()), "from {at}: {error}");
        assert!(!matches!(begun, LedgerError::Overtaken), "from {at}: {begun}");
    }
}

#[test]
fn a_project_is_fetched_and_packed() {
    let contents = project(2);
    let bucket = quiet(&contents);
    let folder = tempfile::tempdir().unwrap();
    for with_vault in [false, true] {
        let into = folder.path().join(format!("{with_vault}"));
        fetch(&*disk(&bucket), root(), &into, with_vault).unwrap();
        assert_eq!(into.join(".tacenda/vault").exists(), with_vault);
        let found = unsealed(Arc::new(RealDisk), &into, Some(&keys())).unwrap();
        let store = Store::open_look(found, &into).unwrap();
        assert_eq!((store.releases(), store.has_vault()), (2, with_vault));
        assert!(verify(&store).is_empty(), "{:?}", verify(&store));
    }
    // A series goes on from what was fetched with its vault.
    let into = folder.path().join("true");
    let mut store = Store::open_write(unsealed(Arc::new(RealDisk), &into, Some(&keys())).unwrap(), &into).unwrap();
    publish(&mut store, 3).unwrap();
    let mut archive = Vec::new();
    open_write(&bucket).unwrap().pack(&*disk(&bucket), &[], &mut archive).unwrap();
    let into = folder.path().join("unpacked");
    unpack(&RealDisk, &mut &archive[..], &into).unwrap();
    let store = Store::open_look(unsealed(Arc::new(RealDisk), &into, Some(&keys())).unwrap(), &into).unwrap();
    assert!(store.releases() == 2 && verify(&store).is_empty());
}

#[test]
fn people_who_wait_and_large_files_stay_on_this_machine_until_they_are_put() {
    let contents = project(1);
    let bucket = quiet(&contents);
    let store = open_write(&bucket).unwrap();
    let before = contents.lock().unwrap().clone();
    let scratch = store.scratch();
    let file = scratch.write(b"a person").unwrap();
    assert_eq!(scratch.read(file).unwrap(), b"a person");
    assert!(*contents.lock().unwrap() == before, "nothing of it is in the bucket");
    drop((scratch, store));
    let disk = disk(&bucket);
    let large = vec![7; 20 << 20];
    let mut file = disk.create(Path::new("/project/large")).unwrap();
    large.chunks(1 << 20).for_each(|chunk| file.write_all(chunk).unwrap());
    assert!(!contents.lock().unwrap().contains_key("large"));
    file.sync_and_close().unwrap();
    assert!(contents.lock().unwrap()["large"] == large);
}
