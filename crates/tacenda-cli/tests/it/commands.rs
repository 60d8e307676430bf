//! What each command does, as a newcomer would try it; and what it says when something is wrong.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;
use std::fs;
use std::fs::File;
use std::io::Write;
use std::process::Stdio;

fn project() -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.write("table.csv", &patients(0, 60));
    project
}

/// Every file below a folder, with its bytes.
fn everything(project: &TestProject) -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut folders = vec![project.path().to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(project.path()).unwrap().display().to_string();
                files.push((name, fs::read(path).unwrap()));
            }
        }
    }
    files.sort();
    files
}

#[test]
fn a_steward_goes_from_a_table_to_a_second_release() {
    let project = TestProject::empty();
    project.write("stays.csv", &patients(0, 60));
    let said = project.ok(&["init", "stays.csv", "--yes"]);
    assert!(said.contains("patient_id") && said.contains("identifier"), "{said}");
    // What init drafts is a sound policy.
    project.ok(&["check"]);
    project.write("tacenda.toml", POLICY);
    assert!(project.ok(&["check", "stays.csv"]).contains("can be published"));
    let said = project.ok(&["plan", "stays.csv", "--label", "2026-Q1"]);
    assert!(said.contains("60 arrived") && said.contains("nothing is published yet"), "{said}");
    project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    project.write("stays.csv", &patients(10, 60));
    let said = project.ok(&["plan", "stays.csv", "--label", "2026-Q2"]);
    assert!(said.contains("10 arrived") && said.contains("10 left"), "{said}");
    project.ok(&["publish", "stays.csv", "--label", "2026-Q2", "--yes"]);
    let log = project.ok(&["log"]);
    assert!(log.contains("2026-Q1") && log.contains("2026-Q2"), "{log}");
    assert!(project.ok(&["show", "2026-Q2"]).contains("probability at most 1/2"));
    assert!(project.ok(&["verify"]).starts_with("intact"));
    assert!(project.ok(&["count", "2", "--where", "age >= 0"]).contains("60.0 people"));
}

#[test]
fn init_needs_yes_where_nobody_can_be_asked() {
    let project = TestProject::empty();
    project.write("stays.csv", &patients(0, 60));
    project.fails(&["init", "stays.csv"], 6, "U601");
    assert!(!project.file("tacenda.toml").exists());
    project.ok(&["init", "stays.csv", "--yes"]);
    assert!(project.file("tacenda.toml").exists());
}

#[test]
fn check_writes_nothing() {
    let project = project();
    let before = everything(&project);
    project.ok(&["check", "table.csv"]);
    let said = project.ok(&["check", "table.csv", "--what-if", "m=2..6"]);
    assert!(said.contains("m = 6") && said.contains("counterfeits"), "{said}");
    assert_eq!(everything(&project), before);
}

#[test]
fn a_plan_is_published_as_it_was_rehearsed_or_not_at_all() {
    let project = project();
    project.ok(&["plan", "table.csv", "--label", "first"]);
    // Who finds the plan learns neither where the table lies nor, by trying, what it says.
    let (plan, digest) = (project.read("tacenda-plan.json"), project.shell("sha256sum table.csv", &[]).stdout);
    assert!(!plan.contains(&digest[..16]), "{plan}");
    assert!(plan.contains("table.csv") && !plan.contains(project.path().to_str().unwrap()), "{plan}");
    // What was rehearsed is what is published, whatever becomes of the file.
    project.write("table.csv", "nothing\n");
    let said = project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    assert!(said.contains("people        60:"), "{said}");
    let kept = |project: &TestProject| {
        let names = std::fs::read_dir(project.file(".tacenda/vault")).unwrap();
        names.filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().starts_with("planned-")).count()
    };
    assert_eq!(kept(&project), 0, "a published plan is not kept");
    let again = project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    assert!(again.contains("Release 1, label first, was made from this table already"), "{again}");
    project.write("table.csv", &patients(0, 60));
    project.ok(&["plan", "table.csv", "--label", "second"]);
    assert_eq!(kept(&project), 2);
    project.write("tacenda.toml", &POLICY.replace("m     = 2", "m     = 2\nk     = 2"));
    project.fails(&["publish", "--plan", "tacenda-plan.json", "--yes"], 6, "R602");
}

