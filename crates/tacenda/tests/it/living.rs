//! A series that lives: columns gain values, retries publish nothing twice, and what left can be checked without the vault.

use std::fs;
use std::path::{Path, PathBuf};
use tacenda::audit::{Budget, VerdictWord};
use tacenda::ingest::Given;
use tacenda::publish::{ProjectError, ReportRequest};
use tacenda::report::{Decision, Edition};
use tacenda::use_cases;
use tacenda::use_cases::{
    AuditRequest, ProjectFolder, PublishReport, ReleaseRequest, SubjectRequest, UseCaseError, VerifyRequest,
};

/// A stream of made-up numbers.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// A project folder and its table.
struct Lab {
    folder: tempfile::TempDir,
}

impl Lab {
    fn new() -> Lab {
        Lab { folder: tempfile::tempdir().unwrap() }
    }

    fn root(&self) -> &Path {
        self.folder.path()
    }

    fn policy(&self, columns: &Columns, promise: &str) {
        fs::write(self.root().join("place.csv"), columns.tree.join("\n") + "\n").unwrap();
        let Columns { domain: (lo, hi), races, missing, unknown, .. } = columns;
        let races: Vec<String> = races.iter().map(|race| format!("{race:?}")).collect();
        let text = format!(
            "policy = 1\n[series]\nname = \"living\"\n[columns]\nid = {{ role = \"identifier\" }}\n\
             age = {{ role = \"quasi\", type = \"integer\", domain = [{lo}, {hi}], grid = 5, missing = \"{missing}\" }}\n\
             race = {{ role = \"quasi\", type = \"category\", values = [{}], missing = \"{missing}\"{unknown} }}\n\
             place = {{ role = \"quasi\", type = \"category\", hierarchy = \"place.csv\", missing = \"{missing}\" }}\n\
             illness = {{ role = \"sensitive\", type = \"category\" }}\n[promise]\n{promise}\n\
             [counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n",
            races.join(", ")
        );
        fs::write(self.root().join("tacenda.toml"), text).unwrap();
    }

    fn table(&self, rows: &[String]) {
        let text = format!("id,age,race,place,illness\n{}\n", rows.join("\n"));
        fs::write(self.root().join("table.csv"), text).unwrap();
    }

    fn request(&self) -> ReleaseRequest {
        ReleaseRequest {
            project: ProjectFolder { root: self.root().into(), ..ProjectFolder::default() },
            data: Some(Given::Path(self.root().join("table.csv"))),
            ..ReleaseRequest::default()
        }
    }

    fn publish(&self, label: Option<&str>) -> Result<PublishReport, UseCaseError> {
        let label = label.map(String::from);
        ReleaseRequest { label, ..self.request() }.prepare(None, &|_, _| {})?.publish(&|_, _| {})
    }

    fn folder_of(&self, release: u32) -> PathBuf {
        self.root().join(format!("releases/living/r{release:04}"))
    }

    fn cells(&self, release: u32) -> Vec<Vec<String>> {
        let text = fs::read_to_string(self.folder_of(release).join(format!("living-r{release:04}.csv"))).unwrap();
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect()
    }
}

/// What the policy says of the columns.
#[derive(Clone)]
struct Columns {
    domain: (i64, i64),
    races: Vec<String>,
    tree: Vec<String>,
    missing: &'static str,
    unknown: &'static str,
}

impl Columns {
    fn first() -> Columns {
        Columns {
            domain: (10, 80),
            races: ["A", "B", "other"].map(String::from).into(),
            tree: ["11;1x;*", "12;1x;*", "21;2x;*", "22;2x;*"].map(String::from).into(),
            missing: "error",
            unknown: "",
        }
    }

    /// Adds something somewhere; and the order of files says nothing.
    fn amend(&mut self, round: u64, dice: &mut Dice) {
        if dice.below(2) == 0 {
            let steps = [0, 5, 10][dice.below(3) as usize];
            self.domain = (self.domain.0 - steps, self.domain.1 + 5 * dice.below(3) as i64);
        }
        if dice.below(2) == 0 {
            let at = dice.below(self.races.len() as u64 + 1) as usize;
            self.races.insert(at, format!("N{round}"));
        }
        if dice.below(2) == 0 {
            let parent = ["1x", "2x", "3x"][dice.below(3) as usize];
            let at = dice.below(self.tree.len() as u64 + 1) as usize;
            self.tree.insert(at, format!("{}9{round};{parent};*", &parent[..1]));
            // A node's leaves stand together in the file.
            self.tree.sort_by_key(|line| line[line.find(';').unwrap()..].to_string());
        }
        if dice.below(4) == 0 {
            self.missing = "value";
        }
    }

