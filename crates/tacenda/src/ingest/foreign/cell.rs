//! One published cell, in any of the usual notations.
//!
//! Reading a cell determines its form, not its meaning: whether `20-30` is a range or a label is decided for the whole
//! column. A text that is neither a known form nor a plain label is [`Cell::Unclear`].

use crate::ingest::foreign::bound::NumberOrDay;
use crate::ingest::foreign::lookalike::is_lookalike;
use crate::ingest::foreign::{bound, thousands};
use std::borrow::Cow;

/// The signs between the ends of a range: a plain hyphen, and what word processors turn it into.
pub(super) const DASHES: [char; 8] = ['-', '–', '—', '−', '‐', '‑', '‒', '―'];

/// Texts that other tools write for a missing value.
const NOTHING: [&str; 16] =
    ["NA", "N/A", "n/a", "#N/A", "<NA>", "NULL", "Null", "null", "NaN", "NAN", "nan", "NaT", "?", ".", "-", "--"];

/// Whether a text means a missing value.
pub fn says_nothing(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || NOTHING.contains(&text)
}

/// The form of a cell.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Cell<'a> {
    /// A missing value: not recorded, or suppressed. The column decides which.
    Missing,
    /// Nothing but stars: any value.
    Any,
    /// A number or a date.
    Point(NumberOrDay),
    /// Everything between two bounds, one of which may be absent.
    Range(Range),
    /// A number or a range, if its whole column is written this way.
    Maybe(Written, Doubt),
    /// A prefix whose rest is starred out: `47***`.
    Prefix(&'a str),
    /// Several values: `{a, b}`.
    Set(Vec<Cow<'a, str>>),
    /// A plain text.
    Label(&'a str),
    /// A text that looks like one of the above but is not.
    Unclear,
}

/// A number, a date or a range of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Written {
    /// A number or a date.
    Point(NumberOrDay),
    /// Everything between two bounds.
    Range(Range),
}

impl Written {
    /// The cell without its doubt.
    pub fn cell(self) -> Cell<'static> {
        match self {
            Written::Point(at) => Cell::Point(at),
            Written::Range(range) => Cell::Range(range),
        }
    }
}

/// Why only the column can decide what a cell is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Doubt {
    /// It has commas that may be thousands separators.
    pub thousands: bool,
    /// It is a number and a dash: `20-` may mean 20 and more, or be a label.
    pub open_dash: bool,
}

/// Everything between two bounds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Range {
    /// The lower end; `None` if it is open.
    pub lo: Option<End>,
    /// The upper end; `None` if it is open.
    pub hi: Option<End>,
}

/// One end of a range.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct End {
    /// Where it lies.
    pub at: NumberOrDay,
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

    /// Whether a number or day lies in it.
    pub fn holds(&self, at: NumberOrDay) -> bool {
        let above = self.lo.is_none_or(|lo| if lo.included { lo.at <= at } else { lo.at < at });
        let below = self.hi.is_none_or(|hi| if hi.included { at <= hi.at } else { at < hi.at });
        above && below
    }

    /// The bounds it has.
    pub fn bounds(&self) -> impl Iterator<Item = NumberOrDay> {
        [self.lo, self.hi].into_iter().flatten().map(|end| end.at)
    }
}

impl<'a> Cell<'a> {
    /// Reads a cell. Blanks around it do not count.
    pub fn read(text: &'a str) -> Cell<'a> {
        let text = text.trim();
        match clear(text) {
            cell @ (Cell::Label(_) | Cell::Unclear) => doubtful(text).unwrap_or(cell),
            cell => cell,
        }
    }
}

/// The form of a cell that is clear without its column.
fn clear(text: &str) -> Cell<'_> {
    if text.is_empty() {
        return Cell::Missing;
    }
    if text.bytes().all(|byte| byte == b'*') {
        return Cell::Any;
    }
    if let Some(inner) = text.strip_prefix('{') {
        let inner = inner.strip_suffix('}');
        return inner.and_then(|inner| of_members(set(inner)?)).unwrap_or(Cell::Unclear);
    }
    if let Some(members) = list(text) {
        return of_members(members).unwrap_or(Cell::Unclear);
    }
    if let Some(cell) = brackets(text).or_else(|| comparison(text)) {
        return cell;
    }
    if let Some(stem) = text.find('*') {
        let stars = text[stem..].bytes().all(|byte| byte == b'*');
        return if stem > 0 && stars { Cell::Prefix(&text[..stem]) } else { Cell::Unclear };
    }
    if let Some(point) = bound::read(text) {
        return Cell::Point(point);
    }
    if let Some(cell) = dotted(text).or_else(|| in_words(text)) {
        return cell;
    }
    match dashed(text) {
        Some(range) => Cell::Range(range),
        None if is_lookalike(text) => Cell::Unclear,
        None => Cell::Label(text),
    }
}

