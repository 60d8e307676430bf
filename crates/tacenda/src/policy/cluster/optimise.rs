//! Breaks clusters whose rows all fit elsewhere for less: IL_Optimization of the paper, corrected.
//!
//! A row is covered by another cluster if that can take it at no attribute's expense. Then the cost
//! of breaking a cluster is the sum of the costs of the clusters its rows go to, each row on its own,
//! so the cheapest cover of each row makes the cheapest break.
//!
//! Whether all rows are covered is tested just before each break, on the clusters as they are then:
//! an earlier break may have taken the only cover away, or have added rows. The broken cluster goes.

use crate::policy::cluster::FEW;
use crate::policy::cluster::index::Index;
use crate::policy::cluster::split::split_all;
use crate::policy::cluster::store::Cluster;
use crate::policy::cluster::store::Space;

/// Breaks clusters, dearest first, until none is worth breaking; then splits those that have grown
/// to `2k`, and begins again if there were any. Where clusters are few all are looked at; otherwise
/// the dearest of those that were `touched`, or of all if that is `None`.
///
/// The loss falls with every break and no split raises it, so this ends. No cluster loses a row
/// without dissolving, so none falls below `k`.
pub(crate) fn optimise(space: Space, clusters: &mut Vec<Cluster>, touched: Option<&[usize]>) {
    let mut candidates = match touched {
        Some(touched) if clusters.len() > FEW => dearest(clusters, touched.to_vec()),
        _ => dearest(clusters, (0..clusters.len()).collect()),
    };
    // One index for all: built anew after every round of splits, it would cost more than everything else.
    let mut index = Index::new(space, clusters);
    loop {
        while !candidates.is_empty() {
            // A break takes covers away and leaves the others as they are, so only a cluster that
            // took rows can have become worth breaking.
            candidates = pass(space, clusters, &mut index, candidates);
        }
        let mut changed = Vec::new();
        split_all(space, clusters, |clusters, id, new| {
            index.split(space, clusters, id, new);
            changed.extend([id, new]);
        });
        if changed.is_empty() {
            break;
        }
        // A split makes cheaper covers: anything may be worth breaking now, most likely what changed.
        let all = (0..clusters.len()).collect();
        candidates = dearest(clusters, if clusters.len() > FEW { changed } else { all });
    }
    clusters.retain(|cluster| !cluster.rows.is_empty());
}

/// The dearest of the given clusters, at most [`FEW`], the first of equals; none that is empty.
fn dearest(clusters: &[Cluster], mut ids: Vec<usize>) -> Vec<usize> {
    ids.retain(|&id| !clusters[id].rows.is_empty());
    ids.sort_by_key(|&id| (std::cmp::Reverse(clusters[id].loss()), id));
    ids.dedup();
    ids.truncate(FEW);
    ids
}

/// Tries each candidate once, dearest first. Returns the clusters that took rows.
fn pass(space: Space, clusters: &mut [Cluster], index: &mut Index, mut candidates: Vec<usize>) -> Vec<usize> {
    candidates = dearest(clusters, candidates);
    let mut grown = Vec::new();
    for id in candidates {
        let Some(targets) = interesting_break(space, clusters, index, id) else { continue };
        index.remove(space, clusters, id);
        let rows = std::mem::replace(&mut clusters[id], space.cluster(Vec::new())).rows;
        for (row, target) in rows.into_iter().zip(targets) {
            space.add(&mut clusters[target], row);
            index.grew(space, clusters, target);
            grown.push(target);
        }
    }
    grown.sort_unstable();
    grown.dedup();
    grown
}

/// Where each row of a cluster goes in its best break, if every row is covered and the loss falls.
pub(crate) fn interesting_break(
    space: Space,
    clusters: &[Cluster],
    index: &mut Index,
    id: usize,
) -> Option<Vec<usize>> {
    let cluster = &clusters[id];
    let loss = cluster.loss() + space.crowd(cluster.rows.len());
    let mut spent = 0;
    let mut targets = Vec::with_capacity(cluster.rows.len());
    for &row in &cluster.rows {
        if spent >= loss {
            return None;
        }
        let target = index.cheapest_cover(space, clusters, space.points.get(row), id)?;
        let size = clusters[target].rows.len();
        spent += u64::from(clusters[target].cost) + space.crowd(size + 1) - space.crowd(size);
        targets.push(target);
    }
    (spent < loss).then_some(targets)
}
