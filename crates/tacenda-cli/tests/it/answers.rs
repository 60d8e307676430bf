//! What audits and reports answer, how they number and place what they found, and in which form they write it.

use crate::kit::{POLICY, TestProject, patients};
use serde_json::Value;

const AGE: [&str; 4] = ["--quasi", "age", "--sensitive", "disease"];

fn json(project: &TestProject, words: &[&str]) -> Value {
    let ended = project.run(&[words, &["--format", "json", "-q"]].concat());
    serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr))
}

/// The decision and the evidence of a question.
fn answer(report: &Value, name: &str) -> (String, String) {
    let questions = report["three_questions"].as_array().unwrap();
    let question = questions.iter().find(|question| question["name"] == name).unwrap();
    (question["decision"].as_str().unwrap().into(), question["evidence"].to_string())
}

/// Words without the breaks of lines.
fn flat(page: &str) -> String {
    page.split_whitespace().collect::<Vec<&str>>().join(" ")
}

fn table(rows: &[(&str, &str)]) -> String {
    let rows: Vec<String> = rows.iter().map(|(age, disease)| format!("\"{age}\",{disease}\n")).collect();
    format!("age,disease\n{}", rows.concat())
}

/// One person alone, two with one value: nobody drew a line, and the questions are not answered by that.
#[test]
fn no_line_is_no_comfort() {
    let rows = [("[20,30)", "flu"), ("[30,40)", "cold"), ("[30,40)", "cold"), ("[40,50)", "flu"), ("[40,50)", "hiv")];
    let project = TestProject::with(&[("r1.csv", &table(&rows))]);
    let words = [&["audit", "r1.csv", "--k", "1", "--l", "1"][..], &AGE].concat();
    assert_eq!(project.run(&words).code, 6, "no threshold, no answer");
    let words = [&words[..], &["--fail-on", "never"]].concat();
    let report = json(&project, &words);
    assert!(report["findings"].as_array().unwrap().is_empty(), "no threshold, no finding: {}", report["findings"]);
    assert_eq!(report["verdict"]["decision"], "NOT ASSESSED");
    for (question, code) in [("singling out", "A701"), ("inference", "A703")] {
        let (decision, evidence) = answer(&report, question);
        assert_eq!(decision, "NOT PROMISED", "{question}: {evidence}");
        assert!(evidence.contains(code) && evidence.contains("No threshold was set here"), "{evidence}");
    }
    let page = |format: &str| flat(&project.ok(&[&words[..], &["--format", format, "-q"]].concat()));
    assert!(page("text").contains("below k, below l: no threshold is set."), "{}", page("text"));
    assert!(
        page("markdown").contains("Appearances of people in groups below k: no threshold is set"),
        "{}",
        page("markdown")
    );
    assert!(page("html").contains("no threshold is set"));
}

/// The difference of two releases leaves one newcomer.
#[test]
fn one_newcomer_is_singled_out_whatever_the_line() {
    let before = [("[20,30)", "flu"), ("[20,30)", "cold")];
    let after = [("[20,30)", "flu"), ("[20,30)", "cold"), ("[20,30)", "hiv")];
    let project = TestProject::with(&[("r1.csv", &table(&before)), ("r2.csv", &table(&after))]);
    for (lines, word) in [(["--k", "1", "--l", "1"], "NOT PROMISED"), (["--k", "2", "--l", "2"], "FAIL")] {
        let report = json(&project, &[&["audit", "r1.csv", "r2.csv"][..], &AGE, &lines].concat());
        for question in ["singling out", "inference"] {
            let (decision, evidence) = answer(&report, question);
            assert_eq!(decision, word, "{question}: {evidence}");
            let sentence = report["verdict"]["sentence"].as_str().unwrap();
            assert!(sentence.contains(" in this way: ") || word == "FAIL", "{report}");
            assert!(evidence.contains("A721"), "{evidence}");
        }
    }
}

