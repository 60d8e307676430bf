//! How likely a person was ever linked to a value, where values change (science B5).
//!
//! A value that lasts is one secret, however often it is published. A value that comes and goes is a new secret each
//! time, and the chance of having had it in some release grows: two groups of two rows give 3/4. Releases are taken to
//! be independent, and a person's chance in one is the share of the value among the rows of the groups that cover them.

use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Release, Rng, Value};
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashMap;

/// The most people who are examined. If there are more, a random sample is drawn.
const MOST_PEOPLE: usize = 20_000;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.series.knowledge else {
        return Outcome::not_applicable(Check::EverLinked, Reason::PeopleUnknown);
    };
    if ask.with_sensitive().count() < 2 {
        return Outcome::not_applicable(Check::EverLinked, Reason::OneReleaseWithValues);
    }
    if !values_change(knowledge) {
        return Outcome::not_applicable(Check::EverLinked, Reason::ValuesStay);
    }
    let people = draw(knowledge.len(), MOST_PEOPLE, ask.budget.seed);
    let coverage = Coverage { looked_at: people.len() as u64, of: knowledge.len() as u64, what: "people" };
    let mut outcome = Outcome::new(Check::EverLinked, coverage);
    let chances = chances(ask, knowledge, &people);
    let l = ask.thresholds.l;
    let mut likely = Tally::new(Fault::EverLinkedLikely);
    let mut worst = 0.0f64;
    for (&person, best) in people.iter().zip(chances) {
        let Some((value, chance)) = best else { continue };
        worst = worst.max(chance);
        if l < 2 || chance <= 1.0 / f64::from(l) + 1e-9 {
            continue;
        }
        likely.add(1, ((1.0 - chance) * 1e6) as u64, || Witness {
            values: vec![value],
            person: Some(person),
            ..Witness::new(Statement::EverLinked, Vec::new(), (chance * 1e6).round() as u64, u64::from(l))
        });
    }
    likely.without_groups();
    outcome.measure(None, Quantity::LargestChanceEver, worst);
    outcome.measure(None, Quantity::PeopleEverAboveOneInL, likely.people() as f64);
    let (last, others) = ask.last_and_others();
    outcome.found(likely.finding(last, others));
    if outcome.findings.is_empty() && people.len() < knowledge.len() {
        outcome.verdict = Verdict::NotAssessed(Reason::SampledPeople);
    }
    outcome
}

fn values_change(knowledge: &Knowledge<'_>) -> bool {
    let mut seen: Vec<Option<Value>> = vec![None; knowledge.len()];
    for release in 0..knowledge.releases() {
        for (&person, &value) in knowledge.people(release).iter().zip(knowledge.values(release)) {
            if person != Knowledge::ABSENT && seen[person as usize].replace(value).is_some_and(|old| old != value) {
                return true;
            }
        }
    }
    false
}

/// Everyone, or a random sample of `most` people, ascending.
pub(super) fn draw(people: usize, most: usize, seed: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..people as u32).collect();
    if people > most {
        Rng::from_number(seed).shuffle(&mut all);
        all.truncate(most);
        all.sort_unstable();
    }
    all
}

/// Per person, the value with the largest chance over all releases, and that chance.
fn chances(ask: &Ask<'_>, knowledge: &Knowledge<'_>, people: &[u32]) -> Vec<Option<(Value, f64)>> {
    let values = pairs::value_count(ask);
    let indexed: Vec<(u32, &Release, Stab, Vec<u32>)> = ask
        .with_sensitive()
        .map(|(place, release)| (place, release, Stab::new(release, values), knowledge.rows(place as usize)))
        .collect();
    let one = |&person: &u32| {
        let mut never: FxHashMap<Value, f64> = FxHashMap::default();
        let mut point = vec![0; knowledge.attributes()];
        for (place, release, stab, rows) in &indexed {
            let row = rows[person as usize];
            if row == Knowledge::ABSENT {
                continue;
            }
            knowledge.read_point(*place as usize, row as usize, &mut point);
            for (value, share) in shares(release, stab, &point) {
                *never.entry(value).or_insert(1.0) *= 1.0 - share;
            }
        }
        let chances = never.into_iter().map(|(value, never)| (value, 1.0 - never));
        chances.max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)))
    };
    people.par_iter().map(one).collect()
}

/// The share of each value among the rows of the groups that cover a point, by value.
pub(super) fn shares(release: &Release, stab: &Stab, point: &[u32]) -> Vec<(Value, f64)> {
    let mut counts: Vec<(Value, u32)> = Vec::new();
    let mut rows = 0;
    stab.each(point, |group| {
        let values = release.group_values(group as usize);
        rows += values.len();
        counts.extend(values.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as u32)));
    });
    counts.sort_unstable();
    let sum =
        |run: &[(Value, u32)]| (run[0].0, run.iter().map(|&(_, count)| f64::from(count)).sum::<f64>() / rows as f64);
    counts.chunk_by(|a, b| a.0 == b.0).map(sum).collect()
}
