//! The columns and the promise, in words: what each column is, and what is done to it.

use crate::model::{Domain, Grid, Hides, Quasi, Role, Schema, Terms};
use crate::report::words::counted;
use crate::report::{ColumnFacts, Edition, PromiseFacts, RiskKind};

/// Every column with its role. Recipients do not see columns that were never published. Files of other tools have no
/// promise and no vault.
pub fn columns(schema: &Schema, edition: Edition, has_promise: bool) -> Vec<ColumnFacts> {
    let fact = |name: &str, role: Role, values: String, technique: String| ColumnFacts {
        name: name.into(),
        role,
        values,
        technique,
    };
    let mut columns = Vec::new();
    let is_private = edition != Edition::Recipient;
    if is_private && !schema.identifier.is_empty() {
        let technique = match has_promise {
            true => "not published; a keyed hash in the vault links a person's rows",
            false => "identifies people in the private tables",
        };
        columns.push(fact(&schema.identifier, Role::Identifier, "one a person".into(), technique.into()));
    }
    for &(role, index) in &schema.order {
        columns.push(match role {
            Role::Quasi => {
                let quasi = &schema.quasi[index];
                fact(&quasi.name, Role::Quasi, values(quasi), technique(quasi))
            }
            Role::Sensitive => {
                let sensitive = &schema.sensitive[index];
                let labels = match sensitive.labels.is_empty() {
                    true => "published as it is".to_string(),
                    false => "published under coarser labels".to_string(),
                };
                fact(&sensitive.name, Role::Sensitive, "any value".into(), labels)
            }
            _ => {
                let public = &schema.public[index];
                let because = public.because.trim_end_matches('.');
                fact(&public.name, Role::Public, "any value".into(), format!("published as it is: {because}"))
            }
        });
    }
    if is_private {
        let dropped = schema.dropped.iter();
        columns.extend(dropped.map(|name| fact(name, Role::Drop, "any value".into(), "left out".into())));
    }
    columns
}

fn values(quasi: &Quasi) -> String {
    let missing = if quasi.nullable { ", or not recorded" } else { "" };
    let what = match &quasi.domain {
        Domain::Category(tree) => {
            let leaves = tree.leaf_count() - u32::from(quasi.null().is_some());
            counted(u64::from(leaves), "category", "categories")
        }
        _ => {
            let (mut lo, mut hi) = (String::new(), String::new());
            quasi.print_bound(0, &mut lo);
            quasi.print_bound(quasi.size() - u32::from(quasi.nullable), &mut hi);
            format!("[{lo},{hi})")
        }
    };
    format!("{what}{missing}")
}

fn technique(quasi: &Quasi) -> String {
    let mut text = match &quasi.domain {
        Domain::Category(_) if quasi.nodes().is_none() => "generalised to a set of values".to_string(),
        Domain::Category(tree) => format!("generalised along a hierarchy of height {}", tree.height()),
        _ => "generalised to an interval".to_string(),
    };
    match &quasi.grid {
        Grid::Free => (),
        Grid::Every { pitch, .. } => text.push_str(&format!(", boundaries on every multiple of {pitch}")),
        Grid::Lines(_) => text.push_str(", boundaries on months or years"),
    }
    if quasi.min_width > 1 {
        text.push_str(&format!(", at least {} values wide", quasi.min_width));
    }
    text
}

/// The promise in words.
pub fn promise(promise: &Terms, not_covered: &[String]) -> PromiseFacts {
    PromiseFacts {
        model: promise.name.into(),
        parameters: promise.parameters.clone(),
        in_short: promise.short(),
        sentence: promise.sentence.clone(),
        limits: not_covered.iter().cloned().chain(promise.limits.iter().copied().map(String::from)).collect(),
        one_in: promise.one_in(),
    }
}

/// The risk a promise is about. Without a sensitive column nobody's value can be guessed.
pub fn risk_kind(promise: Option<&Terms>, has_values: bool) -> RiskKind {
    match promise.map(|promise| promise.hides) {
        Some(Hides::Identity(_)) => RiskKind::Identity,
        _ if has_values => RiskKind::Inference,
        _ => RiskKind::Identity,
    }
}
