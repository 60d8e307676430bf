//! An answer of the library as the Python class that is named like its type.

use crate::plain;
use pyo3::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

/// The answer. `tacenda.answers` has a class for every type that the command prints as JSON.
pub fn answer<T: JsonSchema + Serialize>(py: Python<'_>, report: &T) -> PyResult<Py<PyAny>> {
    // Not by way of the text: reading it back may change the last digit of a number.
    let facts = serde_json::to_value(report).expect("an answer becomes JSON");
    let class = py.import("tacenda.answers")?.getattr(&*T::schema_name())?;
    Ok(class.call1((plain::to_python(py, &facts)?,))?.unbind())
}
