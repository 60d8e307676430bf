//! A first policy file for a table nobody has described yet.
//!
//! Every row is read. The result is a proposal with reasons; the steward decides. Domains are rounded outwards, so that
//! no bound is anyone's value.

mod seen;
mod guess;
mod print;
mod rare;

use crate::ingest::error::{IngestError, Kind, Problem};
use crate::ingest::source::{Content, Source};
use crate::ingest::text::Chunks;
use crate::ingest::{columnar, columns, text};
use crate::model::{Role, counted};
use crate::promise::{Entry, ViewPromise, entries};
pub(crate) use print::written as hierarchy_text;
use seen::Seen;

/// The limits of counterfeits and withheld people, in percent. With more than a quarter of counterfeits little of a
/// release remains; below that, a series that goes on is worth more than one that stops.
const LIMITS: (u32, u32) = (25, 5);

/// The most of either, in percent, that a draft allows. A steward may allow more; a draft never allows everything.
const MOST: (u32, u32) = (50, 50);

/// The usual bound on certainty about a value: one in so many.
const USUAL: u64 = 3;

/// What was found about a table, and what is proposed.
pub struct Draft {
    /// The columns in the order of the table.
    pub columns: Vec<DraftColumn>,
    /// How many rows there are.
    pub rows: u64,
    /// What was concluded about the input, one sentence each.
    pub notes: Vec<String>,
    /// The model of the promise, where it was chosen; otherwise the one that fits the columns and `leaving`.
    model: Option<&'static Entry>,
    /// Whether people leave, return or change. They do unless somebody said otherwise.
    leaving: bool,
    /// The bound on certainty about a value: one in `sure`, where it was chosen.
    sure: Option<u64>,
    /// The bound with which a simulation of the next releases goes on longest, where it ended early with the usual one.
    lasting: Option<u64>,
    /// The least number of people of a group, where it was chosen.
    least_group: Option<u32>,
    /// The limits of counterfeits and withheld people, in percent.
    limits: (u32, u32),
    /// What the next releases are expected to need of both, with a reserve, in percent.
    needed: (u32, u32),
    /// The column that orders a person's rows, if identifiers occur several times.
    order: Option<usize>,
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
    /// The proposed role; change it with [`Draft::set_role`].
    pub role: Role,
    /// Why.
    pub because: String,
    /// Whether the role could not be recognised. Then the proposal is only the safe choice.
    pub undecided: bool,
    /// Whether it is left as a question, which `check` refuses until it is answered.
    pub open: bool,
    seen: Seen,
}

impl DraftColumn {
    /// The least number of rows that must share a value before it is shown.
    pub const SHOWN: u32 = 5;

    /// The most frequent values, at most `most`. Rare values are not shown, not even on a screen, because they may
    /// identify people.
    pub fn samples(&self, most: usize) -> Vec<String> {
        let counts = self.seen.counts.iter().flatten().filter(|(_, count)| **count >= DraftColumn::SHOWN);
        let mut counts: Vec<(u32, String)> =
            counts.map(|(value, count)| (*count, String::from_utf8_lossy(value).into_owned())).collect();
        counts.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        counts.into_iter().take(most).map(|(_, value)| value).collect()
    }

    /// How many rows have each value, rare ones too; `None` for too many values.
    pub(crate) fn counts(&self) -> Option<Vec<(String, u64)>> {
        let values = self.seen.values()?;
        let count = |value: String| {
            let rows = u64::from(self.seen.count(&value));
            (value, rows)
        };
        Some(values.into_iter().map(count).collect())
    }
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

