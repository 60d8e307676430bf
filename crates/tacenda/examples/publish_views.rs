//! Gives two recipients different columns of the same people, so that joining the two views does not tell a disease.
//!
//! The data are Example 1 of paper 004 (docs/papers.md).
//!
//! `cargo run --example publish_views`

use std::error::Error;
use std::fs;
use tacenda::{Given, ProjectFolder, ReleaseRequest};

const POLICY: &str = r#"
policy = 1
[series]
name = "people"
[columns]
pid = { role = "identifier" }
name = { role = "quasi", type = "category", values = ["Alice", "Bob", "Cathy"], missing = "error" }
job = { role = "quasi", type = "category", hierarchy = "job.csv", missing = "error" }
disease = { role = "sensitive", values = ["Cancer", "HIV"] }
[views.health]
columns = ["job", "disease"]
recipients = ["hospital"]
[views.tax]
columns = ["name", "job"]
recipients = ["tax office"]
[promise]
model = "xy-anonymity"  # A reader who joins both views finds at least k diseases for every name and job.
x = ["name", "tax.job"]
y = ["disease"]
k = 2
"#;
const JOBS: &str = "Banker;Office;*\nClerk;Works;*\nDriver;Works;*\nEngineer;Office;*\n";
const PEOPLE: &str = "pid,name,job,disease\n1,Alice,Banker,Cancer\n2,Alice,Banker,Cancer\n3,Bob,Clerk,HIV\n4,Bob,Driver,Cancer\n5,Cathy,Engineer,HIV\n";

/// The example; a test runs it too.
pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let root = folder.path();
    for (name, content) in [("tacenda.toml", POLICY), ("job.csv", JOBS), ("people.csv", PEOPLE)] {
        fs::write(root.join(name), content)?;
    }
    for view in ["health", "tax"] {
        let request = ReleaseRequest {
            project: ProjectFolder { root: root.into(), ..ProjectFolder::default() },
            data: Some(Given::Path(root.join("people.csv"))),
            view: Some(view.into()),
            ..ReleaseRequest::default()
        };
        let published = request.prepare(None, &|_, _| ())?.publish(&|_, _| ())?;
        let rows = published.files.iter().find(|name| name.ends_with(".csv")).ok_or("a release has its rows as CSV")?;
        let rows = fs::read_to_string(published.folder.join(rows))?;
        println!("{view}:\n{rows}");
        assert_eq!(rows.contains("Banker"), view == "health", "the tax office gets the level above: Office");
    }
    Ok(())
}
