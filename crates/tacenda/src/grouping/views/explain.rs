//! What a requirement means for these views, before any work is done.
//!
//! The paper's lemmas say that specialising never helps. That is true only under conditions, which are checked here one
//! by one (science A4.2). A requirement can also be empty, out of reach, or about one table only.

use crate::grouping::views::outcome::JoinMeasure;
use crate::grouping::views::{Options, Task, Unrelated, ViewsError, task};
use crate::model::{Bound, Requirement};
use std::fmt;

/// Why specialising might help: a condition of the corrected theorem that does not hold.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum BrokenCondition {
    /// Impossible pairs take part in the matching.
    Rules,
    /// The join has more than one earlier view.
    SeveralViews,
    /// A join column of an earlier view is not published with a cut of its tree.
    NotACut {
        /// The view.
        view: String,
        /// The column.
        column: String,
    },
    /// A join column of the new view is not in X.
    JoinOutsideX {
        /// The column.
        column: String,
    },
    /// Y has columns in several views.
    YInSeveralViews,
    /// Some rows match nothing.
    NotRelated,
}

/// Something a steward should know about a requirement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Note {
    /// It holds whatever is published.
    Vacuous,
    /// It is about one table only: the join does not matter.
    OneTable {
        /// The view.
        view: String,
    },
    /// It is about an earlier view only: the new view cannot change it.
    OutOfReach {
        /// The view.
        view: String,
    },
    /// X leaves out an earlier view's copy of a join column, which an attacker sees as well.
    Omitted {
        /// The view.
        view: String,
        /// The column.
        column: String,
    },
    /// A column of X is published as it is, because another requirement has it in Y.
    Fixed {
        /// The column.
        column: String,
    },
    /// The views are not about the same people.
    NotRelated {
        /// The earlier view.
        view: String,
        /// Rows of the new view that match nothing.
        new: u64,
        /// Rows of the earlier view that match nothing.
        earlier: u64,
    },
    /// The most general state breaks it.
    Broken {
        /// What the most general state reaches.
        measure: JoinMeasure,
        /// Whether the corrected theorem says that nothing else can help.
        is_final: bool,
    },
    /// Specialising may help or harm, so every step is judged again.
    NotMonotone(BrokenCondition),
}

/// The notes about one requirement, numbered from 0.
pub fn explain_requirement(task: &Task<'_>, index: usize) -> Result<Vec<Note>, ViewsError> {
    let requirement = &task.requirements[index];
    let mut notes = Vec::new();
    let alone = Task { requirements: std::slice::from_ref(requirement), ..*task };
    let options = Options { unrelated: Unrelated::Allow, ..Options::default() };
    let mut prepared = task::prepare(&alone, &alone.everything(), &options)?;
    if is_vacuous(&requirement.bound) {
        notes.push(Note::Vacuous);
    }
    let all: Vec<usize> = (1..=task.earlier.len()).collect();
    if let Some(view) = collapses(task, requirement) {
        let name = if view == 0 { task.view.name.clone() } else { task.earlier[view - 1].view.name.clone() };
        notes.push(if view == 0 { Note::OneTable { view: name } } else { Note::OutOfReach { view: name } });
    }
    for (view, column) in omitted(task, requirement) {
        let earlier = &task.earlier[view - 1].view;
        notes.push(Note::Omitted { view: earlier.name.clone(), column: earlier.columns[column].name.clone() });
    }
    let generalised = task.generalised();
    for column in requirement.x_in(0).into_iter().filter(|column| !generalised.contains(column)) {
        notes.push(Note::Fixed { column: task.view.columns[column].name.clone() });
    }
    let mut is_related = true;
    for &view in &all {
        let (new, earlier) = task.dangling(view);
        if new + earlier > 0 {
            is_related = false;
            notes.push(Note::NotRelated { view: task.earlier[view - 1].view.name.clone(), new, earlier });
        }
    }
    let mut doubts = doubts(task, requirement, &all);
    if !is_related {
        doubts.push(BrokenCondition::NotRelated);
    }
    let standings = prepared.engine.standings();
    if let Some(broken) = standings.iter().position(|standing| !standing.now.holds) {
        let measure = prepared.engine.checks[broken].measure(standings[broken].now);
        notes.push(Note::Broken { measure, is_final: doubts.is_empty() });
    }
    notes.extend(doubts.into_iter().map(Note::NotMonotone));
    Ok(notes)
}

fn is_vacuous(bound: &Bound) -> bool {
    match bound {
        Bound::Anonymity { k } => *k <= 1,
        Bound::OneIn { l } => *l <= 1,
        Bound::Linkability { max_permille, listed } => {
            max_permille.is_none_or(|most| most >= 1000) && listed.iter().all(|entry| entry.max_permille >= 1000)
        }
    }
}

