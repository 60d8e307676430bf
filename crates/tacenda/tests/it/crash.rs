//! Power is lost at every single operation: what is found afterwards is the old state or the new.

use crate::crash_disk::{CrashDisk, DiskFault, Kept};
use crate::small_project::{adopt, init, publish, root, state};
use std::sync::Arc;
use tacenda::ledger::{Disk, Folder, Forgotten, LedgerError, Store, What, verify};
use tacenda::model::{History, Table};

fn ways_to_lose() -> impl Iterator<Item = Kept> {
    [Kept::Nothing, Kept::Everything, Kept::Half].into_iter().chain((1..=5).map(Kept::Random))
}

fn empty() -> Arc<CrashDisk> {
    let disk = CrashDisk::new();
    disk.create_folder(root(), Folder::Plain).unwrap();
    disk.sync_folder(root().parent().unwrap()).unwrap();
    disk.copy(DiskFault::Never)
}

/// A project with so many releases.
fn project(releases: u32) -> Arc<CrashDisk> {
    let disk = empty();
    let mut store = init(Arc::clone(&disk) as Arc<dyn Disk>, root()).unwrap();
    for number in 1..=releases {
        publish(&mut store, number).unwrap();
    }
    drop(store);
    disk
}

fn open_write(disk: &Arc<CrashDisk>) -> Result<Store, LedgerError> {
    Store::open_write(Arc::clone(disk) as Arc<dyn Disk>, root())
}

fn open_read(disk: &Arc<CrashDisk>) -> Result<Store, LedgerError> {
    Store::open_read(Arc::clone(disk) as Arc<dyn Disk>, root())
}

/// Asserts that the state is whole, whatever it is.
fn assert_state(store: &Store) {
    if store.releases() == 0 {
        assert!(store.snapshot().unwrap().is_none());
    } else {
        let (history, snapshot) = state(store.releases());
        assert!(store.history().unwrap() == history);
        assert!(store.snapshot().unwrap() == Some(snapshot));
    }
}

/// Asserts that the disk holds exactly the files of a project with so many releases.
fn assert_tidy(disk: &CrashDisk, store: &Store) {
    let faults = verify(store);
    assert!(faults.is_empty(), "{faults:?}");
    let number = store.releases();
    let mut wanted: Vec<String> =
        ["ledger.jsonl", "lock", "vault/head", "vault/seed"].map(|name| name.to_string()).into();
    wanted.push(format!("vault/policy-{number:04}"));
    if number > 0 {
        let kinds = ["keys", "records", "past", "regions", "cells", "snapshot"];
        wanted.extend(kinds.map(|kind| format!("vault/{kind}-{number:04}.parquet")));
        wanted.extend(["history", "snapshot"].map(|kind| format!("vault/{kind}-{number:04}.json")));
    }
    let mut wanted: Vec<String> = wanted.iter().map(|name| format!("/project/.tacenda/{name}")).collect();
    for number in 1..=number {
        wanted
            .extend(["manifest.json", "wards.csv"].map(|name| format!("/project/releases/wards/r{number:04}/{name}")));
    }
    wanted.sort();
    let mut found: Vec<String> = disk.files().into_keys().map(|name| without_attempt(&name)).collect();
    found.sort();
    assert_eq!(found, wanted);
}

/// The name of a file of the vault without the attempt that wrote it.
fn without_attempt(name: &str) -> String {
    match (
        name.contains("/vault/"),
        name.split_once('.').and_then(|(before, _)| name[before.len() + 1..].split_once('.')),
    ) {
        // `/project/.tacenda/vault/keys-0001.3fa9c1d2.parquet`: the first point is that of the folder.
        (true, Some((stem, rest))) => match rest.split_once('.') {
            Some((_, ending)) => format!("/project/.{stem}.{ending}"),
            None => format!("/project/.{stem}"),
        },
        _ => name.to_string(),
    }
}

