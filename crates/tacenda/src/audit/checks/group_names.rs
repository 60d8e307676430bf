//! Whether group names link releases (science D4.10).
//!
//! Names that number the groups in the order of their regions say nothing that the regions do not say. Other names that
//! occur in two releases are suspect, also numbers from 1 on. They link releases if groups of the same name overlap far
//! more often than groups of different names.

use crate::audit::checks::Ask;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::Release;
use crate::space::stab::overlaps;
use std::collections::BTreeMap;

/// With fewer names in common nothing is concluded.
const LEAST_NAMES: usize = 3;

/// With fewer numbers from 1 on nothing is concluded.
const LEAST_NUMBERS: usize = 7;

/// With how many other groups each group is compared.
const SHIFTS: usize = 64;

/// The logarithm of how unlikely it must be that random numbers agree so often: one in a hundred thousand.
const UNLIKELY: f64 = 11.5;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let named = |place: u32| !ask.series.traces[place as usize].group_names.is_empty();
    let pairs: Vec<(u32, u32)> = ask.pairs.iter().copied().filter(|&(a, b)| named(a) && named(b)).collect();
    if pairs.is_empty() {
        return Outcome::not_applicable(Check::GroupNames, Reason::NoGroupNames);
    }
    let mut outcome = Outcome::new(Check::GroupNames, Coverage { what: "names in common", ..Coverage::default() });
    for (earlier, later) in pairs {
        let (old, new) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        let names = |place: u32| &ask.series.traces[place as usize].group_names;
        if is_fresh(old, names(earlier)) && is_fresh(new, names(later)) {
            continue;
        }
        let by_name: BTreeMap<&str, usize> =
            names(earlier).iter().enumerate().map(|(at, name)| (&**name, at)).collect();
        let mut shared: Vec<(&str, usize, usize)> = names(later)
            .iter()
            .enumerate()
            .filter_map(|(at, name)| Some((&**name, *by_name.get(&**name)?, at)))
            .collect();
        shared.sort_unstable();
        shared.dedup_by_key(|entry| entry.0);
        let count = shared.len();
        outcome.coverage.of += count as u64;
        outcome.coverage.looked_at += count as u64;
        let lies_over = |a: usize, b: usize| overlaps(old.region(a), new.region(b));
        let same = shared.iter().filter(|&&(_, a, b)| lies_over(a, b)).count();
        // For comparison: as many pairs of groups with different names.
        let other = (0..count).filter(|&at| lies_over(shared[at].1, shared[(at + 1) % count].2)).count();
        outcome.measure(Some(new.number), Quantity::NamesInCommon, count as f64);
        outcome.measure(Some(new.number), Quantity::NamesOverlapping, same as f64);
        let are_numbers = are_numbers(names(earlier)).is_some() && are_numbers(names(later)).is_some();
        let least = if are_numbers { LEAST_NUMBERS } else { LEAST_NAMES };
        if count < least || same * 10 < count * 9 || other * 2 > same {
            continue;
        }
        if are_numbers && surprise(same, count, chance(&shared, lies_over)) < UNLIKELY {
            continue;
        }
        let (_, a, b) = shared[0];
        outcome.found([Finding {
            fault: Fault::StableNames,
            release: new.number,
            people: shared.iter().map(|&(_, _, b)| u64::from(new.people(b))).sum(),
            groups: count as u64,
            example: Some(b as u32 + 1),
            others: vec![old.number],
            witness: Some(Witness::new(
                Statement::StableNames,
                vec![(earlier, a as u32), (later, b as u32)],
                same as u64,
                count as u64,
            )),
        }]);
    }
    outcome
}

/// How often two groups overlap regardless of their names.
fn chance(shared: &[(&str, usize, usize)], lies_over: impl Fn(usize, usize) -> bool) -> f64 {
    // Every group is compared with some others, spread over all of them.
    let count = shared.len();
    let apart: Vec<usize> = (0..count.min(SHIFTS)).map(|shift| shift * count / count.min(SHIFTS)).collect();
    let over = (0..count).flat_map(|at| apart.iter().map(move |shift| (at, (at + shift) % count)));
    over.filter(|&(a, b)| lies_over(shared[a].1, shared[b].2)).count() as f64 / (count * apart.len()) as f64
}

/// The logarithm of a bound on how unlikely it is that at least `same` of `count` agree by chance.
fn surprise(same: usize, count: usize, chance: f64) -> f64 {
    let share = same as f64 / count as f64;
    if share <= chance {
        return 0.0;
    }
    let part = |share: f64, chance: f64| if share > 0.0 { share * (share / chance).ln() } else { 0.0 };
    count as f64 * (part(share, chance) + part(1.0 - share, 1.0 - chance))
}

/// Whether names are 0, 1, 2… or 1, 2, 3… in an order that anyone can derive from the regions alone. The order of the
/// file proves nothing, because the file may be sorted by the names.
fn is_fresh(release: &Release, names: &[Box<str>]) -> bool {
    let Some(numbered) = are_numbers(names) else { return false };
    // The order may begin with any column; the others follow in their order.
    let attributes = release.regions.attributes();
    (0..attributes.max(1)).any(|first| {
        let ends = |group: usize, at: usize| release.region(group).get(at).map_or((0, 0), |span| (span.lo, span.hi));
        let by = |group: usize| -> Vec<(u32, u32)> {
            std::iter::once(first).chain(0..attributes).map(|at| ends(group, at)).collect()
        };
        numbered.is_sorted_by_key(|&(_, group)| by(group))
    })
}

/// The groups by their numbers, if these are 0, 1, 2… or 1, 2, 3… in some order.
fn are_numbers(names: &[Box<str>]) -> Option<Vec<(u64, usize)>> {
    let numbers: Option<Vec<u64>> = names.iter().map(|name| name.parse().ok()).collect();
    let mut numbered: Vec<(u64, usize)> = numbers?.into_iter().zip(0..).collect();
    numbered.sort_unstable();
    let first = numbered.first().map_or(0, |entry| entry.0);
    (first <= 1 && numbered.iter().zip(first..).all(|(entry, number)| entry.0 == number)).then_some(numbered)
}
