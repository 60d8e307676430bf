//! How values of a quasi attribute are written: cells become codes, spans of codes become text, and back.

use crate::model::hierarchy::{NULL, ROOT};
use crate::model::{Domain, Hierarchy, Quasi, Span};
use jiff::civil::Date;
use std::fmt::Write;

/// Why a cell cannot be read. It reveals nothing of the cell's content.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub enum CellFault {
    /// Not a whole number.
    NotAnInteger,
    /// Not a number.
    NotANumber,
    /// Not a date of the form 2026-11-15.
    NotADate,
    /// Outside the declared domain.
    OutsideDomain,
    /// Not a leaf of the hierarchy.
    UnknownValue,
    /// Nothing there, and the policy file does not allow that.
    Missing,
}

impl Quasi {
    /// The code of a cell. An empty cell is a missing value.
    pub fn encode(&self, cell: &str) -> Result<u32, CellFault> {
        if cell.is_empty() {
            return if self.nullable { self.null().ok_or(CellFault::Missing) } else { Err(CellFault::Missing) };
        }
        match &self.domain {
            Domain::Integer { lo, hi } => within(parse_integer(cell)?, *lo, *hi),
            Domain::Real { lo, hi, decimals } => within(parse_units(cell, *decimals)?, *lo, *hi),
            Domain::Date { lo, hi } => {
                let day = match &self.written {
                    Some(pattern) => pattern.day(cell).ok_or(CellFault::NotADate)?,
                    None => parse_date(cell)?,
                };
                within(day, *lo, *hi)
            }
            Domain::Category(tree) => tree.leaf(cell).or(self.other()).ok_or(CellFault::UnknownValue),
        }
    }

    /// The code of a whole number (or of a number of days), for columns that are typed at the source.
    pub fn encode_number(&self, value: i64) -> Result<u32, CellFault> {
        match &self.domain {
            Domain::Integer { lo, hi } | Domain::Date { lo, hi } => within(value, *lo, *hi),
            Domain::Real { lo, hi, decimals } => {
                let units = value.checked_mul(10i64.pow(u32::from(*decimals))).ok_or(CellFault::OutsideDomain)?;
                within(units, *lo, *hi)
            }
            Domain::Category(_) => Err(CellFault::UnknownValue),
        }
    }

    /// Prints a span as a release shows it.
    pub fn print(&self, span: Span, out: &mut String) {
        assert!(!span.is_empty(), "an empty span is never published");
        if span == self.root() && span.width() > 1 {
            return out.push_str(ROOT);
        }
        if self.null() == Some(span.lo) && span.width() == 1 {
            return;
        }
        match &self.domain {
            Domain::Category(tree) => match tree.node_label(span) {
                Some(label) => out.push_str(label),
                None => print_set(tree, span, out),
            },
            _ => {
                out.push('[');
                self.print_bound(span.lo, out);
                out.push(',');
                self.print_bound(span.hi + 1, out);
                out.push(')');
            }
        }
    }

    /// Reads back what [`Quasi::print`] wrote.
    pub fn read(&self, text: &str) -> Option<Span> {
        if text == ROOT {
            return Some(self.root());
        }
        if text.is_empty() {
            return self.null().map(Span::exact);
        }
        match &self.domain {
            Domain::Category(tree) => {
                if let Some(span) = tree.node_span(text) {
                    return Some(span);
                }
                read_set(tree, text)
            }
            Domain::Integer { lo, hi } => read_interval(text, *lo, *hi, |bound| parse_integer(bound).ok()),
            Domain::Real { lo, hi, decimals } => {
                read_interval(text, *lo, *hi, |bound| parse_units(bound, *decimals).ok())
            }
            Domain::Date { lo, hi } => read_interval(text, *lo, *hi, |bound| parse_date(bound).ok()),
        }
    }

    /// Prints the number or date that starts code `code`; one past the last code prints the
    /// domain's upper end. Only for numbers and dates.
    pub fn print_bound(&self, code: u32, out: &mut String) {
        match &self.domain {
            Domain::Integer { lo, .. } => write!(out, "{}", lo + i64::from(code)),
            Domain::Real { lo, decimals, .. } => {
                print_units(lo + i64::from(code), *decimals, out);
                Ok(())
            }
            Domain::Date { lo, .. } => write!(out, "{}", date_of(lo + i64::from(code))),
            Domain::Category(_) => unreachable!("a category has no bounds"),
        }
        .expect("writing to a string cannot fail");
    }
}

