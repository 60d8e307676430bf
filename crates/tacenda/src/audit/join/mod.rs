//! What the join of published views gives away, from the definitions.
//!
//! # Definition
//! Two rows of two views can be one person if the spans of every common column overlap and no declared impossible pair
//! excludes it. The join holds every choice of one row per view in which all pairs can be one person. It has every
//! column of every view; a common column occurs once per view. For a value x of X, a(x) is the number of joined rows
//! with x, and a(x,y) the number of those with y. a_Y(x) is the number of distinct y among them, and l_y(x) =
//! a(x,y)/a(x). Rows count as often as they occur; one row is one person.
//!
//! The kernel keeps only joined rows that lie in some assignment of all rows of all views (`together`). Views of the
//! same people are projections of one table, so nothing else can be true. A view with fewer rows than another lacks
//! people. If no such assignment exists, the views are not of the same people. Then only pairs that lie in no
//! assignment of their two views are excluded. If two views have no assignment, nothing is excluded between them.
//!
//! # Not concluded
//! A share among joined rows is not a probability. Work that would exceed the limit is not done, and the report says
//! so.

mod count;
mod cyclic;
mod naive;
mod pairs;
#[cfg(test)]
mod tests;
mod together;

pub use naive::{materialise, read_naively};

use crate::audit::join::count::Join;
use crate::audit::join::pairs::Pairs;
use crate::audit::join::together::{Kernel, Parts, Together};
use crate::model::{Bound, Impossible, PublishedView, Requirement, ViewColumn};
use rustc_hash::FxHashMap;

/// What is judged.
#[derive(Clone, Copy, Debug)]
pub struct JoinEvidence<'a> {
    /// Every view that is out or about to be. Requirements number them from 0.
    pub views: &'a [PublishedView],
    /// What must hold.
    pub requirements: &'a [Requirement],
    /// Which values never belong to one person.
    pub impossible: &'a [Impossible],
    /// The limit of three things: steps to count one requirement, listed pairs of classes that match, and steps for the
    /// kernel of one join (at most [`STEPS_TOGETHER`]).
    pub limit: u64,
}

/// What was found.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JoinReport {
    /// Per view, rows that match no row of some other view.
    pub dangling: Vec<u64>,
    /// Per view and other view, rows that match none of its rows.
    pub lonely: Vec<Vec<u64>>,
    /// Whether every two views have an assignment of all rows of the smaller to rows of the larger; `None` if that is
    /// too large to decide.
    pub has_assignment: Option<bool>,
    /// The pairs of views without an assignment. Between them the kernel excludes nothing.
    pub unassigned: Vec<(usize, usize)>,
    /// Per requirement.
    pub requirements: Vec<RequirementReport>,
}

/// What was found about one requirement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct RequirementReport {
    /// On the join as defined.
    pub raw: JoinReading,
    /// On the kernel; `None` if it could not be computed.
    pub kernel: Option<JoinReading>,
    /// What was covered.
    pub coverage: JoinCoverage,
}

/// How a requirement stands on a join.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct JoinReading {
    /// Whether it holds for every x that was examined.
    pub holds: bool,
    /// Joined rows.
    pub rows: u128,
    /// A_Y(X), the least a_Y(x); `None` if the join is empty or the requirement is about shares.
    pub least: Option<u64>,
    /// L_Y(X), the largest share of a sensitive y in millionths, rounded up; `None` if the join is empty or the
    /// requirement is about numbers.
    pub largest_ppm: Option<u64>,
    /// Values x that occur.
    pub combinations: u64,
    /// Values x for which it does not hold.
    pub broken: u64,
    /// Rows of the first view that are in one of these combinations.
    pub people: u64,
}

/// What a reading covers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JoinCoverage {
    /// The join of all views, and its kernel over all of them at once.
    All,
    /// The join of all views, but its kernel for two views at a time: all at once would have taken too many steps.
    KernelOfTwo,
    /// The same, because the views have no assignment of all rows, so they are not of the same people.
    Unassigned,
    /// Each two views only: the whole join was too large.
    PairsOnly,
    /// Nothing was examined: even two views were too large.
    NotAssessed,
}

impl JoinReport {
    /// Whether every requirement was assessed on the whole join and holds, on the join and on the kernel.
    pub fn holds(&self) -> bool {
        self.has_assignment == Some(true)
            && self.requirements.iter().all(|report| {
                report.coverage == JoinCoverage::All
                    && report.raw.holds
                    && report.kernel.as_ref().is_some_and(|kernel| kernel.holds)
            })
    }

    /// Whether every row of every view matches a row of every other.
    pub fn is_related(&self) -> bool {
        self.dangling.iter().all(|&rows| rows == 0)
    }
}

impl Default for JoinReading {
    fn default() -> JoinReading {
        JoinReading { holds: true, rows: 0, least: None, largest_ppm: None, combinations: 0, broken: 0, people: 0 }
    }
}

impl JoinReading {
    /// The reading of two parts together.
    pub(super) fn and(self, other: JoinReading) -> JoinReading {
        JoinReading {
            holds: self.holds && other.holds,
            rows: self.rows.saturating_add(other.rows),
            least: [self.least, other.least].into_iter().flatten().min(),
            largest_ppm: self.largest_ppm.max(other.largest_ppm),
            combinations: self.combinations + other.combinations,
            broken: self.broken + other.broken,
            people: self.people + other.people,
        }
    }
}

/// How many steps the kernel of one join of three or more views may take. Joins that can be taken apart take none.
#[doc(hidden)] // Only tests and benches call it from outside.
pub const STEPS_TOGETHER: u64 = together::STEPS;

