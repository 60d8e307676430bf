//! Cuts a balanced bucket into groups of neighbours.
//!
//! A bucket holds one list of rows per value, all equally long once counterfeits count. A scheme sorts every list by
//! one attribute and sends the same number of rows of each list to the left. So all parts stay balanced under any
//! scheme. The scheme with the least total perimeter wins. Ties go to the lower attribute and then to the smaller left
//! part. Cutting continues until one copy of each value is left, or until no cut leaves enough people on both sides.
//!
//! All lists are treated alike, and ties are broken by row, so exchanging the values of a bucket changes no group. A
//! counterfeit takes part as a row that widens no box. Its position is that of a stand-in, a row whose codes it
//! borrows.
//!
//! One sorted order per attribute is made once and carried down by stable partition, so a level costs a
//! pass over the bucket per attribute. A part that has become small enough for the caches is copied out
//! and numbered anew, because its rows lie scattered over the whole bucket. The result does not depend
//! on the number of threads.

use crate::grouping::GroupingError;
use crate::model::{Quasi, Schema, Table};

/// A place with nobody in it: a counterfeit.
pub const NOBODY: u32 = u32::MAX;

/// Buckets with more copies than this are not cut more unevenly than one to seven, so that the depth stays logarithmic.
const LARGE: usize = 1024;

/// Parts with more rows than this are worth another thread.
const PARALLEL: usize = 1 << 14;

/// Parts with at most this many rows are copied out of a larger bucket.
const COMPACT: usize = 1 << 12;

/// The most quasi attributes that are handled.
const MOST_ATTRIBUTES: usize = 256;

/// The most lanes: four attributes each.
pub(super) const MOST_LANES: usize = MOST_ATTRIBUTES / 4;

/// Codes of four attributes, side by side so that the compiler compares them at once.
pub(super) type Lane = [u32; 4];

/// What spans cost, per attribute, in whole numbers.
pub struct Costs {
    attributes: Vec<Cost>,
}

/// What a span of one attribute costs.
struct Cost {
    /// The price of each code beyond the first.
    price: u64,
    /// For trees: codes covered by the lowest common ancestor of every pair, or empty.
    covers: Vec<u32>,
    /// The number of codes.
    size: u32,
    /// For trees too large for a table.
    tree: Option<Quasi>,
}

impl Costs {
    /// Costs are the share of the declared domain that a span covers, times the attribute's weight.
    pub fn new(schema: &Schema) -> Costs {
        let heaviest = schema.quasi.iter().map(|quasi| quasi.weight).fold(f64::MIN_POSITIVE, f64::max);
        let attributes = schema
            .quasi
            .iter()
            .map(|quasi| {
                let size = quasi.size();
                let share = quasi.weight / heaviest / f64::from(size.max(2) - 1);
                let price = if size < 2 { 0 } else { (share * f64::from(1u32 << 30)).round() as u64 };
                let tree = quasi.nodes().is_some();
                let covers = if tree && size <= 512 {
                    let pairs = (0..size).flat_map(|lo| (0..size).map(move |hi| (lo, hi)));
                    pairs.map(|(lo, hi)| if lo <= hi { quasi.cover_width(lo, hi) } else { 0 }).collect()
                } else {
                    Vec::new()
                };
                let tree = (tree && covers.is_empty()).then(|| quasi.clone());
                Cost { price, covers, size, tree }
            })
            .collect();
        Costs { attributes }
    }

    /// How many codes each attribute has.
    pub(super) fn sizes(&self) -> impl Iterator<Item = u32> + '_ {
        self.attributes.iter().map(|cost| cost.size)
    }

    /// The perimeter of a box, per row in it.
    pub(super) fn of<const L: usize>(&self, least: &[Lane; L], most: &[Lane; L]) -> u64 {
        let bounds = least.iter().flatten().zip(most.iter().flatten());
        self.attributes.iter().zip(bounds).map(|(cost, (&lo, &hi))| cost.of(lo, hi)).sum()
    }
}

