//! A column that says how many people a row stands for. anonypy and anonypyx write each combination once, with its
//! count.
//!
//! If it were ignored, a file of 20,000 people would look like one of 6,369.

use crate::ingest::error::{IngestError, Kind};
use crate::ingest::foreign::raw::{RawColumn, RawFile};
use crate::ingest::foreign::{Names, raw};
use crate::ingest::source::Source;
use rustc_hash::FxHashSet;

/// The most people that the rows of a file may stand for.
const MOST_PEOPLE: u64 = u32::MAX as u64 - 2;

/// Which column says how many people a row stands for.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Weight {
    /// None: a row is a person.
    #[default]
    None,
    /// A column that looks like it, if there is one.
    Find,
    /// This one.
    Column(String),
}

/// Names of columns with counts.
const NAMES: [&str; 6] = ["count", "counts", "n", "freq", "frequency", "anzahl"];

/// The column that may hold counts, if all files have it and no option names it otherwise.
pub fn candidate(files: &[&Source], asked: &[&str]) -> Result<Option<String>, IngestError> {
    let mut headers = Vec::new();
    for source in files {
        headers.push(raw::header(source)?);
    }
    let Some((first, others)) = headers.split_first() else { return Ok(None) };
    let is_count = |name: &&String| {
        NAMES.contains(&name.to_ascii_lowercase().as_str())
            && !asked.contains(&name.as_str())
            && others.iter().all(|header| header.contains(name))
    };
    Ok(first.iter().find(is_count).cloned())
}

/// Per text of a column of counts, the number; `None` if some text is no number.
pub fn numbers(column: &RawColumn) -> Option<Vec<u32>> {
    let number = |text: &str| {
        let text = text.trim();
        text.strip_suffix(".0").unwrap_or(text).parse::<u32>().ok()
    };
    column.texts.iter().map(|text| number(text)).collect()
}

/// Whether every combination of the named columns occurs in one row only, and some row stands for several people.
pub fn is_counted(file: &RawFile, names: &Names<'_>) -> bool {
    let Some(column) = &file.columns[names.count()] else { return false };
    let Some(numbers) = numbers(column) else { return false };
    let cells: Vec<&[u32]> =
        file.columns[..names.sensitive().end].iter().flatten().map(|column| &column.codes[..]).collect();
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    numbers.iter().all(|&number| number > 0)
        && numbers.iter().any(|&number| number > 1)
        && (0..file.rows).all(|row| seen.insert(cells.iter().map(|codes| codes[row]).collect()))
}

/// Repeats every row as often as it counts.
pub fn repeat(file: &mut RawFile, names: &Names<'_>, name: &str) -> Result<(), IngestError> {
    let Some(column) = &file.columns[names.count()] else {
        let problem = crate::ingest::Problem::whole(Kind::NotInFile, format!("looked for in {}", file.name));
        return Err(IngestError::Rejected(vec![crate::ingest::Problem { column: Some(name.into()), ..problem }]));
    };
    let Some(numbers) = numbers(column) else {
        let is_bad = |text: &u32| column.texts[*text as usize].trim().trim_end_matches(".0").parse::<u32>().is_err();
        let bad: Vec<u32> = (0..column.texts.len() as u32).filter(is_bad).collect();
        return Err(IngestError::Rejected(vec![file.problem(Kind::NotACount, name, column, &bad)]));
    };
    let times: Vec<u32> = column.codes.iter().map(|&text| numbers[text as usize]).collect();
    let people: u64 = times.iter().map(|&times| u64::from(times)).sum();
    if people > MOST_PEOPLE {
        return Err(IngestError::whole(Kind::TooManyRows, file.name.clone()));
    }
    if people == 0 {
        return Err(IngestError::whole(Kind::NoRows, format!("every row of {} counts for nobody", file.name)));
    }
    file.columns.iter_mut().flatten().for_each(|column| column.repeat(&times));
    file.rows = people as usize;
    Ok(())
}
