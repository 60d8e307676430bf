//! What goes into the vault comes out of it.

use crate::crash_disk::CrashDisk;
use crate::small_project::{init, root};
use proptest::prelude::*;
use serde_json::json;
use std::sync::Arc;
use tacenda::ledger::{Commit, Disk, Folder, LineNumbers, RealDisk, Store};
use tacenda::model::{
    History, Met, PastGroups, PastView, Record, RecordKey, Regions, Rng, Span, Table, Value, ValueSetId, ValueSets,
    Values,
};

fn commit(store: &mut Store, history: &History, snapshot: &Table) {
    let staging = store.stage(history.releases).unwrap();
    staging.write("data.csv", b"a\n").unwrap();
    let commit = Commit {
        label: "first",
        promise: json!({}),
        numbers: LineNumbers::default(),
        policy_digest: "",
        policy_canonical: "",
        history,
        snapshot,
        people: None,
        adopted: false,
        amended: Vec::new(),
        approved: None,
        input: None,
        source: None,
        at: "now",
    };
    store.commit(staging, commit).unwrap();
}

fn number() -> impl Strategy<Value = u32> {
    prop_oneof![3 => 0u32..4, 1 => any::<u32>()]
}

fn text() -> impl Strategy<Value = Box<str>> {
    prop_oneof![Just(""), Just("flu"), Just("a \"b\"\n\u{0}"), Just("süß, 汉字")].prop_map(Box::from)
}

fn regions() -> impl Strategy<Value = Regions> {
    (0usize..4, 0usize..6).prop_flat_map(|(attributes, groups)| {
        prop::collection::vec(prop::collection::vec((number(), number()), attributes), groups).prop_map(move |spans| {
            let mut regions = Regions::new(attributes);
            for spans in &spans {
                regions.push(&spans.iter().map(|&(lo, hi)| Span { lo, hi }).collect::<Vec<Span>>());
            }
            regions
        })
    })
}

fn values() -> impl Strategy<Value = Values> {
    prop::collection::vec(prop::collection::vec(text(), 0..3).prop_map(Vec::into_boxed_slice), 0..4)
        .prop_map(Values::from_ordered)
}

fn keys() -> impl Strategy<Value = Vec<RecordKey>> {
    prop::collection::btree_set((any::<u64>(), any::<u64>()), 0..12)
        .prop_map(|keys| keys.into_iter().map(|(hi, lo)| RecordKey { hi, lo }).collect())
}

/// A view that is out, of one to three columns.
fn past_view(any: &mut impl FnMut() -> u32) -> PastView {
    let columns = 1 + any() as usize % 3;
    let mut rows = Regions::new(columns);
    let counts: Vec<u32> = (0..any() % 5).map(|_| any()).collect();
    for _ in &counts {
        rows.push(&(0..columns).map(|_| Span { lo: any(), hi: any() }).collect::<Vec<Span>>());
    }
    PastView {
        name: format!("view {}", any()),
        release: any(),
        recipients: vec!["bank".into(), "press".into()],
        columns: (0..columns).map(|column| format!("column {column}")).collect(),
        rows,
        counts,
    }
}

fn history() -> impl Strategy<Value = History> {
    let sets = prop::collection::vec(prop::collection::btree_set(number(), 0..4), 0..5);
    let facts = prop::collection::btree_map("[a-z]{0,3}", any::<u64>(), 0..3);
    let rest = (sets, values(), regions(), regions(), facts, any::<u64>());
    (keys(), prop::collection::vec(any::<prop::sample::Index>(), 0..6), rest).prop_map(|(keys, past, rest)| {
        let (sets, values, regions, cells, facts, seed) = rest;
        let mut rng = Rng::from_number(seed);
        let mut any = || (rng.bits() >> (32 + rng.below(32))) as u32;
        let records: Vec<Record> = keys
            .iter()
            .map(|&key| Record {
                key,
                first_seen: any(),
                cohort: any(),
                last_release: any(),
                group: any(),
                value: Value(any()),
                value_set: ValueSetId(any()),
            })
            .collect();
        let mut value_sets = ValueSets::default();
        for set in sets {
            value_sets.intern(&set.into_iter().map(Value).collect::<Vec<Value>>());
        }
        let past = past.iter().filter(|_| !keys.is_empty()).map(|at| (*at.get(&keys), ValueSetId(any())));
        let mut past_sets: Vec<(RecordKey, ValueSetId)> = past.collect();
        past_sets.sort_unstable();
        let groups = PastGroups { regions, cells };
        let views = (0..any() % 4).map(|_| past_view(&mut any)).collect();
        let mut places = Regions::default();
        let mut met = Vec::new();
        if any() % 2 == 0 && !records.is_empty() {
            places = Regions::new(2);
            places.push(&[Span { lo: any(), hi: any() }, Span { lo: any(), hi: any() }]);
            met.extend(records.iter().map(|_| match any() % 2 {
                0 => Met::NEVER,
                _ => Met { place: 0, fewest: any() },
            }));
        }
        History {
            releases: 1,
            records,
            past_sets,
            value_sets,
            values,
            groups,
            facts,
            met,
            places,
            views,
            counts: Vec::new(),
            erased: (0..any() % 3).map(|lo| RecordKey { hi: 7, lo: lo.into() }).collect(),
        }
    })
}

