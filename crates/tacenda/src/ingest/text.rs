//! Text, cut into chunks of whole records that several threads encode in parallel.
//!
//! One thread reads, unpacks and cuts; the others split chunks into cells and cells into codes. Only a
//! few chunks exist at any time. A chunk without a quote is split by hand, any other by the `csv` crate.

use crate::ingest::columns::Columns;
use crate::ingest::error::{IngestError, Kind};
use crate::ingest::sniff::{LONGEST_RECORD, Layout, never_closed};
use crate::ingest::source::{Source, read_full};
use csv::ByteRecord;
use memchr::{memchr, memchr_iter, memchr2_iter, memrchr};
use std::io;
use std::io::Read;

const CHUNK: usize = 256 << 10;

/// Whole records of a text.
pub(super) struct Chunk {
    pub bytes: Vec<u8>,
    /// The line the first record starts on, counted from 1.
    pub first_line: u64,
}

/// Cuts a text into chunks.
pub(super) struct Chunks {
    text: Box<dyn Read + Send>,
    delimiter: u8,
    newline: u8,
    rest: Vec<u8>,
    line: u64,
    ended: bool,
    /// How many quoted cells run over many lines, and the line the first of them starts on.
    long_cells: (u64, u64),
}

/// A quoted cell with more line breaks than this is worth a note.
const LONG_CELL: u32 = 5;

impl Chunks {
    /// The chunks of an input's text.
    pub fn new(source: &Source, layout: &Layout) -> Result<Chunks, IngestError> {
        Ok(Chunks {
            text: source.text(layout)?,
            delimiter: layout.delimiter,
            newline: layout.newline,
            rest: Vec::new(),
            line: 1 + u64::from(layout.separator_line),
            ended: false,
            long_cells: (0, 0),
        })
    }

    /// A note about the chunks so far. Two stray quotes far apart look like one long cell that swallows the rows
    /// between them. In a dropped column nothing else would show that.
    pub fn note(&self) -> Option<String> {
        let (cells, line) = self.long_cells;
        (cells > 0).then(|| {
            format!(
                "{cells} quoted cells run over more than {LONG_CELL} lines, the first from line {line}: if that is not free \
                 text, stray quotes have swallowed rows"
            )
        })
    }

    /// Takes the header off the front.
    pub fn header(&mut self) -> Result<Vec<String>, Stop> {
        let mut chunk = self.next().unwrap_or(Err(Stop::Empty))?;
        let mut reader = reader(&chunk.bytes, self.delimiter);
        let mut record = ByteRecord::new();
        if !reader.read_byte_record(&mut record).map_err(|error| Stop::Failed(error.into()))? {
            return Err(Stop::Empty);
        }
        let names = record.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
        let end = reader.position().byte() as usize;
        self.line = chunk.first_line + memchr_iter(b'\n', &chunk.bytes[..end]).count() as u64;
        chunk.bytes.drain(..end);
        chunk.bytes.append(&mut self.rest);
        self.rest = chunk.bytes;
        // The rest of the chunk is scanned again.
        self.long_cells = (0, 0);
        Ok(names)
    }
}

/// Why there are no more chunks.
#[derive(Debug)]
pub(super) enum Stop {
    /// The text has no contents.
    Empty,
    /// A record has no end. The number is the line on which it starts.
    Endless(u64),
    /// A quote is never closed. The number is its line.
    Unclosed(u64),
    /// Text follows a closing quote. The number is the line of that quote.
    Trailing(u64),
    /// The input cannot be read.
    Failed(io::Error),
}

impl Stop {
    pub fn error(self, name: &str) -> IngestError {
        match self {
            Stop::Empty => IngestError::whole(Kind::EmptyFile, format!("{name} has no contents")),
            Stop::Endless(line) => IngestError::whole(
                Kind::RaggedRow,
                format!("the row of line {line} is longer than {} MB: a quote is not closed", LONGEST_RECORD >> 20),
            ),
            Stop::Unclosed(line) => never_closed(line),
            Stop::Trailing(line) => {
                IngestError::whole(Kind::RaggedRow, format!("text follows the closing quote of a cell in line {line}"))
            }
            Stop::Failed(error) => IngestError::reading(name, error),
        }
    }
}

impl Iterator for Chunks {
    type Item = Result<Chunk, Stop>;

