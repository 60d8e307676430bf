//! Forgets people: those who asked for it, and those who left long ago (science A3.14).
//!
//! The state of the last release is written anew without them, and one ledger line says how many. What is kept of them is the
//! keyed hash of their identifier, so that later tables are read without them: somebody who left and never returns needs no
//! value set for the promise to hold. A value stays only as one of a set that others have.

use crate::ledger::Forgotten;
use crate::model::{History, Record, RecordKey, Table, Value, people};
use crate::publish::{Project, ProjectError};
use schemars::JsonSchema;
use serde::Serialize;

/// What was forgotten.
#[derive(Clone, Debug, Default, Eq, JsonSchema, PartialEq, Serialize)]
pub struct Erased {
    /// How many people were forgotten.
    pub people: u64,
    /// How many of them were in the last table.
    pub rows: u64,
    /// How many had been forgotten before.
    pub already: u64,
    /// How many identifiers this series does not know. Nobody was forgotten for these.
    pub unknown: u64,
    /// Which these are, by their place among those that were given, from 1.
    pub unknown_at: Vec<u64>,
    /// How many of their values stay among those that are published, because value sets of other people hold them.
    pub values_stay: u64,
    /// How many texts of values left the vault.
    pub texts: u64,
}

impl Project {
    /// Forgets the people with these identifiers. Nothing is written if none of them is known.
    pub fn erase(&mut self, identifiers: &[String]) -> Result<Erased, ProjectError> {
        let secret = self.seed().key("identifier");
        let key = |identifier: &str| RecordKey::of(&secret, identifier.as_bytes());
        let history = self.kept_history()?;
        let is_known = |key: RecordKey| history.record(key).is_some() || history.is_erased(key);
        let mut erased = Erased::default();
        let mut keys = Vec::new();
        for (place, identifier) in (1..).zip(identifiers) {
            // Blanks at the ends are the terminal's, unless the table has them too.
            let found = [key(identifier), key(identifier.trim())].into_iter().find(|&key| is_known(key));
            match found {
                None => {
                    erased.unknown += 1;
                    erased.unknown_at.push(place);
                }
                Some(key) if history.is_erased(key) => erased.already += 1,
                Some(key) => keys.push(key),
            }
        }
        keys.sort_unstable();
        keys.dedup();
        if erased.already > 0 {
            // Power may have been lost before the tables of plans were removed.
            self.store_mut().forget_plans()?;
        }
        self.forget(history, &keys, &[], None, erased)
    }

    /// Forgets people who have not been published for so many releases, and are not in the last table. Those who were never
    /// published may come again like anybody.
    pub fn retain(&mut self, releases: u32) -> Result<Erased, ProjectError> {
        let history = self.kept_history()?;
        let table = self.kept_table()?;
        let is_old = |record: &&Record| {
            let last = if record.is_published() { record.last_release } else { record.first_seen };
            last.saturating_add(releases) <= history.releases && table.find(record.key).is_none()
        };
        let old = history.records.iter().filter(is_old).filter(|record| !history.is_erased(record.key));
        let (published, waited): (Vec<&Record>, Vec<&Record>) = old.partition(|record| record.is_published());
        let keys = |records: Vec<&Record>| records.into_iter().map(|record| record.key).collect::<Vec<RecordKey>>();
        let (published, waited) = (keys(published), keys(waited));
        self.forget(history, &published, &waited, Some(releases), Erased::default())
    }

    /// Forgets those who were erased after the older state that a person went on from.
    pub(super) fn erase_again(&mut self) -> Result<(), ProjectError> {
        let keys = self.store_mut().erased_elsewhere()?;
        if keys.is_empty() {
            return Ok(());
        }
        // A line by a key that is not listed would be refused by everyone who checks the series.
        self.assert_signer()?;
        let history = self.kept_history()?;
        self.forget(history, &keys, &[], None, Erased::default()).map(drop)
    }

    /// Everything published so far, with the codes of the day: it is written back as it is.
    fn kept_history(&mut self) -> Result<History, ProjectError> {
        match self.store_mut() {
            store if store.releases() == 0 => Err(ProjectError::NothingPublished),
            store => Ok(store.history()?),
        }
    }

