//! Promises about all releases of one table.
//!
//! Each has a folder: its parameters and words (`mod.rs`), how groups are formed (`group.rs`), and how a finished
//! release is judged from the definition (`check.rs`).

mod m_invariance;
mod incremental_k_anonymity;
mod incremental_l_diversity;
mod k_anonymity;
#[cfg(test)]
mod oracle;
mod readers;

pub use crate::grouping::buckets::cut::CutEffort;
pub use crate::grouping::{Base, LossKind, SeedRule};
pub use incremental_k_anonymity::{IncrementalKAnonymity, OnDelete};
pub use incremental_l_diversity::{DiversityMode, GroupForming, IncrementalLDiversity};
pub use k_anonymity::KAnonymity;
pub(crate) use m_invariance::ASSUMED_CHURN;
pub use m_invariance::{MInvariance, OnIneligible, Stayed, Surplus};

use crate::audit::k_anonymity::Account;
use crate::audit::{Evidence, Faults, Finding, gate};
use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::crowd::Crowd;
use crate::grouping::buckets::hilbert::Curve;
use crate::grouping::top::Top;
use crate::grouping::{Drift, GroupingError};
use crate::model::{Grouping, History, Lots, Release, Row, Schema, Sensitive, Span, Table};
use crate::promise::{Contradiction, Entry, Parameters};
use crate::settings::FaultKind;
use std::collections::BTreeSet;

promises! {
    /// A promise about all releases of one table, taken together.
    SeriesPromise: OfSeries {
        /// Paper 003: all groups of a person have one value set of at least `m` values.
        MInvariance,
        /// Paper 000: the inference table of any set of releases is k-anonymous.
        IncrementalKAnonymity,
        /// Paper 002: a person's sensitive value is one of `l`, records are only added.
        IncrementalLDiversity,
        /// Paper 001: each release on its own is k-anonymous. It says nothing about the series.
        KAnonymity,
    }
}

/// Forms the groups of a promise. It is not trusted, because the gate judges the result.
pub trait Grouper: Sync {
    /// What it claims about every series it builds.
    fn promise(&self) -> SeriesPromise;

    /// Groups the rows of `table`, given everything published before.
    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError>;

    /// How far maintained groups are from new ones; `None` if groups are not maintained.
    fn drift(&self, _: &Schema, _: &History, _: &Table, _: &Lots) -> Option<Drift> {
        None
    }
}

/// How a promise is judged, from its definition.
pub trait Checked {
    /// The faults of a finished release that break the promise. The gate has already checked that it is true and whole.
    fn check(&self, evidence: &Evidence<'_>) -> Faults;

    /// The faults that show only in the whole release, if [`Checked::check`] has judged its groups unit by unit.
    fn check_whole(&self, _: &Release) -> Faults {
        Faults::default()
    }

    /// What comparing with the earlier releases reveals, for a promise that holds per release only.
    fn account(&self, _: &Evidence<'_>, _snapshot: Option<&Table>) -> Account {
        Account::default()
    }
}

/// Further properties of a promise about a series.
pub trait OfSeries: Grouper + Checked {
    /// How people who leave the data are treated, for the report.
    fn departures(&self) -> &'static str;

    /// Remarks about the parameters that are no faults.
    fn notes(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Warnings for the steward before publishing a valid release, each with a code. `last` is the table of the release
    /// before.
    fn warnings(&self, _: &Schema, _: &Table, _: &Release, _last: Option<&Table>) -> Vec<String> {
        Vec::new()
    }

    /// The ways to keep the promise that a steward may compare, this one among them.
    fn alternatives(&self) -> Vec<Alternative> {
        Vec::new()
    }

    /// A sentence that says under which condition no refusal is expected over the next releases. `None` if one is
    /// expected, or nothing is known. `counterfeits` is the largest share of counterfeit rows.
    fn expects_no_refusal(&self, _: &Table, _: &Release, _counterfeits: f64) -> Option<String> {
        None
    }

    /// How far maintained groups are from new ones, for the steward: a name and a sentence each.
    fn drift_in_words(&self, _: &Drift) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// Whether ids that are stable over the series may be published.
    fn covers_linked_ids(&self) -> bool {
        false
    }

    /// Whether its parameters reveal some people's values, so that a new series needs a reason.
    fn gives_people_away(&self) -> bool {
        false
    }

    /// Why columns may not gain values within a series; `None` if they may.
    fn fixed_domain(&self) -> Option<&'static str> {
        None
    }

    /// Whether it is a study on made-up data, which may publish what breaks the promise.
    fn is_study(&self) -> bool {
        false
    }

    /// Among which people values can be exchanged without changing a group, in a release of `table`.
    fn exchanged_within(&self, _: &Schema, _before: &History, _table: &Table, _: &Lots) -> Within {
        Within::ValueSet
    }

    /// What can be tried with the same promise where its parameter asks for more values than the table can give: at most
    /// one in `one_in` people has each value.
    fn remedies(&self, _one_in: u32) -> Vec<(String, SeriesPromise)> {
        Vec::new()
    }

