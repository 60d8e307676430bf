//! How long does a view take, next to reading its table and writing its files?
//!
//! The shape of paper 004's enlarged Set A: eight attributes with uneven, dependent values and a class. Two
//! views share three columns; the first is out as it is, the second is measured: for anonymity with k = 40 and
//! for linkability at 90 %. The *limit* is reading the same table and writing as many rows of the same columns.
//! Each number is taken in a process of its own. Without `--bench` a tiny size shows that it works.

mod usage;

use serde_json::{Value as Json, json};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::Instant;
use std::{env, fs};
use tacenda::folder::{Issue, ManifestFacts};
use tacenda::ingest::{Given, ReadOptions, Source};
use tacenda::model::{Grouping, Rng, Schema, Seed, Span, Table, Values};
use tacenda::promise::PolicyFile;
use tacenda::publish::{Access, Input, NextRelease, Project, Stamp, recode};
use tacenda::{folder, ingest};
use usage::{Steps, cpu_seconds};

/// Name, leaves and how many leaves a node of the level above has (paper 004, table 2).
const COLUMNS: [(&str, u32, u32); 8] = [
    ("education", 16, 4),
    ("occupation", 14, 5),
    ("work", 8, 3),
    ("marital", 7, 3),
    ("relationship", 6, 2),
    ("sex", 2, 1),
    ("country", 40, 8),
    ("race", 5, 5),
];

/// The paper's Top6 with the key of the new view, and its Top1 with the rarer half of a column sensitive.
const CASES: [(&str, &str); 2] = [
    (
        "k = 40",
        "model = \"xy-anonymity\"\nk = 40\ny = [\"taxation.record\"]\nx = [\"education\", \"occupation\", \"work\", \"marital\", \
         \"relationship\", \"sex\", \"country\", \"race\"]",
    ),
    (
        "90 %",
        "model = \"xy-linkability\"\nmax_confidence = 0.9\ny = [\"taxation.marital\"]\nsensitive = [\"marital 4\", \"marital 5\", \
         \"marital 6\"]\nx = [\"education\", \"occupation\", \"work\", \"relationship\", \"sex\"]",
    ),
];

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [child, root] = words.as_slice()
        && let Some(task) = child.strip_prefix("child:")
    {
        return run_child(task, Path::new(root));
    }
    let sizes: &[usize] = if words.iter().any(|word| word == "--bench") { &[200_000, 1_000_000] } else { &[2_000] };
    println!("{:>9} {:>8} {:>14} {:>8} {:>8} {:>7}  steps", "people", "case", "task", "cpu s", "wall s", "ratio");
    for &people in sizes {
        for (name, promise) in CASES {
            measure(people, name, promise);
        }
    }
}

fn measure(people: usize, name: &str, promise: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make(people, promise, folder.path());
    let limit = child("limit", folder.path());
    let first = child("immigration", folder.path());
    let second = child("taxation", folder.path());
    let seconds = |row: &Json, key: &str| row[key].as_f64().unwrap_or(0.0);
    for (task, row) in [("limit", &limit), ("first view", &first), ("second view", &second)] {
        let ratio = seconds(row, "cpu_seconds") / seconds(&limit, "cpu_seconds").max(0.01);
        let (cpu, wall) = (seconds(row, "cpu_seconds"), seconds(row, "wall_seconds"));
        println!("{people:>9} {name:>8} {task:>14} {cpu:>8.2} {wall:>8.2} {ratio:>7.2}  {}", row["numbers"]);
    }
}

