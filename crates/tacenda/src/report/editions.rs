//! The editions differ exactly as docs/formats.md says; the test is the table.

use crate::report::samples::{broken, clean, private};
use crate::report::{Edition, Report, html, markdown, text};
use serde_json::Value as Json;
use std::collections::BTreeSet;

fn json(report: &Report) -> Json {
    serde_json::to_value(report).unwrap()
}

/// Where two JSON values differ; places in lists are not distinguished.
fn differences(one: &Json, other: &Json, path: &str, found: &mut BTreeSet<String>) {
    match (one, other) {
        (Json::Object(one), Json::Object(other)) => {
            for (key, value) in one {
                differences(value, &other[key], &format!("{path}.{key}"), found);
            }
        }
        (Json::Array(one), Json::Array(other)) if one.len() == other.len() => {
            one.iter().zip(other).for_each(|(one, other)| differences(one, other, path, found));
        }
        _ if one == other => (),
        _ => {
            found.insert(path.trim_start_matches('.').to_string());
        }
    }
}

fn between(one: Edition, other: Edition) -> Vec<String> {
    let mut found = BTreeSet::new();
    differences(&json(&broken().report(one)), &json(&broken().report(other)), "", &mut found);
    found.into_iter().collect()
}

#[test]
fn the_editions_differ_exactly_as_documented() {
    assert_eq!(
        between(Edition::Recipient, Edition::Steward),
        [
            "edition",
            "governance",
            "identifying",
            "next_steps",
            "private",
            "provenance.seed_commitment",
            "series.columns",
            "signing",
            "story",
        ]
    );
    assert_eq!(
        between(Edition::Steward, Edition::Auditor),
        [
            "checks.measures",
            "edition",
            "findings.witness",
            "identifying",
            "private",
            "provenance.limits",
            "reproduce",
            "signing",
        ]
    );
    assert_eq!(
        between(Edition::Recipient, Edition::Auditor),
        [
            "checks.measures",
            "edition",
            "findings.witness",
            "governance",
            "next_steps",
            "provenance.limits",
            "provenance.seed_commitment",
            "reproduce",
            "series.columns",
            "story",
        ]
    );
}

/// Every number of the sample's private part occurs nowhere else.
const PRIVATE: [&str; 8] = ["40,417", "40,427", "40,471", "40,483", "40,519", "86.4 %", "14.2 %", "27.2 %"];

#[test]
fn an_auditor_without_the_vault_reads_no_private_number_in_any_form() {
    let report = broken().report(Edition::Auditor);
    assert!(report.private.is_none());
    let plain = text(&report, Default::default());
    for page in [html(&report), markdown(&report), plain, json(&report).to_string()] {
        for number in PRIVATE {
            assert!(!page.contains(number) && !page.contains(&number.replace(',', "")), "{number}");
        }
        assert!(!page.to_lowercase().contains("withheld"), "an auditor hears nothing of withheld rows");
    }
}

#[test]
fn who_brought_the_tables_reads_what_they_say() {
    let mut sample = broken();
    sample.has_truth = true;
    let report = sample.report(Edition::Auditor);
    assert_eq!(report.private, Some(private()));
    let page = html(&report);
    assert!(page.contains("40,471") && page.contains("40,483"), "withheld rows of every release");
    assert!(page.contains("13.1 %") && page.contains("14.2 %"), "the error of counts of every release");
    assert!(!page.contains("Not measured"));
}

#[test]
fn every_form_of_the_stewards_has_what_is_signed() {
    let report = broken().report(Edition::Steward);
    assert_eq!(report.signing.len(), 3);
    let very_small = |report: &Report| json(report)["signing"][1].to_string().contains("very small");
    assert!(!very_small(&report) && very_small(&clean().report(Edition::Steward)), "nobody signs against a finding");
    for page in [html(&report), markdown(&report), text(&report, Default::default())] {
        // Lines are broken where they are too long.
        let page = page.split_whitespace().collect::<Vec<&str>>().join(" ");
        for signature in &report.signing {
            assert!(page.contains(&signature.role), "{}", signature.role);
        }
        assert!(page.contains("are all that was published under this name"), "{page}");
        assert!(page.contains("40,483 people of 40,507 withheld"), "the cost of the last release is named");
        for number in PRIVATE {
            assert!(page.contains(number), "{number}");
        }
        assert!(page.to_lowercase().contains("fewest alike"), "what makes a column identifying");
    }
}

#[test]
fn every_form_of_the_auditors_says_how_to_repeat_it_and_proves_what_it_found() {
    let report = broken().report(Edition::Auditor);
    let command = "tacenda audit r1.csv r2.csv --format json";
    for page in [html(&report), markdown(&report), text(&report, Default::default())] {
        // Lines are broken where they are too long.
        let page = page.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(page.contains(command), "{page}");
        assert!(
            page.contains(
                "group 1 of release 1 and group 1 of release 2 leave 1 value (D1): fewer than 2, the threshold l."
            ),
            "{page}"
        );
        assert!(page.contains("[20,25)"), "{page}");
    }
    let limits = report.provenance.limits.as_ref().unwrap();
    assert_eq!((limits.steps, limits.seed), (200_000_000, 1));
    assert!(html(&report).contains("<code>tacenda audit r1.csv r2.csv --format json</code>"), "the footer's command");
}
