//! The use cases, as the command and Python call them.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use tacenda::audit::Budget;
use tacenda::ingest::Given;
use tacenda::publish::{Access, Input, NextRelease, Project, ReportRequest};
use tacenda::report::Edition;
use tacenda::use_cases;
use tacenda::use_cases::{
    AuditRequest, Next, Order, ProjectFolder, ReleaseRequest, Said, SubjectRequest, UseCaseError, VerifyRequest,
};

const FIRST: &str = "age,disease\n20-29,flu\n20-29,cold\n";
const SECOND: &str = "age,disease\n20-29,flu\n20-29,mumps\n30-39,cold\n";

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn subject(folder: &Path, files: &[&str]) -> SubjectRequest {
    SubjectRequest {
        releases: files.iter().map(|name| Given::Path(folder.join(name))).collect(),
        quasi: vec!["age".into()],
        sensitive: vec!["disease".into()],
        ..SubjectRequest::default()
    }
}

/// Counts steps, and asserts at the end that there were as many as was said.
#[derive(Default)]
struct StepsTold(Mutex<Vec<(usize, String)>>);

impl StepsTold {
    fn tell(&self, steps: usize, what: &str) {
        self.0.lock().unwrap().push((steps, what.to_string()));
    }

    fn assert_whole(&self) {
        let told = std::mem::take(&mut *self.0.lock().unwrap());
        assert!(!told.is_empty());
        assert!(told.iter().all(|(steps, _)| *steps == told.len()), "{told:?}");
    }
}

#[test]
fn an_audit_says_how_many_steps_it_has() {
    let folder = folder(&[("r1.csv", FIRST), ("r2.csv", SECOND)]);
    let steps = StepsTold::default();
    let request = AuditRequest {
        subject: subject(folder.path(), &["r1.csv", "r2.csv"]),
        checks: vec!["group-sizes".into(), "difference".into()],
        ..AuditRequest::default()
    };
    let audit = request.read(&|of, what| steps.tell(of, what)).unwrap();
    steps.assert_whole();
    audit.judge(&|of, what| steps.tell(of, what));
    steps.assert_whole();
}

const POLICY: &str = r#"policy = 1
[series]
name = "stays"
[columns]
id      = { role = "identifier" }
age     = { role = "quasi", type = "integer", domain = [0, 120] }
disease = { role = "sensitive", type = "category" }
[promise]
model = "m-invariance"
m = 2
"#;

/// A release of `table.csv` in this folder.
fn release(folder: &Path) -> ReleaseRequest {
    ReleaseRequest {
        project: ProjectFolder { root: folder.to_path_buf(), ..ProjectFolder::default() },
        data: Some(Given::Path(folder.join("table.csv"))),
        ..ReleaseRequest::default()
    }
}

#[test]
fn everything_up_to_a_release_says_how_many_steps_it_has() {
    let rows: String = (0..20).map(|id| format!("p{id},{},{}\n", 20 + id, ["flu", "cold", "mumps"][id % 3])).collect();
    let folder = folder(&[("tacenda.toml", POLICY), ("table.csv", &format!("id,age,disease\n{rows}"))]);
    let folder = folder.path();
    let told = StepsTold::default();
    let tell = |of: usize, what: &str| told.tell(of, what);
    let done = || told.assert_whole();
    use_cases::check(release(folder), None, &tell).unwrap();
    done();
    let what_if = use_cases::check(release(folder), Some("m=2..4"), &tell).unwrap().what_if;
    assert_eq!(what_if.len(), 3);
    done();
    let plan = use_cases::plan(release(folder), None, &tell).unwrap().plan;
    done();
    let rehearsed = ReleaseRequest { data: None, ..release(folder) }.prepare(Some(plan), &tell).unwrap();
    done();
    let published = rehearsed.publish(&tell).unwrap();
    done();
    assert_eq!(published.release, 1);
    use_cases::show(folder, None, &tell).unwrap();
    done();
    assert!(use_cases::verify(&VerifyRequest::of(folder), &tell).unwrap().whole);
    done();
    let project = release(folder).project;
    for truth in [vec![], vec![Given::Path(folder.join("table.csv"))]] {
        let request = ReportRequest {
            edition: Edition::Steward,
            truth,
            review_by: None,
            budget: Budget::default(),
            language: None,
        };
        use_cases::report(&project, request, &tell).unwrap();
        done();
    }
    let subject = SubjectRequest { project, ..SubjectRequest::default() };
    AuditRequest { subject, ..AuditRequest::default() }.read(&tell).unwrap();
    done();
    let folders = vec![Given::Path(published.folder)];
    let subject = SubjectRequest { releases: folders, ..SubjectRequest::default() };
    AuditRequest { subject, ..AuditRequest::default() }.read(&tell).unwrap();
    done();
}

/// In a table of millions only some people are looked at, all ways at the same ones.
#[test]
fn the_ways_of_a_large_table_are_compared_on_some_of_its_people() {
    let rows: String = (0..60).map(|id| format!("p{id},{},{}\n", 20 + id, ["flu", "cold", "mumps"][id % 3])).collect();
    let folder = folder(&[("tacenda.toml", POLICY), ("table.csv", &format!("id,age,disease\n{rows}"))]);
    let project = Project::open(folder.path(), None, Access::Look).unwrap();
    let table = Given::Path(folder.path().join("table.csv"));
    let input = Input { table, delta: false, show_values: false, memory: None, threads: 0 };
    let material = project.material(input, &|_| {}).unwrap();
    let rehearsal = project.rehearse(&material, NextRelease::default(), &|_| {}).unwrap();
    let groups = |people: usize| {
        let ways = project.ways(project.policy(), &material, &rehearsal, people).unwrap();
        let groups: Vec<Option<u64>> = ways.choices.iter().map(|choice| choice.groups).collect();
        (groups, ways.sampled)
    };
    let (all, said) = groups(60);
    assert!(all == [Some(30); 4] && said.is_none(), "{all:?} {said:?}");
    let (some, said) = groups(59);
    assert!(some.iter().all(|groups| *groups == Some(29)), "{some:?}");
    assert_eq!(said.unwrap(), "the ways to form groups were compared on 59 of 60 people, drawn by lot");
}

