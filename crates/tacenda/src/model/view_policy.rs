//! What a policy file says of views: which there are, who gets them, who may pool, what must hold.

use crate::model::{
    Bound, Impossible, Promise, PublishedView, RECORD, Reading, Requirement, Span, Threshold, View, ViewColumn,
};
use std::path::PathBuf;

/// The recipient that stands for anyone.
pub const EVERYONE: &str = "everyone";

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
    /// Whether it is enough to judge each two views where the join of all is too large.
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
    /// The folder or the file of a release made elsewhere, where the view is out already.
    pub adopted: Option<PathBuf>,
    /// How that file is read, if it is one.
    pub reading: Reading,
}

/// What the detail of a view is good for.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum Score {
    /// Telling the classes of the target column apart (paper 004, equation 2); like `Distortion` without a target.
    Entropy,
    /// Staying close to the values (equation 3): as many units as there are rows with the value.
    #[default]
    Distortion,
    /// Telling rows apart: as many units as there are pairs that would no longer be alike.
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

    /// The pools, those with a member in common made one: who is in two may hold what both hold.
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

/// How many earlier views may be seen together before not every selection of them is judged.
pub const EVERY_JOIN: usize = 5;

/// The selections of some earlier views whose joins with a new one are judged.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubJoins {
    /// Which of the views, ascending; all of them first.
    pub list: Vec<Vec<usize>>,
    /// Whether that is every selection there is.
    pub is_complete: bool,
}

impl SubJoins {
    /// The selections of the views `seen`. Nobody has to use all that they hold: a view that lacks
    /// somebody takes them out of the join, and one that says nothing only thins it out. So what the
    /// others tell is judged as well: up to `EVERY_JOIN` views every selection, beyond that the new view
    /// alone, with each one, with all but one, and with all.
    pub fn of(seen: &[usize]) -> SubJoins {
        let count = seen.len();
        let mut list = vec![seen.to_vec()];
        if count <= EVERY_JOIN {
            let chosen = |bits: usize| (0..count).filter(|at| bits >> at & 1 == 1).map(|at| seen[at]).collect();
            list.extend((0..(1usize << count) - 1).rev().map(chosen));
        } else {
            list.extend(seen.iter().map(|out| seen.iter().copied().filter(|view| view != out).collect()));
            list.extend(seen.iter().map(|&view| vec![view]));
            list.push(Vec::new());
        }
        SubJoins { list, is_complete: count <= EVERY_JOIN }
    }
}

/// What a promise asks of the join of a new view with some earlier ones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// Which promise.
    pub promise: usize,
    /// The earlier views, numbered from 1: the new one is 0 and always part of it.
    pub members: Vec<usize>,
    /// What must hold on their join, with the same numbers.
    pub requirement: Requirement,
}

/// What all promises ask where the new view is laid beside some of `earlier`; `seen` lists per group of
/// recipients which; `new` says of each column whether it is published as it is. What is asked of everything that somebody sees comes first.
pub fn asked(
    promises: &[&Promise],
    (new, is_new_exact): (&View, impl Fn(usize) -> bool),
    earlier: &[PublishedView],
    seen: &[Vec<usize>],
) -> Vec<Asked> {
    let is_exact: Vec<Vec<bool>> = earlier.iter().map(PublishedView::exact_columns).collect();
    let mut joins: Vec<(bool, Vec<usize>)> = Vec::new();
    for (at, members) in seen.iter().flat_map(|seen| SubJoins::of(seen).list.into_iter().enumerate()) {
        joins.push((at > 0, members));
    }
    joins.sort_by_key(|join| join.0);
    let mut asked: Vec<Asked> = Vec::new();
    for (is_part, members) in joins {
        let views: Vec<&View> = std::iter::once(new).chain(members.iter().map(|&view| &earlier[view].view)).collect();
        let is_exact = |at: ViewColumn| match (at.view, at.column) {
            (_, None) => false,
            (0, Some(column)) => is_new_exact(column),
            (view, Some(column)) => is_exact[members[view - 1]][column],
        };
        let mut found: Vec<(usize, Requirement)> = Vec::new();
        for (promise, of) in promises.iter().enumerate() {
            found.extend(of.requirements(&views, is_exact).into_iter().map(|requirement| (promise, requirement)));
        }
        let members: Vec<usize> = members.iter().map(|&view| view + 1).collect();
        let renumber = |at: &mut ViewColumn| at.view = if at.view == 0 { 0 } else { members[at.view - 1] };
        for (promise, mut requirement) in found {
            requirement.x.iter_mut().chain(&mut requirement.y).for_each(renumber);
            let one = Asked { promise, members: members.clone(), requirement };
            // A part without X tells nothing about anybody.
            let says_nothing = is_part && one.requirement.x.is_empty();
            if !says_nothing && !asked.contains(&one) {
                asked.push(one);
            }
        }
    }
    asked
}

