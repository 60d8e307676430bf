//! The question of `flow` for few kinds of places, answered with bit sets: who can take which place?
//!
//! Places of one kind are one bit, and there are as many people as places. Everyone is seated by chains of moves. Then
//! a person seated at `p` can take `q` in some other full seating exactly if a chain of moves leads from `q` to `p`:
//! each person makes room for the one before, until somebody takes `p`.

use crate::space::sets::{holds, insert, members};

/// Kinds of places.
pub(super) type Bits<const WORDS: usize> = [u64; WORDS];

/// Removes from everyone's wishes the kinds of places that no full seating gives them. Returns whether there is a full
/// seating at all; if not, the wishes stay as they are.
///
/// Its cost grows with the square of the number of kinds, times their words. Beyond a few hundred kinds the flow is
/// faster.
///
/// # Panics
/// If there are more kinds of places than bits, or the numbers of people and places differ.
pub(super) fn keep_usable<const WORDS: usize>(rooms: &[u32], wishes: &mut [[u64; WORDS]]) -> bool {
    assert!(rooms.len() <= 64 * WORDS, "places are bits");
    assert_eq!(rooms.iter().sum::<u32>() as usize, wishes.len(), "everyone has a place, and no place stays empty");
    let mut seating = Seating::new(rooms, wishes);
    if !(0..wishes.len()).all(|person| seating.seat(person)) {
        return false;
    }
    let usable = seating.usable();
    let seats = seating.seats;
    for (wishes, seat) in wishes.iter_mut().zip(seats) {
        wishes.iter_mut().zip(&usable[seat as usize]).for_each(|(wishes, usable)| *wishes &= usable);
    }
    true
}

/// Some people seated.
struct Seating<'a, const WORDS: usize> {
    wishes: &'a [[u64; WORDS]],
    /// Per person seated, the kind of place.
    seats: Vec<u16>,
    /// Per kind of place, how many are free, and the kinds with any.
    rooms: Vec<u32>,
    free: [u64; WORDS],
    /// Per kind of place, where somebody who sits there could move.
    moves: Vec<[u64; WORDS]>,
    /// Per kind of place that a search has reached, the kind from which it was reached.
    came_from: Vec<u16>,
}

const NOBODY: u16 = u16::MAX;

