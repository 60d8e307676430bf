//! How a person is named inside: by a keyed hash, and by a row of the current table.

use std::fmt;
use std::ops::Range;

/// A keyed hash of a person's identifier. The key lives in the vault, so the hash says nothing to
/// anyone without it. Tables are sorted by it: the order of the input is gone.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct RecordKey {
    /// The first eight bytes, big end first.
    pub hi: u64,
    /// The next eight.
    pub lo: u64,
}

impl RecordKey {
    /// The hash of `identifier` under `key`.
    pub fn of(key: &[u8; 32], identifier: &[u8]) -> RecordKey {
        RecordKey::from_bytes(blake3::keyed_hash(key, identifier).as_bytes()[..16].try_into().expect("16 of 32 bytes"))
    }

    /// The key with these bytes.
    pub fn from_bytes(bytes: [u8; 16]) -> RecordKey {
        let half = |at: usize| u64::from_be_bytes(bytes[at..at + 8].try_into().expect("8 of 16 bytes"));
        RecordKey { hi: half(0), lo: half(8) }
    }

    /// Which of `parts` parts a person is in: the first bits of the key decide. `parts` is a power of two.
    pub fn part(self, parts: usize) -> usize {
        match parts.ilog2() {
            0 => 0,
            bits => (self.hi >> (64 - bits)) as usize,
        }
    }

    /// Where the people of a part stand among all, who are sorted by key.
    pub fn part_of<T>(people: &[T], key: impl Fn(&T) -> RecordKey, part: usize, parts: usize) -> Range<usize> {
        let from = people.partition_point(|person| key(person).part(parts) < part);
        from..people.partition_point(|person| key(person).part(parts) <= part)
    }

    /// Its bytes.
    pub fn to_bytes(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.hi.to_be_bytes());
        bytes[8..].copy_from_slice(&self.lo.to_be_bytes());
        bytes
    }
}

impl fmt::Debug for RecordKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("RecordKey(…)")
    }
}

/// A row of a [`crate::model::Table`].
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Row(pub u32);

impl Row {
    /// As an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}
