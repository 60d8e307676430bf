//! Publishing a table that does not fit into memory: its people are on disk, in private scratch files.
//!
//! 1. The input is read in batches, and rows go to files by the first bits of their keys. Each of these parts is sorted.
//! 2. Part by part the people are compared with those of the vault. People of the last release go to files by group,
//!    arrivals to files by part.
//! 3. Passes over the arrivals count them, and grow the top of the tree that cuts them. Its cells are files, too.
//! 4. File by file (a unit) groups are formed. The release itself is in memory: it has four bytes per row, and its groups.
//! 5. The gate judges the finished release, unit by unit against the files, then part by part that everyone is there
//!    once, then as a whole.
//!
//! Every step calls what the way in memory calls, with fewer people at a time. So the release is the same, to the byte.
//! The way is chosen if `--memory` is less than the table needs. A promise must form its groups by units
//! (`promise::FromDisk`), or give everyone a bucket first (`promise::FromSeats`, `seats.rs`). Others are refused, with the reason.

mod cluster;
mod compare;
mod people;
mod release;
mod rows;
mod seats;
mod snapshot;
mod units;

pub use cluster::{Blob, BlobKind, Cluster, ClusterStep, Kernel, Listener, StepInput};
pub(super) use cluster::{Driving, drive};
pub(super) use people::{Everyone, NextPeople};
pub(super) use release::{Making, prepare};

use crate::grouping::buckets::crowd::Rates;
use crate::ingest::{self, ReadOptions, Snapshot, Source};
use crate::ledger::{LedgerError, Scratch, ScratchFile, Store, parts_of};
use crate::model::{Change, History, Record, RecordKey, Schema, Table};
use crate::promise::{DiskForm, Stayed};
use crate::publish::amend::Amended;
use crate::publish::on_disk::compare::{Crowded, Fate, compare_part, count_part};
use crate::publish::on_disk::rows::{Fan, Shape};
use crate::publish::on_disk::snapshot::{Parts, Reading};
use crate::publish::{ProjectError, erased_note};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;
use zeroize::Zeroizing;

/// How many files are written at a time, at most.
const MOST_FILES: usize = 256;

/// How many people one file holds, unless there are so many that the files would be too many.
pub(super) const PEOPLE_PER_FILE: usize = 1 << 16;

/// How many bytes of memory the way from disk takes, however few people there are.
pub(super) const BYTES_ON_DISK: u64 = 128 << 20;

/// The people of a release, on disk. Private.
#[derive(Debug)]
pub(super) struct OnDisk {
    scratch: Scratch,
    snapshot: Parts,
    /// People of the last release by group: some groups per file.
    kept: Vec<Option<ScratchFile>>,
    /// How many groups of the last release are in one file.
    groups_per_unit: usize,
    /// People who were never published, by part.
    newcomers: Vec<Option<ScratchFile>>,
    /// The keys of people who were published and are out for good, by part.
    out: Vec<Option<ScratchFile>>,
    counted: Counted,
    /// In how many parts the vault has its people.
    past_parts: usize,
    per_file: usize,
    /// Where everyone gets a bucket first: by part, the records of those who are here; and how people came and went. `kept` has
    /// somebody only if people are only added.
    known: Vec<Option<ScratchFile>>,
    rates: Rates,
    stayed: Option<Stayed>,
    /// How many bytes of memory are allowed.
    allowed: u64,
    /// What a cluster has formed and judged of these people.
    elsewhere: Mutex<Option<cluster::Elsewhere>>,
}

/// What was counted while people were compared with those of the vault.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Counted {
    change: Change,
    newcomers: usize,
    /// How many people of the last release are gone.
    missing: usize,
    /// How many people are out for good since an earlier release.
    out: usize,
    /// How many people are here.
    here: usize,
    /// How many newcomers have each value; where everyone gets a bucket first, how many people.
    values: Vec<u64>,
    /// Whether a newcomer was in no earlier snapshot.
    is_anybody_new: bool,
}

impl Counted {
    /// Nobody, where there are so many values.
    fn nobody(values: usize) -> Counted {
        Counted { values: vec![0; values], ..Counted::default() }
    }
}

/// How people are read onto the disk.
pub(super) struct Plan<'a> {
    pub store: &'a Store,
    pub schema: &'a Schema,
    pub key: Zeroizing<[u8; 32]>,
    pub options: ReadOptions,
    /// How many people a file should hold.
    pub per_file: usize,
    /// The values that columns gained since the last release.
    pub amended: &'a Amended,
    /// How the promise forms groups.
    pub form: DiskForm<'a>,
    /// How many bytes of memory are allowed.
    pub allowed: u64,
}

