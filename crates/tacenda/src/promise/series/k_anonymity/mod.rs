//! k-anonymity of each release on its own, paper 001: clusters that are kept up as people come and leave.

mod check;
mod group;

use crate::grouping::{Base, Drift, LossKind, SeedRule};
use crate::model::{Hides, Schema, Scope, Terms, percent};
use crate::promise::series::OfSeries;
use crate::promise::series::readers::TIGHT_BOXES;
use crate::promise::{Contradiction, Drafted, Entry, Looser, Parameters};
use crate::settings::{FaultKind, Section, Walk, key, number_of};
use serde::{Deserialize, Serialize};
use toml::de::DeValue;

/// Each release on its own is k-anonymous. It says nothing about the series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KAnonymity {
    /// The least number of people of a group.
    pub k: u32,
    /// Whether needless clusters are broken after every change: IL_Optimization.
    #[serde(default = "usual_optimise")]
    pub optimise: bool,
    /// What a clustering from scratch begins with. `None` means the tree with `optimise`, and k-member without.
    #[serde(default)]
    pub base: Option<Base>,
    /// The row from which k-member measures the distance to its next seed.
    #[serde(default)]
    pub seed_rule: SeedRule,
    /// Everything is clustered from scratch if the loss per row exceeds this factor times the loss after the last time.
    #[serde(default)]
    pub refresh: Option<f64>,
    /// What is minimised.
    #[serde(default)]
    pub loss: LossKind,
}

fn usual_optimise() -> bool {
    true
}

impl KAnonymity {
    /// With defaults for everything but `k`.
    pub const fn new(k: u32) -> KAnonymity {
        KAnonymity {
            k,
            optimise: true,
            base: None,
            seed_rule: SeedRule::LastAdded,
            refresh: None,
            loss: LossKind::LeafShare,
        }
    }
}

impl Parameters for KAnonymity {
    const ENTRY: &'static Entry = &Entry {
        name: "k-anonymity",
        line: "each release alone: a person is one of k records; it says nothing about the series",
        parameters: "k; optimise; base = tree | k-member; seed_rule = last-added | last-seed; refresh; loss = leaf-share | height; accept_series_risk",
        paper: "001",
        keys: &[
            key("promise", "k", "a number, at least 2", "", "the least number of people of a group"),
            key("promise", "optimise", "true, false", "true", "run the loss optimisation"),
            key(
                "promise",
                "base",
                "k-member, tree",
                "tree with optimise, else k-member",
                "what a grouping from scratch begins with",
            ),
            key(
                "promise",
                "seed_rule",
                "last-added, last-seed",
                "last-added",
                "from where k-member looks for its next seed",
            ),
            key(
                "promise",
                "refresh",
                "a number, or \"when loss > 1.1 x static\"",
                "never",
                "group from scratch if the loss exceeds this many times the loss of the last grouping from scratch",
            ),
            key("promise", "loss", "leaf-share, height", "leaf-share", "what groupings minimise"),
            key("promise", "accept_series_risk", "text", "none", "why publishing more than one release is acceptable"),
            key(
                "promise",
                "accept_adopted",
                "text",
                "none",
                "why the series may continue from adopted releases that do not keep the promise",
            ),
        ],
        draft: Drafted {
            comment: "# In each release alone, a person is one of at least k. For a second release, state why what both reveal\n\
                      # together is acceptable: accept_series_risk = \"…\".\n",
            parameters: |_| "k     = 5\n".into(),
            needs_sensitive: false,
            leaving: "there is only one release",
        },
        pages: &[],
        stated: &["k"],
    };

    fn read(section: &Section<'_, '_>, _: Option<&Schema>, walk: &mut Walk) -> Option<KAnonymity> {
        let bases = [("k-member", Base::KMember), ("tree", Base::Tree)];
        let seeds = [("last-added", SeedRule::LastAdded), ("last-seed", SeedRule::LastSeed)];
        let losses = [("leaf-share", LossKind::LeafShare), ("height", LossKind::Height)];
        let usual = KAnonymity::new(2);
        Some(KAnonymity {
            optimise: walk.boolean(section, "optimise").unwrap_or(usual.optimise),
            base: walk.word(section, "base", &bases),
            seed_rule: walk.word(section, "seed_rule", &seeds).unwrap_or(usual.seed_rule),
            refresh: read_refresh(section, walk),
            loss: walk.word(section, "loss", &losses).unwrap_or(usual.loss),
            k: walk.parameter(section, "k")?,
        })
    }

    fn terms(&self) -> Terms {
        let k = self.k;
        let sentence = format!(
            "Protects against someone who sees only this release and knows everyone's quasi-identifiers: each person is \
             one of at least {k} records. It gives no protection against anyone who can compare it with another \
             release of the same data."
        );
        let limits = [
            "It does not protect against a comparison with any other release of the same data.",
            "It does not limit what is learned about sensitive values.",
            TIGHT_BOXES,
        ];
        Terms {
            parameters: vec![format!("k = {k}")],
            k: Some(k),
            hides: Hides::Identity(k),
            least_group: k,
            ..Terms::new(Self::ENTRY.name, Scope::EachRelease, sentence, &limits)
        }
    }

    fn may_follow(&self, before: &KAnonymity) -> Result<(), Looser> {
        Looser::unless_at_least("k", Some(before.k), Some(self.k))
    }

    fn contradictions(&self, _: Option<&Schema>) -> Vec<Contradiction> {
        let help = "set optimise = true, or base = \"k-member\"";
        let without = Contradiction::new(FaultKind::SaysNothing, "base", "the base tree needs optimise", help);
        Some(without).filter(|_| self.base == Some(Base::Tree) && !self.optimise).into_iter().collect()
    }

    fn set(&mut self, key: &str, value: u32) -> bool {
        let is_known = key == "k";
        if is_known {
            self.k = value;
        }
        is_known
    }
}

