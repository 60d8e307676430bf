//! Amendments: what a policy's columns have gained since the last release, and how the vault's codes move with it.
//!
//! The vault knows a tree by its digest. The tree itself stands in the manifest of the last release, and is believed
//! only if it has that digest.

use crate::folder;
use crate::ingest::{AddedLeaves, Remembered};
use crate::ledger::{Amendment, Store};
use crate::model::{Added, Growth, History, Row, Schema, Table};
use crate::promise::{PolicyFile, Promised};

/// What a policy has gained since the last release. Nothing, where there is no release yet.
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
    /// Compares the policy's columns with those of the last release. The schema then has its values in the order of the
    /// vault's codes, and `last` has grown with it. The error says, in words, why the columns are no growth.
    pub(super) fn since(last: &mut Remembered, store: &Store, policy: &mut PolicyFile) -> Result<Amended, String> {
        let mut amended = Amended { added: last.added().clone(), ..Amended::default() };
        if !last.differs_in_quasi(&policy.schema) {
            return Ok(amended);
        }
        let before = published_schema(last, store).ok_or("the columns of the last release cannot be read")?;
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
        Ok(Amended { growth: (!growth.is_still()).then_some(growth), new, ..amended })
    }

    /// What is new, in one sentence each.
    pub(super) fn notes(&self) -> impl Iterator<Item = String> {
        self.new.iter().map(|new| format!("amended: column {} has {}", new.column, new.what))
    }

    /// What is new, for the ledger.
    pub(super) fn lines(&self) -> Vec<Amendment> {
        self.new.iter().map(|new| Amendment { column: new.column.clone(), what: new.what.clone() }).collect()
    }

    /// The leaves that were added since the first release.
    pub(super) fn added(&self) -> &AddedLeaves {
        &self.added
    }

    /// The past in the codes of the schema now.
    pub(super) fn recode(&self, history: History, snapshot: Option<Table>) -> (History, Option<Table>) {
        match &self.growth {
            Some(growth) => (growth.history(history), snapshot.map(|table| growth.table(table))),
            None => (history, snapshot),
        }
    }

    /// Leaves people where they were published: somebody who was read as `other` stays there when their value is listed
    /// later. Who has another value than before is read anew.
    pub(super) fn stay(&self, schema: &Schema, table: &mut Table, last: Option<&Table>) {
        let Some(last) = last else { return };
        for (attribute, quasi) in schema.quasi.iter().enumerate() {
            let (Some(other), Some(added)) = (quasi.other(), self.added.get(&quasi.name)) else { continue };
            let added: Vec<u32> = added.keys().filter_map(|leaf| quasi.hierarchy()?.leaf(leaf)).collect();
            let before = |row| last.find(table.key(row)).map(|row| last.quasi(attribute)[row.index()]);
            let is_moved =
                |&row: &Row| added.contains(&table.quasi(attribute)[row.index()]) && before(row) == Some(other);
            let moved: Vec<Row> = table.rows().filter(is_moved).collect();
            table.set(attribute, &moved, other);
        }
    }
}

/// A schema with its values in the order of the last release, where it grew from that.
pub(super) fn published_order(store: &Store, schema: &Schema) -> Schema {
    let before = folder::read_schema(&store.release_folder(store.releases())).ok();
    let grown = before.and_then(|before| schema.grown_from(&before).ok());
    grown.map_or_else(|| schema.clone(), |(schema, _, _)| schema)
}

/// The schema of the last release, if it is the one that the vault remembers.
fn published_schema(last: &Remembered, store: &Store) -> Option<Schema> {
    let schema = folder::read_schema(&store.release_folder(store.releases())).ok()?;
    (!last.differs_in_quasi(&schema)).then_some(schema)
}

/// Whether a promise can take new values; the error says, in words, why not.
fn may_grow(policy: &PolicyFile) -> Result<(), String> {
    let fixed = match &policy.promise {
        Promised::Series(promise) => promise.inner().fixed_domain(),
        Promised::Views(_) => Some("views that are out are joined by the values of their day"),
    };
    fixed.map_or(Ok(()), |why| Err(format!("this promise cannot take new values: {why}")))
}
