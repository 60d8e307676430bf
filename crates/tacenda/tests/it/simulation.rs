//! The whole publish under a seeded simulator: two writers, power cuts, torn and misdirected writes, bit rot, renames that
//! fail, a full disk, a clock that goes back, and states that were restored.
//!
//! A seed is a life of a project: a few publishes, each with a mishap. After each the disk must hold the old state or the new
//! one, whole, with everything that was said to be published, byte by byte; or the damage must be told. The seed of a life
//! that fails is in the message. Bugs that are planted must be found.

use crate::crash_disk::{CrashDisk, DiskFault, Kept};
use crate::simulated_disk::{Mishap, Planted, SimulatedDisk};
use crate::small_project::root;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};
use std::{env, fs, thread};
use tacenda::ingest::{Given, Remembered, read_policy};
use tacenda::keys::{KeyFolder, VaultKey};
use tacenda::ledger::{Anchors, Disk, Folder, LedgerError, NewProject, SealedDisk, Store, unsealed, verify};
use tacenda::model::{History, Rng, Seed, Table};
use tacenda::publish::{Access, Input, Machine, NextRelease, Project, ProjectError};
use tempfile::TempDir;

const POLICY: &str = r#"policy = 1

[series]
name  = "wards"
title = "A tiny series"

[columns]
id      = { role = "identifier" }
age     = { role = "quasi", type = "integer", domain = [0, 100] }
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

thread_local! {
    /// Hours since the beginning of 2026.
    static HOURS: Cell<i64> = const { Cell::new(0) };
}

fn clock() -> String {
    let start: jiff::Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
    (start + jiff::SignedDuration::from_hours(HOURS.get())).to_string()
}

