//! Withdraws a release: recipients are told, and what it gave away stays counted.
//!
//! Nothing is unpublished by that. The release stays in the history, later releases are judged together with it, and an
//! audit reads it like the others.

use crate::ledger::Store;
use crate::publish::project::now;
use crate::publish::{Project, ProjectError};

impl Project {
    /// Writes down that a release is withdrawn, and why; false if it was already.
    pub fn retract(&mut self, release: u32, because: &str) -> Result<bool, ProjectError> {
        let store = self.store_mut();
        if store.retracted().iter().any(|&(number, _, _)| number == release) {
            return Ok(false);
        }
        store.retract(&now(), release, because)?;
        Ok(true)
    }
}

/// What recipients are told of releases that were withdrawn, where some were.
pub(super) fn text(store: &Store) -> Option<String> {
    let told = store.retracted().into_iter().map(|(number, at, because)| {
        let day = at.split('T').next().unwrap_or_default();
        format!("Release {number} was withdrawn on {day}: {}. Do not use it.", because.trim_end_matches('.'))
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(" "))
}
