//! A paper's situation in small: naive files are attacked, then the same tables are published and attacked again.
//!
//! Both attacks are audits with the private tables, as `tacenda audit` makes them. Everything is left behind in a
//! folder, so that a reader can repeat each step.

use crate::audit::Severity;
use crate::ingest::Given;
use crate::made_up::{SITUATIONS, Situation, hospital};
use crate::model::people;
use crate::report::{Decision, Names, StoryFacts};
use crate::use_cases::demo::claim_folder;
use crate::use_cases::draft::write;
use crate::use_cases::{AuditRequest, Progress, ProjectFolder, ReleaseRequest, SubjectRequest, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// A situation that is to be shown.
#[derive(Clone, Debug)]
pub struct SituationRequest {
    /// The promise that answers it.
    pub name: String,
    /// Where to leave everything.
    pub folder: PathBuf,
}

/// The answer of a demo in small.
#[derive(Debug, JsonSchema, Serialize)]
pub struct SituationReport {
    /// The promise that answers it.
    pub name: String,
    /// What happens to the table.
    pub about: String,
    /// The paper.
    pub citation: String,
    /// The folder that was left behind.
    pub project: PathBuf,
    /// What a naive publisher does.
    pub naively: String,
    /// Its files.
    pub naive: Vec<ShownRelease>,
    /// What an attacker learns from all of them.
    pub learned: Learned,
    /// How the second table is refused under the paper's own promise, where that covers one release.
    pub refused: Option<String>,
    /// What Tacenda does instead.
    pub instead: String,
    /// What was published.
    pub published: Vec<ShownRelease>,
    /// What the same attacker learns from that, and the verdict of the report on it.
    pub learned_then: Learned,
    /// The command that attacks the naive files, in that folder.
    pub command: String,
    /// The command that writes the report on what was published, in that folder.
    pub report_command: String,
}

/// A release, as a reader sees it.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ShownRelease {
    /// Its label.
    pub label: String,
    /// The header and the rows.
    pub rows: Vec<Vec<String>>,
    /// How many people are left out of it.
    pub withheld: u64,
    /// How many artificial rows it has.
    pub counterfeits: u64,
}

/// What an attacker learns.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Learned {
    /// The verdict.
    pub decision: Decision,
    /// The worst that was found, one sentence each.
    pub findings: Vec<String>,
    /// A person whose value is certain, step by step.
    pub story: Option<StoryFacts>,
}

/// A demo there is.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DemoEntry {
    /// Its name: the promise that answers it.
    pub name: String,
    /// What happens to the table.
    pub about: String,
    /// The paper.
    pub citation: String,
}

/// All demos, in the order of their papers.
pub fn demos() -> Vec<DemoEntry> {
    let entry = |name: &str, about: &str, citation: &str| DemoEntry {
        name: name.into(),
        about: about.into(),
        citation: citation.into(),
    };
    let mut all: Vec<DemoEntry> =
        SITUATIONS.iter().map(|small| entry(small.name, small.about, small.citation)).collect();
    all.insert(3, entry(hospital::DEMO, hospital::ABOUT, hospital::CITATION));
    all
}

/// The demo of this name; an error if the word is nearly the name of one.
pub fn demo_named(word: &str) -> Result<Option<DemoEntry>, UseCaseError> {
    let (distance, nearest) = demos()
        .into_iter()
        .map(|demo| (strsim::damerau_levenshtein(word, &demo.name), demo))
        .min_by_key(|(distance, _)| *distance)
        .expect("there are demos");
    match distance {
        0 => Ok(Some(nearest)),
        1..=3 => Err(UseCaseError::usage(format!(
            "there is no demo {word}; did you mean {}? tacenda demo --list has all",
            nearest.name
        ))),
        _ => Ok(None),
    }
}

/// Shows a situation.
pub fn show_situation(request: &SituationRequest, progress: Progress<'_>) -> Result<SituationReport, UseCaseError> {
    let found = SITUATIONS.into_iter().find(|situation| situation.name == request.name);
    let situation = found.ok_or_else(|| UseCaseError::usage("there is no such demo; tacenda demo --list has all"))?;
    claim_folder(&request.folder, || make(situation, &request.folder, progress))
}

fn make(situation: &Situation, folder: &Path, progress: Progress<'_>) -> Result<SituationReport, UseCaseError> {
    let step = |what: &str| progress(situation.stages.len() + 3, what);
    step("publishing naively");
    for (path, text) in situation.project {
        write(&folder.join(path), text)?;
    }
    let files = Files::write(situation, folder)?;
    step("attacking");
    let learned = learn(situation, files.subject(situation))?;
    let refused = situation.alone.map(|policy| refuse(situation, policy, &files, folder)).transpose()?;
    let mut published = Vec::new();
    for (stage, table) in situation.stages.iter().zip(&files.tables) {
        step(&format!("publishing {}", stage.label));
        let request = next(folder, table, stage.label, stage.view);
        let made = request.prepare(None, &|_, _| ())?.publish(&|_, _| ())?;
        let is_rows = |name: &&String| name.ends_with(".csv") && name.matches('.').count() == 1;
        let name = made.files.iter().find(is_rows).expect("a release has its rows as CSV");
        let text = fs::read_to_string(made.folder.join(name)).map_err(UseCaseError::file(&made.folder))?;
        let (withheld, counterfeits) = made.summary.map_or((0, 0), |summary| (summary.withheld, summary.counterfeits));
        let rows = rows(&text, &["group_id", "row_weight"]);
        published.push(ShownRelease { label: stage.label.into(), rows, withheld, counterfeits });
    }
    step("attacking what was published");
    let published_all = || SubjectRequest {
        project: ProjectFolder { root: folder.into(), ..ProjectFolder::default() },
        truth: files.truth(situation),
        ..SubjectRequest::default()
    };
    // The verdict is the one of all checks, as the report has it. The attack may be one of them.
    let all = AuditRequest { subject: published_all(), ..AuditRequest::default() };
    let decision = all.read(&|_, _| ())?.judge(&|_, _| ()).report.verdict.decision;
    let learned_then = Learned { decision, ..learn(situation, published_all())? };
    Ok(SituationReport {
        name: situation.name.into(),
        about: situation.about.into(),
        citation: situation.citation.into(),
        project: folder.into(),
        naively: situation.naively.into(),
        naive: situation.stages.iter().map(|stage| shown_naive(stage.label, stage.naive)).collect(),
        learned,
        refused,
        instead: situation.instead.into(),
        published,
        learned_then,
        command: command(situation),
        report_command: report_command(situation),
    })
}

