//! The whole publish under a seeded simulator: two writers, power cuts, torn and misdirected writes, bit rot, renames that
//! fail, a full disk, a clock that goes back, and states that were restored.
//!
//! A seed is a life of a project: publishes, plans, erasures and backups, each with a mishap. After each the disk must hold the
//! old state or the new one, whole, with everything that was said to be published, byte by byte; or the damage must be told.
//! Who was erased never comes back: neither in a release nor in a byte of the vault, whatever crash came and whatever backup
//! was restored. The seeds of lives that fail are in the message; `TACENDA_SEED` lives them again. Bugs that are planted must be
//! found.

use crate::crash_disk::{CrashDisk, DiskFault, Kept};
use crate::simulated_disk::{Mishap, Planted, SimulatedDisk};
use crate::small_project::root;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::{env, fs, thread};
use tacenda::ingest::{Given, Remembered, read_policy};
use tacenda::keys::{KeyFolder, VaultKey};
use tacenda::ledger::{
    Anchors, Disk, Folder, LedgerError, NewProject, SealedDisk, Store, What, unpack, unsealed, verify,
};
use tacenda::model::{History, RecordKey, Rng, Seed, Table};
use tacenda::publish::{Access, Input, Machine, NextRelease, Project, ProjectError};
use tempfile::TempDir;

const POLICY: &str = r#"policy = 1

[series]
name  = "wards"
title = "A tiny series"

[columns]
id      = { role = "identifier" }
age     = { role = "quasi", type = "integer", domain = [0, 200] }
room    = { role = "public", because = "a test" }
disease = { role = "sensitive", type = "category" }

[promise]
model         = "m-invariance"
m             = 2
on_ineligible = "defer"

[counterfeits]
max_share = 1.0
[withheld]
max_share = 1.0

[output]
formats = ["csv"]
"#;

/// The most releases of a life.
const MOST: usize = 8;

/// The people of the tables. Some are absent from each.
const PEOPLE: usize = 14;

/// The most people who are erased in a life: with too few left, nothing can be published.
const MOST_ERASED: usize = 4;

const SEED: Seed = Seed([7; 32]);

/// What the vault would show of a person: nobody else has this room.
fn room(person: usize) -> String {
    format!("room-of-{person:02}")
}

fn key(person: usize) -> RecordKey {
    RecordKey::of(&SEED.key("identifier"), format!("p{person}").as_bytes())
}

thread_local! {
    /// Hours since the beginning of 2026.
    static HOURS: Cell<i64> = const { Cell::new(0) };
}

fn clock() -> String {
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    (start + jiff::SignedDuration::from_hours(HOURS.get())).to_string()
}

/// A disk with an empty project folder.
fn empty() -> Arc<CrashDisk> {
    let disk = Arc::new(CrashDisk::new());
    disk.create_folder(root(), Folder::Plain).unwrap();
    disk.sync_folder(root().parent().unwrap()).unwrap();
    disk
}

/// The policy and the tables, which are on no simulated disk.
fn inputs() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("tacenda.toml"), POLICY).unwrap();
            for number in 1..=MOST + 2 {
                let people = (0..PEOPLE).filter(|person| (person + number) % 5 != 0);
                let row = |person: usize| {
                    let disease = ["flu", "gout", "asthma"][person % 3];
                    format!("p{person},{},{},{disease}\n", 20 + 7 * person, room(person))
                };
                let table: String = people.map(row).collect();
                let path = folder.path().join(format!("{number}.csv"));
                fs::write(path, format!("id,age,room,disease\n{table}")).unwrap();
            }
            folder
        })
        .path()
}

/// The keys of the user, which are on no simulated disk either.
fn keys() -> KeyFolder {
    KeyFolder::at(&inputs().join("keys"))
}

/// The disk, with the vault open where it is encrypted.
fn opened(disk: &Arc<CrashDisk>) -> Result<Arc<dyn Disk>, String> {
    unsealed(Arc::clone(disk) as Arc<dyn Disk>, root(), Some(&keys())).map_err(|error| error.to_string())
}

/// A state as it was made: what the vault knows after it.
type Made = (History, Table);

/// What somebody wants of the project.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wish {
    /// The next release, from a table so many numbers ahead.
    Publish(usize),
    /// A plan, which keeps its table in the vault.
    Plan,
    /// A person erased.
    Erase(usize),
    /// Those forgotten who left so many releases ago.
    Retain(u32),
}

/// What became of one attempt.
struct Attempt {
    wish: Wish,
    /// What would be there if it counts; absent where it failed before, or has nothing to write.
    made: Option<Made>,
    /// Whether it was said to be done.
    is_acknowledged: bool,
    error: String,
}

impl Attempt {
    /// Whether a line in the ledger was acknowledged.
    fn counts(&self) -> bool {
        self.is_acknowledged && self.made.is_some()
    }
}

/// One writer: its sight of a disk, and what it goes on from.
struct Writer<'a> {
    sight: Arc<dyn Disk>,
    /// The disk itself, to look ahead on a copy.
    below: &'a Arc<CrashDisk>,
    anchors: Option<&'a Anchors>,
    /// Why it goes on from an older state.
    reason: Option<&'a str>,
}

