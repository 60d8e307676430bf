//! Tiny tables and releases written as words, for the tests of this room.

use crate::audit::knowledge::Knowledge;
use crate::audit::worlds::Person;
use crate::model::{RecordKey, Regions, Release, Span, Table, Value, Values};
use proptest::prelude::*;

fn values() -> Values {
    Values::of(["a", "b", "c", "d", "e"])
}

fn value(letter: u8) -> Value {
    Value(u32::from(letter - b'a'))
}

fn letter(value: u32) -> char {
    char::from(b'a' + value as u8)
}

/// One person a word: `id/point/value`.
pub(crate) fn table(people: &str) -> Table {
    let mut rows: Vec<(u64, u32, Value)> = people
        .split(' ')
        .map(|word| {
            let parts: Vec<&str> = word.split('/').collect();
            (parts[0].parse().unwrap(), parts[1].parse().unwrap(), value(parts[2].as_bytes()[0]))
        })
        .collect();
    rows.sort_unstable();
    Table::new(
        rows.iter().map(|row| RecordKey { hi: row.0, lo: 0 }).collect(),
        vec![rows.iter().map(|row| row.1).collect()],
        rows.iter().map(|row| row.2).collect(),
        values(),
        Vec::new(),
        Vec::new(),
    )
}

/// One group per word: `lo-hi/values`, and `+n` where n of them are counterfeits.
pub(crate) fn release(number: u32, groups: &str) -> Release {
    let mut release = Release { number, regions: Regions::new(1), values: values(), ..Release::default() };
    for word in groups.split(' ') {
        let (word, counterfeits) = word.split_once('+').unwrap_or((word, "0"));
        let (span, letters) = word.split_once('/').unwrap();
        let (lo, hi) = span.split_once('-').unwrap();
        release.regions.push(&[Span::new(lo.parse().unwrap(), hi.parse().unwrap())]);
        let mut rows: Vec<Value> = letters.bytes().map(value).collect();
        rows.sort_unstable();
        release.sensitive.append(&mut rows);
        release.ends.push(release.sensitive.len() as u32);
        release.counterfeits.push(counterfeits.parse().unwrap());
    }
    release
}

/// Everyone, as the count of worlds wants them.
pub(super) fn people(knowledge: &Knowledge<'_>) -> Vec<Person> {
    let points = |person| (0..knowledge.releases()).map(|release| knowledge.point(release, person)).collect();
    (0..knowledge.len() as u32).map(|person| Person { points: points(person) }).collect()
}

/// One to three releases of at most so many people who come and go, in any groups at all with the
/// smallest boxes and now and then a counterfeit.
pub(super) fn evolution(most: usize) -> impl Strategy<Value = (Vec<Table>, Vec<Release>)> {
    let groups = proptest::collection::vec(0usize..4, 3);
    let present = proptest::collection::vec(proptest::bool::weighted(0.8), 3);
    let people = proptest::collection::vec((0u32..12, 0u32..5, groups, present), 2..=most);
    let counterfeits = proptest::collection::vec(proptest::option::weighted(0.2, 0u32..5), 12);
    (people, counterfeits, 1usize..=3).prop_map(|(people, counterfeits, count)| {
        let (mut tables, mut releases) = (Vec::new(), Vec::new());
        for number in 0..count {
            let here: Vec<usize> = (0..people.len()).filter(|&person| people[person].3[number]).collect();
            if here.is_empty() {
                continue;
            }
            let word = |&person: &usize| format!("{person}/{}/{}", people[person].0, letter(people[person].1));
            tables.push(table(&here.iter().map(word).collect::<Vec<_>>().join(" ")));
            let group_word = |group: usize| {
                let members: Vec<usize> =
                    here.iter().copied().filter(|&person| people[person].2[number] == group).collect();
                let lo = members.iter().map(|&person| people[person].0).min()?;
                let hi = members.iter().map(|&person| people[person].0).max()?;
                let real: String = members.iter().map(|&person| letter(people[person].1)).collect();
                Some(match counterfeits[number * 4 + group] {
                    Some(value) => format!("{lo}-{hi}/{real}{}+1", letter(value)),
                    None => format!("{lo}-{hi}/{real}"),
                })
            };
            let words: Vec<String> = (0..4).filter_map(group_word).collect();
            releases.push(release(number as u32 + 1, &words.join(" ")));
        }
        (tables, releases)
    })
}
