//! Everyone in an earlier release, matched to rows of a later one: what correspondence and matching build on.
//!
//! If nobody left and no value changed, every row of the earlier release is a row of the later one, with the same
//! value, in a group whose region overlaps. Per value that is a flow between groups. The most that any such flow sends
//! from one group to another is the number of rows that the two can share. The least that any such flow sends into a
//! group is the number of its rows that must belong to earlier people.
//!
//! This is exact if a component is small, or has only one group on one side. Otherwise pairs that no flow uses are
//! still found, and a closed form bounds the rest from above.

use crate::audit::checks::pairs::{Component, Components};
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Outcome, Reason, Verdict};
use crate::model::{Regions, Release, Value};
use crate::space::matching::Matching;
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// Two groups that overlap, and what they can share.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Edge {
    pub(super) earlier: u32,
    pub(super) later: u32,
    /// Per value that some flow uses, the largest flow.
    pub(super) most: Vec<(Value, u32)>,
}

/// All flows between two releases.
pub(super) struct Flows<'a> {
    pub(super) places: (u32, u32),
    pub(super) earlier: &'a Release,
    pub(super) later: &'a Release,
    pub(super) old: Stab,
    pub(super) new: Stab,
    /// By earlier group, then by later group.
    pub(super) edges: Vec<Edge>,
    /// Per group of the later release, how many of its rows must belong to people of the earlier release.
    pub(super) forced: Vec<u32>,
    /// How many edges have a bound instead of the exact number.
    pub(super) bounded: u64,
    /// How many edges were skipped because of counterfeits.
    pub(super) passed_over: u64,
}

/// Why there are no flows.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum NoFlows {
    /// Somebody left, or a value changed.
    PeopleLeft,
    /// Too many groups overlap.
    TooMany,
}

/// One value of a component is always solved exactly if the square of its number of arcs is at most this.
const STEPS: u64 = 9_000_000;

/// The most pairs of overlapping groups that are kept.
const MOST_EDGES: u64 = 4_000_000;

/// Lets `judge` examine the flows of every pair of releases that is compared. `gap` is the reason for pairs that stay
/// open. Also returns between how many pairs people left, if the question could be asked at all.
pub(super) fn each<'a>(
    ask: &Ask<'a>,
    check: Check,
    gap: Reason,
    judge: impl Fn(&Ask<'a>, &Flows<'a>, Outcome) -> Outcome,
) -> (Outcome, Option<u32>) {
    if !(ask.attacker.presence || ask.attacker.first_release) {
        return (Outcome::not_applicable(check, Reason::PresenceUnknown), None);
    }
    let pairs = &ask.pairs;
    if pairs.is_empty() {
        return (Outcome::not_applicable(check, Reason::OneReleaseWithValues), None);
    }
    let mut outcome = Outcome::new(check, Coverage { what: "pairs of groups", ..Coverage::default() });
    let (mut left, mut too_many, mut edges) = (0, false, 0);
    for (place, &(earlier, later)) in pairs.iter().enumerate() {
        if edges > MOST_EDGES && place >= ask.neighbours() {
            // Flows are kept in memory for the next check, so their number is bounded.
            too_many = true;
            break;
        }
        match ask.flows(place, earlier, later) {
            Ok(flows) => {
                edges += flows.edges.len() as u64;
                outcome = judge(ask, flows, outcome);
            }
            Err(NoFlows::PeopleLeft) => left += 1,
            Err(NoFlows::TooMany) => too_many = true,
        }
    }
    let gaps = outcome.coverage.looked_at < outcome.coverage.of || too_many;
    if outcome.findings.is_empty() && gaps && !has_no_threshold(ask, check) {
        match ask
            .theorem()
            .or_else(|| ask.theorem_as_promised())
            .filter(|_| ask.thresholds.k <= ask.thresholds.l || ask.are_units())
        {
            Some(theorem) => outcome.proved(theorem),
            None => outcome.verdict = Verdict::NotAssessed(gap),
        }
    } else if outcome.findings.is_empty() && has_no_threshold(ask, check) {
        outcome.verdict = Verdict::Measured;
    } else if outcome.findings.is_empty() && left as usize == pairs.len() {
        outcome.verdict = Verdict::NotApplicable(Reason::PeopleLeft);
    }
    (outcome, Some(left))
}

