//! The series: its verdict, its timeline, and the one next thing to do.

use crate::console::Console;
use crate::drops::List;
use crate::forms::Fields;
use crate::jobs::{Standing, Work};
use crate::pages::numbers::english;
use crate::pages::{cautions, report_page};
use crate::shell::{Here, Sheet, back, drop_zone, error_box, failed, job_box, notice, private_tables, truth_given};
use axum::response::Response;
use maud::{Markup, html};
use std::fs;
use tacenda::report;
use tacenda::report::parts::{N, Tone, W, data, label, table};
use tacenda::report::plots::{Caption, Phrase, timeline};
use tacenda::report::{Report, number};
use tacenda::use_cases::{LogEvent, NextStep, Overview, ToldError};

/// The page.
pub fn get(console: &Console, _: &Fields) -> Response {
    let overview = match console.overview() {
        Ok(overview) => overview,
        Err(error) => return failed(console, Here::Series, "Series", &error),
    };
    let releases: Vec<&LogEvent> = published(&overview);
    let head = overview.log.as_ref().map_or("", |log| log.head.as_str());
    let judged = if releases.is_empty() { None } else { console.judged(head) };
    let standing = console.jobs.standing(Work::Judge, head);
    let title =
        overview.policy.as_ref().map(|policy| if policy.title.is_empty() { &policy.series } else { &policy.title });
    let body = html! {
        @if let Some(title) = title { p class="name" { (data(title)) } }
        @match &judged {
            Some(report) => (report::verdict(report)),
            None if releases.is_empty() => (nothing_yet(&overview)),
            None => (not_judged(&standing)),
        }
        (next_step(&overview, console.settings.allow_publish))
        (cautions(console))
        @if let Some(fault) = &overview.fault { (error_box(&ToldError::of(fault))) }
        @if let Some(report) = &judged {
            (report::figures(report))
            p { a href="/report" target="_blank" rel="noopener" { "The report, to read, print and sign" } }
            (with_tables(console, &releases, &standing))
            @if !report.assumptions.is_empty() {
                details { summary { "What the verdict rests on" } (english(&report.assumptions)) }
            }
        }
        @if !releases.is_empty() { section { h2 { "Timeline" } (drawn(judged.as_ref())) (register(&releases)) } }
        @if let Some(policy) = &overview.policy {
            section {
                h2 { "The promise" }
                blockquote { (policy.promise) }
                details {
                    summary { "What it does not cover" }
                    ul { @for limit in &policy.limits { li { (limit) } } }
                }
                p { a href="/policy" { "The policy file" } }
            }
        }
    };
    let command = format!("{}\n{}", console.command("log"), console.command("report -o report.html"));
    let lead = "What was published so far, and what it gives away.";
    Sheet { here: Here::Series, title: "Series", lead, command, body }.answer(console)
}

/// The releases of the ledger.
fn published(overview: &Overview) -> Vec<&LogEvent> {
    overview.log.iter().flat_map(|log| &log.events).filter(|event| event.release.is_some()).collect()
}

fn nothing_yet(overview: &Overview) -> Markup {
    let sentence = match overview.policy {
        Some(_) => "The policy is there, and nothing is published yet.",
        None => "There is no series in this folder yet.",
    };
    notice(Tone::Plain, "NOTHING PUBLISHED", html! { p { (sentence) } })
}

/// The place of the verdict before there is one. It is no pass.
fn not_judged(standing: &Option<Standing>) -> Markup {
    let sentence =
        "The releases were judged one by one before they were published. All of them together are being attacked now.";
    html! {
        (notice(Tone::Open, "NOT ASSESSED YET", html! { p { (sentence) } }))
        (job_box(Work::Judge, standing))
        @if matches!(standing, Some(Standing::Failed(_) | Standing::Cancelled)) {
            form method="post" action="/series/judge" { button { "Attack them again" } }
        }
    }
}

