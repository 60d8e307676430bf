//! A code, a finding, a group or a person, in plain words.

mod case;

use crate::args::{Common, ExplainArgs};
use crate::failure::Failure;
use crate::screen::Screen;
use schemars::JsonSchema;
use serde::Serialize;
use tacenda::publish;

/// The command's own codes.
const OWN: &[(&str, &str, &str)] = &[
    (
        "B701",
        "a bug",
        "An assertion of ours failed. Nothing was published; whatever was half done is finished or removed at the next run. Please report it with the command and the message; neither holds a cell of your table.",
    ),
    ("U701", "the environment failed", "A file could not be written or read, or a pipe closed. Nothing was published."),
    ("U201", "wrong use", "The command line does not say what to do. tacenda help COMMAND shows how."),
    (
        "U202",
        "no such release",
        "A release is named by its folder, its number (2 or r0002) or its label. tacenda log lists them.",
    ),
    (
        "U203",
        "not a plan",
        "A plan file is what tacenda plan writes. It holds digests of a table, a policy and the ledger.",
    ),
    ("U204", "nothing to start from", "The folder holds a project already, or none where one is needed."),
    (
        "U205",
        "a release made elsewhere",
        "An adopted release is kept as it came: it has no manifest that says what its columns mean, so it cannot be shown or counted in. tacenda audit reads such files.",
    ),
    (
        "U601",
        "nobody agreed",
        "Publishing asks once, because what is out cannot be taken back; init asks about each column. On a terminal answer; in a script say --yes.",
    ),
];

/// What an explanation answers with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ExplainReport {
    /// The code.
    pub code: String,
    /// Its title.
    pub title: String,
    /// What it means.
    pub explanation: String,
}

pub fn run(args: &ExplainArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let words: Vec<&str> = args.what.iter().map(String::as_str).collect();
    match words[..] {
        ["finding", number] => case::finding(number, args, screen),
        ["group", place] => case::group(place, args, common, screen),
        ["person"] => case::person(args, common, screen),
        ["person", _] => Err(Failure::usage("a person's key is read from standard input, never from the command line")),
        [code] => self::code(code, screen),
        _ => Err(Failure::usage("say a code, finding N, group RELEASE:GROUP, or person")),
    }
}

/// The page of a code.
fn page(code: &str) -> Option<(&'static str, &'static str, &'static str)> {
    let code = code.to_ascii_uppercase();
    publish::codes().into_iter().chain(OWN.iter().copied()).find(|page| page.0 == code)
}

fn code(code: &str, screen: &Screen) -> Result<u8, Failure> {
    let Some((code, title, explanation)) = page(code) else {
        return Err(Failure::usage(format!("there is no code {code}; codes look like D103 and stand in error[…]")));
    };
    let text = format!("{code}: {title}\n\n{}\n", wrapped(explanation));
    let (code, title, explanation) = (code.to_string(), title.to_string(), explanation.to_string());
    screen.result(&text, &ExplainReport { code, title, explanation })?;
    Ok(0)
}

/// The text in lines of at most 80 characters.
fn wrapped(text: &str) -> String {
    let mut out = String::new();
    let mut column = 0;
    for word in text.split_whitespace() {
        let width = word.chars().count();
        if column > 0 && column + 1 + width > 80 {
            out.push('\n');
            column = 0;
        }
        if column > 0 {
            out.push(' ');
            column += 1;
        }
        out.push_str(word);
        column += width;
    }
    out
}
