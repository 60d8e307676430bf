//! Whether group names link releases (SCIENCE D4.10).
//!
//! Names that are numbered anew in each release, in the order of the groups, say nothing. Other names that
//! occur in two releases are suspect; they link if groups of one name lie over each other far more often
//! than groups of different names do.

use crate::audit::Check;
use crate::audit::Coverage;
use crate::audit::Fault;
use crate::audit::Finding;
use crate::audit::Outcome;
use crate::audit::Witness;
use crate::audit::checks::Ask;
use crate::audit::checks::pairs;
use crate::audit::stab::overlaps;
use std::collections::BTreeMap;

/// Fewer names in common say nothing.
const LEAST_NAMES: usize = 3;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let named = |place: u32| !ask.series.traces[place as usize].group_names.is_empty();
    let pairs: Vec<(u32, u32)> = pairs::pairs(ask).into_iter().filter(|&(a, b)| named(a) && named(b)).collect();
    if pairs.is_empty() {
        return Outcome::not_applicable(Check::GroupNames, "no two releases name their groups");
    }
    let mut outcome = Outcome::new(Check::GroupNames, Coverage { what: "names in common", ..Coverage::default() });
    for (earlier, later) in pairs {
        let (old, new) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        let names = |place: u32| &ask.series.traces[place as usize].group_names;
        if is_fresh(names(earlier)) && is_fresh(names(later)) {
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
        // As many pairs of different names, for comparison.
        let other = (0..count).filter(|&at| lies_over(shared[at].1, shared[(at + 1) % count].2)).count();
        outcome.measure(Some(new.number), "names in common", count as f64);
        outcome.measure(Some(new.number), "of them over each other", same as f64);
        if count < LEAST_NAMES || same * 10 < count * 9 || other * 2 > same {
            continue;
        }
        let (_, a, b) = shared[0];
        outcome = outcome.found(Finding {
            fault: Fault::StableNames,
            release: new.number,
            people: shared.iter().map(|&(_, _, b)| u64::from(new.people(b))).sum(),
            groups: count as u64,
            example: Some(b as u32 + 1),
            others: vec![old.number],
            witness: Some(Witness {
                claim: "of the names that groups have in both releases, the line, the number stand for groups that overlap; the \
                        groups given are one such pair",
                groups: vec![(earlier, a as u32), (later, b as u32)],
                values: Vec::new(),
                person: None,
                number: same as u64,
                line: count as u64,
            }),
        });
    }
    outcome
}

/// Whether names are 0, 1, 2… or 1, 2, 3… in the order of the groups: made anew each time.
fn is_fresh(names: &[Box<str>]) -> bool {
    [0, 1].into_iter().any(|first| names.iter().zip(first..).all(|(name, number)| name.parse() == Ok(number as u64)))
}
