//! The fuzzed readers, over the corpus and over changed copies of it: no panic, no hang, no cell in an error.
//!
//! The seed is fixed, so that a run that fails fails again. `TACENDA_LONG` runs a hundred times as many.

#[path = "../../../../fuzz/entry.rs"]
mod entry;
#[path = "../../../../fuzz/mutate.rs"]
#[expect(dead_code, reason = "libFuzzer asks in another way")]
mod mutate;

use arrow_array::{ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};
use tacenda::model::Rng;

/// How often each reader is run, and how many different answers are expected at least.
const RUNS: &[(&str, u64, usize)] = &[
    ("cell", 3_000, 1),
    ("release", 500, 6),
    ("policy", 1_500, 15),
    ("hierarchy", 500, 2),
    ("snapshot", 1_500, 12),
    ("delta", 1_200, 10),
    ("ledger", 800, 3),
    ("folder", 700, 4),
    ("plan", 250, 4),
    ("question", 3_000, 3),
];

/// No run may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    match target {
        "snapshot" => seeds.extend((0..12).map(parquet)),
        "delta" => seeds.push(parquet(1)),
        "folder" => seeds.push(entry::release_folder().to_vec()),
        _ => {}
    }
    seeds
}

/// Ends the program if a run takes too long: it could not be told otherwise which one it was.
fn watched(target: &'static str, run: impl FnOnce(&dyn Fn(u64))) {
    let (tell, told) = channel();
    let watch = thread::spawn(move || {
        let mut last = 0;
        loop {
            match told.recv_timeout(PATIENCE) {
                Ok(at) => last = at,
                Err(RecvTimeoutError::Disconnected) => return,
                Err(RecvTimeoutError::Timeout) => {
                    eprintln!("{target} takes more than {PATIENCE:?} over run {last}");
                    process::abort();
                }
            }
        }
    });
    run(&|at| tell.send(at).unwrap());
    drop(tell);
    watch.join().unwrap();
}

fn run(target: &'static str) {
    let &(_, entry) = entry::TARGETS.iter().find(|(name, _)| *name == target).unwrap();
    let &(_, runs, answers) = RUNS.iter().find(|(name, _, _)| *name == target).unwrap();
    let runs = if env::var_os("TACENDA_LONG").is_some() { 100 * runs } else { runs };
    let seeds = corpus(target);
    assert!(seeds.len() >= 4, "the corpus is there");
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    let start = Instant::now();
    watched(target, |tell| {
        for (at, seed) in seeds.iter().enumerate() {
            tell(at as u64);
            *found.entry(entry(seed)).or_default() += 1;
        }
        assert!(found.contains_key("ok"), "the corpus has something to change: {found:?}");
        for at in 0..runs {
            let mut rng = Rng::from_number(at);
            let mut draw = || &seeds[rng.below(seeds.len() as u64) as usize];
            let (seed, other) = (draw(), draw());
            tell(at);
            *found.entry(entry(&mutate::changed(target, seed, other, &mut rng))).or_default() += 1;
        }
    });
    println!("{target}: {runs} runs in {:.1?}: {found:?}", start.elapsed());
    assert!(found.len() >= answers, "the runs got past the front door: {found:?}");
}

/// A table of the corpus as Parquet: right, or with columns of other types, without values, or packed in other ways.
fn parquet(number: u64) -> Vec<u8> {
    let mut rng = Rng::from_number(number);
    let rows = 1 + rng.below(12) as i64;
    let odd = |rng: &mut Rng| number > 0 && rng.below(9) == 0;
    let texts = |start: &str| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..rows).map(|row| format!("{start}{}{}", row % 3, entry::CANARY))))
    };
    let numbers = |rng: &mut Rng| -> ArrayRef {
        match rng.below(3) {
            0 => Arc::new(Int32Array::from_iter((0..rows).map(|row| (row != 2).then_some(20 + row as i32)))),
            1 => Arc::new(Float64Array::from_iter_values((0..rows).map(|row| f64::NAN.min(20.5 + row as f64)))),
            _ => Arc::new(Int64Array::from_iter_values((0..rows).map(|row| i64::MAX - row))),
        }
    };
    let listed = |all: &[&str]| -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..rows).map(|row| all[row as usize % all.len()])))
    };
    let ids: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..rows).map(|row| format!("p{row}{}", entry::CANARY))));
    let mut columns: Vec<(&str, ArrayRef)> = vec![
        ("id", ids),
        ("full_name", texts("n")),
        ("age", Arc::new(Int64Array::from_iter_values((0..rows).map(|row| 20 + row)))),
        ("weight_kg", Arc::new(Float64Array::from_iter_values((0..rows).map(|row| 60.5 + row as f64)))),
        ("admitted", Arc::new(Date32Array::from_iter_values((0..rows).map(|row| 20_100 + row as i32)))),
        ("postcode", listed(&["1011", "2011"])),
        ("sex", listed(&["F", "M"])),
        ("ward", texts("w")),
        ("diagnosis", texts("d")),
        ("outcome", listed(&["home", "transfer"])),
    ];
    for column in &mut columns {
        if odd(&mut rng) {
            column.1 = if rng.below(2) == 0 { numbers(&mut rng) } else { texts("x") };
        }
    }
    let packed = match rng.below(3) {
        0 => Compression::SNAPPY,
        1 => Compression::ZSTD(ZstdLevel::default()),
        _ => Compression::UNCOMPRESSED,
    };
    let properties = WriterProperties::builder()
        .set_compression(packed)
        .set_dictionary_enabled(rng.below(2) == 0)
        .set_max_row_group_row_count(Some(1 + rng.below(6) as usize))
        .build();
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn every_reader_has_runs() {
    let names: Vec<&str> = entry::TARGETS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, RUNS.iter().map(|(name, _, _)| *name).collect::<Vec<_>>());
}

macro_rules! runs {
    ($($target:ident: $claim:ident,)*) => {
        $(#[test] fn $claim() { run(stringify!($target)); })*
    };
}

runs! {
    cell: any_text_is_read_as_a_cell,
    release: any_bytes_are_releases_or_a_named_error,
    policy: any_text_is_a_policy_or_has_faults_that_stand_in_it,
    hierarchy: any_bytes_are_a_tree_or_a_fault,
    snapshot: any_bytes_are_a_table_or_an_error_without_a_cell,
    delta: any_bytes_are_changes_or_an_error_without_a_cell,
    ledger: any_lines_are_a_ledger_or_a_named_error,
    folder: any_bytes_are_a_release_folder_or_a_named_error,
    plan: any_bytes_are_a_plan_or_a_named_error,
    question: any_text_is_a_question_or_a_named_error,
}
