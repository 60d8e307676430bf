//! Changes documents by their structure: tokens, lines, cells, fields and numbers; bytes now and then.
//!
//! A changed byte seldom gets past a parser. A changed field of a document that is otherwise right does.

use serde_json::Value as Json;
use tacenda::model::Rng;

/// What a corpus holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    /// Words and marks.
    Tokens,
    /// Lines of cells.
    Cells,
    /// One object.
    Json,
    /// One object a line.
    JsonLines,
    /// Tables and keys.
    Toml,
    /// An object, and files after zero bytes.
    JsonAndCells,
}

/// Numbers at which things turn.
const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "2",
    "1e308",
    "-0.0",
    "0.1",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "nan",
    "inf",
];

/// Words and marks that mean something to one of the readers.
const WORDS: &[&str] = &[
    "",
    "\"",
    "'",
    "''",
    ",",
    ";",
    "\t",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    "*",
    "..",
    "../..",
    "/",
    "=",
    "<=",
    "!=",
    "and",
    "in",
    "null",
    "true",
    "\u{feff}",
    "\u{200b}",
    "\u{1b}[2J",
    "=1+1",
    "é",
    "2024-02-30",
    "0000-01-01",
    "9999-12-31",
    "insert",
    "delete",
    "U",
    "quasi",
    "sensitive",
    "identifier",
    "date",
    "real",
    "category",
    "latest",
    "combine",
    "m-invariance",
    "k-anonymity",
];

/// A changed copy of a document of this corpus. `other` is another one, to take parts from.
pub fn changed(corpus: &str, seed: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    if rng.below(6) == 0 {
        return bytes(seed, rng);
    }
    let form = match corpus {
        "policy" => Form::Toml,
        "hierarchy" | "arx" | "snapshot" | "delta" | "release" => Form::Cells,
        "ledger" | "backup" => Form::JsonLines,
        "plan" | "anchor" | "statement" | "audit" => Form::Json,
        "folder" => Form::JsonAndCells,
        _ => Form::Tokens,
    };
    // Parquet and workbooks are no text.
    let (Ok(text), Ok(other)) = (std::str::from_utf8(seed), std::str::from_utf8(other)) else {
        return bytes(seed, rng);
    };
    let mut text = text.to_string();
    for _ in 0..=rng.below(3) {
        text = once(form, &text, other, rng);
    }
    text.into_bytes()
}

/// The same for libFuzzer, which has a buffer.
pub fn in_place(corpus: &str, data: &mut [u8], size: usize, most: usize, seed: u32) -> usize {
    let copy = changed(corpus, &data[..size], &data[..size], &mut Rng::from_number(u64::from(seed)));
    let length = copy.len().min(most).min(data.len());
    data[..length].copy_from_slice(&copy[..length]);
    length
}

fn once(form: Form, text: &str, other: &str, rng: &mut Rng) -> String {
    match form {
        Form::Tokens => tokens(text, other, rng),
        Form::Cells if rng.below(3) == 0 => tokens(text, other, rng),
        Form::Cells => cells(text, other, rng),
        Form::Json => json(text, other, rng),
        Form::JsonLines => lines(text, other, rng, json),
        Form::Toml if rng.below(3) == 0 => tokens(text, other, rng),
        Form::Toml => toml(text, other, rng),
        Form::JsonAndCells => match (text.split_once('\0'), other.split_once('\0')) {
            (Some((manifest, files)), Some((theirs, _))) if rng.below(2) == 0 => {
                format!("{}\0{files}", json(manifest, theirs, rng))
            }
            (Some((manifest, files)), Some((_, theirs))) => format!("{manifest}\0{}", cells(files, theirs, rng)),
            _ => tokens(text, other, rng),
        },
    }
}

fn pick<'a, T>(all: &'a [T], rng: &mut Rng) -> &'a T {
    &all[rng.below(all.len() as u64) as usize]
}

