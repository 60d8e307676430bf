//! Exact risk on tiny histories, by counting every world (science A3.7).
//!
//! A world gives each person, in every release they are in, a row of a group that covers them. Each row is used at most
//! once, exactly the declared number of rows of each group is left for counterfeits, and all rows of a person have one
//! value. In a *principled* world all groups of a person also have one value set, because the attacker knows that the
//! publisher keeps this rule. With *cohorts*, a person stays in one group that is published unchanged and was new in
//! the person's first release. The risk of a value is the share of worlds in which the person has it.
//!
//! Rows of a group with the same value are not distinguished here, so a world is counted with the number
//! of ways to do so. What no seating of everyone in one release allows is left out first. Components, people who can never
//! get into each other's way, are then counted apart and multiplied. Worlds are counted together where the same rows are
//! free (`sweep`). They are listed one by one only where the values that people have together are asked for.

use crate::audit::sweep;
use crate::audit::sweep::Counted;
use crate::model::{Release, Value};
use crate::space::matching::{Asked, Crowd, Wishes, keep_usable};
use crate::space::ties::Ties;
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

/// A person as the attacker knows them: their quasi codes in each release, `None` where absent.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Person {
    /// One per release.
    pub points: Vec<Option<Vec<u32>>>,
}

/// Which worlds count.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Counting {
    /// Those in which everyone's groups have one value set.
    Principled,
    /// Those in which everyone stays in a group that was new when they arrived.
    Cohorts,
    /// All that fit the releases.
    Blind,
}

/// What is kept of the worlds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Keep {
    /// How many there are.
    Counts,
    /// Also the values that people have together.
    Assignments,
}

/// Why the worlds were not counted.
#[derive(Clone, Copy, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WorldsError {
    /// The search took too many steps.
    #[error("the history is too large to count its worlds: more than {limit} steps; use candidate sets instead")]
    TooLarge {
        /// How many steps are allowed.
        limit: u64,
    },
    /// A count does not fit 128 bits.
    #[error("the history has more worlds than can be counted; use candidate sets instead")]
    TooMany,
}

/// A share, exact where its smallest numbers fit 128 bits. Others are rounded in the last of these bits.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Share {
    /// How many.
    pub part: u128,
    /// Of how many.
    pub whole: u128,
}

impl Share {
    /// Whether it equals `part / whole`.
    pub fn is(self, part: u128, whole: u128) -> bool {
        self.part.checked_mul(whole).zip(part.checked_mul(self.whole)).is_some_and(|(one, other)| one == other)
    }
}

/// All worlds, counted.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Worlds {
    /// How many there are, with rows of a group alike in value not distinguished; the largest number there is where there
    /// are more.
    pub count: u128,
    /// Per person, in how many worlds of their component they have each value, and the number of these worlds. Rows
    /// with the same value are distinguished here.
    shares: Vec<(BTreeMap<Value, u128>, u128)>,
    /// Pairs of people who have the same value in every world, the lower first, ascending.
    pub always_equal: Vec<(u32, u32)>,
    /// Per component, its people and the distinct lists of values they have in some world; only if asked for.
    pub assignments: Vec<(Vec<u32>, BTreeSet<Vec<Value>>)>,
}

impl Worlds {
    /// Counts the worlds of `people` in `releases`, in at most `limit` steps.
    pub fn count(
        releases: &[Release],
        people: &[Person],
        counting: Counting,
        limit: u64,
    ) -> Result<Worlds, WorldsError> {
        Worlds::count_and_keep(releases, people, counting, limit, Keep::Counts).0
    }

    /// Counts the worlds, and keeps the values that people have together if that is asked for. Also returns the steps
    /// it took.
    pub fn count_and_keep(
        releases: &[Release],
        people: &[Person],
        counting: Counting,
        limit: u64,
        keep: Keep,
    ) -> (Result<Worlds, WorldsError>, u64) {
        let mut left = limit;
        let worlds = Worlds::counted(releases, people, counting, (limit, &mut left), keep);
        let spent = if worlds.is_ok() { limit - left } else { limit };
        (worlds, spent)
    }