    fn next(&mut self) -> Option<Result<Chunk, Stop>> {
        let mut bytes = std::mem::take(&mut self.rest);
        let mut wanted = CHUNK;
        loop {
            let kept = bytes.len();
            if !self.ended && kept < wanted {
                bytes.resize(wanted, 0);
                let read = match read_full(&mut self.text, &mut bytes[kept..]) {
                    Ok(read) => read,
                    Err(error) => return Some(Err(Stop::Failed(error))),
                };
                bytes.truncate(kept + read);
                self.ended = bytes.len() < wanted;
                if self.newline == b'\r' {
                    bytes[kept..].iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b'\n');
                }
            }
            if bytes.is_empty() {
                return None;
            }
            let quotes = Quotes::scan(&bytes, self.delimiter);
            let line = |at: usize| self.line + memchr_iter(b'\n', &bytes[..at]).count() as u64;
            if let Some(at) = quotes.trailing {
                return Some(Err(Stop::Trailing(line(at))));
            }
            if self.ended
                && let Some(at) = quotes.open
            {
                return Some(Err(Stop::Unclosed(line(at))));
            }
            let end = if self.ended { Some(bytes.len()) } else { quotes.last_end };
            if let Some(end) = end {
                let mut long = quotes.long.iter().filter(|&&at| at < end).peekable();
                if self.long_cells.0 == 0
                    && let Some(&&at) = long.peek()
                {
                    self.long_cells.1 = line(at);
                }
                self.long_cells.0 += long.count() as u64;
                self.rest = bytes.split_off(end);
                let first_line = self.line;
                self.line += memchr_iter(b'\n', &bytes).count() as u64;
                return Some(Ok(Chunk { bytes, first_line }));
            }
            if bytes.len() >= LONGEST_RECORD {
                return Some(Err(Stop::Endless(self.line)));
            }
            wanted = bytes.len() * 2;
        }
    }
}

/// Where quotes open and close, for bytes that start with a record.
#[derive(Default)]
struct Quotes {
    /// Where the last whole record ends.
    last_end: Option<usize>,
    /// The quote that is still open at the end.
    open: Option<usize>,
    /// The first closing quote that text follows.
    trailing: Option<usize>,
    /// Where cells of many lines open.
    long: Vec<usize>,
}

impl Quotes {
    fn scan(bytes: &[u8], delimiter: u8) -> Quotes {
        let mut quotes = Quotes::default();
        if memchr(b'"', bytes).is_none() {
            quotes.last_end = memrchr(b'\n', bytes).map(|at| at + 1);
            return quotes;
        }
        let ends_cell = |byte: u8| [delimiter, b'\n', b'\r'].contains(&byte);
        let mut skip = None;
        let mut breaks = 0;
        for at in memchr2_iter(b'"', b'\n', bytes) {
            if skip.take() == Some(at) {
                continue;
            }
            match (bytes[at], quotes.open) {
                (b'\n', None) => quotes.last_end = Some(at + 1),
                (b'\n', Some(open)) => {
                    breaks += 1;
                    if breaks == LONG_CELL + 1 {
                        quotes.long.push(open);
                    }
                }
                (b'"', Some(_)) => match bytes.get(at + 1) {
                    Some(b'"') => skip = Some(at + 1),
                    // At the end of the bytes, only the next chunk shows whether the quote is doubled. The record goes
                    // there too, because its line has not ended.
                    next => {
                        quotes.open = None;
                        if next.is_some_and(|&byte| !ends_cell(byte)) {
                            quotes.trailing = quotes.trailing.or(Some(at));
                        }
                    }
                },
                // A quote counts only at the start of a cell.
                (b'"', None) if at == 0 || ends_cell(bytes[at - 1]) => (quotes.open, breaks) = (Some(at), 0),
                _ => {}
            }
        }
        quotes
    }
}

/// A reader of records without a header, with any number of cells.
fn reader(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(bytes)
}

/// Encodes the records of a chunk.
pub(super) fn encode(chunk: &Chunk, delimiter: u8, columns: &mut Columns<'_>) {
    each_record(chunk, delimiter, |line, bytes, cells| {
        if cells.len() != columns.plan.width {
            return columns.tally.add(Kind::RaggedRow, "", line);
        }
        if columns.plan.nameless.is_some_and(|column| cells[column].0 != cells[column].1) {
            columns.tally.add(Kind::NamelessColumn, "", line);
        }
        columns.row(line, |column| {
            let (start, end) = cells[column];
            &bytes[start as usize..end as usize]
        });
    });
}

