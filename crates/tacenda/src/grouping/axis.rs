//! One quasi attribute as the partition sees it: how far apart people are on it, and where it may be cut.

use crate::model::{Domain, Grid, Quasi, Span};
use std::cmp::Ordering;

/// A quasi attribute, prepared for cutting.
pub(crate) struct Axis<'a> {
    quasi: &'a Quasi,
    /// Where a category may be cut; `None` for numbers and dates.
    tree: Option<Valleys>,
    /// How many codes are numbers; for a category all of them.
    numbers: u32,
    /// Whether every part must be printable as it is. Then NULL is separated before any numbers are.
    printable: bool,
    /// The attribute's weight in thousandths.
    weight: u64,
    /// How wide spans are.
    widths: Widths,
    /// What a code of a span costs beyond the first, in units that are the same for all attributes.
    rate: u64,
}

/// The largest domain whose widths are tabulated.
const TABULATED: u32 = 128;

/// How wide spans are, as codes beyond the first: what is published for a span, plus what would be left of it if a node of
/// the hierarchy were cut between its children.
enum Widths {
    /// Every span is published as it is.
    Plain,
    /// By the first and the last code.
    Table { size: usize, widths: Vec<u64> },
    /// The attribute is asked.
    Asked,
}

/// A place to cut: everything up to the code `at` on one side, the rest on the other.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) struct CutPlace {
    /// How deep in the hierarchy the cut lies: 0 is between children of the root.
    pub level: u32,
    /// The last code of the left side.
    pub at: u32,
}

/// How far apart people are on an attribute, as a share of its domain. Compared exactly.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    part: u64,
    whole: u64,
}

impl<'a> Axis<'a> {
    /// Prepares an attribute.
    pub fn new(quasi: &'a Quasi, printable: bool) -> Axis<'a> {
        let tree = quasi.hierarchy().map(|tree| Valleys::new(tree.cut_depths()));
        let null = quasi.hierarchy().is_none() && quasi.null().is_some();
        let weight = (quasi.weight * 1000.0).round().clamp(0.0, 1e9) as u64;
        let rate = (weight.min(1_000_000) << 40) / u64::from(quasi.size().max(2) - 1);
        Axis {
            quasi,
            tree,
            numbers: quasi.size() - u32::from(null),
            printable,
            weight,
            widths: Widths::new(quasi),
            rate,
        }
    }

    /// The attribute.
    pub fn quasi(&self) -> &'a Quasi {
        self.quasi
    }

    /// The spread of people whose codes fill `span`. A number and a NULL are as far apart as possible, because together
    /// they are published as the root.
    pub fn spread(&self, span: Span) -> Spread {
        let whole = u64::from(self.numbers.max(2) - 1);
        let part = match &self.quasi.domain {
            Domain::Category(tree) if !self.quasi.sets => u64::from(tree.cover(span).width() - 1),
            _ if span.hi >= self.numbers && span.lo < span.hi => whole,
            _ => u64::from(span.width() - 1),
        };
        Spread { part: part * self.weight, whole }
    }

    /// What a person of a part costs whose codes fill `span`: the share of the domain that is published, and what would be
    /// left of it. A node of a hierarchy that has lost children costs less than one that has them all, though the same is
    /// published. Otherwise the first of several cuts of a node would gain nothing.
    pub fn prospect(&self, span: Span) -> u64 {
        self.widths.of(self.quasi, span) * self.rate
    }

    /// The best place to cut `cell` between two neighbouring codes that occur: the highest in the hierarchy, then the
    /// lowest code. `None` if no line of the grid lies there or a side would be too narrow.
    pub fn place(&self, cell: Span, left: u32, right: u32) -> Option<CutPlace> {
        if right >= self.numbers {
            return Some(CutPlace { level: 0, at: self.numbers - 1 });
        }
        if self.printable && cell.hi >= self.numbers {
            return None;
        }
        let end = cell.hi.min(self.numbers - 1);
        let first = left.max(cell.lo.saturating_add(self.quasi.min_width - 1));
        let last = (right - 1).min(end.checked_sub(self.quasi.min_width)?);
        if first > last {
            return None;
        }
        match &self.tree {
            Some(valleys) => {
                let at = valleys.lowest(first, last);
                Some(CutPlace { level: valleys.depth(at), at })
            }
            None => {
                let at = next_line(&self.quasi.grid, first + 1)? - 1;
                (at <= last).then_some(CutPlace { level: 1, at })
            }
        }
    }
}

