//! Declares a release withdrawn.

use crate::ledger::Store;
use crate::publish::{ProjectError, now};
use crate::use_cases::{DeliveryOutcome, DeliveryReport, ProjectFolder, UseCaseError, WantedDeliveries, deliver};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of retract.
#[derive(Debug, JsonSchema, Serialize)]
pub struct RetractReport {
    /// The release.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// Whether it was already withdrawn, so that nothing was done.
    pub already: bool,
    /// What databases were told, and what not. The release is withdrawn in any case.
    pub deliveries: Vec<DeliveryReport>,
}

/// Records in the ledger that a release, named by its number or label, is withdrawn, and why. Later releases tell
/// recipients. What the release revealed still counts, because nothing can be taken back.
pub fn retract(project: &ProjectFolder, release: &str, because: &str) -> Result<RetractReport, UseCaseError> {
    let because = because.trim();
    if because.is_empty() || because.chars().any(char::is_control) {
        return Err(UseCaseError::usage("give the reason in one line: --because \"…\"; recipients will read it"));
    }
    // Whatever the policy file says now: a release must be withdrawn in a hurry.
    let mut store = deliver::open(project)?;
    let number = deliver::number_of(&store, release).ok_or(UseCaseError::NoSuchRelease)?;
    let label = store.publications().find(|one| one.number == number).map_or(String::new(), |one| one.label.clone());
    let already = store.retracted().iter().any(|&(retracted, _, _)| retracted == number);
    if !already {
        store.retract(&now(), number, because)?;
    }
    let deliveries = match (deliver::targets(project), project.database.as_deref()) {
        (Ok(targets), database) => {
            let mut told = deliver::settle(&mut store, &targets, database, WantedDeliveries::default(), &|_, _| {});
            // A place that the policy file no longer leads to has the release all the same.
            told.extend(deliver::stranded(&store, &targets).iter().map(|one| one.report(&targets)));
            told
        }
        (Err(error), _) => unreachable_places(&store, number, &error),
    };
    Ok(RetractReport { release: number, label, already, deliveries })
}

/// The places that have a withdrawn release and cannot be told, because the policy file cannot be read.
fn unreachable_places(store: &Store, release: u32, error: &ProjectError) -> Vec<DeliveryReport> {
    let mut places: Vec<String> =
        deliver::stranded(store, &[]).into_iter().filter(|one| one.release == release).map(|one| one.to).collect();
    places.dedup();
    let report = |to: String| DeliveryReport {
        release,
        outcome: DeliveryOutcome::Failed,
        code: Some(error.code().into()),
        message: Some(format!("the policy file cannot be used, so {to} was not told: {error}")),
        to,
    };
    places.into_iter().map(report).collect()
}
