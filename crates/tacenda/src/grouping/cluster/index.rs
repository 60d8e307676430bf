//! Finds the best cluster for a row without examining all clusters.
//!
//! It is a binary tree over the clusters. Each node keeps, per attribute, the ranges of the lower ends, the upper ends
//! and the costs of its clusters. From these follows a lower bound on the increase of loss for every cluster below the
//! node (science A1.3). The search takes the node with the lowest bound first. It stops when no node can hold a better
//! cluster, or an equal one with a lower id. So its answer is that of [`Space::best_of`], ties included.
//!
//! Bounds are only ever widened. They stay valid when clusters shrink or disappear, but become loose. After half the
//! clusters have changed, the tree is rebuilt.

use crate::grouping::cluster::store::{Cluster, Space};
use crate::model::Span;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A tree over clusters.
pub(crate) struct Index {
    attributes: usize,
    nodes: Vec<Node>,
    /// Per node and attribute.
    ranges: Vec<Range>,
    /// The leaf each cluster is in; `NOWHERE` for a removed one.
    places: Vec<u32>,
    /// How many clusters there were when the tree was built.
    built: usize,
    /// How many clusters were added, removed or shrank since then.
    changes: usize,
    /// Nodes still to examine; kept to save allocations.
    open: BinaryHeap<Reverse<(u64, u32, u32)>>,
    /// How many nodes and clusters [`Index::best`] has examined so far: a measure of work that is the same on every
    /// machine.
    pub(crate) weighed: u64,
}

struct Node {
    parent: u32,
    content: Content,
    /// The least number of rows of a cluster below.
    fewest: u32,
    /// The least cost of a cluster below.
    cheapest: u32,
    /// The lowest possible id of a cluster below.
    first: u32,
}

enum Content {
    Fork(u32, u32),
    Leaf(Vec<u32>),
}

/// How far the clusters below a node reach on one attribute.
#[derive(Clone, Copy)]
struct Range {
    /// The range of the lower ends.
    lows: Span,
    /// The range of the upper ends.
    highs: Span,
    /// The range of the costs.
    costs: Span,
}

const NOWHERE: u32 = u32::MAX;
const LEAF: usize = 8;

impl Index {
    /// The tree over all clusters that are not empty.
    pub(crate) fn new(space: Space, clusters: &[Cluster]) -> Index {
        let mut index = Index {
            attributes: space.points.attributes(),
            nodes: Vec::new(),
            ranges: Vec::new(),
            places: Vec::new(),
            built: 0,
            changes: 0,
            open: BinaryHeap::new(),
            weighed: 0,
        };
        index.rebuild(space, clusters);
        index
    }

    /// The cluster whose loss a row at `point` increases least. Ties go to the first.
    pub(crate) fn best(&mut self, space: Space, clusters: &[Cluster], point: &[u32]) -> Option<usize> {
        let mut best: Option<(u64, u32)> = None;
        self.open.clear();
        self.open.push(Reverse((0, 0, 0)));
        while let Some(Reverse((bound, first, node))) = self.open.pop() {
            // A node with an equal bound may hold an equal cluster with a lower id, so it is skipped only if all ids
            // below are higher. If many people are equal, many clusters take a newcomer at no cost.
            if best.is_some_and(|best| (bound, first) > best) {
                break;
            }
            match &self.nodes[node as usize].content {
                Content::Fork(left, right) => {
                    self.weighed += 2;
                    for child in [*left, *right] {
                        let (bound, first) = (self.bound(space, child, point), self.nodes[child as usize].first);
                        if best.is_none_or(|best| (bound, first) <= best) {
                            self.open.push(Reverse((bound, first, child)));
                        }
                    }
                }
                Content::Leaf(ids) => {
                    self.weighed += ids.len() as u64;
                    for &id in ids {
                        let found = (space.increment(&clusters[id as usize], point), id);
                        if best.is_none_or(|best| found < best) {
                            best = Some(found);
                        }
                    }
                }
            }
        }
        best.map(|(_, id)| id as usize)
    }

    /// The cheapest cluster other than `own` that covers `point`. Ties go to the first.
    pub(crate) fn cheapest_cover(
        &mut self,
        space: Space,
        clusters: &[Cluster],
        point: &[u32],
        own: usize,
    ) -> Option<usize> {
        let mut best: Option<(u32, u32)> = None;
        self.open.clear();
        self.open.push(Reverse((0, 0, 0)));
        while let Some(Reverse((bound, first, node))) = self.open.pop() {
            if best.is_some_and(|(least, id)| (bound, first) > (u64::from(least), id)) {
                break;
            }
            match &self.nodes[node as usize].content {
                Content::Fork(left, right) => {
                    for child in [*left, *right] {
                        if self.may_cover(space, child, point) {
                            let Node { cheapest, first, .. } = self.nodes[child as usize];
                            self.open.push(Reverse((u64::from(cheapest), first, child)));
                        }
                    }
                }
                Content::Leaf(ids) => {
                    for &id in ids {
                        let cluster = &clusters[id as usize];
                        let found = (cluster.cost, id);
                        if id as usize != own
                            && best.is_none_or(|best| found < best)
                            && space.costs.covers(&cluster.spans, point)
                        {
                            best = Some(found);
                        }
                    }
                }
            }
        }
        best.map(|(_, id)| id as usize)
    }

