//! Releases made elsewhere are taken in, and the series goes on from them: tables 1 and 2 of paper 003.

use crate::kit::TestProject;
use crate::languages::assert_said_in_every_language;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

const TABLE_1A: &str = "name,age,zip,disease
Bob,21,12000,dyspepsia
Alice,22,14000,bronchitis
Andy,24,18000,flu
David,23,25000,gastritis
Gary,41,20000,flu
Helen,36,27000,gastritis
Jane,37,33000,dyspepsia
Ken,40,35000,flu
Linda,43,26000,gastritis
Paul,52,33000,dyspepsia
Steve,56,34000,gastritis
";

const TABLE_2A: &str = "name,age,zip,disease
Bob,21,12000,dyspepsia
David,23,25000,gastritis
Emily,25,21000,flu
Jane,37,33000,dyspepsia
Linda,43,26000,gastritis
Gary,41,20000,flu
Mary,46,30000,gastritis
Ray,54,31000,dyspepsia
Steve,56,34000,gastritis
Tom,60,44000,gastritis
Vince,65,36000,flu
";

/// As some other tool writes it: closed intervals and dashes.
const TABLE_1B: &str = "age;zip;disease
[21, 22];12000-14000;dyspepsia
[21, 22];12000-14000;bronchitis
[23, 24];18000-25000;flu
[23, 24];18000-25000;gastritis
[36, 41];20000-27000;flu
[36, 41];20000-27000;gastritis
[37, 43];26000-35000;dyspepsia
[37, 43];26000-35000;flu
[37, 43];26000-35000;gastritis
[52, 56];33000-34000;dyspepsia
[52, 56];33000-34000;gastritis
";

/// Each release is 2-diverse, and together with table 1b it gives Bob away.
const TABLE_2B: &str = "age;zip;disease
[21, 23];12000-25000;dyspepsia
[21, 23];12000-25000;gastritis
[25, 43];21000-33000;flu
[25, 43];21000-33000;dyspepsia
[25, 43];21000-33000;gastritis
[41, 46];20000-30000;flu
[41, 46];20000-30000;gastritis
[54, 56];31000-34000;dyspepsia
[54, 56];31000-34000;gastritis
[60, 65];36000-44000;gastritis
[60, 65];36000-44000;flu
";