    /// Somebody with values of these columns.
    fn person(&self, id: u64, dice: &mut Dice) -> String {
        let age = self.domain.0 + dice.below((self.domain.1 - self.domain.0) as u64) as i64;
        let race = &self.races[dice.below(self.races.len() as u64) as usize];
        let leaf = &self.tree[dice.below(self.tree.len() as u64) as usize];
        let place = &leaf[..leaf.find(';').unwrap()];
        let empty = self.missing == "value" && dice.below(6) == 0;
        let race = if empty { "" } else { race };
        format!("{id},{age},{race},{place},{}", ["flu", "cold", "mumps", "gout", "rash"][dice.below(5) as usize])
    }
}

const PROMISES: [&str; 4] = [
    "model = \"m-invariance\"\nm = 2\nk = 2",
    "model = \"incremental-k-anonymity\"\nk = 3",
    "model = \"k-anonymity\"\nk = 3\naccept_series_risk = \"a test\"",
    "model = \"incremental-l-diversity\"\nl = 2",
];

/// How many releases were audited. Nothing that breaks a promise may be found.
fn audit(request: SubjectRequest) -> usize {
    let audit = AuditRequest { subject: request, ..AuditRequest::default() };
    let report = audit.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report;
    let broken: Vec<&str> =
        report.findings.iter().map(|finding| &*finding.code).filter(|code| code.starts_with("A6")).collect();
    assert!(broken.is_empty(), "{broken:?}");
    report.releases.len()
}

/// Whatever a policy gains, the next release passes the gate, the earlier ones can be read and audited together with it, and
/// the ledger says what was gained.
#[test]
fn any_promise_takes_amendments() {
    let mut amended = 0;
    for (number, promise) in PROMISES.iter().enumerate() {
        for seed in 0..6 {
            let mut dice = Dice(seed * 31 + number as u64);
            let (lab, mut columns) = (Lab::new(), Columns::first());
            let mut people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
            for round in 0..4u64 {
                if round > 0 {
                    columns.amend(round, &mut dice);
                    people.extend((0..20).map(|id| columns.person(100 * round + id, &mut dice)));
                }
                lab.policy(&columns, promise);
                lab.table(&people);
                let label = format!("round {round}");
                lab.publish(Some(&label)).unwrap_or_else(|error| panic!("{promise} seed {seed} {label}: {error}"));
            }
            let log = use_cases::log(lab.root()).unwrap();
            amended += log.events.iter().map(|event| event.amended.len()).sum::<usize>();
            assert!(use_cases::verify(&VerifyRequest::of(lab.root()), &|_, _| {}).unwrap().whole);
            let project = SubjectRequest { project: lab.request().project, ..SubjectRequest::default() };
            assert_eq!(audit(project), 4);
            let folders = (1..=4).map(|release| Given::Path(lab.folder_of(release))).collect();
            assert_eq!(audit(SubjectRequest { releases: folders, ..SubjectRequest::default() }), 4);
        }
    }
    assert!(amended > 80, "{amended}");
}

fn refusal(result: Result<PublishReport, UseCaseError>) -> String {
    let error = result.expect_err("this is refused");
    assert_eq!(error.code(), "R204", "{error}");
    error.to_string()
}