/// Opens what a crash left, asserts that it is whole and that the series goes on. Returns the
/// number of releases that were found.
fn carry_on(disk: &Arc<CrashDisk>) -> u32 {
    let mut store = open_what_is_left(disk);
    let found = store.releases();
    publish(&mut store, found + 1).unwrap();
    assert_tidy(disk, &store);
    drop(store);
    assert_state(&open_write(disk).unwrap());
    found
}

/// Opens what a crash left, first for reading and then for writing, and asserts that it is whole.
fn open_what_is_left(disk: &Arc<CrashDisk>) -> Store {
    let before = disk.files();
    let reader = open_read(disk).unwrap();
    assert_state(&reader);
    assert!(disk.files() == before, "readers write nothing");
    let store = open_write(disk).unwrap();
    assert_eq!(store.events(), reader.events());
    assert_state(&store);
    assert_tidy(disk, &store);
    store
}

#[test]
fn a_crash_at_any_operation_of_a_publish_leaves_the_old_state_or_the_new() {
    for releases in [0, 2] {
        let start = project(releases);
        let whole = start.copy(DiskFault::Never);
        let mut store = open_write(&whole).unwrap();
        let opening = whole.operations().0;
        publish(&mut store, releases + 1).unwrap();
        let mut seen = [0, 0];
        for at in opening + 1..=whole.operations().0 + 1 {
            let disk = start.copy(DiskFault::Crash(at));
            let result = publish(&mut open_write(&disk).unwrap(), releases + 1);
            for kept in ways_to_lose() {
                let left = disk.after_crash(kept);
                let found = match kept {
                    Kept::Nothing | Kept::Random(1) => carry_on(&left),
                    _ => open_what_is_left(&left).releases(),
                };
                assert!(found == releases || found == releases + 1);
                assert!(result.is_err() || found == releases + 1, "what was said to be published is there");
                seen[(found - releases) as usize] += 1;
            }
        }
        assert!(seen[0] > 100 && seen[1] > 50, "both sides of the commit were tried: {seen:?}");
    }
}

#[test]
fn a_crash_at_any_operation_of_an_adoption_leaves_the_old_state_or_the_new() {
    for releases in [0, 1] {
        let start = project(releases);
        let whole = start.copy(DiskFault::Never);
        let mut store = open_write(&whole).unwrap();
        let opening = whole.operations().0;
        adopt(&mut store, releases + 1).unwrap();
        assert!(store.events().last().unwrap().is_adoption());
        let mut seen = [0, 0];
        for at in opening + 1..=whole.operations().0 + 1 {
            let disk = start.copy(DiskFault::Crash(at));
            let result = adopt(&mut open_write(&disk).unwrap(), releases + 1);
            for kept in [Kept::Nothing, Kept::Everything, Kept::Half, Kept::Random(1)] {
                let found = carry_on(&disk.after_crash(kept));
                assert!(found == releases || found == releases + 1);
                assert!(result.is_err() || found == releases + 1, "what was said to be adopted is there");
                seen[(found - releases) as usize] += 1;
            }
        }
        assert!(seen[0] > 50 && seen[1] > 25, "both sides of the commit were tried: {seen:?}");
    }
}

/// The state after release `number` without the first of those who are there.
fn forgotten(number: u32) -> (History, Table) {
    let (mut history, table) = state(number);
    let keys = [table.keys()[0]];
    history.forget(&keys, true);
    (history, table.without(&keys).0)
}

fn forget(store: &mut Store) -> Result<(), LedgerError> {
    let (history, table) = forgotten(store.releases());
    store.forget("2026-05-01T00:00:00Z", Forgotten { people: 1, retain: None }, &history, &table)
}

