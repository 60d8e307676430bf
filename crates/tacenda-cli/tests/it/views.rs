//! Different columns to different recipients, from the policy file to the log.

use crate::kit::Project;

const POLICY: &str = r#"policy = 1

[series]
name = "people"

[columns]
id      = { role = "identifier" }
name    = { role = "quasi", type = "category", hierarchy = "name.csv", missing = "error" }
job     = { role = "quasi", type = "category", hierarchy = "job.csv", missing = "error" }
disease = { role = "sensitive", values = ["Cancer", "HIV"] }

[views.health]
columns    = ["job", "disease"]
recipients = ["hospital"]

[views.tax]
columns    = ["name", "job"]
recipients = ["tax office", "bank"]

[promise]
model = "xy-anonymity"
x     = ["name", "tax.job"]
y     = ["disease"]
k     = 2
"#;

const PEOPLE: &str = "id,name,job,disease
1,Alice,Banker,Cancer
2,Alice,Banker,Cancer
3,Bob,Clerk,HIV
4,Bob,Driver,Cancer
5,Cathy,Engineer,HIV
";

fn project(policy: &str) -> Project {
    Project::with(&[
        ("tacenda.toml", policy),
        ("people.csv", PEOPLE),
        ("name.csv", "Alice;*\nBob;*\nCathy;*\n"),
        ("job.csv", "Banker;Office;*\nClerk;Works;*\nDriver;Works;*\nEngineer;Office;*\n"),
    ])
}

#[test]
fn a_policy_with_views_publishes_views_and_nothing_else() {
    let project = project(POLICY);
    project.fails(&["publish", "people.csv", "--yes"], 2, "R205");
    project.fails(&["publish", "people.csv", "--yes", "--view", "taxes"], 2, "R206");
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.fails(&["publish", "people.csv", "--yes", "--view", "health"], 2, "R206");
    let ended = project.fails(&["adopt", "people.csv", "--yes"], 2, "U201");
    assert!(ended.stderr.contains("adopted ="), "{}", ended.stderr);
}

#[test]
fn a_planned_view_is_published_as_planned_and_logged() {
    let project = project(POLICY);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    let planned = project.ok(&["plan", "people.csv", "--view", "tax", "--label", "spring"]);
    assert!(planned.contains("view          tax for tax office, bank"), "{planned}");
    project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    let published = project.read("releases/people/r0002/people-r0002.csv");
    let header = published.lines().next().unwrap();
    assert_eq!(header, "group_id,name,job,row_weight", "the columns of the view only");
    assert_eq!(published.matches("Office").count() + published.matches("Works").count(), 5, "{published}");
    let log = project.ok(&["log"]);
    let matrix: Vec<&str> = log.lines().rev().take(3).collect();
    assert_eq!(
        matrix,
        [
            "  tax     -         r0002       r0002",
            "  health  r0001     -           -",
            "          hospital  tax office  bank"
        ]
    );
    let log: serde_json::Value = serde_json::from_str(&project.ok(&["log", "--format", "json"])).unwrap();
    assert_eq!(log["events"][2]["view"], "tax");
    assert_eq!(log["events"][2]["recipients"], serde_json::json!(["tax office", "bank"]));
    assert!(project.ok(&["show", "2"]).contains("view          tax"));
    project.ok(&["verify"]);
}

#[test]
fn check_says_what_a_requirement_means() {
    let project = project(POLICY);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    let checked = project.ok(&["check", "people.csv", "--view", "tax"]);
    assert!(checked.contains("X leaves out job of view health"), "{checked}");
    project.write("tacenda.toml", &POLICY.replace("\"tax.job\"", "\"job\""));
    let ended = project.fails(&["check", "people.csv", "--view", "tax"], 2, "R204");
    assert!(ended.stderr.contains("x is not what it was"), "{}", ended.stderr);
    // Both copies of the join column in X, and Y out already: the promise is about the other view alone.
    let project = self::project(&POLICY.replace("\"tax.job\"", "\"job\""));
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    let checked = project.ok(&["check", "people.csv", "--view", "tax"]);
    assert!(checked.contains("nothing done to the new view changes this"), "{checked}");
}

