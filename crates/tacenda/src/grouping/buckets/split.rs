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
//! pass over the bucket per attribute. Among attributes that tell nobody in a part apart, the orders are the same, and one
//! of them is carried on. A part that has become small enough for the caches is copied out and numbered anew, because its
//! rows lie scattered over the whole bucket. Codes and numbers are as narrow as they can be. None of this changes a cut,
//! and the result does not depend on the number of threads.

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
    /// For trees: the price of the codes that the lowest common ancestor of every pair covers, or empty.
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
                    let cover = |(lo, hi)| if lo <= hi { price * u64::from(quasi.cover_width(lo, hi) - 1) } else { 0 };
                    // The whole domain costs 2^30 at most, but for rounding.
                    pairs.map(|pair| cover(pair) as u32).collect()
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
    #[inline]
    fn of(&self, lo: u32, hi: u32) -> u64 {
        if lo >= hi {
            return 0;
        }
        if !self.covers.is_empty() {
            return u64::from(self.covers[(lo * self.size + hi) as usize]);
        }
        let width = self.tree.as_ref().map_or(hi - lo + 1, |tree| tree.cover_width(lo, hi));
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
    let (attributes, widest) = (table.quasi_count(), costs.sizes().max().unwrap_or(1));
    assert!(attributes <= MOST_ATTRIBUTES, "the policy refuses more quasi attributes");
    // How many bits a code has, how many words hold a box, and how many attributes it has at most: the compiler knows all
    // three, so that a box stays in registers. Unused codes change nothing.
    match (widest, attributes) {
        (..=0x80, ..=4) => split_codes::<8, 1, 4>(table, costs, lists, people),
        (..=0x80, ..=8) => split_codes::<8, 2, 8>(table, costs, lists, people),
        (..=0x80, ..=16) => split_codes::<8, 4, 16>(table, costs, lists, people),
        (..=0x8000, ..=4) => split_codes::<16, 2, 4>(table, costs, lists, people),
        (..=0x8000, ..=8) => split_codes::<16, 4, 8>(table, costs, lists, people),
        (..=0x8000, ..=64) => split_codes::<16, 32, 64>(table, costs, lists, people),
        (..=0x8000, _) => split_codes::<16, 128, MOST_ATTRIBUTES>(table, costs, lists, people),
        (..=0x8000_0000, ..=4) => split_codes::<32, 4, 4>(table, costs, lists, people),
        (..=0x8000_0000, ..=8) => split_codes::<32, 8, 8>(table, costs, lists, people),
        (..=0x8000_0000, ..=64) => split_codes::<32, 64, 64>(table, costs, lists, people),
        _ => split_codes::<64, 512, MOST_ATTRIBUTES>(table, costs, lists, people),
    }
}

fn split_codes<const B: usize, const W: usize, const A: usize>(
    table: &Table,
    costs: &Costs,
    lists: Lists<'_>,
    people: usize,
) -> Groups {
    let rows: Vec<u32> = lists.people.iter().flatten().copied().collect();
    let bucket: Bucket<'_, B, W, A> = Bucket::new(table, costs, &rows, lists, people);
    let mut groups = Groups { places: vec![0; bucket.items()], copies: Vec::new() };
    if bucket.items() <= 1 << 16 {
        bucket.cut_all::<u16>(table, lists, &mut groups);
    } else {
        bucket.cut_all::<u32>(table, lists, &mut groups);
    }
    for place in &mut groups.places {
        *place = rows.get(*place as usize).copied().unwrap_or(NOBODY);
    }
    groups
}

/// The number of an item, in as few bits as all items allow.
trait Number: Copy + Default + Send + Sync {
    fn of(index: usize) -> Self;
    fn index(self) -> usize;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            fn of(index: usize) -> $kind {
                index as $kind
            }

            fn index(self) -> usize {
                self as usize
            }
        }
    )*};
}
numbers!(u16, u32);

