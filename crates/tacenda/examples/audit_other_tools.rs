//! Audits two files that some other tool made: each is 2-diverse, and both together are not.
//!
//! `cargo run --example audit_other_tools`

use std::error::Error;
use std::fs;
use tacenda::report::{TextOptions, text};
use tacenda::{AuditRequest, Given, Severity, SubjectRequest};

const FIRST: &str = "age,zip,disease\n20-29,47***,flu\n20-29,47***,cold\n30-39,48***,gout\n30-39,48***,flu\n";
const SECOND: &str = "age,zip,disease\n20-29,47***,flu\n20-29,47***,mumps\n30-39,48***,gout\n30-39,48***,flu\n";

/// The example; a test runs it too.
pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut releases = Vec::new();
    for (name, table) in [("r1.csv", FIRST), ("r2.csv", SECOND)] {
        let path = folder.path().join(name);
        fs::write(&path, table)?;
        releases.push(Given::Path(path));
    }
    // The notation of the cells is found out. Only the roles of the columns have to be named.
    let subject = SubjectRequest {
        releases,
        quasi: vec!["age".into(), "zip".into()],
        sensitive: vec!["disease".into()],
        ..SubjectRequest::default()
    };
    let audit = AuditRequest { subject, ..AuditRequest::default() }.read(&|_, _| ())?;
    let answer = audit.judge(&|_, _| ());
    println!("{}", text(&answer.report, TextOptions::default()));

    // Somebody of 20 to 29 who is in both files has the flu: the one disease that both groups list.
    let finding = &answer.report.findings[0];
    assert_eq!((finding.severity, finding.releases()), (Severity::Warning, vec![1, 2]));
    assert!(answer.report.story.is_some_and(|story| story.left == 1), "one value is left");
    Ok(())
}
