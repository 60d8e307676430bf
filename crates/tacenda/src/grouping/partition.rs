//! The partition tree: cuts people into groups of at least k, and into parts in which such groups are formed.
//!
//! Every cut is strict: people with equal codes stay together. Two rules say where.
//!
//! If cells are published, the rule is the paper's. The attribute with the largest spread is tried first, at the two
//! places nearest the median, one on each side. If neither leaves k people on both sides, no place of that attribute
//! does (science A0.2).
//!
//! If covers are published, the cut is the one that narrows what is published the most, summed over people, at any
//! place. The median cuts a skewed column in the wrong place: where nine in ten people were born in one country, it
//! leaves the tenth with them in one cell, and counts of rare countries are far off. Small parts are not cut like that:
//! their people are clustered. Then groups are no cells, their regions may overlap, and equal people may be in two
//! groups.
//!
//! The points move within one array, so that every pass reads contiguous memory, and both sides of a cut are
//! independent.

use crate::grouping::axis::{Axis, CutPlace, Spread};
use crate::grouping::cluster::LossKind;
use crate::grouping::cluster::cost::{Costs, Points};
use crate::grouping::cluster::cut::ranks;
use crate::grouping::cluster::part::cluster_part;
use crate::grouping::cluster::store::Space;
use crate::model::{Row, Schema, Span, Table, Value};
use rayon::prelude::*;

/// From this many people on, the two sides of a cut go to different threads.
const APART: usize = 1 << 13;

/// Where covers are published, the people of parts of up to this many times `k` are clustered.
const PART: usize = 128;

/// The most attributes a point can have.
pub(crate) const MOST_ATTRIBUTES: usize = 256;

/// What a leaf is published with.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Publishes {
    /// The cell it was cut to.
    Cell,
    /// The smallest box around its people that keeps the grid, within its cell.
    BoxInCell,
    /// The smallest region around its people, whatever its cell.
    Cover,
}

/// How people are cut into groups.
pub(crate) struct Tree<'a> {
    cuts: Cuts<'a>,
    /// What regions cost, if people of parts are clustered.
    costs: Option<Costs>,
    table: &'a Table,
    l: Option<u32>,
    publishes: Publishes,
    narrow: bool,
}

/// Where people may be cut. It needs to know how many of them have which code, and not who they are.
pub(super) struct Cuts<'a> {
    axes: Vec<Axis<'a>>,
    k: usize,
    /// Whether the cut that narrows covers the most is chosen, and not the median of the widest attribute.
    narrows: bool,
    /// Parts of up to this many people are not cut. If covers are published, their people are clustered instead.
    pub part: usize,
}

/// How many people of a part have which code.
pub(super) trait CodeCounts {
    /// The codes that an attribute's people fill.
    fn span(&self, attribute: usize) -> Span;
    /// Tells every code that occurs, ascending, and its count.
    fn each(&mut self, attribute: usize, tell: &mut dyn FnMut(u32, usize));
    /// Whether both sides of a cut are allowed otherwise.
    fn passes(&self, attribute: usize, at: u32) -> bool;
}

/// Scratch memory for choosing a cut.
#[derive(Default)]
pub(super) struct CutDesk {
    levels: Levels,
    open: Vec<Option<Spread>>,
}

/// The leaves of a tree from left to right.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Leaves {
    /// How many people each has.
    pub sizes: Vec<u32>,
    /// What each is published with, one span per attribute.
    pub spans: Vec<Span>,
}

/// Cuts all rows of a table into parts of up to `most` rows, each of at least `k`, where it narrows covers the most. A part
/// that cannot be cut stays larger, and so does a table with too many attributes.
pub(crate) fn parts(schema: &Schema, table: &Table, k: u32, most: usize) -> Vec<Vec<u32>> {
    if schema.quasi.len() > MOST_ATTRIBUTES {
        return vec![table.rows().map(|row| row.0).collect()];
    }
    let mut rows: Vec<Row> = table.rows().collect();
    let mut tree = Tree { costs: None, ..Tree::new(schema, table, k, None, Publishes::Cover) };
    tree.cuts.part = most;
    let roots: Vec<Span> = schema.quasi.iter().map(|quasi| quasi.root()).collect();
    let sizes = tree.split(&mut rows, &roots).sizes;
    in_parts(&mut rows, &sizes).into_iter().map(|part| part.iter().map(|row| row.0).collect()).collect()
}