impl Quasi {
    /// The codes of the days inside the domain on which periods of `months` months begin, counted from January.
    pub(super) fn month_starts(&self, months: u32) -> Vec<u32> {
        let Domain::Date { lo, hi } = self.domain else { return Vec::new() };
        let first = date_of(lo);
        let mut month = i64::from(first.year()) * 12 + i64::from(first.month()) - 1;
        month -= month.rem_euclid(i64::from(months.max(1)));
        let mut starts = Vec::new();
        loop {
            let (year, of_year) = (month.div_euclid(12), month.rem_euclid(12));
            let Ok(day) = Date::new(year as i16, of_year as i8 + 1, 1).map(days_of) else { return starts };
            if day >= hi {
                return starts;
            }
            starts.extend((day >= lo).then(|| (day - lo) as u32));
            month += i64::from(months.max(1));
        }
    }
}

/// Days since 1970-01-01 of a date such as 2026-11-15.
fn parse_date(cell: &str) -> Result<i64, CellFault> {
    let date: Date = cell.parse().map_err(|_| CellFault::NotADate)?;
    Ok(days_of(date))
}

/// Days since 1970-01-01.
fn days_of(date: Date) -> i64 {
    let epoch = Date::constant(1970, 1, 1);
    i64::from(date.since(epoch).expect("both dates are in range").get_days())
}

/// The date that lies `days` after 1970-01-01.
fn date_of(days: i64) -> Date {
    let epoch = Date::constant(1970, 1, 1);
    epoch.saturating_add(jiff::Span::new().try_days(days).unwrap_or_default())
}

/// Units of the last of `decimals` decimals; what lies between two units is read as the lower one.
fn parse_units(cell: &str, decimals: u8) -> Result<i64, CellFault> {
    let cell = cell.trim();
    let (negative, digits) = match cell.as_bytes().first() {
        Some(b'-') => (true, &cell[1..]),
        Some(b'+') => (false, &cell[1..]),
        _ => (false, cell),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !plain(whole) || !plain(fraction) || whole.len() + fraction.len() == 0 {
        // Exponents are rare enough to go through a float, and must be finite.
        let value: f64 = cell.parse().map_err(|_| CellFault::NotANumber)?;
        if !value.is_finite() {
            return Err(CellFault::NotANumber);
        }
        let units = (value * 10f64.powi(i32::from(decimals))).floor();
        return if units.abs() < 9e18 { Ok(units as i64) } else { Err(CellFault::OutsideDomain) };
    }
    let mut units: i64 = 0;
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(usize::from(decimals));
    for digit in whole.bytes().chain(kept) {
        units = units
            .checked_mul(10)
            .and_then(|units| units.checked_add(i64::from(digit - b'0')))
            .ok_or(CellFault::OutsideDomain)?;
    }
    let cut_off = fraction.bytes().skip(usize::from(decimals)).any(|digit| digit != b'0');
    Ok(if negative { -units - i64::from(cut_off) } else { units })
}

/// Prints units with their decimals, without trailing zeros.
fn print_units(units: i64, decimals: u8, out: &mut String) {
    let scale = 10i64.pow(u32::from(decimals));
    let (sign, size) = (if units < 0 { "-" } else { "" }, units.unsigned_abs());
    let (whole, fraction) = (size / scale as u64, size % scale as u64);
    write!(out, "{sign}{whole}").expect("writing to a string cannot fail");
    if fraction != 0 {
        let digits = format!("{fraction:0width$}", width = usize::from(decimals));
        out.push('.');
        out.push_str(digits.trim_end_matches('0'));
    }
}

/// A whole number. `34.0` counts as one, because tools often write columns with missing values this way.
fn parse_integer(cell: &str) -> Result<i64, CellFault> {
    let cell = cell.trim();
    let whole = match cell.split_once('.') {
        Some((whole, zeros)) if !whole.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return Err(CellFault::NotAnInteger),
        None => cell,
    };
    whole.parse().map_err(|_| CellFault::NotAnInteger)
}

fn within(value: i64, lo: i64, hi: i64) -> Result<u32, CellFault> {
    if lo <= value && value < hi { Ok((value - lo) as u32) } else { Err(CellFault::OutsideDomain) }
}

fn read_interval(text: &str, lo: i64, hi: i64, bound: impl Fn(&str) -> Option<i64>) -> Option<Span> {
    let (left, right) = text.strip_prefix('[')?.strip_suffix(')')?.split_once(',')?;
    let (left, right) = (bound(left)?, bound(right)?);
    (lo <= left && left < right && right <= hi).then(|| Span::new((left - lo) as u32, (right - lo - 1) as u32))
}

/// Prints the leaves of a span that is no node: `{a,b}`. A label that would make this ambiguous is quoted.
fn print_set(tree: &Hierarchy, span: Span, out: &mut String) {
    let mut labels: Vec<&str> = (span.lo..=span.hi).map(|code| tree.leaf_label(code)).collect();
    labels.sort_unstable();
    out.push('{');
    for (index, label) in labels.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        if label.contains([',', '{', '}', '"']) {
            write!(out, "\"{}\"", label.replace('"', "\"\"")).expect("writing to a string cannot fail");
        } else {
            out.push_str(label);
        }
    }
    out.push('}');
}

