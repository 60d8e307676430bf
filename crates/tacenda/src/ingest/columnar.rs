//! Parquet files and tables in memory: their typed columns are encoded directly.
//!
//! A number in such a column means what its decimal text means in CSV, so that the same table gives the same keys and
//! codes in either form. Dictionary entries are encoded once per batch, and only if some row has them.

use crate::ingest::columns::{BLANK, Columns, Op, Plan, join};
use crate::ingest::encode::Encoder;
use crate::ingest::error::{IngestError, Kind, Problem, Tally};
use crate::ingest::source::{Frame, Source};
use crate::ingest::spool::InputFile;
use crate::model::{CellFault, Domain, hex};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, SchemaRef, TimeUnit};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::errors::ParquetError;
use parquet::file::metadata::ParquetMetaData;
use sha2::{Digest, Sha256};
use std::cell::RefCell;
use std::sync::Arc;

const BATCH: usize = 64 << 10;

/// A Parquet file or a frame whose schema has been read.
pub(super) struct Opened {
    body: Body,
    pub header: Vec<String>,
    schema: SchemaRef,
    /// The number of the first row.
    first_row: u64,
}

/// Where the columns come from.
enum Body {
    Parquet(Box<ParquetRecordBatchReaderBuilder<InputFile>>),
    Frame(Vec<RecordBatch>),
}

/// Opens a Parquet file, or a frame.
pub(super) fn open(source: &Source) -> Result<Opened, IngestError> {
    let (body, schema) = match source.in_memory() {
        Some(frame) => (Body::Frame(pieces(&frame.batches).collect()), frame.schema.clone()),
        None => {
            let file = source.rewound()?;
            let builder = guarded(source.name(), || {
                let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new())?;
                let metadata = with_dictionaries(&metadata).unwrap_or(metadata);
                Ok::<_, ParquetError>(ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata))
            })?;
            let schema = builder.schema().clone();
            (Body::Parquet(Box::new(builder)), schema)
        }
    };
    let header = schema.fields().iter().map(|field| field.name().clone()).collect();
    let first_row = source.in_memory().map_or(1, |frame| frame.first_row);
    Ok(Opened { body, header, schema, first_row })
}

/// Texts that the file keeps in a dictionary are handed over with it, and not written out row by row. So each entry is
/// encoded once. `None` if there are none.
fn with_dictionaries(read: &ArrowReaderMetadata) -> Option<ArrowReaderMetadata> {
    let file = read.metadata();
    let is_text =
        |field: &Field| matches!(field.data_type(), DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    let kind = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let mut fields: Vec<FieldRef> = read.schema().fields().iter().cloned().collect();
    let mut is_any = false;
    for (place, field) in fields.iter_mut().enumerate().filter(|(_, field)| is_text(field)) {
        if is_in_dictionary(file, place) {
            *field = Arc::new(field.as_ref().clone().with_data_type(kind()));
            is_any = true;
        }
    }
    let schema = Schema::new_with_metadata(fields, read.schema().metadata().clone());
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    is_any.then(|| ArrowReaderMetadata::try_new(Arc::clone(file), options).ok()).flatten()
}

/// Whether all cells of a column are places in a dictionary that is far shorter than the column. Where a writer gave up its
/// dictionary, a cell takes as many bytes as its text.
fn is_in_dictionary(file: &ParquetMetaData, column: usize) -> bool {
    let schema = file.file_metadata().schema_descr();
    let Some(leaf) = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == column) else {
        return false;
    };
    file.row_groups().iter().all(|group| {
        let chunk = group.column(leaf);
        let is_short = chunk.uncompressed_size() <= 2 * chunk.num_values() + SMALL_DICTIONARY;
        chunk.dictionary_page_offset().is_some() && is_short
    })
}

/// Bytes that the dictionary of a column may take.
const SMALL_DICTIONARY: i64 = 64 << 10;

