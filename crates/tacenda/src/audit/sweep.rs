//! Counts the worlds of one component without listing them.
//!
//! People are placed one after another, with people who share groups close together. The past matters only through the
//! rows that are still free in groups that later people can be in. Ways that leave the same rows free are counted
//! together. A backward pass then gives, for each person and value, the worlds in which the person has the value. The
//! numbers equal those of listing all worlds; a property test compares them.
//!
//! Rows of a group with the same value are distinguished by a weight, as in `worlds`: the number of ways to be in them.
//! A factor that all worlds share is left out, so that larger histories fit 128 bits. Shares stay the same.

use crate::audit::worlds::{Choice, Seats, Stop};
use crate::model::Value;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What was counted.
pub(super) struct Counted {
    pub(super) count: u128,
    pub(super) whole: u128,
    /// Per person, the weight of the worlds for each value.
    pub(super) parts: Vec<BTreeMap<Value, u128>>,
    /// Pairs of people, by place, who have the same value in every world.
    pub(super) equal: Vec<(u32, u32)>,
}

/// The most states that are kept, to bound memory.
const MOST_STATES: usize = 1 << 20;

/// A person's choice that leads from one state to another.
#[derive(Clone, Copy)]
struct Way {
    from: u32,
    to: u32,
    /// The value, by its place in the list of values.
    value: u32,
    /// The ways to be in the rows of the groups that are complete after this choice.
    weight: u128,
}

/// One person's ways, and the number of worlds that lead to each state before them.
struct Layer {
    person: usize,
    ways: Vec<Way>,
    before: Vec<(u128, u128)>,
}

/// Counts the worlds of some people, each with their choices. `steps` is reduced by what it takes.
pub(super) fn count(seats: &Seats, options: &[&[Choice]], steps: &mut u64) -> Result<Counted, Stop> {
    spend(steps, (options.len() * options.len()) as u64)?;
    let mut values: Vec<Value> = options.iter().flat_map(|choices| choices.iter()).map(|choice| choice.value).collect();
    values.sort_unstable();
    values.dedup();
    let mut counted = Counted { count: 0, whole: 0, parts: vec![BTreeMap::new(); options.len()], equal: Vec::new() };
    let Some(layers) = sweep(seats, options, &values, steps)? else { return Ok(counted) };
    // The number of worlds from each state to the end.
    let mut after: Vec<u128> = vec![1];
    let mut is_alive: Vec<Vec<bool>> = vec![vec![true]];
    for layer in layers.iter().rev() {
        let mut earlier = vec![0u128; layer.before.len()];
        let mut alive = vec![false; layer.before.len()];
        for way in &layer.ways {
            let rest = way.weight.checked_mul(after[way.to as usize]).ok_or(Stop::Overflow)?;
            let start = &mut earlier[way.from as usize];
            *start = start.checked_add(rest).ok_or(Stop::Overflow)?;
            alive[way.from as usize] |= rest > 0;
            if rest > 0 {
                let worlds = layer.before[way.from as usize].1.checked_mul(rest).ok_or(Stop::Overflow)?;
                let part = counted.parts[layer.person].entry(values[way.value as usize]).or_insert(0);
                *part = part.checked_add(worlds).ok_or(Stop::Overflow)?;
            }
        }
        after = earlier;
        is_alive.push(alive);
    }
    is_alive.reverse();
    counted.whole = after.first().copied().unwrap_or(0);
    counted.count = ways_through(&layers)?;
    counted.equal = always_equal(&layers, &is_alive, &counted.parts, values.len(), steps)?;
    Ok(counted)
}

fn spend(steps: &mut u64, cost: u64) -> Result<(), Stop> {
    *steps = steps.checked_sub(cost).ok_or(Stop::Steps)?;
    Ok(())
}

