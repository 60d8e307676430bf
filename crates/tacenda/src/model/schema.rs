//! The columns and their roles.

use crate::model::{PersonRows, Quasi};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The role of a column.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Identifies the person. It is never published; keyed hashes of it tie a person's rows together.
    Identifier,
    /// May be known to an attacker; generalised.
    Quasi,
    /// What must not be learned; published as it is.
    Sensitive,
    /// Published as it is, in a separate random order within each group.
    Public,
    /// Left out.
    Drop,
}

impl Role {
    /// The roles there are, by their words in the policy file.
    pub const WORDS: [(&str, Role); 5] = [
        ("identifier", Role::Identifier),
        ("quasi", Role::Quasi),
        ("sensitive", Role::Sensitive),
        ("public", Role::Public),
        ("drop", Role::Drop),
    ];

    /// Its word.
    pub fn word(self) -> &'static str {
        Role::WORDS.iter().find(|(_, role)| *role == self).expect("every role has a word").0
    }

    /// The role with that word.
    pub fn named(word: &str) -> Option<Role> {
        Role::WORDS.iter().find(|(own, _)| own.eq_ignore_ascii_case(word)).map(|(_, role)| *role)
    }
}

/// A sensitive attribute.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Sensitive {
    /// The column's name.
    pub name: String,
    /// Whether a value may be missing; then "not recorded" is a value like any other.
    pub nullable: bool,
    /// Maps a cell to the coarser label that is published, sorted by cell. If empty, values are published as they are,
    /// and any value is accepted. A release does not say which cells a label stands for: read back, its cell is empty.
    pub labels: Vec<(String, String)>,
    /// What happens to a value that is not listed, if there are labels.
    pub unlisted: Unlisted,
}

/// What happens to a sensitive value that is not listed.
#[derive(Clone, Debug, Default, Deserialize, Eq, PartialEq, Serialize)]
pub enum Unlisted {
    /// It is refused.
    #[default]
    Refused,
    /// It is published as the longest of these labels `PREFIX*` that fits it, or as it is if none fits. Sorted by
    /// prefix.
    ByPrefix(Vec<String>),
}

impl Unlisted {
    /// The prefix labels among `labels`.
    pub fn by_prefix(labels: &[(String, String)]) -> Unlisted {
        let mut beginnings: Vec<String> = labels.iter().map(|(_, label)| label.clone()).collect();
        beginnings.retain(|label| label.len() > 1 && label.ends_with('*'));
        beginnings.sort_unstable_by(|a, b| a[..a.len() - 1].cmp(&b[..b.len() - 1]));
        beginnings.dedup();
        Unlisted::ByPrefix(beginnings)
    }

    /// What is published for a cell that is not listed; `None` if it is refused.
    pub fn label<'a>(&'a self, cell: &'a [u8]) -> Option<&'a [u8]> {
        let Unlisted::ByPrefix(beginnings) = self else { return None };
        let label = |length: usize| {
            let start = |label: &String| label.as_bytes()[..label.len() - 1].cmp(&cell[..length]);
            beginnings.binary_search_by(start).ok().map(|at| beginnings[at].as_bytes())
        };
        Some((1..=cell.len()).rev().find_map(label).unwrap_or(cell))
    }
}

/// A column that is published as it is.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Public {
    /// The column's name.
    pub name: String,
    /// Why that is harmless, in the steward's words.
    pub because: String,
}

/// The columns of a series, by role.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Schema {
    /// The identifier's column.
    pub identifier: String,
    /// The quasi attributes, in the policy file's order.
    pub quasi: Vec<Quasi>,
    /// The sensitive attributes; several count as one combined value.
    pub sensitive: Vec<Sensitive>,
    /// The public columns.
    pub public: Vec<Public>,
    /// The columns that are left out.
    pub dropped: Vec<String>,
    /// Every published column in the policy file's order: its role, and its place among those of that role.
    pub order: Vec<(Role, usize)>,
    /// What becomes of several rows of one person.
    pub person: PersonRows,
}

