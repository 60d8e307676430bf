//! Publishing: form groups, recode, let the auditor judge, update the history, and only then publish.
//!
//! [`prepare`] makes a release and lets the auditor judge it. It touches no disk, so that a plan, a test and a real
//! publication are the same computation. [`Project`] adds the disk.

mod recode;
mod counts;
mod amend;
mod backup;
mod formulas;
mod staged;
mod signed;
mod series;
mod report;
mod rerun;
mod project;
mod choices;
mod in_memory;
mod on_disk;
mod from_cluster;
mod adopt;
mod erase;
mod erratum;
mod retract;
mod forecast;
mod free_memory;
mod error;
mod views;
mod adopted;
mod comparison;

pub use crate::model::Reading;
pub use adopt::{Adoption, Foundling};
pub(crate) use backup::back_up;
pub(crate) use choices::MOST_COMPARED;
pub use choices::{Choice, Ways, is_offer};
pub use comparison::{Against, Compared, ComparisonReport};
pub use erase::Erased;
pub use error::{ProjectError, PublishError, codes};
pub use forecast::{ForecastRelease, ForecastReport};
pub(crate) use free_memory::rows_that_fit;
pub use from_cluster::ClusterTable;
pub use in_memory::InMemory;
pub use on_disk::{Blob, BlobKind, Cluster, ClusterStep, Kernel, Listener, StepInput};
use project::erased_note;
pub use project::{Access, Ingredients, Input, Judged, Machine, NextRelease, Project, PublishedRelease, Rehearsal};
pub(crate) use project::{POLICY_FILE, is_project, memory_for, most_rows, now};
pub use recode::{Stamp, recode};
pub use report::ReportRequest;
pub(crate) use report::{REPORT, software};
pub use rerun::Remaking;
pub(crate) use series::laid_out;
pub use series::{PrivateTables, PublishedSeries};
pub use signed::{SIGNATURE, assert_signer};
pub(crate) use signed::{approval, check_signed, signature_of, uncovered};
pub use views::{NewView, PreparedView, prepare_view};

use crate::audit::k_anonymity::{Account, SeriesRisk};
use crate::audit::{Evidence, Fault, Finding};
use crate::model::{Change, Grouping, History, Membership, Published, Release, Row, Schema, Seed, Table};
use crate::promise::{Grouper, PolicyFile, SeriesPromise};

/// A release in which the auditor found no fault, and the history after it. Not published yet.
#[derive(Debug)]
pub struct Prepared {
    /// The release.
    pub release: Release,
    /// Its columns: those of the policy, or of the view it is.
    pub schema: Schema,
    /// Private: who is in which row.
    pub membership: Membership,
    /// Private: the history with this release in it.
    pub history: History,
    /// Arrivals, departures and changes.
    pub change: Change,
    /// How many people there are, and how many are left out.
    pub facts: PeopleFacts,
    /// Further results, by the kind of promise.
    pub about: Prepares,
}

/// How many people a snapshot has, and how many of them a release leaves out. For the steward.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct PeopleFacts {
    /// People in the snapshot.
    pub people: u64,
    /// People who are left out of the release.
    pub withheld: u64,
    /// Those of them who were published before.
    pub taken_out: u64,
}

impl PeopleFacts {
    pub(crate) fn of(history: &History, table: &Table, membership: &Membership) -> PeopleFacts {
        let was_published = |row: &&Row| history.record(table.key(**row)).is_some_and(|record| record.is_published());
        PeopleFacts {
            people: table.len() as u64,
            withheld: membership.withheld.len() as u64,
            taken_out: membership.withheld.iter().filter(was_published).count() as u64,
        }
    }
}

/// The kind of a prepared release.
#[derive(Debug)]
pub enum Prepares {
    /// A release of a series of one table.
    Series {
        /// What a study mode breaks on made-up data; always empty for real data.
        findings: Vec<Finding>,
        /// What comparing with the earlier releases reveals, for a promise that holds per release only.
        series_risk: Option<SeriesRisk>,
    },
    /// A release of a view.
    View(PreparedView),
}

