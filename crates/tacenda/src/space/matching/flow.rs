//! Which pairs can be matched at all: maximum flow, and the arcs that some full flow uses.
//!
//! The left nodes are people, or kinds of people with their number. The right nodes are places with their capacity. A
//! flow is full if everyone on the left has a place. An arc is usable if some full flow uses it. That is so if this
//! flow uses it, or if both its ends lie in one strongly connected component of the residual graph (science D4.6). The
//! sink belongs to that graph, because places may stay empty.

/// The question who can take which place.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Matching {
    /// How many people each left node stands for.
    pub(crate) supplies: Vec<u32>,
    /// The capacity of each right node.
    pub(crate) capacities: Vec<u32>,
    /// Who may take which place: left, right. Each pair once.
    pub(crate) arcs: Vec<(u32, u32)>,
}

impl Matching {
    /// Per arc, whether some full flow uses it. `None` if there is no full flow.
    pub(crate) fn usable_arcs(&self) -> Option<Vec<bool>> {
        self.fill().ok().map(|full| full.usable_arcs())
    }

    /// A full flow. The error is the number of people who have no place in a maximum flow.
    pub(crate) fn fill(&self) -> Result<FullFlow<'_>, u64> {
        let mut network = Network::new(self);
        let wanted: u64 = self.supplies.iter().map(|&supply| u64::from(supply)).sum();
        match wanted - network.fill() {
            0 => Ok(FullFlow { matching: self, network }),
            lacking => Err(lacking),
        }
    }
}

/// A full flow, which answers questions about all full flows.
pub(crate) struct FullFlow<'a> {
    matching: &'a Matching,
    network: Network,
}

impl FullFlow<'_> {
    /// How much this flow sends along an arc.
    pub(crate) fn sent(&self, arc: usize) -> u32 {
        self.network.residual[2 * arc + 1]
    }

    /// Per arc, whether some full flow uses it.
    pub(crate) fn usable_arcs(&self) -> Vec<bool> {
        let components = self.network.components();
        let arcs = self.matching.arcs.iter().enumerate();
        arcs.map(|(index, &(left, right))| {
            self.sent(index) > 0 || components[left as usize] == components[self.network.right(right) as usize]
        })
        .collect()
    }

    /// The most that any full flow sends along an arc.
    pub(crate) fn most_on(&mut self, arc: usize) -> u32 {
        let (left, right) = self.matching.arcs[arc];
        let (edge, right) = (2 * arc, self.network.right(right));
        // Additional flow along the arc must return another way.
        let more = self.network.send_around(right, left, edge);
        self.network.residual[edge] -= more;
        self.network.residual[edge + 1] += more;
        self.network.residual[edge + 1]
    }

    /// The least that any full flow sends into a place on the right.
    pub(crate) fn least_into(&mut self, right: u32) -> u32 {
        let edge = 2 * (self.matching.arcs.len() + self.matching.supplies.len() + right as usize);
        let (right, sink) = (self.network.right(right), self.network.sink);
        let less = self.network.send_around(right, sink, edge);
        self.network.residual[edge] += less;
        self.network.residual[edge + 1] -= less;
        self.network.residual[edge + 1]
    }
}

/// The residual network. Edge `2i` is an arc and edge `2i + 1` its reverse.
struct Network {
    left: u32,
    source: u32,
    sink: u32,
    /// Per edge, where it leads.
    heads: Vec<u32>,
    /// Per edge, how much more it can carry.
    residual: Vec<u32>,
    /// The edges of each node, one node after another.
    edges: Vec<u32>,
    starts: Vec<u32>,
}

const UNSEEN: u32 = u32::MAX;

