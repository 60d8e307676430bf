//! Clusters: groups of similar people, kept from release to release.
//!
//! `cost` computes the loss of a cluster, `store` holds clusters, `index` finds the best one for a row. `k_member` is
//! the paper's base; `cut`, `play`, `even` and `exchange` are ours, for less loss in less time, and `part` applies them to a part
//! of a table. `maintain` adds and removes people, `split` keeps clusters small, `optimise` dissolves needless ones.

/// Up to this many clusters, all optimisations run in full. With more, the work stays in proportion to reading the
/// table: fewer exchanges, and only clusters that changed are tested for breaking.
pub(crate) const FEW: usize = 1 << 12;

pub(crate) mod cost;
pub(crate) mod store;
pub(crate) mod index;
pub(crate) mod k_member;
pub(crate) mod cut;
mod play;
pub(crate) mod even;
pub(crate) mod exchange;
pub(crate) mod part;
pub(crate) mod split;
pub(crate) mod maintain;
pub(crate) mod optimise;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

/// What a clustering from scratch begins with.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// Greedy k-member, as in paper 001.
    #[serde(alias = "kmember")]
    KMember,
    /// Cuts from the top, then exchanges between neighbours.
    Tree,
}

/// The row from which k-member measures: the next seed is the row farthest from it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SeedRule {
    /// From the last row added to a cluster, as its pseudo-code says.
    #[default]
    #[serde(alias = "lastadded")]
    LastAdded,
    /// From the last seed, as some programs do.
    #[serde(alias = "lastseed")]
    LastSeed,
}

/// What clusterings minimise.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossKind {
    /// The height of the lowest common ancestor, as in paper 001.
    Height,
    /// The share of all leaves that a span covers.
    #[default]
    #[serde(alias = "leafshare")]
    LeafShare,
}

/// How far a maintained clustering is from a new one. Losses are per row, as shares of the greatest possible loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The loss of the maintained clusters: those of the last release with the changes since.
    pub kept: f64,
    /// The loss when everything was last clustered from scratch, the "static" of the rule. If it is not known, the loss
    /// of doing so now.
    pub last_scratch: f64,
    /// The loss of clustering this table from scratch.
    pub scratch: f64,
    /// The factor of the rule, if there is one.
    pub factor: Option<f64>,
    /// Whether the rule will cluster from scratch.
    pub refreshes: bool,
}
