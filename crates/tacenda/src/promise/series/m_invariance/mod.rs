//! m-invariance, paper 003: people arrive, leave, return and change, and a sensitive value stays one of `m`.

mod check;
mod group;

use crate::model::{GroupRule, Hides, History, Schema, Scope, Terms};
use crate::promise::series::{OfSeries, too_few_declared, without_sensitive};
use crate::promise::{Contradiction, Drafted, Entry, Looser, Parameters};
use crate::settings::{Section, Walk, key};
use serde::{Deserialize, Serialize};

/// Every group holds at least `m` values equally often, and a person's groups carry one value set over their whole
/// life.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MInvariance {
    /// The least number of values of a group.
    pub m: u32,
    /// The least number of people of a group; `None`: each value once, and at least one person.
    pub k: Option<u32>,
    /// What happens when the newcomers' values are too uneven.
    #[serde(default)]
    pub on_ineligible: OnIneligible,
}

/// What happens when the newcomers' values are too uneven to stand together.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnIneligible {
    /// Nothing is published.
    #[default]
    Refuse,
    /// The newest holders of the most frequent values wait.
    Defer,
    /// Counterfeits of the rarest values are added.
    Counterfeit,
}

impl MInvariance {
    /// With nothing chosen but `m`.
    pub const fn new(m: u32) -> MInvariance {
        MInvariance { m, k: None, on_ineligible: OnIneligible::Refuse }
    }
}

impl Parameters for MInvariance {
    const ENTRY: &'static Entry = &Entry {
        name: "m-invariance",
        line: "people arrive, leave, return and change; a sensitive value is one of m, over all releases",
        parameters: "m; k; on_ineligible = refuse | defer | counterfeit",
        paper: "003",
        keys: &[
            key("promise", "m", "a number, at least 2", "", "the least number of values of a group"),
            key("promise", "k", "a number, at least 2", "none", "the least number of people of a group"),
            key(
                "promise",
                "on_ineligible",
                "refuse, defer, counterfeit",
                "refuse",
                "what happens when newcomers' values are too uneven",
            ),
            key(
                "promise",
                "accept_adopted",
                "text",
                "none",
                "why the series may go on from adopted releases that do not keep the promise",
            ),
        ],
        draft: Drafted {
            comment: "# Each person's sensitive value is one of m, over all releases together.\n",
            parameters: |m| format!("m     = {m}\n"),
            needs_sensitive: true,
        },
        pages: &[],
        stated: &["m", "k"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<MInvariance> {
        let words = [
            ("refuse", OnIneligible::Refuse),
            ("defer", OnIneligible::Defer),
            ("counterfeit", OnIneligible::Counterfeit),
        ];
        let on_ineligible = walk.word(section, "on_ineligible", &words).unwrap_or_default();
        Some(MInvariance { m: walk.parameter(section, "m")?, k: walk.optional_parameter(section, "k"), on_ineligible })
    }

    fn terms(&self) -> Terms {
        let MInvariance { m, k, .. } = *self;
        let people = k.map_or(String::new(), |k| format!(" Every group of a release holds at least {k} people."));
        let sentence = format!(
            "Across all releases of this series, someone who knows the exact quasi-identifiers and the presence \
             of everyone in every release, and how we work, and counts all consistent assignments equally, \
             attributes a person's sensitive value correctly with probability at most 1/{m}.{people}"
        );
        let limits = [
            "It does not hide who is in the data.",
            "It does not hide that two people share a value.",
            "It does not resist knowledge of other people's values.",
            "Published tables may contain declared artificial records.",
        ];
        Terms {
            parameters: [Some(format!("m = {m}")), k.map(|k| format!("k = {k}"))].into_iter().flatten().collect(),
            k,
            l: Some(m),
            hides: Hides::Value(m),
            least_group: k.unwrap_or(m).max(m),
            keeps_value_sets: true,
            groups: GroupRule::Balanced,
            adds_counterfeits: true,
            ..Terms::new(Self::ENTRY.name, Scope::Series, sentence, &limits)
        }
    }

    fn may_follow(&self, before: &MInvariance) -> Result<(), Looser> {
        Looser::unless_kept("m", Some(before.m), Some(self.m))?;
        // A balanced group may have any size, so `k` may grow at any time.
        Looser::unless_at_least("k", before.k, self.k)
    }

    fn contradictions(&self, schema: Option<&Schema>) -> Vec<Contradiction> {
        without_sensitive(schema).into_iter().chain(too_few_declared("m", self.m, schema)).collect()
    }

    fn set(&mut self, key: &str, value: u32) -> bool {
        match key {
            "m" => self.m = value,
            "k" => self.k = Some(value),
            _ => return false,
        }
        true
    }
}

impl OfSeries for MInvariance {
    fn departures(&self) -> &'static str {
        "People who leave are published no more; counterfeits stand in for them where a group would fall short. Their value \
         set and the keyed hash of their identifier stay in the vault while the series runs, because a return must meet the \
         same value set. Erasing these too is possible only if the person never returns to the data."
    }

    fn exposed(&self, history: &History) -> u64 {
        history.records.iter().filter(|record| history.exposed(record, self.m)).count() as u64
    }
}
