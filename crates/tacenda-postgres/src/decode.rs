//! Rows of `COPY … (FORMAT binary)` on their way to Arrow's columns.
//!
//! A number keeps what its text would say: `numeric` becomes its exact text. NaN means missing, as in a Parquet file; in a CSV
//! file it is a text that is no number. Blanks at the end of `char(n)` are no part of the value; in a CSV file they are.

use arrow_array::builder::{
    BooleanBuilder, Date32Builder, Float32Builder, Float64Builder, Int32Builder, Int64Builder, StringBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef, TimeUnit};
use std::fmt::Write;
use std::sync::Arc;
use tacenda::use_cases::DatabaseError;

/// How many rows a batch has.
const BATCH: usize = 1 << 16;

/// From 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
const DAYS: i32 = 10_957;
const MICROSECONDS: i64 = DAYS as i64 * 86_400_000_000;

/// What begins a binary copy: a signature, flags and the length of an extension.
const SIGNATURE: &[u8; 11] = b"PGCOPY\n\xff\r\n\0";
const HEADER: usize = 19;

/// How the cells of a column are sent.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Sent {
    Boolean,
    Int2,
    Int4,
    Int8,
    Float4,
    Float8,
    Numeric,
    Date,
    Timestamp,
    Text,
    /// Text that is filled up with blanks.
    Padded,
    Uuid,
}

/// The cells of a column.
enum Cells {
    Boolean(BooleanBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Date(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Text(StringBuilder),
}

/// Rows on their way.
pub struct Decoder {
    schema: SchemaRef,
    columns: Vec<(Sent, Cells)>,
    batches: Vec<RecordBatch>,
    /// Rows of the batch that is being filled.
    filled: usize,
    /// Rows in all.
    rows: u64,
    /// Bytes of a row that is not complete yet.
    rest: Vec<u8>,
    state: Progress,
    scratch: String,
}

#[derive(Clone, Copy, Eq, PartialEq)]
enum Progress {
    Header,
    Rows,
    Ended,
}

/// Why a cell is not read.
enum Refused {
    /// No person has it.
    Cell(&'static str),
    /// It is not what its type says.
    Malformed,
}

impl Decoder {
    /// For these columns, in this order.
    pub fn new(columns: &[(String, Sent)]) -> Decoder {
        let cells: Vec<(Sent, Cells)> = columns.iter().map(|(_, sent)| (*sent, Cells::new(*sent))).collect();
        let field = |((name, _), (_, cells)): (&(String, Sent), &(Sent, Cells))| Field::new(name, cells.kind(), true);
        let fields: Vec<Field> = columns.iter().zip(&cells).map(field).collect();
        Decoder {
            schema: Arc::new(Schema::new(fields)),
            columns: cells,
            batches: Vec::new(),
            filled: 0,
            rows: 0,
            rest: Vec::new(),
            state: Progress::Header,
            scratch: String::new(),
        }
    }

    /// Takes the next bytes. They may end anywhere.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        if self.rest.is_empty() {
            let taken = self.take_whole(bytes)?;
            self.rest.extend_from_slice(&bytes[taken..]);
            return Ok(());
        }
        let mut all = std::mem::take(&mut self.rest);
        all.extend_from_slice(bytes);
        let taken = self.take_whole(&all)?;
        self.rest = all.split_off(taken);
        Ok(())
    }

    /// Takes all that is complete, and returns how many bytes that was.
    fn take_whole(&mut self, bytes: &[u8]) -> Result<usize, DatabaseError> {
        let mut at = 0;
        if self.state == Progress::Header {
            let Some(head) = bytes.get(..HEADER) else { return Ok(0) };
            let extension = u32::from_be_bytes(head[15..].try_into().expect("four bytes")) as usize;
            if !head.starts_with(SIGNATURE) || extension > 1 << 16 {
                return Err(malformed());
            }
            if bytes.len() < HEADER + extension {
                return Ok(0);
            }
            (at, self.state) = (HEADER + extension, Progress::Rows);
        }
        while self.state == Progress::Rows {
            match row_length(&bytes[at..], self.columns.len())? {
                None => break,
                Some(0) => {
                    at += 2;
                    self.state = Progress::Ended;
                }
                Some(length) => {
                    self.row(&bytes[at + 2..at + length])?;
                    at += length;
                }
            }
        }
        match self.state == Progress::Ended && at < bytes.len() {
            true => Err(malformed()),
            false => Ok(at),
        }
    }

    /// Takes the cells of one row, which are complete.
    fn row(&mut self, mut cells: &[u8]) -> Result<(), DatabaseError> {
        self.rows += 1;
        for (index, (sent, column)) in self.columns.iter_mut().enumerate() {
            let (length, after) = cells.split_at(4);
            let length = i32::from_be_bytes(length.try_into().expect("four bytes"));
            let (cell, after) = after.split_at(length.max(0) as usize);
            cells = after;
            let cell = (length >= 0).then_some(cell);
            column.push(*sent, cell, &mut self.scratch).map_err(|refused| match refused {
                Refused::Malformed => malformed(),
                Refused::Cell(what) => {
                    let column = self.schema.field(index).name().clone();
                    DatabaseError::BadCell { column, row: self.rows, what }
                }
            })?;
        }
        self.filled += 1;
        if self.filled == BATCH {
            self.close_batch();
        }
        Ok(())
    }

    fn close_batch(&mut self) {
        if self.filled == 0 {
            return;
        }
        self.filled = 0;
        let arrays: Vec<ArrayRef> = self.columns.iter_mut().map(|(_, cells)| cells.finish()).collect();
        if arrays.is_empty() {
            return;
        }
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), arrays);
        self.batches.push(batch.expect("every column has its type and every row"));
    }

    /// The table and how many rows it has. The copy must have come to its end.
    pub fn finish(mut self) -> Result<(SchemaRef, Vec<RecordBatch>, u64), DatabaseError> {
        if self.state != Progress::Ended {
            return Err(DatabaseError::Failed { what: "the rows broke off".into() });
        }
        self.close_batch();
        Ok((self.schema, self.batches, self.rows))
    }
}