/// `1,000-2,000`, `20-` and `1,000-`; `None` if the text is none of these.
fn doubtful(text: &str) -> Option<Cell<'static>> {
    let ungrouped = thousands::without_commas(text);
    let (text, thousands) = (ungrouped.as_deref().unwrap_or(text), ungrouped.is_some());
    match clear(text) {
        Cell::Point(at) => return Some(Cell::Maybe(Written::Point(at), Doubt { thousands, open_dash: false })),
        Cell::Range(range) => return Some(Cell::Maybe(Written::Range(range), Doubt { thousands, open_dash: false })),
        _ => (),
    }
    let range = one_ended(text.strip_suffix(DASHES)?, true, true)?;
    Some(Cell::Maybe(Written::Range(range), Doubt { thousands, open_dash: true }))
}

/// `[a,b)`, `(a, b]`, `]a, b]`, `[a, b[`, `[a;b]`, `[a-b]` and the like; `None` if the text has no such brackets.
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
    let ends = match inner.split_once(';').or_else(|| inner.split_once(',')) {
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
        // A text such as (unknown) is a label. With a comma in it, that would be a guess.
        None if text.starts_with('(') && !inner.contains(',') && bound::read(inner).is_none() => Cell::Label(text),
        None => Cell::Unclear,
    })
}

/// One side of a bracketed range: a bound, or none if the text says infinity.
fn side(text: &str, included: bool, is_endless: fn(&str) -> bool) -> Option<Option<End>> {
    let text = text.trim();
    if is_endless(text) {
        return Some(None);
    }
    bound::read(text).map(|at| Some(End { at, included }))
}

fn is_lowest(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "-inf" | "-infinity" | "-∞" | "−∞" | "")
}

fn is_highest(text: &str) -> bool {
    matches!(text.to_ascii_lowercase().as_str(), "inf" | "+inf" | "infinity" | "+infinity" | "∞" | "+∞" | "")
}

/// Everything from a bound on, or up to it.
fn one_ended(text: &str, is_lower: bool, included: bool) -> Option<Range> {
    let end = Some(End { at: bound::read(text.trim())?, included });
    if is_lower { Range::new(end, None) } else { Range::new(None, end) }
}

/// `>=x`, `<=x`, `>x`, `<x`, `≥x`, `≤x`, `x+`; `None` if the text is none of these.
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
            return Some(one_ended(rest, lower, included).map_or(Cell::Unclear, Cell::Range));
        }
    }
    one_ended(text.strip_suffix('+')?, true, true).map(Cell::Range)
}

/// `a-b` with both ends included, `a-<b` without the upper one. There must be one way to read it: `-5--3` has one,
/// `2020-01` none.
fn dashed(text: &str) -> Option<Range> {
    // An exponent's sign would be taken for the dash.
    if text.contains(['e', 'E']) {
        return None;
    }
    let mut ways = text.match_indices(DASHES).filter_map(|(at, dash)| {
        let hi = text[at + dash.len()..].trim();
        let (hi, included) = hi.strip_prefix('<').map_or((hi, true), |hi| (hi.trim(), false));
        between(&text[..at], hi, included)
    });
    let way = ways.next()?;
    ways.next().is_none().then_some(way)
}

/// `a..b` with both ends included. Three dots are refused, because they may include the last value or not.
fn dotted(text: &str) -> Option<Cell<'static>> {
    for unclear in ["...", "…"] {
        if let Some((lo, hi)) = text.split_once(unclear) {
            return (bound::read(lo.trim()).is_some() && bound::read(hi.trim()).is_some()).then_some(Cell::Unclear);
        }
    }
    let (lo, hi) = text.split_once("..")?;
    (bound::read(lo.trim()).is_some() && bound::read(hi.trim()).is_some())
        .then(|| between(lo, hi, true).map_or(Cell::Unclear, Cell::Range))
}

/// `20 to 29`, `under 20`, `65 and over` and the like; `None` if the text is none of these.
fn in_words(text: &str) -> Option<Cell<'static>> {
    if !text.contains(' ') || !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return None;
    }
    // ASCII lower case keeps byte positions, so what is found here can be cut out of the original text.
    let small = text.to_ascii_lowercase();
    for (word, is_lower, included) in [
        ("under ", false, false),
        ("below ", false, false),
        ("less than ", false, false),
        ("at most ", false, true),
        ("over ", true, false),
        ("above ", true, false),
        ("more than ", true, false),
        ("at least ", true, true),
    ] {
        if small.starts_with(word) {
            return one_ended(&text[word.len()..], is_lower, included).map(Cell::Range);
        }
    }
    for joined in [" and ", " or "] {
        for (word, is_lower) in [
            ("over", true),
            ("above", true),
            ("more", true),
            ("older", true),
            ("under", false),
            ("below", false),
            ("less", false),
            ("fewer", false),
            ("younger", false),
        ] {
            if let Some(rest) = small.strip_suffix(word).and_then(|rest| rest.strip_suffix(joined)) {
                return one_ended(&text[..rest.len()], is_lower, true).map(Cell::Range);
            }
        }
    }
    let from = small.strip_prefix("from ").map_or(0, |rest| small.len() - rest.len());
    if let Some(at) = small[from..].find(" to ") {
        let (lo, hi) = (&text[from..from + at], &text[from + at + 4..]);
        let are_ends = bound::read(lo.trim()).is_some() && bound::read(hi.trim()).is_some();
        return are_ends.then(|| between(lo, hi, true).map_or(Cell::Unclear, Cell::Range));
    }
    // It is not clear whether "between" includes its ends.
    let (lo, hi) = small.strip_prefix("between ")?.split_once(" and ")?;
    (bound::read(lo.trim()).is_some() && bound::read(hi.trim()).is_some()).then_some(Cell::Unclear)
}

