//! Rows of an earlier release carried over to a later one, of one component, counted exactly: counterfeits and sets of groups too.
//!
//! Every row of the earlier release that is a person's is a row of the later one, with the same value, in a group that
//! overlaps. Which rows are counterfeits is not known, only how many of each group. So each group of the earlier release
//! lets go of that many, and each group of the later one takes at most as many as it has people. That is one flow. The most
//! or the least that any such flow sends over some arcs at once is found by turning cycles as long as one gains.
//!
//! # Cost
//! Rows times arcs times nodes, for every question: for components of a few dozen rows.

use crate::model::{Release, Value};
use std::collections::{BTreeMap, VecDeque};

/// The flow of one component.
#[derive(Clone, Debug)]
pub(super) struct Network {
    nodes: usize,
    /// From, to, and what more can be sent; the arc back is the next one.
    arcs: Vec<(u32, u32, u32)>,
    /// Earlier group, later group, value and arc of everything that can be carried over.
    carried: Vec<(u32, u32, Value, usize)>,
    /// Later group and the arc of everyone who comes into it.
    arrivals: Vec<(u32, usize)>,
}

/// Two groups that overlap.
type Pair = (u32, u32);

impl Network {
    /// Steps that a question takes at most.
    pub(super) fn cost(&self) -> u64 {
        (self.arcs.len() * self.nodes) as u64
    }

    /// Everyone of some groups of the earlier release, carried over; `None` where that cannot be.
    pub(super) fn new(earlier: &Release, later: &Release, old: &[u32], new: &[u32], pairs: &[Pair]) -> Option<Network> {
        let mut network = Network { nodes: 3, arcs: Vec::new(), carried: Vec::new(), arrivals: Vec::new() };
        let (source, sink, staying) = (0, 1, 2);
        let mut old_cells: BTreeMap<(u32, Value), u32> = BTreeMap::new();
        let mut new_cells: BTreeMap<(u32, Value), u32> = BTreeMap::new();
        let (mut rows, mut people) = (0, 0);
        for &group in old {
            let counterfeits = earlier.counterfeits[group as usize];
            let left = network.node();
            network.arc(left, sink, counterfeits);
            for run in earlier.group_values(group as usize).chunk_by(|a, b| a == b) {
                let cell = network.node();
                network.arc(source, cell, run.len() as u32);
                network.arc(cell, left, counterfeits.min(run.len() as u32));
                old_cells.insert((group, run[0]), cell);
            }
            rows += earlier.group_values(group as usize).len() as u32;
            people += earlier.people(group as usize);
        }
        for &group in new {
            let here = network.node();
            let arc = network.arc(here, staying, later.people(group as usize));
            network.arrivals.push((group, arc));
            for run in later.group_values(group as usize).chunk_by(|a, b| a == b) {
                let cell = network.node();
                network.arc(cell, here, run.len() as u32);
                new_cells.insert((group, run[0]), cell);
            }
        }
        network.arc(staying, sink, people);
        for &(one, other) in pairs {
            for run in earlier.group_values(one as usize).chunk_by(|a, b| a == b) {
                if let Some(&to) = new_cells.get(&(other, run[0])) {
                    let arc = network.arc(old_cells[&(one, run[0])], to, run.len() as u32);
                    network.carried.push((one, other, run[0], arc));
                }
            }
        }
        (network.fill(source, sink) == rows).then_some(network)
    }

    /// The most rows that can go between some pairs of groups at once.
    pub(super) fn most_between(&mut self, is_asked: impl Fn(Pair) -> bool) -> u32 {
        let asked = self.carried.iter().filter(|&&(one, other, ..)| is_asked((one, other)));
        let asked: Vec<usize> = asked.map(|entry| entry.3).collect();
        self.turn(&asked, 1)
    }

    /// Per pair of groups and value that some flow uses, the most.
    pub(super) fn most(&mut self) -> Vec<(Pair, Value, u32)> {
        let mut all = Vec::new();
        for at in 0..self.carried.len() {
            let (one, other, value, arc) = self.carried[at];
            let most = self.turn(&[arc], 1);
            if most > 0 {
                all.push(((one, other), value, most));
            }
        }
        all
    }

    /// The least rows of some later groups together that must be of earlier people.
    pub(super) fn least_into(&mut self, is_asked: impl Fn(u32) -> bool) -> u32 {
        let asked = self.arrivals.iter().filter(|(group, _)| is_asked(*group));
        let asked: Vec<usize> = asked.map(|entry| entry.1).collect();
        self.turn(&asked, -1)
    }