/// Somebody is certain by the tables, though the promise speaks of no values.
#[test]
fn who_is_certain_is_inferred_whatever_the_line() {
    let project = TestProject::with(&[
        ("r1.csv", &table(&[("[20,30)", "flu"), ("[20,30)", "cold"), ("[30,40)", "hiv"), ("[30,40)", "mumps")])),
        ("r2.csv", &table(&[("[20,35)", "flu"), ("[20,35)", "hiv"), ("[35,40)", "cold"), ("[35,40)", "mumps")])),
        ("t1.csv", "id,age,disease\na,22,flu\nb,25,cold\nc,33,hiv\nd,36,mumps\n"),
        ("t2.csv", "id,age,disease\na,22,flu\nb,37,cold\nc,33,hiv\nd,36,mumps\n"),
    ]);
    let truth = ["--truth", "t1.csv", "t2.csv", "--id", "id", "--k", "2", "--l", "1"];
    let report = json(&project, &[&["audit", "r1.csv", "r2.csv"][..], &AGE, &truth].concat());
    assert_eq!(report["sequence"]["smallest_candidates"], 1);
    let (decision, evidence) = answer(&report, "inference");
    assert_eq!((decision.as_str(), report["verdict"]["decision"].as_str()), ("NOT PROMISED", Some("NOT PROMISED")));
    assert!(report["verdict"]["sentence"].to_string().contains(" in this way: "), "{}", report["verdict"]);
    assert!(evidence.contains("A731"), "{evidence}");
}

/// Ids that link releases, published by nobody's promise: E is one.
#[test]
fn ids_single_out_and_nobody_is_said_to_have_meant_it() {
    let project = TestProject::with(&[
        (
            "r1.csv",
            "record,age,sex,disease\na,\"[20,30)\",*,flu\nb,\"[20,30)\",*,cold\nc,\"[30,40)\",*,hiv\nd,\"[30,40)\",*,flu\n",
        ),
        ("r2.csv", "record,age,sex,disease\na,*,F,flu\nb,*,M,cold\nc,*,F,hiv\nd,*,M,flu\n"),
    ]);
    let words = ["audit", "r1.csv", "r2.csv", "--quasi", "age,sex", "--sensitive", "disease", "--k", "1", "--l", "1"];
    let report = json(&project, &words);
    assert_eq!(report["sequence"]["least_alike"], 1, "{}", report["sequence"]);
    let (decision, evidence) = answer(&report, "singling out");
    assert_eq!(decision, "NOT PROMISED");
    assert!(evidence.contains("(E) holds 1 person") && evidence.contains("(H) holds 1 person"), "{evidence}");
    assert_eq!(answer(&report, "linkability").0, "NOT PROMISED");
    for word in ["which allows them", "on purpose"] {
        assert!(!report.to_string().contains(word), "there is no promise: {word}");
    }
}

/// People left, and nobody is known: nothing that ties rows together was asked.
#[test]
fn what_was_not_asked_is_not_passed() {
    let before = [("[20,30)", "flu"), ("[20,30)", "cold"), ("[30,40)", "hiv"), ("[30,40)", "mumps")];
    let after = [("[20,30)", "flu"), ("[20,30)", "cold"), ("[30,40)", "flu"), ("[30,40)", "cold")];
    let project = TestProject::with(&[("r1.csv", &table(&before)), ("r2.csv", &table(&after))]);
    let report = json(&project, &[&["audit", "r1.csv", "r2.csv"][..], &AGE].concat());
    let (decision, evidence) = answer(&report, "linkability");
    assert_eq!(decision, "NOT ASKED", "{evidence}");
    assert!(evidence.contains("were not examined: correspondence (people left"), "{evidence}");
    let alone = json(&project, &[&["audit", "r1.csv"][..], &AGE].concat());
    assert_eq!(alone["verdict"]["decision"], "PASS WITH NAMED ASSUMPTION");
    let sentence = alone["verdict"]["sentence"].as_str().unwrap();
    assert!(
        sentence.contains("The private tables were not given, so ")
            && sentence.ends_with("not asked. Not asked here: linkability."),
        "{sentence}"
    );
    assert!(alone["not_covered"].to_string().contains("equivalence"), "{}", alone["not_covered"]);
}

