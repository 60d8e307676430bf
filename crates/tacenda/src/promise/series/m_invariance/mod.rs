//! m-invariance, paper 003: people arrive, leave, return and change, and a sensitive value stays one of `m`.

mod check;
mod collapse;
mod forecast;
mod group;

use crate::grouping::buckets::cut::CutEffort;
use crate::model::{GroupRule, Hides, History, Reader, Release, Schema, Scope, Table, Terms};
use crate::promise::series::readers::{READER, READERS, WAITING, value_limits, value_sentence, ways};
use crate::promise::series::{
    Alternative, DiskForm, Noticed, OfSeries, SeriesPromise, too_few_declared, without_sensitive,
};
use crate::promise::{Contradiction, Drafted, Entry, GroupForming, Looser, Parameters};
use crate::settings::{FaultKind, Section, Walk, key};
pub(crate) use forecast::ASSUMED as ASSUMED_CHURN;
pub use forecast::Stayed;
pub(in crate::promise::series) use forecast::{NOBODY_LEAVES, no_refusal_if};
pub(in crate::promise::series) use group::refuse_uneven;
use serde::{Deserialize, Serialize};

/// Every group holds at least `m` values equally often, and all groups of a person have one value set for life.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MInvariance {
    /// The least number of values of a group.
    pub m: u32,
    /// The least number of people of a group. With `None`, each value occurs once, and there is at least one person.
    pub k: Option<u32>,
    /// What happens when the newcomers' values are too uneven.
    #[serde(default)]
    pub on_ineligible: OnIneligible,
    /// The reader against whom it holds.
    #[serde(default)]
    pub reader: Reader,
    /// What happens to values with more holders than the others of their set.
    #[serde(default)]
    pub surplus: Surplus,
    /// How much work is spent on close groups.
    #[serde(default)]
    pub effort: CutEffort,
}

/// What happens if people of a value set left, so that its values have different numbers of holders. Against the rule
/// reader, newcomers fill gaps first; against a reader who knows the method, they may not.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surplus {
    /// Counterfeits fill all gaps.
    #[default]
    Counterfeit,
    /// Some of the people with the most frequent value are withheld by lot; counterfeits fill the other gaps. Against a
    /// reader who knows the method: down to the upper quartile. Against the rule reader: where one person saves many.
    Withhold,
}

/// What happens if the newcomers' values are too uneven to form groups.
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
    /// With defaults for everything but `m`.
    pub const fn new(m: u32) -> MInvariance {
        MInvariance {
            m,
            k: None,
            on_ineligible: OnIneligible::Refuse,
            reader: Reader::Rule,
            surplus: Surplus::Counterfeit,
            effort: CutEffort::Fast,
        }
    }
}

