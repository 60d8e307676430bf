//! Counts of people that are published beside the rows: column by column, in cells that never change.
//!
//! A cell is a leaf of a category or a node so many steps below the root of a large tree, a band of numbers, or some months. The cells of a column are fixed when it is
//! counted for the first time. They follow from the declared domain and grid alone. A domain that grows adds cells.
//!
//! A count is never exact. The running totals of a column are rounded to the nearest multiple of a unit, and a cell
//! shows by how much they rise in it. So every published count, every sum of counts, and every change between any two
//! releases is a multiple of the unit: 0 or at least the unit. The total over any run of neighbouring cells is less
//! than a unit away from the truth.

use crate::model::{Domain, Grid, Hierarchy, Quasi, Schema, Span};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The least unit, whatever is promised.
pub const LEAST_UNIT: u32 = 5;

/// The most cells of a column when it is first counted. A larger tree is counted by nodes, numbers and dates by wider bands. A
/// list with more values is not counted.
const MOST_CELLS: u32 = 1000;

/// How a column is divided into cells. Missing values are a cell of their own.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellRule {
    /// Every leaf of a category.
    Leaves,
    /// The nodes so many steps below the root of a tree, and the leaves above them.
    Nodes(u32),
    /// Bands of this many values, starting at a line of the grid or at zero.
    Bands(u32),
    /// Bands of this many months, starting in January.
    Months(u32),
}

/// The published counts of a release.
#[derive(Clone, Debug, Default, Eq, PartialEq, Serialize, Deserialize)]
pub struct PeopleCounts {
    /// Every number is a multiple of this.
    pub unit: u32,
    /// The counted columns, in the order of the schema.
    pub columns: Vec<CountedColumn>,
}

/// The counts of one quasi column.
#[derive(Clone, Debug, Eq, PartialEq, Serialize, Deserialize)]
pub struct CountedColumn {
    /// Its name.
    pub name: String,
    /// Its cells.
    pub rule: CellRule,
    /// The cells that show more than 0, ascending, and what they show.
    #[serde(with = "cells")]
    pub cells: Vec<(Span, u64)>,
}

/// How many people have each code, ascending; codes that nobody has are left out. `size` bounds the codes.
pub fn people_by_code(codes: impl ExactSizeIterator<Item = u32>, size: u32) -> Vec<(u32, u64)> {
    // A domain that is much larger than the table gets no array of all codes.
    if size as usize > 4 * codes.len() {
        let mut people = BTreeMap::new();
        codes.for_each(|code| *people.entry(code).or_insert(0) += 1);
        return people.into_iter().collect();
    }
    let mut people = vec![0; size as usize];
    codes.for_each(|code| people[code as usize] += 1);
    (0..).zip(people).filter(|&(_, people)| people > 0).collect()
}

impl PeopleCounts {
    /// The unit of the next release: at least what the promise asks for, and a multiple of the unit before, so that
    /// changes between any two releases stay multiples of the first.
    pub fn next_unit(least: u32, before: Option<u32>) -> u32 {
        let least = least.max(LEAST_UNIT);
        before.map_or(least, |before| least.max(before).div_ceil(before) * before)
    }

    /// A running total as it is shown: the nearest multiple of the unit, the higher of two.
    pub fn rounded(total: u64, unit: u32) -> u64 {
        let unit = u64::from(unit);
        (total + unit / 2) / unit * unit
    }

    /// The counts of a column.
    pub fn column(&self, name: &str) -> Option<&CountedColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The same counts with the codes of other attributes: `moved` says where a span of a column is now.
    pub fn moved(mut self, moved: impl Fn(&str, Span) -> Span) -> PeopleCounts {
        for column in &mut self.columns {
            column.cells.iter_mut().for_each(|(span, _)| *span = moved(&column.name, *span));
            column.cells.sort_unstable();
        }
        self
    }