/// Reads `{a,b}`; the labels must be neighbouring leaves.
fn read_set(tree: &Hierarchy, text: &str) -> Option<Span> {
    let mut rest = text.strip_prefix('{')?.strip_suffix('}')?;
    let mut codes = Vec::new();
    loop {
        let (label, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted)?;
                (quoted[..end].replace("\"\"", "\""), &quoted[end + 1..])
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                (rest[..end].to_string(), &rest[end..])
            }
        };
        codes.push(if label == NULL { tree.null()? } else { tree.leaf(&label)? });
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None if after.is_empty() => break,
            None => return None,
        }
    }
    codes.sort_unstable();
    codes.dedup();
    let span = Span::new(codes[0], codes[codes.len() - 1]);
    (span.width() as usize == codes.len()).then_some(span)
}

/// Where a quoted label ends: the first quote that is not doubled.
fn closing_quote(quoted: &str) -> Option<usize> {
    let bytes = quoted.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'"' {
            if bytes.get(at + 1) != Some(&b'"') {
                return Some(at);
            }
            at += 1;
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(attribute: &Quasi, span: Span) -> String {
        let mut out = String::new();
        attribute.print(span, &mut out);
        assert_eq!(attribute.read(&out), Some(span), "{out} reads back");
        out
    }

    fn age() -> Quasi {
        Quasi::new("age", Domain::Integer { lo: 10, hi: 120 })
    }

    #[test]
    fn numbers_are_half_open_intervals() {
        assert_eq!(printed(&age(), Span::new(11, 12)), "[21,23)");
        assert_eq!(printed(&age(), Span::exact(0)), "[10,11)");
        assert_eq!(printed(&age(), age().root()), "*");
        assert_eq!(age().encode("34.0"), Ok(24));
        assert_eq!(age().encode("34.5"), Err(CellFault::NotAnInteger));
        assert_eq!(age().encode("9"), Err(CellFault::OutsideDomain));
        assert_eq!(age().encode(""), Err(CellFault::Missing));
    }

    #[test]
    fn a_missing_number_is_a_leaf_and_never_a_wildcard() {
        let age = age().nullable();
        assert_eq!(age.encode(""), Ok(110));
        assert_eq!(printed(&age, Span::exact(110)), "");
        assert_eq!(printed(&age, Span::new(0, 109)), "[10,120)");
        assert_eq!(age.cover(Span::new(50, 110)), age.root());
        assert_eq!(printed(&age, age.root()), "*");
    }

    #[test]
    fn reals_keep_their_decimals_and_dates_their_form() {
        let weight = Quasi::new("weight", Domain::Real { lo: -50, hi: 30_000, decimals: 2 });
        assert_eq!(weight.encode("-0.5"), Ok(0));
        assert_eq!(weight.encode("1.239"), Ok(173));
        assert_eq!(weight.encode("1e1"), Ok(1050));
        assert_eq!(weight.encode("-0.001"), Ok(49));
        assert_eq!(weight.encode("x"), Err(CellFault::NotANumber));
        assert_eq!(weight.encode("nan"), Err(CellFault::NotANumber));
        assert_eq!(printed(&weight, Span::new(0, 59)), "[-0.5,0.1)");
        let day = Quasi::new("day", Domain::Date { lo: 18_262, hi: 22_280 });
        assert_eq!(day.encode("2020-02-29"), Ok(59));
        assert_eq!(day.encode("2020-02-30"), Err(CellFault::NotADate));
        assert_eq!(printed(&day, Span::new(0, 30)), "[2020-01-01,2020-02-01)");
    }

    #[test]
    fn sets_are_sorted_and_quoted_where_needed() {
        let tree = Hierarchy::flat(["b", "a,c", "d\"e", "f"]).unwrap();
        let attribute = Quasi::new("x", Domain::Category(tree));
        assert_eq!(printed(&attribute, Span::new(0, 2)), "{\"a,c\",b,\"d\"\"e\"}");
        assert_eq!(printed(&attribute, Span::exact(0)), "b");
        assert_eq!(attribute.read("{b,f}"), None);
    }
}
