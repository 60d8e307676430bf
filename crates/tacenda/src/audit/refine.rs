//! Arc consistency: which candidates matching everyone at once rules out (science A3.8).
//!
//! In each release everyone needs a row of their own, and so does every counterfeit of a group. A person keeps a value
//! only if some full matching gives it to them. Ruling a value out in one release may rule out more in another, so
//! this is repeated until nothing changes. Every deletion is sound as long as nobody's value changes. The caller
//! treats a person whose value changed as a new person from then on. Values that remain prove nothing.
//!
//! People whose groups are connected form a component. Components are refined while the budget lasts, those with the
//! fewest steps per person first. The people of a component that the budget does not reach count as not assessed. So do
//! the people of a component that has no full matching, or more or fewer rows than people: there the knowledge
//! contradicts the release.

use crate::audit::Budget;
use crate::audit::candidates::Candidates;
use crate::audit::knowledge::Knowledge;
use crate::model::{Release, Span};
use crate::space::matching::{Asked, Crowd, Wishes, keep_usable};
use crate::space::sets::{holds, insert};
use crate::space::stab::Stab;
use crate::space::ties::Ties;
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};
use std::cmp::Ordering;
use std::ops::Range;

/// How much work is done at most.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct RefineLimits {
    /// The most steps: pairs of a person and a row that are examined.
    pub steps: u64,
    /// The most pairs of a person and a row of one component, to bound memory.
    pub arcs: usize,
    /// The most rounds over all releases.
    pub rounds: u32,
}

impl Default for RefineLimits {
    fn default() -> RefineLimits {
        RefineLimits::of(Budget::default())
    }
}

impl RefineLimits {
    /// What a budget allows.
    pub fn of(budget: Budget) -> RefineLimits {
        // Memory grows with the pairs of one component.
        let arcs = (budget.steps / 50).clamp(1 << 18, 1 << 26) as usize;
        RefineLimits { steps: budget.steps, arcs, rounds: 1024 }
    }
}

/// What was done.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Refined {
    /// How many rounds over all releases.
    pub rounds: u32,
    /// How many pairs of a person and a value were taken away.
    pub removed: u64,
    /// The people who, in some release, are in a component that the budget did not reach or that has no full matching.
    pub not_assessed: usize,
    /// The steps of the components that the budget reached.
    pub spent: u64,
    /// The least number of steps that the other components would take.
    pub missing: u64,
    /// How often a component had no full matching: a value has changed, or the knowledge is wrong.
    pub contradictory: u64,
    /// Whether nothing changed in the last round.
    pub finished: bool,
}

impl Refined {
    /// The least number of steps that all components together would take.
    pub fn needs(&self) -> u64 {
        self.spent.saturating_add(self.missing)
    }

    /// Spends steps on components, and removes those that the budget does not reach. Components that settle the most
    /// people per step come first.
    fn spend<'a>(&mut self, components: &mut Vec<&'a Component>, steps: u64) -> Vec<&'a Component> {
        if components.iter().map(|component| component.cost).sum::<u64>() > steps - self.spent {
            components
                .sort_by_key(|component| (component.cost / component.people.len().max(1) as u64, component.people[0]));
        }
        let mut left_out = Vec::new();
        components.retain(|component| {
            let is_reached = component.cost <= steps - self.spent;
            if is_reached {
                self.spent += component.cost;
            } else {
                self.missing += component.cost;
                left_out.push(*component);
            }
            is_reached
        });
        left_out
    }
}

/// Narrows the candidates as far as the limits allow.
pub fn refine(
    candidates: &mut Candidates,
    releases: &[Release],
    knowledge: &Knowledge<'_>,
    limits: RefineLimits,
) -> Refined {
    refine_and_place(candidates, releases, knowledge, limits).0
}

/// The components of one release, before anything was narrowed.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    /// Per group, the lowest group of its component.
    pub(super) roots: Vec<u32>,
    /// Per row of the knowledge, a group the person may be in, or `u32::MAX`.
    pub(super) found: Vec<u32>,
}