/// Divides rows into parts of these sizes.
fn in_parts<'r>(mut rows: &'r mut [Row], sizes: &[u32]) -> Vec<&'r mut [Row]> {
    let mut parts = Vec::with_capacity(sizes.len());
    for &size in sizes {
        let (part, rest) = rows.split_at_mut(size as usize);
        parts.push(part);
        rows = rest;
    }
    parts
}

impl<'a> Tree<'a> {
    /// A tree over the people of `table`, with groups of at least `k`. If cells are published, every cut must leave
    /// both sides with no value above one in `l`. Otherwise cuts ignore `l`, and groups may fail it.
    pub fn new(schema: &'a Schema, table: &'a Table, k: u32, l: Option<u32>, publishes: Publishes) -> Tree<'a> {
        assert!(schema.quasi.len() <= MOST_ATTRIBUTES, "the caller has refused wider tables");
        let narrow = schema.quasi.iter().all(|quasi| quasi.size() <= u32::from(u16::MAX) + 1);
        let costs = (publishes == Publishes::Cover).then(|| Costs::new(schema, LossKind::LeafShare));
        Tree { cuts: Cuts::new(schema, k, publishes), costs, table, l, publishes, narrow }
    }

    /// Puts `rows`, which lie in `cell`, into the order of the leaves, ascending within each.
    pub fn split(&self, rows: &mut [Row], cell: &[Span]) -> Leaves {
        match (self.narrow, self.cuts.axes.len()) {
            (true, ..=4) => self.split_points::<u16, 4>(rows, cell),
            (true, ..=8) => self.split_points::<u16, 8>(rows, cell),
            (true, ..=16) => self.split_points::<u16, 16>(rows, cell),
            (true, ..=32) => self.split_points::<u16, 32>(rows, cell),
            (false, ..=4) => self.split_points::<u32, 4>(rows, cell),
            (false, ..=8) => self.split_points::<u32, 8>(rows, cell),
            (false, ..=16) => self.split_points::<u32, 16>(rows, cell),
            (false, ..=32) => self.split_points::<u32, 32>(rows, cell),
            _ => self.split_points::<u32, MOST_ATTRIBUTES>(rows, cell),
        }
    }

    /// Whether the values of `rows` pass the guard.
    pub fn passes(&self, rows: &[Row]) -> bool {
        self.l.is_none_or(|l| self.keeps(l, rows.iter().copied()))
    }

    fn keeps(&self, l: u32, rows: impl Iterator<Item = Row>) -> bool {
        let mut values: Vec<Value> = rows.map(|row| self.table.sensitive()[row.index()]).collect();
        values.sort_unstable();
        most_frequent(&values) * l as usize <= values.len()
    }

    fn split_points<T: Code, const D: usize>(&self, rows: &mut [Row], cell: &[Span]) -> Leaves {
        let mut points: Vec<Point<T, D>> = Vec::with_capacity(rows.len());
        rows.par_iter().map(|&row| self.point(row)).collect_into_vec(&mut points);
        let mut leaves = Leaves::default();
        self.grow(&mut points, rows, &mut cell.to_vec(), &mut Desk::default(), &mut leaves);
        drop(points);
        match &self.costs {
            Some(costs) => self.cluster(costs, rows, &leaves.sizes),
            None => leaves,
        }
    }

    /// Clusters the people of every part. Parts lie one after another in `rows`, and so do the groups.
    fn cluster(&self, costs: &Costs, rows: &mut [Row], parts: &[u32]) -> Leaves {
        let sizes: Vec<u32> = self.cuts.axes.iter().map(|axis| axis.quasi().size()).collect();
        let formed: Vec<Leaves> = in_parts(rows, parts)
            .into_par_iter()
            .map(|part| {
                let points = Points::of_rows(self.table, part.iter().copied());
                self.cluster_part(Space { points: &points, costs, sizes: &sizes, k: self.cuts.k, crowding: 0 }, part)
            })
            .collect();
        let mut leaves = Leaves::default();
        for mut part in formed {
            leaves.sizes.append(&mut part.sizes);
            leaves.spans.append(&mut part.spans);
        }
        leaves
    }

    /// Groups the people of one part. The answer depends on their codes and their order alone, so a part can be grouped
    /// without the others.
    fn cluster_part(&self, space: Space, rows: &mut [Row]) -> Leaves {
        let people = rows.to_vec();
        let numbers: Vec<u32> = (0..people.len() as u32).collect();
        let ranks = ranks(space, &numbers);
        let mut leaves = Leaves::default();
        let mut rest = rows;
        for cluster in cluster_part(space, numbers, &ranks) {
            let (group, others) = rest.split_at_mut(cluster.rows.len());
            group.iter_mut().zip(&cluster.rows).for_each(|(row, &number)| *row = people[number as usize]);
            group.sort_unstable();
            rest = others;
            leaves.sizes.push(cluster.rows.len() as u32);
            let spans = self.cuts.axes.iter().zip(&cluster.spans);
            leaves.spans.extend(spans.map(|(axis, &span)| axis.quasi().cover(span)));
        }
        leaves
    }

    fn point<T: Code, const D: usize>(&self, row: Row) -> Point<T, D> {
        let mut codes = [T::of(0); D];
        for (attribute, code) in codes.iter_mut().enumerate().take(self.cuts.axes.len()) {
            *code = T::of(self.table.quasi(attribute)[row.index()]);
        }
        Point { codes, row }
    }

    /// Cuts `points`, which lie in `cell`, or makes them a leaf.
    fn grow<T: Code, const D: usize>(
        &self,
        points: &mut [Point<T, D>],
        rows: &mut [Row],
        cell: &mut Vec<Span>,
        desk: &mut Desk,
        leaves: &mut Leaves,
    ) {
        if points.len() <= self.cuts.part {
            return self.leaf(points, rows, cell, None, leaves);
        }
        let bounds = Bounds::of(points);
        let Some((attribute, at)) = self.choose(points, cell, &bounds, desk) else {
            return self.leaf(points, rows, cell, Some(&bounds), leaves);
        };
        let middle = divide(points, attribute, at);
        let far = points.len() >= APART;
        let (left, right) = points.split_at_mut(middle);
        let (left_rows, right_rows) = rows.split_at_mut(middle);
        let whole = cell[attribute];
        if far {
            let mut right_cell = cell.clone();
            right_cell[attribute].lo = at + 1;
            cell[attribute].hi = at;
            let mut right_leaves = Leaves::default();
            rayon::join(
                || self.grow(left, left_rows, cell, desk, leaves),
                || self.grow(right, right_rows, &mut right_cell, &mut Desk::default(), &mut right_leaves),
            );
            leaves.sizes.append(&mut right_leaves.sizes);
            leaves.spans.append(&mut right_leaves.spans);
        } else {
            cell[attribute].hi = at;
            self.grow(left, left_rows, cell, desk, leaves);
            cell[attribute] = Span::new(at + 1, whole.hi);
            self.grow(right, right_rows, cell, desk, leaves);
        }
        cell[attribute] = whole;
    }

    fn leaf<T: Code, const D: usize>(
        &self,
        points: &[Point<T, D>],
        rows: &mut [Row],
        cell: &[Span],
        bounds: Option<&Bounds<T, D>>,
        leaves: &mut Leaves,
    ) {
        for (row, point) in rows.iter_mut().zip(points) {
            *row = point.row;
        }
        rows.sort_unstable();
        leaves.sizes.push(rows.len() as u32);
        for (attribute, axis) in self.cuts.axes.iter().enumerate() {
            let cover = bounds.map(|bounds| axis.quasi().cover(bounds.span(attribute)));
            leaves.spans.push(match (self.publishes, cover) {
                (Publishes::BoxInCell, Some(cover)) if cover.subset(cell[attribute]) => cover,
                _ => cell[attribute],
            });
        }
    }

    /// The attribute and place to cut at.
    fn choose<T: Code, const D: usize>(
        &self,
        points: &[Point<T, D>],
        cell: &[Span],
        bounds: &Bounds<T, D>,
        desk: &mut Desk,
    ) -> Option<(usize, u32)> {
        let Desk { counts, sorted, cut } = desk;
        self.cuts.choose(points.len(), cell, &mut Part { tree: self, points, bounds, counts, sorted }, cut)
    }

    /// Whether both sides of a cut pass the guard, if cuts are guarded.
    fn both_pass<T: Code, const D: usize>(&self, points: &[Point<T, D>], attribute: usize, at: u32) -> bool {
        let Some(l) = self.l.filter(|_| self.publishes != Publishes::Cover) else { return true };
        let side = |left: bool| {
            let here = move |point: &&Point<T, D>| (point.codes[attribute].code() <= at) == left;
            points.iter().filter(here).map(|point| point.row)
        };
        self.keeps(l, side(true)) && self.keeps(l, side(false))
    }
}

