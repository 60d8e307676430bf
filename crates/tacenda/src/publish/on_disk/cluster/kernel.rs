//! Kernels: pure functions from blobs to blobs. Nothing here touches a disk, a clock or chance.

use crate::audit::LEFT_OUT;
use crate::grouping::buckets::crowd::known;
use crate::grouping::buckets::hilbert::Hilbert;
use crate::grouping::top::{Counter, Sorter};
use crate::ingest::{FrameEncoder, IngestError, Kind, Problem};
use crate::model::{History, RecordKey, Table, ValueSetId};
use crate::promise::DiskForm;
use crate::publish::ProjectError;
use crate::publish::amend::Amended;
use crate::publish::on_disk::Counted;
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, RowSum, Sheaf, numbers_of_kind, sorted};
use crate::publish::on_disk::cluster::task::{
    Comparing, Job, KernelTask, SaidCompared, SaidEncoded, SaidProblem, Units, is_among,
};
use crate::publish::on_disk::cluster::units::Cursor;
use crate::publish::on_disk::compare::{Fate, compare_part, count_part};
use crate::publish::on_disk::rows::{self, KEY_AND_GROUP, KEY_AND_RECORD, Shape, Texts};
use crate::publish::on_disk::units::{Unit, past_sets_of};
use arrow_array::RecordBatch;
use std::collections::{BTreeMap, BTreeSet};
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
        let Job::Encode { key, parts, erased } = &self.task.job else { panic!("this kernel does not encode") };
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
            let mut used: BTreeSet<u64> = BTreeSet::new();
            for (row, key) in rows.keys.iter().enumerate() {
                numbers.clear();
                rows::put_key(*key, &mut numbers);
                numbers.extend(rows.quasi.iter().map(|codes| codes[row]));
                let hashes = [Some(&rows.sensitive[row]), rows.public.get(row)];
                numbers.extend(hashes.into_iter().flatten().flat_map(|hash| [(hash >> 32) as u32, *hash as u32]));
                said.sum.add(&numbers);
                sheaf.at(key.part(*parts)).extend_from_slice(&numbers);
                if !erased.is_empty() && !is_among(erased, *key) {
                    used.extend(rows.public.get(row));
                }
            }
            (said.values, said.public_texts) = (rows.values, rows.public_texts);
            if !erased.is_empty() {
                said.public_texts.retain(|(hash, _)| used.contains(hash));
            }
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
            Job::Compare(comparing) => self.compare(place, comparing, blobs),
            Job::Count(counter) => self.count(counter, blobs),
            Job::Crowd { releases, curve } => self.crowd(place, *releases, *curve, blobs),
            Job::Look { past, compares } => self.look(place, past, *compares, blobs),
            Job::Points => self.points(place, blobs),
            Job::Join { units, groups_per_unit } => self.join(place, *units, *groups_per_unit, blobs),
            Job::Deal { units } => self.deal(place, *units, blobs),
            Job::Spread { sorter, units } => self.spread(place, sorter.as_ref(), *units, blobs),
            Job::Recall { parts } => self.recall(*parts, blobs),
            Job::Solve { past, linked, lots } => self.solve(place, past, (linked.as_ref(), lots), blobs),
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

    /// How the promise forms groups.
    pub(super) fn form(&self) -> DiskForm<'_> {
        self.task.promise.inner().disk_form().expect("the driver has asked")
    }

    fn compare(&self, place: usize, comparing: &Comparing, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let (shape, schema) = (self.shape(), &self.task.schema);
        let mut said = SaidCompared::default();
        let numbers = self.final_rows(comparing, blobs, &mut said.read);
        let mut all = sorted(&numbers, shape.width());
        let doubles = all.chunk_by(|a, b| rows::key(a) == rows::key(b)).filter(|same| same.len() > 1);
        said.duplicates = doubles.map(|same| same.len() as u64).sum();
        all.dedup_by_key(|row| rows::key(row));
        let before_erasing = all.len();
        all.retain(|row| !is_among(&comparing.erased, rows::key(row)));
        said.erased = before_erasing - all.len();
        let mut table = shape.table(all.iter().copied(), &Texts::default());
        let (before, last) = self.past_people(comparing.releases, blobs);
        if comparing.is_amended {
            Amended::with_added(&comparing.added).stay(schema, &mut table, last.as_ref(), &before);
        }
        let mut row = Vec::new();
        for here in table.rows() {
            row.clear();
            shape.put(&table, here, &mut row);
            said.people.add(&row);
        }
        let others = schema.quasi.iter().enumerate().map(|(at, quasi)| {
            quasi.other().map_or(0, |other| table.quasi(at).iter().filter(|&&code| code == other).count() as u64)
        });
        said.others = others.collect();
        let made = match self.form() {
            DiskForm::Units(_) => {
                let (counted, made) = self.fates(place, comparing.groups_per_unit, (&before, last.as_ref()), &table);
                said.crowded.counted = counted;
                made
            }
            DiskForm::Seats(kernel) => {
                said.crowded = count_part(&before, last.as_ref(), &table);
                let mut made = self.known(place, &before, &table);
                if kernel.only_adds() {
                    let (counted, fates) =
                        self.fates(place, comparing.groups_per_unit, (&before, last.as_ref()), &table);
                    said.crowded.counted.missing = counted.missing;
                    made.extend(fates.into_iter().filter(|blob| blob.kind == BlobKind::Kept));
                }
                made
            }
        };
        made.into_iter().chain([Blob::said(place, &said)]).collect()
    }

    /// The people of a part by what becomes of them.
    fn fates(
        &self,
        place: usize,
        groups_per_unit: usize,
        (before, last): (&History, Option<&Table>),
        table: &Table,
    ) -> (Counted, Vec<Blob>) {
        let shape = self.shape();
        let [mut kept, mut new, mut out, mut sets] =
            [BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Sets].map(Sheaf::new);
        let compared = compare_part(before, last, table, |fate| {
            match fate {
                Fate::Kept(record, here) => {
                    let unit = record.group as usize / groups_per_unit;
                    shape.put_kept(table, record, here, kept.at(unit));
                    put_sets(before, record.key, &mut sets, unit);
                }
                Fate::Out(here) => shape.put(table, here, out.at(place)),
                Fate::New(here) => shape.put(table, here, new.at(place)),
            }
            Ok::<(), ProjectError>(())
        });
        let made = kept.finish().chain(new.finish()).chain(out.finish()).chain(sets.finish()).collect();
        (compared.expect("nothing here can fail"), made)
    }

    /// The people of a part with what the history says of them.
    fn known(&self, place: usize, before: &History, table: &Table) -> Vec<Blob> {
        let shape = self.shape();
        let [mut known, mut sets] = [BlobKind::Known, BlobKind::Sets].map(Sheaf::new);
        for (here, record) in table.rows().zip(before.align(table)) {
            let row = known.at(place);
            shape.put(table, here, row);
            shape.put_known(record, row);
            put_sets(before, table.key(here), &mut sets, place);
        }
        known.finish().chain(sets.finish()).collect()
    }

    /// The rows of a part with numbers in place of hashes. People who were erased may have texts without a number.
    fn final_rows(&self, comparing: &Comparing, blobs: &[(BlobKind, &[u8])], read: &mut RowSum) -> Vec<u32> {
        let shape = self.shape();
        let plain = rows::KEY + self.task.schema.quasi.len();
        let public = (shape.width() > plain + 1).then_some(&comparing.public);
        let encoded = numbers_of_kind(blobs, BlobKind::Encoded);
        let width = plain + 2 + if public.is_some() { 2 } else { 0 };
        let number = |numbers: &[(u64, u32)], hash: &[u32]| {
            let hash = u64::from(hash[0]) << 32 | u64::from(hash[1]);
            let at = numbers.binary_search_by_key(&hash, |named| named.0);
            at.ok().map(|at| numbers[at].1)
        };
        let mut numbers = Vec::with_capacity(encoded.len() / width * shape.width());
        for row in encoded.chunks_exact(width) {
            read.add(row);
            numbers.extend_from_slice(&row[..plain]);
            let value = number(&comparing.values, &row[plain..]);
            let cell = public.map(|public| number(public, &row[plain + 2..]));
            let is_erased = is_among(&comparing.erased, rows::key(row));
            for text in [Some(value), cell].into_iter().flatten() {
                numbers.push(text.or(is_erased.then_some(0)).expect("the driver numbered every text"));
            }
        }
        numbers
    }

    /// What the vault says of a part, and its rows of the last snapshot.
    fn past_people(&self, releases: u32, blobs: &[(BlobKind, &[u8])]) -> (History, Option<Table>) {
        let past = numbers_of_kind(blobs, BlobKind::Past);
        let mut before = History { releases, ..History::default() };
        let mut past = Cursor(&past);
        if past.0.is_empty() {
            return (before, None);
        }
        let [records, sets] = [0, 1].map(|_| past.take(1)[0] as usize);
        let records = past.take(records * KEY_AND_RECORD).chunks_exact(KEY_AND_RECORD);
        before.records = records.map(|row| rows::record(rows::key(row), rows::after_key(row))).collect();
        before.past_sets = read_sets(past.take(sets * KEY_AND_GROUP));
        let shape = self.shape();
        (before, Some(shape.table(past.0.chunks_exact(shape.width()), &Texts::default())))
    }

    /// What giving people a bucket depends on: keys, values, what the history says, and places on the curve if these are asked.
    fn crowd(&self, place: usize, releases: u32, is_curve_asked: bool, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let shape = self.shape();
        let rows = sorted(&numbers_of_kind(blobs, BlobKind::Known), shape.kept_width()).concat();
        let past = History { releases, ..History::default() };
        let Unit { table, history, .. } = Unit::seated(&rows, shape, &past, &Texts::default());
        let curve = if is_curve_asked { Hilbert::new(&self.task.schema).keys(&table) } else { Vec::new() };
        let mut numbers = Vec::new();
        let only_adds = matches!(self.form(), DiskForm::Seats(kernel) if kernel.only_adds());
        for (here, known) in table.rows().zip(known(&history, &table, only_adds)) {
            rows::put_key(table.key(here), &mut numbers);
            numbers.push(table.sensitive()[here.index()].0);
            numbers.extend(known.numbers());
            numbers.extend(curve.get(here.index()).into_iter().flat_map(|at| [(at >> 32) as u32, *at as u32]));
        }
        vec![Blob::new(place, BlobKind::Crowd, &numbers)]
    }

    /// The codes of arrivals, in the order of their keys.
    fn points(&self, place: usize, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let shape = self.shape();
        let new = numbers_of_kind(blobs, BlobKind::New);
        let points: Vec<&[u32]> = sorted(&new, shape.width()).into_iter().map(|row| shape.point(row)).collect();
        vec![Blob::new(place, BlobKind::Crowd, &points.concat())]
    }

    /// Sends arrivals to the units of the groups that they join.
    fn join(&self, place: usize, units: Units, groups_per_unit: usize, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let (shape, aside) = (self.shape(), units.len() + place);
        let stay = blobs.iter().filter(|blob| matches!(blob.0, BlobKind::Kept | BlobKind::Sets));
        let mut made: Vec<Blob> =
            stay.map(|blob| Blob { place: place as u32, kind: blob.0, bytes: blob.1.to_vec() }).collect();
        let [mut joining, mut out] = [BlobKind::Joining, BlobKind::Out].map(Sheaf::new);
        let (new, groups) = (numbers_of_kind(blobs, BlobKind::New), numbers_of_kind(blobs, BlobKind::Seats));
        let arrivals = sorted(&new, shape.width());
        assert_eq!(arrivals.len(), groups.len(), "the driver has looked at every arrival");
        for (row, group) in arrivals.into_iter().zip(groups) {
            if group == LEFT_OUT {
                out.at(aside).extend_from_slice(row);
            } else {
                let joins = joining.at(group as usize / groups_per_unit);
                joins.extend_from_slice(row);
                joins.push(group);
            }
        }
        let gone = numbers_of_kind(blobs, BlobKind::Out);
        if !gone.is_empty() {
            out.at(aside).extend(gone);
        }
        made.extend(joining.finish().chain(out.finish()));
        made
    }

    /// Sends everyone to the unit of their bucket, and those who wait aside.
    fn deal(&self, place: usize, units: Units, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let (shape, aside) = (self.shape(), units.len() + place);
        let [mut known, mut out, mut sets] = [BlobKind::Known, BlobKind::Out, BlobKind::Sets].map(Sheaf::new);
        let (all, seats) = (numbers_of_kind(blobs, BlobKind::Known), numbers_of_kind(blobs, BlobKind::Seats));
        let people = sorted(&all, shape.kept_width());
        assert_eq!(people.len(), seats.len(), "the driver has placed everyone");
        for (row, &unit) in people.iter().zip(&seats) {
            match unit == LEFT_OUT {
                true => out.at(aside).extend_from_slice(&row[..shape.width()]),
                false => known.at(unit as usize).extend_from_slice(row),
            }
        }
        for set in numbers_of_kind(blobs, BlobKind::Sets).chunks_exact(KEY_AND_GROUP) {
            let at = people.binary_search_by_key(&rows::key(set), |row| rows::key(row));
            let unit = seats[at.expect("only people who are here have sets")];
            if unit != LEFT_OUT {
                sets.at(unit as usize).extend_from_slice(set);
            }
        }
        known.finish().chain(out.finish()).chain(sets.finish()).collect()
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
        // Where everyone gets a bucket first, people of the last release are among those who are known.
        let here = if let DiskForm::Units(_) = self.form() { BlobKind::Kept } else { BlobKind::Known };
        rows_of(here, shape.kept_width(), &mut placed);
        placed.finish().collect()
    }
}

/// Appends the earlier value sets of a person.
fn put_sets(before: &History, person: RecordKey, sets: &mut Sheaf, place: usize) {
    for (key, set) in past_sets_of(before, std::iter::once(person)) {
        let row = sets.at(place);
        rows::put_key(key, row);
        row.push(set.0);
    }
}

/// Earlier value sets of people, sorted.
pub(super) fn read_sets(numbers: &[u32]) -> Vec<(RecordKey, ValueSetId)> {
    let rows = numbers.chunks_exact(KEY_AND_GROUP);
    let mut sets: Vec<(RecordKey, ValueSetId)> =
        rows.map(|row| (rows::key(row), ValueSetId(rows::after_key(row)[0]))).collect();
    sets.sort_unstable();
    sets
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
