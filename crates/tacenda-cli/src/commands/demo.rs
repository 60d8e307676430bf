//! Break a naive series of made-up data, then publish the same data safely: the hospital here, the others in `small`.

use crate::args::{Common, DemoArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number, telling};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use tacenda::made_up::hospital;
use tacenda::model::Value;
use tacenda::report::percent;
use tacenda::use_cases;
use tacenda::use_cases::{Attack, DemoEntry, DemoReport, DemoRequest, DemoStory, NAIVE};

mod small;

/// Where a project is left, if no folder is named.
const FOLDER: &str = "tacenda-demo";

pub fn run(args: &DemoArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    if args.list {
        return list(screen);
    }
    let (demo, folder) = wish(args, screen)?;
    if demo != hospital::DEMO {
        return small::run(demo, folder, screen);
    }
    let request = DemoRequest {
        folder,
        patients: args.patients,
        seed: args.seed,
        memory: common.memory,
        threads: common.threads.unwrap_or(0),
    };
    let bar = screen.bar();
    let report = use_cases::demo(&request, &telling(&bar)).map_err(|error| shared::failure(error, screen))?;
    bar.finish_and_clear();
    screen.result(&text(&report), &report)?;
    Ok(0)
}

/// What `demo --list` answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DemoList {
    /// The demos.
    pub demos: Vec<DemoEntry>,
}

fn list(screen: &Screen) -> Result<u8, Failure> {
    let demos = use_cases::demos();
    let mut out = String::from("Demos with made-up people. Each breaks a naive publisher, then publishes safely.\n\n");
    for demo in &demos {
        let _ = writeln!(out, "tacenda demo {:<24} {}", demo.name, demo.about);
        let _ = writeln!(out, "    {}", demo.citation);
    }
    screen.result(&out, &DemoList { demos })?;
    Ok(0)
}

/// The demo that is asked for, and its folder. One word that is no demo is a folder.
fn wish(args: &DemoArgs, screen: &Screen) -> Result<(String, PathBuf), Failure> {
    let Some(first) = &args.name else { return Ok((hospital::DEMO.into(), FOLDER.into())) };
    let found = use_cases::demo_named(&first.to_string_lossy()).map_err(|error| shared::failure(error, screen))?;
    match (found, &args.folder) {
        (Some(demo), Some(folder)) => Ok((demo.name, folder.clone())),
        (Some(demo), None) if demo.name == hospital::DEMO => Ok((demo.name, FOLDER.into())),
        (Some(demo), None) => {
            let folder = format!("{FOLDER}-{}", demo.name);
            Ok((demo.name, folder.into()))
        }
        (None, None) => Ok((hospital::DEMO.into(), first.clone())),
        (None, Some(_)) => {
            Err(Failure::usage(format!("there is no demo {}; tacenda demo --list has all", first.display())))
        }
    }
}

/// The story of one attacked person, release by release.
fn tell(DemoStory { story, schema, values }: &DemoStory) -> String {
    let mut out = String::new();
    let names: Vec<&str> = schema.quasi.iter().map(|quasi| quasi.name.as_str()).collect();
    let list = |set: &[Value]| {
        let texts: Vec<String> = set.iter().map(|&value| values.cells(value).join(" / ")).collect();
        texts.join(", ")
    };
    for (index, step) in story.steps.iter().enumerate() {
        if index == 0 {
            let known: Vec<String> =
                names.iter().zip(&step.known).map(|(name, text)| format!("{name} {}", exact(text))).collect();
            let _ = writeln!(out, "  A neighbour knows about one patient: {}.", known.join(", "));
        }
        let groups = if step.groups.len() == 1 { "one group" } else { "these groups" };
        let _ = writeln!(out, "  {}: the patient can only be in {groups}:", step.label);
        for group in step.groups.iter().take(3) {
            let region: Vec<String> =
                names.iter().zip(&group.region).map(|(name, text)| format!("{name} {}", in_words(text))).collect();
            let mut set = group.values.clone();
            set.dedup();
            let _ = writeln!(out, "      {}: {}", region.join(", "), list(&set));
        }
        let _ = writeln!(out, "      left: {}", list(&step.left));
    }
    out
}

