//! Audits: releases in other tools' notation, and a project of ours.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;
use std::fmt::Write;
use std::io::Write as _;
use std::process::Stdio;
use tacenda::made_up::paper003;
use tacenda::model::{Release, Row, Table};

const COLUMNS: [&str; 4] = ["--quasi", "age,zip", "--sensitive", "disease"];
const TRUTH: [&str; 5] = ["--truth", "t1.csv", "t2.csv", "--id", "name"];

/// A release in dash ranges, as many hand-made ones are.
fn dashed(release: &Release) -> String {
    let mut text = String::from("age,zip,disease\n");
    for group in 0..release.group_count() {
        let region = release.region(group);
        for value in release.group_values(group) {
            let disease = &release.values.cells(*value)[0];
            let _ = writeln!(text, "{}-{},[{}-{}],{disease}", region[0].lo, region[0].hi, region[1].lo, region[1].hi);
        }
    }
    text
}

fn truth(table: &Table) -> String {
    let mut text = String::from("name,age,zip,disease\n");
    for row in 0..table.len() {
        let name = paper003::name(table.key(Row(row as u32)));
        let disease = &table.values.cells(table.sensitive()[row])[0];
        let _ = writeln!(text, "{name},{},{},{disease}", table.quasi(0)[row], table.quasi(1)[row]);
    }
    text
}

/// The naive releases of paper 003, each 2-diverse alone, and their truth.
fn naive() -> TestProject {
    TestProject::with(&[
        ("r1.csv", &dashed(&paper003::release_1b().0)),
        ("r2.csv", &dashed(&paper003::release_2b().0)),
        ("t1.csv", &truth(&paper003::table_1a())),
        ("t2.csv", &truth(&paper003::table_2a())),
    ])
}

fn audit(project: &TestProject, words: &[&str]) -> (i32, Value) {
    let words = [&["audit"][..], words, &["--format", "json", "-q"]].concat();
    let ended = project.run(&words);
    (ended.code, serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr)))
}

/// science G11: Bob, Alice, David and Andy.
#[test]
fn naive_releases_in_another_notation_betray_the_papers_four() {
    let project = naive();
    let (code, alone) = audit(&project, &[&["r1.csv"][..], &COLUMNS].concat());
    assert_eq!((code, alone["releases"][0]["risk"]["fewest_values"].as_u64()), (0, Some(2)));
    let (code, both) = audit(&project, &[&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH].concat());
    assert_eq!(code, 1);
    let findings = both["findings"].as_array().unwrap();
    let certain = findings.iter().find(|finding| finding["code"] == "A731").expect("someone's value is certain");
    assert_eq!((certain["people"].as_u64(), certain["severity"].as_str()), (Some(4), Some("severe")));
    assert!(!both.to_string().contains("dyspepsia"), "values are coded");
    let never = [&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH, &["--fail-on", "never"]].concat();
    assert_eq!(audit(&project, &never).0, 0);
}

/// Whoever brings the private tables reads what they say, of every release.
#[test]
fn an_audit_with_the_truth_says_what_was_withheld_and_how_far_counts_are_off() {
    let project = naive();
    let lacking: String = project.read("r2.csv").lines().take(11).map(|line| format!("{line}\n")).collect();
    project.write("r2.csv", &lacking);
    let files = [&["r1.csv", "r2.csv"][..], &COLUMNS].concat();
    let (_, report) = audit(&project, &[&files[..], &TRUTH].concat());
    let truth = report["private"]["truth"].as_array().unwrap();
    let withheld: Vec<u64> = truth.iter().map(|truth| truth["withheld"].as_u64().unwrap()).collect();
    assert_eq!(withheld, [0, 1]);
    assert!(truth.iter().all(|truth| truth["query_error"]["median"].is_number()));
    assert!(truth.iter().all(|truth| truth["before"]["unique"] == 11), "everyone has an age and zip of their own");
    let html = [&["audit", "--format", "html", "--fail-on", "never", "-q"][..], &files, &TRUTH].concat();
    let page = project.ok(&html);
    assert!(!page.contains("Not measured") && page.contains("Withheld"), "the truth was given");
    let command = "tacenda audit r1.csv r2.csv --quasi age,zip --sensitive disease --truth t1.csv t2.csv --id name";
    assert!(page.contains(&format!("<code>{command} --format json</code>.</footer>")), "the footer names the audit");
    let without = project.ok(&[&["audit", "--format", "html", "--fail-on", "never", "-q"][..], &files].concat());
    assert!(!without.contains("Withheld") && !without.contains("count queries"));
}

