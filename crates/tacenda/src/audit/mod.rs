//! What can be learned: checks written from the definitions, and adversaries that only see releases.
//!
//! This room knows no policy. [`gate`] judges a finished release together with everything published
//! before, and `publish` commits nothing that it finds fault with.

mod finding;
mod gate;
mod invariance;
mod join;
mod matching;

pub use finding::CODES;
pub use finding::Finding;
pub use finding::Fault;
pub use gate::Evidence;
pub use gate::gate;
pub use join::Coverage;
pub use join::JoinEvidence;
pub use join::JoinReport;
pub use join::Reading;
pub use join::RequirementReport;
pub use join::judge_join;
pub use join::materialise;
pub use join::read_naively;
