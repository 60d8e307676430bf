//! The kernels of a unit: its groups are formed, and the gate judges them.

use crate::audit::{Evidence, Faults, LEFT_OUT, gate_unit, last_release};
use crate::model::{Grouping, History, Regions, Release, Row, Span, Table, Value, Values};
use crate::publish::on_disk::cluster::blobs::{Blob, BlobKind, Sheaf, numbers_of_kind, sorted};
use crate::publish::on_disk::cluster::kernel::{Kernel, put_placed};
use crate::publish::on_disk::cluster::task::Past;
use crate::publish::on_disk::release::count_codes;
use crate::publish::on_disk::rows::Texts;
use crate::publish::on_disk::units::{Members, Unit};
use crate::publish::recode::{Part, linked_id};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the gate found in a unit.
#[derive(Default, Deserialize, Serialize)]
pub(super) struct SaidChecked {
    pub faults: Faults,
    /// Per attribute, how many published people have each code.
    pub codes: Vec<BTreeMap<u32, u64>>,
}

/// The groups of a unit, in the policy's order, as they go to the driver.
#[derive(Default)]
pub(super) struct UnitGroups {
    pub ends: Vec<u32>,
    pub regions: Vec<Span>,
    pub sensitive: Vec<Value>,
    pub public: Vec<u32>,
    pub linked: Vec<u64>,
    /// How many people are left out; of those who stay, how many have moved or changed their value.
    pub withheld: usize,
    pub moved: usize,
    pub revalued: usize,
    pub codes: Vec<BTreeMap<u32, u64>>,
}

/// How many numbers stand before the groups.
const HEADER: usize = 7;

impl UnitGroups {
    fn write(&self, place: usize) -> Blob {
        let counts = [self.ends.len(), self.sensitive.len(), self.public.len(), self.linked.len()];
        let mut numbers: Vec<u32> = counts.map(|count| count as u32).to_vec();
        numbers.extend([self.withheld, self.moved, self.revalued].map(|count| count as u32));
        numbers.extend_from_slice(&self.ends);
        put_spans(&self.regions, &mut numbers);
        numbers.extend(self.sensitive.iter().map(|value| value.0));
        numbers.extend_from_slice(&self.public);
        numbers.extend(self.linked.iter().flat_map(|id| [(id >> 32) as u32, *id as u32]));
        for codes in &self.codes {
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
        UnitGroups {
            ends: rest.take(count(0)).to_vec(),
            regions: rest.spans(count(0) * attributes),
            sensitive: rest.take(count(1)).iter().map(|&value| Value(value)).collect(),
            public: rest.take(count(2)).to_vec(),
            linked: rest.longs(count(3)),
            withheld: count(4),
            moved: count(5),
            revalued: count(6),
            codes: (0..attributes)
                .map(|_| {
                    let found = rest.take(1)[0] as usize;
                    rest.take(2 * found).chunks_exact(2).map(|pair| (pair[0], u64::from(pair[1]))).collect()
                })
                .collect(),
        }
    }
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

    /// The history without people and groups.
    fn history(&self) -> History {
        let known = self.values[..self.known].iter().map(|cells| boxed(cells)).collect();
        History { releases: self.releases, values: Values::from_ordered(known), ..History::default() }
    }
}

fn boxed(cells: &[String]) -> Box<[Box<str>]> {
    cells.iter().map(|cell| Box::from(&cell[..])).collect()
}

impl Kernel {
    /// The people of a unit, in memory.
    fn unit(&self, place: usize, past: &Past, blobs: &[(BlobKind, &[u8])]) -> Unit {
        let (shape, schema) = (self.shape(), &self.task.schema);
        if place >= past.units.kept {
            let people = numbers_of_kind(blobs, BlobKind::New);
            let rows = sorted(&people, shape.width()).concat();
            return Unit::arrivals(&rows, shape, schema, &past.history(), &past.texts());
        }
        let people = numbers_of_kind(blobs, BlobKind::Kept);
        let rows = sorted(&people, shape.kept_width()).concat();
        let attributes = schema.quasi.len();
        let spans = numbers_of_kind(blobs, BlobKind::Regions);
        let mut regions = Regions::new(attributes);
        Cursor(&spans).spans(spans.len() / 2).chunks_exact(attributes.max(1)).for_each(|region| regions.push(region));
        let first = place * past.groups_per_unit;
        Unit::kept(&rows, shape, first as u32, regions, &past.history(), &past.texts())
    }

    /// Forms the groups of a unit.
    pub(super) fn solve(
        &self,
        place: usize,
        past: &Past,
        linked: Option<&[u8; 32]>,
        blobs: &[(BlobKind, &[u8])],
    ) -> Vec<Blob> {
        let stays = |kinds: &[BlobKind]| {
            let mine: Vec<&(BlobKind, &[u8])> = blobs.iter().filter(|blob| kinds.contains(&blob.0)).collect();
            mine.into_iter().map(|blob| Blob { place: place as u32, kind: blob.0, bytes: blob.1.to_vec() })
        };
        if place >= past.units.len() {
            return stays(&[BlobKind::Out]).collect();
        }
        let by_units = self.task.promise.inner().by_units().expect("the driver has asked");
        let unit = self.unit(place, past, blobs);
        let mut groups = UnitGroups::default();
        let grouping = if place < past.units.kept {
            let (grouping, changes) = by_units.keep(&unit.history, &unit.table);
            (groups.moved, groups.revalued) = (changes.moved, changes.revalued);
            grouping
        } else {
            by_units.cut(&self.task.schema, &unit.table, &past.cells[place - past.units.kept])
        };
        let members = self.fill(&mut groups, &unit.table, &grouping, linked);
        let kept = stays(&[BlobKind::Kept, BlobKind::New, BlobKind::Regions]);
        kept.chain([Blob::new(place, BlobKind::Members, &members), groups.write(place)]).collect()
    }

    /// The groups as they go to the driver. Returns who is in which.
    fn fill(&self, groups: &mut UnitGroups, table: &Table, grouping: &Grouping, linked: Option<&[u8; 32]>) -> Vec<u32> {
        let schema = &self.task.schema;
        let all: Vec<u32> = (0..grouping.len() as u32).collect();
        let part = Part::new(schema, grouping, table, &all);
        groups.sensitive = part.rows.iter().map(|row| row.0).collect();
        if !schema.public.is_empty() {
            groups.public = part.rows.iter().map(|row| table.public()[row.1 as usize]).collect();
        }
        if let Some(key) = linked {
            groups.linked = part.rows.iter().map(|row| linked_id(key, table, row.1)).collect();
        }
        let rows: Vec<u32> = part.rows.iter().map(|row| row.1).collect();
        groups.codes = vec![BTreeMap::new(); schema.quasi.len()];
        count_codes(&mut groups.codes, schema, table, &rows);
        groups.withheld = grouping.withheld.len();
        let left_out = grouping.withheld.iter().map(|row| row.0);
        let members = Members::numbers(&part.ends, rows.into_iter(), left_out);
        (groups.ends, groups.regions) = (part.ends, part.regions);
        members
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
        let people = people.map(|(row, group)| (membership.rows[row], first + membership.policy_groups[group]));
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
