//! Determines the encoding, delimiter, quotes and line endings of a text by reading all of it.
//!
//! The header decides which delimiters are possible. The delimiter is the one under which most records have as many
//! cells as the header. Quotes are respected.

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::source::{Compression, read_full};
use crate::ingest::transcode::Transcoder;
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};
use memchr::{memchr, memchr_iter, memrchr};
use std::io;
use std::io::Read;

/// The longest line that is accepted as a record.
pub(super) const LONGEST_RECORD: usize = 64 << 20;

/// The delimiters that are looked for.
const DELIMITERS: [u8; 4] = [b',', b';', b'\t', b'|'];

const BLOCK: usize = 256 << 10;

/// How a text is to be read.
#[derive(Clone, Debug)]
pub struct Layout {
    /// How the bytes are packed.
    pub compression: Compression,
    /// The encoding.
    pub encoding: &'static Encoding,
    /// How many bytes of byte order mark are skipped.
    pub skipped: usize,
    /// The delimiter between cells.
    pub delimiter: u8,
    /// The line ending: `\n` (also for `\r\n`), or `\r` if there is no `\n`.
    pub newline: u8,
    /// About how many records there are.
    pub records: u64,
    /// Whether the first line only says the delimiter, such as `sep=;`. It is skipped.
    pub separator_line: bool,
}

/// The layout of `text`, with notes.
pub(super) fn layout(
    mut text: impl Read,
    compression: Compression,
    name: &str,
) -> Result<(Layout, Vec<String>), IngestError> {
    let failed = |error: io::Error| IngestError::reading(name, error);
    let mut head = [0; 4];
    let length = read_full(&mut text, &mut head).map_err(failed)?;
    let head = &head[..length];
    let (encoding, skipped) = match head {
        [0xef, 0xbb, 0xbf, ..] => (UTF_8, 3),
        [0xff, 0xfe, ..] => (UTF_16LE, 2),
        [0xfe, 0xff, ..] => (UTF_16BE, 2),
        _ => (UTF_8, 0),
    };
    if compression != Compression::Plain && head == b"PAR1" {
        return Err(IngestError::whole(Kind::NotWhatItSays, format!("{name} is a compressed Parquet file: unpack it")));
    }
    let mut look = Look::new(encoding);
    let text = head[skipped.min(length)..].chain(text);
    if encoding == UTF_8 {
        look.read(text, |_| false).map_err(|stop| stop.error(name))?;
    } else {
        look.read(Transcoder::new(text, encoding), |text| text.faulty).map_err(|stop| stop.error(name))?;
    }
    look.finish(compression, skipped, name)
}

/// Everything seen so far.
struct Look {
    encoding: &'static Encoding,
    newline: Option<u8>,
    lines: u64,
    crlf: u64,
    quotes: bool,
    contents: bool,
    candidates: Vec<Candidate>,
    /// The delimiter, if the first line says it.
    separator: Option<u8>,
    /// The first line that is not UTF-8.
    stray_line: Option<u64>,
    stray_bytes: u64,
    /// Characters beyond ASCII that are good UTF-8.
    good_characters: u64,
}

enum Stop {
    Failed(io::Error),
    Binary(u64),
    NoLines,
    Encoding(u64, &'static str),
}

impl Stop {
    fn error(self, name: &str) -> IngestError {
        match self {
            Stop::Failed(error) => IngestError::reading(name, error),
            Stop::Binary(line) => {
                IngestError::whole(Kind::NotWhatItSays, format!("{name} has binary contents in line {line}"))
            }
            Stop::NoLines => IngestError::whole(
                Kind::NotWhatItSays,
                format!("{name} has a line of more than {} MB", LONGEST_RECORD >> 20),
            ),
            Stop::Encoding(line, why) => IngestError::Rejected(vec![Problem {
                places: vec![line],
                ..Problem::whole(Kind::WrongEncoding, format!("{name}: {why}"))
            }]),
        }
    }
}

impl Look {
    fn new(encoding: &'static Encoding) -> Look {
        Look {
            encoding,
            newline: None,
            lines: 0,
            crlf: 0,
            quotes: false,
            contents: false,
            candidates: DELIMITERS.into_iter().map(Candidate::new).collect(),
            separator: None,
            stray_line: None,
            stray_bytes: 0,
            good_characters: 0,
        }
    }

