//! What a release's file shows besides its rows, and the names of special columns in our releases.

use crate::model::{ChainLink, Release};

/// The column that numbers groups.
pub const GROUP_ID: &str = "group_id";
/// The column whose sum counts people.
pub const ROW_WEIGHT: &str = "row_weight";
/// The column that links the rows of a person; under a promise about views the record itself, as in `tax.record`.
pub const RECORD: &str = "record";

/// What a file shows besides its rows, and what it lacks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traces {
    /// Per row of the release, its place in the file, counted from 0; empty if the file is sorted in our order.
    pub places: Vec<u32>,
    /// Per group, its name in the file; empty if groups have no names there.
    pub group_names: Vec<Box<str>>,
    /// Per quasi attribute of the schema, whether the file has that column; empty: all of them.
    pub columns: Vec<bool>,
    /// Whether the file lacks the sensitive column; then every row has the same value.
    pub without_sensitive: bool,
    /// Whether the numbers of counterfeits are known. If not, they are taken to be 0.
    pub counterfeits_known: bool,
    /// What the release says of its place in its series, if it says it.
    pub link: Option<ChainLink>,
}

impl Traces {
    /// The traces of our own release: groups are numbered from 1, the numbers of counterfeits are known, and rows are
    /// sorted.
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
