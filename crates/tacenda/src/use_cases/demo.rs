//! Breaks a naive series of made-up data, then publishes the same data safely.
//!
//! The naive series is made by a plain Mondrian that looks at one snapshot at a time. The safe one is published for
//! real, in a project folder that is left behind.

use crate::audit::knowledge::Knowledge;
use crate::audit::story::Story;
use crate::audit::{candidates, story};
use crate::ingest::Given;
use crate::made_up::hospital::Hospital;
use crate::made_up::naive::{Diversity, Naive};
use crate::made_up::{Generated, hospital};
use crate::model::{Membership, Release, Schema, Table, Values};
use crate::use_cases::draft::write;
use crate::use_cases::{Next, Progress, ProjectFolder, ReleaseRequest, Summary, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

/// A hospital that is to be made up.
#[derive(Clone, Debug)]
pub struct DemoRequest {
    /// Where to leave the project.
    pub folder: PathBuf,
    /// How many patients.
    pub patients: u32,
    /// The seed of the made-up data.
    pub seed: u64,
    /// The most memory that may be used.
    pub memory: Option<u64>,
    /// How many threads read; 0 for as many as the machine has.
    pub threads: usize,
}

/// How many quarters are published.
const QUARTERS: u32 = 4;

/// What every naive release keeps on its own.
pub const NAIVE: Naive = Naive { k: 4, l: 4, diversity: Diversity::Frequency };

/// The answer of the demo.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DemoReport {
    /// The project folder that was left behind.
    pub project: PathBuf,
    /// People in any snapshot.
    pub people: u64,
    /// What the attack finds in the naive series, after each release.
    pub naive: Vec<Attack>,
    /// What the same attack finds in the published series.
    pub published: Vec<Attack>,
    /// The releases of the published series.
    pub releases: Vec<Summary>,
    /// One person whom the attack finds in the naive series.
    #[serde(skip)]
    pub story: Option<DemoStory>,
}

/// One person whom the attack finds in the naive series, release by release, with everything named: it is made up.
#[derive(Debug)]
pub struct DemoStory {
    /// The steps.
    pub story: Story,
    /// The columns.
    pub schema: Schema,
    /// The sensitive values.
    pub values: Values,
}

/// What the attack finds after a number of releases.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Attack {
    /// After this release.
    pub release: u32,
    /// People published so far.
    pub people: u64,
    /// People whose only possible diagnosis is right.
    pub certain: u64,
    /// People with fewer than four possible diagnoses left.
    pub below_four: u64,
}

/// Makes up the hospital, attacks the naive series, publishes the safe one and attacks that.
pub fn demo(request: &DemoRequest, progress: Progress<'_>) -> Result<DemoReport, UseCaseError> {
    claim_folder(&request.folder, || make(request, progress))
}

/// Makes a demo in an empty folder, or leaves no folder behind.
pub(super) fn claim_folder<T>(
    folder: &Path,
    make: impl FnOnce() -> Result<T, UseCaseError>,
) -> Result<T, UseCaseError> {
    if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("{} is not empty; name another folder, or remove it", folder.display());
        return Err(UseCaseError::Exists(message));
    }
    let mut claim = Claim { folder, is_made: false };
    let made = make();
    claim.is_made = made.is_ok();
    made
}

/// A folder that is being made. It is removed if it is not finished, also when a caller ends the work by unwinding.
struct Claim<'a> {
    folder: &'a Path,
    is_made: bool,
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        if !self.is_made {
            // A half project would only be in the way of the next try.
            let _ = fs::remove_dir_all(self.folder);
        }
    }
}

