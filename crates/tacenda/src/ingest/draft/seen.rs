//! What all cells of a column have in common.

use crate::ingest::encode::quick_date;
use crate::model::DatePattern;
use memchr::memchr2;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::hash::BuildHasher;

/// Plausible days of people's lives, counted from 1970-01-01: the years 1850 to 2150.
const LIVING: std::ops::Range<i64> = -43_829..65_744;

/// How the names of months begin, in the languages of the words of columns.
const MONTHS: [&str; 37] = [
    "jan", "ene", "gen", "feb", "fev", "fév", "mar", "mär", "maa", "mrt", "apr", "abr", "avr", "may", "mai", "mei",
    "mag", "jun", "juin", "giu", "jul", "juil", "lug", "aug", "ago", "aoû", "sep", "set", "oct", "okt", "out", "ott",
    "nov", "dec", "dez", "dic", "déc",
];

/// How other programs write that nothing is known.
const MISSING: [&str; 11] = ["NA", "N/A", "n/a", "na", "#N/A", "NULL", "null", "NaN", "nan", "-", "?"];

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
    /// Which of the common ways to write dates still fit every cell, with the first and last day.
    written: Vec<(&'static str, DatePattern, i64, i64)>,
    /// The least and greatest number; days for dates.
    pub least: f64,
    pub greatest: f64,
    pub first_day: i64,
    pub last_day: i64,
    pub decimals: u8,
    /// How often each value occurs; `None` for too many values.
    pub counts: Option<FxHashMap<Box<[u8]>, u32>>,
    /// Hashes of all values, as long as no value occurred twice.
    fingerprints: Option<FxHashSet<u64>>,
    /// All bytes, and cells with a blank in them.
    pub bytes: u64,
    pub blanks: u64,
    /// Cells with a line break in them.
    pub breaks: u64,
    /// Cells that say something without a text form. They also count as missing.
    pub unread: u64,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen {
            rows: 0,
            missing: 0,
            integers: true,
            reals: true,
            dates: true,
            written: DatePattern::COMMON
                .iter()
                .filter_map(|text| Some((*text, DatePattern::read(text)?, i64::MAX, i64::MIN)))
                .collect(),
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
            unread: 0,
        }
    }
}

impl Seen {
    /// Takes a cell of a typed column; `None` if it has no text form.
    pub fn typed_cell(&mut self, cell: Option<&[u8]>) {
        self.unread += u64::from(cell.is_none());
        self.cell(cell.unwrap_or_default());
    }

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
                // A value that was seen before need not be classified again.
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
        self.try_patterns(cell);
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
        // A leading zero makes a code, not a number: as a number, the zero would be lost.
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

    fn try_patterns(&mut self, cell: &[u8]) {
        self.written.retain_mut(|(_, pattern, first, last)| {
            let day = std::str::from_utf8(cell).ok().and_then(|cell| pattern.day(cell));
            // Numbers of eight digits are dates only if all of them lie in living memory.
            let Some(day) = day.filter(|day| LIVING.contains(day)) else { return false };
            (*first, *last) = (day.min(*first), day.max(*last));
            true
        });
    }

    /// The ways to write dates that fit every cell, with the first and last day; none if dates are written like 2025-12-31.
    pub fn patterns(&self) -> Vec<(&'static str, i64, i64)> {
        let is_other = !self.dates && self.missing < self.rows;
        // A pattern with a rest is needed only where cells have one.
        let fits = |text: &str| self.written.iter().any(|(other, ..)| *other == text);
        let is_needed = |text: &str| text.strip_suffix('…').is_none_or(|plain| !fits(plain));
        let fitting = self.written.iter().filter(|(text, ..)| is_other && is_needed(text));
        fitting.map(|(text, _, first, last)| (*text, *first, *last)).collect()
    }

    /// Whether all cells look like 05-Jan-2025, in one of several languages.
    pub fn has_month_names(&self) -> bool {
        let is_number = |part: &str| part.len() <= 4 && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_month = |part: &str| MONTHS.iter().any(|month| part.to_lowercase().starts_with(month));
        let is_date = |cell: &[u8]| {
            let text = String::from_utf8_lossy(cell);
            let parts: Vec<&str> = text.split(['-', '/', '.', ' ']).filter(|part| !part.is_empty()).collect();
            matches!(parts[..], [day, month, year] if is_number(day) && is_month(month) && is_number(year))
        };
        self.counts.as_ref().is_some_and(|counts| counts.len() > 1 && counts.keys().all(|cell| is_date(cell)))
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

    /// How often the most frequent value occurs, if more than half of the rows have it.
    pub fn too_frequent(&self) -> Option<u64> {
        self.most_frequent().filter(|most| most * 2 > self.rows)
    }

    /// The most frequent word by which other programs say that nothing is known, and in how many rows it stands.
    pub fn missing_word(&self) -> Option<(&'static str, u64)> {
        let words = MISSING.iter().map(|word| (*word, u64::from(self.count(word))));
        words.filter(|(_, rows)| *rows > 0).max_by_key(|(_, rows)| *rows)
    }

    /// Whether cells begin or end with a blank; unknown for too many values.
    pub fn has_outer_blanks(&self) -> bool {
        let is_blank = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
        self.counts
            .as_ref()
            .is_some_and(|counts| counts.keys().any(|cell| is_blank(cell.first()) || is_blank(cell.last())))
    }

    /// How many rows have a value.
    pub fn count(&self, value: &str) -> u32 {
        self.counts.as_ref().and_then(|counts| counts.get(value.as_bytes())).copied().unwrap_or(0)
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
