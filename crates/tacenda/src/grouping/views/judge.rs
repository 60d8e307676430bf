//! a(x), a_Y(x) and l_y(x) of the combinations of X that share their part in the new view.
//!
//! The rows of the new view come in parts; all rows of a part match the same rows of the earlier views. A value of Y is
//! a pair: its part in the new view and its part in the history. The paper's cases 1 to 4 are one sum over distinct
//! pairs, in which the key of a view counts as many values as there are rows. That corrects Case 2, which counts some
//! pairs twice (science A4.5).

use crate::grouping::views::history::Profile;
use crate::grouping::views::matcher::Matcher;
use crate::grouping::views::worst::Worst;
use crate::model::{Bound, Span};
use std::sync::Arc;

/// The new view's part of Y.
#[derive(Clone)]
pub(super) enum NewY {
    /// Y has no column here.
    Nothing,
    /// The key of the view is in Y: every row is a value of its own.
    Key,
    /// Columns that are published as they are.
    Values {
        /// Where the tree keeps the value of each atom.
        column: usize,
        /// Per value, its spans in the order of the requirement's Y; empty ones belong to the history.
        spans: Vec<Vec<Span>>,
    },
}

impl NewY {
    /// Whether parts list their values.
    pub(super) fn is_listed(&self) -> bool {
        matches!(self, NewY::Values { .. })
    }

    /// Where the tree keeps the value of each atom, if values are listed.
    pub(super) fn column(&self) -> Option<usize> {
        match self {
            NewY::Values { column, .. } => Some(*column),
            _ => None,
        }
    }

    /// How many values are distinguished here; 1 if none are listed.
    pub(super) fn universe(&self) -> usize {
        match self {
            NewY::Values { spans, .. } => spans.len(),
            _ => 1,
        }
    }
}

/// Rows of the new view that agree on X and match the same rows.
#[derive(Clone)]
pub(super) struct Part {
    /// Which value of X.
    pub(super) group: u32,
    profile: Arc<Profile>,
    pub(super) weight: u64,
    /// Values of Y with their rows; sorted and summed by [`judge`].
    values: Vec<(u32, u64)>,
}

impl Part {
    pub(super) fn new(group: u32, profile: Arc<Profile>) -> Part {
        Part { group, profile, weight: 0, values: Vec::new() }
    }

    /// Adds an atom with its value of Y, if values are listed.
    pub(super) fn add(&mut self, value: Option<u32>, weight: u64) {
        self.weight += weight;
        if let Some(value) = value {
            match self.values.last_mut() {
                Some(last) if last.0 == value => last.1 += weight,
                _ => self.values.push((value, weight)),
            }
        }
    }

    /// Adds rows that are already counted by value.
    pub(super) fn add_counts(&mut self, y: &NewY, counts: &[u64]) {
        self.weight += counts.iter().sum::<u64>();
        if y.is_listed() {
            self.values.extend((0u32..).zip(counts.iter().copied()).filter(|count| count.1 > 0));
        }
    }

    /// Sorts the values and adds up equal ones; `universe` is how many values there can be.
    fn sum_up(&mut self, universe: usize) {
        if self.values.len() > 64 && universe <= 4 * self.values.len() {
            let mut counts = vec![0u64; universe];
            self.values.iter().for_each(|&(value, rows)| counts[value as usize] += rows);
            self.values.clear();
            self.values.extend((0u32..).zip(counts).filter(|count| count.1 > 0));
            return;
        }
        self.values.sort_unstable_by_key(|value| value.0);
        self.values.dedup_by(|more, kept| {
            let same = more.0 == kept.0;
            kept.1 += if same { more.1 } else { 0 };
            same
        });
    }
}

/// The worst of all combinations of X that these parts contribute to.
pub(super) fn judge(matcher: &Matcher, y: &NewY, parts: &mut [Part]) -> Worst {
    if let NewY::Values { spans, .. } = y {
        parts.iter_mut().for_each(|part| part.sum_up(spans.len()));
    }
    match parts {
        [part] => judge_one(matcher, y, part),
        parts => judge_many(matcher, y, parts),
    }
}

/// Judges one part: every combination of X is a product of this part and one entry of its profile (Case 1).
fn judge_one(matcher: &Matcher, y: &NewY, part: &Part) -> Worst {
    let Some(least) = part.profile.least_distinct else {
        return Worst::default();
    };
    let (bound, history) = (&matcher.bound, &matcher.history);
    if let Bound::Anonymity { k } = bound {
        let own = match y {
            NewY::Nothing => 1,
            NewY::Key => part.weight,
            NewY::Values { .. } => part.values.len() as u64,
        };
        return Worst::distinct(own.saturating_mul(least), *k);
    }
    match y {
        NewY::Nothing => part.profile.worst,
        NewY::Key => {
            let (share, whole) = part.profile.share;
            Worst::share(share, whole * u128::from(part.weight), bound.threshold(|_| Span::EMPTY))
        }
        NewY::Values { spans, .. } if !history.has_y => {
            let share = |&(value, rows): &(u32, u64)| {
                Worst::share(rows.into(), part.weight.into(), bound.threshold(|at| spans[value as usize][at]))
            };
            part.values.iter().map(share).fold(Worst::default(), Worst::and)
        }
        NewY::Values { spans, .. } if is_uniform(bound) => {
            let (share, whole) = part.profile.share;
            let most = part.values.iter().map(|value| value.1).max().unwrap_or(0);
            let permille = bound.threshold(|at| spans[0][at]);
            Worst::share(share * u128::from(most), whole * u128::from(part.weight), permille)
        }
        NewY::Values { .. } => judge_many(matcher, y, std::slice::from_ref(part)),
    }
}

