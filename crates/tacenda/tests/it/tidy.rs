//! Does the house still stand as drawn? Reads the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::promise::SeriesPromise;

/// A room, and the rooms it may name besides itself.
const ROOMS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("files", &[]),
    ("space", &["model"]),
    ("settings", &["model"]),
    ("audit", &["model", "space"]),
    ("grouping", &["model", "space"]),
    ("promise", &["model", "space", "settings", "audit", "grouping"]),
    ("ingest", &["model", "files", "settings", "promise"]),
    ("keys", &["model", "files"]),
    ("ledger", &["model", "files", "keys"]),
    ("measure", &["model"]),
    ("folder", &["model", "files", "promise", "measure"]),
    ("made_up", &["model"]),
    ("report", &["model", "audit", "measure"]),
    (
        "publish",
        &[
            "model", "files", "space", "ingest", "promise", "grouping", "audit", "keys", "ledger", "folder", "measure",
            "made_up", "report",
        ],
    ),
    (
        "use_cases",
        &[
            "model", "files", "space", "ingest", "promise", "grouping", "audit", "keys", "ledger", "folder", "measure",
            "made_up", "report", "publish",
        ],
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

/// The sources below a folder.
pub fn sources(folder: &Path) -> Vec<PathBuf> {
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
    let rooms: Vec<&str> = text
        .lines()
        .filter_map(|line| line.trim_start_matches("pub ").strip_prefix("mod "))
        .map(|line| line.trim_end_matches(';'))
        .collect();
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
                if !line.starts_with([' ', '}']) || line.trim().is_empty() {
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

/// The nouns of the glossary that the whole house speaks of. Each names one type, private ones included.
const CENTRAL: &[&str] =
    &["History", "Value", "Check", "Finding", "Series", "Published", "Material", "Outcome", "Place", "Person"];

/// The type that a line defines, and whether it is public. A `type` inside of something may be a trait's: left out.
pub fn type_defined(line: &str) -> Option<(&str, bool)> {
    let is_public = line.trim_start().starts_with("pub ");
    let is_inside = line.starts_with(' ');
    let rest = line.trim_start().trim_start_matches("pub ");
    let rest = rest.strip_prefix("pub(").and_then(|rest| rest.split_once(") ")).map_or(rest, |(_, rest)| rest);
    let (kind, name) = rest.split_once(' ').filter(|(kind, _)| ["struct", "enum", "trait", "type"].contains(kind))?;
    let end = name.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    // A macro's `$name` is no name.
    (end > 0 && (is_public || kind != "type" || !is_inside)).then(|| (&name[..end], is_public))
}

/// One word, one thing: no public type name is defined twice in the workspace, no central noun at all.
#[test]
fn one_word_names_one_type() {
    let mut named: BTreeMap<String, Vec<(bool, String)>> = BTreeMap::new();
    for path in sources(&library().join("../..")) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if let Some((name, is_public)) = type_defined(line) {
                named.entry(name.into()).or_default().push((is_public, format!("{}:{}", path.display(), number + 1)));
            }
        }
    }
    for noun in CENTRAL {
        assert!(named.contains_key(*noun), "{noun} names nothing");
    }
    let mut wrong = Vec::new();
    for (name, places) in &named {
        let is_central = CENTRAL.contains(&name.as_str());
        let counted: Vec<&str> =
            places.iter().filter(|(is_public, _)| *is_public || is_central).map(|(_, place)| place.as_str()).collect();
        if counted.len() > 1 {
            wrong.push(format!("{name}: {}", counted.join(", ")));
        }
    }
    assert!(named.len() > 400, "only {} types were found: are they defined in another way?", named.len());
    assert!(wrong.is_empty(), "one word names several types; the glossary in ARCHITECTURE.md decides: {wrong:#?}");
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

/// A promise is finished when its paper, its scenarios, its guarantee and its sections are there, and for one about views
/// its property. Properties of promises about a series go through the registry.
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
        let is_of_series = SeriesPromise::ENTRIES.iter().any(|of_series| of_series.name == name);
        let property = format!("fn {folder}_keeps_its_promise");
        assert!(is_of_series || properties.contains(&property), "{name} has no property");
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

/// The codes that a text of Rust spells out: `"A601"` and the like.
fn codes_spelt(text: &str) -> Vec<&str> {
    let is_code = |word: &&str| {
        let bytes = word.as_bytes();
        word.len() == 4 && bytes[0].is_ascii_uppercase() && bytes[1..].iter().all(u8::is_ascii_digit)
    };
    text.split('"').filter(is_code).collect()
}

/// A code is declared in one file, where its error is; everything else names the error.
#[test]
fn a_code_is_spelt_out_in_one_file() {
    let mut spelt: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for room in ["tacenda", "tacenda-cli", "tacenda-console", "tacenda-py"]
        .map(|name| library().join("../..").join(name).join("src"))
    {
        for path in sources(&room).iter().filter(|path| !path.ends_with("tests.rs")) {
            let text = fs::read_to_string(path).unwrap();
            let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
            for code in codes_spelt(text) {
                spelt.entry(code.into()).or_default().insert(path.display().to_string());
            }
        }
    }
    assert!(tacenda::publish::codes().iter().all(|page| spelt.contains_key(page.0)), "this test finds no codes");
    spelt.retain(|_, places| places.len() > 1);
    assert!(spelt.is_empty(), "{spelt:#?}");
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
    let codes = tacenda::publish::codes();
    let covered = |code: &str| rows.iter().any(|(from, to)| from.as_str() <= code && code <= to.as_str());
    let missing: Vec<&str> = codes.iter().map(|page| page.0).filter(|code| !covered(code)).collect();
    assert!(missing.is_empty(), "docs/formats.md has no row for {missing:?}");
}

/// Every text of the repository that somebody wrote: what is built, fetched or kept as bytes is left out.
fn texts() -> Vec<(PathBuf, String)> {
    let root = library().join("../../..").canonicalize().unwrap();
    let mut found = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_ours = !["target", ".git", "corpus", "__pycache__"].contains(&name) && !name.starts_with(".venv");
            if path.is_dir() && is_ours {
                folders.push(path);
            } else if ["rs", "md", "toml", "py", "pyi", "sh"]
                .iter()
                .any(|ending| path.extension() == Some(ending.as_ref()))
                || name == "test"
            {
                let text = fs::read_to_string(&path).unwrap_or_default();
                found.push((path.strip_prefix(&root).unwrap().to_path_buf(), text));
            }
        }
    }
    found.sort();
    found
}

