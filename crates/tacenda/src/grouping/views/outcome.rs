//! The result: the cuts, the steps that led to them, and how to take steps back.

use crate::grouping::views::Task;
use crate::grouping::views::search::Engine;
use crate::model::{Cuts, PublishedView, Span, counted};
use std::fmt;

/// The new view, as far as it may be specialised.
#[derive(Clone, Debug, PartialEq)]
pub struct Specialised {
    /// Per column of the view, the spans it is published with; `None` if it is published as it is.
    pub cuts: Cuts,
    /// The divisions, in order.
    pub trail: Vec<TrailStep>,
    /// Per requirement, what it reaches on the join.
    pub measures: Vec<JoinMeasure>,
    /// What the reader should know.
    pub warnings: Vec<Warning>,
}

/// One division.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TrailStep {
    /// The column of the view.
    pub column: usize,
    /// What was divided.
    pub span: Span,
    /// Into what.
    pub into: Vec<Span>,
}

/// What a requirement reaches.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum JoinMeasure {
    /// The least number of Y values of a combination of X; `None` if the join is empty.
    Anonymity {
        /// The number.
        least: Option<u64>,
    },
    /// The largest share of a sensitive Y value, in millionths, rounded up.
    Linkability {
        /// The share.
        largest_ppm: u64,
    },
}

/// What the reader of an outcome should know.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Warning {
    /// The join of the earlier views was too large: each was joined with the new view alone.
    PairsOnly {
        /// Which requirement, counted from 1.
        requirement: usize,
        /// How many lines were allowed.
        lines: usize,
    },
    /// Steps were taken back so that the finished view passes.
    SteppedBack {
        /// How many.
        steps: usize,
    },
}

impl Specialised {
    pub(super) fn new(task: &Task<'_>, engine: &mut Engine, warnings: Vec<Warning>) -> Specialised {
        let standings = engine.standings();
        let measure = |requirement: usize| {
            let own = engine.checks.iter().zip(&standings).filter(|(check, _)| check.requirement == requirement);
            own.max_by_key(|(_, standing)| standing.now.cost).map(|(check, standing)| check.measure(standing.now))
        };
        Specialised {
            cuts: engine.tree.cuts(task.view.columns.len()),
            trail: engine.trail.clone(),
            measures: (0..task.requirements.len()).filter_map(measure).collect(),
            warnings,
        }
    }

    /// The view with these cuts.
    pub fn publish(&self, task: &Task<'_>) -> PublishedView {
        PublishedView::recode(task.view, task.rows, &self.cuts)
    }

    /// The cuts before the last `steps` divisions.
    ///
    /// # Panics
    /// If there were fewer.
    pub fn cuts_before(&self, steps: usize) -> Cuts {
        let mut cuts = self.cuts.clone();
        for step in self.trail[self.trail.len() - steps..].iter().rev() {
            let spans = cuts[step.column].as_mut().expect("a divided column has a cut");
            spans.retain(|span| !span.subset(step.span));
            let at = spans.partition_point(|span| *span < step.span);
            spans.insert(at, step.span);
        }
        cuts
    }

    /// Takes back the latest divisions until the cuts pass, and returns how many. If even the first state does not
    /// pass, it returns `None` and changes nothing.
    ///
    /// Steps double until a state passes; then the interval is halved. So few states are tried, and the one that is
    /// kept has passed. The measures are not updated; the auditor measures again.
    pub fn back_off(&mut self, mut passes: impl FnMut(&Cuts) -> bool) -> Option<usize> {
        if passes(&self.cuts) {
            return Some(0);
        }
        let all = self.trail.len();
        let (mut failed, mut step) = (0, 1);
        let mut passed = loop {
            let steps = (failed + step).min(all);
            if steps == failed {
                return None;
            }
            if passes(&self.cuts_before(steps)) {
                break steps;
            }
            (failed, step) = (steps, step * 2);
        };
        while passed - failed > 1 {
            let middle = failed + (passed - failed) / 2;
            if passes(&self.cuts_before(middle)) {
                passed = middle;
            } else {
                failed = middle;
            }
        }
        self.cuts = self.cuts_before(passed);
        self.trail.truncate(all - passed);
        self.warnings.push(Warning::SteppedBack { steps: passed });
        Some(passed)
    }
}

impl fmt::Display for JoinMeasure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            JoinMeasure::Anonymity { least: Some(least) } => write!(out, "{least} values"),
            JoinMeasure::Anonymity { least: None } => write!(out, "an empty join"),
            JoinMeasure::Linkability { largest_ppm } => {
                write!(out, "a share of {:.1} %", *largest_ppm as f64 / 10_000.0)
            }
        }
    }
}

impl Warning {
    /// The same with requirements numbered by `number`: several may stand for one promise.
    pub fn numbered(mut self, number: impl Fn(usize) -> usize) -> Warning {
        if let Warning::PairsOnly { requirement, .. } = &mut self {
            *requirement = number(*requirement);
        }
        self
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::PairsOnly { requirement, lines } => write!(
                out,
                "requirement {requirement}: the earlier views join to more than {lines} lines; each was joined with the new \
                 view alone, and what someone learns from three views at once was not examined"
            ),
            Warning::SteppedBack { steps } => {
                let steps = counted(*steps as u64, "specialisation was", "specialisations were");
                write!(out, "{steps} taken back because the finished view did not pass the audit")
            }
        }
    }
}