impl Prepared {
    /// What a study mode breaks on made-up data; always empty for real data.
    pub fn findings(&self) -> &[Finding] {
        match &self.about {
            Prepares::Series { findings, .. } => findings,
            Prepares::View(_) => &[],
        }
    }

    /// What comparing with the earlier releases reveals, for a promise that holds per release only.
    pub fn series_risk(&self) -> Option<SeriesRisk> {
        match &self.about {
            Prepares::Series { series_risk, .. } => *series_risk,
            Prepares::View(_) => None,
        }
    }

    /// The view, if it is one.
    pub fn view(&self) -> Option<&PreparedView> {
        match &self.about {
            Prepares::Series { .. } => None,
            Prepares::View(view) => Some(view),
        }
    }
}

/// Makes the next release of a series and lets the auditor judge it. `grouper` forms the groups; it is usually the
/// promise itself. Nothing is changed.
pub fn prepare(
    file: &PolicyFile,
    grouper: &dyn Grouper,
    seed: &Seed,
    before: Before<'_>,
    table: &Table,
    label: &str,
) -> Result<Prepared, PublishError> {
    let number = before.history.releases + 1;
    let grouping = grouper.group(&file.schema, before.history, table, &seed.lots("group", number))?;
    grouping.assert_covers(table);
    within_limits(file, &grouping, table)?;
    let stamp = Stamp { seed, number, label, linked_ids: file.output.linked_ids };
    let (mut release, membership) = recode(&file.schema, &grouping, table, stamp);
    release.counts = counts::of(file, before.history, table, &membership);
    let evidence =
        Evidence { schema: &file.schema, history: before.history, table, release: &release, membership: &membership };
    let promise = grouper.promise();
    let findings = judge(&promise, evidence)?;
    let account = promise.inner().account(&evidence, before.snapshot);
    let about = Prepares::Series { findings, series_risk: account.risk };
    let published = published(grouping, account);
    let history = before.history.after(table, &release, &membership, published);
    let change = Change::between(before.history, before.snapshot, table);
    let facts = PeopleFacts::of(before.history, table, &membership);
    Ok(Prepared { release, schema: file.schema.clone(), membership, history, change, facts, about })
}

/// The state of a series before a release.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Everything published.
    pub history: &'a History,
    /// The last snapshot, to see what changed.
    pub snapshot: Option<&'a Table>,
}

/// Findings refuse the release. Only a study on made-up data may continue with them.
fn judge(promise: &SeriesPromise, evidence: Evidence<'_>) -> Result<Vec<Finding>, PublishError> {
    is_refused(promise, promise.judge(evidence))
}

fn is_refused(promise: &SeriesPromise, findings: Vec<Finding>) -> Result<Vec<Finding>, PublishError> {
    let is_breach = |finding: &Finding| {
        matches!(finding.fault, Fault::TooFewCandidates | Fault::Unbalanced | Fault::ValueSetChanged)
    };
    if findings.is_empty() || (promise.inner().is_study() && findings.iter().all(is_breach)) {
        Ok(findings)
    } else {
        Err(PublishError::Refused(findings))
    }
}

/// What a grouping and the account of the series leave behind.
fn published(grouping: Grouping, account: Account) -> Published {
    let mut facts = grouping.facts;
    facts.extend(account.facts);
    Published { cells: grouping.cells, facts, met: account.met, places: account.places }
}

fn within_limits(file: &PolicyFile, grouping: &Grouping, table: &Table) -> Result<(), PublishError> {
    assert_limits(file, grouping.counterfeit_count(), grouping.row_count(), grouping.withheld.len(), table.len())
}

/// Refuses more counterfeits or people left out than the policy file allows.
fn assert_limits(
    file: &PolicyFile,
    counterfeits: usize,
    published: usize,
    withheld: usize,
    people: usize,
) -> Result<(), PublishError> {
    let rows = published + counterfeits;
    if counterfeits as f64 > file.limits.counterfeits * rows as f64 {
        return Err(PublishError::TooManyCounterfeits { counterfeits, rows, allowed: file.limits.counterfeits });
    }
    if withheld as f64 > file.limits.withheld * people as f64 {
        return Err(PublishError::TooManyWithheld { withheld, rows: people, allowed: file.limits.withheld });
    }
    Ok(())
}
