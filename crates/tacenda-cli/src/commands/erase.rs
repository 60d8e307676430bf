//! Erase a person from the vault and from all later releases.
//!
//! Identifiers come from standard input: arguments stand in the list of processes and in the shell's history.

use crate::args::{Common, RetainArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::Screen;
use std::io;
use std::io::BufRead;
use tacenda::model::{counted, people};
use tacenda::use_cases;
use tacenda::use_cases::EraseReport;

/// The exit code if an identifier is not known.
const NOT_KNOWN: u8 = 6;

pub fn run(common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let lines = io::stdin().lock().lines().collect::<io::Result<Vec<String>>>();
    let lines = lines.map_err(|error| Failure::environment(format!("standard input: {error}")))?;
    let numbered = (1..).zip(lines).filter(|(_, line)| !line.trim().is_empty());
    let (numbers, identifiers): (Vec<u64>, Vec<String>) = numbered.unzip();
    let report = use_cases::erase(&common.folder(), &identifiers);
    let report = report.map_err(|error| shared::failure(error, screen))?;
    let mut text = match report.erased.people {
        0 => "Nobody was erased.\n".to_string(),
        count => format!(
            "{} erased from the vault and from all later releases.\n",
            counted(count, "person was", "people were")
        ),
    };
    if report.erased.already > 0 {
        text.push_str(&format!("{} erased before.\n", counted(report.erased.already, "person was", "people were")));
    }
    if report.erased.unknown > 0 {
        let at = report.erased.unknown_at.iter();
        let lines: Vec<String> = at.map(|&place| numbers[place as usize - 1].to_string()).collect();
        let who = counted(report.erased.unknown, "identifier is", "identifiers are");
        text.push_str(&format!(
            "{who} not known to this series, so nobody was erased for {}: {} {} of the input. Compare the spelling with \
             your table. If a kept plan holds that person, make the plan again without them.\n",
            if lines.len() == 1 { "it" } else { "them" },
            if lines.len() == 1 { "line" } else { "lines" },
            lines.join(", ")
        ));
    }
    told(&text, &report, screen)?;
    // Somebody asked to be erased and may still be there: a person must look.
    Ok(if report.erased.unknown > 0 { NOT_KNOWN } else { 0 })
}

/// Forgets people who left long ago.
pub fn retain(args: &RetainArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let report = use_cases::retain(&common.folder(), args.releases);
    let report = report.map_err(|error| shared::failure(error, screen))?;
    let text = match report.erased.people {
        0 => "Nobody left so long ago. Nothing was done.\n".to_string(),
        count => format!("{} who left are forgotten. If they return, they are left out.\n", people(count)),
    };
    told(&text, &report, screen)?;
    Ok(0)
}

fn told(text: &str, report: &EraseReport, screen: &Screen) -> Result<(), Failure> {
    let mut text = text.to_string();
    if report.erased.people > 0 {
        text.push_str(&format!("\nThe next release: {}\n\nWhat cannot be erased:\n", report.departures));
        report.stays.iter().for_each(|stays| text.push_str(&format!("- {stays}\n")));
    }
    screen.result(&text, report)
}
