//! A delta: what changed since the last snapshot, merged into the new whole table.
//!
//! A delta has one more column, `op`: insert, update or delete (or I, U, D). A delete needs only the identifier. A
//! delta that does not fit the last snapshot is refused.

use crate::ingest::columns;
use crate::ingest::columns::{BLANK, Gathered, Op, Sorted};
use crate::ingest::error::{IngestError, Kind};
use crate::ingest::snapshot::{Input, ReadOptions, Snapshot};
use crate::ingest::source::Source;
use crate::model::{RecordKey, RowRule, Schema, Table, Value, Values};

/// Applies a delta to `last`. `known` are the series' values; those of `last` are the first of them. The result has the
/// whole table, but its `rows` counts the rows of the delta.
pub fn read_delta(
    source: &Source,
    schema: &Schema,
    key: &[u8; 32],
    last: &Table,
    known: &Values,
    options: &ReadOptions,
) -> Result<Snapshot, IngestError> {
    if schema.person.rule != RowRule::One {
        return Err(IngestError::whole(Kind::DeltaOfRows, ""));
    }
    let known = if known.len() >= last.values.len() { known } else { &last.values };
    let input = Input { schema, key, known, options, delta: true };
    let (mut all, looked) = input.read(source)?;
    let rows = all.keys.len() as u64;
    let sorted = columns::checked_sort(&mut all, &schema.identifier)?;
    check_order(&mut all, &sorted, last, &schema.identifier);
    if let Some(error) = std::mem::take(&mut all.tally).into_error(looked.counts_rows()) {
        return Err(error);
    }
    let table = merge(all, &sorted, last, schema);
    if table.is_empty() {
        return Err(IngestError::whole(Kind::NoRows, format!("{} deletes everyone", source.name())));
    }
    Ok(Snapshot { table, notes: looked.notes, digest: looked.digest, rows })
}

/// Counts changes that do not fit the last snapshot.
fn check_order(all: &mut Gathered, sorted: &Sorted, last: &Table, identifier: &str) {
    let mut found: Vec<(u32, Kind)> = Vec::new();
    for &row in &sorted.order {
        let row = row as usize;
        let present = last.find(all.keys[row]).is_some();
        match (all.ops[row], present) {
            (Op::Insert, true) => found.push((all.places[row], Kind::InsertOfPresent)),
            (Op::Update | Op::Delete, false) => found.push((all.places[row], Kind::ChangeOfAbsent)),
            _ => {}
        }
    }
    found.sort_unstable();
    found.into_iter().for_each(|(place, kind)| all.tally.add(kind, identifier, u64::from(place)));
}

/// Where a row of the new table comes from.
#[derive(Clone, Copy)]
enum From {
    Last(u32),
    Delta(u32),
}

fn merge(all: Gathered, sorted: &Sorted, last: &Table, schema: &Schema) -> Table {
    let mut rows: Vec<(RecordKey, From)> = Vec::with_capacity(last.len() + sorted.order.len());
    let mut changes = sorted.order.iter().copied().peekable();
    let change = |row: u32, rows: &mut Vec<(RecordKey, From)>| {
        if all.ops[row as usize].has_cells() {
            rows.push((all.keys[row as usize], From::Delta(row)));
        }
    };
    for row in last.rows() {
        let key = last.key(row);
        while let Some(new) = changes.next_if(|&new| all.keys[new as usize] < key) {
            change(new, &mut rows);
        }
        match changes.next_if(|&new| all.keys[new as usize] == key) {
            Some(new) => change(new, &mut rows),
            None => rows.push((key, From::Last(row.0))),
        }
    }
    changes.for_each(|new| change(new, &mut rows));

    let pick = |old: &[u32], new: &[u32]| -> Vec<u32> {
        let cell = |&(_, from): &(RecordKey, From)| match from {
            From::Last(row) => old[row as usize],
            From::Delta(row) => new[row as usize],
        };
        rows.iter().map(cell).collect()
    };
    let sensitive: Vec<u32> = last.sensitive().iter().map(|value| value.0).collect();
    let (public, public_texts) =
        if schema.public.is_empty() { (Vec::new(), Vec::new()) } else { merge_public(pick, &all, last) };
    Table::new(
        rows.iter().map(|&(key, _)| key).collect(),
        (0..schema.quasi.len()).map(|attribute| pick(last.quasi(attribute), &all.quasi[attribute])).collect(),
        pick(&sensitive, &all.sensitive).into_iter().map(Value).collect(),
        all.values,
        public,
        public_texts,
    )
}

