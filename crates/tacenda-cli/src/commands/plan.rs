//! Rehearse the next release and remember its inputs by their digests.

use crate::args::{Common, PlanArgs};
use crate::commands::shared;
use crate::commands::shared::Summary;
use crate::failure::Failure;
use crate::screen;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{fs, path};
use tacenda::grouping::Drift;
use tacenda::publish::{Access, Against, Choice, Compared, Comparison, Project, ProjectError, Rehearsal};
use tacenda::report::percent;

/// What a plan answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PlanReport {
    /// The plan file.
    pub plan: PathBuf,
    /// The rehearsed release.
    pub summary: Summary,
    /// What each way of keeping incremental-k-anonymity costs; empty for other promises.
    pub choices: Vec<ChoiceReport>,
    /// How far a maintained clustering has drifted; only for k-anonymity, from the second release on.
    pub drift: Option<DriftReport>,
    /// A view next to what else could be published; only for promises about views.
    pub comparison: Option<ComparisonReport>,
}

/// A view next to what else could be published. Private: for the steward.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparisonReport {
    /// The class that is told, if the view has it.
    pub target: Option<String>,
    /// The view first.
    pub lines: Vec<ComparedReport>,
    /// Rows that trees were grown on: two of three in the order of the keyed identifiers.
    pub training_rows: u64,
    /// Rows that trees were tested on: every third one.
    pub test_rows: u64,
    /// What was not measured.
    pub notes: Vec<String>,
}

/// One line of the comparison.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ComparedReport {
    /// `view`, `as-it-is`, `k-anonymity` on all columns, or `without-join`: without the columns readers can join on.
    pub of: String,
    /// The k of `k-anonymity`.
    pub k: Option<u64>,
    /// Per row, how many levels its categories were lifted, summed over the columns.
    pub distortion_categories: f64,
    /// Per row, the share of the domain its numbers leave open, summed over the columns.
    pub distortion_numbers: f64,
    /// The share of the bits that its columns tell of the target one by one that they still tell.
    pub information_kept: Option<f64>,
    /// The share of test rows whose class a decision tree tells wrongly.
    pub classification_error: Option<f64>,
}

/// One way to keep incremental-k-anonymity.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ChoiceReport {
    /// What is published: `cohorts`, `cells` or `tight`.
    pub choice: String,
    /// How the policy file asks for it.
    pub setting: String,
    /// Whether the policy file does.
    pub chosen: bool,
    /// Why it cannot be chosen, if it cannot.
    pub refused: Option<String>,
    /// Groups.
    pub groups: Option<u64>,
    /// People who are left out.
    pub withheld: Option<u64>,
    /// Mean loss.
    pub loss: Option<f64>,
    /// What to know of it, each with a code.
    pub warnings: Vec<String>,
}

/// A maintained clustering next to one from scratch. Losses as `loss` in the policy file measures them.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DriftReport {
    /// Loss with the clusters of the last release and the changes since.
    pub loss_kept: f64,
    /// Loss of clustering this table from scratch.
    pub loss_from_scratch: f64,
    /// Loss when everything was last clustered from scratch: `static` in the rule.
    pub loss_static: f64,
    /// `loss_kept` over `loss_static`, which the rule compares; absent where `loss_static` is 0.
    pub ratio: Option<f64>,
    /// The factor of the rule, if the policy file has one.
    pub refresh_above: Option<f64>,
    /// Whether this release is clustered from scratch.
    pub refreshes: bool,
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
        // The plan may be published from another folder.
        input.path = path::absolute(&input.path)
            .map_err(|error| Failure::environment(format!("{}: {error}", input.path.display())))?;
    }
    let project = shared::open(common, Access::Rehearse, screen)?;
    let bar = screen.steps(6);
    let step = screen::telling(&bar);
    let failed = |error| shared::failure(error, screen);
    let material = project.material(&input, &step).map_err(failed)?;
    let mut rehearsal =
        shared::rehearse(&project, &material, args.view.as_deref(), args.label.as_deref(), &step).map_err(failed)?;
    rehearsal.measure_queries(project.policy(), &material);
    rehearsal.compare_view(project.policy(), &material);
    step("comparing choices");
    let choices = project.choices(&material, &rehearsal).map_err(failed)?;
    let drift = project.drift(&material);
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
        "{}{}{}{}\nThe plan is in {}. To publish it: tacenda{} publish --plan {}\n",
        summary.text(&headline),
        rehearsal.comparison.as_ref().map_or(String::new(), compared_text),
        drift.as_ref().map_or(String::new(), drift_text),
        choices_text(&choices),
        path.display(),
        shared::project_words(common),
        path.display()
    );
    let choices = choices.into_iter().map(ChoiceReport::from).collect();
    let comparison = rehearsal.comparison.map(ComparisonReport::from);
    let drift = drift.map(DriftReport::from);
    screen.result(&text, &PlanReport { plan: path, summary, choices, drift, comparison })?;
    Ok(0)
}

impl From<Choice> for ChoiceReport {
    fn from(choice: Choice) -> ChoiceReport {
        let cost = choice.cost.as_ref().ok();
        ChoiceReport {
            choice: choice.name.to_string(),
            setting: choice.setting.to_string(),
            chosen: choice.is_chosen,
            groups: cost.map(|cost| cost.groups),
            withheld: cost.map(|cost| cost.withheld),
            loss: cost.map(|cost| cost.loss),
            refused: choice.cost.err(),
            warnings: choice.warnings,
        }
    }
}