#[test]
fn a_person_is_told_of_from_standard_input_only() {
    let project = naive();
    let words = [&["explain", "person", "--releases", "r1.csv", "r2.csv", "-q"][..], &COLUMNS, &TRUTH].concat();
    let mut child = project.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Bob\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("One value remains: it is certain."), "{text}");
    project.fails(&["explain", "person", "Bob"], 2, "U201");
    project.ok(&[
        "explain",
        "group",
        "2:1",
        "--releases",
        "r1.csv",
        "r2.csv",
        "--quasi",
        "age,zip",
        "--sensitive",
        "disease",
    ]);
    let saved = [&["audit", "r1.csv", "r2.csv", "--format", "json", "-o", "a.json"][..], &COLUMNS, &TRUTH].concat();
    assert_eq!(project.run(&saved).code, 1);
    let finding = project.ok(&["explain", "finding", "1", "--audit", "a.json"]);
    assert!(finding.contains("A731"), "{finding}");
}

/// Three releases' worth of groups that overlap: only matching everyone at once makes anyone certain.
fn overlapping() -> TestProject {
    TestProject::with(&[
        ("r1.csv", "age,disease\n\"[20,30)\",flu\n\"[20,30)\",cold\n\"[20,40)\",hiv\n\"[20,40)\",mumps\n"),
        (
            "r2.csv",
            "age,disease\n\"[20,25)\",flu\n\"[20,25)\",hiv\n\"[25,40)\",cold\n\"[25,40)\",hiv\n\"[25,40)\",mumps\n",
        ),
        ("t1.csv", "id,age,disease\na,21,flu\nb,26,cold\nc,35,hiv\nd,36,mumps\n"),
        ("t2.csv", "id,age,disease\na,21,flu\nb,26,cold\nc,35,hiv\nd,36,mumps\ne,23,hiv\n"),
    ])
}

const OVERLAPPING: [&str; 11] =
    ["--quasi", "age", "--sensitive", "disease", "--truth", "t1.csv", "t2.csv", "--id", "id", "--domain", "age=0..120"];

/// The worked case and `explain person` end in the number that the finding states, in every form.
#[test]
fn a_story_ends_in_what_matching_everyone_at_once_leaves() {
    let project = overlapping();
    let files = [&["r1.csv", "r2.csv"][..], &OVERLAPPING].concat();
    let (_, report) = audit(&project, &files);
    let certain = report["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "A731").unwrap();
    assert_eq!((certain["people"].as_u64(), certain["witness"]["number"].as_u64()), (Some(3), Some(1)));
    assert_eq!(report["sequence"]["smallest_candidates"].as_u64(), Some(1));
    assert_eq!((report["story"]["left"].as_u64(), report["story"]["matched"].as_array().unwrap().len()), (Some(1), 1));
    for format in ["text", "markdown", "html"] {
        let page = project.ok(&[&["audit", "--format", format, "--fail-on", "never", "-q"][..], &files].concat());
        let page = page.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(page.contains("Everyone is matched at once"), "{page}");
        assert!(page.contains("One value remains") && !page.contains("2 values remain"), "{page}");
    }
    let person = [&["explain", "person", "-q", "--releases"][..], &files].concat();
    let mut child = project.command(&person).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"a\n").unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains("Everyone is matched at once") && text.contains("One value remains"), "{text}");
}

#[test]
fn an_audit_without_columns_lists_them() {
    let ended = naive().fails(&["audit", "r1.csv"], 2, "U201");
    assert!(ended.stderr.contains("age, zip, disease"), "{}", ended.stderr);
}

