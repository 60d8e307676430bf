//! Publishing from a cluster: other machines hold the people, and this one holds the release and the vault.
//!
//! A [`Cluster`] keeps blobs: bytes with a place and a kind. It only moves them, runs a [`Kernel`] on those of one place, and
//! hands over those that are for the driver. A kernel is a pure function: it may run again after a failure, anywhere. The
//! driver (`drive.rs`) says what runs, step by step:
//!
//! 1. Encode: rows become codes, by the first bits of their keys (a part). Texts go to the driver, which numbers them.
//! 2. Compare: part by part, people are compared with those of the vault, which the driver sends.
//! 3. Count: how many arrivals of a cell have which value. The driver cuts cells until each is small: a unit.
//!    Or, where arrivals join groups of the last release, points and join: their codes come to the driver, and the group of each
//!    goes back. Or, where everyone gets a bucket first, crowd and deal: keys, values and places on a curve come to the driver,
//!    and the unit of each goes back.
//! 4. Solve: unit by unit groups are formed. Their regions and values go to the driver, which makes the release of them.
//! 5. Check: the driver sends each unit its part of the finished release, and the gate judges it against its people.
//! 6. Gather: people come back to the driver, part by part, on their way into the vault. It judges that everyone is there
//!    once, and looks at the whole, exactly as if the people had been on its own disk.
//!
//! The kernels call what the way in memory and the way from disk call. So the release is the same, to the byte.
//! The seed never leaves the driver: kernels get keys that are derived from it.

mod blobs;
mod drive;
mod finish;
mod kernel;
mod task;
mod units;

pub use blobs::{Blob, BlobKind};
pub(in crate::publish) use drive::{Driving, drive};
pub(in crate::publish) use finish::{Elsewhere, prepare};
pub use kernel::Kernel;

use crate::publish::ProjectError;

/// Takes what a step says to the driver.
pub type Listener<'a> = dyn FnMut(Blob) -> Result<(), ProjectError> + 'a;

/// Machines that keep blobs and run kernels. Their table was given to them before.
pub trait Cluster {
    /// Runs a step. Everything that is for the driver is handed to `listener`, in any order.
    fn step(&mut self, step: ClusterStep<'_>, listener: &mut Listener<'_>) -> Result<(), ProjectError>;
}

/// A step of a cluster.
#[derive(Debug)]
pub struct ClusterStep<'a> {
    /// What it is, for people.
    pub name: &'a str,
    /// From what it is made: the table, or the blobs that are kept, of these kinds.
    pub from: StepInput<'a>,
    /// The kernel that takes blobs as they lie, a few at a time and in any order.
    pub spread: Option<Vec<u8>>,
    /// The kernel that takes all blobs of one place.
    pub each_place: Option<Vec<u8>>,
    /// Blobs that the driver adds before `each_place`.
    pub more: Vec<Blob>,
    /// Whether the blobs it makes are kept in place of those that were kept. Otherwise all of them are for the driver.
    pub keeps: bool,
    /// Whether the blobs for the driver have people in them, so that they should come one after another.
    pub is_large: bool,
}

/// From what a step is made.
#[derive(Clone, Copy, Debug)]
pub enum StepInput<'a> {
    /// The table.
    Table,
    /// What is kept, of these kinds.
    Kept(&'a [BlobKind]),
}
