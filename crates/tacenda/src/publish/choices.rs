//! What a steward may choose, side by side: what each way of keeping a promise costs in precision,
//! and how far a maintained clustering has drifted from one made anew.
//!
//! Both are rehearsals that are thrown away. They are for the steward and private.

use crate::grouping::Drift;
use crate::ingest::Remembered;
use crate::promise::{Alternative, Limits, PolicyFile, Promised};
use crate::publish::{Material, NextRelease, Project, ProjectError, Rehearsal};

/// One way to keep the promise, and what it costs now.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What is published, such as `cohorts`, `cells` or `tight`.
    pub name: &'static str,
    /// How the policy file asks for it.
    pub setting: &'static str,
    /// Whether the policy file does.
    pub is_chosen: bool,
    /// What it costs, or why the series or the data do not allow it.
    pub cost: Result<Cost, String>,
    /// What to know of it, each with a code.
    pub warnings: Vec<String>,
}

/// What a release says and leaves out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Groups.
    pub groups: u64,
    /// People who are left out.
    pub withheld: u64,
    /// The mean share of the values that a published row leaves open.
    pub loss: f64,
}

impl Cost {
    fn of(rehearsal: &Rehearsal) -> Cost {
        let prepared = &rehearsal.prepared;
        let (groups, withheld) = (prepared.release.group_count(), prepared.membership.withheld.len());
        Cost { groups: groups as u64, withheld: withheld as u64, loss: rehearsal.loss.leaf_share }
    }
}

impl Project {
    /// What each way of keeping the promise costs with this material; empty where there is no choice.
    ///
    /// `rehearsal` is the release as the policy file asks for it. The limits of withheld rows do not
    /// apply to the others: the answer is what they would cost.
    pub fn choices(&self, material: &Material, rehearsal: &Rehearsal) -> Result<Vec<Choice>, ProjectError> {
        let file = self.policy();
        let Promised::Series(chosen) = &file.promise else { return Ok(Vec::new()) };
        let tried = chosen.inner().alternatives().into_iter().map(|Alternative { name, setting, promise }| {
            let is_chosen = promise == *chosen;
            let (cost, warnings) = if is_chosen {
                (Ok(Cost::of(rehearsal)), rehearsal.warnings.clone())
            } else {
                let limits = Limits { counterfeits: 1.0, withheld: 1.0 };
                self.cost(&PolicyFile { promise: promise.into(), limits, ..file.clone() }, material)?
            };
            Ok(Choice { name, setting, is_chosen, cost, warnings })
        });
        tried.collect()
    }

    /// How far groups that are kept up are from groups made anew from this material, where some are.
    pub fn drift(&self, material: &Material) -> Option<Drift> {
        let file = self.policy();
        let Promised::Series(promise) = &file.promise else { return None };
        let history = material.history();
        let mut rng = self.seed().rng("group", history.releases + 1);
        promise.inner().drift(&file.schema, history, material.table(), &mut rng)
    }

    /// Why the series, once begun, cannot go on under another policy file.
    pub fn barred(&self, other: &PolicyFile, material: &Material) -> Option<String> {
        let begun = material.history().releases > 0;
        let (old, new) = (Remembered::of(self.policy()), Remembered::of(other));
        old.may_be_followed_by(&new).err().filter(|_| begun).map(|looser| looser.to_string())
    }

    /// What a release would cost under another policy file, and what to know of it.
    fn cost(
        &self,
        other: &PolicyFile,
        material: &Material,
    ) -> Result<(Result<Cost, String>, Vec<String>), ProjectError> {
        if let Some(why) = self.barred(other, material) {
            return Ok((Err(why), Vec::new()));
        }
        match self.rehearse(material, NextRelease { policy: Some(other), ..NextRelease::default() }, &|_| {}) {
            Ok(rehearsal) => Ok((Ok(Cost::of(&rehearsal)), rehearsal.warnings)),
            Err(ProjectError::Publish(error)) => Ok((Err(error.to_string()), Vec::new())),
            Err(error) => Err(error),
        }
    }
}
