//! Our own first clustering: cuts the table top-down into parts that are as small as possible.
//!
//! A part is cut along one attribute: a number in two, a tree node into its children. Children with fewer than `k` rows
//! together form the rest. A rest that is too small borrows the rows that fit it best from the others. In large parts,
//! the attribute is the one whose cut saves the most at once. In small parts, cutting is played out for every attribute
//! and the best outcome is taken. That costs little and saves a fifth of the loss.

use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::play;
use crate::grouping::cluster::store::Space;
use rayon::prelude::*;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

/// In parts of up to this many rows, cutting is played out for every attribute.
const PLAYED_OUT: usize = 512;
/// Parts of at least this many rows are cut on several threads.
const PARALLEL: usize = 1 << 12;

/// Cuts at least `k` rows into parts of at least `k` that no further cut improves. `ranks` says which rows are rare:
/// they are borrowed first.
pub(crate) fn cut(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Vec<u32>> {
    if rows.len() <= PLAYED_OUT {
        return play::cut(space, rows, ranks);
    }
    if rows.len() < 2 * space.k {
        return vec![rows];
    }
    let best = cuts(space, &rows).into_iter().max_by_key(|cut| (cut.gain, Reverse(cut.attribute)));
    let Some(best) = best else { return vec![rows] };
    let parts = carry_out(space, &rows, &best, ranks);
    if rows.len() >= PARALLEL {
        parts.into_par_iter().map(|part| cut(space, part, ranks)).flatten().collect()
    } else {
        parts.into_iter().flat_map(|part| cut(space, part, ranks)).collect()
    }
}

/// Cuts rows into blocks of at most `most` rows if possible, keeping similar rows together.
pub(crate) fn blocks(space: Space, rows: Vec<u32>, most: usize) -> Vec<Vec<u32>> {
    if rows.len() <= most {
        return vec![rows];
    }
    let best = cuts(space, &rows).into_iter().max_by_key(|cut| (cut.gain, Reverse(cut.attribute)));
    let Some(best) = best else {
        // All rows are nearly equal, so any cut is fine.
        return rows.chunks(most.max(space.k)).map(<[u32]>::to_vec).collect();
    };
    let no_ranks = [];
    carry_out(space, &rows, &best, &no_ranks).into_par_iter().map(|part| blocks(space, part, most)).flatten().collect()
}

/// The rank of every row by how rare its codes are, the rarest first. Columns whose codes are far apart do not count.
pub(crate) fn ranks(space: Space, rows: &[u32]) -> Vec<u32> {
    let tally = Tally::new(space, rows);
    let commonness = |&row: &u32| -> u64 {
        let counted = tally.ends.iter().zip(space.points.get(row));
        let counts = counted.filter_map(|(&(lo, _, start), &code)| Some(tally.counts[start? + (code - lo) as usize]));
        counts.map(|count| logarithm(u64::from(count))).sum()
    };
    let mut order: Vec<(u64, u32, u32)> =
        (0..).zip(rows).map(|(position, row)| (commonness(row), *row, position)).collect();
    order.par_sort_unstable();
    let mut ranks = vec![0; rows.len()];
    for (rank, (_, _, position)) in (0..).zip(order) {
        ranks[position as usize] = rank;
    }
    ranks
}

/// The logarithm to base 2 in units of 2^-16, linear between powers of two. Integers give the same result on every
/// machine.
fn logarithm(count: u64) -> u64 {
    let whole = count.ilog2();
    (u64::from(whole) << 16) + (((count << 16) >> whole) - (1 << 16))
}

/// A way to cut a part.
pub(super) struct Cut {
    pub attribute: usize,
    /// The first code of every piece but the first, ascending.
    pub starts: Vec<u32>,
    /// How much it saves at once.
    pub gain: i128,
}

/// All cuts of a part that save something.
pub(super) fn cuts(space: Space, rows: &[u32]) -> Vec<Cut> {
    let tally = Tally::new(space, rows);
    let mut counts = Vec::new();
    (0..space.points.attributes())
        .filter_map(|attribute| {
            tally.read(space, rows, attribute, &mut counts);
            let mut starts = Vec::new();
            let gain = cut_along(space, attribute, &counts, rows.len(), &mut starts)?;
            Some(Cut { attribute, starts, gain })
        })
        .collect()
}

/// The cut of a part along one attribute, if it saves something: how much. `counts` has the codes that occur, ascending, and
/// how often; `starts` gets the first code of every piece but the first.
pub(super) fn cut_along(
    space: Space,
    attribute: usize,
    counts: &[(u32, u32)],
    rows: usize,
    starts: &mut Vec<u32>,
) -> Option<i128> {
    starts.clear();
    if counts.len() < 2 {
        return None;
    }
    let gain = if space.costs.scale(attribute).is_ordered() {
        cut_in_two(space, attribute, counts, rows, starts)
    } else {
        cut_at_node(space, attribute, counts, rows, starts)
    };
    gain.filter(|&gain| gain > 0)
}

/// How often each code of each attribute occurs in a part. Rows are scattered in memory, so each is read once for all
/// attributes.
struct Tally {
    /// Per attribute, the lowest and the highest code, and where its counts begin; `None` if the codes are too far
    /// apart.
    ends: Vec<(u32, u32, Option<usize>)>,
    counts: Vec<u32>,
}

impl Tally {
    fn new(space: Space, rows: &[u32]) -> Tally {
        let mut ends = vec![(u32::MAX, 0, None); space.points.attributes()];
        for &row in rows {
            for ((lo, hi, _), &code) in ends.iter_mut().zip(space.points.get(row)) {
                (*lo, *hi) = ((*lo).min(code), (*hi).max(code));
            }
        }
        let mut width = 0;
        for (lo, hi, start) in &mut ends {
            // Of no rows there is neither a least nor a greatest code.
            let codes = hi.saturating_sub(*lo) as usize + 1;
            if codes <= 4 * rows.len() + 1 {
                *start = Some(width);
                width += codes;
            }
        }
        let mut counts = vec![0; width];
        for &row in rows {
            for (&(lo, _, start), &code) in ends.iter().zip(space.points.get(row)) {
                if let Some(start) = start {
                    counts[start + (code - lo) as usize] += 1;
                }
            }
        }
        Tally { ends, counts }
    }

    /// The codes of an attribute that occur in the part, ascending, with how often.
    fn read(&self, space: Space, rows: &[u32], attribute: usize, counts: &mut Vec<(u32, u32)>) {
        counts.clear();
        let (lo, hi, start) = self.ends[attribute];
        if let Some(start) = start {
            let found = (lo..=hi).zip(self.counts[start..].iter().copied());
            counts.extend(found.filter(|&(_, count)| count > 0));
            return;
        }
        counts.extend(rows.iter().map(|&row| (space.points.get(row)[attribute], 1)));
        counts.sort_unstable();
        counts.dedup_by(|next, first| {
            let same = next.0 == first.0;
            first.1 += if same { next.1 } else { 0 };
            same
        });
    }
}

/// The cut of a number that saves the most.
fn cut_in_two(
    space: Space,
    attribute: usize,
    counts: &[(u32, u32)],
    rows: usize,
    starts: &mut Vec<u32>,
) -> Option<i128> {
    let scale = space.costs.scale(attribute);
    let (first, last) = (counts[0].0, counts[counts.len() - 1].0);
    let full = scale.cost(first, last);
    let mut left = 0usize;
    let mut best: Option<(i128, u32)> = None;
    for pair in counts.windows(2) {
        left += pair[0].1 as usize;
        let right = rows - left;
        if left < space.k || right < space.k {
            continue;
        }
        let saved = left as u64 * u64::from(full - scale.cost(first, pair[0].0))
            + right as u64 * u64::from(full - scale.cost(pair[1].0, last));
        if best.is_none_or(|(gain, _)| i128::from(saved) > gain) {
            best = Some((i128::from(saved), pair[1].0));
        }
    }
    best.map(|(gain, start)| {
        starts.push(start);
        gain
    })
}

/// The cut of a tree node into its children.
fn cut_at_node(
    space: Space,
    attribute: usize,
    counts: &[(u32, u32)],
    rows: usize,
    starts: &mut Vec<u32>,
) -> Option<i128> {
    let scale = space.costs.scale(attribute);
    let full = scale.cost(counts[0].0, counts[counts.len() - 1].0);
    let (mut rest, mut saved) = (0usize, 0u64);
    let mut spare = 0usize;
    let mut piece = (counts[0].0, 0usize);
    for (index, &(code, count)) in counts.iter().enumerate() {
        piece.1 += count as usize;
        // Two neighbours whose lowest common ancestor is that of the whole part are in different children.
        let next = counts.get(index + 1);
        if next.is_some_and(|next| scale.cost(code, next.0) < full) {
            continue;
        }
        if piece.1 < space.k {
            rest += piece.1;
        } else {
            saved += piece.1 as u64 * u64::from(full - scale.cost(piece.0, code));
            spare += piece.1 - space.k;
        }
        if let Some(next) = next {
            starts.push(next.0);
            piece = (next.0, 0);
        }
    }
    let borrowed = if rest == 0 { 0 } else { space.k.saturating_sub(rest) };
    if rest == rows || borrowed > spare {
        return None;
    }
    Some(i128::from(saved) - borrowed as i128 * i128::from(full))
}

/// Cuts a part. Every piece has at least `k` rows.
pub(super) fn carry_out(space: Space, rows: &[u32], cut: &Cut, ranks: &[u32]) -> Vec<Vec<u32>> {
    let mut pieces: Vec<Vec<u32>> = vec![Vec::new(); cut.starts.len() + 1];
    for &row in rows {
        let code = space.points.get(row)[cut.attribute];
        pieces[cut.starts.partition_point(|&start| start <= code)].push(row);
    }
    let mut rest = Vec::new();
    for piece in pieces.iter_mut().filter(|piece| piece.len() < space.k) {
        rest.append(piece);
    }
    pieces.retain(|piece| !piece.is_empty());
    if !rest.is_empty() {
        borrow(space, &mut rest, &mut pieces, ranks);
        pieces.push(rest);
    }
    pieces
}

/// Fills the rest up to `k` with the rows that fit it best. Ties go to the rarest row.
///
/// The rest only grows wider, so what a row cost before is never more than what it costs now: a row is priced again only
/// when it comes first.
pub(super) fn borrow(space: Space, rest: &mut Vec<u32>, pieces: &mut [Vec<u32>], ranks: &[u32]) {
    let mut spans = space.points.bounds(rest);
    let mut offers = Vec::new();
    for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.len() > space.k) {
        offers.extend(piece.iter().map(|&row| {
            let cost = space.costs.joined(&spans, space.points.get(row));
            Reverse((cost, ranks.get(row as usize).copied().unwrap_or(row), index, row))
        }));
    }
    let mut offers = BinaryHeap::from(offers);
    while rest.len() < space.k {
        let mut first = offers.peek_mut().expect("a cut leaves enough to borrow");
        let Reverse((cost, _, index, row)) = *first;
        let now = space.costs.joined(&spans, space.points.get(row));
        if pieces[index].len() == space.k {
            PeekMut::pop(first);
        } else if now > cost {
            first.0.0 = now;
        } else {
            PeekMut::pop(first);
            pieces[index].retain(|&other| other != row);
            widen(&mut spans, space.points.get(row));
            rest.push(row);
        }
    }
}