    /// The cells of a column, in words.
    pub fn describe(rule: CellRule) -> String {
        match rule {
            CellRule::Leaves => "each value".into(),
            CellRule::Nodes(1) => "the groups below the root of its hierarchy".into(),
            CellRule::Nodes(depth) => format!("the groups {depth} steps below the root of its hierarchy"),
            CellRule::Bands(1) => "each number".into(),
            CellRule::Bands(width) => format!("bands of {width}"),
            CellRule::Months(1) => "months".into(),
            CellRule::Months(12) => "years".into(),
            CellRule::Months(months) if months % 12 == 0 => format!("bands of {} years", months / 12),
            CellRule::Months(months) => format!("bands of {months} months"),
        }
    }
}

impl Schema {
    /// A quasi attribute by its name.
    pub fn quasi_named(&self, name: &str) -> Option<(usize, &Quasi)> {
        self.quasi.iter().enumerate().find(|(_, quasi)| quasi.name == name)
    }
}

impl Quasi {
    /// How this column is counted if it was not counted before; `None` if it cannot be: see [`Quasi::not_counted_because`].
    pub fn cell_rule(&self) -> Option<CellRule> {
        let numbers = self.size() - u32::from(self.nullable);
        match (&self.domain, &self.grid) {
            (Domain::Category(tree), _) => self.node_rule(tree),
            (Domain::Date { .. }, Grid::Lines(_)) => self.month_rule(),
            (Domain::Date { .. }, Grid::Free) if numbers > MOST_CELLS => self.month_rule(),
            _ => {
                let (base, _) = self.lines();
                let fits = |width: &u32| *width >= self.min_width && numbers.div_ceil(*width) <= MOST_CELLS;
                let steps = (0..9).flat_map(|power| [1u32, 2, 5].map(|step| step * 10u32.pow(power)));
                steps.filter_map(|step| base.checked_mul(step)).find(fits).map(CellRule::Bands)
            }
        }
    }

    /// Leaves, or the lowest nodes that are not too many. A node stays where it is when its tree grows.
    fn node_rule(&self, tree: &Hierarchy) -> Option<CellRule> {
        if self.min_width > 1 {
            return None;
        }
        if self.size() <= MOST_CELLS {
            return Some(CellRule::Leaves);
        }
        let fits = |&depth: &u32| tree.cut(depth).len() <= MOST_CELLS as usize;
        (1..tree.height()).rev().find(fits).map(CellRule::Nodes)
    }

