//! A snapshot on disk: columns in scratch files, one set of files per part. The first bits of a person's key decide the
//! part, so every part is small, and the parts one after another are sorted by key.

use crate::ingest::{Batch, ReadInBatches};
use crate::ledger::{LedgerError, Scratch, ScratchFile};
use crate::model::{RecordKey, Schema, Table, Value};
use crate::publish::ProjectError;
use crate::publish::on_disk::rows::{self, Fan, Shape, Texts};
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// A snapshot on disk.
#[derive(Debug)]
pub(super) struct Parts {
    parts: Vec<Part>,
    pub texts: Texts,
    /// How many people there are.
    pub people: usize,
}

/// The files of a part.
#[derive(Debug)]
struct Part {
    keys: ScratchFile,
    /// Quasi codes, sensitive values, and public cells where there are any.
    columns: Vec<ScratchFile>,
    people: usize,
}

impl Part {
    fn write(scratch: &Scratch, shape: Shape, rows: &[&[u32]]) -> Result<Part, LedgerError> {
        let column = |at: usize| rows.iter().map(|row| row[at]).collect::<Vec<u32>>();
        let columns = (4..shape.width()).map(|at| rows::write(scratch, &column(at))).collect::<Result<_, _>>()?;
        let mut keys = Vec::with_capacity(4 * rows.len());
        rows.iter().for_each(|row| rows::put_key(rows::key(row), &mut keys));
        Ok(Part { keys: rows::write(scratch, &keys)?, columns, people: rows.len() })
    }
}

/// Rows as they are read, on their way to the files of their parts.
pub(super) struct Reading<'s> {
    fan: Mutex<(Fan<'s>, Result<(), LedgerError>)>,
    parts: usize,
}

impl<'s> Reading<'s> {
    pub fn new(scratch: &'s Scratch, parts: usize) -> Reading<'s> {
        Reading { fan: Mutex::new((Fan::new(scratch, parts), Ok(()))), parts }
    }

    /// Takes some rows. After a fault of the disk it takes no more.
    pub fn take(&self, batch: &Batch<'_>) {
        let mut guard = self.fan.lock().unwrap_or_else(PoisonError::into_inner);
        let (fan, outcome) = &mut *guard;
        if outcome.is_err() {
            return;
        }
        let mut numbers = Vec::new();
        for (row, key) in batch.keys.iter().enumerate() {
            numbers.clear();
            rows::put_key(*key, &mut numbers);
            numbers.extend(batch.quasi.iter().map(|codes| codes[row]));
            numbers.push(batch.sensitive[row]);
            numbers.extend(batch.public.get(row));
            numbers.extend([batch.places[row], batch.thread as u32]);
            *outcome = fan.put(key.part(self.parts), &numbers);
            if outcome.is_err() {
                return;
            }
        }
    }

    /// Sorts the parts, gives texts their final numbers, and refuses people who are there twice. Leaves out the people of
    /// `erased`, who are sorted, and says how many these are.
    pub fn finish(
        self,
        scratch: &Scratch,
        schema: &Schema,
        erased: &[RecordKey],
        read: &mut ReadInBatches,
    ) -> Result<(Parts, usize), ProjectError> {
        let (fan, outcome) = self.fan.into_inner().unwrap_or_else(PoisonError::into_inner);
        outcome?;
        let texts = Texts { values: read.values.clone(), public: read.public_texts.clone() };
        let (mut parts, mut doubles) = (Vec::new(), Vec::new());
        let mut left_out = 0;
        for file in fan.finish()? {
            let part = Unsorted { numbers: rows::read_some(scratch, file)?, shape: Shape::of(schema), read };
            let (part, fewer) = part.sort(scratch, erased, &mut doubles)?;
            parts.push(part);
            left_out += fewer;
            file.map_or(Ok(()), |file| scratch.remove(file))?;
        }
        read.refuse(doubles)?;
        let people = parts.iter().map(|part| part.people).sum();
        let mut parts = Parts { parts, texts, people };
        if left_out > 0 && !schema.public.is_empty() {
            parts.forget_texts(scratch)?;
        }
        Ok((parts, left_out))
    }
}

/// A part as it was read.
struct Unsorted<'r> {
    numbers: Vec<u32>,
    shape: Shape,
    read: &'r ReadInBatches,
}