/// The same, and the components of each release.
pub(super) fn refine_and_place(
    candidates: &mut Candidates,
    releases: &[Release],
    knowledge: &Knowledge<'_>,
    limits: RefineLimits,
) -> (Refined, Vec<Places>) {
    let values = releases.iter().map(|release| release.values.len()).max().unwrap_or(0);
    let mut refined = Refined::default();
    let mut not_assessed = vec![false; knowledge.len()];
    // The groups that everyone may be in are found once. Later rounds only remove arcs.
    let scene = |(index, release)| Scene::new(release, values, knowledge, index, candidates, limits);
    let scenes: Vec<Scene<'_>> = releases.par_iter().enumerate().map(scene).collect();
    for scene in &scenes {
        scene.not_assessed.iter().for_each(|&person| not_assessed[person as usize] = true);
    }
    refined.missing = scenes.iter().map(|scene| scene.missing).sum();
    // The round in which each person last changed; at first everyone counts as changed.
    let mut changed_at = vec![1u32; knowledge.len()];
    let mut looked_at = vec![0u32; releases.len()];
    let mut clock = 0;
    let mut is_cut_short = false;
    while !refined.finished && !is_cut_short && refined.rounds < limits.rounds {
        refined.rounds += 1;
        refined.finished = true;
        for (index, scene) in scenes.iter().enumerate() {
            let mut stirred: Vec<&Component> = scene
                .components
                .par_iter()
                .filter(|component| {
                    component.people.iter().any(|&person| changed_at[person as usize] > looked_at[index])
                })
                .collect();
            clock += 1;
            looked_at[index] = clock;
            for component in refined.spend(&mut stirred, limits.steps) {
                is_cut_short = true;
                component.people.iter().for_each(|&person| not_assessed[person as usize] = true);
            }
            let outcomes: Vec<Narrowed> =
                stirred.par_iter().map(|component| scene.narrow(component, candidates, limits)).collect();
            for (component, outcome) in stirred.iter().zip(outcomes) {
                match outcome {
                    Narrowed::TooLarge => {
                        refined.missing += component.cost;
                        component.people.iter().for_each(|&person| not_assessed[person as usize] = true);
                    }
                    Narrowed::Contradictory => {
                        refined.contradictory += 1;
                        component.people.iter().for_each(|&person| not_assessed[person as usize] = true);
                    }
                    Narrowed::Kept(kept) => {
                        for (person, bits) in kept {
                            let gone = candidates.narrow(person, &bits);
                            if gone > 0 {
                                refined.removed += u64::from(gone);
                                refined.finished = false;
                                changed_at[person as usize] = clock;
                            }
                        }
                    }
                }
            }
        }
    }
    refined.finished &= !is_cut_short;
    refined.not_assessed = not_assessed.into_iter().filter(|&not| not).count();
    (refined, scenes.into_iter().map(|scene| scene.places).collect())
}

/// One release, with the groups that everyone may be in.
struct Scene<'a> {
    release: &'a Release,
    components: Vec<Component>,
    /// People of components that are too large to keep in memory, and the steps these would take at least.
    not_assessed: Vec<u32>,
    missing: u64,
    places: Places,
}

/// People and groups that are connected.
#[derive(Default)]
struct Component {
    people: Vec<u32>,
    /// Their rows in the table, until the groups that they may be in are known.
    rows: Vec<u32>,
    groups: Vec<u32>,
    /// The groups each of the people may be in, ascending, one after another.
    hits: Vec<u32>,
    ends: Vec<u32>,
    /// The steps of narrowing it once: pairs of a person and a value of a group.
    cost: u64,
}

impl Component {
    /// The groups that the person at a place of `people` may be in.
    fn hits(&self, place: usize) -> &[u32] {
        let start = if place == 0 { 0 } else { self.ends[place - 1] };
        &self.hits[start as usize..self.ends[place] as usize]
    }
}

enum Narrowed {
    TooLarge,
    Contradictory,
    /// What each person keeps.
    Kept(Vec<(u32, Vec<u64>)>),
}

