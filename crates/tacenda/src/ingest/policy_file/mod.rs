//! The policy file, `tacenda.toml`: read, checked, and turned into [`PolicyFile`].
//!
//! The file is walked by hand over a parse that knows where everything stands, so that each fault
//! points at its place and an unknown key at the nearest known one. [`keys`] is the language: what is
//! not in it is an error. Faults are collected; none of them needs the data.

mod keys;
mod columns;
mod promise;
mod views;
mod remembered;

pub use keys::keys;
pub use promise::faults_of;
pub use remembered::{AddedLeaves, Remembered};

use crate::model::hex;
use crate::promise::{Output, PolicyFile, Promised, Reasons, SeriesSettings};
use crate::settings::{PolicyFault, Section, Walk};
use sha2::Digest;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// A policy file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What it says.
    pub policy: PolicyFile,
    /// The SHA-256 of the file and of all hierarchy files it names, in hexadecimal.
    pub digest: String,
    /// What is worth saying though it is no fault, one sentence each.
    pub notes: Vec<String>,
}

/// A policy file that cannot be used: at least one fault.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyFileError {
    /// The policy file.
    pub file: PathBuf,
    /// Its text, for showing where a fault stands; empty if it could not be read.
    pub text: String,
    /// The faults, in the order of the file.
    pub faults: Vec<PolicyFault>,
}

