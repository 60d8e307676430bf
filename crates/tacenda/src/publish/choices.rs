//! What a steward may choose, side by side: what each way of keeping a promise costs in precision,
//! and how far a maintained clustering has drifted from one made anew.
//!
//! Both are rehearsals that are thrown away. They are for the steward and private.

use crate::ingest;
use crate::model::{Limits, PolicyFile, Promise};
use crate::policy::KAnonymity;
use crate::policy::k_anonymity::Drift;
use crate::publish::{Material, Project, ProjectError, Rehearsal};

/// One way to keep incremental k-anonymity, and what it costs now.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// What is published: `cohorts`, `cells` or `tight`.
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

/// The ways there are: name, setting, cohorts, tight.
const WAYS: [(&str, &str, bool, bool); 3] = [
    ("cohorts", "cohorts = true", true, false),
    ("cells", "cohorts = false", false, false),
    ("tight", "cohorts = false, tight = true", false, true),
];

impl Project {
    /// What each way of keeping incremental k-anonymity costs with this material; empty for other promises.
    ///
    /// `rehearsal` is the release as the policy file asks for it. The limits of withheld rows do not
    /// apply to the others: the answer is what they would cost.
    pub fn choices(&self, material: &Material, rehearsal: &Rehearsal) -> Result<Vec<Choice>, ProjectError> {
        let file = self.policy();
        let Promise::IncrementalKAnonymity { k, cohorts, l } = file.promise else { return Ok(Vec::new()) };
        let tried = WAYS.iter().map(|&(name, setting, apart, tight)| {
            let is_chosen = apart == cohorts && tight == file.choices.tight;
            let (cost, warnings) = if is_chosen {
                (Ok(Cost::of(rehearsal)), rehearsal.warnings.clone())
            } else {
                let mut other = file.clone();
                other.promise = Promise::IncrementalKAnonymity { k, cohorts: apart, l };
                other.choices.tight = tight;
                other.limits = Limits { counterfeits: 1.0, withheld: 1.0 };
                self.cost(&other, material)?
            };
            Ok(Choice { name, setting, is_chosen, cost, warnings })
        });
        tried.collect()
    }

    /// How far the maintained clustering of this material is from one made anew, where there is one.
    pub fn drift(&self, material: &Material) -> Option<Drift> {
        let file = self.policy();
        let Promise::KAnonymity { k } = file.promise else { return None };
        let history = material.history();
        let mut rng = self.seed().rng("group", history.releases + 1);
        KAnonymity::of(k, &file.choices).drift(&file.schema, history, material.table(), &mut rng)
    }

    /// Why the series, once begun, cannot go on under another policy file.
    pub fn barred(&self, other: &PolicyFile, material: &Material) -> Option<String> {
        let begun = material.history().releases > 0;
        let (old, new) = (ingest::canonical(self.policy()), ingest::canonical(other));
        ingest::is_looser(&old, &new).filter(|_| begun)
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
        match self.rehearse_as(other, material, None, &|_| {}) {
            Ok(rehearsal) => Ok((Ok(Cost::of(&rehearsal)), rehearsal.warnings)),
            Err(ProjectError::Publish(error)) => Ok((Err(error.to_string()), Vec::new())),
            Err(error) => Err(error),
        }
    }
}