    /// Goes through the text in blocks of whole lines.
    fn read<R: Read>(&mut self, mut text: R, faulty: impl Fn(&R) -> bool) -> Result<(), Stop> {
        let mut buffer = vec![0; BLOCK];
        let mut kept = 0;
        loop {
            let read = read_full(&mut text, &mut buffer[kept..]).map_err(Stop::Failed)?;
            let filled = kept + read;
            let ended = filled < buffer.len();
            let fresh = &buffer[kept..filled];
            if let Some(at) = memchr(0, fresh) {
                let before = memchr_iter(b'\n', &buffer[..kept + at]).count() as u64;
                return Err(Stop::Binary(self.lines + before + 1));
            }
            if faulty(&text) {
                let at = memchr::memmem::find(fresh, "\u{fffd}".as_bytes()).unwrap_or(0);
                let before = memchr_iter(b'\n', &buffer[..kept + at]).count() as u64;
                return Err(Stop::Encoding(self.lines + before + 1, "the text is cut in the middle of a character"));
            }
            let newline = *self.newline.get_or_insert_with(|| {
                if memchr(b'\n', fresh).is_none() && memchr(b'\r', fresh).is_some() { b'\r' } else { b'\n' }
            });
            let whole = if ended { filled } else { memrchr(newline, &buffer[..filled]).map_or(0, |at| at + 1) };
            self.block(&buffer[..whole], newline)?;
            if ended {
                return Ok(());
            }
            buffer.copy_within(whole..filled, 0);
            kept = filled - whole;
            if kept == buffer.len() {
                if kept >= LONGEST_RECORD {
                    return Err(Stop::NoLines);
                }
                buffer.resize(kept * 2, 0);
            }
        }
    }

    fn block(&mut self, block: &[u8], newline: u8) -> Result<(), Stop> {
        self.check_encoding(block)?;
        self.quotes |= memchr(b'"', block).is_some();
        let mut start = 0;
        while start < block.len() {
            let end = memchr(newline, &block[start..]).map_or(block.len(), |at| start + at);
            let mut line = &block[start..end];
            if let [rest @ .., b'\r'] = line {
                self.crlf += u64::from(end < block.len());
                line = rest;
            }
            self.lines += 1;
            if self.lines == 1
                && let Some(delimiter) = separator(line)
            {
                self.separator = Some(delimiter);
                self.candidates.retain(|candidate| candidate.delimiter == delimiter);
            } else if !line.is_empty() {
                self.contents = true;
                let quoted = self.quotes && memchr(b'"', line).is_some();
                let number = self.lines;
                self.candidates.iter_mut().for_each(|candidate| candidate.line(number, line, quoted));
                self.candidates.retain(|candidate| candidate.header != Some(0));
            }
            start = end + 1;
        }
        Ok(())
    }

    fn check_encoding(&mut self, block: &[u8]) -> Result<(), Stop> {
        if block.is_ascii() {
            return Ok(());
        }
        if simdutf8::basic::from_utf8(block).is_ok() {
            self.good_characters += block.iter().filter(|&&byte| byte >= 0xc0).count() as u64;
            return Ok(());
        }
        let mut at = 0;
        for part in block.utf8_chunks() {
            self.good_characters += part.valid().bytes().filter(|&byte| byte >= 0xc0).count() as u64;
            at += part.valid().len();
            if part.invalid().is_empty() {
                continue;
            }
            let line = || self.lines + memchr_iter(b'\n', &block[..at]).count() as u64 + 1;
            if self.stray_line.is_none() {
                self.stray_line = Some(line());
            }
            // windows-1252 does not define these five bytes.
            if part.invalid().iter().any(|byte| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d)) {
                return Err(Stop::Encoding(line(), "neither UTF-8 nor windows-1252"));
            }
            self.stray_bytes += part.invalid().len() as u64;
            at += part.invalid().len();
        }
        Ok(())
    }

