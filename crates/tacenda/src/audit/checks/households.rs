//! What people who live together give away, where the private tables name households.
//!
//! Who lives together is no secret, and people of one household know much of each other. Two things are asked if people are
//! known:
//!
//! 1. Does only one household fit a group? Then all its values are of this household. k counts people and does not see it.
//! 2. A reader knows the values of a person's whole household but the person's own, or of another household in the same
//!    groups. Each of these people has a row of their own. Do the other rows leave one value?
//!
//! # Why nobody is accused wrongly
//! Groups that cover a common person are taken together. Everyone known is in one row of them, so a value is ruled out only if
//! all rows with it are theirs, whichever these are. That is true of every world.
//!
//! # Not concluded
//! It is one way to learn something: what each release leaves is intersected, and nobody else is matched again.

use crate::audit::checks::Ask;
use crate::audit::checks::candidates::{Left, groups_over, truth};
use crate::audit::checks::tally::Tally;
use crate::audit::knowledge::Knowledge;
use crate::audit::{Fault, Outcome, Quantity, Statement, Witness};
use crate::model::{Release, Value};
use crate::space::stab::Stab;
use crate::space::ties::Ties;
use rustc_hash::{FxHashMap, FxHashSet};

/// Everyone, with where they live.
struct Homes<'b, 'a> {
    knowledge: &'b Knowledge<'a>,
    /// Per person. Who lives alone, or in no household that is known, has a number from `alone` on.
    of: Vec<u32>,
    alone: u32,
}

impl<'b, 'a> Homes<'b, 'a> {
    fn new(ask: &'b Ask<'a>) -> Option<Homes<'b, 'a>> {
        let households = ask.series.households?;
        let knowledge = ask.people().filter(|_| ask.attacker.presence)?;
        let alone = households.len();
        let home = |person: u32| households.of(knowledge.key(person)).unwrap_or(alone + ask.owner(person));
        Some(Homes { knowledge, of: (0..knowledge.len() as u32).map(home).collect(), alone })
    }

    /// Everyone in a release, by row: who it is, and the groups over them.
    fn standing(&self, place: u32, release: &Release) -> Vec<(usize, u32, Vec<u32>)> {
        let stab = Stab::without_values(release);
        let mut point = vec![0; self.knowledge.attributes()];
        let mut all = Vec::new();
        for (row, &person) in self.knowledge.people(place as usize).iter().enumerate() {
            if person != Knowledge::ABSENT {
                self.knowledge.read_point(place as usize, row, &mut point);
                let mut over = Vec::new();
                stab.each(&point, |group| over.push(group));
                all.push((row, person, over));
            }
        }
        all
    }
}

/// Groups that only one household fits.
pub(super) fn alone_in_groups(ask: &Ask<'_>, outcome: &mut Outcome) {
    let Some(homes) = Homes::new(ask) else { return };
    for (place, release) in ask.releases() {
        let mut fitting: Vec<FxHashSet<u32>> = vec![FxHashSet::default(); release.group_count()];
        let mut people = vec![0u32; release.group_count()];
        for (_, person, over) in homes.standing(place, release) {
            for group in over {
                fitting[group as usize].insert(homes.of[person as usize]);
                people[group as usize] += 1;
            }
        }
        let mut one = Tally::new(Fault::OneHousehold);
        for (group, fitting) in fitting.iter().enumerate() {
            let here = release.people(group);
            let is_known = fitting.iter().all(|&home| home < homes.alone);
            // One person alone is told of as such; and where rows are of people nobody knows, nothing is.
            if here > 1 && fitting.len() == 1 && is_known && people[group] >= here {
                let witness = || Witness::new(Statement::OneHousehold, vec![(place, group as u32)], u64::from(here), 2);
                one.add(u64::from(here), u64::from(here), witness);
            }
        }
        let with_people = (0..release.group_count()).filter(|&group| release.people(group) > 0);
        if let Some(least) = with_people.map(|group| fitting[group].len()).min() {
            outcome.measure(Some(release.number), Quantity::LeastHouseholds, least as f64);
        }
        outcome.found(one.finding(release.number, Vec::new()));
    }
}

