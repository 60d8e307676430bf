//! Reads the Parquet form of a release, where there is no text form.

use crate::folder::order::FileColumns;
use crate::folder::parquet::{ColumnContent, columns};
use crate::folder::read::Rows;
use crate::folder::{FolderError, digest};
use crate::model::{Domain, GROUP_ID, Quasi, RECORD, Role, Span};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, RecordBatch, StringArray, StructArray};
use arrow_cast::cast;
use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Microseconds in a day.
const DAY: i64 = 86_400_000_000;

/// Reads the data file.
pub fn read_data(
    path: &Path,
    name: &str,
    shape: &FileColumns<'_>,
    counts: Option<&[(u32, u32)]>,
) -> Result<Rows, FolderError> {
    let broken = |what: String| FolderError::File { file: name.into(), what };
    let file = digest::open(path).map_err(|source| FolderError::Read { file: name.into(), source })?;
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(broken)?;
    let wanted = columns(shape);
    if !builder.schema().fields().iter().map(|field| field.name()).eq(wanted.iter().map(|(name, _)| name)) {
        return Err(broken("its columns are not those of the manifest".into()));
    }
    let mut reader = guarded(|| builder.with_batch_size(1 << 16).build()).map_err(broken)?;
    let mut rows = Rows::new(shape.schema.quasi.len());
    while let Some(batch) = guarded(|| reader.next().transpose()).map_err(broken)? {
        Batch::new(name, shape, &wanted, &batch, rows.sensitive.len())?.add(&mut rows)?;
    }
    if let Some(counts) = counts {
        let sizes =
            (0..rows.ends.len()).map(|group| rows.ends[group] - if group == 0 { 0 } else { rows.ends[group - 1] });
        if !sizes.eq(counts.iter().map(|&(rows, _)| rows)) {
            return Err(broken("its groups have other sizes than the list of counterfeits says".into()));
        }
    }
    Ok(rows)
}

/// Runs a step of the Parquet library, which panics on some damaged files.
fn guarded<T, E: Display>(step: impl FnOnce() -> Result<T, E>) -> Result<T, String> {
    match catch_unwind(AssertUnwindSafe(step)) {
        // Its message may quote contents. The first line is about structure only.
        Ok(result) => result.map_err(|error| error.to_string().lines().next().unwrap_or_default().to_string()),
        Err(_) => Err("its structure contradicts itself".into()),
    }
}

/// A batch of rows with its columns found.
struct Batch<'a> {
    name: &'a str,
    groups: Int32Array,
    spans: Vec<Vec<Span>>,
    sensitive: Vec<StringArray>,
    public: Vec<StringArray>,
    records: Option<StringArray>,
}

impl<'a> Batch<'a> {
    fn new(
        name: &'a str,
        shape: &'a FileColumns<'a>,
        columns: &[(String, ColumnContent)],
        batch: &RecordBatch,
        rows_before: usize,
    ) -> Result<Batch<'a>, FolderError> {
        let column = |wanted: &ColumnContent| {
            let at = columns.iter().position(|(_, content)| content == wanted);
            at.map(|at| (columns[at].0.as_str(), batch.column(at)))
        };
        let published =
            |role: Role, index: usize| column(&ColumnContent::Published(role, index)).expect("it is published");
        let texts = |role: Role, count: usize| -> Result<Vec<StringArray>, FolderError> {
            (0..count).map(|index| published(role, index)).map(|(column, array)| text(name, column, array)).collect()
        };
        let (group_name, groups) = column(&ColumnContent::GroupId).expect("it is always there");
        let groups = groups.as_any().downcast_ref::<Int32Array>().ok_or_else(|| kind(name, group_name))?.clone();
        let mut spans = Vec::new();
        for (index, attribute) in shape.schema.quasi.iter().enumerate() {
            let (column_name, array) = published(Role::Quasi, index);
            let open =
                column(&ColumnContent::MaybeMissing(index)).and_then(|(_, array)| array.as_boolean_opt().cloned());
            spans.push(
                read_spans(attribute, array, open.as_ref())
                    .map_err(|fault| fault.error(name, column_name, rows_before))?,
            );
        }
        let records = match column(&ColumnContent::Record) {
            None => None,
            Some((column, array)) => Some(text(name, column, array)?),
        };
        Ok(Batch {
            name,
            groups,
            spans,
            sensitive: texts(Role::Sensitive, shape.schema.sensitive.len())?,
            public: texts(Role::Public, shape.schema.public.len())?,
            records,
        })
    }

    fn add(&self, rows: &mut Rows) -> Result<(), FolderError> {
        let mut region = vec![Span::EMPTY; self.spans.len()];
        for at in 0..self.groups.len() {
            let line = rows.sensitive.len() as u64 + 1;
            let fault =
                |column: &str, what| FolderError::Cell { file: self.name.into(), line, column: column.into(), what };
            for (span, column) in region.iter_mut().zip(&self.spans) {
                *span = column[at];
            }
            let group = self.groups.value(at) as usize;
            if group == rows.ends.len() + 1 {
                rows.start(&region);
            } else if group == 0 || group != rows.ends.len() {
                return Err(fault(GROUP_ID, "groups are not numbered 1, 2, 3 and so on"));
            } else if rows.regions.get(group - 1) != region {
                return Err(fault(GROUP_ID, "rows of this group differ in a quasi attribute"));
            }
            // Arrow has checked that these are UTF-8.
            rows.sensitive.push(rows.values.number(self.sensitive.iter().map(|array| cell(array, at))).unwrap_or(0));
            if !self.public.is_empty() {
                let public = rows.publics.number(self.public.iter().map(|array| cell(array, at))).unwrap_or(0);
                rows.public.push(public);
            }
            if let Some(records) = &self.records {
                let linked = u64::from_str_radix(records.value(at), 16);
                rows.linked.push(linked.map_err(|_| fault(RECORD, "not sixteen hexadecimal digits"))?);
            }
            rows.grow();
        }
        Ok(())
    }
}

