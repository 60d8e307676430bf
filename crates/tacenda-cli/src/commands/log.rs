//! The series so far, from the ledger alone.

use crate::args::Common;
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::sync::Arc;
use tacenda::ledger::{PublishedTo, RealDisk, Store, What};

/// What the log answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogReport {
    /// The series' name.
    pub series: String,
    /// The hash of the ledger's last line.
    pub head: String,
    /// All events, the oldest first.
    pub events: Vec<LogEvent>,
}

/// A view made elsewhere.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogView {
    /// Its name.
    pub name: String,
    /// Who has it.
    pub recipients: Vec<String>,
}

/// One event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogEvent {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What: init, publish, adopt or retract.
    pub event: String,
    /// The release, for a publication.
    pub release: Option<u32>,
    /// Its label.
    pub label: Option<String>,
    /// Its promise.
    pub model: Option<String>,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// Who got it.
    pub recipients: Vec<String>,
    /// Views made elsewhere that were laid beside it for the first time.
    pub taken_in: Vec<LogView>,
    /// Its rows, counterfeits included.
    pub rows: Option<u64>,
    /// Its groups.
    pub groups: Option<u64>,
    /// Its counterfeits.
    pub counterfeits: Option<u64>,
    /// The hash of the line.
    pub hash: String,
}

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let store = Store::open_read(Arc::new(RealDisk), &common.project);
    let store = store.map_err(|error| shared::failure(error.into(), screen))?;
    let events: Vec<LogEvent> = store
        .events()
        .iter()
        .map(|event| {
            let publication = event.publication();
            let count = |name: &str| publication.and_then(|publication| publication.numbers[name].as_u64());
            LogEvent {
                seq: event.seq,
                at: event.at.clone(),
                event: match event.what {
                    What::Init(_) => "init",
                    What::Publish(_) => "publish",
                    What::Adopt(_) => "adopt",
                    What::Retract { .. } => "retract",
                }
                .to_string(),
                release: publication.map(|publication| publication.number),
                label: publication.map(|publication| publication.label.clone()),
                model: publication.and_then(|publication| publication.promise["model"].as_str().map(String::from)),
                view: publication.and_then(|publication| publication.view.as_ref()).map(|view| view.name.clone()),
                recipients: publication
                    .and_then(|publication| publication.view.as_ref())
                    .map_or(Vec::new(), |view| view.recipients.clone()),
                taken_in: publication.map_or(Vec::new(), |publication| {
                    let view =
                        |view: &PublishedTo| LogView { name: view.name.clone(), recipients: view.recipients.clone() };
                    publication.taken_in.iter().map(view).collect()
                }),
                rows: count("rows"),
                groups: count("groups"),
                counterfeits: count("counterfeits"),
                hash: event.hash.clone(),
            }
        })
        .collect();
    let report = LogReport { series: store.series().to_string(), head: store.head().to_string(), events };
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &LogReport) -> String {
    let mut out = format!("{}\n\n", report.series);
    let _ = writeln!(
        out,
        "  {:>4}  {:<20}  {:<16} {:>10} {:>9} {:>12}  line",
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
            "  {release:>4}  {:<20}  {:<16} {:>10} {:>9} {:>12}  {}",
            event.at,
            event.label.as_deref().unwrap_or_default(),
            shown(event.rows),
            shown(event.groups),
            shown(event.counterfeits),
            &event.hash[..12]
        );
    }
    if report.events.iter().any(|event| event.event == "adopt") {
        out.push_str("\n  * made elsewhere and adopted\n");
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
    let wide = views.iter().map(|view| view.0.chars().count()).max().unwrap_or(0);
    // A column is as wide as its widest cell.
    let width = |name: &str| {
        let cells = views.iter().filter(|view| view.1.iter().any(|recipient| recipient == name));
        cells.map(|view| view.2.len()).max().unwrap_or(0).max(name.chars().count())
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
