//! Labels of an unknown hierarchy, compared with the private tables.
//!
//! A tool that generalises locally publishes `Self-emp-inc`, `Self-emp` and `Worked` in one column. If they were taken
//! for disjoint values, people would be placed in the wrong groups. A label that is published more often than it occurs
//! in the private tables is no value. Such a label is read as any value that is published less often than it occurs. So
//! nobody is excluded from their own group, and less is concluded.

use crate::ingest::foreign::cell::Cell;
use crate::ingest::foreign::column::Texts;
use crate::ingest::foreign::raw::{RawColumn, RawFile};
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// A column of one file, if it has one, and the place of each of its texts among those of all files.
type Placed<'a> = (&'a (&'a RawFile, Option<&'a RawColumn>), &'a Option<Vec<u32>>);

/// Labels that were read as any of several values.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Widened {
    /// Their places among the published texts, ascending.
    pub texts: Vec<usize>,
}

/// Reads every label that is no value of the private tables as the set of values that it may mean.
pub fn widen<'a>(
    published: &mut Texts<'_>,
    truth: &Texts<'_>,
    files: impl Iterator<Item = Placed<'a>>,
    tables: impl Iterator<Item = Placed<'a>>,
) -> Widened {
    let is_name = |cell: &Cell<'_>| matches!(cell, Cell::Label(_) | Cell::Point(_));
    if published.places(|cell| matches!(cell, Cell::Label(_))).is_empty() {
        return Widened::default();
    }
    // Published and private texts, by their trimmed form.
    let names: Vec<&str> = truth.texts.iter().map(|text| text.trim()).collect();
    let of_name: FxHashMap<&str, usize> = names.iter().copied().zip(0..).collect();
    let own: Vec<Option<usize>> = published.texts.iter().map(|text| of_name.get(text.trim()).copied()).collect();
    let published_counts: Vec<Vec<u64>> = files.map(|file| counts(file, published.texts.len())).collect();
    let private_counts: Vec<Vec<u64>> = tables.map(|table| counts(table, names.len())).collect();
    let releases = || published_counts.iter().zip(&private_counts);
    let is_wide: Vec<bool> = (0..published.texts.len())
        .map(|at| {
            let occurs = |private: &[u64]| own[at].map_or(0, |name| private[name]);
            is_name(&published.cells[at]) && releases().any(|(published, private)| published[at] > occurs(private))
        })
        .collect();
    let mut widened = Widened::default();
    let mut new: Vec<Option<Cell<'static>>> = vec![None; published.texts.len()];
    for at in (0..published.texts.len()).filter(|&at| is_wide[at]) {
        let mut may_be = vec![true; names.len()];
        for (shown, private) in releases().filter(|(shown, _)| shown[at] > 0) {
            let mut exact = vec![0; names.len()];
            for (text, name) in own.iter().enumerate() {
                if let Some(name) = name.filter(|_| !is_wide[text]) {
                    exact[name] += shown[text];
                }
            }
            for (may_be, (private, exact)) in may_be.iter_mut().zip(private.iter().zip(&exact)) {
                *may_be &= private > exact;
            }
        }
        let is_value = |name: usize| is_name(&truth.cells[name]);
        let members: Vec<Cow<'static, str>> = (0..names.len())
            .filter(|&name| may_be[name] && is_value(name))
            .map(|name| Cow::Owned(names[name].to_string()))
            .collect();
        if !members.is_empty() {
            new[at] = Some(Cell::Set(members));
            widened.texts.push(at);
        }
    }
    for (cell, new) in published.cells.iter_mut().zip(new) {
        if let Some(new) = new {
            *cell = new;
        }
    }
    widened
}

/// How many cells of a file have each text of all files.
fn counts(((_, column), places): Placed<'_>, texts: usize) -> Vec<u64> {
    let mut counts = vec![0; texts];
    if let (Some(column), Some(places)) = (column, places) {
        places.iter().zip(&column.counts).for_each(|(&place, count)| counts[place as usize] += count);
    }
    counts
}
