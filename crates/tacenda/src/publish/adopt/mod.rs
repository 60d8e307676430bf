//! Releases that were made elsewhere enter the ledger, and the series continues from them.
//!
//! With the private table of a release, every person is matched to a row of it ([`seats`]). The auditor judges it like
//! one of ours, and the history grows from it: value sets, regions, cohorts. What it revealed stays revealed, so the
//! policy file must give a reason for continuing. Without the private table nobody's value set is known: then only a
//! promise that holds per release can continue.

mod seats;
mod translate;

use crate::audit::k_anonymity::UNKNOWN_RELEASES;
use crate::audit::{Evidence, Finding, Traces};
use crate::ingest::foreign::{Ask, File, Foreign};
use crate::ingest::{ReadOptions, Source, foreign};
use crate::ledger::{Commit, LedgerError, LineNumbers, Publication, Staging};
use crate::model::{
    COUNTERFEITS, COUNTS, Grouping, History, PastGroups, Reader, Reading, Regions, Release, Schema, Scope, Table,
    Values,
};
use crate::promise::{Promised, SeriesPromise};
use crate::publish::adopt::seats::{Seating, seat};
use crate::publish::adopt::translate::translate;
pub(super) use crate::publish::adopt::translate::{ask, express};
use crate::publish::erase::leave_out;
use crate::publish::{Project, ProjectError, PublishError, PublishedRelease, project, published, rows_that_fit};
use crate::{folder, ingest};
use std::io;
use std::path::{Path, PathBuf};

/// A release that is to be adopted.
#[derive(Debug, Default)]
pub struct Foundling {
    /// The published file.
    pub file: PathBuf,
    /// The table it was made from, if that is known.
    pub truth: Option<Source>,
    /// The label of the release; by default the name of its file.
    pub label: Option<String>,
}

/// The same with the trees named as they are kept beside the data.
fn kept(reading: &Reading) -> Reading {
    let names = (1..).zip(reading.hierarchy.keys()).map(|(at, column)| (column.clone(), kept_hierarchy(at).into()));
    Reading { hierarchy: names.collect(), ..reading.clone() }
}

/// Whether a name ends like that of a file that stands beside the data.
fn ends_like_ours(name: &str) -> bool {
    [COUNTERFEITS, COUNTS, ".hierarchy.csv"].iter().any(|ending| name.ends_with(ending))
}

/// The name under which a tree is kept beside the data.
fn kept_hierarchy(at: usize) -> String {
    format!("{at}.hierarchy.csv")
}

/// A release that could be adopted now. Nothing is written yet.
#[derive(Debug)]
pub struct Adoption {
    /// The release, in our codes.
    pub release: Release,
    /// How it breaks the promise, by itself or together with earlier releases.
    pub findings: Vec<Finding>,
    /// How many people were found in it; `None` without the private table.
    pub people: Option<u64>,
    /// How many people of the private table are not in it.
    pub withheld: u64,
    /// How many people could be in more than one of its groups.
    pub ambiguous: u64,
    /// How many people can no longer be hidden, and will be withheld from every later release.
    pub exposed: u64,
    /// How many people of the private table were erased before. Nothing of them is kept.
    pub erased: u64,
    /// What was concluded about the file, one sentence each.
    pub notes: Vec<String>,
    /// The SHA-256 of the file as it was read.
    pub digest: String,
    /// The files to keep: the data, and the counts of counterfeits beside it.
    files: Vec<PathBuf>,
    /// How they were read.
    reading: Reading,
    history: History,
    snapshot: Table,
}

