//! What several commands say in the same words.

use crate::args::{Common, DataArgs, FormatArg};
use crate::failure::Failure;
use crate::screen::{Screen, number, printable};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt::Write;
use std::path::Path;
use tacenda::ingest::{Given, PolicyFileError};
use tacenda::measure::{AttributeLoss, Loss};
use tacenda::model::{counted, people};
use tacenda::promise::Reasons;
use tacenda::publish::{Choice, ForecastReport, ProjectError};
use tacenda::report;
use tacenda::report::{Report, TextOptions, percent};
use tacenda::use_cases::{ReleaseRequest, Summary, ToldError, UseCaseError, ViewSummary};

/// The next release that the command line asks for.
pub fn release(data: &DataArgs, label: Option<&String>, view: Option<&String>, common: &Common) -> ReleaseRequest {
    ReleaseRequest {
        project: common.folder(),
        data: data.path.clone().map(Given::Path),
        delta: data.delta,
        label: label.cloned(),
        view: view.cloned(),
        show_values: data.show_values,
        memory: common.memory,
        threads: common.threads.unwrap_or(0),
        backup: None,
    }
}

/// A report in one of its forms. Those for people have no characters that command a terminal.
pub fn printed(report: &Report, form: FormatArg, options: TextOptions) -> String {
    match form {
        FormatArg::Text => printable(&report::text(report, options)),
        FormatArg::Brief => printable(&report::brief(report)),
        FormatArg::Json => report::json(report),
        FormatArg::Sarif => report::sarif(report),
        FormatArg::Junit => report::junit(report),
        FormatArg::Markdown => printable(&report::markdown(report)),
        FormatArg::Html => report::html(report),
    }
}

/// For how many of the releases ahead the limits hold: one number, or from the worst to the best simulation.
pub fn holds(forecast: &ForecastReport) -> String {
    match (forecast.within, forecast.within_most) {
        (least, most) if least == most => least.to_string(),
        (least, most) => format!("{least} to {most}"),
    }
}

/// A library error as the user sees it.
pub fn failure(error: impl Into<UseCaseError>, screen: &Screen) -> Failure {
    failure_of(error.into(), "the table was not accepted; nothing was published", screen)
}

/// The same where releases are read.
pub fn unread(error: UseCaseError, screen: &Screen) -> Failure {
    failure_of(error, "the input could not be read; nothing was examined", screen)
}

/// The same where inputs that are not accepted are told in other words.
pub fn failure_of(error: UseCaseError, rejected: &str, screen: &Screen) -> Failure {
    let ToldError { code, exit, message, lines, notes, problems, .. } = ToldError::rejecting(&error, rejected);
    let failure = Failure { problems, ..Failure::new(&code, exit, message) };
    let failure = match &error {
        UseCaseError::Project(ProjectError::PolicyFile(errors)) => draw(failure, errors, screen),
        _ => lines.iter().fold(failure, |failure, line| failure.line(format!("  {line}"))),
    };
    notes.iter().fold(failure, |failure, note| failure.line(format!("  note: {note}")))
}

/// Errors in the policy file, each with the place it points at.
fn draw(mut failure: Failure, errors: &PolicyFileError, screen: &Screen) -> Failure {
    let renderer = if screen.color() { Renderer::styled() } else { Renderer::plain() };
    let file = errors.file.display().to_string();
    for fault in &errors.faults {
        let title = format!("{}: {}", fault.kind.code(), fault.message);
        let drawn = match &fault.span {
            Some(span) if errors.is_shown(fault) => {
                let snippet = Snippet::source(errors.text.as_str()).path(file.as_str()).fold(true);
                let snippet = snippet.annotation(AnnotationKind::Primary.span(span.clone()));
                renderer.render(&[Level::ERROR.primary_title(title.as_str()).element(snippet)])
            }
            _ => {
                let line = errors.line(fault).map_or(String::new(), |line| format!(":{line}"));
                printable(&format!("{title} ({file}{line})"))
            }
        };
        failure = failure.drawn(drawn);
        if !fault.help.is_empty() {
            failure = failure.line(format!("  help: {}", fault.help));
        }
    }
    failure
}

/// What there is to say of a view beside its release.
fn view_lines(view: &ViewSummary, line: &mut dyn FnMut(&str, String)) {
    line("view", format!("{} for {}", view.name, view.recipients.join(", ")));
    line(
        "distortion",
        format!(
            "{:.3} levels of categories and {:.3} of number domains, per row",
            view.distortion_categories, view.distortion_numbers
        ),
    );
    let kept = view.columns.iter().zip(&view.information_kept);
    let others = kept.filter(|(name, _)| view.target.as_ref() != Some(name));
    let kept: Vec<String> =
        others.filter_map(|(name, kept)| Some(format!("{name} {:.0} %", (*kept)? * 100.0))).collect();
    if let (Some(target), false) = (&view.target, kept.is_empty()) {
        line("still says", format!("of what it said about {target}: {}", kept.join(", ")));
    }
    if view.steps_back > 0 {
        let steps = counted(view.steps_back, "specialisation was", "specialisations were");
        line("stepped back", format!("{steps} taken back: the finished view did not pass"));
    }
    for also in &view.also {
        line("also", also.clone());
    }
    for note in &view.notes {
        line("joined", note.clone());
    }
}

