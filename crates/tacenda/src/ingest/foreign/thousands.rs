//! Commas between thousands: `1,000,000`.
//!
//! A single text cannot show whether its comma separates thousands or decimals. So commas are read this way only if
//! every number of the column is written alike ([`super::settle`]).

/// The text without its thousands separators; `None` if it has none, or has a comma between digits that is something
/// else.
pub fn without_commas(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let digits = |from: usize| (from..).take_while(|&at| is_digit(at)).count();
    let (mut plain, mut kept, mut at) = (String::new(), 0, 0);
    while at < bytes.len() {
        if !is_digit(at) {
            at += 1;
            continue;
        }
        let start = at;
        at += digits(at);
        let can_group = at - start <= 3 && bytes[start] != b'0' && !follows_point(&bytes[..start]);
        while bytes.get(at) == Some(&b',') && is_digit(at + 1) {
            if !can_group || digits(at + 1) != 3 {
                return None;
            }
            plain.push_str(&text[kept..at]);
            kept = at + 1;
            at += 4;
        }
    }
    (kept > 0).then(|| plain + &text[kept..])
}

/// Whether the text has a number of a thousand or more without such commas.
pub fn has_bare(text: &str) -> bool {
    let mut before: &[u8] = &[];
    text.as_bytes().chunk_by(|a, b| a.is_ascii_digit() == b.is_ascii_digit()).any(|run| {
        let is_whole = !follows_point(std::mem::replace(&mut before, run));
        run[0].is_ascii_digit() && run.len() > 3 && is_whole
    })
}

/// What the points in a text may mean.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Points {
    /// A number has three digits after each of its points, and one to three before: `1.000`.
    pub grouped: bool,
    /// A number has a decimal point that cannot separate thousands: `0.5`, `1.25`.
    pub decimals: bool,
    /// A number has no point.
    pub whole: bool,
}

/// Looks at all numbers of a text.
pub fn points(text: &str) -> Points {
    let mut points = Points::default();
    // Two points separate the ends of a range.
    for number in text.split("..").flat_map(|part| part.split(|char: char| !char.is_ascii_digit() && char != '.')) {
        let number = number.trim_matches('.');
        let parts: Vec<&str> = number.split('.').collect();
        match parts[..] {
            [""] => (),
            [_] => points.whole = true,
            [first, ref rest @ ..] => {
                let is_grouped = first.len() <= 3 && !first.starts_with('0') && rest.iter().all(|part| part.len() == 3);
                points.grouped |= is_grouped;
                points.decimals |= !is_grouped;
            }
            [] => unreachable!("a split has a part"),
        }
    }
    points
}

/// Whether decimals follow here. Two points separate the ends of a range.
fn follows_point(before: &[u8]) -> bool {
    before.ends_with(b".") && !before.ends_with(b"..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_commas_between_thousands_are_taken_out() {
        let plain = |text: &str| without_commas(text).unwrap_or_default();
        assert_eq!(plain("1,000-2,000"), "1000-2000");
        assert_eq!(plain("[1,000, 2,500.75)"), "[1000, 2500.75)");
        assert_eq!(plain(">= 1,234,567"), ">= 1234567");
        assert_eq!(plain("1,000..2,000.50"), "1000..2000.50");
        for other in
            ["1000", "1,5", "1,0000", "1,000,5", "1234,567", "0,500", "0.5,100", "a,b", "1, 000", "[1,000,2,000)", ""]
        {
            assert_eq!(plain(other), "", "{other}");
        }
    }

    #[test]
    fn points_between_thousands_are_told_from_decimals_where_they_can_be() {
        let kinds = |text: &str| {
            let Points { grouped, decimals, whole } = points(text);
            (grouped, decimals, whole)
        };
        assert_eq!(kinds("1.000-1.999"), (true, false, false));
        assert_eq!(kinds("500-1.000.000"), (true, false, true));
        assert_eq!(kinds("[0.125, 30)"), (false, true, true));
        assert_eq!(kinds("1000..1.250"), (true, false, true));
        assert_eq!(kinds("(19.999, 30.0]"), (true, true, false));
        assert_eq!(kinds("*"), (false, false, false));
    }

    #[test]
    fn bare_thousands_are_seen_and_decimals_are_not() {
        assert!(has_bare("1,000-2000") && has_bare("1,000..2000") && has_bare("2026-01-01"));
        assert!(!has_bare("1,000-2,000") && !has_bare("999") && !has_bare("0.12345") && !has_bare(""));
    }
}