/// Where the tables and the naive files are.
struct Files {
    tables: Vec<PathBuf>,
    naive: Vec<PathBuf>,
}

impl Files {
    fn write(situation: &Situation, folder: &Path) -> Result<Files, UseCaseError> {
        let mut files = Files { tables: Vec::new(), naive: Vec::new() };
        for stage in situation.stages {
            let name = format!("{}.csv", stage.label);
            let (table, naive) = (folder.join("data").join(&name), folder.join("naive").join(&name));
            write(&table, stage.table)?;
            write(&naive, stage.naive)?;
            files.tables.push(table);
            files.naive.push(naive);
        }
        Ok(files)
    }

    /// The naive files, to be audited.
    fn subject(&self, situation: &Situation) -> SubjectRequest {
        SubjectRequest {
            releases: given(&self.naive),
            truth: self.truth(situation),
            quasi: situation.quasi.iter().map(|column| (*column).into()).collect(),
            sensitive: vec![situation.sensitive.into()],
            id: Some(situation.identifier.into()),
            ..SubjectRequest::default()
        }
    }

    /// The private tables, if the attacker knows people.
    fn truth(&self, situation: &Situation) -> Vec<Given> {
        if situation.is_of_views() { Vec::new() } else { given(&self.tables) }
    }
}

/// The command that attacks the naive files, in the folder of the demo.
fn command(situation: &Situation) -> String {
    let columns = format!("--quasi {} --sensitive {}", situation.quasi.join(","), situation.sensitive);
    match situation.is_of_views() {
        true => format!("tacenda audit naive/*.csv {columns} --check joins --k 1"),
        false => format!("tacenda audit naive/*.csv {columns} --truth data/*.csv --id {}", situation.identifier),
    }
}

/// The command that writes the report on what was published. With the private tables it has the verdict that is told here.
fn report_command(situation: &Situation) -> String {
    let truth = if situation.is_of_views() { "" } else { "--truth data/*.csv " };
    format!("tacenda report {truth}-o report.html")
}

fn given(files: &[PathBuf]) -> Vec<Given> {
    files.iter().cloned().map(Given::Path).collect()
}

fn next(folder: &Path, table: &Path, label: &str, view: Option<&str>) -> ReleaseRequest {
    ReleaseRequest {
        project: ProjectFolder { root: folder.into(), ..ProjectFolder::default() },
        data: Some(Given::Path(table.into())),
        label: Some(label.into()),
        view: view.map(String::from),
        ..ReleaseRequest::default()
    }
}

/// Publishes the first table under a promise for one release, and says how the second is refused.
fn refuse(situation: &Situation, policy: &str, files: &Files, folder: &Path) -> Result<String, UseCaseError> {
    let alone = folder.join("alone");
    for (path, text) in situation.project {
        write(&alone.join(path), if *path == "tacenda.toml" { policy } else { text })?;
    }
    let publish = |number: usize| {
        let request = next(&alone, &files.tables[number], situation.stages[number].label, None);
        request.prepare(None, &|_, _| ())?.publish(&|_, _| ())
    };
    publish(0)?;
    match publish(1) {
        Err(error) => Ok(format!("{} {error}", error.code())),
        Ok(_) => unreachable!("a promise for one release takes no second one without a reason"),
    }
}

/// The cells of a CSV whose cells have no line breaks, without the named columns.
fn rows(text: &str, without: &[&str]) -> Vec<Vec<String>> {
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("it was just written")).collect();
    let kept: Vec<usize> = (0..rows[0].len()).filter(|&column| !without.contains(&&rows[0][column])).collect();
    rows.iter().map(|row| kept.iter().map(|&column| row[column].into()).collect()).collect()
}

fn shown_naive(label: &str, text: &str) -> ShownRelease {
    ShownRelease { label: label.into(), rows: rows(text, &[]), withheld: 0, counterfeits: 0 }
}

/// Attacks, and keeps what a reader wants to know first: the severe findings, or the warnings if there are none.
fn learn(situation: &Situation, subject: SubjectRequest) -> Result<Learned, UseCaseError> {
    let mut request = AuditRequest { subject, names: Names::Shown, ..AuditRequest::default() };
    if situation.is_of_views() {
        // The promise is about values, not about how many people share them.
        request = AuditRequest { checks: vec!["joins".into()], k: Some(1), l: Some(2), ..request };
    }
    let report = request.read(&|_, _| ())?.judge(&|_, _| ()).report;
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    let mut findings: Vec<String> = Vec::new();
    for finding in report.findings.iter().filter(|one| Some(one.severity) == worst && worst >= Some(Severity::Warning))
    {
        let text = format!("{} {}: {}", finding.code, finding.title, people(finding.people));
        if !findings.contains(&text) {
            findings.push(text);
        }
    }
    let story = report.story.filter(|story| story.left == 1);
    Ok(Learned { decision: report.verdict.decision, findings, story })
}