/// A box: codes of `B` bits side by side in `W` words. The first half of them has the highest code of each attribute, the
/// second half the lowest, counted from above. So the greater code is the wider one everywhere, and a box of nobody has
/// zeros. The highest bit of each code is always zero.
#[derive(Clone, Copy, Eq, PartialEq)]
struct Bounds<const B: usize, const W: usize>([u64; W]);

impl<const B: usize, const W: usize> Default for Bounds<B, W> {
    fn default() -> Bounds<B, W> {
        Bounds([0; W])
    }
}

impl<const B: usize, const W: usize> Bounds<B, W> {
    /// How many codes a word has.
    const CODES: usize = 64 / B;

    /// The highest code.
    const TOP: u64 = (1 << (B - 1)) - 1;

    /// The highest bit of every code of a word.
    const HIGH_BITS: u64 = (u64::MAX / (u64::MAX >> (64 - B))) << (B - 1);

    /// Sets both ends of an attribute that has none yet.
    fn set(&mut self, attribute: usize, code: u32) {
        let ends = [(attribute, u64::from(code)), (self.half() + attribute, Self::TOP - u64::from(code))];
        for (at, code) in ends {
            self.0[at / Self::CODES] |= code << (at % Self::CODES * B);
        }
    }

    /// How many codes are in the first half.
    fn half(&self) -> usize {
        W * Self::CODES / 2
    }

    /// Takes the greater of every two codes. All codes of a word are compared at once: with its highest bit set, a code
    /// keeps that bit after a subtraction if it was not the lesser one, and borrows nothing from its neighbour.
    fn widen(&mut self, other: &Bounds<B, W>) {
        for (mine, &other) in self.0.iter_mut().zip(&other.0) {
            let is_greater = ((*mine | Self::HIGH_BITS) - other) & Self::HIGH_BITS;
            let all_bits = is_greater - (is_greater >> (B - 1));
            *mine = other ^ ((*mine ^ other) & all_bits);
        }
    }

    fn get(&self, at: usize) -> u64 {
        self.0[at / Self::CODES] >> (at % Self::CODES * B) & Self::TOP
    }

    /// The lowest and the highest code of an attribute.
    fn ends(&self, attribute: usize) -> (u32, u32) {
        ((Self::TOP - self.get(self.half() + attribute)) as u32, self.get(attribute) as u32)
    }
}

/// Some attributes, or places of orders, ascending.
#[derive(Clone, Copy)]
struct Few<const A: usize> {
    list: [u8; A],
    len: usize,
}

impl<const A: usize> Few<A> {
    fn none() -> Few<A> {
        Few { list: [0; A], len: 0 }
    }

    fn push(&mut self, number: usize) {
        self.list[self.len] = number as u8;
        self.len += 1;
    }

    fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.list[..self.len].iter().map(|&number| usize::from(number))
    }
}

/// A bucket while it is cut. Its items are numbered from 0: its rows, list after list, then its counterfeits.
struct Bucket<'a, const B: usize, const W: usize, const A: usize> {
    costs: &'a Costs,
    /// How many lists.
    lists: usize,
    /// The least number of people of a group.
    people: usize,
    /// How many items are rows.
    rows: usize,
    /// The codes of the items, as boxes. A counterfeit's box is that of nobody.
    codes: Vec<Bounds<B, W>>,
}

/// A part of a bucket.
#[derive(Clone, Copy)]
struct Part<const A: usize> {
    /// How many items of each list it has.
    size: usize,
    /// The attributes whose orders it carries. With no attributes there is still one order.
    carried: Few<A>,
    /// Whether there may be counterfeits in it.
    has_counterfeits: bool,
}