#[test]
fn unreadable_cells_are_named_by_place_and_not_shown() {
    let project = TestProject::with(&[("r.csv", "age,disease\n20-29,flu\nsecretive,flu\n")]);
    let ended = project.fails(&["audit", "r.csv", "--quasi", "age", "--sensitive", "disease"], 3, "D125");
    assert!(ended.stderr.contains("line 3") && ended.stderr.contains("column age"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("secretive"));
    assert!(ended.stderr.contains("nothing was examined") && !ended.stderr.contains("published"), "{}", ended.stderr);
    let ended = project.fails(&["audit", "r.csv", "--quasi", "height", "--sensitive", "disease"], 3, "D131");
    assert!(ended.stderr.contains("looked for in r.csv"), "{}", ended.stderr);
}

/// What an empty cell was taken for decides what is found: it is printed, and named among what everything rests on.
#[test]
fn what_cells_that_say_nothing_mean_is_assumed_in_the_open() {
    let project = TestProject::with(&[
        ("r1.csv", "age,disease\n20-29,flu\n20-29,hiv\n30-39,flu\n30-39,hiv\n"),
        ("r2.csv", "age,disease\n20-29,flu\n20-29,hiv\nNA,flu\n,hiv\n"),
    ]);
    let words = ["audit", "r1.csv", "r2.csv", "--quasi", "age", "--sensitive", "disease", "--fail-on", "never"];
    let said = |more: &[&str]| {
        let ended = project.run(&[&words[..], more].concat());
        let json = project.ok(&[&words[..], more, &["--format", "json", "-q"]].concat());
        (ended.stderr, serde_json::from_str::<Value>(&json).unwrap())
    };
    let named = |report: &Value, taken: &str| {
        let sentence = format!("In column age 2 cells say nothing (empty, NA, NULL, ?), which is read as {taken}.");
        report["assumptions"].as_array().unwrap().iter().any(|assumed| *assumed == *sentence)
    };
    let (printed, report) = said(&[]);
    assert!(printed.contains("missing as any value 2") && printed.contains("--missing says"), "{printed}");
    assert!(named(&report, "left out: any value"), "{}", report["assumptions"]);
    for more in [["--missing", "value"], ["--missing", "age=value"]] {
        let (printed, report) = said(&more);
        assert!(printed.contains("missing as a value 2"), "{printed}");
        assert!(named(&report, "not recorded: a value of its own"), "{}", report["assumptions"]);
        assert!(report["provenance"]["command"].as_str().unwrap().contains("--missing"), "it can be repeated");
    }
    project.fails(&[&words[..], &["--missing", "nothing"]].concat(), 2, "U201");
    project.fails(&[&words[..], &["--missing", "zip=any"]].concat(), 2, "U201");
}

/// Counterfeits that cannot be counted would count as people.
#[test]
fn counts_beside_a_file_without_groups_are_not_passed_over() {
    let counts = "group_id,rows,counterfeits\n1,2,1\n";
    let project = TestProject::with(&[("r.csv", "age,disease\n20,flu\n20,hiv\n"), ("r.counterfeits.csv", counts)]);
    let ended = project.fails(&["audit", "r.csv", "--quasi", "age", "--sensitive", "disease"], 3, "D129");
    assert!(ended.stderr.contains("r.csv has no column group_id"), "{}", ended.stderr);
}

/// Thirty people who hang together are too many to count all worlds of: no probability is not a small one.
#[test]
fn nobody_counted_is_not_no_risk() {
    let (mut release, mut truth) = (String::from("age,disease\n"), String::from("name,age,disease\n"));
    for person in 0..30 {
        let disease = ["flu", "hiv", "cold"][person % 3];
        let _ = writeln!(release, "20-49,{disease}");
        let _ = writeln!(truth, "p{person},{},{disease}", 20 + person);
    }
    let project = TestProject::with(&[("r1.csv", &release), ("r2.csv", &release), ("t.csv", &truth)]);
    let words = ["audit", "r1.csv", "r2.csv", "--quasi", "age", "--sensitive", "disease"];
    let words = [&words[..], &["--truth", "t.csv", "t.csv", "--id", "name", "--fail-on", "never", "-q"]].concat();
    let words = [&words[..], &["--budget", "1000"]].concat();
    for format in ["text", "markdown", "html"] {
        let printed = project.ok(&[&words[..], &["--format", format]].concat());
        let printed = printed.split_whitespace().collect::<Vec<&str>>().join(" ");
        assert!(printed.contains("not counted for any of 30 people"), "{format}: {printed}");
        assert!(!printed.contains("people counted"), "{format}: {printed}");
    }
    let report: Value = serde_json::from_str(&project.ok(&[&words[..], &["--format", "json"]].concat())).unwrap();
    assert!(report["sequence"]["largest_posterior"].is_null(), "{}", report["sequence"]);
}

#[test]
fn a_project_under_m_invariance_is_audited_without_a_finding() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    for (release, first) in [0, 20, 40].into_iter().enumerate() {
        project.write("table.csv", &patients(first, 60));
        project.write(&format!("t{}.csv", release + 1), &patients(first, 60));
        project.ok(&["publish", "table.csv", "--yes"]);
    }
    let (code, report) = audit(&project, &["--fail-on", "severe"]);
    assert_eq!((code, report["releases"].as_array().unwrap().len()), (0, 3));
    let truth = ["--truth", "t1.csv", "t2.csv", "t3.csv", "--check", "candidates"];
    let (code, report) = audit(&project, &truth);
    assert_eq!((code, report["checks"][0]["verdict"].as_str()), (0, Some("PASS")), "{report}");
    project.fails(&["audit", "--truth", "t1.csv"], 2, "R209");
    project.fails(&["audit", "--truth", "t1.csv", "t2.csv", "t3.csv", "--id", "full_name"], 2, "U201");
    // Without an id nobody would be known to be in two releases.
    let nameless = ["--quasi", "age", "--sensitive", "diagnosis", "--truth", "t1.csv", "t2.csv"];
    let ended = project.fails(&[&["audit", "t1.csv", "t2.csv"][..], &nameless].concat(), 2, "U201");
    assert!(ended.stderr.contains("--truth needs --id"), "{}", ended.stderr);
}