#[test]
fn nothing_is_published_unless_somebody_agrees() {
    let project = project();
    project.fails(&["publish", "table.csv"], 6, "U601");
    assert!(!project.file("releases").join("ward-stays").join("r0001").exists());
}

#[test]
fn the_policy_may_not_be_loosened_between_releases() {
    let project = project();
    project.write("tacenda.toml", &POLICY.replace("m     = 2", "m     = 3"));
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("tacenda.toml", POLICY);
    project.fails(&["publish", "table.csv", "--yes", "--label", "x"], 2, "R204");
    let other_domain = POLICY.replace("m     = 2", "m     = 3").replace("[0, 120]", "[0, 119]");
    project.write("tacenda.toml", &other_domain);
    project.fails(&["publish", "table.csv", "--yes", "--label", "x"], 2, "R204");
}

#[test]
fn what_if_says_what_a_series_once_begun_cannot_do() {
    let project = project();
    project.write("tacenda.toml", &POLICY.replace("m     = 2", "m     = 3"));
    project.ok(&["publish", "table.csv", "--yes"]);
    let said = project.ok(&["check", "table.csv", "--what-if", "m=2..3"]);
    let row = |m: &str| said.lines().find(|line| line.trim_start().starts_with(m)).unwrap().to_string();
    assert!(row("m = 2").contains("refused") && !row("m = 3").contains("refused"), "{said}");
}

#[test]
fn a_form_that_a_command_lacks_is_refused_before_anything_is_done() {
    let project = project();
    let before = everything(&project);
    for words in [&["publish", "table.csv", "--yes"][..], &["plan", "table.csv"], &["check"], &["demo", "shown"]] {
        project.fails(&[words, &["--format", "html"]].concat(), 2, "U201");
    }
    assert_eq!(everything(&project), before);
}

#[test]
fn init_overwrites_nothing() {
    let project = TestProject::empty();
    let diseases = ["flu", "asthma", "angina", "gout"];
    let row = |at: usize| format!("p{at},{:05},{}\n", 1000 + at % 60 * 37, diseases[at % 4]);
    project.write("stays.csv", &("person,postcode,diagnosis\n".to_string() + &(0..400).map(row).collect::<String>()));
    project.ok(&["init", "stays.csv", "--yes"]);
    let drafted = everything(&project);
    let hierarchy = drafted.iter().find(|(name, _)| name.starts_with("hierarchies/")).expect("init drafts a hierarchy");
    project.write(&hierarchy.0, "somebody's work");
    fs::remove_file(project.file("tacenda.toml")).unwrap();
    let before = everything(&project);
    project.fails(&["init", "stays.csv", "--yes"], 2, "U204");
    assert_eq!(everything(&project), before);
}

#[test]
fn labels_are_used_once() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes", "--label", "spring"]);
    let again = project.ok(&["publish", "table.csv", "--yes", "--label", "spring"]);
    assert!(again.contains("Nothing was published"), "{again}");
    project.write("table.csv", &patients(0, 61));
    project.fails(&["publish", "table.csv", "--yes", "--label", "spring"], 6, "R608");
    project.fails(&["plan", "table.csv", "--label", "spring"], 2, "R202");
    project.fails(&["publish", "table.csv", "--yes", "--label", "spring;"], 2, "R201");
    project.fails(&["publish", "table.csv", "--yes", "--label", "r0009"], 2, "R201");
}

#[test]
fn an_unknown_key_is_pointed_at() {
    let project = project();
    project.write("tacenda.toml", &POLICY.replace("max_share = 0.5", "max_shar = 0.5"));
    let ended = project.fails(&["check"], 2, "P2");
    assert!(ended.stderr.contains("max_shar") && ended.stderr.contains("max_share"), "{}", ended.stderr);
    assert!(ended.stderr.contains("tacenda.toml"), "{}", ended.stderr);
}

