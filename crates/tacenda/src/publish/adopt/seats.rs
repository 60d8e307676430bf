//! Who is in which row of a release that was made elsewhere.
//!
//! A person may be in a group whose region contains them and that has a row with their value. Everyone is matched to a
//! row so that only counterfeits remain. If several matchings are possible, any of them is used. A publisher with that
//! matching could have made the release, so what is proved about it holds. A person who has a value set already is
//! matched to a group with that set if possible.

use crate::model::{History, Membership, Release, Row, Table, Value, ValueSetId};
use crate::space::matching::Matching;
use crate::space::stab::Stab;
use rayon::prelude::*;

const NOWHERE: u32 = u32::MAX;

/// A release with its people.
#[derive(Debug)]
pub(super) struct Seating {
    /// Who is in which row.
    pub membership: Membership,
    /// How many people could be in more than one group.
    pub ambiguous: u64,
}

/// Seats the people of `table`. The error is the number of rows that fit nobody.
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

/// The rows of a release by group and value.
struct Slots {
    /// Per slot its group, its value and its rows.
    group: Vec<u32>,
    value: Vec<Value>,
    rows: Vec<u32>,
    /// Per group, its first slot; one more at the end.
    first: Vec<u32>,
    /// Per group, how many people are in it.
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

    /// Per person, the slots they may be in, ascending.
    fn choices(&self, release: &Release, table: &Table) -> Vec<Vec<u32>> {
        let index = Stab::without_values(release);
        let choose = |point: &mut Vec<u32>, row: Row| {
            let value = table.sensitive()[row.index()];
            table.read_point(row, point);
            let mut choices = Vec::new();
            index.each(point, |group| {
                choices.extend(self.of_group(group).find(|&slot| self.value[slot as usize] == value));
            });
            choices.sort_unstable();
            choices
        };
        (0..table.len() as u32).into_par_iter().map(Row).map_init(Vec::new, choose).collect()
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

/// Restricts the choices of people who have a value set to groups with that set, if there are any.
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

/// Seats people so that every row except the counterfeits is taken. The error is the number of rows that stay empty.
///
/// Rows are matched to people and not people to rows, because people may be withheld but every row must be filled. A
/// group's counterfeits are one more place for its rows. A person who is matched to no row counts as withheld.
fn fill(slots: &Slots, choices: &[Vec<u32>]) -> Result<Vec<u32>, u64> {
    let counterfeits = |group: usize| {
        let rows: u32 = slots.of_group(group as u32).map(|slot| slots.rows[slot as usize]).sum();
        rows - slots.people[group]
    };
    let mut matching =
        Matching { supplies: slots.rows.clone(), capacities: vec![1; choices.len()], ..Matching::default() };
    // People with few choices come first, because the flow tries arcs in order.
    let mut order: Vec<u32> = (0..choices.len() as u32).collect();
    order.sort_by_key(|&person| (choices[person as usize].len(), person));
    for person in order {
        matching.arcs.extend(choices[person as usize].iter().map(|&slot| (slot, person)));
    }
    for group in (0..slots.people.len()).filter(|&group| counterfeits(group) > 0) {
        let place = matching.capacities.len() as u32;
        matching.capacities.push(counterfeits(group));
        matching.arcs.extend(slots.of_group(group as u32).map(|slot| (slot, place)));
    }
    let full = matching.fill()?;
    let mut seats = vec![NOWHERE; choices.len()];
    let mut room = slots.people.clone();
    for (_, &(slot, person)) in matching.arcs.iter().enumerate().filter(|(arc, _)| full.sent(*arc) > 0) {
        let room = &mut room[slots.group[slot as usize] as usize];
        if (person as usize) < choices.len() && *room > 0 {
            *room -= 1;
            seats[person as usize] = slot;
        }
    }
    Ok(seats)
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
