//! One series or two: forks, broken chains and gaps are found from release folders alone, and a lost anchor has a stand-in.

use proptest::prelude::{ProptestConfig, any, prop_assert, prop_assert_eq, proptest};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::ingest::Given;
use tacenda::ledger::Anchors;
use tacenda::report::Decision;
use tacenda::use_cases;
use tacenda::use_cases::{
    AuditRequest, ProjectFolder, PublishReport, ReleaseRequest, SubjectRequest, UseCaseError, VerifyReport,
    VerifyRequest,
};

const POLICY: &str = "policy = 1\n[series]\nname = 'chained'\n[columns]\nid = { role = 'identifier' }\n\
    age = { role = 'quasi', type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive', type = 'category' }\n\
    [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// Copies a folder with its permissions. No process is started for it: for a moment that would hold the locks of projects
/// that other tests have open.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::metadata(from).unwrap().permissions()).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        match entry.path().is_dir() {
            true => copy(&entry.path(), &to.join(entry.file_name())),
            false => drop(fs::copy(entry.path(), to.join(entry.file_name())).unwrap()),
        }
    }
}

/// What a project publishes from a table that begins with person `first`.
fn request(root: &Path, first: u32) -> ReleaseRequest {
    fs::write(root.join("tacenda.toml"), POLICY).unwrap();
    let illness = ["flu", "gout", "asthma", "angina"];
    let rows = (first..first + 24).map(|id| format!("p{id},{},{}\n", 20 + id % 50, illness[(id % 4) as usize]));
    let path = root.join("table.csv");
    fs::write(&path, format!("id,age,illness\n{}", rows.collect::<String>())).unwrap();
    let project = ProjectFolder { root: root.into(), ..ProjectFolder::default() };
    ReleaseRequest { project, data: Some(Given::Path(path)), ..ReleaseRequest::default() }
}

fn publish(request: ReleaseRequest) -> Result<PublishReport, UseCaseError> {
    request.prepare(None, &|_, _| {})?.publish(&|_, _| {})
}

fn release(root: &Path, number: u32) -> PathBuf {
    root.join(format!("releases/chained/r{number:04}"))
}

/// A series of four, and a copy that went on from its first release in another way.
fn forked() -> (tempfile::TempDir, tempfile::TempDir) {
    let (project, other) = (folder(), folder());
    publish(request(project.path(), 0)).unwrap();
    copy(project.path(), other.path());
    (1..4).for_each(|number| drop(publish(request(project.path(), number * 3)).unwrap()));
    (1..3).for_each(|number| drop(publish(request(other.path(), number * 5 + 1)).unwrap()));
    (project, other)
}

/// What an audit of these folders says of their chain, and whether the whole audit failed.
fn audited(folders: &[PathBuf]) -> (Vec<String>, bool) {
    let releases = folders.iter().cloned().map(Given::Path).collect();
    let subject = SubjectRequest { releases, ..SubjectRequest::default() };
    let audit = AuditRequest { subject, ..AuditRequest::default() };
    let answer = audit.read(&|_, _| {}).unwrap().judge(&|_, _| {});
    let report = answer.report;
    let found = report.findings.iter().filter(|finding| finding.check == "chain");
    let told = found.map(|finding| {
        assert_eq!(finding.severity, tacenda::audit::Severity::Severe);
        finding.code.clone()
    });
    (told.collect(), report.verdict.decision == Decision::Fail)
}

fn verified(folders: &[PathBuf]) -> VerifyReport {
    let request = VerifyRequest { folders: folders.to_vec(), anchors: None, keys: &[], own: None };
    use_cases::verify(&request, &|_, _| {}).unwrap()
}

fn codes(report: &VerifyReport) -> Vec<&str> {
    report.faults.iter().map(|fault| fault.code.as_str()).collect()
}

#[test]
fn a_fork_a_broken_chain_and_a_gap_are_severe() {
    let (project, other) = forked();
    let (one, two) = (|number| release(project.path(), number), |number| release(other.path(), number));
    let cases = [
        (vec![one(1), one(2), two(2)], vec!["A791"]),
        (vec![one(1), one(2), two(3)], vec!["A792"]),
        (vec![one(1), one(3), one(4)], vec!["A793"]),
        (vec![one(1), two(3), one(2), one(3)], vec!["A791", "A792"]),
        // In any order.
        (vec![two(2), one(2), one(1)], vec!["A791"]),
    ];
    for (folders, wanted) in cases {
        let (mut found, failed) = audited(&folders);
        found.sort();
        assert_eq!(found, wanted, "{folders:?}");
        assert!(failed);
        let report = verified(&folders);
        let mut told = codes(&report);
        told.sort_unstable();
        assert_eq!((told, report.whole), (wanted, false), "{folders:?}");
    }
}

#[test]
fn a_whole_series_is_not_accused_of_being_two() {
    let (project, _) = forked();
    let all: Vec<PathBuf> = (1..=4).map(|number| release(project.path(), number)).collect();
    let backwards: Vec<PathBuf> = all.iter().rev().cloned().collect();
    // The whole series, from its middle on, one release, one given twice, and as a copy without the project.
    let copied = folder();
    copy(&project.path().join("releases"), copied.path());
    for folders in [&all[..], &backwards, &all[1..3], &all[2..], &[all[1].clone(), all[1].clone()]] {
        assert_eq!(audited(folders).0, [""; 0], "{folders:?}");
        assert!(verified(folders).whole, "{folders:?}");
    }
    assert_eq!(verified(&[copied.path().into()]).releases, 4);
    assert!(verified(&[copied.path().into()]).whole && verified(&[project.path().into()]).whole);
    let project = ProjectFolder { root: project.path().into(), ..ProjectFolder::default() };
    let subject = SubjectRequest { project, ..SubjectRequest::default() };
    let audit = AuditRequest { subject, checks: vec!["chain".into()], ..AuditRequest::default() };
    assert_eq!(audit.read(&|_, _| {}).unwrap().judge(&|_, _| {}).report.findings.len(), 0);
}

