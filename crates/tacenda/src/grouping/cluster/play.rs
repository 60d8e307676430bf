//! Cuts small parts: cutting is played out for every attribute, and the best outcome is taken.
//!
//! To play a cut out is to cut its pieces further, each where it saves the most at once, down to the end. It is done for
//! every attribute of every part, so that most of a clustering's time is spent here. So the codes of the part are copied
//! out, the memory is used again, and an outcome that cannot win any more is not played to its end.
//!
//! An outcome depends on which rows are together and not on their order, so that rows are moved in place.

use crate::grouping::cluster::cost::widen;
use crate::grouping::cluster::cut::{Cut, borrow, carry_out, cut_along};
use crate::grouping::cluster::store::Space;
use crate::model::Span;

/// Cuts a small part into parts of at least `k` rows that no further cut improves.
pub(super) fn cut(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Vec<u32>> {
    if rows.len() < 2 * space.k {
        return vec![rows];
    }
    let points = space.points.some(&rows);
    let ranks: Vec<u32> = rows.iter().map(|&row| ranks.get(row as usize).copied().unwrap_or(row)).collect();
    let mut play = Play::new(Space { points: &points, ..space }, &ranks);
    let mut parts = Vec::new();
    play.cut((0..rows.len() as u32).collect(), &mut parts);
    for row in parts.iter_mut().flatten() {
        *row = rows[*row as usize];
    }
    parts
}

/// A part whose rows are numbered from 0, and memory that is used again.
struct Play<'a> {
    space: Space<'a>,
    ranks: &'a [u32],
    /// All codes that occur in the part, attribute by attribute, ascending.
    codes: Vec<u32>,
    /// Where those of each attribute end.
    ends: Vec<usize>,
    /// Per row and attribute, the place of its code among `codes`.
    places: Vec<u32>,
    /// How often each of `codes` occurs in the piece at hand.
    counts: Vec<u32>,
    /// The codes of one attribute that occur there, and how often.
    found: Vec<(u32, u32)>,
    /// Where an attribute is cut, and where the best one is.
    starts: Vec<u32>,
    best_starts: Vec<u32>,
    /// The sizes of the pieces that are being played.
    sizes: Vec<usize>,
    /// Where each piece of a cut goes.
    targets: Vec<usize>,
    sorted: Vec<u32>,
    spans: Vec<Span>,
}