/// Judges the join of all views.
pub fn judge_join(evidence: &JoinEvidence<'_>) -> JoinReport {
    let all: Vec<usize> = (0..evidence.views.len()).collect();
    judge_joins(evidence, &vec![all; evidence.requirements.len()])
}

/// The same if each requirement is about the join of some of the views. `members` lists them per requirement,
/// ascending.
pub fn judge_joins(evidence: &JoinEvidence<'_>, members: &[Vec<usize>]) -> JoinReport {
    let pairs = Pairs::new(evidence.views, evidence.impossible, evidence.limit);
    let kernel = pairs.kernel();
    let mut kernels: FxHashMap<&[usize], (Kernel, JoinCoverage)> = FxHashMap::default();
    for members in members.iter().filter(|members| members.len() > 2) {
        if let Some(all) = &kernel
            && !kernels.contains_key(&members[..])
        {
            kernels.insert(members, kernel_of(evidence, pairs.kernel_among(all, members), members));
        }
    }
    let part = Part { evidence, pairs: &pairs, kernel: kernel.as_ref(), kernels: &kernels };
    let read = |(requirement, members): (&Requirement, &Vec<usize>)| part.read(requirement, members);
    JoinReport {
        dangling: pairs.dangling(),
        lonely: pairs.lonely(),
        has_assignment: kernel.as_ref().map(|kernel| kernel.unassigned.is_empty()),
        unassigned: kernel.as_ref().map_or(Vec::new(), |kernel| kernel.unassigned.clone()),
        requirements: evidence.requirements.iter().zip(members).map(read).collect(),
    }
}

/// The kernel of some views, of all at once if that can be decided.
fn kernel_of(evidence: &JoinEvidence<'_>, pairs: Pairs, members: &[usize]) -> (Kernel, JoinCoverage) {
    let views: Vec<&PublishedView> = members.iter().map(|&view| &evidence.views[view]).collect();
    let of_two = Kernel::of_pairs(pairs.clone());
    match Parts::new(&views, evidence.impossible, pairs).kernel(evidence.limit) {
        Together::Exact(kernel) => (kernel, JoinCoverage::All),
        Together::Unassigned => (of_two, JoinCoverage::Unassigned),
        Together::TooLarge => (of_two, JoinCoverage::KernelOfTwo),
    }
}

/// What the joins of parts of the views are read off.
#[derive(Clone, Copy)]
struct Part<'a> {
    evidence: &'a JoinEvidence<'a>,
    pairs: &'a Pairs,
    /// Of each two views.
    kernel: Option<&'a Pairs>,
    /// Of three and more views.
    kernels: &'a FxHashMap<&'a [usize], (Kernel, JoinCoverage)>,
}

impl Part<'_> {
    fn read(self, requirement: &Requirement, members: &[usize]) -> RequirementReport {
        let nothing =
            || RequirementReport { raw: JoinReading::default(), kernel: None, coverage: JoinCoverage::NotAssessed };
        let (Some(of_two), true) = (self.kernel, self.pairs.is_small) else {
            return nothing();
        };
        let asked = restrict(requirement, members);
        let views = members.iter().map(|&view| &self.evidence.views[view]).collect();
        let join = Join { views, requirement: &asked, limit: self.evidence.limit };
        let kernel = || match self.kernels.get(members) {
            Some((kernel, coverage)) => Some((join.read(kernel)?, *coverage)),
            None => Some((join.read(&Kernel::of_pairs(of_two.only(members)))?, JoinCoverage::All)),
        };
        let raw = join.read(&Kernel::of_pairs(self.pairs.only(members)));
        match raw.and_then(|raw| Some((raw, kernel()?))) {
            Some((raw, (kernel, coverage))) => RequirementReport { raw, kernel: Some(kernel), coverage },
            _ if members.len() > 2 => self.read_pairs(requirement, members),
            _ => nothing(),
        }
    }

    /// The fall-back: every two views on their own, with the part of the requirement that concerns them.
    fn read_pairs(self, requirement: &Requirement, members: &[usize]) -> RequirementReport {
        let mut report = RequirementReport {
            raw: JoinReading::default(),
            kernel: Some(JoinReading::default()),
            coverage: JoinCoverage::PairsOnly,
        };
        for (at, &second) in members.iter().enumerate() {
            for &first in &members[..at] {
                let two = [first, second];
                if !requirement.y.iter().any(|at| two.contains(&at.view)) {
                    continue;
                }
                let part = self.read(requirement, &two);
                if part.coverage == JoinCoverage::NotAssessed {
                    report.coverage = JoinCoverage::NotAssessed;
                }
                report.raw = report.raw.and(part.raw);
                report.kernel = report.kernel.zip(part.kernel).map(|(all, part)| all.and(part));
            }
        }
        report
    }
}

/// The part of a requirement that concerns some of the views, renumbered.
fn restrict(requirement: &Requirement, members: &[usize]) -> Requirement {
    let renumber = |at: &ViewColumn| {
        let view = members.iter().position(|&member| member == at.view)?;
        Some(ViewColumn { view, ..*at })
    };
    let y: Vec<ViewColumn> = requirement.y.iter().filter_map(renumber).collect();
    let mut bound = requirement.bound.clone();
    if let Bound::Linkability { listed, .. } = &mut bound {
        for entry in listed {
            let kept = entry.values.iter().zip(&requirement.y).filter(|(_, at)| renumber(at).is_some());
            entry.values = kept.map(|(&span, _)| span).collect();
        }
    }
    Requirement { x: requirement.x.iter().filter_map(renumber).collect(), y, bound }
}
