//! What can anyone learn from these releases, by whatever tool they were made?

use crate::audit;
use crate::audit::{Attacker, Check, Limits, Severity, Thresholds};
use crate::ingest::Given;
use crate::report::{Edition, Material, Names, Report};
use crate::use_cases::{Order, Progress, Said, Subject, SubjectRequest, UseCaseError};

/// What is to be audited, by whom, and how hard.
#[derive(Debug, Default)]
pub struct AuditRequest {
    /// The series.
    pub subject: SubjectRequest,
    /// What the attacker knows: `quasi`, then any of `presence`, `first-release`, `known=B`; `quasi,presence` where
    /// nothing is said.
    pub attacker: Option<String>,
    /// The least number of people that must not be distinguished; what is promised, or 2, where nothing is said.
    pub k: Option<u32>,
    /// The least number of sensitive values that must remain possible; as for `k`.
    pub l: Option<u32>,
    /// The largest distance of a group's values from the whole table's; measured only where nothing is said.
    pub t: Option<f64>,
    /// The checks that are made, by name; all of them where none is named.
    pub checks: Vec<String>,
    /// Whether every pair of releases is compared, not only neighbours.
    pub all_pairs: bool,
    /// How many times as much work as usual may be done; 0 is 1.
    pub effort: u32,
    /// Whether sensitive values are named.
    pub names: Names,
}

/// A series that was read, and how it is to be attacked.
pub struct Audit {
    subject: Subject,
    attacker: Attacker,
    thresholds: Thresholds,
    checks: Vec<Check>,
    limits: Limits,
    names: Names,
}

/// What an audit answers with.
#[derive(Debug)]
pub struct AuditAnswer {
    /// The report.
    pub report: Report,
    /// The severity of the worst finding.
    pub worst: Option<Severity>,
    /// Whether some question could not be answered for everyone.
    pub has_gaps: bool,
}

impl AuditRequest {
    /// Reads the series. Nothing is attacked yet.
    pub fn read(self, progress: Progress<'_>) -> Result<Audit, UseCaseError> {
        let attacker = self.attacker.as_deref().map_or(Ok(Attacker::default()), attacker)?;
        let (checks, limits, command) = (self.checks()?, self.limits(), self.command());
        let mut subject = Subject::read(self.subject, progress)?;
        let promised = subject.promise.as_ref().map_or_else(Thresholds::default, Thresholds::of);
        // Certain values are reported even if the promise says nothing about values.
        let l = self.l.unwrap_or(promised.l.max(Thresholds::default().l));
        let thresholds = Thresholds { k: self.k.unwrap_or(promised.k), l, t: self.t };
        subject.about.reproduce = command.as_ref().map_or_else(Vec::new, |command| reproduce(command, &thresholds));
        subject.about.command = command;
        Ok(Audit { subject, attacker, thresholds, checks, limits, names: self.names })
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

    /// The limits, so many times as wide. Counting all worlds of a component grows with more than its people, so
    /// these grow by a few.
    fn limits(&self) -> Limits {
        let (limits, times) = (Limits::default(), self.effort.max(1));
        Limits {
            refine_people: limits.refine_people * times as usize,
            worlds_people: limits.worlds_people + 2 * times.ilog2() as usize,
            worlds_nodes: limits.worlds_nodes * u64::from(times),
            pairs: limits.pairs * u64::from(times),
            all_pairs: self.all_pairs,
            ..limits
        }
    }

    /// The command that asks for the same; none where a frame is among the releases or the private tables.
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
        ];
        for (option, values) in said {
            values.iter().map(Said::words).for_each(|value| say(option, value));
        }
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
        if self.all_pairs {
            words.push("--all-pairs".into());
        }
        if self.effort > 1 {
            words.extend(["--limit".into(), self.effort.to_string()]);
        }
        Some(words.iter().map(|word| quoted(word)).collect::<Vec<String>>().join(" "))
    }
}

impl Audit {
    /// What was concluded about the input, one sentence each.
    pub fn notes(&self) -> &[String] {
        self.subject.notes()
    }

    /// Attacks the series.
    pub fn judge(&self, progress: Progress<'_>) -> AuditAnswer {
        let knowledge = self.subject.knowledge();
        let rerun = self.subject.remaking();
        let series = self.subject.series(knowledge.as_ref(), rerun.as_ref());
        let ask = |check: Check| progress(self.checks.len(), check.question());
        let assessment =
            audit::examine_only(&series, self.attacker, &self.thresholds, &self.limits, &ask, &self.checks);
        let private = self.subject.private(&self.thresholds);
        let material = Material {
            edition: Edition::Auditor,
            series,
            assessment: &assessment,
            attacker: self.attacker,
            thresholds: self.thresholds,
            about: &self.subject.about,
            names: self.names,
            limits: self.limits,
            governance: None,
            has_truth: private.is_some(),
            private,
        };
        let report = Report::new(&material);
        AuditAnswer { report, worst: assessment.worst(), has_gaps: assessment.has_gaps() }
    }
}

/// Reads `quasi,presence`, `quasi,first-release,known=2` and the like.
fn attacker(words: &str) -> Result<Attacker, UseCaseError> {
    let mut attacker = Attacker { presence: false, first_release: false, known_people: 0 };
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
                return Err(UseCaseError::usage(format!("--attacker does not know {word:?}; say {known}")));
            }
        }
    }
    match knows_quasi {
        true => Ok(attacker),
        false => Err(UseCaseError::usage("--attacker: say quasi first; every attacker here knows quasi values")),
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
