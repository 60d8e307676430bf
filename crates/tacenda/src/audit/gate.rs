//! The gate: a finished release is judged before it exists.
//!
//! The gate sees the private truth and the finished release, never how it was made. First it checks that the release is
//! true and whole, whatever was promised. Then it checks that the promise holds. The promise's own check does this: it
//! is written from the definition and looks at everything published before. Last, the auditor's own checks take a
//! second look without the truth.

use crate::audit::{Fault, Finding, counts, second_look};
use crate::model::{History, Membership, Release, Schema, Span, Table, Terms, Values};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the gate judges. Private: it holds the truth.
#[derive(Clone, Copy, Debug)]
pub struct Evidence<'a> {
    /// The columns.
    pub schema: &'a Schema,
    /// Everything published before.
    pub history: &'a History,
    /// The snapshot.
    pub table: &'a Table,
    /// The release that is to be published.
    pub release: &'a Release,
    /// Who is in which row of it.
    pub membership: &'a Membership,
}

/// Judges whether a release is true and whole, whatever was promised.
pub(crate) fn gate_truth(evidence: Evidence<'_>) -> Vec<Finding> {
    if !is_well_formed(&evidence) {
        return malformed(&evidence);
    }
    let mut faults = truth(&evidence);
    faults.merge(no_counterfeits(&evidence));
    faults.into_findings(evidence.release.number)
}

fn malformed(evidence: &Evidence<'_>) -> Vec<Finding> {
    vec![Finding {
        fault: Fault::Malformed,
        release: evidence.release.number,
        people: evidence.table.len() as u64,
        groups: 0,
        example: None,
        others: Vec::new(),
        witness: None,
    }]
}

