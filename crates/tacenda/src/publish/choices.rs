//! A comparison for the steward: what each way of keeping a promise costs in precision, and how far a maintained
//! clustering has drifted from a new one.
//!
//! Both are rehearsals that are thrown away. They are for the steward and private. Loss and query error do not always agree,
//! so both are measured.

use crate::grouping::Drift;
use crate::ingest;
use crate::ingest::Remembered;
use crate::model::Reader;
use crate::promise::{Alternative, PolicyFile, Promised, SeriesPromise, ShareLimits};
use crate::publish::{Ingredients, NextRelease, Project, ProjectError, Rehearsal};
use crate::report::percent;
use schemars::JsonSchema;
use serde::Serialize;

/// Before the first release, ways are compared on at most this many people, so that large tables do not take long.
pub const MOST_COMPARED: usize = 100_000;

/// Ways within this factor of the least loss or query error count as equally good, because lots alone change both by
/// about as much.
const AS_GOOD: f64 = 1.01;

/// The ways to keep a promise, tried on one table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ways {
    /// One entry per way; empty if there is no choice.
    pub choices: Vec<Choice>,
    /// Which is best for this table, or a note that none is.
    pub best: Option<String>,
    /// Ways that hold against a stronger reader and for which no refusal is expected.
    pub offers: Vec<String>,
    /// On how many people they were compared, if not on all.
    pub sampled: Option<String>,
}

impl Ways {
    /// All notes about them, one sentence each.
    pub fn notes(&self) -> Vec<String> {
        self.best.iter().chain(&self.sampled).chain(&self.offers).cloned().collect()
    }
}

/// One way to keep a promise.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ChoiceReport")]
pub struct Choice {
    /// How groups are formed: `close`, `method`, `dealt` or `drawn`; for incremental-k-anonymity `cohorts`, `cells` or `tight`.
    #[serde(rename = "choice")]
    pub name: &'static str,
    /// The setting in the policy file.
    pub setting: String,
    /// The readers against whom it holds.
    pub about: &'static str,
    /// Whether the policy file chooses it.
    #[serde(rename = "chosen")]
    pub is_chosen: bool,
    /// Whether people may leave the data.
    #[serde(skip)]
    pub lets_people_leave: bool,
    /// Why it cannot be chosen, if it cannot.
    pub refused: Option<String>,
    /// Groups.
    pub groups: Option<u64>,
    /// People who are left out.
    pub withheld: Option<u64>,
    /// Mean loss.
    pub loss: Option<f64>,
    /// Median relative error of random count queries.
    pub query_error: Option<f64>,
    /// Warnings about it, each with a code.
    pub warnings: Vec<String>,
}

impl Choice {
    fn refused(alternative: &Alternative, why: String) -> Choice {
        Choice {
            name: alternative.name,
            setting: alternative.setting.clone(),
            about: alternative.about,
            lets_people_leave: alternative.promise.terms().lets_people_leave,
            is_chosen: false,
            refused: Some(why),
            groups: None,
            withheld: None,
            loss: None,
            query_error: None,
            warnings: Vec::new(),
        }
    }

    fn possible(alternative: &Alternative, is_chosen: bool, rehearsal: &Rehearsal, query_error: f64) -> Choice {
        let prepared = &rehearsal.prepared;
        Choice {
            is_chosen,
            refused: None,
            groups: Some(prepared.release.group_count() as u64),
            withheld: Some(prepared.membership.withheld.len() as u64),
            loss: Some(rehearsal.loss.leaf_share),
            query_error: Some(query_error),
            warnings: rehearsal.warnings.clone(),
            ..Choice::refused(alternative, String::new())
        }
    }

    /// Loss and query error, if it was tried.
    fn costs(&self) -> Option<[f64; 2]> {
        Some([self.loss?, self.query_error?])
    }
}

