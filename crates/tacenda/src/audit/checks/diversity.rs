//! How many values each group holds: distinct, entropy, recursive (science D4.1).
//!
//! Distinct values are judged. Entropy and recursive diversity are measured. Entropy is given as the number of equally
//! frequent values with the same entropy. Recursive diversity is given as the ratio of the most frequent value to all
//! values from the l-th most frequent on.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::Value;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.with_sensitive().next().is_none() {
        return Outcome::not_applicable(Check::Diversity, Reason::NoSensitiveColumn);
    }
    let mut outcome = Outcome::new(Check::Diversity, Ask::groups_of(ask.with_sensitive()));
    for (place, release) in ask.with_sensitive() {
        let mut one = Tally::new(Fault::OneValue);
        let mut few = Tally::new(Fault::FewValues);
        let (mut distinct, mut entropy, mut recursive) = (u64::MAX, f64::INFINITY, 0.0f64);
        let (mut counts, mut measured): (Vec<u32>, Vec<u32>) = (Vec::new(), Vec::new());
        // A group of counterfeits alone says nothing about anybody.
        for group in (0..release.group_count()).filter(|&group| release.people(group) > 0) {
            counts.clear();
            counts.extend(runs(release.group_values(group)));
            // In balanced groups, the counts are often those of the group before.
            if counts != measured {
                distinct = distinct.min(counts.len() as u64);
                entropy = entropy.min(effective(&counts));
                recursive = recursive.max(ratio(&counts, ask.thresholds.l));
                measured.clone_from(&counts);
            }
            if counts.len() as u64 >= u64::from(ask.thresholds.l) {
                continue;
            }
            let witness = || Witness {
                values: release.value_set(group),
                ..Witness::new(
                    Statement::FewValues,
                    vec![(place, group as u32)],
                    counts.len() as u64,
                    u64::from(ask.thresholds.l),
                )
            };
            let tally = if counts.len() <= 1 { &mut one } else { &mut few };
            tally.add(u64::from(release.people(group)), counts.len() as u64, witness);
        }
        if distinct < u64::MAX {
            let number = Some(release.number);
            outcome.measure(number, Quantity::LeastDistinctValues, distinct as f64);
            outcome.measure(number, Quantity::LeastEntropyDiversity, entropy);
            outcome.measure(number, Quantity::LargestRecursiveC, recursive);
        }
        for tally in [one, few] {
            outcome.found(tally.finding(release.number, Vec::new()));
        }
    }
    outcome
}

/// How often each value of an ascending list occurs.
fn runs(values: &[Value]) -> impl Iterator<Item = u32> + '_ {
    values.chunk_by(|a, b| a == b).map(|run| run.len() as u32)
}

/// e to the entropy: the number of equally frequent values that have the same entropy.
fn effective(counts: &[u32]) -> f64 {
    let all = f64::from(counts.iter().sum::<u32>());
    let share = |&count: &u32| f64::from(count) / all;
    let entropy: f64 = counts.iter().map(|count| -share(count) * share(count).ln()).sum();
    entropy.exp()
}

/// The count of the most frequent value over the sum from the l-th most frequent on; infinite if there are fewer than l
/// values.
fn ratio(counts: &[u32], l: u32) -> f64 {
    let mut counts = counts.to_vec();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    let rest: u32 = counts.iter().skip(l.max(1) as usize - 1).sum();
    f64::from(counts.first().copied().unwrap_or(0)) / f64::from(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diversity_by_hand() {
        assert_eq!(runs(&[0, 0, 1, 3, 3, 3].map(Value)).collect::<Vec<u32>>(), [2, 1, 3]);
        assert!((effective(&[2, 2, 2]) - 3.0).abs() < 1e-12);
        // Sorted, the counts are 3, 2, 1: from the second on they sum to 3, from the third on to 1.
        assert_eq!((ratio(&[2, 1, 3], 2), ratio(&[2, 1, 3], 3)), (1.0, 3.0));
        assert!(ratio(&[5], 2).is_infinite());
    }
}