/// From `lo` on, up to `hi`.
fn between(lo: &str, hi: &str, hi_included: bool) -> Option<Range> {
    let lo = End { at: bound::read(lo.trim())?, included: true };
    let hi = End { at: bound::read(hi.trim())?, included: hi_included };
    Range::new(Some(lo), Some(hi))
}

/// The members of a set, separated by commas and trimmed. A member with a comma is in quotes.
fn set(inner: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut members = Vec::new();
    let mut rest = inner.trim();
    loop {
        let is_quoted = rest.starts_with(['"', '\'']);
        let (member, after) = match (rest.strip_prefix('"'), rest.strip_prefix('\'')) {
            (Some(quoted), _) => quoted_member(quoted)?,
            (_, Some(quoted)) => quoted.split_once('\'').map(|(member, after)| (Cow::Borrowed(member), after))?,
            _ => {
                let end = rest.find(',').unwrap_or(rest.len());
                (Cow::Borrowed(rest[..end].trim()), &rest[end..])
            }
        };
        if member.is_empty() || !is_quoted && !is_plain(&member) {
            return None;
        }
        members.push(member);
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return after.trim().is_empty().then_some(members),
        }
    }
}

/// Whether a member without quotes is one value, or a range with dashes. `{[20,30), [30,40)}`, `{47*}` and `{a;b}` have
/// members that are something else.
fn is_plain(member: &str) -> bool {
    !member.contains(['{', '}', '[', ']', ';', '|', '"'])
        && !member.starts_with('\'')
        && matches!(clear(member), Cell::Label(_) | Cell::Point(_) | Cell::Range(_))
}

/// A set of values, or the range that its ranges form together. Ranges with a gap between them are not read, because
/// one range would include the gap.
fn of_members(members: Vec<Cow<'_, str>>) -> Option<Cell<'_>> {
    let is_range = |member: &Cow<'_, str>| dashed(member).is_some() && bound::read(member).is_none();
    if !members.iter().any(is_range) {
        return Some(Cell::Set(members));
    }
    let one = |at: NumberOrDay| Range { lo: Some(End { at, included: true }), hi: Some(End { at, included: true }) };
    let range = |member: &Cow<'_, str>| bound::read(member).map(one).or_else(|| dashed(member));
    let mut ranges = members.iter().map(range).collect::<Option<Vec<Range>>>()?;
    ranges
        .sort_by(|a, b| a.lo.zip(b.lo).and_then(|(a, b)| a.at.partial_cmp(&b.at)).unwrap_or(std::cmp::Ordering::Equal));
    let mut whole = ranges[0];
    for next in &ranges[1..] {
        let (end, start) = (whole.hi?, next.lo?);
        let meets = start.at <= end.at || end.included && end.at.is_before(start.at);
        if !meets {
            return None;
        }
        if next.hi?.at > end.at {
            whole.hi = next.hi;
        }
    }
    Some(Cell::Range(whole))
}

/// The members of a Python list of texts, as anonypy writes it: `['a,b']`, `['a', 'b']`. A comma inside a text also
/// separates members.
fn list(text: &str) -> Option<Vec<Cow<'_, str>>> {
    let mut rest = text.strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut members = Vec::new();
    loop {
        let quote = rest.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
        let (item, after) = rest[1..].split_once(quote)?;
        for member in item.split(',').map(str::trim) {
            if member.is_empty() {
                return None;
            }
            members.push(Cow::Borrowed(member));
        }
        match after.trim_start().strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None => return after.trim().is_empty().then_some(members),
        }
    }
}

/// The text in a list of one text without a comma: `['22-36']` means `22-36`. Other texts are returned unchanged.
pub fn without_list(text: &str) -> &str {
    let inner = || {
        let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
        let quote = inner.chars().next().filter(|quote| ['\'', '"'].contains(quote))?;
        let item = inner[1..].strip_suffix(quote)?;
        (!item.trim().is_empty() && !item.contains([quote, ',', '['])).then_some(item)
    };
    inner().unwrap_or(text)
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
