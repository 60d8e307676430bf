//! How many people are in each group (science D4.1).
//!
//! A group of one person singles them out for anyone who knows their quasi-identifiers. A group of fewer than k
//! people is counted as too small. Counterfeits are not people: a group of counterfeits alone singles nobody out.
//!
//! # Population
//! Where a table of everyone is given of whom the people of the releases are a part, the people of it who fit each group are
//! counted too (k-map). Who knows somebody's quasi-identifiers, but not whether they are in the release, finds them with a
//! chance of one over that number (journalist risk). If fewer fit a group than are in it, the table is not one of everyone.

use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, households};
use crate::audit::{Check, Fault, Outcome, Population, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::Classes;
use crate::space::stab::Stab;

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
    if let Some(population) = ask.series.population {
        of_population(ask, population, &mut outcome);
    }
    households::alone_in_groups(ask, &mut outcome);
    outcome
}

/// How many of everyone fit each group.
fn of_population(ask: &Ask<'_>, population: &Population, outcome: &mut Outcome) {
    let k = u64::from(ask.thresholds.k);
    let rows = population.quasi.first().map_or(0, Vec::len);
    let columns: Vec<&[u32]> = population.quasi.iter().map(|codes| &codes[..]).collect();
    let points = Classes::of(rows, &columns);
    let mut is_too_small = false;
    for (place, release) in ask.releases() {
        let stab = Stab::without_values(release);
        let mut fitting = vec![0u64; release.group_count()];
        for (&row, &count) in points.sample.iter().zip(&points.size) {
            let point: Vec<u32> = columns.iter().map(|codes| codes[row as usize]).collect();
            stab.each(&point, |group| fitting[group as usize] += count);
        }
        let (mut one, mut few) = (Tally::new(Fault::OneOfPopulation), Tally::new(Fault::FewOfPopulation));
        let (mut least, mut risk, mut people) = (u64::MAX, 0.0, 0u64);
        for (group, &fitting) in fitting.iter().enumerate() {
            let here = u64::from(release.people(group));
            if here == 0 {
                continue;
            }
            is_too_small |= fitting < here;
            let fitting = fitting.max(here);
            least = least.min(fitting);
            risk += here as f64 / fitting as f64;
            people += here;
            if fitting < k {
                let tally = if fitting == 1 { &mut one } else { &mut few };
                tally.add(here, fitting, || {
                    Witness::new(Statement::FewOfPopulation, vec![(place, group as u32)], fitting, k)
                });
            }
        }
        if people > 0 {
            let number = Some(release.number);
            outcome.measure(number, Quantity::LeastOfPopulation, least as f64);
            outcome.measure(number, Quantity::HighestJournalistRisk, 1.0 / least as f64);
            outcome.measure(number, Quantity::MeanJournalistRisk, risk / people as f64);
        }
        for tally in [one, few] {
            outcome.found(tally.finding(release.number, Vec::new()));
        }
    }
    if is_too_small && outcome.findings.is_empty() {
        outcome.verdict = Verdict::NotAssessed(Reason::PopulationTooSmall);
    }
}
