//! The kernels of a unit: its groups are formed, and the gate judges them.

use crate::audit::{Evidence, Faults, LEFT_OUT, gate_unit, last_release};
use crate::grouping::buckets::Bucket;
use crate::model::{History, Lots, RecordKey, Regions, Release, Row, Span, Value, ValueSetId, ValueSets, Values};
use crate::promise::{Changes, DiskForm};
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, Sheaf, numbers_of_kind, sorted};
use crate::publish::on_disk::cluster::kernel::{Kernel, put_placed, read_sets};
use crate::publish::on_disk::cluster::task::{Past, SaidLooked};
use crate::publish::on_disk::release::{SomeGroups, count_codes};
use crate::publish::on_disk::rows::Texts;
use crate::publish::on_disk::units::{Members, Unit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the gate found in a unit.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidChecked {
    pub faults: Faults,
    /// Per attribute, how many published people have each code.
    pub codes: Vec<BTreeMap<u32, u64>>,
}

/// The groups of a unit, as they go to the driver.
#[derive(Default)]
pub(super) struct UnitGroups {
    pub groups: SomeGroups,
    /// How many people are left out; how many of these are arrivals who wait to join a group.
    pub withheld: usize,
    pub wait: usize,
    pub changes: Changes,
}

/// How many numbers stand before the groups.
const HEADER: usize = 10;

impl UnitGroups {
    fn write(&self, place: usize) -> Blob {
        let (groups, changes) = (&self.groups, self.changes);
        let counts = [groups.ends.len(), groups.sensitive.len(), groups.public.len(), groups.linked.len()];
        let mut numbers: Vec<u32> = counts.map(|count| count as u32).to_vec();
        numbers.extend([self.withheld, self.wait, changes.moved, changes.revalued].map(|count| count as u32));
        numbers.extend([u32::from(changes.first_cohort.is_some()), changes.first_cohort.unwrap_or(0)]);
        numbers.extend_from_slice(&groups.ends);
        put_spans(&groups.regions, &mut numbers);
        numbers.extend(groups.sensitive.iter().map(|value| value.0));
        numbers.extend_from_slice(&groups.public);
        numbers.extend(groups.linked.iter().flat_map(|id| [(id >> 32) as u32, *id as u32]));
        numbers.extend_from_slice(&groups.counterfeits);
        for codes in &groups.codes {
            numbers.push(codes.len() as u32);
            numbers.extend(codes.iter().flat_map(|(&code, &people)| [code, people as u32]));
        }
        Blob::new(place, BlobKind::Groups, &numbers)
    }

    /// Reads what was written. Regions have `attributes` spans.
    pub fn read(numbers: &[u32], attributes: usize) -> UnitGroups {
        let (header, rest) = numbers.split_at(HEADER);
        let count = |at: usize| header[at] as usize;
        let mut rest = Cursor(rest);
        let groups = SomeGroups {
            ends: rest.take(count(0)).to_vec(),
            regions: rest.spans(count(0) * attributes),
            sensitive: rest.take(count(1)).iter().map(|&value| Value(value)).collect(),
            public: rest.take(count(2)).to_vec(),
            linked: rest.longs(count(3)),
            counterfeits: rest.take(count(0)).to_vec(),
            codes: (0..attributes)
                .map(|_| {
                    let found = rest.take(1)[0] as usize;
                    rest.take(2 * found).chunks_exact(2).map(|pair| (pair[0], u64::from(pair[1]))).collect()
                })
                .collect(),
        };
        let first_cohort = (header[8] == 1).then_some(header[9]);
        let changes = Changes { moved: count(6), revalued: count(7), first_cohort };
        UnitGroups { groups, withheld: count(4), wait: count(5), changes }
    }
}

/// Buckets as they go to another machine.
pub(super) fn write_buckets(buckets: &[Bucket]) -> Vec<u32> {
    let mut numbers = vec![buckets.len() as u32];
    for bucket in buckets {
        numbers.extend([bucket.set.len() as u32, (bucket.copies >> 32) as u32, bucket.copies as u32]);
        numbers.extend(bucket.set.iter().map(|value| value.0));
        for list in &bucket.lists {
            numbers.push(list.len() as u32);
            numbers.extend_from_slice(list);
        }
    }
    numbers
}

/// Reads what was written.
fn read_buckets(numbers: &[u32]) -> Vec<Bucket> {
    let mut numbers = Cursor(numbers);
    let bucket = |numbers: &mut Cursor<'_>| {
        let set = numbers.take(1)[0] as usize;
        let copies = numbers.longs(1)[0];
        Bucket {
            set: numbers.take(set).iter().map(|&value| Value(value)).collect(),
            lists: (0..set)
                .map(|_| {
                    let people = numbers.take(1)[0] as usize;
                    numbers.take(people).to_vec()
                })
                .collect(),
            copies,
        }
    };
    (0..numbers.take(1)[0]).map(|_| bucket(&mut numbers)).collect()
}

