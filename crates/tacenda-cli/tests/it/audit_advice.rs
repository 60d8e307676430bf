//! The advice of audits, tried: each case is an audit that gives the advice, then does what it says, and audits again.
//!
//! The list below is the table of advice and what happened. A case whose advice does not help fails, and so does advice that
//! has no case.

use crate::adopt;
use crate::kit::{POLICY, TestProject, patients};
use Where::{Page, Steps};
use serde_json::Value;
use tacenda::audit::{Reason, WayOut};

/// What an audit advises, and what shows that it helps.
struct Advice {
    advised: &'static str,
    stands: Where,
    files: &'static [(&'static str, &'static str)],
    /// The audit that gives the advice, as it is typed, and its exit code.
    audit: &'static str,
    exit: i32,
    /// Does what is advised.
    done: fn(&TestProject),
    /// The audit after it, and its exit code.
    again: &'static str,
    then: i32,
}

/// Where the advice stands.
enum Where {
    /// In what to do next.
    Steps,
    /// On the page of a code that was found. It must not be found again.
    Page(&'static str),
}

fn nothing(_: &TestProject) {}

/// Replaces something in a file; it must be there.
fn edit(project: &TestProject, name: &str, from: &str, to: &str) {
    let text = project.read(name);
    assert!(text.contains(from), "{from} is not in {name}");
    project.write(name, &text.replace(from, to));
}

/// Two releases that together leave everyone one value; one of them alone, or both without their zip code, leave two.
const TWO: [(&str, &str); 4] = [
    ("r1.csv", "age,zip,disease\n20-29,10-19,flu\n20-29,10-19,hiv\n20-29,20-29,gout\n20-29,20-29,cold\n"),
    ("r2.csv", "age,zip,disease\n20-29,10-24,flu\n20-29,10-24,gout\n20-29,15-29,hiv\n20-29,15-29,cold\n"),
    ("t1.csv", "id,age,zip,disease\n1,21,12,flu\n2,22,16,hiv\n3,23,22,gout\n4,24,27,cold\n"),
    ("t2.csv", "id,age,zip,disease\n1,21,12,flu\n2,22,16,hiv\n3,23,22,gout\n4,24,27,cold\n"),
];
const BOTH: &str = "r1.csv r2.csv --quasi age,zip --sensitive disease";
const TRUE: &str = "r1.csv r2.csv --quasi age,zip --sensitive disease --truth t1.csv t2.csv --id id";

/// One release with its table.
const ONE_TRUE: &str = "r.csv --quasi age --sensitive disease --truth t.csv --id id";
const SAFE: &str = "age,disease\n20-29,flu\n20-29,hiv\n30-39,flu\n30-39,hiv\n";
const SMALL: &str = "age,disease\n20-24,flu\n25-29,hiv\n25-29,flu\n25-29,gout\n";

const TRIED: &[Advice] = &[
    Advice {
        advised: "Tried: if the column zip is left out of every release, nothing is found",
        stands: Steps,
        files: &TWO,
        audit: TRUE,
        exit: 1,
        done: |project| {
            for name in ["r1.csv", "r2.csv"] {
                let rows: Vec<String> = project
                    .read(name)
                    .lines()
                    .map(|line| {
                        let cells: Vec<&str> = line.split(',').collect();
                        format!("{},{}\n", cells[0], cells[2])
                    })
                    .collect();
                project.write(name, &rows.concat());
            }
        },
        again: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id",
        then: 0,
    },
    Advice {
        advised: "Tried: without release 2, nothing is found. That helps only while it is not published.",
        stands: Steps,
        files: &TWO,
        audit: TRUE,
        exit: 1,
        done: nothing,
        again: "r1.csv --quasi age,zip --sensitive disease --truth t1.csv --id id",
        then: 0,
    },
    Advice {
        advised: "tacenda init DATA drafts a policy file",
        stands: Steps,
        files: &[],
        audit: "q1.csv --quasi age,sex --sensitive diagnosis --k 20",
        exit: 1,
        done: |project| {
            project.ok(&["init", "q1.csv", "--yes", "--name", "ward"]);
            project.ok(&["publish", "q1.csv", "--yes"]);
        },
        again: "",
        then: 0,
    },
    Advice {
        advised: "Give the hierarchies of the labels (--hierarchies DIR)",
        stands: Steps,
        files: &[
            ("r1.csv", "age,work,disease\n20-29,Gov,flu\n20-29,Gov,hiv\n20-29,State,flu\n20-29,State,cold\n"),
            ("r2.csv", "age,work,disease\n20-29,State,flu\n20-29,State,hiv\n20-29,Gov,flu\n20-29,Gov,hiv\n"),
            ("trees/work.csv", "State;Gov;*\nFederal;Gov;*\n"),
        ],
        audit: "r1.csv r2.csv --quasi age,work --sensitive disease --check candidates",
        exit: 1,
        done: nothing,
        again: "r1.csv r2.csv --quasi age,work --sensitive disease --check candidates --hierarchies trees",
        then: 0,
    },
    Advice {
        advised: "Give the private tables (--truth FILE --id COLUMN) to count the people exactly",
        stands: Steps,
        files: &TWO,
        audit: BOTH,
        exit: 1,
        done: nothing,
        again: TRUE,
        then: 1,
    },
    Advice {
        advised: "Set thresholds: --k and --l of at least 2",
        stands: Steps,
        files: &[("r.csv", SAFE)],
        audit: "r.csv --quasi age --sensitive disease --k 1 --l 1",
        exit: 6,
        done: nothing,
        again: "r.csv --quasi age --sensitive disease --k 2 --l 2",
        then: 0,
    },
    Advice {
        advised: "give the private tables (--truth FILE… --id COLUMN), one per release",
        stands: Steps,
        files: &[
            ("r1.csv", "age,disease\n20-29,flu\n20-29,hiv\n20-29,gout\n20-29,cold\n"),
            ("r2.csv", "age,disease\n20-29,flu\n20-29,hiv\n20-29,gout\n"),
            ("t1.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n4,24,cold\n"),
            ("t2.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n"),
        ],
        audit: "r1.csv r2.csv --quasi age --sensitive disease --check difference",
        exit: 6,
        done: nothing,
        again: "r1.csv r2.csv --quasi age --sensitive disease --check difference --truth t1.csv t2.csv --id id",
        then: 1,
    },
    Advice {
        advised: "check that these are the tables that the releases were made from",
        stands: Steps,
        files: &[
            ("r.csv", SAFE),
            ("t.csv", "id,age,disease\n1,51,flu\n2,52,hiv\n3,61,flu\n4,62,hiv\n"),
            ("right.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,31,flu\n4,32,hiv\n"),
        ],
        audit: ONE_TRUE,
        exit: 6,
        done: |project| project.write("t.csv", &project.read("right.csv")),
        again: ONE_TRUE,
        then: 0,
    },
    Advice {
        advised: "and that every column is read as it is meant (--notation, --hierarchies, --missing)",
        stands: Steps,
        files: &[
            ("r.csv", "work,disease\nGov,flu\nGov,hiv\nPrivate,flu\nPrivate,hiv\n"),
            ("t.csv", "id,work,disease\n1,State,flu\n2,Federal,hiv\n3,Private,flu\n4,Private,hiv\n"),
            ("work.csv", "State;Gov;*\nFederal;Gov;*\nPrivate;Private;*\n"),
        ],
        audit: "r.csv --quasi work --sensitive disease --truth t.csv --id id --notation work=exact",
        exit: 6,
        done: nothing,
        again: "r.csv --quasi work --sensitive disease --truth t.csv --id id --hierarchy work=work.csv",
        then: 0,
    },
    Advice {
        advised: "give a table of everyone whom the releases might be about, those in them included (--population)",
        stands: Steps,
        files: &[("r.csv", SAFE), ("some.csv", "age\n21\n22\n31\n"), ("all.csv", "age\n21\n22\n25\n31\n32\n33\n")],
        audit: "r.csv --quasi age --sensitive disease --population some.csv",
        exit: 6,
        done: nothing,
        again: "r.csv --quasi age --sensitive disease --population all.csv",
        then: 0,
    },
    Advice {
        advised: "name only values that nobody loses (--permanent)",
        stands: Steps,
        files: &[
            ("r1.csv", "age,disease\n20-29,flu\n20-29,hiv\n20-29,gout\n20-29,cold\n"),
            ("r2.csv", "age,disease\n20-29,flu\n20-29,hiv\n20-29,gout\n20-29,mumps\n"),
            ("t1.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n4,24,cold\n"),
            ("t2.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n4,24,mumps\n"),
        ],
        audit: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check changes --check group-sizes --permanent cold",
        exit: 6,
        done: nothing,
        again: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check changes --check group-sizes --permanent hiv",
        then: 0,
    },
    Advice {
        advised: "audit in the project that made the releases, with all private tables",
        stands: Steps,
        files: &[("tacenda.toml", POLICY)],
        audit: "releases/ward-stays/r0001 --check rerun --check group-sizes --reader method",
        exit: 6,
        done: nothing,
        again: "--truth q1.csv --check rerun --check group-sizes --reader method",
        then: 0,
    },
    Advice {
        advised: "raise the budget. Each search had 4,000 steps, and this one needs at least",
        stands: Steps,
        files: &[],
        audit: "1b.csv 2b.csv --quasi age,zip --sensitive disease --truth 1a.csv 2a.csv --id name --check posterior --budget 4000",
        exit: 6,
        done: nothing,
        again: "1b.csv 2b.csv --quasi age,zip --sensitive disease --truth 1a.csv 2a.csv --id name --check posterior",
        then: 1,
    },
    Advice {
        advised: "set thresholds over all columns (--k, --l)",
        stands: Steps,
        files: &[],
        audit: "releases/people/r0001 releases/people/r0002 --check joins",
        exit: 6,
        done: nothing,
        again: "releases/people/r0001 releases/people/r0002 --check joins --k 2 --l 2",
        then: 1,
    },
    Advice {
        advised: "linked-ids answers what the ids give away by themselves",
        stands: Steps,
        files: &[
            ("r1.csv", "index,age,disease\na,20-29,flu\nb,20-29,hiv\nc,20-29,gout\nd,20-29,cold\n"),
            ("r2.csv", "index,age,disease\nb,20-39,hiv\na,20-39,flu\nd,20-39,cold\nc,20-39,gout\n"),
            ("t1.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n4,24,cold\n"),
            ("t2.csv", "id,age,disease\n1,21,flu\n2,22,hiv\n3,23,gout\n4,24,cold\n"),
        ],
        audit: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check posterior --linked index",
        exit: 6,
        done: nothing,
        again: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check linked-ids --linked index",
        then: 0,
    },
    Advice {
        advised: "larger groups, or coarser values",
        stands: Page("A707"),
        files: &[("r.csv", SMALL), ("all.csv", "age\n21\n26\n27\n28\n29\n")],
        audit: "r.csv --quasi age --sensitive disease --population all.csv",
        exit: 1,
        done: |project| {
            edit(project, "r.csv", "20-24", "20-29");
            edit(project, "r.csv", "25-29", "20-29");
        },
        again: "r.csv --quasi age --sensitive disease --population all.csv",
        then: 0,
    },
    Advice {
        advised: "larger groups, or coarser values",
        stands: Page("A708"),
        files: &[("r.csv", SAFE), ("all.csv", "age\n21\n22\n31\n32\n33\n34\n")],
        audit: "r.csv --quasi age --sensitive disease --population all.csv --k 3",
        exit: 1,
        done: |project| {
            edit(project, "r.csv", "20-29", "20-39");
            edit(project, "r.csv", "30-39", "20-39");
        },
        again: "r.csv --quasi age --sensitive disease --population all.csv --k 3",
        then: 0,
    },
    Advice {
        advised: "keep the people of a household in different groups",
        stands: Page("A709"),
        files: &[
            ("r.csv", SAFE),
            ("t.csv", "id,age,home,disease\n1,21,x,flu\n2,22,x,hiv\n3,31,y,flu\n4,32,z,hiv\n"),
            ("r2.csv", "age,disease\n20-31,flu\n20-31,flu\n22-39,hiv\n22-39,hiv\n"),
        ],
        audit: "r.csv --quasi age --sensitive disease --truth t.csv --id id --household home --check group-sizes",
        exit: 1,
        done: |project| project.write("r.csv", &project.read("r2.csv")),
        again: "r.csv --quasi age --sensitive disease --truth t.csv --id id --household home --check group-sizes",
        then: 0,
    },
    Advice {
        advised: "larger groups with more values",
        stands: Page("A735"),
        files: &[
            ("r.csv", SAFE),
            ("t.csv", "id,age,home,disease\n1,21,x,flu\n2,22,x,hiv\n3,31,y,flu\n4,32,z,hiv\n"),
            ("r2.csv", "age,disease\n20-39,flu\n20-39,hiv\n20-39,flu\n20-39,hiv\n"),
        ],
        audit: "r.csv --quasi age --sensitive disease --truth t.csv --id id --household home --check candidates",
        exit: 1,
        done: |project| project.write("r.csv", &project.read("r2.csv")),
        again: "r.csv --quasi age --sensitive disease --truth t.csv --id id --household home --check candidates",
        then: 0,
    },
    Advice {
        advised: "in a column or a series of their own",
        stands: Page("A789"),
        files: &[
            ("r1.csv", "age,disease\n21-22,hiv\n21-22,flu\n"),
            ("r2.csv", "age,disease\n21,hiv\n21,flu\n22,gout\n22,cold\n"),
            ("t1.csv", "id,age,disease\n1,21,hiv\n2,22,flu\n"),
            ("t2.csv", "id,age,disease\n1,21,hiv\n2,22,gout\n3,22,cold\n4,21,flu\n"),
        ],
        audit: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check changes --permanent hiv",
        exit: 1,
        // What never goes away has a series of its own: here everyone without it.
        done: |project| {
            for name in ["r1.csv", "r2.csv", "t1.csv", "t2.csv"] {
                edit(project, name, "hiv", "none");
                edit(project, name, "flu", "none");
                if name.contains('2') {
                    edit(project, name, "gout", "none");
                    edit(project, name, "cold", "none");
                }
            }
        },
        again: "r1.csv r2.csv --quasi age --sensitive disease --truth t1.csv t2.csv --id id --check changes --check group-sizes",
        then: 0,
    },
    Advice {
        advised: "Add their folders",
        stands: Page("A793"),
        files: &[("tacenda.toml", POLICY)],
        audit: "releases/ward-stays/r0001 releases/ward-stays/r0003 --check chain",
        exit: 1,
        done: nothing,
        again: "releases/ward-stays/r0001 releases/ward-stays/r0002 releases/ward-stays/r0003 --check chain",
        then: 0,
    },
];

/// The folder of a case. Cases of a project publish three quarters first; those without files are in the paper's, a hospital's
/// or a view's folder.
fn prepared(case: &Advice) -> TestProject {
    if case.audit.contains("1b.csv") {
        return adopt::project("model = \"m-invariance\"\nm = 2");
    }
    if case.audit.starts_with("releases/people") {
        return crate::views::two_views();
    }
    let project = TestProject::with(case.files);
    for (quarter, first) in [0, 10, 20].into_iter().enumerate() {
        let name = format!("q{}.csv", quarter + 1);
        project.write(&name, &patients(first, 60));
        let is_asked = |words: &str| words.contains(&format!("r000{}", quarter + 1));
        if case.files.iter().any(|(name, _)| *name == "tacenda.toml") && (is_asked(case.audit) || is_asked(case.again))
        {
            project.ok(&["publish", &name, "--yes"]);
        }
    }
    project
}

/// What is typed behind `tacenda`, as words.
fn typed(words: &str) -> Vec<&str> {
    words.split_whitespace().collect()
}

fn audited(project: &TestProject, words: &str) -> (i32, Value) {
    let words = format!("audit {words} --explain --format json -q");
    let ended = project.run(&typed(&words));
    (ended.code, serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{words:?} {}", ended.stderr)))
}

fn codes(report: &Value) -> Vec<&str> {
    report["findings"].as_array().unwrap().iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn the_advice_of_audits_works() {
    let failed: Vec<String> = TRIED.iter().filter_map(|case| tried(case).err()).collect();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Tries one case; the error says what did not happen.
fn tried(case: &Advice) -> Result<(), String> {
    let advised = case.advised;
    let project = prepared(case);
    let (exit, report) = audited(&project, case.audit);
    let what = |report: &Value| format!("{advised}: {}; {:?}", report["verdict"], codes(report));
    let is = |fact: bool, what: String| if fact { Ok(()) } else { Err(what) };
    is(exit == case.exit, format!("{exit} before, {}", what(&report)))?;
    match case.stands {
        Steps => {
            let steps = report["next_steps"].as_array().unwrap();
            let is_said = steps.iter().any(|step| step.as_str().unwrap().contains(advised));
            is(is_said, format!("{advised}: not in {steps:?}"))?;
        }
        Page(code) => {
            is(codes(&report).contains(&code), format!("{code} is not found, {}", what(&report)))?;
            let page = project.ok(&["explain", code]).split_whitespace().collect::<Vec<&str>>().join(" ");
            is(page.contains(advised), format!("{advised}: not on the page {page}"))?;
        }
    }
    (case.done)(&project);
    let (then, report) = audited(&project, case.again);
    is(then == case.then, format!("{then} after, {}", what(&report)))?;
    let is_gone = |code: &str| !codes(&report).contains(&code);
    is(!matches!(case.stands, Page(code) if !is_gone(code)), format!("found again, {}", what(&report)))
}

/// Every way out of an open question that can be tried has a case. The others are named here, with why.
#[test]
fn every_way_out_of_an_open_question_is_tried() {
    let untried = [
        // No small series has an attacker who does not know presence and an open question for it.
        "name an attacker who knows it",
        // These say that nothing helps, or name another question.
        "no budget settles this",
        "nothing: the question does not apply",
        // The rerun tests of the library change a policy and a table under a project.
        "audit with the tables, the policy file and the version",
    ];
    for reason in Reason::ALL {
        let WayOut::Said(way) = reason.way_out() else { continue };
        let is_tried = TRIED.iter().any(|case| way.contains(case.advised));
        assert!(is_tried || untried.iter().any(|other| way.starts_with(other)), "{way}");
    }
}

/// The long advice after a failed audit of two releases: adopt them, and plan the next one.
#[test]
fn releases_that_fail_are_adopted_and_the_next_one_is_planned() {
    let reason = "accept_adopted = \"they are out already\"";
    let project = adopt::project(&format!("model = \"m-invariance\"\nm = 2\non_ineligible = \"defer\"\n{reason}"));
    let (exit, report) = audited(&project, "1b.csv 2b.csv --quasi age,zip --sensitive disease");
    assert_eq!(exit, 1);
    let steps = report["next_steps"].to_string();
    assert!(steps.contains("tacenda adopt takes the releases into a project"), "{steps}");
    let adopted = project.ok(&["adopt", "1b.csv", "2b.csv", "--truth", "1a.csv", "2a.csv", "--yes"]);
    assert!(adopted.contains("withhold") || adopted.contains("withheld"), "{adopted}");
    project.ok(&["plan", "2a.csv"]);
}

/// In text, what to do next stands once and at the end, after what each finding means.
#[test]
fn an_explained_audit_ends_with_what_to_do_next() {
    let project = TestProject::with(&TWO);
    let ended = project.run(&typed(&format!("audit {TRUE} --explain")));
    let text = ended.stdout;
    let (front, steps) = text.split_once("\nWhat to do next\n").unwrap_or_else(|| panic!("{text}"));
    assert!(!steps.contains("What to do next") && front.contains("What the findings mean"), "{text}");
    assert!(front.contains("A731: a person's value is certain\nIn each release"), "{text}");
    let steps = steps.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(steps.ends_with("That helps only while it is not published."), "{steps}");
    let plain = project.run(&typed(&format!("audit {TRUE}"))).stdout;
    assert!(!plain.contains("Tried:") && !plain.contains("What the findings mean"), "{plain}");
    // Everyone has one value: no column and no release helps.
    project.write("r1.csv", "age,zip,disease\n20-29,10-19,flu\n20-29,10-19,flu\n");
    project.write("r2.csv", "age,zip,disease\n20-29,10-29,flu\n20-29,10-29,flu\n");
    let (_, report) = audited(&project, BOTH);
    let steps = report["next_steps"].to_string();
    assert!(steps.contains("Tried without success: leaving out columns, and leaving out a release."), "{steps}");
}
