//! How likely each value is for each person, counting all worlds (science D4.7, A3.7).
//!
//! People whose groups are connected over all releases form a component. In a small component all ways to assign people
//! to rows (worlds) are counted. One count is *blind*: it takes all worlds that fit the releases. The promise may say
//! that people keep their value sets, or stay with the people they arrived with. Then a second count takes only the
//! worlds that keep this rule, and the promise is judged by it. The check also counts the people who would have one
//! value left if the values of `known` others were known.
//!
//! A person whose value changed is a new person from then on, so that every world gives each person one value. If no
//! world keeps the promise, or all that keep it contradict somebody's true value, the promise is broken there. Then the
//! blind worlds are judged instead. If there is no world at all, the tables and the releases contradict each other, and
//! the answer is not assessed.

use crate::audit::checks::candidates::{Left, coverage, telling, truth};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::worlds::{Counting, Keep, Person, Worlds};
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{GroupRule, Regions, Release, Value};
use crate::space::ties::Ties;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let known = ask.people().filter(|_| ask.attacker.presence);
    let Some(knowledge) = known else {
        let mut outcome = Outcome::not_applicable(Check::Posterior, ask.why_unplaced());
        if ask.attacker.known_people > 0 {
            outcome.verdict = Verdict::NotAssessed(match ask.series.knowledge {
                Some(_) => Reason::PresenceUnknown,
                None => Reason::AccomplicesUnknown,
            });
        }
        return outcome;
    };
    let Some(counts) = ask.counts() else {
        return Outcome::not_applicable(Check::Posterior, Reason::NoSensitiveColumn);
    };
    let mut is_counted = vec![false; knowledge.len()];
    for (component, _) in counts.all().filter(|(_, counted)| counted.judged.count > 0) {
        component.people.iter().for_each(|&person| is_counted[person as usize] = true);
    }
    let mut outcome = Outcome::new(Check::Posterior, coverage(ask, &is_counted));
    let impossible = judge(ask, counts, &mut outcome);
    if outcome.findings.is_empty() && ask.thresholds.l <= 1 && ask.attacker.known_people == 0 && impossible == 0 {
        // No share exceeds 1, so with `l` = 1 there is nothing to judge.
        outcome.verdict = Verdict::Measured;
    } else if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        let why = why_not_counted(ask, impossible > 0);
        // The shares are those of the ways that keep the promise's rule. If nobody saw it kept, the promise is relied on.
        let theorem = || ask.theorem().or_else(|| ask.theorem_as_promised()).filter(|_| ask.attacker.presence);
        match (why == Reason::TooLargeToCount).then(theorem).flatten() {
            Some(theorem) => outcome.proved(theorem),
            None => {
                outcome.verdict = Verdict::NotAssessed(why);
                outcome.needs = counts.needs;
            }
        }
    } else if outcome.findings.is_empty() && are_linked(ask) {
        outcome.verdict = Verdict::NotAssessed(Reason::LinkedIdsIgnored);
    }
    outcome
}

/// Whether published ids rule out worlds that are counted here. With cohorts they do not: a person keeps one row of one
/// group in all releases.
fn are_linked(ask: &Ask<'_>) -> bool {
    let linked = ask.series.releases.iter().filter(|release| !release.linked.is_empty()).count();
    linked > 1 && ask.series.promise.is_none_or(|promise| promise.groups != GroupRule::Unchanged)
}

/// Why the worlds of some people were not counted.
pub(super) fn why_not_counted(ask: &Ask<'_>, is_impossible: bool) -> Reason {
    let is_uncovered = ask.left().is_some_and(|left| left.candidates.uncovered() > 0);
    match (is_impossible, is_uncovered) {
        (true, _) => Reason::Contradiction,
        (false, true) => Reason::Uncovered,
        (false, false) => Reason::TooLargeToCount,
    }
}

/// All worlds of all components that the budget reached.
pub(in crate::audit) struct Counts {
    components: Vec<Component>,
    /// Per component; `None` if the budget did not reach it.
    counted: Vec<Option<Counted>>,
    /// The budget with which the next component would be tried again; `None` if there is no such component.
    needs: Option<u64>,
}

/// The steps that every component gets in the first round. Components that need more get sixteen times as many in the
/// next round.
const FIRST_STEPS: u64 = 1 << 12;

/// A step of a count writes a list of rows. It costs as much as this many steps of a matching.
const STEPS_OF_A_WORLD: u64 = 32;

/// The most people of a component that is counted. No count of a larger one was ever seen to end.
const MOST_PEOPLE: usize = 512;

/// The most people of a component that has all the steps that are left.
const MOST_OF_A_LAST_TRY: usize = 25;

