//! Who signed a release, who approved it, and that nobody can change it or pretend to be them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::ingest::Given;
use tacenda::keys::{Introduction, KeyError, KeyFolder, PublicKey, Succession, Trust};
use tacenda::ledger::{RealDisk, Store};
use tacenda::use_cases;
use tacenda::use_cases::{
    Approving, ProjectFolder, PublishReport, ReleaseRequest, UseCaseError, VerifyReport, VerifyRequest,
};

const POLICY: &str = "policy = 1\n[series]\nname = 'signed'\n[columns]\nid = { role = 'identifier' }\n\
    age = { role = 'quasi', type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive', type = 'category' }\n\
    [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

/// A project, and the folders of keys of two people.
struct House {
    project: tempfile::TempDir,
    steward: tempfile::TempDir,
    second: tempfile::TempDir,
}

impl House {
    fn new() -> House {
        let folder = || tempfile::tempdir().unwrap();
        let house = House { project: folder(), steward: folder(), second: folder() };
        house.policy("");
        house
    }

    fn policy(&self, more: &str) {
        fs::write(self.project.path().join("tacenda.toml"), format!("{POLICY}{more}")).unwrap();
    }

    fn keys(&self) -> KeyFolder {
        KeyFolder::at(&self.steward.path().join("keys"))
    }

    fn approver(&self) -> KeyFolder {
        KeyFolder::at(&self.second.path().join("keys"))
    }

    fn request(&self, number: u32) -> ReleaseRequest {
        let illness = ["flu", "gout", "asthma", "angina"];
        let rows = (number..number + 24).map(|id| format!("p{id},{},{}\n", 20 + id % 50, illness[(id % 4) as usize]));
        let path = self.project.path().join("table.csv");
        fs::write(&path, format!("id,age,illness\n{}", rows.collect::<String>())).unwrap();
        let root = self.project.path().into();
        let project = ProjectFolder { root, keys: Some(self.keys()), ..ProjectFolder::default() };
        ReleaseRequest { project, data: Some(Given::Path(path)), ..ReleaseRequest::default() }
    }

    fn publish(&self, number: u32) -> Result<PublishReport, UseCaseError> {
        self.request(number).prepare(None, &|_, _| {})?.publish(&|_, _| {})
    }

    fn plan(&self, number: u32) -> PathBuf {
        let file = self.project.path().join("plan.json");
        use_cases::plan(self.request(number), Some(file.clone()), &|_, _| {}).unwrap().plan
    }

    fn publish_plan(&self, plan: &Path) -> Result<PublishReport, UseCaseError> {
        let request = ReleaseRequest { data: None, ..self.request(0) };
        request.prepare(Some(plan.into()), &|_, _| {})?.publish(&|_, _| {})
    }

    fn folder(&self, release: u32) -> PathBuf {
        self.project.path().join(format!("releases/signed/r{release:04}"))
    }
}

fn verify(root: &Path, keys: &[PublicKey]) -> VerifyReport {
    use_cases::verify(&VerifyRequest { keys, ..VerifyRequest::of(root) }, &|_, _| {}).unwrap()
}

fn codes(report: &VerifyReport) -> Vec<&str> {
    report.faults.iter().map(|fault| fault.code.as_str()).collect()
}

fn code<T>(result: Result<T, UseCaseError>) -> &'static str {
    result.err().map_or("nothing", |error| error.code())
}

#[test]
fn a_signed_release_is_known_by_its_key_and_by_no_other() {
    let house = House::new();
    let key = house.keys().create(None).unwrap().public;
    let stranger = house.approver().create(None).unwrap().public;
    let report = house.publish(1).unwrap();
    assert_eq!(report.signed_by.as_deref(), Some(key.id()));
    for name in ["SHA256SUMS.minisig", "manifest.intoto.jsonl", "signer.json"] {
        assert!(report.files.iter().any(|file| file == name), "{name} in {:?}", report.files);
    }
    house.publish(9).unwrap();
    for root in [house.project.path(), &house.folder(1), &house.folder(2)] {
        let known = verify(root, std::slice::from_ref(&key));
        assert!(known.whole && known.signed, "{:?}", known.faults);
        assert_eq!(known.signed_by, [key.id()]);
        let unknown = verify(root, std::slice::from_ref(&stranger));
        assert!(!unknown.whole && codes(&unknown).iter().all(|&code| code == "K502"), "{:?}", unknown.faults);
        assert!(verify(root, &[]).whole);
    }
    let readme = fs::read_to_string(house.folder(1).join("README.md")).unwrap();
    assert!(readme.contains(&format!("minisign -Vm SHA256SUMS -P {}", key.text())), "{readme}");
}