/// Places everyone. `None` if somebody has no choice left, whatever the others do.
fn sweep(seats: &Seats, options: &[&[Choice]], values: &[Value], steps: &mut u64) -> Result<Option<Vec<Layer>>, Stop> {
    let order = order(options);
    let board = Board::new(seats, options, &order)?;
    let mut states: Vec<Box<[u8]>> = vec![board.start.clone()];
    let mut before: Vec<(u128, u128)> = vec![(1, 1)];
    let mut layers: Vec<Layer> = Vec::with_capacity(order.len());
    let mut kept = 1;
    for (turn, &person) in order.iter().enumerate() {
        let mut found: FxHashMap<Box<[u8]>, u32> = FxHashMap::default();
        let (mut next, mut reached, mut ways) = (Vec::new(), Vec::new(), Vec::new());
        for (from, state) in states.iter().enumerate() {
            spend(steps, options[person].len() as u64)?;
            for choice in options[person] {
                let Some((state, weight)) = board.seat(state, choice, turn) else { continue };
                let to = *found.entry(state).or_insert_with_key(|state| {
                    next.push(state.clone());
                    reached.push((0u128, 0u128));
                    next.len() as u32 - 1
                });
                let value = values.binary_search(&choice.value).expect("all values are listed") as u32;
                ways.push(Way { from: from as u32, to, value, weight });
                let (count, worlds) = before[from];
                let sum = &mut reached[to as usize];
                sum.0 = sum.0.checked_add(count).ok_or(Stop::Overflow)?;
                let worlds = worlds.checked_mul(weight).ok_or(Stop::Overflow)?;
                sum.1 = sum.1.checked_add(worlds).ok_or(Stop::Overflow)?;
            }
        }
        kept += next.len();
        if kept > MOST_STATES {
            return Err(Stop::Steps);
        }
        layers.push(Layer { person, ways, before });
        if next.is_empty() {
            return Ok(None);
        }
        (states, before) = (next, reached);
    }
    Ok(Some(layers))
}

/// How many worlds there are if rows with the same group and value are not distinguished.
fn ways_through(layers: &[Layer]) -> Result<u128, Stop> {
    let Some(last) = layers.last() else { return Ok(1) };
    let mut count = 0u128;
    for way in &last.ways {
        count = count.checked_add(last.before[way.from as usize].0).ok_or(Stop::Overflow)?;
    }
    Ok(count)
}

/// The order of the people: each next person shares groups with earlier ones and opens as few new groups as possible.
fn order(options: &[&[Choice]]) -> Vec<usize> {
    let groups = |person: usize| {
        let mut groups: Vec<u32> =
            options[person].iter().flat_map(|choice| choice.spots.iter()).map(|spot| spot.0).collect();
        groups.sort_unstable();
        groups.dedup();
        groups
    };
    let groups: Vec<Vec<u32>> = (0..options.len()).map(groups).collect();
    let most = groups.iter().flatten().max().map_or(0, |&group| group as usize + 1);
    let mut is_open = vec![false; most];
    let mut left: Vec<usize> = (0..options.len()).collect();
    let mut order = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let new = |person: usize| groups[person].iter().filter(|&&group| !is_open[group as usize]).count();
        let shared = |person: usize| groups[person].len() - new(person);
        let best = (0..left.len())
            .min_by_key(|&at| {
                (!order.is_empty() && shared(left[at]) == 0, new(left[at]), options[left[at]].len(), left[at])
            })
            .expect("somebody is left");
        let person = left.remove(best);
        groups[person].iter().for_each(|&group| is_open[group as usize] = true);
        order.push(person);
    }
    order
}

/// The free rows of all groups: one number per cell and one per group.
struct Board {
    start: Box<[u8]>,
    /// Per cell of the history, its place in a state.
    cells: FxHashMap<u32, usize>,
    groups: FxHashMap<u32, usize>,
    /// Per turn, the groups that no later person can be in.
    closing: Vec<Vec<Closing>>,
}

/// A group that no later person can be in.
#[derive(Clone)]
struct Closing {
    /// Its place in a state.
    group: usize,
    /// The places of its cells, each with the most rows that can be counterfeits.
    cells: Vec<(usize, u8)>,
}

impl Board {
    fn new(seats: &Seats, options: &[&[Choice]], order: &[usize]) -> Result<Board, Stop> {
        let mut last: BTreeMap<u32, usize> = BTreeMap::new();
        for (turn, &person) in order.iter().enumerate() {
            for &(group, _) in options[person].iter().flat_map(|choice| &choice.spots) {
                last.insert(group, turn);
            }
        }
        let small = |number: u32| u8::try_from(number).map_err(|_| Stop::Steps);
        let mut board = Board {
            start: Box::default(),
            cells: FxHashMap::default(),
            groups: FxHashMap::default(),
            closing: vec![Vec::new(); order.len()],
        };
        let mut start: Vec<u8> = Vec::new();
        for (&group, &turn) in &last {
            let own = &seats.groups[group as usize];
            board.groups.insert(group, start.len());
            let place = start.len();
            start.push(small(own.people)?);
            let rows: u32 = own.values.iter().map(|&(_, cell)| seats.cells[cell as usize]).sum();
            let counterfeits = rows.saturating_sub(own.people);
            let mut cells = Vec::new();
            for &(_, cell) in &own.values {
                let rows = seats.cells[cell as usize];
                board.cells.insert(cell, start.len());
                cells.push((start.len(), small(rows.min(counterfeits))?));
                start.push(small(rows)?);
            }
            board.closing[turn].push(Closing { group: place, cells });
        }
        board.start = start.into();
        Ok(board)
    }

