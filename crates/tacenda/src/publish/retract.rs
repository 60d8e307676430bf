//! What recipients are told about retracted releases. What these revealed still counts.
//!
//! A retraction does not unpublish anything. The release stays in the history, later releases are judged together with
//! it, and an audit reads it like the others.

use crate::ledger::Store;

/// What recipients are told of each release that was withdrawn.
pub(super) fn told(store: &Store) -> Vec<String> {
    let told = store.retracted().into_iter().map(|(number, at, because)| {
        let day = at.split('T').next().unwrap_or_default();
        format!("Release {number} was withdrawn on {day}: {}. Do not use it.", because.trim_end_matches('.'))
    });
    told.collect()
}

/// The same in one text, where some were.
pub(super) fn text(store: &Store) -> Option<String> {
    let told = told(store);
    (!told.is_empty()).then(|| told.join(" "))
}
