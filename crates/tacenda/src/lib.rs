//! Tacenda publishes a changing table of people again and again, so that all its releases taken
//! together betray no one; and it audits any series of releases for what a reader of all of them
//! can work out.
//!
//! Reading order: `model` (the nouns), `publish` (how a release comes about), `policy` (who stands
//! with whom), `audit` (what is checked before anything leaves), `ledger` (what is remembered), `use_cases`
//! (what can be asked, by the command and from Python).
//!
//! `ingest`, `policy`, `audit`, `ledger`, `folder`, `measure` and `made_up` stand on `model` and never
//! on each other; `publish` and `report` join them. `space` has the geometry that `policy`, `audit` and
//! `publish` share. A test reads the sources and enforces it.

pub mod model;
mod space;
pub mod ingest;
pub mod policy;
pub mod audit;
pub mod ledger;
pub mod folder;
pub mod measure;
pub mod made_up;
pub mod report;
pub mod publish;
pub mod use_cases;
