//! Checks whether a policy is valid, and whether a table can meet it. Writes nothing.

use crate::grouping::GroupingError;
use crate::model::{Hides, Sensitive, counted, number, percent};
use crate::promise::{PolicyFile, Promise, Promised, ShareLimits};
use crate::publish::{
    Access, Choice, ForecastReport, Ingredients, MOST_COMPARED, NextRelease, Project, ProjectError, PublishError,
    Rehearsal,
};
use crate::use_cases::{Progress, ReleaseRequest, Summary, UseCaseError};
use crate::{ingest, measure};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// The answer of check.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CheckReport {
    /// The series' name.
    pub series: String,
    /// The promise, in one sentence.
    pub promise: String,
    /// Further promises, one sentence each.
    pub also: Vec<String>,
    /// What the promise does not cover.
    pub limits: Vec<String>,
    /// Remarks about the policy that are no faults.
    pub notes: Vec<String>,
    /// The next release, if a table was given.
    pub summary: Option<Summary>,
    /// The next release with other parameters.
    pub what_if: Vec<WhatIf>,
    /// The parameter of them with which the limits of the policy file hold for the most releases, if they differ.
    pub lasts_longest: Option<String>,
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
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// People who are left out.
    pub withheld: u64,
    /// Mean loss.
    pub loss: f64,
    /// What each way of keeping the promise costs; empty if there is only one.
    pub ways: Vec<Choice>,
    /// Which of them is best for this table, or a note that none is.
    pub best: Option<String>,
    /// What the next releases will need; none if that cannot be predicted.
    pub forecast: Option<ForecastReport>,
}

impl WhatIf {
    fn refused(parameter: String, why: String) -> WhatIf {
        WhatIf {
            parameter,
            refused: Some(why),
            groups: 0,
            counterfeits: 0,
            withheld: 0,
            loss: 1.0,
            ways: Vec::new(),
            best: None,
            forecast: None,
        }
    }
}

/// Checks the policy. With a table, or with a source in the policy file, also checks whether the table can be published
/// under it. With `what_if`, such as `m=2..6`, it computes what other parameters would cost.
pub fn check(
    mut request: ReleaseRequest,
    what_if: Option<&str>,
    progress: Progress<'_>,
) -> Result<CheckReport, UseCaseError> {
    let mut project = request.project.open(Access::Look)?;
    if request.data.is_some() || what_if.is_some() || project.databases().source.is_some() {
        // What was published decides about the next release.
        project.need_vault()?;
    }
    let file = project.policy();
    let mut report = CheckReport {
        series: file.series.name.clone(),
        promise: said(&file.first_promise()),
        also: file.promises().iter().skip(1).map(said).collect(),
        limits: file.terms().limits.into_iter().map(String::from).collect(),
        notes: project.policy_notes().to_vec(),
        summary: None,
        what_if: Vec::new(),
        lasts_longest: None,
    };
    report.notes.extend(file.uncounted(None).into_iter().map(|(name, why)| {
        format!(
            "no counts of {name} are published beside the rows: {why}; counts of two columns with it will be far off"
        )
    }));
    let variants = what_if.map(|text| variants(file, text)).transpose()?;
    if request.data.is_none() && variants.is_none() && project.databases().source.is_none() {
        return Ok(report);
    }
    let table = request.table()?;
    let steps = Project::MATERIAL_STEPS + variants.as_ref().map_or(Project::REHEARSE_STEPS + 1, Vec::len);
    let step = |what: &str| progress(steps, what);
    let material = project.material(request.input(table, &project)?, &step)?;
    let view = request.view.as_deref();
    if let Some(view) = view {
        report.notes.extend(project.explain_view(&material, view)?);
    }
    report.notes.extend(unprotected(file, &material));
    let Some(variants) = variants else {
        return match project.rehearse(&material, NextRelease { view, ..NextRelease::default() }, &step) {
            Ok(rehearsal) => {
                step("comparing choices");
                report.notes.extend(project.ways(file, &material, &rehearsal, MOST_COMPARED)?.notes());
                if project.publications().is_empty() {
                    let forecast = rehearsal.forecast(file, &material);
                    report.notes.extend(forecast.as_ref().and_then(too_short));
                    report.notes.extend(forecast.and_then(|forecast| forecast.ends).map(|why| ends_early(&why)));
                }
                report.summary = Some(Summary::new(file, &material, &rehearsal));
                Ok(report)
            }
            Err(error) => {
                report.notes.extend(uneven(&project, file, &material, &error));
                Err(UseCaseError::NotMet { error, notes: report.notes })
            }
        };
    };
    for (parameter, variant) in variants {
        step(&parameter);
        let (answer, warnings) = try_out(&project, &variant, parameter, &material, view)?;
        report.what_if.push(answer);
        // Each warning is shown once for all parameters.
        for warning in warnings {
            if !report.notes.contains(&warning) {
                report.notes.push(warning);
            }
        }
    }
    report.lasts_longest = lasts_longest(&report.what_if);
    Ok(report)
}

