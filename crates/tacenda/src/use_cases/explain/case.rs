//! One case in full: a finding of a saved audit, a group of a release, a person.

use crate::audit::{Assessment, Attacker, Budget, Check, Thresholds};
use crate::model::{Release, Value, counted, people};
use crate::report::{
    Edition, FindingFacts, MATCHED, Material, Names, Report, StepFacts, StoryFacts, WitnessFacts, WitnessGroup, number,
};
use crate::use_cases::explain::page;
use crate::use_cases::{ExplainReport, Progress, Subject, SubjectRequest, UseCaseError, wrapped};
use crate::{audit, files};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// The most groups that are listed in one place.
const MOST_GROUPS: usize = 8;

/// A finding of a saved audit, by its place there, from 1.
pub fn explain_finding(number: &str, audit: &Path) -> Result<ExplainReport, UseCaseError> {
    let text = files::read_text(audit).map_err(UseCaseError::file(audit))?;
    let report: Report = serde_json::from_str(&text).map_err(|error| {
        UseCaseError::usage(format!("{} is no saved audit (line {})", audit.display(), error.line()))
    })?;
    let at: Option<usize> = number.parse().ok().filter(|&at| at >= 1);
    let Some(finding) = at.and_then(|at| report.findings.get(at - 1)) else {
        let message = format!("there is no finding {number}; the audit has {}", report.findings.len());
        return Err(UseCaseError::usage(message));
    };
    let mut out = String::new();
    let releases: Vec<String> = finding.releases().iter().map(u32::to_string).collect();
    let _ = writeln!(out, "{} ({}): {}", finding.code, finding.severity, finding.title);
    let _ = writeln!(out, "It concerns {}; releases {}.\n", people(finding.people), releases.join(", "));
    if let Some((_, _, explanation)) = page(&finding.code) {
        let _ = writeln!(out, "{}\n", wrapped(explanation));
    }
    if let Some(witness) = &finding.witness {
        let _ = write!(out, "What proves it:\n{}\n{}", wrapped(&witness.claim), proof(finding, witness));
    }
    // The worked case of an audit belongs to one finding only.
    if let Some(story) = report.story.as_ref().filter(|story| story.finding == Some(finding.number)) {
        let _ = write!(out, "\nOne case of it, step by step\n{}", told(story));
    }
    Ok(answer(&finding.code, &finding.title, out))
}

/// The finding's own steps: what the groups of each release hold, and the difference between releases.
fn proof(finding: &FindingFacts, witness: &WitnessFacts) -> String {
    let mut out = String::new();
    let held = |group: &WitnessGroup| {
        let rows = counted(u64::from(group.row_count), "row", "rows");
        let values: Vec<String> = group.holds.iter().map(|(value, rows)| times(value, u64::from(*rows))).collect();
        if values.is_empty() { rows } else { format!("{rows}: {}", values.join(", ")) }
    };
    let numbers = finding.releases();
    for &number in &numbers {
        let groups: Vec<&WitnessGroup> = witness.groups.iter().filter(|group| group.release == number).collect();
        let Some(first) = groups.first() else { continue };
        let _ = writeln!(out, "Release {number} ({}):", first.label);
        for group in groups.iter().take(MOST_GROUPS) {
            let _ = writeln!(out, "  group {}: {}; {}", group.group, group.region.join(" "), held(group));
        }
        if groups.len() > MOST_GROUPS {
            let more = (groups.len() - MOST_GROUPS) as u64;
            let _ = writeln!(out, "  and {}", counted(more, "more group", "more groups"));
        }
    }
    // If a list of values was shortened, the difference is not known.
    let is_whole = |group: &WitnessGroup| {
        group.holds.iter().map(|(_, rows)| u64::from(*rows)).sum::<u64>() == u64::from(group.row_count)
    };
    if let (true, &[earlier, later]) = (finding.check == Check::Difference.name(), &numbers[..])
        && witness.groups.iter().all(is_whole)
    {
        let mut change: BTreeMap<&str, i64> = BTreeMap::new();
        for group in &witness.groups {
            let sign = if group.release == later { 1 } else { -1 };
            group.holds.iter().for_each(|(value, rows)| *change.entry(value).or_default() += sign * i64::from(*rows));
        }
        let side = |sign: i64| {
            let rows = change.iter().filter(|(_, count)| **count * sign > 0);
            let rows: Vec<String> = rows.map(|(value, count)| times(value, count.unsigned_abs())).collect();
            if rows.is_empty() { "nothing".to_string() } else { rows.join(", ") }
        };
        let (more, less) = (side(1), side(-1));
        let _ = writeln!(out, "From release {earlier} to {later} these groups gained {more}, and lost {less}.");
    }
    out
}

