//! What happened between two snapshots, as numbers.

use crate::model::{History, Row, Table};
use serde::{Deserialize, Serialize};

/// Arrivals, departures and changes since the last snapshot. Counts only; for the steward.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub struct Change {
    /// People never seen before.
    pub arrived: u32,
    /// People who were in an earlier snapshot, not in the last one, and are back.
    pub returned: u32,
    /// People of the last snapshot who are gone.
    pub left: u32,
    /// People who stayed and have other quasi values now.
    pub quasi_changed: u32,
    /// People who stayed and have another sensitive value now.
    pub sensitive_changed: u32,
    /// People who stayed exactly as they were.
    pub unchanged: u32,
}

impl Change {
    /// Compares `table` with the last snapshot (`None` before the first release).
    pub fn between(history: &History, last: Option<&Table>, table: &Table) -> Change {
        let nobody = Table::default();
        let last = last.unwrap_or(&nobody);
        let mut change = Change::default();
        let mut old = last.rows().peekable();
        for row in table.rows() {
            let key = table.key(row);
            while old.next_if(|&row| last.key(row) < key).is_some() {
                change.left += 1;
            }
            match old.next_if(|&row| last.key(row) == key) {
                Some(old_row) => change.count_survivor(last, old_row, table, row),
                None if history.record(key).is_some() => change.returned += 1,
                None => change.arrived += 1,
            }
        }
        change.left += old.count() as u32;
        change
    }

    /// These changes, and those of other people.
    #[must_use]
    pub fn and(self, other: Change) -> Change {
        Change {
            arrived: self.arrived + other.arrived,
            returned: self.returned + other.returned,
            left: self.left + other.left,
            quasi_changed: self.quasi_changed + other.quasi_changed,
            sensitive_changed: self.sensitive_changed + other.sensitive_changed,
            unchanged: self.unchanged + other.unchanged,
        }
    }

    fn count_survivor(&mut self, last: &Table, old_row: Row, table: &Table, row: Row) {
        let quasi = !table.same_quasi(row, last, old_row);
        let sensitive = table.sensitive()[row.index()] != last.sensitive()[old_row.index()];
        self.quasi_changed += u32::from(quasi);
        self.sensitive_changed += u32::from(sensitive);
        self.unchanged += u32::from(!quasi && !sensitive);
    }
}
