//! A report as Markdown, for a pull request or a wiki.

use crate::report::words::{MATCHED, list, number, percent};
use crate::report::{FindingFacts, PrivateFacts, Report, StepFacts, sequence};
use std::fmt::Write;

/// The most findings that are listed; the rest is counted.
const MOST_FINDINGS: usize = 100;

/// The most groups of a witness or a step that are shown.
const MOST_GROUPS: usize = 3;

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
    together(&mut out, report);
    findings(&mut out, &report.findings);
    witnesses(&mut out, &report.findings);
    story(&mut out, report);
    checks(&mut out, report);
    questions(&mut out, report);
    private(&mut out, report);
    for (heading, points) in report.closing_points() {
        if !points.is_empty() {
            let _ = writeln!(out, "## {heading}\n");
            points.iter().for_each(|point| {
                let _ = writeln!(out, "- {}", escape(point));
            });
            out.push('\n');
        }
    }
    provenance(&mut out, report);
    identifying(&mut out, report);
    signing(&mut out, report);
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

fn together(out: &mut String, report: &Report) {
    out.push_str("## All releases together\n\n");
    for (name, value) in sequence::rows(report) {
        let _ = writeln!(out, "- {}: {}", escape(name), escape(&value));
    }
    out.push('\n');
}

fn findings(out: &mut String, findings: &[FindingFacts]) {
    out.push_str("## Findings\n\n");
    if findings.is_empty() {
        out.push_str("None.\n\n");
        return;
    }
    out.push_str("| | | code | what | releases | people |\n|--:|---|---|---|---|--:|\n");
    for finding in findings.iter().take(MOST_FINDINGS) {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} |",
            finding.number,
            finding.severity,
            finding.code,
            finding.title,
            list(&finding.releases()),
            number(finding.people)
        );
    }
    if findings.len() > MOST_FINDINGS {
        let _ = writeln!(out, "\nAnd {} more; the JSON has all.", findings.len() - MOST_FINDINGS);
    }
    out.push('\n');
}

fn witnesses(out: &mut String, findings: &[FindingFacts]) {
    for finding in findings.iter().take(MOST_FINDINGS) {
        let Some(witness) = &finding.witness else { continue };
        let _ = writeln!(out, "- {} (finding {}): {}", finding.code, finding.number, escape(&witness.claim));
        for group in witness.groups.iter().take(MOST_GROUPS) {
            let region = code(&group.region.join(" "));
            let _ = writeln!(out, "  - release {}, group {}: `{region}`", group.release, escape(&group.group));
        }
        if let Some(more) = witness.more_groups(MOST_GROUPS) {
            let _ = writeln!(out, "  - {more}");
        }
    }
    if findings.iter().any(|finding| finding.witness.is_some()) {
        out.push('\n');
    }
}

fn story(out: &mut String, report: &Report) {
    let Some(story) = &report.story else { return };
    let _ = writeln!(out, "## {}\n\n{}\n", story.heading(), escape(&story.opening()));
    for step in &story.steps {
        let label = escape(&step.label);
        let groups = step.groups_in_words();
        let _ = writeln!(out, "1. Release {} ({label}): the person can only be in {groups}.", step.release);
        for group in step.groups.iter().take(MOST_GROUPS) {
            let (region, values) = (code(&group.region.join(" ")), escape(&group.values.join(", ")));
            let _ = writeln!(out, "   - `{region}`, {} rows: {values}", group.rows);
        }
        if step.group_count > MOST_GROUPS {
            let _ = writeln!(out, "   - and {} more groups", step.group_count - MOST_GROUPS);
        }
        if step.restarted {
            let _ = writeln!(out, "   - {}", StepFacts::RESTARTED);
        }
        let _ = writeln!(out, "   - remaining: {}", escape(&step.left.join(", ")));
    }
    if let Some(matched) = &story.matched {
        let _ = writeln!(out, "1. {MATCHED}\n   - remaining: {}", escape(&matched.join(", ")));
    }
    let _ = writeln!(out, "\n{}\n", story.ending());
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
    if let Some(private) = &report.private {
        truth(out, private);
        if !private.churn.is_empty() {
            out.push_str(
                "## Arrivals, departures and people who wait\n\n| release | arrived | last published | \
                          waiting since |\n|--:|--:|--:|--:|\n",
            );
            for churn in &private.churn {
                let (arrived, last, waiting) = (churn.arrived, churn.last_published, churn.waiting_since);
                let _ = writeln!(
                    out,
                    "| {} | {} | {} | {} |",
                    churn.release,
                    number(arrived),
                    number(last),
                    number(waiting)
                );
            }
            out.push('\n');
        }
    }
    if let Some(governance) = &report.governance {
        let _ = writeln!(out, "## Governance\n\nDeletion: {}\n", escape(&governance.deletion));
        governance.limits.iter().for_each(|limit| {
            let _ = writeln!(out, "- {}", escape(limit));
        });
        if let Some(date) = &governance.review_by {
            let triggers = escape(&governance.review_triggers.join("; "));
            let _ = writeln!(out, "\nReview by {}, or earlier: {triggers}.", escape(date));
        }
        out.push('\n');
    }
}

fn truth(out: &mut String, private: &PrivateFacts) {
    if private.truth.is_empty() {
        return;
    }
    out.push_str(
        "## Against the private tables\n\n| release | people | withheld | unique before | mean risk before | median error | nine in ten within |\n\
         |--:|--:|--:|--:|--:|--:|--:|\n",
    );
    for truth in &private.truth {
        let error = |share: Option<f64>| share.map_or("–".to_string(), percent);
        let queries = truth.query_error.as_ref();
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} |",
            truth.release,
            number(truth.people),
            number(truth.withheld),
            number(truth.before.unique),
            percent(truth.before.mean_identity),
            error(queries.map(|queries| queries.median)),
            error(queries.map(|queries| queries.ninth_decile))
        );
    }
    out.push('\n');
}

fn identifying(out: &mut String, report: &Report) {
    if report.identifying.is_empty() {
        return;
    }
    out.push_str("## How identifying each column is in the last release\n\n");
    out.push_str("| column | values | published | fewest alike | stays the same? | who else has it? | safe harbor |\n");
    out.push_str("|---|--:|--:|--:|---|---|---|\n");
    for column in &report.identifying {
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | | | {} |",
            escape(&column.column),
            number(column.values.into()),
            number(column.regions.into()),
            number(column.fewest_alike),
            column.safe_harbor.as_deref().unwrap_or("")
        );
    }
    out.push('\n');
}

fn signing(out: &mut String, report: &Report) {
    if report.signing.is_empty() {
        return;
    }
    out.push_str("\n## Signatures\n\n");
    for signature in &report.signing {
        let _ = writeln!(out, "**{}**: name, date, signature\n", signature.role);
        signature.confirms.iter().for_each(|point| {
            let _ = writeln!(out, "- {}", escape(point));
        });
        out.push('\n');
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
    if let Some(limits) = &facts.limits {
        let _ = writeln!(
            out,
            "- limits of the attacks: matchings of {} people, worlds of {} people and {} nodes, {} pairs of groups; seed {}",
            number(limits.refine_people),
            number(limits.worlds_people),
            number(limits.worlds_nodes),
            number(limits.pairs),
            limits.seed
        );
    }
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