impl Promise {
    /// What the promise asks of the join of `views`; nothing while a column of Y is in none of them.
    ///
    /// A name in Y that several views have asks the same of every copy: two copies side by side would count
    /// one value as several where one of them is coarser. Where a copy is exact (`is_exact`), it says what
    /// the others can only say less of, and it alone is asked for. `record` without a view asks for every
    /// view's records.
    pub fn requirements(&self, views: &[&View], is_exact: impl Fn(ViewColumn) -> bool) -> Vec<Requirement> {
        let Some((x, y)) = self.x_and_y() else { return Vec::new() };
        let x: Vec<ViewColumn> = x.iter().flat_map(|name| ViewColumn::find(views, name)).collect();
        let mut choices: Vec<Vec<ViewColumn>> = vec![Vec::new()];
        for name in y {
            let mut copies = match name.as_str() {
                RECORD => (0..views.len()).map(ViewColumn::record).collect(),
                name => ViewColumn::find(views, name),
            };
            if let Some(exact) = copies.iter().copied().find(|&at| at.column.is_some() && is_exact(at)) {
                copies = vec![exact];
            }
            let longer = |chosen: &Vec<ViewColumn>| {
                let with = |&copy: &ViewColumn| chosen.iter().copied().chain([copy]).collect();
                copies.iter().map(with).collect::<Vec<Vec<ViewColumn>>>()
            };
            choices = choices.iter().flat_map(longer).collect();
        }
        choices.into_iter().map(|y| Requirement { x: x.clone(), y, bound: self.bound() }).collect()
    }

    fn bound(&self) -> Bound {
        match self {
            Promise::XyLinkability { max_confidence_permille, listed, only_listed, .. } => Bound::Linkability {
                max_permille: (!only_listed).then_some(*max_confidence_permille),
                listed: listed
                    .iter()
                    .map(|share| Threshold { values: share.spans.clone(), max_permille: share.max_permille })
                    .collect(),
            },
            Promise::XyAnonymity { k, .. } => Bound::Anonymity { k: u64::from(*k) },
            _ => unreachable!("only promises about views have columns of Y"),
        }
    }

    /// What X and Y of a promise about views are, in words.
    pub fn sides(&self) -> Option<String> {
        self.x_and_y().map(|(x, y)| format!("X is {}; Y is {}.", x.join(", "), y.join(", ")))
    }

    /// The names in X and Y of a promise about views.
    pub fn x_and_y(&self) -> Option<(&[String], &[String])> {
        match self {
            Promise::XyAnonymity { x, y, .. } | Promise::XyLinkability { x, y, .. } => Some((x, y)),
            _ => None,
        }
    }

