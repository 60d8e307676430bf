//! What an audit looks at: releases made by anyone, and what the attacker knows.
//!
//! Releases of other tools become [`Release`]s of ours before they get here: one numbering of values,
//! one order of codes for all of them. A column that a file does not have is published as the root
//! there, which is what its absence says. What a file shows beside its rows is in [`Traces`].

use crate::audit::Rerun;
use crate::audit::knowledge::Knowledge;
use crate::model::{Release, Schema, Terms, Traces};

/// A series of releases, its own or anybody else's.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The columns of all releases together; domains as declared, or as wide as what was published.
    pub schema: &'a Schema,
    /// The releases in order of time. They share one numbering of values.
    pub releases: &'a [Release],
    /// Per release, what the file shows beside its rows.
    pub traces: &'a [Traces],
    /// What was promised, where that is known.
    pub promise: Option<&'a Terms>,
    /// Everyone's quasi values and presence, where the truth is at hand.
    pub knowledge: Option<&'a Knowledge<'a>>,
    /// The publisher, who can make the releases again, where that is asked.
    pub rerun: Option<&'a dyn Rerun>,
}

/// What the attacker knows besides everyone's quasi values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attacker {
    /// Who is in which release.
    pub presence: bool,
    /// That the target is in the first release (the arrival that correspondence attacks assume).
    pub first_release: bool,
    /// The sensitive values of how many other people.
    pub known_people: u32,
}

impl Default for Attacker {
    /// The attacker of the promises: quasi values and presence of everyone.
    fn default() -> Attacker {
        Attacker { presence: true, first_release: false, known_people: 0 }
    }
}

impl Attacker {
    /// The attacker a promise speaks of.
    pub fn of(terms: &Terms) -> Attacker {
        Attacker { presence: terms.holds_with_presence_known, ..Attacker::default() }
    }
}

/// Where a number becomes a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The least number of people that must not be distinguished.
    pub k: u32,
    /// The least number of sensitive values that must remain possible.
    pub l: u32,
    /// The largest distance of a group's values from the whole table's; `None`: measured, not judged.
    pub t: Option<f64>,
}

impl Default for Thresholds {
    /// Two people and two values: what anyone would call a breach if it failed.
    fn default() -> Thresholds {
        Thresholds { k: 2, l: 2, t: None }
    }
}

impl Thresholds {
    /// The thresholds of a promise. Where it says nothing of people or of values, the threshold is 1,
    /// which nothing falls below.
    pub fn of(terms: &Terms) -> Thresholds {
        Thresholds { k: terms.k.unwrap_or(1), l: terms.l.unwrap_or(1), t: None }
    }
}

/// How much work is done at most. What lies above is reported as not assessed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Limits {
    /// The most people of a component whose matchings are refined.
    pub refine_people: usize,
    /// The most people of a component whose worlds are counted.
    pub worlds_people: usize,
    /// The most search nodes for one component.
    pub worlds_nodes: u64,
    /// The most pairs of overlapping groups looked at between two releases.
    pub pairs: u64,
    /// Compare every pair of releases, not only neighbours.
    pub all_pairs: bool,
    /// The seed of attacks that draw.
    pub seed: u64,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            refine_people: 4096,
            worlds_people: 12,
            worlds_nodes: 1_000_000,
            pairs: 50_000_000,
            all_pairs: false,
            seed: 1,
        }
    }
}
