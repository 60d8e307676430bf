//! A project folder: the policy file, the ledger and the releases together.
//!
//! [`Project::rehearse`] does everything except writing; [`Project::publish`] commits a rehearsal. A plan is a
//! rehearsal whose inputs are recorded by their digests. Publishing it makes the same bytes, or reports what has
//! changed since.

use crate::audit::Finding;
use crate::folder::{Issue, ManifestFacts, PreviousRelease, StatedPromise};
use crate::grouping::ENGINE;
use crate::ingest::{Given, IngestError, Loaded, ReadOptions, Remembered, Snapshot, Source};
use crate::keys::{KeyError, KeyFolder, Signer, VaultKey};
use crate::ledger::{
    Anchors, Approval, Commit, Disk, LedgerError, LineNumbers, NewProject, People, Publication, RealDisk, SealedDisk,
    Store, What, unsealed,
};
use crate::measure::{CountErrors, Loss, QueryError, Workload, count_error_of_one, count_errors, loss, query_error};
use crate::model::{
    Change, Domain, Hierarchy, History, OTHER, PastView, Quasi, Release, Rng, RowRule, Schema, Seed, Table, counted,
};
use crate::promise::{Databases, DiskForm, NamedView, PolicyFile, Promised, SeriesPromise, Views};
use crate::publish::amend::{self, Amended};
use crate::publish::backup::{back_up, file_by, rotate};
use crate::publish::forecast::forecast;
use crate::publish::free_memory::free_memory;
use crate::publish::on_disk::{self, BYTES_ON_DISK, Everyone, Making, NextPeople, OnDisk, PEOPLE_PER_FILE};
use crate::publish::report::{page, series_report, software};
use crate::publish::signed::{assert_rules, introduction, sign_staged};
use crate::publish::staged::write_staged;
use crate::publish::views::{NewView, Setting, narrow, prepare_setting};
use crate::publish::{
    Before, ComparisonReport, ForecastReport, Prepared, PrivateTables, ProjectError, PublishedSeries, REPORT,
    ReportRequest, adopted, erratum, formulas, prepare, retract, series, signed,
};
use crate::report::Report;
use crate::{folder, ingest};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The name of the policy file where none is given.
pub const POLICY_FILE: &str = "tacenda.toml";

/// The measured peak memory of publishing per row, to refuse early if memory is short.
const BYTES_PER_ROW: u64 = 300;

/// The same if people are on disk, per row and besides. More than was ever measured (docs/scale.md).
const BYTES_PER_ROW_ON_DISK: u64 = 80;

/// The same for a first release whose groups are formed some people at a time: besides, per row, and per group. A group has two
/// numbers per column, in the release and in the vault's state after it.
const BYTES_OF_FIRST: u64 = 116 << 20;
const BYTES_PER_ROW_OF_FIRST: u64 = 8;
const BYTES_PER_GROUP_OF_FIRST: u64 = 16;
const BYTES_PER_SPAN_OF_FIRST: u64 = 16;

/// Which share of the free memory is used where nothing is said about memory.
const FREE_SHARE: (u64, u64) = (3, 4);

/// What a project is opened for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Access {
    /// Nothing is written, and no lock is taken. The ledger may be missing.
    Look,
    /// Nothing is written except, the first time, the ledger and the vault with its seed.
    Rehearse,
    /// Opened for writing, by one process at a time: what a crash left is finished or removed.
    Publish,
}

/// The disk and the clock of a project. Tests provide a failing disk and a wrong clock.
#[derive(Clone)]
pub struct Machine {
    /// Where ledger, vault and releases are.
    pub disk: Arc<dyn Disk>,
    /// Now, as text.
    pub clock: fn() -> String,
    /// Whose keys open the vault. Without them a new vault is not encrypted, and one that is stays closed.
    pub keys: Option<KeyFolder>,
    /// What remembers how far series went; asked before a new one begins.
    pub anchors: Option<Anchors>,
    /// How many bytes of memory are free; `None` if that is not known.
    pub free_memory: fn() -> Option<u64>,
}

impl Default for Machine {
    fn default() -> Machine {
        Machine { disk: Arc::new(RealDisk), clock: now, keys: None, anchors: None, free_memory }
    }
}

/// A project folder, open.
pub struct Project {
    root: PathBuf,
    machine: Machine,
    loaded: Loaded,
    store: Option<Store>,
    /// The values that columns gained since the last release.
    pub(super) amended: Amended,
    /// Replaces the vault's seed if there is no vault yet and nothing is written.
    throwaway: Seed,
    /// Why the vault stayed closed to somebody who only looks.
    closed: Option<KeyError>,
    policy_path: PathBuf,
    /// Where a backup is written before the next release is committed.
    backup: Option<PathBuf>,
    /// If given, people are kept on disk even if memory would do, this many in a file.
    people_per_file: Option<usize>,
}

/// What a release is made from.
#[derive(Debug)]
pub struct Input {
    /// The table; the path `-` is standard input.
    pub table: Given,
    /// Whether it holds changes rather than a whole snapshot.
    pub delta: bool,
    /// Whether errors may name values that a hierarchy lacks.
    pub show_values: bool,
    /// The most memory that may be used.
    pub memory: Option<u64>,
    /// How many threads read; 0 for as many as the machine has.
    pub threads: usize,
}

/// An input that is open.
struct Opened {
    source: Source,
    delta: bool,
    memory: Option<u64>,
    options: ReadOptions,
}

/// What a release is made from: the past, and a snapshot. Private.
#[derive(Debug)]
pub struct Ingredients {
    pub(super) history: History,
    pub(super) last: Option<Table>,
    pub(super) snapshot: Snapshot,
    /// The people, if they are on disk. Then the history has no records and the snapshot no rows.
    pub(super) on_disk: Option<OnDisk>,
    /// The keyed digest of the input, where only a plan knows it.
    pub(super) source: Option<String>,
}

impl Ingredients {
    /// Returns the snapshot and drops the rest.
    pub fn into_table(self) -> Table {
        self.snapshot.table
    }

    /// Everything published so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// The snapshot of the last release.
    pub fn last(&self) -> Option<&Table> {
        self.last.as_ref()
    }

    /// The snapshot.
    pub fn table(&self) -> &Table {
        &self.snapshot.table
    }

    /// A random sample of `people` people, before the first release; `None` if there are no more people than that.
    pub(super) fn sample(&self, people: usize) -> Option<Ingredients> {
        let is_large = self.history.releases == 0 && self.table().len() > people;
        is_large.then(|| Ingredients {
            history: self.history.clone(),
            last: None,
            snapshot: Snapshot {
                table: self.table().first(people),
                notes: Vec::new(),
                digest: self.snapshot.digest.clone(),
                rows: people as u64,
            },
            on_disk: None,
            source: self.source.clone(),
        })
    }

