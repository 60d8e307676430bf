//! The driver of a cluster: it says what runs where, holds the release and the vault, and no more of the people than a part.

use crate::audit::{Faults, LEFT_OUT, compares};
use crate::grouping::GroupingError;
use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::crowd::Known;
use crate::grouping::top::Sorter;
use crate::ingest::{
    Problem, Snapshot, duplicates, numbered_public, numbered_values, refuse_columns, refuse_problems, refuse_row_count,
};
use crate::ledger::{ScratchFile, Store};
use crate::model::{History, RecordKey, Release, Schema, Seed, Table, Value, ValueSetId, Values, hex};
use crate::promise::{Changes, DiskForm, FromDisk, FromSeats, PolicyFile, SeriesPromise};
use crate::publish::amend::Amended;
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, RowSum};
use crate::publish::on_disk::cluster::finish::{Elsewhere, gathered};
use crate::publish::on_disk::cluster::task::{
    Comparing, Job, KernelTask, Past, SaidCompared, SaidEncoded, SaidLooked, Units, sent_keys,
};
use crate::publish::on_disk::cluster::units::{
    Cursor, SaidChecked, UnitGroups, put_spans, read_release, write_buckets, write_release,
};
use crate::publish::on_disk::cluster::{Cluster, ClusterStep, StepInput};
use crate::publish::on_disk::release::{Formed, Making, append, empty_release};
use crate::publish::on_disk::rows::{self, Shape, Texts};
use crate::publish::on_disk::seats::{Listed, NO_UNIT, numbered, packed};
use crate::publish::on_disk::snapshot::Parts;
use crate::publish::on_disk::{Counted, OnDisk, PastPeople};
use crate::publish::project::as_other;
use crate::publish::{ProjectError, PublishError, erased_note};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// How many published people have which code of an attribute.
type CodeNumbers = BTreeMap<u32, u64>;

/// Groups, what their units were told, which groups are whose, and the last release if it was looked at.
type FormedUnits = (Formed, Past, Vec<Range<usize>>, Option<Release>);

/// How many different texts a table may have in its sensitive columns, and as many in its public ones: the driver holds them.
const MOST_TEXTS: usize = 1 << 20;

/// How many units of buckets there may be.
const MOST_UNITS: usize = 1 << 14;

/// How many bytes the people of one bucket may take: tables of a cluster count them with 31 bits.
const MOST_BYTES: usize = 1 << 30;

/// What a release is made from, and how.
#[derive(Clone, Copy)]
pub(in crate::publish) struct Driving<'a> {
    pub file: &'a PolicyFile,
    pub promise: &'a SeriesPromise,
    /// How the promise forms groups.
    pub form: DiskForm<'a>,
    pub store: &'a Store,
    /// The values that columns gained since the last release.
    pub amended: &'a Amended,
    pub seed: &'a Seed,
    /// The label of the release. Without it nothing is made: the table is only read, to be compared.
    pub label: Option<&'a str>,
    /// The columns of the table.
    pub columns: &'a [String],
    /// In how many parts people are kept: a power of two.
    pub parts: usize,
    /// How many people a unit may have.
    pub unit: usize,
    /// Refuses a number of people, and of people of the vault, for whom the driver has too little memory.
    pub fits: &'a dyn Fn(u64, bool) -> Result<(), ProjectError>,
    pub step: &'a dyn Fn(&str),
}

