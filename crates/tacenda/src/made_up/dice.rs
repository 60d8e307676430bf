//! A loaded die: draws an index by weight, with one random number a roll.

use crate::model::Rng;

/// A die whose sides have weights. Walker's alias method.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    /// Per side: below which number it keeps the roll, and which side takes it otherwise.
    sides: Vec<(u32, u32)>,
}

impl Dice {
    /// A die with these weights, of any sum.
    ///
    /// # Panics
    /// If there are none, or they are not positive in sum.
    pub(super) fn new(weights: &[f64]) -> Dice {
        let sum: f64 = weights.iter().sum();
        assert!(sum > 0.0, "a die needs a side with weight");
        let mut shares: Vec<f64> = weights.iter().map(|weight| weight / sum * weights.len() as f64).collect();
        let mut sides: Vec<(u32, u32)> = (0..weights.len() as u32).map(|side| (u32::MAX, side)).collect();
        let (mut short, mut long): (Vec<usize>, Vec<usize>) = (0..weights.len()).partition(|&side| shares[side] < 1.0);
        while let (Some(poor), Some(&rich)) = (short.pop(), long.last()) {
            sides[poor] = ((shares[poor] * f64::from(u32::MAX)) as u32, rich as u32);
            shares[rich] -= 1.0 - shares[poor];
            if shares[rich] < 1.0 {
                long.pop();
                short.push(rich);
            }
        }
        Dice { sides }
    }

    /// The side that comes up.
    pub(super) fn roll(&self, rng: &mut Rng) -> u32 {
        self.side(rng.bits())
    }

    /// The side for 64 given random bits.
    pub(super) fn side(&self, bits: u64) -> u32 {
        let index = (((bits >> 32) * self.sides.len() as u64) >> 32) as usize;
        let (keeps, other) = self.sides[index];
        if bits as u32 <= keeps { index as u32 } else { other }
    }
}

/// Mixes a number so that all its bits matter; different numbers stay different (SplitMix64).
pub(super) fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_die_falls_by_its_weights() {
        let dice = Dice::new(&[1.0, 0.0, 3.0, 4.0]);
        let mut rng = Rng::from_number(1);
        let mut counts = [0i32; 4];
        for _ in 0..80_000 {
            counts[dice.roll(&mut rng) as usize] += 1;
        }
        let wanted = [10_000, 0, 30_000, 40_000];
        assert!(counts.iter().zip(wanted).all(|(count, wanted)| (count - wanted).abs() <= 500), "{counts:?}");
        assert_eq!(counts[1], 0);
    }
}