    /// Sets the role of a column; returns false if there is no such column. A new identifier replaces the earlier one,
    /// which is then dropped.
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
        self.columns[at].undecided = false;
        self.columns[at].open = false;
        if role == Role::Identifier {
            self.order = guess::row_order(&self.columns);
        }
        true
    }

    /// Leaves a column as a question, which `check` refuses until it is answered.
    pub fn leave_open(&mut self, name: &str) {
        self.columns.iter_mut().filter(|column| column.name == name).for_each(|column| column.open = true);
    }

    /// Sets the bound on certainty about a sensitive value: one in `one_in`. The data may allow less.
    pub fn set_sure(&mut self, one_in: u64) {
        self.sure = Some(one_in.max(2));
    }

    /// Sets `k`, the least number of people of a group, for promises that have it.
    pub fn set_least_group(&mut self, k: u32) {
        self.least_group = Some(k.max(2));
    }

    /// Sets whether people leave, return or change between releases, or are only added. A promise that was chosen by name
    /// stays.
    pub fn set_leaving(&mut self, leave: bool) {
        self.leaving = leave;
    }

    /// Allows as many counterfeits and withheld people as are needed, in percent, but never more than half.
    pub fn raise_limits(&mut self, counterfeits: u32, withheld: u32) {
        self.needed = (counterfeits, withheld);
        self.limits = (self.limits.0.max(counterfeits).min(MOST.0), self.limits.1.max(withheld).min(MOST.1));
    }

    /// What follows if the next releases are expected to need more than the draft allows.
    pub fn over_limits(&self) -> Option<String> {
        let over = |needed: u32, most: u32, what: &str| {
            (needed > most).then(|| format!("more than {most} % {what} (up to {} %)", needed.min(100)))
        };
        let over = [over(self.needed.0, MOST.0, "counterfeits"), over(self.needed.1, MOST.1, "withheld people")];
        let over: Vec<String> = over.into_iter().flatten().collect();
        (!over.is_empty()).then(|| {
            format!(
                "the next releases are expected to need {}. A draft does not allow that: a later release may be refused. Before the first \
                 release choose {}smaller numbers or fewer quasi columns; or raise max_share yourself",
                over.join(" and "),
                match print::chosen(self).0.draft.needs_sensitive {
                    true => "another promise, ",
                    false => "a sensitive column that many values share evenly, because m-invariance lets people leave; ",
                }
            )
        })
    }

    /// The limits of counterfeits and withheld people, in percent.
    pub fn limits(&self) -> (u32, u32) {
        self.limits
    }

    /// Whether identifiers occur several times, so that people have several rows.
    pub fn has_several_rows(&self) -> bool {
        self.columns.iter().any(|column| column.role == Role::Identifier && !column.unique)
    }

    /// The largest m that a first release could keep: no value has more than one in m of the rows.
    fn even_to(&self) -> u64 {
        self.rows / self.most_frequent()
    }

    /// A warning if somebody made a column sensitive though one of its values is too frequent for a promise about values,
    /// with what would help.
    pub fn too_uneven(&self) -> Option<String> {
        let mut sensitive = self.columns.iter().filter(|column| column.role == Role::Sensitive);
        let (column, most) = sensitive.find_map(|column| Some((column, column.seen.too_frequent()?)))?;
        let share = 100.0 * most as f64 / self.rows as f64;
        let then = match print::chosen(self).0.draft.needs_sensitive {
            true => "Until then a release needs very many counterfeits, or is refused",
            false => {
                "The promise of this draft does not limit what is learned of that column: a group may hold one value only"
            }
        };
        Some(format!(
            "{share:.0} % of the rows have the same value of {}: no promise can hide it among others, because at most half of the rows \
             may have one value. What would help, before the first release: split that value into finer ones; publish only the people \
             without it; or give the column role = \"drop\" and publish it elsewhere. {then}",
            column.name
        ))
    }

    /// The bound on certainty about a value: as chosen, or the usual one, as far as the data allow it. The usual one is
    /// lowered where it leaves little reserve, because a series cannot lower it later.
    fn one_in(&self) -> u64 {
        let most = self.even_to();
        match self.sure {
            Some(sure) => most.min(sure),
            None if most >= USUAL && self.is_tight(USUAL) => USUAL - 1,
            None => most.min(self.lasting.unwrap_or(USUAL)),
        }
    }

    /// The lower bounds that may be drafted in place of this one; none where a person chose it.
    pub fn may_be_lowered(&self) -> std::ops::Range<u32> {
        2..if self.sure.is_none() { self.one_in() as u32 } else { 2 }
    }

    /// Drafts a lower bound, because a simulation of the next releases ended early with this one. Says so.
    pub fn lower_to(&mut self, m: u32) -> Option<String> {
        let before = self.one_in();
        self.lasting = Some(u64::from(m));
        (self.one_in() < before).then(|| {
            format!(
                "with 1 in {before} a simulation of the next releases ended earlier: too few people arrive at a time. So this draft \
                 says 1 in {m}: the number cannot be lowered after the first release"
            )
        })
    }

    /// How many rows have the most frequent sensitive value.
    fn most_frequent(&self) -> u64 {
        let sensitive = self.columns.iter().filter(|column| column.role == Role::Sensitive);
        // A combination is at most as frequent as its parts.
        sensitive.filter_map(|column| column.seen.most_frequent()).min().unwrap_or(1).max(1)
    }

    /// Whether one value is so frequent that a bound of one in `m` leaves less than a quarter as reserve.
    fn is_tight(&self, m: u64) -> bool {
        self.most_frequent() * m * 4 > self.rows * 3
    }

    /// What follows if one sensitive value is so frequent that the bound leaves little reserve.
    fn too_tight(&self) -> Option<String> {
        let (m, even) = (self.one_in(), self.even_to());
        let is_lowered = self.sure.is_none() && m < USUAL && even >= USUAL;
        let wished = if is_lowered { USUAL } else { m };
        if even < 2 || !self.is_tight(wished) {
            return None;
        }
        let advice = match (is_lowered, m) {
            (true, _) => format!("So this draft says 1 in {m}"),
            (false, 2) => "Finer values would last longer".to_string(),
            (false, _) => format!("1 in {} would last longer", m - 1),
        };
        Some(format!(
            "One value is held by {:.0} % of the rows, and 1 in {wished} allows {:.0} %. If it becomes more frequent, releases may \
             be refused, or need very many counterfeits. {advice}: the number cannot be lowered after the first release",
            100.0 * self.most_frequent() as f64 / self.rows as f64,
            100.0 / wished as f64
        ))
    }

    /// Sets the promise by its model's name; returns false if there is no such model.
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
        if self.has_several_rows() && self.order.is_none() {
            lacking.push(
                "people have several rows, and no column of dates says which is the latest; say under [person] what \
                 happens to them: rows = \"combine\", or rows = \"latest\" with order = \"COLUMN\"",
            );
        }
        if self.columns.iter().any(|column| column.open) {
            lacking.push("the role of some columns is not decided; replace each role = \"?\" below");
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

/// Reads every row of a table and drafts a policy for it.
pub fn draft(source: &Source) -> Result<Draft, IngestError> {
    let mut looked = source.look()?;
    let mut note = Vec::new();
    let (header, seen, rows) = match &looked.content {
        Content::Text(layout) => {
            let mut chunks = Chunks::new(source, layout)?;
            let header = chunks.header().map_err(|stop| stop.error(source.name()))?;
            let named = columns::with_name(&header).len();
            columns::refuse_names(&header[..named])?;
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
            note.extend(chunks.note());
            if named < header.len() && seen[named].missing < rows {
                columns::refuse_names(&header)?;
            }
            note.extend((named < header.len()).then(|| columns::NAMELESS.to_string()));
            (header[..named].to_vec(), seen, rows)
        }
        Content::Parquet => {
            let opened = columnar::open(source)?;
            let header = opened.header.clone();
            columns::refuse_names(&header)?;
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
    let columns = guess::columns(header, seen, rows);
    let order = guess::row_order(&columns);
    let written: Vec<String> = columns.iter().flat_map(remarks).collect();
    let (notes, limits) = ([looked.notes, written].concat(), LIMITS);
    Ok(Draft {
        columns,
        rows,
        notes,
        model: None,
        leaving: true,
        sure: None,
        least_group: None,
        lasting: None,
        limits,
        needed: (0, 0),
        order,
    })
}

/// What a person should know of how the cells of a column are written.
fn remarks(column: &DraftColumn) -> Vec<String> {
    let name = &column.name;
    let mut remarks = Vec::new();
    if let Guess::Date { written: Some(written), .. } = &column.kind {
        remarks.push(format!("column {name}: dates are written {written}; a release writes 2025-12-31"));
    }
    if column.role == Role::Drop {
        return remarks;
    }
    if let Some((word, rows)) = column.seen.missing_word() {
        remarks.push(format!(
            "column {name}: {} {word}, which counts as a value like any other; where nothing is known leave the cell empty, \
             and draft again",
            counted(rows, "cell says", "cells say")
        ));
    }
    if column.seen.has_outer_blanks() {
        remarks.push(format!(
            "column {name}: some cells begin or end with a blank, which makes them other values; take the blanks out, and draft again"
        ));
    }
    remarks
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
