//! `kill -9` of the real binary at random moments: the project is whole afterwards, and goes on.

use crate::kit::{POLICY, TestProject, patients};
use std::process::Stdio;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// How often the publisher is killed.
const KILLS: u32 = 25;

#[test]
fn a_killed_publisher_leaves_the_old_state_or_the_new() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.write("table.csv", &patients(0, 3000));
    let whole = Instant::now();
    project.ok(&["publish", "table.csv", "--yes", "--quiet", "--label", "first"]);
    let whole = whole.elapsed();
    let mut published = 1;
    for kill in 0..KILLS {
        // Spread over the whole run, a little past its end.
        let wait = whole.mul_f64(1.1 * f64::from(kill) / f64::from(KILLS));
        let label = format!("try {kill}");
        let mut child = project
            .command(&["publish", "table.csv", "--yes", "--quiet", "--label", &label])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        thread::sleep(wait.min(Duration::from_secs(20)));
        let _ = child.kill();
        let _ = child.wait();
        let log: serde_json::Value = serde_json::from_str(&project.ok(&["log", "--format", "json"])).unwrap();
        let releases = log["events"].as_array().unwrap().iter().filter(|event| event["event"] == "publish").count();
        assert!(releases == published || releases == published + 1, "one more release, or none");
        published = releases;
    }
    // The next run carries on: it finishes or removes what the last kill left.
    project.ok(&["publish", "table.csv", "--yes", "--quiet", "--label", "last"]);
    assert!(project.ok(&["verify"]).starts_with("intact"));
    let folders = fs::read_dir(project.file("releases/ward-stays")).unwrap().count();
    assert_eq!(folders, published + 1, "a folder for every release of the ledger, and no other");
    let left = fs::read_dir(project.file(".tacenda/staging")).map_or(0, Iterator::count);
    assert_eq!(left, 0, "nothing is left in staging");
}
