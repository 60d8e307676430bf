//! Breaks clusters whose rows all fit elsewhere for less: IL_Optimization of the paper, corrected.
//!
//! A row is covered by another cluster if that can take it at no attribute's expense. Then the cost
//! of breaking a cluster is the sum of the costs of the clusters its rows go to, each row on its own,
//! so the cheapest cover of each row makes the cheapest break.
//!
//! Where being larger than `k` counts as a loss (`Space::crowding`), rows that go to one cluster are priced one
//! after another, each with those before it in place: what a break is said to save is what it saves, to the
//! unit. The covers are chosen by their cost alone all the same, so with crowding a break that is made lowers
//! the objective, but another one may lower it more, and one that would have may be passed over.
//!
//! Whether all rows are covered is tested just before each break, on the clusters as they are then:
//! an earlier break may have taken the only cover away, or have added rows. The broken cluster goes.

use crate::grouping::cluster::FEW;
use crate::grouping::cluster::index::Index;
use crate::grouping::cluster::split::split_all;
use crate::grouping::cluster::store::{Cluster, Space};
use rustc_hash::FxHashMap;

/// Breaks clusters, dearest first, until none is worth breaking; then splits those that have grown
/// to `2k`, and begins again if there were any. Where clusters are few all are looked at; otherwise
/// the dearest of those that were `touched`, or of all if that is `None`.
///
/// The objective, loss and crowding together, is a whole number that falls with every break and that no
/// split raises, so this ends. No cluster loses a row without dissolving, so none falls below `k`.
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
            // took rows can have become worth breaking. With crowding another may, where its cheapest cover, a
            // crowded one, has gone: that is left.
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
    /// By how much the objective falls; never by nothing.
    pub(crate) gain: u64,
}

/// Where each row of a cluster goes when it is broken, if every row is covered and the objective falls.
pub(crate) fn interesting_break(space: Space, clusters: &[Cluster], index: &mut Index, id: usize) -> Option<Break> {
    let cluster = &clusters[id];
    let now = cluster.loss() + space.crowd(cluster.rows.len());
    let mut spent = 0;
    let mut targets = Vec::with_capacity(cluster.rows.len());
    // How many rows each target would have by now; only counted where it matters.
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
