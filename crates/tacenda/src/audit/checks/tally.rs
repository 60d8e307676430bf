//! One fault counted over the groups of a release, with the worst of them as witness.

use crate::audit::{Fault, Finding, Witness};

/// How often a fault was met.
pub(super) struct Tally {
    fault: Fault,
    people: u64,
    groups: u64,
    worst: Option<(u64, Witness)>,
    has_example: bool,
}

impl Tally {
    pub(super) fn new(fault: Fault) -> Tally {
        Tally { fault, people: 0, groups: 0, worst: None, has_example: true }
    }

    /// Counts one occurrence. The lowest `rank` is the worst; ties go to the first.
    pub(super) fn add(&mut self, people: u64, rank: u64, witness: impl FnOnce() -> Witness) {
        self.people += people;
        self.groups += 1;
        if self.worst.as_ref().is_none_or(|worst| rank < worst.0) {
            self.worst = Some((rank, witness()));
        }
    }

    /// How many people were counted.
    pub(super) fn people(&self) -> u64 {
        self.people
    }

    /// The worst so far.
    pub(super) fn worst(&self) -> Option<&Witness> {
        self.worst.as_ref().map(|(_, witness)| witness)
    }

    /// Marks that people were counted, not groups.
    pub(super) fn without_groups(&mut self) {
        self.groups = 0;
        self.has_example = false;
    }

    /// Limits the number of people to this.
    pub(super) fn at_most(&mut self, people: u64) {
        self.people = self.people.min(people);
    }

    /// The finding, if there was anything.
    pub(super) fn finding(self, release: u32, others: Vec<u32>) -> Option<Finding> {
        let (_, witness) = self.worst?;
        let example = witness.groups.last().filter(|_| self.has_example).map(|&(_, group)| group + 1);
        let Tally { fault, people, groups, .. } = self;
        Some(Finding { fault, release, people, groups, example, others, witness: Some(witness) })
    }
}
