//! The series so far, from the ledger alone.

use crate::args::Common;
use crate::commands::{deliver, shared};
use crate::failure::Failure;
use crate::screen::{Screen, number};
use std::fmt::Write;
use tacenda::use_cases;
use tacenda::use_cases::{LogEvent, LogReport};

/// The widest column of a table. Longer names push the rest of their line to the right.
const WIDEST: usize = 60;

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let report = use_cases::log(&common.project).map_err(|error| shared::failure(error, screen))?;
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &LogReport) -> String {
    let mut out = format!("{}\n\n", report.series);
    let _ = writeln!(
        out,
        "  {:>7}  {:<20}  {:<16} {:>10} {:>9} {:>12}  ledger hash",
        "", "when", "label", "rows", "groups", "counterfeits"
    );
    for event in &report.events {
        let shown = |count: Option<u64>| count.map_or(String::new(), number);
        let release = match (event.release, event.event.as_str()) {
            (Some(release), "adopt") => format!("{release}*"),
            (Some(release), _) => release.to_string(),
            (None, event) => event.to_string(),
        };
        let _ = writeln!(
            out,
            "  {release:>7}  {:<20}  {:<16} {:>10} {:>9} {:>12}  {}",
            event.at,
            event.label.as_deref().unwrap_or_default(),
            shown(event.rows),
            shown(event.groups),
            shown(event.counterfeits),
            &event.hash[..12]
        );
        for (what, key) in [("signed", &event.signed_by), ("approved", &event.approved_by)] {
            if let Some(key) = key {
                let _ = writeln!(out, "  {:>7}  {what} by the key {key}", "");
            }
        }
        if let Some(says) = &event.says {
            let _ = writeln!(out, "  {:>7}  {says}", "");
        }
        for amended in &event.amended {
            let _ = writeln!(out, "  {:>7}  amended: {amended}", "");
        }
    }
    if report.events.iter().any(|event| event.event == "adopt") {
        out.push_str("\n  * made elsewhere and adopted\n");
    }
    let owed: String =
        report.owed.iter().map(|one| format!("  owed: release {} {}\n", one.release, deliver::owed(one))).collect();
    if !owed.is_empty() {
        let _ = write!(out, "\n{owed}  To deliver what is owed: tacenda deliver\n");
    }
    out + &matrix(&report.events)
}

/// Which release of which view went to whom; nothing where there are no views.
fn matrix(events: &[LogEvent]) -> String {
    let mut views: Vec<(&str, &[String], String)> = Vec::new();
    for event in events {
        views.extend(event.taken_in.iter().map(|view| (&view.name[..], &view.recipients[..], "elsewhere".into())));
        let release = format!("r{:04}", event.release.unwrap_or(0));
        views.extend(event.view.iter().map(|view| (&view[..], &event.recipients[..], release.clone())));
    }
    let mut recipients: Vec<&str> = Vec::new();
    for name in views.iter().flat_map(|view| view.1) {
        if !recipients.contains(&name.as_str()) {
            recipients.push(name);
        }
    }
    if views.is_empty() {
        return String::new();
    }
    let wide = views.iter().map(|view| view.0.chars().count()).max().unwrap_or(0).min(WIDEST);
    // A column is as wide as its widest cell.
    let width = |name: &str| {
        let cells = views.iter().filter(|view| view.1.iter().any(|recipient| recipient == name));
        cells.map(|view| view.2.len()).max().unwrap_or(0).max(name.chars().count()).min(WIDEST)
    };
    let mut out = format!("\n  {:wide$}", "");
    for name in &recipients {
        let _ = write!(out, "  {name:<0$}", width(name));
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    for (view, to, release) in &views {
        let _ = write!(out, "  {view:wide$}");
        for name in &recipients {
            let cell = if to.iter().any(|recipient| recipient == name) { release } else { "-" };
            let _ = write!(out, "  {cell:<0$}", width(name));
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}
