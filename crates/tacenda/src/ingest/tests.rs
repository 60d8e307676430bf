//! What goes in as text or Parquet comes out as the same table; what is wrong is said.

use super::*;
use crate::model::{Domain, Hierarchy, Public, Quasi, Role, Schema, Sensitive, Values};
use arrow_array::{ArrayRef, RecordBatch};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;
use std::io::Write;
use std::sync::Arc;

const KEY: [u8; 32] = [7; 32];

/// Columns `id,age,town,day,illness,ward,note`.
fn schema() -> Schema {
    let towns = ["1234", "1299", "Zürich"];
    let mut schema = Schema::new(
        "id",
        vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }).nullable(),
            Quasi::new("town", Domain::Category(Hierarchy::flat(towns).unwrap())),
            Quasi::new("day", Domain::Date { lo: 18_262, hi: 20_000 }),
        ],
        vec![Sensitive::open("illness")],
    );
    schema.public.push(Public { name: "ward".into(), because: "a test".into() });
    schema.order.push((Role::Public, 0));
    schema.dropped.push("note".into());
    schema
}

const ROWS: &[&str] = &[
    "id,age,town,day,illness,ward,note",
    "a,34,1234,2020-01-01,flu,A,x",
    "b,,Zürich,2020-02-29,cough,B,",
    "c,0,1299,2024-09-01,flu,A,\"two\nlines, \"\"quoted\"\"\"",
    "d,119,1234,2020-01-01,ache,A,y",
];

fn read_with(bytes: &[u8], schema: &Schema, options: ReadOptions) -> Result<Snapshot, IngestError> {
    let source = Source::spool("a test", bytes)?;
    read_snapshot(&source, schema, &KEY, &Values::default(), &options)
}

fn read(bytes: &[u8]) -> Result<Snapshot, IngestError> {
    read_with(bytes, &schema(), ReadOptions::default())
}

fn text() -> String {
    ROWS.join("\n") + "\n"
}

/// The code and the rest of the only problem.
fn only_problem(result: Result<Snapshot, IngestError>) -> (String, Option<String>, u64, Vec<u64>) {
    let error = result.expect_err("something is wrong with it");
    let [problem] = error.problems() else { panic!("one problem: {error}") };
    (problem.code().into(), problem.column.clone(), problem.rows, problem.places.clone())
}

#[test]
fn rows_become_codes_sorted_by_key() {
    let snapshot = read(text().as_bytes()).unwrap();
    let table = snapshot.table;
    assert_eq!((table.len(), snapshot.rows, table.quasi_count()), (4, 4, 3));
    let row = table.find(crate::model::RecordKey::of(&KEY, b"b")).unwrap();
    assert_eq!(table.quasi(0)[row.index()], 120, "a missing age is the code after the last");
    assert_eq!((table.quasi(1)[row.index()], table.quasi(2)[row.index()]), (2, 59));
    assert_eq!(table.values, Values::of(["ache", "cough", "flu"]));
    assert_eq!(&*table.values.cells(table.sensitive()[row.index()])[0], "cough");
    assert_eq!(&*table.public_texts[table.public()[row.index()] as usize][0], "B");
    assert_eq!(snapshot.digest.len(), 64);
}

#[test]
fn every_encoding_delimiter_and_packing_gives_the_same_table() {
    let text = text();
    let wanted = read(text.as_bytes()).unwrap();
    let utf16 = |big: bool| -> Vec<u8> {
        let units = text.encode_utf16();
        let bytes = |unit: u16| if big { unit.to_be_bytes() } else { unit.to_le_bytes() };
        std::iter::once(0xfeff).chain(units).flat_map(bytes).collect()
    };
    let western: Vec<u8> = text.chars().map(|letter| letter as u32 as u8).collect();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(text.as_bytes()).unwrap();
    // A quoted cell may hold either; the other delimiters stand for the comma outside it.
    let delimited = |delimiter: &str| {
        let rows: Vec<String> = ROWS
            .iter()
            .map(|row| match row.split_once('"') {
                Some((before, after)) => format!("{}\"{after}", before.replace(',', delimiter)),
                None => row.replace(',', delimiter),
            })
            .collect();
        (rows.join("\n") + "\n").into_bytes()
    };
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("encoding UTF-8 with a byte order mark", [b"\xef\xbb\xbf", text.as_bytes()].concat()),
        ("encoding UTF-16LE", utf16(false)),
        ("encoding UTF-16BE", utf16(true)),
        ("encoding windows-1252: line 3 is not UTF-8", western),
        ("delimiter ; (semicolon)", delimited(";")),
        ("delimiter tab", delimited("\t")),
        ("delimiter | (bar)", delimited("|")),
        ("line endings CRLF", text.replace('\n', "\r\n").into_bytes()),
        ("line endings CR", text.replace('\n', "\r").into_bytes()),
        ("line endings LF", text.trim_end().as_bytes().to_vec()),
        ("compressed with gzip", gzip.finish().unwrap()),
        ("compressed with zstd", zstd::encode_all(text.as_bytes(), 1).unwrap()),
    ];
    for (note, bytes) in cases {
        let snapshot = read(&bytes).unwrap_or_else(|error| panic!("{note}: {error}"));
        assert!(snapshot.notes.iter().any(|said| said == note), "{note}: {:?}", snapshot.notes);
        assert!(snapshot.table == wanted.table, "{note}");
        assert!(snapshot.digest != wanted.digest || bytes == text.as_bytes(), "{note}");
    }
}

