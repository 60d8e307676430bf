//! What the README and the docs print is what the command prints: every transcript is run, and so is every line to type.
//!
//! A page is one session in an empty folder. A block `console` has lines to type, after `$ `, and what they print.
//! In it `…` stands for any text, and a line of its own with `…` for any lines. A line to type must end well. A block
//! `sh` with the command in it is run as a script, and what it prints is not compared. Comments of the page say the rest:
//!
//! - `<!-- run: … -->` is run first, and readers do not see it.
//! - `<!-- answers: yes -->`: from here on every question is answered with yes.
//! - `<!-- not run: reason -->`: the next block is not run.
//!
//! `UPDATE_EXPECT=1` writes what was printed into the page, where it differs. Read it afterwards.

use crate::kit::TestProject;
use std::fs;
use std::path::{Path, PathBuf};

/// The command as the README builds and runs it.
const BUILT: &str = "cargo run --locked --release --";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages people read, and the Python package's.
fn pages() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = ["README.md", "SECURITY.md", "CONTRIBUTING.md", "crates/tacenda-py/README.md"]
        .map(|name| root().join(name))
        .into();
    for folder in ["docs", "docs/how-to"] {
        let entries = fs::read_dir(root().join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension() == Some("md".as_ref())));
    }
    found.sort();
    found
}

/// Something of a page that is run.
#[derive(Debug, PartialEq)]
enum Step {
    /// A script, and whether it stands in a comment.
    Script(String),
    /// A line to type, the lines that it prints, and the place of these in the page.
    Typed { typed: String, printed: Vec<String>, from: usize },
    /// From here on every question is answered with yes.
    Yes,
}

/// What of a page is run, in its order.
fn steps(page: &str) -> Vec<Step> {
    let lines: Vec<&str> = page.lines().collect();
    let (mut found, mut at, mut is_left_out) = (Vec::new(), 0, false);
    while at < lines.len() {
        let line = lines[at].trim();
        let said = |what: &str| line.strip_prefix(what).and_then(|rest| rest.strip_suffix("-->")).map(str::trim);
        if let Some(script) = said("<!-- run:") {
            found.push(Step::Script(script.to_string()));
        } else if said("<!-- answers: yes").is_some() {
            found.push(Step::Yes);
        } else if said("<!-- not run:").is_some() {
            is_left_out = true;
        } else if let Some(kind) = line.strip_prefix("```") {
            let from = at + 1;
            let length = lines[from..].iter().position(|line| line.trim() == "```").expect("every block ends");
            let block = &lines[from..from + length];
            let is_run = !std::mem::take(&mut is_left_out);
            match kind {
                "console" if is_run => found.extend(typed(block, from)),
                "sh" if is_run && block.iter().any(|line| calls(line)) => found.push(Step::Script(block.join("\n"))),
                _ => (),
            }
            at = from + length;
        }
        at += 1;
    }
    found
}

/// Whether a line calls the command.
fn calls(line: &str) -> bool {
    line.split([' ', '|', ';', '(']).any(|word| word == "tacenda") || line.contains(BUILT)
}

/// The lines to type of a block, with what each prints.
fn typed(block: &[&str], from: usize) -> Vec<Step> {
    let mut found: Vec<Step> = Vec::new();
    let mut goes_on = false;
    for (index, line) in block.iter().enumerate() {
        if let Some(text) = line.strip_prefix("$ ") {
            found.push(Step::Typed { typed: text.to_string(), printed: Vec::new(), from: from + index + 1 });
        } else if let Some(Step::Typed { typed, printed, from }) = found.last_mut() {
            if goes_on {
                typed.push('\n');
                typed.push_str(line);
                *from += 1;
            } else {
                printed.push((*line).to_string());
            }
        }
        goes_on = line.ends_with('\\') && (goes_on || line.starts_with("$ "));
    }
    found
}

