//! Counts the worlds of one component without listing them.
//!
//! People are gone through one by one, release by release, those who share groups near each other. What has happened so far
//! matters only by the rows that are still free in groups that somebody is still to come for. Ways that leave the same rows
//! free are counted together. Going back from the end gives, for each person and value, the worlds in which the person has
//! it. The numbers are those that listing all worlds gives (a property compares them).
//!
//! # What keeps it small
//! - Rows with one value that the same people may still take are one pool, whichever groups they are of: how the people of a
//!   pool are spread over its groups is a binomial, and nothing else depends on it.
//! - A pool with more free rows than people to come for them ends a way at once.
//! - The order of people is the best of several: the one in which the fewest pools are open at a time.
//!
//! Rows of a group with one value are told apart by a weight, as in `worlds`: the ways to be in them. The factor that all
//! worlds share is left out. Shares stay the same. Where 128 bits are not enough, numbers of any length are used.

use crate::audit::worlds::{Seats, Stop, Tag};
use crate::model::Value;
use num_bigint::BigUint;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What was counted.
pub(super) struct Counted {
    /// How many worlds; the largest number there is where there are more.
    pub(super) count: u128,
    /// Per person, the weight of the worlds for each value, and of all; reduced.
    pub(super) parts: Vec<(BTreeMap<Value, u128>, u128)>,
    /// Pairs of people, by place, who have the same value in every world.
    pub(super) equal: Vec<(u32, u32)>,
}

/// The most ways that are kept, for the sake of memory.
const MOST_WAYS: usize = 1 << 23;

/// The most people of whom everyone is tried as the first.
const MOST_STARTS: usize = 32;

/// A person's choice that leads from one state to another.
#[derive(Clone, Copy)]
struct Way {
    from: u32,
    to: u32,
    /// The value, by its place in the list of values.
    value: u32,
    /// In how many ways the people of pools and of groups that nobody else comes for can be in their rows.
    weight: u128,
}

/// One person in one release.
struct Layer {
    person: usize,
    /// Whether it is the first of the person, where the value is chosen.
    is_first: bool,
    ways: Vec<Way>,
    /// Per way, its weight if rows alike are not told apart; empty where that is the same.
    plain: Vec<u128>,
    /// How many states there are before.
    states: usize,
}

/// All layers, and in how many ways the people of the first pools can be spread.
struct Swept {
    layers: Vec<Layer>,
    start: u128,
}

/// Counts the worlds of some people, each with what they may be. `steps` is reduced by what it takes.
pub(super) fn count(seats: &Seats, people: &[&[Tag]], steps: &mut u64) -> Result<Counted, Stop> {
    spend(steps, (people.len() * people.len()) as u64)?;
    let mut values: Vec<Value> = people.iter().flat_map(|tags| tags.iter()).map(|tag| tag.value).collect();
    values.sort_unstable();
    values.dedup();
    let none = || Counted { count: 0, parts: vec![(BTreeMap::new(), 0); people.len()], equal: Vec::new() };
    let Some(swept) = sweep(seats, people, &values, steps)? else { return Ok(none()) };
    let is_alive = swept.alive();
    if !is_alive[0][0] {
        return Ok(none());
    }
    let counted = swept.weigh::<u128>(people.len(), &values);
    let mut counted = match counted {
        Some(counted) => counted,
        None => swept.weigh::<BigUint>(people.len(), &values).expect("numbers of any length fit"),
    };
    counted.equal = always_equal(&swept.layers, &is_alive, &counted.parts, values.len(), steps)?;
    Ok(counted)
}

fn spend(steps: &mut u64, cost: u64) -> Result<(), Stop> {
    *steps = steps.checked_sub(cost).ok_or(Stop::Steps)?;
    Ok(())
}

