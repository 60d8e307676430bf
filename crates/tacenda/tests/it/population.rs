//! A table of the population: how many people of it fit each group, and what a reader who has it finds.

use crate::audit_sketch::Case;
use std::fs;
use tacenda::audit;
use tacenda::audit::{Assessment, Check, Population, Quantity, Series, Verdict};
use tacenda::ingest::Given;
use tacenda::use_cases::{AuditRequest, FailOn, SubjectRequest};

/// Two groups of two people each, in two releases.
fn case() -> Case {
    let people = "1/10/a 2/11/b 3/30/a 4/31/b";
    Case::of(&[(people, "10-19/ab 30-39/ab"), (people, "10-14/ab 30-39/ab")])
}

fn asked(case: &Case, points: &[u32]) -> Assessment {
    let population = Population { quasi: vec![points.to_vec()], people: points.len() as u64 };
    case.with_series(|series| {
        let series = Series { population: Some(&population), ..*series };
        audit::examine_only(&series, case.attacker, &case.lines, &case.budget, &|_| {}, &[Check::GroupSizes])
    })
}

fn measured(assessment: &Assessment, quantity: Quantity) -> Vec<f64> {
    let measures = assessment.outcomes[0].measures.iter();
    measures.filter(|measure| measure.quantity == quantity).map(|measure| measure.value).collect()
}

/// ARX's definition: everyone of the population who fits the group; the risk of a record is one over that number.
#[test]
fn journalist_risk_is_that_of_the_population_of_each_group() {
    // Of the first release four and five people fit the groups, of the second three and five.
    let everyone = [10, 11, 12, 15, 30, 31, 32, 33, 34, 60];
    let assessment = asked(&case(), &everyone);
    assert_eq!(assessment.outcomes[0].verdict, Verdict::Pass);
    assert_eq!(measured(&assessment, Quantity::LeastOfPopulation), [4.0, 3.0]);
    assert_eq!(measured(&assessment, Quantity::HighestJournalistRisk), [0.25, 0.333_333_333]);
    // Two people at one in four and two at one in five; then two at one in three and two at one in five.
    assert_eq!(measured(&assessment, Quantity::MeanJournalistRisk), [0.225, 0.266_666_667]);
}

#[test]
fn few_people_of_the_population_are_a_finding() {
    let told = |case: &Case, points: &[u32]| -> Vec<(&str, u64)> {
        asked(case, points).findings().map(|finding| (finding.fault.code(), finding.people)).collect()
    };
    let everyone = [10, 11, 12, 30, 31, 32];
    assert_eq!(told(&case(), &everyone), []);
    // k is 4: groups of two are too small, and three of the population are too few.
    let stricter = case().lines(4, 2);
    assert_eq!(told(&stricter, &everyone), [("A702", 4), ("A702", 4), ("A708", 4), ("A708", 4)]);
    let alone = Case::of(&[("1/10/a 2/30/a 3/31/b", "10-19/a 30-39/ab")]);
    assert_eq!(told(&alone, &[10, 30, 31]), [("A701", 1), ("A707", 1)]);
    // With one more person who fits, whoever is in the group is not known from the table alone.
    assert_eq!(told(&alone, &[10, 12, 30, 31]), [("A701", 1)]);
}

/// Fewer people of the population fit a group than are in it: then it is not a table of everyone, and nothing is concluded.
#[test]
fn a_population_without_the_people_of_the_release_is_doubted() {
    let verdict = asked(&case(), &[10, 11, 12, 30]).outcomes[0].verdict;
    assert!(matches!(verdict, Verdict::NotAssessed(_)), "{verdict:?}");
}

#[test]
fn a_population_is_read_from_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        Given::Path(folder.path().join(name))
    };
    let release = write("r.csv", "age,disease\n20-29,flu\n20-29,cold\n30-39,flu\n30-39,cold\n");
    // Somebody of 99 can be in no group of the release.
    let everyone = write("everyone.csv", "name,age\na,20\nb,25\nc,29\nd,30\ne,31\nf,99\n");
    let subject = SubjectRequest {
        releases: vec![release],
        quasi: vec!["age".into()],
        sensitive: vec!["disease".into()],
        ..SubjectRequest::default()
    };
    let request = AuditRequest { subject, population: Some(everyone), ..AuditRequest::default() };
    let answer = request.read(&|_, _| {}).unwrap().judge(&|_, _| {});
    let journalist = answer.report.sequence.journalist.clone().unwrap();
    assert_eq!((journalist.least, journalist.highest), (2, 0.5));
    assert!((journalist.mean - 5.0 / 12.0).abs() < 1e-9, "{}", journalist.mean);
    assert!(answer.report.sequence.not_computed.iter().all(|said| !said.contains("Journalist")));
    assert_eq!(answer.exit_code(FailOn::Found), 0);
    // A table without the column is refused.
    let subject = SubjectRequest {
        releases: vec![Given::Path(folder.path().join("r.csv"))],
        quasi: vec!["age".into()],
        sensitive: vec!["disease".into()],
        ..SubjectRequest::default()
    };
    let other = write("other.csv", "name,height\na,180\n");
    let request = AuditRequest { subject, population: Some(other), ..AuditRequest::default() };
    assert!(request.read(&|_, _| {}).is_err());
}
