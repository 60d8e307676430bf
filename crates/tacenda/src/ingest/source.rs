//! An input, recognised by its contents. It is a file or the standard input, plain or compressed, with text, Parquet or
//! an Excel sheet; or it is a table in memory.
//!
//! Nothing is concluded from a file name. A text is scanned completely before it is read ([`Layout`]), because one line
//! far down can decide the encoding. Conclusions are reported in notes.

use crate::ingest::error::{IngestError, Kind};
use crate::ingest::sniff::Layout;
use crate::ingest::spool::InputFile;
use crate::ingest::transcode::Transcoder;
use crate::ingest::{columnar, sheet, sniff};
use crate::model::hex;
use crate::promise::Connection;
use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::file::reader::Length;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::{fmt, io};

/// The most bytes that are read from a pipe. They go to a temporary file, which must not fill the disk.
const MOST_SPOOLED: u64 = 8 << 30;

/// A compressed text may always unpack to this many bytes, and beyond that to [`MOST_RATIO`] times its size.
const FREE_TO_UNPACK: u64 = if cfg!(test) { 1 << 20 } else { 1 << 30 };
const MOST_RATIO: u64 = 200;

/// An input that can be read more than once.
#[derive(Debug)]
pub struct Source {
    name: String,
    extension: String,
    body: Body,
    /// The result of `look`. It reads and hashes the whole input, so it runs once.
    looked: OnceLock<Box<Looked>>,
    /// The most rows that are read.
    most_rows: Option<u64>,
}

/// Where the rows are.
#[derive(Debug)]
enum Body {
    File(InputFile),
    Frame(Frame),
}

/// A table in memory, in Arrow's columns.
pub(super) struct Frame {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
    /// The number of its first row: 1, or the row number in a sheet.
    pub first_row: u64,
    /// What it is, for the notes.
    pub note: String,
    /// The SHA-256 of the file it was read from, if there is one.
    pub digest: Option<String>,
}

impl fmt::Debug for Frame {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Frame({} columns)", self.schema.fields().len())
    }
}

/// What an input turned out to be.
#[derive(Clone, Debug)]
pub struct Looked {
    /// Text or Parquet.
    pub content: Content,
    /// What was concluded, one sentence each.
    pub notes: Vec<String>,
    /// The SHA-256 of the input's bytes as they stand, in hexadecimal.
    pub digest: String,
}

/// The kinds of table that are read.
#[derive(Clone, Debug)]
pub enum Content {
    /// Text with a delimiter.
    Text(Layout),
    /// Typed columns: Apache Parquet, a frame in memory, or a sheet.
    Parquet,
}

/// How the bytes are packed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Compression {
    /// Not at all.
    Plain,
    /// gzip.
    Gzip,
    /// Zstandard.
    Zstd,
}

/// A table that a request names.
#[derive(Debug)]
pub enum Given {
    /// A file, or a release folder.
    Path(PathBuf),
    /// A table in memory.
    Frame(Source),
}

impl Given {
    /// The table, ready to be read.
    pub fn open(self) -> Result<Source, IngestError> {
        match self {
            Given::Path(path) => Source::open(&path),
            Given::Frame(source) => Ok(source),
        }
    }
}

impl Source {
    /// Opens a file. `-` is the standard input, `FILE.xlsx#SHEET` a sheet of a workbook. An input that is not a regular
    /// file is copied to a temporary one.
    pub fn open(path: &Path) -> Result<Source, IngestError> {
        if path.as_os_str() == "-" {
            return Source::spool("standard input", io::stdin().lock());
        }
        let name = path.display().to_string();
        // A file name may itself contain `#`.
        let (path, wanted) = match name.rsplit_once('#') {
            Some((file, sheet)) if !path.exists() && Path::new(file).is_file() => (Path::new(file), Some(sheet)),
            _ => (path, None),
        };
        let unreadable = |source| IngestError::Unreadable { name: name.clone(), source };
        if Connection::has_password(&name) && !path.exists() {
            let what = "it is no file; take the password out of it, and write postgresql:// for a database";
            let source = io::Error::new(io::ErrorKind::NotFound, what);
            return Err(IngestError::Unreadable { name: "an address with a password".into(), source });
        }
        refuse_named_pipe(path).map_err(unreadable)?;
        let file = File::open(path).map_err(unreadable)?;
        let kind = file.metadata().map_err(unreadable)?;
        if kind.is_dir() {
            return Err(IngestError::whole(Kind::NotWhatItSays, format!("{name} is a folder: name a table in it")));
        }
        if !kind.is_file() {
            return Source::spool(&name, file);
        }
        let extension = path.extension().map_or(String::new(), |part| part.to_string_lossy().to_lowercase());
        Ok(Source {
            body: recognised(InputFile::plain(file), &name, wanted)?,
            name,
            extension,
            looked: OnceLock::new(),
            most_rows: None,
        })
    }

