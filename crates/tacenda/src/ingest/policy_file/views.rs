//! `[views.NAME]`, `[[also]]`, `[[impossible]]`, and X and Y of `[promise]`.

use crate::files;
use crate::ingest::foreign::Notation;
use crate::ingest::policy_file::promise::own_keys;
use crate::model::{Demand, Impossible, RECORD, Reading, Schema, Span, View, ViewColumn};
use crate::promise::views::{column_of, unknown_value};
use crate::promise::{EVERYONE, Entry, NamedView, Score, ViewPromise, Views};
use crate::settings::{FaultKind, Section, Walk};
use sha2::Digest;
use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::DeValue;

/// The section of every view.
const VIEW: &str = "views.NAME";

const SCORES: [(&str, Score); 3] =
    [("entropy", Score::Entropy), ("distortion", Score::Distortion), ("discernability", Score::Discernability)];

/// Faults sections that only a promise about views has.
pub(super) fn refuse(root: &Section<'_, '_>, walk: &mut Walk) {
    for key in ["views", "also", "impossible"] {
        if let Some(value) = root.get(key) {
            let help = "take it out, or promise xy-anonymity or xy-linkability";
            walk.fault(FaultKind::SaysNothing, format!("{key} has no effect under this promise"), value.span(), help);
        }
    }
}

/// Everything that a policy file says about views, except the first promise.
#[derive(Default)]
struct Said {
    list: Vec<NamedView>,
    also: Vec<ViewPromise>,
    impossible: Vec<Impossible>,
    pools: Vec<Vec<String>>,
    target: Option<String>,
    score: Score,
    pairs_suffice: bool,
}

/// The views and what is promised of them; `None` without a promise. Faults are found either way.
pub(super) fn read(
    root: &Section<'_, '_>,
    schema: &Schema,
    promise: Option<ViewPromise>,
    walk: &mut Walk,
) -> Option<Views> {
    let mut said = Said::default();
    if let Some(section) = walk.section(root, "views") {
        for (name, span, value) in section.entries() {
            said.list.extend(read_view(name, span, value, schema, walk));
        }
    }
    if said.list.is_empty() {
        let help = "add [views.NAME] with columns = [\"…\"] and recipients = [\"…\"]";
        walk.fault(FaultKind::NoViews, "the promise is about views, and there are none", root.span(), help);
    }
    read_also(root, schema, &mut said, walk);
    read_impossible(root, schema, &mut said, walk);
    if let Some(section) = walk.section(root, "promise") {
        read_once(&section, schema, &mut said, walk);
        if let Some(promise) = &promise {
            check_names(&section, promise, &said.list, schema, walk);
        }
    }
    let Said { list, also, impossible, pools, target, score, pairs_suffice } = said;
    let views = Views { promise: promise?, also, list, pools, impossible, target, score, pairs_suffice };
    check_columns(root, &views, schema, walk);
    Some(views)
}

fn read_view(
    name: &str,
    span: Range<usize>,
    value: &Spanned<DeValue<'_>>,
    schema: &Schema,
    walk: &mut Walk,
) -> Option<NamedView> {
    let DeValue::Table(table) = value.get_ref() else {
        return walk.wrong_kind(name, "a section such as [views.tax]", value.span());
    };
    let section = Section::named(format!("view {name}"), VIEW, table, span.clone());
    walk.check_keys(&section);
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
        let help = "for example [views.tax-office]";
        walk.fault(FaultKind::BadView, "the name of a view is made of letters, digits, - and _", span.clone(), help);
    }
    if schema.quasi.iter().any(|quasi| quasi.name == name) {
        let help = "rename the view: tax.job must mean one thing";
        walk.fault(FaultKind::BadView, format!("{name} is a column as well as a view"), span, help);
    }
    let columns = walk.names(&section, "columns").unwrap_or_default();
    for column in &columns {
        if column_of(schema, column).is_none() {
            let message = format!("view {name} names a column that is not published");
            let help = nearest(column, schema.quasi.iter().map(|quasi| quasi.name.as_str()));
            walk.fault(FaultKind::BadView, message, section.at("columns"), help);
        }
    }
    if columns.is_empty() && section.get("columns").is_some() {
        walk.fault(
            FaultKind::BadView,
            format!("view {name} has no columns"),
            section.at("columns"),
            "name at least one",
        );
    }
    let recipients = match section.get("recipients") {
        Some(_) => walk.names(&section, "recipients")?,
        None => vec![EVERYONE.to_string()],
    };
    if recipients.is_empty() {
        walk.fault(
            FaultKind::BadView,
            format!("view {name} goes to nobody"),
            section.at("recipients"),
            "name who gets it",
        );
    }
    let ordered = schema.quasi.iter().map(|quasi| quasi.name.clone()).filter(|name| columns.contains(name));
    let adopted = walk.string(&section, "adopted").and_then(|(path, span)| walk.inside(path, &span));
    let reading = read_reading(&section, &columns, adopted.as_deref(), walk);
    Some(NamedView { name: name.into(), columns: ordered.collect(), recipients, adopted, reading })
}

