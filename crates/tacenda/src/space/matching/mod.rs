//! The one kernel for matching: who can take which place, if everyone needs a place of their own?
//!
//! [`Matching`] is the general question, answered by maximum flow. [`keep_usable`] answers it for a crowd in which no
//! place stays empty; the auditor has very many small crowds. If the kinds of places are few, it uses bit sets instead
//! and builds no network. The answer is the same, and a property test compares both arc by arc.

mod bits;
mod flow;

use crate::space::sets::{insert, members};
use bits::Bits;
pub(crate) use flow::Matching;
use std::cmp::Ordering;
use std::ops::Range;

/// People and the places each of them may take.
pub(crate) trait Wishes {
    /// How many people there are.
    fn people(&self) -> usize;

    /// Calls `tell` with some places and whether the person may take each. They may take no other place.
    fn each(&self, person: usize, tell: impl FnMut(usize, bool));

    /// Orders people by their wishes. Only people with the same wishes are equal.
    fn compare(&self, one: usize, other: usize) -> Ordering;
}

/// Kinds of places and the people who take them. There are as many people as places.
pub(crate) struct Crowd<'a, W> {
    /// How many places there are of each kind.
    pub(crate) rooms: &'a [u32],
    /// The people.
    pub(crate) wishes: &'a W,
    /// Further people, by number, who may take any place of a range of kinds.
    pub(crate) others: &'a [(Range<usize>, u32)],
}

/// Whether the question was answered for a crowd.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Asked {
    /// `keep` was called with everyone who loses a place.
    Answered,
    /// No full seating exists.
    NoSeating,
    /// There are more pairs of people and places than the limit.
    TooLarge,
}

/// The most people who are seated with bits.
const MOST_BY_BITS: usize = 4096;

/// Finds the places that a person wishes for but gets in no full seating. Calls `keep` with everyone who loses a place,
/// and the kinds of places left to them.
///
/// `most_arcs` limits the pairs of a person and a place; people with the same wishes count once.
pub(crate) fn keep_usable<W: Wishes>(
    crowd: &Crowd<'_, W>,
    most_arcs: usize,
    keep: impl FnMut(usize, &mut dyn Iterator<Item = u32>),
) -> Asked {
    // Seating with bits examines everyone at every move.
    let kinds = if crowd.wishes.people() > MOST_BY_BITS { usize::MAX } else { crowd.rooms.len() };
    match kinds.div_ceil(64) {
        0..=1 => by_bits::<1, W>(crowd, keep),
        2 => by_bits::<2, W>(crowd, keep),
        3..=4 => by_bits::<4, W>(crowd, keep),
        5..=8 => by_bits::<8, W>(crowd, keep),
        _ => by_flow(crowd, most_arcs, keep),
    }
}

fn by_bits<const WORDS: usize, W: Wishes>(
    crowd: &Crowd<'_, W>,
    mut keep: impl FnMut(usize, &mut dyn Iterator<Item = u32>),
) -> Asked {
    let people = crowd.wishes.people();
    let mut wishes: Vec<Bits<WORDS>> = Vec::with_capacity(people);
    for person in 0..people {
        let mut wanted = [0; WORDS];
        crowd.wishes.each(person, |place, may| wanted[place / 64] |= u64::from(may) << (place % 64));
        wishes.push(wanted);
    }
    for (range, count) in crowd.others {
        let mut all = [0; WORDS];
        range.clone().for_each(|place| insert(&mut all, place));
        wishes.extend((0..*count).map(|_| all));
    }
    let before = wishes.clone();
    if !bits::keep_usable(crowd.rooms, &mut wishes) {
        return Asked::NoSeating;
    }
    // Most people keep all their places.
    let pairs = before.iter().zip(&wishes).take(people).enumerate();
    for (person, (_, wishes)) in pairs.filter(|(_, (before, wishes))| before != wishes) {
        keep(person, &mut members(wishes));
    }
    Asked::Answered
}

fn by_flow<W: Wishes>(
    crowd: &Crowd<'_, W>,
    most_arcs: usize,
    mut keep: impl FnMut(usize, &mut dyn Iterator<Item = u32>),
) -> Asked {
    let mut matching = Matching { capacities: crowd.rooms.to_vec(), ..Matching::default() };
    // People with the same wishes are one node.
    let mut order: Vec<usize> = (0..crowd.wishes.people()).collect();
    order.sort_unstable_by(|&a, &b| crowd.wishes.compare(a, b).then(a.cmp(&b)));
    let classes: Vec<&[usize]> = order.chunk_by(|&a, &b| crowd.wishes.compare(a, b) == Ordering::Equal).collect();
    let mut ends = Vec::with_capacity(classes.len());
    for (node, class) in (0..).zip(&classes) {
        matching.supplies.push(class.len() as u32);
        crowd.wishes.each(class[0], |place, may| matching.arcs.extend(may.then_some((node, place as u32))));
        ends.push(matching.arcs.len());
        if matching.arcs.len() > most_arcs {
            return Asked::TooLarge;
        }
    }
    for (range, count) in crowd.others {
        let node = matching.supplies.len() as u32;
        matching.supplies.push(*count);
        matching.arcs.extend(range.clone().map(|place| (node, place as u32)));
    }
    let Some(usable) = matching.usable_arcs() else { return Asked::NoSeating };
    let mut start = 0;
    for (class, end) in classes.into_iter().zip(ends) {
        let arcs = std::mem::replace(&mut start, end)..end;
        if usable[arcs.clone()].contains(&false) {
            let places = || arcs.clone().filter(|&arc| usable[arc]).map(|arc| matching.arcs[arc].1);
            class.iter().for_each(|&person| keep(person, &mut places()));
        }
    }
    Asked::Answered
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Per person, one bit a place.
    struct Plain(Vec<u64>);

    impl Wishes for Plain {
        fn people(&self) -> usize {
            self.0.len()
        }

        fn each(&self, person: usize, mut tell: impl FnMut(usize, bool)) {
            (0..64).for_each(|place| tell(place, self.0[person] >> place & 1 == 1));
        }

        fn compare(&self, one: usize, other: usize) -> Ordering {
            self.0[one].cmp(&self.0[other])
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        /// The flow, where it is asked, says of the crowd what the bits say.
        #[test]
        fn a_crowd_hears_one_answer(
            rooms in proptest::collection::vec(1u32..4, 2..8), others in 0u32..3, draws: u64, seed: u64,
        ) {
            let people = rooms.iter().sum::<u32>().saturating_sub(others) as usize;
            let others = rooms.iter().sum::<u32>() - people as u32;
            let mut state = seed | 1;
            let mut random = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) & ((1 << rooms.len()) - 1)
            };
            let wishes = Plain((0..people).map(|at| if draws >> (at % 64) & 1 == 1 { random() } else { u64::MAX >> (64 - rooms.len()) }).collect());
            let others = [(0..rooms.len(), others)];
            let crowd = Crowd { rooms: &rooms, wishes: &wishes, others: &others };
            let (mut few, mut many) = (Vec::new(), Vec::new());
            let one = by_bits::<1, Plain>(&crowd, |person, places| few.push((person, places.collect::<Vec<u32>>())));
            let other = by_flow(&crowd, usize::MAX, |person, places| many.push((person, places.collect::<Vec<u32>>())));
            many.sort();
            prop_assert_eq!(one, other);
            prop_assert_eq!(few, many);
        }
    }
}
