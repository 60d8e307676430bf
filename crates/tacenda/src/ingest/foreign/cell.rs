//! One published cell, in any of the usual notations.
//!
//! Reading a cell says what is written, not what it means: whether `20-30` are years of age or a label
//! is decided for the whole column. What is neither a known form nor a plain label is [`Cell::Unclear`].

use crate::ingest::foreign::bound;
use crate::ingest::foreign::bound::Bound;
use std::borrow::Cow;

/// What stands in a cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cell<'a> {
    /// Nothing: NULL, an ordinary value.
    Missing,
    /// Nothing but stars: any value.
    Any,
    /// A number or a date.
    Point(Bound),
    /// Everything between two bounds, one of which may be absent.
    Range(Range),
    /// A beginning with its rest starred out: `47***`.
    Prefix(&'a str),
    /// Several values: `{a, b}`.
    Set(Vec<Cow<'a, str>>),
    /// A text that stands for itself.
    Label(&'a str),
    /// A text that looks like one of the above and is not.
    Unclear,
}

/// Everything between two bounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range {
    /// The lower end; `None` where it is open to everything below.
    pub lo: Option<End>,
    /// The upper end; `None` where it is open to everything above.
    pub hi: Option<End>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct End {
    /// Where it lies.
    pub at: Bound,
    /// Whether the bound itself belongs to the range.
    pub included: bool,
}

impl Range {
    fn new(lo: Option<End>, hi: Option<End>) -> Option<Range> {
        let range = Range { lo, hi };
        match (lo, hi) {
            (Some(lo), Some(hi)) => (lo.at.is_kind_of(hi.at) && lo.at <= hi.at).then_some(range),
            (None, None) => None,
            _ => Some(range),
        }
    }

    /// The bounds it has.
    pub fn bounds(&self) -> impl Iterator<Item = Bound> {
        [self.lo, self.hi].into_iter().flatten().map(|end| end.at)
    }
}

impl<'a> Cell<'a> {
    /// Reads a cell. Blanks around it do not count.
    pub fn read(text: &'a str) -> Cell<'a> {
        let text = text.trim();
        if text.is_empty() {
            return Cell::Missing;
        }
        if text.bytes().all(|byte| byte == b'*') {
            return Cell::Any;
        }
        if let Some(inner) = text.strip_prefix('{') {
            return inner.strip_suffix('}').and_then(set).map_or(Cell::Unclear, Cell::Set);
        }
        if let Some(cell) = brackets(text) {
            return cell;
        }
        if let Some(cell) = comparison(text) {
            return cell;
        }
        if let Some(stem) = text.find('*') {
            let stars = text[stem..].bytes().all(|byte| byte == b'*');
            return if stem > 0 && stars { Cell::Prefix(&text[..stem]) } else { Cell::Unclear };
        }
        if let Some(point) = bound::read(text) {
            return Cell::Point(point);
        }
        match dashed(text) {
            Some(range) => Cell::Range(range),
            None => Cell::Label(text),
        }
    }
}

/// `[a,b)`, `(a, b]`, `]a, b]`, `[a, b[`, `[a-b]` and the like; `None` where the text has no such brackets.
fn brackets(text: &str) -> Option<Cell<'_>> {
    let lo_included = match text.as_bytes()[0] {
        b'[' => true,
        b'(' | b']' => false,
        _ => return None,
    };
    let hi_included = match text.as_bytes()[text.len() - 1] {
        b']' => true,
        b')' | b'[' => false,
        _ => return Some(Cell::Unclear),
    };
    if text.len() < 2 {
        return Some(Cell::Unclear);
    }
    let inner = text[1..text.len() - 1].trim();
    let ends = match inner.split_once(',') {
        Some((lo, hi)) => {
            let lo = side(lo, lo_included, is_lowest);
            lo.zip(side(hi, hi_included, is_highest)).and_then(|(lo, hi)| Range::new(lo, hi))
        }
        None => dashed(inner)
            .or_else(|| {
                let at = bound::read(inner)?;
                Range::new(Some(End { at, included: true }), Some(End { at, included: true }))
            })
            .filter(|_| lo_included && hi_included),
    };
    Some(match ends {
        Some(range) => Cell::Range(range),
        // A text such as (unknown) is a label; one with a comma in it would be a guess.
        None if text.starts_with('(') && !inner.contains(',') && bound::read(inner).is_none() => Cell::Label(text),
        None => Cell::Unclear,
    })
}

/// One side of a bracketed range: a bound, or no bound where the text says infinity.
fn side(text: &str, included: bool, is_endless: fn(&str) -> bool) -> Option<Option<End>> {
    let text = text.trim();
    if is_endless(text) {
        return Some(None);
    }
    bound::read(text).map(|at| Some(End { at, included }))
}

fn is_lowest(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "-inf" | "-infinity" | "-∞" | "")
}

fn is_highest(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "inf" | "+inf" | "infinity" | "+infinity" | "∞" | "+∞" | "")
}

/// `>=x`, `<=x`, `>x`, `<x`, `≥x`, `≤x`, `x+`; `None` where the text is none of these.
fn comparison(text: &str) -> Option<Cell<'_>> {
    for (sign, lower, included) in [
        (">=", true, true),
        ("<=", false, true),
        ("≥", true, true),
        ("≤", false, true),
        (">", true, false),
        ("<", false, false),
    ] {
        if let Some(rest) = text.strip_prefix(sign) {
            let end = bound::read(rest.trim()).map(|at| End { at, included });
            let range =
                end.and_then(|end| if lower { Range::new(Some(end), None) } else { Range::new(None, Some(end)) });
            return Some(range.map_or(Cell::Unclear, Cell::Range));
        }
    }
    let at = text.strip_suffix('+').and_then(|rest| bound::read(rest.trim()))?;
    Range::new(Some(End { at, included: true }), None).map(Cell::Range)
}

/// `a-b` with both ends included. There must be one way to read it: `-5--3` has one, `2020-01` none.
fn dashed(text: &str) -> Option<Range> {
    // An exponent's sign would be taken for the dash.
    if text.contains(['e', 'E']) {
        return None;
    }
    let mut ways = text.match_indices(['-', '–', '—']).filter_map(|(at, dash)| {
        let lo = bound::read(text[..at].trim())?;
        let hi = bound::read(text[at + dash.len()..].trim())?;
        Range::new(Some(End { at: lo, included: true }), Some(End { at: hi, included: true }))
    });
    let way = ways.next()?;
    ways.next().is_none().then_some(way)
}

/// The members of a set: between commas, blanks around them left out; one with a comma in quotes.
fn set(inner: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut members = Vec::new();
    let mut rest = inner.trim();
    loop {
        let (member, after) = match rest.strip_prefix('"') {
            Some(quoted) => quoted_member(quoted)?,
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim()), &rest[end..])
            }
        };
        if member.is_empty() || member.contains(['{', '}']) && !rest.starts_with('"') {
            return None;
        }
        members.push(member);
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return after.trim().is_empty().then_some(members),
        }
    }
}

/// A member in quotes, whose own quotes are doubled, and what follows it.
fn quoted_member(quoted: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut from = 0;
    loop {
        let at = from + quoted[from..].find('"')?;
        if quoted[at + 1..].starts_with('"') {
            from = at + 2;
        } else {
            return Some((Cow::Owned(quoted[..at].replace("\"\"", "\"")), &quoted[at + 1..]));
        }
    }
}
