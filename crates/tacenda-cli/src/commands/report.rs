//! The report on everything a project has published, for recipients, the steward or an auditor.
//!
//! On a terminal, without `-o` and `--format`, the page is written into the project's folder, and its verdict and place
//! are printed. Into a pipe it goes as text, into a file as HTML, unless the file's ending or `--format` says otherwise. It ends with 0 whatever the verdict: it was asked for a report, and made one.

use crate::args::{Common, EditionArg, FormatArg, ReportArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, printable, telling};
use std::io;
use std::io::IsTerminal;
use std::path::Path;
use tacenda::ingest::Given;
use tacenda::model::Language;
use tacenda::publish::ReportRequest;
use tacenda::report::{Edition, TextOptions};
use tacenda::use_cases;

pub fn run(args: &ReportArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let edition = match args.edition {
        EditionArg::Recipient => Edition::Recipient,
        EditionArg::Steward => Edition::Steward,
        EditionArg::Auditor => Edition::Auditor,
    };
    let truth = args.truth.iter().cloned().map(Given::Path).collect();
    let request = ReportRequest {
        edition,
        truth,
        review_by: args.review_by.clone(),
        budget: use_cases::budget(args.work.effort(), args.work.budget),
        language: args.language.map(Language::from),
    };
    screen.claim_output()?;
    let bar = screen.bar();
    let report = use_cases::report(&common.folder(), request, &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let said = |place: &Path| {
        let (word, sentence) = (report.verdict.decision.words(), &report.verdict.sentence);
        format!("{word}: {sentence}\nThe {} edition is in {}", edition.word(), place.display())
    };
    if common.output.is_none() && common.format.is_none() && io::stdout().is_terminal() {
        let page = common.folder().root.join(format!("tacenda-report-{}.html", edition.word()));
        let written = use_cases::write_private(&page, tacenda::report::html(&report).as_bytes());
        written.map_err(|error| shared::failure(error, screen))?;
        screen.print(&printable(&format!("{}\n", said(&page))))?;
        return Ok(0);
    }
    let otherwise = if common.output.is_some() { FormatArg::Html } else { FormatArg::Text };
    let options = TextOptions { color: false, measures: false };
    screen.print(&shared::printed(&report, common.form(otherwise), options))?;
    if let Some(path) = &common.output {
        screen.note(&said(path));
    }
    Ok(0)
}
