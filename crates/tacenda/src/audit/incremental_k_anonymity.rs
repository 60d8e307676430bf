//! Whether a series keeps the promise of incremental k-anonymity, from the definition.
//!
//! # Source
//! 000: section 2 (inference table, k-anonymous against incremental updates) and section 4.2
//! (monotonic incremental anonymization).
//!
//! # Promise
//! For a set S of releases, a person's inferred region is the meet of their regions in those releases of S they are in.
//! The promise: for every S, every person of S shares their inferred region with at least k - 1 others.
//!
//! # Steps
//! `check` judges one more release of a series that kept the promise so far. It uses the history only, and checks
//! conditions that imply the promise (the tests compare them with the definition, for any releases):
//!
//! - every group holds at least k people and no counterfeits, and its region covers everyone in it;
//! - everyone who was in the last release and is published now has a region inside their last one;
//! - the people of a group of the last release are all published again or none of them is, and people who were left out
//!   once stay out.
//!
//! By the second condition, a person's inferred region is their region in the latest release of S they are in. If that
//! is the latest release of S, they share it with their group. Otherwise their group was left out later. The members of
//! that group who were already in the earlier release had one region there, so at least k of them must have been in it.
//! Hence a fourth condition: a group that is left out must have at least k people among its earliest arrivals.
//!
//! The guard `l`, if given, is checked for every group of the release, new or old. Without cohorts that is all it
//! claims: nothing follows for the comparison of two releases.
//!
//! With cohorts, the promise also holds against a reader who knows arrivals and can tell people apart by their history.
//! So the people of a group who come from one group of the last release must be at least k and pass the guard, and so
//! must its arrivals. People of different cohorts may not be in one group. A published group never changes: it is
//! published again with the same people and the same region, or not at all. The auditor's difference of two releases
//! relies on that.
//!
//! # Departures
//! Without cohorts, regions of one release must be equal or disjoint. The theorem does not need this, but the paper's
//! multidimensional partitioning implies it, and it catches a program that publishes bounding boxes instead of cells.
//!
//! # Cost
//! O(n d + n log n) for n rows and d attributes. The search for overlapping regions takes O(d g log g) for g regions
//! that come from a tree.

use crate::audit::{Evidence, Fault, Faults};
use crate::model::{Quasi, Record, Regions, Release, Row, Span, Value};
use crate::space::stab::{Stab, overlaps_another};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What is claimed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Bounds {
    /// The least number of people that cannot be distinguished.
    pub k: u32,
    /// No value may make up more than one in `l` of a group of this release, where given.
    pub l: Option<u32>,
    /// Whether that also holds against a reader who knows who arrived when.
    pub cohorts: bool,
}

/// The faults that break the promise. The gate has already checked that regions cover their people.
pub(crate) fn check(bounds: Bounds, evidence: &Evidence<'_>) -> Faults {
    Overlay::new(bounds, evidence).faults()
}

/// The comparison of a release with the one before.
struct Overlay<'a> {
    bounds: Bounds,
    evidence: &'a Evidence<'a>,
    /// Per row of the table, the group it is published in, or [`NOWHERE`].
    places: Vec<u32>,
    /// Per row of the table, where the person comes from.
    origins: Vec<Origin>,
    /// Per group of the last release, what became of its people.
    fates: Vec<Fate>,
    /// Per group of the release, where its people come from.
    mixes: Vec<Mix>,
}

const NOWHERE: u32 = u32::MAX;

/// Where a person comes from.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Origin {
    /// Their group in the last release, [`NEW`] or [`BACK`].
    group: u32,
    /// The release they were first published in.
    cohort: u32,
}

/// Never published before.
const NEW: u32 = u32::MAX;

/// Published before, but not in the last release.
const BACK: u32 = u32::MAX - 1;

/// What became of the people of a group of the last release.
#[derive(Clone, Copy, Default)]
struct Fate {
    /// How many are published now.
    stay: u32,
    /// How many are not.
    gone: u32,
}

/// Where the people of a group come from. It is gathered in one walk through the table, because a walk from group to
/// group would jump around in the table for every question.
#[derive(Clone, Copy)]
struct Mix {
    /// Where one of them comes from.
    one: Origin,
    /// How many there are.
    people: u32,
    /// Whether all of them come from that group.
    is_one_group: bool,
    /// Whether all of them are of that cohort.
    is_one_cohort: bool,
    /// Whether they all come from a group that was published with this very region.
    is_kept: bool,
}

impl Mix {
    const NOBODY: Mix = Mix {
        one: Origin { group: NEW, cohort: 0 },
        people: 0,
        is_one_group: true,
        is_one_cohort: true,
        is_kept: false,
    };

