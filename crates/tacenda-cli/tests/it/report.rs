//! Does the report say the right things to the right people? Every edition of a small project, and the
//! page that leaves with a release.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;

/// A project with two releases: some people leave, some arrive, the seed is fixed.
fn two_releases(order: fn(&str) -> String) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.fix_seed();
    project.write("1.csv", &order(&patients(0, 60)));
    project.write("2.csv", &order(&patients(6, 60)));
    project.ok(&["publish", "1.csv", "--yes", "--label", "2026-Q1"]);
    project.ok(&["publish", "2.csv", "--yes", "--label", "2026-Q2"]);
    project
}

fn as_it_is(table: &str) -> String {
    table.to_string()
}

fn reversed(table: &str) -> String {
    let mut lines: Vec<&str> = table.lines().collect();
    lines[1..].reverse();
    lines.join("\n") + "\n"
}

#[test]
fn the_page_in_a_release_folder_depends_on_the_release_alone() {
    let (one, other) = (two_releases(as_it_is), two_releases(reversed));
    for release in ["r0001", "r0002"] {
        let page = |project: &TestProject| project.read(&format!("releases/ward-stays/{release}/report.html"));
        assert!(page(&one) == page(&other), "the order of the input shows in {release}");
        let sums = one.read(&format!("releases/ward-stays/{release}/SHA256SUMS"));
        assert!(sums.contains("  report.html\n"));
        let manifest = one.read(&format!("releases/ward-stays/{release}/manifest.json"));
        assert!(manifest.contains("\"report.html\""));
    }
    let page = one.read("releases/ward-stays/r0002/report.html");
    for word in ["ithheld", "Arrived", "patient_id", "full_name", "Seed", "Signature", "count queries"] {
        assert!(!page.contains(word), "{word} is not for recipients");
    }
    for word in ["Inpatient stays", "2026-Q2", "probability at most 1/2", "Singling out", "singling out"] {
        assert!(page.to_lowercase().contains(&word.to_lowercase()), "{word} is missing");
    }
}

#[test]
fn every_edition_says_what_it_may() {
    let project = two_releases(as_it_is);
    let report = |edition: &str| -> Value {
        let words = ["report", "--edition", edition, "--format", "json"];
        serde_json::from_str(&project.ok(&words)).unwrap()
    };
    let recipient = report("recipient");
    assert!(recipient["private"].is_null() && recipient["story"].is_null());
    assert!(recipient["provenance"]["seed_commitment"].is_null() && recipient["provenance"]["made_at"].is_null());
    assert_eq!(recipient["releases"].as_array().unwrap().len(), 2);
    assert_eq!(recipient["checks"].as_array().unwrap().len(), 23);
    let steward = report("steward");
    let churn = &steward["private"]["churn"];
    assert_eq!((&churn[0]["arrived"], &churn[1]["arrived"]), (&60.into(), &6.into()));
    assert_eq!(churn[0]["last_published"], 6, "six people left after the first release");
    let truth = steward["private"]["truth"].as_array().unwrap();
    assert_eq!((truth.len(), &truth[0]["release"]), (1, &2.into()), "the vault keeps the last table");
    assert!(truth[0]["query_error"]["median"].is_number() && truth[0]["before"]["unique"].is_number());
    let (people, published) = (truth[0]["people"].as_u64(), steward["releases"][1]["people"].as_u64());
    assert_eq!(truth[0]["withheld"].as_u64(), Some(people.unwrap() - published.unwrap()));
    assert!(steward["checks"][0]["measures"].as_array().unwrap().is_empty());
    assert_eq!(steward["signing"].as_array().unwrap().len(), 3);
    let auditor = report("auditor");
    assert!(auditor["private"].is_null() && auditor["signing"].as_array().unwrap().is_empty());
    assert!(!auditor["checks"][0]["measures"].as_array().unwrap().is_empty());
    assert!(auditor["provenance"]["limits"]["steps"].is_number());
    assert!(auditor["reproduce"].as_array().unwrap().len() > 3 && !auditor["governance"].is_null());
    let names: Vec<&str> = steward["series"]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["patient_id", "age", "sex", "diagnosis", "full_name"]);
    let sha = steward["releases"][0]["files"][0]["sha256"].as_str().unwrap();
    assert!(
        project.read("releases/ward-stays/r0001/SHA256SUMS").contains(sha),
        "the register has the published digests"
    );
    assert_eq!(steward["releases"], report("auditor")["releases"]);
}

