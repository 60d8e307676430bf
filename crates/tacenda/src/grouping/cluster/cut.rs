//! Our own first clustering: cuts the table top-down into parts that are as small as possible.
//!
//! A part is cut along one attribute: a number in two, a tree node into its children. Children with fewer than `k` rows
//! together form the rest. A rest that is too small borrows the rows that fit it best from the others. In large parts,
//! the attribute is the one whose cut saves the most at once. In small parts, cutting is played out for every attribute
//! and the best outcome is taken. That costs little and saves a fifth of the loss.

use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::store::Space;
use crate::model::Span;
use rayon::prelude::*;

/// In parts of up to this many rows, cutting is played out for every attribute.
const PLAYED_OUT: usize = 512;
/// Parts of at least this many rows are cut on several threads.
const PARALLEL: usize = 1 << 12;
/// The rarity of codes is counted in domains of up to this many codes.
const COUNTED: u32 = 1 << 22;

/// Cuts at least `k` rows into parts of at least `k` that no further cut improves. `ranks` says which rows are rare:
/// they are borrowed first.
pub(crate) fn cut(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Vec<u32>> {
    if rows.len() < 2 * space.k {
        return vec![rows];
    }
    let mut cuts = cuts(space, &rows);
    if cuts.is_empty() {
        return vec![rows];
    }
    cuts.sort_by(|a, b| b.gain.cmp(&a.gain).then(a.attribute.cmp(&b.attribute)));
    if rows.len() <= PLAYED_OUT {
        let best = (0..cuts.len()).min_by_key(|&index| {
            let parts = carry_out(space, &rows, &cuts[index], ranks);
            parts.iter().map(|part| play_out(space, part, ranks)).sum::<u64>()
        });
        cuts.swap(0, best.expect("there is a cut"));
    }
    let parts = carry_out(space, &rows, &cuts[0], ranks);
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
    let best = cuts(space, &rows).into_iter().max_by_key(|cut| (cut.gain, std::cmp::Reverse(cut.attribute)));
    let Some(best) = best else {
        // All rows are nearly equal, so any cut is fine.
        return rows.chunks(most.max(space.k)).map(<[u32]>::to_vec).collect();
    };
    let no_ranks = [];
    carry_out(space, &rows, &best, &no_ranks).into_par_iter().map(|part| blocks(space, part, most)).flatten().collect()
}

/// The rank of every row by how rare its codes are, the rarest first.
pub(crate) fn ranks(space: Space, rows: &[u32]) -> Vec<u32> {
    let mut commonness = vec![0u64; rows.len()];
    for (attribute, &size) in space.sizes.iter().enumerate().filter(|&(_, &size)| size <= COUNTED) {
        let mut counts = vec![0u64; size as usize];
        for &row in rows {
            counts[space.points.get(row)[attribute] as usize] += 1;
        }
        for (sum, &row) in commonness.iter_mut().zip(rows) {
            *sum += logarithm(counts[space.points.get(row)[attribute] as usize]);
        }
    }
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.par_sort_unstable_by_key(|&position| (commonness[position as usize], rows[position as usize]));
    let mut ranks = vec![0; rows.len()];
    for (rank, position) in (0..).zip(order) {
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
struct Cut {
    attribute: usize,
    /// The first code of every piece but the first, ascending.
    starts: Vec<u32>,
    /// How much it saves at once.
    gain: i128,
}

/// All cuts of a part that save something.
fn cuts(space: Space, rows: &[u32]) -> Vec<Cut> {
    let tally = Tally::new(space, rows);
    let mut counts = Vec::new();
    (0..space.points.attributes())
        .filter_map(|attribute| {
            tally.read(space, rows, attribute, &mut counts);
            if counts.len() < 2 {
                return None;
            }
            if space.costs.scale(attribute).is_ordered() {
                cut_in_two(space, attribute, &counts, rows.len())
            } else {
                cut_at_node(space, attribute, &counts, rows.len())
            }
        })
        .filter(|cut| cut.gain > 0)
        .collect()
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
            let codes = (*hi - *lo) as usize + 1;
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
fn cut_in_two(space: Space, attribute: usize, counts: &[(u32, u32)], rows: usize) -> Option<Cut> {
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
    best.map(|(gain, start)| Cut { attribute, starts: vec![start], gain })
}

/// The cut of a tree node into its children.
fn cut_at_node(space: Space, attribute: usize, counts: &[(u32, u32)], rows: usize) -> Option<Cut> {
    let scale = space.costs.scale(attribute);
    let full = scale.cost(counts[0].0, counts[counts.len() - 1].0);
    let mut starts = Vec::new();
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
    Some(Cut { attribute, starts, gain: i128::from(saved) - borrowed as i128 * i128::from(full) })
}

/// Cuts a part. Every piece has at least `k` rows.
fn carry_out(space: Space, rows: &[u32], cut: &Cut, ranks: &[u32]) -> Vec<Vec<u32>> {
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
fn borrow(space: Space, rest: &mut Vec<u32>, pieces: &mut [Vec<u32>], ranks: &[u32]) {
    let mut spans = space.points.bounds(rest);
    while rest.len() < space.k {
        let mut best = (u32::MAX, u32::MAX, 0, 0);
        for (index, piece) in pieces.iter().enumerate().filter(|(_, piece)| piece.len() > space.k) {
            for (position, &row) in piece.iter().enumerate() {
                let cost = space.costs.joined(&spans, space.points.get(row));
                let rank = ranks.get(row as usize).copied().unwrap_or(row);
                best = best.min((cost, rank, index, position));
            }
        }
        let row = pieces[best.2].remove(best.3);
        widen(&mut spans, space.points.get(row));
        rest.push(row);
    }
}

/// The final loss if a part is cut further, always where it saves the most at once.
fn play_out(space: Space, rows: &[u32], ranks: &[u32]) -> u64 {
    let best = if rows.len() < 2 * space.k {
        None
    } else {
        cuts(space, rows).into_iter().max_by_key(|cut| (cut.gain, std::cmp::Reverse(cut.attribute)))
    };
    match best {
        None => {
            let spans: Vec<Span> = space.points.bounds(rows);
            rows.len() as u64 * u64::from(space.costs.of(&spans))
        }
        Some(best) => carry_out(space, rows, &best, ranks).iter().map(|part| play_out(space, part, ranks)).sum(),
    }
}
