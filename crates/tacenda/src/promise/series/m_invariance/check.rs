//! Whether a release is m-invariant together with everything published before.
//!
//! `audit::invariance` has the definition.

use crate::audit::{Evidence, Faults, invariance};
use crate::promise::MInvariance;
use crate::promise::series::Checked;

impl Checked for MInvariance {
    fn check(&self, evidence: &Evidence<'_>) -> Faults {
        invariance::check(self.m, self.k, evidence)
    }
}
