//! A first policy file for a table nobody has described yet.
//!
//! Every row is looked at. What comes out is a proposal with its reasons: the steward decides. Domains
//! are rounded outwards, so that no bound is anyone's value.

mod seen;
mod guess;
mod print;
mod rare;

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::source::{Content, Source};
use crate::ingest::text::Chunks;
use crate::ingest::{columnar, text};
use crate::model::Role;
use crate::promise::{Entry, ViewPromise, entries};
use seen::Seen;

/// What was found about a table, and what is proposed.
pub struct Draft {
    /// The columns in the order of the table.
    pub columns: Vec<DraftColumn>,
    /// How many rows there are.
    pub rows: u64,
    /// What was concluded about the input, one sentence each.
    pub notes: Vec<String>,
    /// The model of the promise; the one that fits the columns where none was asked for.
    model: Option<&'static Entry>,
}

/// What was found about one column, and what is proposed for it.
pub struct DraftColumn {
    /// Its name.
    pub name: String,
    /// What its cells are taken for.
    pub kind: Guess,
    /// How many cells are empty.
    pub missing: u64,
    /// How many distinct values there are; `None` for too many to count.
    pub distinct: Option<usize>,
    /// Whether no two rows have the same value, and none is missing.
    pub unique: bool,
    /// The part it is proposed to play; change it with [`Draft::set_role`].
    pub role: Role,
    /// Why.
    pub because: String,
    seen: Seen,
}

/// What the cells of a column are taken for, with padded bounds, half open.
#[derive(Clone, Debug, PartialEq)]
pub enum Guess {
    /// Whole numbers.
    Integer {
        /// The lowest value.
        lo: i64,
        /// One past the highest.
        hi: i64,
    },
    /// Numbers with decimals, in units of the last one.
    Real {
        /// The lowest value, in units.
        lo: i64,
        /// One past the highest, in units.
        hi: i64,
        /// How many decimals.
        decimals: u8,
    },
    /// Dates, by year.
    Date {
        /// The first year.
        lo: i64,
        /// The year after the last.
        hi: i64,
        /// How they are written, where not like 2025-12-31.
        written: Option<&'static str>,
    },
    /// Anything else.
    Category,
}

impl Draft {
    /// The finding for a column.
    pub fn column(&self, name: &str) -> Option<&DraftColumn> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Decides the part a column plays; false if there is no such column. A new identifier takes the
    /// place of the one before, which is then dropped.
    pub fn set_role(&mut self, name: &str, role: Role) -> bool {
        let Some(at) = self.columns.iter().position(|column| column.name == name) else { return false };
        if role == Role::Identifier {
            for column in self.columns.iter_mut().filter(|column| column.role == Role::Identifier) {
                column.role = Role::Drop;
                column.because = "another column names the person".into();
            }
        }
        self.columns[at].role = role;
        self.columns[at].because = "decided by hand".into();
        true
    }

    /// Decides the promise by its model's name; false if there is no such model.
    pub fn set_promise(&mut self, name: &str) -> bool {
        self.model = entries().find(|entry| entry.name == name);
        self.model.is_some()
    }

    /// Whether the promise is about views.
    fn has_views(&self) -> bool {
        self.model.is_some_and(|model| ViewPromise::ENTRIES.iter().any(|entry| entry.name == model.name))
    }

    /// What the draft lacks to be a policy, one sentence each.
    pub fn lacking(&self) -> Vec<&'static str> {
        let has = |role: Role| self.columns.iter().any(|column| column.role == role);
        let mut lacking = Vec::new();
        if !has(Role::Identifier) {
            lacking.push(
                "no column names a person: every value occurs twice or is missing somewhere; add a column that does, or \
                 give one role = \"identifier\"",
            );
        }
        if !has(Role::Quasi) {
            lacking.push(
                "no column looks like what an attacker may know, such as age, sex or postcode; give those columns role = \
                 \"quasi\"",
            );
        }
        if self.model.is_some_and(|model| model.draft.needs_sensitive) && !has(Role::Sensitive) {
            lacking.push("the promise is about sensitive values, and no column has that role");
        }
        lacking
    }

    /// The policy file, with comments.
    pub fn to_toml(&self, series: &str) -> String {
        print::policy(self, series)
    }

    /// The hierarchy files that the policy file names: path, relative to it, and contents.
    pub fn hierarchies(&self) -> Vec<(String, String)> {
        self.columns.iter().filter_map(|column| print::hierarchy(column, self.has_views())).collect()
    }
}

/// Looks at every row of a table and drafts a policy for it.
pub fn draft(source: &Source) -> Result<Draft, IngestError> {
    let mut looked = source.look()?;
    let mut note = None;
    let (header, seen, rows) = match &looked.content {
        Content::Text(layout) => {
            let mut chunks = Chunks::new(source, layout)?;
            let header = chunks.header().map_err(|stop| stop.error(source.name()))?;
            let mut seen: Vec<Seen> = header.iter().map(|_| Seen::default()).collect();
            let mut ragged: Vec<u64> = Vec::new();
            let mut rows = 0;
            for chunk in chunks.by_ref() {
                let chunk = chunk.map_err(|stop| stop.error(source.name()))?;
                text::each_record(&chunk, layout.delimiter, |line, bytes, cells| {
                    if cells.len() != seen.len() {
                        return ragged.push(line);
                    }
                    rows += 1;
                    for (seen, &(start, end)) in seen.iter_mut().zip(cells) {
                        seen.cell(&bytes[start as usize..end as usize]);
                    }
                });
            }
            refuse_ragged(ragged)?;
            note = chunks.note();
            (header, seen, rows)
        }
        Content::Parquet => {
            let opened = columnar::open(source)?;
            let header = opened.header.clone();
            let mut seen: Vec<Seen> = header.iter().map(|_| Seen::default()).collect();
            let mut rows = 0;
            opened.each_cell(source.name(), |column, cell| {
                rows += u64::from(column == 0);
                seen[column].cell(cell);
            })?;
            (header, seen, rows)
        }
    };
    if rows == 0 {
        return Err(IngestError::whole(Kind::NoRows, format!("{} has a header and nothing below", source.name())));
    }
    looked.notes.extend(note);
    let mut draft = Draft { columns: guess::columns(header, seen, rows), rows, notes: looked.notes, model: None };
    let written = draft.columns.iter().filter_map(|column| match &column.kind {
        Guess::Date { written: Some(written), .. } => {
            Some(format!("column {}: dates are written {written}; a release writes 2025-12-31", column.name))
        }
        _ => None,
    });
    let written: Vec<String> = written.collect();
    draft.notes.extend(written);
    Ok(draft)
}

fn refuse_ragged(mut lines: Vec<u64>) -> Result<(), IngestError> {
    if lines.is_empty() {
        return Ok(());
    }
    let rows = lines.len() as u64;
    lines.truncate(5);
    Err(IngestError::Rejected(vec![Problem { rows, places: lines, ..Problem::whole(Kind::RaggedRow, "") }]))
}

impl std::fmt::Debug for Draft {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "Draft({} rows, {} columns)", self.rows, self.columns.len())
    }
}

#[cfg(test)]
mod tests;