fn parquet(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
    let batch =
        RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

fn strings(cells: &[&str]) -> ArrayRef {
    Arc::new(arrow_array::StringArray::from(cells.to_vec()))
}

#[test]
fn parquet_gives_the_table_its_text_gives() {
    let text = "id,age,town,day,illness,ward,note\n1,34,1234,2020-01-01,true,1.5,\n20,,1299,2020-02-29,false,2,\n";
    let wanted = read(text.as_bytes()).unwrap();
    let dictionary = |cells: Vec<&str>| -> ArrayRef {
        let array: arrow_array::DictionaryArray<arrow_array::types::Int8Type> = cells.into_iter().collect();
        Arc::new(array)
    };
    let midnight = |day: i64| day * 86_400_000_000;
    let booleans: ArrayRef = Arc::new(arrow_array::BooleanArray::from(vec![true, false]));
    let wards: ArrayRef = Arc::new(arrow_array::Float64Array::from(vec![1.5, 2.0]));
    let notes: ArrayRef = Arc::new(arrow_array::NullArray::new(2));
    let ids: [ArrayRef; 3] = [
        Arc::new(arrow_array::Int64Array::from(vec![1, 20])),
        Arc::new(arrow_array::UInt8Array::from(vec![1, 20])),
        strings(&["1", "20"]),
    ];
    let ages: [ArrayRef; 3] = [
        Arc::new(arrow_array::Int16Array::from(vec![Some(34), None])),
        Arc::new(arrow_array::Float32Array::from(vec![Some(34.0), Some(f32::NAN)])),
        Arc::new(arrow_array::LargeStringArray::from(vec![Some("34"), None])),
    ];
    let towns: [ArrayRef; 3] = [
        Arc::new(arrow_array::Int32Array::from(vec![1234, 1299])),
        dictionary(vec!["1234", "1299"]),
        Arc::new(arrow_array::StringViewArray::from(vec!["1234", "1299"])),
    ];
    let days: [ArrayRef; 3] = [
        Arc::new(arrow_array::Date32Array::from(vec![18_262, 18_321])),
        Arc::new(arrow_array::TimestampMicrosecondArray::from(vec![midnight(18_262), midnight(18_321)])),
        strings(&["2020-01-01", "2020-02-29"]),
    ];
    for (((id, age), town), day) in ids.into_iter().zip(ages).zip(towns).zip(days) {
        let bytes = parquet(vec![
            ("note", notes.clone()),
            ("id", id),
            ("age", age),
            ("town", town),
            ("illness", booleans.clone()),
            ("ward", wards.clone()),
            ("day", day),
        ]);
        let snapshot = read(&bytes).unwrap();
        assert!(snapshot.table == wanted.table);
        assert_eq!(snapshot.notes, ["Parquet"]);
    }
}

/// Bytes that are no text, in every column that is read, as Parquet and in memory, plain and in a dictionary.
#[test]
fn bytes_that_are_no_text_are_refused_and_never_missing() {
    use arrow_array::{BinaryArray, BinaryViewArray, DictionaryArray, Int8Array, LargeBinaryArray};
    let good: [&[u8]; 2] = [b"1234", b"1234"];
    let cells = |bad: bool| if bad { [good[0], &b"\xe9t\xe9"[..]] } else { good };
    let plain = |bad: bool| BinaryArray::from(cells(bad).to_vec());
    let forms: [(&str, &dyn Fn(bool) -> ArrayRef); 4] = [
        ("binary", &|bad| Arc::new(plain(bad))),
        ("large binary", &|bad| Arc::new(LargeBinaryArray::from(cells(bad).to_vec()))),
        ("binary view", &|bad| Arc::new(BinaryViewArray::from(cells(bad).to_vec()))),
        ("dictionary", &|bad| {
            Arc::new(DictionaryArray::new(Int8Array::from(vec![0, 1]), Arc::new(plain(bad)) as ArrayRef))
        }),
    ];
    let names = ["id", "age", "town", "day", "illness", "ward", "note"];
    let mut schema = schema();
    schema.quasi = vec![
        Quasi::new("age", Domain::Integer { lo: 0, hi: 9_999 }).nullable(),
        Quasi::new("town", Domain::Category(Hierarchy::flat(["1234", "5"]).unwrap())).nullable(),
        Quasi::new("day", Domain::Integer { lo: 0, hi: 9_999 }).nullable(),
    ];
    schema.sensitive[0].nullable = true;
    for (form, make) in forms {
        for at in 0..names.len() {
            let column = |(place, name): (usize, &&'static str)| -> (&'static str, ArrayRef) {
                match (place == at, *name) {
                    (true, _) => (name, make(true)),
                    (false, "id") => (name, strings(&["a", "b"])),
                    (false, _) => (name, make(false)),
                }
            };
            let columns: Vec<(&str, ArrayRef)> = names.iter().enumerate().map(column).collect();
            let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
            let frame = Source::frame("a frame", batch.schema(), vec![batch]);
            let in_memory = read_snapshot(&frame, &schema, &KEY, &Values::default(), &ReadOptions::default());
            let as_file = read_with(&parquet(columns), &schema, ReadOptions::default());
            for read in [in_memory, as_file] {
                if names[at] == "note" {
                    assert!(read.is_ok(), "{form}: a dropped column is not read");
                    continue;
                }
                let told = only_problem(read);
                assert_eq!(told, ("D143".into(), Some(names[at].into()), 1, vec![2]), "{form}, {}", names[at]);
            }
        }
    }
}

/// A draft leaves such columns out, and does not call them empty.
#[test]
fn columns_of_bytes_are_left_out_of_drafts() {
    let bytes: ArrayRef = Arc::new(arrow_array::BinaryArray::from(vec![&b"flu"[..], b"\xff\xfe", b"flu"]));
    let bytes = parquet(vec![("id", strings(&["a", "b", "c"])), ("illness", bytes)]);
    let drafted = draft(&Source::spool("a test", &bytes[..]).unwrap()).unwrap();
    let illness = drafted.column("illness").unwrap();
    assert_eq!(illness.role, Role::Drop);
    assert!(illness.because.starts_with("1 of its cells have no text form"), "{}", illness.because);
}

/// The infinity of databases is no missing day.
#[test]
fn days_beyond_the_calendar_are_refused_and_never_missing() {
    let mut schema = schema();
    schema.quasi[2].nullable = true;
    let far: [ArrayRef; 4] = [
        Arc::new(arrow_array::TimestampMicrosecondArray::from(vec![i64::MAX, 18_262 * 86_400_000_000])),
        Arc::new(arrow_array::TimestampSecondArray::from(vec![i64::MIN, 18_262 * 86_400])),
        Arc::new(arrow_array::Date32Array::from(vec![i32::MAX, 18_262])),
        Arc::new(arrow_array::Date64Array::from(vec![i64::MAX, 18_262 * 86_400_000])),
    ];
    for day in far {
        let (two, towns) = (|| strings(&["1", "2"]), strings(&["1234", "1234"]));
        let columns = vec![
            ("id", two()),
            ("age", two()),
            ("town", towns),
            ("day", day),
            ("illness", two()),
            ("ward", two()),
            ("note", two()),
        ];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let frame = Source::frame("a frame", batch.schema(), vec![batch]);
        let read = read_snapshot(&frame, &schema, &KEY, &Values::default(), &ReadOptions::default());
        assert_eq!(only_problem(read), ("D108".into(), Some("day".into()), 1, vec![1]));
    }
}

#[test]
fn parquet_faults_are_counted_by_row() {
    let noon: ArrayRef =
        Arc::new(arrow_array::TimestampSecondArray::from(vec![18_262 * 86_400 + 43_200, 18_263 * 86_400]));
    let bytes = |age: ArrayRef, day: ArrayRef, illness: ArrayRef| {
        let x = strings(&["1234", "1234"]);
        let ids = strings(&["a", "b"]);
        parquet(vec![
            ("id", ids),
            ("age", age),
            ("town", x.clone()),
            ("day", day),
            ("illness", illness),
            ("ward", x.clone()),
            ("note", x),
        ])
    };
    let day = || -> ArrayRef { Arc::new(arrow_array::Date32Array::from(vec![18_262, 18_263])) };
    let ill = || strings(&["flu", "flu"]);
    let age = |cells: Vec<f64>| -> ArrayRef { Arc::new(arrow_array::Float64Array::from(cells)) };
    let fine = || age(vec![1.0, 2.0]);
    assert_eq!(
        only_problem(read(&bytes(age(vec![1.0, 2.5]), day(), ill()))),
        ("D106".into(), Some("age".into()), 1, vec![2])
    );
    let noon = read(&bytes(fine(), noon, ill())).unwrap().table;
    assert_eq!(noon.quasi(2), read(&bytes(fine(), day(), ill())).unwrap().table.quasi(2), "a time of day is left out");
    let numbers: ArrayRef = Arc::new(arrow_array::Int32Array::from(vec![18_262, 18_263]));
    assert_eq!(only_problem(read(&bytes(fine(), numbers, ill()))), ("D108".into(), Some("day".into()), 2, vec![1, 2]));
    let lists: ArrayRef =
        Arc::new(arrow_array::ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>(vec![
            Some(vec![Some(1)]),
            None,
        ]));
    let error = read(&bytes(fine(), day(), lists)).unwrap_err();
    assert_eq!((error.code(), error.exit_code()), ("D119", 3));
    assert!(error.to_string().contains("column illness"), "{error}");
    let whole = bytes(fine(), day(), ill());
    assert_eq!(read(&whole[..whole.len() / 2]).unwrap_err().code(), "D117");
}

#[test]
fn each_problem_has_its_code_its_column_and_its_lines() {
    let row = |cells: &str| format!("{}{cells}\n", text());
    let cases = [
        (row("e,x,1234,2020-01-01,flu,A,"), "D106", Some("age"), vec![7]),
        (row("e,34.5,1234,2020-01-01,flu,A,"), "D106", Some("age"), vec![7]),
        (row("e,120,1234,2020-01-01,flu,A,"), "D109", Some("age"), vec![7]),
        (row("e,1,9999,2020-01-01,flu,A,"), "D110", Some("town"), vec![7]),
        (row("e,1,,2020-01-01,flu,A,"), "D112", Some("town"), vec![7]),
        (row("e,1,1234,2020-13-01,flu,A,"), "D108", Some("day"), vec![7]),
        (row("e,1,1234,2019-01-01,flu,A,"), "D109", Some("day"), vec![7]),
        (row("e,1,1234,2020-01-01,,A,"), "D111", Some("illness"), vec![7]),
        (row(",1,1234,2020-01-01,flu,A,"), "D105", Some("id"), vec![7]),
        (row(",1,1234,2020-01-01,flu,A,\n,1,1234,2020-01-01,flu,A,"), "D105", Some("id"), vec![7, 8]),
        (row("a,1,1234,2020-01-01,flu,A,"), "D104", Some("id"), vec![2, 7]),
        (row("e,1,1234,2020-01-01,flu,A"), "D113", None, vec![7]),
        (row("e,1,1234,2020-01-01,flu,A,,"), "D113", None, vec![7]),
    ];
    for (text, code, column, places) in cases {
        let rows = places.len() as u64;
        assert_eq!(
            only_problem(read(text.as_bytes())),
            (code.into(), column.map(String::from), rows, places),
            "{code}"
        );
    }
}

/// One value in two spellings would pretend to be two.
#[test]
fn a_sensitive_value_in_another_spelling_is_refused() {
    for spelling in ["FLU", " flu", "Flu ", "flu.", "f\u{ad}lu", "\u{201c}flu\u{201d}"] {
        let text = format!("{}e,1,1234,2020-01-01,{spelling},A,\n", text());
        assert_eq!(
            only_problem(read(text.as_bytes())),
            ("D133".into(), Some("illness".into()), 0, vec![]),
            "{spelling}"
        );
    }
}

#[test]
fn a_quote_that_is_never_closed_is_refused() {
    let swallowing = "e,1,1234,2020-01-01,\"flu,A,\nf,1,1234,2020-01-01,flu,A,\n";
    for text in
        [format!("{}{swallowing}", text()), text() + "e,1,1234,2020-01-01,flu,A,\"x\nf,1,1234,2020-01-01,flu,A,y"]
    {
        for text in [text.clone(), text.replace(',', ";"), text.replace('\n', "\r\n")] {
            let error = read(text.as_bytes()).unwrap_err();
            assert_eq!(error.problems().len(), 1, "{error}");
            assert!(
                error.to_string().starts_with("D113 ragged row: a quote opened in line 7 is never closed; "),
                "{error}"
            );
            assert_eq!(draft(&Source::spool("a test", text.as_bytes()).unwrap()).unwrap_err().code(), "D113");
        }
    }
    let rows = many_rows(20_000).join("\n");
    let error = read(format!("{}\n{rows}\nz,1,1234,2020-01-01,\"flu,A,\n", ROWS[0]).as_bytes()).unwrap_err();
    // Every thousandth row has two lines.
    assert!(error.to_string().contains("opened in line 20022"), "{error}");
}

#[test]
fn quotes_that_may_have_swallowed_rows_get_a_note() {
    // Two stray quotes, both where a cell begins and ends: persons e to k look like one long note of d.
    let swallowed: String = ('e'..='k').map(|id| format!("{id},1,1234,2020-01-01,flu,A,y\n")).collect();
    let text = text().replace("ache,A,y\n", &format!("ache,A,\"y\n{swallowed}y\"\n"));
    let notes = read(text.as_bytes()).unwrap().notes;
    assert!(notes.iter().any(|note| note.contains("1 quoted cells") && note.contains("from line 6")), "{notes:?}");
    // A cell of two lines is nothing special.
    let notes = read(self::text().as_bytes()).unwrap().notes;
    assert!(!notes.iter().any(|note| note.contains("quoted cells")), "{notes:?}");
}

#[test]
fn text_after_a_closing_quote_is_refused() {
    // The quote of the first row meets that of the second: person f would vanish in a dropped column.
    let text = text() + "e,1,1234,2020-01-01,flu,A,\"x\nf,1,1234,2020-01-01,flu,A,\"y\"\n";
    let error = read(text.as_bytes()).unwrap_err();
    assert_eq!((error.code(), error.problems().len()), ("D113", 1));
    assert!(error.to_string().contains("text follows the closing quote of a cell in line 8"), "{error}");
}

#[test]
fn a_line_break_is_refused_wherever_it_would_be_published() {
    let cases = [
        ("\"e\nx\",1,1234,2020-01-01,flu,A,", "id"),
        ("e,\"1\n2\",1234,2020-01-01,flu,A,", "age"),
        ("e,1,\"1234\nx\",2020-01-01,flu,A,", "town"),
        ("e,1,1234,\"2020-01-01\n\",flu,A,", "day"),
        ("e,1,1234,2020-01-01,\"flu,A,\nf,1,1234,2020-01-01,flu\",A,", "illness"),
        ("e,1,1234,2020-01-01,\"flu\rache\",A,", "illness"),
        ("e,1,1234,2020-01-01,flu,\"A\nB\",", "ward"),
    ];
    for (row, column) in cases {
        let text = format!("{}{row}\n", text());
        assert_eq!(only_problem(read(text.as_bytes())), ("D124".into(), Some(column.into()), 1, vec![7]), "{column}");
    }
    let dropped = text() + "e,1,1234,2020-01-01,flu,A,\"one\r\ntwo\"\n";
    assert_eq!(read(dropped.as_bytes()).unwrap().rows, 5, "a dropped column may hold line breaks");
    // Ten letters: their length is the byte of a line break.
    let ten = text() + "e,1,1234,2020-01-01,flu,0123456789,\n";
    assert_eq!(read(ten.as_bytes()).unwrap().rows, 5);

    let x = || strings(&["1234", "1234"]);
    let days = strings(&["2020-01-01", "2020-01-01"]);
    let bytes = parquet(vec![
        ("id", strings(&["a\nb", "c"])),
        ("age", strings(&["1", "2"])),
        ("town", strings(&["1234\n", "1234"])),
        ("day", days),
        ("illness", strings(&["flu", "flu\nx"])),
        ("ward", strings(&["A", "A\r"])),
        ("note", x()),
    ]);
    let error = read(&bytes).unwrap_err();
    let found: Vec<(&str, Option<&str>, u64)> =
        error.problems().iter().map(|found| (found.code(), found.column.as_deref(), found.places[0])).collect();
    let wanted = [("id", 1), ("illness", 2), ("town", 1), ("ward", 2)];
    assert_eq!(found, wanted.map(|(column, row)| ("D124", Some(column), row)));
}

#[test]
fn a_missing_header_shows_no_one() {
    let headless = text().split_once('\n').unwrap().1.to_string();
    let error = read(headless.as_bytes()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "D101 missing column: the first line names no column of the policy file: the header may be missing; add \
         the column to the input; before the first release it can be taken out of the policy file instead"
    );
    let error = read(b"id,kg,kg\n").unwrap_err().to_string();
    assert!(error.contains("D101 missing column age; ") && error.contains("D102 unlisted column kg; "), "{error}");
    assert!(error.contains("D103 duplicate column kg; "), "{error}");
}

#[test]
fn headers_are_matched_with_the_policy() {
    let header = |header: &str| only_problem(read(format!("{header}\na,1,1234,2020-01-01,flu,A,,\n").as_bytes()));
    assert_eq!(header("id,age,town,day,illness,ward,note,extra"), ("D102".into(), Some("extra".into()), 0, vec![]));
    assert_eq!(header("id,age,town,day,illness,ward,note,age"), ("D103".into(), Some("age".into()), 0, vec![]));
    assert_eq!(header("id,town,day,illness,ward,note"), ("D101".into(), Some("age".into()), 0, vec![]));
    let error = read(b"id,Age,town,day,illness,ward,note\n").unwrap_err();
    assert_eq!(error.problems().iter().map(Problem::code).collect::<Vec<_>>(), ["D101", "D102"]);
    let without_note = text().replace(",note\n", "\n").replace(",x\n", "\n");
    assert_eq!(
        read(without_note.as_bytes()).unwrap_err().code(),
        "D113",
        "a dropped column may be absent, rows are checked"
    );
}

#[test]
fn a_real_number_has_its_own_problem() {
    let schema = Schema::new("id", vec![Quasi::new("x", Domain::Real { lo: 0, hi: 100, decimals: 1 })], vec![]);
    let check = |cell: &str| read_with(format!("id,x\n1,{cell}\n").as_bytes(), &schema, ReadOptions::default());
    assert_eq!(check("9.96").unwrap().table.quasi(0), [99]);
    assert_eq!(only_problem(check("9,9")).0, "D113");
    assert_eq!(only_problem(check("many")).0, "D107");
    assert_eq!(only_problem(check("10")).0, "D109");
}

#[test]
fn what_is_not_a_table_is_refused() {
    let code = |bytes: &[u8]| read(bytes).unwrap_err().code();
    assert_eq!(code(b""), "D115");
    assert_eq!(code(b"\n\n\n"), "D115");
    assert_eq!(code(b"\xef\xbb\xbf"), "D115");
    assert_eq!(code(format!("{}\n", ROWS[0]).as_bytes()), "D116");
    assert_eq!(code(b"PK\x03\x04 and so on"), "D117");
    assert_eq!(code(b"id,age\n1,\0\n"), "D117");
    assert_eq!(code(b"PAR1 but not really"), "D117");
    assert_eq!(code(b"\x1f\x8b\x08 but not really"), "D117");
    assert_eq!(code(b"id,age\n1,\x81\n"), "D114");
    assert_eq!(code("id,age\n1,Zürich\n2,Z\u{fc}rich".as_bytes()), "D101", "good UTF-8 gets as far as the header");
    assert_eq!(code(b"id,age\n1,Z\xc3\xbcrich\n2,Z\xfcrich"), "D114", "a mixture is refused");
    let error = Source::open(std::path::Path::new("no/such/file.csv")).unwrap_err();
    assert_eq!((error.code(), error.exit_code()), ("D118", 7));
}

#[test]
fn names_do_not_decide() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.parquet");
    std::fs::write(&path, text()).unwrap();
    let snapshot =
        read_snapshot(&Source::open(&path).unwrap(), &schema(), &KEY, &Values::default(), &ReadOptions::default())
            .unwrap();
    assert!(snapshot.notes.iter().any(|note| note.contains("the name says .parquet")), "{:?}", snapshot.notes);
}

