//! What can readers learn from these releases, whatever tool made them?

use crate::audit;
use crate::audit::{Assessment, Attacker, Budget, Check, Effort, Households, Population, Severity, Thresholds, Traces};
use crate::ingest::{Given, Source, foreign};
use crate::model::{Reader, Release, Value, people as counted_people};
use crate::report::{Decision, Edition, Material, Names, Report};
use crate::use_cases::{Order, Progress, Said, Subject, SubjectRequest, UseCaseError};
use std::path::PathBuf;

/// What is audited, against which attacker, and with how much effort.
#[derive(Debug, Default)]
pub struct AuditRequest {
    /// The series.
    pub subject: SubjectRequest,
    /// What the attacker knows: `quasi`, then any of `presence`, `first-release`, `known=B`. The default is
    /// `quasi,presence`.
    pub attacker: Option<String>,
    /// The least number of people that must not be distinguished. The default is that of the promise, or 2.
    pub k: Option<u32>,
    /// The least number of sensitive values that must remain possible. The default is that of the promise, or 2.
    pub l: Option<u32>,
    /// The largest distance of a group's values from the whole table's. By default it is only measured.
    pub t: Option<f64>,
    /// The checks to make, by name; all if none is named.
    pub checks: Vec<String>,
    /// The reader who is judged: `rule` or `method`. The default is that of the promise, or `rule`.
    pub reader: Option<String>,
    /// Sensitive values that nobody who has one ever loses, as they are written; several columns with `,` between.
    pub permanent: Vec<String>,
    /// A table of everyone whom the releases might be about, for journalist risk and k-map.
    pub population: Option<Given>,
    /// The column of the private tables that is the same for people who live together.
    pub household: Option<String>,
    /// How hard to try.
    pub effort: Effort,
    /// The steps that each search may take, instead of those of the effort.
    pub budget: Option<u64>,
    /// Whether sensitive values are named.
    pub names: Names,
}

/// A series that was read, and how it is to be attacked.
pub struct Audit {
    subject: Subject,
    attacker: Attacker,
    thresholds: Thresholds,
    checks: Vec<Check>,
    permanent: Vec<Value>,
    population: Option<Population>,
    households: Option<Households>,
    budget: Budget,
    names: Names,
}

/// The answer of an audit.
#[derive(Debug)]
pub struct AuditAnswer {
    /// The report.
    pub report: Report,
    /// The severity of the worst finding.
    pub worst: Option<Severity>,
    /// The worst severity that something not assessed might hide; `None` if no gap matters.
    pub hidden: Option<Severity>,
}

/// What makes the exit code of an audit nonzero.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum FailOn {
    /// Severe findings, and gaps that might hide one.
    Severe,
    /// Warnings and severe findings, and gaps that might hide one.
    #[default]
    Any,
    /// Warnings and severe findings; gaps are accepted.
    Found,
    /// Nothing.
    Never,
}

impl AuditAnswer {
    /// The exit code: 1 if something was found, 6 if something not assessed might hide a finding, else 0.
    pub fn exit_code(&self, on: FailOn) -> u8 {
        let least = match on {
            FailOn::Never => return 0,
            FailOn::Severe => Severity::Severe,
            FailOn::Any | FailOn::Found => Severity::Warning,
        };
        match () {
            () if self.worst >= Some(least) => 1,
            () if on == FailOn::Found => 0,
            () if self.hidden >= Some(least) => 6,
            () => 0,
        }
    }
}

