//! Adds people to clusters and removes them: I3M+ and I3M- of the paper.

use crate::grouping::cluster::index::Index;
use crate::grouping::cluster::split::split;
use crate::grouping::cluster::store::{Cluster, Space};

/// Clusters that are being changed, and the tree that finds the best of them.
pub(crate) struct Maintained<'a> {
    space: Space<'a>,
    /// All clusters; dissolved ones are empty.
    pub(crate) clusters: Vec<Cluster>,
    pub(crate) index: Index,
    /// Which clusters were touched, with repetitions.
    pub(crate) touched: Vec<usize>,
}

impl<'a> Maintained<'a> {
    /// Starts from clusters whose leavers have been removed. Empty clusters are excluded from the start, because an
    /// empty cluster costs nothing to join and would take every later row (science A1.4).
    pub(crate) fn new(space: Space<'a>, clusters: Vec<Cluster>) -> Maintained<'a> {
        let index = Index::new(space, &clusters);
        Maintained { space, clusters, index, touched: Vec::new() }
    }

    /// Puts a row where it costs the least, and splits that cluster if it has become too large.
    pub(crate) fn insert(&mut self, row: u32) {
        let point = self.space.points.get(row);
        let id = self.index.best(self.space, &self.clusters, point).expect("there is a cluster to go to");
        self.space.add(&mut self.clusters[id], row);
        self.touched.push(id);
        if self.clusters[id].rows.len() < 2 * self.space.k {
            self.index.grew(self.space, &self.clusters, id);
        }
        while self.clusters[id].rows.len() >= 2 * self.space.k {
            let new = split(self.space, &mut self.clusters[id]);
            self.clusters.push(new);
            let new = self.clusters.len() - 1;
            self.index.split(self.space, &self.clusters, id, new);
            self.touched.push(new);
        }
    }

    /// Dissolves clusters with fewer than `k` rows, in their order, and places their rows again. Rows of one may bring
    /// a later one back to `k`.
    ///
    /// There must be at least `k` rows in all.
    pub(crate) fn disperse_small(&mut self) {
        for id in 0..self.clusters.len() {
            let size = self.clusters[id].rows.len();
            if size == 0 || size >= self.space.k {
                continue;
            }
            self.index.remove(self.space, &self.clusters, id);
            let mut rows = std::mem::replace(&mut self.clusters[id], self.space.cluster(Vec::new())).rows;
            rows.sort_unstable();
            for row in rows {
                self.insert(row);
            }
        }
    }
}