/// The rows in pieces that threads can share; nothing is copied.
fn pieces(batches: &[RecordBatch]) -> impl Iterator<Item = RecordBatch> {
    batches.iter().flat_map(|batch| {
        let rows = batch.num_rows();
        (0..rows).step_by(BATCH).map(move |start| batch.slice(start, BATCH.min(rows - start)))
    })
}

/// The SHA-256 of a frame's cells in their text form.
pub(super) fn digest(frame: &Frame, name: &str) -> Result<String, IngestError> {
    let mut hasher = Sha256::new();
    let mut cell = |text: &[u8]| {
        hasher.update((text.len() as u64).to_le_bytes());
        hasher.update(text);
    };
    frame.schema.fields().iter().for_each(|field| cell(field.name().as_bytes()));
    let mut buffer = itoa::Buffer::new();
    for batch in pieces(&frame.batches) {
        for (column, field) in batch.columns().iter().zip(frame.schema.fields()) {
            if is_interval(column.data_type()) {
                // An interval that does not say which ends it includes is refused when the column is read.
                let texts = interval_texts(column, field).unwrap_or_default();
                texts.iter().for_each(|text| cell(text.as_bytes()));
            } else if supported(column.data_type()) {
                let cells = guarded(name, || Cells::new(column, Wanted::Texts))?;
                (0..batch.num_rows()).for_each(|row| cell(cells.text(row, &mut buffer)));
            }
        }
    }
    Ok(hex(&hasher.finalize()))
}

impl Opened {
    /// How many rows there are, according to the file.
    pub fn rows(&self) -> i64 {
        match &self.body {
            Body::Parquet(builder) => builder.metadata().file_metadata().num_rows(),
            Body::Frame(batches) => batches.iter().map(|batch| batch.num_rows() as i64).sum(),
        }
    }

    /// The rows, with all columns or with some, given in ascending order.
    fn batches(self, columns: Option<Vec<usize>>, name: &str) -> Result<Batches, IngestError> {
        let reader: Reader = match (self.body, columns) {
            (Body::Parquet(builder), columns) => {
                let mask = columns.map_or_else(ProjectionMask::all, |columns| {
                    ProjectionMask::roots(builder.parquet_schema(), columns)
                });
                Box::new(guarded(name, || builder.with_projection(mask).with_batch_size(BATCH).build())?)
            }
            (Body::Frame(batches), None) => Box::new(batches.into_iter().map(Ok)),
            (Body::Frame(batches), Some(columns)) => {
                Box::new(batches.into_iter().map(move |batch| batch.project(&columns)))
            }
        };
        Ok(Batches { reader: Some(reader), name: name.into(), next_row: self.first_row })
    }

    /// Reads the planned columns, after checking their types.
    pub fn read(self, plan: &Plan, name: &str) -> Result<Batches, IngestError> {
        let wanted = plan.read_columns();
        let problems: Vec<Problem> = wanted
            .iter()
            .filter(|&&column| !supported(self.schema.field(column).data_type()))
            .map(|&column| Problem {
                column: Some(self.header[column].clone()),
                ..Problem::whole(
                    Kind::UnsupportedType,
                    match self.schema.field(column).data_type() {
                        kind if is_interval(kind) => {
                            "its cells are intervals, and a row must have the person's own value".into()
                        }
                        kind => format!("its type is {}", type_name(kind)),
                    },
                )
            })
            .collect();
        if !problems.is_empty() {
            return Err(IngestError::Rejected(problems));
        }
        self.batches(Some(wanted), name)
    }
}

