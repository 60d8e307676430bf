//! Does the report say the right things to the right people? Every edition of a small project, and the
//! page that leaves with a release.

use crate::kit::POLICY;
use crate::kit::Project;
use crate::kit::patients;
use serde_json::Value;

/// A project with two releases: some people leave, some arrive, the seed is fixed.
fn two_releases(order: fn(&str) -> String) -> Project {
    let project = Project::with(&[("tacenda.toml", POLICY)]);
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
        let page = |project: &Project| project.read(&format!("releases/ward-stays/{release}/report.html"));
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
    assert_eq!(recipient["checks"].as_array().unwrap().len(), 19);
    let steward = report("steward");
    let churn = &steward["private"]["churn"];
    assert_eq!((&churn[0]["arrived"], &churn[1]["arrived"]), (&60.into(), &6.into()));
    assert_eq!(churn[0]["last_published"], 6, "six people left after the first release");
    assert!(steward["private"]["query_error"]["median"].is_number());
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

#[test]
fn the_file_ending_says_the_form() {
    let project = two_releases(as_it_is);
    for (file, start) in [
        ("report.html", "<!doctype html>"),
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
    let project = Project::with(&[("tacenda.toml", POLICY)]);
    let ended = project.run(&["report"]);
    assert_eq!(ended.code, 2);
    assert!(ended.stderr.contains("R208"), "{}", ended.stderr);
}
