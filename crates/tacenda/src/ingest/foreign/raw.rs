//! The unprocessed cells of a file, each distinct text once.
//!
//! Published tables repeat few texts in many rows. So a column is a list of texts and a number per row, and the meaning
//! of a text is worked out once.

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::foreign::parts::Parts;
use crate::ingest::source::{Content, Source};
use crate::ingest::text::Chunks;
use crate::ingest::{columnar, text};
use rustc_hash::FxHashMap;

/// How many places of a problem are told.
const MOST_PLACES: usize = 5;

/// A file of which some columns were read.
pub struct RawFile {
    /// What the file is called.
    pub name: String,
    /// The names of all its columns.
    pub header: Vec<String>,
    /// Per wanted column, its cells; `None` if the file has no such column.
    pub columns: Vec<Option<RawColumn>>,
    /// How many rows there are.
    pub rows: usize,
    /// Whether places are rows and not lines.
    pub counts_rows: bool,
    /// The SHA-256 of the file's bytes as they stand.
    pub digest: String,
    /// Wanted columns that the file has in parts, by name.
    pub parts: Vec<(String, Parts)>,
}

/// A column's cells.
#[derive(Default)]
pub struct RawColumn {
    /// The distinct texts, in the order they were met.
    pub texts: Vec<Box<str>>,
    /// Per text, the place of the first row that has it.
    pub first: Vec<u64>,
    /// Per text, how many rows have it.
    pub counts: Vec<u64>,
    /// Per row, its text.
    pub codes: Vec<u32>,
    index: FxHashMap<Box<[u8]>, u32>,
}

impl RawColumn {
    /// Adds a cell.
    pub(super) fn push(&mut self, cell: &[u8], place: u64) {
        // In most files the rows of a group are together, so the last text often repeats.
        if let Some(&last) = self.codes.last()
            && self.texts[last as usize].as_bytes() == cell
        {
            self.counts[last as usize] += 1;
            return self.codes.push(last);
        }
        let code = match self.index.get(cell) {
            Some(&code) => code,
            None => {
                let code = self.texts.len() as u32;
                self.index.insert(cell.into(), code);
                self.texts.push(String::from_utf8_lossy(cell).into());
                self.first.push(place);
                self.counts.push(0);
                code
            }
        };
        self.counts[code as usize] += 1;
        self.codes.push(code);
    }

    /// Ends the adding of cells.
    pub(super) fn finish(&mut self) {
        self.index = FxHashMap::default();
        self.codes.shrink_to_fit();
    }

    /// Repeats each row as often as `times` says.
    pub(super) fn repeat(&mut self, times: &[u32]) {
        let rows = self.codes.iter().zip(times);
        self.codes = rows.flat_map(|(&code, &times)| std::iter::repeat_n(code, times as usize)).collect();
        self.counts = vec![0; self.texts.len()];
        self.codes.iter().for_each(|&code| self.counts[code as usize] += 1);
    }
}

/// The names of a file's columns.
pub fn header(source: &Source) -> Result<Vec<String>, IngestError> {
    match source.look()?.content {
        Content::Text(layout) => Chunks::new(source, &layout)?.header().map_err(|stop| stop.error(source.name())),
        Content::Parquet => Ok(columnar::open(source)?.header),
    }
}

/// Passes on every cell of the wanted columns that a file has: the column, the cell, and its place. Returns the header
/// and the number of rows.
pub(super) fn each_cell(
    source: &Source,
    wanted: &[&str],
    mut each: impl FnMut(usize, &[u8], u64),
) -> Result<(Vec<String>, usize), IngestError> {
    match &source.look()?.content {
        Content::Text(layout) => {
            let mut chunks = Chunks::new(source, layout)?;
            let header = chunks.header().map_err(|stop| stop.error(source.name()))?;
            let places = places(&header, wanted, source.name())?;
            source.refuse_more(layout.records)?;
            let (mut rows, mut ragged) = (0, (0, Vec::new()));
            for chunk in chunks {
                let chunk = chunk.map_err(|stop| stop.error(source.name()))?;
                text::each_record(&chunk, layout.delimiter, |line, bytes, cells| {
                    if cells.len() != header.len() {
                        ragged.0 += 1;
                        // Every row of a bomb may be one.
                        return if ragged.1.len() < MOST_PLACES {
                            ragged.1.push(line)
                        };
                    }
                    rows += 1;
                    for (column, at) in places.iter().enumerate() {
                        if let Some(at) = at {
                            let (start, end) = cells[*at];
                            each(column, &bytes[start as usize..end as usize], line);
                        }
                    }
                });
            }
            refuse_ragged(ragged, source.name())?;
            Ok((header, rows))
        }
        Content::Parquet => {
            let opened = columnar::open(source)?;
            let places = places(&opened.header, wanted, source.name())?;
            let rows = opened.rows().unsigned_abs() as usize;
            source.refuse_more(rows as u64)?;
            let header = opened.header.clone();
            let found: Vec<usize> = (0..wanted.len()).filter(|&at| places[at].is_some()).collect();
            let read: Vec<usize> = places.iter().flatten().copied().collect();
            let mut rows_of = vec![0u64; wanted.len()];
            opened.each_wanted(source.name(), &read, |place, cell| {
                let column = found[place];
                rows_of[column] += 1;
                each(column, cell, rows_of[column]);
            })?;
            Ok((header, rows))
        }
    }
}

