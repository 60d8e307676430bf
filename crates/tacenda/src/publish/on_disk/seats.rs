//! Promises that give everyone a bucket before groups are formed.
//!
//! 1. Keys, values, and what the history says of people are in memory, without quasi columns: the crowd. It is placed by the
//!    functions that place people in memory.
//! 2. Then the crowd is gone, and people go to files by bucket. Small buckets that follow each other share a file: a unit.
//! 3. File by file, buckets are cut.
//!
//! Rows of a file are in the order of keys, like the rows of the table. So every order among them is the same.

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::crowd::{Crowd, Known, known};
use crate::grouping::buckets::hilbert::Hilbert;
use crate::ledger::{LedgerError, ScratchFile};
use crate::model::{History, Lots, RecordKey, Release, Schema, Table, Value};
use crate::promise::{Changes, FromSeats, Noticed, Seating};
use crate::publish::on_disk::release::{Formed, Making, Of};
use crate::publish::on_disk::rows::{self, Fan, Shape};
use crate::publish::on_disk::units::{Joined, Unit};
use crate::publish::on_disk::{BYTES_ON_DISK, MOST_FILES, OnDisk, PastPeople};
use crate::publish::{ProjectError, PublishError};
use std::borrow::Cow;
use std::ops::Range;

/// Files that may never have been begun.
type FilesInOrder = Vec<Option<ScratchFile>>;

/// Marks somebody who is in no unit.
pub(super) const NO_UNIT: u16 = u16::MAX;

/// How many bytes of memory a row of the release takes while buckets are cut.
const BYTES_PER_PUBLISHED: u64 = 24;

/// How many bytes of memory somebody takes while their bucket is cut, if there are so many quasi columns: the rows of the
/// file and the table, then the table, codes side by side, and two orders per column.
fn bytes_per_seat(columns: usize) -> u64 {
    (80 + 16 * columns + 16 * columns.div_ceil(4)) as u64
}

/// Everyone in the order of keys, without quasi columns.
#[derive(Default)]
pub(super) struct Listed {
    pub keys: Vec<RecordKey>,
    pub values: Vec<Value>,
    /// What the history says of each; empty before the first release.
    pub known: Vec<Known>,
    /// Where each is on the curve; empty where nobody asks.
    pub curve: Vec<u64>,
}

impl Listed {
    /// The bucket of everyone; and how many people wait who were published before.
    pub fn seat(
        mut self,
        kernel: &dyn FromSeats,
        history: &History,
        on_disk: &OnDisk,
        lots: &Lots,
    ) -> Result<(Seating, usize), ProjectError> {
        let mut back: Vec<u32> = (0..).zip(&self.known).filter(|(_, known)| known.is_back()).map(|one| one.0).collect();
        let mut stay: Vec<u32> = Vec::new();
        if !back.is_empty() {
            stay = (0..self.known.len() as u32).filter(|row| back.binary_search(row).is_err()).collect();
            self.keep(&stay);
        }
        let crowd = Crowd {
            history,
            keys: &self.keys,
            values: &self.values,
            value_count: on_disk.snapshot.texts.values.len(),
            known: self.known,
            rates: on_disk.rates.clone(),
        };
        let mut seating = kernel.seat(&crowd, &|| Cow::Borrowed(&self.curve[..]), lots).map_err(PublishError::from)?;
        let taken_out = seating.withheld.iter().filter(|&&row| crowd.set(row).is_some()).count() + back.len();
        if !back.is_empty() {
            let lists = seating.buckets.iter_mut().flat_map(|bucket| bucket.lists.iter_mut().flatten());
            lists.chain(&mut seating.withheld).for_each(|row| *row = stay[*row as usize]);
            seating.withheld.append(&mut back);
            seating.withheld.sort_unstable();
        }
        Ok((seating, taken_out))
    }

    /// Keeps some rows only.
    fn keep(&mut self, rows: &[u32]) {
        fn some<T: Copy>(all: &mut Vec<T>, rows: &[u32]) {
            if !all.is_empty() {
                *all = rows.iter().map(|&row| all[row as usize]).collect();
            }
        }
        some(&mut self.keys, rows);
        some(&mut self.values, rows);
        some(&mut self.known, rows);
        some(&mut self.curve, rows);
    }
}

