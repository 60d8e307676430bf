//! The information loss of a cluster, in integers.
//!
//! The cost of a row is the sum, over the attributes, of the share of the domain that the cluster's span covers, times
//! the attribute's weight. All shares are scaled by one factor. If the least common multiple of their denominators is
//! small enough, it is the factor, and every comparison is exact. Otherwise shares are as fine as 32 bits allow,
//! rounded down.
//!
//! Rounding down keeps the property on which everything else relies: a wider span never costs less.

use crate::grouping::LossKind;
use crate::model::{Domain, Grid, Quasi, Row, Schema, Span, Table};

/// The quasi codes of a table, row after row.
pub(crate) struct Points {
    attributes: usize,
    codes: Vec<u32>,
}

impl Points {
    /// The points of a table's rows.
    pub(crate) fn of(table: &Table) -> Points {
        Points::of_rows(table, (0..table.len() as u32).map(Row))
    }

    /// The points of some of a table's rows, in their order.
    pub(crate) fn of_rows(table: &Table, rows: impl ExactSizeIterator<Item = Row> + Clone) -> Points {
        let attributes = table.quasi_count();
        let mut codes = vec![0; attributes * rows.len()];
        for attribute in 0..attributes {
            let column = table.quasi(attribute);
            for (at, row) in rows.clone().enumerate() {
                codes[at * attributes + attribute] = column[row.index()];
            }
        }
        Points { attributes, codes }
    }

    /// The points of some rows, numbered anew.
    pub(crate) fn some(&self, rows: &[u32]) -> Points {
        let codes = rows.iter().flat_map(|&row| self.get(row)).copied().collect();
        Points { attributes: self.attributes, codes }
    }

    /// The codes of a row.
    pub(crate) fn get(&self, row: u32) -> &[u32] {
        let start = row as usize * self.attributes;
        &self.codes[start..start + self.attributes]
    }

    /// How many attributes there are.
    pub(crate) fn attributes(&self) -> usize {
        self.attributes
    }

    /// The tight spans of some rows.
    pub(crate) fn bounds(&self, rows: &[u32]) -> Vec<Span> {
        let mut spans = vec![Span::EMPTY; self.attributes];
        for &row in rows {
            widen(&mut spans, self.get(row));
        }
        spans
    }
}

/// Widens spans so that they hold a point.
pub(crate) fn widen(spans: &mut [Span], point: &[u32]) {
    for (span, &code) in spans.iter_mut().zip(point) {
        *span = span.join(Span::exact(code));
    }
}

/// The cost of every span of every attribute.
pub(crate) struct Costs {
    scales: Vec<Scale>,
    /// The cost of a row if every attribute is published as its whole domain.
    full: u64,
    /// The factor by which all shares were multiplied.
    #[cfg(test)]
    pub(crate) factor: u64,
}

/// The cost of the spans of one attribute.
pub(crate) enum Scale {
    /// In proportion to the number of codes. A number together with NULL costs as much as the whole domain.
    Linear {
        /// The cost of one more code, in 2^-32.
        rate: u64,
        /// The code of NULL, or `u32::MAX`.
        null: u32,
        /// The cost of the whole domain.
        full: u32,
    },
    /// The same between grid lines: per code the first and last code of its grid cell.
    Snapped {
        /// The grid cell of each code.
        cells: Vec<Span>,
        /// As above.
        rate: u64,
        /// As above.
        null: u32,
        /// As above.
        full: u32,
    },
    /// A tree of few leaves: the cost for each pair of ends.
    Square {
        /// How many leaves.
        size: usize,
        /// Row by row.
        costs: Vec<u32>,
    },
    /// A tree of many leaves. The lowest common ancestor of a run is the highest of those of its
    /// neighbouring pairs; level `i` holds the maximum over `2^i` pairs.
    Peaks {
        /// The maxima.
        levels: Vec<Vec<u32>>,
    },
}

