//! Rows while they are being read: plans, columns of codes, and the table they become.
//!
//! Each reader thread fills its own columns. It numbers the texts it meets (sensitive values, public combinations) in
//! its own way. [`finish`] gives them their final numbers, in the order of the texts, and sorts the rows by key. So the
//! result depends neither on the order of rows nor on the number of threads.

use crate::ingest::encode::Encoder;
use crate::ingest::error::{IngestError, Kind, OP, Problem, Tally};
use crate::model::{CellFault, OrderKind, RecordKey, Schema, Sensitive, Table, Value, Values};
use memchr::memchr2;
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The place of each column of the schema in the input.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// How many columns the input has.
    pub width: usize,
    /// A last column of a text without a name. Its cells must be empty: every line ends with a delimiter.
    pub nameless: Option<usize>,
    pub identifier: usize,
    pub quasi: Vec<usize>,
    pub sensitive: Vec<usize>,
    pub public: Vec<usize>,
    /// The column [`OP`], in a delta.
    pub op: Option<usize>,
    /// A column that is read only because it orders a person's rows.
    pub order: Option<usize>,
}

/// The name of a column as errors show it. A name with a line break comes from an unclosed quote in the header and
/// contains rows of people, so it is not shown.
fn shown(name: &str) -> &str {
    if name.contains(['\n', '\r']) { "(a name over several lines)" } else { name }
}

/// The note about a last column without a name.
pub(super) const NAMELESS: &str =
    "every line ends with a delimiter; the last column has no name and no cells, and is left out";

/// The header without a last column that has no name.
pub(super) fn with_name(header: &[String]) -> &[String] {
    match header {
        [named @ .., last] if last.trim().is_empty() && !named.is_empty() => named,
        all => all,
    }
}

/// Refuses names that occur twice, and columns without a name.
pub(super) fn refuse_names(header: &[String]) -> Result<(), IngestError> {
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    let doubles = header.iter().filter(|name| !name.is_empty() && !seen.insert(name));
    let mut problems: Vec<Problem> = doubles.map(|name| named(Kind::DuplicateColumn, shown(name))).collect();
    problems.dedup();
    let nameless = (0..header.len()).filter(|&at| header[at].trim().is_empty());
    problems.extend(
        nameless.map(|at| Problem::whole(Kind::NamelessColumn, format!("column {} of the first line", at + 1))),
    );
    if problems.is_empty() { Ok(()) } else { Err(IngestError::Rejected(problems)) }
}

impl Plan {
    /// Matches the input's header with the schema: every column of one is in the other.
    pub fn new(header: &[String], schema: &Schema, delta: bool) -> Result<Plan, IngestError> {
        let listed = |name: &String| {
            *name == schema.identifier
                || schema.quasi.iter().any(|quasi| quasi.name == *name)
                || schema.sensitive.iter().any(|sensitive| sensitive.name == *name)
                || schema.public.iter().any(|public| public.name == *name)
                || schema.dropped.contains(name)
        };
        if !header.iter().any(listed) {
            // Without a header the first line is a person: nothing of it is said.
            let detail = "the first line names no column of the policy file: the header may be missing";
            return Err(IngestError::whole(Kind::MissingColumn, detail));
        }
        let mut problems = Vec::new();
        let mut places: BTreeMap<&str, usize> = BTreeMap::new();
        for (index, name) in header.iter().enumerate() {
            if places.insert(name, index).is_some() {
                problems.push(named(Kind::DuplicateColumn, shown(name)));
            }
        }
        let op = delta.then(|| places.remove(OP));
        let mut missing = if op == Some(None) { vec![Problem::missing_op()] } else { Vec::new() };
        let mut find = |name: &str| {
            places.remove(name).unwrap_or_else(|| {
                missing.push(named(Kind::MissingColumn, name));
                0
            })
        };
        let plan = Plan {
            width: header.len(),
            nameless: None,
            op: op.flatten(),
            identifier: find(&schema.identifier),
            quasi: schema.quasi.iter().map(|quasi| find(&quasi.name)).collect(),
            sensitive: schema.sensitive.iter().map(|sensitive| find(&sensitive.name)).collect(),
            public: schema.public.iter().map(|public| find(&public.name)).collect(),
            order: schema.person.order_column().map(find),
        };
        schema.dropped.iter().for_each(|name| {
            places.remove(name.as_str());
        });
        missing.append(&mut problems);
        missing.extend(places.keys().map(|name| named(Kind::UnlistedColumn, shown(name))));
        missing.sort_by_key(|problem| problem.kind);
        missing.dedup();
        if missing.is_empty() { Ok(plan) } else { Err(IngestError::Rejected(missing)) }
    }