impl Making<'_> {
    /// Forms the groups of all buckets.
    pub(super) fn form_seats(&self, kernel: &dyn FromSeats, step: &dyn Fn(&str)) -> Result<Formed, ProjectError> {
        let Making { file, history, on_disk, seed, .. } = *self;
        self.look_at_groups(kernel)?;
        kernel.refuse_columns(&file.schema).map_err(PublishError::from)?;
        let lots = seed.lots("group", history.releases + 1);
        step("giving everyone a bucket");
        let (seating, taken_out) = self.seat(kernel, &lots)?;
        let waiting = seating.withheld.len() - taken_out;
        let mut formed = Formed { taken_out, waiting, ..Formed::default() };
        let mut buckets = seating.buckets;
        let people = buckets.iter().map(Bucket::people).sum();
        let units = packed(&buckets, on_disk.per_file.max(on_disk.people().div_ceil(MOST_FILES / 4)));
        on_disk.refuse_large(&file.schema, &buckets, &units, people)?;
        let files;
        (files, formed.in_no_unit) = on_disk.fan_out(&file.schema, history, &mut buckets, &units)?;
        step("grouping, bucket by bucket");
        let mut buckets = buckets.into_iter();
        for (unit, of_unit) in units.into_iter().zip(files) {
            let Unit { table, .. } = on_disk.seated_unit(of_unit, &file.schema, history)?;
            let grouping = kernel.cut(&file.schema, &table, buckets.by_ref().take(unit.len()).collect(), &lots);
            formed.push(self, Of::Seated(of_unit), &table, &grouping)?;
        }
        Ok(formed)
    }

    /// Refuses people who are missing or have changed, where people are only added.
    fn look_at_groups(&self, kernel: &dyn FromSeats) -> Result<(), ProjectError> {
        let Making { file, history, on_disk, .. } = *self;
        if !kernel.only_adds() {
            return Ok(());
        }
        let mut changes = Changes::default();
        for at in 0..on_disk.kept_units() {
            let Unit { table, history, .. } = on_disk.kept_unit(at, &file.schema, history, &Joined::default())?;
            changes = changes.and(kernel.changes(&history, &table));
        }
        Ok(kernel.refuse_changes(on_disk.counted.missing, changes).map_err(PublishError::from)?)
    }

    /// The bucket of everyone; and how many people wait who were published before.
    fn seat(&self, kernel: &dyn FromSeats, lots: &Lots) -> Result<(Seating, usize), ProjectError> {
        let Making { file, history, on_disk, .. } = *self;
        let (people, schema) = (on_disk.people(), &file.schema);
        let curve_asked = kernel.needs_curve(history);
        let room = |is_asked: bool| if is_asked { people } else { 0 };
        let (mut keys, mut values) = (Vec::with_capacity(people), Vec::with_capacity(people));
        let mut all_known = Vec::with_capacity(room(history.releases > 0));
        let mut curve: Vec<u64> = Vec::with_capacity(room(curve_asked));
        for part in 0..on_disk.snapshot.len() {
            let table = match curve_asked {
                true => on_disk.snapshot.read(&on_disk.scratch, part, schema)?,
                false => on_disk.snapshot.narrow(&on_disk.scratch, part, schema)?,
            };
            keys.extend_from_slice(table.keys());
            values.extend_from_slice(table.sensitive());
            if history.releases > 0 {
                all_known.extend(known(&on_disk.known_of(part, history)?, &table, kernel.only_adds()));
            }
            if curve_asked {
                curve.append(&mut Hilbert::new(schema).keys(&table));
            }
        }
        Listed { keys, values, known: all_known, curve }.seat(kernel, history, on_disk, lots)
    }

    /// Warnings before publishing a valid release.
    pub(in crate::publish) fn seat_warnings(
        &self,
        kernel: &dyn FromSeats,
        release: &Release,
    ) -> Result<Vec<String>, ProjectError> {
        let Making { file, on_disk, store, .. } = *self;
        let stayed = on_disk.stayed.as_ref();
        if !kernel.asks_for_values(on_disk.people(), &on_disk.counted.values) {
            return Ok(kernel.warnings(release, &Noticed { stayed, tables: None }));
        }
        let parts = on_disk.snapshot.len();
        let mut past = PastPeople::new(store, on_disk.past_parts);
        let (mut here, mut last): (Option<Table>, Option<Table>) = (None, None);
        let followed = |all: Option<Table>, next: Table| match all {
            Some(all) => all.followed_by(next),
            None => next,
        };
        for part in 0..parts {
            here = Some(followed(here, on_disk.snapshot.narrow(&on_disk.scratch, part, &file.schema)?));
            last = past.part(part, parts)?.1.map(|next| followed(last.take(), next));
        }
        let here = here.unwrap_or_default();
        Ok(kernel.warnings(release, &Noticed { stayed, tables: Some((&here, last.as_ref())) }))
    }
}