/// The lines are the promise's: m-invariance says nothing of people, so a group of one person and a
/// counterfeit is no finding.
#[test]
fn a_project_is_held_against_its_own_promise() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    project.write("t1.csv", &patients(0, 60));
    project.ok(&["publish", "t1.csv", "--yes"]);
    let (_, report) = audit(&project, &["--check", "group-sizes"]);
    let promised = report["provenance"].clone();
    let (_, report) = audit(&project, &["--check", "group-sizes", "--k", "3", "--l", "4"]);
    assert_eq!((report["provenance"]["k"].as_u64(), report["provenance"]["l"].as_u64()), (Some(3), Some(4)));
    assert_eq!(promised["k"], 1, "{promised}");
}

/// What was not asked is not answered.
#[test]
fn a_part_of_the_questions_answers_for_no_more() {
    let project = TestProject::with(&[("r.csv", "age,disease\n20-29,flu\n30-39,flu\n")]);
    let words = ["r.csv", "--quasi", "age", "--sensitive", "disease", "--check"];
    let (code, report) = audit(&project, &[&words[..], &["drift"]].concat());
    let sentence = report["verdict"]["sentence"].as_str().unwrap();
    assert!(!sentence.contains("everyone"), "{sentence}");
    assert_eq!((code, report["verdict"]["decision"].as_str()), (6, Some("NOT ASSESSED")), "{report}");
    assert_eq!(audit(&project, &[&words[..], &["group-sizes"]].concat()).0, 1);
    let (_, report) = audit(&project, &[&words[..], &["row-order"]].concat());
    assert!(!report["verdict"]["sentence"].as_str().unwrap().contains("everyone"), "{report}");
}

