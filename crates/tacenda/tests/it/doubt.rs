//! Whom a wrong reading would wrong: what rests on a guess is told with an if, people who fit no group make the audit doubt
//! its reading, and rows that were left out are no contradiction.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tacenda::ingest::Given;
use tacenda::report::Report;
use tacenda::use_cases::{AuditRequest, FileOptions, Said, SubjectRequest};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn subject(folder: &Path, releases: &[&str], truth: &[&str]) -> SubjectRequest {
    let given = |names: &[&str]| names.iter().map(|name| Given::Path(folder.join(name))).collect();
    SubjectRequest {
        releases: given(releases),
        truth: given(truth),
        id: (!truth.is_empty()).then(|| "id".into()),
        quasi: vec!["age".into(), "work".into()],
        sensitive: vec!["disease".into()],
        ..SubjectRequest::default()
    }
}

fn audited(subject: SubjectRequest) -> Report {
    AuditRequest { subject, ..AuditRequest::default() }.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report
}

fn verdict(report: &Report, check: &str) -> (String, String) {
    let facts = report.checks.iter().find(|facts| facts.check == check).unwrap();
    (facts.verdict.to_string(), facts.why.clone().unwrap_or_default())
}

const IF: &str = "if different labels of work have nothing in common";

/// `Gov` holds `State-gov` and `Federal-gov`, and no file says so. Two releases seem to leave one value in one place.
const LOCAL: [(&str, &str); 2] = [
    ("r1.csv", "age,work,disease\n20-29,Gov,flu\n20-29,Gov,hiv\n20-29,State-gov,flu\n20-29,State-gov,cold\n"),
    ("r2.csv", "age,work,disease\n20-29,State-gov,flu\n20-29,State-gov,hiv\n20-29,Gov,flu\n20-29,Gov,hiv\n"),
];

#[test]
fn what_rests_on_labels_without_a_hierarchy_is_told_with_an_if() {
    let folder = folder(&LOCAL);
    let guessed = audited(subject(folder.path(), &["r1.csv", "r2.csv"], &[]));
    let places: Vec<&str> = guessed
        .findings
        .iter()
        .filter(|finding| finding.code == "A733")
        .map(|finding| finding.title.as_str())
        .collect();
    assert!(!places.is_empty() && places.iter().all(|title| title.ends_with(IF)), "{places:?}");
    let ending = guessed.story.unwrap().ending();
    assert!(ending.contains(IF) && !ending.contains("certain"), "{ending}");
    let named = "In column work different texts are read as values that have nothing in common.";
    assert!(guessed.assumptions.iter().any(|assumption| assumption == named), "{:?}", guessed.assumptions);

    let options = FileOptions { notation: vec![Said::parse("work=exact")], ..FileOptions::default() };
    let said = audited(SubjectRequest { options, ..subject(folder.path(), &["r1.csv", "r2.csv"], &[]) });
    assert!(said.findings.iter().any(|finding| finding.code == "A733"));
    assert!(said.findings.iter().all(|finding| !finding.title.contains(" if ")));
    assert!(said.story.unwrap().ending().contains("it is certain"));
}

#[test]
fn with_its_hierarchy_nobody_is_accused_of_a_guess() {
    let folder = folder(&LOCAL);
    fs::create_dir(folder.path().join("trees")).unwrap();
    fs::write(folder.path().join("trees/adult_hierarchy_work.csv"), "State-gov;Gov;*\nFederal-gov;Gov;*\n").unwrap();
    let options = FileOptions { hierarchies: Some(folder.path().join("trees")), ..FileOptions::default() };
    let report = audited(SubjectRequest { options, ..subject(folder.path(), &["r1.csv", "r2.csv"], &[]) });
    assert_eq!(verdict(&report, "candidates").0, "PASS");
    let options = FileOptions { hierarchies: Some(folder.path().into()), ..FileOptions::default() };
    let request = SubjectRequest { options, ..subject(folder.path(), &["r1.csv", "r2.csv"], &[]) };
    let error = AuditRequest { subject: request, ..AuditRequest::default() }.read(&|_, _| {}).err().unwrap();
    assert_eq!(error.code(), "U201", "no file of the folder is named after a column");
}

/// The tables are of other people: two of them fit no group, and no row is missing.
#[test]
fn people_who_fit_no_group_make_the_audit_doubt_its_reading() {
    let files = [
        ("r1.csv", "age,work,disease\n20-29,a,flu\n20-29,a,flu\n30-39,a,hiv\n30-39,a,hiv\n"),
        ("t1.csv", "id,age,work,disease\n1,21,a,flu\n2,22,a,flu\n3,55,a,hiv\n4,56,a,hiv\n"),
    ];
    let folder = folder(&files);
    let report = audited(subject(folder.path(), &["r1.csv"], &["t1.csv"]));
    for check in ["candidates", "posterior", "equivalence"] {
        let (word, why) = verdict(&report, check);
        assert!(word == "NOT ASSESSED" && why.contains("misread"), "{check}: {word} {why}");
    }
    assert!(report.story.is_none());
    assert!(report.findings.iter().all(|finding| finding.check != "candidates"));
    let said = report.assumptions.iter().find(|said| said.contains("fit no group")).unwrap();
    assert!(said.contains("In release 1 2 people") && said.contains("age alone shuts out 2 of 2"), "{said}");
}

