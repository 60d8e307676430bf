//! What people who wait give away (science A2.4, A3.12, CE-8).
//!
//! A person waits if the private table has them and the release does not. A reader who knows that they are in the data can
//! ask why. No promise hides that, so everything found here is a note. Three things are asked:
//!
//! 1. Does one value occur among those who wait far more often than in the whole table? Then a reader who knows this guesses
//!    it, and is right more often than the threshold allows.
//! 2. Has the value changed of those who were published before and wait now, far more often than of those who stayed?
//! 3. If the promise says that a group which fails the threshold `l` waits as a whole: those who waited together failed it
//!    together. So one value is frequent among them. Together with the groups in which they are published later, that may
//!    leave few values.
//!
//! # Why nobody is accused wrongly
//! The first two compare with chance, by a bound that holds for every sample drawn from a finite table (Hoeffding 1963). The
//! third rules out a value only if no choice of the frequent value leaves it, and counts every row that could be theirs. It is
//! left out if the tables do not agree with its premise.
//!
//! # Not concluded
//! It tries three ways. People who could have been several groups of k say nothing in the third, because the reader of the
//! rule does not know the cuts. That the program forms larger groups (science A0.6) is not used.

use crate::audit::candidates::Candidates;
use crate::audit::checks::Ask;
use crate::audit::checks::candidates::{Left, groups_over, telling, truth};
use crate::audit::checks::tally::Tally;
use crate::audit::knowledge::Knowledge;
use crate::audit::refine::{RefineLimits, refine};
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::Value;
use crate::space::sets::insert;
use rustc_hash::{FxHashMap, FxHashSet};

/// Chance alone passes for a finding in at most one of so many series.
const RARE: f64 = 1000.0;

/// Somebody who is in a table, and their value there.
type Someone = (u32, Value);

/// What one table says of those who wait.
struct Waiting {
    /// The place of the release.
    place: u32,
    people: Vec<Someone>,
    /// Whether somebody of the table is in no earlier one.
    is_anybody_new: bool,
}

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.series.knowledge.filter(|_| ask.attacker.presence) else {
        return Outcome::not_applicable(Check::Waiting, ask.why_unplaced());
    };
    let waiting = waiting(ask, knowledge);
    let people: FxHashSet<u32> = waiting.iter().flat_map(|one| &one.people).map(|&(person, _)| person).collect();
    if people.is_empty() {
        return Outcome::not_applicable(Check::Waiting, Reason::NobodyWaits);
    }
    let people = people.len() as u64;
    let mut outcome = Outcome::new(Check::Waiting, Coverage { looked_at: people, of: people, what: "people who wait" });
    for one in waiting.iter().filter(|one| !one.people.is_empty()) {
        frequent(ask, knowledge, one, &mut outcome);
    }
    changed(ask, knowledge, &waiting, &mut outcome);
    if let Some(left) = ask.left() {
        failed_together(ask, knowledge, &waiting, left, &mut outcome);
    }
    outcome
}

/// Who waits in each release that has values.
fn waiting(ask: &Ask<'_>, knowledge: &Knowledge<'_>) -> Vec<Waiting> {
    let mut known = vec![false; knowledge.len()];
    let mut all = Vec::new();
    for place in 0..knowledge.releases() {
        let people = knowledge.waiting(place);
        let here = knowledge.people(place).iter().copied().filter(|&person| person != Knowledge::ABSENT);
        let mut is_anybody_new = false;
        for person in here.chain(people.iter().map(|&(person, _)| person)) {
            is_anybody_new |= !std::mem::replace(&mut known[person as usize], true);
        }
        if ask.tells(place) {
            all.push(Waiting { place: place as u32, people, is_anybody_new });
        }
    }
    all
}

/// How unlikely it is that so many of those drawn are of a kind: at least the negative logarithm of the chance. `kind` of `all`
/// are of that kind, and `found` of `drawn`.
fn surprise(found: usize, drawn: usize, kind: usize, all: usize) -> f64 {
    let (seen, usual) = (found as f64 / drawn as f64, kind as f64 / all as f64);
    if seen <= usual {
        return 0.0;
    }
    let part = |share: f64, of: f64| if share > 0.0 { share * (share / of).ln() } else { 0.0 };
    drawn as f64 * (part(seen, usual) + part(1.0 - seen, 1.0 - usual))
}

