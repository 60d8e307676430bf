//! One row for each person, if a table has several.
//!
//! # Guarantee
//! The result depends on the rows and not on their order. Two rows that are both the latest are an error unless they
//! are equal. Everything that is left out or combined is counted and reported to the steward.

use crate::ingest::columns::{self, BLANK, Gathered};
use crate::ingest::error::Kind;
use crate::model::{CombineRule, OrderKind, PersonRows, RowRule, Schema, Value, Values, counted, people};
use std::collections::{BTreeMap, BTreeSet};

/// Leaves one row for each person, and returns notes about what was lost. The first `known` values of [`Gathered`] are
/// those of the series.
pub(super) fn one_row_each(all: &mut Gathered, schema: &Schema, known: usize) -> Vec<String> {
    let order = columns::sort(&all.keys).order;
    let runs: Vec<&[u32]> = order.chunk_by(|&a, &b| all.keys[a as usize] == all.keys[b as usize]).collect();
    let mut told = Told::new(schema);
    let mut merged = Vec::with_capacity(runs.len());
    let mut faults = Vec::new();
    let mut new_values = BTreeMap::new();
    for run in runs {
        merged.push(match (run, schema.person.rule) {
            ([row], _) => Merged { row: *row, ..Merged::default() },
            (_, RowRule::Combine) => combine(all, schema, run, &mut new_values, &mut told, &mut faults),
            _ => choose(all, schema, run, &mut told, &mut faults),
        });
    }
    if schema.person.rule == RowRule::Combine {
        refuse_marks(all, schema, &mut faults);
    }
    faults.sort_unstable();
    faults.dedup();
    for (place, kind, column) in faults {
        all.tally.add(kind, &column, u64::from(place));
    }
    let notes = told.notes(schema, all.keys.len(), merged.len());
    keep(all, merged, &new_values, known);
    notes
}

/// The merged row of a person: one of their rows, and the cells that differ from it.
#[derive(Default)]
struct Merged {
    row: u32,
    quasi: Vec<(usize, u32)>,
    /// A place in the list of combined values.
    sensitive: Option<u32>,
    public: Option<u32>,
}

/// A row's place, what is wrong with it, and the column.
type RowFault = (u32, Kind, String);

/// Combined values, numbered in order of appearance.
type NewValues = BTreeMap<Box<[Box<str>]>, u32>;

/// The rank of a row among its person's rows.
fn rank(all: &Gathered, person: &PersonRows, schema: &Schema, row: u32) -> Option<i64> {
    match person.order.as_ref()?.kind {
        OrderKind::Quasi(at) => {
            let code = all.quasi[at][row as usize];
            (schema.quasi[at].null() != Some(code)).then_some(i64::from(code))
        }
        _ => Some(all.ranks[row as usize]).filter(|&rank| rank != i64::MIN),
    }
}

/// The rows with the first or last rank; none if it cannot be determined, which is a fault.
fn outermost(all: &Gathered, schema: &Schema, run: &[u32], latest: bool, faults: &mut Vec<RowFault>) -> Vec<u32> {
    let person = &schema.person;
    let column = || person.order.as_ref().map_or(String::new(), |order| order.column.clone());
    let ranks: Vec<Option<i64>> = run.iter().map(|&row| rank(all, person, schema, row)).collect();
    let unknown = run.iter().zip(&ranks).filter(|(_, rank)| rank.is_none());
    let unknown: Vec<RowFault> =
        unknown.map(|(&row, _)| (all.places[row as usize], Kind::NoRowOrder, column())).collect();
    if !unknown.is_empty() {
        faults.extend(unknown);
        return Vec::new();
    }
    let best = if latest { ranks.iter().max() } else { ranks.iter().min() }.copied().flatten();
    run.iter().zip(&ranks).filter(|(_, rank)| **rank == best).map(|(&row, _)| row).collect()
}

/// Whether rows have the same cells.
fn alike(all: &Gathered, rows: &[u32]) -> bool {
    let same =
        |column: &[u32]| column.is_empty() || rows.iter().all(|&row| column[row as usize] == column[rows[0] as usize]);
    all.quasi.iter().all(|column| same(column)) && same(&all.sensitive) && same(&all.public)
}

/// The first or latest row.
fn choose(all: &Gathered, schema: &Schema, run: &[u32], told: &mut Told, faults: &mut Vec<RowFault>) -> Merged {
    let rows = outermost(all, schema, run, schema.person.rule == RowRule::Latest, faults);
    if !rows.is_empty() && !alike(all, &rows) {
        let column = schema.person.order.as_ref().map_or(String::new(), |order| order.column.clone());
        faults.extend(rows.iter().map(|&row| (all.places[row as usize], Kind::NoRowOrder, column.clone())));
    }
    let row = rows.first().copied().unwrap_or(run[0]);
    told.left_out(all, run, row);
    Merged { row, ..Merged::default() }
}

