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
//! # Why nobody is accused wrongly
//! What truly happened is one of the flows, so a person's own row is always among those that are counted. If people are not
//! known, what is said is about anybody who would stand in a part of a place, as far as some flow lets somebody stand there.
//! A promise of unchanged groups leaves only flows from each group to one that is the same. Then nobody arrives in an old
//! group, and the rows that are left are those of whole new groups (science D4.5).
//!
//! # Not concluded
//! In large components the rows of all groups over the place are added up, which is an upper bound of what remains. Where the
//! bound does not decide, the pair counts as not assessed.

use crate::audit::checks::flows::{Edge, Flows, Over, Standing};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, flows};
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Witness};
use rustc_hash::{FxHashMap, FxHashSet};

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
    let (mut cases, mut unclear) = few_at_places(ask, flows);
    unclear += flows.bounded + flows.passed_over;
    // The fewest rows first: somebody counts once, with what is worst.
    cases.sort_by_key(|case| case.rows);
    let mut told: FxHashSet<u32> = FxHashSet::default();
    for Few { rows, at, people } in cases {
        let count = match people {
            Some(people) => people.iter().filter(|&&person| told.insert(person)).count() as u64,
            None => rows,
        };
        if count > 0 {
            let tally = if rows == 1 { &mut one } else { &mut few };
            let witness = || Witness::new(Statement::FewCorresponding, names(flows, &at.earlier, &at.later), rows, k);
            tally.add(count, rows, witness);
        }
    }
    let (newcomers, crowded) = few_arrivals(ask, flows);
    unclear += crowded;
    let edges = flows.edges.len() as u64;
    outcome.coverage.of += edges;
    outcome.coverage.looked_at += edges.saturating_sub(unclear);
    if let Some(least) = flows.edges.iter().map(|edge| edge.rows).filter(|&rows| rows > 0).min() {
        outcome.measure(Some(flows.later.number), Quantity::LeastCorresponding, least as f64);
    }
    for mut tally in [one, few, newcomers] {
        tally.at_most(flows.later.row_count() as u64);
        outcome.found(tally.finding(flows.later.number, vec![flows.earlier.number]));
    }
    outcome
}

/// Groups that together have few rows for somebody, and who that is where people are known.
struct Few {
    rows: u64,
    at: Over,
    people: Option<Vec<u32>>,
}

/// All places of two groups that share few rows, and in how many it is not clear.
fn few_at_places(ask: &Ask<'_>, flows: &Flows<'_>) -> (Vec<Few>, u64) {
    let k = u64::from(ask.thresholds.k);
    // Where several groups lie, what they have together is a bound.
    let mut alone: Vec<(&Edge, Few)> = Vec::new();
    let mut beside: Vec<(&Edge, Few)> = Vec::new();
    for edge in flows.edges.iter().filter(|edge| (1..k).contains(&edge.rows)) {
        let (earlier, later) = flows.over(edge);
        let all = earlier.iter().flat_map(|&old| later.iter().filter_map(move |&new| flows.edge(old, new)));
        let rows = all.map(|edge| edge.rows).sum();
        let list = if earlier.len() * later.len() == 1 { &mut alone } else { &mut beside };
        list.push((edge, Few { rows, at: Over { earlier, later }, people: None }));
    }
    let pair = |(edge, _): &(&Edge, Few)| (edge.earlier, edge.later);
    let pairs: Vec<(u32, u32)> = beside.iter().map(pair).collect();
    let (mut found, mut unclear) = (Vec::new(), 0);
    // The same groups lie over a point whichever pair of them is asked.
    let mut asked: FxHashMap<Over, Option<u64>> = FxHashMap::default();
    for ((edge, few), standing) in beside.into_iter().zip(flows.over_points(ask, &pairs)) {
        let at_points = standing.and_then(|standing| {
            let few_at = |Standing { at, people }| {
                let is_new = !asked.contains_key(&at);
                let rows = (*asked.entry(at.clone()).or_insert_with_key(|at| flows.rows_at(at)))?;
                let people = ask.people().map(|_| people);
                Some((is_new && (1..k).contains(&rows)).then_some(Few { rows, at, people }))
            };
            standing.into_iter().map(few_at).collect::<Option<Vec<Option<Few>>>>()
        });
        match at_points {
            Some(at_points) => found.extend(at_points.into_iter().flatten()),
            None if few.rows < k => alone.push((edge, few)),
            None => unclear += 1,
        }
    }
    let pairs: Vec<(u32, u32)> = alone.iter().map(pair).collect();
    let mut people = flows.people_between(ask, &pairs).map(Vec::into_iter);
    for (_, few) in alone {
        found.push(Few { people: people.as_mut().and_then(Iterator::next), ..few });
    }
    (found, unclear)
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
        let came = flows.newcomers(ask, group as u32);
        if came.is_none() && flows.forced_is_bound[group] {
            // Perhaps no row is left at all, and nobody arrived here.
            unclear += 1;
            continue;
        }
        let came = came.unwrap_or(open);
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

    /// How many further people the pair at this place of the list concerns: `rows` if people are not known, `None` if
    /// the pair has nobody in common.
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

/// Groups of both releases, each with the place of its release.
pub(super) fn names(flows: &Flows<'_>, old: &[u32], new: &[u32]) -> Vec<(u32, u32)> {
    let old = old.iter().map(|&group| (flows.places.0, group));
    old.chain(new.iter().map(|&group| (flows.places.1, group))).collect()
}