impl PolicyFileError {
    /// The code of the first fault.
    pub fn code(&self) -> &'static str {
        self.faults.first().map_or("P200", |fault| fault.code)
    }

    /// What the program exits with.
    pub fn exit_code(&self) -> u8 {
        2
    }

    /// The line a fault starts on, counted from 1.
    pub fn line(&self, fault: &PolicyFault) -> Option<usize> {
        let start = fault.span.as_ref()?.start.min(self.text.len());
        Some(self.text.as_bytes()[..start].iter().filter(|&&byte| byte == b'\n').count() + 1)
    }
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{} {}", fault.code, self.file.display())?;
            if let Some(line) = self.line(fault) {
                write!(out, ":{line}")?;
            }
            write!(out, ": {}", fault.message)?;
            if !fault.help.is_empty() {
                write!(out, "; {}", fault.help)?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for PolicyFileError {}

/// Every code with its title and a paragraph that explains it.
pub const CODES: &[(&str, &str, &str)] = &[
    ("P200", "unreadable policy file", "The policy file cannot be opened, or is not UTF-8 text."),
    (
        "P201",
        "not TOML",
        "The policy file is not well-formed TOML 1.1. The place is where the parser stopped understanding.",
    ),
    (
        "P202",
        "unknown key",
        "The key is not part of the policy language. A misspelt key is refused, because ignoring it would silently \
         drop a requirement.",
    ),
    ("P203", "wrong kind of value", "The key takes another kind of value, such as a number in place of a text."),
    ("P204", "missing key", "The key has no default and is missing."),
    ("P205", "unknown version", "The first line of a policy file is policy = 1, the version of its language."),
    (
        "P206",
        "bad series name",
        "The name of a series is used for folders and files: lower case letters, digits and dashes, at most 64, starting with a letter or digit.",
    ),
    (
        "P207",
        "not one identifier",
        "Exactly one column has the role identifier. It is never published; it links a person's rows in different \
         snapshots.",
    ),
    (
        "P208",
        "no quasi attribute",
        "No column has the role quasi. Then nothing is generalised, and a release would be as detailed as the table.",
    ),
    ("P209", "no sensitive attribute", "The promise is about sensitive values, and no column has the role sensitive."),
    (
        "P210",
        "no domain",
        "Numbers and dates need a domain, which is public. Bounds taken from the data would reveal the most extreme \
         person.",
    ),
    ("P211", "bad domain", "A domain is [lo, hi) with lo below hi, both of the column's type."),
    (
        "P212",
        "domain too large",
        "A domain may have at most 4,294,967,293 values. Choose a coarser precision or narrower bounds.",
    ),
    ("P213", "parameter too small", "m, k and l are the least numbers of values or people in a group: at least 2."),
    (
        "P214",
        "key does not apply",
        "The key is part of the language, but says nothing in this place: for this role, type or promise.",
    ),
    ("P215", "no reason", "A public column is published as it is. Write down in because = … why that is harmless."),
    ("P216", "hierarchy file missing", "The hierarchy file cannot be opened. Its path is relative to the policy file."),
    (
        "P217",
        "bad hierarchy",
        "A hierarchy file has one line a value: the value, then its ancestors up to *, separated by semicolons; every line has as many levels, every label one place.",
    ),
    ("P218", "bad list of values", "values = […] lists each value once, and at least one."),
    ("P219", "reserved column name", "A release has columns of this name already: group_id, row_weight, record."),
    ("P220", "not a share", "A share lies between 0 and 1."),
    ("P221", "unknown word", "The key takes one of a few words, and this is none of them."),
    (
        "P222",
        "linked ids not covered",
        "Ids that stay the same link a person's rows in all releases. Only incremental-k-anonymity covers that.",
    ),
    (
        "P224",
        "bad level",
        "level = N publishes the label in column N of a sensitive value's hierarchy, 0 for the value itself; the root says nothing and cannot be published.",
    ),
    ("P225", "bad grid", "grid is a number of units, or \"month\" or \"year\" for dates."),
    (
        "P226",
        "values or hierarchy",
        "A category takes its values from a hierarchy or from a list: one of them, not both.",
    ),
    ("P227", "bad number", "The number is out of range."),
    (
        "P228",
        "too few sensitive values",
        "The promise hides each sensitive value among m or l different ones, and the lists or hierarchies of the sensitive columns declare fewer. No table could keep it. A missing value counts as one where missing = \"value\" allows it.",
    ),
    (
        "P231",
        "bad view",
        "[views.NAME] lists columns that are published: those with the role quasi or sensitive. Its name is made of letters, digits, - and _, and is not the name of a column, because tax.job must mean one thing.",
    ),
    (
        "P232",
        "no such column in a view",
        "x and y name columns of views: job means the column in every view that has it, tax.job the one of the view tax, tax.record the records of that view, and record those of every view. target names a published column.",
    ),
    (
        "P233",
        "a column cannot be both known and protected",
        "A column is in x or in y, not in both: x is what an attacker knows, y what must stay unknown. A record in x \
         would make every row unique.",
    ),
    ("P234", "no views", "The promise is about views, and no section [views.NAME] says which there are."),
    (
        "P235",
        "bad impossible pair",
        "[[impossible]] has two columns with a value each that never belong to one person, such as sex = \"M\" and \
         condition = \"pregnant\". A node of a hierarchy includes everything below it.",
    ),
    (
        "P236",
        "a recipient of no view",
        "pool lists recipients who may join their views; each must be a recipient of some view.",
    ),
    (
        "P237",
        "a column that must be coarse is published as it is",
        "A view generalises a column only if it is in x and not in y. Otherwise a grid or a least width cannot be \
         kept.",
    ),
    (
        "P238",
        "bad value of y",
        "sensitive and thresholds list values of y as a release prints them, a node of a hierarchy for all below it; with several columns in y, a list with one value a column.",
    ),
    (
        "P239",
        "a column that views cannot have",
        "Under a promise about views every column joins the views of the same people, so its values must be \
         declared: a sensitive column needs values or a hierarchy, and a public column needs the role quasi. A \
         column that is in no x is published unchanged anyway.",
    ),
];

/// Reads and checks a policy file and the hierarchy files it names.
pub fn read_policy(path: &Path) -> Result<Loaded, PolicyFileError> {
    let unreadable = |why: String| PolicyFileError {
        file: path.into(),
        text: String::new(),
        faults: vec![PolicyFault {
            code: "P200",
            message: format!("cannot read the policy file: {why}"),
            span: None,
            help: "check the path, or draft one with tacenda init".into(),
        }],
    };
    let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
    let text = String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8".into()))?;
    parse_policy(&text, path)
}

/// Checks the text of a policy file; hierarchy files are looked for beside `path`.
pub fn parse_policy(text: &str, path: &Path) -> Result<Loaded, PolicyFileError> {
    let failed = |mut faults: Vec<PolicyFault>| {
        faults.sort_by_key(|fault| fault.span.as_ref().map_or(usize::MAX, |span| span.start));
        PolicyFileError { file: path.into(), text: text.into(), faults }
    };
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let fault = |error: &toml::de::Error| PolicyFault {
            code: "P201",
            message: format!("not TOML: {}", error.message()),
            span: error.span(),
            help: String::new(),
        };
        return Err(failed(errors.iter().map(fault).collect()));
    }
    let mut walk = Walk::new(path, keys());
    walk.digest.update(text.as_bytes());
    let policy = read_root(&Section::root(root.get_ref()), &mut walk);
    if !walk.faults.is_empty() {
        return Err(failed(walk.faults));
    }
    let policy = policy.expect("whatever is missing is a fault");
    if policy.schema.sensitive.len() > 1 {
        walk.notes.push(
            "several sensitive attributes count as one combined value: the promise is about the combination, and one \
             attribute alone may still be certain; where that matters, keep one sensitive attribute a series"
                .into(),
        );
    }
    Ok(Loaded { policy, digest: hex(&walk.digest.clone().finalize()), notes: walk.notes })
}

