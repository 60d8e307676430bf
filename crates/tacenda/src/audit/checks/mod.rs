//! The checks of the auditor, one file a check.

pub(super) mod ask;
pub(super) mod candidates;
pub(super) mod closeness;
pub(super) mod correspondence;
pub(super) mod difference;
pub(super) mod diversity;
pub(super) mod drift;
mod flows;
pub(super) mod frequency;
pub(super) mod group_sizes;
pub(super) mod linked_ids;
pub(super) mod matching;
mod pairs;
mod tally;

pub(super) use ask::Ask;