/// Looks for a value that those who wait have far more often than everyone in the table.
fn frequent(ask: &Ask<'_>, knowledge: &Knowledge<'_>, waiting: &Waiting, outcome: &mut Outcome) {
    let number = ask.series.releases[waiting.place as usize].number;
    let table = knowledge.values(waiting.place as usize);
    let count = |values: &mut dyn Iterator<Item = Value>| {
        let mut counts: FxHashMap<Value, usize> = FxHashMap::default();
        values.for_each(|value| *counts.entry(value).or_default() += 1);
        counts
    };
    let of_table = count(&mut table.iter().copied());
    let of_waiting = count(&mut waiting.people.iter().map(|&(_, value)| value));
    let drawn = waiting.people.len();
    // The most frequent value, and of several the first.
    let most = of_waiting.iter().max_by_key(|&(value, &found)| (found, std::cmp::Reverse(*value)));
    let Some((&value, &found)) = most else { return };
    outcome.measure(Some(number), Quantity::PeopleWaiting, drawn as f64);
    outcome.measure(Some(number), Quantity::LargestShareWaiting, found as f64 / drawn as f64);
    let tries = RARE * of_table.len() as f64 * ask.series.releases.len() as f64;
    let is_beyond_chance = surprise(found, drawn, of_table[&value], table.len()) > tries.ln();
    if is_beyond_chance && found * ask.thresholds.l.max(2) as usize > drawn {
        let mut tally = Tally::new(Fault::WaitingTellsValue);
        tally.add(found as u64, 0, || Witness {
            values: vec![value],
            ..Witness::new(
                Statement::FrequentAmongWaiting { of_table: of_table[&value] as u64, table: table.len() as u64 },
                Vec::new(),
                found as u64,
                drawn as u64,
            )
        });
        tally.without_groups();
        outcome.found(tally.finding(number, Vec::new()));
    }
}

/// Looks for people who were published before and wait now because their value changed.
fn changed(ask: &Ask<'_>, knowledge: &Knowledge<'_>, waiting: &[Waiting], outcome: &mut Outcome) {
    let mut last: Vec<Option<Value>> = vec![None; knowledge.len()];
    for one in waiting {
        let values = knowledge.values(one.place as usize);
        let here = knowledge.people(one.place as usize).iter().zip(values);
        let here: Vec<Someone> =
            here.filter(|(person, _)| **person != Knowledge::ABSENT).map(|(&person, &value)| (person, value)).collect();
        let of = |people: &[Someone]| {
            let before = people.iter().filter_map(|&(person, value)| Some((last[person as usize]?, value)));
            let all: Vec<bool> = before.map(|(before, now)| before != now).collect();
            (all.iter().filter(|&&changed| changed).count(), all.len())
        };
        let ((changed, waited), (others, stayed)) = (of(&one.people), of(&here));
        here.iter().for_each(|&(person, value)| last[person as usize] = Some(value));
        if waited == 0 {
            continue;
        }
        let tries = RARE * ask.series.releases.len() as f64;
        let is_beyond_chance = surprise(changed, waited, changed + others, waited + stayed) > tries.ln();
        if is_beyond_chance && changed * 2 > waited {
            let mut tally = Tally::new(Fault::WaitingTellsChange);
            tally.add(changed as u64, 0, || {
                let claim = Statement::ChangedAndWaits { others: others as u64, stayed: stayed as u64 };
                Witness::new(claim, Vec::new(), changed as u64, waited as u64)
            });
            tally.without_groups();
            let number = ask.series.releases[one.place as usize].number;
            outcome.found(tally.finding(number, Vec::new()));
        }
    }
}

/// Finds people who have too few values left once it is known who failed the threshold `l` together.
fn failed_together<'a>(
    ask: &Ask<'a>,
    knowledge: &Knowledge<'a>,
    waiting: &[Waiting],
    left: &Left,
    outcome: &mut Outcome,
) {
    let has_changes = ask.people().is_none_or(|people| people.len() != knowledge.len());
    let Some((k, l)) = ask.series.promise.filter(|_| ask.are_units()).and_then(|promise| promise.k.zip(promise.l))
    else {
        return;
    };
    let truth = truth(ask);
    let is_true = |candidates: &Candidates, person: u32| {
        truth[person as usize].is_none_or(|value| candidates.size(person) > 0 && candidates.has(person, value))
    };
    if has_changes || (0..truth.len() as u32).any(|person| !is_true(&left.candidates, person)) {
        return;
    }
    let mut candidates = left.candidates.clone();
    let mut published = vec![false; knowledge.len()];
    for one in waiting {
        let unit = Unit::new(one, &published, k, l).filter(|unit| unit.agrees(&truth));
        if let Some(unit) = unit {
            unit.narrow(ask, knowledge, &mut candidates);
        }
        let here = knowledge.people(one.place as usize).iter().filter(|&&person| person != Knowledge::ABSENT);
        here.for_each(|&person| published[person as usize] = true);
    }
    let (releases, part) = telling(ask, knowledge);
    let (releases, knowledge) = match &part {
        Some(part) => (&releases[..], part),
        None => (ask.series.releases, knowledge),
    };
    refine(&mut candidates, releases, knowledge, RefineLimits::of(ask.budget));
    let least = ask.thresholds.l.max(2);
    let (mut certain, mut few) = (Tally::new(Fault::WaitingCertain), Tally::new(Fault::WaitingFewValues));
    for person in (0..knowledge.len() as u32).filter(|&person| truth[person as usize].is_some()) {
        let (before, now) = (left.candidates.size(person), candidates.size(person));
        if now == before || now >= least || !is_true(&candidates, person) {
            continue;
        }
        let tally = if now == 1 { &mut certain } else { &mut few };
        tally.add(1, u64::from(now), || Witness {
            values: candidates.values(person),
            person: Some(person),
            ..Witness::new(Statement::FewByWaiting, groups_over(ask, person), u64::from(now), u64::from(least))
        });
    }
    let (last, others) = ask.last_and_others();
    for mut tally in [certain, few] {
        tally.without_groups();
        outcome.found(tally.finding(last, others.clone()));
    }
}