    /// All clusters in the order of the tree, in which similar ones are near each other.
    pub(crate) fn order(&self) -> Vec<usize> {
        let mut order = Vec::with_capacity(self.built);
        let mut open = vec![0u32];
        while let Some(node) = open.pop() {
            match &self.nodes[node as usize].content {
                Content::Fork(left, right) => open.extend([*right, *left]),
                Content::Leaf(ids) => order.extend(ids.iter().map(|&id| id as usize)),
            }
        }
        order
    }

    /// Notes that a cluster has taken a row.
    pub(crate) fn grew(&mut self, space: Space, clusters: &[Cluster], id: usize) {
        let mut node = self.places[id];
        while node != NOWHERE {
            self.widen(space, node, id as u32, &clusters[id]);
            node = self.nodes[node as usize].parent;
        }
    }

    /// Notes that a cluster was split: `id` shrank and `new` is there.
    pub(crate) fn split(&mut self, space: Space, clusters: &[Cluster], id: usize, new: usize) {
        let leaf = self.places[id];
        self.places.resize(self.places.len().max(new + 1), NOWHERE);
        self.places[new] = leaf;
        if let Content::Leaf(ids) = &mut self.nodes[leaf as usize].content {
            ids.push(new as u32);
        }
        self.grew(space, clusters, id);
        self.grew(space, clusters, new);
        self.divide(space, clusters, leaf);
        self.changed(space, clusters);
    }

    /// Takes a cluster out.
    pub(crate) fn remove(&mut self, space: Space, clusters: &[Cluster], id: usize) {
        let leaf = std::mem::replace(&mut self.places[id], NOWHERE);
        if let Content::Leaf(ids) = &mut self.nodes[leaf as usize].content {
            ids.retain(|&other| other as usize != id);
        }
        self.changed(space, clusters);
    }

    fn changed(&mut self, space: Space, clusters: &[Cluster]) {
        self.changes += 1;
        if self.changes > self.built / 2 + LEAF {
            self.rebuild(space, clusters);
        }
    }

    fn rebuild(&mut self, space: Space, clusters: &[Cluster]) {
        let placed = |id: &u32| self.places.get(*id as usize).is_none_or(|&place| place != NOWHERE);
        let first = self.nodes.is_empty();
        let ids: Vec<u32> = (0..clusters.len() as u32)
            .filter(|id| !clusters[*id as usize].rows.is_empty() && (first || placed(id)))
            .collect();
        self.nodes.clear();
        self.ranges.clear();
        self.places = vec![NOWHERE; clusters.len()];
        self.built = ids.len();
        self.changes = 0;
        let root = self.push(NOWHERE);
        self.fill(space, clusters, root, ids);
    }

    fn push(&mut self, parent: u32) -> u32 {
        let node = self.nodes.len() as u32;
        self.nodes.push(Node {
            parent,
            content: Content::Leaf(Vec::new()),
            fewest: u32::MAX,
            cheapest: u32::MAX,
            first: u32::MAX,
        });
        let nothing = Span { lo: u32::MAX, hi: 0 };
        self.ranges
            .resize(self.ranges.len() + self.attributes, Range { lows: nothing, highs: nothing, costs: nothing });
        node
    }

    /// Puts clusters below a node that has none.
    fn fill(&mut self, space: Space, clusters: &[Cluster], node: u32, ids: Vec<u32>) {
        let mut open = vec![(node, ids)];
        while let Some((node, mut ids)) = open.pop() {
            for &id in &ids {
                self.widen(space, node, id, &clusters[id as usize]);
            }
            let cut = if ids.len() <= LEAF { None } else { self.cut(space, clusters, node, &mut ids) };
            let Some(cut) = cut else {
                for &id in &ids {
                    self.places[id as usize] = node;
                }
                self.nodes[node as usize].content = Content::Leaf(ids);
                continue;
            };
            let right = ids.split_off(cut);
            let (left_node, right_node) = (self.push(node), self.push(node));
            self.nodes[node as usize].content = Content::Fork(left_node, right_node);
            open.push((left_node, ids));
            open.push((right_node, right));
        }
    }