impl Opened {
    /// Calls `take` with the column and the text of every cell, column by column within a batch. A cell without a text form
    /// is `None`; in a column whose type has none, every cell is.
    pub fn each_cell(self, name: &str, mut take: impl FnMut(usize, Option<&[u8]>)) -> Result<(), IngestError> {
        let mut buffer = itoa::Buffer::new();
        for batch in self.batches(None, name)? {
            let (_, batch) = batch?;
            for (column, array) in batch.columns().iter().enumerate() {
                if !supported(array.data_type()) {
                    (0..batch.num_rows()).for_each(|_| take(column, None));
                    continue;
                }
                let cells = guarded(name, || Cells::new(array, Wanted::Texts))?;
                let unread = unread(array, &cells);
                for row in 0..batch.num_rows() {
                    let is_read = unread.binary_search(&row).is_err();
                    take(column, is_read.then(|| cells.text(row, &mut buffer)));
                }
            }
        }
        Ok(())
    }
}

impl Opened {
    /// Calls `take` with the text of every cell of the wanted columns, column by column within a batch. Columns are
    /// numbered by their place in `wanted`. A structure of two bounds is written as an interval.
    pub fn each_wanted(
        self,
        name: &str,
        wanted: &[usize],
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<(), IngestError> {
        let fields: Vec<FieldRef> = wanted.iter().map(|&at| self.schema.fields()[at].clone()).collect();
        let problems: Vec<Problem> = fields
            .iter()
            .filter(|field| !supported(field.data_type()) && (!is_interval(field.data_type()) || ends(field).is_none()))
            .map(|field| {
                let detail = match is_interval(field.data_type()) {
                    true => format!("its intervals in {name} do not say which of their ends belong to them"),
                    false => format!("its type is {} in {name}", type_name(field.data_type())),
                };
                Problem { column: Some(field.name().clone()), ..Problem::whole(Kind::UnsupportedType, detail) }
            })
            .collect();
        if !problems.is_empty() {
            return Err(IngestError::Rejected(problems));
        }
        let mut read: Vec<usize> = wanted.to_vec();
        read.sort_unstable();
        let mut buffer = itoa::Buffer::new();
        let mut tally = Tally::default();
        for batch in self.batches(Some(read.clone()), name)? {
            let (first_row, batch) = batch?;
            for (place, at) in wanted.iter().enumerate() {
                let array = batch.column(read.binary_search(at).expect("wanted columns are read"));
                if is_interval(array.data_type()) {
                    let texts = guarded(name, || interval_texts(array, &fields[place]))?;
                    let ends_within_second = |text: &str| is_of_times(array.data_type()) && text.contains('.');
                    for (row, text) in (first_row..).zip(&texts) {
                        if ends_within_second(text) {
                            tally.add(Kind::PartOfSecond, fields[place].name(), row);
                        }
                        take(place, text.as_bytes());
                    }
                } else {
                    let cells = guarded(name, || Cells::new(array, Wanted::Texts))?;
                    tally_unread(array, &cells, fields[place].name(), first_row, &mut tally);
                    (0..batch.num_rows()).for_each(|row| take(place, cells.text(row, &mut buffer)));
                }
            }
        }
        tally.into_error(true).map_or(Ok(()), Err)
    }
}

/// Whether a type is a structure of two bounds, as pandas and our own releases use it.
fn is_interval(kind: &DataType) -> bool {
    match kind {
        DataType::Struct(fields) => {
            let [left, right] = &fields[..] else { return false };
            let are_bounds = left.name() == "left" && right.name() == "right";
            are_bounds && [left, right].into_iter().all(|bound| supported(bound.data_type()))
        }
        // Categories that are intervals.
        DataType::Dictionary(_, values) => is_interval(values),
        _ => false,
    }
}

/// Whether intervals have points in time as bounds.
fn is_of_times(kind: &DataType) -> bool {
    match kind {
        DataType::Struct(fields) => fields.iter().any(|field| matches!(field.data_type(), DataType::Timestamp(..))),
        kind => leaf(kind) != kind && is_of_times(leaf(kind)),
    }
}

/// The brackets of a field's intervals, if its metadata says which ends they include.
fn ends(field: &Field) -> Option<(char, char)> {
    let closed = field.metadata().get("ARROW:extension:metadata")?;
    match () {
        () if closed.contains("\"both\"") => Some(('[', ']')),
        () if closed.contains("\"neither\"") => Some(('(', ')')),
        () if closed.contains("\"right\"") => Some(('(', ']')),
        () if closed.contains("\"left\"") => Some(('[', ')')),
        () => None,
    }
}

/// Intervals as text. The field's metadata says which ends they include.
fn interval_texts(array: &ArrayRef, field: &Field) -> Result<Vec<String>, ArrowError> {
    let unsaid = || ArrowError::SchemaError("an interval that does not say which ends belong to it".into());
    let (open, close) = ends(field).ok_or_else(unsaid)?;
    if let DataType::Dictionary(_, values) = array.data_type() {
        return interval_texts(&cast(array, values)?, field);
    }
    let pair = array.as_struct();
    let bounds = [pair.column(0), pair.column(1)].map(|bounds| Cells::new(bounds, Wanted::Texts));
    let [left, right] = bounds;
    let [left, right] = [left?, right?];
    // Bounds of a column are written alike: as days, or all of them with the time of day.
    let times = [times(pair.column(0))?, times(pair.column(1))?];
    let are_days = times.iter().flatten().flatten().flatten().all(|text| without_midnight(text) != text);
    let mut buffer = itoa::Buffer::new();
    let mut text = |side: usize, cells: &Cells, row: usize| match &times[side] {
        Some(times) if !are_days && times.is_valid(row) => times.value(row).to_string(),
        _ => String::from_utf8_lossy(cells.text(row, &mut buffer)).into_owned(),
    };
    Ok((0..array.len())
        .map(|row| {
            if array.is_null(row) || left.is_missing(row) && right.is_missing(row) {
                return String::new();
            }
            format!("{open}{},{}{close}", text(0, &left, row), text(1, &right, row))
        })
        .collect())
}

/// Points in time with their time of day; `None` for other bounds.
fn times(bounds: &ArrayRef) -> Result<Option<StringArray>, ArrowError> {
    match bounds.data_type() {
        DataType::Timestamp(..) => Ok(Some(cast(&within_calendar(bounds)?, &DataType::Utf8)?.as_string().clone())),
        _ => Ok(None),
    }
}

type Reader = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

/// The rows of an input, batch by batch, each with the number of its first row.
pub(super) struct Batches {
    reader: Option<Reader>,
    name: String,
    next_row: u64,
}

impl Iterator for Batches {
    type Item = Result<(u64, RecordBatch), IngestError>;

