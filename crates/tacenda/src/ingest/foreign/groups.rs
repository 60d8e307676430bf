//! From rows of texts to a release: groups, their regions, and their rows in order.

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::foreign::column::Column;
use crate::ingest::foreign::raw::RawFile;
use crate::ingest::foreign::{File, Names, counts};
use crate::model::{Regions, Release, Span, Traces, Value, Values};
use rustc_hash::FxHashMap;

/// The numbers that all files share.
pub struct Numbering {
    /// The sensitive values of all files and of the truth.
    pub values: Values,
    /// Per file, the value of each row.
    pub published: Vec<Vec<Value>>,
    /// The same for the truth.
    pub private: Vec<Vec<Value>>,
    /// Per file, the number of each text that links records.
    linked: Vec<Vec<u64>>,
}

impl Numbering {
    /// Numbers the values and the links of all files.
    pub fn new(names: &Names<'_>, published: &[RawFile], private: &[RawFile]) -> Numbering {
        Numbering::after(&Values::default(), names, published, private)
    }

    /// The same if some values already have numbers.
    pub fn after(known: &Values, names: &Names<'_>, published: &[RawFile], private: &[RawFile]) -> Numbering {
        let combined: Vec<Combined<'_>> =
            published.iter().chain(private).map(|file| Combined::new(file, names)).collect();
        let mut values = known.clone();
        values.extend(combined.iter().flat_map(Combined::texts));
        let index = values.index();
        let mut rows: Vec<Vec<Value>> = combined
            .iter()
            .map(|file| {
                let known: Vec<Value> = file.texts().map(|cells| index[&cells[..]]).collect();
                file.rows.iter().map(|&number| known[number as usize]).collect()
            })
            .collect();
        let of_truth = rows.split_off(published.len());
        Numbering { linked: links(names, published), published: rows, private: of_truth, values }
    }
}

/// The combinations of sensitive cells of a file, numbered in order of appearance.
struct Combined<'a> {
    file: &'a RawFile,
    columns: std::ops::Range<usize>,
    distinct: Vec<Vec<u32>>,
    rows: Vec<u32>,
}

impl<'a> Combined<'a> {
    fn new(file: &'a RawFile, names: &Names<'_>) -> Combined<'a> {
        let columns = names.sensitive();
        let cells: Vec<&[u32]> =
            file.columns[columns.clone()].iter().flatten().map(|column| &column.codes[..]).collect();
        let mut index: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let (mut distinct, mut rows) = (Vec::new(), Vec::with_capacity(file.rows));
        let mut key = Vec::new();
        for row in 0..file.rows {
            key.clear();
            key.extend(cells.iter().map(|codes| codes[row]));
            let number = match index.get(&key) {
                Some(&number) => number,
                None => {
                    let number = distinct.len() as u32;
                    distinct.push(key.clone());
                    index.insert(key.clone(), number);
                    number
                }
            };
            rows.push(number);
        }
        Combined { file, columns, distinct, rows }
    }

    /// The cells of each combination; empty cells if the file has no sensitive column.
    fn texts(&self) -> impl Iterator<Item = Box<[Box<str>]>> + '_ {
        self.distinct.iter().map(|codes| {
            let columns = &self.file.columns[self.columns.clone()];
            let cell = |(at, column): (usize, &Option<super::raw::RawColumn>)| match column {
                Some(column) => column.texts[codes[at] as usize].clone(),
                None => Box::from(""),
            };
            columns.iter().enumerate().map(cell).collect()
        })
    }
}

