//! One page for decision makers: the answer, who is concerned, the worst case in plain words, what it depends on, and
//! what to do. It has no codes; the full report has them.

use crate::audit::VerdictWord;
use crate::model::Role;
use crate::report::judge::explain_step;
use crate::report::words::{capital, counted, people};
use crate::report::{Decision, Report};

/// How wide a line is.
const WIDTH: usize = 88;

/// The most sentences of a kind; the full report has all.
const MOST: usize = 5;

/// The report on one page.
pub fn brief(report: &Report) -> String {
    let mut page = String::new();
    let title = if report.series.title.is_empty() { &report.series.name } else { &report.series.title };
    heading(&mut page, &format!("Are the releases of {title} anonymous? A summary"));
    let answer = match report.verdict.decision {
        Decision::Fail => "NO, not as they are.",
        Decision::NotAssessed | Decision::NotAsked => {
            "NOT KNOWN. Nothing that fails was found, but not everything could be examined."
        }
        Decision::NotPromised => "NOT FULLY. What was promised or asked for holds, but more can be learned.",
        Decision::PassAssuming if report.findings.is_empty() => {
            "NOTHING WAS FOUND. This holds if the assumptions below do."
        }
        Decision::PassAssuming => "NOTHING BUT NOTES WAS FOUND. This holds if the assumptions below do.",
        Decision::Pass if report.findings.is_empty() => "NOTHING WAS FOUND.",
        Decision::Pass => "NOTHING BUT NOTES WAS FOUND.",
    };
    item(&mut page, "", answer);
    item(&mut page, "", &report.verdict.sentence);

    let releases = counted(report.releases.len() as u64, "release", "releases");
    let most = report.releases.iter().map(|release| release.people).max().unwrap_or(0);
    heading(&mut page, "What was examined");
    let is_published = |role: Role| !matches!(role, Role::Identifier | Role::Drop);
    let published = report.series.columns.iter().filter(|column| is_published(column.role));
    let names: Vec<&str> = published.map(|column| column.name.as_str()).collect();
    item(&mut page, "", &format!("{releases} with up to {}; columns {}.", people(most), names.join(", ")));

    heading(&mut page, "The three questions of the European data protection authorities (WP 216)");
    for question in &report.three_questions {
        item(&mut page, "- ", &format!("{}: {}", question.question, question.decision.words()));
    }

    if let Some(story) = &report.story {
        heading(&mut page, "The case that shows it best");
        item(&mut page, "", &story.opening());
        for step in &story.steps {
            let left = counted(step.left.len() as u64, "value is", "values are");
            let groups = step.groups_in_words();
            item(&mut page, "- ", &format!("Release {}: the person is in {groups}; {left} possible.", step.release));
        }
        item(&mut page, "", &story.ending());
    }
    listed(&mut page, "What this rests on", &report.assumptions);
    let open: Vec<String> = report
        .checks
        .iter()
        .filter(|check| check.verdict == VerdictWord::NotAssessed)
        .map(|check| format!("{} {}.", check.question, capital(check.why.as_deref().unwrap_or("no reason is known"))))
        .collect();
    listed(&mut page, "What could not be answered", &open);
    listed(&mut page, "What is not covered", &report.not_covered);
    // Codes are explained in the full report only.
    let explained: Vec<String> = report.findings.iter().map(|finding| explain_step(&finding.code)).collect();
    let steps: Vec<String> = report.next_steps.iter().filter(|step| !explained.contains(step)).cloned().collect();
    listed(&mut page, "What to do next", &steps);
    heading(&mut page, "Where the proof is");
    let software = &report.provenance.software;
    item(&mut page, "", &format!("Made by {software}. The full report has every finding with what proves it."));
    page
}

fn heading(page: &mut String, text: &str) {
    if !page.is_empty() {
        page.push('\n');
    }
    page.push_str(text);
    page.push('\n');
}

fn listed(page: &mut String, title: &str, sentences: &[String]) {
    if sentences.is_empty() {
        return;
    }
    heading(page, title);
    sentences.iter().take(MOST).for_each(|sentence| item(page, "- ", sentence));
    let more = sentences.len().saturating_sub(MOST) as u64;
    if more > 0 {
        item(page, "- ", &format!("{} in the full report.", counted(more, "more is", "more are")));
    }
}

/// Whether a word is a code, such as A701. Codes are explained in the full report only.
fn is_code(word: &str) -> bool {
    let word = word.trim_matches(|letter: char| !letter.is_alphanumeric());
    word.len() == 4
        && word.starts_with(|letter: char| letter.is_ascii_uppercase())
        && word[1..].bytes().all(|byte| byte.is_ascii_digit())
}

/// A sentence without codes, broken into lines.
fn item(page: &mut String, mark: &str, text: &str) {
    let mut line = format!("  {mark}");
    let indent = " ".repeat(line.len());
    let mut is_first = true;
    for word in text.split_whitespace().filter(|word| !is_code(word)) {
        if !is_first && line.chars().count() + 1 + word.chars().count() > WIDTH {
            page.push_str(line.trim_end());
            page.push('\n');
            line = indent.clone();
            is_first = true;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    page.push_str(line.trim_end());
    page.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{Check, Coverage, Fault, Finding, Outcome};
    use crate::report::Edition;
    use crate::report::samples::{broken, clean};

    #[test]
    fn one_page_without_codes() {
        let page = brief(&broken().report(Edition::Auditor));
        let lines = page.lines().count();
        assert!((15..=70).contains(&lines), "{lines} lines:\n{page}");
        assert!(page.contains("NO, not as they are.") && page.contains("What to do next"), "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= WIDTH), "{page}");
        // What two people and two values would find is told with its code in the full report.
        let mut unpromised = clean();
        let mut outcome = Outcome::new(Check::GroupSizes, Coverage::default());
        let alone = Fault::AloneInGroup;
        outcome.found([Finding {
            fault: alone,
            release: 1,
            people: 1,
            groups: 1,
            example: None,
            others: vec![],
            witness: None,
        }]);
        unpromised.assessment.at_two.push(outcome);
        let told = brief(&unpromised.report(Edition::Auditor));
        assert!(told.contains("in this way: a group has one person (1 person)"), "{told}");
        for page in [page, brief(&clean().report(Edition::Auditor)), told] {
            let is_code = |word: &&str| {
                word.len() == 4 && word.starts_with('A') && word[1..].bytes().all(|byte| byte.is_ascii_digit())
            };
            let coded: Vec<&str> = page.split(|c: char| !c.is_alphanumeric()).filter(is_code).collect();
            assert!(coded.is_empty(), "{coded:?}\n{page}");
        }
    }
}
