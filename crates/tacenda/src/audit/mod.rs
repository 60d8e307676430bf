//! What can be learned: checks written from the definitions, and adversaries that only see releases.

pub mod k_anonymity;
