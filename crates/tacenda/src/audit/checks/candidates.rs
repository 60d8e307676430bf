//! Which values remain possible for each person (science D4.4, A3.8).
//!
//! If people are known this is exact: the intersection of what each release leaves possible, narrowed by matching
//! everyone at once. If one value remains, any reader can repeat the breach. An attacker who does not know who is in
//! which release cannot intersect. Then a value is possible if any release has it at the person's point.
//!
//! # Values that change
//! A person whose value changed counts as a new person from the change on: the attacker is assumed to know of the
//! change. So nobody who is examined ever changes value, and every conclusion is true of the tables. The person counts
//! once, by the period with the fewest values. If nothing fits the tables, or someone's true value would be ruled out,
//! the tables and the releases contradict each other. Then the answer is not assessed.
//!
//! If people are not known, places are examined instead (`places`).

use crate::audit::candidates::Candidates;
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, households, places};
use crate::audit::knowledge::Knowledge;
use crate::audit::refine::{Places, RefineLimits, Refined};
use crate::audit::story::Story;
use crate::audit::{
    Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness, candidates, refine, story,
};
use crate::model::{Release, Value};

/// What is left for everyone.
pub(in crate::audit) struct Left {
    pub(super) candidates: Candidates,
    pub(super) refined: Refined,
    /// The components of each release; empty if presence is not known.
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
        let (refined, places) =
            refine::refine_and_place(&mut candidates, releases, knowledge, RefineLimits::of(ask.budget));
        Some(Left { candidates, refined, places })
    }

    /// Whether a group holds rows of people although nobody can be in it.
    fn has_rows_of_nobody(&self, ask: &Ask<'_>) -> bool {
        self.places.iter().zip(ask.with_sensitive()).any(|(places, (_, release))| {
            let mut has_people = vec![false; release.group_count()];
            for &group in places.found.iter().filter(|&&group| group != u32::MAX) {
                has_people[places.roots[group as usize] as usize] = true;
            }
            let is_empty = |group: usize| !has_people[places.roots[group] as usize] && release.people(group) > 0;
            (0..release.group_count()).any(is_empty)
        })
    }
}

/// The releases that have a sensitive column, and the knowledge of them. If all releases have one, nothing is copied.
pub(super) fn telling<'a>(ask: &Ask<'a>, knowledge: &Knowledge<'a>) -> (Vec<Release>, Option<Knowledge<'a>>) {
    let tells = |release: usize| ask.tells(release);
    if (0..ask.series.releases.len()).all(tells) {
        return (Vec::new(), None);
    }
    (ask.with_sensitive().map(|(_, release)| release.clone()).collect(), Some(knowledge.only(tells)))
}

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    if ask.series.traces.iter().all(|traces| traces.without_sensitive) {
        return Outcome::not_applicable(Check::Candidates, Reason::NoSensitiveColumn);
    }
    match ask.left() {
        Some(left) => of_people(ask, left),
        None => places::check(ask),
    }
}

fn of_people(ask: &Ask<'_>, left: &Left) -> Outcome {
    let truth = truth(ask);
    let is_true = |person: u32| {
        !left.candidates.is_inconsistent(person)
            && truth[person as usize].is_none_or(|truth| left.candidates.has(person, truth))
    };
    // Per person, the period without a change of value in which the fewest values are left.
    let mut worst = vec![u32::MAX; ask.series.knowledge.map_or(0, Knowledge::len)];
    let mut is_contradicted = left.refined.contradictory > 0 || left.has_rows_of_nobody(ask);
    for person in seen(ask, left.candidates.people()) {
        is_contradicted |= !is_true(person);
        let worst = &mut worst[ask.owner(person) as usize];
        if *worst == u32::MAX || left.candidates.size(person) < left.candidates.size(*worst) {
            *worst = person;
        }
    }
    worst.retain(|&person| person != u32::MAX);
    let people = worst.len() as u64;
    // If no group covers a person in a release they should be in, that release says nothing about them.
    let uncovered = left.candidates.people_nowhere() as u64;
    let looked_at = people - people.min(left.refined.not_assessed as u64 + uncovered);
    let mut outcome = Outcome::new(Check::Candidates, Coverage { looked_at, of: people, what: "people" });
    let l = ask.thresholds.l;
    let mut certain = Tally::new(Fault::ValueCertain);
    let mut few = Tally::new(Fault::FewCandidates);
    // Per number of values left, how many people.
    let mut histogram = [0u64; Quantity::MOST_VALUES as usize];
    for person in worst {
        let size = left.candidates.size(person);
        if size == 0 {
            continue;
        }
        histogram[size.min(Quantity::MOST_VALUES) as usize - 1] += 1;
        if size >= l || !is_true(person) {
            continue;
        }
        let witness = || Witness {
            values: left.candidates.values(person),
            person: Some(ask.owner(person)),
            ..Witness::new(
                Statement::FewCandidates { presence: ask.attacker.presence },
                groups_over(ask, person),
                u64::from(size),
                u64::from(l),
            )
        };
        let tally = if size == 1 { &mut certain } else { &mut few };
        tally.add(1, u64::from(size), witness);
    }
    outcome.measure(None, Quantity::People, people as f64);
    outcome.measure(None, Quantity::PeopleCertain, certain.people() as f64);
    outcome.measure(None, Quantity::PeopleBelowL, (certain.people() + few.people()) as f64);
    measure_left(ask, left, &histogram, &mut outcome);
    let (last, others) = ask.last_and_others();
    for mut tally in [certain, few] {
        tally.without_groups();
        outcome.found(tally.finding(last, others.clone()));
    }
    if !is_contradicted {
        households::known_others(ask, left, &mut outcome);
    }
    if outcome.findings.is_empty() {
        judge_without_findings(ask, left, is_contradicted, &mut outcome);
    }
    outcome
}

