//! Check ledger, vault and release folders against their digests, and read every release back.

use crate::args::{Common, VerifyArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use tacenda::model::counted;
use tacenda::use_cases;

pub fn run(args: &VerifyArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let folder = args.folder.as_ref().unwrap_or(&common.project);
    let report = use_cases::verify(folder, common.anchors().as_ref(), &telling(&bar))
        .map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let releases = counted(u64::from(report.releases), "release", "releases");
    let mut text = match report.whole {
        true if report.vault => format!("intact: the ledger, the vault and {releases} are as they were published\n"),
        true => format!("intact: {releases} as published; there is no vault here, so none was checked\n"),
        false if report.unfinished => {
            "a publish is not finished: run tacenda plan or publish, which finishes it\n".into()
        }
        false => format!("damaged: {} faults\n", report.faults.len()),
    };
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