/// Whether nothing can be below the threshold that a check compares with.
fn has_no_threshold(ask: &Ask<'_>, check: Check) -> bool {
    match check {
        Check::Correspondence => ask.thresholds.k <= 1,
        _ => ask.thresholds.l <= 1,
    }
}

impl<'a> Flows<'a> {
    pub(super) fn new(ask: &Ask<'a>, earlier: u32, later: u32) -> Result<Flows<'a>, NoFlows> {
        if pairs::only_grows(ask.series.promise) == Some(false) || has_left(ask, earlier, later) {
            return Err(NoFlows::PeopleLeft);
        }
        let values = pairs::value_count(ask);
        let places = (earlier, later);
        let (earlier, later) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        if pairs::lost_a_group(ask.series.promise, earlier, later) {
            return Err(NoFlows::PeopleLeft);
        }
        let (old, new) = (Stab::new(earlier, values), Stab::new(later, values));
        let components = Components::new(&old, &new).list();
        if components.iter().any(|(_, component)| loses_rows(earlier, later, component)) {
            return Err(NoFlows::PeopleLeft);
        }
        let keeps_sets = pairs::keeps_sets(ask.series.promise);
        let limit = ask.budget.places().min(MOST_EDGES);
        let edges = overlapping(earlier, later, &new, limit, keeps_sets).ok_or(NoFlows::TooMany)?;
        let forced = vec![0; later.group_count()];
        let mut flows = Flows { places, earlier, later, old, new, edges, forced, bounded: 0, passed_over: 0 };
        flows.fill(&components, ask.budget.flows() / ask.pairs.len() as u64)?;
        Ok(flows)
    }

    /// Solves every component. Each gets steps in proportion to its pairs of groups.
    fn fill(&mut self, components: &[(u32, Component)], steps: u64) -> Result<(), NoFlows> {
        let all = self.edges.len().max(1) as u64;
        let solve = |(_, component): &(u32, Component)| {
            let edges: u64 = component.earlier.iter().map(|&group| self.edges_of(group).len() as u64).sum();
            self.solve(component, (u128::from(steps) * u128::from(edges) / u128::from(all)) as u64)
        };
        let solved: Vec<Option<Solved>> = components.par_iter().map(solve).collect();
        for solved in solved {
            let solved = solved.ok_or(NoFlows::PeopleLeft)?;
            self.bounded += solved.bounded;
            self.passed_over += solved.passed_over;
            for (edge, value, most) in solved.most {
                self.edges[edge as usize].most.push((value, most));
            }
            for (group, forced) in solved.forced {
                self.forced[group as usize] += forced;
            }
        }
        Ok(())
    }

    /// The flows of one component, value by value; `None` if a value has no flow.
    fn solve(&self, component: &Component, steps: u64) -> Option<Solved> {
        let mut solved = Solved { steps, ..Solved::default() };
        let mut values: Vec<Value> =
            component.earlier.iter().flat_map(|&group| self.earlier.group_values(group as usize)).copied().collect();
        values.sort_unstable();
        values.dedup();
        let counterfeits =
            |release: &Release, groups: &[u32]| groups.iter().any(|&group| release.counterfeits[group as usize] > 0);
        if counterfeits(self.earlier, &component.earlier) || counterfeits(self.later, &component.later) {
            // With counterfeits it is not known which rows belong to people. So nothing is concluded for these groups:
            // all their rows count as taken.
            let taken = |&group: &u32| (group, self.later.group_rows(group as usize).len() as u32);
            solved.forced = component.later.iter().map(taken).collect();
            solved.passed_over = component.earlier.iter().map(|&group| self.edges_of(group).len() as u64).sum();
            return Some(solved);
        }
        for value in values {
            let count = |release: &Release, group: u32| {
                let values = release.group_values(group as usize);
                let start = values.partition_point(|&other| other < value);
                (values.partition_point(|&other| other <= value) - start) as u32
            };
            let with = |release: &Release, groups: &[u32]| -> Vec<u32> {
                groups.iter().copied().filter(|&group| count(release, group) > 0).collect()
            };
            let (left, right) = (with(self.earlier, &component.earlier), with(self.later, &component.later));
            let mut matching = Matching {
                supplies: left.iter().map(|&group| count(self.earlier, group)).collect(),
                capacities: right.iter().map(|&group| count(self.later, group)).collect(),
                arcs: Vec::new(),
            };
            let mut names: Vec<u32> = Vec::new();
            for (node, &group) in left.iter().enumerate() {
                for edge in self.edges_of(group) {
                    if let Ok(other) = right.binary_search(&self.edges[edge].later) {
                        matching.arcs.push((node as u32, other as u32));
                        names.push(edge as u32);
                    }
                }
            }
            solved.add(value, &matching, &names, &right)?;
        }
        Some(solved)
    }

    /// The places of a group's edges.
    fn edges_of(&self, group: u32) -> std::ops::Range<usize> {
        let start = self.edges.partition_point(|edge| edge.earlier < group);
        start..start + self.edges[start..].partition_point(|edge| edge.earlier <= group)
    }

    /// The edge of two groups.
    pub(super) fn edge(&self, earlier: u32, later: u32) -> Option<&Edge> {
        let place = self.edges.binary_search_by_key(&(earlier, later), |edge| (edge.earlier, edge.later));
        place.ok().map(|place| &self.edges[place])
    }

    /// Per pair of groups, the people who are in the first and then in the second; `None` if people are not known.
    pub(super) fn people_between(&self, ask: &Ask<'_>, pairs: &[(u32, u32)]) -> Option<Vec<Vec<u32>>> {
        let knowledge = ask.people()?;
        let mut regions = Regions::new(self.earlier.regions.attributes());
        pairs.iter().for_each(|pair| regions.push(self.earlier.region(pair.0 as usize)));
        let count = pairs.len();
        let index = Release {
            regions,
            ends: (1..=count as u32).collect(),
            sensitive: vec![Value(0); count],
            counterfeits: vec![0; count],
            ..Release::default()
        };
        let index = Stab::new(&index, 1);
        let (before, after) = (knowledge.rows(self.places.0 as usize), knowledge.rows(self.places.1 as usize));
        let mut people = vec![Vec::new(); count];
        let (mut here, mut there) = (vec![0; knowledge.attributes()], vec![0; knowledge.attributes()]);
        for (person, (&before, &after)) in before.iter().zip(&after).enumerate() {
            if before == Knowledge::ABSENT || after == Knowledge::ABSENT {
                continue;
            }
            knowledge.read_point(self.places.0 as usize, before as usize, &mut here);
            knowledge.read_point(self.places.1 as usize, after as usize, &mut there);
            index.each(&here, |pair| {
                let region = self.later.region(pairs[pair as usize].1 as usize);
                if region.iter().zip(&there).all(|(span, &code)| span.contains(code)) {
                    people[pair as usize].push(ask.owner(person as u32));
                }
            });
        }
        Some(people)
    }

    /// How many people of a later group were not in the earlier release; `None` if people are not known.
    pub(super) fn newcomers(&self, ask: &Ask<'_>, group: u32) -> Option<u64> {
        let knowledge = ask.people()?;
        let (before, after) = (knowledge.rows(self.places.0 as usize), knowledge.rows(self.places.1 as usize));
        let mut point = vec![0; knowledge.attributes()];
        let region = self.later.region(group as usize);
        let came = before.iter().zip(&after).filter(|&(&before, &after)| {
            before == Knowledge::ABSENT && after != Knowledge::ABSENT && {
                knowledge.read_point(self.places.1 as usize, after as usize, &mut point);
                region.iter().zip(&point).all(|(span, &code)| span.contains(code))
            }
        });
        Some(came.count() as u64)
    }

    /// All groups of the earlier and of the later release over a place.
    pub(super) fn over(&self, edge: &Edge) -> (Vec<u32>, Vec<u32>) {
        let regions = self.earlier.region(edge.earlier as usize).iter().zip(self.later.region(edge.later as usize));
        let place: Vec<_> = regions.map(|(a, b)| a.meet(*b)).collect();
        let collect = |stab: &Stab| {
            let mut groups = Vec::new();
            stab.each_overlapping(&place, |group| {
                groups.push(group);
                true
            });
            groups.sort_unstable();
            groups
        };
        (collect(&self.old), collect(&self.new))
    }
}

impl Edge {
    /// How many rows the two groups can share.
    pub(super) fn rows(&self) -> u64 {
        self.most.iter().map(|&(_, most)| u64::from(most)).sum()
    }
}

/// The flows of one component, solved.
#[derive(Default)]
struct Solved {
    /// Edge, value, the most.
    most: Vec<(u32, Value, u32)>,
    /// Later group, and its rows that must belong to earlier people.
    forced: Vec<(u32, u32)>,
    bounded: u64,
    passed_over: u64,
    /// The steps that are left for solving arcs one by one.
    steps: u64,
}

impl Solved {
    fn add(&mut self, value: Value, matching: &Matching, names: &[u32], right: &[u32]) -> Option<()> {
        let mut full = matching.fill().ok()?;
        let capacity = |arc: usize| {
            let (a, b) = matching.arcs[arc];
            matching.supplies[a as usize].min(matching.capacities[b as usize])
        };
        let cost = (matching.arcs.len() as u64).saturating_mul(matching.arcs.len() as u64);
        let is_exact = cost <= STEPS.max(self.steps);
        if matching.supplies.len() == 1 || matching.capacities.len() == 1 {
            // With one group on one side the closed form is exact.
            self.most.extend((0..names.len()).map(|arc| (names[arc], value, capacity(arc))));
        } else if is_exact {
            self.steps = self.steps.saturating_sub(cost);
            for (arc, &name) in names.iter().enumerate() {
                let most = full.most_on(arc);
                if most > 0 {
                    self.most.push((name, value, most));
                }
            }
        } else {
            let usable = full.usable_arcs();
            let arcs = (0..names.len()).filter(|&arc| usable[arc]);
            self.most.extend(arcs.map(|arc| (names[arc], value, capacity(arc))));
            self.bounded += names.len() as u64;
        }
        if is_exact || matching.capacities.len() == 1 {
            let forced = right.iter().enumerate().map(|(node, &group)| (group, full.least_into(node as u32)));
            self.forced.extend(forced.filter(|&(_, forced)| forced > 0));
        } else {
            // A lower bound: the rows that do not fit into the other groups.
            let all: u64 = matching.supplies.iter().map(|&supply| u64::from(supply)).sum();
            let room: u64 = matching.capacities.iter().map(|&capacity| u64::from(capacity)).sum();
            let least = |&capacity: &u32| all.saturating_sub(room - u64::from(capacity)) as u32;
            let forced = right.iter().zip(matching.capacities.iter().map(least)).map(|(&group, least)| (group, least));
            self.forced.extend(forced.filter(|&(_, least)| least > 0));
        }
        Some(())
    }
}

/// Whether a known person left between two releases, or changed value.
fn has_left(ask: &Ask<'_>, earlier: u32, later: u32) -> bool {
    let Some(knowledge) = ask.people() else { return false };
    let (before, after) = (knowledge.rows(earlier as usize), knowledge.rows(later as usize));
    let gone = u32::MAX;
    before.iter().zip(&after).any(|(&before, &after)| before != gone && after == gone)
}

/// Whether a component without counterfeits has fewer rows of some value in the later release.
fn loses_rows(earlier: &Release, later: &Release, component: &Component) -> bool {
    if component.earlier.iter().any(|&group| earlier.counterfeits[group as usize] > 0) {
        return false;
    }
    let sorted = |release: &Release, groups: &[u32]| {
        let mut rows: Vec<Value> =
            groups.iter().flat_map(|&group| release.group_values(group as usize)).copied().collect();
        rows.sort_unstable();
        rows
    };
    let mut new = sorted(later, &component.later).into_iter();
    sorted(earlier, &component.earlier).into_iter().any(|value| !new.any(|other| other == value))
}

/// All pairs of overlapping groups, by earlier and then by later group; `None` if they exceed the limit.
fn overlapping(earlier: &Release, later: &Release, new: &Stab, limit: u64, keeps_sets: bool) -> Option<Vec<Edge>> {
    let mut edges: Vec<Edge> = Vec::new();
    for group in 0..earlier.group_count() as u32 {
        let first = edges.len();
        let set = keeps_sets.then(|| earlier.value_set(group as usize));
        new.each_overlapping(earlier.region(group as usize), |other| {
            if set.as_ref().is_none_or(|set| *set == later.value_set(other as usize)) {
                edges.push(Edge { earlier: group, later: other, most: Vec::new() });
            }
            edges.len() as u64 <= limit
        });
        if edges.len() as u64 > limit {
            return None;
        }
        edges[first..].sort_unstable_by_key(|edge| edge.later);
    }
    Some(edges)
}
