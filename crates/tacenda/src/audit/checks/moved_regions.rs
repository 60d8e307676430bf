//! Whether one person moved the boundary of a region (science D4.10, A0.5-1).
//!
//! If regions are as small as their people allow, an arrival at the edge widens the region and a departure narrows it.
//! The side that moved is then that person's value. Two groups of two releases count as the same group but for one
//! person under three conditions: one region lies inside the other, their rows agree but for one, and neither has
//! another such partner. One person can move only one end of an interval, so a region with two moved ends is not
//! reported. A region may also have been cut or merged. Then the release with the smaller region has another group
//! inside the larger region, and the other release has no such group. Such pairs are not reported either.

use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::{Check, Coverage, Fault, Outcome, Reason, Statement, Witness};
use crate::model::{Quasi, Release, Span, Value};
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelIterator, ParallelIterator};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.pairs.is_empty() {
        return Outcome::not_applicable(Check::MovedRegions, Reason::OneReleaseWithValues);
    }
    let mut outcome = Outcome::new(Check::MovedRegions, Coverage { what: "groups", ..Coverage::default() });
    let values = pairs::value_count(ask);
    for (earlier, later) in ask.pairs.iter().copied() {
        let (old, new) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        outcome.coverage.of += old.group_count() as u64;
        outcome.coverage.looked_at += old.group_count() as u64;
        let mut moved = Tally::new(Fault::MovedByOne);
        // If people keep their value sets, groups are balanced, so no group equals another but for one row.
        let found = if pairs::keeps_sets(ask.series.promise) { Vec::new() } else { partners(ask, old, new, values) };
        for (group, other, value) in found {
            let line = old.people(group as usize).min(new.people(other as usize));
            moved.add(1, u64::from(line), || Witness {
                values: vec![value],
                ..Witness::new(Statement::MovedByOne, vec![(earlier, group), (later, other)], 1, u64::from(line))
            });
        }
        outcome.found(moved.finding(new.number, vec![old.number]));
    }
    outcome
}

/// Groups of two releases that are each other's only partner: old, new, and the value that differs.
fn partners(ask: &Ask<'_>, old: &Release, new: &Release, values: usize) -> Vec<(u32, u32, Value)> {
    let (old_index, new_index) = (Stab::new(old, values), Stab::new(new, values));
    // In a tree, a region grows from a node to its parent, and then both ends may move.
    let is_tree = |quasi: &Quasi| quasi.nodes().is_some();
    let trees: Vec<bool> = ask.series.schema.quasi.iter().map(is_tree).collect();
    let only = |mine: &Release, group: u32, theirs: &Release, index: &Stab| {
        let mut found: Option<(u32, Value)> = None;
        let mut is_clear = true;
        index.each_overlapping(mine.region(group as usize), |other| {
            let (a, b) = (mine.group_values(group as usize), theirs.group_values(other as usize));
            // The same group again: nothing moved.
            if a == b && mine.region(group as usize) == theirs.region(other as usize) {
                is_clear = false;
            } else if let Some(value) = differs_by_one(a, b)
                && is_moved(mine.region(group as usize), theirs.region(other as usize), &trees)
            {
                is_clear &= found.is_none();
                found = Some((other, value));
            }
            is_clear
        });
        found.filter(|_| is_clear)
    };
    (0..old.group_count() as u32)
        .into_par_iter()
        .filter_map(|group| {
            let (other, value) = only(old, group, new, &new_index)?;
            let is_mutual = only(new, other, old, &old_index)?.0 == group;
            let is_part = match inside(old.region(group as usize), new.region(other as usize)) {
                true => has_other_part((old, &old_index, group), (new, &new_index, other)),
                false => has_other_part((new, &new_index, other), (old, &old_index, group)),
            };
            (is_mutual && !is_part).then_some((group, other, value))
        })
        .collect()
}

/// The one value that one ascending list has and the other has not.
fn differs_by_one(a: &[Value], b: &[Value]) -> Option<Value> {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    if short.len() + 1 != long.len() {
        return None;
    }
    let at = short.iter().zip(long).position(|(a, b)| a != b).unwrap_or(short.len());
    (short[at..] == long[at + 1..]).then_some(long[at])
}

/// Whether a region lies inside another one.
fn inside(a: &[Span], b: &[Span]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.subset(*b))
}

/// Whether another group of the first group's release lies inside the second group, and the second's release has no
/// group with that region.
fn has_other_part(
    (parts, parts_index, part): (&Release, &Stab, u32),
    (wholes, wholes_index, whole): (&Release, &Stab, u32),
) -> bool {
    let whole = wholes.region(whole as usize);
    let mut found = false;
    parts_index.each_overlapping(whole, |other| {
        let region = parts.region(other as usize);
        if other != part && inside(region, whole) {
            found = true;
            wholes_index.each_overlapping(region, |same| {
                found = wholes.region(same as usize) != region;
                found
            });
        }
        !found
    });
    found
}

/// Whether one region lies inside the other, is not the same, and one person can have made the difference.
fn is_moved(a: &[Span], b: &[Span], trees: &[bool]) -> bool {
    let by_one = a.iter().zip(b).zip(trees).all(|((a, b), is_tree)| *is_tree || a.lo == b.lo || a.hi == b.hi);
    a != b && by_one && (inside(a, b) || inside(b, a))
}
