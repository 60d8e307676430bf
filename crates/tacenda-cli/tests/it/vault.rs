//! The encrypted vault, as somebody at a terminal meets it: by default, without its key, damaged, and on the way back.

use crate::kit::{POLICY, TestProject, patients};
use std::fs;
use std::path::PathBuf;

fn published(releases: u32) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    for number in 0..releases {
        project.write("table.csv", &patients(number * 10, 60));
        project.ok(&["publish", "table.csv", "--yes"]);
    }
    project
}

fn keys(project: &TestProject) -> PathBuf {
    project.state.path().join("tacenda/keys")
}

/// The files of the vault whose names begin so.
fn files(project: &TestProject, kind: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.file(".tacenda/vault")).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.file_name().unwrap().to_str().unwrap().starts_with(kind)).collect();
    found.sort();
    found
}

/// What needs the vault: each with the words that run it.
const NEEDS_VAULT: [&[&str]; 7] = [
    &["check", "table.csv"],
    &["plan", "table.csv"],
    &["report"],
    &["publish", "table.csv", "--yes"],
    &["retract", "1", "--because", "a test"],
    &["new", "--name", "other", "--yes"],
    &["vault", "rekey"],
];

/// What looks at what left the house, and needs no vault.
const LOOKS: [&[&str]; 7] = [
    &["check"],
    &["log"],
    &["show", "1"],
    &["diff", "1", "2"],
    &["verify"],
    &["audit"],
    &["count", "1", "--where", "age >= 40"],
];

/// A series whose vault is lost cannot go on, and it can be set aside: nothing of it is needed for that.
#[test]
fn a_series_without_its_vault_can_be_set_aside() {
    let project = TestProject::with(&[("tacenda.toml", POLICY), ("table.csv", &patients(0, 60))]);
    project.ok(&["publish", "table.csv", "--yes"]);
    fs::remove_dir_all(project.file(".tacenda/vault")).unwrap();
    project.fails(&["publish", "table.csv", "--yes", "--label", "next"], 5, "L504");
    project.ok(&["new", "--name", "other", "--yes"]);
    assert!(project.ok(&["-C", "earlier/ward-stays", "log"]).contains("r0001"));
    project.ok(&["publish", "table.csv", "--yes"]);
    assert!(project.file("releases/other/r0001").is_dir());
}

#[test]
fn a_new_project_has_an_encrypted_vault_and_its_key_lies_elsewhere() {
    let project = TestProject::with(&[("tacenda.toml", POLICY), ("table.csv", &patients(0, 60))]);
    let first = project.run(&["publish", "table.csv", "--yes"]);
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert!(
        first.stderr.contains("The vault is encrypted") && first.stderr.contains("recovery.key"),
        "{}",
        first.stderr
    );
    for path in files(&project, "") {
        let name = path.file_name().unwrap().to_str().unwrap();
        let bytes = fs::read(&path).unwrap();
        let is_open = name == "head" || name == "key.age";
        assert!(is_open || bytes.starts_with(b"tacenda-vault-2\n"), "{name}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{name}");
        }
    }
    #[cfg(unix)]
    for name in ["vault.key", "recovery.key"] {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(keys(&project).join(name)).unwrap().permissions().mode() & 0o777, 0o600);
    }
    // It is said once.
    project.write("table.csv", &patients(10, 60));
    assert!(!project.run(&["publish", "table.csv", "--yes"]).stderr.contains("recovery.key"));
}

#[test]
fn without_the_key_what_needs_the_vault_says_so_and_the_ways_out_work() {
    let project = published(2);
    let (here, away) = (keys(&project), project.state.path().join("away"));
    fs::rename(&here, &away).unwrap();
    for what in ["missing", "another"] {
        if what == "another" {
            // A second project made other keys.
            let other = published(1);
            fs::rename(keys(&other), &here).unwrap();
        }
        for words in NEEDS_VAULT {
            let ended = project.fails(words, 6, "K605");
            assert!(ended.stderr.contains("--keys") && ended.stderr.contains("recovery key"), "{}", ended.stderr);
        }
        for words in LOOKS {
            project.ok(words);
        }
        // Nothing is made that could be taken for the key.
        assert_eq!(here.exists(), what == "another");
        assert!(project.ok(&["verify"]).contains("the vault was not checked"));
    }
    // One way out: the folder with the key is named.
    project.ok(&["plan", "table.csv", "--keys", away.to_str().unwrap()]);
    // The other one: the recovery key is put beside the keys that are there, and the vault moves to them.
    fs::copy(away.join("recovery.key"), here.join("recovery.key")).unwrap();
    project.ok(&["plan", "table.csv"]);
    project.ok(&["vault", "rekey"]);
    fs::remove_file(here.join("recovery.key")).unwrap();
    assert!(project.ok(&["verify"]).contains("the ledger, the vault and 2 releases"));
    project.fails(&["plan", "table.csv", "--keys", away.to_str().unwrap()], 6, "K605");
}

