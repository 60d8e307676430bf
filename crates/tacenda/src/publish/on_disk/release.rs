//! The next release of people on disk: formed, finished and judged.

use crate::audit::{Evidence, Faults, LEFT_OUT, Whole, compares, gate_people, gate_unit, gate_whole, last_release};
use crate::grouping::GroupingError;
use crate::ledger::{LedgerError, ScratchFile, Store};
use crate::model::{
    Grouping, History, Membership, PastGroups, RecordKey, Regions, Release, Row, Schema, Seed, Span, Table, Value,
    in_policy_order, people_by_code,
};
use crate::promise::{Changes, DiskForm, FromDisk, PolicyFile, SeriesPromise};
use crate::publish::on_disk::people::NextPeople;
use crate::publish::on_disk::rows::{self, Fan};
use crate::publish::on_disk::units::{Joined, Members, Unit};
use crate::publish::on_disk::{OnDisk, PastPeople, cluster};
use crate::publish::recode::{Part, dealt, linked_id, numbers, public_lots};
use crate::publish::{
    PeopleFacts, Prepared, Prepares, ProjectError, PublishError, Stamp, assert_limits, counts, is_refused,
};
use std::collections::BTreeMap;
use std::sync::PoisonError;

/// What a release is made from.
#[derive(Clone, Copy)]
pub(in crate::publish) struct Making<'a> {
    pub file: &'a PolicyFile,
    pub promise: &'a SeriesPromise,
    pub form: DiskForm<'a>,
    pub store: &'a Store,
    pub seed: &'a Seed,
    /// What is known of the past, without the records of people.
    pub history: &'a History,
    pub on_disk: &'a OnDisk,
    pub label: &'a str,
}

/// Makes the next release and lets the auditor judge it. Nothing but scratch files is written.
pub(in crate::publish) fn prepare(
    making: &Making<'_>,
    step: &dyn Fn(&str),
) -> Result<(Prepared, NextPeople), ProjectError> {
    let Making { file, on_disk, .. } = *making;
    let elsewhere = on_disk.elsewhere.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(judged) = elsewhere {
        return cluster::prepare(making, judged);
    }
    let mut formed = match making.form {
        DiskForm::Units(kernel) => making.form_units(kernel, step)?,
        DiskForm::Seats(kernel) => making.form_seats(kernel, step)?,
    };
    let (people, withheld) = (on_disk.people(), formed.left_out());
    let (release, order) = formed.finish(making, people)?;
    step("judging, unit by unit");
    let (release, placed) = making.judge(release, &order, &formed, step)?;
    let (next, people_after) = making.after(&release, &order, &placed)?;
    let facts = PeopleFacts {
        people: people as u64,
        withheld: withheld as u64,
        taken_out: (on_disk.counted.out + formed.taken_out) as u64,
    };
    let prepared = Prepared {
        release,
        schema: file.schema.clone(),
        membership: Membership::default(),
        history: next,
        change: on_disk.counted.change,
        facts,
        about: Prepares::Series { findings: Vec::new(), series_risk: None },
    };
    Ok((prepared, people_after))
}

/// Marks a row without public cells: a counterfeit.
const NO_CELL: u32 = u32::MAX;

/// The groups of all units, in the policy's order.
#[derive(Default)]
pub(super) struct Formed {
    pub ends: Vec<u32>,
    pub regions: Vec<Span>,
    /// Per group, how many of its rows are counterfeits.
    pub counterfeits: Vec<u32>,
    /// Per row the value; and the person's public cells and linked id, where these are published.
    pub sensitive: Vec<Value>,
    pub public: Vec<u32>,
    pub linked: Vec<u64>,
    pub(super) units: Vec<Solved>,
    /// Per attribute, how many published people have each code.
    pub codes: Vec<BTreeMap<u32, u64>>,
    /// People of the last release who are left out from now on.
    pub taken_out: usize,
    /// Arrivals who wait.
    pub waiting: usize,
    /// People who were out before.
    pub out: usize,
    /// The arrivals who are in no unit, by part: they wait.
    pub(super) in_no_unit: Vec<Option<ScratchFile>>,
    /// Those who join groups of the last release.
    pub(super) joined: Joined,
}

/// A unit whose groups are formed.
pub(super) struct Solved {
    /// Which unit of people of the last release; or the file of arrivals.
    of: Of,
    members: Members,
    /// Its groups, in the policy's order of the release.
    groups: std::ops::Range<usize>,
}

#[derive(Clone, Copy)]
pub(super) enum Of {
    Kept(usize),
    New(Option<ScratchFile>),
    /// The file of some buckets.
    Seated(Option<ScratchFile>),
}

