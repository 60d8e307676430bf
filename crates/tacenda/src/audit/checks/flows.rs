//! Everyone in an earlier release, matched to rows of a later one: what correspondence and matching build on.
//!
//! If nobody left and no value changed, every row of the earlier release is a row of the later one, with the same
//! value, in a group whose region overlaps. Per value that is a flow between groups. The most that any such flow sends
//! from one group to another is the number of rows that the two can share. The least that any such flow sends into a
//! group is the number of its rows that must belong to earlier people.
//!
//! If a component is small, or has only one group on one side, this is exact. Otherwise pairs that no flow uses are
//! still found, and the closed form bounds the rest from above. Small components keep their flow (`network`): it also answers
//! for several groups at once, which lie over one point, and for groups with counterfeits.
//!
//! If the promise says that groups come again unchanged, a row stays in its group: only groups that are the same share
//! people. Without that, a flow could exchange rows between a group that stayed and a new one that overlaps it. It would then
//! speak of arrivals where the rule says that nobody arrived (science D4.5).

use crate::audit::checks::network::Network;
use crate::audit::checks::pairs::{Component, ComponentList, Components};
use crate::audit::checks::places::first_edge;
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Outcome, Reason, Verdict};
use crate::model::{Regions, Release, Span, Value};
use crate::space::matching::Matching;
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

/// Two groups that overlap, and what they can share.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Edge {
    pub(super) earlier: u32,
    pub(super) later: u32,
    /// Per value that some flow uses, the largest flow.
    pub(super) most: Vec<(Value, u32)>,
    /// The most of all values at once.
    pub(super) rows: u64,
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
    /// Per group of the later release, whether that is a bound from below: then it is not known that a row is left.
    pub(super) forced_is_bound: Vec<bool>,
    /// How many edges have a bound instead of the exact number.
    pub(super) bounded: u64,
    /// How many edges were skipped because of counterfeits.
    pub(super) passed_over: u64,
    /// The flows of small components.
    networks: Vec<Network>,
    /// Per group of the later release, its network.
    of_later: Vec<Option<u32>>,
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

/// The most rows of a component whose flow is kept, and the most steps of one question to it.
const MOST_ROWS: usize = 160;
const STEPS_OF_A_QUESTION: u64 = 1 << 19;

/// The most parts that a place is cut into, and the steps of one.
const MOST_PARTS: usize = 256;
const STEPS_OF_A_PART: u64 = 64;