impl Writer<'_> {
    /// Opens the project and does what is wished: everything that the command does.
    fn attempt(self, wish: Wish) -> Attempt {
        let mut attempt = Attempt { wish, made: None, is_acknowledged: false, error: String::new() };
        match self.carry_out(wish, &mut attempt.made) {
            Ok(()) => attempt.is_acknowledged = true,
            Err(error) => attempt.error = error.to_string(),
        }
        attempt
    }

    fn carry_out(self, wish: Wish, made: &mut Option<Made>) -> Result<(), ProjectError> {
        let access = if wish == Wish::Plan { Access::Rehearse } else { Access::Publish };
        let mut project = open(Arc::clone(&self.sight), access)?;
        if let Some(anchors) = self.anchors {
            project.hold_against(anchors, access, self.reason)?;
        }
        match wish {
            Wish::Publish(ahead) => {
                let material = project.material(input(project.publications().len() + ahead), &|_| {})?;
                let rehearsal = project.rehearse(&material, NextRelease::default(), &|_| {})?;
                *made = Some((rehearsal.prepared.history.clone(), material.table().clone()));
                project.publish(&material, &rehearsal, &|_| {}).map(drop)
            }
            Wish::Plan => {
                let material = project.material(input(project.publications().len() + 1), &|_| {})?;
                project.keep_planned(&material).map(drop)
            }
            Wish::Erase(_) | Wish::Retain(_) => {
                // What a quiet disk would have afterwards.
                let mut ahead = open(self.below.copy(DiskFault::Never), access)?;
                if forget(&mut ahead, wish)? > 0 {
                    let store = ahead.store().expect("it is open");
                    *made = Some((store.history()?, store.snapshot()?.expect("there is a release")));
                }
                forget(&mut project, wish).map(drop)
            }
        }
    }
}

fn open(disk: Arc<dyn Disk>, access: Access) -> Result<Project, ProjectError> {
    let machine = Machine { disk, clock, keys: Some(keys()), ..Machine::default() };
    Project::open_on(machine, root(), Some(&inputs().join("tacenda.toml")), access)
}

fn input(number: usize) -> Input {
    let table = Given::Path(inputs().join(format!("{number}.csv")));
    Input { table, delta: false, show_values: false, memory: None, threads: 1 }
}

fn forget(project: &mut Project, wish: Wish) -> Result<u64, ProjectError> {
    let erased = match wish {
        Wish::Erase(person) => project.erase(&[format!("p{person}")])?,
        Wish::Retain(releases) => project.retain(releases)?,
        Wish::Publish(_) | Wish::Plan => unreachable!("nobody is forgotten by that"),
    };
    Ok(erased.people)
}

/// About how many operations, space taking ones, renames and writes a publish needs: those of a second release.
fn measured() -> [usize; 4] {
    static MEASURED: OnceLock<[usize; 4]> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let mut life = Life::new(0, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        let trial = life.disk.copy(DiskFault::Never);
        let sight = Arc::new(SimulatedDisk::new(&trial, Mishap::None, Planted::None));
        let (anchors, reason) = (Some(&life.anchors), None);
        let writer = Writer { sight: Arc::clone(&sight) as Arc<dyn Disk>, below: &trial, anchors, reason };
        assert!(writer.attempt(Wish::Publish(1)).is_acknowledged);
        let [_, renames, writes] = sight.counts();
        let (operations, takes_space) = trial.operations();
        [operations, takes_space, renames, writes]
    })
}

/// One life of a project, and what must be true of it.
struct Life {
    rng: Rng,
    planted: Planted,
    disk: Arc<CrashDisk>,
    anchors: Anchors,
    /// Where the anchors are.
    outside: TempDir,
    /// The ledger's lines that count; those of releases say which table it was.
    lines: Vec<Option<usize>>,
    /// What the vault knows.
    state: Option<Made>,
    /// The releases that count, each with its files.
    releases: Vec<BTreeMap<String, Vec<u8>>>,
    /// States of the disk that somebody kept, with the number of lines.
    backups: Vec<(Arc<CrashDisk>, usize)>,
    /// How many lines the anchor is sure to know of.
    anchored: usize,
    /// Who was ever erased.
    erased: BTreeSet<RecordKey>,
    /// Whether an erasure was cut off. Then whoever opens the project next may finish it.
    was_cut: bool,
    /// What happened, for the message.
    story: Vec<String>,
}

/// Lives through a seed. The error tells what was broken, and the story.
fn live(seed: u64, planted: Planted) -> Result<[usize; 3], String> {
    let mut life = Life::new(seed, planted);
    let incidents = 3 + life.rng.below(4);
    let lived = (0..incidents).try_for_each(|_| life.incident());
    match lived {
        Ok(()) | Err(Broken::Told) => Ok([life.releases.len(), life.story.len(), life.erased.len()]),
        Err(Broken::Promise(what)) => Err(format!("seed {seed}: {what}; {}", life.story.join(", "))),
    }
}

/// Why a life ended early.
enum Broken {
    /// The disk was damaged beyond use, and the program said so.
    Told,
    /// Something that must hold does not.
    Promise(String),
}

fn broken<T>(what: impl Into<String>) -> Result<T, Broken> {
    Err(Broken::Promise(what.into()))
}