/// How the file of a view that was made elsewhere is read.
fn read_reading(section: &Section<'_, '_>, columns: &[String], adopted: Option<&Path>, walk: &mut Walk) -> Reading {
    let mut reading = Reading::default();
    for key in ["notation", "any", "hierarchy"] {
        let Some(value) = section.get(key) else { continue };
        if adopted.is_none_or(Path::is_dir) {
            let help = "take it out, or name the file with adopted = \"…\"";
            walk.fault(
                FaultKind::SaysNothing,
                format!("{key} has no effect without an adopted file"),
                value.span(),
                help,
            );
            continue;
        }
        let DeValue::Table(table) = value.get_ref() else {
            walk.wrong_kind::<()>(key, "columns, such as { job = … }", value.span());
            continue;
        };
        for (name, value) in table.iter() {
            let name = name.get_ref().to_string();
            if !columns.contains(&name) {
                let help = nearest(&name, columns.iter().map(String::as_str));
                walk.fault(
                    FaultKind::BadView,
                    format!("{key} names a column that the view does not have"),
                    value.span(),
                    help,
                );
                continue;
            }
            match (key, value.get_ref()) {
                ("notation", DeValue::String(text)) if Notation::named(text).is_some() => {
                    reading.notation.insert(name, text.to_string());
                }
                ("notation", _) => {
                    let wanted = "auto, interval, integer, real, real:DECIMALS, date, prefix, set or exact, in quotes";
                    walk.wrong_kind::<()>(key, wanted, value.span());
                }
                ("hierarchy", DeValue::String(path)) => {
                    if let Some(path) = read_tree(path, value.span(), walk) {
                        reading.hierarchy.insert(name, path);
                    }
                }
                ("any", DeValue::Array(items)) if items.iter().all(|item| item.get_ref().as_str().is_some()) => {
                    let texts = items.iter().filter_map(|item| item.get_ref().as_str()).map(String::from);
                    reading.any.insert(name, texts.collect());
                }
                (key, _) => {
                    let wanted =
                        if key == "any" { "a list of texts per column" } else { "a path in quotes per column" };
                    walk.wrong_kind::<()>(key, wanted, value.span());
                }
            }
        }
    }
    reading
}

/// The hierarchy file of another tool. It is part of the policy, so it is included in the digest.
fn read_tree(path: &str, span: Range<usize>, walk: &mut Walk) -> Option<PathBuf> {
    let file = walk.inside(path, &span)?;
    match files::read(&file) {
        Ok(bytes) => {
            walk.digest.update((bytes.len() as u64).to_le_bytes());
            walk.digest.update(&bytes);
            Some(file)
        }
        Err(error) => {
            let message = format!("cannot read the hierarchy file {}: {error}", file.display());
            walk.fault(FaultKind::HierarchyMissing, message, span, "paths are relative to the policy file");
            None
        }
    }
}