/// Numbers that are read one after another.
pub(super) struct Cursor<'n>(pub &'n [u32]);

impl<'n> Cursor<'n> {
    pub fn take(&mut self, count: usize) -> &'n [u32] {
        let (taken, rest) = self.0.split_at(count);
        self.0 = rest;
        taken
    }

    pub fn spans(&mut self, count: usize) -> Vec<Span> {
        self.take(2 * count).chunks_exact(2).map(|pair| Span { lo: pair[0], hi: pair[1] }).collect()
    }

    fn longs(&mut self, count: usize) -> Vec<u64> {
        self.take(2 * count).chunks_exact(2).map(|pair| u64::from(pair[0]) << 32 | u64::from(pair[1])).collect()
    }
}

pub(super) fn put_spans(spans: &[Span], numbers: &mut Vec<u32>) {
    numbers.extend(spans.iter().flat_map(|span| [span.lo, span.hi]));
}

/// Some groups of a release, without texts and label.
pub(super) fn write_release(release: &Release, numbers: &mut Vec<u32>) {
    let counts = [release.ends.len(), release.sensitive.len(), release.public.len(), release.linked.len()];
    numbers.extend(counts.map(|count| count as u32));
    numbers.extend_from_slice(&release.ends);
    release.regions.iter().for_each(|region| put_spans(region, numbers));
    numbers.extend_from_slice(&release.counterfeits);
    numbers.extend(release.sensitive.iter().map(|value| value.0));
    numbers.extend_from_slice(&release.public);
    numbers.extend(release.linked.iter().flat_map(|id| [(id >> 32) as u32, *id as u32]));
}

/// Reads what was written.
pub(super) fn read_release(mut numbers: Cursor<'_>, attributes: usize) -> Release {
    let counts: Vec<usize> = numbers.take(4).iter().map(|&count| count as usize).collect();
    let ends = numbers.take(counts[0]).to_vec();
    let spans = numbers.spans(counts[0] * attributes);
    let mut regions = Regions::new(attributes);
    spans.chunks_exact(attributes.max(1)).for_each(|region| regions.push(region));
    Release {
        ends,
        regions,
        counterfeits: numbers.take(counts[0]).to_vec(),
        sensitive: numbers.take(counts[1]).iter().map(|&value| Value(value)).collect(),
        public: numbers.take(counts[2]).to_vec(),
        linked: numbers.longs(counts[3]),
        ..Release::default()
    }
}

impl Past {
    fn texts(&self) -> Texts {
        Texts { values: self.all_values(), public: vec![Vec::new(); self.public_texts] }
    }

    fn all_values(&self) -> Values {
        Values::from_ordered(self.values.iter().map(|cells| boxed(cells)).collect())
    }

