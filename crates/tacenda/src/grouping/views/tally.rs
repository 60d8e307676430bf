//! The worst of many groups that change over time.

use crate::grouping::views::worst::Worst;
use std::collections::BinaryHeap;

/// A group and its version. A later version makes the earlier one void.
pub(super) type Stamp = (u32, u32);

/// The worst over groups: the largest valid cost, and how many groups break the requirement.
#[derive(Clone, Default)]
pub(super) struct Tally {
    costs: BinaryHeap<(u64, Stamp)>,
    broken: u32,
}

impl Tally {
    /// Adds the judgement of a group.
    pub(super) fn add(&mut self, worst: Worst, stamp: Stamp) {
        self.costs.push((worst.cost, stamp));
        self.broken += u32::from(!worst.holds);
    }

    /// Removes the judgement of a group. Its cost is dropped once its stamp is void.
    pub(super) fn take_back(&mut self, worst: Worst) {
        self.broken -= u32::from(!worst.holds);
    }

    /// How many groups break the requirement.
    pub(super) fn broken(&self) -> u32 {
        self.broken
    }

    /// The largest valid cost, given the current version of every group.
    pub(super) fn cost(&mut self, versions: &[u32]) -> u64 {
        while let Some(&(cost, (group, version))) = self.costs.peek() {
            if versions[group as usize] == version {
                return cost;
            }
            self.costs.pop();
        }
        0
    }
}
