//! A column of numbers or dates: its domain, and the span of every text.
//!
//! Whole numbers are counted one by one, so that `(20,30]` is 21 to 30. Numbers with decimals are counted in units of
//! the last decimal that occurs in the column. Dates are counted in days.

use crate::ingest::error::Kind;
use crate::ingest::foreign::bound::NumberOrDay;
use crate::ingest::foreign::cell::{Cell, Range};
use crate::ingest::foreign::column::{Meaning, Texts, Unreadable};
use crate::ingest::foreign::{Notation, Wish};
use crate::model::{Domain, Quasi, Span};
use rustc_hash::FxHashMap;

/// The most codes that an attribute may have.
const MOST_CODES: i64 = u32::MAX as i64 - 2;

/// The most decimals that are kept unless an option asks for more.
const MOST_DECIMALS: u8 = 9;

/// A cell in units, both ends included; an absent end is open.
type Units = (Option<i64>, Option<i64>);

/// Reads a column of numbers or dates.
pub fn read(name: &str, wish: &Wish, published: &Texts<'_>, truth: &Texts<'_>) -> Result<Meaning, Unreadable> {
    let not_exact = |cell: &Cell<'_>| !matches!(cell, Cell::Point(_) | Cell::Missing);
    let of_truth = truth.places(not_exact).into_iter().map(|at| at + published.texts.len());
    refuse(Kind::NotExact, of_truth)?;
    let scale = Scale::choose(wish.notation, published, truth)?;
    // A range with fractional ends holds the whole numbers inside it. A single fractional value, such as a mean of
    // several people, is no whole number.
    let between = |cell: &Cell<'_>| matches!((scale, cell), (Scale::Integer, Cell::Point(at)) if at.decimals() > 0);
    refuse(Kind::UnknownNotation, published.places(between))?;
    refuse(Kind::TooFine, published.places(|cell| scale.units(cell).is_none()))?;
    let units: Vec<Option<Units>> = published.cells.iter().filter_map(|cell| scale.units(cell)).collect();
    let is_empty = |at: &usize| matches!(units[*at], Some((Some(lo), Some(hi))) if lo > hi);
    refuse(Kind::EmptyRange, (0..units.len()).filter(is_empty))?;
    let own = truth.cells.iter().filter_map(|cell| scale.units(cell).flatten());
    let (lo, hi, said) = match wish.ends() {
        Some(ends) => scale.given(ends)?,
        None => {
            let (lo, hi, said) = scale.hull(units.iter().flatten().copied().chain(own))?;
            beyond(published, &units, (lo, hi), said)?
        }
    };
    if i128::from(hi) - i128::from(lo) > i128::from(MOST_CODES) {
        return Err(Unreadable::whole(Kind::TooFine, "its domain needs more than 32 bits"));
    }
    let mut quasi = Quasi::new(name, scale.to_domain(lo, hi));
    if published.has_null() || truth.has_null() {
        quasi = quasi.nullable();
    }
    let spans = spans(&quasi, published, &units, (lo, hi))?;
    let (mut first, mut last) = (String::new(), String::new());
    quasi.print_bound(0, &mut first);
    quasi.print_bound((hi - lo) as u32, &mut last);
    let kinds = vec![0; spans.len()];
    Ok(Meaning { spans, kinds, values: scale.words(published), domain: format!("[{first},{last}), {said}"), quasi })
}

/// Some texts are at fault, if there are any.
fn refuse(kind: Kind, texts: impl IntoIterator<Item = usize>) -> Result<(), Unreadable> {
    let texts: Vec<usize> = texts.into_iter().collect();
    if texts.is_empty() { Ok(()) } else { Err(Unreadable::new(kind, texts)) }
}