/// A value, with how often it occurs where that is more than once.
fn times(value: &str, rows: u64) -> String {
    if rows == 1 { value.to_string() } else { format!("{value} ({rows} times)") }
}

/// A group of a release, by the numbers of both: `RELEASE:GROUP`.
pub fn explain_group(
    place: &str,
    subject: SubjectRequest,
    names: Names,
    progress: Progress<'_>,
) -> Result<ExplainReport, UseCaseError> {
    let wrong = || UseCaseError::usage("write group RELEASE:GROUP, such as group 2:17; both are counted from 1");
    let (release, group) = place.split_once(':').ok_or_else(wrong)?;
    let at = |text: &str| text.trim().parse::<usize>().ok().filter(|&number| number >= 1).map(|number| number - 1);
    let (release, group) = at(release).zip(at(group)).ok_or_else(wrong)?;
    let subject = Subject::read(subject, progress)?;
    let Some(published) = subject.releases.get(release).filter(|published| group < published.group_count()) else {
        return Err(UseCaseError::usage("there is no such group"));
    };
    let region = published.region(group);
    let mut names = Coded { names, release: published, seen: Vec::new() };
    let mut out = format!("Release {} ({}), group {}", release + 1, published.label, group + 1);
    if let Some(name) = subject.traces[release].group_names.get(group) {
        let _ = write!(out, ", numbered {name} in the file");
    }
    let _ = writeln!(out, "\n\nEveryone in this group has");
    for (quasi, span) in subject.schema.quasi.iter().zip(region) {
        let mut text = String::new();
        quasi.print(*span, &mut text);
        let text = if text.is_empty() { "missing" } else { &text };
        let _ = writeln!(out, "  {:<16} {text} ({} of {} values)", quasi.name, span.width(), quasi.size());
    }
    let rows = published.group_values(group);
    let mut counts: BTreeMap<Value, usize> = BTreeMap::new();
    rows.iter().for_each(|&value| *counts.entry(value).or_default() += 1);
    let _ = writeln!(
        out,
        "\n{} rows, {} of them counterfeits, {} values:",
        number(rows.len() as u64),
        published.counterfeits[group],
        counts.len()
    );
    for (value, count) in &counts {
        let _ = writeln!(out, "  {count:>6} {}", names.name(*value));
    }
    for (other_at, other) in subject.releases.iter().enumerate().filter(|&(at, _)| at != release) {
        let meets = |&at: &usize| other.region(at).iter().zip(region).all(|(theirs, mine)| theirs.overlap(*mine));
        let found: Vec<usize> = (0..other.group_count()).filter(meets).collect();
        let shown: Vec<String> =
            found.iter().take(MOST_GROUPS).map(|at| format!("{}:{}", other_at + 1, at + 1)).collect();
        let more = if found.len() > MOST_GROUPS { ", …" } else { "" };
        let _ = writeln!(
            out,
            "\nIn release {} the same people can be in {} groups: {}{more}",
            other_at + 1,
            found.len(),
            shown.join(", ")
        );
    }
    Ok(answer(&format!("group {}:{}", release + 1, group + 1), "a group of a release", out))
}

