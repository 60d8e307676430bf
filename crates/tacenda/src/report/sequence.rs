//! All releases together: the risks that a steward signs for, as far as they can be computed soundly.
//!
//! Numbers about people are here only if the private tables were given, and never for recipients. What cannot be
//! computed is reported as such, never as zero.

use crate::audit::{Check, Measure, Outcome, Quantity};
use crate::report::words::{no_threshold, number, people, percent};
use crate::report::{Edition, JournalistFacts, Material, ReleaseFacts, Report, SequenceFacts};

/// Puts the releases together.
pub fn sequence(material: &Material<'_>, releases: &[ReleaseFacts]) -> SequenceFacts {
    let appearances: u64 = releases.iter().map(|release| release.people).sum();
    let below: u64 = releases.iter().map(|release| release.risk.people_below_k).sum();
    let share = |part: u64| part as f64 / appearances.max(1) as f64;
    let most = |risk: &dyn Fn(&ReleaseFacts) -> f64| releases.iter().map(risk).fold(0.0, f64::max);
    let outcome = |check: Check| material.assessment.outcome(check);
    // Numbers from the private tables are not for recipients.
    let known = material.series.knowledge.is_some() && material.edition != Edition::Recipient;
    let of_people = |check: Check| outcome(check).filter(|_| known);
    let posterior = of_people(Check::Posterior);
    let (counted, of) = posterior.map_or((0, 0), |outcome| (outcome.coverage.looked_at, outcome.coverage.of));
    // If nobody was counted there is no largest probability; zero would read as no risk.
    let posterior = posterior.filter(|_| counted > 0);
    let candidates = of_people(Check::Candidates);
    SequenceFacts {
        appearances,
        highest_identity: most(&|release| release.risk.highest_identity),
        mean_identity: releases.iter().map(|release| release.risk.mean_identity * release.people as f64).sum::<f64>()
            / appearances.max(1) as f64,
        journalist: journalist(material, releases),
        share_below_k: share(below),
        highest_share: most(&|release| release.risk.highest_share),
        largest_posterior: posterior.and_then(|outcome| measure(outcome, Quantity::LargestPosterior)),
        largest_posterior_blind: posterior.and_then(|outcome| measure(outcome, Quantity::LargestPosteriorBlind)),
        posterior_of: (counted, of),
        smallest_candidates: candidates.and_then(fewest_left),
        least_alike: outcome(Check::LinkedIds)
            .and_then(|outcome| measure(outcome, Quantity::LeastAlike))
            .map(|least| least as u32),
        least_always_together: outcome(Check::LinkedIds)
            .and_then(|outcome| measure(outcome, Quantity::LeastAlwaysTogether))
            .map(|least| least as u32),
        not_computed: not_computed(material, known, releases, (counted, of)),
    }
}

/// The risks to a reader who has a table of the population, where one was given.
fn journalist(material: &Material<'_>, releases: &[ReleaseFacts]) -> Option<JournalistFacts> {
    material.series.population?;
    let measures = &material.assessment.outcome(Check::GroupSizes)?.measures;
    let all = |quantity: Quantity| measures.iter().filter(move |measure| measure.quantity == quantity);
    let least = all(Quantity::LeastOfPopulation).map(|measure| measure.value as u64).min()?;
    let people = |number: Option<u32>| {
        releases.iter().find(|release| Some(release.number) == number).map_or(0.0, |release| release.people as f64)
    };
    let means = || all(Quantity::MeanJournalistRisk);
    let sum: f64 = means().map(|measure| measure.value * people(measure.release)).sum();
    let whole: f64 = means().map(|measure| people(measure.release)).sum();
    Some(JournalistFacts { least, highest: 1.0 / least as f64, mean: sum / whole.max(1.0) })
}

fn not_computed(
    material: &Material<'_>,
    known: bool,
    releases: &[ReleaseFacts],
    (counted, of): (u64, u64),
) -> Vec<String> {
    let mut missing = Vec::new();
    if material.series.population.is_none() {
        missing.push(
            "Journalist risk: no table of the population is given. It is at most the prosecutor risk.".to_string(),
        );
    }
    missing.push(
        "Marketer risk assumes an attacker who knows exactly the published people. With a larger table of people it \
         is lower."
            .to_string(),
    );
    if releases.len() > 1 {
        missing.push(
            "Prosecutor risk over all releases: the highest of any single release is only a lower bound. The checks \
             say how many people comparing releases exposes."
                .to_string(),
        );
    }
    if !known && releases.iter().any(ReleaseFacts::has_values) {
        missing.push(
            "Probabilities and possible values over all releases: they need the private tables, which were not given \
             or are not for this edition."
                .to_string(),
        );
    }
    if counted == 0 && of > 0 {
        missing.push(format!("The largest probability of a value for a person: {}.", not_counted(of)));
    }
    missing
}

