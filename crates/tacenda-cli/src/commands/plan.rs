//! Rehearse the next release and remember its inputs by their digests.

use crate::args::{Common, PlanArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::publish::{Against, ComparisonReport, ForecastReport};
use tacenda::report::percent;
use tacenda::use_cases;

pub fn run(args: &PlanArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = shared::release(&args.data, args.label.as_ref(), args.view.as_ref(), common);
    let bar = screen.bar();
    let report = use_cases::plan(request, args.plan.clone(), &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let summary = &report.summary;
    let headline = format!(
        "Release {} of {}, label {}: rehearsed, nothing is published yet",
        summary.release, summary.series, summary.label
    );
    let text = format!(
        "{}{}{}{}{}{}{}\nThe plan is in {}. To publish it: tacenda{} publish --plan {}\n",
        shared::summary_text(summary, &headline),
        report.comparison.as_ref().map_or(String::new(), compared_text),
        report.drift.iter().flat_map(|drift| &drift.told).map(told).collect::<String>(),
        report.forecast.as_ref().map_or(String::new(), |forecast| forecast_text(forecast, summary.release)),
        shared::choices_text("choices", &report.choices),
        shared::choices_about(&report.choices),
        shared::choices_warnings(&report.choices),
        report.plan.display(),
        shared::project_words(common),
        shared::quoted(&report.plan)
    );
    let text = if common.quiet { format!("{}\n", report.plan.display()) } else { text };
    screen.result(&text, &report)?;
    Ok(0)
}

/// What the next releases will need.
fn forecast_text(forecast: &ForecastReport, now: u32) -> String {
    let pace = format!(
        "{} leave, {} arrive and {} change their value each time{}",
        percent(forecast.leave),
        percent(forecast.arrive),
        percent(forecast.change),
        if forecast.assumed { ", as assumed before the second release" } else { ", as now" }
    );
    let mut out = format!("\n  If {pace}, the next releases need (median and maximum of three simulations):\n");
    let _ = writeln!(out, "  {:<14} {:>16} {:>16} {:>9}", "", "counterfeits", "withheld", "loss");
    let band = |middle: f64, most: f64| format!("{} – {}", percent(middle), percent(most));
    for (number, release) in (now + 1..).zip(&forecast.releases) {
        let name = format!("release {number}");
        let _ = writeln!(
            out,
            "  {name:<14} {:>16} {:>16} {:>9}",
            band(release.counterfeits, release.counterfeits_most),
            band(release.withheld, release.withheld_most),
            percent(release.loss)
        );
    }
    let all = forecast.releases.len();
    let _ = match (&forecast.ends, forecast.within as usize) {
        (Some(why), _) => writeln!(out, "  Then, in a simulation, the promise cannot be kept: {why}"),
        (None, within) if within < all => {
            writeln!(out, "  The limits of the policy file hold for {} of these {all}.", shared::holds(forecast))
        }
        _ => writeln!(out, "  The limits of the policy file hold for all of them."),
    };
    if let Some(helps) = &forecast.helps {
        let _ = writeln!(out, "  What helps: {helps}. Limits may be raised at any time; no promise rests on them.");
    }
    out
}

/// A view next to what else could be published, one line each, below a head.
fn compared_text(found: &ComparisonReport) -> String {
    let has_classes = found.lines.iter().any(|line| line.classification_error.is_some());
    let (kept, wrong) = (if found.target.is_some() { "kept" } else { "" }, if has_classes { "wrong" } else { "" });
    let head = format!("  {:<22} {:>10} {:>9} {kept:>9} {wrong:>9}", "compared", "categories", "numbers");
    let mut out = format!("\n{}\n", head.trim_end());
    let share = |share: Option<f64>| share.map_or(String::new(), percent);
    for line in &found.lines {
        let of = match (line.of, line.k) {
            (Against::View, _) => "this view".to_string(),
            (Against::AsItIs, _) => "the rows as they are".into(),
            (Against::KAnonymity, k) => k.map_or("k-anonymity".into(), |k| format!("k-anonymity, k = {k}")),
            (Against::WithoutJoin, _) => "without join columns".into(),
        };
        let (categories, numbers) = (line.distortion_categories, line.distortion_numbers);
        let (kept, wrong) = (share(line.information_kept), share(line.classification_error));
        let line = format!("  {of:<22} {categories:>10.3} {numbers:>9.3} {kept:>9} {wrong:>9}");
        let _ = writeln!(out, "{}", line.trim_end());
    }
    out.push_str("  categories and numbers: distortion per row, in levels and in shares of the domain\n");
    if let Some(target) = &found.target {
        let _ = writeln!(out, "  kept: the share that remains of what the single columns say about {target}");
    }
    if has_classes {
        let (training, test) = (number(found.training_rows), number(found.test_rows));
        let _ = writeln!(
            out,
            "  wrong: the share of {test} test rows that a decision tree misclassifies, grown on {training} other \
             published rows"
        );
    }
    for note in &found.notes {
        let _ = writeln!(out, "  {note}");
    }
    out
}

/// A line of the summary: its name, and what it says.
fn told((name, text): &(&str, String)) -> String {
    format!("  {name:<13} {text}\n")
}
