//! What comparing two releases reveals, for records that are only added.
//!
//! # Definition
//! Compare the last release with this one, knowing who is in which group of both. Groups that share a person are
//! connected; a component is a smallest set of groups with no connection to others. Every row of a component now
//! belongs to an arrival, or to an old member: a person who was in one of its groups before and has the value of a row
//! of that group. A value is possible for a person if some way to give everyone such a row gives it to them. Everyone,
//! both arrivals and old members, must keep at least `l` possible values.
//!
//! # How
//! One flow per component. Rows of a group with one value go to the group's arrivals, or to rows with that value in the
//! groups that its old members come from. What remains of the earlier rows belongs to departures. Every row is used, so
//! a value is possible exactly if some full flow uses the arc. This finds the arrival of science CE-1, whose value is
//! the difference of two multisets. It also finds the old members of science CE-2: after a division they keep only what
//! the arrival does not have.
//!
//! With one group of the last release in a component, this is exact: an attacker who uses regions alone cannot learn
//! more. Where a group mixes people of several earlier groups, the flow does not ask how many come from which. Then
//! too many values may seem possible, never too few.
//!
//! # Not concluded
//! A series that passes may still be broken by other means. More than two releases may reveal more, and sets of values
//! are no bound on a probability. This check is for the study mode of paper 002; other promises have stronger ones.

use crate::audit::{Evidence, Fault, Faults, each_group};
use crate::model::Value;
use crate::space::matching::Matching;
use crate::space::ties::Ties;
use std::collections::{BTreeMap, BTreeSet};

/// Checks that every group holds `l` distinct values, and that everyone keeps `l` possible values after comparing with
/// the last release.
pub(crate) fn check(l: u32, evidence: &Evidence<'_>) -> Faults {
    let release = evidence.release;
    let mut faults = each_group(evidence, |group, faults| {
        if release.value_set(group).len() < l as usize {
            faults.group(Fault::TooFewValues, group, u64::from(release.people(group)));
        }
    });
    if evidence.history.releases > 0 {
        let comparison = Comparison::new(evidence);
        for component in comparison.components() {
            comparison.judge(l, &component, &mut faults);
        }
    }
    faults
}

/// Where people of a group come from: a group of the last release, or `None` for arrivals.
type Origin = Option<u32>;

/// The comparison of the last release with this one.
struct Comparison<'a> {
    evidence: &'a Evidence<'a>,
    /// Per group of this release, how many of its people come from each origin. A counterfeit, which no promise here
    /// allows, counts as an arrival.
    origins: Vec<BTreeMap<Origin, u32>>,
    /// Per group of the last release, how often it held which value.
    before: Vec<BTreeMap<Value, u32>>,
}

/// Groups of the last release and of this one that are connected, ascending.
#[derive(Default)]
struct Component {
    before: Vec<u32>,
    now: Vec<u32>,
}

