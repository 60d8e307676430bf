//! The comparison of two releases: which groups overlap, and which are connected.

use crate::audit::by_group::ByGroup;
use crate::audit::checks::Ask;
use crate::audit::checks::ask::LeftOut;
use crate::model::{GroupRule, Release, Span, Terms, Value};
use crate::space::stab::{Stab, tie_overlapping};
use crate::space::ties::Ties;
use rayon::slice::ParallelSliceMut;

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
    // Sorted numbers of groups take a fraction of the memory of a map from what groups are.
    let mut there = sorted_groups(later).into_iter();
    let is = |group: u32| shown(earlier, group);
    !sorted_groups(earlier).into_iter().all(|group| there.by_ref().any(|other| shown(later, other) == is(group)))
}

/// What a release shows of a group.
fn shown(release: &Release, group: u32) -> (&[Span], &[Value]) {
    (release.region(group as usize), release.group_values(group as usize))
}

/// The groups of a release, by what it shows of them.
fn sorted_groups(release: &Release) -> Vec<u32> {
    let mut groups: Vec<u32> = (0..release.group_count() as u32).collect();
    groups.par_sort_unstable_by_key(|&group| shown(release, group));
    groups
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
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Component<'a> {
    pub(super) earlier: &'a [u32],
    pub(super) later: &'a [u32],
}

/// All components, one after another: there may be as many as groups.
pub(super) struct ComponentList {
    earlier: ByGroup,
    later: ByGroup,
    count: usize,
}

impl ComponentList {
    /// Some components. `of_groups` has the number of each group's, first those of the earlier release.
    pub(super) fn new(count: usize, of_groups: &[u32], earlier: usize) -> ComponentList {
        let (earlier, later) = of_groups.split_at(earlier);
        let by_number = |of_groups: &[u32]| ByGroup::new(count, of_groups.iter().map(|&number| Some(number)));
        ComponentList { earlier: by_number(earlier), later: by_number(later), count }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Each of them.
    pub(super) fn iter(&self) -> impl Iterator<Item = Component<'_>> {
        self.earlier.iter().zip(self.later.iter()).map(|(earlier, later)| Component { earlier, later })
    }
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

    /// All components, and their roots in the same order.
    pub(super) fn list(&mut self) -> (ComponentList, Vec<u32>) {
        let (mut roots, mut numbers) = (Vec::new(), vec![0; self.groups as usize]);
        for node in 0..self.groups {
            // A root is the lowest number of its set, so its component has a number already.
            let root = self.ties.find(node);
            if root == node {
                numbers[node as usize] = roots.len() as u32;
                roots.push(node);
            }
            numbers[node as usize] = numbers[root as usize];
        }
        (ComponentList::new(roots.len(), &numbers, self.offset as usize), roots)
    }
}
