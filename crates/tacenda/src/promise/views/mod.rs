//! Promises about views: releases with different columns of the same people. Also everything that a policy file says
//! about views: their columns and recipients, who may pool, what must hold.
//!
//! Both promises of paper 004 make a demand about X and Y on a join ([`OfViews::demand`]). `grouping::views` makes
//! views that meet it, and `audit::gate_view` judges them. The gate sees the demand, not the promise.

mod xy_anonymity;
mod xy_linkability;

pub use crate::model::Score;
pub use xy_anonymity::XyAnonymity;
pub use xy_linkability::{ListedShare, XyLinkability};

use crate::model::{Demand, Impossible, Quasi, Reading, Schema, Scope, Terms};
use crate::settings::{FaultKind, Key, Section, Walk, key};
use std::ops::Range;
use std::path::PathBuf;

promises! {
    /// A promise about the join of views.
    ViewPromise: OfViews {
        /// Paper 004: every combination of X in the join of all views goes with at least `k` values of Y.
        XyAnonymity,
        /// Paper 004: in the join of all views no value of Y makes up too large a share of a combination of X.
        XyLinkability,
    }
}

/// Further properties of a promise about views.
pub trait OfViews {
    /// Its demand on the join.
    fn demand(&self) -> Demand;
}

impl ViewPromise {
    /// What X and Y are, in words.
    pub fn sides(&self) -> String {
        let Demand { x, y, .. } = self.inner().demand();
        format!("X is {}; Y is {}.", x.join(", "), y.join(", "))
    }
}

/// The recipient that means anyone.
pub const EVERYONE: &str = "everyone";

const X_KEY: Key = key("promise", "x", "[\"…\"]", "", "the columns an attacker knows, such as job or tax.job");
const Y_KEY: Key = key(
    "promise",
    "y",
    "[\"…\"]",
    "",
    "the columns that must stay unknown; tax.record for the records of a view, record for those of every view",
);

/// The names in Y: at least one.
fn read_y(section: &Section<'_, '_>, walk: &mut Walk) -> Option<Vec<String>> {
    let y = walk.names(section, "y")?;
    if y.is_empty() {
        walk.fault(
            FaultKind::NoSuchColumn,
            "y is empty",
            section.at("y"),
            "name the columns that must stay unknown, or record",
        );
        return None;
    }
    Some(y)
}

/// The column that a name such as `job` or `tax.job` means.
pub(crate) fn column_of<'s>(schema: &'s Schema, name: &str) -> Option<&'s Quasi> {
    let name = name.rsplit('.').next().unwrap_or(name);
    schema.quasi.iter().find(|quasi| quasi.name == name)
}

/// Records the fault of a value that a column does not have.
pub(crate) fn unknown_value(name: &str, quasi: &Quasi, span: Range<usize>, kind: FaultKind, walk: &mut Walk) {
    let help = match quasi.hierarchy() {
        Some(_) => "a value or a node of its hierarchy, as a release prints it",
        None => "a range as a release prints it, such as \"[0,18)\"",
    };
    walk.fault(kind, format!("{name} has no such value"), span, help);
}

/// Terms of a promise about views, whose bound is on combinations of columns.
fn terms(name: &'static str, sentence: String) -> Terms {
    let limits = [
        "It counts candidates among matchings; it is not a probability.",
        "It does not cover columns outside X and Y.",
    ];
    Terms::new(name, Scope::Views, sentence, &limits)
}

/// The keys of `[promise]` that apply to all promises about views.
pub const ONCE: &[Key] = &[
    key(
        "promise",
        "pool",
        "[[\"bank\", \"clinic\"]]",
        "everyone with everyone",
        "xy promises: lists of recipients who may join their views; a recipient in no list joins with nobody",
    ),
    key("promise", "target", "a column", "none", "xy promises: the class that the published detail should predict"),
    key(
        "promise",
        "score",
        "entropy, distortion, discernability",
        "entropy with a target, else distortion",
        "xy promises: how the value of detail is measured",
    ),
    key(
        "promise",
        "too_large",
        "refuse, pairs",
        "refuse",
        "xy promises: if the join of all views is too large to judge, publish nothing, or judge views two at a time",
    ),
];

