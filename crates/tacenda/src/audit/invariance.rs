//! m-invariance, from its definition.
//!
//! # Definition
//! A series is m-invariant if two conditions hold. In every release, every group holds at least `m` distinct sensitive
//! values, each exactly once. And all groups that ever held a person have the same value set. Two relaxations are
//! accepted here, because the bound 1/m is proved for them. With `k`, each value may occur `q` times, the same `q` for
//! all values of the group (science A3.10-b). After a change of a person's value, the new set may be one that shares no
//! value with any earlier set of theirs (science A3.10-c).
//!
//! # Not concluded
//! Nothing about identity or presence, and nothing for a reader who knows other people's values.

use crate::audit::{Evidence, Fault, Faults, each_group};
use crate::model::{Record, Value, ValueSetId};

/// Checks the groups of the release, and every person against all value sets they ever had.
pub(crate) fn check(m: u32, k: Option<u32>, evidence: &Evidence<'_>) -> Faults {
    check_where(m, k, evidence, |_, _| true)
}

/// The same for groups that changed only. A group with the same people as in the last release reveals nothing to a
/// reader who compares the two.
pub(crate) fn check_changed(m: u32, k: Option<u32>, evidence: &Evidence<'_>) -> Faults {
    let history = evidence.history;
    let mut sizes = vec![0usize; history.groups.regions.len()];
    let is_current = |record: &&Record| history.is_current(record);
    history.records.iter().filter(is_current).for_each(|record| sizes[record.group as usize] += 1);
    check_where(m, k, evidence, |group, records| {
        let rows = evidence.release.group_rows(group);
        let size = rows.len();
        let mut origins = rows.map(|row| {
            let record = evidence.membership.person(row).and_then(|person| records[person.index()]);
            record.filter(is_current).map(|record| record.group)
        });
        let first = origins.next().flatten();
        !first.is_some_and(|first| origins.all(|origin| origin == Some(first)) && sizes[first as usize] == size)
    })
}

fn check_where(
    m: u32,
    k: Option<u32>,
    evidence: &Evidence<'_>,
    is_asked: impl Fn(usize, &[Option<&Record>]) -> bool + Sync,
) -> Faults {
    let (release, history) = (evidence.release, evidence.history);
    let records: Vec<Option<&Record>> = history.align(evidence.table).collect();
    each_group(evidence, |group, faults| {
        if !is_asked(group, &records) {
            return;
        }
        let values = release.group_values(group);
        let people = u64::from(release.people(group));
        let (set, copies) = distinct(values);
        if set.len() < m as usize {
            faults.group(Fault::TooFewValues, group, people);
        }
        let balanced = copies.iter().all(|&count| count == copies[0]);
        if !balanced || (k.is_none() && copies[0] != 1) {
            faults.group(Fault::Unbalanced, group, people);
        }
        if k.is_some_and(|k| people < u64::from(k)) {
            faults.group(Fault::TooFewPeople, group, people);
        }
        // One look-up per group, because most members had exactly this set before.
        let known = history.value_sets.find(&set);
        let strangers = release.group_rows(group).filter(|&row| {
            let person = evidence.membership.person(row);
            let record = person.and_then(|person| records[person.index()]);
            record.is_some_and(|record| !keeps_its_sets(evidence, record, &set, known))
        });
        let strangers = strangers.count() as u64;
        if strangers > 0 {
            faults.group(Fault::ValueSetChanged, group, strangers);
        }
    })
}

/// Whether `set` is equal to or disjoint from every set the person ever had, and equal to one of
/// them where their value is in it.
fn keeps_its_sets(evidence: &Evidence<'_>, record: &Record, set: &[Value], known: Option<ValueSetId>) -> bool {
    let history = evidence.history;
    if history.past_sets.is_empty() {
        // The common case needs no allocation per person.
        return !record.is_published()
            || Some(record.value_set) == known
            || is_disjoint(history.value_sets.get(record.value_set), set);
    }
    history
        .sets_of(record)
        .into_iter()
        .all(|past| Some(past) == known || is_disjoint(history.value_sets.get(past), set))
}

/// The distinct values of a sorted slice, and how often each occurs.
fn distinct(values: &[Value]) -> (Vec<Value>, Vec<u32>) {
    let mut set: Vec<Value> = Vec::with_capacity(values.len());
    let mut copies: Vec<u32> = Vec::with_capacity(values.len());
    for &value in values {
        if set.last() == Some(&value) {
            *copies.last_mut().expect("a value was just met") += 1;
        } else {
            set.push(value);
            copies.push(1);
        }
    }
    (set, copies)
}

/// Whether two ascending slices share nothing.
fn is_disjoint(left: &[Value], right: &[Value]) -> bool {
    left.iter().all(|value| right.binary_search(value).is_err())
}