impl Formed {
    pub fn left_out(&self) -> usize {
        self.taken_out + self.waiting + self.out
    }

    /// Adds groups that follow.
    pub fn append(&mut self, groups: SomeGroups) {
        let base = self.sensitive.len() as u32;
        self.ends.extend(groups.ends.iter().map(|end| base + end));
        self.counterfeits.extend(groups.counterfeits);
        self.regions.extend(groups.regions);
        self.sensitive.extend(groups.sensitive);
        self.public.extend(groups.public);
        self.linked.extend(groups.linked);
        self.codes.resize(groups.codes.len().max(self.codes.len()), BTreeMap::new());
        for (all, more) in self.codes.iter_mut().zip(groups.codes) {
            more.into_iter().for_each(|(code, people)| *all.entry(code).or_default() += people);
        }
    }

    /// The finished release, and the group of the policy's order at each of its places. Too many people left out are refused,
    /// and so are too many counterfeits. There are `people` people in all.
    pub fn finish(&mut self, making: &Making<'_>, people: usize) -> Result<(Release, Vec<u32>), ProjectError> {
        let Making { file, history, seed, .. } = *making;
        let counterfeits: usize = self.counterfeits.iter().map(|&rows| rows as usize).sum();
        let published = self.sensitive.len() - counterfeits;
        assert_limits(file, counterfeits, published, self.left_out(), people)?;
        self.codes.resize(file.schema.quasi.len(), BTreeMap::new());
        let by_code =
            |attribute: usize, _| self.codes[attribute].iter().map(|(&code, &people)| (code, people)).collect();
        let counts = counts::of_people(file, history, published as u64, &by_code);
        let order = numbers(seed, history.releases + 1, self.ends.len());
        let mut release = self.release(making, &order);
        release.counts = counts;
        Ok((release, order))
    }

    /// Adds the groups of a unit.
    pub(super) fn push(
        &mut self,
        making: &Making<'_>,
        of: Of,
        table: &Table,
        grouping: &Grouping,
    ) -> Result<(), LedgerError> {
        let Making { file, seed, on_disk, .. } = *making;
        let linked = file.output.linked_ids.then(|| seed.key("linked ids"));
        let (groups, members) = SomeGroups::of(&file.schema, grouping, table, linked.as_deref());
        let (first, members) = (self.ends.len(), Members::write(&on_disk.scratch, &members)?);
        self.append(groups);
        self.units.push(Solved { of, members, groups: first..self.ends.len() });
        Ok(())
    }

    /// The finished release: the groups in their order, which is a permutation of the policy's.
    fn release(&mut self, making: &Making<'_>, order: &[u32]) -> Release {
        let Making { file, seed, history, on_disk, label, .. } = *making;
        let stamp = Stamp { seed, number: history.releases + 1, label, linked_ids: file.output.linked_ids };
        let attributes = file.schema.quasi.len();
        let mut release = Release {
            number: stamp.number,
            label: label.into(),
            ends: Vec::with_capacity(order.len()),
            regions: Regions::with_capacity(attributes, order.len()),
            sensitive: Vec::with_capacity(self.sensitive.len()),
            counterfeits: order.iter().map(|&group| self.counterfeits[group as usize]).collect(),
            public_texts: if self.public.is_empty() { Vec::new() } else { on_disk.snapshot.texts.public.clone() },
            values: on_disk.snapshot.texts.values.clone(),
            ..Release::default()
        };
        let lots = public_lots(seed, stamp.number);
        for (place, &group) in order.iter().enumerate() {
            let group = group as usize;
            let rows = if group == 0 { 0 } else { self.ends[group - 1] as usize }..self.ends[group] as usize;
            release.regions.push(&self.regions[group * attributes..(group + 1) * attributes]);
            release.sensitive.extend_from_slice(&self.sensitive[rows.clone()]);
            release.ends.push(release.sensitive.len() as u32);
            release.linked.extend_from_slice(self.linked.get(rows.clone()).unwrap_or_default());
            if !self.public.is_empty() {
                let cells = self.public[rows.clone()].iter().copied().filter(|&cell| cell != NO_CELL).collect();
                release.public.append(&mut dealt(&lots, place, rows.len(), cells));
            }
        }
        // From here on the release is what counts.
        (self.sensitive, self.public, self.linked, self.regions) = Default::default();
        release
    }
}

