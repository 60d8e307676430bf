//! What an audit looks at: releases made by anyone, and what the attacker knows.
//!
//! Releases of other tools become [`Release`]s of ours before they get here: one numbering of values,
//! one order of codes for all of them. A column that a file does not have is published as the root
//! there, which is what its absence says. What a file shows beside its rows is in [`Traces`].

use crate::audit::knowledge::Knowledge;
use crate::model::{Release, Schema, Terms};

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
}

/// What a file shows beside its rows, and what it lacks.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Traces {
    /// Per row of the release, its place in the file, counted from 0; empty where the order is ours.
    pub places: Vec<u32>,
    /// Per group, the text it was numbered with in the file; empty where groups have no names there.
    pub group_names: Vec<Box<str>>,
    /// Per quasi attribute of the schema, whether the file has that column; empty: all of them.
    pub columns: Vec<bool>,
    /// Whether the file lacks the sensitive column; then every row has the same value.
    pub without_sensitive: bool,
    /// Whether the numbers of counterfeits are known. Where not, they are taken to be none.
    pub counterfeits_known: bool,
}

impl Traces {
    /// Of a release of our own: its groups are numbered from 1, it says how many counterfeits there are, and its
    /// order is sorted, not the input's.
    pub fn ours(release: &Release, columns: Vec<bool>, without_sensitive: bool) -> Traces {
        Traces {
            group_names: (1..=release.group_count()).map(|group| group.to_string().into()).collect(),
            counterfeits_known: true,
            columns,
            without_sensitive,
            ..Traces::default()
        }
    }
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
    /// The least number of people that must not be told apart.
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
    /// The lines that a promise draws. Where it says nothing of people or of values, the line is 1,
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