impl<'a, const WORDS: usize> Seating<'a, WORDS> {
    fn new(rooms: &[u32], wishes: &'a [[u64; WORDS]]) -> Seating<'a, WORDS> {
        let mut free = [0; WORDS];
        rooms.iter().enumerate().filter(|(_, room)| **room > 0).for_each(|(kind, _)| insert(&mut free, kind));
        Seating {
            wishes,
            seats: vec![NOBODY; wishes.len()],
            rooms: rooms.to_vec(),
            free,
            moves: vec![[0; WORDS]; rooms.len()],
            came_from: vec![NOBODY; rooms.len()],
        }
    }

    /// Finds a place for one more person, moving others if necessary.
    fn seat(&mut self, person: usize) -> bool {
        let Some(mut to) = self.find_chain(self.wishes[person]) else { return false };
        self.rooms[to] -= 1;
        if self.rooms[to] == 0 {
            self.free[to / 64] &= !(1 << (to % 64));
        }
        while self.came_from[to] != NOBODY {
            let from = self.came_from[to];
            let moves = |at: &usize| self.seats[*at] == from && holds(&self.wishes[*at], to);
            let mover = (0..self.seats.len()).find(moves).expect("somebody there could move");
            self.seats[mover] = to as u16;
            join(&mut self.moves[to], &self.wishes[mover]);
            let mut stay = [0; WORDS];
            for (_, wishes) in self.seats.iter().zip(self.wishes).filter(|(seat, _)| **seat == from) {
                join(&mut stay, wishes);
            }
            self.moves[from as usize] = stay;
            to = from as usize;
        }
        self.seats[person] = to as u16;
        join(&mut self.moves[to], &self.wishes[person]);
        true
    }

    /// A free kind of place at the end of a chain of moves from one of these. `came_from` then holds the chain.
    fn find_chain(&mut self, wishes: [u64; WORDS]) -> Option<usize> {
        let first_shared = |left: &[u64; WORDS], right: &[u64; WORDS]| {
            let mut words = left.iter().zip(right).enumerate();
            words.find_map(|(word, (left, right))| {
                let both = left & right;
                (both != 0).then(|| word * 64 + both.trailing_zeros() as usize)
            })
        };
        members(&wishes).for_each(|kind| self.came_from[kind as usize] = NOBODY);
        let (mut seen, mut open) = (wishes, wishes);
        loop {
            if let Some(free) = first_shared(&seen, &self.free) {
                return Some(free);
            }
            let kind = first_shared(&open, &open)?;
            open[kind / 64] &= !(1 << (kind % 64));
            let mut new = self.moves[kind];
            new.iter_mut().zip(&seen).for_each(|(new, seen)| *new &= !seen);
            members(&new).for_each(|next| self.came_from[next as usize] = kind as u16);
            join(&mut seen, &new);
            join(&mut open, &new);
        }
    }

    /// Per kind of place, the kinds that a person seated there can have in some full seating.
    fn usable(&self) -> Vec<[u64; WORDS]> {
        let mut reach = self.moves.clone();
        for middle in 0..reach.len() {
            let further = reach[middle];
            reach.iter_mut().filter(|reach| holds(&reach[..], middle)).for_each(|reach| join(reach, &further));
        }
        let mut usable = vec![[0; WORDS]; reach.len()];
        for (from, reach) in reach.iter().enumerate() {
            insert(&mut usable[from], from);
            members(reach).for_each(|kind| insert(&mut usable[kind as usize], from));
        }
        usable
    }
}

fn join<const WORDS: usize>(all: &mut [u64; WORDS], more: &[u64; WORDS]) {
    all.iter_mut().zip(more).for_each(|(all, more)| *all |= more);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::matching::Matching;
    use proptest::prelude::*;

    #[test]
    fn whoever_has_no_choice_takes_it_from_the_others() {
        let mut wishes = [[0b001], [0b111], [0b011]];
        assert!(keep_usable(&[1, 1, 1], &mut wishes));
        assert_eq!(wishes, [[0b001], [0b100], [0b010]]);
        let mut wishes = [[0b001], [0b001], [0b110]];
        assert!(!keep_usable(&[1, 1, 1], &mut wishes));
        assert_eq!(wishes, [[0b001], [0b001], [0b110]]);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        /// The flow says the same, arc by arc.
        #[test]
        fn bits_say_what_the_flow_says(
            rooms in proptest::collection::vec(1u32..4, 1..9), spread in 0usize..2, seed: u64,
        ) {
            let people = rooms.iter().sum::<u32>() as usize;
            let mut state = seed | 1;
            let mut random = || {
                state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                (state >> 33) & ((1 << rooms.len()) - 1)
            };
            // Half of all wishes, then three quarters: full seatings, tight ones and none. Spread, they are in two words,
            // with kinds of no room between them.
            let gap = spread * 61;
            let all_rooms: Vec<u32> =
                rooms.iter().take(2).copied().chain(vec![0; gap]).chain(rooms.iter().skip(2).copied()).collect();
            let place = |bit: usize| if bit < 2 || rooms.len() < 2 { bit } else { bit + gap };
            let wide = |bits: u64| {
                let mut wide = [0u64; 2];
                (0..rooms.len()).filter(|bit| bits >> bit & 1 == 1).for_each(|bit| insert(&mut wide, place(bit)));
                wide
            };
            let mut wishes: Vec<[u64; 2]> =
                (0..people).map(|person| wide(if person % 3 == 0 { random() } else { random() | random() })).collect();
            let arcs: Vec<(u32, u32)> = wishes.iter().zip(0..)
                .flat_map(|(wishes, person)| members(wishes).map(move |kind| (person, kind)))
                .collect();
            let matching = Matching { supplies: vec![1; people], capacities: all_rooms.clone(), arcs };
            let before = wishes.clone();
            let is_full = keep_usable(&all_rooms, &mut wishes);
            match matching.usable_arcs() {
                None => prop_assert!(!is_full && wishes == before),
                Some(usable) => {
                    prop_assert!(is_full);
                    for (&(person, kind), usable) in matching.arcs.iter().zip(usable) {
                        prop_assert_eq!(holds(&wishes[person as usize], kind as usize), usable);
                    }
                }
            }
        }
    }
}
