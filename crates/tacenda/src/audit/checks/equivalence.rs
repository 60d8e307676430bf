//! Which people must share a value (SCIENCE D4.8, B7).
//!
//! Two people who alone fill a group of two different values have different ones: if the one has the
//! first, the other has the second. Whoever stands against the same person twice, with the same two values,
//! is equal to the other partner. Chains of this are followed with union and find by parity.
//!
//! # What is looked at
//! Groups of two rows and two values without counterfeits, where it is certain who stands in them: two
//! people whom no other group covers, or no other group that is not full already.

use crate::audit::Check;
use crate::audit::Coverage;
use crate::audit::Fault;
use crate::audit::Outcome;
use crate::audit::Witness;
use crate::audit::checks::Ask;
use crate::audit::checks::pairs;
use crate::audit::checks::tally::Tally;
use crate::audit::knowledge::Knowledge;
use crate::audit::stab::Stab;
use crate::model::Release;
use crate::model::Span;
use crate::model::Value;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.series.knowledge.filter(|_| ask.attacker.presence) else {
        return Outcome::not_applicable(Check::Equivalence, "who stands in a group is not known");
    };
    let values = pairs::value_count(ask);
    let mut parity = Parity::new(knowledge.len());
    let (mut duels, mut pairs) = (0u64, 0u64);
    let mut met: Vec<Vec<(u32, u32)>> = vec![Vec::new(); knowledge.len()];
    for (place, release) in ask.with_sensitive() {
        pairs += (0..release.group_count()).filter(|&group| is_duel(release, group)).count() as u64;
        for (group, [a, b]) in duels_of(release, knowledge, place as usize, values) {
            duels += 1;
            let set = release.group_values(group as usize);
            parity.oppose(a, b, (set[0], set[1]));
            met[a as usize].push((place, group));
            met[b as usize].push((place, group));
        }
    }
    let coverage = Coverage { looked_at: duels, of: pairs, what: "groups of two rows" };
    let mut outcome = Outcome::new(Check::Equivalence, coverage);
    let mut shared = Tally::new(Fault::MustShareValue);
    let mut largest = 0;
    for class in parity.classes() {
        largest = largest.max(class.len());
        // The groups of the whole chain: of everyone tied to them, equal or opposite.
        shared.add(class.len() as u64, (u32::MAX as u64) - class.len() as u64, || Witness {
            claim: "each group holds two people with its two values, so they differ; the people of the chain that stand at even \
                    distance are the number, and have one value",
            groups: chain(&mut parity.clone(), class[0], &met),
            values: Vec::new(),
            person: Some(class[0]),
            number: class.len() as u64,
            line: 2,
        });
    }
    shared.without_groups();
    outcome.measure(None, "people who must share a value", shared.people() as f64);
    outcome.measure(None, "largest class of equals", largest as f64);
    let last = ask.series.releases.last().map_or(0, |release| release.number);
    let others = ask.series.releases.iter().map(|release| release.number).filter(|&number| number != last).collect();
    if let Some(finding) = shared.finding(last, others) {
        outcome = outcome.found(finding);
    }
    outcome
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

/// The most groups a person may be covered by to be followed.
const MOST_HITS: usize = 8;

/// Groups of two people and two values of which it is certain who stands in them.
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
    // A group that is full with people who can be nowhere else is closed to everyone else.
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

/// People tied to each other as equal or opposite, by union and find.
#[derive(Clone)]
struct Parity {
    /// Per person, who they are tied to, and whether they are opposite to them.
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

    /// Two people have different ones of two values. With other values than before, at least one of
    /// them is certain, which candidates tell; the chain ends there.
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

    /// People who are equal to somebody, class by class, ascending.
    fn classes(&mut self) -> Vec<Vec<u32>> {
        let mut classes: std::collections::BTreeMap<(u32, bool), Vec<u32>> = std::collections::BTreeMap::new();
        for person in 0..self.parents.len() as u32 {
            let place = self.find(person);
            classes.entry(place).or_default().push(person);
        }
        let mut classes: Vec<Vec<u32>> = classes.into_values().filter(|class| class.len() > 1).collect();
        classes.sort_unstable();
        classes
    }
}