/// Makes the next release in a cluster. Nothing but scratch files is written.
pub(in crate::publish) fn drive(
    driving: Driving<'_>,
    cluster: &mut dyn Cluster,
) -> Result<(History, Snapshot, OnDisk), ProjectError> {
    let schema = &driving.file.schema;
    refuse_columns(driving.columns, schema)?;
    let (history, past_parts) = driving.store.past()?;
    let (history, _) = driving.amended.recode(history, None);
    let mut drive = Drive { driving, cluster };
    let read = drive.encode(&history)?;
    let people = read.sum.rows as usize;
    let groups = history.groups.regions.len();
    let groups_per_unit = groups.div_ceil(people.div_ceil(driving.unit).max(1)).max(1);
    let (compared, by_part) = drive.compare(&history, past_parts, &read, groups_per_unit)?;
    let scratch = driving.store.scratch();
    let mut on_disk = OnDisk {
        kept: Vec::new(),
        groups_per_unit,
        newcomers: Vec::new(),
        out: Vec::new(),
        counted: compared.crowded.counted.clone(),
        past_parts,
        per_file: driving.unit,
        snapshot: Parts::nobody(read.texts, &scratch, schema, driving.parts)?,
        scratch,
        known: Vec::new(),
        rates: compared.crowded.rates.clone(),
        stayed: compared.crowded.stayed.clone(),
        allowed: u64::MAX,
        elsewhere: Mutex::new(None),
    };
    let (formed, placed);
    match driving.label {
        None => {
            let recall = drive.task(Job::Recall { parts: driving.parts });
            placed = drive.gather(&mut on_disk, Some(recall))?;
            formed = None;
        }
        Some(label) => {
            let judged = drive.form_and_judge(&history, &on_disk, &by_part, label)?;
            placed = drive.gather(&mut on_disk, None)?;
            formed = Some(judged);
        }
    }
    let (placed, sum) = placed;
    if sum != compared.people {
        return Err(ProjectError::TableMoved);
    }
    *on_disk.elsewhere.get_mut().expect("nobody else has it") = formed.map(|judged| Elsewhere { placed, ..judged });
    let mut snapshot = snapshot(schema, &on_disk, &compared, read.sum);
    snapshot.notes.extend(erased_note(compared.erased));
    snapshot.notes.extend(driving.amended.notes());
    Ok((history, snapshot, on_disk))
}

/// What is known of a table after it was encoded.
struct ReadTable {
    sum: RowSum,
    texts: Texts,
    values: Vec<(u64, u32)>,
    public: Vec<(u64, u32)>,
}

/// A cluster at work.
struct Drive<'a, 'c> {
    driving: Driving<'a>,
    cluster: &'c mut dyn Cluster,
}

impl Drive<'_, '_> {
    fn task(&self, job: Job) -> Vec<u8> {
        KernelTask::write(&self.driving.file.schema, self.driving.promise, job)
    }

    fn encode(&mut self, history: &History) -> Result<ReadTable, ProjectError> {
        let Driving { file, seed, parts, step, .. } = self.driving;
        step("reading in the cluster");
        let erased = sent_keys(&history.erased);
        let task = self.task(Job::Encode { key: *seed.key("identifier"), parts, erased });
        let mut sum = RowSum::default();
        let [mut values, mut texts] = [BTreeMap::new(), BTreeMap::new()];
        let mut problems: Vec<Problem> = Vec::new();
        let begin = ClusterStep {
            name: "encode",
            from: StepInput::Table,
            spread: Some(task),
            each_place: None,
            more: Vec::new(),
            keeps: true,
            is_large: false,
        };
        self.cluster.step(begin, &mut |blob| {
            let said: SaidEncoded = blob.heard();
            sum = sum.and(said.sum);
            problems.extend(said.problems.into_iter().map(|problem| problem.problem()));
            take_texts(&mut values, said.values)?;
            take_texts(&mut texts, said.public_texts)
        })?;
        refuse_problems(problems)?;
        refuse_row_count(sum.rows)?;
        (self.driving.fits)(sum.rows, history.releases > 0)?;
        let named = |texts: BTreeMap<u64, Vec<String>>| texts.into_iter().collect::<Vec<(u64, Vec<String>)>>();
        let (all, values) = numbered_values(&file.schema, &history.values, &named(values))?;
        let (public_texts, public) = numbered_public(&named(texts));
        Ok(ReadTable { sum, texts: Texts { values: all, public: public_texts }, values, public })
    }