/// Per level of a hierarchy, the place at or below the median and the one above it: how many people are left of it, and
/// the last code there.
type Levels = Vec<[Option<(usize, u32)>; 2]>;

impl<'a> Cuts<'a> {
    pub fn new(schema: &'a Schema, k: u32, publishes: Publishes) -> Cuts<'a> {
        let narrows = publishes == Publishes::Cover;
        let axes = schema.quasi.iter().map(|quasi| Axis::new(quasi, !narrows)).collect();
        let k = k.max(1) as usize;
        // A part of fewer than two groups cannot be cut anyway, and a cell is what is published of it.
        let part = match publishes {
            Publishes::Cell => 2 * k - 1,
            Publishes::BoxInCell => 0,
            Publishes::Cover => PART * k,
        };
        Cuts { axes, k, narrows, part }
    }

    /// The attribute and place to cut at, from counts alone. If no cut narrows anything, or cells are published, it is
    /// the median of the attribute with the largest spread.
    pub fn choose(
        &self,
        people: usize,
        cell: &[Span],
        part: &mut impl CodeCounts,
        desk: &mut CutDesk,
    ) -> Option<(usize, u32)> {
        if people < 2 * self.k {
            return None;
        }
        if self.narrows {
            let mut best: Option<(i128, (usize, u32))> = None;
            for (attribute, &cell) in cell.iter().enumerate() {
                if let Some((gain, at)) = self.narrowest(people, attribute, cell, part)
                    && best.is_none_or(|(most, _)| gain > most)
                {
                    best = Some((gain, (attribute, at)));
                }
            }
            if let Some((_, cut)) = best.filter(|&(gain, _)| gain > 0) {
                return Some(cut);
            }
        }
        self.widest(people, cell, part, desk)
    }

    /// The place on one attribute that narrows what is published the most, summed over people, and by how much. Ties go
    /// to the lower place. A least width can make a part wider than the whole, so that a cut gains less than nothing.
    fn narrowest(
        &self,
        people: usize,
        attribute: usize,
        cell: Span,
        part: &mut impl CodeCounts,
    ) -> Option<(i128, u32)> {
        let axis = &self.axes[attribute];
        let span = part.span(attribute);
        if span.lo == span.hi {
            return None;
        }
        let whole = i128::from(axis.prospect(span));
        let mut left: Option<(u32, usize)> = None;
        let mut best: Option<(i128, u32)> = None;
        part.each(attribute, &mut |code, count| {
            let (last, below) = left.unwrap_or((code, 0));
            left = Some((code, below + count));
            if below < self.k || people - below < self.k {
                return;
            }
            let Some(place) = axis.place(cell, last, code) else { return };
            let saved = |people: usize, part: Span| people as i128 * (whole - i128::from(axis.prospect(part)));
            let gain = saved(below, Span::new(span.lo, last)) + saved(people - below, Span::new(code, span.hi));
            if best.is_none_or(|(most, _)| gain > most) {
                best = Some((gain, place.at));
            }
        });
        best
    }

    /// The median of the attribute with the largest spread that can be cut; ties go to the first in the schema's order.
    fn widest(
        &self,
        people: usize,
        cell: &[Span],
        part: &mut impl CodeCounts,
        desk: &mut CutDesk,
    ) -> Option<(usize, u32)> {
        desk.open.clear();
        for (attribute, axis) in self.axes.iter().enumerate() {
            let spread = axis.spread(part.span(attribute));
            desk.open.push((!spread.is_none()).then_some(spread));
        }
        loop {
            let mut widest: Option<(usize, Spread)> = None;
            for (attribute, spread) in desk.open.iter().enumerate() {
                if let Some(spread) = spread
                    && widest.is_none_or(|(_, other)| spread.compare(other).is_gt())
                {
                    widest = Some((attribute, *spread));
                }
            }
            let (attribute, _) = widest?;
            if let Some(at) = self.median(people, attribute, cell[attribute], part, desk) {
                return Some((attribute, at));
            }
            desk.open[attribute] = None;
        }
    }

    /// The best allowable place on one attribute: at the highest level of the hierarchy that has one, the place nearer
    /// to the median; ties go to the lower place.
    fn median(
        &self,
        people: usize,
        attribute: usize,
        cell: Span,
        part: &mut impl CodeCounts,
        desk: &mut CutDesk,
    ) -> Option<u32> {
        let (axis, levels) = (&self.axes[attribute], &mut desk.levels);
        levels.clear();
        let mut left: Option<(u32, usize)> = None;
        part.each(attribute, &mut |code, count| {
            let (last, below) = left.unwrap_or((code, 0));
            left = Some((code, below + count));
            if below < self.k || people - below < self.k {
                return;
            }
            if let Some(place) = axis.place(cell, last, code) {
                note(levels, place, below, people);
            }
        });
        for pair in levels.iter() {
            let mut pair = *pair;
            pair.sort_unstable_by_key(|place| {
                place.map_or((usize::MAX, 0), |(below, at)| (below.abs_diff(people - below), at))
            });
            if let Some((_, at)) = pair.into_iter().flatten().find(|&(_, at)| part.passes(attribute, at)) {
                return Some(at);
            }
        }
        None
    }
}

/// The people of a node, counted.
struct Part<'a, T, const D: usize> {
    tree: &'a Tree<'a>,
    points: &'a [Point<T, D>],
    bounds: &'a Bounds<T, D>,
    counts: &'a mut Vec<u32>,
    sorted: &'a mut Vec<u32>,
}

