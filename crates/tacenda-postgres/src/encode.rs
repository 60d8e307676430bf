//! A release as columns of PostgreSQL, and its rows as `COPY … (FORMAT binary)` takes them.
//!
//! Numbers and dates are ranges, half open as in the release. Not recorded is NULL. Any value or not recorded is `(,)`,
//! and `<column>_maybe_missing` says so. Everything else is text.

use std::io;
use std::io::Write;
use tacenda::folder::ReceivedRelease;
use tacenda::model::{Domain, GROUP_ID, Quasi, RECORD, ROW_WEIGHT, Release, Role, Schema, Span};

/// From 1970-01-01 to 2000-01-01, where PostgreSQL begins to count.
const DAYS: i64 = 10_957;

/// Flags of a range: its lower bound belongs to it; a bound is missing.
const LOWER_INCLUSIVE: u8 = 0x02;
const LOWER_INFINITE: u8 = 0x08;
const UPPER_INFINITE: u8 = 0x10;

/// How many bytes are sent at a time, about.
const PIECE: usize = 1 << 17;

/// A column of a delivered table.
pub struct DeliveredColumn {
    /// Its name.
    pub name: String,
    /// Its type, in SQL.
    pub kind: &'static str,
    /// What it holds, for people.
    pub comment: String,
    content: Content,
}

/// What a column is made of.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Content {
    Record,
    GroupId,
    Quasi(usize),
    MaybeMissing(usize),
    Sensitive(usize),
    Public(usize),
    RowWeight,
}

impl Content {
    /// Whether all rows of a group have the same cell.
    fn is_shared(self) -> bool {
        matches!(self, Content::GroupId | Content::Quasi(_) | Content::MaybeMissing(_) | Content::RowWeight)
    }
}

/// The columns of a release's table, in the order of its files. Those that say what may be missing come last: one may appear
/// in a later release, and a view can only be widened at its end.
pub fn columns(received: &ReceivedRelease) -> Vec<DeliveredColumn> {
    let ReceivedRelease { schema, manifest, .. } = received;
    let mut columns = Vec::new();
    let mut add = |name: &str, kind: &'static str, comment: &str, content: Content| {
        columns.push(DeliveredColumn { name: name.into(), kind, comment: comment.into(), content });
    };
    if manifest.linked_ids {
        let comment = "A keyed hash of the person: the same in all releases of this series.";
        add(RECORD, "text not null", comment, Content::Record);
    }
    add(GROUP_ID, "int4 not null", "Rows of one group are published alike.", Content::GroupId);
    for &(role, index) in &schema.order {
        let name = schema.column_name(role, index);
        match role {
            Role::Quasi => {
                let quasi = &schema.quasi[index];
                let kind = range_type(quasi);
                let comment = match (kind, quasi.nullable) {
                    ("text", _) => "Generalised: the value is this label, or lies below it.",
                    (_, false) => "Generalised: the value lies in this range.",
                    (_, true) => "Generalised: the value lies in this range. NULL: not recorded.",
                };
                add(name, kind, comment, Content::Quasi(index));
            }
            Role::Sensitive => {
                add(name, "text", "Sensitive: as it is, hidden among others of its group.", Content::Sensitive(index))
            }
            Role::Public => {
                add(name, "text", "Public: as it is, dealt out anew within each group.", Content::Public(index))
            }
            Role::Identifier | Role::Drop => {}
        }
    }
    if manifest.row_weight {
        let comment = "Sums up to people: rows of groups with counterfeits count less.";
        add(ROW_WEIGHT, "float8 not null", comment, Content::RowWeight);
    }
    for (index, quasi) in schema.quasi.iter().enumerate() {
        if quasi.nullable && range_type(quasi) != "text" {
            let comment = "True: the value may also be not recorded.";
            let name = companion(schema.column_name(Role::Quasi, index), schema);
            add(&name, "bool not null", comment, Content::MaybeMissing(index));
        }
    }
    columns
}

/// The name of the column that says whether a value may be not recorded: the one of the release's Parquet file.
fn companion(name: &str, schema: &Schema) -> String {
    let mut companion = format!("{name}_maybe_missing");
    while schema.published_columns().any(|other| other == companion) {
        companion.push('_');
    }
    companion
}

/// The type of a generalised column.
fn range_type(quasi: &Quasi) -> &'static str {
    match quasi.domain {
        Domain::Integer { lo, hi } if i32::try_from(lo).is_ok() && i32::try_from(hi).is_ok() => "int4range",
        Domain::Integer { .. } => "int8range",
        Domain::Real { .. } => "numrange",
        Domain::Date { .. } => "daterange",
        Domain::Category(_) => "text",
    }
}