    /// Why a column with neither earlier counts nor a rule is not counted.
    pub fn not_counted_because(&self) -> Option<&'static str> {
        match (self.cell_rule(), &self.domain) {
            (Some(_), _) => None,
            (None, Domain::Category(_)) if self.min_width > 1 => Some("min_width allows no count of a single value"),
            (None, Domain::Category(_)) => Some("it lists more than 1,000 values without groups of them"),
            (None, _) => Some("its grid and min_width leave no cells that are few enough"),
        }
    }

    /// The smallest bands of months that keep grid and least width and are not too many.
    fn month_rule(&self) -> Option<CellRule> {
        let keeps = |rule: &CellRule| {
            let cells = self.cells(*rule);
            // The ends of the domain may cut a cell short.
            let inner = cells.get(1..cells.len().saturating_sub(1)).unwrap_or_default();
            cells.len() <= MOST_CELLS as usize
                && cells.iter().all(|&cell| self.null() == Some(cell.lo) || self.on_lines(cell))
                && inner.iter().all(|cell| cell.width() >= self.min_width || self.null() == Some(cell.lo))
        };
        [1, 3, 6, 12, 60, 120, 1200].map(CellRule::Months).into_iter().find(keeps)
    }

    /// Whether both ends of a span of numbers are lines of the grid.
    fn on_lines(&self, span: Span) -> bool {
        let numbers = self.size() - u32::from(self.nullable);
        match &self.grid {
            Grid::Lines(lines) => {
                let is_line = |code: u32| code == 0 || code == numbers || lines.binary_search(&code).is_ok();
                is_line(span.lo) && is_line(span.hi + 1)
            }
            _ => true,
        }
    }

    /// The distance of the lines that bands keep to, and the absolute place of one of them.
    fn lines(&self) -> (u32, i64) {
        let lo = self.lowest();
        match &self.grid {
            Grid::Every { pitch, phase } => (*pitch, lo + i64::from(*phase)),
            _ if self.min_width > 1 => (self.min_width, lo),
            _ => (1, 0),
        }
    }

    fn lowest(&self) -> i64 {
        match &self.domain {
            Domain::Integer { lo, .. } | Domain::Real { lo, .. } | Domain::Date { lo, .. } => *lo,
            Domain::Category(_) => 0,
        }
    }

    /// All cells of this column, ascending: they cover every code once.
    pub fn cells(&self, rule: CellRule) -> Vec<Span> {
        let numbers = self.size() - u32::from(self.nullable && self.hierarchy().is_none());
        let starts: Vec<u32> = match rule {
            CellRule::Leaves => (0..numbers).collect(),
            CellRule::Nodes(depth) => self.hierarchy().map_or_else(Vec::new, |tree| tree.cut(depth)),
            CellRule::Bands(width) => {
                let (pitch, line) = self.lines();
                let anchor = line.rem_euclid(i64::from(pitch.max(1)));
                let first = (anchor - self.lowest()).rem_euclid(i64::from(width.max(1))) as u32;
                std::iter::once(0).chain((first..numbers).step_by(width.max(1) as usize)).collect()
            }
            CellRule::Months(months) => {
                let starts = self.month_starts(months);
                std::iter::once(0).chain(starts.into_iter().filter(|&start| start < numbers)).collect()
            }
        };
        let mut starts = starts;
        starts.dedup();
        let ends = starts.iter().skip(1).copied().chain([numbers]);
        let mut cells: Vec<Span> = starts.iter().zip(ends).map(|(&lo, end)| Span::new(lo, end - 1)).collect();
        if numbers < self.size() {
            cells.push(Span::exact(numbers));
        }
        cells
    }
}

