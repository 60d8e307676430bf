//! A table read once, so that other numbers of the promise can be tried on it quickly. Writes nothing into the project.

use crate::ingest::Given;
use crate::measure::{CountErrors, nine_decimals};
use crate::promise::ShareLimits;
use crate::publish::{Access, Ingredients, Input, NextRelease, Project, ProjectError};
use crate::use_cases::draft::write;
use crate::use_cases::{Drafting, Progress, ReleaseRequest, Summary, UseCaseError};
use crate::{ingest, publish};
use std::path::Path;

/// A policy and a table that was read under it. Private.
pub struct Trial {
    project: Project,
    material: Ingredients,
}

/// What a release would be with other numbers.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// Why it cannot be made, if it cannot.
    pub refused: Option<String>,
    /// People in the table.
    pub people: u64,
    /// Groups.
    pub groups: u64,
    /// The fewest people of a group.
    pub smallest_group: u32,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// People who are left out.
    pub withheld: u64,
    /// Mean loss.
    pub loss: f64,
    /// Median relative error of random count queries, against the table.
    pub query_error: Option<f64>,
    /// Median relative errors of simple counts, against the table.
    pub count_errors: Option<CountErrors>,
}

impl Trial {
    /// Reads a table under a draft. The draft is written into `folder`, a private one that is not the project's.
    pub fn of_draft(drafting: &Drafting, folder: &Path) -> Result<Trial, UseCaseError> {
        let policy = folder.join(publish::POLICY_FILE);
        for (name, text) in drafting.draft.hierarchies() {
            write(&folder.join(name), &text)?;
        }
        write(&policy, &drafting.text())?;
        let project = Project::open(folder, Some(&policy), Access::Look)?;
        let table = Given::Path(drafting.table().to_path_buf());
        let input = Input { table, delta: false, show_values: false, memory: None, threads: 0 };
        let material = project.material(input, &|_| {})?;
        Ok(Trial { project, material })
    }

    /// Reads a table under the policy of a project, as its next release.
    pub fn of_project(mut request: ReleaseRequest, progress: Progress<'_>) -> Result<Trial, UseCaseError> {
        let project = request.project.open(Access::Look)?;
        let table = request.table()?;
        let input = request.input(table, &project)?;
        let material = project.material(input, &|what| progress(Project::MATERIAL_STEPS + 2, what))?;
        Ok(Trial { project, material })
    }

    /// How many people the table has.
    pub fn people(&self) -> u64 {
        self.material.table().len() as u64
    }

    /// The numbers of the promise, such as `m = 4`, in the order of the policy file.
    pub fn numbers(&self) -> Vec<String> {
        self.project.policy().terms().parameters
    }

    /// The release with these numbers of the promise; others stay as they are. The limits are lifted, because the question is
    /// what the release would cost.
    pub fn with(&self, numbers: &[(&str, u32)]) -> Result<TrialReport, UseCaseError> {
        let mut policy = self.project.policy().clone();
        policy.limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
        for (name, value) in numbers {
            if !policy.set(name, *value) {
                let promise = policy.terms().name;
                return Err(UseCaseError::usage(format!("{promise} has no parameter {name}")));
            }
        }
        if let Some(why) = self.project.barred(&policy, &self.material) {
            return Ok(self.refused(why));
        }
        if let Some(fault) = ingest::faults_of(&policy).first() {
            return Ok(self.refused(format!("{}: {}", fault.kind.code(), fault.message)));
        }
        let next = NextRelease { policy: Some(&policy), ..NextRelease::default() };
        let mut rehearsal = match self.project.rehearse(&self.material, next, &|_| {}) {
            Ok(rehearsal) => rehearsal,
            Err(ProjectError::Publish(error)) => return Ok(self.refused(error.to_string())),
            Err(error) => return Err(error.into()),
        };
        rehearsal.measure_queries(&policy, &self.material);
        let release = &rehearsal.prepared.release;
        let smallest = (0..release.group_count()).map(|group| release.people(group)).min().unwrap_or(0);
        let loss = nine_decimals(rehearsal.loss.leaf_share);
        let summary = Summary::new(&policy, &self.material, &rehearsal);
        Ok(TrialReport {
            refused: None,
            people: summary.people,
            groups: summary.groups,
            smallest_group: smallest,
            counterfeits: summary.counterfeits,
            withheld: summary.withheld,
            loss,
            query_error: summary.query_error,
            count_errors: summary.count_errors,
        })
    }

    fn refused(&self, why: String) -> TrialReport {
        TrialReport {
            refused: Some(why),
            people: self.people(),
            groups: 0,
            smallest_group: 0,
            counterfeits: 0,
            withheld: 0,
            loss: 1.0,
            query_error: None,
            count_errors: None,
        }
    }
}
