//! Attacks: the three questions, every check, what was found, and one case step by step.

use crate::report::html::parts::{N, W};
use crate::report::html::{Page, Section, clip, escape, parts};
use crate::report::words::{MATCHED, counted, decimal, list, number};
use crate::report::{FindingFacts, MeasureFacts, StepFacts, StoryFacts};
use std::fmt::Write;

/// The most groups of a witness or a step that are shown.
const MOST_GROUPS: usize = 3;

/// The most values that are shown beside each other.
const MOST_VALUES: usize = 24;

impl Page<'_> {
    /// What attacks on the releases came to.
    pub(super) fn attacks(&mut self) -> Option<Section> {
        let report = self.report;
        let mut body = String::from(
            "<p>The three questions by which the European data protection authorities judge anonymisation (opinion 05/2014, \
             WP216), with what was measured and where each answer ends.</p>\n<div class=\"questions\">\n",
        );
        for question in &report.three_questions {
            let _ = writeln!(
                body,
                "<div class=\"question\">{}<h3>{}</h3><p>{}</p>{}<p class=\"soft small\">{}</p></div>",
                parts::badge(question.decision, question.decision.words()),
                escape(&question.name),
                escape(&question.question),
                parts::bullets(&question.evidence, 8),
                escape(&question.limit)
            );
        }
        body.push_str("</div>\n<h3>Findings</h3>\n");
        body.push_str(&self.findings());
        if let Some(story) = &report.story {
            body.push_str(&self.story(story));
        }
        body.push_str(&self.checks());
        Some(Section { id: "attacks", clause: "Identifiability", title: "Attacks and what they came to", body })
    }

    fn findings(&self) -> String {
        let findings = &self.report.findings;
        if findings.is_empty() {
            return "<p>None.</p>\n".into();
        }
        let most = self.cap(300);
        let mut out = String::from(
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\" class=\"n\">No.</th><th scope=\"col\"></th><th scope=\"col\">Code</th><th scope=\"col\">What</th>\
             <th scope=\"col\">Releases</th><th scope=\"col\" class=\"n\">People</th><th scope=\"col\" class=\"n\">Groups</th></tr></thead><tbody>\n",
        );
        for finding in findings.iter().take(most) {
            let _ = writeln!(
                out,
                "<tr><td class=\"n\">{}</td><td>{}</td><td><code>{}</code></td><td>{}</td><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
                finding.number,
                parts::badge(finding.severity, &finding.severity.to_string()),
                escape(&finding.code),
                escape(&finding.title),
                clip(&list(&finding.releases()), 80),
                number(finding.people),
                number(finding.groups)
            );
            out.push_str(&witness(finding));
        }
        out.push_str("</tbody></table></div>\n");
        if findings.len() > most {
            let _ = writeln!(
                out,
                "<p class=\"soft small\">And {} more; the JSON report has all.</p>",
                findings.len() - most
            );
        }
        let _ = writeln!(
            out,
            "<p class=\"soft small\"><code>tacenda explain CODE</code> says what a code means; <code>tacenda explain finding \
             N --audit AUDIT.json</code> tells one finding in full.</p>"
        );
        out
    }

    fn story(&self, story: &StoryFacts) -> String {
        let mut out = format!("<h3>{}</h3>\n", story.heading());
        let is_coded = story.of_place || story.known.iter().all(|(_, value)| value.is_none());
        let coded = if is_coded { " Values are coded: D1 stands for one sensitive value throughout." } else { "" };
        let _ = writeln!(out, "<p>{}{coded}</p>", escape(&clip(&story.opening(), 700)));
        let names: Vec<&str> = story.known.iter().map(|(name, _)| name.as_str()).collect();
        let most = self.cap(40);
        out.push_str("<ol class=\"steps\">");
        for step in story.steps.iter().take(most) {
            out.push_str(&story_step(step, &names));
        }
        if let Some(matched) = &story.matched {
            let before = story.steps.last().map_or(&[][..], |step| &step.left);
            let _ = write!(out, "<li>{MATCHED}{}</li>", chips(before, matched));
        }
        out.push_str("</ol>\n");
        if story.steps.len() > most {
            let _ = writeln!(out, "<p class=\"soft small\">And {} more steps.</p>", story.steps.len() - most);
        }
        let end = match story.left {
            1 => "One value is left. It is certain.".to_string(),
            left => format!("{} are left.", counted(left as u64, "value", "values")),
        };
        let _ = writeln!(out, "<p><strong>{end}</strong></p>");
        out
    }

    fn checks(&self) -> String {
        let checks = &self.report.checks;
        if checks.is_empty() {
            return "<p>No attack over the whole series was run for this page: the publisher's gate judged the release before it \
                    left. Anyone can attack the published files: <code>tacenda audit FILE…</code>.</p>\n"
                .into();
        }
        let mut left = self.cap(240);
        let mut rows: Vec<Vec<String>> = Vec::new();
        for check in checks {
            let why = check
                .why
                .as_ref()
                .map_or(String::new(), |why| format!("<br><span class=\"soft\">{}</span>", escape(&clip(why, 240))));
            let taken = &check.measures[..check.measures.len().min(left)];
            left -= taken.len();
            let measured = measures(taken);
            let coverage = match check.of {
                0 => String::new(),
                of => format!("{} of {} {}", number(check.looked_at), number(of), escape(&check.what)),
            };
            rows.push(vec![
                parts::badge(check.verdict, &check.verdict.to_string()),
                format!("{}{why}{measured}", escape(&check.question)),
                coverage,
                number(check.findings),
            ]);
        }
        let columns = [("Answer", W), ("Question", W), ("Looked at", W), ("Findings", N)];
        format!("<h3>Every check</h3>\n{}", parts::table(&columns, &rows, 0))
    }
}

