//! A report as JUnit XML, for test reports in CI: a check is a test.
//!
//! A check that does not apply or could not be answered is skipped, with the reason. A skipped test is not a passed
//! one.

use crate::audit::VerdictWord;
use crate::report::words::list;
use crate::report::{FindingFacts, GATE, Report};
use std::fmt::Write;

/// The most findings that one failure lists.
const MOST_FINDINGS: usize = 100;

/// The report as JUnit XML.
pub fn junit(report: &Report) -> String {
    let gate: Vec<&FindingFacts> = report.findings.iter().filter(|finding| finding.check == GATE).collect();
    let tests = report.checks.len() + usize::from(!gate.is_empty());
    let count =
        |verdicts: &[VerdictWord]| report.checks.iter().filter(|check| verdicts.contains(&check.verdict)).count();
    let failures = count(&[VerdictWord::Fail]) + usize::from(!gate.is_empty());
    let skipped = count(&[VerdictWord::NotApplicable, VerdictWord::NotAssessed]);
    let name = escape(&format!("tacenda audit {}", report.series.name));
    let counts = format!("tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\"");
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites name=\"tacenda\" {counts}>");
    let _ = writeln!(out, "  <testsuite name=\"{}\" {counts}>", name.trim_end());
    let _ = writeln!(out, "    <properties>");
    let decision = report.verdict.decision.words();
    let facts =
        [("decision", decision), ("verdict", &report.verdict.sentence), ("software", &report.provenance.software)];
    for (name, value) in facts {
        let _ = writeln!(out, "      <property name=\"{name}\" value=\"{}\"/>", escape(value));
    }
    let _ = writeln!(out, "    </properties>");
    for check in &report.checks {
        let _ = write!(out, "    <testcase classname=\"tacenda.audit\" name=\"{}\"", escape(&check.check));
        let why = escape(check.why.as_deref().unwrap_or_default());
        match check.verdict {
            VerdictWord::Fail => {
                out.push_str(">\n");
                let found: Vec<&FindingFacts> =
                    report.findings.iter().filter(|finding| finding.check == check.check).collect();
                failure(&mut out, &found);
                out.push_str("    </testcase>\n");
            }
            verdict @ (VerdictWord::NotApplicable | VerdictWord::NotAssessed) => {
                let coverage = match check.of {
                    0 => String::new(),
                    of => format!(" ({} of {of} {})", check.looked_at, escape(&check.what)),
                };
                let _ = writeln!(out, ">\n      <skipped message=\"{verdict}: {why}{coverage}\"/>\n    </testcase>");
            }
            _ => out.push_str("/>\n"),
        }
    }
    if !gate.is_empty() {
        out.push_str("    <testcase classname=\"tacenda.audit\" name=\"gate\">\n");
        failure(&mut out, &gate);
        out.push_str("    </testcase>\n");
    }
    out.push_str("  </testsuite>\n</testsuites>\n");
    out
}

fn failure(out: &mut String, findings: &[&FindingFacts]) {
    let first = findings.first().map_or(String::new(), |finding| format!("{} {}", finding.code, finding.title));
    let kind = findings.first().map_or("", |finding| &finding.code);
    let _ = write!(out, "      <failure message=\"{}\" type=\"{}\">", escape(&first), escape(kind));
    for finding in findings.iter().take(MOST_FINDINGS) {
        let releases = finding.releases();
        let line = format!(
            "{} {} {}: {}, releases {}\n",
            finding.severity,
            finding.code,
            finding.title,
            finding.people_in_words(),
            list(&releases)
        );
        out.push_str(&escape(&line));
    }
    if findings.len() > MOST_FINDINGS {
        let _ = writeln!(out, "and {} more", findings.len() - MOST_FINDINGS);
    }
    out.push_str("</failure>\n");
}

/// A text that may be in XML.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' => out.push('\n'),
            letter if letter.is_control() || matches!(letter, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Edition;
    use crate::report::samples::broken;
    use expect_test::expect;

    #[test]
    fn a_check_is_a_test_and_an_open_question_is_skipped() {
        let mut sample = broken();
        sample.about.name = "ward <&\"\u{1}> stays".into();
        expect![[r#"
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites name="tacenda" tests="5" failures="2" errors="0" skipped="2">
              <testsuite name="tacenda audit ward &lt;&amp;&quot;�&gt; stays" tests="5" failures="2" errors="0" skipped="2">
                <properties>
                  <property name="decision" value="FAIL"/>
                  <property name="verdict" value="Someone who reads both releases can learn too much about at least 2 people. The worst: a group has too few people (2 findings in all)."/>
                  <property name="software" value="tacenda 0.1.0"/>
                </properties>
                <testcase classname="tacenda.audit" name="group-sizes">
                  <failure message="A611 a group has too few people" type="A611">severe A611 a group has too few people: 2 people, releases 1
            </failure>
                </testcase>
                <testcase classname="tacenda.audit" name="linked-ids">
                  <skipped message="NOT APPLICABLE: no release has ids that link it to another"/>
                </testcase>
                <testcase classname="tacenda.audit" name="candidates">
                  <failure message="A631 comparing releases leaves too few possible values" type="A631">severe A631 comparing releases leaves too few possible values: 2 people, releases 1 and 2
            </failure>
                </testcase>
                <testcase classname="tacenda.audit" name="posterior">
                  <skipped message="NOT ASSESSED: some components are too large to count all worlds (12 of 18 people)"/>
                </testcase>
                <testcase classname="tacenda.audit" name="drift"/>
              </testsuite>
            </testsuites>
        "#]].assert_eq(&junit(&sample.report(Edition::Auditor)));
    }

    /// Every tag that opens closes, in order, and nothing else looks like one.
    #[test]
    fn it_is_well_formed() {
        let mut sample = broken();
        sample.about.name = "]]> <script> & \"".into();
        let xml = junit(&sample.report(Edition::Auditor));
        let mut open: Vec<String> = Vec::new();
        for part in xml.split('<').skip(2) {
            let (tag, text) = part.split_once('>').expect("a tag ends");
            assert!(!text.contains(['>', '"']), "{text}");
            let name = tag.trim_start_matches('/').split([' ', '/']).next().unwrap().to_string();
            if tag.starts_with('/') {
                assert_eq!(open.pop(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(name);
            }
        }
        assert!(open.is_empty());
    }
}