impl Unsorted<'_> {
    /// Sorts a part, and says how many of its people are left out because they are erased.
    fn sort(
        self,
        scratch: &Scratch,
        erased: &[RecordKey],
        doubles: &mut Vec<u32>,
    ) -> Result<(Part, usize), LedgerError> {
        // Behind the row are its place in the input and the thread that read it.
        let width = self.shape.width() + 2;
        let rows: Vec<&[u32]> = self.numbers.chunks_exact(width).collect();
        let mut order: Vec<(RecordKey, u32)> = (0..).zip(&rows).map(|(at, row)| (rows::key(row), at)).collect();
        order.sort_unstable();
        for pair in order.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() > 1) {
            doubles.extend(pair.iter().map(|&(_, at)| rows[at as usize][width - 2]));
        }
        let before = order.len();
        order.retain(|(key, _)| erased.binary_search(key).is_err());
        let left_out = before - order.len();
        let final_number = |numbers: &[Vec<u32>], row: &[u32], at: usize| {
            let of_thread = &numbers[row[width - 1] as usize];
            of_thread.get(row[at] as usize).copied().unwrap_or(row[at])
        };
        let quasi = self.shape.point(&vec![0; width]).len();
        let column = |at: usize| -> Vec<u32> {
            let cell = |&(_, row): &(RecordKey, u32)| {
                let row = rows[row as usize];
                match at.checked_sub(4 + quasi) {
                    None => row[at],
                    Some(0) => final_number(&self.read.value_numbers, row, at),
                    Some(_) => final_number(&self.read.public_numbers, row, at),
                }
            };
            order.iter().map(cell).collect()
        };
        let mut keys = Vec::with_capacity(4 * order.len());
        order.iter().for_each(|&(key, _)| rows::put_key(key, &mut keys));
        let columns = (4..self.shape.width()).map(|at| rows::write(scratch, &column(at))).collect::<Result<_, _>>()?;
        Ok((Part { keys: rows::write(scratch, &keys)?, columns, people: order.len() }, left_out))
    }
}

impl Parts {
    /// Nobody, in so many parts.
    pub fn nobody(texts: Texts, scratch: &Scratch, schema: &Schema, parts: usize) -> Result<Parts, LedgerError> {
        let empty = |_| Part::write(scratch, Shape::of(schema), &[]);
        Ok(Parts { parts: (0..parts).map(empty).collect::<Result<_, _>>()?, texts, people: 0 })
    }

    /// Puts people into a part that has none, from rows sorted by key.
    pub fn put(&mut self, scratch: &Scratch, part: usize, schema: &Schema, rows: &[&[u32]]) -> Result<(), LedgerError> {
        let new = Part::write(scratch, Shape::of(schema), rows)?;
        self.people += new.people;
        let old = std::mem::replace(&mut self.parts[part], new);
        old.columns.iter().chain([&old.keys]).try_for_each(|&file| scratch.remove(file))
    }

    /// How many parts there are: a power of two.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// A part.
    pub fn read(&self, scratch: &Scratch, part: usize, schema: &Schema) -> Result<Table, LedgerError> {
        self.read_some(scratch, part..part + 1, schema)
    }

    /// A part without its quasi columns and public cells.
    pub fn narrow(&self, scratch: &Scratch, part: usize, schema: &Schema) -> Result<Table, LedgerError> {
        let part = &self.parts[part];
        let mut keys = Vec::with_capacity(part.people);
        self.keys_onto(scratch, part, &mut keys)?;
        let values = rows::read(scratch, part.columns[schema.quasi.len()])?.into_iter().map(Value).collect();
        Ok(Table::new(keys, Vec::new(), values, self.texts.values.clone(), Vec::new(), Vec::new()))
    }