impl<'a> Scene<'a> {
    fn new(
        release: &'a Release,
        values: usize,
        knowledge: &'a Knowledge<'_>,
        index: usize,
        candidates: &Candidates,
        limits: RefineLimits,
    ) -> Scene<'a> {
        let stab = Stab::new(release, values);
        let (places, few) = find_places(release, &stab, knowledge, index, candidates);
        let components = components(&places, knowledge.people(index));
        let mut scene = Scene { release, components: Vec::new(), not_assessed: Vec::new(), missing: 0, places };
        for mut component in components {
            if scene.find_hits(&mut component, &stab, &few, knowledge, index, candidates, limits) {
                scene.components.push(component);
            } else {
                scene.missing += component.cost;
                scene.not_assessed.append(&mut component.people);
            }
        }
        scene
    }

    /// Finds the groups that the people of a component may be in. Returns whether that is within the limit.
    #[expect(clippy::too_many_arguments, reason = "what is known of one release")]
    fn find_hits(
        &self,
        component: &mut Component,
        stab: &Stab,
        few: &Few,
        knowledge: &Knowledge<'_>,
        index: usize,
        candidates: &Candidates,
        limits: RefineLimits,
    ) -> bool {
        let mut point = vec![0; knowledge.attributes()];
        for (row, &person) in std::mem::take(&mut component.rows).into_iter().zip(&component.people) {
            let first = component.hits.len();
            let set = candidates.bits(person);
            // A group without any of the person's values cannot be theirs.
            let fits =
                |group: u32| self.release.group_values(group as usize).iter().any(|value| holds(set, value.index()));
            match few.hits(row) {
                Some(hits) => component.hits.extend(hits.iter().filter(|&&group| fits(group))),
                None => {
                    knowledge.read_point(index, row as usize, &mut point);
                    stab.each(&point, |group| {
                        if fits(group) {
                            component.hits.push(group);
                        }
                    });
                }
            }
            component.hits[first..].sort_unstable();
            component.ends.push(component.hits.len() as u32);
            let kinds =
                |&group: &u32| self.release.group_values(group as usize).len().min(self.release.values.len()) as u64;
            component.cost += component.hits[first..].iter().map(kinds).sum::<u64>();
            if component.hits.len() > limits.arcs || component.cost > limits.steps {
                component.hits = Vec::new();
                return false;
            }
        }
        true
    }

    /// Whether a component has a row for each of its people and counterfeits, and no other.
    fn adds_up(&self, component: &Component) -> bool {
        let people = |group: &u32| self.release.people(*group as usize) as usize;
        component.groups.iter().map(people).sum::<usize>() == component.people.len()
    }

    /// The places of a component: one per group and value, with how often the value occurs.
    fn places(&self, component: &Component) -> Seats {
        let mut seats = Seats::default();
        for &group in &component.groups {
            for run in self.release.group_values(group as usize).chunk_by(|a, b| a == b) {
                seats.values.push(run[0].0);
                seats.rooms.push(run.len() as u32);
            }
            seats.ends.push(seats.rooms.len());
        }
        seats
    }

    /// What everyone in a component keeps.
    fn narrow(&self, component: &Component, candidates: &Candidates, limits: RefineLimits) -> Narrowed {
        if !self.adds_up(component) {
            return Narrowed::Contradictory;
        }
        let places = self.places(component);
        let wishes = ValuesInPlaces::new(component, &places, candidates);
        let counterfeits = |(index, &group): (usize, &u32)| {
            let count = self.release.counterfeits.get(group as usize).copied().unwrap_or(0);
            (count > 0).then(|| (places.of_group(index), count))
        };
        let others: Vec<(Range<usize>, u32)> = component.groups.iter().enumerate().filter_map(counterfeits).collect();
        let crowd = Crowd { rooms: &places.rooms, wishes: &wishes, others: &others };
        let mut kept = Vec::new();
        let asked = keep_usable(&crowd, limits.arcs, |person, left| {
            // After the intersection, every value that a person has left has a place.
            let mut bits = vec![0; candidates.words()];
            left.for_each(|place| insert(&mut bits, places.values[place as usize] as usize));
            kept.push((component.people[person], bits));
        });
        match asked {
            Asked::Answered => Narrowed::Kept(kept),
            Asked::NoSeating => Narrowed::Contradictory,
            Asked::TooLarge => Narrowed::TooLarge,
        }
    }
}

/// The places that the people of a component may take: one of each value they may have, in each group they may be in.
struct ValuesInPlaces<'a> {
    component: &'a Component,
    places: &'a Seats,
    /// Per person, the set of values they may have, in words.
    sets: Vec<u64>,
    words: usize,
}