/// All rows in one.
fn combine(
    all: &Gathered,
    schema: &Schema,
    run: &[u32],
    new_values: &mut NewValues,
    told: &mut Told,
    faults: &mut Vec<RowFault>,
) -> Merged {
    told.several += 1;
    let mut merged = Merged { row: run[0], ..Merged::default() };
    for (at, column) in all.quasi.iter().enumerate() {
        let rule = schema.person.quasi.get(at).copied().unwrap_or_default();
        let codes: Vec<u32> = run.iter().map(|&row| column[row as usize]).collect();
        if codes.iter().all(|&code| code == codes[0]) {
            continue;
        }
        *told.differing.entry(schema.quasi[at].name.clone()).or_default() += 1;
        let recorded = codes.iter().copied().filter(|&code| schema.quasi[at].null() != Some(code));
        let code = match rule {
            CombineRule::Least => recorded.min(),
            CombineRule::Most => recorded.max(),
            _ => kept(all, schema, run, rule, column, &schema.quasi[at].name, faults),
        };
        merged.quasi.extend(code.map(|code| (at, code)));
    }
    let rows_of = |row: u32| Value(all.sensitive[row as usize]);
    let values: BTreeSet<Value> = run.iter().map(|&row| rows_of(row)).collect();
    if values.len() > 1 {
        let cells = united(&all.values, &values);
        let number = new_values.len() as u32;
        told.combined += 1;
        merged.sensitive = Some(*new_values.entry(cells).or_insert(number));
    }
    if !all.public.is_empty() && !run.iter().all(|&row| all.public[row as usize] == all.public[run[0] as usize]) {
        // Public cells are kept as one combination, so one rule applies to all of them.
        let rule = schema.person.public.first().copied().unwrap_or_default();
        let same = schema.person.public.iter().all(|other| *other == rule);
        let rule = if same { rule } else { CombineRule::Alike };
        let names: Vec<&str> = schema.public.iter().map(|public| &*public.name).collect();
        merged.public = kept(all, schema, run, rule, &all.public, &names.join(", "), faults);
    }
    merged
}

/// The cell of the first or latest row; a fault if rows differ and the policy file has no rule.
fn kept(
    all: &Gathered,
    schema: &Schema,
    run: &[u32],
    rule: CombineRule,
    column: &[u32],
    name: &str,
    faults: &mut Vec<RowFault>,
) -> Option<u32> {
    let cell = |row: u32| column[row as usize];
    if !matches!(rule, CombineRule::First | CombineRule::Latest) {
        faults.extend(run.iter().map(|&row| (all.places[row as usize], Kind::RowsDiffer, name.to_string())));
        return None;
    }
    let rows = outermost(all, schema, run, rule == CombineRule::Latest, faults);
    let first = cell(*rows.first()?);
    if rows.iter().any(|&row| cell(row) != first) {
        faults.extend(rows.iter().map(|&row| (all.places[row as usize], Kind::NoRowOrder, name.to_string())));
    }
    Some(first)
}

/// The cells of a combined value: in each column the distinct values, sorted. A missing value adds nothing.
fn united(values: &Values, several: &BTreeSet<Value>) -> Box<[Box<str>]> {
    let width = several.first().map_or(0, |&value| values.cells(value).len());
    let cell = |at: usize| -> Box<str> {
        let parts: BTreeSet<&str> =
            several.iter().map(|&value| &*values.cells(value)[at]).filter(|part| !part.is_empty()).collect();
        parts.into_iter().collect::<Vec<_>>().join(PersonRows::MARK).into()
    };
    (0..width).map(cell).collect()
}

/// Refuses values that contain the mark, because they could not be distinguished from a combination.
fn refuse_marks(all: &Gathered, schema: &Schema, faults: &mut Vec<RowFault>) {
    let has_mark = |cells: &[Box<str>]| cells.iter().position(|cell| cell.contains(PersonRows::MARK));
    let marked: BTreeMap<u32, usize> =
        all.values.iter().filter_map(|(value, cells)| Some((value.0, has_mark(cells)?))).collect();
    for (&value, &place) in all.sensitive.iter().zip(&all.places) {
        if let Some(&column) = marked.get(&value) {
            faults.push((place, Kind::HoldsMark, schema.sensitive[column].name.clone()));
        }
    }
}