    /// Notes about the input.
    pub fn notes(&self) -> &[String] {
        &self.snapshot.notes
    }
}

/// The next release that is wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct NextRelease<'a> {
    /// The policy to use, for what-if questions; by default that of the project.
    pub policy: Option<&'a PolicyFile>,
    /// The view, under a promise about views.
    pub view: Option<&'a str>,
    /// Its label; by default its number.
    pub label: Option<&'a str>,
}

/// A release that could be published now. Nothing is written yet.
#[derive(Debug)]
pub struct Rehearsal {
    /// The release, judged.
    pub prepared: Prepared,
    /// How much less the release says than the snapshot.
    pub loss: Loss,
    /// How far random count queries are off, once measured.
    pub query_error: Option<QueryError>,
    /// How far simple counts are off, once measured.
    pub count_errors: Option<CountErrors>,
    /// Warnings for the steward, each with a code. Private.
    pub warnings: Vec<String>,
    /// The keyed digest of the input that the ledger will have.
    pub source: String,
    /// The hash of the ledger's last line.
    pub ledger_head: String,
    /// Who approved the plan that it is made from.
    pub approval: Option<Approval>,
    /// Everyone after the release, if they are on disk.
    next: NextPeople,
}

impl Rehearsal {
    /// Compares a thousand random count queries, and simple counts, with the snapshot.
    pub fn measure_queries(&mut self, file: &PolicyFile, material: &Ingredients) {
        self.query_error = Some(self.query_error(file, material));
        if let Promised::Series(_) = &file.promise {
            let Prepared { release, schema, .. } = &self.prepared;
            self.count_errors = Some(count_errors(release, schema, material.table(), &mut Rng::from_number(1)));
        }
    }

    /// How far counts of one column are off, in the middle: the number of [`Rehearsal::measure_queries`], without the others.
    pub fn count_error_of_one(&self, material: &Ingredients) -> f64 {
        let Prepared { release, schema, .. } = &self.prepared;
        count_error_of_one(release, schema, material.table(), &mut Rng::from_number(1))
    }

    /// How far a thousand random count queries are off.
    pub(super) fn query_error(&self, file: &PolicyFile, material: &Ingredients) -> QueryError {
        let mut rng = Rng::from_number(1);
        let Prepared { release, schema, .. } = &self.prepared;
        match &file.promise {
            Promised::Series(_) => query_error(release, schema, material.table(), &Workload::default(), &mut rng),
            Promised::Views(_) => {
                let table = narrow(material.table(), &file.schema, schema);
                query_error(release, schema, &table, &Workload::default(), &mut rng)
            }
        }
    }

    /// A view next to the data as they are, plain k-anonymity, and the view without its join columns.
    pub fn compared(&self, file: &PolicyFile, material: &Ingredients) -> Option<ComparisonReport> {
        let schema = &self.prepared.schema;
        let (views, view) = file.views().zip(self.prepared.view())?;
        Some(ComparisonReport::of(views, view, schema, &narrow(material.table(), &file.schema, schema)))
    }

    /// What the next releases will need, if the table continues to change as it just did.
    pub fn forecast(&self, file: &PolicyFile, material: &Ingredients) -> Option<ForecastReport> {
        forecast(file, material, self, None)
    }

    /// The same if this share of the people left, and as many arrived, each time.
    pub fn forecast_if(&self, churn: f64, file: &PolicyFile, material: &Ingredients) -> Option<ForecastReport> {
        forecast(file, material, self, Some(churn))
    }

    /// A digest of everything public about the release.
    pub fn release_digest(&self) -> String {
        self.prepared.release.digest()
    }
}

/// A judged release, with results for its steward. Private, except for the release.
#[derive(Debug)]
pub struct Judged {
    /// The release.
    pub release: Release,
    /// How many rows of the snapshot were left out of it.
    pub withheld: usize,
    /// Arrivals, departures and changes.
    pub change: Change,
    /// What a study mode breaks on made-up data; always empty for real data.
    pub findings: Vec<Finding>,
    /// How much less the release says than the snapshot.
    pub loss: Loss,
    /// Warnings for the steward, each with a code.
    pub warnings: Vec<String>,
}

impl Judged {
    /// Separates a release from the history after it.
    pub(super) fn of(prepared: Prepared, loss: Loss, warnings: Vec<String>) -> (Judged, History) {
        let findings = prepared.findings().to_vec();
        let withheld = prepared.membership.withheld.len();
        let Prepared { release, change, history, .. } = prepared;
        (Judged { release, withheld, change, findings, loss, warnings }, history)
    }
}

impl From<Rehearsal> for Judged {
    fn from(rehearsal: Rehearsal) -> Judged {
        Judged::of(rehearsal.prepared, rehearsal.loss, rehearsal.warnings).0
    }
}

/// A release that was published.
#[derive(Clone, Debug)]
pub struct PublishedRelease {
    /// Its number.
    pub number: u32,
    /// Where it is.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<String>,
    /// The backup of the state before it, if one was asked for.
    pub backup: Option<PathBuf>,
}

impl Project {
    /// Opens the project in `root`. `policy_path` is the policy file, `tacenda.toml` in `root` if not given.
    /// A vault that is encrypted stays closed, and a new one is not encrypted.
    pub fn open(root: &Path, policy_path: Option<&Path>, access: Access) -> Result<Project, ProjectError> {
        Project::open_on(Machine::default(), root, policy_path, access)
    }

    /// The same with a disk and clock of the caller's choice. The policy file is still read from the file system.
    pub fn open_on(
        machine: Machine,
        root: &Path,
        policy_path: Option<&Path>,
        access: Access,
    ) -> Result<Project, ProjectError> {
        let policy_path = policy_path.map_or_else(|| root.join(POLICY_FILE), Path::to_path_buf);
        let loaded = ingest::read_policy(&policy_path)?;
        // A vault without its ledger is damage, not a new project. Opening the store reports that.
        let own = root.join(".tacenda");
        let is_there = |name: &str| {
            let path = own.join(name);
            machine.disk.exists(&path).map_err(|error| LedgerError::disk("read", &path, error))
        };
        let exists = is_there("ledger.jsonl")? || is_there("vault")?;
        let (disk, closed) = match unsealed(Arc::clone(&machine.disk), root, machine.keys.as_ref()) {
            // An auditor looks at what left, with or without the keys.
            Err(error) if access == Access::Look && error.leaves_vault_closed() => {
                (Arc::clone(&machine.disk), Some(error))
            }
            opened => (opened?, None),
        };
        let store = match access {
            Access::Look if !exists => None,
            Access::Look => Some(Store::open_look(disk, root)?),
            Access::Rehearse | Access::Publish if !exists => Some(create_store(&machine, root, &loaded)?),
            Access::Rehearse => Some(Store::open_read(disk, root)?),
            Access::Publish => Some(Store::open_write(disk, root)?),
        };
        // Nothing that is made with this seed is published, and the same question gives the same answer twice.
        if access == Access::Publish {
            ignore_private(&*machine.disk, root)?;
        }
        let (throwaway, amended) = (Seed([0; 32]), Amended::default());
        let (root, people_per_file) = (root.to_path_buf(), None);
        let mut project = Project {
            root,
            machine,
            loaded,
            store,
            amended,
            throwaway,
            closed,
            policy_path,
            backup: None,
            people_per_file,
        };
        project.continue_policy()?;
        Ok(project)
    }

