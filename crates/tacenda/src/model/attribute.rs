//! A quasi attribute: ordered codes for its values, and the spans of them that may be published.
//!
//! Numbers and dates are numbered by value from the declared domain's lower end, hierarchy leaves from left to right.
//! If missing values are allowed, the last code is NULL, an ordinary leaf. A span that holds both NULL and a number is
//! published as the root.

use crate::model::{DatePattern, Hierarchy, Span};
use serde::{Deserialize, Serialize};

/// A quasi attribute as the policy file declares it.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct Quasi {
    /// The column's name.
    pub name: String,
    /// The values it may have.
    pub domain: Domain,
    /// Whether a value may be missing; then the last code is NULL.
    pub nullable: bool,
    /// Where published boundaries may lie.
    pub grid: Grid,
    /// The least number of values a published span covers.
    pub min_width: u32,
    /// How much its precision counts, 1.0 unless the policy file says otherwise.
    pub weight: f64,
    /// Whether a category's values that are not listed are read as the leaf [`OTHER`].
    pub takes_unknown: bool,
    /// Whether the values of a tree are published as sets of neighbouring leaves. Otherwise nodes are published.
    pub sets: bool,
    /// How the source writes dates, if not like 2025-12-31. Releases never use this form.
    pub written: Option<DatePattern>,
}

/// The leaf of values that are not listed.
pub const OTHER: &str = "other";

/// The declared values of an attribute. Intervals are half open, `[lo, hi)`.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Domain {
    /// Whole numbers.
    Integer {
        /// The lowest value.
        lo: i64,
        /// One past the highest value.
        hi: i64,
    },
    /// Numbers with a fixed number of decimals, counted in units of the last one. A value between
    /// two units is read as the lower one.
    Real {
        /// The lowest value, in units.
        lo: i64,
        /// One past the highest value, in units.
        hi: i64,
        /// How many decimals a unit has.
        decimals: u8,
    },
    /// Days, counted from 1970-01-01.
    Date {
        /// The first day.
        lo: i64,
        /// One past the last day.
        hi: i64,
    },
    /// Labels in a tree. If the attribute is nullable, the tree has a leaf NULL.
    Category(Hierarchy),
}

/// The public lines that published boundaries fall on. The domain's ends always count as lines.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub enum Grid {
    /// Every code is a line.
    Free,
    /// Codes that leave `phase` when divided by `pitch`.
    Every {
        /// The distance between lines.
        pitch: u32,
        /// The first line.
        phase: u32,
    },
    /// The given codes, ascending: months or years.
    Lines(Vec<u32>),
}

impl Quasi {
    /// A plain attribute over `domain`: no grid, no least width, weight 1, nothing missing.
    pub fn new(name: &str, domain: Domain) -> Quasi {
        Quasi {
            name: name.into(),
            domain,
            nullable: false,
            grid: Grid::Free,
            min_width: 1,
            weight: 1.0,
            takes_unknown: false,
            sets: false,
            written: None,
        }
    }

    /// The same attribute with missing values allowed.
    pub fn nullable(mut self) -> Quasi {
        self.nullable = true;
        if let Domain::Category(tree) = self.domain {
            self.domain = Domain::Category(tree.with_null());
        }
        self
    }

    /// How many codes there are, NULL included.
    pub fn size(&self) -> u32 {
        match &self.domain {
            Domain::Category(tree) => tree.leaf_count(),
            Domain::Integer { lo, hi } | Domain::Real { lo, hi, .. } | Domain::Date { lo, hi } => {
                (hi - lo) as u32 + u32::from(self.nullable)
            }
        }
    }

    /// The span of all codes.
    pub fn root(&self) -> Span {
        Span::new(0, self.size() - 1)
    }

    /// The code of a missing value.
    pub fn null(&self) -> Option<u32> {
        match &self.domain {
            Domain::Category(tree) => tree.null(),
            _ => self.nullable.then(|| self.size() - 1),
        }
    }

    /// The code of values that are not listed; `None` if such values are refused.
    pub fn other(&self) -> Option<u32> {
        self.hierarchy().filter(|_| self.takes_unknown).and_then(|tree| tree.leaf(OTHER))
    }

