//! Lets neighbouring clusters exchange rows as long as the loss falls.
//!
//! There are two moves. Two clusters swap a row each, or one hands a row over. Or a few neighbours pool their rows and
//! cluster them again from another seed. A move is made only if it lowers the loss; each row beyond `k` in a cluster
//! counts as a small additional loss.
//!
//! Blocks of clusters are processed independently, so the number of threads does not matter. The next round shifts the
//! blocks.

use crate::grouping::cluster::FEW;
use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::index::Index;
use crate::grouping::cluster::store::{Cluster, Space};
use crate::model::{Lots, Rng, Span};
use rayon::prelude::*;

/// Clusters of a block.
const BLOCK: usize = 1 << 10;
/// The number of neighbours with which a cluster exchanges rows.
const NEIGHBOURS: usize = 8;
/// The most neighbours that pool their rows with it.
const TOGETHER: u64 = 4;

/// How long clusters exchange rows.
#[derive(Clone, Copy)]
pub(crate) struct Effort {
    /// How often each cluster pools its rows with neighbours in a round.
    tries: usize,
    /// How many rounds there are.
    rounds: usize,
}

impl Effort {
    /// The effort for a table of so many clusters.
    pub(crate) fn of(clusters: usize) -> Effort {
        if clusters <= FEW { Effort { tries: 5, rounds: 6 } } else { Effort { tries: 2, rounds: 1 } }
    }
}

/// Exchanges rows between neighbours. Leaves the clusters in another order.
pub(crate) fn exchange(space: Space, clusters: &mut Vec<Cluster>, ranks: &[u32], effort: Effort, lots: &Lots) {
    if space.k == 1 {
        return;
    }
    let Effort { tries, rounds } = effort;
    for round in 0..rounds {
        // Similar clusters come next to each other, so that they are in one block.
        let order = Index::new(space, clusters).order();
        let mut old: Vec<Option<Cluster>> = clusters.drain(..).map(Some).collect();
        clusters.extend(order.into_iter().filter_map(|id| old[id].take()));
        let shift = if round % 2 == 0 { 0 } else { (BLOCK / 2).min(clusters.len()) };
        let (head, tail) = clusters.split_at_mut(shift);
        let blocks: Vec<&mut [Cluster]> = std::iter::once(head).chain(tail.chunks_mut(BLOCK)).collect();
        let new: Vec<Vec<Cluster>> = blocks
            .into_par_iter()
            .map(|block| Block { space, clusters: block, ranks, tries }.improve(lots, round as u32))
            .collect();
        clusters.extend(new.into_iter().flatten());
    }
}

/// Swaps rows between neighbours, once and without lots.
pub(crate) fn sweep(space: Space, clusters: &mut [Cluster]) {
    clusters.par_chunks_mut(BLOCK).for_each(|clusters| {
        let mut block = Block { space, clusters, ranks: &[], tries: 0 };
        let neighbours = block.neighbours();
        block.swap_all(&neighbours);
    });
}

struct Block<'a> {
    space: Space<'a>,
    clusters: &'a mut [Cluster],
    ranks: &'a [u32],
    tries: usize,
}

