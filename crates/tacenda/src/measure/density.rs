//! How the people of a release are spread over the values of each column, as far as the release shows.
//!
//! A row has a region. Without further information, its people are spread evenly over it (science A3.9). With published
//! counts, the weights of the codes are fitted so that all rows together give the counts and each row keeps its people.
//! That is iterative proportional fitting of a table of rows by cells to both margins, column by column.
//!
//! Counts are rounded, so regions may contradict them by a few people. Then the rows take precedence.
//!
//! # Source
//! Deming and Stephan 1940, "On a least squares adjustment of a sampled frequency table". The steps are the classical
//! ones: scale every cell to its count, scale every row to its people, again until nothing moves.
//!
//! # Cost
//! Distinct spans and cells of a column, times at most [`ROUNDS`].

use crate::model::{CountedColumn, Quasi, Release, Schema, Span};
use std::collections::BTreeMap;
use std::ops::Range;

/// How often cells and rows are scaled at most.
const ROUNDS: usize = 200;

/// A cell that shows 0 may still have a few people, so rows that lie only there need some weight.
const ALMOST_NOBODY: f64 = 1e-3;

/// The largest change of a weight. A rounded count can demand more people than the rows have there. Then its weight
/// would grow without bound and distort all other cells.
const FURTHEST: f64 = 1000.0;

/// The spread over every quasi attribute.
#[derive(Clone, Debug)]
pub struct Densities(Vec<Density>);

/// The weight of codes: constant within pieces.
#[derive(Clone, Debug)]
struct Density {
    /// The first code of every piece, ascending from 0.
    starts: Vec<u32>,
    /// The weight of a code of each piece.
    weights: Vec<f64>,
    /// The weight of all codes before each piece.
    before: Vec<f64>,
}

impl Densities {
    /// The spread according to the release: even if a column has no counts.
    pub fn of(release: &Release, schema: &Schema) -> Densities {
        let counts = release.counts.as_ref();
        let density = |(attribute, quasi): (usize, &Quasi)| match counts.and_then(|counts| counts.column(&quasi.name)) {
            Some(column) => Density::fitted(release, attribute, quasi.size(), column),
            None => Density::even(),
        };
        Densities(schema.quasi.iter().enumerate().map(density).collect())
    }

    /// The weight of a span of an attribute; compare it only with others of the same attribute.
    pub fn weight(&self, attribute: usize, span: Span) -> f64 {
        self.0[attribute].weight(span)
    }

    /// The weight of all codes below a span, and of all codes up to its end: `weight` is what lies between.
    fn ends(&self, attribute: usize, span: Span) -> (f64, f64) {
        let density = &self.0[attribute];
        (density.below(span.lo), density.below(span.hi + 1))
    }

    /// Some groups of a release, ready to be asked many questions.
    pub fn of_groups(&self, release: &Release, groups: Range<usize>) -> GroupShares<'_> {
        let column = |attribute: usize| {
            let mut ends = Ends::default();
            for group in groups.clone() {
                let (lo, hi) = self.ends(attribute, release.region(group)[attribute]);
                ends.lo.push(lo);
                ends.hi.push(hi);
                ends.inverse.push(1.0 / (hi - lo));
            }
            ends
        };
        GroupShares { densities: self, columns: (0..self.0.len()).map(column).collect() }
    }
}

/// Which share of each of some groups lies in a span.
///
/// A region is kept as the weight of all codes below its ends: two spans then meet in what lies between the larger of their
/// lower weights and the smaller of their upper ones, which takes no search for codes.
pub struct GroupShares<'a> {
    densities: &'a Densities,
    columns: Vec<Ends>,
}

/// One attribute of the groups: the weight below each region, the weight up to its end, one over what lies between.
#[derive(Default)]
struct Ends {
    lo: Vec<f64>,
    hi: Vec<f64>,
    inverse: Vec<f64>,
}

impl GroupShares<'_> {
    /// Multiplies `shares`, one a group, by the share of the group that lies in `span`.
    pub fn narrow(&self, attribute: usize, span: Span, shares: &mut [f64]) {
        let asked = self.densities.ends(attribute, span);
        let Ends { lo, hi, inverse } = &self.columns[attribute];
        for (((share, lo), hi), inverse) in shares.iter_mut().zip(lo).zip(hi).zip(inverse) {
            *share *= (hi.min(asked.1) - lo.max(asked.0)).max(0.0) * inverse;
        }
    }
}

