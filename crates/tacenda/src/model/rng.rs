//! All randomness, from one secret seed.
//!
//! What is published is chosen by [`crate::model::Lots`], one lot for each record or group. A stream serves one small unit of work, or
//! a measurement. The generator is a ChaCha stream that is frozen for good.

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The secret from which all randomness and keyed hashes of a series come. It is kept in the vault.
#[derive(Clone, Eq, PartialEq)]
pub struct Seed(pub [u8; 32]);

impl Seed {
    /// A key for keyed hashes of one purpose. Zeroised when dropped: with that of identifiers, names tell whose rows are whose.
    pub fn key(&self, purpose: &str) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(*blake3::keyed_hash(&self.0, purpose.as_bytes()).as_bytes())
    }
}

impl Drop for Seed {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Seed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Seed(…)")
    }
}

/// A stream of random numbers.
pub struct Rng(ChaCha12Rng);

impl Rng {
    /// A stream for tests and generators, from a plain number.
    pub fn from_number(number: u64) -> Rng {
        Rng(ChaCha12Rng::seed_from_u64(number))
    }

    /// The stream of a key.
    pub(in crate::model) fn from_key(key: [u8; 32]) -> Rng {
        Rng(ChaCha12Rng::from_seed(key))
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number below `bound`.
    ///
    /// # Panics
    /// If `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "there is no number below 0");
        // Lemire's method: unbiased, and rarely draws twice.
        loop {
            let product = u128::from(self.bits()) * u128::from(bound);
            let low = product as u64;
            if low >= bound || low >= bound.wrapping_neg() % bound {
                return (product >> 64) as u64;
            }
        }
    }

    /// A number from 0 up to but not including 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Puts a slice into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_frozen() {
        // The stream is part of the file format: releases must be reproducible by later versions.
        assert_eq!(Rng::from_number(1).bits(), 17_971_643_333_364_160_609);
    }

    #[test]
    fn below_covers_its_range() {
        let mut rng = Rng::from_number(3);
        let mut seen = [0u32; 6];
        for _ in 0..6000 {
            seen[rng.below(6) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (850..1150).contains(&count)), "{seen:?}");
    }
}