    /// Compares people with the vault. Returns also how many people each part has.
    fn compare(
        &mut self,
        history: &History,
        past_parts: usize,
        read: &ReadTable,
        groups_per_unit: usize,
    ) -> Result<(SaidCompared, Vec<usize>), ProjectError> {
        let Driving { file, store, amended, parts, step, .. } = self.driving;
        step("comparing with the vault");
        let mut past = PastPeople::new(store, past_parts);
        let mut more = Vec::new();
        for part in (0..parts).filter(|_| history.releases > 0) {
            let (records, last) = past.part(part, parts)?;
            let before = History { releases: history.releases, records, ..History::default() };
            let (before, last) = amended.recode(before, last);
            let sets = &history.past_sets;
            let sets = &sets[RecordKey::part_of(sets, |(key, _)| *key, part, parts)];
            let numbers = past_numbers(Shape::of(&file.schema), &before, sets, &last.unwrap_or_default());
            more.push(Blob::new(part, BlobKind::Past, &numbers));
        }
        let task = self.task(Job::Compare(Comparing {
            releases: history.releases,
            values: read.values.clone(),
            public: read.public.clone(),
            groups_per_unit,
            erased: sent_keys(&history.erased),
            added: amended.added().clone(),
            is_amended: amended.is_any(),
        }));
        let mut all = SaidCompared { others: vec![0; file.schema.quasi.len()], ..SaidCompared::default() };
        all.crowded.counted = Counted::nobody(read.texts.values.len());
        let mut by_part = vec![0; parts];
        self.cluster.step(grouped("compare", &[BlobKind::Encoded], task, more), &mut |blob| {
            let said: SaidCompared = blob.heard();
            by_part[blob.place as usize] = said.crowded.counted.here;
            (all.read, all.people) = (all.read.and(said.read), all.people.and(said.people));
            all.crowded = std::mem::take(&mut all.crowded).and(said.crowded);
            all.duplicates += said.duplicates;
            all.erased += said.erased;
            all.others.iter_mut().zip(said.others).for_each(|(all, more)| *all += more);
            Ok(())
        })?;
        if all.read != read.sum {
            return Err(ProjectError::TableMoved);
        }
        let doubles = (all.duplicates > 0).then(|| duplicates(&file.schema, all.duplicates));
        refuse_problems(doubles.into_iter().collect())?;
        Ok((all, by_part))
    }

    /// Forms the groups, finishes the release and has it judged unit by unit.
    fn form_and_judge(
        &mut self,
        history: &History,
        on_disk: &OnDisk,
        by_part: &[usize],
        label: &str,
    ) -> Result<Elsewhere, ProjectError> {
        let Driving { file, promise, form, store, seed, step, .. } = self.driving;
        let (mut formed, past, ranges, looked) = match form {
            DiskForm::Units(kernel) => self.form_units(kernel, history, on_disk)?,
            DiskForm::Seats(kernel) => self.form_seats(kernel, history, on_disk, by_part)?,
        };
        let making = Making { file, promise, form, store, seed, history, on_disk, label };
        let (release, order) = formed.finish(&making, on_disk.counted.here)?;
        step("judging in the cluster");
        let (faults, codes, checked) = self.check(history, past, &ranges, &release, &order)?;
        let last = looked.or(checked);
        let (left_out, taken_out) = (formed.left_out(), formed.taken_out);
        Ok(Elsewhere { release, order, faults, codes, last, left_out, taken_out, placed: Vec::new() })
    }

    /// What units need to know besides their people.
    fn past(&self, history: &History, on_disk: &OnDisk, units: Units) -> Past {
        let texts = &on_disk.snapshot.texts;
        let numbers = |set: &[Value]| set.iter().map(|value| value.0).collect();
        Past {
            releases: history.releases,
            values: texts_of(&texts.values),
            known: history.values.len(),
            public_texts: texts.public.len(),
            units,
            groups_per_unit: on_disk.groups_per_unit,
            cells: Vec::new(),
            value_sets: history.value_sets.iter().map(|(_, set)| numbers(set)).collect(),
            erased: sent_keys(&history.erased),
        }
    }