impl Widths {
    fn new(quasi: &Quasi) -> Widths {
        let size = quasi.size();
        let is_plain = quasi.min_width == 1
            && match &quasi.domain {
                Domain::Category(_) => quasi.nodes().is_none(),
                _ => quasi.grid == Grid::Free && quasi.null().is_none(),
            };
        if is_plain {
            Widths::Plain
        } else if size <= TABULATED {
            let spans = (0..size).flat_map(|a| (0..size).map(move |b| Span::new(a.min(b), a.max(b))));
            Widths::Table { size: size as usize, widths: spans.map(|span| asked(quasi, span)).collect() }
        } else {
            Widths::Asked
        }
    }

    #[inline]
    fn of(&self, quasi: &Quasi, span: Span) -> u64 {
        match self {
            Widths::Plain => 2 * u64::from(span.hi - span.lo),
            Widths::Table { size, widths } => widths[span.lo as usize * size + span.hi as usize],
            Widths::Asked => asked(quasi, span),
        }
    }
}

fn asked(quasi: &Quasi, span: Span) -> u64 {
    let published = quasi.cover(span);
    let rest = quasi.nodes().map_or(published, |tree| tree.hull(span));
    let beyond = |span: Span| u64::from(span.width() - 1);
    beyond(published) + beyond(rest)
}

impl Spread {
    /// Whether everybody has the same code.
    pub fn is_none(self) -> bool {
        self.part == 0
    }

    /// Compares two shares.
    pub fn compare(self, other: Spread) -> Ordering {
        let mine = u128::from(self.part) * u128::from(other.whole);
        let theirs = u128::from(other.part) * u128::from(self.whole);
        mine.cmp(&theirs)
    }
}

/// The first grid line at or after `code`; the domain's end does not count.
fn next_line(grid: &Grid, code: u32) -> Option<u32> {
    match grid {
        Grid::Free => Some(code),
        Grid::Every { phase, .. } if code <= *phase && *phase > 0 => Some(*phase),
        Grid::Every { pitch, phase } => (code - phase).div_ceil(*pitch).checked_mul(*pitch)?.checked_add(*phase),
        Grid::Lines(lines) => lines.get(lines.partition_point(|&line| line < code)).copied(),
    }
}

/// The depths of all cuts of a hierarchy, indexed to find the shallowest in a range.
struct Valleys {
    depths: Vec<u32>,
    /// Per power of two and start: the first shallowest cut of that many.
    table: Vec<Vec<u32>>,
}

impl Valleys {
    fn new(depths: Vec<u32>) -> Valleys {
        let mut table: Vec<Vec<u32>> = vec![(0..depths.len() as u32).collect()];
        let mut length = 1;
        // If all cuts are equally deep, the first of a range is the answer.
        let flat = depths.windows(2).all(|pair| pair[0] == pair[1]);
        while !flat && 2 * length <= depths.len() {
            let half = &table[table.len() - 1];
            let row = (0..=depths.len() - 2 * length)
                .map(|start| {
                    let (left, right) = (half[start], half[start + length]);
                    if depths[left as usize] <= depths[right as usize] { left } else { right }
                })
                .collect();
            table.push(row);
            length *= 2;
        }
        Valleys { depths, table }
    }

    fn depth(&self, at: u32) -> u32 {
        self.depths[at as usize]
    }

