//! The join, row by row, as one would explain it on paper. For tests and for worked examples.

use crate::audit::join::JoinReading;
use crate::audit::join::pairs::is_match;
use crate::model::{Bound, Impossible, PublishedView, Requirement, Span, ViewColumn};
use std::collections::{BTreeMap, BTreeSet};

/// Every choice of one row per view in which all pairs can be one person.
pub fn materialise(views: &[PublishedView], impossible: &[Impossible]) -> Vec<Vec<usize>> {
    let mut joined: Vec<Vec<usize>> = vec![Vec::new()];
    for (view, published) in views.iter().enumerate() {
        let mut longer = Vec::new();
        for chosen in &joined {
            for row in 0..published.len() {
                if (0..view).all(|other| is_match(&views[other], chosen[other], published, row, impossible)) {
                    longer.push(chosen.iter().copied().chain([row]).collect());
                }
            }
        }
        joined = longer;
    }
    joined
}

/// Reads a requirement off joined rows that are listed one by one. They may be any selection of the join.
pub fn read_naively(views: &[PublishedView], joined: &[Vec<usize>], requirement: &Requirement) -> JoinReading {
    let cell = |chosen: &[usize], at: &ViewColumn| match at.column {
        Some(column) => views[at.view].column(column).span(chosen[at.view]),
        // The key of a view: a span that no other row has.
        None => Span { lo: u32::MAX, hi: chosen[at.view] as u32 },
    };
    let mut by_x: BTreeMap<Vec<Span>, BTreeMap<Vec<Span>, u128>> = BTreeMap::new();
    let mut people: BTreeMap<Vec<Span>, BTreeSet<usize>> = BTreeMap::new();
    for chosen in joined {
        let x: Vec<Span> = requirement.x.iter().map(|at| cell(chosen, at)).collect();
        let y: Vec<Span> = requirement.y.iter().map(|at| cell(chosen, at)).collect();
        *by_x.entry(x.clone()).or_default().entry(y).or_default() += 1;
        people.entry(x).or_default().insert(chosen[0]);
    }
    let mut reading =
        JoinReading { rows: joined.len() as u128, combinations: by_x.len() as u64, ..JoinReading::default() };
    let mut broken_people: BTreeSet<usize> = BTreeSet::new();
    for (x, values) in &by_x {
        let rows: u128 = values.values().sum();
        let holds = match &requirement.bound {
            Bound::Anonymity { k } => {
                let distinct = values.len() as u64;
                reading.least = Some(reading.least.map_or(distinct, |least| least.min(distinct)));
                distinct >= *k
            }
            bound => values.iter().fold(true, |holds, (y, &count)| {
                let entry = |at: usize| if requirement.y[at].column.is_none() { Span::EMPTY } else { y[at] };
                let Some((most, of)) = bound.line(entry) else { return holds };
                let ppm = (count * 1_000_000).div_ceil(rows) as u64;
                reading.largest_ppm = reading.largest_ppm.max(Some(ppm));
                holds && count * u128::from(of) <= rows * u128::from(most)
            }),
        };
        if !holds {
            reading.holds = false;
            reading.broken += 1;
            broken_people.extend(&people[x]);
        }
    }
    reading.people = broken_people.len() as u64;
    reading
}
