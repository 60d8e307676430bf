//! Who stands with whom: one file a policy.
//!
//! A policy decides one thing: the groups of the next release (and, where a paper fixes it, the
//! region a group is published with). Policies are not trusted: `publish` lets the auditor judge the
//! finished release before anything is committed.

pub mod views;

use crate::model::Grouping;
use crate::model::History;
use crate::model::Promise;
use crate::model::Rng;
use crate::model::Schema;
use crate::model::Table;

/// Something that forms groups.
pub trait Policy: Sync {
    /// What this policy claims of every series it has built.
    fn promise(&self) -> Promise;

    /// Groups the rows of `table`, given everything published before.
    fn group(&self, schema: &Schema, history: &History, table: &Table, rng: &mut Rng) -> Result<Grouping, PolicyError>;
}

/// Why a policy cannot form groups. The data are at fault, or the parameter.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// Too few rows for even one group.
    #[error("{rows} rows cannot form one group of {least}; lower the parameter or wait for more rows")]
    TooFew {
        /// How many rows there are.
        rows: usize,
        /// How many are needed.
        least: u32,
    },
    /// The newcomers' sensitive values are too uneven.
    #[error(
        "the newcomers' values are too uneven for m = {m}: one value is held by {most} of {newcomers} newcomers and at most \
         {allowed} can be placed; lower m, coarsen the sensitive attribute, or set on_ineligible to \"defer\" or \"counterfeit\""
    )]
    Ineligible {
        /// The parameter.
        m: u32,
        /// How many newcomers there are.
        newcomers: usize,
        /// How many of them hold the most frequent value.
        most: usize,
        /// How many holders of one value could be placed.
        allowed: usize,
    },
    /// Too few distinct sensitive values.
    #[error(
        "the table has {found} distinct sensitive values and needs {wanted}; lower the parameter or publish finer values"
    )]
    TooFewValues {
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: u32,
    },
    /// Records disappeared under a promise that only allows additions.
    #[error("{records} records of the last release are gone, and this promise holds for additions only; {way_out}")]
    Deleted {
        /// How many.
        records: usize,
        /// What to do about it.
        way_out: &'static str,
    },
    /// Records changed under a promise that does not allow it.
    #[error(
        "{records} records have other {what} values than in the last release, and this promise does not allow that; {way_out}"
    )]
    Changed {
        /// How many.
        records: usize,
        /// Quasi or sensitive.
        what: &'static str,
        /// What to do about it.
        way_out: &'static str,
    },
}