fn read_root(root: &Section<'_, '_>, walk: &mut Walk) -> Option<PolicyFile> {
    walk.check_keys(root);
    match walk.integer(root, "policy") {
        Some((1, _)) => {}
        Some((_, span)) => {
            walk.fault("P205", "only version 1 of the policy language is known", span, "write policy = 1");
        }
        None if root.get("policy").is_none() => {
            walk.fault("P205", "the version of the policy language is not given", root.span(), "write policy = 1");
        }
        None => {}
    }
    let series = walk.section(root, "series").map(|section| read_series(&section, walk));
    if series.is_none() && root.get("series").is_none() {
        walk.missing(root, "[series]", "name = \"…\"");
    }
    let of_views = promise::is_about_views(root);
    let columns = walk.section(root, "columns").and_then(|section| columns::read(&section, of_views, walk));
    if root.get("columns").is_none() {
        walk.missing(root, "[columns]", "one line a column of the source");
    }
    let promised = match of_views {
        false => promise::read_series(root, columns.as_ref(), walk)
            .map(|(promise, reasons)| (Promised::Series(promise), reasons)),
        true => {
            promise::read_views(root, columns.as_ref(), walk).map(|views| (Promised::Views(views), Reasons::default()))
        }
    };
    if root.get("promise").is_none() {
        walk.missing(root, "[promise]", "model = \"m-invariance\" and m = 4");
    }
    let limits = promise::read_limits(root, walk);
    let output = walk.section(root, "output").map_or_else(Output::default, |section| {
        promise::read_output(&section, promised.as_ref().map(|promised| &promised.0), walk)
    });
    let (promise, reasons) = promised?;
    Some(PolicyFile { series: series?, schema: columns?, promise, reasons, limits, output })
}

fn read_series(section: &Section<'_, '_>, walk: &mut Walk) -> SeriesSettings {
    walk.check_keys(section);
    let text =
        |walk: &mut Walk, key: &str| walk.string(section, key).map_or(String::new(), |(text, _)| text.to_string());
    let name = walk.string(section, "name").map(|(name, span)| (name.to_string(), span));
    match &name {
        None => {
            if section.get("name").is_none() {
                walk.missing(section, "name", "a short name for folders and files");
            }
        }
        Some((name, span)) => {
            let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
            if name.is_empty() || name.len() > 64 || name.starts_with('-') || !name.bytes().all(plain) {
                walk.fault(
                    "P206",
                    "the name of a series is made of lower case letters, digits and dashes",
                    span.clone(),
                    "for example name = \"ward-stays\"",
                );
            }
        }
    }
    SeriesSettings {
        name: name.map_or(String::new(), |(name, _)| name),
        title: text(walk, "title"),
        contact: text(walk, "contact"),
    }
}

#[cfg(test)]
mod tests;