impl Project {
    /// What each way of keeping the promise of `file` costs with this material; empty if there is no choice.
    ///
    /// `rehearsal` is the release as `file` asks for it. The limits of counterfeits and withheld rows do not apply to
    /// the others, because the question is what they would cost. Before the first release at most `people` people are
    /// used.
    pub fn ways(
        &self,
        file: &PolicyFile,
        material: &Ingredients,
        rehearsal: &Rehearsal,
        people: usize,
    ) -> Result<Ways, ProjectError> {
        let Promised::Series(chosen) = &file.promise else { return Ok(Ways::default()) };
        let alternatives = chosen.inner().alternatives();
        let sample = material.sample(people).filter(|_| !alternatives.is_empty());
        let tried = Tried {
            project: self,
            file,
            chosen,
            material: sample.as_ref().unwrap_or(material),
            rehearsal: sample.is_none().then_some(rehearsal),
        };
        let mut ways = Ways::default();
        for alternative in &alternatives {
            let (choice, offer) = tried.choice(alternative)?;
            ways.choices.push(choice);
            ways.offers.extend(offer);
        }
        // Other ways differ in more than the reader, so cost does not decide there.
        if alternatives.iter().any(|alternative| alternative.promise.terms().reader == Reader::Method) {
            ways.best = best(&ways.choices, chosen.terms().lets_people_leave);
        }
        ways.sampled = sample.map(|sample| {
            let (some, all) = (sample.table().len(), material.table().len());
            format!("the ways to form groups were compared on {some} of {all} people, drawn by lot")
        });
        Ok(ways)
    }

    /// How far maintained groups are from new ones made from this material, in numbers and in words; `None` if groups
    /// are not maintained.
    pub fn drift(&self, material: &Ingredients) -> Option<(Drift, Vec<(&'static str, String)>)> {
        let file = self.policy();
        let Promised::Series(promise) = &file.promise else { return None };
        let history = material.history();
        let lots = self.seed().lots("group", history.releases + 1);
        let drift = promise.inner().drift(&file.schema, history, material.table(), &lots)?;
        Some((drift, promise.inner().drift_in_words(&drift)))
    }

    /// Why a series that has begun cannot continue under another policy file.
    pub fn barred(&self, other: &PolicyFile, material: &Ingredients) -> Option<String> {
        let begun = material.history().releases > 0;
        let (old, new) = (Remembered::of(self.policy()), Remembered::of(other));
        old.may_be_followed_by(&new).err().filter(|_| begun).map(|looser| looser.to_string())
    }
}

/// What ways are tried on.
struct Tried<'a> {
    project: &'a Project,
    file: &'a PolicyFile,
    chosen: &'a SeriesPromise,
    material: &'a Ingredients,
    /// The release as the policy file asks for it, if it is of the same people.
    rehearsal: Option<&'a Rehearsal>,
}

impl Tried<'_> {
    /// What one way costs, and the offer to choose it.
    fn choice(&self, alternative: &Alternative) -> Result<(Choice, Option<String>), ProjectError> {
        let is_chosen = alternative.promise == *self.chosen;
        if let Some(rehearsal) = self.rehearsal.filter(|_| is_chosen) {
            return Ok((self.possible(alternative, rehearsal), None));
        }
        let limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
        let other = PolicyFile { promise: alternative.promise.clone().into(), limits, ..self.file.clone() };
        // Settings that a policy file could not have are not offered.
        let fault =
            || ingest::faults_of(&other).first().map(|fault| format!("{}: {}", fault.kind.code(), fault.message));
        if let Some(why) = self.project.barred(&other, self.material).or_else(fault) {
            return Ok((Choice::refused(alternative, why), None));
        }
        let wanted = NextRelease { policy: Some(&other), ..NextRelease::default() };
        match self.project.rehearse(self.material, wanted, &|_| {}) {
            Ok(rehearsal) => {
                let choice = self.possible(alternative, &rehearsal);
                Ok((choice, self.offer(alternative, &rehearsal)))
            }
            Err(ProjectError::Publish(error)) => Ok((Choice::refused(alternative, error.to_string()), None)),
            Err(error) => Err(error),
        }
    }

    fn possible(&self, alternative: &Alternative, rehearsal: &Rehearsal) -> Choice {
        let known = rehearsal.query_error.as_ref().map(|error| error.median);
        let error = known.unwrap_or_else(|| rehearsal.query_error(self.file, self.material).median);
        Choice::possible(alternative, alternative.promise == *self.chosen, rehearsal, error)
    }

    /// Offers a way that holds against a reader who knows the program, instead of one that does not.
    fn offer(&self, alternative: &Alternative, rehearsal: &Rehearsal) -> Option<String> {
        let readers = (self.chosen.terms().reader, alternative.promise.terms().reader);
        if readers != (Reader::Rule, Reader::Method) || self.material.history().releases > 0 {
            return None;
        }
        // What-if questions lift the limits of their policy file, so those of the project are used.
        let counterfeits = self.project.policy().limits.counterfeits;
        let release = &rehearsal.prepared.release;
        let expected = alternative.promise.inner().expects_no_refusal(self.material.table(), release, counterfeits)?;
        let instead = match alternative.promise.terms().name == self.chosen.terms().name {
            true => "",
            false => ", in place of its lines",
        };
        let Alternative { name, about, setting, .. } = alternative;
        Some(format!("R804: {name}{TRIED}{about}). {expected}; write under [promise]{instead}: {setting}"))
    }
}