impl Life {
    /// A project that was just set up, every other one with an encrypted vault.
    fn new(seed: u64, planted: Planted) -> Life {
        HOURS.set(0);
        let disk = empty();
        let loaded = read_policy(&inputs().join("tacenda.toml")).unwrap();
        let key = (seed % 2 == 1).then(|| VaultKey::random().unwrap());
        let wrapped = key.as_ref().map(|key| keys().wrap(key).unwrap());
        let place: Arc<dyn Disk> = match key {
            Some(key) => Arc::new(SealedDisk::new(Arc::clone(&disk) as Arc<dyn Disk>, key)),
            None => Arc::clone(&disk) as Arc<dyn Disk>,
        };
        let new = NewProject {
            series: "wards",
            seed: SEED,
            wrapped_key: wrapped.as_deref(),
            policy_digest: &loaded.digest,
            policy_canonical: &Remembered::of(&loaded.policy).write(),
            at: &clock(),
        };
        drop(Store::init(place, root(), new).unwrap());
        let outside = tempfile::tempdir().unwrap();
        Life {
            rng: Rng::from_number(seed),
            planted,
            disk,
            anchors: Anchors::at(outside.path()),
            outside,
            lines: vec![None],
            state: None,
            releases: Vec::new(),
            backups: Vec::new(),
            anchored: 0,
            erased: BTreeSet::new(),
            was_cut: false,
            story: Vec::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound.max(1) as u64) as usize
    }

    fn simulated(&self, mishap: Mishap) -> SimulatedDisk {
        SimulatedDisk::new(&self.disk, mishap, self.planted)
    }

    /// What a writer does on the disk as it is.
    fn attempt(&self, mishap: Mishap, wish: Wish) -> Attempt {
        self.attempt_with(mishap, wish, &self.anchors, None)
    }

    fn attempt_with(&self, mishap: Mishap, wish: Wish, anchors: &Anchors, reason: Option<&str>) -> Attempt {
        let anchors = Some(anchors).filter(|_| self.planted != Planted::Anchor);
        Writer { sight: Arc::new(self.simulated(mishap)), below: &self.disk, anchors, reason }.attempt(wish)
    }

    /// Something that somebody wants. Without a release nobody can be erased.
    fn wish(&mut self) -> Wish {
        let wish = match self.rng.below(8) {
            0 | 1 => Wish::Erase(self.below(PEOPLE)),
            2 => Wish::Retain(1 + self.rng.below(2) as u32),
            3 => Wish::Plan,
            _ => Wish::Publish(1),
        };
        let is_possible = !self.releases.is_empty() && self.erased.len() < MOST_ERASED;
        let wish = if is_possible { wish } else { Wish::Publish(1) };
        self.story.push(format!("{wish:?}"));
        wish
    }

    fn incident(&mut self) -> Result<(), Broken> {
        if self.releases.len() >= MOST {
            return Ok(());
        }
        HOURS.set(HOURS.get() + 2_000);
        if self.rng.below(4) == 0 {
            // The clock goes back before this one.
            HOURS.set(HOURS.get() - 30_000);
        }
        if self.rng.below(2) == 0 {
            let copy = if self.rng.below(2) == 0 { self.disk.copy(DiskFault::Never) } else { self.packed()? };
            self.backups.push((copy, self.lines.len()));
        }
        match self.rng.below(12) {
            0 => self.quiet(),
            1..=4 => self.power_cut(),
            5 => self.failure(),
            6 => self.full_disk(),
            7 => self.failed_rename(),
            8 => self.second_writer(),
            9 => self.rot(),
            10 => self.misdirected(),
            _ => self.restored(),
        }
    }

    /// The project as a backup has it: packed, and unpacked elsewhere.
    fn packed(&self) -> Result<Arc<CrashDisk>, Broken> {
        let failed = |error: String| Broken::Promise(format!("it cannot be backed up: {error}"));
        let copy = self.disk.copy(DiskFault::Never);
        let store =
            Store::open_write(opened(&copy).map_err(failed)?, root()).map_err(|error| failed(error.to_string()))?;
        let mut archive = Vec::new();
        store.pack(&*copy, &[], &mut archive).map_err(|error| failed(error.to_string()))?;
        let disk = empty();
        unpack(&*disk, &mut &archive[..], root()).map_err(|error| failed(error.to_string()))?;
        // Right after it was restored, power may be lost.
        Ok(disk.after_crash(Kept::Nothing))
    }

    fn quiet(&mut self) -> Result<(), Broken> {
        self.story.push("quiet".into());
        let wish = self.wish();
        let attempt = self.attempt(Mishap::None, wish);
        if !attempt.is_acknowledged {
            return broken(format!("{wish:?} without a mishap failed: {}", attempt.error));
        }
        self.settle(&[attempt])
    }

    fn power_cut(&mut self) -> Result<(), Broken> {
        let [operations, ..] = measured();
        let at = 1 + self.below(operations + 2);
        let kept = match self.rng.below(4) {
            0 => Kept::Nothing,
            1 => Kept::Everything,
            2 => Kept::Half,
            _ => Kept::Random(self.rng.bits()),
        };
        self.story.push(format!("power cut at {at} of {operations}, keeps {kept:?}"));
        let wish = self.wish();
        self.disk = self.disk.copy(DiskFault::Crash(at));
        let attempt = self.attempt(Mishap::None, wish);
        self.disk = self.disk.after_crash(kept);
        self.settle(&[attempt])
    }

    fn failure(&mut self) -> Result<(), Broken> {
        let [operations, ..] = measured();
        let at = 1 + self.below(operations);
        self.story.push(format!("operation {at} of {operations} fails"));
        let wish = self.wish();
        self.disk = self.disk.copy(DiskFault::Once(at));
        let attempt = self.attempt(Mishap::None, wish);
        self.disk = self.disk.copy(DiskFault::Never);
        self.settle(&[attempt])
    }