/// The tool left the small groups out, and a value changed: both are ordinary, and who came is found all the same.
#[test]
fn rows_that_were_left_out_are_no_contradiction() {
    let files = [
        ("r1.csv", "age,work,disease\n20-29,a,flu\n20-29,a,hiv\n30-39,a,flu\n30-39,a,cold\n"),
        ("r2.csv", "age,work,disease\n20-29,a,flu\n20-29,a,hiv\n20-29,a,gout\n30-39,a,mumps\n30-39,a,cold\n"),
        ("t1.csv", "id,age,work,disease\n1,21,a,flu\n2,22,a,hiv\n3,31,a,flu\n4,32,a,cold\n5,71,a,flu\n"),
        ("t2.csv", "id,age,work,disease\n1,21,a,flu\n2,22,a,hiv\n3,31,a,mumps\n4,32,a,cold\n5,71,a,flu\n6,23,a,gout\n"),
    ];
    let folder = folder(&files);
    let report = audited(subject(folder.path(), &["r1.csv", "r2.csv"], &["t1.csv", "t2.csv"]));
    for check in ["difference", "candidates", "equivalence"] {
        let (word, why) = verdict(&report, check);
        assert!(word != "NOT ASSESSED", "{check}: {why}");
    }
    assert!(report.findings.iter().any(|finding| finding.code == "A721"), "the arrival's value follows");
    let said = "Release 1 has no row for 1 person of the private table: no group covers them.";
    assert!(report.assumptions.iter().any(|other| other == said), "{:?}", report.assumptions);
}

#[test]
fn a_folder_is_read_in_the_order_of_the_dates_in_its_names() {
    let folder = folder(&[
        ("w-2026-Q2.csv", "age,work,disease\n20-29,a,flu\n20-29,a,gout\n"),
        ("w-2025-Q4.csv", "age,work,disease\n20-29,a,flu\n20-29,a,hiv\n"),
        ("notes.md", "not a release"),
    ]);
    let labels = |releases: Vec<Given>| {
        let request = SubjectRequest { releases, ..subject(folder.path(), &[], &[]) };
        audited(request).releases.iter().map(|release| release.label.clone()).collect::<Vec<String>>()
    };
    assert_eq!(labels(vec![Given::Path(folder.path().into())]), ["w-2025-Q4", "w-2026-Q2"]);
    assert_eq!(labels(vec![Given::Path(folder.path().join("w-*.csv"))]), ["w-2025-Q4", "w-2026-Q2"]);
}

/// A project file of ARX, as its source writes it: the hierarchies that made the output count, and those of the input where
/// there are none.
#[test]
fn hierarchies_are_taken_out_of_a_project_file_of_arx() {
    let folder = folder(&LOCAL);
    let project = |name: &str, members: &[(&str, &str)]| -> PathBuf {
        let path = folder.path().join(name);
        let mut zip = ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, text) in members {
            zip.start_file(*name, SimpleFileOptions::default()).unwrap();
            zip.write_all(text.as_bytes()).unwrap();
        }
        zip.finish().unwrap();
        path
    };
    let audit = |hierarchies: PathBuf| {
        let options = FileOptions { hierarchies: Some(hierarchies), ..FileOptions::default() };
        let request = SubjectRequest { options, ..subject(folder.path(), &["r1.csv", "r2.csv"], &[]) };
        AuditRequest { subject: request, ..AuditRequest::default() }.read(&|_, _| {})
    };
    let verdict = |hierarchies: PathBuf| {
        let report = audit(hierarchies).unwrap().judge(&|_, _| {}).report;
        verdict(&report, "candidates").0
    };
    const TREE: &str = "State-gov;Gov;*\nFederal-gov;Gov;*\n";
    // Labels that have nothing in common.
    const APART: &str = "State-gov;*\nGov;*\n";
    let metadata = ("metadata.xml", "<metadata><version>3.9.1</version></metadata>");
    let both = [metadata, ("input/hierarchies/work.csv", APART), ("output/hierarchies/work.csv", TREE)];
    assert_eq!(verdict(project("both.deid", &both)), "PASS");
    assert_eq!(verdict(project("input.deid", &[metadata, ("input/hierarchies/work.csv", TREE)])), "PASS");
    assert_eq!(verdict(project("apart.deid", &[metadata, ("input/hierarchies/work.csv", APART)])), "FAIL");
    for nothing in [project("none.deid", &[metadata]), folder.path().join("r1.csv"), folder.path().join("nowhere")] {
        assert_eq!(audit(nothing).err().unwrap().code(), "U201");
    }
    let damaged = project("damaged.deid", &both);
    let mut bytes = fs::read(&damaged).unwrap();
    let tree = bytes.windows(9).rposition(|part| part == b"State-gov").unwrap_or(bytes.len() / 2);
    bytes[tree..tree + 9].fill(0xff);
    fs::write(&damaged, bytes).unwrap();
    assert!(audit(damaged).is_err(), "a damaged archive is not read");
}