/// Some groups of a release, in the policy's order.
#[derive(Default)]
pub(super) struct SomeGroups {
    pub ends: Vec<u32>,
    pub regions: Vec<Span>,
    /// Per group, how many of its rows are counterfeits.
    pub counterfeits: Vec<u32>,
    /// Per row the value; and the person's public cells and linked id, where these are published.
    pub sensitive: Vec<Value>,
    pub public: Vec<u32>,
    pub linked: Vec<u64>,
    /// Per attribute, how many published people have each code.
    pub codes: Vec<BTreeMap<u32, u64>>,
}

impl SomeGroups {
    /// The groups of a unit; and who is in which, as [`Members`] has it. `linked` is the key of linked ids, where these are
    /// published.
    pub fn of(
        schema: &Schema,
        grouping: &Grouping,
        table: &Table,
        linked: Option<&[u8; 32]>,
    ) -> (SomeGroups, Vec<u32>) {
        let all: Vec<u32> = (0..grouping.len() as u32).collect();
        let part = Part::new(schema, grouping, table, &all);
        let cell = |row: &(Value, u32)| table.public().get(row.1 as usize).copied().unwrap_or(NO_CELL);
        let rows: Vec<u32> = part.rows.iter().map(|row| row.1).collect();
        let mut codes = vec![BTreeMap::new(); schema.quasi.len()];
        count_codes(&mut codes, schema, table, &rows);
        let has_public = !schema.public.is_empty();
        let groups = SomeGroups {
            sensitive: part.rows.iter().map(|row| row.0).collect(),
            public: part.rows.iter().filter(|_| has_public).map(cell).collect(),
            linked: linked.map_or_else(Vec::new, |key| rows.iter().map(|&row| linked_id(key, table, row)).collect()),
            counterfeits: part.counterfeits,
            regions: part.regions,
            codes,
            ends: part.ends,
        };
        let members = Members::numbers(&groups.ends, &rows, grouping.withheld.iter().map(|row| row.0));
        (groups, members)
    }
}

/// Adds how many of some rows have each code. Counterfeits have none.
pub(super) fn count_codes(codes: &mut [BTreeMap<u32, u64>], schema: &Schema, table: &Table, rows: &[u32]) {
    let people: Vec<u32> = rows.iter().copied().filter(|&row| row != Membership::COUNTERFEIT).collect();
    for (attribute, (codes, quasi)) in codes.iter_mut().zip(&schema.quasi).enumerate() {
        let column = table.quasi(attribute);
        let found = people_by_code(people.iter().map(|&row| column[row as usize]), quasi.size());
        found.into_iter().for_each(|(code, people)| *codes.entry(code).or_default() += people);
    }
}

