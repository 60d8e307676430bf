//! People as rows of numbers, in scratch files.

use crate::ledger::{LedgerError, Scratch, ScratchFile, ScratchWriter};
use crate::model::{Record, RecordKey, Row, Schema, Table, Value, ValueSetId, Values};

/// How many numbers a key takes.
pub(super) const KEY: usize = 4;

/// How many numbers a record takes, without its key.
const RECORD: usize = 6;

/// Where the numbers of a person's row are: the key, the quasi codes, the sensitive value, and the public cells where
/// there are any.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    quasi: usize,
    public: usize,
}

impl Shape {
    pub fn of(schema: &Schema) -> Shape {
        Shape { quasi: schema.quasi.len(), public: usize::from(!schema.public.is_empty()) }
    }

    /// How many numbers a row has.
    pub fn width(self) -> usize {
        KEY + self.quasi + 1 + self.public
    }

    /// How many numbers the row of somebody of the last release has: whether they are here, and their record.
    pub fn kept_width(self) -> usize {
        self.width() + 1 + RECORD
    }

    /// The quasi codes of a row.
    pub fn point(self, row: &[u32]) -> &[u32] {
        &row[KEY..KEY + self.quasi]
    }

    /// The quasi codes of a row, and after them its value.
    pub fn point_and_value(self, row: &[u32]) -> &[u32] {
        &row[KEY..=KEY + self.quasi]
    }

    /// Appends the row of a person.
    pub fn put(self, table: &Table, row: Row, out: &mut Vec<u32>) {
        put_key(table.key(row), out);
        out.extend((0..self.quasi).map(|attribute| table.quasi(attribute)[row.index()]));
        out.push(table.sensitive()[row.index()].0);
        out.extend(table.public().get(row.index()).filter(|_| self.public > 0));
    }

    /// Appends the row of somebody who is gone.
    pub fn put_nobody(self, key: RecordKey, out: &mut Vec<u32>) {
        put_key(key, out);
        out.resize(out.len() + self.width() - KEY, 0);
    }

    /// Appends the row of somebody of the last release, who may be gone.
    pub fn put_kept(self, table: &Table, record: &Record, here: Option<Row>, out: &mut Vec<u32>) {
        match here {
            Some(here) => self.put(table, here, out),
            None => self.put_nobody(record.key, out),
        }
        out.push(u32::from(here.is_some()));
        put_record(record, out);
    }

    /// Appends what the history says of a person, behind their row: whether they are known, and their record.
    pub fn put_known(self, record: Option<&Record>, out: &mut Vec<u32>) {
        out.push(u32::from(record.is_some()));
        match record {
            Some(record) => put_record(record, out),
            None => out.resize(out.len() + RECORD, 0),
        }
    }

    /// The people of some rows, which are sorted by key.
    pub fn table<'r>(self, rows: impl Iterator<Item = &'r [u32]> + Clone, texts: &Texts) -> Table {
        let column = |at: usize| rows.clone().map(|row| row[at]).collect::<Vec<u32>>();
        let public = if self.public > 0 { column(KEY + self.quasi + 1) } else { Vec::new() };
        Table::new(
            rows.clone().map(key).collect(),
            (0..self.quasi).map(|attribute| column(KEY + attribute)).collect(),
            column(KEY + self.quasi).into_iter().map(Value).collect(),
            texts.values.clone(),
            public,
            texts.public.clone(),
        )
    }
}

/// What the numbers of values and public cells mean.
#[derive(Clone, Debug, Default)]
pub(super) struct Texts {
    pub values: Values,
    pub public: Vec<Vec<Box<str>>>,
}

/// The key of a row.
pub(super) fn key(row: &[u32]) -> RecordKey {
    let half = |at: usize| u64::from(row[at]) << 32 | u64::from(row[at + 1]);
    RecordKey { hi: half(0), lo: half(2) }
}

/// Appends a key.
pub(super) fn put_key(key: RecordKey, out: &mut Vec<u32>) {
    out.extend([key.hi >> 32, key.hi, key.lo >> 32, key.lo].map(|part| part as u32));
}

/// Appends a record without its key.
pub(super) fn put_record(record: &Record, out: &mut Vec<u32>) {
    let Record { first_seen, cohort, last_release, group, value, value_set, .. } = *record;
    out.extend([first_seen, cohort, last_release, group, value.0, value_set.0]);
}

