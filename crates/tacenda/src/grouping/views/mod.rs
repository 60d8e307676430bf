//! Different columns for different recipients: the next view is published in as much detail as keeps the join of all
//! published views private.
//!
//! # Source
//! Paper 004, Wang and Fung, *Anonymizing sequential releases* (KDD 2006): sections 3 (definitions), 4
//! (monotonicity), 5 (the algorithm TDS4SA) and 7 (several earlier releases).
//!
//! # Promise
//! On the join of all views, for every value x of X: at least k distinct values of Y go with x (anonymity), or no value
//! y of Y makes up more than a given share of the rows with x (linkability). The join counts every pair of rows that
//! could be one person. It says nothing about columns outside X and Y, and a share among pairs is not a probability.
//! Whether a pair lies in some assignment of all rows is not examined here. The auditor does that, and
//! [`Specialised::back_off`] takes steps back if necessary.
//!
//! # Steps
//!
//! | paper | here |
//! |---|---|
//! | Tree1 and its links, specialise w | `tree`: cells; `split` for the children |
//! | Tree2, several releases (7) | `lines` and `history`: the earlier views, joined; `link`: what joins |
//! | probe the matching partitions | `matcher`: bit sets, one look-up per combination of join spans |
//! | X-tree, a(x), a(x,y), a_Y(x), Cases 1-4 | `check`: groups alike on X, `judge` |
//! | Score, valid, winner (lines 2-5) | `search` |
//! | corollaries 4.1 and 4.2 | `explain`: when they hold |
//!
//! # Departures
//! - Lemmas 4.1 and 4.2 are false as printed. A candidate is given up for good only if the corrected theorem applies,
//!   which is checked. Otherwise every candidate is judged again after each step. If even the most general state breaks
//!   a requirement, a bounded search follows before the answer is "none found".
//! - Case 2 counts some pairs twice; all cases are one sum over distinct pairs.
//! - A candidate's children are matched with the earlier views again; the paper omits that.
//! - Common numeric columns join by overlap. The paper leaves them out; an attacker will not.
//! - A node of which only one child occurs may be specialised, because that adds detail.
//! - Columns of Y are published as they are, even if another requirement has them in X.
//!
//! # Cost
//! Rows are read once and become atoms: rows that agree on all relevant columns. A division costs the atoms of the
//! cells it touches, times the number of attributes. Judging costs the groups it touches; heaps keep the worst of all
//! groups. The earlier views cost one look-up per distinct combination of join spans. Memory holds atoms and lines. A
//! million rows in each of two views take well under a second.

mod check;
mod explain;
mod history;
mod judge;
mod lines;
mod link;
mod matcher;
mod outcome;
mod search;
mod split;
mod tally;
mod task;
mod tree;
mod utility;
mod worst;
#[cfg(test)]
mod tests;

use crate::model::{Score, coded};
pub use explain::{BrokenCondition, Note, explain_requirement};
pub use outcome::{JoinMeasure, Specialised, TrailStep, Warning};
pub use task::Task;
pub use utility::{Utility, utility};

/// Options of the specialisation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Options {
    /// What the detail is used for.
    pub information: Score,
    /// How many states a search may open when the most general one breaks a requirement.
    pub search: usize,
    /// The most lines of the join of the earlier views. Beyond it, each view is examined alone.
    pub lines: usize,
    /// What to do when some rows match nothing.
    pub unrelated: Unrelated,
}

/// What to do when the views are not about the same people.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Unrelated {
    /// Nothing is published.
    Refuse,
    /// Rows that match nothing are left out of the join, and nothing is assumed to be monotone.
    Allow,
}

impl Default for Options {
    fn default() -> Options {
        Options { information: Score::default(), search: 200, lines: 2_000_000, unrelated: Unrelated::Refuse }
    }
}

