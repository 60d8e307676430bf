//! What people who wait give away: planted breaches are told of, and series in which waiting says nothing are not.

use crate::kit;
use crate::kit::{Events, TestPerson, publish_all};
use proptest::prelude::*;
use std::fs;
use tacenda::audit;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Attacker, Budget, Check, Outcome, Quantity, Series, Statement, Thresholds, Traces};
use tacenda::ingest::Given;
use tacenda::model::{Membership, Reader, Release, Rng, Row, Table, Terms, Value};
use tacenda::promise::{Grouper, IncrementalKAnonymity, MInvariance, OnIneligible, Surplus};
use tacenda::publish::Prepared;
use tacenda::report::{Decision, Report};
use tacenda::use_cases::{AuditRequest, FailOn, SubjectRequest};

type Done = Vec<(Table, Prepared)>;

/// Id, age and disease.
fn people(words: &[(u32, u32, u8)]) -> Vec<TestPerson> {
    words.iter().map(|&(id, age, disease)| TestPerson { id, age, place: 0, disease }).collect()
}

fn published(policy: &dyn Grouper, snapshots: &[Vec<TestPerson>]) -> Done {
    publish_all(&kit::file(policy.promise()), policy, snapshots).unwrap()
}

fn asked(promise: Option<&Terms>, done: &Done, attacker: Attacker) -> Outcome {
    let lines = promise.map_or_else(Thresholds::default, Thresholds::of);
    let left_out: Vec<&Membership> = done.iter().map(|(_, prepared)| &prepared.membership).collect();
    asked_with(promise, done, &left_out, attacker, lines)
}

fn asked_with(
    promise: Option<&Terms>,
    done: &Done,
    left_out: &[&Membership],
    attacker: Attacker,
    lines: Thresholds,
) -> Outcome {
    let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
    let traces = vec![Traces { counterfeits_known: true, ..Traces::default() }; releases.len()];
    let tables = done.iter().map(|(table, _)| table);
    let knowledge = Knowledge::from_published(tables.zip(left_out.iter().copied()));
    let series = Series {
        schema: &kit::schema(),
        releases: &releases,
        traces: &traces,
        promise,
        knowledge: Some(&knowledge),
        permanent: &[],
        population: None,
        households: None,
        rerun: None,
    };
    audit::examine_only(&series, attacker, &lines, &Budget::default(), &|_| {}, &[Check::Waiting]).outcomes.remove(0)
}

fn told(outcome: &Outcome) -> String {
    let codes = outcome.findings.iter().map(|finding| format!(" {} {}", finding.fault.code(), finding.people));
    outcome.verdict.word().to_string() + &codes.collect::<String>()
}

/// Publishes under a promise with groups of two people or more, and two values or more in each, and asks.
fn guarded(snapshots: &[Vec<TestPerson>]) -> String {
    let policy = IncrementalKAnonymity { l: Some(2), ..IncrementalKAnonymity::new(2) };
    told(&asked(Some(&policy.promise().terms()), &published(&policy, snapshots), Attacker::default()))
}

/// Two people of one disease, who are a group of their own, beside two who are published.
const FIRST: [(u32, u32, u8); 4] = [(1, 10, 1), (2, 20, 2), (3, 80, 0), (4, 90, 0)];

/// science CE-8, in two groups: each is published with one other, and the only value that both groups have is theirs. That
/// leaves the two others one value, too.
#[test]
fn who_failed_together_shares_what_their_groups_have_in_common() {
    let later = [&FIRST[..], &[(5, 81, 1), (6, 91, 2)]].concat();
    let snapshots = [people(&FIRST), people(&later)];
    assert_eq!(guarded(&snapshots), "NOTED A796 4");
    // A reader who does not know who is in the data learns nothing from it; nor is anything known without the promise.
    let policy = IncrementalKAnonymity { l: Some(2), ..IncrementalKAnonymity::new(2) };
    let done = published(&policy, &snapshots);
    let terms = policy.promise().terms();
    let unaware = Attacker { presence: false, ..Attacker::default() };
    assert_eq!(told(&asked(Some(&terms), &done, unaware)), "NOT APPLICABLE");
    assert_eq!(told(&asked(None, &done, Attacker::default())), "PASS");
    // Without the threshold nobody waits.
    let policy = IncrementalKAnonymity::new(2);
    let done = published(&policy, &snapshots);
    assert_eq!(told(&asked(Some(&policy.promise().terms()), &done, Attacker::default())), "NOT APPLICABLE");
}

/// science CE-8, in one group: flu twice, gout, cough. Only flu occurs twice.
#[test]
fn who_failed_together_has_the_value_that_occurs_often_enough() {
    let first = [(1, 10, 1), (2, 20, 2), (3, 80, 0), (4, 80, 0)];
    let later = [&first[..], &[(5, 80, 1), (6, 80, 2)]].concat();
    assert_eq!(guarded(&[people(&first), people(&later)]), "NOTED A796 2");
}

