//! Incremental k-anonymity, paper 000: records are only added, and each person stays one of `k` over all releases.

mod check;
mod group;
mod warnings;

use crate::model::{GroupRule, Hides, Release, Schema, Scope, Table, Terms};
use crate::promise::series::readers::TIGHT_BOXES;
use crate::promise::series::{Alternative, DiskForm, OfSeries, too_few_declared, without_sensitive};
use crate::promise::{Contradiction, Drafted, Entry, Looser, Parameters};
use crate::settings::{FaultKind, Section, Walk, key};
use serde::{Deserialize, Serialize};

/// The inference table of any set of releases is k-anonymous.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IncrementalKAnonymity {
    /// The least number of people that cannot be distinguished.
    pub k: u32,
    /// Whether that also holds against a reader who knows who arrived when. Then people of different first releases are
    /// kept in separate groups.
    pub cohorts: bool,
    /// If given, no value may make up more than one in `l` of a group. With cohorts that holds for all releases
    /// together; without, for each group of each release alone.
    pub l: Option<u32>,
    /// Without cohorts: publish boxes fixed at birth instead of cells.
    #[serde(default)]
    pub tight: bool,
    /// What happens when a published record disappears.
    #[serde(default)]
    pub on_delete: OnDelete,
}

/// What happens when a record disappears under an insert-only promise.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnDelete {
    /// Nothing is published.
    #[default]
    Refuse,
    /// The whole unit is withheld, for good.
    Withhold,
}

/// The ways to keep it: name, setting, against whom, cohorts, tight.
const WAYS: [(&str, &str, &str, bool, bool); 3] = [
    ("cohorts", "cohorts = true", "holds even against an attacker who knows when a person arrived", true, false),
    ("cells", "cohorts = false", WITHOUT_COHORTS, false, false),
    ("tight", "cohorts = false, tight = true", WITHOUT_COHORTS, false, true),
];

/// What the ways without cohorts do not protect against.
const WITHOUT_COHORTS: &str = "an attacker who knows when a person arrived may single the person out; a threshold l \
                               holds in each release alone";

impl IncrementalKAnonymity {
    /// With cohorts, and defaults for everything but `k`.
    pub const fn new(k: u32) -> IncrementalKAnonymity {
        IncrementalKAnonymity { k, cohorts: true, l: None, tight: false, on_delete: OnDelete::Refuse }
    }
}

impl Parameters for IncrementalKAnonymity {
    const ENTRY: &'static Entry = &Entry {
        name: "incremental-k-anonymity",
        line: "records are only added; each person is one of k records, over all releases",
        parameters: "k; cohorts = true | false; l (of the series with cohorts, else of each release); tight; on_delete = refuse | withhold",
        paper: "000",
        keys: &[
            key("promise", "k", "a number, at least 2", "", "the least number of people of a group"),
            key("promise", "cohorts", "true, false", "true", "safe even if it is known who arrived when"),
            key(
                "promise",
                "l",
                "a number, at least 2",
                "none",
                "no value makes up more than one in l of a group: over all releases with cohorts, of each release without",
            ),
            key(
                "promise",
                "tight",
                "true, false",
                "false",
                "without cohorts: publish fixed tight boxes instead of cells",
            ),
            key("promise", "on_delete", "refuse, withhold", "refuse", "what happens when a record disappears"),
        ],
        draft: Drafted {
            comment: "# Each person is one of at least k. Records may only be added. If a person leaves all the same, their whole group is\n\
                 # left out of all later releases. With on_delete = \"refuse\" such a release is refused.\n",
            parameters: |_| "k         = 5\non_delete = \"withhold\"\n".into(),
            needs_sensitive: false,
            leaving: "seldom. Everyone who leaves takes their whole group out of all later releases. If many leave, a release is refused",
        },
        pages: &[warnings::NOT_CUT],
        stated: &["k", "cohorts", "l", "tight"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<IncrementalKAnonymity> {
        let words = [("refuse", OnDelete::Refuse), ("withhold", OnDelete::Withhold)];
        Some(IncrementalKAnonymity {
            on_delete: walk.word(section, "on_delete", &words).unwrap_or_default(),
            tight: walk.boolean(section, "tight").unwrap_or(false),
            cohorts: walk.boolean(section, "cohorts").unwrap_or(true),
            k: walk.parameter(section, "k")?,
            l: walk.optional_parameter(section, "l"),
        })
    }

    fn terms(&self) -> Terms {
        let IncrementalKAnonymity { k, cohorts, l, .. } = *self;
        let parameters =
            [Some(format!("k = {k}")), Some(format!("cohorts = {cohorts}")), l.map(|l| format!("l = {l}"))];
        Terms {
            parameters: parameters.into_iter().flatten().collect(),
            k: Some(k),
            l,
            hides: Hides::Identity(k),
            least_group: l.unwrap_or(k).max(k),
            holds_with_presence_known: cohorts,
            lets_people_leave: false,
            keeps_value_sets: cohorts,
            groups: if cohorts { GroupRule::Unchanged } else { GroupRule::Open },
            counts_from: cohorts.then(|| l.unwrap_or(k).max(k)),
            ..Terms::new(Self::ENTRY.name, Scope::Series, self.sentence(), &self.limits())
        }
    }

    fn may_follow(&self, before: &IncrementalKAnonymity) -> Result<(), Looser> {
        Looser::unless_kept("k", Some(before.k), Some(self.k))?;
        Looser::unless_kept("l", before.l, self.l)?;
        Looser::unless_same("cohorts", &before.cohorts, &self.cohorts)?;
        Looser::unless_same("tight", &before.tight, &self.tight)
    }

    fn contradictions(&self, schema: Option<&Schema>) -> Vec<Contradiction> {
        let mut found = Vec::new();
        found.extend(self.l.and(without_sensitive(schema)));
        if self.cohorts && self.tight {
            let help = "set cohorts = false, or take tight out";
            found.push(Contradiction::new(FaultKind::SaysNothing, "tight", "tight has no effect with cohorts", help));
        }
        found.extend(self.l.and_then(|l| too_few_declared("l", l, schema)));
        found
    }

    fn set(&mut self, key: &str, value: u32) -> bool {
        match key {
            "k" => self.k = value,
            "l" => self.l = Some(value),
            _ => return false,
        }
        true
    }
}

impl IncrementalKAnonymity {
    fn sentence(&self) -> String {
        let k = self.k;
        if self.cohorts {
            let guard = self.l.map_or(String::new(), |l| {
                format!(" No sensitive value can be attributed to a published person with more than frequency 1/{l}.")
            });
            return format!(
                "Across all releases of this series, and with the record ids that are published, each person is one of at \
                 least {k} records. The reader may know everyone's exact quasi-identifiers and who is in which release.{guard} \
                 Some records are withheld until enough others arrive."
            );
        }
        let guard = self.l.map_or(String::new(), |l| {
            format!(" In each release alone, no sensitive value is held by more than one in {l} of a group.")
        });
        format!(
            "Across all releases of this series, and with the record ids that are published, each person stays \
             indistinguishable from at least {} others. The reader may know everyone's exact quasi-identifiers, but not when \
             any person entered the data.{guard} Records are only added.",
            k - 1
        )
    }