    fn full_disk(&mut self) -> Result<(), Broken> {
        let [_, takes_space, ..] = measured();
        let at = 1 + self.below(takes_space);
        self.story.push(format!("the disk is full from {at} of {takes_space} on"));
        let wish = self.wish();
        self.disk = self.disk.copy(DiskFault::Full(at));
        let attempt = self.attempt(Mishap::None, wish);
        let is_full = self.disk.operations().1 >= at;
        self.disk = self.disk.copy(DiskFault::Never);
        if attempt.is_acknowledged && is_full {
            return broken("a full disk was not noticed");
        }
        self.settle(&[attempt])
    }

    fn failed_rename(&mut self) -> Result<(), Broken> {
        let [_, _, renames, _] = measured();
        let at = 1 + self.below(renames);
        self.story.push(format!("rename {at} of {renames} fails"));
        let wish = self.wish();
        let attempt = self.attempt(Mishap::Rename(at), wish);
        self.settle(&[attempt])
    }

    /// Somebody takes the lock for stale, or has none, and publishes in between.
    fn second_writer(&mut self) -> Result<(), Broken> {
        let [operations, ..] = measured();
        let at = 1 + self.below(operations);
        let removes_lock = self.rng.below(2) == 0;
        let wishes = [self.wish(), self.wish()];
        self.second_writer_at(at, removes_lock, wishes).map(drop)
    }

    /// Says whether the first writer was overtaken.
    fn second_writer_at(&mut self, at: usize, removes_lock: bool, wishes: [Wish; 2]) -> Result<bool, Broken> {
        let [wish, other_wish] = wishes;
        self.story.push(format!("a second writer at {at}, removes the lock: {removes_lock}"));
        let other: Arc<Mutex<Option<Attempt>>> = Arc::default();
        let meddling = {
            let (disk, other, anchors) = (Arc::clone(&self.disk), Arc::clone(&other), self.anchors.clone());
            let (hours, planted) = (HOURS.get(), self.planted);
            move || {
                HOURS.set(hours);
                if removes_lock {
                    let _ = disk.remove_file(&root().join(".tacenda/lock"));
                } else {
                    disk.unlock();
                }
                let sight = Arc::new(SimulatedDisk::new(&disk, Mishap::None, planted));
                let writer = Writer { sight, below: &disk, anchors: Some(&anchors), reason: None };
                *other.lock().unwrap() = Some(writer.attempt(other_wish));
            }
        };
        let sight = Arc::new(self.simulated(Mishap::None).meddled(at, Box::new(meddling)));
        let first = Writer { sight, below: &self.disk, anchors: Some(&self.anchors), reason: None }.attempt(wish);
        self.disk = self.disk.copy(DiskFault::Never);
        let second = other.lock().unwrap().take();
        let is_overtaken = !first.is_acknowledged;
        let attempts: Vec<Attempt> = second.into_iter().chain([first]).collect();
        self.settle(&attempts).map(|()| is_overtaken)
    }

    /// A publish, with a second writer at an operation: one whole series is left. Returns whether the first was overtaken.
    fn meets_second(&mut self, at: usize, removes_lock: bool, second: Wish) -> bool {
        match self.second_writer_at(at, removes_lock, [Wish::Publish(1), second]) {
            Ok(is_overtaken) => is_overtaken,
            Err(Broken::Promise(what)) => panic!("{second:?} at {at}: {what}"),
            Err(Broken::Told) => panic!("{second:?} at {at}: damaged"),
        }
    }

    /// A bit of a file turns, or its end is lost. It must be told; then the file is put back.
    fn rot(&mut self) -> Result<(), Broken> {
        // A plan knows the digest of its table, and the ledger does not.
        let ours = |name: &String| {
            !name.ends_with("/lock") && !name.ends_with("/.gitignore") && !name.contains("/vault/planned-")
        };
        let files: Vec<(String, Vec<u8>)> =
            self.disk.files().into_iter().filter(|(name, bytes)| ours(name) && !bytes.is_empty()).collect();
        let (name, good) = files[self.below(files.len())].clone();
        let mut bad = good.clone();
        let at = self.below(bad.len());
        match self.rng.below(3) {
            0 => bad.truncate(at),
            _ => bad[at] ^= 1 << self.rng.below(8),
        }
        self.story.push(format!("byte {at} of {name} rots"));
        self.disk.tamper(&name, bad);
        if self.look().is_ok() {
            return broken(format!("rot was not noticed in {name}"));
        }
        self.disk.tamper(&name, good);
        self.settle(&[])
    }

    /// A write goes into another file. Nobody notices while it happens; later it must be told, or do no harm.
    fn misdirected(&mut self) -> Result<(), Broken> {
        let [_, _, _, writes] = measured();
        let (at, draw) = (1 + self.below(writes), self.rng.bits());
        self.story.push(format!("write {at} of {writes} goes astray"));
        let wish = self.wish();
        let attempt = self.attempt(Mishap::Misdirected(at, draw), wish);
        match self.look() {
            Ok(()) => self.settle(&[attempt]),
            Err(_) => Err(Broken::Told),
        }
    }

