//! Which people must share a value (science D4.8, B7).
//!
//! Two people who alone fill a group of two different values have different values. If one person shares such a group
//! with two different people in turn, with the same two values, then these two have the same value. Such chains are
//! followed with union-find with parity.
//!
//! # What is examined
//! In small components all worlds are counted, and people who have the same value in all of them are equal. People with
//! only one possible value are left to the check of candidates. In larger components, chains are followed through
//! groups of two rows and two values without counterfeits, if it is certain who is in them: two people whom no other
//! group covers, or no other group that is not full already. That finds some equal people and clears nobody, so the
//! people of larger components are not assessed. A person whose value changed is a new person from then on.

use crate::audit::checks::candidates::coverage;
use crate::audit::checks::posterior::{Counts, why_not_counted};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::worlds::Worlds;
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Release, Span, Value};
use crate::space::stab::Stab;
use crate::space::ties::Ties;
use std::collections::BTreeMap;

/// People who share a value in all worlds, and the groups that show it.
type Class = (Vec<u32>, Vec<(u32, u32)>);

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.people().filter(|_| ask.attacker.presence) else {
        return Outcome::not_applicable(Check::Equivalence, ask.why_unplaced());
    };
    let values = pairs::value_count(ask);
    let mut parity = Parity::new(knowledge.len());
    let mut met: Vec<Vec<(u32, u32)>> = vec![Vec::new(); knowledge.len()];
    for (place, release) in ask.with_sensitive() {
        for (group, [a, b]) in duels_of(release, knowledge, place as usize, values) {
            let set = release.group_values(group as usize);
            parity.oppose(a, b, (set[0], set[1]));
            met[a as usize].push((place, group));
            met[b as usize].push((place, group));
        }
    }
    let mut is_counted = vec![false; knowledge.len()];
    let mut classes: Vec<Class> = Vec::new();
    for (people, groups, worlds) in ask.counts().into_iter().flat_map(Counts::blind) {
        people.iter().for_each(|&person| is_counted[person as usize] = true);
        classes.extend(equals(people, worlds).into_iter().map(|class| (class, groups.to_vec())));
    }
    for class in parity.classes() {
        // The witness needs the groups of the whole chain, also those of people tied as opposite.
        if !is_counted[class[0] as usize] {
            let groups = chain(&mut parity, class[0], &met);
            classes.push((class, groups));
        }
    }
    let mut outcome = Outcome::new(Check::Equivalence, coverage(ask, &is_counted));
    let mut shared = Tally::new(Fault::MustShareValue);
    let mut largest = 0;
    classes.sort_unstable();
    for (class, groups) in classes {
        largest = largest.max(class.len());
        shared.add(class.len() as u64, (u32::MAX as u64) - class.len() as u64, || Witness {
            person: Some(ask.owner(class[0])),
            ..Witness::new(Statement::EqualValues, groups, class.len() as u64, 2)
        });
    }
    shared.without_groups();
    outcome.measure(None, Quantity::PeopleSharing, shared.people() as f64);
    outcome.measure(None, Quantity::LargestClassOfEquals, largest as f64);
    let (last, others) = ask.last_and_others();
    outcome.found(shared.finding(last, others));
    // Finding some people with equal values clears nobody else.
    if outcome.coverage.looked_at < outcome.coverage.of {
        let why = ask.counts().map(|counts| why_not_counted(ask, counts.is_impossible()));
        outcome.verdict = match (why, ask.theorem()) {
            // No promise hides that two people share a value. What was found is measured and reported.
            (Some(Reason::TooLargeToCount), Some(_)) if outcome.findings.is_empty() => {
                Verdict::NotApplicable(Reason::SharingNotPromised)
            }
            (why, _) => Verdict::NotAssessed(why.unwrap_or(Reason::NoSensitiveColumn)),
        };
    }
    outcome
}

/// People who share a value in all worlds of a component although the value is not certain, class by class.
fn equals(people: &[u32], worlds: &Worlds) -> Vec<Vec<u32>> {
    let mut ties = Ties::new(people.len());
    for &(a, b) in worlds.always_equal.iter().filter(|(a, _)| worlds.values(*a).len() > 1) {
        ties.tie(a, b);
    }
    let mut classes: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (at, &person) in people.iter().enumerate() {
        classes.entry(ties.find(at as u32)).or_default().push(person);
    }
    classes.into_values().filter(|class| class.len() > 1).collect()
}

