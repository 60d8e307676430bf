//! What can be learned: checks written from the definitions, and adversaries that only see releases.

pub mod knowledge;
mod stab;
pub mod candidates;
pub mod story;
pub mod flow;
pub mod refine;
pub mod worlds;
#[cfg(test)]
mod sketch;