/// Only the steward can make releases again, and only with the tables that they were made from.
#[test]
fn releases_are_made_again_with_the_tables_behind_them() {
    let values = ["flu", "cold", "mumps", "gout", "hiv"];
    let table = |release: usize, shift: usize| {
        let is_present = |id: &usize| id % 9 != release;
        let row = |id: usize| format!("p{id},{},{}\n", 20 + id * 7 % 60, values[(id * 3 + id / 5 + shift) % 5]);
        let rows: String = (0..40 + 10 * release).filter(is_present).map(row).collect();
        format!("id,age,disease\n{rows}")
    };
    let policy = format!("{POLICY}reader = \"method\"\n[counterfeits]\nmax_share = 0.5\n");
    let folder = folder(&[("tacenda.toml", &policy)]);
    let folder = folder.path();
    for number in 0..3 {
        fs::write(folder.join("table.csv"), table(number, 0)).unwrap();
        release(folder).prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    }
    let said = |shift: usize| {
        let truth = |number: usize| {
            let path = folder.join(format!("t{number}.csv"));
            fs::write(&path, table(number, shift)).unwrap();
            Given::Path(path)
        };
        let subject = SubjectRequest {
            project: release(folder).project,
            truth: (0..3).map(truth).collect(),
            ..SubjectRequest::default()
        };
        let request = AuditRequest { subject, checks: vec!["rerun".into()], ..AuditRequest::default() };
        let report = request.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report;
        report.checks[0].verdict.to_string()
    };
    assert_eq!(said(1), "NOT ASSESSED");
    assert_eq!(said(0), "PASS");
}

#[test]
fn duplicates_are_named_and_the_rest_is_numbered_anew() {
    let folder = folder(&[("a.csv", FIRST), ("b.csv", FIRST), ("c.csv", FIRST), ("d.csv", SECOND)]);
    let subject = subject(folder.path(), &["a.csv", "b.csv", "c.csv", "d.csv"]);
    let audit = AuditRequest { subject, ..AuditRequest::default() }.read(&|_, _| {}).unwrap();
    let notes = audit.notes();
    let expected = [
        "b.csv repeats a.csv and is ignored",
        "c.csv repeats a.csv and is ignored",
        "releases are numbered without what is ignored: d.csv is release 2",
    ];
    for note in expected {
        assert!(notes.iter().any(|said| said == note), "{note:?} is not in {notes:#?}");
    }
    let report = audit.judge(&|_, _| {}).report;
    assert_eq!(report.releases.iter().map(|release| release.number).collect::<Vec<u32>>(), [1, 2]);
}

/// Whoever repeats the command gets the same audit: the order and the effort are part of it.
#[test]
fn the_command_of_a_report_asks_for_the_same() {
    let folder = folder(&[("r1.csv", FIRST), ("r2.csv", SECOND)]);
    let order = Order::Dated(vec!["2026-Q2".into(), "2026-Q1".into()]);
    let missing = vec![Said::parse("any"), Said::parse("age=value")];
    let subject = SubjectRequest { order, missing, ..subject(folder.path(), &["r1.csv", "r2.csv"]) };
    let request =
        AuditRequest { subject, budget: Some(4_000), attacker: Some("quasi".into()), ..AuditRequest::default() };
    let report = request.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report;
    let command = report.provenance.command.unwrap();
    let expected = "--quasi age --sensitive disease --attacker quasi --missing any --missing age=value \
                    --dates 2026-Q2,2026-Q1 --budget 4000";
    assert!(command.ends_with(expected), "{command}");
    assert_eq!(report.releases[0].label, "r2");
}

#[test]
fn what_makes_no_sense_is_refused_before_anything_is_read() {
    let folder = folder(&[("r1.csv", FIRST)]);
    let wrong = [
        AuditRequest { attacker: Some("presence".into()), ..AuditRequest::default() },
        AuditRequest { checks: vec!["nothing".into()], ..AuditRequest::default() },
        AuditRequest {
            subject: SubjectRequest { domain: vec![Said::parse("0..9")], ..subject(folder.path(), &["r1.csv"]) },
            ..AuditRequest::default()
        },
    ];
    for request in wrong {
        let error = request.read(&|_, _| {}).err().expect("it makes no sense");
        assert!(matches!(error, UseCaseError::Usage(_)), "{error:?}");
        assert_eq!((error.code(), error.exit_code()), ("U201", 2));
    }
}

/// Sliders show one error of counts. It is the one that a rehearsal shows, and not a quicker guess.
#[test]
fn the_quick_error_of_counts_is_the_slow_one() {
    let rows: String =
        (0..300).map(|id| format!("p{id},{},{}\n", 20 + id * 7 % 60, ["flu", "cold", "mumps"][id % 3])).collect();
    let folder = folder(&[("table.csv", &format!("id,age,disease\n{rows}")), ("tacenda.toml", POLICY)]);
    let Next::Release(mut next) = release(folder.path()).prepare(None, &|_, _| {}).unwrap() else { panic!() };
    let quick = next.rehearsal.count_error_of_one(&next.material);
    let policy = next.project.policy().clone();
    next.rehearsal.measure_queries(&policy, &next.material);
    let slow = next.rehearsal.count_errors.as_ref().unwrap().one;
    assert!(quick > 0.0 && quick == slow, "{quick} {slow}");
}