    fn kept_table(&mut self) -> Result<Table, ProjectError> {
        self.store_mut().snapshot()?.ok_or(ProjectError::NothingPublished)
    }

    /// Forgets some people for good, and others so that they may come again.
    fn forget(
        &mut self,
        mut history: History,
        barred: &[RecordKey],
        free: &[RecordKey],
        retain: Option<u32>,
        mut erased: Erased,
    ) -> Result<Erased, ProjectError> {
        erased.people = (barred.len() + free.len()) as u64;
        if erased.people == 0 {
            return Ok(erased);
        }
        let keeps_sets = self.policy().first_promise().terms().keeps_value_sets;
        let table = self.kept_table()?;
        let held: Vec<Value> = barred.iter().filter_map(|&key| value_of(&history, &table, key)).collect();
        let (mut table, rows) = table.without(barred);
        history.forget(barred, true);
        history.forget(free, false);
        let needed = needed(&history, &table, keeps_sets);
        erased.rows = rows as u64;
        erased.values_stay = held.iter().filter(|value| needed[value.index()]).count() as u64;
        erased.texts = blank(&mut history, &mut table, &needed);
        let at = self.now();
        self.store_mut().forget(&at, Forgotten { people: erased.people, retain }, &history, &table)?;
        Ok(erased)
    }
}

/// The value of somebody who is in the last table, or was in the last release.
fn value_of(history: &History, table: &Table, key: RecordKey) -> Option<Value> {
    let now = table.find(key).map(|row| table.sensitive()[row.index()]);
    now.or_else(|| history.record(key).filter(|record| history.is_current(record)).map(|record| record.value))
}

/// Removes from a state the people of its table who were erased before, and with `all` texts that nobody needs. Returns the table
/// and how many people that were.
pub(super) fn leave_out(history: &mut History, table: Table, keeps_sets: bool, all: bool) -> (Table, u64) {
    let erased: Vec<RecordKey> = table.keys().iter().copied().filter(|&key| history.is_erased(key)).collect();
    if erased.is_empty() && !all {
        return (table, 0);
    }
    let (mut table, rows) = table.without(&erased);
    history.forget(&erased, true);
    let needed = needed(history, &table, keeps_sets);
    blank(history, &mut table, &needed);
    (table, rows as u64)
}

/// Which values somebody still needs: those who are there have them, or a value set that somebody may return to.
fn needed(history: &History, table: &Table, keeps_sets: bool) -> Vec<bool> {
    let mut needed = vec![false; history.values.len().max(table.values.len())];
    table.sensitive().iter().for_each(|value| needed[value.index()] = true);
    for record in history.records.iter().filter(|record| !history.is_erased(record.key) && record.is_published()) {
        if history.is_current(record) {
            needed[record.value.index()] = true;
        }
        let sets = if keeps_sets { history.sets_of(record) } else { Vec::new() };
        let values = sets.iter().flat_map(|&set| history.value_sets.get(set));
        values.for_each(|value| needed[value.index()] = true);
    }
    needed
}

/// Forgets the texts of values that nobody needs. Returns how many.
fn blank(history: &mut History, table: &mut Table, needed: &[bool]) -> u64 {
    let mut gone = 0;
    for value in (0..needed.len() as u32).map(Value).filter(|value| !needed[value.index()]) {
        let texts = [&mut history.values, &mut table.values].map(|values| values.blank(value));
        gone += u64::from(texts.contains(&true));
    }
    gone
}

impl Erased {
    /// What stays out of reach, one sentence each.
    pub fn stays(&self) -> Vec<String> {
        let mut stays = vec![
            "What is published stays published: the releases that are out hold these people's rows. Ask recipients to delete \
             them, or withdraw the release."
                .to_string(),
            "Somebody with this vault and the releases can compare the rows of a group with the people who are left in it. That \
             may give the value of a person who was erased."
                .into(),
            "Your own files and backups are not touched: earlier backups of the project still hold these people.".into(),
            "Keyed hashes of the identifiers stay, so that these people are left out of later releases.".into(),
        ];
        if self.values_stay > 0 {
            stays.push(format!(
                "The values of {} stay among those that are published: value sets of other people hold them.",
                people(self.values_stay)
            ));
        }
        stays
    }
}