    fn add(&mut self, origin: Origin) {
        if self.people == 0 {
            self.one = origin;
        }
        self.people += 1;
        self.is_one_group &= origin.group == self.one.group;
        self.is_one_cohort &= origin.cohort == self.one.cohort;
    }
}

impl<'a> Overlay<'a> {
    fn new(bounds: Bounds, evidence: &'a Evidence<'a>) -> Overlay<'a> {
        let Evidence { history, table, release, membership, .. } = *evidence;
        let mut places = vec![NOWHERE; table.len()];
        for group in 0..release.group_count() {
            for row in release.group_rows(group).filter_map(|row| membership.person(row)) {
                places[row.index()] = group as u32;
            }
        }
        let origin = |record: Option<&Record>| match record.filter(|record| record.is_published()) {
            None => Origin { group: NEW, cohort: release.number },
            Some(record) if record.last_release == history.releases => {
                Origin { group: record.group, cohort: record.cohort }
            }
            Some(record) => Origin { group: BACK, cohort: record.cohort },
        };
        let origins: Vec<Origin> = history.align(table).map(origin).collect();
        let mut fates = vec![Fate::default(); history.groups.regions.len()];
        for record in history.records.iter().filter(|record| history.is_current(record)) {
            fates[record.group as usize].gone += 1;
        }
        let mut mixes = vec![Mix::NOBODY; release.group_count()];
        for (&origin, &place) in origins.iter().zip(&places).filter(|&(_, &place)| place != NOWHERE) {
            mixes[place as usize].add(origin);
            if origin.group < BACK {
                fates[origin.group as usize].stay += 1;
                fates[origin.group as usize].gone -= 1;
            }
        }
        let regions = &history.groups.regions;
        for (group, mix) in mixes.iter_mut().enumerate() {
            let from = mix.one.group;
            mix.is_kept = mix.is_one_group && from < BACK && regions.get(from as usize) == release.region(group);
        }
        Overlay { bounds, evidence, places, origins, fates, mixes }
    }

    fn faults(&self) -> Faults {
        let mut faults = Faults::default();
        self.counterfeits(&mut faults);
        self.small_groups(&mut faults);
        self.unprintable(&mut faults);
        self.grown(&mut faults);
        self.returned(&mut faults);
        self.torn(&mut faults);
        self.stragglers(&mut faults);
        if self.bounds.cohorts {
            self.altered(&mut faults);
            self.mixed(&mut faults);
            self.small_units(&mut faults);
        } else {
            self.overlapping(&mut faults);
        }
        self.frequent(&mut faults);
        faults
    }

    fn people(&self, group: usize) -> impl Iterator<Item = Row> {
        self.evidence.release.group_rows(group).filter_map(|row| self.evidence.membership.person(row))
    }

    /// What the walk through the table found for a group; `None` if somebody is in two groups.
    fn mix(&self, group: usize) -> Option<Mix> {
        Some(self.mixes[group]).filter(|mix| mix.people as usize == self.people(group).count())
    }

    fn origin(&self, row: Row) -> Origin {
        self.origins[row.index()]
    }

    /// Counts a fault by group. `concerned` says how many people of a group it concerns.
    fn by_group(&self, fault: Fault, faults: &mut Faults, concerned: impl Fn(usize) -> u32 + Sync) {
        let groups = (0..self.evidence.release.group_count()).into_par_iter();
        let concerned = groups.map(|group| (group as u32, concerned(group)));
        count(fault, faults, concerned.filter(|&(_, people)| people > 0).collect());
    }

    /// Counts a fault by person. `concerns` is asked about each person and their group.
    fn by_person(&self, fault: Fault, faults: &mut Faults, concerns: impl Fn(Row, usize) -> bool + Sync) {
        let rows = self.places.par_iter().enumerate().filter(|&(_, &place)| place != NOWHERE);
        let concerned = rows.filter(|&(row, &place)| concerns(Row(row as u32), place as usize));
        let mut places: Vec<u32> = concerned.map(|(_, &place)| place).collect();
        places.sort_unstable();
        count(fault, faults, places.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)).collect());
    }

    /// A group holds counterfeits, and this promise has none.
    fn counterfeits(&self, faults: &mut Faults) {
        self.by_group(Fault::UnexpectedCounterfeits, faults, |group| {
            let nobody =
                self.evidence.release.group_rows(group).filter(|&row| self.evidence.membership.person(row).is_none());
            (nobody.count() as u32).max(self.evidence.release.counterfeits[group])
        })
    }

    /// A group holds fewer than k people.
    fn small_groups(&self, faults: &mut Faults) {
        self.by_group(Fault::TooFewPeople, faults, |group| {
            let people = self.people(group).count() as u32;
            if people < self.bounds.k { people.max(1) } else { 0 }
        })
    }

    /// A region is off the grid or too narrow, or it mixes missing values with some but not all numbers.
    fn unprintable(&self, faults: &mut Faults) {
        self.by_group(Fault::RegionTooNarrow, faults, |group| {
            let admitted = |(quasi, &span): (&Quasi, &Span)| match quasi.hierarchy() {
                // A run of leaves that is no node is printed as a set.
                Some(_) => span.subset(quasi.root()) && (span == quasi.root() || span.width() >= quasi.min_width),
                None => quasi.admits(span),
            };
            let good = self.evidence.schema.quasi.iter().zip(self.evidence.release.region(group)).all(admitted);
            if good { 0 } else { self.people(group).count() as u32 }
        })
    }

    /// A person's region is not inside their last one.
    fn grown(&self, faults: &mut Faults) {
        self.by_person(Fault::RegionNotNested, faults, |row, group| {
            let origin = self.origin(row).group;
            if origin >= BACK || self.mixes[group].is_kept {
                return false;
            }
            let before = self.evidence.history.groups.regions.get(origin as usize);
            !self.evidence.release.region(group).iter().zip(before).all(|(now, then)| now.subset(*then))
        })
    }

    /// A person who was left out of an earlier release is back.
    fn returned(&self, faults: &mut Faults) {
        self.by_person(Fault::CameBack, faults, |row, _| self.origin(row).group == BACK)
    }

    /// A group of the last release is published only in part.
    fn torn(&self, faults: &mut Faults) {
        let torn: Vec<Fate> = self.fates.iter().copied().filter(|fate| fate.stay > 0 && fate.gone > 0).collect();
        let people = torn.iter().map(|fate| u64::from(fate.gone)).sum();
        if !torn.is_empty() {
            faults.groups(Fault::LeftAlone, &[], people);
        }
    }

    /// Groups that are left out now, and have fewer than k people among their earliest arrivals.
    fn stragglers(&self, faults: &mut Faults) {
        if self.fates.iter().all(|fate| fate.gone == 0) {
            return;
        }
        let mut earliest: BTreeMap<u32, BTreeMap<u32, u32>> = BTreeMap::new();
        for record in self.evidence.history.records.iter().filter(|record| self.evidence.history.is_current(record)) {
            if self.fates[record.group as usize].stay == 0 {
                *earliest.entry(record.group).or_default().entry(record.cohort).or_default() += 1;
            }
        }
        let firsts = earliest.values().filter_map(|cohorts| cohorts.values().next());
        let few: Vec<u32> = firsts.copied().filter(|&people| people < self.bounds.k).collect();
        if !few.is_empty() {
            faults.groups(Fault::LeftAlone, &[], few.into_iter().map(u64::from).sum());
        }
    }

    /// A group mixes people of different cohorts.
    fn mixed(&self, faults: &mut Faults) {
        self.by_group(Fault::CohortsMixed, faults, |group| {
            if self.mix(group).is_some_and(|mix| mix.is_one_cohort) {
                return 0;
            }
            let mut cohorts = self.people(group).map(|row| self.origin(row).cohort);
            let first = cohorts.next();
            if cohorts.all(|cohort| Some(cohort) == first) { 0 } else { self.people(group).count() as u32 }
        })
    }

    /// Groups of old people that are not a group of the last release, whole and with its region. A group that was left
    /// out in part is reported by `torn`.
    fn altered(&self, faults: &mut Faults) {
        self.by_group(Fault::GroupAltered, faults, |group| {
            if let Some(mix) = self.mix(group).filter(|mix| mix.is_one_group) {
                let from = mix.one.group;
                let is_as_it_was = from >= BACK || mix.is_kept && mix.people == self.fates[from as usize].stay;
                return if is_as_it_was { 0 } else { mix.people };
            }
            let mut origins = self.people(group).map(|row| self.origin(row).group);
            let first = origins.next().unwrap_or(NEW);
            let same = 1 + origins.by_ref().take_while(|&origin| origin == first).count() as u32;
            let people = self.people(group).count() as u32;
            if first >= BACK {
                // A group of arrivals may have people of an old group among them.
                let old = self.people(group).filter(|&row| self.origin(row).group < BACK);
                return old.count() as u32;
            }
            let is_whole = same == people && same == self.fates[first as usize].stay;
            let is_where_it_was =
                self.evidence.release.region(group) == self.evidence.history.groups.regions.get(first as usize);
            if is_whole && is_where_it_was { 0 } else { people }
        })
    }

    /// A region overlaps another one and is not equal to it.
    fn overlapping(&self, faults: &mut Faults) {
        let overlapping = overlapping(&self.evidence.release.regions);
        self.by_group(Fault::RegionsOverlap, faults, |group| {
            if overlapping.contains(&(group as u32)) { self.people(group).count() as u32 } else { 0 }
        })
    }

    /// The people of a group by their history, if readers know histories (cohorts); otherwise all of them together.
    fn units(&self, group: usize) -> Vec<Vec<Row>> {
        let mut people: Vec<Row> = self.people(group).collect();
        if !self.bounds.cohorts {
            return vec![people];
        }
        people.sort_by_key(|&row| self.origin(row).group);
        people.chunk_by(|&a, &b| self.origin(a).group == self.origin(b).group).map(<[Row]>::to_vec).collect()
    }

    /// Fewer than k people of a group have one history.
    fn small_units(&self, faults: &mut Faults) {
        self.by_group(Fault::CohortTooSmall, faults, |group| {
            if self.mix(group).is_some_and(|mix| mix.is_one_group) {
                // With one history, the size of the whole group has been checked already.
                return 0;
            }
            let few = |unit: &Vec<Row>| unit.len() < self.bounds.k as usize;
            self.units(group).iter().filter(|unit| few(unit)).map(|unit| unit.len() as u32).sum()
        })
    }

    /// A value makes up more than one in `l` of people who cannot be distinguished.
    fn frequent(&self, faults: &mut Faults) {
        let Some(l) = self.bounds.l else { return };
        self.by_group(Fault::ValueTooFrequent, faults, |group| {
            let frequent = |unit: &&Vec<Row>| {
                let mut counts: BTreeMap<Value, u64> = BTreeMap::new();
                for row in *unit {
                    *counts.entry(self.evidence.table.sensitive()[row.index()]).or_default() += 1;
                }
                counts.values().any(|count| count * u64::from(l) > unit.len() as u64)
            };
            self.units(group).iter().filter(frequent).map(|unit| unit.len() as u32).sum()
        })
    }
}

