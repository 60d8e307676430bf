//! Splits clusters that have grown to twice the least size: Split2kCluster of the paper.

use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::store::{Cluster, Space};
use crate::model::Span;

/// Moves `k` rows out of a cluster of at least `2k`, one at a time. Each is the row that leaves the two clusters with
/// the least total loss; ties go to the lowest row. Returns the new cluster.
pub(crate) fn split(space: Space, cluster: &mut Cluster) -> Cluster {
    assert!(cluster.rows.len() >= 2 * space.k, "both parts must reach the least size");
    let mut old = std::mem::take(&mut cluster.rows);
    old.sort_unstable();
    let mut new: Vec<u32> = Vec::with_capacity(space.k);
    let mut spans = vec![Span::EMPTY; space.points.attributes()];
    while new.len() < space.k {
        let mut best = (u64::MAX, 0);
        space.without_each(&old, |index, rest| {
            let rest = (old.len() - 1) as u64 * u64::from(space.costs.of(rest));
            let point = space.points.get(old[index]);
            let joined = if new.is_empty() { 0 } else { space.costs.joined(&spans, point) };
            let sum = rest + (new.len() + 1) as u64 * u64::from(joined);
            if sum < best.0 {
                best = (sum, index);
            }
        });
        let row = old.remove(best.1);
        widen(&mut spans, space.points.get(row));
        new.push(row);
    }
    *cluster = space.cluster(old);
    space.cluster(new)
}

/// Splits clusters until none has `2k` rows or more. New clusters are appended. `tell` is called after each split with
/// the old and the new cluster.
pub(crate) fn split_all(space: Space, clusters: &mut Vec<Cluster>, mut tell: impl FnMut(&[Cluster], usize, usize)) {
    for id in 0..clusters.len() {
        while clusters[id].rows.len() >= 2 * space.k {
            let new = split(space, &mut clusters[id]);
            clusters.push(new);
            tell(clusters, id, clusters.len() - 1);
        }
    }
}
