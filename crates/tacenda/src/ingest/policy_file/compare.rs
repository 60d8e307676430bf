//! Whether a policy may follow on another within one series.
//!
//! [`canonical`] writes down everything that bears on what is published, as JSON with sorted keys, so
//! that a series can remember the policy of its last release as a text. [`is_looser`] compares two such
//! texts.

use crate::model::{
    DiversityMode, Domain, Grid, Hierarchy, ListedShare, PolicyFile, Promise, Quasi, Sensitive, Span, hex,
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The policy as JSON text: the same policy, the same text. Hierarchies and labels are given by digest.
/// Left out is what says nothing about a release: titles, weights, reasons, dropped columns.
pub fn canonical(policy: &PolicyFile) -> String {
    let mut columns = vec![(policy.schema.identifier.clone(), json!("identifier"))];
    columns.extend(policy.schema.quasi.iter().map(|quasi| (quasi.name.clone(), quasi_json(quasi))));
    columns.extend(policy.schema.sensitive.iter().map(|sensitive| (sensitive.name.clone(), sensitive_json(sensitive))));
    columns.extend(policy.schema.public.iter().map(|public| (public.name.clone(), json!("public"))));
    let order: Vec<&str> = policy.schema.published_columns().collect();
    object([
        ("series", json!(policy.series.name)),
        ("columns", object(columns)),
        ("order", json!(order)),
        ("promise", promise_json(policy)),
        ("views", views_json(policy)),
        ("counterfeits", json!(policy.limits.counterfeits)),
        ("withheld", json!(policy.limits.withheld)),
        ("linked_ids", json!(policy.output.linked_ids)),
        ("row_weight", json!(policy.output.row_weight)),
    ])
    .to_string()
}

/// Why `new` may not follow on `old` in the same series, if it may not. Both are texts of [`canonical`].
///
/// Refused is what demands less, and what demands more of people than past releases gave them: their
/// promise cannot be strengthened after the fact. The limits of counterfeits and withheld rows may move
/// either way: no promise rests on them, and a larger one is the way out when a release would exceed it.
pub fn is_looser(old: &str, new: &str) -> Option<String> {
    let (Ok(old), Ok(new)) = (serde_json::from_str::<Value>(old), serde_json::from_str::<Value>(new)) else {
        return Some("the policy of the last release cannot be read".into());
    };
    if old["series"] != new["series"] {
        return Some("the series has another name: that is a new series".into());
    }
    columns_differ(&old["columns"], &new["columns"])
        .or_else(|| promise_looser(&old["promise"], &new["promise"]))
        .or_else(|| views_looser(&old["views"], &new["views"]))
        .or_else(|| {
            let linked = old["linked_ids"] == json!(false) && new["linked_ids"] == json!(true);
            linked.then(|| "linked_ids is new: it ties rows together that were published apart".into())
        })
}

fn columns_differ(old: &Value, new: &Value) -> Option<String> {
    let (old, new) = (old.as_object()?, new.as_object()?);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort_unstable();
    let name = names.into_iter().find(|&name| old.get(name) != new.get(name))?;
    let what = match (old.get(name), new.get(name)) {
        (Some(_), None) => "is no longer listed",
        (None, Some(_)) => "was not listed at the last release",
        _ => "has another role, domain, grid, width or hierarchy than at the last release",
    };
    Some(format!("column {name} {what}: that needs a new series"))
}

fn promise_looser(old: &Value, new: &Value) -> Option<String> {
    if old["model"] != new["model"] {
        return Some("the promise is another one: that needs a new series".into());
    }
    let single = old["model"] == json!("k-anonymity") || old["model"] == json!("xy-anonymity");
    for key in ["m", "k", "l"] {
        let (before, after) = (old[key].as_u64().unwrap_or(0), new[key].as_u64().unwrap_or(0));
        if after < before {
            return Some(format!("{key} was {before} at the last release: less would break what was promised"));
        }
        // A balanced size of groups, and a promise about one release alone, may grow at any time.
        let may_grow = single || key == "k" && old["model"] == json!("m-invariance");
        if after > before && !may_grow {
            return Some(format!(
                "{key} was {}: the people published so far stand among fewer than {after}; that needs a new series",
                if before == 0 { "not given".into() } else { before.to_string() }
            ));
        }
    }
    let shares = (old["max_confidence_permille"].as_u64(), new["max_confidence_permille"].as_u64());
    if let (Some(before), Some(after)) = shares
        && after > before
    {
        return Some("max_confidence is larger than at the last release: more would break what was promised".into());
    }
    for key in ["cohorts", "mode", "tight", "x", "y", "listed", "only_listed"] {
        if old[key] != new[key] {
            return Some(format!("{key} is not what it was at the last release: that needs a new series"));
        }
    }
    let newly_made_up = old["made_up"] == json!(false) && new["made_up"] == json!(true);
    newly_made_up.then(|| "made_up is new: the data were not made up at the last release".into())
}

fn promise_json(policy: &PolicyFile) -> Value {
    let (m, k, l, cohorts, mode) = match &policy.promise {
        Promise::MInvariance { m, k } => (Some(*m), *k, None, None, None),
        Promise::IncrementalKAnonymity { k, cohorts, l } => (None, Some(*k), *l, Some(*cohorts), None),
        Promise::KAnonymity { k } => (None, Some(*k), None, None, None),
        Promise::IncrementalLDiversity { l, mode } => {
            (None, None, Some(*l), None, Some(if *mode == DiversityMode::Safe { "safe" } else { "paper" }))
        }
        Promise::XyAnonymity { k, .. } => (None, Some(*k), None, None, None),
        Promise::XyLinkability { .. } => (None, None, None, None, None),
    };
    let choices = &policy.choices;
    let mut entries = match policy.promise.is_about_views() {
        true => xy_json(&policy.promise),
        false => Vec::new(),
    };
    entries.extend([
        ("model", json!(policy.promise.model())),
        ("m", json!(m)),
        ("k", json!(k)),
        ("l", json!(l)),
        ("cohorts", json!(cohorts)),
        ("mode", json!(mode)),
        ("tight", json!(choices.tight)),
        ("made_up", json!(choices.made_up)),
        ("on_ineligible", json!(format!("{:?}", choices.on_ineligible).to_lowercase())),
        ("on_delete", json!(format!("{:?}", choices.on_delete).to_lowercase())),
        ("optimise", json!(choices.optimise)),
        ("base", json!(choices.base.map(|base| format!("{base:?}").to_lowercase()))),
        ("seed_rule", json!(format!("{:?}", choices.seed_rule).to_lowercase())),
        ("refresh", json!(choices.refresh)),
        ("loss", json!(format!("{:?}", choices.loss).to_lowercase())),
        ("accept_series_risk", json!(choices.accept_series_risk)),
    ]);
    object(entries)
}

/// What a promise about views demands.
fn xy_json(promise: &Promise) -> Vec<(&'static str, Value)> {
    match promise {
        Promise::XyAnonymity { x, y, .. } => vec![("x", json!(x)), ("y", json!(y))],
        Promise::XyLinkability { x, y, max_confidence_permille, listed, only_listed } => {
            let share = |share: &ListedShare| json!([share.values, share.max_permille]);
            vec![
                ("x", json!(x)),
                ("y", json!(y)),
                ("max_confidence_permille", json!(max_confidence_permille)),
                ("listed", listed.iter().map(share).collect()),
                ("only_listed", json!(only_listed)),
            ]
        }
        _ => Vec::new(),
    }
}

/// The views; null where there are none.
fn views_json(policy: &PolicyFile) -> Value {
    let views = &policy.views;
    if views.list.is_empty() {
        return Value::Null;
    }
    let list = views.list.iter().map(|view| (view.name.clone(), json!([view.columns, view.adopted.is_some()])));
    let also = views.also.iter().map(|promise| {
        let k = if let Promise::XyAnonymity { k, .. } = promise { Some(*k) } else { None };
        object(xy_json(promise).into_iter().chain([("model", json!(promise.model())), ("k", json!(k))]))
    });
    let side = |side: &(String, Span)| json!([side.0, side.1.lo, side.1.hi]);
    let rules = views.impossible.iter().map(|rule| json!([side(&rule.left), side(&rule.right)]));
    object([
        ("list", object(list)),
        ("also", also.collect()),
        ("impossible", rules.collect()),
        ("pools", json!(views.pools)),
        ("pairs_suffice", json!(views.pairs_suffice)),
    ])
}

/// Views that are gone or changed, demands that were dropped, and people who may no longer pool.
fn views_looser(old: &Value, new: &Value) -> Option<String> {
    let none = serde_json::Map::new();
    let (before, after) = (old["list"].as_object().unwrap_or(&none), new["list"].as_object().unwrap_or(&none));
    if let Some(name) = before.keys().find(|&name| after.get(name) != before.get(name)) {
        return Some(format!("view {name} is gone or has other columns: what is out of it stays out"));
    }
    let kept = |key: &str| {
        let now = new[key].as_array().map(Vec::as_slice).unwrap_or_default();
        old[key].as_array().is_none_or(|before| before.iter().all(|entry| now.contains(entry)))
    };
    if !kept("also") {
        return Some("an [[also]] of the last release is gone or another one: that needs a new series".into());
    }
    if !kept("impossible") {
        return Some("an [[impossible]] of the last release is gone: a reader still knows it".into());
    }
    if old["pairs_suffice"] != json!(true) && new["pairs_suffice"] == json!(true) && !old.is_null() {
        return Some("too_large is looser than at the last release: that needs a new series".into());
    }
    // Without a list everyone may pool with everyone, which asks for most.
    let pools_narrower = old["pools"] != new["pools"] && new["pools"] != json!([]) && !new.is_null();
    pools_narrower.then(|| "pool is not what it was: only taking it out, so that all may pool, asks for more".into())
}

fn quasi_json(quasi: &Quasi) -> Value {
    let domain = match &quasi.domain {
        Domain::Integer { lo, hi } => json!(["integer", lo, hi]),
        Domain::Real { lo, hi, decimals } => json!(["real", lo, hi, decimals]),
        Domain::Date { lo, hi } => json!(["date", lo, hi]),
        Domain::Category(tree) => json!(["category", tree_digest(tree)]),
    };
    let grid = match &quasi.grid {
        Grid::Free => json!("free"),
        Grid::Every { pitch, phase } => json!([pitch, phase]),
        Grid::Lines(lines) => json!(lines),
    };
    object([
        ("role", json!("quasi")),
        ("domain", domain),
        ("nullable", json!(quasi.nullable)),
        ("grid", grid),
        ("min_width", json!(quasi.min_width)),
    ])
}

fn sensitive_json(sensitive: &Sensitive) -> Value {
    let mut digest = Sha256::new();
    for text in sensitive.labels.iter().flat_map(|(cell, label)| [cell, label]) {
        add_text(&mut digest, text);
    }
    object([
        ("role", json!("sensitive")),
        ("nullable", json!(sensitive.nullable)),
        ("labels", if sensitive.labels.is_empty() { Value::Null } else { json!(hex(&digest.finalize())) }),
    ])
}

/// A digest of all leaves, each with its ancestors.
fn tree_digest(tree: &Hierarchy) -> String {
    let mut digest = Sha256::new();
    for code in 0..tree.leaf_count() {
        add_text(&mut digest, tree.leaf_label(code));
        let mut span = Span::exact(code);
        while span.width() < tree.leaf_count() {
            span = tree.cover_at_least(span, span.width() + 1);
            add_text(&mut digest, tree.node_label(span).unwrap_or_default());
        }
    }
    hex(&digest.finalize())
}

fn add_text(digest: &mut Sha256, text: &str) {
    digest.update((text.len() as u64).to_le_bytes());
    digest.update(text.as_bytes());
}

/// An object with sorted keys, whatever the JSON library does about order.
fn object<K: Into<String>>(entries: impl IntoIterator<Item = (K, Value)>) -> Value {
    let mut entries: Vec<(String, Value)> = entries.into_iter().map(|(key, value)| (key.into(), value)).collect();
    entries.sort_by(|a, b| a.0.cmp(&b.0));
    Value::Object(entries.into_iter().collect())
}
