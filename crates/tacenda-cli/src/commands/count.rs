//! Count people in a release, from its folder alone.

use crate::args::{Common, CountArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use tacenda::use_cases;

pub fn run(args: &CountArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let report = use_cases::count(&common.project, &args.release, &args.condition, &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    let mut text = format!(
        "{:.1} people (at least {}, at most {})\n",
        report.estimate,
        number(report.lowest),
        number(report.highest)
    );
    report.notes.iter().for_each(|note| text.push_str(&format!("note: {note}\n")));
    screen.result(&text, &report)?;
    Ok(0)
}
