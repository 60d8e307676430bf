//! Making the releases again: only the publisher, who has the tables and the seed, can try that.
//!
//! This room knows no way to form groups. It is handed somebody who does.

use std::fmt;

/// Somebody who can make the releases again: with the private tables, the seed and the program.
pub trait Rerun: fmt::Debug + Sync {
    /// Makes every release again, and then once more with values exchanged among people whose values must not show in
    /// the groups (science A3.11-b, A3.11-d). `None` where the releases do not come out as they were published.
    fn exchange(&self) -> Option<Vec<Exchanged>>;
}

/// What exchanging values changed in one release.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Exchanged {
    /// The people of the release.
    pub people: u64,
    /// The people in groups that came out otherwise.
    pub moved: u64,
    /// The numbers of these groups, from 0, as published.
    pub groups: Vec<u32>,
}
