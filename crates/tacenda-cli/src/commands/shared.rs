//! What several commands say in the same words.

use crate::args::{Common, Data};
use crate::failure::{Failure, ProblemReport};
use crate::screen::{Screen, number};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::folder;
use tacenda::folder::Published;
use tacenda::ingest::{PolicyFileError, SaidIn};
use tacenda::ledger::{RealDisk, Store};
use tacenda::model::{Row, Schema, counted, people};
use tacenda::promise::PolicyFile;
use tacenda::publish::{Access, Input, Material, NextRelease, PreparedView, Project, ProjectError, Rehearsal};
use tacenda::report::percent;

/// Opens the project the command line names.
pub fn open(common: &Common, access: Access, screen: &Screen) -> Result<Project, Failure> {
    Project::open(&common.project, common.policy.as_deref(), access).map_err(|error| failure(error, screen))
}

/// The table the command line names.
pub fn input(data: &Data, common: &Common) -> Result<Input, Failure> {
    let path = data.path.clone().ok_or_else(|| Failure::usage("name a table: tacenda … DATA; - is standard input"))?;
    let threads = common.threads.unwrap_or(0);
    Ok(Input { path, delta: data.delta, show_values: data.show_values, memory: common.memory, threads })
}

/// Makes the next release, of a view where one is named, and has it judged.
pub fn rehearse(
    project: &Project,
    material: &Material,
    view: Option<&str>,
    label: Option<&str>,
    step: &dyn Fn(&str),
) -> Result<Rehearsal, ProjectError> {
    project.rehearse(material, NextRelease { view, label, policy: None }, step)
}

/// A library error as the user sees it.
pub fn failure(error: ProjectError, screen: &Screen) -> Failure {
    failure_of(error, "the table was not accepted; nothing was published", screen)
}

/// The same where inputs that are not accepted are told in other words.
pub fn failure_of(error: ProjectError, rejected: &str, screen: &Screen) -> Failure {
    let (code, exit) = (error.code(), error.exit_code());
    match error {
        ProjectError::PolicyFile(errors) => policy_failure(&errors, screen),
        ProjectError::Ingest(error) if !error.problems().is_empty() => {
            let problems = error.problems();
            let rejected = match problems.iter().any(|problem| problem.said_in == SaidIn::View) {
                true => "the file of a view that was made elsewhere was not accepted; nothing was published",
                false => rejected,
            };
            let mut failure = Failure::new(code, exit, rejected);
            for problem in problems {
                failure = failure.line(format!("  {problem}")).problem(ProblemReport {
                    code: problem.code().to_string(),
                    message: if problem.detail.is_empty() {
                        problem.kind.title().to_string()
                    } else {
                        format!("{}: {}", problem.kind.title(), problem.detail)
                    },
                    column: problem.column.clone(),
                    count: Some(problem.rows),
                    lines: problem.places.clone(),
                    way_out: Some(problem.way_out().to_string()),
                });
            }
            failure
        }
        ProjectError::Publish(tacenda::publish::PublishError::Refused(findings)) => {
            let failure = Failure::new(code, exit, "the auditor refused the release; nothing was published");
            findings.iter().fold(failure, |failure, finding| {
                failure.line(format!("  {finding}")).problem(ProblemReport {
                    code: finding.fault.code().to_string(),
                    message: finding.fault.title().to_string(),
                    count: Some(finding.people),
                    ..ProblemReport::default()
                })
            })
        }
        error => Failure::new(code, exit, error),
    }
}