fn cell(array: &StringArray, at: usize) -> &[u8] {
    if array.is_null(at) { b"" } else { array.value(at).as_bytes() }
}

fn text(file: &str, column: &str, array: &ArrayRef) -> Result<StringArray, FolderError> {
    as_texts(array).ok_or_else(|| kind(file, column))
}

/// `None` if it has other cells than texts. Bytes that are no text would become missing.
fn as_texts(array: &ArrayRef) -> Option<StringArray> {
    let texts = cast(array, &DataType::Utf8).ok()?;
    (texts.null_count() == array.logical_null_count()).then(|| texts.as_string::<i32>().clone())
}

fn kind(file: &str, column: &str) -> FolderError {
    FolderError::File { file: file.into(), what: format!("column {column} is of another kind than it should be") }
}

/// What is wrong with a quasi column.
enum Fault {
    Kind,
    Row(usize),
}

impl Fault {
    fn error(self, file: &str, column: &str, rows_before: usize) -> FolderError {
        match self {
            Fault::Kind => kind(file, column),
            Fault::Row(row) => FolderError::Cell {
                file: file.into(),
                line: (rows_before + row) as u64 + 1,
                column: column.into(),
                what: "not an interval, a group of values or a value of this column",
            },
        }
    }
}

/// The spans of a quasi column.
fn read_spans(attribute: &Quasi, array: &ArrayRef, open: Option<&BooleanArray>) -> Result<Vec<Span>, Fault> {
    let every = |span: &dyn Fn(usize) -> Option<Span>| {
        (0..array.len()).map(|row| span(row).ok_or(Fault::Row(row))).collect::<Result<Vec<Span>, _>>()
    };
    if attribute.hierarchy().is_some() {
        let texts = as_texts(array).ok_or(Fault::Kind)?;
        return every(&|row| attribute.read(if texts.is_null(row) { "" } else { texts.value(row) }));
    }
    let pairs = array.as_struct_opt().ok_or(Fault::Kind)?;
    let left = bounds(pairs, 0, attribute).ok_or(Fault::Kind)?;
    let right = bounds(pairs, 1, attribute).ok_or(Fault::Kind)?;
    let numbers = i64::from(attribute.size()) - i64::from(attribute.nullable);
    every(&|row| {
        if pairs.is_null(row) {
            return attribute.null().map(Span::exact);
        }
        if open.is_some_and(|open| open.value(row)) {
            return Some(attribute.root());
        }
        let (lo, end) = (left[row], right[row]);
        (0 <= lo && lo < end && end <= numbers).then(|| Span::new(lo as u32, end as u32 - 1))
    })
}

/// One bound of every interval, counted in codes.
fn bounds(pairs: &StructArray, side: usize, attribute: &Quasi) -> Option<Vec<i64>> {
    let array = pairs.columns().get(side)?;
    Some(match &attribute.domain {
        Domain::Integer { lo, .. } if attribute.nullable => {
            let values = array.as_primitive_opt::<Float64Type>()?.values();
            values.iter().map(|value| (value.round() as i64).saturating_sub(*lo)).collect()
        }
        Domain::Integer { lo, .. } => {
            array.as_primitive_opt::<Int64Type>()?.values().iter().map(|v| v.saturating_sub(*lo)).collect()
        }
        Domain::Date { lo, .. } => {
            let days = array.as_primitive_opt::<TimestampMicrosecondType>()?.values();
            days.iter().map(|micros| micros.div_euclid(DAY).saturating_sub(*lo)).collect()
        }
        Domain::Real { lo, decimals, .. } => {
            let scale = 10f64.powi(i32::from(*decimals));
            let values = array.as_primitive_opt::<Float64Type>()?.values();
            values.iter().map(|value| ((value * scale).round() as i64).saturating_sub(*lo)).collect()
        }
        Domain::Category(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn bytes_that_are_no_text_are_no_cells_of_a_release() {
        let bytes = |cells: Vec<Option<&[u8]>>| -> ArrayRef { Arc::new(arrow_array::BinaryArray::from(cells)) };
        assert!(as_texts(&bytes(vec![Some(b"flu"), Some(b"\xff")])).is_none());
        assert_eq!(as_texts(&bytes(vec![Some(b"flu"), None])).map(|texts| texts.null_count()), Some(1));
        let coded: arrow_array::DictionaryArray<arrow_array::types::Int32Type> =
            vec![Some("flu"), None, Some("flu")].into_iter().collect();
        assert_eq!(as_texts(&(Arc::new(coded) as ArrayRef)).map(|texts| texts.null_count()), Some(1));
    }
}
