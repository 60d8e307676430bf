//! The demand of a promise about views on their joins, as plain data, for the algorithm that makes a view and for the
//! gate.

use crate::model::{Bound, PublishedView, RECORD, Requirement, View, ViewColumn};

/// What must hold on the join of views: X and Y by the names of columns, and the number.
///
/// A name such as `job` means the column in every view that has it, `tax.job` the one of that view.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Demand {
    /// What an attacker knows.
    pub x: Vec<String>,
    /// What identifies, or must not be learned.
    pub y: Vec<String>,
    /// The bound.
    pub bound: Bound,
}

impl Demand {
    /// The requirements on the join of `views`; none while a column of Y is in none of them.
    ///
    /// If several views have a column of Y, each copy gets its own requirement. Counted together, a coarse copy beside
    /// a fine one would turn one value into several. If some copy is exact (`is_exact`), it implies the others and is
    /// the only one required. `record` without a view means the records of every view.
    pub fn requirements(&self, views: &[&View], is_exact: impl Fn(ViewColumn) -> bool) -> Vec<Requirement> {
        let x: Vec<ViewColumn> = self.x.iter().flat_map(|name| ViewColumn::find(views, name)).collect();
        let mut choices: Vec<Vec<ViewColumn>> = vec![Vec::new()];
        for name in &self.y {
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
        choices.into_iter().map(|y| Requirement { x: x.clone(), y, bound: self.bound.clone() }).collect()
    }
}

/// Up to this many earlier views, every selection of them is judged.
const EVERY_JOIN: usize = 5;

/// The selections of some earlier views whose joins with a new one are judged.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct SubJoins {
    /// Which of the views, ascending; all of them first.
    pub list: Vec<Vec<usize>>,
    /// Whether the list has every selection.
    pub is_complete: bool,
}

impl SubJoins {
    /// The selections of the views `seen`. A recipient need not use all views. A view that lacks a person removes them
    /// from the join, so joins of fewer views can reveal more. Up to `EVERY_JOIN` views, every selection is judged.
    /// Beyond that, the new view is judged alone, with each one, with all but one, and with all.
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

/// A requirement of a demand on the join of a new view with some earlier ones.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Asked {
    /// Which demand.
    pub demand: usize,
    /// The earlier views, numbered from 1: the new one is 0 and always part of it.
    pub members: Vec<usize>,
    /// What must hold on their join, with the same numbers.
    pub requirement: Requirement,
}

/// The requirements of all demands on joins of the new view with some of `earlier`. `seen` lists the earlier views per
/// group of recipients. `new` says for each column whether it is published as it is. Requirements on everything that a
/// group sees come first.
pub fn asked(
    demands: &[Demand],
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
        for (demand, of) in demands.iter().enumerate() {
            found.extend(of.requirements(&views, is_exact).into_iter().map(|requirement| (demand, requirement)));
        }
        let members: Vec<usize> = members.iter().map(|&view| view + 1).collect();
        let renumber = |at: &mut ViewColumn| at.view = if at.view == 0 { 0 } else { members[at.view - 1] };
        for (demand, mut requirement) in found {
            requirement.x.iter_mut().chain(&mut requirement.y).for_each(renumber);
            let one = Asked { demand, members: members.clone(), requirement };
            // A selection without a column of X says nothing about anybody.
            let says_nothing = is_part && one.requirement.x.is_empty();
            if !says_nothing && !asked.contains(&one) {
                asked.push(one);
            }
        }
    }
    asked
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
    fn a_demand_waits_until_all_of_y_is_out() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let demand =
            Demand { x: names(&["name", "tax.job"]), y: names(&["disease"]), bound: Bound::Anonymity { k: 2 } };
        assert_eq!(demand.requirements(&[&tax], |_| true), []);
        let asked = demand.requirements(&[&health, &tax], |_| true);
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].x, [ViewColumn::new(1, 0), ViewColumn::new(1, 1)]);
        assert_eq!(asked[0].y, [ViewColumn::new(0, 1)]);
    }

    #[test]
    fn record_asks_for_the_records_of_every_view() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let demand = Demand { x: names(&["job"]), y: names(&["record"]), bound: Bound::Anonymity { k: 2 } };
        let asked = demand.requirements(&[&tax, &health], |_| true);
        assert_eq!(
            asked.iter().map(|asked| asked.y.clone()).collect::<Vec<_>>(),
            [vec![ViewColumn::record(0)], vec![ViewColumn::record(1)]]
        );
        let demand = Demand { x: names(&["job"]), y: names(&["tax.record"]), bound: Bound::Anonymity { k: 2 } };
        assert_eq!(demand.requirements(&[&health], |_| true), []);
        assert_eq!(demand.requirements(&[&health, &tax], |_| true).len(), 1);
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
    fn a_demand_is_asked_of_parts_that_hold_y_and_some_of_x() {
        let (tax, health) = (view("tax", &["name", "job"]), view("health", &["job", "disease"]));
        let ward = view("ward", &["job"]);
        let demand =
            Demand { x: names(&["name", "tax.job"]), y: names(&["disease"]), bound: Bound::Anonymity { k: 2 } };
        let out = |views: &[&View]| -> Vec<PublishedView> {
            let empty =
                |view: &&View| PublishedView::new((*view).clone(), vec![SpanColumn::default(); view.columns.len()]);
            views.iter().map(empty).collect()
        };
        let members = |new: &View, earlier: &[&View], seen: &[Vec<usize>]| -> Vec<Vec<usize>> {
            asked(std::slice::from_ref(&demand), (new, |_| true), &out(earlier), seen)
                .into_iter()
                .map(|asked| asked.members)
                .collect()
        };
        assert_eq!(members(&tax, &[&health, &ward], &[vec![0, 1]]), [vec![1, 2], vec![1]]);
        assert_eq!(members(&health, &[&tax, &ward], &[vec![0, 1], vec![0]]), [vec![1, 2], vec![1]]);
        assert_eq!(members(&tax, &[&health, &ward], &[vec![1]]), Vec::<Vec<usize>>::new());
        let part = asked(std::slice::from_ref(&demand), (&tax, |_| true), &out(&[&ward, &health]), &[vec![0, 1]])
            .pop()
            .unwrap();
        assert_eq!((part.members, part.requirement.y), (vec![2], vec![ViewColumn::new(2, 1)]));
    }

    #[test]
    fn a_name_in_several_views_asks_of_every_copy_or_of_an_exact_one() {
        let (ward, lab) = (view("ward", &["job", "disease"]), view("lab", &["job", "disease"]));
        let demand = Demand { x: names(&["job"]), y: names(&["disease"]), bound: Bound::Anonymity { k: 2 } };
        let y = |is_exact: &dyn Fn(ViewColumn) -> bool| -> Vec<Vec<ViewColumn>> {
            demand.requirements(&[&ward, &lab], is_exact).into_iter().map(|asked| asked.y).collect()
        };
        let (of_ward, of_lab) = (ViewColumn::new(0, 1), ViewColumn::new(1, 1));
        assert_eq!(y(&|_| false), [vec![of_ward], vec![of_lab]]);
        assert_eq!(y(&|at| at == of_lab), [vec![of_lab]]);
        assert_eq!(y(&|_| true), [vec![of_ward]]);
    }
}
