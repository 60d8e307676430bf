//! Columns of integers in Parquet files. They are written one row group at a time, with columns in parallel on all
//! cores, and read in the same way.

use arrow_array::{Array, ArrayRef, BooleanArray, RecordBatch, UInt32Array, UInt64Array};
use arrow_schema::{DataType, Field, Schema};
use bytes::Bytes;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::arrow::arrow_writer::compute_leaves;
use parquet::arrow::{ArrowWriter, ProjectionMask};
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use rayon::prelude::*;
use std::io::Write;
use std::ops::Range;
use std::sync::Arc;

/// How many rows are encoded at a time. The last row group of a file may be shorter.
pub(super) const ROWS_PER_GROUP: usize = 1 << 20;

type Make<'a, T> = Box<dyn Fn(Range<usize>) -> Vec<T> + Sync + 'a>;

/// The cells of a column, made for a range of rows at a time.
pub(super) enum Cells<'a> {
    /// Numbers of 64 bits that look random. They are stored as they are.
    Hashes(Make<'a, u64>),
    /// Numbers of 32 bits.
    Numbers(Make<'a, u32>),
    /// Yes or no.
    Flags(Make<'a, bool>),
}

/// A column to be written.
pub(super) struct Column<'a> {
    pub name: String,
    pub cells: Cells<'a>,
}

impl<'a> Column<'a> {
    pub fn hashes(name: impl Into<String>, make: impl Fn(Range<usize>) -> Vec<u64> + Sync + 'a) -> Column<'a> {
        Column { name: name.into(), cells: Cells::Hashes(Box::new(make)) }
    }

    pub fn numbers(name: impl Into<String>, make: impl Fn(Range<usize>) -> Vec<u32> + Sync + 'a) -> Column<'a> {
        Column { name: name.into(), cells: Cells::Numbers(Box::new(make)) }
    }

    pub fn flags(name: impl Into<String>, make: impl Fn(Range<usize>) -> Vec<bool> + Sync + 'a) -> Column<'a> {
        Column { name: name.into(), cells: Cells::Flags(Box::new(make)) }
    }

    fn field(&self) -> Field {
        let data_type = match &self.cells {
            Cells::Hashes(_) => DataType::UInt64,
            Cells::Numbers(_) => DataType::UInt32,
            Cells::Flags(_) => DataType::Boolean,
        };
        Field::new(&self.name, data_type, false)
    }

    fn array(&self, rows: Range<usize>) -> ArrayRef {
        match &self.cells {
            Cells::Hashes(make) => Arc::new(UInt64Array::from(make(rows))),
            Cells::Numbers(make) => Arc::new(UInt32Array::from(make(rows))),
            Cells::Flags(make) => Arc::new(BooleanArray::from(make(rows))),
        }
    }
}

/// Writes columns of `rows` rows.
pub(super) fn write<W: Write + Send>(out: W, rows: usize, columns: &[Column<'_>]) -> Result<(), ParquetError> {
    let schema = Arc::new(Schema::new(columns.iter().map(Column::field).collect::<Vec<Field>>()));
    let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties(columns)))?;
    let (mut file, factory) = writer.into_serialized_writer()?;
    for (group, start) in (0..rows).step_by(ROWS_PER_GROUP).enumerate() {
        let range = start..rows.min(start + ROWS_PER_GROUP);
        let writers = factory.create_column_writers(group)?;
        let chunks = columns
            .par_iter()
            .zip(writers)
            .zip(schema.fields().par_iter())
            .map(|((column, mut writer), field)| {
                for leaf in compute_leaves(field, &column.array(range.clone()))? {
                    writer.write(&leaf)?;
                }
                writer.close()
            })
            .collect::<Result<Vec<_>, ParquetError>>()?;
        let mut row_group = file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut row_group)?;
        }
        row_group.close()?;
    }
    file.close()?;
    Ok(())
}

/// Hashes do not compress and are stored plain. Small numbers are split into their bytes, which leaves long runs of
/// zeros. That takes a fraction of the time of a dictionary, and no more space.
fn properties(columns: &[Column<'_>]) -> WriterProperties {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).expect("1 is a level")))
        .set_dictionary_enabled(false)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_offset_index_disabled(true)
        .set_write_batch_size(1 << 16)
        .set_data_page_row_count_limit(1 << 17)
        .set_max_row_group_row_count(Some(ROWS_PER_GROUP));
    for column in columns {
        let path = ColumnPath::from(column.name.clone());
        properties = match column.cells {
            Cells::Hashes(_) => properties.set_column_compression(path, Compression::UNCOMPRESSED),
            Cells::Numbers(_) => properties.set_column_encoding(path, Encoding::BYTE_STREAM_SPLIT),
            Cells::Flags(_) => properties,
        };
    }
    properties.build()
}

/// A file of columns, read into memory and not decoded yet.
pub(super) struct ColumnFile {
    bytes: Bytes,
    metadata: ArrowReaderMetadata,
}

/// The decoded columns of one row group, in the order they were written.
pub(super) struct Decoded(RecordBatch);

impl ColumnFile {
    /// Opens a file's bytes; they must have been checked before. `None` if they are no such file.
    pub fn open(bytes: Vec<u8>) -> Option<ColumnFile> {
        let bytes = Bytes::from(bytes);
        let metadata = ArrowReaderMetadata::load(&bytes, ArrowReaderOptions::new()).ok()?;
        Some(ColumnFile { bytes, metadata })
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.metadata.metadata().file_metadata().num_rows() as usize
    }

    /// How many columns there are.
    pub fn columns(&self) -> usize {
        self.metadata.schema().fields().len()
    }

    /// Decodes the row group that begins at row `group * ROWS_PER_GROUP` and has `rows` rows.
    pub fn decode(&self, group: usize, rows: usize) -> Option<Decoded> {
        self.decode_only(ProjectionMask::all(), group, rows)
    }

    fn decode_only(&self, columns: ProjectionMask, group: usize, rows: usize) -> Option<Decoded> {
        let mut reader = ParquetRecordBatchReaderBuilder::new_with_metadata(self.bytes.clone(), self.metadata.clone())
            .with_projection(columns)
            .with_row_groups(vec![group])
            .with_batch_size(ROWS_PER_GROUP)
            .build()
            .ok()?;
        let batch = reader.next()?.ok()?;
        (batch.num_rows() == rows).then_some(Decoded(batch))
    }

    /// Decodes every row group, on all cores, into the slice of `out` that it fills.
    pub fn fill<T: Send>(&self, out: &mut [T], fill: impl Fn(&Decoded, &mut [T]) -> Option<()> + Sync) -> Option<()> {
        if out.len() != self.rows() {
            return None;
        }
        out.par_chunks_mut(ROWS_PER_GROUP)
            .enumerate()
            .map(|(group, out)| fill(&self.decode(group, out.len())?, out))
            .collect()
    }

    /// A whole column of 32 bits.
    pub fn numbers(&self, column: usize) -> Option<Vec<u32>> {
        let mut out = vec![0; self.rows()];
        let only = ProjectionMask::leaves(self.metadata.parquet_schema(), [column]);
        out.par_chunks_mut(ROWS_PER_GROUP)
            .enumerate()
            .map(|(group, out)| {
                out.copy_from_slice(self.decode_only(only.clone(), group, out.len())?.numbers(0)?);
                Some(())
            })
            .collect::<Option<()>>()?;
        Some(out)
    }
}

impl Decoded {
    pub fn hashes(&self, column: usize) -> Option<&[u64]> {
        Some(self.0.columns().get(column)?.as_any().downcast_ref::<UInt64Array>()?.values())
    }

    pub fn numbers(&self, column: usize) -> Option<&[u32]> {
        Some(self.0.columns().get(column)?.as_any().downcast_ref::<UInt32Array>()?.values())
    }

    pub fn flags(&self, column: usize) -> Option<&BooleanArray> {
        self.0.columns().get(column)?.as_any().downcast_ref::<BooleanArray>()
    }
}
