//! A release as Python sees it.

use crate::frame::Frame;
use crate::{error, plain};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use tacenda::folder;
use tacenda::folder::Issue;
use tacenda::promise::PolicyFile;
use tacenda::publish::Judged;
use tacenda::use_cases::PublishReport;

/// A release that the auditor found no fault with.
#[pyclass(name = "Release", frozen, module = "tacenda")]
pub struct PyRelease {
    made: Judged,
    policy: PolicyFile,
    published: Option<PublishReport>,
}

impl PyRelease {
    pub fn new(made: Judged, policy: PolicyFile, published: Option<PublishReport>) -> PyRelease {
        PyRelease { made, policy, published }
    }

    fn release(&self) -> &tacenda::model::Release {
        &self.made.release
    }
}

#[pymethods]
impl PyRelease {
    /// Its number, from 1.
    #[getter]
    fn number(&self) -> u32 {
        self.release().number
    }

    /// Its label.
    #[getter]
    fn label(&self) -> &str {
        &self.release().label
    }

    /// The published rows, counterfeits included: what the Parquet file of the release holds.
    #[getter]
    fn frame(&self, py: Python<'_>) -> Frame {
        py.detach(|| Frame::new(folder::frame(&Issue::new(self.release(), &self.policy))))
    }

    /// Per group its rows and how many of them are counterfeits.
    #[getter]
    fn groups(&self) -> Frame {
        let release = self.release();
        let groups = 0..release.group_count();
        let columns: [(&str, ArrayRef); 3] = [
            ("group_id", Arc::new(Int32Array::from_iter_values(groups.clone().map(|group| group as i32 + 1)))),
            (
                "rows",
                Arc::new(UInt32Array::from_iter_values(groups.map(|group| release.group_rows(group).len() as u32))),
            ),
            ("counterfeits", Arc::new(UInt32Array::from(release.counterfeits.clone()))),
        ];
        let fields: Vec<Field> = columns
            .iter()
            .map(|(name, column)| Field::new(*name, DataType::clone(column.data_type()), false))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("every column has every group");
        Frame::new((schema, vec![batch]))
    }

    /// How many rows are counterfeits.
    #[getter]
    fn counterfeits(&self) -> u64 {
        self.release().counterfeit_count()
    }

    /// Private: how many rows of the snapshot were left out of this release.
    #[getter]
    fn withheld(&self) -> usize {
        self.made.withheld
    }

    /// How much less the release says than its snapshot.
    #[getter]
    fn loss<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::to_python(py, &self.made.loss.to_json())
    }

    /// Private: who came, left and changed since the last snapshot, as numbers.
    #[getter]
    fn change<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let change = &self.made.change;
        let numbers = json!({
            "arrived": change.arrived,
            "returned": change.returned,
            "left": change.left,
            "quasi_changed": change.quasi_changed,
            "sensitive_changed": change.sensitive_changed,
            "unchanged": change.unchanged,
        });
        plain::to_python(py, &numbers)
    }

    /// What a study mode breaks on made-up data; always empty for real data, which would be refused.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::to_python(py, &self.made.findings.iter().map(error::finding).collect::<Value>())
    }

    /// A digest of everything published, for telling whether two releases are the same.
    #[getter]
    fn digest(&self) -> String {
        self.made.release.digest()
    }

    /// The release folder, for a release of a project that was published.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.published.as_ref().map(|report| report.folder.clone())
    }

    /// The files in it.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.published.as_ref().map_or_else(Vec::new, |report| report.files.clone())
    }

    fn __len__(&self) -> usize {
        self.release().row_count()
    }

    fn __repr__(&self) -> String {
        let release = self.release();
        format!(
            "Release({} {:?}: {} rows in {} groups, {} counterfeits)",
            release.number,
            release.label,
            release.row_count(),
            release.group_count(),
            release.counterfeit_count()
        )
    }
}
