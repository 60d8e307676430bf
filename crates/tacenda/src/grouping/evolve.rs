//! For tests: a series that goes on from release to release, on `model` alone.

use crate::model::{
    Domain, Grouping, Hierarchy, History, Membership, Published, Quasi, RecordKey, Regions, Release, Schema, Sensitive,
    Span, Table, Value, Values,
};
use std::collections::{BTreeMap, BTreeSet};

/// One person of a snapshot: number, quasi codes, value.
pub type SnapshotRow = (u64, Vec<u32>, u32);

/// The key of the person with this number; keys ascend with numbers.
pub fn key(number: u64) -> RecordKey {
    RecordKey { hi: 0, lo: number }
}

/// A schema with whole numbers of these domain sizes, one sensitive attribute.
pub fn schema(sizes: &[i64]) -> Schema {
    let quasi = sizes.iter().map(|&hi| Quasi::new("number", Domain::Integer { lo: 0, hi })).collect();
    Schema::new("id", quasi, vec![Sensitive::open("value")])
}

/// The same with one more attribute: a tree of twelve leaves under four groups under two halves.
pub fn schema_with_tree(sizes: &[i64]) -> Schema {
    let rows: Vec<Vec<String>> = (0..12)
        .map(|leaf| vec![format!("l{leaf}"), format!("g{}", leaf / 3), format!("h{}", leaf / 6), "*".into()])
        .collect();
    let mut schema = schema(sizes);
    let tree = Hierarchy::from_rows(&rows).unwrap();
    schema.quasi.push(Quasi::new("tree", Domain::Category(tree)));
    schema.order = Schema::new("", schema.quasi.clone(), schema.sensitive.clone()).order;
    schema
}

/// The first `count` values.
pub fn values(count: u32) -> Values {
    let texts: Vec<String> = (0..count).map(|value| format!("v{value:03}")).collect();
    Values::of(texts.iter().map(String::as_str))
}

/// A table of these people, in any order.
pub fn table(values: &Values, attributes: usize, people: &[SnapshotRow]) -> Table {
    let mut people = people.to_vec();
    people.sort();
    Table::new(
        people.iter().map(|person| key(person.0)).collect(),
        (0..attributes).map(|attribute| people.iter().map(|person| person.1[attribute]).collect()).collect(),
        people.iter().map(|person| Value(person.2)).collect(),
        values.clone(),
        Vec::new(),
        Vec::new(),
    )
}

/// The history after publishing `grouping`, each group with its smallest region.
pub fn after(schema: &Schema, history: &History, table: &Table, grouping: &Grouping) -> History {
    grouping.assert_covers(table);
    let mut release = Release { number: history.releases + 1, values: table.values.clone(), ..Release::default() };
    release.regions = Regions::new(schema.quasi.len());
    let mut membership = Membership { withheld: grouping.withheld.clone(), ..Membership::default() };
    for (index, group) in grouping.groups().enumerate() {
        let mut rows: Vec<(Value, u32)> =
            group.rows.iter().map(|row| (table.sensitive()[row.index()], row.0)).collect();
        rows.extend(group.counterfeits.iter().map(|&value| (value, Membership::COUNTERFEIT)));
        rows.sort_unstable();
        for (value, row) in rows {
            release.sensitive.push(value);
            membership.rows.push(row);
        }
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(group.counterfeits.len() as u32);
        membership.policy_groups.push(index as u32);
        let region: Vec<Span> = (0..schema.quasi.len())
            .map(|attribute| {
                let column = table.quasi(attribute);
                let codes = group.rows.iter().map(|row| Span::exact(column[row.index()]));
                schema.quasi[attribute].cover(codes.reduce(Span::join).expect("a group has a person"))
            })
            .collect();
        release.regions.push(&region);
    }
    history.after(table, &release, &membership, Published { facts: grouping.facts.clone(), ..Published::default() })
}

/// The values of every group, counterfeits included, ascending.
pub fn group_values(table: &Table, grouping: &Grouping) -> Vec<Vec<Value>> {
    let values = |group: crate::model::GroupView<'_>| {
        let real = group.rows.iter().map(|row| table.sensitive()[row.index()]);
        let mut values: Vec<Value> = real.chain(group.counterfeits.iter().copied()).collect();
        values.sort_unstable();
        values
    };
    grouping.groups().map(values).collect()
}

/// Watches over m-invariance by its definition: it keeps the value sets that everyone has had.
#[derive(Default)]
pub struct Watch {
    sets: BTreeMap<RecordKey, BTreeSet<Vec<Value>>>,
}

impl Watch {
    /// Checks the next release and panics if it breaks m-invariance.
    pub fn look(&mut self, table: &Table, grouping: &Grouping, m: u32, k: Option<u32>) {
        grouping.assert_covers(table);
        for (group, values) in grouping.groups().zip(group_values(table, grouping)) {
            let mut set = values.clone();
            set.dedup();
            assert!(set.len() >= m as usize, "a group has at least m values");
            let copies = values.len() / set.len();
            assert!(
                values.chunks(copies).all(|run| run.first() == run.last() && run.len() == copies),
                "a group is balanced"
            );
            assert!(k.is_some() || copies == 1, "without k each value stands once");
            assert!(group.rows.len() >= k.unwrap_or(1).max(1) as usize, "a group has enough people");
            for &row in group.rows {
                let past = self.sets.entry(table.key(row)).or_default();
                for old in past.iter() {
                    let meet = old.iter().any(|value| set.contains(value));
                    assert!(*old == set || !meet, "a person's value sets are equal or disjoint");
                }
                past.insert(set.clone());
            }
        }
    }
}
