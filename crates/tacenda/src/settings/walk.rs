//! Walks a parsed TOML file: typed access that records a fault if something does not fit.

use crate::settings::{FaultKind, Key, PolicyFault};
use sha2::Sha256;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table of the file.
pub struct Section<'t, 'i> {
    /// How its keys are listed.
    kind: &'static str,
    /// How it is called in messages.
    pub name: String,
    table: &'t DeTable<'i>,
    span: Range<usize>,
}

impl<'t, 'i> Section<'t, 'i> {
    /// The file itself.
    pub fn root(table: &'t DeTable<'i>) -> Section<'t, 'i> {
        Section { kind: "", name: "the policy file".into(), table, span: 0..0 }
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    /// Where the section starts.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

    /// The place of a key's value; if it is absent, the start of the section.
    pub fn at(&self, key: &str) -> Range<usize> {
        self.get(key).map_or(self.span(), Spanned::span)
    }

    /// Its keys and values in the order of the file.
    pub fn entries(&self) -> Vec<(&'t str, Range<usize>, &'t Spanned<DeValue<'i>>)> {
        let mut entries: Vec<_> = self.table.iter().map(|(key, value)| (&**key.get_ref(), key.span(), value)).collect();
        entries.sort_by_key(|(_, span, _)| span.start);
        entries
    }

    /// A table somewhere in the file.
    pub fn named(name: String, kind: &'static str, table: &'t DeTable<'i>, span: Range<usize>) -> Section<'t, 'i> {
        Section { kind, name, table, span }
    }

    /// The table of a column.
    pub fn column(name: &str, kind: &'static str, table: &'t DeTable<'i>, span: Range<usize>) -> Section<'t, 'i> {
        Section { kind, name: format!("column {name}"), table, span }
    }
}

/// What was found while walking.
pub struct Walk {
    /// The folder of the file. Paths in the file are relative to it.
    pub folder: PathBuf,
    /// What is wrong, in the order it was met.
    pub faults: Vec<PolicyFault>,
    /// Remarks that are no faults, one sentence each.
    pub notes: Vec<String>,
    /// The digest of the file and all files it names.
    pub digest: Sha256,
    /// The names of the source's columns.
    pub columns: Vec<String>,
    /// The language. Any other key is a fault.
    keys: Vec<Key>,
}

impl Walk {
    /// Walks the file at `path`, which may have these keys.
    pub fn new(path: &Path, keys: Vec<Key>) -> Walk {
        Walk {
            folder: path.parent().unwrap_or(Path::new("")).into(),
            faults: Vec::new(),
            notes: Vec::new(),
            digest: Sha256::default(),
            columns: Vec::new(),
            keys,
        }
    }

    /// The path of a file that the settings name. It must be inside their folder, because its contents are published
    /// with every release, and a path elsewhere could name any file.
    pub fn inside(&mut self, path: &str, span: &Range<usize>) -> Option<PathBuf> {
        let file = self.folder.join(path);
        let is_plain =
            Path::new(path).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let folder = if self.folder.as_os_str().is_empty() { Path::new(".") } else { &self.folder };
        let leads_out = match (folder.canonicalize(), file.canonicalize()) {
            (Ok(folder), Ok(file)) => !file.starts_with(folder),
            // A file that does not exist cannot leak; opening it will report that.
            _ => false,
        };
        if is_plain && !leads_out {
            return Some(file);
        }
        let help = "copy the file into the folder of the policy file, and write its path without ..";
        self.fault(FaultKind::OutsidePath, "the path leads out of the policy file's folder", span.clone(), help);
        None
    }

    /// Records a fault.
    pub fn fault(&mut self, kind: FaultKind, message: impl Into<String>, span: Range<usize>, help: impl Into<String>) {
        self.faults.push(PolicyFault { kind, message: message.into(), span: Some(span), help: help.into() });
    }

    /// Records the fault of a missing required key.
    pub fn missing(&mut self, section: &Section<'_, '_>, key: &str, what: &str) {
        self.fault(
            FaultKind::MissingKey,
            format!("{key} is missing in {}", section.name),
            section.span(),
            format!("add {what}"),
        );
    }

    /// Records a fault for every key that the language does not have in this section.
    pub fn check_keys(&mut self, section: &Section<'_, '_>) {
        let known = self.keys_of(section);
        for (key, span, _) in section.entries() {
            if known.contains(&key) {
                continue;
            }
            let nearest = known
                .iter()
                .map(|&known| (strsim::damerau_levenshtein(key, known), known))
                .min()
                .filter(|&(distance, known)| distance <= 1 + known.len() / 4);
            let help = match nearest {
                Some((_, known)) => format!("did you mean {known}?"),
                None => format!("known here: {}", known.join(", ")),
            };
            self.fault(FaultKind::UnknownKey, format!("unknown key {key} in {}", section.name), span, help);
        }
    }

    /// The keys that the language has in a section, each once.
    fn keys_of(&self, section: &Section<'_, '_>) -> Vec<&'static str> {
        let mut known: Vec<&'static str> = Vec::new();
        for row in self.keys.iter().filter(|row| row.section == section.kind) {
            if !known.contains(&row.key) {
                known.push(row.key);
            }
        }
        known
    }

    /// Records a fault for every key that has no meaning in this place.
    pub fn only_keys(&mut self, section: &Section<'_, '_>, allowed: &[&str], place: &str) {
        let known = self.keys_of(section);
        for (key, span, _) in section.entries() {
            if known.contains(&key) && !allowed.contains(&key) {
                let help = format!("take it out; {place} takes {}", allowed.join(", "));
                self.fault(FaultKind::SaysNothing, format!("{key} has no effect for {place}"), span, help);
            }
        }
    }

