//! Which values remain possible for each person (SCIENCE D4.4, A3.8).
//!
//! Where people are known this is exact: the intersection of what each release leaves open, narrowed by
//! matching everyone at once. One value left is a breach that any reader can repeat. An attacker who
//! does not know who is in which release cannot intersect: then a value is possible if any release has
//! it at the person's point.
//!
//! # Values that change
//! A person whose value changed is somebody new from the change on, for someone who was told so: nobody of
//! those who are looked at ever changes their value, so every conclusion is true of the tables. The person
//! counts once, by the time of which least is left. Where nothing fits the tables, or someone's true value
//! would be ruled out, the tables and the releases contradict each other: that is not assessed.
//!
//! Where people are not known, places are looked at instead: whoever lies where two groups of two releases
//! overlap, and is in both releases, has a value that groups over this place have in both. Whether anyone
//! is there cannot be told from outside.

use crate::audit::Check;
use crate::audit::Coverage;
use crate::audit::Fault;
use crate::audit::Outcome;
use crate::audit::Verdict;
use crate::audit::Witness;
use crate::audit::candidates;
use crate::audit::candidates::Candidates;
use crate::audit::checks::Ask;
use crate::audit::checks::pairs;
use crate::audit::checks::tally::Tally;
use crate::audit::knowledge::Knowledge;
use crate::audit::refine;
use crate::audit::refine::Places;
use crate::audit::refine::RefineLimits;
use crate::audit::refine::Refined;
use crate::audit::stab::Stab;
use crate::audit::stab::insert;
use crate::audit::stab::members;
use crate::audit::stab::words;
use crate::audit::story;
use crate::audit::story::Story;
use crate::model::Release;
use crate::model::Span;
use crate::model::Value;
use rayon::iter::IntoParallelIterator;
use rayon::iter::ParallelIterator;

/// What is left for everyone.
pub(in crate::audit) struct Left {
    pub(super) candidates: Candidates,
    pub(super) refined: Refined,
    /// What hangs together in each release; empty where presence is not known.
    pub(super) places: Vec<Places>,
}

impl Left {
    /// `None` where people are not known.
    pub(super) fn new(ask: &Ask<'_>) -> Option<Left> {
        let knowledge = ask.people()?;
        let (releases, part) = telling(ask, knowledge);
        let (releases, knowledge) = match &part {
            Some(part) => (&releases[..], part),
            None => (ask.series.releases, knowledge),
        };
        if !ask.attacker.presence {
            let candidates = candidates::attack_unsure(releases, knowledge, ask.attacker.first_release);
            return Some(Left { candidates, refined: Refined::default(), places: Vec::new() });
        }
        let mut candidates = candidates::attack(releases, knowledge);
        let limits = RefineLimits { people: ask.limits.refine_people, ..RefineLimits::default() };
        let (refined, places) = refine::refine_and_place(&mut candidates, releases, knowledge, limits);
        Some(Left { candidates, refined, places })
    }
}

/// The releases that have a sensitive column, and the knowledge of them; nothing where all have.
fn telling<'a>(ask: &Ask<'a>, knowledge: &Knowledge<'a>) -> (Vec<Release>, Option<Knowledge<'a>>) {
    let tells = |release: usize| ask.tells(release);
    if (0..ask.series.releases.len()).all(tells) {
        return (Vec::new(), None);
    }
    (ask.with_sensitive().map(|(_, release)| release.clone()).collect(), Some(knowledge.only(tells)))
}

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.series.traces.iter().all(|traces| traces.without_sensitive) {
        return Outcome::not_applicable(Check::Candidates, "no release has a sensitive column");
    }
    match ask.left() {
        Some(left) => of_people(ask, left),
        None => of_places(ask),
    }
}

/// Names of the measures by how many values are left.
const HISTOGRAM: [&str; 8] = [
    "people with 1 value left",
    "people with 2 values left",
    "people with 3 values left",
    "people with 4 values left",
    "people with 5 values left",
    "people with 6 values left",
    "people with 7 values left",
    "people with 8 or more values left",
];