impl<T: Code, const D: usize> CodeCounts for Part<'_, T, D> {
    fn span(&self, attribute: usize) -> Span {
        self.bounds.span(attribute)
    }

    fn each(&mut self, attribute: usize, tell: &mut dyn FnMut(u32, usize)) {
        each_code(self.points, attribute, self.bounds.span(attribute), self.counts, self.sorted, tell);
    }

    fn passes(&self, attribute: usize, at: u32) -> bool {
        self.tree.both_pass(self.points, attribute, at)
    }
}

/// Remembers, per level, the last place at or below the median and the first at or above it.
fn note(levels: &mut Levels, place: CutPlace, below: usize, people: usize) {
    let level = place.level as usize;
    if levels.len() <= level {
        levels.resize(level + 1, [None; 2]);
    }
    let [low, high] = &mut levels[level];
    if 2 * below <= people {
        *low = Some((below, place.at));
    } else if high.is_none() {
        *high = Some((below, place.at));
    }
}

/// Calls `tell` with every code that occurs, ascending, and its count.
fn each_code<T: Code, const D: usize>(
    points: &[Point<T, D>],
    attribute: usize,
    codes: Span,
    counts: &mut Vec<u32>,
    sorted: &mut Vec<u32>,
    tell: &mut dyn FnMut(u32, usize),
) {
    let width = codes.width() as usize;
    if width <= 4 * points.len() + 64 {
        counts.clear();
        counts.resize(width, 0);
        for point in points {
            counts[(point.codes[attribute].code() - codes.lo) as usize] += 1;
        }
        for (offset, &count) in counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            tell(codes.lo + offset as u32, count as usize);
        }
    } else {
        sorted.clear();
        sorted.extend(points.iter().map(|point| point.codes[attribute].code()));
        sorted.sort_unstable();
        for run in sorted.chunk_by(|a, b| a == b) {
            tell(run[0], run.len());
        }
    }
}

