//! Every byte of ledger and vault matters: a damaged file is an error that names it, never a panic,
//! and never a shorter or another history.

use crate::crash_disk::{CrashDisk, DiskFault};
use crate::small_project::{init, publish, root, state};
use std::sync::Arc;
use tacenda::ledger::{Disk, Folder, LedgerError, Store, verify};

fn project(releases: u32) -> Arc<CrashDisk> {
    let disk = CrashDisk::new();
    disk.create_folder(root(), Folder::Plain).unwrap();
    let disk = disk.copy(DiskFault::Never);
    let mut store = init(Arc::clone(&disk) as Arc<dyn Disk>, root()).unwrap();
    for number in 1..=releases {
        publish(&mut store, number).unwrap();
    }
    drop(store);
    disk
}

/// Opens the project and loads everything a publish needs.
fn load(store: Result<Store, LedgerError>) -> Result<Store, LedgerError> {
    let store = store?;
    store.policy()?;
    let (history, snapshot) = (store.history()?, store.snapshot()?);
    let wanted = state(store.releases());
    assert!(history == wanted.0 && snapshot == Some(wanted.1), "another history in silence");
    Ok(store)
}

/// Asserts that a damaged project is refused, for readers and writers, and that the error names the file.
fn assert_refused(disk: &Arc<CrashDisk>, path: &str, what: &str) {
    assert_refused_to_readers(disk, path, what);
    // A writer may tidy up before it sees the damage: let it do so elsewhere.
    let disk = disk.copy(DiskFault::Never);
    let write = load(Store::open_write(Arc::clone(&disk) as Arc<dyn Disk>, root()));
    assert_names(write, path, what);
}

fn assert_refused_to_readers(disk: &Arc<CrashDisk>, path: &str, what: &str) {
    let read = load(Store::open_read(Arc::clone(disk) as Arc<dyn Disk>, root()));
    assert_names(read, path, what);
}

fn assert_names(result: Result<Store, LedgerError>, path: &str, what: &str) {
    let name = path.strip_prefix("/project/").unwrap();
    let Err(error) = result else { panic!("{name}: {what} unseen") };
    assert_eq!(error.exit_code(), 5, "{name}: {what}: {error}");
    assert!(error.to_string().contains(name), "{name}: {what}: {error}");
}

#[test]
fn every_flipped_byte_of_ledger_and_vault_is_seen() {
    let disk = project(2);
    let mut flipped = 0;
    for (path, good) in disk.files() {
        if !path.starts_with("/project/.tacenda/") || path.ends_with("/lock") {
            continue;
        }
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= [0x01, 0x80, 0xff, 0x20][at % 4];
            disk.tamper(&path, bad);
            let what = format!("byte {at} flipped");
            match at % 8 {
                0 => assert_refused(&disk, &path, &what),
                _ => assert_refused_to_readers(&disk, &path, &what),
            }
            flipped += 1;
        }
        disk.tamper(&path, good);
    }
    assert!(flipped > 5000, "{flipped}");
    load(Store::open_write(disk, root())).unwrap();
}

#[test]
fn every_truncation_of_ledger_and_vault_is_seen() {
    let disk = project(2);
    for (path, good) in disk.files() {
        if !path.starts_with("/project/.tacenda/") || path.ends_with("/lock") {
            continue;
        }
        for len in 0..good.len() {
            disk.tamper(&path, good[..len].to_vec());
            let what = format!("cut to {len} bytes");
            match len % 8 {
                0 => assert_refused(&disk, &path, &what),
                _ => assert_refused_to_readers(&disk, &path, &what),
            }
        }
        disk.tamper(&path, [&good[..], b"\n"].concat());
        if path.ends_with("ledger.jsonl") {
            assert_refused(&disk, &path, "an empty line added");
        } else {
            assert_refused(&disk, &path, "a byte added");
        }
        disk.tamper(&path, good);
    }
}

#[test]
fn every_missing_file_is_seen() {
    let disk = project(2);
    for path in disk.files().into_keys() {
        if !path.starts_with("/project/.tacenda/") || path.ends_with("/lock") {
            continue;
        }
        let disk = disk.copy(DiskFault::Never);
        disk.remove_file(std::path::Path::new(&path)).unwrap();
        assert_refused(&disk, &path, "removed");
    }
}

#[test]
fn an_older_vault_put_back_is_seen() {
    let disk = project(1);
    let old = disk.files();
    let mut store = Store::open_write(Arc::clone(&disk) as Arc<dyn Disk>, root()).unwrap();
    publish(&mut store, 2).unwrap();
    drop(store);
    // The ledger of release 1 with the vault of release 2, and the other way round.
    let now = disk.files();
    let ledger = "/project/.tacenda/ledger.jsonl";
    disk.tamper(ledger, old[ledger].clone());
    assert_refused(&disk, ledger, "put back");
    disk.tamper(ledger, now[ledger].clone());
    let head = "/project/.tacenda/vault/head";
    disk.tamper(head, old[head].clone());
    // An older head alone is what a crash leaves; it is finished and nothing is lost.
    load(Store::open_write(Arc::clone(&disk) as Arc<dyn Disk>, root())).unwrap();
    assert!(disk.files() == now);
}

#[test]
fn every_flipped_byte_of_a_release_is_found_by_verify() {
    let disk = project(2);
    let store = Store::open_read(Arc::clone(&disk) as Arc<dyn Disk>, root()).unwrap();
    for (path, good) in disk.files() {
        let Some(name) = path.strip_prefix("/project/").filter(|name| name.starts_with("releases/")) else {
            continue;
        };
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            disk.tamper(&path, bad);
            let faults = verify(&store);
            assert_eq!(faults.len(), 1);
            assert!(faults[0].code() == "L507" && faults[0].to_string().starts_with(name), "{}", faults[0]);
        }
        disk.tamper(&path, good);
    }
    assert!(verify(&store).is_empty());
}

#[test]
fn the_ledger_shows_no_private_number() {
    let disk = project(2);
    let ledger = String::from_utf8(disk.files().remove("/project/.tacenda/ledger.jsonl").unwrap()).unwrap();
    // People ever seen: 6. Facts: u64::MAX. Texts of values and the policy stay in the vault.
    for private in ["angina", "night ward", "18446744073709551615", "policy = 1", "\"records\":"] {
        assert!(!ledger.contains(private), "{private}");
    }
    // Digests are keyed, so that no guess can be tried out, and equal files have different ones.
    let mut seen = std::collections::BTreeSet::new();
    for line in ledger.lines().skip(1) {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        for (name, digest) in line["vault"].as_object().unwrap() {
            assert!(seen.insert(digest.to_string()) || name == "seed", "{name}");
            let plain =
                disk.files().values().any(|bytes| blake3::hash(bytes).to_hex().as_str() == digest.as_str().unwrap());
            assert!(!plain, "digests are keyed");
        }
    }
}
