//! How long does a release take, next to reading its table and writing its files?
//!
//! The *limit* is what no algorithm can avoid: decode the input, encode a release of the same size.
//! Each number is taken in a process of its own, so that its peak memory is its own. `cargo bench`
//! prints JSON lines and a table; without `--bench` (as `cargo test` runs it) a tiny size shows that it
//! works. Tasks are repeated in turns, and the middle one is shown. `TACENDA_LONG=1` adds ten million rows, `TACENDA_TURNS=1`
//! takes one turn, and `TACENDA_KEEP=FOLDER` leaves tables and projects there, for a profiler. Nothing here fails on a time.

mod usage;

use serde_json::{Value as Json, json};
use std::collections::HashSet;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};
use tacenda::folder::{Issue, ManifestFacts};
use tacenda::ingest::{Given, ReadOptions, Source};
use tacenda::made_up::{Churn, Generated, ProjectFile, Shape, adult, census};
use tacenda::model::{Grouping, Seed, Span, Values};
use tacenda::publish::{Access, Input, NextRelease, Project, Stamp, recode};
use tacenda::{folder, ingest};
use usage::{Steps, cpu_seconds, peak_bytes, system_seconds};

/// A promise to measure.
struct Case {
    name: &'static str,
    /// What the policy file says of it.
    promise: &'static str,
    /// The shares of people who come (and, unless people only come, leave or change) before the second release.
    changes: &'static [f64],
    shape: Kind,
    /// Insert-only promises get newcomers and nobody leaves.
    grows: bool,
}

/// Which made-up people.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// Four quasi attributes, fifty sensitive values.
    Census,
    /// Eight quasi attributes.
    Adult,
}

/// What is published, and under which promise.
const CASES: &[Case] = &[
    Case {
        name: "m-invariance",
        promise: "model = \"m-invariance\"\nm = 10",
        changes: &[0.01],
        shape: Kind::Census,
        grows: false,
    },
    Case {
        name: "m-invariance, adult",
        promise: "model = \"m-invariance\"\nm = 10\non_ineligible = \"defer\"",
        changes: &[0.01, 0.1],
        shape: Kind::Adult,
        grows: false,
    },
    Case {
        name: "incremental-k-anonymity",
        promise: "model = \"incremental-k-anonymity\"\nk = 10",
        changes: &[0.01, 0.1],
        shape: Kind::Adult,
        grows: true,
    },
    Case {
        name: "k-anonymity",
        promise: "model = \"k-anonymity\"\nk = 10\naccept_series_risk = \"a benchmark\"",
        changes: &[0.01, 0.1],
        shape: Kind::Adult,
        grows: true,
    },
    Case {
        name: "k-anonymity, plain",
        promise: "model = \"k-anonymity\"\nk = 10\noptimise = false\naccept_series_risk = \"a benchmark\"",
        changes: &[0.01, 0.1],
        shape: Kind::Adult,
        grows: true,
    },
    Case {
        name: "incremental-l-diversity",
        promise: "model = \"incremental-l-diversity\"\nl = 10",
        changes: &[0.01, 0.1],
        shape: Kind::Adult,
        grows: true,
    },
];

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [child, rest @ ..] = words.as_slice()
        && let Some(task) = child.strip_prefix("child:")
    {
        return run_child(task, rest);
    }
    let sizes: &[u32] = match (words.iter().any(|word| word == "--bench"), env::var_os("TACENDA_LONG").is_some()) {
        (false, _) => &[2_000],
        (true, false) => &[100_000, 1_000_000],
        (true, true) => &[100_000, 1_000_000, 10_000_000],
    };
    // TACENDA_BENCH names one case, TACENDA_PEOPLE one size.
    let only = env::var("TACENDA_BENCH").ok();
    let size = env::var("TACENDA_PEOPLE").ok().and_then(|text| text.parse::<u32>().ok());
    let sizes = size.as_ref().map_or(sizes, std::slice::from_ref);
    let mut rows = Vec::new();
    for case in CASES.iter().filter(|case| only.as_ref().is_none_or(|only| only == case.name)) {
        for &people in sizes {
            rows.extend(measure(case, people));
        }
    }
    print_table(&rows);
}

