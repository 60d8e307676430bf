//! Point location: which of many disjoint regions holds each person.
//!
//! Walking down the tree of cuts would be as slow as the tree is deep, and cuts are never undone: a
//! key that grows with time makes the tree a chain. So people and regions are divided together, each
//! time where both halves get few regions, whatever cuts made them. A region that a division runs
//! through stands on both sides. Since at most one region holds a person, the answer is that of the
//! tree.

use crate::model::{Regions, Row, Table};

/// So few regions are looked through one by one.
const FEW: usize = 8;

/// From how many regions on both sides of a division go to different threads.
const APART: usize = 1 << 12;

/// The region that holds each of `rows`, if any, in the order of `rows`.
pub(crate) fn locate(regions: &Regions, table: &Table, rows: &[Row]) -> Vec<Option<u32>> {
    let mut people: Vec<Person> = rows.iter().map(|&row| Person { row, region: NOWHERE }).collect();
    let all: Vec<u32> = (0..regions.len() as u32).collect();
    Search { regions, table }.divide(all, &mut people, 0);
    people.sort_unstable_by_key(|person| person.row);
    assert!(rows.is_sorted(), "rows are asked for in ascending order");
    people.iter().map(|person| (person.region != NOWHERE).then_some(person.region)).collect()
}

const NOWHERE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Person {
    row: Row,
    region: u32,
}

struct Search<'a> {
    regions: &'a Regions,
    table: &'a Table,
}

/// A way to divide regions: those that begin up to `at` go left, those that end after it go right.
#[derive(Clone, Copy)]
struct Division {
    attribute: usize,
    at: u32,
    /// The regions of the larger side.
    larger: usize,
    /// The regions on both sides.
    shared: usize,
}

impl Search<'_> {
    /// Answers for `people`, each of whom is in one of `regions` or in none; returns how deep it went.
    fn divide(&self, regions: Vec<u32>, people: &mut [Person], depth: u32) -> u32 {
        if people.is_empty() || regions.is_empty() {
            return depth;
        }
        let division = if regions.len() <= FEW { None } else { self.best_division(&regions) };
        let Some(Division { attribute, at, .. }) = division else {
            for person in people.iter_mut() {
                let found = regions.iter().find(|&&region| self.holds(region, person.row));
                person.region = found.copied().unwrap_or(NOWHERE);
            }
            return depth;
        };
        let span = |region: &u32| self.regions.get(*region as usize)[attribute];
        let left: Vec<u32> = regions.iter().copied().filter(|region| span(region).lo <= at).collect();
        let right: Vec<u32> = regions.iter().copied().filter(|region| span(region).hi > at).collect();
        let far = regions.len() >= APART;
        drop(regions);
        let codes = self.table.quasi(attribute);
        let middle = partition(people, |person| codes[person.row.index()] <= at);
        let (low, high) = people.split_at_mut(middle);
        let (a, b) = if far {
            rayon::join(|| self.divide(left, low, depth + 1), || self.divide(right, high, depth + 1))
        } else {
            (self.divide(left, low, depth + 1), self.divide(right, high, depth + 1))
        };
        a.max(b)
    }

    fn holds(&self, region: u32, row: Row) -> bool {
        let spans = self.regions.get(region as usize);
        spans.iter().enumerate().all(|(attribute, span)| span.contains(self.table.quasi(attribute)[row.index()]))
    }

    /// A division that runs through no region, if one is balanced enough; otherwise the one with the
    /// smallest larger side. `None` if every division leaves all regions on one side.
    fn best_division(&self, regions: &[u32]) -> Option<Division> {
        let mut clean: Option<Division> = None;
        let mut any: Option<Division> = None;
        for attribute in 0..self.regions.attributes() {
            self.each_division(regions, attribute, |division| {
                if division.shared == 0 && clean.is_none_or(|best| division.larger < best.larger) {
                    clean = Some(division);
                }
                let rank = (division.larger, division.shared);
                if division.larger < regions.len() && any.is_none_or(|best| rank < (best.larger, best.shared)) {
                    any = Some(division);
                }
            });
            if clean.is_some_and(|clean| 4 * clean.larger <= 3 * regions.len()) {
                return clean;
            }
        }
        clean.filter(|clean| 8 * clean.larger <= 7 * regions.len()).or(any)
    }

    /// Tells of every division along one attribute that falls on the end of a region.
    fn each_division(&self, regions: &[u32], attribute: usize, mut tell: impl FnMut(Division)) {
        let spans = || regions.iter().map(|&region| self.regions.get(region as usize)[attribute]);
        let lo = spans().map(|span| span.lo).min().expect("there are regions");
        let hi = spans().map(|span| span.hi).max().expect("there are regions");
        if spans().all(|span| span.lo == lo && span.hi == hi) {
            return;
        }
        let mut weigh = |at: u32, begun: usize, ended: usize| {
            let (left, right) = (begun, regions.len() - ended);
            tell(Division { attribute, at, larger: left.max(right), shared: begun - ended });
        };
        let width = (hi - lo) as usize + 1;
        if width <= 4 * regions.len() {
            let mut ends = vec![(0u32, 0u32); width];
            for span in spans() {
                ends[(span.lo - lo) as usize].0 += 1;
                ends[(span.hi - lo) as usize].1 += 1;
            }
            let (mut begun, mut ended) = (0, 0);
            for (offset, &(begin, end)) in ends.iter().enumerate() {
                begun += begin as usize;
                ended += end as usize;
                if end > 0 {
                    weigh(lo + offset as u32, begun, ended);
                }
            }
        } else {
            let mut begins: Vec<u32> = spans().map(|span| span.lo).collect();
            let mut ends: Vec<u32> = spans().map(|span| span.hi).collect();
            begins.sort_unstable();
            ends.sort_unstable();
            let (mut begun, mut ended) = (0, 0);
            for run in ends.chunk_by(|a, b| a == b) {
                ended += run.len();
                begun += begins[begun..].partition_point(|&begin| begin <= run[0]);
                weigh(run[0], begun, ended);
            }
        }
    }
}

