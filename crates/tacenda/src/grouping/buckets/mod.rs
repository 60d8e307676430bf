//! Buckets: the rows of all people who share a value set, and how they are filled and cut.
//!
//! A bucket is *balanced* if every value of its set has equally many rows, counterfeits included. A balanced bucket can
//! be cut into groups that hold every value equally often. Two promises use this: `m-invariance` and
//! `incremental-l-diversity`.

pub mod assign;
pub mod balance;
pub mod cells;
pub mod crowd;
pub mod cut;
pub mod deal;
pub mod division;
pub mod exchange;
pub mod fill;
pub mod hilbert;
pub mod levels;
pub mod outlook;
pub mod settle;
pub mod split;
pub mod steer;
pub mod surplus;
pub mod updated;

use crate::model::Value;

/// All rows that are published with one value set.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Bucket {
    /// The value set, ascending.
    pub set: Vec<Value>,
    /// Per value of the set, the rows that hold it.
    pub lists: Vec<Vec<u32>>,
    /// How many copies of each value are published: at least the length of the longest list.
    pub copies: u64,
}

impl Bucket {
    /// A bucket with nobody in it.
    pub fn new(set: &[Value]) -> Bucket {
        Bucket { set: set.to_vec(), lists: vec![Vec::new(); set.len()], copies: 0 }
    }

    /// The position of a value in the set.
    pub fn position(&self, value: Value) -> Option<usize> {
        self.set.binary_search(&value).ok()
    }

    /// How many rows of a value are missing.
    pub fn gap(&self, position: usize) -> u64 {
        self.copies - self.lists[position].len() as u64
    }

    /// How many people are in it.
    pub fn people(&self) -> usize {
        self.lists.iter().map(Vec::len).sum()
    }

    /// Adds a row of a value, and a copy of every value if there is no gap for it.
    pub fn add(&mut self, position: usize, row: u32) {
        self.lists[position].push(row);
        self.copies = self.copies.max(self.lists[position].len() as u64);
    }
}
