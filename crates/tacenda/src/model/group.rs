//! Groups: the result of forming groups.

use crate::model::{Row, Span, Table, Value};
use std::collections::BTreeMap;

/// Regions of many groups, one span per quasi attribute, stored one after another.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Regions {
    attributes: usize,
    spans: Vec<Span>,
}

impl Regions {
    /// No regions yet, over this many attributes.
    pub fn new(attributes: usize) -> Regions {
        Regions { attributes, spans: Vec::new() }
    }

    /// The same, with room for so many.
    pub fn with_capacity(attributes: usize, regions: usize) -> Regions {
        Regions { attributes, spans: Vec::with_capacity(attributes * regions) }
    }

    /// How many regions there are.
    pub fn len(&self) -> usize {
        self.spans.len().checked_div(self.attributes).unwrap_or(0)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How many attributes a region has.
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// Adds a region.
    ///
    /// # Panics
    /// If it has another number of spans.
    pub fn push(&mut self, region: &[Span]) {
        assert_eq!(region.len(), self.attributes, "a region has one span per quasi attribute");
        self.spans.extend_from_slice(region);
    }

    /// The spans of a region.
    pub fn get(&self, group: usize) -> &[Span] {
        &self.spans[group * self.attributes..(group + 1) * self.attributes]
    }

    /// All regions in order.
    pub fn iter(&self) -> impl Iterator<Item = &[Span]> {
        self.spans.chunks_exact(self.attributes.max(1))
    }
}

/// The result of forming groups: every row of the table is in exactly one place.
///
/// Groups are in the policy's own order, which the vault remembers and a release never shows.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Grouping {
    rows: Vec<Row>,
    row_ends: Vec<u32>,
    counterfeits: Vec<Value>,
    counterfeit_ends: Vec<u32>,
    /// The regions of the groups, if the policy fixes them. Otherwise it is empty, and each group is published with the
    /// smallest region that covers it.
    pub regions: Regions,
    /// Private: the cell of each group, if it is more than its region; otherwise empty.
    pub cells: Regions,
    /// Rows left out of this release.
    pub withheld: Vec<Row>,
    /// Numbers that the policy needs next time.
    pub facts: BTreeMap<String, u64>,
}

/// One group of a [`Grouping`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct GroupView<'a> {
    /// The people in it.
    pub rows: &'a [Row],
    /// The values of its counterfeits.
    pub counterfeits: &'a [Value],
}

impl Grouping {
    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.row_ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.row_ends.is_empty()
    }

    /// Adds a group.
    pub fn push(&mut self, rows: &[Row], counterfeits: &[Value]) {
        self.rows.extend_from_slice(rows);
        self.row_ends.push(self.rows.len() as u32);
        self.counterfeits.extend_from_slice(counterfeits);
        self.counterfeit_ends.push(self.counterfeits.len() as u32);
    }

    /// Adds a group that is published with `region`.
    pub fn push_with_region(&mut self, rows: &[Row], counterfeits: &[Value], region: &[Span]) {
        if self.is_empty() {
            self.regions = Regions::new(region.len());
        }
        self.push(rows, counterfeits);
        self.regions.push(region);
        assert_eq!(self.regions.len(), self.len(), "either every group has a region or none has");
    }

    /// A group.
    pub fn group(&self, index: usize) -> GroupView<'_> {
        let range = |ends: &[u32]| {
            let start = if index == 0 { 0 } else { ends[index - 1] as usize };
            start..ends[index] as usize
        };
        GroupView {
            rows: &self.rows[range(&self.row_ends)],
            counterfeits: &self.counterfeits[range(&self.counterfeit_ends)],
        }
    }

    /// All groups in order.
    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        (0..self.len()).map(|index| self.group(index))
    }

    /// How many counterfeits there are in all.
    pub fn counterfeit_count(&self) -> usize {
        self.counterfeits.len()
    }

    /// How many people are published.
    pub fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// Asserts that the grouping places every row of `table` exactly once.
    ///
    /// # Panics
    /// If it does not. That is a bug in the policy, never a fault of the data.
    pub fn assert_covers(&self, table: &Table) {
        let mut placed = vec![false; table.len()];
        for row in self.rows.iter().chain(&self.withheld) {
            assert!(!placed[row.index()], "a policy placed a row twice");
            placed[row.index()] = true;
        }
        assert!(placed.iter().all(|&placed| placed), "a policy lost a row");
    }
}
