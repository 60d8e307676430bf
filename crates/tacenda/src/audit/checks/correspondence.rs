//! Which rows of two releases must be the same people (science D4.5, B2).
//!
//! The attacker knows that a person was in the earlier release, and nobody has left. Forward and cross: take the rows
//! of the person's two groups. Those that no matching of everyone makes the same person are ruled out; the rest can be
//! the person's. Backward: the attacker knows that a person arrived later. Rows of the person's group that must belong
//! to earlier people are ruled out.
//!
//! If groups of one release overlap, a person may be in several. Then the rows of all groups over the person count, as many as
//! can be the same people at once. If people are not known, every part of the place is looked at.
//!
//! # Not concluded
//! In large components the rows of all groups over the place are added up, which is an upper bound of what remains. Where the
//! bound does not decide, the pair counts as not assessed.

use crate::audit::checks::flows::{Edge, Flows, Over, Standing};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, flows};
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Witness};
use rustc_hash::FxHashSet;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let (mut outcome, left) = flows::each(ask, Check::Correspondence, Reason::RowsBounded, judge);
    if let Some(left) = left {
        outcome.measure(None, Quantity::PairsWithDepartures, f64::from(left));
    }
    outcome
}

fn judge(ask: &Ask<'_>, flows: &Flows<'_>, mut outcome: Outcome) -> Outcome {
    let k = u64::from(ask.thresholds.k);
    let mut one = Tally::new(Fault::OneCorresponding);
    let mut few = Tally::new(Fault::FewCorresponding);
    let (mut unclear, mut least) = (flows.bounded + flows.passed_over, u64::MAX);
    let (mut told, mut open): (Vec<(&Edge, u64)>, Vec<&Edge>) = (Vec::new(), Vec::new());
    for edge in flows.edges.iter().filter(|edge| edge.rows > 0) {
        least = least.min(edge.rows);
        if edge.rows >= k {
            continue;
        }
        let (old, new) = flows.over(edge);
        let all = old.iter().flat_map(|&old| new.iter().filter_map(move |&new| flows.edge(old, new)));
        let rows: u64 = all.map(|edge| edge.rows).sum();
        if rows >= k {
            open.push(edge);
            continue;
        }
        told.push((edge, rows));
    }
    let pairs: Vec<(u32, u32)> = told.iter().map(|(edge, _)| (edge.earlier, edge.later)).collect();
    let mut people = People::new(flows.people_between(ask, &pairs));
    for (at, (edge, rows)) in told.into_iter().enumerate() {
        let Some(count) = people.count(at, rows) else { continue };
        let (old, new) = flows.over(edge);
        let witness = || Witness::new(Statement::FewCorresponding, names(flows, &old, &new), rows, k);
        let tally = if rows == 1 { &mut one } else { &mut few };
        tally.add(count, rows, witness);
    }
    let pairs: Vec<(u32, u32)> = open.iter().map(|edge| (edge.earlier, edge.later)).collect();
    // The same groups lie over a point whichever pair of them is asked.
    let mut at_sets: Vec<Over> = Vec::new();
    for standing in flows.over_points(ask, &pairs) {
        let is_clear = standing.is_some_and(|standing| {
            standing.iter().all(|Standing { at, people: there }| {
                let Some(rows) = flows.rows_at(at) else { return false };
                if (1..k).contains(&rows) && !at_sets.contains(at) {
                    at_sets.push(at.clone());
                    let tally = if rows == 1 { &mut one } else { &mut few };
                    tally.add(people.tell(there, rows), rows, || {
                        let groups = names(flows, &at.earlier, &at.later);
                        Witness::new(Statement::FewCorresponding, groups, rows, k)
                    });
                }
                true
            })
        });
        unclear += u64::from(!is_clear);
    }
    let (newcomers, crowded) = few_arrivals(ask, flows);
    unclear += crowded;
    let edges = flows.edges.len() as u64;
    outcome.coverage.of += edges;
    outcome.coverage.looked_at += edges.saturating_sub(unclear);
    if least < u64::MAX {
        outcome.measure(Some(flows.later.number), Quantity::LeastCorresponding, least as f64);
    }
    for mut tally in [one, few, newcomers] {
        tally.at_most(flows.later.row_count() as u64);
        outcome.found(tally.finding(flows.later.number, vec![flows.earlier.number]));
    }
    outcome
}