/// Every bad table: what is changed, and the code and exit code it gets.
#[test]
fn every_bad_table_gets_its_code_and_its_place() {
    let good = patients(0, 60);
    let row = "p7,Name 7,67,M,migraine";
    assert!(good.contains(row), "the row that is changed below is there");
    let cases: &[(&str, String, &str)] = &[
        ("an unlisted column", good.replace("full_name", "nickname"), "D102"),
        ("a missing column", good.replace("diagnosis", "full_name2"), "D101"),
        ("a duplicate identifier", good.replace(row, "p8,Name 7,67,M,migraine"), "D104"),
        ("an empty identifier", good.replace(row, ",Name 7,67,M,migraine"), "D105"),
        ("not an integer", good.replace(row, "p7,Name 7,old,M,migraine"), "D106"),
        ("outside the domain", good.replace(row, "p7,Name 7,167,M,migraine"), "D109"),
        ("not in the list", good.replace(row, "p7,Name 7,67,Q,migraine"), "D110"),
        ("an empty sensitive value", good.replace(row, "p7,Name 7,67,M,"), "D111"),
        ("a ragged row", good.replace(row, "p7,Name 7,67,M,migraine,extra"), "D113"),
        ("an empty file", String::new(), "D115"),
        ("no rows", good.lines().next().unwrap().to_string() + "\n", "D116"),
        ("not a table", "PK\u{3}\u{4}spreadsheet".to_string(), "D117"),
    ];
    let project = project();
    for (what, table, code) in cases {
        project.write("bad.csv", table);
        let ended = project.fails(&["publish", "bad.csv", "--yes"], 3, code);
        assert!(!ended.stderr.contains("Name 7"), "{what}: no cell values\n{}", ended.stderr);
        assert!(!ended.stderr.contains("migraine"), "{what}: no cell values\n{}", ended.stderr);
    }
    assert!(!project.file("releases/ward-stays/r0001").exists(), "nothing was published");
    // The line of the bad row is named.
    project.write("bad.csv", &cases[5].1);
    let ended = project.run(&["check", "bad.csv"]);
    assert!(ended.stderr.contains("line 9"), "{}", ended.stderr);
    // And the project goes on.
    project.ok(&["publish", "table.csv", "--yes"]);
}

#[test]
fn standard_input_and_compressed_tables_are_read() {
    let project = project();
    let mut child = project.command(&["check", "-"]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(patients(0, 60).as_bytes()).unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
    let packed = zstd::encode_all(patients(0, 60).as_bytes(), 1).unwrap();
    fs::write(project.file("packed.csv"), packed).unwrap();
    project.ok(&["check", "packed.csv"]);
}

#[test]
fn changes_are_published_as_well_as_snapshots() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write(
        "changes.csv",
        "op,patient_id,full_name,age,sex,diagnosis\ninsert,q1,New,33,F,flu\ninsert,q2,New,34,F,asthma\ndelete,p3,,,,\nupdate,p4,Name 4,47,F,flu\n",
    );
    let said = project.ok(&["publish", "changes.csv", "--delta", "--yes", "--label", "delta"]);
    assert!(said.contains("2 arrived") && said.contains("1 left"), "{said}");
    project.write("changes.csv", "op,patient_id,full_name,age,sex,diagnosis\ndelete,nobody,,,,\n");
    project.fails(&["publish", "changes.csv", "--delta", "--yes", "--label", "no"], 3, "D1");
}

/// A release that was withdrawn is not used unawares; and a folder is no table.
#[test]
fn a_withdrawn_release_says_so_wherever_it_is_used() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("later.csv", &patients(5, 60));
    project.ok(&["publish", "later.csv", "--yes"]);
    project.ok(&["retract", "1", "--because", "ages were wrong"]);
    let told = |words: &[&str]| {
        let ended = project.run(words);
        let said = format!("{}{}", ended.stdout, ended.stderr);
        assert!(said.contains("release 1 was withdrawn on") && said.contains(": ages were wrong"), "{words:?}\n{said}");
    };
    told(&["count", "1", "--where", "age >= 40"]);
    told(&["diff", "1", "2"]);
    told(&["audit"]);
    told(&["audit", "releases/ward-stays/r0001", "releases/ward-stays/r0002"]);
    assert!(!project.ok(&["count", "2", "--where", "age >= 40"]).contains("withdrawn"));
    let ended = project.fails(&["publish", "releases", "--yes"], 3, "D117");
    assert!(ended.stderr.contains("releases is a folder: name a table in it"), "{}", ended.stderr);
}

