//! A series in memory.

use crate::error;
use crate::release::PyRelease;
use crate::work::Errand;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::path::PathBuf;
use tacenda::ingest::policy_file::parse_policy;
use tacenda::ingest::{Given, ReadOptions, Source};
use tacenda::model::Seed;
use tacenda::publish::InMemory;

/// A series that lives as long as this object.
#[pyclass(name = "Series", module = "tacenda._native")]
pub struct PySeries {
    inner: InMemory,
}

#[pymethods]
impl PySeries {
    /// `policy` is the text of a policy file; hierarchy files are looked for beside `path`.
    #[new]
    #[pyo3(signature = (policy, path, seed=None))]
    fn new(py: Python<'_>, policy: &str, path: PathBuf, seed: Option<[u8; 32]>) -> PyResult<PySeries> {
        let loaded = parse_policy(policy, &path).map_err(|fault| error::raise(py, fault))?;
        let inner = InMemory::new(loaded, seed.map(Seed)).map_err(|fault| error::raise(py, fault))?;
        Ok(PySeries { inner })
    }

    /// Publishes `data`, a frame or a path. `teller` is called before each step.
    #[pyo3(signature = (data, label=None, delta=false, threads=0, teller=None))]
    fn publish(
        &mut self,
        py: Python<'_>,
        data: PyData,
        label: Option<String>,
        delta: bool,
        threads: usize,
        teller: Option<Py<PyAny>>,
    ) -> PyResult<PyRelease> {
        let options = ReadOptions { threads, show_values: false };
        // The series changes after the last step, so it may end at any of them.
        let made = Errand::new(teller).look(py, |tell| {
            let step = |what: &str| tell(InMemory::STEPS, what);
            Ok(self.inner.publish(&Given::from(data).open()?, delta, label.as_deref(), &options, &step)?)
        })?;
        let policy = self.inner.policy().clone();
        Ok(PyRelease::made(made, policy.schema.clone(), policy, None))
    }

    /// How many releases there are.
    #[getter]
    fn releases(&self) -> u32 {
        self.inner.releases()
    }

    /// The name of the series.
    #[getter]
    fn name(&self) -> &str {
        &self.inner.policy().series.name
    }

    /// What is worth saying about the policy though it is no fault.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.inner.policy_notes().to_vec()
    }
}

/// A table: a file, or a frame in memory.
pub enum PyData {
    /// A file.
    Path(PathBuf),
    /// Anything with `__arrow_c_stream__`.
    Frame(PyTable),
}

impl<'a, 'py> FromPyObject<'a, 'py> for PyData {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<PyData> {
        match object.extract::<PathBuf>() {
            Ok(path) => Ok(PyData::Path(path)),
            Err(_) => object.extract::<PyTable>().map(PyData::Frame).map_err(|error| {
                let library = object.get_type().fully_qualified_name().map(|name| name.to_string()).unwrap_or_default();
                PyTypeError::new_err(format!("a table of {library} could not be taken over through Arrow: {error}"))
            }),
        }
    }
}

impl From<PyData> for Given {
    fn from(data: PyData) -> Given {
        match data {
            PyData::Path(path) => Given::Path(path),
            PyData::Frame(table) => {
                let (batches, schema) = table.into_inner();
                Given::Frame(Source::frame("the frame", schema, batches))
            }
        }
    }
}
