//! The release as Apache Parquet.
//!
//! Numbers and dates are `struct<left,right>` with the Arrow extension name `pandas.interval`, closed on the left, so
//! that pandas reads true intervals. Whole numbers that may be missing have bounds of type double, because pandas
//! cannot hold a missing whole number. Not recorded is null. An interval cannot express "any value, or not recorded".
//! So a nullable attribute has a column `<name>_maybe_missing`. It is true if the text form has `*`; then the interval
//! is the whole domain. Everything else is text with a dictionary, printed as in the text form.
//!
//! Row groups hold whole groups; their columns are encoded in parallel, some rows at a time.

use crate::folder::Issue;
use crate::folder::order::{FileColumns, RowOrder, print_linked, weight};
use crate::model::{Domain, GROUP_ID, Quasi, RECORD, ROW_WEIGHT, Release, Role, Schema, Span};
use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int32Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Float64Array, Int32Array, PrimitiveArray, RecordBatch,
    StringArray, StructArray,
};
use arrow_buffer::NullBuffer;
use arrow_schema::{DataType, Field, Fields, SchemaRef, TimeUnit};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnChunk, ArrowColumnWriter, compute_leaves};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::io;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// How many rows a row group has, about.
const ROW_GROUP: usize = 1 << 20;

/// How many rows of a column are made at a time. The encoders take their input in batches of 1,024 rows, and this is a
/// multiple: the file does not depend on it.
pub(super) const PIECE: usize = 1 << 15;

/// Microseconds in a day.
const DAY: i64 = 86_400_000_000;

/// What a column of the file is made of.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ColumnContent {
    /// The linked id.
    Record,
    /// The group's number.
    GroupId,
    /// A column of the schema.
    Published(Role, usize),
    /// Whether a number or date may also be not recorded.
    MaybeMissing(usize),
    /// The row's weight.
    RowWeight,
}

/// The columns of the file: name and content.
pub fn columns(shape: &FileColumns<'_>) -> Vec<(String, ColumnContent)> {
    let schema = shape.schema;
    let mut columns = Vec::new();
    if shape.linked {
        columns.push((RECORD.to_string(), ColumnContent::Record));
    }
    columns.push((GROUP_ID.to_string(), ColumnContent::GroupId));
    for &(role, index) in &schema.order {
        let name = schema.column_name(role, index);
        columns.push((name.to_string(), ColumnContent::Published(role, index)));
        if role == Role::Quasi && schema.quasi[index].nullable && schema.quasi[index].hierarchy().is_none() {
            let mut companion = format!("{name}_maybe_missing");
            while schema.published_columns().any(|other| other == companion) {
                companion.push('_');
            }
            columns.push((companion, ColumnContent::MaybeMissing(index)));
        }
    }
    if shape.row_weight {
        columns.push((ROW_WEIGHT.to_string(), ColumnContent::RowWeight));
    }
    columns
}

/// Writes the data file.
pub fn write_data(issue: &Issue<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    write_parquet(issue, PIECE, out).map_err(|error| match error {
        // The disk's own message and kind, without the wrapper.
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(inner) => io::Error::other(inner),
        },
        other => io::Error::other(other),
    })
}

pub(super) fn write_parquet(issue: &Issue<'_>, piece: usize, out: &mut (dyn Write + Send)) -> Result<(), ParquetError> {
    let Issue { release, schema, .. } = *issue;
    let columns = columns(&FileColumns::of(issue));
    let arrow = arrow_schema(&columns, schema);
    let group_id = ColumnPath::from(GROUP_ID);
    let properties = WriterProperties::builder()
        .set_created_by("tacenda".into())
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1)?))
        .set_column_dictionary_enabled(group_id.clone(), false)
        .set_column_encoding(group_id, Encoding::DELTA_BINARY_PACKED)
        .build();
    let writer = ArrowWriter::try_new(out, Arc::clone(&arrow), Some(properties))?;
    let (mut writer, factory) = writer.into_serialized_writer()?;
    let (order, texts) = (RowOrder::new(release), Dictionaries::of(release, &columns));
    for (index, groups) in row_groups(release).into_iter().enumerate() {
        let batch = Batch::new(release, schema, &order, &texts, groups);
        let mut encoders = factory.create_column_writers(index)?.into_iter();
        let mut work = Vec::new();
        for (position, (_, content)) in columns.iter().enumerate() {
            let leaves = if matches!(arrow.field(position).data_type(), DataType::Struct(_)) { 2 } else { 1 };
            work.push((arrow.field(position), content, encoders.by_ref().take(leaves).collect::<Vec<_>>()));
        }
        let encoded: Vec<Vec<ArrowColumnChunk>> = work
            .into_par_iter()
            .map(|(field, content, encoders)| batch.encode(field, content, encoders, piece))
            .collect::<Result<_, ParquetError>>()?;
        let mut row_group = writer.next_row_group()?;
        for chunk in encoded.into_iter().flatten() {
            chunk.append_to_row_group(&mut row_group)?;
        }
        row_group.close()?;
    }
    writer.close()?;
    Ok(())
}

