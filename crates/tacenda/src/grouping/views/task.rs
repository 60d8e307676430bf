//! The task, and the most general state from which it starts.

use crate::grouping::views::check::JoinCheck;
use crate::grouping::views::history::{EarlierViews, Keep};
use crate::grouping::views::judge::{NewY, is_uniform};
use crate::grouping::views::link::{dangling, link_columns};
use crate::grouping::views::matcher::Matcher;
use crate::grouping::views::search::Engine;
use crate::grouping::views::tree::Tree;
use crate::grouping::views::{Options, Unrelated, ViewsError, Warning, explain};
use crate::model::{Bound, Classes, Impossible, PublishedView, Requirement, Span, View, ViewRows};
use std::collections::BTreeSet;

/// The next view, the published views, and the requirements. In requirements, view 0 is the new one and view i the i-th
/// of `earlier`, counted from 1.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The view to be published.
    pub view: &'a View,
    /// Its rows. Private.
    pub rows: &'a ViewRows,
    /// The published views, generalised in any way.
    pub earlier: &'a [PublishedView],
    /// All requirements that must hold.
    pub requirements: &'a [Requirement],
    /// Which values never belong to one person.
    pub impossible: &'a [Impossible],
}

/// The most general state, and the warnings about it.
pub(super) struct Prepared {
    pub(super) engine: Engine,
    pub(super) warnings: Vec<Warning>,
}

impl Task<'_> {
    /// The columns of the new view that take part when it is matched with the earlier views `members`.
    pub(super) fn join_columns(&self, members: &[usize]) -> Vec<usize> {
        let others: Vec<&View> = members.iter().map(|&view| &self.earlier[view - 1].view).collect();
        link_columns(self.view, &others, self.impossible)
    }

    /// Every requirement is about the join of all views.
    pub(super) fn everything(&self) -> Vec<Vec<usize>> {
        vec![(1..=self.earlier.len()).collect(); self.requirements.len()]
    }

    /// The columns that are generalised: in some X and in no Y.
    pub(super) fn generalised(&self) -> Vec<usize> {
        let x: BTreeSet<usize> = self.requirements.iter().flat_map(|requirement| requirement.x_in(0)).collect();
        let y: BTreeSet<usize> = self.requirements.iter().flat_map(|requirement| requirement.y_in(0)).collect();
        x.difference(&y).copied().collect()
    }

    /// Rows of the new view and of an earlier one that match nothing of the other.
    pub(super) fn dangling(&self, view: usize) -> (u64, u64) {
        dangling(self.view, self.rows, &self.earlier[view - 1], self.impossible)
    }
}

/// Checks that the task makes sense and builds the most general state.
///
/// `members` are per requirement the earlier views whose join it is about, numbered from 1.
pub(super) fn prepare(task: &Task<'_>, members: &[Vec<usize>], options: &Options) -> Result<Prepared, ViewsError> {
    validate(task)?;
    let mut is_related = true;
    for view in 1..=task.earlier.len() {
        let (new, earlier) = task.dangling(view);
        if new + earlier > 0 {
            is_related = false;
            if options.unrelated == Unrelated::Refuse {
                return Err(ViewsError::NotRelated { view: task.earlier[view - 1].view.name.clone(), new, earlier });
            }
        }
    }
    let all: Vec<usize> = (1..=task.earlier.len()).collect();
    let generalised = task.generalised();
    let mut fixed: BTreeSet<usize> = task.join_columns(&all).into_iter().collect();
    fixed.extend(task.requirements.iter().flat_map(|requirement| requirement.x_in(0)));
    let fixed: Vec<usize> = fixed.into_iter().filter(|column| !generalised.contains(column)).collect();
    let mut also: BTreeSet<usize> = task.requirements.iter().flat_map(|requirement| requirement.y_in(0)).collect();
    also.retain(|column| !fixed.contains(column));
    let also: Vec<usize> = also.into_iter().collect();
    let (tree, samples) = Tree::new(task.view, task.rows, &generalised, &fixed, &also, options.information);
    let mut prepared =
        Prepared { engine: Engine { tree, checks: Vec::new(), trail: Vec::new() }, warnings: Vec::new() };
    assert_eq!(members.len(), task.requirements.len(), "every requirement says which views it is about");
    for (requirement, members) in members.iter().enumerate() {
        add_checks(task, options, requirement, members, &samples, &mut prepared);
    }
    for check in &mut prepared.engine.checks {
        check.is_monotone &= is_related;
        check.start(&prepared.engine.tree);
    }
    Ok(prepared)
}

/// One check on the join of everything, or one per earlier view if that join is too large to list.
fn add_checks(
    task: &Task<'_>,
    options: &Options,
    index: usize,
    all: &[usize],
    samples: &[u32],
    prepared: &mut Prepared,
) {
    let requirement = &task.requirements[index];
    let joined = EarlierViews::new(task.view, task.earlier, all, requirement, task.impossible, options.lines);
    let Ok(history) = joined else {
        prepared.warnings.push(Warning::PairsOnly { requirement: index + 1, lines: options.lines });
        for &view in all {
            let alone = restrict(requirement, view);
            if alone.y.is_empty() {
                continue;
            }
            let history = EarlierViews::new(task.view, task.earlier, &[view], &alone, task.impossible, usize::MAX)
                .expect("one view has no more lines than rows");
            let check = check(task, index, &alone, &[view], history, samples, &mut prepared.engine.tree);
            prepared.engine.checks.push(check);
        }
        return;
    };
    let check = check(task, index, requirement, all, history, samples, &mut prepared.engine.tree);
    prepared.engine.checks.push(check);
}