/// How many bytes the next row takes: 0 for the end of all rows, `None` if the row is not complete.
fn row_length(bytes: &[u8], columns: usize) -> Result<Option<usize>, DatabaseError> {
    let Some(count) = bytes.first_chunk() else { return Ok(None) };
    match i16::from_be_bytes(*count) {
        -1 => return Ok(Some(0)),
        count if count as usize == columns => {}
        _ => return Err(malformed()),
    }
    let mut at = 2;
    for _ in 0..columns {
        let Some(length) = bytes.get(at..).and_then(|rest| rest.first_chunk()) else { return Ok(None) };
        let length = i32::from_be_bytes(*length);
        if length < -1 {
            return Err(malformed());
        }
        at += 4 + length.max(0) as usize;
    }
    Ok((at <= bytes.len()).then_some(at))
}

fn malformed() -> DatabaseError {
    DatabaseError::Failed { what: "the server sent what is no binary copy".into() }
}

impl Cells {
    fn new(sent: Sent) -> Cells {
        match sent {
            Sent::Boolean => Cells::Boolean(BooleanBuilder::new()),
            Sent::Int2 | Sent::Int4 => Cells::Int32(Int32Builder::new()),
            Sent::Int8 => Cells::Int64(Int64Builder::new()),
            Sent::Float4 => Cells::Float32(Float32Builder::new()),
            Sent::Float8 => Cells::Float64(Float64Builder::new()),
            Sent::Date => Cells::Date(Date32Builder::new()),
            Sent::Timestamp => Cells::Timestamp(TimestampMicrosecondBuilder::new()),
            Sent::Numeric | Sent::Text | Sent::Padded | Sent::Uuid => Cells::Text(StringBuilder::new()),
        }
    }

    fn kind(&self) -> DataType {
        match self {
            Cells::Boolean(_) => DataType::Boolean,
            Cells::Int32(_) => DataType::Int32,
            Cells::Int64(_) => DataType::Int64,
            Cells::Float32(_) => DataType::Float32,
            Cells::Float64(_) => DataType::Float64,
            Cells::Date(_) => DataType::Date32,
            Cells::Timestamp(_) => DataType::Timestamp(TimeUnit::Microsecond, None),
            Cells::Text(_) => DataType::Utf8,
        }
    }

    fn finish(&mut self) -> ArrayRef {
        match self {
            Cells::Boolean(cells) => Arc::new(cells.finish()),
            Cells::Int32(cells) => Arc::new(cells.finish()),
            Cells::Int64(cells) => Arc::new(cells.finish()),
            Cells::Float32(cells) => Arc::new(cells.finish()),
            Cells::Float64(cells) => Arc::new(cells.finish()),
            Cells::Date(cells) => Arc::new(cells.finish()),
            Cells::Timestamp(cells) => Arc::new(cells.finish()),
            Cells::Text(cells) => Arc::new(cells.finish()),
        }
    }

