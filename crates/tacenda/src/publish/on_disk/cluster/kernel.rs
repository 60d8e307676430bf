//! Kernels: pure functions from blobs to blobs. Nothing here touches a disk, a clock or chance.

use crate::audit::LEFT_OUT;
use crate::grouping::top::{Counter, Sorter};
use crate::ingest::{FrameEncoder, IngestError, Kind, Problem};
use crate::model::{History, RecordKey, Table};
use crate::publish::ProjectError;
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, RowSum, Sheaf, numbers_of_kind, sorted};
use crate::publish::on_disk::cluster::task::{Job, KernelTask, SaidCompared, SaidEncoded, SaidProblem, Units};
use crate::publish::on_disk::compare::{Fate, compare_part};
use crate::publish::on_disk::rows::{self, KEY_AND_RECORD, Shape, Texts};
use arrow_array::RecordBatch;
use std::collections::BTreeMap;
use std::fmt;

/// A kernel, made from the bytes of a step. Private: it holds derived keys.
pub struct Kernel {
    pub(super) task: KernelTask,
}

impl fmt::Debug for Kernel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Kernel(…)")
    }
}

impl Kernel {
    /// The kernel of a step. Bytes of another version are refused.
    pub fn new(bytes: &[u8]) -> Result<Kernel, ProjectError> {
        Ok(Kernel { task: KernelTask::read(bytes)? })
    }

    /// Encodes some rows of the table.
    ///
    /// # Panics
    /// If the kernel is that of another step.
    pub fn encode(&self, batches: &[RecordBatch]) -> Vec<Blob> {
        let Job::Encode { key, parts } = &self.task.job else { panic!("this kernel does not encode") };
        let mut encoder = FrameEncoder::new(&self.task.schema, key);
        for batch in batches {
            if let Err(error) = encoder.take(batch) {
                return vec![Blob::said(0, &SaidEncoded { problems: problems_of(&error), ..SaidEncoded::default() })];
            }
        }
        let mut said = SaidEncoded::default();
        let mut sheaf = Sheaf::new(BlobKind::Encoded);
        if let Some(rows) = encoder.drain() {
            let mut numbers = Vec::new();
            for (row, key) in rows.keys.iter().enumerate() {
                numbers.clear();
                rows::put_key(*key, &mut numbers);
                numbers.extend(rows.quasi.iter().map(|codes| codes[row]));
                let hashes = [Some(&rows.sensitive[row]), rows.public.get(row)];
                numbers.extend(hashes.into_iter().flatten().flat_map(|hash| [(hash >> 32) as u32, *hash as u32]));
                said.sum.add(&numbers);
                sheaf.at(key.part(*parts)).extend_from_slice(&numbers);
            }
            (said.values, said.public_texts) = (rows.values, rows.public_texts);
        }
        said.problems = encoder.problems().iter().map(SaidProblem::of).collect();
        sheaf.finish().chain([Blob::said(0, &said)]).collect()
    }

    /// Takes some blobs, as they lie.
    ///
    /// # Panics
    /// If the blobs are not those of the step.
    pub fn spread_out(&self, blobs: &[(u32, BlobKind, &[u8])]) -> Vec<Blob> {
        if let Job::Count(counter) = &self.task.job {
            let all: Vec<(BlobKind, &[u8])> = blobs.iter().map(|blob| (blob.1, blob.2)).collect();
            return self.count(counter, &all);
        }
        let mut places: BTreeMap<u32, Vec<(BlobKind, &[u8])>> = BTreeMap::new();
        blobs.iter().for_each(|blob| places.entry(blob.0).or_default().push((blob.1, blob.2)));
        places.iter().flat_map(|(&place, blobs)| self.run(place, blobs)).collect()
    }