impl Project {
    /// Reads releases that were made elsewhere, finds their people, and lets the auditor judge them, one after another.
    pub fn consider(
        &self,
        foundlings: &[Foundling],
        reading: &Reading,
        options: &ReadOptions,
    ) -> Result<Vec<Adoption>, ProjectError> {
        if self.series_promise()?.terms().reader == Reader::Method {
            return Err(ProjectError::AdoptedUnderMethod);
        }
        let (mut history, last) = self.past()?;
        let mut snapshot = last.unwrap_or_else(|| nobody(&self.policy().schema, &history.values));
        let read = read(foundlings, &ask(&self.policy().schema, reading))?;
        let is_linked = read.releases.iter().any(|release| !release.linked.is_empty());
        let names_people = read.others.contains(&self.policy().schema.identifier);
        if is_linked && !self.policy().output.linked_ids || names_people {
            return Err(ProjectError::AdoptLinked);
        }
        let mut values = history.values.clone();
        values.extend(occurring(&read));
        let keeps_sets = self.policy().terms().keeps_value_sets;
        let mut left_out = 0;
        let mut adoptions = Vec::new();
        for (at, foundling) in foundlings.iter().enumerate() {
            let truth = foundling.truth.as_ref().map(|table| self.truth(table, &values, options)).transpose()?;
            if let Some(table) = &truth {
                values = table.values.clone();
            }
            let mut release = translate(&read, &self.policy().schema, &values)
                .map_err(|column| ProjectError::AdoptNotExpressed { column })?
                .swap_remove(at)
                .0;
            release.number = history.releases + 1;
            release.label = self.label(foundling, release.number, &adoptions)?;
            let known = Known { read: &read, at, foundling, reading };
            let mut adoption = match truth {
                Some(table) => self.judge(release, table, (&history, &snapshot), &known)?,
                None => self.take_unknown(release, &history, &snapshot, &values, &known)?,
            };
            left_out += adoption.leave_out_erased(keeps_sets, left_out > 0);
            history = adoption.history.clone();
            snapshot = adoption.snapshot.clone();
            adoptions.push(adoption);
        }
        self.assert_acceptable(&adoptions)?;
        Ok(adoptions)
    }

    /// Adopts releases in order, each atomically. The files are kept unchanged.
    pub fn adopt(&mut self, adoptions: &[Adoption]) -> Result<Vec<PublishedRelease>, ProjectError> {
        self.assert_signer()?;
        let promise = folder::StatedPromise::of(&self.policy().first_promise()).to_json();
        let (digest, canonical) = (self.policy_digest().to_string(), self.remembered().write());
        let mut outcomes = Vec::new();
        for adoption in adoptions {
            let store = self.store_mut();
            let release = &adoption.release;
            let staging = store.stage(release.number)?;
            let files = copy(&staging, adoption)?;
            let reading = kept(&adoption.reading);
            let codes = adoption.findings.iter().map(|finding| finding.fault.code().into());
            let numbers = LineNumbers {
                truth_known: Some(adoption.people.is_some()),
                findings: Some(codes.collect()),
                reading: Some(reading).filter(|reading| *reading != Reading::default()),
                ..LineNumbers::of(release)
            };
            let commit = Commit {
                label: &release.label,
                promise: promise.clone(),
                numbers,
                policy_digest: &digest,
                policy_canonical: &canonical,
                history: &adoption.history,
                snapshot: &adoption.snapshot,
                people: None,
                adopted: true,
                amended: Vec::new(),
                approved: None,
                input: None,
                source: None,
                at: &project::now(),
            };
            store.commit(staging, commit)?;
            outcomes.push(PublishedRelease {
                number: release.number,
                folder: store.release_folder(release.number),
                files,
                backup: None,
            });
        }
        Ok(outcomes)
    }

    /// The promise, if it is about a series. Under a promise about views, a release made elsewhere is a view.
    fn series_promise(&self) -> Result<&SeriesPromise, ProjectError> {
        match &self.policy().promise {
            Promised::Series(promise) => Ok(promise),
            Promised::Views(_) => Err(ProjectError::BadView {
                what: "under a promise about views a release made elsewhere is a view".into(),
                way_out: "give it a [views.NAME] with its columns, its recipients and adopted = \"FILE\"".into(),
            }),
        }
    }

    fn truth(&self, source: &Source, values: &Values, options: &ReadOptions) -> Result<Table, ProjectError> {
        let key = self.seed().key("identifier");
        Ok(ingest::read_snapshot(source, &self.policy().schema, &key, values, options)?.table)
    }

    fn label(&self, foundling: &Foundling, number: u32, others: &[Adoption]) -> Result<String, ProjectError> {
        let used = self.store().into_iter().flat_map(|store| store.publications());
        let used = used.map(|publication| (publication.number, publication.label.as_str()));
        let used = used.chain(others.iter().map(|other| (other.release.number, other.release.label.as_str())));
        project::free_label(foundling.label.as_deref(), number, used)
    }

