//! The fuzzed readers, over the corpus and over changed copies of it: no panic, no hang, no cell in an error.
//!
//! The seed is fixed, so that a run that fails fails again. `TACENDA_LONG` runs a hundred times as many.

#[path = "../../../../fuzz/entry.rs"]
mod entry;
#[path = "../../../../fuzz/mutate.rs"]
#[expect(dead_code, reason = "libFuzzer asks in another way")]
mod mutate;

use arrow_array::{
    Array, ArrayRef, Date32Array, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray, new_null_array,
};
use arrow_schema::{Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
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
    ("arx", 300, 3),
    ("snapshot", 1_500, 12),
    ("delta", 1_200, 10),
    ("ledger", 800, 3),
    ("folder", 700, 4),
    ("parquet", 700, 2),
    ("plan", 250, 4),
    ("question", 3_000, 3),
    ("receipt", 2_000, 3),
    ("anchor", 600, 3),
    ("backup", 400, 3),
    ("age", 1_000, 3),
    ("signature", 1_000, 2),
    ("statement", 1_000, 2),
    ("audit", 500, 2),
];

/// No run may take longer.
const PATIENCE: Duration = Duration::from_secs(30);

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    // Some seeds are made here, because they follow the formats.
    let mut paths: Vec<_> = fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut seeds: Vec<Vec<u8>> = paths.iter().map(|path| fs::read(path).unwrap()).collect();
    match target {
        "snapshot" => seeds.extend((0..12).map(parquet).chain([0, 3].map(workbook))),
        "parquet" => seeds.extend((0..40).map(odd_release)),
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
    written(&RecordBatch::try_from_iter(columns).unwrap(), properties)
}

fn written(batch: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    bytes
}

/// The Parquet file of a release, with a column or more that is not as it should be: other values, other types, none at all.
fn odd_release(number: u64) -> Vec<u8> {
    let right = bytes::Bytes::from_static(entry::release_parquet());
    let batch = ParquetRecordBatchReaderBuilder::try_new(right).unwrap().build().unwrap().next().unwrap().unwrap();
    let mut rng = Rng::from_number(number);
    let mut fields: Vec<Arc<Field>> = batch.schema().fields().iter().cloned().collect();
    let mut columns: Vec<ArrayRef> = batch.columns().to_vec();
    let rows = batch.num_rows();
    for _ in 0..number.min(2) {
        let at = rng.below(columns.len() as u64) as usize;
        match rng.below(6) {
            0 => columns.swap(at, 0),
            1 => columns[at] = new_null_array(columns[at].data_type(), rows),
            2 => columns[at] = Arc::new(Int32Array::from_iter_values((0..rows).map(|row| i32::MAX - row as i32))),
            3 => columns[at] = Arc::new(StringArray::from_iter_values((0..rows).map(|_| entry::CANARY))),
            4 => {
                columns.remove(at);
                fields.remove(at);
            }
            _ => columns = columns.iter().map(|column| column.slice(0, rows / 2)).collect(),
        }
    }
    let field = |(field, column): (&Arc<Field>, &ArrayRef)| Field::new(field.name(), column.data_type().clone(), true);
    let schema = Schema::new(fields.iter().zip(&columns).map(field).collect::<Vec<Field>>());
    let rows = columns.iter().map(|column| column.len()).min().unwrap();
    let columns = columns.iter().map(|column| column.slice(0, rows)).collect();
    written(&RecordBatch::try_new(Arc::new(schema), columns).unwrap(), WriterProperties::new())
}

/// A table of the corpus as a workbook.
fn workbook(number: u64) -> Vec<u8> {
    let text = include_str!("../../../../fuzz/corpus/snapshot/1");
    let mut book = rust_xlsxwriter::Workbook::new();
    let sheet = book.add_worksheet();
    for (row, line) in text.lines().enumerate() {
        for (column, cell) in line.split(',').enumerate() {
            match cell.parse::<f64>() {
                Ok(value) if number.is_multiple_of(2) => sheet.write_number(row as u32, column as u16, value).unwrap(),
                _ => sheet.write_string(row as u32, column as u16, cell).unwrap(),
            };
        }
    }
    if number > 1 {
        sheet.write_formula(3, 2, "=1/0").unwrap();
    }
    book.save_to_buffer().unwrap()
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
    arx: any_bytes_are_a_project_of_arx_or_a_named_error,
    snapshot: any_bytes_are_a_table_or_an_error_without_a_cell,
    delta: any_bytes_are_changes_or_an_error_without_a_cell,
    ledger: any_lines_are_a_ledger_or_a_named_error,
    folder: any_bytes_are_a_release_folder_or_a_named_error,
    parquet: any_bytes_are_the_parquet_of_a_release_or_a_named_error,
    plan: any_bytes_are_a_plan_or_a_named_error,
    question: any_text_is_a_question_or_a_named_error,
    receipt: any_text_is_a_receipt_or_a_named_error,
    anchor: any_bytes_are_an_anchor_or_a_named_error,
    backup: any_bytes_are_a_backup_or_a_named_error,
    age: only_the_key_that_was_kept_opens_a_vault,
    signature: any_text_is_a_signature_that_the_key_made_or_an_error,
    statement: any_text_is_a_statement_that_the_key_signed_or_an_error,
    audit: any_bytes_are_a_saved_audit_or_none,
}
