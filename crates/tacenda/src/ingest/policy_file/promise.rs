//! `[promise]`, the limits and `[output]`.

use crate::ingest::policy_file::walk::{Section, Walk};
use crate::ingest::policy_file::{Fault, views};
use crate::model::{
    Base, Choices, DiversityMode, Format, Limits, LossKind, OnDelete, OnIneligible, Output, PolicyFile, Promise,
    Schema, SeedRule, Sensitive,
};
use std::collections::BTreeSet;
use toml::de::DeValue;

/// Which promise a file asks for.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(in crate::ingest) enum Model {
    Invariance,
    Incremental,
    Single,
    Diversity,
    Anonymity,
    Linkability,
}

/// The promises by name.
pub(in crate::ingest) const MODELS: [(&str, Model); 6] = [
    ("m-invariance", Model::Invariance),
    ("incremental-k-anonymity", Model::Incremental),
    ("k-anonymity", Model::Single),
    ("incremental-l-diversity", Model::Diversity),
    ("xy-anonymity", Model::Anonymity),
    ("xy-linkability", Model::Linkability),
];

/// The promise and how it is kept; `None` if a fault leaves no sense in it.
pub(super) fn read(section: &Section<'_, '_>, schema: Option<&Schema>, walk: &mut Walk) -> Option<(Promise, Choices)> {
    let Some((name, span)) = walk.string(section, "model") else {
        if section.get("model").is_none() {
            walk.missing(section, "model", "model = \"m-invariance\"");
        }
        return None;
    };
    let model = walk.pick("model", name, span, &MODELS)?;
    walk.check_keys(section);
    let allowed: &[&str] = match model {
        Model::Invariance => &["model", "m", "k", "on_ineligible", "accept_adopted"],
        Model::Incremental => &["model", "k", "cohorts", "l", "tight", "on_delete"],
        Model::Single => {
            &["model", "k", "optimise", "base", "seed_rule", "refresh", "loss", "accept_series_risk", "accept_adopted"]
        }
        Model::Diversity => &["model", "l", "mode", "made_up"],
        Model::Anonymity => &[&views::ANONYMITY[..], &views::ONCE].concat(),
        Model::Linkability => &[&views::LINKABILITY[..], &views::ONCE].concat(),
    };
    walk.only_keys(section, allowed, name);
    let choices = read_choices(section, walk);
    let promise = match model {
        Model::Invariance => {
            Promise::MInvariance { m: parameter(section, "m", walk)?, k: optional(section, "k", walk) }
        }
        Model::Incremental => {
            let cohorts = walk.boolean(section, "cohorts").unwrap_or(true);
            Promise::IncrementalKAnonymity {
                k: parameter(section, "k", walk)?,
                cohorts,
                l: optional(section, "l", walk),
            }
        }
        Model::Single => Promise::KAnonymity { k: parameter(section, "k", walk)? },
        Model::Anonymity => views::read_promise(section, false, schema, walk)?,
        Model::Linkability => views::read_promise(section, true, schema, walk)?,
        Model::Diversity => {
            let modes = [("safe", DiversityMode::Safe), ("paper", DiversityMode::Paper)];
            let mode = walk.word(section, "mode", &modes).unwrap_or(DiversityMode::Safe);
            Promise::IncrementalLDiversity { l: parameter(section, "l", walk)?, mode }
        }
    };
    check(section, &promise, &choices, schema, walk);
    Some((promise, choices))
}

/// What only shows when promise, choices and columns are seen together.
fn check(section: &Section<'_, '_>, promise: &Promise, choices: &Choices, schema: Option<&Schema>, walk: &mut Walk) {
    let at = |key: &str| section.get(key).map_or(section.span(), |value| value.span());
    for Contradiction { code, key, message, help } in contradictions(promise, choices, schema) {
        walk.fault(code, message, at(key), help);
    }
    if matches!(promise, Promise::KAnonymity { .. }) {
        walk.notes.push(
            "k-anonymity holds for each release alone: it says nothing about a series, and a second release needs \
             accept_series_risk"
                .into(),
        );
    }
    if matches!(promise, Promise::IncrementalKAnonymity { cohorts: false, l: Some(_), .. }) {
        walk.notes.push(
            "without cohorts the guard l holds for each group of each release alone: whoever compares releases may learn \
             more about sensitive values; cohorts = true guards the series"
                .into(),
        );
    }
}

