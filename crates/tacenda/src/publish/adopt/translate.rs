//! A release that was made elsewhere, in the codes of our own policy.
//!
//! The reader of foreign files gets the policy file's declaration of each column. So `*` means the declared domain, and
//! a label means a node of the declared hierarchy. A value that the policy's columns cannot express is refused, because
//! an approximate region would be false.

use crate::ingest::foreign::{Ask, Foreign, Missing, Notation, Wish};
use crate::model::{Domain, Hierarchy, Quasi, Reading, Regions, Release, Schema, Span, Value, Values};

/// The options for the reader: the policy file's declaration of each column, overridden by the options for the files.
pub(in crate::publish) fn ask(schema: &Schema, reading: &Reading) -> Ask {
    let wish = |quasi: &Quasi| {
        let notation = match &quasi.domain {
            Domain::Integer { .. } => Notation::Integer,
            Domain::Real { decimals, .. } => Notation::Real(Some(*decimals)),
            Domain::Date { .. } => Notation::Date,
            Domain::Category(_) => Notation::Auto,
        };
        let said = reading.notation.get(&quasi.name).and_then(|name| Notation::named(name));
        Wish {
            notation: said.unwrap_or(notation),
            hierarchy: reading.hierarchy.get(&quasi.name).cloned(),
            declared: Some(quasi.domain.clone()),
            any: reading.any.get(&quasi.name).cloned().unwrap_or_default(),
            // The policy file declares for every column whether values may be missing.
            missing: Missing::Value,
            ..Wish::default()
        }
    };
    Ask {
        quasi: schema.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
        sensitive: schema.sensitive.iter().map(|sensitive| sensitive.name.clone()).collect(),
        group: reading.group.clone(),
        wishes: schema.quasi.iter().map(|quasi| (quasi.name.clone(), wish(quasi))).collect(),
        ..Ask::default()
    }
}

/// The releases that were read, in the codes of `schema` and the numbers of `values`, and per row of each its place
/// in the file. The error names the column that cannot be expressed.
pub(super) fn translate(read: &Foreign, schema: &Schema, values: &Values) -> Result<Vec<(Release, Vec<u32>)>, String> {
    let index = values.index();
    read.releases
        .iter()
        .zip(&read.shown)
        .map(|(release, shown)| {
            let mut places = shown.places.clone();
            let of: Vec<Value> =
                release.values.iter().map(|(_, cells)| index.get(cells).copied().unwrap_or(Value(u32::MAX))).collect();
            let mut translated = Release {
                label: release.label.clone(),
                ends: release.ends.clone(),
                regions: Regions::new(schema.quasi.len()),
                sensitive: release.sensitive.iter().map(|value| of[value.index()]).collect(),
                counterfeits: release.counterfeits.clone(),
                values: values.clone(),
                ..Release::default()
            };
            for group in 0..release.group_count() {
                let rows = translated.group_rows(group);
                // Rows are sorted by the numbers of values, so another numbering changes their order.
                let mut order: Vec<usize> = rows.clone().collect();
                order.sort_by_key(|&row| translated.sensitive[row]);
                if !places.is_empty() {
                    let moved: Vec<u32> = order.iter().map(|&row| shown.places[row]).collect();
                    places[rows.clone()].copy_from_slice(&moved);
                }
                translated.sensitive[rows].sort_unstable();
                let spans = release.region(group).iter().zip(&read.schema.quasi).zip(&schema.quasi);
                let region = spans
                    .map(|((&span, theirs), ours)| express(span, theirs, ours).ok_or_else(|| ours.name.clone()))
                    .collect::<Result<Vec<Span>, String>>()?;
                translated.regions.push(&region);
            }
            Ok((translated, places))
        })
        .collect()
}

/// A span of their attribute as a span of ours; `None` if ours cannot express it.
pub(in crate::publish) fn express(span: Span, theirs: &Quasi, ours: &Quasi) -> Option<Span> {
    if theirs.null().is_some_and(|null| span == Span::exact(null)) {
        return ours.null().map(Span::exact);
    }
    match (&theirs.domain, &ours.domain) {
        // If their tree lacks some of our values, its root does not cover these.
        (Domain::Category(labels), Domain::Category(_)) if span == theirs.root() && has_all(labels, ours) => {
            Some(ours.root())
        }
        (Domain::Category(theirs), Domain::Category(ours)) => {
            let codes: Option<Vec<u32>> = (span.lo..=span.hi).map(|code| ours.leaf(theirs.leaf_label(code))).collect();
            let codes = codes?;
            let (lo, hi) = (*codes.iter().min()?, *codes.iter().max()?);
            (u64::from(hi - lo) + 1 == codes.len() as u64).then(|| Span::new(lo, hi))
        }
        _ if span == theirs.root() => Some(ours.root()),
        (theirs, domain) if std::mem::discriminant(theirs) == std::mem::discriminant(domain) => {
            // The reader used our domain, so the codes are the same.
            (span.hi < ours.null().unwrap_or(ours.size())).then_some(span)
        }
        _ => None,
    }
}

/// Whether a tree has every value of an attribute.
fn has_all(theirs: &Hierarchy, ours: &Quasi) -> bool {
    let Some(tree) = ours.hierarchy() else { return false };
    (0..ours.size()).filter(|&code| tree.null() != Some(code)).all(|code| theirs.leaf(tree.leaf_label(code)).is_some())
}
