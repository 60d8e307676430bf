//! Random choices, each with its own key.
//!
//! No random stream runs over the table. What is drawn for one record or group does not depend on the number or order
//! of the others. So a choice reveals nothing about the sensitive values of others, parts of a table can be processed
//! separately, and a release can be made again.

use crate::model::{RecordKey, Rng, Seed};
use std::sync::Arc;
use zeroize::Zeroizing;

/// The lots of one purpose in one release.
#[derive(Clone)]
pub struct Lots {
    /// Zeroised when dropped.
    key: Zeroizing<[u8; 32]>,
    given: Option<Arc<dyn GivenLots>>,
}

/// Lots that the caller provides: a test tries all of them, and the auditor exchanges some.
pub trait GivenLots: Send + Sync {
    /// The lot of a record.
    fn of(&self, record: RecordKey) -> u64;

    /// The number below `bound` for a unit.
    fn below(&self, unit: &[u32], bound: u64) -> u64;
}

impl Seed {
    /// The lots for one purpose in one release.
    pub fn lots(&self, purpose: &str, release: u32) -> Lots {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(b"lots").update(&[0]).update(purpose.as_bytes()).update(&[0]).update(&release.to_le_bytes());
        Lots::keyed(*hasher.finalize().as_bytes())
    }
}

impl Lots {
    /// Lots for tests and benches, from a plain number.
    pub fn from_number(number: u64) -> Lots {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        Seed(bytes).lots("number", 0)
    }

    /// The lots of a derived key, on another machine.
    pub(crate) fn keyed(key: [u8; 32]) -> Lots {
        Lots { key: Zeroizing::new(key), given: None }
    }

    /// Their key. It is derived from the seed, for one purpose in one release, and it is private.
    pub(crate) fn derived_key(&self) -> [u8; 32] {
        *self.key
    }

    /// Uses the lots that the caller provides.
    pub fn given(given: Arc<dyn GivenLots>) -> Lots {
        Lots { key: Zeroizing::default(), given: Some(given) }
    }

    /// The lot of a record: 64 uniform bits.
    pub fn of(&self, record: RecordKey) -> u64 {
        if let Some(given) = &self.given {
            return given.of(record);
        }
        RecordKey::of(&self.key, &record.to_bytes()).hi
    }

    /// A uniform number below `bound` for one unit.
    pub fn below(&self, unit: &[u32], bound: u64) -> u64 {
        if let Some(given) = &self.given {
            return given.below(unit, bound);
        }
        self.stream(unit).below(bound)
    }

    /// A stream for one small unit of work, such as a group.
    pub fn stream(&self, unit: &[u32]) -> Rng {
        let mut hasher = blake3::Hasher::new_keyed(&self.key);
        unit.iter().for_each(|number| {
            hasher.update(&number.to_le_bytes());
        });
        Rng::from_key(*hasher.finalize().as_bytes())
    }

    /// The numbers below `len` in a uniformly random order. A keyed hash of each number decides its place.
    pub fn permutation(&self, len: usize) -> Vec<u32> {
        // The numbers of one ChaCha stream are keyed hashes of their places, made faster than one by one.
        let mut hashes = Rng::from_key(*self.key);
        let mut keyed: Vec<(u64, u32)> = (0..len as u32).map(|number| (hashes.bits(), number)).collect();
        keyed.sort_unstable();
        keyed.into_iter().map(|(_, number)| number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lots_are_frozen_and_apart() {
        let seed = Seed([7; 32]);
        let record = RecordKey { hi: 1, lo: 2 };
        let lot = seed.lots("a", 1).of(record);
        assert_eq!(lot, seed.lots("a", 1).of(record));
        assert_ne!(lot, seed.lots("a", 2).of(record));
        assert_ne!(lot, seed.lots("b", 1).of(record));
        assert_ne!(lot, seed.lots("a", 1).of(RecordKey { hi: 1, lo: 3 }));
        // Part of the file format: releases must be reproducible by later versions.
        assert_eq!(Lots::from_number(1).of(record), 16_230_154_996_021_729_814);
        assert_eq!(Lots::from_number(1).permutation(5), [1, 0, 3, 4, 2]);
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut seen = std::collections::BTreeMap::new();
        for number in 0..6000 {
            *seen.entry(Lots::from_number(number).permutation(3)).or_insert(0) += 1;
        }
        assert_eq!(seen.len(), 6);
        assert!(seen.values().all(|count| (850..1150).contains(count)), "{seen:?}");
    }
}