/// Whether a line is what a page says of it; `…` is any text.
fn line_fits(said: &str, line: &str) -> bool {
    let mut parts = said.trim_end().split('…');
    let first = parts.next().expect("there is always one");
    let Some(mut rest) = line.trim_end().strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

/// Whether lines are what a page says of them; a line with `…` alone is any lines.
fn fits(said: &[String], lines: &[&str]) -> bool {
    // For each number of lines, whether what was said so far can be exactly these.
    let mut fitting = vec![false; lines.len() + 1];
    fitting[0] = true;
    for text in said {
        let mut next = vec![false; lines.len() + 1];
        if text.trim() == "…" {
            let first = fitting.iter().position(|fits| *fits).unwrap_or(next.len());
            next[first..].fill(true);
        } else {
            for (index, line) in lines.iter().enumerate() {
                next[index + 1] = fitting[index] && line_fits(text, line);
            }
        }
        fitting = next;
    }
    fitting[lines.len()]
}

/// A page while it is run.
struct Session {
    project: TestProject,
    answers_yes: bool,
}

impl Session {
    fn new() -> Session {
        let project = TestProject::empty();
        fs::write(project.state.path().join("folder"), project.path().to_str().unwrap()).unwrap();
        Session { project, answers_yes: false }
    }

    /// Runs a script where the last one ended, up to its first failure if it has several lines; both streams come back as
    /// they would stand on a screen.
    fn run(&self, script: &str) -> (i32, String) {
        let script = script.replace(BUILT, "tacenda");
        let yes = if self.answers_yes { "tacenda() { command tacenda --yes \"$@\"; }" } else { "" };
        let state = self.project.state.path().display();
        let whole = format!(
            "exec 2>&1; cd \"$(cat {state}/folder)\" || exit 99\ntrap 'pwd >{state}/folder' EXIT\n{yes}\n{script}\n"
        );
        let ended = self.project.shell(&whole, &[("ROOT", root().to_str().unwrap())]);
        (ended.code, ended.stdout)
    }
}

/// Runs a page. What differs is returned, and the page as it should be.
fn run(page: &str) -> (Vec<String>, String) {
    let mut session = Session::new();
    let mut lines: Vec<String> = page.lines().map(str::to_string).collect();
    let (mut wrong, mut moved) = (Vec::new(), 0isize);
    for step in steps(page) {
        match step {
            Step::Yes => session.answers_yes = true,
            Step::Script(script) => {
                let (code, said) = session.run(&format!("set -e\n{script}"));
                if code != 0 {
                    wrong.push(format!("{script}\nended with exit code {code}:\n{said}"));
                }
            }
            Step::Typed { typed, printed, from } => {
                let (code, said) = session.run(&typed);
                let shown: Vec<&str> = said.trim_end().lines().collect();
                let expected = printed.join("\n").trim_end().lines().map(str::to_string).collect::<Vec<String>>();
                if code != 0 || !fits(&expected, &shown) {
                    wrong.push(format!("$ {typed}\nended with exit code {code} and printed:\n{said}"));
                    let start = from.checked_add_signed(moved).unwrap();
                    lines.splice(start..start + printed.len(), shown.iter().map(|line| line.trim_end().to_string()));
                    moved += shown.len() as isize - printed.len() as isize;
                }
            }
        }
    }
    (wrong, lines.join("\n") + "\n")
}

#[test]
fn every_transcript_of_the_docs_comes_out_as_printed() {
    let only = std::env::var("PAGE").ok();
    let pages = pages().into_iter().filter(|path| only.as_ref().is_none_or(|name| path.ends_with(name)));
    let runs: Vec<(PathBuf, Vec<String>)> = std::thread::scope(|scope| {
        let started: Vec<_> = pages.map(|path| scope.spawn(move || run_page(path))).collect();
        started.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let wrong: Vec<String> = runs
        .iter()
        .flat_map(|(path, wrong)| wrong.iter().map(move |one| format!("{}:\n{one}", path.display())))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

fn run_page(path: PathBuf) -> (PathBuf, Vec<String>) {
    let page = fs::read_to_string(&path).unwrap();
    let (wrong, changed) = run(&page);
    if std::env::var_os("UPDATE_EXPECT").is_some() && changed != page {
        fs::write(&path, changed).unwrap();
    }
    (path, wrong)
}

/// A transcript that no test would run: a line to type in a block that is no `console`.
#[test]
fn every_line_to_type_stands_in_a_block_that_is_run() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let mut kind: Option<&str> = None;
        for line in page.lines() {
            match (line.trim().strip_prefix("```"), kind) {
                (Some(opened), None) => kind = Some(opened),
                (Some(_), Some(_)) => kind = None,
                (None, Some(open)) if line.starts_with("$ ") => {
                    count += 1;
                    if open != "console" {
                        wrong.push(format!("{}: {line}", path.display()));
                    }
                }
                _ => (),
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(count > 30, "only {count} lines to type were found");
}

#[test]
fn a_transcript_that_is_wrong_is_found() {
    let page = |printed: &str| format!("```console\n$ echo one; echo two words; echo three\n{printed}\n```\n");
    let is_right = |printed: &str| run(&page(printed)).0.is_empty();
    assert!(
        is_right("one\ntwo words\nthree")
            && is_right("…\nthree")
            && is_right("one\n…")
            && is_right("one\nt… w…s\nthree")
    );
    assert!(!is_right("one\nthree") && !is_right("one\ntwo wörds\nthree") && !is_right("one\ntwo words\nthree\nfour"));
    assert!(!is_right("one…\n…\nfour") && !is_right("") && is_right("…"));
    let (wrong, changed) = run(&page("one\nfour"));
    assert_eq!((wrong.len(), changed), (1, page("one\ntwo words\nthree")));
    assert_eq!(run("```console\n$ false\n```\n").0.len(), 1);
    assert_eq!(run("```sh\ntacenda explain nonsense\n```\n").0.len(), 1);
    assert_eq!(run("<!-- not run: no -->\n```sh\ntacenda explain nonsense\n```\n").0.len(), 0);
    let moved = "<!-- run: mkdir a -->\n```console\n$ cd a\n```\n\n```console\n$ basename \\\n  \"$PWD\"\na\n```\n";
    assert_eq!(run(moved).0, Vec::<String>::new());
}