    /// A table that is in memory already. Its batches have the columns of `schema`.
    pub fn frame(name: &str, schema: SchemaRef, batches: Vec<RecordBatch>) -> Source {
        let body = Body::Frame(Frame { schema, batches, first_row: 1, note: "a frame".into(), digest: None });
        Source { name: name.into(), extension: String::new(), body, looked: OnceLock::new(), most_rows: None }
    }

    /// The same, with another note on what it is; only for a table in memory.
    pub fn noting(mut self, note: String) -> Source {
        if let Body::Frame(frame) = &mut self.body {
            frame.note = note;
        }
        self
    }

    /// The same, refused if it has more than this many rows. That is checked before rows are read.
    pub fn at_most(self, rows: Option<u64>) -> Source {
        Source { most_rows: rows, ..self }
    }

    /// Refuses more rows than are allowed.
    pub(super) fn refuse_more(&self, rows: u64) -> Result<(), IngestError> {
        match self.most_rows {
            Some(most) if rows > most => Err(IngestError::TooManyRows { name: self.name.clone(), rows, most }),
            _ => Ok(()),
        }
    }

    /// The size in bytes, compressed if it is; 0 for a frame.
    pub(super) fn size(&self) -> u64 {
        match &self.body {
            Body::File(file) => file.len(),
            Body::Frame(_) => 0,
        }
    }

    /// Copies a stream to an encrypted temporary file without a name. It disappears when the source is dropped.
    pub fn spool(name: &str, stream: impl Read) -> Result<Source, IngestError> {
        Source::spool_at_most(name, stream, MOST_SPOOLED)
    }

    fn spool_at_most(name: &str, stream: impl Read, most: u64) -> Result<Source, IngestError> {
        let bounded = Bounded { inner: stream, left: most, what: "a pipe that does not end" };
        let file = InputFile::spool(bounded).map_err(|error| match error.kind() {
            io::ErrorKind::FileTooLarge => IngestError::reading(name, error),
            _ => IngestError::Unreadable { name: name.into(), source: error },
        })?;
        let body = recognised(file, name, None)?;
        Ok(Source { name: name.into(), extension: String::new(), body, looked: OnceLock::new(), most_rows: None })
    }

    /// What the input is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Determines what the input is, by reading all of it.
    pub fn look(&self) -> Result<Looked, IngestError> {
        if let Some(looked) = self.looked.get() {
            return Ok(Looked::clone(looked));
        }
        let looked = self.look_through()?;
        Ok(Looked::clone(self.looked.get_or_init(|| Box::new(looked))))
    }

    fn look_through(&self) -> Result<Looked, IngestError> {
        if let Body::Frame(frame) = &self.body {
            let digest = frame.digest.clone().map_or_else(|| columnar::digest(frame, &self.name), Ok)?;
            return Ok(Looked { content: Content::Parquet, notes: vec![frame.note.clone()], digest });
        }
        let mut head = [0; 16];
        let mut file = self.rewound()?;
        let length = read_full(&mut file, &mut head).map_err(|error| IngestError::reading(&self.name, error))?;
        let head = &head[..length];
        if let Some(what) = foreign(head) {
            return Err(IngestError::whole(Kind::NotWhatItSays, format!("{} is {what}", self.name)));
        }
        if head.starts_with(b"PAR1") {
            return self.look_at_parquet();
        }
        let compression = match head {
            [0x1f, 0x8b, ..] => Compression::Gzip,
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Compression::Zstd,
            _ => Compression::Plain,
        };
        self.look_at_text(compression)
    }

