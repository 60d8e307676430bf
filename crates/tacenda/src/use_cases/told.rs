//! An error in full: a code, what is wrong, the single problems for people and for programs, and the page about the code.
//!
//! Only this place looks into an error. The command, Python and the console tell what they find here.

use crate::ingest::{IngestError, SaidIn};
use crate::publish::{ProjectError, PublishError};
use crate::use_cases::{ProblemReport, UseCaseError, explain_code};

/// An error in full.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ToldError {
    /// Its code.
    pub code: String,
    /// The exit code that goes with it.
    pub exit: u8,
    /// What is wrong.
    pub message: String,
    /// The single problems, each with its place and its way out.
    pub lines: Vec<String>,
    /// Why a promise cannot be met.
    pub notes: Vec<String>,
    /// The single problems, for programs.
    pub problems: Vec<ProblemReport>,
    /// What the code means.
    pub page: String,
}

impl ToldError {
    /// Tells an error. Nothing is read again, and no cell is named.
    pub fn of(error: &UseCaseError) -> ToldError {
        ToldError::rejecting(error, "the table was not accepted; nothing was published")
    }

    /// The same where inputs that are not accepted are told in other words.
    pub fn rejecting(error: &UseCaseError, rejected: &str) -> ToldError {
        let told = match error {
            UseCaseError::NoColumns { columns } => ToldError {
                message: error.to_string(),
                lines: vec![format!("the files have the columns {}", columns.join(", "))],
                ..ToldError::default()
            },
            UseCaseError::NotMet { error, notes } => {
                ToldError { notes: notes.clone(), ..ToldError::of_project(error, rejected) }
            }
            UseCaseError::Project(error) => ToldError::of_project(error, rejected),
            error => ToldError { message: error.to_string(), ..ToldError::default() },
        };
        let code = error.code();
        let page = explain_code(code).map(|page| page.explanation).unwrap_or_default();
        ToldError { code: code.into(), exit: error.exit_code(), page, ..told }
    }

    fn of_project(error: &ProjectError, rejected: &str) -> ToldError {
        match error {
            ProjectError::PolicyFile(errors) => ToldError::of_each(
                "the policy file cannot be used",
                &errors.faults,
                |fault| {
                    let line = errors.line(fault).map_or(String::new(), |line| format!(", line {line}"));
                    let help = if fault.help.is_empty() { String::new() } else { format!("; {}", fault.help) };
                    format!("{}{line}: {}{help}", fault.kind.code(), fault.message)
                },
                |fault| ProblemReport {
                    lines: errors.line(fault).map(|line| line as u64).into_iter().collect(),
                    code: fault.kind.code().to_string(),
                    message: fault.message.clone(),
                    way_out: (!fault.help.is_empty()).then(|| fault.help.clone()),
                    ..ProblemReport::default()
                },
            ),
            ProjectError::Ingest(error) if !error.problems().is_empty() => {
                let rejected = if is_about_view(error) { VIEW_REJECTED } else { rejected };
                ToldError::of_each(rejected, error.problems(), ToString::to_string, ProblemReport::of_problem)
            }
            ProjectError::Publish(PublishError::Refused(findings)) => {
                let refused = "the auditor refused the release; nothing was published";
                ToldError::of_each(refused, findings, ToString::to_string, ProblemReport::of_finding)
            }
            error => ToldError { message: error.to_string(), ..ToldError::default() },
        }
    }

    /// A message, and each single problem in both forms.
    fn of_each<T>(
        message: &str,
        all: &[T],
        line: impl Fn(&T) -> String,
        problem: impl Fn(&T) -> ProblemReport,
    ) -> ToldError {
        let (lines, problems) = all.iter().map(|one| (line(one), problem(one))).unzip();
        ToldError { message: message.into(), lines, problems, ..ToldError::default() }
    }
}

const VIEW_REJECTED: &str = "the file of a view that was made elsewhere was not accepted; nothing was published";

fn is_about_view(error: &IngestError) -> bool {
    error.problems().iter().any(|problem| problem.said_in == SaidIn::View)
}
