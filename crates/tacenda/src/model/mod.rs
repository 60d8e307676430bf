//! The nouns: pure data that every room shares.
//!
//! Nothing here reads a file, keeps a promise or knows an algorithm. Everything is an integer: a
//! quasi attribute is a column of ordered codes, so that a group's region is a pair of codes per
//! attribute and all questions about regions are comparisons of integers. Text is met only while
//! reading and writing.
//!
//! Public and private are different types. [`Release`] is what leaves. [`Table`], [`Membership`]
//! and [`History`] stay; their `Debug` prints sizes and never a value.

mod attribute;
mod change;
mod group;
mod hierarchy;
mod history;
mod policy_file;
mod promise;
mod reading;
mod record;
mod release;
mod rng;
mod schema;
mod span;
mod table;
mod values;
mod view;
mod view_policy;
mod words;

pub use attribute::CellFault;
pub use attribute::Domain;
pub use attribute::Grid;
pub use attribute::Quasi;
pub use change::Change;
pub use group::GroupView;
pub use group::Grouping;
pub use group::Regions;
pub use hierarchy::Hierarchy;
pub use hierarchy::HierarchyError;
pub use history::History;
pub use history::Met;
pub use history::PastGroups;
pub use history::PastView;
pub use history::Published;
pub use history::Record;
pub use policy_file::Base;
pub use policy_file::Choices;
pub use policy_file::Format;
pub use policy_file::Limits;
pub use policy_file::LossKind;
pub use policy_file::OnDelete;
pub use policy_file::OnIneligible;
pub use policy_file::Output;
pub use policy_file::PolicyFile;
pub use policy_file::SeedRule;
pub use policy_file::Series;
pub use promise::DiversityMode;
pub use promise::Promise;
pub use reading::Reading;
pub use record::RecordKey;
pub use record::Row;
pub use release::Membership;
pub use release::Release;
pub use rng::Rng;
pub use rng::Seed;
pub use schema::Public;
pub use schema::Role;
pub use schema::Schema;
pub use schema::Sensitive;
pub use span::Span;
pub use table::Table;
pub use values::Value;
pub use values::ValueSetId;
pub use values::ValueSets;
pub use values::Values;
pub use view::Bound;
pub use view::Classes;
pub use view::Cuts;
pub use view::Impossible;
pub use view::PublishedView;
pub use view::Requirement;
pub use view::SpanColumn;
pub use view::Threshold;
pub use view::View;
pub use view::ViewColumn;
pub use view::ViewRows;
pub use view_policy::Asked;
pub use view_policy::EVERYONE;
pub use view_policy::ListedShare;
pub use view_policy::NamedView;
pub use view_policy::RECORD;
pub use view_policy::Score;
pub use view_policy::SubJoins;
pub use view_policy::Views;
pub use view_policy::asked;
pub use words::counted;
pub use words::number;
pub use words::people;