/// A history, and a snapshot of some of its people.
fn state() -> impl Strategy<Value = (History, Table)> {
    (history(), any::<u64>(), 0usize..4, values(), prop::option::of(prop::collection::vec(text(), 0..3))).prop_map(
        |(history, seed, quasi, values, public)| {
            let mut rng = Rng::from_number(seed);
            let keys: Vec<RecordKey> =
                history.records.iter().map(|record| record.key).filter(|_| rng.below(2) == 0).collect();
            let mut column = || keys.iter().map(|_| (rng.bits() >> (32 + rng.below(32))) as u32).collect::<Vec<u32>>();
            let quasi = (0..quasi).map(|_| column()).collect();
            let sensitive = column().into_iter().map(Value).collect();
            let (public, texts) = match public.filter(|_| !keys.is_empty()) {
                Some(cells) => (column(), vec![cells]),
                None => (vec![], vec![]),
            };
            let table = Table::new(keys, quasi, sensitive, values, public, texts);
            (history, table)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]
    #[test]
    fn any_history_and_snapshot_come_back(state in state()) {
        let disk: Arc<dyn Disk> = Arc::new(CrashDisk::new());
        disk.create_folder(root(), Folder::Plain).unwrap();
        let mut store = init(Arc::clone(&disk), root()).unwrap();
        commit(&mut store, &state.0, &state.1);
        let reader = Store::open_read(disk, root()).unwrap();
        prop_assert!(reader.history().unwrap() == state.0);
        prop_assert!(reader.snapshot().unwrap() == Some(state.1));
        prop_assert_eq!(reader.events(), store.events());
    }
}

/// As many people as asked for, in groups of ten, census-shaped.
fn crowd(people: u32) -> (History, Table) {
    let mut rng = Rng::from_number(11);
    let mut keys: Vec<RecordKey> = (0..people).map(|_| RecordKey { hi: rng.bits(), lo: rng.bits() }).collect();
    keys.sort_unstable();
    let groups = u64::from(people / 10 + 1);
    let records = keys
        .iter()
        .map(|&key| Record {
            key,
            first_seen: 1,
            cohort: 1,
            last_release: 1,
            group: rng.below(groups) as u32,
            value: Value(rng.below(50) as u32),
            value_set: ValueSetId(rng.below(2000) as u32),
        })
        .collect();
    let mut regions = Regions::new(4);
    for _ in 0..groups {
        regions.push(&[79, 2, 17, 57].map(|size| Span::exact(rng.below(size) as u32)));
    }
    let values = Values::of(["flu"]);
    let groups = PastGroups { regions, cells: Regions::default() };
    let history = History { releases: 1, records, values: values.clone(), groups, ..History::default() };
    let quasi = [79, 2, 17, 57].map(|size| keys.iter().map(|_| rng.below(size) as u32).collect()).into();
    let sensitive = keys.iter().map(|_| Value(rng.below(50) as u32)).collect();
    (history, Table::new(keys, quasi, sensitive, values, vec![], vec![]))
}

/// More than one row group, unevenly filled.
#[test]
fn a_crowd_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(Arc::new(RealDisk), folder.path()).unwrap();
    let (history, snapshot) = crowd((1 << 20) + 7);
    commit(&mut store, &history, &snapshot);
    assert!(store.history().unwrap() == history);
    assert!(store.snapshot().unwrap() == Some(snapshot));
}

/// Prints what ten million people cost. Run with `--release -- --ignored --nocapture`.
#[test]
#[ignore = "measures; takes a minute and a gigabyte"]
fn ten_million_people() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = init(Arc::new(RealDisk), folder.path()).unwrap();
    let (history, snapshot) = crowd(10_000_000);
    let before = cpu_seconds();
    commit(&mut store, &history, &snapshot);
    let written = cpu_seconds();
    let loaded = store.history().unwrap();
    let history_loaded = cpu_seconds();
    let table = store.snapshot().unwrap();
    let snapshot_loaded = cpu_seconds();
    println!("commit {:.2} CPU s", written - before);
    println!("history {:.2} CPU s, snapshot {:.2} CPU s", history_loaded - written, snapshot_loaded - history_loaded);
    for entry in std::fs::read_dir(folder.path().join(".tacenda/vault")).unwrap() {
        let entry = entry.unwrap();
        println!("{} {}", entry.metadata().unwrap().len(), entry.file_name().to_string_lossy());
    }
    assert!(loaded == history && table == Some(snapshot));
}

/// User and system time of this process so far, where the system tells.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks: f64 = after_name.split_whitespace().skip(11).take(2).filter_map(|word| word.parse::<f64>().ok()).sum();
    ticks / 100.0
}
