//! Declares a release withdrawn.

use crate::ledger::Store;
use crate::publish::now;
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::sync::Arc;

/// The answer of retract.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RetractReport {
    /// The release.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// Whether it was already withdrawn, so that nothing was done.
    pub already: bool,
}

/// Records in the ledger that a release, named by its number or label, is withdrawn, and why. Later releases tell
/// recipients. What the release revealed still counts, because nothing can be taken back.
pub fn retract(project: &ProjectFolder, release: &str, because: &str) -> Result<RetractReport, UseCaseError> {
    let because = because.trim();
    if because.is_empty() || because.chars().any(char::is_control) {
        return Err(UseCaseError::usage("give the reason in one line: --because \"…\"; recipients will read it"));
    }
    let anchors = project.held_anchors()?;
    // Whatever the policy file says now: a release must be withdrawn in a hurry.
    let mut store = Store::open_write(project.disk()?, &project.root)?;
    project.signer()?.into_iter().for_each(|signer| store.sign_with(Arc::new(signer)));
    if let Some(anchors) = &anchors {
        store.hold_against(anchors, &now(), project.accept_rollback.as_deref())?;
    }
    let is_wanted =
        |number: u32, label: &str| label == release || release.trim_start_matches('r').parse() == Ok(number);
    let found = store.publications().find(|one| is_wanted(one.number, &one.label));
    let (number, label) = found.map(|one| (one.number, one.label.clone())).ok_or(UseCaseError::NoSuchRelease)?;
    let already = store.retracted().iter().any(|&(retracted, _, _)| retracted == number);
    if !already {
        store.retract(&now(), number, because)?;
    }
    Ok(RetractReport { release: number, label, already })
}