/// Keeps the merged rows, and the new values that somebody has.
fn keep(all: &mut Gathered, merged: Vec<Merged>, new_values: &NewValues, known: usize) {
    let rows: Vec<usize> = merged.iter().map(|merged| merged.row as usize).collect();
    let pick = |column: &mut Vec<u32>| *column = rows.iter().map(|&row| column[row]).collect();
    let combined: BTreeMap<u32, &Box<[Box<str>]>> = new_values.iter().map(|(cells, &number)| (number, cells)).collect();
    let before = std::mem::take(&mut all.values);
    let mut values = Values::from_ordered(before.iter().take(known).map(|(_, cells)| cells.into()).collect());
    all.keys = rows.iter().map(|&row| all.keys[row]).collect();
    all.quasi.iter_mut().for_each(pick);
    pick(&mut all.sensitive);
    pick(&mut all.places);
    if !all.public.is_empty() {
        pick(&mut all.public);
    }
    let cells: Vec<Box<[Box<str>]>> = merged
        .iter()
        .zip(&all.sensitive)
        .map(|(merged, &value)| match merged.sensitive {
            Some(number) => combined[&number].clone(),
            None => before.cells(Value(value)).into(),
        })
        .collect();
    values.extend(cells.iter().cloned());
    let index = values.index();
    all.sensitive = cells.iter().map(|cells| index[&cells[..]].0).collect();
    drop(index);
    all.values = values;
    for (row, merged) in merged.into_iter().enumerate() {
        merged.quasi.into_iter().for_each(|(at, code)| all.quasi[at][row] = code);
        if let Some(public) = merged.public {
            all.public[row] = public;
        }
    }
    forget_unused_public(all);
}

/// Removes public combinations that nobody has any more.
fn forget_unused_public(all: &mut Gathered) {
    let used: BTreeSet<u32> = all.public.iter().copied().filter(|&text| text != BLANK).collect();
    let numbers: BTreeMap<u32, u32> = used.iter().copied().zip(0..).collect();
    all.public.iter_mut().filter(|text| **text != BLANK).for_each(|text| *text = numbers[text]);
    all.public_texts = used.iter().map(|&text| all.public_texts[text as usize].clone()).collect();
}

/// The numbers for the notes to the steward.
struct Told {
    /// People with several rows.
    several: u64,
    /// Those with another sensitive value in a row that was left out.
    other_value: u64,
    /// Those who got a combined value.
    combined: u64,
    /// By column, people whose rows differ.
    differing: BTreeMap<String, u64>,
    has_sensitive: bool,
}

impl Told {
    fn new(schema: &Schema) -> Told {
        Told {
            several: 0,
            other_value: 0,
            combined: 0,
            differing: BTreeMap::new(),
            has_sensitive: !schema.sensitive.is_empty(),
        }
    }

    fn left_out(&mut self, all: &Gathered, run: &[u32], kept: u32) {
        self.several += 1;
        let value = |row: u32| all.sensitive[row as usize];
        self.other_value += u64::from(run.iter().any(|&row| value(row) != value(kept)));
    }

