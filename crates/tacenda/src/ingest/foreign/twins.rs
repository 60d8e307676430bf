//! Texts that differ but mean the same: `25` and `25.0`, `flu` and `flu `.
//!
//! As exact texts they would be two values. Then two groups would seem to have nothing in common, and one value would
//! count twice.

use crate::ingest::foreign::bound;
use rustc_hash::FxHashMap;

/// The places of texts that occur in another form as well.
pub fn of(texts: &[&str]) -> Vec<usize> {
    // Most columns have neither blanks nor points, so nothing can be written in two ways there.
    let is_odd = |text: &&str| text.trim() != *text || text.contains(['.', 'e', 'E', '+', '-', '−']);
    if !texts.iter().any(is_odd) {
        return Vec::new();
    }
    let mut first: FxHashMap<String, usize> = FxHashMap::default();
    let mut twins = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let other = *first.entry(plain(text)).or_insert(at);
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
        assert_eq!(of(&["2020-01-01", "2020-01-01 00:00:00", "", "a"]), [0; 0]);
    }
}
