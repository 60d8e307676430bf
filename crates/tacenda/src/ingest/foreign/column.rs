//! A quasi column of all files together: its notation, and the span of every text.

use crate::ingest::error::{IngestError, Kind};
use crate::ingest::foreign::cell::Cell;
use crate::ingest::foreign::raw::{RawColumn, RawFile};
use crate::ingest::foreign::settle::settle;
use crate::ingest::foreign::{Missing, Notation, Wish, cell, labels, levels, numbers, thousands};
use crate::model::{Quasi, Span, counted};
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
    /// What `*` means, and where that comes from.
    pub domain: String,
    /// Published cells with a missing value, and whether they were taken for any value; `None` if there are none.
    pub missing: Option<(u64, bool)>,
    /// Whether different labels are taken for disjoint values without evidence.
    pub apart: bool,
    /// Whether that was not confirmed by an option either. Then findings that depend on it are conditional.
    pub guessed: bool,
    /// Labels that do not occur as values in the private tables, and how many cells have them.
    pub widened: (u64, u64),
    /// Cells with sets that fit no common order, read as the run of values around them.
    pub around: u64,
}

impl ColumnNote {
    /// What was assumed about the publisher, one sentence each.
    pub fn assumptions(&self) -> impl Iterator<Item = String> {
        let apart = self.apart.then(|| {
            format!("In column {} different texts are read as values that have nothing in common.", self.column)
        });
        self.of_missing().into_iter().chain(apart).chain(self.of_widened()).chain(self.of_around())
    }

    /// The assumption about generalised labels without a hierarchy.
    fn of_widened(&self) -> Option<String> {
        let (labels, cells) = self.widened;
        let column = &self.column;
        (labels > 0).then(|| {
            format!(
                "In column {column} {} in the private tables ({}): taken for any value that is published less often than it \
                 occurs there.",
                counted(labels, "label is published more often than it occurs", "labels are published more often than they occur"),
                counted(cells, "cell", "cells")
            )
        })
    }

    /// The assumption about sets that fit no common order.
    fn of_around(&self) -> Option<String> {
        let (column, cells) = (&self.column, self.around);
        (cells > 0).then(|| {
            format!(
                "In column {column} the sets of {} fit no common order: they are read as more values than they name, \
                 so less may be found.",
                counted(cells, "cell", "cells")
            )
        })
    }

    /// The assumption about missing values.
    fn of_missing(&self) -> Option<String> {
        let (cells, are_any) = self.missing?;
        let taken = match are_any {
            true => "left out: any value",
            false => "not recorded: a value of its own",
        };
        let cells = cells_say(cells);
        Some(format!("In column {} {cells} nothing (empty, NA, NULL, ?), which is read as {taken}.", self.column))
    }
}

/// The number of cells, as the subject of a sentence.
pub fn cells_say(cells: u64) -> String {
    if cells == 1 { "1 cell says".into() } else { format!("{cells} cells say") }
}

/// A quasi column, understood.
pub struct Column {
    /// The attribute with its domain.
    pub quasi: Quasi,
    /// Per published file, the span of each text of the file; `None` if the file has no such column.
    pub spans: Vec<Option<Vec<Span>>>,
    /// Likewise, a number that distinguishes texts with one span: 0 if a text means exactly its span.
    pub kinds: Vec<Option<Vec<u32>>>,
    /// Per table of the truth, the code of each text.
    pub codes: Vec<Vec<u32>>,
    /// What was concluded.
    pub note: ColumnNote,
}

/// The texts of a column over all files, each once.
#[derive(Default)]
pub struct Texts<'a> {
    /// The texts.
    pub texts: Vec<&'a str>,
    /// Their forms.
    pub cells: Vec<Cell<'a>>,
    /// How many cells have each.
    pub counts: Vec<u64>,
    /// Whether a missing value means any value, instead of being a value of its own.
    pub missing_is_any: bool,
    /// Whether numbers have commas between thousands.
    pub thousands: bool,
}

/// Texts that cannot be read, and why.
pub struct Unreadable {
    /// Why.
    pub kind: Kind,
    /// Which texts: those of the published files first, then those of the truth.
    pub texts: Vec<usize>,
    /// Further details.
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
    /// Per published text, 0, or a distinct number if the span is wider than the text.
    pub kinds: Vec<u32>,
    /// What the values are.
    pub values: String,
    /// Where the domain comes from.
    pub domain: String,
}