impl Counts {
    /// `None` if people are not known, or no release has values. Releases without values are left out.
    pub(super) fn new(ask: &Ask<'_>) -> Option<Counts> {
        let knowledge = ask.people().filter(|_| ask.attacker.presence)?;
        let places: Vec<u32> = ask.with_sensitive().map(|(place, _)| place).collect();
        if places.is_empty() {
            return None;
        }
        let (releases, part) = telling(ask, knowledge);
        let (releases, knowledge) = match &part {
            Some(part) => (&releases[..], part),
            None => (ask.series.releases, knowledge),
        };
        let truth = truth(ask);
        let mut components = components((releases, &places), knowledge, ask.left()?);
        // The smallest components come first: they settle the most people per step.
        components.sort_by_key(|component| component.people.len());
        let mut counted: Vec<Option<Counted>> = components.iter().map(|_| None).collect();
        let mut open: Vec<usize> = (0..components.len()).collect();
        let (mut left, mut steps) = (ask.budget.steps / STEPS_OF_A_WORLD, FIRST_STEPS);
        let mut next = steps;
        while !open.is_empty() && left >= steps {
            let mut still: Vec<usize> = Vec::new();
            // Runs as many components at once as could all use their full steps; most use fewer.
            while !open.is_empty() && left >= steps {
                let rest = open.split_off(open.len().min((left / steps) as usize));
                let tried = std::mem::replace(&mut open, rest);
                let round: Vec<(Option<Counted>, u64)> =
                    tried.par_iter().map(|&at| count(ask, &components[at], &truth, steps)).collect();
                for (at, (answer, spent)) in tried.into_iter().zip(round) {
                    left -= spent.min(left);
                    counted[at] = answer;
                    if counted[at].is_none() {
                        still.push(at);
                    }
                }
            }
            still.append(&mut open);
            open = still;
            next = steps * 16;
            if left < next {
                // What is left goes to a last try of the small ones. The gate judged everyone of a series with a promise before it
                // left: there another try would hardly change an answer.
                let is_tried = |at: &usize| components[*at].people.len() <= MOST_OF_A_LAST_TRY;
                open.retain(|at| ask.series.promise.is_none() && is_tried(at));
            }
            steps = next.min(left.max(steps + 1));
        }
        let needs = counted
            .iter()
            .any(Option::is_none)
            .then(|| ask.budget.steps.saturating_sub(left * STEPS_OF_A_WORLD).saturating_add(next * STEPS_OF_A_WORLD));
        Some(Counts { components, counted, needs })
    }

    /// The components whose worlds were counted.
    fn all(&self) -> impl Iterator<Item = (&Component, &Counted)> {
        self.components
            .iter()
            .zip(&self.counted)
            .filter_map(|(component, counted)| Some((component, counted.as_ref()?)))
    }

    /// Whether some component has no world that fits the releases.
    pub(super) fn is_impossible(&self) -> bool {
        self.all().any(|(_, counted)| counted.blind.count == 0)
    }

    /// The people of each component that has worlds, its groups, and all worlds that fit the releases.
    pub(super) fn blind(&self) -> impl Iterator<Item = (&[u32], &[(u32, u32)], &Worlds)> {
        let all = self.all().filter(|(_, counted)| counted.blind.count > 0);
        all.map(|(component, counted)| (&component.people[..], &component.groups[..], &counted.blind))
    }
}

/// Judges every component. Returns how many people are in components without a world.
fn judge(ask: &Ask<'_>, counts: &Counts, outcome: &mut Outcome) -> u64 {
    let l = u64::from(ask.thresholds.l);
    let mut certain = Tally::new(Fault::WorldsCertain);
    let mut likely = Tally::new(Fault::LikelyValue);
    let mut known = Tally::new(Fault::OneKnownGivesAway);
    let mut told_of: [FxHashSet<u32>; 3] = Default::default();
    let (mut worst, mut worst_blind, mut impossible) = (0.0f64, 0.0f64, 0u64);
    for (component, counted) in counts.all() {
        if counted.judged.count == 0 {
            impossible += component.people.len() as u64;
            continue;
        }
        worst_blind = worst_blind.max(most(&counted.blind, component).map_or(0.0, |best| best.1));
        for (at, &person) in component.people.iter().enumerate() {
            let Some((value, share)) = likeliest(&counted.judged, at as u32) else { continue };
            worst = worst.max(share.0 as f64 / share.1 as f64);
            if share.0.saturating_mul(u128::from(l)) <= share.1 {
                continue;
            }
            let permille = (share.0 as f64 / share.1 as f64 * 1000.0) as u64;
            let (tally, told) = if share.0 == share.1 { (&mut certain, 0) } else { (&mut likely, 1) };
            // A person whose value changed counts once.
            let is_new = u64::from(told_of[told].insert(ask.owner(person)));
            tally.add(is_new, 1000 - permille.min(1000), || Witness {
                values: vec![value],
                person: Some(ask.owner(person)),
                ..Witness::new(Statement::LikelyValue, component.groups.clone(), permille, l)
            });
        }
        for &at in &counted.known {
            let is_new = u64::from(told_of[2].insert(ask.owner(component.people[at as usize])));
            known.add(is_new, 0, || Witness {
                person: Some(ask.owner(component.people[at as usize])),
                ..Witness::new(
                    Statement::CertainByOthers,
                    component.groups.clone(),
                    u64::from(ask.attacker.known_people),
                    1,
                )
            });
        }
    }
    outcome.measure(None, Quantity::LargestPosterior, worst);
    outcome.measure(None, Quantity::LargestPosteriorBlind, worst_blind);
    outcome.measure(None, Quantity::PeopleWithoutWorld, impossible as f64);
    outcome.measure(None, Quantity::PeopleCertainInAllWorlds, certain.people() as f64);
    outcome.measure(None, Quantity::PeopleAboveOneInL, (certain.people() + likely.people()) as f64);
    if ask.attacker.known_people > 0 {
        outcome.measure(None, Quantity::PeopleCertainByOthers, known.people() as f64);
    }
    let (last, others) = ask.last_and_others();
    for mut tally in [certain, likely, known] {
        tally.without_groups();
        if let Some(finding) = tally.finding(last, others.clone()) {
            outcome.verdict = Verdict::Fail;
            outcome.findings.push(finding);
        }
    }
    impossible
}