#[test]
fn errors_show_no_cell_unless_asked() {
    let text = text() + "e,secret1,secret2,secret3,,A,\n";
    let error = read(text.as_bytes()).unwrap_err();
    assert_eq!(error.problems().len(), 4);
    assert!(!format!("{error} {error:?}").contains("secret"), "{error}");
    let error = read_with(text.as_bytes(), &schema(), ReadOptions { show_values: true, threads: 2 }).unwrap_err();
    assert!(error.to_string().contains("secret2") && !error.to_string().contains("secret3"), "{error}");
}

#[test]
fn sensitive_cells_are_published_by_label_and_combine() {
    let mut schema = schema();
    let labels =
        vec![("cough".to_string(), "lung".to_string()), ("flu".into(), "lung".into()), ("ache".into(), "head".into())];
    schema.sensitive[0].labels = labels;
    schema.sensitive[0].labels.sort();
    let table = read_with(text().as_bytes(), &schema, ReadOptions::default()).unwrap().table;
    assert_eq!(table.values, Values::of(["head", "lung"]));
    let unknown = text() + "e,1,1234,2020-01-01,gout,A,\n";
    assert_eq!(only_problem(read_with(unknown.as_bytes(), &schema, ReadOptions::default())).0, "D110");

    schema.dropped.clear();
    schema.sensitive.push(Sensitive { nullable: true, ..Sensitive::open("note") });
    let one_line = text().replace("two\nlines", "two words");
    let table = read_with(one_line.as_bytes(), &schema, ReadOptions::default()).unwrap().table;
    let cells: Vec<String> = table.values.iter().map(|(_, cells)| cells.join("/")).collect();
    assert_eq!(cells, ["head/y", "lung/", "lung/two words, \"quoted\"", "lung/x"]);
    let broken = read_with(text().as_bytes(), &schema, ReadOptions::default());
    assert_eq!(only_problem(broken), ("D124".into(), Some("note".into()), 1, vec![4]));
}

