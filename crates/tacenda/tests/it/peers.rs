//! Releases that other tools really wrote: what the standard effort finds in them.
//!
//! Uses `../shared/data` beside the repository, or the folder named by `TACENDA_DATA`; says so and skips where it is absent.
//! The numbers are those of an independent script (flow and strongly connected components, person by person).

use crate::custody::data;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::audit::{Effort, VerdictWord};
use tacenda::ingest::Given;
use tacenda::publish::{Access, Input, NextRelease, Project};
use tacenda::report::Decision;
use tacenda::use_cases::{AuditRequest, FailOn, FileOptions, Said, SubjectRequest};

const QUASI: [&str; 7] = ["age", "workclass", "education-num", "marital-status", "race", "sex", "native-country"];

/// The tables behind the releases: the first people of the adult data, with the columns that were published.
fn tables(data: &Path, into: &Path) -> Vec<PathBuf> {
    let adult = fs::read_to_string(data.join("adult.csv")).unwrap();
    let mut lines = adult.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let wanted: Vec<&str> = ["id"].into_iter().chain(QUASI).chain(["occupation"]).collect();
    let places: Vec<usize> = wanted.iter().map(|name| names.iter().position(|other| other == name).unwrap()).collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    let table = |most: u32| {
        let mut text = wanted.join(",") + "\n";
        for row in rows.iter().filter(|row| row[places[0]].parse::<u32>().unwrap() <= most) {
            let cells: Vec<&str> = places.iter().map(|&place| row[place]).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
        let path = into.join(format!("t{most}.csv"));
        fs::write(&path, text).unwrap();
        path
    };
    [20_000, 25_000, 30_162].map(table).into()
}

/// The releases that a tool wrote, with the trees they were made with.
fn of_tool(data: &Path, tool: &str) -> SubjectRequest {
    let release = |at: u32| Given::Path(data.join(format!("peers/{tool}_s{at}.csv.zst")));
    let tree = |column: &&str| {
        Said::parse(&format!("{column}={}", data.join(format!("adult_hierarchies/{column}.csv")).display()))
    };
    SubjectRequest {
        releases: (1..=3).map(release).collect(),
        quasi: QUASI.map(String::from).to_vec(),
        sensitive: vec!["occupation".into()],
        options: FileOptions { hierarchy: QUASI.iter().map(tree).collect(), ..FileOptions::default() },
        ..SubjectRequest::default()
    }
}

/// Publishes the same tables here under k-anonymity, which protects each release alone.
fn publish(data: &Path, root: &Path, tables: &[PathBuf]) {
    fs::create_dir(root.join("trees")).unwrap();
    let column = |name: &&str| {
        fs::copy(data.join(format!("adult_hierarchies/{name}.csv")), root.join(format!("trees/{name}.csv"))).unwrap();
        format!("{name} = {{ role = 'quasi', type = 'category', hierarchy = 'trees/{name}.csv' }}\n")
    };
    let columns: String = QUASI.iter().map(column).collect();
    let policy = format!(
        "policy = 1\n[series]\nname = 'k7'\n[columns]\nid = {{ role = 'identifier' }}\n{columns}\
         occupation = {{ role = 'sensitive', type = 'category' }}\n\
         [promise]\nmodel = 'k-anonymity'\nk = 10\naccept_series_risk = 'a test'\n[output]\nformats = ['csv']\n"
    );
    fs::write(root.join("tacenda.toml"), policy).unwrap();
    for table in tables {
        let mut project = Project::open(root, None, Access::Publish).unwrap();
        let input =
            Input { table: Given::Path(table.clone()), delta: false, show_values: false, memory: None, threads: 0 };
        let material = project.material(input, &|_| {}).unwrap();
        let rehearsal = project.rehearse(&material, NextRelease::default(), &|_| {}).unwrap();
        project.publish(&material, &rehearsal, &|_| {}).unwrap();
    }
}

/// What was published in a project.
fn of_ours(root: &Path) -> SubjectRequest {
    let release = |at: u32| Given::Path(root.join(format!("releases/k7/r000{at}")));
    SubjectRequest { releases: (1..=3).map(release).collect(), ..SubjectRequest::default() }
}

/// Audits with the tables. Everyone must have been looked at. Returns how many are certain, and below l.
fn found(subject: SubjectRequest, truth: &[PathBuf], l: u32, effort: Effort) -> (u64, u64) {
    let subject =
        SubjectRequest { truth: truth.iter().cloned().map(Given::Path).collect(), id: Some("id".into()), ..subject };
    let request =
        AuditRequest { subject, l: Some(l), checks: vec!["candidates".into()], effort, ..AuditRequest::default() };
    let answer = request.read(&|_, _| ()).unwrap().judge(&|_, _| ());
    let check = &answer.report.checks[0];
    assert_eq!((check.looked_at, check.verdict), (30_162, VerdictWord::Fail));
    assert_eq!(answer.exit_code(FailOn::Any), 1);
    assert_eq!(answer.report.verdict.decision, Decision::Fail);
    let findings = &answer.report.findings;
    let people = |code: &str| findings.iter().filter(|found| found.code == code).map(|found| found.people).sum();
    (people("A731"), people("A732"))
}

#[test]
fn the_standard_effort_finds_what_twentyfold_limits_found() {
    let Some(data) = data() else {
        println!("SKIPPED: no real data beside the repository");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tables = tables(&data, folder.path());
    for (tool, wanted) in [("arx_global", (7, 38)), ("arx_local", (499, 1_394))] {
        assert_eq!(found(of_tool(&data, tool), &tables, 3, Effort::Standard), wanted, "{tool}");
    }
}

/// A series of our own. The files of the study, where 180 people were certain with twentyfold limits, are gone, and today's engine
/// groups otherwise. So fifty times the work is what to compare with.
#[test]
fn the_standard_effort_finds_in_our_own_series_what_fiftyfold_work_finds() {
    let Some(data) = data() else {
        println!("SKIPPED: no real data beside the repository");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let tables = tables(&data, folder.path());
    publish(&data, folder.path(), &tables);
    let [standard, thorough] =
        [Effort::Standard, Effort::Thorough].map(|effort| found(of_ours(folder.path()), &tables, 2, effort));
    assert!(standard == thorough && standard.0 > 24, "{standard:?} and {thorough:?}");
}
