//! Can what people read be read at once? Sentences of the docs, of screens, errors and help have at most thirty words, none
//! of those that had to be read twice, and no name of a type.

use crate::tidy::{sources, type_defined};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The most words of a sentence.
const MOST: usize = 30;

/// What stands for a name between backticks.
const NAME: &str = "NAME";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between backticks, as one word: a name or a line to type is not read word by word.
fn with_names_as_words(text: &str) -> String {
    let parts = text.split('`').enumerate();
    parts.map(|(index, part)| if index % 2 == 1 { NAME } else { part }).collect()
}

/// The sentences of a paragraph. Where `entries` says so, a semicolon ends one, and so does a comma before a name: in cells
/// of a table, which list, and in errors, which put the way out behind the semicolon.
fn sentences(paragraph: &str, entries: bool) -> Vec<String> {
    let mut found = vec![String::new()];
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    for (index, word) in words.iter().enumerate() {
        let last = found.last_mut().expect("there is always one");
        last.push_str(word);
        last.push(' ');
        let bare = word.trim_end_matches(['"', ')', '*', '_', '”']);
        let is_before_name = words.get(index + 1).is_some_and(|next| next.starts_with(NAME));
        let ends_entry = bare.ends_with(';') || (word.ends_with(',') && is_before_name);
        if bare.ends_with(['.', '!', '?']) || (entries && ends_entry) {
            found.push(String::new());
        }
    }
    found
}

/// The sentences of a text that have more words than may be.
fn too_long(text: &str, entries: bool) -> Vec<String> {
    let count = |sentence: &str| sentence.split(' ').filter(|word| word.contains(char::is_alphanumeric)).count();
    let named = with_names_as_words(text);
    sentences(&named, entries).into_iter().filter(|sentence| count(sentence) > MOST).collect()
}

/// The paragraphs, entries of lists and cells of tables of a page, and whether it is a cell.
fn paragraphs(page: &str) -> Vec<(String, bool)> {
    let mut found = vec![(String::new(), false)];
    let mut is_code = false;
    for line in page.lines() {
        let text = line.trim_start_matches(['>', ' ']);
        is_code ^= text.starts_with("```");
        if text.starts_with('|') {
            found.extend(text.split('|').map(|cell| (cell.to_string(), true)));
        } else if is_code || text.is_empty() || ["```", "#", "<!--"].iter().any(|mark| text.starts_with(mark)) {
            found.push((String::new(), false));
        } else {
            let number = text.split_once(". ").filter(|(number, _)| number.bytes().all(|byte| byte.is_ascii_digit()));
            let entry = text.strip_prefix("- ").or(number.map(|(_, rest)| rest));
            if entry.is_some() || found.last().is_some_and(|last| last.1) {
                found.push((String::new(), false));
            }
            let last = &mut found.last_mut().expect("there is always one").0;
            last.push_str(entry.unwrap_or(text));
            last.push(' ');
        }
    }
    found
}

#[test]
fn the_docs_have_no_sentence_over_thirty_words() {
    let folders = ["docs", "docs/how-to"].map(|name| fs::read_dir(root().join(name)).unwrap());
    let docs = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    // Definitions and proofs take the words they need.
    let docs = docs.filter(|path| path.extension() == Some("md".as_ref()) && !path.ends_with("science.md"));
    let fronts = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"]
        .map(|name| root().join(name));
    let mut wrong = Vec::new();
    for path in docs.chain(fronts) {
        let page = fs::read_to_string(&path).unwrap();
        for (paragraph, is_cell) in paragraphs(&page) {
            // A list of words between middle dots is no sentence.
            let long = too_long(&paragraph, is_cell).into_iter().filter(|sentence| !sentence.contains(" · "));
            wrong.extend(long.map(|sentence| format!("{}: {sentence}", path.display())));
            wrong.extend(unclear(&paragraph).iter().map(|word| format!("{}: {word:?} in {paragraph}", path.display())));
        }
    }
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// Words of sentences that had to be read twice, and what to write instead.
const UNCLEAR: &[(&str, &str)] = &[("whoever", "a reader who, a person who"), ("whosoever", "anyone who")];

/// The unclear words of a text.
fn unclear(text: &str) -> Vec<&'static (&'static str, &'static str)> {
    let text = text.to_lowercase();
    UNCLEAR
        .iter()
        .filter(|(word, _)| text.split(|letter: char| !letter.is_alphabetic()).any(|one| one == *word))
        .collect()
}

/// The texts between quotation marks of a source, without its tests. Comments have none.
fn strings(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod tests {").next().unwrap();
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|line| [line, "\n"]).collect();
    let mut found = Vec::new();
    let mut rest = code.as_str();
    while let Some(at) = rest.find(['"', '\'']) {
        let (before, after) = rest.split_at(at);
        if after.starts_with('\'') {
            // A quotation mark as a character opens nothing.
            let skip =
                ["'\"'", "'\\\"'", "'\\''"].iter().find(|mark| after.starts_with(**mark)).map_or(1, |it| it.len());
            rest = &after[skip..];
        } else if before.ends_with("r#") {
            let end = after.find("\"#").unwrap_or(after.len());
            found.push(after[1..end].to_string());
            rest = &after[(end + 2).min(after.len())..];
        } else {
            let mut is_escaped = false;
            let end = after[1..].find(|letter| {
                let ends = letter == '"' && !is_escaped;
                is_escaped = letter == '\\' && !is_escaped;
                ends
            });
            let end = end.map_or(after.len(), |end| end + 1);
            let text = after[1..end].replace("\\n", "\n").replace("\\\"", "\"");
            found.push(text);
            rest = &after[(end + 1).min(after.len())..];
        }
    }
    found
}