impl OnDisk {
    /// Reads a table onto the disk, and compares it with the vault. Returns what is known of the past besides people, and
    /// the snapshot without its rows.
    pub fn read(
        plan: &Plan<'_>,
        source: &Source,
        rows: u64,
        step: &dyn Fn(&str),
    ) -> Result<(History, Snapshot, OnDisk), ProjectError> {
        let Plan { store, schema, amended, .. } = *plan;
        let (history, past_parts) = store.past()?;
        let (history, _) = amended.recode(history, None);
        let scratch = store.scratch();
        let per_file = plan.per_file.max((rows as usize).div_ceil(MOST_FILES));
        step("reading onto the disk");
        let reading = Reading::new(&scratch, parts_of(rows as usize, per_file));
        let take = |batch: ingest::Batch<'_>| reading.take(&batch);
        let mut read = ingest::read_in_batches(source, schema, &plan.key, &history.values, &plan.options, &take)?;
        step("sorting, and comparing with the vault");
        let (parts, left_out) = reading.finish(&scratch, schema, &history.erased, &mut read)?;
        read.notes.extend(erased_note(left_out));
        let groups = history.groups.regions.len();
        let units = parts.people.div_ceil(per_file).clamp(1, MOST_FILES);
        let mut on_disk = OnDisk {
            kept: Vec::new(),
            groups_per_unit: groups.div_ceil(units).max(1),
            newcomers: Vec::new(),
            out: Vec::new(),
            counted: Counted::default(),
            past_parts,
            per_file,
            known: Vec::new(),
            rates: Rates::default(),
            stayed: None,
            allowed: plan.allowed,
            snapshot: parts,
            scratch,
            elsewhere: Mutex::new(None),
        };
        match plan.form {
            DiskForm::Seats(kernel) => on_disk.compare_all(plan, &history, kernel.only_adds())?,
            DiskForm::Units(_) => on_disk.compare(plan, &history)?,
        }
        let texts = &on_disk.snapshot.texts;
        let no_rows = vec![Vec::new(); schema.quasi.len()];
        let table = Table::new(Vec::new(), no_rows, Vec::new(), texts.values.clone(), Vec::new(), texts.public.clone());
        let (notes, digest) = (read.notes, read.digest);
        Ok((history, Snapshot { table, notes, digest, rows: on_disk.people() as u64 }, on_disk))
    }

    /// How many people the snapshot has.
    pub fn people(&self) -> usize {
        self.snapshot.people
    }

    /// Feeds the snapshot to a hash, exactly as [`Table::feed`] does.
    pub fn feed(
        &self,
        quasi: usize,
        name: impl Fn(usize, u32) -> u64,
        hash: &mut impl FnMut(&[u8]),
    ) -> Result<(), LedgerError> {
        self.snapshot.feed(&self.scratch, quasi, name, hash)
    }

    /// How many rows have each code of an attribute that is asked for.
    pub fn rows_with(&self, schema: &Schema, wanted: &[(usize, u32)]) -> Result<Vec<u64>, LedgerError> {
        let mut found = vec![0; wanted.len()];
        for part in (0..self.snapshot.len()).filter(|_| !wanted.is_empty()) {
            let table = self.snapshot.read(&self.scratch, part, schema)?;
            for (found, &(attribute, code)) in found.iter_mut().zip(wanted) {
                *found += table.quasi(attribute).iter().filter(|&&other| other == code).count() as u64;
            }
        }
        Ok(found)
    }

    /// Sorts everyone into files by what became of them.
    fn compare(&mut self, plan: &Plan<'_>, history: &History) -> Result<(), ProjectError> {
        let Plan { store, schema, .. } = *plan;
        let (shape, parts) = (Shape::of(schema), self.snapshot.len());
        let units = history.groups.regions.len().div_ceil(self.groups_per_unit);
        let (mut kept, mut newcomers) = (Fan::new(&self.scratch, units), Fan::new(&self.scratch, parts));
        let mut out = Fan::new(&self.scratch, parts);
        let mut past = PastPeople::new(store, self.past_parts);
        let mut counted = Counted::nobody(self.snapshot.texts.values.len());
        let mut row = Vec::new();
        for part in 0..parts {
            let (table, before, last) = part_and_past(plan, (&mut self.snapshot, &self.scratch), &mut past, part)?;
            let of_part = compare_part(&before, last.as_ref(), &table, |fate| {
                row.clear();
                match fate {
                    Fate::Kept(record, here) => {
                        shape.put_kept(&table, record, here, &mut row);
                        kept.put(record.group as usize / self.groups_per_unit, &row)
                    }
                    Fate::Out(here) => {
                        rows::put_key(table.key(here), &mut row);
                        out.put(part, &row)
                    }
                    Fate::New(here) => {
                        shape.put(&table, here, &mut row);
                        newcomers.put(part, &row)
                    }
                }
            })?;
            counted = std::mem::take(&mut counted).and(of_part);
        }
        (self.kept, self.newcomers, self.out) = (kept.finish()?, newcomers.finish()?, out.finish()?);
        self.counted = counted;
        Ok(())
    }
}

