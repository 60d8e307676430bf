//! Reads the text form of a release. Every fault is named by file, line and column.

use crate::folder::csv::header;
use crate::folder::manifest::StatedCounts;
use crate::folder::order::{FileColumns, print_weight};
use crate::folder::read::Rows;
use crate::folder::{FolderError, digest};
use crate::model::{CountedColumn, GROUP_ID, PeopleCounts, Quasi, RECORD, ROW_WEIGHT, Role, Schema, Span};
use csv::{ByteRecord, ReaderBuilder};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::path::Path;

/// How many rows and counterfeits each group has.
pub fn read_counterfeits(path: &Path, name: &str) -> Result<Vec<(u32, u32)>, FolderError> {
    let mut reader = open(path, name)?;
    let mut record = ByteRecord::new();
    let mut counts = Vec::new();
    while next(&mut reader, &mut record, name)? {
        let fault = |column: &str, what| cell(name, &record, column, what);
        let number = |at: usize, column: &str| {
            let text = record.get(at).and_then(|text| std::str::from_utf8(text).ok());
            text.and_then(|text| text.parse::<u32>().ok()).ok_or_else(|| fault(column, "not a whole number"))
        };
        if number(0, GROUP_ID)? as usize != counts.len() + 1 {
            return Err(fault(GROUP_ID, "groups are not numbered 1, 2, 3 and so on"));
        }
        let (rows, counterfeits) = (number(1, "rows")?, number(2, "counterfeits")?);
        if counterfeits > rows {
            return Err(fault("counterfeits", "more counterfeits than rows"));
        }
        counts.push((rows, counterfeits));
    }
    Ok(counts)
}

/// How many people have which quasi values. Every cell must be one of the column's, every number a multiple of the unit.
pub fn read_counts(
    path: &Path,
    name: &str,
    stated: &StatedCounts,
    schema: &Schema,
) -> Result<PeopleCounts, FolderError> {
    let rules = schema.quasi.iter().filter_map(|quasi| Some((quasi, *stated.cells.get(&quasi.name)?)));
    let mut columns: Vec<(Vec<Span>, CountedColumn)> = rules
        .map(|(quasi, rule)| (quasi.cells(rule), CountedColumn { name: quasi.name.clone(), rule, cells: Vec::new() }))
        .collect();
    let mut reader = open(path, name)?;
    let mut record = ByteRecord::new();
    while next(&mut reader, &mut record, name)? {
        let fault = |column: &str, what| cell(name, &record, column, what);
        let text = |at: usize| record.get(at).and_then(|text| std::str::from_utf8(text).ok());
        let counted = columns.iter_mut().find(|(_, column)| text(0) == Some(&column.name));
        let (cells, column) = counted.ok_or_else(|| fault("column", "not a counted column of the manifest"))?;
        let quasi = schema.quasi_named(&column.name).map(|(_, quasi)| quasi);
        let span = quasi.and_then(|quasi| quasi.read(text(1)?)).filter(|span| cells.binary_search(span).is_ok());
        let span = span.ok_or_else(|| fault("cell", "not a cell of this column"))?;
        let people = text(2).and_then(|text| text.parse::<u64>().ok()).filter(|&people| people > 0);
        let people = people.filter(|people| people.is_multiple_of(u64::from(stated.unit)));
        let people = people.ok_or_else(|| fault("people", "not a multiple of the unit that the manifest says"))?;
        if column.cells.last().is_some_and(|(last, _)| *last >= span) {
            return Err(fault("cell", "cells are not in ascending order"));
        }
        column.cells.push((span, people));
    }
    Ok(PeopleCounts { unit: stated.unit, columns: columns.into_iter().map(|(_, column)| column).collect() })
}

/// Reads the data file.
pub fn read_data(
    path: &Path,
    name: &str,
    shape: &FileColumns<'_>,
    counts: Option<&[(u32, u32)]>,
) -> Result<Rows, FolderError> {
    let mut reader = open(path, name)?;
    let wanted = header(shape);
    let found = reader.byte_headers().map_err(|error| broken(name, &error))?;
    if !found.iter().eq(wanted.iter().map(|name| name.as_bytes())) {
        return Err(FolderError::File { file: name.into(), what: "its columns are not those of the manifest".into() });
    }
    let places = Places::new(shape);
    let mut data =
        Data { name, shape, counts, places, rows: Rows::new(shape.schema.quasi.len()), known: KnownSpans::default() };
    let (mut record, mut first) = (ByteRecord::new(), ByteRecord::new());
    while next(&mut reader, &mut record, name)? {
        let at = data.places.group;
        if data.rows.ends.is_empty() || record[at] != first[at] {
            data.end_group(&first)?;
            data.start_group(&record)?;
            first.clone_from(&record);
        }
        data.add(&record, &first)?;
    }
    data.end_group(&first)?;
    if counts.is_some_and(|counts| counts.len() != data.rows.ends.len()) {
        let what = "it has another number of groups than the list of counterfeits".into();
        return Err(FolderError::File { file: name.into(), what });
    }
    Ok(data.rows)
}

/// Where the columns stand.
struct Places {
    group: usize,
    quasi: Vec<usize>,
    sensitive: Vec<usize>,
    public: Vec<usize>,
    weight: Option<usize>,
}

impl Places {
    fn new(shape: &FileColumns<'_>) -> Places {
        let schema = shape.schema;
        let group = usize::from(shape.linked);
        let place = |role: Role, index: usize| {
            let at = schema.order.iter().position(|&column| column == (role, index));
            group + 1 + at.expect("every column of a public schema is published")
        };
        let all = |role: Role, count: usize| (0..count).map(|index| place(role, index)).collect();
        Places {
            group,
            quasi: all(Role::Quasi, schema.quasi.len()),
            sensitive: all(Role::Sensitive, schema.sensitive.len()),
            public: all(Role::Public, schema.public.len()),
            weight: shape.row_weight.then_some(group + 1 + schema.order.len()),
        }
    }
}