impl Density {
    fn even() -> Density {
        Density::new(vec![0], vec![1.0])
    }

    fn new(starts: Vec<u32>, weights: Vec<f64>) -> Density {
        let mut before = Vec::with_capacity(starts.len());
        let mut sum = 0.0;
        for (at, &start) in starts.iter().enumerate() {
            before.push(sum);
            let end = starts.get(at + 1).copied().unwrap_or(start);
            sum += weights[at] * f64::from(end - start);
        }
        Density { starts, weights, before }
    }

    /// The weight of all codes below `code`.
    fn below(&self, code: u32) -> f64 {
        let at = self.starts.partition_point(|&start| start <= code) - 1;
        self.before[at] + self.weights[at] * f64::from(code - self.starts[at])
    }

    fn weight(&self, span: Span) -> f64 {
        if span.is_empty() { 0.0 } else { self.below(span.hi + 1) - self.below(span.lo) }
    }

    /// Fitted to the counts of a column.
    fn fitted(release: &Release, attribute: usize, size: u32, column: &CountedColumn) -> Density {
        let mut rows: BTreeMap<Span, f64> = BTreeMap::new();
        for group in 0..release.group_count() {
            *rows.entry(release.region(group)[attribute]).or_default() += f64::from(release.people(group));
        }
        let total: f64 = rows.values().sum();
        let said: u64 = column.cells.iter().map(|(_, people)| people).sum();
        // Pieces are the cells, and the codes between them, where almost nobody is.
        let mut pieces: Vec<(Span, f64)> = Vec::new();
        let mut next = 0;
        let scale = if said == 0 { 0.0 } else { total / said as f64 };
        for &(cell, people) in &column.cells {
            if next < cell.lo {
                pieces.push((Span::new(next, cell.lo - 1), ALMOST_NOBODY));
            }
            pieces.push((cell, people as f64 * scale));
            next = cell.hi + 1;
        }
        if next < size {
            pieces.push((Span::new(next, size - 1), ALMOST_NOBODY));
        }
        let fit = Fit::new(&rows, &pieces);
        let even: Vec<f64> = pieces.iter().map(|(piece, people)| people / f64::from(piece.width())).collect();
        let mut weights = even.clone();
        for _ in 0..ROUNDS {
            let estimates = fit.estimates(&weights);
            let mut furthest: f64 = 0.0;
            for (at, (_, wanted)) in pieces.iter().enumerate() {
                furthest = furthest.max((estimates[at] - wanted).abs());
                if estimates[at] > 0.0 {
                    let scaled = weights[at] * wanted / estimates[at];
                    weights[at] = scaled.clamp(even[at] / FURTHEST, even[at] * FURTHEST);
                }
            }
            if furthest < 0.05 {
                break;
            }
        }
        Density::new(pieces.iter().map(|(piece, _)| piece.lo).collect(), weights)
    }
}

/// Rows by pieces, cut at every end of either.
struct Fit {
    /// Per row, its first and one past its last stretch, and its people.
    rows: Vec<(usize, usize, f64)>,
    /// Per stretch its piece and its width.
    stretches: Vec<(usize, f64)>,
    pieces: usize,
}

impl Fit {
    fn new(rows: &BTreeMap<Span, f64>, pieces: &[(Span, f64)]) -> Fit {
        let mut cuts: Vec<u32> = rows.keys().flat_map(|span| [span.lo, span.hi + 1]).collect();
        cuts.extend(pieces.iter().flat_map(|(piece, _)| [piece.lo, piece.hi + 1]));
        cuts.sort_unstable();
        cuts.dedup();
        let at = |code: u32| cuts.partition_point(|&cut| cut < code);
        let stretch = |pair: &[u32]| {
            let piece = pieces.partition_point(|(piece, _)| piece.hi < pair[0]);
            (piece, f64::from(pair[1] - pair[0]))
        };
        Fit {
            rows: rows.iter().map(|(span, &people)| (at(span.lo), at(span.hi + 1), people)).collect(),
            stretches: cuts.windows(2).map(stretch).collect(),
            pieces: pieces.len(),
        }
    }