    fn counted(
        releases: &[Release],
        people: &[Person],
        counting: Counting,
        (limit, budget): (u64, &mut u64),
        keep: Keep,
    ) -> Result<Worlds, WorldsError> {
        let places = Seats::new(releases);
        let too_large = |stop| match stop {
            Stop::Steps => WorldsError::TooLarge { limit },
            Stop::Overflow => WorldsError::TooMany,
        };
        let mut options: Vec<Vec<Tag>> =
            people.iter().map(|person| tags(releases, &places, person, counting)).collect();
        let mut worlds = Worlds {
            count: 1,
            shares: vec![(BTreeMap::new(), 0); people.len()],
            always_equal: Vec::new(),
            assignments: Vec::new(),
        };
        let is_present = |&person: &u32| people[person as usize].points.iter().any(Option::is_some);
        let present: Vec<u32> = (0..people.len() as u32).filter(is_present).collect();
        if !prune(&places, releases, &mut options, &present, budget).map_err(too_large)? {
            worlds.count = 0;
            return Ok(worlds);
        }
        let mut covered = vec![false; places.groups.len()];
        for component in components(&places, &options, &present) {
            let of_component: Vec<&[Tag]> = component.iter().map(|&person| &options[person as usize][..]).collect();
            let spots = of_component.iter().flat_map(|tags| tags.iter()).flat_map(|tag| tag.spots.iter().flatten());
            spots.for_each(|&(group, _)| covered[group as usize] = true);
            if keep == Keep::Counts {
                let counted = sweep::count(&places, &of_component, budget).map_err(too_large)?;
                worlds.add(&component, counted);
                continue;
            }
            let choices: Result<Vec<Vec<Choice>>, Stop> =
                of_component.iter().map(|tags| choices(tags, budget)).collect();
            let choices = choices.map_err(too_large)?;
            let mut search = Search::new(&places, &choices, budget);
            search.run().map_err(too_large)?;
            let equal = search.equal_pairs();
            let Search { count, whole, parts, assignments, .. } = search;
            let parts = parts.into_iter().map(|parts| (parts, whole)).collect();
            worlds.add(&component, Counted { count, parts, equal });
            worlds.assignments.push((component, assignments));
        }
        // A group that nobody can be in must hold only counterfeits.
        if covered.iter().zip(&places.groups).any(|(&covered, group)| !covered && group.people > 0) {
            worlds.count = 0;
        }
        worlds.pair_the_certain();
        Ok(worlds)
    }

    /// The share of worlds in which a person has a value. `None` if there are no worlds,
    /// or the person is in no release.
    pub fn risk(&self, person: u32, value: Value) -> Option<Share> {
        let (parts, whole) = &self.shares[person as usize];
        (self.count > 0 && *whole > 0).then(|| Share { part: parts.get(&value).copied().unwrap_or(0), whole: *whole })
    }

    /// The values a person has in some world, ascending.
    pub fn values(&self, person: u32) -> Vec<Value> {
        self.shares[person as usize].0.keys().copied().collect()
    }

    fn add(&mut self, people: &[u32], counted: Counted) {
        self.count = self.count.saturating_mul(counted.count);
        for (&person, parts) in people.iter().zip(counted.parts) {
            self.shares[person as usize] = parts;
        }
        self.always_equal.extend(counted.equal.iter().map(|&(a, b)| (people[a as usize], people[b as usize])));
    }

    /// Adds the pairs of certain people with the same value. Across components no other pairs are always equal.
    fn pair_the_certain(&mut self) {
        let certain: Vec<(u32, Value)> = (0..self.shares.len() as u32)
            .filter_map(|person| match self.values(person)[..] {
                [only] => Some((person, only)),
                _ => None,
            })
            .collect();
        for (index, &(first, value)) in certain.iter().enumerate() {
            let others = certain[index + 1..].iter().filter(|other| other.1 == value);
            self.always_equal.extend(others.map(|&(second, _)| (first, second)));
        }
        self.always_equal.sort_unstable();
        self.always_equal.dedup();
    }
}

/// The groups of all releases, and their rows by value.
pub(super) struct Seats {
    pub(super) groups: Vec<GroupSeats>,
    /// The first group of each release.
    starts: Vec<u32>,
    /// Per cell, how many rows there are.
    pub(super) cells: Vec<u32>,
}

/// One group.
pub(super) struct GroupSeats {
    /// How many people are in it.
    pub(super) people: u32,
    /// Its values, ascending, and the cell of each.
    pub(super) values: Vec<(Value, u32)>,
}

