//! A series of tiny, hand-made releases for the tests of ledger and vault.

use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use tacenda::ledger::{Commit, Disk, LedgerError, LineNumbers, NewProject, Store};
use tacenda::model::{
    History, PastGroups, Record, RecordKey, Regions, Seed, Span, Table, Value, ValueSetId, ValueSets, Values,
};

/// Where the project is, on a disk in memory.
pub const ROOT: &str = "/project";

pub fn root() -> &'static Path {
    Path::new(ROOT)
}

pub fn init(disk: Arc<dyn Disk>, root: &Path) -> Result<Store, LedgerError> {
    let new = NewProject {
        series: "wards",
        seed: Seed([7; 32]),
        wrapped_key: None,
        policy_digest: "digest of the policy",
        policy_canonical: "policy = 1\n",
        at: "2026-01-01T00:00:00Z",
    };
    Store::init(disk, root, new)
}

/// Publishes release `number` of the hand-made series.
pub fn publish(store: &mut Store, number: u32) -> Result<(), LedgerError> {
    commit(store, number, false)
}

/// Takes release `number` of the hand-made series in, as if it had been made elsewhere.
pub fn adopt(store: &mut Store, number: u32) -> Result<(), LedgerError> {
    commit(store, number, true)
}

fn commit(store: &mut Store, number: u32, adopted: bool) -> Result<(), LedgerError> {
    let staging = store.stage(number)?;
    staging.write("wards.csv", format!("group_id,diagnosis\n1,flu {number}\n").as_bytes())?;
    staging.write("manifest.json", format!("{{\"ledger\":\"{}\"}}\n", store.head()).as_bytes())?;
    let (history, snapshot) = state(number);
    let commit = Commit {
        label: &format!("2026-Q{number}"),
        promise: json!({"model": "m-invariance", "m": 2}),
        numbers: LineNumbers { rows: 4, truth_known: adopted.then_some(true), ..LineNumbers::default() },
        policy_digest: "digest of the policy",
        policy_canonical: "policy = 1\n",
        history: &history,
        snapshot: &snapshot,
        people: None,
        adopted,
        amended: Vec::new(),
        approved: None,
        input: None,
        source: None,
        at: "2026-04-01T00:00:00Z",
    };
    store.commit(staging, commit).map(drop)
}

/// History and snapshot after release `number`: one more person each time, the first of whom leaves.
pub fn state(number: u32) -> (History, Table) {
    let keys: Vec<RecordKey> =
        (0..4 + u64::from(number)).map(|person| RecordKey { hi: person * 1_000_003, lo: u64::MAX - person }).collect();
    let mut value_sets = ValueSets::default();
    value_sets.intern(&[Value(0), Value(1)]);
    value_sets.intern(&[Value(1), Value(2)]);
    let records = keys
        .iter()
        .enumerate()
        .map(|(index, &key)| Record {
            key,
            first_seen: 1 + index as u32 / 4,
            cohort: 1 + index as u32 / 4,
            last_release: number,
            group: index as u32 / 2,
            value: Value(index as u32 % 3),
            value_set: ValueSetId(index as u32 % 2),
        })
        .collect();
    let mut regions = Regions::new(2);
    regions.push(&[Span::new(0, 4), Span::exact(number)]);
    regions.push(&[Span::new(5, 9), Span::EMPTY]);
    let values = Values::of(["angina", "bronchitis", "flu"]);
    let history = History {
        releases: number,
        records,
        past_sets: vec![(keys[0], ValueSetId(1)), (keys[2], ValueSetId(0))],
        value_sets,
        values: values.clone(),
        groups: PastGroups { regions: regions.clone(), cells: regions },
        facts: [("cuts".to_string(), u64::from(number)), ("most".to_string(), u64::MAX)].into(),
        ..History::default()
    };
    let here = keys[1..].to_vec();
    let rows = here.len() as u32;
    let table = Table::new(
        here,
        vec![(0..rows).collect(), vec![number; rows as usize]],
        (0..rows).map(|row| Value(row % 3)).collect(),
        values,
        (0..rows).map(|row| row % 2).collect(),
        vec![vec!["day".into()], vec!["night ward".into()]],
    );
    (history, table)
}