impl<'a> ValuesInPlaces<'a> {
    fn new(component: &'a Component, places: &'a Seats, candidates: &Candidates) -> ValuesInPlaces<'a> {
        // The sets are scattered in memory. Reading them one right after another lets the processor overlap the waits.
        let words = candidates.words();
        let mut sets: Vec<u64> = Vec::with_capacity(component.people.len() * words);
        component.people.iter().for_each(|&person| sets.extend_from_slice(candidates.bits(person)));
        ValuesInPlaces { component, places, sets, words }
    }

    fn set(&self, person: usize) -> &[u64] {
        &self.sets[person * self.words..(person + 1) * self.words]
    }
}

impl Wishes for ValuesInPlaces<'_> {
    fn people(&self) -> usize {
        self.component.people.len()
    }

    fn each(&self, person: usize, mut tell: impl FnMut(usize, bool)) {
        let set = self.set(person);
        for group in self.component.hits(person) {
            let index = self.component.groups.binary_search(group).expect("a hit lies in its component");
            for place in self.places.of_group(index) {
                tell(place, holds(set, self.places.values[place] as usize));
            }
        }
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        let hits = self.component.hits(one).cmp(self.component.hits(other));
        hits.then_with(|| self.set(one).cmp(self.set(other)))
    }
}

/// Places, group by group: their values, and how many there are of each.
#[derive(Default)]
struct Seats {
    values: Vec<u32>,
    rooms: Vec<u32>,
    ends: Vec<usize>,
}

impl Seats {
    fn of_group(&self, index: usize) -> Range<usize> {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        start..self.ends[index]
    }
}

/// The groups over each row, where they are few.
struct Few {
    hits: Vec<u32>,
    /// Per row, the range of its groups in `hits`; `None` if there are too many.
    of_rows: Vec<Option<(u32, u32)>>,
}

/// The most groups per row that are kept.
const FEW: usize = 4;

impl Few {
    fn hits(&self, row: u32) -> Option<&[u32]> {
        self.of_rows[row as usize].map(|(start, end)| &self.hits[start as usize..end as usize])
    }
}

/// Finds the components, without the groups that each person may be in.
fn find_places(
    release: &Release,
    stab: &Stab,
    knowledge: &Knowledge<'_>,
    index: usize,
    candidates: &Candidates,
) -> (Places, Few) {
    let people = knowledge.people(index);
    let (mut ties, mut united) = (Ties::new(release.group_count()), stab.united());
    let mut region = vec![Span::EMPTY; knowledge.attributes()];
    let mut point = vec![0; knowledge.attributes()];
    let mut found = vec![u32::MAX; people.len()];
    let mut few = Few { hits: Vec::new(), of_rows: vec![None; people.len()] };
    let alike = knowledge.by_point(index);
    // Points come in the order of the table, which is that of keyed hashes. If neighbours came one after another, boxes
    // of the tree would be joined late, and every query would descend to the leaves.
    let mut points: Vec<&[u32]> = alike.iter().filter(|rows| !rows.is_empty()).collect();
    points.sort_unstable_by_key(|rows| rows[0]);
    for rows in points {
        knowledge.read_point(index, rows[0] as usize, &mut point);
        let first = few.hits.len();
        let range = stab.few(&point, FEW, &mut few.hits).then_some((first as u32, few.hits.len() as u32));
        region.iter_mut().zip(&point).for_each(|(span, &code)| *span = Span::exact(code));
        // The last person who was looked up: a person with the same values may be in the same groups.
        let mut last: Option<u32> = None;
        for &row in rows {
            few.of_rows[row as usize] = range;
            let set = candidates.bits(people[row as usize]);
            if let Some(last) = last.filter(|&last| candidates.bits(people[last as usize]) == set) {
                found[row as usize] = found[last as usize];
                continue;
            }
            last = Some(row);
            let found = &mut found[row as usize];
            if range.is_some() {
                for &group in &few.hits[first..] {
                    if release.group_values(group as usize).iter().any(|value| holds(set, value.index())) {
                        ties.tie(if *found == u32::MAX { group } else { *found }, group);
                        *found = group;
                    }
                }
                continue;
            }
            let wants = |values: &[u64]| values.iter().zip(set).any(|(have, want)| have & want != 0);
            *found = stab.unite(&region, None, wants, &mut united, &mut ties, 0).unwrap_or(u32::MAX);
        }
    }
    let roots = (0..release.group_count() as u32).map(|group| ties.find(group)).collect();
    (Places { roots, found }, few)
}

