//! Texts that differ but mean the same: `25` and `25.0`, `flu` and `flu `.
//!
//! As exact texts they would be two values. Then two groups would seem to have nothing in common, and one value would
//! count twice.

use crate::ingest::foreign::bound;
use crate::model::plain_spelling;
use rustc_hash::FxHashMap;

/// The places of texts that occur in another form as well.
pub fn of(texts: &[&str]) -> Vec<usize> {
    // Most columns have neither blanks nor points, so nothing can be written in two ways there.
    let is_odd = |text: &&str| text.trim() != *text || text.contains(['.', 'e', 'E', '+', '-', '−']);
    if !texts.iter().any(is_odd) {
        return Vec::new();
    }
    repeated(texts, plain)
}

/// The same for sensitive values, where capital letters, points at the end, letters that look the same and the encoding of
/// accents make no other value either. Counted as two, they would make a group look diverse.
pub fn of_values(texts: &[&str]) -> Vec<usize> {
    repeated(texts, |text| plain(&plain_spelling(text)))
}

/// The places of texts whose normal form an earlier, different text has as well.
fn repeated(texts: &[&str], normal: impl Fn(&str) -> String) -> Vec<usize> {
    let mut first: FxHashMap<String, usize> = FxHashMap::default();
    let mut twins = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let other = *first.entry(normal(text)).or_insert(at);
        if texts[other] != *text {
            twins.push(at);
        }
    }
    twins
}

/// The normal form of a text: a number by its value, any other text trimmed.
fn plain(text: &str) -> String {
    let text = text.trim();
    bound::read(text).filter(|bound| !bound.is_day()).map_or_else(|| text.to_string(), |bound| format!("{bound:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_value_in_two_forms_is_found() {
        assert_eq!(of(&["25", "flu", "25.0", "flu ", "flu", "Flu", "025", "1e2", "100"]), [2, 3, 8]);
        assert_eq!(of_values(&["flu", "gout", "Flu", " FLU", "caf\u{e9}", "cafe\u{301}", "1", "1.0"]), [2, 3, 5, 7]);
        assert_eq!(
            of_values(&["HIV", "\u{41d}IV", "H\u{406}V", "hiv.", "H\u{fe0f}IV", "\u{202e}HIV", "\"HIV\""]),
            [1, 2, 3, 4, 5, 6]
        );
        assert_eq!(of_values(&["A+", "A-", "A?", "A", "5 \u{3bc}g", "5 mg", "-5", "5", ".", "", "1.5", "15"]), [0; 0]);
        assert_eq!(of(&["2020-01-01", "2020-01-01 00:00:00", "", "a"]), [0; 0]);
    }
}