#[test]
fn a_passphrase_is_asked_for_and_a_wrong_one_is_refused() {
    let project = published(1);
    fs::remove_file(keys(&project).join("recovery.key")).unwrap();
    let run = |words: &[&str], passphrase: &str| {
        let output = project.command(words).env("TACENDA_PASSPHRASE", passphrase).output().unwrap();
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(run(&["vault", "passphrase"], "correct horse").0, 0);
    project.fails(&["plan", "table.csv"], 6, "K601");
    let (code, said) = run(&["plan", "table.csv"], "battery staple");
    assert!(code == 6 && said.contains("K602"), "{said}");
    assert_eq!(run(&["plan", "table.csv"], "correct horse").0, 0);
    project.ok(&["audit"]);
}

#[test]
fn a_damaged_vault_is_refused_by_everybody_who_reads_it() {
    let project = published(1);
    let earlier: Vec<(PathBuf, Vec<u8>)> =
        files(&project, "").into_iter().map(|path| (path.clone(), fs::read(path).unwrap())).collect();
    let of_release_1 = |kind: &str| {
        let is_it = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with(kind);
        earlier.iter().find(|(path, _)| is_it(path)).unwrap().1.clone()
    };
    project.write("table.csv", &patients(10, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    let keys_file = files(&project, "keys-").pop().unwrap();
    let good = fs::read(&keys_file).unwrap();
    let mut flipped = good.clone();
    *flipped.last_mut().unwrap() ^= 1;
    let another = fs::read(files(&project, "cells-").pop().unwrap()).unwrap();
    for (what, bad) in [
        ("a byte is flipped", flipped),
        ("it is cut short", good[..good.len() - 20].to_vec()),
        ("it is another file", another),
        ("it is the file of release 1", of_release_1("keys-")),
        ("it is empty", Vec::new()),
    ] {
        fs::write(&keys_file, bad).unwrap();
        for words in [&["plan", "table.csv"][..], &["publish", "table.csv", "--yes"], &["vault", "rekey"]] {
            let ended = project.run(words);
            assert_eq!(ended.code, 5, "{what}: {words:?} {}", ended.stderr);
            assert!(ended.stderr.contains("L503") && ended.stderr.contains("backup"), "{what}: {}", ended.stderr);
        }
        let verified = project.run(&["verify"]);
        assert!(verified.code == 5 && verified.stdout.contains("L503"), "{what}: {}", verified.stdout);
    }
    fs::write(&keys_file, &good).unwrap();
    project.ok(&["verify"]);
    // The wrapped key itself.
    let key = project.file(".tacenda/vault/key.age");
    let wrapped = fs::read(&key).unwrap();
    let mut bad = wrapped.clone();
    bad[60] ^= 1;
    fs::write(&key, bad).unwrap();
    let ended = project.run(&["plan", "table.csv"]);
    assert!(ended.code == 5 && ended.stderr.contains("K507"), "{} {}", ended.code, ended.stderr);
    fs::write(&key, wrapped).unwrap();
    project.ok(&["plan", "table.csv"]);
}

#[test]
fn an_older_project_is_read_as_it_is_and_encrypted_when_asked() {
    let project = TestProject::with(&[("tacenda.toml", POLICY), ("table.csv", &patients(0, 60))]);
    project.fix_seed();
    project.ok(&["publish", "table.csv", "--yes"]);
    let is_sealed = || fs::read(&files(&project, "keys-")[0]).unwrap().starts_with(b"tacenda-vault-2\n");
    assert!(!is_sealed());
    assert!(project.ok(&["vault", "lock"]).contains("The vault is encrypted"));
    assert!(is_sealed());
    project.write("table.csv", &patients(10, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    assert!(is_sealed());
    // Decrypting is asked about.
    project.fails(&["vault", "unlock"], 6, "agreed");
    assert!(is_sealed());
    assert!(project.ok(&["vault", "unlock", "--yes"]).contains("NOT encrypted"));
    assert!(!is_sealed());
    project.ok(&["verify"]);
}

#[test]
fn the_demo_leaves_nothing_outside_of_its_folder() {
    let project = TestProject::empty();
    project.ok(&["demo", "demo", "--patients", "2000"]);
    let left: Vec<_> = fs::read_dir(project.state.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(left.is_empty(), "{left:?}");
    project.ok(&["-C", "demo", "verify"]);
}