    /// An older state of the project comes back. Nothing but what followed then may follow where the anchor knows of a later one.
    fn restored(&mut self) -> Result<(), Broken> {
        let count = self.backups.len();
        if count == 0 {
            return self.quiet();
        }
        let at = self.below(count);
        let (backup, then) = (self.backups[at].0.copy(DiskFault::Never), self.backups[at].1);
        if (self.anchored..self.lines.len()).contains(&then) && self.lines[then..].iter().any(Option::is_some) {
            // The last release was committed right before the power went: nobody was told of it, nor was the anchor.
            return self.quiet();
        }
        self.story.push(format!("the state with {then} of {} lines is restored", self.lines.len()));
        if then >= self.anchored {
            // Whose erasure was committed right before the power went stays erased: the anchor was told before.
            let is_older = then < self.lines.len();
            let newest = std::mem::replace(&mut self.disk, backup);
            let wish = if is_older { Wish::Publish(1) } else { self.wish() };
            let attempt = self.attempt(Mishap::None, wish);
            if is_older && attempt.error.contains("were seen here before") {
                // Whoever was cut off after that had moved the anchor.
                self.disk = newest;
                return self.settle(&[]);
            }
            self.lines.truncate(then);
            self.backups.retain(|(_, lines)| *lines <= then);
            return self.settle(&[attempt]);
        }
        if self.rng.below(3) == 0 {
            return self.gone_on(backup, then);
        }
        let newest = std::mem::replace(&mut self.disk, backup);
        self.make_again(then)?;
        // Another table than the one that followed then, or no table at all.
        let wish = match self.rng.below(3) {
            0 => Wish::Erase(self.below(PEOPLE)),
            _ => Wish::Publish(2),
        };
        let attempt = self.attempt(Mishap::None, wish);
        self.disk = newest;
        match attempt.counts() {
            true => broken(format!("a restored state was gone on from with {wish:?}")),
            false => self.settle(&[]),
        }
    }

    /// If nothing but releases is lacking, the same table gives the same release, and that is accepted. If people were erased
    /// since, it is not: they would be in it.
    fn make_again(&mut self, then: usize) -> Result<(), Broken> {
        let is_only_releases = self.lines[then..].iter().all(Option::is_some);
        let wish = Wish::Publish(self.lines[then].unwrap_or(1));
        let (kept, trial) = (self.disk.copy(DiskFault::Never), tempfile::tempdir().unwrap());
        for entry in fs::read_dir(self.outside.path()).unwrap().map(Result::unwrap) {
            fs::copy(entry.path(), trial.path().join(entry.file_name())).unwrap();
        }
        let attempt = self.attempt_with(Mishap::None, wish, &Anchors::at(trial.path()), None);
        let made = std::mem::replace(&mut self.disk, kept);
        let number = 1 + self.lines[..then].iter().flatten().count();
        match (is_only_releases, attempt.is_acknowledged) {
            // Somebody was being erased, and nobody can know whether the line that says so was there.
            (true, false) if self.was_cut => Ok(()),
            (true, false) => broken(format!("release {number} was made again and refused: {}", attempt.error)),
            (false, true) => broken(format!("release {number} was made again after an erasure")),
            (true, true) if rows(&files_of(&made, number)) != rows(&self.releases[number - 1]) => {
                broken(format!("release {number} was made again and is another"))
            }
            _ => Ok(()),
        }
    }

    /// A person goes on from an older state, in writing. Power may be lost meanwhile; then they say it again.
    fn gone_on(&mut self, backup: Arc<CrashDisk>, then: usize) -> Result<(), Broken> {
        let releases = self.lines[..then].iter().flatten().count();
        let newest = std::mem::replace(&mut self.disk, backup);
        let at = 1 + self.below(measured()[0]);
        self.story.push(format!("a person says why, and power is lost at {at}"));
        let reason = Some("nobody got the others");
        self.disk = self.disk.copy(DiskFault::Crash(at));
        let first = self.attempt_with(Mishap::None, Wish::Publish(2), &self.anchors, reason);
        self.disk = self.disk.after_crash(Kept::Random(at as u64));
        let again = self.attempt_with(Mishap::None, Wish::Publish(2), &self.anchors, reason);
        if releases == 0 && !self.erased.is_empty() {
            // Nothing could remember whom to leave out.
            self.disk = newest;
            return if first.counts() || again.counts() {
                broken("the erased may come again")
            } else {
                self.settle(&[])
            };
        }
        if !again.is_acknowledged {
            return broken(format!("what a person said did not help: {}", again.error));
        }
        self.lines.truncate(then);
        self.releases.truncate(releases);
        self.backups.retain(|(_, lines)| *lines <= then);
        self.anchored = then;
        self.settle(&[first, again])
    }

    /// Whether everything on the disk is as the ledger says.
    fn look(&self) -> Result<(), String> {
        // A writer may tidy up before it sees the damage: it does so elsewhere.
        let trial = opened(&self.disk.copy(DiskFault::Never))?;
        let store = Store::open_write(trial, root()).map_err(|error| error.to_string())?;
        store.history().and_then(|_| store.snapshot()).map_err(|error| error.to_string())?;
        store.policy().map_err(|error| error.to_string())?;
        verify(&store).first().map_or(Ok(()), |fault| Err(fault.to_string()))
    }

