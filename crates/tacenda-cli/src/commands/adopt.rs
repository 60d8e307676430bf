//! Take releases that were made elsewhere into the ledger, so that the next one is judged with them.

use crate::args::{AdoptArgs, Common};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use tacenda::ingest::ReadOptions;
use tacenda::ingest::foreign::Notation;
use tacenda::model::{Schema, counted};
use tacenda::publish::{Access, Adoption, Foundling, Reading};

/// What adopting answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AdoptReport {
    /// The releases that were taken in.
    pub releases: Vec<AdoptedRelease>,
    /// What was concluded about the files, one sentence each.
    pub notes: Vec<String>,
}

/// A release that was taken in.
#[derive(Debug, JsonSchema, Serialize)]
pub struct AdoptedRelease {
    /// Its number in the series.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// The SHA-256 of that file.
    pub sha256: String,
    /// The folder the file is kept in; none while nobody has agreed.
    pub folder: Option<PathBuf>,
    /// Its rows, counterfeits included.
    pub rows: u64,
    /// Its groups.
    pub groups: u64,
    /// Its counterfeits.
    pub counterfeits: u64,
    /// How many people were found in it; none where the table behind it was not given.
    pub people: Option<u64>,
    /// How many people of that table are not in it.
    pub withheld: u64,
    /// How many people could stand in more than one of its groups.
    pub ambiguous: u64,
    /// How many people can no longer be hidden, and are withheld from every later release.
    pub exposed: u64,
    /// How it breaks the promise, one sentence each.
    pub findings: Vec<String>,
}

pub fn run(args: &AdoptArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let foundlings = foundlings(args)?;
    screen.claim_output()?;
    let mut project = shared::open(common, Access::Publish, screen)?;
    if project.policy().views().is_some() {
        let message = "under a promise about views a release made elsewhere is a view: give it a [views.NAME] with its columns, \
                       its recipients and adopted = \"FILE\" in the policy file; the next publish --view joins it";
        return Err(Failure::usage(message));
    }
    let failed = |error| shared::failure_of(error, "a file was not accepted; nothing was adopted", screen);
    let bar = screen.steps(2);
    bar.set_message("reading and judging");
    let options = ReadOptions { threads: common.threads.unwrap_or(0), show_values: false };
    let reading = reading(args, &project.policy().schema)?;
    let adoptions = project.consider(&foundlings, &reading, &options).map_err(failed)?;
    bar.finish_and_clear();
    let mut report = report(&foundlings, &adoptions);
    if !common.yes {
        screen.note(&text(&report));
    }
    if !screen.agrees("Take them in? The ledger forgets nothing. [y/N]")? {
        let message = "nothing was adopted: nobody agreed; say --yes where nobody can be asked";
        return Err(Failure::new("U601", 6, message));
    }
    let outcomes = project.adopt(&adoptions).map_err(failed)?;
    for (release, outcome) in report.releases.iter_mut().zip(outcomes) {
        release.folder = Some(outcome.folder);
    }
    if let Err(failure) = screen.result(&text(&report), &report) {
        // They are in the ledger: whatever happened to the report, this was not a failure to adopt.
        screen.note(&format!("adopted, but the report could not be written: {}", failure.message));
    }
    Ok(0)
}

fn foundlings(args: &AdoptArgs) -> Result<Vec<Foundling>, Failure> {
    let files = args.files.len();
    if !args.truth.is_empty() && args.truth.len() != files {
        let tables = args.truth.len();
        return Err(Failure::usage(format!("--truth names {tables} tables for {files} releases; name one a release")));
    }
    if !args.label.is_empty() && args.label.len() != files {
        let labels = args.label.len();
        return Err(Failure::usage(format!("there are {labels} labels for {files} releases; give one a release")));
    }
    let foundling = |at: usize| Foundling {
        file: args.files[at].clone(),
        truth: args.truth.get(at).cloned(),
        label: args.label.get(at).cloned(),
    };
    Ok((0..files).map(foundling).collect())
}

/// What is said about the files beyond the policy file.
fn reading(args: &AdoptArgs, schema: &Schema) -> Result<Reading, Failure> {
    let is_quasi = |name: &str| schema.quasi.iter().any(|quasi| quasi.name == name);
    let split = |option: &str, words: &str| -> Result<(String, String), Failure> {
        let (name, rest) =
            words.split_once('=').ok_or_else(|| Failure::usage(format!("{option} {words}: say COLUMN=…")))?;
        match is_quasi(name) {
            true => Ok((name.into(), rest.into())),
            false => Err(Failure::usage(format!("{option} {words}: {name} is no quasi column of the policy file"))),
        }
    };
    let mut reading = Reading { group: args.group.clone(), ..Reading::default() };
    for words in &args.notation {
        let (name, notation) = split("--notation", words)?;
        if Notation::named(&notation).is_none() {
            let known = "auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact";
            return Err(Failure::usage(format!("--notation {words}: there is {known}")));
        }
        reading.notation.insert(name, notation);
    }
    for words in &args.hierarchy {
        let (name, file) = split("--hierarchy", words)?;
        reading.hierarchy.insert(name, file.into());
    }
    for words in &args.any {
        match words.split_once('=').filter(|(name, _)| is_quasi(name)) {
            Some((name, text)) => reading.any.entry(name.into()).or_default().push(text.into()),
            None => schema.quasi.iter().for_each(|quasi| {
                reading.any.entry(quasi.name.clone()).or_default().push(words.clone());
            }),
        }
    }
    Ok(reading)
}

fn report(foundlings: &[Foundling], adoptions: &[Adoption]) -> AdoptReport {
    let release = |(foundling, adoption): (&Foundling, &Adoption)| AdoptedRelease {
        release: adoption.release.number,
        label: adoption.release.label.clone(),
        file: foundling.file.clone(),
        sha256: adoption.digest.clone(),
        folder: None,
        rows: adoption.release.row_count() as u64,
        groups: adoption.release.group_count() as u64,
        counterfeits: adoption.release.counterfeit_count(),
        people: adoption.people,
        withheld: adoption.withheld,
        ambiguous: adoption.ambiguous,
        exposed: adoption.exposed,
        findings: adoption.findings.iter().map(ToString::to_string).collect(),
    };
    AdoptReport {
        releases: foundlings.iter().zip(adoptions).map(release).collect(),
        notes: adoptions.first().map_or_else(Vec::new, |adoption| adoption.notes.clone()),
    }
}

fn text(report: &AdoptReport) -> String {
    let mut out = String::new();
    for release in &report.releases {
        let state = if release.folder.is_some() { "adopted" } else { "to be adopted" };
        let _ =
            writeln!(out, "Release {}, label {}: {} {state}", release.release, release.label, release.file.display());
        let rows = counted(release.rows, "row", "rows");
        let _ = writeln!(out, "  {rows} in {}", counted(release.groups, "group", "groups"));
        match release.people {
            Some(people) => {
                let _ = writeln!(
                    out,
                    "  {} found in it, {} not in it, {} could stand in more than one group",
                    counted(people, "person", "people"),
                    number(release.withheld),
                    number(release.ambiguous)
                );
            }
            None => {
                let line = "the table behind it is not known: nothing is promised across it and what follows";
                let _ = writeln!(out, "  {line}");
            }
        }
        for finding in &release.findings {
            let _ = writeln!(out, "  {finding}");
        }
        if release.exposed > 0 {
            let exposed = counted(
                release.exposed,
                "person can no longer be hidden and is",
                "people can no longer be hidden and are",
            );
            let _ = writeln!(out, "  {exposed} withheld from now on");
        }
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    out
}