    /// Forms groups some people at a time.
    fn form_units(
        &mut self,
        kernel: &dyn FromDisk,
        history: &History,
        on_disk: &OnDisk,
    ) -> Result<FormedUnits, ProjectError> {
        let Driving { file, step, .. } = self.driving;
        let counted = &on_disk.counted;
        kernel.refuse_columns(&file.schema).map_err(refused)?;
        kernel.refuse(counted.missing, Changes::default()).map_err(refused)?;
        let kept = history.groups.regions.len().div_ceil(on_disk.groups_per_unit);
        let mut past = self.past(history, on_disk, Units { kept, new: 0 });
        // People who have changed are refused first, and that shows when units are solved.
        let uneven = kernel.refuse_values(&counted.values).err();
        let (mut waiting, mut spread) = (0, None);
        if let Some(locate) = kernel.locate(history) {
            step("finding the groups that arrivals join");
            waiting = self.join(&locate, &past)?;
        } else {
            let is_cut = uneven.is_none() && kernel.is_cut(counted.newcomers, counted.is_anybody_new);
            step("counting in the cluster");
            let sorter = if is_cut { Some(self.cut(kernel, on_disk, &mut past)?) } else { None };
            waiting += if is_cut { 0 } else { counted.newcomers };
            spread = Some(self.task(Job::Spread { sorter, units: past.units }));
        }
        step("grouping in the cluster");
        let (mut formed, ranges, changes) = self.solve(&past, spread, regions_of(history, &past))?;
        formed.out = counted.out;
        formed.waiting += waiting;
        kernel.refuse(counted.missing, changes).map_err(refused)?;
        uneven.map_or(Ok(()), |error| Err(refused(error)))?;
        if formed.ends.is_empty() {
            let rows = counted.here - formed.taken_out - formed.out;
            kernel.refuse_empty(history.releases == 0, counted.newcomers, rows).map_err(refused)?;
        }
        Ok((formed, past, ranges, None))
    }

    /// Sends arrivals to the groups that they join: their codes come here, and the group of each goes back. Returns how many
    /// join none.
    fn join(&mut self, locate: &dyn Fn(&[u32]) -> Option<u32>, past: &Past) -> Result<usize, ProjectError> {
        let attributes = self.driving.file.schema.quasi.len();
        let (mut more, mut wait) = (Vec::new(), 0);
        let ask = asked("points", &[BlobKind::New], self.task(Job::Points), true);
        self.cluster.step(ask, &mut |blob| {
            let group = |point: &[u32]| locate(point).unwrap_or(LEFT_OUT);
            let groups: Vec<u32> = blob.numbers().chunks_exact(attributes).map(group).collect();
            wait += groups.iter().filter(|&&group| group == LEFT_OUT).count();
            more.push(Blob::new(blob.place as usize, BlobKind::Seats, &groups));
            Ok(())
        })?;
        let kinds = &[BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Sets];
        let task = self.task(Job::Join { units: past.units, groups_per_unit: past.groups_per_unit });
        self.cluster.step(grouped("join", kinds, task, more), &mut |_| Ok(()))?;
        Ok(wait)
    }