/// A copy with a few bytes changed, left out or doubled, or with its end cut off.
fn bytes(seed: &[u8], rng: &mut Rng) -> Vec<u8> {
    let odd = b"[](){}<>=+-*.,;\"\n\t0199e \xc3\xff\0";
    let mut copy = seed.to_vec();
    for _ in 0..=rng.below(4) {
        // What tells how the rest is to be read stands at the ends of many forms.
        let reach = if rng.below(3) == 0 { copy.len().min(64) } else { copy.len() }.max(1) as u64;
        let step = rng.below(reach) as usize;
        let at = if rng.below(2) == 0 { step } else { copy.len().saturating_sub(1 + step) };
        match rng.below(5) {
            0 if at < copy.len() => copy[at] = *pick(odd, rng),
            1 if at < copy.len() => copy[at] ^= 1 << rng.below(8),
            2 if at < copy.len() => drop(copy.remove(at)),
            3 if rng.below(4) == 0 => copy.truncate(at),
            _ => copy.insert(at.min(copy.len()), *pick(odd, rng)),
        }
    }
    copy
}

/// Words, numbers, blanks and single marks.
fn split(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        letter if letter.is_alphanumeric() || letter == '_' => 0,
        letter if letter.is_whitespace() && letter != '\n' => 1,
        _ => 2,
    };
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        if before.is_some_and(|before| before != now || now == 2) {
            tokens.push(&text[start..at]);
            start = at;
        }
        before = Some(now);
    }
    tokens.push(&text[start..]);
    tokens
}

/// A token left out, doubled, swapped, or replaced by one that means something.
fn tokens(text: &str, other: &str, rng: &mut Rng) -> String {
    let mut tokens = split(text);
    let theirs = split(other);
    let at = rng.below(tokens.len() as u64) as usize;
    match rng.below(7) {
        0 => drop(tokens.remove(at)),
        1 => tokens.insert(at, tokens[at]),
        2 => {
            let to = rng.below(tokens.len() as u64) as usize;
            tokens.swap(at, to);
        }
        3 => tokens[at] = *pick(NUMBERS, rng),
        4 => tokens[at] = *pick(WORDS, rng),
        5 => tokens.insert(at, *pick(WORDS, rng)),
        _ => tokens[at] = *pick(&theirs, rng),
    }
    tokens.concat()
}

/// One line changed by `one`, left out, doubled, moved, or taken from another document.
fn lines(text: &str, other: &str, rng: &mut Rng, one: fn(&str, &str, &mut Rng) -> String) -> String {
    let mut all: Vec<String> = text.split('\n').map(str::to_string).collect();
    let theirs: Vec<&str> = other.split('\n').collect();
    let at = rng.below(all.len() as u64) as usize;
    match rng.below(10) {
        0 => drop(all.remove(at)),
        1 => all.insert(at, all[at].clone()),
        2 => {
            let to = rng.below(all.len() as u64) as usize;
            all.swap(at, to);
        }
        3 => all[at] = pick::<&str>(&theirs, rng).to_string(),
        _ => all[at] = one(&all[at], pick::<&str>(&theirs, rng), rng),
    }
    all.join("\n")
}

/// A cell of a line left out, doubled, moved, quoted, or replaced.
fn cells(text: &str, other: &str, rng: &mut Rng) -> String {
    lines(text, other, rng, |line, theirs, rng| {
        let delimiter = if line.contains(';') { ';' } else { ',' };
        let mut cells: Vec<String> = line.split(delimiter).map(str::to_string).collect();
        let at = rng.below(cells.len() as u64) as usize;
        match rng.below(8) {
            0 => drop(cells.remove(at)),
            1 => cells.insert(at, cells[at].clone()),
            2 => {
                let to = rng.below(cells.len() as u64) as usize;
                cells.swap(at, to);
            }
            3 => cells[at] = pick(NUMBERS, rng).to_string(),
            4 => cells[at] = pick(WORDS, rng).to_string(),
            5 => cells[at] = format!("\"{}\"", cells[at]),
            6 => cells[at].clear(),
            _ => cells[at] = pick(&theirs.split(delimiter).collect::<Vec<_>>(), rng).to_string(),
        }
        cells.join(&delimiter.to_string())
    })
}

