//! The running example of paper 003 (Xiao and Tao, SIGMOD 2007), as data: two snapshots, the naive second release that
//! reveals Bob's value, and the one with two counterfeits that does not.
//!
//! A person's key is their name, so that tables are in the order of names.

use crate::model::{
    Domain, Membership, Quasi, RecordKey, Regions, Release, Schema, Sensitive, Span, Table, Value, Values,
};

/// Name, age, zip code, disease.
type Patient = (&'static str, u32, u32, &'static str);

/// Ages, zip codes in thousands, and the rows: a person (empty for a counterfeit) and a disease.
type Group = ((u32, u32), (u32, u32), &'static [(&'static str, &'static str)]);

const TABLE_1A: [Patient; 11] = [
    ("Bob", 21, 12000, "dyspepsia"),
    ("Alice", 22, 14000, "bronchitis"),
    ("Andy", 24, 18000, "flu"),
    ("David", 23, 25000, "gastritis"),
    ("Gary", 41, 20000, "flu"),
    ("Helen", 36, 27000, "gastritis"),
    ("Jane", 37, 33000, "dyspepsia"),
    ("Ken", 40, 35000, "flu"),
    ("Linda", 43, 26000, "gastritis"),
    ("Paul", 52, 33000, "dyspepsia"),
    ("Steve", 56, 34000, "gastritis"),
];

const TABLE_2A: [Patient; 11] = [
    ("Bob", 21, 12000, "dyspepsia"),
    ("David", 23, 25000, "gastritis"),
    ("Emily", 25, 21000, "flu"),
    ("Jane", 37, 33000, "dyspepsia"),
    ("Linda", 43, 26000, "gastritis"),
    ("Gary", 41, 20000, "flu"),
    ("Mary", 46, 30000, "gastritis"),
    ("Ray", 54, 31000, "dyspepsia"),
    ("Steve", 56, 34000, "gastritis"),
    ("Tom", 60, 44000, "gastritis"),
    ("Vince", 65, 36000, "flu"),
];

const TABLE_1B: [Group; 5] = [
    ((21, 22), (12, 14), &[("Bob", "dyspepsia"), ("Alice", "bronchitis")]),
    ((23, 24), (18, 25), &[("Andy", "flu"), ("David", "gastritis")]),
    ((36, 41), (20, 27), &[("Gary", "flu"), ("Helen", "gastritis")]),
    ((37, 43), (26, 35), &[("Jane", "dyspepsia"), ("Ken", "flu"), ("Linda", "gastritis")]),
    ((52, 56), (33, 34), &[("Paul", "dyspepsia"), ("Steve", "gastritis")]),
];

const TABLE_2B: [Group; 5] = [
    ((21, 23), (12, 25), &[("Bob", "dyspepsia"), ("David", "gastritis")]),
    ((25, 43), (21, 33), &[("Emily", "flu"), ("Jane", "dyspepsia"), ("Linda", "gastritis")]),
    ((41, 46), (20, 30), &[("Gary", "flu"), ("Mary", "gastritis")]),
    ((54, 56), (31, 34), &[("Ray", "dyspepsia"), ("Steve", "gastritis")]),
    ((60, 65), (36, 44), &[("Tom", "gastritis"), ("Vince", "flu")]),
];

const TABLE_3A: [Group; 6] = [
    ((21, 22), (12, 14), &[("Bob", "dyspepsia"), ("", "bronchitis")]),
    ((23, 25), (21, 25), &[("David", "gastritis"), ("Emily", "flu")]),
    ((37, 43), (26, 33), &[("Jane", "dyspepsia"), ("", "flu"), ("Linda", "gastritis")]),
    ((41, 46), (20, 30), &[("Gary", "flu"), ("Mary", "gastritis")]),
    ((54, 56), (31, 34), &[("Ray", "dyspepsia"), ("Steve", "gastritis")]),
    ((60, 65), (36, 44), &[("Tom", "gastritis"), ("Vince", "flu")]),
];

/// Age and zip code, both as whole numbers from 0; the disease.
pub fn schema() -> Schema {
    let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 120 });
    let zip = Quasi::new("zip", Domain::Integer { lo: 0, hi: 100_000 });
    Schema::new("name", vec![age, zip], vec![Sensitive::open("disease")])
}