    fn next(&mut self) -> Option<Result<(u64, RecordBatch), IngestError>> {
        let reader = self.reader.as_mut()?;
        let batch = guarded(&self.name, || reader.next().transpose());
        if batch.is_err() {
            self.reader = None;
        }
        let batch = batch.transpose()?;
        let first_row = self.next_row;
        Some(batch.map(|batch| {
            self.next_row += batch.num_rows() as u64;
            (first_row, batch)
        }))
    }
}

/// Runs a step of the Parquet library, which panics on some damaged files.
pub(super) fn guarded<T, E: std::fmt::Display>(
    name: &str,
    step: impl FnOnce() -> Result<T, E>,
) -> Result<T, IngestError> {
    match std::panic::catch_unwind(std::panic::AssertUnwindSafe(step)) {
        Ok(result) => result.map_err(|error| damaged(name, &error)),
        Err(_) => Err(damaged(name, &"its structure contradicts itself")),
    }
}

/// The error of a file that starts like Parquet but is damaged.
pub(super) fn damaged(name: &str, error: &dyn std::fmt::Display) -> IngestError {
    // The library's message may quote contents. Its first line is about structure only.
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default().to_string();
    IngestError::whole(Kind::NotWhatItSays, format!("{name} is damaged or cut short: {first}"))
}

fn supported(kind: &DataType) -> bool {
    match kind {
        DataType::Dictionary(_, values) => supported(values),
        DataType::Null | DataType::Boolean | DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => true,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::Decimal32(..) | DataType::Decimal64(..) | DataType::Decimal128(..) => true,
        other => other.is_integer() || matches!(other, DataType::Float16 | DataType::Float32 | DataType::Float64),
    }
}

/// The name of a type. Arrow's own name of a nested one has metadata in it, and those may list values.
fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Struct(_) => "a structure".into(),
        DataType::List(_) | DataType::LargeList(_) | DataType::FixedSizeList(..) => "a list".into(),
        DataType::ListView(_) | DataType::LargeListView(_) => "a list".into(),
        DataType::Dictionary(_, values) => type_name(values),
        kind if kind.is_nested() => "a nested one".into(),
        kind => kind.to_string(),
    }
}

