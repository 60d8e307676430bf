//! The checks of the auditor, one file a check.

pub(super) mod ask;
pub(super) mod candidates;
pub(super) mod difference;
pub(super) mod diversity;
pub(super) mod frequency;
pub(super) mod group_sizes;
pub(super) mod linked_ids;
mod pairs;
mod tally;

pub(super) use ask::Ask;
