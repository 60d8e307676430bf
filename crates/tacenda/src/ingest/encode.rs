//! From a cell to a code, without an allocation.
//!
//! [`Quasi::encode`] defines what a cell means. This file has fast paths to the same answer for the most common cells.
//! All other cells go to the definition.

use crate::model::{CellFault, Domain, Quasi};
use rustc_hash::FxHashMap;

/// A quasi attribute, prepared for reading many cells.
pub(super) struct Encoder<'a> {
    pub quasi: &'a Quasi,
    leaves: FxHashMap<&'a [u8], u32>,
    other: Option<u32>,
}

impl<'a> Encoder<'a> {
    pub fn new(quasi: &'a Quasi) -> Encoder<'a> {
        let leaves = quasi.hierarchy().map_or_else(FxHashMap::default, |tree| {
            (0..tree.leaf_count()).map(|code| (tree.leaf_label(code).as_bytes(), code)).collect()
        });
        Encoder { quasi, leaves, other: quasi.other() }
    }

    /// The code of a cell of text.
    pub fn text(&self, cell: &[u8]) -> Result<u32, CellFault> {
        let number = match &self.quasi.domain {
            Domain::Category(_) => {
                return match self.leaves.get(cell) {
                    Some(&code) => Ok(code),
                    None if cell.is_empty() => self.missing(),
                    None => self.other.ok_or(CellFault::UnknownValue),
                };
            }
            Domain::Integer { lo, hi } => quick_integer(cell).map(|value| (value, lo, hi)),
            Domain::Date { lo, hi } if self.quasi.written.is_none() => quick_date(cell).map(|value| (value, lo, hi)),
            Domain::Real { .. } | Domain::Date { .. } => None,
        };
        match number {
            Some((value, &lo, &hi)) if lo <= value && value < hi => Ok((value - lo) as u32),
            Some(_) => Err(CellFault::OutsideDomain),
            // Text that is not UTF-8 was refused before, so this only happens if the file changes while it is read.
            None => self.quasi.encode(std::str::from_utf8(cell).unwrap_or("\u{fffd}")),
        }
    }

    /// The code of a whole number from a typed column.
    pub fn number(&self, value: i64) -> Result<u32, CellFault> {
        match &self.quasi.domain {
            Domain::Category(_) => self.text(itoa::Buffer::new().format(value).as_bytes()),
            // 20251231, or the days of a spreadsheet.
            Domain::Date { .. } if self.quasi.written.is_some() => {
                self.text(itoa::Buffer::new().format(value).as_bytes())
            }
            Domain::Date { .. } => Err(CellFault::NotADate),
            _ => self.quasi.encode_number(value),
        }
    }

    /// The code of a day from a typed column.
    pub fn day(&self, days: i64, text: &[u8]) -> Result<u32, CellFault> {
        match &self.quasi.domain {
            Domain::Date { .. } => self.quasi.encode_number(days),
            _ => self.text(text),
        }
    }

    /// The code of a missing value.
    pub fn missing(&self) -> Result<u32, CellFault> {
        self.quasi.null().filter(|_| self.quasi.nullable).ok_or(CellFault::Missing)
    }
}

/// A whole number of at most 18 digits.
fn quick_integer(cell: &[u8]) -> Option<i64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > 18 {
        return None;
    }
    let mut value = 0i64;
    for &digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + i64::from(digit);
    }
    Some(if negative { -value } else { value })
}

/// Days since 1970-01-01 of a date of exactly the form 2026-11-15, from the year 1 on.
pub(super) fn quick_date(cell: &[u8]) -> Option<i64> {
    let &[y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = cell else { return None };
    let digits = [y0, y1, y2, y3, m0, m1, d0, d1].map(|byte| byte.wrapping_sub(b'0'));
    if digits.iter().any(|&digit| digit > 9) {
        return None;
    }
    let two = |at: usize| i64::from(digits[at]) * 10 + i64::from(digits[at + 1]);
    let (year, month, day) = (two(0) * 100 + two(2), two(4), two(6));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + i64::from(leap),
        _ => return None,
    };
    if year < 1 || day < 1 || day > length {
        return None;
    }
    // The computation starts years in March, so that the leap day is the last day of the year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days_before_month = (153 * month + 2) / 5;
    Some(year * 365 + year / 4 - year / 100 + year / 400 + days_before_month + day - 1 - 719_468)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Hierarchy;
    use proptest::prelude::*;

    fn attributes() -> Vec<Quasi> {
        vec![
            Quasi::new("age", Domain::Integer { lo: -5, hi: 120 }),
            Quasi::new("age", Domain::Integer { lo: -5, hi: 120 }).nullable(),
            Quasi::new("day", Domain::Date { lo: -719_000, hi: 40_000 }).nullable(),
            Quasi::new("price", Domain::Real { lo: -100, hi: 1_000, decimals: 2 }),
            Quasi::new("sex", Domain::Category(Hierarchy::flat(["F", "M", "1"]).unwrap())),
            Quasi::new("sex", Domain::Category(Hierarchy::flat(["F", "M", "1"]).unwrap())).nullable(),
        ]
    }

    proptest! {
        #[test]
        fn the_quick_ways_answer_like_the_definition(
            cell in prop_oneof![
                "[-+ .0-9eE]{0,5}", "[0-9]{4}-[0-9]{2}-[0-9]{2}", "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-[0-3][0-9]", "[FM1N]?", "NULL",
            ],
        ) {
            for quasi in attributes() {
                let encoder = Encoder::new(&quasi);
                prop_assert_eq!(encoder.text(cell.as_bytes()), quasi.encode(&cell), "{:?}", cell);
            }
        }
    }

    #[test]
    fn every_day_of_four_centuries_is_numbered_in_turn() {
        let mut date = jiff::civil::date(1850, 1, 1);
        let mut days = quick_date(date.to_string().as_bytes()).unwrap();
        assert_eq!(quick_date(b"1970-01-01"), Some(0));
        while date.year() < 2251 {
            assert_eq!(quick_date(date.to_string().as_bytes()), Some(days));
            (date, days) = (date.tomorrow().unwrap(), days + 1);
        }
        assert_eq!((quick_date(b"2023-02-29"), quick_date(b"2024-13-01")), (None, None));
    }
}