/// Puts the points with codes up to `at` before the others, and returns their number.
fn divide<T: Code, const D: usize>(points: &mut [Point<T, D>], attribute: usize, at: u32) -> usize {
    let is_left = |point: &Point<T, D>| point.codes[attribute].code() <= at;
    let (mut first, mut end) = (0, points.len());
    loop {
        while first < end && is_left(&points[first]) {
            first += 1;
        }
        while first < end && !is_left(&points[end - 1]) {
            end -= 1;
        }
        if first >= end {
            return first;
        }
        points.swap(first, end - 1);
    }
}

/// How often the most frequent of sorted values occurs.
fn most_frequent(sorted: &[Value]) -> usize {
    sorted.chunk_by(|a, b| a == b).map(<[Value]>::len).max().unwrap_or(0)
}

/// One person's codes, and their row.
#[derive(Clone, Copy)]
struct Point<T, const D: usize> {
    codes: [T; D],
    row: Row,
}

/// The lowest and highest codes of some points.
struct Bounds<T, const D: usize> {
    lo: [T; D],
    hi: [T; D],
}

impl<T: Code, const D: usize> Bounds<T, D> {
    fn of(points: &[Point<T, D>]) -> Bounds<T, D> {
        let mut bounds = Bounds { lo: points[0].codes, hi: points[0].codes };
        points.iter().for_each(|point| bounds.add(point));
        bounds
    }