/// The ends of a half-open range.
fn ends(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix('[')?.strip_suffix(')')?.split_once(',')
}

/// The one value of a range that has one: `[20,21)` is 20.
fn exact(text: &str) -> &str {
    ends(text).map_or(text, |(lo, _)| lo)
}

/// A range as people say it: `[20,35)` is 20 to 34; of dates the end is not included.
fn in_words(text: &str) -> String {
    let Some((lo, hi)) = ends(text) else { return text.to_string() };
    match hi.parse::<i64>() {
        Ok(end) if lo == (end - 1).to_string() => lo.to_string(),
        Ok(end) => format!("{lo} to {}", end - 1),
        Err(_) => format!("{lo} to before {hi}"),
    }
}

fn text(report: &DemoReport) -> String {
    let story = report.story.as_ref().map(tell).unwrap_or_default();
    let mut out = String::new();
    let last = |attacks: &[Attack]| attacks.last().map_or((0, 0), |attack| (attack.certain, attack.people));
    let (certain, people) = last(&report.naive);
    let _ = writeln!(
        out,
        "A made-up hospital publishes its patients every quarter: {} people over {} releases.\n",
        number(report.people),
        report.releases.len()
    );
    let _ = writeln!(
        out,
        "1. Naively: each release on its own is {}-anonymous and {}-diverse (a plain Mondrian).\n",
        NAIVE.k, NAIVE.l
    );
    table(&mut out, &report.naive);
    let _ = writeln!(
        out,
        "\n  The diagnosis of {} of {} people is now certain to anyone who compares the releases.\n",
        number(certain),
        number(people)
    );
    let _ = writeln!(out, "{story}");
    let _ = writeln!(out, "2. With Tacenda: the same snapshots under m-invariance, m = 4.\n");
    table(&mut out, &report.published);
    let (certain, people) = last(&report.published);
    let _ = writeln!(
        out,
        "\n  The same attack: the diagnosis of {} of {} people is certain, and {} have fewer than four possible diagnoses.\n",
        number(certain),
        number(people),
        number(report.published.last().map_or(0, |attack| attack.below_four))
    );
    let _ = writeln!(out, "3. What it costs.\n");
    let _ = writeln!(
        out,
        "  {:<9} {:>8} {:>13} {:>9} {:>13}   loss per attribute",
        "release", "people", "counterfeits", "withheld", "query error"
    );
    for release in &report.releases {
        let _ = writeln!(
            out,
            "  {:<9} {:>8} {:>13} {:>9} {:>13}   {}",
            release.label,
            number(release.published),
            number(release.counterfeits),
            number(release.withheld),
            release.query_error.map_or(String::new(), percent),
            shared::loss_line(&release.loss)
        );
    }
    let project = report.project.display();
    let _ = writeln!(
        out,
        "\nThe project is in {project}: the policy file, the tables, and the releases as recipients get them. \
         Continue with"
    );
    let _ = writeln!(out, "  tacenda -C {project} log");
    let _ = writeln!(out, "  tacenda -C {project} show 4");
    let _ = writeln!(out, "  tacenda -C {project} count 4 --where 'age >= 65'");
    let _ = writeln!(out, "  tacenda -C {project} verify");
    out
}

fn table(out: &mut String, attacks: &[Attack]) {
    let _ = writeln!(
        out,
        "  {:<16} {:>8} {:>20} {:>22}",
        "after release", "people", "diagnosis certain", "fewer than 4 possible"
    );
    for attack in attacks {
        let _ = writeln!(
            out,
            "  {:<16} {:>8} {:>20} {:>22}",
            hospital::label(attack.release),
            number(attack.people),
            number(attack.certain),
            number(attack.below_four)
        );
    }
}