impl Seats {
    fn new(releases: &[Release]) -> Seats {
        let mut places = Seats { groups: Vec::new(), starts: Vec::new(), cells: Vec::new() };
        for release in releases {
            places.starts.push(places.groups.len() as u32);
            for group in 0..release.group_count() {
                let mut values = Vec::new();
                for run in release.group_values(group).chunk_by(|a, b| a == b) {
                    values.push((run[0], places.cells.len() as u32));
                    places.cells.push(run.len() as u32);
                }
                places.groups.push(GroupSeats { people: release.people(group), values });
            }
        }
        places
    }

    /// How many counterfeits a group has.
    pub(super) fn counterfeits(&self, group: u32) -> u32 {
        let group = &self.groups[group as usize];
        let rows: u32 = group.values.iter().map(|&(_, cell)| self.cells[cell as usize]).sum();
        rows.saturating_sub(group.people)
    }

    /// The groups of a release.
    fn of_release(&self, release: usize) -> Range<u32> {
        self.starts[release]..self.starts.get(release + 1).copied().unwrap_or(self.groups.len() as u32)
    }
}

/// What a person may be: a value, and the groups that go with it. A way to be in all their releases is a row of it in each.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) value: Value,
    /// The releases they are in.
    pub(super) releases: Vec<u32>,
    /// For each of these, group and cell.
    pub(super) spots: Vec<Vec<(u32, u32)>>,
}

/// One way for a person to be in all their releases.
#[derive(Clone, Debug)]
struct Choice {
    value: Value,
    /// Group and cell, one per release they are in.
    spots: Vec<(u32, u32)>,
}

/// Everything a person may be.
fn tags(releases: &[Release], places: &Seats, person: &Person, counting: Counting) -> Vec<Tag> {
    let mut all: Vec<(Tag, u32)> = Vec::new();
    let here = |(index, release)| {
        let point: &Option<Vec<u32>> = &person.points[index];
        Some((index, release, point.as_ref()?))
    };
    for (turn, (index, release, point)) in releases.iter().enumerate().filter_map(here).enumerate() {
        let covers = |group: &u32| {
            let region = release.region((group - places.starts[index]) as usize);
            region.iter().zip(point).all(|(span, &code)| span.contains(code))
        };
        let groups: Vec<u32> = places.of_release(index).filter(covers).collect();
        if turn == 0 {
            for &group in &groups {
                let own = (group - places.starts[index]) as usize;
                if counting == Counting::Cohorts && index > 0 && !is_new(&releases[index - 1], release, own) {
                    continue;
                }
                for &(value, _) in &places.groups[group as usize].values {
                    let is_there = |(tag, home): &(Tag, u32)| {
                        tag.value == value && goes_with(releases, places, *home, group, counting)
                    };
                    if !all.iter().any(is_there) {
                        all.push((Tag { value, releases: Vec::new(), spots: Vec::new() }, group));
                    }
                }
            }
        }
        for (tag, home) in &mut all {
            let spot = |&group: &u32| {
                let values = &places.groups[group as usize].values;
                let place = values.binary_search_by_key(&tag.value, |entry| entry.0).ok()?;
                goes_with(releases, places, *home, group, counting).then_some((group, values[place].1))
            };
            tag.releases.push(index as u32);
            tag.spots.push(groups.iter().filter_map(spot).collect());
        }
        all.retain(|(tag, _)| tag.spots.last().is_some_and(|spots| !spots.is_empty()));
    }
    all.into_iter().map(|(tag, _)| tag).collect()
}

/// Whether somebody who was first in one group may be in another.
fn goes_with(releases: &[Release], places: &Seats, home: u32, group: u32, counting: Counting) -> bool {
    match counting {
        Counting::Blind => true,
        Counting::Principled => value_set(places, home).eq(value_set(places, group)),
        Counting::Cohorts => {
            let find = |group: u32| {
                let release = places.starts.partition_point(|&start| start <= group) - 1;
                (&releases[release], (group - places.starts[release]) as usize)
            };
            let ((one, at), (other, there)) = (find(home), find(group));
            is_alike(one, at, other, there)
        }
    }
}

