//! Break a naive series of made-up data, then publish the same data safely.
//!
//! The naive series is made by a plain Mondrian that looks at one snapshot at a time. The safe one is
//! published for real, command by command, in the folder that is left behind.

use crate::args::{Common, DemoArgs};
use crate::commands::shared;
use crate::commands::shared::Summary;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::story::Story;
use tacenda::audit::{candidates, story};
use tacenda::made_up::hospital::Hospital;
use tacenda::made_up::naive::{Diversity, Naive};
use tacenda::made_up::{Generated, hospital};
use tacenda::model::{Membership, Release, Schema, Table, Value, Values};
use tacenda::publish::{Access, Input, NextRelease, Project};
use tacenda::report::percent;

/// How many quarters are published.
const QUARTERS: u32 = 4;

/// What every naive release keeps on its own.
const NAIVE: Naive = Naive { k: 4, l: 4, diversity: Diversity::Frequency };

/// What the demo answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DemoReport {
    /// The project folder that was left behind.
    pub project: PathBuf,
    /// People in any snapshot.
    pub people: u64,
    /// What the attack finds in the naive series, after each release.
    pub naive: Vec<Attack>,
    /// What the same attack finds in the published series.
    pub published: Vec<Attack>,
    /// The releases of the published series.
    pub releases: Vec<Summary>,
}

/// What the attack finds after so many releases.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Attack {
    /// After this release.
    pub release: u32,
    /// People published so far.
    pub people: u64,
    /// People with one possible diagnosis left, and it is right.
    pub certain: u64,
    /// People with fewer than four possible diagnoses left.
    pub below_four: u64,
}

pub fn run(args: &DemoArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    if fs::read_dir(&args.folder).is_ok_and(|mut entries| entries.next().is_some()) {
        let message = format!("{} is not empty; name another folder, or remove it", args.folder.display());
        return Err(Failure::new("U204", 2, message));
    }
    let result = make(args, common, screen);
    if result.is_err() {
        // A half project would only be in the way of the next try.
        let _ = fs::remove_dir_all(&args.folder);
    }
    result
}

fn make(args: &DemoArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let hospital = hospital::snapshots(args.patients, QUARTERS, args.seed);
    let tables: Vec<Table> = hospital.tables().collect();
    let bar = screen.steps(u64::from(QUARTERS) + 3);
    bar.set_message("making up a hospital");
    let data = write_project(&args.folder, &hospital, &tables)?;
    bar.inc(1);
    bar.set_message("publishing naively, and attacking");
    let naive = naive_series(hospital.schema(), &tables)?;
    let (naive_attacks, story) = attack(hospital.schema(), &naive, &tables);
    bar.inc(1);
    let mut releases = Vec::new();
    let mut published: Vec<(Table, Release, Membership)> = Vec::new();
    for (index, path) in data.iter().enumerate() {
        bar.set_message(format!("publishing {}", hospital::label(index as u32 + 1)));
        let (summary, made) = publish(&args.folder, path, index as u32 + 1, common, screen)?;
        releases.push(summary);
        published.push(made);
        bar.inc(1);
    }
    let schema = Project::open(&args.folder, None, Access::Look).map_err(|error| shared::failure(error, screen))?;
    let (safe_tables, safe): (Vec<Table>, Vec<(Release, Membership)>) =
        published.into_iter().map(|(table, release, membership)| (table, (release, membership))).unzip();
    let (safe_attacks, _) = attack(&schema.policy().schema, &safe, &safe_tables);
    bar.finish_and_clear();
    let report = DemoReport {
        project: args.folder.clone(),
        people: Knowledge::from_tables(&tables).len() as u64,
        naive: naive_attacks,
        published: safe_attacks,
        releases,
    };
    let told = story.map(|story| tell(&story, hospital.schema(), &tables[0].values)).unwrap_or_default();
    screen.result(&text(&report, &told), &report)?;
    Ok(0)
}

/// Leaves a project folder behind: policy file, hierarchies, and one table a quarter.
fn write_project(folder: &Path, hospital: &Generated<Hospital>, tables: &[Table]) -> Result<Vec<PathBuf>, Failure> {
    let failed = |path: &Path, error| Failure::environment(format!("{}: {error}", path.display()));
    let create = |path: &Path| -> Result<(), Failure> {
        let parent = path.parent().expect("a file in a folder has a parent");
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))
    };
    for file in hospital.project() {
        let path = folder.join(&file.path);
        create(&path)?;
        fs::write(&path, file.text).map_err(|error| failed(&path, error))?;
    }
    let mut data = Vec::new();
    for (index, table) in tables.iter().enumerate() {
        let path = folder.join("data").join(format!("{}.csv", hospital::label(index as u32 + 1)));
        create(&path)?;
        let file = File::create(&path).map_err(|error| failed(&path, error))?;
        hospital.write_csv(table, BufWriter::new(file)).map_err(|error| failed(&path, error))?;
        data.push(path);
    }
    Ok(data)
}