/// A number, or the words `when loss > 1.1 x static`.
fn read_refresh(section: &Section<'_, '_>, walk: &mut Walk) -> Option<f64> {
    let value = section.get("refresh")?;
    let factor = match value.get_ref() {
        DeValue::String(words) => {
            let number = words.trim().strip_prefix("when loss >").and_then(|rest| rest.trim().strip_suffix("static"));
            number.and_then(|rest| rest.trim().strip_suffix('x')).and_then(|number| number.trim().parse::<f64>().ok())
        }
        other => number_of(other),
    };
    let factor = factor.filter(|factor| (1.0..1e6).contains(factor));
    if factor.is_none() {
        let help = "for example refresh = 1.1, or refresh = \"when loss > 1.1 x static\"";
        walk.fault(FaultKind::BadNumber, "refresh takes a number of at least 1 and below 1000000", value.span(), help);
    }
    factor
}

impl OfSeries for KAnonymity {
    fn drift_in_words(&self, drift: &Drift) -> Vec<(&'static str, String)> {
        let losses = format!(
            "loss of the kept clusters {}, from scratch now {}, at the last time from scratch {}",
            percent(drift.kept),
            percent(drift.scratch),
            percent(drift.last_scratch)
        );
        let ratio = match drift.last_scratch > 0.0 {
            true => format!("{:.3} x static", drift.kept / drift.last_scratch),
            false => "static is 0".into(),
        };
        let rule = match (drift.factor, drift.refreshes) {
            (None, _) => format!("no rule; the clusters are kept ({ratio})"),
            (Some(factor), true) => format!("{ratio}, more than {factor}: everything is clustered from scratch"),
            (Some(factor), false) if drift.kept > factor * drift.last_scratch => {
                format!("{ratio}, more than {factor}, but from scratch would be no better: the clusters are kept")
            }
            (Some(factor), false) => format!("{ratio}, not more than {factor}: the clusters are kept"),
        };
        vec![("drift", losses), ("refresh", rule)]
    }

    fn departures(&self) -> &'static str {
        "People who leave are taken out of their groups. Nothing is promised to them against someone who compares releases."
    }

    fn notes(&self) -> Vec<&'static str> {
        vec![
            "k-anonymity holds for each release alone: it says nothing about a series, and a second release needs \
             accept_series_risk",
        ]
    }
}
