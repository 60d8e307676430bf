//! A report for people: one HTML file that needs nothing else.
//!
//! It has no script, no network access and no external fonts. It follows the reader's light or dark setting, and can be
//! printed and signed. Sections are in the order of ISO/IEC 27559: context, data, identifiability, mitigation,
//! governance. Every text is escaped by its type, because maud writes everything but markup as text. Lists are
//! shortened, repeatedly if the page is still too long, so it stays under two megabytes for any report.

pub mod parts;
pub mod plots;
mod context;
mod data;
mod identifiability;
mod attacks;
mod mitigation;
mod governance;

use crate::audit::Severity;
use crate::model::Language;
use crate::report::html::parts::{Tone, icon};
use crate::report::language::translated;
use crate::report::words::{capital, clip, counted, number, percent};
use crate::report::{Report, RiskKind};
use maud::{DOCTYPE, Markup, PreEscaped};

/// The style of every page of ours.
pub const STYLE: &str = include_str!("style.css");

/// The longest page in bytes.
const MOST_BYTES: usize = 2_000_000;

/// The report as one HTML page.
pub fn html(report: &Report) -> String {
    let mut page = String::new();
    for cut in [1, 4, 16, 64] {
        page = Page { report, cut, plots: 0 }.render().into_string();
        // A control character could send a command to a terminal that shows the page.
        if page.contains(is_control) {
            page = page.replace(is_control, "\u{fffd}");
        }
        if report.language != Language::English {
            page = translated(&page, report.language).page;
        }
        if page.len() < MOST_BYTES {
            break;
        }
    }
    page
}

/// The verdict alone, for a page that has more than a report.
pub fn verdict(report: &Report) -> Markup {
    Page { report, cut: 1, plots: 0 }.verdict()
}

/// The numbers that matter most, for the same.
pub fn figures(report: &Report) -> Markup {
    Page { report, cut: 1, plots: 0 }.figures()
}

/// The findings, for the same.
pub fn findings(report: &Report) -> Markup {
    Page { report, cut: 1, plots: 0 }.findings()
}

/// The case that was worked out step by step, if there is one, for the same.
pub fn story(report: &Report) -> Option<Markup> {
    report.story.as_ref().map(|story| Page { report, cut: 1, plots: 0 }.story(story))
}

/// The same without its heading, for a page about one person.
pub fn story_steps(report: &Report) -> Option<Markup> {
    report.story.as_ref().map(|story| Page { report, cut: 1, plots: 0 }.steps(story))
}

fn is_control(letter: char) -> bool {
    letter.is_control() && letter != '\n'
}

/// A page being made.
struct Page<'a> {
    report: &'a Report,
    /// What the lengths of lists are divided by.
    cut: usize,
    /// How many plots there are so far, for their names.
    plots: u32,
}

/// A numbered part of the page.
struct Section {
    id: &'static str,
    /// The part of ISO/IEC 27559 it belongs to.
    clause: &'static str,
    title: &'static str,
    body: Markup,
}

