//! Attacks: the three questions, every check, what was found, and one case step by step.

use crate::report::html::parts::{N, W, row};
use crate::report::html::{Page, Section, parts};
use crate::report::words::{MATCHED, clip, counted, decimal, list, number};
use crate::report::{FindingFacts, MeasureFacts, StepFacts, StoryFacts};
use maud::{Markup, html};

/// The most groups of a witness or of a step that are shown.
const MOST_GROUPS: usize = 3;

/// The most values of a step that are shown.
const MOST_VALUES: usize = 24;

impl Page<'_> {
    /// The attacks on the releases, and their results.
    pub(super) fn attacks(&mut self) -> Option<Section> {
        let report = self.report;
        let body = html! {
            p {
                "The three questions by which the European data protection authorities judge anonymisation (opinion 05/2014, \
                 WP216), with what was measured and where each answer ends."
            }
            div class="questions" {
                @for question in &report.three_questions {
                    div class="question" {
                        (parts::badge(question.decision))
                        h3 { (question.name) }
                        p { (question.question) }
                        (parts::bullets(&question.evidence, 8))
                        p class="soft small" { (question.limit) }
                    }
                }
            }
            h3 { "Findings" }
            (self.findings())
            (self.checks())
        };
        Some(Section { id: "attacks", clause: "Identifiability", title: "Attacks and their results", body })
    }

    pub(super) fn findings(&self) -> Markup {
        let findings = &self.report.findings;
        if findings.is_empty() {
            // The gate finds what breaks the promise; notes stand with the questions.
            let is_of_gate = self.report.checks.is_empty();
            return html! { p { @if is_of_gate { "None that breaks the promise." } @else { "None." } } };
        }
        let most = self.cap(300);
        let columns = [("No.", N), ("", W), ("Code", W), ("What", W), ("Releases", W), ("People", N), ("Groups", N)];
        html! {
            div class="scroll" { table {
                thead { tr {
                    @for (name, align) in columns { th scope="col" class=[align.class()] { (name) } }
                } }
                tbody {
                    @for finding in findings.iter().take(most) {
                        tr {
                            td class="n" { (finding.number) }
                            td { (parts::badge(finding.severity)) }
                            td { code { (finding.code) } }
                            td { (finding.title) }
                            td { (clip(&list(&finding.releases()), 80)) }
                            td class="n" { @if finding.is_counted() { (number(finding.people)) } @else { "–" } }
                            td class="n" { @if finding.is_counted() { (number(finding.groups)) } @else { "–" } }
                        }
                        (witness(finding))
                    }
                }
            } }
            (parts::left_off_note(findings.len().saturating_sub(most)))
            p class="soft small" {
                code { "tacenda explain CODE" } " says what a code means; "
                code { "tacenda explain finding N --audit AUDIT.json" } " explains one finding in full."
            }
        }
    }

    pub(super) fn story(&self, story: &StoryFacts) -> Markup {
        html! { h3 { (story.heading()) } (self.steps(story)) }
    }

    /// The story without its heading.
    pub(super) fn steps(&self, story: &StoryFacts) -> Markup {
        let names: Vec<&str> = story.known.iter().map(|(name, _)| name.as_str()).collect();
        let most = self.cap(40);
        let before = story.steps.last().map_or(&[][..], |step| &step.left);
        html! {
            p {
                (clip(&story.opening(), 700))
                @if story.coded { " Values are coded: D1 is the same sensitive value throughout." }
            }
            ol class="steps" {
                @for step in story.steps.iter().take(most) { (story_step(step, &names)) }
                @if let Some(matched) = &story.matched {
                    li { (MATCHED) (chips(before, matched)) }
                }
            }
            @if story.steps.len() > most {
                p class="soft small" { "And " (story.steps.len() - most) " more steps." }
            }
            p { strong { (story.ending()) } }
        }
    }

    fn checks(&self) -> Markup {
        let checks = &self.report.checks;
        if checks.is_empty() {
            return html! {
                p {
                    "No attack over the whole series was run for this page: the publisher's auditor judged the \
                     release before publication. Anyone can attack the published files: " code { "tacenda audit \
                     FILE…" } "."
                }
            };
        }
        let mut left = self.cap(240);
        let mut rows: Vec<Vec<Markup>> = Vec::new();
        for check in checks {
            let taken = &check.measures[..check.measures.len().min(left)];
            left -= taken.len();
            let question = html! {
                (check.question)
                @if let Some(why) = &check.why { br; span class="soft" { (clip(why, 240)) } }
                (measures(taken))
            };
            let coverage = match check.of {
                0 => String::new(),
                of => format!("{} of {} {}", number(check.looked_at), number(of), check.what),
            };
            rows.push(row![parts::badge(check.verdict), question, coverage, number(check.findings)]);
        }
        let columns = [("Answer", W), ("Question", W), ("Looked at", W), ("Findings", N)];
        html! {
            h3 { "Every check" }
            (parts::table(&columns, &rows, 0))
        }
    }
}

