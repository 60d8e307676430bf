//! Small tables written as words, and series made of them.

use proptest::prelude::*;
use std::collections::BTreeMap;
use tacenda::model::{Domain, Hierarchy, History, Quasi, RecordKey, Schema, Seed, Sensitive, Table, Values};
use tacenda::promise::{Grouper, Output, PolicyFile, Promised, Reasons, SeriesSettings, ShareLimits};
use tacenda::publish::{Before, Prepared, PublishError, prepare};

/// A person of a made-up snapshot.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct TestPerson {
    pub id: u32,
    pub age: u32,
    pub place: u32,
    pub disease: u8,
}

/// Ages 0 to 99, nullable; eight places in a small unbalanced tree; one disease, a letter.
pub fn schema() -> Schema {
    let rows: Vec<Vec<String>> = ["a;n;*", "b;n;*", "c;n;*", "d;s;*", "e;s;*", "f;s;*", "g;g;*", "h;h;*"]
        .map(|row| row.split(';').map(String::from).collect())
        .to_vec();
    let age = Quasi::new("age", Domain::Integer { lo: 0, hi: 100 }).nullable();
    let place = Quasi::new("place", Domain::Category(Hierarchy::from_rows(&rows).unwrap()));
    Schema::new("id", vec![age, place], vec![Sensitive::open("disease")])
}

/// A policy file that allows everything the promise allows.
pub fn file(promise: impl Into<Promised>) -> PolicyFile {
    PolicyFile {
        series: SeriesSettings {
            name: "test".into(),
            title: "Test".into(),
            contact: "nobody".into(),
            ..SeriesSettings::default()
        },
        schema: schema(),
        promise: promise.into(),
        reasons: Reasons::default(),
        limits: ShareLimits { counterfeits: 1.0, withheld: 1.0 },
        output: Output::default(),
    }
}

/// The table of a snapshot, numbered after the values the series had before. Age 100 is NULL.
pub fn table(people: &[TestPerson], known: &Values) -> Table {
    let mut values = known.clone();
    let text = |disease: u8| vec![Box::from(((b'a' + disease) as char).to_string())].into_boxed_slice();
    values.extend(people.iter().map(|person| text(person.disease)));
    let index = values.index();
    let sorted: BTreeMap<RecordKey, &TestPerson> = people.iter().map(|person| (key(person.id), person)).collect();
    assert_eq!(sorted.len(), people.len(), "each id once");
    let column = |code: &dyn Fn(&TestPerson) -> u32| sorted.values().map(|person| code(person)).collect::<Vec<u32>>();
    let quasi = vec![column(&|person| person.age), column(&|person| person.place)];
    let sensitive = sorted.values().map(|person| index[&text(person.disease)[..]]).collect();
    Table::new(sorted.keys().copied().collect(), quasi, sensitive, values.clone(), Vec::new(), Vec::new())
}

pub fn key(id: u32) -> RecordKey {
    RecordKey::of(&[5; 32], &id.to_le_bytes())
}

pub fn seed() -> Seed {
    Seed([9; 32])
}

/// Publishes one snapshot after another; every step is judged by the gate.
pub fn publish_all(
    file: &PolicyFile,
    policy: &dyn Grouper,
    snapshots: &[Vec<TestPerson>],
) -> Result<Vec<(Table, Prepared)>, PublishError> {
    let mut done: Vec<(Table, Prepared)> = Vec::new();
    let mut history = History::default();
    for people in snapshots {
        let table = table(people, &history.values);
        let last = done.last().map(|(table, _)| table);
        let before = Before { history: &history, snapshot: last };
        let prepared = prepare(file, policy, &seed(), before, &table, "label")?;
        history = prepared.history.clone();
        done.push((table, prepared));
    }
    Ok(done)
}

/// What may happen to people between snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Events {
    pub leave: bool,
    pub move_house: bool,
    pub fall_ill_anew: bool,
}

impl Events {
    pub const ALL: Events = Events { leave: true, move_house: true, fall_ill_anew: true };
    pub const ADD_ONLY: Events = Events { leave: false, move_house: false, fall_ill_anew: false };
}

/// Random histories: people arrive, and as allowed leave, return, move and get another disease. In some of
/// them one disease is far more frequent than the others, in some of them people are the older the later they
/// arrive.
pub fn evolution(
    most_people: u32,
    snapshots: usize,
    diseases: u8,
    events: Events,
) -> impl Strategy<Value = Vec<Vec<TestPerson>>> {
    // Per person: first quasi values and disease; per person and snapshot: what happens.
    let person = (0u32..=100, 0u32..8, 0..diseases);
    let step = (0u8..10, 0u32..=100, 0u32..8, 0..diseases);
    let people = 1..=most_people as usize;
    people.prop_flat_map(move |count| {
        let first = prop::collection::vec(person.clone(), count);
        let steps = prop::collection::vec(prop::collection::vec(step.clone(), count), snapshots);
        (first, steps, 0u8..4, 0u8..3).prop_map(move |(mut first, steps, skewed, timed)| {
            for (person, (age, place, disease)) in first.iter_mut().enumerate() {
                if skewed == 0 && *place < 5 {
                    *disease = 0;
                }
                if timed == 0 {
                    let arrival = steps.iter().position(|step| step[person].0 <= 3).unwrap_or(0) as u32;
                    *age = (arrival * 100 + *age) / steps.len() as u32;
                }
            }
            unroll(&first, &steps, events)
        })
    })
}

type Step = (u8, u32, u32, u8);

fn unroll(first: &[(u32, u32, u8)], steps: &[Vec<Step>], events: Events) -> Vec<Vec<TestPerson>> {
    let mut people: Vec<(TestPerson, bool)> = first
        .iter()
        .enumerate()
        .map(|(id, &(age, place, disease))| (TestPerson { id: id as u32, age, place, disease }, false))
        .collect();
    steps
        .iter()
        .map(|step| {
            for ((person, present), &(event, age, place, disease)) in people.iter_mut().zip(step) {
                match event {
                    0..=3 => *present = true,
                    4 | 5 if events.leave => *present = false,
                    6 if events.move_house && *present => (person.age, person.place) = (age, place),
                    7 if events.fall_ill_anew && *present => person.disease = disease,
                    _ => {}
                }
            }
            people.iter().filter(|(_, present)| *present).map(|(person, _)| person.clone()).collect()
        })
        .collect()
}