    /// Gives everyone a bucket, and forms groups bucket by bucket.
    fn form_seats(
        &mut self,
        kernel: &dyn FromSeats,
        history: &History,
        on_disk: &OnDisk,
        by_part: &[usize],
    ) -> Result<FormedUnits, ProjectError> {
        let Driving { file, seed, unit, step, .. } = self.driving;
        let last = if kernel.only_adds() { self.look(kernel, history, on_disk)? } else { None };
        kernel.refuse_columns(&file.schema).map_err(refused)?;
        step("giving everyone a bucket");
        let listed = self.list(kernel.needs_curve(history), history, by_part)?;
        let people = listed.keys.len();
        let lots = seed.lots("group", history.releases + 1);
        let (seating, taken_out) = listed.seat(kernel, history, on_disk, &lots)?;
        let waiting = seating.withheld.len() - taken_out;
        let mut buckets = seating.buckets;
        let units = packed(&buckets, unit.max(people.div_ceil(MOST_UNITS)));
        refuse_large(&file.schema, &buckets)?;
        let past = self.past(history, on_disk, Units { kept: 0, new: units.len() });
        let of_row = numbered(&mut buckets, &units, people);
        let mut rest = &of_row[..];
        let mut more = Vec::new();
        for (part, &here) in by_part.iter().enumerate() {
            let (mine, others) = rest.split_at(here);
            rest = others;
            let number = |&unit: &u16| if unit == NO_UNIT { LEFT_OUT } else { u32::from(unit) };
            more.push(Blob::new(part, BlobKind::Seats, &mine.iter().map(number).collect::<Vec<u32>>()));
        }
        step("grouping in the cluster");
        let deal = self.task(Job::Deal { units: past.units });
        let kinds = &[BlobKind::Known, BlobKind::Sets];
        self.cluster.step(grouped("deal", kinds, deal, more), &mut |_| Ok(()))?;
        let of_unit = |(unit, range): (usize, &Range<usize>)| {
            Blob::new(unit, BlobKind::Buckets, &write_buckets(&buckets[range.clone()]))
        };
        let more = units.iter().enumerate().map(of_unit).collect();
        let (formed, ranges, _) = self.solve(&past, None, more)?;
        Ok((Formed { taken_out, waiting, ..formed }, past, ranges, last))
    }

    /// Refuses people who are missing or have changed, where people are only added. Returns the last release, if the new one is
    /// compared with it.
    fn look(
        &mut self,
        kernel: &dyn FromSeats,
        history: &History,
        on_disk: &OnDisk,
    ) -> Result<Option<Release>, ProjectError> {
        let Driving { file, promise, .. } = self.driving;
        let (schema, attributes) = (&file.schema, file.schema.quasi.len());
        let compares = compares(&promise.terms(), history);
        let kept = history.groups.regions.len().div_ceil(on_disk.groups_per_unit);
        let past = self.past(history, on_disk, Units { kept, new: 0 });
        let mut last: Vec<Option<Release>> = vec![None; kept];
        let (mut looked, mut changes) = (0, Changes::default());
        let more = regions_of(history, &past);
        let task = self.task(Job::Look { past, compares });
        let look = ClusterStep { keeps: false, ..grouped("look", &[BlobKind::Kept], task, more) };
        self.cluster.step(look, &mut |blob| {
            if blob.kind == BlobKind::Last {
                last[blob.place as usize] = Some(read_release(Cursor(&blob.numbers()), attributes));
                return Ok(());
            }
            let said: SaidLooked = blob.heard();
            looked += 1;
            changes.moved += said.moved;
            changes.revalued += said.revalued;
            Ok(())
        })?;
        assert_eq!(looked, kept, "every group was looked at");
        kernel.refuse_changes(on_disk.counted.missing, changes).map_err(refused)?;
        Ok(compares.then(|| whole_release(history, schema, last)))
    }