    /// Parts that follow each other, as one table.
    pub fn read_some(&self, scratch: &Scratch, some: Range<usize>, schema: &Schema) -> Result<Table, LedgerError> {
        let some = &self.parts[some];
        let people = some.iter().map(|part| part.people).sum();
        let mut columns = vec![Vec::with_capacity(people); some.first().map_or(0, |part| part.columns.len())];
        let mut keys = Vec::with_capacity(people);
        for part in some {
            self.keys_onto(scratch, part, &mut keys)?;
            let mut files = part.columns.iter().zip(&mut columns);
            files.try_for_each(|(&file, column)| rows::read_onto(scratch, file, column))?;
        }
        let public = if schema.public.is_empty() { Vec::new() } else { columns.pop().unwrap_or_default() };
        let sensitive = columns.pop().unwrap_or_default().into_iter().map(Value).collect();
        let texts = &self.texts;
        Ok(Table::new(keys, columns, sensitive, texts.values.clone(), public, texts.public.clone()))
    }

    /// Replaces the quasi codes of a part.
    pub fn set_quasi(&mut self, scratch: &Scratch, part: usize, table: &Table) -> Result<(), LedgerError> {
        for (attribute, file) in self.parts[part].columns.iter_mut().take(table.quasi_count()).enumerate() {
            let before = std::mem::replace(file, rows::write(scratch, table.quasi(attribute))?);
            scratch.remove(before)?;
        }
        Ok(())
    }

    /// Forgets the public texts that nobody has, and numbers the others anew, as [`Table::without`] does.
    fn forget_texts(&mut self, scratch: &Scratch) -> Result<(), LedgerError> {
        let mut used = vec![false; self.texts.public.len()];
        let last = |part: &Part| *part.columns.last().expect("public cells are the last column");
        for part in &self.parts {
            rows::read(scratch, last(part))?.into_iter().for_each(|text| used[text as usize] = true);
        }
        let mut numbers = vec![0; used.len()];
        let kept = numbers.iter_mut().zip(&used).filter(|(_, used)| **used);
        kept.zip(0..).for_each(|((number, _), next)| *number = next);
        let mut is_used = used.iter();
        self.texts.public.retain(|_| is_used.next().copied().unwrap_or(false));
        for part in &mut self.parts {
            let cells: Vec<u32> = rows::read(scratch, last(part))?.iter().map(|&text| numbers[text as usize]).collect();
            let before = part.columns.pop().expect("public cells are the last column");
            part.columns.push(rows::write(scratch, &cells)?);
            scratch.remove(before)?;
        }
        Ok(())
    }

    fn keys_onto(&self, scratch: &Scratch, part: &Part, keys: &mut Vec<RecordKey>) -> Result<(), LedgerError> {
        rows::each(scratch, Some(part.keys), rows::KEY, &mut |row| {
            keys.push(rows::key(row));
            Ok(())
        })
    }

    /// Feeds everything to a hash, exactly as [`Table::feed`] does with a table in memory.
    pub fn feed(
        &self,
        scratch: &Scratch,
        quasi: usize,
        name: impl Fn(usize, u32) -> u64,
        hash: &mut impl FnMut(&[u8]),
    ) -> Result<(), LedgerError> {
        hash(&(self.people as u64).to_le_bytes());
        for part in &self.parts {
            rows::each(scratch, Some(part.keys), rows::KEY, &mut |row| {
                let key = rows::key(row);
                hash(&key.hi.to_le_bytes());
                hash(&key.lo.to_le_bytes());
                Ok(())
            })?;
        }
        let columns = self.parts.first().map_or(0, |part| part.columns.len());
        for column in 0..columns {
            for part in &self.parts {
                let codes = rows::read(scratch, part.columns[column])?;
                let bytes: Vec<u8> = match column < quasi {
                    true => codes.iter().flat_map(|&code| name(column, code).to_le_bytes()).collect(),
                    false => codes.iter().flat_map(|code| code.to_le_bytes()).collect(),
                };
                hash(&bytes);
            }
        }
        for text in self.texts.public.iter().flatten() {
            hash(&(text.len() as u64).to_le_bytes());
            hash(text.as_bytes());
        }
        Ok(())
    }
}
