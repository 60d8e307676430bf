//! Kernels for the workers of a cluster, and a cluster that Python drives.

use crate::release::PyRelease;
use crate::work::{Errand, stop};
use crate::{error, keywords};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyIterator};
use pyo3_arrow::PyRecordBatch;
use tacenda::publish::{Access, Blob, BlobKind, Cluster, ClusterStep, Kernel, Listener, ProjectError, StepInput};
use tacenda::use_cases::{ClusterCut, Next};

/// What a kernel makes: places, kinds and bytes, one of each per blob.
type Columns<'py> = (Vec<u32>, Vec<u8>, Vec<Bound<'py, PyBytes>>);

/// A kernel, made from the bytes of a step. A worker keeps it for the whole step.
#[pyclass(name = "Kernel", frozen, module = "tacenda._native")]
pub struct PyKernel {
    inner: Kernel,
}

#[pymethods]
impl PyKernel {
    #[new]
    fn new(py: Python<'_>, task: &[u8]) -> PyResult<PyKernel> {
        let inner = Kernel::new(task).map_err(|fault| error::raise(py, fault))?;
        Ok(PyKernel { inner })
    }

    /// Encodes record batches of the table.
    fn encode<'py>(&self, py: Python<'py>, batches: Vec<PyRecordBatch>) -> Columns<'py> {
        let batches: Vec<_> = batches.into_iter().map(PyRecordBatch::into_inner).collect();
        columns(py, py.detach(|| self.inner.encode(&batches)))
    }

    /// Takes some blobs as they lie: place, kind, bytes.
    fn spread<'py>(&self, py: Python<'py>, blobs: Vec<(u32, u8, Bound<'py, PyBytes>)>) -> PyResult<Columns<'py>> {
        let read = |(place, number, bytes): &(u32, u8, Bound<'py, PyBytes>)| {
            Ok((*place, kind(*number)?, bytes.as_bytes().to_vec()))
        };
        let blobs = blobs.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| {
            let blobs: Vec<_> = blobs.iter().map(|(place, kind, bytes)| (*place, *kind, &bytes[..])).collect();
            self.inner.spread_out(&blobs)
        });
        Ok(columns(py, made))
    }

    /// Takes all blobs of one place: kind, bytes.
    fn run<'py>(&self, py: Python<'py>, place: u32, blobs: Vec<(u8, Bound<'py, PyBytes>)>) -> PyResult<Columns<'py>> {
        let read = |(number, bytes): &(u8, Bound<'py, PyBytes>)| Ok((kind(*number)?, bytes.as_bytes().to_vec()));
        let blobs = blobs.iter().map(read).collect::<PyResult<Vec<_>>>()?;
        let made = py.detach(|| {
            let blobs: Vec<_> = blobs.iter().map(|(kind, bytes)| (*kind, &bytes[..])).collect();
            self.inner.run(place, &blobs)
        });
        Ok(columns(py, made))
    }
}

fn kind(number: u8) -> PyResult<BlobKind> {
    BlobKind::numbered(number).ok_or_else(|| PyValueError::new_err("there is no such kind of blob"))
}

fn columns(py: Python<'_>, blobs: Vec<Blob>) -> Columns<'_> {
    let mut made: Columns<'_> = Default::default();
    for blob in blobs {
        made.0.push(blob.place);
        made.1.push(blob.kind.number());
        made.2.push(PyBytes::new(py, &blob.bytes));
    }
    made
}

/// A cluster that Python drives: an object with a method `step`, which gives places, kinds and bytes.
struct PyCluster(Py<PyAny>);

impl PyCluster {
    fn ask<'py>(&self, py: Python<'py>, step: ClusterStep<'_>) -> PyResult<Bound<'py, PyAny>> {
        let kinds: Option<Vec<u32>> = match step.from {
            StepInput::Table => None,
            StepInput::Kept(kinds) => Some(kinds.iter().map(|kind| u32::from(kind.number())).collect()),
        };
        let bytes = |task: Option<Vec<u8>>| task.map(|task| PyBytes::new(py, &task));
        let more = columns(py, step.more);
        let ways = (step.keeps, step.is_large);
        let words = (step.name, kinds, bytes(step.spread), bytes(step.each_place), more, ways);
        self.0.bind(py).call_method1("step", words)
    }
}

impl Cluster for PyCluster {
    fn step(&mut self, step: ClusterStep<'_>, listener: &mut Listener<'_>) -> Result<(), ProjectError> {
        let said = Python::attach(|py| Ok(self.ask(py, step)?.try_iter()?.unbind()));
        let said: Py<PyIterator> = said.unwrap_or_else(|error| stop(error));
        let next = |py: Python<'_>| -> PyResult<Option<Blob>> {
            let Some(blob) = said.bind(py).clone().next() else { return Ok(None) };
            let (place, number, bytes): (u32, u8, Bound<'_, PyBytes>) = blob?.extract()?;
            Ok(Some(Blob { place, kind: kind(number)?, bytes: bytes.as_bytes().to_vec() }))
        };
        // The listener does not hold the interpreter: its threads may need it, if the project is in object storage.
        while let Some(blob) = Python::attach(next).unwrap_or_else(|error| stop(error)) {
            listener(blob)?;
        }
        Ok(())
    }
}

/// Publishes a table that a cluster has. `cluster` runs the steps; `columns` are those of the table.
#[pyfunction]
#[pyo3(signature = (said, cluster, columns, cut, teller=None))]
pub fn publish_in(
    py: Python<'_>,
    said: Bound<'_, PyDict>,
    cluster: Py<PyAny>,
    columns: Vec<String>,
    cut: (usize, usize),
    teller: Option<Py<PyAny>>,
) -> PyResult<PyRelease> {
    let request = keywords::Keywords(said).remembered_release()?;
    let folder = request.project.clone();
    let (errand, mut cluster) = (Errand::new(teller), PyCluster(cluster));
    let cut = ClusterCut { parts: cut.0, unit: cut.1 };
    match errand.look(py, |tell| request.prepare_in(&mut cluster, &columns, cut, tell))? {
        Next::Release(mut rehearsed) => {
            let report = errand.write(py, |tell| rehearsed.publish(tell))?;
            Ok(PyRelease::rehearsed(*rehearsed, Some(report)))
        }
        Next::Already(report) | Next::Committed(report) => {
            let read = errand.look(py, |_| Ok((folder.received(&report)?, folder.open(Access::Look)?)));
            let (received, project) = read?;
            Ok(PyRelease::read(received, project.policy().clone(), report))
        }
    }
}