/// A column in one of the forms that are encoded.
enum Cells {
    /// Whole numbers.
    Numbers(Int64Array),
    /// Days since 1970-01-01, and their texts where those are wanted.
    Days(Int32Array, Option<StringArray>),
    /// Texts.
    Texts(StringArray),
    /// Positions in a dictionary.
    Coded(Int32Array, Box<Cells>),
}

/// What dates are needed for.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Wanted {
    /// To be numbered.
    Days,
    /// To be compared as the text that a text file would have.
    Texts,
}

impl Cells {
    fn new(array: &ArrayRef, wanted: Wanted) -> Result<Cells, ArrowError> {
        Ok(match array.data_type() {
            DataType::Dictionary(_, _) => {
                let dictionary = array.as_any_dictionary();
                let positions = cast(dictionary.keys(), &DataType::Int32)?.as_primitive().clone();
                Cells::Coded(positions, Box::new(Cells::new(dictionary.values(), wanted)?))
            }
            // A number beyond 64 signed bits can only be used as a name.
            DataType::UInt64 => match cast(array, &DataType::Int64) {
                Ok(numbers) if numbers.null_count() == array.null_count() => {
                    Cells::Numbers(numbers.as_primitive().clone())
                }
                _ => texts(array)?,
            },
            kind if kind.is_integer() => Cells::Numbers(cast(array, &DataType::Int64)?.as_primitive().clone()),
            DataType::Boolean => Cells::Texts(truths(array.as_boolean())),
            DataType::Float16 | DataType::Float32 => {
                let array = cast(array, &DataType::Float32)?;
                // The shortest text that reads back as the same number, as in CSV. NaN means missing.
                let print = |value: f32| (!value.is_nan()).then(|| value.to_string());
                Cells::Texts(array.as_primitive::<Float32Type>().iter().map(|cell| cell.and_then(print)).collect())
            }
            DataType::Float64 => {
                let print = |value: f64| (!value.is_nan()).then(|| value.to_string());
                Cells::Texts(array.as_primitive::<Float64Type>().iter().map(|cell| cell.and_then(print)).collect())
            }
            DataType::Date64 => days(&cast(array, &DataType::Date32)?, wanted)?,
            DataType::Date32 | DataType::Timestamp(_, _) => days(array, wanted)?,
            _ => texts(array)?,
        })
    }

    fn is_missing(&self, row: usize) -> bool {
        match self {
            Cells::Numbers(cells) => cells.is_null(row),
            Cells::Days(cells, _) => cells.is_null(row),
            Cells::Texts(cells) => cells.is_null(row),
            Cells::Coded(cells, entries) => cells.is_null(row) || entries.is_missing(cells.value(row) as usize),
        }
    }

    /// The text of a cell, empty for a missing one.
    fn text<'a>(&'a self, row: usize, buffer: &'a mut itoa::Buffer) -> &'a [u8] {
        if self.is_missing(row) {
            return b"";
        }
        match self {
            Cells::Numbers(cells) => buffer.format(cells.value(row)).as_bytes(),
            Cells::Days(_, texts) => texts.as_ref().map_or(b"", |texts| texts.value(row).as_bytes()),
            Cells::Texts(texts) => texts.value(row).as_bytes(),
            Cells::Coded(cells, entries) => entries.text(cells.value(row) as usize, buffer),
        }
    }