/// Buffers that are used again and again.
struct Work<const B: usize, const W: usize> {
    /// The box of every layer.
    layers: Vec<Bounds<B, W>>,
    /// What everything beyond each cut costs.
    right: Vec<u64>,
    /// Per item of the bucket, whether it goes left.
    goes_left: Vec<bool>,
    /// Per item of the bucket, its number in a part.
    numbers: Vec<u16>,
    /// The orders of a part that is cut apart.
    orders: Vec<u16>,
    spare: Vec<u16>,
    codes: Vec<Bounds<B, W>>,
}

impl<const B: usize, const W: usize> Default for Work<B, W> {
    fn default() -> Work<B, W> {
        Work {
            layers: Vec::new(),
            right: Vec::new(),
            goes_left: Vec::new(),
            numbers: Vec::new(),
            orders: Vec::new(),
            spare: Vec::new(),
            codes: Vec::new(),
        }
    }
}

/// The chosen scheme: sort by an attribute, send `left` of each list to the left.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
struct Scheme {
    cost: u64,
    /// The place of the attribute's order.
    order: usize,
    left: usize,
}

impl<'a, const B: usize, const W: usize, const A: usize> Bucket<'a, B, W, A> {
    fn new(table: &Table, costs: &'a Costs, rows: &[u32], lists: Lists<'_>, people: usize) -> Bucket<'a, B, W, A> {
        let mut codes = vec![Bounds::default(); lists.people.len() * lists.copies()];
        for attribute in 0..table.quasi_count() {
            let column = table.quasi(attribute);
            for (codes, &row) in codes.iter_mut().zip(rows) {
                codes.set(attribute, column[row as usize]);
            }
        }
        Bucket { costs, lists: lists.people.len(), people, rows: rows.len(), codes }
    }

    /// How many items there are.
    fn items(&self) -> usize {
        self.codes.len()
    }

    fn cut_all<I: Number>(&self, table: &Table, lists: Lists<'_>, groups: &mut Groups) {
        let (part, mut orders) = self.orders::<I>(table, lists);
        let mut spare = vec![I::default(); orders.len()];
        self.cut(part, &mut orders, &mut spare, &mut groups.places, &mut groups.copies, &mut Work::default());
    }

    /// The whole bucket as a part: per attribute, every list sorted by it, ties by number.
    fn orders<I: Number>(&self, table: &Table, lists: Lists<'_>) -> (Part<A>, Vec<I>) {
        let size = lists.copies();
        let mut part = Part { size, carried: Few::none(), has_counterfeits: self.rows < self.items() };
        let mut orders = Vec::with_capacity(table.quasi_count().max(1) * self.items());
        let (mut coded, mut starts): (Vec<(u32, u32)>, Vec<u32>) = (Vec::new(), Vec::new());
        for attribute in 0..table.quasi_count().max(1) {
            part.carried.push(attribute);
            let code = |row: u32| if table.quasi_count() == 0 { 0 } else { table.quasi(attribute)[row as usize] };
            let codes = if table.quasi_count() == 0 { 1 } else { self.costs.attributes[attribute].size as usize };
            let (mut first, mut first_counterfeit) = (0u32, self.rows as u32);
            for (list, stand_ins) in lists.people.iter().zip(lists.stand_ins) {
                coded.clear();
                coded.extend(list.iter().zip(first..).map(|(&row, number)| (code(row), number)));
                coded.extend(stand_ins.iter().zip(first_counterfeit..).map(|(&row, number)| (code(row), number)));
                first += list.len() as u32;
                first_counterfeit += stand_ins.len() as u32;
                sort(&coded, codes, &mut starts, &mut orders);
            }
        }
        (part, orders)
    }

    /// Whether an item is a person and no counterfeit.
    fn is_real<I: Number>(&self, item: I) -> bool {
        item.index() < self.rows
    }

    /// Cuts a part until it cannot be cut. `orders` has its carried orders, `spare` is as long.
    fn cut<I: Number>(
        &self,
        mut part: Part<A>,
        orders: &mut [I],
        spare: &mut [I],
        out: &mut [u32],
        copies: &mut Vec<u32>,
        work: &mut Work<B, W>,
    ) {
        let Part { size, .. } = part;
        if out.len() <= COMPACT && self.items() > 2 * COMPACT {
            return self.cut_apart(part, orders, out, copies, work);
        }
        part.has_counterfeits = part.has_counterfeits && orders[..out.len()].iter().any(|&item| !self.is_real(item));
        let (scheme, kept) = self.choose(&part, orders, work);
        let Some(scheme) = scheme else {
            out.iter_mut().zip(orders).for_each(|(place, item)| *place = item.index() as u32);
            copies.push(size as u32);
            return;
        };
        // Both sides are single points, so the order of further cuts does not matter. Or both are single copies.
        if self.people <= 1 && (scheme.cost == 0 || size == 2) {
            self.lay_out(&orders[scheme.order * out.len()..][..out.len()], size, out);
            copies.resize(copies.len() + size, 1);
            return;
        }
        self.partition(&part, &kept, orders, spare, scheme, work);
        let mut carried = Few::none();
        kept.iter().for_each(|order| carried.push(usize::from(part.carried.list[order])));
        let sides = [scheme.left, size - scheme.left].map(|size| Part { size, carried, ..part });
        let middle = kept.len * self.lists * scheme.left;
        let (left, right) = spare[..kept.len * out.len()].split_at_mut(middle);
        let (left_spare, right_spare) = orders[..kept.len * out.len()].split_at_mut(middle);
        let (left_out, right_out) = out.split_at_mut(self.lists * scheme.left);
        if size * self.lists < PARALLEL {
            self.cut(sides[0], left, left_spare, left_out, copies, work);
            self.cut(sides[1], right, right_spare, right_out, copies, work);
        } else {
            let mut right_copies = Vec::new();
            rayon::join(
                || self.cut(sides[0], left, left_spare, left_out, copies, work),
                || self.cut(sides[1], right, right_spare, right_out, &mut right_copies, &mut Work::default()),
            );
            copies.append(&mut right_copies);
        }
    }

    /// Makes every layer of an order a group.
    fn lay_out<I: Number>(&self, order: &[I], size: usize, out: &mut [u32]) {
        for (layer, group) in out.chunks_exact_mut(self.lists).enumerate() {
            for (list, place) in group.iter_mut().enumerate() {
                *place = order[list * size + layer].index() as u32;
            }
        }
    }

    /// Cuts a part as a bucket of its own, its rows numbered along the first order.
    fn cut_apart<I: Number>(
        &self,
        part: Part<A>,
        orders: &[I],
        out: &mut [u32],
        copies: &mut Vec<u32>,
        work: &mut Work<B, W>,
    ) {
        let items = || orders[..out.len()].iter().map(|item| item.index());
        let mut numbered: Vec<usize> = items().filter(|&item| item < self.rows).collect();
        let rows = numbered.len();
        numbered.extend(items().filter(|&item| item >= self.rows));
        grow(&mut work.numbers, self.items());
        for (number, &item) in numbered.iter().enumerate() {
            work.numbers[item] = number as u16;
        }
        let mut codes = std::mem::take(&mut work.codes);
        codes.clear();
        codes.extend(numbered.iter().map(|&item| self.codes[item]));
        let (mut orders_apart, mut spare) = (std::mem::take(&mut work.orders), std::mem::take(&mut work.spare));
        orders_apart.clear();
        orders_apart.extend(orders.iter().map(|item| work.numbers[item.index()]));
        grow(&mut spare, orders.len());
        let apart = Bucket { rows, codes, ..*self };
        apart.cut(part, &mut orders_apart, &mut spare[..orders.len()], out, copies, work);
        for item in out.iter_mut() {
            *item = numbered[*item as usize] as u32;
        }
        (work.codes, work.orders, work.spare) = (apart.codes, orders_apart, spare);
    }

    /// The best scheme for a part, if it may be cut at all, and the places of the orders that its sides need.
    fn choose<I: Number>(&self, part: &Part<A>, orders: &[I], work: &mut Work<B, W>) -> (Option<Scheme>, Few<A>) {
        let items = self.lists * part.size;
        let (mut best, mut kept): (Option<Scheme>, Few<A>) = (None, Few::none());
        let mut spread = Few::none();
        let mut is_by_number = false;
        for (at, attribute) in part.carried.iter().enumerate() {
            // No scheme costs less than zero.
            if best.is_some_and(|best| best.cost == 0) {
                kept.push(at);
                continue;
            }
            let order = &orders[at * items..(at + 1) * items];
            if at == 0 {
                self.layers(order, part.size, work);
                spread = self.spread(&work.layers);
            }
            // If all people have the same code, they are in the order of their numbers. All such orders are the same,
            // and so are their schemes, of which the first wins.
            if !part.has_counterfeits && !spread.iter().any(|other| other == attribute) {
                if is_by_number {
                    continue;
                }
                is_by_number = true;
            }
            kept.push(at);
            let Some(range) = self.range(order, part.size) else { continue };
            if at > 0 {
                self.layers(order, part.size, work);
            }
            let to_beat = best.map_or(u64::MAX, |best| best.cost);
            if let Some((cost, left)) = self.best_of(&spread, range, to_beat, work) {
                best = Some(Scheme { cost, order: at, left });
            }
        }
        (best, kept)
    }

    /// The attributes in which the people of a part differ.
    fn spread(&self, layers: &[Bounds<B, W>]) -> Few<A> {
        let mut whole = Bounds::default();
        layers.iter().for_each(|layer| whole.widen(layer));
        let mut spread = Few::none();
        let differs = |attribute: &usize| {
            let (lo, hi) = whole.ends(*attribute);
            lo < hi
        };
        (0..self.costs.attributes.len()).filter(differs).for_each(|attribute| spread.push(attribute));
        spread
    }

    /// The smallest and the largest left part along an order that leave enough people on both sides.
    fn range<I: Number>(&self, order: &[I], size: usize) -> Option<(usize, usize)> {
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

    /// The best scheme along the order whose layers are given, if it costs less than `to_beat`: its cost, and how many
    /// copies go left. Only attributes in `spread` can cost anything.
    ///
    /// A side costs the more the more copies it has, so that a side that costs too much ends the search.
    fn best_of(
        &self,
        spread: &Few<A>,
        range: (usize, usize),
        to_beat: u64,
        work: &mut Work<B, W>,
    ) -> Option<(u64, usize)> {
        let Work { layers, right, .. } = work;
        let size = layers.len();
        grow(right, size);
        // A pass from the right: the cost of everything beyond each cut.
        let mut side = Side::default();
        let mut first = range.0;
        for layer in (range.0..size).rev() {
            side.add(self, spread, &layers[layer]);
            right[layer] = side.cost * (size - layer) as u64;
            if right[layer] >= to_beat {
                first = layer + 1;
                break;
            }
        }
        let mut side = Side::default();
        layers[..first - 1].iter().for_each(|layer| side.bounds.widen(layer));
        side.cost = self.cost(spread, &side.bounds);
        let mut best = (to_beat, 0);
        for left in first..=range.1 {
            side.add(self, spread, &layers[left - 1]);
            let on_left = side.cost * left as u64;
            if on_left >= best.0 {
                break;
            }
            let cost = on_left + right[left];
            if cost < best.0 {
                best = (cost, left);
            }
        }
        (best.1 > 0).then_some(best)
    }

    /// The perimeter of a box, per row in it, if it is as wide as a point in all attributes but these.
    fn cost(&self, spread: &Few<A>, bounds: &Bounds<B, W>) -> u64 {
        let cost = |attribute: usize| {
            let (lo, hi) = bounds.ends(attribute);
            self.costs.attributes[attribute].of(lo, hi)
        };
        spread.iter().map(cost).sum()
    }

    /// The bounds of every layer. A layer is the rows at one position of all lists.
    fn layers<I: Number>(&self, order: &[I], size: usize, work: &mut Work<B, W>) {
        work.layers.clear();
        if order.len() > COMPACT {
            // List by list, so that a large order is read from front to back.
            work.layers.resize(size, Bounds::default());
            for list in order.chunks_exact(size) {
                for (layer, item) in work.layers.iter_mut().zip(list) {
                    layer.widen(&self.codes[item.index()]);
                }
            }
            return;
        }
        // Layer by layer, so that a box stays in the registers.
        work.layers.extend((0..size).map(|layer| {
            let mut bounds = Bounds::default();
            let mut at = layer;
            while let Some(item) = order.get(at) {
                bounds.widen(&self.codes[item.index()]);
                at += size;
            }
            bounds
        }));
    }

    /// Writes the two parts of every order that is kept into `spare`, the left one first.
    fn partition<I: Number>(
        &self,
        part: &Part<A>,
        kept: &Few<A>,
        orders: &[I],
        spare: &mut [I],
        scheme: Scheme,
        work: &mut Work<B, W>,
    ) {
        let (size, left, right) = (part.size, scheme.left, part.size - scheme.left);
        let items = self.lists * size;
        grow(&mut work.goes_left, self.items());
        for list in orders[scheme.order * items..][..items].chunks_exact(size) {
            let (to_left, to_right) = list.split_at(left);
            to_left.iter().for_each(|item| work.goes_left[item.index()] = true);
            to_right.iter().for_each(|item| work.goes_left[item.index()] = false);
        }
        let (mut left_start, mut right_start) = (0, kept.len * self.lists * left);
        for order in kept.iter() {
            for list in orders[order * items..(order + 1) * items].chunks_exact(size) {
                let (left_end, right_end) = (left_start + left, right_start + right);
                if order == scheme.order {
                    spare[left_start..left_end].copy_from_slice(&list[..left]);
                    spare[right_start..right_end].copy_from_slice(&list[left..]);
                } else {
                    let (mut left_at, mut right_at) = (left_start, right_start);
                    for &item in list {
                        // A place is computed, because a branch could not be predicted.
                        let goes_left = usize::from(work.goes_left[item.index()]);
                        let place = right_at ^ ((left_at ^ right_at) & goes_left.wrapping_neg());
                        spare[place] = item;
                        left_at += goes_left;
                        right_at += 1 - goes_left;
                    }
                }
                (left_start, right_start) = (left_end, right_end);
            }
        }
    }
}