    /// The same for a text, whose lines may all end with a delimiter.
    pub fn of_text(header: &[String], schema: &Schema, delta: bool) -> Result<Plan, IngestError> {
        let named = with_name(header);
        let nameless = (named.len() < header.len()).then_some(named.len());
        Ok(Plan { width: header.len(), nameless, ..Plan::new(named, schema, delta)? })
    }

    /// The columns that are read at all, ascending.
    pub fn read_columns(&self) -> Vec<usize> {
        let mut columns: Vec<usize> =
            [&self.quasi[..], &self.sensitive, &self.public].concat().into_iter().chain([self.identifier]).collect();
        columns.extend(self.op);
        columns.extend(self.order);
        columns.sort_unstable();
        columns
    }
}

fn named(kind: Kind, column: &str) -> Problem {
    match column.trim() {
        "" => Problem::whole(Kind::NamelessColumn, ""),
        _ => Problem { column: Some(column.into()), ..Problem::whole(kind, "") },
    }
}

/// What happens to a record in a delta.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Op {
    Insert,
    Update,
    Delete,
    /// Not recognised. Then the rest of the row is ignored.
    Unknown,
}

impl Op {
    pub fn read(cell: &[u8]) -> Op {
        let is =
            |word: &str| cell.eq_ignore_ascii_case(word.as_bytes()) || cell.eq_ignore_ascii_case(&word.as_bytes()[..1]);
        [("insert", Op::Insert), ("update", Op::Update), ("delete", Op::Delete)]
            .into_iter()
            .find_map(|(word, op)| is(word).then_some(op))
            .unwrap_or(Op::Unknown)
    }

    /// Whether the row's cells besides the identifier are read.
    pub fn has_cells(self) -> bool {
        matches!(self, Op::Insert | Op::Update)
    }
}

/// The columns one thread fills.
pub(super) struct Columns<'a> {
    pub schema: &'a Schema,
    pub plan: Arc<Plan>,
    key: &'a [u8; 32],
    pub encoders: Vec<Encoder<'a>>,
    pub keys: Vec<RecordKey>,
    pub quasi: Vec<Vec<u32>>,
    /// Numbers of [`Columns::texts`].
    pub sensitive: Vec<u32>,
    /// Numbers of [`Columns::public_texts`].
    pub public: Vec<u32>,
    /// The line or row number of each row.
    pub places: Vec<u32>,
    pub ops: Vec<Op>,
    /// The rank of each row among its person's rows; the least number if it is not recorded. Empty if the order does
    /// not matter.
    pub ranks: Vec<i64>,
    pub texts: Texts,
    pub public_texts: Texts,
    pub tally: Tally,
    scratch: Vec<u8>,
}