/// Per published text, its span within the domain.
fn spans(
    quasi: &Quasi,
    published: &Texts<'_>,
    units: &[Option<Units>],
    (lo, hi): (i64, i64),
) -> Result<Vec<Span>, Unreadable> {
    let span = |at: usize| match (&published.cells[at], units[at]) {
        (cell, _) if published.is_any(cell) => Some(quasi.root()),
        (Cell::Missing, _) => quasi.null().map(Span::exact),
        (_, Some(units)) => {
            let (from, to) = within(units, (lo, hi));
            (from <= to).then(|| Span::new((from - lo) as u32, (to - lo) as u32))
        }
        _ => Some(quasi.root()),
    };
    let spans: Vec<Option<Span>> = (0..units.len()).map(span).collect();
    refuse(Kind::OutsideDomain, (0..spans.len()).filter(|&at| spans[at].is_none()))?;
    Ok(spans.into_iter().flatten().collect())
}

/// A cell's ends within the domain.
fn within((from, to): Units, (lo, hi): (i64, i64)) -> (i64, i64) {
    (from.unwrap_or(lo).max(lo), to.unwrap_or(hi - 1).min(hi - 1))
}

/// An undeclared domain ends where the cells end. Then an open range, such as `*` or `>=65`, could get the same span as
/// a closed one, although a reader of the file can distinguish them. So the domain gets one more unit on that side,
/// which nobody has.
fn beyond(
    published: &Texts<'_>,
    units: &[Option<Units>],
    (lo, hi): (i64, i64),
    said: String,
) -> Result<(i64, i64, String), Unreadable> {
    let mut alike: FxHashMap<(i64, i64), [[bool; 2]; 2]> = FxHashMap::default();
    for (cell, units) in published.cells.iter().zip(units) {
        let units = match units {
            Some(units) => *units,
            None if published.is_any(cell) => (None, None),
            None => continue,
        };
        let seen = alike.entry(within(units, (lo, hi))).or_default();
        seen[0][usize::from(units.0.is_none())] = true;
        seen[1][usize::from(units.1.is_none())] = true;
    }
    let differs = |side: usize| i64::from(alike.values().any(|seen| seen[side] == [true, true]));
    match (differs(0), differs(1)) {
        (0, 0) => Ok((lo, hi, said)),
        (below, above) => match (lo.checked_sub(below), hi.checked_add(above)) {
            (Some(lo), Some(hi)) => Ok((lo, hi, format!("{said}, and one beyond for open cells"))),
            _ => Err(Unreadable::whole(Kind::TooFine, "numbers beyond 64 bits")),
        },
    }
}

/// What is counted.
#[derive(Clone, Copy)]
enum Scale {
    Integer,
    Real(u8),
    Day,
}

impl Scale {
    /// Days if all bounds are days; otherwise numbers with as many decimals as are written or asked for.
    fn choose(notation: Notation, published: &Texts<'_>, truth: &Texts<'_>) -> Result<Scale, Unreadable> {
        let all = || {
            let cells = published.cells.iter().chain(&truth.cells).enumerate();
            cells.flat_map(|(at, cell)| bounds(cell).into_iter().map(move |bound| (at, bound)))
        };
        let days = all().filter(|(_, bound)| bound.is_day()).count();
        let is_date = match notation {
            Notation::Date => true,
            Notation::Integer | Notation::Real(_) => false,
            _ => 2 * days > all().count(),
        };
        let mut odd: Vec<usize> = all().filter(|(_, bound)| bound.is_day() != is_date).map(|(at, _)| at).collect();
        odd.dedup();
        if !odd.is_empty() {
            return Err(Unreadable::new(Kind::UnknownNotation, odd));
        }
        let written = all().map(|(_, bound)| bound.decimals()).max().unwrap_or(0);
        // Decimals are cut off only if an option asks for it.
        let is_said = is_date || matches!(notation, Notation::Integer | Notation::Real(Some(_)));
        if written > MOST_DECIMALS && !is_said {
            let mut finer: Vec<usize> =
                all().filter(|(_, bound)| bound.decimals() > MOST_DECIMALS).map(|(at, _)| at).collect();
            finer.dedup();
            let detail = format!("more than {MOST_DECIMALS} decimals");
            return Err(Unreadable { detail, ..Unreadable::new(Kind::TooFine, finer) });
        }
        Ok(match notation {
            _ if is_date => Scale::Day,
            Notation::Integer => Scale::Integer,
            Notation::Real(Some(decimals)) => Scale::Real(decimals),
            Notation::Real(None) => Scale::Real(written),
            _ if written == 0 => Scale::Integer,
            _ => Scale::Real(written),
        })
    }