    fn finish(
        mut self,
        compression: Compression,
        skipped: usize,
        name: &str,
    ) -> Result<(Layout, Vec<String>), IngestError> {
        if !self.contents {
            return Err(IngestError::whole(Kind::EmptyFile, format!("{name} has no contents")));
        }
        let mut encoding = self.encoding;
        let mut note = match encoding.name() {
            "UTF-8" if skipped > 0 => "encoding UTF-8 with a byte order mark".to_string(),
            other => format!("encoding {other}"),
        };
        if let Some(line) = self.stray_line {
            // Valid UTF-8 characters do not occur by chance in windows-1252, so the file mixes two encodings.
            if skipped > 0 || self.good_characters * 10 >= self.stray_bytes {
                return Err(Stop::Encoding(line, "not UTF-8, although other lines are").error(name));
            }
            encoding = WINDOWS_1252;
            note = format!("encoding windows-1252: line {line} is not UTF-8");
        }
        self.candidates.iter_mut().for_each(Candidate::end_of_text);
        let best = self.candidates.iter().rev().max_by_key(|candidate| (candidate.agreeing, candidate.header));
        if let Some(candidate) = best.filter(|candidate| candidate.open) {
            return Err(never_closed(candidate.opened));
        }
        let delimiter = best.map_or(b',', |candidate| candidate.delimiter);
        let said = match delimiter {
            b';' => "; (semicolon)",
            b'\t' => "tab",
            b'|' => "| (bar)",
            _ if best.is_none() => "none: one column",
            _ => ", (comma)",
        };
        let endings = match (self.newline, self.crlf) {
            (Some(b'\r'), _) => "CR",
            (_, 0) => "LF",
            (_, crlf) if crlf + 1 >= self.lines => "CRLF",
            _ => "LF and CRLF mixed",
        };
        let mut notes = vec![format!("delimiter {said}"), note, format!("line endings {endings}")];
        match compression {
            Compression::Plain => {}
            Compression::Gzip => notes.push("compressed with gzip".into()),
            Compression::Zstd => notes.push("compressed with zstd".into()),
        }
        if self.separator.is_some() {
            notes.push("the first line says which delimiter is used, and is skipped".into());
        }
        let separator_line = self.separator.is_some();
        let records = best.map_or(self.lines, |candidate| candidate.agreeing);
        let newline = self.newline.unwrap_or(b'\n');
        Ok((Layout { compression, encoding, skipped, delimiter, newline, records, separator_line }, notes))
    }
}

/// The delimiter that a line says, as spreadsheet programs write it: `sep=;`.
fn separator(line: &[u8]) -> Option<u8> {
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [word @ .., delimiter] if word.eq_ignore_ascii_case(b"sep=") && DELIMITERS.contains(delimiter) => {
            Some(*delimiter)
        }
        _ => None,
    }
}

/// The error of a quote that would swallow the rest of the table.
pub(super) fn never_closed(line: u64) -> IngestError {
    IngestError::whole(Kind::RaggedRow, format!("a quote opened in line {line} is never closed"))
}

/// A possible delimiter.
struct Candidate {
    delimiter: u8,
    open: bool,
    /// The line in which a quote was last opened.
    opened: u64,
    count: u32,
    /// How many there are in the header.
    header: Option<u32>,
    /// How many records have as many delimiters as the header.
    agreeing: u64,
}

impl Candidate {
    fn new(delimiter: u8) -> Candidate {
        Candidate { delimiter, open: false, opened: 0, count: 0, header: None, agreeing: 0 }
    }

    fn line(&mut self, number: u64, line: &[u8], quoted: bool) {
        if !quoted {
            if !self.open {
                self.count = line.iter().filter(|&&byte| byte == self.delimiter).count() as u32;
                self.end_record();
            }
            return;
        }
        let mut before = self.delimiter;
        let mut bytes = line.iter().copied().peekable();
        while let Some(byte) = bytes.next() {
            match byte {
                // A doubled quote is a literal one, and the cell continues.
                b'"' if self.open => self.open = bytes.next_if_eq(&b'"').is_some(),
                b'"' if before == self.delimiter => (self.open, self.opened) = (true, number),
                _ if !self.open && byte == self.delimiter => self.count += 1,
                _ => {}
            }
            before = byte;
        }
        if !self.open {
            self.end_record();
        }
    }

    fn end_record(&mut self) {
        let header = *self.header.get_or_insert(self.count);
        self.agreeing += u64::from(header == self.count);
        self.count = 0;
    }

    /// A quote that is never closed swallows the rest of the text. That counts against this delimiter.
    fn end_of_text(&mut self) {
        if self.header.is_none() {
            self.header = Some(self.count);
        }
    }
}
