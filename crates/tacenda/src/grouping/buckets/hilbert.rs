//! A walk through the space of quasi codes that keeps neighbours together.
//!
//! Every row gets a key along a Hilbert curve over all quasi attributes, each stretched to the same length as far as
//! its codes allow. Rows with close keys have close codes; the converse need not hold. The keys decide only who is
//! grouped near whom. They are never published.

use crate::model::{Schema, Table};
use rayon::prelude::*;
use std::borrow::Cow;

/// Gives the keys of all people, where they are needed.
pub type Curve<'a> = dyn Fn() -> Cow<'a, [u64]> + Sync + 'a;

/// How many rows are turned into keys at once. Their codes lie side by side, so that the compiler works on several with one
/// instruction.
const SIDE_BY_SIDE: usize = 16;

/// Up to this many codes of an attribute, their places on the axis are looked up and not divided.
const TABULATED: u32 = 1 << 16;

/// One axis of some points.
type Axis = [u32; SIDE_BY_SIDE];

/// The curve over the attributes of a schema.
pub struct Hilbert {
    bits: u32,
    stretches: Vec<Stretch>,
}

/// How the codes of one attribute are stretched over an axis.
struct Stretch {
    /// The highest code.
    top: u32,
    /// The highest place on the axis.
    end: u64,
    /// Per code its place on the axis; empty if there are too many.
    places: Vec<u32>,
}

impl Stretch {
    fn new(top: u32, bits: u32) -> Stretch {
        let mut stretch = Stretch { top, end: (1 << bits) - 1, places: Vec::new() };
        if top < TABULATED {
            stretch.places = (0..=top).map(|code| stretch.divided(code)).collect();
        }
        stretch
    }

    fn divided(&self, code: u32) -> u32 {
        if self.top == 0 { 0 } else { (u64::from(code) * self.end / u64::from(self.top)) as u32 }
    }

    fn place(&self, code: u32) -> u32 {
        self.places.get(code as usize).copied().unwrap_or_else(|| self.divided(code))
    }
}

impl Hilbert {
    /// The curve for `schema`. Attributes beyond the 64th take no part.
    pub fn new(schema: &Schema) -> Hilbert {
        let tops: Vec<u32> = schema.quasi.iter().take(64).map(|quasi| quasi.size() - 1).collect();
        let widest = tops.iter().map(|top| 32 - top.leading_zeros()).max().unwrap_or(1).max(1);
        let room = 64 / tops.len().max(1) as u32;
        Hilbert::over(&tops, widest.min(room).min(31))
    }

    fn over(tops: &[u32], bits: u32) -> Hilbert {
        Hilbert { bits, stretches: tops.iter().map(|&top| Stretch::new(top, bits)).collect() }
    }

    /// The keys of all rows of `table`.
    pub fn keys(&self, table: &Table) -> Vec<u64> {
        let columns: Vec<&[u32]> = (0..self.stretches.len()).map(|attribute| table.quasi(attribute)).collect();
        let mut keys = vec![0; table.len()];
        keys.par_chunks_mut(SIDE_BY_SIDE).with_min_len(4096 / SIDE_BY_SIDE).enumerate().for_each_init(
            || vec![[0; SIDE_BY_SIDE]; columns.len()],
            |axes, (chunk, keys)| {
                let rows = chunk * SIDE_BY_SIDE..chunk * SIDE_BY_SIDE + keys.len();
                for ((axis, stretch), column) in axes.iter_mut().zip(&self.stretches).zip(&columns) {
                    // The last rows may be fewer. What the axes hold behind them does not matter.
                    for (place, &code) in axis.iter_mut().zip(&column[rows.clone()]) {
                        *place = stretch.place(code);
                    }
                }
                keys.copy_from_slice(&self.along(axes)[..keys.len()]);
            },
        );
        keys
    }

    /// The keys of points whose places on the axes are given; these are used up.
    fn along(&self, axes: &mut [Axis]) -> [u64; SIDE_BY_SIDE] {
        transpose(axes, self.bits);
        let mut keys = [0; SIDE_BY_SIDE];
        for bit in (0..self.bits).rev() {
            for axis in axes.iter() {
                for (key, &place) in keys.iter_mut().zip(axis) {
                    *key = *key << 1 | u64::from(place >> bit & 1);
                }
            }
        }
        keys
    }
}

