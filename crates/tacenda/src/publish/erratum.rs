//! What releases said that is not true, and what is said about it.
//!
//! Until version 2 of the engine, two promises said that they hold against a reader who knows how this program works.
//! They hold against a reader who knows the rule that every release keeps (science A3.11). Saying so is no loosening:
//! what is promised now held before, and the rest never did.

use crate::ledger::{Store, What};

/// The words of the old sentences that are not true.
const CLAIM: &str = "and how we work";

/// What is to be said about the series, where a release of it has an old sentence.
pub(super) fn text(store: &Store) -> Option<String> {
    let said =
        |promise: &serde_json::Value| promise["sentence"].as_str().is_some_and(|sentence| sentence.contains(CLAIM));
    let numbers: Vec<u32> =
        store.publications().filter(|publication| said(&publication.promise)).map(|one| one.number).collect();
    let which = match (numbers.first()?, numbers.last()?) {
        (first, last) if first == last => format!("Release {first} said"),
        (first, last) => format!("Releases {first} to {last} said"),
    };
    Some(format!(
        "{which} that the promise holds even for someone who knows how we work. That is not true. It holds for a reader who \
         knows the rule that every release keeps, but not how people and counterfeits were placed."
    ))
}

/// Whether the ledger says it already.
pub(super) fn is_written(store: &Store) -> bool {
    store.events().iter().any(|event| matches!(event.what, What::Erratum { .. }))
}
