//! The utility of a view: its distortion, and the information it keeps about the target.

use crate::grouping::views::split::bits;
use crate::model::{Cuts, Span, View, ViewRows};

/// How much a published view has kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Utility {
    /// Per row, how many levels its categories were lifted, summed over the columns.
    pub distortion_categories: f64,
    /// Per row, the share of the domain that its numeric spans cover, summed over the columns.
    pub distortion_numbers: f64,
    /// Per column, the share of its information about the target that is kept; `None` if it had none.
    pub information_kept: Vec<Option<f64>>,
    /// Per column, the information about the target in bits: of the published values, and of the exact ones.
    pub told: Vec<[f64; 2]>,
    /// Pairs of rows that are published alike, in both orders and with themselves.
    pub discernability: u128,
}

/// Measures what `cuts` leave of `rows`.
pub fn utility(view: &View, rows: &ViewRows, cuts: &Cuts) -> Utility {
    let mut found = Utility {
        distortion_categories: 0.0,
        distortion_numbers: 0.0,
        information_kept: Vec::new(),
        told: Vec::new(),
        discernability: 0,
    };
    let mut published: Vec<Vec<u32>> = Vec::new();
    for (column, quasi) in view.columns.iter().enumerate() {
        let counts = counts(rows, column, quasi.size());
        let spans = match &cuts[column] {
            Some(spans) => spans.clone(),
            None => (0..quasi.size()).map(Span::exact).collect(),
        };
        let place_of = |code: u32| spans.partition_point(|span| span.hi < code);
        let places: Vec<u32> = (0..quasi.size()).map(|code| place_of(code) as u32).collect();
        published.push(rows.column(column).iter().map(|&code| places[code as usize]).collect());
        for (code, of_code) in counts.iter().enumerate() {
            let rows_here = of_code.iter().sum::<u64>() as f64;
            if rows_here == 0.0 {
                continue;
            }
            let span = spans[places[code] as usize];
            match quasi.hierarchy() {
                Some(tree) => found.distortion_categories += rows_here * f64::from(levels(tree, code as u32, span)),
                None => {
                    found.distortion_numbers += rows_here
                        * if span.width() == 1 { 0.0 } else { f64::from(span.width()) / f64::from(quasi.size()) }
                }
            }
        }
        let [kept, exact] = told(&counts, &places, spans.len());
        found.information_kept.push((exact > 1e-9).then(|| (kept / exact).clamp(0.0, 1.0)));
        found.told.push([kept, exact]);
    }
    let columns: Vec<&[u32]> = published.iter().map(|column| &column[..]).collect();
    let classes = crate::model::Classes::of(rows.len(), &columns);
    found.discernability = classes.size.iter().map(|&size| u128::from(size).pow(2)).sum();
    let total = rows.len().max(1) as f64;
    found.distortion_categories /= total;
    found.distortion_numbers /= total;
    found
}

/// Per code, rows by class; one class if there is no target.
fn counts(rows: &ViewRows, column: usize, size: u32) -> Vec<Vec<u64>> {
    let classes = rows.target().iter().copied().max().map_or(1, |most| most as usize + 1);
    let mut counts = vec![vec![0u64; classes]; size as usize];
    for (row, &code) in rows.column(column).iter().enumerate() {
        counts[code as usize][rows.target().get(row).copied().unwrap_or(0) as usize] += 1;
    }
    counts
}

/// How many levels lie between a leaf and the node it is published as.
fn levels(tree: &crate::model::Hierarchy, leaf: u32, span: Span) -> u32 {
    let mut levels = 0;
    let mut at = tree.cover(span);
    while at.width() > 1 {
        levels += 1;
        let below = tree.children(at);
        at = below.into_iter().find(|child| child.contains(leaf)).expect("a node's children cover its leaves");
    }
    levels
}

/// The information about the class in bits: of the published values, and of the exact ones.
fn told(counts: &[Vec<u64>], places: &[u32], published: usize) -> [f64; 2] {
    let classes = counts.first().map_or(0, Vec::len);
    let mut whole = vec![0u64; classes];
    let mut merged = vec![vec![0u64; classes]; published];
    for (code, of_code) in counts.iter().enumerate() {
        for (class, &rows) in of_code.iter().enumerate() {
            whole[class] += rows;
            merged[places[code] as usize][class] += rows;
        }
    }
    let told = |parts: &[Vec<u64>]| bits(&whole) - parts.iter().map(|part| bits(part)).sum::<f64>();
    [told(&merged), told(counts)]
}
