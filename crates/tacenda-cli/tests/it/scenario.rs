//! Does the whole flow give these files? Every folder of `scenarios/` is run through the command and
//! through the library, and both must give the expected releases, or the expected refusal.
//!
//! A scenario is a project folder (`tacenda.toml`, hierarchies) with tables `1.csv`, `2.csv`, … that are
//! published in order (`2.delta.csv` holds changes; `2.view` names the view where there are views), and `expect/` with, per table, either `1.csv`, the
//! release as published, or `1.refused`, a line `exit code, error code`; where the auditor refused, a line `code, people`
//! for everything it found. `UPDATE_EXPECT=1` rewrites it.

use crate::kit::TestProject;
use crate::languages::assert_said_in_every_language;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};
use tacenda::ingest::Given;
use tacenda::publish::{Access, Input, NextRelease, ProjectError, PublishError};

/// The tables of a scenario in order: file, and whether it holds changes.
fn tables(folder: &Path) -> Vec<(u32, PathBuf, bool)> {
    let table = |number: u32| {
        let whole = folder.join(format!("{number}.csv"));
        let delta = folder.join(format!("{number}.delta.csv"));
        if whole.exists() { Some((number, whole, false)) } else { delta.exists().then_some((number, delta, true)) }
    };
    (1..).map_while(table).collect()
}

/// A fresh copy of a scenario with a fixed seed.
fn copy(folder: &Path) -> TestProject {
    let project = TestProject::empty();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(current) = folders.pop() {
        for entry in fs::read_dir(&current).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let inside = path.strip_prefix(folder).unwrap().to_str().unwrap().to_string();
                project.write(&inside, &fs::read_to_string(&path).unwrap());
            }
        }
    }
    project.fix_seed();
    project
}

/// The view that a table is published as.
fn view(project: &TestProject, number: u32) -> Option<String> {
    fs::read_to_string(project.file(&format!("{number}.view"))).ok().map(|name| name.trim().to_string())
}

/// What came out of one table: the release's CSV, or `exit code, error code` and what the auditor found.
type Result = std::result::Result<String, String>;

fn through_command(project: &TestProject, number: u32, table: &Path, delta: bool, releases: u32) -> Result {
    let label = format!("t{number}");
    let name = table.file_name().unwrap().to_str().unwrap();
    let mut words = vec!["publish", name, "--yes", "--label", &label];
    if delta {
        words.push("--delta");
    }
    let view = view(project, number);
    if let Some(view) = &view {
        words.extend(["--view", view]);
    }
    words.extend(["--format", "json"]);
    let ended = project.run(&words);
    if ended.code != 0 {
        // The last line: warnings may stand above it.
        let line = ended.stderr.lines().last().unwrap_or_default();
        let error: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{}", ended.stderr));
        let error = &error["error"];
        let code = error["code"].as_str().unwrap();
        let problems = error["problems"].as_array().unwrap().iter().filter(|_| code == REFUSED);
        let found = problems.map(|problem| (problem["code"].as_str().unwrap(), problem["count"].as_u64().unwrap()));
        return Err(refusal(ended.code, code, found));
    }
    Ok(published(project, releases + 1))
}

fn through_library(project: &TestProject, number: u32, table: &Path, delta: bool, releases: u32) -> Result {
    let name = table.file_name().unwrap().to_str().unwrap();
    let run = || -> std::result::Result<(), ProjectError> {
        let mut open = tacenda::publish::Project::open(project.path(), None, Access::Publish)?;
        let input =
            Input { table: Given::Path(project.file(name)), delta, show_values: false, memory: None, threads: 0 };
        let material = open.material(input, &|_| {})?;
        let label = format!("t{number}");
        let view = view(project, number);
        let next = NextRelease { view: view.as_deref(), label: Some(&label), policy: None };
        let rehearsal = open.rehearse(&material, next, &|_| {})?;
        open.publish(&material, &rehearsal, &|_| {})?;
        Ok(())
    };
    match run() {
        Ok(()) => Ok(published(project, releases + 1)),
        Err(error) => {
            let findings = match &error {
                ProjectError::Publish(PublishError::Refused(findings)) => &findings[..],
                _ => &[],
            };
            let found = findings.iter().map(|finding| (finding.fault.code(), finding.people));
            Err(refusal(i32::from(error.exit_code()), error.code(), found))
        }
    }
}

/// The code of a refusal by the auditor.
const REFUSED: &str = "R401";

fn refusal<'a>(exit: i32, code: &str, found: impl Iterator<Item = (&'a str, u64)>) -> String {
    let found: String = found.map(|(code, people)| format!("{code}, {people}\n")).collect();
    format!("{exit}, {code}\n{found}")
}

fn published(project: &TestProject, release: u32) -> String {
    let loaded = tacenda::ingest::read_policy(&project.file("tacenda.toml")).unwrap();
    let series = loaded.policy.series.name;
    project.read(&format!("releases/{series}/r{release:04}/{series}-r{release:04}.csv"))
}

#[test]
fn every_scenario_gives_the_expected_releases() {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut folders: Vec<PathBuf> = fs::read_dir(&scenarios).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    assert!(folders.len() >= 3, "the corpus is there");
    let mut wrong = Vec::new();
    for folder in folders {
        let (command, library) = (copy(&folder), copy(&folder));
        let mut releases = 0;
        for (number, table, delta) in tables(&folder) {
            let result = through_command(&command, number, &table, delta, releases);
            let again = through_library(&library, number, &table, delta, releases);
            assert_eq!(result, again, "the command and the library differ in {}", folder.display());
            releases += u32::from(result.is_ok());
            let (ending, text) = match &result {
                Ok(text) => ("csv", text),
                Err(text) => ("refused", text),
            };
            let expected = folder.join("expect").join(format!("{number}.{ending}"));
            if env::var_os("UPDATE_EXPECT").is_some() {
                fs::create_dir_all(expected.parent().unwrap()).unwrap();
                fs::write(&expected, text).unwrap();
            }
            if fs::read_to_string(&expected).ok().as_ref() != Some(text) {
                wrong.push(format!("{} table {number}:\n{text}", folder.display()));
            }
        }
        if releases > 0 {
            assert_said_in_every_language(&command);
        }
        assert!(releases > 0 || folder.to_str().unwrap().contains("refused"), "{} publishes nothing", folder.display());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
