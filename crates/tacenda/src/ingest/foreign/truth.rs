//! The private tables behind the releases, in the same codes, if the steward gives them.

use crate::ingest::error::{IngestError, Kind};
use crate::ingest::foreign::column::Column;
use crate::ingest::foreign::groups::Numbering;
use crate::ingest::foreign::raw::{RawColumn, RawFile};
use crate::ingest::foreign::{Ask, ColumnNote, Names};
use crate::ingest::source::Source;
use crate::model::{CellFault, Quasi, RecordKey, Schema, Table, Values};
use rayon::prelude::*;

/// The key for hashing identifiers. The hashes stay in this process; reports name people in another way
/// (`Knowledge::name`).
const KEY: &[u8; 32] = b"tacenda audit: identifiers in us";

/// The key of a person's identifier, as the private table has it.
pub fn key(identifier: &str) -> RecordKey {
    RecordKey::of(KEY, identifier.as_bytes())
}

/// Reads the private tables.
pub fn tables(
    private: &[RawFile],
    columns: &[Column],
    names: &Names<'_>,
    numbering: &Numbering,
    key: &dyn Fn(&str) -> RecordKey,
) -> Result<Vec<Table>, IngestError> {
    (0..private.len()).map(|at| table(at, &private[at], columns, names, numbering, key)).collect()
}

/// Reads private tables in the codes of a known schema. Values that no release has are added to `values`. Columns that
/// the schema does not name are left out. `key` turns identifiers into keys.
pub fn read_truth(
    sources: &[Source],
    schema: &Schema,
    identifier: Option<&str>,
    values: &mut Values,
    key: &dyn Fn(&str) -> RecordKey,
) -> Result<Vec<Table>, IngestError> {
    let ask = Ask {
        quasi: schema.quasi.iter().map(|quasi| quasi.name.clone()).collect(),
        sensitive: schema.sensitive.iter().map(|sensitive| sensitive.name.clone()).collect(),
        identifier: identifier.map(String::from),
        ..Ask::default()
    };
    let names = Names::new(&ask, None, None);
    let wanted = names.wanted();
    let files = sources.par_iter().map(|source| RawFile::read(source, &wanted, 0));
    let mut files = files.collect::<Result<Vec<RawFile>, IngestError>>()?;
    names.refuse_absent(&[], &files)?;
    files.iter_mut().for_each(|file| coarsen(file, schema, &names));
    let columns = schema.quasi.iter().enumerate().map(|(at, quasi)| {
        Ok(Column {
            codes: files.iter().map(|file| codes(file, at, quasi)).collect::<Result<_, IngestError>>()?,
            spans: Vec::new(),
            kinds: Vec::new(),
            note: ColumnNote::default(),
            quasi: quasi.clone(),
        })
    });
    let columns = columns.collect::<Result<Vec<Column>, IngestError>>()?;
    let numbering = Numbering::after(values, &names, &[], &files);
    *values = numbering.values.clone();
    tables(&files, &columns, &names, &numbering, key)
}

/// Reads everyone whom releases might be about: the codes of the quasi columns. Whoever has a value that the schema does not
/// know fits no group and is left out. Answers also how many people there are.
pub fn read_population(source: &Source, schema: &Schema) -> Result<(Vec<Vec<u32>>, u64), IngestError> {
    let ask = Ask { quasi: schema.quasi.iter().map(|quasi| quasi.name.clone()).collect(), ..Ask::default() };
    let names = Names::new(&ask, None, None);
    let file = RawFile::read(source, &names.wanted(), 0)?;
    names.refuse_absent(&[], std::slice::from_ref(&file))?;
    let of_column = |(quasi, column): (&Quasi, &Option<RawColumn>)| -> Vec<Option<u32>> {
        let column = column.as_ref().expect("a table without a quasi column was refused");
        let codes: Vec<Option<u32>> = column.texts.iter().map(|text| quasi.encode(text).ok()).collect();
        column.codes.iter().map(|&text| codes[text as usize]).collect()
    };
    let columns: Vec<Vec<Option<u32>>> = schema.quasi.iter().zip(&file.columns).map(of_column).collect();
    let is_known = |row: &usize| columns.iter().all(|codes| codes[*row].is_some());
    let rows: Vec<usize> = (0..file.rows).filter(is_known).collect();
    let quasi = columns.iter().map(|codes| rows.iter().filter_map(|&row| codes[row]).collect()).collect();
    Ok((quasi, file.rows as u64))
}