/// People and groups that are connected over all releases.
#[derive(Default)]
struct Component {
    people: Vec<u32>,
    /// Release and group.
    groups: Vec<(u32, u32)>,
    releases: Vec<Release>,
    persons: Vec<Person>,
}

/// The worlds of one component.
struct Counted {
    /// The worlds that keep the promise's rule, if it has one; otherwise all worlds.
    judged: Worlds,
    blind: Worlds,
    /// The people who have one value left if the values of some others are known.
    known: Vec<u32>,
}

/// Counts the worlds of a component in at most `steps` steps. Also returns how many steps were allowed.
fn count(ask: &Ask<'_>, component: &Component, truth: &[Option<Value>], steps: u64) -> (Option<Counted>, u64) {
    let keep = if ask.attacker.known_people > 0 { Keep::Assignments } else { Keep::Counts };
    let mut spent = 0;
    let mut count = |counting| {
        let (releases, persons) = (&component.releases, &component.persons);
        let (worlds, took) = Worlds::count_and_keep(releases, persons, counting, steps, keep);
        spent += took;
        worlds.ok()
    };
    let mut answer = || {
        let blind = count(Counting::Blind)?;
        let is_true = |worlds: &Worlds| {
            let mut people = component.people.iter().zip(0..);
            let fits =
                |(&person, at): (&u32, u32)| truth[person as usize].is_none_or(|v| worlds.values(at).contains(&v));
            worlds.count > 0 && people.all(fits)
        };
        let principled = match ask.series.promise {
            Some(promise) if promise.groups == GroupRule::Unchanged => Some(count(Counting::Cohorts)?),
            promise if pairs::keeps_sets(promise) => Some(count(Counting::Principled)?),
            _ => None,
        };
        let judged = principled.filter(is_true).unwrap_or_else(|| blind.clone());
        let of_component: Vec<Option<Value>> = component.people.iter().map(|&person| truth[person as usize]).collect();
        let known = betrayed(&judged, ask.attacker.known_people, &of_component);
        Some(Counted { judged, blind, known })
    };
    let answer = answer();
    (answer, spent)
}

/// A person's likeliest value and its share; the lowest of equals.
fn likeliest(worlds: &Worlds, person: u32) -> Option<(Value, (u128, u128))> {
    let shares = worlds.values(person).into_iter().filter_map(|value| {
        let share = worlds.risk(person, value)?;
        Some((value, (share.part, share.whole)))
    });
    shares.rev().max_by_key(|share| share.1.0)
}

fn most(worlds: &Worlds, component: &Component) -> Option<(Value, f64)> {
    let all = (0..component.people.len() as u32).filter_map(|person| likeliest(worlds, person));
    all.map(|(value, share)| (value, share.0 as f64 / share.1 as f64)).max_by(|a, b| a.1.total_cmp(&b.1))
}

/// The people with several values who have one left if the values of some `count` others are known.
fn betrayed(worlds: &Worlds, count: u32, truth: &[Option<Value>]) -> Vec<u32> {
    let mut found = Vec::new();
    for (people, assignments) in &worlds.assignments {
        // Only people of the same component can give anything away.
        let count = (count as usize).min(people.len() - 1);
        let truth: Vec<Option<Value>> = people.iter().map(|&person| truth[person as usize]).collect();
        for at in 0..people.len() {
            let is_open = assignments.iter().any(|values| values[at] != assignments.first().expect("one")[at]);
            let mut chosen = Vec::new();
            if is_open
                && choose(people.len(), at, count, 0, &mut chosen, &mut |known| {
                    gives_away(assignments, at, known, &truth)
                })
            {
                found.push(people[at]);
            }
        }
    }
    found.sort_unstable();
    found
}

