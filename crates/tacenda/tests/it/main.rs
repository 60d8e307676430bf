//! Questions about the whole library, one file each.

mod tidy;
//! The library from outside: policies and audits together.

mod incremental_k_anonymity;
