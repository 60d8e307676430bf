//! The advice of errors, tried: each case runs into an error, does what the message says, and goes on.
//!
//! The list below is the table of advice and what happened. A case whose advice does not work fails.

use crate::kit::{POLICY, TestProject, patients};
use Step::{Fails, Policy, Runs, Table};
use Tried::{Shown, Steps};
use rust_xlsxwriter::Workbook;

/// What the message of an error advises, and what shows that it works.
struct Advice {
    code: &'static str,
    advised: &'static str,
    tried: Tried,
}

/// How advice is tried, in a hospital with two tables.
enum Tried {
    /// One step after another.
    Steps(&'static [Step]),
    /// Something that steps cannot say, given the code.
    Shown(fn(&TestProject, &str)),
}

/// A step of a case.
enum Step {
    /// Replaces something in the policy file.
    Policy(&'static str, &'static str),
    /// Replaces something in a table.
    Table(&'static str, &'static str, &'static str),
    /// Runs the command, which ends well.
    Runs(&'static [&'static str]),
    /// Runs the command, which ends with this exit code and the code of the case.
    Fails(&'static [&'static str], i32),
}

fn hospital() -> TestProject {
    TestProject::with(&[("tacenda.toml", POLICY), ("q1.csv", &patients(0, 60)), ("q2.csv", &patients(10, 60))])
}

/// Replaces something in a file; it must be there.
fn edit(project: &TestProject, name: &str, from: &str, to: &str) {
    let text = project.read(name);
    assert!(text.contains(from), "{from} is not in {name}");
    project.write(name, &text.replacen(from, to, 1));
}

const PUBLISH: [&str; 3] = ["publish", "q1.csv", "--yes"];
const NEXT: [&str; 3] = ["publish", "q2.csv", "--yes"];

/// Makes two of three people have the flu.
fn make_uneven(project: &TestProject) {
    let uneven =
        project.read("q1.csv").replace("gastritis", "flu").replace("dyspepsia", "flu").replace("bronchitis", "flu");
    project.write("q1.csv", &uneven);
}

/// The number behind "set it to" in a message.
fn advised_number(message: &str) -> String {
    let words: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
    let (_, after) = words.split_once("set it to ").unwrap_or_else(|| panic!("{message}"));
    after.split_whitespace().next().unwrap().to_string()
}

/// A row more for somebody who is there.
fn with_second_row(project: &TestProject) {
    let table = project.read("q1.csv").replace("diagnosis\n", "diagnosis,seen\n");
    let rows: Vec<String> = table.lines().skip(1).map(|line| format!("{line},2025-01-01")).collect();
    project.write(
        "q1.csv",
        &format!("patient_id,full_name,age,sex,diagnosis,seen\n{}\np3,Name,39,M,gout,2025-06-01\n", rows.join("\n")),
    );
    edit(project, "tacenda.toml", "diagnosis  = {", "seen = { role = \"drop\", type = \"date\" }\ndiagnosis  = {");
}