impl Network {
    fn new(matching: &Matching) -> Network {
        let (left, right) = (matching.supplies.len() as u32, matching.capacities.len() as u32);
        let (source, sink) = (left + right, left + right + 1);
        let inner = matching
            .arcs
            .iter()
            .map(|&(a, b)| (a, left + b, matching.supplies[a as usize].min(matching.capacities[b as usize])));
        let outer = matching.supplies.iter().enumerate().map(|(node, &supply)| (source, node as u32, supply));
        let last = matching.capacities.iter().enumerate().map(|(node, &capacity)| (left + node as u32, sink, capacity));
        let all: Vec<(u32, u32, u32)> = inner.chain(outer).chain(last).collect();
        let mut starts = vec![0u32; sink as usize + 2];
        for &(from, to, _) in &all {
            starts[from as usize + 1] += 1;
            starts[to as usize + 1] += 1;
        }
        for node in 1..starts.len() {
            starts[node] += starts[node - 1];
        }
        let mut next = starts.clone();
        let mut edges = vec![0; 2 * all.len()];
        let (mut heads, mut residual) = (Vec::with_capacity(2 * all.len()), Vec::with_capacity(2 * all.len()));
        for &(from, to, capacity) in &all {
            for (node, head, room) in [(from, to, capacity), (to, from, 0)] {
                edges[next[node as usize] as usize] = heads.len() as u32;
                next[node as usize] += 1;
                heads.push(head);
                residual.push(room);
            }
        }
        Network { left, source, sink, heads, residual, edges, starts }
    }

    fn right(&self, node: u32) -> u32 {
        self.left + node
    }

    /// Dinic's algorithm: while the sink can be reached, fill the shortest paths. Returns the added flow.
    fn fill(&mut self) -> u64 {
        let mut flow = 0;
        loop {
            let levels = self.levels();
            if levels[self.sink as usize] == UNSEEN {
                return flow;
            }
            let mut next = self.starts.clone();
            while let Some(pushed) = self.push_path(&levels, &mut next) {
                flow += u64::from(pushed);
            }
        }
    }

    /// How many steps every node is away from the source.
    fn levels(&self) -> Vec<u32> {
        let mut levels = vec![UNSEEN; self.sink as usize + 1];
        levels[self.source as usize] = 0;
        let mut queue = vec![self.source];
        let mut at = 0;
        while at < queue.len() {
            let node = queue[at];
            at += 1;
            for &edge in self.edges_of(node) {
                let head = self.heads[edge as usize];
                if self.residual[edge as usize] > 0 && levels[head as usize] == UNSEEN {
                    levels[head as usize] = levels[node as usize] + 1;
                    queue.push(head);
                }
            }
        }
        levels
    }

    fn edges_of(&self, node: u32) -> &[u32] {
        &self.edges[self.starts[node as usize] as usize..self.starts[node as usize + 1] as usize]
    }

    /// Sends as much as fits along one path of rising levels. `next` remembers which edges are spent.
    fn push_path(&mut self, levels: &[u32], next: &mut [u32]) -> Option<u32> {
        let mut path: Vec<u32> = Vec::new();
        let mut node = self.source;
        while node != self.sink {
            let end = self.starts[node as usize + 1];
            let step = (next[node as usize]..end).find(|&at| {
                let edge = self.edges[at as usize] as usize;
                self.residual[edge] > 0 && levels[self.heads[edge] as usize] == levels[node as usize] + 1
            });
            next[node as usize] = step.unwrap_or(end);
            match step {
                Some(at) => {
                    let edge = self.edges[at as usize];
                    path.push(edge);
                    node = self.heads[edge as usize];
                }
                None => {
                    let edge = path.pop()?;
                    node = self.heads[edge as usize ^ 1];
                    next[node as usize] += 1;
                }
            }
        }
        let pushed = path.iter().map(|&edge| self.residual[edge as usize]).min()?;
        for edge in path {
            self.residual[edge as usize] -= pushed;
            self.residual[edge as usize ^ 1] += pushed;
        }
        Some(pushed)
    }