/// Reads a column of all files together. Unless `reads_around`, a text that no span expresses exactly is refused.
pub fn read(
    name: &str,
    wish: &Wish,
    reads_around: bool,
    files: &[(&RawFile, Option<&RawColumn>)],
    truth: &[(&RawFile, Option<&RawColumn>)],
) -> Result<Column, IngestError> {
    let (mut published, published_places) = Texts::gather(files, wish, &wish.any);
    let (mut private, private_places) = Texts::gather(truth, wish, &[]);
    published.missing_is_any = match wish.missing {
        Missing::Any => true,
        Missing::Value => false,
        // If the column uses `*`, or the private table has blanks, a blank means "not recorded", not "suppressed".
        Missing::Auto => !published.cells.contains(&Cell::Any) && !private.has_null(),
    };
    let mut widened = levels::Widened::default();
    let meaning = settle(wish, &mut published, &mut private)
        .map(|()| {
            if reads_around && !truth.is_empty() && !wish.has_tree() && wish.notation != Notation::Exact {
                let (files, tables) = (files.iter().zip(&published_places), truth.iter().zip(&private_places));
                widened = levels::widen(&mut published, &private, files, tables);
            }
        })
        .and_then(|()| understand(name, wish, &published, &private, &widened.texts))
        .and_then(|meaning| match meaning.kinds.iter().position(|&kind| kind > 0) {
            Some(text) if !reads_around => Err(Unreadable::new(Kind::NoOrder, vec![text])),
            _ => Ok(meaning),
        })
        .map_err(|bad| refuse(name, &bad, &published, files, &published_places, truth, &private_places))?;
    let mut faults = Vec::new();
    let encode = |(at, text): (usize, &&str)| {
        let plain = match private.cells[at] {
            Cell::Missing => Some(String::new()),
            Cell::Point(_) if published.thousands => thousands::without_commas(text),
            _ => None,
        };
        meaning.quasi.encode(plain.as_deref().unwrap_or(text).trim()).unwrap_or_else(|fault| {
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
    let kind = |places: &Option<Vec<u32>>| {
        places.as_ref().map(|places| places.iter().map(|&text| meaning.kinds[text as usize]).collect())
    };
    let around: Vec<usize> = (0..meaning.kinds.len()).filter(|at| meaning.kinds[*at] > 0).collect();
    let note = ColumnNote {
        widened: (widened.texts.len() as u64, published.rows(&widened.texts)),
        around: published.rows(&around) - published.rows(&widened.texts),
        ..note(name, wish, &published, !truth.is_empty(), meaning.values, meaning.domain)
    };
    Ok(Column {
        spans: published_places.iter().map(local).collect(),
        kinds: published_places.iter().map(kind).collect(),
        codes: private_places
            .iter()
            .map(|places| places.iter().flatten().map(|&text| codes[text as usize]).collect())
            .collect(),
        quasi: meaning.quasi,
        note,
    })
}

fn note(name: &str, wish: &Wish, published: &Texts<'_>, has_truth: bool, values: String, domain: String) -> ColumnNote {
    let missing = published.rows(&published.places(|cell| *cell == Cell::Missing));
    let says_more = |cell: &Cell<'_>| match (wish.notation, cell) {
        (_, Cell::Missing | Cell::Any) => false,
        (Notation::Exact, Cell::Point(_)) => false,
        (Notation::Exact, Cell::Range(_) | Cell::Maybe(..) | Cell::Prefix(_) | Cell::Set(_) | Cell::Unclear) => true,
        (_, Cell::Label(_)) => !has_truth,
        _ => false,
    };
    let apart = !wish.has_tree() && !published.places(says_more).is_empty();
    // A single label has no other label that it could overlap.
    let names = published.places(|cell| matches!(cell, Cell::Label(_) | Cell::Point(_))).len();
    ColumnNote {
        column: name.into(),
        values,
        notations: notations(published),
        domain,
        missing: (missing > 0).then_some((missing, published.missing_is_any)),
        guessed: apart && !has_truth && wish.notation == Notation::Auto && names > 1,
        apart: apart && (names > 1 || wish.notation == Notation::Exact),
        widened: (0, 0),
        around: 0,
    }
}

impl<'a> Texts<'a> {
    /// The texts of all files, and per file the place of each of its texts among them.
    fn gather(
        files: &[(&'a RawFile, Option<&'a RawColumn>)],
        wish: &Wish,
        any: &[String],
    ) -> (Texts<'a>, Vec<Option<Vec<u32>>>) {
        let mut index: FxHashMap<&str, u32> = FxHashMap::default();
        let mut all = Texts::default();
        // With exact texts or a given tree, NA is a text like any other, unless an option says otherwise.
        let are_named = (wish.notation == Notation::Exact || wish.has_tree()) && wish.missing == Missing::Auto;
        let mut places = Vec::new();
        for (_, column) in files {
            places.push(column.map(|column| {
                let place = |(text, &count): (&'a str, &u64)| {
                    let text = cell::without_list(text);
                    let at = *index.entry(text).or_insert_with(|| {
                        all.texts.push(text);
                        let is_any = any.iter().any(|other| other == text.trim());
                        all.cells.push(match cell::says_nothing(text) && !are_named {
                            _ if is_any => Cell::Any,
                            true => Cell::Missing,
                            false => Cell::read(text),
                        });
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

    /// Whether some cell means "not recorded", which is a value of its own.
    pub fn has_null(&self) -> bool {
        !self.missing_is_any && self.cells.contains(&Cell::Missing)
    }

    /// Whether a cell may be any value.
    pub fn is_any(&self, cell: &Cell<'_>) -> bool {
        *cell == Cell::Any || self.missing_is_any && *cell == Cell::Missing
    }

    /// Replaces the form of some cells; `None` leaves one as it is.
    pub fn change(&mut self, new: impl Fn(&Cell<'a>, &'a str) -> Option<Cell<'a>>) {
        for (cell, text) in self.cells.iter_mut().zip(self.texts.iter().copied()) {
            if let Some(changed) = new(cell, text) {
                *cell = changed;
            }
        }
    }

    /// The texts whose form satisfies `is`.
    pub fn places(&self, is: impl Fn(&Cell<'_>) -> bool) -> Vec<usize> {
        (0..self.cells.len()).filter(|&at| is(&self.cells[at])).collect()
    }

    /// How many cells have one of these texts.
    pub fn rows(&self, texts: &[usize]) -> u64 {
        texts.iter().map(|&at| self.counts[at]).sum()
    }
}

/// Chooses one notation, and reads every text in it.
fn understand(
    name: &str,
    wish: &Wish,
    published: &Texts<'_>,
    truth: &Texts<'_>,
    widened: &[usize],
) -> Result<Meaning, Unreadable> {
    if let Some(tree) = wish.tree() {
        let tree = tree.map_err(|why| Unreadable::whole(Kind::UnknownNotation, why))?;
        return labels::in_hierarchy(name, tree, published, truth);
    }
    let unclear = published.places(|cell| *cell == Cell::Unclear);
    if !unclear.is_empty() && wish.notation != Notation::Exact {
        return Err(Unreadable::new(Kind::UnknownNotation, unclear));
    }
    let measured = published.places(|cell| matches!(cell, Cell::Point(_) | Cell::Range(_)));
    let ranges = published.places(|cell| matches!(cell, Cell::Range(_)));
    let others = published.places(|cell| matches!(cell, Cell::Label(_) | Cell::Prefix(_) | Cell::Set(_)));
    // If everything is starred out, the private table shows what the values are.
    let of_truth = truth.places(|cell| matches!(cell, Cell::Point(_)));
    let starred = measured.is_empty() && others.is_empty();
    let truth_is_measured = !of_truth.is_empty() && truth.places(|cell| matches!(cell, Cell::Label(_))).is_empty();
    match wish.notation {
        Notation::Exact => labels::exact(name, published, truth),
        Notation::Prefix | Notation::Set if !ranges.is_empty() => Err(Unreadable::new(Kind::UnknownNotation, ranges)),
        Notation::Prefix | Notation::Set => labels::of_published(name, published, truth, widened),
        Notation::Interval | Notation::Integer | Notation::Real(_) | Notation::Date if !others.is_empty() => {
            Err(Unreadable::new(Kind::UnknownNotation, others))
        }
        Notation::Interval | Notation::Integer | Notation::Real(_) | Notation::Date => {
            numbers::read(name, wish, published, truth)
        }
        Notation::Auto if others.is_empty() && !measured.is_empty() => numbers::read(name, wish, published, truth),
        Notation::Auto if starred && truth_is_measured => numbers::read(name, wish, published, truth),
        Notation::Auto if ranges.is_empty() => labels::of_published(name, published, truth, widened),
        // Ranges mixed with labels: the error points at whichever are fewer.
        Notation::Auto if published.rows(&ranges) < published.rows(&others) => {
            Err(Unreadable::new(Kind::UnknownNotation, ranges))
        }
        Notation::Auto => Err(Unreadable::new(Kind::UnknownNotation, others)),
    }
}

/// How many cells are in which notation.
fn notations(published: &Texts<'_>) -> Vec<(String, u64)> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for ((text, cell), &count) in published.texts.iter().zip(&published.cells).zip(&published.counts) {
        let text = text.trim();
        let form = match cell {
            Cell::Missing if published.missing_is_any => "missing as any value",
            Cell::Missing => "missing as a value",
            Cell::Any => "any value",
            Cell::Point(_) | Cell::Label(_) | Cell::Unclear | Cell::Maybe(..) => "single values",
            Cell::Prefix(_) => "prefixes",
            Cell::Set(_) => "sets",
            Cell::Range(_) if text.starts_with(['[', ']', '(']) => "intervals",
            Cell::Range(_) if text.contains(' ') && text.contains(|letter: char| letter.is_alphabetic()) => "in words",
            Cell::Range(_) if text.ends_with(cell::DASHES) => "open dashes",
            Cell::Range(range) if range.lo.is_none() || range.hi.is_none() => "bounds",
            Cell::Range(_) if text.contains("..") => "dotted ranges",
            Cell::Range(_) => "dash ranges",
        };
        *counts.entry(form).or_default() += count;
    }
    let thousands = published.thousands.then(|| {
        let has_commas = |at: &usize| thousands::without_commas(published.texts[*at]).is_some();
        let grouped: Vec<usize> = (0..published.texts.len()).filter(has_commas).collect();
        ("of these with commas between thousands".to_string(), published.rows(&grouped))
    });
    counts.into_iter().map(|(form, count)| (form.to_string(), count)).chain(thousands).collect()
}

/// The error for texts that cannot be read: the first file that has one, its rows and first places.
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
