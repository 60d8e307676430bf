//! Settings: a parsed TOML file, walked by hand so that each fault points to its place.
//!
//! The policy file and every promise in it are read with three types: [`Section`] is a table of the file, [`Walk`]
//! gives typed access and collects faults, [`Key`] is a key of the language.

mod kind;
mod walk;

pub use kind::FaultKind;
pub use walk::{Section, Walk};
pub(crate) use walk::{integer_of, number_of};

use std::ops::Range;

/// One fault of a policy file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyFault {
    /// Its kind, which has the code.
    pub kind: FaultKind,
    /// What is wrong.
    pub message: String,
    /// Its place, in bytes of the policy file.
    pub span: Option<Range<usize>>,
    /// What to do.
    pub help: String,
}

/// A key of the policy file.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Key {
    /// Its section; empty for the top level, `columns.NAME` for every column.
    pub section: &'static str,
    /// Its name.
    pub key: &'static str,
    /// What it takes.
    pub takes: &'static str,
    /// The default; empty if the key is required.
    pub default: &'static str,
    /// What it means.
    pub meaning: &'static str,
}

/// A key of the language.
pub const fn key(
    section: &'static str,
    key: &'static str,
    takes: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Key {
    Key { section, key, takes, default, meaning }
}
