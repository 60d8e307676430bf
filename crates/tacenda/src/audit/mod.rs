//! What readers can learn: checks written from the definitions, and attackers that see only the releases.
//!
//! This room knows no promise by name and nothing of how groups are made. [`gate`] judges a finished release together
//! with everything published before. `publish` commits no release in which the gate finds a fault.

mod series;
mod rerun;
mod outcome;
mod reason;
mod quantity;
mod statement;
mod finding;
mod gate;
mod counts;
pub(crate) mod invariance;
pub(crate) mod difference;
pub mod incremental_k_anonymity;
pub mod k_anonymity;

pub mod knowledge;
mod by_group;
pub mod candidates;
pub mod story;
pub mod refine;
mod sweep;
pub mod worlds;

mod join;
mod views;

mod examine;
mod checks;
mod second_look;

#[cfg(test)]
pub(crate) mod sketch;

pub use crate::model::Traces;
pub use examine::{examine, examine_only, stories_of};
pub use finding::{Fault, Finding};
pub use gate::{Evidence, Faults, gate};
pub(crate) use gate::{
    LEFT_OUT, Whole, compares, each_group, enough_people, gate_people, gate_unit, gate_whole, last_release,
    no_counterfeits,
};
pub(crate) use join::judge_joins;
pub use join::{
    JoinCoverage, JoinEvidence, JoinReading, JoinReport, RequirementReport, STEPS_TOGETHER, judge_join, materialise,
    read_naively,
};
pub use outcome::{Assessment, Check, Coverage, Measure, Outcome, Severity, Theorem, Verdict, VerdictWord, Witness};
pub use quantity::Quantity;
pub use reason::{Reason, WayOut};
pub use rerun::{Exchanged, Rerun};
pub use series::{Attacker, Budget, Effort, Households, Population, Series, Thresholds};
pub use statement::Statement;
pub use views::{ViewEvidence, ViewVerdict, gate_view};
