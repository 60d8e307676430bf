//! The loop: divide the best valid value until none is left.
//!
//! If the most general state breaks a requirement and the corrected theorem does not apply, other cuts may still keep
//! it. A bounded search opens the most promising ones first.

use crate::grouping::views::check::{JoinCheck, Standing};
use crate::grouping::views::tree::Tree;
use crate::grouping::views::worst::Worst;
use crate::grouping::views::{JoinMeasure, Options, TrailStep, ViewsError};
use crate::model::{Bound, Requirement, Span};
use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeSet, BinaryHeap};

/// A state of the new view with all that is known of it.
#[derive(Clone)]
pub(super) struct Engine {
    pub(super) tree: Tree,
    pub(super) checks: Vec<JoinCheck>,
    pub(super) trail: Vec<TrailStep>,
}

/// A division that keeps every requirement, and its score.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    value: usize,
    gain: u64,
    /// Privacy lost plus one, in millionths.
    price: u128,
}

/// How many millionths a unit of privacy has.
const MILLION: u128 = 1_000_000;

/// Specialises as far as possible, from the most general state or the first valid one found.
pub(super) fn run(mut engine: Engine, options: &Options, requirements: &[Requirement]) -> Result<Engine, ViewsError> {
    let standings = engine.standings();
    let broken = engine.checks.iter().zip(&standings).filter(|(_, standing)| !standing.now.holds);
    // A requirement that no other cut can satisfy is reported first.
    if let Some((check, standing)) = broken.max_by_key(|(check, _)| check.is_monotone) {
        let (requirement, measure) = (check.requirement + 1, check.measure(standing.now));
        if check.is_monotone {
            let way_out = way_out(&requirements[check.requirement]);
            return Err(ViewsError::Unmeetable { requirement, measure, way_out });
        }
        let (found, states) = search(&engine, options.search);
        engine = found.ok_or(ViewsError::NoneFound { requirement, measure, states })?;
    }
    engine.specialise();
    Ok(engine)
}

fn way_out(requirement: &Requirement) -> &'static str {
    if requirement.y.iter().all(|at| at.view > 0) {
        "Y is in an earlier view, which is already published; lower the requirement, or take its columns out of X"
    } else {
        "lower the requirement, or take columns out of X"
    }
}

impl JoinCheck {
    /// A worst case, as the measure of its requirement.
    pub(super) fn measure(&self, worst: Worst) -> JoinMeasure {
        match self.matcher.bound {
            Bound::Anonymity { .. } => JoinMeasure::Anonymity { least: worst.least() },
            Bound::Linkability { .. } | Bound::OneIn { .. } => JoinMeasure::Linkability { largest_ppm: worst.cost },
        }
    }

    /// How much worse `after` is than `now`, in millionths of a value or of a share.
    fn loss(&self, now: Worst, after: Worst) -> u128 {
        let lost = u128::from(after.cost.saturating_sub(now.cost));
        match self.matcher.bound {
            Bound::Anonymity { .. } => lost * MILLION,
            Bound::Linkability { .. } | Bound::OneIn { .. } => lost,
        }
    }
}

impl Engine {
    /// How every check fares.
    pub(super) fn standings(&mut self) -> Vec<Standing> {
        self.checks.iter_mut().map(|check| check.standing(&self.tree)).collect()
    }

    /// Divides a value everywhere.
    pub(super) fn divide(&mut self, value: usize) {
        let of = &self.tree.values[value];
        let column = self.tree.attributes[of.attribute].column;
        self.trail.push(TrailStep { column, span: of.span, into: of.children.clone() });
        let divided = self.tree.divide(value);
        for check in &mut self.checks {
            check.follow(&self.tree, value, &divided);
        }
    }

    /// Divides the best valid value until none is left.
    fn specialise(&mut self) {
        while let Some(winner) = self.winner() {
            self.divide(winner);
        }
    }

