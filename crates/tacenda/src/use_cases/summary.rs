//! A rehearsed or published release in numbers.

use crate::measure::{CountErrors, Loss};
use crate::model::Schema;
use crate::promise::PolicyFile;
use crate::publish::{Ingredients, PeopleFacts, PreparedView, Rehearsal};
use schemars::JsonSchema;
use serde::Serialize;

/// A rehearsed or published release in numbers. Private: for the steward.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Summary {
    /// The series' name.
    pub series: String,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The view it is of, for a policy with views.
    pub view: Option<ViewSummary>,
    /// The promise, in one sentence.
    pub promise: String,
    /// The same in short, without the reader.
    pub promise_in_short: String,
    /// How earlier releases that were made elsewhere break it, one sentence each. Then the series does not keep it.
    pub not_kept: Vec<String>,
    /// People in the snapshot.
    pub people: u64,
    /// People never seen before.
    pub arrived: u32,
    /// People who are back.
    pub returned: u32,
    /// People who are gone.
    pub left: u32,
    /// People whose quasi values changed.
    pub quasi_changed: u32,
    /// People whose sensitive value changed.
    pub sensitive_changed: u32,
    /// People who are published.
    pub published: u64,
    /// People who are left out of this release.
    pub withheld: u64,
    /// Those of them who were never published and wait.
    pub waiting: u64,
    /// Those of them who were published before. If records are only added, they are withheld for good.
    pub taken_out: u64,
    /// Groups.
    pub groups: u64,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// Distinct value sets among the groups of the whole series.
    pub value_sets: u64,
    /// Loss measures; docs/formats.md defines them.
    #[serde(serialize_with = "Loss::rounded")]
    #[schemars(with = "serde_json::Value")]
    pub loss: Loss,
    /// Median relative error of random count queries, against the snapshot.
    pub query_error: Option<f64>,
    /// Median relative errors of simple counts, against the snapshot.
    pub count_errors: Option<CountErrors>,
    /// What comparing with the earlier releases reveals, for a promise that holds per release only.
    pub series_risk: Option<String>,
    /// Whether the policy file must give a reason before this can be published.
    pub needs_reason: bool,
    /// What a study mode breaks on made-up data.
    pub findings: Vec<String>,
    /// What was concluded about the input, and warnings with a code.
    pub notes: Vec<String>,
}

/// Results about a view, besides its release.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ViewSummary {
    /// Its name.
    pub name: String,
    /// Who gets it.
    pub recipients: Vec<String>,
    /// Further promises, one sentence each.
    pub also: Vec<String>,
    /// Specialisations that were taken back because the finished view did not pass the audit.
    pub steps_back: u64,
    /// Per row, how many levels its categories were lifted, summed over the columns.
    pub distortion_categories: f64,
    /// Per row, the share of the domain that its numeric spans cover, summed over the columns.
    pub distortion_numbers: f64,
    /// Its columns, in the order of `information_kept`.
    pub columns: Vec<String>,
    /// The column that the published detail should predict.
    pub target: Option<String>,
    /// Per column, the share of its information about the target that is kept; null if it had none.
    pub information_kept: Vec<Option<f64>>,
    /// What was found and what was not examined.
    pub notes: Vec<String>,
}

impl ViewSummary {
    fn new(view: &PreparedView, file: &PolicyFile, schema: &Schema) -> ViewSummary {
        let views = file.views();
        ViewSummary {
            name: view.name.clone(),
            recipients: view.recipients.clone(),
            also: views.iter().flat_map(|views| &views.also).map(|promise| promise.terms().sentence).collect(),
            steps_back: view.steps_back as u64,
            distortion_categories: view.utility.distortion_categories,
            distortion_numbers: view.utility.distortion_numbers,
            columns: schema.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
            target: views.and_then(|views| views.target.clone()),
            information_kept: view.utility.information_kept.clone(),
            notes: view.notes.clone(),
        }
    }
}

impl Summary {
    /// Sums a rehearsal up.
    pub(super) fn new(file: &PolicyFile, material: &Ingredients, rehearsal: &Rehearsal) -> Summary {
        let (release, change) = (&rehearsal.prepared.release, rehearsal.prepared.change);
        let counterfeits = release.counterfeit_count();
        let PeopleFacts { people, withheld, taken_out } = rehearsal.prepared.facts;
        Summary {
            series: file.series.name.clone(),
            release: release.number,
            label: release.label.clone(),
            view: rehearsal.prepared.view().map(|view| ViewSummary::new(view, file, &rehearsal.prepared.schema)),
            promise: file.terms().sentence,
            promise_in_short: file.terms().short(),
            not_kept: rehearsal.not_kept.clone(),
            people,
            arrived: change.arrived,
            returned: change.returned,
            left: change.left,
            quasi_changed: change.quasi_changed,
            sensitive_changed: change.sensitive_changed,
            published: release.row_count() as u64 - counterfeits,
            withheld,
            waiting: withheld - taken_out,
            taken_out,
            groups: release.group_count() as u64,
            counterfeits,
            value_sets: rehearsal.prepared.history.value_sets.len() as u64,
            loss: rehearsal.loss.clone(),
            query_error: rehearsal.query_error.as_ref().map(|error| error.median),
            count_errors: rehearsal.count_errors.clone(),
            series_risk: rehearsal.prepared.series_risk().map(|risk| risk.to_string()),
            needs_reason: rehearsal.prepared.series_risk().is_some() && file.reasons.accept_series_risk.is_none(),
            findings: rehearsal.prepared.findings().iter().map(ToString::to_string).collect(),
            notes: material.notes().iter().chain(&rehearsal.warnings).cloned().collect(),
        }
    }
}
