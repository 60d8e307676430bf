//! What a recipient sees change from one release to another.

use crate::args::{Common, DiffArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::report::percent;
use tacenda::use_cases;
use tacenda::use_cases::{DiffReport, DiffSide};

/// How many values are printed.
const SHOWN: usize = 20;

pub fn run(args: &DiffArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let report = use_cases::diff(&common.project, &args.from, &args.to, &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &DiffReport) -> String {
    let (from, to) = (&report.from, &report.to);
    let head = |side: &DiffSide| format!("{} ({})", side.release, side.label);
    let mut out = format!("  {:<24} {:>16} {:>16}\n", "release", head(from), head(to));
    let counts = [
        ("people", from.people, to.people),
        ("rows", from.rows, to.rows),
        ("counterfeits", from.counterfeits, to.counterfeits),
        ("groups", from.groups, to.groups),
        ("smallest group", u64::from(from.smallest_group), u64::from(to.smallest_group)),
    ];
    for (name, from, to) in counts {
        let _ = writeln!(out, "  {name:<24} {:>16} {:>16}", number(from), number(to));
    }
    let _ = writeln!(out, "  {:<24} {:>16} {:>16}", "loss", percent(from.loss), percent(to.loss));
    for withdrawn in [&from.withdrawn, &to.withdrawn].into_iter().flatten() {
        let _ = writeln!(out, "\n  note: {withdrawn}");
    }
    if !report.columns.is_empty() {
        let _ = writeln!(out, "\n  columns with other declared values: {}", report.columns.join(", "));
    }
    let changed: Vec<_> = report.values.iter().filter(|value| value.from != value.to).collect();
    if !changed.is_empty() {
        out.push_str("\n  rows with the sensitive value\n");
    }
    for value in changed.iter().take(SHOWN) {
        let _ = writeln!(out, "  {:<24} {:>16} {:>16}", value.value.join(", "), number(value.from), number(value.to));
    }
    if changed.len() > SHOWN {
        let _ = writeln!(out, "  … and {} more; --format json lists all", number((changed.len() - SHOWN) as u64));
    }
    out
}