    fn push(&mut self, sent: Sent, cell: Option<&[u8]>, scratch: &mut String) -> Result<(), Refused> {
        match self {
            Cells::Boolean(cells) => cells.append_option(cell.map(of::<1>).transpose()?.map(|[byte]| byte != 0)),
            Cells::Int32(cells) if sent == Sent::Int2 => {
                cells.append_option(cell.map(of).transpose()?.map(|bytes| i32::from(i16::from_be_bytes(bytes))));
            }
            Cells::Int32(cells) => cells.append_option(cell.map(of).transpose()?.map(i32::from_be_bytes)),
            Cells::Int64(cells) => cells.append_option(cell.map(of).transpose()?.map(i64::from_be_bytes)),
            Cells::Float32(cells) => cells.append_option(cell.map(of).transpose()?.map(f32::from_be_bytes)),
            Cells::Float64(cells) => cells.append_option(cell.map(of).transpose()?.map(f64::from_be_bytes)),
            Cells::Date(cells) => cells.append_option(cell.map(days).transpose()?),
            Cells::Timestamp(cells) => cells.append_option(cell.map(microseconds).transpose()?),
            Cells::Text(cells) => match cell {
                None => cells.append_null(),
                Some(cell) => match sent {
                    Sent::Numeric => {
                        scratch.clear();
                        match numeric(cell, scratch).ok_or(Refused::Malformed)? {
                            true => cells.append_value(&scratch),
                            false => cells.append_null(),
                        }
                    }
                    Sent::Uuid => {
                        scratch.clear();
                        uuid(of(cell)?, scratch);
                        cells.append_value(&scratch);
                    }
                    sent => {
                        let text = std::str::from_utf8(cell).map_err(|_| Refused::Cell("the text is not UTF-8"))?;
                        cells.append_value(if sent == Sent::Padded { text.trim_end_matches(' ') } else { text });
                    }
                },
            },
        }
        Ok(())
    }
}

/// A cell of so many bytes.
fn of<const LENGTH: usize>(cell: &[u8]) -> Result<[u8; LENGTH], Refused> {
    cell.try_into().map_err(|_| Refused::Malformed)
}

/// Days since 1970-01-01.
fn days(cell: &[u8]) -> Result<i32, Refused> {
    match i32::from_be_bytes(of(cell)?) {
        i32::MIN | i32::MAX => Err(Refused::Cell("the date is infinite")),
        days => days.checked_add(DAYS).ok_or(Refused::Cell("the date is too far away")),
    }
}

/// Microseconds since 1970-01-01.
fn microseconds(cell: &[u8]) -> Result<i64, Refused> {
    match i64::from_be_bytes(of(cell)?) {
        i64::MIN | i64::MAX => Err(Refused::Cell("the time is infinite")),
        time => time.checked_add(MICROSECONDS).ok_or(Refused::Cell("the time is too far away")),
    }
}

fn uuid(bytes: [u8; 16], out: &mut String) {
    for (at, byte) in bytes.into_iter().enumerate() {
        if [4, 6, 8, 10].contains(&at) {
            out.push('-');
        }
        // By hand, because every row has one and the formatter is slow.
        out.extend([byte >> 4, byte & 15].map(|half| char::from(b"0123456789abcdef"[usize::from(half)])));
    }
}