    /// The tree of a category.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        match &self.domain {
            Domain::Category(tree) => Some(tree),
            _ => None,
        }
    }

    /// The tree whose nodes are published; `None` where any run of values may be.
    pub fn nodes(&self) -> Option<&Hierarchy> {
        self.hierarchy().filter(|tree| !self.sets && !tree.is_flat())
    }

    /// The span that is published for a group whose codes fill `span`: the smallest one that covers them and keeps the
    /// grid and the least width. In a tree with inner nodes it is a node, unless sets are published.
    pub fn cover(&self, span: Span) -> Span {
        if let Some(tree) = self.nodes() {
            return tree.cover_at_least(span, self.min_width);
        }
        match &self.domain {
            // The smallest node that is wide enough is as public as the tree.
            Domain::Category(tree) if span.width() < self.min_width => tree.cover_at_least(span, self.min_width),
            Domain::Category(_) => span,
            _ if self.null() == Some(span.hi) => {
                if span.lo == span.hi {
                    span
                } else {
                    self.root()
                }
            }
            _ => self.snap(span),
        }
    }

    /// The number of codes that are published for a group whose codes run from `lo` to `hi`.
    pub fn cover_width(&self, lo: u32, hi: u32) -> u32 {
        self.cover(Span { lo, hi }).width()
    }

    /// Whether `span` may be published: it is printable, on the grid and wide enough. A category may be published as
    /// any run of leaves. A number together with NULL may be published only as the root.
    pub fn admits(&self, span: Span) -> bool {
        if span.is_empty() || !span.subset(self.root()) {
            return false;
        }
        match &self.domain {
            Domain::Category(_) => span.width() >= self.min_width.min(self.size()),
            _ => span == self.root() || self.cover(span) == span,
        }
    }

    /// The share of the domain that `span` covers beyond one value: 0 for one value, 1 for the root.
    pub fn openness(&self, span: Span) -> f64 {
        if self.size() <= 1 { 0.0 } else { f64::from(span.width() - 1) / f64::from(self.size() - 1) }
    }

    /// The value of a bound as a number, for columnar output: days for a date.
    pub fn bound(&self, code: u32) -> f64 {
        match &self.domain {
            Domain::Integer { lo, .. } | Domain::Date { lo, .. } => (lo + i64::from(code)) as f64,
            Domain::Real { lo, decimals, .. } => (lo + i64::from(code)) as f64 / 10f64.powi(i32::from(*decimals)),
            Domain::Category(_) => unreachable!("a category has no bounds"),
        }
    }

    /// Widens a span of numbers to the grid, and to the least width on a grid of that pitch.
    fn snap(&self, span: Span) -> Span {
        let numbers = self.size() - u32::from(self.nullable);
        let snapped = self.grid.snap(span, numbers);
        if snapped.width() >= self.min_width.min(numbers) {
            return snapped;
        }
        // Multiples of the least width, counted from the lower end of the domain, are as public as the domain. If they
        // are not on the grid, the grid widens them further.
        let pitch = self.min_width;
        let lo = snapped.lo / pitch * pitch;
        let hi = ((u64::from(snapped.hi) / u64::from(pitch) + 1) * u64::from(pitch)).min(u64::from(numbers)) as u32 - 1;
        let lo = if hi - lo + 1 < pitch { lo.saturating_sub(pitch) } else { lo };
        self.grid.snap(Span::new(lo, hi), numbers)
    }
}

impl Grid {
    /// The smallest span of grid cells that covers `span`, within `numbers` codes.
    fn snap(&self, span: Span, numbers: u32) -> Span {
        let (lo, end) = match self {
            Grid::Free => (span.lo, span.hi + 1),
            Grid::Every { pitch, phase } => {
                let below = |code: u32| {
                    if code < *phase { 0 } else { (code - phase) / pitch * pitch + phase }
                };
                let next = if span.hi < *phase { *phase } else { below(span.hi).saturating_add(*pitch) };
                (below(span.lo), next)
            }
            Grid::Lines(lines) => {
                let after = lines.partition_point(|&line| line <= span.lo);
                let lo = if after == 0 { 0 } else { lines[after - 1] };
                let end = lines.get(lines.partition_point(|&line| line <= span.hi)).copied().unwrap_or(numbers);
                (lo, end)
            }
        };
        Span::new(lo, end.min(numbers) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn age() -> Quasi {
        Quasi::new("age", Domain::Integer { lo: 10, hi: 120 })
    }

    #[test]
    fn boundaries_fall_on_the_grid() {
        let mut age = age();
        age.grid = Grid::Every { pitch: 5, phase: 2 };
        assert_eq!(age.cover(Span::new(3, 3)), Span::new(2, 6));
        assert_eq!(age.cover(Span::new(0, 1)), Span::new(0, 1));
        assert_eq!(age.cover(Span::new(0, 2)), Span::new(0, 6));
        assert_eq!(age.cover(Span::new(109, 109)), Span::new(107, 109));
        age.grid = Grid::Lines(vec![0, 31, 59]);
        assert_eq!(age.cover(Span::new(31, 40)), Span::new(31, 58));
        assert_eq!(age.cover(Span::new(60, 61)), Span::new(59, 109));
        assert!(age.admits(Span::new(31, 58)) && !age.admits(Span::new(31, 57)));
    }

    #[test]
    fn a_least_width_is_kept_on_a_public_grid() {
        let mut age = age();
        age.min_width = 4;
        assert_eq!(age.cover(Span::exact(5)), Span::new(4, 7));
        assert_eq!(age.cover(Span::exact(109)), Span::new(104, 109));
        assert_eq!(age.cover(Span::new(5, 30)), Span::new(5, 30));
        let tree = Hierarchy::from_rows(
            &["a;x;*", "b;x;*", "c;y;*"].map(|row| row.split(';').map(String::from).collect::<Vec<_>>()),
        );
        let mut place = Quasi::new("place", Domain::Category(tree.unwrap()));
        place.min_width = 2;
        assert_eq!(place.cover(Span::exact(0)), Span::new(0, 1));
        assert_eq!(place.cover(Span::exact(2)), place.root());
        // A set that is too narrow becomes a node. A place between two nodes would follow the data.
        place.sets = true;
        assert_eq!(place.cover(Span::exact(0)), Span::new(0, 1));
        assert_eq!(place.cover(Span::new(1, 2)), Span::new(1, 2));
        assert_eq!(place.cover(Span::exact(2)), place.root());
    }
}
