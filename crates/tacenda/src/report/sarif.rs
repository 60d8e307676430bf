//! A report as SARIF 2.1.0, for code scanning in CI.
//!
//! Rules are the auditor's codes, results its findings. A result points to the first row of its witness in the
//! release's file, or to the top of the file. A check that could not be answered is a notification, so that a run
//! without results is not taken for a clean one.

use crate::audit::{Fault, Severity, VerdictWord};
use crate::report::words::list;
use crate::report::{FindingFacts, ReleaseFacts, Report};
use serde_json::{Value as Json, json};

/// As many results as GitHub accepts in one run.
const MOST_RESULTS: usize = 25_000;

/// The report as SARIF.
pub fn sarif(report: &Report) -> String {
    let rules: Vec<Json> = Fault::ALL
        .iter()
        .zip(Fault::PAGES)
        .map(|(fault, (code, title, meaning))| {
            json!({
                "id": code,
                "name": format!("{fault:?}"),
                "shortDescription": { "text": title },
                "fullDescription": { "text": meaning },
                "help": { "text": meaning },
                "defaultConfiguration": { "level": level(fault.severity()) },
                "properties": {
                    "tags": ["privacy"],
                    "security-severity": security_severity(fault.severity()),
                },
            })
        })
        .collect();
    let results: Vec<Json> = report.findings.iter().take(MOST_RESULTS).map(|finding| result(report, finding)).collect();
    let open = report.checks.iter().filter(|check| check.verdict == VerdictWord::NotAssessed).map(|check| {
        let why = check.why.as_deref().unwrap_or("no reason is known");
        json!({
            "level": "warning",
            "message": { "text": format!("NOT ASSESSED {}: {} {why}", check.check, check.question) },
        })
    });
    let left_off = report.findings.len().saturating_sub(MOST_RESULTS);
    let too_many = (left_off > 0).then(|| {
        json!({ "level": "warning", "message": { "text": format!("{left_off} further findings are in the JSON report") } })
    });
    let artifacts: Vec<Json> = report
        .releases
        .iter()
        .flat_map(|release| release.files.iter().map(move |file| (release, file)))
        .map(|(release, file)| {
            json!({
                "location": { "uri": uri(&beside(release, &file.name)) },
                "length": file.bytes,
                "hashes": { "sha-256": file.sha256 },
            })
        })
        .collect();
    let sarif = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "tacenda",
                "semanticVersion": report.provenance.software.rsplit(' ').next().unwrap_or_default(),
                "rules": rules,
            } },
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": open.chain(too_many).collect::<Vec<_>>(),
            }],
            "artifacts": artifacts,
            "results": results,
            "properties": {
                "decision": report.verdict.decision.words(),
                "verdict": report.verdict.sentence,
            },
        }],
    });
    let mut text = serde_json::to_string_pretty(&sarif).expect("names and numbers are JSON");
    text.push('\n');
    text
}

fn result(report: &Report, finding: &FindingFacts) -> Json {
    let releases = finding.releases();
    let word = if releases.len() == 1 { "release" } else { "releases" };
    let mut message = format!("{}: {}, {word} {}.", finding.title, finding.people_in_words(), list(&releases));
    let mut places = String::new();
    if let Some(witness) = &finding.witness {
        message.push_str(&format!(" {}", witness.claim));
        for group in &witness.groups {
            places.push_str(&format!("/{}:{}", group.release, group.group));
        }
    }
    let mut locations: Vec<Json> = Vec::new();
    for &number in std::iter::once(&finding.release).chain(&finding.others) {
        let witness = finding.witness.as_ref();
        let groups = witness.map_or(&[][..], |witness| &witness.groups[..]);
        let row = groups.iter().find(|group| group.release == number).and_then(|group| group.rows.first());
        // Below the heading, the first row is on line 2.
        locations.push(location(report, number, row.map_or(1, |row| row + 1)));
    }
    let rule = Fault::PAGES.iter().position(|page| page.0 == finding.code);
    let same = format!("{}/{}/{:?}{places}", finding.code, finding.release, finding.others);
    json!({
        "ruleId": finding.code,
        "ruleIndex": rule,
        "level": level(finding.severity),
        "message": { "text": message },
        "locations": [locations[0]],
        "relatedLocations": locations[1..],
        "partialFingerprints": { "tacendaFinding/v1": blake3::hash(same.as_bytes()).to_hex()[..32] },
        "properties": { "number": finding.number, "check": finding.check, "people": finding.people, "groups": finding.groups },
    })
}

fn location(report: &Report, number: u32, line: u32) -> Json {
    let release = report.releases.iter().find(|release| release.number == number);
    let first = |release: &ReleaseFacts| release.files.first().map(|file| file.name.clone());
    let file = release.and_then(|release| release.data.clone().or_else(|| first(release))).map(|path| uri(&path));
    let file = file.unwrap_or_else(|| uri(&format!("{}-r{number:04}", report.series.name)));
    json!({ "physicalLocation": { "artifactLocation": { "uri": file }, "region": { "startLine": line } } })
}

/// The path of a file beside a release's data.
fn beside(release: &ReleaseFacts, name: &str) -> String {
    match release.data.as_ref().and_then(|data| data.rsplit_once(['/', '\\'])) {
        Some((folder, _)) => format!("{folder}/{name}"),
        None => name.to_string(),
    }
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Severe => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    }
}

fn security_severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Severe => "8.0",
        Severity::Warning => "5.0",
        Severity::Note => "2.0",
    }
}

/// A path as a URI: a relative one, or a `file:` URI for an absolute path.
fn uri(path: &str) -> String {
    let mut uri = String::from(if path.starts_with('/') { "file://" } else { "" });
    for byte in path.trim_start_matches("./").bytes() {
        match byte {
            // As Windows writes it.
            b'\\' => uri.push('/'),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b'/' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Edition;
    use crate::report::samples::broken;

    #[test]
    fn it_has_what_code_scanning_needs() {
        let json: Json = serde_json::from_str(&sarif(&broken().report(Edition::Auditor))).unwrap();
        assert_eq!(json["version"], "2.1.0");
        let run = &json["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        assert_eq!(rules.len(), Fault::ALL.len());
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), 2);
        for result in results {
            let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
            assert_eq!(rule["id"], result["ruleId"]);
            assert_eq!(result["level"], "error");
            assert!(!result["message"]["text"].as_str().unwrap().is_empty());
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            assert!(uri == "out/r1.csv" || uri == "out/r2.csv", "{uri}");
            assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
            assert_eq!(result["partialFingerprints"]["tacendaFinding/v1"].as_str().unwrap().len(), 32);
        }
        assert_eq!(results[1]["locations"][0]["physicalLocation"]["region"]["startLine"], 2);
        assert_eq!(run["artifacts"][0]["location"]["uri"], "out/r1.csv");
        assert_eq!(results[1]["relatedLocations"].as_array().unwrap().len(), 1);
        let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
        assert!(notes[0]["message"]["text"].as_str().unwrap().contains("NOT ASSESSED posterior"));
    }

    #[test]
    fn a_file_name_is_a_uri() {
        assert_eq!(uri("a b/c\"é.csv"), "a%20b/c%22%C3%A9.csv");
        assert_eq!((uri("./a/b.csv"), uri("/a/b.csv")), ("a/b.csv".into(), "file:///a/b.csv".into()));
    }
}
