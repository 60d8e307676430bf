//! For every series: what is claimed is true, nothing depends on order, and who keeps a promise is not accused.

use crate::audit_sketch::{Case, changing, evolution};
use crate::audit_verify::verify;
use crate::kit;
use crate::kit::{Events, TestPerson, publish_all};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tacenda::audit;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Assessment, Attacker, Budget, Check, Quantity, Series, Severity, Thresholds, Traces, Verdict};
use tacenda::model::{Regions, Release, Value};
use tacenda::promise::{
    DiversityMode, Grouper, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, MInvariance, OnDelete,
    OnIneligible,
};

use tacenda::publish::PublishError;

fn attacker() -> impl Strategy<Value = Attacker> {
    (any::<bool>(), any::<bool>(), 0u32..2).prop_map(|(presence, first_release, known_people)| Attacker {
        presence,
        first_release,
        known_people,
        reader: None,
    })
}

/// What does not depend on the numbers of groups.
fn gist(assessment: &Assessment) -> Vec<String> {
    let outcomes = assessment.outcomes.iter().map(|outcome| {
        let findings: Vec<_> = outcome
            .findings
            .iter()
            .map(|finding| (finding.fault.code(), finding.release, finding.people, finding.groups))
            .collect();
        format!("{:?} {:?} {:?} {findings:?} {:?}", outcome.check, outcome.verdict, outcome.coverage, outcome.measures)
    });
    outcomes.collect()
}

/// The same release with its groups the other way round.
fn turned(release: &Release) -> Release {
    let mut turned = Release {
        regions: Regions::new(release.regions.attributes()),
        ends: Vec::new(),
        sensitive: Vec::new(),
        counterfeits: Vec::new(),
        ..release.clone()
    };
    for group in (0..release.group_count()).rev() {
        turned.regions.push(release.region(group));
        turned.sensitive.extend_from_slice(release.group_values(group));
        turned.ends.push(turned.sensitive.len() as u32);
        turned.counterfeits.push(release.counterfeits[group]);
    }
    turned
}