/// All ways for a person to be in all their releases.
fn choices(tags: &[Tag], steps: &mut u64) -> Result<Vec<Choice>, Stop> {
    let mut all: Vec<Choice> = Vec::new();
    for tag in tags {
        let mut ways = vec![Choice { value: tag.value, spots: Vec::new() }];
        for spots in &tag.spots {
            let longer = (ways.len() * spots.len()) as u64;
            *steps = steps.checked_sub(longer).ok_or(Stop::Steps)?;
            let with = |way: &Choice| {
                let way = way.clone();
                spots.iter().map(move |&spot| Choice { value: way.value, spots: [&way.spots[..], &[spot]].concat() })
            };
            ways = ways.iter().flat_map(with).collect();
        }
        all.append(&mut ways);
    }
    Ok(all)
}

/// The cells that each person of a release may take.
struct Cells {
    /// Per person, ascending; as numbers from the first cell of the release on.
    of_people: Vec<Vec<usize>>,
}

impl Wishes for Cells {
    fn people(&self) -> usize {
        self.of_people.len()
    }

    fn each(&self, person: usize, mut tell: impl FnMut(usize, bool)) {
        self.of_people[person].iter().for_each(|&cell| tell(cell, true));
    }

    fn compare(&self, one: usize, other: usize) -> Ordering {
        self.of_people[one].cmp(&self.of_people[other])
    }
}

/// Leaves out what no seating of everyone in one release allows, until nothing changes. Answers whether everyone can still be
/// something.
fn prune(
    places: &Seats,
    releases: &[Release],
    options: &mut [Vec<Tag>],
    present: &[u32],
    steps: &mut u64,
) -> Result<bool, Stop> {
    let mut is_changed = vec![true; releases.len()];
    while let Some(release) = is_changed.iter().position(|&is_changed| is_changed) {
        is_changed[release] = false;
        if present.iter().any(|&person| options[person as usize].is_empty()) {
            return Ok(false);
        }
        let Some(lost) = unusable(places, release, options, present, steps)? else { return Ok(false) };
        for (person, cells) in lost {
            let tags = &mut options[person as usize];
            for tag in tags.iter_mut() {
                let at = tag.releases.iter().position(|&at| at as usize == release).expect("they are in the release");
                tag.spots[at].retain(|spot| cells.binary_search(&spot.1).is_ok());
            }
            let before = tags.len();
            tags.retain(|tag| tag.spots.iter().all(|spots| !spots.is_empty()));
            if tags.len() < before {
                // What was open to them elsewhere with that value may be gone.
                let elsewhere = tags.iter().flat_map(|tag| &tag.releases);
                elsewhere.for_each(|&at| is_changed[at as usize] |= at as usize != release);
            }
        }
    }
    Ok(present.iter().all(|&person| !options[person as usize].is_empty()))
}

/// Who loses a cell in a release, and the cells left to them, ascending. `None` where not everyone can be seated.
#[expect(clippy::type_complexity, reason = "people with what is left to them")]
fn unusable(
    places: &Seats,
    release: usize,
    options: &[Vec<Tag>],
    present: &[u32],
    steps: &mut u64,
) -> Result<Option<Vec<(u32, Vec<u32>)>>, Stop> {
    let groups = places.of_release(release);
    let of_groups = groups.clone().flat_map(|group| &places.groups[group as usize].values);
    let Some(first) = of_groups.clone().next().map(|entry| entry.1) else { return Ok(Some(Vec::new())) };
    let rooms: Vec<u32> = of_groups.map(|entry| places.cells[entry.1 as usize]).collect();
    let mut others: Vec<(Range<usize>, u32)> = Vec::new();
    for group in groups {
        let (values, counterfeits) = (&places.groups[group as usize].values, places.counterfeits(group));
        if counterfeits > 0 {
            let start = (values[0].1 - first) as usize;
            others.push((start..start + values.len(), counterfeits));
        }
    }
    let mut here: Vec<u32> = Vec::new();
    let mut cells = Cells { of_people: Vec::new() };
    for &person in present {
        let own = options[person as usize].iter().filter_map(|tag| {
            let at = tag.releases.iter().position(|&at| at as usize == release)?;
            Some(&tag.spots[at])
        });
        let mut own: Vec<usize> = own.flatten().map(|spot| (spot.1 - first) as usize).collect();
        if own.is_empty() {
            continue;
        }
        own.sort_unstable();
        own.dedup();
        *steps = steps.checked_sub(own.len() as u64).ok_or(Stop::Steps)?;
        here.push(person);
        cells.of_people.push(own);
    }
    let seated = here.len() as u64 + others.iter().map(|other| u64::from(other.1)).sum::<u64>();
    if seated != rooms.iter().map(|&room| u64::from(room)).sum::<u64>() {
        return Ok(None);
    }
    let crowd = Crowd { rooms: &rooms, wishes: &cells, others: &others };
    let mut lost: Vec<(u32, Vec<u32>)> = Vec::new();
    let asked = keep_usable(&crowd, usize::MAX, |at, left| {
        let mut left: Vec<u32> = left.map(|cell| cell + first).collect();
        left.sort_unstable();
        lost.push((here[at], left));
    });
    Ok((asked == Asked::Answered).then_some(lost))
}