    /// The text, decompressed, in UTF-8 and without a byte order mark.
    pub(super) fn text(&self, layout: &Layout) -> Result<Box<dyn Read + Send>, IngestError> {
        let mut text = self.unpacked(layout.compression, self.rewound()?)?;
        let mut mark = vec![0; layout.skipped];
        text.read_exact(&mut mark).map_err(|error| IngestError::reading(&self.name, error))?;
        if layout.encoding != encoding_rs::UTF_8 {
            text = Box::new(Transcoder::new(text, layout.encoding));
        }
        let mut byte = [0];
        while layout.separator_line && byte[0] != layout.newline {
            text.read_exact(&mut byte).map_err(|error| IngestError::reading(&self.name, error))?;
        }
        Ok(text)
    }

    /// The table, if it is in memory.
    pub(super) fn in_memory(&self) -> Option<&Frame> {
        match &self.body {
            Body::Frame(frame) => Some(frame),
            Body::File(_) => None,
        }
    }

    /// A separate handle at the start of the file.
    pub(super) fn rewound(&self) -> Result<InputFile, IngestError> {
        let rewound = match &self.body {
            Body::File(file) => file.rewound(),
            Body::Frame(_) => Err(io::ErrorKind::Unsupported.into()),
        };
        rewound.map_err(|source| IngestError::Unreadable { name: self.name.clone(), source })
    }

    fn look_at_parquet(&self) -> Result<Looked, IngestError> {
        let mut hashing = Hashing::new(self.rewound()?);
        io::copy(&mut hashing, &mut io::sink()).map_err(|error| IngestError::reading(&self.name, error))?;
        let mut notes = vec!["Parquet".to_string()];
        if matches!(self.extension.as_str(), "csv" | "txt" | "tsv" | "gz" | "zst") {
            notes.push(format!("the name says .{}, the contents are Parquet: read as Parquet", self.extension));
        }
        Ok(Looked { content: Content::Parquet, notes, digest: hashing.digest() })
    }

    fn look_at_text(&self, compression: Compression) -> Result<Looked, IngestError> {
        let mut hashing = Hashing::new(self.rewound()?);
        let (layout, mut notes) = {
            let text = self.unpacked(compression, &mut hashing)?;
            sniff::layout(text, compression, &self.name)?
        };
        // A decompressor may stop before the end of the file, but the digest covers all of it.
        io::copy(&mut hashing, &mut io::sink()).map_err(|error| IngestError::reading(&self.name, error))?;
        match (compression, self.extension.as_str()) {
            (_, "parquet") => notes.push("the name says .parquet, the contents are text: read as text".into()),
            (Compression::Plain, "gz" | "zst") => {
                notes.push(format!("the name says .{}, the contents are not compressed", self.extension));
            }
            _ => {}
        }
        Ok(Looked { content: Content::Text(layout), notes, digest: hashing.digest() })
    }

    fn unpacked<'a>(
        &self,
        compression: Compression,
        raw: impl Read + Send + 'a,
    ) -> Result<Box<dyn Read + Send + 'a>, IngestError> {
        let left = self.size().saturating_mul(MOST_RATIO).max(FREE_TO_UNPACK);
        let what = "it unpacks to more than 1 GiB and 200 times its size";
        Ok(match compression {
            Compression::Plain => Box::new(raw),
            Compression::Gzip => Box::new(Bounded { inner: flate2::read::MultiGzDecoder::new(raw), left, what }),
            Compression::Zstd => {
                let inner = zstd::Decoder::new(raw).map_err(|error| IngestError::reading(&self.name, error))?;
                Box::new(Bounded { inner, left, what })
            }
        })
    }
}

/// A file, or the sheet of a workbook that it holds.
fn recognised(file: InputFile, name: &str, wanted: Option<&str>) -> Result<Body, IngestError> {
    let mut head = [0; 4];
    let read = file.rewound().and_then(|mut file| read_full(&mut file, &mut head));
    read.map_err(|error| IngestError::reading(name, error))?;
    if head == *b"PK\x03\x04" && sheet::is_workbook(&file) {
        return Ok(Body::Frame(sheet::read(&file, name, wanted)?));
    }
    match wanted {
        Some(_) => Err(IngestError::whole(Kind::WhichSheet, format!("{name}: that file is no workbook"))),
        None => Ok(Body::File(file)),
    }
}