    /// How its groups are formed of people on disk or in a cluster; `None` if everyone must be in memory.
    fn disk_form(&self) -> Option<DiskForm<'_>> {
        None
    }

    /// How many people earlier releases have given away, so that no group can hide them.
    fn exposed(&self, _: &History) -> u64 {
        0
    }
}

/// Forms groups of people who are on disk or in a cluster, some at a time. The groups of all units, one after another, are those that
/// [`Grouper::group`] forms of everyone, in the same order; and what one refuses, the other refuses.
pub trait FromDisk: Sync {
    /// Refuses columns that no groups can be formed with.
    fn refuse_columns(&self, schema: &Schema) -> Result<(), GroupingError>;

    /// Says which group of the last release an arrival with such codes joins. `None` if arrivals form groups of their own.
    fn locate<'h>(&self, _: &'h History) -> Option<Locate<'h>> {
        None
    }

    /// Places the people of some groups of the last release and those who join them. `history` has these groups and their
    /// people only. `joining` has the group and the row of each arrival, sorted.
    fn keep(&self, schema: &Schema, history: &History, table: &Table, joining: &[(u32, Row)]) -> (Grouping, Changes);

    /// Refuses people who are missing or have changed, counted over all units.
    fn refuse(&self, missing: usize, changes: Changes) -> Result<(), GroupingError>;

    /// Refuses arrivals of whom so many have each value.
    fn refuse_values(&self, _arrivals: &[u64]) -> Result<(), GroupingError> {
        Ok(())
    }

    /// Whether arrivals form groups. Otherwise all of them wait. `is_anybody_new` says whether any of them was in no earlier
    /// snapshot.
    fn is_cut(&self, newcomers: usize, is_anybody_new: bool) -> bool;

    /// The top of the tree that cuts them, if there are so many values; `None` if there are too many codes.
    fn top<'a>(&self, schema: &'a Schema, newcomers: usize, unit: usize, values: usize) -> Option<Top<'a>>;

    /// Groups the arrivals of one unit, whose cell is given.
    fn cut(&self, schema: &Schema, table: &Table, cell: &[Span], lots: &Lots) -> Grouping;

    /// The error of a release without any group, if that is one.
    fn refuse_empty(&self, is_first: bool, newcomers: usize, rows: usize) -> Result<(), GroupingError>;

    /// The codes of attributes whose people must be counted for warnings.
    fn counted_for_warnings(&self, _: &Schema) -> Vec<(usize, u32)> {
        Vec::new()
    }

    /// The same as [`OfSeries::warnings`]. `counted` says how many of all `people` have each of the codes asked for.
    fn warnings(&self, _: &Schema, _: &Release, _counted: &[u64], _people: usize) -> Vec<String> {
        Vec::new()
    }
}

/// How a promise forms groups of people who are on disk.
#[derive(Clone, Copy)]
pub enum DiskForm<'a> {
    /// Some people at a time.
    Units(&'a dyn FromDisk),
    /// Everyone gets a bucket first. Then buckets are cut one by one.
    Seats(&'a dyn FromSeats),
}

/// Gives people on disk a bucket each, without their quasi columns, and cuts bucket by bucket. The groups of all buckets, one
/// after another, are those that [`Grouper::group`] forms of everyone, in the same order; and what one refuses, the other
/// refuses.
pub trait FromSeats: Sync {
    /// Refuses columns that no groups can be formed with.
    fn refuse_columns(&self, schema: &Schema) -> Result<(), GroupingError>;

    /// Whether people are only ever added. Then groups of the last release are looked at before anybody gets a bucket, and
    /// people who left after an adopted release stay out.
    fn only_adds(&self) -> bool {
        false
    }

    /// How the people of some groups of the last release have changed, where people are only added. `history` has these groups
    /// and their people only.
    fn changes(&self, _: &History, _: &Table) -> Changes {
        Changes::default()
    }

    /// Refuses people who are missing or have changed, counted over all groups of the last release.
    fn refuse_changes(&self, _missing: usize, _: Changes) -> Result<(), GroupingError> {
        Ok(())
    }

    /// Whether [`FromSeats::seat`] may ask where people are on the curve.
    fn needs_curve(&self, history: &History) -> bool;

    /// Gives everyone a bucket, or lets them wait.
    fn seat<'c>(&self, crowd: &Crowd<'c>, curve: &Curve<'c>, lots: &Lots) -> Result<Seating, GroupingError>;

    /// Cuts some buckets. `table` has at least their people, and its rows are those of the buckets.
    fn cut(&self, schema: &Schema, table: &Table, buckets: Vec<Bucket>, lots: &Lots) -> Grouping;

    /// Whether warnings depend on who has which value, in a table of so many people with these values.
    fn asks_for_values(&self, people: usize, values: &[u64]) -> bool;

    /// The same as [`OfSeries::warnings`].
    fn warnings(&self, release: &Release, seen: &Noticed<'_>) -> Vec<String>;
}

/// What warnings may depend on.
#[derive(Clone, Copy)]
pub struct Noticed<'a> {
    /// Who of the last snapshot is still there; `None` before the first release.
    pub stayed: Option<&'a Stayed>,
    /// The table and the one of the release before, at least with keys and values. `None` where nothing depends on them.
    pub tables: Option<(&'a Table, Option<&'a Table>)>,
}

/// The bucket of everyone.
#[derive(Debug)]
pub struct Seating {
    /// The buckets, in the order of their groups. Each has enough people for a group.
    pub buckets: Vec<Bucket>,
    /// The rows of everyone who waits, ascending.
    pub withheld: Vec<u32>,
    /// Per row, whether that person may still enter another bucket, if anybody may.
    pub is_newcomer: Option<Vec<bool>>,
}

/// Finds the group of the last release that an arrival joins; `None` for one who waits.
pub type Locate<'h> = Box<dyn Fn(&[u32]) -> Option<u32> + 'h>;

/// How many people of intact groups have changed; and what is known of the groups that lost somebody.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Changes {
    /// They have other quasi values, outside of their region.
    pub moved: usize,
    /// They have another sensitive value.
    pub revalued: usize,
    /// Over the groups that lost somebody, the smallest number of people of a group's earliest cohort.
    pub first_cohort: Option<u32>,
}

