//! Blobs: what is kept and moved in a cluster. People are rows of numbers in them, as in scratch files.

use crate::publish::on_disk::rows::{bytes_of, key, numbers_of};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::fmt;

/// Some bytes, where they belong and what they are. Private.
pub struct Blob {
    /// A part or a unit.
    pub place: u32,
    /// What it is.
    pub kind: BlobKind,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl fmt::Debug for Blob {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Blob({:?}, {} bytes)", self.kind, self.bytes.len())
    }
}

/// What a blob is.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum BlobKind {
    /// People as they were read; hashes stand for texts.
    Encoded,
    /// People of the vault.
    Past,
    /// People of the last release, with their records.
    Kept,
    /// People who were never published.
    New,
    /// People who are out for good.
    Out,
    /// Everyone who is here, with what the history says of them: where everyone gets a bucket first.
    Known,
    /// Earlier value sets of people.
    Sets,
    /// Per person of a part, the unit or the group that they go to.
    Seats,
    /// People who join groups of the last release, each with a group.
    Joining,
    /// The buckets of a unit.
    Buckets,
    /// Regions of groups of the last release.
    Regions,
    /// Who is in which group of a unit.
    Members,
    /// Some groups of the finished release.
    Slice,
    /// People, each with a group.
    Placed,
    /// To the driver: JSON.
    Said,
    /// To the driver: counts of a pass.
    Counts,
    /// To the driver: the groups of a unit.
    Groups,
    /// To the driver: groups of the last release.
    Last,
    /// To the driver: everyone in a part.
    People,
    /// To the driver: what giving people a bucket depends on, or the codes of arrivals.
    Crowd,
}

impl BlobKind {
    /// All of them.
    pub const ALL: [BlobKind; 20] = [
        BlobKind::Encoded,
        BlobKind::Past,
        BlobKind::Kept,
        BlobKind::New,
        BlobKind::Out,
        BlobKind::Known,
        BlobKind::Sets,
        BlobKind::Seats,
        BlobKind::Joining,
        BlobKind::Buckets,
        BlobKind::Regions,
        BlobKind::Members,
        BlobKind::Slice,
        BlobKind::Placed,
        BlobKind::Said,
        BlobKind::Counts,
        BlobKind::Groups,
        BlobKind::Last,
        BlobKind::People,
        BlobKind::Crowd,
    ];

    /// Its number.
    pub fn number(self) -> u8 {
        self as u8
    }

    /// The kind with this number.
    pub fn numbered(number: u8) -> Option<BlobKind> {
        BlobKind::ALL.get(number as usize).copied()
    }

    /// Whether it goes to the driver.
    pub fn is_for_driver(self) -> bool {
        self >= BlobKind::Said
    }
}

impl Blob {
    pub(super) fn new(place: usize, kind: BlobKind, numbers: &[u32]) -> Blob {
        Blob { place: place as u32, kind, bytes: bytes_of(numbers) }
    }

    /// A message for the driver.
    pub(super) fn said(place: usize, what: &impl Serialize) -> Blob {
        let bytes = serde_json::to_vec(what).expect("names and numbers are JSON");
        Blob { place: place as u32, kind: BlobKind::Said, bytes }
    }

    /// The message.
    pub(super) fn heard<T: DeserializeOwned>(&self) -> T {
        serde_json::from_slice(&self.bytes).expect("a kernel of this version has written it")
    }

    pub(super) fn numbers(&self) -> Vec<u32> {
        numbers_of(&self.bytes).collect()
    }
}

/// The numbers of all blobs of a kind, one after another.
pub(super) fn numbers_of_kind(blobs: &[(BlobKind, &[u8])], kind: BlobKind) -> Vec<u32> {
    let mut numbers = Vec::new();
    blobs.iter().filter(|blob| blob.0 == kind).for_each(|blob| numbers.extend(numbers_of(blob.1)));
    numbers
}

/// Rows of one width, sorted by key.
pub(super) fn sorted(numbers: &[u32], width: usize) -> Vec<&[u32]> {
    let mut rows: Vec<&[u32]> = numbers.chunks_exact(width).collect();
    rows.sort_unstable_by_key(|row| key(row));
    rows
}

/// Rows on their way to places.
pub(super) struct Sheaf {
    kind: BlobKind,
    rows: BTreeMap<usize, Vec<u32>>,
}

impl Sheaf {
    pub fn new(kind: BlobKind) -> Sheaf {
        Sheaf { kind, rows: BTreeMap::new() }
    }

    /// The row of a place, to be appended to.
    pub fn at(&mut self, place: usize) -> &mut Vec<u32> {
        self.rows.entry(place).or_default()
    }

    pub fn finish(self) -> impl Iterator<Item = Blob> {
        let kind = self.kind;
        self.rows.into_iter().map(move |(place, numbers)| Blob::new(place, kind, &numbers))
    }
}

/// The sum of keyed rows, whatever their order: two tables with one sum have the same rows. Keys are keyed hashes, so nobody
/// can choose rows that cancel out.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
pub(super) struct RowSum {
    pub rows: u64,
    sums: [u64; 2],
}

impl RowSum {
    pub fn add(&mut self, row: &[u32]) {
        let mix = |start: u64, factor: u64| {
            row.iter().fold(start, |sum, &number| (sum.rotate_left(23) ^ u64::from(number)).wrapping_mul(factor))
        };
        self.rows += 1;
        self.sums[0] = self.sums[0].wrapping_add(mix(0x9e37_79b9_7f4a_7c15, 0xff51_afd7_ed55_8ccd));
        self.sums[1] = self.sums[1].wrapping_add(mix(0xc2b2_ae3d_27d4_eb4f, 0xc4ce_b9fe_1a85_ec53));
    }

    pub fn and(self, other: RowSum) -> RowSum {
        let sum = |at: usize| self.sums[at].wrapping_add(other.sums[at]);
        RowSum { rows: self.rows + other.rows, sums: [sum(0), sum(1)] }
    }
}
