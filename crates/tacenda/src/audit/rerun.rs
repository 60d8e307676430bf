//! Making the releases again. Only the publisher, who has the tables and the seed, can do that.
//!
//! This room cannot form groups, so the caller passes in something that can.

use std::fmt;

/// Makes the releases again, with the private tables, the seed and the program.
pub trait Rerun: fmt::Debug + Sync {
    /// Makes every release again, and then once more after exchanging values that must not influence the groups
    /// (science A3.11-b, A3.11-d). `None` if the releases differ from the published ones.
    fn exchange(&self) -> Option<Vec<Exchanged>>;
}

/// What exchanging values changed in one release.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Exchanged {
    /// The people of the release.
    pub people: u64,
    /// The people in groups that came out different.
    pub moved: u64,
    /// The numbers of these groups, from 0, as published.
    pub groups: Vec<u32>,
}