impl<'a> Columns<'a> {
    pub fn new(schema: &'a Schema, plan: Arc<Plan>, key: &'a [u8; 32], show_values: bool) -> Columns<'a> {
        Columns {
            schema,
            plan,
            key,
            encoders: schema.quasi.iter().map(Encoder::new).collect(),
            keys: Vec::new(),
            quasi: vec![Vec::new(); schema.quasi.len()],
            sensitive: Vec::new(),
            public: Vec::new(),
            places: Vec::new(),
            ops: Vec::new(),
            ranks: Vec::new(),
            texts: Texts::default(),
            public_texts: Texts::default(),
            tally: Tally::new(show_values),
            scratch: Vec::new(),
        }
    }

    /// Reserves room for `rows` more rows.
    pub fn reserve(&mut self, rows: usize) {
        self.keys.reserve(rows);
        self.places.reserve(rows);
        self.sensitive.reserve(rows);
        self.quasi.iter_mut().for_each(|column| column.reserve(rows));
        if !self.plan.public.is_empty() {
            self.public.reserve(rows);
        }
    }

    /// Drops the rows. What texts are numbered, and what was found, stays.
    pub fn clear_rows(&mut self) {
        self.keys.clear();
        self.quasi.iter_mut().for_each(Vec::clear);
        self.sensitive.clear();
        self.public.clear();
        self.places.clear();
        self.ops.clear();
        self.ranks.clear();
    }

    /// Takes one row of text; `cell` gives the cell of a column of the input.
    pub fn row<'c>(&mut self, place: u64, cell: impl Fn(usize) -> &'c [u8]) {
        let op = self.plan.op.map(|column| Op::read(cell(column)));
        self.identify(cell(self.plan.identifier), op, place);
        if let Some(column) = self.plan.order {
            self.rank(cell(column), place);
        }
        if op.is_some_and(|op| !op.has_cells()) {
            return self.blank_cells();
        }
        for attribute in 0..self.encoders.len() {
            let bytes = cell(self.plan.quasi[attribute]);
            match self.encoders[attribute].text(bytes) {
                Ok(code) => self.quasi[attribute].push(code),
                Err(fault) => self.quasi_fault(attribute, fault, place, bytes),
            }
        }
        match self.plan.sensitive[..] {
            [] => self.sensitive.push(0),
            [column] => self.sensitive_cell(cell(column), place),
            _ => {
                let mut joined = std::mem::take(&mut self.scratch);
                joined.clear();
                self.plan.sensitive.iter().for_each(|&column| join(&mut joined, cell(column)));
                self.sensitive_cell(&joined, place);
                self.scratch = joined;
            }
        }
        if !self.plan.public.is_empty() {
            let mut joined = std::mem::take(&mut self.scratch);
            joined.clear();
            self.plan.public.iter().for_each(|&column| join(&mut joined, cell(column)));
            self.public_cells(&joined, place);
            self.scratch = joined;
        }
    }

    /// Takes the identifier and the op of a row.
    pub fn identify(&mut self, identifier: &[u8], mut op: Option<Op>, place: u64) {
        if op == Some(Op::Unknown) {
            self.tally.add(Kind::UnknownOp, OP, place);
        }
        if has_break(identifier) {
            self.tally.add(Kind::LineBreak, &self.schema.identifier, place);
            // An empty identifier belongs to nobody, so whether the record is present does not matter.
            op = op.map(|_| Op::Unknown);
        }
        if identifier.is_empty() {
            self.tally.add(Kind::EmptyIdentifier, &self.schema.identifier, place);
            // Several empty identifiers are not one duplicate identifier.
            self.keys.push(RecordKey::of(self.key, format!("no identifier\0{place}").as_bytes()));
        } else {
            self.keys.push(RecordKey::of(self.key, identifier));
        }
        self.places.push(u32::try_from(place).unwrap_or(u32::MAX));
        self.ops.extend(op);
    }

    /// Takes the cell that orders a person's rows.
    pub fn rank(&mut self, cell: &[u8], place: u64) {
        let Some(order) = &self.schema.person.order else { return };
        let rank = std::str::from_utf8(cell).ok().filter(|cell| !cell.is_empty()).map(|cell| order.rank(cell));
        if rank == Some(None) {
            let kind = if order.kind == OrderKind::Integer { Kind::NotAnInteger } else { Kind::NotADate };
            self.tally.add(kind, &order.column, place);
        }
        self.ranks.push(rank.flatten().unwrap_or(i64::MIN));
    }

    /// Takes the cells of a row that is only deleted.
    fn blank_cells(&mut self) {
        self.quasi.iter_mut().for_each(|column| column.push(0));
        self.sensitive.push(BLANK);
        if !self.plan.public.is_empty() {
            self.public.push(BLANK);
        }
    }

    /// Counts a cell that cannot be read; the row keeps its place.
    pub fn quasi_fault(&mut self, attribute: usize, fault: CellFault, place: u64, cell: &[u8]) {
        self.quasi[attribute].push(0);
        // Line breaks are reported separately from unknown values, because a stray quote may have swallowed whole rows.
        let kind = if has_break(cell) { Kind::LineBreak } else { Kind::of(fault) };
        self.tally.add_value(kind, &self.schema.quasi[attribute].name, place, cell);
    }

    /// Takes the public cells of a row, joined.
    pub fn public_cells(&mut self, joined: &[u8], place: u64) {
        let number = self.public_texts.number(joined, check_public);
        self.public.push(number);
        if let Reading::Fault(column, kind) = self.public_texts.readings[number as usize] {
            self.tally.add(kind, &self.schema.public[column].name, place);
        }
    }

    /// Takes the sensitive cell of a row, or several joined to one.
    fn sensitive_cell(&mut self, joined: &[u8], place: u64) {
        let number = self.number_sensitive(joined);
        self.sensitive_number(number, place);
    }

    /// The number of a sensitive cell, or of several joined to one.
    pub fn number_sensitive(&mut self, joined: &[u8]) -> u32 {
        let sensitive = &self.schema.sensitive;
        self.texts.number(joined, |joined| check_sensitive(sensitive, joined))
    }

    /// Takes the number of a row's sensitive value.
    pub fn sensitive_number(&mut self, number: u32, place: u64) {
        self.sensitive.push(number);
        if let Reading::Fault(column, kind) = self.texts.readings[number as usize] {
            let value = &self.texts.texts[number as usize];
            let cell = split(value, self.schema.sensitive.len()).nth(column).unwrap_or_default();
            self.tally.add_value(kind, &self.schema.sensitive[column].name, place, cell);
        }
    }
}

