//! A release as Python sees it.

use crate::answer::answer;
use crate::frame::Frame;
use crate::{error, plain};
use arrow_array::{ArrayRef, Int32Array, RecordBatch, UInt32Array};
use arrow_schema::{DataType, Field, Schema as Columns};
use pyo3::prelude::*;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::folder::{Issue, ReceivedRelease};
use tacenda::measure::Loss;
use tacenda::model::{Release, Schema};
use tacenda::promise::PolicyFile;
use tacenda::publish::Judged;
use tacenda::use_cases::{CountReport, PublishReport, Rehearsed};
use tacenda::{folder, measure};

/// A release that the auditor found no fault with.
#[pyclass(name = "Release", frozen, module = "tacenda")]
pub struct PyRelease {
    release: Release,
    /// Its columns: those of the policy, or of the view it is.
    schema: Schema,
    policy: PolicyFile,
    loss: Loss,
    /// What only its maker knows; none for one that is read back.
    private: Option<Private>,
    published: Option<PublishReport>,
}

/// Private results, as plain data.
struct Private {
    withheld: usize,
    change: Value,
    findings: Value,
    warnings: Vec<String>,
}

impl PyRelease {
    /// A release that was just made.
    pub fn made(made: Judged, schema: Schema, policy: PolicyFile, published: Option<PublishReport>) -> PyRelease {
        let change = json!({
            "arrived": made.change.arrived,
            "returned": made.change.returned,
            "left": made.change.left,
            "quasi_changed": made.change.quasi_changed,
            "sensitive_changed": made.change.sensitive_changed,
            "unchanged": made.change.unchanged,
        });
        let findings = made.findings.iter().map(error::finding).collect();
        let private = Some(Private { withheld: made.withheld, change, findings, warnings: made.warnings });
        PyRelease { release: made.release, schema, policy, loss: made.loss, private, published }
    }

    /// A release of a project that was just rehearsed or published.
    pub fn rehearsed(rehearsed: Rehearsed, published: Option<PublishReport>) -> PyRelease {
        let schema = rehearsed.rehearsal.prepared.schema.clone();
        let policy = rehearsed.project.policy().clone();
        PyRelease::made(rehearsed.rehearsal.into(), schema, policy, published)
    }

    /// A release that was published before, as its folder has it.
    pub fn read(received: ReceivedRelease, policy: PolicyFile, published: PublishReport) -> PyRelease {
        let ReceivedRelease { release, schema, promise, .. } = received;
        let loss = measure::loss(&release, &schema, promise.terms().least_group);
        PyRelease { release, schema, policy, loss, private: None, published: Some(published) }
    }
}

/// Whether a place is a URL: it is kept as a path by its looks only.
fn is_url(place: &Path) -> bool {
    place.to_str().is_some_and(|place| place.contains("://"))
}

impl PyRelease {
    fn place(&self) -> Option<&Path> {
        self.published.as_ref().map(|report| report.folder.as_path())
    }
}

#[pymethods]
impl PyRelease {
    /// Its number, from 1.
    #[getter]
    fn number(&self) -> u32 {
        self.release.number
    }

    /// Its label.
    #[getter]
    fn label(&self) -> &str {
        &self.release.label
    }

    /// The promise, in one sentence.
    #[getter]
    fn promise(&self) -> String {
        self.policy.terms().sentence
    }

    /// The published rows, counterfeits included: what the Parquet file of the release holds.
    #[getter]
    fn frame(&self, py: Python<'_>) -> Frame {
        let issue = Issue { release: &self.release, schema: &self.schema, policy: &self.policy };
        py.detach(|| Frame::new(folder::frame(&issue)))
    }

    /// Per group its rows and how many of them are counterfeits.
    #[getter]
    fn groups(&self) -> Frame {
        let release = &self.release;
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
        let schema = Arc::new(Columns::new(fields));
        let columns = columns.into_iter().map(|(_, column)| column).collect();
        let batch = RecordBatch::try_new(Arc::clone(&schema), columns).expect("every column has every group");
        Frame::new((schema, vec![batch]))
    }