#[test]
fn known_values_keep_their_numbers() {
    let known = Values::of(["mumps", "flu"]);
    let source = Source::spool("a test", text().as_bytes()).unwrap();
    let table = read_snapshot(&source, &schema(), &KEY, &known, &ReadOptions::default()).unwrap().table;
    let texts: Vec<&str> = table.values.iter().map(|(_, cells)| &*cells[0]).collect();
    assert_eq!(texts, ["flu", "mumps", "ache", "cough"]);
}

/// Rows enough for several chunks.
fn many_rows(count: u32) -> Vec<String> {
    let row = |n: u32| {
        let town = ["1234", "1299", "Zürich"][n as usize % 3];
        let note =
            if n.is_multiple_of(1000) { "\"a, b\nc\"".to_string() } else { format!("some words to fill the line {n}") };
        format!("p{n},{},{town},2021-0{}-11,ill{},w{},{note}", n % 120, 1 + n % 9, n % 50, n % 7)
    };
    (0..count).map(row).collect()
}

#[test]
fn neither_row_order_nor_threads_show() {
    let mut rows = many_rows(60_000);
    let whole = |rows: &[String]| format!("{}\n{}", ROWS[0], rows.join("\n"));
    let one = read_with(whole(&rows).as_bytes(), &schema(), ReadOptions { threads: 1, show_values: false }).unwrap();
    rows.reverse();
    rows.rotate_left(12_345);
    for threads in [1, 2, 5] {
        let options = ReadOptions { threads, show_values: false };
        let other = read_with(whole(&rows).as_bytes(), &schema(), options).unwrap();
        assert!(one.table == other.table);
    }
    rows[40_000] = rows[3].clone();
    rows[50_000].push_str(",one more");
    let errors: Vec<String> = [1, 2, 5]
        .map(|threads| read_with(whole(&rows).as_bytes(), &schema(), ReadOptions { threads, show_values: false }))
        .map(|result| result.unwrap_err().to_string())
        .to_vec();
    assert!(errors[0].contains("D104") && errors[0].contains("D113"), "{}", errors[0]);
    assert!(errors.iter().all(|error| *error == errors[0]));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn random_bytes_never_panic(
        start in prop::sample::select(vec![
            &b""[..], b"PAR1", b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\xff\xfe", b"id,age,town,day,illness,ward,note\n",
        ]),
        rest in prop_oneof![prop::collection::vec(any::<u8>(), 0..200), prop::collection::vec(prop::sample::select(&b"a1,;\"\n\r\xfc"[..]), 0..80)],
    ) {
        let _ = read(&[start, &rest].concat());
    }

    #[test]
    fn damaged_parquet_never_panics(at in 0usize..2_000, byte in any::<u8>()) {
        let x = || strings(&["1234", "1299"]);
        let mut bytes = parquet(vec![("id", x()), ("age", x()), ("town", x()), ("day", x()), ("illness", x()), ("ward", x()), ("note", x())]);
        let at = at % bytes.len();
        bytes[at] = byte;
        let _ = read(&bytes);
    }
}

