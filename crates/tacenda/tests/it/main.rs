//! Questions about the whole library, one file each.

mod attacks;
mod gate;
mod incremental_k_anonymity;
mod kit;
mod property;
mod tidy;
