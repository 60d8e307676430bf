//! Whatever is promised by the policy file of a scenario can be written down, stated, read back and followed.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use tacenda::ingest::{Remembered, read_policy};
use tacenda::promise::{PolicyFile, Promise, entries};

/// The policies of all scenarios, with the scenarios' names. Some scenarios are about policies that cannot be read.
fn policies() -> Vec<(String, PolicyFile)> {
    let scenarios = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = fs::read_dir(scenarios).unwrap().map(|entry| entry.unwrap().path());
    let policy = |folder: std::path::PathBuf| {
        let loaded = read_policy(&folder.join("tacenda.toml")).ok()?;
        Some((folder.file_name()?.to_str()?.to_string(), loaded.policy))
    };
    folders.filter_map(policy).collect()
}

#[test]
fn every_promise_has_one_name() {
    let mut seen = BTreeSet::new();
    for (scenario, policy) in policies() {
        for promise in policy.promises() {
            let name = promise.entry().name;
            assert_eq!(promise.terms().name, name, "{scenario}");
            assert_eq!(serde_json::to_value(&promise).unwrap()["model"], name, "{scenario}");
            seen.insert(name);
        }
    }
    assert_eq!(seen, entries().map(|entry| entry.name).collect(), "every promise has a scenario");
}

#[test]
fn what_is_stated_is_what_is_claimed() {
    for (scenario, policy) in policies() {
        for promise in policy.promises() {
            let (entry, stated) = (promise.entry(), promise.stated());
            assert_eq!(stated.len(), entry.stated.len(), "{scenario}: every stated parameter is there");
            assert_eq!(Promise::read_stated(entry.name, &stated).unwrap().terms(), promise.terms(), "{scenario}");
            let written = serde_json::to_value(&promise).unwrap();
            assert_eq!(serde_json::from_value::<Promise>(written).unwrap(), promise, "{scenario}");
        }
    }
}

#[test]
fn a_policy_follows_on_itself_as_it_is_remembered() {
    for (scenario, policy) in policies() {
        let remembered = Remembered::of(&policy);
        let back = Remembered::read(&remembered.write()).unwrap_or_else(|| panic!("{scenario} is not read back"));
        assert_eq!(back, remembered, "{scenario}");
        assert_eq!(back.may_be_followed_by(&remembered), Ok(()), "{scenario}");
    }
}

#[test]
fn no_promise_follows_on_another() {
    let all: Vec<Promise> = policies().iter().map(|(_, policy)| policy.first_promise()).collect();
    for now in &all {
        for before in all.iter().filter(|before| before.entry().name != now.entry().name) {
            let follows = match (now, before) {
                (Promise::Series(now), Promise::Series(before)) => now.may_follow(before).is_ok(),
                (Promise::View(now), Promise::View(before)) => now.may_follow(before).is_ok(),
                _ => false,
            };
            assert!(!follows, "{} after {}", now.entry().name, before.entry().name);
        }
    }
}