/// A person, by the identifier that the private tables have.
pub fn explain_person(
    identifier: &str,
    subject: SubjectRequest,
    names: Names,
    progress: Progress<'_>,
) -> Result<ExplainReport, UseCaseError> {
    let stories = person_stories(identifier, subject, names, progress)?;
    let mut out = String::new();
    if stories.is_empty() {
        out.push_str("No release with sensitive values contains this person.\n");
    }
    if stories.len() > 1 {
        out.push_str("The value changed between releases. Each period is attacked separately.\n\n");
    }
    for report in &stories {
        if !out.is_empty() && !out.ends_with("\n\n") {
            out.push('\n');
        }
        out.push_str(&report.story.as_ref().map_or_else(String::new, told));
    }
    Ok(answer("person", "one person, attacked step by step", out))
}

/// The same as reports that hold nothing but the story: one for each period in which the person's value stayed.
pub fn person_stories(
    identifier: &str,
    subject: SubjectRequest,
    names: Names,
    progress: Progress<'_>,
) -> Result<Vec<Report>, UseCaseError> {
    let subject = Subject::read(subject, progress)?;
    let unknown = "explaining a person needs the private tables: --truth FILE… --id COLUMN, one table per release";
    let knowledge = subject.knowledge().ok_or_else(|| UseCaseError::usage(unknown))?;
    let Some(person) = knowledge.person((subject.key)(identifier)) else {
        return Err(UseCaseError::usage("nobody in the tables has this identifier"));
    };
    let series = subject.series(Some(&knowledge), None);
    let (attacker, budget) = (Attacker::default(), Budget::default());
    let mut stories = audit::stories_of(&series, attacker, &budget, person);
    stories.retain(|story| !story.steps.is_empty());
    let report = |story| {
        let assessment = Assessment { story: Some(story), ..Assessment::default() };
        Report::new(&Material {
            edition: Edition::Auditor,
            series,
            assessment: &assessment,
            attacker,
            thresholds: Thresholds::default(),
            about: &subject.about,
            names,
            budget,
            governance: None,
            private: None,
            has_truth: true,
        })
    };
    Ok(stories.into_iter().map(report).collect())
}

fn answer(code: &str, title: &str, explanation: String) -> ExplainReport {
    ExplainReport { code: code.into(), title: title.into(), explanation }
}

/// The story in words: what the attacker knew, which groups remained in each release, what is left.
fn told(story: &StoryFacts) -> String {
    let mut out = format!("{}\n", wrapped(&story.opening()));
    for step in &story.steps {
        let groups = step.groups_in_words();
        let _ = writeln!(out, "Release {} ({}): the person can only be in {groups}.", step.release, step.label);
        for group in step.groups.iter().take(MOST_GROUPS) {
            let (rows, values) = (group.rows, group.values.join(", "));
            let rows = counted(rows as u64, "row", "rows");
            let _ = writeln!(out, "  group {}: {}; {rows}: {values}", group.group, group.region.join(" "));
        }
        if step.group_count > MOST_GROUPS {
            let more = (step.group_count - MOST_GROUPS) as u64;
            let _ = writeln!(out, "  and {}", counted(more, "more group", "more groups"));
        }
        if step.restarted {
            let _ = writeln!(out, "  {}", StepFacts::RESTARTED);
        }
        let _ = writeln!(out, "  left: {}", step.left.join(", "));
    }
    if let Some(matched) = &story.matched {
        let _ = writeln!(out, "{}\n  left: {}", wrapped(MATCHED), matched.join(", "));
    }
    let _ = writeln!(out, "{}", story.ending());
    out
}

/// Names of values: as they are, or coded in order of appearance.
struct Coded<'a> {
    names: Names,
    release: &'a Release,
    seen: Vec<Value>,
}

impl Coded<'_> {
    fn name(&mut self, value: Value) -> String {
        if self.names == Names::Shown {
            return self.release.values.cells(value).join(", ");
        }
        let at = self.seen.iter().position(|&other| other == value).unwrap_or_else(|| {
            self.seen.push(value);
            self.seen.len() - 1
        });
        format!("D{}", at + 1)
    }
}