/// The number of a cell that is not there, in a row that is only deleted.
pub(super) const BLANK: u32 = u32::MAX;

/// Texts in the order one thread met them.
#[derive(Default)]
pub(super) struct Texts {
    numbers: FxHashMap<Box<[u8]>, u32>,
    pub texts: Vec<Box<[u8]>>,
    readings: Vec<Reading>,
}

/// Whether a text may be published.
#[derive(Clone, Copy)]
pub(super) enum Reading {
    Fine,
    /// The attribute that is at fault, and how.
    Fault(usize, Kind),
}

impl Texts {
    pub fn number(&mut self, text: &[u8], check: impl FnOnce(&[u8]) -> Reading) -> u32 {
        if let Some(&number) = self.numbers.get(text) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.numbers.insert(text.into(), number);
        self.texts.push(text.into());
        self.readings.push(check(text));
        number
    }
}

fn check_sensitive(sensitive: &[Sensitive], joined: &[u8]) -> Reading {
    for (index, (attribute, cell)) in sensitive.iter().zip(split(joined, sensitive.len())).enumerate() {
        if cell.is_empty() && !attribute.nullable {
            return Reading::Fault(index, Kind::EmptySensitive);
        }
        if has_break(cell) {
            return Reading::Fault(index, Kind::LineBreak);
        }
        if !cell.is_empty() && label(attribute, cell).is_none() {
            return Reading::Fault(index, Kind::UnknownValue);
        }
    }
    Reading::Fine
}

fn check_public(joined: &[u8]) -> Reading {
    let broken = joined_cells(joined).position(has_break);
    broken.map_or(Reading::Fine, |column| Reading::Fault(column, Kind::LineBreak))
}

fn has_break(cell: &[u8]) -> bool {
    memchr2(b'\n', b'\r', cell).is_some()
}

/// What is published for a cell.
fn label<'a>(attribute: &'a Sensitive, cell: &'a [u8]) -> Option<&'a [u8]> {
    if attribute.labels.is_empty() || cell.is_empty() {
        return Some(cell);
    }
    match attribute.labels.binary_search_by(|(from, _)| from.as_bytes().cmp(cell)) {
        Ok(at) => Some(attribute.labels[at].1.as_bytes()),
        Err(_) => attribute.unlisted.label(cell),
    }
}

/// Appends a cell so that no two rows of cells join to the same bytes.
pub(super) fn join(joined: &mut Vec<u8>, cell: &[u8]) {
    joined.extend_from_slice(&(cell.len() as u32).to_le_bytes());
    joined.extend_from_slice(cell);
}

/// The cells of a joined text. A single cell was not joined.
fn split(mut joined: &[u8], count: usize) -> impl Iterator<Item = &[u8]> {
    let alone = (count == 1).then(|| std::mem::take(&mut joined));
    alone.into_iter().chain(joined_cells(joined))
}

/// The cells of a joined text, even if it is only one.
fn joined_cells(mut joined: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let (length, rest) = joined.split_first_chunk::<4>()?;
        let (cell, rest) = rest.split_at(u32::from_le_bytes(*length) as usize);
        joined = rest;
        Some(cell)
    })
}