impl From<Comparison> for ComparisonReport {
    fn from(found: Comparison) -> ComparisonReport {
        let line = |line: &Compared| {
            let (of, k) = match line.of {
                Against::View => ("view", None),
                Against::AsItIs => ("as-it-is", None),
                Against::KAnonymity { k } => ("k-anonymity", Some(k)),
                Against::WithoutJoin => ("without-join", None),
            };
            ComparedReport {
                of: of.into(),
                k,
                distortion_categories: line.distortion_categories,
                distortion_numbers: line.distortion_numbers,
                information_kept: line.information_kept,
                classification_error: line.classification_error,
            }
        };
        ComparisonReport {
            lines: found.lines.iter().map(line).collect(),
            training_rows: found.rows.0,
            test_rows: found.rows.1,
            target: found.target,
            notes: found.notes,
        }
    }
}

impl From<Drift> for DriftReport {
    fn from(drift: Drift) -> DriftReport {
        DriftReport {
            loss_kept: drift.kept,
            loss_from_scratch: drift.scratch,
            loss_static: drift.last_scratch,
            ratio: (drift.last_scratch > 0.0).then(|| drift.kept / drift.last_scratch),
            refresh_above: drift.factor,
            refreshes: drift.refreshes,
        }
    }
}

/// What each choice costs, one line each, below a head.
fn choices_text(choices: &[Choice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let mut out = format!("\n  {:<9} {:>10} {:>10} {:>9}\n", "choices", "groups", "withheld", "loss");
    for choice in choices {
        let chosen = if choice.is_chosen { " (chosen)" } else { "" };
        let _ = match &choice.cost {
            Ok(cost) => writeln!(
                out,
                "  {:<9} {:>10} {:>10} {:>9}  {}{chosen}",
                choice.name,
                number(cost.groups),
                number(cost.withheld),
                percent(cost.loss),
                choice.setting
            ),
            Err(why) => writeln!(out, "  {:<9} not now: {why}", choice.name),
        };
    }
    out.push_str("  cells and tight do not protect against someone who knows when a person entered the data, and a guard l\n  holds in each of their releases alone\n");
    // What is chosen has its warnings among the notes; each column is told of once.
    let chosen = choices.iter().filter(|choice| choice.is_chosen);
    let mut told: Vec<&String> = chosen.flat_map(|choice| &choice.warnings).collect();
    for warning in choices.iter().flat_map(|choice| &choice.warnings) {
        if !told.contains(&warning) {
            told.push(warning);
            let _ = writeln!(out, "  cells and tight: {warning}");
        }
    }
    out
}

/// A view next to what else could be published, one line each, below a head.
fn compared_text(found: &Comparison) -> String {
    let has_classes = found.lines.iter().any(|line| line.classification_error.is_some());
    let (told, wrong) = (if found.target.is_some() { "told" } else { "" }, if has_classes { "wrong" } else { "" });
    let head = format!("  {:<22} {:>10} {:>9} {told:>9} {wrong:>9}", "compared", "categories", "numbers");
    let mut out = format!("\n{}\n", head.trim_end());
    let share = |share: Option<f64>| share.map_or(String::new(), percent);
    for line in &found.lines {
        let of = match line.of {
            Against::View => "this view".to_string(),
            Against::AsItIs => "the rows as they are".into(),
            Against::KAnonymity { k } => format!("k-anonymity, k = {k}"),
            Against::WithoutJoin => "without join columns".into(),
        };
        let (categories, numbers) = (line.distortion_categories, line.distortion_numbers);
        let (told, wrong) = (share(line.information_kept), share(line.classification_error));
        let line = format!("  {of:<22} {categories:>10.3} {numbers:>9.3} {told:>9} {wrong:>9}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push_str("  categories and numbers: distortion per row, in levels and in shares of the domain\n");
    if let Some(target) = &found.target {
        let _ = writeln!(out, "  told: the part that is left of what the columns tell one by one about {target}");
    }
    if has_classes {
        let (training, test) = (number(found.rows.0), number(found.rows.1));
        let _ = writeln!(
            out,
            "  wrong: the part of {test} test rows for which a decision tree grown on {training} others, published alike, errs"
        );
    }
    for note in &found.notes {
        let _ = writeln!(out, "  {note}");
    }
    out
}

/// How far the clustering has drifted, and what the rule does about it.
fn drift_text(drift: &Drift) -> String {
    let mut out = format!(
        "  {:<13} loss of the kept clusters {}, from scratch now {}, at the last time from scratch {}\n",
        "drift",
        percent(drift.kept),
        percent(drift.scratch),
        percent(drift.last_scratch)
    );
    let ratio = match drift.last_scratch > 0.0 {
        true => format!("{:.3} x static", drift.kept / drift.last_scratch),
        false => "static is 0".to_string(),
    };
    let _ = match (drift.factor, drift.refreshes) {
        (None, _) => writeln!(out, "  {:<13} no rule; the clusters are kept ({ratio})", "refresh"),
        (Some(factor), true) => {
            writeln!(out, "  {:<13} {ratio}, more than {factor}: everything is clustered from scratch", "refresh")
        }
        (Some(factor), false) if drift.kept > factor * drift.last_scratch => writeln!(
            out,
            "  {:<13} {ratio}, more than {factor}, but from scratch would be no better: the clusters are kept",
            "refresh"
        ),
        (Some(factor), false) => {
            writeln!(out, "  {:<13} {ratio}, not more than {factor}: the clusters are kept", "refresh")
        }
    };
    out
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
            view: rehearsal.prepared.view().map(|view| view.name.clone()),
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
