//! Attacks on a project folder and on what is printed, as somebody with a terminal would try them.

use crate::kit::{Ended, POLICY, TestProject, patients};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

fn published(releases: u32) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    (0..releases).for_each(|number| publish(&project, number));
    project
}

fn publish(project: &TestProject, number: u32) {
    project.write("table.csv", &patients(number * 10, 60));
    project.ok(&["publish", "table.csv", "--label", &format!("Q{number}"), "--yes"]);
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    assert!(Command::new("cp").arg("-a").arg(from).arg(to).status().unwrap().success());
}

#[test]
fn a_restored_project_is_refused_until_a_person_says_why() {
    let project = published(2);
    let backup = tempfile::tempdir().unwrap();
    for name in [".tacenda", "releases"] {
        copy(&project.file(name), &backup.path().join(name));
    }
    publish(&project, 2);
    for name in [".tacenda", "releases"] {
        copy(&backup.path().join(name), &project.file(name));
    }
    project.write("table.csv", &patients(35, 60));
    for words in [&["publish", "table.csv", "--yes"][..], &["plan", "table.csv"], &["retract", "1", "--because", "x"]] {
        let ended = project.fails(words, 5, "L511");
        assert!(ended.stderr.contains("3 lines, and 4 were seen"), "{}", ended.stderr);
    }
    let verified = project.run(&["verify"]);
    assert_eq!((verified.code, verified.stdout.contains("L511")), (5, true), "{}", verified.stdout);
    // Looking is allowed, and says what is looked at. Nothing is accepted without a reason.
    for words in [
        &["log"][..],
        &["show", "1"],
        &["report", "-o", "page.html"],
        &["audit"],
        &["check", "table.csv"],
        &["receipt"],
    ] {
        let ended = project.run(words);
        assert!(ended.stderr.contains("warning: L511: the ledger has 3 lines"), "{words:?}: {}", ended.stderr);
    }
    // A job is quiet, or asks for JSON: it is told all the same, and not where its results are.
    for words in [
        &["log", "-q"][..],
        &["log", "--format", "json"],
        &["report", "-q", "-o", "page.html"],
        &["backup", "kept.age", "-q", "--format", "json"],
    ] {
        let ended = project.run(words);
        assert_eq!(ended.code, 0, "{words:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("warning: L511: the ledger has 3 lines"), "{words:?}: {}", ended.stderr);
        assert!(!ended.stdout.contains("warning"), "{words:?}: {}", ended.stdout);
    }
    project.fails(&["publish", "table.csv", "--yes", "--accept-rollback", " "], 5, "L511");
    project.ok(&["publish", "table.csv", "--yes", "--accept-rollback", "release 3 never left the house"]);
    assert!(project.ok(&["log"]).contains("release 3 never left the house"));
    project.ok(&["verify"]);
}

/// The oldest state of all is an empty folder: its release 1 would be the second.
#[test]
fn a_series_whose_ledger_is_gone_does_not_begin_again() {
    let project = published(2);
    for name in [".tacenda", "releases"] {
        fs::remove_dir_all(project.file(name)).unwrap();
    }
    for words in [&["publish", "table.csv", "--yes"][..], &["plan", "table.csv"]] {
        project.fails(words, 5, "L515");
        assert!(!project.file(".tacenda").exists(), "nothing was set up");
    }
    // The ways out: another name; or the backup, in a folder of its own.
    project.write("tacenda.toml", &POLICY.replace("ward-stays", "ward-stays-2"));
    project.ok(&["publish", "table.csv", "--yes"]);
}

/// Whoever puts another series of the same name in its place has a ledger that is whole, and no anchor speaks of it.
#[test]
fn the_ledger_of_another_series_takes_no_ones_place() {
    let project = published(2);
    fs::create_dir(project.file("other")).unwrap();
    project.write("other/tacenda.toml", POLICY);
    project.write("table.csv", &patients(40, 60));
    project.ok(&["-C", "other", "publish", "table.csv", "--yes"]);
    let others = project.file("other");
    for name in [".tacenda", "releases"] {
        copy(&others.join(name), &project.file(name));
    }
    fs::remove_dir_all(others).unwrap();
    project.write("table.csv", &patients(50, 60));
    for words in [&["publish", "table.csv", "--yes"][..], &["plan", "table.csv"], &["retract", "1", "--because", "x"]] {
        project.fails(words, 5, "L517");
    }
    let verified = project.run(&["verify"]);
    assert_eq!((verified.code, verified.stdout.contains("L517")), (5, true), "{}", verified.stdout);
    assert!(project.run(&["log"]).stderr.contains("warning: L517"), "who looks is told");
    // The ways out: a person says why; or another name.
    project.ok(&["publish", "table.csv", "--yes", "--accept-rollback", "the first one never left the house"]);
    project.ok(&["verify"]);
    publish(&project, 6);
}

/// Without a home nothing would remember the series, and its vault would be readable.
#[test]
fn a_user_without_a_home_is_told_what_is_missing() {
    let project = TestProject::with(&[("tacenda.toml", POLICY), ("table.csv", &patients(0, 60))]);
    let run = |words: &[&str]| {
        let mut command = project.command(words);
        for name in ["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"] {
            command.env_remove(name);
        }
        Ended::of(command.output().unwrap())
    };
    let ended = run(&["publish", "table.csv", "--yes"]);
    assert_eq!((ended.code, ended.stderr.contains("there is no home folder")), (2, true), "{}", ended.stderr);
    assert!(!project.file(".tacenda").exists());
    let place = |name: &str| project.state.path().join(name).display().to_string();
    let (anchor, keys) = (place("anchors"), place("keys"));
    let ended = run(&["publish", "table.csv", "--yes", "--anchor", &anchor, "--keys", &keys]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    assert!(project.file(".tacenda/vault/key.age").exists());
}

/// A new machine has no anchor: who restores there is told what could stand in for it, before anything is published.
#[test]
fn a_machine_that_never_saw_the_series_says_so() {
    let project = published(1);
    project.ok(&["backup", "kept.age"]);
    let anchors = project.state.path().join("elsewhere").display().to_string();
    let said = "nothing on this machine remembers this series";
    let restored = project.run(&["-C", "again", "restore", "kept.age", "--anchor", &anchors]);
    assert!(restored.code == 0 && restored.stderr.contains(said), "{}", restored.stderr);
    project.write("table.csv", &patients(10, 60));
    let planned = project.run(&["-C", "again", "plan", "table.csv", "--anchor", &anchors]);
    assert!(planned.code == 0 && planned.stderr.contains(said), "{}", planned.stderr);
    assert!(!project.run(&["plan", "table.csv"]).stderr.contains(said), "this one has its anchor");
}

/// Where the anchor is lost, a job that runs alone publishes: what it must know is on standard error whatever it asks for.
#[test]
fn a_quiet_job_is_warned_all_the_same() {
    let project = published(1);
    project.ok(&["backup", "kept.age"]);
    let said = "warning: nothing on this machine remembers this series";
    let forms = [&["-q"][..], &["--format", "json"], &["-q", "--format", "json"]];
    for (number, form) in (1..).zip(forms) {
        fs::remove_dir_all(project.state.path().join("tacenda/anchors")).unwrap();
        project.write("table.csv", &patients(number * 10, 60));
        let again = format!("again-{number}");
        // What writes a line makes the series remembered: it comes last.
        let writes: &[&str] = match number {
            2 => &["retract", "1", "--because", "x"],
            _ => &["publish", "table.csv", "--yes"],
        };
        for words in [&["-C", &again, "restore", "kept.age"][..], &["plan", "table.csv"], writes] {
            let ended = project.run(&[words, form].concat());
            assert_eq!(ended.code, 0, "{words:?} {form:?}: {}", ended.stderr);
            assert!(ended.stderr.contains(said), "{words:?} {form:?}: {}", ended.stderr);
            assert!(!ended.stdout.contains("remembers"), "{words:?} {form:?}: {}", ended.stdout);
            if form.contains(&"json") {
                serde_json::from_str::<serde_json::Value>(&ended.stdout).unwrap();
            }
        }
    }
    project.ok(&["vault", "unlock", "--yes"]);
    let planned = project.run(&["plan", "table.csv", "-q"]);
    assert!(planned.stderr.contains("warning: the vault is not encrypted"), "{}", planned.stderr);
}

/// What takes the project back would take such an anchor back too.
#[test]
fn an_anchor_in_the_project_is_refused() {
    let project = published(0);
    project.write("table.csv", &patients(0, 60));
    let mut inside: Vec<String> = [".", "anchors", ".tacenda/anchors", "trees/../anchors"].map(String::from).into();
    fs::create_dir(project.file("trees")).unwrap();
    #[cfg(unix)]
    {
        let link = project.state.path().join("link");
        std::os::unix::fs::symlink(project.path(), &link).unwrap();
        inside.push(link.join("anchors").display().to_string());
    }
    for folder in &inside {
        let ended = project.fails(&["publish", "table.csv", "--yes", "--anchor", folder], 2, "L205");
        assert!(ended.stderr.contains("name a folder outside"), "{}", ended.stderr);
        assert!(!project.file(".tacenda").exists(), "nothing was set up");
    }
    let outside = project.state.path().join("anchors").display().to_string();
    project.ok(&["publish", "table.csv", "--yes", "--anchor", &outside]);
    project.fails(&["verify", "--anchor", "anchors"], 2, "L205");
    project.ok(&["verify", "--anchor", &outside]);
    // What lies beside the folder that is verified lies in no project.
    let release = fs::canonicalize(project.file("releases/ward-stays/r0001")).unwrap().display().to_string();
    let mut elsewhere = project.command(&["verify", &release, "--anchor", "tacenda/anchors"]);
    let ended = Ended::of(elsewhere.current_dir(project.state.path()).output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

/// The folders that a loose umask leaves to everybody are made for their owner all the same.
#[cfg(unix)]
#[test]
fn no_umask_opens_a_project() {
    use std::os::unix::fs::PermissionsExt;
    let project = published(0);
    project.write("table.csv", &patients(0, 60));
    let ended = project.shell("umask 000; tacenda publish table.csv --yes", &[]);
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let anchors = project.state.path().join(".local/state/tacenda/anchors");
    let mut paths = vec![project.file(".tacenda"), project.file("releases"), anchors.clone()];
    let mut seen = 0;
    while let Some(path) = paths.pop() {
        assert_eq!(mode(&path) & 0o002, 0, "{}", path.display());
        if path.is_dir() {
            paths.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        seen += 1;
    }
    assert!(seen > 15, "{seen}");
    let anchor = fs::read_dir(&anchors).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&anchors), mode(&anchor)), (0o700, 0o600));
}

/// Keys that others can read or replace are refused, and so is a vault that nobody here could open.
#[cfg(unix)]
#[test]
fn keys_are_private_and_open_what_they_close() {
    use std::os::unix::fs::PermissionsExt;
    let project = published(1);
    let keys = project.state.path().join("tacenda/keys");
    let set = |name: &str, mode| fs::set_permissions(keys.join(name), fs::Permissions::from_mode(mode)).unwrap();
    project.write("table.csv", &patients(10, 60));
    for (name, loose, strict, code) in
        [("vault.key", 0o644, 0o600, "K504"), ("vault.pub", 0o666, 0o600, "K508"), (".", 0o777, 0o700, "K508")]
    {
        set(name, loose);
        // A backup is encrypted for those who are named in vault.pub.
        project.fails(&["backup", "kept.age"], 5, code);
        set(name, strict);
    }
    project.ok(&["publish", "table.csv", "--yes"]);
    // The public halves alone close a vault for ever.
    let others = tempfile::tempdir().unwrap();
    fs::copy(keys.join("vault.pub"), others.path().join("vault.pub")).unwrap();
    let other = TestProject::with(&[("tacenda.toml", POLICY), ("table.csv", &patients(0, 60))]);
    let folder = others.path().display().to_string();
    other.fails(&["publish", "table.csv", "--yes", "--keys", &folder], 6, "K605");
    assert!(!other.file(".tacenda").exists(), "nothing was published or set up");
}

/// What is signed once is expected to be signed. A vault in the clear is expected by nobody.
#[test]
fn a_series_that_loses_its_key_or_its_lock_says_so() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.ok(&["key", "new", "--no-passphrase"]);
    publish(&project, 0);
    let second = |words: &[&str]| {
        let planned = project.run(&[&["plan", "table.csv"][..], words].concat());
        assert_eq!(planned.code, 0, "{}", planned.stderr);
        planned.stderr
    };
    project.write("table.csv", &patients(10, 60));
    assert!(!second(&[]).contains("warning"));
    project.ok(&["key", "rotate", "--no-passphrase"]);
    assert!(!second(&[]).contains("warning"), "the old key signed the new one");
    let keys = project.state.path().join("tacenda/keys");
    fs::rename(keys.join("signing.key"), keys.join("away")).unwrap();
    assert!(second(&[]).contains("there is no signing key here"));
    fs::remove_file(keys.join("lineage.json")).unwrap();
    project.ok(&["key", "new", "--no-passphrase"]);
    assert!(second(&[]).contains("which that key did not sign"));
    let listed = project.ok(&["key", "show"]);
    let own = listed.split_whitespace().find(|word| word.starts_with("RW")).unwrap();
    project.write("tacenda.toml", &format!("{POLICY}[signatures]\nsigners = [\"{own}\"]\n"));
    fs::remove_file(keys.join("signing.key")).unwrap();
    project.fails(&["retract", "1", "--because", "x"], 6, "K604");
    project.ok(&["vault", "unlock", "--yes"]);
    assert!(second(&[]).contains("warning: the vault is not encrypted"));
}

/// What a policy file says once, every publish does.
#[test]
fn the_policy_file_says_where_backups_go() {
    let project = TestProject::with(&[("tacenda.toml", &format!("{POLICY}[backup]\nfolder = \"kept\"\n"))]);
    project.write("table.csv", &patients(0, 60));
    let ended = project.fails(&["publish", "table.csv", "--yes"], 7, "R704");
    assert!(ended.stderr.contains("name another place"), "{}", ended.stderr);
    fs::create_dir(project.file("kept")).unwrap();
    let told = project.ok(&["publish", "table.csv", "--yes"]);
    let line = told.lines().find_map(|line| line.strip_prefix("A backup of the project before it is in ")).unwrap();
    project.write("table.csv", &patients(10, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    assert_eq!(fs::read_dir(project.file("kept")).unwrap().count(), 2);
    // What was kept is a backup.
    let restored = project.ok(&["-C", "again", "restore", line]);
    assert!(restored.contains("with 0 releases"), "{restored}");
    project.write("bad.toml", &format!("{POLICY}[backup]\nkeep = 0\n"));
    let ended = project.fails(&["check", "table.csv", "--policy", "bad.toml"], 2, "P2");
    assert!(
        ended.stderr.contains("folder is missing") && ended.stderr.contains("keep is at least 1"),
        "{}",
        ended.stderr
    );
}

/// The machine is lost with its anchor. A receipt, or the newest release that recipients have, stands in for it.
#[test]
fn with_the_anchor_lost_a_receipt_refuses_a_restored_project() {
    let project = published(1);
    let (backup, safe) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for name in [".tacenda", "releases"] {
        copy(&project.file(name), &backup.path().join(name));
    }
    let out = |name: &str| safe.path().join(name).display().to_string();
    project.ok(&["backup", &out("kept.age")]);
    publish(&project, 2);
    for name in ["receipt.txt", "receipt.md", "receipt.html"] {
        project.ok(&["receipt", "-o", &out(name)]);
    }
    assert!(project.ok(&["receipt", "--format", "json"]).contains("\"head\""));
    project.fails(&["receipt", "--format", "sarif"], 2, "U201");
    copy(&project.file("releases/ward-stays/r0002"), &safe.path().join("r0002"));
    for name in [".tacenda", "releases"] {
        copy(&backup.path().join(name), &project.file(name));
    }
    // Another place for anchors: nothing is remembered there.
    let anchors = out("anchors");
    project.write("table.csv", &patients(35, 60));
    for (stand_in, code) in
        [("receipt.txt", "L511"), ("receipt.md", "L511"), ("receipt.html", "L511"), ("r0002", "L513"), ("none", "E703")]
    {
        let words = ["--anchor", &anchors, "--anchor-from", &out(stand_in)];
        let exit = if code == "E703" { 7 } else { 5 };
        project.fails(&[&["publish", "table.csv", "--yes"][..], &words].concat(), exit, code);
        project.fails(&[&["plan", "table.csv"][..], &words].concat(), exit, code);
    }
    let verified = project.run(&["verify", "--anchor", &anchors, "--anchor-from", &out("receipt.html")]);
    assert_eq!((verified.code, verified.stdout.contains("L511")), (5, true), "{}", verified.stdout);
    // Who restores is told by what stands in, too: in the answer, and on standard error whatever is asked for.
    let again = project.file("again");
    let restore = |stand_in: &str| {
        let _ = fs::remove_dir_all(&again);
        let words =
            ["-C", "again", "restore", &out("kept.age"), "-q", "--anchor", &anchors, "--anchor-from", &out(stand_in)];
        project.run(&[&words[..], &["--format", "json"]].concat())
    };
    for (stand_in, code, said) in
        [("receipt.html", "L511", "3 were seen here before"), ("r0002", "L513", "release 2 is out")]
    {
        let ended = restore(stand_in);
        assert_eq!(ended.code, 0, "{}", ended.stderr);
        let report: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        assert!(report["behind"].as_str().unwrap().contains(said), "{report}");
        assert!(ended.stderr.contains(&format!("warning: {code}")), "{}", ended.stderr);
        let words = ["-C", "again", "log", "-q", "--anchor", &anchors, "--anchor-from", &out(stand_in)];
        let looked = project.run(&words);
        assert!(looked.code == 0 && looked.stderr.contains(&format!("warning: {code}")), "{}", looked.stderr);
    }
    // A receipt that is not there, or of another series, is no reason to go on.
    let other = published(1);
    other.ok(&["receipt", "-o", &out("other.txt")]);
    for (stand_in, exit, code) in [("none", 7, "E703"), ("other.txt", 2, "L204")] {
        project.fails(&["log", "--anchor", &anchors, "--anchor-from", &out(stand_in)], exit, code);
        let ended = restore(stand_in);
        assert!(ended.code == exit && ended.stderr.contains(code), "{}", ended.stderr);
        assert!(!again.join(".tacenda").exists() && !again.join("releases").exists());
    }
    // A receipt is no table of a person's making: one wrong digit is noticed.
    let receipt = fs::read_to_string(out("receipt.txt")).unwrap();
    fs::write(out("receipt.txt"), receipt.replacen("lines:      3", "lines:      2", 1)).unwrap();
    let words = ["verify", "--anchor", &anchors, "--anchor-from", &out("receipt.txt")];
    project.fails(&words, 2, "L204");
}

/// The anchor that knew who was erased is lost. A receipt counts them and names nobody; a release does not even count.
#[test]
fn a_receipt_brings_nobody_back_who_was_erased() {
    let project = published(1);
    let (backup, safe) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for name in [".tacenda", "releases"] {
        copy(&project.file(name), &backup.path().join(name));
    }
    assert_eq!(erase(&project, "p12\np13\n").code, 0);
    publish(&project, 1);
    let out = |name: &str| safe.path().join(name).display().to_string();
    project.ok(&["receipt", "-o", &out("receipt.txt")]);
    assert!(fs::read_to_string(out("receipt.txt")).unwrap().contains("\nerased:     2\n"));
    copy(&project.file("releases/ward-stays/r0002"), &safe.path().join("r0002"));
    let set_back = || {
        for name in [".tacenda", "releases"] {
            copy(&backup.path().join(name), &project.file(name));
        }
        fs::remove_dir_all(project.state.path().join("tacenda/anchors")).unwrap();
    };
    project.write("table.csv", &patients(10, 60));
    let publish = |stand_in: &str| {
        let words =
            ["publish", "table.csv", "--yes", "-q", "--anchor-from", stand_in, "--accept-rollback", "nobody got it"];
        project.run(&words)
    };
    let warned = "warning: this state is behind what --anchor-from names: who was erased after it is not known here";
    set_back();
    let refused = || {
        let ended = publish(&out("receipt.txt"));
        assert!(ended.code == 5 && ended.stderr.contains("L516"), "{}", ended.stderr);
        assert!(ended.stderr.contains(warned), "{}", ended.stderr);
        assert!(!project.file("releases/ward-stays/r0002").exists());
    };
    refused();
    // The advice of the error, one person after the other.
    let told = erase(&project, "p12\n");
    assert!(told.code == 0 && told.stderr.contains("nothing on this machine remembers"), "{}", told.stderr);
    refused();
    assert_eq!(erase(&project, "p13\n").code, 0);
    let ended = publish(&out("receipt.txt"));
    assert_eq!(ended.code, 0, "{}", ended.stderr);
    let told = project.run(&["plan", "table.csv"]).stdout;
    assert!(told.contains("2 people of this table are left out"), "{told}");
    assert!(project.ok(&["log"]).contains("nobody got it"));
    // It is asked once.
    project.write("table.csv", &patients(20, 60));
    assert_eq!(publish(&out("receipt.txt")).code, 0);
    // A release does not say how many were erased: the warning is all that there is.
    set_back();
    let ended = publish(&out("r0002"));
    assert!(ended.code == 0 && ended.stderr.contains(warned), "{}", ended.stderr);
}

/// Erases people by their identifiers, one on each line.
fn erase(project: &TestProject, input: &str) -> Ended {
    let mut command = project.command(&["erase"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    Ended::of(child.wait_with_output().unwrap())
}

/// The identifier comes from standard input: arguments stand in the list of processes.
#[test]
fn a_person_is_erased_by_standard_input() {
    let project = published(1);
    let erase = |input: &str| erase(&project, input);
    let told = erase("p3\n\nnobody\n");
    // Whoever mistypes an identifier is told so, by the exit code too; the others are erased.
    assert_eq!(told.code, 6, "{}", told.stderr);
    let line = "1 identifier is not known to this series, so nobody was erased for it: line 3 of the input";
    for words in ["1 person was erased", line, "What cannot be erased", "stays published"] {
        assert!(told.stdout.contains(words), "{words}: {}", told.stdout);
    }
    assert!(!told.stdout.contains("p3") && !told.stderr.contains("p3"));
    assert!(!told.stdout.contains("nobody\n") && !told.stderr.contains("nobody\n"));
    assert!(project.ok(&["log"]).contains("erase"));
    project.ok(&["verify"]);
    // Once more, as a job would after a failure: it was done, and that is no failure.
    assert_eq!(erase(" p3 \n").code, 0);
    // Nobody at all was erased, and the ledger has no new line.
    let log = project.ok(&["log"]);
    let told = erase("nobody\nno one\n");
    assert_eq!((told.code, told.stdout.contains("Nobody was erased.")), (6, true), "{}", told.stdout);
    assert!(told.stdout.contains("nobody was erased for them: lines 1, 2 of the input"), "{}", told.stdout);
    assert_eq!(project.ok(&["log"]), log);
    // The table still has the person, and the release does not.
    let told = project.run(&["publish", "table.csv", "--label", "again", "--yes"]);
    assert!(
        told.code == 0 && told.stdout.contains("1 person of this table is left out"),
        "{}{}",
        told.stdout,
        told.stderr
    );
    project.ok(&["retain", "1"]);
    project.fails(&["retain", "0"], 2, "U201");
    assert_eq!(erase("").code, 2);
    // There is nothing to erase where nothing was published, and no project is set up for that.
    let empty = published(0);
    empty.fails(&["retain", "1"], 2, "U202");
    assert!(!empty.file(".tacenda").exists());
}

#[test]
fn two_releases_of_one_number_are_found_by_whoever_has_both() {
    let project = published(2);
    let other = tempfile::tempdir().unwrap();
    copy(&project.file("releases"), &other.path().join("releases"));
    let forked = published(2);
    let folder =
        |root: &Path, number: u32| root.join(format!("releases/ward-stays/r000{number}")).display().to_string();
    let (one, two, fork) = (folder(other.path(), 1), folder(other.path(), 2), folder(&forked.file(""), 2));
    let verified = project.run(&["verify", &one, &two, &fork]);
    assert_eq!((verified.code, verified.stdout.contains("A791")), (5, true), "{}", verified.stdout);
    let audited = project.run(&["audit", &one, &two, &fork, "--check", "chain"]);
    assert_eq!(audited.code, 1, "{}", audited.stdout);
    assert!(
        audited.stdout.contains("not one unbroken series") && audited.stdout.contains("A791"),
        "{}",
        audited.stdout
    );
    let alone = project.ok(&["verify", &other.path().display().to_string()]);
    assert!(alone.starts_with("intact by the checksums in the folder: 2 releases"), "{alone}");
}

/// Anybody can make a folder that fits its own checksums. Only a ledger or a key vouches for more, and nothing for a file that
/// was added.
#[test]
fn a_folder_alone_is_said_to_fit_itself_and_no_more() {
    let project = published(2);
    copy(&project.file("releases/ward-stays/r0002"), &project.file("received"));
    let release = "received";
    let alone = project.ok(&["verify", release]);
    assert!(alone.contains("by the checksums in the folder") && alone.contains("Nothing is signed"), "{alone}");
    let report: serde_json::Value =
        serde_json::from_str(&project.ok(&["verify", release, "--format", "json"])).unwrap();
    assert_eq!((&report["whole"], &report["ledger"]), (&true.into(), &false.into()));
    project.write(&format!("{release}/corrected.csv"), "age,disease\n");
    let added = project.run(&["verify", release]);
    assert_eq!((added.code, added.stdout.contains("F408: corrected.csv")), (5, true), "{}", added.stdout);
    assert!(added.stdout.starts_with("damaged: 1 fault\n"), "{}", added.stdout);
    fs::remove_file(project.file(&format!("{release}/corrected.csv"))).unwrap();
    project.ok(&["verify", release]);
    // In its project it is held against the ledger, and what was not checked is said.
    let release = "releases/ward-stays/r0002";
    let held = project.ok(&["verify", release]);
    assert!(
        held.starts_with("the ledger and 1 release are intact; the vault and what else is in the project"),
        "{held}"
    );
    project.write(&format!("{release}/corrected.csv"), "age,disease\n");
    for words in [&["verify"][..], &["verify", release]] {
        let whole = project.run(words);
        assert!(whole.code == 5 && whole.stdout.contains("move it out of the release folder"), "{}", whole.stdout);
    }
    // The advice works.
    fs::remove_file(project.file(&format!("{release}/corrected.csv"))).unwrap();
    project.ok(&["verify"]);
    project.ok(&["verify", release]);
    // Where the ledger cannot be read, that is said.
    let ledger = project.read(".tacenda/ledger.jsonl");
    project.write(".tacenda/ledger.jsonl", &ledger.replacen("Q0", "Q9", 1));
    let told = project.ok(&["verify", release]);
    assert!(told.contains("by the checksums in the folder") && told.contains("not compared with the ledger"), "{told}");
}

/// An auditor has no vault. Where the steward publishes it must be there, whether somebody has its key or not.
#[test]
fn a_vault_that_is_gone_is_not_called_intact() {
    let project = published(2);
    let outside = tempfile::tempdir().unwrap();
    let place = |name: &str| outside.path().join(name);
    copy(project.path(), &place("copy"));
    fs::remove_dir_all(place("copy/.tacenda/vault")).unwrap();
    let copied = place("copy").display().to_string();
    let unchecked = "the ledger and 2 releases are intact; the vault was not checked: ";
    let told = project.ok(&["verify", &copied]);
    assert!(told.starts_with(&format!("{unchecked}it is not here")), "{told}");
    let report: serde_json::Value =
        serde_json::from_str(&project.ok(&["verify", &copied, "--format", "json"])).unwrap();
    assert_eq!((&report["whole"], &report["vault"]), (&true.into(), &false.into()));
    assert!(report["not_checked"][0].as_str().unwrap().contains("it is not here"), "{report}");
    // Without the key the files are there, or not.
    let (vault, keys) = (project.file(".tacenda/vault"), project.state.path().join("tacenda/keys"));
    fs::rename(&keys, place("keys")).unwrap();
    let told = project.ok(&["verify"]);
    assert!(told.starts_with(unchecked) && told.contains("its files are there"), "{told}");
    let paths = fs::read_dir(&vault).unwrap().map(|entry| entry.unwrap().path());
    let file = paths.into_iter().find(|path| path.display().to_string().contains("keys-")).unwrap();
    fs::rename(&file, place("file")).unwrap();
    for has_key in [false, true] {
        if has_key {
            fs::rename(place("keys"), &keys).unwrap();
        }
        let verified = project.run(&["verify"]);
        assert!(verified.code == 5 && verified.stdout.contains("L504"), "{has_key}: {}", verified.stdout);
    }
    fs::rename(place("file"), &file).unwrap();
    assert!(project.ok(&["verify"]).starts_with("intact: the ledger, the vault and 2 releases"));
    fs::rename(&vault, place("vault")).unwrap();
    let verified = project.run(&["verify"]);
    assert!(verified.code == 5 && verified.stdout.contains("L504: .tacenda/vault is missing"), "{}", verified.stdout);
    // The advice of the error.
    fs::rename(place("vault"), &vault).unwrap();
    project.ok(&["verify"]);
}

#[test]
fn a_forged_release_is_refused_by_everybody_who_reads_it() {
    let project = published(2);
    let folder = project.file("releases/ward-stays/r0001");
    let data = folder.join("ward-stays-r0001.csv");
    let forged = fs::read_to_string(&data).unwrap().replacen("flu", "asthma", 1);
    fs::write(&data, forged).unwrap();
    // The forger makes the folder agree with itself.
    let sums = Command::new("sh")
        .args([
            "-c",
            "names=$(awk '{print $2}' SHA256SUMS); sha256sum $names > SHA256SUMS.new; mv SHA256SUMS.new SHA256SUMS",
        ])
        .current_dir(&folder)
        .status();
    assert!(sums.unwrap().success());
    for words in [&["report"][..], &["audit"], &["show", "1"], &["count", "1"], &["diff", "1", "2"]] {
        project.fails(words, 5, "L507");
    }
    // By its path it is the same folder of the same project.
    let path = "releases/ward-stays/r0001";
    let file = "releases/ward-stays/r0001/ward-stays-r0001.csv";
    let quasi = ["--quasi", "age,sex", "--sensitive", "diagnosis"];
    for words in [
        &["show", path][..],
        &["count", path],
        &["diff", path, "2"],
        &["audit", path],
        &["audit", "releases/ward-stays"],
        &["audit", file],
        &[&["audit", file][..], &quasi].concat(),
        &[&["audit", path][..], &quasi].concat(),
        &["explain", "group", "1:1", "--releases", path],
    ] {
        project.fails(words, 5, "L507");
    }
    let verified = project.run(&["verify", path]);
    assert!(verified.code == 5 && verified.stdout.contains("L507"), "{}", verified.stdout);
    assert_eq!(project.run(&["verify"]).code, 5);
    // Nothing follows on it either.
    project.write("table.csv", &patients(30, 60));
    project.fails(&["publish", "table.csv", "--yes"], 5, "L507");
    // The other release is as it was.
    project.ok(&["show", "2"]);
    // A folder that was moved away stops nobody.
    fs::rename(&folder, project.file("elsewhere")).unwrap();
    project.ok(&["publish", "table.csv", "--yes"]);
    // Of the last release every file counts, for the list of checksums may have been left alone.
    let last = project.file("releases/ward-stays/r0003/ward-stays-r0003.csv");
    let good = fs::read_to_string(&last).unwrap();
    fs::write(&last, good.replacen("flu", "asthma", 1)).unwrap();
    project.write("table.csv", &patients(40, 60));
    project.fails(&["publish", "table.csv", "--yes"], 5, "L507");
    fs::write(&last, good).unwrap();
    project.ok(&["publish", "table.csv", "--yes"]);
}

#[test]
fn a_file_that_is_no_policy_is_not_shown() {
    let project = published(0);
    project.write("table.csv", &patients(0, 60));
    let ended = project.fails(&["check", "table.csv", "--policy", "table.csv"], 2, "P201");
    for cell in ["Name 1", "bronchitis", "p17"] {
        assert!(!ended.stderr.contains(cell), "{}", ended.stderr);
    }
    // A table below a line of the language, and in place of a plan. The line is named, and what it says is not.
    project.write("odd.toml", &format!("policy = 1\n{}", patients(0, 60)));
    project.write("odd.json", "\n\"bronchitis of p17\"");
    for (words, code) in [
        (&["check", "table.csv", "--policy", "odd.toml"][..], "P201"),
        (&["publish", "--plan", "odd.json", "--yes"], "U203"),
        (&["approve", "odd.json", "--yes"], "U203"),
    ] {
        let ended = project.fails(words, 2, code);
        assert!(ended.stderr.contains("odd.toml:2") || ended.stderr.contains("line 2"), "{}", ended.stderr);
        for cell in ["Name 1", "bronchitis", "p17", "diagnosis"] {
            assert!(!ended.stderr.contains(cell), "{}", ended.stderr);
        }
    }
    // A line of the language is shown.
    for line in ["name = ward", "age = { role = quasi }", "[columns"] {
        project.write("odd.toml", &format!("policy = 1\n{line}\n"));
        let ended = project.fails(&["check", "--policy", "odd.toml"], 2, "P201");
        assert!(ended.stderr.contains(line), "{}", ended.stderr);
    }
}

#[cfg(unix)]
#[test]
fn a_policy_names_no_file_outside_its_folder() {
    let secret = tempfile::tempdir().unwrap();
    let path = secret.path().join("secret.csv");
    fs::write(&path, "Alice Smith,1970-01-01,HIV\n").unwrap();
    let project = published(0);
    project.write("table.csv", &patients(0, 60));
    std::os::unix::fs::symlink(&path, project.file("linked.csv")).unwrap();
    project.write("trees/sex.csv", "F;*\nM;*\nX;*\n");
    let outside = path.display().to_string();
    for (tree, fine) in [
        (&outside[..], false),
        ("../secret.csv", false),
        ("linked.csv", false),
        ("trees/sex.csv", true),
        ("./trees/sex.csv", true),
    ] {
        project
            .write("tacenda.toml", &POLICY.replace("values = [\"F\", \"M\", \"X\"]", &format!("hierarchy = {tree:?}")));
        match fine {
            true => drop(project.ok(&["check", "table.csv"])),
            false => assert!(!project.fails(&["check", "table.csv"], 2, "P240").stderr.contains("Alice"), "{tree}"),
        }
    }
}

#[test]
fn a_text_that_a_spreadsheet_would_run_is_refused() {
    let project = published(0);
    project.write("table.csv", &patients(0, 60).replace("asthma", "=HYPERLINK(1)"));
    let ended = project.fails(&["publish", "table.csv", "--yes"], 6, "R610");
    assert!(ended.stderr.contains("diagnosis") && !ended.stderr.contains("HYPERLINK"), "{}", ended.stderr);
    // The advice of the error.
    project.write("tacenda.toml", &format!("{POLICY}[output]\nspreadsheet_safe = false\n"));
    project.ok(&["publish", "table.csv", "--yes"]);
}

/// Whatever is written into a file may be run: the name of a column, a label of a tree at its leaves or above, a public text.
#[test]
fn a_formula_is_refused_wherever_it_would_stand() {
    let project = published(0);
    let (table, payload) = (patients(0, 60), "=HYPERLINK(1)");
    project.write("sex.csv", &format!("F;{payload};*\nM;*;*\nX;*;*\n"));
    let with_ward: String = table
        .lines()
        .enumerate()
        .map(|(at, line)| format!("{line},{}\n", if at == 0 { "ward" } else { payload }))
        .collect();
    let values = "values = [\"F\", \"M\", \"X\"]";
    for (column, policy, table) in [
        (
            payload,
            POLICY.replace("\nage  ", &format!("\n\"{payload}\"  ")),
            table.replacen(",age,", &format!(",{payload},"), 1),
        ),
        ("sex", POLICY.replace(values, &format!("values = [\"F\", \"M\", \"X\", \"{payload}\"]")), table.clone()),
        ("sex", POLICY.replace(values, "hierarchy = \"sex.csv\""), table.clone()),
        (
            "ward",
            POLICY.replace("\n[promise]", "ward = { role = \"public\", because = \"a test\" }\n\n[promise]"),
            with_ward,
        ),
    ] {
        assert_ne!(policy, POLICY);
        project.write("tacenda.toml", &policy);
        project.write("table.csv", &table);
        let ended = project.fails(&["publish", "table.csv", "--yes"], 6, "R610");
        assert!(ended.stderr.contains(column), "{}", ended.stderr);
        assert!(column == payload || !ended.stderr.contains("HYPERLINK"), "{}", ended.stderr);
        project.write("tacenda.toml", &format!("{policy}[output]\nspreadsheet_safe = false\n"));
        project.ok(&["plan", "table.csv"]);
    }
}

#[cfg(unix)]
#[test]
fn what_is_written_for_the_steward_is_nobody_elses() {
    use std::os::unix::fs::PermissionsExt;
    let project = published(1);
    for words in [&["report", "-o", "report.html"][..], &["audit", "-o", "audit.json"], &["log", "-o", "log.txt"]] {
        project.ok(words);
        let mode = |name: &str| fs::metadata(project.file(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(words[2]), 0o600, "{words:?}");
        // One that was open to others is replaced: who has it open reads no more than before.
        fs::write(project.file(words[2]), "before").unwrap();
        fs::set_permissions(project.file(words[2]), fs::Permissions::from_mode(0o644)).unwrap();
        let mut open = fs::File::open(project.file(words[2])).unwrap();
        project.ok(words);
        let mut seen = String::new();
        std::io::Read::read_to_string(&mut open, &mut seen).unwrap();
        assert_eq!((mode(words[2]), seen.as_str()), (0o600, "before"), "{words:?}");
    }
    // Nothing is left beside, and what the system calls a file is still one.
    let names = fs::read_dir(project.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(!names.into_iter().any(|name| name.to_string_lossy().starts_with(".tacenda-")));
    for name in ["/dev/stdout", "/proc/self/fd/1"] {
        assert_eq!(project.ok(&["log", "-o", name]), project.ok(&["log"]));
    }
    project.fails(&["log", "-o", "nowhere/log.txt"], 7, "U701");
}

/// A folder that somebody else prepared: links stand where files are about to be written.
#[cfg(unix)]
#[test]
fn nothing_is_written_through_a_link() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let precious = tempfile::tempdir().unwrap();
    let target = |name: &str| precious.path().join(name);
    fs::write(target("precious"), "precious").unwrap();
    let (project, empty) = (published(0), TestProject::empty());
    for (project, name, words) in [
        (&project, "tacenda-plan.json", &["plan", "table.csv"][..]),
        (&empty, "tacenda.toml", &["init", "table.csv", "--yes"]),
        (&project, "log.txt", &["demo", "--list", "-o", "log.txt"]),
        (&project, "check.txt", &["check", "table.csv", "-o", "check.txt"]),
    ] {
        project.write("table.csv", &patients(0, 60));
        for there in ["precious", "not-there"] {
            symlink(target(there), project.file(name)).unwrap();
            let ended = project.run(words);
            assert_ne!(ended.code, 0, "{words:?}");
            // Where a policy file is already, nothing is drafted.
            assert!(ended.stderr.contains("link") || ended.stderr.contains("U204"), "{words:?}: {}", ended.stderr);
            assert_eq!(fs::read_to_string(target("precious")).unwrap(), "precious");
            assert!(!target("not-there").exists(), "{words:?}");
            fs::remove_file(project.file(name)).unwrap();
        }
    }
    // A plan that was open to others is not any more.
    project.write("tacenda-plan.json", "");
    fs::set_permissions(project.file("tacenda-plan.json"), fs::Permissions::from_mode(0o666)).unwrap();
    project.ok(&["plan", "table.csv"]);
    assert_eq!(fs::metadata(project.file("tacenda-plan.json")).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn names_command_no_terminal() {
    let project = TestProject::empty();
    project.write("odd.csv", "id,\u{1b}[2Jage,d\n1,20,a\n2,30,b\n");
    let name = "t\u{1b}[2J\u{202e}.csv";
    project.write(name, "age\u{1b}[2J,d\n20,a\n30,b\n");
    let audit = ["audit", name, "--quasi", "age\u{1b}[2J", "--sensitive", "d", "--format"];
    let audits: Vec<Vec<&str>> =
        ["text", "brief", "markdown"].iter().map(|form| audit.iter().chain([form]).copied().collect()).collect();
    let explained = [&audit[..6], &["--explain"]].concat();
    for words in [&["init", "odd.csv", "--yes"][..], &["audit", "odd.csv", "--quasi", "x\u{1b}[2J", "--sensitive", "d"]]
        .into_iter()
        .chain(audits.iter().map(Vec::as_slice))
        .chain([&explained[..]])
    {
        let ended = project.run(words);
        let said = ended.stdout + &ended.stderr;
        assert!(!said.contains('\u{1b}'), "{words:?}\n{said:?}");
    }
}

/// Recipients open the page of a release in a browser and print it to a terminal.
#[test]
fn a_title_is_text_and_nothing_else() {
    let project = published(0);
    let line = POLICY.lines().find(|line| line.starts_with("title")).unwrap();
    let hostile = "title = \"<script>x</script> \\u001b[2J [here](https://example.org)\"\ncontact = \"<img src=x>\"";
    let contact = POLICY.lines().find(|line| line.starts_with("contact")).unwrap_or("no such line");
    project.write("tacenda.toml", &POLICY.replace(contact, "").replace(line, hostile));
    project.write("table.csv", &patients(0, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    project.ok(&["retract", "1", "--because", "<script>y</script>"]);
    project.write("table.csv", &patients(10, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    for number in [1, 2] {
        let page = project.read(&format!("releases/ward-stays/r000{number}/README.md"));
        assert!(page.starts_with("# \\<script\\>x"), "{page}");
        for markup in ["<script", "\u{1b}", "[here]", "<img"] {
            assert!(!page.replace(&format!("\\{markup}"), "").contains(markup), "{markup}: {page}");
        }
        let html = project.read(&format!("releases/ward-stays/r000{number}/report.html"));
        assert!(!html.contains("<script>x") && !html.contains("<script>y") && !html.contains("<img src=x"));
    }
}

#[cfg(unix)]
#[test]
fn a_kill_between_the_commit_and_the_rename_is_no_damage() {
    let project = published(1);
    let head = fs::read(project.file(".tacenda/vault/head")).unwrap();
    publish(&project, 1);
    // As it was then: the line is there, the folder is staged, and the head is the one before.
    fs::write(project.file(".tacenda/vault/head"), head).unwrap();
    let ledger = project.read(".tacenda/ledger.jsonl");
    let attempt = ledger.lines().last().unwrap().split("policy-0002.").nth(1).unwrap()[..8].to_string();
    let staged = project.file(&format!(".tacenda/staging/r0002.{attempt}"));
    fs::rename(project.file("releases/ward-stays/r0002"), &staged).unwrap();
    let ended = project.run(&["verify"]);
    assert_eq!((ended.code, ended.stdout.contains("not finished")), (7, true), "{}", ended.stdout);
    // The advice that is printed.
    project.ok(&["publish", "table.csv", "--label", "Q1", "--yes"]);
    project.ok(&["verify"]);
}

/// A dump of its memory would hold the table and the keys.
#[cfg(target_os = "linux")]
#[test]
fn the_command_leaves_no_core_dump() {
    let project = published(0);
    let mut command = project.command(&["check", "-"]);
    // It waits for its table, and can be looked at.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let limits = format!("/proc/{}/limits", child.id());
    let is_off = (0..600).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(50));
        let text = fs::read_to_string(&limits).unwrap_or_default();
        let line = text.lines().find(|line| line.starts_with("Max core file size")).unwrap_or_default();
        line.split_whitespace().skip(4).take(2).eq(["1", "1"])
    });
    drop(child.stdin.take());
    child.wait().unwrap();
    assert!(is_off);
}

/// Runs the command, and ends it where it does not end by itself.
#[cfg(unix)]
fn ends(project: &TestProject, words: &[&str]) -> i32 {
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    let mut command = project.command(words);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.code().unwrap_or(-1);
        }
        if start.elapsed() > Duration::from_secs(60) {
            child.kill().unwrap();
            panic!("tacenda {words:?} waits for ever");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[cfg(unix)]
#[test]
fn a_pipe_without_a_writer_holds_up_nobody() {
    let project = published(1);
    let pipe = |name: &str| {
        let _ = fs::remove_file(project.file(name));
        assert!(std::process::Command::new("mkfifo").arg(project.file(name)).status().unwrap().success());
    };
    pipe("pipe.csv");
    project.fails(&["check", "pipe.csv"], 7, "D118");
    assert_ne!(ends(&project, &["audit", "pipe.csv", "--quasi", "age", "--sensitive", "diagnosis"]), 0);
    project.write("trees/good.csv", "F;*\nM;*\nX;*\n");
    let policy = POLICY.replace("values = [\"F\", \"M\", \"X\"]", "hierarchy = \"trees/sex.csv\"");
    project.write("other.toml", &policy);
    pipe("trees/sex.csv");
    assert_eq!(ends(&project, &["check", "table.csv", "--policy", "other.toml"]), 2);
    for (name, words) in [
        ("pipe.toml", &["check", "--policy", "pipe.toml"][..]),
        ("pipe.json", &["publish", "--plan", "pipe.json", "--yes"]),
        ("pipe.json", &["approve", "pipe.json", "--yes"]),
        ("pipe.pub", &["verify", "--key", "pipe.pub"]),
        ("pipe.txt", &["publish", "table.csv", "--yes", "--anchor-from", "pipe.txt"]),
        ("pipe.age", &["-C", "elsewhere", "restore", "pipe.age"]),
        ("pipe.age", &["-C", "elsewhere", "restore", "../pipe.age"]),
        ("pipe.json", &["explain", "1", "--audit", "pipe.json"]),
    ] {
        pipe(name);
        assert_ne!(ends(&project, words), 0, "{words:?}");
        fs::create_dir_all(project.file("elsewhere")).unwrap();
    }
    let said = project.run(&["check", "--policy", "pipe.toml"]).stderr;
    assert!(said.contains("not a regular file"), "{said}");
    // An approval that is none.
    project.write("table.csv", &patients(10, 60));
    project.ok(&["plan", "table.csv"]);
    pipe("tacenda-plan.json.minisig");
    assert_ne!(ends(&project, &["publish", "--plan", "tacenda-plan.json", "--yes"]), 0);
    fs::remove_file(project.file("tacenda-plan.json.minisig")).unwrap();
    for name in ["manifest.json", "SHA256SUMS"] {
        let path = format!("releases/ward-stays/r0001/{name}");
        let good = fs::read(project.file(&path)).unwrap();
        pipe(&path);
        let folder = "releases/ward-stays/r0001";
        for words in [&["verify"][..], &["show", "1"], &["report"], &["audit", folder], &["count", "1"]] {
            assert_ne!(ends(&project, words), 0, "{name}: {words:?}");
        }
        fs::remove_file(project.file(&path)).unwrap();
        fs::write(project.file(&path), good).unwrap();
    }
    project.ok(&["verify"]);
}

#[test]
fn memory_is_looked_at_before_rows_are_read() {
    let project = published(0);
    // The fault of the last row is never met.
    project.write("table.csv", &(patients(0, 60) + "x,N,not a number,F,flu\n"));
    project.fails(&["check", "table.csv", "--memory", "1K"], 7, "R705");
}