fn of_people(ask: &Ask<'_>, left: &Left) -> Outcome {
    let truth = truth(ask);
    let is_true = |person: u32| {
        !left.candidates.is_inconsistent(person)
            && truth[person as usize].is_none_or(|truth| left.candidates.has(person, truth))
    };
    // Per person, the time between changes of their value of which least is left.
    let mut worst = vec![u32::MAX; ask.series.knowledge.map_or(0, Knowledge::len)];
    let mut is_contradicted = left.refined.contradictory > 0;
    for person in seen(ask, left.candidates.people()) {
        is_contradicted |= !is_true(person);
        let worst = &mut worst[ask.owner(person) as usize];
        if *worst == u32::MAX || left.candidates.size(person) < left.candidates.size(*worst) {
            *worst = person;
        }
    }
    worst.retain(|&person| person != u32::MAX);
    let people = worst.len() as u64;
    let looked_at = people - people.min(left.refined.not_assessed as u64);
    let mut outcome = Outcome::new(Check::Candidates, Coverage { looked_at, of: people, what: "people" });
    let l = ask.thresholds.l;
    let mut certain = Tally::new(Fault::ValueCertain);
    let mut few = Tally::new(Fault::FewCandidates);
    let mut histogram = [0u64; HISTOGRAM.len()];
    for person in worst {
        let size = left.candidates.size(person);
        if size == 0 {
            continue;
        }
        histogram[(size as usize - 1).min(HISTOGRAM.len() - 1)] += 1;
        if size >= l || !is_true(person) {
            continue;
        }
        let witness = || Witness {
            claim: if ask.attacker.presence { TOGETHER } else { ANYWHERE },
            groups: groups_over(ask, person),
            values: left.candidates.values(person),
            person: Some(ask.owner(person)),
            attribute: None,
            number: u64::from(size),
            line: u64::from(l),
        };
        let tally = if size == 1 { &mut certain } else { &mut few };
        tally.add(1, u64::from(size), witness);
    }
    let changed = ask.series.knowledge.map_or_else(Vec::new, Knowledge::changed);
    outcome.measure(None, "people", people as f64);
    outcome.measure(None, "people certain", certain.people() as f64);
    outcome.measure(None, "people below l", (certain.people() + few.people()) as f64);
    outcome.measure(None, "people whose value changed", changed.iter().filter(|&&changed| changed).count() as f64);
    outcome.measure(None, "points no group covers", left.candidates.uncovered as f64);
    outcome.measure(None, "values ruled out by matching", left.refined.removed as f64);
    for (name, &count) in HISTOGRAM.iter().zip(&histogram) {
        outcome.measure(None, name, count as f64);
    }
    let last = ask.series.releases.last().map_or(0, |release| release.number);
    let others: Vec<u32> = ask.series.releases.iter().map(|release| release.number).filter(|&n| n != last).collect();
    for mut tally in [certain, few] {
        tally.without_groups();
        if let Some(finding) = tally.finding(last, others.clone()) {
            outcome = outcome.found(finding);
        }
    }
    if outcome.findings.is_empty() {
        if is_contradicted {
            outcome.verdict = Verdict::NotAssessed(CONTRADICTION);
        } else if looked_at < people {
            outcome.verdict = Verdict::NotAssessed("some components were too large to match everyone at once");
        } else if !left.refined.finished && ask.attacker.presence {
            outcome.verdict = Verdict::NotAssessed("matching everyone at once did not come to an end");
        }
    }
    outcome
}

/// Why nothing can be said where what is known does not fit what was published.
pub(super) const CONTRADICTION: &str = "the tables and the releases contradict each other";

/// Who is in some release, ascending; of somebody who was always withheld nothing is known.
pub(super) fn seen(ask: &Ask<'_>, people: usize) -> Vec<u32> {
    let mut is_seen = vec![false; people];
    if let Some(knowledge) = ask.people() {
        for release in 0..knowledge.releases() {
            let here = knowledge.people(release).iter().filter(|&&person| person != Knowledge::ABSENT);
            here.for_each(|&person| is_seen[person as usize] = true);
        }
    }
    (0..people as u32).filter(|&person| is_seen[person as usize]).collect()
}