/// The table of exit codes in docs/audit.md, walked through cell by cell.
#[test]
fn every_verdict_and_flag_end_with_the_code_of_the_table() {
    let project = naive();
    project.write("r.csv", "age,disease\n20-29,flu\n20-29,gout\n30-39,flu\n30-39,gout\n");
    let small = ["r.csv", "--quasi", "age", "--sensitive", "disease", "--check", "group-sizes"];
    // The truth of another release: nothing adds up.
    let open = [&["r1.csv"][..], &COLUMNS, &["--truth", "t2.csv", "--id", "name", "--check", "posterior"]].concat();
    let cases = [
        ("PASS, PASS WITH NAMED ASSUMPTION, NOT PROMISED", small.to_vec()),
        ("NOT ASSESSED", open.clone()),
        ("FAIL, with a severe finding", [&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH].concat()),
        ("FAIL, with warnings only", [&small[..], &["--k", "3"]].concat()),
        ("FAIL, with warnings only, and something severe may be hidden", {
            [&open[..], &["--check", "group-sizes", "--k", "50"]].concat()
        }),
    ];
    let page = include_str!("../../../../docs/audit.md");
    let rows: Vec<Vec<&str>> = page
        .lines()
        .skip_while(|line| !line.starts_with("| verdict | `any`"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').split('|').map(str::trim).collect())
        .collect();
    assert_eq!(rows[0], ["verdict", "`any`", "`severe`", "`found`", "`never`"]);
    assert_eq!(rows.len() - 2, cases.len(), "every row is walked");
    for ((name, words), row) in cases.iter().zip(&rows[2..]) {
        assert_eq!(row[0], *name);
        for (flag, code) in ["any", "severe", "found", "never"].iter().zip(&row[1..]) {
            let (ended, report) = audit(&project, &[&words[..], &["--fail-on", flag]].concat());
            assert_eq!(ended.to_string(), *code, "{name}, --fail-on {flag}: {}", report["verdict"]);
            let decision = report["verdict"]["decision"].as_str().unwrap();
            assert!(name.contains(decision), "{name}: {decision}");
        }
        assert_eq!(audit(&project, words).0.to_string(), row[1], "any is what is done by itself");
    }
}

/// What is left open says what would settle it, in flags that exist.
#[test]
fn what_is_left_open_says_what_would_settle_it() {
    let project = naive();
    let words = [&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH, &["--check", "posterior", "--budget", "4000"]].concat();
    let (code, report) = audit(&project, &words);
    assert_eq!((code, report["checks"][0]["verdict"].as_str()), (6, Some("NOT ASSESSED")), "{report}");
    let step = report["next_steps"][0].as_str().unwrap();
    let budget = step.split("(--budget ").nth(1).unwrap().split(')').next().unwrap();
    // It is the least that is needed: the next try may ask for more, and the usual budget settles it.
    assert!(budget.parse::<u64>().unwrap() > 4000, "{step}");
    assert_eq!(audit(&project, &words[..words.len() - 2]).0, 1, "{step}");
    // The truth of another release: no budget helps, and none is asked for.
    let other = [&["r1.csv"][..], &COLUMNS, &["--truth", "t2.csv", "--id", "name", "--check", "posterior"]].concat();
    let (_, report) = audit(&project, &other);
    assert!(report["next_steps"][0].as_str().unwrap().contains("check that these are the tables"), "{report}");
}

/// Who asks about a reader who knows the program gets an answer or an open question, never a pass.
#[test]
fn the_reader_that_is_named_is_judged() {
    let project = naive();
    let words = [&["r1.csv"][..], &COLUMNS, &["--check", "group-sizes", "--check", "rerun"]].concat();
    assert_eq!(audit(&project, &words).0, 0);
    let (code, report) = audit(&project, &[&words[..], &["--reader", "method"]].concat());
    assert_eq!((code, report["verdict"]["decision"].as_str()), (6, Some("NOT ASSESSED")), "{report}");
    project.fails(&[&["audit"], &words[..], &["--reader", "nobody"]].concat(), 2, "U201");
    let ended = project.fails(&[&["audit"], &words[..], &["--permanent", "a cold"]].concat(), 2, "U201");
    assert!(!ended.stderr.contains("a cold"), "{}", ended.stderr);
    let known = [&["audit"], &words[..], &["--permanent", "flu"]].concat();
    project.ok(&known);
}

/// Releases in any order with dates give the report of the right order.
#[test]
fn the_order_of_files_is_that_of_their_dates() {
    let project = naive();
    let truth = ["--truth", "t2.csv", "t1.csv", "--id", "name"];
    let (_, given) = audit(&project, &[&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH].concat());
    let dated = ["--dates", "2026-02-01,2026-01-01"];
    let (_, sorted) = audit(&project, &[&["r2.csv", "r1.csv"][..], &COLUMNS, &truth, &dated].concat());
    assert_eq!(given["findings"], sorted["findings"]);
    assert_eq!(given["checks"], sorted["checks"]);
    let (first, second) = (dashed(&paper003::release_1b().0), dashed(&paper003::release_2b().0));
    project.write("x-2026-01-01.csv", &first);
    project.write("x-2026-02-01.csv", &second);
    let words = [&["x-2026-02-01.csv", "x-2026-01-01.csv", "--order", "date"][..], &COLUMNS, &truth].concat();
    assert_eq!(audit(&project, &words).1["checks"], given["checks"]);
}

/// Who does not know who was there when cannot intersect.
#[test]
fn the_attacker_is_who_the_command_line_says() {
    let project = naive();
    let words = [&["r1.csv", "r2.csv", "--check", "candidates", "--attacker"][..]].concat();
    let verdict = |attacker: &str| {
        let words = [&words[..], &[attacker], &COLUMNS, &TRUTH].concat();
        audit(&project, &words).1["checks"][0]["verdict"].as_str().unwrap().to_string()
    };
    assert_eq!(verdict("quasi"), "PASS");
    assert_eq!(verdict("quasi,first-release"), "PASS");
    assert_eq!(verdict("quasi,presence"), "FAIL");
}

/// A release without the sensitive column tells nothing of anyone's value.
#[test]
fn a_person_is_not_told_of_by_a_release_without_values() {
    let project = naive();
    let without: String = dashed(&paper003::release_2b().0)
        .lines()
        .map(|line| line.rsplit_once(',').unwrap().0.to_string() + "\n")
        .collect();
    project.write("r2.csv", &without);
    let words = [&["explain", "person", "--releases", "r1.csv", "r2.csv", "-q"][..], &COLUMNS, &TRUTH].concat();
    let mut child = project.command(&words).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"Bob\n").unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.contains("Release 1") && !text.contains("Release 2"), "{text}");
}