impl Making<'_> {
    /// Forms the groups of all units.
    fn form_units(&self, kernel: &dyn FromDisk, step: &dyn Fn(&str)) -> Result<Formed, ProjectError> {
        let Making { file, history, on_disk, .. } = *self;
        let counted = &on_disk.counted;
        let refused = |error: GroupingError| ProjectError::from(PublishError::from(error));
        kernel.refuse_columns(&file.schema).map_err(refused)?;
        kernel.refuse(counted.missing, Changes::default()).map_err(refused)?;
        let mut formed = Formed { out: counted.out, ..Formed::default() };
        let locate = kernel.locate(history);
        if let Some(locate) = &locate {
            step("finding the groups that arrivals join");
            formed.joined = on_disk.join_newcomers(&file.schema, locate)?;
        }
        if on_disk.kept_units() > 0 {
            step("grouping, unit by unit");
        }
        let mut changes = Changes::default();
        for at in 0..on_disk.kept_units() {
            let Unit { table, history, joining } = on_disk.kept_unit(at, &file.schema, history, &formed.joined)?;
            let (grouping, changed) = kernel.keep(&file.schema, &history, &table, &joining);
            changes = changes.and(changed);
            let wait = joining.iter().filter(|(_, row)| grouping.withheld.binary_search(row).is_ok()).count();
            formed.waiting += wait;
            formed.taken_out += grouping.withheld.len() - wait;
            formed.push(self, Of::Kept(at), &table, &grouping)?;
        }
        kernel.refuse(counted.missing, changes).map_err(refused)?;
        kernel.refuse_values(&counted.values).map_err(refused)?;
        if locate.is_some() {
            formed.waiting += formed.joined.wait;
            formed.in_no_unit = std::mem::take(&mut formed.joined.waiting);
        } else if kernel.is_cut(counted.newcomers, counted.is_anybody_new) {
            self.form_new(kernel, &mut formed, step)?;
        } else {
            formed.waiting = counted.newcomers;
            formed.in_no_unit = on_disk.newcomers.clone();
        }
        if formed.ends.is_empty() {
            let rows = on_disk.people() - formed.taken_out - formed.out;
            kernel.refuse_empty(history.releases == 0, counted.newcomers, rows).map_err(refused)?;
        }
        Ok(formed)
    }

    /// Forms the groups of arrivals who are cut among themselves.
    fn form_new(&self, kernel: &dyn FromDisk, formed: &mut Formed, step: &dyn Fn(&str)) -> Result<(), ProjectError> {
        let Making { file, history, on_disk, seed, .. } = *self;
        let lots = seed.lots("group", history.releases + 1);
        let (units, files) = on_disk.cut_newcomers(kernel, &file.schema, step)?;
        step("grouping arrivals, unit by unit");
        for (at, file_of_unit) in files.into_iter().enumerate() {
            let Unit { table, .. } = on_disk.new_unit(file_of_unit, &file.schema, history)?;
            let grouping = kernel.cut(&file.schema, &table, units.cell(at), &lots);
            formed.waiting += grouping.withheld.len();
            formed.push(self, Of::New(file_of_unit), &table, &grouping)?;
        }
        Ok(())
    }

    /// Lets the auditor judge the finished release: unit by unit, everyone once, and as a whole. Returns the release,
    /// and by part who is in which group of the policy's order.
    fn judge(
        &self,
        release: Release,
        order: &[u32],
        formed: &Formed,
        step: &dyn Fn(&str),
    ) -> Result<(Release, Vec<Option<ScratchFile>>), ProjectError> {
        let Making { file, promise, history, on_disk, .. } = *self;
        let (schema, terms) = (&file.schema, promise.terms());
        let mut places = vec![0; order.len()];
        (0..).zip(order).for_each(|(place, &group): (u32, _)| places[group as usize] = place);
        let parts = on_disk.snapshot.len();
        let mut placed = Fan::new(&on_disk.scratch, parts);
        let mut faults = Faults::default();
        let mut codes = vec![BTreeMap::new(); schema.quasi.len()];
        let mut last = compares(&terms, history).then(|| empty_release(history, schema, release.row_count()));
        for solved in &formed.units {
            let Unit { table, history, .. } = match solved.of {
                Of::Kept(at) => on_disk.kept_unit(at, schema, history, &formed.joined)?,
                Of::New(unit) => on_disk.new_unit(unit, schema, history)?,
                Of::Seated(unit) => on_disk.seated_unit(unit, schema, history)?,
            };
            let (membership, numbers) = solved.members.read(&on_disk.scratch, &places[solved.groups.clone()])?;
            let some = release.only(&numbers);
            let evidence =
                Evidence { schema, history: &history, table: &table, release: &some, membership: &membership };
            faults.merge(gate_unit(&|evidence| promise.inner().check(evidence), &evidence, &numbers));
            count_codes(&mut codes, schema, &table, &membership.rows);
            if let (Some(last), DiskForm::Units(_)) = (&mut last, self.form) {
                append(last, last_release(&history));
            }
            let first = solved.groups.start as u32;
            let people = (0..some.group_count()).flat_map(|group| some.group_rows(group).map(move |row| (row, group)));
            let people = people
                .filter_map(|(row, group)| Some((membership.person(row)?.0, first + membership.policy_groups[group])));
            let left_out = membership.withheld.iter().map(|row| (row.0, LEFT_OUT));
            for (row, group) in people.chain(left_out) {
                put_placed(&mut placed, table.key(Row(row)), group, parts)?;
            }
        }
        if let (Some(last), DiskForm::Seats(_)) = (&mut last, self.form) {
            for at in 0..on_disk.kept_units() {
                append(last, last_release(&on_disk.kept_unit(at, schema, history, &formed.joined)?.history));
            }
        }
        let waiting = formed.in_no_unit.iter().map(|&file| (file, true));
        for (file, is_row) in waiting.chain(on_disk.out.iter().map(|&file| (file, false))) {
            let width = if is_row { rows::Shape::of(schema).width() } else { rows::KEY_AND_GROUP - 1 };
            rows::each(&on_disk.scratch, file, width, &mut |row| {
                put_placed(&mut placed, rows::key(row), LEFT_OUT, parts)
            })?;
        }
        let placed = placed.finish()?;
        for (part, &of_part) in placed.iter().enumerate() {
            let table = on_disk.snapshot.read(&on_disk.scratch, part, schema)?;
            let of_row = placed_rows(&table, &rows::read_some(&on_disk.scratch, of_part)?, &places);
            faults.merge(gate_people(&table, &release, &of_row));
        }
        step("judging the whole");
        faults.replace(promise.inner().check_whole(&release));
        let releases: Vec<Release> = last.into_iter().chain([release]).collect();
        let findings = gate_whole(Whole { terms: &terms, schema, history, releases: &releases, faults, codes: &codes });
        is_refused(promise, findings)?;
        Ok((releases.into_iter().next_back().expect("there is a release"), placed))
    }

    /// The history after the release, without records; and the records, on disk.
    pub(super) fn after(
        &self,
        release: &Release,
        order: &[u32],
        placed: &[Option<ScratchFile>],
    ) -> Result<(History, NextPeople), ProjectError> {
        let Making { file, history, on_disk, store, .. } = *self;
        let mut value_sets = history.value_sets.clone();
        let of_place = value_sets.of_release(release);
        let mut sets = of_place.clone();
        (0..).zip(order).for_each(|(place, &group): (usize, _)| sets[group as usize] = of_place[place]);
        let (mut past, mut past_sets) = (PastPeople::new(store, on_disk.past_parts), history.past_sets.clone());
        let mut next = NextPeople::default();
        let parts = on_disk.snapshot.len();
        for (part, &placed) in placed.iter().enumerate() {
            let table = on_disk.snapshot.read(&on_disk.scratch, part, &file.schema)?;
            let before = History {
                releases: history.releases,
                records: past.records(part, parts)?,
                past_sets: history.past_sets[RecordKey::part_of(&history.past_sets, |(key, _)| *key, part, parts)]
                    .to_vec(),
                erased: history.erased.clone(),
                ..History::default()
            };
            let mut places = vec![None; table.len()];
            rows::each(&on_disk.scratch, placed, rows::KEY_AND_GROUP, &mut |row| {
                let group = rows::after_key(row)[0];
                let here = table.find(rows::key(row)).expect("the gate has found everyone");
                places[here.index()] = (group != LEFT_OUT).then(|| (group, sets[group as usize]));
                Ok(())
            })?;
            let (records, mut left_behind) = before.records_after(release.number, &table, &places);
            past_sets.append(&mut left_behind);
            let mut numbers = Vec::with_capacity(records.len() * rows::KEY_AND_RECORD);
            for record in &records {
                rows::put_key(record.key, &mut numbers);
                rows::put_record(record, &mut numbers);
            }
            next.records.push(Some(rows::write(&on_disk.scratch, &numbers)?));
        }
        past_sets.sort_unstable();
        let counts = release.counts.clone().map(|counts| (release.number, counts));
        let after = History {
            releases: release.number,
            past_sets,
            value_sets,
            values: release.values.clone(),
            groups: PastGroups { regions: in_policy_order(release, order), cells: Regions::default() },
            counts: history.counts.iter().cloned().chain(counts).collect(),
            erased: history.erased.clone(),
            ..History::default()
        };
        Ok((after, next))
    }
}

