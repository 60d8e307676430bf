//! Real arrivals, departures, returns and changes: ten quarterly releases of New York's custody data.
//!
//! Uses `../shared/data` beside the repository, or the folder named by `TACENDA_DATA`; says so and
//! skips where it is absent. The sensitive attribute is the top charge at level 1 of its hierarchy:
//! the article of the penal law, some fifty values of which the most frequent is held by one in six.

use std::env;
use std::fs;
use std::fs::File;
use std::io::BufRead;
use std::io::BufReader;
use std::path::Path;
use std::path::PathBuf;
use tacenda::publish::Access;
use tacenda::publish::Input;
use tacenda::publish::Project;

const POLICY: &str = r#"policy = 1

[series]
name    = "custody"
title   = "People in custody, quarterly"
contact = "nobody@example.org"

[columns]
event_date    = { role = "drop" }
id            = { role = "identifier" }
admitted_date = { role = "quasi", type = "date", domain = [1990-01-01, 2031-01-01], grid = "month" }
age           = { role = "quasi", type = "integer", domain = [0, 120] }
gender        = { role = "quasi", type = "category", hierarchy = "hierarchies/gender.csv" }
race          = { role = "quasi", type = "category", hierarchy = "hierarchies/race.csv" }
custody_level = { role = "drop" }
status        = { role = "drop" }
mental_obs    = { role = "drop" }
gang_flag     = { role = "drop" }
infraction    = { role = "drop" }
top_charge    = { role = "sensitive", type = "category", hierarchy = "hierarchies/top_charge.csv", level = 1 }

[promise]
model         = "m-invariance"
m             = 3
on_ineligible = "defer"

[counterfeits]
max_share = 0.02
[withheld]
max_share = 0.05
"#;

/// The folder with real data, if there is one.
pub fn data() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let folder = env::var_os("TACENDA_DATA").map_or(beside, PathBuf::from);
    folder.join("nyc_custody_quarterly_log.csv.zst").exists().then_some(folder)
}

#[test]
fn ten_quarters_of_custody_data_pass_the_gate() {
    let Some(data) = data() else {
        println!("SKIPPED: no real data; put it into ../shared/data or name its folder in TACENDA_DATA");
        return;
    };
    let project = tempfile::tempdir().unwrap();
    fs::write(project.path().join("tacenda.toml"), POLICY).unwrap();
    fs::create_dir(project.path().join("hierarchies")).unwrap();
    for name in ["gender.csv", "race.csv", "top_charge.csv"] {
        let from = data.join("nyc_custody_hierarchies").join(name);
        fs::copy(from, project.path().join("hierarchies").join(name)).unwrap();
    }
    let releases = 10;
    for (quarter, delta) in quarters(&data, releases).into_iter().enumerate() {
        let path = project.path().join("delta.csv");
        fs::write(&path, delta).unwrap();
        let mut open = Project::open(project.path(), None, Access::Publish).unwrap();
        let input = Input { path, delta: true, show_values: false, memory: None, threads: 0 };
        let material = open.material(&input, &|_| {}).unwrap();
        let rehearsal = open.rehearse(&material, None, &|_| {}).unwrap();
        open.publish(&material, &rehearsal, &|_| {}).unwrap();
        let (release, change) = (&rehearsal.prepared.release, rehearsal.prepared.change);
        println!(
            "release {}: {} people, {change:?}, {} counterfeits, {} withheld, {} value sets, loss {:.4}",
            quarter + 1,
            material.table().len(),
            release.counterfeit_count(),
            rehearsal.prepared.membership.withheld.len(),
            rehearsal.prepared.history.value_sets.len(),
            rehearsal.loss.leaf_share,
        );
    }
    let open = Project::open(project.path(), None, Access::Look).unwrap();
    assert_eq!(open.publications().len(), releases);
    assert!(tacenda::ledger::verify(open.store().unwrap()).is_empty());
}

/// The change log cut into quarters, each a table of changes.
fn quarters(data: &Path, count: usize) -> Vec<String> {
    let file = File::open(data.join("nyc_custody_quarterly_log.csv.zst")).unwrap();
    let mut lines = BufReader::new(zstd::Decoder::new(file).unwrap()).lines().map(Result::unwrap);
    let header = lines.next().unwrap();
    let mut quarters: Vec<(String, String)> = Vec::new();
    for line in lines {
        let date = line.split(',').next().unwrap().to_string();
        if quarters.last().is_none_or(|(last, _)| *last != date) {
            if quarters.len() == count {
                break;
            }
            quarters.push((date, header.clone() + "\n"));
        }
        let (_, text) = quarters.last_mut().unwrap();
        text.push_str(&line);
        text.push('\n');
    }
    quarters.into_iter().map(|(_, text)| text).collect()
}
