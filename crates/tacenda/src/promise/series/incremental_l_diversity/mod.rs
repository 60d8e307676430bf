//! Incremental l-diversity, paper 002: records are only added, and a sensitive value stays one of `l`.

mod check;
mod group;
mod paper;

use crate::model::{Hides, Schema, Scope, Terms};
use crate::promise::series::{OfSeries, too_few_declared, without_sensitive};
use crate::promise::{Contradiction, Drafted, Entry, Looser, Parameters};
use crate::settings::{Section, Walk, key};
use serde::{Deserialize, Serialize};

/// A person's sensitive value is one of `l`, while records are only added.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncrementalLDiversity {
    /// The least number of values of a group.
    pub l: u32,
    /// The corrected algorithm, or the paper's, which breaks its promise.
    pub mode: DiversityMode,
    /// The data are made up: the paper's mode may publish what it breaks.
    #[serde(default)]
    pub made_up: bool,
}

/// Which form of paper 002.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiversityMode {
    /// Insert-only m-invariance: nothing is published that the promise does not cover.
    Safe,
    /// As printed, for study.
    Paper,
}

impl IncrementalLDiversity {
    /// The corrected algorithm.
    pub const fn new(l: u32) -> IncrementalLDiversity {
        IncrementalLDiversity { l, mode: DiversityMode::Safe, made_up: false }
    }

    /// The paper's algorithm, for study.
    pub const fn as_printed(l: u32) -> IncrementalLDiversity {
        IncrementalLDiversity { l, mode: DiversityMode::Paper, made_up: false }
    }
}

impl Parameters for IncrementalLDiversity {
    const ENTRY: &'static Entry = &Entry {
        name: "incremental-l-diversity",
        line: "records are only added, none is artificial; a sensitive value is one of l, over all releases",
        parameters: "l; mode = safe | paper; made_up",
        paper: "002",
        keys: &[
            key("promise", "l", "a number, at least 2", "", "the least number of values of a group"),
            key("promise", "mode", "safe, paper", "safe", "the corrected algorithm, or the printed one for study"),
            key(
                "promise",
                "made_up",
                "true, false",
                "false",
                "the data are made up, so a study mode may publish what it breaks",
            ),
        ],
        draft: Drafted {
            comment: "# Each person's sensitive value is one of l, over all releases together. Records may only be added; some wait.\n",
            parameters: |l| format!("l     = {l}\n"),
            needs_sensitive: true,
        },
        pages: &[],
        stated: &["l", "mode"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<IncrementalLDiversity> {
        let modes = [("safe", DiversityMode::Safe), ("paper", DiversityMode::Paper)];
        Some(IncrementalLDiversity {
            made_up: walk.boolean(section, "made_up").unwrap_or(false),
            mode: walk.word(section, "mode", &modes).unwrap_or(DiversityMode::Safe),
            l: walk.parameter(section, "l")?,
        })
    }

    fn terms(&self) -> Terms {
        let l = self.l;
        let is_safe = self.mode == DiversityMode::Safe;
        let (sentence, limits): (String, &[&'static str]) = match self.mode {
            DiversityMode::Safe => (
                format!(
                    "Across all releases of this series, someone who knows the exact quasi-identifiers and the presence of \
                     everyone in every release, and how we work, and counts all consistent assignments equally, attributes a \
                     person's sensitive value correctly with probability at most 1/{l}. Records are only added, none is \
                     artificial; some wait."
                ),
                &[
                    "It does not hide who is in the data.",
                    "It does not hide that two people share a value.",
                    "It does not resist knowledge of other people's values.",
                    "That a person known to be in the data waits is itself a hint at a frequent value.",
                ],
            ),
            DiversityMode::Paper => (
                format!(
                    "Every group of every release holds at least {l} distinct sensitive values. This is the published algorithm, \
                     kept for study: comparing its releases reveals people."
                ),
                &["It does not protect newcomers, nor members of divided groups, from a comparison of two releases."],
            ),
        };
        Terms {
            parameters: vec![format!("l = {l}"), format!("mode = {}", if is_safe { "safe" } else { "paper" })],
            l: Some(l),
            hides: Hides::Value(l),
            least_group: l,
            lets_people_leave: false,
            keeps_value_sets: is_safe,
            ..Terms::new(Self::ENTRY.name, Scope::Series, sentence, limits)
        }
    }

    fn may_follow(&self, before: &IncrementalLDiversity) -> Result<(), Looser> {
        Looser::unless_kept("l", Some(before.l), Some(self.l))?;
        Looser::unless_same("mode", &before.mode, &self.mode)?;
        match self.made_up && !before.made_up {
            true => Err(Looser::because("made_up is new: the data were not made up at the last release")),
            false => Ok(()),
        }
    }

    fn contradictions(&self, schema: Option<&Schema>) -> Vec<Contradiction> {
        let mut found = Vec::new();
        found.extend(without_sensitive(schema));
        if self.mode == DiversityMode::Safe && self.made_up {
            found.push(Contradiction::new("P214", "made_up", "made_up says nothing in mode safe", "take it out"));
        }
        found.extend(too_few_declared("l", self.l, schema));
        found
    }

    fn set(&mut self, key: &str, value: u32) -> bool {
        let is_known = key == "l";
        if is_known {
            self.l = value;
        }
        is_known
    }
}

impl OfSeries for IncrementalLDiversity {
    fn departures(&self) -> &'static str {
        match self.mode {
            DiversityMode::Paper => "Records are only added. This is a study mode.",
            DiversityMode::Safe => {
                "Records are only added: a release that lacks a person who was published before is refused. Erasure ends the series, \
                 or needs on_delete = \"withhold\"."
            }
        }
    }

    fn is_study(&self) -> bool {
        self.mode == DiversityMode::Paper && self.made_up
    }
}
