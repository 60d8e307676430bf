//! A snapshot: a whole table, read into codes.
//!
//! # Guarantee
//! The table depends only on the rows of the input, not on their order, the file format or the number of threads.
//! Memory use is a small multiple of the encoded table; the text is never kept.

use crate::ingest::columns::{Columns, Gathered, Plan};
use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::source::{Content, Looked, Source};
use crate::ingest::text::Chunks;
use crate::ingest::{columnar, columns, person, text};
use crate::model::{RowRule, Schema, Table, Values, counted};
use std::sync::{Mutex, mpsc};

/// The most rows for which memory is reserved in advance.
const MOST_RESERVED: u64 = 1 << 26;

/// A table as it was read, with notes.
#[derive(Debug)]
pub struct Snapshot {
    /// The table.
    pub table: Table,
    /// What was concluded about the input, one sentence each.
    pub notes: Vec<String>,
    /// The SHA-256 of the input's bytes as they stand, in hexadecimal.
    pub digest: String,
    /// How many rows the input has.
    pub rows: u64,
}

/// How an input is read.
#[derive(Clone, Copy, Debug, Default)]
pub struct ReadOptions {
    /// How many threads encode; 0 for as many as the machine has.
    pub threads: usize,
    /// Whether an error may list up to five values that a hierarchy lacks.
    pub show_values: bool,
}

/// Reads a whole table. `known` are the sensitive values that the series has had; new ones come after them.
pub fn read_snapshot(
    source: &Source,
    schema: &Schema,
    key: &[u8; 32],
    known: &Values,
    options: &ReadOptions,
) -> Result<Snapshot, IngestError> {
    let input = Input { schema, key, known, options, delta: false };
    let (mut all, mut looked) = input.read(source)?;
    let rows = all.keys.len() as u64;
    if schema.person.rule != RowRule::One {
        if let Some(error) = std::mem::take(&mut all.tally).into_error(looked.counts_rows()) {
            return Err(error);
        }
        looked.notes.extend(person::one_row_each(&mut all, schema, known.len()));
    }
    let table = columns::finish(all, schema, looked.counts_rows())?;
    Ok(Snapshot { table, notes: looked.notes, digest: looked.digest, rows })
}

impl Looked {
    /// Whether places are rows and not lines.
    pub(super) fn counts_rows(&self) -> bool {
        matches!(self.content, Content::Parquet)
    }
}

/// Refuses a file that claims far more rows than its size can hold.
fn refuse_bomb(source: &Source, rows: u64) -> Result<(), IngestError> {
    let size = source.size();
    if size > 0 && rows > 1_000_000 && rows / 8 > size {
        let what = format!("{} says that it has {} in {size} bytes", source.name(), counted(rows, "row", "rows"));
        return Err(IngestError::whole(Kind::TooLarge, what));
    }
    Ok(())
}

/// What is needed to read the rows of an input.
pub(super) struct Input<'a> {
    pub schema: &'a Schema,
    pub key: &'a [u8; 32],
    pub known: &'a Values,
    pub options: &'a ReadOptions,
    /// Whether the input is a delta, with the column `op`.
    pub delta: bool,
}

impl Input<'_> {
    /// Reads all rows, in no order.
    pub fn read(&self, source: &Source) -> Result<(Gathered, Looked), IngestError> {
        let mut looked = source.look()?;
        let mut note = None;
        let all = match &looked.content {
            Content::Text(layout) => {
                source.refuse_more(layout.records)?;
                let mut chunks = Chunks::new(source, layout)?;
                let header = chunks.header().map_err(|stop| stop.error(source.name()))?;
                let plan = Plan::new(&header, self.schema, self.delta)?;
                let pieces = chunks.by_ref().map(|chunk| chunk.map_err(|stop| stop.error(source.name())));
                let all = self.spread(&plan, layout.records, pieces, |chunk, columns| {
                    text::encode(&chunk, layout.delimiter, columns);
                    Ok(())
                })?;
                note = chunks.note();
                all
            }
            Content::Parquet => {
                let opened = columnar::open(source)?;
                let plan = Plan::new(&opened.header, self.schema, self.delta)?;
                if opened.rows() == 0 && !self.delta {
                    return Err(no_rows(source));
                }
                let rows = opened.rows().unsigned_abs();
                source.refuse_more(rows)?;
                refuse_bomb(source, rows)?;
                let batches = opened.read(&plan, source.name())?;
                self.spread(&plan, rows, batches, |(first_row, batch), columns| {
                    columnar::encode(&batch, first_row, columns, source.name())
                })?
            }
        };
        if all.keys.is_empty() && all.tally.is_empty() && !self.delta {
            return Err(no_rows(source));
        }
        looked.notes.extend(note);
        Ok((all, looked))
    }

    /// Distributes pieces of the input to threads that encode them.
    fn spread<P: Send>(
        &self,
        plan: &Plan,
        expected: u64,
        pieces: impl Iterator<Item = Result<P, IngestError>>,
        encode: impl Fn(P, &mut Columns<'_>) -> Result<(), IngestError> + Sync,
    ) -> Result<Gathered, IngestError> {
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        // Reserves a fair share of the rows and some more, because growing columns are copied repeatedly.
        let room = (expected.min(MOST_RESERVED) as usize / threads).saturating_mul(9) / 8;
        let fresh = || {
            let mut columns = Columns::new(self.schema, plan, self.key, self.options.show_values);
            columns.reserve(room);
            columns
        };
        let (send, receive) = mpsc::sync_channel::<P>(threads);
        let receive = Mutex::new(receive);
        let next = || receive.lock().expect("no holder of this lock panics").recv().ok();
        let parts = std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| {
                    scope.spawn(|| {
                        let mut columns = fresh();
                        let mut failed = None;
                        // A failed thread must go on taking pieces, or the sender would wait for ever.
                        while let Some(piece) = next() {
                            if failed.is_none() {
                                failed = encode(piece, &mut columns).err();
                            }
                        }
                        failed.map_or(Ok(columns), Err)
                    })
                })
                .collect();
            let mut broken = None;
            for piece in pieces {
                match piece {
                    Ok(piece) => send.send(piece).expect("threads take pieces until there are no more"),
                    Err(error) => {
                        broken = Some(error);
                        break;
                    }
                }
            }
            drop(send);
            let parts: Vec<Result<Columns<'_>, IngestError>> =
                workers.into_iter().map(|worker| worker.join().expect("an encoding thread panicked")).collect();
            broken.map_or_else(|| parts.into_iter().collect::<Result<Vec<Columns<'_>>, IngestError>>(), Err)
        })?;
        let all = columns::gather(parts, self.schema, self.known);
        // An old series may already have such values; then the gate judges its groups.
        let twice = all.values.spelled_twice().into_iter().filter(|value| value.index() >= self.known.len()).count();
        if twice > 0 && all.tally.is_empty() {
            let detail = counted(twice as u64, "value repeats", "values repeat");
            let sensitive: Vec<&str> = self.schema.sensitive.iter().map(|sensitive| &sensitive.name[..]).collect();
            let detail = format!("{detail} another value in another spelling");
            let problem = Problem { column: Some(sensitive.join(", ")), ..Problem::whole(Kind::WrittenTwice, detail) };
            return Err(IngestError::Rejected(vec![problem]));
        }
        Ok(all)
    }
}

fn no_rows(source: &Source) -> IngestError {
    IngestError::whole(Kind::NoRows, format!("{} has a header and nothing below", source.name()))
}
