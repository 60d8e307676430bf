//! Check ledger, vault and release folders against their digests, and read every release back.

use crate::args::Common;
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::Screen;
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;
use tacenda::ledger::{Event, RealDisk, Store};
use tacenda::{folder, ledger};

/// What verify answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerifyReport {
    /// Whether everything is as it was published.
    pub whole: bool,
    /// How many releases were checked.
    pub releases: u32,
    /// What is wrong, one sentence each.
    pub faults: Vec<VerifyFault>,
}

/// One thing that is wrong.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerifyFault {
    /// Its code.
    pub code: String,
    /// What and where.
    pub message: String,
}

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let store = Store::open_read(Arc::new(RealDisk), &common.project);
    let store = store.map_err(|error| shared::failure(error.into(), screen))?;
    let bar = screen.steps(u64::from(store.releases()) + 1);
    bar.set_message("checking digests");
    let mut faults: Vec<VerifyFault> = ledger::verify(&store)
        .into_iter()
        .map(|fault| VerifyFault { code: fault.code().to_string(), message: fault.to_string() })
        .collect();
    if faults.is_empty() {
        // Digests say that the files are the published ones; reading says that they can be used.
        let made_here = store.events().iter().filter(|event| !event.is_adoption()).filter_map(Event::publication);
        for number in made_here.map(|publication| publication.number) {
            bar.inc(1);
            bar.set_message(format!("reading release {number}"));
            if let Err(error) = folder::read(&store.release_folder(number)) {
                faults.push(VerifyFault { code: error.code().to_string(), message: error.to_string() });
            }
        }
    }
    bar.finish_and_clear();
    let report = VerifyReport { whole: faults.is_empty(), releases: store.releases(), faults };
    let mut text = match report.whole {
        true => format!("whole: the ledger, the vault and {} releases are as they were published\n", report.releases),
        false => format!("damaged: {} faults\n", report.faults.len()),
    };
    for fault in &report.faults {
        text.push_str(&format!("  {}: {}\n", fault.code, fault.message));
    }
    screen.result(&text, &report)?;
    Ok(if report.whole { 0 } else { 5 })
}
