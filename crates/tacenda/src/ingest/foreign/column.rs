//! A quasi column of all files together: which notation it is in, and the span of every text.

use crate::ingest::error::IngestError;
use crate::ingest::error::Kind;
use crate::ingest::foreign::Notation;
use crate::ingest::foreign::Wish;
use crate::ingest::foreign::cell::Cell;
use crate::ingest::foreign::labels;
use crate::ingest::foreign::numbers;
use crate::ingest::foreign::raw::RawColumn;
use crate::ingest::foreign::raw::RawFile;
use crate::model::Quasi;
use crate::model::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// What was concluded about a column.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct ColumnNote {
    /// The column.
    pub column: String,
    /// What its values are: whole numbers, numbers, dates, labels, a given hierarchy.
    pub values: String,
    /// How they are written, and how many cells are written so.
    pub notations: Vec<(String, u64)>,
    /// What `*` stands for, and where that comes from.
    pub domain: String,
}

/// A quasi column, understood.
pub struct Column {
    /// The attribute with its domain.
    pub quasi: Quasi,
    /// Per published file, the span of each text of the file; `None` where the file has no such column.
    pub spans: Vec<Option<Vec<Span>>>,
    /// Per table of the truth, the code of each text.
    pub codes: Vec<Vec<u32>>,
    /// What was concluded.
    pub note: ColumnNote,
}

/// The texts of a column over all files, each once.
pub struct Texts<'a> {
    /// The texts.
    pub texts: Vec<&'a str>,
    /// What they say.
    pub cells: Vec<Cell<'a>>,
    /// How many cells have each.
    pub counts: Vec<u64>,
}

/// Texts that cannot be read, and why.
pub struct Unreadable {
    /// Why.
    pub kind: Kind,
    /// Which texts: those of the published files first, then those of the truth.
    pub texts: Vec<usize>,
    /// What more there is to say.
    pub detail: String,
}

impl Unreadable {
    /// Some texts are at fault.
    pub fn new(kind: Kind, texts: Vec<usize>) -> Unreadable {
        Unreadable { kind, texts, detail: String::new() }
    }

    /// The column as a whole is at fault.
    pub fn whole(kind: Kind, detail: impl Into<String>) -> Unreadable {
        Unreadable { kind, texts: Vec::new(), detail: detail.into() }
    }
}

/// What the texts of a column mean.
pub struct Meaning {
    /// The attribute with its domain.
    pub quasi: Quasi,
    /// Per published text, its span.
    pub spans: Vec<Span>,
    /// What the values are.
    pub values: String,
    /// Where the domain comes from.
    pub domain: String,
}

/// Reads a column of all files together.
pub fn read(
    name: &str,
    wish: &Wish,
    files: &[(&RawFile, Option<&RawColumn>)],
    truth: &[(&RawFile, Option<&RawColumn>)],
) -> Result<Column, IngestError> {
    let (published, published_places) = Texts::gather(files, &wish.any);
    let (private, private_places) = Texts::gather(truth, &[]);
    let meaning = understand(name, wish, &published, &private)
        .map_err(|bad| refuse(name, &bad, &published, files, &published_places, truth, &private_places))?;
    let mut faults = Vec::new();
    let encode = |(at, text): (usize, &&str)| {
        meaning.quasi.encode(text.trim()).unwrap_or_else(|fault| {
            faults.push((published.texts.len() + at, fault));
            0
        })
    };
    let codes: Vec<u32> = private.texts.iter().enumerate().map(encode).collect();
    if let Some(&(_, fault)) = faults.first() {
        let texts = faults.iter().filter(|(_, other)| *other == fault).map(|&(at, _)| at).collect();
        let bad = Unreadable::new(Kind::of(fault), texts);
        return Err(refuse(name, &bad, &published, files, &published_places, truth, &private_places));
    }
    let local = |places: &Option<Vec<u32>>| {
        places.as_ref().map(|places| places.iter().map(|&text| meaning.spans[text as usize]).collect())
    };
    let note = ColumnNote {
        column: name.into(),
        values: meaning.values,
        notations: notations(&published),
        domain: meaning.domain,
    };
    Ok(Column {
        spans: published_places.iter().map(local).collect(),
        codes: private_places
            .iter()
            .map(|places| places.iter().flatten().map(|&text| codes[text as usize]).collect())
            .collect(),
        quasi: meaning.quasi,
        note,
    })
}

impl<'a> Texts<'a> {
    /// The texts of all files, and per file and text of its own the place among them.
    fn gather(files: &[(&'a RawFile, Option<&'a RawColumn>)], any: &[String]) -> (Texts<'a>, Vec<Option<Vec<u32>>>) {
        let mut index: FxHashMap<&str, u32> = FxHashMap::default();
        let mut all = Texts { texts: Vec::new(), cells: Vec::new(), counts: Vec::new() };
        let mut places = Vec::new();
        for (_, column) in files {
            places.push(column.map(|column| {
                let place = |(text, &count): (&'a str, &u64)| {
                    let at = *index.entry(text).or_insert_with(|| {
                        all.texts.push(text);
                        let is_any = any.iter().any(|other| other == text.trim());
                        all.cells.push(if is_any { Cell::Any } else { Cell::read(text) });
                        all.counts.push(0);
                        all.texts.len() as u32 - 1
                    });
                    all.counts[at as usize] += count;
                    at
                };
                column.texts.iter().map(|text| &**text).zip(&column.counts).map(place).collect()
            }));
        }
        (all, places)
    }

