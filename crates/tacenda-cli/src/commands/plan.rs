//! Rehearse the next release and remember its inputs by their digests.

use crate::args::Common;
use crate::args::PlanArgs;
use crate::commands::shared;
use crate::commands::shared::Summary;
use crate::failure::Failure;
use crate::screen;
use crate::screen::Screen;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use tacenda::publish::Access;
use tacenda::publish::Project;
use tacenda::publish::ProjectError;
use tacenda::publish::Rehearsal;

/// What a plan answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanReport {
    /// The plan file.
    pub plan: PathBuf,
    /// The rehearsed release.
    pub summary: Summary,
}

/// A plan file. Says what the rehearsal was made from, so that publishing it makes the same bytes.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct Plan {
    /// The version of this file.
    pub tacenda_plan: u32,
    /// The table, as an absolute path.
    pub data: PathBuf,
    /// Whether it holds changes.
    pub delta: bool,
    /// Its SHA-256.
    pub data_sha256: String,
    /// The SHA-256 of the policy file and its hierarchies.
    pub policy_sha256: String,
    /// The hash of the ledger's last line.
    pub ledger_head: String,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The view it is of, for a policy with views.
    #[serde(default)]
    pub view: Option<String>,
    /// A digest of the rehearsed release.
    pub release_digest: String,
}

pub fn run(args: &PlanArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let mut input = shared::input(&args.data, common)?;
    if input.path.as_os_str() != "-" {
        input.path = fs::canonicalize(&input.path)
            .map_err(|error| Failure::environment(format!("{}: {error}", input.path.display())))?;
    }
    let project = shared::open(common, Access::Rehearse, screen)?;
    let bar = screen.steps(5);
    let step = screen::telling(&bar);
    let failed = |error| shared::failure(error, screen);
    let material = project.material(&input, &step).map_err(failed)?;
    let mut rehearsal = shared::rehearse(&project, &material, args.view.as_deref(), args.label.as_deref(), &step).map_err(failed)?;
    rehearsal.measure_queries(project.policy(), &material);
    bar.finish_and_clear();
    let path = args.plan.clone().unwrap_or_else(|| common.project.join("tacenda-plan.json"));
    let plan = Plan::new(&project, &input.path, input.delta, &rehearsal);
    let text = serde_json::to_string_pretty(&plan).map_err(|error| Failure::new("B701", 70, error))? + "\n";
    fs::write(&path, text).map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
    let summary = Summary::new(project.policy(), &material, &rehearsal);
    let headline = format!(
        "Release {} of {}, label {}: rehearsed, nothing is published yet",
        summary.release, summary.series, summary.label
    );
    let text = format!(
        "{}\nThe plan is in {}. To publish it: tacenda{} publish --plan {}\n",
        summary.text(&headline),
        path.display(),
        shared::project_words(common),
        path.display()
    );
    screen.result(&text, &PlanReport { plan: path, summary })?;
    Ok(0)
}

impl Plan {
    fn new(project: &Project, data: &Path, delta: bool, rehearsal: &Rehearsal) -> Plan {
        let release = &rehearsal.prepared.release;
        Plan {
            tacenda_plan: 1,
            data: data.to_path_buf(),
            delta,
            data_sha256: rehearsal.data_digest.clone(),
            policy_sha256: project.policy_digest().to_string(),
            ledger_head: rehearsal.ledger_head.clone(),
            release: release.number,
            label: release.label.clone(),
            view: rehearsal.prepared.view.as_ref().map(|view| view.name.clone()),
            release_digest: rehearsal.release_digest(),
        }
    }

    /// Reads a plan file.
    pub fn read(path: &Path) -> Result<Plan, Failure> {
        let text =
            fs::read_to_string(path).map_err(|error| Failure::environment(format!("{}: {error}", path.display())))?;
        let wrong = |what: String| {
            Failure::new("U203", 2, format!("{} is not a plan: {what}; make one with tacenda plan", path.display()))
        };
        let plan: Plan = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if plan.tacenda_plan != 1 {
            return Err(wrong(format!("version {} is not known here", plan.tacenda_plan)));
        }
        Ok(plan)
    }

    /// Whether a rehearsal is the one that was planned; otherwise what has changed.
    pub fn matches(&self, project: &Project, rehearsal: &Rehearsal) -> Result<(), ProjectError> {
        let release = &rehearsal.prepared.release;
        let what = if self.ledger_head != rehearsal.ledger_head || self.release != release.number {
            "the ledger"
        } else if self.policy_sha256 != project.policy_digest() {
            "the policy"
        } else if self.data_sha256 != rehearsal.data_digest {
            "the table"
        } else if self.release_digest != rehearsal.release_digest() {
            "the program"
        } else {
            return Ok(());
        };
        Err(ProjectError::PlanStale { what })
    }
}
