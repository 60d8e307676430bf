//! What a plan lays side by side for the steward, and linked ids as a recipient sees them.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;
use std::collections::BTreeMap;

/// The small hospital under another promise, with more under `[output]`.
fn policy(promise: &str, output: &str) -> String {
    let text = POLICY.replace("model = \"m-invariance\"\nm     = 2", promise);
    assert!(text.contains(promise), "{text}");
    format!("{text}\n[output]\n{output}\n")
}

fn plan(project: &TestProject) -> Value {
    serde_json::from_str(&project.ok(&["plan", "table.csv", "--format", "json"])).unwrap()
}

#[test]
fn a_first_plan_shows_what_each_choice_of_incremental_k_anonymity_costs() {
    let project = TestProject::with(&[("tacenda.toml", &policy("model = \"incremental-k-anonymity\"\nk = 3", ""))]);
    project.write("table.csv", &patients(0, 200));
    let planned = plan(&project);
    let choices = planned["choices"].as_array().unwrap();
    let names: Vec<&str> = choices.iter().map(|choice| choice["choice"].as_str().unwrap()).collect();
    assert_eq!(names, ["cohorts", "cells", "tight"]);
    let loss: Vec<f64> = choices.iter().map(|choice| choice["loss"].as_f64().unwrap()).collect();
    // A box lies inside its cell, and cohorts have the smallest boxes of all.
    assert!(loss[0] <= loss[2] && loss[2] < loss[1], "{loss:?}");
    assert_eq!(choices[0]["chosen"], true);
    assert_eq!(choices[0]["loss"], planned["summary"]["loss"]["leaf_share"]);
    assert!(choices.iter().all(|choice| choice["groups"].as_u64() > Some(1) && choice["withheld"] == 0));
    let said = project.ok(&["plan", "table.csv"]);
    assert!(said.contains("cohorts = false, tight = true") && said.contains("(chosen)"), "{said}");
}

#[test]
fn a_later_plan_says_that_the_choice_is_made() {
    let cells = policy("model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false", "");
    let project = TestProject::with(&[("tacenda.toml", &cells)]);
    project.write("table.csv", &patients(0, 100));
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("table.csv", &patients(0, 200));
    let planned = plan(&project);
    let choices = planned["choices"].as_array().unwrap();
    for (choice, key) in [(&choices[0], "cohorts"), (&choices[2], "tight")] {
        let why = choice["refused"].as_str().unwrap();
        assert!(why.contains(&format!("cannot change its {key}")) && why.contains("needs a new series"), "{why}");
        assert!(choice["loss"].is_null() && choice["chosen"] == false);
    }
    assert!(choices[1]["chosen"] == true && choices[1]["loss"].as_f64().unwrap() > 0.0);
    assert!(project.ok(&["plan", "table.csv"]).contains("not now: a series cannot change its cohorts"));
}

#[test]
fn k_anonymity_has_no_such_choices() {
    let project = TestProject::with(&[("tacenda.toml", &policy("model = \"k-anonymity\"\nk = 3", ""))]);
    project.write("table.csv", &patients(0, 60));
    let planned = plan(&project);
    assert_eq!((&planned["choices"], &planned["drift"]), (&serde_json::json!([]), &Value::Null));
}

/// A clustering of people who stand close, then people who stand apart: the kept loss is far above
/// the static one, so a low factor clusters anew and a high one does not.
#[test]
fn a_plan_shows_the_drift_and_what_the_rule_does_about_it() {
    let rule = |factor: &str| {
        let rule = format!("refresh = \"when loss > {factor} x static\"\naccept_series_risk = \"a test\"");
        policy(&format!("model = \"k-anonymity\"\nk = 3\n{rule}"), "")
    };
    let project = TestProject::with(&[("tacenda.toml", &rule("1.1"))]);
    project.fix_seed();
    let line = |id: u32, age: u32| format!("p{id},N,{age},F,{}\n", ["flu", "asthma"][(id % 2) as usize]);
    let head = "patient_id,full_name,age,sex,diagnosis\n";
    let near: String = (0..30).map(|id| line(id, 30 + id)).collect();
    let far: String = (30..60).map(|id| line(id, 1 + id * 37 % 120)).collect();
    project.write("table.csv", &format!("{head}{near}"));
    assert!(plan(&project)["drift"].is_null());
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("table.csv", &format!("{head}{near}{far}"));
    let drift = &plan(&project)["drift"];
    let [kept, scratch, last] =
        ["loss_kept", "loss_from_scratch", "loss_static"].map(|name| drift[name].as_f64().unwrap());
    assert!(scratch > 0.0 && last > 0.0 && kept > 1.1 * last, "{drift}");
    assert_eq!(drift["ratio"], kept / last);
    // How good a clustering from scratch is depends on the seed; it is taken only if it is better.
    assert_eq!(drift["refreshes"], scratch < kept, "{drift}");
    let wanted =
        if scratch < kept { "everything is clustered from scratch" } else { "from scratch would be no better" };
    assert!(project.ok(&["plan", "table.csv"]).contains(wanted));
    project.write("tacenda.toml", &rule("1000"));
    let kept_plan = plan(&project);
    let kept_summary = kept_plan["summary"]["loss"]["leaf_share"].as_f64().unwrap();
    assert_eq!(kept_plan["drift"]["refreshes"], false);
    // What is planned is what the drift is about: the losses are the same number.
    assert!((kept_summary - kept).abs() < 1e-6, "{kept_summary} {kept}");
    assert!(project.ok(&["plan", "table.csv"]).contains("the clusters are kept"));
}

