//! Rewrites numbers and dates of other formats before anything is read: `31.12.2025` as `2025-12-31` if the date format
//! is given, `1,5` as `1.5` if a whole column is written that way.

use crate::ingest::encode::quick_date;
use crate::ingest::foreign::cell::{self, Cell};
use crate::ingest::foreign::thousands;

/// A part of a date format.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Part {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
    Sign(char),
}

/// The format of dates and times, such as `%d.%m.%Y` or `DD.MM.YYYY`.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DateForm {
    parts: Vec<Part>,
}

impl DateForm {
    /// Reads a format; `None` if it names neither a whole day nor a time, or names a part twice.
    pub fn parse(text: &str) -> Option<DateForm> {
        let names: &[(&str, Part)] = &[
            ("%Y", Part::Year),
            ("%m", Part::Month),
            ("%d", Part::Day),
            ("%H", Part::Hour),
            ("%M", Part::Minute),
            ("%S", Part::Second),
            ("YYYY", Part::Year),
            ("yyyy", Part::Year),
            ("MM", Part::Month),
            ("DD", Part::Day),
            ("dd", Part::Day),
            ("HH", Part::Hour),
            ("mm", if text.contains("HH") { Part::Minute } else { Part::Month }),
            ("ss", Part::Second),
        ];
        let (mut parts, mut rest) = (Vec::new(), text.trim());
        while let Some(first) = rest.chars().next() {
            match names.iter().find(|(name, _)| rest.starts_with(name)) {
                Some((name, part)) => {
                    parts.push(*part);
                    rest = &rest[name.len()..];
                }
                None if first == '%' || first.is_alphanumeric() && first != 'T' => return None,
                None => {
                    parts.push(Part::Sign(first));
                    rest = &rest[first.len_utf8()..];
                }
            }
        }
        let count = |part: Part| parts.iter().filter(|other| **other == part).count();
        let has_day = [Part::Year, Part::Month, Part::Day].map(count) == [1, 1, 1];
        let has_no_day = [Part::Year, Part::Month, Part::Day].map(count) == [0, 0, 0];
        let has_time = count(Part::Hour) == 1 && count(Part::Minute) == 1 && count(Part::Second) <= 1;
        let has_no_time = count(Part::Hour) + count(Part::Minute) + count(Part::Second) == 0;
        (has_day && (has_time || has_no_time) || has_no_day && has_time).then_some(DateForm { parts })
    }

    /// What times are counted in; `None` for days.
    pub fn unit(&self) -> Option<&'static str> {
        match (self.parts.contains(&Part::Hour), self.parts.contains(&Part::Second)) {
            (false, _) => None,
            (true, true) => Some("seconds"),
            (true, false) => Some("minutes"),
        }
    }

    /// Rewrites every date or time of this format in a text: days as `2025-12-31`, times as a number of minutes or
    /// seconds.
    pub fn rewrite(&self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        let mut after_digit = false;
        while let Some(next) = text[at..].chars().next() {
            if next.is_ascii_digit()
                && !after_digit
                && let Some((plain, length)) = self.at(&text[at..])
            {
                out.push_str(&plain);
                at += length;
                after_digit = true;
                continue;
            }
            out.push(next);
            after_digit = next.is_ascii_digit();
            at += next.len_utf8();
        }
        out
    }

    /// A date at the start of a text, and how long it is.
    fn at(&self, text: &str) -> Option<(String, usize)> {
        let bytes = text.as_bytes();
        let (mut numbers, mut at) = ([0u32; 6], 0);
        for part in &self.parts {
            let place = match part {
                Part::Sign(sign) => {
                    at += text[at..].strip_prefix(*sign).map(|_| sign.len_utf8())?;
                    continue;
                }
                Part::Year => 0,
                Part::Month => 1,
                Part::Day => 2,
                Part::Hour => 3,
                Part::Minute => 4,
                Part::Second => 5,
            };
            let most = if *part == Part::Year { 4 } else { 2 };
            let digits = bytes[at..].iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
            if digits == 0 || *part == Part::Year && digits < 4 {
                return None;
            }
            numbers[place] = text[at..at + digits].parse().ok()?;
            at += digits;
        }
        if bytes.get(at).is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let [year, month, day, hour, minute, second] = numbers;
        let is_time = hour < 24 && minute < 60 && second < 60;
        let iso = format!("{year:04}-{month:02}-{day:02}");
        let days = match self.parts.contains(&Part::Year) {
            true => quick_date(iso.as_bytes())?,
            false => 0,
        };
        let Some(unit) = self.unit() else { return Some((iso, at)) };
        // Counted from the year 0, so that no number is negative.
        let minutes = if self.parts.contains(&Part::Year) { (days + 719_528) * 1440 } else { 0 };
        let minutes = minutes + i64::from(hour) * 60 + i64::from(minute);
        let number = if unit == "minutes" { minutes } else { minutes * 60 + i64::from(second) };
        is_time.then(|| (number.to_string(), at))
    }
}