/// Groups in which few rows are left for arrivals; and in how many groups that is not clear.
fn few_arrivals(ask: &Ask<'_>, flows: &Flows<'_>) -> (Tally, u64) {
    let k = u64::from(ask.thresholds.k);
    let mut told: Vec<Over> = Vec::new();
    let (mut newcomers, mut unclear) = (Tally::new(Fault::FewNewcomers), 0);
    for (group, &forced) in flows.forced.iter().enumerate() {
        let rows = flows.later.group_rows(group).len() as u64;
        let open = rows - u64::from(forced);
        if open == 0 || open >= k {
            continue;
        }
        let mut over = 0;
        flows.new.each_overlapping(flows.later.region(group), |_| {
            over += 1;
            over < 2
        });
        if over > 1 {
            let is_clear = few_at_points(ask, flows, group as u32, &mut told, &mut newcomers);
            unclear += u64::from(!is_clear);
            continue;
        }
        let came = flows.newcomers(ask, group as u32).unwrap_or(open);
        if came == 0 {
            continue;
        }
        newcomers.add(came, open, || {
            Witness::new(Statement::FewLeftForArrivals, vec![(flows.places.1, group as u32)], open, k)
        });
    }
    (newcomers, unclear)
}

/// The same for a group that others overlap: all groups over an arrival count. Answers whether that is clear everywhere.
fn few_at_points(ask: &Ask<'_>, flows: &Flows<'_>, group: u32, told: &mut Vec<Over>, newcomers: &mut Tally) -> bool {
    let k = u64::from(ask.thresholds.k);
    let Some(all) = flows.over_arrivals(ask, group) else { return false };
    for Standing { at, people } in all {
        let rows: u64 = at.later.iter().map(|&group| flows.later.group_rows(group as usize).len() as u64).sum();
        let Some(forced) = flows.forced_at(&at.later) else { return false };
        let open = rows - forced;
        let place = Over { earlier: Vec::new(), later: at.later };
        if !(1..k).contains(&open) || told.contains(&place) {
            continue;
        }
        let came = if ask.people().is_some() { people.len() as u64 } else { open };
        newcomers.add(came, open, || {
            let groups = place.later.iter().map(|&group| (flows.places.1, group)).collect();
            Witness::new(Statement::FewLeftForArrivals, groups, open, k)
        });
        told.push(place);
    }
    true
}

/// Who was told of already, where people are known.
pub(super) struct People {
    of_pairs: Option<Vec<Vec<u32>>>,
    told: FxHashSet<u32>,
}

impl People {
    pub(super) fn new(of_pairs: Option<Vec<Vec<u32>>>) -> People {
        People { of_pairs, told: FxHashSet::default() }
    }

    /// How many more people the pair at a place speaks of: `rows` where they are not known, `None` where nobody stands
    /// there.
    pub(super) fn count(&mut self, at: usize, rows: u64) -> Option<u64> {
        let Some(of_pairs) = &self.of_pairs else { return Some(rows) };
        let people = &of_pairs[at];
        let told = &mut self.told;
        (!people.is_empty()).then(|| people.iter().filter(|&&person| told.insert(person)).count() as u64)
    }

    /// How many more people these are: `rows` where they are not known.
    pub(super) fn tell(&mut self, people: &[u32], rows: u64) -> u64 {
        match self.of_pairs {
            Some(_) => people.iter().filter(|&&person| self.told.insert(person)).count() as u64,
            None => rows,
        }
    }
}

/// Groups of both releases, with the places of these.
pub(super) fn names(flows: &Flows<'_>, old: &[u32], new: &[u32]) -> Vec<(u32, u32)> {
    let old = old.iter().map(|&group| (flows.places.0, group));
    old.chain(new.iter().map(|&group| (flows.places.1, group))).collect()
}