    /// Holds what is on the disk against what may be there after these attempts, and takes it for the truth.
    fn settle(&mut self, attempts: &[Attempt]) -> Result<(), Broken> {
        let forgets = |wish: Wish| matches!(wish, Wish::Erase(_) | Wish::Retain(_));
        self.was_cut |= attempts.iter().any(|attempt| forgets(attempt.wish) && !attempt.is_acknowledged);
        let mut erased = BTreeSet::new();
        for attempt in attempts.iter().filter(|attempt| attempt.counts() && forgets(attempt.wish)) {
            erased.extend(attempt.made.iter().flat_map(|(history, _)| history.erased.iter().copied()));
            if let Wish::Erase(person) = attempt.wish {
                erased.insert(key(person));
            }
        }
        if let [Attempt { wish: Wish::Erase(_) | Wish::Retain(_), is_acknowledged: true, .. }] = attempts {
            // Before anybody tidies up.
            self.erased.append(&mut erased);
            self.refuse_traces()?;
        }
        let told = |error: LedgerError| Broken::Promise(format!("it does not open: {error}"));
        let store = Store::open_write(opened(&self.disk).map_err(Broken::Promise)?, root()).map_err(told)?;
        if let Some(fault) = verify(&store).first() {
            return broken(format!("it is damaged: {fault}"));
        }
        let (before, now) = (self.lines.len(), store.events().len());
        let acknowledged = attempts.iter().filter(|attempt| attempt.counts()).count();
        if now < before + acknowledged {
            return broken(format!("{before} and {acknowledged} lines were written, {now} are there"));
        }
        let was_opened = attempts.iter().any(|attempt| attempt.made.is_some());
        let known = if was_opened { before + acknowledged } else { 0 };
        self.anchored = self.anchored.max(known);
        for (at, known) in self.releases.iter().enumerate() {
            if files_of(&self.disk, at + 1) != *known {
                return broken(format!("release {} is another", at + 1));
            }
        }
        let mut last = self.state.take();
        for event in &store.events()[before..] {
            let is_last = event.seq as usize == now;
            if let What::Erase(_) = &event.what {
                // Releases before this line may have them.
                self.erased.append(&mut erased);
            }
            last = self.explained(&store, &event.what, is_last, attempts)?;
        }
        self.state = last;
        if self.state.as_ref().is_some_and(|made| !is_kept(&store, made)) {
            return broken("the vault has another history");
        }
        self.erased.append(&mut erased);
        self.refuse_returned(&store)?;
        drop(store);
        self.refuse_traces()
    }

    /// The state after a new line, as the attempt that wrote it made it.
    fn explained(
        &mut self,
        store: &Store,
        what: &What,
        is_last: bool,
        attempts: &[Attempt],
    ) -> Result<Option<Made>, Broken> {
        // Only the last state is kept; of an earlier one the files are known.
        let is_it = |made: &&Made| !is_last || is_kept(store, made);
        let found = match what {
            What::Publish(publication) => {
                let number = publication.number as usize;
                let of_release = attempts.iter().filter_map(|attempt| match (attempt.wish, &attempt.made) {
                    (Wish::Publish(ahead), Some(made)) => Some((ahead, made)),
                    _ => None,
                });
                let mut of_number = of_release.filter(|(_, made)| made.0.releases as usize == number);
                let Some((ahead, made)) = of_number.find(|(_, made)| is_it(made)) else {
                    return broken(format!("release {number} was made by nobody"));
                };
                self.lines.push(Some(ahead));
                let files = files_of(&self.disk, number);
                self.refuse_in_release(&files)?;
                self.releases.push(files);
                return Ok(Some(made.clone()));
            }
            What::Erase(_) => {
                let of_forgetting = attempts.iter().filter(|attempt| !matches!(attempt.wish, Wish::Publish(_)));
                let found = of_forgetting.filter_map(|attempt| attempt.made.as_ref()).find(is_it).cloned();
                let went_back = store.events().iter().any(|event| matches!(event.what, What::Rollback { .. }));
                match (found, went_back || self.was_cut) {
                    (None, false) => return broken("people were erased by nobody"),
                    // Who was erased after the state that a person went on from is erased again.
                    (None, true) => kept(store).filter(|_| is_last),
                    (found, _) => found,
                }
            }
            _ => kept(store).filter(|_| is_last),
        };
        self.lines.push(None);
        Ok(found)
    }

    /// Refuses a release that has somebody in it who was erased before.
    fn refuse_in_release(&self, files: &BTreeMap<String, Vec<u8>>) -> Result<(), Broken> {
        for person in (0..PEOPLE).filter(|&person| self.erased.contains(&key(person))) {
            if let Some(name) = files.iter().find(|(_, bytes)| contains(bytes, &room(person))).map(|(name, _)| name) {
                return broken(format!("person {person} was erased and is in {name}"));
            }
        }
        Ok(())
    }

    /// Refuses a vault that knows somebody who was erased.
    fn refuse_returned(&mut self, store: &Store) -> Result<(), Broken> {
        let Some((history, table)) = kept(store) else { return Ok(()) };
        for &key in &self.erased {
            let record = history.record(key);
            let has_value = record.is_some_and(|record| record.value.0 != 0 || !history.is_current(record));
            if table.find(key).is_some() || has_value || !history.is_erased(key) {
                return broken("somebody who was erased is in the vault again");
            }
        }
        self.erased.extend(history.erased);
        Ok(())
    }

    /// Refuses a byte of the vault, read with its key, that shows somebody who was erased.
    fn refuse_traces(&self) -> Result<(), Broken> {
        let disk = opened(&self.disk).map_err(Broken::Promise)?;
        let names = self.disk.files().into_keys().filter(|name| name.starts_with("/project/.tacenda/"));
        for name in names {
            let Ok(bytes) = disk.read(Path::new(&name)) else { continue };
            let mut people = (0..PEOPLE).filter(|&person| self.erased.contains(&key(person)));
            if let Some(person) = people.find(|&person| contains(&bytes, &room(person))) {
                return broken(format!("person {person} was erased, and {name} shows them"));
            }
        }
        Ok(())
    }
}

