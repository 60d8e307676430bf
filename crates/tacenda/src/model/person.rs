//! Which of a person's rows counts, if a table has several: hospital stays, visits, payments.

use crate::model::DatePattern;
use serde::{Deserialize, Serialize};

/// The policy's rules for people with several rows.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct PersonRows {
    /// How several rows are merged.
    pub rule: RowRule,
    /// What orders them, if that matters.
    pub order: Option<PersonOrder>,
    /// With [`RowRule::Combine`]: the rule of each quasi attribute. Attributes beyond the list must be alike.
    pub quasi: Vec<CombineRule>,
    /// The same for each public column.
    pub public: Vec<CombineRule>,
}

/// How several rows of one person are merged.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum RowRule {
    /// They are an error.
    #[default]
    One,
    /// The first one counts.
    First,
    /// The latest one counts.
    Latest,
    /// They become one row, whose sensitive value is the set of all of theirs.
    Combine,
}

/// Which of a person's values is kept when rows are combined.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum CombineRule {
    /// They must all be the same.
    #[default]
    Alike,
    /// That of the first row.
    First,
    /// That of the latest row.
    Latest,
    /// The least number or date.
    Least,
    /// The greatest number or date.
    Most,
}

/// The column that says which of two rows is the later one.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct PersonOrder {
    /// Its name.
    pub column: String,
    /// How it is read.
    pub kind: OrderKind,
}

/// How the column that orders rows is read.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum OrderKind {
    /// It is this quasi attribute.
    Quasi(usize),
    /// Dates, with a time behind or without.
    Date(Option<DatePattern>),
    /// Whole numbers.
    Integer,
}

impl RowRule {
    /// Their words in the policy file.
    pub const WORDS: [(&str, RowRule); 4] =
        [("one", RowRule::One), ("first", RowRule::First), ("latest", RowRule::Latest), ("combine", RowRule::Combine)];

    /// Its word.
    pub fn word(self) -> &'static str {
        RowRule::WORDS.iter().find(|(_, rule)| *rule == self).expect("every rule has a word").0
    }
}

impl CombineRule {
    /// Their words in the policy file.
    pub const WORDS: [(&str, CombineRule); 4] = [
        ("first", CombineRule::First),
        ("latest", CombineRule::Latest),
        ("least", CombineRule::Least),
        ("most", CombineRule::Most),
    ];
}

impl PersonRows {
    /// The mark between the parts of a combined value.
    pub const MARK: &str = "+";

    /// The column that is read for its order alone.
    pub fn order_column(&self) -> Option<&str> {
        self.order.as_ref().filter(|order| !matches!(order.kind, OrderKind::Quasi(_))).map(|order| &*order.column)
    }
}

impl PersonOrder {
    /// A number that grows with the cell's date or number; `None` for a cell that is none.
    pub fn rank(&self, cell: &str) -> Option<i64> {
        match &self.kind {
            OrderKind::Quasi(_) => None,
            OrderKind::Integer => cell.trim().parse().ok(),
            OrderKind::Date(pattern) => {
                let usual = || DatePattern::read("YYYY-MM-DD…").expect("a pattern");
                let day = pattern.clone().unwrap_or_else(usual).day(cell)?;
                Some(day * 86_400 + time(cell))
            }
        }
    }
}

/// The seconds of a time after a date: `10:30` or `10:30:15`; 0 if there is no time.
fn time(cell: &str) -> i64 {
    let last = cell.rsplit(['T', ' ']).next().filter(|last| last.contains(':')).unwrap_or_default();
    let number =
        |part: &str| part.bytes().take_while(u8::is_ascii_digit).fold(0, |n, digit| n * 10 + i64::from(digit - b'0'));
    last.split(':').take(3).zip([3600, 60, 1]).map(|(part, unit)| number(part) * unit).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_cells_have_greater_ranks() {
        let order = |kind| PersonOrder { column: "in".into(), kind };
        let dates = order(OrderKind::Date(None));
        let ranks: Vec<Option<i64>> =
            ["2025-12-30", "2025-12-31", "2025-12-31T10:30:00", "2025-12-31 10:31", "2026-01-01"]
                .map(|cell| dates.rank(cell))
                .into();
        assert!(ranks.is_sorted_by(|a, b| a < b) && ranks[0].is_some(), "{ranks:?}");
        assert_eq!((dates.rank(""), dates.rank("31.12.2025")), (None, None));
        let german = order(OrderKind::Date(DatePattern::read("DD.MM.YYYY…")));
        assert!(
            german.rank("31.12.2025 08:00") < german.rank("31.12.2025 09:00") && german.rank("31.12.2025").is_some()
        );
        let numbers = order(OrderKind::Integer);
        assert!(numbers.rank("-3") < numbers.rank("12") && numbers.rank("3rd").is_none());
    }
}