    /// Brings everyone here without quasi columns, in the order of keys.
    fn list(&mut self, curve: bool, history: &History, by_part: &[usize]) -> Result<Listed, ProjectError> {
        let people: usize = by_part.iter().sum();
        let first_of: Vec<usize> = by_part
            .iter()
            .scan(0, |next, here| {
                let first = *next;
                *next += here;
                Some(first)
            })
            .collect();
        let room = |is_asked: bool| if is_asked { people } else { 0 };
        let mut listed = Listed {
            keys: vec![RecordKey { hi: 0, lo: 0 }; people],
            values: vec![Value(0); people],
            known: vec![Known::of_numbers([0, 0]); room(history.releases > 0)],
            curve: vec![0; room(curve)],
        };
        let width = rows::KEY + 3 + if curve { 2 } else { 0 };
        let mut seen = 0;
        let task = self.task(Job::Crowd { releases: history.releases, curve });
        self.cluster.step(asked("crowd", &[BlobKind::Known], task, true), &mut |blob| {
            let (numbers, part) = (blob.numbers(), blob.place as usize);
            if numbers.len() != width * by_part[part] {
                return Err(ProjectError::TableMoved);
            }
            seen += by_part[part];
            for (at, row) in (first_of[part]..).zip(numbers.chunks_exact(width)) {
                listed.keys[at] = rows::key(row);
                let rest = rows::after_key(row);
                listed.values[at] = Value(rest[0]);
                if let Some(known) = listed.known.get_mut(at) {
                    *known = Known::of_numbers([rest[1], rest[2]]);
                }
                if let Some(place) = listed.curve.get_mut(at) {
                    *place = u64::from(rest[3]) << 32 | u64::from(rest[4]);
                }
            }
            Ok(())
        })?;
        let is_sorted = listed.keys.windows(2).all(|pair| pair[0] < pair[1]);
        if seen == people && is_sorted { Ok(listed) } else { Err(ProjectError::TableMoved) }
    }

    /// Cuts the arrivals, by counts alone.
    fn cut(&mut self, kernel: &dyn FromDisk, on_disk: &OnDisk, past: &mut Past) -> Result<Sorter, ProjectError> {
        let Driving { file, unit, .. } = self.driving;
        let (newcomers, values) = (on_disk.counted.newcomers, on_disk.snapshot.texts.values.len());
        let mut top = kernel.top(&file.schema, newcomers, unit, values).ok_or(ProjectError::TooManyCodes)?;
        while let Some(mut pass) = top.next_pass() {
            let task = self.task(Job::Count(top.counter(&pass)));
            self.cluster.step(asked("count", &[BlobKind::New], task, false), &mut |blob| {
                blob.numbers().chunks_exact(2).for_each(|found| pass.add(found[0] as usize, found[1]));
                Ok(())
            })?;
            top.grow(&pass);
        }
        let units = top.units();
        past.units.new = units.len();
        past.cells = (0..units.len()).map(|unit| units.cell(unit).to_vec()).collect();
        Ok(units.sorter())
    }

    /// Has the groups of all units formed. Returns them, per unit which of them are its own, and what has changed.
    fn solve(
        &mut self,
        past: &Past,
        spread: Option<Vec<u8>>,
        more: Vec<Blob>,
    ) -> Result<(Formed, Vec<Range<usize>>, Changes), ProjectError> {
        let Driving { file, seed, .. } = self.driving;
        let attributes = file.schema.quasi.len();
        let linked = file.output.linked_ids.then(|| *seed.key("linked ids"));
        let lots = seed.lots("group", past.releases + 1).derived_key();
        let solve = self.task(Job::Solve { past: past.clone(), linked, lots });
        let kinds = &[BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Known, BlobKind::Sets, BlobKind::Joining];
        let begin = ClusterStep { spread, ..grouped("solve", kinds, solve, more) };
        let mut solved: Vec<UnitGroups> = Vec::new();
        solved.resize_with(past.units.len(), UnitGroups::default);
        self.cluster.step(begin, &mut |blob| {
            solved[blob.place as usize] = UnitGroups::read(&blob.numbers(), attributes);
            Ok(())
        })?;
        let mut formed = Formed::default();
        let (mut changes, mut ranges) = (Changes::default(), Vec::new());
        for (place, unit) in solved.into_iter().enumerate() {
            changes = changes.and(unit.changes);
            let waiting = if place < past.units.kept { unit.wait } else { unit.withheld };
            formed.waiting += waiting;
            formed.taken_out += unit.withheld - waiting;
            let first = formed.ends.len();
            formed.append(unit.groups);
            ranges.push(first..formed.ends.len());
        }
        Ok((formed, ranges, changes))
    }

