//! Tests of the page.

use super::*;
use crate::report::samples::{broken, clean, private};
use crate::report::{Edition, FindingFacts, Panel};

const EDITIONS: [Edition; 3] = [Edition::Recipient, Edition::Steward, Edition::Auditor];

/// Checks that tags nest, and answers with the text outside of them.
fn text_of(page: &str) -> String {
    let body = &page[page.find("</head>").unwrap() + 7..];
    let mut open: Vec<String> = Vec::new();
    let mut text = String::new();
    for part in body.split('<').skip(1) {
        let (tag, rest) = part.split_once('>').expect("a tag ends");
        text.push_str(rest);
        text.push(' ');
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap().to_string();
        if let Some(closed) = tag.strip_prefix('/') {
            if closed != "html" {
                assert_eq!(open.pop().as_deref(), Some(closed), "in {part}");
            }
        } else if !tag.ends_with('/') && name != "br" {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
    text
}

#[test]
fn every_edition_is_a_whole_page() {
    for sample in [broken(), clean()] {
        for edition in EDITIONS {
            let page = html(&sample.report(edition));
            assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"));
            // To be looked at: pages of a broken and of a clean series.
            if let Some(folder) = std::env::var_os("TACENDA_PAGES") {
                let name = format!("{}-{}.html", sample.assessment.outcomes.len(), edition.word());
                std::fs::write(std::path::Path::new(&folder).join(name), &page).unwrap();
            }
            let text = text_of(&page);
            assert!(text.contains("Inpatient stays, quarterly"));
            assert!(text.contains("attributes a person's sensitive value correctly with probability at most 1/2."));
        }
    }
}

#[test]
fn it_loads_nothing_and_runs_nothing() {
    let page = html(&broken().report(Edition::Auditor));
    for word in
        ["http://", "https://", "<script", "<link", "<img", "<iframe", "@import", "url(", "javascript:", " onload"]
    {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("default-src 'none'"));
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
}

#[test]
fn every_plot_can_be_read_without_being_seen() {
    let page = html(&broken().report(Edition::Steward));
    let plots = page.matches("class=\"plot\"").count();
    assert!(plots >= 8, "{plots}");
    assert_eq!(page.matches("<title id=").count(), plots);
    assert_eq!(page.matches("<desc id=").count(), plots);
}

#[test]
fn hostile_labels_stay_text() {
    let mut sample = broken();
    let hostile = "\"><script>alert('1')</script><img src=x onerror=y>&\u{1b}";
    sample.releases[0].label = hostile.into();
    sample.releases[1].label = hostile.into();
    sample.about.title = hostile.into();
    sample.about.name = hostile.into();
    sample.about.contact = hostile.into();
    sample.about.notes = vec![hostile.into()];
    sample.about.software = hostile.into();
    sample.about.sources[0].files[0].name = hostile.into();
    sample.about.sources[0].at = Some(hostile.into());
    sample.schema.quasi[0].name = hostile.into();
    sample.schema.sensitive[0].name = hostile.into();
    sample.schema.identifier = hostile.into();
    for edition in EDITIONS {
        let page = html(&sample.report_with(edition, crate::report::Names::Shown));
        assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{1b}'));
        assert!(page.contains("&lt;script&gt;alert('1')"));
        text_of(&page);
    }
}

/// Puts a text in the place of every text of a report that is not one of a fixed choice.
fn overwrite(json: &mut serde_json::Value, key: &str, text: &str) {
    const CHOICES: [&str; 7] = ["edition", "decision", "verdict", "severity", "worst", "risk", "role"];
    match json {
        serde_json::Value::String(old) if !CHOICES.contains(&key) => *old = text.into(),
        // Who signs has a role in words.
        serde_json::Value::String(old) if key == "role" && old.contains(' ') => *old = text.into(),
        serde_json::Value::Array(items) => items.iter_mut().for_each(|item| overwrite(item, key, text)),
        serde_json::Value::Object(fields) => fields.iter_mut().for_each(|(key, item)| overwrite(item, key, text)),
        _ => (),
    }
}

/// Labels, names of columns, titles, values, regions, claims, notes, hashes: none of them becomes markup.
#[test]
fn no_text_of_any_edition_becomes_markup() {
    let hostile = "\"><script>alert('1')</script><img src=x onerror=y>&amp;\u{1b}' onload='z";
    for sample in [broken(), clean()] {
        for edition in EDITIONS {
            let report = sample.report(edition);
            let mut json = serde_json::to_value(&report).unwrap();
            overwrite(&mut json, "", hostile);
            let page = html(&serde_json::from_value(json).unwrap());
            assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{1b}'));
            assert!(page.contains("&quot;&gt;&lt;script&gt;alert('1')&lt;/script&gt;"));
            assert!(page.contains("&amp;amp;\u{fffd}' onload"), "an ampersand is text as well");
            // As many tags as with harmless texts: nothing closed an attribute or an element.
            let tags = |page: &str| page.matches('<').count();
            assert_eq!(tags(&page), tags(&harmless(&report)), "{edition:?}");
            text_of(&page);
        }
    }
}

/// The same page with a harmless text everywhere.
fn harmless(report: &crate::report::Report) -> String {
    let mut json = serde_json::to_value(report).unwrap();
    overwrite(&mut json, "", &"x".repeat(70));
    html(&serde_json::from_value(json).unwrap())
}

/// Numbers from the truth, and words about people who are not published, are for the steward.
#[test]
fn a_recipient_sees_nothing_private() {
    let report = broken().report(Edition::Recipient);
    let forms = [html(&report), crate::report::json(&report), crate::report::markdown(&report)];
    for page in forms {
        let page = page.to_lowercase();
        let words = [
            "withheld",
            "arrived",
            "still waiting",
            "count queries",
            "query_error\":{",
            "seed",
            "patient<",
            "signature",
        ];
        for word in words {
            assert!(!page.contains(word) || word == "seed" && page.contains("seed_commitment\": null"), "{word}");
        }
        for number in ["40,417", "40417", "40,471", "40471", "14.2 %", "0.14157", "27.2 %"] {
            assert!(!page.contains(number), "{number}");
        }
        assert!(!page.contains("step by step"), "the worked example is about a real person");
    }
    assert!(report.private.is_none() && report.story.is_none());
    assert!(report.findings.iter().all(|finding| finding.witness.is_none()));
    let steward = html(&broken().report(Edition::Steward));
    for wanted in ["40,417", "40,471", "40,483", "14.2 %", "Withheld", "Signatures", "Seed commitment", "step by step"]
    {
        assert!(steward.contains(wanted), "{wanted}");
    }
    assert_eq!(broken().report(Edition::Steward).private, Some(private()));
}

#[test]
fn the_same_report_gives_the_same_bytes() {
    assert_eq!(html(&broken().report(Edition::Auditor)), html(&broken().report(Edition::Auditor)));
}

#[test]
fn any_size_stays_under_two_megabytes() {
    let mut report = broken().report(Edition::Auditor);
    let long = "{".to_string() + &"a category with a long name,".repeat(2000) + "}";
    let mut finding: FindingFacts = report.findings.iter().find(|finding| finding.witness.is_some()).unwrap().clone();
    let witness = finding.witness.as_mut().unwrap();
    // Long enough to be cut everywhere, short enough to have ten thousand of them.
    let region = long[..600].to_string();
    witness.groups = vec![witness.groups[0].clone(); 5];
    witness.groups.iter_mut().for_each(|group| group.region = vec![region.clone()]);
    witness.values = vec![region[..100].to_string(); 30];
    report.findings = vec![finding; 10_000];
    let mut release = report.releases[0].clone();
    release.groups = 1_000_000;
    release.label = long.clone();
    release.loss.attributes = vec![release.loss.attributes[0].clone(); 100];
    release.files = vec![crate::report::FileFacts { name: region, bytes: 1, sha256: "ab".repeat(32) }; 50];
    report.releases = vec![release; 300];
    let panel = Panel { label: long.clone(), groups: 1_000_000, boxes: vec![(123, 456, 321, 654, 7); 500] };
    report.picture.as_mut().unwrap().panels = vec![panel; 12];
    report.series.columns = vec![report.series.columns[0].clone(); 1000];
    report.series.columns.iter_mut().for_each(|column| column.technique = long.clone());
    report.provenance.notes = vec![long.clone(); 100];
    let story = report.story.as_mut().unwrap();
    story.steps = vec![story.steps[0].clone(); 100];
    story.steps.iter_mut().for_each(|step| step.found = vec![long.clone(); 30]);
    let page = html(&report);
    assert!(page.len() < 2_000_000, "{}", page.len());
    text_of(&page);
}
