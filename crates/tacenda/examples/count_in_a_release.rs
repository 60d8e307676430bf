//! Counts people in a release, as a recipient does who has nothing but its folder.
//!
//! Ages are generalised, so the answer is an estimate between the lowest and the highest possible count.
//!
//! `cargo run --example count_in_a_release`

use std::error::Error;
use std::fs;
use tacenda::{Given, ProjectFolder, ReleaseRequest};

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

const TABLE: &str = "name,age,disease\nBob,21,flu\nAlice,22,asthma\nAndy,34,flu\nDavid,43,angina\n";

/// The example; a test runs it too.
pub fn main() -> Result<(), Box<dyn Error>> {
    let steward = tempfile::tempdir()?;
    fs::write(steward.path().join("tacenda.toml"), POLICY)?;
    fs::write(steward.path().join("q1.csv"), TABLE)?;
    let request = ReleaseRequest {
        project: ProjectFolder { root: steward.path().into(), ..ProjectFolder::default() },
        data: Some(Given::Path(steward.path().join("q1.csv"))),
        ..ReleaseRequest::default()
    };
    let published = request.prepare(None, &|_, _| ())?.publish(&|_, _| ())?;

    let release = published.folder.to_string_lossy();
    for (condition, people) in [("disease = flu", 2), ("age < 40", 3)] {
        let count = tacenda::count(steward.path(), &release, condition, &|_, _| ())?;
        println!("{condition}: about {}, from {} to {}", count.estimate, count.lowest, count.highest);
        assert!(count.lowest <= people && people <= count.highest, "the true count is within the bounds");
    }
    Ok(())
}