/// A part, and the records and the last snapshot of the same part.
fn part_and_past(
    plan: &Plan<'_>,
    (snapshot, scratch): (&mut Parts, &Scratch),
    past: &mut PastPeople<'_>,
    part: usize,
) -> Result<(Table, History, Option<Table>), LedgerError> {
    let Plan { schema, amended, store, .. } = *plan;
    let mut table = snapshot.read(scratch, part, schema)?;
    let (records, last) = past.part(part, snapshot.len())?;
    let (before, last) = amended.recode(History { releases: store.releases(), records, ..History::default() }, last);
    if amended.is_any() {
        amended.stay(schema, &mut table, last.as_ref(), &before);
        snapshot.set_quasi(scratch, part, &table)?;
    }
    Ok((table, before, last))
}

impl OnDisk {
    /// Counts how people came and went, and keeps the records of those who are here. Where people are only added, people of the
    /// last release go to files by group, too.
    fn compare_all(&mut self, plan: &Plan<'_>, history: &History, only_adds: bool) -> Result<(), ProjectError> {
        let shape = Shape::of(plan.schema);
        let units = if only_adds { history.groups.regions.len().div_ceil(self.groups_per_unit) } else { 0 };
        let (mut kept, mut row) = (Fan::new(&self.scratch, units), Vec::new());
        let mut past = PastPeople::new(plan.store, self.past_parts);
        let mut all = Crowded { counted: Counted::nobody(self.snapshot.texts.values.len()), ..Crowded::default() };
        for part in 0..self.snapshot.len() {
            let (table, before, last) = part_and_past(plan, (&mut self.snapshot, &self.scratch), &mut past, part)?;
            let mut of_part = count_part(&before, last.as_ref(), &table);
            if only_adds {
                let counted = compare_part(&before, last.as_ref(), &table, |fate| {
                    let Fate::Kept(record, here) = fate else { return Ok(()) };
                    row.clear();
                    shape.put_kept(&table, record, here, &mut row);
                    kept.put(record.group as usize / self.groups_per_unit, &row)
                })?;
                of_part.counted.missing = counted.missing;
            }
            all = all.and(of_part);
            let mut numbers = Vec::new();
            for record in before.align(&table).flatten() {
                rows::put_key(record.key, &mut numbers);
                rows::put_record(record, &mut numbers);
            }
            let is_any = !numbers.is_empty();
            self.known.push(is_any.then(|| rows::write(&self.scratch, &numbers)).transpose()?);
        }
        self.kept = kept.finish()?;
        Crowded { counted: self.counted, rates: self.rates, stayed: self.stayed } = all;
        Ok(())
    }
}

/// The people of the vault, in other parts than it has them in.
struct PastPeople<'a> {
    store: &'a Store,
    parts: usize,
    /// The part that was read last.
    loaded: Option<(usize, Vec<Record>, Table)>,
}

impl<'a> PastPeople<'a> {
    fn new(store: &'a Store, parts: usize) -> PastPeople<'a> {
        PastPeople { store, parts, loaded: None }
    }

    /// The records of a part; nobody before the first release.
    fn records(&mut self, part: usize, parts: usize) -> Result<Vec<Record>, LedgerError> {
        if self.store.releases() == 0 {
            return Ok(Vec::new());
        }
        if self.parts > parts {
            let finer = self.parts / parts;
            let mut records = Vec::new();
            for next in part * finer..(part + 1) * finer {
                records.append(&mut self.store.past_records(next, self.parts)?);
            }
            return Ok(records);
        }
        let wanted = part * self.parts / parts;
        if self.loaded.as_ref().is_none_or(|loaded| loaded.0 != wanted) {
            self.loaded = None;
            self.loaded = Some((wanted, self.store.past_records(wanted, self.parts)?, Table::default()));
        }
        let (_, records, _) = self.loaded.as_ref().expect("it was just read");
        let here = RecordKey::part_of(records, |record| record.key, part, parts);
        Ok(records[here].to_vec())
    }

    /// The records of a part, and its rows of the last snapshot; nobody before the first release.
    fn part(&mut self, part: usize, parts: usize) -> Result<(Vec<Record>, Option<Table>), LedgerError> {
        if self.store.releases() == 0 {
            return Ok((Vec::new(), None));
        }
        if self.parts > parts {
            let finer = self.parts / parts;
            let (mut records, mut table) = self.store.past_part(part * finer, self.parts)?;
            for next in part * finer + 1..(part + 1) * finer {
                let (mut more, rows) = self.store.past_part(next, self.parts)?;
                records.append(&mut more);
                table = table.followed_by(rows);
            }
            return Ok((records, Some(table)));
        }
        let wanted = part * self.parts / parts;
        if self.loaded.as_ref().is_none_or(|loaded| loaded.0 != wanted) {
            self.loaded = None;
            let (records, table) = self.store.past_part(wanted, self.parts)?;
            self.loaded = Some((wanted, records, table));
        }
        let (_, records, table) = self.loaded.as_ref().expect("it was just read");
        let here = RecordKey::part_of(records, |record| record.key, part, parts);
        Ok((records[here].to_vec(), Some(table.part(part, parts))))
    }
}
