//! Paper 002 as printed, with its gaps filled as in science A2.2. It is for study, because it breaks its promise.
//!
//! Newcomers form classes of their own while they have `l` different values. The others join the class that holds their
//! value and widens least. Classes in which every value occurs twice are divided. All loops are plain, because the
//! tables studied are small.

use crate::grouping::GroupingError;
use crate::model::{Grouping, History, Row, Schema, Span, Table, Value};
use crate::promise::series::incremental_l_diversity::group::last_groups;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Groups `table` by the paper's algorithm.
pub fn group(l: u32, schema: &Schema, history: &History, table: &Table) -> Result<Grouping, GroupingError> {
    let space = Space { schema, table };
    let (mut classes, mut newcomers) = last_groups(history, table);
    let found = space.values(&newcomers).len();
    if classes.is_empty() && found < l as usize && !newcomers.is_empty() {
        return Err(GroupingError::TooFewValues { found, wanted: l });
    }
    let first = classes.is_empty();
    space.open_classes(l, &mut newcomers, &mut classes);
    let mut withheld = Vec::new();
    for row in newcomers {
        // In the first release there is no set of values to keep, so leftovers may go anywhere.
        match space.nearest_class(row, &classes, first) {
            Some(class) => classes[class].push(row),
            None => withheld.push(Row(row)),
        }
    }
    let mut grouping = Grouping::default();
    for class in classes {
        for part in space.divide(class) {
            grouping.push(&part.into_iter().map(Row).collect::<Vec<_>>(), &[]);
        }
    }
    grouping.withheld = withheld;
    Ok(grouping)
}

/// The rows with their places and values.
struct Space<'a> {
    schema: &'a Schema,
    table: &'a Table,
}

impl Space<'_> {
    fn value(&self, row: u32) -> Value {
        self.table.sensitive()[row as usize]
    }

    fn values(&self, rows: &[u32]) -> BTreeSet<Value> {
        rows.iter().map(|&row| self.value(row)).collect()
    }

    /// The loss of a class: its size times the weighted width of its region, in fixed point.
    fn loss(&self, rows: &[u32]) -> u64 {
        let widths = self.schema.quasi.iter().enumerate().map(|(attribute, quasi)| {
            let column = self.table.quasi(attribute);
            let codes = rows.iter().map(|&row| Span::exact(column[row as usize]));
            let span = codes.reduce(Span::join).unwrap_or(Span::EMPTY);
            let (width, most) = match quasi.hierarchy() {
                Some(_) if span.is_empty() => (0, 1),
                Some(tree) => (tree.cover_height(span), tree.height()),
                None => (span.width().saturating_sub(1), quasi.size() - 1),
            };
            (quasi.weight * f64::from(1u32 << 24) * f64::from(width) / f64::from(most.max(1))).round() as u64
        });
        widths.sum::<u64>() * rows.len() as u64
    }

    /// The additional loss of a class when `row` joins.
    fn increase(&self, class: &[u32], row: u32) -> u64 {
        let mut with = class.to_vec();
        with.push(row);
        self.loss(&with) - self.loss(class)
    }

    /// Opens classes of `l` values from `pool` while it has that many. Each starts at the record farthest from the last
    /// one; records whose value no class holds come first.
    fn open_classes(&self, l: u32, pool: &mut Vec<u32>, classes: &mut Vec<Vec<u32>>) {
        let mut last = pool.first().copied();
        while self.values(pool).len() >= l as usize {
            let held: BTreeSet<Value> = classes.iter().flat_map(|class| self.values(class)).collect();
            let from = last.expect("the pool is not empty");
            let seed = (0..pool.len())
                .max_by_key(|&index| {
                    let row = pool[index];
                    (!classes.is_empty() && !held.contains(&self.value(row)), self.loss(&[from, row]), Reverse(index))
                })
                .expect("the pool is not empty");
            let mut class = vec![pool.remove(seed)];
            while class.len() < l as usize {
                class.push(pool.remove(self.next_member(&class, pool)));
            }
            last = class.last().copied();
            classes.push(class);
        }
    }

    /// The next member of a class that is being opened: the nearest record with the most frequent value that the class
    /// lacks.
    fn next_member(&self, class: &[u32], pool: &[u32]) -> usize {
        let held = self.values(class);
        let mut counts: BTreeMap<Value, usize> = BTreeMap::new();
        pool.iter().map(|&row| self.value(row)).for_each(|value| *counts.entry(value).or_default() += 1);
        counts.retain(|value, _| !held.contains(value));
        let most = counts.values().copied().max().expect("the pool has l values");
        // Only these can win, so the loss of the others need not be computed.
        (0..pool.len())
            .filter(|&index| counts.get(&self.value(pool[index])) == Some(&most))
            .min_by_key(|&index| (self.increase(class, pool[index]), index))
            .expect("the pool has l values")
    }

    /// The class that holds the row's value and widens least; any class with `anywhere`.
    fn nearest_class(&self, row: u32, classes: &[Vec<u32>], anywhere: bool) -> Option<usize> {
        (0..classes.len())
            .filter(|&index| anywhere || self.values(&classes[index]).contains(&self.value(row)))
            .min_by_key(|&index| (self.increase(&classes[index], row), index))
    }

    /// Divides a class while every value occurs twice. Half of the rows of each value go to either side, along the
    /// attribute with the least loss.
    fn divide(&self, class: Vec<u32>) -> Vec<Vec<u32>> {
        let mut lists: BTreeMap<Value, Vec<u32>> = BTreeMap::new();
        class.iter().for_each(|&row| lists.entry(self.value(row)).or_default().push(row));
        if lists.values().any(|list| list.len() < 2) {
            return vec![class];
        }
        let halves = |attribute: usize| {
            let column = self.table.quasi(attribute);
            let (mut left, mut right) = (Vec::new(), Vec::new());
            for list in lists.values() {
                let mut list = list.clone();
                list.sort_by_key(|&row| (column[row as usize], row));
                let middle = list.len().div_ceil(2);
                left.extend_from_slice(&list[..middle]);
                right.extend_from_slice(&list[middle..]);
            }
            (left, right)
        };
        let best =
            (0..self.schema.quasi.len()).map(halves).min_by_key(|(left, right)| self.loss(left) + self.loss(right));
        let Some((left, right)) = best else { return vec![class] };
        let mut parts = self.divide(left);
        parts.append(&mut self.divide(right));
        parts
    }
}