/// Errors in the policy file, each with the place it points at.
fn policy_failure(errors: &PolicyFileError, screen: &Screen) -> Failure {
    let renderer = if screen.color() { Renderer::styled() } else { Renderer::plain() };
    let mut failure = Failure::new(errors.code(), errors.exit_code(), "the policy file cannot be used");
    let file = errors.file.display().to_string();
    for fault in &errors.faults {
        let title = format!("{}: {}", fault.code, fault.message);
        let drawn = match &fault.span {
            Some(span) if span.end <= errors.text.len() => {
                let snippet = Snippet::source(errors.text.as_str()).path(file.as_str()).fold(true);
                let snippet = snippet.annotation(AnnotationKind::Primary.span(span.clone()));
                renderer.render(&[Level::ERROR.primary_title(title.as_str()).element(snippet)])
            }
            _ => format!("{title} ({file})"),
        };
        failure = failure.line(drawn).problem(ProblemReport {
            code: fault.code.to_string(),
            message: fault.message.clone(),
            lines: errors.line(fault).map(|line| line as u64).into_iter().collect(),
            way_out: (!fault.help.is_empty()).then(|| fault.help.clone()),
            ..ProblemReport::default()
        });
        if !fault.help.is_empty() {
            failure = failure.line(format!("  help: {}", fault.help));
        }
    }
    failure
}

/// A rehearsed or published release in numbers. Private: for the steward.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Summary {
    /// The series' name.
    pub series: String,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The view it is of, for a policy with views.
    pub view: Option<ViewSummary>,
    /// The promise, in one sentence.
    pub promise: String,
    /// People in the snapshot.
    pub people: u64,
    /// People never seen before.
    pub arrived: u32,
    /// People who are back.
    pub returned: u32,
    /// People who are gone.
    pub left: u32,
    /// People whose quasi values changed.
    pub quasi_changed: u32,
    /// People whose sensitive value changed.
    pub sensitive_changed: u32,
    /// People who are published.
    pub published: u64,
    /// People who are left out of this release.
    pub withheld: u64,
    /// Those of them who were never published and wait.
    pub waiting: u64,
    /// Those of them who were published before: out for good where records are only added.
    pub taken_out: u64,
    /// Groups.
    pub groups: u64,
    /// Rows with nobody behind them.
    pub counterfeits: u64,
    /// Distinct value sets among the groups of the whole series.
    pub value_sets: u64,
    /// Loss measures; docs/formats.md defines them.
    pub loss: serde_json::Value,
    /// Median relative error of random count queries, against the snapshot.
    pub query_error: Option<f64>,
    /// What comparing with the earlier releases reveals, for a promise that holds per release only.
    pub series_risk: Option<String>,
    /// Whether the policy file has to say why that is acceptable before this can be published.
    pub needs_reason: bool,
    /// What a study mode breaks on made-up data.
    pub findings: Vec<String>,
    /// What was concluded about the input, and warnings with a code.
    pub notes: Vec<String>,
}

/// What there is to say of a view beside its release.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ViewSummary {
    /// Its name.
    pub name: String,
    /// Who gets it.
    pub recipients: Vec<String>,
    /// What is promised besides, one sentence each.
    pub also: Vec<String>,
    /// Specialisations that were taken back because the finished view did not pass the audit.
    pub steps_back: u64,
    /// Per row, how many levels its categories were lifted, summed over the columns.
    pub distortion_categories: f64,
    /// Per row, the share of the domain its numbers leave open, summed over the columns.
    pub distortion_numbers: f64,
    /// Its columns, in the order of `information_kept`.
    pub columns: Vec<String>,
    /// The column whose values detail should tell apart.
    pub target: Option<String>,
    /// Per column, the share of what it told of the target that it still tells; null where it told nothing.
    pub information_kept: Vec<Option<f64>>,
    /// What was found and what was not looked at.
    pub notes: Vec<String>,
}

impl ViewSummary {
    fn new(view: &PreparedView, file: &PolicyFile, schema: &Schema) -> ViewSummary {
        let views = file.views();
        ViewSummary {
            name: view.name.clone(),
            recipients: view.recipients.clone(),
            also: views.iter().flat_map(|views| &views.also).map(|promise| promise.terms().sentence).collect(),
            steps_back: view.steps_back as u64,
            distortion_categories: view.utility.distortion_categories,
            distortion_numbers: view.utility.distortion_numbers,
            columns: schema.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
            target: views.and_then(|views| views.target.clone()),
            information_kept: view.utility.information_kept.clone(),
            notes: view.notes.clone(),
        }
    }

