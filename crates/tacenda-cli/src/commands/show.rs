//! One release, from its folder alone: what a recipient can see.

use crate::args::{Common, ShowArgs};
use crate::commands::{deliver, shared};
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use std::fmt::Write;
use tacenda::model::people;
use tacenda::use_cases;
use tacenda::use_cases::ShowReport;

pub fn run(args: &ShowArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let bar = screen.bar();
    let report = use_cases::show(&common.project, args.release.as_deref(), &telling(&bar));
    let report = report.map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report), &report)?;
    Ok(0)
}

fn text(report: &ShowReport) -> String {
    let mut out = format!("Release {} of {}, label {}\n\n", report.release, report.series, report.label);
    let mut line = |name: &str, text: String| {
        let _ = writeln!(out, "  {name:<13} {text}");
    };
    if let Some(view) = &report.view {
        line("view", view.clone());
    }
    if let Some(withdrawn) = &report.withdrawn {
        line("WITHDRAWN", withdrawn.clone());
    }
    for one in &report.owed {
        line("owed", format!("{}: tacenda deliver", deliver::owed(one)));
    }
    line("folder", report.folder.display().to_string());
    line("rows", format!("{} in {} groups", number(report.rows), number(report.groups)));
    line("counterfeits", number(report.counterfeits));
    line("smallest", format!("group of {}", people(u64::from(report.smallest_group))));
    if let Some(alone) = &report.alone {
        line("alone", alone.clone());
    }
    line("loss", shared::loss_line(&report.loss));
    line("", shared::loss_more(&report.loss));
    line("promise", report.promise_in_short.clone());
    for broken in &report.not_kept {
        line("NOT KEPT", broken.clone());
    }
    if report.promise != report.promise_in_short {
        line("in full", report.promise.clone());
    }
    for limit in &report.limits {
        line("but", limit.clone());
    }
    out
}
