//! The attacks on the running example of paper 003 and on made-up hospitals.

use tacenda::audit::candidates::{Candidates, attack};
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::refine::{RefineLimits, refine};
use tacenda::audit::story::tell;
use tacenda::audit::worlds::{Counting, Person, Worlds};
use tacenda::made_up::naive::{Diversity, Naive};
use tacenda::made_up::{hospital, paper003};
use tacenda::model::{Release, Table};

fn people(knowledge: &Knowledge<'_>) -> Vec<Person> {
    let points = |person| (0..knowledge.releases()).map(|release| knowledge.point(release, person)).collect();
    (0..knowledge.len() as u32).map(|person| Person { points: points(person) }).collect()
}

fn paper(second: Release) -> ([Table; 2], [Release; 2]) {
    ([paper003::table_1a(), paper003::table_2a()], [paper003::release_1b().0, second])
}

/// The people of the paper whose risk is not 1/2, with it.
fn risks(tables: &[Table; 2], worlds: &Worlds) -> Vec<String> {
    let knowledge = Knowledge::from_tables(tables);
    let mut risks = Vec::new();
    for person in 0..knowledge.len() as u32 {
        let key = knowledge.key(person);
        let truth = tables.iter().find_map(|table| table.find(key).map(|row| table.sensitive()[row.index()])).unwrap();
        let risk = worlds.risk(person, truth).unwrap();
        if !risk.is(1, 2) {
            let whole = risk.whole / risk.part;
            assert_eq!(risk.part * whole, risk.whole);
            risks.push(format!("{} 1/{whole}", paper003::name(key)));
        }
    }
    risks
}

/// science G11, first half.
#[test]
fn two_naive_releases_of_the_paper_betray_four_people() {
    let (tables, releases) = paper(paper003::release_2b().0);
    let knowledge = Knowledge::from_tables(&tables);
    let worlds = Worlds::count(&releases, &people(&knowledge), Counting::Blind, 1_000_000).unwrap();
    assert_eq!(worlds.count, 48);
    let certain: Vec<String> = risks(&tables, &worlds).into_iter().filter(|risk| risk.ends_with(" 1/1")).collect();
    assert_eq!(certain, ["Alice 1/1", "Andy 1/1", "Bob 1/1", "David 1/1"]);
    // The scalable attack proves it too.
    let bob = knowledge.person(paper003::key("Bob")).unwrap();
    let mut candidates = attack(&releases, &knowledge);
    assert_eq!(candidates.values(bob), [paper003::value("dyspepsia")]);
    refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
    let certain: Vec<String> = candidates.certain().map(|person| paper003::name(knowledge.key(person))).collect();
    assert_eq!(certain, ["Alice", "Andy", "Bob", "David"]);
}

/// science G11, second half, and science G14.
#[test]
fn counterfeits_keep_everyone_of_the_paper_at_a_half() {
    let (tables, releases) = paper(paper003::release_3a().0);
    let knowledge = Knowledge::from_tables(&tables);
    let worlds = Worlds::count(&releases, &people(&knowledge), Counting::Principled, 1_000_000).unwrap();
    assert_eq!(worlds.count, 192);
    assert_eq!(risks(&tables, &worlds), ["Jane 1/3", "Ken 1/3", "Linda 1/3"]);
    let name = |person| paper003::name(knowledge.key(person));
    let equal: Vec<String> = worlds.always_equal.iter().map(|&(a, b)| format!("{} {}", name(a), name(b))).collect();
    assert_eq!(equal, ["Andy Emily", "Helen Mary", "Paul Ray"]);
    let mut candidates = attack(&releases, &knowledge);
    refine(&mut candidates, &releases, &knowledge, RefineLimits::default());
    assert_eq!(candidates.below(2), 0);
}

#[test]
fn bobs_story_is_told_step_by_step() {
    let (tables, releases) = paper(paper003::release_2b().0);
    let knowledge = Knowledge::from_tables(&tables);
    let candidates = attack(&releases, &knowledge);
    let bob = knowledge.person(paper003::key("Bob")).unwrap();
    assert_eq!(candidates.example(&knowledge), Some(bob));
    let story = tell(&paper003::schema(), &releases, &knowledge, bob);
    let steps: Vec<_> = story
        .steps
        .iter()
        .map(|step| {
            let texts = step.left.iter().map(|&value| &*releases[0].values.cells(value)[0]).collect::<Vec<_>>();
            (step.release, step.groups[0].group, step.groups[0].region.join(" "), texts.join(" "))
        })
        .collect();
    assert_eq!(
        steps,
        [
            (1, 0, "[21,23) [12000,14001)".into(), "bronchitis dyspepsia".into()),
            (2, 0, "[21,24) [12000,25001)".into(), "dyspepsia".into()),
        ]
    );
    assert_eq!(format!("{story:?}"), "Story(2 steps, 1 values left)");
}

/// Each release 4-diverse on its own, and together they betray people.
#[test]
fn a_naive_hospital_betrays_its_patients() {
    let generated = hospital::snapshots(2_000, 3, 7);
    let tables: Vec<Table> = generated.tables().collect();
    let naive = Naive { k: 4, l: 4, diversity: Diversity::Frequency };
    let releases: Vec<Release> = tables
        .iter()
        .zip(1..)
        .map(|(table, number)| naive.publish(generated.schema(), table, number, &hospital::label(number)).unwrap().0)
        .collect();
    let knowledge = Knowledge::from_tables(&tables);
    let alone = attack(&releases[..1], &Knowledge::from_tables(&tables[..1]));
    assert_eq!(alone.below(4), 0);
    let candidates = attack(&releases, &knowledge);
    let judgement = candidates.judge(&knowledge);
    assert!(judgement.certain_right > 50, "{judgement:?}");
    // Only people whose diagnosis changed mislead the attacker.
    assert!(judgement.misled < 40, "{judgement:?}");
    stories_agree(generated.schema(), &releases, &knowledge, &candidates);
    let mut refined = candidates.clone();
    let outcome = refine(&mut refined, &releases, &knowledge, RefineLimits::default());
    assert!(outcome.removed > 0 && refined.below(4) >= candidates.below(4), "{outcome:?}");
}

/// The story asks every group in turn; the attack asks an index.
fn stories_agree(
    schema: &tacenda::model::Schema,
    releases: &[Release],
    knowledge: &Knowledge<'_>,
    candidates: &Candidates,
) {
    for person in (0..knowledge.len() as u32).step_by(17) {
        let story = tell(schema, releases, knowledge, person);
        assert_eq!(story.left(), candidates.values(person));
        assert_eq!(story.steps.iter().any(|step| step.restarted), candidates.is_inconsistent(person));
    }
}
