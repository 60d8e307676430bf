//! Incremental l-diversity, paper 002: records are only added, and a sensitive value stays one of `l`.

mod check;
mod group;
mod paper;

use crate::model::{Hides, History, Lots, Reader, Release, Schema, Scope, Table, Terms};
use crate::promise::series::m_invariance::{NOBODY_LEAVES, no_refusal_if};
use crate::promise::series::readers::{READER, READERS, TIGHT_BOXES, WAITING, value_limits, value_sentence, ways};
use crate::promise::series::{
    Alternative, DiskForm, ONLY_ADDED, OfSeries, Within, too_few_declared, without_sensitive,
};
use crate::promise::{Contradiction, Drafted, Entry, Looser, Parameters};
use crate::settings::{FaultKind, Section, Walk, key};
use serde::{Deserialize, Serialize};

/// A person's sensitive value is one of `l`, while records are only added.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncrementalLDiversity {
    /// The least number of values of a group.
    pub l: u32,
    /// The corrected algorithm, or the paper's, which breaks its promise.
    pub mode: DiversityMode,
    /// Whether the data are made up. Then the paper's mode may publish releases that break its promise.
    #[serde(default)]
    pub made_up: bool,
    /// The reader against whom it holds.
    #[serde(default)]
    pub reader: Reader,
    /// How groups are formed.
    #[serde(default)]
    pub groups: GroupForming,
}

/// How the groups of newcomers are formed.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupForming {
    /// Groups of nearby people with different values.
    #[default]
    Close,
    /// Close groups within cells that do not depend on who in them has which value. The people of a cell are dealt into
    /// buckets by lot, and each bucket is cut into groups of neighbours. The groups never change.
    Dealt,
    /// Groups drawn by lot within such cells. They never change.
    Drawn,
}

impl GroupForming {
    /// The words for them in the policy file.
    const WORDS: [(&str, GroupForming); 3] =
        [("close", GroupForming::Close), ("dealt", GroupForming::Dealt), ("drawn", GroupForming::Drawn)];

    fn word(self) -> &'static str {
        let named = Self::WORDS.iter().find(|(_, forming)| *forming == self);
        named.map_or("close", |(word, _)| word)
    }
}

/// Which form of paper 002.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiversityMode {
    /// Insert-only m-invariance: the corrected algorithm.
    Safe,
    /// As printed, for study.
    Paper,
}

impl IncrementalLDiversity {
    /// The corrected algorithm.
    pub const fn new(l: u32) -> IncrementalLDiversity {
        IncrementalLDiversity {
            l,
            mode: DiversityMode::Safe,
            made_up: false,
            reader: Reader::Rule,
            groups: GroupForming::Close,
        }
    }
}

