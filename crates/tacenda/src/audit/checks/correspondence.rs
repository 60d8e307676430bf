//! Which rows of two releases must be the same people (science D4.5, B2).
//!
//! The attacker knows that a person was in the earlier release, and nobody has left. Forward and cross: take the rows
//! of the person's two groups. Those that no matching of everyone makes the same person are ruled out; the rest can be
//! the person's. Backward: the attacker knows that a person arrived later. Rows of the person's group that must belong
//! to earlier people are ruled out.
//!
//! # Not concluded
//! If groups of one release overlap, a person may be in several. Then all groups over the place are added up, which is
//! an upper bound of what remains. Where the bound does not decide, the pair counts as not assessed.

use crate::audit::checks::flows::{Edge, Flows};
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
    let mut told: Vec<(&Edge, u64)> = Vec::new();
    for edge in flows.edges.iter().filter(|edge| edge.rows() > 0) {
        least = least.min(edge.rows());
        if edge.rows() >= k {
            continue;
        }
        let (old, new) = flows.over(edge);
        let all = old.iter().flat_map(|&old| new.iter().filter_map(move |&new| flows.edge(old, new)));
        let rows: u64 = all.map(|edge| edge.rows()).sum();
        if rows >= k {
            unclear += 1;
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

/// Groups in which few rows are left for arrivals, and the number of groups for which that is not clear.
fn few_arrivals(ask: &Ask<'_>, flows: &Flows<'_>) -> (Tally, u64) {
    let k = u64::from(ask.thresholds.k);
    let (mut newcomers, mut unclear) = (Tally::new(Fault::FewNewcomers), 0);
    for (group, &forced) in flows.forced.iter().enumerate() {
        let rows = flows.later.group_rows(group).len() as u64;
        let open = rows - u64::from(forced);
        if open == 0 || open >= k || flows.later.counterfeits[group] > 0 {
            continue;
        }
        let mut over = 0;
        flows.new.each_overlapping(flows.later.region(group), |_| {
            over += 1;
            over < 2
        });
        if over > 1 {
            unclear += 1;
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

/// The people who were already counted in a finding, if people are known.
pub(super) struct People {
    of_pairs: Option<Vec<Vec<u32>>>,
    told: FxHashSet<u32>,
}

impl People {
    pub(super) fn new(of_pairs: Option<Vec<Vec<u32>>>) -> People {
        People { of_pairs, told: FxHashSet::default() }
    }

    /// How many further people the pair at this place of the list concerns: `rows` if people are not known, `None` if
    /// the pair has nobody in common.
    pub(super) fn count(&mut self, at: usize, rows: u64) -> Option<u64> {
        let Some(of_pairs) = &self.of_pairs else { return Some(rows) };
        let people = &of_pairs[at];
        let told = &mut self.told;
        (!people.is_empty()).then(|| people.iter().filter(|&&person| told.insert(person)).count() as u64)
    }
}

/// Groups of both releases, each with the place of its release.
pub(super) fn names(flows: &Flows<'_>, old: &[u32], new: &[u32]) -> Vec<(u32, u32)> {
    let old = old.iter().map(|&group| (flows.places.0, group));
    old.chain(new.iter().map(|&group| (flows.places.1, group))).collect()
}
