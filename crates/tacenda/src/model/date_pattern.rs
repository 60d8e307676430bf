//! How dates are written in a table, if not like 2025-12-31.

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// A way to write dates, such as `DD.MM.YYYY`. The policy file names it: which of two numbers is the month cannot be guessed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum DatePattern {
    /// Days counted from 1899-12-30, as spreadsheets keep them.
    Excel,
    /// Numbers and marks, in order.
    Parts(Vec<DatePart>),
}

/// A part of a date.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum DatePart {
    /// Four digits.
    Year,
    /// One or two digits; two beside another number.
    Month,
    /// One or two digits; two beside another number.
    Day,
    /// This mark.
    Mark(char),
    /// Anything, such as a time: it is not read.
    Rest,
}

impl DatePattern {
    /// The patterns that `init` tries. One that ends in `…` also fits what the same one without it fits.
    pub const COMMON: [&str; 13] = [
        "DD.MM.YYYY",
        "DD/MM/YYYY",
        "MM/DD/YYYY",
        "DD-MM-YYYY",
        "YYYY/MM/DD",
        "YYYYMMDD",
        "YYYY-MM-DD…",
        "YYYY-MM",
        "MM/YYYY",
        "DD.MM.YYYY…",
        "DD/MM/YYYY…",
        "MM/DD/YYYY…",
        "YYYY/MM/DD…",
    ];

    /// Reads a pattern: `YYYY`, `MM`, `DD`, marks between them, `…` for a rest that is not read; or `excel`.
    pub fn read(text: &str) -> Option<DatePattern> {
        if text == "excel" {
            return Some(DatePattern::Excel);
        }
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(letter) = rest.chars().next() {
            let words =
                [("YYYY", DatePart::Year), ("MM", DatePart::Month), ("DD", DatePart::Day), ("…", DatePart::Rest)];
            let (part, length) = match words.into_iter().find(|(word, _)| rest.starts_with(word)) {
                Some((word, part)) => (part, word.len()),
                None if letter.is_alphanumeric() => return None,
                None => (DatePart::Mark(letter), letter.len_utf8()),
            };
            parts.push(part);
            rest = &rest[length..];
        }
        let count = |wanted: DatePart| parts.iter().filter(|part| **part == wanted).count();
        let is_sound = count(DatePart::Year) == 1
            && count(DatePart::Month) <= 1
            && count(DatePart::Day) <= count(DatePart::Month)
            && parts.iter().position(|part| *part == DatePart::Rest).is_none_or(|at| at + 1 == parts.len());
        is_sound.then_some(DatePattern::Parts(parts))
    }

    /// Days since 1970-01-01 of a cell. If the pattern has no day or month, the first of the month or year.
    pub fn day(&self, cell: &str) -> Option<i64> {
        let parts = match self {
            DatePattern::Parts(parts) => parts,
            DatePattern::Excel => {
                let whole = cell.split(['.', ',']).next()?;
                let days: i64 = whole.parse().ok().filter(|days| (1..2_958_466).contains(days))?;
                return Some(days - 25_569);
            }
        };
        let (mut year, mut month, mut day) = (0, 1, 1);
        let mut rest = cell;
        for (at, part) in parts.iter().enumerate() {
            let is_number = |at: usize| matches!(parts.get(at), Some(DatePart::Year | DatePart::Month | DatePart::Day));
            let fewest = if is_number(at + 1) || at > 0 && is_number(at - 1) { 2 } else { 1 };
            match part {
                DatePart::Year => year = number(&mut rest, 4, 4)?,
                DatePart::Month => month = number(&mut rest, fewest, 2)?,
                DatePart::Day => day = number(&mut rest, fewest, 2)?,
                DatePart::Mark(mark) => rest = rest.strip_prefix(*mark)?,
                DatePart::Rest => rest = "",
            }
        }
        let date = Date::new(year, month as i8, day as i8).ok().filter(|_| rest.is_empty())?;
        Some(i64::from(date.since(Date::constant(1970, 1, 1)).ok()?.get_days()))
    }
}

/// A number of `fewest` to `most` digits at the beginning.
fn number(rest: &mut &str, fewest: usize, most: usize) -> Option<i16> {
    let digits = rest.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (number, after) = rest.split_at_checked(digits).filter(|_| digits >= fewest)?;
    *rest = after;
    number.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_as_the_pattern_says() {
        let day = |pattern: &str, cell: &str| DatePattern::read(pattern).unwrap().day(cell);
        let new_year = Some(20_454);
        assert_eq!(day("YYYY-MM-DD…", "2026-01-01T23:59:59"), new_year);
        assert_eq!(day("YYYY-MM-DD…", "2026-01-01"), new_year);
        assert_eq!(day("DD.MM.YYYY", "1.1.2026"), new_year);
        assert_eq!(day("DD.MM.YYYY", "01.01.2026"), new_year);
        assert_eq!(day("YYYYMMDD", "20260101"), new_year);
        assert_eq!(day("MM/YYYY", "01/2026"), new_year);
        assert_eq!(day("YYYY", "2026"), new_year);
        assert_eq!(day("excel", "46023"), new_year);
        assert_eq!(day("excel", "46023.75"), new_year);
        assert_eq!(day("MM/DD/YYYY", "12/31/2025"), Some(20_453));
        assert_eq!(day("DD/MM/YYYY", "12/31/2025"), None);
        for (pattern, bad) in [
            ("DD.MM.YYYY", "1.1.26"),
            ("DD.MM.YYYY", "31.2.2026"),
            ("YYYYMMDD", "2026111"),
            ("excel", "0"),
            ("MM/YYYY", "1/2026x"),
        ] {
            assert_eq!(day(pattern, bad), None, "{pattern} {bad}");
        }
    }

    #[test]
    fn what_says_no_date_is_no_pattern() {
        for bad in ["", "DD.MM", "YYYY-DD", "DD.MM.YY", "YYYY…MM", "yyyy-mm-dd", "YYYYMMDDDD"] {
            assert_eq!(DatePattern::read(bad), None, "{bad}");
        }
    }
}