/// The key of docs/science.md that `text` begins with: `A3`, `A3.6-3`, `CE-1`, `G11`, `E1-20`.
fn key_at(text: &str) -> Option<&str> {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let letters = ["CE-", "G", "A", "B", "D", "E"].iter().find(|letters| text.starts_with(**letters))?;
    let mut end = letters.len() + digits(letters.len());
    if end == letters.len() {
        return None;
    }
    if ["A", "B", "D"].contains(letters) && text[end..].starts_with('.') && digits(end + 1) > 0 {
        end += 1 + digits(end + 1);
    }
    if ["A", "B", "D", "E"].contains(letters) && text[end..].starts_with('-') {
        let letter = text[end + 1..].bytes().take(1).filter(u8::is_ascii_lowercase).count();
        end += match digits(end + 1).max(letter) {
            0 => 0,
            length => 1 + length,
        };
    }
    let after = text[end..].chars().next();
    after.is_none_or(|letter| !letter.is_alphanumeric() && letter != '-' && letter != '_').then(|| &text[..end])
}

/// Whether a key could be nothing else. `A2` might be a cell of a table, `E1` a chapter.
fn is_unmistakable(key: &str) -> bool {
    key.starts_with("CE-") || key.starts_with('G') || key.contains('.') || (key.starts_with('E') && key.contains('-'))
}

/// Keys after the word `science`, and keys that stand without it.
fn citations(text: &str) -> (Vec<&str>, Vec<&str>) {
    let (mut cited, mut bare) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(found) = text[at..].find(['s', 'A', 'B', 'C', 'D', 'E', 'G']) {
        at += found;
        let rest = &text[at..];
        let is_start = !text[..at].ends_with(|letter: char| letter.is_alphanumeric() || "-_/.".contains(letter));
        if let Some(mut keys) = rest.strip_prefix("science ").filter(|_| is_start) {
            while let Some(key) = key_at(keys) {
                cited.push(key);
                keys = &keys[key.len()..];
                match keys.strip_prefix(", ").filter(|next| key_at(next).is_some()) {
                    Some(next) => keys = next,
                    None => break,
                }
            }
            at = text.len() - keys.len();
        } else if let Some(key) = key_at(rest).filter(|_| is_start) {
            bare.push(key);
            at += key.len();
        } else {
            at += 1;
        }
    }
    (cited, bare)
}

/// The keys that docs/science.md has a place for: the first word of a heading, or of words in bold.
fn science_keys(science: &str) -> Vec<&str> {
    let headings = science.lines().filter_map(|line| line.strip_prefix('#'));
    let headings = headings.map(|heading| heading.trim_start_matches('#').trim_start());
    headings.chain(science.split("**").skip(1).step_by(2)).filter_map(key_at).collect()
}

