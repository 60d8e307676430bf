//! The next release: rehearsed, and then published.

use crate::ingest::Given;
use crate::publish::{Access, Ingredients, Input, NextRelease, Project, ProjectError, Rehearsal};
use crate::use_cases::plan::Plan;
use crate::use_cases::{Progress, ProjectFolder, Summary, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// The next release that is wanted.
#[derive(Debug, Default)]
pub struct ReleaseRequest {
    /// The project.
    pub project: ProjectFolder,
    /// The table it is made from. A plan names its own.
    pub data: Option<Given>,
    /// Whether the table holds changes rather than a whole snapshot.
    pub delta: bool,
    /// Its label; its number where not given.
    pub label: Option<String>,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// Whether errors may name values that a hierarchy lacks.
    pub show_values: bool,
    /// The most memory that may be used.
    pub memory: Option<u64>,
    /// How many threads read; 0 for as many as the machine has.
    pub threads: usize,
}

/// A release that could be published now. Nothing is written yet. Private.
pub struct Rehearsed {
    /// The project.
    pub project: Project,
    /// What the release is made from.
    pub material: Ingredients,
    /// The release, judged.
    pub rehearsal: Rehearsal,
}

/// What publishing answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PublishReport {
    /// The release folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<String>,
    /// The release.
    pub summary: Summary,
}

impl ReleaseRequest {
    /// What the release is made from.
    pub(super) fn input(&mut self) -> Result<Input, UseCaseError> {
        let unnamed = || UseCaseError::usage("name a table: tacenda … DATA; - is standard input");
        Ok(Input {
            table: self.data.take().ok_or_else(unnamed)?,
            delta: self.delta,
            show_values: self.show_values,
            memory: self.memory,
            threads: self.threads,
        })
    }

    /// Makes the release and has it judged, to look at it.
    pub fn rehearse(mut self, progress: Progress<'_>) -> Result<Rehearsed, UseCaseError> {
        let input = self.input()?;
        let project = self.project.open(Access::Rehearse)?;
        let step = |what: &str| progress(REHEARSED, what);
        Ok(rehearsed(project, input, &self, &step)?)
    }

    /// The same, to publish it next: as a plan says, where there is one.
    pub fn prepare(mut self, plan: Option<PathBuf>, progress: Progress<'_>) -> Result<Rehearsed, UseCaseError> {
        let plan = plan.map(|path| Plan::read(&path)).transpose()?;
        if let Some(plan) = &plan {
            self.data = Some(Given::Path(plan.data.clone()));
            (self.delta, self.label, self.view) = (plan.delta, Some(plan.label.clone()), plan.view.clone());
        }
        let input = self.input()?;
        let project = self.project.open(Access::Publish)?;
        if plan.as_ref().is_some_and(|plan| plan.ledger_head != project.ledger_head()) {
            return Err(ProjectError::PlanStale { what: "the ledger" }.into());
        }
        let step = |what: &str| progress(REHEARSED, what);
        let rehearsed = rehearsed(project, input, &self, &step)?;
        if let Some(plan) = &plan {
            plan.matches(&rehearsed)?;
        }
        Ok(rehearsed)
    }
}

/// How many steps a rehearsal has.
pub(super) const REHEARSED: usize = Project::MATERIAL_STEPS + Project::REHEARSE_STEPS;

/// Makes the next release and has it judged.
pub(super) fn rehearsed(
    project: Project,
    input: Input,
    request: &ReleaseRequest,
    step: &dyn Fn(&str),
) -> Result<Rehearsed, ProjectError> {
    let material = project.material(input, step)?;
    let next = NextRelease { view: request.view.as_deref(), label: request.label.as_deref(), policy: None };
    let rehearsal = project.rehearse(&material, next, step)?;
    Ok(Rehearsed { project, material, rehearsal })
}

impl Rehearsed {
    /// The release in numbers.
    pub fn summary(&self) -> Summary {
        Summary::new(self.project.policy(), &self.material, &self.rehearsal)
    }

    /// Publishes it. The release folder is complete or absent, whatever happens.
    pub fn publish(&mut self, progress: Progress<'_>) -> Result<PublishReport, UseCaseError> {
        let step = |what: &str| progress(Project::PUBLISH_STEPS, what);
        let outcome = self.project.publish(&self.material, &self.rehearsal, &step)?;
        Ok(PublishReport { folder: outcome.folder, files: outcome.files, summary: self.summary() })
    }
}
