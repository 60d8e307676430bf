//! Clusters the rows of a part: a few hundred or thousand rows that are already near each other.
//!
//! Parts are independent of each other. So they can be clustered on any number of threads, and one at a time from disk.

use crate::grouping::cluster::even::{cut_and_cluster, even};
use crate::grouping::cluster::exchange::{Effort, exchange, sweep};
use crate::grouping::cluster::optimise::optimise;
use crate::grouping::cluster::store::{Cluster, Space};
use crate::model::Lots;

/// Clusters a part and lets neighbours swap rows once. The answer depends on the codes of the rows, their order and
/// `ranks` alone.
pub(crate) fn cluster_part(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Cluster> {
    if rows.len() < 2 * space.k {
        return vec![space.cluster(rows)];
    }
    let mut clusters = form(space, rows, ranks);
    sweep(space, &mut clusters);
    clusters
}

/// The same with more exchanges, which draw lots.
pub(crate) fn cluster_thoroughly(
    space: Space,
    rows: Vec<u32>,
    ranks: &[u32],
    effort: Effort,
    lots: &Lots,
) -> Vec<Cluster> {
    let mut clusters = form(space, rows, ranks);
    exchange(space, &mut clusters, ranks, effort, lots);
    optimise(space, &mut clusters, None);
    clusters
}

/// Clusters of nearly `k` rows.
fn form(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Cluster> {
    let mut clusters = cut_and_cluster(space, rows, ranks);
    even(space, &mut clusters, ranks);
    // Spare rows that fit nowhere well return to clusters that cover them.
    optimise(space, &mut clusters, None);
    clusters
}
