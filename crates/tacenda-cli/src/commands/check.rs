//! Is the policy sound, and can this data meet it? Writes nothing.

use crate::args::{CheckArgs, Common};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::report::percent;
use tacenda::use_cases;
use tacenda::use_cases::CheckReport;

pub fn run(args: &CheckArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = shared::release(&args.data, None, args.view.as_ref(), common);
    let bar = screen.bar();
    let report = use_cases::check(request, args.what_if.as_deref(), &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &CheckReport) -> String {
    let mut out = format!("The policy of {} is sound.\n\n  promise  {}\n", report.series, report.promise);
    for also in &report.also {
        let _ = writeln!(out, "  also     {also}");
    }
    for limit in &report.limits {
        let _ = writeln!(out, "  but      {limit}");
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note     {note}");
    }
    if let Some(summary) = &report.summary {
        let _ = write!(out, "\n{}", shared::summary_text(summary, "This table can be published under it:"));
    }
    if !report.what_if.is_empty() {
        let _ = writeln!(out, "\n  {:<8} {:>10} {:>13} {:>10} {:>9}", "", "groups", "counterfeits", "withheld", "loss");
        for row in &report.what_if {
            let _ = match &row.refused {
                Some(why) => writeln!(out, "  {:<8} refused: {why}", row.parameter),
                None => writeln!(
                    out,
                    "  {:<8} {:>10} {:>13} {:>10} {:>9}",
                    row.parameter,
                    number(row.groups),
                    number(row.counterfeits),
                    number(row.withheld),
                    percent(row.loss)
                ),
            };
        }
        for row in &report.what_if {
            out.push_str(&shared::choices_text(&row.parameter, &row.ways));
            if let Some(best) = &row.best {
                let _ = writeln!(out, "  {best}");
            }
        }
        if let Some(row) = report.what_if.iter().find(|row| !row.ways.is_empty()) {
            let _ = write!(out, "\n{}", shared::choices_about(&row.ways));
        }
    }
    out
}
