//! Who stands where in a release that was made elsewhere.
//!
//! A person may stand in a group whose region holds them and that has a row with their value. Everyone is
//! seated so that every row is taken but for the counterfeits. Where several seatings are possible, one is
//! as good as another: the release is the one that a publisher with that seating would have made, so what
//! is proved of it holds. Who has a value set already is seated in a group with that set where possible.

use crate::model::{History, Membership, Release, Row, Table, Value, ValueSetId};
use std::collections::VecDeque;

/// So few groups are looked through one by one.
const FEW: usize = 8;

const NOWHERE: u32 = u32::MAX;

/// A release with its people.
#[derive(Debug)]
pub(super) struct Seating {
    /// Who stands where.
    pub membership: Membership,
    /// How many people could stand in more than one group.
    pub ambiguous: u64,
}

/// Seats the people of `table`. The error is how many rows have nobody behind them.
pub(super) fn seat(release: &Release, table: &Table, history: &History) -> Result<Seating, u64> {
    let slots = Slots::new(release);
    let all = slots.choices(release, table);
    let ambiguous = all.iter().filter(|choices| choices.len() > 1).count() as u64;
    let kept = prefer_known_sets(release, table, history, &slots, &all);
    let seats = match fill(&slots, &kept) {
        Ok(seats) => seats,
        Err(_) => fill(&slots, &all)?,
    };
    Ok(Seating { membership: slots.membership(release, &seats), ambiguous })
}

/// The rows of a release that are alike: one group, one value.
struct Slots {
    /// Per slot its group, its value and its rows.
    group: Vec<u32>,
    value: Vec<Value>,
    rows: Vec<u32>,
    /// Per group, its first slot; one more at the end.
    first: Vec<u32>,
    /// Per group, how many people stand in it.
    people: Vec<u32>,
}

impl Slots {
    fn new(release: &Release) -> Slots {
        let mut slots =
            Slots { group: Vec::new(), value: Vec::new(), rows: Vec::new(), first: vec![0], people: Vec::new() };
        for group in 0..release.group_count() {
            for run in release.group_values(group).chunk_by(|a, b| a == b) {
                slots.group.push(group as u32);
                slots.value.push(run[0]);
                slots.rows.push(run.len() as u32);
            }
            slots.first.push(slots.rows.len() as u32);
            slots.people.push(release.people(group));
        }
        slots
    }

    fn of_group(&self, group: u32) -> std::ops::Range<u32> {
        self.first[group as usize]..self.first[group as usize + 1]
    }

    /// Per person, the slots they may stand in, ascending.
    fn choices(&self, release: &Release, table: &Table) -> Vec<Vec<u32>> {
        let mut choices = vec![Vec::new(); table.len()];
        let search = Search { slots: self, release, table };
        search.divide((0..release.group_count() as u32).collect(), table.rows().collect(), &mut choices);
        choices.iter_mut().for_each(|slots| slots.sort_unstable());
        choices
    }

    /// Rows in the order of the table within each slot; counterfeits after them.
    fn membership(&self, release: &Release, seats: &[u32]) -> Membership {
        let mut seated: Vec<Vec<u32>> = vec![Vec::new(); self.rows.len()];
        let mut withheld = Vec::new();
        for (row, &slot) in (0u32..).zip(seats) {
            match slot {
                NOWHERE => withheld.push(Row(row)),
                slot => seated[slot as usize].push(row),
            }
        }
        let mut rows = Vec::with_capacity(release.row_count());
        for (slot, people) in seated.iter().enumerate() {
            rows.extend_from_slice(people);
            rows.resize(rows.len() + self.rows[slot] as usize - people.len(), Membership::COUNTERFEIT);
        }
        Membership { rows, policy_groups: (0..release.group_count() as u32).collect(), withheld }
    }
}

/// Finds the groups that hold each person: both are divided together, as long as that helps.
struct Search<'a> {
    slots: &'a Slots,
    release: &'a Release,
    table: &'a Table,
}

