//! What is written is what is read, and it says nothing it should not.

use super::samples::{census_shaped, every_kind, facts, of_every_kind, policy, release, releases, table_3a, write_to};
use super::*;
use crate::model::{Domain, Quasi, Schema, Sensitive, Span, Value, Values};
use crate::promise::{NamedView, Output, PolicyFile, Promised, Views, XyAnonymity};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;

/// A release with every value as its text, so that numbers do not matter.
fn spelled_out(release: &Release) -> (Vec<u32>, Regions, Vec<u32>, Vec<Vec<Row>>) {
    let row = |row: usize| {
        let public = release.public.get(row).map(|&public| release.public_texts[public as usize].clone());
        let cells = release.values.cells(release.sensitive[row]).to_vec();
        (cells, public.unwrap_or_default(), release.linked.get(row).copied())
    };
    let groups = (0..release.group_count()).map(|group| {
        let mut rows: Vec<Row> = release.group_rows(group).map(row).collect();
        rows.sort();
        rows
    });
    (release.ends.clone(), release.regions.clone(), release.counterfeits.clone(), groups.collect())
}

type Row = (Vec<Box<str>>, Vec<Box<str>>, Option<u64>);
type Regions = crate::model::Regions;

fn csv_of(release: &Release, policy: &PolicyFile) -> String {
    let mut out = Vec::new();
    csv::write_data(&Issue::new(release, policy), &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn check(release: &Release, policy: &PolicyFile, wanted: Expect) {
    wanted.assert_eq(&csv_of(release, policy));
}

#[test]
fn a_small_release_reads_like_the_design() {
    let (release, schema) = table_3a();
    check(
        &release,
        &policy(schema),
        expect![[r#"
            group_id,age,zip,disease,row_weight
            1,"[21,23)","[12,15)",bronchitis,0.5
            1,"[21,23)","[12,15)",dyspepsia,0.5
            2,"[23,26)","[21,26)",flu,1
            2,"[23,26)","[21,26)",gastritis,1
            3,"[37,44)","[26,34)",dyspepsia,0.666667
            3,"[37,44)","[26,34)",flu,0.666667
            3,"[37,44)","[26,34)",gastritis,0.666667
            4,"[41,47)","[20,31)",flu,1
            4,"[41,47)","[20,31)",gastritis,1
            5,"[54,57)","[31,35)",dyspepsia,1
            5,"[54,57)","[31,35)",gastritis,1
            6,"[60,66)","[36,45)",flu,1
            6,"[60,66)","[36,45)",gastritis,1
        "#]],
    );
}

#[test]
fn odd_texts_are_quoted_and_stay_what_they_are() {
    let schema = Schema::new(
        "",
        vec![Quasi::new("a,b", Domain::Integer { lo: 0, hi: 2 }).nullable()],
        vec![Sensitive { nullable: true, ..Sensitive::open("say \"what\"") }],
    );
    let release = release(&[
        (&[Span::exact(2)], &["", "=1+1", "a,b"], 0),
        (&[Span::new(0, 2)], &["two\nlines", "quote\"d", " x", "+1", "@x", "-1"], 0),
        (&[Span::new(0, 1)], &["plain"], 0),
    ]);
    check(
        &release,
        &policy(schema),
        expect![[r#"
            group_id,"a,b","say ""what""",row_weight
            1,,,1
            1,,"=1+1",1
            1,,"a,b",1
            2,*," x",1
            2,*,"+1",1
            2,*,-1,1
            2,*,"@x",1
            2,*,"quote""d",1
            2,*,"two
            lines",1
            3,"[0,2)",plain,1
        "#]],
    );
}

#[test]
fn linked_ids_come_first_and_weights_may_be_left_out() {
    let (mut release, schema) = table_3a();
    release.linked = (0..13).map(|row| 0xfeed_0000_0000_0000 + row).collect();
    let mut policy = policy(schema);
    policy.output = Output { row_weight: false, linked_ids: true, ..Output::default() };
    let text = csv_of(&release, &policy);
    let lines: Vec<&str> = text.lines().take(2).collect();
    assert_eq!(lines, ["record,group_id,age,zip,disease", "feed000000000000,1,\"[21,23)\",\"[12,15)\",bronchitis"]);
}

#[test]
fn rows_stand_by_text_whatever_number_a_value_has() {
    let (mut release, schema) = table_3a();
    let wanted = csv_of(&release, &policy(schema.clone()));
    let mut old: Vec<_> = release.values.iter().map(|(_, cells)| Box::from(cells)).collect();
    old.reverse();
    let count = old.len() as u32;
    release.values = Values::from_ordered(old);
    for value in &mut release.sensitive {
        *value = Value(count - 1 - value.0);
    }
    // A release stands by number, now against the texts.
    for group in 0..release.group_count() {
        let rows = release.group_rows(group);
        release.sensitive[rows].sort_unstable();
    }
    assert_eq!(csv_of(&release, &policy(schema)), wanted);
}

#[test]
fn a_folder_holds_every_file_and_every_checksum() {
    let (release, schema) = table_3a();
    let folder = tempfile::tempdir().unwrap();
    let names = write_to(folder.path(), &release, &policy(schema));
    assert_eq!(
        names,
        [
            "ward-stays-r0002.csv",
            "ward-stays-r0002.parquet",
            "ward-stays-r0002.counterfeits.csv",
            "datapackage.json",
            "README.md",
            "manifest.json",
            "SHA256SUMS"
        ]
    );
    let sums = fs::read_to_string(folder.path().join("SHA256SUMS")).unwrap();
    let listed: Vec<&str> = sums.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(listed, names[..6]);
    let counterfeits = fs::read_to_string(folder.path().join("ward-stays-r0002.counterfeits.csv")).unwrap();
    assert_eq!(counterfeits, "group_id,rows,counterfeits\n1,2,1\n2,2,0\n3,3,1\n4,2,0\n5,2,0\n6,2,0\n");
}

#[test]
fn the_page_for_the_recipient_says_promise_and_limits_word_by_word() {
    let (release, schema) = table_3a();
    let policy = policy(schema);
    let issue = Issue::new(&release, &policy);
    let withdrawn = ManifestFacts { withdrawn: Some("Release 1 was withdrawn.".into()), ..ManifestFacts::default() };
    assert!(describe::readme(&issue, &withdrawn).contains("**Withdrawn.** Release 1 was withdrawn."));
    let erratum = ManifestFacts { erratum: Some("It was not so.".into()), ..ManifestFacts::default() };
    let page = describe::readme(&issue, &erratum);
    assert!(page.contains("**Erratum.** It was not so."));
    assert!(page.contains(&policy.terms().sentence));
    assert!(policy.terms().limits.iter().all(|limit| page.contains(limit)));
    assert!(page.contains("13 rows in 6 groups, for 11 people. 2 rows are artificial."));
    assert!(page.lines().count() < 60, "one page");
}

/// Public cells are of a person, but not of the row's; a count by value knows nothing of artificial rows.
#[test]
fn the_page_for_the_recipient_says_what_is_shuffled_and_what_is_an_estimate() {
    let (release, policy) = samples::of_every_kind();
    let page = describe::readme(&Issue::new(&release, &policy), &ManifestFacts::default());
    let shuffled = "`ward \"A\"`: published as recorded, but shuffled within each group.";
    assert!(page.contains(shuffled) && page.contains("An artificial row repeats the cells"), "{page}");
    assert!(page.contains("- `diagnosis`, `outcome`: published as recorded. Empty"), "{page}");
    assert!(page.contains("\nCounts by the values of `diagnosis`, `outcome` or `ward \"A\"` are estimates"), "{page}");
    assert!(page.contains("Counts by `ward \"A\"` together with `diagnosis`, `outcome` are estimates"), "{page}");
    let without_weight = PolicyFile { output: Output { row_weight: false, ..policy.output.clone() }, ..policy.clone() };
    assert!(
        describe::readme(&Issue::new(&release, &without_weight), &ManifestFacts::default())
            .contains("are estimates: artificial rows")
    );
    let groups = release.counterfeits.len();
    let plain = Release { counterfeits: vec![0; groups], ..release };
    let page = describe::readme(&Issue::new(&plain, &policy), &ManifestFacts::default());
    assert!(page.contains("counts by the values of `diagnosis`, `outcome` are exact for the people of this release"));
    assert!(!page.contains("artificial rows have values") && !page.contains("An artificial row repeats"), "{page}");
}

/// From three views on; a release of two is as it was.
#[test]
fn the_page_for_the_recipient_says_how_three_views_were_judged() {
    let (release, schema) = table_3a();
    let named = |name: &str| NamedView { name: name.into(), ..NamedView::default() };
    let page = |names: &[&str]| {
        let promise = XyAnonymity { x: vec!["age".into()], y: vec!["zip".into()], k: 2 };
        let views = Views { list: names.iter().map(|name| named(name)).collect(), ..Views::new(promise) };
        let judged = views.judged();
        let policy = PolicyFile { promise: Promised::Views(views), ..policy(schema.clone()) };
        (describe::readme(&Issue::new(&release, &policy), &ManifestFacts::default()), judged)
    };
    let (two, nothing) = page(&["one", "two"]);
    assert!(nothing.is_none() && !two.contains("at once"), "{two}");
    let (three, judged) = page(&["one", "two", "three"]);
    assert!(three.contains(&judged.unwrap()), "{three}");
}

#[test]
fn the_manifest_says_what_can_be_computed_and_where_nothing() {
    let (release, schema) = table_3a();
    let folder = tempfile::tempdir().unwrap();
    write_to(folder.path(), &release, &policy(schema));
    let text = fs::read_to_string(folder.path().join("manifest.json")).unwrap();
    assert!(!text.contains(folder.path().to_str().unwrap()) && !text.contains("\"name\": \"/"));
    let manifest: serde_json::Value = serde_json::from_str(&text).unwrap();
    expect![[r#"{"counterfeits":2,"group_size":{"max":3,"mean":2.166667,"min":2},"groups":6,"people":11,"rows":13,"value_sets":4}"#]]
        .assert_eq(&manifest["numbers"].to_string());
    assert_eq!(manifest["previous"]["number"], 1);
    assert_eq!(manifest["loss"]["discernability"], 29);
    assert_eq!(manifest["columns"][0]["hi"], 120);
    assert!(manifest["columns"].as_array().unwrap().iter().all(|column| column["name"] != "name"), "no identifier");
}

#[test]
fn the_same_release_gives_the_same_bytes() {
    let (release, schema) = table_3a();
    let policy = policy(schema);
    let bytes = |threads: usize| -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let names = pool.install(|| write_to(folder.path(), &release, &policy));
        names.into_iter().map(|name| (name.clone(), fs::read(folder.path().join(name)).unwrap())).collect()
    };
    assert_eq!(bytes(1), bytes(3));
}

#[test]
fn a_changed_byte_is_found() {
    let (release, schema) = table_3a();
    let policy = policy(schema);
    let folder = tempfile::tempdir().unwrap();
    for name in write_to(folder.path(), &release, &policy) {
        let path = folder.path().join(&name);
        let whole = fs::read(&path).unwrap();
        let mut changed = whole.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, changed).unwrap();
        let error = read(folder.path()).expect_err(&name);
        assert_eq!(error.exit_code(), 5, "{name}: {error}");
        fs::remove_file(&path).unwrap();
        let wanted = if [MANIFEST, SUMS].contains(&&name[..]) { "F402" } else { "F407" };
        assert_eq!(read(folder.path()).expect_err(&name).code(), wanted);
        fs::write(&path, whole).unwrap();
    }
    read(folder.path()).unwrap();
}

#[test]
fn a_disk_that_fails_is_an_error_that_names_the_file() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if bytes.len() > self.0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0 -= bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    impl Target for Full {
        fn finish(self: Box<Self>) -> io::Result<()> {
            Ok(())
        }
    }
    let (release, schema) = table_3a();
    let policy = policy(schema);
    for full in ["ward-stays-r0002.csv", "ward-stays-r0002.parquet", "manifest.json", "SHA256SUMS"] {
        let error = write(&Issue::new(&release, &policy), &facts(), &mut |name| {
            Ok(Box::new(Full(if name == full { 100 } else { usize::MAX })))
        });
        let error = error.unwrap_err();
        assert!(
            matches!(&error, FolderError::Write { file, source } if file == full && source.kind() == io::ErrorKind::StorageFull),
            "{error}"
        );
        assert_eq!((error.code(), error.exit_code()), ("F401", 7));
    }
}

#[test]
fn a_fault_is_named_by_file_line_and_column() {
    let (release, schema) = table_3a();
    let mut policy = policy(schema);
    policy.output.formats = vec![Format::Csv];
    let check = |from: &str, to: &str, wanted: &str| {
        let folder = tempfile::tempdir().unwrap();
        write_to(folder.path(), &release, &policy);
        let path = folder.path().join("ward-stays-r0002.csv");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from));
        fs::write(&path, text.replacen(from, to, 1)).unwrap();
        seal_again(folder.path());
        let error = read(folder.path()).expect_err(wanted).to_string();
        assert!(error.starts_with(wanted), "{error}");
    };
    check("[54,57)", "[54,59", "ward-stays-r0002.csv, line 11, column age: not an interval");
    check(
        "\"[41,47)\",\"[20,31)\",g",
        "\"[41,48)\",\"[20,31)\",g",
        "ward-stays-r0002.csv, line 10, column age: differs",
    );
    check("\n6,", "\n7,", "ward-stays-r0002.csv, line 13, column group_id: groups are not numbered");
    check("bronchitis,0.5", "bronchitis,0.6", "ward-stays-r0002.csv, line 3, column row_weight: differs");
    check("\n3,\"[37,44)\",\"[26,34)\",flu,0.666667", "", "ward-stays-r0002.csv, line 6, column group_id: this group");
    check("group_id,age", "group_id,old", "ward-stays-r0002.csv: its columns");
    check("flu,1", "flu", "ward-stays-r0002.csv: line 4 has 4 cells");
}

/// Makes the checksums fit again, as a forger would.
fn seal_again(folder: &std::path::Path) {
    use sha2::Digest;
    let path = folder.join("SHA256SUMS");
    let mut text = String::new();
    for line in fs::read_to_string(&path).unwrap().lines() {
        let name = line.split_once("  ").unwrap().1;
        let sum = sha2::Sha256::digest(fs::read(folder.join(name)).unwrap());
        text.push_str(&format!("{sum:x}  {name}\n"));
    }
    fs::write(path, text).unwrap();
}

#[test]
fn codes_stand_in_order() {
    assert!(FolderError::PAGES.is_sorted_by(|one, other| one.0 < other.0));
}

/// For `pandas_reads_release.py`: `TACENDA_SAMPLE=folder cargo test … -- --ignored sample_for_pandas`.
/// Columns are encoded some rows at a time: pages end where they end without that.
#[test]
fn a_parquet_file_does_not_depend_on_how_many_rows_are_encoded_at_a_time() {
    let (one, policy) = of_every_kind();
    let mut release = one.clone();
    for _ in 0..500 {
        let base = release.sensitive.len() as u32;
        release.ends.extend(one.ends.iter().map(|end| base + end));
        one.regions.iter().for_each(|region| release.regions.push(region));
        release.counterfeits.extend_from_slice(&one.counterfeits);
        release.sensitive.extend_from_slice(&one.sensitive);
        release.public.extend_from_slice(&one.public);
    }
    release.linked = (0..release.sensitive.len() as u64).map(|row| row.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
    assert!(release.row_count() > 66_000, "ids fill more than a dictionary page, and columns more than a data page");
    let bytes = |piece: usize| {
        let mut out = Vec::new();
        parquet::write_parquet(&Issue::new(&release, &policy), piece, &mut out).unwrap();
        out
    };
    let whole = bytes(usize::MAX);
    for piece in [1 << 10, 5 << 10, parquet::PIECE] {
        assert!(bytes(piece) == whole, "pieces of {piece} rows");
    }
}

#[test]
#[ignore = "writes where TACENDA_SAMPLE says"]
fn sample_for_pandas() {
    let folder = std::env::var_os("TACENDA_SAMPLE").expect("TACENDA_SAMPLE names a folder");
    let (release, policy) = of_every_kind();
    fs::create_dir_all(&folder).unwrap();
    write_to(folder.as_ref(), &release, &policy);
    assert_eq!(spelled_out(&read(folder.as_ref()).unwrap().release), spelled_out(&release));
}

/// `cargo test --release … -- --ignored --nocapture how_fast`.
#[test]
#[ignore = "a measurement"]
fn how_fast_a_release_is_written() {
    let rows: u32 = std::env::var("TACENDA_ROWS").map_or(5_000_000, |rows| rows.parse().unwrap());
    let (release, policy) = census_shaped(rows);
    let folder = tempfile::tempdir().unwrap();
    let say = |what: &str, start: std::time::Instant| {
        let seconds = start.elapsed().as_secs_f64();
        println!("{what}: {seconds:.2} s, {:.1} M rows/s", f64::from(rows) / seconds / 1e6);
    };
    let create = |name: &str| Digesting::new(Box::new(fs::File::create(folder.path().join(name)).unwrap()));
    let start = std::time::Instant::now();
    csv::write_data(&Issue::new(&release, &policy), &mut create("x.csv")).unwrap();
    say("csv", start);
    let start = std::time::Instant::now();
    parquet::write_data(&Issue::new(&release, &policy), &mut create("x.parquet")).unwrap();
    say("parquet", start);
    for name in ["x.csv", "x.parquet"] {
        println!("{name}: {} MB", fs::metadata(folder.path().join(name)).unwrap().len() / 1_000_000);
    }
    let start = std::time::Instant::now();
    write_to(folder.path(), &release, &policy);
    say("whole folder", start);
    let start = std::time::Instant::now();
    let back = read(folder.path()).unwrap();
    say("read back", start);
    assert_eq!(back.release.row_count(), rows as usize);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// science E1-6.
    #[test]
    fn what_is_written_is_what_is_read((release, policy) in releases(every_kind())) {
        let folder = tempfile::tempdir().unwrap();
        write_to(folder.path(), &release, &policy);
        let back = read(folder.path()).unwrap();
        prop_assert_eq!(spelled_out(&back.release), spelled_out(&release));
        prop_assert_eq!((back.release.number, &back.release.label), (release.number, &release.label));
        prop_assert_eq!(&back.schema, &policy.schema);
        prop_assert_eq!(&back.promise, &policy.first_promise());
        prop_assert!((0..back.release.group_count()).all(|group| back.release.group_values(group).is_sorted()));
        // A second release shares the numbers of the first.
        let mut values = release.values.clone();
        let again = read_with(folder.path(), &mut values).unwrap();
        prop_assert_eq!(&again.release.sensitive, &release.sensitive);
        prop_assert_eq!(&again.release.values, &release.values);
    }
}