fn arrow_schema(columns: &[(String, ColumnContent)], schema: &Schema) -> SchemaRef {
    let fields: Vec<Field> = columns.iter().map(|(name, content)| field(name, content, schema)).collect();
    Arc::new(arrow_schema::Schema::new(fields))
}

/// The release as a frame in memory: the columns and rows of the Parquet file.
pub fn frame(issue: &Issue<'_>) -> (SchemaRef, Vec<RecordBatch>) {
    let Issue { release, schema, .. } = *issue;
    let columns = columns(&FileColumns::of(issue));
    let arrow = arrow_schema(&columns, schema);
    let (order, texts) = (RowOrder::new(release), Dictionaries::of(release, &columns));
    let batches = row_groups(release)
        .into_iter()
        .map(|groups| {
            let batch = Batch::new(release, schema, &order, &texts, groups);
            let piece = batch.piece(0..batch.rows.len());
            let arrays = columns.par_iter().map(|(_, content)| piece.array(content)).collect();
            RecordBatch::try_new(Arc::clone(&arrow), arrays).expect("every column has its type and every row")
        })
        .collect();
    (arrow, batches)
}

/// Runs of whole groups with about [`ROW_GROUP`] rows each.
fn row_groups(release: &Release) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut first_row) = (0, 0);
    for (group, &end) in release.ends.iter().enumerate() {
        if end as usize - first_row >= ROW_GROUP || group + 1 == release.ends.len() {
            runs.push(start..group + 1);
            start = group + 1;
            first_row = end as usize;
        }
    }
    runs
}

fn field(name: &str, content: &ColumnContent, schema: &Schema) -> Field {
    let text = || DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    match content {
        ColumnContent::Record => Field::new(name, DataType::Utf8, false),
        ColumnContent::GroupId => Field::new(name, DataType::Int32, false),
        ColumnContent::MaybeMissing(_) => Field::new(name, DataType::Boolean, false),
        ColumnContent::RowWeight => Field::new(name, DataType::Float64, false),
        ColumnContent::Published(Role::Quasi, index) => match bound_type(&schema.quasi[*index]) {
            None => Field::new(name, text(), true),
            Some((bound, subtype)) => {
                let metadata = HashMap::from([
                    ("ARROW:extension:name".to_string(), "pandas.interval".to_string()),
                    (
                        "ARROW:extension:metadata".to_string(),
                        format!("{{\"subtype\": \"{subtype}\", \"closed\": \"left\"}}"),
                    ),
                ]);
                Field::new(name, DataType::Struct(bound_fields(bound)), true).with_metadata(metadata)
            }
        },
        ColumnContent::Published(..) => Field::new(name, text(), true),
    }
}

/// The type of a bound, and Arrow's short name for it; `None` for a category.
fn bound_type(attribute: &Quasi) -> Option<(DataType, &'static str)> {
    match &attribute.domain {
        // pandas has no missing whole number in an interval and would invent one.
        Domain::Integer { .. } if attribute.nullable => Some((DataType::Float64, "double")),
        Domain::Integer { .. } => Some((DataType::Int64, "int64")),
        Domain::Real { .. } => Some((DataType::Float64, "double")),
        Domain::Date { .. } => Some((DataType::Timestamp(TimeUnit::Microsecond, None), "timestamp[us]")),
        Domain::Category(_) => None,
    }
}

fn bound_fields(bound: DataType) -> Fields {
    Fields::from(vec![Field::new("left", bound.clone(), true), Field::new("right", bound, true)])
}