    /// Compares the ledger with its anchor. With `accepted`, a ledger behind its anchor continues, and the reason goes
    /// into the ledger.
    pub fn hold_against(
        &mut self,
        anchors: &Anchors,
        access: Access,
        accepted: Option<&str>,
    ) -> Result<(), ProjectError> {
        let now = (self.machine.clock)();
        if access == Access::Publish && accepted.is_some() {
            // The reason becomes a signed line, and lines stay for ever.
            self.assert_signer()?;
        }
        match (&mut self.store, access) {
            (Some(store), Access::Publish) => {
                store.hold_against(anchors, &now, accepted)?;
                self.erase_again()
            }
            (Some(store), Access::Rehearse) if accepted.is_none() => Ok(store.compare_with(anchors)?),
            _ => Ok(()),
        }
    }

    /// Writes a backup of the state before each release, right before that is committed. It takes the place of the one that the
    /// policy file asks for.
    pub fn back_up_to(&mut self, file: &Path) {
        self.backup = Some(file.into());
    }

    /// Refuses to go on where a release folder is not what the ledger says was published.
    pub fn assert_as_published(&self) -> Result<(), ProjectError> {
        Ok(self.store.as_ref().map_or(Ok(()), |store| store.vouch_all(folder::SUMS))?)
    }

    /// Refuses a release whose backup cannot be written, as far as that is known before.
    pub fn assert_backup(&self) -> Result<(), ProjectError> {
        self.backup_file().map(drop)
    }

    /// The file for the backup before the next release, if one is asked for.
    fn backup_file(&self) -> Result<Option<PathBuf>, ProjectError> {
        let file = match (&self.backup, &self.loaded.policy.series.backup, &self.store) {
            (Some(file), _, _) => file.clone(),
            (None, Some(rule), Some(store)) => file_by(rule, store)?,
            _ => return Ok(None),
        };
        if self.machine.keys.is_none() {
            let why = "it is encrypted, and there is no folder for keys; --keys names one".into();
            return Err(ProjectError::NoBackup { place: file, why });
        }
        Ok(Some(file))
    }

    /// Writes the backup that is asked for, and removes those that are too old by the policy file.
    fn back_up(&self) -> Result<Option<PathBuf>, ProjectError> {
        let file = self.backup_file()?;
        if let (Some(file), Some(store), Some(keys)) = (&file, &self.store, &self.machine.keys) {
            back_up(store, &*self.machine.disk, keys, &self.policy_path, file)?;
            let rule = self.loaded.policy.series.backup.as_ref().filter(|_| self.backup.is_none());
            rule.map_or(Ok(()), |rule| rotate(rule, store))?;
        }
        Ok(file)
    }

    /// Refuses to go on where the vault stayed closed.
    pub fn need_vault(&mut self) -> Result<(), KeyError> {
        self.closed.take().map_or(Ok(()), Err)
    }

    /// Signs releases and ledger lines from now on.
    pub fn sign_with(&mut self, signer: Signer) {
        if let Some(store) = &mut self.store {
            store.sign_with(Arc::new(signer));
        }
    }

    /// The key that signs releases, if there is one.
    pub fn signer(&self) -> Option<&Arc<Signer>> {
        self.store.as_ref().and_then(Store::signer)
    }

    /// Refuses a release that the policy's rules on signatures do not allow.
    pub fn assert_signatures(&self, approval: Option<&Approval>) -> Result<(), KeyError> {
        assert_rules(&self.loaded.policy.series.signatures, self.signer().map(Arc::as_ref), approval)
    }

    /// Refuses a signer that the policy does not list.
    pub fn assert_signer(&self) -> Result<(), KeyError> {
        signed::assert_signer(&self.loaded.policy.series.signatures, self.signer().map(Arc::as_ref))
    }

    /// The project folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The policy file.
    pub fn policy(&self) -> &PolicyFile {
        &self.loaded.policy
    }

    /// The SHA-256 of the policy file and its hierarchies.
    pub fn policy_digest(&self) -> &str {
        &self.loaded.digest
    }

    /// Remarks about the policy that are no faults.
    pub fn policy_notes(&self) -> &[String] {
        &self.loaded.notes
    }

    /// The ledger and the vault, if there are any yet.
    pub fn store(&self) -> Option<&Store> {
        self.store.as_ref()
    }

    /// The hash of the ledger's last line; empty if there is no ledger yet.
    pub fn ledger_head(&self) -> &str {
        self.store.as_ref().map_or("", Store::head)
    }

    /// The releases so far.
    pub fn publications(&self) -> Vec<&Publication> {
        self.store.iter().flat_map(Store::publications).collect()
    }

    /// The number of progress steps of [`Project::material`].
    pub const MATERIAL_STEPS: usize = 2;
    /// The number of progress steps of [`Project::rehearse`].
    pub const REHEARSE_STEPS: usize = 2;
    /// The number of progress steps of [`Project::publish`].
    pub const PUBLISH_STEPS: usize = 2;

    /// Loads the past and reads a table. `step` is called with the name of each step.
    pub fn material(&self, input: Input, step: &dyn Fn(&str)) -> Result<Ingredients, ProjectError> {
        let Input { table, delta, show_values, memory, threads } = input;
        let input = Opened { source: table.open()?, delta, memory, options: ReadOptions { show_values, threads } };
        let why =
            "tacenda check and plan compare many releases, so they need it in memory; tacenda publish may do without";
        if let Some(allowed) = memory {
            let needed = ingest::row_count(&input.source)?.saturating_mul(BYTES_PER_ROW);
            if needed > allowed {
                let why = self.why_in_memory(&input).unwrap_or(why);
                return Err(ProjectError::OnlyInMemory { needed, allowed, why });
            }
        }
        self.read_into_memory(input, step)
    }

