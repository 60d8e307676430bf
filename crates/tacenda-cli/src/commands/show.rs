//! One release, from its folder alone: what a recipient can see.

use crate::args::{Common, ShowArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use tacenda::measure;

/// What show answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ShowReport {
    /// The release folder.
    pub folder: PathBuf,
    /// The series' name.
    pub series: String,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// The promise, in one sentence.
    pub promise: String,
    /// What the promise does not cover.
    pub limits: Vec<String>,
    /// Rows, counterfeits included.
    pub rows: u64,
    /// Groups.
    pub groups: u64,
    /// Rows with nobody behind them.
    pub counterfeits: u64,
    /// The number of people in the smallest group.
    pub smallest_group: u32,
    /// Loss measures; docs/formats.md defines them.
    pub loss: serde_json::Value,
}

pub fn run(args: &ShowArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let (folder, published) = shared::read_release(args.release.as_deref(), common, screen)?;
    let release = &published.release;
    let loss = measure::loss(release, &published.schema, published.promise.terms().least_group);
    let report = ShowReport {
        folder,
        series: published.series.clone(),
        release: release.number,
        label: release.label.clone(),
        view: published.manifest.view.clone(),
        promise: published.promise.terms().sentence,
        limits: published.manifest.promise.limits.clone(),
        rows: release.row_count() as u64,
        groups: release.group_count() as u64,
        counterfeits: release.counterfeit_count(),
        smallest_group: (0..release.group_count()).map(|group| release.people(group)).min().unwrap_or(0),
        loss: loss.to_json(),
    };
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &ShowReport) -> String {
    let mut out = format!("Release {} of {}, label {}\n\n", report.release, report.series, report.label);
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<13} {text}");
    };
    if let Some(view) = &report.view {
        line("view", view.clone());
    }
    line("folder", report.folder.display().to_string());
    line("rows", format!("{} in {} groups", number(report.rows), number(report.groups)));
    line("counterfeits", number(report.counterfeits));
    line("smallest", format!("group of {} people", report.smallest_group));
    line("loss", shared::loss_line(&report.loss));
    line("", shared::loss_more(&report.loss));
    line("promise", report.promise.clone());
    for limit in &report.limits {
        line("but", limit.clone());
    }
    out
}