impl Cost {
    fn of(&self, lo: u32, hi: u32) -> u64 {
        if lo >= hi {
            return 0;
        }
        let width = if !self.covers.is_empty() {
            self.covers[(lo * self.size + hi) as usize]
        } else if let Some(tree) = &self.tree {
            tree.cover_width(lo, hi)
        } else {
            hi - lo + 1
        };
        self.price * u64::from(width - 1)
    }
}

/// The groups of one bucket, one after another.
pub struct Groups {
    /// Rows or [`NOBODY`]: group by group, within a group value by value.
    pub places: Vec<u32>,
    /// How many copies of each value each group has.
    pub copies: Vec<u32>,
}

/// The rows of a bucket that is ready to be cut. Every list and its stand-ins together are equally long, and one list
/// at least has no stand-in.
#[derive(Clone, Copy)]
pub struct Lists<'a> {
    /// Per value, the rows that hold it, ascending.
    pub people: &'a [Vec<u32>],
    /// Per value, the stand-in of each of its counterfeits.
    pub stand_ins: &'a [Vec<u32>],
}

impl Lists<'_> {
    /// How many copies of each value the bucket has.
    fn copies(&self) -> usize {
        self.people.first().map_or(0, |list| list.len() + self.stand_ins[0].len())
    }
}

/// Refuses a policy with more quasi attributes than can be handled.
pub fn refuse_too_wide(schema: &Schema) -> Result<(), GroupingError> {
    match schema.quasi.len() {
        attributes if attributes > MOST_ATTRIBUTES => Err(GroupingError::TooWide { attributes, most: MOST_ATTRIBUTES }),
        _ => Ok(()),
    }
}

/// Cuts a bucket into groups with at least `people` people.
pub fn split(table: &Table, costs: &Costs, lists: Lists<'_>, people: usize) -> Groups {
    // The compiler knows the number of lanes, so a box fits a few registers. An unused lane holds zeros and changes
    // nothing.
    match table.quasi_count().div_ceil(4) {
        0 | 1 => split_lanes::<1>(table, costs, lists, people),
        2 => split_lanes::<2>(table, costs, lists, people),
        3 | 4 => split_lanes::<4>(table, costs, lists, people),
        5..=16 => split_lanes::<16>(table, costs, lists, people),
        lanes => {
            assert!(lanes <= MOST_LANES, "the policy refuses more quasi attributes");
            split_lanes::<MOST_LANES>(table, costs, lists, people)
        }
    }
}

fn split_lanes<const L: usize>(table: &Table, costs: &Costs, lists: Lists<'_>, people: usize) -> Groups {
    let rows: Vec<u32> = lists.people.iter().flatten().copied().collect();
    let bucket: Bucket<'_, L> = Bucket::new(table, costs, &rows, lists, people);
    let mut orders = bucket.orders(table, lists);
    let mut spare = vec![0; orders.len()];
    let mut groups = Groups { places: vec![0; bucket.items], copies: Vec::new() };
    let mut work = Work::default();
    bucket.cut(&mut orders, &mut spare, &mut groups.places, &mut groups.copies, &mut work);
    for place in &mut groups.places {
        *place = rows.get(*place as usize).copied().unwrap_or(NOBODY);
    }
    groups
}

/// A bucket while it is cut. Its items are numbered from 0: its rows, list after list, then its counterfeits.
struct Bucket<'a, const L: usize> {
    costs: &'a Costs,
    /// How many lists.
    lists: usize,
    /// The least number of people of a group.
    people: usize,
    attributes: usize,
    /// How many items there are.
    items: usize,
    /// The codes of the rows.
    codes: Vec<[Lane; L]>,
}

/// Buffers that are used again and again.
struct Work<const L: usize> {
    least: Vec<[Lane; L]>,
    most: Vec<[Lane; L]>,
    right: Vec<u64>,
    /// Per item of the bucket, whether it goes left.
    goes_left: Vec<bool>,
    /// Per item of the bucket, its number in a part.
    numbers: Vec<u32>,
}

impl<const L: usize> Default for Work<L> {
    fn default() -> Work<L> {
        Work { least: Vec::new(), most: Vec::new(), right: Vec::new(), goes_left: Vec::new(), numbers: Vec::new() }
    }
}