/// Paper 004's order turned round: names and jobs are out as they are, and nothing done to the diseases helps.
#[test]
fn what_is_out_cannot_be_mended() {
    let project = project(POLICY);
    let first = project.ok(&["check", "people.csv", "--view", "tax"]);
    assert!(first.contains("nothing is asked of view tax yet"), "{first}");
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    let ended = project.run(&["publish", "people.csv", "--yes", "--view", "health"]);
    assert_eq!(ended.code, 4, "{}", ended.stderr);
    assert!(ended.stderr.contains("R434") || ended.stderr.contains("R435"), "{}", ended.stderr);
}

#[test]
fn other_people_make_no_second_view() {
    let project = project(POLICY);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.write("fewer.csv", &PEOPLE.replace("5,Cathy,Engineer,HIV\n", ""));
    project.fails(&["publish", "fewer.csv", "--yes", "--view", "tax"], 4, "R429");
    project.write("moved.csv", &PEOPLE.replace("Driver", "Clerk"));
    project.fails(&["publish", "moved.csv", "--yes", "--view", "tax"], 4, "R425");
}

/// A release of another series, made by another policy, and a policy file in which health is that release.
fn ward() -> (Project, String) {
    let elsewhere = project(
        &POLICY[..POLICY.find("[views.health]").unwrap()]
            .replace("name = \"people\"", "name = \"ward\"")
            .replace(
                "name    = { role = \"quasi\", type = \"category\", hierarchy = \"name.csv\", missing = \"error\" }",
                "name = { role = \"drop\" }",
            )
            .replace("values = [\"Cancer\", \"HIV\"]", "values = [\"Cancer\", \"HIV\"], missing = \"error\"")
            .chars()
            .chain("[promise]\nmodel = \"k-anonymity\"\nk = 2\n".chars())
            .collect::<String>(),
    );
    elsewhere.ok(&["publish", "people.csv", "--yes"]);
    let folder = elsewhere.file("releases/ward/r0001");
    let policy =
        POLICY.replace("recipients = [\"hospital\"]", &format!("recipients = [\"hospital\"]\nadopted = {folder:?}"));
    (elsewhere, policy)
}

/// A release of another series, made by another policy, is laid beside the view.
#[test]
fn a_release_made_elsewhere_is_joined() {
    let (_ward, policy) = ward();
    let project = project(&policy);
    let published = project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    assert!(published.contains("at least 2 values of Y"), "{published}");
    project.fails(&["publish", "people.csv", "--yes", "--view", "health"], 2, "R206");
    let bad = self::project(
        &policy
            .replace("[\"job\", \"disease\"]", "[\"job\"]")
            .replace("y     = [\"disease\"]", "y     = [\"tax.record\"]"),
    );
    bad.fails(&["publish", "people.csv", "--yes", "--view", "tax"], 2, "R207");
}

/// Views have different columns; the auditor lays them side by side, from the ledger and from their folders.
#[test]
fn views_are_audited_side_by_side() {
    let project = project(POLICY);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    for releases in [&[][..], &["releases/people/r0001", "releases/people/r0002"][..]] {
        let args: Vec<&str> = ["audit"].iter().chain(releases).copied().chain(["--format", "json"]).collect();
        let ended = project.run(&args);
        assert!(ended.code <= 1, "{}: {}", ended.code, ended.stderr);
        assert!(!ended.stdout.contains("all releases have the same columns"), "{}", ended.stdout);
        assert!(ended.stdout.contains("\"joins\""), "{}", ended.stdout);
    }
}