/// Whether two groups are published alike.
fn is_alike(one: &Release, group: usize, other: &Release, at: usize) -> bool {
    one.region(group) == other.region(at) && one.group_values(group) == other.group_values(at)
}

/// Whether a release has more groups like this one than the release before.
fn is_new(before: &Release, release: &Release, group: usize) -> bool {
    let like = |other: &Release| (0..other.group_count()).filter(|&at| is_alike(release, group, other, at)).count();
    like(release) > like(before)
}

fn value_set(places: &Seats, group: u32) -> impl Iterator<Item = Value> {
    places.groups[group as usize].values.iter().map(|&(value, _)| value)
}

/// People in sets that share no group, each set ascending.
fn components(places: &Seats, options: &[Vec<Tag>], present: &[u32]) -> Vec<Vec<u32>> {
    let mut ties = Ties::new(options.len() + places.groups.len());
    for &person in present {
        for &(group, _) in options[person as usize].iter().flat_map(|tag| tag.spots.iter().flatten()) {
            ties.tie(person, options.len() as u32 + group);
        }
    }
    let mut sets: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for &person in present {
        sets.entry(ties.find(person)).or_default().push(person);
    }
    let mut sets: Vec<Vec<u32>> = sets.into_values().collect();
    sets.sort_unstable();
    sets
}

/// Lists the worlds of one component, the person with the fewest choices first.
struct Search<'a, 'b> {
    places: &'a Seats,
    /// Per person.
    options: &'a [Vec<Choice>],
    groups: Vec<u32>,
    budget: &'b mut u64,
    room: Vec<u32>,
    seats: Vec<u32>,
    chosen: Vec<Option<usize>>,
    count: u128,
    whole: u128,
    parts: Vec<BTreeMap<Value, u128>>,
    /// Per pair, whether they have been equal in every world so far.
    equal: Vec<bool>,
    assignments: BTreeSet<Vec<Value>>,
}

#[derive(Debug)]
pub(super) enum Stop {
    Steps,
    Overflow,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(places: &'a Seats, options: &'a [Vec<Choice>], budget: &'b mut u64) -> Search<'a, 'b> {
        let all = options.iter().flatten().flat_map(|choice| &choice.spots);
        let mut groups: Vec<u32> = all.map(|&(group, _)| group).collect();
        groups.sort_unstable();
        groups.dedup();
        Search {
            places,
            options,
            groups,
            budget,
            room: places.cells.clone(),
            seats: places.groups.iter().map(|group| group.people).collect(),
            chosen: vec![None; options.len()],
            count: 0,
            whole: 0,
            parts: vec![BTreeMap::new(); options.len()],
            equal: vec![true; options.len() * options.len()],
            assignments: BTreeSet::new(),
        }
    }

