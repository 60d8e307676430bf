//! Whoever restores, copies, forks or tampers with a project is told so, and nobody's files are lost.

use crate::small_project::{init, publish};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tacenda::ledger::{Anchors, Disk, LedgerError, RealDisk, Store};
use tacenda::model::Hierarchy;
use tacenda::use_cases::VerifyRequest;
use tacenda::{ledger, use_cases};

fn real() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn project(releases: u32) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(real(), folder.path()).unwrap();
    (1..=releases).for_each(|number| publish(&mut store, number).unwrap());
    folder
}

fn copy(from: &Path, to: &Path) {
    let done = std::process::Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(done.success());
}

#[cfg(unix)]
#[test]
fn a_link_in_the_project_costs_nobody_their_files() {
    let staged = ".tacenda/staging/r0002.0a1b2c3d";
    for link in
        [".tacenda/staging", ".tacenda/vault", ".tacenda", ".tacenda/lock", "releases", "releases/wards", staged]
    {
        let (folder, outside) = (project(1), tempfile::tempdir().unwrap());
        let precious = outside.path().join("precious/r0001");
        fs::create_dir_all(&precious).unwrap();
        let place = folder.path().join(link);
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => fs::remove_dir_all(&place).unwrap(),
            Ok(_) => fs::remove_file(&place).unwrap(),
            Err(_) => {}
        }
        std::os::unix::fs::symlink(outside.path().join("precious"), &place).unwrap();
        let refused = Store::open_write(real(), folder.path()).err().map(|error| error.code());
        assert_eq!(refused, Some("L509"), "{link}");
        assert!(precious.exists(), "{link}");
    }
    // A ledger that lies elsewhere reads like any other, and its next line would be written there.
    let (folder, outside) = (project(1), tempfile::tempdir().unwrap());
    let (ledger, elsewhere) = (folder.path().join(".tacenda/ledger.jsonl"), outside.path().join("ledger.jsonl"));
    fs::rename(&ledger, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &ledger).unwrap();
    assert_eq!(Store::open_write(real(), folder.path()).unwrap_err().code(), "L509");
    assert_eq!(Store::open_read(real(), folder.path()).unwrap_err().code(), "L509");
}

#[test]
fn a_stray_file_in_staging_stays_and_stops_nobody() {
    let folder = project(1);
    let stray = folder.path().join(".tacenda/staging/.DS_Store");
    fs::write(&stray, "").unwrap();
    publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    assert!(stray.exists());
}

#[cfg(unix)]
#[test]
fn a_vault_that_others_can_read_is_refused_and_the_advice_works() {
    use std::os::unix::fs::PermissionsExt;
    for (name, mode) in [("", 0o755), ("/seed", 0o644), ("/head", 0o660)] {
        let folder = project(1);
        let path = PathBuf::from(format!("{}/.tacenda/vault{name}", folder.path().display()));
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(Store::open_read(real(), folder.path()).unwrap_err().code(), "L510", "{name}");
        assert_eq!(Store::open_write(real(), folder.path()).unwrap_err().code(), "L510", "{name}");
        let advice = ["-R", "go-rwx", ".tacenda/vault"];
        let done = std::process::Command::new("chmod").args(advice).current_dir(folder.path()).status().unwrap();
        assert!(done.success());
        publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    }
}

/// A ledger or an anchor that everybody may write says what anybody wants it to say.
#[cfg(unix)]
#[test]
fn what_everybody_may_write_vouches_for_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    // What the error says to run.
    let mend = |error: &LedgerError, folder: &Path| {
        assert_eq!((error.code(), error.exit_code()), ("L510", 5), "{error}");
        let said = error.to_string();
        let advice = said.split("run: ").nth(1).unwrap();
        let done = std::process::Command::new("sh").args(["-c", advice]).current_dir(folder).status().unwrap();
        assert!(done.success(), "{advice}");
    };
    for (name, loose) in [(".tacenda", 0o777), (".tacenda/ledger.jsonl", 0o666)] {
        let folder = project(1);
        set(&folder.path().join(name), loose);
        let opened = [
            Store::open_read(real(), folder.path()),
            Store::open_look(real(), folder.path()),
            Store::open_outside(real(), folder.path()),
            Store::open_write(real(), folder.path()),
        ];
        let errors: Vec<LedgerError> = opened.into_iter().map(|opened| opened.err().unwrap()).collect();
        errors.iter().for_each(|error| mend(error, folder.path()));
        publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    }
    let (state, folder) = (tempfile::tempdir().unwrap(), project(1));
    let place = state.path().join("anchors of 'us'");
    let anchors = Anchors::at(&place);
    let mut store = Store::open_write(real(), folder.path()).unwrap();
    store.hold_against(&anchors, "now", None).unwrap();
    let anchor = fs::read_dir(&place).unwrap().next().unwrap().unwrap().path();
    assert_eq!((mode(&place), mode(&anchor)), (0o700, 0o600), "made for their owner alone");
    for (path, loose) in [(&place, 0o777), (&anchor, 0o666)] {
        set(path, loose);
        let looked = store.compare_with(&anchors).unwrap_err();
        assert_eq!(looked.code(), "L510");
        mend(&store.hold_against(&anchors, "now", None).unwrap_err(), folder.path());
        store.hold_against(&anchors, "now", None).unwrap();
    }
}