coded! {
    /// Why a view cannot be published.
    #[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
    #[non_exhaustive]
    pub enum ViewsError {
        #[error("requirement {requirement}: {what}")]
        BadRequirement {
            /// Counted from 1.
            requirement: usize,
            /// What is wrong and what to do.
            what: &'static str,
        } = "R431", "a requirement that makes no sense",
            "X and Y of a promise about views must name different columns, and Y at least one.";
        #[error("column {column} has another domain in view {view}; columns of one name are one attribute")]
        TwoDomains {
            /// The column.
            column: String,
            /// The view.
            view: String,
        } = "R432", "one column, two domains",
            "Columns of one name are one attribute, and views are joined on it. Its domain or hierarchy must be the \
             same in every view.";
        #[error(
            "the new view and view {view} are not about the same people: {new} new and {earlier} earlier rows match nothing; \
             publish the same people, or declare fewer impossible pairs"
        )]
        NotRelated {
            /// The earlier view.
            view: String,
            /// Rows of the new view that match nothing.
            new: u64,
            /// Rows of the earlier view that match nothing.
            earlier: u64,
        } = "R433", "the views are not about the same people",
            "Some rows have no possible counterpart in another view. Either the tables are not of the same people, or \
             an [[impossible]] pair is not impossible: somebody in the table has both values.";
        /// Somebody has two values that are said never to belong to one person.
        #[error(
            "an [[impossible]] pair of {left} and {right} is not impossible: {} both; correct the table, or take the pair out",
            crate::model::counted(*people, "person of the table has", "people of the table have")
        )]
        NotImpossible {
            /// One column.
            left: String,
            /// The other.
            right: String,
            /// Who has both.
            people: u64,
        } = "R433";
        #[error(
            "requirement {requirement} cannot be met: the most general view reaches {measure}; {way_out}"
        )]
        Unmeetable {
            /// Counted from 1.
            requirement: usize,
            /// What the most general state reaches.
            measure: JoinMeasure,
            /// What to do.
            way_out: &'static str,
        } = "R434", "the promise cannot be met",
            "The most general view, with every column of X generalised to the top, breaks the promise. It is proved \
             that no finer view can keep it then. Published views cannot be changed. Lower the promise, or take \
             columns out of X.";
        #[error(
            "no view was found that meets requirement {requirement}: {states} were tried, and the most general one reaches {measure}; \
             there may be one that was not tried: lower the requirement, put fewer columns in the view, \
             or generalise the earlier views in a new series"
        )]
        NoneFound {
            /// Counted from 1.
            requirement: usize,
            /// What the most general state reaches.
            measure: JoinMeasure,
            /// How many states were examined.
            states: usize,
        } = "R435", "no way was found",
            "The most general view breaks the promise. A limited search among finer views found none that keeps it. \
             There may still be one, and no option makes the search longer. Lower the promise, put fewer columns in \
             the view, or start a new series with more general views.";
    }
}

impl ViewsError {
    /// The same with requirements numbered by `number`: several may stand for one promise.
    pub fn numbered(mut self, number: impl Fn(usize) -> usize) -> ViewsError {
        match &mut self {
            ViewsError::BadRequirement { requirement, .. }
            | ViewsError::Unmeetable { requirement, .. }
            | ViewsError::NoneFound { requirement, .. } => *requirement = number(*requirement),
            ViewsError::TwoDomains { .. } | ViewsError::NotRelated { .. } | ViewsError::NotImpossible { .. } => {}
        }
        self
    }

    /// The exit code of a command that ends with this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            ViewsError::BadRequirement { .. } | ViewsError::TwoDomains { .. } => 2,
            _ => 4,
        }
    }
}

/// Specialises the new view as far as every requirement allows.
pub fn specialise(task: &Task<'_>, options: &Options) -> Result<Specialised, ViewsError> {
    specialise_among(task, &task.everything(), options)
}

/// The same if each requirement is about the join with some earlier views only: those that one group of poolers can
/// see. `members` lists these per requirement, numbered from 1.
pub fn specialise_among(task: &Task<'_>, members: &[Vec<usize>], options: &Options) -> Result<Specialised, ViewsError> {
    let prepared = task::prepare(task, members, options)?;
    let mut engine = search::run(prepared.engine, options, task.requirements)?;
    Ok(outcome::Specialised::new(task, &mut engine, prepared.warnings))
}
