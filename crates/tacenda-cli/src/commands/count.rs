//! Count people in a release, from its folder alone.

use crate::args::{Common, CountArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use tacenda::folder;

/// What count answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CountReport {
    /// The condition.
    pub condition: String,
    /// The expected number of people, if values are spread evenly within each region.
    pub estimate: f64,
    /// No fewer people than this can meet the condition.
    pub lowest: u64,
    /// No more people than this can meet the condition.
    pub highest: u64,
    /// What the asker should know, such as a value that no row has.
    pub notes: Vec<String>,
}

pub fn run(args: &CountArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let (_, published) = shared::read_release(Some(&args.release), common, screen)?;
    let count = folder::count(&published.release, &published.schema, &args.condition);
    let count = count.map_err(|error| shared::failure(error.into(), screen))?;
    let report = CountReport {
        condition: args.condition.clone(),
        estimate: count.estimate,
        lowest: count.lowest,
        highest: count.highest,
        notes: count.notes,
    };
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
