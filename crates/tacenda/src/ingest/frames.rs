//! Rows in Arrow's columns, encoded by machines that see only some of a table's rows.
//!
//! Sensitive and public texts get their numbers when the texts of all machines are known. Until then a keyed hash stands
//! for each, so that rows hold no text.

use crate::ingest::columnar;
use crate::ingest::columns::{Columns, Plan, lasting_public, lasting_values};
use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::snapshot::refuse_two_spellings;
use crate::ingest::source::Source;
use crate::model::{RecordKey, Schema, Value, Values};
use arrow_array::RecordBatch;
use std::sync::Arc;

/// What errors call the table.
const NAME: &str = "the table";

/// Encodes rows, batch by batch.
pub(crate) struct FrameEncoder<'a> {
    schema: &'a Schema,
    key: &'a [u8; 32],
    columns: Option<(Columns<'a>, Vec<usize>)>,
    rows: u64,
}

/// Rows as they were encoded. Texts are hashes.
pub(crate) struct HashedRows {
    pub keys: Vec<RecordKey>,
    pub quasi: Vec<Vec<u32>>,
    pub sensitive: Vec<u64>,
    /// Empty where there are no public columns.
    pub public: Vec<u64>,
    /// The texts behind the hashes.
    pub values: Vec<(u64, Vec<String>)>,
    pub public_texts: Vec<(u64, Vec<String>)>,
}

impl<'a> FrameEncoder<'a> {
    pub fn new(schema: &'a Schema, key: &'a [u8; 32]) -> FrameEncoder<'a> {
        FrameEncoder { schema, key, columns: None, rows: 0 }
    }

    /// Takes some rows.
    pub fn take(&mut self, batch: &RecordBatch) -> Result<(), IngestError> {
        if self.columns.is_none() {
            let opened = columnar::open(&Source::frame(NAME, batch.schema(), Vec::new()))?;
            let plan = Plan::new(&opened.header, self.schema, false)?;
            opened.read(&plan, NAME)?;
            let wanted = plan.read_columns();
            self.columns = Some((Columns::new(self.schema, Arc::new(plan), self.key, false), wanted));
        }
        let (columns, wanted) = self.columns.as_mut().expect("they were just made");
        let batch = columnar::guarded(NAME, || batch.project(wanted))?;
        columnar::encode(&batch, self.rows + 1, columns, NAME)?;
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// The rows so far, which are dropped here.
    pub fn drain(&mut self) -> Option<HashedRows> {
        let (columns, _) = self.columns.as_ref()?;
        let (values, numbers) = lasting_values(std::slice::from_ref(columns), self.schema, &Values::default());
        let values: Vec<(u64, Vec<String>)> = values.iter().map(|(_, cells)| self.named(b"value", cells)).collect();
        let (texts, public_numbers) = lasting_public(std::slice::from_ref(columns));
        let public_texts: Vec<(u64, Vec<String>)> = texts.iter().map(|cells| self.named(b"public", cells)).collect();
        let (columns, _) = self.columns.as_mut()?;
        let hash = |named: &[(u64, Vec<String>)], numbers: &[u32], number: u32| {
            named.get(numbers.get(number as usize).copied().unwrap_or(0) as usize).map_or(0, |named| named.0)
        };
        let rows = HashedRows {
            sensitive: columns.sensitive.iter().map(|&number| hash(&values, &numbers[0], number)).collect(),
            public: columns.public.iter().map(|&number| hash(&public_texts, &public_numbers[0], number)).collect(),
            keys: std::mem::take(&mut columns.keys),
            quasi: columns.quasi.iter_mut().map(std::mem::take).collect(),
            values,
            public_texts,
        };
        columns.clear_rows();
        Some(rows)
    }

    /// What is wrong with the rows. Their places mean nothing to others, so they are left out.
    pub fn problems(self) -> Vec<Problem> {
        let tally = self.columns.map(|(columns, _)| columns.tally).unwrap_or_default();
        let error = tally.into_error(true);
        let problems = error.iter().flat_map(|error| error.problems().to_vec());
        problems.map(|problem| Problem { places: Vec::new(), ..problem }).collect()
    }

    fn named(&self, role: &[u8], cells: &[Box<str>]) -> (u64, Vec<String>) {
        let mut hasher = blake3::Hasher::new_keyed(self.key);
        hasher.update(b"text of a ").update(role);
        for cell in cells {
            hasher.update(&(cell.len() as u64).to_le_bytes()).update(cell.as_bytes());
        }
        let hash = u64::from_le_bytes(*hasher.finalize().as_bytes().first_chunk().expect("it has 32 bytes"));
        (hash, cells.iter().map(|cell| String::from(&**cell)).collect())
    }
}