/// The faults of regions of a release that overlap and are not equal: no part of a release shows all of them.
pub(crate) fn check_overlaps(release: &Release) -> Faults {
    let mut faults = Faults::default();
    let found = overlapping(&release.regions).into_iter().map(|group| (group, release.people(group as usize)));
    count(Fault::RegionsOverlap, &mut faults, found.collect());
    faults
}

/// Counts a fault of these groups, each given with the number of people it concerns.
fn count(fault: Fault, faults: &mut Faults, concerned: Vec<(u32, u32)>) {
    let people = concerned.iter().map(|&(_, people)| u64::from(people)).sum();
    let groups: Vec<u32> = concerned.into_iter().map(|(group, _)| group).collect();
    if !groups.is_empty() {
        faults.groups(fault, &groups, people);
    }
}

/// The regions that overlap another one without being equal to it.
fn overlapping(regions: &Regions) -> BTreeSet<u32> {
    let mut order: Vec<u32> = (0..regions.len() as u32).collect();
    order.sort_by_key(|&region| regions.get(region as usize));
    // One of several equal regions represents them all.
    let classes: Vec<&[u32]> = order.chunk_by(|&a, &b| regions.get(a as usize) == regions.get(b as usize)).collect();
    let mut firsts = Regions::new(regions.attributes());
    classes.iter().for_each(|class| firsts.push(regions.get(class[0] as usize)));
    let overlaps = overlaps_another(&Stab::of(&firsts));
    classes
        .iter()
        .zip(overlaps)
        .filter(|(_, overlaps)| *overlaps)
        .flat_map(|(class, _)| class.iter().copied())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_are_found_among_many_regions() {
        let mut regions = Regions::new(2);
        for x in 0..40 {
            for y in 0..40 {
                regions.push(&[Span::new(10 * x, 10 * x + 9), Span::new(10 * y, 10 * y + 9)]);
            }
        }
        assert_eq!(overlapping(&regions), BTreeSet::new());
        regions.push(&[Span::new(100, 109), Span::new(100, 109)]);
        assert_eq!(overlapping(&regions), BTreeSet::new(), "equal is allowed");
        regions.push(&[Span::new(105, 112), Span::new(105, 106)]);
        let hit = [10 * 40 + 10, 11 * 40 + 10, 1600, 1601];
        assert_eq!(overlapping(&regions), BTreeSet::from(hit));
    }
}