/// Proofs are cited as `science KEY`, and every key has one place in docs/science.md.
#[test]
fn every_citation_of_the_science_is_there() {
    let texts = texts();
    let science = &texts.iter().find(|(path, _)| path == Path::new("docs/science.md")).expect("the science").1;
    let keys = science_keys(science);
    let mut wrong: Vec<String> = Vec::new();
    for (index, key) in keys.iter().enumerate().filter(|(index, key)| keys[..*index].contains(key)) {
        wrong.push(format!("docs/science.md: {key} has a second place, the {index}th of all"));
    }
    let mut count = 0;
    for (path, text) in texts.iter().filter(|(path, _)| !path.ends_with("tidy.rs")) {
        let (cited, bare) = citations(text);
        count += cited.len();
        let bare: Vec<&str> = bare.into_iter().filter(|key| is_unmistakable(key)).collect();
        // The science itself and titles of scenarios name keys without the word before them.
        let may_be_bare = path == Path::new("docs/science.md") || path.extension() == Some("toml".as_ref());
        if !may_be_bare {
            wrong.extend(bare.iter().map(|key| format!("{}: write `science {key}`", path.display())));
        }
        let missing = cited.iter().chain(&bare).filter(|key| !keys.contains(key));
        wrong.extend(missing.map(|key| format!("{}: docs/science.md has no {key}", path.display())));
    }
    assert!(count > 150, "only {count} citations were found: has their form changed?");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Tests and files that docs/science.md names exist.
#[test]
fn what_the_science_says_is_checked_is_there() {
    let texts = texts();
    let science = &texts.iter().find(|(path, _)| path == Path::new("docs/science.md")).expect("the science").1;
    let quoted = || science.split('`').skip(1).step_by(2);
    let is_test = |word: &&str| {
        word.matches('_').count() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    };
    let tests: Vec<&str> = quoted().filter(is_test).collect();
    let names = |word: &str| texts.iter().any(|(_, text)| text.contains(&format!("fn {word}(")));
    let files: Vec<&str> = quoted().filter(|word| word.ends_with(".rs")).collect();
    let ends = |word: &str| texts.iter().any(|(path, _)| path.ends_with(word));
    assert!(tests.len() > 15 && files.len() > 15, "{} tests and {} files were found", tests.len(), files.len());
    let missing: Vec<&str> =
        tests.into_iter().filter(|word| !names(word)).chain(files.into_iter().filter(|word| !ends(word))).collect();
    assert!(missing.is_empty(), "docs/science.md names what is not there: {missing:#?}");
}

/// The repository explains itself: nothing points to a text outside it.
#[test]
fn nothing_points_outside_the_repository() {
    let outside = [
        concat!("SCI", "ENCE"),
        concat!("DESIGN", ".md"),
        concat!("STYLE", ".md"),
        concat!("shared/", "findings"),
        concat!("shared/", "papers"),
        concat!("shared/", "prototypes"),
    ];
    let mut wrong = Vec::new();
    for (path, text) in texts() {
        // Real data may lie beside the repository; tests that use them say that they skip without.
        let beside = text.matches("../shared").count() - text.matches("../shared/data").count();
        let named =
            outside.iter().filter(|word| text.contains(**word)).map(|word| format!("{}: {word}", path.display()));
        wrong.extend(named);
        if beside > 0 && !path.ends_with("tidy.rs") {
            wrong.push(format!("{}: ../shared", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// SECURITY.md says of every attack which test repeats it. A test that was renamed or removed would make that page false.
#[test]
fn every_test_that_the_security_page_names_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("SECURITY.md")).unwrap();
    let tables = page.lines().filter(|line| line.starts_with('|') && line.contains('`'));
    let named: BTreeSet<&str> = tables
        .filter_map(|line| line.trim_end_matches('|').rsplit('|').next())
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|name| name.contains('_') || name.ends_with(".py") || name.ends_with(".mjs"))
        .collect();
    assert!(named.len() > 40, "{} tests are named", named.len());
    let crates = root.join("crates");
    let texts: String = sources(&crates).iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let is_there = |name: &str| match name.rsplit_once('.') {
        Some(_) => {
            ["tacenda-cli", "tacenda-console"].iter().any(|of| crates.join(of).join("tests").join(name).exists())
        }
        // The last form is that of the fuzz targets, whose tests a macro makes.
        None => texts.contains(&format!("fn {name}(")) || texts.contains(&format!(": {name},")),
    };
    let lost: Vec<&str> = named.into_iter().filter(|name| !is_there(name)).collect();
    assert!(lost.is_empty(), "no such test: {lost:?}");
}