/// Appends the numbers of some items in the order of their codes. `coded` has codes and numbers; numbers ascend, and break
/// ties.
fn sort<I: Number>(coded: &[(u32, u32)], codes: usize, starts: &mut Vec<u32>, orders: &mut Vec<I>) {
    let begin = orders.len();
    orders.resize(begin + coded.len(), I::default());
    let sorted = &mut orders[begin..];
    // Counting would take longer than comparing.
    if codes > 4 * coded.len() {
        let mut coded = coded.to_vec();
        coded.sort_unstable();
        sorted.iter_mut().zip(coded).for_each(|(place, (_, number))| *place = I::of(number as usize));
        return;
    }
    starts.clear();
    starts.resize(codes, 0);
    coded.iter().for_each(|&(code, _)| starts[code as usize] += 1);
    let mut start = 0;
    for count in starts.iter_mut() {
        start += std::mem::replace(count, start);
    }
    for &(code, number) in coded {
        let start = &mut starts[code as usize];
        sorted[*start as usize] = I::of(number as usize);
        *start += 1;
    }
}

/// Makes a buffer at least so long; what it held is overwritten before it is read.
fn grow<T: Clone + Default>(buffer: &mut Vec<T>, len: usize) {
    if buffer.len() < len {
        buffer.resize(len, T::default());
    }
}

