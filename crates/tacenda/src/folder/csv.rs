//! The release as comma-separated text.
//!
//! The cells that a group's rows share are printed once and copied for every row. Only sensitive, public and linked
//! cells differ. Pieces of some thousand rows are made in parallel and written in order.

use crate::folder::Issue;
use crate::folder::order::{FileColumns, RowOrder, print_linked, print_weight};
use crate::model::{GROUP_ID, PeopleCounts, RECORD, ROW_WEIGHT, Release, Role, Schema, Span, Value};
use rayon::prelude::*;
use rustc_hash::FxHashMap;
use std::io;
use std::io::Write;
use std::ops::Range;

/// How many rows a piece has, about.
const PIECE: usize = 1 << 13;
/// Up to twice this many pieces per thread are in memory at a time.
const PIECES: usize = 2;

/// The names of a data file's columns, in order.
pub fn header<'a>(shape: &FileColumns<'a>) -> Vec<&'a str> {
    let mut names: Vec<&str> = Vec::new();
    if shape.linked {
        names.push(RECORD);
    }
    names.push(GROUP_ID);
    names.extend(shape.schema.published_columns());
    if shape.row_weight {
        names.push(ROW_WEIGHT);
    }
    names
}

/// Writes the data file.
pub fn write_data(issue: &Issue<'_>, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let (release, shape) = (issue.release, FileColumns::of(issue));
    let names = header(&shape);
    let mut line = String::new();
    for (index, name) in names.iter().enumerate() {
        if index > 0 {
            line.push(',');
        }
        quote(name, &mut line);
    }
    line.push('\n');
    out.write_all(line.as_bytes())?;

    let printer = Printer::new(release, shape);
    let pieces = pieces(release);
    let mut ready: Vec<Vec<u8>> = Vec::new();
    for batch in pieces.chunks(PIECES * rayon::current_num_threads()).chain(std::iter::once(&[][..])) {
        let (written, made) = rayon::join(
            || ready.iter().try_for_each(|piece| out.write_all(piece)),
            || batch.par_iter().map(|groups| printer.print(groups.clone())).collect(),
        );
        written?;
        ready = made;
    }
    Ok(())
}

/// Writes how many counterfeits each group has.
pub fn write_counterfeits(release: &Release, out: &mut (dyn Write + Send)) -> io::Result<()> {
    out.write_all(b"group_id,rows,counterfeits\n")?;
    let mut lines = Vec::new();
    let mut digits = itoa::Buffer::new();
    for group in 0..release.group_count() {
        let numbers = [group + 1, release.group_rows(group).len(), release.counterfeits[group] as usize];
        for (number, after) in numbers.into_iter().zip(*b",,\n") {
            lines.extend_from_slice(digits.format(number).as_bytes());
            lines.push(after);
        }
        if lines.len() >= 1 << 16 {
            out.write_all(&lines)?;
            lines.clear();
        }
    }
    out.write_all(&lines)
}

/// Writes how many people have which quasi values.
pub fn write_counts(counts: &PeopleCounts, schema: &Schema, out: &mut (dyn Write + Send)) -> io::Result<()> {
    let mut lines = String::from("column,cell,people\n");
    for column in &counts.columns {
        let Some((_, quasi)) = schema.quasi_named(&column.name) else { continue };
        for &(cell, people) in &column.cells {
            let mut text = String::new();
            quasi.print(cell, &mut text);
            quote(&column.name, &mut lines);
            lines.push(',');
            quote(&text, &mut lines);
            lines.push(',');
            lines.push_str(itoa::Buffer::new().format(people));
            lines.push('\n');
        }
    }
    out.write_all(lines.as_bytes())
}

/// Appends a cell, in quotes if a reader could misread it. A cell that a spreadsheet might take for a formula keeps its
/// text and gets quotes.
pub fn quote(cell: &str, out: &mut String) {
    // Where a comma is the decimal sign, spreadsheets part cells at semicolons, and some at tabs.
    let odd = |byte: u8| matches!(byte, b',' | b'"' | b'\n' | b'\r' | b';' | b'\t');
    let edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_whitespace());
    let bytes = cell.as_bytes();
    let formula = matches!(bytes.first(), Some(b'=' | b'+' | b'@'));
    if !formula && !edge(bytes.first()) && !edge(bytes.last()) && !bytes.iter().any(|&byte| odd(byte)) {
        return out.push_str(cell);
    }
    out.push('"');
    for (index, part) in cell.split('"').enumerate() {
        if index > 0 {
            out.push_str("\"\"");
        }
        out.push_str(part);
    }
    out.push('"');
}