/// The part of a requirement that is about the new view and one earlier one.
fn restrict(requirement: &Requirement, view: usize) -> Requirement {
    let keep =
        |side: &[crate::model::ViewColumn]| side.iter().copied().filter(|at| at.view == 0 || at.view == view).collect();
    let mut bound = requirement.bound.clone();
    if let Bound::Linkability { listed, .. } = &mut bound {
        for entry in listed {
            let kept = entry.values.iter().zip(&requirement.y).filter(|(_, at)| at.view == 0 || at.view == view);
            entry.values = kept.map(|(&span, _)| span).collect();
        }
    }
    Requirement { x: keep(&requirement.x), y: keep(&requirement.y), bound }
}

fn check(
    task: &Task<'_>,
    index: usize,
    requirement: &Requirement,
    members: &[usize],
    history: EarlierViews,
    samples: &[u32],
    tree: &mut Tree,
) -> JoinCheck {
    let join_columns = task.join_columns(members);
    let x = requirement.x_in(0);
    let place = |column: usize| join_columns.iter().position(|&join| join == column);
    let join: Vec<Option<usize>> = tree.attributes.iter().map(|attribute| place(attribute.column)).collect();
    let in_x: Vec<bool> = tree.attributes.iter().map(|attribute| x.contains(&attribute.column)).collect();
    let fixed = tree.fixed.iter().enumerate();
    let join_fixed = fixed.clone().filter_map(|(index, fixed)| Some((place(fixed.column)?, index))).collect();
    let x_fixed = fixed.filter(|(_, fixed)| x.contains(&fixed.column)).map(|(index, _)| index).collect();
    // If all join columns of the new view are in X, one partition makes up a value of X on its own.
    let alone = join_columns.iter().all(|column| x.contains(column));
    let by_pair = !requirement.y_in(0).is_empty() && history.has_y && !is_uniform(&requirement.bound);
    let keep = if alone && (!by_pair || matches!(requirement.bound, Bound::Anonymity { .. })) {
        Keep::Worst
    } else {
        Keep::Entries
    };
    let names = join_columns.iter().map(|&column| task.view.columns[column].name.clone()).collect();
    let matcher = Matcher::new(history, requirement.bound.clone(), task.impossible, keep, names);
    let y = new_y(task, requirement, samples, tree);
    let mut check = JoinCheck::new(index, matcher, y, in_x, join, join_fixed, x_fixed);
    check.is_monotone = explain::doubts(task, requirement, members).is_empty();
    check
}

/// The new view's part of Y, by atom.
fn new_y(task: &Task<'_>, requirement: &Requirement, samples: &[u32], tree: &mut Tree) -> NewY {
    if requirement.is_keyed(0) {
        return NewY::Key;
    }
    let columns = requirement.y_in(0);
    if columns.is_empty() {
        return NewY::Nothing;
    }
    let codes_of =
        |column: usize| -> Vec<u32> { samples.iter().map(|&row| task.rows.column(column)[row as usize]).collect() };
    let codes: Vec<Vec<u32>> = columns.iter().map(|&column| codes_of(column)).collect();
    let classes = Classes::of(samples.len(), &codes.iter().map(|codes| &codes[..]).collect::<Vec<&[u32]>>());
    let spans = classes.sample.iter().map(|&atom| {
        let of = |at: &crate::model::ViewColumn| match at.column {
            Some(column) if at.view == 0 => {
                let place = columns.binary_search(&column).expect("the column is in Y");
                Span::exact(codes[place][atom as usize])
            }
            _ => Span::EMPTY,
        };
        requirement.y.iter().map(of).collect()
    });
    let spans = spans.collect();
    NewY::Values { column: tree.take_in(classes.of_row), spans }
}

/// Refuses requirements that make no sense.
fn validate(task: &Task<'_>) -> Result<(), ViewsError> {
    for earlier in task.earlier {
        for column in &task.view.columns {
            let other = earlier.view.column(&column.name).map(|at| &earlier.view.columns[at]);
            if other.is_some_and(|other| other.domain != column.domain || other.nullable != column.nullable) {
                return Err(ViewsError::TwoDomains { column: column.name.clone(), view: earlier.view.name.clone() });
            }
        }
    }
    for (index, requirement) in task.requirements.iter().enumerate() {
        let wrong = |what| Err(ViewsError::BadRequirement { requirement: index + 1, what });
        if requirement.y.is_empty() {
            return wrong("Y is empty; name at least one column");
        }
        if requirement.x.iter().any(|at| requirement.y.contains(at)) {
            return wrong("a column is both in X and in Y; keep it in one of them");
        }
        if requirement.x.iter().any(|at| at.column.is_none()) {
            return wrong("the key of a view cannot be in X: every row would be alone");
        }
        let columns = |view: usize| match view {
            0 => Some(task.view.columns.len()),
            view => task.earlier.get(view - 1).map(|earlier| earlier.view.columns.len()),
        };
        let mut all = requirement.x.iter().chain(&requirement.y);
        if !all.all(|at| columns(at.view).is_some_and(|count| at.column.is_none_or(|column| column < count))) {
            return wrong("a column is named that no view has");
        }
        if let Bound::Linkability { listed, .. } = &requirement.bound
            && listed.iter().any(|entry| entry.values.len() != requirement.y.len())
        {
            return wrong("a listed value needs one entry per column of Y");
        }
        if matches!(&requirement.bound, Bound::Linkability { listed, .. } if !listed.is_empty())
            && requirement.y.iter().any(|at| at.column.is_none())
        {
            return wrong("with the key of a view in Y every value is different; list no values, or take the key out");
        }
    }
    Ok(())
}
