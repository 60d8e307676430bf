//! What can be learned: checks written from the definitions, and adversaries that only see releases.
//!
//! This room knows no policy. [`gate`] judges a finished release together with everything published
//! before, and `publish` commits nothing that it finds fault with.

mod series;
mod outcome;
mod finding;
mod gate;
mod invariance;
mod difference;
pub mod incremental_k_anonymity;
pub mod k_anonymity;

pub mod knowledge;
mod by_group;
mod ties;
mod stab;
pub mod candidates;
pub mod story;
pub mod flow;
mod seats;
pub mod refine;
pub mod worlds;

mod join;
mod views;

mod examine;
mod checks;
mod second_look;

#[cfg(test)]
mod sketch;

pub use examine::examine;
pub use examine::examine_only;
pub use examine::stories_of;
pub use finding::CODES;
pub use finding::Fault;
pub use finding::Finding;
pub use gate::Evidence;
pub use gate::gate;
pub use join::Coverage as JoinCoverage;
pub use join::JoinEvidence;
pub use join::JoinReport;
pub use join::Reading;
pub use join::RequirementReport;
pub use join::judge_join;
pub use join::judge_joins;
pub use join::materialise;
pub use join::read_naively;
pub use outcome::Assessment;
pub use outcome::Check;
pub use outcome::Coverage;
pub use outcome::Measure;
pub use outcome::Outcome;
pub use outcome::Severity;
pub use outcome::Verdict;
pub use outcome::Witness;
pub use series::Attacker;
pub use series::Limits;
pub use series::Series;
pub use series::Thresholds;
pub use series::Traces;
pub use views::ViewEvidence;
pub use views::ViewVerdict;
pub use views::gate_view;