/// Bronchitis, dyspepsia, flu, gastritis.
pub fn values() -> Values {
    Values::of(["bronchitis", "dyspepsia", "flu", "gastritis"])
}

/// The value with this text.
pub fn value(text: &str) -> Value {
    let values = values();
    values.iter().find(|(_, cells)| &*cells[0] == text).expect("one of the four diseases").0
}

/// The key of a person.
pub fn key(name: &str) -> RecordKey {
    let mut bytes = [0; 16];
    bytes[..name.len()].copy_from_slice(name.as_bytes());
    RecordKey::from_bytes(bytes)
}

/// The name behind a key.
pub fn name(key: RecordKey) -> String {
    key.to_bytes().into_iter().take_while(|&byte| byte != 0).map(char::from).collect()
}

/// The first snapshot.
pub fn table_1a() -> Table {
    table(&TABLE_1A)
}

/// The second snapshot: five have left, five have arrived.
pub fn table_2a() -> Table {
    table(&TABLE_2A)
}

/// The first release.
pub fn release_1b() -> (Release, Membership) {
    release(1, &TABLE_1B, &table_1a())
}

/// The second release, each release 2-diverse on its own. Bob is betrayed.
pub fn release_2b() -> (Release, Membership) {
    release(2, &TABLE_2B, &table_2a())
}

/// The second release with counterfeits in the first and the third group. Nobody is.
pub fn release_3a() -> (Release, Membership) {
    release(2, &TABLE_3A, &table_2a())
}

fn table(patients: &[Patient]) -> Table {
    let mut patients = patients.to_vec();
    patients.sort_unstable();
    Table::new(
        patients.iter().map(|patient| key(patient.0)).collect(),
        vec![patients.iter().map(|patient| patient.1).collect(), patients.iter().map(|patient| patient.2).collect()],
        patients.iter().map(|patient| value(patient.3)).collect(),
        values(),
        Vec::new(),
        Vec::new(),
    )
}

fn release(number: u32, groups: &[Group], table: &Table) -> (Release, Membership) {
    let mut release = Release { number, regions: Regions::new(2), values: values(), ..Release::default() };
    release.label = format!("release {number}");
    let mut membership = Membership::default();
    for (age, zip, rows) in groups {
        let mut rows: Vec<(Value, u32)> = rows
            .iter()
            .map(|(name, disease)| {
                let row = table.find(key(name)).map_or(Membership::COUNTERFEIT, |row| row.0);
                (value(disease), row)
            })
            .collect();
        rows.sort_unstable();
        release.regions.push(&[Span::new(age.0, age.1), Span::new(zip.0 * 1000, zip.1 * 1000)]);
        release.counterfeits.push(rows.iter().filter(|row| row.1 == Membership::COUNTERFEIT).count() as u32);
        release.sensitive.extend(rows.iter().map(|row| row.0));
        release.ends.push(release.sensitive.len() as u32);
        membership.rows.extend(rows.iter().map(|row| row.1));
        membership.policy_groups.push(membership.policy_groups.len() as u32);
    }
    (release, membership)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_covers_its_person_and_has_their_value() {
        for (table, (release, membership)) in
            [(table_1a(), release_1b()), (table_2a(), release_2b()), (table_2a(), release_3a())]
        {
            let mut placed = 0;
            for group in 0..release.group_count() {
                for row in release.group_rows(group) {
                    let Some(person) = membership.person(row) else { continue };
                    placed += 1;
                    assert_eq!(release.sensitive[row], table.sensitive()[person.index()]);
                    for attribute in 0..2 {
                        assert!(release.region(group)[attribute].contains(table.quasi(attribute)[person.index()]));
                    }
                }
            }
            assert_eq!(placed, table.len());
        }
        assert_eq!(release_3a().0.counterfeits, [1, 0, 1, 0, 0, 0]);
        assert_eq!(name(key("Vince")), "Vince");
    }
}
