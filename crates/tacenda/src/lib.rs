//! Tacenda publishes a changing table of people again and again, so that all releases together keep one
//! promise. It also audits any series of releases, by any tool, for what a reader of all of them can work out.
//!
//! Two quarters of a ward are published under m-invariance, and the series is audited:
//!
//! ```
//! use tacenda::{AuditRequest, Given, ProjectFolder, ReleaseRequest, Severity, SubjectRequest};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let root = folder.path().to_path_buf();
//! # let policy = "policy = 1\n[series]\nname = 'ward'\n[columns]\nname = { role = 'identifier' }\nage = { role = 'quasi', \
//! #     type = 'integer', domain = [0, 120] }\ndisease = { role = 'sensitive', type = 'category' }\n[promise]\nmodel = \
//! #     'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n";
//! # let q1 = "name,age,disease\nBob,21,flu\nAlice,22,asthma\nAndy,24,flu\nDavid,23,angina\nGary,41,flu\nHelen,36,gout\n";
//! # let q2 = q1.replace("Alice,22,asthma\nAndy,24,flu\n", "Ray,43,asthma\nTom,45,angina\n");
//! # std::fs::write(root.join("tacenda.toml"), policy)?;
//! # std::fs::write(root.join("q1.csv"), q1)?;
//! # std::fs::write(root.join("q2.csv"), q2)?;
//! // A folder with `tacenda.toml`, the policy, and a table per quarter: `q1.csv`, `q2.csv`.
//! let project = ProjectFolder { root: root.clone(), ..ProjectFolder::default() };
//! let quiet = |_steps: usize, _step: &str| {};
//! for quarter in ["q1", "q2"] {
//!     let table = Given::Path(root.join(quarter).with_extension("csv"));
//!     let label = Some(quarter.to_string());
//!     let request = ReleaseRequest { project: project.clone(), data: Some(table), label, ..ReleaseRequest::default() };
//!     // Nothing is written before the auditor has judged the release with everything published before.
//!     request.prepare(None, &quiet)?.publish(&quiet)?;
//! }
//! let subject = SubjectRequest { project, ..SubjectRequest::default() };
//! let answer = AuditRequest { subject, ..AuditRequest::default() }.read(&quiet)?.judge(&quiet);
//! assert!(answer.worst <= Some(Severity::Note), "no promise is broken, and nobody's disease is certain");
//! # Ok(())
//! # }
//! ```
//!
//! # Reading order
//!
//! [`model`] has the nouns. [`promise`] says what is promised, one folder each. [`publish`] makes a release: it forms
//! groups, generalises them and lets the auditor judge. [`audit`] has every check. [`ledger`] remembers what is published.
//! [`use_cases`] is what can be asked; the command and the Python package only fill in requests and print answers.
//! `examples/` has a small program for each of five uses.
//!
//! Each room names only rooms above it in the list below; `tests/it/tidy.rs` has the table, and enforces it.
//! `docs/science.md` has the definitions and the proofs; `ARCHITECTURE.md` draws the house.

pub mod model;
mod files;
mod space;
pub mod settings;
pub mod audit;
pub mod grouping;
pub mod promise;
pub mod ingest;
pub mod keys;
pub mod ledger;
pub mod measure;
pub mod folder;
pub mod made_up;
pub mod report;
pub mod publish;
pub mod use_cases;

pub use audit::Severity;
pub use ingest::Given;
pub use publish::ReportRequest;
pub use report::{Edition, Report};
pub use use_cases::{
    AuditAnswer, AuditRequest, ProjectFolder, ReleaseRequest, SubjectRequest, UseCaseError, VerifyRequest, count,
    report, verify,
};