    /// Takes all blobs of one place.
    ///
    /// # Panics
    /// If the blobs are not those of the step.
    pub fn run(&self, place: u32, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let place = place as usize;
        match &self.task.job {
            Job::Encode { .. } => panic!("this kernel encodes"),
            Job::Compare { .. } => self.compare(place, blobs),
            Job::Count(counter) => self.count(counter, blobs),
            Job::Spread { sorter, units } => self.spread(place, sorter.as_ref(), *units, blobs),
            Job::Recall { parts } => self.recall(*parts, blobs),
            Job::Solve { past, linked } => self.solve(place, past, linked.as_ref(), blobs),
            Job::Check { past, parts, compares } => self.check(place, (past, *parts, *compares), blobs),
            Job::Gather => {
                let placed = numbers_of_kind(blobs, BlobKind::Placed);
                let rows = sorted(&placed, self.shape().width() + 1);
                vec![Blob::new(place, BlobKind::People, &rows.concat())]
            }
        }
    }

    pub(super) fn shape(&self) -> Shape {
        Shape::of(&self.task.schema)
    }

    fn compare(&self, place: usize, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let Job::Compare { releases, groups_per_unit, .. } = &self.task.job else { unreachable!("run looked") };
        let (shape, schema) = (self.shape(), &self.task.schema);
        let mut said = SaidCompared::default();
        let numbers = self.final_rows(blobs, &mut said.read);
        let mut all = sorted(&numbers, shape.width());
        all.iter().for_each(|row| said.people.add(row));
        let doubles = all.chunk_by(|a, b| rows::key(a) == rows::key(b)).filter(|same| same.len() > 1);
        said.duplicates = doubles.map(|same| same.len() as u64).sum();
        all.dedup_by_key(|row| rows::key(row));
        let table = shape.table(all.iter().copied(), &Texts::default());
        let (records, last) = self.past_people(blobs);
        let before = History { releases: *releases, records, ..History::default() };
        let [mut kept, mut new, mut out] = [BlobKind::Kept, BlobKind::New, BlobKind::Out].map(Sheaf::new);
        let compared = compare_part(&before, last.as_ref(), &table, |fate| {
            match fate {
                Fate::Kept(record, here) => {
                    shape.put_kept(&table, record, here, kept.at(record.group as usize / groups_per_unit));
                }
                Fate::Out(here) => shape.put(&table, here, out.at(place)),
                Fate::New(here) => shape.put(&table, here, new.at(place)),
            }
            Ok::<(), ProjectError>(())
        });
        said.counted = compared.expect("nothing here can fail");
        let others = schema.quasi.iter().enumerate().map(|(at, quasi)| {
            quasi.other().map_or(0, |other| table.quasi(at).iter().filter(|&&code| code == other).count() as u64)
        });
        said.others = others.collect();
        kept.finish().chain(new.finish()).chain(out.finish()).chain([Blob::said(place, &said)]).collect()
    }

    /// The rows of a part with numbers in place of hashes.
    fn final_rows(&self, blobs: &[(BlobKind, &[u8])], read: &mut RowSum) -> Vec<u32> {
        let Job::Compare { values, public, .. } = &self.task.job else { unreachable!("run looked") };
        let shape = self.shape();
        let public = (shape.width() > rows::KEY + self.task.schema.quasi.len() + 1).then_some(public);
        let plain = rows::KEY + self.task.schema.quasi.len();
        let encoded = numbers_of_kind(blobs, BlobKind::Encoded);
        let width = plain + 2 + if public.is_some() { 2 } else { 0 };
        let number = |numbers: &[(u64, u32)], hash: &[u32]| {
            let hash = u64::from(hash[0]) << 32 | u64::from(hash[1]);
            let at = numbers.binary_search_by_key(&hash, |named| named.0);
            numbers[at.expect("the driver numbered every text")].1
        };
        let mut numbers = Vec::with_capacity(encoded.len() / width * shape.width());
        for row in encoded.chunks_exact(width) {
            read.add(row);
            numbers.extend_from_slice(&row[..plain]);
            numbers.push(number(values, &row[plain..]));
            numbers.extend(public.map(|public| number(public, &row[plain + 2..])));
        }
        numbers
    }