/// One side of a cut while it grows, and what it costs per row.
#[derive(Default)]
struct Side<const B: usize, const W: usize> {
    bounds: Bounds<B, W>,
    cost: u64,
}

impl<const B: usize, const W: usize> Side<B, W> {
    fn add<const A: usize>(&mut self, bucket: &Bucket<'_, B, W, A>, spread: &Few<A>, layer: &Bounds<B, W>) {
        let before = self.bounds;
        self.bounds.widen(layer);
        if self.bounds != before {
            self.cost = bucket.cost(spread, &self.bounds);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};
    use crate::model::Rng;
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
            let bucket: Bucket<'_, 8, 1, 4> = Bucket::new(&table, &costs, &rows, lists, 1);
            let (part, orders) = bucket.orders::<u16>(&table, lists);
            let scheme = bucket.choose(&part, &orders, &mut Work::default()).0.unwrap();
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

    /// A bucket that is cut plainly: every list is sorted anew for every part and attribute, and nothing is left out.
    struct Plain<'a> {
        table: &'a Table,
        costs: &'a Costs,
        people: usize,
        /// The row of every item, or of its stand-in.
        codes_of: Vec<u32>,
        /// How many items are people.
        rows: usize,
    }

    impl Plain<'_> {
        /// How many people some layers have and what their box costs, with every further layer.
        fn growing(&self, lists: &[Vec<u32>], layers: impl Iterator<Item = usize>) -> Vec<(usize, u64)> {
            let mut ends = vec![(u32::MAX, 0); self.table.quasi_count()];
            let mut people = 0;
            let mut add = |layer: usize| {
                for item in lists.iter().map(|list| list[layer] as usize).filter(|&item| item < self.rows) {
                    people += 1;
                    for (attribute, (lo, hi)) in ends.iter_mut().enumerate() {
                        let code = self.table.quasi(attribute)[self.codes_of[item] as usize];
                        (*lo, *hi) = ((*lo).min(code), (*hi).max(code));
                    }
                }
                let costs = self.costs.attributes.iter().zip(&ends);
                (people, costs.map(|(cost, &(lo, hi))| cost.of(lo, hi)).sum())
            };
            layers.map(&mut add).collect()
        }