/// A share of the domain before scaling.
struct Shares<'a> {
    quasi: Quasi,
    kind: LossKind,
    weight: u64,
    denominator: u64,
    original: &'a Quasi,
}

/// Costs of one row stay below this, so that sums over attributes fit 32 bits.
const CEILING: u64 = 1 << 31;
/// Up to here a tree's costs are kept as a square.
const SQUARE: usize = 128;
/// Up to this size a grid is tabulated. Beyond it, the objective ignores the grid.
const TABULATED: u32 = 1 << 22;

impl Costs {
    /// The costs under `schema` if `kind` is to be minimised.
    pub(crate) fn new(schema: &Schema, kind: LossKind) -> Costs {
        let shares: Vec<Shares> = schema.quasi.iter().map(|quasi| Shares::new(quasi, kind)).collect();
        // Weights count in thousandths; equal weights count as 1.
        let common = shares.iter().fold(0, |divisor, share| gcd(divisor, share.weight)).max(1);
        let weights: u64 = shares.iter().map(|share| share.weight / common).sum::<u64>().max(1);
        let multiple = shares.iter().try_fold(1u64, |multiple, share| lcm(multiple, share.denominator));
        let factor = match multiple {
            Some(multiple) if multiple.saturating_mul(weights) < CEILING => multiple,
            _ => (CEILING / weights).max(1),
        };
        let scales = shares.iter().map(|share| share.scale(factor * (share.weight / common))).collect();
        Costs {
            scales,
            full: factor * weights,
            #[cfg(test)]
            factor,
        }
    }

    /// The scale of an attribute.
    pub(crate) fn scale(&self, attribute: usize) -> &Scale {
        &self.scales[attribute]
    }

    /// The cost of a row if every attribute is published as its whole domain.
    pub(crate) fn full(&self) -> u64 {
        self.full
    }

    /// The cost of one row of a cluster with these spans.
    pub(crate) fn of(&self, spans: &[Span]) -> u32 {
        self.scales.iter().zip(spans).map(|(scale, span)| scale.cost(span.lo, span.hi)).sum()
    }

    /// The cost of one row of a cluster with these spans once it holds `point` too.
    pub(crate) fn joined(&self, spans: &[Span], point: &[u32]) -> u32 {
        let mut cost = 0;
        for ((scale, span), &code) in self.scales.iter().zip(spans).zip(point) {
            cost += scale.cost(span.lo.min(code), span.hi.max(code));
        }
        cost
    }

    /// The cost of one row of a cluster that holds two clusters' spans.
    pub(crate) fn merged(&self, some: &[Span], others: &[Span]) -> u32 {
        let mut cost = 0;
        for ((scale, a), b) in self.scales.iter().zip(some).zip(others) {
            cost += scale.cost(a.lo.min(b.lo), a.hi.max(b.hi));
        }
        cost
    }

    /// The cost of a cluster of these two rows, per row.
    pub(crate) fn distance(&self, some: &[u32], other: &[u32]) -> u32 {
        let mut cost = 0;
        for ((scale, &a), &b) in self.scales.iter().zip(some).zip(other) {
            cost += scale.cost(a.min(b), a.max(b));
        }
        cost
    }

    /// Whether a cluster with these spans can take `point` at no additional cost in any attribute.
    pub(crate) fn covers(&self, spans: &[Span], point: &[u32]) -> bool {
        self.scales.iter().zip(spans).zip(point).all(|((scale, span), &code)| {
            span.contains(code) || scale.cost(span.lo.min(code), span.hi.max(code)) == scale.cost(span.lo, span.hi)
        })
    }
}