/// What is left for people once a household is known.
struct Known<'b> {
    left: &'b Left,
    /// Per person, the values that are left once the rest of the household is known; none where that is all of them.
    values: Vec<Option<Vec<Value>>>,
    /// Who is left with one value once another household is known, and that value.
    others: FxHashMap<u32, Value>,
}

/// People whose value is certain for a reader who knows a household.
pub(super) fn known_others(ask: &Ask<'_>, left: &Left, outcome: &mut Outcome) {
    let Some(homes) = Homes::new(ask) else { return };
    let mut known = Known { left, values: vec![None; homes.of.len()], others: FxHashMap::default() };
    for (place, release) in ask.with_sensitive() {
        known.narrow(&homes, place, release);
    }
    let truth = truth(ask);
    let mut tally = Tally::new(Fault::HouseholdGivesAway);
    let mut told: FxHashSet<u32> = FxHashSet::default();
    for person in 0..homes.of.len() as u32 {
        let own = known.values[person as usize].as_ref().filter(|values| values.len() == 1).map(|values| values[0]);
        let Some(value) = own.or(known.others.get(&person).copied()) else { continue };
        let is_true = truth[person as usize].is_none_or(|truth| truth == value);
        // Who was certain before is told of already.
        if left.candidates.size(person) < 2 || !is_true || !told.insert(ask.owner(person)) {
            continue;
        }
        tally.add(1, u64::from(own.is_none()), || Witness {
            values: vec![value],
            person: Some(ask.owner(person)),
            ..Witness::new(Statement::CertainByHousehold { own: own.is_some() }, groups_over(ask, person), 1, 2)
        });
    }
    let (last, others) = ask.last_and_others();
    tally.without_groups();
    outcome.measure(None, Quantity::PeopleCertainByHousehold, tally.people() as f64);
    outcome.found(tally.finding(last, others));
}

impl Known<'_> {
    /// Takes the rows of households from those of a release.
    fn narrow(&mut self, homes: &Homes<'_, '_>, place: u32, release: &Release) {
        let standing = homes.standing(place, release);
        let truth = homes.knowledge.values(place as usize);
        let mut ties = Ties::new(release.group_count());
        standing.iter().for_each(|(_, _, over)| over.windows(2).for_each(|pair| ties.tie(pair[0], pair[1])));
        let mut rows: FxHashMap<(u32, Value), u32> = FxHashMap::default();
        for group in 0..release.group_count() {
            let root = ties.find(group as u32);
            release.group_values(group).iter().for_each(|&value| *rows.entry((root, value)).or_default() += 1);
        }
        let mut taken: FxHashMap<(u32, u32, Value), u32> = FxHashMap::default();
        let mut members: FxHashMap<(u32, u32), u32> = FxHashMap::default();
        let mut of_root: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (row, person, over) in &standing {
            let Some(&group) = over.first() else { continue };
            let (root, home) = (ties.find(group), homes.of[*person as usize]);
            *taken.entry((home, root, truth[*row])).or_default() += 1;
            *members.entry((home, root)).or_default() += 1;
            of_root.entry(root).or_default().push(*person);
        }
        for (row, person, over) in &standing {
            let Some(&group) = over.first() else { continue };
            let (root, home) = (ties.find(group), homes.of[*person as usize]);
            if members[&(home, root)] < 2 {
                continue;
            }
            let is_left = |value: &Value| {
                let own = u32::from(*value == truth[*row]);
                let others = taken.get(&(home, root, *value)).copied().unwrap_or(0) - own;
                rows.get(&(root, *value)).is_some_and(|&rows| rows > others)
            };
            let left = self.left;
            let values = self.values[*person as usize].get_or_insert_with(|| left.candidates.values(*person));
            values.retain(is_left);
        }
        for (&(home, root), _) in members.iter().filter(|((home, _), people)| *home < homes.alone && **people > 1) {
            let taken = |value: Value| taken.get(&(home, root, value)).copied().unwrap_or(0);
            let mut left = rows.iter().filter(|((of, value), rows)| *of == root && **rows > taken(*value));
            let (Some(((_, value), _)), None) = (left.next(), left.next()) else { continue };
            let others = of_root[&root].iter().filter(|&&person| homes.of[person as usize] != home);
            others.for_each(|&person| _ = self.others.insert(person, *value));
        }
    }
}
