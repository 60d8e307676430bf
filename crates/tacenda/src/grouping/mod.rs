//! Forming groups: the algorithms that promises share.
//!
//! They are buckets with value sets, partitions of the quasi-identifier space, clusterings, and the specialisation of
//! views. The folder of each promise under `promise` says which of them it uses, and why.

pub(crate) mod axis;
pub(crate) mod buckets;
pub(crate) mod cluster;
pub(crate) mod partition;
pub(crate) mod top;
pub mod views;

#[cfg(test)]
pub(crate) mod evolve;

pub use cluster::{Base, Drift, LossKind, SeedRule};

use crate::model::{coded, counted, people};

/// The version of this engine. It grows with every change after which the same history, snapshot, policy and seed give
/// another release. A manifest names it, so that a release can be made again.
pub(crate) const ENGINE: u32 = 8;

coded! {
    /// Why a policy cannot form groups. The data are at fault, or the parameter.
    #[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
    #[non_exhaustive]
    pub enum GroupingError {
        #[error("{}; wait for more rows; before the first release the parameter can be lowered, too", too_few(*rows, *least))]
        TooFew {
            /// How many rows there are.
            rows: usize,
            /// How many are needed.
            least: u32,
        } = "R421", "too few rows",
            "Even one group needs more rows than the table has.";
        #[error(
            "the newcomers' values are too uneven for m = {m}: {most} of {} have one value, and there is room for {allowed}; \
             wait for more arrivals; with reader = \"rule\", on_ineligible = \"defer\" lets the surplus wait; before the first release, \
             m can be lowered, or the frequent value split into finer ones",
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
        } = "R422", "the newcomers' values are too uneven",
            "A group holds m different values equally often. So at most about one in m of the newcomers may have the \
             same value. Wait for more arrivals. With reader = \"rule\", on_ineligible = \"defer\" lets the surplus \
             wait. A person who waits then mostly has a value that is too frequent. Before the first release, m can be \
             lowered, or finer values published in place of the frequent one. Coarser values do not help: they are held by more people. \
             Later a series allows neither. No m is low enough for a value that more than half of the people hold.";
        #[error(
            "the table has {} and needs {wanted}; publish finer values; before the first release the parameter can be lowered, too",
            counted(*found as u64, "distinct sensitive value", "distinct sensitive values")
        )]
        TooFewValues {
            /// How many there are.
            found: usize,
            /// How many are needed.
            wanted: u32,
        } = "R423", "too few distinct sensitive values",
            "A group needs as many distinct sensitive values as the parameter says, and the table has fewer.";
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
        } = "R424", "records disappeared",
            "This promise holds for additions only. A record that disappears gives its value away when two releases \
             are compared. Keep the record, withhold its whole group for good (on_delete = \"withhold\"), or start a \
             series with m-invariance, which allows it.";
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
        } = "R425", "records changed",
            "This promise does not allow values to change. An age that grows every year is such a change: publish the \
             birth year. Or start a series with m-invariance, which allows changes.";
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
        } = "R429", "the snapshot has other people",
            "Views are different columns of the same people. The earlier views were made from a snapshot with other \
             people, so some rows would have no counterpart. Publish every view from the same snapshot.";
        #[error(
            "the sensitive value of {} has changed, and reader = \"method\" does not cover that; start a new series \
             with reader = \"rule\", and do not take these people out of the table", people(*changed as u64)
        )]
        ValueChanged {
            /// How many people.
            changed: usize,
        } = "R430", "a sensitive value changed",
            "With reader = \"method\" nobody's sensitive value may change: the proof covers only values that stay the \
             same. Start a new series with reader = \"rule\", which allows changes. Do not take people out because \
             their value changed. Then leaving would depend on the value, and the proof does not cover that either.";
        #[error("no quasi attribute is declared, and this promise is about them; declare at least one")]
        NoQuasi = "R428", "no quasi attributes",
            "This promise divides people by their quasi attributes, and the policy file names none.";
        #[error("{attributes} quasi attributes are more than the {most} this promise can handle; drop some")]
        TooWide {
            /// How many there are.
            attributes: usize,
            /// How many there may be.
            most: usize,
        } = "R426", "too many quasi attributes",
            "This promise handles a limited number of quasi attributes. Drop some, or publish them as views.";
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
        } = "R427", "no group passes the guard",
            "The guard l asks that no sensitive value is held by more than one in l of a group. With these data no \
             group can be formed that passes. Lower l, raise k, or coarsen the sensitive attribute. Without cohorts \
             the table as a whole must pass, and k does not help.";
    }
}

/// The message for too few rows. No rows at all have a message of their own.
fn too_few(rows: usize, least: u32) -> String {
    match rows {
        0 => format!("there is no row to publish, and one group needs {least}"),
        rows => format!("{} cannot form one group of {least}", counted(rows as u64, "row", "rows")),
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
