//! Whether everyone can have kept one value set (science A3.10), judged from the releases and the private tables.
//!
//! Suppose that every group has each of its values equally often. Suppose also that some seating gives everyone their
//! own value, always in groups with one and the same value set. Exchange two values of a value set, for everyone who
//! has that set and in all releases at once. The result is another seating. So every value of a person's set stays
//! possible for them, however large the series is and however far groups overlap. The reader need not know any rule.
//!
//! # Steps
//! For each person, list the value sets that contain their value and that some group over them has in every one of
//! their releases. Take the first of these. Then everyone is seated in each release, value by value, in groups with
//! their set.
//!
//! # Not concluded
//! Another choice of sets might have a seating even if this choice has none. Releases with counterfeits are not seated.

use crate::audit::checks::Ask;
use crate::audit::checks::candidates::truth;
use crate::audit::knowledge::Knowledge;
use crate::model::{Release, Value};
use crate::space::matching::Matching;
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use rustc_hash::FxHashMap;

/// The most pairs of a person and a group, to bound memory.
const MOST_ARCS: usize = 1 << 24;

/// Whether a seating was found in which everyone keeps one value set. It gives everyone a row in each of their releases
/// and leaves no row over.
pub(super) fn can_keep_sets(ask: &Ask<'_>) -> bool {
    let Some(knowledge) = ask.people() else { return false };
    if ask.series.releases.iter().any(|release| release.counterfeit_count() > 0) {
        return false;
    }
    let values = truth(ask);
    let sets = Sets::new(ask.series.releases);
    let releases = ask.series.releases.len();
    let over: Option<Vec<Over>> = (0..releases)
        .into_par_iter()
        .map(|place| Over::new(&ask.series.releases[place], knowledge, place, &values, ask.budget.steps))
        .collect();
    let Some(over) = over else { return false };
    let Some(chosen) = choose(&over, &sets, knowledge.len()) else { return false };
    let seats = |place: usize| over[place].seats(&ask.series.releases[place], &sets.of[place], &chosen, &values);
    (0..releases).into_par_iter().all(seats)
}

/// The value sets of all groups, each with a number.
struct Sets {
    /// Per release and group.
    of: Vec<Vec<u32>>,
}

impl Sets {
    fn new(releases: &[Release]) -> Sets {
        let mut numbers: FxHashMap<Vec<Value>, u32> = FxHashMap::default();
        let mut number = |release: &Release, group: usize| {
            let next = numbers.len() as u32;
            *numbers.entry(release.value_set(group)).or_insert(next)
        };
        let of_release = |release: &Release| (0..release.group_count()).map(|group| number(release, group)).collect();
        Sets { of: releases.iter().map(of_release).collect() }
    }
}

/// Per person of a release, the groups over them that have their value.
struct Over {
    people: Vec<u32>,
    groups: Vec<Vec<u32>>,
}

impl Over {
    /// `None` if there are too many pairs, or somebody's value is not known.
    fn new(
        release: &Release,
        knowledge: &Knowledge<'_>,
        place: usize,
        values: &[Option<Value>],
        steps: u64,
    ) -> Option<Over> {
        let stab = Stab::new(release, release.values.len());
        let mut point = vec![0; knowledge.attributes()];
        let (mut people, mut groups, mut arcs) = (Vec::new(), Vec::new(), 0);
        for (row, &person) in knowledge.people(place).iter().enumerate() {
            if person == Knowledge::ABSENT {
                continue;
            }
            let value = values[person as usize]?;
            knowledge.read_point(place, row, &mut point);
            let mut own: Vec<u32> = Vec::new();
            stab.each(&point, |group| {
                if release.group_values(group as usize).binary_search(&value).is_ok() {
                    own.push(group);
                }
            });
            arcs += own.len();
            if arcs > MOST_ARCS || arcs as u64 > steps {
                return None;
            }
            people.push(person);
            groups.push(own);
        }
        Some(Over { people, groups })
    }

    /// Whether everyone can have a row of their own in a group with their chosen set, so that no row is left.
    fn seats(&self, release: &Release, sets: &[u32], chosen: &[u32], values: &[Option<Value>]) -> bool {
        if self.people.len() != release.row_count() {
            return false;
        }
        // One place per group and value.
        let mut places: FxHashMap<(u32, Value), u32> = FxHashMap::default();
        let mut matching = Matching { supplies: vec![1; self.people.len()], ..Matching::default() };
        for group in 0..release.group_count() {
            for run in release.group_values(group).chunk_by(|a, b| a == b) {
                places.insert((group as u32, run[0]), matching.capacities.len() as u32);
                matching.capacities.push(run.len() as u32);
            }
        }
        for (node, (&person, groups)) in self.people.iter().zip(&self.groups).enumerate() {
            let Some(value) = values[person as usize] else { return false };
            for &group in groups.iter().filter(|&&group| sets[group as usize] == chosen[person as usize]) {
                matching.arcs.push((node as u32, places[&(group, value)]));
            }
        }
        matching.fill().is_ok()
    }
}

/// Per person, a value set that groups over them have in all their releases; `None` if somebody has none.
fn choose(over: &[Over], sets: &Sets, people: usize) -> Option<Vec<u32>> {
    let mut common: Vec<Option<Vec<u32>>> = vec![None; people];
    for (over, sets) in over.iter().zip(&sets.of) {
        for (&person, groups) in over.people.iter().zip(&over.groups) {
            let mut here: Vec<u32> = groups.iter().map(|&group| sets[group as usize]).collect();
            here.sort_unstable();
            here.dedup();
            let common = &mut common[person as usize];
            match common {
                None => *common = Some(here),
                Some(common) => common.retain(|set| here.binary_search(set).is_ok()),
            }
        }
    }
    // A person who is in no release needs no set.
    common.into_iter().map(|sets| sets.map_or(Some(u32::MAX), |sets| sets.first().copied())).collect()
}