/// What was measured: one line a measure, its releases beside each other.
fn measures(measures: &[MeasureFacts]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for measure in measures {
        if !names.contains(&measure.name.as_str()) {
            names.push(&measure.name);
        }
    }
    let mut out = String::new();
    for name in names {
        let values: Vec<String> = measures
            .iter()
            .filter(|measure| measure.name == name)
            .map(|measure| measure.value.map_or("not a number".to_string(), decimal))
            .collect();
        let _ = write!(out, "<br><span class=\"soft small\">{}: {}</span>", escape(name), values.join(" · "));
    }
    out
}

fn witness(finding: &FindingFacts) -> String {
    let Some(witness) = &finding.witness else { return String::new() };
    let mut lines = vec![escape(&clip(&witness.claim, 900))];
    for group in witness.groups.iter().take(MOST_GROUPS) {
        lines.push(format!(
            "release {}, group {}: <code>{}</code>, {}",
            group.release,
            escape(&clip(&group.group, 40)),
            escape(&clip(&group.region.join(" · "), 240)),
            counted(u64::from(group.row_count), "row", "rows")
        ));
    }
    lines.extend(witness.more_groups(MOST_GROUPS));
    format!("<tr class=\"sub\"><td></td><td></td><td></td><td colspan=\"4\">{}</td></tr>\n", lines.join("<br>"))
}

fn story_step(step: &StepFacts, names: &[&str]) -> String {
    let mut out = format!("<li><strong>Release {}, {}.</strong> ", step.release, escape(&clip(&step.label, 100)));
    let _ = write!(
        out,
        "The person can only stand in {}.",
        if step.group_count == 1 {
            "one group".to_string()
        } else {
            format!("{} groups", number(step.group_count as u64))
        }
    );
    for group in step.groups.iter().take(MOST_GROUPS) {
        let region: Vec<String> =
            names.iter().zip(&group.region).map(|(name, text)| format!("{name} {text}")).collect();
        let _ = write!(
            out,
            "<br><code>{}</code> <span class=\"soft small\">{}</span>",
            escape(&clip(&region.join(", "), 300)),
            counted(group.rows as u64, "row", "rows")
        );
    }
    if step.group_count > MOST_GROUPS {
        let _ = write!(
            out,
            "<br><span class=\"soft small\">and {} more</span>",
            number((step.group_count - MOST_GROUPS) as u64)
        );
    }
    if step.restarted {
        out.push_str("<br>This contradicts the step before: the value changed, and the search starts again.");
    }
    out.push_str(&chips(&step.found, &step.left));
    out.push_str("</li>");
    out
}

/// Values that were possible, those that still are marked, and how many that are.
fn chips(found: &[String], left: &[String]) -> String {
    let mut out = String::from("<div class=\"chips\">");
    for value in found.iter().take(MOST_VALUES) {
        let class = if left.contains(value) { "left" } else { "gone" };
        let _ = write!(out, "<span class=\"chip {class}\">{}</span>", escape(&clip(value, 60)));
    }
    if found.len() > MOST_VALUES {
        let _ = write!(out, "<span class=\"chip\">and {} more</span>", found.len() - MOST_VALUES);
    }
    let left = counted(left.len() as u64, "value", "values");
    let _ = write!(out, "</div><span class=\"soft small\">{left} left</span>");
    out
}
