//! A column of numbers or dates: its domain, and the span of every text.
//!
//! Whole numbers are counted one by one, so that `(20,30]` is 21 to 30; numbers with decimals in units
//! of the last one that is written anywhere in the column; dates in days.

use crate::ingest::error::Kind;
use crate::ingest::foreign::bound::Bound;
use crate::ingest::foreign::cell::{Cell, Range};
use crate::ingest::foreign::column::{Meaning, Texts, Unreadable};
use crate::ingest::foreign::{Notation, Wish, bound};
use crate::model::{Domain, Quasi, Span};
use rustc_hash::FxHashMap;

/// The most codes that an attribute may have.
const MOST_CODES: i64 = u32::MAX as i64 - 2;

/// The most decimals that are kept without being asked.
const MOST_DECIMALS: u8 = 9;

/// A cell in units, both ends included; an absent end is open.
type Units = (Option<i64>, Option<i64>);

/// Reads a column of numbers or dates.
pub fn read(name: &str, wish: &Wish, published: &Texts<'_>, truth: &Texts<'_>) -> Result<Meaning, Unreadable> {
    let not_exact = |cell: &Cell<'_>| !matches!(cell, Cell::Point(_) | Cell::Missing);
    let bad: Vec<usize> = (0..truth.cells.len()).filter(|&at| not_exact(&truth.cells[at])).collect();
    if !bad.is_empty() {
        return Err(Unreadable::new(Kind::NotExact, bad.iter().map(|at| at + published.texts.len()).collect()));
    }
    let scale = Scale::choose(wish.notation, published, truth)?;
    let finer = |cell: &Cell<'_>| bounds(cell).iter().any(|bound| bound.decimals() > scale.decimals());
    let cut_off: u64 = match scale {
        Scale::Real(_) => {
            (0..published.cells.len()).filter(|&at| finer(&published.cells[at])).map(|at| published.counts[at]).sum()
        }
        Scale::Integer | Scale::Day => 0,
    };
    // Ranges between whole numbers hold those they hold; a point between two is neither, such as a mean of several people.
    let between = |cell: &Cell<'_>| matches!((scale, cell), (Scale::Integer, Cell::Point(at)) if at.decimals() > 0);
    let bad: Vec<usize> = (0..published.cells.len()).filter(|&at| between(&published.cells[at])).collect();
    if !bad.is_empty() {
        return Err(Unreadable::new(Kind::UnknownNotation, bad));
    }
    let units = published.cells.iter().map(|cell| scale.units(cell)).collect::<Vec<_>>();
    let bad: Vec<usize> = (0..units.len()).filter(|&at| units[at].is_none()).collect();
    if !bad.is_empty() {
        return Err(Unreadable::new(Kind::TooFine, bad));
    }
    let units: Vec<Option<Units>> = units.into_iter().flatten().collect();
    let empty: Vec<usize> =
        (0..units.len()).filter(|&at| matches!(units[at], Some((Some(lo), Some(hi))) if lo > hi)).collect();
    if !empty.is_empty() {
        return Err(Unreadable::new(Kind::EmptyRange, empty));
    }
    let own = truth.cells.iter().filter_map(|cell| scale.units(cell).flatten());
    let (lo, hi, said) = scale.domain(wish, units.iter().flatten().copied().chain(own))?;
    let (lo, hi, said) = match wish.domain {
        Some(_) => (lo, hi, said),
        None => beyond(published, &units, (lo, hi), said)?,
    };
    if i128::from(hi) - i128::from(lo) > i128::from(MOST_CODES) {
        return Err(Unreadable::whole(Kind::TooFine, "its domain needs more than 32 bits"));
    }
    let mut quasi = Quasi::new(name, scale.to_domain(lo, hi));
    if published.has_null() || truth.has_null() {
        quasi = quasi.nullable();
    }
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
    let outside: Vec<usize> = (0..spans.len()).filter(|&at| spans[at].is_none()).collect();
    if !outside.is_empty() {
        return Err(Unreadable::new(Kind::OutsideDomain, outside));
    }
    let (mut first, mut last) = (String::new(), String::new());
    quasi.print_bound(0, &mut first);
    quasi.print_bound((hi - lo) as u32, &mut last);
    Ok(Meaning {
        spans: spans.into_iter().flatten().collect(),
        values: match cut_off {
            0 => scale.words(),
            1 => format!("{}; in 1 cell more were cut off", scale.words()),
            cells => format!("{}; in {cells} cells more were cut off", scale.words()),
        },
        domain: format!("[{first},{last}), {said}"),
        quasi,
    })
}

/// A cell's ends within the domain.
fn within((from, to): Units, (lo, hi): (i64, i64)) -> (i64, i64) {
    (from.unwrap_or(lo).max(lo), to.unwrap_or(hi - 1).min(hi - 1))
}

/// A domain that nobody declared ends where the cells end; then one that is open, such as `*` or `>=65`, may look like one
/// that is not. It gets one unit more on that side, which is nobody's: whoever reads the file can tell the two apart.
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
    /// Days where all bounds are days; otherwise as many decimals as are written, or were wished for.
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
        // What would be cut off is said, or nothing is.
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

    /// A cell in units: `Some(None)` where it has none, `None` where they do not fit.
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
        // An absent end is fine, an end that does not fit is not.
        let fits = |end: Option<Option<i64>>| end.is_none_or(|end| end.is_some());
        (fits(lo) && fits(hi)).then(|| (lo.flatten(), hi.flatten()))
    }

    /// The domain, half open, and where it comes from.
    fn domain(self, wish: &Wish, all: impl Iterator<Item = Units>) -> Result<(i64, i64, String), Unreadable> {
        if let Some((lo, hi)) = &wish.domain {
            let end = |text: &str| {
                let end = bound::read(text.trim())?;
                (end.is_day() == matches!(self, Scale::Day))
                    .then(|| end.units(self.decimals()))?
                    .and_then(|(units, is_exact)| is_exact.then_some(units))
            };
            return match (end(lo), end(hi)) {
                (Some(lo), Some(hi)) if lo < hi => Ok((lo, hi, "as given".into())),
                _ => Err(Unreadable::whole(Kind::OutsideDomain, "the domain given for it is no range of its values")),
            };
        }
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

    fn words(self) -> String {
        match self {
            Scale::Integer => "whole numbers".into(),
            Scale::Real(decimals) => format!("numbers with {decimals} decimals"),
            Scale::Day => "dates".into(),
        }
    }
}

fn bounds(cell: &Cell<'_>) -> Vec<Bound> {
    match cell {
        Cell::Point(at) => vec![*at],
        Cell::Range(range) => range.bounds().collect(),
        _ => Vec::new(),
    }
}