/// The lock is removed while a writer waits, and another one publishes: what the first finds then is that one's work, not damage.
#[test]
fn a_writer_that_was_overtaken_is_told_of_no_damage() {
    let folder = project(1);
    let mut late = Store::open_write(real(), folder.path()).unwrap();
    fs::remove_file(folder.path().join(".tacenda/lock")).unwrap();
    publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
    // The files of the state that it opened are gone, and there is a release that it has no line for.
    let codes = [
        late.history().err().map(|error| error.code()),
        late.snapshot().err().map(|error| error.code()),
        late.policy().err().map(|error| error.code()),
        late.pack(&RealDisk, &[], &mut Vec::<u8>::new()).err().map(|error| error.code()),
        publish(&mut late, 2).err().map(|error| error.code()),
    ];
    assert_eq!(codes, [Some("E708"); 5]);
    drop(late);
    assert!(ledger::verify(&Store::open_read(real(), folder.path()).unwrap()).is_empty());
    publish(&mut Store::open_write(real(), folder.path()).unwrap(), 3).unwrap();
}

/// A publish runs between the moment the ledger is read and the moment files are compared with it.
#[test]
fn verify_beside_a_publish_tells_of_no_damage() {
    let folder = project(1);
    let is_done = AtomicBool::new(false);
    let meanwhile = |_: usize, _: &str| {
        if !is_done.swap(true, Ordering::Relaxed) {
            publish(&mut Store::open_write(real(), folder.path()).unwrap(), 2).unwrap();
        }
    };
    let request = VerifyRequest::of(folder.path());
    let error = use_cases::verify(&request, &meanwhile).unwrap_err();
    assert_eq!((error.code(), error.exit_code()), ("E707", 7));
    assert!(ledger::verify(&Store::open_read(real(), folder.path()).unwrap()).is_empty());
}

#[test]
fn any_earlier_state_is_refused_whatever_is_published_then() {
    let (state, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let anchors = Anchors::at(state.path());
    let mut store = init(real(), folder.path()).unwrap();
    store.hold_against(&anchors, "now", None).unwrap();
    let mut backups = Vec::new();
    for number in 1..=4 {
        let backup = tempfile::tempdir().unwrap();
        copy(folder.path(), backup.path());
        backups.push(backup);
        publish(&mut store, number).unwrap();
    }
    drop(store);
    for (releases, backup) in backups.iter().enumerate() {
        let mut restored = Store::open_write(real(), backup.path()).unwrap();
        let refused = restored.hold_against(&anchors, "now", None).unwrap_err();
        assert_eq!((refused.code(), refused.exit_code()), ("L511", 5), "with {releases} releases");
        assert_eq!(Store::open_look(real(), backup.path()).unwrap().compare_with(&anchors).unwrap_err().code(), "L511");
    }
    // The newest state goes on.
    let mut newest = Store::open_write(real(), folder.path()).unwrap();
    newest.hold_against(&anchors, "now", None).unwrap();
    publish(&mut newest, 5).unwrap();
    drop(newest);
    // A person may go on from an older one, and the ledger says why.
    let mut restored = Store::open_write(real(), backups[3].path()).unwrap();
    restored.hold_against(&anchors, "now", Some("release 4 never left the house")).unwrap();
    publish(&mut restored, 4).unwrap();
    drop(restored);
    let mut again = Store::open_write(real(), backups[3].path()).unwrap();
    again.hold_against(&anchors, "now", None).unwrap();
    let told = again.events().iter().any(|event| format!("{:?}", event.what).contains("never left the house"));
    assert!(told);
    // The other branch is behind now: two series with one seed are never both continued unnoticed.
    let mut other = Store::open_write(real(), folder.path()).unwrap();
    assert_eq!(other.hold_against(&anchors, "now", None).unwrap_err().code(), "L511");
}

#[test]
fn a_damaged_anchor_is_said_to_be_one() {
    let (state, folder) = (tempfile::tempdir().unwrap(), project(1));
    let anchors = Anchors::at(state.path());
    Store::open_write(real(), folder.path()).unwrap().hold_against(&anchors, "now", None).unwrap();
    let file = fs::read_dir(state.path()).unwrap().next().unwrap().unwrap().path();
    let good = fs::read(&file).unwrap();
    fs::write(&file, &good[..good.len() / 2]).unwrap();
    let mut store = Store::open_write(real(), folder.path()).unwrap();
    let error = store.hold_against(&anchors, "now", None).unwrap_err();
    assert!(matches!(error, LedgerError::BadAnchor { .. }));
    // The advice of the error.
    fs::remove_file(&file).unwrap();
    store.hold_against(&anchors, "now", None).unwrap();
    assert_eq!(fs::read(&file).unwrap(), good);
}

/// 200,000 postcodes are a tree like any other, and in the long run two million: time grows with the leaves, not with their
/// square.
#[test]
fn a_large_tree_is_read_in_seconds() {
    let leaves = if std::env::var_os("TACENDA_LONG").is_some() { 2_000_000 } else { 200_000 };
    let rows: Vec<Vec<String>> =
        (0..leaves).map(|leaf| vec![leaf.to_string(), format!("{}*", leaf / 100), "*".into()]).collect();
    let start = Instant::now();
    assert_eq!(Hierarchy::from_rows(&rows).unwrap().leaf_count(), leaves);
    println!("{leaves} leaves were read in {:?}", start.elapsed());
    // With every leaf held against every node it took minutes.
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
}
