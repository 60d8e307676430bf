//! The promises on the Adult census extract, k = 10, as the issue that asked for them wants to see them.
//!
//! Uses `../shared/data` beside the repository, or the folder named by `TACENDA_DATA`; says so and skips
//! where it is absent. Prints its tables (`-- adult --nocapture`); docs/measurements.md has them from a
//! release build. Asserts what is claimed, never a time.

use crate::inference_table::InferenceTable;
use crate::k_anonymity_measured::{
    Numbers, OURS, PLAIN, adult, adult_schema, data, group, measures, published, table, timed,
};
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::folder;
use tacenda::ingest::Given;
use tacenda::measure::Loss;
use tacenda::model::{History, Release};
use tacenda::publish::{Access, Input, NextRelease, Project};

const POLICY: &str = r#"policy = 1

[series]
name    = "adult"
title   = "Adult"
contact = "nobody@example.org"

[columns]
id             = { role = "identifier" }
age            = { role = "quasi", type = "integer", domain = [17, 91], missing = "error" }
workclass      = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/workclass.csv", missing = "error" }
fnlwgt         = { role = "drop" }
education      = { role = "drop" }
education-num  = { role = "quasi", type = "integer", domain = [1, 17], missing = "error" }
marital-status = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/marital-status.csv", missing = "error" }
occupation     = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/occupation.csv", missing = "error" }
relationship   = { role = "drop" }
race           = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/race.csv", missing = "error" }
sex            = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/sex.csv", missing = "error" }
capital-gain   = { role = "drop" }
capital-loss   = { role = "drop" }
hours-per-week = { role = "drop" }
native-country = { role = "quasi", type = "category", hierarchy = "adult_hierarchies/native-country.csv", missing = "error" }
salary-class   = { role = "sensitive", type = "category" }

[promise]
model = "incremental-k-anonymity"
k     = 10
CHOICE

[withheld]
max_share = 1.0

[output]
formats    = ["csv"]
linked_ids = true
"#;

/// The data folder, or word that there is none.
fn data_folder() -> Option<PathBuf> {
    let found = Some(data()).filter(|folder| folder.join("adult.csv").exists());
    if found.is_none() {
        println!("SKIPPED: no real data; put it into ../shared/data or name its folder in TACENDA_DATA");
    }
    found
}

/// A project with Adult's hierarchies.
fn project(data: &Path, choice: &str) -> tempfile::TempDir {
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("tacenda.toml"), POLICY.replace("CHOICE", choice)).unwrap();
    let hierarchies = project.path().join("adult_hierarchies");
    fs::create_dir(&hierarchies).unwrap();
    for entry in fs::read_dir(data.join("adult_hierarchies")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), hierarchies.join(entry.file_name())).unwrap();
    }
    project
}

/// Publishes the first `rows` rows of Adult, and reads the release back as a recipient would.
fn publish(data: &Path, project: &Path, rows: usize) -> (Release, Loss) {
    let text = fs::read_to_string(data.join("adult.csv")).unwrap();
    let lines: Vec<&str> = text.lines().take(rows + 1).collect();
    let path = project.join("table.csv");
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    let mut open = Project::open(project, None, Access::Publish).unwrap();
    let input = Input { table: Given::Path(path), delta: false, show_values: false, memory: None, threads: 0 };
    let material = open.material(input, &|_| {}).unwrap();
    let rehearsal = open.rehearse(&material, NextRelease::default(), &|_| {}).unwrap();
    let outcome = open.publish(&material, &rehearsal, &|_| {}).unwrap();
    (folder::read(&outcome.folder).unwrap().release, rehearsal.loss)
}

/// The smallest class of the inference table of some releases, joined by their linked ids.
fn smallest_class(releases: &[&Release]) -> u32 {
    let mut inference = InferenceTable::default();
    for release in releases {
        let rows = (0..release.group_count()).flat_map(|group| release.group_rows(group).map(move |row| (group, row)));
        inference.observe(rows.map(|(group, row)| (release.linked[row], release.region(group))));
    }
    inference.class_sizes().into_values().min().unwrap()
}

/// 12,000 people, then 6,000 more. What a recipient infers from any set of releases is 10-anonymous, and
/// going on costs little next to cutting all 18,000 from scratch the same way.
#[test]
fn every_inference_table_of_adult_is_k_anonymous() {
    let Some(data) = data_folder() else { return };
    println!("choice   release           people  groups  discernability  leaf share %  smallest inferred class");
    for (name, choice, most) in [("cells", "cohorts = false", 1.05), ("cohorts", "", 1.05)] {
        let series = project(&data, choice);
        let (first, first_loss) = publish(&data, series.path(), 12_000);
        let (second, second_loss) = publish(&data, series.path(), 18_000);
        let (scratch, scratch_loss) = publish(&data, project(&data, choice).path(), 18_000);
        let seen: [(&str, &Loss, u32); 3] = [
            ("first", &first_loss, smallest_class(&[&first])),
            ("second, and both", &second_loss, smallest_class(&[&second]).min(smallest_class(&[&first, &second]))),
            ("from scratch", &scratch_loss, smallest_class(&[&scratch])),
        ];
        for (release, loss, smallest) in seen {
            println!(
                "{name:8} {release:16} {:7} {:7} {:15} {:13.3} {smallest:8}",
                loss.people,
                loss.groups,
                loss.discernability,
                100.0 * loss.leaf_share
            );
            assert!(smallest >= 10, "{name}, {release}: a class of {smallest}");
        }
        assert_eq!(second_loss.people, 18_000, "nobody waits");
        let ratio = second_loss.discernability as f64 / scratch_loss.discernability as f64;
        assert!(ratio <= most, "{name}: {ratio} times the discernability of cutting from scratch");
    }
}

/// Keeping a clustering loses little more than making it anew, for inserts (I3M+) and deletes (I3M-) of 1 %,
/// 5 % and 20 %. `group` asserts that every group has 10 people.
#[test]
fn a_maintained_clustering_of_adult_loses_little() {
    if data_folder().is_none() {
        return;
    }
    let schema = adult_schema(Numbers::Declared);
    let all = adult(&schema, 1, 45222);
    println!("policy    change        seconds kept / anew   information loss kept / anew   leaf share % kept / anew");
    for (policy, label, most) in [(OURS, "optimise", 1.25), (PLAIN, "plain", 1.1)] {
        let base = 12_000;
        let first = table(&all[..base]);
        let grouping = group(&policy, &schema, &History::default(), &first);
        let history = published(&schema, &History::default(), &first, &grouping);
        for percent in [1, 5, 20] {
            let change = base * percent / 100;
            for (name, now) in [("insert", table(&all[..base + change])), ("delete", table(&all[change..base]))] {
                let (kept, kept_cpu, _) = timed(|| group(&policy, &schema, &history, &now));
                let (anew, anew_cpu, _) = timed(|| group(&policy, &schema, &History::default(), &now));
                let (kept, anew) = (measures(&schema, &now, &kept), measures(&schema, &now, &anew));
                println!(
                    "{label:9} {name} {percent:2} %  {kept_cpu:10.2} / {anew_cpu:.2} {:19.1} / {:.1} {:21.3} / {:.3}",
                    kept.information_loss, anew.information_loss, kept.ncp, anew.ncp
                );
                let ratio = kept.ncp / anew.ncp;
                assert!(ratio <= most, "{label}, {name} {percent} %: {ratio} times the loss of clustering anew");
            }
        }
    }
}
