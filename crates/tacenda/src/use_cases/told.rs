//! An error in full, as a person reads it: a code, what is wrong, the single problems, and the page about the code.

use crate::publish::{ProjectError, PublishError};
use crate::use_cases::{UseCaseError, explain_code};

/// An error in full.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ToldError {
    /// Its code.
    pub code: String,
    /// The exit code that goes with it.
    pub exit: u8,
    /// What is wrong.
    pub message: String,
    /// The single problems, each with its place and its way out.
    pub lines: Vec<String>,
    /// What the code means.
    pub page: String,
}

impl ToldError {
    /// Tells an error. Nothing is read again, and no cell is named.
    pub fn of(error: &UseCaseError) -> ToldError {
        let (message, lines) = told(error);
        let code = error.code();
        let page = explain_code(code).map(|page| page.explanation).unwrap_or_default();
        ToldError { code: code.into(), exit: error.exit_code(), message, lines, page }
    }
}

fn told(error: &UseCaseError) -> (String, Vec<String>) {
    match error {
        UseCaseError::NoColumns { columns } => {
            (error.to_string(), vec![format!("the files have the columns {}", columns.join(", "))])
        }
        UseCaseError::NotMet { error, notes } => {
            let (message, mut lines) = told_project(error);
            lines.extend(notes.iter().cloned());
            (message, lines)
        }
        UseCaseError::Project(error) => told_project(error),
        error => (error.to_string(), Vec::new()),
    }
}

fn told_project(error: &ProjectError) -> (String, Vec<String>) {
    match error {
        ProjectError::PolicyFile(errors) => {
            let faults = errors.faults.iter().map(|fault| {
                let line = errors.line(fault).map_or(String::new(), |line| format!(", line {line}"));
                let help = if fault.help.is_empty() { String::new() } else { format!("; {}", fault.help) };
                format!("{}{line}: {}{help}", fault.kind.code(), fault.message)
            });
            ("the policy file cannot be used".into(), faults.collect())
        }
        ProjectError::Ingest(error) if !error.problems().is_empty() => (
            "the table was not accepted; nothing was published".into(),
            error.problems().iter().map(ToString::to_string).collect(),
        ),
        ProjectError::Publish(PublishError::Refused(findings)) => (
            "the auditor refused the release; nothing was published".into(),
            findings.iter().map(ToString::to_string).collect(),
        ),
        error => (error.to_string(), Vec::new()),
    }
}