impl<'a> Comparison<'a> {
    fn new(evidence: &'a Evidence<'a>) -> Comparison<'a> {
        let (release, history) = (evidence.release, evidence.history);
        let records: Vec<_> = history.align(evidence.table).collect();
        let origin = |row: usize| {
            let record = records[evidence.membership.person(row)?.index()]?;
            (record.last_release == history.releases).then_some(record.group)
        };
        let mut origins = vec![BTreeMap::new(); release.group_count()];
        for (group, origins) in origins.iter_mut().enumerate() {
            for row in release.group_rows(group) {
                *origins.entry(origin(row)).or_default() += 1;
            }
        }
        let mut before = vec![BTreeMap::new(); history.groups.regions.len()];
        for record in history.records.iter().filter(|record| record.last_release == history.releases) {
            *before[record.group as usize].entry(record.value).or_default() += 1;
        }
        Comparison { evidence, origins, before }
    }

    /// The components in which something changed. A group that is published again with the same people reveals nothing
    /// new.
    fn components(&self) -> Vec<Component> {
        let old = self.before.len();
        let mut ties = Ties::new(old + self.origins.len());
        for (group, origins) in self.origins.iter().enumerate() {
            origins.keys().flatten().for_each(|&origin| ties.tie(origin, (old + group) as u32));
        }
        let mut components: BTreeMap<u32, Component> = BTreeMap::new();
        for node in 0..(old + self.origins.len()) as u32 {
            let component = components.entry(ties.find(node)).or_default();
            match node.checked_sub(old as u32) {
                None => component.before.push(node),
                Some(group) => component.now.push(group),
            }
        }
        components.into_values().filter(|component| !self.is_unchanged(component)).collect()
    }

    fn is_unchanged(&self, component: &Component) -> bool {
        let (&[before], &[now]) = (&component.before[..], &component.now[..]) else { return false };
        let origins = &self.origins[now as usize];
        origins.len() == 1 && origins.get(&Some(before)) == Some(&self.people_before(before))
    }

    fn people_before(&self, group: u32) -> u32 {
        self.before[group as usize].values().sum()
    }

    /// Counts the people of a component who are left with fewer than `l` values.
    fn judge(&self, l: u32, component: &Component, faults: &mut Faults) {
        let mut people: BTreeMap<u32, u64> = BTreeMap::new();
        for (&(group, origin), values) in &self.possible(component) {
            if values.len() < l as usize {
                *people.entry(group).or_default() += u64::from(self.origins[group as usize][&origin]);
            }
        }
        people.iter().for_each(|(&group, &people)| faults.group(Fault::TooFewCandidates, group as usize, people));
    }

    /// Per group of this release and origin of its people, the values they may have.
    fn possible(&self, component: &Component) -> BTreeMap<(u32, Origin), BTreeSet<Value>> {
        let mut flow = Matching::default();
        // Per arc, whose value it stands for; `None` for departures.
        let mut said: Vec<Option<(u32, Origin, Value)>> = Vec::new();
        let mut seats: BTreeMap<(Origin, Value), u32> = BTreeMap::new();
        for &group in &component.before {
            for (&value, &count) in &self.before[group as usize] {
                seats.insert((Some(group), value), flow.capacities.len() as u32);
                flow.capacities.push(count);
            }
        }
        let mut possible: BTreeMap<(u32, Origin), BTreeSet<Value>> = BTreeMap::new();
        let mut stayed: BTreeMap<u32, u32> = BTreeMap::new();
        for &group in &component.now {
            let origins = &self.origins[group as usize];
            let newcomers = origins.get(&None).map(|&count| {
                flow.capacities.push(count);
                flow.capacities.len() as u32 - 1
            });
            for (&origin, &count) in origins {
                possible.insert((group, origin), BTreeSet::new());
                origin.into_iter().for_each(|origin| *stayed.entry(origin).or_default() += count);
            }
            for run in self.evidence.release.group_values(group as usize).chunk_by(|a, b| a == b) {
                let rows = flow.supplies.len() as u32;
                flow.supplies.push(run.len() as u32);
                for &origin in origins.keys() {
                    let seat = if origin.is_none() { newcomers } else { seats.get(&(origin, run[0])).copied() };
                    if let Some(seat) = seat {
                        flow.arcs.push((rows, seat));
                        said.push(Some((group, origin, run[0])));
                    }
                }
            }
        }
        for &group in &component.before {
            let left = self.people_before(group) - stayed.get(&group).copied().unwrap_or(0);
            if left > 0 {
                let leavers = flow.supplies.len() as u32;
                flow.supplies.push(left);
                for value in self.before[group as usize].keys() {
                    flow.arcs.push((leavers, seats[&(Some(group), *value)]));
                    said.push(None);
                }
            }
        }
        // If values changed in between, nothing fits. Then nobody has a value left, and everyone is counted.
        for (said, _) in said.into_iter().zip(flow.usable_arcs().unwrap_or_default()).filter(|(_, usable)| *usable) {
            if let Some((group, origin, value)) = said {
                possible.entry((group, origin)).or_default().insert(value);
            }
        }
        possible
    }
}