/// The summary as text, below a headline.
pub fn summary_text(summary: &Summary, headline: &str) -> String {
    let mut out = format!("{headline}\n\n");
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<13} {text}");
    };
    if let Some(view) = &summary.view {
        view_lines(view, &mut line);
    }
    line(
        "people",
        format!(
            "{}: {} arrived, {} returned, {} left",
            number(summary.people),
            number(summary.arrived),
            number(summary.returned),
            number(summary.left)
        ),
    );
    if summary.quasi_changed + summary.sensitive_changed > 0 {
        let (quasi, sensitive) = (number(summary.quasi_changed), number(summary.sensitive_changed));
        line("changed", format!("quasi-identifiers of {quasi} people, sensitive values of {sensitive}"));
    }
    let rows = summary.published + summary.counterfeits;
    line("published", format!("{} in {}", people(summary.published), counted(summary.groups, "group", "groups")));
    line(
        "counterfeits",
        format!("{} ({} of rows)", number(summary.counterfeits), percent(share(summary.counterfeits, rows))),
    );
    let parts = match summary.taken_out {
        0 => String::new(),
        out => format!(": {} published before and now left out, {} waiting", number(out), number(summary.waiting)),
    };
    line(
        "withheld",
        format!("{} ({} of people){parts}", number(summary.withheld), percent(share(summary.withheld, summary.people))),
    );
    line("loss", loss_line(&summary.loss));
    if let Some(error) = summary.query_error {
        line("count queries", format!("median error {} over random count queries", percent(error)));
    }
    if let Some(errors) = &summary.count_errors {
        line("simple counts", errors.line());
    }
    let said = match (summary.findings.is_empty(), summary.not_kept.is_empty()) {
        (true, true) => "kept",
        (true, false) => "NOT KEPT by the series; this release adds no fault",
        (false, _) => "BROKEN, on made-up data",
    };
    line("promise", format!("{said}. {}", summary.promise_in_short));
    for broken in &summary.not_kept {
        line("", broken.clone());
    }
    for finding in &summary.findings {
        line("finding", finding.clone());
    }
    if let Some(risk) = &summary.series_risk {
        line("series", risk.clone());
    }
    if summary.needs_reason {
        line("needs", format!("{}, or publishing ends with exit code 6", Reasons::SERIES_RISK));
    }
    for note in &summary.notes {
        line("note", note.clone());
    }
    out
}

/// What each way of keeping a promise costs, one line each, below a head.
pub fn choices_text(head: &str, choices: &[Choice]) -> String {
    if choices.is_empty() {
        return String::new();
    }
    let mut out = format!("\n  {head:<9} {:>10} {:>10} {:>9} {:>12}\n", "groups", "withheld", "loss", "query error");
    for choice in choices {
        let chosen = if choice.is_chosen { " (chosen)" } else { "" };
        let _ = match (choice.groups, choice.withheld, choice.loss, choice.query_error) {
            (Some(groups), Some(withheld), Some(loss), Some(error)) => writeln!(
                out,
                "  {:<9} {:>10} {:>10} {:>9} {:>12}  {}{chosen}",
                choice.name,
                number(groups),
                number(withheld),
                percent(loss),
                percent(error),
                choice.setting
            ),
            _ => writeln!(out, "  {:<9} not now: {}", choice.name, choice.refused.as_deref().unwrap_or_default()),
        };
    }
    out
}

/// Against whom each way holds.
pub fn choices_about(choices: &[Choice]) -> String {
    told_once(choices, &[], |choice| vec![choice.about])
}

/// What to know of each way. What is chosen has its warnings among the notes.
pub fn choices_warnings(choices: &[Choice]) -> String {
    fn warnings(choice: &Choice) -> Vec<&str> {
        choice.warnings.iter().map(String::as_str).collect()
    }
    let chosen: Vec<&str> = choices.iter().filter(|choice| choice.is_chosen).flat_map(warnings).collect();
    told_once(choices, &chosen, warnings)
}

/// Every text once, below the names of the ways that have it, but for those that were told.
fn told_once<'c>(choices: &'c [Choice], told: &[&'c str], texts: impl Fn(&'c Choice) -> Vec<&'c str>) -> String {
    let mut told = told.to_vec();
    let mut out = String::new();
    for text in choices.iter().flat_map(&texts) {
        if !told.contains(&text) {
            told.push(text);
            let having = choices.iter().filter(|choice| texts(choice).contains(&text));
            let names: Vec<&str> = having.map(|choice| choice.name).collect();
            let _ = writeln!(out, "  {}: {text}", names.join(" and "));
        }
    }
    out
}

/// Loss in one line: the mean, then each attribute.
pub fn loss_line(loss: &Loss) -> String {
    let part = |attribute: &AttributeLoss| format!("{} {}", attribute.name, percent(attribute.leaf_share));
    let parts: Vec<String> = loss.attributes.iter().map(part).collect();
    format!("{} ({})", percent(loss.leaf_share), parts.join(", "))
}

/// The other measures of loss in one line: of paper 001 in all and per person, and of group sizes.
pub fn loss_more(loss: &Loss) -> String {
    format!(
        "information loss {:.2}, {:.4} a person; discernability {}; C_avg {:.3}",
        loss.information_loss,
        loss.information_loss_per_person,
        number(loss.discernability),
        loss.c_avg
    )
}

/// A share, 0 of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The words that name the project folder in a command a user may copy; none for this folder.
pub fn project_words(common: &Common) -> String {
    match common.project.as_os_str() == "." {
        true => String::new(),
        false => format!(" -C {}", quoted(&common.project)),
    }
}

/// A path as a shell takes it for one word.
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@%=".contains(letter);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}