#[test]
fn a_crash_at_any_operation_of_an_erasure_leaves_the_old_state_or_the_new() {
    let start = project(2);
    let whole = start.copy(DiskFault::Never);
    let mut store = open_write(&whole).unwrap();
    let opening = whole.operations().0;
    store.keep_planned("0123456789abcdef", &state(2).1).unwrap();
    forget(&mut store).unwrap();
    assert_tidy(&whole, &store);
    let ending = whole.operations().0;
    // The same store goes on.
    publish(&mut store, 3).unwrap();
    assert_tidy(&whole, &store);
    let mut seen = [0, 0];
    for at in opening + 1..=ending + 1 {
        let disk = start.copy(DiskFault::Crash(at));
        let result = open_write(&disk).and_then(|mut store| forget(&mut store));
        for kept in [Kept::Nothing, Kept::Everything, Kept::Half, Kept::Random(1)] {
            let left = disk.after_crash(kept);
            let mut store = open_write(&left).unwrap();
            let is_new = matches!(store.events().last().unwrap().what, What::Erase(_));
            let (history, table) = if is_new { forgotten(2) } else { state(2) };
            assert!(store.history().unwrap() == history && store.snapshot().unwrap() == Some(table));
            assert!(result.is_err() || is_new, "what was said to be erased is gone");
            // Nothing of the other state is left on the disk.
            assert_tidy(&left, &store);
            publish(&mut store, 3).unwrap();
            assert_tidy(&left, &store);
            seen[usize::from(is_new)] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[1] > 25, "both sides of the commit were tried: {seen:?}");
}

#[test]
fn a_crash_at_any_operation_of_init_leaves_no_project_or_a_whole_one() {
    let whole = empty();
    drop(init(Arc::clone(&whole) as Arc<dyn Disk>, root()).unwrap());
    let mut seen = [0, 0];
    for at in 1..=whole.operations().0 + 1 {
        let disk = empty().copy(DiskFault::Crash(at));
        let result = init(Arc::clone(&disk) as Arc<dyn Disk>, root());
        for kept in ways_to_lose() {
            let found = disk.after_crash(kept);
            match open_write(&found) {
                Ok(store) => assert_tidy(&found, &store),
                Err(LedgerError::NoProject { .. }) => {
                    assert!(result.is_err(), "what was said to be set up is there");
                    assert!(matches!(open_read(&found), Err(LedgerError::NoProject { .. })));
                    drop(init(Arc::clone(&found) as Arc<dyn Disk>, root()).unwrap());
                    seen[0] += 1;
                }
                Err(other) => panic!("{other}"),
            }
            assert_eq!(carry_on(&found), 0);
            seen[1] += 1;
        }
    }
    assert!(seen[0] > 50 && seen[1] > seen[0], "both sides of the commit were tried: {seen:?}");
}

#[test]
fn a_crash_while_a_crash_is_being_cleaned_up_changes_nothing() {
    let start = project(1);
    let whole = start.copy(DiskFault::Never);
    let mut store = open_write(&whole).unwrap();
    let opening = whole.operations().0;
    publish(&mut store, 2).unwrap();
    let mut tried = 0;
    for at in opening + 1..=whole.operations().0 {
        let disk = start.copy(DiskFault::Crash(at));
        // Near the end only sweeping is left, and its failure is no one's concern.
        let _ = publish(&mut open_write(&disk).unwrap(), 2);
        assert!(disk.is_dead());
        for kept in [Kept::Nothing, Kept::Everything, Kept::Half, Kept::Random(9)] {
            let left = disk.after_crash(kept);
            let committed = open_read(&left).unwrap().releases();
            let whole = left.copy(DiskFault::Never);
            drop(open_write(&whole).unwrap());
            for again in 1..=whole.operations().0 {
                let second = left.copy(DiskFault::Crash(again));
                assert!(open_write(&second).is_err());
                for kept in [Kept::Nothing, Kept::Everything, Kept::Random(again as u64)] {
                    let third = second.after_crash(kept);
                    let store = open_write(&third).unwrap();
                    assert_eq!(store.releases(), committed);
                    assert_tidy(&third, &store);
                    tried += 1;
                }
            }
        }
    }
    assert!(tried > 1000, "{tried}");
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let start = project(1);
    let whole = start.copy(DiskFault::Never);
    publish(&mut open_write(&whole).unwrap(), 2).unwrap();
    let before = start.files();
    for at in 1..=whole.operations().1 {
        let disk = start.copy(DiskFault::Full(at));
        let mut store = open_write(&disk).unwrap();
        let error = publish(&mut store, 2).unwrap_err();
        assert_eq!((error.code(), error.exit_code()), ("E702", 7), "{error}");
        assert!(disk.files() == before, "at {at}");
        // Whatever is tried next says no too, and changes nothing either.
        assert_eq!(publish(&mut store, 2).unwrap_err().exit_code(), 7);
        assert!(disk.files() == before);
        drop(store);
        assert_eq!(carry_on(&disk.copy(DiskFault::Never)), 1);
    }
}

#[test]
fn a_full_disk_leaves_nothing_behind_of_an_init() {
    let whole = empty();
    drop(init(Arc::clone(&whole) as Arc<dyn Disk>, root()).unwrap());
    for at in 1..=whole.operations().1 {
        let disk = empty().copy(DiskFault::Full(at));
        let error = init(Arc::clone(&disk) as Arc<dyn Disk>, root()).unwrap_err();
        assert_eq!((error.code(), error.exit_code()), ("E702", 7), "{error}");
        assert!(disk.files().is_empty(), "at {at}");
    }
}

#[test]
fn an_operation_that_fails_once_is_told_and_taken_back_or_finished() {
    let start = project(1);
    let whole = start.copy(DiskFault::Never);
    let mut store = open_write(&whole).unwrap();
    let opening = whole.operations().0;
    publish(&mut store, 2).unwrap();
    let mut codes = std::collections::BTreeMap::new();
    for at in opening + 1..=whole.operations().0 {
        let disk = start.copy(DiskFault::Once(at));
        let mut store = open_write(&disk).unwrap();
        let result = publish(&mut store, 2);
        let committed = match &result {
            Ok(()) | Err(LedgerError::Unfinished { .. }) => 2,
            Err(LedgerError::Disk { .. }) => 1,
            Err(other) => panic!("{other}"),
        };
        if result.is_err() && store.events().len() == 2 && committed == 2 {
            panic!("a committed line is among the events");
        }
        *codes.entry(result.map_or_else(|error| error.code(), |()| "ok")).or_insert(0) += 1;
        drop(store);
        assert_eq!(carry_on(&disk.copy(DiskFault::Never)), committed);
        // Power may be lost right after, too.
        for kept in ways_to_lose() {
            assert_eq!(open_what_is_left(&disk.after_crash(kept)).releases(), committed, "at {at}, {kept:?}");
        }
    }
    assert_eq!(codes.keys().copied().collect::<Vec<_>>(), ["E703", "E705", "ok"]);
}

#[test]
fn after_a_failed_commit_the_store_asks_to_be_reopened() {
    let start = project(1);
    let whole = start.copy(DiskFault::Never);
    publish(&mut open_write(&whole).unwrap(), 2).unwrap();
    // The last thing that takes space is the line itself.
    let disk = start.copy(DiskFault::Full(whole.operations().1));
    let mut store = open_write(&disk).unwrap();
    assert_eq!(publish(&mut store, 2).unwrap_err().code(), "E702");
    assert_eq!(publish(&mut store, 2).unwrap_err().code(), "E704");
}

#[test]
fn a_release_that_the_ledger_does_not_know_stops_everything() {
    let disk = project(2);
    for name in ["r0003", "r0000", "r00001"] {
        let disk = disk.copy(DiskFault::Never);
        disk.create_folder(&root().join("releases/wards").join(name), Folder::Plain).unwrap();
        for error in [open_read(&disk).unwrap_err(), open_write(&disk).unwrap_err()] {
            assert_eq!((error.code(), error.exit_code()), ("L505", 5));
            assert!(error.to_string().contains(&format!("releases/wards/{name}")), "{error}");
        }
    }
    // Other names, and the releases of another series, are nobody's business.
    for name in ["wards/latest", "wards/r1", "beds/r0009"] {
        disk.create_folder(&root().join("releases").join(name), Folder::Plain).unwrap();
        open_write(&disk).unwrap();
    }
}

#[test]
fn a_second_writer_waits() {
    let disk = project(1);
    let first = open_write(&disk).unwrap();
    let error = open_write(&disk).unwrap_err();
    assert_eq!((error.code(), error.exit_code()), ("E701", 7));
    drop(first);
    open_write(&disk).unwrap();
}
