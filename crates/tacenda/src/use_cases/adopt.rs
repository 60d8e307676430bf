//! Adopts releases that were made elsewhere, so that the next release is judged together with them.

use crate::ingest::{Given, ReadOptions};
use crate::publish::{Access, Adoption, Foundling, Project, ProjectError};
use crate::use_cases::{FileOptions, Progress, ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// What is to be adopted, and how it is read.
#[derive(Debug, Default)]
pub struct AdoptRequest {
    /// The project.
    pub project: ProjectFolder,
    /// The published files, the oldest first. They are kept byte for byte, so they are files and never frames.
    pub files: Vec<PathBuf>,
    /// The table behind each file, in the same order; may be none.
    pub truth: Vec<Given>,
    /// The label of each release, in the same order; may be none.
    pub labels: Vec<String>,
    /// How the files are read.
    pub options: FileOptions,
    /// How many threads read; 0 for as many as the machine has.
    pub threads: usize,
}

/// Releases that were read and judged, and could be adopted now.
pub struct Adopting {
    project: Project,
    adoptions: Vec<Adoption>,
    report: AdoptReport,
}

/// The answer of adopt.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AdoptReport {
    /// The releases that were adopted.
    pub releases: Vec<AdoptedRelease>,
    /// What was concluded about the files, one sentence each.
    pub notes: Vec<String>,
}

/// A release that was adopted.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AdoptedRelease {
    /// Its number in the series.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// The SHA-256 of that file.
    pub sha256: String,
    /// The folder that the file is kept in; none before a person has agreed.
    pub folder: Option<PathBuf>,
    /// Its rows, counterfeits included.
    pub rows: u64,
    /// Its groups.
    pub groups: u64,
    /// Its counterfeits.
    pub counterfeits: u64,
    /// How many people were found in it; none if its private table was not given.
    pub people: Option<u64>,
    /// How many people of that table are not in it.
    pub withheld: u64,
    /// How many people could be in more than one of its groups.
    pub ambiguous: u64,
    /// How many people can no longer be hidden, and are withheld from every later release.
    pub exposed: u64,
    /// How many people of that table were erased from the series before. Nothing of them is kept.
    pub erased: u64,
    /// How it breaks the promise, one sentence each.
    pub findings: Vec<String>,
}

impl AdoptRequest {
    /// Reads the releases and lets the auditor judge them. Nothing is adopted yet.
    pub fn consider(mut self, progress: Progress<'_>) -> Result<Adopting, UseCaseError> {
        let foundlings = self.foundlings()?;
        let project = self.project.open(Access::Publish)?;
        if project.policy().views().is_some() {
            let message = "under a promise about views, a release made elsewhere is a view: describe it as \
                           [views.NAME] in the policy file, with columns, recipients and adopted = \"FILE\"; the \
                           next publish --view joins it";
            return Err(UseCaseError::usage(message));
        }
        progress(1, "reading and judging");
        let quasi: Vec<String> = project.policy().schema.quasi.iter().map(|quasi| quasi.name.clone()).collect();
        let reading = self.options.reading(&quasi)?;
        let options = ReadOptions { threads: self.threads, show_values: false };
        let adoptions = project.consider(&foundlings, &reading, &options)?;
        let report = AdoptReport {
            releases: foundlings.iter().zip(&adoptions).map(release).collect(),
            notes: adoptions.first().map_or_else(Vec::new, |adoption| adoption.notes.clone()),
        };
        Ok(Adopting { project, adoptions, report })
    }

    fn foundlings(&mut self) -> Result<Vec<Foundling>, UseCaseError> {
        let (files, tables, labels) = (self.files.len(), self.truth.len(), self.labels.len());
        if tables > 0 && tables != files {
            let message = format!("--truth names {tables} tables for {files} releases; name one per release");
            return Err(UseCaseError::usage(message));
        }
        if labels > 0 && labels != files {
            let message = format!("there are {labels} labels for {files} releases; give one per release");
            return Err(UseCaseError::usage(message));
        }
        let (mut tables, mut labels) = (self.truth.drain(..), self.labels.drain(..));
        let foundling = |file: &PathBuf| {
            let truth = tables.next().map(Given::open).transpose().map_err(ProjectError::from)?;
            Ok(Foundling { file: file.clone(), truth, label: labels.next() })
        };
        self.files.iter().map(foundling).collect()
    }
}

impl Adopting {
    /// What would be adopted.
    pub fn report(&self) -> &AdoptReport {
        &self.report
    }

    /// Adopts the releases.
    pub fn adopt(mut self) -> Result<AdoptReport, UseCaseError> {
        let outcomes = self.project.adopt(&self.adoptions)?;
        for (release, outcome) in self.report.releases.iter_mut().zip(outcomes) {
            release.folder = Some(outcome.folder);
        }
        Ok(self.report)
    }
}

fn release((foundling, adoption): (&Foundling, &Adoption)) -> AdoptedRelease {
    AdoptedRelease {
        release: adoption.release.number,
        label: adoption.release.label.clone(),
        file: foundling.file.clone(),
        sha256: adoption.digest.clone(),
        folder: None,
        rows: adoption.release.row_count() as u64,
        groups: adoption.release.group_count() as u64,
        counterfeits: adoption.release.counterfeit_count(),
        people: adoption.people,
        withheld: adoption.withheld,
        ambiguous: adoption.ambiguous,
        exposed: adoption.exposed,
        erased: adoption.erased,
        findings: adoption.findings.iter().map(ToString::to_string).collect(),
    }
}