impl Search<'_> {
    fn divide(&self, groups: Vec<u32>, people: Vec<Row>, choices: &mut [Vec<u32>]) {
        if people.is_empty() {
            return;
        }
        let cut = if groups.len() <= FEW { None } else { self.best_cut(&groups, &people) };
        let Some((attribute, at)) = cut else {
            people.iter().for_each(|&row| self.look_through(&groups, row, &mut choices[row.index()]));
            return;
        };
        let span = |group: &u32| self.release.region(*group as usize)[attribute];
        let low = groups.iter().copied().filter(|group| span(group).lo <= at).collect();
        let high = groups.iter().copied().filter(|group| span(group).hi > at).collect();
        let codes = self.table.quasi(attribute);
        let (left, right) = people.into_iter().partition(|row: &Row| codes[row.index()] <= at);
        self.divide(low, left, choices);
        self.divide(high, right, choices);
    }

    /// The attribute whose median leaves the fewest groups on the fuller side; none where no side loses a
    /// fifth of them.
    fn best_cut(&self, groups: &[u32], people: &[Row]) -> Option<(usize, u32)> {
        let cut = |attribute: usize| {
            let codes = self.table.quasi(attribute);
            let mut sorted: Vec<u32> = people.iter().map(|row| codes[row.index()]).collect();
            let middle = sorted.len() / 2;
            let at = (*sorted.select_nth_unstable(middle).1).checked_sub(1)?;
            let span = |group: &u32| self.release.region(*group as usize)[attribute];
            let low = groups.iter().filter(|group| span(group).lo <= at).count();
            let high = groups.iter().filter(|group| span(group).hi > at).count();
            Some((low.max(high), attribute, at))
        };
        let best = (0..self.table.quasi_count()).filter_map(cut).min()?;
        (best.0 * 5 <= groups.len() * 4).then_some((best.1, best.2))
    }

    fn look_through(&self, groups: &[u32], row: Row, choices: &mut Vec<u32>) {
        let value = self.table.sensitive()[row.index()];
        for &group in groups {
            let region = self.release.region(group as usize);
            let mut inside = region.iter().enumerate();
            if inside.all(|(attribute, span)| span.contains(self.table.quasi(attribute)[row.index()])) {
                choices.extend(self.slots.of_group(group).find(|&slot| self.slots.value[slot as usize] == value));
            }
        }
    }
}

/// The choices of people who have a value set, cut down to groups with that set where there are any.
fn prefer_known_sets(
    release: &Release,
    table: &Table,
    history: &History,
    slots: &Slots,
    all: &[Vec<u32>],
) -> Vec<Vec<u32>> {
    let sets: Vec<Option<ValueSetId>> =
        (0..release.group_count()).map(|group| history.value_sets.find(&release.value_set(group))).collect();
    let prefer = |(choices, record): (&Vec<u32>, Option<&crate::model::Record>)| {
        let Some(record) = record.filter(|record| record.is_published()) else { return choices.clone() };
        let own = history.sets_of(record);
        let is_own = |slot: &&u32| sets[slots.group[**slot as usize] as usize].is_some_and(|set| own.contains(&set));
        let kept: Vec<u32> = choices.iter().filter(is_own).copied().collect();
        if kept.is_empty() { choices.clone() } else { kept }
    };
    all.iter().zip(history.align(table)).map(prefer).collect()
}

/// Seats everyone it can; the error is how many rows stay empty that must not.
fn fill(slots: &Slots, choices: &[Vec<u32>]) -> Result<Vec<u32>, u64> {
    let mut room = Room::new(slots, choices);
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    order.sort_by_key(|&person| (choices[person as usize].len(), person));
    let waiting: Vec<u32> = order.into_iter().filter(|&person| !room.sit_down(person)).collect();
    for person in waiting {
        room.make_room(person);
    }
    let wanted: u64 = slots.people.iter().map(|&people| u64::from(people)).sum();
    let seated = room.seats.iter().filter(|&&seat| seat != NOWHERE).count() as u64;
    if seated == wanted { Ok(room.seats) } else { Err(wanted - seated) }
}

/// A seating while it is made: a flow from people through slots to groups.
struct Room<'a> {
    slots: &'a Slots,
    choices: &'a [Vec<u32>],
    seats: Vec<u32>,
    sitting: Vec<Vec<u32>>,
    load: Vec<u32>,
}

