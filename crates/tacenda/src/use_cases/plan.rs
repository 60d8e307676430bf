//! Rehearses the next release and remembers its inputs by their digests.

use crate::files;
use crate::grouping::Drift;
use crate::ingest::Given;
use crate::ledger::Approval;
use crate::promise::SignatureRules;
use crate::publish::{
    Access, Choice, ComparisonReport, ForecastReport, MOST_COMPARED, ProjectError, approval, signature_of,
};
use crate::use_cases::overview::plan_file;
use crate::use_cases::release::{REHEARSED, TableOf, rehearsed};
use crate::use_cases::{Progress, Rehearsed, ReleaseRequest, Summary, UseCaseError, assert_private, write_private};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// The answer of plan.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanReport {
    /// The plan file.
    pub plan: PathBuf,
    /// The rehearsed release.
    pub summary: Summary,
    /// What each way of keeping the promise costs; empty if there is only one.
    pub choices: Vec<Choice>,
    /// How far a maintained clustering has drifted; only for k-anonymity, from the second release on.
    pub drift: Option<DriftReport>,
    /// A view compared with what else could be published; only for promises about views.
    pub comparison: Option<ComparisonReport>,
    /// What the next releases will need, if the table continues to change as it just did. Not for promises about views,
    /// nor for very large tables.
    pub forecast: Option<ForecastReport>,
}

/// A maintained clustering compared with one from scratch. Losses are measured by `loss` of the policy file.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DriftReport {
    /// Loss with the clusters of the last release and the changes since.
    pub loss_kept: f64,
    /// Loss of clustering this table from scratch.
    pub loss_from_scratch: f64,
    /// Loss when everything was last clustered from scratch: `static` in the rule.
    pub loss_static: f64,
    /// `loss_kept` over `loss_static`, which the rule compares; absent if `loss_static` is 0.
    pub ratio: Option<f64>,
    /// The factor of the rule, if the policy file has one.
    pub refresh_above: Option<f64>,
    /// Whether this release is clustered from scratch.
    pub refreshes: bool,
    /// The same in the promise's words: a name and a sentence each.
    #[serde(skip)]
    pub told: Vec<(&'static str, String)>,
}