    fn lines(&self, line: &mut dyn FnMut(&str, String)) {
        line("view", format!("{} for {}", self.name, self.recipients.join(", ")));
        line(
            "distortion",
            format!(
                "{:.3} levels of categories and {:.3} of number domains, per row",
                self.distortion_categories, self.distortion_numbers
            ),
        );
        let kept = self.columns.iter().zip(&self.information_kept);
        let others = kept.filter(|(name, _)| self.target.as_ref() != Some(name));
        let kept: Vec<String> =
            others.filter_map(|(name, kept)| Some(format!("{name} {:.0} %", (*kept)? * 100.0))).collect();
        if let (Some(target), false) = (&self.target, kept.is_empty()) {
            line("still told", format!("of what it told about {target}: {}", kept.join(", ")));
        }
        if self.steps_back > 0 {
            let steps = counted(self.steps_back, "specialisation was", "specialisations were");
            line("stepped back", format!("{steps} taken back: the finished view did not pass"));
        }
        for also in &self.also {
            line("also", also.clone());
        }
        for note in &self.notes {
            line("joined", note.clone());
        }
    }
}

impl Summary {
    /// Sums a rehearsal up.
    pub fn new(file: &PolicyFile, material: &Material, rehearsal: &Rehearsal) -> Summary {
        let (release, change) = (&rehearsal.prepared.release, rehearsal.prepared.change);
        let counterfeits = release.counterfeit_count();
        let withheld = &rehearsal.prepared.membership.withheld;
        let was_published = |row: &&Row| {
            let record = material.history().record(material.table().key(**row));
            record.is_some_and(|record| record.is_published())
        };
        let taken_out = withheld.iter().filter(was_published).count() as u64;
        Summary {
            series: file.series.name.clone(),
            release: release.number,
            label: release.label.clone(),
            view: rehearsal.prepared.view().map(|view| ViewSummary::new(view, file, &rehearsal.prepared.schema)),
            promise: file.terms().sentence,
            people: material.table().len() as u64,
            arrived: change.arrived,
            returned: change.returned,
            left: change.left,
            quasi_changed: change.quasi_changed,
            sensitive_changed: change.sensitive_changed,
            published: release.row_count() as u64 - counterfeits,
            withheld: withheld.len() as u64,
            waiting: withheld.len() as u64 - taken_out,
            taken_out,
            groups: release.group_count() as u64,
            counterfeits,
            value_sets: rehearsal.prepared.history.value_sets.len() as u64,
            loss: rehearsal.loss.to_json(),
            query_error: rehearsal.query_error.as_ref().map(|error| error.median),
            series_risk: rehearsal.prepared.series_risk().map(|risk| risk.to_string()),
            needs_reason: rehearsal.prepared.series_risk().is_some() && file.reasons.accept_series_risk.is_none(),
            findings: rehearsal.prepared.findings().iter().map(ToString::to_string).collect(),
            notes: material.notes().iter().chain(&rehearsal.warnings).cloned().collect(),
        }
    }

    /// The summary as text, below a headline.
    pub fn text(&self, headline: &str) -> String {
        let mut out = format!("{headline}\n\n");
        let mut line = |name: &str, text: String| {
            let _ = writeln!(out, "  {name:<13} {text}");
        };
        if let Some(view) = &self.view {
            view.lines(&mut line);
        }
        line(
            "people",
            format!(
                "{}: {} arrived, {} returned, {} left",
                number(self.people),
                number(self.arrived),
                number(self.returned),
                number(self.left)
            ),
        );
        if self.quasi_changed + self.sensitive_changed > 0 {
            let (quasi, sensitive) = (number(self.quasi_changed), number(self.sensitive_changed));
            line("changed", format!("{quasi} other quasi values, {sensitive} another sensitive value"));
        }
        let rows = self.published + self.counterfeits;
        line("published", format!("{} in {}", people(self.published), counted(self.groups, "group", "groups")));
        line(
            "counterfeits",
            format!("{} ({} of rows)", number(self.counterfeits), percent(share(self.counterfeits, rows))),
        );
        let parts = match self.taken_out {
            0 => String::new(),
            out => format!(": {} published before and out, {} waiting", number(out), number(self.waiting)),
        };
        line(
            "withheld",
            format!("{} ({} of people){parts}", number(self.withheld), percent(share(self.withheld, self.people))),
        );
        if self.view.is_none() {
            line("value sets", number(self.value_sets));
        }
        line("loss", loss_line(&self.loss));
        line("", loss_more(&self.loss));
        if let Some(error) = self.query_error {
            line("count queries", format!("median error {} over random count queries", percent(error)));
        }
        match self.findings.is_empty() {
            true => line("promise", format!("kept. {}", self.promise)),
            false => line("promise", format!("BROKEN, on made-up data. {}", self.promise)),
        }
        for finding in &self.findings {
            line("finding", finding.clone());
        }
        if let Some(risk) = &self.series_risk {
            line("series", risk.clone());
        }
        if self.needs_reason {
            line(
                "needs",
                "accept_series_risk = \"your reason\" under [promise], or publishing ends with exit code 6".into(),
            );
        }
        for note in &self.notes {
            line("note", note.clone());
        }
        out
    }
}

