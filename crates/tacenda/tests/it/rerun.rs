//! Making releases again with exchanged values: what the steward can try, and what the auditor says of it.

use crate::audit_sketch::Case;
use crate::kit::{TestPerson, file, publish_all, seed};
use tacenda::audit::{Check, Exchanged, Rerun, examine_only};
use tacenda::model::{Reader, Regions, Rng, Terms};
use tacenda::promise::{
    GroupForming, Grouper, IncrementalKAnonymity, IncrementalLDiversity, KAnonymity, MInvariance, Parameters, Promised,
    SeriesPromise, Surplus,
};
use tacenda::publish::Remaking;

/// Three snapshots: a third of the people come later; some leave where that is allowed, and some of these return.
fn snapshots(people_leave: bool) -> Vec<Vec<TestPerson>> {
    let mut rng = Rng::from_number(11);
    let mut draw = |below: u64| rng.below(below) as u32;
    let people: Vec<TestPerson> =
        (0..900).map(|id| TestPerson { id, age: draw(100), place: draw(8), disease: draw(9) as u8 }).collect();
    let is_present = |id: u32, release: u32| {
        let has_come = id < 600 + 150 * release;
        has_come && !(people_leave && id % 7 == release)
    };
    (0..3).map(|release| people.iter().filter(|one| is_present(one.id, release)).cloned().collect()).collect()
}

/// What came of a series that was made again with exchanged values.
struct Tried {
    /// Per release, how many people's groups change.
    moved: Vec<u64>,
    waiting: usize,
    counterfeits: u64,
}

fn tried<P: Grouper + Copy + Into<SeriesPromise>>(policy: P, people_leave: bool) -> Tried {
    let file = file(Promised::Series(policy.into()));
    let published = publish_all(&file, &policy, &snapshots(people_leave)).unwrap();
    let (tables, releases): (Vec<_>, Vec<_>) =
        published.iter().map(|(table, prepared)| (table, prepared.release.clone())).unzip();
    let remaking = Remaking { policy: &file, seed: &seed(), tables, releases: &releases };
    let exchanged = remaking.exchange().expect("the same releases again");
    assert!(exchanged.iter().all(|release| release.people > 500));
    let waiting = published.iter().map(|(_, prepared)| prepared.membership.withheld.len()).sum();
    let counterfeits = releases.iter().map(|release| release.counterfeit_count()).sum();
    Tried { moved: exchanged.iter().map(|release| release.moved).collect(), waiting, counterfeits }
}

/// science A3.11-b, A3.11-d.
#[test]
fn exchanged_values_change_no_group_where_the_reader_may_know_the_program() {
    let method = |m| MInvariance { reader: Reader::Method, ..MInvariance::new(m) };
    let found = tried(method(3), true);
    assert_eq!(found.moved, [0, 0, 0]);
    assert!(found.counterfeits > 0, "somebody who left has a stand-in");
    // A surplus is withheld only from sets of five and more values.
    let found = tried(MInvariance { surplus: Surplus::Withhold, ..method(5) }, true);
    assert_eq!(found.moved, [0, 0, 0]);
    assert!(found.waiting > 0);
    for groups in [GroupForming::Close, GroupForming::Dealt, GroupForming::Drawn] {
        let policy = IncrementalLDiversity { reader: Reader::Method, groups, ..IncrementalLDiversity::new(3) };
        assert_eq!(tried(policy, false).moved, [0, 0, 0], "{groups:?}");
    }
}

/// The exchange finds what it is for: with `reader = "rule"` newcomers are placed by where they are and fill gaps.
#[test]
fn exchanged_values_change_groups_of_later_releases_where_the_reader_knows_the_rule() {
    for Tried { moved, .. } in [tried(MInvariance::new(3), true), tried(IncrementalLDiversity::new(3), false)] {
        assert_eq!(moved[0], 0, "first releases are dealt by lot");
        assert!(moved[1] > 0 && moved[2] > 0, "{moved:?}");
    }
}

/// Groups of the promises about people depend on nobody's value: with any values the same groups come out.
#[test]
fn groups_of_promises_about_people_are_the_same_whatever_the_values() {
    fn groups<P: Grouper + Copy + Into<SeriesPromise>>(policy: P, snapshots: &[Vec<TestPerson>]) -> Vec<Regions> {
        let published = publish_all(&file(Promised::Series(policy.into())), &policy, snapshots).unwrap();
        published.into_iter().map(|(_, prepared)| prepared.release.regions).collect()
    }
    let snapshots = snapshots(false);
    let mut others = snapshots.clone();
    others.iter_mut().flatten().for_each(|person| person.disease = (person.id % 4) as u8);
    assert_eq!(groups(KAnonymity::new(4), &snapshots), groups(KAnonymity::new(4), &others));
    for policy in
        [IncrementalKAnonymity::new(4), IncrementalKAnonymity { cohorts: false, ..IncrementalKAnonymity::new(4) }]
    {
        assert_eq!(groups(policy, &snapshots), groups(policy, &others), "{policy:?}");
    }
}

/// Somebody who answers what a test wants.
#[derive(Debug)]
struct Answers(Option<Vec<Exchanged>>);

impl Rerun for Answers {
    fn exchange(&self) -> Option<Vec<Exchanged>> {
        self.0.clone()
    }
}

/// What the check says where so many people's groups change.
fn told(terms: Option<Terms>, rerun: Option<&Answers>) -> String {
    let mut case = Case::of(&[("1/1/a 2/2/b", "0-3/ab"), ("1/1/a 2/2/b", "0-3/ab")]);
    case.promise = terms;
    case.with_series(|series| {
        let mut series = *series;
        series.rerun = rerun.map(|rerun| rerun as &dyn Rerun);
        let asked = examine_only(&series, case.attacker, &case.lines, &case.budget, &|_| {}, &[Check::Rerun]);
        let outcome = &asked.outcomes[0];
        let found: Vec<String> =
            outcome.findings.iter().map(|found| format!("{} {}", found.fault.code(), found.people)).collect();
        let reason = outcome.verdict.reason().map(|reason| format!("{reason:?}"));
        format!("{} {} {}", outcome.verdict.word(), reason.unwrap_or_default(), found.join(" "))
    })
}

#[test]
fn only_a_promise_to_a_reader_who_knows_the_program_can_fail() {
    let method = || Some(MInvariance { reader: Reader::Method, ..MInvariance::new(2) }.terms());
    let rule = || Some(MInvariance::new(2).terms());
    let one = |moved: u64| Exchanged { people: 2, moved, groups: if moved > 0 { vec![0] } else { vec![] } };
    let same = Answers(Some(vec![one(0), one(0)]));
    let other = Answers(Some(vec![one(0), one(2)]));
    let lost = Answers(None);
    let said = [
        told(method(), Some(&same)),
        told(method(), Some(&other)),
        told(method(), Some(&lost)),
        told(method(), None),
        told(rule(), Some(&other)),
        told(rule(), Some(&lost)),
        told(None, Some(&other)),
    ];
    let said = said.map(|said| said.trim().to_string());
    assert_eq!(
        said,
        [
            "PASS",
            "FAIL  A787 2",
            "NOT ASSESSED NotMadeAgain",
            "NOT APPLICABLE SeedUnknown",
            "NOT APPLICABLE MethodNotPromised",
            "NOT APPLICABLE MethodNotPromised",
            "NOT APPLICABLE MethodNotPromised",
        ]
    );
}