impl Scale {
    /// The cost of the codes from `lo` to `hi`.
    #[inline]
    pub(crate) fn cost(&self, lo: u32, hi: u32) -> u32 {
        match self {
            Scale::Linear { rate, null, full } => {
                if hi == *null && lo != hi {
                    *full
                } else {
                    ((u64::from(hi - lo) * rate) >> 32) as u32
                }
            }
            Scale::Square { size, costs } => costs[lo as usize * size + hi as usize],
            Scale::Peaks { levels } => {
                if lo == hi {
                    return 0;
                }
                let level = (hi - lo).ilog2();
                let maxima = &levels[level as usize];
                maxima[lo as usize].max(maxima[(hi - (1 << level)) as usize])
            }
            Scale::Snapped { cells, rate, null, full } => {
                if hi == *null {
                    return if lo == hi { 0 } else { *full };
                }
                ((u64::from(cells[hi as usize].hi - cells[lo as usize].lo) * rate) >> 32) as u32
            }
        }
    }

    /// Whether any code is as good a place to cut as any other.
    pub(crate) fn is_ordered(&self) -> bool {
        matches!(self, Scale::Linear { .. } | Scale::Snapped { .. })
    }

    /// A lower bound on the additional cost of taking `code`, for every cluster inside `hull`.
    pub(crate) fn least_gain(&self, hull: Span, code: u32) -> u32 {
        match self {
            Scale::Linear { rate, null, .. } if code != *null && hull.hi != *null => {
                let beyond = code.saturating_sub(hull.hi) + hull.lo.saturating_sub(code);
                ((u64::from(beyond) * rate) >> 32) as u32
            }
            _ => 0,
        }
    }
}

