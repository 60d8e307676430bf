//! Exchanges people of one value between neighbouring groups, after the buckets were cut.
//!
//! A cut sends the same number of people of every value to each side, so somebody often lands on the side that is farther
//! away. Two groups of one bucket may exchange two people of the same value, or a person and a counterfeit of it: both keep
//! their values. That is done where the boxes together get smaller, each counted once for every person in it.
//!
//! Groups of different buckets may exchange two newcomers of the same value, where the caller allows it: nobody has published
//! a value set of theirs yet.
//!
//! Neighbours are found by sweeps. Each orders the groups along another slanted line, and compares every group with the next
//! few. A counterfeit moves only to the group with more people: the fewest people of a group never get fewer. But another
//! person than before may stand alone with counterfeits.
//!
//! # Promise
//! Inside a bucket all lists are treated alike, and ties go by row: exchanging the values of a bucket changes no group
//! (science A3.5-1). Between buckets that does not hold, because a newcomer's value decides whose place they may take. So only
//! releases that promise nothing against a reader who knows this program may do that. The result does not depend on the
//! number of threads.

use crate::grouping::buckets::split::{Costs, Groups, Lane, MOST_LANES, NOBODY};
use crate::model::{Table, Value};
use rayon::prelude::*;

/// How often all groups are compared with their neighbours.
const SWEEPS: usize = 20;

/// With how many groups of its bucket each is compared in a sweep.
const NEAR: usize = 8;

/// With how many newcomers of the same value each is compared in a sweep.
const NEAR_NEWCOMERS: usize = 16;

/// Groups that are next to each other in a sweep are worked on together, so many at a time.
const TILE: usize = 1024;

/// A slanted line leans towards the other attributes by at most this, in 1024ths.
const LEAN: i64 = 358;

/// A bucket that was cut: its value set and its groups.
pub type CutBucket = (Vec<Value>, Groups);

/// Exchanges people between groups of one bucket. Where `is_newcomer` is given, newcomers may also enter other buckets.
pub fn exchange(table: &Table, costs: &Costs, cuts: &mut [CutBucket], is_newcomer: Option<&[bool]>) {
    match table.quasi_count().div_ceil(4) {
        0 => {}
        1 => exchange_lanes::<1>(table, costs, cuts, is_newcomer),
        2 => exchange_lanes::<2>(table, costs, cuts, is_newcomer),
        3 | 4 => exchange_lanes::<4>(table, costs, cuts, is_newcomer),
        5..=16 => exchange_lanes::<16>(table, costs, cuts, is_newcomer),
        _ => exchange_lanes::<MOST_LANES>(table, costs, cuts, is_newcomer),
    }
}

fn exchange_lanes<const L: usize>(table: &Table, costs: &Costs, cuts: &mut [CutBucket], is_newcomer: Option<&[bool]>) {
    let mut board: Board<'_, L> = Board::new(table, costs, cuts);
    let lines = table.quasi_count() + 2;
    let mut idle = 0;
    for sweep in 0..SWEEPS.max(lines) {
        let mut any = false;
        if let Some(is_newcomer) = is_newcomer {
            // The sweep before may have moved them.
            let newcomers = board.newcomers(cuts, is_newcomer);
            any |= board.across(&newcomers, &board.along(sweep, lines));
        }
        any |= board.within(&board.along(sweep, lines));
        idle = if any { 0 } else { idle + 1 };
        if idle > lines {
            break;
        }
    }
    let mut rows = board.items.into_iter().map(|item| item.row);
    for (_, groups) in cuts {
        let len = groups.places.len();
        groups.places = rows.by_ref().take(len).collect();
    }
}

/// A place of a group: a person, or a counterfeit.
#[derive(Clone, Copy)]
struct Item<const L: usize> {
    row: u32,
    codes: [Lane; L],
    /// How much smaller the box of the group would be without this person.
    saves: u64,
}

impl<const L: usize> Item<L> {
    fn is_real(&self) -> bool {
        self.row != NOBODY
    }
}

