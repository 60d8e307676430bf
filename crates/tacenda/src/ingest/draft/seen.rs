//! What all cells of a column have in common.

use crate::ingest::encode::quick_date;
use memchr::memchr2;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// How many distinct values are distinguished.
const DISTINCT: usize = 20_000;

/// A column, cell by cell.
pub(super) struct Seen {
    pub rows: u64,
    pub missing: u64,
    /// What still fits every cell.
    pub integers: bool,
    pub reals: bool,
    pub dates: bool,
    /// Whether every cell is a date in a form that is not read, such as day.month.year.
    other_dates: bool,
    /// The least and greatest number; days for dates.
    pub least: f64,
    pub greatest: f64,
    pub first_day: i64,
    pub last_day: i64,
    pub decimals: u8,
    /// How often each value occurs; `None` for too many values.
    pub counts: Option<FxHashMap<Box<[u8]>, u32>>,
    /// Hashes of all values, as long as none has come twice.
    fingerprints: Option<FxHashSet<u64>>,
    /// All bytes, and cells with a blank in them.
    pub bytes: u64,
    pub blanks: u64,
    /// Cells with a line break in them.
    pub breaks: u64,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            rows: 0,
            missing: 0,
            integers: true,
            reals: true,
            dates: true,
            other_dates: true,
            least: f64::INFINITY,
            greatest: f64::NEG_INFINITY,
            first_day: i64::MAX,
            last_day: i64::MIN,
            decimals: 0,
            counts: Some(FxHashMap::default()),
            fingerprints: Some(FxHashSet::default()),
            bytes: 0,
            blanks: 0,
            breaks: 0,
        }
    }
}

impl Seen {
    pub fn cell(&mut self, cell: &[u8]) {
        self.rows += 1;
        if cell.is_empty() {
            self.missing += 1;
            return;
        }
        self.bytes += cell.len() as u64;
        self.blanks += u64::from(cell.contains(&b' '));
        self.breaks += u64::from(memchr2(b'\n', b'\r', cell).is_some());
        if self.fingerprints.as_mut().is_some_and(|all| !all.insert(FxBuildHasher.hash_one(cell))) {
            self.fingerprints = None;
        }
        if let Some(counts) = &mut self.counts {
            match counts.get_mut(cell) {
                // What a value is need only be looked at once.
                Some(count) => {
                    *count += 1;
                    return;
                }
                None => counts.insert(cell.into(), 1),
            };
            if counts.len() > DISTINCT {
                self.counts = None;
            }
        }
        self.dates = self.dates && self.date(cell);
        self.other_dates = self.other_dates && is_other_date(cell);
        self.reals = self.reals && self.number(cell);
        self.integers = self.integers && self.reals && self.decimals == 0;
    }

    fn date(&mut self, cell: &[u8]) -> bool {
        let Some(day) = quick_date(cell) else { return false };
        self.first_day = self.first_day.min(day);
        self.last_day = self.last_day.max(day);
        true
    }

    fn number(&mut self, cell: &[u8]) -> bool {
        // A leading zero makes a code, not a number: adding it up would lose it.
        let digits = cell.strip_prefix(b"-").unwrap_or(cell);
        if let [b'0', b'0'..=b'9', ..] = digits {
            return false;
        }
        if !cell.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')) {
            return false;
        }
        let Some(text) = std::str::from_utf8(cell).ok() else { return false };
        let Some(value) = text.parse::<f64>().ok().filter(|value| value.abs() < 9e15) else { return false };
        let decimals = match text.split_once('.') {
            _ if text.contains(['e', 'E']) => 6,
            Some((_, fraction)) => fraction.trim_end_matches('0').len().min(6) as u8,
            None => 0,
        };
        self.decimals = self.decimals.max(decimals);
        self.least = self.least.min(value);
        self.greatest = self.greatest.max(value);
        true
    }

    /// Whether all cells are dates in a form that is not read.
    pub fn has_other_dates(&self) -> bool {
        self.other_dates && self.missing < self.rows
    }

    /// Whether no two rows have the same value and none is missing.
    pub fn unique(&self) -> bool {
        self.fingerprints.is_some() && self.missing == 0 && self.rows > 0
    }

    /// How often the most frequent value occurs; unknown for too many values.
    pub fn most_frequent(&self) -> Option<u64> {
        let counts = self.counts.as_ref()?;
        let most = u64::from(counts.values().copied().max().unwrap_or(0));
        Some(most.max(self.missing))
    }

    /// The distinct values, sorted; `None` for too many.
    pub fn values(&self) -> Option<Vec<String>> {
        let counts = self.counts.as_ref()?;
        let mut values: Vec<String> = counts.keys().map(|value| String::from_utf8_lossy(value).into_owned()).collect();
        values.sort_unstable();
        values.dedup();
        Some(values)
    }
}

/// Whether a cell is three numbers that can be a day, a month and a year, in another form than ours.
fn is_other_date(cell: &[u8]) -> bool {
    let Some(mark) = cell.iter().copied().find(|byte| !byte.is_ascii_digit()) else { return false };
    let parts: Vec<&[u8]> = cell.split(|&byte| byte == mark).collect();
    let is_number = |part: &&[u8]| part.iter().all(u8::is_ascii_digit);
    let [a, b, c] = parts[..] else { return false };
    if !matches!(mark, b'.' | b'/' | b'-') || !parts.iter().all(is_number) || quick_date(cell).is_some() {
        return false;
    }
    let small = |part: &[u8], most: u32| {
        let number = part.iter().fold(0, |number, digit| number * 10 + u32::from(digit - b'0'));
        (1..=2).contains(&part.len()) && (1..=most).contains(&number)
    };
    let day_and_month = |a: &[u8], b: &[u8]| small(a, 12) && small(b, 31) || small(a, 31) && small(b, 12);
    c.len() == 4 && day_and_month(a, b) || a.len() == 4 && day_and_month(b, c)
}
