//! Tacenda for Python, the part in Rust: requests in, answers out, and nothing decided here.
//!
//! The package `tacenda` (`python/tacenda`) is what people import. It has a function with typed keywords for every use
//! case, and hands the keywords over as a dict. [`ask::ask`] reads them into the request of the library and turns the answer
//! into the Python class that is named like its type. [`run`] is the command.

mod answer;
mod ask;
mod cluster;
mod error;
mod frame;
mod keywords;
mod objects;
mod plain;
mod release;
mod report;
mod series;
mod work;

use pyo3::prelude::*;
use pyo3::types::PyAny;
use serde_json::json;
use std::ffi::OsString;
use tacenda::promise::entries;
use tacenda::use_cases::keep_panics_quiet;

/// The promises there are: name, what it is for, parameters, paper.
#[pyfunction]
fn promises(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let rows = entries().map(|entry| {
        json!({ "model": entry.name, "line": entry.line, "parameters": entry.parameters, "paper": entry.paper })
    });
    plain::to_python(py, &rows.collect())
}

/// Runs the command with these words, the first of which is its own name. The answer is the exit code.
#[pyfunction]
fn run(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| tacenda_cli::run(words))
}

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    keep_panics_quiet();
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(promises, module)?)?;
    module.add_function(wrap_pyfunction!(run, module)?)?;
    module.add_function(wrap_pyfunction!(ask::ask, module)?)?;
    module.add_function(wrap_pyfunction!(ask::cautions, module)?)?;
    module.add_function(wrap_pyfunction!(cluster::publish_in, module)?)?;
    module.add_function(wrap_pyfunction!(objects::fetch_project, module)?)?;
    module.add_class::<cluster::PyKernel>()?;
    module.add_class::<frame::Frame>()?;
    module.add_class::<release::PyRelease>()?;
    module.add_class::<report::PyReport>()?;
    module.add_class::<series::PySeries>()
}
