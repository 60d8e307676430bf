//! What becomes of the people of one part: compared with those of the vault.

use crate::grouping::buckets::crowd::Rates;
use crate::model::{Change, History, Record, Row, Table};
use crate::promise::Stayed;
use crate::publish::on_disk::Counted;
use serde::{Deserialize, Serialize};

/// What becomes of a person.
pub(super) enum Fate<'a> {
    /// They are in the last release. Their row is missing if they are gone.
    Kept(&'a Record, Option<Row>),
    /// They were published, and are out for good.
    Out(Row),
    /// They were never published.
    New(Row),
}

/// Tells what becomes of everyone in a part, in the order of keys. `before` has the records of the part, and `last` its rows
/// of the last snapshot.
pub(super) fn compare_part<E>(
    before: &History,
    last: Option<&Table>,
    table: &Table,
    mut tell: impl FnMut(Fate<'_>) -> Result<(), E>,
) -> Result<Counted, E> {
    let change = Change::between(before, last, table);
    let mut counted = Counted { change, here: table.len(), ..Counted::default() };
    let mut records = before.records.iter().peekable();
    for here in table.rows() {
        let key = table.key(here);
        while let Some(gone) = records.next_if(|record| record.key < key) {
            if before.is_current(gone) {
                counted.missing += 1;
                tell(Fate::Kept(gone, None))?;
            }
        }
        match records.next_if(|record| record.key == key) {
            Some(record) if before.is_current(record) => tell(Fate::Kept(record, Some(here)))?,
            Some(record) if record.is_published() => {
                counted.out += 1;
                tell(Fate::Out(here))?;
            }
            known => {
                counted.newcomers += 1;
                counted.is_anybody_new |= known.is_none();
                let value = table.sensitive()[here.index()].index();
                counted.values.resize(counted.values.len().max(value + 1), 0);
                counted.values[value] += 1;
                tell(Fate::New(here))?;
            }
        }
    }
    for gone in records.filter(|gone| before.is_current(gone)) {
        counted.missing += 1;
        tell(Fate::Kept(gone, None))?;
    }
    Ok(counted)
}

/// What was counted of people who get a bucket first.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub(super) struct Crowded {
    pub counted: Counted,
    pub rates: Rates,
    /// Who of the last snapshot is still there; `None` before the first release.
    pub stayed: Option<Stayed>,
}

/// Counts how the people of a part came and went. `before` has the records of the part, and `last` its rows of the last
/// snapshot.
pub(super) fn count_part(before: &History, last: Option<&Table>, table: &Table) -> Crowded {
    let mut counted = Counted { change: Change::between(before, last, table), here: table.len(), ..Counted::default() };
    for value in table.sensitive() {
        counted.values.resize(counted.values.len().max(value.index() + 1), 0);
        counted.values[value.index()] += 1;
    }
    let mut rates = Rates::default();
    rates.add(before, table);
    Crowded { counted, rates, stayed: last.map(|last| Stayed::between(last, table)) }
}

impl Crowded {
    /// These, and those of other people.
    pub fn and(self, other: Crowded) -> Crowded {
        let stayed = match (self.stayed, other.stayed) {
            (Some(mine), Some(theirs)) => Some(mine.and(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        Crowded { counted: self.counted.and(other.counted), rates: self.rates.and(other.rates), stayed }
    }
}

impl Counted {
    /// These, and those of other people.
    pub fn and(self, other: Counted) -> Counted {
        let (mut values, len) = (self.values, other.values.len());
        values.resize(values.len().max(len), 0);
        values.iter_mut().zip(other.values).for_each(|(mine, theirs)| *mine += theirs);
        Counted {
            values,
            change: self.change.and(other.change),
            newcomers: self.newcomers + other.newcomers,
            missing: self.missing + other.missing,
            out: self.out + other.out,
            here: self.here + other.here,
            is_anybody_new: self.is_anybody_new || other.is_anybody_new,
        }
    }
}
