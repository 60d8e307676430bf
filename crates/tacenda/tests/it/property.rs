//! For every evolution: the promise holds, each row is placed once, the same bytes twice.
//!
//! The gate judges every step inside `prepare`, so a series that is published at all has passed it;
//! what is tested here is that policies pass, and that what passes cannot be attacked.

use crate::kit::{Events, TestPerson, evolution, publish_all};
use crate::{kit, views_kit};
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::worlds::{Counting, Share, Worlds};
use tacenda::audit::{Fault, candidates, worlds};
use tacenda::grouping::GroupingError;
use tacenda::ingest::policy_file::parse_policy;
use tacenda::model::{Grouping, History, Lots, Membership, RecordKey, Release, Schema, Table, Value};
use tacenda::promise::{
    DiversityMode, Entry, Grouper, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, LossKind, MInvariance,
    OnDelete, OnIneligible, Promised, SeriesPromise, Surplus, XyAnonymity, XyLinkability,
};
use tacenda::publish::{Prepared, PublishError};

fn m_invariance(m: u32, on_ineligible: OnIneligible) -> MInvariance {
    MInvariance { on_ineligible, ..MInvariance::new(m) }
}

fn any_ineligible() -> impl Strategy<Value = OnIneligible> {
    prop_oneof![Just(OnIneligible::Refuse), Just(OnIneligible::Defer), Just(OnIneligible::Counterfeit)]
}

/// Publishes a history; a refusal by the gate or a lost row fails, a policy may say that the data cannot do it.
fn publish(policy: &dyn Grouper, snapshots: &[Vec<TestPerson>]) -> Option<Vec<(Table, Prepared)>> {
    match publish_all(&kit::file(policy.promise()), policy, snapshots) {
        Ok(done) => Some(done),
        Err(PublishError::Grouping(_)) => None,
        Err(error) => panic!("{error}"),
    }
}

/// A promise of the registry, as `tacenda init` drafts it.
fn drafted(entry: &Entry) -> SeriesPromise {
    let text = format!(
        "policy = 1\n[series]\nname = 's'\n[columns]\nid = {{ role = 'identifier' }}\nage = {{ role = 'quasi', type = \
         'integer', domain = [0, 120] }}\ndisease = {{ role = 'sensitive', type = 'category' }}\n[promise]\nmodel = \
         '{}'\n{}",
        entry.name,
        (entry.draft.parameters)(4)
    );
    match parse_policy(&text, Path::new("tacenda.toml")).unwrap().policy.promise {
        Promised::Series(promise) => promise,
        Promised::Views(_) => unreachable!("the entry is of a promise about a series"),
    }
}

/// Everything in the registry, also what is listed tomorrow: as it is drafted, and with each of its numbers changed.
fn every_promise(number: u32) -> Vec<SeriesPromise> {
    let mut promises = Vec::new();
    for &entry in SeriesPromise::ENTRIES {
        promises.push(drafted(entry));
        for key in entry.keys {
            let mut promise = drafted(entry);
            promises.extend(promise.set(key.key, number).then_some(promise));
        }
    }
    promises
}