/// People who waited as one group: some value makes up more than one in `l` of them.
struct Unit {
    people: Vec<Someone>,
    /// How many of them have that value at least.
    least: usize,
}

impl Unit {
    /// Those of `waiting` who were never published, if they must have been one group: a group has at least `k` people, and
    /// these are fewer than two groups. They were cut anew only if somebody is new.
    fn new(waiting: &Waiting, published: &[bool], k: u32, l: u32) -> Option<Unit> {
        let never = waiting.people.iter().filter(|(person, _)| !published[*person as usize]);
        let people: Vec<Someone> = never.copied().collect();
        let k = k.max(1) as usize;
        let is_one = waiting.is_anybody_new && (k..2 * k).contains(&people.len());
        let least = people.len() / l.max(1) as usize + 1;
        is_one.then_some(Unit { people, least })
    }

    /// Whether it is true of the tables: one value is frequent, and nobody's value changed before they were published.
    fn agrees(&self, truth: &[Option<Value>]) -> bool {
        let count = |value: Value| self.people.iter().filter(|&&(_, other)| other == value).count();
        let keeps = |&(person, value): &Someone| truth[person as usize].is_none_or(|truth| truth == value);
        self.people.iter().any(|&(_, value)| count(value) >= self.least) && self.people.iter().all(keeps)
    }

    /// Whether so many of them can have the value, by the rows with it in groups over them.
    fn has_rows(&self, ask: &Ask<'_>, knowledge: &Knowledge<'_>, value: Value) -> bool {
        ask.with_sensitive().all(|(place, release)| {
            let points = self.people.iter().filter_map(|&(person, _)| knowledge.point(place as usize, person));
            let points: Vec<Vec<u32>> = points.collect();
            let elsewhere = self.people.len() - points.len();
            let covers = |group: &usize| {
                let region = release.region(*group);
                points.iter().any(|point| region.iter().zip(point).all(|(span, &code)| span.contains(code)))
            };
            let over = (0..release.group_count()).filter(covers);
            let rows: usize =
                over.map(|group| release.group_values(group).iter().filter(|&&other| other == value).count()).sum();
            rows + elsewhere >= self.least
        })
    }

    /// Removes what no choice of the frequent value leaves.
    fn narrow(&self, ask: &Ask<'_>, knowledge: &Knowledge<'_>, candidates: &mut Candidates) {
        let count = |value: Value| self.people.iter().filter(|&&(person, _)| candidates.has(person, value)).count();
        let mut values: Vec<Value> =
            self.people.iter().flat_map(|&(person, _)| candidates.values(person)).collect::<Vec<Value>>();
        values.sort_unstable();
        values.dedup();
        // Whether a value can be the frequent one, and how many of them can have it.
        let frequent: Vec<(Value, usize)> = values
            .into_iter()
            .map(|value| (value, count(value)))
            .filter(|&(value, able)| able >= self.least && self.has_rows(ask, knowledge, value))
            .collect();
        let mut kept: Vec<Vec<u64>> = Vec::new();
        for &(person, _) in &self.people {
            let mut set = vec![0; candidates.words()];
            for own in candidates.values(person) {
                let fits = |&(value, able): &(Value, usize)| {
                    let others = able - usize::from(candidates.has(person, value));
                    others + usize::from(own == value) >= self.least
                };
                if frequent.iter().any(fits) {
                    insert(&mut set, own.index());
                }
            }
            kept.push(set);
        }
        self.people.iter().zip(kept).for_each(|(&(person, _), kept)| _ = candidates.narrow(person, &kept));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the exact chance, by the numbers of draws: the bound is never above it.
    #[test]
    fn the_bound_is_never_below_the_exact_chance() {
        let choose = |n: usize, k: usize| (0..k).fold(1.0, |all, at| all * (n - at) as f64 / (at + 1) as f64);
        for (all, kind, drawn) in [(10, 4, 3), (20, 10, 6), (30, 3, 12), (12, 11, 4)] {
            for found in 0..=drawn.min(kind) {
                let ways = |found: usize| {
                    if drawn - found > all - kind {
                        0.0
                    } else {
                        choose(kind, found) * choose(all - kind, drawn - found)
                    }
                };
                let chance: f64 = (found..=drawn.min(kind)).map(ways).sum::<f64>() / choose(all, drawn);
                let bound = (-surprise(found, drawn, kind, all)).exp();
                assert!(bound >= chance - 1e-12, "{found} of {drawn}, {kind} of {all}: {bound} < {chance}");
            }
        }
        assert!(surprise(20, 20, 12, 22) > 12.0, "who waits for a frequent value");
    }
}
