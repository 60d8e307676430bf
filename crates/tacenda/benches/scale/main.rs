//! How many instructions does each kind of work take, next to the checked-in number?
//!
//! Times shake with the machine; instructions do not. Each case runs in a process of its own under callgrind, which
//! counts what [`on_the_scale`] does, and not how the data were made. `numbers.txt` has the checked-in numbers; a case
//! that needs over 10 % more fails.
//!
//! - `benches/scale/run` builds this and runs all cases; `run WORD…` runs those whose names contain a word.
//! - `UPDATE_SCALE=1` writes the numbers of the cases that ran. A number may grow where the commit says why.
//! - Without `--bench` (as `cargo test` runs it), each case runs once and nothing is counted: this shows that they work.

mod cases;

use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};

/// How much of the checked-in number a case may need.
const MOST: f64 = 1.10;

/// Below this, the checked-in number should be lowered.
const BETTER: f64 = 0.90;

/// What callgrind counts: all that happens between entering and leaving this function.
#[inline(never)]
fn on_the_scale(work: &mut dyn FnMut()) {
    work();
    // A last call could become a jump, which callgrind does not see return.
    std::hint::black_box(());
}

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [word] = words.as_slice()
        && let Some(name) = word.strip_prefix("case:")
    {
        run(name);
        return ExitCode::SUCCESS;
    }
    let asked: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let is_asked = |name: &str| asked.is_empty() || asked.iter().any(|word| name.contains(word.as_str()));
    let names: Vec<&str> = cases::CASES.iter().map(|case| case.0).filter(|name| is_asked(name)).collect();
    if !words.iter().any(|word| word == "--bench") {
        names.into_iter().for_each(run);
        return ExitCode::SUCCESS;
    }
    let now: Vec<(&str, u64)> = names.into_par_iter().map(|name| (name, instructions(name))).collect();
    match env::var_os("UPDATE_SCALE") {
        Some(_) => update(&now),
        None => compare(&now),
    }
}

/// Runs a case on this thread alone: callgrind counts per thread.
fn run(name: &str) {
    // There is one already after the first case of a run without callgrind.
    let _ = rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global();
    let case = cases::CASES.iter().find(|case| case.0 == name);
    case.expect("only cases that there are are run").1();
}

/// Counts a case in a process of its own.
fn instructions(name: &str) -> u64 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let counts = folder.path().join("counts");
    let program = env::current_exe().expect("this program has a file");
    let run = Command::new("valgrind")
        .args(["--quiet", "--tool=callgrind", "--toggle-collect=*on_the_scale*"])
        // Reading a table starts threads. No case starts one while it makes its data.
        .arg("--toggle-collect=*thread_start*")
        .arg(format!("--callgrind-out-file={}", counts.display()))
        .arg(Path::new(".").join(program.file_name().expect("a file has a name")))
        .arg(format!("case:{name}"))
        // The lengths of paths move what is on the heap, and with it what has to be copied to grow.
        .current_dir(program.parent().expect("a file is in a folder"))
        .env("TMPDIR", "/tmp")
        .env("GLIBC_TUNABLES", "glibc.malloc.mmap_threshold=131072")
        .output()
        .expect("valgrind is installed (apt-get install valgrind)");
    assert!(run.status.success(), "{name}: {}", String::from_utf8_lossy(&run.stderr));
    let counts = fs::read_to_string(counts).expect("callgrind writes what it counted");
    let total = counts.lines().find_map(|line| line.strip_prefix("totals: ")).and_then(|number| number.parse().ok());
    total.filter(|&total| total > 0).expect("callgrind found the function that it counts")
}

/// Prints each case next to its checked-in number; fails if one has grown too much.
fn compare(now: &[(&str, u64)]) -> ExitCode {
    let before = numbers();
    let (mut grown, mut better) = (Vec::new(), Vec::new());
    println!("{:<32} {:>14} {:>14} {:>7}", "instructions", "before", "now", "ratio");
    for &(name, now) in now {
        let Some(&before) = before.get(name) else {
            println!("{name:<32} {:>14} {now:>14}", "none");
            grown.push(name);
            continue;
        };
        let ratio = now as f64 / before as f64;
        println!("{name:<32} {before:>14} {now:>14} {ratio:>7.3}");
        if ratio > MOST {
            grown.push(name);
        } else if ratio < BETTER {
            better.push(name);
        }
    }
    if !better.is_empty() {
        println!("\nBetter by more than 10 %: {}.\nLower the numbers: {}", better.join(", "), again(&better));
    }
    if grown.is_empty() {
        return ExitCode::SUCCESS;
    }
    println!("\nMore than 10 % over the checked-in number, or without one: {}.", grown.join(", "));
    println!("Find out why. If it is worth it, accept the new numbers, and say why in the commit: {}", again(&grown));
    ExitCode::FAILURE
}

/// The command that writes new numbers for some cases.
fn again(names: &[&str]) -> String {
    format!("UPDATE_SCALE=1 crates/tacenda/benches/scale/run {}", names.join(" "))
}

/// Writes the new numbers of the cases that ran; others stay, and those of cases that are gone go.
fn update(now: &[(&str, u64)]) -> ExitCode {
    let mut numbers = numbers();
    numbers.extend(now.iter().map(|&(name, count)| (name.to_string(), count)));
    let known = cases::CASES.iter().filter_map(|case| Some((case.0, numbers.get(case.0)?)));
    let lines: String = known.map(|(name, count)| format!("{name:<32} {count:>12}\n")).collect();
    fs::write(numbers_file(), format!("{HEAD}{lines}")).expect("the numbers can be written");
    print!("{lines}");
    ExitCode::SUCCESS
}

/// How the file of numbers begins.
const HEAD: &str = "\
# Instructions a case, counted by callgrind: see main.rs. They grow only where the commit says why.
# Made with Rust 1.95 on x86-64 and valgrind 3.19. Other versions move them by a few percent.
";

/// The checked-in numbers.
fn numbers() -> BTreeMap<String, u64> {
    let text = fs::read_to_string(numbers_file()).unwrap_or_default();
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, count)| (name.to_string(), count.trim().parse().expect("a name and a number a line")))
        .collect()
}

fn numbers_file() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/scale/numbers.txt")
}