/// The texts of a column with decimal points instead of decimal commas; `None` if not all texts have such commas, or if
/// they may be something else.
pub fn with_points(texts: &[&str]) -> Option<Vec<String>> {
    let mut has_decimals = false;
    let mut plain = Vec::with_capacity(texts.len());
    for text in texts {
        let changed = points(text);
        let is_open = cell::says_nothing(text) || text.bytes().all(|byte| byte == b'*');
        if !is_open {
            let is_measured = matches!(Cell::read(&changed), Cell::Point(_) | Cell::Range(_));
            // [1,5] has two ends or one number. Beside commas, a point may separate thousands, and so may a comma.
            let is_unclear = text.starts_with(['[', '(', ']']) && text.contains(',') && !text.contains(';');
            if !is_measured || is_unclear || has_point(text) || thousands::without_commas(text).is_some() {
                return None;
            }
            has_decimals |= has_decimal_comma(text);
        }
        plain.push(changed);
    }
    has_decimals.then_some(plain)
}

/// A point for every comma between digits.
fn points(text: &str) -> String {
    let chars: Vec<char> = text.chars().collect();
    let is_digit = |at: Option<usize>| at.and_then(|at| chars.get(at)).is_some_and(char::is_ascii_digit);
    let plain = |(at, &char): (usize, &char)| match char {
        ',' if is_digit(at.checked_sub(1)) && is_digit(Some(at + 1)) => '.',
        other => other,
    };
    chars.iter().enumerate().map(plain).collect()
}

fn has_point(text: &str) -> bool {
    text.as_bytes().windows(3).any(|three| three[1] == b'.' && three[0].is_ascii_digit() && three[2].is_ascii_digit())
}

/// Whether a comma cannot separate thousands: not exactly three digits follow it, or the number begins with 0.
fn has_decimal_comma(text: &str) -> bool {
    let numbers = text.split(|char: char| !char.is_ascii_digit() && char != ',');
    numbers.filter_map(|number| number.split_once(',')).any(|(whole, decimals)| {
        !whole.is_empty() && !decimals.is_empty() && (decimals.len() != 3 || whole.starts_with('0') || whole.len() > 3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_rewritten_where_they_stand() {
        let form = DateForm::parse("%d.%m.%Y").unwrap();
        assert_eq!(DateForm::parse("DD.MM.YYYY"), Some(form.clone()));
        assert_eq!(form.rewrite("31.12.2025"), "2025-12-31");
        assert_eq!(form.rewrite("[1.1.2025, 31.12.2025["), "[2025-01-01, 2025-12-31[");
        assert_eq!(form.rewrite("31.02.2025 *"), "31.02.2025 *");
        assert_eq!(DateForm::parse("%m/%d/%Y").unwrap().rewrite("12/31/2025"), "2025-12-31");
        let times = DateForm::parse("%H:%M").unwrap();
        assert_eq!((times.rewrite("08:30-17:00").as_str(), times.unit()), ("510-1020", Some("minutes")));
        assert_eq!(times.rewrite("25:00"), "25:00");
        for wrong in ["", "%d.%m", "%d.%m.%Y %Y", "%q", "days", "%H"] {
            assert_eq!(DateForm::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_comma_stands_before_decimals_where_the_whole_column_says_so() {
        let plain = |texts: &[&str]| with_points(texts).map(|texts| texts.join(" "));
        assert_eq!(plain(&["1,5", "2", "*", "", "3,25-4,0"]).as_deref(), Some("1.5 2 *  3.25-4.0"));
        assert_eq!(plain(&["[1,5; 2,5["]).as_deref(), Some("[1.5; 2.5["));
        for unclear in [&["1,000", "2"][..], &["[1,5]", "2,5"], &["1.5", "2,5"], &["1,5", "red"], &["1", "2"]] {
            assert_eq!(plain(unclear), None, "{unclear:?}");
        }
    }
}