    /// Finds the people of a release and lets the auditor judge it.
    fn judge(
        &self,
        release: Release,
        table: Table,
        (history, snapshot): (&History, &Table),
        known: &Known<'_>,
    ) -> Result<Adoption, ProjectError> {
        let unfit = |rows| ProjectError::AdoptUnfit { file: known.name(), rows, of: release.row_count() as u64 };
        let Seating { membership, ambiguous } = seat(&release, &table, history).map_err(unfit)?;
        // Another tool dealt out the public columns, and nothing is promised about them here.
        let schema = Schema { public: Vec::new(), ..self.policy().schema.clone() };
        let evidence = Evidence { schema: &schema, history, table: &table, release: &release, membership: &membership };
        let promise = self.series_promise()?;
        let findings = promise.judge(evidence);
        let account = promise.inner().account(&evidence, Some(snapshot));
        let after = history.after(&table, &release, &membership, published(Grouping::default(), account));
        let exposed = promise.inner().exposed(&after);
        Ok(Adoption {
            findings,
            people: Some((table.len() - membership.withheld.len()) as u64),
            withheld: membership.withheld.len() as u64,
            ambiguous,
            exposed,
            erased: 0,
            notes: known.read.notes.iter().chain(&known.read.assumptions).cloned().collect(),
            digest: known.read.digests[known.at].clone(),
            files: known.files(),
            reading: known.reading.clone(),
            history: after,
            snapshot: table,
            release,
        })
    }

    /// Adopts a release without knowing its people, if the promise does not need them.
    fn take_unknown(
        &self,
        release: Release,
        history: &History,
        snapshot: &Table,
        values: &Values,
        known: &Known<'_>,
    ) -> Result<Adoption, ProjectError> {
        let terms = self.policy().terms();
        if terms.scope != Scope::EachRelease {
            return Err(ProjectError::AdoptNeedsTruth { model: terms.name, file: known.name() });
        }
        let groups = PastGroups { regions: Regions::new(self.policy().schema.quasi.len()), cells: Regions::default() };
        let mut after = History { releases: release.number, values: values.clone(), groups, ..history.clone() };
        *after.facts.entry(UNKNOWN_RELEASES.into()).or_default() += 1;
        let mut snapshot = snapshot.clone();
        snapshot.values = values.clone();
        Ok(Adoption {
            findings: Vec::new(),
            people: None,
            withheld: 0,
            ambiguous: 0,
            exposed: 0,
            erased: 0,
            notes: known.read.notes.iter().chain(&known.read.assumptions).cloned().collect(),
            digest: known.read.digests[known.at].clone(),
            files: known.files(),
            reading: known.reading.clone(),
            history: after,
            snapshot,
            release,
        })
    }

    /// Findings need a reason, if the series can continue from them at all.
    fn assert_acceptable(&self, adoptions: &[Adoption]) -> Result<(), ProjectError> {
        let findings: Vec<Finding> = adoptions.iter().flat_map(|adoption| adoption.findings.clone()).collect();
        if findings.is_empty() {
            return Ok(());
        }
        // Groups of other promises never change, so a faulty group would stay faulty for ever.
        if !self.series_promise()?.entry().takes("accept_adopted") {
            return Err(PublishError::Refused(findings).into());
        }
        if self.policy().reasons.accept_adopted.is_some() {
            return Ok(());
        }
        let exposed = adoptions.last().map_or(0, |adoption| adoption.exposed);
        Err(ProjectError::AdoptNeedsReason { findings, exposed })
    }
}

impl Adoption {
    /// Keeps nothing of people who were erased from the series before: they are in the file, and judged as people of its table.
    /// Returns how many they were. With `all`, texts that nobody needs go too.
    fn leave_out_erased(&mut self, keeps_sets: bool, all: bool) -> u64 {
        let table = std::mem::take(&mut self.snapshot);
        (self.snapshot, self.erased) = leave_out(&mut self.history, table, keeps_sets, all);
        self.erased
    }
}

/// Reads an adopted release back from its folder, and adds its values to `values`. Also returns what the file shows
/// besides its rows, and what was assumed about its publisher.
pub(super) fn reread(
    schema: &Schema,
    folder: &Path,
    publication: &Publication,
    values: &mut Values,
) -> Result<(Release, Traces, Vec<String>), ProjectError> {
    let is_tree = |name: &str| {
        let trees = publication.numbers.reading.iter().flat_map(|reading| reading.hierarchy.values());
        trees.into_iter().any(|tree| tree.as_os_str() == name)
    };
    // An earlier version kept data under names that end like ours; such a file is still the data.
    let files = || publication.files.keys().filter(|name| !is_tree(name));
    let data = files().find(|name| !ends_like_ours(name)).or_else(|| files().next());
    let data = data.ok_or(LedgerError::MissingRelease { folder: folder.display().to_string() })?;
    let foundling = Foundling { file: folder.join(data), ..Foundling::default() };
    let mut reading = publication.numbers.reading.clone().unwrap_or_default();
    reading.hierarchy.values_mut().for_each(|file| *file = folder.join(&file));
    let mut read = read(&[foundling], &ask(schema, &reading))?;
    values.extend(occurring(&read));
    let mut releases = translate(&read, schema, values).map_err(|column| ProjectError::AdoptNotExpressed { column })?;
    let (release, places) = releases.swap_remove(0);
    let traces = Traces { places, ..read.shown.swap_remove(0) };
    let assumed = read.assumptions.iter().map(|assumed| format!("Release {}: {assumed}", publication.number)).collect();
    Ok((Release { number: publication.number, label: publication.label.clone(), ..release }, traces, assumed))
}