impl<'a> Play<'a> {
    fn new(space: Space<'a>, ranks: &'a [u32]) -> Play<'a> {
        let (rows, attributes) = (ranks.len(), space.points.attributes());
        let (mut codes, mut ends, mut places) = (Vec::new(), Vec::new(), vec![0; rows * attributes]);
        let mut column: Vec<u32> = Vec::new();
        for attribute in 0..attributes {
            let code = |row: usize| space.points.get(row as u32)[attribute];
            column.clear();
            column.extend((0..rows).map(code));
            column.sort_unstable();
            column.dedup();
            for row in 0..rows {
                let place = codes.len() + column.partition_point(|&other| other < code(row));
                places[row * attributes + attribute] = place as u32;
            }
            codes.extend_from_slice(&column);
            ends.push(codes.len());
        }
        Play {
            space,
            ranks,
            counts: vec![0; codes.len()],
            codes,
            ends,
            places,
            found: Vec::new(),
            starts: Vec::new(),
            best_starts: Vec::new(),
            sizes: Vec::new(),
            targets: Vec::new(),
            sorted: Vec::new(),
            spans: Vec::new(),
        }
    }

    /// Cuts some rows, and adds the parts that no cut improves.
    fn cut(&mut self, rows: Vec<u32>, parts: &mut Vec<Vec<u32>>) {
        let mut cuts = self.cuts(&rows);
        if cuts.is_empty() {
            return parts.push(rows);
        }
        cuts.sort_by(|a, b| b.gain.cmp(&a.gain).then(a.attribute.cmp(&b.attribute)));
        let mut best = (u64::MAX, 0);
        // A single cut has no rivals.
        for (index, cut) in cuts.iter().enumerate().filter(|_| cuts.len() > 1) {
            let loss = self.play(&mut rows.clone(), cut.attribute, &cut.starts, best.0);
            if loss < best.0 {
                best = (loss, index);
            }
        }
        for part in carry_out(self.space, &rows, &cuts[best.1], self.ranks) {
            self.cut(part, parts);
        }
    }

    /// All cuts of some rows that save something.
    fn cuts(&mut self, rows: &[u32]) -> Vec<Cut> {
        let mut cuts = Vec::new();
        if rows.len() < 2 * self.space.k {
            return cuts;
        }
        self.count(rows);
        for attribute in 0..self.ends.len() {
            if let Some(gain) = self.cut_along(attribute, rows.len()) {
                cuts.push(Cut { attribute, starts: self.starts.clone(), gain });
            }
        }
        cuts
    }

    /// The attribute whose cut saves the most; `best_starts` gets where it is cut. Ties go to the first.
    fn best_cut(&mut self, rows: &[u32]) -> Option<usize> {
        if rows.len() < 2 * self.space.k {
            return None;
        }
        self.count(rows);
        let mut best: Option<(i128, usize)> = None;
        for attribute in 0..self.ends.len() {
            if let Some(gain) = self.cut_along(attribute, rows.len())
                && best.is_none_or(|(most, _)| gain > most)
            {
                best = Some((gain, attribute));
                std::mem::swap(&mut self.starts, &mut self.best_starts);
            }
        }
        best.map(|(_, attribute)| attribute)
    }

    fn count(&mut self, rows: &[u32]) {
        let attributes = self.ends.len();
        self.counts.fill(0);
        for &row in rows {
            for &place in &self.places[row as usize * attributes..][..attributes] {
                self.counts[place as usize] += 1;
            }
        }
    }

    /// How much a cut along an attribute saves, if it saves anything; `starts` gets where it is cut.
    fn cut_along(&mut self, attribute: usize, rows: usize) -> Option<i128> {
        let first = attribute.checked_sub(1).map_or(0, |before| self.ends[before]);
        let places = first..self.ends[attribute];
        let counted = self.codes[places.clone()].iter().zip(&self.counts[places]);
        self.found.clear();
        self.found.extend(counted.filter(|(_, count)| **count > 0).map(|(&code, &count)| (code, count)));
        cut_along(self.space, attribute, &self.found, rows, &mut self.starts)
    }

    /// The final loss if rows are cut further, always where it saves the most at once; or some number from `limit` on if it
    /// is not below that.
    fn play_out(&mut self, rows: &mut [u32], limit: u64) -> u64 {
        let Some(attribute) = self.best_cut(rows) else { return self.loss(rows) };
        let starts = std::mem::take(&mut self.best_starts);
        let first = self.sizes.len();
        let borrowed = self.divide(rows, attribute, &starts);
        self.best_starts = starts;
        self.play_pieces(rows, first, borrowed, limit)
    }

    /// The same if the first cut is given.
    fn play(&mut self, rows: &mut [u32], attribute: usize, starts: &[u32], limit: u64) -> u64 {
        let first = self.sizes.len();
        let borrowed = self.divide(rows, attribute, starts);
        self.play_pieces(rows, first, borrowed, limit)
    }

    /// Plays the pieces whose sizes begin at `first`, or those given.
    fn play_pieces(&mut self, mut rows: &mut [u32], first: usize, borrowed: Option<Vec<Vec<u32>>>, limit: u64) -> u64 {
        let mut loss = 0;
        let mut copied: &mut [Vec<u32>] = &mut borrowed.unwrap_or_default();
        while loss < limit
            && let Some((piece, rest)) = std::mem::take(&mut copied).split_first_mut()
        {
            loss += self.play_out(piece, limit - loss);
            copied = rest;
        }
        let last = self.sizes.len();
        for at in first..last {
            let (piece, rest) = rows.split_at_mut(self.sizes[at]);
            rows = rest;
            if loss < limit {
                loss += self.play_out(piece, limit - loss);
            }
        }
        self.sizes.truncate(first);
        loss
    }

    fn loss(&mut self, rows: &[u32]) -> u64 {
        self.spans.clear();
        self.spans.resize(self.ends.len(), Span::EMPTY);
        for &row in rows {
            widen(&mut self.spans, self.space.points.get(row));
        }
        rows.len() as u64 * u64::from(self.space.costs.of(&self.spans))
    }

    /// Divides rows into pieces as [`carry_out`] does, one piece after another, and adds the sizes of the pieces to `sizes`.
    /// If the rest has to borrow, it returns the pieces instead.
    fn divide(&mut self, rows: &mut [u32], attribute: usize, starts: &[u32]) -> Option<Vec<Vec<u32>>> {
        let Play { space, targets, sorted, sizes, .. } = self;
        let piece_of = |row: u32| {
            let code = space.points.get(row)[attribute];
            starts.partition_point(|&start| start <= code)
        };
        targets.clear();
        targets.resize(starts.len() + 1, 0);
        rows.iter().for_each(|&row| targets[piece_of(row)] += 1);
        let first = sizes.len();
        // Pieces of fewer than `k` rows come last, together: the rest.
        let rest: usize = targets.iter().filter(|&&size| size < space.k).sum();
        let (mut next, mut next_of_rest) = (0, rows.len() - rest);
        for target in targets.iter_mut() {
            let size = *target;
            let next = if size < space.k { &mut next_of_rest } else { &mut next };
            *target = *next;
            *next += size;
            sizes.extend((size >= space.k).then_some(size));
        }
        sizes.extend((rest > 0).then_some(rest));
        sorted.resize(rows.len(), 0);
        for &row in rows.iter() {
            let target = &mut targets[piece_of(row)];
            sorted[*target] = row;
            *target += 1;
        }
        rows.copy_from_slice(&sorted[..rows.len()]);
        if rest == 0 || rest >= space.k {
            return None;
        }
        let mut left = &rows[..];
        let mut take = |size: usize| {
            let (piece, others) = left.split_at(size);
            left = others;
            piece.to_vec()
        };
        let mut pieces: Vec<Vec<u32>> = sizes.drain(first..).map(&mut take).collect();
        let mut rest = pieces.pop().expect("the rest comes last");
        borrow(*space, &mut rest, &mut pieces, self.ranks);
        pieces.push(rest);
        Some(pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::LossKind;
    use crate::grouping::cluster::cost::{Costs, Points};
    use crate::grouping::cluster::cut::{cuts, ranks};
    use crate::grouping::evolve::{SnapshotRow, schema_with_tree, table, values};
    use crate::model::Rng;
    use std::cmp::Reverse;

    /// The plain way: every cut is carried out and played to its end.
    fn plainly(space: Space, rows: Vec<u32>, ranks: &[u32]) -> Vec<Vec<u32>> {
        let mut found = if rows.len() < 2 * space.k { Vec::new() } else { cuts(space, &rows) };
        found.sort_by(|a, b| b.gain.cmp(&a.gain).then(a.attribute.cmp(&b.attribute)));
        let best = found.iter().min_by_key(|cut| {
            carry_out(space, &rows, cut, ranks).iter().map(|part| played_out(space, part, ranks)).sum::<u64>()
        });
        match best {
            None => vec![rows],
            Some(best) => {
                let parts = carry_out(space, &rows, best, ranks).into_iter();
                parts.flat_map(|part| plainly(space, part, ranks)).collect()
            }
        }
    }

    fn played_out(space: Space, rows: &[u32], ranks: &[u32]) -> u64 {
        let found = if rows.len() < 2 * space.k { Vec::new() } else { cuts(space, rows) };
        match found.into_iter().max_by_key(|cut| (cut.gain, Reverse(cut.attribute))) {
            None => rows.len() as u64 * u64::from(space.costs.of(&space.points.bounds(rows))),
            Some(best) => carry_out(space, rows, &best, ranks).iter().map(|part| played_out(space, part, ranks)).sum(),
        }
    }

    /// Releases are made again from their history, so that no way to be faster may change a part.
    #[test]
    fn parts_are_those_of_playing_everything_out() {
        let schema = schema_with_tree(&[30, 4, 5_000]);
        let sizes: Vec<u32> = schema.quasi.iter().map(|quasi| quasi.size()).collect();
        for seed in 0..20 {
            let mut rng = Rng::from_number(seed);
            let mut code = |size: u32| rng.below(u64::from(size)).min(rng.below(u64::from(size))) as u32;
            let mut person = |id: u64| (id, sizes.iter().map(|&size| code(size)).collect::<Vec<u32>>(), 0);
            let people: Vec<SnapshotRow> = (0..40 + 15 * seed).map(&mut person).collect();
            let points = Points::of(&table(&values(1), sizes.len(), &people));
            let costs = Costs::new(&schema, if seed % 3 == 0 { LossKind::Height } else { LossKind::LeafShare });
            let k = 2 + seed as usize % 7;
            let space = Space { points: &points, costs: &costs, sizes: &sizes, k, crowding: 0 };
            // Some rows only, in another order.
            let rows: Vec<u32> = (0..people.len() as u32).rev().filter(|row| row % 9 != 4).collect();
            let ranks = ranks(space, &(0..people.len() as u32).collect::<Vec<u32>>());
            assert_eq!(cut(space, rows.clone(), &ranks), plainly(space, rows, &ranks), "{seed}");
        }
    }
}