/// What was measured: one line per measure, its releases beside each other.
fn measures(measures: &[MeasureFacts]) -> Markup {
    let mut names: Vec<&str> = Vec::new();
    for measure in measures {
        if !names.contains(&measure.name.as_str()) {
            names.push(&measure.name);
        }
    }
    let values = |name: &str| {
        let named = measures.iter().filter(|measure| measure.name == name);
        named.map(|measure| measure.value.map_or("not a number".to_string(), decimal)).collect::<Vec<_>>().join(" · ")
    };
    html! {
        @for name in names {
            br; span class="soft small" { (name) ": " (values(name)) }
        }
    }
}

fn witness(finding: &FindingFacts) -> Markup {
    let Some(witness) = &finding.witness else { return html! {} };
    html! {
        tr class="sub" {
            td {} td {} td {}
            td colspan="4" {
                (clip(&witness.claim, 900))
                @for group in witness.groups.iter().take(MOST_GROUPS) {
                    br;
                    "release " (group.release) ", group " (clip(&group.group, 40)) ": "
                    code { (clip(&group.region.join(" · "), 240)) }
                    ", " (counted(u64::from(group.row_count), "row", "rows"))
                }
                @if let Some(more) = witness.more_groups(MOST_GROUPS) { br; (more) }
            }
        }
    }
}

fn story_step(step: &StepFacts, names: &[&str]) -> Markup {
    let region = |texts: &[String]| {
        let named: Vec<String> = names.iter().zip(texts).map(|(name, text)| format!("{name} {text}")).collect();
        clip(&named.join(", "), 300)
    };
    html! {
        li {
            strong { "Release " (step.release) ", " (clip(&step.label, 100)) "." }
            " The person can only be in " (step.groups_in_words()) "."
            @for group in step.groups.iter().take(MOST_GROUPS) {
                br;
                code { (region(&group.region)) } " "
                span class="soft small" { (counted(group.rows as u64, "row", "rows")) }
            }
            @if step.group_count > MOST_GROUPS {
                br; span class="soft small" { "and " (number((step.group_count - MOST_GROUPS) as u64)) " more" }
            }
            @if step.restarted { br; (StepFacts::RESTARTED) }
            (chips(&step.found, &step.left))
        }
    }
}

/// Values that were possible, those that still are marked, and how many that are.
fn chips(found: &[String], left: &[String]) -> Markup {
    html! {
        div class="chips" {
            @for value in found.iter().take(MOST_VALUES) {
                span class={ "chip " @if left.contains(value) { "left" } @else { "gone" } } translate="no" { (clip(value, 60)) }
            }
            @if found.len() > MOST_VALUES {
                span class="chip" { "and " (found.len() - MOST_VALUES) " more" }
            }
        }
        span class="soft small" { (counted(left.len() as u64, "value", "values")) " left" }
    }
}