/// The public combinations that the merged rows have, sorted, and which row has which.
fn merge_public(
    pick: impl Fn(&[u32], &[u32]) -> Vec<u32>,
    all: &Gathered,
    last: &Table,
) -> (Vec<u32>, Vec<Vec<Box<str>>>) {
    let mut texts: Vec<&Vec<Box<str>>> = last.public_texts.iter().chain(&all.public_texts).collect();
    texts.sort_unstable();
    texts.dedup();
    let number = |text: &Vec<Box<str>>| texts.binary_search(&text).expect("all texts are there") as u32;
    let old: Vec<u32> = last.public_texts.iter().map(number).collect();
    let new: Vec<u32> = all.public_texts.iter().map(number).collect();
    let old: Vec<u32> = last.public().iter().map(|&text| old[text as usize]).collect();
    let new: Vec<u32> = all.public.iter().map(|&text| if text == BLANK { BLANK } else { new[text as usize] }).collect();
    let mut public = pick(&old, &new);
    // Combinations that nobody has any more are removed.
    let mut lasting = vec![BLANK; texts.len()];
    public.iter().for_each(|&text| lasting[text as usize] = 0);
    let mut kept = Vec::new();
    for (text, lasting) in texts.into_iter().zip(&mut lasting).filter(|(_, lasting)| **lasting == 0) {
        *lasting = kept.len() as u32;
        kept.push(text.clone());
    }
    public.iter_mut().for_each(|text| *text = lasting[*text as usize]);
    (public, kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ingest::read_snapshot;
    use crate::model::{Domain, Public, Quasi, Role, Sensitive};
    use proptest::prelude::*;

    const KEY: [u8; 32] = [1; 32];

    fn schema() -> Schema {
        let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 120 });
        let mut schema = Schema::new("id", vec![age], vec![Sensitive::open("illness")]);
        schema.public.push(Public { name: "ward".into(), because: "a test".into() });
        schema.order.push((Role::Public, 0));
        schema
    }

    fn snapshot(rows: &str, known: &Values) -> Table {
        let source = Source::spool("a test", format!("id,age,illness,ward\n{rows}").as_bytes()).unwrap();
        read_snapshot(&source, &schema(), &KEY, known, &ReadOptions::default()).unwrap().table
    }

    fn delta(rows: &str, last: &Table) -> Result<Table, IngestError> {
        let source = Source::spool("a test", format!("op,id,age,illness,ward\n{rows}").as_bytes())?;
        read_delta(&source, &schema(), &KEY, last, &last.values, &ReadOptions::default()).map(|read| read.table)
    }

    const FIRST: &str = "a,1,flu,A\nb,2,cough,B\nc,3,flu,C\n";

    #[test]
    fn a_delta_gives_the_table_the_whole_snapshot_gives() {
        let last = snapshot(FIRST, &Values::default());
        let table = delta("insert,d,4,ache,D\nU,b,9,flu,A\ndelete,c,,,\n", &last).unwrap();
        assert!(table == snapshot("a,1,flu,A\nb,9,flu,A\nd,4,ache,D\n", &last.values));
        assert_eq!(table.public_texts.len(), 2, "wards B and C are gone");
        assert!(delta("", &last).unwrap() == last, "an empty delta changes nothing");
    }

    #[test]
    fn a_delta_that_does_not_follow_is_refused() {
        let last = snapshot(FIRST, &Values::default());
        let problems = |rows: &str| -> Vec<(&str, Vec<u64>)> {
            let error = delta(rows, &last).unwrap_err();
            error.problems().iter().map(|problem| (problem.code(), problem.places.clone())).collect()
        };
        assert_eq!(problems("insert,a,1,flu,A\n"), [("D121", vec![2])]);
        assert_eq!(problems("insert,d,1,flu,A\nupdate,x,1,flu,A\nD,y,,,\n"), [("D122", vec![3, 4])]);
        assert_eq!(problems("replace,a,1,flu,A\n"), [("D120", vec![2])]);
        assert_eq!(problems(",a,,,\nD,c,,,\n"), [("D120", vec![2])], "the row's other cells say nothing then");
        assert_eq!(problems("delete,\"a\nb\",,,\n"), [("D124", vec![2])]);
        assert_eq!(problems("update,a,1,flu,A\ndelete,a,,,\n"), [("D104", vec![2, 3])]);
        assert_eq!(problems("update,a,,flu,A\n"), [("D112", vec![2])]);
        assert_eq!(problems("D,a,,,\nD,b,,,\nD,c,,,\n"), [("D116", vec![])]);
        let source = Source::spool("a test", format!("id,age,illness,ward\n{FIRST}").as_bytes()).unwrap();
        let error = read_delta(&source, &schema(), &KEY, &last, &last.values, &ReadOptions::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "D101 missing column op: a delta says in it what happens to each record; add a column op (insert, update, \
             delete), or leave out --delta"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn merging_is_reading_anew(
            before in prop::collection::btree_map(0u32..12, (0u32..5, 0u32..4, 0u32..3), 1..10),
            after in prop::collection::btree_map(0u32..12, (0u32..5, 0u32..4, 0u32..3), 1..10),
        ) {
            let row = |(id, (age, illness, ward)): (&u32, &(u32, u32, u32))| format!("p{id},{age},i{illness},w{ward}\n");
            let last = snapshot(&before.iter().map(row).collect::<String>(), &Values::default());
            let wanted = snapshot(&after.iter().map(row).collect::<String>(), &last.values);
            let mut changes = String::new();
            for id in (0..12u32).rev() {
                let op = match (before.get(&id), after.get(&id)) {
                    (None, Some(_)) => "I,",
                    (Some(old), Some(new)) if old != new => "u,",
                    (Some(_), None) => { changes += &format!("Delete,p{id},,,\n"); continue; }
                    _ => continue,
                };
                changes += op;
                changes += &row((&id, &after[&id]));
            }
            prop_assert!(delta(&changes, &last).unwrap() == wanted);
        }
    }
}