impl AuditRequest {
    /// Reads the series. Nothing is attacked yet.
    pub fn read(self, progress: Progress<'_>) -> Result<Audit, UseCaseError> {
        let named = self.attacker.as_deref().map(attacker).transpose()?;
        let reader = self.reader.as_deref().map(reader).transpose()?;
        let (checks, budget, command) = (self.checks()?, budget(self.effort, self.budget), self.command());
        let household =
            self.household.as_deref().map(|column| HouseholdTables::new(column, &self.subject)).transpose()?;
        let mut subject = Subject::read(self.subject, progress)?;
        // A promise is judged against the attacker that it names.
        let attacker = named.unwrap_or_else(|| subject.promise.as_ref().map_or_else(Attacker::default, Attacker::of));
        let attacker = Attacker { reader, ..attacker };
        let promised = subject.promise.as_ref().map_or_else(Thresholds::default, Thresholds::of);
        // A promise that says nothing about values is not judged by them. What two people and two values find is listed
        // separately.
        let thresholds = Thresholds { k: self.k.unwrap_or(promised.k), l: self.l.unwrap_or(promised.l), t: self.t };
        let permanent = permanent(&subject, &self.permanent)?;
        let population = self.population.map(|given| population(given, &mut subject)).transpose()?;
        let households = household.map(|tables| tables.read(&mut subject)).transpose()?;
        subject.about.reproduce = command.as_ref().map_or_else(Vec::new, |command| reproduce(command, &thresholds));
        subject.about.command = command;
        let names = self.names;
        Ok(Audit { subject, attacker, thresholds, checks, permanent, population, households, budget, names })
    }

    /// The checks that were named, or all of them.
    fn checks(&self) -> Result<Vec<Check>, UseCaseError> {
        if self.checks.is_empty() {
            return Ok(Check::ALL.to_vec());
        }
        let find = |name: &String| {
            Check::ALL.into_iter().find(|check| check.name() == name).ok_or_else(|| {
                let all: Vec<&str> = Check::ALL.iter().map(|check| check.name()).collect();
                UseCaseError::usage(format!("there is no check {name:?}; there are {}", all.join(", ")))
            })
        };
        self.checks.iter().map(find).collect()
    }

    /// The equivalent command; `None` if a release or a private table is in memory.
    fn command(&self) -> Option<String> {
        let subject = &self.subject;
        let path = |given: &Given| match given {
            Given::Path(path) => Some(path.display().to_string()),
            Given::Frame(_) => None,
        };
        let paths = |list: &[Given]| list.iter().map(path).collect::<Option<Vec<String>>>();
        let (releases, truth) = (paths(&subject.releases)?, paths(&subject.truth)?);
        let mut words = vec!["tacenda".to_string(), "audit".to_string()];
        words.extend(releases);
        let mut say = |option: &str, value: String| words.extend([option.to_string(), value]);
        if !subject.quasi.is_empty() {
            say("--quasi", subject.quasi.join(","));
        }
        if !subject.sensitive.is_empty() {
            say("--sensitive", subject.sensitive.join(","));
        }
        let options =
            [("--group", &subject.options.group), ("--linked", &subject.linked), ("--attacker", &self.attacker)];
        for (option, value) in options {
            value.iter().for_each(|value| say(option, value.clone()));
        }
        let said = [
            ("--notation", &subject.options.notation),
            ("--hierarchy", &subject.options.hierarchy),
            ("--domain", &subject.domain),
            ("--any", &subject.options.any),
            ("--missing", &subject.missing),
            ("--date-format", &subject.date_format),
        ];
        for (option, values) in said {
            values.iter().map(Said::words).for_each(|value| say(option, value));
        }
        subject.weight.iter().for_each(|weight| say("--weight", weight.clone()));
        let folder = subject.options.hierarchies.iter().map(|folder| folder.display().to_string());
        folder.for_each(|folder| say("--hierarchies", folder));
        match &subject.order {
            Order::Given => (),
            Order::Named => say("--order", "date".into()),
            Order::Dated(dates) => say("--dates", dates.join(",")),
        }
        self.checks.iter().for_each(|check| say("--check", check.clone()));
        if !truth.is_empty() {
            words.push("--truth".into());
            words.extend(truth);
            subject.id.iter().for_each(|id| words.extend(["--id".to_string(), id.clone()]));
        }
        if let Some(given) = &self.population {
            words.extend(["--population".into(), path(given)?]);
        }
        if let Some(column) = &self.household {
            words.extend(["--household".into(), column.clone()]);
        }
        if !self.permanent.is_empty() {
            words.push("--permanent".into());
            words.extend(self.permanent.iter().cloned());
        }
        if let Some(reader) = &self.reader {
            words.extend(["--reader".into(), reader.clone()]);
        }
        match self.budget {
            Some(steps) => words.extend(["--budget".into(), steps.to_string()]),
            None if self.effort != Effort::default() => words.extend(["--effort".into(), self.effort.word().into()]),
            None => (),
        }
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" "))
    }
}