/// A plan file. It records what the rehearsal was made from, so that publishing it makes the same bytes.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
pub struct Plan {
    /// The version of this file.
    pub tacenda_plan: u32,
    /// What the table is called: the name of its file, or of a table in a database or in memory. The vault keeps the table.
    pub data: PathBuf,
    /// Whether it holds changes.
    pub delta: bool,
    /// The digest of the table's bytes that the ledger will have. It is keyed, so it reveals nothing.
    pub source: String,
    /// The SHA-256 of the policy file and its hierarchies.
    pub policy_sha256: String,
    /// The hash of the ledger's last line, deliveries left aside.
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
    /// The digest of the table that the ledger will have. It is keyed, so it reveals nothing.
    #[serde(default)]
    pub input: String,
    /// The files of the vault that keep the table, with their keyed digests. So exactly the rehearsed table is
    /// published, even if the file changes.
    #[serde(default)]
    pub kept: BTreeMap<String, String>,
    /// What was concluded about the table. The kept table does not say it.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// Rehearses the next release, compares what it costs with what else could be published, and writes the plan to
/// `file`, or into the project folder.
pub fn plan(
    mut request: ReleaseRequest,
    file: Option<PathBuf>,
    progress: Progress<'_>,
) -> Result<PlanReport, UseCaseError> {
    let table = request.table()?;
    let project = request.project.open(Access::Rehearse)?;
    if let (TableOf::Database(_), Some(label)) = (&table, &request.label) {
        project.assert_unused(label)?;
    }
    let input = request.input(table, &project)?;
    // The vault keeps the table, and the plan is published from there. Where the file lies is nobody's concern.
    let data = match &input.table {
        Given::Path(data) => data.file_name().map_or_else(|| data.clone(), PathBuf::from),
        Given::Frame(source) => PathBuf::from(source.name()),
    };
    let delta = input.delta;
    let step = |what: &str| progress(REHEARSED + 2, what);
    let mut rehearsed = rehearsed(project, input, &request, &step)?;
    let Rehearsed { project, material, rehearsal, .. } = &mut rehearsed;
    rehearsal.measure_queries(project.policy(), material);
    let comparison = rehearsal.compared(project.policy(), material);
    step("comparing choices");
    let ways = project.ways(project.policy(), material, rehearsal, MOST_COMPARED)?;
    let drift = project.drift(material).map(|(drift, told)| DriftReport::new(drift, told));
    step("looking ahead");
    let forecast = rehearsal.forecast(project.policy(), material);
    let plan = file.unwrap_or_else(|| plan_file(&request.project.root));
    // Asked first, because a table that no plan names would stay in the vault. The file itself is never there half.
    assert_private(&plan)?;
    let kept = rehearsed.keep_planned()?;
    let plan_file = Plan { kept, ..Plan::new(&rehearsed, data, delta) };
    let text = serde_json::to_string_pretty(&plan_file).expect("paths and digests are JSON");
    write_private(&plan, (text + "\n").as_bytes())?;
    let mut summary = rehearsed.summary();
    summary.notes.extend(ways.notes());
    Ok(PlanReport { plan, summary, choices: ways.choices, drift, comparison, forecast })
}

impl DriftReport {
    fn new(drift: Drift, told: Vec<(&'static str, String)>) -> DriftReport {
        DriftReport {
            loss_kept: drift.kept,
            loss_from_scratch: drift.scratch,
            loss_static: drift.last_scratch,
            ratio: (drift.last_scratch > 0.0).then(|| drift.kept / drift.last_scratch),
            refresh_above: drift.factor,
            refreshes: drift.refreshes,
            told,
        }
    }
}

impl Plan {
    fn new(rehearsed: &Rehearsed, data: PathBuf, delta: bool) -> Plan {
        let Rehearsed { project, rehearsal, .. } = rehearsed;
        let release = &rehearsal.prepared.release;
        Plan {
            tacenda_plan: 1,
            data,
            delta,
            source: rehearsal.source.clone(),
            policy_sha256: project.policy_digest().to_string(),
            ledger_head: project.series_head().to_string(),
            release: release.number,
            label: release.label.clone(),
            view: rehearsal.prepared.view().map(|view| view.name.clone()),
            release_digest: rehearsal.release_digest(),
            input: project.input_of(release.number, rehearsed.material.table()),
            kept: BTreeMap::new(),
            notes: rehearsed.material.notes().to_vec(),
        }
    }

    /// Reads a plan file.
    pub(super) fn read(path: &Path) -> Result<Plan, UseCaseError> {
        Plan::parse(path, &files::read(path).map_err(UseCaseError::file(path))?)
    }

    /// The approval beside a plan file, if there is one. Only a key that the policy lists as an approver's counts.
    pub(super) fn approval(path: &Path, rules: &SignatureRules) -> Result<Option<Approval>, UseCaseError> {
        let beside = signature_of(path);
        let signature = match files::read_text(&beside) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            read => read.map_err(UseCaseError::file(&beside))?,
        };
        let plan = files::read(path).map_err(UseCaseError::file(path))?;
        Ok(Some(approval(rules, &plan, &signature)?))
    }

    /// What the bytes of a plan file say.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Plan, UseCaseError> {
        let wrong = |what: String| UseCaseError::NotAPlan { file: path.to_path_buf(), what };
        // What the file says there is not repeated, because it may be anything.
        let plan: Plan = serde_json::from_slice(bytes)
            .map_err(|error| wrong(format!("line {} has something else than a plan has there", error.line())))?;
        match plan.tacenda_plan {
            1 => Ok(plan),
            version => Err(wrong(format!("version {version} is not known here"))),
        }
    }

    /// Whether a rehearsal is the one that was planned; otherwise what has changed.
    pub(super) fn matches(&self, rehearsed: &Rehearsed) -> Result<(), ProjectError> {
        let Rehearsed { project, rehearsal, .. } = rehearsed;
        let what = if self.ledger_head != project.series_head() || self.release != rehearsal.prepared.release.number {
            "the ledger"
        } else if self.policy_sha256 != project.policy_digest() {
            "the policy"
        } else if self.source != rehearsal.source {
            "the table"
        } else if self.release_digest != rehearsal.release_digest() {
            "the program"
        } else {
            return Ok(());
        };
        Err(ProjectError::PlanStale { what })
    }
}
