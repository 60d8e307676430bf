//! Greedy k-member clustering, the paper's base: distant seeds, near companions.
//!
//! The result is that of the plain algorithm, but each cluster scans all rows only twice: once for its seed, once for
//! the distances from that seed. A row never costs a cluster less than it costs the seed alone. So rows are tried in
//! the order of that distance until no later one can be cheaper.

use crate::grouping::SeedRule;
use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::cut::blocks;
use crate::grouping::cluster::index::Index;
use crate::grouping::cluster::split::split_all;
use crate::grouping::cluster::store::{Cluster, Space};
use crate::model::Span;
use rayon::prelude::*;

/// Up to this many rows are clustered in one piece.
const EXACT: usize = 1 << 15;
/// Larger tables are cut into blocks of about this many rows.
const BLOCK: usize = 1 << 12;
/// How many of the nearest rows are sorted. If they do not suffice, all rows are scanned.
const NEAREST: usize = 256;

/// Clusters all rows: in one piece if they are few, otherwise block by block. Rows left over in a block go to the
/// clusters of that block, so that blocks are independent.
pub(crate) fn k_member(space: Space, rows: Vec<u32>, seed_rule: SeedRule) -> Vec<Cluster> {
    let pieces = if rows.len() <= EXACT { vec![rows] } else { blocks(space, rows, BLOCK) };
    let done: Vec<(Vec<Cluster>, Vec<u32>)> = pieces
        .into_par_iter()
        .map(|mut rows| {
            rows.sort_unstable();
            let (mut clusters, mut left) = greedy(space, rows, seed_rule);
            if !clusters.is_empty() {
                place(space, &mut clusters, &left);
                left.clear();
            }
            (clusters, left)
        })
        .collect();
    let mut clusters = Vec::new();
    let mut rest = Vec::new();
    for (formed, left) in done {
        clusters.extend(formed);
        rest.extend(left);
    }
    // Blocks of fewer than `k` rows.
    rest.sort_unstable();
    place(space, &mut clusters, &rest);
    // Several of them may have joined one cluster.
    split_all(space, &mut clusters, |_, _, _| ());
    clusters
}

/// Forms clusters of exactly `k` from rows in order of preference, and returns them with the fewer
/// than `k` rows that are left.
pub(crate) fn greedy(space: Space, mut rows: Vec<u32>, seed_rule: SeedRule) -> (Vec<Cluster>, Vec<u32>) {
    let mut clusters = Vec::with_capacity(rows.len() / space.k);
    let mut ruler = Ruler::new(space);
    let mut distances = Vec::new();
    let Some(&first) = rows.first() else { return (clusters, rows) };
    let mut last = first;
    while rows.len() >= space.k {
        ruler.set(space, &exact(space.points.get(last)));
        let mut seed = (0, 0);
        for (position, &row) in rows.iter().enumerate() {
            let distance = ruler.cost(space.points.get(row));
            if distance > seed.0 {
                seed = (distance, position);
            }
        }
        let seed = rows.remove(seed.1);
        let taken = companions(space, &mut ruler, &mut distances, seed, &rows);
        let mut members = vec![seed];
        members.extend(taken.iter().map(|&position| rows[position as usize]));
        last = match seed_rule {
            SeedRule::LastAdded => members[members.len() - 1],
            SeedRule::LastSeed => seed,
        };
        let mut gone = taken;
        gone.sort_unstable();
        let mut position = 0;
        rows.retain(|_| {
            position += 1;
            gone.binary_search(&(position - 1)).is_err()
        });
        clusters.push(space.cluster(members));
    }
    (clusters, rows)
}

/// Adds rows one by one where they cost the least.
pub(crate) fn place(space: Space, clusters: &mut [Cluster], rows: &[u32]) {
    if rows.is_empty() {
        return;
    }
    let mut index = Index::new(space, clusters);
    for &row in rows {
        let best = index.best(space, clusters, space.points.get(row)).expect("there is a cluster to go to");
        space.add(&mut clusters[best], row);
        index.grew(space, clusters, best);
    }
}

/// The positions of the `k - 1` rows that join a seed, in order: each time the row that costs the least. Ties go to the
/// first.
fn companions(space: Space, ruler: &mut Ruler, distances: &mut Vec<(u32, u32)>, seed: u32, rows: &[u32]) -> Vec<u32> {
    let mut spans = exact(space.points.get(seed));
    ruler.set(space, &spans);
    distances.clear();
    distances.extend((0u32..).zip(rows).map(|(position, &row)| (ruler.cost(space.points.get(row)), position)));
    let near = distances.len().min(NEAREST.max(8 * space.k));
    if near < distances.len() {
        distances.select_nth_unstable(near);
    }
    distances[..near].sort_unstable();
    let mut taken: Vec<u32> = Vec::with_capacity(space.k);
    while taken.len() + 1 < space.k {
        ruler.set(space, &spans);
        let mut best = (u32::MAX, u32::MAX);
        let look = |best: &mut (u32, u32), candidates: &[(u32, u32)]| {
            for &(distance, position) in candidates {
                if distance > best.0 {
                    return;
                }
                let found = (ruler.cost(space.points.get(rows[position as usize])), position);
                if found < *best && !taken.contains(&position) {
                    *best = found;
                }
            }
        };
        look(&mut best, &distances[..near]);
        if near < distances.len() && distances[near - 1].0 <= best.0 {
            // The rest is not sorted, so every row of it is examined.
            for far in &distances[near..] {
                look(&mut best, std::slice::from_ref(far));
            }
        }
        widen(&mut spans, space.points.get(rows[best.1 as usize]));
        taken.push(best.1);
    }
    taken
}

fn exact(point: &[u32]) -> Vec<Span> {
    point.iter().map(|&code| Span::exact(code)).collect()
}

/// The cost of joining one cluster, for many points: tabulated where the domain is small.
pub(crate) struct Ruler<'a> {
    space: Space<'a>,
    spans: Vec<Span>,
    tables: Vec<Vec<u32>>,
}

impl<'a> Ruler<'a> {
    const LARGEST: u32 = 1024;

    pub(crate) fn new(space: Space<'a>) -> Ruler<'a> {
        let tables = (0..space.points.attributes())
            .map(|attribute| {
                let size = space.sizes[attribute];
                if size <= Ruler::LARGEST { vec![0; size as usize] } else { Vec::new() }
            })
            .collect();
        Ruler { space, spans: Vec::new(), tables }
    }

    /// Prepares it for a cluster's spans.
    pub(crate) fn set(&mut self, space: Space, spans: &[Span]) {
        for (attribute, (table, span)) in self.tables.iter_mut().zip(spans).enumerate() {
            if self.spans.get(attribute) == Some(span) {
                continue;
            }
            let scale = space.costs.scale(attribute);
            for (code, cost) in (0..).zip(table.iter_mut()) {
                *cost = scale.cost(span.lo.min(code), span.hi.max(code));
            }
        }
        self.spans.clear();
        self.spans.extend_from_slice(spans);
    }

    /// What a row of the cluster costs once it holds `point` too.
    pub(crate) fn cost(&self, point: &[u32]) -> u32 {
        let mut cost = 0;
        for (attribute, (table, &code)) in self.tables.iter().zip(point).enumerate() {
            cost += match table.get(code as usize) {
                Some(&cost) => cost,
                None => {
                    let span = self.spans[attribute];
                    self.space.costs.scale(attribute).cost(span.lo.min(code), span.hi.max(code))
                }
            };
        }
        cost
    }
}
