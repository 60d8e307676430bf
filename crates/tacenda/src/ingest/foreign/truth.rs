//! The tables behind the releases, in the same codes, where their owner gives them.

use crate::ingest::error::IngestError;
use crate::ingest::error::Kind;
use crate::ingest::foreign::Names;
use crate::ingest::foreign::column::Column;
use crate::ingest::foreign::groups::Numbering;
use crate::ingest::foreign::raw::RawFile;
use crate::model::RecordKey;
use crate::model::Table;

/// What identifiers are hashed with. The hashes leave this process no more than the identifiers do.
const KEY: &[u8; 32] = b"tacenda audit: identifiers in us";

/// The key of a person's identifier, as it stands in the truth.
pub fn key(identifier: &str) -> RecordKey {
    RecordKey::of(KEY, identifier.as_bytes())
}

/// The tables of the truth.
pub fn tables(
    private: &[RawFile],
    columns: &[Column],
    names: &Names<'_>,
    numbering: &Numbering,
) -> Result<Vec<Table>, IngestError> {
    (0..private.len()).map(|at| table(at, &private[at], columns, names, numbering)).collect()
}

fn table(
    at: usize,
    file: &RawFile,
    columns: &[Column],
    names: &Names<'_>,
    numbering: &Numbering,
) -> Result<Table, IngestError> {
    let keys = keys(at, file, names)?;
    let mut rows: Vec<u32> = (0..file.rows as u32).collect();
    rows.sort_unstable_by_key(|&row| keys[row as usize]);
    let quasi = columns
        .iter()
        .zip(&file.columns)
        .map(|(column, raw)| {
            let raw = raw.as_ref().expect("a truth without a quasi column was refused");
            rows.iter().map(|&row| column.codes[at][raw.codes[row as usize] as usize]).collect()
        })
        .collect();
    let sensitive = rows.iter().map(|&row| numbering.private[at][row as usize]).collect();
    let sorted = rows.iter().map(|&row| keys[row as usize]).collect();
    Ok(Table::new(sorted, quasi, sensitive, numbering.values.clone(), Vec::new(), Vec::new()))
}

/// Per row, who it is: by the identifier, or everyone somebody else.
fn keys(at: usize, file: &RawFile, names: &Names<'_>) -> Result<Vec<RecordKey>, IngestError> {
    let Some(name) = &names.ask.identifier else {
        return Ok((0..file.rows as u64).map(|row| RecordKey { hi: at as u64, lo: row }).collect());
    };
    let column = file.columns[names.identifier()].as_ref().expect("a truth without an identifier was refused");
    let twice: Vec<u32> = (0..column.texts.len() as u32).filter(|&text| column.counts[text as usize] > 1).collect();
    if !twice.is_empty() {
        return Err(IngestError::Rejected(vec![file.problem(Kind::DuplicateIdentifier, name, column, &twice)]));
    }
    let empty: Vec<u32> = (0..column.texts.len() as u32).filter(|&text| column.texts[text as usize].is_empty()).collect();
    if !empty.is_empty() {
        return Err(IngestError::Rejected(vec![file.problem(Kind::EmptyIdentifier, name, column, &empty)]));
    }
    let of_text: Vec<RecordKey> = column.texts.iter().map(|text| key(text)).collect();
    Ok(column.codes.iter().map(|&text| of_text[text as usize]).collect())
}
