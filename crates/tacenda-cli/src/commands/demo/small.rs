//! A paper's situation in small: the naive files, what they betray, and what is published instead.

use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use std::path::PathBuf;
use tacenda::report::{Decision, StoryFacts};
use tacenda::use_cases;
use tacenda::use_cases::{Learned, ShownRelease, SituationReport, SituationRequest};

pub fn run(name: String, folder: PathBuf, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let shown = use_cases::show_situation(&SituationRequest { name, folder }, &telling(&bar));
    let report = shown.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &SituationReport) -> String {
    let mut out = format!("{}: {}.\n{}.\n\n", report.name, report.about, report.citation);
    let _ = writeln!(out, "1. Naively. {}\n", report.naively);
    releases(&mut out, &report.naive);
    learned(&mut out, "Somebody who compares them", &report.learned);
    if let Some(refused) = &report.refused {
        let _ = writeln!(out, "  Tacenda refuses the second release under {}:\n    {refused}\n", report.name);
    }
    let _ = writeln!(out, "2. With Tacenda. {}\n", report.instead);
    releases(&mut out, &report.published);
    learned(&mut out, "The same attack", &report.learned_then);
    let project = report.project.display();
    let _ = writeln!(out, "Everything is in {project}. Repeat the attack with\n  {}", report.command);
    let _ = writeln!(out, "and look at the safe releases with\n  tacenda -C {project} report -o {project}/report.html");
    out
}

/// The releases as tables, one below the other.
fn releases(out: &mut String, releases: &[ShownRelease]) {
    for release in releases {
        let _ = writeln!(out, "  {}", release.label);
        let columns = release.rows[0].len();
        let widths: Vec<usize> =
            (0..columns).map(|at| release.rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0)).collect();
        for row in &release.rows {
            let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
            let _ = writeln!(out, "    {}", cells.join("  ").trim_end());
        }
        if release.withheld > 0 {
            let _ = writeln!(out, "    waiting for a later release: {}", number(release.withheld));
        }
        if release.counterfeits > 0 {
            let _ = writeln!(out, "    artificial rows among them: {}", number(release.counterfeits));
        }
        out.push('\n');
    }
}

fn learned(out: &mut String, who: &str, learned: &Learned) {
    let _ = writeln!(out, "  {who}: {}.", learned.decision);
    for finding in &learned.findings {
        let _ = writeln!(out, "    {finding}");
    }
    if let Some(story) = learned.story.as_ref().filter(|_| learned.decision == Decision::Fail) {
        tell(out, story);
    }
    out.push('\n');
}

/// The worst case, step by step.
fn tell(out: &mut String, story: &StoryFacts) {
    let _ = writeln!(out, "    {}", story.opening());
    for step in &story.steps {
        let _ = writeln!(out, "    {}: remaining {}", step.label, step.left.join(", "));
    }
    if let Some(matched) = &story.matched {
        let _ = writeln!(out, "    everyone placed at once: remaining {}", matched.join(", "));
    }
    let _ = writeln!(out, "    {}", story.ending());
}