/// What is said before a first release if the limits of the policy file refuse one of the next, as a simulation makes them.
fn too_short(forecast: &ForecastReport) -> Option<String> {
    let ahead = forecast.releases.len();
    (ahead > forecast.within as usize).then(|| {
        let helps = forecast.helps.as_ref().map_or(String::new(), |helps| format!("; what helps: {helps}"));
        format!(
            "if {} of the people leave each time, the limits of the policy file hold for {} of the {ahead} releases after this \
             one{helps}; a series keeps its promise, so change it before the first release",
            percent(forecast.leave),
            forecast.within
        )
    })
}

/// What a simulation says that could not go on.
pub(super) fn ends_early(why: &str) -> String {
    format!("a simulation of the next releases ended early, so this series may end, too: {why}")
}

/// What the next releases will need under a variant, with the limits of the policy file itself.
fn foreseen(
    own: &PolicyFile,
    variant: &PolicyFile,
    material: &Ingredients,
    rehearsal: &Rehearsal,
) -> Option<ForecastReport> {
    let limited = PolicyFile { limits: own.limits, ..variant.clone() };
    rehearsal.forecast(&limited, material)
}

/// The parameter with which the limits hold for the most releases; none where all are alike.
fn lasts_longest(what_if: &[WhatIf]) -> Option<String> {
    let foreseen = what_if.iter().filter_map(|row| Some((row, row.forecast.as_ref()?)));
    let lasting = foreseen.map(|(row, ahead)| ((ahead.ends.is_none(), ahead.within, ahead.within_most), row));
    let lasting: Vec<((bool, u32, u32), &WhatIf)> = lasting.collect();
    let least = lasting.iter().map(|(releases, _)| *releases).min()?;
    let (most, row) = lasting.iter().max_by_key(|(releases, _)| *releases)?;
    (*most != least).then(|| row.parameter.clone())
}

/// What a steward can do before a first release where too many people have one value, with what each costs. Everything that
/// is named was tried on the table.
fn uneven(project: &Project, file: &PolicyFile, material: &Ingredients, error: &ProjectError) -> Vec<String> {
    let is_uneven = matches!(
        error,
        ProjectError::Publish(PublishError::Grouping(
            GroupingError::Ineligible { .. } | GroupingError::TooFewValues { .. }
        ))
    );
    let Promised::Series(promise) = &file.promise else { return Vec::new() };
    if !is_uneven || material.last().is_some() {
        return Vec::new();
    }
    let table = material.table();
    let mut counts = vec![0u64; table.values.len()];
    table.sensitive().iter().for_each(|value| counts[value.index()] += 1);
    let most = counts.iter().copied().max().unwrap_or(0);
    let people = table.len() as u64;
    let mut notes = vec![format!(
        "{} of {} have one sensitive value ({}); tried on this table, before a first release:",
        number(most),
        counted(people, "person", "people"),
        percent(most as f64 / people.max(1) as f64)
    )];
    let mut try_variant = |what: String, variant: PolicyFile| {
        let variant = PolicyFile { limits: ShareLimits { counterfeits: 1.0, withheld: 1.0 }, ..variant };
        let next = NextRelease { policy: Some(&variant), ..NextRelease::default() };
        notes.push(match project.rehearse(material, next, &|_| {}) {
            Ok(rehearsal) => {
                let summary = Summary::new(&variant, material, &rehearsal);
                format!(
                    "{what}: {} withheld, {} counterfeits, loss {}",
                    counted(summary.withheld, "person", "people"),
                    number(summary.counterfeits),
                    percent(rehearsal.loss.leaf_share)
                )
            }
            Err(_) => format!("{what}: not possible either"),
        });
    };
    for (what, promise) in promise.remedies(people.checked_div(most).unwrap_or(0) as u32) {
        try_variant(what, PolicyFile { promise: promise.into(), ..file.clone() });
    }
    notes.push(
        "other remedies change the data: finer values in place of the frequent one, only the people without it, or \
         role = \"drop\" for the column"
            .into(),
    );
    notes
}