/// The texts of the columns that say with a number which text a row has.
struct Dictionaries(FxHashMap<(bool, usize), ArrayRef>);

impl Dictionaries {
    fn of(release: &Release, columns: &[(String, ColumnContent)]) -> Dictionaries {
        let texts = |content: &ColumnContent| match *content {
            ColumnContent::Published(Role::Quasi, _) => None,
            ColumnContent::Published(Role::Public, index) => {
                let texts = release.public_texts.iter().map(|cells| &*cells[index]);
                Some(((true, index), Arc::new(StringArray::from_iter_values(texts)) as ArrayRef))
            }
            ColumnContent::Published(_, index) => {
                let texts = release.values.iter().map(|(_, cells)| &*cells[index]);
                Some(((false, index), Arc::new(StringArray::from_iter_values(texts)) as ArrayRef))
            }
            _ => None,
        };
        Dictionaries(columns.iter().filter_map(|(_, content)| texts(content)).collect())
    }

    fn get(&self, is_public: bool, index: usize) -> &ArrayRef {
        &self.0[&(is_public, index)]
    }
}

/// The rows of a row group.
struct Batch<'a> {
    release: &'a Release,
    schema: &'a Schema,
    texts: &'a Dictionaries,
    /// The first row of the release.
    first: usize,
    /// Rows of the release in the order of the file.
    rows: Vec<u32>,
}

impl<'a> Batch<'a> {
    fn new(
        release: &'a Release,
        schema: &'a Schema,
        order: &RowOrder<'_>,
        texts: &'a Dictionaries,
        groups: Range<usize>,
    ) -> Batch<'a> {
        let first = release.group_rows(groups.start).start;
        let all: Vec<usize> = groups.collect();
        let sorted: Vec<Vec<u32>> = all
            .par_chunks(1 << 12)
            .map(|groups| {
                let (mut rows, mut one) = (Vec::new(), Vec::new());
                for &group in groups {
                    order.rows(group, &mut one);
                    rows.extend_from_slice(&one);
                }
                rows
            })
            .collect();
        Batch { release, schema, texts, first, rows: sorted.concat() }
    }

    /// Encodes a column, some rows at a time.
    fn encode(
        &self,
        field: &Field,
        content: &ColumnContent,
        mut encoders: Vec<ArrowColumnWriter>,
        piece: usize,
    ) -> Result<Vec<ArrowColumnChunk>, ParquetError> {
        for start in (0..self.rows.len()).step_by(piece) {
            let rows = self.piece(start..self.rows.len().min(start.saturating_add(piece)));
            for (encoder, leaf) in encoders.iter_mut().zip(compute_leaves(field, &rows.array(content))?) {
                encoder.write(&leaf)?;
            }
        }
        encoders.into_iter().map(ArrowColumnWriter::close).collect()
    }

    /// Some rows, by their places in the row group.
    fn piece(&self, rows: Range<usize>) -> Piece<'_> {
        let ends = &self.release.ends;
        let group_of = |row: usize| ends.partition_point(|&end| end as usize <= self.first + row);
        let groups = if rows.is_empty() { 0..0 } else { group_of(rows.start)..group_of(rows.end - 1) + 1 };
        let place = self.first + rows.start..self.first + rows.end;
        Piece { release: self.release, schema: self.schema, texts: self.texts, groups, place, rows: &self.rows[rows] }
    }
}

/// Some rows on their way to columns.
struct Piece<'a> {
    release: &'a Release,
    schema: &'a Schema,
    texts: &'a Dictionaries,
    /// The groups that any of them are in.
    groups: Range<usize>,
    /// Their places in the file.
    place: Range<usize>,
    /// Rows of the release in the order of the file.
    rows: &'a [u32],
}