/// All rows of an input, with final numbers, in no order.
pub(super) struct Gathered {
    pub keys: Vec<RecordKey>,
    pub quasi: Vec<Vec<u32>>,
    pub sensitive: Vec<u32>,
    pub public: Vec<u32>,
    pub places: Vec<u32>,
    pub ops: Vec<Op>,
    pub ranks: Vec<i64>,
    pub values: Values,
    pub public_texts: Vec<Vec<Box<str>>>,
    pub tally: Tally,
}

/// Puts the threads' columns together.
pub(super) fn gather(parts: Vec<Columns<'_>>, schema: &Schema, known: &Values) -> Gathered {
    let (values, value_numbers) = lasting_values(&parts, schema, known);
    let (public_texts, public_numbers) = lasting_public(&parts);
    let lonely = parts.len() == 1;
    let rows = if lonely { 0 } else { parts.iter().map(|part| part.keys.len()).sum() };
    let mut all = Gathered {
        keys: Vec::with_capacity(rows),
        quasi: schema.quasi.iter().map(|_| Vec::with_capacity(rows)).collect(),
        sensitive: Vec::with_capacity(rows),
        public: Vec::new(),
        places: Vec::with_capacity(rows),
        ops: Vec::new(),
        ranks: Vec::new(),
        values,
        public_texts,
        tally: Tally::default(),
    };
    let renumber = |column: &mut Vec<u32>, numbers: &[u32]| {
        column.iter_mut().filter(|number| **number != BLANK).for_each(|number| *number = numbers[*number as usize]);
    };
    for ((mut part, values), publics) in parts.into_iter().zip(value_numbers).zip(public_numbers) {
        if !schema.sensitive.is_empty() {
            renumber(&mut part.sensitive, &values);
        }
        renumber(&mut part.public, &publics);
        all.tally.merge(part.tally);
        all.ops.append(&mut part.ops);
        all.ranks.append(&mut part.ranks);
        if lonely {
            (all.keys, all.quasi, all.places) = (part.keys, part.quasi, part.places);
            (all.sensitive, all.public) = (part.sensitive, part.public);
            continue;
        }
        all.keys.append(&mut part.keys);
        all.places.append(&mut part.places);
        all.sensitive.append(&mut part.sensitive);
        all.public.append(&mut part.public);
        for (mine, theirs) in all.quasi.iter_mut().zip(part.quasi) {
            mine.extend_from_slice(&theirs);
        }
    }
    all
}

/// The published cells of a sensitive value.
type Cells = Box<[Box<str>]>;