/// The row of the table and the place in the release of everyone who was placed. Somebody who is not in the table counts
/// as another place of the first row, so that the gate sees it.
pub(super) fn placed_rows(table: &Table, numbers: &[u32], places: &[u32]) -> Vec<(u32, u32)> {
    let placed = numbers.chunks_exact(rows::KEY_AND_GROUP).map(|row| {
        let group = rows::after_key(row)[0];
        let place = if group == LEFT_OUT { LEFT_OUT } else { places[group as usize] };
        (table.find(rows::key(row)).map_or(0, |row| row.0), place)
    });
    placed.filter(|_| !table.is_empty()).collect()
}

fn put_placed(placed: &mut Fan<'_>, key: RecordKey, group: u32, parts: usize) -> Result<(), LedgerError> {
    let mut numbers = Vec::with_capacity(rows::KEY_AND_GROUP);
    rows::put_key(key, &mut numbers);
    numbers.push(group);
    placed.put(key.part(parts), &numbers)
}

/// The last release before any of its groups is read, with room for so many rows.
pub(super) fn empty_release(history: &History, schema: &Schema, rows: usize) -> Release {
    let groups = history.groups.regions.len();
    Release {
        number: history.releases,
        ends: Vec::with_capacity(groups),
        regions: Regions::with_capacity(schema.quasi.len(), groups),
        sensitive: Vec::with_capacity(rows),
        counterfeits: Vec::with_capacity(groups),
        values: history.values.clone(),
        ..Release::default()
    }
}

/// Adds the groups of a part of a release.
pub(super) fn append(release: &mut Release, part: Release) {
    let base = release.sensitive.len() as u32;
    release.ends.extend(part.ends.iter().map(|end| base + end));
    part.regions.iter().for_each(|region| release.regions.push(region));
    release.counterfeits.extend(part.counterfeits);
    release.sensitive.extend(part.sensitive);
}
