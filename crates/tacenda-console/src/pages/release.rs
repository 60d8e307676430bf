//! One release: its files, its picture, what changed, and its report in place.

use crate::console::Console;
use crate::forms::Fields;
use crate::jobs::Work;
use crate::pages::report_page;
use crate::shell::{Here, Sheet, back, failed, job_box, notice, size};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use maud::{Markup, html};
use std::fs;
use tacenda::model::{counted, people};
use tacenda::report::parts::{N, Tone, W, data, facts, label, table};
use tacenda::report::plots::{Caption, Phrase, regions};
use tacenda::report::{number, percent};
use tacenda::use_cases::{DiffReport, DiffSide, ReleaseFile, ShowReport, diff, release_files, show};

/// The most groups that are drawn.
const MOST_DRAWN: usize = 500;

/// The last release, or the note that there is none.
pub fn list(console: &Console, _: &Fields) -> Response {
    let log = console.overview().ok().and_then(|overview| overview.log);
    let last = log.iter().flat_map(|log| &log.events).filter_map(|event| event.release).max();
    match last {
        Some(number) => back(&format!("/release/{number}")),
        None => {
            let body = notice(Tone::Plain, "NOTHING PUBLISHED", html! { p { "Nothing is published yet." } });
            let lead = "What recipients have.";
            Sheet { here: Here::Release, title: "Releases", lead, command: console.command("log"), body }
                .answer(console)
        }
    }
}

/// One release.
pub fn one(console: &Console, release: u32) -> Response {
    let shown = show(console.root(), Some(&release.to_string()), &|_, _| {});
    let files = release_files(console.root(), release);
    let (shown, files) = match (shown, files) {
        (Ok(shown), Ok(files)) => (shown, files),
        (Err(error), _) | (_, Err(error)) => return failed(console, Here::Release, "Release", &error),
    };
    let log = console.overview().ok().and_then(|overview| overview.log);
    let numbers: Vec<(u32, String)> = log
        .iter()
        .flat_map(|log| &log.events)
        .filter_map(|event| Some((event.release?, event.label.clone().unwrap_or_default())))
        .collect();
    let head = log.map_or_else(String::new, |log| log.head);
    let before = release.checked_sub(1).filter(|before| *before > 0);
    let changed = before.map(|before| diff(console.root(), &before.to_string(), &release.to_string(), &|_, _| {}));
    let body = html! {
        nav class="releases" aria-label="Releases" { ul {
            @for (number, text) in &numbers {
                li { a href={ "/release/" (number) } aria-current=[(*number == release).then_some("page")] { (number) " " (label(text)) } }
            }
        } }
        @if let Some(withdrawn) = &shown.withdrawn { (notice(Tone::Fail, "WITHDRAWN", html! { p { (data(withdrawn)) } })) }
        (in_numbers(&shown))
        section { h2 { "Files" } (listed(release, &shown, &files)) }
        section { h2 { "The picture of the groups" } (picture(console, &head, &shown.label)) }
        @if let Some(Ok(changed)) = &changed { section { h2 { "What changed since the release before" } (difference(changed)) } }
        section {
            h2 { "The page that recipients have" }
            iframe src={ "/release/" (release) "/report" } title="The page that recipients have" class="report" sandbox="" {}
            p { a href={ "/release/" (release) "/report" } target="_blank" rel="noopener" { "Open it alone, to print it" } }
        }
    };
    let mut commands = vec![console.command(&format!("show {release}"))];
    commands.extend(before.map(|before| console.command(&format!("diff {before} {release}"))));
    let title = format!("Release {release}");
    let lead = "What recipients have.";
    Sheet { here: Here::Release, title: &title, lead, command: commands.join("\n"), body }.answer(console)
}

fn in_numbers(shown: &ShowReport) -> Markup {
    html! {
        (facts(&[
            ("Label", html! { (label(&shown.label)) }),
            ("Rows", html! { (number(shown.rows)) }),
            ("Artificial rows", html! { (number(shown.counterfeits)) }),
            ("Groups", html! { (number(shown.groups)) }),
            ("Smallest group", html! { (people(u64::from(shown.smallest_group))) }),
            ("Loss of detail", html! { (percent(shown.loss.leaf_share)) }),
        ]))
        @if let Some(alone) = &shown.alone { p { (alone) } }
        blockquote { (shown.promise) }
    }
}

