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
//! ([`FromDisk`]); other ones are refused, with the reason.

mod cluster;
mod compare;
mod people;
mod release;
mod rows;
mod snapshot;
mod units;

pub use cluster::{Blob, BlobKind, Cluster, ClusterStep, Kernel, Listener, StepInput};
pub(super) use cluster::{Driving, drive};
pub(super) use people::{Everyone, NextPeople};
pub(super) use release::{Making, prepare};

use crate::ingest::{self, ReadOptions, Snapshot, Source};
use crate::ledger::{LedgerError, Scratch, ScratchFile, Store, parts_of};
use crate::model::{Change, History, Record, RecordKey, Schema, Table};
use crate::publish::amend::Amended;
use crate::publish::on_disk::compare::{Fate, compare_part};
use crate::publish::on_disk::rows::{Fan, Shape};
use crate::publish::on_disk::snapshot::{Parts, Reading};
use crate::publish::{ProjectError, erased_note};
use serde::{Deserialize, Serialize};
use std::sync::Mutex;

/// How many files are written at a time, at most.
const MOST_FILES: usize = 256;

/// How many people one file holds, unless there are so many that the files would be too many.
pub(super) const PEOPLE_PER_FILE: usize = 1 << 16;

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
    /// How many newcomers have each value.
    values: Vec<u64>,
    /// Whether a newcomer was in no earlier snapshot.
    is_anybody_new: bool,
}

/// How people are read onto the disk.
pub(super) struct Plan<'a> {
    pub store: &'a Store,
    pub schema: &'a Schema,
    pub key: [u8; 32],
    pub options: ReadOptions,
    /// How many people a file should hold.
    pub per_file: usize,
    /// The values that columns gained since the last release.
    pub amended: &'a Amended,
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
            snapshot: parts,
            scratch,
            elsewhere: Mutex::new(None),
        };
        on_disk.compare(plan, &history)?;
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
        let Plan { store, schema, amended, .. } = *plan;
        let (shape, parts) = (Shape::of(schema), self.snapshot.len());
        let units = history.groups.regions.len().div_ceil(self.groups_per_unit);
        let (mut kept, mut newcomers) = (Fan::new(&self.scratch, units), Fan::new(&self.scratch, parts));
        let mut out = Fan::new(&self.scratch, parts);
        let mut past = PastPeople::new(store, self.past_parts);
        let values = vec![0; self.snapshot.texts.values.len()];
        let (mut counted, mut row) = (Counted { values, ..Counted::default() }, Vec::new());
        for part in 0..parts {
            let mut table = self.snapshot.read(&self.scratch, part, schema)?;
            let (records, last) = past.part(part, parts)?;
            let (before, last) =
                amended.recode(History { releases: history.releases, records, ..History::default() }, last);
            if amended.is_any() {
                amended.stay(schema, &mut table, last.as_ref(), &before);
                self.snapshot.set_quasi(&self.scratch, part, &table)?;
            }
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
