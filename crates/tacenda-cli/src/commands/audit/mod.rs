//! What can anyone learn from these releases, whoever made them?

mod own;
mod subject;
mod wishes;

pub use subject::Subject;

use crate::args::AuditArgs;
use crate::args::Common;
use crate::args::FailOn;
use crate::args::Format;
use crate::failure::Failure;
use crate::screen::Screen;
use crate::screen::telling;
use std::io;
use std::io::IsTerminal;
use tacenda::audit;
use tacenda::audit::Assessment;
use tacenda::audit::Attacker;
use tacenda::audit::Check;
use tacenda::audit::Limits;
use tacenda::audit::Severity;
use tacenda::audit::Thresholds;
use tacenda::report;
use tacenda::report::Edition;
use tacenda::report::Material;
use tacenda::report::Names;
use tacenda::report::Report;
use tacenda::report::TextOptions;

pub fn run(args: &AuditArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let attacker = attacker(args.attacker.as_deref())?;
    let checks = checks(&args.checks)?;
    let limits = limits(args);
    let subject = Subject::read(&args.subject, common, screen)?;
    let promised = subject.promise.as_ref().map_or_else(Thresholds::default, Thresholds::of);
    let thresholds = Thresholds { k: args.k.unwrap_or(promised.k), l: args.l.unwrap_or(promised.l), t: args.t };
    subject.about.notes.iter().for_each(|note| screen.note(&format!("note: {note}")));

    let knowledge = subject.knowledge();
    let series = subject.series(knowledge.as_ref());
    let bar = screen.steps(checks.len() as u64);
    let tell = |check: Check| telling(&bar)(check.question());
    let assessment = audit::examine_only(&series, attacker, &thresholds, &limits, &tell, &checks);
    bar.finish_and_clear();

    let material = Material {
        edition: Edition::Auditor,
        series,
        assessment: &assessment,
        attacker,
        thresholds,
        about: &subject.about,
        names: names(args.show_values, common, screen),
        private: None,
    };
    screen.print(&printed(&Report::new(&material), common))?;
    Ok(u8::from(fails(&assessment, args.fail_on)))
}

fn printed(report: &Report, common: &Common) -> String {
    match common.format {
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