/// Every byte of what is small, and some bytes of the rest.
fn places(length: usize) -> Vec<usize> {
    match length {
        0..=1200 => (0..length).collect(),
        _ => (0..40).map(|at| at * (length - 1) / 39).collect(),
    }
}

#[test]
fn every_flipped_byte_of_a_signed_release_is_seen() {
    let house = House::new();
    let key = house.keys().create(None).unwrap().public;
    house.publish(1).unwrap();
    let folder = house.folder(1);
    let mut flipped = 0;
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let good = fs::read(&path).unwrap();
        for at in places(good.len()) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            fs::write(&path, &bad).unwrap();
            assert!(!verify(&folder, std::slice::from_ref(&key)).whole, "{} byte {at}", path.display());
            flipped += 1;
        }
        fs::write(&path, &good).unwrap();
    }
    assert!(flipped > 1500, "only {flipped} bytes were tried");
    assert!(verify(&folder, std::slice::from_ref(&key)).whole);
}

#[test]
fn what_is_taken_away_or_added_is_seen() {
    let house = House::new();
    let key = [house.keys().create(None).unwrap().public];
    house.publish(1).unwrap();
    let copied = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(house.folder(1)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), copied.path().join(entry.file_name())).unwrap();
    }
    // In its project a release is held against the ledger, too.
    for (folder, ledger) in [(house.folder(1), vec!["L507"]), (copied.path().into(), vec![])] {
        let wanted = |code| ledger.iter().copied().chain([code]).collect::<Vec<&str>>();
        for name in ["SHA256SUMS.minisig", "manifest.intoto.jsonl"] {
            let good = fs::read(folder.join(name)).unwrap();
            fs::remove_file(folder.join(name)).unwrap();
            assert_eq!(codes(&verify(&folder, &key)), wanted("K503"));
            fs::write(folder.join(name), good).unwrap();
        }
        fs::write(folder.join("more.csv"), "a,b\n").unwrap();
        assert_eq!(codes(&verify(&folder, &key)), wanted("K506"));
    }
}

/// The attack that hashes alone do not stop: everything is written anew so that it agrees with itself.
#[test]
fn a_ledger_that_was_rewritten_as_a_whole_is_seen_with_the_key() {
    use sha2::{Digest, Sha256};
    let house = House::new();
    let key = [house.keys().create(None).unwrap().public];
    house.publish(1).unwrap();
    house.publish(2).unwrap();
    let own = house.project.path().join(".tacenda");
    let text = fs::read_to_string(own.join("ledger.jsonl")).unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    for forged_signature in [false, true] {
        let (mut forged, mut prev, mut seq) = (String::new(), "0".repeat(64), 0);
        for line in text.lines() {
            let start = line.split(",\"prev\":").next().unwrap().replace("2026-", "2001-").replace("2027-", "2001-");
            let start = if forged_signature { start } else { without_signer(&start) };
            let signature = line.find(",\"signature\":\"").map(|at| &line[at..at + 103]);
            let kept = signature.filter(|_| forged_signature).unwrap_or_default();
            let object = format!("{start},\"prev\":\"{prev}\"{kept}}}");
            prev = hex(&Sha256::digest(object.as_bytes()));
            forged.push_str(&format!("{},\"hash\":\"{prev}\"}}\n", &object[..object.len() - 1]));
            seq += 1;
        }
        fs::write(own.join("ledger.jsonl"), forged).unwrap();
        let words = format!("{seq} {prev}");
        fs::write(own.join("vault/head"), format!("{words} {}\n", blake3::hash(words.as_bytes()).to_hex())).unwrap();
        assert!(verify(house.project.path(), &[]).whole, "hashes alone do not show it");
        let seen = verify(house.project.path(), &key);
        let wanted = if forged_signature { "K501" } else { "K503" };
        assert!(codes(&seen).contains(&wanted), "{:?}", seen.faults);
    }
}

/// A line's beginning without the field that names its signer.
fn without_signer(start: &str) -> String {
    match start.find(",\"signer\":") {
        Some(at) => start[..at].into(),
        None => start.into(),
    }
}

