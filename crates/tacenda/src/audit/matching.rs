//! Which pairs can be part of a whole: edges that lie in some assignment of all rows.
//!
//! Two views of the same people are two projections of one table, so the truth pairs every row of the
//! one with a row of the other. A pair that no such assignment contains is no pair at all.
//!
//! # Steps
//! Rows that are alike are one node with a number of copies. A largest flow assigns every copy of the
//! smaller side, or there is no assignment. In what the flow leaves over, the sink included, an edge can
//! be used exactly if it carries flow or its two ends lie on a common cycle.
//!
//! # Not concluded
//! Nothing of how likely a pair is. Of three and more views only pairs of views are looked at.

use std::collections::VecDeque;

/// Two sides with copies, and which nodes of them can be paired.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sides {
    pub(crate) left: Vec<u64>,
    pub(crate) right: Vec<u64>,
    /// (left, right)
    pub(crate) edges: Vec<(u32, u32)>,
}

impl Sides {
    /// Per edge, whether some assignment of every copy of the smaller side uses it; `None` where there is
    /// no such assignment.
    pub(crate) fn usable(&self) -> Option<Vec<bool>> {
        let (left, right) = (self.left.iter().sum::<u64>(), self.right.iter().sum::<u64>());
        if left > right {
            let edges = self.edges.iter().map(|&(a, b)| (b, a)).collect();
            return Sides { left: self.right.clone(), right: self.left.clone(), edges }.usable();
        }
        let mut network = Network::new(self);
        if network.fill() < left {
            return None;
        }
        let component = network.components();
        let node = |side: usize, at: u32| if side == 0 { at as usize } else { self.left.len() + at as usize };
        let usable = self.edges.iter().enumerate().map(|(edge, &(a, b))| {
            let flow = network.capacity[2 * edge + 1];
            flow > 0 || component[node(0, a)] == component[node(1, b)]
        });
        Some(usable.collect())
    }
}

/// A flow network: the edges of [`Sides`] first, then those from the source and to the sink. Arc
/// 2e+1 is the way back of arc 2e.
struct Network {
    target: Vec<u32>,
    capacity: Vec<u64>,
    /// Per node, its arcs.
    arcs: Vec<Vec<u32>>,
    source: usize,
    sink: usize,
}

impl Network {
    fn new(sides: &Sides) -> Network {
        let nodes = sides.left.len() + sides.right.len();
        let (source, sink) = (nodes, nodes + 1);
        let mut network =
            Network { target: Vec::new(), capacity: Vec::new(), arcs: vec![Vec::new(); nodes + 2], source, sink };
        for &(a, b) in &sides.edges {
            network.add(a as usize, sides.left.len() + b as usize, u64::MAX / 4);
        }
        for (at, &copies) in sides.left.iter().enumerate() {
            network.add(source, at, copies);
        }
        for (at, &copies) in sides.right.iter().enumerate() {
            network.add(sides.left.len() + at, sink, copies);
        }
        network
    }

    fn add(&mut self, from: usize, to: usize, capacity: u64) {
        self.arcs[from].push(self.target.len() as u32);
        self.target.push(to as u32);
        self.capacity.push(capacity);
        self.arcs[to].push(self.target.len() as u32);
        self.target.push(from as u32);
        self.capacity.push(0);
    }

    /// Sends as much as there is way for, shortest ways first (Dinic); answers how much.
    fn fill(&mut self) -> u64 {
        let mut total = 0;
        loop {
            let depth = self.depths();
            if depth[self.sink] == u32::MAX {
                return total;
            }
            let mut next = vec![0usize; self.arcs.len()];
            loop {
                let sent = self.send(&depth, &mut next);
                if sent == 0 {
                    break;
                }
                total += sent;
            }
        }
    }

    fn depths(&self) -> Vec<u32> {
        let mut depth = vec![u32::MAX; self.arcs.len()];
        depth[self.source] = 0;
        let mut queue = VecDeque::from([self.source]);
        while let Some(node) = queue.pop_front() {
            for &arc in &self.arcs[node] {
                let to = self.target[arc as usize] as usize;
                if self.capacity[arc as usize] > 0 && depth[to] == u32::MAX {
                    depth[to] = depth[node] + 1;
                    queue.push_back(to);
                }
            }
        }
        depth
    }

