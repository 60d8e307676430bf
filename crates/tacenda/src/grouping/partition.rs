//! The partition tree: cuts people into groups of at least k that are as small as strict cuts allow.
//!
//! Every cut is strict: people with equal codes stay together. At each node, the attribute with the largest spread is
//! tried first, at the two places nearest the median, one on each side. If neither leaves k people on both sides, no
//! place of that attribute does (science A0.2). The points move within one array, so that every pass reads contiguous
//! memory, and both sides of a cut are independent.

use crate::grouping::axis::{Axis, CutPlace, Spread};
use crate::model::{Row, Schema, Span, Table, Value};
use rayon::prelude::*;

/// From this many people on, the two sides of a cut go to different threads.
const APART: usize = 1 << 13;

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
    table: &'a Table,
    l: Option<u32>,
    publishes: Publishes,
    narrow: bool,
}

/// Where people may be cut. It needs to know how many of them have which code, and not who they are.
pub(super) struct Cuts<'a> {
    axes: Vec<Axis<'a>>,
    k: usize,
}

/// The leaves of a tree from left to right.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Leaves {
    /// How many people each has.
    pub sizes: Vec<u32>,
    /// What each is published with, one span per attribute.
    pub spans: Vec<Span>,
}

impl<'a> Tree<'a> {
    /// A tree over the people of `table`, with groups of at least `k`. If cells are published, every cut must leave
    /// both sides with no value above one in `l`. Otherwise cuts ignore `l`, and groups may fail it.
    pub fn new(schema: &'a Schema, table: &'a Table, k: u32, l: Option<u32>, publishes: Publishes) -> Tree<'a> {
        assert!(schema.quasi.len() <= MOST_ATTRIBUTES, "the caller has refused wider tables");
        let narrow = schema.quasi.iter().all(|quasi| quasi.size() <= u32::from(u16::MAX) + 1);
        Tree { cuts: Cuts::new(schema, k, publishes), table, l, publishes, narrow }
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
        if points.len() < 2 * self.cuts.k && self.publishes == Publishes::Cell {
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
                (Publishes::Cover, Some(cover)) => cover,
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
        let Desk { counts, sorted, levels } = desk;
        self.cuts.choose(points.len(), &mut [None; D], &|attribute| bounds.span(attribute), |attribute| {
            let codes = bounds.span(attribute);
            let each = |tell: &mut dyn FnMut(u32, usize)| each_code(points, attribute, codes, counts, sorted, tell);
            let passes = |at| self.both_pass(points, attribute, at);
            self.cuts.best(points.len(), attribute, cell[attribute], levels, each, passes)
        })
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
pub(super) type Levels = Vec<[Option<(usize, u32)>; 2]>;

impl<'a> Cuts<'a> {
    pub fn new(schema: &'a Schema, k: u32, publishes: Publishes) -> Cuts<'a> {
        let printable = publishes != Publishes::Cover;
        let axes = schema.quasi.iter().map(|quasi| Axis::new(quasi, printable)).collect();
        Cuts { axes, k: k.max(1) as usize }
    }

    /// The attribute and place to cut at: attributes by descending spread, then in the schema's order. `span` says which
    /// codes an attribute's people fill, and `best` where it may be cut.
    pub fn choose(
        &self,
        people: usize,
        open: &mut [Option<Spread>],
        span: &dyn Fn(usize) -> Span,
        mut best: impl FnMut(usize) -> Option<u32>,
    ) -> Option<(usize, u32)> {
        if people < 2 * self.k {
            return None;
        }
        for (attribute, axis) in self.axes.iter().enumerate() {
            let spread = axis.spread(span(attribute));
            open[attribute] = (!spread.is_none()).then_some(spread);
        }
        loop {
            let mut widest: Option<(usize, Spread)> = None;
            for (attribute, spread) in open.iter().enumerate() {
                if let Some(spread) = spread
                    && widest.is_none_or(|(_, other)| spread.compare(other).is_gt())
                {
                    widest = Some((attribute, *spread));
                }
            }
            let (attribute, _) = widest?;
            if let Some(at) = best(attribute) {
                return Some((attribute, at));
            }
            open[attribute] = None;
        }
    }

    /// The best allowable place on one attribute: at the highest level of the hierarchy that has one, the place nearer
    /// to the median; ties go to the lower place. `each` tells every code that occurs, ascending, and its count.
    pub fn best(
        &self,
        people: usize,
        attribute: usize,
        cell: Span,
        levels: &mut Levels,
        each: impl FnOnce(&mut dyn FnMut(u32, usize)),
        passes: impl Fn(u32) -> bool,
    ) -> Option<u32> {
        let axis = &self.axes[attribute];
        levels.clear();
        let mut left: Option<(u32, usize)> = None;
        each(&mut |code, count| {
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
            if let Some((_, at)) = pair.into_iter().flatten().find(|&(_, at)| passes(at)) {
                return Some(at);
            }
        }
        None
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
        for point in points {
            for attribute in 0..D {
                bounds.lo[attribute] = bounds.lo[attribute].min(point.codes[attribute]);
                bounds.hi[attribute] = bounds.hi[attribute].max(point.codes[attribute]);
            }
        }
        bounds
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
    levels: Levels,
}