/// The files of a release.
fn files_of(disk: &CrashDisk, number: usize) -> BTreeMap<String, Vec<u8>> {
    let folder = format!("/project/releases/wards/r{number:04}/");
    disk.files().into_iter().filter(|(name, _)| name.starts_with(&folder)).collect()
}

/// The rows of a release: what is said about it has dates.
fn rows(files: &BTreeMap<String, Vec<u8>>) -> Vec<(&String, &Vec<u8>)> {
    files.iter().filter(|(name, _)| name.ends_with(".csv")).collect()
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|found| found == text.as_bytes())
}

/// What the vault knows; nothing before the first release.
fn kept(store: &Store) -> Option<Made> {
    store.history().ok().zip(store.snapshot().ok().flatten())
}

fn is_kept(store: &Store, made: &Made) -> bool {
    kept(store).as_ref() == Some(made)
}

/// The seeds of the lives to live: those that `TACENDA_SEED` names, as one number or as `FIRST..END`.
fn wanted_seeds() -> Range<u64> {
    let named = env::var("TACENDA_SEED").ok().and_then(|named| match named.split_once("..") {
        Some((first, end)) => Some(first.parse().ok()?..end.parse().ok()?),
        None => named.parse().ok().map(|seed| seed..seed + 1),
    });
    let all = if env::var_os("TACENDA_LONG").is_some() { 100_000 } else { 1_000 };
    named.unwrap_or(1..all + 1)
}

#[test]
fn whatever_happens_the_disk_holds_the_old_state_or_the_new() {
    let seeds = wanted_seeds();
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let part = |first: usize| seeds.clone().skip(first).step_by(threads).map(|seed| live(seed, Planted::None));
    let lives: Vec<Result<[usize; 3], String>> = thread::scope(|scope| {
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first).collect::<Vec<_>>())).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let broken: Vec<&str> = lives.iter().filter_map(|life| life.as_ref().err().map(String::as_str)).collect();
    assert!(broken.is_empty(), "{} of {} lives:\n{}", broken.len(), lives.len(), broken.join("\n"));
    let lived = lives.len() as u64;
    let sum = |at: usize| lives.iter().flatten().map(|life| life[at] as u64).sum::<u64>();
    let [releases, incidents, erased] = [0, 1, 2].map(sum);
    println!("{lived} lives, {incidents} incidents, {releases} releases, {erased} people erased");
    // A few lives may be odd.
    let is_usual = releases > lived && incidents > 2 * lived && 5 * erased > lived;
    assert!(lived < 100 || is_usual, "{releases} {incidents} {erased}");
}

#[test]
fn planted_bugs_are_found() {
    let bugs = [
        Planted::VaultFileSync,
        Planted::VaultFolderSync,
        Planted::StagedFileSync,
        Planted::StagedFolderSync,
        Planted::CompareAndSwap,
        Planted::EarlySweep,
        Planted::NoSweep,
        Planted::Anchor,
    ];
    for planted in bugs {
        let found = (1..=1_000).find_map(|seed| live(seed, planted).err());
        println!("{planted:?}: {}", found.as_deref().unwrap_or("not found"));
        assert!(found.is_some(), "{planted:?} is not found");
    }
}

/// Power is lost at every operation that sets a project up. The next publish begins it, and finds one that is whole.
#[test]
fn a_project_whose_setting_up_was_cut_off_begins_again() {
    for at in 1.. {
        let disk = empty().copy(DiskFault::Crash(at));
        let is_whole = open(Arc::clone(&disk) as Arc<dyn Disk>, Access::Publish).is_ok() && !disk.is_dead();
        for kept in [Kept::Nothing, Kept::Everything, Kept::Half, Kept::Random(at as u64)] {
            let left = disk.after_crash(kept);
            let looked = open(Arc::clone(&left) as Arc<dyn Disk>, Access::Look);
            assert!(looked.is_ok(), "looked at {at} with {kept:?}: {}", looked.err().unwrap());
            let mut begun = open(left, Access::Publish).unwrap_or_else(|error| panic!("{at} with {kept:?}: {error}"));
            let material = begun.material(input(1), &|_| {}).unwrap();
            let rehearsal = begun.rehearse(&material, NextRelease::default(), &|_| {}).unwrap();
            begun.publish(&material, &rehearsal, &|_| {}).unwrap();
        }
        if is_whole {
            println!("{at} operations");
            return;
        }
    }
}