/// The data file while it is read.
struct Data<'a> {
    name: &'a str,
    shape: &'a FileColumns<'a>,
    counts: Option<&'a [(u32, u32)]>,
    places: Places,
    rows: Rows,
    known: KnownSpans,
}

/// What texts of quasi columns mean, by the place of the column. Most groups share their texts with others.
#[derive(Default)]
struct KnownSpans(FxHashMap<usize, FxHashMap<Box<[u8]>, Span>>);

impl KnownSpans {
    /// What a text means; `None` for nothing.
    fn span(&mut self, attribute: &Quasi, at: usize, text: &[u8]) -> Option<Span> {
        let known = self.0.entry(at).or_default();
        if let Some(&span) = known.get(text) {
            return Some(span);
        }
        let span = attribute.read(std::str::from_utf8(text).ok()?)?;
        known.insert(text.into(), span);
        Some(span)
    }
}

impl Data<'_> {
    /// Reads what the rows of a group share, from the first.
    fn start_group(&mut self, record: &ByteRecord) -> Result<(), FolderError> {
        let number = self.rows.ends.len() + 1;
        let mut digits = itoa::Buffer::new();
        if &record[self.places.group] != digits.format(number).as_bytes() {
            return Err(cell(self.name, record, GROUP_ID, "groups are not numbered 1, 2, 3 and so on"));
        }
        let mut region: Vec<Span> = Vec::with_capacity(self.places.quasi.len());
        for (attribute, &at) in self.shape.schema.quasi.iter().zip(&self.places.quasi) {
            region.push(self.known.span(attribute, at, &record[at]).ok_or_else(|| {
                cell(self.name, record, &attribute.name, "not an interval, a group of values or a value of this column")
            })?);
        }
        self.rows.start(&region);
        Ok(())
    }

    fn add(&mut self, record: &ByteRecord, first: &ByteRecord) -> Result<(), FolderError> {
        let places = &self.places;
        let fault = |column: &str, what| cell(self.name, record, column, what);
        for (attribute, &at) in self.shape.schema.quasi.iter().zip(&places.quasi) {
            if record[at] != first[at] {
                return Err(fault(&attribute.name, "differs from the other rows of its group"));
            }
        }
        if places.weight.is_some_and(|at| record[at] != first[at]) {
            return Err(fault(ROW_WEIGHT, "differs from the other rows of its group"));
        }
        let value = self.rows.values.number(places.sensitive.iter().map(|&at| &record[at]));
        let value = value.ok_or_else(|| fault(&self.shape.schema.sensitive[0].name, "not UTF-8 text"))?;
        self.rows.sensitive.push(value);
        if !places.public.is_empty() {
            let public = self.rows.publics.number(places.public.iter().map(|&at| &record[at]));
            let public = public.ok_or_else(|| fault(&self.shape.schema.public[0].name, "not UTF-8 text"))?;
            self.rows.public.push(public);
        }
        if self.shape.linked {
            let text = std::str::from_utf8(&record[0]).ok().filter(|text| text.len() == 16);
            let linked = text.and_then(|text| u64::from_str_radix(text, 16).ok());
            self.rows.linked.push(linked.ok_or_else(|| fault(RECORD, "not sixteen hexadecimal digits"))?);
        }
        self.rows.grow();
        Ok(())
    }

    /// Checks the number of rows and the weight of the group that ends.
    fn end_group(&self, first: &ByteRecord) -> Result<(), FolderError> {
        let Some(group) = self.rows.ends.len().checked_sub(1) else { return Ok(()) };
        let size = self.rows.last_size();
        let (rows, counterfeits) = match self.counts {
            None => (size, 0),
            Some(counts) => counts.get(group).map_or((0, 0), |&(rows, counterfeits)| (rows as usize, counterfeits)),
        };
        if rows != size {
            let what = "this group has another number of rows than the list of counterfeits says";
            return Err(cell(self.name, first, GROUP_ID, what));
        }
        if let Some(at) = self.places.weight {
            let mut wanted = String::new();
            print_weight(size, counterfeits, &mut wanted);
            if first[at] != *wanted.as_bytes() {
                return Err(cell(self.name, first, ROW_WEIGHT, "not the share of people in this group"));
            }
        }
        Ok(())
    }
}

fn open(path: &Path, name: &str) -> Result<csv::Reader<File>, FolderError> {
    let file = digest::open(path).map_err(|source| FolderError::Read { file: name.into(), source })?;
    Ok(ReaderBuilder::new().buffer_capacity(1 << 20).from_reader(file))
}

fn next(reader: &mut csv::Reader<File>, record: &mut ByteRecord, name: &str) -> Result<bool, FolderError> {
    reader.read_byte_record(record).map_err(|error| broken(name, &error))
}

fn cell(file: &str, record: &ByteRecord, column: &str, what: &'static str) -> FolderError {
    let line = record.position().map_or(0, csv::Position::line);
    FolderError::Cell { file: file.into(), line, column: column.into(), what }
}

/// The reader's error without the text it may quote.
fn broken(file: &str, error: &csv::Error) -> FolderError {
    let what = match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
            let line = pos.as_ref().map_or(0, csv::Position::line);
            format!("line {line} has {len} cells, the header has {expected_len}")
        }
        csv::ErrorKind::Io(error) => error.to_string(),
        _ => "it is not comma-separated text".into(),
    };
    FolderError::File { file: file.into(), what }
}
