//! The next release: rehearsed, and then published.

use crate::ingest::Given;
use crate::publish::{Access, Ingredients, Input, NextRelease, Project, ProjectError, Rehearsal};
use crate::use_cases::plan::Plan;
use crate::use_cases::{Progress, ProjectFolder, Summary, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
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
    /// Where to write a backup of the state before the release, right before that is committed; otherwise as the policy file says.
    pub backup: Option<PathBuf>,
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

/// The next step: a release, or nothing because it is already published.
pub enum Next {
    /// A release that could be published now.
    Release(Box<Rehearsed>),
    /// The release that was made from the same table already.
    Already(PublishReport),
}

/// The answer of publish.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PublishReport {
    /// The release folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<String>,
    /// Whether it was published before, so that nothing was done.
    pub already: bool,
    /// Its number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The id of the key that signed it.
    pub signed_by: Option<String>,
    /// The id of the key that approved its plan.
    pub approved_by: Option<String>,
    /// The backup of the state before it, if one was written.
    pub backup: Option<PathBuf>,
    /// The release in numbers, if it is new.
    pub summary: Option<Box<Summary>>,
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

    /// The same, to publish it next, according to a plan if there is one. A table that was already published under this
    /// label, or as the last release if no label is given, is not published again.
    pub fn prepare(mut self, plan: Option<PathBuf>, progress: Progress<'_>) -> Result<Next, UseCaseError> {
        let file = plan;
        let plan = file.as_deref().map(Plan::read).transpose()?;
        if let Some(plan) = &plan {
            self.data = Some(Given::Path(plan.data.clone()));
            (self.delta, self.label, self.view) = (plan.delta, Some(plan.label.clone()), plan.view.clone());
        }
        let input = self.input()?;
        let mut project = self.project.open(Access::Publish)?;
        self.backup.iter().for_each(|file| project.back_up_to(file));
        project.assert_as_published()?;
        let step = |what: &str| progress(REHEARSED, what);
        let done = plan.as_ref().and_then(|plan| project.published_with(&plan.label, &plan.input));
        if let Some(number) = done {
            return Ok(Next::Already(PublishReport::already(&project, number)));
        }
        if plan.as_ref().is_some_and(|plan| plan.ledger_head != project.ledger_head()) {
            return Err(ProjectError::PlanStale { what: "the ledger" }.into());
        }
        let is_taken = |label: &String| project.publications().iter().any(|one| one.label == *label);
        if let (true, None, Some(label)) = (self.delta, &plan, self.label.as_ref().filter(|label| is_taken(label))) {
            let digest = input.table.open()?.look()?.digest;
            let number = project.changed_by(label, &digest)?.expect("the label is taken");
            return Ok(Next::Already(PublishReport::already(&project, number)));
        }
        let rules = &project.policy().series.signatures;
        let approval = file.as_deref().map_or(Ok(None), |file| Plan::approval(file, rules))?;
        // Checked before the work is done.
        project.assert_signatures(approval.as_ref())?;
        project.assert_backup()?;
        let planned = plan.as_ref().filter(|plan| !plan.kept.is_empty());
        let material = match planned {
            // The kept table has the codes of the policy that it was made with.
            Some(plan) if plan.policy_sha256 != project.policy_digest() => {
                return Err(ProjectError::PlanStale { what: "the policy" }.into());
            }
            Some(plan) => project.planned_material(&plan.kept, &plan.data_sha256, &step)?,
            None => project.material(input, &step)?,
        };
        let next = self.next();
        if let Some(number) = project.published_from(&material, next)? {
            return Ok(Next::Already(PublishReport::already(&project, number)));
        }
        let rehearsal = Rehearsal { approval, ..project.rehearse(&material, next, &step)? };
        let rehearsed = Rehearsed { project, material, rehearsal };
        if let Some(plan) = &plan {
            plan.matches(&rehearsed)?;
        }
        Ok(Next::Release(Box::new(rehearsed)))
    }
}

impl ReleaseRequest {
    fn next(&self) -> NextRelease<'_> {
        NextRelease { view: self.view.as_deref(), label: self.label.as_deref(), policy: None }
    }
}

impl Next {
    /// Publishes the release, if there is one to publish.
    pub fn publish(self, progress: Progress<'_>) -> Result<PublishReport, UseCaseError> {
        match self {
            Next::Release(mut rehearsed) => rehearsed.publish(progress),
            Next::Already(report) => Ok(report),
        }
    }
}

impl PublishReport {
    fn already(project: &Project, number: u32) -> PublishReport {
        let store = project.store().expect("a project with a release has a ledger");
        let publication = store.publications().find(|publication| publication.number == number);
        let publication = publication.expect("the number was found in the ledger");
        PublishReport {
            folder: store.release_folder(number),
            files: publication.files.keys().cloned().collect(),
            already: true,
            release: number,
            label: publication.label.clone(),
            signed_by: store.signed_by(number).map(String::from),
            approved_by: publication.approved.as_ref().map(|approval| approval.key.clone()),
            backup: None,
            summary: None,
        }
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
    let rehearsal = project.rehearse(&material, request.next(), step)?;
    Ok(Rehearsed { project, material, rehearsal })
}

impl Rehearsed {
    /// The release in numbers.
    pub fn summary(&self) -> Summary {
        Summary::new(self.project.policy(), &self.material, &self.rehearsal)
    }

    /// Keeps the table in the vault for a plan.
    pub(super) fn keep_planned(&self) -> Result<BTreeMap<String, String>, ProjectError> {
        self.project.keep_planned(&self.material)
    }

    /// Publishes it. The release folder is complete or absent, whatever happens.
    pub fn publish(&mut self, progress: Progress<'_>) -> Result<PublishReport, UseCaseError> {
        let step = |what: &str| progress(Project::PUBLISH_STEPS, what);
        let outcome = self.project.publish(&self.material, &self.rehearsal, &step)?;
        let summary = self.summary();
        Ok(PublishReport {
            folder: outcome.folder,
            files: outcome.files,
            already: false,
            release: summary.release,
            label: summary.label.clone(),
            signed_by: self.project.signer().map(|signer| signer.public().id().into()),
            approved_by: self.rehearsal.approval.as_ref().map(|approval| approval.key.clone()),
            backup: outcome.backup,
            summary: Some(Box::new(summary)),
        })
    }
}