/// The faults of a policy that was changed after it was read, as the file with that change would have them.
pub fn faults_of(file: &PolicyFile) -> Vec<Fault> {
    let found = contradictions(&file.promise, &file.choices, Some(&file.schema));
    found
        .into_iter()
        .map(|Contradiction { code, message, help, .. }| Fault { code, message, span: None, help })
        .collect()
}

/// What in a promise does not go together, and the key that says it.
struct Contradiction {
    code: &'static str,
    key: &'static str,
    message: String,
    help: String,
}

fn contradictions(promise: &Promise, choices: &Choices, schema: Option<&Schema>) -> Vec<Contradiction> {
    let mut found = Vec::new();
    let mut say = |code, key, message: &str, help: &str| {
        found.push(Contradiction { code, key, message: message.into(), help: help.into() });
    };
    let about_values = matches!(
        promise,
        Promise::MInvariance { .. }
            | Promise::IncrementalLDiversity { .. }
            | Promise::IncrementalKAnonymity { l: Some(_), .. }
    );
    if about_values && schema.is_some_and(|schema| schema.sensitive.is_empty()) {
        let help = "give a column role = \"sensitive\", or choose a k-anonymity promise";
        say("P209", "model", "the promise is about sensitive values, and no column has that role", help);
    }
    if matches!(promise, Promise::IncrementalKAnonymity { cohorts: true, .. }) && choices.tight {
        say("P214", "tight", "tight says nothing with cohorts", "set cohorts = false, or take tight out");
    }
    if choices.base == Some(Base::Tree) && !choices.optimise {
        say("P214", "base", "the base tree needs optimise", "set optimise = true, or base = \"k-member\"");
    }
    let is_safe = matches!(promise, Promise::IncrementalLDiversity { mode: DiversityMode::Safe, .. });
    if is_safe && choices.made_up {
        say("P214", "made_up", "made_up says nothing in mode safe", "take it out");
    }
    found.extend(too_few_declared(promise, schema));
    found
}

/// A promise of more values than there can be.
fn too_few_declared(promise: &Promise, schema: Option<&Schema>) -> Option<Contradiction> {
    let (key, wanted) = match promise {
        Promise::MInvariance { m, .. } => ("m", *m),
        Promise::IncrementalLDiversity { l, .. } | Promise::IncrementalKAnonymity { l: Some(l), .. } => ("l", *l),
        _ => return None,
    };
    let declared = schema.and_then(declared_values).filter(|&declared| declared < u64::from(wanted))?;
    Some(Contradiction {
        code: "P228",
        key,
        message: format!(
            "{key} = {wanted} needs at least {wanted} sensitive values, and the policy file declares {declared}"
        ),
        help: format!("lower {key}, or declare every sensitive value that may ever come"),
    })
}

/// How many combinations of sensitive values there can be; `None` where any value is accepted.
fn declared_values(schema: &Schema) -> Option<u64> {
    let count = |sensitive: &Sensitive| {
        let labels: BTreeSet<&str> = sensitive.labels.iter().map(|(_, label)| label.as_str()).collect();
        (!labels.is_empty()).then(|| labels.len() as u64 + u64::from(sensitive.nullable))
    };
    if schema.sensitive.is_empty() {
        return None;
    }
    schema.sensitive.iter().try_fold(1u64, |all, sensitive| Some(all.saturating_mul(count(sensitive)?)))
}

fn read_choices(section: &Section<'_, '_>, walk: &mut Walk) -> Choices {
    let usual = Choices::default();
    let uneven =
        [("refuse", OnIneligible::Refuse), ("defer", OnIneligible::Defer), ("counterfeit", OnIneligible::Counterfeit)];
    let gone = [("refuse", OnDelete::Refuse), ("withhold", OnDelete::Withhold)];
    let seeds = [("last-added", SeedRule::LastAdded), ("last-seed", SeedRule::LastSeed)];
    let losses = [("leaf-share", LossKind::LeafShare), ("height", LossKind::Height)];
    Choices {
        on_ineligible: walk.word(section, "on_ineligible", &uneven).unwrap_or(usual.on_ineligible),
        on_delete: walk.word(section, "on_delete", &gone).unwrap_or(usual.on_delete),
        tight: walk.boolean(section, "tight").unwrap_or(usual.tight),
        optimise: walk.boolean(section, "optimise").unwrap_or(usual.optimise),
        base: walk.word(section, "base", &[("k-member", Base::KMember), ("tree", Base::Tree)]),
        seed_rule: walk.word(section, "seed_rule", &seeds).unwrap_or(usual.seed_rule),
        refresh: read_refresh(section, walk),
        loss: walk.word(section, "loss", &losses).unwrap_or(usual.loss),
        accept_series_risk: read_reason(section, "accept_series_risk", walk),
        accept_adopted: read_reason(section, "accept_adopted", walk),
        made_up: walk.boolean(section, "made_up").unwrap_or(usual.made_up),
    }
}