impl Parameters for MInvariance {
    const ENTRY: &'static Entry = &Entry {
        name: "m-invariance",
        line: "people arrive, leave, return and change; a sensitive value is one of m, over all releases",
        parameters: "m; k; reader = rule | method; on_ineligible = refuse | defer | counterfeit; surplus = counterfeit | withhold; effort = fast | fine",
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
            READER,
            key(
                "promise",
                "surplus",
                "counterfeit, withhold",
                "counterfeit",
                "how a value set is evened out after people left: by counterfeits only, or some people wait",
            ),
            key(
                "promise",
                "effort",
                "fast, fine",
                "fast",
                "fine spends more time on closer groups; the promise is the same",
            ),
            key(
                "promise",
                "accept_counterfeit",
                "text",
                "none",
                "why a new series may use on_ineligible = \"counterfeit\", which gives people away",
            ),
            key(
                "promise",
                "accept_adopted",
                "text",
                "none",
                "why the series may continue from adopted releases that do not keep the promise",
            ),
        ],
        draft: Drafted {
            comment: "# Each person's sensitive value is one of m, over all releases together. Nobody is alone in a \
                group with counterfeits. At most 1 in 100 people wait where that saves many counterfeits, or 1 in 40 \
                while there would be more than one for 12 people.\n",
            parameters: |m| format!("m     = {m}\nk     = 2\nsurplus = \"withhold\"\n"),
            needs_sensitive: true,
            leaving: "yes. If people are only ever added, compare incremental-l-diversity",
        },
        pages: &[forecast::COUNTERFEITS_AHEAD, forecast::LEAVING_BY_VALUE, forecast::NO_REFUSAL_AHEAD, forecast::ALONE],
        stated: &["m", "k", "reader", "on_ineligible"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<MInvariance> {
        let words = [
            ("refuse", OnIneligible::Refuse),
            ("defer", OnIneligible::Defer),
            ("counterfeit", OnIneligible::Counterfeit),
        ];
        let surplus = [("counterfeit", Surplus::Counterfeit), ("withhold", Surplus::Withhold)];
        let effort = [("fast", CutEffort::Fast), ("fine", CutEffort::Fine)];
        Some(MInvariance {
            on_ineligible: walk.word(section, "on_ineligible", &words).unwrap_or_default(),
            reader: walk.word(section, "reader", &READERS).unwrap_or_default(),
            surplus: walk.word(section, "surplus", &surplus).unwrap_or_default(),
            effort: walk.word(section, "effort", &effort).unwrap_or_default(),
            m: walk.parameter(section, "m")?,
            k: walk.optional_parameter(section, "k"),
        })
    }

    fn terms(&self) -> Terms {
        let MInvariance { m, k, reader, .. } = *self;
        let people = k.map_or(String::new(), |k| format!(" Every group of a release holds at least {k} people."));
        let sentence = format!("{}{people}", value_sentence(m, reader));
        let mut limits = value_limits(reader, GroupForming::Close);
        if reader == Reader::Method {
            limits.push(
                "A value that changes while its person is published is refused. A value that changed within its value set \
                 while its person was away or withheld is not seen. The bound is not proved then.",
            );
        } else {
            limits.push("A changed value set reveals that the person's value changed. A change can show even if the value set stays.");
            limits.push(match self.surplus {
                Surplus::Counterfeit => {
                    "A person who was published before and now waits almost certainly has another value than before."
                }
                Surplus::Withhold => {
                    "A person who was published before and now waits almost certainly has another value than before, or the \
                     value that most people of their value set have."
                }
            });
            limits.push("A reader who knows that a value never goes away, as with HIV, can learn more from values that changed.");
        }
        if self.k.is_some() {
            limits.push(
                "People wait if fewer than k people have their value set. That tells something about their \
                value.",
            );
        }
        match self.on_ineligible {
            OnIneligible::Refuse => {}
            OnIneligible::Defer => limits.push(WAITING),
            OnIneligible::Counterfeit => limits.push(
                "If all other rows of a person's group are counterfeits, the person almost certainly has the value that is \
                 too frequent. The bound does not hold for that person.",
            ),
        }
        limits.push("Published tables may contain declared artificial records.");
        let method = (reader == Reader::Method).then(|| "reader = method".into());
        Terms {
            parameters: [Some(format!("m = {m}")), k.map(|k| format!("k = {k}")), method]
                .into_iter()
                .flatten()
                .collect(),
            reader,
            k,
            l: Some(m),
            hides: Hides::Value(m),
            least_group: k.unwrap_or(m).max(m),
            keeps_value_sets: true,
            groups: GroupRule::Balanced,
            adds_counterfeits: true,
            counts_from: Some(k.unwrap_or(m).max(m)),
            ..Terms::new(Self::ENTRY.name, Scope::Series, sentence, &limits)
        }
    }

    fn may_follow(&self, before: &MInvariance) -> Result<(), Looser> {
        Looser::unless_kept("m", Some(before.m), Some(self.m))?;
        // Published releases were made for the earlier reader.
        Looser::unless_same("reader", &before.reader, &self.reader)?;
        // A balanced group may have any size, so `k` may grow at any time.
        Looser::unless_at_least("k", before.k, self.k)
    }

    fn contradictions(&self, schema: Option<&Schema>) -> Vec<Contradiction> {
        let mut found = Vec::new();
        found.extend(without_sensitive(schema));
        found.extend(too_few_declared("m", self.m, schema));
        if self.reader == Reader::Method && self.on_ineligible != OnIneligible::Refuse {
            let message = "reader = \"method\" holds only where uneven newcomers are refused";
            found.push(Contradiction::new(
                FaultKind::SaysNothing,
                "on_ineligible",
                message,
                "take on_ineligible out, or set reader = \"rule\"",
            ));
        }
        if self.reader == Reader::Method && self.k.is_some_and(|k| k > self.m) {
            // New sets of fewer than k people would be withheld and dealt again later, which the proof does not cover.
            let message = "reader = \"method\" needs k to be at most m";
            found.push(Contradiction::new(
                FaultKind::SaysNothing,
                "k",
                message,
                "lower k, raise m, or set reader = \"rule\"",
            ));
        }
        found
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

impl MInvariance {
    /// Warnings before publishing a valid release.
    fn warnings_of(&self, release: &Release, seen: &Noticed<'_>) -> Vec<String> {
        let mut warnings = match (self.reader, seen.tables) {
            (Reader::Rule, Some((table, last))) => collapse::warning(self, table, release, last).into_iter().collect(),
            (Reader::Rule, None) => Vec::new(),
            (Reader::Method, _) => forecast::warnings(release, seen.stayed),
        };
        warnings
            .extend(release.alone_sentence().map(|alone| format!("{}: {alone} k = 2 prevents it", forecast::ALONE.0)));
        warnings
    }
}

impl OfSeries for MInvariance {
    fn remedies(&self, one_in: u32) -> Vec<(String, SeriesPromise)> {
        let mut remedies = Vec::new();
        if (2..self.m).contains(&one_in) {
            remedies.push((format!("m = {one_in}"), MInvariance { m: one_in, ..*self }.into()));
        }
        if self.reader == Reader::Rule {
            let what = "on_ineligible = \"defer\" (a person who waits mostly has a value that is too frequent)";
            remedies.push((what.into(), MInvariance { on_ineligible: OnIneligible::Defer, ..*self }.into()));
        }
        remedies
    }

    fn departures(&self) -> &'static str {
        "People who leave are published no more; counterfeits stand in for them where a group would fall short. Their value \
         set and the keyed hash of their identifier stay in the vault while the series runs, because a return must meet the \
         same value set. tacenda erase removes the value set too; such a person is left out of later tables."
    }

    fn warnings(&self, _: &Schema, table: &Table, release: &Release, last: Option<&Table>) -> Vec<String> {
        let stayed = last.filter(|_| self.reader == Reader::Method).map(|last| Stayed::between(last, table));
        self.warnings_of(release, &Noticed { stayed: stayed.as_ref(), tables: Some((table, last)) })
    }

    /// Fine groups exchange people between buckets, until none of all of them changes any more.
    fn disk_form(&self) -> Option<DiskForm<'_>> {
        (self.effort == CutEffort::Fast).then_some(DiskForm::Seats(self))
    }

    fn alternatives(&self) -> Vec<Alternative> {
        if self.k.is_some_and(|k| k > self.m) {
            return Vec::new();
        }
        let rule = MInvariance { reader: Reader::Rule, ..*self };
        let method = MInvariance { reader: Reader::Method, on_ineligible: OnIneligible::Refuse, ..*self };
        let setting = match self.on_ineligible {
            OnIneligible::Refuse => "reader = \"method\"",
            OnIneligible::Defer | OnIneligible::Counterfeit => "on_ineligible = \"refuse\", reader = \"method\"",
        };
        ways(rule.into(), (setting, method.into()), self.m, true)
    }

    fn expects_no_refusal(&self, table: &Table, release: &Release, counterfeits: f64) -> Option<String> {
        let leaving = forecast::people_may_leave(release, counterfeits);
        (self.reader == Reader::Method).then(|| no_refusal_if(&leaving, table, self.m)).flatten()
    }

    fn gives_people_away(&self) -> bool {
        self.on_ineligible == OnIneligible::Counterfeit
    }

    fn exposed(&self, history: &History) -> u64 {
        history.records.iter().filter(|record| history.exposed(record, self.m)).count() as u64
    }
}