/// The chosen scheme: sort by `attribute`, send `left` of each list to the left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Scheme {
    cost: u64,
    attribute: usize,
    left: usize,
}

impl<'a, const L: usize> Bucket<'a, L> {
    fn new(table: &Table, costs: &'a Costs, rows: &[u32], lists: Lists<'_>, people: usize) -> Bucket<'a, L> {
        let attributes = table.quasi_count();
        let mut codes = vec![[[0; 4]; L]; rows.len()];
        for attribute in 0..attributes {
            let column = table.quasi(attribute);
            for (index, &row) in rows.iter().enumerate() {
                codes[index][attribute / 4][attribute % 4] = column[row as usize];
            }
        }
        let (lists, items) = (lists.people.len(), lists.people.len() * lists.copies());
        Bucket { costs, lists, people, attributes, items, codes }
    }

    /// Per attribute, every list sorted by it, ties by number. With no attributes there is still one order.
    fn orders(&self, table: &Table, lists: Lists<'_>) -> Vec<u32> {
        let mut orders = Vec::with_capacity(self.attributes.max(1) * self.items);
        let mut keyed: Vec<u64> = Vec::new();
        for attribute in 0..self.attributes.max(1) {
            let column = if self.attributes == 0 { None } else { Some(table.quasi(attribute)) };
            let key = |row: u32, number: usize| {
                u64::from(column.map_or(0, |column| column[row as usize])) << 32 | number as u64
            };
            let (mut first, mut first_counterfeit) = (0, self.codes.len());
            for (list, stand_ins) in lists.people.iter().zip(lists.stand_ins) {
                keyed.clear();
                keyed.extend(list.iter().zip(first..).map(|(&row, number)| key(row, number)));
                keyed.extend(stand_ins.iter().zip(first_counterfeit..).map(|(&row, number)| key(row, number)));
                keyed.sort_unstable();
                orders.extend(keyed.iter().map(|&key| key as u32));
                first += list.len();
                first_counterfeit += stand_ins.len();
            }
        }
        orders
    }

    /// Whether an item is a person and no counterfeit.
    fn is_real(&self, item: u32) -> bool {
        (item as usize) < self.codes.len()
    }

    /// Cuts the part whose orders are given until it cannot be cut; `spare` is as long as `orders`.
    fn cut(&self, orders: &mut [u32], spare: &mut [u32], out: &mut [u32], copies: &mut Vec<u32>, work: &mut Work<L>) {
        let orders_each = self.attributes.max(1);
        let size = orders.len() / orders_each / self.lists;
        if size * self.lists <= COMPACT && self.items > 2 * COMPACT {
            return self.cut_apart(orders, spare, out, copies, work);
        }
        let Some(scheme) = self.choose(orders, size, work) else {
            out.copy_from_slice(&orders[..out.len()]);
            copies.push(size as u32);
            return;
        };
        // Both sides are single points, so the order of further cuts does not matter.
        if scheme.cost == 0 && self.people <= 1 {
            self.lay_out(&orders[scheme.attribute * out.len()..][..out.len()], size, out);
            copies.resize(copies.len() + size, 1);
            return;
        }
        self.partition(orders, spare, size, scheme, work);
        let middle = orders_each * self.lists * scheme.left;
        let (left, right) = spare.split_at_mut(middle);
        let (left_spare, right_spare) = orders.split_at_mut(middle);
        let (left_out, right_out) = out.split_at_mut(self.lists * scheme.left);
        if size * self.lists < PARALLEL {
            self.cut(left, left_spare, left_out, copies, work);
            self.cut(right, right_spare, right_out, copies, work);
        } else {
            let mut right_copies = Vec::new();
            rayon::join(
                || self.cut(left, left_spare, left_out, copies, work),
                || self.cut(right, right_spare, right_out, &mut right_copies, &mut Work::default()),
            );
            copies.append(&mut right_copies);
        }
    }

    /// Makes every layer of an order a group.
    fn lay_out(&self, order: &[u32], size: usize, out: &mut [u32]) {
        for (layer, group) in out.chunks_exact_mut(self.lists).enumerate() {
            for (list, place) in group.iter_mut().enumerate() {
                *place = order[list * size + layer];
            }
        }
    }

    /// Cuts a part as a bucket of its own, its rows numbered along the first order.
    fn cut_apart(
        &self,
        orders: &mut [u32],
        spare: &mut [u32],
        out: &mut [u32],
        copies: &mut Vec<u32>,
        work: &mut Work<L>,
    ) {
        grow(&mut work.numbers, self.items);
        let (mut items, counterfeits): (Vec<u32>, Vec<u32>) =
            orders[..out.len()].iter().partition(|&&item| self.is_real(item));
        let codes = items.iter().map(|&item| self.codes[item as usize]).collect();
        items.extend(counterfeits);
        for (number, &item) in items.iter().enumerate() {
            work.numbers[item as usize] = number as u32;
        }
        for item in orders.iter_mut() {
            *item = work.numbers[*item as usize];
        }
        let Bucket { costs, lists, people, attributes, .. } = *self;
        let part: Bucket<'_, L> = Bucket { costs, lists, people, attributes, items: items.len(), codes };
        part.cut(orders, spare, out, copies, work);
        for item in out.iter_mut() {
            *item = items[*item as usize];
        }
    }

    /// The best scheme for a part, if it may be cut at all.
    fn choose(&self, orders: &[u32], size: usize, work: &mut Work<L>) -> Option<Scheme> {
        let mut best: Option<Scheme> = None;
        for attribute in 0..self.attributes.max(1) {
            let order = &orders[attribute * self.lists * size..(attribute + 1) * self.lists * size];
            let Some(range) = self.range(order, size) else { continue };
            let found = self.best_of(attribute, order, size, range, work);
            if best.is_none_or(|best| found.cost < best.cost) {
                best = Some(found);
            }
            // No scheme costs less than zero.
            if found.cost == 0 {
                break;
            }
        }
        best
    }

    /// The smallest and the largest left part along an order that leave enough people on both sides.
    fn range(&self, order: &[u32], size: usize) -> Option<(usize, usize)> {
        if size < 2 {
            return None;
        }
        let (mut first, mut last) = (1, size - 1);
        // One list has no counterfeit, so any part has at least one person.
        if self.people > 1 {
            let in_layer =
                |layer: usize| order[layer..].iter().step_by(size).filter(|&&item| self.is_real(item)).count();
            let (mut on_left, mut on_right) = (in_layer(0), in_layer(size - 1));
            while first < size && on_left < self.people {
                on_left += in_layer(first);
                first += 1;
            }
            while last > 0 && on_right < self.people {
                last -= 1;
                on_right += in_layer(last);
            }
        }
        if size > LARGE && first.max(size / 8) <= last.min(size - size / 8) {
            (first, last) = (first.max(size / 8), last.min(size - size / 8));
        }
        (first <= last).then_some((first, last))
    }

    /// The best scheme along one attribute.
    fn best_of(
        &self,
        attribute: usize,
        order: &[u32],
        size: usize,
        range: (usize, usize),
        work: &mut Work<L>,
    ) -> Scheme {
        self.layers(order, size, work);
        // A pass from the right: the cost of everything beyond each cut.
        work.right.clear();
        work.right.resize(size, 0);
        let mut bounds = Bounds::new();
        for layer in (1..size).rev() {
            bounds.add(self.costs, &work.least[layer], &work.most[layer]);
            work.right[layer] = bounds.cost * (size - layer) as u64;
        }
        let mut bounds = Bounds::new();
        let mut best = Scheme { cost: u64::MAX, attribute, left: 0 };
        for left in 1..=range.1 {
            let layer = left - 1;
            bounds.add(self.costs, &work.least[layer], &work.most[layer]);
            let cost = bounds.cost * left as u64 + work.right[left];
            if left >= range.0 && cost < best.cost {
                best = Scheme { cost, attribute, left };
            }
        }
        best
    }

    /// The bounds of every layer. A layer is the rows at one position of all lists.
    fn layers(&self, order: &[u32], size: usize, work: &mut Work<L>) {
        work.least.clear();
        work.least.resize(size, [[u32::MAX; 4]; L]);
        work.most.clear();
        work.most.resize(size, [[0; 4]; L]);
        for list in order.chunks_exact(size) {
            for ((least, most), &item) in work.least.iter_mut().zip(&mut work.most).zip(list) {
                if let Some(codes) = self.codes.get(item as usize) {
                    widen(least, most, codes, codes);
                }
            }
        }
    }

    /// Writes the two parts of every order into `spare`, the left one first.
    fn partition(&self, orders: &[u32], spare: &mut [u32], size: usize, scheme: Scheme, work: &mut Work<L>) {
        let Scheme { attribute, left, .. } = scheme;
        grow(&mut work.goes_left, self.items);
        let chosen = &orders[attribute * self.lists * size..][..self.lists * size];
        for list in chosen.chunks_exact(size) {
            let (to_left, to_right) = list.split_at(left);
            for (part, goes_left) in [(to_left, true), (to_right, false)] {
                part.iter().for_each(|&item| work.goes_left[item as usize] = goes_left);
            }
        }
        let (to_left, to_right) = spare.split_at_mut(self.attributes.max(1) * self.lists * left);
        let right = size - left;
        for (index, list) in orders.chunks_exact(size).enumerate() {
            let to_left = &mut to_left[index * left..(index + 1) * left];
            let to_right = &mut to_right[index * right..(index + 1) * right];
            if index / self.lists == attribute {
                to_left.copy_from_slice(&list[..left]);
                to_right.copy_from_slice(&list[left..]);
                continue;
            }
            let (mut left_at, mut right_at) = (0, 0);
            for &item in list {
                // Writing both sides and keeping one avoids a branch that cannot be predicted.
                let goes_left = work.goes_left[item as usize];
                if let Some(place) = to_left.get_mut(left_at) {
                    *place = item;
                }
                if let Some(place) = to_right.get_mut(right_at) {
                    *place = item;
                }
                left_at += usize::from(goes_left);
                right_at += usize::from(!goes_left);
            }
        }
    }
}