    #[inline]
    fn add(&mut self, point: &Point<T, D>) {
        for attribute in 0..D {
            self.lo[attribute] = self.lo[attribute].min(point.codes[attribute]);
            self.hi[attribute] = self.hi[attribute].max(point.codes[attribute]);
        }
    }

    fn span(&self, attribute: usize) -> Span {
        Span::new(self.lo[attribute].code(), self.hi[attribute].code())
    }
}

/// A code in as few bytes as the widest domain needs.
trait Code: Copy + Ord + Send + Sync {
    fn of(code: u32) -> Self;
    fn code(self) -> u32;
}

impl Code for u16 {
    fn of(code: u32) -> u16 {
        code as u16
    }
    fn code(self) -> u32 {
        u32::from(self)
    }
}

impl Code for u32 {
    fn of(code: u32) -> u32 {
        code
    }
    fn code(self) -> u32 {
        self
    }
}

/// Scratch memory, kept from node to node.
#[derive(Default)]
struct Desk {
    counts: Vec<u32>,
    sorted: Vec<u32>,
    cut: CutDesk,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema, table, values};

    /// Nine in ten people have the first of forty codes; the other column is even. A median of the even column would
    /// leave every group with people of both kinds.
    #[test]
    fn a_skewed_column_is_cut_where_people_differ_and_not_at_the_median() {
        let schema = schema(&[40, 100]);
        let people: Vec<SnapshotRow> = (0..1000)
            .map(|id| (id, vec![if id % 10 == 0 { 1 + (id % 39) as u32 } else { 0 }, (id / 10) as u32], 0))
            .collect();
        let table = table(&values(1), 2, &people);
        let tree = Tree::new(&schema, &table, 5, None, Publishes::Cover);
        let mut rows: Vec<Row> = table.rows().collect();
        let roots: Vec<Span> = schema.quasi.iter().map(|quasi| quasi.root()).collect();
        let leaves = tree.split(&mut rows, &roots);
        assert_eq!(leaves.sizes.iter().sum::<u32>(), 1000);
        assert!(leaves.sizes.iter().all(|&size| size >= 5), "{:?}", leaves.sizes);
        let mixed = leaves.spans.chunks(2).filter(|region| region[0].lo == 0 && region[0].hi > 0).count();
        assert_eq!(mixed, 0, "{:?}", leaves.spans);
    }

    /// The groups of a tree over these people.
    fn groups(people: &[SnapshotRow], sizes: &[i64], k: u32) -> (Vec<Vec<u32>>, Vec<Span>) {
        let (schema, table) = (schema(sizes), table(&values(1), sizes.len(), people));
        let tree = Tree::new(&schema, &table, k, None, Publishes::Cover);
        let mut rows: Vec<Row> = table.rows().collect();
        let roots: Vec<Span> = schema.quasi.iter().map(|quasi| quasi.root()).collect();
        let leaves = tree.split(&mut rows, &roots);
        let groups =
            in_parts(&mut rows, &leaves.sizes).into_iter().map(|group| group.iter().map(|row| row.0).collect());
        (groups.collect(), leaves.spans)
    }

    /// Two clouds on a diagonal: either column separates them.
    #[test]
    fn small_parts_are_grouped_as_people_lie() {
        let clouds = [(10, 10), (60, 80), (12, 11), (61, 82), (11, 12), (62, 81)];
        let people: Vec<SnapshotRow> = (0..).zip(clouds).map(|(id, (x, y))| (id, vec![x, y], 0)).collect();
        let (groups, spans) = groups(&people, &[100, 100], 3);
        assert_eq!(groups, [[0, 2, 4], [1, 3, 5]]);
        assert_eq!(spans, [Span::new(10, 12), Span::new(10, 12), Span::new(60, 62), Span::new(80, 82)]);
    }

    /// Five people at one place and one beside them. A strict cut leaves all six together: whoever is alone takes one of
    /// the others, and four are published exactly.
    #[test]
    fn equal_people_may_be_in_two_groups() {
        let people: Vec<SnapshotRow> = (0..6).map(|id| (id, vec![if id == 0 { 50 } else { 10 }], 0)).collect();
        let (groups, spans) = groups(&people, &[100], 2);
        assert!(groups.iter().all(|group| group.len() >= 2), "{groups:?}");
        assert_eq!(spans.iter().filter(|span| span.width() > 1).count(), 1, "{groups:?}");
        assert_eq!(groups.iter().find(|group| group.contains(&0)).map(Vec::len), Some(2), "{groups:?}");
    }
}
