//! Rare sensitive values, merged in the draft.
//!
//! A rare value costs counterfeits in every release after its holders leave. So the draft publishes frequent values as
//! they are, and rare ones by the prefix of their code or under one label. At least seven of eight people keep their
//! exact value. The steward sees every line in the hierarchy file.

use crate::ingest::draft::DraftColumn;
use crate::model::Role;
use std::collections::BTreeMap;

/// With fewer values there is nothing to merge.
const MANY: usize = 30;

/// The least number of people, of a thousand, who keep their exact value.
const KEPT: u64 = 875;

/// The label of rare values with rare prefixes.
const TOGETHER: &str = "rare values";

/// The labels of a sensitive column.
pub(super) struct Rare {
    /// Per value, what is published for it.
    labels: Vec<(String, String)>,
    /// How many values are published as they are.
    kept: usize,
    /// How many of a thousand people have such a value.
    share: u64,
}

/// The labels of a sensitive column with many values; `None` for any other.
pub(super) fn of(column: &DraftColumn) -> Option<Rare> {
    let counts = column.seen.counts.as_ref().filter(|counts| counts.len() >= MANY)?;
    if column.role != Role::Sensitive {
        return None;
    }
    let text = |value: &[u8]| String::from_utf8_lossy(value).into_owned();
    let mut values: Vec<(String, u64)> = counts.iter().map(|(value, &count)| (text(value), u64::from(count))).collect();
    values.sort_unstable_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let people: u64 = values.iter().map(|(_, count)| count).sum();
    let mut so_far = 0;
    let reaches = |(_, count): &&(String, u64)| {
        so_far += count;
        so_far * 1000 >= people * KEPT
    };
    let least = values.iter().find(reaches)?.1;
    let mut beginnings: BTreeMap<&str, u64> = BTreeMap::new();
    for (value, count) in values.iter().filter(|(_, count)| *count < least) {
        *beginnings.entry(beginning(value)).or_default() += count;
    }
    let label = |(value, count): &(String, u64)| {
        let start = beginning(value);
        match *count >= least {
            true => value.clone(),
            false if !start.is_empty() && beginnings[start] >= least => format!("{start}*"),
            false => TOGETHER.to_string(),
        }
    };
    let labels: Vec<(String, String)> = values.iter().map(|value| (value.0.clone(), label(value))).collect();
    let kept = values.iter().filter(|(_, count)| *count >= least);
    let share = kept.clone().map(|(_, count)| count).sum::<u64>() * 1000 / people;
    let kept = kept.count();
    // A value that looks like one of our labels would be ambiguous.
    let is_clear = labels.iter().all(|(value, _)| value != TOGETHER && !value.contains('*'));
    (kept < labels.len() && is_clear).then_some(Rare { labels, kept, share })
}

impl Rare {
    /// The rows of the hierarchy file.
    pub(super) fn rows(&self) -> Vec<Vec<String>> {
        let mut rows: Vec<Vec<String>> =
            self.labels.iter().map(|(value, label)| vec![value.clone(), label.clone(), "*".into()]).collect();
        // Sorted so that values of one label are together.
        rows.sort_unstable_by(|a, b| a[1].cmp(&b[1]).then_with(|| a[0].cmp(&b[0])));
        rows
    }

    /// The comment above the column in the policy file.
    pub(super) fn comment(&self) -> String {
        format!(
            "# {} of {} values are published as they are: {} of 1000 people have them. The file says what the others are \
             published as.\n\
             # A rare value costs counterfeits in every later release. level = 0 publishes every value as it is.",
            self.kept,
            self.labels.len(),
            self.share
        )
    }
}

/// The prefix of a code: up to its last punctuation mark, or the first three characters of a longer one; empty for
/// words.
fn beginning(value: &str) -> &str {
    if !value.bytes().any(|byte| byte.is_ascii_digit()) || !value.is_ascii() {
        return "";
    }
    match value.rfind(['.', '-', '/', '(', ' ']) {
        Some(mark) if mark > 0 => &value[..=mark],
        Some(_) => "",
        None if value.len() > 3 => &value[..3],
        None => "",
    }
}