/// The optional folder of real tables stands beside the repository, or where `TACENDA_DATA` says.
#[test]
#[ignore = "needs the optional data folder"]
fn real_tables_are_drafted_and_read_with_their_draft() {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let data = std::env::var("TACENDA_DATA").unwrap_or(beside.into());
    for (name, rows) in [("adult.csv", 45_222), ("census.parquet", 295_243)] {
        let source = Source::open(&std::path::Path::new(&data).join(name)).unwrap();
        let draft = draft(&source).unwrap();
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("hierarchies")).unwrap();
        for (path, contents) in draft.hierarchies() {
            std::fs::write(folder.path().join(path), contents).unwrap();
        }
        let toml = draft.to_toml(name);
        println!("{toml}");
        let loaded = policy_file::parse_policy(&toml, &folder.path().join("tacenda.toml")).unwrap();
        let schema = &loaded.policy.schema;
        assert_eq!((schema.identifier.as_str(), draft.rows), ("id", rows));
        let read = read_snapshot(&source, schema, &KEY, &Values::default(), &ReadOptions::default()).unwrap();
        assert_eq!(read.table.len() as u64, rows);
    }
}

/// CPU seconds and peak memory in MB of this process so far.
fn spent() -> (f64, f64) {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks: f64 = fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap();
    (ticks / 100.0, peak.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0)
}