/// Whether every value has the same threshold.
pub(super) fn is_uniform(bound: &Bound) -> bool {
    match bound {
        Bound::Linkability { listed, .. } => listed.is_empty(),
        Bound::OneIn { .. } => true,
        Bound::Anonymity { .. } => false,
    }
}

/// Judges several parts, or thresholds by pair: each value of the history's part of X is examined on its own.
fn judge_many(matcher: &Matcher, y: &NewY, parts: &[Part]) -> Worst {
    // (value of X in the history, part, entry)
    let mut met: Vec<(u32, u32, u32)> = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        met.extend(part.profile.entries.iter().zip(0u32..).map(|(entry, index)| (entry.x, at as u32, index)));
    }
    met.sort_unstable();
    let of_x = met.chunk_by(|a, b| a.0 == b.0);
    let judged = of_x.map(|met| match &matcher.bound {
        Bound::Anonymity { k } => Worst::distinct(distinct(matcher, y, parts, met), *k),
        Bound::Linkability { .. } | Bound::OneIn { .. } => shares(matcher, y, parts, met),
    });
    judged.fold(Worst::default(), Worst::and)
}

/// The values of the history's part of Y that go with one x, by value: (value, part, rows).
fn history_values(parts: &[Part], met: &[(u32, u32, u32)]) -> Vec<(u32, u32, u128)> {
    let mut values = Vec::new();
    for &(_, part, entry) in met {
        let profile = &parts[part as usize].profile;
        let entry = profile.entries[entry as usize];
        let of_entry = &profile.values[entry.start as usize..entry.end as usize];
        values.extend(of_entry.iter().map(|&(value, rows)| (value, part, rows)));
    }
    values.sort_unstable();
    values
}

/// a_Y(x): per value of the history's part of Y, the distinct values of the parts that go with it.
fn distinct(matcher: &Matcher, y: &NewY, parts: &[Part], met: &[(u32, u32, u32)]) -> u64 {
    let values = history_values(parts, met);
    let mut seen: Vec<u64> = match y {
        NewY::Values { spans, .. } => vec![0; spans.len().div_ceil(64)],
        _ => Vec::new(),
    };
    let mut total = 0u64;
    for same in values.chunk_by(|a, b| a.0 == b.0) {
        let own: u64 = match y {
            NewY::Nothing => 1,
            NewY::Key => same.iter().map(|&(_, part, _)| parts[part as usize].weight).sum(),
            NewY::Values { .. } => union(parts, same, &mut seen),
        };
        total = total.saturating_add(own.saturating_mul(matcher.history.y_weight(same[0].0)));
    }
    total
}

/// How many distinct values the parts hold together; `seen` is clear before and after.
fn union(parts: &[Part], same: &[(u32, u32, u128)], seen: &mut [u64]) -> u64 {
    let each =
        || same.iter().flat_map(|&(_, part, _)| parts[part as usize].values.iter().map(|value| value.0 as usize));
    let mut count = 0;
    for value in each() {
        let bit = 1u64 << (value % 64);
        count += u64::from(seen[value / 64] & bit == 0);
        seen[value / 64] |= bit;
    }
    each().for_each(|value| seen[value / 64] = 0);
    count
}

/// l_y(x) for every y, worst first.
fn shares(matcher: &Matcher, y: &NewY, parts: &[Part], met: &[(u32, u32, u32)]) -> Worst {
    let whole: u128 = met
        .iter()
        .map(|&(_, part, entry)| {
            let part = &parts[part as usize];
            u128::from(part.weight) * part.profile.entries[entry as usize].count
        })
        .sum();
    let history = &matcher.history;
    let mut worst = Worst::default();
    for same in history_values(parts, met).chunk_by(|a, b| a.0 == b.0) {
        let past = same[0].0;
        let weight = u128::from(history.y_weight(past));
        // (value of the new view's part of Y, rows of the join)
        let mut pairs: Vec<(u32, u128)> = Vec::new();
        for &(_, part, rows) in same {
            let part = &parts[part as usize];
            match y {
                NewY::Nothing => pairs.push((0, u128::from(part.weight) * rows)),
                // Each row is a value of its own, and matches the rows of the history that its part matches.
                NewY::Key => pairs.push((pairs.len() as u32, rows)),
                NewY::Values { .. } => {
                    pairs.extend(part.values.iter().map(|&(value, own)| (value, u128::from(own) * rows)));
                }
            }
        }
        pairs.sort_unstable_by_key(|pair| pair.0);
        for pair in pairs.chunk_by(|a, b| a.0 == b.0) {
            let rows: u128 = pair.iter().map(|entry| entry.1).sum();
            let threshold = matcher.bound.threshold(|at| {
                let own = match y {
                    NewY::Values { spans, .. } => spans[pair[0].0 as usize][at],
                    _ => Span::EMPTY,
                };
                if own.is_empty() { history.y_spans(past)[at] } else { own }
            });
            worst = worst.and(Worst::share(rows / weight, whole, threshold));
        }
    }
    worst
}
