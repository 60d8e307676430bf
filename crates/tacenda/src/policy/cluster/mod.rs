//! Clusters: groups formed by likeness, kept from release to release.
//!
//! `cost` says what a cluster loses, `store` holds clusters, `index` finds the best one for a row.
//! `k_member` is the paper's base; `cut`, `even` and `exchange` are ours, for less loss in less time.
//! `maintain` takes people in and out, `split` keeps clusters small, `optimise` breaks needless ones.

/// Up to so many clusters no effort is spared. With more, the work stays in proportion to reading the
/// table: fewer exchanges, and only clusters that changed are tested for breaking.
pub(crate) const FEW: usize = 1 << 12;

pub(crate) mod cost;
pub(crate) mod store;
pub(crate) mod index;
pub(crate) mod k_member;
pub(crate) mod cut;
pub(crate) mod even;
pub(crate) mod exchange;
pub(crate) mod split;
pub(crate) mod maintain;
pub(crate) mod optimise;
#[cfg(test)]
mod tests;
