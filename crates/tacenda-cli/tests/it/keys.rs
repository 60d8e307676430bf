//! A signing key, a signed release and an approved plan, as somebody with a terminal meets them.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;

fn project() -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.write("table.csv", &patients(0, 60));
    project
}

fn json(project: &TestProject, words: &[&str]) -> Value {
    serde_json::from_str(&project.ok(&[words, &["--format", "json"]].concat())).unwrap()
}

#[test]
fn a_key_is_made_shown_and_rotated() {
    let project = project();
    project.fails(&["key", "show"], 2, "K201");
    // Before anybody is asked for a passphrase.
    project.fails(&["key", "rotate"], 2, "K201");
    let ended = project.fails(&["key", "new"], 2, "U201");
    assert!(
        ended.stderr.contains("TACENDA_PASSPHRASE") && ended.stderr.contains("--no-passphrase"),
        "{}",
        ended.stderr
    );
    let made = project.ok(&["key", "new", "--no-passphrase"]);
    assert!(made.contains("NO passphrase"), "{made}");
    project.fails(&["key", "new", "--no-passphrase"], 2, "K202");
    let (shown, public) = (json(&project, &["key", "show"]), "public_key");
    assert!(made.contains(shown[public].as_str().unwrap()), "{made}\n{shown}");
    let rotated = json(&project, &["key", "rotate", "--no-passphrase"]);
    assert_eq!(rotated["follows"], shown["key"]);
    assert_eq!(json(&project, &["key", "show"]), rotated);
    // Nothing of it lies in the project.
    assert!(!project.file("keys").exists() && !project.file(".tacenda").exists());
}

#[test]
fn a_signed_release_is_verified_by_its_key() {
    let project = project();
    let key = json(&project, &["key", "new", "--no-passphrase"]);
    let public = key["public_key"].as_str().unwrap();
    let said = project.ok(&["publish", "table.csv", "--yes"]);
    assert!(said.contains(&format!("Signed by the key {}", key["key"].as_str().unwrap())), "{said}");
    let log = project.ok(&["log"]);
    assert!(log.contains(&format!("signed by the key {}", key["key"].as_str().unwrap())), "{log}");
    let folder = "releases/ward-stays/r0001";
    for words in [&["verify"][..], &["verify", folder]] {
        assert!(project.ok(words).contains("were not checked: name the publisher's key with --key"));
        let checked = project.ok(&[words, &["--key", public]].concat());
        assert!(checked.contains("signed: by the key"), "{checked}");
    }
    // A key file, as minisign writes it.
    project.write("their.pub", &format!("untrusted comment: minisign public key\n{public}\n"));
    project.ok(&["verify", folder, "--key", "their.pub"]);
    let other = "RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3";
    let ended = project.run(&["verify", folder, "--key", other]);
    assert_eq!((ended.code, ended.stdout.contains("K502")), (5, true), "{}", ended.stdout);
    project.fails(&["verify", folder, "--key", "nonsense"], 2, "K203");
    let sums = format!("{folder}/SHA256SUMS.minisig");
    std::fs::remove_file(project.file(&sums)).unwrap();
    let ended = project.run(&["verify", folder, "--key", public]);
    assert_eq!((ended.code, ended.stdout.contains("K503")), (5, true), "{}", ended.stdout);
}

#[test]
fn a_plan_waits_for_the_second_person() {
    let project = project();
    project.ok(&["key", "new", "--no-passphrase"]);
    let second = json(&project, &["--keys", "second", "key", "new", "--no-passphrase"]);
    let approver = second["public_key"].as_str().unwrap();
    project.write("tacenda.toml", &format!("{POLICY}[signatures]\napprovers = [{approver:?}]\n"));
    project.ok(&["plan", "table.csv"]);
    project.fails(&["publish", "--plan", "tacenda-plan.json", "--yes"], 6, "K603");
    project.fails(&["--keys", "second", "approve", "tacenda-plan.json"], 6, "U601");
    let said = project.ok(&["--keys", "second", "approve", "tacenda-plan.json", "--yes"]);
    assert!(said.contains("Approved: release 1"), "{said}");
    let published = project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    assert!(published.contains(&format!("Approved by the key {}", second["key"].as_str().unwrap())), "{published}");
}