/// Each snapshot anonymised on its own.
fn naive_series(schema: &Schema, tables: &[Table]) -> Result<Vec<(Release, Membership)>, Failure> {
    let releases =
        tables.iter().zip(1..).map(|(table, release)| NAIVE.publish(schema, table, release, &hospital::label(release)));
    let releases: Option<Vec<_>> = releases.collect();
    releases.ok_or_else(|| Failure::new("B701", 70, "the made-up hospital is too small for the naive publisher"))
}

/// Publishes one quarter for real.
fn publish(
    folder: &Path,
    path: &Path,
    quarter: u32,
    common: &Common,
    screen: &Screen,
) -> Result<(Summary, (Table, Release, Membership)), Failure> {
    let failed = |error| shared::failure(error, screen);
    let mut project = Project::open(folder, None, Access::Publish).map_err(failed)?;
    let input = Input {
        path: path.to_path_buf(),
        delta: false,
        show_values: false,
        memory: common.memory,
        threads: common.threads.unwrap_or(0),
    };
    let material = project.material(&input, &|_| {}).map_err(failed)?;
    let label = hospital::label(quarter);
    let mut rehearsal = project
        .rehearse(&material, NextRelease { label: Some(&label), ..NextRelease::default() }, &|_| {})
        .map_err(failed)?;
    rehearsal.measure_queries(project.policy(), &material);
    project.publish(&material, &rehearsal, &|_| {}).map_err(failed)?;
    let summary = Summary::new(project.policy(), &material, &rehearsal);
    Ok((summary, (material.into_table(), rehearsal.prepared.release, rehearsal.prepared.membership)))
}

/// The attack after each release: someone who knows everyone's quasi values and when they were there.
fn attack(schema: &Schema, series: &[(Release, Membership)], tables: &[Table]) -> (Vec<Attack>, Option<Story>) {
    let releases: Vec<Release> = series.iter().map(|(release, _)| release.clone()).collect();
    let mut found = Vec::new();
    let mut story = None;
    for count in 1..=releases.len() {
        let published = tables[..count].iter().zip(series[..count].iter().map(|(_, membership)| membership));
        let knowledge = Knowledge::from_published(published);
        let candidates = candidates::attack(&releases[..count], &knowledge);
        found.push(Attack {
            release: count as u32,
            people: knowledge.len() as u64,
            certain: u64::from(candidates.judge(&knowledge).certain_right),
            below_four: candidates.below(4) as u64,
        });
        if count == releases.len() {
            let example = candidates.example(&knowledge);
            story = example.map(|person| story::tell(schema, &releases, &knowledge, person));
        }
    }
    (found, story)
}

/// The story of one attacked person, release by release.
fn tell(story: &Story, schema: &Schema, values: &Values) -> String {
    let mut out = String::new();
    let names: Vec<&str> = schema.quasi.iter().map(|quasi| quasi.name.as_str()).collect();
    let list = |set: &[Value]| {
        let texts: Vec<String> = set.iter().map(|&value| values.cells(value).join(" / ")).collect();
        texts.join(", ")
    };
    for (index, step) in story.steps.iter().enumerate() {
        if index == 0 {
            let known: Vec<String> =
                names.iter().zip(&step.known).map(|(name, text)| format!("{name} {text}")).collect();
            let _ = writeln!(out, "  A neighbour knows about one patient: {}.", known.join(", "));
        }
        let groups = if step.groups.len() == 1 { "one group" } else { "these groups" };
        let _ = writeln!(out, "  {}: the patient can only stand in {groups}:", step.label);
        for group in step.groups.iter().take(3) {
            let region: Vec<String> =
                names.iter().zip(&group.region).map(|(name, text)| format!("{name} {text}")).collect();
            let mut set = group.values.clone();
            set.dedup();
            let _ = writeln!(out, "      {}: {}", region.join(", "), list(&set));
        }
        let _ = writeln!(out, "      left: {}", list(&step.left));
    }
    out
}

fn text(report: &DemoReport, story: &str) -> String {
    let mut out = String::new();
    let last = |attacks: &[Attack]| attacks.last().map_or((0, 0), |attack| (attack.certain, attack.people));
    let (certain, people) = last(&report.naive);
    let _ = writeln!(
        out,
        "A made-up hospital publishes its patients every quarter: {} people over {QUARTERS} releases.\n",
        number(report.people)
    );
    let _ = writeln!(
        out,
        "1. Naively: each release on its own is {}-anonymous and {}-diverse (a plain Mondrian).\n",
        NAIVE.k, NAIVE.l
    );
    table(&mut out, &report.naive);
    let _ = writeln!(
        out,
        "\n  {} of {} people: their diagnosis is now certain to anyone who compares the releases.\n",
        number(certain),
        number(people)
    );
    let _ = writeln!(out, "{story}");
    let _ = writeln!(out, "2. With Tacenda: the same snapshots under m-invariance, m = 4.\n");
    table(&mut out, &report.published);
    let (certain, people) = last(&report.published);
    let _ = writeln!(
        out,
        "\n  {} of {} people. The same attack leaves {} people with fewer than four possible diagnoses.\n",
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
        "\nThe project is in {project}: the policy file, the tables, and the releases as recipients get them. Go on with"
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
