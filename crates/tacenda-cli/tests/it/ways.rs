//! The ways to form groups of a promise about sensitive values: compared, named and offered.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;

const M_INVARIANCE: &str = "model = \"m-invariance\"\nm     = 2";

/// A project with these lines under `[promise]`, and so many patients.
fn project(promise: &str, people: u32) -> TestProject {
    let project = TestProject::with(&[("tacenda.toml", &POLICY.replace(M_INVARIANCE, promise))]);
    project.write("table.csv", &patients(0, people));
    project
}

fn check(project: &TestProject, words: &[&str]) -> Value {
    let words = [&["check", "table.csv", "--format", "json"], words].concat();
    serde_json::from_str(&project.ok(&words)).unwrap()
}

/// The ways that a parameter was tried with.
fn ways(project: &TestProject, what_if: &str) -> Vec<Value> {
    check(project, &["--what-if", what_if])["what_if"][0]["ways"].as_array().unwrap().clone()
}

fn names(ways: &[Value]) -> Vec<&str> {
    ways.iter().map(|way| way["choice"].as_str().unwrap()).collect()
}

/// What stands under `[promise]` after a setting is chosen: its lines, and those of before that it does not name.
fn chosen(before: &str, setting: &str) -> String {
    let lines: Vec<&str> = setting.split(", ").collect();
    if setting.starts_with("model") {
        return lines.join("\n");
    }
    before.lines().chain(lines).collect::<Vec<_>>().join("\n")
}

/// Every setting that is shown can be written into the policy file, and then is the one that is chosen, at the same cost.
#[test]
fn what_if_shows_each_way_with_loss_and_query_error_and_its_setting_works() {
    for (promise, what) in [(M_INVARIANCE, "m=2"), ("model = \"incremental-l-diversity\"\nl = 2", "l=2")] {
        let before = project(promise, 240);
        let tried = ways(&before, what);
        assert_eq!(names(&tried), ["close", "method", "dealt", "drawn"]);
        assert_eq!(tried, ways(&before, what), "the same question has the same answer");
        for way in &tried {
            let setting = way["setting"].as_str().unwrap();
            assert!(way["loss"].as_f64() > Some(0.0) && way["query_error"].is_f64(), "{way}");
            assert_eq!(way["chosen"], way["choice"] == "close");
            let after = project(&chosen(promise, setting), 240);
            let of_diversity = setting.contains("model") || what == "l=2";
            let again = ways(&after, if of_diversity { "l=2" } else { "m=2" });
            let now = again.iter().find(|way| way["chosen"] == true).expect("one way is chosen");
            assert_eq!((&now["choice"], &now["loss"]), (&way["choice"], &way["loss"]), "{setting}");
            assert_eq!(now["query_error"], way["query_error"], "{setting}");
        }
        let said = before.ok(&["check", "table.csv", "--what-if", what]);
        assert!(
            said.contains("query error") && said.contains("drawn: how groups were drawn says nothing about who"),
            "{said}"
        );
        assert!(said.contains("for this table"), "{said}");
    }
}

#[test]
fn only_ways_that_the_promise_can_take_are_shown() {
    // Groups of k people where k exceeds m are not proved against a reader who knows the program.
    assert!(ways(&project(&format!("{M_INVARIANCE}\nk = 5"), 60), "m=2").is_empty());
    let paper = project("model = \"incremental-l-diversity\"\nl = 2\nmode = \"paper\"\nmade_up = true", 60);
    assert!(ways(&paper, "l=2").is_empty());
    let defer = ways(&project(&format!("{M_INVARIANCE}\non_ineligible = \"defer\""), 60), "m=2");
    assert_eq!(defer[1]["setting"], "on_ineligible = \"refuse\", reader = \"method\"");
    // A series that has begun keeps its way.
    let begun = project(M_INVARIANCE, 240);
    begun.ok(&["publish", "table.csv", "--yes"]);
    let later = ways(&begun, "m=2");
    assert!(later[0]["refused"].is_null() && later[1..].iter().all(|way| way["refused"].is_string()));
    assert!(!begun.ok(&["check", "table.csv"]).contains("R804"));
}

