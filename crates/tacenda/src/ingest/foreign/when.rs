//! The date in a file's name.

use crate::ingest::encode::quick_date;

/// The date a name holds, as year, month, day: `2026-11-15`, `2026-11-5`, `20261115`, `2026-11`, `2026-Q3`, `2026-H2`,
/// `2026`. A part that is not named is 0. `None` if there is no date, if there are two, or if a week is named.
pub fn date_in(name: &str) -> Option<(u16, u8, u8)> {
    let mut found = None;
    let bytes = name.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let starts = at == 0 || !bytes[at - 1].is_ascii_digit();
        match date_at(&name[at..]).filter(|_| starts && bytes[at].is_ascii_digit()) {
            Some((date, length)) => {
                if found.replace(date).is_some_and(|other| other != date) {
                    return None;
                }
                at += length;
            }
            None => at += name[at..].chars().next().map_or(1, char::len_utf8),
        }
    }
    found
}

/// The date, if the text is a date and nothing else.
pub fn date(text: &str) -> Option<(u16, u8, u8)> {
    date_at(text).filter(|&(_, length)| length == text.len()).map(|(date, _)| date)
}

/// A date at the start of a text, and its length.
fn date_at(text: &str) -> Option<((u16, u8, u8), usize)> {
    let bytes = text.as_bytes();
    let count = |from: usize| bytes.iter().skip(from).take_while(|byte| byte.is_ascii_digit()).count();
    let number = |from: usize, length: usize| -> Option<u16> { text.get(from..from + length)?.parse().ok() };
    let mark = |at: usize| matches!(bytes.get(at), Some(b'-' | b'_' | b'.'));
    if count(0) == 8 {
        let (year, month, day) = (number(0, 4)?, number(4, 2)?, number(6, 2)?);
        return checked(year, month, day).map(|date| (date, 8));
    }
    if count(0) != 4 {
        return None;
    }
    let year = number(0, 4)?;
    let after = if mark(4) { 5 } else { 4 };
    let part =
        |at: usize| (1..=2).contains(&count(at)).then(|| Some((number(at, count(at))?, at + count(at)))).flatten();
    let month = part(5).filter(|_| mark(4));
    let day = month.and_then(|(_, end)| part(end + 1).filter(|_| mark(end)));
    match (month, day) {
        (Some((month, _)), Some((day, end))) => return checked(year, month, day).map(|date| (date, end)),
        (Some((month, end)), None) => return checked(year, month, 1).map(|(year, month, _)| ((year, month, 0), end)),
        _ => {}
    }
    let parts = |most: u16| number(after + 1, 1).filter(|&part| count(after + 1) == 1 && (1..=most).contains(&part));
    let month = match bytes.get(after) {
        Some(b'Q' | b'q') if count(after + 1) > 0 => parts(4)? * 3 - 2,
        Some(b'H' | b'h') if count(after + 1) > 0 => parts(2)? * 6 - 5,
        // Weeks are not supported.
        Some(b'W' | b'w') if count(after + 1) > 0 => return None,
        _ => return checked(year, 1, 1).map(|(year, _, _)| ((year, 0, 0), 4)),
    };
    checked(year, month, 1).map(|(year, month, _)| ((year, month, 0), after + 2))
}

/// A valid day of a plausible year.
fn checked(year: u16, month: u16, day: u16) -> Option<(u16, u8, u8)> {
    quick_date(format!("{year:04}-{month:02}-{day:02}").as_bytes()).filter(|_| (1900..2200).contains(&year))?;
    Some((year, month as u8, day as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_found_in_names() {
        assert_eq!(date_in("ward-2026-11-15.csv"), Some((2026, 11, 15)));
        assert_eq!(date_in("20261115_ward.csv"), Some((2026, 11, 15)));
        assert_eq!(date_in("ward_2026Q3.csv.gz"), Some((2026, 7, 0)));
        assert_eq!(date_in("ward-2026-q1"), Some((2026, 1, 0)));
        assert_eq!(date_in("2025-06 wards"), Some((2025, 6, 0)));
        assert_eq!(date_in("wards of 1999"), Some((1999, 0, 0)));
        assert_eq!((date_in("w-2026-10-5.csv"), date_in("w-2026-H2.csv")), (Some((2026, 10, 5)), Some((2026, 7, 0))));
        assert_eq!((date_in("w-2026-W05.csv"), date_in("w-2026-02-30.csv"), date_in("2026-Q7")), (None, None, None));
        assert_eq!((date_in("2026-wards"), date_in("2026-10-001")), (Some((2026, 0, 0)), Some((2026, 10, 0))));
        assert_eq!((date("2026-9-1"), date("2026-09"), date("2026 ")), (Some((2026, 9, 1)), Some((2026, 9, 0)), None));
        assert_eq!((date("foo"), date("05/02/2026"), date("2026-02-30")), (None, None, None));
        assert_eq!((date_in("ward 12"), date_in("2024 to 2025"), date_in("120261115")), (None, None, None));
    }
}
