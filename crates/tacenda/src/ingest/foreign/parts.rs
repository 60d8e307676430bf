//! Columns that a tool has split, as anonypyx does: `age_min` and `age_max` for `age`, one yes/no column for each value
//! of `workclass`.

use crate::ingest::error::{IngestError, Kind};
use crate::ingest::foreign::raw::{RawColumn, RawFile};
use rustc_hash::FxHashMap;

/// How a column that a file lacks is composed of others.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Parts {
    /// Its lower and its upper end, both included.
    Ends(String, String),
    /// One column for each value, with whether the row may have it.
    Values(Vec<(String, String)>),
}

impl Parts {
    /// The parts of a column that a header lacks, if it has parts of it. A column that belongs to a longer name does
    /// not count.
    pub fn find(header: &[String], name: &str, others: &[&str]) -> Option<Parts> {
        let has = |wanted: &str| header.iter().any(|column| column == wanted);
        if has(name) {
            return None;
        }
        let (lo, hi) = (format!("{name}_min"), format!("{name}_max"));
        if has(&lo) && has(&hi) {
            return Some(Parts::Ends(lo, hi));
        }
        let is_others = |column: &str| {
            others.iter().any(|other| {
                *other == column
                    || other.len() > name.len() && column.strip_prefix(other).is_some_and(|rest| rest.starts_with('_'))
            })
        };
        let value = |column: &String| {
            let value = column.strip_prefix(name)?.strip_prefix('_')?;
            (!value.is_empty() && !is_others(column)).then(|| (column.clone(), value.to_string()))
        };
        let values: Vec<(String, String)> = header.iter().filter_map(value).collect();
        (values.len() > 1).then_some(Parts::Values(values))
    }

    /// The columns it takes.
    pub fn columns(&self) -> Vec<&str> {
        match self {
            Parts::Ends(lo, hi) => vec![lo, hi],
            Parts::Values(values) => values.iter().map(|(column, _)| column.as_str()).collect(),
        }
    }

    /// How it was made, in words.
    pub fn words(&self, name: &str) -> String {
        match self {
            Parts::Ends(lo, hi) => format!("{name} is read from the columns {lo} and {hi}"),
            Parts::Values(values) => format!("{name} is read from {} columns, one per value", values.len()),
        }
    }

    /// The column that the parts make.
    pub fn join(&self, parts: &[&RawColumn], file: &RawFile) -> Result<RawColumn, IngestError> {
        let texts = |codes: &[u32]| -> Vec<String> {
            parts.iter().zip(codes).map(|(part, &code)| part.texts[code as usize].trim().to_string()).collect()
        };
        let flags: Vec<Vec<Option<bool>>> = match self {
            Parts::Ends(..) => Vec::new(),
            Parts::Values(_) => parts.iter().map(|part| part.texts.iter().map(|text| flag(text)).collect()).collect(),
        };
        for ((flags, part), name) in flags.iter().zip(parts).zip(self.columns()) {
            let bad: Vec<u32> = (0..flags.len() as u32).filter(|&text| flags[text as usize].is_none()).collect();
            if !bad.is_empty() {
                let mut problem = file.problem(Kind::UnknownNotation, name, part, &bad);
                problem.detail = format!("{}: neither true nor false", problem.detail);
                return Err(IngestError::Rejected(vec![problem]));
            }
        }
        let mut known: FxHashMap<Vec<u32>, String> = FxHashMap::default();
        let mut column = RawColumn::default();
        let first = if file.counts_rows { 1 } else { 2 };
        for row in 0..file.rows {
            let codes: Vec<u32> = parts.iter().map(|part| part.codes[row]).collect();
            let text = known.entry(codes).or_insert_with_key(|codes| match self {
                Parts::Ends(..) => match &texts(codes)[..] {
                    [lo, hi] if lo.is_empty() && hi.is_empty() => String::new(),
                    [lo, hi] => format!("[{lo}, {hi}]"),
                    _ => unreachable!("there are two ends"),
                },
                Parts::Values(values) => {
                    let may_have = |(at, &code): (usize, &u32)| flags[at][code as usize] == Some(true);
                    let members = codes.iter().enumerate().filter(|pair| may_have(*pair));
                    let quoted = members.map(|(at, _)| format!("\"{}\"", values[at].1.replace('"', "\"\"")));
                    match &quoted.collect::<Vec<String>>()[..] {
                        [] => String::new(),
                        members => format!("{{{}}}", members.join(", ")),
                    }
                }
            });
            column.push(text.as_bytes(), row as u64 + first);
        }
        column.finish();
        Ok(column)
    }
}

/// Yes or no.
fn flag(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "1.0" => Some(true),
        "false" | "0" | "0.0" => Some(false),
        _ => None,
    }
}
