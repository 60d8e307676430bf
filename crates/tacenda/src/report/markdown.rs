//! A report as Markdown, for a pull request or a wiki.

use crate::report::FindingFacts;
use crate::report::Report;
use crate::report::words::list;
use crate::report::words::number;
use crate::report::words::percent;
use std::fmt::Write;

/// The most findings that are listed; the rest is counted.
const MOST_FINDINGS: usize = 100;

/// The report as Markdown.
pub fn markdown(report: &Report) -> String {
    let mut out = String::new();
    let title = if report.series.title.is_empty() { &report.series.name } else { &report.series.title };
    let _ = writeln!(out, "# {}\n", escape(title));
    let _ = writeln!(out, "**{}**: {}\n", report.verdict.decision.words(), escape(&report.verdict.sentence));
    if let Some(promise) = &report.series.promise {
        let parameters = promise.parameters.join(", ");
        let _ = writeln!(out, "> {} ({}; {})\n", escape(&promise.sentence), promise.model, escape(&parameters));
    }
    releases(&mut out, report);
    findings(&mut out, &report.findings);
    checks(&mut out, report);
    questions(&mut out, report);
    private(&mut out, report);
    for (heading, points) in [
        ("What this rests on", &report.assumptions),
        ("What this does not cover", &report.not_covered),
        ("What to do next", &report.next_steps),
    ] {
        if !points.is_empty() {
            let _ = writeln!(out, "## {heading}\n");
            points.iter().for_each(|point| {
                let _ = writeln!(out, "- {}", escape(point));
            });
            out.push('\n');
        }
    }
    provenance(&mut out, report);
    out
}

fn releases(out: &mut String, report: &Report) {
    out.push_str("## Releases\n\n");
    out.push_str(
        "| | label | people | artificial | groups | smallest group | fewest values | largest share | loss |\n",
    );
    out.push_str("|--:|---|--:|--:|--:|--:|--:|--:|--:|\n");
    for release in &report.releases {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            release.number,
            escape(&release.label),
            number(release.people),
            number(release.counterfeits),
            number(release.groups),
            release.risk.smallest_group,
            release.risk.fewest_values,
            percent(release.risk.highest_share),
            percent(release.loss.leaf_share)
        );
    }
    out.push('\n');
}

fn findings(out: &mut String, findings: &[FindingFacts]) {
    out.push_str("## Findings\n\n");
    if findings.is_empty() {
        out.push_str("None.\n\n");
        return;
    }
    out.push_str("| | code | what | releases | people |\n|---|---|---|---|--:|\n");
    for finding in findings.iter().take(MOST_FINDINGS) {
        let mut releases = finding.others.clone();
        releases.push(finding.release);
        releases.sort_unstable();
        releases.dedup();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            finding.severity,
            finding.code,
            finding.title,
            list(&releases),
            number(finding.people)
        );
    }
    if findings.len() > MOST_FINDINGS {
        let _ = writeln!(out, "\nAnd {} more; the JSON has all.", findings.len() - MOST_FINDINGS);
    }
    out.push('\n');
}

fn checks(out: &mut String, report: &Report) {
    if report.checks.is_empty() {
        return;
    }
    out.push_str("## Checks\n\n| | check | question | looked at |\n|---|---|---|---|\n");
    for check in &report.checks {
        let coverage = match check.of {
            0 => String::new(),
            of => format!("{} of {} {}", number(check.looked_at), number(of), check.what),
        };
        let why = check.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        let question = escape(&format!("{}{why}", check.question));
        let _ = writeln!(out, "| {} | {} | {question} | {} |", check.verdict, check.check, escape(&coverage));
    }
    out.push('\n');
}

fn questions(out: &mut String, report: &Report) {
    out.push_str("## Singling out, linkability, inference\n\n");
    for question in &report.three_questions {
        let _ = writeln!(out, "**{}** ({}): {}", question.name, question.decision.words(), escape(&question.question));
        for evidence in question.evidence.iter().chain([&question.limit]) {
            let _ = writeln!(out, "- {}", escape(evidence));
        }
        out.push('\n');
    }
}

fn private(out: &mut String, report: &Report) {
    let Some(private) = &report.private else { return };
    out.push_str("## For the steward only\n\n| release | arrived | last published | waiting | withheld |\n|--:|--:|--:|--:|--:|\n");
    for churn in &private.churn {
        let withheld = churn.withheld.map_or("not kept".to_string(), number);
        let (arrived, last, waiting) = (churn.arrived, churn.last_published, churn.still_waiting);
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {withheld} |",
            churn.release,
            number(arrived),
            number(last),
            number(waiting)
        );
    }
    out.push('\n');
    if let Some(error) = &private.query_error {
        let _ = writeln!(
            out,
            "Count queries on release {}: median error {}, nine in ten within {}.\n",
            error.release,
            percent(error.median),
            percent(error.ninth_decile)
        );
    }
    let _ = writeln!(out, "Deletion: {}\n", escape(&private.deletion));
    if let Some(date) = &private.review_by {
        let _ =
            writeln!(out, "Review by {}, or earlier: {}.\n", escape(date), escape(&private.review_triggers.join("; ")));
    }
}

fn provenance(out: &mut String, report: &Report) {
    let facts = &report.provenance;
    out.push_str("## Provenance\n\n");
    let _ = writeln!(
        out,
        "- {}; k = {}, l = {}; the attacker knows {}",
        facts.software,
        facts.k,
        facts.l,
        list(&facts.attacker)
    );
    for release in &report.releases {
        for file in &release.files {
            let _ = writeln!(out, "- release {}: `{}` SHA-256 `{}`", release.number, code(&file.name), file.sha256);
        }
    }
    for note in &facts.notes {
        let _ = writeln!(out, "- {}", escape(note));
    }
}

/// A text that is no markup, also within a table.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' | '!' | '~' | '$' => {
                out.push('\\');
                out.push(letter);
            }
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

/// A text between backticks.
fn code(text: &str) -> String {
    text.chars().map(|letter| if letter == '`' || letter.is_control() { '\u{fffd}' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Edition;
    use crate::report::samples::broken;

    #[test]
    fn it_says_the_verdict_and_every_finding() {
        let page = markdown(&broken().report(Edition::Auditor));
        assert!(page.starts_with("# Inpatient stays, quarterly\n\n**FAIL**: "));
        assert!(page.contains("| severe | A631 |") && page.contains("| severe | A611 |"));
        assert!(page.contains("| NOT ASSESSED | posterior |"));
    }

    #[test]
    fn labels_are_no_markup() {
        let mut sample = broken();
        sample.releases[0].label = "a|b](http://x) <img src=x> **c**".into();
        let page = markdown(&sample.report(Edition::Recipient));
        assert!(page.contains("a\\|b\\](http://x) &lt;img src=x&gt; \\*\\*c\\*\\*"));
    }
}