/// Decides whether finding nothing is a pass. The coverage says how many people were examined.
fn judge_without_findings(ask: &Ask<'_>, left: &Left, is_contradicted: bool, outcome: &mut Outcome) {
    let is_partial = outcome.coverage.looked_at < outcome.coverage.of;
    let theorem = || ask.theorem_of_values().filter(|_| is_partial || !left.refined.finished);
    if is_contradicted {
        outcome.verdict = Verdict::NotAssessed(Reason::Contradiction);
    } else if left.candidates.people_nowhere() > 0 {
        outcome.verdict = Verdict::NotAssessed(Reason::Uncovered);
    } else if ask.thresholds.l <= 1 {
        // At least one value is always left, so with a threshold of 1 there is nothing to judge.
        outcome.verdict = Verdict::Measured;
    } else if let Some(theorem) = theorem() {
        // Matching cannot rule out what is possible in such a world.
        outcome.proved(theorem);
    } else if is_partial {
        outcome.verdict = Verdict::NotAssessed(Reason::TooLargeToMatch);
        outcome.needs = Some(left.refined.needs()).filter(|&needs| needs > ask.budget.steps);
    } else if !left.refined.finished && ask.attacker.presence {
        outcome.verdict = Verdict::NotAssessed(Reason::MatchingUnfinished);
        outcome.needs = Some(left.refined.needs()).filter(|&needs| needs > ask.budget.steps);
    }
}

/// Measures how many values are left. `histogram` counts the people with one value left, with two and so on.
fn measure_left(ask: &Ask<'_>, left: &Left, histogram: &[u64], outcome: &mut Outcome) {
    let changed = ask.series.knowledge.map_or_else(Vec::new, Knowledge::changed);
    outcome.measure(None, Quantity::PeopleChanged, changed.iter().filter(|&&changed| changed).count() as f64);
    outcome.measure(None, Quantity::PointsUncovered, left.candidates.uncovered() as f64);
    outcome.measure(None, Quantity::ValuesRuledOut, left.refined.removed as f64);
    for (left, &count) in (1..).zip(histogram) {
        outcome.measure(None, Quantity::PeopleWithValuesLeft(left), count as f64);
    }
}

/// The people of releases that have values, ascending. Nothing is known of people who were always withheld.
pub(super) fn seen(ask: &Ask<'_>, people: usize) -> Vec<u32> {
    let mut is_seen = vec![false; people];
    if let Some(knowledge) = ask.people() {
        for release in (0..knowledge.releases()).filter(|&release| ask.tells(release)) {
            let here = knowledge.people(release).iter().filter(|&&person| person != Knowledge::ABSENT);
            here.for_each(|&person| is_seen[person as usize] = true);
        }
    }
    (0..people as u32).filter(|&person| is_seen[person as usize]).collect()
}

/// How many people there are, and how many of them were examined in every period without a change of value.
pub(super) fn coverage(ask: &Ask<'_>, is_looked_at: &[bool]) -> Coverage {
    let mut of_people: Vec<Option<bool>> = vec![None; ask.series.knowledge.map_or(0, Knowledge::len)];
    for person in seen(ask, is_looked_at.len()) {
        let whole = of_people[ask.owner(person) as usize].get_or_insert(true);
        *whole &= is_looked_at[person as usize];
    }
    let looked_at = of_people.iter().filter(|whole| **whole == Some(true)).count() as u64;
    Coverage { looked_at, of: of_people.iter().flatten().count() as u64, what: "people" }
}

/// Everyone's true value, to compare with the values left.
pub(super) fn truth(ask: &Ask<'_>) -> Vec<Option<Value>> {
    let Some(knowledge) = ask.people() else { return Vec::new() };
    match (0..knowledge.releases()).all(|release| ask.tells(release)) {
        true => knowledge.truth(),
        false => knowledge.only(|release| ask.tells(release)).truth(),
    }
}

/// The groups that cover a person in the releases they are in. It scans all groups, because only one person is shown.
pub(super) fn groups_over(ask: &Ask<'_>, person: u32) -> Vec<(u32, u32)> {
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

/// The worst case, step by step.
pub(in crate::audit) fn story(ask: &Ask<'_>) -> Option<Story> {
    let knowledge = ask.people().filter(|_| ask.attacker.presence)?;
    let (_, part) = telling(ask, knowledge);
    let knowledge = part.as_ref().unwrap_or(knowledge);
    let candidates = &ask.left()?.candidates;
    tell(ask, candidates.example(knowledge).or_else(|| candidates.closest(knowledge))?)
}

/// The stories of one person, one for each period without a change of value.
pub(in crate::audit) fn stories_of(ask: &Ask<'_>, person: u32) -> Vec<Story> {
    let people = 0..ask.people().map_or(0, Knowledge::len) as u32;
    people.filter(|&other| ask.owner(other) == person).filter_map(|other| tell(ask, other)).collect()
}

/// The story of one of [`Ask::people`]. It ends with the values that matching everyone at once leaves, because findings
/// count by these.
fn tell(ask: &Ask<'_>, person: u32) -> Option<Story> {
    let knowledge = ask.people().filter(|_| ask.attacker.presence)?;
    let (releases, part) = telling(ask, knowledge);
    let (releases, knowledge) = match &part {
        Some(part) => (&releases[..], part),
        None => (ask.series.releases, knowledge),
    };
    let told = story::tell(ask.series.schema, releases, knowledge, person);
    let told = told.ended_by(ask.left()?.candidates.values(person));
    Some(Story { person: Some(ask.owner(person)), ..told })
}
