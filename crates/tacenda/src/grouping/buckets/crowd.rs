//! What placing people into value sets needs to know of them: keys, values, and what the history says.
//!
//! No quasi code is among it. So people whose rows are on disk are placed by the same functions as people in memory, with a
//! few bytes for each.

use crate::model::{History, RecordKey, Row, Table, Value, ValueSetId};
use serde::{Deserialize, Serialize};

/// What the history says of somebody.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Known {
    /// The release at whose snapshot they were first seen; this one for arrivals.
    first_seen: u32,
    /// Their latest value set, or [`NEVER`].
    set: ValueSetId,
}

impl Known {
    /// Whether they are back where nobody may come back.
    pub fn is_back(self) -> bool {
        self.set == BACK
    }

    /// As numbers, to be sent to another machine.
    pub fn numbers(self) -> [u32; 2] {
        [self.first_seen, self.set.0]
    }

    /// What these numbers say.
    pub fn of_numbers([first_seen, set]: [u32; 2]) -> Known {
        Known { first_seen, set: ValueSetId(set) }
    }
}

/// Marks somebody who was never published.
const NEVER: ValueSetId = ValueSetId(u32::MAX);

/// Marks somebody who was published, but not in the last release, where nobody may come back.
const BACK: ValueSetId = ValueSetId(u32::MAX - 1);

/// How people with each value came and went since the last release. Counts only, so those of parts add up.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct Rates {
    /// Per value, how many people of the last release had it.
    pub was: Vec<u64>,
    /// Per value, how many of them are here and still have it.
    pub stayed: Vec<u64>,
    /// How many people of the last release are here with another value.
    pub changed: usize,
}

impl Rates {
    /// Counts the people of a table, or of a part of it. `history` has the records of that part.
    pub fn add(&mut self, history: &History, table: &Table) {
        for record in history.records.iter().filter(|record| history.is_current(record)) {
            count(&mut self.was, record.value);
        }
        for (&value, record) in table.sensitive().iter().zip(history.align(table)) {
            match record.filter(|record| history.is_current(record)) {
                Some(record) if record.value == value => count(&mut self.stayed, value),
                Some(_) => self.changed += 1,
                None => {}
            }
        }
    }

    /// These people, and those of other parts.
    #[must_use]
    pub fn and(self, other: Rates) -> Rates {
        let sum = |mut mine: Vec<u64>, theirs: Vec<u64>| {
            mine.resize(mine.len().max(theirs.len()), 0);
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
            mine
        };
        Rates {
            was: sum(self.was, other.was),
            stayed: sum(self.stayed, other.stayed),
            changed: self.changed + other.changed,
        }
    }
}

fn count(counts: &mut Vec<u64>, value: Value) {
    counts.resize(counts.len().max(value.index() + 1), 0);
    counts[value.index()] += 1;
}

/// People who are to be placed, in the order of their keys.
pub struct Crowd<'a> {
    /// What is known of the past. Its records are not looked at.
    pub history: &'a History,
    /// Their keys, ascending.
    pub keys: &'a [RecordKey],
    /// Their sensitive values.
    pub values: &'a [Value],
    /// How many sensitive values the series has.
    pub value_count: usize,
    /// What the history says of each; empty before the first release.
    pub known: Vec<Known>,
    /// How people came and went.
    pub rates: Rates,
}

impl<'a> Crowd<'a> {
    /// The people of a table in memory.
    pub fn of(history: &'a History, table: &'a Table) -> Crowd<'a> {
        let mut rates = Rates::default();
        rates.add(history, table);
        let known = if history.releases == 0 { Vec::new() } else { known(history, table, false).collect() };
        let (keys, values) = (table.keys(), table.sensitive());
        Crowd { history, keys, values, value_count: table.values.len(), known, rates }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// All rows.
    pub fn rows(&self) -> impl Iterator<Item = Row> + use<> {
        (0..self.keys.len() as u32).map(Row)
    }

    /// The value of a row.
    pub fn value(&self, row: u32) -> Value {
        self.values[row as usize]
    }

    /// The latest value set of a row; `None` for somebody who was never published.
    pub fn set(&self, row: u32) -> Option<ValueSetId> {
        self.known.get(row as usize).map(|known| known.set).filter(|&set| set != NEVER)
    }

    /// The release at whose snapshot a row was first seen.
    pub fn first_seen(&self, row: u32) -> u32 {
        self.known.get(row as usize).map_or(self.history.releases + 1, |known| known.first_seen)
    }
}

/// What the history says of everyone in a table, whose records it has. Where people are only added (`only_adds`), somebody who
/// is back is marked.
pub fn known<'a>(history: &'a History, table: &'a Table, only_adds: bool) -> impl Iterator<Item = Known> + 'a {
    let now = history.releases + 1;
    history.align(table).map(move |record| match record {
        Some(record) if only_adds && record.is_published() && !history.is_current(record) => {
            Known { first_seen: record.first_seen, set: BACK }
        }
        Some(record) if record.is_published() => Known { first_seen: record.first_seen, set: record.value_set },
        Some(record) => Known { first_seen: record.first_seen, set: NEVER },
        None => Known { first_seen: now, set: NEVER },
    })
}