    /// Sends along one shortest way; 0 where there is none left.
    fn send(&mut self, depth: &[u32], next: &mut [usize]) -> u64 {
        let mut path: Vec<u32> = Vec::new();
        let mut node = self.source;
        while node != self.sink {
            let Some(&arc) = self.arcs[node].get(next[node]) else {
                // A dead end: step back and never come here again in this phase.
                let Some(arc) = path.pop() else {
                    return 0;
                };
                node = self.target[(arc ^ 1) as usize] as usize;
                next[node] += 1;
                continue;
            };
            let to = self.target[arc as usize] as usize;
            if self.capacity[arc as usize] > 0 && depth[to] == depth[node] + 1 {
                path.push(arc);
                node = to;
            } else {
                next[node] += 1;
            }
        }
        let sent = path.iter().map(|&arc| self.capacity[arc as usize]).min().expect("the source is not the sink");
        for arc in path {
            self.capacity[arc as usize] -= sent;
            self.capacity[(arc ^ 1) as usize] += sent;
        }
        sent
    }

    /// Per node, the strongly connected component of what the flow leaves over (Tarjan, without recursion).
    fn components(&self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let nodes = self.arcs.len();
        let (mut number, mut low, mut component) = (vec![NEW; nodes], vec![0u32; nodes], vec![NEW; nodes]);
        let (mut count, mut found) = (0u32, 0u32);
        let mut open: Vec<usize> = Vec::new();
        for start in 0..nodes {
            if number[start] != NEW {
                continue;
            }
            let mut stack: Vec<(usize, usize)> = vec![(start, 0)];
            while let Some((node, at)) = stack.pop() {
                if at == 0 {
                    (number[node], low[node]) = (count, count);
                    count += 1;
                    open.push(node);
                } else {
                    let child = self.target[self.arcs[node][at - 1] as usize] as usize;
                    if component[child] == NEW {
                        low[node] = low[node].min(low[child]);
                    }
                }
                let mut at = at;
                let mut descends = false;
                while at < self.arcs[node].len() {
                    let arc = self.arcs[node][at] as usize;
                    let to = self.target[arc] as usize;
                    at += 1;
                    if self.capacity[arc] == 0 || component[to] != NEW {
                        continue;
                    }
                    if number[to] == NEW {
                        stack.push((node, at));
                        stack.push((to, 0));
                        descends = true;
                        break;
                    }
                    low[node] = low[node].min(number[to]);
                }
                if descends || low[node] != number[node] {
                    continue;
                }
                while let Some(member) = open.pop() {
                    component[member] = found;
                    if member == node {
                        break;
                    }
                }
                found += 1;
            }
        }
        component
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Tries every assignment of the copies of the left side.
    fn by_trying(sides: &Sides) -> Option<Vec<bool>> {
        let copies: Vec<u32> =
            sides.left.iter().zip(0u32..).flat_map(|(&copies, node)| (0..copies).map(move |_| node)).collect();
        let mut used = vec![false; sides.edges.len()];
        let mut any = false;
        try_from(sides, &copies, &mut sides.right.clone(), &mut Vec::new(), &mut |taken| {
            any = true;
            taken.iter().for_each(|&edge| used[edge] = true);
        });
        any.then_some(used)
    }

    fn try_from(
        sides: &Sides,
        copies: &[u32],
        spare: &mut Vec<u64>,
        taken: &mut Vec<usize>,
        found: &mut impl FnMut(&[usize]),
    ) {
        let Some(&node) = copies.get(taken.len()) else {
            return found(taken);
        };
        for (edge, &(a, b)) in sides.edges.iter().enumerate() {
            if a == node && spare[b as usize] > 0 {
                spare[b as usize] -= 1;
                taken.push(edge);
                try_from(sides, copies, spare, taken, found);
                taken.pop();
                spare[b as usize] += 1;
            }
        }
    }

    fn sides() -> impl Strategy<Value = Sides> {
        let counts = || prop::collection::vec(1u64..3, 1..4);
        (counts(), counts(), prop::collection::vec(any::<bool>(), 9)).prop_map(|(left, right, bits)| {
            let pairs = (0..left.len() as u32).flat_map(|a| (0..right.len() as u32).map(move |b| (a, b)));
            let edges = pairs.filter(|&(a, b)| bits[(a * 3 + b) as usize]).collect();
            Sides { left, right, edges }
        })
    }

    proptest! {
        /// SCIENCE D4.6: equal to enumeration, with sides of unequal size.
        #[test]
        fn an_edge_is_usable_exactly_if_some_assignment_uses_it(sides in sides()) {
            let (left, right) = (sides.left.iter().sum::<u64>(), sides.right.iter().sum::<u64>());
            prop_assume!(left <= right);
            prop_assert_eq!(sides.usable(), by_trying(&sides));
        }

        #[test]
        fn the_larger_side_may_stand_left(sides in sides()) {
            let turned = Sides {
                left: sides.right.clone(),
                right: sides.left.clone(),
                edges: sides.edges.iter().map(|&(a, b)| (b, a)).collect(),
            };
            prop_assert_eq!(sides.usable(), turned.usable());
        }
    }
}
