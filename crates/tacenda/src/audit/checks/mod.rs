//! The checks of the auditor, one file a check.

pub(super) mod ask;
pub(super) mod candidates;
pub(super) mod diversity;
pub(super) mod frequency;
pub(super) mod group_sizes;
mod tally;

pub(super) use ask::Ask;
