//! The policy of the last release, as a series remembers it, and whether another policy may follow it.
//!
//! A [`Remembered`] policy is the part of a policy file that affects what is published. The vault keeps it as a text.
//! Texts of version 1, which listed the parameters of all promises under every promise, are read too. An unknown entry
//! in a text is refused, never ignored, because it may be part of the promise.

use crate::model::{Domain, Grid, Hierarchy, Impossible, Quasi, RowRule, Schema, Sensitive, Span, Unlisted, hex};
use crate::promise::{Looser, PolicyFile, Promise, Promised, ViewPromise, Views, entries};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// The version that is written.
const VERSION: u32 = 3;

/// What a series remembers of the policy of its last release. Titles, weights, reasons and dropped columns are left
/// out, because they do not affect a release. Hierarchies and labels are kept as digests.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Remembered {
    #[serde(default = "first_version")]
    version: u32,
    series: String,
    columns: BTreeMap<String, RememberedColumn>,
    order: Vec<String>,
    promise: Promise,
    /// What the policy file says about views; `None` if the promise is about a series.
    views: Option<RememberedViews>,
    counterfeits: f64,
    withheld: f64,
    linked_ids: bool,
    row_weight: bool,
    /// Per column, the leaves that were added after the first release, and the release they were added for.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    added: AddedLeaves,
    /// Whether the sensitive values of a person's rows are combined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    combined: bool,
}

/// Per column, leaves that were added to a tree, each with the release it was added for.
pub type AddedLeaves = BTreeMap<String, BTreeMap<String, u32>>;

fn first_version() -> u32 {
    1
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RememberedColumn {
    /// `identifier` or `public`.
    Plain(String),
    Declared(DeclaredColumn),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "kebab-case", deny_unknown_fields)]
enum DeclaredColumn {
    Quasi {
        domain: RememberedDomain,
        nullable: bool,
        grid: RememberedGrid,
        min_width: u32,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        takes_unknown: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        sets: bool,
    },
    Sensitive {
        nullable: bool,
        /// `None`: any value is accepted.
        labels: Option<RememberedLabels>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_prefix: bool,
    },
}

/// The type of the domain, and its bounds or the digest of its tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RememberedDomain {
    Real(String, i64, i64, u8),
    Whole(String, i64, i64),
    Category(String, String),
}

/// What is published for each listed cell, sorted; before version 3, their digest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RememberedLabels {
    Digest(String),
    Listed(Vec<(String, String)>),
}

