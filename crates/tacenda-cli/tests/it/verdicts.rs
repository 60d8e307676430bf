//! One verdict: whatever a series is like, every screen that judges it says the same word in the same colour, and never a
//! better one than the worst answer to the three questions.

use crate::kit::{Ended, POLICY, TestProject, patients};
use crate::{adopt, views};
use serde_json::Value;
use std::io::Write;
use std::process::Stdio;

/// A series, and the private tables behind its releases.
struct Case {
    name: &'static str,
    project: TestProject,
    tables: Vec<&'static str>,
}

/// From best to worst.
const WORDS: [&str; 5] = ["PASS", ASSUMING, MORE, OPEN, "FAIL"];
const ASSUMING: &str = "PASS WITH NAMED ASSUMPTION";
const MORE: &str = "NOT PROMISED";
const OPEN: &str = "NOT ASSESSED";

fn rank(word: &str) -> usize {
    WORDS.iter().position(|one| *one == word).unwrap_or_else(|| panic!("{word:?} is no verdict"))
}

/// A policy for [`patients`] with public grids, so that the ends of regions are nobody's values.
fn gridded(promise: &str) -> String {
    POLICY
        .replace("domain = [0, 120] }", "domain = [0, 120], grid = 5 }")
        .replace("model = \"m-invariance\"\nm     = 2", promise)
}