    /// Sends as much as possible from one node to another, avoiding an edge, its reverse, and the source. Returns the
    /// amount.
    fn send_around(&mut self, from: u32, to: u32, edge: usize) -> u32 {
        let kept = (self.residual[edge], self.residual[edge + 1]);
        (self.residual[edge], self.residual[edge + 1]) = (0, 0);
        let mut sent = 0;
        // The edge each node was reached by.
        let mut reached = vec![UNSEEN; self.sink as usize + 1];
        loop {
            reached.fill(UNSEEN);
            let mut queue = vec![from];
            let mut at = 0;
            while at < queue.len() && reached[to as usize] == UNSEEN {
                let node = queue[at];
                at += 1;
                for place in self.starts[node as usize]..self.starts[node as usize + 1] {
                    let step = self.edges[place as usize];
                    let head = self.heads[step as usize];
                    if self.residual[step as usize] > 0
                        && head != self.source
                        && head != from
                        && reached[head as usize] == UNSEEN
                    {
                        reached[head as usize] = step;
                        queue.push(head);
                    }
                }
            }
            if reached[to as usize] == UNSEEN {
                break;
            }
            let mut path = Vec::new();
            let mut node = to;
            while node != from {
                let step = reached[node as usize];
                path.push(step);
                node = self.heads[step as usize ^ 1];
            }
            let pushed = path.iter().map(|&step| self.residual[step as usize]).min().expect("two different nodes");
            for step in path {
                self.residual[step as usize] -= pushed;
                self.residual[step as usize ^ 1] += pushed;
            }
            sent += pushed;
        }
        (self.residual[edge], self.residual[edge + 1]) = kept;
        sent
    }