/// Writes all rows as a binary copy, in the order of the release.
pub fn write_rows(received: &ReceivedRelease, columns: &[DeliveredColumn], out: &mut dyn Write) -> io::Result<()> {
    let ReceivedRelease { release, schema, .. } = received;
    let contents: Vec<Content> = columns.iter().map(|column| column.content).collect();
    let sensitive: Vec<Vec<Vec<u8>>> = release.values.iter().map(|(_, cells)| fields(cells)).collect();
    let public: Vec<Vec<Vec<u8>>> = release.public_texts.iter().map(|cells| fields(cells)).collect();
    let mut bytes = Vec::with_capacity(2 * PIECE);
    bytes.extend_from_slice(b"PGCOPY\n\xff\r\n\0");
    bytes.extend_from_slice(&[0; 8]);
    let own: Vec<Content> = contents.iter().copied().filter(|content| !content.is_shared()).collect();
    // What the rows of a group have in common, and where in it the cells of each row stand.
    let (mut common, mut places) = (Vec::new(), Vec::new());
    for group in 0..release.group_count() {
        common.clear();
        places.clear();
        common.extend_from_slice(&(contents.len() as i16).to_be_bytes());
        for &content in &contents {
            match content.is_shared() {
                true => shared_field(content, group, release, schema, &mut common),
                false => places.push(common.len()),
            }
        }
        for row in release.group_rows(group) {
            let mut done = 0;
            for (content, &place) in own.iter().zip(&places) {
                bytes.extend_from_slice(&common[done..place]);
                done = place;
                match *content {
                    Content::Sensitive(index) => {
                        bytes.extend_from_slice(&sensitive[release.sensitive[row].index()][index]);
                    }
                    Content::Public(index) => bytes.extend_from_slice(&public[release.public[row] as usize][index]),
                    _ => field(format!("{:016x}", release.linked[row]).as_bytes(), &mut bytes),
                }
            }
            bytes.extend_from_slice(&common[done..]);
        }
        if bytes.len() > PIECE {
            out.write_all(&bytes)?;
            bytes.clear();
        }
    }
    bytes.extend_from_slice(&(-1i16).to_be_bytes());
    out.write_all(&bytes)
}

/// The cell that all rows of a group have.
fn shared_field(content: Content, group: usize, release: &Release, schema: &Schema, out: &mut Vec<u8>) {
    match content {
        Content::GroupId => field(&(group as i32 + 1).to_be_bytes(), out),
        Content::MaybeMissing(index) => {
            let is_root = release.region(group)[index] == schema.quasi[index].root();
            field(&[u8::from(is_root)], out);
        }
        Content::RowWeight => {
            let rows = release.group_rows(group).len() as f64;
            field(&((rows - f64::from(release.counterfeits[group])) / rows).to_be_bytes(), out);
        }
        Content::Quasi(index) => span_field(&schema.quasi[index], release.region(group)[index], out),
        Content::Record | Content::Sensitive(_) | Content::Public(_) => unreachable!("these differ from row to row"),
    }
}

/// The cell of a generalised value.
fn span_field(quasi: &Quasi, span: Span, out: &mut Vec<u8>) {
    let whole = |code: u32, lo: i64| lo + i64::from(code);
    // The root of an attribute that may be missing covers NULL, which has no bound.
    let null = quasi.null();
    match &quasi.domain {
        Domain::Category(_) => {
            let mut label = String::new();
            quasi.print(span, &mut label);
            text_field(&label, out);
        }
        _ if null.is_some_and(|null| span == Span::exact(null)) => missing(out),
        _ if null.is_some_and(|null| span.contains(null)) => field(&[LOWER_INFINITE | UPPER_INFINITE], out),
        Domain::Integer { lo, .. } if range_type(quasi) == "int4range" => {
            let bound = |code: u32| (whole(code, *lo) as i32).to_be_bytes();
            range(&bound(span.lo), &bound(span.hi + 1), out);
        }
        Domain::Integer { lo, .. } => {
            let bound = |code: u32| whole(code, *lo).to_be_bytes();
            range(&bound(span.lo), &bound(span.hi + 1), out);
        }
        Domain::Date { lo, .. } => {
            let bound = |code: u32| ((whole(code, *lo) - DAYS) as i32).to_be_bytes();
            range(&bound(span.lo), &bound(span.hi + 1), out);
        }
        Domain::Real { lo, decimals, .. } => {
            let (lower, upper) = (whole(span.lo, *lo), whole(span.hi + 1, *lo));
            // The length of the range is known when both bounds are there.
            let start = out.len();
            out.extend_from_slice(&[0, 0, 0, 0, LOWER_INCLUSIVE]);
            [lower, upper].into_iter().for_each(|units| numeric_field(units, *decimals, out));
            let length = (out.len() - start - 4) as i32;
            out[start..start + 4].copy_from_slice(&length.to_be_bytes());
        }
    }
}

