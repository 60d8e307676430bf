//! What the difference of two releases gives away, for records that are only added.
//!
//! # Definition
//! Lay the last release and this one over each other. Groups that share a person are tied together;
//! the smallest sets of groups that nothing ties to others are the components. In a component everyone
//! of the last release is still there, so the multiset of values now, less the multiset before, is the
//! multiset of the newcomers' values. A newcomer's value is one of these, and they should be at least
//! `l` distinct ones.
//!
//! # Not concluded
//! A series that passes may still be broken by other means: a division can give old members away, and sets
//! of values are no bound on a probability. The check is for the study mode of paper 002; the gate asks
//! for more.

use crate::audit::Fault;
use crate::audit::gate::Evidence;
use crate::audit::gate::Faults;
use crate::audit::gate::each_group;
use crate::audit::ties::Ties;
use crate::model::Value;
use std::collections::BTreeMap;

/// Checks that every group holds `l` distinct values, and so do the newcomers of every component.
pub(crate) fn check(l: u32, evidence: &Evidence<'_>) -> Faults {
    let release = evidence.release;
    let mut faults = each_group(evidence, |group, faults| {
        if release.value_set(group).len() < l as usize {
            faults.group(Fault::TooFewValues, group, u64::from(release.people(group)));
        }
    });
    if evidence.history.releases > 0 {
        faults.merge(newcomers(l, evidence));
    }
    faults
}

/// The newcomers of each component, and whether their values are enough.
fn newcomers(l: u32, evidence: &Evidence<'_>) -> Faults {
    let (release, history) = (evidence.release, evidence.history);
    let records: Vec<_> = history.align(evidence.table).collect();
    let old_groups = history.groups.regions.len();
    let mut ties = Ties::new(old_groups + release.group_count());
    let mut new: Vec<(usize, Value)> = Vec::new();
    for group in 0..release.group_count() {
        for row in release.group_rows(group) {
            let Some(person) = evidence.membership.person(row) else { continue };
            match records[person.index()].filter(|record| record.last_release == history.releases) {
                Some(record) => ties.tie(record.group, (old_groups + group) as u32),
                None => new.push((group, release.sensitive[row])),
            }
        }
    }
    let mut components: BTreeMap<u32, Vec<(usize, Value)>> = BTreeMap::new();
    for (group, value) in new {
        components.entry(ties.find((old_groups + group) as u32)).or_default().push((group, value));
    }
    let mut faults = Faults::default();
    for people in components.values() {
        let mut values: Vec<Value> = people.iter().map(|&(_, value)| value).collect();
        values.sort_unstable();
        values.dedup();
        if values.len() < l as usize {
            faults.group(Fault::TooFewCandidates, people[0].0, people.len() as u64);
        }
    }
    faults
}
