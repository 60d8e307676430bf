//! Projects made by earlier versions open, read back and go on.
//!
//! `tests/compat/v1/` is a small project with two releases (`.tacenda` is kept as `dot-tacenda`, so
//! that it is not taken for a project of this folder). With `TACENDA_REGENERATE=1` the test writes
//! it anew; that is right only as long as no version with this format was released.
//!
//! `tests/compat/policies/` has, per promise, a policy file, what version 1 of a vault remembers of it
//! (`remembered.json`), and the manifest of a release made under it. These are never written anew.

use crate::small_project::{init, publish, state};
use serde_json::{Value as Json, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tacenda::folder::Manifest;
use tacenda::ingest::{Remembered, read_policy};
use tacenda::ledger::{RealDisk, Store, verify};
use tacenda::promise::PolicyFile;

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

/// Version control keeps no permissions.
fn close(vault: &Path) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let files = fs::read_dir(vault).unwrap().map(|entry| (entry.unwrap().path(), 0o600));
        for (path, mode) in files.chain([(vault.to_path_buf(), 0o700)]).collect::<Vec<_>>() {
            fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
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
    close(&folder.path().join(".tacenda/vault"));

    let reader = Store::open_read(Arc::new(RealDisk), folder.path()).unwrap();
    let (history, snapshot) = state(2);
    assert!(reader.history().unwrap() == history);
    assert!(reader.snapshot().unwrap() == Some(snapshot));
    assert_eq!((reader.series(), reader.seed().unwrap().0), ("wards", [7; 32]));
    assert_eq!(reader.policy().unwrap().1, "policy = 1\n");
    assert!(verify(&reader).is_empty());

    let mut store = Store::open_write(Arc::new(RealDisk), folder.path()).unwrap();
    publish(&mut store, 3).unwrap();
    assert!(verify(&store).is_empty());
}

/// A promise as an earlier version wrote it down.
struct Old {
    name: String,
    policy: PolicyFile,
    remembered: String,
    manifest: String,
}

impl Old {
    fn all() -> Vec<Old> {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/compat/policies");
        let old = |folder: PathBuf| Old {
            name: folder.file_name().unwrap().to_str().unwrap().to_string(),
            policy: read_policy(&folder.join("tacenda.toml")).unwrap().policy,
            remembered: fs::read_to_string(folder.join("remembered.json")).unwrap(),
            manifest: fs::read_to_string(folder.join("manifest.json")).unwrap(),
        };
        let all: Vec<Old> = fs::read_dir(kept).unwrap().map(|entry| old(entry.unwrap().path())).collect();
        assert_eq!(all.len(), 6, "the promises of version 1");
        all
    }

    /// The remembered text after `change`.
    fn changed(&self, change: impl Fn(&mut Json)) -> Option<Remembered> {
        let mut json: Json = serde_json::from_str(&self.remembered).unwrap();
        change(&mut json);
        Remembered::read(&json.to_string())
    }
}

#[test]
fn a_policy_remembered_by_version_1_is_read_and_followed() {
    for old in Old::all() {
        let before = Remembered::read(&old.remembered).unwrap_or_else(|| panic!("{} is not read", old.name));
        let now = Remembered::of(&old.policy);
        assert_eq!(before.may_be_followed_by(&now), Ok(()), "{}", old.name);
        assert_eq!(now.may_be_followed_by(&before), Ok(()), "{}", old.name);
        assert_eq!(Remembered::read(&now.write()), Some(now), "{}", old.name);
    }
}

#[test]
fn what_is_not_known_in_a_remembered_policy_is_refused() {
    for old in Old::all() {
        let name = &old.name[..];
        assert_eq!(old.changed(|json| json["promise"]["watcher"] = json!("rule")), None, "{name}");
        assert_eq!(old.changed(|json| json["promise"]["model"] = json!("another")), None, "{name}");
        assert_eq!(old.changed(|json| json["groups"] = json!("drawn")), None, "{name}");
        assert_eq!(old.changed(|json| json["version"] = json!(4)), None, "{name}");
        assert_eq!(old.changed(|json| json["columns"] = Json::Null), None, "{name}");
        // A parameter of another promise that is set.
        let foreign = if name == "incremental-k-anonymity" { ("m", json!(2)) } else { ("tight", json!(true)) };
        assert_eq!(old.changed(|json| json["promise"][foreign.0] = foreign.1.clone()), None, "{name}");
        // In what is written now, too.
        let mut now: Json = serde_json::from_str(&Remembered::of(&old.policy).write()).unwrap();
        now["promise"]["watcher"] = json!("rule");
        assert_eq!(Remembered::read(&now.to_string()), None, "{name}");
    }
}

/// A key with another name is missing, and not equal to what is missing elsewhere.
#[test]
fn a_mistyped_key_is_never_taken_for_equal() {
    for old in Old::all() {
        let mut now: Json = serde_json::from_str(&Remembered::of(&old.policy).write()).unwrap();
        let keys: Vec<String> = now["promise"].as_object().unwrap().keys().cloned().collect();
        for key in keys {
            let promise = now["promise"].as_object_mut().unwrap();
            let value = promise.remove(&key).unwrap();
            promise.insert(format!("{key}_"), value.clone());
            assert_eq!(Remembered::read(&now.to_string()), None, "{}: {key}", old.name);
            let promise = now["promise"].as_object_mut().unwrap();
            promise.remove(&format!("{key}_"));
            promise.insert(key, value);
        }
    }
}

#[test]
fn more_than_version_1_promised_is_refused() {
    let number = |name: &str| match name {
        "m-invariance" => "m",
        "incremental-l-diversity" => "l",
        "xy-linkability" => "max_confidence_permille",
        _ => "k",
    };
    for old in Old::all() {
        // As if the last release had promised more than the policy file does now.
        let key = number(&old.name);
        let by: i64 = if key == "max_confidence_permille" { -1 } else { 1 };
        let changed = |json: &mut Json| json["promise"][key] = json!(json["promise"][key].as_i64().unwrap() + by);
        let before = old.changed(changed).unwrap();
        let looser = before.may_be_followed_by(&Remembered::of(&old.policy)).unwrap_err().to_string();
        assert!(looser.contains("would break what was promised"), "{}: {looser}", old.name);
    }
}

#[test]
fn an_old_manifest_says_the_same_when_it_is_written_again() {
    for old in Old::all() {
        let manifest = Manifest::read(serde_json::from_str(&old.manifest).unwrap()).unwrap();
        let written = serde_json::to_string_pretty(&serde_json::to_value(&manifest).unwrap()).unwrap() + "\n";
        assert_eq!(written, old.manifest, "{}", old.name);
        assert_eq!(manifest.promise.promise().unwrap().terms(), old.policy.first_promise().terms(), "{}", old.name);
    }
}

#[test]
fn a_parameter_that_is_not_known_in_a_manifest_is_refused() {
    for old in Old::all() {
        let mut json: Json = serde_json::from_str(&old.manifest).unwrap();
        json["promise"]["parameters"]["watcher"] = json!("rule");
        let error = Manifest::read(json).unwrap().promise.promise().unwrap_err().to_string();
        assert!(error.contains("unknown field `watcher`"), "{}: {error}", old.name);
    }
}
