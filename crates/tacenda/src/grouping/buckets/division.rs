//! Who already has a value set, and who needs one.

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::crowd::Crowd;
use crate::model::{Value, ValueSetId};

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

/// Divides the rows of a crowd. A group has at least `least` values.
///
/// A person's set is permanent: it also holds for people who return or whose quasi values changed. Sets of one person
/// are equal or disjoint, so at most one holds the value.
pub fn divide(crowd: &Crowd<'_>, least: u32) -> Division {
    let history = crowd.history;
    let mut by_set: Vec<Bucket> = history.value_sets.iter().map(|(_, set)| Bucket::new(set)).collect();
    let mut newcomers = vec![Vec::new(); crowd.value_count];
    let (mut updated, mut exposed) = (Vec::new(), Vec::new());
    let is_small: Vec<bool> = history.value_sets.iter().map(|(_, set)| set.len() < least as usize).collect();
    for row in crowd.rows() {
        let value = crowd.value(row.0);
        let Some(set) = crowd.set(row.0) else {
            newcomers[value.index()].push(row.0);
            continue;
        };
        // Only releases made elsewhere leave such sets, so most histories need no further look.
        let is_odd = !history.past_sets.is_empty() || is_small[set.0 as usize];
        if is_odd && history.exposes(crowd.keys[row.index()], set, value, least) {
            exposed.push(row.0);
            continue;
        }
        if place(&mut by_set[set.0 as usize], value, row.0) {
            continue;
        }
        let sets = history.sets_with(crowd.keys[row.index()], set);
        if !sets.iter().any(|set| place(&mut by_set[set.0 as usize], value, row.0)) {
            updated.push(Updated { row: row.0, sets });
        }
    }
    by_set.retain(|bucket| bucket.copies > 0);
    Division { buckets: by_set, newcomers, updated, exposed }
}

fn place(bucket: &mut Bucket, value: Value, row: u32) -> bool {
    match bucket.position(value) {
        Some(position) => {
            bucket.add(position, row);
            true
        }
        None => false,
    }
}