#[test]
fn what_is_no_growth_is_refused_with_its_reason() {
    let (lab, first) = (Lab::new(), Columns::first());
    let mut dice = Dice(5);
    let people: Vec<String> = (0..60).map(|id| first.person(id, &mut dice)).collect();
    lab.policy(&first, PROMISES[0]);
    lab.table(&people);
    lab.publish(None).unwrap();
    let refused = |change: &dyn Fn(&mut Columns)| {
        let mut columns = first.clone();
        change(&mut columns);
        lab.policy(&columns, PROMISES[0]);
        refusal(lab.publish(Some("next")))
    };
    assert!(refused(&|columns| columns.domain.1 = 75).contains("no longer holds"));
    assert!(refused(&|columns| columns.races.truncate(2)).contains("column race"));
    assert!(refused(&|columns| columns.tree[1] = "12;2x;*".into()).contains("has another place"));
    // Without cohorts a new value would tell who came later; so would values that are not listed.
    let unlisted = Columns { unknown: ", unknown = \"other\"", ..first.clone() };
    let lab = Lab::new();
    let cells = "model = \"incremental-k-anonymity\"\nk = 3\ncohorts = false";
    lab.policy(&first, cells);
    lab.table(&people);
    lab.publish(None).unwrap();
    let mut columns = first.clone();
    columns.races.push("C".into());
    for columns in [columns, unlisted] {
        lab.policy(&columns, cells);
        assert!(refusal(lab.publish(Some("next"))).contains("who arrived later"));
    }
}

/// People who were read as `other` stay there when their value is listed later; who comes later is read as listed.
#[test]
fn unknown_values_are_other_and_stay_other() {
    let lab = Lab::new();
    let mut columns = Columns { unknown: ", unknown = \"other\"", ..Columns::first() };
    let person = |id: u32, race: &str| format!("{id},{},{race},11,{}", 20 + id % 40, ["flu", "cold"][id as usize % 2]);
    let mut people: Vec<String> = (0..12).map(|id| person(id, "Z")).chain((12..40).map(|id| person(id, "A"))).collect();
    lab.policy(&columns, PROMISES[1]);
    lab.table(&people);
    let first = lab.publish(None).unwrap().summary.unwrap();
    assert!(first.notes.iter().any(|note| note == "column race: 12 rows are read as other"), "{:?}", first.notes);
    columns.races.push("Z".into());
    lab.policy(&columns, PROMISES[1]);
    people.extend((40..60).map(|id| person(id, "Z")));
    lab.table(&people);
    let second = lab.publish(None).unwrap().summary.unwrap();
    assert!(second.notes.iter().any(|note| note == "amended: column race has 1 new value"), "{:?}", second.notes);
    lab.table(&people);
    people.push(person(60, "Z"));
    lab.table(&people);
    // Once more, without an amendment: they still stay.
    lab.publish(None).unwrap();
    // Who was first seen when the value was listed has it, though they had another unlisted value before; who was away, too.
    let lab_of_changes = Lab::new();
    other_only_as_long_as_it_is_true(&lab_of_changes);
    let races = |release: u32, race: &str| lab.cells(release).iter().filter(|row| row[2] == race).count();
    assert_eq!((races(1, "other"), races(2, "other"), races(3, "other")), (12, 12, 12));
    assert_eq!((races(2, "Z"), races(3, "Z")), (20, 20));
}

/// A series in which people change and return: `other` is said only of values that were not listed when they were first seen.
fn other_only_as_long_as_it_is_true(lab: &Lab) {
    let mut columns = Columns { unknown: ", unknown = \"other\"", ..Columns::first() };
    let promise = "model = \"k-anonymity\"\nk = 2\naccept_series_risk = \"a test\"";
    let person = |id: u32, race: &str| format!("{id},30,{race},11,{}", ["flu", "cold"][id as usize % 2]);
    let table = |early: &str, late: Option<&str>, away: Option<&str>| -> Vec<String> {
        let mut rows: Vec<String> = (0..10).map(|id| person(id, "A")).collect();
        rows.extend((10..14).map(|id| person(id, early)));
        rows.extend(late.iter().flat_map(|race| (20..24).map(|id| person(id, race)).collect::<Vec<_>>()));
        rows.extend(away.iter().flat_map(|race| (30..34).map(|id| person(id, race)).collect::<Vec<_>>()));
        rows
    };
    let publish = |columns: &Columns, rows: &[String], label: &str| {
        lab.policy(columns, promise);
        lab.table(rows);
        lab.publish(Some(label)).unwrap();
    };
    publish(&columns, &table("Z", None, Some("Z")), "Q1");
    columns.races.push("Z".into());
    publish(&columns, &table("Z", Some("Y"), None), "Q2");
    publish(&columns, &table("Z", Some("Z"), Some("Z")), "Q3");
    let races = |release: u32, race: &str| lab.cells(release).iter().filter(|row| row[2] == race).count();
    assert_eq!((races(1, "other"), races(2, "other")), (8, 8));
    assert_eq!((races(3, "other"), races(3, "Z")), (4, 8), "those of the first release, and nobody else");
}

