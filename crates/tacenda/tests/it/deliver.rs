//! What is owed to databases, and when it is paid: with a database of ours that fails when it is told to.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tacenda::folder::ReceivedRelease;
use tacenda::ingest::Source;
use tacenda::ledger::Anchors;
use tacenda::promise::{DatabaseTable, DeliveryTarget};
use tacenda::use_cases::{
    self, Database, DatabaseError, Delivered, DeliveryReport, Fetched, Next, OwedDelivery, ProjectFolder,
    PublishReport, ReleaseRequest, UseCaseError, WantedDeliveries, Withdrawal, Withdrawn,
};
use tempfile::TempDir;

/// A database in memory.
#[derive(Debug, Default)]
struct FakeDatabase {
    is_gone: AtomicBool,
    fetched: AtomicUsize,
    first_person: AtomicUsize,
    /// The number of a release whose table has another owner by now.
    taken_over: AtomicUsize,
    there: Mutex<Vec<String>>,
}

impl FakeDatabase {
    fn reached(&self) -> Result<(), DatabaseError> {
        match self.is_gone.load(Ordering::SeqCst) {
            true => Err(DatabaseError::Unreachable { what: "a test".into() }),
            false => Ok(()),
        }
    }

    fn keep(&self, what: String) -> Delivered {
        let mut there = self.there.lock().unwrap();
        if there.contains(&what) {
            return Delivered::Before;
        }
        there.push(what);
        Delivered::Now
    }
}

impl Database for FakeDatabase {
    fn fetch(
        &self,
        _: &DatabaseTable,
        wanted: &dyn Fn(&str) -> bool,
        most: Option<u64>,
    ) -> Result<Fetched, DatabaseError> {
        self.reached()?;
        if most.is_some_and(|most| most < 30) {
            return Ok(Fetched::TooLarge(30));
        }
        self.fetched.fetch_add(1, Ordering::SeqCst);
        assert!(wanted("age") && wanted("unknown") && !wanted("note"), "what is dropped is not wanted");
        let first = self.first_person.load(Ordering::SeqCst);
        let row = |person: usize| format!("p{person},{},{}\n", 20 + person % 50, ["flu", "gout", "acne"][person % 3]);
        let text: String = ["id,age,illness\n".into()].into_iter().chain((first..first + 30).map(row)).collect();
        Ok(Fetched::Table(Source::spool("a table", text.as_bytes()).unwrap()))
    }

    fn deliver(&self, to: &DeliveryTarget, release: &ReceivedRelease) -> Result<Delivered, DatabaseError> {
        self.reached()?;
        Ok(self.keep(format!("{} {}", to.name, release.release.number)))
    }

    fn withdraw(&self, to: &DeliveryTarget, withdrawal: &Withdrawal) -> Result<Withdrawn, DatabaseError> {
        self.reached()?;
        if !self.there.lock().unwrap().contains(&format!("{} {}", to.name, withdrawal.release)) {
            return Ok(Withdrawn::NeverThere);
        }
        if self.taken_over.load(Ordering::SeqCst) == withdrawal.release as usize {
            return Err(DatabaseError::NotOurs { what: "a table".into() });
        }
        self.keep(format!("{} not {}: {}", to.name, withdrawal.release, withdrawal.because));
        Ok(Withdrawn::Marked)
    }
}

const POLICY: &str = "policy = 1\n[series]\nname = 'ward'\n[source]\npostgres = 'host=x'\ntable = 't'\n[deliver.open]\n\
                      postgres = 'host=x'\nschema = 's'\n[columns]\nid = { role = 'identifier' }\nage = { role = 'quasi', \
                      type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive' }\nnote = { role = 'drop' }\n\
                      [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

/// A project with its database.
struct Office {
    folder: TempDir,
    root: PathBuf,
    anchors: Option<Anchors>,
    database: Arc<FakeDatabase>,
}

impl Office {
    fn new() -> Office {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        let office = Office { folder, root, anchors: None, database: Arc::default() };
        fs::write(office.folder.path().join("tacenda.toml"), POLICY).unwrap();
        office
    }

    fn project(&self) -> ProjectFolder {
        let database: Arc<dyn Database> = self.database.clone();
        let (root, anchors) = (self.root.clone(), self.anchors.clone());
        ProjectFolder { root, anchors, database: Some(database), ..ProjectFolder::default() }
    }

    fn request(&self, label: &str) -> ReleaseRequest {
        ReleaseRequest { project: self.project(), label: Some(label.into()), ..ReleaseRequest::default() }
    }

    fn publish(&self, label: &str) -> PublishReport {
        self.request(label).prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap()
    }

    fn deliver(&self, release: Option<&str>) -> String {
        let wanted = WantedDeliveries { release, ..WantedDeliveries::default() };
        told(&use_cases::deliver(&self.project(), wanted, &|_, _| {}).unwrap().deliveries)
    }

    fn is_gone(&self, gone: bool) {
        self.database.is_gone.store(gone, Ordering::SeqCst);
    }

    fn there(&self) -> Vec<String> {
        self.database.there.lock().unwrap().clone()
    }