impl Audit {
    /// What was concluded about the input, one sentence each.
    pub fn notes(&self) -> &[String] {
        self.subject.notes()
    }

    /// The questions that are asked.
    pub(super) fn checks(&self) -> &[Check] {
        &self.checks
    }

    /// Attacks some of the releases, without a report.
    pub(super) fn assess_only(&self, keep: impl Fn(usize) -> bool, checks: &[Check]) -> Assessment {
        let subject = &self.subject;
        let kept: Vec<usize> = (0..subject.releases.len()).filter(|&place| keep(place)).collect();
        let releases: Vec<Release> = kept.iter().map(|&place| subject.releases[place].clone()).collect();
        let traces: Vec<Traces> = kept.iter().map(|&place| subject.traces[place].clone()).collect();
        let knowledge = subject.knowledge().map(|knowledge| knowledge.only(&keep));
        let series = audit::Series {
            releases: &releases,
            traces: &traces,
            permanent: &self.permanent,
            population: self.population.as_ref(),
            households: self.households.as_ref(),
            ..subject.series(knowledge.as_ref(), None)
        };
        audit::examine_only(&series, self.attacker, &self.thresholds, &self.budget, &|_| {}, checks)
    }

    /// Attacks the series.
    pub fn judge(&self, progress: Progress<'_>) -> AuditAnswer {
        let knowledge = self.subject.knowledge();
        let rerun = self.subject.remaking();
        let series = self.subject.series(knowledge.as_ref(), rerun.as_ref());
        let (population, households) = (self.population.as_ref(), self.households.as_ref());
        let series = audit::Series { permanent: &self.permanent, population, households, ..series };
        let ask = |check: Check| progress(self.checks.len(), check.question());
        let assessment =
            audit::examine_only(&series, self.attacker, &self.thresholds, &self.budget, &ask, &self.checks);
        let private = self.subject.private(&self.thresholds);
        let material = Material {
            edition: Edition::Auditor,
            series,
            assessment: &assessment,
            attacker: self.attacker,
            thresholds: self.thresholds,
            about: &self.subject.about,
            names: self.names,
            budget: self.budget,
            governance: None,
            has_truth: private.is_some(),
            private,
        };
        let report = Report::new(&material);
        let gaps = [Severity::Severe, Severity::Warning];
        let hidden = gaps.into_iter().find(|&severity| assessment.gaps(severity).next().is_some());
        // Without any answer, everything may be hidden.
        let is_open = report.verdict.decision == Decision::NotAssessed;
        let hidden = if hidden.is_none() && is_open { Some(Severity::Severe) } else { hidden };
        AuditAnswer { worst: report.verdict.worst, report, hidden }
    }
}

/// The steps of an effort, or the given number.
pub fn budget(effort: Effort, steps: Option<u64>) -> Budget {
    Budget { steps: steps.unwrap_or(effort.steps()), ..Budget::default() }
}

/// Reads everyone whom the releases might be about.
fn population(given: Given, subject: &mut Subject) -> Result<Population, UseCaseError> {
    let (quasi, people) = foreign::read_population(&given.open()?, &subject.schema)?;
    let outside = people - quasi.first().map_or(0, Vec::len) as u64;
    if outside > 0 {
        let note = format!("the population has {} with a value that no release can hold", counted_people(outside));
        subject.about.notes.push(note);
    }
    Ok(Population { quasi, people })
}

/// The private tables, to be read for who lives with whom.
struct HouseholdTables {
    column: String,
    identifier: Option<String>,
    paths: Vec<PathBuf>,
}