#[test]
fn a_second_writer_is_told_to_wait() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes"]);
    let lock = File::options().write(true).open(project.file(".tacenda/lock")).unwrap();
    lock.lock().unwrap();
    project.fails(&["publish", "table.csv", "--yes", "--label", "second"], 7, "E70");
    // Readers take no lock.
    project.ok(&["log"]);
    project.ok(&["verify"]);
    lock.unlock().unwrap();
    project.ok(&["publish", "table.csv", "--yes", "--label", "second"]);
}

#[test]
fn a_changed_release_file_is_found() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes"]);
    let path = project.file("releases/ward-stays/r0001/ward-stays-r0001.csv");
    let mut bytes = fs::read(&path).unwrap();
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ended = project.run(&["verify"]);
    assert_eq!(ended.code, 5, "{}", ended.stdout);
    assert!(ended.stdout.contains("ward-stays-r0001.csv"), "{}", ended.stdout);
}

#[test]
fn a_damaged_ledger_is_an_error_that_says_where() {
    let project = project();
    project.ok(&["publish", "table.csv", "--yes"]);
    let path = project.file(".tacenda/ledger.jsonl");
    let mut bytes = fs::read(&path).unwrap();
    bytes[40] ^= 1;
    fs::write(&path, bytes).unwrap();
    let ended = project.fails(&["log"], 5, "L5");
    assert!(ended.stderr.contains("line 1"), "{}", ended.stderr);
}

/// Nothing in a release depends on the order of the input rows or on the number of threads.
#[test]
fn releases_are_the_same_bytes_for_any_order_and_threads() {
    let straight = patients(0, 90);
    let mut lines: Vec<&str> = straight.lines().collect();
    lines[1..].reverse();
    let reversed = lines.join("\n") + "\n";
    let folder = |table: &str, threads: &str| {
        let project = project();
        project.fix_seed();
        project.write("table.csv", table);
        project.ok(&["publish", "table.csv", "--yes", "--label", "one", "--threads", threads]);
        let release: Vec<_> =
            everything(&project).into_iter().filter(|(name, _)| name.starts_with("releases")).collect();
        assert_eq!(release.len(), 9, "csv, parquet, counterfeits, counts, description, manifest, readme, report, sums");
        release
    };
    assert_eq!(folder(&straight, "1"), folder(&reversed, "3"));
}

#[test]
fn help_completions_and_the_manual_are_there() {
    let project = TestProject::empty();
    let help = project.ok(&["help"]);
    for command in ["demo", "init", "check", "plan", "publish", "log", "show", "verify", "count", "explain"] {
        assert!(help.contains(command), "{command} in {help}");
    }
    assert!(project.ok(&["completions", "bash"]).contains("tacenda"));
    assert!(project.ok(&["man"]).contains(".TH"));
    assert!(project.ok(&["promises"]).contains("m-invariance"));
    assert!(project.ok(&["explain", "d104"]).starts_with("D104"));
    project.fails(&["explain", "Z999"], 2, "U201");
    assert_eq!(project.run(&["publsh"]).code, 2);
}

#[test]
fn errors_are_json_where_json_is_asked_for() {
    let project = project();
    project.write("bad.csv", "");
    let ended = project.fails(&["check", "bad.csv", "--format", "json"], 3, "D115");
    let error: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
    assert_eq!(error["error"]["code"], "D115");
    assert_eq!(error["error"]["exit"], 3);
}

#[test]
fn memory_can_be_limited() {
    let project = project();
    project.fails(&["publish", "table.csv", "--yes", "--memory", "1K"], 7, "R701");
}