/// The box of a group, and what it would be without one of its people.
#[derive(Clone, Copy)]
struct Edges<const L: usize> {
    /// The least and the second least code of every attribute.
    least: [[Lane; L]; 2],
    /// The greatest and the second greatest.
    most: [[Lane; L]; 2],
    cost: u64,
    people: u64,
}

impl<const L: usize> Edges<L> {
    /// The edges of a group. Says of every item how much smaller the box would be without it.
    fn new(costs: &Costs, items: &mut [Item<L>]) -> Edges<L> {
        let (mut least, mut most) = ([[[u32::MAX; 4]; L]; 2], [[[0; 4]; L]; 2]);
        let mut people = 0;
        for item in items.iter().filter(|item| item.is_real()) {
            people += 1;
            for lane in 0..L {
                for at in 0..4 {
                    let code = item.codes[lane][at];
                    least[1][lane][at] = least[1][lane][at].min(code.max(least[0][lane][at]));
                    least[0][lane][at] = least[0][lane][at].min(code);
                    most[1][lane][at] = most[1][lane][at].max(code.min(most[0][lane][at]));
                    most[0][lane][at] = most[0][lane][at].max(code);
                }
            }
        }
        let mut edges = Edges { least, most, cost: costs.of(&least[0], &most[0]), people };
        for item in items.iter_mut() {
            item.saves =
                if item.is_real() && edges.is_bounded_by(item) { edges.cost - edges.without(costs, item) } else { 0 };
        }
        edges.people = people;
        edges
    }

    /// Whether the box ends at an item and at nobody else.
    fn is_bounded_by(&self, item: &Item<L>) -> bool {
        let mut found = false;
        for lane in 0..L {
            for at in 0..4 {
                let code = item.codes[lane][at];
                found |= code == self.least[0][lane][at] && code != self.least[1][lane][at];
                found |= code == self.most[0][lane][at] && code != self.most[1][lane][at];
            }
        }
        found
    }

    /// The box without one of its people.
    fn box_without(&self, item: &Item<L>) -> ([Lane; L], [Lane; L]) {
        let (mut least, mut most) = (self.least[0], self.most[0]);
        for lane in 0..L {
            for at in 0..4 {
                let code = item.codes[lane][at];
                if code == least[lane][at] {
                    least[lane][at] = self.least[1][lane][at];
                }
                if code == most[lane][at] {
                    most[lane][at] = self.most[1][lane][at];
                }
            }
        }
        (least, most)
    }

    fn without(&self, costs: &Costs, item: &Item<L>) -> u64 {
        let (least, most) = self.box_without(item);
        costs.of(&least, &most)
    }

    /// What the box costs with one item more, and without another one.
    fn instead(&self, costs: &Costs, out: &Item<L>, into: &Item<L>) -> u64 {
        let (mut least, mut most) = if out.is_real() { self.box_without(out) } else { (self.least[0], self.most[0]) };
        if into.is_real() {
            for lane in 0..L {
                for at in 0..4 {
                    least[lane][at] = least[lane][at].min(into.codes[lane][at]);
                    most[lane][at] = most[lane][at].max(into.codes[lane][at]);
                }
            }
        }
        costs.of(&least, &most)
    }
}

/// A place of a newcomer: group, and place among all places.
type NewcomerPlace = (u32, u32);

/// All groups of all buckets.
struct Board<'a, const L: usize> {
    costs: &'a Costs,
    /// Per attribute, what one code counts along a line.
    steps: Vec<i64>,
    /// Group by group, within a group value by value.
    items: Vec<Item<L>>,
    edges: Vec<Edges<L>>,
    /// Where each group begins, and where the last ends.
    starts: Vec<usize>,
    /// The bucket of each group.
    buckets: Vec<u32>,
    /// Per bucket, how many values it has.
    lists: Vec<usize>,
}

