//! Publishes a ward's table in two quarters: first one release, then an update in which two people leave and two arrive.
//!
//! `cargo run --example publish_a_series`

use std::error::Error;
use std::fs;
use tacenda::use_cases::Next;
use tacenda::{Given, ProjectFolder, ReleaseRequest};

/// The policy file: the role of every column, and the promise. `tacenda init` drafts one from a table.
const POLICY: &str = r#"
policy = 1
[series]
name = "ward"
[columns]
name = { role = "identifier" }
age = { role = "quasi", type = "integer", domain = [0, 120] }
disease = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"  # Everyone's disease stays one of m possible ones, over all releases together.
m = 2
[counterfeits]
max_share = 0.5  # At most half of the rows may be artificial: the made-up ward is small.
"#;

const Q1: &str =
    "name,age,disease\nBob,21,flu\nAlice,22,asthma\nAndy,24,flu\nDavid,23,angina\nGary,41,flu\nHelen,36,gout\n";
const Q2: &str =
    "name,age,disease\nBob,21,flu\nDavid,23,angina\nGary,41,flu\nHelen,36,gout\nRay,43,asthma\nTom,45,angina\n";

/// The example; a test runs it too.
pub fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let project = ProjectFolder { root: folder.path().into(), ..ProjectFolder::default() };
    fs::write(folder.path().join("tacenda.toml"), POLICY)?;

    for (label, table) in [("2026-Q1", Q1), ("2026-Q2", Q2)] {
        let path = folder.path().join("now.csv");
        fs::write(&path, table)?;
        let request = ReleaseRequest {
            project: project.clone(),
            data: Some(Given::Path(path)),
            label: Some(label.into()),
            ..ReleaseRequest::default()
        };
        // The release is formed and judged together with all earlier ones. Nothing is written yet.
        let Next::Release(mut rehearsed) = request.prepare(None, &|_, _| ())? else {
            return Err("a table is published once under its label".into());
        };
        let plan = rehearsed.summary();
        println!("{label}: {} arrived, {} left, {} artificial rows", plan.arrived, plan.left, plan.counterfeits);
        assert_eq!((plan.published, plan.withheld), (6, 0), "everyone is published");

        let published = rehearsed.publish(&|_, _| ())?;
        let rows = published.files.iter().find(|name| name.ends_with(".csv")).ok_or("a release has its rows as CSV")?;
        println!("{}", fs::read_to_string(published.folder.join(rows))?);
    }
    Ok(())
}
