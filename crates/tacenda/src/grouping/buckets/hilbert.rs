//! A walk through the space of quasi codes that keeps neighbours together.
//!
//! Every row gets a key along a Hilbert curve over all quasi attributes, each stretched to the same length as far as
//! its codes allow. Rows with close keys have close codes; the converse need not hold. The keys decide only who is
//! grouped near whom. They are never published.

use crate::model::{Schema, Table};
use rayon::prelude::*;

/// The curve over the attributes of a schema.
pub struct Hilbert {
    bits: u32,
    /// Per attribute, the highest code.
    tops: Vec<u32>,
}

impl Hilbert {
    /// The curve for `schema`. Attributes beyond the 64th take no part.
    pub fn new(schema: &Schema) -> Hilbert {
        let tops: Vec<u32> = schema.quasi.iter().take(64).map(|quasi| quasi.size() - 1).collect();
        let widest = tops.iter().map(|top| 32 - top.leading_zeros()).max().unwrap_or(1).max(1);
        let room = 64 / tops.len().max(1) as u32;
        Hilbert { bits: widest.min(room).min(31), tops }
    }

    /// The keys of all rows of `table`.
    pub fn keys(&self, table: &Table) -> Vec<u64> {
        let columns: Vec<&[u32]> = (0..self.tops.len()).map(|attribute| table.quasi(attribute)).collect();
        (0..table.len())
            .into_par_iter()
            .with_min_len(4096)
            .map_init(
                || vec![0u32; columns.len()],
                |axes, row| {
                    for (axis, column) in axes.iter_mut().zip(&columns) {
                        *axis = column[row];
                    }
                    self.key(axes)
                },
            )
            .collect()
    }

    /// The key of one point; `axes` holds its codes and is used up.
    pub fn key(&self, axes: &mut [u32]) -> u64 {
        let scale = (1u64 << self.bits) - 1;
        for (axis, &top) in axes.iter_mut().zip(&self.tops) {
            *axis = if top == 0 { 0 } else { (u64::from(*axis) * scale / u64::from(top)) as u32 };
        }
        transpose(axes, self.bits);
        let mut key = 0;
        for bit in (0..self.bits).rev() {
            for &axis in axes.iter() {
                key = key << 1 | u64::from(axis >> bit & 1);
            }
        }
        key
    }
}

/// Turns coordinates into the transposed Hilbert index (Skilling, "Programming the Hilbert curve", 2004).
fn transpose(axes: &mut [u32], bits: u32) {
    if axes.is_empty() {
        return;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every point of the cube once, and each step of the walk goes to a neighbour.
    #[test]
    fn the_walk_visits_every_point_and_only_steps_to_neighbours() {
        for dimensions in 2..=4usize {
            let curve = Hilbert { bits: 2, tops: vec![3; dimensions] };
            let points = 4usize.pow(dimensions as u32);
            let mut walk: Vec<(u64, Vec<u32>)> = (0..points)
                .map(|number| {
                    let point: Vec<u32> = (0..dimensions).map(|axis| (number >> (2 * axis) & 3) as u32).collect();
                    (curve.key(&mut point.clone()), point)
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
}
