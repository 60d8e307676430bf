//! The library from outside: policies and audits together.

mod incremental_k_anonymity;