#[test]
fn a_release_that_was_exchanged_with_all_its_checksums_breaks_the_chain() {
    let (project, _) = forked();
    let folder = release(project.path(), 2);
    let path = folder.join("manifest.json");
    let changed = fs::read_to_string(&path).unwrap().replacen("\"label\": \"r0002\"", "\"label\": \"r2\"", 1);
    fs::write(&path, changed).unwrap();
    let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
    let old = sums.lines().find(|line| line.ends_with("  manifest.json")).unwrap();
    let digest: String = Sha256::digest(fs::read(&path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(folder.join("SHA256SUMS"), sums.replace(old, &format!("{digest}  manifest.json"))).unwrap();
    let all: Vec<PathBuf> = (1..=4).map(|number| release(project.path(), number)).collect();
    assert_eq!(codes(&verified(&all[1..2])), ["L507", "L507"], "the ledger beside it knows");
    // Recipients have no ledger.
    fs::remove_dir_all(project.path().join(".tacenda")).unwrap();
    assert!(verified(&all[1..2]).whole, "by itself it is in order");
    assert_eq!(codes(&verified(&all)), ["A792"]);
    assert_eq!(audited(&all).0, ["A792"]);
}

/// States of a project after each of its releases, with the receipt of that moment. The anchor is lost.
struct States {
    states: Vec<tempfile::TempDir>,
    receipts: Vec<PathBuf>,
    kept: tempfile::TempDir,
}

impl States {
    fn of(releases: u32) -> States {
        let (project, kept) = (folder(), folder());
        let (mut states, mut receipts) = (Vec::new(), Vec::new());
        for number in 0..releases {
            publish(request(project.path(), number * 3)).unwrap();
            let state = folder();
            copy(project.path(), state.path());
            states.push(state);
            let answer = use_cases::receipt(project.path()).unwrap();
            let text = match number % 3 {
                0 => answer.text(),
                1 => answer.markdown(),
                _ => answer.html(),
            };
            let path = kept.path().join(format!("receipt-{number}"));
            fs::write(&path, text).unwrap();
            copy(&project.path().join("releases"), kept.path());
            receipts.push(path);
        }
        States { states, receipts, kept }
    }

    /// What stands in for the anchor: the receipt or the release of a moment.
    fn stand_in(&self, moment: usize, is_receipt: bool) -> PathBuf {
        match is_receipt {
            true => self.receipts[moment].clone(),
            false => self.kept.path().join(format!("chained/r{:04}", moment + 1)),
        }
    }

    /// Publishes a table from a copy of a state, with nothing remembered but what stands in for the anchor.
    fn publish(&self, state: usize, first: u32, stand_in: &Path, reason: Option<&str>) -> Result<(), UseCaseError> {
        let (project, anchors) = (folder(), folder());
        copy(self.states[state].path(), project.path());
        let mut wanted = request(project.path(), first);
        wanted.project.anchors = Some(Anchors::at(anchors.path()));
        wanted.project.anchor_from = Some(stand_in.into());
        wanted.project.accept_rollback = reason.map(String::from);
        publish(wanted).map(drop)?;
        // From now on the anchor is there again.
        let mut later = request(project.path(), first + 1);
        later.project.anchors = Some(Anchors::at(anchors.path()));
        let stale = folder();
        copy(self.states[state].path(), stale.path());
        // The same table would give the same release again, and that may be made again.
        let mut again = request(stale.path(), first + 1);
        again.project.anchors = Some(Anchors::at(anchors.path()));
        assert_eq!(publish(again).unwrap_err().code(), "L511");
        publish(later).map(drop)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any earlier state restored, then any publish, is refused: also where the anchor is lost and only a receipt, or the
    /// newest release that is out, is left of it.
    #[test]
    fn any_earlier_state_is_refused_by_a_receipt_or_a_release(tries in proptest::collection::vec((0..4usize, 0..4usize, 0..40u32, any::<bool>()), 2)) {
        thread_local! {
            static STATES: States = States::of(4);
        }
        for (state, moment, first, is_receipt) in tries {
            STATES.with(|states| {
                let stand_in = states.stand_in(moment, is_receipt);
                let done = states.publish(state, first + 50, &stand_in, None);
                match (state < moment, done) {
                    (true, Err(error)) => {
                        prop_assert_eq!((error.code(), error.exit_code()), (if is_receipt { "L511" } else { "L513" }, 5));
                    }
                    (behind, done) => prop_assert!(!behind && done.is_ok(), "state {} moment {}: {:?}", state, moment, done),
                }
                Ok(())
            })?;
        }
    }
}

#[test]
fn a_person_may_go_on_without_what_a_receipt_says_and_the_ledger_tells() {
    let states = States::of(2);
    for is_receipt in [true, false] {
        let stand_in = states.stand_in(1, is_receipt);
        states.publish(0, 60, &stand_in, Some("release 2 never left the house")).unwrap();
    }
    // A receipt of another project, or none at all, is refused, whatever the reason.
    let other = States::of(1);
    for path in [other.stand_in(0, true), states.states[0].path().join("table.csv")] {
        for reason in [None, Some("why not")] {
            assert_eq!(states.publish(1, 60, &path, reason).unwrap_err().code(), "L204");
        }
    }
}