fn listed(release: u32, shown: &ShowReport, files: &[ReleaseFile]) -> Markup {
    let row = |file: &ReleaseFile| {
        vec![
            html! { a href={ "/release/" (release) "/file/" (file.name) } download { (data(&file.name)) } },
            html! { (size(file.bytes)) },
            html! { span class="hash" { (data(&file.sha256)) } },
        ]
    };
    let rows: Vec<Vec<Markup>> = files.iter().map(row).collect();
    html! {
        p { "Hand over this folder, and nothing else: " (data(&shown.folder.display().to_string())) }
        (table(&[("File", W), ("Size", N), ("SHA-256", W)], &rows, 0))
    }
}

/// The regions of the groups on the two most precise columns.
fn picture(console: &Console, head: &str, label_of: &str) -> Markup {
    let Some(report) = console.judged(head) else {
        return html! {
            p class="soft" { "It is drawn as soon as the series was attacked." }
            (job_box(Work::Judge, &console.jobs.standing(Work::Judge, head)))
        };
    };
    let found = report
        .picture
        .as_ref()
        .and_then(|picture| picture.panels.iter().find(|panel| panel.label == label_of).map(|panel| (picture, panel)));
    let Some((picture, panel)) = found else {
        return html! { p class="soft" { "There are not two columns to draw it on." } };
    };
    let said = format!(": {}", counted(panel.groups, "group", "groups"));
    let description =
        vec![Phrase::data(&picture.across), Phrase::said(" and "), Phrase::data(&picture.up), Phrase::said(said)];
    let caption = Caption { id: 1, title: "The regions of the groups".into(), description };
    html! {
        figure class="picture" {
            (regions(picture, panel, MOST_DRAWN, &caption))
            figcaption { "Each box is a group, on the two columns that are published most precisely." }
        }
    }
}

fn difference(changed: &DiffReport) -> Markup {
    type Number = fn(&DiffSide) -> String;
    let lines: [(&str, Number); 6] = [
        ("Rows", |side| number(side.rows)),
        ("People", |side| number(side.people)),
        ("Artificial rows", |side| number(side.counterfeits)),
        ("Groups", |side| number(side.groups)),
        ("Smallest group", |side| number(side.smallest_group.into())),
        ("Loss of detail", |side| percent(side.loss)),
    ];
    let rows: Vec<Vec<Markup>> = lines
        .iter()
        .map(|(name, of)| vec![html! { (name) }, html! { (of(&changed.from)) }, html! { (of(&changed.to)) }])
        .collect();
    let values: Vec<Vec<Markup>> = changed
        .values
        .iter()
        .take(20)
        .map(|value| {
            vec![
                html! { (data(&value.value.join(", "))) },
                html! { (number(value.from)) },
                html! { (number(value.to)) },
            ]
        })
        .collect();
    html! {
        (table(&[("", W), ("Before", N), ("Now", N)], &rows, 0))
        @if !changed.columns.is_empty() {
            p { "Columns whose declared values differ: " (data(&changed.columns.join(", "))) }
        }
        details {
            summary { "Rows of each sensitive value" }
            (table(&[("Value", W), ("Before", N), ("Now", N)], &values, changed.values.len().saturating_sub(20)))
        }
    }
}

/// A file of the release that the ledger lists, whole.
fn read(console: &Console, release: u32, name: &str) -> Option<Vec<u8>> {
    let files = release_files(console.root(), release).ok()?;
    let file = files.into_iter().find(|file| file.name == name)?;
    fs::read(file.path).ok()
}

/// The page for recipients, as it lies in the release folder.
pub fn report(console: &Console, release: u32) -> Response {
    match read(console, release, "report.html").map(|bytes| String::from_utf8_lossy(&bytes).into_owned()) {
        Some(page) => report_page(page),
        None => (StatusCode::NOT_FOUND, "this release has no report").into_response(),
    }
}

/// A file to save. It is never shown as a page.
pub fn file(console: &Console, release: u32, name: &str) -> Response {
    match read(console, release, name) {
        Some(bytes) => {
            let headers =
                [(header::CONTENT_TYPE, "application/octet-stream"), (header::CONTENT_DISPOSITION, "attachment")];
            (headers, bytes).into_response()
        }
        None => (StatusCode::NOT_FOUND, "this release has no such file").into_response(),
    }
}