    fn encode(&self, row: usize, encoder: &Encoder<'_>) -> Result<u32, CellFault> {
        if self.is_missing(row) {
            return encoder.missing();
        }
        match self {
            Cells::Numbers(cells) => encoder.number(cells.value(row)),
            Cells::Days(cells, texts) => {
                let text = texts.as_ref().map_or(&b""[..], |texts| texts.value(row).as_bytes());
                encoder.day(i64::from(cells.value(row)), text)
            }
            Cells::Texts(cells) => encoder.text(cells.value(row).as_bytes()),
            Cells::Coded(cells, entries) => entries.encode(cells.value(row) as usize, encoder),
        }
    }

    /// Per row, the entry of the dictionary it has; `None` without a dictionary.
    fn dictionary(&self) -> Option<(&Int32Array, usize)> {
        match self {
            Cells::Coded(cells, entries) => Some((cells, entries.len())),
            _ => None,
        }
    }

    fn len(&self) -> usize {
        match self {
            Cells::Numbers(cells) => cells.len(),
            Cells::Days(cells, _) => cells.len(),
            Cells::Texts(cells) => cells.len(),
            Cells::Coded(cells, _) => cells.len(),
        }
    }
}

/// Bytes that are not UTF-8 become missing, and [`unread`] finds them. Other libraries hand texts over unchecked.
fn texts(array: &ArrayRef) -> Result<Cells, ArrowError> {
    let bytes = match array.data_type() {
        DataType::Utf8 => cast(array, &DataType::Binary)?,
        DataType::LargeUtf8 => cast(array, &DataType::LargeBinary)?,
        DataType::Utf8View => cast(array, &DataType::BinaryView)?,
        _ => Arc::clone(array),
    };
    let texts: StringArray = match bytes.data_type() {
        DataType::BinaryView => cast(&cast(&bytes, &DataType::Utf8View)?, &DataType::Utf8)?.as_string().clone(),
        _ => cast(&bytes, &DataType::Utf8)?.as_string().clone(),
    };
    Ok(Cells::Texts(texts))
}

/// The rows whose cell says something that was not read, ascending: bytes that are not UTF-8, or a day beyond the calendar.
/// Nothing may take them for missing ones.
fn unread(array: &ArrayRef, cells: &Cells) -> Vec<usize> {
    if is_all_read(array, cells) {
        return Vec::new();
    }
    let nulls = array.logical_nulls();
    let says_something = |row: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row));
    (0..array.len()).filter(|&row| says_something(row) && cells.is_missing(row)).collect()
}

fn is_all_read(array: &ArrayRef, cells: &Cells) -> bool {
    match (array.data_type(), cells) {
        (DataType::Dictionary(_, _), Cells::Coded(_, entries)) => {
            is_all_read(array.as_any_dictionary().values(), entries)
        }
        // Of a number only NaN is not read, and it means missing.
        (DataType::Float16 | DataType::Float32 | DataType::Float64 | DataType::Null, _) => true,
        (_, Cells::Texts(texts)) => texts.null_count() == array.null_count(),
        (_, Cells::Days(days, _)) => days.null_count() == array.null_count(),
        _ => true,
    }
}

/// Counts the cells of a column that were not read.
fn tally_unread(array: &ArrayRef, cells: &Cells, column: &str, first_row: u64, tally: &mut Tally) {
    let kind = if matches!(leaf(array.data_type()), DataType::Date32 | DataType::Date64 | DataType::Timestamp(..)) {
        Kind::NotADate
    } else {
        Kind::NotText
    };
    unread(array, cells).into_iter().for_each(|row| tally.add(kind, column, first_row + row as u64));
}

/// The type of a column's cells.
fn leaf(kind: &DataType) -> &DataType {
    if let DataType::Dictionary(_, values) = kind { leaf(values) } else { kind }
}