        fn orders(&self, lists: &[Vec<u32>]) -> Vec<Vec<Vec<u32>>> {
            let code = |attribute: usize, item: u32| self.table.quasi(attribute)[self.codes_of[item as usize] as usize];
            let by = |attribute: usize| {
                let mut lists = lists.to_vec();
                lists.iter_mut().for_each(|list| list.sort_by_key(|&item| (code(attribute, item), item)));
                lists
            };
            (0..self.table.quasi_count()).map(by).collect()
        }

        fn cut(&self, lists: &[Vec<u32>], places: &mut Vec<u32>, copies: &mut Vec<u32>) {
            let size = lists[0].len();
            let orders = self.orders(lists);
            let mut best: Option<(u64, usize, usize)> = None;
            for (attribute, lists) in orders.iter().enumerate() {
                let on_left = self.growing(lists, 0..size);
                let on_right = self.growing(lists, (0..size).rev());
                let sides = |left: usize| [on_left[left - 1], on_right[size - left - 1]];
                let is_allowed = |left: &usize| sides(*left).iter().all(|side| side.0 >= self.people);
                let even = (1..size).filter(|left| (size / 8..=size - size / 8).contains(left)).filter(is_allowed);
                let mut lefts: Vec<usize> = if size > LARGE { even.collect() } else { Vec::new() };
                if lefts.is_empty() {
                    lefts = (1..size).filter(is_allowed).collect();
                }
                for left in lefts {
                    let cost = sides(left)[0].1 * left as u64 + sides(left)[1].1 * (size - left) as u64;
                    if best.is_none_or(|best| cost < best.0) {
                        best = Some((cost, attribute, left));
                    }
                }
            }
            let Some((cost, attribute, left)) = best else {
                places.extend(orders[0].iter().flatten());
                copies.push(size as u32);
                return;
            };
            let chosen = &orders[attribute];
            if cost == 0 && self.people <= 1 {
                (0..size).for_each(|layer| places.extend(chosen.iter().map(|list| list[layer])));
                copies.resize(copies.len() + size, 1);
                return;
            }
            for layers in [0..left, left..size] {
                let side: Vec<Vec<u32>> = chosen.iter().map(|list| list[layers.clone()].to_vec()).collect();
                self.cut(&side, places, copies);
            }
        }
    }

    /// Releases are made again from their history, so that no way to be faster may change a cut.
    fn check_plainly(sizes: &[i64], values: usize, copies: usize, gaps: usize, people: usize, seed: u64) {
        let (mut rng, schema) = (Rng::from_number(seed), schema_with_tree(sizes));
        // Many people are alike.
        let mut code = |size: u32| (rng.below(u64::from(size)).min(rng.below(u64::from(size)))) as u32;
        let mut person =
            |id: usize| (id as u64, schema.quasi.iter().map(|quasi| code(quasi.size())).collect::<Vec<u32>>(), 0);
        let made: Vec<SnapshotRow> = (0..values * copies).map(&mut person).collect();
        let table = table(&crate::grouping::evolve::values(1), sizes.len() + 1, &made);
        let gaps_of = |value: usize| if value == 0 { 0 } else { gaps * value % (copies / 2) };
        let lists: Vec<Vec<u32>> = (0..values)
            .map(|value| (value * copies..(value + 1) * copies - gaps_of(value)).map(|row| row as u32).collect())
            .collect();
        let stand_ins: Vec<Vec<u32>> =
            (0..values).map(|value| (0..gaps_of(value)).map(|gap| (gap * 7 % copies) as u32).collect()).collect();
        let costs = Costs::new(&schema);
        let found = split(&table, &costs, Lists { people: &lists, stand_ins: &stand_ins }, people);
        let rows: Vec<u32> = lists.concat();
        let codes_of = [rows.clone(), stand_ins.concat()].concat();
        let (mut first, mut first_counterfeit) = (0, rows.len() as u32);
        let mut items = Vec::new();
        for (list, stand_ins) in lists.iter().zip(&stand_ins) {
            let (end, end_counterfeit) = (first + list.len() as u32, first_counterfeit + stand_ins.len() as u32);
            items.push((first..end).chain(first_counterfeit..end_counterfeit).collect::<Vec<u32>>());
            (first, first_counterfeit) = (end, end_counterfeit);
        }
        let plain = Plain { table: &table, costs: &costs, people, codes_of, rows: rows.len() };
        let (mut places, mut copies) = (Vec::new(), Vec::new());
        plain.cut(&items, &mut places, &mut copies);
        let places: Vec<u32> = places.iter().map(|&item| rows.get(item as usize).copied().unwrap_or(NOBODY)).collect();
        assert!(found.copies == copies && found.places == places, "{sizes:?} {values} {gaps} {people} {seed}");
    }

    #[test]
    fn the_cuts_are_those_of_the_plain_rule() {
        for sizes in [&[20, 5][..], &[300, 5], &[70_000, 3, 4], &[3, 2, 4, 2, 9, 2], &[2; 20]] {
            for (gaps, people) in [(0, 1), (1, 1), (3, 1), (0, 7), (2, 5)] {
                check_plainly(sizes, 3, 40, gaps, people, gaps as u64 + 1);
            }
        }
    }

    /// Large enough to be cut on several threads, unevenly and apart.
    #[test]
    fn large_buckets_are_cut_by_the_plain_rule() {
        check_plainly(&[70, 2, 3], 12, 1_400, 5, 1, 1);
    }
}
