//! Forming groups: the means that promises share.
//!
//! Buckets with value sets, partitions of the quasi-identifier space, clusterings, and the specialisation of views.
//! Which of them a promise uses, and to what end, stands in its folder under `promise`.

pub(crate) mod axis;
pub(crate) mod buckets;
pub(crate) mod cluster;
pub(crate) mod locate;
pub(crate) mod partition;
pub mod views;

#[cfg(test)]
pub(crate) mod evolve;

pub use cluster::{Base, Drift, LossKind, SeedRule};

use crate::model::{counted, people};

/// Why groups cannot be formed. The data are at fault, or the parameter.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GroupingError {
    /// Too few rows for even one group.
    #[error("{}; lower the parameter or wait for more rows", too_few(*rows, *least))]
    TooFew {
        /// How many rows there are.
        rows: usize,
        /// How many are needed.
        least: u32,
    },
    /// The newcomers' sensitive values are too uneven.
    #[error(
        "the newcomers' values are too uneven for m = {m}: one value is held by {most} of {} and at most {allowed} can be \
         placed; lower m, coarsen the sensitive attribute, or set on_ineligible to \"defer\" or \"counterfeit\"",
        counted(*newcomers as u64, "newcomer", "newcomers")
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
        "the table has {} and needs {wanted}; lower the parameter or publish finer values",
        counted(*found as u64, "distinct sensitive value", "distinct sensitive values")
    )]
    TooFewValues {
        /// How many there are.
        found: usize,
        /// How many are needed.
        wanted: u32,
    },
    /// Records disappeared under a promise that only allows additions.
    #[error(
        "{} of the last release {} gone, and this promise holds for additions only; {way_out}",
        counted(*records as u64, "record", "records"),
        if *records == 1 { "is" } else { "are" }
    )]
    Deleted {
        /// How many.
        records: usize,
        /// What to do about it.
        way_out: &'static str,
    },
    /// Records changed under a promise that does not allow it.
    #[error(
        "{} other {what} values than in the last release, and this promise does not allow that; {way_out}",
        counted(*records as u64, "record has", "records have")
    )]
    Changed {
        /// How many.
        records: usize,
        /// Quasi or sensitive.
        what: &'static str,
        /// What to do about it.
        way_out: &'static str,
    },
    /// A view of other people than the views that are out.
    #[error(
        "{} of the earlier views {} gone and {arrived} {} new; views are about the same people: publish every view from the \
         same snapshot, or start a new series",
        people(*gone as u64),
        if *gone == 1 { "is" } else { "are" },
        if *arrived == 1 { "is" } else { "are" }
    )]
    OtherPeople {
        /// How many are gone.
        gone: usize,
        /// How many are new.
        arrived: usize,
    },
    /// Nothing to tell people apart by.
    #[error("no quasi attribute is declared, and this promise is about them; declare at least one")]
    NoQuasi,
    /// More quasi attributes than the tree can hold.
    #[error("{attributes} quasi attributes are more than the {most} this promise can handle; drop some")]
    TooWide {
        /// How many there are.
        attributes: usize,
        /// How many there may be.
        most: usize,
    },
    /// No group of a first release passes the guard.
    #[error(
        "the {rows} rows form no group in which every sensitive value is held by at most one in {l}{why}; lower l{raise}, or \
         coarsen the sensitive attribute", why = if *.cohorts { "" } else { ": without cohorts all of them together must pass first" },
        raise = if *.cohorts { ", raise k" } else { "" }
    )]
    Uneven {
        /// How many rows there are.
        rows: usize,
        /// The parameter.
        l: u32,
        /// Whether groups are guarded one by one; otherwise the table as a whole failed.
        cohorts: bool,
    },
}

/// Says that there are too few rows; none at all is another thing than few.
fn too_few(rows: usize, least: u32) -> String {
    match rows {
        0 => format!("there is no row to publish, and one group needs {least}"),
        rows => format!("{} cannot form one group of {least}", counted(rows as u64, "row", "rows")),
    }
}

impl GroupingError {
    /// Its code, with a page in `explain`.
    pub fn code(&self) -> &'static str {
        match self {
            GroupingError::TooFew { .. } => "R421",
            GroupingError::Ineligible { .. } => "R422",
            GroupingError::TooFewValues { .. } => "R423",
            GroupingError::Deleted { .. } => "R424",
            GroupingError::Changed { .. } => "R425",
            GroupingError::TooWide { .. } => "R426",
            GroupingError::Uneven { .. } => "R427",
            GroupingError::NoQuasi => "R428",
            GroupingError::OtherPeople { .. } => "R429",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_count_as_people_do() {
        let said = |error: GroupingError| error.to_string().split(';').next().unwrap().to_string();
        let few = |rows| said(GroupingError::TooFew { rows, least: 5 });
        assert_eq!(few(0), "there is no row to publish, and one group needs 5");
        assert_eq!(few(1), "1 row cannot form one group of 5");
        assert_eq!(few(4), "4 rows cannot form one group of 5");
        let gone = |records| said(GroupingError::Deleted { records, way_out: "" });
        assert!(gone(1).starts_with("1 record of the last release is gone,"), "{}", gone(1));
        assert!(gone(2000).starts_with("2,000 records of the last release are gone,"), "{}", gone(2000));
        let changed = |records| said(GroupingError::Changed { records, what: "quasi", way_out: "" });
        assert!(changed(1).starts_with("1 record has other quasi values"), "{}", changed(1));
        assert!(changed(2).starts_with("2 records have other quasi values"), "{}", changed(2));
        assert_eq!(
            said(GroupingError::TooFewValues { found: 1, wanted: 3 }),
            "the table has 1 distinct sensitive value and needs 3"
        );
        assert_eq!(
            said(GroupingError::OtherPeople { gone: 1, arrived: 0 }),
            "1 person of the earlier views is gone and 0 are new"
        );
    }
}