/// Asks `judge` of the flows between every two neighbouring releases; `gap` says why some could not be asked. Answers
/// also between how many releases people left, where it could be asked at all.
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
        let components = match ask.are_units() {
            true => same_groups(earlier, later),
            false => Components::new(&old, &new).list().0,
        };
        let components: Vec<Component<'_>> = components.iter().collect();
        if components.iter().any(|&component| loses_rows(earlier, later, component)) {
            return Err(NoFlows::PeopleLeft);
        }
        let keeps_sets = pairs::keeps_sets(ask.series.promise);
        let limit = ask.budget.places().min(MOST_EDGES);
        let edges = match ask.are_units() {
            true => between_same(&components, limit),
            false => overlapping(earlier, later, &new, limit, keeps_sets),
        };
        let mut flows = Flows {
            places,
            earlier,
            later,
            old,
            new,
            edges: edges.ok_or(NoFlows::TooMany)?,
            forced: vec![0; later.group_count()],
            forced_is_bound: vec![false; later.group_count()],
            bounded: 0,
            passed_over: 0,
            networks: Vec::new(),
            of_later: vec![None; later.group_count()],
        };
        flows.fill(&components, ask.budget.flows() / ask.pairs.len() as u64)?;
        Ok(flows)
    }

    /// Solves every component. Each has a part of the steps, by how many pairs of groups it has.
    fn fill(&mut self, components: &[Component<'_>], steps: u64) -> Result<(), NoFlows> {
        let all = self.edges.len().max(1) as u64;
        let solve = |&component: &Component<'_>| {
            let edges: u64 = component.earlier.iter().map(|&group| self.edges_of(group).len() as u64).sum();
            self.solve(component, (u128::from(steps) * u128::from(edges) / u128::from(all)) as u64)
        };
        let solved: Vec<Option<Solved>> = components.par_iter().map(solve).collect();
        for (solved, component) in solved.into_iter().zip(components) {
            let solved = solved.ok_or(NoFlows::PeopleLeft)?;
            if let Some(network) = solved.network {
                let number = self.networks.len() as u32;
                component.later.iter().for_each(|&group| self.of_later[group as usize] = Some(number));
                self.networks.push(network);
            }
            self.bounded += solved.bounded;
            self.passed_over += solved.passed_over;
            for (edge, value, most) in solved.most {
                let edge = &mut self.edges[edge as usize];
                edge.most.push((value, most));
                edge.rows += u64::from(most);
            }
            for (edge, rows) in solved.rows {
                self.edges[edge as usize].rows = rows.into();
            }
            for (group, forced) in solved.forced {
                self.forced[group as usize] += forced;
            }
            solved.bounds.iter().for_each(|&group| self.forced_is_bound[group as usize] = true);
        }
        Ok(())
    }

    /// The flows of one component, value by value; `None` if a value has no flow.
    fn solve(&self, component: Component<'_>, steps: u64) -> Option<Solved> {
        let network = self.network(component)?;
        let mut solved = Solved { steps, network, ..Solved::default() };
        let mut values: Vec<Value> =
            component.earlier.iter().flat_map(|&group| self.earlier.group_values(group as usize)).copied().collect();
        values.sort_unstable();
        values.dedup();
        let counterfeits =
            |release: &Release, groups: &[u32]| groups.iter().any(|&group| release.counterfeits[group as usize] > 0);
        if counterfeits(self.earlier, component.earlier) || counterfeits(self.later, component.later) {
            if let Some(network) = &mut solved.network {
                let edge = |pair: (u32, u32)| self.place(pair.0, pair.1).expect("it overlaps") as u32;
                for (pair, value, most) in network.most() {
                    solved.most.push((edge(pair), value, most));
                }
                for place in component.earlier.iter().flat_map(|&group| self.edges_of(group)) {
                    let own = (self.edges[place].earlier, self.edges[place].later);
                    solved.rows.push((place as u32, network.most_between(|pair| pair == own)));
                }
                let forced = component.later.iter().map(|&own| (own, network.least_into(|group| group == own)));
                solved.forced = forced.collect();
                return Some(solved);
            }
            // Which rows are people's is not known: nothing is said of these groups, as if all their rows were taken.
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
            let (left, right) = (with(self.earlier, component.earlier), with(self.later, component.later));
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

    /// The flow of a component, if it is small; `None` where there is none at all.
    fn network(&self, component: Component<'_>) -> Option<Option<Network>> {
        let rows = |release: &Release, groups: &[u32]| -> usize {
            groups.iter().map(|&group| release.group_rows(group as usize).len()).sum()
        };
        if rows(self.earlier, component.earlier) + rows(self.later, component.later) > MOST_ROWS {
            return Some(None);
        }
        let edges = component.earlier.iter().flat_map(|&group| self.edges_of(group));
        let pairs: Vec<(u32, u32)> = edges.map(|at| (self.edges[at].earlier, self.edges[at].later)).collect();
        let network = Network::new(self.earlier, self.later, component.earlier, component.later, &pairs)?;
        Some(Some(network).filter(|network| network.cost() <= STEPS_OF_A_QUESTION))
    }

    /// The most rows that can be the same people between groups over one point, all at once; `None` where the component is
    /// too large for that.
    pub(super) fn rows_at(&self, at: &Over) -> Option<u64> {
        let is_asked = |pair: (u32, u32)| at.earlier.contains(&pair.0) && at.later.contains(&pair.1);
        let most = |&number: &u32| u64::from(self.networks[number as usize].clone().most_between(is_asked));
        Some(self.networks_of(&at.later)?.iter().map(most).sum())
    }

    /// How many rows of later groups over one point must be of earlier people; `None` as above.
    pub(super) fn forced_at(&self, later: &[u32]) -> Option<u64> {
        let least = |&number: &u32| self.networks[number as usize].clone().least_into(|group| later.contains(&group));
        Some(self.networks_of(later)?.iter().map(|number| u64::from(least(number))).sum())
    }

    /// The networks of some later groups, each once. What is asked of one does not depend on another.
    fn networks_of(&self, later: &[u32]) -> Option<Vec<u32>> {
        let mut numbers: Vec<u32> = later.iter().map(|&group| self.of_later[group as usize]).collect::<Option<_>>()?;
        numbers.sort_unstable();
        numbers.dedup();
        Some(numbers)
    }

    /// The place of an edge in the list.
    fn place(&self, earlier: u32, later: u32) -> Option<usize> {
        self.edges.binary_search_by_key(&(earlier, later), |edge| (edge.earlier, edge.later)).ok()
    }

    /// The places of a group's edges.
    fn edges_of(&self, group: u32) -> std::ops::Range<usize> {
        let start = self.edges.partition_point(|edge| edge.earlier < group);
        start..start + self.edges[start..].partition_point(|edge| edge.earlier <= group)
    }

    /// The edge of two groups.
    pub(super) fn edge(&self, earlier: u32, later: u32) -> Option<&Edge> {
        self.place(earlier, later).map(|place| &self.edges[place])
    }

    /// Per pair of groups, the people who are in the first and then in the second; `None` if people are not known.
    pub(super) fn people_between(&self, ask: &Ask<'_>, pairs: &[(u32, u32)]) -> Option<Vec<Vec<u32>>> {
        let mut people = vec![Vec::new(); pairs.len()];
        self.each_between(ask, pairs, |pair, person, _| people[pair].push(ask.owner(person)))?;
        Some(people)
    }

    /// Per pair of groups, the groups over everyone who is in the one and then in the other, with who that is. If people are
    /// not known, the groups over every part of the place; `None` where there are too many parts.
    pub(super) fn over_points(&self, ask: &Ask<'_>, pairs: &[(u32, u32)]) -> Vec<Option<Vec<Standing>>> {
        let mut all: Vec<Option<Vec<Standing>>> = vec![Some(Vec::new()); pairs.len()];
        let over = |stab: &Stab, point: &[u32]| {
            let mut groups = Vec::new();
            stab.each(point, |group| groups.push(group));
            groups.sort_unstable();
            groups
        };
        let known = self.each_between(ask, pairs, |pair, person, (here, there)| {
            let at = Over { earlier: over(&self.old, here), later: over(&self.new, there) };
            let found = all[pair].get_or_insert_default();
            match found.iter_mut().find(|found| found.at == at) {
                Some(found) => found.people.push(ask.owner(person)),
                None => found.push(Standing { at, people: vec![ask.owner(person)] }),
            }
        });
        if known.is_none() {
            let most = ask.budget.flows() / (STEPS_OF_A_PART * MOST_PARTS as u64) / ask.pairs.len() as u64;
            for (at, (found, pair)) in all.iter_mut().zip(pairs).enumerate() {
                if at as u64 >= most {
                    *found = None;
                    continue;
                }
                let regions = self.earlier.region(pair.0 as usize).iter().zip(self.later.region(pair.1 as usize));
                *found = self.parts(regions.map(|(a, b)| a.meet(*b)).collect());
            }
        }
        all
    }

    /// The same for everyone who came to a group of the later release, or for all parts of it.
    pub(super) fn over_arrivals(&self, ask: &Ask<'_>, group: u32) -> Option<Vec<Standing>> {
        let Some(knowledge) = ask.people() else { return self.parts(self.later.region(group as usize).to_vec()) };
        let (before, after) = (knowledge.rows(self.places.0 as usize), knowledge.rows(self.places.1 as usize));
        let mut point = vec![0; knowledge.attributes()];
        let region = self.later.region(group as usize);
        let mut found: Vec<Standing> = Vec::new();
        for (person, (&before, &after)) in (0..).zip(before.iter().zip(&after)) {
            if before != Knowledge::ABSENT || after == Knowledge::ABSENT {
                continue;
            }
            knowledge.read_point(self.places.1 as usize, after as usize, &mut point);
            if !region.iter().zip(&point).all(|(span, &code)| span.contains(code)) {
                continue;
            }
            let mut at = Over::default();
            self.new.each(&point, |group| at.later.push(group));
            at.later.sort_unstable();
            match found.iter_mut().find(|found| found.at == at) {
                Some(found) => found.people.push(ask.owner(person)),
                None => found.push(Standing { at, people: vec![ask.owner(person)] }),
            }
        }
        Some(found)
    }

    /// The groups over every part of a place: it is cut along their regions until each covers a part or is beside it.
    fn parts(&self, place: Vec<Span>) -> Option<Vec<Standing>> {
        let mut open = vec![place];
        let mut found: Vec<Standing> = Vec::new();
        for _ in 0..MOST_PARTS {
            let Some(part) = open.pop() else { return Some(found) };
            let (mut at, mut edge) = (Over::default(), None);
            for (stab, release, groups) in
                [(&self.old, self.earlier, &mut at.earlier), (&self.new, self.later, &mut at.later)]
            {
                stab.each_overlapping(&part, |group| {
                    match first_edge(release.region(group as usize), &part) {
                        None => groups.push(group),
                        cut => edge = edge.or(cut),
                    }
                    true
                });
                groups.sort_unstable();
            }
            let Some((attribute, last)) = edge else {
                if found.iter().all(|found| found.at != at) {
                    found.push(Standing { at, people: Vec::new() });
                }
                continue;
            };
            let (mut low, mut high) = (part.clone(), part);
            low[attribute].hi = last;
            high[attribute].lo = last + 1;
            open.extend([low, high]);
        }
        open.is_empty().then_some(found)
    }

    /// Calls `each` with a pair, somebody who is in its groups, and where they are; `None` where people are not known.
    fn each_between(
        &self,
        ask: &Ask<'_>,
        pairs: &[(u32, u32)],
        mut each: impl FnMut(usize, u32, (&[u32], &[u32])),
    ) -> Option<()> {
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
                    each(pair as usize, person as u32, (&here, &there));
                }
            });
        }
        Some(())
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