    /// The same, to publish it next. If the table needs more memory than is allowed, or than is free, its people are kept on
    /// disk, where the promise can be kept that way.
    pub fn material_within(&self, input: Input, step: &dyn Fn(&str)) -> Result<Ingredients, ProjectError> {
        let Input { table, delta, show_values, memory, threads } = input;
        let input = Opened { source: table.open()?, delta, memory, options: ReadOptions { show_values, threads } };
        let rows = ingest::row_count(&input.source)?;
        let needed = rows.saturating_mul(BYTES_PER_ROW);
        let allowed = match (memory, self.people_per_file) {
            (_, Some(_)) => u64::MAX,
            (Some(allowed), None) => allowed,
            (None, None) => return self.material_by_itself(input, rows, step),
        };
        if needed <= allowed && self.people_per_file.is_none() {
            return self.read_into_memory(input, step);
        }
        if let Some(why) = self.why_in_memory(&input) {
            return Err(ProjectError::OnlyInMemory { needed, allowed, why });
        }
        let needed = self.needed_on_disk(rows);
        if needed > allowed {
            return Err(ProjectError::Memory { needed, allowed });
        }
        self.read_onto_disk(&input, rows, "the table needs more memory than --memory allows", step)
    }

    /// The same if nothing is said about memory: the way is chosen by what is free. It is only an estimate, so it refuses
    /// nothing.
    fn material_by_itself(&self, input: Opened, rows: u64, step: &dyn Fn(&str)) -> Result<Ingredients, ProjectError> {
        let needed = rows.saturating_mul(BYTES_PER_ROW);
        let free = (self.machine.free_memory)().map(|free| free / FREE_SHARE.1 * FREE_SHARE.0);
        let Some(free) = free.filter(|&free| needed > free) else { return self.read_into_memory(input, step) };
        let Some(why) = self.why_in_memory(&input) else {
            return self.read_onto_disk(&input, rows, "the table needs more memory than is free", step);
        };
        let mut material = self.read_into_memory(input, step)?;
        let (needed, free) = (needed >> 20, free >> 20);
        let note = format!(
            "the table needs about {needed} MB of memory, and about {free} MB can be used; it cannot be published from disk: {why}"
        );
        material.snapshot.notes.push(note);
        Ok(material)
    }

    /// How many bytes of memory so many people on disk are expected to need.
    fn needed_on_disk(&self, rows: u64) -> u64 {
        let PolicyFile { schema, promise, output, .. } = &self.loaded.policy;
        let is_first = self.store.as_ref().is_none_or(|store| store.releases() == 0);
        let by_units =
            matches!(promise, Promised::Series(one) if matches!(one.inner().disk_form(), Some(DiskForm::Units(_))));
        if !is_first || !by_units {
            return rows.saturating_mul(BYTES_PER_ROW_ON_DISK) + BYTES_ON_DISK;
        }
        let least = u64::from(self.loaded.policy.terms().least_group.max(1));
        let of_group = BYTES_PER_GROUP_OF_FIRST + BYTES_PER_SPAN_OF_FIRST * schema.quasi.len() as u64;
        let linked = if output.linked_ids { 8 } else { 0 };
        let public = if schema.public.is_empty() { 0 } else { 4 };
        rows.saturating_mul(BYTES_PER_ROW_OF_FIRST + linked + public + of_group.div_ceil(least)) + BYTES_OF_FIRST
    }

