//! What a release's file shows beside its rows, and the names of the columns that releases of ours have.

use crate::model::{ChainLink, Release};

/// The column that numbers groups.
pub const GROUP_ID: &str = "group_id";
/// The column whose sum counts people.
pub const ROW_WEIGHT: &str = "row_weight";
/// The column that links the rows of a person; under a promise about views the record itself, as in `tax.record`.
pub const RECORD: &str = "record";

/// What a file shows beside its rows, and what it lacks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traces {
    /// Per row of the release, its place in the file, counted from 0; empty where the order is ours.
    pub places: Vec<u32>,
    /// Per group, the text it was numbered with in the file; empty where groups have no names there.
    pub group_names: Vec<Box<str>>,
    /// Per quasi attribute of the schema, whether the file has that column; empty: all of them.
    pub columns: Vec<bool>,
    /// Whether the file lacks the sensitive column; then every row has the same value.
    pub without_sensitive: bool,
    /// Whether the numbers of counterfeits are known. Where not, they are taken to be none.
    pub counterfeits_known: bool,
    /// What the release says of its place in its series, if it says it.
    pub link: Option<ChainLink>,
}

impl Traces {
    /// Of a release of our own: its groups are numbered from 1, it says how many counterfeits there are, and its
    /// order is sorted, not the input's.
    pub fn ours(release: &Release, columns: Vec<bool>, without_sensitive: bool) -> Traces {
        Traces {
            group_names: (1..=release.group_count()).map(|group| group.to_string().into()).collect(),
            counterfeits_known: true,
            columns,
            without_sensitive,
            ..Traces::default()
        }
    }
}
