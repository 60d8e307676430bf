//! Make the next release: rehearse it, ask once, commit it.

use crate::args::{Common, PublishArgs};
use crate::commands::plan::Plan;
use crate::commands::shared;
use crate::commands::shared::Summary;
use crate::failure::Failure;
use crate::screen;
use crate::screen::Screen;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use tacenda::publish::{Access, Input, ProjectError};

/// What publishing answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PublishReport {
    /// The release folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<String>,
    /// The release.
    pub summary: Summary,
}

pub fn run(args: &PublishArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let plan = args.plan.as_deref().map(Plan::read).transpose()?;
    let (input, label, view) = match &plan {
        Some(plan) => {
            let input = Input {
                path: plan.data.clone(),
                delta: plan.delta,
                show_values: false,
                memory: common.memory,
                threads: common.threads.unwrap_or(0),
            };
            (input, Some(plan.label.as_str()), plan.view.as_deref())
        }
        None => (shared::input(&args.data, common)?, args.label.as_deref(), args.view.as_deref()),
    };
    screen.claim_output()?;
    let mut project = shared::open(common, Access::Publish, screen)?;
    if plan.as_ref().is_some_and(|plan| plan.ledger_head != project.ledger_head()) {
        return Err(shared::failure(ProjectError::PlanStale { what: "the ledger" }, screen));
    }
    let bar = screen.bar();
    let step = |what: &str| screen::telling(&bar)(4, what);
    let failed = |error| shared::failure(error, screen);
    let material = project.material(&input, &step).map_err(failed)?;
    let rehearsal = shared::rehearse(&project, &material, view, label, &step).map_err(failed)?;
    if let Some(plan) = &plan {
        plan.matches(&project, &rehearsal).map_err(failed)?;
    }
    let summary = Summary::new(project.policy(), &material, &rehearsal);
    let headline = format!("Release {} of {}, label {}", summary.release, summary.series, summary.label);
    bar.finish_and_clear();
    if !agrees(&summary, &headline, common, screen)? {
        return Err(Failure::new(
            "U601",
            6,
            "nothing was published: nobody agreed; say --yes where nobody can be asked",
        ));
    }
    screen.detail(&format!("the table's SHA-256 is {}", rehearsal.data_digest));
    let bar = screen.bar();
    let step = |what: &str| screen::telling(&bar)(2, what);
    let outcome = project.publish(&material, &rehearsal, &step).map_err(failed)?;
    bar.finish_and_clear();
    let headline = format!("{headline}: published");
    let text = format!("{}\nThe release is in {}\n", summary.text(&headline), outcome.folder.display());
    let release = summary.release;
    let report = PublishReport { folder: outcome.folder, files: outcome.files, summary };
    if let Err(failure) = screen.result(&text, &report) {
        // The release is out: whatever happened to the report, this was not a failure to publish.
        screen
            .note(&format!("release {release} is published, but the report could not be written: {}", failure.message));
    }
    Ok(0)
}

/// On a terminal the release is shown and a person asked; elsewhere `--yes` must have been said.
fn agrees(summary: &Summary, headline: &str, common: &Common, screen: &Screen) -> Result<bool, Failure> {
    if !common.yes {
        screen.note(&summary.text(headline));
    }
    screen.agrees("Publish it? What is out cannot be taken back. [y/N]")
}