/// Two leave a group of three, one newcomer comes: who is out for good and who waits are two numbers.
#[test]
fn a_plan_tells_who_is_out_from_who_waits() {
    let file = policy("model = \"incremental-k-anonymity\"\nk = 2\non_delete = \"withhold\"", "");
    let project = TestProject::with(&[("tacenda.toml", &file)]);
    let line = |id: u32, age: u32| format!("p{id},N,{age},F,flu\n");
    let table = |people: &[(u32, u32)]| {
        let rows: String = people.iter().map(|&(id, age)| line(id, age)).collect();
        format!("patient_id,full_name,age,sex,diagnosis\n{rows}")
    };
    project.write("table.csv", &table(&[(1, 10), (2, 11), (3, 70), (4, 71)]));
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("table.csv", &table(&[(1, 10), (3, 70), (4, 71), (5, 12)]));
    let summary = &plan(&project)["summary"];
    let [withheld, waiting, taken_out] =
        ["withheld", "waiting", "taken_out"].map(|name| summary[name].as_u64().unwrap());
    assert_eq!((withheld, waiting, taken_out), (2, 1, 1));
    let said = project.ok(&["plan", "table.csv"]);
    assert!(said.contains("1 published before and now left out, 1 waiting"), "{said}");
    // Words of papers are in the JSON and in `show`. A steward need not know them.
    assert!(!said.contains("discernability") && !said.contains("C_avg") && !said.contains("value sets"), "{said}");
    assert!(summary["loss"]["discernability"].is_number(), "{summary}");
}

/// What the file could not say is refused; the guard it could, with cohorts and without, and it costs groups.
#[test]
fn what_if_answers_what_the_file_would() {
    let few = POLICY.replace("type = \"category\" }", "values = [\"flu\", \"asthma\"] }");
    let file = few
        .replace("model = \"m-invariance\"\nm     = 2", "model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false");
    let file = file.replace("domain = [0, 120]", "domain = [0, 120], missing = \"error\"");
    let project = TestProject::with(&[("tacenda.toml", &file)]);
    // Five with flu, five with asthma, and so on: groups smaller than ten would have too much of one.
    let line = |id: u32| format!("p{id},N,{},F,{}\n", 10 + id, ["flu", "asthma"][(id / 5 % 2) as usize]);
    let rows: String = (0..80).map(line).collect();
    project.write("table.csv", &format!("patient_id,full_name,age,sex,diagnosis\n{rows}"));
    let said = project.ok(&["check", "table.csv", "--what-if", "l=2..3"]);
    assert!(said.contains("refused: P228: l = 3 needs at least 3 sensitive values"), "{said}");
    let groups = |what: &str| {
        let answer = project.ok(&["check", "table.csv", "--what-if", what, "--format", "json"]);
        let answer: Value = serde_json::from_str(&answer).unwrap();
        assert!(answer["what_if"][0]["refused"].is_null(), "{answer}");
        answer["what_if"][0]["groups"].as_u64().unwrap()
    };
    let (plain, guarded) = (groups("k=3"), groups("l=2"));
    assert!(guarded == 8 && plain > 8, "{guarded} {plain}");
}

