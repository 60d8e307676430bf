//! (X,Y)-linkability, paper 004: no protected value makes up too large a share of any combination of known columns.

use crate::model::{Bound, Demand, Quasi, Schema, Span, Terms, Threshold};
use crate::promise::views::{OfViews, X_KEY, Y_KEY, column_of, read_y, terms, unknown_value};
use crate::promise::{Drafted, Entry, Looser, Parameters};
use crate::settings::{FaultKind, Key, Section, Walk, key};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

/// In the join of all views no value of `y` makes up more than a share of a combination of `x`.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XyLinkability {
    /// The columns an attacker knows.
    pub x: Vec<String>,
    /// The columns that must not be learned.
    pub y: Vec<String>,
    /// The largest share, in thousandths.
    pub max_confidence_permille: u32,
    /// Values with a share of their own; the first that fits counts.
    #[serde(default)]
    pub listed: Vec<ListedShare>,
    /// Whether only listed values are sensitive.
    #[serde(default)]
    pub only_listed: bool,
}

/// A share that holds for some values of Y.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ListedShare {
    /// One label per column of Y, as a release prints it.
    pub values: Vec<String>,
    /// The largest share, in thousandths.
    pub max_permille: u32,
    /// The spans of the labels.
    #[serde(default, with = "pairs")]
    pub spans: Vec<Span>,
}

/// Spans as pairs of codes.
mod pairs {
    use crate::model::Span;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(spans: &[Span], out: S) -> Result<S::Ok, S::Error> {
        spans.iter().map(|span| [span.lo, span.hi]).collect::<Vec<[u32; 2]>>().serialize(out)
    }

    pub fn deserialize<'d, D: Deserializer<'d>>(from: D) -> Result<Vec<Span>, D::Error> {
        let pairs = Vec::<[u32; 2]>::deserialize(from)?;
        Ok(pairs.into_iter().map(|[lo, hi]| Span { lo, hi }).collect())
    }
}

/// One entry of `thresholds`.
const THRESHOLD: &str = "promise.thresholds";

impl Parameters for XyLinkability {
    const ENTRY: &'static Entry = &Entry {
        name: "xy-linkability",
        line: "recipients get different columns of the same people; no value of y is too likely for a reader who knows x",
        parameters: "x; y; max_confidence; sensitive; thresholds; pool; target; score; [views.NAME], [[also]], [[impossible]]",
        paper: "004",
        keys: KEYS,
        draft: Drafted {
            comment: "# For an attacker who knows x, no value of y has a larger share than max_confidence.\n",
            parameters: |l| format!("max_confidence = {:.3}\n", 1.0 / l as f64),
            needs_sensitive: true,
            leaving: "no: all views show the same people",
        },
        pages: &[],
        stated: &["x", "y", "max_confidence_permille", "listed", "only_listed"],
    };

    fn read(section: &Section<'_, '_>, schema: Option<&Schema>, walk: &mut Walk) -> Option<XyLinkability> {
        let x = walk.names(section, "x")?;
        let y = read_y(section, walk)?;
        let max_confidence_permille = read_share(section, walk)?;
        let columns: Vec<Option<&Quasi>> =
            y.iter().map(|name| schema.and_then(|schema| column_of(schema, name))).collect();
        let mut listed = read_thresholds(section, &columns, walk);
        let only_listed = section.get("sensitive").is_some();
        if let Some((items, _)) = walk.list(section, "sensitive") {
            for item in items {
                let share = read_values(item, &columns, "sensitive", walk);
                listed.extend(share.map(|(values, spans)| ListedShare {
                    values,
                    spans,
                    max_permille: max_confidence_permille,
                }));
            }
        }
        Some(XyLinkability { x, y, max_confidence_permille, listed, only_listed })
    }

    fn terms(&self) -> Terms {
        let which = match (self.only_listed, self.listed.is_empty()) {
            (true, _) => "no sensitive Y value exceeds its share, at most",
            (false, false) => "no Y value exceeds its share, where none is listed",
            (false, true) => "no Y value exceeds a share of",
        };
        let largest = self.listed.iter().map(|share| share.max_permille).max();
        let most = largest.filter(|_| self.only_listed).unwrap_or(self.max_confidence_permille);
        let sentence = format!(
            "These releases have different columns. Among all record matchings that fit the released \
             tables and the stated common sense rules, {which} {:.1} % for any combination of X.",
            f64::from(most) / 10.0
        );
        let parameters = vec![
            format!("x = {}", self.x.join(", ")),
            format!("y = {}", self.y.join(", ")),
            format!("max_confidence = {}", f64::from(self.max_confidence_permille) / 1000.0),
        ];
        Terms { parameters, ..terms(Self::ENTRY.name, sentence) }
    }

    fn may_follow(&self, before: &XyLinkability) -> Result<(), Looser> {
        if self.max_confidence_permille > before.max_confidence_permille {
            let why = "max_confidence is larger than at the last release: more would break what was promised";
            return Err(Looser::because(why));
        }
        Looser::unless_same("x", &before.x, &self.x)?;
        Looser::unless_same("y", &before.y, &self.y)?;
        // The spans follow from the columns, which are compared separately.
        let listed = |promise: &XyLinkability| -> Vec<(Vec<String>, u32)> {
            promise.listed.iter().map(|share| (share.values.clone(), share.max_permille)).collect()
        };
        Looser::unless_same("listed", &listed(before), &listed(self))?;
        Looser::unless_same("only_listed", &before.only_listed, &self.only_listed)
    }

    fn set(&mut self, _: &str, _: u32) -> bool {
        false
    }
}