    /// Why the people of an input must be in memory; `None` if they need not be.
    fn why_in_memory(&self, input: &Opened) -> Option<&'static str> {
        let PolicyFile { schema, promise, .. } = &self.loaded.policy;
        match promise {
            Promised::Series(promise) if promise.inner().disk_form().is_none() => {
                Some("its promise forms groups of everyone at once")
            }
            Promised::Views(_) => Some("a view is specialised with everyone in memory"),
            Promised::Series(_) if input.delta => Some("a delta is applied in memory; give the whole table"),
            Promised::Series(_) if schema.person.rule != RowRule::One => {
                Some("people with several rows are put together in memory")
            }
            Promised::Series(_) => None,
        }
    }

    /// Reads a table onto the disk.
    fn read_onto_disk(
        &self,
        input: &Opened,
        rows: u64,
        because: &str,
        step: &dyn Fn(&str),
    ) -> Result<Ingredients, ProjectError> {
        let store = self.store.as_ref().expect("a project opened for publishing has a store");
        let schema = &self.loaded.policy.schema;
        let key = self.seed().key("identifier");
        let form = match &self.loaded.policy.promise {
            Promised::Series(promise) => promise.inner().disk_form(),
            Promised::Views(_) => None,
        };
        let form = form.expect("other promises are refused before reading");
        let plan = on_disk::Plan {
            store,
            schema,
            key,
            options: input.options,
            per_file: self.people_per_file.unwrap_or(PEOPLE_PER_FILE),
            amended: &self.amended,
            form,
            allowed: input.memory.unwrap_or(u64::MAX),
        };
        let (history, mut snapshot, on_disk) = OnDisk::read(&plan, &input.source, rows, step)?;
        snapshot.notes.extend(self.amended.notes());
        let others: Vec<(usize, u32)> =
            schema.quasi.iter().enumerate().filter_map(|(at, quasi)| Some((at, quasi.other()?))).collect();
        let rows = on_disk.rows_with(schema, &others)?;
        let noted = others.iter().zip(rows).filter_map(|(&(at, _), rows)| as_other(&schema.quasi[at], rows));
        snapshot.notes.extend(noted);
        snapshot.notes.push(format!("the people were kept on disk, because {because}"));
        Ok(Ingredients { history, last: None, snapshot, on_disk: Some(on_disk), source: None })
    }

    /// Keeps people on disk from now on even if memory would do, this many in a file, and in the files of the vault. No
    /// release depends on it.
    pub fn keep_on_disk(&mut self, people_per_file: usize) {
        self.people_per_file = Some(people_per_file.max(1));
        self.store.iter_mut().for_each(|store| store.set_people_per_part(people_per_file));
    }

    fn read_into_memory(&self, input: Opened, step: &dyn Fn(&str)) -> Result<Ingredients, ProjectError> {
        let Opened { source, delta, memory, options } = input;
        let source = source.at_most(memory.map(most_rows));
        step("remembering");
        let (history, last) = self.past()?;
        step("reading");
        let past = Before { history: &history, snapshot: last.as_ref() };
        let schema = &self.loaded.policy.schema;
        let read = read(&source, delta, schema, self.seed(), past, &options);
        let mut snapshot = read.map_err(|error| match (error, memory) {
            (ProjectError::Ingest(IngestError::TooManyRows { rows, .. }), Some(allowed)) => memory_for(rows, allowed),
            (other, _) => other,
        })?;
        self.amended.stay(schema, &mut snapshot.table, last.as_ref(), &history);
        snapshot.notes.extend(self.amended.notes());
        snapshot.notes.extend(read_as_other(schema, &snapshot.table));
        assert_fits(snapshot.table.len() as u64, memory)?;
        Ok(Ingredients { history, last, snapshot, on_disk: None, source: None })
    }

    /// The release with this label that was made from the table with the digest `input`. Then the plan was already
    /// published.
    pub fn published_with(&self, label: &str, input: &str) -> Option<u32> {
        let is_it = |one: &&Publication| one.label == label && one.input.as_deref() == Some(input);
        self.publications().into_iter().find(is_it).map(|publication| publication.number)
    }

    /// Keeps the table in the vault for a plan. Returns the files and their keyed digests.
    pub fn keep_planned(&self, material: &Ingredients) -> Result<BTreeMap<String, String>, ProjectError> {
        let store = self.store.as_ref().expect("a project opened for rehearsing has a store");
        // The name of a file tells nobody which table it is of. No release has the number 0.
        let name = self.source_of(0, &material.snapshot.digest);
        Ok(store.keep_planned(&name[..16], material.table())?)
    }

    /// The same as [`Project::material`], with the table that a plan kept. `source` is the keyed digest of the input it was
    /// read from, and `notes` are what was concluded about that.
    pub fn planned_material(
        &self,
        kept: &BTreeMap<String, String>,
        source: &str,
        notes: &[String],
        step: &dyn Fn(&str),
    ) -> Result<Ingredients, ProjectError> {
        step("remembering");
        let (history, last) = self.past()?;
        step("reading");
        let store = self.store.as_ref().expect("a project opened for publishing has a store");
        let table = store.planned(kept)?;
        let rows = table.len() as u64;
        let snapshot = Snapshot { table, notes: notes.to_vec(), digest: String::new(), rows };
        Ok(Ingredients { history, last, snapshot, on_disk: None, source: Some(source.into()) })
    }

    /// The release that was already made from this material under this label, or as the last one if no label is given.
    /// Another table under a used label is an error.
    pub fn published_from(&self, material: &Ingredients, wanted: NextRelease<'_>) -> Result<Option<u32>, ProjectError> {
        let publications = self.publications();
        let labelled = |label| publications.iter().find(|publication| publication.label == label);
        let found = wanted.label.map_or_else(|| publications.last(), labelled);
        let Some(publication) = found else { return Ok(None) };
        let number = publication.number;
        // The same file is the same table, even if its values or people are read in another way since.
        let digest = &material.snapshot.digest;
        let is_file = !digest.is_empty() && publication.source.as_ref() == Some(&self.source_of(number, digest));
        let is_same = match &publication.input {
            _ if is_file && wanted.label.is_some() => true,
            Some(input) if *input == self.input_of_material(number, material)? => true,
            Some(input) => {
                let in_memory = material.on_disk.is_none().then(|| material.table());
                let then =
                    in_memory.and_then(|table| self.amended.as_read_for(number, &self.loaded.policy.schema, table));
                then.is_some_and(|table| *input == self.input_of(number, &table))
            }
            // Ledger lines of earlier versions have no digest, but the vault has the last table.
            None => number == material.history.releases && material.last.as_ref() == Some(material.table()),
        };
        let view = publication.view.as_ref().map(|view| view.name.as_str());
        match (is_same && view == wanted.view, wanted.label) {
            (true, _) => Ok(Some(number)),
            (false, None) => Ok(None),
            (false, Some(label)) => Err(ProjectError::OtherData { label: label.into(), number }),
        }
    }

    /// The keyed digest of a release's table in the ledger.
    pub fn input_of(&self, release: u32, table: &Table) -> String {
        input_digest(self.seed(), release, &self.loaded.policy.schema, table)
    }

    /// The same for people in memory or on disk.
    fn input_of_material(&self, release: u32, material: &Ingredients) -> Result<String, ProjectError> {
        let Some(on_disk) = &material.on_disk else { return Ok(self.input_of(release, material.table())) };
        let schema = &self.loaded.policy.schema;
        let naming = Naming::new(self.seed(), release, schema);
        let mut hasher = naming.hasher();
        let name = |attribute: usize, code: u32| naming.name(attribute, code);
        on_disk.feed(schema.quasi.len(), name, &mut |bytes| {
            hasher.update(bytes);
        })?;
        Ok(hasher.finalize().to_hex().to_string())
    }

    /// The keyed digest of an input's bytes in the ledger. `digest` is their SHA-256.
    fn source_of(&self, release: u32, digest: &str) -> String {
        let key = self.seed().key("source");
        blake3::keyed_hash(&key, format!("{release} {digest}").as_bytes()).to_hex().to_string()
    }

    /// The release with this label, if it was made from a delta file with these bytes. A delta cannot be applied twice,
    /// because its people are already there. Another delta under a used label is an error.
    pub fn changed_by(&self, label: &str, digest: &str) -> Result<Option<u32>, ProjectError> {
        let publications = self.publications();
        let Some(publication) = publications.iter().find(|one| one.label == label) else { return Ok(None) };
        let number = publication.number;
        match publication.source.as_ref() == Some(&self.source_of(number, digest)) {
            true => Ok(Some(number)),
            false => Err(ProjectError::OtherData { label: label.into(), number }),
        }
    }

    /// Whether a release was made from this table.
    pub(super) fn was_made_from(&self, publication: &Publication, table: &Table) -> bool {
        publication.input.as_ref().is_some_and(|input| *input == self.input_of(publication.number, table))
    }

    /// Makes the next release and lets the auditor judge it.
    pub fn rehearse(
        &self,
        material: &Ingredients,
        wanted: NextRelease<'_>,
        step: &dyn Fn(&str),
    ) -> Result<Rehearsal, ProjectError> {
        let file = wanted.policy.unwrap_or(&self.loaded.policy);
        let before = Before { history: &material.history, snapshot: material.last.as_ref() };
        let label = || self.unused_label(wanted.label, material.history.releases + 1);
        let mut next = NextPeople::default();
        let (prepared, warnings) = match (&file.promise, wanted.view) {
            (Promised::Series(promise), None) if material.on_disk.is_some() => {
                let (prepared, people, warnings) = self.prepare_on_disk(file, promise, material, &label()?, step)?;
                next = people;
                (prepared, warnings)
            }
            (Promised::Series(promise), None) => {
                let label = label()?;
                step("grouping and judging");
                let prepared = prepare(file, promise.inner(), self.seed(), before, material.table(), &label)?;
                let last = material.last.as_ref();
                let warnings = promise.inner().warnings(&file.schema, material.table(), &prepared.release, last);
                (prepared, warnings)
            }
            (Promised::Views(views), Some(view)) => {
                let label = label()?;
                step("specialising and judging");
                let setting = self.setting(file, views, material, view)?;
                (prepare_setting(&setting, self.seed(), before, material.table(), &label)?, Vec::new())
            }
            (Promised::Series(_), Some(_)) => return Err(without_views()),
            (Promised::Views(views), None) => {
                let known: Vec<&str> = views.own().map(|view| view.name.as_str()).collect();
                return Err(ProjectError::NeedsView { known: known.join(", ") });
            }
        };
        if file.output.spreadsheet_safe {
            formulas::refuse(&prepared.schema, &prepared.release)?;
        }
        step("measuring");
        let unkept = || self.source_of(prepared.release.number, &material.snapshot.digest);
        let source = material.source.clone().unwrap_or_else(unkept);
        Ok(Rehearsal {
            loss: loss(&prepared.release, &prepared.schema, file.terms().least_group),
            prepared,
            query_error: None,
            count_errors: None,
            warnings,
            source,
            ledger_head: self.store.as_ref().map_or("", Store::head).to_string(),
            approval: None,
            next,
        })
    }

    fn prepare_on_disk(
        &self,
        file: &PolicyFile,
        promise: &SeriesPromise,
        material: &Ingredients,
        label: &str,
        step: &dyn Fn(&str),
    ) -> Result<(Prepared, NextPeople, Vec<String>), ProjectError> {
        let form = promise.inner().disk_form().expect("other promises are refused before reading");
        let making = Making {
            file,
            promise,
            form,
            store: self.store.as_ref().expect("a project opened for publishing has a store"),
            seed: self.seed(),
            history: &material.history,
            on_disk: material.on_disk.as_ref().expect("the people are on disk"),
            label,
        };
        let (prepared, next) = on_disk::prepare(&making, step)?;
        let warnings = match form {
            DiskForm::Seats(kernel) => making.seat_warnings(kernel, &prepared.release)?,
            DiskForm::Units(kernel) => {
                let asked = kernel.counted_for_warnings(&file.schema);
                let counted = making.on_disk.rows_with(&file.schema, &asked)?;
                kernel.warnings(&file.schema, &prepared.release, &counted, making.on_disk.people())
            }
        };
        Ok((prepared, next, warnings))
    }

    /// What a steward should know about a view before it is made: its requirements, and whether they are meaningful,
    /// can be met, and concern the same people.
    pub fn explain_view(&self, material: &Ingredients, view: &str) -> Result<Vec<String>, ProjectError> {
        let file = &self.loaded.policy;
        let views = file.views().ok_or_else(without_views)?;
        Ok(self.setting(file, views, material, view)?.explain())
    }

    fn setting<'f>(
        &self,
        file: &'f PolicyFile,
        views: &'f Views,
        material: &Ingredients,
        view: &str,
    ) -> Result<Setting<'f>, ProjectError> {
        let named = publishable(views, material, view)?;
        let taken = adopted::read(file, views, &material.history.views, material.table())?;
        let new = NewView { schema: &file.schema, views, named };
        let setting = Setting::new(new, &material.history, &taken.views, material.table());
        Ok(setting.noting(taken.notes))
    }

    /// Publishes a rehearsal. The release folder is complete or absent, whatever happens.
    pub fn publish(
        &mut self,
        material: &Ingredients,
        rehearsal: &Rehearsal,
        step: &dyn Fn(&str),
    ) -> Result<PublishedRelease, ProjectError> {
        let prepared = &rehearsal.prepared;
        assert_reason(&self.loaded.policy, prepared)?;
        self.assert_signatures(rehearsal.approval.as_ref())?;
        let release = &prepared.release;
        let mut facts = self.manifest_facts(rehearsal);
        let told = self
            .store
            .iter()
            .flat_map(|store| series::adopted(store).into_iter().chain(retract::told(store)))
            .collect();
        let page = page(&self.loaded.policy, prepared, &facts.software, &self.loaded.digest, told);
        // The manifest lists it with its digest.
        facts.more_files.push((REPORT.into(), page));
        facts.more_files.extend(self.signer().map(|signer| introduction(signer)));
        let canonical = self.remembered().write();
        let input = self.input_of_material(release.number, material)?;
        let source = rehearsal.source.clone();
        let store = self.store.as_mut().expect("a project opened for publishing has a store");
        step("writing");
        let staging = store.stage(release.number)?;
        let issue = Issue { release, schema: &prepared.schema, policy: &self.loaded.policy };
        let written = write_staged(&staging, &issue, &facts)?;
        let mut files: Vec<String> = written.iter().map(|file| file.name.clone()).collect();
        if let Some(signer) = store.signer() {
            files.extend(sign_staged(&staging, signer, &written, (store.series(), release), &facts)?);
        }
        let backup = self.back_up()?;
        step("committing");
        let schema = &self.loaded.policy.schema;
        let on_disk = material.on_disk.as_ref();
        let everyone = on_disk.map(|on_disk| Everyone { on_disk, next: &rehearsal.next, schema });
        let amended = self.amended.lines();
        let commit = Commit {
            label: &release.label,
            promise: StatedPromise::of(&self.loaded.policy.first_promise()).to_json(),
            numbers: LineNumbers::of(release),
            policy_digest: &self.loaded.digest,
            policy_canonical: &canonical,
            input: Some(input),
            source: Some(source),
            history: &prepared.history,
            snapshot: material.table(),
            people: everyone.as_ref().map(|everyone| everyone as &dyn People),
            adopted: false,
            amended,
            approved: rehearsal.approval.clone(),
            at: &(self.machine.clock)(),
        };
        let store = self.store.as_mut().expect("a project opened for publishing has a store");
        store.commit(staging, commit)?;
        // This comes after the release. If it fails, the next release does it.
        if let Some(text) = facts.erratum.filter(|_| !erratum::is_written(store)) {
            store.correct(&(self.machine.clock)(), &text)?;
        }
        let folder = store.release_folder(release.number);
        Ok(PublishedRelease { number: release.number, folder, files, backup })
    }

    /// Everything published so far, read back from its folders.
    pub fn published(
        &self,
        tables: PrivateTables,
        step: &(dyn Fn(&str) + Sync),
    ) -> Result<PublishedSeries, ProjectError> {
        series::read(self, tables, step)
    }

    /// The report on everything published so far.
    pub fn report(&self, request: ReportRequest, step: &(dyn Fn(&str) + Sync)) -> Result<Report, ProjectError> {
        series_report(self, request, step)
    }

    /// The remembered part of the policy.
    pub(super) fn remembered(&self) -> Remembered {
        Remembered::of(&self.loaded.policy).with_added(self.amended.added().clone())
    }

    /// Keeps people of a table at `other` if they were there before (see [`Amended::stay`]).
    pub(super) fn stay(&self, table: &mut Table, last: Option<&Table>, history: &History) {
        self.amended.stay(&self.loaded.policy.schema, table, last, history);
    }

    /// Refuses a label that a release of the series has.
    pub fn assert_unused(&self, label: &str) -> Result<(), ProjectError> {
        self.unused_label(Some(label), self.store.as_ref().map_or(0, Store::releases) + 1).map(drop)
    }

    /// The label, if no release of the series has it.
    pub(super) fn unused_label(&self, label: Option<&str>, number: u32) -> Result<String, ProjectError> {
        let used = self.store.iter().flat_map(Store::publications);
        free_label(label, number, used.map(|publication| (publication.number, publication.label.as_str())))
    }

    /// Everything published, and the last snapshot.
    pub(super) fn past(&self) -> Result<(History, Option<Table>), ProjectError> {
        let history = self.store.as_ref().map_or(Ok(History::default()), Store::history)?;
        let last = self.store.as_ref().map_or(Ok(None), Store::snapshot)?;
        Ok(self.amended.recode(history, last))
    }

    /// Now, as text.
    pub(super) fn now(&self) -> String {
        (self.machine.clock)()
    }

    /// Where the table comes from and where releases are delivered.
    pub fn databases(&self) -> &Databases {
        &self.loaded.databases
    }

    /// The hash of the ledger's last line that changed the series. Deliveries do not, so a plan outlives them.
    pub fn series_head(&self) -> &str {
        let events = self.store.as_ref().map_or(&[][..], Store::events);
        let changed = events.iter().rev().find(|event| !matches!(event.what, What::Deliver(_)));
        changed.map_or("", |event| &event.hash)
    }

    /// The ledger and the vault, to be written.
    pub(crate) fn store_mut(&mut self) -> &mut Store {
        self.store.as_mut().expect("a project opened for publishing has a store")
    }

    pub(super) fn seed(&self) -> &Seed {
        self.store.as_ref().and_then(|store| store.seed().ok()).unwrap_or(&self.throwaway)
    }

    /// Between releases nothing may be loosened. Values that columns gained are recorded.
    fn continue_policy(&mut self) -> Result<(), ProjectError> {
        let Some(store) = &self.store else { return Ok(()) };
        if store.series() != self.loaded.policy.series.name {
            return Err(ProjectError::OtherSeries { ledger: store.series().to_string() });
        }
        if store.releases() == 0 {
            return Ok(());
        }
        let policy = &mut self.loaded.policy;
        if !store.has_vault() {
            // Whether the policy may follow is not checked, because nothing can be published from here.
            amend::take_published_order(store, policy);
            return Ok(());
        }
        let (_, last) = store.policy()?;
        let loosened = |why: String| ProjectError::Loosened { why };
        let mut last =
            Remembered::read(&last).ok_or_else(|| loosened("the policy of the last release cannot be read".into()))?;
        // Codes in the vault are known by their place, and a policy file may list its columns in any order.
        policy.sort_columns(&last.order());
        let amended = Amended::since(&mut last, store, policy);
        self.amended = amended.map_err(|why| loosened(format!("{why}: that needs a new series")))?;
        let next = Remembered::of(&self.loaded.policy);
        last.may_be_followed_by(&next).map_err(|looser| loosened(looser.to_string()))
    }

    fn manifest_facts(&self, rehearsal: &Rehearsal) -> ManifestFacts {
        let previous = self.publications().last().map(|publication| PreviousRelease {
            number: publication.number,
            label: publication.label.clone(),
            manifest_digest: publication.files.get(folder::MANIFEST).map_or(String::new(), |file| file.sha256.clone()),
        });
        ManifestFacts {
            previous,
            ledger_head: rehearsal.ledger_head.clone(),
            policy_digest: self.loaded.digest.clone(),
            loss: rehearsal.loss.to_json(),
            engine: ENGINE,
            erratum: self.store.as_ref().and_then(erratum::text),
            withdrawn: self.store.as_ref().and_then(retract::text),
            more_files: Vec::new(),
            signer: self.signer().map(|signer| signer.public().text().into()),
            software: software(),
            view: rehearsal.prepared.view().map(|view| view.name.clone()),
        }
    }
}