    fn run(&mut self) -> Result<(), Stop> {
        *self.budget = self.budget.checked_sub(1).ok_or(Stop::Steps)?;
        let fits = |search: &Search<'_, '_>, choice: &Choice| {
            let mut spots = choice.spots.iter();
            spots.all(|&(group, cell)| search.room[cell as usize] > 0 && search.seats[group as usize] > 0)
        };
        let ways = |index: &usize| self.options[*index].iter().filter(|choice| fits(self, choice)).count();
        let next = (0..self.options.len()).filter(|&index| self.chosen[index].is_none()).min_by_key(ways);
        let Some(next) = next else { return self.record() };
        let options = self.options;
        for (number, choice) in options[next].iter().enumerate() {
            if !fits(self, choice) {
                continue;
            }
            for &(group, cell) in &choice.spots {
                self.room[cell as usize] -= 1;
                self.seats[group as usize] -= 1;
            }
            self.chosen[next] = Some(number);
            let outcome = self.run();
            self.chosen[next] = None;
            for &(group, cell) in &choice.spots {
                self.room[cell as usize] += 1;
                self.seats[group as usize] += 1;
            }
            outcome?;
        }
        Ok(())
    }

    /// Pairs of people, by place, who are equal in every world.
    fn equal_pairs(&self) -> Vec<(u32, u32)> {
        let people = self.options.len();
        let is_equal = |&(a, b): &(usize, usize)| self.count > 0 && self.equal[a * people + b];
        let pairs = (0..people).flat_map(|a| (a + 1..people).map(move |b| (a, b)));
        pairs.filter(is_equal).map(|(a, b)| (a as u32, b as u32)).collect()
    }

    /// Counts a finished world, unless a group has an empty seat that is no counterfeit.
    fn record(&mut self) -> Result<(), Stop> {
        if self.groups.iter().any(|&group| self.seats[group as usize] > 0) {
            return Ok(());
        }
        let weight = self.ways_to_tell_apart().ok_or(Stop::Overflow)?;
        self.count = self.count.checked_add(1).ok_or(Stop::Overflow)?;
        self.whole = self.whole.checked_add(weight).ok_or(Stop::Overflow)?;
        let values: Vec<Value> = (0..self.options.len())
            .map(|index| {
                let number = self.chosen[index].expect("everyone has a choice");
                self.options[index][number].value
            })
            .collect();
        for (index, &value) in values.iter().enumerate() {
            // No larger than the whole, which fits.
            *self.parts[index].entry(value).or_insert(0) += weight;
            for other in 0..values.len() {
                self.equal[index * values.len() + other] &= value == values[other];
            }
        }
        self.assignments.insert(values);
        Ok(())
    }

