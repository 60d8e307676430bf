//! The driver of a cluster: it says what runs where, holds the release and the vault, and no more of the people than a part.

use crate::audit::{Faults, compares};
use crate::grouping::GroupingError;
use crate::grouping::top::Sorter;
use crate::ingest::{
    Problem, Snapshot, duplicates, numbered_public, numbered_values, refuse_columns, refuse_problems, refuse_row_count,
};
use crate::ledger::{ScratchFile, Store};
use crate::model::{History, Release, Schema, Seed, Table, Values, hex};
use crate::promise::{ByUnits, Changes, PolicyFile, SeriesPromise};
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, RowSum};
use crate::publish::on_disk::cluster::finish::{Elsewhere, gathered};
use crate::publish::on_disk::cluster::task::{Job, KernelTask, Past, SaidCompared, SaidEncoded, Units};
use crate::publish::on_disk::cluster::units::{
    Cursor, SaidChecked, UnitGroups, put_spans, read_release, write_release,
};
use crate::publish::on_disk::cluster::{Cluster, ClusterStep, StepInput};
use crate::publish::on_disk::release::{Formed, Making, append, empty_release};
use crate::publish::on_disk::rows::{self, Shape, Texts};
use crate::publish::on_disk::snapshot::Parts;
use crate::publish::on_disk::{OnDisk, PastPeople};
use crate::publish::project::as_other;
use crate::publish::recode::numbers;
use crate::publish::{ProjectError, PublishError, assert_limits, counts};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

/// How many published people have which code of an attribute.
type CodeNumbers = BTreeMap<u32, u64>;

/// How many different texts a table may have in its sensitive columns, and as many in its public ones: the driver holds them.
const MOST_TEXTS: usize = 1 << 20;