fn range(lower: &[u8], upper: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&((1 + 4 + lower.len() + 4 + upper.len()) as i32).to_be_bytes());
    out.push(LOWER_INCLUSIVE);
    field(lower, out);
    field(upper, out);
}

/// A `numeric` of so many units of its last decimal.
fn numeric_field(units: i64, decimals: u8, out: &mut Vec<u8>) {
    // Four decimal digits each, aligned with the point: the last of them may be filled up.
    let fill = (4 - u32::from(decimals) % 4) % 4;
    let (mut rest, last) = (units.unsigned_abs(), 10u64.pow(4 - fill));
    // 64 bits have at most 20 digits, so five groups of four and what fills the last.
    let (mut digits, mut count) = ([0u16; 6], 0);
    while rest > 0 {
        let size = if count == 0 { last } else { 10_000 };
        digits[count] = (rest % size) as u16;
        rest /= size;
        count += 1;
    }
    digits[0] *= 10u16.pow(fill);
    let weight = count as i16 - 1 - (i16::from(decimals) + fill as i16) / 4;
    let sign = if units < 0 { 0x4000u16 } else { 0 };
    let zeros = digits[..count].iter().take_while(|&&digit| digit == 0).count();
    let weight = if zeros == count { 0 } else { weight };
    out.extend_from_slice(&((8 + 2 * (count - zeros)) as i32).to_be_bytes());
    for part in [(count - zeros) as u16, weight as u16, sign, u16::from(decimals)] {
        out.extend_from_slice(&part.to_be_bytes());
    }
    for digit in digits[zeros..count].iter().rev() {
        out.extend_from_slice(&digit.to_be_bytes());
    }
}

fn field(cell: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(&(cell.len() as i32).to_be_bytes());
    out.extend_from_slice(cell);
}

fn missing(out: &mut Vec<u8>) {
    out.extend_from_slice(&(-1i32).to_be_bytes());
}

/// A text; an empty one is not recorded.
fn text_field(text: &str, out: &mut Vec<u8>) {
    if text.is_empty() { missing(out) } else { field(text.as_bytes(), out) }
}

fn fields(cells: &[Box<str>]) -> Vec<Vec<u8>> {
    let one = |cell: &str| {
        let mut out = Vec::new();
        text_field(cell, &mut out);
        out
    };
    cells.iter().map(|cell| one(cell)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_numeric_has_its_digits_in_groups_of_four_around_the_point() {
        let parts = |units: i64, decimals: u8| -> Vec<i16> {
            let mut out = Vec::new();
            numeric_field(units, decimals, &mut out);
            assert_eq!(out[..4], (out.len() as i32 - 4).to_be_bytes());
            out[4..].chunks(2).map(|part| i16::from_be_bytes([part[0], part[1]])).collect()
        };
        assert_eq!(parts(125, 1), [2, 0, 0, 1, 12, 5000]);
        assert_eq!(parts(-125, 1), [2, 0, 0x4000, 1, 12, 5000]);
        assert_eq!(parts(0, 2), [0, 0, 0, 2]);
        assert_eq!(parts(5, 2), [1, -1, 0, 2, 500]);
        assert_eq!(parts(1, 8), [1, -2, 0, 8, 1]);
        assert_eq!(parts(120_000, 0), [1, 1, 0, 0, 12]);
        assert_eq!(parts(10_000, 0), [1, 1, 0, 0, 1]);
        assert_eq!(parts(i64::MIN, 3), [5, 3, 0x4000, 3, 9223, 3720, 3685, 4775, 8080]);
        assert_eq!(parts(i64::MIN, 1), [6, 4, 0x4000, 1, 92, 2337, 2036, 8547, 7580, 8000]);
    }

    #[test]
    fn what_may_be_missing_is_everything_or_null() {
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }).nullable();
        let shown = |span: Span| {
            let mut out = Vec::new();
            span_field(&age, span, &mut out);
            out
        };
        assert_eq!(shown(Span::exact(120)), (-1i32).to_be_bytes());
        assert_eq!(shown(age.root()), [0, 0, 0, 1, 0x18]);
        assert_eq!(shown(Span::new(20, 29)), [0, 0, 0, 17, 2, 0, 0, 0, 4, 0, 0, 0, 20, 0, 0, 0, 4, 0, 0, 0, 30]);
        assert_eq!(shown(Span::new(0, 119))[4], 2, "the whole domain without NULL has bounds");
    }

    #[test]
    fn a_large_domain_needs_a_larger_type() {
        let of = |lo: i64, hi: i64| range_type(&Quasi::new("n", Domain::Integer { lo, hi }));
        assert_eq!(of(0, i64::from(i32::MAX)), "int4range");
        assert_eq!(of(0, i64::from(i32::MAX) + 1), "int8range");
        assert_eq!(of(-3_000_000_000, 0), "int8range");
    }
}
