//! The comparison of two releases: which groups overlap, and which are connected.

use crate::audit::checks::Ask;
use crate::audit::checks::ask::LeftOut;
use crate::model::{GroupRule, Release, Span, Terms, Value};
use crate::space::stab::{Stab, tie_overlapping};
use crate::space::ties::Ties;
use rustc_hash::FxHashMap;

/// The pairs of releases that are compared, and what is left out. Neighbours come first, then all others while reading
/// them is within the budget, the nearest and latest first. Releases without a sensitive column say nothing about
/// values and are skipped.
pub(super) fn pairs(ask: &Ask<'_>) -> (Vec<(u32, u32)>, LeftOut) {
    let places: Vec<u32> = ask.with_sensitive().map(|(place, _)| place).collect();
    let rows = |place: u32| ask.series.releases[place as usize].row_count() as u64;
    let (mut pairs, mut left_out) = (Vec::new(), LeftOut::default());
    let mut budget = ask.budget.rows_of_pairs();
    for apart in 1..places.len() {
        for later in (apart..places.len()).rev() {
            let pair = (places[later - apart], places[later]);
            let cost = rows(pair.0) + rows(pair.1);
            if apart > 1 && (cost > budget || left_out.pairs > 0) {
                left_out.pairs += 1;
                left_out.rows += cost;
                continue;
            }
            budget -= if apart > 1 { cost } else { 0 };
            pairs.push(pair);
        }
    }
    (pairs, left_out)
}

/// How many values there are in all releases.
pub(super) fn value_count(ask: &Ask<'_>) -> usize {
    ask.series.releases.iter().map(|release| release.values.len()).max().unwrap_or(0)
}

/// Whether the promise is for additions only; `None` if nothing was promised.
pub(super) fn only_grows(promise: Option<&Terms>) -> Option<bool> {
    promise.map(|promise| !promise.lets_people_leave)
}

/// Whether a group of the earlier release is missing from the later one, under a promise whose groups never change.
/// Then the group was withheld as a whole, and its people left.
pub(super) fn lost_a_group(promise: Option<&Terms>, earlier: &Release, later: &Release) -> bool {
    if promise.is_none_or(|promise| promise.groups != GroupRule::Unchanged) {
        return false;
    }
    let mut there: FxHashMap<(&[Span], &[Value]), u32> = FxHashMap::default();
    for group in 0..later.group_count() {
        *there.entry((later.region(group), later.group_values(group))).or_default() += 1;
    }
    let mut is_there = |group: usize| match there.get_mut(&(earlier.region(group), earlier.group_values(group))) {
        Some(count) if *count > 0 => {
            *count -= 1;
            true
        }
        _ => false,
    };
    !(0..earlier.group_count()).all(&mut is_there)
}

/// Whether the promise says that a person's groups all have one value set.
pub(super) fn keeps_sets(promise: Option<&Terms>) -> bool {
    promise.is_some_and(|promise| promise.keeps_value_sets)
}

/// The components of the overlap graph of two releases.
pub(super) struct Components {
    /// Per group of the earlier release, then of the later, its component.
    ties: Ties,
    offset: u32,
    groups: u32,
}

/// One component: its groups in the earlier and in the later release, ascending.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Component {
    pub(super) earlier: Vec<u32>,
    pub(super) later: Vec<u32>,
}

impl Components {
    /// Groups of two releases whose regions overlap are tied.
    pub(super) fn new(earlier: &Stab, later: &Stab) -> Components {
        let offset = earlier.group_count();
        let groups = offset + later.group_count();
        let mut ties = Ties::new(groups as usize);
        tie_overlapping(earlier, later, &mut ties);
        Components { ties, offset, groups }
    }

    /// The ties, to add more, and the number of earlier groups: later groups are numbered from there on.
    pub(super) fn ties(&mut self) -> (&mut Ties, u32) {
        (&mut self.ties, self.offset)
    }

    /// All components, each with the number of its root.
    pub(super) fn list(&mut self) -> Vec<(u32, Component)> {
        let mut place = vec![u32::MAX; self.groups as usize];
        let mut all: Vec<(u32, Component)> = Vec::new();
        for node in 0..self.groups {
            let root = self.ties.find(node);
            if place[root as usize] == u32::MAX {
                place[root as usize] = all.len() as u32;
                all.push((root, Component::default()));
            }
            let component = &mut all[place[root as usize] as usize].1;
            if node < self.offset {
                component.earlier.push(node);
            } else {
                component.later.push(node - self.offset);
            }
        }
        all
    }
}
