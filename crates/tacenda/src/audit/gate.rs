//! The gate: a finished release is judged before it exists.
//!
//! The gate sees the private truth and the finished release, never the policy that made it. First it
//! checks that the release is true and whole, whatever was promised; then that the promise holds,
//! from the promise's definition, together with everything published before; last, the auditor's own
//! checks take a second look without the truth.

use crate::audit::incremental_k_anonymity::Claim;
use crate::audit::{Fault, Finding, difference, incremental_k_anonymity, invariance, second_look};
use crate::model::{DiversityMode, History, Membership, Promise, Release, Schema, Span, Table};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// What the gate looks at. Private: holds the truth.
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
    /// Who stands where in it.
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

/// Judges a release. An empty answer means that it is true, whole, and keeps the promise.
pub fn gate(promise: &Promise, evidence: Evidence<'_>) -> Vec<Finding> {
    // What follows indexes by group and row; a release whose parts do not fit is judged no further.
    if !is_well_formed(&evidence) {
        return malformed(&evidence);
    }
    let mut faults = truth(&evidence);
    match promise {
        Promise::MInvariance { m, k } => faults.merge(invariance::check(*m, *k, &evidence)),
        Promise::IncrementalLDiversity { l, mode: DiversityMode::Safe } => {
            faults.merge(invariance::check(*l, None, &evidence));
            faults.merge(no_counterfeits(&evidence));
        }
        Promise::IncrementalLDiversity { l, mode: DiversityMode::Paper } => {
            faults.merge(difference::check(*l, &evidence));
            faults.merge(no_counterfeits(&evidence));
            if evidence.history.releases > 0 {
                // Whom the comparison leaves too few values is counted; those with enough of them may still have
                // one that is likelier. What is known to be enough is balance and constant sets, so anything less
                // is a finding, where something changed.
                faults.merge(invariance::check_changed(*l, Some(1), &evidence));
            }
        }
        Promise::IncrementalKAnonymity { k, cohorts, l } => {
            let claim = Claim { k: *k, cohorts: *cohorts, l: *l };
            let Evidence { schema, history, table, release, membership } = evidence;
            // Truth has looked at every region already.
            for breach in incremental_k_anonymity::check_true(claim, schema, history, table, release, membership) {
                faults.breach(breach.fault, &breach.groups, u64::from(breach.people));
            }
        }
        Promise::KAnonymity { k } => {
            faults.merge(enough_people(*k, &evidence));
            faults.merge(no_counterfeits(&evidence));
        }
        // Views are judged with all that is out, by `gate_view`; without that nothing can be said for them.
        Promise::XyAnonymity { .. } | Promise::XyLinkability { .. } => {
            faults.people(Fault::Malformed, evidence.table.len() as u64);
        }
    }
    let findings = faults.into_findings(evidence.release.number);
    // What keeps its promise is looked at once more, as a reader would.
    if findings.is_empty() { second_look::look(promise, &evidence) } else { findings }
}

/// Faults counted by kind while groups are looked at side by side.
#[derive(Default)]
pub(crate) struct Faults(BTreeMap<Fault, Tally>);

#[derive(Clone, Copy)]
struct Tally {
    people: u64,
    groups: u64,
    example: Option<u32>,
}