impl Schema {
    /// A schema with the columns in the order quasi, sensitive, public.
    pub fn new(identifier: &str, quasi: Vec<Quasi>, sensitive: Vec<Sensitive>) -> Schema {
        let order = (0..quasi.len())
            .map(|index| (Role::Quasi, index))
            .chain((0..sensitive.len()).map(|index| (Role::Sensitive, index)))
            .collect();
        Schema { identifier: identifier.into(), quasi, sensitive, order, ..Schema::default() }
    }

    /// The same columns in another order, if that has all of them.
    #[must_use]
    pub fn in_order_of(&self, wanted: &[&str]) -> Schema {
        let place = |name: &str| wanted.iter().position(|known| *known == name);
        if wanted.len() != self.order.len() || !self.published_columns().all(|name| place(name).is_some()) {
            return self.clone();
        }
        let mut ordered = self.clone();
        ordered.quasi.sort_by_key(|quasi| place(&quasi.name));
        ordered.sensitive.sort_by_key(|sensitive| place(&sensitive.name));
        ordered.public.sort_by_key(|public| place(&public.name));
        // Rules for several rows are known by the place of their column.
        let quasi = self.quasi.iter().map(|quasi| place(&quasi.name));
        sort_along(&mut ordered.person.quasi, quasi);
        sort_along(&mut ordered.person.public, self.public.iter().map(|public| place(&public.name)));
        let mut next = [0, 0, 0];
        let roles = wanted.iter().filter_map(|name| self.role_of(name));
        ordered.order = roles
            .map(|role| {
                let at = match role {
                    Role::Quasi => 0,
                    Role::Sensitive => 1,
                    _ => 2,
                };
                next[at] += 1;
                (role, next[at] - 1)
            })
            .collect();
        ordered
    }

    /// The role of a published column.
    fn role_of(&self, name: &str) -> Option<Role> {
        self.order.iter().find(|&&(role, index)| self.column_name(role, index) == name).map(|&(role, _)| role)
    }

    /// The name of a published column.
    pub fn column_name(&self, role: Role, index: usize) -> &str {
        match role {
            Role::Quasi => &self.quasi[index].name,
            Role::Sensitive => &self.sensitive[index].name,
            Role::Public => &self.public[index].name,
            Role::Identifier | Role::Drop => unreachable!("neither is published"),
        }
    }

    /// The names of the published columns, in order.
    pub fn published_columns(&self) -> impl Iterator<Item = &str> {
        self.order.iter().map(|&(role, index)| self.column_name(role, index))
    }
}

/// Sorts items by the places of what they belong to; there may be fewer items than places.
fn sort_along<T: Clone + Default>(items: &mut Vec<T>, places: impl ExactSizeIterator<Item = Option<usize>>) {
    if !items.is_empty() {
        items.resize(places.len(), T::default());
        let mut sorted: Vec<(Option<usize>, T)> = places.zip(items.drain(..)).collect();
        sorted.sort_by_key(|item| item.0);
        items.extend(sorted.into_iter().map(|item| item.1));
    }
}

impl Sensitive {
    /// The labels that stand for values of other names.
    pub fn coarse(&self) -> BTreeSet<&str> {
        let of_lines = self.labels.iter().filter(|(from, label)| from != label).map(|(_, label)| label.as_str());
        let of_others = match &self.unlisted {
            Unlisted::Refused => &[][..],
            Unlisted::ByPrefix(beginnings) => beginnings,
        };
        of_lines.chain(of_others.iter().map(String::as_str)).collect()
    }

    /// A sensitive attribute that accepts any value but a missing one.
    pub fn open(name: &str) -> Sensitive {
        Sensitive { name: name.into(), nullable: false, labels: Vec::new(), unlisted: Unlisted::Refused }
    }
}