/// Writes the policy, its hierarchies and the table.
fn make(people: usize, promise: &str, root: &Path) {
    let mut policy =
        String::from("policy = 1\n[series]\nname = \"bench\"\n[columns]\nid = { role = \"identifier\" }\n");
    for (name, leaves, fan) in COLUMNS {
        let line = |leaf: u32| format!("{name} {leaf};{name}-{};{name}+{};*\n", leaf / fan, leaf / fan / 2);
        fs::write(root.join(format!("{name}.csv")), (0..leaves).map(line).collect::<String>()).expect("a file");
        let _ = writeln!(
            policy,
            "{name} = {{ role = \"quasi\", type = \"category\", hierarchy = \"{name}.csv\", missing = \"error\" }}"
        );
    }
    policy += "class = { role = \"quasi\", type = \"category\", values = [\"0\", \"1\"], missing = \"error\" }\n";
    policy += "[views.taxation]\ncolumns = [\"education\", \"occupation\", \"work\", \"marital\", \"relationship\", \"sex\", \"class\"]\n";
    policy += "[views.immigration]\ncolumns = [\"marital\", \"relationship\", \"sex\", \"country\", \"race\"]\n";
    policy += &format!("[promise]\ntarget = \"class\"\n{promise}\n[output]\nformats = [\"csv\"]\n");
    fs::write(root.join("tacenda.toml"), policy).expect("a policy");
    let names: Vec<&str> = COLUMNS.iter().map(|column| column.0).collect();
    let mut table = format!("id,{},class\n", names.join(","));
    let mut rng = Rng::from_number(4);
    for person in 0..people {
        // One hidden number makes the attributes and the class depend on each other.
        let hidden = rng.unit();
        let _ = write!(table, "{person}");
        for (name, leaves, _) in COLUMNS {
            let own = if rng.below(3) == 0 { rng.unit() } else { hidden };
            let code = ((own * (0.4 + 0.6 * rng.unit()) * f64::from(leaves)) as u32).min(leaves - 1);
            let _ = write!(table, ",{name} {code}");
        }
        let _ = writeln!(table, ",{}", u32::from(hidden * 0.7 + rng.unit() * 0.3 > 0.6));
    }
    fs::write(root.join("table.csv"), table).expect("a table");
}

/// Runs one task in a process of its own.
fn child(task: &str, root: &Path) -> Json {
    let this = env::current_exe().expect("this program");
    let output = Command::new(this).arg(format!("child:{task}")).arg(root).output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{task}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn run_child(task: &str, root: &Path) {
    let start = Instant::now();
    let numbers = if task == "limit" { limit(root) } else { publish(root, task) };
    let wall = start.elapsed().as_secs_f64();
    println!("{}", json!({ "wall_seconds": wall, "cpu_seconds": cpu_seconds(), "numbers": numbers }));
}

/// Reads the table and writes as many rows with the columns of the second view.
fn limit(root: &Path) -> Json {
    let file = ingest::read_policy(&root.join("tacenda.toml")).expect("a policy").policy;
    let source = Source::open(&root.join("table.csv")).expect("a table");
    let read = ingest::read_snapshot(&source, &file.schema, &[1; 32], &Values::default(), &ReadOptions::default());
    let table = read.expect("a good table").table;
    let columns = [0, 1, 2, 3, 4, 5, 8];
    let quasi = columns.iter().map(|&column| file.schema.quasi[column].clone()).collect();
    let file = PolicyFile { schema: Schema::new("id", quasi, Vec::new()), ..file };
    let codes = columns.iter().map(|&column| table.quasi(column).to_vec()).collect();
    let sensitive = table.sensitive().to_vec();
    let table = Table::new(table.keys().to_vec(), codes, sensitive, table.values.clone(), Vec::new(), Vec::new());
    let rows: Vec<_> = table.rows().collect();
    let mut grouping = Grouping::default();
    for chunk in rows.chunks(40) {
        let region: Vec<Span> =
            (0..columns.len()).map(|column| Span::exact(table.quasi(column)[chunk[0].index()])).collect();
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

/// Publishes a view for real, and says where the time went.
fn publish(root: &Path, view: &str) -> Json {
    let steps = Steps::new();
    let step = |what: &str| steps.begin(what);
    let mut project = Project::open(root, None, Access::Publish).expect("a project");
    let path = root.join("table.csv");
    let input = Input { table: Given::Path(path), delta: false, show_values: false, memory: None, threads: 0 };
    let material = project.material(input, &step).expect("a good table");
    let rehearsal = project
        .rehearse(&material, NextRelease { view: Some(view), ..NextRelease::default() }, &step)
        .expect("a release");
    project.publish(&material, &rehearsal, &step).expect("a publication");
    let spent = steps.spent();
    json!({ "groups": rehearsal.prepared.release.group_count(), "wall_by_step": spent })
}
