//! What a value is divided into, and how much information that adds.
//!
//! A category is divided into the children of its node. A number is divided in two, between two neighbouring values
//! that occur, on a line of the public grid. The cut maximises the information about the class. Without a class, it
//! makes the halves as even as possible.

use crate::grouping::views::tree::{GeneralisedValue, WORTH_A_THREAD};
use crate::model::{Quasi, Span};
use rayon::prelude::*;

/// What one unit of gain counts, so that gains are integers.
pub(super) const UNIT: u64 = 1_000_000;

/// Codes, weights and classes by atom.
pub(super) struct Counts<'a> {
    pub(super) codes: &'a [u32],
    pub(super) weight: &'a [u64],
    /// Empty without a target.
    pub(super) target: &'a [u32],
    pub(super) classes: usize,
}

/// The values below `span`, left to right; empty if it cannot be divided.
pub(super) fn children(quasi: &Quasi, span: Span, atoms: &[u32], counts: &Counts<'_>) -> Vec<Span> {
    if atoms.is_empty() {
        return Vec::new();
    }
    match quasi.hierarchy() {
        Some(tree) => {
            let below = tree.children(span);
            if below.iter().all(|&child| quasi.admits(child)) { below } else { Vec::new() }
        }
        None => best_split(quasi, span, atoms, counts),
    }
}

/// The best way to divide a run of numbers in two.
fn best_split(quasi: &Quasi, span: Span, atoms: &[u32], counts: &Counts<'_>) -> Vec<Span> {
    let classes = counts.classes.max(1);
    let mut codes: Vec<(u32, u32, u64)> = atoms
        .iter()
        .map(|&atom| {
            let atom = atom as usize;
            (counts.codes[atom], counts.target.get(atom).copied().unwrap_or(0), counts.weight[atom])
        })
        .collect();
    if codes.len() < WORTH_A_THREAD {
        codes.sort_unstable_by_key(|entry| entry.0);
    } else {
        codes.par_sort_unstable_by_key(|entry| entry.0);
    }
    let mut right = vec![0u64; classes];
    codes.iter().for_each(|&(_, class, weight)| right[class as usize] += weight);
    let mut left = vec![0u64; classes];
    let mut best: Option<(u64, u32)> = None;
    let mut last = None;
    for same in codes.chunk_by(|a, b| a.0 == b.0) {
        if let Some(line) = last.and_then(|last| line_between(quasi, span, last, same[0].0)) {
            let merit = merit(&left, &right, counts.classes > 0);
            if best.is_none_or(|(most, _)| merit > most) {
                best = Some((merit, line));
            }
        }
        for &(_, class, weight) in same {
            left[class as usize] += weight;
            right[class as usize] -= weight;
        }
        last = Some(same[0].0);
    }
    best.map_or(Vec::new(), |(_, line)| vec![Span::new(span.lo, line - 1), Span::new(line, span.hi)])
}

/// A place to cut `span` between the codes `below` and `above`, as near to their middle as the grid allows.
fn line_between(quasi: &Quasi, span: Span, below: u32, above: u32) -> Option<u32> {
    let middle = below + (above - below).div_ceil(2);
    let fits = |line: u32| {
        below < line
            && line <= above
            && quasi.admits(Span::new(span.lo, line - 1))
            && quasi.admits(Span::new(line, span.hi))
    };
    if fits(middle) {
        return Some(middle);
    }
    let next = quasi.cover(Span::new(span.lo, middle - 1)).hi.saturating_add(1);
    let previous = quasi.cover(Span::exact(middle)).lo;
    // A missing value is separated from the numbers, or not at all.
    let missing = quasi.null().unwrap_or(u32::MAX);
    [next, previous, missing].into_iter().find(|&line| fits(line))
}

/// How good a cut is: the larger, the better.
fn merit(left: &[u64], right: &[u64], by_class: bool) -> u64 {
    if by_class {
        return u64::MAX / 2 - quantise(bits(left) + bits(right));
    }
    left.iter().sum::<u64>().min(right.iter().sum())
}

/// The reduction of the class entropy by dividing `value` (paper 004, equation 2).
pub(super) fn entropy_gain(value: &GeneralisedValue, atoms: &[u32], counts: &Counts<'_>) -> u64 {
    let mut parts = vec![vec![0u64; counts.classes]; value.children.len()];
    let mut whole = vec![0u64; counts.classes];
    for &atom in atoms {
        let (code, class) = (counts.codes[atom as usize], counts.target[atom as usize] as usize);
        parts[value.child(code)][class] += counts.weight[atom as usize];
        whole[class] += counts.weight[atom as usize];
    }
    let rows = whole.iter().sum::<u64>() as f64;
    let told = bits(&whole) - parts.iter().map(|part| bits(part)).sum::<f64>();
    quantise((told / rows).max(0.0))
}

/// The class entropy of some rows times their number.
pub(super) fn bits(counts: &[u64]) -> f64 {
    let rows = counts.iter().sum::<u64>();
    if rows == 0 {
        return 0.0;
    }
    let term = |&count: &u64| if count == 0 { 0.0 } else { count as f64 * (rows as f64 / count as f64).log2() };
    counts.iter().map(term).sum()
}

/// Gains are compared as integers, so that the last bits of a logarithm never decide.
fn quantise(gain: f64) -> u64 {
    (gain * UNIT as f64).round() as u64
}
