//! Union-find: which things are tied together. The lowest number represents its set.

/// Disjoint sets of numbers that can be joined, never split.
#[derive(Clone, Debug)]
pub(crate) struct Ties(Vec<u32>);

impl Ties {
    /// Every thing in a set of its own.
    pub(crate) fn new(count: usize) -> Ties {
        Ties((0..count as u32).collect())
    }

    /// The lowest number of a thing's set.
    pub(crate) fn find(&mut self, mut node: u32) -> u32 {
        while self.0[node as usize] != node {
            self.0[node as usize] = self.0[self.0[node as usize] as usize];
            node = self.0[node as usize];
        }
        node
    }

    /// Makes two sets one.
    pub(crate) fn tie(&mut self, left: u32, right: u32) {
        let (left, right) = (self.find(left), self.find(right));
        self.0[left.max(right) as usize] = left.min(right);
    }

    /// Whether two things are in one set.
    pub(crate) fn are_tied(&mut self, left: u32, right: u32) -> bool {
        self.find(left) == self.find(right)
    }
}