    /// The number of ways in which the people of each cell can be in its rows; counterfeits take the rest.
    fn ways_to_tell_apart(&self) -> Option<u128> {
        let mut ways: u128 = 1;
        for &group in &self.groups {
            for &(_, cell) in &self.places.groups[group as usize].values {
                let (rows, left) = (self.places.cells[cell as usize], self.room[cell as usize]);
                for factor in left + 1..=rows {
                    ways = ways.checked_mul(u128::from(factor))?;
                }
            }
        }
        Some(ways)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::knowledge::Knowledge;
    use crate::audit::sketch::{evolution, people, release, table};
    use proptest::prelude::*;

    const A: Value = Value(0);
    const B: Value = Value(1);

    #[test]
    fn a_newcomer_to_a_class_is_certain() {
        // science G9: A and B in {a,b}; C joins and the class is {a,a,b}: C has a.
        let tables = [table("1/10/a 2/10/b"), table("1/10/a 2/10/b 3/10/a")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/aab")];
        for counting in [Counting::Principled, Counting::Blind] {
            let worlds = Worlds::count(&releases, &people(&Knowledge::from_tables(&tables)), counting, 1000).unwrap();
            assert_eq!(worlds.count, 2);
            assert!(worlds.risk(2, A).unwrap().is(1, 1));
            assert!(worlds.risk(0, A).unwrap().is(1, 2));
        }
    }

    /// science CE-12: the bound counts ways to assign people to rows. Counting distinct lists of values instead gives
    /// other shares.
    #[test]
    fn counting_lists_of_values_instead_of_worlds_exceeds_the_bound() {
        let tables = [table("1/10/a 2/11/b 3/12/a 4/13/c")];
        let releases = [release(1, "10-12/ab 11-13/ac")];
        let people = people(&Knowledge::from_tables(&tables));
        let (worlds, _) = Worlds::count_and_keep(&releases, &people, Counting::Principled, 1000, Keep::Assignments);
        let worlds = worlds.unwrap();
        assert_eq!(worlds.count, 8);
        assert!(worlds.risk(0, A).unwrap().is(1, 2));
        let (_, lists) = &worlds.assignments[0];
        assert_eq!((lists.iter().filter(|list| list[0] == A).count(), lists.len()), (4, 7));
    }

    #[test]
    fn cohorts_do_not_change_places() {
        let first = table("1/10/a 2/10/a 3/11/b");
        let second = table("1/10/a 2/10/a 3/11/b 4/10/a 5/12/a 6/12/b");
        let releases = [release(1, "10-11/aab"), release(2, "10-11/aab 10-12/aab")];
        let tables = [first, second];
        let people = people(&Knowledge::from_tables(&tables));
        let risk = |counting| Worlds::count(&releases, &people, counting, 10_000).unwrap().risk(3, A).unwrap();
        // Blindly the fourth may stand in the old group too, in 15 of 24 worlds: then 12 give them a.
        assert!(risk(Counting::Blind).is(18, 24) && risk(Counting::Principled).is(18, 24));
        assert!(risk(Counting::Cohorts).is(2, 3));
    }

    #[test]
    fn a_division_betrays_old_members() {
        // science G10: {A..E} with a a a a b; F with b joins; {A,B,E} and {C,D,F}, both a a b.
        let first = table("1/10/a 2/10/a 3/20/a 4/20/a 5/10/b");
        let second = table("1/10/a 2/10/a 3/20/a 4/20/a 5/10/b 6/20/b");
        let releases = [release(1, "10-20/aaaab"), release(2, "10-10/aab 20-20/aab")];
        let tables = [first, second];
        let people = people(&Knowledge::from_tables(&tables));
        let worlds = Worlds::count(&releases, &people, Counting::Blind, 10_000).unwrap();
        assert_eq!(worlds.count, 3);
        let values: Vec<Vec<Value>> = (0..6).map(|person| worlds.values(person)).collect();
        assert_eq!(values, [vec![A, B], vec![A, B], vec![A], vec![A], vec![A, B], vec![B]]);
        assert_eq!(worlds.always_equal, [(2, 3)]);
        // The safe variant {A,D}, {B,C}, as science G10 has it: everyone keeps two values.
        let tables = [table("1/10/a 2/10/b"), table("1/10/a 2/10/b 3/10/a 4/10/b")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/ab 10-10/ab")];
        let people = super::tests::people(&Knowledge::from_tables(&tables));
        let worlds = Worlds::count(&releases, &people, Counting::Blind, 10_000).unwrap();
        assert!((0..4).all(|person| worlds.risk(person, A).unwrap().is(1, 2)));
    }

    #[test]
    fn a_person_who_returns_to_another_value_set_is_certain() {
        // science G15, with the counterfeits that keep the groups whole.
        let tables = [table("1/10/a 2/10/b"), table("2/10/b"), table("1/10/a 3/10/c")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/ab+1"), release(3, "10-10/ac")];
        let knowledge = Knowledge::from_tables(&tables);
        let worlds = Worlds::count(&releases, &people(&knowledge), Counting::Blind, 1000).unwrap();
        assert!(worlds.risk(0, A).unwrap().is(1, 1));
        // With the old value set there is company.
        let tables = [table("1/10/a 2/10/b"), table("2/10/b"), table("1/10/a")];
        let releases = [release(1, "10-10/ab"), release(2, "10-10/ab+1"), release(3, "10-10/ab+1")];
        let knowledge = Knowledge::from_tables(&tables);
        let worlds = Worlds::count(&releases, &people(&knowledge), Counting::Principled, 1000).unwrap();
        assert!(worlds.risk(0, A).unwrap().is(1, 2));
    }

    #[test]
    fn rows_alike_in_value_are_told_apart_in_the_risk() {
        // Two people and one counterfeit in rows a a b: both a in 2 ways, one of them b in 2 + 2 ways.
        let tables = [table("1/10/a 2/10/a")];
        let releases = [release(1, "10-10/aab+1")];
        let worlds = Worlds::count(&releases, &people(&Knowledge::from_tables(&tables)), Counting::Blind, 100).unwrap();
        assert_eq!(worlds.count, 3);
        assert!(worlds.risk(0, A).unwrap().is(4, 6));
    }

    #[test]
    fn a_history_that_cannot_be_has_no_worlds() {
        let tables = [table("1/10/a 2/10/b")];
        let people = people(&Knowledge::from_tables(&tables));
        for groups in ["10-10/abc", "10-10/ab 20-20/c", "10-10/a", "20-20/ab"] {
            let worlds = Worlds::count(&[release(1, groups)], &people, Counting::Blind, 100).unwrap();
            assert_eq!((worlds.count, worlds.risk(0, A)), (0, None), "{groups}");
        }
        let limit = Worlds::count(&[release(1, "10-10/ab")], &people, Counting::Blind, 2);
        assert_eq!(limit, Err(WorldsError::TooLarge { limit: 2 }));
    }

    /// Every way at all to hand out the rows of all releases, distinguished; no components, no cells.
    fn enumerate(releases: &[Release], people: &[Person]) -> Vec<BTreeMap<Value, u128>> {
        fn step(
            releases: &[Release],
            people: &[Person],
            at: (usize, usize),
            used: &mut Vec<Vec<bool>>,
            values: &mut Vec<Option<Value>>,
            counts: &mut Vec<BTreeMap<Value, u128>>,
        ) {
            let (release, person) = at;
            if release == releases.len() {
                for (count, value) in counts.iter_mut().zip(values) {
                    if let Some(value) = value {
                        *count.entry(*value).or_insert(0) += 1;
                    }
                }
                return;
            }
            let published = &releases[release];
            if person == people.len() {
                let right = (0..published.group_count()).all(|group| {
                    let free = published.group_rows(group).filter(|&row| !used[release][row]).count();
                    free == published.counterfeits[group] as usize
                });
                if right {
                    step(releases, people, (release + 1, 0), used, values, counts);
                }
                return;
            }
            let Some(point) = &people[person].points[release] else {
                return step(releases, people, (release, person + 1), used, values, counts);
            };
            for group in 0..published.group_count() {
                if !published.region(group).iter().zip(point).all(|(span, &code)| span.contains(code)) {
                    continue;
                }
                for row in published.group_rows(group) {
                    let value = published.sensitive[row];
                    let before = values[person];
                    if used[release][row] || before.is_some_and(|before| before != value) {
                        continue;
                    }
                    used[release][row] = true;
                    values[person] = Some(value);
                    step(releases, people, (release, person + 1), used, values, counts);
                    values[person] = before;
                    used[release][row] = false;
                }
            }
        }
        let mut counts = vec![BTreeMap::new(); people.len()];
        let mut used = releases.iter().map(|release| vec![false; release.row_count()]).collect();
        step(releases, people, (0, 0), &mut used, &mut vec![None; people.len()], &mut counts);
        counts
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(400))]
        /// Counting worlds together gives what listing them gives.
        #[test]
        fn counted_together_or_one_by_one_worlds_are_the_same((tables, releases) in evolution(8)) {
            let knowledge = Knowledge::from_tables(&tables);
            let people = people(&knowledge);
            for counting in [Counting::Blind, Counting::Principled, Counting::Cohorts] {
                let count = |keep| Worlds::count_and_keep(&releases, &people, counting, 4_000_000, keep).0.unwrap();
                let (together, listed) = (count(Keep::Counts), count(Keep::Assignments));
                prop_assert_eq!(together.count, listed.count);
                if listed.count == 0 {
                    continue;
                }
                prop_assert_eq!(&together.always_equal, &listed.always_equal);
                for person in 0..people.len() as u32 {
                    prop_assert_eq!(together.values(person), listed.values(person));
                    for value in listed.values(person) {
                        let (one, other) = (together.risk(person, value).unwrap(), listed.risk(person, value).unwrap());
                        prop_assert!(one.is(other.part, other.whole), "{:?} {:?}", one, other);
                    }
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]
        #[test]
        fn risks_equal_those_of_plain_enumeration((tables, releases) in evolution(4)) {
            let people = people(&Knowledge::from_tables(&tables));
            let worlds = Worlds::count(&releases, &people, Counting::Blind, 1_000_000).unwrap();
            for (person, counts) in enumerate(&releases, &people).into_iter().enumerate() {
                let whole: u128 = counts.values().sum();
                for value in (0..5).map(Value) {
                    let part = counts.get(&value).copied().unwrap_or(0);
                    prop_assert!(worlds.risk(person as u32, value).unwrap().is(part, whole));
                }
            }
        }
    }
}