    /// Splits a leaf that has become too large.
    fn divide(&mut self, space: Space, clusters: &[Cluster], leaf: u32) {
        let Content::Leaf(ids) = &mut self.nodes[leaf as usize].content else { return };
        if ids.len() > 2 * LEAF {
            let ids = std::mem::take(ids);
            self.fill(space, clusters, leaf, ids);
        }
    }

    /// Sorts clusters by the middle or the width that varies most, over all attributes, and returns where to cut: near
    /// the middle, between different clusters if possible.
    fn cut(&self, space: Space, clusters: &[Cluster], node: u32, ids: &mut [u32]) -> Option<usize> {
        let ranges = self.ranges_of(node);
        let spread = |attribute: usize| {
            let range = ranges[attribute];
            let middles = Span { lo: (range.lows.lo + range.highs.lo) / 2, hi: (range.lows.hi + range.highs.hi) / 2 };
            let by_middle = space.costs.scale(attribute).cost(middles.lo.min(middles.hi), middles.hi);
            (by_middle, range.costs.hi - range.costs.lo)
        };
        let (attribute, (by_middle, by_width)) =
            (0..self.attributes)
                .map(|attribute| (attribute, spread(attribute)))
                .max_by_key(|&(attribute, (by_middle, by_width))| (by_middle.max(by_width), Reverse(attribute)))?;
        if by_middle.max(by_width) == 0 {
            // Equal people form equal clusters. These are sorted by size and then by id, so that the search finds the
            // lowest id without examining the others.
            ids.sort_unstable_by_key(|&id| (clusters[id as usize].rows.len(), id));
            return Some(ids.len() / 2);
        }
        let scale = space.costs.scale(attribute);
        let key = |id: u32| {
            let span = clusters[id as usize].spans[attribute];
            if by_middle > by_width { span.lo + (span.hi - span.lo) / 2 } else { scale.cost(span.lo, span.hi) }
        };
        ids.sort_unstable_by_key(|&id| (key(id), id));
        let middle = ids.len() / 2;
        let before = ids.partition_point(|&id| key(id) < key(ids[middle]));
        let after = ids.partition_point(|&id| key(id) <= key(ids[middle]));
        let quarter = ids.len() / 4;
        let between = [before, after].into_iter().filter(|&cut| cut > quarter && cut < ids.len() - quarter);
        Some(between.min_by_key(|&cut| cut.abs_diff(middle)).unwrap_or(middle))
    }

    fn ranges_of(&self, node: u32) -> &[Range] {
        let start = node as usize * self.attributes;
        &self.ranges[start..start + self.attributes]
    }

    fn widen(&mut self, space: Space, node: u32, id: u32, cluster: &Cluster) {
        let start = node as usize * self.attributes;
        let reach = |range: Span, at: u32| Span { lo: range.lo.min(at), hi: range.hi.max(at) };
        for (attribute, (range, span)) in self.ranges[start..].iter_mut().zip(&cluster.spans).enumerate() {
            range.lows = reach(range.lows, span.lo);
            range.highs = reach(range.highs, span.hi);
            range.costs = reach(range.costs, space.costs.scale(attribute).cost(span.lo, span.hi));
        }
        let node = &mut self.nodes[node as usize];
        node.fewest = node.fewest.min(cluster.rows.len() as u32);
        node.cheapest = node.cheapest.min(cluster.cost);
        node.first = node.first.min(id);
    }

    /// A lower bound on the increment of every cluster below `node`.
    fn bound(&self, space: Space, node: u32, point: &[u32]) -> u64 {
        let (mut after, mut gain) = (0u64, 0u64);
        for (attribute, (range, &code)) in self.ranges_of(node).iter().zip(point).enumerate() {
            let scale = space.costs.scale(attribute);
            // Every span after joining includes at least these codes.
            let joined = scale.cost(range.lows.hi.min(code), range.highs.lo.max(code));
            let hull = Span { lo: range.lows.lo, hi: range.highs.hi };
            after += u64::from(joined.max(range.costs.lo));
            gain += u64::from(joined.saturating_sub(range.costs.hi).max(scale.least_gain(hull, code)));
        }
        after + u64::from(self.nodes[node as usize].fewest) * gain
    }

    fn may_cover(&self, space: Space, node: u32, point: &[u32]) -> bool {
        self.ranges_of(node).iter().zip(point).enumerate().all(|(attribute, (range, &code))| {
            let hull = Span { lo: range.lows.lo, hi: range.highs.hi };
            let scale = space.costs.scale(attribute);
            hull.contains(code)
                || hull.lo <= hull.hi
                    && scale.cost(range.lows.hi.min(code), range.highs.lo.max(code)) <= range.costs.hi
                    && scale.least_gain(hull, code) == 0
        })
    }
}