/// Tries every point of every two releases and of every stretch, one attribute.
fn is_any_point_telling(releases: &[Release], l: usize) -> bool {
    let over = |release: &Release, code: u32| -> BTreeSet<Value> {
        let here = |&group: &usize| release.region(group)[0].contains(code) && release.people(group) > 0;
        (0..release.group_count()).filter(here).flat_map(|group| release.group_values(group).to_vec()).collect()
    };
    let all = 0..releases.len();
    let pairs = all.clone().flat_map(|first| (first + 1..releases.len()).map(move |second| vec![first, second]));
    let runs = all.flat_map(|first| (first + 3..=releases.len()).map(move |end| (first..end).collect::<Vec<usize>>()));
    pairs.chain(runs).any(|places| {
        (0..16).any(|code| {
            let left = places.iter().map(|&place| over(&releases[place], code)).reduce(|a, b| &a & &b);
            (1..l).contains(&left.expect("two releases or more").len())
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// science E1-34, E1-35: on releases made from a known truth, every finding's witness holds, whatever
    /// the attacker knows; and nobody's true value is ever ruled out.
    #[test]
    fn every_finding_is_true(mut case in evolution(6, false), attacker in attacker(), k in 1u32..4, l in 1u32..4) {
        case.attacker = attacker;
        let case = case.lines(k, l);
        for finding in case.ask_all().findings() {
            verify(&case, finding);
        }
    }

    /// The same where values change: what is said of a person is true of a time between two changes.
    #[test]
    fn every_finding_is_true_where_values_change(mut case in changing(5, false, true), attacker in attacker(), k in 1u32..4, l in 1u32..4) {
        case.attacker = attacker;
        let case = case.lines(k, l);
        for finding in case.ask_all().findings() {
            verify(&case, finding);
        }
    }

    /// Values change, nobody leaves: nothing is taken for a newcomer's that is not.
    #[test]
    fn every_finding_is_true_where_values_change_and_nobody_leaves(mut case in changing(5, true, true), attacker in attacker(), l in 1u32..4) {
        case.attacker = attacker;
        let case = case.lines(2, l);
        for finding in case.ask_all().findings() {
            verify(&case, finding);
        }
    }

    /// The same where people only come, from inside and from outside: flows and differences have most to say.
    #[test]
    fn every_finding_is_true_where_nobody_leaves(mut case in evolution(7, true), attacker in attacker(), k in 1u32..4, l in 1u32..4, outside in any::<bool>()) {
        case.attacker = attacker;
        let case = if outside { case.seen_from_outside() } else { case };
        let case = case.lines(k, l);
        for finding in case.ask_all().findings() {
            verify(&case, finding);
        }
    }

    /// From outside, a place is told of if and only if at some point too few values are left by two releases, or by
    /// several that follow each other.
    #[test]
    fn every_place_that_leaves_too_few_values_is_found(case in evolution(7, false), l in 2u32..4) {
        let case = case.lines(1, l).seen_from_outside();
        let fails = case.ask(Check::Candidates).verdict == Verdict::Fail;
        prop_assert_eq!(fails, is_any_point_telling(&case.releases, l as usize), "{:#?}", case.releases);
    }

    /// The same where it takes three releases or more: of three values of four, any two releases leave two.
    #[test]
    fn every_stretch_that_leaves_too_few_values_is_found(
        layers in prop::collection::vec((1u32..15, 0u8..4, 0u8..4), 2..5),
    ) {
        let letters = |without: u8| (0..4).filter(move |&letter| letter != without).map(|letter| (b'a' + letter) as char);
        let words: Vec<String> = layers
            .iter()
            .map(|&(cut, low, high)| {
                let (low, high): (String, String) = (letters(low).collect(), letters(high).collect());
                format!("0-{}/{low} {cut}-15/{high}", cut - 1)
            })
            .collect();
        let words: Vec<(&str, &str)> = words.iter().map(|words| ("1/1/a", &words[..])).collect();
        let case = Case::of(&words).lines(1, 2).seen_from_outside();
        let fails = case.ask(Check::Candidates).verdict == Verdict::Fail;
        prop_assert_eq!(fails, is_any_point_telling(&case.releases, 2), "{:?}", words);
    }

    /// science E1-38: neither the order of groups nor asking twice changes anything, and a release that is
    /// there twice teaches nothing about values.
    #[test]
    fn nothing_depends_on_the_order_of_groups(mut case in evolution(12, false), attacker in attacker()) {
        case.attacker = attacker;
        let case = case.lines(2, 3);
        let other = Case { releases: case.releases.iter().map(turned).collect(), ..case.clone() };
        prop_assert_eq!(gist(&case.ask_all()), gist(&case.ask_all()));
        prop_assert_eq!(gist(&case.ask_all()), gist(&other.ask_all()));
        let mut twice = case.clone();
        twice.releases.push(case.releases.last().unwrap().clone());
        twice.tables.push(case.tables.last().unwrap().clone());
        twice.traces.push(Traces::default());
        prop_assert_eq!(case.told(Check::Candidates), twice.told(Check::Candidates));
    }

    /// science E1-38: candidates of people whose presence is known do not depend on the order of releases.
    #[test]
    fn candidates_do_not_depend_on_the_order_of_releases(case in evolution(12, false)) {
        let case = case.lines(2, 3);
        let mut other = case.clone();
        other.releases.reverse();
        other.tables.reverse();
        let measures = |case: &Case| case.ask(Check::Candidates).measures;
        prop_assert_eq!(measures(&case), measures(&other));
    }

    /// science E1-35: a further release never leaves anyone more values.
    #[test]
    fn a_further_release_only_takes_away(case in evolution(8, true), l in 2u32..4) {
        let case = case.lines(1, l);
        let below = |count: usize| {
            let mut prefix = case.clone();
            prefix.releases.truncate(count);
            prefix.tables.truncate(count);
            prefix.traces.truncate(count);
            let measures = prefix.ask(Check::Candidates).measures;
            measures.iter().find(|measure| measure.quantity == Quantity::PeopleBelowL).unwrap().value
        };
        for count in 1..case.releases.len() {
            prop_assert!(below(count) <= below(count + 1));
        }
    }
}

/// An audit of our own series, from inside and from outside; nothing where the policy refused.
fn audits(policy: &dyn Grouper, snapshots: &[Vec<TestPerson>]) -> Vec<Assessment> {
    let promise = policy.promise().terms();
    let done = match publish_all(&kit::file(policy.promise()), policy, snapshots) {
        Ok(done) => done,
        Err(PublishError::Grouping(_)) => return Vec::new(),
        Err(error) => panic!("{error}"),
    };
    let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
    let traces = vec![Traces { counterfeits_known: true, ..Traces::default() }; releases.len()];
    let published: Vec<_> = done.iter().map(|(table, prepared)| (table, &prepared.membership)).collect();
    let knowledge = Knowledge::from_published(published);
    let schema = kit::schema();
    let audit = |knowledge| {
        let series = Series {
            schema: &schema,
            releases: &releases,
            traces: &traces,
            promise: Some(&promise),
            knowledge,
            permanent: &[],
            population: None,
            households: None,
            rerun: None,
        };
        let lines = Thresholds::of(&promise);
        audit::examine(&series, Attacker::of(&promise), &lines, &Budget::default(), &|_| {})
    };
    [Some(&knowledge), None].into_iter().map(audit).collect()
}

/// The worst that an audit of our own series says.
fn accusations(policy: &dyn Grouper, snapshots: &[Vec<TestPerson>]) -> Vec<String> {
    let audits = audits(policy, snapshots);
    let findings = audits.iter().flat_map(Assessment::findings);
    let worse = findings.filter(|finding| finding.fault.severity() > Severity::Note);
    worse.map(|finding| format!("{finding} {:?}", finding.witness)).collect()
}

/// science E1-37 asks for ten thousand histories a policy: with `TACENDA_LONG=1`.
fn histories() -> ProptestConfig {
    ProptestConfig::with_cases(if std::env::var_os("TACENDA_LONG").is_some() { 10_000 } else { 120 })
}

proptest! {
    #![proptest_config(histories())]

    /// science E1-37: clean series are not accused of anything their promise speaks of.
    #[test]
    fn m_invariant_series_are_not_accused(
        snapshots in kit::evolution(30, 4, 5, Events::ALL), m in 2u32..4, k in prop::option::of(2u32..4),
    ) {
        let policy = MInvariance { k, on_ineligible: OnIneligible::Counterfeit, ..MInvariance::new(m) };
        prop_assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
    }

    /// science E1-20, its second half, from outside: classes far from each other, and one of them receives a batch with
    /// fewer than l values. The set of its values stays, and the auditor, who sees releases and knows people's quasi
    /// values, tells of everyone in the batch.
    #[test]
    fn property_20_a_batch_without_l_values_is_told_of(
        l in 2u32..5, classes in 1u32..4, received in any::<prop::sample::Index>(), batch in prop::collection::vec(0u8..9, 1..6),
    ) {
        let person = |id: u32, age: u32, disease: u8| TestPerson { id, age, place: 0, disease };
        let class = |class: u32| (0..l).map(move |value| person(class * l + value, 30 * class + value, value as u8));
        let first: Vec<TestPerson> = (0..classes).flat_map(class).collect();
        let home = received.index(classes as usize) as u32;
        let values: Vec<u8> = batch.iter().map(|value| value % (l as u8 - 1)).collect();
        let newcomers = (100..).zip(&values).map(|(id, &value)| person(id, 30 * home + 1, value));
        let second: Vec<TestPerson> = first.iter().cloned().chain(newcomers).collect();
        let policy = IncrementalLDiversity { mode: DiversityMode::Paper, made_up: true, ..IncrementalLDiversity::new(l) };
        let done = publish_all(&kit::file(policy), &policy, &[first, second]).unwrap();
        let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
        for release in &releases {
            prop_assert_eq!(release.group_count(), classes as usize);
            prop_assert!((0..release.group_count()).all(|group| release.value_set(group).len() == l as usize));
        }
        let traces = vec![Traces { counterfeits_known: true, ..Traces::default() }; 2];
        let knowledge = Knowledge::from_published(done.iter().map(|(table, prepared)| (table, &prepared.membership)));
        let (schema, promise) = (kit::schema(), policy.promise().terms());
        let series = Series {
            schema: &schema, releases: &releases, traces: &traces, promise: Some(&promise), knowledge: Some(&knowledge), permanent: &[], population: None,
            households: None, rerun: None };
        let assessment =
            audit::examine(&series, Attacker::default(), &Thresholds::of(&promise), &Budget::default(), &|_| {});
        let distinct = values.iter().collect::<std::collections::BTreeSet<_>>().len();
        let wanted = if distinct == 1 { "A721" } else { "A722" };
        let told = assessment.findings().find(|finding| finding.fault.code() == wanted).map(|finding| finding.people);
        prop_assert_eq!(told, Some(batch.len() as u64));
    }

    #[test]
    fn incremental_l_diverse_series_are_not_accused(snapshots in kit::evolution(30, 4, 5, Events::ADD_ONLY), l in 2u32..4) {
        let policy = IncrementalLDiversity::new(l);
        prop_assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
    }

    /// Whole groups vanish when one of their people leaves; nobody is taken for a newcomer for that.
    #[test]
    fn cohorts_that_withhold_are_not_accused(snapshots in kit::evolution(40, 4, 5, Events { leave: true, ..Events::ADD_ONLY }), k in 2u32..5) {
        let policy = IncrementalKAnonymity { k, cohorts: true, l: None, tight: false, on_delete: OnDelete::Withhold };
        prop_assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
    }

    /// Without cohorts by the attacker the promise speaks of, who does not know when anyone came.
    #[test]
    fn cells_are_not_accused(snapshots in kit::evolution(40, 4, 5, Events::ADD_ONLY), k in 2u32..5, tight in any::<bool>()) {
        let policy = IncrementalKAnonymity { k, cohorts: false, l: None, tight, on_delete: OnDelete::Refuse };
        prop_assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
    }

    /// science E1-37, for maintained clusterings: their promise is about each release alone, and keeps its line.
    #[test]
    fn clusterings_keep_their_line(snapshots in kit::evolution(40, 4, 5, Events::ALL), k in 2u32..5, optimise in any::<bool>()) {
        for audit in audits(&KAnonymity { optimise, ..KAnonymity::new(k) }, &snapshots) {
            let verdict = audit.outcome(Check::GroupSizes).map(|outcome| outcome.verdict);
            prop_assert_eq!(verdict, Some(Verdict::Pass));
        }
    }

    /// science E1-37, its second half: of a maintained clustering somebody at the edge of a group leaves, and its region
    /// shrinks by them. Whoever has both releases reads off the value of one person.
    #[test]
    fn property_37_a_leaver_at_the_edge_is_told_of(
        k in 2u32..6, edge in 10u32..30, above in any::<bool>(), disease in 0u8..5, optimise in any::<bool>(),
    ) {
        let person = |id: u32, age: u32, disease: u8| TestPerson { id, age, place: 0, disease };
        let near = (0..k).map(|id| person(id, 40, id as u8 % 5));
        let far = (0..k).map(|id| person(100 + id, 95, id as u8 % 5));
        let leaver = person(50, if above { 40 + edge } else { 40 - edge }, disease);
        let stay: Vec<TestPerson> = near.chain(far).collect();
        let first = stay.iter().cloned().chain([leaver]).collect();
        let audits = audits(&KAnonymity { optimise, ..KAnonymity::new(k) }, &[first, stay]);
        prop_assert_eq!(audits.len(), 2);
        for audit in audits {
            let moved = audit.findings().find(|finding| finding.fault.code() == "A773").expect("a region moved");
            prop_assert_eq!((moved.people, moved.groups), (1, 1));
        }
    }

    #[test]
    fn cohorts_are_not_accused(snapshots in kit::evolution(40, 4, 5, Events::ADD_ONLY), k in 2u32..5, l in prop::option::of(2u32..3)) {
        let policy = IncrementalKAnonymity { k, cohorts: true, l, tight: false, on_delete: OnDelete::Refuse };
        prop_assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
    }
}

/// A group of an earlier cohort that could exchange rows with a later one, in a place where nobody arrived.
#[test]
fn cohorts_that_could_hold_few_arrivals_are_not_accused() {
    // Age, place and disease of who arrives with each release.
    let arrivals = [
        "000 000 000 000 001 000 000 030 C10 060 020 020 020 030 100 101 T00 052 031 134 031 040 040",
        "030 024 100 021 012 000 034",
        "000 001 034 031",
        "000 000 000",
    ];
    let mut people: Vec<TestPerson> = Vec::new();
    let mut snapshots: Vec<Vec<TestPerson>> = Vec::new();
    for word in arrivals {
        for person in word.split(' ') {
            let code = |at: usize| person[at..=at].parse::<u32>();
            let age = code(0).unwrap_or(if person.starts_with('C') { 12 } else { 29 });
            let (place, disease) = (code(1).unwrap(), code(2).unwrap() as u8);
            people.push(TestPerson { id: people.len() as u32, age, place, disease });
        }
        snapshots.push(people.clone());
    }
    let policy = IncrementalKAnonymity { k: 4, cohorts: true, l: Some(2), tight: false, on_delete: OnDelete::Refuse };
    assert_eq!(accusations(&policy, &snapshots), Vec::<String>::new());
}
