//! What can anyone learn from these releases, whoever made them?

mod own;
mod subject;
mod wishes;

pub use subject::Subject;

use crate::args::{AuditArgs, Common, FailOn, Format};
use crate::failure::Failure;
use crate::screen::{Screen, telling};
use std::io;
use std::io::IsTerminal;
use std::path::PathBuf;
use tacenda::audit::{Assessment, Attacker, Check, Limits, Severity, Thresholds};
use tacenda::report::{About, Edition, Material, Names, Report, TextOptions};
use tacenda::{audit, report};

pub fn run(args: &AuditArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let attacker = attacker(args.attacker.as_deref())?;
    let checks = checks(&args.checks)?;
    let limits = limits(args);
    let subject = Subject::read(&args.subject, common, screen)?;
    let promised = subject.promise.as_ref().map_or_else(Thresholds::default, Thresholds::of);
    // That somebody's value is certain is told whatever is promised of values.
    let l = args.l.unwrap_or(promised.l.max(Thresholds::default().l));
    let thresholds = Thresholds { k: args.k.unwrap_or(promised.k), l, t: args.t };
    subject.about.notes.iter().for_each(|note| screen.note(&format!("note: {note}")));

    let knowledge = subject.knowledge();
    let series = subject.series(knowledge.as_ref());
    let bar = screen.steps(checks.len() as u64);
    let tell = |check: Check| telling(&bar)(check.question());
    let assessment = audit::examine_only(&series, attacker, &thresholds, &limits, &tell, &checks);
    bar.finish_and_clear();

    let private = subject.private(&thresholds);
    let about =
        About { command: Some(command(args)), reproduce: reproduce(args, &thresholds), ..subject.about.clone() };
    let material = Material {
        edition: Edition::Auditor,
        series,
        assessment: &assessment,
        attacker,
        thresholds,
        about: &about,
        names: names(args.show_values, common, screen),
        limits,
        governance: None,
        has_truth: private.is_some(),
        private,
    };
    screen.print(&printed(&Report::new(&material), common))?;
    Ok(u8::from(fails(&assessment, args.fail_on)))
}

/// The command line again, without what only says where to write.
fn command(args: &AuditArgs) -> String {
    let mut words = vec!["tacenda".to_string(), "audit".to_string()];
    // As given: from the same folder it is the same command.
    let name = |path: &PathBuf| path.display().to_string();
    words.extend(args.subject.files.iter().map(name));
    let reading = &args.subject.reading;
    let mut say = |option: &str, value: String| words.extend([option.to_string(), value]);
    if !reading.quasi.is_empty() {
        say("--quasi", reading.quasi.join(","));
    }
    if !reading.sensitive.is_empty() {
        say("--sensitive", reading.sensitive.join(","));
    }
    let options = [("--group", &reading.group), ("--linked", &reading.linked), ("--attacker", &args.attacker)];
    for (option, value) in options {
        value.iter().for_each(|value| say(option, value.clone()));
    }
    for (option, values) in [
        ("--notation", &reading.notation),
        ("--hierarchy", &reading.hierarchy),
        ("--domain", &reading.domain),
        ("--any", &reading.any),
        ("--missing", &reading.missing),
        ("--check", &args.checks),
    ] {
        values.iter().for_each(|value| say(option, value.clone()));
    }
    if !reading.truth.is_empty() {
        words.push("--truth".into());
        words.extend(reading.truth.iter().map(name));
        reading.id.iter().for_each(|id| words.extend(["--id".to_string(), id.clone()]));
    }
    if args.all_pairs {
        words.push("--all-pairs".into());
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" ")
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,=/:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn reproduce(args: &AuditArgs, thresholds: &Thresholds) -> Vec<String> {
    let t = thresholds.t.map_or(String::new(), |t| format!(" --t {t}"));
    vec![
        "sha256sum of every file; the digests are those listed here".into(),
        format!("{} --k {} --l {}{t} --format json -o audit.json", command(args), thresholds.k, thresholds.l),
        "tacenda explain finding N --audit audit.json for each finding and what proves it".into(),
    ]
}

fn printed(report: &Report, common: &Common) -> String {
    match common.form(Format::Text) {
        Format::Text => report::text(report, TextOptions::default()),
        Format::Json => report::json(report),
        Format::Sarif => report::sarif(report),
        Format::Junit => report::junit(report),
        Format::Markdown => report::markdown(report),
        Format::Html => report::html(report),
    }
}

/// Values are named where someone asked for it and looks at it; a file or a pipe outlasts the look.
pub fn names(asked: bool, common: &Common, screen: &Screen) -> Names {
    if !asked {
        return Names::Coded;
    }
    if common.output.is_none() && io::stdout().is_terminal() {
        return Names::Shown;
    }
    screen.note("note: values are named on a terminal only; here they are D1, D2, …");
    Names::Coded
}

/// The limits, so many times as wide. Counting all worlds of a component grows with more than its people, so
/// these grow by a few.
fn limits(args: &AuditArgs) -> Limits {
    let (limits, times) = (Limits::default(), args.limit);
    Limits {
        refine_people: limits.refine_people * times as usize,
        worlds_people: limits.worlds_people + 2 * times.ilog2() as usize,
        worlds_nodes: limits.worlds_nodes * u64::from(times),
        pairs: limits.pairs * u64::from(times),
        all_pairs: args.all_pairs,
        ..limits
    }
}

/// Whether the exit code says that something was found.
fn fails(assessment: &Assessment, on: FailOn) -> bool {
    match on {
        FailOn::Never => false,
        FailOn::Gaps => assessment.has_gaps() || assessment.worst() >= Some(Severity::Warning),
        FailOn::Any => assessment.worst() >= Some(Severity::Warning),
        FailOn::Severe => assessment.worst() >= Some(Severity::Severe),
    }
}

/// Reads `quasi,presence`, `quasi,first-release,known=2` and the like.
pub fn attacker(words: Option<&str>) -> Result<Attacker, Failure> {
    let Some(words) = words else { return Ok(Attacker::default()) };
    let mut attacker = Attacker { presence: false, first_release: false, known_people: 0 };
    let mut knows_quasi = false;
    for word in words.split(',').map(str::trim) {
        match word.split_once('=') {
            None if word == "quasi" => knows_quasi = true,
            None if word == "presence" => attacker.presence = true,
            None if word == "first-release" => attacker.first_release = true,
            Some(("known", people)) => {
                let people =
                    people.parse().map_err(|_| Failure::usage("--attacker known=B: B is a number of people"))?;
                attacker.known_people = people;
            }
            _ => {
                let known = "quasi, presence, first-release, known=B";
                return Err(Failure::usage(format!("--attacker does not know {word:?}; say {known}")));
            }
        }
    }
    if !knows_quasi {
        return Err(Failure::usage("--attacker: say quasi first; every attacker here knows quasi values"));
    }
    Ok(attacker)
}

/// The checks that were named, or all of them.
fn checks(names: &[String]) -> Result<Vec<Check>, Failure> {
    if names.is_empty() {
        return Ok(Check::ALL.to_vec());
    }
    let find = |name: &String| {
        Check::ALL.into_iter().find(|check| check.name() == name).ok_or_else(|| {
            let all: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
            Failure::usage(format!("there is no check {name:?}; there are {}", all.join(", ")))
        })
    };
    names.iter().map(find).collect()
}
