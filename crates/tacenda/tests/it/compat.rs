//! Projects made by earlier versions open, read back and go on.
//!
//! `tests/compat/v1/` is a small project with two releases (`.tacenda` is kept as `dot-tacenda`, so
//! that it is not taken for a project of this folder). With `TACENDA_REGENERATE=1` the test writes
//! it anew; that is right only as long as no version with this format was released.

use crate::small_project::{init, publish, state};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::ledger::{RealDisk, Store, verify};

fn kept() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/v1")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let name = match entry.file_name().to_str().unwrap() {
            ".tacenda" => "dot-tacenda".to_string(),
            "dot-tacenda" => ".tacenda".to_string(),
            name => name.to_string(),
        };
        if name == "lock" || name == "staging" {
            continue;
        }
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(name));
        } else {
            fs::copy(entry.path(), to.join(name)).unwrap();
        }
    }
}

#[test]
fn a_project_of_format_1_opens_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    if std::env::var_os("TACENDA_REGENERATE").is_some() {
        let made = tempfile::tempdir().unwrap();
        let mut store = init(Arc::new(RealDisk), made.path()).unwrap();
        publish(&mut store, 1).unwrap();
        publish(&mut store, 2).unwrap();
        drop(store);
        let _ = fs::remove_dir_all(kept());
        copy(made.path(), &kept());
    }
    copy(&kept(), folder.path());

    let reader = Store::open_read(Arc::new(RealDisk), folder.path()).unwrap();
    let (history, snapshot) = state(2);
    assert!(reader.history().unwrap() == history);
    assert!(reader.snapshot().unwrap() == Some(snapshot));
    assert_eq!((reader.series(), reader.seed().0), ("wards", [7; 32]));
    assert_eq!(reader.policy().unwrap().1, "policy = 1\n");
    assert!(verify(&reader).is_empty());

    let mut store = Store::open_write(Arc::new(RealDisk), folder.path()).unwrap();
    publish(&mut store, 3).unwrap();
    assert!(verify(&store).is_empty());
}
