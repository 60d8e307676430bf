//! Walking a parsed TOML file: typed access that leaves a fault where something does not fit.

use crate::ingest::policy_file::Fault;
use crate::ingest::policy_file::keys::KEYS;
use sha2::Sha256;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A table of the file.
pub(super) struct Section<'t, 'i> {
    /// How it is called in [`KEYS`].
    kind: &'static str,
    /// How it is called in messages.
    pub name: String,
    table: &'t DeTable<'i>,
    span: Range<usize>,
}

impl<'t, 'i> Section<'t, 'i> {
    pub fn root(table: &'t DeTable<'i>) -> Section<'t, 'i> {
        Section { kind: "", name: "the policy file".into(), table, span: 0..0 }
    }

    pub fn get(&self, key: &str) -> Option<&'t Spanned<DeValue<'i>>> {
        self.table.get(key)
    }

    /// Where the section starts.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
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

    /// A table under this one that stands for a column.
    pub fn column(name: &str, kind: &'static str, table: &'t DeTable<'i>, span: Range<usize>) -> Section<'t, 'i> {
        Section { kind, name: format!("column {name}"), table, span }
    }
}

/// What was found on the way.
pub(super) struct Walk {
    pub folder: PathBuf,
    pub faults: Vec<Fault>,
    pub notes: Vec<String>,
    pub digest: Sha256,
}

impl Walk {
    pub fn new(path: &Path) -> Walk {
        Walk {
            folder: path.parent().unwrap_or(Path::new("")).into(),
            faults: Vec::new(),
            notes: Vec::new(),
            digest: Sha256::default(),
        }
    }

    pub fn fault(
        &mut self,
        code: &'static str,
        message: impl Into<String>,
        span: Range<usize>,
        help: impl Into<String>,
    ) {
        self.faults.push(Fault { code, message: message.into(), span: Some(span), help: help.into() });
    }

    /// Faults a key that is not there and must be.
    pub fn missing(&mut self, section: &Section<'_, '_>, key: &str, what: &str) {
        self.fault("P204", format!("{key} is missing in {}", section.name), section.span(), format!("add {what}"));
    }

    /// Faults keys that the language does not have in this section.
    pub fn check_keys(&mut self, section: &Section<'_, '_>) {
        let known = || KEYS.iter().filter(|known| known.section == section.kind).map(|known| known.key);
        for (key, span, _) in section.entries() {
            if known().any(|known| known == key) {
                continue;
            }
            let nearest = known()
                .map(|known| (strsim::damerau_levenshtein(key, known), known))
                .min()
                .filter(|&(distance, known)| distance <= 1 + known.len() / 4);
            let help = match nearest {
                Some((_, known)) => format!("did you mean {known}?"),
                None => format!("known here: {}", known().collect::<Vec<_>>().join(", ")),
            };
            self.fault("P202", format!("unknown key {key} in {}", section.name), span, help);
        }
    }

    /// Faults keys of the language that say nothing in this place.
    pub fn only_keys(&mut self, section: &Section<'_, '_>, allowed: &[&str], place: &str) {
        for (key, span, _) in section.entries() {
            let known = KEYS.iter().any(|known| known.section == section.kind && known.key == key);
            if known && !allowed.contains(&key) {
                let help = format!("take it out; {place} takes {}", allowed.join(", "));
                self.fault("P214", format!("{key} says nothing for {place}"), span, help);
            }
        }
    }

    pub fn section<'t, 'i>(&mut self, parent: &Section<'t, 'i>, key: &'static str) -> Option<Section<'t, 'i>> {
        let value = parent.get(key)?;
        let span = parent.entries().into_iter().find(|(name, _, _)| *name == key).map_or(value.span(), |entry| entry.1);
        match value.get_ref() {
            DeValue::Table(table) => Some(Section { kind: key, name: format!("[{key}]"), table, span }),
            _ => self.wrong_kind(key, "a section", value.span()),
        }
    }

    pub fn string<'t>(&mut self, section: &Section<'t, '_>, key: &str) -> Option<(&'t str, Range<usize>)> {
        let value = section.get(key)?;
        match value.get_ref() {
            DeValue::String(text) => Some((text, value.span())),
            _ => self.wrong_kind(key, "a text in quotes", value.span()),
        }
    }

    pub fn integer(&mut self, section: &Section<'_, '_>, key: &str) -> Option<(i64, Range<usize>)> {
        let value = section.get(key)?;
        match integer_of(value.get_ref()) {
            Some(number) => Some((number, value.span())),
            None => self.wrong_kind(key, "a whole number", value.span()),
        }
    }

    pub fn number(&mut self, section: &Section<'_, '_>, key: &str) -> Option<(f64, Range<usize>)> {
        let value = section.get(key)?;
        match number_of(value.get_ref()) {
            Some(number) => Some((number, value.span())),
            None => self.wrong_kind(key, "a number", value.span()),
        }
    }

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

    pub fn pick<T: Copy>(&mut self, key: &str, text: &str, span: Range<usize>, words: &[(&str, T)]) -> Option<T> {
        if let Some(&(_, meaning)) = words.iter().find(|(word, _)| *word == text) {
            return Some(meaning);
        }
        let nearest = words.iter().map(|(word, _)| (strsim::damerau_levenshtein(text, word), *word)).min();
        let help = match nearest {
            Some((distance, word)) if distance <= 1 + word.len() / 4 => format!("did you mean {word}?"),
            _ => format!("one of {}", words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")),
        };
        self.fault("P221", format!("{key} does not take this word"), span, help);
        None
    }

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

    pub fn wrong_kind<T>(&mut self, key: &str, wanted: &str, span: Range<usize>) -> Option<T> {
        self.fault("P203", format!("{key} takes {wanted}"), span, "");
        None
    }
}

pub(super) fn integer_of(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(super) fn number_of(value: &DeValue<'_>) -> Option<f64> {
    let number = match value {
        DeValue::Float(number) => number.as_str().parse().ok()?,
        _ => integer_of(value)? as f64,
    };
    f64::is_finite(number).then_some(number)
}