/// Puts the people on the left before the others, and says how many they are.
fn partition(people: &mut [Person], is_left: impl Fn(&Person) -> bool) -> usize {
    let mut left = 0;
    for index in 0..people.len() {
        if is_left(&people[index]) {
            people.swap(left, index);
            left += 1;
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{RecordKey, Rng, Span, Value, Values};

    const SIZE: u32 = 1 << 20;

    fn table(columns: Vec<Vec<u32>>) -> Table {
        let rows = columns[0].len();
        let keys = (0..rows as u64).map(|row| RecordKey { hi: row, lo: 0 }).collect();
        Table::new(keys, columns, vec![Value(0); rows], Values::of(["x"]), Vec::new(), Vec::new())
    }

    fn regions(boxes: &[[Span; 2]]) -> Regions {
        let mut regions = Regions::new(2);
        boxes.iter().for_each(|region| regions.push(region));
        regions
    }

    /// Compares with looking through all regions, and returns the depth.
    fn check(regions: &Regions, rng: &mut Rng) -> u32 {
        let columns = (0..2).map(|_| (0..500).map(|_| rng.below(u64::from(SIZE)) as u32).collect()).collect();
        let table = table(columns);
        let rows: Vec<Row> = table.rows().collect();
        let search = Search { regions, table: &table };
        for (row, found) in rows.iter().zip(locate(regions, &table, &rows)) {
            assert_eq!(found, (0..regions.len() as u32).find(|&region| search.holds(region, *row)));
        }
        let mut people: Vec<Person> = rows.iter().map(|&row| Person { row, region: NOWHERE }).collect();
        search.divide((0..regions.len() as u32).collect(), &mut people, 0)
    }

    /// Cells as they arise: a random cell is cut at random, again and again.
    /// science E1-11: the same cell as by walking down the tree.
    #[test]
    fn finds_the_cell_that_the_tree_would_find() {
        let mut rng = Rng::from_number(5);
        let mut boxes = vec![[Span::new(0, SIZE - 1); 2]];
        for _ in 0..2000 {
            let index = rng.below(boxes.len() as u64) as usize;
            let attribute = rng.below(2) as usize;
            let span = boxes[index][attribute];
            if span.width() < 2 {
                continue;
            }
            let at = span.lo + rng.below(u64::from(span.width() - 1)) as u32;
            let mut right = boxes[index];
            right[attribute].lo = at + 1;
            boxes[index][attribute].hi = at;
            boxes.push(right);
        }
        boxes.retain(|_| rng.below(10) > 0);
        check(&regions(&boxes), &mut rng);
    }

    /// A key that grows with time always cuts the last cell: the tree is a chain.
    #[test]
    fn a_chain_of_cuts_is_searched_in_logarithmic_depth() {
        let mut rng = Rng::from_number(6);
        let slab = |slice: u32| [Span::new(slice * 256, slice * 256 + 255), Span::new(0, SIZE - 1)];
        let boxes: Vec<[Span; 2]> = (0..SIZE / 256).map(slab).collect();
        assert!(check(&regions(&boxes), &mut rng) <= 12);
    }

    /// Two keys that grow together: every cut leaves a thin slab and a corner, by turns.
    #[test]
    fn a_corner_cut_by_turns_is_searched_in_logarithmic_depth() {
        let mut rng = Rng::from_number(7);
        let mut corner = [Span::new(0, SIZE - 1); 2];
        let mut boxes = Vec::new();
        for turn in 0..2000 {
            let mut slab = corner;
            slab[turn % 2].hi = slab[turn % 2].lo + 511;
            corner[turn % 2].lo += 512;
            boxes.push(slab);
        }
        boxes.push(corner);
        assert!(check(&regions(&boxes), &mut rng) <= 4 * 11);
    }
}
