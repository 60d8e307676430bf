//! How many people are in each group (science D4.1).
//!
//! A group of one person singles them out for anyone who knows their quasi-identifiers. A group of fewer than k
//! people is counted as too small. Counterfeits are not people: a group of counterfeits alone singles nobody out.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Fault, Outcome, Quantity, Statement, Witness};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let mut outcome = Outcome::new(Check::GroupSizes, Ask::groups_of(ask.releases()));
    for (place, release) in ask.releases() {
        let mut alone = Tally::new(Fault::AloneInGroup);
        let mut small = Tally::new(Fault::SmallGroup);
        let (mut least, mut below, mut with_people) = (u32::MAX, 0u64, 0u64);
        for group in 0..release.group_count() {
            let people = release.people(group);
            if people == 0 {
                continue;
            }
            least = least.min(people);
            with_people += 1;
            if people >= ask.thresholds.k {
                continue;
            }
            below += u64::from(people);
            let witness = || {
                Witness::new(
                    Statement::FewPeople,
                    vec![(place, group as u32)],
                    u64::from(people),
                    u64::from(ask.thresholds.k),
                )
            };
            let tally = if people == 1 { &mut alone } else { &mut small };
            tally.add(u64::from(people), u64::from(people), witness);
        }
        let number = Some(release.number);
        let people = release.row_count() as u64 - release.counterfeit_count();
        outcome.measure(number, Quantity::Rows, release.row_count() as f64);
        outcome.measure(number, Quantity::People, people as f64);
        outcome.measure(number, Quantity::Groups, release.group_count() as f64);
        if people > 0 {
            outcome.measure(number, Quantity::SmallestGroup, f64::from(least));
            outcome.measure(number, Quantity::MeanRisk, with_people as f64 / people as f64);
            outcome.measure(number, Quantity::PeopleBelowK, below as f64);
        }
        for tally in [alone, small] {
            outcome.found(tally.finding(release.number, Vec::new()));
        }
    }
    outcome
}