    fn node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes as u32 - 1
    }

    fn arc(&mut self, from: u32, to: u32, room: u32) -> usize {
        self.arcs.extend([(from, to, room), (to, from, 0)]);
        self.arcs.len() - 2
    }

    fn push(&mut self, arcs: &[usize]) -> u32 {
        let most = arcs.iter().map(|&arc| self.arcs[arc].2).min().unwrap_or(0);
        for &arc in arcs {
            self.arcs[arc].2 -= most;
            self.arcs[arc ^ 1].2 += most;
        }
        most
    }

    /// Sends as much as can be, by the shortest ways first.
    fn fill(&mut self, source: u32, sink: u32) -> u32 {
        let mut sent = 0;
        loop {
            let mut by: Vec<Option<usize>> = vec![None; self.nodes];
            let mut queue = VecDeque::from([source]);
            while let Some(node) = queue.pop_front() {
                for (arc, &(from, to, room)) in self.arcs.iter().enumerate() {
                    if from == node && room > 0 && to != source && by[to as usize].is_none() {
                        by[to as usize] = Some(arc);
                        queue.push_back(to);
                    }
                }
            }
            let mut way = Vec::new();
            let mut node = sink;
            while node != source {
                let Some(arc) = by[node as usize] else { return sent };
                way.push(arc);
                node = self.arcs[arc].0;
            }
            sent += self.push(&way);
        }
    }

    /// Sends as much (`gain` 1) or as little (-1) as can be over some arcs at once, and answers how much that is.
    fn turn(&mut self, arcs: &[usize], gain: i32) -> u32 {
        let mut gains = vec![0i32; self.arcs.len()];
        for &arc in arcs {
            gains[arc] = gain;
            gains[arc ^ 1] = -gain;
        }
        while let Some(cycle) = self.gaining_cycle(&gains) {
            self.push(&cycle);
        }
        arcs.iter().map(|&arc| self.arcs[arc ^ 1].2).sum()
    }

    /// A cycle that gains, by Bellman and Ford.
    fn gaining_cycle(&self, gains: &[i32]) -> Option<Vec<usize>> {
        let mut best = vec![0i32; self.nodes];
        let mut by: Vec<Option<usize>> = vec![None; self.nodes];
        let mut last = None;
        for _ in 0..self.nodes {
            last = None;
            for (arc, &(from, to, room)) in self.arcs.iter().enumerate() {
                if room > 0 && best[from as usize] + gains[arc] > best[to as usize] {
                    best[to as usize] = best[from as usize] + gains[arc];
                    by[to as usize] = Some(arc);
                    last = Some(to);
                }
            }
            last?;
        }
        // Going back as often as there are nodes ends in the cycle.
        let before = |node: u32| self.arcs[by[node as usize].expect("a node that gained was come to")].0;
        let start = (0..self.nodes).fold(last?, |node, _| before(node));
        let mut cycle = Vec::new();
        let mut node = start;
        loop {
            let arc = by[node as usize].expect("it is in the cycle");
            cycle.push(arc);
            node = self.arcs[arc].0;
            if node == start {
                return Some(cycle);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::sketch::release;

    /// Two groups become two others; one row of the first is a counterfeit.
    #[test]
    fn rows_next_to_counterfeits_are_carried_over_too() {
        let (earlier, later) = (release(1, "0-9/aab+1 0-9/bc"), release(2, "0-9/ab 0-9/bc"));
        let pairs = [(0, 0), (0, 1), (1, 0), (1, 1)];
        let mut network = Network::new(&earlier, &later, &[0, 1], &[0, 1], &pairs).unwrap();
        // One a of the first is no person's, since the later release has one a.
        let most: Vec<(Pair, Value, u32)> = network.most();
        let of = |pair: Pair, value: u32| {
            most.iter().find(|entry| (entry.0, entry.1) == (pair, Value(value))).map_or(0, |entry| entry.2)
        };
        assert_eq!((of((0, 0), 0), of((0, 0), 1), of((0, 1), 1), of((1, 1), 2)), (1, 1, 1, 1));
        assert_eq!(network.most_between(|pair| pair.0 == 0), 2);
        assert_eq!(network.least_into(|group| group == 1), 2);
        // Nobody can be carried over where the later release has no room.
        assert!(Network::new(&earlier, &release(2, "0-9/ab"), &[0, 1], &[0], &[(0, 0), (1, 0)]).is_none());
    }

    #[test]
    fn what_two_groups_share_at_once_is_less_than_the_sum_of_what_each_could() {
        // One a of the earlier group goes to one of two later ones: two rows one by one, one at once.
        let (earlier, later) = (release(1, "0-9/ab"), release(2, "0-9/ac 0-9/ab"));
        let mut network = Network::new(&earlier, &later, &[0], &[0, 1], &[(0, 0), (0, 1)]).unwrap();
        let alone = [0, 1].map(|group| network.most_between(|pair| pair.1 == group));
        assert_eq!(alone, [1, 2]);
        assert_eq!(network.most_between(|_| true), 2);
        assert_eq!(network.least_into(|_| true), 2);
        assert_eq!(network.least_into(|group| group == 0), 0);
    }
}