/// `free`, or the numbers that say where boundaries may fall.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
enum RememberedGrid {
    Free(String),
    Numbers(Vec<u32>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RememberedViews {
    /// Per view its columns, and whether it was made elsewhere.
    list: BTreeMap<String, (Vec<String>, bool)>,
    also: Vec<ViewPromise>,
    impossible: Vec<[(String, u32, u32); 2]>,
    pools: Vec<Vec<String>>,
    pairs_suffice: bool,
}

impl Remembered {
    /// The remembered part of a policy file.
    pub fn of(policy: &PolicyFile) -> Remembered {
        let schema = &policy.schema;
        let mut columns = BTreeMap::from([(schema.identifier.clone(), RememberedColumn::Plain("identifier".into()))]);
        columns.extend(schema.quasi.iter().map(|quasi| (quasi.name.clone(), quasi_column(quasi))));
        columns.extend(schema.sensitive.iter().map(|sensitive| (sensitive.name.clone(), sensitive_column(sensitive))));
        let public = |name: &String| (name.clone(), RememberedColumn::Plain("public".into()));
        columns.extend(schema.public.iter().map(|column| public(&column.name)));
        Remembered {
            version: VERSION,
            series: policy.series.name.clone(),
            columns,
            order: schema.published_columns().map(String::from).collect(),
            promise: policy.first_promise(),
            views: match &policy.promise {
                Promised::Series(_) => None,
                Promised::Views(views) => Some(RememberedViews::of(views)),
            },
            counterfeits: policy.limits.counterfeits,
            withheld: policy.limits.withheld,
            linked_ids: policy.output.linked_ids,
            row_weight: policy.output.row_weight,
            added: AddedLeaves::new(),
            combined: schema.person.rule == RowRule::Combine,
        }
    }

    /// The same, with the leaves that were added since the first release.
    pub fn with_added(self, added: AddedLeaves) -> Remembered {
        Remembered { added, ..self }
    }

    /// The leaves that were added since the first release.
    pub fn added(&self) -> &AddedLeaves {
        &self.added
    }

    /// The published columns, in the order of their codes in the vault.
    pub fn order(&self) -> Vec<&str> {
        self.order.iter().map(String::as_str).collect()
    }

    /// Whether a quasi column differs from the remembered one, even only in the order of its values.
    pub fn differs_in_quasi(&self, schema: &Schema) -> bool {
        schema.quasi.iter().any(|quasi| self.columns.get(&quasi.name) != Some(&quasi_column(quasi)))
    }

    /// How many sensitive values were added to the lists, by column.
    pub fn new_labels(&self, schema: &Schema) -> Vec<(String, usize)> {
        let more = |sensitive: &Sensitive| match self.columns.get(&sensitive.name) {
            Some(RememberedColumn::Declared(DeclaredColumn::Sensitive {
                labels: Some(RememberedLabels::Listed(before)),
                ..
            })) => Some((sensitive.name.clone(), sensitive.labels.len().checked_sub(before.len())?)),
            _ => None,
        };
        schema.sensitive.iter().filter_map(more).filter(|(_, count)| *count > 0).collect()
    }

    /// The sensitive columns that take missing values now and did not.
    pub fn new_missing(&self, schema: &Schema) -> Vec<String> {
        let is_new = |sensitive: &&Sensitive| {
            let before = self.columns.get(&sensitive.name);
            let refused =
                matches!(before, Some(RememberedColumn::Declared(DeclaredColumn::Sensitive { nullable: false, .. })));
            refused && sensitive.nullable
        };
        schema.sensitive.iter().filter(is_new).map(|sensitive| sensitive.name.clone()).collect()
    }

    /// Takes over the quasi columns of a schema that grew from the remembered one.
    pub fn grow(&mut self, schema: &Schema) {
        self.columns.extend(schema.quasi.iter().map(|quasi| (quasi.name.clone(), quasi_column(quasi))));
    }

    /// The policy as a text. Equal policies give equal texts.
    pub fn write(&self) -> String {
        // Written through a JSON value, which sorts its keys.
        serde_json::to_value(self).expect("names and numbers are JSON").to_string()
    }

    /// Reads what [`Remembered::write`] wrote, in this version or an earlier one; `None` if it cannot be understood.
    pub fn read(text: &str) -> Option<Remembered> {
        let mut written: Json = serde_json::from_str(text).ok()?;
        if written.get("version").is_none() {
            from_first_version(&mut written)?;
        }
        let read: Remembered = serde_json::from_value(written).ok()?;
        let is_of_views = matches!(read.promise, Promise::View(_));
        Some(read).filter(|read| read.version <= VERSION && is_of_views == read.views.is_some())
    }

    /// Whether a series that was published under this policy may continue under `new`.
    ///
    /// A policy that demands less is refused. So is a policy that promises more about people than past releases kept,
    /// because a promise cannot be strengthened after the fact. The limits of counterfeits and withheld rows may change
    /// in both directions: no promise depends on them, and a larger limit is the way out if a release would exceed it.
    pub fn may_be_followed_by(&self, new: &Remembered) -> Result<(), Looser> {
        if self.series != new.series {
            return Err(Looser::because("the series has another name: that is a new series"));
        }
        self.columns_stay(new)?;
        match (&self.promise, &new.promise) {
            (Promise::Series(before), Promise::Series(now)) => now.may_follow(before)?,
            (Promise::View(before), Promise::View(now)) => now.may_follow(before)?,
            _ => return Err(Looser::another_promise()),
        }
        if let (Some(before), Some(now)) = (&self.views, &new.views) {
            before.may_be_followed_by(now)?;
        }
        if self.combined != new.combined {
            let why = "rows = \"combine\" decides what a sensitive value is, so it cannot be set or removed after the first \
                 release";
            return Err(Looser::because(why));
        }
        match !self.linked_ids && new.linked_ids {
            true => Err(Looser::because("linked_ids is new: it ties rows together that were published apart")),
            false => Ok(()),
        }
    }

    fn columns_stay(&self, new: &Remembered) -> Result<(), Looser> {
        let mut names: Vec<&String> = self.columns.keys().chain(new.columns.keys()).collect();
        names.sort_unstable();
        let differs = |name: &&String| !may_follow_column(self.columns.get(*name), new.columns.get(*name));
        let Some(name) = names.into_iter().find(differs) else { return Ok(()) };
        let what = match (self.columns.get(name), new.columns.get(name)) {
            (Some(_), None) => "is no longer listed",
            (None, Some(_)) => "was not listed at the last release",
            _ => "has another role, domain, grid, width or hierarchy than at the last release",
        };
        Err(Looser::because(format!("column {name} {what}: that needs a new series")))
    }
}

/// Whether a column may follow another one: it is the same, lists more sensitive values, or takes missing ones.
fn may_follow_column(before: Option<&RememberedColumn>, now: Option<&RememberedColumn>) -> bool {
    use DeclaredColumn::Sensitive;
    use RememberedColumn::Declared;
    let (
        Some(Declared(Sensitive { nullable, labels: before, by_prefix })),
        Some(Declared(Sensitive { nullable: now_nullable, labels: now, by_prefix: now_by_prefix })),
    ) = (before, now)
    else {
        return before == now;
    };
    let kept = match (before.as_ref(), now.as_ref()) {
        (None, None) => true,
        (None, Some(_)) | (Some(_), None) => false,
        (Some(RememberedLabels::Listed(before)), Some(RememberedLabels::Listed(now))) => {
            let stays = |pair: &(String, String)| now.binary_search(pair).is_ok();
            // With labels by prefix every value already has a label, so listing a value must not give it another.
            before.iter().all(stays) && (!by_prefix || now.len() == before.len())
        }
        (Some(RememberedLabels::Digest(digest)), Some(RememberedLabels::Listed(listed)))
        | (Some(RememberedLabels::Listed(listed)), Some(RememberedLabels::Digest(digest))) => {
            *digest == labels_digest(listed)
        }
        (Some(RememberedLabels::Digest(before)), Some(RememberedLabels::Digest(now))) => before == now,
    };
    // That a value is missing is one more value.
    kept && nullable <= now_nullable && by_prefix == now_by_prefix
}

impl RememberedViews {
    fn of(views: &Views) -> RememberedViews {
        let view = |name: &str, columns: &[String], adopted: bool| (name.to_string(), (columns.to_vec(), adopted));
        let list = views.list.iter().map(|named| view(&named.name, &named.columns, named.adopted.is_some()));
        let side = |side: &(String, Span)| (side.0.clone(), side.1.lo, side.1.hi);
        let rule = |rule: &Impossible| [side(&rule.left), side(&rule.right)];
        RememberedViews {
            list: list.collect(),
            also: views.also.clone(),
            impossible: views.impossible.iter().map(rule).collect(),
            pools: views.pools.clone(),
            pairs_suffice: views.pairs_suffice,
        }
    }

    /// Refuses views that were removed or changed, demands that were dropped, and pools that became smaller.
    fn may_be_followed_by(&self, new: &RememberedViews) -> Result<(), Looser> {
        if let Some((name, _)) = self.list.iter().find(|(name, view)| new.list.get(*name) != Some(view)) {
            let why = format!("view {name} is gone or has other columns, and it is published already");
            return Err(Looser::because(why));
        }
        // Two promises that may follow each other in both directions demand the same.
        let is_kept = |before: &ViewPromise| {
            new.also.iter().any(|now| now.may_follow(before).is_ok() && before.may_follow(now).is_ok())
        };
        if !self.also.iter().all(is_kept) {
            let why = "an [[also]] of the last release was removed or changed: that needs a new series";
            return Err(Looser::because(why));
        }
        if !self.impossible.iter().all(|rule| new.impossible.contains(rule)) {
            let why = "an [[impossible]] of the last release is gone: a reader still knows it";
            return Err(Looser::because(why));
        }
        if new.pairs_suffice && !self.pairs_suffice {
            let why = "too_large is looser than at the last release: that needs a new series";
            return Err(Looser::because(why));
        }
        // Without a list everyone may pool with everyone, which demands the most.
        if self.pools != new.pools && !new.pools.is_empty() {
            let why = "pool has changed: it may only be removed, so that everyone may pool; that is stricter";
            return Err(Looser::because(why));
        }
        Ok(())
    }
}

/// Texts of version 1 name the parameters of all promises under each promise. Unset parameters that the promise does
/// not have are removed. `None` if the text has no promise.
fn from_first_version(written: &mut Json) -> Option<()> {
    own_parameters(written.get_mut("promise")?.as_object_mut()?)?;
    if let Some(also) = written.get_mut("views").and_then(|views| views.get_mut("also")) {
        for promise in also.as_array_mut()? {
            own_parameters(promise.as_object_mut()?)?;
        }
    }
    Some(())
}

fn own_parameters(promise: &mut Map<String, Json>) -> Option<()> {
    let model = promise.get("model")?.as_str()?;
    let entry = entries().find(|entry| entry.name == model)?;
    let unset = json!({
        "m": null, "k": null, "l": null, "cohorts": null, "mode": null, "tight": false, "made_up": false,
        "on_ineligible": "refuse", "on_delete": "refuse", "optimise": true, "base": null, "seed_rule": "lastadded",
        "refresh": null, "loss": "leafshare",
    });
    // A reason is no parameter.
    promise.remove("accept_series_risk");
    promise.retain(|key, value| entry.takes(key) || unset.get(key) != Some(value));
    Some(())
}

fn quasi_column(quasi: &Quasi) -> RememberedColumn {
    let domain = match &quasi.domain {
        Domain::Integer { lo, hi } => RememberedDomain::Whole("integer".into(), *lo, *hi),
        Domain::Real { lo, hi, decimals } => RememberedDomain::Real("real".into(), *lo, *hi, *decimals),
        Domain::Date { lo, hi } => RememberedDomain::Whole("date".into(), *lo, *hi),
        Domain::Category(tree) => RememberedDomain::Category("category".into(), tree_digest(tree)),
    };
    let grid = match &quasi.grid {
        Grid::Free => RememberedGrid::Free("free".into()),
        Grid::Every { pitch, phase } => RememberedGrid::Numbers(vec![*pitch, *phase]),
        Grid::Lines(lines) => RememberedGrid::Numbers(lines.clone()),
    };
    let Quasi { nullable, min_width, takes_unknown, sets, .. } = *quasi;
    RememberedColumn::Declared(DeclaredColumn::Quasi { domain, nullable, grid, min_width, takes_unknown, sets })
}

fn sensitive_column(sensitive: &Sensitive) -> RememberedColumn {
    let labels = (!sensitive.labels.is_empty()).then(|| RememberedLabels::Listed(sensitive.labels.clone()));
    let (nullable, by_prefix) = (sensitive.nullable, sensitive.unlisted != Unlisted::Refused);
    RememberedColumn::Declared(DeclaredColumn::Sensitive { nullable, labels, by_prefix })
}

/// The digest that texts before version 3 keep of labels.
fn labels_digest(labels: &[(String, String)]) -> String {
    let mut digest = Sha256::new();
    for text in labels.iter().flat_map(|(cell, label)| [cell, label]) {
        add_text(&mut digest, text);
    }
    hex(&digest.finalize())
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
