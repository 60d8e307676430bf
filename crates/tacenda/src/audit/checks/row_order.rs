//! Whether the order of the rows links releases (science D4.10).
//!
//! A file that keeps the order of its input links rows to those of every other file that does. The check takes rows
//! that occur once in both files, by region and value, and counts the pairs of them whose order is the same in both.
//! It compares the count with chance. A file that is sorted by its groups and values shows no order of the input:
//! there only pairs that the sorting does not decide are counted.

use crate::audit::checks::Ask;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Statement, Traces, Witness};
use crate::model::{Release, Span, Value};
use rustc_hash::FxHashMap;

/// With fewer rows nothing is concluded.
const LEAST_ROWS: usize = 8;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let ordered = |place: u32| !ask.series.traces[place as usize].places.is_empty();
    let pairs: Vec<(u32, u32)> = ask.pairs.iter().copied().filter(|&(a, b)| ordered(a) && ordered(b)).collect();
    if pairs.is_empty() {
        return Outcome::not_applicable(Check::RowOrder, Reason::SortedRows);
    }
    let mut outcome = Outcome::new(Check::RowOrder, Coverage { what: "rows", ..Coverage::default() });
    for (earlier, later) in pairs {
        let (old, new) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        let (before, after) = (&ask.series.traces[earlier as usize], &ask.series.traces[later as usize]);
        let rows = shared_rows(old, before, new, after);
        outcome.coverage.of += new.row_count() as u64;
        outcome.coverage.looked_at += new.row_count() as u64;
        // Sorting by group explains the order between groups, so then only rows of one group are compared.
        let within = is_by_group(old, before) || is_by_group(new, after);
        let agreement = agreement(&rows, within);
        outcome.measure(Some(new.number), Quantity::RowsInBoth, rows.len() as f64);
        outcome.measure(Some(new.number), Quantity::ShareInOrder, agreement.share());
        if is_by_value(old, before) || is_by_value(new, after) || !agreement.is_telling() {
            continue;
        }
        outcome.found([Finding {
            fault: Fault::OrderLinks,
            release: new.number,
            people: rows.len() as u64,
            groups: 0,
            example: None,
            others: vec![old.number],
            witness: Some(Witness::new(
                Statement::SameOrder { pairs: agreement.pairs, within_groups: within },
                vec![(earlier, 0), (later, 0)],
                agreement.same,
                agreement.pairs / 2,
            )),
        }]);
    }
    outcome
}

/// A row that is in both files: its group in the earlier one, and its places in both.
struct Shared {
    group: u32,
    before: u32,
    after: u32,
}

type Key<'a> = (&'a [Span], Value);

/// Rows whose region and value occur exactly once in both releases, by their place in the earlier file.
fn shared_rows(old: &Release, before: &Traces, new: &Release, after: &Traces) -> Vec<Shared> {
    let (old, new) = (once(old, before), once(new, after));
    let mut rows: Vec<Shared> = old
        .into_iter()
        .filter_map(|(key, (group, before))| Some(Shared { group, before, after: new.get(&key)?.1 }))
        .collect();
    rows.sort_unstable_by_key(|row| row.before);
    rows
}

/// The rows whose region and value occur once: group and place.
fn once<'a>(release: &'a Release, traces: &Traces) -> FxHashMap<Key<'a>, (u32, u32)> {
    let mut rows: FxHashMap<Key<'a>, Option<(u32, u32)>> = FxHashMap::default();
    for group in 0..release.group_count() {
        for row in release.group_rows(group) {
            let key = (release.region(group), release.sensitive[row]);
            let place = (group as u32, traces.places[row]);
            rows.entry(key).and_modify(|entry| *entry = None).or_insert(Some(place));
        }
    }
    rows.into_iter().filter_map(|(key, place)| Some((key, place?))).collect()
}

/// Whether the rows of each group are contiguous in the file.
fn is_by_group(release: &Release, traces: &Traces) -> bool {
    (0..release.group_count()).all(|group| {
        let places = release.group_rows(group).map(|row| traces.places[row]);
        let (lo, hi) = places.fold((u32::MAX, 0), |(lo, hi), place| (lo.min(place), hi.max(place)));
        release.group_rows(group).is_empty() || (hi - lo) as usize + 1 == release.group_rows(group).len()
    })
}

/// Whether the file is sorted by value within each group. Then its order says nothing about the input.
fn is_by_value(release: &Release, traces: &Traces) -> bool {
    let sorted = |group: usize| {
        let mut rows: Vec<(u32, Value)> =
            release.group_rows(group).map(|row| (traces.places[row], release.sensitive[row])).collect();
        rows.sort_unstable();
        rows.is_sorted_by_key(|row| row.1)
    };
    is_by_group(release, traces) && (0..release.group_count()).all(sorted)
}

/// How many pairs of rows are in the same order in both files.
#[derive(Default)]
struct Agreement {
    pairs: u64,
    same: u64,
    rows: usize,
    /// The variance of `same` if the order were chance.
    variance: f64,
}

impl Agreement {
    fn share(&self) -> f64 {
        if self.pairs == 0 { 0.5 } else { self.same as f64 / self.pairs as f64 }
    }

    /// Far more than half, and far beyond chance.
    fn is_telling(&self) -> bool {
        let excess = self.same as f64 - self.pairs as f64 / 2.0;
        self.rows >= LEAST_ROWS && self.share() > 0.75 && excess > 4.0 * self.variance.sqrt()
    }

    /// Adds rows in the order of the earlier file, by their places in the later one.
    fn add(&mut self, places: &[u32]) {
        let count = places.len() as u64;
        if count < 2 {
            return;
        }
        let all = count * (count - 1) / 2;
        self.pairs += all;
        self.same += all - inversions(&mut places.to_vec());
        self.rows += places.len();
        // The number of inversions of a random order.
        let count = count as f64;
        self.variance += count * (count - 1.0) * (2.0 * count + 5.0) / 72.0;
    }
}

fn agreement(rows: &[Shared], within: bool) -> Agreement {
    let mut agreement = Agreement::default();
    if !within {
        agreement.add(&rows.iter().map(|row| row.after).collect::<Vec<_>>());
        return agreement;
    }
    let mut by_group: Vec<&Shared> = rows.iter().collect();
    by_group.sort_by_key(|row| row.group);
    for group in by_group.chunk_by(|a, b| a.group == b.group) {
        agreement.add(&group.iter().map(|row| row.after).collect::<Vec<_>>());
    }
    agreement
}

/// How many pairs are in the wrong order, by merge sort.
fn inversions(places: &mut Vec<u32>) -> u64 {
    if places.len() < 2 {
        return 0;
    }
    let mut right = places.split_off(places.len() / 2);
    let mut count = inversions(places) + inversions(&mut right);
    let (mut merged, mut left) = (Vec::with_capacity(places.len() + right.len()), places.iter().copied().peekable());
    for place in right {
        while let Some(lower) = left.next_if(|&lower| lower <= place) {
            merged.push(lower);
        }
        count += left.len() as u64;
        merged.push(place);
    }
    merged.extend(left);
    *places = merged;
    count
}