impl RawFile {
    /// Reads the wanted columns of a file. The first `whole` of them may be split into parts.
    pub fn read(source: &Source, wanted: &[&str], whole: usize) -> Result<RawFile, IngestError> {
        let names = header(source)?;
        let find = |&name: &&str| Some((name.to_string(), Parts::find(&names, name, wanted)?));
        let parts: Vec<(String, Parts)> = wanted[..whole].iter().filter_map(find).collect();
        let more: Vec<&str> = parts.iter().flat_map(|(_, parts)| parts.columns()).collect();
        let all: Vec<&str> = wanted.iter().copied().chain(more).collect();
        let mut file = RawFile::read_plain(source, &all)?;
        let mut first = wanted.len();
        for (name, parts) in &parts {
            let end = first + parts.columns().len();
            let columns: Vec<&RawColumn> = file.columns[first..end].iter().flatten().collect();
            let joined = parts.join(&columns, &file)?;
            let at = wanted.iter().position(|wanted| wanted == name).expect("parts of a wanted column");
            file.columns[at] = Some(joined);
            first = end;
        }
        file.columns.truncate(wanted.len());
        file.parts = parts;
        Ok(file)
    }

    fn read_plain(source: &Source, wanted: &[&str]) -> Result<RawFile, IngestError> {
        let looked = source.look()?;
        let mut columns: Vec<Option<RawColumn>> = wanted.iter().map(|_| None).collect();
        let (header, rows) = each_cell(source, wanted, |column, cell, place| {
            columns[column].get_or_insert_default().push(cell, place);
        })?;
        let mut file = RawFile {
            name: source.name().into(),
            header,
            columns,
            rows,
            counts_rows: looked.counts_rows(),
            digest: looked.digest,
            parts: Vec::new(),
        };
        if file.rows == 0 {
            return Err(IngestError::whole(Kind::NoRows, format!("{} has a header and nothing below", file.name)));
        }
        if file.rows >= u32::MAX as usize {
            return Err(IngestError::whole(Kind::TooManyRows, file.name));
        }
        file.columns.iter_mut().flatten().for_each(RawColumn::finish);
        file.refuse_line_breaks(wanted)?;
        Ok(file)
    }

    /// The problem with some texts of a column: how many rows have them, and the first places.
    pub fn problem(&self, kind: Kind, name: &str, column: &RawColumn, bad: &[u32]) -> Problem {
        let mut places: Vec<u64> = bad.iter().map(|&text| column.first[text as usize]).collect();
        places.sort_unstable();
        places.truncate(MOST_PLACES);
        Problem {
            column: Some(name.into()),
            rows: bad.iter().map(|&text| column.counts[text as usize]).sum(),
            places,
            places_are_rows: self.counts_rows,
            ..Problem::whole(kind, format!("in {}", self.name))
        }
    }

    fn refuse_line_breaks(&self, wanted: &[&str]) -> Result<(), IngestError> {
        let mut problems = Vec::new();
        for (column, name) in self.columns.iter().zip(wanted) {
            let Some(column) = column else { continue };
            let broken = |&text: &u32| column.texts[text as usize].contains(['\n', '\r']);
            let bad: Vec<u32> = (0..column.texts.len() as u32).filter(broken).collect();
            if !bad.is_empty() {
                problems.push(self.problem(Kind::LineBreak, name, column, &bad));
            }
        }
        if problems.is_empty() { Ok(()) } else { Err(IngestError::Rejected(problems)) }
    }
}

/// The place of each wanted column in the header.
fn places(header: &[String], wanted: &[&str], file: &str) -> Result<Vec<Option<usize>>, IngestError> {
    wanted
        .iter()
        .map(|name| {
            let mut found = header.iter().enumerate().filter(|(_, column)| column == name).map(|(at, _)| at);
            let first = found.next();
            match found.next() {
                None => Ok(first),
                Some(_) => Err(IngestError::Rejected(vec![Problem {
                    column: Some(name.to_string()),
                    ..Problem::whole(Kind::DuplicateColumn, format!("in {file}"))
                }])),
            }
        })
        .collect()
}

fn refuse_ragged((rows, places): (u64, Vec<u64>), file: &str) -> Result<(), IngestError> {
    if rows == 0 {
        return Ok(());
    }
    let problem = Problem::whole(Kind::RaggedRow, format!("in {file}"));
    Err(IngestError::Rejected(vec![Problem { rows, places, ..problem }]))
}