impl<'a> Room<'a> {
    fn new(slots: &'a Slots, choices: &'a [Vec<u32>]) -> Room<'a> {
        Room {
            slots,
            choices,
            seats: vec![NOWHERE; choices.len()],
            sitting: vec![Vec::new(); slots.rows.len()],
            load: vec![0; slots.people.len()],
        }
    }

    fn has_row(&self, slot: u32) -> bool {
        self.sitting[slot as usize].len() < self.slots.rows[slot as usize] as usize
    }

    fn is_free(&self, slot: u32) -> bool {
        let group = self.slots.group[slot as usize] as usize;
        self.has_row(slot) && self.load[group] < self.slots.people[group]
    }

    fn sit_down(&mut self, person: u32) -> bool {
        let free = self.choices[person as usize].iter().copied().find(|&slot| self.is_free(slot));
        free.is_some_and(|slot| {
            self.move_to(person, slot);
            true
        })
    }

    fn move_to(&mut self, person: u32, slot: u32) {
        let old = std::mem::replace(&mut self.seats[person as usize], slot);
        if old != NOWHERE {
            self.sitting[old as usize].retain(|&other| other != person);
            self.load[self.slots.group[old as usize] as usize] -= 1;
        }
        self.sitting[slot as usize].push(person);
        self.load[self.slots.group[slot as usize] as usize] += 1;
    }

    /// Moves others along until there is a seat, if that is possible; by the shortest way.
    fn make_room(&mut self, person: u32) {
        // Per slot, who would sit down there; per person, through which slot they are asked to leave.
        let mut came_by = vec![NOWHERE; self.slots.rows.len()];
        let mut asked = vec![None; self.choices.len()];
        let mut open = VecDeque::from([person]);
        asked[person as usize] = Some(NOWHERE);
        while let Some(next) = open.pop_front() {
            for &slot in &self.choices[next as usize] {
                if came_by[slot as usize] != NOWHERE {
                    continue;
                }
                came_by[slot as usize] = next;
                if self.is_free(slot) {
                    return self.move_along(slot, &came_by, &asked);
                }
                // A full slot is left by one of its own; a full group with a row to spare by anyone of it.
                let group = self.slots.group[slot as usize];
                let leaving = if self.has_row(slot) { self.slots.of_group(group) } else { slot..slot + 1 };
                for other in leaving.flat_map(|slot| self.sitting[slot as usize].iter().copied()) {
                    if asked[other as usize].is_none() {
                        asked[other as usize] = Some(slot);
                        open.push_back(other);
                    }
                }
            }
        }
    }

    /// The last one of the chain takes the free seat, the one before takes what that one leaves, and so on.
    fn move_along(&mut self, mut slot: u32, came_by: &[u32], asked: &[Option<u32>]) {
        while slot != NOWHERE {
            let person = came_by[slot as usize];
            self.move_to(person, slot);
            slot = asked[person as usize].expect("everyone in the chain was asked");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::made_up::paper003;
    use crate::model::Rng;

    #[test]
    fn the_people_of_the_papers_first_release_are_found() {
        let (release, membership) = paper003::release_1b();
        let table = paper003::table_1a();
        let seating = seat(&release, &table, &History::default()).unwrap();
        assert_eq!(seating.membership, membership);
    }

    #[test]
    fn counterfeits_are_whoever_is_left() {
        let (release, membership) = paper003::release_3a();
        let table = paper003::table_2a();
        let seating = seat(&release, &table, &History::default()).unwrap();
        assert_eq!(seating.membership.rows.iter().filter(|&&row| row == Membership::COUNTERFEIT).count(), 2);
        assert_eq!(seating.membership, membership);
    }

    #[test]
    fn a_table_that_lacks_somebody_does_not_fit() {
        let (release, _) = paper003::release_1b();
        assert!(seat(&release, &paper003::table_2a(), &History::default()).unwrap_err() > 0);
    }

    /// People on a line, groups of overlapping runs of it: a seating is known to exist.
    #[test]
    fn where_somebody_made_a_seating_one_is_found() {
        for number in 0..300 {
            let mut rng = Rng::from_number(number);
            let (release, table) = crowd(&mut rng);
            let seating = seat(&release, &table, &History::default()).unwrap();
            let mut seen = vec![false; table.len()];
            for group in 0..release.group_count() {
                let rows = release.group_rows(group);
                let counterfeits = rows.clone().filter(|&row| seating.membership.person(row).is_none()).count();
                assert_eq!(counterfeits as u32, release.counterfeits[group]);
                for row in rows {
                    let Some(person) = seating.membership.person(row) else { continue };
                    assert!(!std::mem::replace(&mut seen[person.index()], true), "nobody sits twice");
                    assert!(release.region(group)[0].contains(table.quasi(0)[person.index()]));
                    assert_eq!(release.sensitive[row], table.sensitive()[person.index()]);
                }
            }
        }
    }

    fn crowd(rng: &mut Rng) -> (Release, Table) {
        use crate::model::{RecordKey, Regions, Span, Values};
        let people = 5 + rng.below(60) as u32;
        let codes: Vec<u32> = (0..people).map(|_| rng.below(30) as u32).collect();
        let held: Vec<Value> = (0..people).map(|_| Value(rng.below(3) as u32)).collect();
        let values = Values::of(["a", "b", "c"]);
        let keys = (0..u64::from(people)).map(|lo| RecordKey { hi: 0, lo }).collect();
        let table = Table::new(keys, vec![codes.clone()], held.clone(), values.clone(), vec![], vec![]);
        let mut order: Vec<u32> = (0..people).collect();
        rng.shuffle(&mut order);
        // Some of them wait.
        order.truncate(people as usize - rng.below(3) as usize);
        let mut release = Release { number: 1, regions: Regions::new(1), values, ..Release::default() };
        for group in order.chunks(4) {
            let mut rows: Vec<Value> = group.iter().map(|&person| held[person as usize]).collect();
            let counterfeits = rng.below(2) as u32;
            rows.extend((0..counterfeits).map(|_| Value(rng.below(3) as u32)));
            rows.sort_unstable();
            let spans = group.iter().map(|&person| Span::exact(codes[person as usize]));
            release.regions.push(&[spans.fold(Span::EMPTY, Span::join)]);
            release.sensitive.extend(rows);
            release.ends.push(release.sensitive.len() as u32);
            release.counterfeits.push(counterfeits);
        }
        (release, table)
    }
}