/// A reason, which must say something.
fn read_reason(section: &Section<'_, '_>, key: &str, walk: &mut Walk) -> Option<String> {
    let (reason, span) = walk.string(section, key).map(|(reason, span)| (reason.trim().to_string(), span))?;
    if reason.is_empty() {
        walk.fault("P203", format!("{key} takes a reason"), span, "write down why it is acceptable");
    }
    Some(reason)
}

/// A number, or the words `when loss > 1.1 x static`.
fn read_refresh(section: &Section<'_, '_>, walk: &mut Walk) -> Option<f64> {
    let value = section.get("refresh")?;
    let factor = match value.get_ref() {
        DeValue::String(words) => {
            let number = words.trim().strip_prefix("when loss >").and_then(|rest| rest.trim().strip_suffix("static"));
            number.and_then(|rest| rest.trim().strip_suffix('x')).and_then(|number| number.trim().parse::<f64>().ok())
        }
        other => crate::ingest::policy_file::walk::number_of(other),
    };
    let factor = factor.filter(|factor| (1.0..1e6).contains(factor));
    if factor.is_none() {
        let help = "for example refresh = 1.1, or refresh = \"when loss > 1.1 x static\"";
        walk.fault("P227", "refresh takes a number of at least 1 and below 1000000", value.span(), help);
    }
    factor
}

/// A parameter that must be there.
pub(super) fn parameter(section: &Section<'_, '_>, key: &'static str, walk: &mut Walk) -> Option<u32> {
    if section.get(key).is_none() {
        walk.missing(section, key, &format!("{key} = 4"));
    }
    optional(section, key, walk)
}

fn optional(section: &Section<'_, '_>, key: &str, walk: &mut Walk) -> Option<u32> {
    let (number, span) = walk.integer(section, key)?;
    if number < 2 {
        walk.fault(
            "P213",
            format!("{key} is at least 2: one person among {key}"),
            span,
            format!("for example {key} = 4"),
        );
        return None;
    }
    if number > 1_000_000 {
        walk.fault("P227", format!("{key} is at most 1000000"), span, "");
        return None;
    }
    Some(number as u32)
}

/// `[counterfeits]` and `[withheld]`.
pub(super) fn read_limits(root: &Section<'_, '_>, walk: &mut Walk) -> Limits {
    let usual = Limits::default();
    let mut share = |key: &'static str, usual: f64| {
        let Some(section) = walk.section(root, key) else { return usual };
        walk.check_keys(&section);
        let Some((share, span)) = walk.number(&section, "max_share") else { return usual };
        if !(0.0..=1.0).contains(&share) {
            walk.fault("P220", "max_share lies between 0 and 1", span, "2 % is 0.02");
        }
        share
    };
    Limits { counterfeits: share("counterfeits", usual.counterfeits), withheld: share("withheld", usual.withheld) }
}

/// `[output]`.
pub(super) fn read_output(section: &Section<'_, '_>, linkable: bool, walk: &mut Walk) -> Output {
    walk.check_keys(section);
    let usual = Output::default();
    let mut formats = Vec::new();
    if let Some((items, span)) = walk.list(section, "formats") {
        for item in items {
            let DeValue::String(word) = item.get_ref() else {
                walk.wrong_kind::<()>("formats", "texts in quotes", item.span());
                continue;
            };
            formats.extend(walk.pick(
                "formats",
                word,
                item.span(),
                &[("csv", Format::Csv), ("parquet", Format::Parquet)],
            ));
        }
        formats.sort_unstable();
        formats.dedup();
        if formats.is_empty() {
            walk.fault("P227", "formats names at least one format", span, "formats = [\"csv\", \"parquet\"]");
        }
    } else {
        formats = usual.formats;
    }
    let linked_ids = walk.boolean(section, "linked_ids").unwrap_or(usual.linked_ids);
    if linked_ids && !linkable {
        let span = section.get("linked_ids").map_or(section.span(), |value| value.span());
        walk.fault(
            "P222",
            "linked ids tie a person's rows of all releases together, and this promise does not cover that",
            span,
            "take linked_ids out, or choose incremental-k-anonymity",
        );
    }
    Output { formats, row_weight: walk.boolean(section, "row_weight").unwrap_or(usual.row_weight), linked_ids }
}