/// What a release is made from, and how.
#[derive(Clone, Copy)]
pub(in crate::publish) struct Driving<'a> {
    pub file: &'a PolicyFile,
    pub promise: &'a SeriesPromise,
    pub by_units: &'a dyn ByUnits,
    pub store: &'a Store,
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
    let mut drive = Drive { driving, cluster };
    let read = drive.encode(&history)?;
    let people = read.sum.rows as usize;
    let groups = history.groups.regions.len();
    let groups_per_unit = groups.div_ceil(people.div_ceil(driving.unit).max(1)).max(1);
    let compared = drive.compare(&history, past_parts, &read, groups_per_unit)?;
    let scratch = driving.store.scratch();
    let mut on_disk = OnDisk {
        kept: Vec::new(),
        groups_per_unit,
        newcomers: Vec::new(),
        out: Vec::new(),
        counted: compared.counted.clone(),
        past_parts,
        per_file: driving.unit,
        snapshot: Parts::nobody(read.texts, &scratch, schema, driving.parts)?,
        scratch,
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
            let judged = drive.form_and_judge(&history, &on_disk, label)?;
            placed = drive.gather(&mut on_disk, None)?;
            formed = Some(judged);
        }
    }
    let (placed, sum) = placed;
    if sum != compared.people {
        return Err(ProjectError::TableMoved);
    }
    *on_disk.elsewhere.get_mut().expect("nobody else has it") = formed.map(|judged| Elsewhere { placed, ..judged });
    let snapshot = snapshot(schema, &on_disk, &compared, read.sum);
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
        let task = self.task(Job::Encode { key: seed.key("identifier"), parts });
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

    fn compare(
        &mut self,
        history: &History,
        past_parts: usize,
        read: &ReadTable,
        groups_per_unit: usize,
    ) -> Result<SaidCompared, ProjectError> {
        let Driving { file, store, parts, step, .. } = self.driving;
        step("comparing with the vault");
        let shape = Shape::of(&file.schema);
        let mut past = PastPeople::new(store, past_parts);
        let mut more = Vec::new();
        for part in (0..parts).filter(|_| history.releases > 0) {
            let (records, last) = past.part(part, parts)?;
            let mut numbers = vec![records.len() as u32];
            for record in &records {
                rows::put_key(record.key, &mut numbers);
                rows::put_record(record, &mut numbers);
            }
            let last = last.unwrap_or_default();
            last.rows().for_each(|row| shape.put(&last, row, &mut numbers));
            more.push(Blob::new(part, BlobKind::Past, &numbers));
        }
        let (values, public) = (read.values.clone(), read.public.clone());
        let task = self.task(Job::Compare { releases: history.releases, values, public, groups_per_unit });
        let mut all = SaidCompared { others: vec![0; file.schema.quasi.len()], ..SaidCompared::default() };
        self.cluster.step(grouped("compare", &[BlobKind::Encoded], task, more), &mut |blob| {
            let said: SaidCompared = blob.heard();
            (all.read, all.people) = (all.read.and(said.read), all.people.and(said.people));
            all.counted = std::mem::take(&mut all.counted).and(said.counted);
            all.duplicates += said.duplicates;
            all.others.iter_mut().zip(said.others).for_each(|(all, more)| *all += more);
            Ok(())
        })?;
        if all.read != read.sum {
            return Err(ProjectError::TableMoved);
        }
        let doubles = (all.duplicates > 0).then(|| duplicates(&file.schema, all.duplicates));
        refuse_problems(doubles.into_iter().collect())?;
        Ok(all)
    }

    /// Forms the groups, finishes the release and has it judged unit by unit.
    fn form_and_judge(&mut self, history: &History, on_disk: &OnDisk, label: &str) -> Result<Elsewhere, ProjectError> {
        let Driving { file, promise, by_units, store, seed, step, .. } = self.driving;
        let counted = &on_disk.counted;
        by_units.refuse(counted.missing, Changes::default()).map_err(refused)?;
        let all_wait = !counted.is_anybody_new || !by_units.is_cohort(counted.newcomers);
        step("counting in the cluster");
        let (past, sorter) = self.cut(history, on_disk, all_wait)?;
        step("grouping in the cluster");
        let spread = self.task(Job::Spread { sorter, units: past.units });
        let (mut formed, ranges) = self.solve(history, on_disk, &past, spread)?;
        if all_wait {
            formed.waiting = counted.newcomers;
        }
        if formed.ends.is_empty() {
            let rows = counted.here - formed.taken_out - formed.out;
            by_units.refuse_empty(history.releases == 0, counted.newcomers, rows).map_err(refused)?;
        }
        assert_limits(file, 0, formed.sensitive.len(), formed.left_out(), counted.here)?;
        let by_code =
            |attribute: usize, _| formed.codes[attribute].iter().map(|(&code, &people)| (code, people)).collect();
        let counts = counts::of_people(file, history, formed.sensitive.len() as u64, &by_code);
        let order = numbers(seed, history.releases + 1, formed.ends.len());
        let kernel = promise.inner().disk_form().expect("a promise that is kept by units is kept from disk");
        let making = Making { file, promise, kernel, store, seed, history, on_disk, label };
        let mut release = formed.release(&making, &order);
        release.counts = counts;
        step("judging in the cluster");
        let (faults, codes, last) = self.check(history, past, &ranges, &release, &order)?;
        let (left_out, taken_out) = (formed.left_out(), formed.taken_out);
        Ok(Elsewhere { release, order, faults, codes, last, left_out, taken_out, placed: Vec::new() })
    }

    /// Cuts the arrivals, by counts alone.
    fn cut(
        &mut self,
        history: &History,
        on_disk: &OnDisk,
        all_wait: bool,
    ) -> Result<(Past, Option<Sorter>), ProjectError> {
        let Driving { file, by_units, unit, .. } = self.driving;
        let texts = &on_disk.snapshot.texts;
        let mut past = Past {
            releases: history.releases,
            values: texts_of(&texts.values),
            known: history.values.len(),
            public_texts: texts.public.len(),
            units: Units { kept: history.groups.regions.len().div_ceil(on_disk.groups_per_unit), new: 0 },
            groups_per_unit: on_disk.groups_per_unit,
            cells: Vec::new(),
        };
        if all_wait {
            return Ok((past, None));
        }
        let newcomers = on_disk.counted.newcomers;
        let mut top = by_units.top(&file.schema, newcomers, unit).ok_or(ProjectError::TooManyCodes)?;
        while let Some(mut pass) = top.next_pass() {
            let task = self.task(Job::Count(top.counter(&pass)));
            let count = ClusterStep {
                name: "count",
                from: StepInput::Kept(&[BlobKind::New]),
                spread: Some(task),
                each_place: None,
                more: Vec::new(),
                keeps: false,
            };
            self.cluster.step(count, &mut |blob| {
                blob.numbers().chunks_exact(2).for_each(|found| pass.add(found[0] as usize, found[1]));
                Ok(())
            })?;
            top.grow(&pass);
        }
        let units = top.units();
        past.units.new = units.len();
        past.cells = (0..units.len()).map(|unit| units.cell(unit).to_vec()).collect();
        Ok((past, Some(units.sorter())))
    }

    /// Has the groups of all units formed. Returns them, and per unit which of them are its own.
    fn solve(
        &mut self,
        history: &History,
        on_disk: &OnDisk,
        past: &Past,
        spread: Vec<u8>,
    ) -> Result<(Formed, Vec<Range<usize>>), ProjectError> {
        let Driving { file, by_units, seed, .. } = self.driving;
        let attributes = file.schema.quasi.len();
        let linked = file.output.linked_ids.then(|| seed.key("linked ids"));
        let solve = self.task(Job::Solve { past: past.clone(), linked });
        let regions = &history.groups.regions;
        let more = (0..past.units.kept).map(|unit| {
            let mut numbers = Vec::new();
            let first = unit * past.groups_per_unit;
            for group in first..regions.len().min(first + past.groups_per_unit) {
                put_spans(regions.get(group), &mut numbers);
            }
            Blob::new(unit, BlobKind::Regions, &numbers)
        });
        let kinds = &[BlobKind::Kept, BlobKind::New, BlobKind::Out];
        let begin = ClusterStep { spread: Some(spread), ..grouped("solve", kinds, solve, more.collect()) };
        let mut solved: Vec<UnitGroups> = Vec::new();
        solved.resize_with(past.units.len(), UnitGroups::default);
        self.cluster.step(begin, &mut |blob| {
            solved[blob.place as usize] = UnitGroups::read(&blob.numbers(), attributes);
            Ok(())
        })?;
        let mut formed = Formed { out: on_disk.counted.out, ..Formed::default() };
        formed.codes.resize(attributes, BTreeMap::new());
        let (mut changes, mut ranges) = (Changes::default(), Vec::new());
        for (place, unit) in solved.into_iter().enumerate() {
            changes.moved += unit.moved;
            changes.revalued += unit.revalued;
            match place < past.units.kept {
                true => formed.taken_out += unit.withheld,
                false => formed.waiting += unit.withheld,
            }
            let first = formed.ends.len();
            formed.take(unit.ends, unit.regions, (unit.sensitive, unit.public, unit.linked), unit.codes);
            ranges.push(first..formed.ends.len());
        }
        by_units.refuse(on_disk.counted.missing, changes).map_err(refused)?;
        Ok((formed, ranges))
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
        let Driving { file, promise, parts, .. } = self.driving;
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
        let is_compared = compares(&promise.terms(), history);
        let mut faults = Faults::default();
        let mut codes = vec![CodeNumbers::new(); attributes];
        let mut last: Vec<Option<Release>> = vec![None; past.units.len()];
        let mut checked = vec![false; past.units.len()];
        let task = self.task(Job::Check { past, parts, compares: is_compared });
        let kinds = &[BlobKind::Kept, BlobKind::New, BlobKind::Out, BlobKind::Regions, BlobKind::Members];
        self.cluster.step(grouped("check", kinds, task, more), &mut |blob| {
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
        let mut whole = is_compared.then(|| empty_release(history, schema));
        for part in last.into_iter().flatten() {
            whole.iter_mut().for_each(|whole| append(whole, part.clone()));
        }
        Ok((faults, codes, whole))
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
            Some(_) => &[BlobKind::Kept, BlobKind::New, BlobKind::Out],
            None => &[BlobKind::Placed],
        };
        let begin = ClusterStep {
            spread: recall,
            keeps: false,
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

/// A step that takes all blobs of one place at a time, and keeps what it makes.
fn grouped<'a>(name: &'a str, kinds: &'a [BlobKind], task: Vec<u8>, more: Vec<Blob>) -> ClusterStep<'a> {
    ClusterStep { name, from: StepInput::Kept(kinds), spread: None, each_place: Some(task), more, keeps: true }
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