/// Per file, the number of each text that links records: hexadecimal as in our own releases, otherwise
/// by the order of all texts.
fn links(names: &Names<'_>, published: &[RawFile]) -> Vec<Vec<u64>> {
    let columns = || published.iter().map(|file| file.columns[names.linked()].as_ref());
    let own = |text: &str| (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok()).flatten();
    let is_linked = |text: &str| !text.trim().is_empty();
    let is_own =
        columns().flatten().all(|column| column.texts.iter().all(|text| own(text).is_some() || !is_linked(text)));
    let mut all: Vec<&str> = columns().flatten().flat_map(|column| column.texts.iter().map(|text| &**text)).collect();
    all.sort_unstable();
    all.dedup();
    let number = |text: &str| match own(text) {
        Some(number) if is_own => number,
        _ => all.binary_search(&text).expect("all texts are listed") as u64,
    };
    columns()
        .map(|column| column.map_or(Vec::new(), |column| column.texts.iter().map(|text| number(text)).collect()))
        .collect()
}

/// Makes a release of a file.
pub fn release(
    at: usize,
    file: &File,
    raw: &RawFile,
    columns: &[Column],
    names: &Names<'_>,
    numbering: &Numbering,
) -> Result<(Release, Traces), IngestError> {
    let grouped = Grouped::new(at, raw, columns, names)?;
    let values = &numbering.published[at];
    let mut rows: Vec<u32> = (0..raw.rows as u32).collect();
    rows.sort_unstable_by_key(|&row| (grouped.of_row[row as usize], values[row as usize], row));
    let mut ends = vec![0u32; grouped.regions.len()];
    rows.iter().for_each(|&row| ends[grouped.of_row[row as usize] as usize] += 1);
    let sizes = ends.clone();
    let mut total = 0;
    for end in &mut ends {
        total += *end;
        *end = total;
    }
    let mut regions = Regions::new(columns.len());
    grouped.regions.iter().for_each(|region| regions.push(region));
    let counterfeits = counts::read(file, raw, names, &grouped.of_row, &sizes, &grouped.names)?;
    let linked = match &raw.columns[names.linked()] {
        // A row without a link is linked to no other row.
        Some(column) => rows
            .iter()
            .map(|&row| match column.codes[row as usize] as usize {
                text if column.texts[text].trim().is_empty() => u64::MAX - ((at as u64) << 32 | u64::from(row)),
                text => numbering.linked[at][text],
            })
            .collect(),
        None => Vec::new(),
    };
    let shown = Traces {
        group_names: grouped.names,
        columns: columns.iter().map(|column| column.spans[at].is_some()).collect(),
        without_sensitive: raw.columns[names.sensitive()].iter().all(Option::is_none),
        counterfeits_known: counterfeits.is_some(),
        places: rows.clone(),
        link: None,
    };
    let release = Release {
        number: at as u32 + 1,
        label: file.label.clone(),
        ends,
        regions,
        sensitive: rows.iter().map(|&row| values[row as usize]).collect(),
        counterfeits: counterfeits.unwrap_or_else(|| vec![0; sizes.len()]),
        linked,
        values: numbering.values.clone(),
        ..Release::default()
    };
    Ok((release, shown))
}

/// The groups of a file, in the order of their names, or of their regions if they have none.
struct Grouped {
    regions: Vec<Vec<Span>>,
    names: Vec<Box<str>>,
    of_row: Vec<u32>,
}