/// Changes are about people who are there already, so a retry cannot read them again.
#[test]
fn changes_are_published_once() {
    let (lab, columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(21);
    let people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, PROMISES[0]);
    lab.table(&people);
    lab.publish(Some("Q1")).unwrap();
    let changes: Vec<String> = (100..120).map(|id| format!("insert,{}", columns.person(id, &mut dice))).collect();
    let write = |changes: &[String]| {
        let text = format!("op,id,age,race,place,illness\n{}\n", changes.join("\n"));
        fs::write(lab.root().join("table.csv"), text).unwrap();
    };
    let publish = || {
        let request = ReleaseRequest { delta: true, label: Some("Q2".into()), ..lab.request() };
        request.prepare(None, &|_, _| {})?.publish(&|_, _| {})
    };
    write(&changes);
    assert!(!publish().unwrap().already);
    assert!(publish().unwrap().already);
    write(&changes[..10]);
    assert_eq!(publish().err().unwrap().code(), "R608");
}

/// Codes move when a tree gains a leaf in its middle: the table of an earlier release is known all the same.
#[test]
fn a_retry_after_an_amendment_is_a_retry() {
    let (lab, mut columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(12);
    let people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, PROMISES[0]);
    lab.table(&people);
    lab.publish(Some("Q1")).unwrap();
    columns.tree.insert(1, "115;1x;*".into());
    columns.domain = (0, 120);
    lab.policy(&columns, PROMISES[0]);
    assert!(lab.publish(Some("Q1")).unwrap().already);
    assert!(lab.publish(None).unwrap().already);
    // Of two plans from one state of the ledger, the second is out of date, and not already published.
    let mut plans = Vec::new();
    for (name, from) in [("a", 100), ("b", 200)] {
        let more = (from..from + 20).map(|id| columns.person(id, &mut dice));
        lab.table(&people.iter().cloned().chain(more).collect::<Vec<_>>());
        let file = lab.root().join(format!("{name}.json"));
        plans.push(use_cases::plan(lab.request(), Some(file), &|_, _| {}).unwrap().plan);
    }
    let planned =
        |plan: &PathBuf| ReleaseRequest { data: None, ..lab.request() }.prepare(Some(plan.clone()), &|_, _| {});
    assert!(!planned(&plans[1]).unwrap().publish(&|_, _| {}).unwrap().already);
    assert!(planned(&plans[1]).unwrap().publish(&|_, _| {}).unwrap().already);
    assert_eq!(planned(&plans[0]).err().unwrap().code(), "R602");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(fs::metadata(&plans[0]).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert!(lab.root().join(".tacenda/.gitignore").exists());
}

/// The table of any earlier release is known, not only that of the last one: even where a value is listed since that was read as
/// other then, and where the rows have another order.
#[test]
fn an_old_release_is_not_published_again() {
    let (lab, mut columns) = (Lab::new(), Columns::first());
    columns.unknown = ", unknown = \"other\"";
    let mut dice = Dice(17);
    let mut tables: Vec<Vec<String>> = Vec::new();
    for quarter in 0..4 {
        let people = (quarter * 20..quarter * 20 + 80).map(|id| columns.person(id, &mut dice));
        let table: Vec<String> = people.collect();
        tables.push(
            table.into_iter().enumerate().map(|(row, one)| if row % 5 == 0 { unlisted(&one) } else { one }).collect(),
        );
        if quarter == 3 {
            columns.races.push("Z".into());
        }
        lab.policy(&columns, PROMISES[0]);
        lab.table(&tables[quarter as usize]);
        assert!(!lab.publish(Some(&format!("Q{quarter}"))).unwrap().already);
    }
    for (quarter, table) in tables.iter().enumerate() {
        lab.table(table);
        let again = lab.publish(Some(&format!("Q{quarter}"))).unwrap();
        assert_eq!((again.already, again.release), (true, quarter as u32 + 1));
        let reversed: Vec<String> = table.iter().rev().cloned().collect();
        lab.table(&reversed);
        assert!(lab.publish(Some(&format!("Q{quarter}"))).unwrap().already, "{quarter}");
        lab.table(&tables[(quarter + 1) % 4]);
        assert_eq!(lab.publish(Some(&format!("Q{quarter}"))).err().unwrap().code(), "R608");
    }
    assert_eq!(use_cases::log(lab.root()).unwrap().events.len(), 5);
}

/// The same person with a race that the policy does not list at first.
fn unlisted(person: &str) -> String {
    let cells: Vec<&str> = person.split(',').collect();
    [&cells[..2], &["Z"], &cells[3..]].concat().join(",")
}

#[test]
fn the_same_table_is_published_once() {
    let (lab, columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(9);
    let mut people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, PROMISES[0]);
    lab.table(&people);
    assert!(!lab.publish(Some("Q1")).unwrap().already);
    people.reverse();
    lab.table(&people);
    // Retried with its label, and without one: nothing happens, whatever the order of the rows.
    for label in [Some("Q1"), None] {
        let again = lab.publish(label).unwrap();
        assert_eq!((again.already, again.release, again.label.as_str()), (true, 1, "Q1"));
    }
    assert_eq!(use_cases::log(lab.root()).unwrap().events.len(), 2);
    // The same table as a release of its own has to be asked for.
    assert!(!lab.publish(Some("Q2")).unwrap().already);
    people.extend((100..120).map(|id| columns.person(id, &mut dice)));
    lab.table(&people);
    let other = lab.publish(Some("Q1")).err().unwrap();
    assert_eq!((other.code(), other.exit_code()), ("R608", 6), "{other}");
    assert!(matches!(other, UseCaseError::Project(ProjectError::OtherData { number: 1, .. })));
    assert!(!lab.publish(None).unwrap().already);
    // A plan that was published is published already.
    people.extend((200..220).map(|id| columns.person(id, &mut dice)));
    lab.table(&people);
    let plan = use_cases::plan(lab.request(), None, &|_, _| {}).unwrap().plan;
    let planned = || ReleaseRequest { data: None, ..lab.request() }.prepare(Some(plan.clone()), &|_, _| {});
    assert!(!planned().unwrap().publish(&|_, _| {}).unwrap().already);
    assert!(planned().unwrap().publish(&|_, _| {}).unwrap().already);
}

/// Too many worlds to count are no reason for no answer: the theorem of the promise answers, if the tables are those behind
/// the releases.
#[test]
fn a_series_of_any_size_gets_its_answer() {
    let (lab, columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(8);
    let mut people: Vec<String> = (0..900).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, PROMISES[0]);
    let mut tables = Vec::new();
    for label in ["Q1", "Q2"] {
        lab.table(&people);
        lab.publish(Some(label)).unwrap();
        let kept = lab.root().join(format!("{label}.csv"));
        fs::copy(lab.root().join("table.csv"), &kept).unwrap();
        tables.push(kept);
        people.drain(..100);
        people.extend((1000..1100).map(|id| columns.person(id, &mut dice)));
    }
    let checks = |tables: &[PathBuf]| {
        let truth = tables.iter().cloned().map(Given::Path).collect();
        let subject = SubjectRequest { project: lab.request().project, truth, ..SubjectRequest::default() };
        let audit = AuditRequest { subject, ..AuditRequest::default() };
        audit.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report
    };
    let report = checks(&tables);
    for name in ["candidates", "posterior"] {
        let check = report.checks.iter().find(|check| check.check == name).unwrap();
        assert_eq!(check.verdict, VerdictWord::Pass, "{name}: {:?}", check.why);
    }
    let posterior = report.checks.iter().find(|check| check.check == "posterior").unwrap();
    assert!(posterior.why.as_ref().is_some_and(|why| why.starts_with("by a theorem")), "{:?}", posterior.why);
    assert_eq!(report.verdict.decision, Decision::PassAssuming, "{}", report.verdict.sentence);
    // With another table nobody saw anything, and there is no such answer.
    let text = fs::read_to_string(&tables[0]).unwrap();
    fs::write(&tables[0], text.replacen(",flu", ",cold", 1)).unwrap();
    let report = checks(&tables);
    let posterior = report.checks.iter().find(|check| check.check == "posterior").unwrap();
    assert_eq!(posterior.verdict, VerdictWord::NotAssessed, "{:?}", posterior.why);
}

/// Somebody who waits in one release, and is published before and after it, contradicts nothing: the tables are right.
#[test]
fn who_waited_in_between_contradicts_no_table() {
    let (lab, columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(8);
    let mut people: Vec<String> = (0..900).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, "model = \"m-invariance\"\nm = 3\nk = 2\nsurplus = \"withhold\"");
    let (mut tables, mut withheld) = (Vec::new(), Vec::new());
    for label in ["Q1", "Q2", "Q3"] {
        lab.table(&people);
        let report = lab.publish(Some(label)).unwrap();
        withheld.push(report.summary.unwrap().withheld);
        let kept = lab.root().join(format!("{label}.csv"));
        fs::copy(lab.root().join("table.csv"), &kept).unwrap();
        tables.push(Given::Path(kept));
        if label == "Q1" {
            // Nearly everybody with two of the values leaves: the others have too few beside them.
            let mut stay = 0..;
            people.retain(|row| !(row.ends_with("flu") || row.ends_with("cold")) || stay.next().unwrap() % 12 == 0);
        } else {
            people.extend((1000..1400).map(|id| columns.person(id, &mut dice)));
        }
    }
    assert!(withheld[1] > 0, "nobody waited: {withheld:?}");
    let subject = SubjectRequest { project: lab.request().project, truth: tables, ..SubjectRequest::default() };
    let audit = AuditRequest { subject, ..AuditRequest::default() };
    let report = audit.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report;
    let candidates = report.checks.iter().find(|check| check.check == "candidates").unwrap();
    assert_eq!(candidates.verdict, VerdictWord::Pass, "{:?}", candidates.why);
}

/// A policy file may list its columns in any order, and missing values of a sensitive column are an amendment.
#[test]
fn columns_move_and_take_missing_values() {
    for promise in PROMISES {
        let (lab, columns) = (Lab::new(), Columns::first());
        let mut dice = Dice(3);
        let mut people: Vec<String> = (0..80).map(|id| columns.person(id, &mut dice)).collect();
        lab.policy(&columns, promise);
        lab.table(&people);
        lab.publish(Some("Q1")).unwrap();
        let header = |release: u32| {
            let text = fs::read_to_string(lab.folder_of(release).join(format!("living-r{release:04}.csv"))).unwrap();
            text.lines().next().unwrap().to_string()
        };
        let policy = fs::read_to_string(lab.root().join("tacenda.toml")).unwrap();
        let mut lines: Vec<&str> = policy.lines().collect();
        let at = lines.iter().position(|line| line.starts_with("age")).unwrap();
        lines.swap(at, at + 3);
        let text = lines.join("\n").replace("\"sensitive\",", "\"sensitive\", missing = \"value\",");
        fs::write(lab.root().join("tacenda.toml"), text).unwrap();
        assert!(lab.publish(Some("Q1")).unwrap().already, "{promise}");
        assert!(lab.publish(None).unwrap().already, "{promise}");
        people.extend((100..130).map(|id| columns.person(id, &mut dice)));
        people.extend((200..206).map(|id| format!("{id},40,A,11,")));
        lab.table(&people);
        lab.publish(Some("Q2")).unwrap_or_else(|error| panic!("{promise}: {error}"));
        assert_eq!(header(1), header(2));
        let log = use_cases::log(lab.root()).unwrap();
        let said = serde_json::to_string(&log).unwrap();
        assert!(said.contains("missing values, as a value of their own"), "{promise}: {said}");
        audit(SubjectRequest { project: lab.request().project, ..SubjectRequest::default() });
    }
}

/// The vault knows the order of columns, so nothing is mixed up where releases were moved to another place. What is low
/// stays low, also for people of whom a table of changes says nothing.
#[test]
fn columns_move_where_releases_are_archived() {
    let lab = Lab::new();
    let column = |name: &str| format!("{name} = {{ role = \"quasi\", type = \"integer\", domain = [0, 100] }}\n");
    let policy = |columns: [&str; 2]| {
        let columns = columns.map(column).concat();
        let text = format!(
            "policy = 1\n[series]\nname = \"living\"\n[columns]\nid = {{ role = \"identifier\" }}\n{columns}illness = \
             {{ role = \"sensitive\", type = \"category\" }}\n[promise]\nmodel = \"m-invariance\"\nm = 2\n\
             [counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n"
        );
        fs::write(lab.root().join("tacenda.toml"), text).unwrap();
    };
    let rows = |ids: std::ops::Range<u64>, more: &str| -> String {
        ids.map(|id| format!("{more}{id},{},{},{}\n", id % 50, 50 + id % 50, ["flu", "gout", "rash"][id as usize % 3]))
            .collect()
    };
    policy(["low", "high"]);
    fs::write(lab.root().join("table.csv"), format!("id,low,high,illness\n{}", rows(0..90, ""))).unwrap();
    lab.publish(Some("Q1")).unwrap();
    fs::rename(lab.root().join("releases"), lab.root().join("archive")).unwrap();
    policy(["high", "low"]);
    assert!(lab.publish(None).unwrap().already, "the same table");
    fs::write(lab.root().join("table.csv"), format!("op,id,low,high,illness\n{}", rows(90..120, "I,"))).unwrap();
    let request = ReleaseRequest { delta: true, label: Some("Q2".into()), ..lab.request() };
    request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    let cells = lab.cells(2);
    assert!(cells.len() >= 120);
    for row in &cells {
        let end = row[1].trim_end_matches([')', ']']).rsplit(',').next().unwrap().trim_start_matches('[');
        assert!(end.parse::<u32>().unwrap() <= 50, "{row:?}");
    }
}

/// A view has some of the columns only; its project keeps the order of all.
#[test]
fn columns_of_views_move() {
    let lab = Lab::new();
    let column = |name: &str| format!("{name} = {{ role = \"quasi\", type = \"integer\", domain = [0, 100] }}\n");
    let policy = |columns: [&str; 3]| {
        let columns = columns.map(column).concat();
        let text = format!(
            "policy = 1\n[series]\nname = \"living\"\n[columns]\nid = {{ role = \"identifier\" }}\n{columns}illness = \
             {{ role = \"sensitive\", type = \"category\", values = [\"flu\", \"gout\", \"rash\"] }}\n[promise]\nmodel = \"xy-anonymity\"\n\
             k = 3\nx = [\"a\", \"b\"]\ny = [\"illness\"]\n[views.one]\ncolumns = [\"a\", \"b\"]\n\
             recipients = [\"r\"]\n[views.two]\ncolumns = [\"c\", \"illness\"]\nrecipients = [\"r\"]\n"
        );
        fs::write(lab.root().join("tacenda.toml"), text).unwrap();
    };
    let row = |id: u64| {
        format!("{id},{},{},{},{}\n", id % 40, 50 + id % 40, id % 90, ["flu", "gout", "rash"][id as usize % 3])
    };
    policy(["a", "b", "c"]);
    fs::write(lab.root().join("table.csv"), format!("id,a,b,c,illness\n{}", (0..90).map(row).collect::<String>()))
        .unwrap();
    let view = |name: &str| ReleaseRequest { view: Some(name.into()), ..lab.request() };
    view("one").prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    policy(["b", "c", "a"]);
    view("two").prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
}

/// A release that was withdrawn is told of, and stays counted.
#[test]
fn a_release_is_withdrawn_once_and_recipients_are_told() {
    let (lab, columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(4);
    let mut people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
    lab.policy(&columns, PROMISES[0]);
    lab.table(&people);
    lab.publish(Some("Q1")).unwrap();
    let project = lab.request().project;
    assert_eq!(use_cases::retract(&project, "Q7", "a mistake").unwrap_err().code(), "U202");
    assert_eq!(use_cases::retract(&project, "Q1", " ").unwrap_err().code(), "U201");
    // Whatever becomes of the policy file.
    fs::write(lab.root().join("tacenda.toml"), "not a policy").unwrap();
    let first = use_cases::retract(&project, "Q1", "ages were wrong").unwrap();
    assert_eq!((first.release, first.already), (1, false));
    assert!(use_cases::retract(&project, "1", "again").unwrap().already);
    people.extend((100..130).map(|id| columns.person(id, &mut dice)));
    lab.policy(&columns, PROMISES[0]);
    lab.table(&people);
    lab.publish(Some("Q2")).unwrap();
    let page = fs::read_to_string(lab.folder_of(2).join("report.html")).unwrap();
    assert!(page.contains("ages were wrong"), "recipients read it on their page, too");
    assert!(use_cases::show(lab.root(), Some("Q1"), &|_, _| {}).unwrap().withdrawn.is_some());
    let readme = fs::read_to_string(lab.folder_of(2).join("README.md")).unwrap();
    assert!(readme.contains("**Withdrawn.** Release 1 was withdrawn on 2"), "{readme}");
    assert!(readme.contains(": ages were wrong. Do not use it."), "{readme}");
    let log = use_cases::log(lab.root()).unwrap();
    let says: Vec<&str> = log.events.iter().filter_map(|event| event.says.as_deref()).collect();
    assert_eq!(says, ["release 1 was withdrawn: ages were wrong"]);
    assert!(use_cases::verify(&VerifyRequest::of(lab.root()), &|_, _| {}).unwrap().whole);
    let diff = use_cases::diff(lab.root(), "Q1", "Q2", &|_, _| {}).unwrap();
    assert_eq!((diff.from.people, diff.to.people, diff.columns.len()), (60, 90, 0));
    let rows = |side: fn(&use_cases::DiffValue) -> u64| diff.values.iter().map(side).sum::<u64>();
    assert_eq!((rows(|value| value.from), rows(|value| value.to)), (diff.from.rows, diff.to.rows));
}

/// An auditor gets the ledger, the policy and the releases.
#[test]
fn what_left_is_read_without_the_vault() {
    let (lab, mut columns) = (Lab::new(), Columns::first());
    let mut dice = Dice(3);
    let mut people: Vec<String> = (0..60).map(|id| columns.person(id, &mut dice)).collect();
    for label in ["Q1", "Q2"] {
        lab.policy(&columns, PROMISES[0]);
        lab.table(&people);
        lab.publish(Some(label)).unwrap();
        columns.races.insert(0, "C".into());
        people.extend((100..130).map(|id| columns.person(id, &mut dice)));
    }
    columns.races.remove(0);
    lab.policy(&columns, PROMISES[0]);
    let head = use_cases::log(lab.root()).unwrap().head;
    fs::remove_dir_all(lab.root().join(".tacenda/vault")).unwrap();
    let quiet = |_: usize, _: &str| {};
    assert_eq!(use_cases::log(lab.root()).unwrap().head, head);
    assert_eq!(use_cases::show(lab.root(), Some("Q2"), &quiet).unwrap().release, 2);
    assert!(use_cases::count(lab.root(), "Q1", "age < 40", &quiet).unwrap().highest > 0);
    let verified = use_cases::verify(&VerifyRequest::of(lab.root()), &quiet).unwrap();
    assert!(verified.whole && !verified.vault && verified.releases == 2);
    let project = lab.request().project;
    let request = ReportRequest {
        edition: Edition::Auditor,
        truth: Vec::new(),
        review_by: None,
        budget: Budget::default(),
        language: None,
    };
    use_cases::report(&project, request, &quiet).unwrap();
    assert_eq!(audit(SubjectRequest { project, ..SubjectRequest::default() }), 2);
    // Nothing is published from here, and a changed release is seen.
    assert_eq!(lab.publish(None).err().unwrap().code(), "L504");
    let data = lab.folder_of(1).join("living-r0001.csv");
    let text = fs::read_to_string(&data).unwrap();
    fs::write(&data, text.replacen("flu", "gout", 1)).unwrap();
    let verified = use_cases::verify(&VerifyRequest::of(lab.root()), &quiet).unwrap();
    assert!(!verified.whole, "{:?}", verified.faults);
    let alone = use_cases::verify(&VerifyRequest::of(&lab.folder_of(1)), &quiet).unwrap();
    assert!(!alone.whole && use_cases::verify(&VerifyRequest::of(&lab.folder_of(2)), &quiet).unwrap().whole);
}