/// Loss in one line: the mean, then each attribute.
pub fn loss_line(loss: &serde_json::Value) -> String {
    let mut text = percent(loss["leaf_share"].as_f64().unwrap_or(0.0));
    let attributes = loss["attributes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let parts: Vec<String> = attributes
        .iter()
        .map(|attribute| {
            let name = attribute["name"].as_str().unwrap_or_default();
            format!("{name} {}", percent(attribute["leaf_share"].as_f64().unwrap_or(0.0)))
        })
        .collect();
    let _ = write!(text, " ({})", parts.join(", "));
    text
}

/// The other measures of loss in one line: of paper 001 in all and per person, and of group sizes.
pub fn loss_more(loss: &serde_json::Value) -> String {
    let of = |name: &str| loss[name].as_f64().unwrap_or(0.0);
    format!(
        "information loss {:.2}, {:.4} a person; discernability {}; C_avg {:.3}",
        of("information_loss"),
        of("information_loss_per_person"),
        number(loss["discernability"].as_u64().unwrap_or(0)),
        of("c_avg")
    )
}

/// A share, 0 of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Finds a release by its folder, its number or its label, and reads it as a recipient would.
pub fn read_release(name: Option<&str>, common: &Common, screen: &Screen) -> Result<(PathBuf, Published), Failure> {
    let folder = match name {
        Some(path) if Path::new(path).join(folder::MANIFEST).exists() => PathBuf::from(path),
        name => find_release(name, common, screen)?,
    };
    let bar = screen.steps(1);
    bar.set_message("reading the release");
    let published = folder::read(&folder).map_err(|error| failure(error.into(), screen))?;
    bar.finish_and_clear();
    Ok((folder, published))
}

fn find_release(name: Option<&str>, common: &Common, screen: &Screen) -> Result<PathBuf, Failure> {
    let store = Store::open_read(Arc::new(RealDisk), &common.project);
    let store = store.map_err(|error| failure(error.into(), screen))?;
    let wanted = |number: u32, label: &str| match name {
        None => true,
        Some(name) => label == name || name.trim_start_matches('r').parse() == Ok(number),
    };
    let found = store.publications().filter(|publication| wanted(publication.number, &publication.label)).last();
    let is_adopted = |number: u32| {
        store.events().iter().any(|event| {
            event.is_adoption() && event.publication().is_some_and(|publication| publication.number == number)
        })
    };
    match found {
        Some(publication) if is_adopted(publication.number) => {
            let folder = store.release_folder(publication.number);
            let message = format!(
                "release {} was made elsewhere and is kept as it came, in {}; tacenda audit reads it",
                publication.number,
                folder.display()
            );
            Err(Failure::new("U205", 2, message))
        }
        Some(publication) => Ok(store.release_folder(publication.number)),
        None => Err(Failure::new("U202", 2, "there is no such release; tacenda log lists them")),
    }
}

/// The words that name the project folder in a command a user may copy; none for this folder.
pub fn project_words(common: &Common) -> String {
    match common.project.as_os_str() == "." {
        true => String::new(),
        false => format!(" -C {}", common.project.display()),
    }
}
