//! Units: the people of some groups of the last release, or the arrivals of one cell. Each is a file, and a small table.

use crate::grouping::top::Units;
use crate::ledger::{LedgerError, Scratch, ScratchFile};
use crate::model::{History, Membership, PastGroups, Record, RecordKey, Regions, Row, Schema, Table, ValueSetId};
use crate::promise::FromDisk;
use crate::publish::ProjectError;
use crate::publish::on_disk::rows::{self, Fan, Shape, Texts};
use crate::publish::on_disk::{MOST_FILES, OnDisk};

/// A unit in memory.
pub(super) struct Unit {
    pub table: Table,
    /// The groups of the last release that its people come from, and these people only.
    pub history: History,
    /// Arrivals who join one of these groups, sorted: the group and the row of each.
    pub joining: Vec<(u32, Row)>,
}

/// Arrivals who join groups of the last release.
#[derive(Default)]
pub(super) struct Joined {
    /// By unit of these groups; a row is followed by its group.
    files: Vec<Option<ScratchFile>>,
    /// Those who join none, by part.
    pub waiting: Vec<Option<ScratchFile>>,
    /// How many these are.
    pub wait: usize,
}

impl Unit {
    /// The people of some groups of the last release, from rows sorted by key, and those who join them: each such row is
    /// followed by its group. `regions` are those of the groups, the first of which is `first`; in the unit they are
    /// numbered from 0 on. `past` has at least what is known of these people besides records.
    pub fn kept(
        (rows, arrivals): (&[u32], &[u32]),
        shape: Shape,
        (first, regions): (u32, Regions),
        past: &History,
        texts: &Texts,
    ) -> Unit {
        let all = || rows.chunks_exact(shape.kept_width());
        let record = |row: &[u32]| {
            let record = rows::record(rows::key(row), &row[shape.width() + 1..]);
            Record { group: record.group - first, ..record }
        };
        let history = History {
            releases: past.releases,
            records: all().map(record).collect(),
            past_sets: past_sets_of(past, all().map(rows::key)),
            value_sets: past.value_sets.clone(),
            groups: PastGroups { regions, cells: Regions::default() },
            values: past.values.clone(),
            erased: past.erased.clone(),
            ..History::default()
        };
        let here = all().filter(|row| row[shape.width()] == 1);
        if arrivals.is_empty() {
            return Unit { table: shape.table(here, texts), history, joining: Vec::new() };
        }
        let arrivals = arrivals.chunks_exact(shape.width() + 1).map(|row| (row, Some(row[shape.width()])));
        let mut everyone: Vec<(&[u32], Option<u32>)> = here.map(|row| (row, None)).chain(arrivals).collect();
        everyone.sort_by_key(|(row, _)| rows::key(row));
        let joins = (0..).zip(&everyone).filter_map(|(row, (_, group))| Some(((*group)? - first, Row(row))));
        let mut joining: Vec<(u32, Row)> = joins.collect();
        joining.sort_unstable();
        Unit { table: shape.table(everyone.iter().map(|(row, _)| *row), texts), history, joining }
    }

    /// The people of some buckets, from rows sorted by key, each followed by what the history says. `past` has at least what
    /// is known of these people besides records.
    pub fn seated(rows: &[u32], shape: Shape, past: &History, texts: &Texts) -> Unit {
        let all = || rows.chunks_exact(shape.kept_width());
        let is_known = |row: &&[u32]| row[shape.width()] == 1;
        let records: Vec<Record> =
            all().filter(is_known).map(|row| rows::record(rows::key(row), &row[shape.width() + 1..])).collect();
        let history = History {
            releases: past.releases,
            past_sets: past_sets_of(past, records.iter().map(|record| record.key)),
            records,
            value_sets: past.value_sets.clone(),
            values: past.values.clone(),
            ..History::default()
        };
        Unit { table: shape.table(all(), texts), history, joining: Vec::new() }
    }

    /// The arrivals of one cell, from rows sorted by key.
    pub fn arrivals(rows: &[u32], shape: Shape, schema: &Schema, past: &History, texts: &Texts) -> Unit {
        let history = History {
            releases: past.releases,
            groups: PastGroups { regions: Regions::new(schema.quasi.len()), cells: Regions::default() },
            values: past.values.clone(),
            ..History::default()
        };
        Unit { table: shape.table(rows.chunks_exact(shape.width()), texts), history, joining: Vec::new() }
    }
}

impl OnDisk {
    /// Reads the people of some groups of the last release, and those who join them. The groups are numbered from 0 on.
    pub(super) fn kept_unit(
        &self,
        at: usize,
        schema: &Schema,
        past: &History,
        joined: &Joined,
    ) -> Result<Unit, LedgerError> {
        let shape = Shape::of(schema);
        let arrivals = rows::read_some(&self.scratch, joined.files.get(at).copied().flatten())?;
        let numbers = rows::read_some(&self.scratch, self.kept[at])?;
        let first = at * self.groups_per_unit;
        let regions = &past.groups.regions;
        let mut mine = Regions::new(regions.attributes());
        (first..regions.len().min(first + self.groups_per_unit)).for_each(|group| mine.push(regions.get(group)));
        Ok(Unit::kept((&numbers, &arrivals), shape, (first as u32, mine), past, &self.snapshot.texts))
    }

