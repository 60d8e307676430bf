//! Check ledger, vault and release folders against their digests, and read every release back.

use crate::args::{Common, VerifyArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use tacenda::keys::{KeyError, PublicKey};
use tacenda::model::counted;
use tacenda::use_cases;
use tacenda::use_cases::{ProjectFolder, UseCaseError, VerifyReport, VerifyRequest};

pub fn run(args: &VerifyArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let folders = if args.folders.is_empty() { vec![common.project.clone()] } else { args.folders.clone() };
    let failed = |error: UseCaseError| shared::failure(error, screen);
    let keys = args.trusted.iter().map(|key| PublicKey::named(key)).collect::<Result<Vec<PublicKey>, KeyError>>();
    let keys = keys.map_err(|error| failed(error.into()))?;
    // What is verified is the project, and not what lies where the command was started.
    let project = ProjectFolder { root: folders[0].clone(), ..common.folder() };
    let anchors = project.held_anchors().map_err(|error| failed(error.into()))?;
    let own = common.keys();
    let request = VerifyRequest { folders, anchors: anchors.as_ref(), keys: &keys, own: own.as_ref() };
    let report = use_cases::verify(&request, &telling(&bar)).map_err(failed)?;
    bar.finish_and_clear();
    let mut text = verdict(&report, !keys.is_empty());
    text.push_str(&signatures(&report, !keys.is_empty()));
    if !report.ledger {
        report.not_checked.iter().for_each(|why| text.push_str(&format!("  {why}\n")));
    }
    for fault in &report.faults {
        text.push_str(&format!("  {}: {}\n", fault.code, fault.message));
    }
    screen.result(&text, &report)?;
    Ok(match report.whole {
        true => 0,
        false if report.unfinished => 7,
        false => 5,
    })
}

/// What was compared with what, and whether it fits.
fn verdict(report: &VerifyReport, checked: bool) -> String {
    let releases = counted(u64::from(report.releases), "release", "releases");
    match report.whole {
        true if report.vault => format!("intact: the ledger, the vault and {releases} are as they were published\n"),
        true if report.ledger => format!("the ledger and {releases} are intact; {}\n", report.not_checked.join("; ")),
        true if checked => format!("intact: {releases} as signed\n"),
        true if report.signed => format!("intact by the checksums in the folder: {releases}\n"),
        true => format!(
            "intact by the checksums in the folder: {releases}. Nothing is signed: a person who changes a file can change its \
             checksum too\n"
        ),
        false if report.unfinished => {
            "a publish is not finished: run tacenda plan or publish, which finishes it\n".into()
        }
        false => format!("damaged: {}\n", counted(report.faults.len() as u64, "fault", "faults")),
    }
}

/// Whose signatures fit, or that nobody checked them.
fn signatures(report: &VerifyReport, checked: bool) -> String {
    match (checked, report.signed) {
        (true, _) if report.whole => format!("signed: by the key {}\n", report.signed_by.join(", ")),
        (false, true) => {
            "there are signatures, and they were not checked: name the publisher's key with --key\n".into()
        }
        _ => String::new(),
    }
}