fn make(request: &DemoRequest, progress: Progress<'_>) -> Result<DemoReport, UseCaseError> {
    let step = |what: &str| progress(QUARTERS as usize + 3, what);
    step("making up a hospital");
    let hospital = hospital::snapshots(request.patients, QUARTERS, request.seed);
    let tables: Vec<Table> = hospital.tables().collect();
    let data = write_project(&request.folder, &hospital, &tables)?;
    step("publishing naively, and attacking");
    let naive = naive_series(hospital.schema(), &tables);
    let (naive_attacks, story) = attack(hospital.schema(), &naive, &tables);
    let (mut releases, mut safe, mut safe_tables) = (Vec::new(), Vec::new(), Vec::new());
    let mut schema = Schema::default();
    for (quarter, path) in (1..).zip(data) {
        let label = hospital::label(quarter);
        step(&format!("publishing {label}"));
        let next = ReleaseRequest {
            project: ProjectFolder { root: request.folder.clone(), ..ProjectFolder::default() },
            data: Some(Given::Path(path)),
            label: Some(label),
            memory: request.memory,
            threads: request.threads,
            ..ReleaseRequest::default()
        }
        .prepare(None, &|_, _| {})?;
        let Next::Release(mut rehearsed) = next else { unreachable!("every quarter has a label of its own") };
        rehearsed.rehearsal.measure_queries(rehearsed.project.policy(), &rehearsed.material);
        releases.extend(rehearsed.publish(&|_, _| {})?.summary.map(|summary| *summary));
        schema = rehearsed.project.policy().schema.clone();
        safe_tables.push(rehearsed.material.into_table());
        let prepared = rehearsed.rehearsal.prepared;
        safe.push((prepared.release, prepared.membership));
    }
    step("attacking what was published");
    let (published, _) = attack(&schema, &safe, &safe_tables);
    Ok(DemoReport {
        project: request.folder.clone(),
        people: Knowledge::from_tables(&tables).len() as u64,
        naive: naive_attacks,
        published,
        releases,
        story: story.map(|story| DemoStory {
            story,
            schema: hospital.schema().clone(),
            values: tables[0].values.clone(),
        }),
    })
}

/// Leaves a project folder behind: policy file, hierarchies, and one table per quarter.
fn write_project(
    folder: &Path,
    hospital: &Generated<Hospital>,
    tables: &[Table],
) -> Result<Vec<PathBuf>, UseCaseError> {
    for file in hospital.project() {
        write(&folder.join(&file.path), &file.text)?;
    }
    let data = folder.join("data");
    fs::create_dir_all(&data).map_err(UseCaseError::file(&data))?;
    let table = |(quarter, table): (u32, &Table)| {
        let path = data.join(format!("{}.csv", hospital::label(quarter)));
        let written = File::create(&path).and_then(|file| hospital.write_csv(table, BufWriter::new(file)));
        written.map_err(UseCaseError::file(&path))?;
        Ok(path)
    };
    (1..).zip(tables).map(table).collect()
}

/// Each snapshot anonymised on its own.
fn naive_series(schema: &Schema, tables: &[Table]) -> Vec<(Release, Membership)> {
    let releases =
        tables.iter().zip(1..).map(|(table, release)| NAIVE.publish(schema, table, release, &hospital::label(release)));
    let releases: Option<Vec<_>> = releases.collect();
    releases.expect("the made-up hospital is large enough for the naive publisher")
}

/// The attack after each release: someone who knows everyone's quasi values and when they were there.
fn attack(schema: &Schema, series: &[(Release, Membership)], tables: &[Table]) -> (Vec<Attack>, Option<Story>) {
    let releases: Vec<Release> = series.iter().map(|(release, _)| release.clone()).collect();
    let mut found = Vec::new();
    let mut story = None;
    for count in 1..=releases.len() {
        let published = tables[..count].iter().zip(series[..count].iter().map(|(_, membership)| membership));
        let knowledge = Knowledge::from_published(published);
        let candidates = candidates::attack(&releases[..count], &knowledge);
        found.push(Attack {
            release: count as u32,
            people: knowledge.len() as u64,
            certain: u64::from(candidates.judge(&knowledge).certain_right),
            below_four: candidates.below(4) as u64,
        });
        if count == releases.len() {
            let example = candidates.example(&knowledge);
            story = example.map(|person| story::tell(schema, &releases, &knowledge, person));
        }
    }
    (found, story)
}
