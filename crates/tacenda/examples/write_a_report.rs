//! Writes the recipients' and the steward's report on a published series.
//!
//! `cargo run --example write_a_report`

use std::error::Error;
use std::fs;
use tacenda::audit::Budget;
use tacenda::report::{Decision, html};
use tacenda::{Edition, Given, ProjectFolder, ReleaseRequest, ReportRequest};

const POLICY: &str = r#"
policy = 1
[series]
name = "ward"
[columns]
name = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120] }
disease = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"
m = 2
"#;

const TABLE: &str = "name,age,disease\nBob,21,flu\nAlice,22,asthma\nAndy,24,flu\nDavid,23,angina\n";

/// The example; a test runs it too.
pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let table = folder.path().join("q1.csv");
    fs::write(&table, TABLE)?;
    fs::write(folder.path().join("tacenda.toml"), POLICY)?;
    let project = ProjectFolder { root: folder.path().into(), ..ProjectFolder::default() };
    let data = Some(Given::Path(table.clone()));
    let request = ReleaseRequest { project: project.clone(), data, ..ReleaseRequest::default() };
    request.prepare(None, &|_, _| ())?.publish(&|_, _| ())?;

    // Only the steward's edition may use the private table.
    let editions = [(Edition::Recipient, Vec::new()), (Edition::Steward, vec![Given::Path(table)])];
    for (edition, truth) in editions {
        let request = ReportRequest {
            edition,
            truth,
            review_by: Some("2027-06-30".into()),
            budget: Budget::default(),
            language: None,
        };
        let report = tacenda::report(&project, request, &|_, _| ())?;
        println!("{edition:?}: {}", report.verdict.sentence);
        assert_ne!(report.verdict.decision, Decision::Fail);
        assert_eq!(report.private.is_some(), edition == Edition::Steward, "recipients see nothing private");
        fs::write(folder.path().join(format!("{edition:?}.html")), html(&report))?;
    }
    Ok(())
}