/// The groups over a point.
#[derive(Clone, Debug, Default, Eq, Hash, PartialEq)]
pub(super) struct Over {
    pub(super) earlier: Vec<u32>,
    pub(super) later: Vec<u32>,
}

/// Groups over a point, and who stands there where that is known.
#[derive(Clone, Debug, Default)]
pub(super) struct Standing {
    pub(super) at: Over,
    pub(super) people: Vec<u32>,
}

/// The flows of one component, solved.
#[derive(Default)]
struct Solved {
    /// Edge, value, the most.
    most: Vec<(u32, Value, u32)>,
    /// Later group, and its rows that must belong to earlier people.
    forced: Vec<(u32, u32)>,
    /// Later groups of which at least so many are.
    bounds: Vec<u32>,
    /// Edge, the most of all values at once.
    rows: Vec<(u32, u32)>,
    bounded: u64,
    passed_over: u64,
    /// The steps that are left for solving arcs one by one.
    steps: u64,
    network: Option<Network>,
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
            self.bounds.extend(right);
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
fn loses_rows(earlier: &Release, later: &Release, component: Component<'_>) -> bool {
    if component.earlier.iter().any(|&group| earlier.counterfeits[group as usize] > 0) {
        return false;
    }
    let sorted = |release: &Release, groups: &[u32]| {
        let mut rows: Vec<Value> =
            groups.iter().flat_map(|&group| release.group_values(group as usize)).copied().collect();
        rows.sort_unstable();
        rows
    };
    let mut new = sorted(later, component.later).into_iter();
    sorted(earlier, component.earlier).into_iter().any(|value| !new.any(|other| other == value))
}

/// Groups of both releases that are the same, region and values.
fn same_groups(earlier: &Release, later: &Release) -> ComponentList {
    let mut found: FxHashMap<(&[Span], &[Value]), u32> = FxHashMap::default();
    let mut numbers = Vec::new();
    for release in [earlier, later] {
        for group in 0..release.group_count() {
            let next = found.len() as u32;
            numbers.push(*found.entry((release.region(group), release.group_values(group))).or_insert(next));
        }
    }
    ComponentList::new(found.len(), &numbers, earlier.group_count())
}

/// All pairs of groups that are the same, by earlier then by later group; `None` above the limit.
fn between_same(components: &[Component<'_>], limit: u64) -> Option<Vec<Edge>> {
    let pairs = components.iter().map(|component| component.earlier.len() as u64 * component.later.len() as u64);
    if pairs.sum::<u64>() > limit {
        return None;
    }
    let edge = |earlier: u32, later: u32| Edge { earlier, later, ..Edge::default() };
    let of = |component: &Component<'_>| -> Vec<Edge> {
        let later = |&earlier: &u32| component.later.iter().map(move |&later| edge(earlier, later));
        component.earlier.iter().flat_map(later).collect()
    };
    let mut edges: Vec<Edge> = components.iter().flat_map(of).collect();
    edges.sort_unstable_by_key(|edge| (edge.earlier, edge.later));
    Some(edges)
}

/// All pairs of overlapping groups, by earlier then by later group; `None` above the limit.
fn overlapping(earlier: &Release, later: &Release, new: &Stab, limit: u64, keeps_sets: bool) -> Option<Vec<Edge>> {
    let mut edges: Vec<Edge> = Vec::new();
    for group in 0..earlier.group_count() as u32 {
        let first = edges.len();
        let set = keeps_sets.then(|| earlier.value_set(group as usize));
        new.each_overlapping(earlier.region(group as usize), |other| {
            if set.as_ref().is_none_or(|set| *set == later.value_set(other as usize)) {
                edges.push(Edge { earlier: group, later: other, most: Vec::new(), rows: 0 });
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
