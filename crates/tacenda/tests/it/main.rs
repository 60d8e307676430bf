//! Questions about the whole library, one file each.

mod incremental_k_anonymity;
mod tidy;