/// Goes through everyone. `None` where somebody has no choice left, whatever the others do.
fn sweep(seats: &Seats, people: &[&[Tag]], values: &[Value], steps: &mut u64) -> Result<Option<Swept>, Stop> {
    let order = order(seats, people, steps)?;
    let board = Board::new(seats, people, &order)?;
    let Some((start, ways)) = board.settle(board.start.clone(), 0)? else { return Ok(None) };
    let mut swept = Swept { layers: Vec::new(), start: ways.plain };
    let mut states: Vec<Box<[u8]>> = vec![start];
    let mut kept = 0;
    for (turn, &person) in order.iter().enumerate() {
        let releases = people[person].first().map_or(0, |tag| tag.spots.len());
        for release in 0..releases {
            let mut next = Next::default();
            let (mut ways, mut plain) = (Vec::new(), Vec::new());
            for (from, state) in states.iter().enumerate() {
                // Between the first and the last release of a person, a state ends with what the person is.
                let (free, known) = state.split_at(board.start.len());
                let chosen = known.first_chunk().map(|&tag| u16::from_le_bytes(tag) as usize);
                for at in chosen.map_or(0..people[person].len(), |at| at..at + 1) {
                    let tag = &people[person][at];
                    let value = values.binary_search(&tag.value).expect("all values are listed") as u32;
                    let slots = &board.slots[turn][at][release];
                    spend(steps, slots.len() as u64)?;
                    for &slot in slots {
                        let Some(seated) = board.seat(free, slot) else { continue };
                        let (key, weights) = if release + 1 < releases {
                            (with_tag(&seated, at), Weights::ONE)
                        } else {
                            let Some(settled) = board.settle(seated, turn + 1)? else { continue };
                            settled
                        };
                        ways.push(Way { from: from as u32, to: next.number(key), value, weight: weights.apart });
                        plain.extend(board.has_counterfeits.then_some(weights.plain));
                    }
                }
            }
            kept += ways.len();
            if kept > MOST_WAYS {
                return Err(Stop::Steps);
            }
            swept.layers.push(Layer { person, is_first: release == 0, ways, plain, states: states.len() });
            if next.states.is_empty() {
                return Ok(None);
            }
            states = next.states;
        }
    }
    Ok(Some(swept))
}

/// The states that a layer leads to, each once.
#[derive(Default)]
struct Next {
    states: Vec<Box<[u8]>>,
    found: FxHashMap<Box<[u8]>, u32>,
}

impl Next {
    fn number(&mut self, state: Box<[u8]>) -> u32 {
        let states = &mut self.states;
        *self.found.entry(state).or_insert_with_key(|state| {
            states.push(state.clone());
            states.len() as u32 - 1
        })
    }
}

fn with_tag(free: &[u8], tag: usize) -> Box<[u8]> {
    let tag = (tag as u16).to_le_bytes();
    free.iter().chain(&tag).copied().collect()
}

/// A number of worlds.
trait Number: Clone {
    fn of(number: u128) -> Self;
    fn plus(&mut self, other: &Self) -> Option<()>;
    fn times(&self, other: &Self) -> Option<Self>;
    fn big(&self) -> BigUint;
}

impl Number for u128 {
    fn of(number: u128) -> u128 {
        number
    }

    fn plus(&mut self, other: &u128) -> Option<()> {
        *self = self.checked_add(*other)?;
        Some(())
    }

    fn times(&self, other: &u128) -> Option<u128> {
        self.checked_mul(*other)
    }

    fn big(&self) -> BigUint {
        BigUint::from(*self)
    }
}

impl Number for BigUint {
    fn of(number: u128) -> BigUint {
        BigUint::from(number)
    }

    fn plus(&mut self, other: &BigUint) -> Option<()> {
        *self += other;
        Some(())
    }

    fn times(&self, other: &BigUint) -> Option<BigUint> {
        Some(self * other)
    }

    fn big(&self) -> BigUint {
        self.clone()
    }
}

impl Swept {
    /// Per layer and state before it, and for the end, whether a world goes through it.
    fn alive(&self) -> Vec<Vec<bool>> {
        let mut is_alive: Vec<Vec<bool>> = vec![vec![true]];
        for layer in self.layers.iter().rev() {
            let mut before = vec![false; layer.states];
            let after = &is_alive[is_alive.len() - 1];
            layer.ways.iter().filter(|way| after[way.to as usize]).for_each(|way| before[way.from as usize] = true);
            is_alive.push(before);
        }
        is_alive.reverse();
        is_alive
    }

