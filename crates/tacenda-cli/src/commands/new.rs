//! Start a new series in the same folder, after a false start.

use crate::args::{Common, NewArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::Screen;
use std::fmt::Write;
use tacenda::use_cases;

pub fn run(args: &NewArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let old = use_cases::start_over(&common.folder(), args.name.as_deref());
    let old = old.map_err(|error| shared::failure(error, screen))?;
    let out = match old.releases {
        0 => "Nothing of it is published.".to_string(),
        releases => format!("These releases stay published: {releases}."),
    };
    let question =
        format!("Set the series {} aside and start a new one? {out} Nothing is deleted. [y/N]", old.old_series);
    if !screen.agrees(&question)? {
        return Err(Failure::nobody_agreed("nothing was changed: nobody confirmed; use --yes in a script"));
    }
    let report = old.carry_out().map_err(|error| shared::failure(error, screen))?;
    let kept = report.kept_in.display();
    let mut text = format!(
        "The series {} is in {kept}, whole: tacenda -C {} log, report and verify work there.\nThe policy file now \
         names {}. The next publish begins it, with a new vault.\n",
        report.old_series,
        shared::quoted(&report.kept_in),
        report.new_series,
    );
    if report.releases > 0 {
        let _ = writeln!(
            text,
            "What is published stays published. The new series does not take it into account, and its promise does not \
             cover what both reveal together.\nIf the same people are in both: tacenda adopt takes old releases into \
             the new series, or audit both before you publish."
        );
    }
    screen.result(&text, &report)?;
    Ok(0)
}
