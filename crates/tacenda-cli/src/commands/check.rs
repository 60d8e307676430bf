//! Is the policy sound, and can this data meet it? Writes nothing.

use crate::args::{CheckArgs, Common};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::publish::ForecastReport;
use tacenda::report::percent;
use tacenda::use_cases;
use tacenda::use_cases::{CheckReport, WhatIf};

pub fn run(args: &CheckArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = shared::release(&args.data, None, args.view.as_ref(), common);
    let bar = screen.bar();
    let report = use_cases::check(request, args.what_if.as_deref(), &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let text = if common.quiet { String::new() } else { text(&report) };
    screen.result(&text, &report)?;
    Ok(0)
}

/// What "limits hold" means, and which row lasts longest.
fn ahead_text(report: &CheckReport) -> String {
    let foreseen = report.what_if.iter().filter_map(|row| Some((row, row.forecast.as_ref()?)));
    let foreseen: Vec<(&WhatIf, &ForecastReport)> = foreseen.collect();
    let Some((_, first)) = foreseen.first() else { return String::new() };
    let pace = if first.assumed { "assumed before a second release" } else { "as now" };
    let mut out = format!(
        "    limits hold: for how many of the next releases the limits of the policy file suffice, if {} leave and {} \
         arrive each time ({pace}); by three simulations\n",
        percent(first.leave),
        percent(first.arrive)
    );
    if let Some(parameter) = &report.lasts_longest {
        let _ = writeln!(out, "  helps most: {parameter}");
    }
    if let Some(helps) = foreseen.iter().find_map(|(row, forecast)| Some((row, forecast.helps.as_ref()?))) {
        let _ = writeln!(out, "  or, with {}: {}", helps.0.parameter, helps.1);
    }
    out
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
        let head = ["groups", "counterfeits", "withheld", "loss", "limits hold"];
        let _ = writeln!(
            out,
            "\n  {:<8} {:>10} {:>13} {:>10} {:>9} {:>14}",
            "", head[0], head[1], head[2], head[3], head[4]
        );
        let ahead = |forecast: Option<&ForecastReport>| match forecast {
            Some(forecast) if forecast.ends.is_some() => "ends".to_string(),
            Some(forecast) => format!("{} of {}", shared::holds(forecast), forecast.releases.len()),
            None => "not known".to_string(),
        };
        for row in &report.what_if {
            let _ = match &row.refused {
                Some(why) => writeln!(out, "  {:<8} refused: {why}", row.parameter),
                None => writeln!(
                    out,
                    "  {:<8} {:>10} {:>13} {:>10} {:>9} {:>14}",
                    row.parameter,
                    number(row.groups),
                    number(row.counterfeits),
                    number(row.withheld),
                    percent(row.loss),
                    ahead(row.forecast.as_ref())
                ),
            };
        }
        out.push_str(&ahead_text(report));
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