impl Parameters for IncrementalLDiversity {
    const ENTRY: &'static Entry = &Entry {
        name: "incremental-l-diversity",
        line: "records are only added, none is artificial; a sensitive value is one of l, over all releases",
        parameters: "l; reader = rule | method; groups = close | dealt | drawn; mode = safe | paper; made_up",
        paper: "002",
        keys: &[
            key("promise", "l", "a number, at least 2", "", "the least number of values of a group"),
            key("promise", "mode", "safe, paper", "safe", "the corrected algorithm, or the printed one for study"),
            READER,
            key(
                "promise",
                "groups",
                "close, dealt, drawn",
                "close",
                "with reader = \"method\": groups of people who are near each other, the same within cells, or drawn by lot within cells",
            ),
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
            leaving: ONLY_ADDED,
        },
        pages: &[],
        stated: &["l", "mode", "reader", "groups"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<IncrementalLDiversity> {
        let modes = [("safe", DiversityMode::Safe), ("paper", DiversityMode::Paper)];
        Some(IncrementalLDiversity {
            made_up: walk.boolean(section, "made_up").unwrap_or(false),
            reader: walk.word(section, "reader", &READERS).unwrap_or_default(),
            groups: walk.word(section, "groups", &GroupForming::WORDS).unwrap_or_default(),
            mode: walk.word(section, "mode", &modes).unwrap_or(DiversityMode::Safe),
            l: walk.parameter(section, "l")?,
        })
    }

    fn terms(&self) -> Terms {
        let l = self.l;
        let is_safe = self.mode == DiversityMode::Safe;
        let reader = self.reader;
        let (sentence, limits): (String, Vec<&'static str>) = match self.mode {
            DiversityMode::Safe => {
                let mut limits = value_limits(reader, self.groups);
                if reader == Reader::Rule {
                    limits.push(WAITING);
                }
                let more = match (reader, self.groups) {
                    (Reader::Rule, _) => " Some wait.",
                    (Reader::Method, GroupForming::Close | GroupForming::Dealt) => "",
                    (Reader::Method, GroupForming::Drawn) => {
                        " How groups were drawn says nothing about who in a group has which of its values."
                    }
                };
                (format!("{} Records are only added, none is artificial.{more}", value_sentence(l, reader)), limits)
            }
            DiversityMode::Paper => (
                format!(
                    "Every group of every release holds at least {l} distinct sensitive values. This is the published algorithm, \
                     kept for study: comparing its releases reveals people."
                ),
                vec![
                    "It does not protect newcomers, nor members of divided groups, from a comparison of two releases.",
                    TIGHT_BOXES,
                ],
            ),
        };
        Terms {
            parameters: [
                Some(format!("l = {l}")),
                Some(format!("mode = {}", if is_safe { "safe" } else { "paper" })),
                (reader == Reader::Method).then(|| "reader = method".into()),
                (self.groups != GroupForming::Close).then(|| format!("groups = {}", self.groups.word())),
            ]
            .into_iter()
            .flatten()
            .collect(),
            reader,
            l: Some(l),
            hides: Hides::Value(l),
            least_group: l,
            lets_people_leave: false,
            keeps_value_sets: is_safe,
            ..Terms::new(Self::ENTRY.name, Scope::Series, sentence, &limits)
        }
    }

    fn may_follow(&self, before: &IncrementalLDiversity) -> Result<(), Looser> {
        Looser::unless_kept("l", Some(before.l), Some(self.l))?;
        Looser::unless_same("mode", &before.mode, &self.mode)?;
        // Published releases were made for the earlier reader.
        Looser::unless_same("reader", &before.reader, &self.reader)?;
        Looser::unless_same("groups", &before.groups, &self.groups)?;
        match self.made_up && !before.made_up {
            true => Err(Looser::because("made_up is new: the data were not made up at the last release")),
            false => Ok(()),
        }
    }

    fn contradictions(&self, schema: Option<&Schema>) -> Vec<Contradiction> {
        let mut found = Vec::new();
        found.extend(without_sensitive(schema));
        if self.mode == DiversityMode::Safe && self.made_up {
            found.push(Contradiction::new(
                FaultKind::SaysNothing,
                "made_up",
                "made_up has no effect in mode safe",
                "take it out",
            ));
        }
        if self.groups != GroupForming::Close && self.reader == Reader::Rule {
            let message = format!("groups = \"{}\" is for a reader who knows the program", self.groups.word());
            found.push(Contradiction::new(
                FaultKind::SaysNothing,
                "groups",
                &message,
                "set reader = \"method\", or take groups out",
            ));
        }
        if self.mode == DiversityMode::Paper && self.reader == Reader::Method {
            let message = "the paper's mode holds against no reader";
            found.push(Contradiction::new(
                FaultKind::SaysNothing,
                "reader",
                message,
                "take reader out, or set mode = \"safe\"",
            ));
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
                "Records are only added: a release that lacks a person who was published before is refused. Erasure ends the series."
            }
        }
    }

    fn alternatives(&self) -> Vec<Alternative> {
        if self.mode == DiversityMode::Paper {
            return Vec::new();
        }
        let close = |reader: Reader| IncrementalLDiversity { reader, groups: GroupForming::Close, ..*self };
        ways(close(Reader::Rule).into(), ("reader = \"method\"", close(Reader::Method).into()), self.l, false)
    }

    fn expects_no_refusal(&self, table: &Table, _: &Release, _counterfeits: f64) -> Option<String> {
        (self.reader == Reader::Method).then(|| no_refusal_if(NOBODY_LEAVES, table, self.l)).flatten()
    }

    fn exchanged_within(&self, schema: &Schema, before: &History, table: &Table, lots: &Lots) -> Within {
        match self.groups {
            GroupForming::Close => Within::ValueSet,
            GroupForming::Dealt => Within::Bucket(self.bucket_numbers(schema, before, table, lots)),
            GroupForming::Drawn => Within::Group,
        }
    }

    /// Close groups are formed of buckets of everyone with one value set.
    fn disk_form(&self) -> Option<DiskForm<'_>> {
        match (self.mode, self.groups) {
            (DiversityMode::Paper, _) => None,
            (DiversityMode::Safe, GroupForming::Close) => Some(DiskForm::Seats(self)),
            (DiversityMode::Safe, GroupForming::Dealt | GroupForming::Drawn) => Some(DiskForm::Units(self)),
        }
    }

    fn is_study(&self) -> bool {
        self.mode == DiversityMode::Paper && self.made_up
    }
}