fn truths(array: &BooleanArray) -> StringArray {
    array.iter().map(|cell| cell.map(|truth| if truth { "true" } else { "false" })).collect()
}

fn days(array: &ArrayRef, wanted: Wanted) -> Result<Cells, ArrowError> {
    let array = &within_calendar(array)?;
    let days = cast(&cast(array, &DataType::Date32)?, &DataType::Int32)?.as_primitive().clone();
    if wanted == Wanted::Days {
        return Ok(Cells::Days(days, None));
    }
    let full: StringArray = cast(array, &DataType::Utf8)?.as_string().clone();
    let texts = full.iter().map(|text| text.map(without_midnight)).collect();
    Ok(Cells::Days(days, Some(texts)))
}

/// How many days before and after 1970-01-01 have a name: about 260,000 years.
const CALENDAR: i64 = 95_000_000;

/// Days beyond the calendar, such as the infinity of databases, become missing, and [`unread`] finds them.
fn within_calendar(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let units_a_day = match array.data_type() {
        DataType::Date32 => 1,
        DataType::Timestamp(TimeUnit::Second, _) => 86_400,
        DataType::Timestamp(TimeUnit::Millisecond, _) => 86_400_000,
        DataType::Timestamp(TimeUnit::Microsecond, _) => 86_400_000_000,
        // 64 bits of nanoseconds are 585 years.
        _ => return Ok(Arc::clone(array)),
    };
    let whole = if units_a_day == 1 { cast(array, &DataType::Int32)? } else { Arc::clone(array) };
    let units = cast(&whole, &DataType::Int64)?;
    let fits = |unit: i64| (unit / units_a_day).abs() <= CALENDAR;
    if units.as_primitive::<Int64Type>().iter().flatten().all(fits) {
        return Ok(Arc::clone(array));
    }
    let known: Int64Array =
        units.as_primitive::<Int64Type>().iter().map(|unit| unit.filter(|&unit| fits(unit))).collect();
    match array.data_type() {
        DataType::Date32 => cast(&cast(&known, &DataType::Int32)?, array.data_type()),
        kind => cast(&known, kind),
    }
}

/// A timestamp at midnight is written as a day.
fn without_midnight(text: &str) -> &str {
    match text.split_once("T00:00:00") {
        Some((day, zone)) if !zone.starts_with('.') => day,
        _ => text,
    }
}

/// Encodes a batch of the planned columns, whose first row is the input's `first_row`-th (from 1).
pub(super) fn encode(
    batch: &RecordBatch,
    first_row: u64,
    columns: &mut Columns<'_>,
    name: &str,
) -> Result<(), IngestError> {
    guarded(name, || encode_batch(batch, first_row, columns))
}

fn encode_batch(batch: &RecordBatch, first_row: u64, columns: &mut Columns<'_>) -> Result<(), ArrowError> {
    let before = columns.tally.begin();
    let unread = encode_cells(batch, first_row, columns)?;
    if !unread.is_empty() {
        // These cells were also counted as empty, which would mislead.
        drop(columns.tally.begin());
        columns.tally.merge(unread);
    }
    columns.tally.merge(before);
    Ok(())
}

