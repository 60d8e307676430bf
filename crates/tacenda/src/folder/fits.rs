//! Which cells of a sensitive or public column fit a condition, as far as the release shows.
//!
//! A label may stand for several values, and nobody is told which. Where people have several rows, a cell lists the values of
//! all of them, and a condition holds for a person if it holds for one of these values; `!=` if none of them is meant.

use crate::folder::{Comparison, Condition};
use crate::model::PersonRows;
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// Whether the people of rows with a text fit a condition.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Fit {
    /// They fit, whatever table is behind the release.
    pub sure: bool,
    /// They are taken to fit.
    pub likely: bool,
    /// They may fit.
    pub possible: bool,
}

impl Fit {
    /// Everybody fits.
    pub const ALL: Fit = Fit { sure: true, likely: true, possible: true };

    fn certain(fits: bool) -> Fit {
        Fit { sure: fits, likely: fits, possible: fits }
    }

    /// Both must fit.
    pub fn and(self, other: Fit) -> Fit {
        Fit {
            sure: self.sure && other.sure,
            likely: self.likely && other.likely,
            possible: self.possible && other.possible,
        }
    }

    fn or(self, other: Fit) -> Fit {
        Fit {
            sure: self.sure || other.sure,
            likely: self.likely || other.likely,
            possible: self.possible || other.possible,
        }
    }

    fn not(self) -> Fit {
        Fit { sure: !self.possible, likely: !self.likely, possible: !self.sure }
    }
}

/// What is known of the texts of a column.
pub(super) struct Texts<'a> {
    /// Labels that stand for values of other names.
    pub coarse: BTreeSet<&'a str>,
    /// Whether a text lists several values of a person.
    pub combined: bool,
    /// Texts, or parts of them, that somebody certainly has.
    pub held: BTreeSet<&'a str>,
}

impl Texts<'_> {
    /// A column whose texts are what the table says.
    pub fn plain() -> Texts<'static> {
        Texts { coarse: BTreeSet::new(), combined: false, held: BTreeSet::new() }
    }

    /// Whether the people of rows with this text fit.
    pub fn fit(&self, text: &str, condition: &Condition) -> Fit {
        let one_of = |comparison: Comparison| {
            let condition = Condition { comparison, ..condition.clone() };
            let parts = parts(text, self.combined).map(|part| self.part(part, &condition));
            let whole = comparison == Comparison::Equal && fits_text(text, &condition);
            parts.fold(Fit::certain(whole), Fit::or)
        };
        match condition.comparison {
            Comparison::NotEqual => one_of(Comparison::Equal).not(),
            comparison => one_of(comparison),
        }
    }

    fn part(&self, part: &str, condition: &Condition) -> Fit {
        if !self.coarse.contains(part) {
            return Fit::certain(fits_text(part, condition));
        }
        let is_equal = condition.comparison == Comparison::Equal;
        if is_equal && condition.values.iter().any(|value| value.text == part) {
            return Fit::ALL;
        }
        // Who is published with a value of its own is not published with a label; an empty cell has no label.
        let is_elsewhere = |text: &str| text.is_empty() || self.held.contains(text) && !self.coarse.contains(text);
        let possible = !is_equal || !condition.values.iter().all(|value| is_elsewhere(&value.text));
        Fit { sure: false, likely: false, possible }
    }
}

/// The values that a cell lists.
pub(super) fn parts(text: &str, combined: bool) -> impl Iterator<Item = &str> {
    let several = combined.then(|| text.split(PersonRows::MARK));
    let one = (!combined).then_some(text);
    several.into_iter().flatten().chain(one)
}

fn fits_text(text: &str, condition: &Condition) -> bool {
    let one = |wanted: &dyn Fn(Ordering) -> bool| {
        // A missing value is neither less nor more than anything.
        condition
            .values
            .iter()
            .any(|value| (text.is_empty() == value.text.is_empty()) && wanted(compare(text, &value.text)))
    };
    match condition.comparison {
        Comparison::Equal => one(&Ordering::is_eq),
        Comparison::NotEqual => !one(&Ordering::is_eq),
        Comparison::Less => one(&Ordering::is_lt),
        Comparison::AtMost => one(&Ordering::is_le),
        Comparison::More => one(&Ordering::is_gt),
        Comparison::AtLeast => one(&Ordering::is_ge),
    }
}

/// As numbers where both are, otherwise as text.
pub(super) fn compare(a: &str, b: &str) -> Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.partial_cmp(&b).unwrap_or_else(|| a.total_cmp(&b)),
        _ => a.cmp(b),
    }
}