/// Judges a release. `check` says what breaks the promise, whose terms are given. An empty answer means that the
/// release is true, whole, and keeps the promise.
pub fn gate(terms: &Terms, check: &dyn Fn(&Evidence<'_>) -> Faults, evidence: Evidence<'_>) -> Vec<Finding> {
    // The checks below index by group and row, so a release whose parts do not fit is judged no further.
    if !is_well_formed(&evidence) {
        return malformed(&evidence);
    }
    let faults = truth(&evidence).or(counts::check(terms, &evidence)).or(check(&evidence));
    let findings = faults.into_findings(evidence.release.number);
    // A release that keeps its promise is checked once more, as a reader would see it.
    if findings.is_empty() { second_look::look(terms, &evidence) } else { findings }
}

/// Judges some whole groups of a finished release. `evidence` has these groups, everyone in them or left out beside them,
/// and the groups of the last release that any of them come from, whole. `numbers` are the places of the groups in the
/// release. What a reader of the whole release sees is judged by [`gate_whole`].
pub(crate) fn gate_unit(check: &dyn Fn(&Evidence<'_>) -> Faults, evidence: &Evidence<'_>, numbers: &[u32]) -> Faults {
    if !is_well_formed(evidence) {
        let mut faults = Faults::default();
        faults.people(Fault::Malformed, evidence.table.len() as u64);
        return faults;
    }
    let mut faults = truth(evidence).or(check(evidence));
    for count in faults.0.values_mut() {
        count.example = count.example.map(|place| numbers[place as usize - 1] + 1);
    }
    faults
}

/// Judges that every person of some is in one place of a finished release, and that the region there covers them.
/// `places` has the row of each and the group, [`LEFT_OUT`] for people who are left out.
pub(crate) fn gate_people(table: &Table, release: &Release, placed: &[(u32, u32)]) -> Faults {
    let mut places = Places::nowhere(table.len());
    placed.iter().for_each(|&(row, group)| places.put(row, group));
    places.count();
    let mut faults = Faults::default();
    places.faults(release, table, &mut faults);
    faults
}

/// Marks people who are left out of a release.
pub(crate) const LEFT_OUT: u32 = WITHHELD;

/// What was found about all parts of a release that was judged by [`gate_unit`] and [`gate_people`].
pub(crate) struct Whole<'a> {
    pub terms: &'a Terms,
    pub schema: &'a Schema,
    /// The history before. It need not have any records.
    pub history: &'a History,
    /// The release; before it the last one, if [`compares`] says so.
    pub releases: &'a [Release],
    /// The faults of all parts.
    pub faults: Faults,
    /// Per attribute, how many published people have each code.
    pub codes: &'a [BTreeMap<u32, u64>],
}

/// Judges a release after its parts: what only shows in the whole.
pub(crate) fn gate_whole(whole: Whole<'_>) -> Vec<Finding> {
    let Whole { terms, schema, history, releases, faults, codes } = whole;
    let release = releases.last().expect("there is a release to judge");
    let truth = |attribute: usize, _| codes[attribute].iter().map(|(&code, &people)| (code, people)).collect();
    let people = codes.first().map_or(0, |codes| codes.values().sum());
    let faults = faults.or(counts::check_counts(terms, schema, &history.counts, release, people, &truth));
    let findings = faults.into_findings(release.number);
    if findings.is_empty() { second_look::look_at(terms, schema, releases) } else { findings }
}

/// Whether a new release is compared with the last one.
pub(crate) fn compares(terms: &Terms, history: &History) -> bool {
    second_look::compares(terms, history)
}

/// The last release as far as the history has it, in the policy's order.
pub(crate) fn last_release(history: &History) -> Release {
    second_look::without_erased(history)
}

/// Faults counted by kind while groups are checked in parallel.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Faults(BTreeMap<Fault, FaultCount>);

#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
struct FaultCount {
    people: u64,
    groups: u64,
    example: Option<u32>,
}

impl Faults {
    /// Counts a fault of one group.
    pub(crate) fn group(&mut self, fault: Fault, group: usize, people: u64) {
        let number = group as u32 + 1;
        let tally = self.0.entry(fault).or_insert(FaultCount { people: 0, groups: 0, example: None });
        tally.people += people;
        tally.groups += 1;
        tally.example = Some(tally.example.map_or(number, |example| example.min(number)));
    }

    /// Counts a fault that has no group.
    pub(crate) fn people(&mut self, fault: Fault, people: u64) {
        self.0.entry(fault).or_insert(FaultCount { people: 0, groups: 0, example: None }).people += people;
    }

    /// Counts one fault of several groups together. `groups` ascends, and is empty if the fault concerns people who are
    /// left out. A fault that was already counted is not counted again.
    pub(crate) fn groups(&mut self, fault: Fault, groups: &[u32], people: u64) {
        let example = groups.first().map(|group| group + 1);
        self.0.entry(fault).or_insert(FaultCount { people, groups: groups.len() as u64, example });
    }

    /// Adds the faults of another part, and returns the sum.
    pub(crate) fn and(mut self, other: Faults) -> Faults {
        self.merge(other);
        self
    }

    /// Adds those faults of another part that were not found here, so that nothing is counted twice.
    fn or(mut self, other: Faults) -> Faults {
        for (fault, count) in other.0 {
            self.0.entry(fault).or_insert(count);
        }
        self
    }

    /// Adds what was found about the whole, in place of what parts found of the same fault.
    pub(crate) fn replace(&mut self, whole: Faults) {
        self.0.extend(whole.0);
    }

    /// Adds what another part found.
    pub(crate) fn merge(&mut self, other: Faults) {
        for (fault, more) in other.0 {
            let tally = self.0.entry(fault).or_insert(FaultCount { people: 0, groups: 0, example: None });
            tally.people += more.people;
            tally.groups += more.groups;
            tally.example = match (tally.example, more.example) {
                (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
    }

    /// As findings about a release.
    pub fn into_findings(self, release: u32) -> Vec<Finding> {
        let finding = |(fault, tally): (Fault, FaultCount)| Finding {
            fault,
            release,
            people: tally.people,
            groups: tally.groups,
            example: tally.example,
            others: Vec::new(),
            witness: None,
        };
        self.0.into_iter().map(finding).collect()
    }
}

/// Checks all groups in parallel and adds up the faults.
pub(crate) fn each_group(evidence: &Evidence<'_>, look: impl Fn(usize, &mut Faults) + Sync) -> Faults {
    (0..evidence.release.group_count())
        .into_par_iter()
        .with_min_len(1024)
        .fold(Faults::default, |mut faults, group| {
            look(group, &mut faults);
            faults
        })
        .reduce(Faults::default, |mut left, right| {
            left.merge(right);
            left
        })
}

/// Whether the parts of the release and of the membership fit each other.
fn is_well_formed(evidence: &Evidence<'_>) -> bool {
    let (release, membership, table) = (evidence.release, evidence.membership, evidence.table);
    let rows = release.row_count();
    let groups = release.group_count();
    let real = |row: u32| row == Membership::COUNTERFEIT || (row as usize) < table.len();
    release.number == evidence.history.releases + 1
        && release.ends.is_sorted()
        && release.ends.last().map_or(0, |&end| end as usize) == rows
        && release.regions.len() == groups
        && release.regions.attributes() == evidence.schema.quasi.len()
        && release.counterfeits.len() == groups
        && membership.rows.len() == rows
        && membership.rows.iter().all(|&row| real(row))
        && membership.withheld.iter().all(|row| row.index() < table.len())
        && is_permutation(&membership.policy_groups)
        && release.public.len() == if evidence.schema.public.is_empty() { 0 } else { rows }
        && release.public.iter().all(|&text| (text as usize) < release.public_texts.len())
        && (release.linked.is_empty() || release.linked.len() == rows)
        && release.sensitive.iter().all(|value| value.index() < release.values.len())
        && (0..groups).all(|group| !release.group_rows(group).is_empty() && release.group_values(group).is_sorted())
}

/// Whether some numbers are those from 0 on, each once.
fn is_permutation(numbers: &[u32]) -> bool {
    let mut is_there = vec![false; numbers.len()];
    numbers.iter().all(|&number| is_there.get_mut(number as usize).is_some_and(|there| !std::mem::replace(there, true)))
}

/// Whether a group has one value in two spellings.
fn stands_twice(release: &Release, group: usize) -> bool {
    let mut values = release.sensitive[release.group_rows(group)].to_vec();
    values.dedup();
    let cells = values.iter().map(|&value| release.values.cells(value).into());
    !Values::from_ordered(cells.collect()).spelled_twice().is_empty()
}

/// The faults of a release that is not true or not whole, whatever was promised: nobody may be lost or published twice.
fn truth(evidence: &Evidence<'_>) -> Faults {
    let (release, membership, table) = (evidence.release, evidence.membership, evidence.table);
    let spellings = release.values.spelled_twice();
    let mut faults = each_group(evidence, |group, faults| {
        let region = release.region(group);
        let admitted = region.iter().zip(&evidence.schema.quasi).all(|(&span, quasi)| quasi.admits(span));
        let (mut changed, mut counterfeits) = (0, 0);
        for row in release.group_rows(group) {
            let Some(person) = membership.person(row) else {
                counterfeits += 1;
                continue;
            };
            changed += u64::from(table.sensitive()[person.index()] != release.sensitive[row]);
        }
        let people = u64::from(release.people(group).min(release.group_rows(group).len() as u32));
        if !admitted {
            faults.group(Fault::RegionTooNarrow, group, people);
        }
        if changed > 0 {
            faults.group(Fault::ValueChanged, group, changed);
        }
        if counterfeits != release.counterfeits[group] {
            faults.group(Fault::CounterfeitsMiscounted, group, people);
        }
        if counterfeits as usize == release.group_rows(group).len() {
            faults.group(Fault::NobodyThere, group, 0);
        }
        if !spellings.is_empty() && stands_twice(release, group) {
            faults.group(Fault::SpelledTwice, group, people);
        }
    });
    Places::of(evidence).faults(release, table, &mut faults);
    faults
}

/// The group of each row of the table.
struct Places {
    /// The group it is published in, [`WITHHELD`] or [`NOWHERE`].
    groups: Vec<u32>,
    /// Further groups of people who are published more than once.
    again: Vec<(u32, u32)>,
    twice: u64,
    lost: u64,
}

const NOWHERE: u32 = u32::MAX;
const WITHHELD: u32 = u32::MAX - 1;

impl Places {
    fn of(evidence: &Evidence<'_>) -> Places {
        let (release, membership) = (evidence.release, evidence.membership);
        let mut places = Places::nowhere(evidence.table.len());
        for group in 0..release.group_count() {
            for person in release.group_rows(group).filter_map(|row| membership.person(row)) {
                places.put(person.0, group as u32);
            }
        }
        membership.withheld.iter().for_each(|person| places.put(person.0, WITHHELD));
        places.count();
        places
    }

    fn nowhere(people: usize) -> Places {
        Places { groups: vec![NOWHERE; people], again: Vec::new(), twice: 0, lost: 0 }
    }

    /// Counts who is lost and who is there twice, once everyone is put somewhere.
    fn count(&mut self) {
        self.lost = self.groups.iter().filter(|&&group| group == NOWHERE).count() as u64;
        self.again.sort_unstable();
        self.twice = self.again.chunk_by(|a, b| a.0 == b.0).count() as u64;
    }

    fn faults(&self, release: &Release, table: &Table, faults: &mut Faults) {
        if self.twice > 0 {
            faults.people(Fault::PersonTwice, self.twice);
        }
        if self.lost > 0 {
            faults.people(Fault::PersonLost, self.lost);
        }
        for group in self.missed(release, table).chunk_by(|a, b| a == b) {
            faults.group(Fault::RegionMisses, group[0] as usize, group.len() as u64);
        }
    }

    fn put(&mut self, person: u32, group: u32) {
        let place = &mut self.groups[person as usize];
        if *place == NOWHERE {
            *place = group;
        } else {
            self.again.push((person, group));
        }
    }

    /// The groups whose regions do not cover one of their people, one entry per person, sorted. It goes through the
    /// table row by row, because a walk from group to group would jump around in every column.
    fn missed(&self, release: &Release, table: &Table) -> Vec<u32> {
        let misses = |row: usize, group: u32| {
            let covers = |(attribute, span): (usize, &Span)| span.contains(table.quasi(attribute)[row]);
            group < WITHHELD && !release.region(group as usize).iter().enumerate().all(covers)
        };
        let rows = self.groups.par_iter().enumerate().with_min_len(1 << 14);
        let mut missed: Vec<u32> = rows.filter(|&(row, &group)| misses(row, group)).map(|(_, &group)| group).collect();
        let again = self.again.iter().filter(|&&(row, group)| misses(row as usize, group));
        missed.extend(again.map(|&(_, group)| group));
        missed.sort_unstable();
        missed
    }
}

/// The check of promises that require `k` people per group.
pub(crate) fn enough_people(k: u32, evidence: &Evidence<'_>) -> Faults {
    each_group(evidence, |group, faults| {
        let people = evidence.release.people(group);
        if people < k {
            faults.group(Fault::TooFewPeople, group, u64::from(people));
        }
    })
}

/// The check of promises that allow no counterfeits.
pub(crate) fn no_counterfeits(evidence: &Evidence<'_>) -> Faults {
    each_group(evidence, |group, faults| {
        if evidence.release.counterfeits[group] > 0 {
            faults.group(Fault::UnexpectedCounterfeits, group, u64::from(evidence.release.people(group)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::{release, table};
    use crate::model::Value;

    #[test]
    fn a_permutation_has_each_number_once() {
        let numbers: [&[u32]; 5] = [&[], &[2, 0, 1], &[0, 0], &[0, 2], &[1]];
        assert_eq!(numbers.map(is_permutation), [true, true, false, false, false]);
    }

    #[test]
    fn people_of_a_part_are_there_once_and_covered() {
        let (table, release) = (table("1/10/a 2/11/b 3/40/a"), release(1, "10-11/ab 40-41/a"));
        let found = |placed: &[(u32, u32)]| -> Vec<Fault> {
            gate_people(&table, &release, placed).into_findings(1).into_iter().map(|finding| finding.fault).collect()
        };
        assert_eq!(found(&[(2, 1), (0, 0), (1, 0)]), []);
        assert_eq!(found(&[(2, LEFT_OUT), (0, 0), (1, 0)]), []);
        assert_eq!(found(&[(0, 0), (1, 0)]), [Fault::PersonLost]);
        assert_eq!(found(&[(0, 0), (1, 0), (2, 1), (1, LEFT_OUT)]), [Fault::PersonTwice]);
        assert_eq!(found(&[(0, 0), (1, 1), (2, 1)]), [Fault::RegionMisses]);
    }

    #[test]
    fn a_unit_is_judged_like_a_release_and_names_the_group_of_the_whole() {
        let schema = Schema::new(
            "id",
            vec![crate::model::Quasi::new("q", crate::model::Domain::Integer { lo: 0, hi: 64 })],
            vec![crate::model::Sensitive::open("s")],
        );
        let (table, whole) = (table("1/10/a 2/11/b"), release(1, "40-41/a 10-11/ab 50-51/b"));
        let some = whole.only(&[1]);
        let judged = |rows: Vec<u32>| {
            let membership = Membership { rows, policy_groups: vec![0], withheld: Vec::new() };
            let history = History::default();
            let evidence =
                Evidence { schema: &schema, history: &history, table: &table, release: &some, membership: &membership };
            let faults = gate_unit(&|evidence| enough_people(3, evidence), &evidence, &[1]);
            let findings = faults.into_findings(1);
            findings.into_iter().map(|finding| (finding.fault, finding.example)).collect::<Vec<_>>()
        };
        assert_eq!(judged(vec![0, 1]), [(Fault::TooFewPeople, Some(2))]);
        assert!(judged(vec![1, 0]).contains(&(Fault::ValueChanged, Some(2))));
        assert_eq!(judged(vec![0]), [(Fault::Malformed, None)]);
    }

    #[test]
    fn one_value_in_two_spellings_is_seen_in_its_group() {
        let release = Release {
            ends: vec![2, 4],
            sensitive: [0, 1, 0, 2].map(Value).to_vec(),
            values: Values::of(["Flu", "flu", "gout"]),
            ..Release::default()
        };
        assert_eq!([0, 1].map(|group| stands_twice(&release, group)), [true, false]);
    }
}