fn chain(parity: &mut Parity, person: u32, met: &[Vec<(u32, u32)>]) -> Vec<(u32, u32)> {
    let root = parity.find(person).0;
    let mut groups: Vec<(u32, u32)> = (0..met.len() as u32)
        .filter(|&other| parity.find(other).0 == root)
        .flat_map(|other| met[other as usize].clone())
        .collect();
    groups.sort_unstable();
    groups.dedup();
    groups
}

/// A group of two people and two values.
fn is_duel(release: &Release, group: usize) -> bool {
    let values = release.group_values(group);
    values.len() == 2 && values[0] != values[1] && release.counterfeits[group] == 0
}

/// A person covered by more groups is not followed.
const MOST_HITS: usize = 8;

/// Groups of two people and two values whose two members are certain.
fn duels_of(release: &Release, knowledge: &Knowledge<'_>, index: usize, values: usize) -> Vec<(u32, [u32; 2])> {
    if !(0..release.group_count()).any(|group| is_duel(release, group)) {
        return Vec::new();
    }
    let stab = Stab::new(release, values);
    let mut hits: Vec<(u32, Vec<u32>)> = Vec::new();
    let mut point = vec![0; knowledge.attributes()];
    for (row, &person) in knowledge.people(index).iter().enumerate() {
        if person == Knowledge::ABSENT {
            continue;
        }
        knowledge.read_point(index, row, &mut point);
        let region: Vec<Span> = point.iter().map(|&code| Span::exact(code)).collect();
        let mut groups = Vec::new();
        stab.each_overlapping(&region, |group| {
            groups.push(group);
            groups.len() <= MOST_HITS
        });
        hits.push((person, groups));
    }
    // If a group is filled by people who can be in no other group, nobody else can be in it.
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); release.group_count()];
    let mut open: Vec<usize> = (0..hits.len()).collect();
    loop {
        let full =
            |group: u32, members: &[Vec<u32>]| members[group as usize].len() as u32 >= release.people(group as usize);
        let before = open.len();
        let mut still = Vec::with_capacity(open.len());
        for at in open {
            let (person, groups) = &mut hits[at];
            if groups.len() <= MOST_HITS {
                groups.retain(|&group| !full(group, &members));
            }
            match groups[..] {
                [only] => members[only as usize].push(*person),
                _ => still.push(at),
            }
        }
        open = still;
        if open.len() == before {
            break;
        }
    }
    let certain = (0..release.group_count()).filter(|&group| is_duel(release, group));
    certain.filter_map(|group| Some((group as u32, <[u32; 2]>::try_from(&members[group][..]).ok()?))).collect()
}

/// People tied to each other as equal or opposite: union-find with parity.
#[derive(Clone)]
struct Parity {
    /// Per person, the person they are tied to, and whether the two are opposite.
    parents: Vec<(u32, bool)>,
    /// Per root, the two values.
    sets: Vec<Option<(Value, Value)>>,
}

impl Parity {
    fn new(people: usize) -> Parity {
        Parity { parents: (0..people as u32).map(|person| (person, false)).collect(), sets: vec![None; people] }
    }

    fn find(&mut self, person: u32) -> (u32, bool) {
        let (mut root, mut opposite) = (person, false);
        while self.parents[root as usize].0 != root {
            opposite ^= self.parents[root as usize].1;
            root = self.parents[root as usize].0;
        }
        self.parents[person as usize] = (root, opposite);
        (root, opposite)
    }

    /// Records that two people have different ones of two values. If their chain has other values, at least one person
    /// is certain. The check of candidates reports that, and the chain ends there.
    fn oppose(&mut self, a: u32, b: u32, set: (Value, Value)) {
        let ((root_a, flip_a), (root_b, flip_b)) = (self.find(a), self.find(b));
        let fits = |known: Option<(Value, Value)>| known.is_none_or(|known| known == set);
        if root_a == root_b || !fits(self.sets[root_a as usize]) || !fits(self.sets[root_b as usize]) {
            return;
        }
        let (low, high) = (root_a.min(root_b), root_a.max(root_b));
        self.parents[high as usize] = (low, !(flip_a ^ flip_b));
        self.sets[low as usize] = Some(set);
    }

    /// People who share a value with somebody, class by class, ascending.
    fn classes(&mut self) -> Vec<Vec<u32>> {
        let mut classes: BTreeMap<(u32, bool), Vec<u32>> = BTreeMap::new();
        for person in 0..self.parents.len() as u32 {
            let place = self.find(person);
            classes.entry(place).or_default().push(person);
        }
        let mut classes: Vec<Vec<u32>> = classes.into_values().filter(|class| class.len() > 1).collect();
        classes.sort_unstable();
        classes
    }
}
