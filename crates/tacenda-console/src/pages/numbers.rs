//! A release in numbers, as several pages show it.

use maud::{Markup, html};
use tacenda::model::{counted, people};
use tacenda::publish::{Choice, ForecastReport};
use tacenda::report::parts::{N, W, data, facts, table};
use tacenda::report::{number, percent};
use tacenda::use_cases::{Summary, TrialReport};

/// What is said in English by the library: it stands as it is.
pub fn english(texts: &[String]) -> Markup {
    html! {
        @if !texts.is_empty() {
            ul class="small" lang="en" translate="no" { @for text in texts { li { (text) } } }
        }
    }
}

fn share(part: u64, whole: u64) -> String {
    percent(if whole == 0 { 0.0 } else { part as f64 / whole as f64 })
}

/// Who came and left, and what the release is.
pub fn summary(summary: &Summary) -> Markup {
    let rows = summary.published + summary.counterfeits;
    let mut lines: Vec<(&str, Markup)> = vec![
        ("People in the table", html! { (number(summary.people)) }),
        ("Arrived", html! { (number(summary.arrived.into())) }),
        ("Returned", html! { (number(summary.returned.into())) }),
        ("Left", html! { (number(summary.left.into())) }),
        ("Quasi-identifiers changed", html! { (people(u64::from(summary.quasi_changed))) }),
        ("Sensitive value changed", html! { (people(u64::from(summary.sensitive_changed))) }),
        ("Published", html! { (people(summary.published)) " in " (counted(summary.groups, "group", "groups")) }),
        ("Artificial rows", html! { (number(summary.counterfeits)) " (" (share(summary.counterfeits, rows)) ")" }),
        ("Withheld", html! { (number(summary.withheld)) " (" (share(summary.withheld, summary.people)) ")" }),
        ("Loss of detail", html! { (percent(summary.loss.leaf_share)) }),
    ];
    if let Some(error) = summary.query_error {
        lines.push(("Median error of random counts", html! { (percent(error)) }));
    }
    if let Some(errors) = &summary.count_errors {
        lines.push(("Median error of counts of one column", html! { (percent(errors.one)) }));
    }
    html! {
        @match summary.findings.is_empty() {
            true if !summary.not_kept.is_empty() => {
                p { strong { "The series does not keep the promise. This release adds no fault." } " " (summary.promise_in_short) }
                (english(&summary.not_kept))
            }
            true => { p { strong { "The promise is kept." } " " (summary.promise_in_short) } }
            false => { p { strong { "The promise is BROKEN, on made-up data." } " " (summary.promise_in_short) } }
        }
        (facts(&lines))
        (english(&summary.findings))
        @if let Some(risk) = &summary.series_risk { (english(std::slice::from_ref(risk))) }
        @if !summary.notes.is_empty() {
            details { summary { "Notes" } (english(&summary.notes)) }
        }
    }
}

/// How long the limits will hold.
pub fn forecast(forecast: &ForecastReport, now: u32) -> Markup {
    let band = |middle: f64, most: f64| format!("{} – {}", percent(middle), percent(most));
    let rows: Vec<Vec<Markup>> = (now + 1..)
        .zip(&forecast.releases)
        .map(|(number, release)| {
            vec![
                html! { (number) },
                html! { (band(release.counterfeits, release.counterfeits_most)) },
                html! { (band(release.withheld, release.withheld_most)) },
                html! { (percent(release.loss)) },
            ]
        })
        .collect();
    let columns = [("Release", N), ("Artificial rows", N), ("Withheld", N), ("Loss of detail", N)];
    let all = forecast.releases.len();
    html! {
        h3 { "How long the limits will hold" }
        p {
            (percent(forecast.leave)) " leave, " (percent(forecast.arrive)) " arrive and " (percent(forecast.change))
            " change their value each time"
            @if forecast.assumed { ", as assumed before the second release." } @else { ", as now." }
            " Median and maximum of three simulations."
        }
        (table(&columns, &rows, 0))
        @match (&forecast.ends, forecast.within as usize) {
            (Some(why), _) => {
                p { strong { "In a simulation, the promise cannot be kept then." } }
                (english(std::slice::from_ref(why)))
            }
            (None, within) if within < all => {
                p { strong { "The limits of the policy hold for " (within) " of these " (all) " releases." } }
            }
            _ => { p { "The limits of the policy hold for all of them." } }
        }
        @if let Some(helps) = &forecast.helps {
            p { "What helps; limits may be raised at any time, no promise rests on them:" }
            (english(std::slice::from_ref(helps)))
        }
    }
}

/// What each way of keeping a promise costs.
pub fn choices(choices: &[Choice]) -> Markup {
    let cell = |value: Option<String>| html! { (value.unwrap_or_else(|| "–".into())) };
    let rows: Vec<Vec<Markup>> = choices
        .iter()
        .map(|choice| {
            vec![
                html! { code { (choice.name) } @if choice.is_chosen { " " strong { "chosen" } } },
                cell(choice.groups.map(number)),
                cell(choice.withheld.map(number)),
                cell(choice.loss.map(percent)),
                cell(choice.query_error.map(percent)),
                html! { code { (choice.setting) } @if let Some(why) = &choice.refused { br; (data(why)) } },
            ]
        })
        .collect();
    let columns =
        [("Way", W), ("Groups", N), ("Withheld", N), ("Loss of detail", N), ("Error of counts", N), ("Setting", W)];
    html! {
        @if !choices.is_empty() {
            details { summary { "Other ways to keep the promise, tried on this table" } (table(&columns, &rows, 0)) }
        }
    }
}

/// A trial as large numbers.
pub fn trial_figures(report: &TrialReport) -> Markup {
    let simple = report.count_error.map_or("–".to_string(), percent);
    let rows = report.people - report.withheld + report.counterfeits;
    let figures = [
        ("Loss of detail", percent(report.loss), "0 % is exact"),
        ("Artificial rows", number(report.counterfeits), &*share(report.counterfeits, rows)),
        ("Withheld", number(report.withheld), &*share(report.withheld, report.people)),
        ("Error of counts", simple, "of one column, median"),
        ("Smallest group", number(report.smallest_group.into()), "people"),
    ];
    html! {
        @match &report.refused {
            Some(why) => {
                div class="verdict open" role="status" {
                    (tacenda::report::parts::icon(tacenda::report::parts::Tone::Open))
                    strong { "Not possible" }
                    p lang="en" translate="no" { (why) }
                }
            }
            None => {
                dl class="figures" {
                    @for (name, value, more) in figures { div { dt { (name) } dd { (value) small { (more) } } } }
                }
            }
        }
    }
}

/// Trials below each other.
pub fn trial_table(trials: &[(String, TrialReport)]) -> Markup {
    let heads = ["Groups", "Smallest group", "Artificial rows", "Withheld", "Loss of detail", "Error of counts"];
    let cells = |report: &TrialReport| {
        [
            number(report.groups),
            number(report.smallest_group.into()),
            number(report.counterfeits),
            number(report.withheld),
            percent(report.loss),
            report.count_error.map_or("–".to_string(), percent),
        ]
    };
    html! {
        div class="scroll" { table {
            thead { tr { th scope="col" { "Setting" } @for head in heads { th scope="col" class="n" { (head) } } } }
            tbody {
                @for (name, report) in trials {
                    tr {
                        th scope="row" { code { (name) } }
                        @match &report.refused {
                            Some(why) => { td colspan=(heads.len()) lang="en" translate="no" { (why) } }
                            None => { @for cell in cells(report) { td class="n" { (cell) } } }
                        }
                    }
                }
            }
        } }
    }
}
