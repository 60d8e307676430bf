//! Amendments: the values that a policy's columns gained since the last release, and how the vault's codes shift.
//!
//! The vault keeps the order of columns, and only the digest of a tree. The tree itself is in the manifest of the last
//! release, and is trusted only if it has that digest.

use crate::folder;
use crate::ingest::{AddedLeaves, Remembered};
use crate::ledger::{Amendment, Store};
use crate::model::{Added, Growth, History, Row, Schema, Table};
use crate::promise::{PolicyFile, Promised};
use std::collections::BTreeSet;

/// What a policy gained since the last release; nothing before the first release.
#[derive(Clone, Debug, Default)]
pub(super) struct Amended {
    /// How codes move; `None` where none do.
    growth: Option<Growth>,
    /// What is new.
    new: Vec<Added>,
    /// All leaves that were added since the first release.
    added: AddedLeaves,
}

impl Amended {
    /// Compares the policy's columns with those of the last release. Afterwards the schema has its values in the order
    /// of the vault's codes, and `last` has grown with it. The error says why the change is no growth.
    pub(super) fn since(last: &mut Remembered, store: &Store, policy: &mut PolicyFile) -> Result<Amended, String> {
        let mut amended = Amended { added: last.added().clone(), ..Amended::default() };
        let lines = last.new_labels(&policy.schema);
        amended.new = lines.into_iter().map(|(column, count)| Added::lines(column, count)).collect();
        amended.new.extend(last.new_missing(&policy.schema).into_iter().map(Added::missing));
        // Columns of views cannot be amended; a steward who tries gets an error that says so.
        if !last.differs_in_quasi(&policy.schema) || policy.views().is_some() {
            return Ok(amended);
        }
        let before = published_schema(last, store).ok_or(
            "the order or number of a column's values is another, and no release folder says what they were; put the releases \
             back into their folder",
        )?;
        let (schema, growth, new) = policy.schema.grown_from(&before)?;
        if !new.is_empty() {
            may_grow(policy)?;
        }
        let release = store.releases() + 1;
        for leaf in new.iter().flat_map(|new| new.leaves.iter().map(|leaf| (&new.column, leaf))) {
            amended.added.entry(leaf.0.clone()).or_default().insert(leaf.1.clone(), release);
        }
        last.grow(&schema);
        policy.schema = schema;
        amended.new.extend(new);
        Ok(Amended { growth: (!growth.is_still()).then_some(growth), ..amended })
    }

    /// What another machine needs to keep people at `other`.
    pub(super) fn with_added(added: &AddedLeaves) -> Amended {
        Amended { added: added.clone(), ..Amended::default() }
    }

