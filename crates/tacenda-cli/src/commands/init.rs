//! Look at a table and draft the policy file: roles, types, padded domains.

use crate::args::{Common, InitArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::ingest::Draft;
use tacenda::model::Role;
use tacenda::use_cases::{DraftRequest, InitReport};

pub fn run(args: &InitArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let request = DraftRequest {
        project: common.folder(),
        data: args.data.clone(),
        name: args.name.clone(),
        promise: args.promise.clone(),
    };
    let bar = screen.bar();
    let mut drafting = request.draft(&telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    confirm(&mut drafting.draft, common, screen)?;
    let bar = screen.bar();
    let report = drafting.write(&telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report, args, common), &report)?;
    Ok(0)
}

/// On a terminal, shows each proposal and lets the steward change the role; elsewhere `--yes` must have
/// been said.
fn confirm(draft: &mut Draft, common: &Common, screen: &Screen) -> Result<(), Failure> {
    if common.yes {
        return Ok(());
    }
    let names: Vec<String> = draft.columns.iter().map(|column| column.name.clone()).collect();
    for name in names {
        loop {
            let column = draft.column(&name).expect("the column was just listed");
            let question = format!(
                "{name}: {} ({}). Enter to keep, or identifier, quasi, sensitive, public, drop:",
                column.role.word(),
                column.because
            );
            let Some(answer) = screen.ask(&question)? else {
                let message = "nothing was drafted: there is no terminal to ask on; say --yes to accept every proposal";
                return Err(Failure::nobody_agreed(message));
            };
            if answer.is_empty() {
                break;
            }
            if let Some(role) = Role::named(&answer) {
                draft.set_role(&name, role);
                break;
            }
            screen.note("there is no such role");
        }
    }
    Ok(())
}

fn text(report: &InitReport, args: &InitArgs, common: &Common) -> String {
    let mut out = format!("{} rows. Proposed:\n\n", number(report.rows));
    for column in &report.columns {
        let _ = writeln!(out, "  {:<20} {:<11} {}", column.name, column.role, column.because);
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    let project = shared::project_words(common);
    let _ = writeln!(out, "\nThe policy is in {}. Read it and correct it. Then", report.policy.display());
    let _ = writeln!(out, "  tacenda{project} check {0}\n  tacenda{project} plan {0}", shared::quoted(&args.data));
    out
}