impl Faults {
    /// Counts a fault of one group.
    pub(crate) fn group(&mut self, fault: Fault, group: usize, people: u64) {
        let number = group as u32 + 1;
        let tally = self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None });
        tally.people += people;
        tally.groups += 1;
        tally.example = Some(tally.example.map_or(number, |example| example.min(number)));
    }

    /// Counts a fault that has no group.
    pub(crate) fn people(&mut self, fault: Fault, people: u64) {
        self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None }).people += people;
    }

    /// Takes over what a check counted itself. Truth is checked before any promise: what it found
    /// already is not counted twice.
    pub(crate) fn breach(&mut self, fault: Fault, groups: &[u32], people: u64) {
        let example = groups.first().map(|group| group + 1);
        self.0.entry(fault).or_insert(Tally { people, groups: groups.len() as u64, example });
    }

    /// Adds what another part found.
    pub(crate) fn merge(&mut self, other: Faults) {
        for (fault, more) in other.0 {
            let tally = self.0.entry(fault).or_insert(Tally { people: 0, groups: 0, example: None });
            tally.people += more.people;
            tally.groups += more.groups;
            tally.example = match (tally.example, more.example) {
                (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
                (mine, theirs) => mine.or(theirs),
            };
        }
    }

    fn into_findings(self, release: u32) -> Vec<Finding> {
        let finding = |(fault, tally): (Fault, Tally)| Finding {
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

/// Looks at all groups side by side and adds up what was found.
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
    let mut order = membership.policy_groups.clone();
    order.sort_unstable();
    release.number == evidence.history.releases + 1
        && release.ends.is_sorted()
        && release.ends.last().map_or(0, |&end| end as usize) == rows
        && release.regions.len() == groups
        && release.regions.attributes() == evidence.schema.quasi.len()
        && release.counterfeits.len() == groups
        && membership.rows.len() == rows
        && membership.rows.iter().all(|&row| real(row))
        && membership.withheld.iter().all(|row| row.index() < table.len())
        && order.iter().enumerate().all(|(index, &group)| index == group as usize)
        && (release.public.is_empty() == evidence.schema.public.is_empty())
        && (release.public.is_empty() || release.public.len() == rows)
        && release.public.iter().all(|&text| (text as usize) < release.public_texts.len())
        && (release.linked.is_empty() || release.linked.len() == rows)
        && release.sensitive.iter().all(|value| value.index() < release.values.len())
        && (0..groups).all(|group| !release.group_rows(group).is_empty() && release.group_values(group).is_sorted())
}

/// What holds of every release, whatever was promised: it is true, and nobody is lost or doubled.
fn truth(evidence: &Evidence<'_>) -> Faults {
    let (release, membership, table) = (evidence.release, evidence.membership, evidence.table);
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
    });
    let places = Places::of(evidence);
    if places.twice > 0 {
        faults.people(Fault::PersonTwice, places.twice);
    }
    if places.lost > 0 {
        faults.people(Fault::PersonLost, places.lost);
    }
    for group in places.missed(evidence).chunk_by(|a, b| a == b) {
        faults.group(Fault::RegionMisses, group[0] as usize, group.len() as u64);
    }
    faults
}

/// Where each row of the table stands.
struct Places {
    /// The group it is published in, [`WITHHELD`] or [`NOWHERE`].
    groups: Vec<u32>,
    /// Further groups of people who are there more than once.
    again: Vec<(u32, u32)>,
    twice: u64,
    lost: u64,
}

const NOWHERE: u32 = u32::MAX;
const WITHHELD: u32 = u32::MAX - 1;

impl Places {
    fn of(evidence: &Evidence<'_>) -> Places {
        let (release, membership) = (evidence.release, evidence.membership);
        let mut places = Places { groups: vec![NOWHERE; evidence.table.len()], again: Vec::new(), twice: 0, lost: 0 };
        for group in 0..release.group_count() {
            for person in release.group_rows(group).filter_map(|row| membership.person(row)) {
                places.put(person.0, group as u32);
            }
        }
        membership.withheld.iter().for_each(|person| places.put(person.0, WITHHELD));
        places.lost = places.groups.iter().filter(|&&group| group == NOWHERE).count() as u64;
        places.again.sort_unstable();
        places.twice = places.again.chunk_by(|a, b| a.0 == b.0).count() as u64;
        places
    }

    fn put(&mut self, person: u32, group: u32) {
        let place = &mut self.groups[person as usize];
        if *place == NOWHERE {
            *place = group;
        } else {
            self.again.push((person, group));
        }
    }