impl Changes {
    /// These and those of other groups.
    pub fn and(self, other: Changes) -> Changes {
        Changes {
            moved: self.moved + other.moved,
            revalued: self.revalued + other.revalued,
            first_cohort: self.first_cohort.into_iter().chain(other.first_cohort).min(),
        }
    }
}

/// Among which people values can be exchanged.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Within {
    /// Everyone with one value set.
    ValueSet,
    /// The people of one bucket; per row, its number.
    Bucket(Vec<u32>),
    /// The people of one group.
    Group,
}

/// One of several ways to keep a promise.
#[derive(Clone, Debug, PartialEq)]
pub struct Alternative {
    /// What is published.
    pub name: &'static str,
    /// How the policy file asks for it: the lines under `[promise]`, with commas between them.
    pub setting: String,
    /// The readers against whom it holds or fails, in words that follow its name.
    pub about: &'static str,
    /// The promise kept that way.
    pub promise: SeriesPromise,
}

impl SeriesPromise {
    /// The promise that `tacenda init` drafts if no column is sensitive, or if one value has more than half of the rows.
    pub fn usual_without_values() -> &'static Entry {
        IncrementalKAnonymity::ENTRY
    }

    /// The promise about sensitive values to begin with, if people leave or if they are only added.
    pub fn usual_if(people_leave: bool) -> &'static Entry {
        if people_leave { MInvariance::ENTRY } else { IncrementalLDiversity::ENTRY }
    }

    /// What can be tried in place of this promise where no value may be held by more than one in `one_in` people of this
    /// table: each in words, and as a promise.
    pub fn remedies(&self, one_in: u32) -> Vec<(String, SeriesPromise)> {
        let mut remedies = self.inner().remedies(one_in);
        let what = "model = \"incremental-k-anonymity\", k = 5 (hides who is who, not the value; nobody may leave)";
        remedies.push((what.into(), IncrementalKAnonymity::new(5).into()));
        remedies
    }

    /// Judges a finished release. An empty answer means that it is true, whole, and keeps the promise.
    pub fn judge(&self, evidence: Evidence<'_>) -> Vec<Finding> {
        gate(&self.terms(), &|evidence| self.inner().check(evidence), evidence)
    }
}

/// The draft's answer to whether people leave, where they may not.
const ONLY_ADDED: &str =
    "no, people are only added. If that is wrong, a later release is refused, and only m-invariance helps";

/// The fault of a promise about sensitive values where there are none.
fn without_sensitive(schema: Option<&Schema>) -> Option<Contradiction> {
    schema.filter(|schema| schema.sensitive.is_empty()).map(|_| {
        let help = "give a column role = \"sensitive\", or choose a k-anonymity promise";
        let message = "the promise is about sensitive values, and no column has that role";
        Contradiction::new(FaultKind::NoSensitive, "model", message, help)
    })
}

/// The fault of a promise of more values than are declared.
fn too_few_declared(key: &'static str, wanted: u32, schema: Option<&Schema>) -> Option<Contradiction> {
    let declared = schema.and_then(declared_values).filter(|&declared| declared < u64::from(wanted))?;
    let message =
        format!("{key} = {wanted} needs at least {wanted} sensitive values, and the policy file declares {declared}");
    let help = format!("lower {key}, or declare every sensitive value that may ever come");
    Some(Contradiction { kind: FaultKind::TooFewValues, key, message, help })
}

/// How many combinations of sensitive values there can be; `None` if any value is accepted.
fn declared_values(schema: &Schema) -> Option<u64> {
    let count = |sensitive: &Sensitive| {
        let labels: BTreeSet<&str> = sensitive.labels.iter().map(|(_, label)| label.as_str()).collect();
        (!labels.is_empty()).then(|| labels.len() as u64 + u64::from(sensitive.nullable))
    };
    if schema.sensitive.is_empty() {
        return None;
    }
    schema.sensitive.iter().try_fold(1u64, |all, sensitive| Some(all.saturating_mul(count(sensitive)?)))
}

#[cfg(test)]
mod tests;