#[test]
fn a_key_that_the_old_one_signed_is_trusted_and_no_other_new_one() {
    let house = House::new();
    let first = house.keys().create(None).unwrap().public;
    house.publish(1).unwrap();
    let second = house.keys().rotate(None).unwrap();
    assert_eq!(second.before.as_deref(), Some(first.id()));
    house.publish(2).unwrap();
    let third = house.keys().rotate(None).unwrap().public;
    house.publish(3).unwrap();
    let all = verify(house.project.path(), std::slice::from_ref(&first));
    assert!(all.whole, "{:?}", all.faults);
    assert_eq!(all.signed_by, [first.id(), second.public.id(), third.id()]);
    assert!(verify(&house.folder(3), std::slice::from_ref(&first)).whole, "over two rotations, from the folder alone");
    // The new key does not vouch for what the old one signed.
    assert_eq!(codes(&verify(&house.folder(1), std::slice::from_ref(&third))), ["K502"]);
    // A key that nobody signed is a stranger.
    for name in ["signing.key", "signing.pub", "lineage.json"] {
        fs::remove_file(house.keys().path().join(name)).unwrap();
    }
    house.keys().create(None).unwrap();
    house.publish(4).unwrap();
    let report = verify(house.project.path(), std::slice::from_ref(&first));
    assert!(codes(&report).contains(&"K502"), "{:?}", report.faults);
}

/// People sign the file of somebody's key for many reasons: that they checked it, or when it came.
#[test]
fn a_signature_over_a_key_makes_a_successor_only_if_it_says_so() {
    let house = House::new();
    house.keys().create(None).unwrap();
    let signer = house.keys().need_signer().unwrap();
    let (own, other) = (signer.public(), house.approver().create(None).unwrap().public);
    let is_trusted = |comment: &str| {
        let signature = signer.sign_file(other.file().as_bytes(), comment).unwrap();
        let link = Succession { public_key: other.text().into(), by: own.id().into(), signature };
        let mut trust = Trust::new(std::slice::from_ref(own));
        trust.follow(&Introduction { key: other.id().into(), public_key: None, lineage: vec![link] });
        trust.find("a release", other.id()).is_ok()
    };
    let says_so = format!("tacenda key {} follows {}", other.id(), own.id());
    assert!(is_trusted(&says_so));
    let turned = format!("tacenda key {} follows {}", own.id(), other.id());
    let longer = format!("I do not say: {says_so}");
    for comment in ["", "timestamp:1795000000\tfile:other.pub\thashed", &turned, &longer] {
        assert!(!is_trusted(comment), "{comment}");
    }
}

#[test]
fn a_project_that_gets_a_key_later_is_signed_from_then_on() {
    let house = House::new();
    house.publish(1).unwrap();
    let key = [house.keys().create(None).unwrap().public];
    assert!(codes(&verify(house.project.path(), &key)).contains(&"K503"), "nothing is signed yet");
    house.publish(2).unwrap();
    // The signed line vouches for the release before it.
    let report = verify(house.project.path(), &key);
    assert!(report.whole, "{:?}", report.faults);
    let forged = house.folder(1).join("signed-r0001.csv");
    fs::write(&forged, fs::read_to_string(&forged).unwrap().replacen("flu", "gout", 1)).unwrap();
    assert!(!verify(house.project.path(), &key).whole);
}

#[test]
fn a_release_that_must_be_approved_waits_for_a_second_person() {
    let house = House::new();
    let signer = house.keys().create(None).unwrap().public;
    let approver = house.approver().create(None).unwrap().public;
    let list =
        |key: &PublicKey| format!("[signatures]\nsigners = [{:?}]\napprovers = [{:?}]\n", signer.text(), key.text());
    house.policy(&list(&approver));
    assert_eq!(code(house.publish(1)), "K603", "without a plan");
    let plan = house.plan(1);
    assert_eq!(code(house.publish_plan(&plan)), "K603", "without an approval");
    // The signer's own approval is none: neither as a stranger, nor as an approver.
    Approving::read(&plan).unwrap().approve(&house.keys()).unwrap();
    assert_eq!(code(house.publish_plan(&plan)), "K502");
    house.policy(&list(&signer));
    let own = house.plan(1);
    Approving::read(&own).unwrap().approve(&house.keys()).unwrap();
    assert_eq!(code(house.publish_plan(&own)), "K603");
    house.policy(&list(&approver));
    let plan = house.plan(1);
    let approved = Approving::read(&plan).unwrap().approve(&house.approver()).unwrap();
    assert_eq!((approved.release, approved.key.as_str()), (1, approver.id()));
    // Another plan is not the one that was approved.
    let text = fs::read_to_string(&plan).unwrap();
    fs::write(&plan, text.replacen("r0001", "other", 1)).unwrap();
    assert_eq!(code(house.publish_plan(&plan)), "K501");
    fs::write(&plan, text).unwrap();
    let report = house.publish_plan(&plan).unwrap();
    assert_eq!((report.signed_by.as_deref(), report.approved_by.as_deref()), (Some(signer.id()), Some(approver.id())));
    let log = use_cases::log(house.project.path()).unwrap();
    assert_eq!(log.events.last().unwrap().approved_by.as_deref(), Some(approver.id()));
    assert!(verify(house.project.path(), &[signer]).whole);
}

