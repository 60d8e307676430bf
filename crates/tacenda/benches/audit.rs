//! Auditing next to reading what is audited: twenty releases of one size, with truth.
//!
//! A series kept by m-invariance and a series of naive l-diverse releases are written as CSV, with the
//! private tables. Each audit is a process of its own that reads all files and asks every check, so that
//! CPU seconds and peak memory are its own. `cargo bench --bench audit` prints JSON lines and a table;
//! without `--bench` a tiny size shows that it works. `TACENDA_LONG=1` adds ten releases of ten million rows as a
//! stranger has them, without the tables; `TACENDA_BENCH` names one case. Nothing here fails on a time.

mod usage;

use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::time::Instant;
use std::{env, fs};
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Attacker, Check, Series, Thresholds, Traces};
use tacenda::folder::{Issue, ManifestFacts};
use tacenda::ingest::{ReadOptions, Source};
use tacenda::made_up::naive::{Diversity, Naive};
use tacenda::made_up::{Churn, census};
use tacenda::model::{History, Release, Seed, Table, Values};
use tacenda::promise::{
    Format, MInvariance, OnIneligible, Output, Parameters, PolicyFile, Reasons, SeriesSettings, ShareLimits,
};
use tacenda::publish::{Before, prepare};
use tacenda::{audit, folder, ingest};
use usage::{cpu_seconds, peak_bytes};

const M: u32 = 10;

/// The naive series, audited by someone who has nothing but the releases.
const WITHOUT_TRUTH: &str = "without-truth";

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [task, root, ..] = words.as_slice()
        && let Some(task) = task.strip_prefix("child:")
    {
        return println!("{}", audit_folder(task, Path::new(root)));
    }
    let is_tiny = !words.iter().any(|word| word == "--bench");
    let mut cases = match is_tiny {
        true => vec![("m-invariance", 1_000, 3), ("naive", 1_000, 3), (WITHOUT_TRUTH, 1_000, 3)],
        false => vec![("m-invariance", 200_000, 20), ("naive", 200_000, 20)],
    };
    let only = env::var("TACENDA_BENCH").ok();
    if !is_tiny && (env::var_os("TACENDA_LONG").is_some() || only.as_deref() == Some(WITHOUT_TRUTH)) {
        cases.push((WITHOUT_TRUTH, 10_000_000, 10));
    }
    cases.retain(|case| only.as_ref().is_none_or(|only| only == case.0));
    let rows: Vec<Json> = cases.into_iter().map(|(name, people, releases)| measure(name, people, releases)).collect();
    for row in &rows {
        println!("{row}");
    }
    print_table(&rows);
}

/// Makes a series, and has it audited by a process of its own.
fn measure(name: &str, people: u32, releases: u32) -> Json {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make(name, people, releases, folder.path());
    let output = Command::new(env::current_exe().expect("this program"))
        .arg(format!("child:{name}"))
        .arg(folder.path())
        .output()
        .expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    let mut row: Json =
        serde_json::from_str(line).unwrap_or_else(|_| panic!("{name}: {}", String::from_utf8_lossy(&output.stderr)));
    row["series"] = json!(name);
    row["people"] = json!(people);
    row["releases"] = json!(releases);
    row
}

/// Writes the private tables and the releases.
fn make(name: &str, people: u32, releases: u32, root: &Path) {
    let made = census::snapshots(people, releases, Churn::of(0.05), 1);
    for file in made.project() {
        let path = root.join(&file.path);
        fs::create_dir_all(path.parent().expect("files have folders")).expect("a folder");
        fs::write(path, file.text).expect("a file");
    }
    let promise = MInvariance { on_ineligible: OnIneligible::Counterfeit, ..MInvariance::new(M) };
    let file = PolicyFile {
        series: SeriesSettings {
            name: name.into(),
            title: name.into(),
            contact: "nobody".into(),
            ..SeriesSettings::default()
        },
        schema: made.schema().clone(),
        promise: promise.into(),
        reasons: Reasons::default(),
        limits: ShareLimits { counterfeits: 1.0, withheld: 1.0 },
        output: Output { formats: vec![Format::Csv], ..Output::default() },
    };
    let naive = Naive { k: M, l: M, diversity: Diversity::Frequency };
    let mut history = History::default();
    for (table, number) in made.tables().zip(1..) {
        let release = if name != "m-invariance" {
            naive.publish(made.schema(), &table, number, "bench").expect("a diverse table").0
        } else {
            let before = Before { history: &history, snapshot: None };
            let prepared = prepare(&file, &promise, &Seed([1; 32]), before, &table, "bench").expect("a release");
            history = prepared.history;
            prepared.release
        };
        let out = root.join(format!("release-{number:02}"));
        fs::create_dir_all(&out).expect("a folder");
        let create = &mut |name: &str| Ok(Box::new(File::create(out.join(name))?) as Box<_>);
        folder::write(&Issue::new(&release, &file), &ManifestFacts::default(), create).expect("a release");
        if name == WITHOUT_TRUTH {
            continue;
        }
        let path = root.join(format!("table-{number:02}.csv"));
        made.write_csv(&table, BufWriter::new(File::create(path).expect("a file"))).expect("a table");
    }
}

