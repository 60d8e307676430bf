//! The manifest: what a release promises and holds, for programs.
//!
//! Everything in it can be computed from the published files and the policy. There is no clock, no
//! host and no path in it: the same release gives the same bytes. [`Manifest`] is the one definition, for writing
//! and for reading back.

use crate::folder::digest::WrittenFile;
use crate::folder::public_schema::PublicColumn;
use crate::folder::{FolderError, Issue};
use crate::model::{CellRule, CountedColumn, PeopleCounts, Release, Terms};
use crate::promise::{Promise, Promised};
use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use std::collections::BTreeMap;

/// The file's name.
pub const MANIFEST: &str = "manifest.json";

/// The format that is written. Higher numbers are refused, lower ones must stay readable.
pub const FORMAT: u64 = 1;

/// What the manifest says besides the release and the policy.
#[derive(Clone, Debug, Default)]
pub struct ManifestFacts {
    /// The release before this one.
    pub previous: Option<PreviousRelease>,
    /// The ledger's head before this release.
    pub ledger_head: String,
    /// The checksum of the policy file.
    pub policy_digest: String,
    /// The view it is of, for promises about views.
    pub view: Option<String>,
    /// The program and its version, such as `tacenda 0.1.0`.
    pub software: String,
    /// Loss measures that can be computed from the release and the policy.
    pub loss: Json,
    /// The number of the engine that formed the groups.
    pub engine: u32,
    /// What earlier releases said that is not true, for the recipient's page.
    pub erratum: Option<String>,
    /// Which earlier releases were withdrawn, for the recipient's page.
    pub withdrawn: Option<String>,
    /// The public key that signs the release, for the recipient's page.
    pub signer: Option<String>,
    /// More files for the folder, name and content; such as the recipient's report.
    pub more_files: Vec<(String, Vec<u8>)>,
}

/// The manifest of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The number of the format.
    pub format: u64,
    /// The series.
    pub series: SeriesNames,
    /// The release.
    pub release: ReleaseName,
    /// What is promised, with all that is not covered.
    pub promise: StatedPromise,
    /// What must hold besides, for a view.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<Vec<StatedPromise>>,
    /// The view it is of, for promises about views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// Whether the data are made up and the promise may be broken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub made_up: bool,
    /// Its counts.
    pub numbers: ReleaseNumbers,
    /// Loss measures.
    pub loss: Json,
    /// Whether rows have an id that is stable over the series.
    pub linked_ids: bool,
    /// Whether rows have a weight.
    pub row_weight: bool,
    /// The published columns.
    pub columns: Vec<PublicColumn>,
    /// How quasi columns are counted in the file of counts; not there if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<StatedCounts>,
    /// The other files of the folder.
    pub files: Vec<WrittenFile>,
    /// The release before this one.
    pub previous: Option<PreviousRelease>,
    /// The ledger's head before this release.
    pub ledger_head: String,
    /// The checksum of the policy file.
    pub policy_sha256: String,
    /// The program and its version.
    pub software: String,
    /// The version of the engine that formed the groups. With the same snapshot, policy and seed, the same engine makes
    /// the same release. Version 1 was not written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<u32>,
}

/// What a series is called, and whom to ask.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct SeriesNames {
    /// Its short name.
    pub name: String,
    /// Its title for people.
    pub title: String,
    /// Whom to ask.
    pub contact: String,
}

/// Which release of a series it is.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct ReleaseName {
    /// Its number.
    pub number: u32,
    /// Its label.
    pub label: String,
}

/// How the counts of a release were made.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct StatedCounts {
    /// Every count is a multiple of this.
    pub unit: u32,
    /// Per counted column its cells: `leaves`, `bands` of so many values, `months`.
    pub cells: BTreeMap<String, CellRule>,
}

/// A promise as it is stated to recipients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedPromise {
    /// Its name in the policy file.
    pub model: String,
    /// Its parameters.
    pub parameters: Map<String, Json>,
    /// What it says, in one sentence.
    pub sentence: String,
    /// What it does not cover, one sentence each.
    pub limits: Vec<String>,
}

/// The counts of a release.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReleaseNumbers {
    /// Rows, counterfeits included.
    pub rows: u64,
    /// People.
    pub people: u64,
    /// Rows with nobody behind them.
    pub counterfeits: u64,
    /// Groups.
    pub groups: u64,
    /// How many rows groups have.
    pub group_size: GroupSizes,
    /// How many different value sets groups have.
    pub value_sets: u64,
}

/// How many rows groups have.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GroupSizes {
    /// The smallest.
    pub min: u64,
    /// The mean.
    pub mean: f64,
    /// The largest.
    pub max: u64,
}

