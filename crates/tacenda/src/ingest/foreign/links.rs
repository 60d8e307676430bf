//! Columns that link rows of different files without being declared: unique in each file, and repeated in the next.
//!
//! anjana writes `index`, the row's place in the private table, into every release. Anyone with two releases can follow
//! each row. A column that only numbers the rows of each file looks the same but links nothing. So the rows that a
//! column links are compared before it is used.

use crate::ingest::error::IngestError;
use crate::ingest::foreign::raw;
use crate::ingest::source::Source;
use crate::model::Release;
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};

/// The share of a file's ids that must occur again in the next file.
const SHARED: f64 = 0.5;

/// The share of linked rows whose regions must overlap.
const FITTING: f64 = 0.95;

/// By how much linked rows must fit better than randomly paired rows, if the ids are plain row numbers.
const BETTER: f64 = 0.1;

/// A column that may link rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The column.
    pub column: String,
    /// Other columns of the kind.
    pub others: Vec<String>,
    /// How many ids of a file occur again in the next, over all files.
    pub shared: u64,
    /// Whether the ids are consecutive numbers in every file.
    pub is_counter: bool,
}

/// Looks for such columns among those that no option names.
pub fn find(files: &[&Source], asked: &[&str]) -> Result<Option<Found>, IngestError> {
    if files.len() < 2 {
        return Ok(None);
    }
    let mut names: Vec<String> = Vec::new();
    for (at, source) in files.iter().enumerate() {
        let header = raw::header(source)?;
        match at {
            0 => names = header.into_iter().filter(|name| !asked.contains(&name.as_str())).collect(),
            _ => names.retain(|name| header.contains(name)),
        }
    }
    let mut before: Vec<FxHashSet<u64>> = Vec::new();
    let mut shared = vec![0u64; names.len()];
    let mut is_counter = vec![true; names.len()];
    for (at, source) in files.iter().enumerate() {
        if names.is_empty() {
            return Ok(None);
        }
        let mut ids = unique(source, &names)?;
        let again: Vec<u64> = match at {
            0 => Vec::new(),
            _ => before.iter().zip(&ids).map(|(before, now)| again(before, now)).collect(),
        };
        let is_link = |column: usize| {
            let Some(now) = &ids[column] else { return false };
            let least = before.get(column).map_or(0, FxHashSet::len).min(now.set.len());
            now.set.len() > 1 && (at == 0 || again[column] as f64 >= SHARED * least as f64)
        };
        let keep: Vec<bool> = (0..names.len()).map(is_link).collect();
        for column in 0..names.len() {
            shared[column] += again.get(column).copied().unwrap_or(0);
            is_counter[column] &= ids[column].as_ref().is_some_and(Ids::is_counter);
        }
        retain(&mut names, &keep);
        retain(&mut shared, &keep);
        retain(&mut is_counter, &keep);
        retain(&mut ids, &keep);
        before = ids.into_iter().flatten().map(|ids| ids.set).collect();
    }
    if names.is_empty() {
        return Ok(None);
    }
    // Row numbers are the weakest candidates.
    let best = (0..names.len()).min_by_key(|&at| (is_counter[at], at)).expect("there is one");
    let column = names.remove(best);
    Ok(Some(Found { column, others: names, shared: shared[best], is_counter: is_counter[best] }))
}

fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    list.retain(|_| keep.next().is_none_or(|&keep| keep));
}

/// How many ids occur again.
fn again(before: &FxHashSet<u64>, now: &Option<Ids>) -> u64 {
    now.as_ref().map_or(0, |now| now.set.intersection(before).count() as u64)
}

/// The ids of a column that repeats none.
#[derive(Default)]
struct Ids {
    set: FxHashSet<u64>,
    /// The least and the largest number; `None` if some id is no whole number.
    ends: Option<(u64, u64)>,
    is_named: bool,
}

