//! What is promised: one folder per promise.
//!
//! There are two kinds. [`SeriesPromise`] is about all releases of one table, and forms groups. [`ViewPromise`] is
//! about releases with different columns, and makes a demand on their join. What both have in common is small and is
//! defined here: [`Parameters`] are read from the policy file, stored, turned into words and numbers ([`Terms`]), and
//! compared with those of the release before. [`Promise`] is one of either kind.
//!
//! A promise is a struct of its own: its parameters. Its folder also has `group.rs`, which forms the groups, and
//! `check.rs`, which judges a finished release. The check follows from the promise's definition and does not know how
//! the groups were made. A row in `series` or `views` registers the promise; names, help, reading, writing and words
//! follow from the row.

#[macro_use]
mod registry;
mod database;
mod loosening;
mod policy_file;
pub mod series;
pub mod views;

pub use database::{
    CONNECTION_WORDS, Connection, ConnectionFault, DatabaseRows, DatabaseTable, Databases, DeliveryTarget,
    MOST_NAME_BYTES, latest_name, table_name,
};
pub use loosening::Looser;
pub use policy_file::{
    BackupRule, Format, Governance, Output, PolicyFile, Promised, Reasons, SeriesSettings, ShareLimits, SignatureRules,
};
// All names of all promises are exported here, so that a new promise is listed in one place.
pub use series::*;
pub use views::*;

use crate::model::{Page, Schema, Terms};
use crate::settings::{FaultKind, Key, Section, Walk};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value as Json, json};

/// A promise as help, docs and Python list it.
#[derive(Debug)]
pub struct Entry {
    /// The name used in the policy file.
    pub name: &'static str,
    /// What it is for, in one line.
    pub line: &'static str,
    /// Its parameters, in one line.
    pub parameters: &'static str,
    /// The key of its paper in docs/papers.md.
    pub paper: &'static str,
    /// Its keys in the policy file, beside `model`.
    pub keys: &'static [Key],
    /// How `tacenda init` drafts it.
    pub draft: Drafted,
    /// The pages of its warnings for `tacenda explain`.
    pub pages: &'static [Page],
    /// The parameters that a release states to its recipients. The others say how the promise is kept.
    pub stated: &'static [&'static str],
}

/// How a promise is written into a first policy file.
#[derive(Debug)]
pub struct Drafted {
    /// The comment above its section: lines that begin with `#`.
    pub comment: &'static str,
    /// Its parameters, one per line. The argument is the largest m such that no sensitive value has more than one in m
    /// of the rows.
    pub parameters: fn(u64) -> String,
    /// Whether it is about sensitive values, so that some column must be sensitive.
    pub needs_sensitive: bool,
    /// Whether people may leave, return or change between releases: the answer that the draft assumes.
    pub leaving: &'static str,
}

impl Entry {
    /// Whether the policy file may have a key under this promise.
    pub fn takes(&self, key: &str) -> bool {
        self.keys.iter().any(|row| row.key == key)
    }
}

/// The parameters of one promise, with the operations that all promises have.
pub trait Parameters: Clone + PartialEq + Serialize + DeserializeOwned {
    /// Its row for help and docs.
    const ENTRY: &'static Entry;

    /// Reads them from a section of the policy file; `None` if a fault makes them unusable.
    fn read(section: &Section<'_, '_>, schema: Option<&Schema>, walk: &mut Walk) -> Option<Self>;

    /// What is claimed, in words and numbers.
    fn terms(&self) -> Terms;

    /// Whether a series that was published under `before` may continue under these.
    fn may_follow(&self, before: &Self) -> Result<(), Looser>;

    /// Contradictions among the parameters or with the columns.
    fn contradictions(&self, _: Option<&Schema>) -> Vec<Contradiction> {
        Vec::new()
    }

    /// Sets a number by its key in the policy file; returns false if there is no such number.
    fn set(&mut self, key: &str, value: u32) -> bool;
}

/// A contradiction in a promise, and the key that causes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Contradiction {
    /// The kind of the fault.
    pub kind: FaultKind,
    /// The key in the policy file.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl Contradiction {
    fn new(kind: FaultKind, key: &'static str, message: &str, help: &str) -> Contradiction {
        Contradiction { kind, key, message: message.into(), help: help.into() }
    }
}

/// A promise of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Promise {
    /// About all releases of one table.
    Series(SeriesPromise),
    /// About the join of views.
    View(ViewPromise),
}

/// All promises. A promise is listed only once it is audited.
pub fn entries() -> impl Iterator<Item = &'static Entry> {
    SeriesPromise::ENTRIES.iter().chain(ViewPromise::ENTRIES).copied()
}

impl Promise {
    /// Its row in the registry.
    pub fn entry(&self) -> &'static Entry {
        match self {
            Promise::Series(promise) => promise.entry(),
            Promise::View(promise) => promise.entry(),
        }
    }

    /// What is claimed, in words and numbers.
    pub fn terms(&self) -> Terms {
        match self {
            Promise::Series(promise) => promise.terms(),
            Promise::View(promise) => promise.terms(),
        }
    }

    /// The parameters that a release states to recipients' programs.
    pub fn stated(&self) -> Map<String, Json> {
        let written = serde_json::to_value(self).expect("names and numbers are JSON");
        let is_stated = |key: &String| self.entry().stated.contains(&key.as_str());
        let all = written.as_object().into_iter().flatten();
        all.filter(|(key, _)| is_stated(key)).map(|(key, value)| (key.clone(), value.clone())).collect()
    }

    /// Reads what [`Promise::stated`] wrote. Parameters that are not stated have their default.
    ///
    /// An unknown parameter is refused, because it may change the promise.
    pub fn read_stated(model: &str, parameters: &Map<String, Json>) -> Result<Promise, String> {
        let mut written = parameters.clone();
        written.insert(MODEL.into(), json!(model));
        Promise::from_written(written)
    }

    /// From its parameters and its name under `model`.
    fn from_written(written: Map<String, Json>) -> Result<Promise, String> {
        let model = written.get(MODEL).and_then(Json::as_str).ok_or("model is missing or of another kind")?;
        let is_of = |entries: &[&Entry]| entries.iter().any(|entry| entry.name == model);
        let read = if is_of(SeriesPromise::ENTRIES) {
            serde_json::from_value(Json::Object(written)).map(Promise::Series)
        } else if is_of(ViewPromise::ENTRIES) {
            serde_json::from_value(Json::Object(written)).map(Promise::View)
        } else {
            return Err("the model is unknown to this version".into());
        };
        read.map_err(|error| error.to_string())
    }
}

impl Serialize for Promise {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        match self {
            Promise::Series(promise) => promise.serialize(out),
            Promise::View(promise) => promise.serialize(out),
        }
    }
}

impl<'d> Deserialize<'d> for Promise {
    fn deserialize<D: Deserializer<'d>>(from: D) -> Result<Promise, D::Error> {
        Promise::from_written(Map::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// The key that names a promise.
const MODEL: &str = "model";

impl From<SeriesPromise> for Promise {
    fn from(promise: SeriesPromise) -> Promise {
        Promise::Series(promise)
    }
}

impl From<ViewPromise> for Promise {
    fn from(promise: ViewPromise) -> Promise {
        Promise::View(promise)
    }
}