/// The paper's tables and releases, with a promise.
pub fn project(promise: &str) -> TestProject {
    let policy = format!(
        "policy = 1
[series]
name = \"microdata\"
[columns]
name = {{ role = \"identifier\" }}
age = {{ role = \"quasi\", type = \"integer\", domain = [0, 120] }}
zip = {{ role = \"quasi\", type = \"integer\", domain = [0, 100000] }}
disease = {{ role = \"sensitive\", type = \"category\" }}
[promise]
{promise}
[withheld]
max_share = 0.9
"
    );
    let counterfeits = if promise.contains("m-invariance") { "[counterfeits]\nmax_share = 0.5\n" } else { "" };
    let policy = policy + counterfeits;
    let files = [
        ("tacenda.toml", &*policy),
        ("1a.csv", TABLE_1A),
        ("2a.csv", TABLE_2A),
        ("1b.csv", TABLE_1B),
        ("2b.csv", TABLE_2B),
    ];
    let project = TestProject::with(&files);
    project.fix_seed();
    project
}

fn events(project: &TestProject) -> Vec<String> {
    let log: Value = serde_json::from_str(&project.ok(&["log", "--format", "json"])).unwrap();
    log["events"].as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap().to_string()).collect()
}

/// Per group of a release its age range and its diseases.
fn groups(project: &TestProject, number: u32) -> BTreeMap<String, (String, BTreeSet<String>)> {
    let text = project.read(&format!("releases/microdata/r{number:04}/microdata-r{number:04}.csv"));
    let mut groups: BTreeMap<String, (String, BTreeSet<String>)> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let (id, rest) = line.split_once(',').unwrap();
        let mut cells = rest.split("\",");
        let age = cells.next().unwrap().trim_matches('"').to_string();
        let disease = cells.nth(1).unwrap().split(',').next().unwrap().to_string();
        groups.entry(id.into()).or_insert_with(|| (age, BTreeSet::new())).1.insert(disease);
    }
    groups
}

/// The proof against a reader who knows the program does not cover groups that another program formed.
#[test]
fn nothing_is_adopted_against_a_reader_who_knows_the_method() {
    let project = project("model = \"m-invariance\"\nm = 2\nreader = \"method\"");
    project.fails(&["adopt", "1b.csv", "--truth", "1a.csv", "--yes"], 6, "R607");
}

/// A person among counterfeits only is given away, so that a new series needs a reason.
#[test]
fn counterfeits_for_uneven_values_need_a_reason() {
    let promise = "model = \"m-invariance\"\nm = 2\non_ineligible = \"counterfeit\"";
    let without = project(promise);
    without.fails(&["publish", "1a.csv", "--yes"], 6, "R606");
    let with = project(&format!("{promise}\naccept_counterfeit = \"a study\""));
    with.ok(&["publish", "1a.csv", "--yes"]);
    // A series that begins without it does not get there by the back door.
    let later = project("model = \"m-invariance\"\nm = 2");
    later.ok(&["publish", "1a.csv", "--yes"]);
    let policy = later.read("tacenda.toml").replace("m = 2", "m = 2\non_ineligible = \"counterfeit\"");
    later.write("tacenda.toml", &policy);
    later.fails(&["publish", "2a.csv", "--yes"], 6, "R606");
    assert!(with.read("releases/microdata/r0001/README.md").contains("are counterfeits, the person almost certainly"));
}

#[test]
fn the_papers_first_release_is_adopted_and_everyone_keeps_their_value_set() {
    let promise = "model = \"m-invariance\"\nm = 2\non_ineligible = \"counterfeit\"\naccept_counterfeit = \"a study\"";
    let project = project(promise);
    let out = project.ok(&["adopt", "1b.csv", "--truth", "1a.csv", "--label", "elsewhere", "--yes"]);
    assert!(out.contains("11 people found in it, 0 not in it"), "{out}");
    assert_eq!(project.read("releases/microdata/r0001/1b.csv"), TABLE_1B);
    project.ok(&["publish", "2a.csv", "--label", "second", "--yes"]);
    let groups = groups(&project, 2);
    // Everyone who stayed stands among the values they stood among in table 1b.
    for (name, age, set) in [
        ("Bob", 21, "bd"),
        ("David", 23, "fg"),
        ("Gary", 41, "fg"),
        ("Jane", 37, "dfg"),
        ("Linda", 43, "dfg"),
        ("Steve", 56, "dg"),
    ] {
        let fits = |(range, diseases): &(String, BTreeSet<String>)| {
            let (from, to) = range.trim_matches(['[', ')']).split_once(',').unwrap();
            let letters: String = diseases.iter().map(|disease| &disease[..1]).collect();
            from.parse::<u32>().unwrap() <= age && age < to.parse().unwrap() && letters == set
        };
        assert!(groups.values().any(fits), "{name} is not among {set}: {groups:?}");
    }
    // Eleven people; two counterfeits are needed, as in the paper's table 3a.
    let rows = project.read("releases/microdata/r0002/microdata-r0002.csv").lines().count() - 1;
    assert_eq!(rows, 13);
    assert_eq!(events(&project), ["init", "adopt", "publish"]);
    let log = project.ok(&["log"]);
    assert!(log.contains("1*") && log.contains("elsewhere") && log.contains("made elsewhere and adopted"), "{log}");
    project.ok(&["verify"]);
    project.fails(&["show", "1"], 2, "U205");
    // Its recipients have it. So it is not delivered, and the refusal says why.
    let policy = project.read("tacenda.toml") + "\n[deliver.open]\npostgres = \"host=x\"\nschema = \"s\"\n";
    project.write("tacenda.toml", &policy);
    let refused = project.fails(&["deliver", "--release", "elsewhere"], 2, "U201");
    assert!(refused.stderr.contains("release 1 was made elsewhere and adopted"), "{}", refused.stderr);
}

#[test]
fn a_project_is_audited_with_the_releases_it_adopted() {
    let project = project("model = \"m-invariance\"\nm = 2");
    project.ok(&["adopt", "1b.csv", "--truth", "1a.csv", "--yes"]);
    project.ok(&["publish", "2a.csv", "--yes"]);
    let audit = |words: &[&str]| -> Value {
        let words = [&["audit", "--format", "json", "--fail-on", "never", "-q"][..], words].concat();
        serde_json::from_str(&project.ok(&words)).unwrap()
    };
    let report = audit(&[]);
    assert_eq!(report["releases"].as_array().unwrap().len(), 2);
    assert_eq!(report["releases"][0]["people"], 11);
    assert_eq!(report["releases"][0]["files"][0]["name"], "1b.csv");
    let report = audit(&["--truth", "1a.csv", "2a.csv"]);
    assert_eq!(report["private"]["truth"][0]["withheld"], 0);
    let candidates = report["checks"].as_array().unwrap().iter().find(|check| check["check"] == "candidates").unwrap();
    assert_eq!(candidates["verdict"], "PASS", "nobody is given away by the two together: {candidates}");
    assert!(!report["story"].is_null());
}

/// Whoever reads of the series hears which of its releases nobody here judged.
#[test]
fn reports_say_which_releases_were_made_elsewhere() {
    let project = project("model = \"m-invariance\"\nm = 2");
    project.ok(&["adopt", "1b.csv", "--truth", "1a.csv", "--yes"]);
    project.ok(&["publish", "2a.csv", "--yes"]);
    let sentence = "Release 1 was made elsewhere and adopted: this project did not judge it before publication.";
    for edition in ["recipient", "steward", "auditor"] {
        let report = project.ok(&["report", "--edition", edition, "--format", "json"]);
        assert!(report.contains(sentence), "{edition}: {report}");
    }
    assert!(project.ok(&["audit", "--fail-on", "never", "--format", "json", "-q"]).contains(sentence));
    assert!(project.read("releases/microdata/r0002/report.html").contains(sentence), "the recipients of release 2");
    assert_said_in_every_language(&project);
}

/// An empty cell is a value where the policy file says so, and is said to be one.
#[test]
fn what_an_adopted_file_leaves_empty_is_said() {
    let project = project("model = \"k-anonymity\"\nk = 2");
    project.write("gaps.csv", &TABLE_1B.replace("[52, 56]", ""));
    let out = project.ok(&["adopt", "gaps.csv", "--yes"]);
    assert!(out.contains("In column age 2 cells say nothing") && out.contains("a value of its own"), "{out}");
    let report = project.ok(&["report", "--edition", "recipient", "--format", "json"]);
    assert!(report.contains("Release 1: In column age 2 cells say nothing"), "{report}");
    let never = project.read("tacenda.toml").replace("domain = [0, 120]", "domain = [0, 120], missing = \"error\"");
    let strict = self::project("model = \"k-anonymity\"\nk = 2");
    strict.write("tacenda.toml", &never);
    strict.write("gaps.csv", &TABLE_1B.replace("[52, 56]", ""));
    let ended = strict.fails(&["adopt", "gaps.csv", "--yes"], 3, "R302");
    assert!(ended.stderr.contains("--any ''"), "{}", ended.stderr);
    strict.ok(&["adopt", "gaps.csv", "--yes", "--any", ""]);
    let unread = strict.fails(&["adopt", "1b.csv", "--yes", "--notation", "zip=prefix"], 3, "D125");
    assert!(unread.stderr.contains("nothing was adopted"), "{}", unread.stderr);
}

/// Another name of the group column, another word for any value, another tree: said once, kept in the ledger.
#[test]
fn what_is_said_about_an_adopted_file_is_kept_for_the_next_reading() {
    let project = project("model = \"k-anonymity\"\nk = 2");
    let policy = project.read("tacenda.toml").replace(
        "disease =",
        "ward = { role = \"quasi\", type = \"category\", values = [\"n1\", \"n2\", \"s1\"] }\ndisease =",
    );
    project.write("tacenda.toml", &policy);
    let file = "class;age;zip;ward;disease
a;21-22;whatever;north;flu
a;21-22;whatever;north;asthma
b;21-22;whatever;north;flu
b;21-22;whatever;north;flu
";
    project.write("theirs.csv", file);
    project.write("wards.csv", "n1;north\nn2;north\ns1;south\n");
    let words = ["adopt", "theirs.csv", "--yes", "--group", "class", "--any", "zip=whatever"];
    project.fails(&words, 3, "D");
    let said = [&words[..], &["--hierarchy", "ward=wards.csv", "--notation", "age=integer"]].concat();
    project.ok(&said);
    std::fs::remove_file(project.file("wards.csv")).unwrap();
    let report: Value = serde_json::from_str(&project.ok(&["report", "--format", "json"])).unwrap();
    assert_eq!((&report["releases"][0]["groups"], &report["releases"][0]["rows"]), (&2.into(), &4.into()));
    project.ok(&["audit", "--format", "json", "--fail-on", "never", "-q"]);
    project.ok(&["verify"]);
    project.fails(&["adopt", "theirs.csv", "--yes", "--notation", "nobody=integer"], 2, "U201");
    project.fails(&["adopt", "theirs.csv", "--yes", "--notation", "age=numbers"], 2, "U201");
}

#[test]
fn without_the_truth_nothing_can_be_promised_and_nothing_is_adopted() {
    for promise in [
        "model = \"m-invariance\"\nm = 2",
        "model = \"incremental-k-anonymity\"\nk = 2",
        "model = \"incremental-l-diversity\"\nl = 2",
    ] {
        let project = project(promise);
        let ended = project.fails(&["adopt", "1b.csv", "--yes"], 6, "R603");
        assert!(ended.stderr.contains("--truth") && ended.stderr.contains("new series"), "{}", ended.stderr);
        assert_eq!(events(&project), ["init"]);
    }
}

#[test]
fn a_table_that_is_not_behind_the_release_is_rejected() {
    let project = project("model = \"m-invariance\"\nm = 2");
    let ended = project.fails(&["adopt", "1b.csv", "--truth", "2a.csv", "--yes"], 3, "R301");
    assert!(!ended.stderr.contains("flu") && !ended.stderr.contains("Bob"), "{}", ended.stderr);
    assert_eq!(events(&project), ["init"]);
}

#[test]
fn a_series_that_gave_people_away_needs_a_reason_and_goes_on_without_them() {
    let promise = "model = \"m-invariance\"\nm = 2\non_ineligible = \"counterfeit\"";
    let adopt = ["adopt", "1b.csv", "2b.csv", "--truth", "1a.csv", "2a.csv", "--yes", "--format", "json"];
    let strict = project(promise);
    let ended = strict.fails(&adopt, 6, "R604");
    assert!(ended.stderr.contains("accept_adopted"), "{}", ended.stderr);
    assert_eq!(events(&strict), ["init"]);

    let reasons = "accept_adopted = \"they are out already\"\naccept_counterfeit = \"a study\"";
    let project = project(&format!("{promise}\n{reasons}"));
    let report: Value = serde_json::from_str(&project.ok(&adopt)).unwrap();
    // Bob's sets share dyspepsia alone, David's gastritis alone.
    assert_eq!(report["releases"][0]["exposed"], 0);
    assert_eq!(report["releases"][1]["exposed"], 2);
    assert!(!report["releases"][1]["findings"].as_array().unwrap().is_empty());
    let out = project.ok(&["publish", "2a.csv", "--label", "third", "--yes", "--format", "json"]);
    let published: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(published["summary"]["withheld"], 2, "{out}");
    project.ok(&["verify"]);
}

#[test]
fn an_adopted_group_is_kept_under_incremental_k_anonymity() {
    let project = project("model = \"incremental-k-anonymity\"\nk = 2");
    project.ok(&["adopt", "1b.csv", "--truth", "1a.csv", "--yes"]);
    project.write("more.csv", &format!("{TABLE_1A}Emily,25,21000,flu\nMary,46,30000,gastritis\nRay,54,31000,flu\n"));
    project.ok(&["publish", "more.csv", "--yes"]);
    let ages: Vec<String> = groups(&project, 2).into_values().map(|(age, _)| age).collect();
    for age in ["[21,23)", "[23,25)", "[36,42)", "[37,44)", "[52,57)"] {
        assert!(ages.iter().any(|other| other == age), "{age} is not in {ages:?}");
    }
}

#[test]
fn a_promise_per_release_goes_on_without_the_truth_where_a_reason_is_given() {
    let project = project("model = \"k-anonymity\"\nk = 2");
    project.ok(&["adopt", "1b.csv", "--yes"]);
    let ended = project.fails(&["publish", "2a.csv", "--yes"], 6, "R601");
    assert!(ended.stderr.contains("not measured: 1 earlier release"), "{}", ended.stderr);
    assert!(!ended.stderr.contains("0 of 0"), "{}", ended.stderr);
    let policy = project.read("tacenda.toml").replace("k = 2", "k = 2\naccept_series_risk = \"a study\"");
    project.write("tacenda.toml", &policy);
    project.ok(&["publish", "2a.csv", "--yes"]);
    project.ok(&["verify"]);
}

#[test]
fn a_damaged_adopted_file_is_found() {
    let project = project("model = \"m-invariance\"\nm = 2");
    project.ok(&["adopt", "1b.csv", "--truth", "1a.csv", "--yes"]);
    project.ok(&["verify"]);
    project.write("releases/microdata/r0001/1b.csv", &TABLE_1B.replace("flu", "flo"));
    let ended = project.run(&["verify"]);
    assert_eq!(ended.code, 5);
    assert!(ended.stdout.contains("r0001/1b.csv"), "{}", ended.stdout);
}

/// A file that names people, or lets their records be followed, is not taken in.
#[test]
fn a_release_with_the_identifier_is_not_adopted() {
    let project = project("model = \"m-invariance\"\nm = 2");
    let with = |column: &str| -> String {
        let mut lines = TABLE_1B.lines();
        let header = format!("{};{column}\n", lines.next().unwrap());
        lines.enumerate().fold(header, |text, (at, line)| format!("{text}{line};p{at}\n"))
    };
    for column in ["name", "record"] {
        project.write("theirs.csv", &with(column));
        project.fails(&["adopt", "theirs.csv", "--truth", "1a.csv", "--yes"], 6, "R605");
    }
    project.write("theirs.csv", &with("remark"));
    let ended = project.run(&["adopt", "theirs.csv", "--truth", "1a.csv", "--yes"]);
    let said = ended.stdout + &ended.stderr;
    assert!(said.contains("Column remark of the files: not examined"), "{said}");
}

/// What the folder of a release calls its own files is no reason to take the data for one of them.
#[test]
fn an_adopted_file_may_be_called_like_ours() {
    for name in ["x.hierarchy.csv", "x.counterfeits.csv"] {
        let project = project("model = \"m-invariance\"\nm = 2");
        project.write(name, TABLE_1B);
        project.ok(&["adopt", name, "--truth", "1a.csv", "--yes"]);
        project.ok(&["report", "-o", "report.html"]);
        assert_ne!(project.run(&["audit"]).code, 70, "{name}");
        project.ok(&["verify"]);
    }
}
