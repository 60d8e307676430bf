//! Clusters and who is in them.

use crate::grouping::cluster::cost::{Costs, Points, widen};
use crate::model::Span;

/// Rows that are published alike, with their tight bounds.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Cluster {
    /// Who is in it.
    pub(crate) rows: Vec<u32>,
    /// The tight span of each attribute.
    pub(crate) spans: Vec<Span>,
    /// What one row of it costs.
    pub(crate) cost: u32,
}

impl Cluster {
    /// What all its rows cost together: IL(cl) of the paper.
    pub(crate) fn loss(&self) -> u64 {
        self.rows.len() as u64 * u64::from(self.cost)
    }
}

/// What is needed to measure a cluster.
#[derive(Clone, Copy)]
pub(crate) struct Space<'a> {
    /// Where the rows are.
    pub(crate) points: &'a Points,
    /// What spans cost.
    pub(crate) costs: &'a Costs,
    /// How many codes each attribute has.
    pub(crate) sizes: &'a [u32],
    /// The least size of a cluster.
    pub(crate) k: usize,
    /// The additional loss per row of a cluster, for every row beyond `k`. The paper has none (0).
    pub(crate) crowding: u64,
}

impl Space<'_> {
    /// The cluster of some rows.
    pub(crate) fn cluster(&self, rows: Vec<u32>) -> Cluster {
        let spans = self.points.bounds(&rows);
        let cost = if rows.is_empty() { 0 } else { self.costs.of(&spans) };
        Cluster { rows, spans, cost }
    }

    /// How much the loss rises when `cluster` takes the row at `point`.
    pub(crate) fn increment(&self, cluster: &Cluster, point: &[u32]) -> u64 {
        let joined = u64::from(self.costs.joined(&cluster.spans, point));
        // An empty cluster would cost nothing to join. A valid list has none.
        joined + cluster.rows.len() as u64 * (joined - u64::from(cluster.cost))
    }

    /// Puts a row into a cluster.
    pub(crate) fn add(&self, cluster: &mut Cluster, row: u32) {
        let point = self.points.get(row);
        cluster.cost = self.costs.joined(&cluster.spans, point);
        widen(&mut cluster.spans, point);
        cluster.rows.push(row);
    }

    /// The crowding loss of a cluster with this many rows.
    pub(crate) fn crowd(&self, rows: usize) -> u64 {
        self.crowding * (rows * rows.saturating_sub(self.k)) as u64
    }

    /// The cluster whose loss a row increases least, by examining all: FindBestCluster of the paper. Ties go to the
    /// first; empty clusters are skipped.
    pub(crate) fn best_of(&self, clusters: &[Cluster], point: &[u32]) -> Option<usize> {
        (0..clusters.len())
            .filter(|&id| !clusters[id].rows.is_empty())
            .min_by_key(|&id| (self.increment(&clusters[id], point), id))
    }

    /// The spans of a cluster without one of its rows, for each row in turn.
    pub(crate) fn without_each(&self, rows: &[u32], mut visit: impl FnMut(usize, &[Span])) {
        let edges = Edges::of(self.points, rows);
        let mut spans = vec![Span::EMPTY; self.points.attributes()];
        for (index, &row) in rows.iter().enumerate() {
            edges.without(self.points.get(row), &mut spans);
            visit(index, &spans);
        }
    }
}

/// The sum of all losses.
pub(crate) fn total_loss(clusters: &[Cluster]) -> u128 {
    clusters.iter().map(|cluster| u128::from(cluster.loss())).sum()
}

/// The outermost and second outermost code on both sides, per attribute.
struct Edges(Vec<[u32; 4]>);

impl Edges {
    fn of(points: &Points, rows: &[u32]) -> Edges {
        let mut edges = vec![[u32::MAX, u32::MAX, 0, 0]; points.attributes()];
        for &row in rows {
            for ([lo, lo2, hi, hi2], &code) in edges.iter_mut().zip(points.get(row)) {
                if code < *lo {
                    (*lo, *lo2) = (code, *lo);
                } else if code < *lo2 {
                    *lo2 = code;
                }
                if code > *hi {
                    (*hi, *hi2) = (code, *hi);
                } else if code > *hi2 {
                    *hi2 = code;
                }
            }
        }
        Edges(edges)
    }

    fn without(&self, point: &[u32], spans: &mut [Span]) {
        for ((&[lo, lo2, hi, hi2], &code), span) in self.0.iter().zip(point).zip(spans) {
            span.lo = if code == lo { lo2 } else { lo };
            span.hi = if code == hi { hi2 } else { hi };
        }
    }
}