/// What a publish had staged that failed is gone, also after power is lost: somebody in it may be erased next.
#[test]
fn what_a_failed_publish_staged_does_not_come_back() {
    let person = 5;
    let mut failed = 0;
    for at in (1..=measured()[0]).step_by(2) {
        let mut life = Life::new(at as u64, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        life.disk = life.disk.copy(DiskFault::Once(at));
        let publish = life.attempt(Mishap::None, Wish::Publish(1));
        life.disk = life.disk.copy(DiskFault::Never);
        if publish.is_acknowledged || publish.made.is_none() {
            continue;
        }
        failed += 1;
        let erase = life.attempt(Mishap::None, Wish::Erase(person));
        assert!(erase.is_acknowledged, "at {at}: {}", erase.error);
        life.disk = life.disk.after_crash(Kept::Nothing);
        life.erased.insert(key(person));
        if let Err(Broken::Promise(what)) = life.refuse_traces() {
            panic!("operation {at} failed: {what}");
        }
    }
    assert!(failed > 10, "{failed}");
}

/// A plan takes no lock. Somebody is erased between any two of its steps, and then power is lost.
#[test]
fn a_plan_that_an_erasure_overtook_leaves_nothing_behind() {
    let person = 5;
    let mut overtaken = 0;
    for at in 1.. {
        let mut life = Life::new(2, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        let meddling = {
            let (disk, anchors) = (Arc::clone(&life.disk), life.anchors.clone());
            move || {
                let sight = Arc::new(SimulatedDisk::new(&disk, Mishap::None, Planted::None));
                let eraser = Writer { sight, below: &disk, anchors: Some(&anchors), reason: None };
                assert!(eraser.attempt(Wish::Erase(person)).is_acknowledged);
            }
        };
        let sight = Arc::new(life.simulated(Mishap::None).meddled(at, Box::new(meddling)));
        let (anchors, below) = (Some(&life.anchors), &life.disk);
        let plan = Writer { sight: Arc::clone(&sight) as Arc<dyn Disk>, below, anchors, reason: None };
        let planned = plan.attempt(Wish::Plan);
        if sight.counts()[0] < at {
            break;
        }
        overtaken += usize::from(!planned.is_acknowledged);
        life.disk = life.disk.after_crash(Kept::Nothing);
        life.erased.insert(key(person));
        if let (false, Err(Broken::Promise(what))) = (planned.is_acknowledged, life.refuse_traces()) {
            panic!("at {at}: {what}");
        }
    }
    assert!(overtaken > 3, "{overtaken}");
}

/// Power is lost at every operation of an erasure, and the state before it is put back. Whose line was written stays out.
#[test]
fn an_erasure_that_was_cut_off_is_finished_whatever_is_put_back() {
    let person = 5;
    let (mut written, mut unwritten) = (0, 0);
    let mut life = Life::new(1, Planted::None);
    life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
    let trial = life.disk.copy(DiskFault::Never);
    life.disk = Arc::clone(&trial);
    assert!(life.attempt(Mishap::None, Wish::Erase(person)).is_acknowledged);
    // The line is among the last operations.
    for at in trial.operations().0 - 50.. {
        let mut life = Life::new(at as u64, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        let before = life.disk.copy(DiskFault::Never);
        life.disk = before.copy(DiskFault::Crash(at));
        let is_whole = life.attempt(Mishap::None, Wish::Erase(person)).is_acknowledged && !life.disk.is_dead();
        let left = opened(&life.disk.after_crash(Kept::Everything)).unwrap();
        let lines = Store::open_write(left, root()).unwrap().events().len();
        if lines > life.lines.len() && !is_whole {
            written += 1;
            life.erased.insert(key(person));
        } else {
            unwritten += 1;
        }
        if is_whole {
            break;
        }
        (life.disk, life.was_cut) = (before, true);
        let next = life.attempt(Mishap::None, Wish::Publish(1));
        if !next.is_acknowledged {
            // The anchor was moved already.
            assert!(next.error.contains("3 were seen here before"), "at {at}: {}", next.error);
            continue;
        }
        if let Err(Broken::Promise(what)) = life.settle(&[next]) {
            panic!("cut off at {at}: {what}");
        }
    }
    println!("the line was written in {written} cases, and not in {unwritten}");
    assert!(written > 3 && unwritten > 10, "{written} {unwritten}");
}

/// Lets a second writer in before every single operation of a publish.
#[test]
fn two_writers_that_do_not_see_each_other_leave_one_whole_series() {
    let mut overtaken = 0;
    let operations = measured()[0];
    for at in 1..=operations {
        let mut life = Life::new(at as u64, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        let second = if at % 3 == 0 { Wish::Erase(at % PEOPLE) } else { Wish::Publish(1) };
        overtaken += usize::from(life.meets_second(at, at % 2 == 0, second));
    }
    assert!(overtaken > 20, "the first writer was overtaken {overtaken} times");
}

/// Lets a second writer in where only the lock stood before: between the comparison of the ledger and the line, and until the line
/// was read back. One that has nobody to forget adds no line, but sweeps what no line names.
#[test]
fn a_second_writer_between_the_comparison_and_the_line_is_found_out() {
    let after_one = |seed: u64| {
        let mut life = Life::new(seed, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        life
    };
    // One vault in the clear and one that is encrypted.
    for seed in [2, 3] {
        let life = after_one(seed);
        let trial = life.disk.copy(DiskFault::Never);
        let sight = Arc::new(SimulatedDisk::new(&trial, Mishap::None, Planted::None));
        let (anchors, reason) = (Some(&life.anchors), None);
        let writer = Writer { sight: Arc::clone(&sight) as Arc<dyn Disk>, below: &trial, anchors, reason };
        assert!(writer.attempt(Wish::Publish(1)).is_acknowledged);
        let line = sight.appended();
        for second in [Wish::Publish(1), Wish::Erase(3), Wish::Retain(50)] {
            for removes_lock in [true, false] {
                assert!(after_one(seed).meets_second(line, removes_lock, second), "{second:?}: it was not found out");
                // From here on the line counts, also if its writer was overtaken before all was in place.
                for at in line + 1..=line + 6 {
                    after_one(seed).meets_second(at, removes_lock, second);
                }
            }
        }
    }
}