/// The digest of a table in the ledger. It is keyed and different for every release, so it reveals nothing.
fn input_digest(seed: &Seed, release: u32, schema: &Schema, table: &Table) -> String {
    let naming = Naming::new(seed, release, schema);
    let mut hasher = naming.hasher();
    table.feed(|attribute, code| naming.name(attribute, code), &mut |bytes| {
        hasher.update(bytes);
    });
    hasher.finalize().to_hex().to_string()
}

/// What codes are called in the digest of a table. They shift when columns gain values, so a number is hashed by its
/// value, a category by its label.
struct Naming<'a> {
    key: Zeroizing<[u8; 32]>,
    release: u32,
    schema: &'a Schema,
    labels: Vec<Vec<u64>>,
}

impl<'a> Naming<'a> {
    fn new(seed: &Seed, release: u32, schema: &'a Schema) -> Naming<'a> {
        let key = seed.key("input");
        let of_text = |text: &str| {
            let hash = blake3::keyed_hash(&key, text.as_bytes());
            u64::from_le_bytes(*hash.as_bytes().first_chunk().expect("it has 32 bytes"))
        };
        let labels = |quasi: &Quasi| -> Vec<u64> {
            let leaves = |tree: &Hierarchy| (0..tree.leaf_count()).map(|leaf| of_text(tree.leaf_label(leaf))).collect();
            quasi.hierarchy().map_or_else(Vec::new, leaves)
        };
        let labels = schema.quasi.iter().map(labels).collect();
        Naming { key, release, schema, labels }
    }

    fn hasher(&self) -> blake3::Hasher {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        hasher.update(&self.release.to_le_bytes());
        hasher
    }

    fn name(&self, attribute: usize, code: u32) -> u64 {
        match &self.schema.quasi[attribute].domain {
            Domain::Category(_) => self.labels[attribute][code as usize],
            Domain::Integer { lo, .. } | Domain::Real { lo, .. } | Domain::Date { lo, .. } => {
                let is_missing = self.schema.quasi[attribute].null() == Some(code);
                if is_missing { u64::MAX } else { (lo + i64::from(code)) as u64 }
            }
        }
    }
}

/// Notes how many rows have a value that is not listed, or `other` itself.
fn read_as_other(schema: &Schema, table: &Table) -> Vec<String> {
    let note = |(attribute, quasi): (usize, &Quasi)| {
        let other = quasi.other()?;
        as_other(quasi, table.quasi(attribute).iter().filter(|&&code| code == other).count() as u64)
    };
    schema.quasi.iter().enumerate().filter_map(note).collect()
}

pub(super) fn as_other(quasi: &Quasi, rows: u64) -> Option<String> {
    (rows > 0).then(|| format!("column {}: {} read as {OTHER}", quasi.name, counted(rows, "row is", "rows are")))
}

/// The view of that name, if it can be published now.
fn publishable<'f>(views: &'f Views, material: &Ingredients, view: &str) -> Result<&'f NamedView, ProjectError> {
    let names: Vec<&str> = views.own().map(|view| view.name.as_str()).collect();
    let bad = |what: String, way_out: String| ProjectError::BadView { what, way_out };
    let Some(named) = views.find(view) else {
        return Err(bad("there is no such view".into(), format!("one of {}", names.join(", "))));
    };
    if named.adopted.is_some() {
        return Err(bad(
            format!("view {view} was made elsewhere and is published already"),
            "name another view".into(),
        ));
    }
    if let Some(out) = material.history.views.iter().find(|out| out.name == view) {
        let what = format!("view {view} is published as release {}", out.release);
        return Err(bad(what, "a published view cannot be changed: name a new view".into()));
    }
    // Without pools everything is judged together, no matter who receives it.
    let has_more = |out: &&PastView| {
        let named = views.find(&out.name).map_or(&[][..], |named| &named.recipients);
        named.iter().any(|name| !out.recipients.contains(name))
    };
    if let Some(out) = material.history.views.iter().find(|out| !views.pools.is_empty() && has_more(out)) {
        let what =
            format!("view {} is published, and the policy file names recipients whom it did not go to", out.name);
        let way_out = "it was judged for its recipients: remove the new ones, name a new view for them, or remove pool";
        return Err(bad(what, way_out.into()));
    }
    Ok(named)
}

