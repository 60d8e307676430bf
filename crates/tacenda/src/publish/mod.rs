//! Joint 1: group, recode, let the auditor judge, remember, and only then publish.
//!
//! [`prepare`] makes a release and has it judged; it touches no disk, so that a plan, a test and a
//! real publication are the same computation. [`Project`] adds the disk.

mod recode;
mod staged;
mod series;
mod report;
mod project;
mod choices;
mod in_memory;
mod adopt;
mod error;
mod views;
mod adopted;
mod comparison;

pub use crate::model::Reading;
pub use adopt::{Adoption, Foundling};
pub use choices::{Choice, Cost};
pub use comparison::{Against, Compared, Comparison};
pub use error::{CODES, ProjectError};
pub use in_memory::InMemory;
pub use project::{Access, Input, Material, NextRelease, Outcome, POLICY_FILE, Project, Rehearsal, is_project};
pub use recode::{Stamp, recode};
pub use report::{REPORT, ReportRequest};
pub use series::{PrivateTables, PublishedSeries};
pub use views::{NewView, PreparedView, prepare_view};

use crate::audit::k_anonymity::{Account, SeriesRisk};
use crate::audit::{Evidence, Fault, Finding};
use crate::grouping::GroupingError;
use crate::grouping::views::ViewsError;
use crate::model::{Change, Grouping, History, Membership, Published, Release, Schema, Seed, Table};
use crate::promise::{Grouper, PolicyFile, SeriesPromise};

/// A release that the auditor found no fault with, and what follows from it. Not published yet.
#[derive(Debug)]
pub struct Prepared {
    /// What would leave.
    pub release: Release,
    /// Its columns: those of the policy, or of the view it is.
    pub schema: Schema,
    /// Private: who stands where.
    pub membership: Membership,
    /// Private: the history with this release in it.
    pub history: History,
    /// Who came, left and changed.
    pub change: Change,
    /// What there is to say of it, by the kind of promise.
    pub about: Prepares,
}

/// What a prepared release is of.
#[derive(Debug)]
pub enum Prepares {
    /// Of a series of one table.
    Series {
        /// What a study mode breaks on made-up data; always empty for real data.
        findings: Vec<Finding>,
        /// What comparing with the earlier releases reveals, for a promise that holds per release only.
        series_risk: Option<SeriesRisk>,
    },
    /// Of a view.
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

/// Why a release does not come about. Nothing was published.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// No groups can be formed with these data.
    #[error(transparent)]
    Grouping(#[from] GroupingError),
    /// No view can be published with these data.
    #[error(transparent)]
    Views(#[from] ViewsError),
    /// More counterfeits than the policy file allows.
    #[error(
        "{counterfeits} of {rows} rows would be counterfeits, more than the {allowed:.3} that counterfeits.max_share allows; \
         raise the share, lower the parameter, or wait for more rows"
    )]
    TooManyCounterfeits {
        /// How many there would be.
        counterfeits: usize,
        /// Of how many rows.
        rows: usize,
        /// The largest share.
        allowed: f64,
    },
    /// More rows would be left out than the policy file allows.
    #[error(
        "{withheld} of {rows} rows would be withheld, more than the {allowed:.3} that withheld.max_share allows; \
         raise the share or lower the parameter"
    )]
    TooManyWithheld {
        /// How many there would be.
        withheld: usize,
        /// Of how many rows.
        rows: usize,
        /// The largest share.
        allowed: f64,
    },
    /// The auditor refused the release.
    #[error("the auditor refused the release: {}", list(.0))]
    Refused(Vec<Finding>),
}

impl PublishError {
    /// Its code, with a page in `explain`.
    pub fn code(&self) -> &'static str {
        match self {
            PublishError::Grouping(error) => error.code(),
            PublishError::Views(error) => error.code(),
            PublishError::TooManyCounterfeits { .. } => "R411",
            PublishError::TooManyWithheld { .. } => "R412",
            PublishError::Refused(_) => "R401",
        }
    }

    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        match self {
            PublishError::Refused(_) => 1,
            PublishError::Views(error) => error.exit_code(),
            _ => 4,
        }
    }
}

/// Makes the next release of a series and has it judged. `grouper` forms the groups; usually the promise itself.
/// Changes nothing.
pub fn prepare(
    file: &PolicyFile,
    grouper: &dyn Grouper,
    seed: &Seed,
    before: Before<'_>,
    table: &Table,
    label: &str,
) -> Result<Prepared, PublishError> {
    let number = before.history.releases + 1;
    let grouping = grouper.group(&file.schema, before.history, table, &mut seed.rng("group", number))?;
    grouping.assert_covers(table);
    within_limits(file, &grouping, table)?;
    let stamp = Stamp { seed, number, label, linked_ids: file.output.linked_ids };
    let (release, membership) = recode(&file.schema, &grouping, table, stamp);
    let evidence =
        Evidence { schema: &file.schema, history: before.history, table, release: &release, membership: &membership };
    let promise = grouper.promise();
    let findings = judge(&promise, evidence)?;
    let account = promise.inner().account(&evidence, before.snapshot);
    let about = Prepares::Series { findings, series_risk: account.risk };
    let published = published(grouping, account);
    let history = before.history.after(table, &release, &membership, published);
    let change = Change::between(before.history, before.snapshot, table);
    Ok(Prepared { release, schema: file.schema.clone(), membership, history, change, about })
}

/// What a series looked like before a release.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Everything published.
    pub history: &'a History,
    /// The last snapshot, for telling what changed.
    pub snapshot: Option<&'a Table>,
}

/// Findings refuse the release. Only a study on made-up data may go on with them.
fn judge(promise: &SeriesPromise, evidence: Evidence<'_>) -> Result<Vec<Finding>, PublishError> {
    let findings = promise.judge(evidence);
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
    let counterfeits = grouping.counterfeit_count();
    let rows = grouping.row_count() + counterfeits;
    if counterfeits as f64 > file.limits.counterfeits * rows as f64 {
        return Err(PublishError::TooManyCounterfeits { counterfeits, rows, allowed: file.limits.counterfeits });
    }
    let withheld = grouping.withheld.len();
    if withheld as f64 > file.limits.withheld * table.len() as f64 {
        return Err(PublishError::TooManyWithheld { withheld, rows: table.len(), allowed: file.limits.withheld });
    }
    Ok(())
}

fn list(findings: &[Finding]) -> String {
    findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; ")
}