    /// The history without people and groups, but with these earlier value sets.
    fn history(&self, past_sets: Vec<(RecordKey, ValueSetId)>) -> History {
        let known = self.values[..self.known].iter().map(|cells| boxed(cells)).collect();
        let mut value_sets = ValueSets::default();
        for set in &self.value_sets {
            value_sets.intern(&set.iter().map(|&value| Value(value)).collect::<Vec<Value>>());
        }
        History {
            releases: self.releases,
            values: Values::from_ordered(known),
            value_sets,
            past_sets,
            erased: self.erased.iter().map(|&[hi, lo]| RecordKey { hi, lo }).collect(),
            ..History::default()
        }
    }
}

fn boxed(cells: &[String]) -> Box<[Box<str>]> {
    cells.iter().map(|cell| Box::from(&cell[..])).collect()
}

impl Kernel {
    /// The people of a unit, in memory.
    fn unit(&self, place: usize, past: &Past, blobs: &[(BlobKind, &[u8])]) -> Unit {
        let (shape, schema, texts) = (self.shape(), &self.task.schema, past.texts());
        let history = past.history(read_sets(&numbers_of_kind(blobs, BlobKind::Sets)));
        let rows_of = |kind: BlobKind, width: usize| sorted(&numbers_of_kind(blobs, kind), width).concat();
        if let DiskForm::Seats(_) = self.form() {
            return Unit::seated(&rows_of(BlobKind::Known, shape.kept_width()), shape, &history, &texts);
        }
        if place >= past.units.kept {
            return Unit::arrivals(&rows_of(BlobKind::New, shape.width()), shape, schema, &history, &texts);
        }
        self.kept_unit(place, past, &history, blobs)
    }

    /// The people of some groups of the last release and those who join them, in memory.
    fn kept_unit(&self, place: usize, past: &Past, history: &History, blobs: &[(BlobKind, &[u8])]) -> Unit {
        let (shape, schema) = (self.shape(), &self.task.schema);
        let rows_of = |kind: BlobKind, width: usize| sorted(&numbers_of_kind(blobs, kind), width).concat();
        let kept = rows_of(BlobKind::Kept, shape.kept_width());
        let joining = rows_of(BlobKind::Joining, shape.width() + 1);
        let attributes = schema.quasi.len();
        let spans = numbers_of_kind(blobs, BlobKind::Regions);
        let mut regions = Regions::new(attributes);
        Cursor(&spans).spans(spans.len() / 2).chunks_exact(attributes.max(1)).for_each(|region| regions.push(region));
        let first = (place * past.groups_per_unit) as u32;
        Unit::kept((&kept, &joining), shape, (first, regions), history, &past.texts())
    }

    /// Looks at groups of the last release, where people are only added.
    pub(super) fn look(&self, place: usize, past: &Past, compares: bool, blobs: &[(BlobKind, &[u8])]) -> Vec<Blob> {
        let DiskForm::Seats(kernel) = self.form() else { unreachable!("the driver has asked") };
        let Unit { table, history, .. } = self.kept_unit(place, past, &past.history(Vec::new()), blobs);
        let Changes { moved, revalued, .. } = kernel.changes(&history, &table);
        let mut last = Vec::new();
        if compares {
            write_release(&last_release(&history), &mut last);
        }
        let last = compares.then(|| Blob::new(place, BlobKind::Last, &last));
        last.into_iter().chain([Blob::said(place, &SaidLooked { moved, revalued })]).collect()
    }

