//! A table in Arrow's columns, that any library can take over without a copy.

use arrow_array::cast::AsArray;
use arrow_array::{Array, RecordBatch};
use arrow_cast::display::{ArrayFormatter, FormatOptions};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;
use std::sync::Arc;

/// A table in Arrow's columns. pandas, polars, pyarrow, duckdb and others read it through
/// `__arrow_c_stream__`; `to_pandas`, `to_polars` and `to_pyarrow` are short for that.
///
/// >>> frame = tacenda.publish(stays, "stays/tacenda.toml", seed=1).frame
/// >>> len(frame), frame.columns
/// (6, ['group_id', 'age', 'age_maybe_missing', 'disease', 'row_weight'])
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

    /// The same without the names of extension types: an interval is a plain structure of left and right.
    fn plain(&self) -> Result<Frame, ArrowError> {
        let field = |field: &Arc<Field>| {
            let mut metadata = field.metadata().clone();
            metadata.retain(|key, _| !key.starts_with("ARROW:extension:"));
            Field::clone(field).with_metadata(metadata)
        };
        let fields: Vec<Field> = self.schema.fields().iter().map(field).collect();
        let schema = Arc::new(Schema::new(fields));
        let batch = |batch: &RecordBatch| RecordBatch::try_new(Arc::clone(&schema), batch.columns().to_vec());
        let batches = self.batches.iter().map(batch).collect::<Result<Vec<RecordBatch>, ArrowError>>()?;
        Ok(Frame { schema, batches })
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
    ///
    /// >>> tacenda.publish(stays, "stays/tacenda.toml", seed=1).frame.to_pyarrow().num_rows
    /// 6
    fn to_pyarrow<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        slf.py().import("pyarrow")?.call_method1("table", (slf,))
    }

    /// As a pandas frame: numbers and dates are pandas intervals, closed on the left.
    ///
    /// >>> frame = tacenda.publish(stays, "stays/tacenda.toml", seed=1).frame.to_pandas()
    /// >>> frame["age"].dtype.closed
    /// 'left'
    fn to_pandas<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        // pandas makes its intervals known to pyarrow when the first one is handed over.
        let intervals = slf.py().import("pandas")?.getattr("arrays")?.getattr("IntervalArray")?;
        intervals.call_method1("from_breaks", ([0, 1],))?.call_method0("__arrow_array__")?;
        Frame::to_pyarrow(slf)?.call_method0("to_pandas")
    }

    /// As a polars frame: numbers and dates are structs of left and right.
    ///
    /// >>> frame = tacenda.publish(stays, "stays/tacenda.toml", seed=1).frame.to_polars()
    /// >>> frame["age"].struct.fields
    /// ['left', 'right']
    fn to_polars<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let plain = slf.get().plain().map_err(|error| PyValueError::new_err(error.to_string()))?;
        slf.py().import("polars")?.call_method1("DataFrame", (plain,))
    }

    /// The first rows as texts, for a look. An interval is written as `[20, 30)`.
    ///
    /// >>> len(tacenda.publish(stays, "stays/tacenda.toml", seed=1).frame.head(2))
    /// 2
    #[pyo3(signature = (rows=10))]
    fn head(&self, rows: usize) -> PyResult<Vec<Vec<String>>> {
        let mut out = Vec::new();
        for batch in &self.batches {
            let batch = batch.slice(0, batch.num_rows().min(rows.saturating_sub(out.len())));
            let texts = batch.columns().iter().map(|column| texts(column));
            let columns = texts.collect::<Result<Vec<Vec<String>>, ArrowError>>();
            let columns = columns.map_err(|error| PyValueError::new_err(error.to_string()))?;
            out.extend((0..batch.num_rows()).map(|row| columns.iter().map(|column| column[row].clone()).collect()));
        }
        Ok(out)
    }

    fn _repr_html_(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("tacenda._html")?.call_method1("frame", (slf,))
    }
}

/// The cells of a column as texts.
fn texts(column: &dyn Array) -> Result<Vec<String>, ArrowError> {
    if let DataType::Struct(fields) = column.data_type()
        && fields.len() == 2
    {
        let (left, right) = (texts(column.as_struct().column(0))?, texts(column.as_struct().column(1))?);
        let cell = |(row, (left, right)): (usize, (String, String))| match column.is_null(row) {
            true => String::new(),
            false => format!("[{left}, {right})"),
        };
        return Ok(left.into_iter().zip(right).enumerate().map(cell).collect());
    }
    let formatter = ArrayFormatter::try_new(column, &FormatOptions::default())?;
    let text = |row| {
        let text = formatter.value(row).try_to_string()?;
        // Bounds are numbers with decimals and times of day, because the intervals of pandas are.
        let short = match column.data_type() {
            DataType::Float64 => text.strip_suffix(".0"),
            DataType::Timestamp(..) => text.strip_suffix("T00:00:00"),
            _ => None,
        };
        Ok(short.map(str::to_string).unwrap_or(text))
    };
    (0..column.len()).map(text).collect()
}
