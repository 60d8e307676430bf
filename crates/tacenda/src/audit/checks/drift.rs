//! How the loss changes from release to release (science D4.11).
//!
//! Loss is the share of an attribute's domain that a region leaves open, as a mean over people and attributes. C_avg is
//! the mean group size in multiples of the least that the thresholds allow. The sum of squared group sizes adds up,
//! over all rows, how many rows share the row's group. All are computed from the definitions, for any releases.

use crate::audit::checks::Ask;
use crate::audit::{Check, Outcome, Quantity, Verdict};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let mut outcome = Outcome::new(Check::Drift, Ask::groups_of(ask.releases()));
    let mut losses = Vec::new();
    for (place, release) in ask.releases() {
        let traces = &ask.series.traces[place as usize];
        let (mut open, mut squares, mut people) = (0.0f64, 0u64, 0u64);
        let has = |attribute: &usize| traces.columns.get(*attribute).copied().unwrap_or(true);
        let attributes: Vec<usize> = (0..ask.series.schema.quasi.len()).filter(has).collect();
        for group in 0..release.group_count() {
            let here = u64::from(release.people(group));
            let share =
                |&attribute: &usize| ask.series.schema.quasi[attribute].openness(release.region(group)[attribute]);
            open += attributes.iter().map(share).sum::<f64>() * here as f64;
            people += here;
            squares += (release.group_rows(group).len() as u64).pow(2);
        }
        let loss = open / (people.max(1) * attributes.len().max(1) as u64) as f64;
        losses.push(loss);
        let number = Some(release.number);
        let least = f64::from(ask.thresholds.k.max(ask.thresholds.l).max(1));
        outcome.measure(number, Quantity::Loss, loss);
        outcome.measure(
            number,
            Quantity::AverageClass,
            release.row_count() as f64 / release.group_count().max(1) as f64 / least,
        );
        outcome.measure(number, Quantity::SquaredSizes, squares as f64);
    }
    if let ([first, ..], [.., last]) = (&losses[..], &losses[..])
        && *first > 0.0
    {
        outcome.measure(None, Quantity::LossGrowth, last / first);
    }
    outcome.verdict = Verdict::Measured;
    outcome
}