/// The questions that need the private tables, before somebody signs. They are attacked again; an error leaves the report as it was.
fn with_tables(console: &Console, releases: &[&LogEvent], standing: &Option<Standing>) -> Markup {
    let again = standing.as_ref().filter(|standing| !matches!(standing, Standing::Done(_)));
    html! {
        (job_box(Work::Judge, &again.cloned()))
        details {
            summary { "Ask the questions about people, too" }
            p { "Do this before you sign. It needs the private table of every release." }
            (drop_zone(List::Tables, "Drop private tables here, or choose them", true))
            form method="post" action="/series/judge" {
                (private_tables(console, releases, &[]))
                p { button class="second" { "Attack them again" } }
            }
        }
    }
}

/// The one next thing to do.
fn next_step(overview: &Overview, allow_publish: bool) -> Markup {
    let (href, action, why) = match overview.next {
        NextStep::Start => (
            "/start",
            "Start with a table",
            "The first step is a policy: which columns there are, and what is promised.",
        ),
        NextStep::MendPolicy => ("/policy", "Correct the policy", "The policy file cannot be used as it is."),
        NextStep::RehearseFirst => ("/next", "Rehearse the first release", "Nothing is published by a rehearsal."),
        NextStep::PublishPlan if allow_publish => {
            ("/next", "Look at the rehearsed release and publish it", "A plan is waiting.")
        }
        NextStep::PublishPlan => ("/next", "Look at the rehearsed release", "A plan is waiting."),
        NextStep::RehearseNext => ("/next", "Rehearse the next release", "As soon as there is a new table."),
    };
    html! {
        section class="step" aria-label="What to do next" {
            p class="eyebrow" { "What to do next" }
            p { a class="button" href=(href) { (action) } " " span class="soft" { (why) } }
        }
    }
}

fn drawn(judged: Option<&Report>) -> Markup {
    let Some(report) = judged.filter(|report| report.releases.len() > 1) else { return html! {} };
    let mut description = vec![Phrase::said("People in each release. ")];
    for (at, release) in report.releases.iter().take(40).enumerate() {
        description.extend((at > 0).then(|| Phrase::said("; ")));
        description.push(Phrase::data(&release.label));
        description.push(Phrase::said(format!(": {}", number(release.people))));
    }
    let caption = Caption { id: 1, title: "Timeline of the releases".into(), description };
    let shown = &report.releases[report.releases.len().saturating_sub(60)..];
    html! {
        figure {
            (timeline(shown, &caption))
            figcaption {
                "People in each release."
                @if shown.iter().any(|release| release.counterfeits > 0) { " The light part on top is artificial rows." }
            }
        }
    }
}

fn register(releases: &[&LogEvent]) -> Markup {
    let rows: Vec<Vec<Markup>> = releases
        .iter()
        .rev()
        .map(|event| {
            let number_of = event.release.unwrap_or(0);
            let cell = |count: Option<u64>| html! { (count.map_or("–".to_string(), number)) };
            vec![
                html! { a href={ "/release/" (number_of) } { (number_of) } },
                html! { (label(event.label.as_deref().unwrap_or_default())) },
                html! { (label(event.at.split('T').next().unwrap_or_default())) },
                cell(event.rows),
                cell(event.groups),
                cell(event.counterfeits),
            ]
        })
        .collect();
    let columns = [("No.", N), ("Label", W), ("Published", W), ("Rows", N), ("Groups", N), ("Artificial rows", N)];
    table(&columns, &rows, 0)
}

/// Attacks the series again.
pub fn judge(console: &Console, fields: &Fields) -> Response {
    let truth = match truth_given(console, fields) {
        Ok(truth) => truth,
        Err(error) => return failed(console, Here::Series, "Series", &error),
    };
    if let Some(log) = console.overview().ok().and_then(|overview| overview.log) {
        console.jobs.forget(Work::Judge);
        console.judge(&log.head, truth);
    }
    back("/series")
}

/// The steward's report, as a page of its own.
pub fn report_alone(console: &Console, _: &Fields) -> Response {
    let head = console.overview().ok().and_then(|overview| overview.log).map_or_else(String::new, |log| log.head);
    match fs::read_to_string(console.drops.own(&format!("report-{head}.html"))) {
        Ok(page) => report_page(page),
        Err(_) => back("/series"),
    }
}