/// Reads everything and asks everything.
fn audit_folder(name: &str, root: &Path) -> Json {
    let start = (Instant::now(), cpu_seconds());
    let (schema, tables, releases) = read(root);
    let read_seconds = (start.0.elapsed().as_secs_f64(), cpu_seconds() - start.1);
    let after_reading = peak_bytes();
    let knowledge = Knowledge::from_tables(&tables);
    let traces = vec![Traces { counterfeits_known: true, ..Traces::default() }; releases.len()];
    let promise = MInvariance::new(M).terms();
    let series = Series {
        schema: &schema,
        releases: &releases,
        traces: &traces,
        promise: (name == "m-invariance").then_some(&promise),
        knowledge: (!tables.is_empty()).then_some(&knowledge),
        permanent: &[],
        population: None,
        households: None,
        rerun: None,
    };
    let steps: Mutex<Vec<(&str, f64, Instant)>> = Mutex::new(Vec::new());
    let step = |name| steps.lock().expect("nobody panics").push((name, cpu_seconds(), Instant::now()));
    let asked = (Instant::now(), cpu_seconds());
    let attacker = Attacker::default();
    let limits = audit::Budget::default();
    let lines = Thresholds { k: 1, l: M, t: None };
    let found = audit::examine(&series, attacker, &lines, &limits, &|check: Check| step(check.name()));
    step("end");
    let audit_seconds = (asked.0.elapsed().as_secs_f64(), cpu_seconds() - asked.1);
    let steps = steps.into_inner().expect("nobody panics");
    let checks: Vec<Json> = steps
        .windows(2)
        .zip(&found.outcomes)
        .map(|(pair, outcome)| {
            json!({
                "check": pair[0].0, "cpu_seconds": pair[1].1 - pair[0].1,
                "wall_seconds": (pair[1].2 - pair[0].2).as_secs_f64(),
                "verdict": outcome.verdict.word(),
                "looked_at": outcome.coverage.looked_at, "of": outcome.coverage.of,
                "people": outcome.findings.iter().map(|finding| finding.people).max(),
            })
        })
        .collect();
    json!({
        "read_cpu_seconds": read_seconds.1, "read_wall_seconds": read_seconds.0,
        "audit_cpu_seconds": audit_seconds.1, "audit_wall_seconds": audit_seconds.0,
        "bytes_after_reading": after_reading, "peak_bytes": peak_bytes(), "checks": checks,
    })
}

fn read(root: &Path) -> (tacenda::model::Schema, Vec<Table>, Vec<Release>) {
    let file = ingest::read_policy(&root.join("tacenda.toml")).expect("a policy").policy;
    let mut values = Values::default();
    let (mut tables, mut releases) = (Vec::new(), Vec::new());
    for number in 1.. {
        let folder = root.join(format!("release-{number:02}"));
        if !folder.exists() {
            break;
        }
        let path = root.join(format!("table-{number:02}.csv"));
        if path.exists() {
            let source = Source::open(&path).expect("a table");
            let table = ingest::read_snapshot(&source, &file.schema, &[1; 32], &values, &ReadOptions::default());
            let table = table.expect("a good table").table;
            values = table.values.clone();
            tables.push(table);
        }
        releases.push(folder::read_with(&folder, &mut values).expect("a release").release);
    }
    (file.schema, tables, releases)
}

fn print_table(rows: &[Json]) {
    for row in rows {
        let number = |name: &str| row[name].as_f64().unwrap_or(0.0);
        println!(
            "\n{}: {} people, {} releases; reading {:.2} s CPU, auditing {:.2} s CPU, ratio {:.2}, peak {:.0} MB ({:.0} MB read)",
            row["series"].as_str().unwrap_or_default(),
            row["people"],
            row["releases"],
            number("read_cpu_seconds"),
            number("audit_cpu_seconds"),
            number("audit_cpu_seconds") / number("read_cpu_seconds").max(0.01),
            number("peak_bytes") / 1e6,
            number("bytes_after_reading") / 1e6,
        );
        for check in row["checks"].as_array().into_iter().flatten() {
            println!(
                "  {:<16} {:>8.2} s CPU {:>8.2} s wall  {:<14} {}/{} people {}",
                check["check"].as_str().unwrap_or_default(),
                check["cpu_seconds"].as_f64().unwrap_or(0.0),
                check["wall_seconds"].as_f64().unwrap_or(0.0),
                check["verdict"].as_str().unwrap_or_default(),
                check["looked_at"],
                check["of"],
                check["people"],
            );
        }
    }
}