    /// Whether this is a promise about views.
    pub fn is_about_views(&self) -> bool {
        self.x_and_y().is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Domain, Quasi, SpanColumn};

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
        assert_eq!(promise.requirements(&[&tax], |_| true), []);
        let asked = promise.requirements(&[&health, &tax], |_| true);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].x, [ViewColumn::new(1, 0), ViewColumn::new(1, 1)]);
        assert_eq!(asked[0].y, [ViewColumn::new(0, 1)]);
    }

    #[test]
    fn record_asks_for_the_records_of_every_view() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let promise = Promise::XyAnonymity { x: names(&["job"]), y: names(&["record"]), k: 2 };
        let asked = promise.requirements(&[&tax, &health], |_| true);
        assert_eq!(
            asked.iter().map(|asked| asked.y.clone()).collect::<Vec<_>>(),
            [vec![ViewColumn::record(0)], vec![ViewColumn::record(1)]]
        );
        let promise = Promise::XyAnonymity { x: names(&["job"]), y: names(&["tax.record"]), k: 2 };
        assert_eq!(promise.requirements(&[&health], |_| true), []);
        assert_eq!(promise.requirements(&[&health, &tax], |_| true).len(), 1);
    }

    #[test]
    fn every_selection_of_few_views_is_judged_and_some_of_many() {
        let few = SubJoins::of(&[3, 5]);
        assert_eq!((few.list, few.is_complete), (vec![vec![3, 5], vec![5], vec![3], vec![]], true));
        assert_eq!(SubJoins::of(&[]).list, [Vec::<usize>::new()]);
        let many = SubJoins::of(&[0, 1, 2, 3, 4, 5]);
        assert_eq!((many.list.len(), many.is_complete), (1 + 6 + 6 + 1, false));
        assert_eq!(many.list[0], [0, 1, 2, 3, 4, 5]);
        assert!(many.list.contains(&vec![0, 1, 3, 4, 5]) && many.list.contains(&vec![2]));
    }

    #[test]
    fn a_promise_is_asked_of_parts_that_hold_y_and_some_of_x() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let ward = view("ward", &["job"]);
        let promise = Promise::XyAnonymity { x: names(&["name", "tax.job"]), y: names(&["disease"]), k: 2 };
        let out = |views: &[&View]| -> Vec<PublishedView> {
            let empty =
                |view: &&View| PublishedView::new((*view).clone(), vec![SpanColumn::default(); view.columns.len()]);
            views.iter().map(empty).collect()
        };
        let members = |new: &View, earlier: &[&View], seen: &[Vec<usize>]| -> Vec<Vec<usize>> {
            asked(&[&promise], (new, |_| true), &out(earlier), seen).into_iter().map(|asked| asked.members).collect()
        };
        assert_eq!(members(&tax, &[&health, &ward], &[vec![0, 1]]), [vec![1, 2], vec![1]]);
        assert_eq!(members(&health, &[&tax, &ward], &[vec![0, 1], vec![0]]), [vec![1, 2], vec![1]]);
        assert_eq!(members(&tax, &[&health, &ward], &[vec![1]]), Vec::<Vec<usize>>::new());
        let part = asked(&[&promise], (&tax, |_| true), &out(&[&ward, &health]), &[vec![0, 1]]).pop().unwrap();
        assert_eq!((part.members, part.requirement.y), (vec![2], vec![ViewColumn::new(2, 1)]));
    }

    #[test]
    fn a_name_in_several_views_asks_of_every_copy_or_of_an_exact_one() {
        let (ward, lab) = (view("ward", &["job", "disease"]), view("lab", &["job", "disease"]));
        let promise = Promise::XyAnonymity { x: names(&["job"]), y: names(&["disease"]), k: 2 };
        let y = |is_exact: &dyn Fn(ViewColumn) -> bool| -> Vec<Vec<ViewColumn>> {
            promise.requirements(&[&ward, &lab], is_exact).into_iter().map(|asked| asked.y).collect()
        };
        let (of_ward, of_lab) = (ViewColumn::new(0, 1), ViewColumn::new(1, 1));
        assert_eq!(y(&|_| false), [vec![of_ward], vec![of_lab]]);
        assert_eq!(y(&|at| at == of_lab), [vec![of_lab]]);
        assert_eq!(y(&|_| true), [vec![of_ward]]);
    }

    #[test]
    fn who_is_in_two_pools_brings_them_together() {
        let mut views =
            Views { pools: vec![names(&["a", "b"]), names(&["d"]), names(&["b", "c"])], ..Views::default() };
        let earlier = [names(&["a"]), names(&["b"]), names(&["c"]), names(&["d"])];
        assert_eq!(views.seen_together(&names(&["c"]), &earlier), [vec![0, 1, 2]]);
        views.pools.push(names(&["d", "c"]));
        assert_eq!(views.seen_together(&names(&["a"]), &earlier), [vec![0, 1, 2, 3]]);
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
