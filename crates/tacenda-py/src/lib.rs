//! Tacenda for Python, the part in Rust: frames in, frames out, and nothing decided here.
//!
//! The package `tacenda` (`python/tacenda`) is what people import; it turns what Python has (a dict, a
//! path, a pandas frame) into what this module takes (the text of a policy, Arrow's columns).

mod audit;
mod error;
mod frame;
mod plain;
mod project;
mod release;
mod series;

use pyo3::prelude::*;
use pyo3::types::PyAny;
use serde_json::json;
use tacenda::promise::entries;

/// The promises there are: name, what it is for, parameters, paper.
#[pyfunction]
fn promises(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows = entries().map(|entry| {
        json!({ "model": entry.name, "line": entry.line, "parameters": entry.parameters, "paper": entry.paper })
    });
    plain::to_python(py, &rows.collect())
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("TacendaError", module.py().get_type::<error::TacendaError>())?;
    module.add_function(wrap_pyfunction!(promises, module)?)?;
    module.add_function(wrap_pyfunction!(audit::audit, module)?)?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<release::PyRelease>()?;
    module.add_class::<series::PySeries>()?;
    module.add_class::<project::PyProject>()
}