/// The lines of a text in quotation marks: a line that ends in a backslash goes on.
fn lines_of(text: &str) -> Vec<String> {
    text.replace("\\\n", " ").lines().map(str::to_string).collect()
}

/// The types of the library whose names are several words in one, such as `PeopleCounts`: no word of a sentence.
fn type_names() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in sources(&root().join("crates/tacenda/src")) {
        let source = fs::read_to_string(&path).unwrap();
        names.extend(source.lines().filter_map(|line| type_defined(line)).map(|(name, _)| name.to_string()));
    }
    names.retain(|name| name[1..].contains(char::is_uppercase) && name.contains(char::is_lowercase));
    names
}

/// The names of types that a sentence has as words.
fn type_named<'a>(text: &str, types: &'a BTreeSet<String>) -> Vec<&'a str> {
    if text.split_whitespace().count() < 5 {
        return Vec::new();
    }
    let words = text.split(|letter: char| !letter.is_alphanumeric());
    words.filter_map(|word| types.get(word)).map(String::as_str).collect()
}

#[test]
fn screens_errors_and_help_have_no_sentence_over_thirty_words() {
    let (mut wrong, mut count) = (Vec::new(), 0);
    let types = type_names();
    for part in ["tacenda", "tacenda-cli", "tacenda-console", "tacenda-py"] {
        let all = sources(&root().join("crates").join(part).join("src"));
        for path in all.into_iter().filter(|path| !path.ends_with("tests.rs")) {
            let source = fs::read_to_string(&path).unwrap();
            let mut texts: Vec<String> = strings(&source).iter().flat_map(|text| lines_of(text)).collect();
            if path.ends_with("args.rs") {
                // The help of an option is its comment.
                let comment = |line: &str| line.trim_start().strip_prefix("///").unwrap_or("\n").to_string();
                let comments: String = source.lines().map(comment).collect();
                texts.extend(comments.lines().map(str::to_string));
            }
            count += texts.iter().filter(|text| text.split(' ').count() > 5).count();
            let long = texts.iter().flat_map(|text| too_long(text, true));
            wrong.extend(long.map(|sentence| format!("{}: {sentence}", path.display())));
            for text in &texts {
                let names = type_named(text, &types).into_iter().map(|name| (name, "a name of the code"));
                let words = unclear(text).into_iter().copied();
                wrong.extend(words.chain(names).map(|word| format!("{}: {word:?} in {text}", path.display())));
            }
        }
    }
    assert!(count > 1500, "only {count} texts were found: are they written in another way?");
    assert!(wrong.is_empty(), "{}: {wrong:#?}", wrong.len());
}

/// What Python users and readers of the examples see first.
#[test]
fn the_python_package_and_the_examples_have_no_unclear_words() {
    let mut files = sources(&root().join("crates/tacenda/examples"));
    files.push(root().join("crates/tacenda-py/python/tacenda/__init__.py"));
    assert!(files.len() > 5, "{files:?}");
    for path in files {
        let found = unclear(&fs::read_to_string(&path).unwrap());
        assert!(found.is_empty(), "{}: {found:?}", path.display());
    }
}

#[test]
fn long_sentences_are_found() {
    let words = |count: usize| vec!["word"; count].join(" ");
    let found = |text: &str, entries| too_long(text, entries).len();
    assert_eq!(found(&words(31), true), 1);
    assert_eq!(found(&words(30), true), 0);
    assert_eq!(found(&format!("{}; {}", words(20), words(20)), true), 0);
    assert_eq!(found(&format!("{}; {}", words(20), words(20)), false), 1);
    assert_eq!(found(&format!("{}. {}", words(20), words(20)), false), 0);
    assert_eq!(found(&format!("{}, `a` {}", words(20), words(20)), true), 0);
    assert_eq!(found(&format!("{}, `a` {}", words(20), words(20)), false), 1);
    assert_eq!(found(&format!("{} `{}`", words(20), words(20)), false), 0);
    let source = "let mark = '\"';\n// no \"comment\nlet a = \"one \\\n  two \\\" three\"; let b = r#\"four\"#;";
    let read: Vec<String> = strings(source).iter().flat_map(|text| lines_of(text)).collect();
    assert_eq!(read.len(), 2);
    assert!(read[0].contains("three") && read[1] == "four", "{read:?}");
    assert_eq!(
        unclear("Ask whoever\u{2019}s there").len() + unclear("WHOEVER asks").len() + unclear("who ever").len(),
        2
    );
    let types = BTreeSet::from(["PeopleCounts".to_string()]);
    assert_eq!(type_named("PeopleCounts by the values of it are estimates", &types), ["PeopleCounts"]);
    assert!(type_named("Counts of people by the values", &types).is_empty());
    let page = "<!-- not read -->\nA sentence\nover lines.\n- an entry\n1. another\n| a | b |\n```\ncode\n```\nend";
    let texts: Vec<String> = paragraphs(page).into_iter().map(|(text, _)| text.trim().into()).collect();
    let texts: Vec<&String> = texts.iter().filter(|text: &&String| !text.is_empty()).collect();
    assert_eq!(texts, ["A sentence over lines.", "an entry", "another", "a", "b", "end"]);
}