/// The error if a view is named but the policy has no views.
fn without_views() -> ProjectError {
    ProjectError::BadView { what: "this policy has no views".into(), way_out: "leave out --view".into() }
}

/// Reads a snapshot, or a delta onto the last one.
pub(super) fn read(
    source: &Source,
    delta: bool,
    schema: &Schema,
    seed: &Seed,
    past: Before<'_>,
    options: &ReadOptions,
) -> Result<Snapshot, ProjectError> {
    let key = seed.key("identifier");
    let values = &past.history.values;
    let mut snapshot = if delta {
        let no_column = vec![Vec::new(); schema.quasi.len()];
        let nobody = Table::new(Vec::new(), no_column, Vec::new(), values.clone(), Vec::new(), Vec::new());
        ingest::read_delta(source, schema, &key, past.snapshot.unwrap_or(&nobody), values, options)?
    } else {
        ingest::read_snapshot(source, schema, &key, values, options)?
    };
    let (table, left_out) = snapshot.table.without(&past.history.erased);
    snapshot.table = table;
    snapshot.notes.extend(erased_note(left_out));
    Ok(snapshot)
}

/// Says how many people of a table were left out because they are erased.
pub(super) fn erased_note(left_out: usize) -> Option<String> {
    let who = counted(left_out as u64, "person of this table is", "people of this table are");
    (left_out > 0).then(|| format!("{who} left out: erased from the series before"))
}