/// Cells in the vault: three numbers each.
mod cells {
    use crate::model::Span;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(cells: &[(Span, u64)], to: S) -> Result<S::Ok, S::Error> {
        cells.iter().map(|(span, people)| (span.lo, span.hi, *people)).collect::<Vec<_>>().serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Span, u64)>, D::Error> {
        let cells = Vec::<(u32, u32, u64)>::deserialize(from)?;
        Ok(cells.into_iter().map(|(lo, hi, people)| (Span { lo, hi }, people)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn age(lo: i64, hi: i64) -> Quasi {
        Quasi::new("age", Domain::Integer { lo, hi })
    }

    fn printed(attribute: &Quasi, cells: &[Span]) -> Vec<String> {
        let print = |&cell: &Span| {
            let mut text = String::new();
            attribute.print(cell, &mut text);
            text
        };
        cells.iter().map(print).collect()
    }

    #[test]
    fn cells_stay_where_they_are_when_a_domain_grows() {
        let rule = CellRule::Bands(5);
        assert_eq!(printed(&age(12, 22), &age(12, 22).cells(rule)), ["[12,15)", "[15,20)", "[20,22)"]);
        assert_eq!(printed(&age(3, 25), &age(3, 25).cells(rule)), ["[3,5)", "[5,10)", "[10,15)", "[15,20)", "[20,25)"]);
        let gridded = |lo: i64, hi: i64| Quasi {
            grid: Grid::Every { pitch: 5, phase: (2 - lo).rem_euclid(5) as u32 },
            ..age(lo, hi)
        };
        assert_eq!(gridded(7, 27).cell_rule(), Some(CellRule::Bands(5)));
        assert_eq!(
            printed(&gridded(7, 27), &gridded(7, 27).cells(CellRule::Bands(10))),
            ["[7,12)", "[12,22)", "[22,27)"]
        );
        assert_eq!(
            printed(&gridded(2, 32), &gridded(2, 32).cells(CellRule::Bands(10))),
            ["[2,12)", "[12,22)", "[22,32)"]
        );
    }

    #[test]
    fn months_and_missing_values_are_cells() {
        // 1990-01-01 to 1991-01-01.
        let mut day = Quasi::new("day", Domain::Date { lo: 7305, hi: 7670 }).nullable();
        assert_eq!(day.cell_rule(), Some(CellRule::Bands(1)));
        let quarters = printed(&day, &day.cells(CellRule::Months(3)));
        assert_eq!(quarters[0], "[1990-01-01,1990-04-01)");
        assert_eq!((quarters.len(), quarters[4].as_str()), (5, ""));
        day.grid = Grid::Lines(vec![0]);
        assert_eq!(day.cell_rule(), Some(CellRule::Months(12)), "a grid of years has no months");
        day.grid = Grid::Lines(vec![0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334]);
        assert_eq!(day.cell_rule(), Some(CellRule::Months(1)));
    }

    #[test]
    fn a_category_is_counted_by_its_leaves_unless_it_may_not() {
        let mut place = Quasi::new("place", Domain::Category(Hierarchy::flat(["a", "b"]).unwrap())).nullable();
        assert_eq!(place.cell_rule(), Some(CellRule::Leaves));
        assert_eq!(place.cells(CellRule::Leaves).len(), 3);
        place.min_width = 2;
        assert_eq!(place.cell_rule(), None);
        assert!(place.not_counted_because().unwrap().contains("min_width"));
    }

    /// Prefixes of 2,400 codes: too many leaves, and few enough nodes. A tree that grows keeps the cells that it had.
    #[test]
    fn a_large_tree_is_counted_by_its_nodes() {
        let tree = |codes: std::ops::Range<u32>| {
            let row =
                |code: u32| vec![format!("{code}"), format!("{}*", code / 10), format!("{}**", code / 100), "*".into()];
            let mut rows: Vec<Vec<String>> = codes.map(row).collect();
            rows.push(["other", "other", "other", "*"].map(String::from).to_vec());
            Hierarchy::from_rows(&rows).unwrap()
        };
        let zip = |tree: Hierarchy| Quasi::new("zip", Domain::Category(tree)).nullable();
        let before = zip(tree(1000..3400));
        assert_eq!(before.cell_rule(), Some(CellRule::Nodes(2)));
        let cells = before.cells(CellRule::Nodes(2));
        assert_eq!(cells.len(), 242, "240 nodes, other, and missing values");
        assert_eq!(printed(&before, &cells[..2]), ["100*", "101*"]);
        assert_eq!(printed(&before, &cells[240..]), ["other", ""]);
        assert_eq!(before.read("100*"), Some(cells[0]));
        let after = zip(tree(1000..3600)).grown(&before).unwrap();
        let grown = after.cells(CellRule::Nodes(2));
        assert_eq!(grown.len(), 262);
        let moved = after.recoding_from(&before);
        let kept: Vec<Span> = cells.iter().map(|&cell| moved.span(cell)).collect();
        assert!(kept.iter().all(|cell| grown.contains(cell)), "{kept:?}");
        let list = Quasi::new("code", Domain::Category(Hierarchy::flat((0..1500).map(|n| n.to_string())).unwrap()));
        assert_eq!(list.cell_rule(), None);
        assert!(list.not_counted_because().unwrap().contains("1,000 values"));
    }

    #[test]
    fn a_unit_only_grows_by_whole_units() {
        assert_eq!(PeopleCounts::next_unit(3, None), LEAST_UNIT);
        assert_eq!([PeopleCounts::next_unit(7, Some(5)), PeopleCounts::next_unit(3, Some(10))], [10, 10]);
        assert_eq!([2, 3, 7, 8].map(|total| PeopleCounts::rounded(total, 5)), [0, 5, 5, 10]);
    }
}
