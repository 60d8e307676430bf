//! What can be learned from correlations in the releases themselves (science D4.12, B10: deFinetti).
//!
//! The releases show, coarsely, which sensitive values go with which quasi values. A naive Bayes model is fitted to all
//! published rows, each spread evenly over its region. It is applied to each person within the groups that cover them.
//! Two things are measured: how often its best guess has a probability above 1.5/l, and how often it is right, compared
//! with guessing the groups' most frequent value.
//!
//! # Not concluded
//! This is one learner, not the best one. That it learns little proves nothing.

use crate::audit::checks::ever_linked::{draw, shares};
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Release, Value};
use crate::space::stab::Stab;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// The most bins that the codes of an attribute are put into.
const BINS: u32 = 64;

/// The most people whose value is guessed. If there are more, a random sample is drawn; its shares are accurate to
/// about a hundredth.
const MOST_PEOPLE: usize = 5_000;

/// Numbers that differ by less are equal but for rounding, which depends on the order of groups.
const ROUNDING: f64 = 1e-9;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.series.knowledge.filter(|_| ask.attacker.presence) else {
        return Outcome::not_applicable(Check::Learned, ask.why_unplaced());
    };
    if ask.with_sensitive().next().is_none() {
        return Outcome::not_applicable(Check::Learned, Reason::NoSensitiveColumn);
    }
    let values = pairs::value_count(ask);
    let model = Model::fit(ask, values);
    let people = draw(knowledge.len(), MOST_PEOPLE, ask.budget.seed);
    let guesses = guess(ask, knowledge, &people, &model, values);
    let coverage = Coverage { looked_at: people.len() as u64, of: knowledge.len() as u64, what: "people" };
    let mut outcome = Outcome::new(Check::Learned, coverage);
    outcome.verdict = Verdict::Measured;
    let count = guesses.len().max(1) as f64;
    let l = ask.thresholds.l.max(1);
    let share = |test: &dyn Fn(&Guess) -> bool| guesses.iter().filter(|guess| test(guess)).count() as f64 / count;
    let above = share(&|guess| guess.posterior > 1.5 / f64::from(l) + ROUNDING);
    let right = share(&|guess| guess.learned == guess.truth);
    let plain = share(&|guess| guess.plain == guess.truth);
    outcome.measure(None, Quantity::ShareGuessed, above);
    outcome.measure(None, Quantity::Accuracy, right);
    outcome.measure(None, Quantity::AccuracyOfMostFrequent, plain);
    if l >= 2 && right > 1.5 / f64::from(l) && right > plain + 0.05 {
        let permille = (right * 1000.0).round() as u64;
        let (last, others) = ask.last_and_others();
        outcome.found([Finding {
            fault: Fault::LearnedValues,
            release: last,
            people: (right * count).round() as u64,
            groups: 0,
            example: None,
            others,
            witness: Some(Witness::new(Statement::Learned, Vec::new(), permille, u64::from(l))),
        }]);
    }
    outcome
}

struct Guess {
    learned: Value,
    posterior: f64,
    plain: Value,
    truth: Value,
}

/// The correlation of quasi and sensitive values in the releases.
struct Model {
    /// Per attribute, how many codes a bin holds.
    pitches: Vec<u32>,
    bins: Vec<u32>,
    /// Per attribute, value and bin, the logarithm of the share.
    logs: Vec<Vec<f64>>,
}

impl Model {
    fn fit(ask: &Ask<'_>, values: usize) -> Model {
        let quasi = &ask.series.schema.quasi;
        let pitches: Vec<u32> = quasi.iter().map(|quasi| quasi.size().div_ceil(BINS)).collect();
        let bins: Vec<u32> = quasi.iter().zip(&pitches).map(|(quasi, pitch)| quasi.size().div_ceil(*pitch)).collect();
        // Weights as differences from bin to bin.
        let mut sums: Vec<Vec<f64>> = bins.iter().map(|&bins| vec![0.0; values * (bins as usize + 1)]).collect();
        for (_, release) in ask.with_sensitive() {
            for group in 0..release.group_count() {
                let runs: Vec<(Value, f64)> =
                    release.group_values(group).chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f64)).collect();
                for (attribute, span) in release.region(group).iter().enumerate() {
                    let (lo, hi) = (span.lo / pitches[attribute], span.hi / pitches[attribute]);
                    let width = f64::from(hi - lo + 1);
                    let row = bins[attribute] as usize + 1;
                    for &(value, count) in &runs {
                        sums[attribute][value.index() * row + lo as usize] += count / width;
                        sums[attribute][value.index() * row + hi as usize + 1] -= count / width;
                    }
                }
            }
        }
        for (attribute, sums) in sums.iter_mut().enumerate() {
            for row in sums.chunks_exact_mut(bins[attribute] as usize + 1) {
                let mut weight = 0.0;
                for bin in row.iter_mut() {
                    weight += *bin;
                    *bin = weight.max(0.0);
                }
                let (count, all) = (row.len() - 1, row[..row.len() - 1].iter().sum::<f64>());
                // One more row, spread evenly, so that no bin has probability zero.
                row.iter_mut().for_each(|bin| *bin = ((*bin + 1.0 / count as f64) / (all + 1.0)).ln());
            }
        }
        Model { pitches, bins, logs: sums }
    }

    fn log(&self, value: Value, point: &[u32]) -> f64 {
        let of = |(attribute, &code): (usize, &u32)| {
            let row = self.bins[attribute] as usize + 1;
            self.logs[attribute][value.index() * row + (code / self.pitches[attribute]) as usize]
        };
        point.iter().enumerate().map(of).sum()
    }
}

/// The guesses for people, each in the last release they are in.
fn guess(ask: &Ask<'_>, knowledge: &Knowledge<'_>, people: &[u32], model: &Model, values: usize) -> Vec<Guess> {
    let indexed: Vec<(u32, &Release, Stab, Vec<u32>)> = ask
        .with_sensitive()
        .map(|(place, release)| (place, release, Stab::new(release, values), knowledge.rows(place as usize)))
        .collect();
    let one = |&person: &u32| {
        let last = indexed.iter().rev().find(|(_, _, _, rows)| rows[person as usize] != Knowledge::ABSENT);
        let (place, release, stab, rows) = last?;
        let row = rows[person as usize] as usize;
        let mut point = vec![0; knowledge.attributes()];
        knowledge.read_point(*place as usize, row, &mut point);
        let shares = shares(release, stab, &point);
        let plain = shares[largest(shares.len(), |at| shares[at].1)?].0;
        let logs: Vec<f64> = shares.iter().map(|&(value, share)| share.ln() + model.log(value, &point)).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let all: f64 = logs.iter().map(|log| (log - most).exp()).sum();
        let best = largest(logs.len(), |at| logs[at])?;
        let truth = knowledge.values(*place as usize)[row];
        Some(Guess { learned: shares[best].0, posterior: 1.0 / all, plain, truth })
    };
    people.par_iter().filter_map(one).collect()
}

/// Where the largest of some numbers is. Of those that are equal up to rounding, the first is taken.
fn largest(count: usize, number: impl Fn(usize) -> f64) -> Option<usize> {
    (0..count).reduce(|best, at| if number(at) > number(best) + ROUNDING { at } else { best })
}