/// The label of the next release: as given, or its number; never one of those `used`.
pub(super) fn free_label<'a>(
    label: Option<&str>,
    number: u32,
    mut used: impl Iterator<Item = (u32, &'a str)>,
) -> Result<String, ProjectError> {
    let label = label.map_or_else(|| format!("r{number:04}"), str::to_string);
    // A label that looks like a number would be confused with a release's number.
    let own = label == format!("r{number:04}");
    if !own && label.trim_start_matches('r').bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(ProjectError::BadLabel);
    }
    let is_plain = |letter: char| letter.is_alphanumeric() || " ._-+:/".contains(letter);
    if label.is_empty() || label.len() > 100 || !label.chars().all(is_plain) {
        return Err(ProjectError::BadLabel);
    }
    match used.find(|(_, taken)| *taken == label) {
        Some((number, _)) => Err(ProjectError::LabelUsed { label, number }),
        None => Ok(label),
    }
}

/// Sets up ledger and vault with a fresh seed; where there are keys, the vault is encrypted with a fresh key.
fn create_store(machine: &Machine, root: &Path, loaded: &Loaded) -> Result<Store, ProjectError> {
    let series = &loaded.policy.series.name;
    machine.anchors.as_ref().map_or(Ok(()), |anchors| anchors.assert_new(root, series))?;
    let mut disk = Arc::clone(&machine.disk);
    let mut wrapped = None;
    if let Some(keys) = &machine.keys {
        let key = VaultKey::random()?;
        wrapped = Some(keys.wrap(&key)?);
        disk = Arc::new(SealedDisk::new(disk, key));
    }
    let new = NewProject {
        series,
        seed: random_seed()?,
        wrapped_key: wrapped.as_deref(),
        policy_digest: &loaded.digest,
        policy_canonical: &Remembered::of(&loaded.policy).write(),
        at: &(machine.clock)(),
    };
    Ok(Store::init(disk, root, new)?)
}

/// Keeps private files out of version control. The ledger may be shared, the files beside it may not.
fn ignore_private(disk: &dyn Disk, root: &Path) -> Result<(), ProjectError> {
    let ignored = root.join(".tacenda/.gitignore");
    let write = || {
        if disk.exists(&ignored)? {
            return Ok(());
        }
        let mut file = disk.create(&ignored)?;
        file.write_all(b"/vault*/\n/staging/\n/lock\n")?;
        file.sync_and_close()
    };
    Ok(write().map_err(|error| LedgerError::disk("write", &ignored, error))?)
}

/// A promise that holds per release only needs a reason for a second release; one that gives people away, for every one:
/// it may have been changed into such a promise after the first.
pub(super) fn assert_reason(file: &PolicyFile, prepared: &Prepared) -> Result<(), ProjectError> {
    let gives_away = matches!(&file.promise, Promised::Series(promise) if promise.inner().gives_people_away());
    if gives_away && file.reasons.accept_counterfeit.is_none() {
        return Err(ProjectError::GivesPeopleAway);
    }
    match (prepared.series_risk(), &file.reasons.accept_series_risk) {
        (Some(risk), None) => Err(ProjectError::NeedsReason { what: risk.to_string() }),
        _ => Ok(()),
    }
}

fn assert_fits(rows: u64, memory: Option<u64>) -> Result<(), ProjectError> {
    match memory {
        Some(allowed) if rows > most_rows(allowed) => Err(memory_for(rows, allowed)),
        _ => Ok(()),
    }
}

/// How many rows a table may have, if this much memory may be used.
pub(crate) fn most_rows(memory: u64) -> u64 {
    memory / BYTES_PER_ROW
}

/// The error for a table with too many rows.
pub(crate) fn memory_for(rows: u64, allowed: u64) -> ProjectError {
    ProjectError::Memory { needed: rows.saturating_mul(BYTES_PER_ROW), allowed }
}

/// A random seed.
pub(super) fn random_seed() -> Result<Seed, ProjectError> {
    let mut seed = Seed([0; 32]);
    getrandom::fill(&mut seed.0).map_err(|_| ProjectError::NoRandomness)?;
    Ok(seed)
}

/// Now, as text, to the second.
pub(crate) fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Whether a folder holds a project already.
pub fn is_project(root: &Path) -> bool {
    fs::exists(root.join(POLICY_FILE)).unwrap_or(false) || fs::exists(root.join(".tacenda")).unwrap_or(false)
}

impl From<LedgerError> for ProjectError {
    fn from(error: LedgerError) -> ProjectError {
        ProjectError::Ledger(error)
    }
}