    fn decimals(self) -> u8 {
        match self {
            Scale::Real(decimals) => decimals,
            Scale::Integer | Scale::Day => 0,
        }
    }

    /// A cell in units: `Some(None)` if it has no bounds, `None` if they do not fit.
    fn units(self, cell: &Cell<'_>) -> Option<Option<Units>> {
        match cell {
            Cell::Point(at) => at.units(self.decimals()).map(|(units, _)| Some((Some(units), Some(units)))),
            Cell::Range(range) => self.range(range).map(Some),
            _ => Some(None),
        }
    }

    fn range(self, range: &Range) -> Option<Units> {
        let lo = range.lo.map(|end| {
            let (below, exact) = end.at.units(self.decimals())?;
            Some(if exact && end.included { below } else { below + 1 })
        });
        let hi = range.hi.map(|end| {
            let (below, exact) = end.at.units(self.decimals())?;
            Some(if exact && !end.included { below - 1 } else { below })
        });
        // An absent end is allowed; an end that does not fit is not.
        let fits = |end: Option<Option<i64>>| end.is_none_or(|end| end.is_some());
        (fits(lo) && fits(hi)).then(|| (lo.flatten(), hi.flatten()))
    }

    /// The domain with the given ends, half open, and where it comes from.
    fn given(self, ends: Option<(NumberOrDay, NumberOrDay)>) -> Result<(i64, i64, String), Unreadable> {
        let end = |end: NumberOrDay| {
            let (units, is_exact) =
                end.units(self.decimals()).filter(|_| end.is_day() == matches!(self, Scale::Day))?;
            is_exact.then_some(units)
        };
        match ends.and_then(|(lo, hi)| end(lo).zip(end(hi))) {
            Some((lo, hi)) if lo < hi => Ok((lo, hi, "as given".into())),
            _ => Err(Unreadable::whole(Kind::OutsideDomain, "the domain given for it is no range of its values")),
        }
    }

    /// The domain that holds every end, half open, and where it comes from.
    fn hull(self, all: impl Iterator<Item = Units>) -> Result<(i64, i64, String), Unreadable> {
        let (mut lo, mut hi) = (i64::MAX, i64::MIN);
        for end in all.flat_map(|(from, to)| [from, to]).flatten() {
            (lo, hi) = (lo.min(end), hi.max(end));
        }
        if lo > hi {
            return Err(Unreadable::whole(Kind::UnknownNotation, "no cell of it has a number or a date"));
        }
        let next = hi.checked_add(1).ok_or_else(|| Unreadable::whole(Kind::TooFine, "numbers beyond 64 bits"))?;
        Ok((lo, next, "the hull of everything given".into()))
    }

    fn to_domain(self, lo: i64, hi: i64) -> Domain {
        match self {
            Scale::Integer => Domain::Integer { lo, hi },
            Scale::Real(decimals) => Domain::Real { lo, hi, decimals },
            Scale::Day => Domain::Date { lo, hi },
        }
    }

    /// What is counted, and in how many cells decimals were cut off.
    fn words(self, published: &Texts<'_>) -> String {
        let Scale::Real(decimals) = self else {
            return if matches!(self, Scale::Day) { "dates" } else { "whole numbers" }.into();
        };
        let is_finer = |cell: &Cell<'_>| bounds(cell).iter().any(|bound| bound.decimals() > decimals);
        let words = format!("numbers with {decimals} decimals");
        match published.rows(&published.places(is_finer)) {
            0 => words,
            1 => format!("{words}; in 1 cell more were cut off"),
            cells => format!("{words}; in {cells} cells more were cut off"),
        }
    }
}

fn bounds(cell: &Cell<'_>) -> Vec<NumberOrDay> {
    match cell {
        Cell::Point(at) => vec![*at],
        Cell::Range(range) => range.bounds().collect(),
        _ => Vec::new(),
    }
}
