//! What a recipient sees change from one release to another: sums only, from the two folders alone.

use crate::folder::ReceivedRelease;
use crate::measure;
use crate::use_cases::releases::{read, withdrawn};
use crate::use_cases::{Progress, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The answer of diff.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiffReport {
    /// The first release.
    pub from: DiffSide,
    /// The second.
    pub to: DiffSide,
    /// Columns whose declared values differ.
    pub columns: Vec<String>,
    /// Per sensitive value, how many rows have it; the largest change first.
    pub values: Vec<DiffValue>,
}

/// A release in numbers.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiffSide {
    /// Its number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// That it was withdrawn, and why, if the ledger says so.
    pub withdrawn: Option<String>,
    /// Rows, counterfeits included.
    pub rows: u64,
    /// People.
    pub people: u64,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// Groups.
    pub groups: u64,
    /// The number of people in the smallest group.
    pub smallest_group: u32,
    /// The loss.
    pub loss: f64,
}

/// The rows of one sensitive value.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DiffValue {
    /// The value, cell by cell.
    pub value: Vec<String>,
    /// Rows in the first release.
    pub from: u64,
    /// Rows in the second.
    pub to: u64,
}

/// Compares two releases, named by folder, number or label.
pub fn diff(root: &Path, from: &str, to: &str, progress: Progress<'_>) -> Result<DiffReport, UseCaseError> {
    let step = |_: usize, what: &str| progress(2, what);
    let (from_folder, from) = read(root, Some(from), &step)?;
    let (to_folder, to) = read(root, Some(to), &step)?;
    let gone = |folder: &Path, side: &ReceivedRelease| withdrawn(root, folder, side.release.number);
    let gone = (gone(&from_folder, &from), gone(&to_folder, &to));
    let mut counts: BTreeMap<Vec<String>, (u64, u64)> = BTreeMap::new();
    by_value(&from).into_iter().for_each(|(value, rows)| counts.entry(value).or_default().0 = rows);
    by_value(&to).into_iter().for_each(|(value, rows)| counts.entry(value).or_default().1 = rows);
    let mut values: Vec<DiffValue> =
        counts.into_iter().map(|(value, (from, to))| DiffValue { value, from, to }).collect();
    values.sort_by_key(|value| std::cmp::Reverse(value.from.abs_diff(value.to)));
    let declared = |release: &ReceivedRelease, name: &str| {
        release.schema.quasi.iter().find(|quasi| quasi.name == name).map(|quasi| quasi.domain.clone())
    };
    let mut columns: Vec<String> =
        from.schema.quasi.iter().chain(&to.schema.quasi).map(|quasi| quasi.name.clone()).collect();
    columns.sort_unstable();
    columns.dedup();
    columns.retain(|name| declared(&from, name) != declared(&to, name));
    Ok(DiffReport { from: side(&from, gone.0), to: side(&to, gone.1), columns, values })
}

/// How many rows have each sensitive value.
fn by_value(received: &ReceivedRelease) -> BTreeMap<Vec<String>, u64> {
    let release = &received.release;
    if received.schema.sensitive.is_empty() {
        return BTreeMap::new();
    }
    let mut rows = vec![0u64; release.values.len()];
    release.sensitive.iter().for_each(|value| rows[value.index()] += 1);
    let texts = release.values.iter().map(|(_, cells)| cells.iter().map(|cell| cell.to_string()).collect());
    texts.zip(rows).filter(|(_, rows)| *rows > 0).collect()
}

fn side(received: &ReceivedRelease, withdrawn: Option<String>) -> DiffSide {
    let release = &received.release;
    let (rows, counterfeits) = (release.row_count() as u64, release.counterfeit_count());
    let loss = measure::loss(release, &received.schema, received.promise.terms().least_group);
    DiffSide {
        release: release.number,
        label: release.label.clone(),
        withdrawn,
        rows,
        people: rows - counterfeits,
        counterfeits,
        groups: release.group_count() as u64,
        smallest_group: (0..release.group_count()).map(|group| release.people(group)).min().unwrap_or(0),
        loss: measure::nine_decimals(loss.leaf_share),
    }
}