/// The components with somebody in them.
fn components(places: &Places, people: &[u32]) -> Vec<Component> {
    let mut components: Vec<Component> = places.roots.iter().map(|_| Component::default()).collect();
    for (group, &root) in places.roots.iter().enumerate() {
        components[root as usize].groups.push(group as u32);
    }
    for (row, &group) in places.found.iter().enumerate().filter(|(_, group)| **group != u32::MAX) {
        let component = &mut components[places.roots[group as usize] as usize];
        component.people.push(people[row]);
        component.rows.push(row as u32);
    }
    components.retain(|component| !component.people.is_empty());
    components
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::candidates::attack;
    use crate::audit::sketch::{evolution, people, release, table};
    use crate::audit::worlds::{Counting, Worlds};
    use crate::model::Value;
    use proptest::prelude::*;

    fn sizes(candidates: &Candidates) -> Vec<u32> {
        (0..candidates.people() as u32).map(|person| candidates.size(person)).collect()
    }

    #[test]
    fn matching_each_release_alone_does_not_find_a_newcomer() {
        // science G9: A and B in {a,b}, then C joins and the class is {a,a,b}.
        let tables = [table("1/10/a 2/10/b"), table("1/10/a 2/10/b 3/10/a")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/aab")];
        let knowledge = Knowledge::from_tables(&tables);
        let mut candidates = attack(&releases, &knowledge);
        assert_eq!(sizes(&candidates), [2, 2, 2]);
        let refined = refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
        // Each release alone allows everything: arc consistency is sound, and not complete.
        assert_eq!((sizes(&candidates), refined.finished), (vec![2, 2, 2], true));
    }

    #[test]
    fn who_is_certain_takes_the_value_from_the_others() {
        let tables = [table("1/10/a 2/11/b 3/12/c"), table("1/10/a")];
        // Only the first person can stand in the second group, so a stays open for the others.
        let releases = [release(1, "10-12/abc+1 10-10/a"), release(2, "10-10/ad+1")];
        let knowledge = Knowledge::from_tables(&tables);
        let mut candidates = attack(&releases, &knowledge);
        assert_eq!(sizes(&candidates), [1, 3, 3]);
        let refined = refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
        assert_eq!(sizes(&candidates), [1, 3, 3]);
        assert_eq!(refined.removed, 0);
        // Without the counterfeit and the second group, the first person leaves b and c to the others.
        let releases = [release(1, "10-12/abc"), release(2, "10-10/ad+1")];
        let mut candidates = attack(&releases, &knowledge);
        let refined = refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
        assert_eq!((sizes(&candidates), refined.removed), (vec![1, 2, 2], 2));
    }

    #[test]
    fn what_is_above_the_limit_is_not_assessed() {
        let tables = [table("1/10/a 2/11/b 3/12/c"), table("1/10/a")];
        let releases = [release(1, "10-12/abc"), release(2, "10-10/ad+1")];
        let knowledge = Knowledge::from_tables(&tables);
        let mut candidates = attack(&releases, &knowledge);
        let limits = RefineLimits { steps: 8, ..RefineLimits::default() };
        let refined = refine(&mut candidates, &releases, &knowledge, limits);
        assert_eq!((sizes(&candidates), refined.not_assessed), (vec![1, 3, 3], 3));
        assert!(refined.needs() > 8, "{refined:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(150))]
        /// science E1-34: no value of a true world is ever taken away; on one release nothing else is kept.
        #[test]
        fn every_value_of_a_world_survives((tables, releases) in evolution(7)) {
            let knowledge = Knowledge::from_tables(&tables);
            let mut candidates = attack(&releases, &knowledge);
            let before = candidates.clone();
            let refined = refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
            prop_assert!(refined.finished && refined.contradictory == 0 && refined.not_assessed == 0);
            prop_assert_eq!(candidates.judge(&knowledge).misled, 0);
            let worlds = Worlds::count(&releases, &people(&knowledge), Counting::Blind, 1_000_000).unwrap();
            prop_assert!(worlds.count > 0);
            for person in 0..knowledge.len() as u32 {
                let kept: Vec<Value> = candidates.values(person);
                prop_assert!(kept.iter().all(|value| before.values(person).contains(value)));
                prop_assert!(worlds.values(person).iter().all(|value| kept.contains(value)));
                if releases.len() == 1 {
                    prop_assert_eq!(worlds.values(person), kept);
                }
            }
        }
    }
}