/// The sensitive values that occur in some release, with repetitions.
fn occurring(read: &Foreign) -> Vec<Box<[Box<str>]>> {
    let mut cells = Vec::new();
    for release in &read.releases {
        let mut found = vec![false; release.values.len()];
        release.sensitive.iter().for_each(|value| found[value.index()] = true);
        cells.extend(release.values.iter().filter(|(value, _)| found[value.index()]).map(|(_, cells)| cells.into()));
    }
    cells
}

/// One of the files that were read.
struct Known<'a> {
    read: &'a Foreign,
    at: usize,
    foundling: &'a Foundling,
    reading: &'a Reading,
}

impl Known<'_> {
    fn name(&self) -> String {
        self.foundling.file.display().to_string()
    }

    fn files(&self) -> Vec<PathBuf> {
        std::iter::once(self.foundling.file.clone()).chain(foreign::counts_beside(&self.foundling.file)).collect()
    }
}

fn read(foundlings: &[Foundling], ask: &Ask) -> Result<Foreign, ProjectError> {
    let file = |foundling: &Foundling| -> Result<File, ProjectError> {
        Ok(File {
            source: Source::open(&foundling.file)?.at_most(rows_that_fit(ask.quasi.len() + ask.sensitive.len())),
            label: String::new(),
            counterfeits: foreign::counts_beside(&foundling.file).map(|path| Source::open(&path)).transpose()?,
        })
    };
    let files = foundlings.iter().map(file).collect::<Result<Vec<File>, ProjectError>>()?;
    Ok(foreign::read(&files, &[], ask)?)
}

/// A table with nobody in it.
fn nobody(schema: &Schema, values: &Values) -> Table {
    Table::new(Vec::new(), vec![Vec::new(); schema.quasi.len()], Vec::new(), values.clone(), Vec::new(), Vec::new())
}

/// Copies the files into the staging folder; the data must be what was read.
fn copy(staging: &Staging, adoption: &Adoption) -> Result<Vec<String>, ProjectError> {
    let mut names = Vec::new();
    for (at, path) in adoption.files.iter().enumerate() {
        let name = path.file_name().map_or_else(|| "release".into(), |name| name.to_string_lossy().replace('\\', "_"));
        // The data file is recognised by its name.
        let name = match at == 0 && ends_like_ours(&name) {
            true => name
                .replace(COUNTERFEITS, "-counterfeits.csv")
                .replace(COUNTS, "-counts.csv")
                .replace(".hierarchy.csv", "-hierarchy.csv"),
            false => name,
        };
        let mut from = std::fs::File::open(path).map_err(environment)?;
        names.push(copy_one(staging, &mut from, &name, (at == 0).then_some(&adoption.digest))?);
    }
    for (at, path) in (1..).zip(adoption.reading.hierarchy.values()) {
        // It may lie in a project file of ARX.
        let bytes = foreign::read_hierarchy(path).map_err(environment)?;
        names.push(copy_one(staging, &mut &*bytes, &kept_hierarchy(at), None)?);
    }
    Ok(names)
}

fn copy_one(
    staging: &Staging,
    from: &mut dyn io::Read,
    name: &str,
    wanted: Option<&String>,
) -> Result<String, ProjectError> {
    let mut to = staging.create(name)?;
    io::copy(from, &mut to).map_err(environment)?;
    let digest = to.finish()?;
    if wanted.is_some_and(|wanted| digest.is_none_or(|digest| digest.sha256 != *wanted)) {
        return Err(ProjectError::PlanStale { what: "the file" });
    }
    Ok(name.to_string())
}

fn environment(source: io::Error) -> ProjectError {
    ProjectError::Environment { source }
}