impl HouseholdTables {
    fn new(column: &str, subject: &SubjectRequest) -> Result<HouseholdTables, UseCaseError> {
        let path = |given: &Given| match given {
            Given::Path(path) => Some(path.clone()),
            Given::Frame(_) => None,
        };
        let paths: Option<Vec<PathBuf>> = subject.truth.iter().map(path).collect();
        let paths = paths.filter(|paths| !paths.is_empty());
        let wrong =
            || UseCaseError::usage("--household names a column of the private tables: give them as files (--truth)");
        Ok(HouseholdTables { column: column.into(), identifier: subject.id.clone(), paths: paths.ok_or_else(wrong)? })
    }

    fn read(self, subject: &mut Subject) -> Result<Households, UseCaseError> {
        let own = Some(subject.schema.identifier.clone()).filter(|name| !name.is_empty());
        let wrong = || UseCaseError::usage("--household needs --id COLUMN: who lives with whom is said of people");
        let identifier = self.identifier.or(own).ok_or_else(wrong)?;
        let mut named = Vec::new();
        for path in &self.paths {
            named.extend(foreign::read_households(&Source::open(path)?, &identifier, &self.column, &subject.key)?);
        }
        let (households, moved) = Households::new(named.iter().map(|(person, name)| (*person, &**name)));
        if moved > 0 {
            let note =
                format!("{} moved to another household: nothing is concluded from theirs", counted_people(moved));
            subject.about.notes.push(note);
        }
        Ok(households)
    }
}

/// The values that were named as permanent.
fn permanent(subject: &Subject, texts: &[String]) -> Result<Vec<Value>, UseCaseError> {
    let values = subject.releases.last().map(|release| &release.values);
    let find = |(at, text): (usize, &String)| {
        let is_named = |cells: &[Box<str>]| cells.join(",") == *text;
        let found = values.into_iter().flat_map(|values| values.iter()).find(|(_, cells)| is_named(cells));
        found.map(|(value, _)| value).ok_or_else(|| {
            UseCaseError::usage(format!(
                "--permanent: no release has value {} of those named; write it as the sensitive column does",
                at + 1
            ))
        })
    };
    texts.iter().enumerate().map(find).collect()
}

fn reader(word: &str) -> Result<Reader, UseCaseError> {
    match word {
        "rule" => Ok(Reader::Rule),
        "method" => Ok(Reader::Method),
        _ => Err(UseCaseError::usage(format!("--reader is rule or method, not {word:?}"))),
    }
}

/// Reads `quasi,presence`, `quasi,first-release,known=2` and the like.
fn attacker(words: &str) -> Result<Attacker, UseCaseError> {
    let mut attacker = Attacker { presence: false, first_release: false, known_people: 0, reader: None };
    let mut knows_quasi = false;
    for word in words.split(',').map(str::trim) {
        match word.split_once('=') {
            None if word == "quasi" => knows_quasi = true,
            None if word == "presence" => attacker.presence = true,
            None if word == "first-release" => attacker.first_release = true,
            Some(("known", people)) => {
                let wrong = |_| UseCaseError::usage("--attacker known=B: B is a number of people");
                attacker.known_people = people.parse().map_err(wrong)?;
            }
            _ => {
                let known = "quasi, presence, first-release, known=B";
                return Err(UseCaseError::usage(format!("--attacker does not take {word:?}; use {known}")));
            }
        }
    }
    match knows_quasi {
        true => Ok(attacker),
        false => Err(UseCaseError::usage("--attacker: begin with quasi; every attacker here knows quasi values")),
    }
}

/// A word as a shell reads it back.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.,=/:+@%".contains(letter);
    if !word.is_empty() && word.chars().all(plain) { word.into() } else { format!("'{}'", word.replace('\'', "'\\''")) }
}

fn reproduce(command: &str, thresholds: &Thresholds) -> Vec<String> {
    let t = thresholds.t.map_or(String::new(), |t| format!(" --t {t}"));
    vec![
        "sha256sum of every file; the digests are those listed here".into(),
        format!("{command} --k {} --l {}{t} --format json -o audit.json", thresholds.k, thresholds.l),
        "tacenda explain finding N --audit audit.json for each finding and what proves it".into(),
    ]
}
