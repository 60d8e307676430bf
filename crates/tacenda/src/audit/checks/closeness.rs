//! How far a group's values are from the whole table's (science D4.1, B12: t-closeness).
//!
//! The distance is half the sum of the differences of shares: 0 for the same shares, 1 for nothing in common. All
//! values are equally far from each other. The basic beta-likeness is measured too: the gain of a value's share in a
//! group over its share in the release, relative to the latter.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};

/// Distances are given in millionths, so that the numbers of a witness are integers.
const MILLION: f64 = 1e6;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.with_sensitive().next().is_none() {
        return Outcome::not_applicable(Check::Closeness, Reason::NoSensitiveColumn);
    }
    let mut outcome = Outcome::new(Check::Closeness, Ask::groups_of(ask.with_sensitive()));
    for (place, release) in ask.with_sensitive() {
        let mut whole = vec![0u32; release.values.len()];
        release.sensitive.iter().for_each(|value| whole[value.index()] += 1);
        let rows = release.row_count() as f64;
        let (mut worst, mut beta, mut sum, mut looked_at) = (0.0f64, 0.0f64, 0.0f64, 0.0f64);
        let mut far = Tally::new(Fault::TooFarFromWhole);
        // A group of counterfeits alone says nothing about anybody.
        for group in (0..release.group_count()).filter(|&group| release.people(group) > 0) {
            let values = release.group_values(group);
            // The positive differences add up to half the sum of all differences.
            let more = values.chunk_by(|a, b| a == b).map(|run| {
                let share = run.len() as f64 / values.len() as f64;
                let of_whole = f64::from(whole[run[0].index()]) / rows;
                beta = beta.max(share / of_whole - 1.0);
                (share - of_whole).max(0.0)
            });
            let distance: f64 = more.sum();
            worst = worst.max(distance);
            sum += distance * values.len() as f64;
            looked_at += values.len() as f64;
            if let Some(t) = ask.thresholds.t.filter(|&t| distance > t + 1e-9) {
                far.add(u64::from(release.people(group)), ((1.0 - distance) * MILLION) as u64, || Witness {
                    values: release.value_set(group),
                    ..Witness::new(
                        Statement::FarFromWhole,
                        vec![(place, group as u32)],
                        (distance * MILLION).round() as u64,
                        (t * MILLION).round() as u64,
                    )
                });
            }
        }
        outcome.measure(Some(release.number), Quantity::LargestDistance, worst);
        outcome.measure(Some(release.number), Quantity::LargestBeta, beta);
        outcome.measure(Some(release.number), Quantity::MeanDistance, sum / looked_at.max(1.0));
        outcome.found(far.finding(release.number, Vec::new()));
    }
    if ask.thresholds.t.is_none() {
        outcome.verdict = Verdict::Measured;
    }
    outcome
}