impl<'a, const L: usize> Board<'a, L> {
    fn new(table: &Table, costs: &'a Costs, cuts: &[CutBucket]) -> Board<'a, L> {
        let item = |&row: &u32| {
            let mut codes = [[0; 4]; L];
            if row != NOBODY {
                for attribute in 0..table.quasi_count() {
                    codes[attribute / 4][attribute % 4] = table.quasi(attribute)[row as usize];
                }
            }
            Item { row, codes, saves: 0 }
        };
        let mut items: Vec<Item<L>> = cuts.iter().flat_map(|(_, groups)| &groups.places).map(item).collect();
        let mut starts = vec![0];
        let mut rest = &mut items[..];
        let (mut edges, mut buckets) = (Vec::new(), Vec::new());
        for ((set, groups), bucket) in cuts.iter().zip(0..) {
            for &copies in &groups.copies {
                let (group, later) = rest.split_at_mut(copies as usize * set.len());
                starts.push(starts[starts.len() - 1] + group.len());
                edges.push(Edges::new(costs, group));
                buckets.push(bucket);
                rest = later;
            }
        }
        let steps = costs.sizes().map(|size| (1 << 20) / i64::from(size.max(2) - 1)).collect();
        Board { costs, steps, items, edges, starts, buckets, lists: cuts.iter().map(|(set, _)| set.len()).collect() }
    }

    /// The places of all newcomers, value by value.
    fn newcomers(&self, cuts: &[CutBucket], is_newcomer: &[bool]) -> Vec<Vec<NewcomerPlace>> {
        let values = cuts.iter().flat_map(|(set, _)| set.last()).map(|value| value.index() + 1).max().unwrap_or(0);
        let mut newcomers = vec![Vec::new(); values];
        for (group, &bucket) in self.buckets.iter().enumerate() {
            let set = &cuts[bucket as usize].0;
            let places = self.starts[group]..self.starts[group + 1];
            let copies = places.len() / set.len();
            for (at, place) in places.enumerate() {
                let item = &self.items[place];
                if item.is_real() && is_newcomer[item.row as usize] {
                    newcomers[set[at / copies].index()].push((group as u32, place as u32));
                }
            }
        }
        newcomers
    }

    /// Where each group is along the line of a sweep.
    fn along(&self, sweep: usize, lines: usize) -> Vec<i64> {
        let main = sweep % lines;
        let weights: Vec<i64> = (0..self.steps.len())
            .map(|attribute| {
                let slant = slant((sweep * self.steps.len() + attribute) as u64);
                let weight = match main < self.steps.len() {
                    true if main == attribute => 1024,
                    true => slant * LEAN / 1024,
                    false => slant,
                };
                weight * self.steps[attribute]
            })
            .collect();
        let along = |edges: &Edges<L>| -> i64 {
            let ends = edges.least[0].iter().flatten().zip(edges.most[0].iter().flatten());
            weights.iter().zip(ends).map(|(weight, (&lo, &hi))| weight * (i64::from(lo) + i64::from(hi))).sum()
        };
        self.edges.par_iter().map(along).collect()
    }

    /// Exchanges within buckets, between groups that are near along a line. Says whether there were any.
    fn within(&mut self, along: &[i64]) -> bool {
        let mut order: Vec<u32> = (0..along.len() as u32).collect();
        order.par_sort_unstable_by_key(|&group| (self.buckets[group as usize], along[group as usize], group));
        let runs = order.chunk_by(|&one, &other| self.buckets[one as usize] == self.buckets[other as usize]);
        let parts: Vec<&[u32]> = runs.flat_map(|run| run.chunks(TILE)).collect();
        let tiles: Vec<(Tile<'_, L>, bool)> = parts.par_iter().map(|part| self.tile(part).improved()).collect();
        let mut any = false;
        for (tile, part) in tiles.into_iter().zip(parts) {
            if tile.1 {
                self.put_back(tile.0, part);
                any = true;
            }
        }
        any
    }

    /// Exchanges newcomers of one value whose groups are near along a line. Says whether there were any.
    fn across(&mut self, newcomers: &[Vec<NewcomerPlace>], along: &[i64]) -> bool {
        let mut any = false;
        let sorted = |places: &Vec<NewcomerPlace>| {
            let mut places = places.clone();
            places.sort_unstable_by_key(|&(group, place)| (along[group as usize], place));
            places
        };
        for places in newcomers.par_iter().map(sorted).collect::<Vec<_>>() {
            for (index, &one) in places.iter().enumerate() {
                for &other in places[index + 1..].iter().take(NEAR_NEWCOMERS) {
                    any |= self.swap_if_smaller(one, other);
                }
            }
        }
        any
    }

    /// Exchanges two people if that makes the boxes of their groups smaller.
    fn swap_if_smaller(&mut self, (one, first): NewcomerPlace, (other, second): NewcomerPlace) -> bool {
        let (x, y) = (&self.items[first as usize], &self.items[second as usize]);
        let (a, b) = (&self.edges[one as usize], &self.edges[other as usize]);
        if one == other || x.saves == 0 && y.saves == 0 {
            return false;
        }
        let before = a.people * a.cost + b.people * b.cost;
        let after = a.people * a.instead(self.costs, x, y) + b.people * b.instead(self.costs, y, x);
        if after >= before {
            return false;
        }
        self.items.swap(first as usize, second as usize);
        for group in [one as usize, other as usize] {
            let items = &mut self.items[self.starts[group]..self.starts[group + 1]];
            self.edges[group] = Edges::new(self.costs, items);
        }
        true
    }

    /// Some groups of one bucket, copied out.
    fn tile(&self, numbers: &[u32]) -> Tile<'a, L> {
        let lists = self.lists[self.buckets[numbers[0] as usize] as usize];
        let mut tile = Tile { costs: self.costs, lists, items: Vec::new(), edges: Vec::new(), starts: vec![0] };
        for &number in numbers {
            let number = number as usize;
            tile.items.extend_from_slice(&self.items[self.starts[number]..self.starts[number + 1]]);
            tile.edges.push(self.edges[number]);
            tile.starts.push(tile.items.len());
        }
        tile
    }

    fn put_back(&mut self, tile: Tile<'_, L>, numbers: &[u32]) {
        for (at, &number) in numbers.iter().enumerate() {
            let number = number as usize;
            let items = &tile.items[tile.starts[at]..tile.starts[at + 1]];
            self.items[self.starts[number]..self.starts[number + 1]].copy_from_slice(items);
            self.edges[number] = tile.edges[at];
        }
    }
}

/// A number between -1024 and 1024 that looks drawn, and is the same for ever.
fn slant(number: u64) -> i64 {
    let mut mixed = (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ (mixed >> 31)) % 2049) as i64 - 1024
}