    /// Counts people who meet a condition, such as `age >= 65 and disease = flu`.
    ///
    /// >>> import pandas, tacenda
    /// >>> policy = {
    /// ...     "policy": 1,
    /// ...     "series": {"name": "stays"},
    /// ...     "columns": {
    /// ...         "patient": {"role": "identifier"},
    /// ...         "age": {"role": "quasi", "type": "integer", "domain": [0, 120]},
    /// ...         "disease": {"role": "sensitive", "type": "category"},
    /// ...     },
    /// ...     "promise": {"model": "m-invariance", "m": 2},
    /// ... }
    /// >>> stays = pandas.DataFrame({
    /// ...     "patient": ["p1", "p2", "p3", "p4"], "age": [20, 22, 61, 65], "disease": ["flu", "mumps", "flu", "mumps"],
    /// ... })
    /// >>> counted = tacenda.publish(stays, policy, seed=1).count("age >= 60 and disease = flu")
    /// >>> counted.lowest, counted.estimate, counted.highest
    /// (1, 1.0, 1)
    #[pyo3(signature = (r#where=""))]
    fn count(&self, py: Python<'_>, r#where: &str) -> PyResult<Py<PyAny>> {
        let counted = py.detach(|| folder::count(&self.release, &self.schema, r#where));
        let counted = counted.map_err(|fault| error::raise(py, fault))?;
        let (estimate, lowest, highest, notes) = (counted.estimate, counted.lowest, counted.highest, counted.notes);
        answer(py, &CountReport { condition: r#where.into(), estimate, lowest, highest, notes })
    }

    /// How many rows are counterfeits.
    #[getter]
    fn counterfeits(&self) -> u64 {
        self.release.counterfeit_count()
    }

    /// Private: how many rows of the snapshot were left out of this release. None for one that was published before.
    #[getter]
    fn withheld(&self) -> Option<usize> {
        self.private.as_ref().map(|private| private.withheld)
    }

    /// How much less the release says than its snapshot.
    #[getter]
    fn loss<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::to_python(py, &self.loss.to_json())
    }

    /// Private: who came, left and changed since the last snapshot, as numbers. None for one that was published before.
    #[getter]
    fn change<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        plain::to_python(py, self.private.as_ref().map_or(&Value::Null, |private| &private.change))
    }

    /// What a study mode breaks on made-up data; always empty for real data, which would be refused.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let none = Value::Array(Vec::new());
        plain::to_python(py, self.private.as_ref().map_or(&none, |private| &private.findings))
    }

    /// Private: warnings for the steward, each with a code.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.private.as_ref().map_or_else(Vec::new, |private| private.warnings.clone())
    }

    /// A digest of everything published, for telling whether two releases are the same.
    #[getter]
    fn digest(&self) -> String {
        self.release.digest()
    }

    /// Whether it was published before, so that nothing was done.
    #[getter]
    fn already(&self) -> bool {
        self.published.as_ref().is_some_and(|report| report.already)
    }

    /// The release folder, for a release of a project that was published. None for one in object storage.
    #[getter]
    fn folder(&self) -> Option<PathBuf> {
        self.place().filter(|place| !is_url(place)).map(PathBuf::from)
    }

    /// Where the files of a release in object storage are.
    #[getter]
    fn url(&self) -> Option<String> {
        self.place().filter(|place| is_url(place)).map(|place| place.display().to_string())
    }

    /// The files in it.
    #[getter]
    fn files(&self) -> Vec<String> {
        self.published.as_ref().map_or_else(Vec::new, |report| report.files.clone())
    }

    /// Private: what the command prints for it with `--format json`; None if it was not published.
    #[getter]
    fn report(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.published.as_ref().map(|report| answer(py, report)).transpose()
    }

    fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("tacenda._html")?.call_method1("release", (slf,))
    }

    fn __len__(&self) -> usize {
        self.release.row_count()
    }

    fn __repr__(&self) -> String {
        let release = &self.release;
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