#[test]
fn a_key_that_the_policy_does_not_list_publishes_nothing() {
    let house = House::new();
    let other = house.approver().create(None).unwrap().public;
    house.policy(&format!("[signatures]\nsigners = [{:?}]\n", other.text()));
    assert_eq!(code(house.publish(1)), "K604", "no key at all");
    house.keys().create(None).unwrap();
    assert_eq!(code(house.publish(1)), "K604", "another key");
    house.policy("[signatures]\nsigners = [\"RWnonsense\"]\n");
    assert_eq!(code(house.publish(1)), "P242");
}

#[test]
fn a_passphrase_is_needed_and_must_be_right() {
    let house = House::new();
    house.keys().create(Some("correct horse")).unwrap();
    assert!(house.keys().has_passphrase().unwrap());
    assert_eq!(code(house.publish(1)), "K601");
    let asked = |word: &'static str| house.keys().asking(Arc::new(move |_| Some(word.into()))).signer();
    assert_eq!(asked("battery staple").unwrap_err().code(), "K602");
    assert!(asked("correct horse").unwrap().is_some());
    let secret = fs::read_to_string(house.keys().path().join("signing.key")).unwrap();
    assert!(!secret.contains("horse"));
}

#[cfg(unix)]
#[test]
fn a_secret_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let house = House::new();
    house.keys().create(None).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let (folder, secret) = (house.keys().path().to_path_buf(), house.keys().path().join("signing.key"));
    assert_eq!((mode(&folder), mode(&secret)), (0o700, 0o600));
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o640)).unwrap();
    assert_eq!(code(house.publish(1)), "K504");
    fs::remove_file(&secret).unwrap();
    std::os::unix::fs::symlink("/etc/hostname", &secret).unwrap();
    assert_eq!(house.keys().signer().unwrap_err().code(), "K505");
}

#[test]
fn no_secret_is_printed() {
    let house = House::new();
    let key = house.keys().create(None).unwrap();
    let signer = house.keys().signer().unwrap().unwrap();
    let secret = fs::read_to_string(house.keys().path().join("signing.key")).unwrap();
    let encoded = secret.lines().nth(1).unwrap();
    let printed = format!("{signer:?} {key:?} {:?}", house.keys());
    assert_eq!(printed.matches(key.public.id()).count(), 2, "{printed}");
    assert!(printed.len() < 400 && !printed.contains(&encoded[..20]), "{printed}");
    for damaged in ["", "untrusted comment: x\nnonsense\n", &secret[..secret.len() - 20]] {
        fs::write(house.keys().path().join("signing.key"), damaged).unwrap();
        let error = house.keys().signer().unwrap_err();
        assert!(matches!(error, KeyError::Damaged { .. }) && !error.to_string().contains(encoded), "{error}");
    }
}

/// Lines that are signed read back, and a crash's remains are still told from damage.
#[test]
fn every_flipped_byte_of_a_signed_ledger_is_an_error() {
    let house = House::new();
    house.keys().create(None).unwrap();
    house.publish(1).unwrap();
    let path = house.project.path().join(".tacenda/ledger.jsonl");
    let good = fs::read(&path).unwrap();
    for at in (0..good.len()).step_by(7) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&path, &bad).unwrap();
        let opened = Store::open_read(Arc::new(RealDisk), house.project.path());
        assert_eq!(opened.err().map(|error| error.code()), Some("L501"), "byte {at}");
    }
}