impl OnDisk {
    /// The records of the people of a part, as far as they are here.
    fn known_of(&self, part: usize, history: &History) -> Result<History, LedgerError> {
        let mut records = Vec::new();
        rows::each(&self.scratch, self.known[part], rows::KEY_AND_RECORD, &mut |row| {
            records.push(rows::record(rows::key(row), rows::after_key(row)));
            Ok(())
        })?;
        Ok(History { releases: history.releases, records, ..History::default() })
    }

    /// Refuses buckets that are too large for the memory that is allowed. Nothing was cut yet.
    fn refuse_large(
        &self,
        schema: &Schema,
        buckets: &[Bucket],
        units: &[Range<usize>],
        people: usize,
    ) -> Result<(), ProjectError> {
        let of_unit = |unit: &Range<usize>| {
            let rows = |bucket: &Bucket| bucket.copies * bucket.set.len() as u64;
            buckets[unit.clone()].iter().map(rows).sum::<u64>()
        };
        let largest = units.iter().map(of_unit).max().unwrap_or(0);
        let needed = BYTES_ON_DISK + largest * bytes_per_seat(schema.quasi.len()) + people as u64 * BYTES_PER_PUBLISHED;
        match needed > self.allowed {
            true => Err(ProjectError::Memory { needed, allowed: self.allowed }),
            false => Ok(()),
        }
    }

    /// Sends people to the files of their units, and those who are in none to files by part. In the buckets, people are
    /// numbered by their place in the file from now on.
    fn fan_out(
        &self,
        schema: &Schema,
        history: &History,
        buckets: &mut [Bucket],
        units: &[Range<usize>],
    ) -> Result<(FilesInOrder, FilesInOrder), LedgerError> {
        let of_row = numbered(buckets, units, self.people());
        let shape = Shape::of(schema);
        let mut files = Fan::new(&self.scratch, units.len());
        let mut waiting = Fan::new(&self.scratch, self.snapshot.len());
        let (mut of_row, mut row) = (of_row.into_iter(), Vec::new());
        for part in 0..self.snapshot.len() {
            let table = self.snapshot.read(&self.scratch, part, schema)?;
            let before = self.known_of(part, history)?;
            for ((here, record), unit) in table.rows().zip(before.align(&table)).zip(&mut of_row) {
                row.clear();
                shape.put(&table, here, &mut row);
                if unit == NO_UNIT {
                    waiting.put(part, &row)?;
                } else {
                    shape.put_known(record, &mut row);
                    files.put(unit as usize, &row)?;
                }
            }
        }
        Ok((files.finish()?, waiting.finish()?))
    }

    /// Reads the people of a unit, and what the history says of them.
    pub(super) fn seated_unit(
        &self,
        file: Option<ScratchFile>,
        schema: &Schema,
        past: &History,
    ) -> Result<Unit, LedgerError> {
        let shape = Shape::of(schema);
        let numbers = rows::read_some(&self.scratch, file)?;
        Ok(Unit::seated(&numbers, shape, past, &self.snapshot.texts))
    }
}

/// Buckets that follow each other, in units of about so many people. A larger bucket is a unit of its own.
pub(super) fn packed(buckets: &[Bucket], people: usize) -> Vec<Range<usize>> {
    let (mut units, mut first, mut held) = (Vec::new(), 0, 0);
    for (at, bucket) in buckets.iter().enumerate() {
        if at > first && held + bucket.people() > people {
            units.push(first..at);
            (first, held) = (at, 0);
        }
        held += bucket.people();
    }
    if first < buckets.len() {
        units.push(first..buckets.len());
    }
    units
}

/// The unit of every row. Numbers people by their place among those of their unit.
pub(super) fn numbered(buckets: &mut [Bucket], units: &[Range<usize>], people: usize) -> Vec<u16> {
    assert!(units.len() < NO_UNIT as usize, "units are few, because many people share one");
    let mut of_row = vec![NO_UNIT; people];
    for (unit, range) in (0..).zip(units) {
        let rows = buckets[range.clone()].iter().flat_map(|bucket| bucket.lists.iter().flatten());
        rows.for_each(|&row| of_row[row as usize] = unit);
    }
    let mut next = vec![0; units.len()];
    let number = |&unit: &u16| {
        let Some(next) = next.get_mut(unit as usize) else { return 0 };
        *next += 1;
        *next - 1
    };
    let numbers: Vec<u32> = of_row.iter().map(number).collect();
    for row in buckets.iter_mut().flat_map(|bucket| bucket.lists.iter_mut().flatten()) {
        *row = numbers[*row as usize];
    }
    of_row
}