    fn limits(&self) -> Vec<&'static str> {
        let mut limits = vec!["It does not hide who is in the data."];
        if !self.cohorts {
            limits.push("It does not protect against someone who knows when a person entered the data.");
            limits.push(
                "A reader who knows how this program cuts can find out who entered when, and then single out people who arrived.",
            );
        }
        limits.push(match (self.cohorts, self.l) {
            (_, None) => "It does not limit what is learned about sensitive values: no guard is named.",
            (true, Some(_)) => {
                "A group waits if one value is too frequent in it. If a reader knows who waited, the groups in which \
                 these people are published later can give their values away."
            }
            (false, Some(_)) => {
                "Its guard holds for each group of each release alone. It does not hold for what is learned by comparing releases. \
                 It does not hold against someone who knows how this program cuts, or who arrived when."
            }
        });
        if self.cohorts && self.l.is_some() {
            limits.push(
                "The bound on values assumes a reader who knows nobody's value, nor who shares one, nor how values are related \
                 to quasi-identifiers or to leaving.",
            );
        }
        if self.cohorts || self.tight {
            limits.push(TIGHT_BOXES);
        }
        limits
    }
}

impl OfSeries for IncrementalKAnonymity {
    fn departures(&self) -> &'static str {
        match self.on_delete {
            OnDelete::Withhold => {
                "Records are only added. When a person leaves, their whole group is withheld for good, because a single gap would \
                 give its member away. Keyed hashes stay in the vault while the series runs."
            }
            OnDelete::Refuse => {
                "Records are only added: a release that lacks a person who was published before is refused. Erasure ends the series, \
                 or needs on_delete = \"withhold\"."
            }
        }
    }

    fn notes(&self) -> Vec<&'static str> {
        let guard_of_one_release = "without cohorts the threshold l holds for each release alone: comparing releases \
                                    may reveal more about sensitive values; cohorts = true protects the series";
        self.l.filter(|_| !self.cohorts).map(|_| guard_of_one_release).into_iter().collect()
    }

    fn warnings(&self, schema: &Schema, table: &Table, release: &Release, _: Option<&Table>) -> Vec<String> {
        warnings::warnings(self, schema, table, release)
    }

    fn alternatives(&self) -> Vec<Alternative> {
        let ways = WAYS.into_iter().map(|(name, setting, about, cohorts, tight)| Alternative {
            name,
            setting: setting.into(),
            about,
            promise: IncrementalKAnonymity { cohorts, tight, ..*self }.into(),
        });
        ways.collect()
    }

    fn fixed_domain(&self) -> Option<&'static str> {
        let why = "without cohorts, a value that was not listed at first would tell who arrived later";
        (!self.cohorts).then_some(why)
    }

    fn covers_linked_ids(&self) -> bool {
        true
    }

    /// Without cohorts a guard decides each cut by the values on both of its sides, and these are not counted.
    fn disk_form(&self) -> Option<DiskForm<'_>> {
        (self.cohorts || self.l.is_none()).then_some(DiskForm::Units(self))
    }
}