/// The witness names a person by key and an attribute by name, and no cell.
#[test]
fn a_witness_names_its_person() {
    let (_, report) = audit(&naive(), &[&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH].concat());
    let certain = report["findings"].as_array().unwrap().iter().find(|finding| finding["code"] == "A731").unwrap();
    let person = certain["witness"]["person"].as_str().expect("a person");
    assert_eq!(person.len(), 32);
    assert!(!report.to_string().contains("Bob"));
}

/// A date that is none sorts nothing; a column that is not there is not wished about; a copy of a release tells nothing.
#[test]
fn what_the_command_line_says_is_held_against_the_files() {
    let project = naive();
    let truth = ["--truth", "t2.csv", "t1.csv", "--id", "name"];
    let said = |words: &[&str]| audit(&project, &[words, &COLUMNS].concat()).1;
    let given = audit(&project, &[&["r1.csv", "r2.csv"][..], &COLUMNS, &TRUTH].concat()).1;
    let short = [&["r2.csv", "r1.csv", "--dates", "2026-10-1,2026-9-1"][..], &truth].concat();
    assert_eq!(said(&short)["checks"], given["checks"]);
    for dates in ["foo,bar", "05/02/2026,10/01/2026", "2026-02-30,2026-03-01", "2026-W05,2026-W06"] {
        project.fails(&[&["audit", "r1.csv", "r2.csv", "--dates", dates][..], &COLUMNS].concat(), 2, "U201");
    }
    project.write("w-2026-W05.csv", &project.read("r1.csv"));
    project.write("w-2026-W06.csv", &project.read("r2.csv"));
    let weeks = ["audit", "w-2026-W05.csv", "w-2026-W06.csv", "--order", "date"];
    project.fails(&[&weeks[..], &COLUMNS].concat(), 2, "U201");
    project.fails(&[&["audit", "r1.csv", "--any", "nope=x"][..], &COLUMNS].concat(), 2, "U201");
    project.fails(&[&["audit", "r1.csv", "--hierarchy", "zip=nope.csv"][..], &COLUMNS].concat(), 2, "U201");
    project.write("copy.csv", &project.read("r1.csv"));
    let twice = said(&["r1.csv", "copy.csv"]);
    assert_eq!(twice["checks"], said(&["r1.csv"])["checks"]);
    let notes = |report: &Value| report["provenance"]["notes"].to_string();
    assert!(notes(&twice).contains("copy.csv repeats r1.csv and is ignored\""), "{twice}");
    assert!(!notes(&twice).contains("numbered without"), "{twice}");
    let three = said(&["r1.csv", "copy.csv", "r2.csv"]);
    assert!(notes(&three).contains("numbered without what is ignored: r2.csv is release 2\""), "{three}");
    project.write("again.csv", &project.read("r1.csv"));
    let thrice = said(&["r1.csv", "copy.csv", "again.csv"]);
    assert!(notes(&thrice).contains("again.csv repeats r1.csv and is ignored\""), "{thrice}");
    let data: Vec<_> = three["releases"]
        .as_array()
        .unwrap()
        .iter()
        .map(|release| release["data"].as_str().unwrap().to_string())
        .collect();
    assert_eq!(data, ["r1.csv", "r2.csv"], "each release has its own file");
    let others = [&["r1.csv", "copy.csv"][..], &["--truth", "t1.csv", "t3.csv", "--id", "name"]].concat();
    let swapped = project
        .read("t1.csv")
        .lines()
        .rev()
        .take(1)
        .fold(project.read("t1.csv"), |text, line| text.replace(line, &format!("X{line}")));
    project.write("t3.csv", &swapped);
    assert!(!notes(&said(&others)).contains("repeats"), "other people");
}