    /// The valid value with the best score. Values that can never become valid again are marked.
    fn winner(&mut self) -> Option<usize> {
        let standings = self.standings();
        let mut best: Option<Candidate> = None;
        for value in 0..self.tree.values.len() {
            if !self.tree.values[value].is_candidate() {
                continue;
            }
            let broken = self.checks.iter().zip(&standings).filter(|(_, standing)| !standing.after[value].holds);
            let (mut valid, mut dead) = (true, false);
            for (check, _) in broken {
                valid = false;
                dead |= check.is_monotone;
            }
            self.tree.values[value].is_dead = dead;
            if !valid {
                continue;
            }
            let loss = |(check, standing): (&JoinCheck, &Standing)| check.loss(standing.now, standing.after[value]);
            let price = MILLION + self.checks.iter().zip(&standings).map(loss).sum::<u128>();
            let candidate = Candidate { value, gain: self.tree.gain(value), price };
            if best.is_none_or(|best| self.is_better(candidate, best)) {
                best = Some(candidate);
            }
        }
        best.map(|candidate| candidate.value)
    }

    /// Score = information gain / (privacy loss + 1); then gain, then the order of attributes and values.
    fn is_better(&self, candidate: Candidate, best: Candidate) -> bool {
        let score = (u128::from(candidate.gain) * best.price).cmp(&(u128::from(best.gain) * candidate.price));
        let place = |candidate: Candidate| {
            let value = &self.tree.values[candidate.value];
            (value.attribute, value.span)
        };
        let order = score.then(candidate.gain.cmp(&best.gain)).then_with(|| place(best).cmp(&place(candidate)));
        order == Ordering::Greater
    }
}

/// The values that were divided on the way to a state: attribute and span.
type Path = Vec<(usize, Span)>;

/// How far a state is from keeping its requirements: the number of broken ones, then by how many millionths.
type Distance = (usize, u128);

/// Opens states in the order of their distance until one keeps all requirements. Also returns how many were opened.
fn search(root: &Engine, limit: usize) -> (Option<Engine>, usize) {
    let mut seen: BTreeSet<Path> = BTreeSet::new();
    let mut queue: BinaryHeap<Reverse<(Distance, Path)>> = BinaryHeap::new();
    queue.push(Reverse(((0, 0), Vec::new())));
    let mut opened = 0;
    while let Some(Reverse((_, path))) = queue.pop() {
        if opened == limit {
            break;
        }
        opened += 1;
        let mut state = root.replay(&path);
        let standings = state.standings();
        for value in (0..state.tree.values.len()).filter(|&value| state.tree.values[value].is_candidate()) {
            let worsts: Vec<Worst> = standings.iter().map(|standing| standing.after[value]).collect();
            if worsts.iter().all(|worst| worst.holds) {
                let mut found = state;
                found.divide(value);
                return (Some(found), opened);
            }
            let mut next = path.clone();
            next.push((state.tree.values[value].attribute, state.tree.values[value].span));
            // The same divisions in another order lead to the same state.
            let mut key = next.clone();
            key.sort_unstable();
            if seen.insert(key) {
                queue.push(Reverse((state.distance(&worsts), next)));
            }
        }
    }
    (None, opened)
}

impl Engine {
    fn replay(&self, path: &[(usize, Span)]) -> Engine {
        let mut state = self.clone();
        for &(attribute, span) in path {
            let value = state.tree.find(attribute, span).expect("the path was walked before");
            state.divide(value);
        }
        state
    }

    fn distance(&self, worsts: &[Worst]) -> Distance {
        let broken = worsts.iter().filter(|worst| !worst.holds).count();
        let far = |(check, worst): (&JoinCheck, &Worst)| match check.matcher.bound {
            _ if worst.holds => 0,
            Bound::Anonymity { k } => {
                let least = worst.least().unwrap_or(u64::MAX);
                u128::from(k.saturating_sub(least)) * MILLION / u128::from(k.max(1))
            }
            Bound::Linkability { .. } | Bound::OneIn { .. } => u128::from(worst.cost),
        };
        (broken, self.checks.iter().zip(worsts).map(far).sum())
    }
}
