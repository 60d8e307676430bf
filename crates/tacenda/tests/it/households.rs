//! People of one household: a group that only they fit, and what a reader who knows them learns. Planted breaches are found,
//! clean series are not accused.

use crate::audit_sketch::Case;
use crate::oracle_audit::Dice;
use std::collections::BTreeSet;
use std::fs;
use tacenda::audit;
use tacenda::audit::{Assessment, Check, Households, Quantity, Series};
use tacenda::ingest::Given;
use tacenda::model::RecordKey;
use tacenda::use_cases::{AuditRequest, FailOn, SubjectRequest};

/// One letter a person, by id from 1: people with the same letter live together, `.` lives alone.
fn homes(letters: &str) -> Households {
    let named = (1..).zip(letters.chars()).filter(|(_, letter)| *letter != '.');
    let named: Vec<(RecordKey, String)> =
        named.map(|(hi, letter)| (RecordKey { hi, lo: 0 }, letter.to_string())).collect();
    Households::new(named.iter().map(|(person, name)| (*person, &**name))).0
}

fn asked(case: &Case, households: &Households) -> Assessment {
    case.with_series(|series| {
        let series = Series { households: Some(households), ..*series };
        let checks = [Check::GroupSizes, Check::Candidates];
        audit::examine_only(&series, case.attacker, &case.lines, &case.budget, &|_| {}, &checks)
    })
}

fn told(case: &Case, letters: &str) -> Vec<(&'static str, u64)> {
    asked(case, &homes(letters)).findings().map(|finding| (finding.fault.code(), finding.people)).collect()
}

#[test]
fn a_group_of_one_household_is_found() {
    let people = "1/10/a 2/11/b 3/30/a 4/31/b 5/32/c";
    let case = Case::of(&[(people, "10-19/ab 30-39/abc")]);
    // The first two live together and are a group; each also gives the other away.
    assert_eq!(told(&case, "hh..."), [("A709", 2), ("A735", 2)]);
    assert_eq!(told(&case, "h.h.."), []);
    // A third person fits the group, and may be in it.
    let beside = Case::of(&[("1/10/a 2/11/b 3/15/c 4/31/a 5/32/b", "10-19/ab 15-39/abc")]);
    assert!(told(&beside, "hh...").iter().all(|found| found.0 != "A709"));
    let measures = &asked(&case, &homes("hh...")).outcomes[0].measures;
    let least = measures.iter().find(|measure| measure.quantity == Quantity::LeastHouseholds).unwrap();
    assert_eq!(least.value, 1.0);
}

#[test]
fn the_rest_of_a_household_gives_a_person_away() {
    let case = Case::of(&[("1/10/a 2/11/a 3/12/b 4/13/b", "10-19/aabb")]);
    // Known a and a leave b for the third; and b for the fourth, who lives elsewhere.
    assert_eq!(told(&case, "hhh."), [("A735", 2)]);
    assert_eq!(told(&case, "hh.."), [("A735", 2)]);
    assert_eq!(told(&case, "h.h."), []);
    // Everyone known was certain before: that is told of once.
    let certain = Case::of(&[("1/10/a 2/11/a", "10-19/aa")]);
    assert_eq!(told(&certain, "hh"), [("A709", 2), ("A731", 2)]);
}

/// Whatever is said is true in every world: all ways to give the people of one group its values are tried.
#[test]
fn what_a_household_gives_away_is_what_brute_force_gives_away() {
    let mut found = [0, 0];
    for seed in 0..400 {
        let mut dice = Dice(735_000 + seed);
        let count = 2 + dice.roll(4) as usize;
        let values: Vec<u64> = (0..count).map(|_| dice.roll(3)).collect();
        let letters: String = (0..count).map(|_| ['g', 'h', '.'][dice.roll(3) as usize]).collect();
        let letter = |value: u64| char::from(b'a' + value as u8);
        let people: Vec<String> =
            (0..count).map(|person| format!("{}/{}/{}", person + 1, 10 + person, letter(values[person]))).collect();
        let group: String = values.iter().map(|&value| letter(value)).collect();
        let case = Case::of(&[(&people.join(" "), &format!("10-19/{group}"))]);
        let home = |person: usize| letters.as_bytes()[person];
        let is_given_away = |target: usize| {
            // The other people of a household of at least two, own or not.
            let knows = |known: &Vec<usize>| {
                let left: BTreeSet<u64> =
                    (0..count).filter(|person| !known.contains(person)).map(|person| values[person]).collect();
                left.len() == 1
            };
            let of = |letter: u8| (0..count).filter(|&person| home(person) == letter).collect::<Vec<usize>>();
            let mut readers: Vec<Vec<usize>> = [b'g', b'h'].map(of).into_iter().filter(|of| of.len() > 1).collect();
            readers.iter_mut().for_each(|known| known.retain(|&person| person != target));
            values.iter().collect::<BTreeSet<_>>().len() > 1 && readers.iter().any(knows)
        };
        let expected = (0..count).filter(|&person| is_given_away(person)).count() as u64;
        let told: u64 = told(&case, &letters).iter().filter(|found| found.0 == "A735").map(|found| found.1).sum();
        assert_eq!(told, expected, "{letters} {values:?}");
        found[usize::from(told > 0)] += 1;
    }
    assert!(found.iter().all(|&count| count > 50), "{found:?}");
}

#[test]
fn households_are_read_from_the_private_tables() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        Given::Path(folder.path().join(name))
    };
    let subject = |column: &str| {
        let release = write("r.csv", "age,disease\n20-29,flu\n20-29,cold\n30-39,flu\n30-39,cold\n30-39,gout\n");
        let truth =
            write("t.csv", "id,age,disease,flat\n1,20,flu,A\n2,25,cold,A\n3,30,flu,B\n4,31,cold,B\n5,32,gout,\n");
        let subject = SubjectRequest {
            releases: vec![release],
            truth: vec![truth],
            quasi: vec!["age".into()],
            sensitive: vec!["disease".into()],
            id: Some("id".into()),
            ..SubjectRequest::default()
        };
        AuditRequest { subject, household: Some(column.into()), ..AuditRequest::default() }
    };
    let answer = subject("flat").read(&|_, _| {}).unwrap().judge(&|_, _| {});
    let codes: Vec<&str> = answer.report.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert!(codes.contains(&"A709") && codes.contains(&"A735"), "{codes:?}");
    assert_eq!(answer.exit_code(FailOn::Any), 1);
    assert!(subject("street").read(&|_, _| {}).is_err());
    let without =
        AuditRequest { subject: SubjectRequest { truth: Vec::new(), ..subject("flat").subject }, ..subject("flat") };
    assert!(without.read(&|_, _| {}).is_err());
}