/// Whether some choice of `count` others has a property.
fn choose(
    people: usize,
    at: usize,
    left: usize,
    from: usize,
    chosen: &mut Vec<usize>,
    test: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    if left == 0 {
        return !chosen.is_empty() && test(chosen);
    }
    for other in (from..people).filter(|&other| other != at) {
        chosen.push(other);
        let found = choose(people, at, left - 1, other + 1, chosen, test);
        chosen.pop();
        if found {
            return true;
        }
    }
    false
}

/// Whether the values of the `known` people leave the person only one value.
fn gives_away(
    assignments: &std::collections::BTreeSet<Vec<Value>>,
    at: usize,
    known: &[usize],
    truth: &[Option<Value>],
) -> bool {
    let fits = |values: &&Vec<Value>| known.iter().all(|&other| truth[other] == Some(values[other]));
    let mut left = assignments.iter().filter(fits).map(|values| values[at]);
    left.next().is_some_and(|first| left.all(|value| value == first))
}

/// The components over all releases, prepared for the count of worlds.
fn components((releases, places_of): (&[Release], &[u32]), knowledge: &Knowledge<'_>, left: &Left) -> Vec<Component> {
    let mut offsets = vec![0u32];
    for release in releases {
        offsets.push(offsets[offsets.len() - 1] + release.group_count() as u32);
    }
    let mut ties = Ties::new(offsets[releases.len()] as usize);
    let mut home = vec![u32::MAX; knowledge.len()];
    for (index, places) in left.places.iter().enumerate() {
        for (group, &root) in places.roots.iter().enumerate() {
            ties.tie(offsets[index] + group as u32, offsets[index] + root);
        }
        for (&person, &group) in knowledge.people(index).iter().zip(&places.found) {
            if person != Knowledge::ABSENT && group != u32::MAX {
                let home = &mut home[person as usize];
                ties.tie(offsets[index] + group, if *home == u32::MAX { offsets[index] + group } else { *home });
                *home = offsets[index] + group;
            }
        }
    }
    let mut sizes = vec![0u32; offsets[releases.len()] as usize];
    for &home in home.iter().filter(|&&home| home != u32::MAX) {
        sizes[ties.find(home) as usize] += 1;
    }
    let mut components: BTreeMap<u32, Component> = BTreeMap::new();
    let is_small = |size: u32| size > 0 && size as usize <= MOST_PEOPLE;
    for (person, &home) in home.iter().enumerate().filter(|(_, home)| **home != u32::MAX) {
        let root = ties.find(home);
        if is_small(sizes[root as usize]) {
            components.entry(root).or_default().people.push(person as u32);
        }
    }
    for (index, release) in releases.iter().enumerate() {
        for group in 0..release.group_count() as u32 {
            if let Some(component) = components.get_mut(&ties.find(offsets[index] + group)) {
                component.groups.push((places_of[index], group));
            }
        }
    }
    let rows: Vec<Vec<u32>> = if components.is_empty() {
        Vec::new()
    } else {
        (0..releases.len()).map(|release| knowledge.rows(release)).collect()
    };
    let mut components: Vec<Component> = components.into_values().collect();
    for component in &mut components {
        component.cut_out((releases, places_of), knowledge, &rows);
    }
    components
}

impl Component {
    /// The component's own part of every release, and its people.
    fn cut_out(&mut self, (releases, places): (&[Release], &[u32]), knowledge: &Knowledge<'_>, rows: &[Vec<u32>]) {
        for (release, &place) in releases.iter().zip(places) {
            let mut part = Release {
                number: release.number,
                regions: Regions::new(release.regions.attributes()),
                ..Release::default()
            };
            for &(_, group) in self.groups.iter().filter(|group| group.0 == place) {
                part.regions.push(release.region(group as usize));
                part.sensitive.extend_from_slice(release.group_values(group as usize));
                part.ends.push(part.sensitive.len() as u32);
                part.counterfeits.push(release.counterfeits[group as usize]);
            }
            self.releases.push(part);
        }
        for &person in &self.people {
            let point = |release: usize| {
                let row = rows[release][person as usize];
                (row != Knowledge::ABSENT).then(|| {
                    let mut point = vec![0; knowledge.attributes()];
                    knowledge.read_point(release, row as usize, &mut point);
                    point
                })
            };
            self.persons.push(Person { points: (0..releases.len()).map(point).collect() });
        }
    }
}