/// Flu and gout twice: the two who failed together share one of them, which is too few where three values are asked for.
#[test]
fn who_failed_together_has_too_few_values_left() {
    let first = [(1, 10, 1), (2, 20, 2), (3, 80, 0), (4, 80, 0)];
    let later = [&first[..], &[(5, 80, 1), (6, 80, 1), (7, 80, 2), (8, 80, 3)]].concat();
    let policy = IncrementalKAnonymity { l: Some(2), ..IncrementalKAnonymity::new(2) };
    let (terms, done) = (policy.promise().terms(), published(&policy, &[people(&first), people(&later)]));
    let left_out: Vec<&Membership> = done.iter().map(|(_, prepared)| &prepared.membership).collect();
    let asked =
        |l: u32| asked_with(Some(&terms), &done, &left_out, Attacker::default(), Thresholds { k: 2, l, t: None });
    assert_eq!([told(&asked(3)), told(&asked(2))], ["NOTED A797 2", "PASS"]);
}

/// Who waits because too few people arrived says nothing; nor do people who are left after one of them went.
#[test]
fn who_waits_for_others_is_not_accused() {
    let two = [(1, 10, 1), (2, 20, 2)];
    let third = [&two[..], &[(3, 80, 0)]].concat();
    let fourth = [&third[..], &[(4, 81, 1)]].concat();
    assert_eq!(guarded(&[people(&two), people(&third), people(&fourth)]), "PASS");
    // Three fail together. One leaves while nobody comes: the two others did not fail together, and have two values.
    let five = [&two[..], &[(3, 80, 0), (4, 80, 0), (5, 80, 1)]].concat();
    let without = [&two[..], &[(3, 80, 0), (5, 80, 1)]].concat();
    let more = [&without[..], &[(6, 80, 1), (7, 80, 2)]].concat();
    assert_eq!(guarded(&[people(&five), people(&without), people(&more)]), "PASS");
    // Eight people may have been two groups of four, and were: three of each four had disease 0. That five of the eight share
    // one value does not follow, though only six can have it later.
    let beside = [(70, 0), (71, 0), (72, 0), (73, 1), (90, 0), (91, 0), (92, 0), (93, 2)];
    let at_once: Vec<(u32, u32, u8)> = (1..9).map(|id| (id, 10, id as u8)).collect();
    let first = [&at_once[..], &beside.map(|(age, disease)| (age, age, disease))].concat();
    let more = (0..24).map(|at| (100 + at, beside[at as usize / 3].0, 3 + at as u8));
    let all: Vec<(u32, u32, u8)> = first.iter().copied().chain(more).collect();
    let policy = IncrementalKAnonymity { l: Some(2), ..IncrementalKAnonymity::new(4) };
    let done = published(&policy, &[people(&first), people(&all)]);
    assert_eq!((done[0].1.membership.withheld.len(), done[1].1.release.group_count()), (8, 10));
    assert_eq!(told(&asked(Some(&policy.promise().terms()), &done, Attacker::default())), "PASS");
}

/// So many people, of whom every other one has disease 0, or every third.
fn uneven(rng: &mut Rng, count: u32, frequent: u64) -> Vec<TestPerson> {
    let disease = |rng: &mut Rng| if rng.below(100) < frequent { 0 } else { 1 + rng.below(5) as u8 };
    (0..count)
        .map(|id| TestPerson { id, age: rng.below(100) as u32, place: rng.below(8) as u32, disease: disease(rng) })
        .collect()
}

/// science A2.4: holders of a value that is too frequent wait. People who wait by lot have any value.
#[test]
fn who_waits_has_the_frequent_value_unless_lots_are_drawn() {
    let policy = MInvariance { on_ineligible: OnIneligible::Defer, ..MInvariance::new(2) };
    let done = published(&policy, &[uneven(&mut Rng::from_number(1), 200, 62)]);
    let waiting = done[0].1.membership.withheld.len() as u64;
    assert!(waiting > 10, "{waiting}");
    let terms = policy.promise().terms();
    let outcome = asked(Some(&terms), &done, Attacker::default());
    assert_eq!(told(&outcome), format!("NOTED A794 {waiting}"));
    let share = outcome.measures.iter().find(|measure| measure.quantity == Quantity::LargestShareWaiting).unwrap();
    assert_eq!((share.release, share.value), (Some(1), 1.0));
    // As many others, drawn by lot: they are left out for no reason.
    for number in 0..20 {
        let mut rng = Rng::from_number(number);
        let mut rows: Vec<u32> = (0..200).collect();
        (0..waiting as usize).for_each(|at| rows.swap(at, at + rng.below(200 - at as u64) as usize));
        let mut withheld: Vec<Row> = rows[..waiting as usize].iter().map(|&row| Row(row)).collect();
        withheld.sort_unstable();
        let by_lot = Membership { withheld, ..Membership::default() };
        let outcome = asked_with(Some(&terms), &done, &[&by_lot], Attacker::default(), Thresholds::of(&terms));
        assert_eq!(told(&outcome), "PASS", "{number}");
    }
}

