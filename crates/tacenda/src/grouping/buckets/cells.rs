//! Cells: the table is cut by quasi codes, independently of who has which value. Each cell is dealt into its own
//! buckets.
//!
//! A node is cut only if its smaller side has at least `m` times as many people as the node's most frequent value has
//! holders. So every cell can be divided into groups of `m` values, and exchanging values inside a node changes no cut
//! (science A3.11-d).

use crate::grouping::buckets::Bucket;
use crate::grouping::buckets::assign::assign;
use crate::grouping::buckets::deal::Deck;
use crate::model::{Grouping, Lots, Quasi, Row, Schema, Table};
use std::cmp::Reverse;

/// A cut that could be made.
pub struct Cut {
    /// The rows of both sides.
    pub sides: [Vec<u32>; 2],
    /// How many people of both sides have the most frequent value of the node.
    pub most: u64,
}

/// Whether a cut may be made if a group needs `m` values.
pub type MayCut = fn(cut: &Cut, table: &Table, m: u64) -> bool;

/// Uses the histogram of the node, never that of one side.
pub fn by_own_histogram(cut: &Cut, _: &Table, m: u64) -> bool {
    cut.most * m <= cut.sides.iter().map(Vec::len).min().unwrap_or(0) as u64
}

/// Cuts `rows` into cells, and deals the people of each cell into buckets by lot.
pub fn dealt_in_cells(
    schema: &Schema,
    table: &Table,
    rows: Vec<u32>,
    lots: &Lots,
    m: u64,
    may_cut: MayCut,
) -> Vec<Bucket> {
    let deal = |cell: Vec<u32>| {
        let mut people = vec![Vec::new(); table.values.len()];
        cell.iter().for_each(|&row| people[table.sensitive()[row as usize].index()].push(row));
        let counts: Vec<u64> = people.iter().map(|rows| rows.len() as u64).collect();
        Deck::new(people, table.keys(), lots).deal_new(&assign(&counts, m))
    };
    cells(schema, table, rows, m, may_cut).into_iter().flat_map(deal).collect()
}

/// Makes every copy of a bucket a group. The people of a bucket are in the order of lots, so those of a copy are drawn
/// at random.
pub fn draw(buckets: &[Bucket], grouping: &mut Grouping) {
    let mut group = Vec::new();
    for bucket in buckets {
        for copy in 0..bucket.copies as usize {
            group.clear();
            group.extend(bucket.lists.iter().map(|list| Row(list[copy])));
            grouping.push(&group, &[]);
        }
    }
}

fn cells(schema: &Schema, table: &Table, rows: Vec<u32>, m: u64, may_cut: MayCut) -> Vec<Vec<u32>> {
    let (mut cells, mut open) = (Vec::new(), vec![rows]);
    let mut counts = vec![0; table.values.len()];
    while let Some(node) = open.pop() {
        match cut(schema, table, &node, m, may_cut, &mut counts) {
            Some([left, right]) => open.extend([right, left]),
            None => cells.push(node),
        }
    }
    cells
}

/// Cuts a node at the median of an attribute, if that is allowed. The attribute whose published span is widest is tried
/// first.
fn cut(
    schema: &Schema,
    table: &Table,
    node: &[u32],
    m: u64,
    may_cut: MayCut,
    counts: &mut [u64],
) -> Option<[Vec<u32>; 2]> {
    let most = most_frequent(table, node, counts);
    let bounds = |attribute: usize| {
        let codes = || node.iter().map(|&row| table.quasi(attribute)[row as usize]);
        (codes().min().unwrap_or(0), codes().max().unwrap_or(0))
    };
    widest_first(schema, bounds).into_iter().find_map(|attribute| {
        let column = table.quasi(attribute);
        let mut codes: Vec<u32> = node.iter().map(|&row| column[row as usize]).collect();
        let middle = codes.len() / 2;
        let median = *codes.select_nth_unstable(middle).1;
        // Equal codes stay together, on the side of the median that gives the more even cut.
        let smaller = |bound: u64| {
            let below = node.iter().filter(|&&row| u64::from(column[row as usize]) < bound).count();
            below.min(node.len() - below)
        };
        let bounds = [u64::from(median), u64::from(median) + 1];
        let bound = bounds.into_iter().max_by_key(|&bound| (smaller(bound), Reverse(bound)))?;
        let (left, right): (Vec<u32>, Vec<u32>) =
            node.iter().partition(|&&row| u64::from(column[row as usize]) < bound);
        let cut = Cut { sides: [left, right], most };
        let is_cut = cut.sides.iter().all(|side| !side.is_empty()) && may_cut(&cut, table, m);
        is_cut.then_some(cut.sides)
    })
}

