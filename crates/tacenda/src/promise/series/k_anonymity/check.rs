//! Whether every group of a release holds `k` people, and what comparing it with the earlier ones reveals.

use crate::audit::k_anonymity::{Account, account};
use crate::audit::{Evidence, Faults, enough_people, no_counterfeits};
use crate::model::Table;
use crate::promise::series::Checked;
use crate::promise::{KAnonymity, Parameters};

impl Checked for KAnonymity {
    fn check(&self, evidence: &Evidence<'_>) -> Faults {
        enough_people(self.k, evidence).and(no_counterfeits(evidence))
    }

    fn account(&self, evidence: &Evidence<'_>, snapshot: Option<&Table>) -> Account {
        account(&self.terms(), evidence, snapshot)
    }
}