#[test]
fn a_view_that_is_out_gets_no_more_recipients_where_they_are_judged_apart() {
    let pooled = POLICY.replace("k     = 2\n", "k     = 2\npool  = [[\"tax office\", \"bank\"]]\n");
    let project = project(&pooled);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.write("tacenda.toml", &pooled.replace("[\"hospital\"]", "[\"hospital\", \"bank\"]"));
    project.fails(&["publish", "people.csv", "--yes", "--view", "tax"], 2, "R206");
    // Who pools with nobody does not see the other view, and it is published as it is.
    project.write("tacenda.toml", &pooled);
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    assert!(project.read("releases/people/r0002/people-r0002.csv").contains("Cathy,Engineer"));
}

/// Where all are judged together it does not matter who has a view.
#[test]
fn without_pools_a_view_may_have_more_recipients() {
    let project = project(POLICY);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.write("tacenda.toml", &POLICY.replace("[\"hospital\"]", "[\"hospital\", \"bank\"]"));
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    assert!(!project.read("releases/people/r0002/people-r0002.csv").contains("Cathy,Engineer"));
}

const LINKABILITY: &str = r#"[promise]
model          = "xy-linkability"
x              = ["name", "tax.job"]
y              = ["disease"]
max_confidence = 1.0
"#;

fn shares(more: &str) -> String {
    format!("{}{LINKABILITY}{more}", &POLICY[..POLICY.find("[promise]").unwrap()])
}

/// Publishes both views and gives back the second.
fn tax_after_health(policy: &str) -> String {
    let project = project(policy);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    project.read("releases/people/r0002/people-r0002.csv")
}

/// Cathy is the one engineer, and engineers have HIV.
#[test]
fn a_threshold_holds_for_its_value_only() {
    assert!(tax_after_health(&shares("")).contains("Cathy,Engineer"));
    let listed = shares("thresholds = [{ value = \"HIV\", max_confidence = 0.6 }]\n");
    let published = tax_after_health(&listed);
    assert!(!published.contains("Cathy,Engineer"), "{published}");
    assert!(published.contains("Alice"), "cancer is bounded by nothing: {published}");
}

#[test]
fn what_is_promised_besides_holds_too() {
    let also = "[[also]]\nmodel = \"xy-anonymity\"\nx = [\"name\", \"tax.job\"]\ny = [\"disease\"]\nk = 2\n";
    let published = tax_after_health(&shares(also));
    assert!(!published.contains("Cathy,Engineer"), "{published}");
}

/// What is impossible leaves fewer values, and so less can be told.
#[test]
fn impossible_pairs_are_left_out_of_the_join() {
    let rule = "[[impossible]]\nname = \"Cathy\"\ndisease = \"Cancer\"\n";
    let project = project(&format!("{POLICY}{rule}"));
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    let published = project.read("releases/people/r0002/people-r0002.csv");
    assert!(!published.contains("Cathy"), "with her name she could have but HIV: {published}");
    let without = tax_after_health(POLICY);
    assert!(without.contains("Cathy"), "{without}");
}

/// A release made elsewhere stands in the log, with those who have it.
#[test]
fn the_log_names_views_made_elsewhere() {
    let (_ward, policy) = ward();
    let project = project(&policy);
    project.ok(&["publish", "people.csv", "--yes", "--view", "tax"]);
    let log = project.ok(&["log"]);
    let matrix: Vec<&str> = log.lines().rev().take(3).collect();
    assert_eq!(
        matrix,
        [
            "  tax     -          r0001       r0001",
            "  health  elsewhere  -           -",
            "          hospital   tax office  bank"
        ]
    );
    let log: serde_json::Value = serde_json::from_str(&project.ok(&["log", "--format", "json"])).unwrap();
    assert_eq!(log["events"][1]["taken_in"][0]["name"], "health");
}

/// What a view still tells of its class is said column by column.
#[test]
fn a_plan_says_what_is_still_told_of_the_target() {
    let policy = POLICY.replace("k     = 2\n", "k     = 2\ntarget = \"job\"\n");
    let project = project(&policy);
    project.ok(&["publish", "people.csv", "--yes", "--view", "health"]);
    let planned = project.ok(&["plan", "people.csv", "--view", "tax"]);
    assert!(planned.contains("of what it told about job: name "), "{planned}");
}
