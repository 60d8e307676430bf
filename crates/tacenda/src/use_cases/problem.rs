//! The single problems behind an error, for programs.

use crate::publish::{ProjectError, PublishError};
use crate::use_cases::UseCaseError;
use schemars::JsonSchema;
use serde::Serialize;

/// One problem with a table, a policy file or a release.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct ProblemReport {
    /// Its code.
    pub code: String,
    /// What is wrong.
    pub message: String,
    /// The column, where it is about one.
    pub column: Option<String>,
    /// How many rows or people it concerns, where they are counted.
    pub count: Option<u64>,
    /// The first lines or rows it stands in.
    pub lines: Vec<u64>,
    /// What to do.
    pub way_out: Option<String>,
}

impl UseCaseError {
    /// The single problems, where there are several. None contains a cell.
    pub fn problems(&self) -> Vec<ProblemReport> {
        let (UseCaseError::Project(error) | UseCaseError::NotMet { error, .. }) = self else { return Vec::new() };
        match error {
            ProjectError::PolicyFile(errors) => {
                let fault = |fault| ProblemReport {
                    lines: errors.line(fault).map(|line| line as u64).into_iter().collect(),
                    code: fault.kind.code().to_string(),
                    message: fault.message.clone(),
                    way_out: (!fault.help.is_empty()).then(|| fault.help.clone()),
                    ..ProblemReport::default()
                };
                errors.faults.iter().map(fault).collect()
            }
            ProjectError::Ingest(error) => {
                let problem = |problem: &crate::ingest::Problem| ProblemReport {
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
                };
                error.problems().iter().map(problem).collect()
            }
            ProjectError::Publish(PublishError::Refused(findings)) => {
                let finding = |finding: &crate::audit::Finding| ProblemReport {
                    code: finding.fault.code().to_string(),
                    message: finding.fault.title().to_string(),
                    count: Some(finding.people),
                    ..ProblemReport::default()
                };
                findings.iter().map(finding).collect()
            }
            _ => Vec::new(),
        }
    }
}
