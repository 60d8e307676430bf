//! The nouns: pure data that every room shares.
//!
//! Nothing here reads a file, keeps a promise or knows an algorithm. Everything is an integer: a quasi attribute is a
//! column of ordered codes. So a group's region is a pair of codes per attribute, and all questions about regions are
//! comparisons of integers. Text occurs only while reading and writing; here only `notation` knows how a value is
//! written.
//!
//! Public and private are different types. [`Release`] is what leaves. [`Table`], [`Membership`]
//! and [`History`] stay; their `Debug` prints sizes and never a value.

mod attribute;
mod chain;
mod change;
mod coded;
mod counts;
mod date_pattern;
mod demand;
mod file_names;
mod group;
mod growth;
mod hierarchy;
mod history;
mod language;
pub(crate) mod lots;
mod notation;
mod person;
mod reading;
mod record;
mod release;
mod rng;
mod schema;
mod span;
mod table;
mod terms;
mod traces;
mod values;
mod view;
mod words;

pub use attribute::{Domain, Grid, OTHER, Quasi};
pub use chain::{ChainBreak, ChainFault, ChainLink, chain_breaks};
pub use change::Change;
pub use coded::Page;
pub(crate) use coded::{coded, exit_of};
pub use counts::{CellRule, CountedColumn, LEAST_UNIT, PeopleCounts, people_by_code};
pub use date_pattern::{DatePart, DatePattern};
pub use demand::{Asked, Demand, SubJoins, asked};
pub use file_names::{COUNTERFEITS, COUNTS, is_data_file};
pub use group::{GroupView, Grouping, Regions};
pub use growth::{Added, Growth, Recoding};
pub use hierarchy::{Hierarchy, HierarchyError};
pub use history::{History, Met, NextRecords, PastGroups, PastView, Published, Record, in_policy_order};
pub use language::Language;
pub use lots::Lots;
pub use notation::CellFault;
pub use person::{CombineRule, OrderKind, PersonOrder, PersonRows, RowRule};
pub use reading::Reading;
pub use record::{RecordKey, Row};
pub use release::{Membership, Release};
pub use rng::{Rng, Seed};
pub use schema::{Public, Role, Schema, Sensitive, Unlisted};
pub use span::Span;
pub use table::Table;
pub use terms::{GroupRule, Hides, Reader, Scope, Terms};
pub use traces::{GROUP_ID, RECORD, ROW_WEIGHT, Traces};
pub(crate) use values::plain_spelling;
pub use values::{Value, ValueSetId, ValueSets, Values};
pub use view::{
    Bound, Classes, Cuts, Impossible, PublishedView, Requirement, Score, SpanColumn, Threshold, View, ViewColumn,
    ViewRows,
};
pub(crate) use words::hex;
pub use words::{counted, number, people, percent};
