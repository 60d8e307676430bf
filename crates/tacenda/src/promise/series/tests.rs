//! What the gate finds in releases that were tampered with, promise by promise.

use crate::audit::{Evidence, Fault};
use crate::model::{
    Domain, History, Membership, Published, Quasi, RecordKey, Regions, Release, Row, Schema, Sensitive, Span, Table,
    Value, Values,
};
use crate::promise::{
    DiversityMode, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, MInvariance, SeriesPromise,
};

/// Four people aged 20, 25, 50, 55 with flu, gastritis, flu, gastritis; two groups; and before
/// it a release in which the same people stood in the same groups.
struct Case {
    schema: Schema,
    history: History,
    table: Table,
    release: Release,
    membership: Membership,
    promise: SeriesPromise,
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
    Case { schema, history, table, release, membership, promise: MInvariance::new(2).into() }
}

/// What the gate says after `tamper` has had its way with a good release.
fn judged(tamper: impl FnOnce(&mut Case)) -> Vec<Fault> {
    let mut case = case();
    tamper(&mut case);
    let Case { schema, history, table, release, membership, promise } = &case;
    let findings = promise.judge(Evidence { schema, history, table, release, membership });
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
    let strict = |m| MInvariance::new(m).into();
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
    let with_k = |k| MInvariance { k: Some(k), ..MInvariance::new(2) }.into();
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
    assert_eq!(judged(|case| case.promise = KAnonymity::new(2).into()), []);
    assert_eq!(judged(|case| case.promise = KAnonymity::new(3).into()), [Fault::TooFewPeople]);
}

/// Four people of whom two share each value: one in two, and not one in three.
#[test]
fn a_group_that_fails_its_guard_is_refused_with_cohorts_and_without() {
    for cohorts in [true, false] {
        let promise = |l| IncrementalKAnonymity { cohorts, l, ..IncrementalKAnonymity::new(2) }.into();
        assert_eq!(judged(|case| case.promise = promise(None)), []);
        assert_eq!(judged(|case| case.promise = promise(Some(2))), []);
        assert_eq!(judged(|case| case.promise = promise(Some(3))), [Fault::ValueTooFrequent]);
    }
}

#[test]
fn a_newcomer_whose_value_is_the_difference_is_found() {
    // Everyone but person 3 was there before, in one group: the difference is their value.
    let promise =
        SeriesPromise::from(IncrementalLDiversity { mode: DiversityMode::Paper, ..IncrementalLDiversity::new(2) });
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
        case.promise = IncrementalLDiversity::new(2).into();
        case.membership.rows[0] = Membership::COUNTERFEIT;
        case.membership.withheld.push(Row(0));
        case.release.counterfeits[0] = 1;
    });
    assert_eq!(faults, [Fault::UnexpectedCounterfeits]);
}