/// The guard without cohorts: the promise, what it does not cover and the note say that it holds per release.
#[test]
fn a_guard_without_cohorts_is_said_to_hold_per_release() {
    let cells = policy("model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false\nl = 2", "");
    let project = TestProject::with(&[("tacenda.toml", &cells)]);
    project.write("table.csv", &patients(0, 100));
    let said = project.ok(&["check", "table.csv"]);
    for words in [
        "In each release alone, no sensitive value is held by more than one in 2 of a group.",
        "It does not hold for what is learned by comparing releases.",
        "It does not hold against someone who knows how this program cuts, or who arrived when.",
        "without cohorts the threshold l holds for each release alone",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert!(plan(&project)["choices"].as_array().unwrap().iter().all(|choice| choice["loss"].as_f64().is_some()));
}

/// Without cohorts a number with room for empty cells is not cut unless k cells are empty and k are not. `check`, a
/// plan and `publish` say so, and how to have it cut; and where it is cut they do not.
#[test]
fn a_column_that_missing_values_keep_whole_is_named() {
    let table = |empty: u32| {
        let age = |id: u32| if id < empty { String::new() } else { (18 + id * 7 % 70).to_string() };
        let rows: String = (0..60).map(|id| format!("p{id},N,{},F,flu\n", age(id))).collect();
        format!("patient_id,full_name,age,sex,diagnosis\n{rows}")
    };
    let cells = policy("model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false", "");
    let warned = "R801: column age is not cut at all: ";
    let cases = [
        (0, Some("none of its 60 cells is empty")),
        (1, Some("1 of its 60 cells is empty")),
        (2, Some("2 of its 60 cells are empty")),
        (3, None),
        (57, None),
        (58, Some("58 of its 60 cells are empty")),
    ];
    for (empty, wanted) in cases {
        let project = TestProject::with(&[("tacenda.toml", &cells)]);
        project.write("table.csv", &table(empty));
        let said = |words: &[&str]| project.ok(words);
        for words in [
            &["check", "table.csv"][..],
            &["check", "table.csv", "--what-if", "k=3..4"],
            &["plan", "table.csv"],
            &["publish", "table.csv", "--yes"],
        ] {
            let said = said(words);
            let told = said.matches(warned).count();
            // With k = 4 three empty cells are too few.
            let is_asked_more = words.contains(&"--what-if") && (empty == 3 || empty == 57);
            assert_eq!(told, usize::from(wanted.is_some() || is_asked_more), "{empty} {words:?}\n{said}");
            assert!(wanted.is_none_or(|wanted| said.contains(wanted)), "{empty} {words:?}\n{said}");
            assert!(told == 0 || said.contains("missing = \"error\"") && said.contains("cohorts = true"), "{said}");
        }
        let csv = project.read("releases/ward-stays/r0001/ward-stays-r0001.csv");
        assert_eq!(csv.lines().skip(1).all(|line| line.split(',').nth(1) == Some("*")), wanted.is_some(), "{csv}");
    }
    // With missing = "error", and for another promise, there is nothing to say.
    for text in [cells.replace("domain = [0, 120]", "domain = [0, 120], missing = \"error\""), POLICY.to_string()] {
        let project = TestProject::with(&[("tacenda.toml", &text)]);
        project.write("table.csv", &patients(0, 60));
        assert!(!project.ok(&["plan", "table.csv"]).contains("R801"));
    }
    // With cohorts the column is cut; what the other choices cost is explained below them.
    let cohorts = policy("model = \"incremental-k-anonymity\"\nk = 3", "");
    let project = TestProject::with(&[("tacenda.toml", &cohorts)]);
    project.write("table.csv", &patients(0, 60));
    assert!(!project.ok(&["check", "table.csv"]).contains("R801"));
    let said = project.ok(&["plan", "table.csv"]);
    assert_eq!(said.matches("cells and tight: R801: column age").count(), 1, "{said}");
    assert!(plan(&project)["choices"][1]["warnings"][0].as_str().unwrap().starts_with("R801"));
    assert!(project.ok(&["explain", "R801"]).contains("A warning, not an error"));
}

/// A study on made-up data says so in what recipients get.
#[test]
fn a_release_of_made_up_data_says_so() {
    let model = "model = \"incremental-l-diversity\"\nl = 2\nmode = \"paper\"";
    for (made_up, wanted) in [("", false), ("\nmade_up = true", true)] {
        let project = TestProject::with(&[("tacenda.toml", &policy(&format!("{model}{made_up}"), ""))]);
        project.write("table.csv", &patients(0, 30));
        project.ok(&["publish", "table.csv", "--yes"]);
        let folder = "releases/ward-stays/r0001";
        assert_eq!(project.read(&format!("{folder}/README.md")).contains("The data are made up"), wanted);
        let manifest: Value = serde_json::from_str(&project.read(&format!("{folder}/manifest.json"))).unwrap();
        assert_eq!(manifest["made_up"] == true, wanted);
    }
}

/// `init --promise` drafts a policy that can be used as it is.
#[test]
fn any_promise_can_be_asked_for() {
    for promise in ["incremental-k-anonymity", "incremental-l-diversity", "k-anonymity", "m-invariance"] {
        let project = TestProject::empty();
        project.write("table.csv", &patients(0, 200));
        project.ok(&["init", "table.csv", "--yes", "--promise", promise]);
        assert!(project.read("tacenda.toml").contains(&format!("model = \"{promise}\"")));
        project.ok(&["check", "table.csv"]);
    }
    let project = TestProject::empty();
    project.write("table.csv", &patients(0, 20));
    project.fails(&["init", "table.csv", "--yes", "--promise", "magic"], 2, "U");
}

/// The rows of a release's CSV: the first cell, and the rest.
fn rows(project: &TestProject, release: u32) -> (String, BTreeMap<String, String>) {
    let name = format!("releases/ward-stays/r{release:04}/ward-stays-r{release:04}.csv");
    let text = project.read(&name);
    let mut lines = text.lines();
    let head = lines.next().unwrap().to_string();
    let rows: Vec<(String, String)> =
        lines.map(|line| line.split_once(',').unwrap()).map(|(id, rest)| (id.into(), rest.into())).collect();
    let count = rows.len();
    let rows: BTreeMap<String, String> = rows.into_iter().collect();
    assert_eq!(rows.len(), count, "an id stands twice in {name}");
    (head, rows)
}

/// A line without its group's number, which is fresh in every release.
fn without_group(line: &str) -> &str {
    line.split_once(',').unwrap().1
}

#[test]
fn linked_ids_are_stable_over_the_series_and_keyed() {
    let linked = policy("model = \"incremental-k-anonymity\"\nk = 3", "linked_ids = true");
    let two_releases = || {
        let project = TestProject::with(&[("tacenda.toml", &linked)]);
        project.write("table.csv", &patients(0, 60));
        project.ok(&["publish", "table.csv", "--yes"]);
        project.write("table.csv", &patients(0, 100));
        project.ok(&["publish", "table.csv", "--yes"]);
        project
    };
    let project = two_releases();
    let ((head, first), (_, second)) = (rows(&project, 1), rows(&project, 2));
    assert!(head.starts_with("record,group_id,"), "{head}");
    assert_eq!((first.len(), second.len()), (60, 100));
    let is_hash = |id: &String| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(second.keys().all(is_hash));
    for (id, line) in &first {
        // The same person: the cohort's region and the value are what they were.
        assert_eq!(second.get(id).map(|line| without_group(line)), Some(without_group(line)));
    }
    project.ok(&["verify"]);
    // The same people in another series, with another seed: nobody has the same id.
    let (_, elsewhere) = rows(&two_releases(), 2);
    assert!(elsewhere.keys().all(|id| !second.contains_key(id)));
}

#[test]
fn linked_ids_are_refused_where_the_promise_does_not_cover_them() {
    for promise in [
        "model = \"m-invariance\"\nm = 2",
        "model = \"k-anonymity\"\nk = 3",
        "model = \"incremental-l-diversity\"\nl = 2",
    ] {
        let project = TestProject::with(&[("tacenda.toml", &policy(promise, "linked_ids = true"))]);
        project.write("table.csv", &patients(0, 60));
        let ended = project.fails(&["publish", "table.csv", "--yes"], 2, "P222");
        assert!(ended.stderr.contains("choose incremental-k-anonymity"), "{}", ended.stderr);
        assert!(!project.file("releases/ward-stays").exists());
    }
}

#[test]
fn linked_ids_cannot_begin_in_the_middle_of_a_series() {
    let plain = "model = \"incremental-k-anonymity\"\nk = 3";
    let project = TestProject::with(&[("tacenda.toml", &policy(plain, ""))]);
    project.write("table.csv", &patients(0, 60));
    project.ok(&["publish", "table.csv", "--yes"]);
    project.write("tacenda.toml", &policy(plain, "linked_ids = true"));
    let ended = project.run(&["publish", "table.csv", "--yes"]);
    assert!(ended.code != 0 && ended.stderr.contains("linked_ids is new"), "{}", ended.stderr);
}
