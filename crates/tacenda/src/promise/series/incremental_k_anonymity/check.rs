//! Whether a series stays incrementally k-anonymous with one more release.
//!
//! `audit::incremental_k_anonymity` has the definition.

use crate::audit::incremental_k_anonymity::{self, Bounds};
use crate::audit::{Evidence, Faults};
use crate::model::Release;
use crate::promise::IncrementalKAnonymity;
use crate::promise::series::Checked;

impl Checked for IncrementalKAnonymity {
    fn check(&self, evidence: &Evidence<'_>) -> Faults {
        let bounds = Bounds { k: self.k, l: self.l, cohorts: self.cohorts };
        incremental_k_anonymity::check(bounds, evidence)
    }

    fn check_whole(&self, release: &Release) -> Faults {
        if self.cohorts { Faults::default() } else { incremental_k_anonymity::check_overlaps(release) }
    }
}
