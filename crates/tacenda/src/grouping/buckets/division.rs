//! Who already has a value set, and who needs one.

use crate::grouping::buckets::Bucket;
use crate::model::{History, Row, Table, ValueSetId};

/// The rows of a table by what the history says of them.
pub struct Division {
    /// Everyone whose value is in one of their value sets, by that set, in the order of the sets' numbers.
    pub buckets: Vec<Bucket>,
    /// Everyone who was never published, per value.
    pub newcomers: Vec<Vec<u32>>,
    /// Everyone whose value lies in none of the sets they have had.
    pub updated: Vec<Updated>,
    /// Everyone whose value was revealed by releases made elsewhere. No group can hide them any more.
    pub exposed: Vec<u32>,
}

/// Someone whose sensitive value has left all their value sets.
#[derive(Clone)]
pub struct Updated {
    /// Their row.
    pub row: u32,
    /// All value sets they have had.
    pub sets: Vec<ValueSetId>,
}

/// Divides the rows of `table`. A group has at least `least` values.
///
/// A person's set is permanent: it also holds for people who return or whose quasi values changed. Sets of one person
/// are equal or disjoint, so at most one holds the value.
pub fn divide(history: &History, table: &Table, least: u32) -> Division {
    let mut by_set: Vec<Bucket> = history.value_sets.iter().map(|(_, set)| Bucket::new(set)).collect();
    let mut newcomers = vec![Vec::new(); table.values.len()];
    let (mut updated, mut exposed) = (Vec::new(), Vec::new());
    let is_small: Vec<bool> = history.value_sets.iter().map(|(_, set)| set.len() < least as usize).collect();
    for (row, record) in table.rows().zip(history.align(table)) {
        let value = table.sensitive()[row.index()];
        let Some(record) = record.filter(|record| record.is_published()) else {
            newcomers[value.index()].push(row.0);
            continue;
        };
        // Only releases made elsewhere leave such sets, so most histories need no further look.
        let is_odd = !history.past_sets.is_empty() || is_small[record.value_set.0 as usize];
        if is_odd && history.exposes(record, value, least) {
            exposed.push(row.0);
            continue;
        }
        if place(&mut by_set[record.value_set.0 as usize], table, row) {
            continue;
        }
        let sets = history.sets_of(record);
        if !sets.iter().any(|set| place(&mut by_set[set.0 as usize], table, row)) {
            updated.push(Updated { row: row.0, sets });
        }
    }
    by_set.retain(|bucket| bucket.copies > 0);
    Division { buckets: by_set, newcomers, updated, exposed }
}

fn place(bucket: &mut Bucket, table: &Table, row: Row) -> bool {
    match bucket.position(table.sensitive()[row.index()]) {
        Some(position) => {
            bucket.add(position, row.0);
            true
        }
        None => false,
    }
}
