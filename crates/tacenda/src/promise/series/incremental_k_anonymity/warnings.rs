//! Warnings before publishing a valid release: columns that the release does not show at all.
//!
//! A warning has a code with a page in `explain`. It names a column and a way out, but no cell. It is among the notes
//! of `check`, `plan` and `publish`.

use crate::model::{Page, Quasi, Release, Schema, Table, counted};
use crate::promise::IncrementalKAnonymity;

/// The page of the only warning.
pub(super) const NOT_CUT: Page = (
    "R801",
    "a column is not cut",
    "A warning, not an error. Without cohorts every group is published with its whole cell. No published \
     value covers an empty cell and only some of the numbers. So a column of numbers or dates with missing = \
     \"value\", the default, is first cut between empty cells and numbers. That cut needs at least k empty \
     cells and at least k others. Without it the column is never cut, and every cell says *. With tight = \
     true each group shows the range of its people, which can be wide. If no cell will ever be empty, set \
     missing = \"error\" before the first release; it cannot be changed later. Or set cohorts = true: then \
     only the group of an empty cell is widened.",
);

/// The codes of missing values, where these decide whether a column can be cut.
pub(super) fn missing(promise: &IncrementalKAnonymity, schema: &Schema) -> Vec<(usize, u32)> {
    let null = |(attribute, quasi): (usize, &Quasi)| {
        Some((attribute, quasi.null().filter(|_| quasi.hierarchy().is_none() && !promise.cohorts)?))
    };
    schema.quasi.iter().enumerate().filter_map(null).collect()
}

/// The warnings about publishing `table` under this promise.
pub(super) fn warnings(
    promise: &IncrementalKAnonymity,
    schema: &Schema,
    table: &Table,
    release: &Release,
) -> Vec<String> {
    let rows =
        |&(attribute, null): &(usize, u32)| table.quasi(attribute).iter().filter(|&&code| code == null).count() as u64;
    let empty: Vec<u64> = missing(promise, schema).iter().map(rows).collect();
    warnings_of(promise, schema, release, &empty, table.len())
}

/// The same, if so many of all people have each code of [`missing`].
///
/// Without cohorts, cells are published, and no printable value holds NULL and only some of the numbers. So a nullable
/// column of numbers or dates must be cut between the two first. If fewer than k people are on one side of that cut,
/// the column stays whole in every group, even if no cell is empty.
pub(super) fn warnings_of(
    promise: &IncrementalKAnonymity,
    schema: &Schema,
    release: &Release,
    empty: &[u64],
    people: usize,
) -> Vec<String> {
    let stays_whole = |((attribute, _), &empty): ((usize, u32), &u64)| {
        let (quasi, empty) = (&schema.quasi[attribute], empty as usize);
        // A tight box does not show whether its cell was cut, so it is checked whether a cut is possible.
        let is_cut = match promise.tight {
            true => empty.min(people - empty) >= promise.k as usize,
            false => release.regions.iter().any(|region| region[attribute] != quasi.root()),
        };
        (!is_cut).then(|| warning(&quasi.name, empty, people))
    };
    missing(promise, schema).into_iter().zip(empty).filter_map(stays_whole).collect()
}

fn warning(column: &str, empty: usize, all: usize) -> String {
    let cells = counted(all as u64, "cell", "cells");
    let empty = match empty {
        0 => format!("none of its {cells} is empty"),
        empty => format!("{empty} of its {cells} {} empty", if empty == 1 { "is" } else { "are" }),
    };
    format!(
        "{}: column {column} is not cut at all: {empty}; without cohorts a column with missing = \"value\" is cut \
         only if at least k cells of a group are empty, at least k are not, and both parts pass l; before the first \
         release set \
         missing = \"error\" for it, or cohorts = true",
        NOT_CUT.0
    )
}
