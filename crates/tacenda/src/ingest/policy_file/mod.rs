//! The policy file, `tacenda.toml`: read, checked, and turned into [`PolicyFile`].
//!
//! The parsed file keeps the place of everything and is walked by hand. So each fault points to its place, and an
//! unknown key is answered with the nearest known one. [`keys`] defines the language: anything else is an error. All
//! faults are collected; none of them needs the data.

mod keys;
mod columns;
mod databases;
mod person;
mod promise;
mod views;
mod remembered;

pub use keys::keys;
pub use promise::faults_of;
pub use remembered::{AddedLeaves, Remembered};

use crate::files;
use crate::model::{Language, Page, hex};
use crate::promise::{
    BackupRule, Databases, Governance, Output, PolicyFile, Promised, Reasons, SeriesSettings, SignatureRules,
};
use crate::settings::{FaultKind, PolicyFault, Section, Walk};
use sha2::Digest;
use std::fmt;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// A policy file that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What it says.
    pub policy: PolicyFile,
    /// Where the table comes from and where releases are delivered.
    pub databases: Databases,
    /// The SHA-256 of the file and of all files it names, in hexadecimal.
    pub digest: String,
    /// Remarks that are no faults, one sentence each.
    pub notes: Vec<String>,
}

/// A policy file that cannot be used: at least one fault.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PolicyFileError {
    /// The policy file.
    pub file: PathBuf,
    /// Its text, to show the place of a fault; empty if it could not be read.
    pub text: String,
    /// The faults, in the order of the file.
    pub faults: Vec<PolicyFault>,
}

impl PolicyFileError {
    /// The code of the first fault.
    pub fn code(&self) -> &'static str {
        self.faults.first().map_or(FaultKind::Unreadable, |fault| fault.kind).code()
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

    /// Whether the place of a fault may be shown: a line that is no policy may be a row of the private table.
    pub fn is_shown(&self, fault: &PolicyFault) -> bool {
        let Some(span) = fault.span.as_ref().filter(|span| span.end <= self.text.len()) else { return false };
        if fault.kind != FaultKind::NotToml {
            return true;
        }
        let Some(before) = self.text.get(..span.start) else { return false };
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        let shown = self.text.get(line..span.end.max(span.start)).map_or(0, |shown| shown.lines().count());
        shown == 1 && self.text[line..].lines().next().is_some_and(is_of_the_language)
    }
}

impl fmt::Display for PolicyFileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(out)?;
            }
            write!(out, "{} {}", fault.kind.code(), self.file.display())?;
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

/// Every code of a policy file with its title and page.
pub const CODES: &[Page] = FaultKind::PAGES;

/// Reads and checks a policy file and the hierarchy files it names.
pub fn read_policy(path: &Path) -> Result<Loaded, PolicyFileError> {
    let unreadable = |why: String| PolicyFileError {
        file: path.into(),
        text: String::new(),
        faults: vec![PolicyFault {
            kind: FaultKind::Unreadable,
            message: format!("cannot read the policy file: {why}"),
            span: None,
            help: "check the path, or draft one with tacenda init".into(),
        }],
    };
    let text = files::read_text(path).map_err(|error| unreadable(error.to_string()))?;
    parse_policy(&text, path)
}

/// Checks the text of a policy file; hierarchy files are looked for beside `path`.
pub fn parse_policy(text: &str, path: &Path) -> Result<Loaded, PolicyFileError> {
    let failed = |mut faults: Vec<PolicyFault>| {
        faults.sort_by_key(|fault| fault.span.as_ref().map_or(usize::MAX, |span| span.start));
        // A connection that cannot be read may be a password, and a line that is shown is copied.
        if faults.iter().any(|fault| matches!(fault.kind, FaultKind::PasswordWritten | FaultKind::BadConnection)) {
            faults.iter_mut().for_each(|fault| fault.span = None);
            return PolicyFileError { file: path.into(), text: String::new(), faults };
        }
        PolicyFileError { file: path.into(), text: text.into(), faults }
    };
    if !looks_like_a_policy(text) {
        let fault = PolicyFault {
            kind: FaultKind::NotToml,
            message: "this is no policy file: it has no line policy = 1".into(),
            span: None,
            help: "name the policy file with --policy, or draft one with tacenda init".into(),
        };
        // The text is not shown, because it may be the private table.
        return Err(PolicyFileError { file: path.into(), text: String::new(), faults: vec![fault] });
    }
    let (root, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        let fault = |error: &toml::de::Error| PolicyFault {
            kind: FaultKind::NotToml,
            message: format!("not TOML: {}", error.message()),
            span: error.span(),
            help: String::new(),
        };
        return Err(failed(errors.iter().take(MOST_SYNTAX_FAULTS).map(fault).collect()));
    }
    let mut walk = Walk::new(path, keys());
    walk.digest.update(text.as_bytes());
    let root = Section::root(root.get_ref());
    let policy = read_root(&root, &mut walk);
    let databases = databases::read(&root, policy.as_ref(), &mut walk);
    if !walk.faults.is_empty() {
        return Err(failed(walk.faults));
    }
    let policy = policy.expect("whatever is missing is a fault");
    if policy.schema.sensitive.len() > 1 {
        walk.notes.push(
            "several sensitive attributes count as one combined value: the promise is about the combination, and one \
             attribute alone may still be certain; where that matters, keep one sensitive attribute per series"
                .into(),
        );
    }
    Ok(Loaded { policy, databases, digest: hex(&walk.digest.clone().finalize()), notes: walk.notes })
}

