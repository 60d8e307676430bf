//! Which values remain possible for each person (SCIENCE D4.4, A3.8).
//!
//! With the truth at hand this is exact: the intersection of what each release leaves open, narrowed by
//! matching everyone at once. One value left is a breach that any reader can repeat.

use crate::audit::Check;
use crate::audit::Coverage;
use crate::audit::Fault;
use crate::audit::Outcome;
use crate::audit::Verdict;
use crate::audit::Witness;
use crate::audit::candidates;
use crate::audit::candidates::Candidates;
use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::refine;
use crate::audit::refine::RefineLimits;
use crate::audit::refine::Refined;
use crate::audit::story;
use crate::audit::story::Story;

/// What is left for everyone.
pub(in crate::audit) struct Left {
    pub(super) candidates: Candidates,
    pub(super) refined: Refined,
}

impl Left {
    /// `None` where people are not known.
    pub(super) fn new(ask: &Ask<'_>) -> Option<Left> {
        let knowledge = ask.series.knowledge?;
        let mut candidates = candidates::attack(ask.series.releases, knowledge);
        let limits = RefineLimits { people: ask.limits.refine_people, ..RefineLimits::default() };
        let refined = refine::refine(&mut candidates, ask.series.releases, knowledge, limits);
        Some(Left { candidates, refined })
    }
}

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let (Some(left), Some(knowledge)) = (ask.left(), ask.series.knowledge) else {
        return Outcome::not_applicable(Check::Candidates, "people are not known");
    };
    let people = knowledge.len() as u64;
    let looked_at = people - left.refined.not_assessed as u64;
    let mut outcome = Outcome::new(Check::Candidates, Coverage { looked_at, of: people, what: "people" });
    let l = ask.thresholds.l;
    let mut certain = Tally::new(Fault::ValueCertain);
    let mut few = Tally::new(Fault::FewCandidates);
    for person in 0..knowledge.len() as u32 {
        let size = left.candidates.size(person);
        if size >= l || left.candidates.is_inconsistent(person) {
            continue;
        }
        let witness = || Witness {
            claim: "in each release the person is in, their value is one of the groups' that cover them; all \
                    releases together leave the values given",
            groups: Vec::new(),
            values: left.candidates.values(person),
            person: Some(person),
            number: u64::from(size),
            line: u64::from(l),
        };
        let tally = if size == 1 { &mut certain } else { &mut few };
        tally.add(1, u64::from(size), witness);
    }
    let count = |tally: &Tally| tally.people() as f64;
    outcome.measure(None, "people", people as f64);
    outcome.measure(None, "people certain", count(&certain));
    outcome.measure(None, "people below l", count(&certain) + count(&few));
    outcome.measure(None, "people whose value changed", left.candidates.inconsistent() as f64);
    outcome.measure(None, "pairs removed by matching", left.refined.removed as f64);
    let last = ask.series.releases.last().map_or(0, |release| release.number);
    let others: Vec<u32> = ask.series.releases.iter().map(|release| release.number).filter(|&n| n != last).collect();
    for tally in [certain, few] {
        if let Some(finding) = tally.finding(last, others.clone()) {
            outcome = outcome.found(finding);
        }
    }
    if outcome.findings.is_empty() && looked_at < people {
        outcome.verdict = Verdict::NotAssessed("some components were too large to match everyone at once");
    }
    outcome
}

/// The worst case, step by step.
pub(in crate::audit) fn story(ask: &Ask<'_>) -> Option<Story> {
    let (left, knowledge) = (ask.left()?, ask.series.knowledge?);
    let person = left.candidates.example(knowledge)?;
    Some(story::tell(ask.series.schema, ask.series.releases, knowledge, person))
}