/// Calls `take` with the line, the bytes and the cells (as positions in the bytes) of every record.
pub(super) fn each_record(chunk: &Chunk, delimiter: u8, mut take: impl FnMut(u64, &[u8], &[(u32, u32)])) {
    let bytes = &chunk.bytes[..];
    let plain = memchr(b'"', bytes).is_none()
        && memchr_iter(b'\r', bytes).all(|at| bytes.get(at + 1) == Some(&b'\n'))
        && bytes.len() < u32::MAX as usize;
    if plain { each_plain_record(chunk, delimiter, take) } else { each_quoted_record(chunk, delimiter, &mut take) }
}

fn each_quoted_record(chunk: &Chunk, delimiter: u8, take: &mut impl FnMut(u64, &[u8], &[(u32, u32)])) {
    let mut reader = reader(&chunk.bytes, delimiter);
    let mut record = ByteRecord::new();
    let mut cells: Vec<(u32, u32)> = Vec::new();
    while reader.read_byte_record(&mut record).expect("bytes in memory can be read, and rows may be ragged") {
        let line = chunk.first_line + record.position().map_or(1, |position| line_of(position, &chunk.bytes)) - 1;
        cells.clear();
        cells.extend((0..record.len()).map(|cell| {
            let range = record.range(cell).expect("the record has this cell");
            (range.start as u32, range.end as u32)
        }));
        take(line, record.as_slice(), &cells);
    }
}

/// The line on which a record starts. The crate's position lies before the blank lines and the rest of a line ending
/// that it skips.
pub(super) fn line_of(position: &csv::Position, bytes: &[u8]) -> u64 {
    let skipped = bytes[position.byte() as usize..].iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    position.line() + skipped.filter(|&&byte| byte == b'\n').count() as u64
}

fn each_plain_record(chunk: &Chunk, delimiter: u8, mut take: impl FnMut(u64, &[u8], &[(u32, u32)])) {
    let bytes = &chunk.bytes[..];
    let mut cells: Vec<(u32, u32)> = Vec::new();
    let mut line = chunk.first_line;
    let mut start = 0;
    let mut cell = 0;
    let mut end_line = |start: usize, cell: usize, end: usize, cells: &mut Vec<(u32, u32)>| {
        let end = if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end };
        if end > start {
            cells.push((cell as u32, end as u32));
            take(line, bytes, cells);
        }
        cells.clear();
        line += 1;
    };
    for (at, &byte) in bytes.iter().enumerate() {
        if byte == delimiter {
            cells.push((cell as u32, at as u32));
            cell = at + 1;
        } else if byte == b'\n' {
            end_line(start, cell, at, &mut cells);
            (start, cell) = (at + 1, at + 1);
        }
    }
    if start < bytes.len() {
        end_line(start, cell, bytes.len(), &mut cells);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Records = Vec<(u64, Vec<Vec<u8>>)>;

    fn collect(chunk: &Chunk, quoted: bool) -> Records {
        let mut records = Vec::new();
        let mut take = |line, bytes: &[u8], cells: &[(u32, u32)]| {
            let cut = |&(start, end): &(u32, u32)| bytes[start as usize..end as usize].to_vec();
            records.push((line, cells.iter().map(cut).collect()));
        };
        if quoted {
            each_quoted_record(chunk, b',', &mut take)
        } else {
            each_record(chunk, b',', take)
        }
        records
    }

    proptest! {
        #[test]
        fn splitting_by_hand_is_splitting_by_the_crate(text in "[a,\r\n]{0,40}") {
            let chunk = Chunk { bytes: text.into_bytes(), first_line: 7 };
            prop_assert_eq!(collect(&chunk, false), collect(&chunk, true));
        }

        #[test]
        fn chunks_end_where_records_end(text in "[a,\"\n]{0,40}") {
            let bytes = text.as_bytes();
            if let Some(end) = Quotes::scan(bytes, b',').last_end {
                let whole = collect(&Chunk { bytes: bytes.to_vec(), first_line: 1 }, true);
                let mut cut = collect(&Chunk { bytes: bytes[..end].to_vec(), first_line: 1 }, true);
                let lines = memchr_iter(b'\n', &bytes[..end]).count() as u64;
                cut.extend(collect(&Chunk { bytes: bytes[end..].to_vec(), first_line: 1 + lines }, true));
                prop_assert_eq!(whole, cut);
            }
        }
    }
}