/// Whether a line is one of the policy language, sound or not: a comment, a section, a known key, or the table of a column.
fn is_of_the_language(line: &str) -> bool {
    let line = line.trim();
    let Some((key, value)) = line.split_once('=') else { return line.starts_with(['#', '[']) };
    let key = key.trim().trim_matches(['"', '\'']);
    line.starts_with(['#', '[']) || value.trim_start().starts_with('{') || keys().iter().any(|known| known.key == key)
}

/// One mistake can make every later line unreadable. The first few places show what to correct.
const MOST_SYNTAX_FAULTS: usize = 10;

/// Whether a text has a line of the policy language, or no line at all. Only then are its lines shown in errors.
fn looks_like_a_policy(text: &str) -> bool {
    let mut lines =
        text.trim_start_matches('\u{feff}').lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    // Keys may be in quotes.
    let says_policy = |line: &str| {
        let line = line.replace(['"', '\''], "");
        line.strip_prefix("policy").is_some_and(|rest| rest.trim_start().starts_with('='))
            || ["[series]", "[columns]", "[promise]"].iter().any(|section| line.starts_with(section))
    };
    lines.peek().is_none() || lines.any(says_policy)
}

fn read_root(root: &Section<'_, '_>, walk: &mut Walk) -> Option<PolicyFile> {
    walk.check_keys(root);
    match walk.integer(root, "policy") {
        Some((1, _)) => {}
        Some((_, span)) => {
            walk.fault(
                FaultKind::UnknownVersion,
                "only version 1 of the policy language is known",
                span,
                "write policy = 1",
            );
        }
        None if root.get("policy").is_none() => {
            walk.fault(
                FaultKind::UnknownVersion,
                "the version of the policy language is not given",
                root.span(),
                "write policy = 1",
            );
        }
        None => {}
    }
    let governance =
        walk.section(root, "governance").map_or_else(Governance::default, |section| read_governance(&section, walk));
    let signatures = walk
        .section(root, "signatures")
        .map_or_else(SignatureRules::default, |section| read_signatures(&section, walk));
    let series = walk.section(root, "series").map(|section| read_series(&section, governance, walk));
    let backup = walk.section(root, "backup").and_then(|section| read_backup(&section, walk));
    let series = series.map(|series| SeriesSettings { signatures, backup, ..series });
    if series.is_none() && root.get("series").is_none() {
        walk.missing(root, "[series]", "name = \"…\"");
    }
    let of_views = promise::is_about_views(root);
    let columns = walk.section(root, "columns").and_then(|section| columns::read(&section, of_views, walk));
    if root.get("columns").is_none() {
        walk.missing(root, "[columns]", "one line per column of the source");
    }
    let columns = columns.map(|mut schema| {
        schema.person = person::read(root, &schema, walk);
        schema
    });
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

fn read_governance(section: &Section<'_, '_>, walk: &mut Walk) -> Governance {
    walk.check_keys(section);
    let mut governance = Governance::default();
    for key in Governance::KEYS {
        if let (Some((text, _)), Some(field)) = (walk.string(section, key), governance.field(key)) {
            *field = text.trim().to_string();
        }
    }
    governance
}

fn read_series(section: &Section<'_, '_>, governance: Governance, walk: &mut Walk) -> SeriesSettings {
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
                    FaultKind::BadSeriesName,
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
        language: walk.word(section, "language", &Language::WORDS).unwrap_or_default(),
        governance,
        signatures: SignatureRules::default(),
        backup: None,
    }
}

fn read_backup(section: &Section<'_, '_>, walk: &mut Walk) -> Option<BackupRule> {
    walk.check_keys(section);
    let keep = walk.integer(section, "keep").and_then(|(keep, span)| {
        let number = u32::try_from(keep).ok().filter(|&keep| keep > 0);
        if number.is_none() {
            walk.fault(FaultKind::BadNumber, "keep is at least 1", span, "for example keep = 12");
        }
        number
    });
    let Some((folder, _)) = walk.string(section, "folder").filter(|(folder, _)| !folder.trim().is_empty()) else {
        walk.missing(section, "folder", "folder = \"a folder on another disk\"");
        return None;
    };
    // Without a slash at its end: with one, a link would be followed.
    Some(BackupRule { folder: walk.folder.join(folder).components().collect(), keep })
}

fn read_signatures(section: &Section<'_, '_>, walk: &mut Walk) -> SignatureRules {
    walk.check_keys(section);
    let mut read = |key: &str| {
        if section.get(key).is_none() {
            return Vec::new();
        }
        let keys = walk.names(section, key).unwrap_or_default();
        let is_key = |text: &String| text.len() == 56 && text.starts_with("RW");
        if !keys.iter().all(is_key) {
            let what = format!("{key} lists what is no minisign public key");
            walk.fault(
                FaultKind::BadKey,
                what,
                section.at(key),
                "write what tacenda key show prints, RW and 54 more characters",
            );
        }
        keys
    };
    SignatureRules { signers: read("signers"), approvers: read("approvers") }
}

#[cfg(test)]
mod tests;
