//! The date in a file's name.

/// The date a name holds, as year, month, day: `2026-11-15`, `20261115`, `2026-11`, `2026-Q3`, `2026`. A part that
/// is not named is 0. `None` where there is no date, or where there are two.
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

/// A date at the start of a text, and how long it is written.
fn date_at(text: &str) -> Option<((u16, u8, u8), usize)> {
    let digits = |from: usize, length: usize| -> Option<u16> {
        let part = text.get(from..from + length)?;
        part.bytes().all(|byte| byte.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let ends = |at: usize| !text.as_bytes().get(at).is_some_and(u8::is_ascii_digit);
    let year = digits(0, 4).filter(|year| (1900..2200).contains(year))?;
    let month = |at: usize| digits(at, 2).filter(|month| (1..=12).contains(month)).map(|month| month as u8);
    let day = |at: usize| digits(at, 2).filter(|day| (1..=31).contains(day)).map(|day| day as u8);
    let mark = |at: usize| matches!(text.as_bytes().get(at), Some(b'-' | b'_' | b'.'));
    if let (true, Some(month)) = (mark(4), month(5)) {
        if let (true, Some(day), true) = (mark(7), day(8), ends(10)) {
            return Some(((year, month, day), 10));
        }
        if ends(7) {
            return Some(((year, month, 0), 7));
        }
    }
    if let (Some(month), Some(day), true) = (month(4), day(6), ends(8)) {
        return Some(((year, month, day), 8));
    }
    let quarter_at = if mark(4) { 5 } else { 4 };
    if let (Some(b'Q' | b'q'), Some(quarter @ 1..=4), true) =
        (text.as_bytes().get(quarter_at), digits(quarter_at + 1, 1), ends(quarter_at + 2))
    {
        return Some(((year, quarter as u8 * 3 - 2, 0), quarter_at + 2));
    }
    ends(4).then_some(((year, 0, 0), 4))
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
        assert_eq!((date_in("ward 12"), date_in("2024 to 2025"), date_in("120261115")), (None, None, None));
    }
}
