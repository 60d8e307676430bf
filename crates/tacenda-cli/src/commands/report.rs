//! The report on everything a project has published, for recipients, the steward or an auditor.
//!
//! Without `-o` it is printed as text; into a file it is written as HTML, unless the file's ending or
//! `--format` says otherwise. It ends with 0 whatever the verdict: it was asked for a report, and made one.

use crate::args;
use crate::args::{Common, Format, ReportArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::Screen;
use tacenda::audit::Limits;
use tacenda::publish::{Access, ReportRequest};
use tacenda::report;
use tacenda::report::{Edition, Names, TextOptions};

pub fn run(args: &ReportArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    if args.review_by.as_ref().is_some_and(|date| date.parse::<jiff::civil::Date>().is_err()) {
        return Err(Failure::usage("--review-by takes a date such as 2027-06-30"));
    }
    if args.edition == args::Edition::Recipient && !args.truth.is_empty() {
        return Err(Failure::usage("--truth is private: the recipients' edition says nothing that needs it"));
    }
    screen.claim_output()?;
    let project = shared::open(common, Access::Look, screen)?;
    let edition = match args.edition {
        args::Edition::Recipient => Edition::Recipient,
        args::Edition::Steward => Edition::Steward,
        args::Edition::Auditor => Edition::Auditor,
    };
    // The same releases give a recipient the same bytes; who signs wants to know the day.
    let made_at = match edition {
        Edition::Recipient => None,
        _ => Some(jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
    };
    let request = ReportRequest {
        edition,
        names: Names::Coded,
        limits: Limits::default(),
        truth: args.truth.clone(),
        review_by: args.review_by.clone(),
        made_at,
    };
    let bar = screen.steps(u64::from(project.store().map_or(0, |store| store.releases())) + 20);
    let step = |what: &str| {
        bar.inc(1);
        bar.set_message(what.to_string());
    };
    let report = project.report(&request, &step).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let otherwise = if common.output.is_some() { Format::Html } else { Format::Text };
    let printed = match common.form(otherwise) {
        Format::Text => report::text(&report, TextOptions { color: false, measures: false }),
        Format::Json => report::json(&report),
        Format::Markdown => report::markdown(&report),
        Format::Html => report::html(&report),
        Format::Sarif => report::sarif(&report),
        Format::Junit => report::junit(&report),
    };
    screen.print(&printed)?;
    if let Some(path) = &common.output {
        let word = report.verdict.decision.words();
        screen.note(&format!(
            "{word}: {}\nThe {} edition is in {}",
            report.verdict.sentence,
            edition.word(),
            path.display()
        ));
    }
    Ok(0)
}
