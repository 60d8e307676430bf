//! An audit of releases made by anyone.

use crate::series::PyData;
use crate::{error, plain};
use pyo3::prelude::*;
use tacenda::ingest::Given;
use tacenda::report::{TextOptions, text};
use tacenda::use_cases::{AuditRequest, Said, SubjectRequest, UseCaseError};

/// Attacks `releases`, in order of time. Answers with the report as plain data and as text.
#[pyfunction]
#[pyo3(signature = (releases, quasi, sensitive, truth, id, k, l, presence, missing))]
#[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
pub fn audit<'py>(
    py: Python<'py>,
    releases: Vec<PyData>,
    quasi: Vec<String>,
    sensitive: Vec<String>,
    truth: Vec<PyData>,
    id: Option<String>,
    k: u32,
    l: u32,
    presence: bool,
    missing: Option<String>,
) -> PyResult<(Bound<'py, PyAny>, String)> {
    let subject = SubjectRequest {
        releases: releases.into_iter().map(Given::from).collect(),
        truth: truth.into_iter().map(Given::from).collect(),
        quasi,
        sensitive,
        id,
        missing: missing.into_iter().map(|text| Said { column: None, text }).collect(),
        ..SubjectRequest::default()
    };
    judged(
        py,
        AuditRequest { subject, k: Some(k), l: Some(l), attacker: attacker(presence), ..AuditRequest::default() },
    )
}

/// What the attacker knows, where it is not what every attacker knows.
pub fn attacker(presence: bool) -> Option<String> {
    (!presence).then(|| "quasi".to_string())
}

/// Asks the library.
pub fn judged(py: Python<'_>, request: AuditRequest) -> PyResult<(Bound<'_, PyAny>, String)> {
    let answer = py.detach(|| Ok::<_, UseCaseError>(request.read(&|_, _| {})?.judge(&|_, _| {})));
    let report = answer.map_err(|fault| error::raise(py, fault))?.report;
    // Not by way of the text: reading it back may change the last digit of a number.
    let plain = serde_json::to_value(&report).unwrap_or_default();
    Ok((plain::to_python(py, &plain)?, text(&report, TextOptions::default())))
}