/// Groups that are next to each other in a sweep.
struct Tile<'a, const L: usize> {
    costs: &'a Costs,
    lists: usize,
    items: Vec<Item<L>>,
    edges: Vec<Edges<L>>,
    starts: Vec<usize>,
}

/// An exchange that makes boxes smaller.
struct Found {
    gain: u64,
    /// The rows that change places, the lower one first: the same whichever value they have.
    rows: (u32, u32),
    places: (usize, usize),
}

impl<const L: usize> Tile<'_, L> {
    /// The tile after all exchanges that help, and whether there were any.
    fn improved(mut self) -> (Self, bool) {
        let mut any = false;
        for one in 0..self.edges.len() {
            for other in one + 1..(one + 1 + NEAR).min(self.edges.len()) {
                if self.edges[one].cost == 0 && self.edges[other].cost == 0 {
                    continue;
                }
                while let Some(found) = self.best(one, other) {
                    let (first, second) = found.places;
                    (self.items[first].row, self.items[second].row) = (self.items[second].row, self.items[first].row);
                    (self.items[first].codes, self.items[second].codes) =
                        (self.items[second].codes, self.items[first].codes);
                    for group in [one, other] {
                        let items = &mut self.items[self.starts[group]..self.starts[group + 1]];
                        self.edges[group] = Edges::new(self.costs, items);
                    }
                    any = true;
                }
            }
        }
        (self, any)
    }

    /// The exchange between two groups that gains most.
    fn best(&self, one: usize, other: usize) -> Option<Found> {
        let of = |group: usize| (&self.edges[group], &self.items[self.starts[group]..self.starts[group + 1]]);
        let ((a, from), (b, to)) = (of(one), of(other));
        let (in_one, in_other) = (from.len() / self.lists, to.len() / self.lists);
        let mut best: Option<Found> = None;
        for (at, x) in from.iter().enumerate() {
            let first = at / in_one * in_other;
            for (place, y) in to.iter().enumerate().skip(first).take(in_other) {
                let least = best.as_ref().map_or(1, |best| best.gain);
                // At most this is gained: what both boxes shrink by, and a box fewer for one who moves.
                let moves = if x.is_real() == y.is_real() { 0 } else { a.cost.max(b.cost) };
                if a.people * x.saves + b.people * y.saves + moves < least {
                    continue;
                }
                let gain = self.gain((a, x), (b, y));
                let rows = (x.row.min(y.row), x.row.max(y.row));
                if gain > least || gain == least && best.as_ref().is_none_or(|best| rows < best.rows) {
                    best = Some(Found { gain, rows, places: (self.starts[one] + at, self.starts[other] + place) });
                }
            }
        }
        best
    }

    /// What is gained if two items change places; 0 if nothing is.
    fn gain(&self, (a, x): (&Edges<L>, &Item<L>), (b, y): (&Edges<L>, &Item<L>)) -> u64 {
        let (mut in_a, mut in_b) = (a.people, b.people);
        match (x.is_real(), y.is_real()) {
            (false, false) => return 0,
            (true, true) => {}
            (true, false) if in_a > in_b => (in_a, in_b) = (in_a - 1, in_b + 1),
            (false, true) if in_b > in_a => (in_a, in_b) = (in_a + 1, in_b - 1),
            _ => return 0,
        }
        let before = a.people * a.cost + b.people * b.cost;
        let first = in_a * a.instead(self.costs, x, y);
        if first >= before {
            return 0;
        }
        before.saturating_sub(first + in_b * b.instead(self.costs, y, x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::buckets::split::{Lists, split};
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};
    use crate::model::{Rng, Schema};
    use std::slice;

    /// A bucket of people at random places: so many lists and copies, a few of them counterfeits.
    struct Made {
        schema: Schema,
        table: Table,
        lists: Vec<Vec<u32>>,
        stand_ins: Vec<Vec<u32>>,
    }

    fn made(number: u64, values_of_set: usize, copies: usize) -> Made {
        let mut rng = Rng::from_number(number);
        let mut place = || vec![rng.below(20) as u32, rng.below(5) as u32, rng.below(12) as u32];
        let people: Vec<SnapshotRow> = (0..(values_of_set * copies) as u64).map(|id| (id, place(), 0)).collect();
        let table = table(&values(1), 3, &people);
        let mut rows: Vec<u32> = table.rows().map(|row| row.0).collect();
        rows.sort_by_cached_key(|_| rng.below(1 << 40));
        let mut lists: Vec<Vec<u32>> = rows.chunks(copies).map(<[u32]>::to_vec).collect();
        let mut stand_ins = vec![Vec::new(); values_of_set];
        for list in 1..values_of_set {
            let gaps = rng.below(copies as u64 / 3) as usize;
            stand_ins[list] = lists[list].split_off(copies - gaps);
            stand_ins[list].iter_mut().for_each(|row| *row = lists[0][*row as usize % copies]);
        }
        lists.iter_mut().for_each(|list| list.sort_unstable());
        Made { schema: schema_with_tree(&[20, 5]), table, lists, stand_ins }
    }

    /// The bucket, cut into groups with at least so many people.
    fn cut(made: &Made, least: usize) -> CutBucket {
        let lists = Lists { people: &made.lists, stand_ins: &made.stand_ins };
        let set = (0..made.lists.len() as u32).map(Value).collect();
        (set, split(&made.table, &Costs::new(&made.schema), lists, least))
    }

    /// All boxes, each as often as it has people; and the fewest people of a group.
    fn cost(made: &Made, cuts: &[CutBucket]) -> (u64, u64) {
        let costs = Costs::new(&made.schema);
        let board: Board<'_, 1> = Board::new(&made.table, &costs, cuts);
        let total = board.edges.iter().map(|edges| edges.cost * edges.people).sum();
        (total, board.edges.iter().map(|edges| edges.people).min().unwrap())
    }

    #[test]
    fn boxes_get_smaller_and_groups_have_no_fewer_people() {
        for (number, least) in [(1, 1), (2, 1), (3, 3), (4, 5)] {
            let made = made(number, 4, 300);
            let mut cuts = [cut(&made, least)];
            let before = cost(&made, &cuts);
            exchange(&made.table, &Costs::new(&made.schema), &mut cuts, None);
            let after = cost(&made, &cuts);
            assert!(after.0 * 10 < before.0 * 9, "{before:?} {after:?}");
            assert!(after.1 >= before.1 && after.1 >= least as u64, "{before:?} {after:?}");
        }
    }

    /// science A3.11-b (iv): who holds which value of the set decides nothing.
    #[test]
    fn lists_in_another_order_give_the_same_groups() {
        for number in 0..20 {
            let mut made = made(number, 3, 60);
            let people = |made: &Made| -> Vec<Vec<u32>> {
                let mut cut = cut(made, 1);
                exchange(&made.table, &Costs::new(&made.schema), slice::from_mut(&mut cut), None);
                let group = |group: &[u32]| {
                    let mut group = group.to_vec();
                    group.sort_unstable();
                    group
                };
                let mut found: Vec<Vec<u32>> = cut.1.places.chunks(3).map(group).collect();
                found.sort();
                found
            };
            let first = people(&made);
            made.lists.rotate_left(1);
            made.stand_ins.rotate_left(1);
            assert_eq!(first, people(&made), "{number}");
        }
    }

    /// Two buckets over the same places. Newcomers change buckets, everyone else stays in theirs, and each bucket keeps as
    /// many people of each value.
    #[test]
    fn only_newcomers_change_their_bucket() {
        let made = made(7, 4, 200);
        let costs = Costs::new(&made.schema);
        // The first half of every list is one bucket, the second half another with one value in common less.
        let half = |from: usize, values: &[u32]| -> CutBucket {
            let people: Vec<Vec<u32>> =
                values.iter().map(|&value| made.lists[value as usize][from..from + 60].to_vec()).collect();
            let stand_ins = vec![Vec::new(); values.len()];
            let groups = split(&made.table, &costs, Lists { people: &people, stand_ins: &stand_ins }, 1);
            (values.iter().copied().map(Value).collect(), groups)
        };
        let mut cuts = [half(0, &[0, 1, 2]), half(60, &[1, 2, 3])];
        let is_newcomer: Vec<bool> = made.table.rows().map(|row| row.0 % 2 == 0).collect();
        let value_of = |row: u32| made.lists.iter().position(|list| list.contains(&row)).unwrap() as u32;
        let sorted = |cut: &CutBucket| {
            let mut rows: Vec<u32> = cut.1.places.clone();
            rows.sort_unstable();
            rows
        };
        let before = [sorted(&cuts[0]), sorted(&cuts[1])];
        let cost_before = cost(&made, &cuts).0;
        exchange(&made.table, &costs, &mut cuts, Some(&is_newcomer));
        assert!(cost(&made, &cuts).0 < cost_before);
        for (cut, before) in cuts.iter().zip(&before) {
            let moved: Vec<u32> = sorted(cut).into_iter().filter(|row| !before.contains(row)).collect();
            assert!(moved.len() > 5, "{} newcomers changed their bucket", moved.len());
            assert!(moved.iter().all(|&row| is_newcomer[row as usize]));
            for group in cut.1.places.chunks(cut.0.len()) {
                assert!(group.iter().zip(&cut.0).all(|(&row, value)| value_of(row) == value.0), "{group:?}");
            }
        }
        let mut all: Vec<u32> = cuts.iter().flat_map(sorted).collect();
        all.sort_unstable();
        let mut both = before.concat();
        both.sort_unstable();
        assert_eq!(all, both);
    }
}