#[test]
#[ignore = "measures; run it by hand, alone and optimised"]
fn two_million_rows_are_read_quickly() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table.csv");
    let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
    let mut rng = crate::model::Rng::from_number(1);
    writeln!(file, "id,age,postcode,sex,day,illness").unwrap();
    let codes: Vec<String> = (0..5_000).map(|code| format!("{:05}", 10_000 + code * 7)).collect();
    for number in 0..2_000_000 {
        let (age, code, day) = (rng.below(100), &codes[rng.below(5_000) as usize], 1 + rng.below(28));
        let (sex, month, illness) = (["F", "M"][rng.below(2) as usize], 1 + rng.below(12), rng.below(300));
        writeln!(file, "P{number:07},{age},{code},{sex},2023-{month:02}-{day:02},illness-{illness}").unwrap();
    }
    file.into_inner().unwrap();
    let schema = Schema::new(
        "id",
        vec![
            Quasi::new("age", Domain::Integer { lo: 0, hi: 120 }).nullable(),
            Quasi::new("postcode", Domain::Category(Hierarchy::flat(codes).unwrap())),
            Quasi::new("sex", Domain::Category(Hierarchy::flat(["F", "M"]).unwrap())),
            Quasi::new("day", Domain::Date { lo: 18_262, hi: 20_000 }),
        ],
        vec![Sensitive::open("illness")],
    );
    let before = spent();
    let start = std::time::Instant::now();
    let looked = Source::open(&path).unwrap().look().unwrap();
    let looking = spent();
    println!("{:?}: {:.2} CPU s", looked.notes, looking.0 - before.0);
    let source = Source::open(&path).unwrap();
    let table = read_snapshot(&source, &schema, &KEY, &Values::default(), &ReadOptions::default()).unwrap().table;
    let after = spent();
    println!(
        "{} rows of {} bytes: {:.2} CPU s, {:.2} s, peak {:.0} MB (before: {:.0} MB)",
        table.len(),
        std::fs::metadata(&path).unwrap().len() / table.len() as u64,
        after.0 - looking.0,
        start.elapsed().as_secs_f64(),
        after.1,
        before.1,
    );
}