impl Grouped {
    fn new(at: usize, raw: &RawFile, columns: &[Column], names: &Names<'_>) -> Result<Grouped, IngestError> {
        // Texts with the same span get the same number, so that groups do not depend on spelling.
        let spans: Vec<Option<(Vec<u32>, Vec<Span>)>> = columns
            .iter()
            .map(|column| Some(distinct(column.spans[at].as_ref()?, column.kinds[at].as_ref()?)))
            .collect();
        let cells: Vec<Option<&[u32]>> =
            raw.columns.iter().map(|column| column.as_ref().map(|column| &column.codes[..])).collect();
        let named = raw.columns[names.group()].as_ref();
        let mut index: FxHashMap<Vec<u32>, u32> = FxHashMap::default();
        let mut keys: Vec<Vec<u32>> = Vec::new();
        let mut of_row: Vec<u32> = Vec::with_capacity(raw.rows);
        let mut key: Vec<u32> = Vec::new();
        for row in 0..raw.rows {
            key.clear();
            key.push(named.map_or(0, |column| column.codes[row]));
            key.extend(spans.iter().zip(&cells).map(|(spans, cells)| match (spans, cells) {
                (Some((numbers, _)), Some(cells)) => numbers[cells[row] as usize],
                _ => 0,
            }));
            if let Some(&last) = of_row.last()
                && keys[last as usize] == key
            {
                of_row.push(last);
                continue;
            }
            let group = match index.get(&key) {
                Some(&group) => group,
                None => {
                    let group = keys.len() as u32;
                    keys.push(key.clone());
                    index.insert(key.clone(), group);
                    group
                }
            };
            of_row.push(group);
        }
        let region = |key: &Vec<u32>| -> Vec<Span> {
            let spans = spans.iter().zip(columns).zip(&key[1..]);
            spans
                .map(|((spans, column), &number)| match spans {
                    Some((_, spans)) => spans[number as usize],
                    None => column.quasi.root(),
                })
                .collect()
        };
        let regions: Vec<Vec<Span>> = keys.iter().map(region).collect();
        let mut order: Vec<u32> = (0..keys.len() as u32).collect();
        let mut group_names: Vec<Box<str>> = Vec::new();
        match named {
            None => order.sort_unstable_by_key(|&group| (&regions[group as usize], &keys[group as usize])),
            Some(column) => {
                refuse_mixed(raw, names, &keys, &of_row)?;
                let text = |group: u32| &*column.texts[keys[group as usize][0] as usize];
                let number = |group: u32| text(group).parse::<u64>().unwrap_or(u64::MAX);
                order.sort_unstable_by(|&left, &right| (number(left), text(left)).cmp(&(number(right), text(right))));
                group_names = order.iter().map(|&group| text(group).into()).collect();
            }
        }
        let mut place = vec![0u32; order.len()];
        order.iter().enumerate().for_each(|(at, &group)| place[group as usize] = at as u32);
        of_row.iter_mut().for_each(|group| *group = place[*group as usize]);
        let mut regions: Vec<Option<Vec<Span>>> = regions.into_iter().map(Some).collect();
        let regions = order.iter().map(|&group| regions[group as usize].take().expect("each group once")).collect();
        Ok(Grouped { regions, names: group_names, of_row })
    }
}

/// Per text the number of its meaning, and per number the span. Texts with one span may differ in meaning if the span
/// is wider than they are.
fn distinct(spans: &[Span], kinds: &[u32]) -> (Vec<u32>, Vec<Span>) {
    let mut all: Vec<(Span, u32)> = spans.iter().copied().zip(kinds.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let number = |said: (Span, u32)| all.binary_search(&said).expect("every text is listed") as u32;
    let numbers = spans.iter().copied().zip(kinds.iter().copied()).map(number).collect();
    (numbers, all.into_iter().map(|(span, _)| span).collect())
}

/// Rows with one group id must be published alike.
fn refuse_mixed(raw: &RawFile, names: &Names<'_>, keys: &[Vec<u32>], of_row: &[u32]) -> Result<(), IngestError> {
    let mut first: FxHashMap<u32, usize> = FxHashMap::default();
    for (group, key) in keys.iter().enumerate() {
        if let Some(other) = first.insert(key[0], group) {
            let column = (0..key.len() - 1).find(|&column| keys[other][column + 1] != key[column + 1]);
            let row = of_row.iter().position(|&of_row| of_row as usize == group).unwrap_or(0);
            return Err(IngestError::Rejected(vec![Problem {
                column: column.map(|column| names.ask.quasi[column].clone()),
                rows: 1,
                places: vec![row as u64 + 1],
                places_are_rows: true,
                ..Problem::whole(Kind::GroupDiffers, format!("in {}", raw.name))
            }]));
        }
    }
    Ok(())
}