/// The attributes that can be cut, the one whose published span is widest first. `bounds` has the lowest and the highest code
/// of each.
fn widest_first(schema: &Schema, bounds: impl Fn(usize) -> (u32, u32)) -> Vec<usize> {
    let width = |(attribute, quasi): (usize, &Quasi)| {
        let (lo, hi) = bounds(attribute);
        // The width as published, so that the cut is made where it helps most. If all codes are equal, there is nothing to
        // cut.
        let width = if lo == hi { 0 } else { u64::from(quasi.cover_width(lo, hi) - 1) };
        // The share of the domain, in whole numbers.
        (Reverse((width << 32) / u64::from(quasi.size().max(2) - 1)), attribute)
    };
    let mut widths: Vec<(Reverse<u64>, usize)> = schema.quasi.iter().enumerate().map(width).collect();
    widths.retain(|(width, _)| width.0 > 0);
    widths.sort_unstable();
    widths.into_iter().map(|(_, attribute)| attribute).collect()
}

/// The same cut from counts alone: per attribute and code how many people have it, and how often the most frequent value
/// occurs. Returns the attribute and the last code of the left side.
pub(in crate::grouping) fn cut_counted(
    schema: &Schema,
    people: u64,
    columns: &[&[u32]],
    most: u64,
    m: u64,
) -> Option<(usize, u32)> {
    let bounds = |attribute: usize| {
        let occurs = |&count: &u32| count > 0;
        let column = columns[attribute];
        let first = column.iter().position(occurs).unwrap_or(0);
        (first as u32, column.iter().rposition(occurs).unwrap_or(0) as u32)
    };
    widest_first(schema, bounds).into_iter().find_map(|attribute| {
        let column = columns[attribute];
        let (mut below, mut median) = (0, 0);
        for (code, &count) in column.iter().enumerate() {
            if below + u64::from(count) > people / 2 {
                median = code;
                break;
            }
            below += u64::from(count);
        }
        // Before the median, or behind it: the more even cut, the first of two.
        let behind = below + u64::from(column[median]);
        let smaller = |left: u64| left.min(people - left);
        let (left, at) =
            if smaller(behind) > smaller(below) { (behind, median) } else { (below, median.wrapping_sub(1)) };
        (left > 0 && left < people && most * m <= smaller(left)).then_some((attribute, at as u32))
    })
}

/// How many of these rows have their most frequent value. `counts` is all zeros before and after.
fn most_frequent(table: &Table, rows: &[u32], counts: &mut [u64]) -> u64 {
    let values = || rows.iter().map(|&row| table.sensitive()[row as usize].index());
    values().for_each(|value| counts[value] += 1);
    let most = values().map(|value| counts[value]).max().unwrap_or(0);
    values().for_each(|value| counts[value] = 0);
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};

    /// Two neighbouring leaves under different halves are published as `*`, which is wider than a third of the numbers.
    /// After either cut no second one is allowed, so the result shows which came first.
    #[test]
    fn a_node_is_cut_where_its_region_would_be_published_widest() {
        let person = |id: u32| {
            let (leaf, number) = (5 + id % 2, 30 * (id / 2 % 2) + id % 3);
            (u64::from(id), vec![number, leaf], id % 4)
        };
        let people: Vec<SnapshotRow> = (0..48).map(person).collect();
        let table = table(&values(4), 2, &people);
        let mut grouping = Grouping::default();
        let rows = (0..48).collect();
        let (schema, lots) = (schema_with_tree(&[100]), Lots::from_number(1));
        draw(&dealt_in_cells(&schema, &table, rows, &lots, 2, by_own_histogram), &mut grouping);
        assert_eq!(grouping.len(), 24);
        let leaf = |row: &Row| table.quasi(1)[row.index()];
        assert!(grouping.groups().all(|group| leaf(&group.rows[0]) == leaf(&group.rows[1])));
    }
}
