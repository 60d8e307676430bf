//! The use cases of Tacenda, one per file: a request goes in, an answer comes out.
//!
//! The command, the console and the Python package fill in the request, and print or convert the answer. Everything in between is
//! decided here, so that all agree: which files form the series, what their releases are called, which of them repeat
//! another, and which notes are given.
//!
//! A use case that needs a person's consent has two halves: the first returns what would be done, the second does it.

mod bug;
mod error;
mod problem;
mod database;
mod request;
mod private_file;
mod subject;
mod audit;
mod remedy;
mod explain;
mod draft;
mod adopt;
mod summary;
mod check;
mod deliver;
mod release;
mod plan;
mod releases;
mod report;
mod receipt;
mod retract;
mod erase;
mod keys;
mod approve;
mod vault;
mod backup;
mod cautions;
mod start_over;
mod diff;
mod demo;
mod situation;
mod trial;
mod overview;
mod policy_text;
mod hierarchy;
mod told;

pub use adopt::{AdoptReport, AdoptRequest, AdoptedRelease, Adopting};
pub use approve::{ApproveReport, Approving};
pub use audit::{Audit, AuditAnswer, AuditRequest, FailOn, budget};
pub use backup::{BackupReport, backup, restore};
pub use bug::{keep_panics_quiet, told_of_bug};
pub use cautions::{before_publishing, set_back, unremembered};
pub use check::{CheckReport, WhatIf, check};
pub use database::{Database, DatabaseError, Delivered, Fetched, Withdrawal, Withdrawn};
pub use deliver::{DeliverReport, DeliveryOutcome, DeliveryReport, OwedDelivery, WantedDeliveries, deliver};
pub use demo::{Attack, DemoReport, DemoRequest, DemoStory, NAIVE, demo};
pub use diff::{DiffReport, DiffSide, DiffValue, diff};
pub use draft::{DraftRequest, Drafting, InitColumn, InitReport};
pub use erase::{EraseReport, erase, retain};
pub use error::{RequestFault, UseCaseError};
pub use explain::{
    ExplainReport, explain_audit, explain_code, explain_finding, explain_group, explain_person, person_stories, wrapped,
};
pub use hierarchy::{TreeNode, TreeReport, TreeRule, new_tree, save_tree, tree};
pub use keys::{KeyReport, new_key, rotate_key, show_key};
pub use overview::{NextStep, Overview, Planned, PolicySummary, discard_plan, overview};
pub use plan::{DriftReport, Plan, PlanReport, plan};
pub use policy_text::{policy_text, save_policy_text};
pub use private_file::{assert_private, write_private};
pub use problem::ProblemReport;
pub use receipt::{ReceiptAnswer, ReceiptReport, ReceiptedRelease, receipt};
pub use release::{ClusterCut, Next, PublishReport, Rehearsed, ReleaseRequest};
pub use releases::{
    CountReport, LogEvent, LogReport, LogView, ReleaseFile, ShowReport, VerifyFault, VerifyReport, VerifyRequest,
    count, log, release_files, show, verify,
};
pub use remedy::Remedies;
pub use report::report;
pub use request::{FileOptions, Progress, ProjectFolder, Said};
pub use retract::{RetractReport, retract};
pub use situation::{
    DemoEntry, Learned, ShownRelease, SituationReport, SituationRequest, demo_named, demos, show_situation,
};
pub use start_over::{EARLIER, NewReport, StartOver, start_over};
pub use subject::{Order, Subject, SubjectRequest};
pub use summary::{Summary, ViewSummary};
pub use told::ToldError;
pub use trial::{SettingChoice, Trial, TrialReport};
pub use vault::{VaultReport, reseal_vault, set_vault_passphrase};
