//! Make the next release: rehearse it, ask once, commit it.

use crate::args::{Common, PublishArgs};
use crate::commands::{deliver, shared};
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use std::path::PathBuf;
use tacenda::use_cases::{Next, PublishReport};

pub fn run(args: &PublishArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let mut request = shared::release(&args.data, args.label.as_ref(), args.view.as_ref(), common);
    request.project.accept_rollback = args.accept_rollback.clone();
    request.backup = args.backup.clone();
    screen.claim_output()?;
    let failed = |error| shared::failure(error, screen);
    let bar = screen.bar();
    let next = request.prepare(args.plan.clone(), &telling(&bar)).map_err(failed)?;
    bar.finish_and_clear();
    let mut rehearsed = match next {
        Next::Release(rehearsed) => rehearsed,
        Next::Already(report) => return nothing_new(&report, "was made from this table already", screen),
        Next::Committed(report) => {
            return nothing_new(&report, "is committed already; the source was not read again", screen);
        }
    };
    let summary = rehearsed.summary();
    let headline = format!("Release {} of {}, label {}", summary.release, summary.series, summary.label);
    // On a terminal the release is shown and a person asked; elsewhere `--yes` must have been said.
    if !common.yes {
        screen.note(&shared::summary_text(&summary, &headline));
    }
    if !screen.agrees("Publish it? A published release cannot be taken back. [y/N]")? {
        let message = "nothing was published: nobody confirmed; use --yes in a script";
        return Err(Failure::nobody_agreed(message));
    }
    screen.detail(&format!("the ledger's digest of the table is {}", rehearsed.rehearsal.source));
    let bar = screen.bar();
    let report = rehearsed.publish(&telling(&bar)).map_err(failed)?;
    bar.finish_and_clear();
    let text = shared::summary_text(&summary, &format!("{headline}: published"));
    let text = match common.quiet {
        true => format!("{}\n", report.folder.display()),
        false => format!(
            "{text}\n{}{}The release is in {}\n{}",
            signatures(&report),
            kept(&report),
            report.folder.display(),
            deliver::text(&report.deliveries)
        ),
    };
    if let Err(failure) = screen.result(&text, &report) {
        // The release is out: whatever happened to the report, this was not a failure to publish.
        let release = report.release;
        screen
            .note(&format!("release {release} is published, but the report could not be written: {}", failure.message));
    }
    deliver::ended(&report.deliveries, &published(&report))
}

/// Says why nothing was published, and what was delivered.
fn nothing_new(report: &PublishReport, why: &str, screen: &Screen) -> Result<u8, Failure> {
    let said = format!(
        "Release {}, label {}, {why}. Nothing was published.\nThe release is in {}\n",
        report.release,
        report.label,
        report.folder.display()
    );
    screen.result(&(said + &deliver::text(&report.deliveries)), report)?;
    deliver::ended(&report.deliveries, &published(report))
}

/// What is done, whatever databases said.
fn published(report: &PublishReport) -> String {
    format!("release {}, label {}, is published", report.release, report.label)
}

/// Where the backup is; nothing where none was asked for.
fn kept(report: &PublishReport) -> String {
    let told = |file: &PathBuf| format!("A backup of the project before it is in {}\n", file.display());
    report.backup.as_ref().map_or_else(String::new, told)
}

/// Who signed and who approved; nothing where nobody did.
fn signatures(report: &PublishReport) -> String {
    let signed = report.signed_by.iter().map(|key| format!("Signed by the key {key}.\n"));
    let approved = report.approved_by.iter().map(|key| format!("Approved by the key {key}.\n"));
    signed.chain(approved).collect()
}
