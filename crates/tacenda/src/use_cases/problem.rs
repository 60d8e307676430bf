//! One problem behind an error, for programs.

use crate::audit::Finding;
use crate::ingest::Problem;
use schemars::JsonSchema;
use serde::Serialize;

/// One problem with a table, a policy file or a release.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
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

impl ProblemReport {
    /// A problem of a table, without its cells.
    pub(super) fn of_problem(problem: &Problem) -> ProblemReport {
        let title = problem.kind.title();
        ProblemReport {
            code: problem.code().to_string(),
            message: if problem.detail.is_empty() { title.into() } else { format!("{title}: {}", problem.detail) },
            column: problem.column.clone(),
            count: Some(problem.rows),
            lines: problem.places.clone(),
            way_out: Some(problem.way_out().to_string()),
        }
    }

    /// Something that the gate found.
    pub(super) fn of_finding(finding: &Finding) -> ProblemReport {
        ProblemReport {
            code: finding.fault.code().to_string(),
            message: finding.fault.title().to_string(),
            count: Some(finding.people),
            ..ProblemReport::default()
        }
    }
}