/// The release before.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct PreviousRelease {
    /// Its number.
    pub number: u32,
    /// Its label.
    pub label: String,
    /// The checksum of its manifest.
    #[serde(rename = "manifest_sha256")]
    pub manifest_digest: String,
}

impl Manifest {
    /// The manifest of a release whose other files are `files`.
    pub fn of(issue: &Issue<'_>, facts: &ManifestFacts, files: &[WrittenFile]) -> Manifest {
        let Issue { release, schema, policy } = *issue;
        let also = |promised: &Promised| match promised {
            Promised::Series(_) => None,
            Promised::Views(views) => {
                Some(views.also.iter().map(|promise| StatedPromise::of(&promise.clone().into())).collect())
            }
        };
        Manifest {
            format: FORMAT,
            series: SeriesNames {
                name: policy.series.name.clone(),
                title: policy.series.title.clone(),
                contact: policy.series.contact.clone(),
            },
            release: ReleaseName { number: release.number, label: release.label.clone() },
            promise: StatedPromise::with_terms(&policy.first_promise(), &policy.terms()),
            also: facts.view.as_ref().and_then(|_| also(&policy.promise)),
            view: facts.view.clone(),
            made_up: policy.is_study(),
            numbers: ReleaseNumbers::of(release),
            loss: facts.loss.clone(),
            linked_ids: !release.linked.is_empty(),
            row_weight: policy.output.row_weight,
            columns: PublicColumn::all(schema, release),
            counts: release.counts.as_ref().map(StatedCounts::of),
            files: files.to_vec(),
            previous: facts.previous.clone(),
            ledger_head: facts.ledger_head.clone(),
            policy_sha256: facts.policy_digest.clone(),
            software: facts.software.clone(),
            engine: Some(facts.engine),
        }
    }

    /// Reads a manifest. One of a newer format is refused before anything else is checked.
    pub fn read(json: Json) -> Result<Manifest, FolderError> {
        let damaged = |what: String| FolderError::Manifest { what };
        match json["format"].as_u64() {
            Some(found) if found > FORMAT => return Err(FolderError::TooNew { found, known: FORMAT }),
            Some(_) => {}
            None => return Err(damaged("it has no format number".into())),
        }
        serde_json::from_value(json).map_err(|error| damaged(error.to_string()))
    }
}

impl StatedCounts {
    fn of(counts: &PeopleCounts) -> StatedCounts {
        let rule = |column: &CountedColumn| (column.name.clone(), column.rule);
        StatedCounts { unit: counts.unit, cells: counts.columns.iter().map(rule).collect() }
    }
}

impl StatedPromise {
    /// A promise, its sentence and its own limits.
    pub fn of(promise: &Promise) -> StatedPromise {
        StatedPromise::with_terms(promise, &promise.terms())
    }

    fn with_terms(promise: &Promise, terms: &Terms) -> StatedPromise {
        StatedPromise {
            model: promise.entry().name.into(),
            parameters: promise.stated(),
            sentence: terms.sentence.clone(),
            limits: terms.limits.iter().copied().map(String::from).collect(),
        }
    }

    /// The promise that is stated.
    pub fn promise(&self) -> Result<Promise, FolderError> {
        Promise::read_stated(&self.model, &self.parameters)
            .map_err(|why| FolderError::Manifest { what: format!("promise: {why}") })
    }

    /// As JSON.
    pub fn to_json(&self) -> Json {
        serde_json::to_value(self).expect("names and numbers are JSON")
    }
}

impl ReleaseNumbers {
    fn of(release: &Release) -> ReleaseNumbers {
        let sizes = || (0..release.group_count()).map(|group| release.group_rows(group).len() as u64);
        let mean = release.row_count() as f64 / release.group_count().max(1) as f64;
        let counterfeits = release.counterfeit_count();
        ReleaseNumbers {
            rows: release.row_count() as u64,
            people: release.row_count() as u64 - counterfeits,
            counterfeits,
            groups: release.group_count() as u64,
            group_size: GroupSizes {
                min: sizes().min().unwrap_or(0),
                mean: (mean * 1e6).round() / 1e6,
                max: sizes().max().unwrap_or(0),
            },
            value_sets: value_set_count(release) as u64,
        }
    }
}

/// How many different value sets the groups have.
fn value_set_count(release: &Release) -> usize {
    let mut seen = FxHashSet::default();
    let mut set = Vec::new();
    for group in 0..release.group_count() {
        set.clear();
        set.extend_from_slice(release.group_values(group));
        set.sort_unstable();
        set.dedup();
        if !seen.contains(&set) {
            seen.insert(set.clone());
        }
    }
    seen.len()
}