    /// Forward, what leads up to each state; `None` where the numbers do not fit. The last is the end.
    fn forward<N: Number>(&self, weight: impl Fn(&Layer, usize) -> u128) -> Option<Vec<Vec<N>>> {
        let mut all: Vec<Vec<N>> = vec![vec![N::of(1)]];
        for (at, layer) in self.layers.iter().enumerate() {
            let states = self.layers.get(at + 1).map_or(1, |next| next.states);
            let mut reached = vec![N::of(0); states];
            for (number, way) in layer.ways.iter().enumerate() {
                let worlds = all[at][way.from as usize].times(&N::of(weight(layer, number)))?;
                reached[way.to as usize].plus(&worlds)?;
            }
            all.push(reached);
        }
        Some(all)
    }

    /// The weights of all worlds, and of those in which each person has each value; `None` where the numbers do not fit.
    fn weigh<N: Number>(&self, people: usize, values: &[Value]) -> Option<Counted> {
        let before: Vec<Vec<N>> = self.forward(|layer, way| layer.ways[way].weight)?;
        let is_plain = self.layers.iter().any(|layer| !layer.plain.is_empty());
        let worlds = match is_plain {
            true => self.forward(|layer, way| layer.plain[way])?.pop()?.pop()?,
            false => before.last()?.last()?.clone(),
        };
        let mut parts: Vec<Vec<N>> = vec![vec![N::of(0); values.len()]; people];
        let mut after: Vec<N> = vec![N::of(1)];
        for (layer, before) in self.layers.iter().zip(&before).rev() {
            let mut earlier = vec![N::of(0); layer.states];
            for way in &layer.ways {
                let rest = after[way.to as usize].times(&N::of(way.weight))?;
                if layer.is_first {
                    parts[layer.person][way.value as usize].plus(&before[way.from as usize].times(&rest)?)?;
                }
                earlier[way.from as usize].plus(&rest)?;
            }
            after = earlier;
        }
        let whole = after.first()?.big();
        let parts = parts.iter().map(|parts| reduced(parts, &whole, values)).collect();
        let count = u128::try_from(worlds.big() * self.start).unwrap_or(u128::MAX);
        Some(Counted { count, parts, equal: Vec::new() })
    }
}

/// The parts of a whole in smallest numbers. What does not fit 128 bits then is none of the shares that anything is compared
/// with, and its last bits are left out.
fn reduced<N: Number>(parts: &[N], whole: &BigUint, values: &[Value]) -> (BTreeMap<Value, u128>, u128) {
    let parts: Vec<BigUint> = parts.iter().map(Number::big).collect();
    let common = parts.iter().fold(whole.clone(), |common, part| divisor(common, part.clone()));
    let whole = whole / &common;
    let bits = whole.bits().saturating_sub(127);
    let fit = |number: BigUint| u128::try_from(number >> bits).expect("no part is larger than the whole");
    let zero = BigUint::default();
    let some = values.iter().zip(parts).filter(|(_, part)| *part != zero);
    // A part of which nothing is left is a part all the same.
    let parts = some.map(|(&value, part)| (value, fit(part / &common).max(1))).collect();
    (parts, fit(whole))
}

/// The greatest common divisor.
fn divisor(mut one: BigUint, mut other: BigUint) -> BigUint {
    while other != BigUint::default() {
        (one, other) = (other.clone(), one % other);
    }
    one
}

