//! A report as Markdown, for a pull request or a wiki.

use crate::report::words::{MATCHED, list, number, percent};
use crate::report::{
    CheckFacts, ChurnFacts, FindingFacts, IdentifyingFacts, ReleaseFacts, Report, StepFacts, TruthFacts, sequence,
};
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
        let _ = writeln!(out, "> {} ({}; {})\n", escape(&promise.in_short), promise.model, escape(&parameters));
    }
    story(&mut out, report);
    releases(&mut out, report);
    together(&mut out, report);
    findings(&mut out, &report.findings);
    witnesses(&mut out, &report.findings);
    checks(&mut out, report);
    questions(&mut out, report);
    private(&mut out, report);
    if let Some(promise) = report.series.promise.as_ref().filter(|promise| promise.sentence != promise.in_short) {
        let _ = writeln!(out, "## The promise in full\n\n{}\n", escape(&promise.sentence));
    }
    for (heading, list) in report.closing_points() {
        if !list.is_empty() {
            let _ = writeln!(out, "## {heading}\n");
            points(&mut out, list);
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
    let head = "| | label | people | artificial | groups | smallest group | fewest values | largest share | loss |";
    let row = |release: &ReleaseFacts| {
        [
            release.number.to_string(),
            escape(&release.label),
            number(release.people),
            number(release.counterfeits),
            number(release.groups),
            release.risk.smallest_group.to_string(),
            if release.has_values() { release.risk.fewest_values.to_string() } else { "–".into() },
            if release.has_values() { percent(release.risk.highest_share) } else { "–".into() },
            percent(release.loss.leaf_share),
        ]
    };
    table(out, head, "|--:|---|--:|--:|--:|--:|--:|--:|--:|", report.releases.iter().map(row));
}

/// A table and an empty line. Cells are escaped already.
fn table<const N: usize>(out: &mut String, head: &str, rule: &str, rows: impl Iterator<Item = [String; N]>) {
    let _ = writeln!(out, "{head}\n{rule}");
    rows.for_each(|cells| {
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    });
    out.push('\n');
}

/// A list.
fn points<'a>(out: &mut String, points: impl IntoIterator<Item = &'a String>) {
    points.into_iter().for_each(|point| {
        let _ = writeln!(out, "- {}", escape(point));
    });
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
            escape(&finding.title),
            list(&finding.releases()),
            if finding.is_counted() { number(finding.people) } else { "–".into() }
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
    let _ = writeln!(out, "\n{}\n", escape(&story.ending()));
}

fn checks(out: &mut String, report: &Report) {
    if report.checks.is_empty() {
        return;
    }
    out.push_str("## Checks\n\n");
    let row = |check: &CheckFacts| {
        let coverage = match check.of {
            0 => String::new(),
            of => format!("{} of {} {}", number(check.looked_at), number(of), check.what),
        };
        let why = check.why.as_ref().map_or(String::new(), |why| format!(" ({why})"));
        let question = escape(&format!("{}{why}", check.question));
        [check.verdict.to_string(), check.check.to_string(), question, escape(&coverage)]
    };
    table(out, "| | check | question | examined |", "|---|---|---|---|", report.checks.iter().map(row));
}

fn questions(out: &mut String, report: &Report) {
    out.push_str("## Singling out, linkability, inference\n\n");
    for question in &report.three_questions {
        let _ = writeln!(out, "**{}** ({}): {}", question.name, question.decision.words(), escape(&question.question));
        points(out, question.evidence.iter().chain([&question.limit]));
        out.push('\n');
    }
}

fn private(out: &mut String, report: &Report) {
    if let Some(private) = report.private.as_ref().filter(|private| !private.truth.is_empty()) {
        out.push_str("## Against the private tables\n\n");
        let head =
            "| release | people | withheld | unique before | mean risk before | median error | nine in ten within |";
        table(out, head, "|--:|--:|--:|--:|--:|--:|--:|", private.truth.iter().map(TruthFacts::cells));
    }
    if let Some(private) = report.private.as_ref().filter(|private| !private.churn.is_empty()) {
        out.push_str("## Arrivals, departures and people who wait\n\n");
        let head = "| release | arrived | gone after | waiting |";
        table(out, head, "|--:|--:|--:|--:|", private.churn.iter().map(ChurnFacts::cells));
        let _ = writeln!(out, "{}\n", ChurnFacts::HEADS);
    }
    if let Some(governance) = &report.governance {
        out.push_str("## Governance\n\n");
        let said = governance.declared.iter().filter(|fact| !fact.text.is_empty());
        let said: Vec<String> = said.map(|fact| format!("{}: {}", fact.name, fact.text)).collect();
        points(out, &said);
        let _ = writeln!(out, "\nDeletion: {}\n", escape(&governance.deletion));
        points(out, &governance.limits);
        if let Some(date) = &governance.review_by {
            let triggers = escape(&governance.review_triggers.join("; "));
            let _ = writeln!(out, "\nReview by {}, or earlier: {triggers}.", escape(date));
        }
        out.push('\n');
    }
}

fn identifying(out: &mut String, report: &Report) {
    if report.identifying.is_empty() {
        return;
    }
    out.push_str("## How identifying each column is in the last release\n\n");
    let head = "| column | values | published | fewest alike | stays the same? | who else has it? | safe harbor |";
    let row = |column: &IdentifyingFacts| {
        [
            escape(&column.column),
            number(column.values.into()),
            number(column.regions.into()),
            number(column.fewest_alike),
            format!("| | {}", column.safe_harbor.as_deref().unwrap_or("")),
        ]
    };
    table(out, head, "|---|--:|--:|--:|---|---|---|", report.identifying.iter().map(row));
}

fn signing(out: &mut String, report: &Report) {
    if report.signing.is_empty() {
        return;
    }
    out.push_str("\n## Signatures\n\n");
    for signature in &report.signing {
        let _ = writeln!(out, "**{}**: name, date, signature\n", signature.role);
        points(out, &signature.confirms);
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
        let _ = writeln!(out, "- limits of the attacks: {}", limits.words());
    }
    for release in &report.releases {
        for file in &release.files {
            let _ = writeln!(out, "- release {}: `{}` SHA-256 `{}`", release.number, code(&file.name), file.sha256);
        }
    }
    points(out, &facts.notes);
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