    /// Has the gate judge the finished release unit by unit. Returns what it found, how many published people have which
    /// codes, and the last release if a new one is compared with it.
    fn check(
        &mut self,
        history: &History,
        past: Past,
        ranges: &[Range<usize>],
        release: &Release,
        order: &[u32],
    ) -> Result<(Faults, Vec<CodeNumbers>, Option<Release>), ProjectError> {
        let Driving { file, promise, form, parts, .. } = self.driving;
        let (schema, attributes) = (&file.schema, file.schema.quasi.len());
        let mut places = vec![0; order.len()];
        (0..).zip(order).for_each(|(place, &group): (u32, _)| places[group as usize] = place);
        let slice = |(unit, groups): (usize, &Range<usize>)| {
            let mine = &places[groups.clone()];
            let mut numbers = vec![groups.start as u32, mine.len() as u32];
            numbers.extend_from_slice(mine);
            let mut ascending = mine.to_vec();
            ascending.sort_unstable();
            write_release(&release.only(&ascending), &mut numbers);
            Blob::new(unit, BlobKind::Slice, &numbers)
        };
        let more = ranges.iter().enumerate().map(slice).collect();
        // Where everyone gets a bucket first, groups of the last release were looked at before.
        let is_compared = matches!(form, DiskForm::Units(_)) && compares(&promise.terms(), history);
        let mut faults = Faults::default();
        let mut codes = vec![CodeNumbers::new(); attributes];
        let mut last: Vec<Option<Release>> = vec![None; past.units.len()];
        let mut checked = vec![false; past.units.len()];
        let task = self.task(Job::Check { past, parts, compares: is_compared });
        let people = [BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Known, BlobKind::Joining].into_iter();
        let kinds: Vec<BlobKind> = people.chain([BlobKind::Sets, BlobKind::Regions, BlobKind::Members]).collect();
        self.cluster.step(grouped("check", &kinds, task, more), &mut |blob| {
            let unit = blob.place as usize;
            if blob.kind == BlobKind::Last {
                last[unit] = Some(read_release(Cursor(&blob.numbers()), attributes));
                return Ok(());
            }
            let said: SaidChecked = blob.heard();
            checked[unit] = true;
            faults.merge(said.faults);
            for (all, more) in codes.iter_mut().zip(said.codes) {
                more.into_iter().for_each(|(code, people)| *all.entry(code).or_default() += people);
            }
            Ok(())
        })?;
        assert!(checked.iter().all(|checked| *checked), "the gate has judged every unit");
        Ok((faults, codes, is_compared.then(|| whole_release(history, schema, last))))
    }

    /// Brings everyone here, part by part. Returns by part who is in which group, and the sum of all rows.
    fn gather(
        &mut self,
        on_disk: &mut OnDisk,
        recall: Option<Vec<u8>>,
    ) -> Result<(Vec<Option<ScratchFile>>, RowSum), ProjectError> {
        let Driving { file, parts, step, .. } = self.driving;
        step("bringing people into the vault");
        let kinds: &[BlobKind] = match recall {
            Some(_) => &[BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Known],
            None => &[BlobKind::Placed],
        };
        let begin = ClusterStep {
            spread: recall,
            keeps: false,
            is_large: true,
            ..grouped("gather", kinds, self.task(Job::Gather), Vec::new())
        };
        let mut placed = vec![None; parts];
        let mut sum = RowSum::default();
        self.cluster.step(begin, &mut |blob| {
            let (file, some) = gathered(on_disk, &file.schema, blob.place as usize, &blob.numbers())?;
            placed[blob.place as usize] = Some(file);
            sum = sum.and(some);
            Ok(())
        })?;
        Ok((placed, sum))
    }
}

/// The regions of the groups of the last release, by unit.
fn regions_of(history: &History, past: &Past) -> Vec<Blob> {
    let regions = &history.groups.regions;
    let of_unit = |unit: usize| {
        let mut numbers = Vec::new();
        let first = unit * past.groups_per_unit;
        for group in first..regions.len().min(first + past.groups_per_unit) {
            put_spans(regions.get(group), &mut numbers);
        }
        Blob::new(unit, BlobKind::Regions, &numbers)
    };
    (0..past.units.kept).map(of_unit).collect()
}