/// A field left out, renamed, or given another value; a number moved; a list made longer or empty.
fn json(text: &str, other: &str, rng: &mut Rng) -> String {
    let Ok(mut document) = serde_json::from_str::<Json>(text) else { return tokens(text, other, rng) };
    let theirs = serde_json::from_str::<Json>(other).unwrap_or(Json::Null);
    let mut places = Vec::new();
    walk(&theirs, &mut Vec::new(), &mut places);
    let given = theirs.pointer(pick::<String>(&places, rng)).cloned().unwrap_or(Json::Null);
    places.clear();
    walk(&document, &mut Vec::new(), &mut places);
    let path = pick::<String>(&places, rng).clone();
    let value = match rng.below(9) {
        0 => Json::Null,
        1 => Json::Bool(rng.below(2) == 0),
        2 => serde_json::from_str(pick::<&str>(NUMBERS, rng)).unwrap_or(Json::from(-1)),
        3 => Json::from(pick(WORDS, rng).to_string()),
        4 => Json::Array(Vec::new()),
        5 => given,
        6 => {
            let whole = document.pointer(&path).cloned().unwrap_or(Json::Null);
            Json::Array(vec![whole.clone(), whole])
        }
        // Left out, renamed.
        change => {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", ""));
            if let Some(Json::Object(object)) = document.pointer_mut(parent)
                && let Some(value) = object.remove(name)
                && change == 7
            {
                object.insert(pick(WORDS, rng).to_string(), value);
            }
            return document.to_string();
        }
    };
    if let Some(place) = document.pointer_mut(&path) {
        *place = value;
    }
    document.to_string()
}

/// Where everything stands.
fn walk(value: &Json, path: &mut Vec<String>, places: &mut Vec<String>) {
    places.push(path.iter().map(|part| format!("/{}", part.replace('~', "~0").replace('/', "~1"))).collect());
    let mut below = |name: String, value: &Json| {
        path.push(name);
        walk(value, path, places);
        path.pop();
    };
    match value {
        Json::Array(all) => all.iter().enumerate().for_each(|(at, value)| below(at.to_string(), value)),
        Json::Object(all) => all.iter().for_each(|(name, value)| below(name.clone(), value)),
        _ => {}
    }
}

/// A table of a TOML document changed as an object, and written again.
fn toml(text: &str, other: &str, rng: &mut Rng) -> String {
    // Dates are texts in between, and are put back as they were written.
    let object = |text: &str| {
        let table = serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()?;
        Some(plain_dates(table).to_string())
    };
    let (Some(ours), Some(theirs)) = (object(text), object(other)) else { return tokens(text, other, rng) };
    let changed = json(&ours, &theirs, rng);
    let table =
        serde_json::from_str::<Json>(&changed).ok().and_then(|value| toml::Table::try_from(without_null(value)).ok());
    match table.and_then(|table| toml::to_string(&table).ok()) {
        Some(written) => unquote_dates(&written),
        None => tokens(text, other, rng),
    }
}

fn without_null(value: Json) -> Json {
    match value {
        Json::Object(all) => {
            let kept = all.into_iter().filter(|(_, value)| !value.is_null());
            Json::Object(kept.map(|(name, value)| (name, without_null(value))).collect())
        }
        Json::Array(all) => Json::Array(all.into_iter().filter(|value| !value.is_null()).map(without_null).collect()),
        other => other,
    }
}

/// The object that serde writes for a date becomes its text.
fn plain_dates(value: Json) -> Json {
    match value {
        Json::Object(all) => match all.get("$__toml_private_datetime") {
            Some(day) => day.clone(),
            None => Json::Object(all.into_iter().map(|(name, value)| (name, plain_dates(value))).collect()),
        },
        Json::Array(all) => Json::Array(all.into_iter().map(plain_dates).collect()),
        other => other,
    }
}

/// Quoted days become days again.
fn unquote_dates(text: &str) -> String {
    let is_day = |part: &str| {
        let bytes = part.as_bytes();
        bytes.len() == 10
            && bytes[4] == b'-'
            && bytes[7] == b'-'
            && bytes.iter().filter(|b| b.is_ascii_digit()).count() == 8
    };
    let parts: Vec<&str> = text.split('"').collect();
    let mut out = String::new();
    for (at, part) in parts.iter().enumerate() {
        let quoted = at % 2 == 1;
        if quoted && is_day(part) {
            out.push_str(part);
        } else if quoted {
            out.push_str(&format!("\"{part}\""));
        } else {
            out.push_str(part);
        }
    }
    out
}