/// One promise at one size, in turns: the limit, the first release, and one release per kind of change. The turn in the
/// middle of all is shown.
fn measure(case: &Case, people: u32) -> Vec<Json> {
    let &Case { name, promise, changes, shape, grows, .. } = case;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = Tables { folder: folder.path(), promise, grows };
    for (index, &rate) in changes.iter().enumerate() {
        match shape {
            Kind::Census => tables.write(&census::snapshots(people, 2, Churn::of(rate), 1), index),
            Kind::Adult => tables.write(&adult::snapshots(people, 2, Churn::of(rate), 1), index),
        }
    }
    // What is still to be written to the disk would slow down whoever comes first.
    let _ = Command::new("sync").status();
    let turns: usize = env::var("TACENDA_TURNS").ok().and_then(|text| text.parse().ok()).unwrap_or(match people {
        10_001..=1_000_000 => 3,
        _ => 1,
    });
    let mut taken: Vec<Vec<Json>> = Vec::new();
    for turn in 0..turns {
        let root = folder.path().join(format!("turn-{turn}"));
        tables.make_project(&root);
        let first = tables.first();
        let mut rows = vec![child("limit", &root, &first), child("first", &root, &first)];
        for (index, &rate) in changes.iter().enumerate() {
            let second = tables.second(index);
            // The limit of an update is that of its own table, which has grown.
            rows.push(child("limit", &root, &second));
            rows.push(child(&format!("change {} %", rate * 100.0), &root, &second));
        }
        taken.push(rows);
    }
    if let Some(place) = env::var_os("TACENDA_KEEP") {
        fs::rename(folder.keep(), place).expect("a free place on the same disk");
    }
    let mut limit = 0.0;
    let mut rows: Vec<Json> = (0..taken[0].len()).map(|task| middle(&taken, task)).collect();
    for row in &mut rows {
        if row["task"] == "limit" {
            limit = seconds(row);
        }
        row["promise"] = json!(name);
        row["people"] = json!(people);
        row["ratio"] = json!(seconds(row) / limit.max(0.01));
        row["ns_per_row"] = json!(seconds(row) * 1e9 / f64::from(people));
        row["peak_bytes_per_record"] = json!(row["peak_bytes"].as_u64().unwrap_or(0) / u64::from(people));
        println!("{row}");
    }
    rows
}

/// What the turn in the middle needed for a task.
fn middle(taken: &[Vec<Json>], task: usize) -> Json {
    let mut rows: Vec<&Json> = taken.iter().map(|rows| &rows[task]).collect();
    rows.sort_by(|one, other| seconds(one).total_cmp(&seconds(other)));
    rows[rows.len() / 2].clone()
}

fn seconds(row: &Json) -> f64 {
    row["cpu_seconds"].as_f64().unwrap_or(0.0)
}

/// The tables of a case, and the files of its project.
struct Tables<'a> {
    folder: &'a Path,
    promise: &'a str,
    grows: bool,
}

impl Tables<'_> {
    fn first(&self) -> PathBuf {
        self.folder.join("first.csv")
    }

    fn second(&self, index: usize) -> PathBuf {
        self.folder.join(format!("second-{index}.csv"))
    }

    /// A folder that a series can begin in.
    fn make_project(&self, root: &Path) {
        let files: Vec<(PathBuf, String)> =
            serde_json::from_reader(File::open(self.folder.join("project.json")).expect("a file")).expect("files");
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("files have folders")).expect("a folder");
            fs::write(path, text).expect("a file");
        }
    }

    /// Writes two snapshots as CSV, and keeps the files of their project.
    fn write<S: Shape>(&self, made: &Generated<S>, index: usize) {
        let (first, second) = (self.first(), self.second(index));
        let with_promise = |file: ProjectFile| {
            let is_policy = file.path.ends_with(".toml");
            (file.path, if is_policy { with_promise(&file.text, self.promise) } else { file.text })
        };
        let files: Vec<_> = made.project().into_iter().map(with_promise).collect();
        fs::write(self.folder.join("project.json"), json!(files).to_string()).expect("a file");
        let mut tables = made.tables();
        let old = tables.next().expect("a first table");
        if !first.exists() {
            made.write_csv(&old, BufWriter::new(File::create(&first).expect("a file"))).expect("a table");
        }
        let new = tables.next().expect("a second table");
        made.write_csv(&new, BufWriter::new(File::create(&second).expect("a file"))).expect("a table");
        if !self.grows {
            return;
        }
        // Those who left are still there: the first table's lines, and the lines that are new.
        let known = fs::read_to_string(&first).expect("the first table");
        let ids: HashSet<&str> = known.lines().filter_map(|line| line.split(',').next()).collect();
        let more = fs::read_to_string(&second).expect("the second table");
        let new_lines = more.lines().filter(|line| !ids.contains(line.split(',').next().unwrap_or_default()));
        let text = known.clone() + &new_lines.map(|line| line.to_string() + "\n").collect::<String>();
        fs::write(second, text).expect("a file");
    }
}