    /// Forms the groups of a unit.
    pub(super) fn solve(
        &self,
        place: usize,
        past: &Past,
        (linked, lots): (Option<&[u8; 32]>, &[u8; 32]),
        blobs: &[(BlobKind, &[u8])],
    ) -> Vec<Blob> {
        let stays = |kinds: &[BlobKind]| {
            let mine: Vec<&(BlobKind, &[u8])> = blobs.iter().filter(|blob| kinds.contains(&blob.0)).collect();
            mine.into_iter().map(|blob| Blob { place: place as u32, kind: blob.0, bytes: blob.1.to_vec() })
        };
        if place >= past.units.len() {
            return stays(&[BlobKind::Out]).collect();
        }
        let (schema, lots) = (&self.task.schema, Lots::keyed(*lots));
        let unit = self.unit(place, past, blobs);
        let mut solved = UnitGroups::default();
        let grouping = match self.form() {
            DiskForm::Seats(kernel) => {
                let buckets = read_buckets(&numbers_of_kind(blobs, BlobKind::Buckets));
                kernel.cut(schema, &unit.table, buckets, &lots)
            }
            DiskForm::Units(kernel) if place < past.units.kept => {
                let (grouping, changes) = kernel.keep(schema, &unit.history, &unit.table, &unit.joining);
                let waits = |(_, row): &&(u32, Row)| grouping.withheld.binary_search(row).is_ok();
                (solved.wait, solved.changes) = (unit.joining.iter().filter(waits).count(), changes);
                grouping
            }
            DiskForm::Units(kernel) => kernel.cut(schema, &unit.table, &past.cells[place - past.units.kept], &lots),
        };
        solved.withheld = grouping.withheld.len();
        let members;
        (solved.groups, members) = SomeGroups::of(schema, &grouping, &unit.table, linked);
        let people = [BlobKind::Kept, BlobKind::New, BlobKind::Known, BlobKind::Joining];
        let kept = stays(&people).chain(stays(&[BlobKind::Regions, BlobKind::Sets]));
        kept.chain([Blob::new(place, BlobKind::Members, &members), solved.write(place)]).collect()
    }

    /// Lets the gate judge a unit of the finished release, and sends its people on with their groups.
    pub(super) fn check(
        &self,
        place: usize,
        (past, parts, compares): (&Past, usize, bool),
        blobs: &[(BlobKind, &[u8])],
    ) -> Vec<Blob> {
        let (shape, schema) = (self.shape(), &self.task.schema);
        let mut placed = Sheaf::new(BlobKind::Placed);
        if place >= past.units.len() {
            for row in numbers_of_kind(blobs, BlobKind::Out).chunks_exact(shape.width()) {
                put_placed(&mut placed, row, LEFT_OUT, parts);
            }
            return placed.finish().collect();
        }
        let Unit { table, history, .. } = self.unit(place, past, blobs);
        let slice = numbers_of_kind(blobs, BlobKind::Slice);
        let mut slice = Cursor(&slice);
        let [first, groups] = [0, 1].map(|_| slice.take(1)[0]);
        let places = slice.take(groups as usize);
        let (membership, numbers) = Members::of_numbers(&numbers_of_kind(blobs, BlobKind::Members), places);
        let texts = past.texts();
        let release = Release {
            number: past.releases + 1,
            values: texts.values,
            public_texts: texts.public,
            ..read_release(slice, schema.quasi.len())
        };
        let evidence =
            Evidence { schema, history: &history, table: &table, release: &release, membership: &membership };
        let promise = self.task.promise.inner();
        let mut said = SaidChecked {
            faults: gate_unit(&|evidence| promise.check(evidence), &evidence, &numbers),
            codes: vec![BTreeMap::new(); schema.quasi.len()],
        };
        count_codes(&mut said.codes, schema, &table, &membership.rows);
        let people =
            (0..release.group_count()).flat_map(|group| release.group_rows(group).map(move |row| (row, group)));
        let people = people
            .filter_map(|(row, group)| Some((membership.person(row)?.0, first + membership.policy_groups[group])));
        let left_out = membership.withheld.iter().map(|row| (row.0, LEFT_OUT));
        let mut numbers = Vec::new();
        for (row, group) in people.chain(left_out) {
            numbers.clear();
            shape.put(&table, Row(row), &mut numbers);
            put_placed(&mut placed, &numbers, group, parts);
        }
        let mut last = Vec::new();
        if compares {
            write_release(&last_release(&history), &mut last);
        }
        let last = compares.then(|| Blob::new(place, BlobKind::Last, &last));
        placed.finish().chain(last).chain([Blob::said(place, &said)]).collect()
    }
}