/// The only view that a requirement is about, if X has every copy of every join column and Y is in one view
/// (science A4.2, collapse).
fn collapses(task: &Task<'_>, requirement: &Requirement) -> Option<usize> {
    let view = requirement.y.first()?.view;
    let all: Vec<usize> = (1..=task.earlier.len()).collect();
    let own = task.join_columns(&all);
    let complete =
        own.iter().all(|column| requirement.x_in(0).contains(column)) && omitted(task, requirement).is_empty();
    // With several earlier views, columns that join only these with each other matter as well.
    (complete && task.earlier.len() == 1 && requirement.y.iter().all(|at| at.view == view)).then_some(view)
}

/// Copies of the new view's columns in earlier views that are neither in X nor in Y.
fn omitted(task: &Task<'_>, requirement: &Requirement) -> Vec<(usize, usize)> {
    let mut omitted = Vec::new();
    for (index, earlier) in task.earlier.iter().enumerate() {
        let x = requirement.x_in(index + 1);
        let y = requirement.y_in(index + 1);
        for (column, quasi) in earlier.view.columns.iter().enumerate() {
            let common = task.view.column(&quasi.name).is_some();
            if common && !x.contains(&column) && !y.contains(&column) {
                omitted.push((index + 1, column));
            }
        }
    }
    omitted
}

/// The conditions of the corrected theorem that do not hold, except for population-relatedness.
pub(super) fn doubts(task: &Task<'_>, requirement: &Requirement, members: &[usize]) -> Vec<BrokenCondition> {
    let mut doubts = Vec::new();
    let join = task.join_columns(members);
    let is_common = |column: usize| {
        let name = &task.view.columns[column].name;
        members.iter().any(|&view| task.earlier[view - 1].view.column(name).is_some())
    };
    let by_rule = task.impossible.iter().any(|rule| {
        let speaks = |name: &str, other: &str| {
            task.view.column(name).is_some()
                && members.iter().any(|&view| task.earlier[view - 1].view.column(other).is_some())
        };
        speaks(&rule.left.0, &rule.right.0) || speaks(&rule.right.0, &rule.left.0)
    });
    if by_rule {
        doubts.push(BrokenCondition::Rules);
    }
    if members.len() > 1 {
        doubts.push(BrokenCondition::SeveralViews);
    }
    for &view in members {
        let earlier = &task.earlier[view - 1];
        for column in join.iter().copied().filter(|&column| is_common(column)) {
            let quasi = &task.view.columns[column];
            let Some(theirs) = earlier.view.column(&quasi.name) else { continue };
            let spans = &earlier.column(theirs).spans;
            let apart = spans.is_sorted_by(|a, b| a.hi < b.lo);
            // Numbers have no tree. Only single values are nested in or disjoint from every range that a division can
            // produce.
            let nested = spans.iter().all(|&span| match quasi.hierarchy() {
                Some(tree) => tree.cover(span) == span,
                None => span.width() == 1 || span == quasi.root(),
            });
            if !(apart && nested) {
                doubts.push(BrokenCondition::NotACut { view: earlier.view.name.clone(), column: quasi.name.clone() });
            }
        }
    }
    let x = requirement.x_in(0);
    for &column in join.iter().filter(|column| !x.contains(column)) {
        doubts.push(BrokenCondition::JoinOutsideX { column: task.view.columns[column].name.clone() });
    }
    if requirement.y.iter().any(|at| at.view != requirement.y[0].view) {
        doubts.push(BrokenCondition::YInSeveralViews);
    }
    doubts
}

impl fmt::Display for BrokenCondition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BrokenCondition::Rules => write!(out, "impossible pairs take part in the matching"),
            BrokenCondition::SeveralViews => write!(out, "more than one earlier view takes part in the join"),
            BrokenCondition::NotACut { view, column } => {
                write!(out, "view {view} does not publish {column} with a cut of its tree")
            }
            BrokenCondition::JoinOutsideX { column } => write!(out, "{column} joins the views and is not in X"),
            BrokenCondition::YInSeveralViews => write!(out, "Y has columns in several views"),
            BrokenCondition::NotRelated => write!(out, "some rows match nothing"),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Vacuous => write!(out, "it holds whatever is published; raise k, or lower the share"),
            Note::OneTable { view } => write!(
                out,
                "X holds every copy of every join column and Y is in view {view}: this asks no more than the same of that view \
                 alone, and the join hides nothing"
            ),
            Note::OutOfReach { view } => write!(
                out,
                "X has every copy of every join column and Y is in view {view}, which is already published: nothing \
                 done to the new view changes this"
            ),
            Note::Omitted { view, column } => {
                write!(
                    out,
                    "X leaves out {column} of view {view}, which an attacker sees too; the promise is then weaker than \
                     it seems"
                )
            }
            Note::Fixed { column } => write!(out, "{column} is published as it is, because a requirement has it in Y"),
            Note::NotRelated { view, new, earlier } => {
                write!(out, "{new} rows of the new view and {earlier} of view {view} match nothing of the other")
            }
            Note::Broken { measure, is_final: true } => {
                write!(out, "with everything generalised it reaches {measure}, and nothing else can help")
            }
            Note::Broken { measure, is_final: false } => {
                write!(out, "with everything generalised it reaches {measure}; another cut may do better")
            }
            Note::NotMonotone(doubt) => write!(out, "every step is judged anew, because {doubt}"),
        }
    }
}