/// Refuses a table whose columns are not those of the policy file.
pub(crate) fn refuse_columns(header: &[String], schema: &Schema) -> Result<(), IngestError> {
    Plan::new(header, schema, false).map(drop)
}

/// Refuses problems that were found in several places.
pub(crate) fn refuse_problems(found: Vec<Problem>) -> Result<(), IngestError> {
    let mut problems: Vec<Problem> = Vec::new();
    for one in found {
        let is_same =
            |other: &&mut Problem| (other.kind, &other.column, &other.detail) == (one.kind, &one.column, &one.detail);
        match problems.iter_mut().find(is_same) {
            Some(other) => other.rows += one.rows,
            None => problems.push(one),
        }
    }
    problems.sort_by(|a, b| (a.kind, &a.column).cmp(&(b.kind, &b.column)));
    if problems.is_empty() { Ok(()) } else { Err(IngestError::Rejected(problems)) }
}

/// The problem of rows whose identifiers other rows have.
pub(crate) fn duplicates(schema: &Schema, rows: u64) -> Problem {
    let column = Some(schema.identifier.clone());
    Problem { column, rows, places_are_rows: true, ..Problem::whole(Kind::DuplicateIdentifier, "") }
}

/// Refuses a number of rows that no snapshot has.
pub(crate) fn refuse_row_count(rows: u64) -> Result<(), IngestError> {
    match rows {
        0 => Err(IngestError::whole(Kind::NoRows, "the table has columns and no rows")),
        rows if rows >= u64::from(u32::MAX) => Err(IngestError::whole(Kind::TooManyRows, "")),
        _ => Ok(()),
    }
}

/// The values of the series with those of a table, and the number of each hash.
pub(crate) fn numbered_values(
    schema: &Schema,
    known: &Values,
    named: &[(u64, Vec<String>)],
) -> Result<(Values, Vec<(u64, u32)>), IngestError> {
    let cells = |texts: &[String]| -> Box<[Box<str>]> { texts.iter().map(|text| Box::from(&text[..])).collect() };
    let mut values = known.clone();
    values.extend(named.iter().map(|(_, texts)| cells(texts)));
    refuse_two_spellings(schema, known.len(), &values)?;
    let index = values.index();
    let numbers = named.iter().map(|(hash, texts)| (*hash, index[&cells(texts)[..]])).collect::<Vec<(u64, Value)>>();
    let mut numbers: Vec<(u64, u32)> = numbers.into_iter().map(|(hash, value)| (hash, value.0)).collect();
    numbers.sort_unstable();
    numbers.dedup();
    Ok((values, numbers))
}

/// Per hash, a number.
type HashNumbers = Vec<(u64, u32)>;

/// The public combinations of a table, sorted, and the number of each hash.
pub(crate) fn numbered_public(named: &[(u64, Vec<String>)]) -> (Vec<Vec<Box<str>>>, HashNumbers) {
    let cells = |texts: &[String]| -> Vec<Box<str>> { texts.iter().map(|text| Box::from(&text[..])).collect() };
    let mut texts: Vec<Vec<Box<str>>> = named.iter().map(|(_, texts)| cells(texts)).collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |own: &[String]| texts.binary_search(&cells(own)).expect("all texts are there") as u32;
    let mut numbers: Vec<(u64, u32)> = named.iter().map(|(hash, own)| (*hash, number(own))).collect();
    numbers.sort_unstable();
    numbers.dedup();
    (texts, numbers)
}