impl Block<'_> {
    /// Swaps, then regroups. Returns clusters that are new.
    fn improve(mut self, lots: &Lots, round: u32) -> Vec<Cluster> {
        let neighbours = self.neighbours();
        self.swap_all(&neighbours);
        let mut new = Vec::new();
        let mut regroup = Regroup::default();
        for (one, others) in neighbours.iter().enumerate() {
            if others.is_empty() {
                continue;
            }
            let mut rng = lots.stream(&[round, self.clusters[one].rows[0]]);
            for _ in 0..self.tries {
                if self.clusters[one].cost == 0 && self.clusters[one].rows.len() == self.space.k {
                    break;
                }
                let mut set = vec![one];
                for _ in 0..=rng.below(TOGETHER) {
                    let nearer = rng.below(others.len() as u64).min(rng.below(others.len() as u64));
                    let other = others[nearer as usize] as usize;
                    if !set.contains(&other) {
                        set.push(other);
                    }
                }
                self.try_together(&set, &mut rng, &mut regroup, &mut new);
            }
        }
        new
    }

    /// Swaps rows between all neighbours.
    fn swap_all(&mut self, neighbours: &[Vec<u32>]) {
        let mut sides: Vec<Side> = std::iter::repeat_with(Side::default).take(self.clusters.len()).collect();
        for (one, others) in neighbours.iter().enumerate() {
            for &other in others {
                self.swap_rows(one, other as usize, &mut sides);
            }
        }
    }

    /// For each cluster, the others of the block with which merging would cost the least.
    fn neighbours(&self) -> Vec<Vec<u32>> {
        let mut found: Vec<(u64, u32)> = Vec::new();
        (0..self.clusters.len())
            .map(|one| {
                let mine = &self.clusters[one];
                if mine.cost == 0 && mine.rows.len() == self.space.k {
                    return Vec::new();
                }
                found.clear();
                found.extend((0..self.clusters.len()).filter(|&other| other != one).map(|other| {
                    let theirs = &self.clusters[other];
                    let merged = 2 * u64::from(self.space.costs.merged(&mine.spans, &theirs.spans));
                    (merged - u64::from(mine.cost) - u64::from(theirs.cost), other as u32)
                }));
                if found.len() > NEIGHBOURS {
                    found.select_nth_unstable(NEIGHBOURS);
                    found.truncate(NEIGHBOURS);
                }
                found.sort_unstable();
                found.iter().map(|&(_, other)| other).collect()
            })
            .collect()
    }

    /// Swaps or hands over the row that saves the most, again and again.
    fn swap_rows(&mut self, one: usize, other: usize, sides: &mut [Side]) {
        let Block { space, .. } = *self;
        loop {
            let (a, b) = (&self.clusters[one], &self.clusters[other]);
            if a.cost == 0 && a.rows.len() == space.k {
                return;
            }
            let [mine, theirs] = sides.get_disjoint_mut([one, other]).expect("nobody is their own neighbour");
            mine.renew(space, a);
            theirs.renew(space, b);
            let (size_a, size_b) = (a.rows.len() as u64, b.rows.len() as u64);
            let crowds = self.space.crowd(a.rows.len()) + self.space.crowd(b.rows.len());
            let mut best = (a.loss() + b.loss() + crowds, usize::MAX, usize::MAX);
            for (x, &row) in a.rows.iter().enumerate() {
                let point = space.points.get(row);
                if a.rows.len() > space.k {
                    let handed = (size_a - 1) * u64::from(mine.costs[x])
                        + (size_b + 1) * u64::from(space.costs.joined(&b.spans, point))
                        + self.space.crowd(a.rows.len() - 1)
                        + self.space.crowd(b.rows.len() + 1);
                    if handed < best.0 {
                        best = (handed, x, usize::MAX);
                    }
                }
                // A lower bound: the cluster without the row costs this much, whatever it gets in return.
                let floor = size_a * u64::from(mine.costs[x]) + crowds;
                if floor + size_b * u64::from(theirs.least) >= best.0 {
                    continue;
                }
                for (y, &return_row) in b.rows.iter().enumerate() {
                    if floor + size_b * u64::from(theirs.costs[y]) >= best.0 {
                        continue;
                    }
                    let swapped = size_b * u64::from(space.costs.joined(theirs.spans(y), point)) + crowds;
                    if swapped + size_a * u64::from(mine.costs[x]) >= best.0 {
                        continue;
                    }
                    let back = space.costs.joined(mine.spans(x), space.points.get(return_row));
                    let sum = swapped + size_a * u64::from(back);
                    // Strictly less, because two equal swaps would otherwise alternate for ever.
                    if sum < best.0 {
                        best = (sum, x, y);
                    }
                }
            }
            if best.1 == usize::MAX {
                return;
            }
            let mut a = std::mem::take(&mut self.clusters[one].rows);
            let mut b = std::mem::take(&mut self.clusters[other].rows);
            if best.2 == usize::MAX {
                b.push(a.remove(best.1));
            } else {
                std::mem::swap(&mut a[best.1], &mut b[best.2]);
            }
            self.clusters[one] = space.cluster(a);
            self.clusters[other] = space.cluster(b);
            (mine.is_new, theirs.is_new) = (false, false);
        }
    }

    /// Clusters the rows of some clusters again, from a random seed, and keeps what is better.
    fn try_together(&mut self, set: &[usize], rng: &mut Rng, regroup: &mut Regroup, new: &mut Vec<Cluster>) {
        let before: u64 =
            set.iter().map(|&id| self.clusters[id].loss() + self.space.crowd(self.clusters[id].rows.len())).sum();
        regroup.pool.clear();
        for &id in set {
            regroup.pool.extend_from_slice(&self.clusters[id].rows);
        }
        regroup.pool.sort_unstable_by_key(|&row| self.ranks[row as usize]);
        let seed = rng.below(regroup.pool.len() as u64) as usize;
        regroup.run(self.space, seed, before);
        let after: u64 =
            regroup.clusters.iter().map(|cluster| cluster.loss() + self.space.crowd(cluster.rows.len())).sum();
        if !regroup.pool.is_empty() || after >= before || regroup.clusters.len() < set.len() {
            return;
        }
        for (index, cluster) in regroup.clusters.drain(..).enumerate() {
            match set.get(index) {
                Some(&id) => self.clusters[id] = cluster,
                None => new.push(cluster),
            }
        }
    }
}