/// Everyone's value, to hold what is left against.
fn truth(ask: &Ask<'_>) -> Vec<Option<Value>> {
    let Some(knowledge) = ask.people() else { return Vec::new() };
    match (0..knowledge.releases()).all(|release| ask.tells(release)) {
        true => knowledge.truth(),
        false => knowledge.only(|release| ask.tells(release)).truth(),
    }
}

/// The groups that cover a person in the releases they are in; a scan, for the one who is shown.
fn groups_over(ask: &Ask<'_>, person: u32) -> Vec<(u32, u32)> {
    let mut groups = Vec::new();
    for (place, release) in ask.with_sensitive() {
        let Some(point) = ask.people().and_then(|knowledge| knowledge.point(place as usize, person)) else {
            continue;
        };
        let covers =
            |&group: &u32| release.region(group as usize).iter().zip(&point).all(|(span, &code)| span.contains(code));
        groups.extend((0..release.group_count() as u32).filter(covers).map(|group| (place, group)));
    }
    groups
}

const TOGETHER: &str = "in each release the person is in, their value is one of the groups' that cover them, and everyone there \
                        needs a row of their own; all releases together leave the values given";
const ANYWHERE: &str =
    "the groups that cover the person, in all releases they may be in, have the values given and no others";

/// The worst case, step by step.
pub(in crate::audit) fn story(ask: &Ask<'_>) -> Option<Story> {
    let knowledge = ask.people().filter(|_| ask.attacker.presence)?;
    let (releases, part) = telling(ask, knowledge);
    let (releases, knowledge) = match &part {
        Some(part) => (&releases[..], part),
        None => (ask.series.releases, knowledge),
    };
    let candidates = &ask.left()?.candidates;
    let person = candidates.example(knowledge).or_else(|| candidates.closest(knowledge))?;
    let told = story::tell(ask.series.schema, releases, knowledge, person);
    Some(Story { person: ask.owner(person), ..told })
}

/// Groups of the earlier release that are looked at between two looks at the budget.
const PIECE: u32 = 512;

fn of_places(ask: &Ask<'_>) -> Outcome {
    if pairs::pairs(ask).is_empty() || !ask.attacker.presence {
        let why = "people are not known, and an attacker who does not know who is where has nothing to intersect";
        return Outcome::not_applicable(Check::Candidates, why);
    }
    let mut outcome = Outcome::new(Check::Candidates, Coverage { what: "groups", ..Coverage::default() });
    let values = pairs::value_count(ask);
    for (earlier, later) in pairs::pairs(ask) {
        let pair = Laid::new(ask, earlier, later, values);
        let mut tally = Tally::new(Fault::PlaceGivesAway);
        let groups = pair.earlier.group_count() as u32;
        outcome.coverage.of += u64::from(groups);
        let (mut from, mut looked_at) = (0, 0u64);
        while from < groups && looked_at < ask.limits.pairs {
            let to = groups.min(from + PIECE);
            let found: Vec<(u64, Vec<Witness>)> = (from..to).into_par_iter().map(|group| pair.look(group)).collect();
            for (pairs, witnesses) in found {
                looked_at += pairs;
                for (witness, people) in witnesses.into_iter().map(|witness| pair.with_people(witness)) {
                    tally.add(people, witness.number, || witness);
                }
            }
            outcome.coverage.looked_at += u64::from(to - from);
            from = to;
        }
        outcome.measure(Some(pair.later.number), "pairs of overlapping groups", looked_at as f64);
        tally.at_most(pair.later.row_count() as u64);
        if let Some(finding) = tally.finding(pair.later.number, vec![pair.earlier.number]) {
            outcome = outcome.found(finding);
        }
    }
    if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        outcome.verdict = Verdict::NotAssessed("too many groups overlap");
    }
    outcome
}

