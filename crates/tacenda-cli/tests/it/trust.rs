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
    // Looking is allowed.
    project.ok(&["log"]);
    project.ok(&["publish", "table.csv", "--yes", "--accept-rollback", "release 3 never left the house"]);
    assert!(project.ok(&["log"]).contains("release 3 never left the house"));
    project.ok(&["verify"]);
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
    publish(&project, 2);
    let out = |name: &str| safe.path().join(name).display().to_string();
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
    // A receipt is no table of a person's making: one wrong digit is noticed.
    let receipt = fs::read_to_string(out("receipt.txt")).unwrap();
    fs::write(out("receipt.txt"), receipt.replacen("lines:      3", "lines:      2", 1)).unwrap();
    let words = ["verify", "--anchor", &anchors, "--anchor-from", &out("receipt.txt")];
    project.fails(&words, 2, "L204");
}

/// The identifier comes from standard input: arguments stand in the list of processes.
#[test]
fn a_person_is_erased_by_standard_input() {
    let project = published(1);
    let erase = |input: &str| {
        let mut command = project.command(&["erase"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Ended::of(child.wait_with_output().unwrap())
    };
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
    let release = "releases/ward-stays/r0002";
    let alone = project.ok(&["verify", release]);
    assert!(alone.contains("by the checksums in the folder") && alone.contains("Nothing is signed"), "{alone}");
    let report: serde_json::Value =
        serde_json::from_str(&project.ok(&["verify", release, "--format", "json"])).unwrap();
    assert_eq!((&report["whole"], &report["ledger"]), (&true.into(), &false.into()));
    project.write(&format!("{release}/corrected.csv"), "age,disease\n");
    let added = project.run(&["verify", release]);
    assert_eq!((added.code, added.stdout.contains("F408: corrected.csv")), (5, true), "{}", added.stdout);
    assert!(added.stdout.starts_with("damaged: 1 fault\n"), "{}", added.stdout);
    let whole = project.run(&["verify"]);
    assert!(whole.code == 5 && whole.stdout.contains("move it out of the release folder"), "{}", whole.stdout);
    // The advice works.
    fs::remove_file(project.file(&format!("{release}/corrected.csv"))).unwrap();
    project.ok(&["verify"]);
    project.ok(&["verify", release]);
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
    assert_eq!(project.run(&["verify"]).code, 5);
    // Nothing follows on it either.
    project.write("table.csv", &patients(30, 60));
    project.fails(&["publish", "table.csv", "--yes"], 5, "L507");
    // The other release is as it was.
    project.ok(&["show", "2"]);
    // A folder that was moved away stops nobody.
    fs::rename(&folder, project.file("elsewhere")).unwrap();
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

#[cfg(unix)]
#[test]
fn what_is_written_for_the_steward_is_nobody_elses() {
    use std::os::unix::fs::PermissionsExt;
    let project = published(1);
    for words in [&["report", "-o", "report.html"][..], &["audit", "-o", "audit.json"], &["log", "-o", "log.txt"]] {
        project.ok(words);
        let mode = fs::metadata(project.file(words[2])).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{words:?}");
    }
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
    for words in [&["init", "odd.csv", "--yes"][..], &["audit", "odd.csv", "--quasi", "x\u{1b}[2J", "--sensitive", "d"]]
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