/// The policy and the tables, which are on no simulated disk.
fn inputs() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("tacenda.toml"), POLICY).unwrap();
            for number in 1..=MOST + 2 {
                let people = (0..8).filter(|person| (person + number) % 5 != 0);
                let row = |person: usize| {
                    format!("p{person},{},{}\n", 20 + 7 * person, ["flu", "gout", "asthma"][person % 3])
                };
                let table: String = people.map(row).collect();
                fs::write(folder.path().join(format!("{number}.csv")), format!("id,age,disease\n{table}")).unwrap();
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

/// A release as it was made: what the vault knows after it.
type Made = (History, Table);

/// What became of one attempt to publish.
#[derive(Default)]
struct Attempt {
    /// What would be there if it counts; absent where it failed before.
    made: Option<Made>,
    /// Whether it was said to be published.
    is_acknowledged: bool,
    error: String,
}

/// Opens the project and publishes the next release of the series: everything that the command does.
fn publish(disk: Arc<dyn Disk>, anchors: &Anchors) -> Attempt {
    publish_table(disk, anchors, 1)
}

/// The same from a table further on.
fn publish_table(disk: Arc<dyn Disk>, anchors: &Anchors, ahead: usize) -> Attempt {
    let mut attempt = Attempt::default();
    let all = || -> Result<(), ProjectError> {
        let policy = inputs().join("tacenda.toml");
        let machine = Machine { disk, clock, keys: Some(keys()) };
        let mut project = Project::open_on(machine, root(), Some(&policy), Access::Publish)?;
        project.hold_against(anchors, Access::Publish, None)?;
        let table = inputs().join(format!("{}.csv", project.publications().len() + ahead));
        let input = Input { table: Given::Path(table), delta: false, show_values: false, memory: None, threads: 1 };
        let material = project.material(input, &|_| {})?;
        let rehearsal = project.rehearse(&material, NextRelease::default(), &|_| {})?;
        attempt.made = Some((rehearsal.prepared.history.clone(), material.table().clone()));
        project.publish(&material, &rehearsal, &|_| {})?;
        Ok(())
    };
    match all() {
        Ok(()) => attempt.is_acknowledged = true,
        Err(error) => attempt.error = error.to_string(),
    }
    attempt
}

/// About how many operations, space taking ones, renames and writes a publish needs: those of a second release.
fn measured() -> [usize; 4] {
    static MEASURED: OnceLock<[usize; 4]> = OnceLock::new();
    *MEASURED.get_or_init(|| {
        let mut life = Life::new(0, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        let trial = life.disk.copy(DiskFault::Never);
        let sight = Arc::new(SimulatedDisk::new(&trial, Mishap::None, Planted::None));
        assert!(publish(Arc::clone(&sight) as Arc<dyn Disk>, &life.anchors).is_acknowledged);
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
    _outside: TempDir,
    /// The releases that count, each with its files.
    releases: Vec<(Made, BTreeMap<String, Vec<u8>>)>,
    /// States of the disk that somebody kept, with the number of releases.
    backups: Vec<(Arc<CrashDisk>, usize)>,
    /// How many releases the anchor is sure to know of.
    anchored: usize,
    /// What happened, for the message.
    story: Vec<String>,
}

/// Lives through a seed. The error tells what was broken, and the story.
fn live(seed: u64, planted: Planted) -> Result<[usize; 2], String> {
    let mut life = Life::new(seed, planted);
    let incidents = 3 + life.rng.below(4);
    let lived = (0..incidents).try_for_each(|_| life.incident());
    match lived {
        Ok(()) | Err(Broken::Told) => Ok([life.releases.len(), life.story.len()]),
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
        let disk = Arc::new(CrashDisk::new());
        disk.create_folder(root(), Folder::Plain).unwrap();
        disk.sync_folder(root().parent().unwrap()).unwrap();
        let loaded = read_policy(&inputs().join("tacenda.toml")).unwrap();
        let key = (seed % 2 == 1).then(|| VaultKey::random().unwrap());
        let wrapped = key.as_ref().map(|key| keys().wrap(key).unwrap());
        let place: Arc<dyn Disk> = match key {
            Some(key) => Arc::new(SealedDisk::new(Arc::clone(&disk) as Arc<dyn Disk>, key)),
            None => Arc::clone(&disk) as Arc<dyn Disk>,
        };
        let new = NewProject {
            series: "wards",
            seed: Seed([7; 32]),
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
            _outside: outside,
            releases: Vec::new(),
            backups: Vec::new(),
            anchored: 0,
            story: Vec::new(),
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound.max(1) as u64) as usize
    }

    fn simulated(&self, mishap: Mishap) -> SimulatedDisk {
        SimulatedDisk::new(&self.disk, mishap, self.planted)
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
            self.backups.push((self.disk.copy(DiskFault::Never), self.releases.len()));
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

    fn quiet(&mut self) -> Result<(), Broken> {
        self.story.push("quiet".into());
        let attempt = publish(Arc::new(self.simulated(Mishap::None)), &self.anchors);
        if !attempt.is_acknowledged {
            return broken(format!("a publish without a mishap failed: {}", attempt.error));
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
        self.disk = self.disk.copy(DiskFault::Crash(at));
        let attempt = publish(Arc::new(self.simulated(Mishap::None)), &self.anchors);
        self.disk = self.disk.after_crash(kept);
        self.settle(&[attempt])
    }

    fn failure(&mut self) -> Result<(), Broken> {
        let [operations, ..] = measured();
        let at = 1 + self.below(operations);
        self.story.push(format!("operation {at} of {operations} fails"));
        self.disk = self.disk.copy(DiskFault::Once(at));
        let attempt = publish(Arc::new(self.simulated(Mishap::None)), &self.anchors);
        self.disk = self.disk.copy(DiskFault::Never);
        self.settle(&[attempt])
    }

    fn full_disk(&mut self) -> Result<(), Broken> {
        let [_, takes_space, ..] = measured();
        let at = 1 + self.below(takes_space);
        self.story.push(format!("the disk is full from {at} of {takes_space} on"));
        self.disk = self.disk.copy(DiskFault::Full(at));
        let attempt = publish(Arc::new(self.simulated(Mishap::None)), &self.anchors);
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
        let attempt = publish(Arc::new(self.simulated(Mishap::Rename(at))), &self.anchors);
        self.settle(&[attempt])
    }

    /// Somebody takes the lock for stale, or has none, and publishes in between.
    fn second_writer(&mut self) -> Result<(), Broken> {
        let [operations, ..] = measured();
        let at = 1 + self.below(operations);
        let removes_lock = self.rng.below(2) == 0;
        self.second_writer_at(at, removes_lock).map(drop)
    }

    /// Says whether the first writer was overtaken.
    fn second_writer_at(&mut self, at: usize, removes_lock: bool) -> Result<bool, Broken> {
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
                let sight = SimulatedDisk::new(&disk, Mishap::None, planted);
                *other.lock().unwrap() = Some(publish(Arc::new(sight), &anchors));
            }
        };
        let sight = self.simulated(Mishap::None).meddled(at, Box::new(meddling));
        let first = publish(Arc::new(sight), &self.anchors);
        self.disk = self.disk.copy(DiskFault::Never);
        let second = other.lock().unwrap().take().unwrap_or_default();
        let is_overtaken = !first.is_acknowledged;
        self.settle(&[second, first]).map(|()| is_overtaken)
    }

    /// A bit of a file turns, or its end is lost. It must be told; then the file is put back.
    fn rot(&mut self) -> Result<(), Broken> {
        let ours = |name: &String| !name.ends_with("/lock") && !name.ends_with("/.gitignore");
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
        let attempt = publish(Arc::new(self.simulated(Mishap::Misdirected(at, draw))), &self.anchors);
        match self.look() {
            Ok(()) => self.settle(&[attempt]),
            Err(_) => Err(Broken::Told),
        }
    }

    /// An older state of the project comes back. Nothing may be published from it where the anchor knows of a later one.
    fn restored(&mut self) -> Result<(), Broken> {
        let count = self.backups.len();
        if count == 0 {
            return self.quiet();
        }
        let at = self.below(count);
        let (backup, then) = (&self.backups[at].0, self.backups[at].1);
        if (self.anchored..self.releases.len()).contains(&then) {
            // The last release was committed right before the power went: nobody was told of it, nor was the anchor.
            return self.quiet();
        }
        self.story.push(format!("the state with {then} releases is restored"));
        let newest = std::mem::replace(&mut self.disk, backup.copy(DiskFault::Never));
        if then == self.releases.len() {
            let attempt = publish(Arc::new(self.simulated(Mishap::None)), &self.anchors);
            return self.settle(&[attempt]);
        }
        // Another table than the one that followed then.
        let attempt = publish_table(Arc::new(self.simulated(Mishap::None)), &self.anchors, 2);
        self.disk = newest;
        match attempt.is_acknowledged {
            true => broken("a restored state was gone on from"),
            false => self.settle(&[]),
        }
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
        let told = |error: LedgerError| Broken::Promise(format!("it does not open: {error}"));
        let disk = opened(&self.disk).map_err(Broken::Promise)?;
        let store = Store::open_write(disk, root()).map_err(told)?;
        if let Some(fault) = verify(&store).first() {
            return broken(format!("it is damaged: {fault}"));
        }
        let (before, now) = (self.releases.len(), store.releases() as usize);
        let acknowledged = attempts.iter().filter(|attempt| attempt.is_acknowledged).count();
        if now < before + acknowledged {
            return broken(format!("{before} and {acknowledged} were published, {now} are there"));
        }
        let was_opened = attempts.iter().any(|attempt| attempt.made.is_some());
        let known = if was_opened { before + acknowledged } else { 0 };
        self.anchored = self.anchored.max(known);
        let files = self.disk.files();
        let of_release = |number: usize| -> BTreeMap<String, Vec<u8>> {
            let folder = format!("/project/releases/wards/r{number:04}/");
            let inside = files.iter().filter(|(name, _)| name.starts_with(&folder));
            inside.map(|(name, bytes)| (name.clone(), bytes.clone())).collect()
        };
        for (at, (_, known)) in self.releases.iter().enumerate() {
            if of_release(at + 1) != *known {
                return broken(format!("release {} is another", at + 1));
            }
        }
        let mut made: Vec<&Made> = attempts.iter().filter_map(|attempt| attempt.made.as_ref()).collect();
        made.sort_by_key(|(history, _)| history.releases);
        for number in before + 1..=now {
            let candidates = made.iter().filter(|(history, _)| history.releases as usize == number);
            let known: Vec<Made> = candidates.map(|&made| made.clone()).collect();
            // Only the last state is kept; of an earlier one the files are known.
            let is_it = |made: &&Made| number < now || is_kept(&store, made);
            match known.iter().find(is_it) {
                Some(made) => self.releases.push((made.clone(), of_release(number))),
                None => return broken(format!("release {number} was made by nobody")),
            }
        }
        match self.releases.last() {
            Some((made, _)) if !is_kept(&store, made) => broken("the vault has another history"),
            _ => Ok(()),
        }
    }
}

fn is_kept(store: &Store, (history, table): &Made) -> bool {
    store.history().is_ok_and(|found| found == *history)
        && store.snapshot().is_ok_and(|found| found.as_ref() == Some(table))
}

#[test]
fn whatever_happens_the_disk_holds_the_old_state_or_the_new() {
    let seeds = if env::var_os("TACENDA_LONG").is_some() { 100_000 } else { 1_000 };
    let threads = thread::available_parallelism().map_or(1, usize::from) as u64;
    let part = |first: u64| {
        let lives = (first..=seeds).step_by(threads as usize);
        lives.map(|seed| live(seed, Planted::None).unwrap_or_else(|broken| panic!("{broken}"))).collect::<Vec<_>>()
    };
    let lives: Vec<[usize; 2]> = thread::scope(|scope| {
        let parts: Vec<_> = (1..=threads).map(|first| scope.spawn(move || part(first))).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let releases: usize = lives.iter().map(|[made, _]| made).sum();
    let incidents: usize = lives.iter().map(|[_, happened]| happened).sum();
    println!("{seeds} lives, {incidents} incidents, {releases} releases");
    assert!(releases as u64 > seeds && incidents as u64 > 2 * seeds, "{releases} releases, {incidents} incidents");
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
    ];
    for planted in bugs {
        let found = (1..=1_000).find_map(|seed| live(seed, planted).err());
        println!("{planted:?}: {}", found.as_deref().unwrap_or("not found"));
        assert!(found.is_some(), "{planted:?} is not found");
    }
}

/// Lets a second writer in before every single operation of a publish.
#[test]
fn two_writers_that_do_not_see_each_other_leave_one_whole_series() {
    let mut overtaken = 0;
    let operations = measured()[0];
    for at in 1..=operations {
        let mut life = Life::new(at as u64, Planted::None);
        life.quiet().unwrap_or_else(|_| panic!("a quiet publish works"));
        match life.second_writer_at(at, at % 2 == 0) {
            Ok(is_overtaken) => overtaken += usize::from(is_overtaken),
            Err(Broken::Promise(what)) => panic!("at {at} of {operations}: {what}"),
            Err(Broken::Told) => panic!("at {at} of {operations}: damaged"),
        }
    }
    assert!(overtaken > 20, "the first writer was overtaken {overtaken} times");
}
