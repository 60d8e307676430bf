//! Breaks clusters whose rows all fit into other clusters at a lower cost: IL_Optimization of the paper, corrected.
//!
//! A row is covered by another cluster if that cluster's region does not change when it takes the row. Then the cost of
//! breaking a cluster is a sum over its rows, so the cheapest cover of each row gives the cheapest break
//! (science A1.5).
//!
//! If clusters larger than `k` count as a loss (`Space::crowding`), rows that go to one cluster are priced one after
//! another, each with those before it in place. So the computed gain of a break is exact. The covers are still chosen
//! by their cost alone. So with crowding, every break that is made lowers the objective, but another break might lower
//! it more, and a useful break may be missed.
//!
//! Whether all rows are covered is tested just before each break, because an earlier break may have removed the only
//! cover or added rows. The broken cluster is removed.

use crate::grouping::cluster::FEW;
use crate::grouping::cluster::index::Index;
use crate::grouping::cluster::split::split_all;
use crate::grouping::cluster::store::{Cluster, Space};
use rustc_hash::FxHashMap;

/// Breaks clusters, the most expensive first, until none is worth breaking. Then it splits those that have grown to
/// `2k`, and starts again if there were any. If clusters are few, all are examined. Otherwise the most expensive of
/// those in `touched` are, or of all if `touched` is `None`.
///
/// The objective, loss plus crowding, is an integer that falls with every break and that no split raises. So this
/// terminates. Breaks remove whole clusters only, so no cluster falls below `k`.
pub(crate) fn optimise(space: Space, clusters: &mut Vec<Cluster>, touched: Option<&[usize]>) {
    let mut candidates = match touched {
        Some(touched) if clusters.len() > FEW => dearest(clusters, touched.to_vec()),
        _ => dearest(clusters, (0..clusters.len()).collect()),
    };
    // One index is kept throughout. Rebuilding it after every round of splits would cost more than everything else.
    let mut index = Index::new(space, clusters);
    loop {
        while !candidates.is_empty() {
            // A break removes covers and leaves the others unchanged, so only a cluster that took rows can have become
            // worth breaking. With crowding there is another case: the cheapest but crowded cover of a cluster was
            // removed. That case is ignored.
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
        // A split creates cheaper covers, so any cluster may be worth breaking now; those that changed are the most
        // likely.
        let all = (0..clusters.len()).collect();
        candidates = dearest(clusters, if clusters.len() > FEW { changed } else { all });
    }
    clusters.retain(|cluster| !cluster.rows.is_empty());
}

/// The most expensive of the given clusters, at most [`FEW`], without empty ones. Ties go to the first.
fn dearest(clusters: &[Cluster], mut ids: Vec<usize>) -> Vec<usize> {
    ids.retain(|&id| !clusters[id].rows.is_empty());
    ids.sort_by_key(|&id| (std::cmp::Reverse(clusters[id].loss()), id));
    ids.dedup();
    ids.truncate(FEW);
    ids
}

/// Tries each candidate once, the most expensive first. Returns the clusters that took rows.
fn pass(space: Space, clusters: &mut [Cluster], index: &mut Index, mut candidates: Vec<usize>) -> Vec<usize> {
    candidates = dearest(clusters, candidates);
    let mut grown = Vec::new();
    for id in candidates {
        let Some(Break { targets, .. }) = interesting_break(space, clusters, index, id) else { continue };
        break_up(space, clusters, index, id, &targets);
        grown.extend(targets);
    }
    grown.sort_unstable();
    grown.dedup();
    grown
}

/// Hands the rows of a cluster to others, which leaves it empty.
pub(crate) fn break_up(space: Space, clusters: &mut [Cluster], index: &mut Index, id: usize, targets: &[usize]) {
    index.remove(space, clusters, id);
    let rows = std::mem::replace(&mut clusters[id], space.cluster(Vec::new())).rows;
    for (row, &target) in rows.into_iter().zip(targets) {
        space.add(&mut clusters[target], row);
        index.grew(space, clusters, target);
    }
}

/// A break that is worth making.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Break {
    /// Where each row goes.
    pub(crate) targets: Vec<usize>,
    /// By how much the objective falls; always positive.
    pub(crate) gain: u64,
}

/// Where each row of a cluster goes when it is broken, if every row is covered and the objective falls.
pub(crate) fn interesting_break(space: Space, clusters: &[Cluster], index: &mut Index, id: usize) -> Option<Break> {
    let cluster = &clusters[id];
    let now = cluster.loss() + space.crowd(cluster.rows.len());
    let mut spent = 0;
    let mut targets = Vec::with_capacity(cluster.rows.len());
    // How many rows each target would have by now; only needed with crowding.
    let mut sizes: FxHashMap<usize, usize> = FxHashMap::default();
    for &row in &cluster.rows {
        if spent >= now {
            return None;
        }
        let target = index.cheapest_cover(space, clusters, space.points.get(row), id)?;
        spent += u64::from(clusters[target].cost);
        if space.crowding > 0 {
            let size = sizes.entry(target).or_insert(clusters[target].rows.len());
            spent += space.crowd(*size + 1) - space.crowd(*size);
            *size += 1;
        }
        targets.push(target);
    }
    (spent < now).then(|| Break { targets, gain: now - spent })
}
