//! Is the policy sound, and can this data meet it? Writes nothing.

use crate::args::{CheckArgs, Common};
use crate::commands::shared;
use crate::commands::shared::Summary;
use crate::failure::Failure;
use crate::screen;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use tacenda::ingest;
use tacenda::promise::{Limits, PolicyFile, Promise};

use tacenda::publish::{Access, Material, NextRelease, Project, ProjectError};
use tacenda::report::percent;

/// What check answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckReport {
    /// The series' name.
    pub series: String,
    /// The promise, in one sentence.
    pub promise: String,
    /// What is promised besides, one sentence each.
    pub also: Vec<String>,
    /// What the promise does not cover.
    pub limits: Vec<String>,
    /// What is worth saying about the policy though it is no fault.
    pub notes: Vec<String>,
    /// The next release, if a table was given.
    pub summary: Option<Summary>,
    /// What would be with other parameters.
    pub what_if: Vec<WhatIf>,
}

/// The next release with another parameter.
#[derive(Debug, JsonSchema, Serialize)]
pub struct WhatIf {
    /// The parameter, such as `m = 4`.
    pub parameter: String,
    /// Why it cannot be met, if it cannot.
    pub refused: Option<String>,
    /// Groups.
    pub groups: u64,
    /// Rows with nobody behind them.
    pub counterfeits: u64,
    /// People who are left out.
    pub withheld: u64,
    /// Mean loss.
    pub loss: f64,
}

impl WhatIf {
    fn refused(parameter: String, why: String) -> WhatIf {
        WhatIf { parameter, refused: Some(why), groups: 0, counterfeits: 0, withheld: 0, loss: 1.0 }
    }
}

pub fn run(args: &CheckArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let project = shared::open(common, Access::Look, screen)?;
    let file = project.policy();
    let mut report = CheckReport {
        series: file.series.name.clone(),
        promise: said(&file.first_promise()),
        also: file.promises().iter().skip(1).map(said).collect(),
        limits: file.terms().limits.into_iter().map(String::from).collect(),
        notes: project.policy_notes().to_vec(),
        summary: None,
        what_if: Vec::new(),
    };
    let what_if = args.what_if.as_deref().map(|text| variants(file, text)).transpose()?;
    if args.data.path.is_some() || what_if.is_some() {
        let input = shared::input(&args.data, common)?;
        let bar = screen.steps(5);
        let step = screen::telling(&bar);
        let failed = |error| shared::failure(error, screen);
        let material = project.material(&input, &step).map_err(failed)?;
        if let Some(view) = &args.view {
            report.notes.extend(project.explain_view(&material, view).map_err(failed)?);
        }
        match what_if {
            Some(variants) => {
                for (parameter, variant) in variants {
                    bar.set_message(parameter.clone());
                    let view = args.view.as_deref();
                    let (answer, warnings) = try_out(&project, &variant, parameter, &material, view).map_err(failed)?;
                    report.what_if.push(answer);
                    // A column is told of once, whatever the parameters.
                    for warning in warnings {
                        if !report.notes.contains(&warning) {
                            report.notes.push(warning);
                        }
                    }
                }
            }
            None => {
                let rehearsal = shared::rehearse(&project, &material, args.view.as_deref(), None, &step);
                // Why a promise cannot be met stands in the notes.
                let rehearsal = rehearsal.map_err(|error| {
                    let notes = report.notes.iter().map(|note| format!("  note: {note}"));
                    notes.fold(failed(error), |failure, note| failure.line(note))
                })?;
                report.summary = Some(Summary::new(file, &material, &rehearsal));
            }
        }
        bar.finish_and_clear();
    }
    screen.result(&text(&report), &report)?;
    Ok(0)
}

/// A promise in one sentence, and what its X and Y are.
fn said(promise: &Promise) -> String {
    let sides = match promise {
        Promise::Series(_) => String::new(),
        Promise::View(promise) => format!(" {}", promise.sides()),
    };
    format!("{}{sides}", promise.terms().sentence)
}

/// The policy file with each value of a parameter, such as `m=2..6`, both ends included.
fn variants(file: &PolicyFile, text: &str) -> Result<Vec<(String, PolicyFile)>, Failure> {
    let usage = || Failure::usage("say --what-if as a parameter and a range, such as m=2..6");
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let (from, to) = range.split_once("..").unwrap_or((range, range));
    let bound = |text: &str| text.trim().trim_start_matches('=').parse::<u32>().map_err(|_| usage());
    let (from, to) = (bound(from)?, bound(to)?);
    if from < 2 || from > to || to - from > 50 {
        return Err(Failure::usage("a range of --what-if starts at 2 or more and has at most 50 steps"));
    }
    (from..=to)
        .map(|value| {
            let mut variant = file.clone();
            // The answer is what it would cost, so the limits do not cut it short.
            variant.limits = Limits { counterfeits: 1.0, withheld: 1.0 };
            if !variant.set(name.trim(), value) {
                let promise = file.terms().name;
                return Err(Failure::usage(format!("{promise} has no parameter {}", name.trim())));
            }
            Ok((format!("{} = {value}", name.trim()), variant))
        })
        .collect()
}

fn try_out(
    project: &Project,
    file: &PolicyFile,
    parameter: String,
    material: &Material,
    view: Option<&str>,
) -> Result<(WhatIf, Vec<String>), ProjectError> {
    let refused = |parameter, why| Ok((WhatIf::refused(parameter, why), Vec::new()));
    if let Some(why) = project.barred(file, material) {
        return refused(parameter, why);
    }
    // What the policy file could not say is not answered either.
    let faults: Vec<String> =
        ingest::faults_of(file).iter().map(|fault| format!("{}: {}", fault.code, fault.message)).collect();
    if !faults.is_empty() {
        return refused(parameter, faults.join("; "));
    }
    let next = NextRelease { policy: Some(file), view, label: None };
    match project.rehearse(material, next, &|_| {}) {
        Ok(rehearsal) => {
            let summary = Summary::new(file, material, &rehearsal);
            let answer = WhatIf {
                parameter,
                refused: None,
                groups: summary.groups,
                counterfeits: summary.counterfeits,
                withheld: summary.withheld,
                loss: summary.loss["leaf_share"].as_f64().unwrap_or(0.0),
            };
            Ok((answer, rehearsal.warnings))
        }
        Err(ProjectError::Publish(error)) => refused(parameter, error.to_string()),
        Err(error) => Err(error),
    }
}

fn text(report: &CheckReport) -> String {
    let mut out = format!("The policy of {} is sound.\n\n  promise  {}\n", report.series, report.promise);
    for also in &report.also {
        let _ = writeln!(out, "  also     {also}");
    }
    for limit in &report.limits {
        let _ = writeln!(out, "  but      {limit}");
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note     {note}");
    }
    if let Some(summary) = &report.summary {
        let _ = write!(out, "\n{}", summary.text("This table can be published under it:"));
    }
    if !report.what_if.is_empty() {
        let _ = writeln!(out, "\n  {:<8} {:>10} {:>13} {:>10} {:>9}", "", "groups", "counterfeits", "withheld", "loss");
        for row in &report.what_if {
            let _ = match &row.refused {
                Some(why) => writeln!(out, "  {:<8} refused: {why}", row.parameter),
                None => writeln!(
                    out,
                    "  {:<8} {:>10} {:>13} {:>10} {:>9}",
                    row.parameter,
                    number(row.groups),
                    number(row.counterfeits),
                    number(row.withheld),
                    percent(row.loss)
                ),
            };
        }
    }
    out
}