    /// The strongly connected component of every node in the residual graph without the source. All supplies are sent,
    /// so nothing leads out of the source. Tarjan's algorithm, with an explicit stack.
    fn components(&self) -> Vec<u32> {
        let count = self.sink as usize + 1;
        let (mut order, mut low) = (vec![UNSEEN; count], vec![0; count]);
        let mut component = vec![UNSEEN; count];
        let (mut seen, mut found) = (0, 0);
        let (mut open, mut walk): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::new());
        for start in 0..count as u32 {
            if order[start as usize] == UNSEEN {
                walk.push((start, self.starts[start as usize]));
            }
            while let Some(&(node, at)) = walk.last() {
                let index = node as usize;
                if order[index] == UNSEEN {
                    (order[index], low[index]) = (seen, seen);
                    seen += 1;
                    open.push(node);
                }
                if at < self.starts[index + 1] {
                    walk.last_mut().expect("just seen").1 += 1;
                    let edge = self.edges[at as usize] as usize;
                    let head = self.heads[edge] as usize;
                    if !self.leads_on(edge) || component[head] != UNSEEN {
                        continue;
                    }
                    if order[head] == UNSEEN {
                        walk.push((head as u32, self.starts[head]));
                    } else {
                        low[index] = low[index].min(order[head]);
                    }
                    continue;
                }
                walk.pop();
                if let Some(&(parent, _)) = walk.last() {
                    low[parent as usize] = low[parent as usize].min(low[index]);
                }
                if low[index] == order[index] {
                    while component[index] == UNSEEN {
                        component[open.pop().expect("the root is still open") as usize] = found;
                    }
                    found += 1;
                }
            }
        }
        component
    }

    /// Whether an edge belongs to the residual graph. An arc between left and right always does, because its capacity
    /// only reflects that more is never needed.
    fn leads_on(&self, edge: usize) -> bool {
        let from = self.heads[edge ^ 1];
        let is_arc = edge.is_multiple_of(2) && from < self.left;
        is_arc || self.residual[edge] > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// science G19: Bob is a clerk, Cathy may be anything; a clerk has HIV, a driver has flu.
    #[test]
    fn who_is_certain_takes_the_place_of_who_is_not() {
        let matching = Matching { supplies: vec![1, 1], capacities: vec![1, 1], arcs: vec![(0, 0), (1, 0), (1, 1)] };
        assert_eq!(matching.usable_arcs(), Some(vec![true, false, true]));
    }

    #[test]
    fn a_place_that_may_stay_empty_keeps_both_usable() {
        let matching = Matching { supplies: vec![1], capacities: vec![1, 1], arcs: vec![(0, 0), (0, 1)] };
        assert_eq!(matching.usable_arcs(), Some(vec![true, true]));
    }

    #[test]
    fn too_few_places_is_no_flow() {
        let matching = Matching { supplies: vec![2, 1], capacities: vec![2], arcs: vec![(0, 0), (1, 0)] };
        assert_eq!(matching.usable_arcs(), None);
    }

    /// Every way to place everyone, one unit after another; marks the arcs that occur.
    fn enumerate(matching: &Matching) -> Option<Vec<bool>> {
        fn place(
            matching: &Matching,
            units: &[u32],
            room: &mut [u32],
            used: &mut Vec<usize>,
            usable: &mut [bool],
        ) -> bool {
            let Some((&unit, rest)) = units.split_first() else {
                used.iter().for_each(|&arc| usable[arc] = true);
                return true;
            };
            let mut any = false;
            for (arc, &(left, right)) in matching.arcs.iter().enumerate() {
                if left == unit && room[right as usize] > 0 {
                    room[right as usize] -= 1;
                    used.push(arc);
                    any |= place(matching, rest, room, used, usable);
                    used.pop();
                    room[right as usize] += 1;
                }
            }
            any
        }
        let units: Vec<u32> = (0..matching.supplies.len() as u32)
            .flat_map(|node| std::iter::repeat_n(node, matching.supplies[node as usize] as usize))
            .collect();
        let mut usable = vec![false; matching.arcs.len()];
        let mut room = matching.capacities.clone();
        place(matching, &units, &mut room, &mut Vec::new(), &mut usable).then_some(usable)
    }

    /// Every full flow: how much goes along each arc.
    fn flows(matching: &Matching) -> std::collections::BTreeSet<Vec<u32>> {
        let units: Vec<u32> = (0..matching.supplies.len() as u32)
            .flat_map(|node| std::iter::repeat_n(node, matching.supplies[node as usize] as usize))
            .collect();
        let mut all = std::collections::BTreeSet::from([vec![0; matching.arcs.len()]]);
        for unit in units {
            let mut more = std::collections::BTreeSet::new();
            for flow in &all {
                for (arc, &(left, right)) in matching.arcs.iter().enumerate() {
                    let into = matching.arcs.iter().zip(flow).filter(|(arc, _)| arc.1 == right);
                    let used: u32 = into.map(|(_, sent)| *sent).sum();
                    if left == unit && used < matching.capacities[right as usize] {
                        let mut longer = flow.clone();
                        longer[arc] += 1;
                        more.insert(longer);
                    }
                }
            }
            all = more;
        }
        all
    }

    fn matching() -> impl Strategy<Value = Matching> {
        (1usize..5, 1usize..5).prop_flat_map(|(left, right)| {
            let arcs = proptest::collection::vec(proptest::bool::weighted(0.6), left * right);
            (proptest::collection::vec(1u32..3, left), proptest::collection::vec(1u32..4, right), arcs).prop_map(
                move |(supplies, capacities, arcs)| {
                    let arcs = (0..left * right)
                        .filter(|&cell| arcs[cell])
                        .map(|cell| ((cell / right) as u32, (cell % right) as u32))
                        .collect();
                    Matching { supplies, capacities, arcs }
                },
            )
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]
        /// science E1-36: the most on an arc and the least into a place are those of the best full matching.
        #[test]
        fn most_and_least_are_those_of_some_full_matching(matching in matching()) {
            prop_assume!(matching.supplies.iter().sum::<u32>() <= 6);
            let all = flows(&matching);
            let Ok(mut full) = matching.fill() else {
                prop_assert!(all.is_empty());
                return Ok(());
            };
            // Asked one after the other: each answer leaves a full flow behind.
            for (arc, &(left, right)) in matching.arcs.iter().enumerate() {
                let most = all.iter().map(|flow| flow[arc]).max().unwrap();
                prop_assert_eq!(full.most_on(arc), most);
                // The closed form never claims less.
                prop_assert!(most <= matching.supplies[left as usize].min(matching.capacities[right as usize]));
            }
            for right in 0..matching.capacities.len() as u32 {
                let into = |flow: &Vec<u32>| -> u32 {
                    let arcs = matching.arcs.iter().zip(flow).filter(|(arc, _)| arc.1 == right);
                    arcs.map(|(_, sent)| *sent).sum()
                };
                prop_assert_eq!(full.least_into(right), all.iter().map(into).min().unwrap());
            }
        }

        /// science E1-33, E1-36, at most seven units.
        #[test]
        fn usable_arcs_are_those_of_some_full_matching(matching in matching()) {
            prop_assume!(matching.supplies.iter().sum::<u32>() <= 7);
            prop_assert_eq!(matching.usable_arcs(), enumerate(&matching));
        }
    }
}