/// Prints a `numeric` as PostgreSQL does: false for NaN, `None` if the bytes are none.
fn numeric(cell: &[u8], out: &mut String) -> Option<bool> {
    let (head, digits) = cell.split_first_chunk::<8>()?;
    let part = |at: usize| u16::from_be_bytes([head[at], head[at + 1]]);
    let (count, weight, sign, scale) = (usize::from(part(0)), i32::from(part(2) as i16), part(4), usize::from(part(6)));
    match sign {
        0x0000 => {}
        0x4000 => out.push('-'),
        0xc000 => return Some(false),
        0xd000 => out.push_str("Infinity"),
        0xf000 => out.push_str("-Infinity"),
        _ => return None,
    }
    if sign & 0x8000 != 0 {
        return Some(true);
    }
    let value = |at: usize| u16::from_be_bytes([digits[2 * at], digits[2 * at + 1]]);
    if digits.len() != 2 * count || (0..count).any(|at| value(at) > 9_999) {
        return None;
    }
    // Four decimal digits each; those that are not sent are zero.
    let group = |place: i32| {
        let at = usize::try_from(place).ok().filter(|&at| at < count);
        at.map_or(0, value)
    };
    let _ = write!(out, "{}", if weight < 0 { 0 } else { group(0) });
    let print = |places: std::ops::RangeInclusive<i32>, out: &mut String| {
        for place in places {
            let four = [1_000, 100, 10, 1].map(|unit| (group(place) / unit % 10) as u8);
            out.extend(four.map(|digit| char::from(b'0' + digit)));
        }
    };
    print(1..=weight, out);
    if scale > 0 {
        out.push('.');
        let end = out.len() + scale;
        print(weight + 1..=weight + scale.div_ceil(4) as i32, out);
        out.truncate(end);
    }
    Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::cast::AsArray;

    /// A `numeric` as the server sends it.
    fn sent(weight: i16, sign: u16, scale: u16, digits: &[u16]) -> Vec<u8> {
        let head = [digits.len() as u16, weight as u16, sign, scale];
        head.iter().chain(digits).flat_map(|part| part.to_be_bytes()).collect()
    }

    #[test]
    fn a_numeric_is_printed_exactly() {
        for (weight, sign, scale, digits, text) in [
            (0, 0, 0, &[42][..], "42"),
            (0, 0x4000, 2, &[12, 5000], "-12.50"),
            (1, 0, 0, &[1], "10000"),
            (2, 0, 1, &[1, 0, 7, 5000], "100000007.5"),
            (-1, 0, 4, &[1], "0.0001"),
            (-1, 0, 1, &[5000], "0.5"),
            (-2, 0, 8, &[1234], "0.00001234"),
            (-3, 0, 10, &[1234], "0.0000000012"),
            (0, 0, 3, &[], "0.000"),
            (0, 0, 0, &[], "0"),
            (4, 0, 0, &[12, 3456, 7890, 1234, 5678], "123456789012345678"),
            (0, 0xd000, 0, &[], "Infinity"),
        ] {
            let mut out = String::new();
            assert_eq!((numeric(&sent(weight, sign, scale, digits), &mut out), &*out), (Some(true), text));
        }
        assert_eq!(numeric(&sent(0, 0xc000, 0, &[]), &mut String::new()), Some(false));
        assert_eq!(numeric(&sent(0, 0x1234, 0, &[]), &mut String::new()), None);
        assert_eq!(numeric(&sent(0, 0, 0, &[10_000]), &mut String::new()), None);
        assert_eq!(numeric(&sent(0, 0, 0, &[1])[..9], &mut String::new()), None);
    }

    /// Two rows of a text and a number, the second without its number.
    fn stream() -> Vec<u8> {
        let mut bytes = SIGNATURE.to_vec();
        bytes.extend([0; 8]);
        for (text, number) in [("flu", Some(7i32)), ("", None)] {
            bytes.extend(2i16.to_be_bytes());
            bytes.extend((text.len() as i32).to_be_bytes());
            bytes.extend(text.as_bytes());
            bytes.extend(number.map_or(-1i32, |_| 4).to_be_bytes());
            bytes.extend(number.map(i32::to_be_bytes).into_iter().flatten());
        }
        bytes.extend((-1i16).to_be_bytes());
        bytes
    }

    fn decoder() -> Decoder {
        Decoder::new(&[("illness".into(), Sent::Text), ("age".into(), Sent::Int4)])
    }

    #[test]
    fn rows_are_the_same_wherever_the_bytes_are_cut() {
        let bytes = stream();
        for cut in 0..=bytes.len() {
            let mut decoder = decoder();
            decoder.take(&bytes[..cut]).unwrap();
            decoder.take(&bytes[cut..]).unwrap();
            let (_, batches, rows) = decoder.finish().unwrap();
            assert_eq!((rows, batches.len()), (2, 1));
            assert_eq!(batches[0].column(0).as_string::<i32>().value(0), "flu");
            assert_eq!(batches[0].column(1).null_count(), 1);
        }
    }

    #[test]
    fn bytes_that_are_no_rows_are_an_error_and_never_a_panic() {
        let bytes = stream();
        // What breaks off has lost rows.
        for cut in 0..bytes.len() {
            let mut decoder = decoder();
            let taken = decoder.take(&bytes[..cut]);
            assert!(taken.is_err() || decoder.finish().is_err(), "cut at {cut}");
        }
        for at in 0..bytes.len() {
            for changed in [0, 1, 0x7f, 0xff] {
                let mut bytes = bytes.clone();
                bytes[at] = changed;
                let mut decoder = decoder();
                let _ = decoder.take(&bytes).map(|()| decoder.finish());
            }
        }
    }

    #[test]
    fn dates_count_from_another_day_and_are_never_infinite() {
        assert_eq!(days(&0i32.to_be_bytes()).ok(), Some(10_957));
        assert!(days(&i32::MAX.to_be_bytes()).is_err() && days(&(i32::MAX - 1).to_be_bytes()).is_err());
        assert!(microseconds(&i64::MIN.to_be_bytes()).is_err());
    }
}
