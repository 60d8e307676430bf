//! The terms of a promise: what an auditor and a reader need to know about it, as plain data.
//!
//! Auditor and report use the terms and never ask which promise it is. So a new promise needs no new branch in either.

use serde::{Deserialize, Serialize};

/// What is claimed, in words and numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Terms {
    /// The name used in the policy file.
    pub name: &'static str,
    /// Its parameters for readers, such as `m = 4`.
    pub parameters: Vec<String>,
    /// The promise in one sentence.
    pub sentence: String,
    /// What it does not cover, one sentence each.
    pub limits: Vec<&'static str>,
    /// What it is about.
    pub scope: Scope,
    /// The reader against whom it is proved.
    pub reader: Reader,
    /// The least number of people that cannot be distinguished; `None` if the promise does not say.
    pub k: Option<u32>,
    /// The least number of sensitive values that stay possible; `None` if the promise does not say.
    pub l: Option<u32>,
    /// What is hidden, and among how many.
    pub hides: Hides,
    /// The least number of rows of a group.
    pub least_group: u32,
    /// Whether it holds even for a reader who knows who is in which release.
    pub holds_with_presence_known: bool,
    /// Whether people may leave between releases.
    pub lets_people_leave: bool,
    /// Whether the groups of one person all have one value set.
    pub keeps_value_sets: bool,
    /// What it says of a published group as a whole.
    pub groups: GroupRule,
    /// Whether there may be counterfeits. Then their number is published, even if it is 0.
    pub adds_counterfeits: bool,
    /// The least published count above 0; `None` if no counts are published, because the promise relies on readers not
    /// knowing who is in which release.
    pub counts_from: Option<u32>,
}

/// The reader against whom a promise is proved.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reader {
    /// Knows the rule that every release keeps, but not how people and counterfeits were placed.
    #[default]
    Rule,
    /// Also knows the program, and everything but its secret seed.
    Method,
}

impl Reader {
    /// Its word in the policy file.
    pub fn word(self) -> &'static str {
        match self {
            Reader::Rule => "rule",
            Reader::Method => "method",
        }
    }
}

/// What a promise is about.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Scope {
    /// All releases of a series together.
    Series,
    /// Each release on its own.
    EachRelease,
    /// The join of views, releases with different columns.
    Views,
}

/// What a promise hides, and among how many.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Hides {
    /// Who a person is, among this many people.
    Identity(u32),
    /// Which sensitive value a person has, among this many values.
    Value(u32),
    /// Neither in these terms: its bound is on combinations of columns.
    Combinations,
}

/// What a promise says about a published group as a whole. A comparison of two releases may rely on it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum GroupRule {
    /// Nothing beyond its people.
    Open,
    /// Every value of a group occurs equally often, counterfeits included. How many newcomers a group has is open.
    Balanced,
    /// A group is published again with the same people and the same region, or not at all.
    Unchanged,
}

/// What no promise covers.
const NEVER: [&str; 2] =
    ["Not differential privacy.", "No protection against other data sets about the same people published elsewhere."];

impl Terms {
    /// Terms with one sentence and no numbers yet. `limits` are added to what no promise covers.
    pub fn new(name: &'static str, scope: Scope, sentence: String, limits: &[&'static str]) -> Terms {
        Terms {
            name,
            parameters: Vec::new(),
            sentence,
            limits: limits.iter().copied().chain(NEVER).collect(),
            scope,
            reader: Reader::Rule,
            k: None,
            l: None,
            hides: Hides::Combinations,
            least_group: 1,
            holds_with_presence_known: true,
            lets_people_leave: true,
            keeps_value_sets: false,
            groups: GroupRule::Open,
            adds_counterfeits: false,
            counts_from: None,
        }
    }

    /// The promise in one short sentence. The long one names the reader.
    pub fn short(&self) -> String {
        let over = match self.scope {
            Scope::Series => "over all releases together",
            Scope::EachRelease => "in each release alone",
            Scope::Views => "whatever views are joined",
        };
        let what = match self.hides {
            Hides::Value(number) => format!("A person's sensitive value stays one of at least {number}"),
            Hides::Identity(number) => format!("A person stays one of at least {number}"),
            Hides::Combinations => return self.sentence.clone(),
        };
        format!("{what}, {over}, for the reader that the full promise names.")
    }

    /// The largest risk it allows, as one in this many.
    pub fn one_in(&self) -> Option<u32> {
        match self.hides {
            Hides::Identity(number) | Hides::Value(number) => Some(number),
            Hides::Combinations => None,
        }
    }

    /// The same of a series in which a release is known to break it: then nothing is concluded from its being kept.
    #[must_use]
    pub fn not_kept(self) -> Terms {
        Terms { keeps_value_sets: false, groups: GroupRule::Open, ..self }
    }

    /// Whether newcomers are hidden among themselves because nobody leaves and value sets are kept.
    pub fn only_adds(&self) -> bool {
        !self.lets_people_leave && self.keeps_value_sets
    }
}