/// The record whose numbers, without the key, are these.
pub(super) fn record(key: RecordKey, numbers: &[u32]) -> Record {
    let [first_seen, cohort, last_release, group, value, value_set] = numbers[..RECORD] else {
        unreachable!("a record has six numbers")
    };
    Record { key, first_seen, cohort, last_release, group, value: Value(value), value_set: ValueSetId(value_set) }
}

/// How many numbers a key and a record take.
pub(super) const KEY_AND_RECORD: usize = KEY + RECORD;

/// How many numbers a key and a group take.
pub(super) const KEY_AND_GROUP: usize = KEY + 1;

/// The number after the key.
pub(super) fn after_key(row: &[u32]) -> &[u32] {
    &row[KEY..]
}

/// Numbers as bytes.
pub(super) fn bytes_of(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Writes numbers to a file.
pub(super) fn write(scratch: &Scratch, numbers: &[u32]) -> Result<ScratchFile, LedgerError> {
    scratch.write(&bytes_of(numbers))
}

/// The numbers of a file.
pub(super) fn read(scratch: &Scratch, file: ScratchFile) -> Result<Vec<u32>, LedgerError> {
    let mut numbers = Vec::with_capacity(file.bytes() as usize / 4);
    read_onto(scratch, file, &mut numbers)?;
    Ok(numbers)
}

/// Appends the numbers of a file.
pub(super) fn read_onto(scratch: &Scratch, file: ScratchFile, numbers: &mut Vec<u32>) -> Result<(), LedgerError> {
    let (mut reader, mut bytes) = (scratch.open(file)?, [0; 1 << 14]);
    loop {
        let read = reader.fill(&mut bytes)?;
        numbers.extend(numbers_of(&bytes[..read]));
        if read < bytes.len() {
            return Ok(());
        }
    }
}

/// The numbers of a file that may never have been begun.
pub(super) fn read_some(scratch: &Scratch, file: Option<ScratchFile>) -> Result<Vec<u32>, LedgerError> {
    file.map_or_else(|| Ok(Vec::new()), |file| read(scratch, file))
}

/// Goes through the rows of a file that may never have been begun, some at a time.
pub(super) fn each(
    scratch: &Scratch,
    file: Option<ScratchFile>,
    width: usize,
    take: &mut dyn FnMut(&[u32]) -> Result<(), LedgerError>,
) -> Result<(), LedgerError> {
    let Some(file) = file else { return Ok(()) };
    let (mut reader, mut bytes) = (scratch.open(file)?, vec![0; 4 * width * 512]);
    let mut numbers = Vec::new();
    loop {
        let read = reader.fill(&mut bytes)?;
        numbers.clear();
        numbers.extend(numbers_of(&bytes[..read]));
        numbers.chunks_exact(width).try_for_each(&mut *take)?;
        if read < bytes.len() {
            return Ok(());
        }
    }
}

pub(super) fn numbers_of(bytes: &[u8]) -> impl Iterator<Item = u32> + '_ {
    bytes.chunks_exact(4).map(|number| u32::from_le_bytes([number[0], number[1], number[2], number[3]]))
}

/// Rows on their way to several files.
pub(super) struct Fan<'s> {
    scratch: &'s Scratch,
    writers: Vec<Option<ScratchWriter>>,
}

impl<'s> Fan<'s> {
    pub fn new(scratch: &'s Scratch, files: usize) -> Fan<'s> {
        Fan { scratch, writers: (0..files).map(|_| None).collect() }
    }

    /// Appends numbers to a file.
    pub fn put(&mut self, file: usize, numbers: &[u32]) -> Result<(), LedgerError> {
        let writer = match &mut self.writers[file] {
            Some(writer) => writer,
            none => none.insert(self.scratch.create()?),
        };
        let mut bytes = [0; 256];
        for some in numbers.chunks(bytes.len() / 4) {
            bytes
                .chunks_exact_mut(4)
                .zip(some)
                .for_each(|(bytes, number)| bytes.copy_from_slice(&number.to_le_bytes()));
            writer.write(&bytes[..4 * some.len()])?;
        }
        Ok(())
    }

    /// Ends all files. Those that got nothing do not exist.
    pub fn finish(self) -> Result<Vec<Option<ScratchFile>>, LedgerError> {
        let scratch = self.scratch;
        self.writers.into_iter().map(|writer| writer.map(|writer| scratch.finish(writer)).transpose()).collect()
    }
}
