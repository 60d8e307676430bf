//! What a steward may choose, side by side: what each way of keeping a promise costs in precision,
//! and how far a maintained clustering has drifted from one made anew.
//!
//! Both are rehearsals that are thrown away. They are for the steward and private.

use crate::grouping::Drift;
use crate::ingest::Remembered;
use crate::promise::{Alternative, PolicyFile, Promised, SeriesPromise, ShareLimits};
use crate::publish::{Ingredients, NextRelease, Project, ProjectError, Rehearsal};
use schemars::JsonSchema;
use serde::Serialize;

/// One way to keep incremental-k-anonymity.
#[derive(Clone, Debug, JsonSchema, PartialEq, Serialize)]
#[schemars(rename = "ChoiceReport")]
pub struct Choice {
    /// What is published: `cohorts`, `cells` or `tight`.
    #[serde(rename = "choice")]
    pub name: &'static str,
    /// How the policy file asks for it.
    pub setting: &'static str,
    /// Whether the policy file does.
    #[serde(rename = "chosen")]
    pub is_chosen: bool,
    /// Why it cannot be chosen, if it cannot.
    pub refused: Option<String>,
    /// Groups.
    pub groups: Option<u64>,
    /// People who are left out.
    pub withheld: Option<u64>,
    /// Mean loss.
    pub loss: Option<f64>,
    /// What to know of it, each with a code.
    pub warnings: Vec<String>,
    /// What it does not protect against though another way does; empty where there is nothing.
    #[serde(skip)]
    pub caveat: &'static str,
}

impl Choice {
    fn refused(alternative: &Alternative, why: String) -> Choice {
        Choice {
            name: alternative.name,
            setting: alternative.setting,
            is_chosen: false,
            refused: Some(why),
            groups: None,
            withheld: None,
            loss: None,
            warnings: Vec::new(),
            caveat: alternative.caveat,
        }
    }

    fn possible(alternative: &Alternative, is_chosen: bool, rehearsal: &Rehearsal) -> Choice {
        let prepared = &rehearsal.prepared;
        Choice {
            name: alternative.name,
            setting: alternative.setting,
            is_chosen,
            refused: None,
            groups: Some(prepared.release.group_count() as u64),
            withheld: Some(prepared.membership.withheld.len() as u64),
            loss: Some(rehearsal.loss.leaf_share),
            warnings: rehearsal.warnings.clone(),
            caveat: alternative.caveat,
        }
    }
}

impl Project {
    /// What each way of keeping the promise costs with this material; empty where there is no choice.
    ///
    /// `rehearsal` is the release as the policy file asks for it. The limits of withheld rows do not
    /// apply to the others: the answer is what they would cost.
    pub fn choices(&self, material: &Ingredients, rehearsal: &Rehearsal) -> Result<Vec<Choice>, ProjectError> {
        let file = self.policy();
        let Promised::Series(chosen) = &file.promise else { return Ok(Vec::new()) };
        let alternatives = chosen.inner().alternatives();
        alternatives.into_iter().map(|alternative| self.choice(alternative, chosen, material, rehearsal)).collect()
    }

    /// How far groups that are kept up are from groups made anew from this material, where some are: in numbers, and in
    /// the promise's words.
    pub fn drift(&self, material: &Ingredients) -> Option<(Drift, Vec<(&'static str, String)>)> {
        let file = self.policy();
        let Promised::Series(promise) = &file.promise else { return None };
        let history = material.history();
        let lots = self.seed().lots("group", history.releases + 1);
        let drift = promise.inner().drift(&file.schema, history, material.table(), &lots)?;
        Some((drift, promise.inner().drift_in_words(&drift)))
    }

    /// Why the series, once begun, cannot go on under another policy file.
    pub fn barred(&self, other: &PolicyFile, material: &Ingredients) -> Option<String> {
        let begun = material.history().releases > 0;
        let (old, new) = (Remembered::of(self.policy()), Remembered::of(other));
        old.may_be_followed_by(&new).err().filter(|_| begun).map(|looser| looser.to_string())
    }

    /// What one way of keeping the promise costs.
    fn choice(
        &self,
        alternative: Alternative,
        chosen: &SeriesPromise,
        material: &Ingredients,
        rehearsal: &Rehearsal,
    ) -> Result<Choice, ProjectError> {
        if alternative.promise == *chosen {
            return Ok(Choice::possible(&alternative, true, rehearsal));
        }
        let limits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };
        let other = PolicyFile { promise: alternative.promise.clone().into(), limits, ..self.policy().clone() };
        if let Some(why) = self.barred(&other, material) {
            return Ok(Choice::refused(&alternative, why));
        }
        match self.rehearse(material, NextRelease { policy: Some(&other), ..NextRelease::default() }, &|_| {}) {
            Ok(rehearsal) => Ok(Choice::possible(&alternative, false, &rehearsal)),
            Err(ProjectError::Publish(error)) => Ok(Choice::refused(&alternative, error.to_string())),
            Err(error) => Err(error),
        }
    }
}