/// The made-up project's policy with another promise, generous limits, and CSV only, as the limit writes.
fn with_promise(text: &str, promise: &str) -> String {
    let columns = text.split("[promise]").next().expect("a policy has columns");
    format!(
        "{columns}[promise]\n{promise}\n\n[counterfeits]\nmax_share = 1.0\n[withheld]\nmax_share = 1.0\n\n[output]\nformats = [\"csv\"]\n"
    )
}

/// Runs one task in a process of its own.
fn child(task: &str, root: &Path, table: &Path) -> Json {
    let output = Command::new(env::current_exe().expect("this program"))
        .arg(format!("child:{task}"))
        .args([root, table])
        .output()
        .expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{task}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn run_child(task: &str, words: &[String]) {
    let (root, table) = (Path::new(&words[0]), Path::new(&words[1]));
    let start = Instant::now();
    let numbers = if task == "limit" { limit(root, table) } else { publish(root, table) };
    let row = json!({
        "task": task,
        "wall_seconds": start.elapsed().as_secs_f64(),
        "cpu_seconds": cpu_seconds(),
        "system_seconds": system_seconds(),
        "peak_bytes": peak_bytes(),
        "numbers": numbers,
    });
    println!("{row}");
}

/// Reads the table and writes a release of the same size: groups of ten as they come.
fn limit(root: &Path, table: &Path) -> Json {
    let file = ingest::read_policy(&root.join("tacenda.toml")).expect("a policy").policy;
    let source = Source::open(table).expect("a table");
    let read = ingest::read_snapshot(&source, &file.schema, &[1; 32], &Values::default(), &ReadOptions::default());
    let table = read.expect("a good table").table;
    let rows: Vec<_> = table.rows().collect();
    let mut grouping = Grouping::default();
    for chunk in rows.chunks(10) {
        // As long in print as a real region, and as little work as possible.
        let region: Vec<Span> = file
            .schema
            .quasi
            .iter()
            .enumerate()
            .map(|(attribute, quasi)| quasi.cover(Span::exact(table.quasi(attribute)[chunk[0].index()])))
            .collect();
        grouping.push_with_region(chunk, &[], &region);
    }
    let stamp = Stamp { seed: &Seed([1; 32]), number: 1, label: "limit", linked_ids: false };
    let (release, _) = recode(&file.schema, &grouping, &table, stamp);
    let out = root.join("limit");
    fs::create_dir_all(&out).expect("a folder");
    let facts = ManifestFacts::default();
    folder::write(&Issue::new(&release, &file), &facts, &mut |name| Ok(Box::new(File::create(out.join(name))?)))
        .expect("a release");
    json!({ "rows": release.row_count() })
}

/// Publishes the table for real, and says where the time went.
fn publish(root: &Path, table: &Path) -> Json {
    let steps = Steps::new();
    let step = |what: &str| steps.begin(what);
    let mut project = Project::open(root, None, Access::Publish).expect("a project");
    let input =
        Input { table: Given::Path(table.to_path_buf()), delta: false, show_values: false, memory: None, threads: 0 };
    let material = project.material(input, &step).expect("a good table");
    let rehearsal = project.rehearse(&material, NextRelease::default(), &step).expect("a release");
    project.publish(&material, &rehearsal, &step).expect("a publication");
    let spent = steps.spent();
    let release = &rehearsal.prepared.release;
    json!({
        "rows": release.row_count(), "groups": release.group_count(), "counterfeits": release.counterfeit_count(),
        "loss": rehearsal.loss.leaf_share, "wall_by_step": spent,
    })
}

fn print_table(rows: &[Json]) {
    println!(
        "\n{:<24} {:>10} {:>12} {:>8} {:>8} {:>8} {:>7} {:>8} {:>9}",
        "promise", "people", "task", "cpu s", "of sys", "wall s", "ratio", "ns/row", "B/record"
    );
    for row in rows {
        let number = |key: &str| row[key].as_f64().unwrap_or(0.0);
        println!(
            "{:<24} {:>10} {:>12} {:>8.2} {:>8.2} {:>8.2} {:>7.2} {:>8.0} {:>9}",
            row["promise"].as_str().unwrap_or_default(),
            row["people"].as_u64().unwrap_or(0),
            row["task"].as_str().unwrap_or_default(),
            number("cpu_seconds"),
            number("system_seconds"),
            number("wall_seconds"),
            number("ratio"),
            number("ns_per_row"),
            row["peak_bytes_per_record"].as_u64().unwrap_or(0),
        );
    }
}