    /// A release that the database misses, because it goes in the last moment.
    fn publish_while_gone(&self, label: &str) {
        let next = self.request(label).prepare(None, &|_, _| {}).unwrap();
        self.is_gone(true);
        next.publish(&|_, _| {}).unwrap();
        self.is_gone(false);
    }

    /// What the log and the release itself say is owed.
    fn owed(&self) -> String {
        let owed = use_cases::log(&self.root).unwrap().owed;
        for one in &owed {
            let shown = use_cases::show(&self.root, Some(&one.release.to_string()), &|_, _| {}).unwrap();
            assert_eq!(shown.owed, std::slice::from_ref(one));
        }
        let told = |one: &OwedDelivery| format!("{}{}", if one.withdrawal { "not " } else { "" }, one.release);
        owed.iter().map(told).collect::<Vec<_>>().join(", ")
    }

    fn retract(&self, label: &str) -> String {
        told(&use_cases::retract(&self.project(), label, "a test").unwrap().deliveries)
    }

    fn events(&self) -> Vec<String> {
        use_cases::log(self.folder.path()).unwrap().events.into_iter().map(|event| event.event).collect()
    }
}

/// What happened, in a word per delivery.
fn told(reports: &[DeliveryReport]) -> String {
    let one = |report: &DeliveryReport| {
        format!("{} {:?}{}", report.release, report.outcome, report.code.as_deref().unwrap_or_default())
    };
    reports.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[test]
fn what_a_database_misses_is_delivered_later_and_once() {
    let office = Office::new();
    assert_eq!(told(&office.publish("a").deliveries), "1 Delivered");
    let (published, fetched) = (office.events(), office.database.fetched.load(Ordering::SeqCst));
    // A label that is committed is not read again, whatever the table says now.
    office.database.first_person.store(10, Ordering::SeqCst);
    assert!(matches!(office.request("a").prepare(None, &|_, _| {}), Ok(Next::Committed(_))));
    let again = office.publish("a");
    assert!(again.already && again.deliveries.is_empty());
    assert_eq!((office.events(), office.database.fetched.load(Ordering::SeqCst)), (published, fetched));

    // The database goes while the release is on its way there. The release is out.
    let next = office.request("b").prepare(None, &|_, _| {}).unwrap();
    office.is_gone(true);
    assert_eq!(told(&next.publish(&|_, _| {}).unwrap().deliveries), "2 FailedC701");
    assert_eq!(told(&office.publish("b").deliveries), "2 FailedC701");
    assert_eq!(office.owed(), "2");
    assert_eq!(office.request("c").prepare(None, &|_, _| {}).err().map(|error| error.code()), Some("C701"));
    office.is_gone(false);
    assert_eq!(told(&office.publish("b").deliveries), "2 Delivered");
    assert_eq!((office.deliver(None), office.deliver(Some("b"))), (String::new(), "2 Already".into()));
    assert_eq!(office.there(), ["open 1", "open 2"]);
    assert_eq!(office.events(), ["init", "publish", "deliver", "publish", "deliver"]);
}

#[test]
fn a_withdrawal_reaches_what_was_delivered_and_nothing_else() {
    let office = Office::new();
    office.publish("a");
    let next = office.request("b").prepare(None, &|_, _| {}).unwrap();
    office.is_gone(true);
    next.publish(&|_, _| {}).unwrap();
    // Neither reaches the database: one must be marked there, the other was never there.
    for label in ["a", "b"] {
        let report = use_cases::retract(&office.project(), label, "a test").unwrap();
        assert_eq!(told(&report.deliveries), "1 FailedC701", "{label}");
    }
    office.is_gone(false);
    assert_eq!(office.deliver(None), "1 Withdrawn");
    assert_eq!(office.deliver(None), "");
    assert_eq!(office.there(), ["open 1", "open not 1: a test"]);
    // The ledger does not say of a release that never arrived that it is marked.
    let events = office.events();
    assert_eq!((office.deliver(Some("b")), office.events()), ("2 Absent".into(), events));
    // A policy that cannot be read does not keep a release from being withdrawn, and says whom it did not tell.
    let office = Office::new();
    office.publish("a");
    fs::write(office.folder.path().join("tacenda.toml"), "policy = 1\n").unwrap();
    let report = use_cases::retract(&office.project(), "a", "a test").unwrap();
    assert_eq!((told(&report.deliveries), report.already), ("1 FailedP204".into(), false));
}

/// The line of a delivery is written after the delivery. So a release without a line may be there.
#[test]
fn a_withdrawal_reaches_a_release_whose_line_was_lost() {
    let office = Office::new();
    office.publish_while_gone("a");
    office.database.there.lock().unwrap().push("open 1".into());
    assert_eq!((office.owed(), office.retract("a")), ("1".into(), "1 Withdrawn".into()));
    assert_eq!(office.there(), ["open 1", "open not 1: a test"]);
    assert_eq!((office.owed(), office.deliver(None)), (String::new(), String::new()));
}

#[test]
fn a_table_that_somebody_took_over_is_told_and_hinders_no_other_withdrawal() {
    let office = Office::new();
    office.publish("a");
    office.publish("b");
    office.database.taken_over.store(1, Ordering::SeqCst);
    let before = office.events().len();
    assert_eq!((office.retract("a"), office.retract("b")), ("1 FailedC802".into(), "1 FailedC802, 2 Withdrawn".into()));
    assert_eq!(office.owed(), "not 1");
    assert_eq!(office.events()[before..], ["retract", "retract", "deliver"]);
    office.database.taken_over.store(0, Ordering::SeqCst);
    assert_eq!(office.deliver(None), "1 Withdrawn");
}

#[test]
fn check_without_a_table_reads_the_source() {
    let office = Office::new();
    let request = || ReleaseRequest { project: office.project(), ..ReleaseRequest::default() };
    assert!(use_cases::check(request(), None, &|_, _| {}).unwrap().summary.is_some());
    assert_eq!(office.database.fetched.load(Ordering::SeqCst), 1);
    office.is_gone(true);
    assert_eq!(use_cases::check(request(), None, &|_, _| {}).unwrap_err().code(), "C701");
}

#[test]
fn a_plan_keeps_the_table_and_outlives_deliveries() {
    let office = Office::new();
    office.is_gone(false);
    office.publish("a");
    let next = office.request("b").prepare(None, &|_, _| {}).unwrap();
    office.is_gone(true);
    next.publish(&|_, _| {}).unwrap();
    office.is_gone(false);
    let used = use_cases::plan(office.request("b"), None, &|_, _| {}).unwrap_err();
    assert_eq!(used.code(), "R202");
    office.database.first_person.store(3, Ordering::SeqCst);
    let planned = use_cases::plan(office.request("c"), None, &|_, _| {}).unwrap();
    let fetched = office.database.fetched.load(Ordering::SeqCst);
    assert_eq!(office.deliver(None), "2 Delivered");
    let request = ReleaseRequest { project: office.project(), ..ReleaseRequest::default() };
    let published = request.prepare(Some(planned.plan), &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
    assert_eq!((told(&published.deliveries), published.release), ("3 Delivered".into(), 3));
    assert_eq!(office.database.fetched.load(Ordering::SeqCst), fetched, "the table is in the vault");
}

#[test]
fn without_a_client_nothing_is_read_and_a_publish_says_what_it_owes() {
    let office = Office::new();
    let alone = ProjectFolder { database: None, ..office.project() };
    let request = |data| ReleaseRequest { project: alone.clone(), data, ..ReleaseRequest::default() };
    let code = |request: ReleaseRequest| match request.prepare(None, &|_, _| {}) {
        Ok(Next::Release(_) | Next::Already(_) | Next::Committed(_)) => "no error",
        Err(error) => UseCaseError::code(&error),
    };
    assert_eq!(code(request(None)), "C204");
    assert_eq!(code(request(Some(tacenda::Given::Path("postgresql://h/d?table=t".into())))), "C204");
    assert_eq!(code(request(Some(tacenda::Given::Path("postgresql://u:pw@h/d?table=t".into())))), "C202");
    let table = office.folder.path().join("t.csv");
    fs::write(&table, "id,age,illness\na,1,flu\nb,2,gout\nc,3,flu\nd,4,gout\n").unwrap();
    let next = request(Some(tacenda::Given::Path(table))).prepare(None, &|_, _| {}).unwrap();
    assert_eq!(told(&next.publish(&|_, _| {}).unwrap().deliveries), "1 FailedC204");
}

/// Copies a folder and everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// A line that says what a database has is no step of the series, so a backup without it is not behind.
#[test]
fn a_restored_project_goes_on_with_or_without_its_deliveries() {
    let mut office = Office::new();
    let beside = tempfile::tempdir().unwrap();
    office.anchors = Some(Anchors::at(&beside.path().join("anchors")));
    let next = office.request("a").prepare(None, &|_, _| {}).unwrap();
    office.is_gone(true);
    next.publish(&|_, _| {}).unwrap();
    office.is_gone(false);
    copy(&office.root, &beside.path().join("only-published"));
    assert_eq!(office.deliver(None), "1 Delivered");
    copy(&office.root, &beside.path().join("delivered"));
    assert_eq!(told(&office.publish("b").deliveries), "2 Delivered");
    let anchor = fs::read_dir(beside.path().join("anchors")).unwrap().next().unwrap().unwrap().path();
    let newest = fs::read(&anchor).unwrap();
    for (state, owed) in [("only-published", "1 Already, 2 Already"), ("delivered", "2 Already")] {
        fs::write(&anchor, &newest).unwrap();
        office.root = beside.path().join(state);
        // What followed then may follow now, and nothing else.
        office.database.first_person.store(7, Ordering::SeqCst);
        let other = office.request("b").prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap_err();
        assert_eq!(other.code(), "L511", "{state}");
        office.database.first_person.store(0, Ordering::SeqCst);
        assert_eq!(told(&office.publish("b").deliveries), owed, "{state}");
    }
}