/// Nobody is certain under the promise: the story is of who stands closest to the line.
#[test]
fn with_the_private_tables_a_person_is_attacked_step_by_step() {
    let project = two_releases(as_it_is);
    for edition in ["steward", "auditor"] {
        let without = ["report", "--edition", edition, "--format", "json"];
        let report: Value = serde_json::from_str(&project.ok(&without)).unwrap();
        assert!(report["story"].is_null(), "one table of two tells no story");
        let text = project.ok(&[&without[..], &["--truth", "1.csv", "2.csv", "--budget", "1000"]].concat());
        let report: Value = serde_json::from_str(&text).unwrap();
        let story = &report["story"];
        assert_eq!(story["steps"].as_array().unwrap().len(), 2);
        assert!(story["left"].as_u64().unwrap() >= 2, "nobody is certain");
        assert_eq!(story["known"][0][1], Value::Null, "what is known of a person is not written down");
        for name in ["flu", "gastritis", "dyspepsia", "bronchitis", "asthma", "migraine"] {
            assert!(!text.contains(name), "values are coded");
        }
        let sequence = &report["sequence"];
        assert!(sequence["smallest_candidates"].as_u64().unwrap() >= 2);
        // Too many hang together here to count all worlds of anyone.
        assert!(sequence["largest_posterior"].is_null() && sequence["posterior_of"][0] == 0);
        assert!(sequence["not_computed"].to_string().contains("not counted for any of"), "{sequence}");
        let inference = report["three_questions"][2]["evidence"].to_string();
        assert!(inference.contains("the fewest values that remain possible for a person are"), "{inference}");
        let withheld = report["private"]["truth"].as_array().map(Vec::len);
        assert_eq!(withheld, (edition == "steward").then_some(2), "an auditor has no vault");
        let page = project.ok(&["report", "--edition", edition, "--truth", "1.csv", "2.csv"]);
        assert!(page.contains("Who is closest to a threshold, step by step"), "{page}");
    }
    project.fails(&["report", "--truth", "1.csv"], 2, "R209");
    project.fails(&["report", "--edition", "recipient", "--truth", "1.csv", "2.csv"], 2, "U201");
}

/// A report judges what is promised: without cohorts, to whoever does not know when anyone came. So does an audit, until
/// somebody names another attacker.
#[test]
fn a_report_is_about_the_attacker_of_the_promise() {
    let policy = POLICY
        .replace("model = \"m-invariance\"\nm     = 2", "model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false");
    let project = TestProject::with(&[("tacenda.toml", &policy)]);
    for (file, people) in [("1.csv", 60), ("2.csv", 61)] {
        project.write(file, &patients(0, people));
        project.ok(&["publish", file, "--yes"]);
    }
    let report = ["report", "--edition", "steward", "--format", "json", "--truth", "1.csv", "2.csv"];
    let report: Value = serde_json::from_str(&project.ok(&report)).unwrap();
    assert_eq!(report["verdict"]["decision"], "PASS WITH NAMED ASSUMPTION");
    let run = project.run(&["audit", "--truth", "1.csv", "2.csv"]);
    assert_eq!(run.code, 0, "{}", run.stdout);
    assert!(run.stdout.contains("--attacker quasi,presence"), "what is not judged is named: {}", run.stdout);
    let run = project.run(&["audit", "--truth", "1.csv", "2.csv", "--attacker", "quasi,presence"]);
    assert!(run.code == 1 && run.stdout.contains("A723"), "who knows who is new learns more");
}

#[test]
fn the_file_ending_says_the_form() {
    let project = two_releases(as_it_is);
    for (file, start) in [
        ("report.html", "<!DOCTYPE html>"),
        ("report.md", "# Inpatient stays"),
        ("report.json", "{"),
        ("report.sarif", "{"),
        ("report.xml", "<?xml"),
    ] {
        project.ok(&["report", "-o", file]);
        assert!(project.read(file).starts_with(start), "{file}");
    }
    assert!(project.ok(&["report"]).contains("Each release alone"));
    assert!(project.read("report.html").contains("Signatures"));
}

#[test]
fn without_a_release_there_is_nothing_to_report() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    let ended = project.run(&["report"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("R208"), "{}", ended.stderr);
}

/// The vault has the last table only. Before anybody signs, the steward is told to give all of them, and then no question about
/// people is left.
#[test]
fn the_steward_is_told_to_give_all_tables_before_anybody_signs() {
    let project = two_releases(as_it_is);
    let told = project.ok(&["report"]);
    assert!(told.contains("Before anybody signs, give all private tables: tacenda report --truth FILE"), "{told}");
    let done = project.ok(&["report", "--truth", "1.csv", "2.csv"]);
    assert!(!done.contains("Before anybody signs") && !done.contains("private tables were not"), "{done}");
    assert!(!project.ok(&["report", "--edition", "auditor"]).contains("Before anybody signs"));
}
