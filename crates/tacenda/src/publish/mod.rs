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
mod warnings;

pub use crate::model::Reading;
pub use adopt::{Adoption, Foundling};
pub use choices::{Choice, Cost};
pub use comparison::{Against, Compared, Comparison};
pub use error::{ProjectError, PublishError, codes};
pub use in_memory::InMemory;
pub use project::{Access, Input, Material, Outcome, POLICY_FILE, Project, Rehearsal, is_project};
pub use recode::recode;
pub(crate) use report::software;
pub use report::{REPORT, ReportRequest};
pub(crate) use series::laid_out;
pub use series::{PrivateTables, PublishedSeries};
pub use views::{PreparedView, prepare_view};

use crate::audit::k_anonymity::{Account, SeriesRisk};
use crate::audit::{Evidence, Fault, Finding, gate, k_anonymity};
use crate::model::{
    Change, DiversityMode, Grouping, History, Membership, PolicyFile, Promise, Published, Release, Seed, Table,
};
use crate::policy::Policy;

/// A release that the auditor found no fault with, and what follows from it. Not published yet.
#[derive(Debug)]
pub struct Prepared {
    /// What would leave.
    pub release: Release,
    /// Private: who stands where.
    pub membership: Membership,
    /// Private: the history with this release in it.
    pub history: History,
    /// Who came, left and changed.
    pub change: Change,
    /// What a study mode breaks on made-up data; always empty for real data.
    pub findings: Vec<Finding>,
    /// What comparing with the earlier releases reveals, for a promise that holds per release only.
    pub series_risk: Option<SeriesRisk>,
    /// The view it is of, for promises about views.
    pub view: Option<PreparedView>,
}

/// Makes the next release of a series and has it judged. Changes nothing.
pub fn prepare(
    file: &PolicyFile,
    policy: &dyn Policy,
    seed: &Seed,
    before: Before<'_>,
    table: &Table,
    label: &str,
) -> Result<Prepared, PublishError> {
    let number = before.history.releases + 1;
    let grouping = policy.group(&file.schema, before.history, table, &mut seed.rng("group", number))?;
    grouping.assert_covers(table);
    within_limits(file, &grouping, table)?;
    let (release, membership) = recode(file, &grouping, table, seed, number, label);
    let findings = judge(file, policy, before.history, table, &release, &membership)?;
    let evidence =
        Evidence { schema: &file.schema, history: before.history, table, release: &release, membership: &membership };
    let account = account(&file.promise, &evidence, before.snapshot);
    let series_risk = account.risk;
    let published = published(grouping, account);
    let history = before.history.after(table, &release, &membership, published);
    let change = Change::between(before.history, before.snapshot, table);
    Ok(Prepared { release, membership, history, change, findings, series_risk, view: None })
}

/// What a series looked like before a release.
#[derive(Clone, Copy, Debug)]
pub struct Before<'a> {
    /// Everything published.
    pub history: &'a History,
    /// The last snapshot, for telling what changed.
    pub snapshot: Option<&'a Table>,
}

/// Findings refuse the release. Only the study mode of paper 002 on made-up data may go on with them.
fn judge(
    file: &PolicyFile,
    policy: &dyn Policy,
    history: &History,
    table: &Table,
    release: &Release,
    membership: &Membership,
) -> Result<Vec<Finding>, PublishError> {
    let promise = policy.promise();
    let findings = gate(&promise, Evidence { schema: &file.schema, history, table, release, membership });
    let is_study = matches!(promise, Promise::IncrementalLDiversity { mode: DiversityMode::Paper, .. });
    let is_breach = |finding: &Finding| {
        matches!(finding.fault, Fault::TooFewCandidates | Fault::Unbalanced | Fault::ValueSetChanged)
    };
    if findings.is_empty() || (is_study && file.choices.made_up && findings.iter().all(is_breach)) {
        Ok(findings)
    } else {
        Err(PublishError::Refused(findings))
    }
}

/// What the series reveals, for a promise that holds per release only.
fn account(promise: &Promise, evidence: &Evidence<'_>, snapshot: Option<&Table>) -> Account {
    match promise {
        Promise::KAnonymity { k } => k_anonymity::account(*k, evidence, snapshot),
        _ => Account::default(),
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