/// What is written about a person cannot be made from their name alone, nor found again in another audit.
#[test]
fn a_person_has_another_name_in_every_audit() {
    let project = naive();
    let people = |words: &[&str]| -> Vec<String> {
        let found = audit(&project, &[words, &COLUMNS].concat()).1;
        let found = found["findings"].as_array().unwrap().clone();
        found.iter().filter_map(|finding| finding["witness"]["person"].as_str().map(String::from)).collect()
    };
    let both = people(&[&["r1.csv", "r2.csv"][..], &TRUTH].concat());
    assert!(!both.is_empty());
    assert_eq!(both, people(&[&["r1.csv", "r2.csv"][..], &TRUTH].concat()));
    project.write("t2.csv", &project.read("t2.csv").replacen("flu", "cold", 1));
    let other = people(&[&["r1.csv", "r2.csv"][..], &TRUTH].concat());
    assert!(both.iter().all(|person| !other.contains(person)), "{both:?} {other:?}");
}

/// A folder that holds the files of two releases of ours: their counts of people and counterfeits are no releases.
#[test]
fn files_beside_the_data_of_a_release_are_not_audited_as_releases() {
    let project = TestProject::with(&[("tacenda.toml", POLICY)]);
    for people in [240, 250] {
        project.write("table.csv", &patients(0, people));
        project.ok(&["publish", "table.csv", "--yes"]);
    }
    std::fs::create_dir(project.file("received")).unwrap();
    for release in ["r0001", "r0002"] {
        for kind in [".csv", ".counts.csv"] {
            let name = format!("ward-stays-{release}{kind}");
            let text = project.read(&format!("releases/ward-stays/{release}/{name}"));
            project.write(&format!("received/{name}"), &text);
        }
    }
    let quasi = ["--quasi", "age,sex", "--sensitive", "diagnosis", "--format", "json"];
    let ended = project.run(&[&["audit", "received"], &quasi[..]].concat());
    let report: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(report["releases"].as_array().map(Vec::len), Some(2), "{}", ended.stderr);
}