/// The order of the people: the best of those that begin with each of them, and go on with whoever leaves the fewest pools
/// open. With many people only one is tried.
fn order(seats: &Seats, people: &[&[Tag]], steps: &mut u64) -> Result<Vec<usize>, Stop> {
    let mut numbers: FxHashMap<u32, usize> = FxHashMap::default();
    let mut rows: Vec<u32> = Vec::new();
    let mut number = |cell: u32| {
        *numbers.entry(cell).or_insert_with(|| {
            rows.push(seats.cells[cell as usize]);
            rows.len() - 1
        })
    };
    let mut cells: Vec<Vec<usize>> = Vec::with_capacity(people.len());
    for tags in people {
        let spots = tags.iter().flat_map(|tag| tag.spots.iter().flatten());
        let mut own: Vec<usize> = spots.map(|&(_, cell)| number(cell)).collect();
        own.sort_unstable();
        own.dedup();
        cells.push(own);
    }
    let mut takers = vec![0u32; rows.len()];
    cells.iter().flatten().for_each(|&cell| takers[cell] += 1);
    let arcs: usize = cells.iter().map(Vec::len).sum();
    let starts = if people.len() <= MOST_STARTS { people.len() } else { 1 };
    let mut best: Option<((u64, u64), Vec<usize>)> = None;
    for start in 0..starts {
        spend(steps, (arcs * people.len() / 64) as u64)?;
        let first = (starts > 1).then_some(start);
        let tried = order_from(first, &cells, &rows, &takers);
        if best.as_ref().is_none_or(|best| tried.0 < best.0) {
            best = Some(tried);
        }
    }
    Ok(best.map_or_else(Vec::new, |best| best.1))
}

