//! Does the house still stand as drawn? Reads the sources.

use std::fs;
use std::path::{Path, PathBuf};

/// A room, and the rooms it may name besides itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("settings", &["model"]),
    ("audit", &["model"]),
    ("grouping", &["model"]),
    ("promise", &["model", "settings", "audit", "grouping"]),
    ("ingest", &["model", "settings", "promise"]),
    ("ledger", &["model"]),
    ("folder", &["model", "promise"]),
    ("measure", &["model"]),
    ("made_up", &["model"]),
    ("report", &["model", "audit", "measure"]),
    (
        "publish",
        &["model", "ingest", "promise", "grouping", "audit", "ledger", "folder", "measure", "made_up", "report"],
    ),
];

/// Words that have no place in the sources.
const BANNED: &[(&str, &str)] = &[
    ("dbg!(", "left over from looking"),
    ("todo!(", "not done"),
    ("unimplemented!(", "not done"),
    (concat!("FIX", "ME"), "mend it or write it down as an issue"),
    (concat!("TO", "DO"), "mend it or write it down as an issue"),
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn library() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

/// What stands right after `crate::`, one name or several in braces.
fn rooms_named(text: &str) -> Vec<String> {
    let mut named = Vec::new();
    for after in text.split("crate::").skip(1) {
        let (names, end) = match after.strip_prefix('{') {
            Some(inside) => (inside, inside.find("};").unwrap_or(inside.len())),
            None => (after, after.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(0)),
        };
        let name = |part: &str| part.trim().split("::").next().unwrap_or_default().trim().to_string();
        named.extend(names[..end].split(',').map(name));
    }
    named
}

#[test]
fn rooms_know_only_the_rooms_they_may() {
    let mut wrong = Vec::new();
    for (room, may) in ROOMS {
        for path in sources(&library()) {
            let inside = path.strip_prefix(library()).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            if first.trim_end_matches(".rs") != *room {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let named = rooms_named(&text);
            for (other, _) in ROOMS {
                if named.iter().any(|named| named == other) && other != room && !may.contains(other) {
                    wrong.push(format!("{} names {other}", inside.display()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_room_is_in_the_list() {
    let text = fs::read_to_string(library().join("lib.rs")).unwrap();
    let rooms: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("pub mod ")).map(|line| line.trim_end_matches(';')).collect();
    let listed: Vec<&str> = ROOMS.iter().map(|(room, _)| *room).collect();
    assert_eq!(rooms, listed);
}

#[test]
fn every_file_says_what_it_is() {
    let crates = library().join("../..");
    let silent: Vec<PathBuf> = sources(&crates)
        .into_iter()
        .filter(|path| !path.components().any(|part| part.as_os_str() == "target"))
        .filter(|path| !fs::read_to_string(path).unwrap().starts_with("//!"))
        .collect();
    assert!(silent.is_empty(), "files without module docs: {silent:#?}");
}

/// Imports of one module stand in one statement, as `imports_granularity = "Module"` of rustfmt writes them.
#[test]
fn imports_are_grouped_by_module() {
    let mut wrong = Vec::new();
    for path in sources(&library().join("../..")) {
        let text = fs::read_to_string(&path).unwrap();
        // Statements follow each other without a blank line; another block may be of another scope.
        let mut block: Vec<String> = Vec::new();
        for line in text.lines() {
            let Some((visibility, import)) = line.split_once("use ").filter(|(before, _)| is_visibility(before)) else {
                if !line.starts_with(|letter: char| letter == ' ' || letter == '}') || line.trim().is_empty() {
                    block.clear();
                }
                continue;
            };
            let module = import.trim_end_matches(';').rsplit_once("::").map_or("", |(module, _)| module);
            let module = import.split_once("::{").map_or(module, |(module, _)| module);
            let statement = format!("{visibility}{module}");
            if !module.is_empty() && block.contains(&statement) {
                wrong.push(format!("{}: {}", path.display(), import));
            }
            block.push(statement);
        }
    }
    assert!(wrong.is_empty(), "put what comes from one module into one `use`: {wrong:#?}");
}

/// Whether that may stand before `use`.
fn is_visibility(text: &str) -> bool {
    matches!(text.trim(), "" | "pub" | "pub(crate)" | "pub(super)")
}

#[test]
fn nothing_unfinished_is_left() {
    let mut wrong = Vec::new();
    for path in sources(&library().join("../..")) {
        if path.ends_with("tidy.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for (word, why) in BANNED {
            if text.contains(word) {
                wrong.push(format!("{}: {word} ({why})", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What forms groups and what judges them never meet: in the folder of a promise each file knows one of the two. The
/// parameters, which both are given, know neither.
#[test]
fn a_promise_is_not_judged_by_what_formed_its_groups() {
    let mut wrong = Vec::new();
    for path in sources(&library().join("promise/series")) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let inside = path.strip_prefix(library()).unwrap().display().to_string();
        // The folder above the promises joins them.
        if inside.matches('/').count() < 3 {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let named = rooms_named(&text);
        let names = |room: &str| named.iter().any(|named| named == room);
        let mut refuse = |room: &str| wrong.extend(names(room).then(|| format!("{inside} names {room}")));
        refuse(if name == "check.rs" { "grouping" } else { "audit" });
        if name == "check.rs" && (text.contains("Grouper") || text.contains("::group")) {
            wrong.push(format!("{inside} names the grouping of its promise"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A promise is finished when its paper, its scenarios, its property, its guarantee and its sections are there.
#[test]
fn every_promise_is_whole() {
    let root = library().join("../../..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (guarantees, papers) = (read("docs/guarantees.md"), read("docs/papers.md"));
    let properties = fs::read_to_string(library().join("../tests/it/property.rs")).unwrap();
    let scenarios: Vec<String> = fs::read_dir(root.join("scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    for entry in tacenda::promise::entries() {
        let name = entry.name;
        let folder = name.replace('-', "_");
        assert!(guarantees.contains(&format!("## {name}")), "{name} has no section in docs/guarantees.md");
        assert!(papers.contains(&format!("| {} |", entry.paper)), "{name}: paper {} is not listed", entry.paper);
        assert!(properties.contains(&format!("fn {folder}_keeps_its_promise")), "{name} has no property");
        assert!(scenarios.iter().any(|scenario| scenario.starts_with(name)), "{name} has no scenario");
        // Both promises about views are kept by one specialisation.
        let series = format!("promise/series/{folder}/group.rs");
        let own = if library().join(&series).exists() { series.as_str() } else { "grouping/views/mod.rs" };
        let text = fs::read_to_string(library().join(own)).unwrap();
        for section in ["# Source", "# Promise", "# Steps", "# Departures", "# Cost"] {
            assert!(text.contains(section), "{own} has no section {section}");
        }
    }
}

/// Every code has its row in docs/formats.md.
#[test]
fn the_table_of_codes_names_every_code() {
    let formats = fs::read_to_string(library().join("../../../docs/formats.md")).unwrap();
    let table = formats.split("## Error codes").nth(1).expect("a chapter on error codes");
    // The first cell of a row is a code, several, or a range from one to another.
    let mut rows: Vec<(String, String)> = Vec::new();
    for line in table.lines().filter(|line| line.starts_with("| `")) {
        let cell = line.split('|').nth(1).unwrap();
        for part in cell.split(", ") {
            let ends: Vec<&str> = part.split('–').map(|end| end.trim().trim_matches('`')).collect();
            rows.push((ends[0].to_string(), ends[ends.len() - 1].to_string()));
        }
    }
    let plain = [
        tacenda::ingest::CODES,
        tacenda::ingest::policy_file::CODES,
        tacenda::ledger::CODES,
        tacenda::folder::CODES,
        tacenda::publish::CODES,
    ];
    let codes = plain.concat().into_iter().map(|page| page.0).chain(tacenda::audit::CODES.iter().map(|page| page.1));
    let covered = |code: &str| rows.iter().any(|(from, to)| from.as_str() <= code && code <= to.as_str());
    let missing: Vec<&str> = codes.filter(|code| !covered(code)).collect();
    assert!(missing.is_empty(), "docs/formats.md has no row for {missing:?}");
}