/// Runs of groups with about [`PIECE`] rows each.
fn pieces(release: &Release) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut first_row = 0;
    for (group, &end) in release.ends.iter().enumerate() {
        if end as usize - first_row >= PIECE || group + 1 == release.ends.len() {
            pieces.push(start..group + 1);
            start = group + 1;
            first_row = end as usize;
        }
    }
    pieces
}

/// A part of a line: what the group's rows share, up to a cell that differs.
enum Part {
    Linked,
    Shared,
    Sensitive(usize),
    Public(usize),
}

/// Prints groups. Cells of sensitive and public columns are quoted once, beforehand.
struct Printer<'a> {
    release: &'a Release,
    shape: FileColumns<'a>,
    order: RowOrder<'a>,
    parts: Vec<Part>,
    sensitive: Vec<Vec<String>>,
    public: Vec<Vec<String>>,
}

impl<'a> Printer<'a> {
    fn new(release: &'a Release, shape: FileColumns<'a>) -> Printer<'a> {
        let mut parts = Vec::new();
        if !release.linked.is_empty() {
            parts.push(Part::Linked);
        }
        parts.push(Part::Shared);
        for &(role, index) in &shape.schema.order {
            match role {
                Role::Sensitive => parts.extend([Part::Sensitive(index), Part::Shared]),
                Role::Public => parts.extend([Part::Public(index), Part::Shared]),
                _ => (),
            }
        }
        let quoted = |cells: &[Box<str>]| -> Vec<String> {
            let cell = |cell: &str| {
                let mut text = String::new();
                quote(cell, &mut text);
                text
            };
            cells.iter().map(|text| cell(text)).collect()
        };
        Printer {
            release,
            shape,
            order: RowOrder::new(release),
            parts,
            sensitive: release.values.iter().map(|(_, cells)| quoted(cells)).collect(),
            public: release.public_texts.iter().map(|cells| quoted(cells)).collect(),
        }
    }

    fn print(&self, groups: Range<usize>) -> Vec<u8> {
        let rows = match groups.end {
            0 => 0,
            end => self.release.group_rows(end - 1).end - self.release.group_rows(groups.start).start,
        };
        let mut out = Vec::with_capacity(rows * 48);
        let mut spans = vec![FxHashMap::default(); self.shape.schema.quasi.len()];
        let (mut shared, mut ends, mut order) = (String::new(), Vec::new(), Vec::new());
        for group in groups {
            self.print_shared(group, &mut spans, &mut shared, &mut ends);
            self.order.rows(group, &mut order);
            for &row in &order {
                self.print_row(row as usize, shared.as_bytes(), &ends, &mut out);
            }
        }
        out
    }

    fn print_row(&self, row: usize, shared: &[u8], ends: &[usize], out: &mut Vec<u8>) {
        let (mut start, mut ends) = (0, ends.iter());
        for part in &self.parts {
            match part {
                Part::Linked => print_linked(self.release.linked[row], out),
                Part::Shared => {
                    let end = *ends.next().expect("one end a shared part");
                    out.extend_from_slice(&shared[start..end]);
                    start = end;
                }
                Part::Sensitive(index) => {
                    let Value(value) = self.release.sensitive[row];
                    out.extend_from_slice(self.sensitive[value as usize][*index].as_bytes());
                }
                Part::Public(index) => {
                    let public = self.release.public[row];
                    out.extend_from_slice(self.public[public as usize][*index].as_bytes());
                }
            }
        }
    }

    /// Prints what the rows of a group share, and where each shared part ends.
    fn print_shared(&self, group: usize, spans: &mut [Spans], shared: &mut String, ends: &mut Vec<usize>) {
        shared.clear();
        ends.clear();
        if !self.release.linked.is_empty() {
            shared.push(',');
        }
        shared.push_str(itoa::Buffer::new().format(group + 1));
        let region = self.release.region(group);
        for &(role, index) in &self.shape.schema.order {
            shared.push(',');
            if role == Role::Quasi {
                let attribute = &self.shape.schema.quasi[index];
                let text = spans[index].entry(region[index]).or_insert_with(|| {
                    let (mut text, mut quoted) = (String::new(), String::new());
                    attribute.print(region[index], &mut text);
                    quote(&text, &mut quoted);
                    quoted
                });
                shared.push_str(text);
            } else {
                ends.push(shared.len());
            }
        }
        if self.shape.row_weight {
            shared.push(',');
            print_weight(self.release.group_rows(group).len(), self.release.counterfeits[group], shared);
        }
        shared.push('\n');
        ends.push(shared.len());
    }
}

/// Printed spans of an attribute: many groups share them.
type Spans = FxHashMap<Span, String>;