/// An order, and what it costs: the most that is open at a time, and the sum.
fn order_from(first: Option<usize>, cells: &[Vec<usize>], rows: &[u32], takers: &[u32]) -> ((u64, u64), Vec<usize>) {
    // In how many ways a cell can be filled so far, as a logarithm.
    let open = |cell: usize, came: u32| {
        let most = rows[cell].min(came).min(takers[cell] - came);
        (f64::from(1 + most).log2() * 1000.0).round() as i64
    };
    let mut came = vec![0u32; rows.len()];
    let mut left: Vec<usize> = (0..cells.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    let (mut now, mut most, mut sum) = (0i64, 0u64, 0u64);
    while !left.is_empty() {
        let growth = |person: usize| {
            cells[person].iter().map(|&cell| open(cell, came[cell] + 1) - open(cell, came[cell])).sum::<i64>()
        };
        let place = match first.filter(|_| order.is_empty()) {
            Some(first) => first,
            None => (0..left.len()).min_by_key(|&at| (growth(left[at]), left[at])).expect("somebody is left"),
        };
        now += growth(left[place]);
        let person = left.remove(place);
        cells[person].iter().for_each(|&cell| came[cell] += 1);
        most = most.max(now as u64);
        sum += now as u64;
        order.push(person);
    }
    ((most, sum), order)
}

/// In how many ways people can be in rows: told apart where they are alike, and not.
#[derive(Clone, Copy)]
struct Weights {
    apart: u128,
    plain: u128,
}

/// A state, and in how many ways it comes about.
type Settled = (Box<[u8]>, Weights);

impl Weights {
    const ONE: Weights = Weights { apart: 1, plain: 1 };
}

/// The free rows: one number per pool of rows, and one per group that has counterfeits, for how many of its people are missing.
struct Board {
    start: Box<[u8]>,
    has_counterfeits: bool,
    /// Per slot of a group with counterfeits, the slot of the group.
    counters: Vec<Option<usize>>,
    /// Per turn: what is done before it, and after the last.
    settling: Vec<Settling>,
    /// Per turn, what the person may be and release, the slots that are open to them.
    slots: Vec<Vec<Vec<Vec<usize>>>>,
}

/// What is done between two people.
#[derive(Clone, Default)]
struct Settling {
    /// Slots that are one pool from now on: the second becomes part of the first.
    merged: Vec<(usize, usize)>,
    /// Slots with the most that can still be taken.
    most: Vec<(usize, u8)>,
    /// Slots next to counterfeits that nobody comes for any more, and the most rows that can be left.
    closed: Vec<(usize, u8)>,
}

/// What is known of a cell while the board is laid.
struct Cell {
    release: usize,
    rows: u32,
    /// Turn and tag of everyone who may take it, ascending.
    takers: Vec<(u32, u32)>,
    /// A sum over those who are still to come: equal where they are the same.
    mark: u128,
    /// Those who came.
    came: usize,
    /// Where it became part of another.
    part_of: Option<usize>,
    /// The counterfeits of its group, and the slot that counts the people of the group.
    counterfeits: Option<(u8, usize)>,
}

impl Cell {
    fn to_come(&self) -> &[(u32, u32)] {
        &self.takers[self.came..]
    }

    /// How many people may still take it.
    fn people(&self) -> u8 {
        self.to_come().chunk_by(|a, b| a.0 == b.0).count().min(255) as u8
    }
}

/// A number that is drawn from a turn and a tag.
fn mark(turn: u32, tag: u32) -> u128 {
    let mut mixed = (u128::from(turn) << 32 | u128::from(tag)).wrapping_add(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
    for _ in 0..3 {
        mixed = (mixed ^ mixed >> 61).wrapping_mul(0xbf58_476d_1ce4_e5b9_94d0_49bb_1331_11eb);
    }
    mixed ^ mixed >> 67
}

impl Board {
    fn new(seats: &Seats, people: &[&[Tag]], order: &[usize]) -> Result<Board, Stop> {
        let small = |number: u32| u8::try_from(number).map_err(|_| Stop::Steps);
        let mut laying = Laying::default();
        for (turn, &person) in (0..).zip(order) {
            for (at, tag) in (0..).zip(people[person]) {
                for (release, spots) in tag.spots.iter().enumerate() {
                    for &(group, cell) in spots {
                        laying.take(seats, (tag.releases[release] as usize, group, cell), (turn, at))?;
                    }
                }
            }
        }
        let cells = laying.cells.len();
        let start: Result<Vec<u8>, Stop> = laying.cells.iter().map(|cell| small(cell.rows)).collect();
        let mut board = Board {
            start: start?.into_iter().chain(laying.groups.iter().map(|group| group.people)).collect(),
            has_counterfeits: !laying.groups.is_empty(),
            counters: laying.cells.iter().map(|cell| cell.counterfeits.map(|(_, group)| cells + group)).collect(),
            settling: vec![laying.settle(None, cells)],
            slots: Vec::with_capacity(order.len()),
        };
        for (turn, &person) in (0..).zip(order) {
            let of_tag = |tag: &Tag| tag.spots.iter().map(|spots| laying.slots(spots)).collect();
            board.slots.push(people[person].iter().map(of_tag).collect());
            board.settling.push(laying.settle(Some(turn), cells));
        }
        Ok(board)
    }

    /// What is free once somebody has a row; `None` where there is none.
    fn seat(&self, free: &[u8], slot: usize) -> Option<Box<[u8]>> {
        let counter = self.counters[slot];
        if free[slot] == 0 || counter.is_some_and(|counter| free[counter] == 0) {
            return None;
        }
        let mut next: Box<[u8]> = free.into();
        next[slot] -= 1;
        counter.into_iter().for_each(|counter| next[counter] -= 1);
        Some(next)
    }

    /// What is the same for those who are still to come, and in how many ways it comes about; `None` where a row or a person
    /// is missing.
    fn settle(&self, mut free: Box<[u8]>, turn: usize) -> Result<Option<Settled>, Stop> {
        let mut weights = Weights::ONE;
        let settling = &self.settling[turn];
        for &(one, other) in &settling.merged {
            let part = std::mem::take(&mut free[other]);
            let ways = binomial(free[one], part).ok_or(Stop::Overflow)?;
            // Pools have at most as many rows as fit, whatever happens.
            free[one] += part;
            weights.apart = weights.apart.checked_mul(ways).ok_or(Stop::Overflow)?;
            weights.plain = weights.plain.checked_mul(ways).ok_or(Stop::Overflow)?;
        }
        if settling.most.iter().any(|&(slot, most)| free[slot] > most) {
            return Ok(None);
        }
        for &(slot, most) in &settling.closed {
            let left = std::mem::take(&mut free[slot]);
            if left > most {
                return Ok(None);
            }
            for factor in left + 1..=most {
                weights.apart = weights.apart.checked_mul(u128::from(factor)).ok_or(Stop::Overflow)?;
            }
        }
        Ok(Some((free, weights)))
    }
}

/// In how many ways so many of one kind and so many of another can be told apart by kind alone.
fn binomial(one: u8, other: u8) -> Option<u128> {
    let (small, all) = (u128::from(one.min(other)), u128::from(one) + u128::from(other));
    (0..small).try_fold(1u128, |ways, at| Some(ways.checked_mul(all - at)? / (at + 1)))
}

/// The board while it is laid.
#[derive(Default)]
struct Laying {
    cells: Vec<Cell>,
    numbers: FxHashMap<u32, usize>,
    /// Groups with counterfeits.
    groups: Vec<Counter>,
    group_numbers: FxHashMap<u32, usize>,
}

/// A group that has counterfeits.
struct Counter {
    people: u8,
    /// The turns of those who may be in it, ascending.
    takers: Vec<u32>,
    came: usize,
}

impl Laying {
    /// Somebody may take a cell.
    fn take(&mut self, seats: &Seats, (release, group, cell): (usize, u32, u32), by: (u32, u32)) -> Result<(), Stop> {
        let counterfeits = seats.counterfeits(group);
        let counter = match counterfeits {
            0 => None,
            _ => Some(match self.group_numbers.get(&group) {
                Some(&number) => number,
                None => {
                    let people = u8::try_from(seats.groups[group as usize].people).map_err(|_| Stop::Steps)?;
                    self.groups.push(Counter { people, takers: Vec::new(), came: 0 });
                    self.group_numbers.insert(group, self.groups.len() - 1);
                    self.groups.len() - 1
                }
            }),
        };
        let number = *self.numbers.entry(cell).or_insert_with(|| {
            let rows = seats.cells[cell as usize];
            let counterfeits = counter.map(|counter| (rows.min(counterfeits).min(255) as u8, counter));
            let (takers, mark, came) = (Vec::new(), 0, 0);
            self.cells.push(Cell { release, rows, takers, mark, came, part_of: None, counterfeits });
            self.cells.len() - 1
        });
        let own = &mut self.cells[number];
        own.takers.push(by);
        own.mark = own.mark.wrapping_add(mark(by.0, by.1));
        if let Some(counter) = counter {
            let takers = &mut self.groups[counter].takers;
            if takers.last() != Some(&by.0) {
                takers.push(by.0);
            }
        }
        Ok(())
    }

    /// The slots of some spots, each once.
    fn slots(&self, spots: &[(u32, u32)]) -> Vec<usize> {
        let slot = |&(_, cell): &(u32, u32)| {
            let mut at = self.numbers[&cell];
            while let Some(whole) = self.cells[at].part_of {
                at = whole;
            }
            at
        };
        let mut slots: Vec<usize> = spots.iter().map(slot).collect();
        slots.sort_unstable();
        slots.dedup();
        slots
    }

    /// What is done after a turn, or before the first.
    fn settle(&mut self, turn: Option<u32>, first_counter: usize) -> Settling {
        let mut settling = Settling::default();
        let mut changed = vec![turn.is_none(); self.cells.len()];
        for (at, cell) in self.cells.iter_mut().enumerate() {
            while let Some(&(_, tag)) = cell.to_come().first().filter(|taker| Some(taker.0) == turn) {
                cell.came += 1;
                cell.mark = cell.mark.wrapping_sub(mark(turn.unwrap_or(0), tag));
                changed[at] = true;
            }
        }
        let mut pools: FxHashMap<(usize, u128), usize> = FxHashMap::default();
        for at in 0..self.cells.len() {
            let cell = &self.cells[at];
            if cell.part_of.is_some() || cell.counterfeits.is_some() || cell.to_come().is_empty() {
                continue;
            }
            let one = *pools.entry((cell.release, cell.mark)).or_insert(at);
            let rows = self.cells[one].rows + cell.rows;
            if one != at && rows <= 255 && self.cells[one].to_come() == cell.to_come() {
                settling.merged.push((one, at));
                self.cells[one].rows = rows;
                self.cells[at].part_of = Some(one);
                changed[one] = true;
            }
        }
        for (at, cell) in self.cells.iter().enumerate().filter(|(at, _)| changed[*at]) {
            match cell.counterfeits {
                _ if cell.part_of.is_some() => (),
                None => settling.most.push((at, cell.people())),
                Some((most, _)) if cell.to_come().is_empty() => settling.closed.push((at, most)),
                Some(_) => (),
            }
        }
        for (at, group) in self.groups.iter_mut().enumerate() {
            let is_next = group.takers.get(group.came).is_some_and(|&taker| Some(taker) == turn);
            group.came += usize::from(is_next);
            if is_next || turn.is_none() {
                settling.most.push((first_counter + at, (group.takers.len() - group.came).min(255) as u8));
            }
        }
        settling
    }
}

/// The pairs of people who have the same value in every world. A sample of worlds rules out most pairs; the others are
/// followed through all worlds.
fn always_equal(
    layers: &[Layer],
    is_alive: &[Vec<bool>],
    parts: &[(BTreeMap<Value, u128>, u128)],
    values: usize,
    steps: &mut u64,
) -> Result<Vec<(u32, u32)>, Stop> {
    if values > 128 {
        return Err(Stop::Steps);
    }
    let firsts: Vec<usize> = (0..layers.len()).filter(|&at| layers[at].is_first).collect();
    let samples = samples(layers, is_alive, &firsts);
    let alike = |a: usize, b: usize| {
        let person = |turn: usize| &parts[layers[firsts[turn]].person];
        person(a) == person(b) && samples.iter().all(|world| world[a] == world[b])
    };
    let mut equal = Vec::new();
    for first in 0..firsts.len() {
        let mut others: Vec<usize> = (first + 1..firsts.len()).filter(|&other| alike(first, other)).collect();
        if others.is_empty() {
            continue;
        }
        // Per state, the values that the first person can have on the way to it.
        let mut had: Vec<u128> = Vec::new();
        for (at, layer) in layers.iter().enumerate().skip(firsts[first]) {
            spend(steps, layer.ways.len() as u64)?;
            let mut next = vec![0u128; is_alive[at + 1].len()];
            let asked = others.iter().copied().find(|&other| firsts[other] == at);
            for way in layer.ways.iter().filter(|way| is_alive[at + 1][way.to as usize]) {
                let own = 1u128 << way.value;
                let values = if at == firsts[first] { own } else { had[way.from as usize] };
                if asked.is_some() && values & !own != 0 {
                    others.retain(|&other| Some(other) != asked);
                }
                next[way.to as usize] |= values;
            }
            had = next;
        }
        let pair = |other: usize| {
            let (a, b) = (layers[firsts[first]].person as u32, layers[firsts[other]].person as u32);
            (a.min(b), a.max(b))
        };
        equal.extend(others.into_iter().map(pair));
    }
    equal.sort_unstable();
    Ok(equal)
}

/// Some worlds, each with everyone's value in order of turn: for every turn and value one.
fn samples(layers: &[Layer], is_alive: &[Vec<bool>], firsts: &[usize]) -> Vec<Vec<u32>> {
    let is_usable = |at: usize, way: &&Way| is_alive[at][way.from as usize] && is_alive[at + 1][way.to as usize];
    // Per state, one way to it and one from it.
    let mut to: Vec<Vec<Option<Way>>> = Vec::with_capacity(layers.len());
    let mut from: Vec<Vec<Option<Way>>> = Vec::with_capacity(layers.len());
    for (at, layer) in layers.iter().enumerate() {
        let (mut comes, mut goes) = (vec![None; is_alive[at + 1].len()], vec![None; is_alive[at].len()]);
        for way in layer.ways.iter().filter(|way| is_usable(at, way)) {
            comes[way.to as usize].get_or_insert(*way);
            goes[way.from as usize].get_or_insert(*way);
        }
        to.push(comes);
        from.push(goes);
    }
    let mut worlds = Vec::new();
    for &at in firsts {
        let mut seen: Vec<u32> = Vec::new();
        for way in layers[at].ways.iter().filter(|way| is_usable(at, way)) {
            if seen.contains(&way.value) {
                continue;
            }
            seen.push(way.value);
            let mut all = vec![0; layers.len()];
            all[at] = way.value;
            let mut state = way.from;
            for before in (0..at).rev() {
                let way = to[before][state as usize].expect("every state is come to");
                all[before] = way.value;
                state = way.from;
            }
            let mut state = way.to;
            for later in at + 1..layers.len() {
                let way = from[later][state as usize].expect("a state that is alive is left again");
                all[later] = way.value;
                state = way.to;
            }
            worlds.push(firsts.iter().map(|&first| all[first]).collect());
        }
    }
    worlds
}