impl Ids {
    /// Adds an id; returns `false` if it is a duplicate.
    fn add(&mut self, cell: &[u8]) -> bool {
        match std::str::from_utf8(cell).ok().and_then(|text| text.parse::<u64>().ok()) {
            Some(number) => {
                let (lo, hi) = self.ends.unwrap_or((number, number));
                self.ends = Some((lo.min(number), hi.max(number)));
            }
            None => self.is_named = true,
        }
        self.set.insert(BuildHasherDefault::<DefaultHasher>::default().hash_one(cell))
    }

    fn is_counter(&self) -> bool {
        let is_full = |(lo, hi): (u64, u64)| (hi - lo).checked_add(1) == Some(self.set.len() as u64);
        !self.is_named && self.ends.is_some_and(is_full)
    }
}

/// Per column, its ids; `None` if a cell is empty or occurs twice.
fn unique(source: &Source, names: &[String]) -> Result<Vec<Option<Ids>>, IngestError> {
    let wanted: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut columns: Vec<Option<Ids>> = names.iter().map(|_| Some(Ids::default())).collect();
    raw::each_cell(source, &wanted, |column, cell, _| {
        let is_new = !cell.is_empty() && columns[column].as_mut().is_some_and(|ids| ids.add(cell));
        if !is_new {
            columns[column] = None;
        }
    })?;
    Ok(columns)
}

/// How well the rows that ids link fit each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fit {
    /// The share of linked rows whose regions overlap and whose values are the same.
    pub linked: f64,
    /// The share whose regions overlap.
    pub overlapping: f64,
    /// The first share, for randomly paired rows.
    pub by_chance: f64,
}

impl Fit {
    /// Whether the ids link rows of the same people.
    pub fn links(&self, is_counter: bool) -> bool {
        self.overlapping >= FITTING && (!is_counter || self.linked >= self.by_chance + BETTER)
    }
}

/// Compares rows with those that ids link them to, in each release and the one before.
pub fn fit(releases: &[Release], has_values: bool) -> Fit {
    let (mut rows, mut linked, mut overlapping, mut by_chance) = (0u64, 0u64, 0u64, 0u64);
    for pair in releases.windows(2) {
        let (earlier, later) = (Rows::new(&pair[0]), Rows::new(&pair[1]));
        let index: FxHashMap<u64, usize> = earlier.release.linked.iter().copied().zip(0..).collect();
        let mut both: Vec<(u64, usize, usize)> = Vec::new();
        for (row, id) in later.release.linked.iter().enumerate() {
            both.extend(index.get(id).map(|&before| (*id, before, row)));
        }
        both.sort_unstable();
        for (at, &(_, before, row)) in both.iter().enumerate() {
            let other = both[(at + both.len() / 2) % both.len()].1;
            let is_one = |before: usize| {
                let values = (earlier.release.sensitive[before], later.release.sensitive[row]);
                earlier.overlaps(before, &later, row) && (!has_values || values.0 == values.1)
            };
            rows += 1;
            overlapping += u64::from(earlier.overlaps(before, &later, row));
            linked += u64::from(is_one(before));
            by_chance += u64::from(is_one(other));
        }
    }
    let share = |count: u64| count as f64 / rows.max(1) as f64;
    Fit { linked: share(linked), overlapping: share(overlapping), by_chance: share(by_chance) }
}

/// A release with the group of each row.
struct Rows<'a> {
    release: &'a Release,
    groups: Vec<u32>,
}

impl<'a> Rows<'a> {
    fn new(release: &'a Release) -> Rows<'a> {
        let of_group = |group: usize| std::iter::repeat_n(group as u32, release.group_rows(group).len());
        Rows { release, groups: (0..release.group_count()).flat_map(of_group).collect() }
    }

    fn overlaps(&self, row: usize, other: &Rows<'_>, at: usize) -> bool {
        let mine = self.release.region(self.groups[row] as usize);
        let theirs = other.release.region(other.groups[at] as usize);
        mine.iter().zip(theirs).all(|(mine, theirs)| !mine.meet(*theirs).is_empty())
    }
}