/// Files that are often mistaken for tables, by their first bytes.
fn foreign(head: &[u8]) -> Option<&'static str> {
    const KNOWN: &[(&[u8], &str)] = &[
        (
            b"PK\x03\x04",
            "a zip archive or another spreadsheet (.ods, .xlsb): unpack it, or save the sheet as .xlsx or CSV",
        ),
        (b"PK\x05\x06", "an empty zip archive"),
        (b"\xd0\xcf\x11\xe0", "an old spreadsheet or document (.xls, .doc): save the sheet as .xlsx or CSV"),
        (b"%PDF", "a PDF document"),
        (b"SQLite format 3", "an SQLite database: export the table as CSV"),
        (b"BZh", "compressed with bzip2: unpack it, or use gzip or zstd"),
        (b"\xfd7zXZ", "compressed with xz: unpack it, or use gzip or zstd"),
        (b"7z\xbc\xaf", "a 7-zip archive: unpack it"),
        (b"ARROW1", "an Arrow file: write it as Parquet"),
        (b"ORC", "an ORC file: write it as Parquet"),
        (b"Obj\x01", "an Avro file: write it as Parquet"),
        (b"$FL2", "an SPSS file: export it as CSV"),
        (b"\x89PNG", "a picture"),
        (b"\xff\xd8\xff", "a picture"),
        (b"\x7fELF", "a program"),
        (b"<!DOCTYPE", "a web page: the download was probably answered with a sign-in page"),
        (b"<html", "a web page: the download was probably answered with a sign-in page"),
    ];
    // A text may start with ORC or BZh too; then the other bytes decide.
    let texty = !head.is_empty() && head.iter().all(|byte| matches!(byte, b' '..=b'~' | b'\r' | b'\n' | b'\t'));
    KNOWN
        .iter()
        .find(|(magic, _)| {
            head.starts_with(magic) && !(texty && matches!(magic, [b'O', b'R', b'C'] | [b'B', b'Z', b'h']))
        })
        .map(|&(_, what)| what)
}

/// Refuses a named pipe, because opening it would wait for a writer that may never come. A pipe that is already open,
/// such as the standard input, has a writer.
#[cfg(unix)]
fn refuse_named_pipe(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match std::fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_fifo() => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is a named pipe; hand it over as standard input, with -",
        )),
        _ => Ok(()),
    }
}

#[cfg(not(unix))]
fn refuse_named_pipe(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// A reader that stops with an error if there are more bytes than allowed.
struct Bounded<R> {
    inner: R,
    left: u64,
    what: &'static str,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        match self.left.checked_sub(read as u64) {
            Some(left) => self.left = left,
            None => return Err(io::Error::new(io::ErrorKind::FileTooLarge, self.what)),
        }
        Ok(read)
    }
}

/// Reads until `buffer` is full or the input ends.
pub(super) fn read_full(reader: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// A reader that keeps a digest of everything read through it.
pub(super) struct Hashing<R> {
    inner: R,
    hasher: Sha256,
}

impl<R: Read> Hashing<R> {
    pub(super) fn new(inner: R) -> Hashing<R> {
        Hashing { inner, hasher: Sha256::new() }
    }

    pub(super) fn digest(self) -> String {
        hex(&self.hasher.finalize())
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(out)?;
        self.hasher.update(&out[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pipe_that_does_not_end_stops_at_the_stated_size() {
        let error = Source::spool_at_most("a test", io::repeat(0), 1 << 20).unwrap_err();
        assert_eq!((error.code(), error.exit_code()), ("D141", 3), "{error}");
        assert!(Source::spool_at_most("a test", io::repeat(b'a').take(1 << 20), 1 << 20).is_ok());
    }

    #[test]
    fn a_bomb_stops_at_the_stated_size() {
        let bomb =
            |size: u64| zstd::encode_all(io::Read::chain(&b"id,age\n"[..], io::repeat(b'1').take(size)), 1).unwrap();
        let (small, large) = (bomb(FREE_TO_UNPACK / 2), bomb(20 * FREE_TO_UNPACK));
        assert!(large.len() as u64 * MOST_RATIO < 20 * FREE_TO_UNPACK);
        assert!(Source::spool("a test", &small[..]).unwrap().look().is_ok());
        let bomb = large;
        let error = Source::spool("a test", &bomb[..]).unwrap().look().unwrap_err();
        assert_eq!((error.code(), error.exit_code()), ("D141", 3), "{error}");
    }
}
