//! Whether boundaries are the values of people (science D4.10, B11).
//!
//! A region that is as small as its people allow has a person on every side. Then "is in this region, and has its
//! highest age" often fits exactly one person. That singles somebody out, even if nobody is known (Cohen 2022).
//!
//! If people are known, two shares are compared: how many ends of regions fit exactly one person, and how many values
//! inside the same regions do. Ends that isolate no more often than other values, such as those of a grid, are not
//! reported. If people are not known, boundaries that lie on no grid are counted. With a declared grid, these are
//! boundaries on none of its lines. Without one, a grid of every fifth code is tried. A value that is published as it
//! is has no boundaries.

use crate::audit::checks::Ask;
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::{Domain, Grid, Quasi, Release};
use crate::space::stab::Stab;
use rustc_hash::FxHashMap;

/// The pitch of the grid that is tried if none is declared.
const PITCH: u32 = 5;

/// With fewer different boundaries nothing is concluded.
const LEAST_LINES: usize = 6;

/// With fewer ends nothing is concluded.
const LEAST_ENDS: u64 = 20;

/// By how much the share of ends that fit one person must exceed the share of other values that do.
const MORE_OFTEN: f64 = 0.1;

/// The most groups that a witness names.
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
        let finding = |people: u64, groups: u64, witness: Witness| Finding {
            fault: Fault::TightBoundaries,
            release: release.number,
            people,
            groups,
            example: None,
            others: Vec::new(),
            witness: Some(witness),
        };
        if let Some(ends) = Ends::of(ask, place, release, &numbers) {
            outcome.measure(Some(release.number), Quantity::ShareOfEndsIsolating, ends.share());
            outcome.measure(Some(release.number), Quantity::ShareOfValuesIsolating, ends.others());
            if ends.all >= LEAST_ENDS && ends.share() > ends.others() + MORE_OFTEN {
                let groups: Vec<(u32, u32)> =
                    ends.groups.iter().take(SHOWN_GROUPS).map(|&group| (place, group)).collect();
                let witness = Witness::new(Statement::EndsIsolate, groups, ends.isolating, ends.all);
                outcome.found([finding(ends.isolating, ends.groups.len() as u64, witness)]);
            }
        } else if let Some((out, lines, attribute)) = worst {
            let witness = Witness {
                attribute: Some(attribute as u32),
                ..Witness::new(
                    Statement::OffGrid { declared: ask.series.schema.quasi[attribute].grid != Grid::Free },
                    bounded(release, &ask.series.schema.quasi[attribute], attribute, place),
                    out,
                    lines,
                )
            };
            let people = release.row_count() as u64 - release.counterfeit_count();
            outcome.found([finding(people, release.group_count() as u64, witness)]);
        }
    }
    outcome
}

/// The different boundaries of an attribute inside its domain, ascending.
fn lines(release: &Release, quasi: &Quasi, attribute: usize) -> Vec<u32> {
    let root = quasi.root();
    let null = quasi.null();
    let spans = (0..release.group_count()).map(|group| release.region(group)[attribute]);
    let spans = spans.filter(|span| *span != root && span.lo < span.hi && Some(span.lo) != null);
    let mut lines: Vec<u32> = spans.flat_map(|span| [span.lo, span.hi + 1]).collect();
    lines.sort_unstable();
    lines.dedup();
    let end = null.unwrap_or(root.hi + 1);
    lines.retain(|&line| line > 0 && line < end);
    lines
}

/// The first groups that have a boundary of this attribute inside the domain.
fn bounded(release: &Release, quasi: &Quasi, attribute: usize, place: u32) -> Vec<(u32, u32)> {
    let lines = lines(release, quasi, attribute);
    let is_bounded = |group: &u32| {
        let span = release.region(*group as usize)[attribute];
        span != quasi.root()
            && span.lo < span.hi
            && (lines.binary_search(&span.lo).is_ok() || lines.binary_search(&(span.hi + 1)).is_ok())
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

/// The share of boundaries inside the domain that are the value of some person of the release; `None` if people are not
/// known.
fn attained(ask: &Ask<'_>, place: u32, release: &Release, numbers: &[usize]) -> Option<f64> {
    let knowledge = ask.series.knowledge?;
    let mut codes: Vec<Vec<bool>> =
        numbers.iter().map(|&at| vec![false; ask.series.schema.quasi[at].size() as usize]).collect();
    let mut point = vec![0; knowledge.attributes()];
    for (row, &person) in knowledge.people(place as usize).iter().enumerate() {
        if person == Knowledge::ABSENT {
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

/// How often an end of a region fits one person.
#[derive(Default)]
struct Ends {
    all: u64,
    isolating: u64,
    /// The same for the values inside the regions.
    values: u64,
    isolating_values: u64,
    /// Groups with an end that fits one person, ascending.
    groups: Vec<u32>,
}

impl Ends {
    /// Counts the ends; `None` if people are not known.
    fn of(ask: &Ask<'_>, place: u32, release: &Release, numbers: &[usize]) -> Option<Ends> {
        let knowledge = ask.series.knowledge?;
        let index = Stab::new(release, release.values.len());
        // Per group and attribute, how many people of its region have each value.
        let mut counts: FxHashMap<(u32, usize, u32), u32> = FxHashMap::default();
        let mut point = vec![0; knowledge.attributes()];
        for (row, &person) in knowledge.people(place as usize).iter().enumerate() {
            if person == Knowledge::ABSENT {
                continue;
            }
            knowledge.read_point(place as usize, row, &mut point);
            index.each(&point, |group| {
                for &at in numbers {
                    *counts.entry((group, at, point[at])).or_default() += 1;
                }
            });
        }
        let mut alone: FxHashMap<(u32, usize), u64> = FxHashMap::default();
        for (&(group, at, _), _) in counts.iter().filter(|(_, count)| **count == 1) {
            *alone.entry((group, at)).or_default() += 1;
        }
        let mut ends = Ends::default();
        for group in 0..release.group_count() as u32 {
            let before = ends.isolating;
            for &at in numbers {
                let (span, quasi) = (release.region(group as usize)[at], &ask.series.schema.quasi[at]);
                if span == quasi.root() || span.lo == span.hi {
                    continue;
                }
                let is_alone = |code: u32| u64::from(counts.get(&(group, at, code)) == Some(&1));
                ends.all += 2;
                ends.isolating += is_alone(span.lo) + is_alone(span.hi);
                ends.values += u64::from(span.hi - span.lo) + 1;
                ends.isolating_values += alone.get(&(group, at)).copied().unwrap_or(0);
            }
            if ends.isolating > before {
                ends.groups.push(group);
            }
        }
        Some(ends)
    }

    fn share(&self) -> f64 {
        self.isolating as f64 / self.all.max(1) as f64
    }

    fn others(&self) -> f64 {
        self.isolating_values as f64 / self.values.max(1) as f64
    }
}
