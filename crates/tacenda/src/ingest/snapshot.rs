//! A snapshot: a whole table, read into codes.
//!
//! # Guarantee
//! The table depends only on the rows of the input, not on their order, the file format or the number of threads.
//! Memory use is a small multiple of the encoded table; the text is never kept.

use crate::ingest::columns::{Columns, Gathered, Plan};
use crate::ingest::error::{IngestError, Kind, Problem, Tally};
use crate::ingest::source::{Content, Looked, Source};
use crate::ingest::text::Chunks;
use crate::ingest::{columnar, columns, person, text};
use crate::model::{RecordKey, RowRule, Schema, Table, Values, counted};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, mpsc};

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

/// Some rows of an input, as one thread has encoded them.
pub(crate) struct Batch<'a> {
    /// The thread. It numbers texts in its own way.
    pub thread: usize,
    pub keys: &'a [RecordKey],
    pub quasi: &'a [Vec<u32>],
    pub sensitive: &'a [u32],
    /// Empty where there are no public columns.
    pub public: &'a [u32],
    /// The line or row number of each row.
    pub places: &'a [u32],
}

/// What was read besides the rows, and what the numbers of texts mean.
pub(crate) struct ReadInBatches {
    pub values: Values,
    pub public_texts: Vec<Vec<Box<str>>>,
    /// Per thread, the final number of each of its numbers. Empty where there are no sensitive columns.
    pub value_numbers: Vec<Vec<u32>>,
    pub public_numbers: Vec<Vec<u32>>,
    pub notes: Vec<String>,
    pub digest: String,
    /// What is wrong with the rows.
    faults: Faulty,
}

struct Faulty {
    tally: Tally,
    identifier: String,
    counts_rows: bool,
}

impl ReadInBatches {
    /// Refuses the input if something is wrong with it. `doubles` are the places of rows whose identifier another row has.
    pub fn refuse(&mut self, mut doubles: Vec<u32>) -> Result<(), IngestError> {
        let Faulty { tally, identifier, counts_rows } = &mut self.faults;
        doubles.sort_unstable();
        doubles.into_iter().for_each(|place| tally.add(Kind::DuplicateIdentifier, identifier, u64::from(place)));
        std::mem::take(tally).into_error(*counts_rows).map_or(Ok(()), Err)
    }
}

/// How many rows a batch has, about.
const BATCH: usize = 1 << 13;