    /// What is new, in one sentence each.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.new.iter().map(|new| format!("amended: column {} has {}", new.column, new.what))
    }

    /// Whether columns gained values, now or earlier: then people may stay at `other`.
    pub(super) fn is_any(&self) -> bool {
        !self.new.is_empty() || !self.added.is_empty() || self.growth.is_some()
    }

    /// What is new, for the ledger.
    pub(super) fn lines(&self) -> Vec<Amendment> {
        self.new.iter().map(|new| Amendment { column: new.column.clone(), what: new.what.clone() }).collect()
    }

    /// The leaves that were added since the first release.
    pub(super) fn added(&self) -> &AddedLeaves {
        &self.added
    }

    /// The past in the codes of the current schema.
    pub(super) fn recode(&self, history: History, snapshot: Option<Table>) -> (History, Option<Table>) {
        match &self.growth {
            Some(growth) => (growth.history(history), snapshot.map(|table| growth.table(table))),
            None => (history, snapshot),
        }
    }

    /// Keeps people at `other` if they were published as `other`, because their value was not listed then. They stay
    /// `other` while they are in the data, even if their value is listed later. A person who was away is read with the
    /// new list.
    pub(super) fn stay(&self, schema: &Schema, table: &mut Table, last: Option<&Table>, history: &History) {
        let Some(last) = last else { return };
        for (attribute, quasi) in schema.quasi.iter().enumerate() {
            let (Some(other), Some(added)) = (quasi.other(), self.added.get(&quasi.name)) else { continue };
            let tree = quasi.hierarchy().expect("only categories have leaves");
            let added: Vec<(u32, u32)> =
                added.iter().filter_map(|(leaf, &release)| Some((tree.leaf(leaf)?, release))).collect();
            let is_later = |row: Row| {
                let code = table.quasi(attribute)[row.index()];
                let listed = added.iter().find(|(leaf, _)| *leaf == code).map(|&(_, release)| release);
                let seen = history.record(table.key(row)).map(|record| record.first_seen);
                listed.zip(seen).is_some_and(|(listed, seen)| listed > seen)
            };
            let before = |row| last.find(table.key(row)).map(|row| last.quasi(attribute)[row.index()]);
            let is_moved = |&row: &Row| is_later(row) && before(row) == Some(other);
            let moved: Vec<Row> = table.rows().filter(is_moved).collect();
            table.set(attribute, &moved, other);
        }
    }

    /// The table as it was read for an earlier release: values that are listed since were `other` then. `None` if none are.
    pub(super) fn as_read_for(&self, release: u32, schema: &Schema, table: &Table) -> Option<Table> {
        let mut before: Option<Table> = None;
        for (attribute, quasi) in schema.quasi.iter().enumerate() {
            let (Some(other), Some(added)) = (quasi.other(), self.added.get(&quasi.name)) else { continue };
            let tree = quasi.hierarchy().expect("only categories have leaves");
            let later = added.iter().filter(|(_, listed)| **listed > release).filter_map(|(leaf, _)| tree.leaf(leaf));
            let later: BTreeSet<u32> = later.collect();
            let is_moved = |row: &Row| later.contains(&table.quasi(attribute)[row.index()]);
            let moved: Vec<Row> = table.rows().filter(is_moved).collect();
            if !moved.is_empty() {
                before.get_or_insert_with(|| table.clone()).set(attribute, &moved, other);
            }
        }
        before
    }
}

/// Without a vault: columns in the order of the last release that tells, and values in the order of the last release, if
/// the policy grew from that.
pub(super) fn take_published_order(store: &Store, policy: &mut PolicyFile) {
    if let Some(before) = published_schemas(store).next() {
        policy.sort_columns(&before.published_columns().collect::<Vec<_>>());
    }
    let before = published(store, store.releases());
    if let Some((schema, _, _)) = before.and_then(|before| policy.schema.grown_from(&before).ok()) {
        policy.schema = schema;
    }
}

/// The schema that the vault remembers, from the last release that has it; releases made elsewhere have none.
fn published_schema(last: &Remembered, store: &Store) -> Option<Schema> {
    published_schemas(store).find(|schema| !last.differs_in_quasi(schema))
}

/// What releases say of their columns, the last one first, as far as they are there.
fn published_schemas(store: &Store) -> impl Iterator<Item = Schema> {
    let schemas = (1..=store.releases()).rev().filter_map(|number| published(store, number));
    schemas.filter(|schema| !schema.quasi.is_empty())
}

/// What a release says of its columns.
fn published(store: &Store, number: u32) -> Option<Schema> {
    folder::schema_of_manifest(&store.release_file(number, folder::MANIFEST).ok()?).ok()
}

/// Whether a promise can take new values; the error says, in words, why not.
fn may_grow(policy: &PolicyFile) -> Result<(), String> {
    let fixed = match &policy.promise {
        Promised::Series(promise) => promise.inner().fixed_domain(),
        Promised::Views(_) => Some("published views are joined by the values they were published with"),
    };
    fixed.map_or(Ok(()), |why| Err(format!("this promise cannot take new values: {why}")))
}
