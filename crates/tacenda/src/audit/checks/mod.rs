//! The checks of the auditor, one file per check.

pub(super) mod ask;
pub(super) mod boundaries;
pub(super) mod candidates;
mod certificate;
pub(super) mod chain;
pub(super) mod changes;
pub(super) mod closeness;
pub(super) mod correspondence;
pub(super) mod difference;
pub(super) mod diversity;
pub(super) mod drift;
pub(super) mod equivalence;
pub(super) mod ever_linked;
mod flows;
pub(super) mod frequency;
pub(super) mod group_names;
pub(super) mod group_sizes;
mod households;
pub(super) mod joins;
pub(super) mod learned;
pub(super) mod linked_ids;
pub(super) mod matching;
pub(super) mod moved_regions;
mod network;
mod pairs;
mod places;
pub(super) mod posterior;
pub(super) mod rerun;
pub(super) mod row_order;
mod suppressed;
mod tally;
pub(super) mod waiting;

pub(super) use ask::Ask;