/// Reads a whole table and hands its rows over in batches, in no order. No more than a batch per thread is kept.
pub(crate) fn read_in_batches(
    source: &Source,
    schema: &Schema,
    key: &[u8; 32],
    known: &Values,
    options: &ReadOptions,
    take: &(dyn Fn(Batch<'_>) + Sync),
) -> Result<ReadInBatches, IngestError> {
    assert!(schema.person.rule == RowRule::One, "the caller has refused people of several rows");
    let input = Input { schema, key, known, options, delta: false };
    let hand_over = |thread: usize, columns: &mut Columns<'_>, is_last: bool| {
        if columns.keys.len() >= BATCH || is_last {
            take(Batch {
                thread,
                keys: &columns.keys,
                quasi: &columns.quasi,
                sensitive: &columns.sensitive,
                public: &columns.public,
                places: &columns.places,
            });
            columns.clear_rows();
        }
    };
    let (parts, looked) = input.read_parts(source, Some(&hand_over))?;
    let (values, value_numbers) = columns::lasting_values(&parts, schema, known);
    let (public_texts, public_numbers) = columns::lasting_public(&parts);
    let mut tally = Tally::default();
    parts.into_iter().for_each(|part| tally.merge(part.tally));
    input.refuse_two_spellings(&values, &tally)?;
    let counts_rows = looked.counts_rows();
    let faults = Faulty { tally, identifier: schema.identifier.clone(), counts_rows };
    let Looked { notes, digest, .. } = looked;
    Ok(ReadInBatches { values, public_texts, value_numbers, public_numbers, notes, digest, faults })
}

/// How many rows an input has, or says that it has. The rows are not read.
pub(crate) fn row_count(source: &Source) -> Result<u64, IngestError> {
    match source.look()?.content {
        Content::Text(layout) => Ok(layout.records),
        Content::Parquet => Ok(columnar::open(source)?.rows().unsigned_abs()),
    }
}

/// Takes the rows that a thread has encoded so far. The number is the thread's; the flag says whether they are its last.
type HandOver<'a> = dyn Fn(usize, &mut Columns<'_>, bool) + Sync + 'a;

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
        let (parts, looked) = self.read_parts(source, None)?;
        let all = columns::gather(parts, self.schema, self.known);
        self.refuse_two_spellings(&all.values, &all.tally)?;
        if all.keys.is_empty() && all.tally.is_empty() && !self.delta {
            return Err(no_rows(source));
        }
        Ok((all, looked))
    }

    /// The rows as the threads have encoded them, as far as they were not handed over.
    fn read_parts(
        &self,
        source: &Source,
        hand_over: Option<&HandOver<'_>>,
    ) -> Result<(Vec<Columns<'_>>, Looked), IngestError> {
        let mut looked = source.look()?;
        let mut note = Vec::new();
        let parts = match &looked.content {
            Content::Text(layout) => {
                source.refuse_more(layout.records)?;
                let mut chunks = Chunks::new(source, layout)?;
                let header = chunks.header().map_err(|stop| stop.error(source.name()))?;
                let plan = Plan::of_text(&header, self.schema, self.delta)?;
                let is_nameless = plan.nameless.is_some();
                let pieces = chunks.by_ref().map(|chunk| chunk.map_err(|stop| stop.error(source.name())));
                let parts = self.spread(plan, layout.records, pieces, hand_over, |chunk, columns| {
                    text::encode(&chunk, layout.delimiter, columns);
                    Ok(())
                })?;
                note.extend(chunks.note());
                note.extend(is_nameless.then(|| columns::NAMELESS.to_string()));
                parts
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
                self.spread(plan, rows, batches, hand_over, |(first_row, batch), columns| {
                    columnar::encode(&batch, first_row, columns, source.name())
                })?
            }
        };
        looked.notes.extend(note);
        Ok((parts, looked))
    }

    /// Distributes pieces of the input to threads that encode them.
    fn spread<P: Send>(
        &self,
        plan: Plan,
        expected: u64,
        pieces: impl Iterator<Item = Result<P, IngestError>>,
        hand_over: Option<&HandOver<'_>>,
        encode: impl Fn(P, &mut Columns<'_>) -> Result<(), IngestError> + Sync,
    ) -> Result<Vec<Columns<'_>>, IngestError> {
        let plan = Arc::new(plan);
        let threads = match self.options.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        // Reserves a fair share of the rows and some more, because growing columns are copied repeatedly.
        let expected = if hand_over.is_some() { 0 } else { expected };
        let room = (expected.min(MOST_RESERVED) as usize / threads).saturating_mul(9) / 8;
        let fresh = || {
            let mut columns = Columns::new(self.schema, Arc::clone(&plan), self.key, self.options.show_values);
            columns.reserve(room);
            columns
        };
        let (send, receive) = mpsc::sync_channel::<P>(threads);
        // The threads own the receiver: if all of them panic it is gone, and the sender does not wait for ever.
        let receive = Arc::new(Mutex::new(receive));
        std::thread::scope(|scope| {
            let (fresh, encode) = (&fresh, &encode);
            let workers: Vec<_> = std::iter::repeat_n(receive, threads)
                .enumerate()
                .map(|(thread, receive)| {
                    scope.spawn(move || {
                        let next = || receive.lock().expect("no holder of this lock panics").recv().ok();
                        let mut columns = fresh();
                        let mut failed = None;
                        // A failed thread must go on taking pieces, or the sender would wait for ever.
                        while let Some(piece) = next() {
                            if failed.is_none() {
                                failed = encode(piece, &mut columns).err();
                                hand_over.iter().for_each(|hand_over| hand_over(thread, &mut columns, false));
                            }
                        }
                        hand_over.iter().for_each(|hand_over| hand_over(thread, &mut columns, true));
                        failed.map_or(Ok(columns), Err)
                    })
                })
                .collect();
            let mut broken = None;
            for piece in pieces {
                match piece {
                    // Threads take pieces until there are no more, unless all panic: that is thrown again below.
                    Ok(piece) => {
                        if send.send(piece).is_err() {
                            break;
                        }
                    }
                    Err(error) => {
                        broken = Some(error);
                        break;
                    }
                }
            }
            drop(send);
            let parts: Vec<Result<Columns<'_>, IngestError>> = workers
                .into_iter()
                .map(|worker| worker.join().unwrap_or_else(|thrown| resume_unwind(thrown)))
                .collect();
            broken.map_or_else(|| parts.into_iter().collect::<Result<Vec<Columns<'_>>, IngestError>>(), Err)
        })
    }

    /// Refuses new values that repeat another in another spelling.
    fn refuse_two_spellings(&self, values: &Values, tally: &Tally) -> Result<(), IngestError> {
        if tally.is_empty() { refuse_two_spellings(self.schema, self.known.len(), values) } else { Ok(()) }
    }
}

/// Refuses values that repeat another in another spelling. The first `known` are those of the series.
pub(super) fn refuse_two_spellings(schema: &Schema, known: usize, values: &Values) -> Result<(), IngestError> {
    // An old series may already have such values; then the gate judges its groups.
    let twice = values.spelled_twice().into_iter().filter(|value| value.index() >= known).count();
    if twice == 0 {
        return Ok(());
    }
    let detail = counted(twice as u64, "value repeats", "values repeat");
    let sensitive: Vec<&str> = schema.sensitive.iter().map(|sensitive| &sensitive.name[..]).collect();
    let detail = format!("{detail} another value in another spelling");
    let problem = Problem { column: Some(sensitive.join(", ")), ..Problem::whole(Kind::WrittenTwice, detail) };
    Err(IngestError::Rejected(vec![problem]))
}

fn no_rows(source: &Source) -> IngestError {
    IngestError::whole(Kind::NoRows, format!("{} has a header and nothing below", source.name()))
}