fn published(policy: &str, tables: &[(&'static str, String)]) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", policy)]);
    for (name, table) in tables {
        project.write(name, table);
        project.ok(&["publish", name, "--yes", "-q"]);
    }
    project
}

fn erase(project: &TestProject, input: &str) {
    let mut command = project.command(&["erase"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let ended = Ended::of(child.wait_with_output().unwrap());
    assert_eq!(ended.code, 0, "{}", ended.stderr);
}

fn two() -> Vec<(&'static str, String)> {
    vec![("1.csv", patients(0, 60)), ("2.csv", patients(6, 60))]
}

fn cases() -> Vec<Case> {
    let both = vec!["1.csv", "2.csv"];
    let case = |name, project, tables: &[&'static str]| Case { name, project, tables: tables.to_vec() };
    let invariant = gridded("model = \"m-invariance\"\nm = 2\nk = 2");
    let retracted = published(&invariant, &two());
    retracted.ok(&["retract", "1", "--because", "ages were wrong"]);
    let erased = published(&invariant, &two());
    erase(&erased, "p12\n");
    let growing = vec![("1.csv", patients(0, 60)), ("2.csv", patients(0, 72))];
    let without = gridded("model = \"k-anonymity\"\nk = 3")
        .replace("diagnosis  = { role = \"sensitive\", type = \"category\" }", "diagnosis  = { role = \"drop\" }");
    let linked = gridded("model = \"incremental-k-anonymity\"\nk = 3") + "[output]\nlinked_ids = true\n";
    let risky = gridded("model = \"k-anonymity\"\nk = 3\naccept_series_risk = \"a study\"");
    let alone = "model = \"m-invariance\"\nm = 2\non_ineligible = \"counterfeit\"\naccept_counterfeit = \"a study\"";
    let elsewhere = format!("{alone}\naccept_adopted = \"they are out already\"");
    let start = |promise: &str, words: &[&str]| {
        let project = adopt::project(promise);
        project.ok(&[words, &["--yes", "-q"]].concat());
        project
    };
    let kept = start(alone, &["adopt", "1b.csv", "--truth", "1a.csv"]);
    kept.ok(&["publish", "2a.csv", "--yes", "-q"]);
    let broken = start(&elsewhere, &["adopt", "1b.csv", "2b.csv", "--truth", "1a.csv", "2a.csv"]);
    broken.ok(&["publish", "2a.csv", "--label", "third", "--yes", "-q"]);
    let lonely = start(alone, &["publish", "1a.csv"]);
    lonely.ok(&["publish", "2a.csv", "--yes", "-q"]);
    vec![
        case("fine", published(&invariant, &two()), &both),
        case("amended", amended(&invariant), &both),
        case("alone with counterfeits", lonely, &["1a.csv", "2a.csv"]),
        case("adopted", kept, &["1a.csv", "2a.csv"]),
        case("adopted and broken", broken, &["1a.csv", "2a.csv", "2a.csv"]),
        case("retracted", retracted, &both),
        case("erased", erased, &both),
        case("no sensitive column", published(&without, &two()[..1]), &["1.csv"]),
        case("linked ids", published(&linked, &growing), &both),
        case("series risk", published(&risky, &two()), &both),
        case("views", views::two_views(), &[]),
    ]
}

/// A column gains a value that the first table has already: it was read as `other` then.
fn amended(policy: &str) -> TestProject {
    let values = |list: &str| policy.replace("[\"F\", \"M\", \"X\"]", &format!("[{list}], unknown = \"other\""));
    let project = TestProject::with(&[("tacenda.toml", &values("\"F\", \"M\", \"other\""))]);
    for (name, table) in two() {
        let lines = table.lines().enumerate();
        let lines = lines.map(|(at, line)| if at % 4 == 1 { line.replace(",F,", ",X,") } else { line.into() });
        project.write(name, &(lines.collect::<Vec<String>>().join("\n") + "\n"));
    }
    project.ok(&["publish", "1.csv", "--yes", "-q"]);
    project.write("tacenda.toml", &values("\"F\", \"M\", \"X\", \"other\""));
    project.ok(&["publish", "2.csv", "--yes", "-q"]);
    project
}

fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// The word of a page, whose colour must be that of the word.
fn of_page(page: &str) -> String {
    let (_, rest) = page.split_once("<div class=\"verdict ").expect("a page has a verdict");
    let (tone, rest) = rest.split_once('"').unwrap();
    let word = rest.split("<strong>").nth(1).unwrap().split('<').next().unwrap();
    let wanted = ["pass", "pass", "open", "open", "fail"][rank(word)];
    assert_eq!(tone, wanted, "{word}");
    word.into()
}

/// The verdict that one form of an answer gives.
fn said(form: &str, out: &str) -> String {
    let json = || -> Value { serde_json::from_str(out).unwrap() };
    let between = |from: &str, to: &str| out.split(from).nth(1).unwrap().split(to).next().unwrap().to_string();
    match form {
        "json" => json()["verdict"]["decision"].as_str().unwrap().into(),
        "sarif" => json()["runs"][0]["properties"]["decision"].as_str().unwrap().into(),
        "junit" => between("name=\"decision\" value=\"", "\""),
        "markdown" => between("**", "**"),
        "html" => of_page(out),
        "text" => out.split(':').next().unwrap().into(),
        _ => {
            let answers = [
                ("WAS FOUND. This holds", WORDS[1]),
                ("WAS FOUND.", WORDS[0]),
                ("NOT FULLY.", WORDS[2]),
                ("NOT KNOWN.", WORDS[3]),
                ("NO, not as they are.", WORDS[4]),
            ];
            let answer = answers.iter().find(|(phrase, _)| flat(out).contains(phrase));
            answer.unwrap_or_else(|| panic!("{out}")).1.into()
        }
    }
}

const FORMS: [&str; 7] = ["json", "text", "brief", "markdown", "html", "sarif", "junit"];

/// Asks in some forms, the first of which is JSON, and returns the one verdict, with the JSON.
fn ask(project: &TestProject, words: &[&str], forms: &[&str]) -> (String, Value) {
    let mut verdicts = Vec::new();
    let mut report = Value::Null;
    for &form in forms {
        let ended = project.run(&[words, &["--format", form, "-q"]].concat());
        assert!([0, 1, 6].contains(&ended.code), "{words:?} {form}: {}", ended.stderr);
        verdicts.push(said(form, &ended.stdout));
        if form == FORMS[0] {
            report = serde_json::from_str(&ended.stdout).unwrap();
        }
    }
    verdicts.dedup();
    assert_eq!(verdicts.len(), 1, "{words:?} says {verdicts:?}");
    (verdicts.remove(0), report)
}

/// The verdict is as bad as the worst answer, and names what was not asked.
fn assert_worst(name: &str, report: &Value) {
    let verdict = &report["verdict"];
    let (word, sentence) = (verdict["decision"].as_str().unwrap(), verdict["sentence"].as_str().unwrap());
    for question in report["three_questions"].as_array().unwrap() {
        let (what, answer) = (question["name"].as_str().unwrap(), question["decision"].as_str().unwrap());
        match answer {
            "NOT ASKED" => assert!(rank(word) >= rank("NOT ASSESSED") || sentence.contains(what), "{name}: {sentence}"),
            _ => assert!(rank(word) >= rank(answer), "{name}: {what} is {answer}, and the verdict {word}"),
        }
    }
    let weighty = |finding: &&Value| finding["severity"] != "note";
    let found = report["findings"].as_array().unwrap().iter().filter(weighty).count();
    assert_eq!(found > 0, word == "FAIL", "{name}: {found} findings, and the verdict is {word}");
}

/// Name, the page in the last release's folder, the report for recipients, that for the steward and the auditor, an audit, and
/// one with the private tables.
const EXPECTED: &[[&str; 6]] = &[
    ["fine", ASSUMING, ASSUMING, ASSUMING, ASSUMING, ASSUMING],
    ["amended", ASSUMING, ASSUMING, ASSUMING, ASSUMING, ASSUMING],
    ["alone with counterfeits", MORE, MORE, MORE, MORE, MORE],
    // Without the tables it is open who is in which group of the other tool.
    ["adopted", OPEN, OPEN, OPEN, OPEN, MORE],
    ["adopted and broken", "FAIL", "FAIL", "FAIL", "FAIL", "FAIL"],
    ["retracted", ASSUMING, ASSUMING, ASSUMING, ASSUMING, ASSUMING],
    ["erased", ASSUMING, ASSUMING, ASSUMING, ASSUMING, ASSUMING],
    // With the table nothing is assumed.
    ["no sensitive column", ASSUMING, ASSUMING, "PASS", "PASS", "PASS"],
    ["linked ids", MORE, MORE, MORE, MORE, MORE],
    // The page was made before anybody compared the releases.
    ["series risk", OPEN, ASSUMING, ASSUMING, ASSUMING, ASSUMING],
    // The page judges the view, and a report asks for thresholds over the columns of all views.
    ["views", MORE, OPEN, OPEN, OPEN, OPEN],
];

#[test]
fn every_screen_gives_the_same_verdict() {
    let mut told = Vec::new();
    for Case { name, project, tables } in cases() {
        let edition = |edition: &str, forms: &[&str]| ask(&project, &["report", "--edition", edition], forms);
        let (recipient, report) = edition("recipient", &FORMS);
        assert_worst(name, &report);
        let last = report["releases"].as_array().unwrap().last().unwrap()["data"].as_str().unwrap().to_string();
        let folder = last.rsplit_once('/').unwrap().0;
        let page = of_page(&project.read(&format!("{folder}/report.html")));
        let (steward, report) = edition("steward", &["json", "html"]);
        assert_worst(name, &report);
        assert!(
            report["signing"][1]["confirms"][0].as_str().unwrap().starts_with(&format!("The verdict is {steward}:"))
        );
        let (auditor, report) = edition("auditor", &["json"]);
        assert_worst(name, &report);
        let (audit, report) = ask(&project, &["audit", "--fail-on", "never"], &FORMS);
        assert_worst(name, &report);
        assert_eq!((&steward, &auditor), (&audit, &audit), "{name}: who knows the same says the same");
        assert!(rank(&recipient) >= rank(&audit), "{name}: recipients read {recipient}, the auditor {audit}");
        let truth = match tables.is_empty() {
            true => audit.clone(),
            false => {
                let words = [&["audit", "--fail-on", "never", "--truth"][..], &tables].concat();
                let (truth, report) = ask(&project, &words, &["json"]);
                assert_worst(name, &report);
                let words = [&["report", "--edition", "auditor", "--truth"][..], &tables].concat();
                assert_eq!(truth, ask(&project, &words, &["json"]).0, "{name}: the same tables, the same verdict");
                truth
            }
        };
        assert!(truth != "NOT ASSESSED" || audit == truth, "{name}: more evidence is no reason for no answer");
        if ["fine", "amended"].contains(&name) {
            // Whoever has the folders and the tables needs no vault.
            let folders = ["releases/ward-stays/r0001", "releases/ward-stays/r0002"];
            let words = [&["audit"][..], &folders, &["--id", "patient_id", "--truth"], &tables].concat();
            let (folders, report) = ask(&project, &words, &["json"]);
            assert_eq!(folders, truth, "{name}: {}", report["checks"]);
        }
        // Nobody's page may be better than what the publisher can know.
        assert!(truth != "FAIL" || recipient == "FAIL" && page == "FAIL", "{name}: {page}, {recipient}, {truth}");
        // A rehearsal says of the series what its pages say.
        let table = tables
            .last()
            .map_or(vec!["people.csv", "--view", "tax", "--label", "x"], |table| vec![*table, "--label", "x"]);
        let plan = project.run(&[&["plan"][..], &table].concat()).stdout;
        assert_eq!(plan.contains("NOT KEPT"), audit == "FAIL", "{name}: {plan}");
        // What only counts and lists judges nothing.
        let mut plain = vec![project.run(&["log"]).stdout, project.run(&["show"]).stdout];
        plain.push(project.run(&["diff", "1", "2"]).stdout);
        for screen in plain {
            assert!(WORDS.iter().all(|word| !screen.contains(word)), "{name}: {screen}");
        }
        told.push([name.to_string(), page, recipient, steward, audit, truth]);
    }
    let told: Vec<Vec<&str>> = told.iter().map(|row| row.iter().map(String::as_str).collect()).collect();
    assert_eq!(told, EXPECTED);
}