/// One of two clusters that swap: its spans and cost without each of its rows.
#[derive(Default)]
struct Side {
    /// Whether it is that of the cluster as it is now.
    is_new: bool,
    attributes: usize,
    spans: Vec<Span>,
    costs: Vec<u32>,
    least: u32,
}

impl Side {
    fn renew(&mut self, space: Space, cluster: &Cluster) {
        if std::mem::replace(&mut self.is_new, true) {
            return;
        }
        self.attributes = space.points.attributes();
        self.spans.clear();
        self.costs.clear();
        space.without_each(&cluster.rows, |_, spans| {
            self.spans.extend_from_slice(spans);
            self.costs.push(space.costs.of(spans));
        });
        self.least = self.costs.iter().copied().min().unwrap_or(0);
    }

    fn spans(&self, row: usize) -> &[Span] {
        &self.spans[row * self.attributes..(row + 1) * self.attributes]
    }
}

/// Greedy clustering of a small pool.
#[derive(Default)]
struct Regroup {
    /// The rows still to place, the rarest first.
    pool: Vec<u32>,
    /// What each of them costs the cluster that is formed, at least.
    floors: Vec<u32>,
    clusters: Vec<Cluster>,
}

impl Regroup {
    /// Forms clusters of `k`: the first around the row at position `seed`, each next one around the row farthest from
    /// the last one taken. It gives up when the loss reaches `limit`, and leaves the remaining rows in the pool.
    fn run(&mut self, space: Space, seed: usize, limit: u64) {
        self.clusters.clear();
        let mut next = seed;
        let mut loss = 0;
        while self.pool.len() >= space.k {
            let cluster = self.form(space, next);
            let last = space.points.get(cluster.rows[cluster.rows.len() - 1]);
            loss += cluster.loss();
            self.clusters.push(cluster);
            if loss >= limit && !self.pool.is_empty() {
                return;
            }
            let mut farthest = (0, 0);
            for (position, &row) in self.pool.iter().enumerate() {
                let distance = space.costs.distance(last, space.points.get(row));
                if distance > farthest.0 {
                    farthest = (distance, position);
                }
            }
            next = farthest.1;
        }
        for row in std::mem::take(&mut self.pool) {
            let best = space.best_of(&self.clusters, space.points.get(row)).expect("a pool fills a cluster");
            space.add(&mut self.clusters[best], row);
        }
    }

    /// Takes a row and the `k - 1` rows that join it from the pool, each time the row that costs the least. Ties go to the
    /// first.
    ///
    /// A cluster only grows wider, so what a row cost before is never more than what it costs now: a row whose old cost is
    /// too much is not priced again.
    fn form(&mut self, space: Space, seed: usize) -> Cluster {
        let Regroup { pool, floors, .. } = self;
        let first = pool.remove(seed);
        let mut spans: Vec<Span> = space.points.get(first).iter().map(|&code| Span::exact(code)).collect();
        floors.clear();
        floors.extend(pool.iter().map(|&row| space.costs.distance(space.points.get(first), space.points.get(row))));
        let mut rows = Vec::with_capacity(space.k + 1);
        rows.push(first);
        let mut cost = 0;
        while rows.len() < space.k {
            let mut best = (u32::MAX, 0);
            for (position, (floor, &row)) in floors.iter_mut().zip(pool.iter()).enumerate() {
                if *floor >= best.0 {
                    continue;
                }
                *floor = space.costs.joined(&spans, space.points.get(row));
                if *floor < best.0 {
                    best = (*floor, position);
                    if *floor == cost {
                        break;
                    }
                }
            }
            floors.remove(best.1);
            let row = pool.remove(best.1);
            widen(&mut spans, space.points.get(row));
            cost = best.0;
            rows.push(row);
        }
        Cluster { rows, spans, cost }
    }
}
