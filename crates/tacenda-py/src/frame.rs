//! A table in Arrow's columns, that any library can take over without a copy.

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

/// A table in Arrow's columns. pandas, polars, pyarrow, duckdb and others read it through
/// `__arrow_c_stream__`; `to_pandas`, `to_polars` and `to_pyarrow` are short for that.
#[pyclass(frozen, module = "tacenda")]
pub struct Frame {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
}

impl Frame {
    pub fn new((schema, batches): (SchemaRef, Vec<RecordBatch>)) -> Frame {
        Frame { schema, batches }
    }

    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTable>> {
        Bound::new(py, PyTable::try_new(self.batches.clone(), self.schema.clone())?)
    }
}

#[pymethods]
impl Frame {
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.table(py)?.call_method0("__arrow_c_schema__")
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.table(py)?.call_method1("__arrow_c_stream__", (requested_schema,))
    }

    fn __len__(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    fn __repr__(&self) -> String {
        format!("Frame({} rows: {})", self.__len__(), self.columns().join(", "))
    }

    /// The names of the columns.
    #[getter]
    fn columns(&self) -> Vec<String> {
        self.schema.fields().iter().map(|field| field.name().clone()).collect()
    }

    /// As a pyarrow table.
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// As a pandas frame: numbers and dates are pandas intervals, closed on the left.
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        // pandas makes its intervals known to pyarrow when the first one is handed over.
        let intervals = slf.py().import("pandas")?.getattr("arrays")?.getattr("IntervalArray")?;
        intervals.call_method1("from_breaks", ([0, 1],))?.call_method0("__arrow_array__")?;
        Frame::to_pyarrow(slf)?.call_method0("to_pandas")
    }

    /// As a polars frame: numbers and dates are structs of left and right.
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("polars")?.call_method1("DataFrame", (slf,))
    }
}