/// All releases together, one number per row: what it is, and how much.
pub fn rows(report: &Report) -> Vec<(&'static str, String)> {
    let sequence = &report.sequence;
    let below_k = match report.provenance.k {
        0..=1 => no_threshold(report.series.promise.is_some()).to_string(),
        _ => percent(sequence.share_below_k),
    };
    let mut rows = vec![
        ("Highest risk of being singled out in any release (prosecutor)", percent(sequence.highest_identity)),
        ("Mean risk (prosecutor; also marketer)", percent(sequence.mean_identity)),
        ("Appearances of people in groups below k", below_k),
    ];
    if report.has_values() {
        rows.push(("Largest share of a value in a group of any release", percent(sequence.highest_share)));
    }
    if let Some(journalist) = &sequence.journalist {
        rows.push(("Fewest people of the population for a group (k-map)", number(journalist.least)));
        rows.push(("Highest risk with a table of the population (journalist)", percent(journalist.highest)));
        rows.push(("Mean risk with a table of the population (journalist)", percent(journalist.mean)));
    }
    if let Some(fewest) = sequence.smallest_candidates {
        rows.push(("Fewest values possible for a person after comparing all", fewest.to_string()));
    }
    if let Some(largest) = sequence.largest_posterior {
        let (looked_at, of) = sequence.posterior_of;
        let counted = format!("{} ({} of {} people counted)", percent(largest), number(looked_at), number(of));
        rows.push(("Largest probability of a value, as the promise counts", counted));
    } else if sequence.posterior_of.1 > 0 {
        let why = not_counted(sequence.posterior_of.1);
        rows.push(("Largest probability of a value, as the promise counts", why));
    }
    if let Some(largest) = sequence.largest_posterior_blind {
        rows.push(("Largest probability of a value, counting blindly", percent(largest)));
    }
    if let Some(least) = sequence.least_alike {
        rows.push(("Fewest ids with the same regions in all releases (E)", number(u64::from(least))));
    }
    if let Some(least) = sequence.least_always_together {
        rows.push(("Fewest ids that were always in the same groups (H)", number(u64::from(least))));
    }
    rows
}

/// The sentence if nobody's worlds were counted.
pub fn not_counted(of: u64) -> String {
    format!("not counted for any of {}", people(of))
}

/// Evidence for the three questions: singling out, linkability, inference.
pub fn evidence(sequence: &SequenceFacts) -> [Vec<String>; 3] {
    let mut singling = Vec::new();
    let mut linking = Vec::new();
    let mut inferring = Vec::new();
    if sequence.highest_identity > 0.0 {
        singling.push(format!(
            "In any one release, the highest risk of being singled out is {}, the mean {}.",
            percent(sequence.highest_identity),
            percent(sequence.mean_identity)
        ));
    }
    // Ids tie rows together. The number of ids that are alike says how well a person is hidden among the others.
    let alike = [
        (sequence.least_alike, "with the same regions over all releases (E)"),
        (sequence.least_always_together, "that were always in the same groups (H)"),
    ];
    for (least, which) in alike {
        let said =
            least.map(|least| format!("The smallest set of published ids {which} holds {}.", people(u64::from(least))));
        singling.extend(said.clone());
        linking.extend(said);
    }
    if let Some(fewest) = sequence.smallest_candidates {
        inferring.push(format!(
            "After comparing all releases, the fewest values that remain possible for a person are {fewest}."
        ));
    }
    if let Some(largest) = sequence.largest_posterior {
        let (looked_at, of) = sequence.posterior_of;
        inferring.push(format!(
            "Counting all worlds, the largest probability of a value for a person is {} ({} of {} people were counted).",
            percent(largest),
            number(looked_at),
            number(of)
        ));
    }
    [singling, linking, inferring]
}

/// A measure of the whole series.
fn measure(outcome: &Outcome, quantity: Quantity) -> Option<f64> {
    let found = outcome.measures.iter().find(|measure| measure.release.is_none() && measure.quantity == quantity);
    found.map(|measure| measure.value).filter(|value| value.is_finite())
}

/// The fewest values that are left for anyone.
fn fewest_left(outcome: &Outcome) -> Option<u32> {
    let left = |measure: &Measure| match measure.quantity {
        Quantity::PeopleWithValuesLeft(values) => (measure.value > 0.0).then_some(values),
        _ => None,
    };
    outcome.measures.iter().filter_map(left).min()
}