/// The sensitive columns whose values the promise does not protect, a sentence each.
fn unprotected(file: &PolicyFile, material: &Ingredients) -> Vec<String> {
    let terms = file.terms();
    let table = material.table();
    if !matches!(terms.hides, Hides::Identity(_)) || terms.l.is_some() || table.is_empty() {
        return Vec::new();
    }
    let people = table.len() as u64;
    let way_out = |most: u64| match (material.last().is_some(), most * 2 > people) {
        (true, _) => "a new series can leave the column out",
        (false, true) => "give it role = \"drop\", or finer values in place of the frequent one",
        (false, false) => "choose a promise about values, such as m-invariance, or give it role = \"drop\"",
    };
    let told = |(at, column): (usize, &Sensitive)| {
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        table.sensitive().iter().for_each(|&value| *counts.entry(&table.values.cells(value)[at]).or_default() += 1);
        let most = counts.values().copied().max().unwrap_or(0);
        format!(
            "the promise does not protect the values of {}: {} of {} have its most frequent value, and a group may hold one value \
             only; then everybody learns it of all people of that group: {}",
            column.name,
            number(most),
            counted(people, "person", "people"),
            way_out(most)
        )
    };
    file.schema.sensitive.iter().enumerate().map(told).collect()
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
fn variants(file: &PolicyFile, text: &str) -> Result<Vec<(String, PolicyFile)>, UseCaseError> {
    let usage = || UseCaseError::usage("write --what-if as a parameter and a range, such as m=2..6");
    let (name, range) = text.split_once('=').ok_or_else(usage)?;
    let (from, to) = range.split_once("..").unwrap_or((range, range));
    let bound = |text: &str| text.trim().trim_start_matches('=').parse::<u32>().map_err(|_| usage());
    let (from, to) = (bound(from)?, bound(to)?);
    if from < 2 || from > to || to - from > 50 {
        return Err(UseCaseError::usage("a range of --what-if starts at 2 or more and has at most 50 steps"));
    }
    (from..=to)
        .map(|value| {
            let mut variant = file.clone();
            // The limits are lifted, because the question is what the release would cost.
            variant.limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
            if !variant.set(name.trim(), value) {
                let promise = file.terms().name;
                return Err(UseCaseError::usage(format!("{promise} has no parameter {}", name.trim())));
            }
            Ok((format!("{} = {value}", name.trim()), variant))
        })
        .collect()
}

fn try_out(
    project: &Project,
    file: &PolicyFile,
    parameter: String,
    material: &Ingredients,
    view: Option<&str>,
) -> Result<(WhatIf, Vec<String>), ProjectError> {
    let refused = |parameter, why| Ok((WhatIf::refused(parameter, why), Vec::new()));
    if let Some(why) = project.barred(file, material) {
        return refused(parameter, why);
    }
    // Parameters that a policy file could not have are not answered.
    let faults: Vec<String> =
        ingest::faults_of(file).iter().map(|fault| format!("{}: {}", fault.kind.code(), fault.message)).collect();
    if !faults.is_empty() {
        return refused(parameter, faults.join("; "));
    }
    match project.rehearse(material, NextRelease { policy: Some(file), view, label: None }, &|_| {}) {
        Ok(rehearsal) => {
            let summary = Summary::new(file, material, &rehearsal);
            let ways = project.ways(file, material, &rehearsal, MOST_COMPARED)?;
            let answer = WhatIf {
                parameter,
                refused: None,
                groups: summary.groups,
                counterfeits: summary.counterfeits,
                withheld: summary.withheld,
                loss: measure::nine_decimals(rehearsal.loss.leaf_share),
                ways: ways.choices,
                best: ways.best,
                forecast: foreseen(project.policy(), file, material, &rehearsal),
            };
            Ok((answer, rehearsal.warnings.into_iter().chain(ways.sampled).collect()))
        }
        Err(ProjectError::Publish(error)) => refused(parameter, error.to_string()),
        Err(error) => Err(error),
    }
}