    /// The rows that are free after a choice, and the number of ways to be in the rows of groups that are then
    /// complete; `None` if a row or a person is missing.
    fn seat(&self, state: &[u8], choice: &Choice, turn: usize) -> Option<(Box<[u8]>, u128)> {
        let mut next: Box<[u8]> = state.into();
        for (group, cell) in &choice.spots {
            let (group, cell) = (self.groups[group], self.cells[cell]);
            next[group] = next[group].checked_sub(1)?;
            next[cell] = next[cell].checked_sub(1)?;
        }
        let mut weight = 1u128;
        for Closing { group, cells } in &self.closing[turn] {
            if next[*group] > 0 {
                return None;
            }
            for &(cell, most) in cells {
                let left = std::mem::take(&mut next[cell]);
                // In a complete group, the rows left are its counterfeits.
                for factor in left + 1..=most {
                    weight = weight.checked_mul(u128::from(factor))?;
                }
            }
        }
        Some((next, weight))
    }
}

/// The pairs of people who have the same value in every world. A sample of worlds rules out most pairs; the others are
/// followed through all worlds.
fn always_equal(
    layers: &[Layer],
    is_alive: &[Vec<bool>],
    parts: &[BTreeMap<Value, u128>],
    values: usize,
    steps: &mut u64,
) -> Result<Vec<(u32, u32)>, Stop> {
    if is_alive.first().is_none_or(|first| first != &[true]) {
        return Ok(Vec::new());
    }
    if values > 128 {
        return Err(Stop::Steps);
    }
    let samples = samples(layers, is_alive);
    let alike = |a: usize, b: usize| {
        parts[layers[a].person] == parts[layers[b].person] && samples.iter().all(|world| world[a] == world[b])
    };
    let mut equal = Vec::new();
    for first in 0..layers.len() {
        let mut others: Vec<usize> = (first + 1..layers.len()).filter(|&other| alike(first, other)).collect();
        if others.is_empty() {
            continue;
        }
        // Per state, the values that the first person can have on the way to it.
        let mut had: Vec<u128> = Vec::new();
        for (at, layer) in layers.iter().enumerate().skip(first) {
            spend(steps, layer.ways.len() as u64)?;
            let mut next = vec![0u128; is_alive[at + 1].len()];
            let is_asked = others.contains(&at);
            for way in layer.ways.iter().filter(|way| is_alive[at + 1][way.to as usize]) {
                let own = 1u128 << way.value;
                let values = if at == first { own } else { had[way.from as usize] };
                if is_asked && values & !own != 0 {
                    others.retain(|&other| other != at);
                }
                next[way.to as usize] |= values;
            }
            had = next;
        }
        let pair = |other: usize| {
            let (a, b) = (layers[first].person as u32, layers[other].person as u32);
            (a.min(b), a.max(b))
        };
        equal.extend(others.into_iter().map(pair));
    }
    equal.sort_unstable();
    Ok(equal)
}

/// A sample of worlds, each with everyone's value in order of turn: one world for every turn and value.
fn samples(layers: &[Layer], is_alive: &[Vec<bool>]) -> Vec<Vec<u32>> {
    let is_usable = |at: usize, way: &&Way| is_alive[at + 1][way.to as usize];
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
    for (at, layer) in layers.iter().enumerate() {
        let mut seen: Vec<u32> = Vec::new();
        for way in layer.ways.iter().filter(|way| is_usable(at, way)) {
            if seen.contains(&way.value) {
                continue;
            }
            seen.push(way.value);
            let mut world = vec![0; layers.len()];
            world[at] = way.value;
            let mut state = way.from;
            for before in (0..at).rev() {
                let way = to[before][state as usize].expect("every state is come to");
                world[before] = way.value;
                state = way.from;
            }
            let mut state = way.to;
            for later in at + 1..layers.len() {
                let way = from[later][state as usize].expect("a state that is alive is left again");
                world[later] = way.value;
                state = way.to;
            }
            worlds.push(world);
        }
    }
    worlds
}
