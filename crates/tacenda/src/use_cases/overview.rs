//! Where a project stands, and the one thing to do next. From the files alone, quickly; nothing is judged here.

use crate::ledger::{LedgerError, RealDisk, Store};
use crate::model::Language;
use crate::promise::PolicyFile;
use crate::publish::{Access, POLICY_FILE, ProjectError};
use crate::use_cases::{LogReport, Plan, ProjectFolder, UseCaseError, log};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where a project stands.
#[derive(Debug)]
pub struct Overview {
    /// The policy: the name of the series, its title, and the promise in one sentence; absent if there is none.
    pub policy: Option<PolicySummary>,
    /// Why the policy cannot be used, if it cannot.
    pub fault: Option<UseCaseError>,
    /// The ledger, if there is one.
    pub log: Option<LogReport>,
    /// What the plan file would publish, if there is one.
    pub planned: Option<Planned>,
    /// What to do next.
    pub next: NextStep,
}

/// What a policy says, in short.
#[derive(Clone, Debug)]
pub struct PolicySummary {
    /// The series' name.
    pub series: String,
    /// Its title; may be empty.
    pub title: String,
    /// The promise, in one sentence.
    pub promise: String,
    /// The same in short.
    pub promise_in_short: String,
    /// Its numbers, such as `m = 3`.
    pub numbers: Vec<String>,
    /// What it does not cover.
    pub limits: Vec<String>,
    /// The language of its recipients, as a word.
    pub language: Language,
    /// The names of its views; empty for a series of one table.
    pub views: Vec<String>,
    /// The column that names a person.
    pub identifier: String,
}

/// What a plan file would publish.
#[derive(Clone, Debug)]
pub struct Planned {
    /// The file.
    pub file: PathBuf,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// Whether the ledger went on since, so that it is refused.
    pub is_stale: bool,
}

/// The one thing to do next.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum NextStep {
    /// Draft a policy.
    Start,
    /// Correct the policy.
    MendPolicy,
    /// Rehearse the first release.
    RehearseFirst,
    /// Publish what was rehearsed.
    PublishPlan,
    /// Rehearse the next release, once there is a new table.
    RehearseNext,
}

/// Where a project stands. Every part that can be read is there, even if another cannot be used.
pub fn overview(project: &ProjectFolder) -> Result<Overview, UseCaseError> {
    let policy_file = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    let log = match log(&project.root) {
        Ok(log) => Some(log),
        // A policy may lie in a folder before there is a ledger.
        Err(UseCaseError::Project(ProjectError::Ledger(LedgerError::NoProject { .. }))) => None,
        Err(error) => return Err(error),
    };
    let releases = log.iter().flat_map(|log| &log.events).filter(|event| event.release.is_some()).count();
    let (mut policy, mut fault) = (None, None);
    if policy_file.exists() {
        let looked = ProjectFolder { anchors: None, keys: None, ..project.clone() }.open(Access::Look);
        match looked {
            Ok(project) => policy = Some(PolicySummary::of(project.policy())),
            Err(error) => fault = Some(error.into()),
        }
    }
    let planned = planned(project)?;
    let is_fresh = planned.as_ref().is_some_and(|planned| !planned.is_stale);
    let next = match () {
        () if fault.is_some() => NextStep::MendPolicy,
        () if policy.is_none() => NextStep::Start,
        () if is_fresh => NextStep::PublishPlan,
        () if releases == 0 => NextStep::RehearseFirst,
        () => NextStep::RehearseNext,
    };
    Ok(Overview { policy, fault, log, planned, next })
}

/// What the plan file of a project would publish, if there is one.
fn planned(project: &ProjectFolder) -> Result<Option<Planned>, UseCaseError> {
    let file = plan_file(&project.root);
    if !file.exists() {
        return Ok(None);
    }
    let plan = Plan::read(&file)?;
    let store = Store::open_look(Arc::new(RealDisk), &project.root);
    let is_stale = store.map_or(true, |store| store.head() != plan.ledger_head);
    Ok(Some(Planned { file, release: plan.release, label: plan.label, is_stale }))
}

/// Where the plan of a project is written if nothing else is said.
pub(super) fn plan_file(root: &Path) -> PathBuf {
    root.join("tacenda-plan.json")
}

/// Throws the plan of a project away. The table that was kept for it goes with the next rehearsal.
pub fn discard_plan(project: &ProjectFolder) -> Result<(), UseCaseError> {
    let file = plan_file(&project.root);
    match file.exists() {
        true => fs::remove_file(&file).map_err(UseCaseError::file(&file)),
        false => Ok(()),
    }
}

impl PolicySummary {
    fn of(file: &PolicyFile) -> PolicySummary {
        let terms = file.terms();
        PolicySummary {
            series: file.series.name.clone(),
            title: file.series.title.clone(),
            promise_in_short: terms.short(),
            numbers: terms.parameters.clone(),
            limits: terms.limits.iter().map(|limit| limit.to_string()).collect(),
            promise: terms.sentence,
            language: file.series.language,
            views: file
                .views()
                .map_or_else(Vec::new, |views| views.list.iter().map(|view| view.name.clone()).collect()),
            identifier: file.schema.identifier.clone(),
        }
    }
}
