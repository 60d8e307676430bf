//! The largest share of one value in a group (science D4.1).
//!
//! An attacker who knows a person's group guesses its most frequent value, and is right that often. The threshold is
//! one in l. Counterfeits count as rows, because nobody can recognise them.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Witness};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.with_sensitive().next().is_none() {
        return Outcome::not_applicable(Check::Frequency, Reason::NoSensitiveColumn);
    }
    let mut outcome = Outcome::new(Check::Frequency, Ask::groups_of(ask.with_sensitive()));
    for (place, release) in ask.with_sensitive() {
        let mut frequent = Tally::new(Fault::FrequentValue);
        let mut worst = 0.0f64;
        // A group of counterfeits alone says nothing about anybody.
        for group in (0..release.group_count()).filter(|&group| release.people(group) > 0) {
            let values = release.group_values(group);
            // The first of the longest runs.
            let run = values.chunk_by(|a, b| a == b).rev().max_by_key(|run| run.len()).unwrap_or_default();
            let share = run.len() as f64 / values.len().max(1) as f64;
            worst = worst.max(share);
            if run.len() as u64 * u64::from(ask.thresholds.l) <= values.len() as u64 {
                continue;
            }
            let witness = || Witness {
                values: vec![run[0]],
                ..Witness::new(
                    Statement::FrequentValue,
                    vec![(place, group as u32)],
                    run.len() as u64,
                    u64::from(ask.thresholds.l),
                )
            };
            frequent.add(u64::from(release.people(group)), ((1.0 - share) * 1e9) as u64, witness);
        }
        outcome.measure(Some(release.number), Quantity::LargestShare, worst);
        outcome.found(frequent.finding(release.number, Vec::new()));
    }
    outcome
}
