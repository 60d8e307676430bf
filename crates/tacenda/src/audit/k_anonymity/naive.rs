//! The account of a series, person by person, as one would explain it on paper. For tests.

use super::{Account, SeriesRisk, groups_of};
use crate::audit::Evidence;
use crate::model::{History, Met, Regions, Release, Span, Table};
use rustc_hash::FxHashMap;

/// Compares an account with the naive one. What differences reveal is left out, because the auditor's own check counts
/// that.
pub(super) fn assert_same(k: u32, evidence: &Evidence<'_>, account: &Account) {
    let Evidence { history, table, release, membership, .. } = *evidence;
    let groups = groups_of(release, membership, table.len());
    let (mut met, places) = meet(evidence, &groups);
    let risk = (history.releases > 0).then(|| share(k, history, table, &groups, &mut met));
    let place = |places: &Regions, met: &Met| match met.place {
        Met::NOWHERE => None,
        place => Some(places.get(place as usize).to_vec()),
    };
    let told =
        |places: &Regions, met: &[Met]| -> Vec<_> { met.iter().map(|it| (place(places, it), it.fewest)).collect() };
    assert_eq!(told(&account.places, &account.met), told(&places, &met));
    // Each place needs one number, because people are counted by it.
    let mut all: Vec<Vec<Span>> = account.met.iter().filter_map(|met| place(&account.places, met)).collect();
    all.sort_unstable();
    all.dedup();
    let mut numbers: Vec<u32> =
        account.met.iter().map(|met| met.place).filter(|&place| place != Met::NOWHERE).collect();
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), all.len());
    let counts = |risk: &SeriesRisk| (risk.again, risk.below_k, risk.alone, risk.smallest);
    assert_eq!(account.risk.as_ref().map(counts), risk.as_ref().map(counts));
    if let Some(risk) = &account.risk {
        let moved = moved_by_one(history, release, &pairs_of(evidence, &groups));
        let before = history.facts.get(super::MOVED_BY_ONE).copied().unwrap_or(0);
        assert_eq!(risk.moved_by_one, before + u64::from(moved));
    }
}

/// Everyone's place, including this release. The numbers of people are still the earlier ones.
fn meet(evidence: &Evidence<'_>, groups: &[Option<u32>]) -> (Vec<Met>, Regions) {
    let Evidence { schema, history, table, release, .. } = *evidence;
    let mut places = Regions::new(schema.quasi.len());
    let mut numbers: FxHashMap<Vec<Span>, u32> = FxHashMap::default();
    // An older vault has only the last release.
    let kept = if history.met.is_empty() { &history.groups.regions } else { &history.places };
    for place in kept.iter() {
        numbers.entry(place.to_vec()).or_insert(places.len() as u32);
        places.push(place);
    }
    let mut seen: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    let mut index = 0;
    let mut met = Vec::with_capacity(table.len());
    for (row, group) in table.rows().zip(groups) {
        let key = table.key(row);
        while history.records.get(index).is_some_and(|record| record.key < key) {
            index += 1;
        }
        let record = history.records.get(index).filter(|record| record.key == key);
        let before = record.map_or(Met::NEVER, |record| match history.met.get(index) {
            Some(&met) => met,
            None if history.is_current(record) => Met { place: record.group, ..Met::NEVER },
            None => Met::NEVER,
        });
        let place = group.map_or(before.place, |group| {
            *seen.entry((before.place, group)).or_insert_with(|| {
                let now = release.region(group as usize);
                let both: Vec<Span> = match before.place {
                    Met::NOWHERE => now.to_vec(),
                    place => places.get(place as usize).iter().zip(now).map(|(then, now)| then.meet(*now)).collect(),
                };
                let both = if both.iter().any(|span| span.is_empty()) { now.to_vec() } else { both };
                *numbers.entry(both).or_insert_with_key(|both| {
                    places.push(both);
                    places.len() as u32 - 1
                })
            })
        });
        met.push(Met { place, ..before });
    }
    (met, places)
}

/// How many people of this release who were published before share each place, and the fewest so far.
fn share(k: u32, history: &History, table: &Table, groups: &[Option<u32>], met: &mut [Met]) -> SeriesRisk {
    let again: Vec<bool> = history
        .align(table)
        .zip(groups)
        .map(|(record, group)| group.is_some() && record.is_some_and(|record| record.is_published()))
        .collect();
    let mut counts: FxHashMap<u32, u32> = FxHashMap::default();
    for (met, _) in met.iter().zip(&again).filter(|(_, again)| **again) {
        *counts.entry(met.place).or_default() += 1;
    }
    let mut risk = SeriesRisk { smallest: u32::MAX, ..SeriesRisk::default() };
    for (met, _) in met.iter_mut().zip(&again).filter(|(_, again)| **again) {
        met.fewest = met.fewest.min(counts[&met.place]);
        risk.again += 1;
        risk.below_k += u32::from(met.fewest < k);
        risk.alone += u32::from(met.fewest == 1);
        risk.smallest = risk.smallest.min(met.fewest);
    }
    if risk.again == 0 {
        risk.smallest = 0;
    }
    risk
}

/// The number of people in both the last release and this one, by old and new group.
fn pairs_of(evidence: &Evidence<'_>, groups: &[Option<u32>]) -> FxHashMap<(u32, u32), u32> {
    let history = evidence.history;
    let mut pairs: FxHashMap<(u32, u32), u32> = FxHashMap::default();
    for (group, record) in groups.iter().zip(history.align(evidence.table)) {
        if let Some((group, record)) = group.zip(record.filter(|record| history.is_current(record))) {
            *pairs.entry((record.group, group)).or_default() += 1;
        }
    }
    pairs
}

/// Groups that equal an old group but for one person, and whose region differs.
fn moved_by_one(history: &History, release: &Release, pairs: &FxHashMap<(u32, u32), u32>) -> u32 {
    let mut old_sizes = vec![0u32; history.groups.regions.len()];
    for record in history.records.iter().filter(|record| history.is_current(record)) {
        old_sizes[record.group as usize] += 1;
    }
    let moved = pairs.iter().filter(|&(&(old, new), &people)| {
        let left = old_sizes[old as usize] - people;
        let joined = release.people(new as usize).saturating_sub(people);
        left + joined == 1 && history.groups.regions.get(old as usize) != release.region(new as usize)
    });
    moved.count() as u32
}