    /// Sorts the arrivals by the groups that they join.
    pub(super) fn join_newcomers(
        &self,
        schema: &Schema,
        locate: &dyn Fn(&[u32]) -> Option<u32>,
    ) -> Result<Joined, LedgerError> {
        let shape = Shape::of(schema);
        let mut files = Fan::new(&self.scratch, self.kept.len());
        let mut waiting = Fan::new(&self.scratch, self.newcomers.len());
        let (mut wait, mut joins) = (0, Vec::new());
        for (part, &file) in self.newcomers.iter().enumerate() {
            rows::each(&self.scratch, file, shape.width(), &mut |row| {
                let Some(group) = locate(shape.point(row)) else {
                    wait += 1;
                    return waiting.put(part, row);
                };
                joins.clear();
                joins.extend_from_slice(row);
                joins.push(group);
                files.put(group as usize / self.groups_per_unit, &joins)
            })?;
        }
        Ok(Joined { files: files.finish()?, waiting: waiting.finish()?, wait })
    }

    /// How many units the people of the last release are in.
    pub(super) fn kept_units(&self) -> usize {
        self.kept.len()
    }

    /// Reads the arrivals of one cell.
    pub(super) fn new_unit(
        &self,
        file: Option<ScratchFile>,
        schema: &Schema,
        past: &History,
    ) -> Result<Unit, LedgerError> {
        let shape = Shape::of(schema);
        let numbers = rows::read_some(&self.scratch, file)?;
        Ok(Unit::arrivals(&numbers, shape, schema, past, &self.snapshot.texts))
    }

    /// Sorts the arrivals into units: passes over all of them count, until every unit is small.
    pub(super) fn cut_newcomers(
        &self,
        kernel: &dyn FromDisk,
        schema: &Schema,
        step: &dyn Fn(&str),
    ) -> Result<(Units, Vec<Option<ScratchFile>>), ProjectError> {
        let (shape, newcomers) = (Shape::of(schema), self.counted.newcomers);
        let size = self.per_file.max(newcomers.div_ceil(MOST_FILES / 4));
        let values = self.snapshot.texts.values.len();
        let mut top = kernel.top(schema, newcomers, size, values).ok_or(ProjectError::TooManyCodes)?;
        let each = |take: &mut dyn FnMut(&[u32]) -> Result<(), LedgerError>| {
            self.newcomers.iter().try_for_each(|&file| rows::each(&self.scratch, file, shape.width(), take))
        };
        let mut passes = 0;
        while let Some(mut pass) = top.next_pass() {
            passes += 1;
            step(&format!("counting arrivals, pass {passes}"));
            each(&mut |row| {
                top.count(shape.point_and_value(row), &mut pass);
                Ok(())
            })?;
            top.grow(&pass);
        }
        let units = top.units();
        let mut fan = Fan::new(&self.scratch, units.len());
        each(&mut |row| fan.put(units.of(shape.point(row)), row))?;
        Ok((units, fan.finish()?))
    }
}

/// The earlier value sets of some people, who are sorted.
pub(super) fn past_sets_of(past: &History, people: impl Iterator<Item = RecordKey>) -> Vec<(RecordKey, ValueSetId)> {
    let sets = &past.past_sets;
    if sets.is_empty() {
        return Vec::new();
    }
    let of = |person: RecordKey| {
        let first = sets.partition_point(|(key, _)| *key < person);
        sets[first..].iter().take_while(move |(key, _)| *key == person).copied()
    };
    people.flat_map(of).collect()
}

/// Who is in which group of a unit, in a file.
#[derive(Clone, Copy)]
pub(super) struct Members(ScratchFile);

impl Members {
    /// Writes who is in which of a unit's groups.
    pub fn write(scratch: &Scratch, numbers: &[u32]) -> Result<Members, LedgerError> {
        Ok(Members(rows::write(scratch, numbers)?))
    }

    /// Who is in which of a unit's groups, as numbers: where each group ends, the rows of all, and who is left out.
    pub fn numbers(ends: &[u32], rows: &[u32], left_out: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut numbers = vec![ends.len() as u32];
        numbers.extend_from_slice(ends);
        numbers.extend_from_slice(rows);
        numbers.extend(left_out);
        numbers
    }

    /// Reads them back, with the groups in the order of the release. `places` has the place of each group there.
    /// Returns the places of the groups as well, ascending.
    pub fn read(self, scratch: &Scratch, places: &[u32]) -> Result<(Membership, Vec<u32>), LedgerError> {
        Ok(Members::of_numbers(&rows::read(scratch, self.0)?, places))
    }

    /// The same from numbers.
    pub fn of_numbers(numbers: &[u32], places: &[u32]) -> (Membership, Vec<u32>) {
        let (groups, numbers) = numbers.split_first().map_or((0, &[][..]), |(&groups, rest)| (groups as usize, rest));
        let (ends, numbers) = numbers.split_at(groups);
        let (rows, left_out) = numbers.split_at(ends.last().map_or(0, |&end| end as usize));
        let mut order: Vec<u32> = (0..groups as u32).collect();
        order.sort_unstable_by_key(|&group| places[group as usize]);
        let of_group = |group: usize| {
            let start = if group == 0 { 0 } else { ends[group - 1] as usize };
            &rows[start..ends[group] as usize]
        };
        let membership = Membership {
            rows: order.iter().flat_map(|&group| of_group(group as usize)).copied().collect(),
            policy_groups: order.clone(),
            withheld: left_out.iter().copied().map(Row).collect(),
        };
        (membership, order.iter().map(|&group| places[group as usize]).collect())
    }
}
