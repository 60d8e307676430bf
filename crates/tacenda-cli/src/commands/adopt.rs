//! Take releases that were made elsewhere into the ledger, so that the next one is judged with them.

use crate::args::{AdoptArgs, Common};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::ingest::Given;
use tacenda::model::counted;
use tacenda::use_cases::{AdoptReport, AdoptRequest};

pub fn run(args: &AdoptArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = AdoptRequest {
        project: common.folder(),
        files: args.files.clone(),
        truth: args.truth.iter().cloned().map(Given::Path).collect(),
        labels: args.label.clone(),
        options: args.options(),
        threads: common.threads.unwrap_or(0),
    };
    screen.claim_output()?;
    let failed = |error| shared::failure_of(error, "a file was not accepted; nothing was adopted", screen);
    let bar = screen.bar();
    let adopting = request.consider(&telling(&bar)).map_err(failed)?;
    bar.finish_and_clear();
    if !common.yes {
        screen.note(&text(adopting.report()));
    }
    if !screen.agrees("Adopt them? This cannot be undone. [y/N]")? {
        let message = "nothing was adopted: nobody confirmed; use --yes in a script";
        return Err(Failure::nobody_agreed(message));
    }
    let report = adopting.adopt().map_err(failed)?;
    if let Err(failure) = screen.result(&text(&report), &report) {
        // They are in the ledger: whatever happened to the report, this was not a failure to adopt.
        screen.note(&format!("adopted, but the report could not be written: {}", failure.message));
    }
    Ok(0)
}

fn text(report: &AdoptReport) -> String {
    let mut out = String::new();
    for release in &report.releases {
        let state = if release.folder.is_some() { "adopted" } else { "to be adopted" };
        let _ =
            writeln!(out, "Release {}, label {}: {} {state}", release.release, release.label, release.file.display());
        let rows = counted(release.rows, "row", "rows");
        let _ = writeln!(out, "  {rows} in {}", counted(release.groups, "group", "groups"));
        match release.people {
            Some(people) => {
                let _ = writeln!(
                    out,
                    "  {} found in it, {} not in it, {} could be in more than one group",
                    counted(people, "person", "people"),
                    number(release.withheld),
                    number(release.ambiguous)
                );
            }
            None => {
                let line = "its private table is not known: no promise covers it together with later releases";
                let _ = writeln!(out, "  {line}");
            }
        }
        for finding in &release.findings {
            let _ = writeln!(out, "  {finding}");
        }
        if release.exposed > 0 {
            let exposed = counted(
                release.exposed,
                "person can no longer be protected and is",
                "people can no longer be protected and are",
            );
            let _ = writeln!(out, "  {exposed} withheld from now on");
        }
    }
    for release in report.releases.iter().filter(|release| release.erased > 0) {
        let who = counted(release.erased, "person of its table was", "people of its table were");
        let _ = writeln!(
            out,
            "  release {}: {who} erased before. Nothing of them is kept. Whether the promise holds for them over all releases is not checked.",
            release.release
        );
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    out
}
