//! Questions about the whole library, one file each.

mod tidy;
mod views;