/// Every demo in small: the naive files betray somebody, ours do not, and what it prints to repeat the attack works.
#[test]
fn demos_in_small_break_the_naive_files_and_not_ours() {
    let project = TestProject::empty();
    let list: Value = serde_json::from_str(&project.ok(&["demo", "--list", "--format", "json"])).unwrap();
    let names: Vec<&str> =
        list["demos"].as_array().unwrap().iter().map(|demo| demo["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 5, "{names:?}");
    for name in names.into_iter().filter(|name| *name != "m-invariance") {
        let said: Value = serde_json::from_str(&project.ok(&["demo", name, name, "--format", "json"])).unwrap();
        assert_eq!(said["learned"]["decision"], "FAIL", "{name}");
        assert!(!said["learned"]["findings"].as_array().unwrap().is_empty(), "{name}");
        assert_eq!(said["learned_then"]["findings"].as_array().unwrap().len(), 0, "{name}: {}", said["learned_then"]);
        assert_eq!(said["refused"].is_string(), name == "k-anonymity");
        let command = format!("cd {name} && {}", said["command"].as_str().unwrap());
        let ended = project.shell(&command, &[]);
        assert_eq!(ended.code, 1, "{command}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stdout.starts_with("FAIL"), "{name}: {}", ended.stdout);
        // The page that the demo names has the verdict that the demo told.
        let command = format!("cd {name} && {}", said["report_command"].as_str().unwrap());
        let written = project.shell(&command, &[]);
        let told = said["learned_then"]["decision"].as_str().unwrap();
        assert!(
            written.code == 0 && written.stderr.starts_with(&format!("{told}: ")),
            "{name}: {told} {}",
            written.stderr
        );
        project.ok(&["-C", name, "verify"]);
        project.fails(&["demo", name, name], 2, "U204");
    }
    project.fails(&["demo", "k-anonimity"], 2, "did you mean k-anonymity?");
    project.fails(&["demo", "nothing", "folder"], 2, "there is no demo nothing");
}

#[test]
fn the_demo_breaks_the_naive_series_and_not_ours() {
    let project = TestProject::empty();
    let said = project.ok(&["demo", "hospital", "--patients", "2000", "--format", "json"]);
    let report: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert!(report["naive"][3]["certain"].as_u64().unwrap() > 0);
    assert_eq!(report["published"][3]["certain"], 0);
    assert_eq!(report["published"][3]["below_four"], 0);
    // The project it leaves behind can be gone on with.
    assert!(project.ok(&["-C", "hospital", "verify"]).starts_with("intact"));
    assert!(project.ok(&["-C", "hospital", "log"]).contains("2026-Q4"));
    project.fails(&["demo", "hospital"], 2, "U204");
}

/// Exit code 7 means that nothing was published; so what can fail about the report fails first.
#[test]
fn a_report_that_cannot_be_written_publishes_nothing() {
    let project = project();
    project.fails(&["publish", "table.csv", "--yes", "-o", "missing/report.txt"], 7, "U701");
    assert!(!project.file("releases/ward-stays/r0001").exists());
    project.ok(&["publish", "table.csv", "--yes", "-o", "report.txt"]);
    assert!(project.read("report.txt").contains("published"));
    // Once the release is out, a report that is lost on the way is no failure to publish.
    let full = File::options().write(true).open("/dev/full").unwrap();
    let mut child = project.command(&["publish", "table.csv", "--yes", "--label", "two"]).stdout(full).spawn().unwrap();
    assert!(child.wait().unwrap().success());
    assert!(project.ok(&["log"]).contains("two"));
}

#[test]
fn nobody_listening_is_no_panic() {
    let project = project();
    let mut child = project.command(&["check", "missing.csv"]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(7));
}

#[test]
fn problems_are_listed_for_programs() {
    let project = project();
    project.write("bad.csv", &patients(0, 60).replace("Name 7,67", "Name 7,old"));
    let ended = project.fails(&["check", "bad.csv", "--format", "json"], 3, "D106");
    let error: serde_json::Value = serde_json::from_str(&ended.stderr).unwrap();
    let problem = &error["error"]["problems"][0];
    assert_eq!(problem["column"], "age");
    assert_eq!(problem["count"], 1);
    assert_eq!(problem["lines"][0], 9);
    assert!(problem["way_out"].as_str().unwrap().len() > 5);
}

#[test]
fn the_manual_and_the_completions_go_where_they_are_sent() {
    let project = TestProject::empty();
    project.ok(&["man", "-o", "tacenda.1"]);
    assert!(project.read("tacenda.1").contains(".TH"));
    project.ok(&["completions", "fish", "-o", "tacenda.fish"]);
    assert!(project.read("tacenda.fish").contains("tacenda"));
}