/// The series' values with the new ones, and per thread the final number of each of its numbers.
pub(super) fn lasting_values(parts: &[Columns<'_>], schema: &Schema, known: &Values) -> (Values, Vec<Vec<u32>>) {
    let mut values = known.clone();
    if schema.sensitive.is_empty() {
        // Every row needs a value. Without sensitive attributes there is one empty value.
        values.extend([Vec::new().into_boxed_slice()]);
        return (values, vec![Vec::new(); parts.len()]);
    }
    let published = |text: &[u8]| -> Cells {
        schema
            .sensitive
            .iter()
            .zip(split(text, schema.sensitive.len()))
            .map(|(attribute, cell)| String::from_utf8_lossy(label(attribute, cell).unwrap_or_default()).into())
            .collect()
    };
    let fine = |part: &Columns<'_>, number: usize| matches!(part.texts.readings[number], Reading::Fine);
    let cells: Vec<Vec<Option<Cells>>> = parts
        .iter()
        .map(|part| {
            let texts = part.texts.texts.iter().enumerate();
            texts.map(|(number, text)| fine(part, number).then(|| published(text))).collect()
        })
        .collect();
    values.extend(cells.iter().flatten().flatten().cloned());
    let index = values.index();
    let numbers = cells
        .iter()
        .map(|part| part.iter().map(|cells| cells.as_ref().map_or(0, |cells| index[&cells[..]].0)).collect())
        .collect();
    (values, numbers)
}

/// The public combinations, sorted, and per thread the final number of each of its numbers.
pub(super) fn lasting_public(parts: &[Columns<'_>]) -> (Vec<Vec<Box<str>>>, Vec<Vec<u32>>) {
    let cells = |text: &[u8]| -> Vec<Box<str>> {
        joined_cells(text).map(|cell| String::from_utf8_lossy(cell).into()).collect()
    };
    let per_part: Vec<Vec<Vec<Box<str>>>> =
        parts.iter().map(|part| part.public_texts.texts.iter().map(|text| cells(text)).collect()).collect();
    let mut texts: Vec<Vec<Box<str>>> = per_part.iter().flatten().cloned().collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |cells: &Vec<Box<str>>| texts.binary_search(cells).expect("all texts are there") as u32;
    let numbers = per_part.iter().map(|part| part.iter().map(number).collect()).collect();
    (texts, numbers)
}

/// The positions of rows in the order of their keys, and those of rows with a duplicate key.
pub(super) struct Sorted {
    pub order: Vec<u32>,
    pub doubles: Vec<u32>,
}

/// Sorts rows by key.
pub(super) fn sort(keys: &[RecordKey]) -> Sorted {
    // Keys are hashes, so their first bits distribute them evenly into small parts that are sorted.
    let bits = (keys.len().max(1).ilog2().saturating_sub(8)).clamp(1, 16);
    let bucket_of = |key: &RecordKey| (key.hi >> (64 - bits)) as usize;
    let mut starts = vec![0u32; (1 << bits) + 1];
    keys.iter().for_each(|key| starts[bucket_of(key) + 1] += 1);
    for bucket in 1..starts.len() {
        starts[bucket] += starts[bucket - 1];
    }
    let mut next = starts.clone();
    let mut entries = vec![(0u64, 0u32); keys.len()];
    for (row, key) in keys.iter().enumerate() {
        let at = &mut next[bucket_of(key)];
        entries[*at as usize] = (key.hi, row as u32);
        *at += 1;
    }
    let mut buckets: Vec<&mut [(u64, u32)]> = Vec::with_capacity(1 << bits);
    let mut rest = &mut entries[..];
    for pair in starts.windows(2) {
        let (bucket, tail) = rest.split_at_mut((pair[1] - pair[0]) as usize);
        buckets.push(bucket);
        rest = tail;
    }
    buckets.into_par_iter().for_each(|bucket| {
        bucket.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0).then_with(|| keys[a.1 as usize].lo.cmp(&keys[b.1 as usize].lo)).then(a.1.cmp(&b.1))
        });
    });
    let order: Vec<u32> = entries.into_iter().map(|(_, row)| row).collect();
    let mut doubles: Vec<u32> = order
        .windows(2)
        .filter(|pair| keys[pair[0] as usize] == keys[pair[1] as usize])
        .flat_map(|pair| [pair[0], pair[1]])
        .collect();
    doubles.sort_unstable();
    doubles.dedup();
    Sorted { order, doubles }
}

/// The table, or everything that is wrong with its rows.
pub(super) fn finish(mut all: Gathered, schema: &Schema, places_are_rows: bool) -> Result<Table, IngestError> {
    let sorted = checked_sort(&mut all, &schema.identifier)?;
    if let Some(error) = all.tally.into_error(places_are_rows) {
        return Err(error);
    }
    let order = &sorted.order;
    let pick = |column: Vec<u32>| -> Vec<u32> { order.iter().map(|&row| column[row as usize]).collect() };
    Ok(Table::new(
        order.iter().map(|&row| all.keys[row as usize]).collect(),
        all.quasi.into_iter().map(pick).collect(),
        order.iter().map(|&row| Value(all.sensitive[row as usize])).collect(),
        all.values,
        if all.public.is_empty() { Vec::new() } else { pick(all.public) },
        all.public_texts,
    ))
}

/// Sorts the rows, and counts duplicate identifiers.
pub(super) fn checked_sort(all: &mut Gathered, identifier: &str) -> Result<Sorted, IngestError> {
    if all.keys.len() >= BLANK as usize {
        return Err(IngestError::whole(Kind::TooManyRows, ""));
    }
    let sorted = sort(&all.keys);
    let mut places: Vec<u32> = sorted.doubles.iter().map(|&row| all.places[row as usize]).collect();
    places.sort_unstable();
    places.iter().for_each(|&place| all.tally.add(Kind::DuplicateIdentifier, identifier, u64::from(place)));
    Ok(sorted)
}
