//! What a policy file says of views: which there are, who gets them, who may pool, what must hold.

use crate::model::Bound;
use crate::model::Impossible;
use crate::model::Promise;
use crate::model::Requirement;
use crate::model::Span;
use crate::model::Threshold;
use crate::model::View;
use crate::model::ViewColumn;
use std::path::PathBuf;

/// The recipient that stands for anyone.
pub const EVERYONE: &str = "everyone";

/// The column name that stands for the record itself, as in `tax.record`.
pub const RECORD: &str = "record";

/// The views of a policy file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Views {
    /// The views, in the file's order.
    pub list: Vec<NamedView>,
    /// Recipients who may lay their views side by side; empty: all may.
    pub pools: Vec<Vec<String>>,
    /// What must hold besides the promise.
    pub also: Vec<Promise>,
    /// Values that never belong to one person.
    pub impossible: Vec<Impossible>,
    /// The column whose values detail should tell apart.
    pub target: Option<String>,
    /// What detail is good for.
    pub score: Score,
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
    /// The folder of a release made elsewhere, where the view is out already.
    pub adopted: Option<PathBuf>,
}

/// What the detail of a view is good for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Score {
    /// Telling the values of the target apart.
    Entropy,
    /// Staying close to the values.
    #[default]
    Distortion,
    /// Telling rows apart.
    Discernability,
}

/// A share that holds for some values of Y.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct ListedShare {
    /// One label per column of Y, as a release prints it.
    pub values: Vec<String>,
    /// What the labels stand for.
    pub spans: Vec<Span>,
    /// The largest share, in thousandths.
    pub max_permille: u32,
}

impl Views {
    /// A view by its name.
    pub fn find(&self, name: &str) -> Option<&NamedView> {
        self.list.iter().find(|view| view.name == name)
    }

    /// For each group of recipients who may pool and of whom one sees the new view: which of the earlier
    /// views they see. `recipients` are those of the new view, `earlier` those of each earlier one.
    pub fn seen_together(&self, recipients: &[String], earlier: &[Vec<String>]) -> Vec<Vec<usize>> {
        if self.pools.is_empty() {
            return vec![(0..earlier.len()).collect()];
        }
        let mut everybody: Vec<&String> = recipients.iter().chain(earlier.iter().flatten()).collect();
        everybody.sort_unstable();
        everybody.dedup();
        let is_alone = |name: &&&String| !self.pools.iter().any(|pool| pool.contains(name));
        let alone = everybody.iter().filter(is_alone).map(|name| vec![(*name).clone()]);
        let sees = |pool: &[String], recipients: &[String]| {
            recipients.iter().any(|name| name == EVERYONE || pool.contains(name))
        };
        let mut seen: Vec<Vec<usize>> = self
            .pools
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
}

impl Promise {
    /// What the promise asks of the join of `views`; nothing while a column of Y is in none of them.
    ///
    /// `record` without a view in Y asks the same of every view's records.
    pub fn requirements(&self, views: &[&View]) -> Vec<Requirement> {
        let (x, y) = match self {
            Promise::XyAnonymity { x, y, .. } | Promise::XyLinkability { x, y, .. } => (x, y),
            _ => return Vec::new(),
        };
        let x: Vec<ViewColumn> = x.iter().flat_map(|name| ViewColumn::find(views, name)).collect();
        let keyed = y.iter().any(|name| name == RECORD);
        let keys: Vec<Option<ViewColumn>> =
            if keyed { (0..views.len()).map(|view| Some(ViewColumn::record(view))).collect() } else { vec![None] };
        let of_key = |key: Option<ViewColumn>| {
            // Per column: its view and column, and its place in the promise's Y.
            let mut columns: Vec<(ViewColumn, usize)> = Vec::new();
            for (place, name) in y.iter().enumerate() {
                let meant = if name == RECORD { key.into_iter().collect() } else { ViewColumn::find(views, name) };
                if meant.is_empty() {
                    return None;
                }
                columns.extend(meant.into_iter().map(|column| (column, place)));
            }
            Some(Requirement {
                x: x.clone(),
                y: columns.iter().map(|column| column.0).collect(),
                bound: self.bound(&columns),
            })
        };
        keys.into_iter().filter_map(of_key).collect()
    }

    fn bound(&self, columns: &[(ViewColumn, usize)]) -> Bound {
        match self {
            Promise::XyLinkability { max_confidence_permille, listed, only_listed, .. } => Bound::Linkability {
                max_permille: (!only_listed).then_some(*max_confidence_permille),
                listed: listed
                    .iter()
                    .map(|share| Threshold {
                        values: columns.iter().map(|&(_, place)| share.spans[place]).collect(),
                        max_permille: share.max_permille,
                    })
                    .collect(),
            },
            Promise::XyAnonymity { k, .. } => Bound::Anonymity { k: u64::from(*k) },
            _ => unreachable!("only promises about views have columns of Y"),
        }
    }

    /// Whether this is a promise about views.
    pub fn is_about_views(&self) -> bool {
        matches!(self, Promise::XyAnonymity { .. } | Promise::XyLinkability { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Domain;
    use crate::model::Quasi;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_string()).collect()
    }

    fn view(name: &str, columns: &[&str]) -> View {
        let quasi = |name: &&str| Quasi::new(name, Domain::Integer { lo: 0, hi: 9 });
        View { name: name.into(), columns: columns.iter().map(quasi).collect() }
    }

    #[test]
    fn a_promise_waits_until_all_of_y_is_out() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let promise = Promise::XyAnonymity { x: names(&["name", "tax.job"]), y: names(&["disease"]), k: 2 };
        assert_eq!(promise.requirements(&[&tax]), []);
        let asked = promise.requirements(&[&health, &tax]);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].x, [ViewColumn::new(1, 0), ViewColumn::new(1, 1)]);
        assert_eq!(asked[0].y, [ViewColumn::new(0, 1)]);
    }

    #[test]
    fn record_asks_for_the_records_of_every_view() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let promise = Promise::XyAnonymity { x: names(&["job"]), y: names(&["record"]), k: 2 };
        let asked = promise.requirements(&[&tax, &health]);
        assert_eq!(
            asked.iter().map(|asked| asked.y.clone()).collect::<Vec<_>>(),
            [vec![ViewColumn::record(0)], vec![ViewColumn::record(1)]]
        );
        let promise = Promise::XyAnonymity { x: names(&["job"]), y: names(&["tax.record"]), k: 2 };
        assert_eq!(promise.requirements(&[&health]), []);
        assert_eq!(promise.requirements(&[&health, &tax]).len(), 1);
    }

    #[test]
    fn those_who_may_pool_see_each_others_views() {
        let mut views = Views::default();
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