impl Piece<'_> {
    fn array(&self, content: &ColumnContent) -> ArrayRef {
        match content {
            ColumnContent::Record => {
                let ids = self.rows.iter().map(|&row| {
                    let mut text = Vec::with_capacity(16);
                    print_linked(self.release.linked[row as usize], &mut text);
                    Some(String::from_utf8(text).expect("digits are text"))
                });
                Arc::new(StringArray::from_iter(ids))
            }
            ColumnContent::GroupId => Arc::new(Int32Array::from(self.per_group(|group| group as i32 + 1))),
            ColumnContent::MaybeMissing(index) => {
                let root = self.schema.quasi[*index].root();
                Arc::new(BooleanArray::from(self.per_group(|group| self.release.region(group)[*index] == root)))
            }
            ColumnContent::RowWeight => Arc::new(Float64Array::from(
                self.per_group(|group| weight(self.release.group_rows(group).len(), self.release.counterfeits[group])),
            )),
            ColumnContent::Published(Role::Quasi, index) => self.spans(*index),
            ColumnContent::Published(Role::Public, index) => {
                self.texts(self.texts.get(true, *index), |row| self.release.public[row])
            }
            ColumnContent::Published(_, index) => {
                self.texts(self.texts.get(false, *index), |row| self.release.sensitive[row].0)
            }
        }
    }

    /// One item per row, the same for all rows of a group.
    fn per_group<T: Clone>(&self, item: impl Fn(usize) -> T) -> Vec<T> {
        let mut items = Vec::with_capacity(self.rows.len());
        for group in self.groups.clone() {
            let end = self.release.group_rows(group).end.min(self.place.end);
            items.resize(end - self.place.start, item(group));
        }
        items
    }

    /// A text column: `key` says which of `texts` a row has. Empty is null.
    fn texts(&self, texts: &ArrayRef, key: impl Fn(usize) -> u32) -> ArrayRef {
        let of_key = texts.as_string::<i32>();
        let keys = self.rows.iter().map(|&row| {
            let key = key(row as usize);
            (of_key.value_length(key as usize) > 0).then_some(key as i32)
        });
        Arc::new(DictionaryArray::<Int32Type>::new(Int32Array::from_iter(keys), Arc::clone(texts)))
    }

    /// The column of a quasi attribute.
    fn spans(&self, index: usize) -> ArrayRef {
        let attribute = &self.schema.quasi[index];
        let span = |group: usize| self.release.region(group)[index];
        match &attribute.domain {
            Domain::Category(_) => {
                let (mut labels, mut numbers) = (Vec::new(), FxHashMap::default());
                let keys = self.per_group(span);
                let keys = Int32Array::from_iter(keys.into_iter().map(|span| {
                    let number = *numbers.entry(span).or_insert_with(|| {
                        let mut label = String::new();
                        attribute.print(span, &mut label);
                        labels.push(label);
                        labels.len() as i32 - 1
                    });
                    (!labels[number as usize].is_empty()).then_some(number)
                }));
                Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::new(StringArray::from(labels))))
            }
            Domain::Integer { .. } if attribute.nullable => {
                self.intervals::<Float64Type>(attribute, index, |code| attribute.bound(code))
            }
            Domain::Integer { lo, .. } => self.intervals::<Int64Type>(attribute, index, |code| lo + i64::from(code)),
            Domain::Date { lo, .. } => {
                self.intervals::<TimestampMicrosecondType>(attribute, index, |code| (lo + i64::from(code)) * DAY)
            }
            Domain::Real { .. } => self.intervals::<Float64Type>(attribute, index, |code| attribute.bound(code)),
        }
    }

    fn intervals<T: ArrowPrimitiveType>(
        &self,
        attribute: &Quasi,
        index: usize,
        bound: impl Fn(u32) -> T::Native,
    ) -> ArrayRef {
        let null = attribute.null();
        let numbers = attribute.size() - u32::from(null.is_some());
        let of = |group: usize| -> Span { self.release.region(group)[index] };
        let left: PrimitiveArray<T> = PrimitiveArray::from_iter_values(self.per_group(|group| bound(of(group).lo)));
        // The root of an attribute that may be missing covers NULL, which has no bound.
        let right: PrimitiveArray<T> =
            PrimitiveArray::from_iter_values(self.per_group(|group| bound((of(group).hi + 1).min(numbers))));
        let recorded: Option<NullBuffer> =
            null.map(|null| NullBuffer::from(self.per_group(|group| of(group) != Span::exact(null))));
        let mask = |array: PrimitiveArray<T>| -> ArrayRef {
            let (_, values, _) = array.into_parts();
            Arc::new(PrimitiveArray::<T>::new(values, recorded.clone()))
        };
        let (left, right) = (mask(left), mask(right));
        Arc::new(StructArray::new(bound_fields(T::DATA_TYPE), vec![left, right], recorded.clone()))
    }
}
