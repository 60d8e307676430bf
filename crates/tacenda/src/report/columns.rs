//! The columns and the promise, in words: what each is, and what is done to it.

use crate::model::{Domain, Grid, Promise, Quasi, Role, Schema};
use crate::report::words::counted;
use crate::report::{ColumnFacts, Edition, PromiseFacts, RiskKind};

/// Every column with its role. A recipient does not hear of columns that were never published. Files of anyone, without a
/// promise, have no vault.
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
            true => "left out; a keyed hash ties a person's rows together in the vault",
            false => "tells the people of the private tables apart",
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
        Domain::Category(tree) => counted(u64::from(tree.leaf_count()), "category", "categories"),
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
        Domain::Category(tree) if tree.is_flat() => "generalised to a set of values".to_string(),
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
pub fn promise(promise: &Promise, not_covered: &[String]) -> PromiseFacts {
    let parameters = match promise {
        Promise::MInvariance { m, k } => {
            [Some(format!("m = {m}")), k.map(|k| format!("k = {k}"))].into_iter().flatten().collect()
        }
        Promise::IncrementalKAnonymity { k, cohorts, l } => {
            [Some(format!("k = {k}")), Some(format!("cohorts = {cohorts}")), l.map(|l| format!("l = {l}"))]
                .into_iter()
                .flatten()
                .collect()
        }
        Promise::KAnonymity { k } => vec![format!("k = {k}")],
        Promise::IncrementalLDiversity { l, mode } => {
            vec![format!("l = {l}"), format!("mode = {mode:?}").to_lowercase()]
        }
        Promise::XyAnonymity { x, y, k } => {
            vec![format!("x = {}", x.join(", ")), format!("y = {}", y.join(", ")), format!("k = {k}")]
        }
        Promise::XyLinkability { x, y, max_confidence_permille, .. } => vec![
            format!("x = {}", x.join(", ")),
            format!("y = {}", y.join(", ")),
            format!("max_confidence = {}", f64::from(*max_confidence_permille) / 1000.0),
        ],
    };
    PromiseFacts {
        model: promise.model().into(),
        parameters,
        sentence: promise.sentence(),
        limits: not_covered.iter().cloned().chain(promise.limits().into_iter().map(String::from)).collect(),
        one_in: one_in(promise),
    }
}

/// The largest risk a promise allows, as one in so many.
fn one_in(promise: &Promise) -> Option<u32> {
    match promise {
        Promise::MInvariance { m, .. } => Some(*m),
        Promise::IncrementalKAnonymity { k, .. } | Promise::KAnonymity { k } => Some(*k),
        Promise::IncrementalLDiversity { l, .. } => Some(*l),
        Promise::XyAnonymity { .. } | Promise::XyLinkability { .. } => None,
    }
}

/// The risk a promise is about.
pub fn risk_kind(promise: Option<&Promise>) -> RiskKind {
    match promise {
        Some(Promise::IncrementalKAnonymity { .. } | Promise::KAnonymity { .. }) => RiskKind::Identity,
        _ => RiskKind::Inference,
    }
}
