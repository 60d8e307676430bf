//! One exception, with the code and the exit code that the command has. Its classes are in `tacenda._errors`.

use crate::plain;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tacenda::audit::Finding;
use tacenda::publish::{ProjectError, PublishError};
use tacenda::use_cases::{ProblemReport, ToldError, UseCaseError};

/// The exception for an error of the library.
pub fn raise(py: Python<'_>, error: impl Into<UseCaseError>) -> PyErr {
    let error = error.into();
    let found: &[Finding] = match &error {
        UseCaseError::Project(ProjectError::Publish(PublishError::Refused(findings))) => findings,
        _ => &[],
    };
    let told = ToldError::of(&error);
    let mut message = error.to_string();
    // Problems are handed over as they are.
    let alone = told.lines.iter().filter(|_| told.problems.is_empty());
    alone.for_each(|line| message.push_str(&format!("; {line}")));
    told.notes.iter().for_each(|note| message.push_str(&format!("\n  {note}")));
    let findings = found.iter().map(finding).collect();
    new(py, error.code(), error.exit_code(), &message, &findings, &told.problems)
}

/// The exception with these words.
pub fn new(
    py: Python<'_>,
    code: &str,
    exit_code: u8,
    message: &str,
    findings: &Value,
    problems: &[ProblemReport],
) -> PyErr {
    let made = || -> PyResult<PyErr> {
        let message = in_python(message);
        // The faults of a policy file carry their codes already.
        let text = if message.starts_with(code) { message } else { format!("{code}: {message}") };
        let mut problems = serde_json::to_value(problems).expect("problems become JSON");
        for problem in problems.as_array_mut().into_iter().flatten() {
            for part in ["message", "way_out"] {
                if let Some(text) = problem[part].as_str() {
                    problem[part] = in_python(text).into();
                }
            }
        }
        let (findings, problems) = (plain::to_python(py, findings)?, plain::to_python(py, &problems)?);
        let raised = py.import("tacenda._errors")?.getattr("raised")?;
        Ok(PyErr::from_value(raised.call1((text, code, exit_code, findings, problems))?))
    };
    made().unwrap_or_else(|error| error)
}

/// A finding as a dict.
pub fn finding(finding: &Finding) -> Value {
    json!({
        "code": finding.fault.code(),
        "release": finding.release,
        "people": finding.people,
        "groups": finding.groups,
        "example_group": finding.example,
        "message": finding.to_string(),
    })
}

/// The words with options as keywords: `--date-format` is `date_format`. A whole command, such as `tacenda new --name NAME`,
/// stays as it is, because the package brings the command along.
fn in_python(words: &str) -> String {
    let mut out = String::with_capacity(words.len());
    let mut in_command = false;
    for word in words.split_inclusive([' ', '\n']) {
        in_command |= word.trim_start_matches(['(', '"']).starts_with("tacenda ");
        let option = word.trim_start_matches(['(', '"']);
        match option.strip_prefix("--").filter(|_| !in_command) {
            Some(name) if name.starts_with(|letter: char| letter.is_ascii_lowercase()) => {
                let end = name.find(|letter: char| !letter.is_ascii_lowercase() && letter != '-').unwrap_or(name.len());
                out.push_str(&word[..word.len() - option.len()]);
                out.push_str(&name[..end].replace('-', "_"));
                out.push_str(&name[end..]);
            }
            _ => out.push_str(word),
        }
        // A command ends with its clause.
        in_command &= !word.trim_end().ends_with([';', '.', ',', ':', ')']);
    }
    out
}