fn read_also(root: &Section<'_, '_>, schema: &Schema, said: &mut Said, walk: &mut Walk) {
    for section in tables(root, "also", "promise", walk) {
        walk.check_keys(&section);
        let entries = ViewPromise::ENTRIES;
        let words: Vec<(&str, &'static Entry)> = entries.iter().map(|entry| (entry.name, *entry)).collect();
        let Some(entry) = walk.word(&section, "model", &words) else {
            if section.get("model").is_none() {
                walk.missing(&section, "model", "model = \"xy-anonymity\" or \"xy-linkability\"");
            }
            continue;
        };
        let allowed: Vec<&str> = own_keys(entry).collect();
        walk.only_keys(&section, &allowed, &format!("{} under [[also]]", entry.name));
        if let Some(promise) = ViewPromise::read(entry.name, &section, Some(schema), walk) {
            check_names(&section, &promise, &said.list, schema, walk);
            said.also.push(promise);
        }
    }
}

/// Pairs of values that never belong to one person: two columns, a value each.
fn read_impossible(root: &Section<'_, '_>, schema: &Schema, said: &mut Said, walk: &mut Walk) {
    for section in tables(root, "impossible", "impossible", walk) {
        let mut sides: Vec<(String, Span)> = Vec::new();
        for (name, span, value) in section.entries() {
            let Some(quasi) = column_of(schema, name) else {
                let help = nearest(name, schema.quasi.iter().map(|quasi| quasi.name.as_str()));
                walk.fault(FaultKind::BadImpossible, format!("{name} is not a published column"), span, help);
                continue;
            };
            // Ranges of two views may overlap in part, and their intersection is narrower than either. The join uses
            // the ranges of single rows, so it would count pairs that readers can rule out.
            let holders = said.list.iter().filter(|view| view.columns.iter().any(|column| column == name)).count();
            if quasi.hierarchy().is_none() && holders > 1 {
                let message =
                    format!("{name} has ranges and is in {holders} views, so that it cannot be in an impossible pair");
                walk.fault(
                    FaultKind::BadImpossible,
                    message,
                    span,
                    "leave the pair out, or list the column in one view only",
                );
                continue;
            }
            match value.get_ref().as_str().and_then(|text| quasi.read(text)) {
                Some(span) => sides.push((name.to_string(), span)),
                None => unknown_value(name, quasi, value.span(), FaultKind::BadImpossible, walk),
            }
        }
        if section.entries().len() != 2 {
            let help = "for example [[impossible]] sex = \"M\", condition = \"pregnant\"";
            walk.fault(FaultKind::BadImpossible, "an impossible pair has two columns", section.span(), help);
        } else if let Ok([left, right]) = <[(String, Span); 2]>::try_from(sides) {
            said.impossible.push(Impossible { left, right });
        }
    }
}

/// The keys of `[promise]` that apply to all promises.
fn read_once(section: &Section<'_, '_>, schema: &Schema, said: &mut Said, walk: &mut Walk) {
    if let Some((target, span)) = walk.string(section, "target") {
        if column_of(schema, target).is_none() {
            let help = nearest(target, schema.quasi.iter().map(|quasi| quasi.name.as_str()));
            walk.fault(FaultKind::NoSuchColumn, "target names a column that is not published", span, help);
        }
        said.target = Some(target.to_string());
    }
    let usual = if said.target.is_some() { Score::Entropy } else { Score::Distortion };
    said.score = walk.word(section, "score", &SCORES).unwrap_or(usual);
    if said.score == Score::Entropy && said.target.is_none() {
        let help = "name the class column with target = \"…\", or choose distortion";
        walk.fault(FaultKind::SaysNothing, "score = \"entropy\" needs a target", section.at("score"), help);
    }
    said.pairs_suffice = walk.word(section, "too_large", &[("refuse", false), ("pairs", true)]).unwrap_or(false);
    let Some((pools, _)) = walk.list(section, "pool") else { return };
    for pool in pools {
        let DeValue::Array(items) = pool.get_ref() else {
            walk.wrong_kind::<()>("pool", "lists of recipients, such as [[\"bank\", \"clinic\"]]", pool.span());
            continue;
        };
        let mut members = Vec::new();
        for item in items.iter() {
            let Some(name) = item.get_ref().as_str() else {
                walk.wrong_kind::<()>("pool", "recipients in quotes", item.span());
                continue;
            };
            let known = || said.list.iter().flat_map(|view| view.recipients.iter().map(String::as_str));
            if !known().any(|known| known == name) {
                let help = nearest(name, known());
                walk.fault(FaultKind::RecipientOfNone, "pool names a recipient of no view", item.span(), help);
            }
            members.push(name.to_string());
        }
        said.pools.push(members);
    }
}

/// Whether X and Y name columns of views, and different ones.
fn check_names(section: &Section<'_, '_>, promise: &ViewPromise, list: &[NamedView], schema: &Schema, walk: &mut Walk) {
    let Demand { x, y, .. } = promise.inner().demand();
    let all: Vec<View> = list.iter().map(|view| as_view(view, schema)).collect();
    let all: Vec<&View> = all.iter().collect();
    let mut meant: [BTreeSet<ViewColumn>; 2] = [BTreeSet::new(), BTreeSet::new()];
    for (side, (key, names)) in [("x", &x), ("y", &y)].into_iter().enumerate() {
        for name in names {
            let found = ViewColumn::find(&all, name);
            let is_key = name == RECORD || found.iter().any(|column| column.column.is_none());
            if is_key && key == "x" {
                let help = "remove it: every row would be unique";
                walk.fault(FaultKind::KnownAndProtected, "a record cannot be in x", section.at(key), help);
            } else if found.is_empty() && !is_key {
                let columns = list.iter().flat_map(|view| {
                    let qualified = view.columns.iter().map(|column| format!("{}.{column}", view.name));
                    view.columns.iter().cloned().chain(qualified).collect::<Vec<String>>()
                });
                let columns: Vec<String> = columns.collect();
                let help = nearest(name, columns.iter().map(String::as_str));
                walk.fault(
                    FaultKind::NoSuchColumn,
                    format!("{key} names {name}, which no view has"),
                    section.at(key),
                    help,
                );
            }
            meant[side].extend(found);
        }
    }
    if meant[0].intersection(&meant[1]).next().is_some() {
        let help = "keep it in one of them, or say which view's copy is meant: tax.job";
        walk.fault(FaultKind::KnownAndProtected, "a column is both in x and in y", section.at("y"), help);
    }
}

/// Columns in no promise are published as they are. That must be declared, or it is refused.
fn check_columns(root: &Section<'_, '_>, views: &Views, schema: &Schema, walk: &mut Walk) {
    let demands = views.demands();
    let names =
        |names: &[String], view: &str, column: &str| names.iter().any(|name| ViewColumn::is_meant(name, view, column));
    for view in views.own() {
        for column in &view.columns {
            let in_x = demands.iter().any(|demand| names(&demand.x, &view.name, column));
            let in_y = demands.iter().any(|demand| names(&demand.y, &view.name, column));
            let Some(quasi) = column_of(schema, column) else { continue };
            if (!in_x || in_y) && !quasi.admits(Span::exact(0)) {
                let message =
                    format!("{column} has a grid or a least width, and view {} publishes it as it is", view.name);
                let help = "name it in x and not in y, or take grid and min_width out";
                walk.fault(
                    FaultKind::PublishedAsItIs,
                    message,
                    root.get("views").map_or(root.span(), Spanned::span),
                    help,
                );
            }
            if !in_x && !in_y {
                let what = if is_sensitive(root, column) { "sensitive column" } else { "column" };
                walk.notes.push(format!(
                    "{what} {column} of view {} is in no x and no y: it is published as it is, and nothing is promised about it",
                    view.name
                ));
            }
        }
    }
}

fn is_sensitive(root: &Section<'_, '_>, column: &str) -> bool {
    let columns = root.get("columns").and_then(|value| value.get_ref().as_table());
    let column = columns.and_then(|columns| columns.get(column)).and_then(|value| value.get_ref().as_table());
    column.and_then(|column| column.get("role")).and_then(|value| value.get_ref().as_str()) == Some("sensitive")
}

fn as_view(view: &NamedView, schema: &Schema) -> View {
    let columns = view.columns.iter().filter_map(|name| column_of(schema, name)).cloned().collect();
    View { name: view.name.clone(), columns }
}

/// The tables of an array of tables.
fn tables<'t, 'i>(
    root: &Section<'t, 'i>,
    key: &'static str,
    kind: &'static str,
    walk: &mut Walk,
) -> Vec<Section<'t, 'i>> {
    let Some((items, _)) = walk.list(root, key) else { return Vec::new() };
    let mut found = Vec::new();
    for item in items {
        match item.get_ref() {
            DeValue::Table(table) => {
                found.push(Section::named(format!("[[{key}]]"), kind, table, item.span()));
            }
            _ => drop(walk.wrong_kind::<()>(key, "sections in double brackets", item.span())),
        }
    }
    found
}

/// The way out for a name that is not known.
fn nearest<'n>(name: &str, known: impl Iterator<Item = &'n str>) -> String {
    let mut known: Vec<(usize, &str)> = known.map(|known| (strsim::damerau_levenshtein(name, known), known)).collect();
    known.sort_unstable();
    known.dedup();
    match known.first() {
        Some(&(distance, close)) if distance <= 1 + close.len() / 4 => format!("did you mean {close}?"),
        Some(_) => format!("known: {}", known.iter().map(|known| known.1).collect::<Vec<_>>().join(", ")),
        None => "none is known".into(),
    }
}