impl<'a> Shares<'a> {
    fn new(original: &'a Quasi, kind: LossKind) -> Shares<'a> {
        // The minimum width of published spans is the same for every cluster, so it is left out here.
        let quasi = Quasi { min_width: 1, ..original.clone() };
        let denominator = match (&quasi.domain, kind) {
            (Domain::Category(tree), LossKind::Height) => u64::from(tree.height()),
            (Domain::Category(_), LossKind::LeafShare) => u64::from(quasi.size() - 1),
            (_, LossKind::Height) => u64::from(quasi.size() - u32::from(quasi.nullable)) - 1,
            (_, LossKind::LeafShare) => u64::from(quasi.size() - 1),
        };
        let weight = (original.weight.clamp(0.0, 1000.0) * 1000.0).round() as u64;
        // A domain of one value loses nothing; then the share is 0 of 1.
        Shares { quasi, kind, weight, denominator: denominator.max(1), original }
    }

    fn numerator(&self, lo: u32, hi: u32) -> u64 {
        let span = Span::new(lo, hi);
        match (&self.quasi.domain, self.kind) {
            (Domain::Category(tree), LossKind::Height) => u64::from(tree.cover_height(span)),
            _ => u64::from(self.quasi.cover(span).width() - 1),
        }
    }

    fn scale(&self, full: u64) -> Scale {
        let size = self.quasi.size();
        let cost = |lo, hi| (self.numerator(lo, hi) * full / self.denominator) as u32;
        let rate = (full << 32) / self.denominator;
        let null = if self.quasi.hierarchy().is_some() { u32::MAX } else { self.quasi.null().unwrap_or(u32::MAX) };
        let full = full as u32;
        match (&self.quasi.domain, self.kind) {
            (Domain::Category(_), LossKind::LeafShare) if self.quasi.nodes().is_none() => {
                Scale::Linear { rate, null, full }
            }
            (Domain::Category(_), _) if size as usize <= SQUARE => {
                let costs = (0..size).flat_map(|a| (0..size).map(move |b| (a.min(b), a.max(b))));
                Scale::Square { size: size as usize, costs: costs.map(|(lo, hi)| cost(lo, hi)).collect() }
            }
            (Domain::Category(_), _) => peaks((1..size).map(|code| cost(code - 1, code)).collect()),
            (_, LossKind::LeafShare) if self.original.grid != Grid::Free && size <= TABULATED => {
                let cells = (0..size).map(|code| self.quasi.cover(Span::exact(code))).collect();
                Scale::Snapped { cells, rate, null, full }
            }
            _ => Scale::Linear { rate, null, full },
        }
    }
}

fn peaks(pairs: Vec<u32>) -> Scale {
    let mut levels = vec![pairs];
    let mut step = 1;
    while levels[levels.len() - 1].len() > step {
        let last = &levels[levels.len() - 1];
        levels.push((step..last.len()).map(|at| last[at - step].max(last[at])).collect());
        step *= 2;
    }
    Scale::Peaks { levels }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn lcm(a: u64, b: u64) -> Option<u64> {
    (a / gcd(a, b)).checked_mul(b).filter(|&multiple| multiple < CEILING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Hierarchy;
    use proptest::prelude::*;

    fn tree(leaves: u32, fan: u32) -> Hierarchy {
        let rows: Vec<Vec<String>> = (0..leaves)
            .map(|leaf| {
                vec![format!("v{leaf}"), format!("a{}", leaf / fan), format!("b{}", leaf / fan / fan), "*".into()]
            })
            .collect();
        Hierarchy::from_rows(&rows).unwrap()
    }

    fn schema() -> Schema {
        let mut weighty = Quasi::new("weighty", Domain::Integer { lo: 0, hi: 40 });
        weighty.weight = 2.5;
        let mut monthly = Quasi::new("monthly", Domain::Integer { lo: 0, hi: 300 });
        monthly.grid = Grid::Every { pitch: 30, phase: 7 };
        let quasi = vec![
            Quasi::new("number", Domain::Integer { lo: -5, hi: 60 }).nullable(),
            weighty,
            monthly.nullable(),
            Quasi::new("small tree", Domain::Category(tree(20, 3))),
            Quasi::new("large tree", Domain::Category(tree(200, 5))).nullable(),
            Quasi::new("flat", Domain::Category(Hierarchy::flat(["a", "b", "c"]).unwrap())),
            Quasi::new("one value", Domain::Category(Hierarchy::flat(["a"]).unwrap())),
        ];
        Schema::new("id", quasi, vec![])
    }

    proptest! {
        /// A wider span never costs less. The whole domain has the full cost. Without a grid, a single value costs
        /// nothing. And the fast forms agree with the published cover.
        #[test]
        fn costs_are_the_shares_of_the_published_cover(
            ends in prop::collection::vec(any::<(u32, u32, u32)>(), 7),
            height in any::<bool>(),
        ) {
            let schema = schema();
            let kind = if height { LossKind::Height } else { LossKind::LeafShare };
            let costs = Costs::new(&schema, kind);
            for (attribute, (quasi, &(a, b, c))) in schema.quasi.iter().zip(&ends).enumerate() {
                let [a, b, c] = [a, b, c].map(|code| code % quasi.size());
                let (lo, hi) = (a.min(b), a.max(b));
                let scale = costs.scale(attribute);
                prop_assert!(scale.cost(lo, hi) <= scale.cost(lo.min(c), hi.max(c)));
                let gain = scale.cost(lo.min(c), hi.max(c)) - scale.cost(lo, hi);
                prop_assert!(scale.least_gain(Span::new(lo, hi), c) <= gain);
                if kind == LossKind::LeafShare {
                    let share = quasi.openness(quasi.cover(Span::new(lo, hi)));
                    let expected = share * quasi.weight * costs.factor as f64 * 2.0;
                    prop_assert!((f64::from(scale.cost(lo, hi)) - expected).abs() <= 1.0, "{} {expected}", scale.cost(lo, hi));
                }
                if quasi.size() > 1 {
                    let whole = f64::from(scale.cost(0, quasi.size() - 1)) / (quasi.weight * costs.factor as f64 * 2.0);
                    prop_assert!((whole - 1.0).abs() < 1e-6, "{} {whole}", quasi.name);
                }
            }
        }
    }
}