const TRIED: &[Advice] = &[
    Advice {
        code: "D104",
        advised: "rows = \"latest\" with order",
        tried: Shown(|project, code| {
            with_second_row(project);
            project.fails(&PUBLISH, 3, code);
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"latest\"\norder = \"seen\"\n[promise]");
            let said = project.ok(&PUBLISH);
            assert!(said.contains("1 of 60 people"), "{said}");
        }),
    },
    Advice {
        code: "D104",
        advised: "rows = \"combine\"",
        tried: Shown(|project, code| {
            with_second_row(project);
            project.fails(&PUBLISH, 3, code);
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"combine\"\n[promise]");
            project.ok(&PUBLISH);
            let release = project.read("releases/ward-stays/r0001/ward-stays-r0001.csv");
            assert!(release.contains("+gout"), "{release}");
        }),
    },
    Advice {
        code: "D137",
        advised: "set at the column which value is kept",
        tried: Shown(|project, code| {
            with_second_row(project);
            edit(project, "q1.csv", "p3,Name,39", "p3,Name,40");
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"combine\"\n[promise]");
            project.fails(&PUBLISH, 3, code);
            edit(project, "tacenda.toml", "domain = [0, 120]", "domain = [0, 120], combine = \"most\"");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "D139",
        advised: "give the whole table",
        tried: Shown(|project, code| {
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"latest\"\norder = \"age\"\n[promise]");
            project.ok(&PUBLISH);
            project.write("delta.csv", "op,patient_id,full_name,age,sex,diagnosis\nD,p3,,,,\n");
            project.fails(&["publish", "delta.csv", "--delta", "--yes"], 3, code);
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "D102",
        advised: "name it in [columns] with role = \"drop\"",
        tried: Steps(&[
            Policy("full_name  = { role = \"drop\" }\n", ""),
            Fails(&PUBLISH, 3),
            Policy("age        =", "full_name = { role = \"drop\" }\nage ="),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D109",
        advised: "widen the domain",
        tried: Steps(&[
            Runs(&PUBLISH),
            Table("q2.csv", "p20,Name 20,18,", "p20,Name 20,121,"),
            Fails(&NEXT, 3),
            Policy("[0, 120]", "[0, 130]"),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "D110",
        advised: "add the values to the list",
        tried: Steps(&[
            Runs(&PUBLISH),
            Table("q2.csv", "p20,Name 20,18,F", "p20,Name 20,18,D"),
            Fails(&NEXT, 3),
            Policy("\"X\"]", "\"X\", \"D\"]"),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "D110",
        advised: "set unknown = \"other\"",
        tried: Steps(&[
            Runs(&PUBLISH),
            Table("q2.csv", "p20,Name 20,18,F", "p20,Name 20,18,D"),
            Fails(&NEXT, 3),
            Policy("\"X\"]", "\"X\", \"other\"], unknown = \"other\""),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "D111",
        advised: "set missing = \"value\"",
        tried: Steps(&[
            Table("q1.csv", "18,F,flu", "18,F,"),
            Fails(&PUBLISH, 3),
            Policy("\"sensitive\", type = \"category\"", "\"sensitive\", missing = \"value\""),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D112",
        advised: "set missing = \"value\" for the column",
        tried: Steps(&[
            Policy("\"X\"]", "\"X\"], missing = \"error\""),
            Runs(&PUBLISH),
            Table("q2.csv", "p20,Name 20,18,F", "p20,Name 20,18,"),
            Fails(&NEXT, 3),
            Policy("missing = \"error\"", "missing = \"value\""),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "D133",
        advised: "write it alike everywhere",
        tried: Steps(&[
            Table("q1.csv", "18,F,flu", "18,F,Flu"),
            Fails(&PUBLISH, 3),
            Table("q1.csv", "Flu", "flu"),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D134",
        advised: "FILE.xlsx#SHEET",
        tried: Shown(|project, code| {
            let mut workbook = Workbook::new();
            for (name, first) in [("Q1", 0), ("Q2", 10)] {
                let sheet = workbook.add_worksheet().set_name(name).unwrap();
                for (row, line) in (0..).zip(patients(first, 60).lines()) {
                    for (column, cell) in (0..).zip(line.split(',')) {
                        sheet.write(row, column, cell).unwrap();
                    }
                }
            }
            workbook.save(project.file("both.xlsx")).unwrap();
            project.fails(&["publish", "both.xlsx", "--yes"], 3, code);
            project.ok(&["publish", "both.xlsx#Q1", "--yes"]);
            project.ok(&["plan", "both.xlsx#Q2"]);
            project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
        }),
    },
    Advice {
        code: "P241",
        advised: "write a role",
        tried: Steps(&[
            Policy("full_name  = { role = \"drop\" }", "full_name  = { role = \"?\" }"),
            Fails(&["check", "q1.csv"], 2),
            Policy("\"?\"", "\"drop\""),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "R204",
        advised: "change the policy back",
        tried: Shown(|project, code| {
            edit(project, "tacenda.toml", "m     = 2", "m     = 3");
            project.ok(&PUBLISH);
            edit(project, "tacenda.toml", "m     = 3", "m     = 2");
            let said = project.fails(&NEXT, 2, code).stderr;
            assert!(said.contains("m was 3 at the last release"), "{said}");
            edit(project, "tacenda.toml", "m     = 2", "m     = 3");
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "R204",
        advised: "tacenda new --name NAME",
        tried: Shown(|project, code| {
            edit(project, "tacenda.toml", "m     = 2", "m     = 3");
            project.ok(&PUBLISH);
            edit(project, "tacenda.toml", "m     = 3", "m     = 2");
            project.fails(&NEXT, 2, code);
            project.fails(&["new", "--yes"], 2, "U201");
            project.fails(&["new", "--name", "ward-two"], 6, "U601");
            project.ok(&["new", "--name", "ward-two", "--yes"]);
            project.ok(&NEXT);
            assert!(project.file("releases/ward-two/r0001").is_dir());
            let old = project.file("earlier/ward-stays").display().to_string();
            project.ok(&["-C", &old, "verify"]);
            assert!(project.ok(&["-C", &old, "log"]).contains("ward-stays"));
            let both = ["earlier/ward-stays/releases/ward-stays/r0001", "releases/ward-two/r0001"];
            let audit = project.run(&["audit", both[0], both[1]]);
            // Both are read and judged, without the tables.
            assert!([0, 1, 6].contains(&audit.code), "{}{}", audit.stdout, audit.stderr);
            let said = audit.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("found in 2 releases") && !said.contains("as promised"), "{said}");
        }),
    },
    Advice {
        code: "R203",
        advised: "change series.name back, or set the old series aside",
        tried: Steps(&[
            Runs(&PUBLISH),
            Policy("\"ward-stays\"", "\"ward-two\""),
            Fails(&NEXT, 2),
            Runs(&["new", "--name", "ward-two", "--yes"]),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "R411",
        advised: "set max_share to the number",
        tried: Shown(|project, code| {
            edit(project, "tacenda.toml", "[counterfeits]\nmax_share = 0.5", "[counterfeits]\nmax_share = 0.0");
            project.ok(&PUBLISH);
            // Everybody with one illness leaves, and nobody comes.
            let table = project.read("q1.csv");
            let without_flu: Vec<&str> = table.lines().filter(|line| !line.ends_with(",flu")).collect();
            project.write("q2.csv", &without_flu.join("\n"));
            let said = project.fails(&NEXT, 4, code).stderr;
            let share = advised_number(&said);
            edit(project, "tacenda.toml", "max_share = 0.0", &format!("max_share = {share}"));
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "R412",
        advised: "set max_share to the number",
        tried: Shown(|project, code| {
            edit(project, "tacenda.toml", "[withheld]\nmax_share = 0.5", "[withheld]\nmax_share = 0.0");
            edit(project, "tacenda.toml", "m     = 2", "m     = 2\non_ineligible = \"defer\"");
            make_uneven(project);
            let said = project.fails(&PUBLISH, 4, code).stderr;
            let share = advised_number(&said);
            edit(project, "tacenda.toml", "max_share = 0.0", &format!("max_share = {share}"));
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "R422",
        advised: "let the surplus wait: on_ineligible = \"defer\"",
        tried: Shown(|project, code| {
            make_uneven(project);
            project.fails(&PUBLISH, 4, code);
            let tried = project.fails(&["check", "q1.csv"], 4, code).stderr;
            assert!(tried.contains("40 of 60 people have one sensitive value"), "{tried}");
            assert!(tried.contains("on_ineligible = \"defer\"") && tried.contains("people withheld"), "{tried}");
            edit(project, "tacenda.toml", "m     = 2", "m     = 2\non_ineligible = \"defer\"");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "R422",
        advised: "after a release, where m cannot be lowered: let the surplus wait",
        tried: Shown(|project, code| {
            project.ok(&PUBLISH);
            let alike: String = (0..20).map(|n| format!("new{n},Name {n},{},F,flu\n", 20 + n)).collect();
            project.write("q2.csv", &(project.read("q1.csv").trim_end().to_string() + "\n" + &alike));
            let said = project.fails(&NEXT, 4, code).stderr;
            let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(said.contains("before the first release, m can be lowered"), "{said}");
            edit(project, "tacenda.toml", "m     = 2", "m     = 2\non_ineligible = \"defer\"");
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "R424",
        advised: "on_delete = \"withhold\"",
        tried: Shown(|project, code| {
            edit(
                project,
                "tacenda.toml",
                "model = \"m-invariance\"\nm     = 2",
                "model = \"incremental-k-anonymity\"\nk     = 3",
            );
            project.ok(&PUBLISH);
            // One person leaves; a group that loses somebody is withheld.
            project.write("q2.csv", &patients(1, 60));
            project.fails(&NEXT, 4, code);
            edit(project, "tacenda.toml", "k     = 3", "k     = 3\non_delete = \"withhold\"");
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "R601",
        advised: "accept_series_risk = \"your reason\"",
        tried: Steps(&[
            Policy("model = \"m-invariance\"\nm     = 2", "model = \"k-anonymity\"\nk     = 3"),
            Runs(&PUBLISH),
            Fails(&NEXT, 6),
            Policy("k     = 3", "k     = 3\naccept_series_risk = \"a test\""),
            Runs(&NEXT),
        ]),
    },
    Advice {
        code: "R602",
        advised: "make a new plan",
        tried: Steps(&[
            Runs(&["plan", "q1.csv"]),
            Policy("m     = 2", "m     = 3"),
            Fails(&["publish", "--plan", "tacenda-plan.json", "--yes"], 6),
            Runs(&["plan", "q1.csv"]),
            Runs(&["publish", "--plan", "tacenda-plan.json", "--yes"]),
        ]),
    },
    Advice {
        code: "R608",
        advised: "choose another label",
        tried: Steps(&[
            Runs(&["publish", "q1.csv", "--yes", "--label", "Q1"]),
            Fails(&["publish", "q2.csv", "--yes", "--label", "Q1"], 6),
            Runs(&["publish", "q2.csv", "--yes", "--label", "Q2"]),
        ]),
    },
    Advice {
        code: "R606",
        advised: "accept_counterfeit = \"your reason\"",
        tried: Steps(&[
            Policy("m     = 2", "m     = 2\non_ineligible = \"counterfeit\""),
            Fails(&PUBLISH, 6),
            Policy("m     = 2", "m     = 2\naccept_counterfeit = \"a test\""),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D101",
        advised: "add the column to the table, or take it out of the policy",
        tried: Steps(&[
            Policy("sex        =", "ward = { role = \"quasi\", type = \"category\", values = [\"a\"] }\nsex        ="),
            Fails(&PUBLISH, 3),
            Policy("ward = { role = \"quasi\", type = \"category\", values = [\"a\"] }\n", ""),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D105",
        advised: "say in each row whose it is",
        tried: Steps(&[
            Table("q1.csv", "p3,Name 3", ",Name 3"),
            Fails(&PUBLISH, 3),
            Table("q1.csv", ",Name 3", "p3,Name 3"),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D106",
        advised: "leave a cell empty for a missing value",
        tried: Steps(&[
            Table("q1.csv", "Name 3,39", "Name 3,n/a"),
            Fails(&PUBLISH, 3),
            Table("q1.csv", "Name 3,n/a", "Name 3,"),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D108",
        advised: "give the format in which dates are written",
        tried: Shown(|project, code| {
            with_second_row(project);
            for (from, to) in [("2025-01-01", "01.01.2025"), ("2025-06-01", "01.06.2025")] {
                project.write("q1.csv", &project.read("q1.csv").replace(from, to));
            }
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"latest\"\norder = \"seen\"\n[promise]");
            project.fails(&PUBLISH, 3, code);
            edit(project, "tacenda.toml", "type = \"date\"", "type = \"date\", format = \"DD.MM.YYYY\"");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "D113",
        advised: "put quotes around cells that hold delimiters",
        tried: Steps(&[
            Table("q1.csv", "Name 3", "Name, 3"),
            Fails(&PUBLISH, 3),
            Table("q1.csv", "Name, 3", "\"Name, 3\""),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "D136",
        advised: "set rows = \"combine\" under [person]",
        tried: Shown(|project, code| {
            with_second_row(project);
            edit(project, "q1.csv", "2025-06-01", "2025-01-01");
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"latest\"\norder = \"seen\"\n[promise]");
            project.fails(&PUBLISH, 3, code);
            edit(project, "tacenda.toml", "rows = \"latest\"\norder = \"seen\"", "rows = \"combine\"");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "D138",
        advised: "write the value without +",
        tried: Shown(|project, code| {
            with_second_row(project);
            edit(project, "q1.csv", "39,M,gout", "39,M,HIV+");
            edit(project, "tacenda.toml", "[promise]", "[person]\nrows = \"combine\"\n[promise]");
            project.fails(&PUBLISH, 3, code);
            edit(project, "q1.csv", "HIV+", "HIV positive");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "R201",
        advised: "choose another with --label",
        tried: Steps(&[
            Fails(&["publish", "q1.csv", "--yes", "--label", "7"], 2),
            Runs(&["publish", "q1.csv", "--yes", "--label", "spring"]),
        ]),
    },
    Advice {
        code: "R208",
        advised: "tacenda publish DATA makes the first one",
        tried: Steps(&[Fails(&["report"], 2), Runs(&PUBLISH), Runs(&["report", "-o", "report.html"])]),
    },
    Advice {
        code: "R422",
        advised: "lower m before the first release",
        tried: Steps(&[
            Policy("m     = 2", "m     = 9"),
            Fails(&PUBLISH, 4),
            Policy("m     = 9", "m     = 4"),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "R425",
        advised: "start a series with m-invariance, which allows changes",
        tried: Shown(|project, code| {
            let is_many = "model = \"m-invariance\"\nm     = 2";
            edit(project, "tacenda.toml", is_many, "model = \"incremental-k-anonymity\"\nk     = 3");
            project.ok(&PUBLISH);
            project.write("q2.csv", &project.read("q1.csv").replace("p3,Name 3,39", "p3,Name 3,40"));
            project.fails(&NEXT, 4, code);
            project.ok(&["new", "--name", "ward-two", "--yes"]);
            edit(project, "tacenda.toml", "model = \"incremental-k-anonymity\"\nk     = 3", is_many);
            project.ok(&PUBLISH);
            project.ok(&NEXT);
        }),
    },
    Advice {
        code: "R610",
        advised: "put spreadsheet_safe = false under [output]",
        tried: Steps(&[
            Table("q1.csv", "18,F,flu", "18,F,=flu()"),
            Fails(&PUBLISH, 6),
            Policy("[promise]", "[output]\nspreadsheet_safe = false\n[promise]"),
            Runs(&PUBLISH),
        ]),
    },
    Advice {
        code: "L515",
        advised: "begin another series: give it another name",
        tried: Shown(|project, code| {
            project.ok(&PUBLISH);
            std::fs::remove_dir_all(project.file(".tacenda")).unwrap();
            std::fs::remove_dir_all(project.file("releases")).unwrap();
            project.fails(&PUBLISH, 5, code);
            edit(project, "tacenda.toml", "\"ward-stays\"", "\"ward-two\"");
            project.ok(&PUBLISH);
        }),
    },
    Advice {
        code: "U202",
        advised: "tacenda log lists them",
        tried: Shown(|project, code| {
            project.ok(&["publish", "q1.csv", "--yes", "--label", "spring"]);
            project.fails(&["show", "autumn"], 2, code);
            assert!(project.ok(&["log"]).contains("spring"));
            project.ok(&["show", "spring"]);
        }),
    },
    Advice {
        code: "U203",
        advised: "a plan file is what tacenda plan writes",
        tried: Shown(|project, code| {
            project.write("plan.json", "{}");
            project.fails(&["publish", "--plan", "plan.json", "--yes"], 2, code);
            project.ok(&["plan", "q1.csv", "--plan", "made.json"]);
            project.ok(&["publish", "--plan", "made.json", "--yes"]);
        }),
    },
    Advice {
        code: "U204",
        advised: "set it aside with tacenda new, move tacenda.toml away",
        tried: Shown(|project, code| {
            project.ok(&PUBLISH);
            project.fails(&["init", "q1.csv", "--yes"], 2, code);
            project.ok(&["new", "--name", "ward-two", "--yes"]);
            std::fs::rename(project.file("tacenda.toml"), project.file("old.toml")).unwrap();
            project.ok(&["init", "q1.csv", "--yes", "--name", "ward-two"]);
            project.ok(&PUBLISH);
        }),
    },
    Advice { code: "U601", advised: "use --yes", tried: Steps(&[Fails(&["publish", "q1.csv"], 6), Runs(&PUBLISH)]) },
];

#[test]
fn the_advice_of_errors_works() {
    for Advice { code, advised, tried } in TRIED {
        println!("{code}: {advised}");
        let project = hospital();
        match tried {
            Shown(tried) => tried(&project, code),
            Steps(steps) => steps.iter().for_each(|step| match step {
                Policy(from, to) => edit(&project, "tacenda.toml", from, to),
                Table(name, from, to) => edit(&project, name, from, to),
                Runs(words) => drop(project.ok(words)),
                Fails(words, exit) => drop(project.fails(words, *exit, code)),
            }),
        }
    }
}

/// A false start without a release keeps its name; a second run finds nothing to set aside.
#[test]
fn a_false_start_is_set_aside_whole() {
    let project = hospital();
    project.fails(&["new", "--yes"], 2, "U204");
    project.ok(&["plan", "q1.csv"]);
    let before = project.read("tacenda.toml");
    project.ok(&["new", "--yes"]);
    assert_eq!(project.read("tacenda.toml"), before);
    assert!(project.file("earlier/ward-stays/.tacenda/ledger.jsonl").exists());
    project.ok(&PUBLISH);
    project.fails(&["new", "--yes", "--name", "ward-stays"], 2, "U201");
    project.fails(&["new", "--yes", "--name", "Ward 2"], 2, "U201");
    project.ok(&["new", "--yes", "--name", "ward-2"]);
    assert!(project.file("earlier/ward-stays-2/releases/ward-stays/r0001").is_dir());
    assert!(project.read("tacenda.toml").contains("name    = \"ward-2\""));
}

/// Series of the same people with other columns are audited together.
#[test]
fn two_series_of_the_same_people_are_audited_together() {
    let project = hospital();
    project.ok(&PUBLISH);
    let other = TestProject::with(&[
        (
            "tacenda.toml",
            &POLICY.replace("ward-stays", "pharmacy").replace(
                "diagnosis  =",
                "sector = { role = \"quasi\", type = \"category\", values = [\"a\", \"b\"] }\ndiagnosis  =",
            ),
        ),
        ("q1.csv", &{
            let table = patients(0, 60);
            let mut lines = table.lines();
            let header = lines.next().unwrap().replace("diagnosis", "sector,diagnosis");
            let rows: Vec<String> = lines
                .map(|line| {
                    line.rsplit_once(',')
                        .map(|(front, last)| format!("{front},{},{last}", ["a", "b"][line.len() % 2]))
                        .unwrap()
                })
                .collect();
            format!("{header}\n{}\n", rows.join("\n"))
        }),
    ]);
    other.ok(&PUBLISH);
    let folder = other.file("releases/pharmacy/r0001").display().to_string();
    let ended = project.run(&["audit", "releases/ward-stays/r0001", &folder]);
    assert!([0, 1, 6].contains(&ended.code), "{}\n{}", ended.stdout, ended.stderr);
    let said: String = format!("{}{}", ended.stdout, ended.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    // What one series promises is not taken for granted in both.
    assert!(said.contains("no promise of one series covers them together"), "{said}");
    assert!(!said.contains("as promised") && !said.contains("Promise (m-invariance)"), "{said}");
    assert!(said.contains("ward-stays r0001") && said.contains("pharmacy r0001"), "{said}");
}

/// What a forecast says helps, helps: with the limit that it names, all releases that were looked at are let through.
#[test]
fn the_limit_that_a_forecast_names_holds() {
    let project = hospital();
    project.write("q1.csv", &patients(0, 240));
    // With few arrivals some are too uneven; they wait.
    edit(&project, "tacenda.toml", "m     = 2", "m     = 2\non_ineligible = \"defer\"");
    edit(&project, "tacenda.toml", "[counterfeits]\nmax_share = 0.5", "[counterfeits]\nmax_share = 0.0");
    let foreseen = || -> serde_json::Value {
        let said = project.ok(&["check", "q1.csv", "--what-if", "m=3", "--format", "json"]);
        serde_json::from_str::<serde_json::Value>(&said).unwrap()["what_if"][0]["forecast"].clone()
    };
    let before = foreseen();
    let all = before["releases"].as_array().unwrap().len() as u64;
    assert!(all > 0 && before["within"].as_u64().unwrap() < all, "{before}");
    let helps = before["helps"].as_str().unwrap_or_else(|| panic!("{before}"));
    let share = helps.strip_prefix("max_share = ").and_then(|rest| rest.split(' ').next()).unwrap();
    assert!(helps.ends_with("under [counterfeits]"), "{helps}");
    edit(&project, "tacenda.toml", "max_share = 0.0", &format!("max_share = {share}"));
    let after = foreseen();
    assert_eq!(
        (after["within"].as_u64(), after["within_most"].as_u64(), &after["helps"]),
        (Some(all), Some(all), &serde_json::Value::Null)
    );
    let text = project.ok(&["check", "q1.csv", "--what-if", "m=2..3"]);
    assert!(text.contains("limits hold") && text.contains(&format!("{all} of {all}")), "{text}");
}
