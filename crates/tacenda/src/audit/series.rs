//! What an audit examines: releases made by any tool, and what the attacker knows.
//!
//! Releases of other tools become [`Release`]s of ours before they get here: one numbering of values,
//! one order of codes for all of them. A column that a file does not have is published as the root
//! there, which is what its absence says. What a file shows beside its rows is in [`Traces`].

use crate::audit::Rerun;
use crate::audit::knowledge::Knowledge;
use crate::model::{Reader, RecordKey, Release, Schema, Terms, Traces, Value};
use rustc_hash::FxHashMap;
use std::fmt;

/// A series of releases, of a project or of any other publisher.
#[derive(Clone, Copy, Debug)]
pub struct Series<'a> {
    /// The columns of all releases together. Domains are as declared, or as wide as the published values.
    pub schema: &'a Schema,
    /// The releases in order of time. They share one numbering of values.
    pub releases: &'a [Release],
    /// Per release, what the file shows beside its rows.
    pub traces: &'a [Traces],
    /// What was promised, where that is known.
    pub promise: Option<&'a Terms>,
    /// Everyone's quasi values and presence, where the truth is at hand.
    pub knowledge: Option<&'a Knowledge<'a>>,
    /// Sensitive values that nobody who has one ever loses.
    pub permanent: &'a [Value],
    /// Everyone whom the releases might be about, where a table of them was given.
    pub population: Option<&'a Population>,
    /// Who lives with whom, of the people of the private tables, where that was said.
    pub households: Option<&'a Households>,
    /// The publisher, who can make the releases again, where that is asked.
    pub rerun: Option<&'a dyn Rerun>,
}

/// The people of whom those in the releases are a part: only their quasi codes.
#[derive(Clone, Default)]
pub struct Population {
    /// Per quasi attribute, one code a person. Whoever has a value that no release can hold is left out.
    pub quasi: Vec<Vec<u32>>,
    /// How many people there are, those left out included.
    pub people: u64,
}

impl fmt::Debug for Population {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Population({} people)", self.people)
    }
}

/// People who live together, by number. Who is in none lives alone, or where is not known.
#[derive(Clone, Default)]
pub struct Households {
    numbers: FxHashMap<RecordKey, u32>,
    count: u32,
}

impl Households {
    /// From the name of everyone's household, table after table. An empty name is none. Somebody with different households in
    /// different tables has none either: nothing is concluded from who moved. Answers also how many people that are.
    pub fn new<'a>(named: impl IntoIterator<Item = (RecordKey, &'a str)>) -> (Households, u64) {
        let mut of_name: FxHashMap<&str, u32> = FxHashMap::default();
        let mut numbers: FxHashMap<RecordKey, Option<u32>> = FxHashMap::default();
        for (person, name) in named.into_iter().filter(|(_, name)| !name.is_empty()) {
            let next = of_name.len() as u32;
            let home = *of_name.entry(name).or_insert(next);
            let own = numbers.entry(person).or_insert(Some(home));
            *own = own.filter(|&own| own == home);
        }
        let moved = numbers.values().filter(|home| home.is_none()).count() as u64;
        let numbers = numbers.into_iter().filter_map(|(person, home)| Some((person, home?))).collect();
        (Households { numbers, count: of_name.len() as u32 }, moved)
    }

    /// The household of a person.
    pub(super) fn of(&self, person: RecordKey) -> Option<u32> {
        self.numbers.get(&person).copied()
    }

    /// One more than the highest number.
    pub(super) fn len(&self) -> u32 {
        self.count
    }
}

impl fmt::Debug for Households {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Households({} people)", self.numbers.len())
    }
}

/// What the attacker knows besides everyone's quasi values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Attacker {
    /// Who is in which release.
    pub presence: bool,
    /// That the target is in the first release, as correspondence attacks assume.
    pub first_release: bool,
    /// The sensitive values of how many other people.
    pub known_people: u32,
    /// Whether the attacker also knows the program; `None` means as the promise says, or only the rule without a
    /// promise.
    pub reader: Option<Reader>,
}

impl Default for Attacker {
    /// The attacker of the promises: quasi values and presence of everyone.
    fn default() -> Attacker {
        Attacker { presence: true, first_release: false, known_people: 0, reader: None }
    }
}

impl Attacker {
    /// The attacker a promise speaks of.
    pub fn of(terms: &Terms) -> Attacker {
        Attacker { presence: terms.holds_with_presence_known, ..Attacker::default() }
    }

    /// The reader who is judged: the one named, or the promise's, or one who knows the rule.
    pub fn judged_reader(&self, promise: Option<&Terms>) -> Reader {
        self.reader.or(promise.map(|promise| promise.reader)).unwrap_or_default()
    }
}

/// Where a number becomes a finding.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// The least number of people that must not be distinguished.
    pub k: u32,
    /// The least number of sensitive values that must remain possible.
    pub l: u32,
    /// The largest distance of a group's values from those of the whole table; with `None` it is measured but not
    /// judged.
    pub t: Option<f64>,
}

impl Default for Thresholds {
    /// Two people and two values: falling below these is a breach by any standard.
    fn default() -> Thresholds {
        Thresholds { k: 2, l: 2, t: None }
    }
}

impl Thresholds {
    /// The thresholds of a promise. If it says nothing about people or values, that threshold is 1, and nothing falls
    /// below it.
    pub fn of(terms: &Terms) -> Thresholds {
        Thresholds { k: terms.k.unwrap_or(1), l: terms.l.unwrap_or(1), t: None }
    }
}

/// How much work an audit may do, counted in steps.
///
/// No clock is read, so the same audit of the same files gives the same answers on every machine. Every exact search
/// (matching, counting worlds, flows, places, pairs of releases) has this many steps of its own, so no check changes
/// the answer of another. A search spends its steps where they settle the most people, and reports what is left open.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Budget {
    /// The steps of one search.
    pub steps: u64,
    /// The seed of attacks that use randomness.
    pub seed: u64,
}

/// How hard to try: budgets with names.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Effort {
    /// A first look.
    Quick,
    /// The usual effort.
    #[default]
    Standard,
    /// May take minutes.
    Thorough,
}

impl Effort {
    /// All of them, the least first.
    pub const ALL: [Effort; 3] = [Effort::Quick, Effort::Standard, Effort::Thorough];

    /// Its word on the command line.
    pub fn word(self) -> &'static str {
        match self {
            Effort::Quick => "quick",
            Effort::Standard => "standard",
            Effort::Thorough => "thorough",
        }
    }

    /// How many steps a search may take.
    pub fn steps(self) -> u64 {
        match self {
            Effort::Quick => 5_000_000,
            Effort::Standard => 200_000_000,
            Effort::Thorough => 10_000_000_000,
        }
    }
}

impl Default for Budget {
    fn default() -> Budget {
        Budget { steps: Effort::default().steps(), seed: 1 }
    }
}

impl Budget {
    /// The rows that comparing releases which are not neighbours may read. Neighbours are always compared.
    pub(super) fn rows_of_pairs(self) -> u64 {
        self.steps / 100
    }

    /// The places that may be examined for one release.
    pub(super) fn places(self) -> u64 {
        self.steps / 4
    }

    /// The steps for finding, pair by pair, the most rows that two groups can share.
    pub(super) fn flows(self) -> u64 {
        self.steps / 8
    }
}
