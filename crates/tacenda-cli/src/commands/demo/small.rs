//! A paper's situation in small: the naive files, what they betray, and what is published instead.

use crate::commands::demo::exact;
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use std::path::PathBuf;
use tacenda::report::StoryFacts;
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
    learned(&mut out, "Somebody who compares these files", &report.learned);
    if let Some(refused) = &report.refused {
        let _ = writeln!(out, "  Tacenda refuses the second release under {}:\n    {refused}\n", report.name);
    }
    let _ = writeln!(out, "2. With Tacenda. {}\n", report.instead);
    releases(&mut out, &report.published);
    learned(&mut out, "The same attack", &report.learned_then);
    let project = report.project.display();
    let _ =
        writeln!(out, "Everything is in {project}. Repeat the attack, and look at the report on the safe releases:");
    let _ = writeln!(out, "  cd {project}\n  {}\n  {}", report.command, report.report_command);
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
    match learned.findings.is_empty() {
        true => {
            let _ = writeln!(out, "  {who} finds nothing. The verdict is {}:", learned.decision);
            let _ = writeln!(out, "  the report says what it rests on, and what it does not cover.");
        }
        false => {
            let _ = writeln!(out, "  {who} learns too much ({}):", learned.decision);
        }
    }
    for finding in &learned.findings {
        let _ = writeln!(out, "    {finding}");
    }
    if let Some(story) = &learned.story {
        tell(out, story);
    }
    out.push('\n');
}

/// A person whose value is certain, step by step.
fn tell(out: &mut String, story: &StoryFacts) {
    let known = |(name, value): &(String, Option<String>)| format!("{name} {}", exact(value.as_deref().unwrap_or("*")));
    let known: Vec<String> = story.known.iter().map(known).collect();
    let _ = writeln!(out, "    A neighbour knows a person: {}.", known.join(", "));
    for step in &story.steps {
        let _ = writeln!(out, "      {} leaves: {}", step.label, step.left.join(", "));
    }
    if let Some(matched) = &story.matched {
        let _ = writeln!(out, "      placing everyone at once leaves: {}", matched.join(", "));
    }
}