/// Its keys in the policy file, and those of an entry of `thresholds`.
const KEYS: &[Key] = &[
    X_KEY,
    Y_KEY,
    key("promise", "max_confidence", "0.001 to 1", "", "the largest share of one value of y"),
    key(
        "promise",
        "sensitive",
        "[\"…\"]",
        "every value",
        "the values of y that are sensitive; with several columns in y, a list each",
    ),
    key(
        "promise",
        "thresholds",
        "[{ value = \"…\", max_confidence = 0.2 }]",
        "none",
        "values with a share of their own",
    ),
    key(THRESHOLD, "value", "\"…\"", "", "the value of y; with several columns in y, a list"),
    key(THRESHOLD, "max_confidence", "0.001 to 1", "", "its largest share"),
];

impl OfViews for XyLinkability {
    fn demand(&self) -> Demand {
        let threshold =
            |share: &ListedShare| Threshold { values: share.spans.clone(), max_permille: share.max_permille };
        let bound = Bound::Linkability {
            max_permille: (!self.only_listed).then_some(self.max_confidence_permille),
            listed: self.listed.iter().map(threshold).collect(),
        };
        Demand { x: self.x.clone(), y: self.y.clone(), bound }
    }
}

/// `max_confidence`, in thousandths.
fn read_share(section: &Section<'_, '_>, walk: &mut Walk) -> Option<u32> {
    let Some((share, span)) = walk.number(section, "max_confidence") else {
        if section.get("max_confidence").is_none() {
            walk.missing(section, "max_confidence", "max_confidence = 0.5");
        }
        return None;
    };
    permille(share, span, walk)
}

fn permille(share: f64, span: Range<usize>, walk: &mut Walk) -> Option<u32> {
    let thousandths = (share * 1000.0).round();
    if !(0.001..=1.0).contains(&share) {
        walk.fault(FaultKind::NotAShare, "max_confidence lies between 0.001 and 1", span, "at most one in two is 0.5");
        return None;
    }
    // The share must be exact in thousandths. Otherwise a different number would be promised.
    if thousandths / 1000.0 != share {
        let (below, above) = ((share * 1000.0).floor().max(1.0) / 1000.0, (share * 1000.0).ceil() / 1000.0);
        let help = format!("write {below}, which promises more, or {above}, which promises less");
        walk.fault(FaultKind::NotAShare, "max_confidence has at most three decimals", span, help);
        return None;
    }
    Some(thousandths as u32)
}

fn read_thresholds(section: &Section<'_, '_>, columns: &[Option<&Quasi>], walk: &mut Walk) -> Vec<ListedShare> {
    let mut listed = Vec::new();
    let Some((items, _)) = walk.list(section, "thresholds") else { return listed };
    for item in items {
        let DeValue::Table(table) = item.get_ref() else {
            let wanted = "entries such as { value = \"HIV\", max_confidence = 0.2 }";
            walk.wrong_kind::<()>("thresholds", wanted, item.span());
            continue;
        };
        let entry = Section::named("an entry of thresholds".into(), THRESHOLD, table, item.span());
        walk.check_keys(&entry);
        let Some(max_permille) = read_share(&entry, walk) else { continue };
        let Some(value) = entry.get("value") else {
            walk.missing(&entry, "value", "value = \"HIV\"");
            continue;
        };
        let found = read_values(value, columns, "value", walk);
        listed.extend(found.map(|(values, spans)| ListedShare { values, spans, max_permille }));
    }
    listed
}

/// A value of Y: a text, or a list of texts, one per column of Y.
fn read_values(
    value: &Spanned<DeValue<'_>>,
    columns: &[Option<&Quasi>],
    key: &str,
    walk: &mut Walk,
) -> Option<(Vec<String>, Vec<Span>)> {
    let texts: Option<Vec<String>> = match value.get_ref() {
        DeValue::String(text) => Some(vec![text.to_string()]),
        DeValue::Array(items) => items.iter().map(|item| item.get_ref().as_str().map(String::from)).collect(),
        _ => None,
    };
    let Some(texts) = texts.filter(|texts| texts.len() == columns.len()) else {
        let message = format!("{key} takes one value per column of y: {}", columns.len());
        walk.fault(FaultKind::BadValueOfY, message, value.span(), "a text, or a list of texts in the order of y");
        return None;
    };
    let mut spans = Vec::new();
    for (text, column) in texts.iter().zip(columns) {
        let Some(quasi) = column else {
            walk.fault(
                FaultKind::BadValueOfY,
                "a record has no values to list",
                value.span(),
                "take record out of y, or list none",
            );
            return None;
        };
        match quasi.read(text) {
            Some(span) => spans.push(span),
            None => {
                unknown_value(&quasi.name, quasi, value.span(), FaultKind::BadValueOfY, walk);
                return None;
            }
        }
    }
    Some((texts, spans))
}
