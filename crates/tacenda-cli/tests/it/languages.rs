//! Is the page for recipients in the language that the policy file or the command asks for, and whole?

use crate::kit::{POLICY, TestProject, patients};
use std::fs;
use tacenda::model::Language;
use tacenda::report::translated;

/// Asserts that no text of the page of any release, nor of the recipients' page of the series, lacks a translation.
pub fn assert_said_in_every_language(project: &TestProject) {
    let loaded = tacenda::ingest::read_policy(&project.file("tacenda.toml")).unwrap();
    let folders = fs::read_dir(project.file(&format!("releases/{}", loaded.policy.series.name))).unwrap();
    // A release that was made elsewhere has no page.
    let pages = folders.filter_map(|folder| fs::read_to_string(folder.unwrap().path().join("report.html")).ok());
    let series = project.ok(&["report", "--edition", "recipient", "--format", "html", "-q"]);
    for page in pages.chain([series]) {
        assert!(page.contains("<html lang=\"en\">"));
        for language in [Language::German, Language::French] {
            let said = translated(&page, language);
            assert!(said.missing.is_empty(), "{} {}: {:#?}", loaded.policy.series.name, language.word(), said.missing);
        }
    }
}

fn with(language: &str) -> String {
    POLICY.replace("name    = \"ward-stays\"", &format!("name    = \"ward-stays\"\nlanguage = \"{language}\""))
}

/// Two releases, the first withdrawn before the second.
fn two_releases(policy: &str) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", policy)]);
    project.fix_seed();
    project.write("1.csv", &patients(0, 60));
    project.write("2.csv", &patients(6, 60));
    project.ok(&["publish", "1.csv", "--yes", "--label", "People"]);
    project.ok(&["retract", "1", "--because", "Ages were wrong. All of them"]);
    project
}

#[test]
fn the_pages_of_releases_are_in_the_language_of_the_policy_file() {
    let project = two_releases(&with("de"));
    // It weakens nothing, so that it may change between releases.
    project.write("tacenda.toml", &with("fr"));
    project.ok(&["publish", "2.csv", "--yes", "--label", "2026-Q2"]);
    let page = |release: u32| project.read(&format!("releases/ward-stays/r000{release}/report.html"));
    let (german, french) = (page(1), page(2));
    assert!(
        german.contains("<html lang=\"de\">") && german.contains("ordnet ein Leser einer Person ihren sensiblen Wert")
    );
    assert!(german.contains("mit einer Wahrscheinlichkeit von höchstens 1/2 richtig zu."), "the bound");
    assert!(german.contains("Verbindlich ist der Wortlaut der englischen Zusage im Manifest"));
    assert!(german.contains("translate=\"no\">People<"), "a label stays");
    assert!(french.contains("<html lang=\"fr\">") && french.contains("avec une probabilité d’au plus 1/2."));
    assert!(french.contains("\u{a0}: Ages were wrong. All of them. Ne l’utilisez pas."), "a reason stays");
    let manifest = project.read("releases/ward-stays/r0001/manifest.json");
    assert!(manifest.contains("correctly with probability at most 1/2"), "the manifest is English");
    project.ok(&["verify"]);
}

#[test]
fn the_report_takes_another_language_and_other_forms_stay_english() {
    let project = two_releases(&with("de"));
    let report = |words: &[&str]| project.ok(&[&["report", "--edition", "recipient", "-q"], words].concat());
    assert!(report(&["--format", "html"]).contains("<html lang=\"de\">"));
    assert!(report(&["--format", "html", "--language", "fr"]).contains("<html lang=\"fr\">"));
    let english = report(&["--format", "html", "--language", "en"]);
    assert!(english.contains("<html lang=\"en\">") && !english.contains("binding text"));
    for form in ["text", "json", "markdown"] {
        assert_eq!(report(&["--format", form]), report(&["--format", form, "--language", "fr"]));
        assert!(report(&["--format", form]).contains("It does not hide who is in the data."), "{form}");
    }
    for edition in ["steward", "auditor"] {
        project.fails(&["report", "--edition", edition, "--language", "de"], 2, "U201");
        assert!(project.ok(&["report", "--edition", edition, "--format", "html", "-q"]).contains("<html lang=\"en\">"));
    }
}

#[test]
fn a_language_that_nobody_translated_is_refused() {
    let project = TestProject::with(&[("tacenda.toml", &with("it")), ("1.csv", &patients(0, 60))]);
    let ended = project.fails(&["check", "1.csv"], 2, "P221");
    assert!(ended.stderr.contains("en, de, fr") || ended.stderr.contains("did you mean"), "{}", ended.stderr);
    project.write("tacenda.toml", &with("de"));
    project.ok(&["check", "1.csv"]);
}

#[test]
fn a_project_with_a_withdrawn_release_has_every_text() {
    let project = two_releases(POLICY);
    project.ok(&["publish", "2.csv", "--yes", "--label", "2026-Q2"]);
    assert_said_in_every_language(&project);
}
