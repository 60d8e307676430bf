//! What does the encrypted vault cost, next to one in the clear?
//!
//! The same two releases are published into both, in turns, each in a process of its own. Said are the CPU seconds (the least
//! and the median of the rounds) and the bytes of the vault. `TACENDA_PEOPLE` names the size. Nothing here fails on a time.

mod usage;

use serde_json::{Value as Json, json};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;
use std::process::Command;
use std::{env, fs};
use tacenda::ingest::Given;
use tacenda::keys::KeyFolder;
use tacenda::made_up::{Churn, census};
use tacenda::use_cases::{ProjectFolder, ReleaseRequest};
use usage::{cpu_seconds, peak_bytes};

const PROMISE: &str = "[promise]\nmodel = \"m-invariance\"\nm = 10\n[counterfeits]\nmax_share = 1.0\n[withheld]\nmax_share = 1.0\n\
                       [output]\nformats = [\"csv\"]\n";

fn main() {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [child, vault, root, table] = &words[..]
        && child == "child"
    {
        return run_child(vault, Path::new(root), Path::new(table));
    }
    let is_bench = words.iter().any(|word| word == "--bench");
    let size = env::var("TACENDA_PEOPLE").ok().and_then(|text| text.parse().ok());
    let (people, rounds) = (size.unwrap_or(if is_bench { 1_000_000 } else { 2_000 }), if is_bench { 7 } else { 1 });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tables = write_tables(folder.path(), people);
    let mut rows = Vec::new();
    for round in 0..rounds {
        for vault in ["plain", "sealed"] {
            let root = folder.path().join(format!("{vault}-{round}"));
            fs::create_dir(&root).expect("a folder");
            fs::create_dir(root.join("hierarchies")).expect("a folder");
            for name in ["tacenda.toml", "hierarchies/birthplace.csv"] {
                fs::copy(folder.path().join(name), root.join(name)).expect("a policy and its tree");
            }
            for (task, table) in ["first", "change 1 %"].into_iter().zip(&tables) {
                let row = child(vault, &root, table);
                println!("{task} {vault} {row}");
                rows.push((task, vault, row));
            }
            fs::remove_dir_all(&root).expect("a folder");
        }
    }
    for task in ["first", "change 1 %"] {
        let of = |vault: &str, key: &str| -> Vec<f64> {
            let rows = rows.iter().filter(|(of, kind, _)| *of == task && *kind == vault);
            let mut found: Vec<f64> = rows.filter_map(|(_, _, row)| row[key].as_f64()).collect();
            found.sort_by(f64::total_cmp);
            found
        };
        let (plain, sealed) = (of("plain", "cpu_seconds"), of("sealed", "cpu_seconds"));
        println!(
            "{people} people, {task}: least {:.3} s and {:.3} s (ratio {:.3}), median {:.3} s and {:.3} s, vault {} and {} bytes",
            plain[0],
            sealed[0],
            sealed[0] / plain[0],
            plain[plain.len() / 2],
            sealed[sealed.len() / 2],
            of("plain", "vault_bytes")[0],
            of("sealed", "vault_bytes")[0],
        );
    }
}

/// Writes the policy and two snapshots.
fn write_tables(root: &Path, people: u32) -> Vec<std::path::PathBuf> {
    let made = census::snapshots(people, 2, Churn::of(0.01), 1);
    fs::create_dir(root.join("hierarchies")).expect("a folder");
    for file in made.project() {
        let text = match file.path.ends_with(".toml") {
            true => format!("{}{PROMISE}", file.text.split("[promise]").next().expect("a policy has columns")),
            false => file.text,
        };
        fs::write(root.join(file.path), text).expect("a policy or its tree");
    }
    let write = |(number, table)| {
        let path = root.join(format!("{number}.csv"));
        made.write_csv(&table, BufWriter::new(File::create(&path).expect("a file"))).expect("a table");
        path
    };
    made.tables().enumerate().map(write).collect()
}

/// Publishes one release in a process of its own.
fn child(vault: &str, root: &Path, table: &Path) -> Json {
    let program = env::current_exe().expect("this program");
    let output = Command::new(program).args(["child", vault]).args([root, table]).output().expect("a child process");
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().last().unwrap_or_default();
    serde_json::from_str(line).unwrap_or_else(|_| panic!("{vault}: {}", String::from_utf8_lossy(&output.stderr)))
}

fn run_child(vault: &str, root: &Path, table: &Path) {
    let keys = (vault == "sealed").then(|| KeyFolder::at(&root.join("keys")));
    let project = ProjectFolder { root: root.into(), keys, ..ProjectFolder::default() };
    let data = Some(Given::Path(table.into()));
    let request = ReleaseRequest { project, data, ..ReleaseRequest::default() };
    let next = request.prepare(None, &|_, _| {}).expect("a release");
    next.publish(&|_, _| {}).expect("a publication");
    let files = fs::read_dir(root.join(".tacenda/vault")).expect("a vault");
    let vault_bytes: u64 = files.map(|file| file.and_then(|file| file.metadata()).map_or(0, |file| file.len())).sum();
    println!("{}", json!({ "cpu_seconds": cpu_seconds(), "peak_bytes": peak_bytes(), "vault_bytes": vault_bytes }));
}