#[test]
fn every_promise_is_drawn_with_its_numbers() {
    let promises = every_promise(3);
    let drafted = MInvariance { k: Some(2), surplus: Surplus::Withhold, ..m_invariance(3, OnIneligible::Refuse) };
    assert!(promises.contains(&drafted.into()), "{promises:?}");
    assert!(promises.len() > 2 * SeriesPromise::ENTRIES.len() - 1, "each has at least one number: {promises:?}");
    let people = |count: u32| -> Vec<TestPerson> {
        // Place and disease are unrelated: whoever lives somewhere has any disease.
        (0..count).map(|id| TestPerson { id, age: id % 100, place: id / 6 % 4, disease: (id % 6) as u8 }).collect()
    };
    for promise in promises {
        assert!(publish(promise.inner(), &[people(60), people(90)]).is_some(), "{promise:?} can be kept by plain data");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    /// A promise that is listed is kept, or says that the data cannot keep it. The gate judges every release.
    #[test]
    fn every_promise_is_kept(
        added in evolution(60, 4, 6, Events::ADD_ONLY), changed in evolution(60, 4, 6, Events::ALL), number in 2u32..6,
    ) {
        for promise in every_promise(number) {
            publish(promise.inner(), &added);
            publish(promise.inner(), &changed);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// science E1-2, E1-22, E1-23: with returns, moves and changes of value, the gate finds nothing.
    #[test]
    fn m_invariance_keeps_its_promise(
        snapshots in evolution(40, 5, 6, Events::ALL), m in 2u32..5, k in prop::option::of(2u32..6), on_ineligible in any_ineligible(),
    ) {
        publish(&MInvariance { k, on_ineligible, ..MInvariance::new(m) }, &snapshots);
    }

    /// Deferring and adding counterfeits never fail for want of evenness.
    #[test]
    fn m_invariance_always_publishes_unless_told_to_refuse(snapshots in evolution(40, 4, 6, Events::ALL), m in 2u32..4) {
        for on_ineligible in [OnIneligible::Defer, OnIneligible::Counterfeit] {
            let policy = m_invariance(m, on_ineligible);
            match publish_all(&kit::file(policy.promise()), &policy, &snapshots) {
                Err(PublishError::Grouping(GroupingError::Ineligible { .. })) => prop_assert!(false, "ineligible"),
                Err(PublishError::Refused(findings)) => prop_assert!(false, "{findings:?}"),
                _ => {}
            }
        }
    }

    /// science E1-3: the same bytes, whatever the threads and the order of the rows.
    #[test]
    fn releases_do_not_depend_on_threads_or_row_order(snapshots in evolution(40, 3, 5, Events::ALL)) {
        let policy = m_invariance(2, OnIneligible::Defer);
        let reversed: Vec<Vec<TestPerson>> =
            snapshots.iter().map(|people| people.iter().rev().cloned().collect()).collect();
        let pool = ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let one = pool.install(|| publish(&policy, &snapshots));
        let many = publish(&policy, &reversed);
        prop_assert_eq!(one.is_some(), many.is_some());
        for ((_, left), (_, right)) in one.iter().flatten().zip(many.iter().flatten()) {
            prop_assert_eq!(&left.release, &right.release);
            prop_assert_eq!(&left.membership, &right.membership);
        }
    }

    /// Someone who knows everyone's quasi values and presence is left with at least m values for everyone.
    #[test]
    fn nobody_has_fewer_than_m_candidates(snapshots in evolution(60, 4, 6, Events { fall_ill_anew: false, ..Events::ALL }), m in 2u32..4) {
        let Some(done) = publish(&m_invariance(m, OnIneligible::Defer), &snapshots) else { return Ok(()) };
        prop_assert_eq!(below_m(&done, m), 0);
    }

    /// science E1-26: risk by counting all worlds, on histories with deletions and returns.
    #[test]
    fn risk_is_at_most_one_in_m(snapshots in evolution(11, 3, 4, Events { fall_ill_anew: false, ..Events::ALL }), m in 2u32..4, on_ineligible in any_ineligible()) {
        let Some(done) = publish(&m_invariance(m, on_ineligible), &snapshots) else { return Ok(()) };
        prop_assert_eq!(above_one_in_m(&done, m), 0);
    }

    /// The same with balanced groups of at least k people (science A3.10-b).
    #[test]
    fn risk_is_at_most_one_in_m_with_k(snapshots in evolution(11, 2, 3, Events { fall_ill_anew: false, ..Events::ALL }), k in 2u32..5) {
        let policy = MInvariance { k: Some(k), on_ineligible: OnIneligible::Defer, ..MInvariance::new(2) };
        let Some(done) = publish(&policy, &snapshots) else { return Ok(()) };
        prop_assert_eq!(above_one_in_m(&done, 2), 0);
    }

    /// Insert-only histories under incremental l-diversity: no counterfeits, risk at most 1/l, nothing to see in differences.
    #[test]
    fn incremental_l_diversity_keeps_its_promise(snapshots in evolution(40, 4, 5, Events::ADD_ONLY), l in 2u32..4) {
        publish(&IncrementalLDiversity::new(l), &snapshots);
    }

    /// science E1-20, its second half: whenever classes that hang together received newcomers with fewer than l
    /// values, the gate says so, and refuses data that are not made up.
    #[test]
    fn the_paper_mode_is_always_caught(snapshots in evolution(30, 4, 4, Events::ADD_ONLY), l in 2u32..4) {
        let policy = IncrementalLDiversity { mode: DiversityMode::Paper, made_up: true, ..IncrementalLDiversity::new(l) };
        let Ok(done) = publish_all(&kit::file(policy), &policy, &snapshots) else { return Ok(()) };
        let mut is_planted = false;
        for pair in done.windows(2) {
            let planted = few_new_values(&pair[0], &pair[1], l as usize);
            let told = pair[1].1.findings().iter().any(|finding| finding.fault == Fault::TooFewCandidates);
            // The gate may tell of more: old members whom a division gives away.
            prop_assert!(told || !planted);
            is_planted |= planted;
        }
        if is_planted {
            let policy = IncrementalLDiversity { mode: DiversityMode::Paper, ..IncrementalLDiversity::new(l) };
            let real = publish_all(&kit::file(policy), &policy, &snapshots);
            prop_assert!(matches!(real, Err(PublishError::Refused(_))));
        }
    }

    /// science E1-20: of whom the gate says that too few values are left, it never says fewer than there are. An
    /// auditor with the truth, who counts all worlds of the last two releases, finds no one besides.
    #[test]
    fn property_20_the_gate_counts_everyone_whom_the_paper_mode_gives_away(
        snapshots in evolution(10, 3, 3, Events::ADD_ONLY), l in 2u32..4,
    ) {
        let policy = IncrementalLDiversity { mode: DiversityMode::Paper, made_up: true, ..IncrementalLDiversity::new(l) };
        let Ok(done) = publish_all(&kit::file(policy), &policy, &snapshots) else { return Ok(()) };
        for pair in done.windows(2) {
            let told = pair[1].1.findings().iter().find(|finding| finding.fault == Fault::TooFewCandidates);
            prop_assert!(below_in_all_worlds(pair, l) <= told.map_or(0, |finding| finding.people));
        }
    }

    /// science E1-21: brute-force risk on tiny histories.
    #[test]
    fn incremental_l_diversity_risk_is_at_most_one_in_l(snapshots in evolution(11, 3, 4, Events::ADD_ONLY), l in 2u32..4) {
        let Some(done) = publish(&IncrementalLDiversity::new(l), &snapshots) else { return Ok(()) };
        prop_assert_eq!(above_one_in_m(&done, l), 0);
    }

    #[test]
    fn incremental_k_anonymity_keeps_its_promise(
        snapshots in evolution(60, 4, 5, Events::ADD_ONLY), k in 2u32..5, cohorts in any::<bool>(), tight in any::<bool>(),
    ) {
        let tight = tight && !cohorts;
        publish(&IncrementalKAnonymity { k, cohorts, l: None, tight, on_delete: OnDelete::Refuse }, &snapshots);
    }

    /// With cohorts and without: no value makes up more than one in l of any group of any release.
    #[test]
    fn incremental_k_anonymity_keeps_its_guard(
        snapshots in evolution(60, 4, 5, Events::ADD_ONLY), k in 2u32..5, l in 2u32..4, cohorts in any::<bool>(), tight in any::<bool>(),
    ) {
        let tight = tight && !cohorts;
        let policy = IncrementalKAnonymity { k, cohorts, l: Some(l), tight, on_delete: OnDelete::Refuse };
        for (_, prepared) in publish(&policy, &snapshots).iter().flatten() {
            let release = &prepared.release;
            for group in 0..release.group_count() {
                let values = release.group_values(group);
                let most = values.chunk_by(|a, b| a == b).map(<[_]>::len).max().unwrap_or(0);
                prop_assert!(most * l as usize <= values.len());
            }
        }
    }

    #[test]
    fn incremental_k_anonymity_withholds_what_loses_a_member(snapshots in evolution(60, 4, 5, Events { leave: true, ..Events::ADD_ONLY }), k in 2u32..5) {
        publish(&IncrementalKAnonymity { k, cohorts: true, l: None, tight: false, on_delete: OnDelete::Withhold }, &snapshots);
    }

    #[test]
    fn k_anonymity_keeps_its_promise(snapshots in evolution(50, 4, 5, Events::ALL), k in 2u32..6, optimise in any::<bool>()) {
        for loss in [LossKind::Height, LossKind::LeafShare] {
            publish(&KAnonymity { optimise, loss, ..KAnonymity::new(k) }, &snapshots);
        }
    }
}

/// science E1-30, E1-33: every series of views that comes about keeps its promise on the join row by row.
#[test]
fn xy_anonymity_keeps_its_promise() {
    let published = views_kit::keep_their_promise(|rng| XyAnonymity {
        x: views_kit::some_x(rng),
        y: views_kit::some_y(rng, true),
        k: 2 + rng.below(2) as u32,
    });
    assert!(published > 100, "{published} second views");
}

/// The same for shares.
#[test]
fn xy_linkability_keeps_its_promise() {
    let published = views_kit::keep_their_promise(|rng| XyLinkability {
        x: views_kit::some_x(rng),
        y: views_kit::some_y(rng, false),
        max_confidence_permille: 400 + 100 * rng.below(5) as u32,
        listed: Vec::new(),
        only_listed: false,
    });
    assert!(published > 100, "{published} second views");
}

/// A policy that forgets people who are not in the last release: the paper's reading.
struct Forgetful(MInvariance);

impl Grouper for Forgetful {
    fn promise(&self) -> SeriesPromise {
        self.0.promise()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError> {
        let mut history = history.clone();
        let last = history.releases;
        history.records.retain(|record| record.last_release == last);
        self.0.group(schema, &history, table, lots)
    }
}

/// science E1-27: without permanent value sets the promise breaks, and the gate sees it.
#[test]
fn forgetting_those_who_left_is_caught_within_a_thousand_histories() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let histories = evolution(20, 4, 4, Events { fall_ill_anew: false, ..Events::ALL });
    let policy = Forgetful(m_invariance(2, OnIneligible::Defer));
    let caught = (0..1000).any(|_| {
        let snapshots = histories.new_tree(&mut runner).unwrap().current();
        matches!(publish_all(&kit::file(policy.promise()), &policy, &snapshots), Err(PublishError::Refused(_)))
    });
    assert!(caught);
}

/// Whether some classes of two releases that share people, directly or by others, have newcomers among them with
/// fewer than `l` values. Plainly: everyone begins with a class of their own and neighbours take the lower name.
fn few_new_values(before: &(Table, Prepared), after: &(Table, Prepared), l: usize) -> bool {
    let groups = |(table, prepared): &(Table, Prepared)| -> BTreeMap<_, usize> {
        let release = &prepared.release;
        let rows = (0..release.group_count()).flat_map(|group| release.group_rows(group).map(move |row| (group, row)));
        let person = |row: usize| prepared.membership.person(row).expect("nobody is counterfeit");
        rows.map(|(group, row)| (table.key(person(row)), group)).collect()
    };
    let (old, new) = (groups(before), groups(after));
    let mut names: BTreeMap<_, usize> = new.keys().copied().zip(0..).collect();
    loop {
        let was = names.clone();
        for (a, group) in &new {
            for (b, other) in &new {
                let both_old = old.get(a).is_some_and(|group| old.get(b) == Some(group));
                if group == other || both_old {
                    let name = names[a].min(names[b]);
                    names.insert(*a, name);
                    names.insert(*b, name);
                }
            }
        }
        if was == names {
            break;
        }
    }
    let value = |key| after.0.sensitive()[after.0.find(key).expect("they are in the table").index()];
    let mut values: BTreeMap<usize, BTreeSet<_>> = BTreeMap::new();
    for (key, name) in names.iter().filter(|(key, _)| !old.contains_key(key)) {
        values.entry(*name).or_default().insert(value(*key));
    }
    values.values().any(|values| values.len() < l)
}

/// How many people the candidate attack leaves with fewer than m values.
fn below_m(done: &[(Table, Prepared)], m: u32) -> usize {
    let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
    let published: Vec<(&Table, &Membership)> =
        done.iter().map(|(table, prepared)| (table, &prepared.membership)).collect();
    let knowledge = Knowledge::from_published(published);
    let candidates = candidates::attack(&releases, &knowledge);
    // Somebody who was always withheld is in no release: nothing is known about them.
    let is_seen = |person: u32| (0..releases.len()).any(|release| knowledge.point(release, person).is_some());
    (0..knowledge.len() as u32).filter(|&person| is_seen(person) && candidates.size(person) < m).count()
}

/// How many people of the last of these releases have fewer than l values in all worlds that fit them.
fn below_in_all_worlds(done: &[(Table, Prepared)], l: u32) -> u64 {
    let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
    let people = everyone(done);
    let known: Vec<worlds::Person> =
        people.values().map(|(points, _)| worlds::Person { points: points.clone() }).collect();
    let Ok(counted) = Worlds::count(&releases, &known, Counting::Blind, 2_000_000) else { return 0 };
    (0..known.len() as u32).filter(|&person| counted.values(person).len() < l as usize).count() as u64
}

/// Where everyone who is published in some release is in each, and their value.
type Everyone = BTreeMap<RecordKey, (Vec<Option<Vec<u32>>>, Value)>;

fn everyone(done: &[(Table, Prepared)]) -> Everyone {
    let mut people = BTreeMap::new();
    for (index, (table, prepared)) in done.iter().enumerate() {
        for row in table.rows().filter(|row| !prepared.membership.withheld.contains(row)) {
            let nowhere = || (vec![None; done.len()], table.sensitive()[row.index()]);
            let (points, _) = people.entry(table.key(row)).or_insert_with(nowhere);
            points[index] =
                Some((0..table.quasi_count()).map(|attribute| table.quasi(attribute)[row.index()]).collect());
        }
    }
    people
}

/// How many people have their true value in more than one in m of the principled worlds.
fn above_one_in_m(done: &[(Table, Prepared)], m: u32) -> usize {
    let releases: Vec<Release> = done.iter().map(|(_, prepared)| prepared.release.clone()).collect();
    let people = everyone(done);
    let known: Vec<worlds::Person> =
        people.values().map(|(points, _)| worlds::Person { points: points.clone() }).collect();
    let Ok(counted) = Worlds::count(&releases, &known, Counting::Principled, 2_000_000) else { return 0 };
    let risks = people.values().zip(0..).map(|((_, value), person)| counted.risk(person, *value));
    let is_above = |risk: &Share| risk.part.checked_mul(u128::from(m)).is_none_or(|part| part > risk.whole);
    risks.flatten().filter(is_above).count()
}