    /// How many people each piece has if every row is spread by these weights.
    fn estimates(&self, weights: &[f64]) -> Vec<f64> {
        let mut below = Vec::with_capacity(self.stretches.len() + 1);
        below.push(0.0);
        for &(piece, width) in &self.stretches {
            below.push(below[below.len() - 1] + weights[piece] * width);
        }
        // Per stretch, how many people per weight the rows put there: by where rows begin and end.
        let mut density = vec![0.0; self.stretches.len() + 1];
        for &(from, to, people) in &self.rows {
            let share = people / (below[to] - below[from]).max(f64::MIN_POSITIVE);
            density[from] += share;
            density[to] -= share;
        }
        let mut estimates = vec![0.0; self.pieces];
        let mut here = 0.0;
        for (&(piece, width), change) in self.stretches.iter().zip(&density) {
            here += change;
            estimates[piece] += here * weights[piece] * width;
        }
        estimates
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{CellRule, Domain, Hierarchy, PeopleCounts, Regions, Sensitive, Value};

    /// Groups by span and people, one column of six leaves.
    fn release(groups: &[(u32, u32, u32)], cells: &[(u32, u64)]) -> (Release, Schema) {
        let tree = Hierarchy::flat(["a", "b", "c", "d", "e", "f"]).unwrap();
        let schema = Schema::new("", vec![Quasi::new("x", Domain::Category(tree))], vec![Sensitive::open("y")]);
        let mut release = Release { number: 1, regions: Regions::new(1), ..Release::default() };
        for &(lo, hi, people) in groups {
            release.regions.push(&[Span::new(lo, hi)]);
            release.sensitive.extend((0..people).map(|_| Value(0)));
            release.ends.push(release.sensitive.len() as u32);
            release.counterfeits.push(0);
        }
        let cells = cells.iter().map(|&(code, people)| (Span::exact(code), people)).collect();
        let column = CountedColumn { name: "x".into(), rule: CellRule::Leaves, cells };
        release.counts = Some(PeopleCounts { unit: 5, columns: vec![column] });
        (release, schema)
    }

    fn shares(groups: &[(u32, u32, u32)], cells: &[(u32, u64)], span: (u32, u32)) -> Vec<f64> {
        let (release, schema) = release(groups, cells);
        let fitted = Densities::of(&release, &schema);
        let whole = fitted.weight(0, Span::new(span.0, span.1));
        (span.0..=span.1).map(|code| (fitted.weight(0, Span::exact(code)) / whole * 1000.0).round() / 1000.0).collect()
    }

    #[test]
    fn values_that_are_listed_in_case_they_come_invent_nobody() {
        // 360 people somewhere in a to f; the counts say where.
        assert_eq!(shares(&[(0, 5, 360)], &[(0, 90), (1, 270)], (0, 5)), [0.25, 0.75, 0.0, 0.0, 0.0, 0.0]);
    }

    #[test]
    fn rows_that_are_certain_leave_less_for_the_others() {
        // 50 of the 60 people with a stand in rows that say a; so few of the open rows are a.
        let shares = shares(&[(0, 0, 50), (0, 1, 100)], &[(0, 60), (1, 90)], (0, 1));
        assert!((shares[0] - 0.1).abs() < 0.01 && (shares[1] - 0.9).abs() < 0.01, "{shares:?}");
    }

    #[test]
    fn rows_have_the_last_word() {
        // The counts round e and f to 0, but three people are one of them.
        let shares = shares(&[(4, 5, 3), (0, 0, 100)], &[(0, 105)], (4, 5));
        assert_eq!(shares, [0.5, 0.5]);
    }

    /// Seen red: with weights that grow for ever, one such cell made the whole column even (the second real quarter).
    #[test]
    fn a_count_that_the_rows_cannot_give_spoils_no_other() {
        // f shows 5, and only three people can be there.
        let (groups, cells) = ([(0, 1, 100), (4, 5, 3)], [(0, 25), (1, 75), (5, 5)]);
        let near = |found: Vec<f64>, wanted: [f64; 2]| found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 0.01);
        assert!(near(shares(&groups, &cells, (0, 1)), [0.25, 0.75]));
        assert!(near(shares(&groups, &cells, (4, 5)), [0.0, 1.0]));
    }

    #[test]
    fn without_counts_everything_is_even() {
        let (mut release, schema) = release(&[(0, 5, 6)], &[]);
        release.counts = None;
        let even = Densities::of(&release, &schema);
        assert_eq!(even.weight(0, Span::new(1, 3)), 3.0);
    }
}