/// Reads who lives where, off a table of the truth: keys, and the names of households.
pub fn read_households(
    source: &Source,
    identifier: &str,
    household: &str,
    key: &dyn Fn(&str) -> RecordKey,
) -> Result<Vec<(RecordKey, Box<str>)>, IngestError> {
    let (sensitive, identifier) = (vec![household.to_string()], Some(identifier.to_string()));
    let ask = Ask { sensitive, identifier, ..Ask::default() };
    let names = Names::new(&ask, None, None);
    let file = RawFile::read(source, &names.wanted(), 0)?;
    names.refuse_absent(&[], std::slice::from_ref(&file))?;
    let keys = keys(0, &file, &names, key)?;
    let column = file.columns[names.sensitive().start].as_ref().expect("a truth without this column was refused");
    Ok(keys.into_iter().zip(column.codes.iter().map(|&text| column.texts[text as usize].clone())).collect())
}

/// Replaces sensitive cells by the coarser labels that are published, where the schema has such.
fn coarsen(file: &mut RawFile, schema: &Schema, names: &Names<'_>) {
    for (at, sensitive) in names.sensitive().zip(&schema.sensitive) {
        let Some(column) = &mut file.columns[at] else { continue };
        for text in &mut column.texts {
            if let Ok(label) = sensitive.labels.binary_search_by(|(cell, _)| cell.as_str().cmp(text)) {
                *text = sensitive.labels[label].1.as_str().into();
            }
        }
    }
}

/// The code of each text of a column.
fn codes(file: &RawFile, at: usize, quasi: &Quasi) -> Result<Vec<u32>, IngestError> {
    let column = file.columns[at].as_ref().expect("a truth without a quasi column was refused");
    let codes: Vec<Result<u32, CellFault>> = column.texts.iter().map(|text| quasi.encode(text)).collect();
    match codes.iter().find_map(|code| code.err()) {
        None => Ok(codes.into_iter().flatten().collect()),
        Some(fault) => {
            let is_bad = |&text: &u32| codes[text as usize] == Err(fault);
            let bad: Vec<u32> = (0..codes.len() as u32).filter(is_bad).collect();
            Err(IngestError::Rejected(vec![file.problem(Kind::of(fault), &quasi.name, column, &bad)]))
        }
    }
}

fn table(
    at: usize,
    file: &RawFile,
    columns: &[Column],
    names: &Names<'_>,
    numbering: &Numbering,
    key: &dyn Fn(&str) -> RecordKey,
) -> Result<Table, IngestError> {
    let keys = keys(at, file, names, key)?;
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

/// The person of each row, by the identifier. Without one, each row is a different person.
fn keys(
    at: usize,
    file: &RawFile,
    names: &Names<'_>,
    key: &dyn Fn(&str) -> RecordKey,
) -> Result<Vec<RecordKey>, IngestError> {
    let Some(name) = &names.ask.identifier else {
        return Ok((0..file.rows as u64).map(|row| RecordKey { hi: at as u64, lo: row }).collect());
    };
    let column = file.columns[names.identifier()].as_ref().expect("a truth without an identifier was refused");
    let twice: Vec<u32> = (0..column.texts.len() as u32).filter(|&text| column.counts[text as usize] > 1).collect();
    if !twice.is_empty() {
        return Err(IngestError::Rejected(vec![file.problem(Kind::DuplicateIdentifier, name, column, &twice)]));
    }
    let empty: Vec<u32> =
        (0..column.texts.len() as u32).filter(|&text| column.texts[text as usize].is_empty()).collect();
    if !empty.is_empty() {
        return Err(IngestError::Rejected(vec![file.problem(Kind::EmptyIdentifier, name, column, &empty)]));
    }
    let of_text: Vec<RecordKey> = column.texts.iter().map(|text| key(text)).collect();
    Ok(column.codes.iter().map(|&text| of_text[text as usize]).collect())
}