/// Whether a note offers another way to form groups.
pub fn is_offer(note: &str) -> bool {
    note.contains(TRIED)
}

/// How an offer is known.
const TRIED: &str = " was tried on this table and works (";

/// Which way has the least loss and the least query error. `people_leave`: whether the policy file lets them.
fn best(choices: &[Choice], people_leave: bool) -> Option<String> {
    let name = |choice: &Choice| match people_leave && !choice.lets_people_leave {
        true => format!("{} (if nobody leaves)", choice.name),
        false => choice.name.to_string(),
    };
    let tried: Vec<(String, [f64; 2])> =
        choices.iter().filter_map(|choice| Some((name(choice), choice.costs()?))).collect();
    if tried.len() < 2 {
        return None;
    }
    let least = [0, 1].map(|at| tried.iter().map(|(_, costs)| costs[at]).fold(f64::INFINITY, f64::min));
    let is_least = |costs: &[f64; 2], at: usize| costs[at] <= least[at] * AS_GOOD;
    let names = |wanted: &dyn Fn(&[f64; 2]) -> bool| {
        let names: Vec<&str> = tried.iter().filter(|(_, costs)| wanted(costs)).map(|(name, _)| &**name).collect();
        names.join(" and ")
    };
    let [loss, error] = least.map(percent);
    let both = names(&|costs| is_least(costs, 0) && is_least(costs, 1));
    Some(match both.is_empty() {
        false => {
            format!("best for this table: {both}, with the least loss ({loss}) and the least query error ({error})")
        }
        true => format!(
            "no way is best for this table in both: {} with the least loss ({loss}), {} with the least query error ({error})",
            names(&|costs| is_least(costs, 0)),
            names(&|costs| is_least(costs, 1))
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tried(name: &'static str, loss: f64, query_error: f64) -> Choice {
        Choice {
            name,
            setting: String::new(),
            about: "",
            lets_people_leave: !["dealt", "drawn"].contains(&name),
            is_chosen: false,
            refused: None,
            groups: None,
            withheld: None,
            loss: Some(loss),
            query_error: Some(query_error),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn a_way_is_best_only_if_loss_and_query_error_agree() {
        let close = tried("close", 0.365, 0.273);
        let drawn = tried("drawn", 0.077, 0.054);
        let said = best(&[close.clone(), drawn.clone()], false).unwrap();
        assert!(said.starts_with("best for this table: drawn, with the least loss (7.70 %)"), "{said}");
        let said = best(&[close.clone(), drawn.clone()], true).unwrap();
        assert!(said.contains("drawn (if nobody leaves), with"), "{said}");
        let coarse = tried("drawn", 0.077, 4.04);
        let said = best(&[close.clone(), coarse], false).unwrap();
        assert!(
            said.starts_with("no way is best") && said.ends_with("close with the least query error (27.3 %)"),
            "{said}"
        );
        // What lots alone may have moved makes no difference.
        let said = best(&[close.clone(), tried("method", 0.366, 0.271), tried("drawn", 0.5, 0.5)], true).unwrap();
        assert!(said.starts_with("best for this table: close and method, "), "{said}");
        let refused = Choice { loss: None, refused: Some("no".into()), ..drawn };
        assert_eq!(best(&[close, refused], true), None, "one alone is not compared");
    }
}