/// The last release, from those of its units.
fn whole_release(history: &History, schema: &Schema, units: Vec<Option<Release>>) -> Release {
    let rows = units.iter().flatten().map(Release::row_count).sum();
    let mut whole = empty_release(history, schema, rows);
    units.into_iter().flatten().for_each(|part| append(&mut whole, part));
    whole
}

/// A step that takes all blobs of one place at a time, and keeps what it makes.
fn grouped<'a>(name: &'a str, kinds: &'a [BlobKind], task: Vec<u8>, more: Vec<Blob>) -> ClusterStep<'a> {
    let from = StepInput::Kept(kinds);
    ClusterStep { name, from, spread: None, each_place: Some(task), more, keeps: true, is_large: false }
}

/// A step that asks about blobs as they lie, and keeps what is kept.
fn asked<'a>(name: &'a str, kinds: &'a [BlobKind], task: Vec<u8>, is_large: bool) -> ClusterStep<'a> {
    let from = StepInput::Kept(kinds);
    ClusterStep { name, from, spread: Some(task), each_place: None, more: Vec::new(), keeps: false, is_large }
}

/// People of the vault as they go to another machine: records, earlier value sets, and rows of the last snapshot.
fn past_numbers(shape: Shape, before: &History, sets: &[(RecordKey, ValueSetId)], last: &Table) -> Vec<u32> {
    let mut numbers = vec![before.records.len() as u32, sets.len() as u32];
    for record in &before.records {
        rows::put_key(record.key, &mut numbers);
        rows::put_record(record, &mut numbers);
    }
    for (key, set) in sets {
        rows::put_key(*key, &mut numbers);
        numbers.push(set.0);
    }
    last.rows().for_each(|row| shape.put(last, row, &mut numbers));
    numbers
}

/// Refuses buckets that no machine can take. Nothing was cut yet.
fn refuse_large(schema: &Schema, buckets: &[Bucket]) -> Result<(), ProjectError> {
    let most = MOST_BYTES / (4 * Shape::of(schema).kept_width());
    match buckets.iter().any(|bucket| bucket.people() > most) {
        true => Err(ProjectError::NotInCluster { why: "a value set has more people than one machine can take" }),
        false => Ok(()),
    }
}

fn refused(error: GroupingError) -> ProjectError {
    PublishError::from(error).into()
}

/// Adds texts by their hashes. Too many are refused, and so are two with one hash.
fn take_texts(all: &mut BTreeMap<u64, Vec<String>>, some: Vec<(u64, Vec<String>)>) -> Result<(), ProjectError> {
    for (hash, cells) in some {
        let known = all.entry(hash).or_insert_with(|| cells.clone());
        if *known != cells || all.len() > MOST_TEXTS {
            return Err(ProjectError::TooManyTexts { most: MOST_TEXTS });
        }
    }
    Ok(())
}

fn texts_of(values: &Values) -> Vec<Vec<String>> {
    values.iter().map(|(_, cells)| cells.iter().map(|cell| String::from(&**cell)).collect()).collect()
}

/// The snapshot without its rows.
fn snapshot(schema: &Schema, on_disk: &OnDisk, compared: &SaidCompared, sum: RowSum) -> Snapshot {
    let texts = &on_disk.snapshot.texts;
    let no_rows = vec![Vec::new(); schema.quasi.len()];
    let table = Table::new(Vec::new(), no_rows, Vec::new(), texts.values.clone(), Vec::new(), texts.public.clone());
    let noted = schema.quasi.iter().zip(&compared.others);
    let notes = noted.filter_map(|(quasi, &rows)| as_other(quasi, rows)).collect();
    let digest = hex(&Sha256::digest(format!("rows of a cluster: {sum:?}")));
    Snapshot { table, notes, digest, rows: on_disk.people() as u64 }
}
