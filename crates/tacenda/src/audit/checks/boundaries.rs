//! Whether boundaries are the values of people (science D4.10, B11).
//!
//! A region that is as small as its people allow has a person on every side. From outside this shows in
//! boundaries that lie on no grid: for a declared grid, on none of its lines; without one, on no common
//! multiple of five codes. With people known, the sides that some covered person stands on are counted.

use crate::audit::checks::Ask;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::{Domain, Grid, Quasi, Release};

/// The pitch that boundaries are held against where none is declared.
const PITCH: u32 = 5;

/// Fewer different boundaries say nothing.
const LEAST_LINES: usize = 6;

/// A witness names so many groups at most.
const SHOWN_GROUPS: usize = 8;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let is_number = |attribute: &usize| !matches!(ask.series.schema.quasi[*attribute].domain, Domain::Category(_));
    let numbers: Vec<usize> = (0..ask.series.schema.quasi.len()).filter(is_number).collect();
    if numbers.is_empty() {
        return Outcome::not_applicable(Check::Boundaries, Reason::NoNumbers);
    }
    let mut outcome = Outcome::new(Check::Boundaries, Coverage { what: "boundaries", ..Coverage::default() });
    for (place, release) in ask.releases() {
        let traces = &ask.series.traces[place as usize];
        let (mut all, mut off) = (0u64, 0u64);
        let mut worst: Option<(u64, u64, usize)> = None;
        for &attribute in numbers.iter().filter(|&&at| traces.columns.get(at).copied().unwrap_or(true)) {
            let quasi = &ask.series.schema.quasi[attribute];
            let lines = lines(release, quasi, attribute);
            let out = off_grid(quasi, &lines);
            all += lines.len() as u64;
            off += out;
            let is_tight = lines.len() >= LEAST_LINES && out * 2 > lines.len() as u64;
            if is_tight && worst.is_none_or(|worst| out > worst.0) {
                worst = Some((out, lines.len() as u64, attribute));
            }
        }
        outcome.coverage.of += all;
        outcome.coverage.looked_at += all;
        outcome.measure(Some(release.number), Quantity::Boundaries, all as f64);
        outcome.measure(Some(release.number), Quantity::ShareOffGrid, off as f64 / all.max(1) as f64);
        if let Some(share) = attained(ask, place, release, &numbers) {
            outcome.measure(Some(release.number), Quantity::ShareAttained, share);
        }
        if let Some((out, lines, attribute)) = worst {
            outcome.found([Finding {
                fault: Fault::TightBoundaries,
                release: release.number,
                people: release.row_count() as u64 - release.counterfeit_count(),
                groups: release.group_count() as u64,
                example: None,
                others: Vec::new(),
                witness: Some(Witness {
                    attribute: Some(attribute as u32),
                    ..Witness::new(
                        Statement::OffGrid { declared: ask.series.schema.quasi[attribute].grid != Grid::Free },
                        bounded(release, &ask.series.schema.quasi[attribute], attribute, place),
                        out,
                        lines,
                    )
                }),
            }]);
        }
    }
    outcome
}

/// The different boundaries of an attribute inside its domain, ascending.
fn lines(release: &Release, quasi: &Quasi, attribute: usize) -> Vec<u32> {
    let root = quasi.root();
    let null = quasi.null();
    let spans = (0..release.group_count()).map(|group| release.region(group)[attribute]);
    let spans = spans.filter(|span| *span != root && Some(span.lo) != null);
    let mut lines: Vec<u32> = spans.flat_map(|span| [span.lo, span.hi + 1]).collect();
    lines.sort_unstable();
    lines.dedup();
    let end = null.unwrap_or(root.hi + 1);
    lines.retain(|&line| line > 0 && line < end);
    lines
}

/// The groups that have a boundary there, the first of them.
fn bounded(release: &Release, quasi: &Quasi, attribute: usize, place: u32) -> Vec<(u32, u32)> {
    let lines = lines(release, quasi, attribute);
    let is_bounded = |group: &u32| {
        let span = release.region(*group as usize)[attribute];
        span != quasi.root() && (lines.binary_search(&span.lo).is_ok() || lines.binary_search(&(span.hi + 1)).is_ok())
    };
    let groups = (0..release.group_count() as u32).filter(is_bounded).take(SHOWN_GROUPS);
    groups.map(|group| (place, group)).collect()
}

fn off_grid(quasi: &Quasi, lines: &[u32]) -> u64 {
    let on = match &quasi.grid {
        Grid::Every { pitch, phase } => lines.iter().filter(|&&line| line % pitch == phase % pitch).count(),
        Grid::Lines(grid) => lines.iter().filter(|line| grid.binary_search(line).is_ok()).count(),
        Grid::Free => {
            let with = |rest: u32| lines.iter().filter(|&&line| line % PITCH == rest).count();
            (0..PITCH).map(with).max().unwrap_or(0)
        }
    };
    (lines.len() - on) as u64
}

/// The share of sides inside the domain that some person of the release stands on; `None` where people
/// are not known.
fn attained(ask: &Ask<'_>, place: u32, release: &Release, numbers: &[usize]) -> Option<f64> {
    let knowledge = ask.series.knowledge?;
    let mut codes: Vec<Vec<bool>> =
        numbers.iter().map(|&at| vec![false; ask.series.schema.quasi[at].size() as usize]).collect();
    let mut point = vec![0; knowledge.attributes()];
    for (row, &person) in knowledge.people(place as usize).iter().enumerate() {
        if person == crate::audit::knowledge::Knowledge::ABSENT {
            continue;
        }
        knowledge.read_point(place as usize, row, &mut point);
        for (seen, &at) in codes.iter_mut().zip(numbers) {
            seen[point[at] as usize] = true;
        }
    }
    let (mut sides, mut met) = (0u64, 0u64);
    for group in 0..release.group_count() {
        for (seen, &at) in codes.iter().zip(numbers) {
            let (span, root) = (release.region(group)[at], ask.series.schema.quasi[at].root());
            if span == root {
                continue;
            }
            sides += 2;
            met += u64::from(seen[span.lo as usize]) + u64::from(seen[span.hi as usize]);
        }
    }
    Some(met as f64 / sides.max(1) as f64)
}