impl Page<'_> {
    fn render(mut self) -> Markup {
        let sections: Vec<Section> = [
            self.releases(),
            self.environment(),
            self.columns(),
            self.policy(),
            self.threat_model(),
            self.risk(),
            self.attacks(),
            self.added_and_left_out(),
            self.utility(),
            self.deletion(),
            self.validity(),
            self.repeat(),
            self.signatures(),
        ]
        .into_iter()
        .flatten()
        .collect();
        maud::html! {
            (DOCTYPE)
            html lang=(self.report.language.word()) {
                (self.head())
                body { main {
                    (self.opening())
                    nav aria-label="Contents" { ol {
                        @for (section, number) in sections.iter().zip(1..) {
                            li { a href={ "#" (section.id) } { span { (number) } (section.title) } }
                        }
                    } }
                    @for (section, number) in sections.iter().zip(1..) {
                        section id=(section.id) {
                            p class="eyebrow" { (section.clause) }
                            h2 { (number) ". " (section.title) }
                            (section.body)
                        }
                    }
                    (self.footer())
                } }
            }
            "\n"
        }
    }

    fn footer(&self) -> Markup {
        let facts = &self.report.provenance;
        maud::html! {
            footer {
                "Made by " (parts::data(&facts.software))
                @if let Some(at) = &facts.made_at { ", " (at) }
                ". " (capital(self.report.edition.word())) " edition."
                @if let Some(command) = &facts.command {
                    " The same numbers for programs: " code { (clip(command, 600)) " --format json" } "."
                }
                @if self.report.language != Language::English {
                    p { "This page is a translation. The English promise in the manifest is the binding text." }
                }
            }
        }
    }

    fn title(&self) -> String {
        let series = &self.report.series;
        clip(if series.title.is_empty() { &series.name } else { &series.title }, 300)
    }

    fn head(&self) -> Markup {
        maud::html! {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'";
                meta name="robots" content="noindex";
                title { (self.title()) ": privacy report" }
                // Our own file, which is no text from outside.
                style { (PreEscaped(STYLE)) }
            }
        }
    }

    /// The title, the verdict, the numbers that matter most, and what to do.
    fn opening(&self) -> Markup {
        let report = self.report;
        maud::html! {
            header {
                p class="eyebrow" { "Privacy report · " (report.edition.word()) " edition" }
                h1 translate="no" { (self.title()) }
                p class="lead" { (self.subtitle()) }
                @if let Some(promise) = &report.series.promise {
                    p { strong { "Promised:" } " " (promise.in_short) }
                }
            }
            (self.verdict())
            @if let Some(story) = &report.story { (self.story(story)) }
            (self.figures())
            @if !report.next_steps.is_empty() {
                h3 { "What to do next" }
                (parts::bullets(&report.next_steps, self.cap(20)))
            }
        }
    }

    fn verdict(&self) -> Markup {
        let verdict = &self.report.verdict;
        let tone = Tone::from(verdict.decision);
        maud::html! {
            div class={ "verdict " (tone.class()) } {
                (icon(tone))
                strong { (verdict.decision.words()) }
                p { (verdict.sentence) }
            }
        }
    }

    fn subtitle(&self) -> Markup {
        let series = &self.report.series;
        let releases = &self.report.releases[..];
        maud::html! {
            "Series " code { (clip(&series.name, 120)) } " · "
            @match releases {
                [] => { "no releases" }
                [only] => { "release " (only.number) ", " (parts::data(&clip(&only.label, 120))) }
                [first, .., last] => {
                    (counted(releases.len() as u64, "release", "releases"))
                    " from " (parts::data(&clip(&first.label, 120))) " to " (parts::data(&clip(&last.label, 120)))
                }
            }
            @if !series.contact.is_empty() { " · " (parts::data(&clip(&series.contact, 120))) }
        }
    }

    fn figures(&self) -> Markup {
        let report = self.report;
        let Some(last) = report.releases.last() else { return maud::html! {} };
        let smallest = report.releases.iter().map(|release| release.risk.smallest_group).min().unwrap_or(0);
        let share = report.releases.iter().map(|release| release.risk.highest_share).fold(0.0, f64::max);
        let promised = report.series.promise.as_ref().and_then(|promise| promise.one_in);
        let allowed = promised.map_or(String::new(), |one_in| format!("promise: 1 in {one_in} at most"));
        let is_inference = report.series.risk == RiskKind::Inference;
        let below_smallest = match smallest {
            0 => "",
            1 if is_inference => "person",
            _ if is_inference => "people",
            _ => &allowed,
        };
        let below_share = if is_inference && promised.is_some() { &allowed } else { "of one value in a group" };
        // Notes are no accusations, so they are counted separately, as in the verdict.
        let notes = report.findings.iter().filter(|finding| finding.severity == Severity::Note).count() as u64;
        let found = report.findings.len() as u64 - notes;
        let checks = counted(report.checks.len() as u64, "check", "checks");
        let asked = match (report.checks.len(), notes) {
            (0, _) => "the gate judged it".to_string(),
            (_, 0) => format!("from {checks}"),
            (_, notes) => format!("and {}, from {checks}", counted(notes, "note", "notes")),
        };
        let figures = [
            ("People published", number(last.people), &*format!("in {}", counted(last.groups, "group", "groups"))),
            ("Smallest group", number(u64::from(smallest)), below_smallest),
            ("Largest share", percent(share), below_share),
            ("Precision kept", percent(1.0 - last.loss.leaf_share), "mean over attributes"),
            ("Findings", number(found), &*asked),
        ];
        let is_shown = |name: &str| name != "Largest share" || report.has_values();
        maud::html! {
            dl class="figures" {
                @for (name, value, more) in figures.iter().filter(|(name, _, _)| is_shown(name)) {
                    div { dt { (name) } dd { (value) small { (more) } } }
                }
            }
        }
    }

    /// How many items of a list are shown.
    fn cap(&self, most: usize) -> usize {
        (most / self.cut).max(1)
    }

    /// Whether it is to be filled in and signed.
    fn is_signed(&self) -> bool {
        !self.report.signing.is_empty()
    }
}

#[cfg(test)]
mod tests;