/// Two releases laid over each other, each with an index.
struct Laid<'a> {
    places: (u32, u32),
    earlier: &'a Release,
    later: &'a Release,
    old: Stab,
    new: Stab,
    words: usize,
    l: u64,
    keeps_sets: bool,
}

impl<'a> Laid<'a> {
    fn new(ask: &Ask<'a>, earlier: u32, later: u32, values: usize) -> Laid<'a> {
        let places = (earlier, later);
        let (earlier, later) = (&ask.series.releases[earlier as usize], &ask.series.releases[later as usize]);
        Laid {
            places,
            earlier,
            later,
            old: Stab::new(earlier, values),
            new: Stab::new(later, values),
            words: words(values),
            l: ask.thresholds.l.into(),
            keeps_sets: pairs::keeps_sets(ask.series.promise),
        }
    }

    fn bits(&self, release: &Release, group: u32) -> Vec<u64> {
        let mut bits = vec![0; self.words];
        release.group_values(group as usize).iter().for_each(|value| insert(&mut bits, value.index()));
        bits
    }

    /// How many groups overlap a group of the earlier release, and which places give too much away.
    fn look(&self, group: u32) -> (u64, Vec<Witness>) {
        let mine = self.bits(self.earlier, group);
        let (mut pairs, mut found) = (0, Vec::new());
        let mut close: Vec<u32> = Vec::new();
        self.new.each_overlapping(self.earlier.region(group as usize), |other| {
            pairs += 1;
            let theirs = self.bits(self.later, other);
            let shared: u32 = mine.iter().zip(&theirs).map(|(a, b)| (a & b).count_ones()).sum();
            // Who keeps to value sets is never in two groups with different ones.
            if u64::from(shared) < self.l && !(self.keeps_sets && mine != theirs) {
                close.push(other);
            }
            true
        });
        close.sort_unstable();
        for other in close {
            let regions = self.earlier.region(group as usize).iter().zip(self.later.region(other as usize));
            let place: Vec<Span> = regions.map(|(a, b)| a.meet(*b)).collect();
            found.extend(self.values_at(&place).map(|values| Witness {
                claim: "whoever lies where the two groups overlap, and is in both releases, has one of the values given: no \
                        other value occurs over this place in both",
                groups: vec![(self.places.0, group), (self.places.1, other)],
                number: values.len() as u64,
                values,
                person: None,
                attribute: None,
                line: self.l,
            }));
        }
        (pairs, found)
    }

    /// The values that occur over a place in both releases, if they are too few and not none.
    fn values_at(&self, place: &[Span]) -> Option<Vec<Value>> {
        let mut old = vec![0; self.words];
        self.old.each_overlapping(place, |group| {
            self.earlier.group_values(group as usize).iter().for_each(|value| insert(&mut old, value.index()));
            true
        });
        let mut both = vec![0u64; self.words];
        self.new.each_overlapping(place, |group| {
            for value in self.later.group_values(group as usize) {
                let (word, bit) = (value.index() / 64, 1 << (value.index() % 64));
                both[word] |= old[word] & bit;
            }
            both.iter().map(|bits| u64::from(bits.count_ones())).sum::<u64>() < self.l
        });
        let values: Vec<Value> = members(&both).map(Value).collect();
        (!values.is_empty() && (values.len() as u64) < self.l).then_some(values)
    }

    /// How many people there are at most who stand in both groups.
    fn with_people(&self, witness: Witness) -> (Witness, u64) {
        let count = |release: &Release, group: u32, value: Value| {
            release.group_values(group as usize).iter().filter(|&&other| other == value).count() as u64
        };
        let [(_, old), (_, new)] = witness.groups[..] else { unreachable!("a place lies in two groups") };
        let fits = |&value: &Value| count(self.earlier, old, value).min(count(self.later, new, value));
        let people = witness.values.iter().map(fits).sum();
        (witness, people)
    }
}
