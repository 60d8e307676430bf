//! `[promise]`, the limits and `[output]`.

use crate::ingest::policy_file::views;
use crate::model::Schema;
use crate::promise::views::ONCE;
use crate::promise::{
    Contradiction, Entry, Format, Output, PolicyFile, Promised, Reasons, SeriesPromise, ShareLimits, ViewPromise,
    Views, entries,
};
use crate::settings::{FaultKind, PolicyFault, Section, Walk};
use toml::de::DeValue;

/// Whether the policy file is about views: its promise is, or its promise is unknown and the file has views.
pub(super) fn is_about_views(root: &Section<'_, '_>) -> bool {
    let promise = root.get("promise").and_then(|value| value.get_ref().as_table());
    let model = promise.and_then(|table| table.get("model")).and_then(|value| value.get_ref().as_str());
    let is_named = |entry: &&Entry| Some(entry.name) == model;
    match entries().any(|entry| is_named(&entry)) {
        true => ViewPromise::ENTRIES.iter().any(is_named),
        false => root.get("views").is_some(),
    }
}

/// A promise about a series; `None` if a fault makes it unusable.
pub(super) fn read_series(
    root: &Section<'_, '_>,
    schema: Option<&Schema>,
    walk: &mut Walk,
) -> Option<(SeriesPromise, Reasons)> {
    views::refuse(root, walk);
    let section = walk.section(root, "promise")?;
    let entry = read_model(&section, &[], walk)?;
    let reasons = Reasons {
        accept_series_risk: walk.reason(&section, "accept_series_risk"),
        accept_adopted: walk.reason(&section, "accept_adopted"),
        accept_counterfeit: walk.reason(&section, "accept_counterfeit"),
    };
    let promise = SeriesPromise::read(entry.name, &section, schema, walk)?;
    for Contradiction { kind, key, message, help } in promise.contradictions(schema) {
        walk.fault(kind, message, section.at(key), help);
    }
    walk.notes.extend(promise.inner().notes().into_iter().map(String::from));
    Some((promise, reasons))
}

/// Promises about views; `None` if a fault makes them unusable.
pub(super) fn read_views(root: &Section<'_, '_>, schema: Option<&Schema>, walk: &mut Walk) -> Option<Views> {
    let once: Vec<&str> = ONCE.iter().map(|row| row.key).collect();
    let promise = walk.section(root, "promise").and_then(|section| {
        let entry = read_model(&section, &once, walk)?;
        ViewPromise::read(entry.name, &section, schema, walk)
    });
    views::read(root, schema?, promise, walk)
}

/// The promise that is meant. Keys that have no meaning under it are faults; `more` are further keys that it allows.
fn read_model(section: &Section<'_, '_>, more: &[&'static str], walk: &mut Walk) -> Option<&'static Entry> {
    let Some((name, span)) = walk.string(section, "model") else {
        if section.get("model").is_none() {
            walk.missing(section, "model", "model = \"m-invariance\"");
        }
        return None;
    };
    let words: Vec<(&str, &'static Entry)> = entries().map(|entry| (entry.name, entry)).collect();
    let entry = walk.pick("model", name, span, &words)?;
    walk.check_keys(section);
    let allowed: Vec<&str> = own_keys(entry).chain(more.iter().copied()).collect();
    walk.only_keys(section, &allowed, name);
    Some(entry)
}

/// The keys that a promise may have in its section.
pub(super) fn own_keys(entry: &'static Entry) -> impl Iterator<Item = &'static str> {
    let own = entry.keys.iter().filter(|row| row.section == "promise");
    std::iter::once("model").chain(own.map(|row| row.key))
}

/// The faults of a policy that was changed after it was read, as if the file had that change.
pub fn faults_of(file: &PolicyFile) -> Vec<PolicyFault> {
    let found = match &file.promise {
        Promised::Series(promise) => promise.contradictions(Some(&file.schema)),
        Promised::Views(views) => views.promise.contradictions(Some(&file.schema)),
    };
    let fault = |Contradiction { kind, message, help, .. }| PolicyFault { kind, message, span: None, help };
    found.into_iter().map(fault).collect()
}

/// `[counterfeits]` and `[withheld]`.
pub(super) fn read_limits(root: &Section<'_, '_>, walk: &mut Walk) -> ShareLimits {
    let usual = ShareLimits::default();
    let mut share = |key: &'static str, usual: f64| {
        let Some(section) = walk.section(root, key) else { return usual };
        walk.check_keys(&section);
        let Some((share, span)) = walk.number(&section, "max_share") else { return usual };
        if !(0.0..=1.0).contains(&share) {
            walk.fault(FaultKind::NotAShare, "max_share lies between 0 and 1", span, "2 % is 0.02");
        }
        share
    };
    ShareLimits { counterfeits: share("counterfeits", usual.counterfeits), withheld: share("withheld", usual.withheld) }
}

/// `[output]`.
pub(super) fn read_output(section: &Section<'_, '_>, promised: Option<&Promised>, walk: &mut Walk) -> Output {
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
            walk.fault(
                FaultKind::BadNumber,
                "formats names at least one format",
                span,
                "formats = [\"csv\", \"parquet\"]",
            );
        }
    } else {
        formats = usual.formats;
    }
    let linked_ids = walk.boolean(section, "linked_ids").unwrap_or(usual.linked_ids);
    let covers = |promised: &Promised| match promised {
        Promised::Series(promise) => promise.inner().covers_linked_ids(),
        Promised::Views(_) => false,
    };
    if linked_ids && !promised.is_none_or(covers) {
        walk.fault(
            FaultKind::LinkedIds,
            "linked ids tie a person's rows of all releases together, and this promise does not cover that",
            section.at("linked_ids"),
            "take linked_ids out, or choose incremental-k-anonymity",
        );
    }
    let mut said = |key: &str, usual: bool| walk.boolean(section, key).unwrap_or(usual);
    let row_weight = said("row_weight", usual.row_weight);
    let spreadsheet_safe = said("spreadsheet_safe", usual.spreadsheet_safe);
    let counts = said("counts", usual.counts);
    Output { formats, row_weight, linked_ids, spreadsheet_safe, counts }
}