    /// The first of the shallowest cuts from `first` to `last`, both included.
    fn lowest(&self, first: u32, last: u32) -> u32 {
        if self.table.len() == 1 {
            return first;
        }
        let power = (last - first + 1).ilog2();
        let row = &self.table[power as usize];
        let (left, right) = (row[first as usize], row[(last + 1 - (1 << power)) as usize]);
        if self.depth(left) <= self.depth(right) { left } else { right }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Hierarchy;

    fn tree(rows: &[&str]) -> Quasi {
        let rows: Vec<Vec<String>> = rows.iter().map(|row| row.split(';').map(String::from).collect()).collect();
        Quasi::new("place", Domain::Category(Hierarchy::from_rows(&rows).unwrap()))
    }

    #[test]
    fn a_category_is_cut_at_the_highest_level_between_two_values() {
        let quasi = tree(&["a;x;p;*", "b;x;p;*", "c;y;p;*", "d;z;q;*", "e;z;q;*"]);
        let axis = Axis::new(&quasi, true);
        let root = quasi.root();
        assert_eq!(axis.place(root, 0, 1), Some(CutPlace { level: 2, at: 0 }));
        assert_eq!(axis.place(root, 0, 2), Some(CutPlace { level: 1, at: 1 }));
        assert_eq!(axis.place(root, 0, 4), Some(CutPlace { level: 0, at: 2 }));
        // z is the only child of q, so the two are one node.
        assert_eq!(axis.place(root, 3, 4), Some(CutPlace { level: 1, at: 3 }));
    }

    #[test]
    fn the_shallowest_cut_is_the_first_of_its_depth() {
        let depths = vec![3, 1, 2, 1, 0, 2, 2, 0, 3];
        let valleys = Valleys::new(depths.clone());
        for first in 0..depths.len() {
            for last in first..depths.len() {
                let wanted = (first..=last).min_by_key(|&at| depths[at]).unwrap();
                assert_eq!(valleys.lowest(first as u32, last as u32), wanted as u32);
            }
        }
    }

    /// Five leaves, four steps. Losing a child of the root is half a gain: the root is still published.
    #[test]
    fn a_node_that_lost_children_costs_less_though_it_is_published_alike() {
        let mut quasi = tree(&["a;x;*", "b;x;*", "c;y;*", "d;z;*", "e;z;*"]);
        let axis = Axis::new(&quasi, false);
        let spans =
            [Span::new(0, 4), Span::new(0, 2), Span::new(1, 4), Span::new(2, 3), Span::new(0, 1), Span::exact(3)];
        let steps = |axis: &Axis, root: Span| spans.map(|span| axis.prospect(span) * 8 / axis.prospect(root));
        assert_eq!(steps(&axis, quasi.root()), [8, 6, 8, 6, 2, 0]);
        quasi.sets = true;
        let axis = Axis::new(&quasi, false);
        assert_eq!(steps(&axis, quasi.root()), [8, 4, 6, 2, 2, 0]);
    }

    #[test]
    fn numbers_are_cut_on_the_grid_and_not_too_narrow() {
        let mut quasi = Quasi::new("age", Domain::Integer { lo: 0, hi: 100 });
        let cut =
            |quasi: &Quasi, cell, left, right| Axis::new(quasi, true).place(cell, left, right).map(|place| place.at);
        assert_eq!(cut(&quasi, Span::new(0, 99), 20, 30), Some(20));
        quasi.grid = Grid::Every { pitch: 10, phase: 5 };
        assert_eq!(cut(&quasi, Span::new(0, 99), 1, 3), None);
        assert_eq!(cut(&quasi, Span::new(0, 99), 1, 7), Some(4));
        assert_eq!(cut(&quasi, Span::new(0, 99), 15, 30), Some(24));
        quasi.grid = Grid::Free;
        quasi.min_width = 15;
        assert_eq!(cut(&quasi, Span::new(0, 99), 5, 30), Some(14));
        assert_eq!(cut(&quasi, Span::new(0, 99), 90, 95), None);
        assert_eq!(cut(&quasi, Span::new(0, 28), 5, 20), None);
        assert_eq!(cut(&quasi, Span::new(0, 29), 5, 20), Some(14));
    }

    #[test]
    fn null_leaves_first_where_parts_are_printed() {
        let quasi = Quasi::new("age", Domain::Integer { lo: 0, hi: 10 }).nullable();
        let strict = Axis::new(&quasi, true);
        assert_eq!(strict.place(quasi.root(), 3, 10), Some(CutPlace { level: 0, at: 9 }));
        assert_eq!(strict.place(quasi.root(), 3, 5), None);
        assert_eq!(strict.place(Span::new(0, 9), 3, 5), Some(CutPlace { level: 1, at: 3 }));
        assert_eq!(Axis::new(&quasi, false).place(quasi.root(), 3, 5), Some(CutPlace { level: 1, at: 3 }));
    }
}