/// With 2,000 people of six even diagnoses no arrivals are too uneven. With 60, three people at a time are.
#[test]
fn a_stronger_way_is_offered_where_no_refusal_is_expected() {
    let large = project(M_INVARIANCE, 2000);
    let notes: Vec<String> = serde_json::from_value(check(&large, &[])["notes"].clone()).unwrap();
    let offers: Vec<&String> = notes.iter().filter(|note| note.starts_with("R804")).collect();
    assert_eq!(offers.len(), 3, "{notes:?}");
    assert!(offers[0].contains("Assumed: no more than 5 % of the people leave each time"), "{notes:?}");
    assert!(offers[0].ends_with("under [promise]: reader = \"method\""), "{notes:?}");
    let (_, setting) = offers[2].rsplit_once(", in place of its lines: ").unwrap();
    assert!(
        offers[2].contains("Assumed: nobody leaves")
            && setting.starts_with("model = \"incremental-l-diversity\", l = 2")
    );
    let drawn = project(&chosen(M_INVARIANCE, setting), 2000);
    assert!(!drawn.ok(&["check", "table.csv"]).contains("R804"), "nothing stronger is there");
    drawn.ok(&["publish", "table.csv", "--yes"]);
    drawn.write("table.csv", &patients(0, 2100));
    drawn.ok(&["publish", "table.csv", "--yes"]);
    // A low limit of counterfeits is a refusal, too.
    large.write("tacenda.toml", &POLICY.replace("max_share = 0.5", "max_share = 0.001"));
    let said = large.ok(&["check", "table.csv"]);
    assert!(said.contains("R804: method was tried on this table and works (holds against a reader"), "{said}");
    assert!(said.contains("R804: drawn was tried on this table and works (how groups were drawn"), "{said}");
    assert!(!large.ok(&["check", "table.csv"]).contains("no more than 5 %"));
    assert!(!project(M_INVARIANCE, 60).ok(&["check", "table.csv"]).contains("R804"));
    assert!(large.ok(&["explain", "R804"]).contains("Your arrivals may be different"));
}

#[test]
fn init_and_plan_name_the_best_way_and_offer_it() {
    let project = TestProject::empty();
    // With m = 4 and 2,000 people, arrivals are too uneven now and then.
    project.write("table.csv", &patients(0, 8000));
    let drafted: Value =
        serde_json::from_str(&project.ok(&["init", "table.csv", "--yes", "--format", "json"])).unwrap();
    let notes: Vec<String> = serde_json::from_value(drafted["notes"].clone()).unwrap();
    let best = notes
        .iter()
        .find(|note| note.contains(" best for this table") || note.starts_with("best for this table"))
        .expect("the best way is named");
    assert!(notes.iter().any(|note| note.starts_with("R804: drawn was tried")), "{notes:?}");
    assert!(!project.file(".tacenda").exists(), "trying writes nothing");
    assert!(check(&project, &[])["notes"].as_array().unwrap().iter().any(|note| note == best));
    let planned = project.ok(&["plan", "table.csv"]);
    assert!(planned.contains("best for this table") && planned.contains("groups = \"drawn\""), "{planned}");
    assert!(planned.contains("method: R802: "), "what is to be expected of it is said: {planned}");
}

/// The releases ahead are made from the table, with its public columns.
#[test]
fn plan_looks_ahead_where_a_column_is_public() {
    let public = "sex        = { role = \"public\", because = \"everybody knows\" }";
    let policy = POLICY
        .replace("sex        = { role = \"quasi\", type = \"category\", values = [\"F\", \"M\", \"X\"] }", public);
    let project = TestProject::with(&[("tacenda.toml", &policy)]);
    project.write("table.csv", &patients(0, 240));
    let plan = project.ok(&["plan", "table.csv", "--label", "Q1"]);
    assert!(policy.contains(public) && plan.contains("the next releases need"), "{plan}");
    assert!(plan.contains("If 5.00 % leave"), "the same churn is assumed as for R802 and R804: {plan}");
}