/// Somebody came and somebody left, and sums do not say how many: whether one alone did is open.
#[test]
fn what_is_left_open_is_named() {
    let before = table(&[("[20,30)", "flu"), ("[20,30)", "cold"), ("[30,40)", "hiv"), ("[30,40)", "mumps")]);
    let after = table(&[("[20,30)", "flu"), ("[20,30)", "hiv"), ("[30,40)", "hiv"), ("[30,40)", "mumps")]);
    let project = TestProject::with(&[("r1.csv", &before), ("r2.csv", &after)]);
    let report = json(&project, &[&["audit", "r1.csv", "r2.csv"][..], &AGE].concat());
    let (decision, evidence) = answer(&report, "singling out");
    assert_eq!(decision, "NOT ASSESSED", "{evidence}");
    assert!(evidence.contains("Left open: difference (people left"), "{evidence}");
}

/// The promise covers one release at a time: the page does not claim more, and says why that was accepted.
#[test]
fn a_page_does_not_claim_the_series_where_only_the_release_was_judged() {
    let promise = "model = \"k-anonymity\"\nk = 3\naccept_series_risk = \"a study of <us>\"";
    let policy = POLICY.replace("model = \"m-invariance\"\nm     = 2", promise);
    let project = TestProject::with(&[("tacenda.toml", &policy)]);
    for (file, from) in [("1.csv", 0), ("2.csv", 6)] {
        project.write(file, &patients(from, 60));
        project.ok(&["publish", file, "--yes"]);
    }
    let page = flat(&project.read("releases/ward-stays/r0002/report.html"));
    assert!(!page.contains("judged together with every earlier one"), "{page}");
    assert!(page.contains("its promise covers one release at a time"), "{page}");
    assert!(page.contains("that risk was accepted, with the reason &quot;a study of &lt;us&gt;&quot;"), "{page}");
    for edition in ["recipient", "steward"] {
        let report = json(&project, &["report", "--edition", edition]);
        assert!(report["not_covered"].to_string().contains("a study of <us>"), "{}", report["not_covered"]);
    }
}