    /// The records of a part, and its rows of the last snapshot.
    fn past_people(&self, blobs: &[(BlobKind, &[u8])]) -> (Vec<crate::model::Record>, Option<Table>) {
        let past = numbers_of_kind(blobs, BlobKind::Past);
        let Some((&records, rest)) = past.split_first() else { return (Vec::new(), None) };
        let (records, last) = rest.split_at(records as usize * KEY_AND_RECORD);
        let records = records.chunks_exact(KEY_AND_RECORD);
        let records = records.map(|row| rows::record(rows::key(row), rows::after_key(row))).collect();
        let shape = self.shape();
        (records, Some(shape.table(last.chunks_exact(shape.width()), &Texts::default())))
    }

    fn count(&self, counter: &Counter, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let shape = self.shape();
        let mut counts = counter.zeros();
        for row in numbers_of_kind(blobs, BlobKind::New).chunks_exact(shape.width()) {
            counter.count(shape.point_and_value(row), &mut counts);
        }
        let found = (0..).zip(counts).filter(|&(_, people)| people > 0);
        let found: Vec<u32> = found.flat_map(|(at, people)| [at, people]).collect();
        vec![Blob::new(0, BlobKind::Counts, &found)]
    }

    fn spread(&self, place: usize, sorter: Option<&Sorter>, units: Units, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let (shape, aside) = (self.shape(), units.len() + place);
        let mut sheaf = Sheaf::new(BlobKind::New);
        let mut moved: Vec<Blob> = Vec::new();
        for &(kind, bytes) in blobs {
            match (kind, sorter) {
                (BlobKind::New, Some(sorter)) => {
                    for row in rows::numbers_of(bytes).collect::<Vec<u32>>().chunks_exact(shape.width()) {
                        sheaf.at(units.kept + sorter.unit(shape.point(row))).extend_from_slice(row);
                    }
                }
                (BlobKind::New, None) | (BlobKind::Out, _) => {
                    moved.push(Blob { place: aside as u32, kind: BlobKind::Out, bytes: bytes.to_vec() });
                }
                _ => moved.push(Blob { place: place as u32, kind, bytes: bytes.to_vec() }),
            }
        }
        moved.extend(sheaf.finish());
        moved
    }

    /// Everyone who is here, as if left out.
    fn recall(&self, parts: usize, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let shape = self.shape();
        let mut placed = Sheaf::new(BlobKind::Placed);
        let rows_of = |kind: BlobKind, width: usize, placed: &mut Sheaf| {
            let numbers = numbers_of_kind(blobs, kind);
            let is_here = |row: &&[u32]| kind != BlobKind::Kept || row[shape.width()] == 1;
            for row in numbers.chunks_exact(width).filter(is_here) {
                put_placed(placed, &row[..shape.width()], LEFT_OUT, parts);
            }
        };
        rows_of(BlobKind::New, shape.width(), &mut placed);
        rows_of(BlobKind::Out, shape.width(), &mut placed);
        rows_of(BlobKind::Kept, shape.kept_width(), &mut placed);
        placed.finish().collect()
    }
}

/// Appends a person with a group, by part.
pub(super) fn put_placed(placed: &mut Sheaf, row: &[u32], group: u32, parts: usize) {
    let key: RecordKey = rows::key(row);
    let numbers = placed.at(key.part(parts));
    numbers.extend_from_slice(row);
    numbers.push(group);
}

/// The problems of an error, which is told by the driver.
fn problems_of(error: &IngestError) -> Vec<SaidProblem> {
    match error.problems() {
        [] => vec![SaidProblem::of(&Problem::whole(Kind::NotWhatItSays, error.to_string()))],
        problems => problems.iter().map(SaidProblem::of).collect(),
    }
}
