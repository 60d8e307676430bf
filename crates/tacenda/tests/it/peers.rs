//! Releases that other tools really wrote: what the standard effort finds in them.
//!
//! Uses `../shared/data` beside the repository, or the folder named by `TACENDA_DATA`; says so and skips where it is absent.
//! The numbers are those of an independent script (flow and strongly connected components, person by person).

use crate::custody::data;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use tacenda::audit::{Effort, VerdictWord};
use tacenda::ingest::Given;
use tacenda::report::Decision;
use tacenda::use_cases::{AuditAnswer, AuditRequest, FailOn, FileOptions, Said, SubjectRequest};

const QUASI: [&str; 7] = ["age", "workclass", "education-num", "marital-status", "race", "sex", "native-country"];

/// The tables behind the releases: the first people of the adult data, with the columns that were published.
fn tables(data: &Path, into: &Path) -> Vec<Given> {
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
        Given::Path(path)
    };
    [20_000, 25_000, 30_162].map(table).into()
}

fn audit(data: &Path, tool: &str, truth: Vec<Given>, effort: Effort) -> AuditAnswer {
    let release = |at: u32| Given::Path(data.join(format!("peers/{tool}_s{at}.csv.zst")));
    let tree = |column: &&str| {
        Said::parse(&format!("{column}={}", data.join(format!("adult_hierarchies/{column}.csv")).display()))
    };
    let subject = SubjectRequest {
        releases: (1..=3).map(release).collect(),
        truth,
        quasi: QUASI.map(String::from).to_vec(),
        sensitive: vec!["occupation".into()],
        id: Some("id".into()),
        options: FileOptions { hierarchy: QUASI.iter().map(tree).collect(), ..FileOptions::default() },
        ..SubjectRequest::default()
    };
    let request =
        AuditRequest { subject, l: Some(3), checks: vec!["candidates".into()], effort, ..AuditRequest::default() };
    request.read(&|_, _| ()).unwrap().judge(&|_, _| ())
}

#[test]
fn the_standard_effort_finds_what_twentyfold_limits_found() {
    let Some(data) = data() else {
        println!("skipped: no real data beside the repository");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (tool, certain, below) in [("arx_global", 7, 38), ("arx_local", 499, 1_394)] {
        let answer = audit(&data, tool, tables(&data, folder.path()), Effort::Standard);
        let people = |code: &str| {
            answer
                .report
                .findings
                .iter()
                .filter(|finding| finding.code == code)
                .map(|finding| finding.people)
                .sum::<u64>()
        };
        let check = &answer.report.checks[0];
        assert_eq!((check.looked_at, check.verdict), (30_162, VerdictWord::Fail), "{tool}");
        assert_eq!((people("A731"), people("A732")), (certain, below), "{tool}");
        assert_eq!(answer.exit_code(FailOn::Any), 1);
        assert_eq!(answer.report.verdict.decision, Decision::Fail);
    }
}