    /// The groups whose regions miss somebody, one entry a person, sorted. Goes through the table in its own
    /// order: regions are fewer than people, and a walk from group to group would jump about in every column.
    fn missed(&self, evidence: &Evidence<'_>) -> Vec<u32> {
        let (release, table) = (evidence.release, evidence.table);
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

/// For promises about the number of people in a group.
fn enough_people(k: u32, evidence: &Evidence<'_>) -> Faults {
    each_group(evidence, |group, faults| {
        let people = evidence.release.people(group);
        if people < k {
            faults.group(Fault::TooFewPeople, group, u64::from(people));
        }
    })
}

/// For promises in which no row is artificial.
fn no_counterfeits(evidence: &Evidence<'_>) -> Faults {
    each_group(evidence, |group, faults| {
        if evidence.release.counterfeits[group] > 0 {
            faults.group(Fault::UnexpectedCounterfeits, group, u64::from(evidence.release.people(group)));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Published, Quasi, RecordKey, Regions, Row, Sensitive, Span, Value, Values};

    /// Four people aged 20, 25, 50, 55 with flu, gastritis, flu, gastritis; two groups; and before
    /// it a release in which the same people stood in the same groups.
    struct Case {
        schema: Schema,
        history: History,
        table: Table,
        release: Release,
        membership: Membership,
        promise: Promise,
    }

    fn case() -> Case {
        let schema = Schema::new(
            "id",
            vec![Quasi::new("age", Domain::Integer { lo: 0, hi: 100 })],
            vec![Sensitive::open("disease")],
        );
        let keys = (0..4).map(|key| RecordKey { hi: 0, lo: key }).collect();
        let sensitive = [0, 1, 0, 1].map(Value).to_vec();
        let values = Values::of(["dyspepsia", "flu", "gastritis"]);
        let table = Table::new(keys, vec![vec![20, 25, 50, 55]], sensitive, values.clone(), Vec::new(), Vec::new());
        let mut regions = Regions::new(1);
        regions.push(&[Span::new(20, 25)]);
        regions.push(&[Span::new(50, 55)]);
        let first = Release {
            number: 1,
            ends: vec![2, 4],
            regions,
            sensitive: [0, 1, 0, 1].map(Value).to_vec(),
            counterfeits: vec![0, 0],
            values,
            ..Release::default()
        };
        let membership = Membership { rows: vec![0, 1, 2, 3], policy_groups: vec![1, 0], withheld: Vec::new() };
        let history = History::default().after(&table, &first, &membership, Published::default());
        let release = Release { number: 2, ..first };
        Case { schema, history, table, release, membership, promise: Promise::MInvariance { m: 2, k: None } }
    }

    /// What the gate says after `tamper` has had its way with a good release.
    fn judged(tamper: impl FnOnce(&mut Case)) -> Vec<Fault> {
        let mut case = case();
        tamper(&mut case);
        let Case { schema, history, table, release, membership, promise } = &case;
        let findings = gate(promise, Evidence { schema, history, table, release, membership });
        findings.into_iter().map(|finding| finding.fault).collect()
    }

    #[test]
    fn a_good_release_passes() {
        assert_eq!(judged(|_| {}), []);
    }

    #[test]
    fn a_shrunk_region_is_refused() {
        let mut regions = Regions::new(1);
        regions.push(&[Span::new(20, 24)]);
        regions.push(&[Span::new(50, 55)]);
        assert_eq!(judged(|case| case.release.regions = regions), [Fault::RegionMisses]);
    }

    #[test]
    fn a_doubled_person_is_refused() {
        let faults = judged(|case| case.membership.rows[3] = 1);
        assert_eq!(faults, [Fault::RegionMisses, Fault::PersonTwice, Fault::PersonLost]);
    }

    #[test]
    fn a_person_both_published_and_withheld_is_refused() {
        assert_eq!(judged(|case| case.membership.withheld.push(Row(0))), [Fault::PersonTwice]);
    }

    #[test]
    fn a_changed_value_is_refused() {
        let faults = judged(|case| case.release.sensitive[1] = Value(2));
        assert_eq!(faults, [Fault::ValueChanged, Fault::ValueSetChanged]);
    }

    #[test]
    fn wrong_counterfeit_counts_are_refused() {
        assert_eq!(judged(|case| case.release.counterfeits[0] = 1), [Fault::CounterfeitsMiscounted]);
        let faults = judged(|case| {
            case.membership.rows[0] = Membership::COUNTERFEIT;
            case.membership.withheld.push(Row(0));
        });
        assert_eq!(faults, [Fault::CounterfeitsMiscounted]);
    }

    #[test]
    fn a_group_of_counterfeits_alone_is_refused() {
        let faults = judged(|case| {
            case.membership.rows[..2].fill(Membership::COUNTERFEIT);
            case.membership.withheld.extend([Row(0), Row(1)]);
            case.release.counterfeits[0] = 2;
        });
        assert_eq!(faults, [Fault::NobodyThere]);
    }

    #[test]
    fn narrow_regions_are_refused() {
        assert_eq!(judged(|case| case.schema.quasi[0].min_width = 10), [Fault::RegionTooNarrow]);
    }

    #[test]
    fn parts_that_do_not_fit_are_refused() {
        assert_eq!(judged(|case| case.release.ends = vec![2, 5]), [Fault::Malformed]);
        assert_eq!(judged(|case| case.release.number = 3), [Fault::Malformed]);
        assert_eq!(judged(|case| case.membership.rows[0] = 99), [Fault::Malformed]);
        assert_eq!(judged(|case| case.release.sensitive.swap(0, 1)), [Fault::Malformed]);
        assert_eq!(judged(|case| case.membership.policy_groups = vec![0, 0]), [Fault::Malformed]);
    }

    #[test]
    fn too_few_values_and_uneven_ones_are_refused() {
        let strict = |m| Promise::MInvariance { m, k: None };
        assert_eq!(judged(|case| case.promise = strict(3)), [Fault::TooFewValues]);
        let one_group = |case: &mut Case| {
            let mut regions = Regions::new(1);
            regions.push(&[Span::new(20, 55)]);
            case.release.regions = regions;
            case.release.ends = vec![4];
            case.release.counterfeits = vec![0];
            case.release.sensitive = [0, 0, 1, 1].map(Value).to_vec();
            case.membership.rows = vec![0, 2, 1, 3];
            case.membership.policy_groups = vec![0];
        };
        // Twice each is balanced, which is enough with k and not without.
        assert_eq!(judged(one_group), [Fault::Unbalanced]);
        let with_k = |k| Promise::MInvariance { m: 2, k: Some(k) };
        assert_eq!(judged(|case| (one_group(case), case.promise = with_k(4)).1), []);
        assert_eq!(judged(|case| (one_group(case), case.promise = with_k(5)).1), [Fault::TooFewPeople]);
    }

    #[test]
    fn a_person_who_meets_another_value_set_is_refused() {
        // Person 0 stands with gastritis now, as before; in history they stood with dyspepsia.
        let faults = judged(|case| {
            let id = case.history.value_sets.intern(&[Value(0), Value(2)]);
            case.history.records[0].value_set = id;
        });
        assert_eq!(faults, [Fault::ValueSetChanged]);
    }

    #[test]
    fn an_earlier_set_counts_even_if_the_last_one_is_met() {
        let faults = judged(|case| {
            let id = case.history.value_sets.intern(&[Value(0), Value(2)]);
            let key = case.history.records[0].key;
            case.history.past_sets.push((key, id));
        });
        assert_eq!(faults, [Fault::ValueSetChanged]);
    }

    #[test]
    fn a_disjoint_set_after_an_update_passes() {
        let faults = judged(|case| {
            let id = case.history.value_sets.intern(&[Value(2)]);
            case.history.records[0].value_set = id;
        });
        assert_eq!(faults, []);
    }

    #[test]
    fn groups_of_too_few_people_are_refused() {
        assert_eq!(judged(|case| case.promise = Promise::KAnonymity { k: 2 }), []);
        assert_eq!(judged(|case| case.promise = Promise::KAnonymity { k: 3 }), [Fault::TooFewPeople]);
    }

    /// Four people of whom two share each value: one in two, and not one in three.
    #[test]
    fn a_group_that_fails_its_guard_is_refused_with_cohorts_and_without() {
        for cohorts in [true, false] {
            let promise = |l| Promise::IncrementalKAnonymity { k: 2, cohorts, l };
            assert_eq!(judged(|case| case.promise = promise(None)), []);
            assert_eq!(judged(|case| case.promise = promise(Some(2))), []);
            assert_eq!(judged(|case| case.promise = promise(Some(3))), [Fault::ValueTooFrequent]);
        }
    }

    #[test]
    fn a_newcomer_whose_value_is_the_difference_is_found() {
        // Everyone but person 3 was there before, in one group: the difference is their value.
        let promise = Promise::IncrementalLDiversity { l: 2, mode: DiversityMode::Paper };
        let faults = judged(|case| {
            case.promise = promise.clone();
            case.history.records.retain(|record| record.key != RecordKey { hi: 0, lo: 3 });
        });
        assert_eq!(faults, [Fault::TooFewCandidates]);
        assert_eq!(judged(|case| case.promise = promise), []);
    }

    #[test]
    fn counterfeits_are_refused_where_none_are_promised() {
        let faults = judged(|case| {
            case.promise = Promise::IncrementalLDiversity { l: 2, mode: DiversityMode::Safe };
            case.membership.rows[0] = Membership::COUNTERFEIT;
            case.membership.withheld.push(Row(0));
            case.release.counterfeits[0] = 1;
        });
        assert_eq!(faults, [Fault::UnexpectedCounterfeits]);
    }
}