fn uris(project: &TestProject, words: &[&str]) -> Vec<String> {
    let ended = project.run(&[words, &["--format", "sarif", "-q"]].concat());
    let sarif: Value = serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr));
    let results = sarif["runs"][0]["results"].as_array().unwrap().clone();
    assert!(!results.is_empty(), "{sarif}");
    let mut uris = Vec::new();
    for result in &results {
        for place in
            result["locations"].as_array().unwrap().iter().chain(result["relatedLocations"].as_array().unwrap())
        {
            uris.push(place["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap().to_string());
        }
    }
    let artifacts = sarif["runs"][0]["artifacts"].as_array().unwrap();
    for uri in &uris {
        assert!(artifacts.iter().any(|file| file["location"]["uri"] == uri.as_str()), "{uri} is one of the files");
    }
    uris.sort();
    uris.dedup();
    uris
}

#[test]
fn a_result_stands_in_the_data_file_as_it_was_named() {
    let (one, other) = (table(&[("[20,30)", "flu")]), table(&[("[30,40)", "flu")]));
    let project = TestProject::with(&[("p/2024/data.csv", &one), ("p/2025/data.csv", &other)]);
    let words = [&["audit", "p/2024/data.csv", "p/2025/data.csv"][..], &AGE].concat();
    assert_eq!(uris(&project, &words), ["p/2024/data.csv", "p/2025/data.csv"]);
    let report = json(&project, &words);
    let repeat = report["reproduce"].to_string();
    assert!(repeat.contains("tacenda audit p/2024/data.csv p/2025/data.csv --quasi age"), "{repeat}");

    let project = TestProject::with(&[("tacenda.toml", POLICY), ("1.csv", &patients(0, 60))]);
    project.ok(&["publish", "1.csv", "--yes"]);
    let data = ["releases/ward-stays/r0001/ward-stays-r0001.csv"];
    assert_eq!(uris(&project, &["audit", "--k", "50"]), data);
    assert_eq!(uris(&project, &["audit", "releases/ward-stays/r0001", "--k", "50"]), data);
    let columns = ["--quasi", "age,sex", "--sensitive", "diagnosis", "--k", "50"];
    assert_eq!(uris(&project, &[&["audit", "releases/ward-stays/r0001"][..], &columns].concat()), data);
    let report = json(&project, &["report", "--edition", "auditor"]);
    assert!(report["reproduce"].to_string().contains("tacenda audit releases/ward-stays/r0001 --k"), "{report}");
}

/// The ending of the file says the form of an audit, as of a report; who says --format means it, in both.
#[test]
fn the_ending_says_the_form_unless_somebody_does() {
    let project = TestProject::with(&[("r1.csv", &table(&[("[20,30)", "flu")]))]);
    let audit = [&["audit", "r1.csv", "-q"][..], &AGE].concat();
    let starts = [
        ("a.html", "<!DOCTYPE html>"),
        ("a.HTM", "<!DOCTYPE html>"),
        ("a.md", "# "),
        ("a.json", "{"),
        ("a.sarif", "{"),
        ("a.xml", "<?xml"),
        ("a.txt", "FAIL"),
        ("a.out", "FAIL"),
        ("a", "FAIL"),
    ];
    for (file, start) in starts {
        assert_eq!(project.run(&[&audit[..], &["-o", file]].concat()).code, 1);
        assert!(project.read(file).starts_with(start), "{file}");
    }
    project.run(&[&audit[..], &["-o", "b.json", "--format", "text"]].concat());
    assert!(project.read("b.json").starts_with("FAIL"));
    let own = TestProject::with(&[("tacenda.toml", POLICY), ("1.csv", &patients(0, 60))]);
    own.ok(&["publish", "1.csv", "--yes"]);
    own.ok(&["report", "--format", "text", "-o", "a.rep"]);
    assert!(own.read("a.rep").contains("Each release alone") && !own.read("a.rep").contains("<html"));
    own.ok(&["report", "-o", "b.rep"]);
    assert!(own.read("b.rep").starts_with("<!DOCTYPE html>"));
    let help = flat(&own.ok(&["report", "--help"]));
    assert!(!help.contains("audits only") && help.contains("audit and report only"), "{help}");
    assert!(help.contains("The exit code is 0 whatever its verdict"), "{help}");
}

/// Five groups of one place each, over one: what proves it is cut, and that is said.
#[test]
fn findings_are_numbered_and_what_is_cut_is_said() {
    let mut before: Vec<(String, &str)> = Vec::new();
    for from in (20..30).step_by(2) {
        before.extend([(format!("[{from},{})", from + 2), "flu"), (format!("[{from},{})", from + 2), "cold")]);
    }
    let before: Vec<(&str, &str)> = before.iter().map(|(age, disease)| (age.as_str(), *disease)).collect();
    let mut after = vec![("[20,30)", "flu"); 5];
    after.extend([("[20,30)", "cold"); 5]);
    after.push(("[20,30)", "hiv"));
    let project = TestProject::with(&[("r1.csv", &table(&before)), ("r2.csv", &table(&after))]);
    let words = [&["audit", "r1.csv", "r2.csv", "--fail-on", "never"][..], &AGE].concat();
    let report = json(&project, &words);
    let findings = report["findings"].as_array().unwrap();
    let at = findings.iter().position(|finding| finding["code"] == "A721").expect("one newcomer") + 1;
    assert_eq!(findings[at - 1]["number"].as_u64(), Some(at as u64));
    assert_eq!(findings[at - 1]["witness"]["groups"].as_array().unwrap().len(), 6);
    let page = |format: &str| flat(&project.ok(&[&words[..], &["--format", format]].concat()));
    let (text, markdown, html) = (page("text"), page("markdown"), page("html"));
    assert!(text.contains(&format!(" {at}. severe A721 ")), "{text}");
    assert!(markdown.contains(&format!("| {at} | severe | A721 |")), "{markdown}");
    assert!(html.contains(&format!("<tr><td class=\"n\">{at}</td>")), "{html}");
    for page in [text, markdown, html] {
        assert!(page.contains("and 3 more groups"), "{page}");
    }
    project.ok(&[&words[..], &["-o", "a.json"]].concat());
    let told = flat(&project.ok(&["explain", "finding", &at.to_string(), "--audit", "a.json"]));
    assert!(told.contains("Release 2 (r2): group 1: *; 11 rows:"), "{told}");
    assert!(told.contains("gained") && told.contains("and lost nothing."), "{told}");
}

const PLACES: [&str; 4] = ["--quasi", "age,zip", "--sensitive", "disease"];

/// Without the truth the worst place is told step by step, and only with the finding that it tells of.
#[test]
fn without_people_the_worst_place_is_told() {
    let first = "age,zip,disease\n\"[21,23)\",12***,dyspepsia\n\"[21,23)\",12***,bronchitis\n\"[23,30)\",2****,flu\n\"[23,30)\",2****,gastritis\n\"[60,70)\",3****,flu\n";
    let second = "age,zip,disease\n\"[21,24)\",1****,dyspepsia\n\"[21,24)\",1****,gastritis\n\"[24,30)\",2****,flu\n\"[24,30)\",2****,bronchitis\n\"[60,70)\",3****,flu\n";
    let project = TestProject::with(&[("d1.csv", first), ("d2.csv", second)]);
    let words = [&["audit", "d1.csv", "d2.csv", "--fail-on", "never"][..], &PLACES].concat();
    let report = json(&project, &words);
    let story = &report["story"];
    assert_eq!((&story["left"], &story["of_place"]), (&1.into(), &true.into()), "{story}");
    let number = story["finding"].as_u64().expect("it tells of a finding");
    assert_eq!(report["findings"][number as usize - 1]["code"], "A733");
    assert_eq!(story["steps"].as_array().unwrap().len(), 2);
    for format in ["text", "markdown", "html"] {
        let page = flat(&project.ok(&[&words[..], &["--format", format]].concat()));
        let place = "is in all of these releases and has age [21,23) and zip 12***";
        assert!(page.replace('\\', "").contains(place), "{page}");
        assert!(page.contains(&format!("The worst case, step by step (finding {number})")), "{page}");
    }
    project.ok(&[&words[..], &["-o", "a.json"]].concat());
    let count = report["findings"].as_array().unwrap().len() as u64;
    for other in 1..=count {
        let told = project.ok(&["explain", "finding", &other.to_string(), "--audit", "a.json"]);
        assert_eq!(told.contains("One case of it, step by step"), other == number, "{told}");
        assert!(told.contains("Release 1 (d1)") || told.contains("Release 2 (d2)"), "{told}");
    }
    assert!(count > 1, "another finding is there");
}

/// What is promised, against whom, and what not: one text, in everything that says it.
#[test]
fn the_promise_is_in_the_same_words_everywhere() {
    let promises = [
        "model = \"m-invariance\"\nm     = 2",
        "model = \"m-invariance\"\nm     = 2\nreader = \"method\"",
        "model = \"incremental-l-diversity\"\nl     = 2\nreader = \"method\"\ngroups = \"drawn\"",
        "model = \"incremental-k-anonymity\"\nk     = 3\nl     = 2",
        "model = \"k-anonymity\"\nk     = 3",
    ];
    for promise in promises {
        let policy = POLICY.replace("model = \"m-invariance\"\nm     = 2", promise);
        assert!(policy.contains(promise), "{policy}");
        let project = TestProject::with(&[("tacenda.toml", &policy), ("q1.csv", &patients(0, 60))]);
        project.ok(&["publish", "q1.csv", "--yes"]);
        let read = |name: &str| project.read(&format!("releases/ward-stays/r0001/{name}"));
        let manifest: Value = serde_json::from_str(&read("manifest.json")).unwrap();
        let (sentence, limits) = (&manifest["promise"]["sentence"], manifest["promise"]["limits"].as_array().unwrap());
        let ledger = project.read(".tacenda/ledger.jsonl");
        let line: Value = serde_json::from_str(ledger.lines().last().unwrap()).unwrap();
        assert_eq!(line["promise"]["sentence"], *sentence, "ledger, {promise}");
        let report = json(&project, &["report"]);
        assert_eq!(report["series"]["promise"]["sentence"], *sentence, "report, {promise}");
        for limit in limits {
            let not_covered = report["series"]["promise"]["limits"].as_array().unwrap();
            assert!(not_covered.contains(limit), "report, {promise}: {limit}");
        }
        let pages = [read("README.md"), read("report.html"), project.ok(&["show"]), project.ok(&["check"])];
        for page in pages {
            let page = flat(&page);
            for text in limits.iter().chain([sentence]) {
                let text = text.as_str().unwrap();
                assert!(page.contains(text), "{promise}: {text} is not in {page}");
            }
        }
    }
}