    /// A table under another one.
    pub fn section<'t, 'i>(&mut self, parent: &Section<'t, 'i>, key: &'static str) -> Option<Section<'t, 'i>> {
        let value = parent.get(key)?;
        let span = parent.entries().into_iter().find(|(name, _, _)| *name == key).map_or(value.span(), |entry| entry.1);
        match value.get_ref() {
            DeValue::Table(table) => Some(Section { kind: key, name: format!("[{key}]"), table, span }),
            _ => self.wrong_kind(key, "a section", value.span()),
        }
    }

    /// A text.
    pub fn string<'t>(&mut self, section: &Section<'t, '_>, key: &str) -> Option<(&'t str, Range<usize>)> {
        let value = section.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text, value.span())),
            _ => self.wrong_kind(key, "a text in quotes", value.span()),
        }
    }

    /// A whole number.
    pub fn integer(&mut self, section: &Section<'_, '_>, key: &str) -> Option<(i64, Range<usize>)> {
        let value = section.get(key)?;
        match integer_of(value.get_ref()) {
            Some(number) => Some((number, value.span())),
            None => self.wrong_kind(key, "a whole number", value.span()),
        }
    }

    /// A number.
    pub fn number(&mut self, section: &Section<'_, '_>, key: &str) -> Option<(f64, Range<usize>)> {
        let value = section.get(key)?;
        match number_of(value.get_ref()) {
            Some(number) => Some((number, value.span())),
            None => self.wrong_kind(key, "a number", value.span()),
        }
    }

    /// True or false.
    pub fn boolean(&mut self, section: &Section<'_, '_>, key: &str) -> Option<bool> {
        let value = section.get(key)?;
        match value.get_ref() {
            DeValue::Boolean(truth) => Some(*truth),
            _ => self.wrong_kind(key, "true or false", value.span()),
        }
    }

    /// One of a few words.
    pub fn word<T: Copy>(&mut self, section: &Section<'_, '_>, key: &str, words: &[(&str, T)]) -> Option<T> {
        let (text, span) = self.string(section, key)?;
        self.pick(key, text, span, words)
    }

    /// The meaning of a word.
    pub fn pick<T: Copy>(&mut self, key: &str, text: &str, span: Range<usize>, words: &[(&str, T)]) -> Option<T> {
        if let Some(&(_, meaning)) = words.iter().find(|(word, _)| *word == text) {
            return Some(meaning);
        }
        let nearest = words.iter().map(|(word, _)| (strsim::damerau_levenshtein(text, word), *word)).min();
        let help = match nearest {
            // In a word of two letters, another letter is another word.
            Some((distance, word)) if distance <= 1 + word.len() / 4 && 2 * distance < word.len() => {
                format!("did you mean {word}?")
            }
            _ => format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")),
        };
        self.fault(FaultKind::UnknownWord, format!("{key} does not take this word"), span, help);
        None
    }

    /// A list.
    pub fn list<'t, 'i>(
        &mut self,
        section: &Section<'t, 'i>,
        key: &str,
    ) -> Option<(Vec<&'t Spanned<DeValue<'i>>>, Range<usize>)> {
        let value = section.get(key)?;
        match value.get_ref() {
            DeValue::Array(items) => Some((items.iter().collect(), value.span())),
            _ => self.wrong_kind(key, "a list in square brackets", value.span()),
        }
    }

    /// A required number of people or values, at least 2.
    pub fn parameter(&mut self, section: &Section<'_, '_>, key: &'static str) -> Option<u32> {
        if section.get(key).is_none() {
            self.missing(section, key, &format!("{key} = 4"));
        }
        self.optional_parameter(section, key)
    }

    /// The same, but optional.
    pub fn optional_parameter(&mut self, section: &Section<'_, '_>, key: &str) -> Option<u32> {
        let (number, span) = self.integer(section, key)?;
        if number < 2 {
            let message = format!("{key} must be at least 2: a person is one among {key}");
            self.fault(FaultKind::TooSmall, message, span, format!("for example {key} = 4"));
            return None;
        }
        if number > 1_000_000 {
            self.fault(FaultKind::BadNumber, format!("{key} is at most 1000000"), span, "");
            return None;
        }
        Some(number as u32)
    }

    /// A reason, which must not be empty.
    pub fn reason(&mut self, section: &Section<'_, '_>, key: &str) -> Option<String> {
        let (reason, span) = self.string(section, key).map(|(reason, span)| (reason.trim().to_string(), span))?;
        if reason.is_empty() {
            self.fault(FaultKind::WrongKind, format!("{key} takes a reason"), span, "write down why it is acceptable");
        }
        Some(reason)
    }

    /// A required list of distinct names.
    pub fn names(&mut self, section: &Section<'_, '_>, key: &str) -> Option<Vec<String>> {
        let Some((items, _)) = self.list(section, key) else {
            if section.get(key).is_none() {
                self.missing(section, key, &format!("{key} = [\"…\"]"));
            }
            return None;
        };
        let mut found: Vec<String> = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(name) if found.iter().any(|known| known == name) => {
                    self.fault(FaultKind::BadList, format!("{key} names something twice"), item.span(), "name it once");
                }
                Some(name) => found.push(name.to_string()),
                None => drop(self.wrong_kind::<()>(key, "names in quotes", item.span())),
            }
        }
        Some(found)
    }

    /// Records the fault of a value of another type.
    pub fn wrong_kind<T>(&mut self, key: &str, wanted: &str, span: Range<usize>) -> Option<T> {
        self.fault(FaultKind::WrongKind, format!("{key} takes {wanted}"), span, "");
        None
    }
}

/// A whole number, in whatever radix it is written.
pub fn integer_of(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// A finite number.
pub fn number_of(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        _ => integer_of(value)? as f64,
    };
    f64::is_finite(number).then_some(number)
}