/// The views of a policy file, and what must hold of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Views {
    /// What is promised first.
    pub promise: ViewPromise,
    /// What must hold besides.
    pub also: Vec<ViewPromise>,
    /// The views, in the file's order.
    pub list: Vec<NamedView>,
    /// Recipients who may combine their views; if empty, all may.
    pub pools: Vec<Vec<String>>,
    /// Values that never belong to one person.
    pub impossible: Vec<Impossible>,
    /// The column that the published detail should predict.
    pub target: Option<String>,
    /// What the detail is used for.
    pub score: Score,
    /// Whether judging every two views is enough if the join of all is too large.
    pub pairs_suffice: bool,
}

/// One view: some columns, for some recipients.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct NamedView {
    /// Its name.
    pub name: String,
    /// Its columns, in the order of `[columns]`.
    pub columns: Vec<String>,
    /// Who gets it.
    pub recipients: Vec<String>,
    /// The folder or file of a release made elsewhere, if the view is already published.
    pub adopted: Option<PathBuf>,
    /// How that file is read, if it is one.
    pub reading: Reading,
}

/// What promises about views do not cover if recipients are judged separately.
const APART: &str = "It holds for recipients who may join their views according to the policy. Others who join their \
                     views may learn more.";

impl Views {
    /// One promise, and no view yet.
    pub fn new(promise: impl Into<ViewPromise>) -> Views {
        Views {
            promise: promise.into(),
            also: Vec::new(),
            list: Vec::new(),
            pools: Vec::new(),
            impossible: Vec::new(),
            target: None,
            score: Score::default(),
            pairs_suffice: false,
        }
    }

    /// Everything that is promised.
    pub fn promises(&self) -> impl Iterator<Item = &ViewPromise> {
        std::iter::once(&self.promise).chain(&self.also)
    }

    /// What all promises ask, in their order.
    pub fn demands(&self) -> Vec<Demand> {
        self.promises().map(|promise| promise.inner().demand()).collect()
    }

    /// The terms of the first promise. If recipients are judged separately, they say that pooling is not covered.
    pub fn terms(&self) -> Terms {
        let mut terms = self.promise.terms();
        if !self.pools.is_empty() {
            terms.limits.insert(0, APART);
        }
        terms
    }

    /// How three or more views were judged, for their recipients; `None` for fewer.
    pub fn judged(&self) -> Option<String> {
        if self.list.len() < 3 {
            return None;
        }
        let mut text = String::from(
            "All views that the same readers may combine were judged together. A combination of rows that belongs to \
             no assignment of all rows is impossible and was not counted. This was computed exactly.",
        );
        text += match self.pairs_suffice {
            false => {
                " A view for which this took more than a fixed number of steps was generalised further, or not \
                 published."
            }
            true => {
                " Where this took more than a fixed number of steps, only pairs of views were judged, and the \
                 publisher accepts that. What three views reveal together was not judged then."
            }
        };
        if self.list.iter().any(|view| view.adopted.is_some()) {
            text += " A view made elsewhere whose rows have no such assignment with all others was judged in pairs.";
        }
        Some(text)
    }

    /// The views that are ours to publish.
    pub fn own(&self) -> impl Iterator<Item = &NamedView> {
        self.list.iter().filter(|view| view.adopted.is_none())
    }

    /// A view by its name.
    pub fn find(&self, name: &str) -> Option<&NamedView> {
        self.list.iter().find(|view| view.name == name)
    }