/// Turns coordinates into the transposed Hilbert index (Skilling, "Programming the Hilbert curve", 2004).
///
/// Skilling asks of every bit whether it is set, and no processor can foresee the answer. Here both ways are computed, and a
/// mask keeps one.
fn transpose(axes: &mut [Axis], bits: u32) {
    let Some((first, others)) = axes.split_first_mut() else { return };
    for bit in (1..bits).rev() {
        let below = (1u32 << bit) - 1;
        first.iter_mut().for_each(|first| *first ^= below & mask(*first, bit));
        for axis in others.iter_mut() {
            for (first, axis) in first.iter_mut().zip(axis) {
                let is_set = mask(*axis, bit);
                let exchange = (*first ^ *axis) & below & !is_set;
                *first ^= exchange | below & is_set;
                *axis ^= exchange;
            }
        }
    }
    let mut last = *first;
    for axis in others.iter_mut() {
        for (axis, last) in axis.iter_mut().zip(&mut last) {
            *axis ^= *last;
            *last = *axis;
        }
    }
    let mut flips = [0; SIDE_BY_SIDE];
    for bit in (1..bits).rev() {
        for (flip, &last) in flips.iter_mut().zip(&last) {
            *flip ^= ((1u32 << bit) - 1) & mask(last, bit);
        }
    }
    for axis in axes {
        axis.iter_mut().zip(&flips).for_each(|(axis, flip)| *axis ^= flip);
    }
}

/// All ones if a bit is set, and all zeros if not.
fn mask(number: u32, bit: u32) -> u32 {
    (number >> bit & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grouping::evolve::{SnapshotRow, schema, table, values};
    use crate::model::Rng;

    /// The key of one point.
    fn key(curve: &Hilbert, point: &[u32]) -> u64 {
        let place = |(stretch, &code): (&Stretch, &u32)| [stretch.place(code); SIDE_BY_SIDE];
        let mut axes: Vec<Axis> = curve.stretches.iter().zip(point).map(place).collect();
        curve.along(&mut axes)[0]
    }

    /// Every point of the cube once, and each step of the walk goes to a neighbour.
    #[test]
    fn the_walk_visits_every_point_and_only_steps_to_neighbours() {
        for dimensions in 2..=4usize {
            let curve = Hilbert::over(&vec![3; dimensions], 2);
            let points = 4usize.pow(dimensions as u32);
            let mut walk: Vec<(u64, Vec<u32>)> = (0..points)
                .map(|number| {
                    let point: Vec<u32> = (0..dimensions).map(|axis| (number >> (2 * axis) & 3) as u32).collect();
                    (key(&curve, &point), point)
                })
                .collect();
            walk.sort();
            for (place, (key, _)) in walk.iter().enumerate() {
                assert_eq!(*key, place as u64);
            }
            for step in walk.windows(2) {
                let moved: u32 = step[0].1.iter().zip(&step[1].1).map(|(a, b)| a.abs_diff(*b)).sum();
                assert_eq!(moved, 1);
            }
        }
    }

    /// Skilling's way, bit by bit.
    fn bit_by_bit(axes: &mut [u32], bits: u32) {
        let high = 1u32 << (bits - 1);
        let mut bit = high;
        while bit > 1 {
            let below = bit - 1;
            for index in 0..axes.len() {
                if axes[index] & bit != 0 {
                    axes[0] ^= below;
                } else {
                    let exchange = (axes[0] ^ axes[index]) & below;
                    axes[0] ^= exchange;
                    axes[index] ^= exchange;
                }
            }
            bit >>= 1;
        }
        for index in 1..axes.len() {
            axes[index] ^= axes[index - 1];
        }
        let last = axes[axes.len() - 1];
        let mut flip = 0;
        let mut bit = high;
        while bit > 1 {
            if last & bit != 0 {
                flip ^= bit - 1;
            }
            bit >>= 1;
        }
        for axis in axes {
            *axis ^= flip;
        }
    }

    /// Releases are made again from their history, so that keys must never change.
    #[test]
    fn keys_are_those_of_asking_bit_by_bit() {
        let mut rng = Rng::from_number(1);
        // The last domain is too large to be tabulated.
        for sizes in [&[80, 2, 17, 57][..], &[5], &[300, 1, 90_000], &[9; 12]] {
            let point = |rng: &mut Rng| sizes.iter().map(|&size| rng.below(size as u64) as u32).collect();
            let people: Vec<SnapshotRow> = (0..1_001).map(|id| (id, point(&mut rng), 0)).collect();
            let curve = Hilbert::new(&schema(sizes));
            let keys = curve.keys(&table(&values(1), sizes.len(), &people));
            for ((_, point, _), found) in people.iter().zip(keys) {
                let end = (1u64 << curve.bits) - 1;
                let place = |(&code, &size): (&u32, &i64)| u64::from(code) * end / (size as u64 - 1).max(1);
                let mut axes: Vec<u32> = point.iter().zip(sizes).map(|pair| place(pair) as u32).collect();
                bit_by_bit(&mut axes, curve.bits);
                let bits = (0..curve.bits).rev().flat_map(|bit| axes.iter().map(move |axis| axis >> bit & 1));
                assert_eq!(bits.fold(0, |key, bit| key << 1 | u64::from(bit)), found, "{point:?}");
            }
        }
    }
}
