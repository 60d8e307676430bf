//! Check ledger, vault and release folders against their digests, and read every release back.

use crate::args::Common;
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use tacenda::use_cases;

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let report = use_cases::verify(&common.project, &telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let mut text = match report.whole {
        true => format!("intact: the ledger, the vault and {} releases are as they were published\n", report.releases),
        false => format!("damaged: {} faults\n", report.faults.len()),
    };
    for fault in &report.faults {
        text.push_str(&format!("  {}: {}\n", fault.code, fault.message));
    }
    screen.result(&text, &report)?;
    Ok(if report.whole { 0 } else { 5 })
}