/// Encodes the rows of a batch, and returns the problem of cells that were not read.
fn encode_cells(batch: &RecordBatch, first_row: u64, columns: &mut Columns<'_>) -> Result<Tally, ArrowError> {
    let read = columns.plan.read_columns();
    let unread = RefCell::new(Tally::default());
    let cells_for = |column: usize, wanted: Wanted| -> Result<Cells, ArrowError> {
        let at = read.binary_search(&column).expect("planned columns are read");
        let (array, fields) = (batch.column(at), batch.schema_ref().fields());
        let cells = Cells::new(array, wanted)?;
        tally_unread(array, &cells, fields[at].name(), first_row, &mut unread.borrow_mut());
        Ok(cells)
    };
    let cells_of = |column: usize| cells_for(column, Wanted::Texts);
    let place = |row: usize| first_row + row as u64;
    let mut buffer = itoa::Buffer::new();
    let plan = std::sync::Arc::clone(&columns.plan);

    let identifier = cells_of(plan.identifier)?;
    let ops = plan.op.map(cells_of).transpose()?;
    let mut deleted = Vec::new();
    for row in 0..batch.num_rows() {
        let op = ops.as_ref().map(|ops| Op::read(ops.text(row, &mut itoa::Buffer::new())));
        deleted.push(op.is_some_and(|op| !op.has_cells()));
        columns.identify(identifier.text(row, &mut buffer), op, place(row));
    }
    let is_deleted = |row: usize| deleted[row];
    if let Some(column) = plan.order {
        let cells = cells_of(column)?;
        (0..batch.num_rows()).for_each(|row| columns.rank(cells.text(row, &mut buffer), place(row)));
    }

    for attribute in 0..plan.quasi.len() {
        let is_date = matches!(columns.schema.quasi[attribute].domain, Domain::Date { .. });
        let cells = cells_for(plan.quasi[attribute], if is_date { Wanted::Days } else { Wanted::Texts })?;
        let mut codes = vec![None; cells.dictionary().map_or(0, |(_, entries)| entries)];
        for row in 0..batch.num_rows() {
            if is_deleted(row) {
                columns.quasi[attribute].push(0);
                continue;
            }
            let encoder = &columns.encoders[attribute];
            let code = match cells.dictionary() {
                Some((positions, _)) if positions.is_valid(row) => {
                    *codes[positions.value(row) as usize].get_or_insert_with(|| cells.encode(row, encoder))
                }
                _ => cells.encode(row, encoder),
            };
            match code {
                Ok(code) => columns.quasi[attribute].push(code),
                Err(fault) => columns.quasi_fault(attribute, fault, place(row), cells.text(row, &mut buffer)),
            }
        }
    }
    let sensitive =
        plan.sensitive.iter().map(|&column| cells_of(column)).collect::<Result<Vec<Cells>, ArrowError>>()?;
    encode_sensitive(&sensitive, batch.num_rows(), first_row, is_deleted, columns);
    let public = plan.public.iter().map(|&column| cells_of(column)).collect::<Result<Vec<Cells>, ArrowError>>()?;
    if !public.is_empty() {
        let mut joined = Vec::new();
        for row in 0..batch.num_rows() {
            if is_deleted(row) {
                columns.public.push(BLANK);
                continue;
            }
            joined.clear();
            public.iter().for_each(|cells| join(&mut joined, cells.text(row, &mut buffer)));
            columns.public_cells(&joined, place(row));
        }
    }
    Ok(unread.into_inner())
}

fn encode_sensitive(
    sensitive: &[Cells],
    rows: usize,
    first_row: u64,
    is_deleted: impl Fn(usize) -> bool,
    columns: &mut Columns<'_>,
) {
    let mut buffer = itoa::Buffer::new();
    let mut joined = Vec::new();
    let mut numbers = vec![None; sensitive.first().and_then(Cells::dictionary).map_or(0, |(_, entries)| entries)];
    for row in 0..rows {
        if is_deleted(row) {
            columns.sensitive.push(BLANK);
            continue;
        }
        let number = match sensitive {
            [] => {
                columns.sensitive.push(0);
                continue;
            }
            [cells] => match cells.dictionary() {
                Some((positions, _)) if positions.is_valid(row) => *numbers[positions.value(row) as usize]
                    .get_or_insert_with(|| columns.number_sensitive(cells.text(row, &mut buffer))),
                _ => columns.number_sensitive(cells.text(row, &mut buffer)),
            },
            _ => {
                joined.clear();
                sensitive.iter().for_each(|cells| join(&mut joined, cells.text(row, &mut buffer)));
                columns.number_sensitive(&joined)
            }
        };
        columns.sensitive_number(number, first_row + row as u64);
    }
}
