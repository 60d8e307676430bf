//! One exception, with the code and the exit code that the command has.

use crate::plain;
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use serde_json::{Value, json};
use tacenda::audit::Finding;
use tacenda::publish::{ProjectError, PublishError};
use tacenda::use_cases::UseCaseError;

create_exception!(
    tacenda,
    TacendaError,
    PyException,
    "Nothing was published. `code` has a page in `tacenda explain`, `exit_code` is what the command would end \
     with, `findings` is what the auditor found. The message holds no cell values."
);

/// The exception for an error of the library.
pub fn raise(py: Python<'_>, error: impl Into<UseCaseError>) -> PyErr {
    let error = error.into();
    let found: &[Finding] = match &error {
        UseCaseError::Project(ProjectError::Publish(PublishError::Refused(findings))) => findings,
        _ => &[],
    };
    new(py, error.code(), error.exit_code(), &error.to_string(), &found.iter().map(finding).collect())
}

/// The exception with these words.
pub fn new(py: Python<'_>, code: &str, exit_code: u8, message: &str, findings: &Value) -> PyErr {
    // The faults of a policy file carry their codes already.
    let text = if message.starts_with(code) { message.to_string() } else { format!("{code}: {message}") };
    let raised = TacendaError::new_err(text);
    let value = raised.value(py);
    let told = value
        .setattr("code", code)
        .and_then(|()| value.setattr("exit_code", exit_code))
        .and_then(|()| value.setattr("findings", plain::to_python(py, findings)?));
    told.err().unwrap_or(raised)
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
