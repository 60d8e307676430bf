//! Tacenda publishes a changing table of people again and again, so that all its releases taken
//! together betray no one; and it audits any series of releases for what a reader of all of them
//! can work out.
//!
//! Reading order: `model` (the nouns), `promise` (what is promised, one folder each), `publish` (how a release comes
//! about), `audit` (what is checked before anything leaves), `ledger` (what is remembered), `use_cases` (what can be
//! asked, by the command and from Python).
//!
//! Each room names only rooms above it in the list below; `tests/it/tidy.rs` has the table of which, and enforces it.

pub mod model;
mod space;
pub mod settings;
pub mod audit;
pub mod grouping;
pub mod promise;
pub mod ingest;
pub mod ledger;
pub mod folder;
pub mod measure;
pub mod made_up;
pub mod report;
pub mod publish;
pub mod use_cases;