/// Makes a buffer at least so long; what it held is overwritten before it is read.
fn grow<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

/// A growing box and its cost.
struct Bounds<const L: usize> {
    least: [Lane; L],
    most: [Lane; L],
    cost: u64,
}

impl<const L: usize> Bounds<L> {
    fn new() -> Bounds<L> {
        Bounds { least: [[u32::MAX; 4]; L], most: [[0; 4]; L], cost: 0 }
    }

    fn add(&mut self, costs: &Costs, least: &[Lane; L], most: &[Lane; L]) {
        let before = (self.least, self.most);
        widen(&mut self.least, &mut self.most, least, most);
        if (self.least, self.most) != before {
            self.cost = costs.of(&self.least, &self.most);
        }
    }
}

/// Widens a box by another.
fn widen<const L: usize>(least: &mut [Lane; L], most: &mut [Lane; L], by_least: &[Lane; L], by_most: &[Lane; L]) {
    for lane in 0..L {
        for at in 0..4 {
            least[lane][at] = least[lane][at].min(by_least[lane][at]);
            most[lane][at] = most[lane][at].max(by_most[lane][at]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};
    use proptest::prelude::*;

    /// The perimeter of some rows, straight from the definition.
    fn perimeter(costs: &Costs, table: &Table, rows: &[u32]) -> u64 {
        let span = |attribute: usize| {
            let codes = || rows.iter().map(|&row| table.quasi(attribute)[row as usize]);
            costs.attributes[attribute].of(codes().min().unwrap_or(0), codes().max().unwrap_or(0))
        };
        (0..table.quasi_count()).map(span).sum()
    }

    /// The least cost over all schemes, by making every one.
    fn by_trying(costs: &Costs, table: &Table, lists: Lists<'_>) -> u64 {
        let copies = lists.copies();
        let schemes = (0..table.quasi_count()).flat_map(|attribute| (1..copies).map(move |left| (attribute, left)));
        let cost = |(attribute, left): (usize, usize)| {
            let (mut one, mut two) = (Vec::new(), Vec::new());
            for (list, stand_ins) in lists.people.iter().zip(lists.stand_ins) {
                let code = |row: u32| table.quasi(attribute)[row as usize];
                // People come before counterfeits with the same code.
                let mut all: Vec<(u32, bool, u32)> = list.iter().map(|&row| (code(row), false, row)).collect();
                all.extend(stand_ins.iter().map(|&row| (code(row), true, row)));
                all.sort_by_key(|&(code, is_counterfeit, _)| (code, is_counterfeit));
                let people = |part: &[(u32, bool, u32)]| {
                    part.iter().filter(|item| !item.1).map(|item| item.2).collect::<Vec<_>>()
                };
                one.extend(people(&all[..left]));
                two.extend(people(&all[left..]));
            }
            perimeter(costs, table, &one) * left as u64 + perimeter(costs, table, &two) * (copies - left) as u64
        };
        schemes.map(cost).min().expect("there is a scheme")
    }

    fn lists() -> impl Strategy<Value = (Vec<SnapshotRow>, Vec<Vec<u32>>, Vec<Vec<u32>>)> {
        (2usize..5, 2usize..7).prop_flat_map(|(values, copies)| {
            let place = (0u32..20, 0u32..5, 0u32..12).prop_map(|(a, b, c)| vec![a, b, c]);
            let places = proptest::collection::vec(place, values * copies);
            let gaps = proptest::collection::vec(proptest::collection::vec(0..(copies as u32), 0..3), values);
            (places, gaps).prop_map(move |(places, gaps)| {
                let people = places.into_iter().enumerate().map(|(id, place)| (id as u64, place, 0)).collect();
                // The first list has no counterfeit; its rows are the stand-ins.
                let gaps: Vec<Vec<u32>> =
                    (0..values).map(|value| if value == 0 { Vec::new() } else { gaps[value].clone() }).collect();
                let lists = (0..values)
                    .map(|value| {
                        (value * copies..(value + 1) * copies - gaps[value].len()).map(|row| row as u32).collect()
                    })
                    .collect();
                (people, lists, gaps)
            })
        })
    }

    proptest! {
        /// science E1-29.
        #[test]
        fn the_best_of_all_schemes_is_taken((people, lists, stand_ins) in lists()) {
            let schema = schema_with_tree(&[20, 5]);
            let table = table(&values(1), 3, &people);
            let costs = Costs::new(&schema);
            let rows: Vec<u32> = lists.iter().flatten().copied().collect();
            let lists = Lists { people: &lists, stand_ins: &stand_ins };
            let bucket: Bucket<'_, 1> = Bucket::new(&table, &costs, &rows, lists, 1);
            let orders = bucket.orders(&table, lists);
            let scheme = bucket.choose(&orders, lists.copies(), &mut Work::default()).unwrap();
            prop_assert_eq!(scheme.cost, by_trying(&costs, &table, lists));
        }

        #[test]
        fn every_place_is_kept_and_every_group_has_enough_people((people, lists, stand_ins) in lists(), least in 1usize..6) {
            let schema = schema_with_tree(&[20, 5]);
            let table = table(&values(1), 3, &people);
            let all: usize = lists.iter().map(Vec::len).sum();
            prop_assume!(all >= least);
            let parts = Lists { people: &lists, stand_ins: &stand_ins };
            let groups = split(&table, &Costs::new(&schema), parts, least);
            prop_assert_eq!(groups.copies.iter().sum::<u32>() as usize, parts.copies());
            prop_assert!(least > 1 || groups.copies.iter().all(|&copies| copies == 1));
            let mut rest = &groups.places[..];
            for &copies in &groups.copies {
                let (group, later) = rest.split_at(copies as usize * lists.len());
                rest = later;
                prop_assert!(group.iter().filter(|&&row| row != NOBODY).count() >= least);
                for (value, places) in group.chunks(copies as usize).enumerate() {
                    prop_assert!(places.iter().all(|row| *row == NOBODY || lists[value].contains(row)));
                }
            }
            let mut placed: Vec<u32> = groups.places.iter().copied().filter(|&row| row != NOBODY).collect();
            placed.sort_unstable();
            let mut rows: Vec<u32> = lists.concat();
            rows.sort_unstable();
            prop_assert_eq!(placed, rows);
        }
    }
}
