//! A report as Python sees it: its facts, and every form that the command prints.

use crate::answer::answer;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tacenda::report::TextOptions;
use tacenda::use_cases::{AuditAnswer, FailOn};
use tacenda::{report, use_cases};

/// A report, of an audit or of a project.
#[pyclass(name = "Report", frozen, module = "tacenda._native")]
pub struct PyReport {
    pub answer: AuditAnswer,
}

#[pymethods]
impl PyReport {
    /// Everything in it, as `docs/schema/report.json` says.
    fn facts(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        answer(py, &self.answer.report)
    }

    /// One of the forms that the command prints.
    fn form(&self, form: &str) -> PyResult<String> {
        let report = &self.answer.report;
        Ok(match form {
            "text" => report::text(report, TextOptions::default()),
            "brief" => report::brief(report),
            "explained" => use_cases::explain_audit(report),
            "json" => report::json(report),
            "sarif" => report::sarif(report),
            "junit" => report::junit(report),
            "markdown" => report::markdown(report),
            "html" => report::html(report),
            _ => {
                return Err(PyValueError::new_err(
                    "a form is text, brief, explained, json, sarif, junit, markdown or html",
                ));
            }
        })
    }

    /// What the command would end with.
    fn exit_code(&self, fail_on: &str) -> PyResult<u8> {
        let on = match fail_on {
            "severe" => FailOn::Severe,
            "any" => FailOn::Any,
            "found" => FailOn::Found,
            "never" => FailOn::Never,
            _ => return Err(PyValueError::new_err("fail_on is severe, any, found or never")),
        };
        Ok(self.answer.exit_code(on))
    }
}