    /// The earlier views that are seen together with the new one, for each group of recipients who may pool and of whom
    /// one sees the new view. `recipients` are those of the new view, `earlier` those of each earlier one.
    pub fn seen_together(&self, recipients: &[String], earlier: &[Vec<String>]) -> Vec<Vec<usize>> {
        if self.pools.is_empty() {
            return vec![(0..earlier.len()).collect()];
        }
        let mut everybody: Vec<&String> = recipients.iter().chain(earlier.iter().flatten()).collect();
        everybody.sort_unstable();
        everybody.dedup();
        let pools = self.circles();
        let is_alone = |name: &&&String| !pools.iter().any(|pool| pool.contains(name));
        let alone = everybody.iter().filter(is_alone).map(|name| vec![(*name).clone()]);
        let sees = |pool: &[String], recipients: &[String]| {
            recipients.iter().any(|name| name == EVERYONE || pool.contains(name))
        };
        let mut seen: Vec<Vec<usize>> = pools
            .iter()
            .cloned()
            .chain(alone)
            .filter(|pool| sees(pool, recipients))
            .map(|pool| (0..earlier.len()).filter(|&view| sees(&pool, &earlier[view])).collect())
            .collect();
        seen.sort_unstable();
        seen.dedup();
        seen
    }

    /// The pools, joined if they have a member in common, because that member may hold the views of both.
    fn circles(&self) -> Vec<Vec<String>> {
        let mut circles: Vec<Vec<String>> = Vec::new();
        for pool in &self.pools {
            let mut merged = pool.clone();
            circles.retain(|circle| {
                let meets = circle.iter().any(|name| pool.contains(name));
                if meets {
                    merged.extend(circle.iter().cloned());
                }
                !meets
            });
            merged.sort_unstable();
            merged.dedup();
            circles.push(merged);
        }
        circles
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_string()).collect()
    }

    fn views() -> Views {
        Views::new(XyAnonymity { x: names(&["job"]), y: names(&["record"]), k: 2 })
    }

    #[test]
    fn who_is_in_two_pools_brings_them_together() {
        let pools = vec![names(&["a", "b"]), names(&["d"]), names(&["b", "c"])];
        let mut views = Views { pools, ..views() };
        let earlier = [names(&["a"]), names(&["b"]), names(&["c"]), names(&["d"])];
        assert_eq!(views.seen_together(&names(&["c"]), &earlier), [vec![0, 1, 2]]);
        views.pools.push(names(&["d", "c"]));
        assert_eq!(views.seen_together(&names(&["a"]), &earlier), [vec![0, 1, 2, 3]]);
    }

    /// Two views are as they were; from three on, a reader is told what was judged.
    #[test]
    fn what_was_judged_of_three_views_is_said() {
        let named = |name: &str| NamedView { name: name.into(), ..NamedView::default() };
        let mut views = Views { list: vec![named("one"), named("two")], ..views() };
        assert_eq!(views.judged(), None);
        views.list.push(named("three"));
        let said = views.judged().unwrap();
        assert!(said.contains("judged together") && said.contains("exactly") && !said.contains("pairs"), "{said}");
        views.pairs_suffice = true;
        views.list[0].adopted = Some("ward.csv".into());
        let said = views.judged().unwrap();
        assert!(said.contains("What three views reveal together") && said.contains("made elsewhere"), "{said}");
    }

    #[test]
    fn those_who_may_pool_see_each_others_views() {
        let mut views = views();
        let earlier = [names(&["bank"]), names(&["press"]), names(&["clinic"]), names(&["everyone"])];
        assert_eq!(views.seen_together(&names(&["bank"]), &earlier), [vec![0, 1, 2, 3]]);
        views.pools = vec![names(&["bank", "clinic"])];
        assert_eq!(views.seen_together(&names(&["bank"]), &earlier), [vec![0, 2, 3]]);
        assert_eq!(views.seen_together(&names(&["press"]), &earlier), [vec![1, 3]]);
        // Someone new sees what is for everyone; a view for everyone is seen by every pool.
        assert_eq!(views.seen_together(&names(&["ngo"]), &earlier), [vec![3]]);
        assert_eq!(views.seen_together(&names(&["everyone"]), &earlier), [vec![0, 2, 3], vec![1, 3], vec![3]]);
    }
}
