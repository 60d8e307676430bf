//! What earlier releases said that is not true, and its correction.
//!
//! Until version 2 of the engine, two promises said that they hold against a reader who knows how this program works.
//! They hold against a reader who knows the rule that every release keeps (science A3.11). Correcting this is no
//! loosening: what is promised now held before, and the rest never did.

use crate::ledger::{Store, What};
use serde_json::Value as Json;

/// The words of the old sentences that are not true.
const CLAIM: &str = "and how we work";

/// The correction, if a release of the series has an old sentence.
pub(super) fn text(store: &Store) -> Option<String> {
    about(store.publications().map(|publication| (publication.number, &publication.promise)))
}

fn about<'a>(releases: impl Iterator<Item = (u32, &'a Json)>) -> Option<String> {
    let claims = |promise: &Json| promise["sentence"].as_str().is_some_and(|sentence| sentence.contains(CLAIM));
    let numbers: Vec<u32> = releases.filter(|(_, promise)| claims(promise)).map(|(number, _)| number).collect();
    let which = match (numbers.first()?, numbers.last()?) {
        (first, last) if first == last => format!("Release {first} said"),
        (first, last) => format!("Releases {first} to {last} said"),
    };
    Some(format!(
        "{which} that the promise holds even for someone who knows how we work. That is not true. It holds for a reader who \
         knows the rule that every release keeps, but not how people and counterfeits were placed. Every way to assign \
         people to rows that fits all releases must be equally likely to this reader. What else it does not cover is \
         listed below."
    ))
}

/// Whether the ledger has the correction already.
pub(super) fn is_written(store: &Store) -> bool {
    store.events().iter().any(|event| matches!(event.what, What::Erratum { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_releases_with_the_old_sentence_are_corrected() {
        let old = json!({ "sentence": "Someone who knows everything, and how we work, learns nothing." });
        let new = json!({ "sentence": "Nothing is claimed." });
        assert_eq!(about([(1, &new), (2, &json!({}))].into_iter()), None);
        let said = about([(1, &old), (2, &old), (3, &new)].into_iter()).unwrap();
        assert!(said.starts_with("Releases 1 to 2 said that the promise holds"), "{said}");
        assert!(about([(4, &old)].into_iter()).unwrap().starts_with("Release 4 said"));
    }
}