    fn notes(&self, schema: &Schema, rows: usize, persons: usize) -> Vec<String> {
        if self.several == 0 {
            return Vec::new();
        }
        let everyone = people(persons as u64);
        let several =
            format!("{} of {everyone} have several rows, {} in all", self.several, counted(rows as u64, "row", "rows"));
        let rule = schema.person.rule;
        let mut notes = Vec::new();
        if rule == RowRule::Combine {
            notes.push(format!("{several}; each is published as one row (rows = \"combine\")"));
            if self.has_sensitive {
                notes.push(format!(
                    "{} a combined sensitive value; a part that all values of a group share is certain",
                    if self.combined == 1 {
                        "1 person has".to_string()
                    } else {
                        format!("{} have", people(self.combined))
                    }
                ));
            }
            for (column, count) in &self.differing {
                notes.push(format!("the rows of {} differ in {column}; one value of each is kept", people(*count)));
            }
            return notes;
        }
        let word = rule.word();
        notes.push(format!(
            "{several}; the {word} one counts, {} left out",
            counted((rows - persons) as u64, "row is", "rows are")
        ));
        if self.has_sensitive && self.other_value > 0 {
            notes.push(format!("of {}, a row that is left out has another sensitive value", people(self.other_value)));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::policy_file::parse_policy;
    use crate::ingest::{IngestError, ReadOptions, Snapshot, Source, read_delta, read_snapshot};
    use crate::model::{Row, Schema, Values};
    use proptest::prelude::*;
    use std::path::Path;

    const KEY: [u8; 32] = [1; 32];

    fn schema(person: &str, age: &str) -> Schema {
        let text = format!(
            "policy = 1\n[series]\nname = \"stays\"\n[columns]\nid = {{ role = \"identifier\" }}\n\
             age = {{ role = \"quasi\", type = \"integer\", domain = [0, 120]{age} }}\n\
             day = {{ role = \"drop\", type = \"date\" }}\nillness = {{ role = \"sensitive\", missing = \"value\" }}\n\
             [promise]\nmodel = \"m-invariance\"\nm = 2\n[person]\n{person}\n"
        );
        parse_policy(&text, Path::new("tacenda.toml")).unwrap_or_else(|error| panic!("{error}")).policy.schema
    }

    fn read(schema: &Schema, rows: &[String]) -> Result<Snapshot, IngestError> {
        let text = format!("id,age,day,illness\n{}\n", rows.join("\n"));
        let source = Source::spool("a test", text.as_bytes()).unwrap();
        read_snapshot(&source, schema, &KEY, &Values::default(), &ReadOptions::default())
    }

    /// Age and illness of everybody, sorted, and what was said.
    fn read_as(person: &str, age: &str, rows: &[&str]) -> Result<(Vec<String>, Vec<String>), String> {
        let rows: Vec<String> = rows.iter().map(|row| row.to_string()).collect();
        let read = read(&schema(person, age), &rows).map_err(|error| error.to_string())?;
        let table = read.table;
        let person = |row: Row| {
            let illness = &table.values.cells(table.sensitive()[row.index()])[0];
            format!("{} {illness}", table.quasi(0)[row.index()])
        };
        let mut persons: Vec<String> = table.rows().map(person).collect();
        persons.sort_unstable();
        // The first three are about the file.
        Ok((persons, read.notes[3..].to_vec()))
    }

    const ROWS: [&str; 5] =
        ["a,30,2025-01-01,flu", "a,31,2025-02-01,gout", "b,40,2025-01-05,flu", "b,40,2025-01-06,flu", "c,50,,rash"];

    #[test]
    fn the_first_or_the_latest_row_counts_and_what_is_lost_is_said() {
        let (people, notes) = read_as("rows = \"latest\"\norder = \"day\"", "", &ROWS).unwrap();
        assert_eq!(people, ["31 gout", "40 flu", "50 rash"]);
        assert_eq!(
            notes,
            [
                "2 of 3 people have several rows, 5 rows in all; the latest one counts, 2 rows are left out",
                "of 1 person, a row that is left out has another sensitive value"
            ]
        );
        assert_eq!(read_as("rows = \"first\"\norder = \"day\"", "", &ROWS).unwrap().0, ["30 flu", "40 flu", "50 rash"]);
        assert!(
            read_as("rows = \"one\"", "", &ROWS)
                .unwrap_err()
                .starts_with("D104 duplicate identifier in column id: 4 rows")
        );
    }

    #[test]
    fn values_are_combined_and_what_is_lost_is_said() {
        let (people, notes) = read_as("rows = \"combine\"", ", combine = \"most\"", &ROWS).unwrap();
        assert_eq!(people, ["31 flu+gout", "40 flu", "50 rash"]);
        assert_eq!(
            notes,
            [
                "2 of 3 people have several rows, 5 rows in all; each is published as one row (rows = \"combine\")",
                "1 person has a combined sensitive value; a part that all values of a group share is certain",
                "the rows of 1 person differ in age; one value of each is kept"
            ]
        );
        let ordered = "rows = \"combine\"\norder = \"day\"";
        assert_eq!(read_as(ordered, ", combine = \"first\"", &ROWS).unwrap().0[0], "30 flu+gout");
        let unsaid = read_as("rows = \"combine\"", "", &ROWS).unwrap_err();
        assert!(unsaid.starts_with("D137 rows of one person differ in column age: 2 rows (lines 2, 3)"), "{unsaid}");
        let empty = ["a,30,2025-01-01,", "a,30,2025-02-01,gout", "b,3,2025-02-01,"];
        assert_eq!(read_as("rows = \"combine\"", "", &empty).unwrap().0, ["3 ", "30 gout"]);
        let marked = read_as("rows = \"combine\"", "", &["a,30,2025-01-01,x+y"]).unwrap_err();
        assert!(marked.starts_with("D138 ") && marked.contains("column illness: 1 row (line 2)"), "{marked}");
    }

    #[test]
    fn what_has_no_order_is_refused() {
        let latest = |rows: &[&str]| read_as("rows = \"latest\"\norder = \"day\"", "", rows);
        let tie = latest(&["a,30,2025-01-01,flu", "a,31,2025-01-01,flu"]).unwrap_err();
        assert!(
            tie.starts_with("D136 rows of one person without an order in column day: 2 rows (lines 2, 3)"),
            "{tie}"
        );
        let unknown = latest(&["a,30,2025-01-01,flu", "a,30,,flu"]).unwrap_err();
        assert!(unknown.starts_with("D136 ") && unknown.contains("1 row (line 3)"), "{unknown}");
        assert!(latest(&["a,30,soon,flu"]).unwrap_err().starts_with("D108 not a date in column day"));
        // Two rows that say the same are one.
        assert_eq!(latest(&["a,30,2025-01-01,flu", "a,30,2025-01-01,flu"]).unwrap().0, ["30 flu"]);
        assert_eq!(latest(&["a,30,2025-01-01T08:00,flu", "a,31,2025-01-01T07:00,flu"]).unwrap().0, ["30 flu"]);
    }

    #[test]
    fn a_delta_cannot_say_which_rows_remain() {
        let schema = schema("rows = \"combine\"", "");
        let last = read(&schema, &["a,30,2025-01-01,flu".to_string()]).unwrap().table;
        let source = Source::spool("a test", &b"op,id,age,day,illness\nI,b,3,2025-01-01,flu\n"[..]).unwrap();
        let error = read_delta(&source, &schema, &KEY, &last, &last.values, &ReadOptions::default()).unwrap_err();
        assert_eq!(error.code(), "D139");
    }

    #[test]
    fn a_policy_says_what_orders_rows() {
        let code = |person: &str, day: &str| {
            let text = format!(
                "policy = 1\n[series]\nname = \"s\"\n[columns]\nid = {{ role = \"identifier\" }}\n\
                 age = {{ role = \"quasi\", type = \"integer\", domain = [0, 120] }}\nday = {{ {day} }}\n\
                 sex = {{ role = \"quasi\", type = \"category\", values = [\"F\"], combine = \"least\" }}\n\
                 illness = {{ role = \"sensitive\" }}\n[promise]\nmodel = \"m-invariance\"\nm = 2\n[person]\n{person}\n"
            );
            let faults = parse_policy(&text, Path::new("tacenda.toml")).unwrap_err().faults;
            faults.iter().map(|fault| format!("{} {}", fault.kind.code(), fault.message)).collect::<Vec<_>>().join("; ")
        };
        let drop = "role = \"drop\"";
        let sex = "P223 column sex: ";
        assert_eq!(
            code("rows = \"latest\"", drop),
            format!("{sex}combine without rows = \"combine\" under [person]; P223 rows = \"latest\" without an order")
        );
        assert_eq!(
            code("rows = \"combine\"\norder = \"day\"", drop),
            format!(
                "{sex}least and most are for numbers and dates; P223 the column day orders a person's rows, and its type is not given"
            )
        );
        assert!(code("rows = \"combine\"\norder = \"sex\"", drop).contains("the column sex has no order in time"));
        assert!(code("rows = \"combine\"\norder = \"illness\"", drop).contains("illness is no column with role"));
        assert!(code("order = \"age\"", drop).contains("order has no effect where each person has one row"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Whatever the order of the rows, the table is the same, or it is refused alike.
        #[test]
        fn the_order_of_rows_never_matters(
            rows in prop::collection::vec((0u32..6, 20u32..24, 1u32..4, 0usize..4), 1..14),
            turn in 0usize..14,
            rule in 0usize..4,
        ) {
            let illnesses = ["flu", "gout", "rash", ""];
            let text = |&(id, age, day, illness): &(u32, u32, u32, usize)| format!("p{id},{age},2025-01-0{day},{}", illnesses[illness]);
            let rows: Vec<String> = rows.iter().map(text).collect();
            let mut turned = rows.clone();
            turned.rotate_left(turn % rows.len());
            turned.reverse();
            let (person, age) = [
                ("rows = \"latest\"\norder = \"day\"", ""),
                ("rows = \"first\"\norder = \"age\"", ""),
                ("rows = \"combine\"", ", combine = \"least\""),
                ("rows = \"combine\"\norder = \"day\"", ", combine = \"latest\""),
            ][rule];
            let schema = schema(person, age);
            match (read(&schema, &rows), read(&schema, &turned)) {
                (Ok(one), Ok(other)) => prop_assert!(one.table == other.table && one.notes == other.notes),
                (Err(one), Err(other)) => prop_assert_eq!(one.code(), other.code()),
                _ => prop_assert!(false, "refused in one order only"),
            }
        }
    }
}