/// science A3.12: nothing but a new value makes a person wait who was published before. Lots make them wait for nothing.
#[test]
fn who_was_published_and_waits_has_another_value_unless_lots_are_drawn() {
    let mut rng = Rng::from_number(2);
    let first = uneven(&mut rng, 200, 17);
    let mut second = first.clone();
    for person in second.iter_mut().filter(|_| rng.below(10) == 0) {
        person.disease = (person.disease + 1) % 6;
    }
    // Four of six values: no other set is free of all of them.
    let policy = MInvariance::new(4);
    let done = published(&policy, &[first, second]);
    let waiting = done[1].1.membership.withheld.len();
    assert!(waiting > 0);
    assert_eq!(
        told(&asked(Some(&policy.promise().terms()), &done, Attacker::default())),
        format!("NOTED A795 {waiting}")
    );

    let policy = MInvariance { reader: Reader::Method, surplus: Surplus::Withhold, ..MInvariance::new(5) };
    let mut first = uneven(&mut rng, 600, 17);
    first.iter_mut().for_each(|person| person.disease = person.id as u8 % 6);
    let second: Vec<TestPerson> = first.iter().filter(|_| rng.below(100) >= 30).cloned().collect();
    let done = published(&policy, &[first, second]);
    assert!(!done[1].1.membership.withheld.is_empty());
    assert_eq!(told(&asked(Some(&policy.promise().terms()), &done, Attacker::default())), "PASS");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Whatever is concluded from waiting is true: a person's value is among those that are left.
    #[test]
    fn nobody_is_told_a_value_that_is_not_theirs(snapshots in kit::evolution(14, 4, 3, Events { leave: true, ..Events::ADD_ONLY }), k in 2u32..4) {
        let policy = IncrementalKAnonymity { l: Some(2), on_delete: tacenda::promise::OnDelete::Withhold, ..IncrementalKAnonymity::new(k) };
        let Ok(done) = publish_all(&kit::file(policy.promise()), &policy, &snapshots) else { return Ok(()) };
        let outcome = asked(Some(&policy.promise().terms()), &done, Attacker::default());
        for finding in &outcome.findings {
            let witness = finding.witness.as_ref().unwrap();
            let Some(person) = witness.person.filter(|_| witness.claim == Statement::FewByWaiting) else { continue };
            let mut keys: Vec<_> = done.iter().flat_map(|(table, _)| table.keys()).copied().collect();
            keys.sort_unstable();
            keys.dedup();
            let value = |table: &Table| Some(table.sensitive()[table.find(keys[person as usize])?.index()]);
            let values: Vec<Value> = done.iter().filter_map(|(table, _)| value(table)).collect();
            prop_assert!(values.iter().any(|value| witness.values.contains(value)), "{witness:?} {values:?}");
        }
    }
}

/// Files of another tool: people whom no group covers wait. All who have one disease do, and the answer is NOT PROMISED.
#[test]
fn people_whom_no_group_of_a_file_covers_wait() {
    let folder = tempfile::tempdir().unwrap();
    let audited = |hidden: &[&str]| -> (Report, u8) {
        let (mut release, mut table) = (String::from("age,disease\n"), String::from("id,age,disease\n"));
        for id in 0..60 {
            let disease = ["flu", "gout", "hiv", "flu", "gout", "cold"][id % 6];
            // Whoever is left out is of an age that no row has.
            let age = if hidden[id % hidden.len()] == disease { 90 } else { 20 + id % 10 };
            table += &format!("{id},{age},{disease}\n");
            if age < 90 {
                release += &format!("20-29,{disease}\n");
            }
        }
        fs::write(folder.path().join("r.csv"), release).unwrap();
        fs::write(folder.path().join("t.csv"), table).unwrap();
        let subject = SubjectRequest {
            releases: vec![Given::Path(folder.path().join("r.csv"))],
            truth: vec![Given::Path(folder.path().join("t.csv"))],
            id: Some("id".into()),
            quasi: vec!["age".into()],
            sensitive: vec!["disease".into()],
            ..SubjectRequest::default()
        };
        let answer = AuditRequest { subject, ..AuditRequest::default() }.read(&|_, _| {}).unwrap().judge(&|_, _| {});
        (answer.report.clone(), answer.exit_code(FailOn::Any))
    };
    let (report, code) = audited(&["hiv"]);
    let codes: Vec<&str> = report.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!((codes, code), (vec!["A794"], 0), "{report:?}");
    assert_eq!(report.verdict.decision, Decision::NotPromised);
    let title = "people who wait have one value far more often than others (10 people)";
    assert!(report.verdict.sentence.contains(title), "{}", report.verdict.sentence);
    // A few of each disease.
    let (report, code) =
        audited(&["", "gout", "", "", "", "", "", "", "", "flu", "", "", "", "", "hiv", "", "", "cold"]);
    assert!(report.findings.is_empty() && code == 0, "{:?}", report.findings);
    assert!(report.checks.iter().any(|check| check.check == "waiting" && check.of > 2), "{:?}", report.checks);
}
