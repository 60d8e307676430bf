//! How many rows of each group are counterfeits, if the file or one beside it says so.

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::foreign::raw::RawFile;
use crate::ingest::foreign::{File, Names};
use crate::model::{GROUP_ID, ROW_WEIGHT};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};

/// The columns of the counts beside a file.
const COLUMNS: [&str; 3] = [GROUP_ID, "rows", "counterfeits"];

/// The file with the counts beside a data file, if there is one.
pub fn counts_beside(data: &Path) -> Option<PathBuf> {
    let name = data.file_name()?.to_str()?;
    let small = name.to_ascii_lowercase();
    let end = [".csv", ".parquet", ".tsv", ".txt"].iter().find_map(|ending| small.rfind(ending))?;
    let path = data.with_file_name(format!("{}.counterfeits.csv", &name[..end]));
    (path != data && path.is_file()).then_some(path)
}

/// The counterfeits of each group; `None` if nothing says how many there are.
pub fn read(
    file: &File,
    raw: &RawFile,
    names: &Names<'_>,
    of_row: &[u32],
    sizes: &[u32],
    groups: &[Box<str>],
) -> Result<Option<Vec<u32>>, IngestError> {
    match (&file.counterfeits, &raw.columns[names.weight()]) {
        (Some(source), _) if !groups.is_empty() => {
            let counts = RawFile::read(source, &COLUMNS, 0)?;
            beside(&counts, sizes, groups).map(Some)
        }
        // If the counts were ignored, counterfeits would silently count as people.
        (Some(source), None) => {
            let column = names.group;
            let detail = format!("{} counts by {GROUP_ID}, and {} has no column {column}", source.name(), raw.name);
            Err(IngestError::whole(Kind::CountsDiffer, detail))
        }
        (_, Some(weights)) => {
            let weights: Vec<Option<f64>> = weights.texts.iter().map(|text| text.trim().parse().ok()).collect();
            let column = raw.columns[names.weight()].as_ref().expect("matched above");
            let of_rows = column.codes.iter().map(|&text| weights[text as usize]);
            by_weight(of_rows, of_row, sizes).map(Some).ok_or_else(|| refused(&raw.name, Some(ROW_WEIGHT)))
        }
        _ => Ok(None),
    }
}

/// The counts of a list with a line per group.
fn beside(counts: &RawFile, sizes: &[u32], groups: &[Box<str>]) -> Result<Vec<u32>, IngestError> {
    let refuse = |column: &'static str| refused(&counts.name, Some(column));
    let [Some(ids), Some(rows), Some(counterfeits)] = &counts.columns[..] else {
        return Err(refused(&counts.name, None));
    };
    let text = |column: &super::raw::RawColumn, row: usize| column.texts[column.codes[row] as usize].clone();
    let number = |column: &super::raw::RawColumn, row: usize| text(column, row).parse::<u32>().ok();
    let mut known: FxHashMap<Box<str>, (u32, u32)> = FxHashMap::default();
    for row in 0..counts.rows {
        let pair = number(rows, row).zip(number(counterfeits, row)).ok_or_else(|| refuse("counterfeits"))?;
        if known.insert(text(ids, row), pair).is_some() {
            return Err(refuse(GROUP_ID));
        }
    }
    let count = |(name, &size): (&str, &u32)| match known.get(name) {
        Some(&(rows, counterfeits)) if rows == size && counterfeits <= rows => Ok(counterfeits),
        _ => Err(refuse("rows")),
    };
    groups.iter().map(|name| &**name).zip(sizes).map(count).collect()
}

/// The counts that follow from the weight of each row: the share of people in its group.
fn by_weight(weights: impl Iterator<Item = Option<f64>>, of_row: &[u32], sizes: &[u32]) -> Option<Vec<u32>> {
    let mut sums = vec![0.0; sizes.len()];
    for (weight, &group) in weights.zip(of_row) {
        sums[group as usize] += weight.filter(|weight| (0.0..=1.0).contains(weight))?;
    }
    let count = |(sum, &size): (&f64, &u32)| {
        let people = sum.round();
        // Weights are written with six decimals, so a group's sum is whole up to that precision.
        ((sum - people).abs() <= 1e-6 * f64::from(size) + 1e-9 && people <= f64::from(size))
            .then(|| size - people as u32)
    };
    sums.iter().zip(sizes).map(count).collect()
}

fn refused(file: &str, column: Option<&str>) -> IngestError {
    let problem = Problem::whole(Kind::CountsDiffer, format!("in {file}"));
    IngestError::Rejected(vec![Problem { column: column.map(String::from), ..problem }])
}