    /// Whether some cell is missing.
    pub fn has_missing(&self) -> bool {
        self.cells.contains(&Cell::Missing)
    }

    fn places(&self, is: impl Fn(&Cell<'_>) -> bool) -> Vec<usize> {
        (0..self.cells.len()).filter(|&at| is(&self.cells[at])).collect()
    }

    fn rows(&self, texts: &[usize]) -> u64 {
        texts.iter().map(|&at| self.counts[at]).sum()
    }
}

/// Decides for one notation, and reads every text in it.
fn understand(name: &str, wish: &Wish, published: &Texts<'_>, truth: &Texts<'_>) -> Result<Meaning, Unreadable> {
    if let Some(file) = &wish.hierarchy {
        return labels::in_hierarchy(name, file, published, truth);
    }
    let unclear = published.places(|cell| *cell == Cell::Unclear);
    if !unclear.is_empty() && wish.notation != Notation::Exact {
        return Err(Unreadable::new(Kind::UnknownNotation, unclear));
    }
    let measured = published.places(|cell| matches!(cell, Cell::Point(_) | Cell::Range(_)));
    let ranges = published.places(|cell| matches!(cell, Cell::Range(_)));
    let others = published.places(|cell| matches!(cell, Cell::Label(_) | Cell::Prefix(_) | Cell::Set(_)));
    // Where everything is starred out, the truth says what the values are.
    let of_truth = truth.places(|cell| matches!(cell, Cell::Point(_)));
    let starred = measured.is_empty() && others.is_empty();
    let truth_is_measured = !of_truth.is_empty() && truth.places(|cell| matches!(cell, Cell::Label(_))).is_empty();
    match wish.notation {
        Notation::Exact => labels::exact(name, published, truth),
        Notation::Prefix | Notation::Set if !ranges.is_empty() => Err(Unreadable::new(Kind::UnknownNotation, ranges)),
        Notation::Prefix | Notation::Set => labels::of_published(name, published, truth),
        Notation::Interval | Notation::Integer | Notation::Real(_) | Notation::Date if !others.is_empty() => {
            Err(Unreadable::new(Kind::UnknownNotation, others))
        }
        Notation::Interval | Notation::Integer | Notation::Real(_) | Notation::Date => {
            numbers::read(name, wish, published, truth)
        }
        Notation::Auto if others.is_empty() && !measured.is_empty() => numbers::read(name, wish, published, truth),
        Notation::Auto if starred && truth_is_measured => numbers::read(name, wish, published, truth),
        Notation::Auto if ranges.is_empty() => labels::of_published(name, published, truth),
        // Ranges among labels: whichever are fewer are pointed at.
        Notation::Auto if published.rows(&ranges) < published.rows(&others) => {
            Err(Unreadable::new(Kind::UnknownNotation, ranges))
        }
        Notation::Auto => Err(Unreadable::new(Kind::UnknownNotation, others)),
    }
}

/// How many cells are written how.
fn notations(published: &Texts<'_>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for ((text, cell), &count) in published.texts.iter().zip(&published.cells).zip(&published.counts) {
        let form = match cell {
            Cell::Missing => "missing",
            Cell::Any => "any value",
            Cell::Point(_) | Cell::Label(_) | Cell::Unclear => "single values",
            Cell::Prefix(_) => "prefixes",
            Cell::Set(_) => "sets",
            Cell::Range(_) if text.trim().starts_with(['[', ']', '(']) => "intervals",
            Cell::Range(range) if range.lo.is_none() || range.hi.is_none() => "bounds",
            Cell::Range(_) => "dash ranges",
        };
        *counts.entry(form).or_default() += count;
    }
    counts.into_iter().map(|(form, count)| (form.to_string(), count)).collect()
}

/// The error of texts that cannot be read: the first file that has one, its rows and its first places.
#[allow(clippy::too_many_arguments)]
fn refuse(
    name: &str,
    bad: &Unreadable,
    published: &Texts<'_>,
    files: &[(&RawFile, Option<&RawColumn>)],
    published_places: &[Option<Vec<u32>>],
    truth: &[(&RawFile, Option<&RawColumn>)],
    truth_places: &[Option<Vec<u32>>],
) -> IngestError {
    let offset = published.texts.len();
    let mut problems = Vec::new();
    let all = files.iter().zip(published_places).map(|pair| (pair, 0));
    for (((file, column), places), offset) in all.chain(truth.iter().zip(truth_places).map(|pair| (pair, offset))) {
        let (Some(column), Some(places)) = (column, places) else { continue };
        let is_bad = |local: &u32| bad.texts.contains(&(places[*local as usize] as usize + offset));
        let here: Vec<u32> = (0..places.len() as u32).filter(is_bad).collect();
        if !here.is_empty() {
            let mut problem = file.problem(bad.kind, name, column, &here);
            if !bad.detail.is_empty() {
                problem.detail = format!("{}: {}", problem.detail, bad.detail);
            }
            problems.push(problem);
        }
    }
    if problems.is_empty() {
        let mut problem = crate::ingest::Problem::whole(bad.kind, bad.detail.clone());
        problem.column = Some(name.into());
        problems.push(problem);
    }
    IngestError::Rejected(problems)
}
