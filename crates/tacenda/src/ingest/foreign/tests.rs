//! Reading releases of anyone: every notation, and what cannot be read.

use super::*;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use std::io::Write;

fn file(label: &str, bytes: &[u8]) -> File {
    let source = Source::spool(&format!("{label}.csv"), bytes).unwrap();
    File { source, label: label.into(), counterfeits: None }
}

fn source(text: &str) -> Source {
    Source::spool("truth.csv", text.as_bytes()).unwrap()
}

fn ask(quasi: &[&str], sensitive: &[&str]) -> Ask {
    let own = |names: &[&str]| names.iter().map(|name| name.to_string()).collect();
    Ask { quasi: own(quasi), sensitive: own(sensitive), ..Ask::default() }
}

fn wished(mut ask: Ask, column: &str, wish: Wish) -> Ask {
    ask.wishes.insert(column.into(), wish);
    ask
}

fn read_texts(texts: &[&str], ask: &Ask) -> Result<Foreign, IngestError> {
    let files: Vec<File> =
        texts.iter().enumerate().map(|(at, text)| file(&format!("r{}", at + 1), text.as_bytes())).collect();
    read(&files, &[], ask)
}

/// The regions of a release as we print them, one word per group with its size.
fn regions(foreign: &Foreign, release: usize) -> String {
    let release = &foreign.releases[release];
    let group = |group: usize| {
        let mut out = String::new();
        for (quasi, &span) in foreign.schema.quasi.iter().zip(release.region(group)) {
            quasi.print(span, &mut out);
            out.push('|');
        }
        format!("{out}{}", release.group_rows(group).len())
    };
    (0..release.group_count()).map(group).collect::<Vec<String>>().join(" ")
}

/// A column of one file, read with others beside it.
fn column(cells: &[&str], wish: Wish) -> Result<String, IngestError> {
    read_column(cells, wish).map(|foreign| regions(&foreign, 0))
}

fn read_column(cells: &[&str], wish: Wish) -> Result<Foreign, IngestError> {
    let rows: String = cells.iter().map(|cell| format!("\"{}\",x\n", cell.replace('"', "\"\""))).collect();
    let ask = wished(ask(&["q"], &["s"]), "q", wish);
    read_texts(&[&format!("q,s\n{rows}")], &ask)
}

fn auto(cells: &[&str]) -> String {
    column(cells, Wish::default()).unwrap()
}

fn refused(cells: &[&str]) -> (String, Vec<u64>) {
    let error = column(cells, Wish::default()).unwrap_err();
    let problem = &error.problems()[0];
    assert_eq!(problem.column.as_deref(), Some("q"));
    for cell in cells.iter().filter(|cell| cell.len() > 2) {
        assert!(!error.to_string().contains(cell), "no cell in an error: {error}");
    }
    (error.code().to_string(), problem.places.clone())
}

/// Two releases of ages and towns; `range` writes an age range, both ends included.
fn series(range: &dyn Fn(i64, i64) -> String, delimiter: &str, back: bool) -> Vec<String> {
    let tables: [&[(i64, i64, &str, &str)]; 2] = [
        &[
            (20, 29, "a", "flu"),
            (20, 29, "a", "hiv"),
            (30, 44, "*", "flu"),
            (30, 44, "*", "cold"),
            (30, 44, "*", "cold"),
        ],
        &[(25, 34, "{a, b}", "flu"), (25, 34, "{a, b}", "cold"), (35, 44, "c", "cold"), (35, 44, "c", "hiv")],
    ];
    let quoted = |text: &str| format!("\"{text}\"");
    let table = |rows: &&[(i64, i64, &str, &str)]| {
        let mut lines: Vec<String> = rows
            .iter()
            .map(|(lo, hi, town, disease)| {
                [quoted(&range(*lo, *hi)), quoted(town), disease.to_string()].join(delimiter)
            })
            .collect();
        if back {
            lines.reverse();
        }
        format!("{}\n{}\n", ["age", "town", "disease"].join(delimiter), lines.join("\n"))
    };
    tables.iter().map(table).collect()
}

#[test]
fn every_notation_gives_the_same_releases() {
    let ranges: &[&dyn Fn(i64, i64) -> String] = &[
        &|lo, hi| format!("[{lo},{})", hi + 1),
        &|lo, hi| format!("[{lo}, {}[", hi + 1),
        &|lo, hi| format!("]{}, {hi}]", lo - 1),
        &|lo, hi| format!("({},{hi}]", lo - 1),
        &|lo, hi| format!("({}, {hi}]", lo - 1),
        &|lo, hi| format!("({}.0, {hi}.0]", lo - 1),
        &|lo, hi| format!("[{lo},{hi}]"),
        &|lo, hi| format!("({},{})", lo - 1, hi + 1),
        &|lo, hi| format!("[{lo}-{hi}]"),
        &|lo, hi| format!("{lo}-{hi}"),
        &|lo, hi| format!("{lo} - {hi}"),
        &|lo, hi| format!(" {lo}–{hi} "),
        &|lo, hi| format!("{lo} − {hi}"),
        &|lo, hi| format!("{lo}‑{hi}"),
        &|lo, hi| format!("{lo}-<{}", hi + 1),
        &|lo, hi| format!("{lo} to {hi}"),
        &|lo, hi| format!("From {lo} To {hi}"),
        &|lo, hi| format!("{lo}..{hi}"),
        &|lo, hi| format!("{lo} .. {hi}"),
        &|lo, hi| format!("[{lo};{hi}]"),
        // The ends of the column are open, and the domain says where they are.
        &|lo, hi| if hi == 44 { format!("{lo}+") } else { format!("{lo}-{hi}") },
        &|lo, hi| if hi == 44 { format!("{lo}-") } else { format!("{lo}-{hi}") },
        &|lo, hi| if hi == 44 { format!("{lo} and over") } else { format!("{lo} to {hi}") },
        &|lo, hi| if lo == 20 { format!("<{}", hi + 1) } else { format!("{lo}-{hi}") },
        &|lo, hi| if lo == 20 { format!("≤{hi}") } else { format!("{lo}-{hi}") },
        &|lo, hi| if lo == 20 { format!("under {}", hi + 1) } else { format!("{lo} to {hi}") },
        &|lo, hi| if lo == 20 { format!("{hi} or less") } else { format!("{lo} to {hi}") },
    ];
    let domain = Wish { domain: Some(("20".into(), "45".into())), ..Wish::default() };
    let ask = wished(ask(&["age", "town"], &["disease"]), "age", domain);
    let texts = |range: usize, delimiter: &str, back: bool| series(ranges[range], delimiter, back);
    let wanted = {
        let texts = texts(0, ",", false);
        read_texts(&[&texts[0], &texts[1]], &ask).unwrap()
    };
    assert_eq!(regions(&wanted, 0), "[20,30)|a|2 [30,45)|*|3");
    assert_eq!(regions(&wanted, 1), "[25,35)|{a, b}|2 [35,45)|c|2");
    for (range, delimiter, back) in
        (0..ranges.len()).flat_map(|range| [(range, ",", false), (range, ";", true), (range, "\t", false)])
    {
        let texts = texts(range, delimiter, back);
        let found = read_texts(&[&texts[0], &texts[1]], &ask).unwrap();
        assert_eq!((&found.releases, &found.schema), (&wanted.releases, &wanted.schema), "notation {range}");
    }
}

/// The same in the thousands, where commas may stand between them.
#[test]
fn commas_between_thousands_change_nothing_where_all_have_them() {
    let comma = |number: i64| match number {
        ..1000 => number.to_string(),
        _ => format!("{},{:03}", number / 1000, number % 1000),
    };
    let ask = ask(&["age", "town"], &["disease"]);
    let read = |range: &dyn Fn(i64, i64) -> String| {
        let texts = series(&|lo, hi| range(lo * 100, hi * 100), ";", false);
        read_texts(&[&texts[0], &texts[1]], &ask).unwrap()
    };
    let plain = read(&|lo, hi| format!("{lo}-{hi}"));
    let forms: &[&dyn Fn(i64, i64) -> String] = &[
        &|lo, hi| format!("{}-{}", comma(lo), comma(hi)),
        &|lo, hi| format!("[{}, {}]", comma(lo), comma(hi)),
        &|lo, hi| format!("[{}-{}]", comma(lo), comma(hi)),
        &|lo, hi| format!("{} to {}", comma(lo), comma(hi)),
        &|lo, hi| format!("{}..{}.00", comma(lo), comma(hi)),
    ];
    for (at, form) in forms.iter().enumerate() {
        let found = read(form);
        assert_eq!((&found.releases, &found.schema), (&plain.releases, &plain.schema), "form {at}");
        assert!(
            found.columns[0].notations.contains(&("of these with commas between thousands".into(), 9)),
            "it is said"
        );
    }
}

/// A small file can hold more rows than any memory: they are counted before one is kept.
#[test]
fn rows_that_do_not_fit_are_refused_before_they_are_kept() {
    let text = format!("age,disease\n{}", "20,flu\n".repeat(100_000));
    let packed = zstd::encode_all(text.as_bytes(), 1).unwrap();
    assert!(packed.len() < 1000);
    let mut tight = file("r1", &packed);
    tight.source = tight.source.at_most(Some(90_000));
    let error = read(&[tight], &[], &ask(&["age"], &["disease"])).unwrap_err();
    assert_eq!(
        (error.code(), error.exit_code(), error.to_string().contains("100001 rows")),
        ("D141", 3, true),
        "{error}"
    );
    // Rows that are none are counted, and five places of them are kept.
    let error =
        read_texts(&[&format!("age,disease\n{}", "20\n".repeat(1000))], &ask(&["age"], &["disease"])).unwrap_err();
    let [problem] = error.problems() else { panic!("{error}") };
    assert_eq!((problem.rows, problem.places.len()), (1000, 5));
}

#[test]
fn compressed_files_are_the_same_releases() {
    let texts = series(&|lo, hi| format!("{lo}-{hi}"), ",", false);
    let ask = ask(&["age", "town"], &["disease"]);
    let plain = read_texts(&[&texts[0]], &ask).unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(texts[0].as_bytes()).unwrap();
    let gzip = read(&[file("r1", &packed.finish().unwrap())], &[], &ask).unwrap();
    let zstd = read(&[file("r1", &zstd::encode_all(texts[0].as_bytes(), 1).unwrap())], &[], &ask).unwrap();
    assert_eq!((&gzip.releases, &zstd.releases), (&plain.releases, &plain.releases));
}

#[test]
fn numbers_and_dates_are_read_as_written() {
    assert_eq!(auto(&["(20,30]", "31"]), "[21,31)|1 [31,32)|1");
    assert_eq!(auto(&["-5--3", "-2-7"]), "[-5,-2)|1 [-2,8)|1");
    assert_eq!(auto(&[">=65", "<=17", "18-64"]), "[17,18)|1 [18,65)|1 [65,66)|1");
    assert_eq!(auto(&[">65", "<17", "17-65"]), "[16,17)|1 [17,66)|1 [66,67)|1");
    assert_eq!(auto(&["85+", "≤ 20", "21-84"]), "[20,21)|1 [21,85)|1 [85,86)|1");
    assert_eq!(auto(&["(-inf, 20.0]", "(20.0, inf]"]), "[20,21)|1 [21,22)|1");
    assert_eq!(auto(&["(19.999, 20.5]", "(20.5, 30.0]"]), "[20,20.501)|1 [20.501,30.001)|1");
    assert_eq!(
        auto(&["[2020-01-01, 2020-02-01)", "2020-02-01"]),
        "[2020-01-01,2020-02-01)|1 [2020-02-01,2020-02-02)|1"
    );
    assert_eq!(auto(&["2020-01-01 - 2020-01-31", "*"]), "*|1 [2020-01-01,2020-02-01)|1");
    assert_eq!(
        auto(&["(2020-01-01 00:00:00, 2020-01-03]", "2020-01-05"]),
        "[2020-01-02,2020-01-04)|1 [2020-01-05,2020-01-06)|1"
    );
    assert_eq!(auto(&["7", "*", "", "9"]), "[7,8)|1 *|1 [9,10)|1 |1");
    assert_eq!(auto(&["[34]", "34-34"]), "[34,35)|2");
    let integer = Wish { notation: Notation::Integer, ..Wish::default() };
    assert_eq!(column(&["(19.999, 30.0]", "(30.0, 31.0]"], integer.clone()).unwrap(), "[20,31)|1 [31,32)|1");
    // A point between two whole numbers is none of them.
    assert_eq!(column(&["31.0", "30.5"], integer).unwrap_err().code(), "D125");
    let domain = Wish { domain: Some(("0".into(), "120".into())), ..Wish::default() };
    assert_eq!(column(&[">=65", "0-200", "*"], domain).unwrap(), "*|2 [65,120)|1");
}

#[test]
fn labels_prefixes_and_sets_are_read_as_written() {
    assert_eq!(auto(&["47302", "4730*", "47***", "47***", "48301"]), "47302|1 4730*|1 47***|2 48301|1");
    assert_eq!(auto(&["47*", "48*", "*"]), "47*|1 *|1 48*|1");
    assert_eq!(auto(&["04711", "0471*", "05"]), "0471*|1 04711|1 05|1");
    assert_eq!(auto(&["04711", "0471*"]), "*|1 04711|1", "the whole hull is any value");
    assert_eq!(auto(&["{a, b}", "{b,c}", "{\"d,e\", c}"]), "{a,b}|1 {b,c}|1 {c,\"d,e\"}|1");
    assert_eq!(auto(&["A+", "0-", "(unknown)", ""]), "(unknown)|1 *|1 0-|1 A+|1");
    assert_eq!(auto(&["2020-01", "2020-12"]), "2020-01|1 2020-12|1");
    let exact = Wish { notation: Notation::Exact, ..Wish::default() };
    assert_eq!(column(&["<=50K", ">50K", "20-30"], exact).unwrap(), "20-30|1 <=50K|1 >50K|1");
    let any = Wish { any: vec!["NA".into()], ..Wish::default() };
    assert_eq!(column(&["20-30", "NA"], any).unwrap(), "*|1 [20,31)|1");
}

/// What one cell cannot say, its column does; or else it is a label or an error, never a guess.
#[test]
fn thousands_and_open_dashes_are_read_where_the_whole_column_agrees() {
    assert_eq!(auto(&["0-17", "18-64", "65-"]), "[0,18)|1 [18,65)|1 [65,66)|1");
    assert_eq!(auto(&["0-64", "65", "65-"]), "[0,65)|1 [65,66)|1 [65,67)|1", "65 and more is not 65");
    assert_eq!(refused(&["64", "65", "65-"]), ("D125".into(), vec![4]), "65 and more, or a slip of the pen");
    assert_eq!(refused(&["20-", "21-39", "40+"]), ("D125".into(), vec![2]), "20 and more, or 20 and less");
    assert_eq!(refused(&["20-", "<= 5"]), ("D125".into(), vec![2]));
    assert_eq!(auto(&["A+", "0-", "B-"]), "0-|1 A+|1 B-|1", "blood groups");
    assert_eq!(refused(&["0-", "5-"]), ("D125".into(), vec![2, 3]), "ranges or labels");
    assert_eq!(refused(&["20-", "-20", "21-30"]), ("D125".into(), vec![3]), "minus twenty, or up to twenty");
    assert_eq!(refused(&["20-", "30-39", "30-39", "old"]), ("D125".into(), vec![5]));
    let said = |name: &str| Wish { notation: Notation::named(name).unwrap(), ..Wish::default() };
    assert_eq!(column(&["20-", "-20", "21-30"], said("integer")).unwrap(), "[-20,-19)|1 [20,31)|1 [21,31)|1");
    assert_eq!(refused(&["-20", "21-39", "40+"]), ("D125".into(), vec![2]), "minus twenty, or up to twenty");
    assert_eq!(refused(&["-20", "40 and over"]), ("D125".into(), vec![2]));
    assert_eq!(column(&["-20", "40+"], said("integer")).unwrap(), "[-20,-19)|1 [40,41)|1");
    assert_eq!(auto(&["-20", "-30--21", "5+"]), "[-30,-20)|1 [-20,-19)|1 [5,6)|1", "there are numbers below zero");
    assert_eq!(auto(&["-20", "[0,10)"]), "[-20,-19)|1 [0,10)|1");
    assert_eq!(auto(&["-20", "5"]), "[-20,-19)|1 [5,6)|1");
    assert_eq!(column(&["64", "65", "65-"], said("integer")).unwrap(), "[64,65)|1 [65,66)|1 [65,67)|1");
    assert_eq!(column(&["0-", "5-"], said("interval")).unwrap(), "*|1 [5,6)|1");
    assert_eq!(column(&["0-", "5-"], said("exact")).unwrap(), "0-|1 5-|1");
    assert_eq!(column(&["0-", "5-"], said("set")).unwrap(), "0-|1 5-|1");

    assert_eq!(auto(&["500-999", "1,000-1,999", "2,000-"]), "[500,1000)|1 [1000,2000)|1 [2000,2001)|1");
    assert_eq!(auto(&["1,000,000", ">= 2,000,000"]), "[1000000,1000001)|1 [2000000,2000001)|1");
    // Not throughout; a comma that may stand between two ends; one before decimals.
    assert_eq!(refused(&["1,000-2,000", "3000-4000"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["1,000-2000", "500-999"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["1,000-2,000", "[1,200]"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["1,000-2,000", "1,5-2,5"]), ("D125".into(), vec![3]));
    assert_eq!(refused(&["1,5-2,5", "a", "1,000-2,000"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["[1,000,2,000)"]), ("D125".into(), vec![2]));
    assert_eq!(auto(&["1,000", "2000", "a"]), "2000|1 1,000|1 a|1", "labels, as any text");
    assert_eq!(auto(&["1,000", "2000"]), "2000|1 1,000|1");
    assert_eq!(refused(&["{1,000, 2,000}", "{3, 4}"]), ("D125".into(), vec![2]), "two members, or four");
    assert_eq!(refused(&["{100,200}"]), ("D125".into(), vec![2]));
    assert_eq!(auto(&["{100,200}", "{7,200}", "{7,8}"]), "{7,8}|1 {200,7}|1 {100,200}|1", "commas divide members");
    assert_eq!(auto(&["{100,200}", "1000"]), "{100, 200}|1 1000|1", "thousands have no commas");
    assert_eq!(auto(&["{\"1,000\", \"2,000\"}", "b"]), "{1,000, 2,000}|1 b|1", "quoted");
    assert_eq!(column(&["{100,200}", "7"], said("set")).unwrap(), "7|1 {100, 200}|1");
    let mut ask = ask(&["q"], &["s"]);
    ask.identifier = Some("id".into());
    let release = file("r1", b"q;s\n1,000-1,999;x\n");
    let read = read(&[release], &[source("q;s;id\n1,250;x;1\n1600;x;2\n")], &ask).unwrap();
    assert_eq!(read.truth[0].len(), 2, "the truth may be written either way");
}

/// Words and dots that do not say whether an end belongs to a range are no range.
#[test]
fn what_words_leave_open_is_refused() {
    assert_eq!(auto(&["under 18", "18 to 64", "over 64"]), "[17,18)|1 [18,65)|1 [65,66)|1");
    assert_eq!(auto(&["at most 17", "at least 18", "30 and under", "40"]), "[17,18)|1 [17,31)|1 [18,41)|1 [40,41)|1");
    for unclear in ["between 20 and 29", "20...29", "20…29", "29..20", "29 to 20"] {
        assert_eq!(refused(&["20-30", unclear]), ("D125".into(), vec![3]), "{unclear}");
        assert_eq!(refused(&[unclear]), ("D125".into(), vec![2]), "{unclear}");
    }
    assert_eq!(refused(&["20-30", "up to 40"]), ("D125".into(), vec![3]));
    assert_eq!(auto(&["New to town", "next to 5 others"]), "New to town|1 next to 5 others|1");
}

/// Ranges as people read them that no notation reads: as labels they would seem to have nothing in common.
#[test]
fn a_range_with_a_unit_or_zeros_in_front_is_not_a_label() {
    let unclear = [
        "20 to 29 years",
        "20-29 years",
        "20 years to 29 years",
        "85 years and over",
        "under 5 years old",
        "$10,000-$20,000",
        "$10-20",
        "€ 10 – € 20",
        "02138-02145",
        "10%-20%",
    ];
    for text in unclear {
        assert_eq!(refused(&[text]), ("D125".into(), vec![2]), "{text}");
        let as_it_is = column(&[text], Wish { notation: Notation::Exact, ..Wish::default() });
        assert_eq!(as_it_is.unwrap(), format!("{text}|1"));
    }
    for label in [
        "7th-8th",
        "A00-B99",
        "24-hour",
        "New to town",
        "12-34-56",
        "3 rooms",
        "9 to 5 with a long break",
        "3-4 W Main St",
    ] {
        assert_eq!(auto(&[label]), format!("{label}|1"));
    }
}

/// A cell that says nothing may have been left out, or never recorded.
#[test]
fn cells_that_say_nothing_are_any_value_or_one_of_their_own_and_that_is_said() {
    let meant = |missing: Missing| Wish { missing, ..Wish::default() };
    for nothing in ["", "NA", "NULL", "nan", "?", "<NA>", " N/A "] {
        let cells = ["20-30", "40", nothing];
        assert_eq!(auto(&cells), "[20,31)|1 *|1 [40,41)|1", "{nothing}: left out");
        assert_eq!(column(&cells, meant(Missing::Value)).unwrap(), "[20,31)|1 [40,41)|1 |1", "{nothing}: not recorded");
        assert_eq!(auto(&["a", "b", nothing]), "a|1 *|1 b|1", "{nothing}");
        assert_eq!(column(&["a", "b", nothing], meant(Missing::Value)).unwrap(), "a|1 b|1 |1", "{nothing}");
        // Where a star stands for what was suppressed, an empty cell means something else.
        assert_eq!(auto(&["a", "b", "*", nothing]), "a|1 *|1 b|1 |1", "{nothing}");
        assert_eq!(column(&["a", "b", "*", nothing], meant(Missing::Any)).unwrap(), "a|1 *|2 b|1", "{nothing}");
    }
    let exact = Wish { notation: Notation::Exact, ..Wish::default() };
    assert_eq!(column(&["NA", "ZA"], exact).unwrap(), "NA|1 ZA|1", "Namibia");

    let text = "q,s\n20,x\nNA,x\n,x\n";
    let said = |ask: &Ask| read_texts(&[text], ask).unwrap();
    let read = said(&ask(&["q"], &["s"]));
    let assumed = "In column q 2 cells say nothing (empty, NA, NULL, ?), which is read as left out: any value.";
    assert_eq!((&read.assumptions[..], read.columns[0].missing), (&[assumed.to_string()][..], Some((2, true))));
    assert!(read.columns[0].notations.contains(&("missing as any value".into(), 2)));
    let read = said(&wished(ask(&["q"], &["s"]), "q", meant(Missing::Value)));
    assert!(read.assumptions[0].contains("a value of its own"), "{:?}", read.assumptions);
    let other = "Column q of the files: not examined, as if it told nothing about anyone.";
    assert_eq!(said(&ask(&["s"], &[])).assumptions, [other], "nothing is said of cells where nothing is missing");
}

/// Where the private table has cells that say nothing, those of its release say the same.
#[test]
fn the_truth_tells_what_an_empty_cell_means() {
    let mut ask = ask(&["q"], &["s"]);
    ask.identifier = Some("id".into());
    let told = |truth: &str| {
        let read = read(&[file("r1", b"q,s\n20-30,x\nNA,x\n")], &[source(truth)], &ask).unwrap();
        let covered = (0..2).filter(|&row| read.releases[0].region(1)[0].contains(read.truth[0].quasi(0)[row])).count();
        (regions(&read, 0), covered)
    };
    assert_eq!(told("q,s,id\n20,x,1\n44,x,2\n"), ("[20,31)|1 *|1".into(), 2), "it may be either of them");
    let told = told("q,s,id\n20,x,1\nnull,x,2\n");
    assert_eq!(told, ("[20,31)|1 |1".into(), 1), "it is the one whose value is not recorded");
}

/// `*` is any value, and not the one value there happens to be.
#[test]
fn what_is_open_is_never_taken_for_all_there_is() {
    assert_eq!(auto(&["F", "*"]), "F|1 *|1");
    let release = |label: &str| format!("q,s\n{label},x\n{label},y\n");
    let read = read_texts(&[&release("F"), &release("*")], &ask(&["q"], &["s"])).unwrap();
    assert_eq!((regions(&read, 0), regions(&read, 1)), ("F|2".into(), "*|2".into()));
    assert_eq!(auto(&["{a, b}", "*"]), "{a, b}|1 *|1");
    assert_eq!(auto(&["47*", "473*", "*"]), "47*|1 *|1 473*|1");
    assert_eq!(auto(&["any other value", "*"]), "any other value|1 *|1");
    let exact = Wish { notation: Notation::Exact, ..Wish::default() };
    assert_eq!(column(&["20-30", "*"], exact).unwrap(), "20-30|1 *|1");
    assert_eq!(auto(&["7", "*"]), "*|1 [7,8)|1");
    assert_eq!(auto(&["65", ">=65", "*"]), "*|1 [65,66)|1 [65,67)|1");
    assert_eq!(auto(&["<=65", "65"]), "*|1 [65,66)|1");
}

/// Decimals that cannot be kept are never cut off unsaid.
#[test]
fn more_decimals_than_can_be_kept_are_refused_by_place_or_said() {
    assert_eq!(refused(&["0.5-1.5", "0.30000000000000004"]), ("D130".into(), vec![3]));
    assert_eq!(refused(&["[0.1234567891,0.2)", "0.15"]), ("D130".into(), vec![2]));
    assert_eq!(auto(&["0.123456789", "0.2000000000000"]), "[0.123456789,0.12345679)|1 [0.2,0.200000001)|1");
    let cut = wished(ask(&["q"], &["s"]), "q", Wish { notation: Notation::Real(Some(2)), ..Wish::default() });
    let read = read_texts(&["q,s\n0.30000000000000004,x\n0.5,x\n"], &cut).unwrap();
    assert_eq!(read.columns[0].values, "numbers with 2 decimals; in 1 cell more were cut off");
    let domain = Wish { domain: Some(("0.5".into(), "10".into())), ..Wish::default() };
    assert_eq!(column(&["3", "4"], domain).unwrap_err().code(), "D109", "a bound that is no value");
}

/// Counterfeits that cannot be counted would count as people.
#[test]
fn counts_beside_a_file_that_numbers_no_groups_are_refused() {
    let counts = || Some(source("group_id,rows,counterfeits\n1,2,1\n"));
    let counted = |text: &[u8]| File { counterfeits: counts(), ..file("r1", text) };
    let error = read(&[counted(b"age,disease\n20,flu\n20,hiv\n")], &[], &ask(&["age"], &["disease"])).unwrap_err();
    assert_eq!(error.code(), "D129");
    assert!(error.to_string().contains("r1.csv has no column group_id"), "{error}");
    let weighed = counted(b"age,disease,row_weight\n20,flu,0.5\n20,hiv,0.5\n");
    let read = read(&[weighed], &[], &ask(&["age"], &["disease"])).unwrap();
    assert_eq!(read.releases[0].counterfeits, [1], "the rows say it themselves");
}

#[test]
fn what_cannot_be_read_is_refused_by_place() {
    assert_eq!(refused(&["20-30", "30-40", "unknown"]), ("D125".into(), vec![4]));
    assert_eq!(refused(&["20-30", "47***"]), ("D125".into(), vec![3]));
    assert_eq!(refused(&["20-30", "30-20"]), ("D125".into(), vec![3]));
    assert_eq!(refused(&["abc", "[20,30", "{a"]), ("D125".into(), vec![3, 4]));
    assert_eq!(refused(&["4*302"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["[30,20)"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["[20,2020-01-01)"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["2020-01-01", "2020-01-02", "7"]), ("D125".into(), vec![4]));
    assert_eq!(refused(&["<=50K"]), ("D125".into(), vec![2]));
    assert_eq!(refused(&["5", "(20,21)"]), ("D127".into(), vec![3]));
    assert_eq!(refused(&["0", "(1e20,2e20]"]), ("D130".into(), vec![3]));
    assert_eq!(refused(&["0.000000001", "1000000000"]).0, "D130");
    assert_eq!(refused(&["{a,b}", "{b,c}", "{c,a}", "{b,d}"]).0, "D126");
}

#[test]
fn columns_that_a_file_lacks_may_be_anything_there() {
    let ask = ask(&["age", "sex"], &["disease"]);
    let foreign = read_texts(&["age,disease\n20-29,flu\n30-39,flu\n", "age,sex\n20-29,F\n20-29,M\n"], &ask).unwrap();
    assert_eq!(regions(&foreign, 0), "[20,30)|*|1 [30,40)|*|1");
    assert_eq!((&foreign.shown[0].columns[..], foreign.shown[0].without_sensitive), (&[true, false][..], false));
    assert_eq!((&foreign.shown[1].columns[..], foreign.shown[1].without_sensitive), (&[true, true][..], true));
    let error = read_texts(&["age,disease\n1,flu\n"], &ask).unwrap_err();
    assert_eq!((error.code(), error.problems()[0].column.as_deref()), ("D131", Some("sex")));
}

#[test]
fn groups_links_and_counterfeits_are_recognised() {
    let text = "record,group_id,age,disease,row_weight\n\
                00000000000000ff,2,20-29,flu,0.5\n00000000000000aa,2,20-29,hiv,0.5\n00000000000000bb,1,20-29,flu,1\n";
    let foreign = read_texts(&[text], &ask(&["age"], &["disease"])).unwrap();
    let (release, shown) = (&foreign.releases[0], &foreign.shown[0]);
    assert_eq!((release.group_count(), &release.counterfeits[..]), (2, &[0, 1][..]));
    assert_eq!(shown.group_names, ["1".into(), "2".into()]);
    assert_eq!((&release.linked[..], &shown.places[..]), (&[0xbb, 0xff, 0xaa][..], &[2, 0, 1][..]));
    let text = "group_id,age,disease\n1,20-29,flu\n1,30-39,hiv\n";
    let error = read_texts(&[text], &ask(&["age"], &["disease"])).unwrap_err();
    assert_eq!((error.code(), &error.problems()[0].places[..]), ("D128", &[2][..]));
    let mut counted = file("r1", b"group_id,age,disease\n1,20-29,flu\n1,20-29,hiv\n2,3,flu\n");
    counted.counterfeits = Some(source("group_id,rows,counterfeits\n1,2,1\n2,1,0\n"));
    let foreign = read(&[counted], &[], &ask(&["age"], &["disease"])).unwrap();
    assert_eq!(foreign.releases[0].counterfeits, [1, 0]);
    let mut counted = file("r1", b"group_id,age,disease\n1,20-29,flu\n");
    counted.counterfeits = Some(source("group_id,rows,counterfeits\n1,2,1\n"));
    assert_eq!(read(&[counted], &[], &ask(&["age"], &["disease"])).unwrap_err().code(), "D129");
}

#[test]
fn the_truth_is_read_in_the_same_codes() {
    let mut ask = ask(&["age", "zip"], &["disease"]);
    ask.identifier = Some("id".into());
    let release = "age,zip,disease\n20-29,47***,flu\n20-29,47***,hiv\n";
    let truth = "disease,id,zip,age,more\nflu,1,47302,21,x\nhiv,2,47677,35,y\n";
    let foreign = read(&[file("r1", release.as_bytes())], &[source(truth)], &ask).unwrap();
    let (table, region) = (&foreign.truth[0], foreign.releases[0].region(0));
    assert_eq!(table.len(), 2);
    let inside = |row: usize| (0..2).all(|attribute| region[attribute].contains(table.quasi(attribute)[row]));
    let row = table.find(key("1")).unwrap().index();
    assert!(inside(row) && !inside(1 - row), "47677 lies in 47***, 35 not in 20-29");
    assert_eq!(foreign.schema.quasi[0].size(), 16, "the domain is widened to 20..=35");
    let twice = "disease,id,zip,age\nflu,1,47302,21\nhiv,1,47677,35\n";
    let error = read(&[file("r1", release.as_bytes())], &[source(twice)], &ask).unwrap_err();
    assert_eq!(error.code(), "D104");
    let vague = "disease,id,zip,age\nflu,1,47302,20-29\n";
    assert_eq!(read(&[file("r1", release.as_bytes())], &[source(vague)], &ask).unwrap_err().code(), "D132");
    ask.identifier = None;
    let foreign = read(&[file("r1", release.as_bytes())], &[source(twice)], &ask).unwrap();
    assert_eq!(foreign.truth[0].len(), 2);
    assert!(foreign.notes.iter().any(|note| note.contains("another person")));
}

#[test]
fn several_sensitive_columns_are_one_value() {
    let text = "age,a,b\n1,x,y\n1,x,z\n1,x,y\n";
    let foreign = read_texts(&[text], &ask(&["age"], &["a", "b"])).unwrap();
    assert_eq!(foreign.releases[0].value_set(0).len(), 2);
    assert_eq!(foreign.schema.sensitive.len(), 2);
}

proptest! {
    #[test]
    fn no_text_makes_the_cell_reader_panic(text in "\\PC{0,24}", odd in "[-\\[\\](){}<>=+*.,;0-9 e\"–−toundr]{0,16}") {
        let _ = (Cell::read(&text), Cell::read(&odd));
    }

    /// Whatever range is printed in whatever notation is read back as the same span.
    #[test]
    fn what_is_printed_is_read_back(
        lo in -50i64..50, width in 1i64..30, decimals in 0u32..3, notation in 0usize..13,
    ) {
        let scale = 10i64.pow(decimals);
        let number = |units: i64| {
            let sign = if units < 0 { "-" } else { "" };
            let (whole, part) = (units.abs() / scale, units.abs() % scale);
            let width = decimals as usize;
            if decimals == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{part:0>width$}") }
        };
        let hi = lo + width - 1;
        let text = match notation {
            0 => format!("[{},{})", number(lo), number(hi + 1)),
            1 => format!("[{}, {}[", number(lo), number(hi + 1)),
            2 => format!("({}, {}]", number(lo - 1), number(hi)),
            3 => format!("]{},{}]", number(lo - 1), number(hi)),
            4 => format!("[{},{}]", number(lo), number(hi)),
            5 => format!("{}-{}", number(lo), number(hi)),
            6 => format!("{}-<{}", number(lo), number(hi + 1)),
            7 => format!("{} to {}", number(lo), number(hi)),
            8 => format!("{}..{}", number(lo), number(hi)),
            9 => format!("{} – {}", number(lo), number(hi)).replace('-', "−"),
            10 => format!("[{};{}]", number(lo), number(hi)),
            11 => format!("{}−{}", number(lo), number(hi)),
            _ => format!("[{} - {}]", number(lo), number(hi)),
        };
        // A unit of the last decimal fixes the scale, and two far values the domain.
        let wish = Wish {
            notation: if decimals == 0 { Notation::Integer } else { Notation::Real(Some(decimals as u8)) },
            domain: Some(("-100".into(), "100".into())),
            ..Wish::default()
        };
        let ask = wished(ask(&["q"], &["s"]), "q", wish);
        let found = read_texts(&[&format!("q,s\n\"{text}\",x\n")], &ask).unwrap();
        let span = found.releases[0].region(0)[0];
        let first = -100 * scale;
        prop_assert_eq!((i64::from(span.lo) + first, i64::from(span.hi) + first), (lo, hi), "{}", text);
    }
}

/// Texts that a person reads as ranges, masks or sets, and no notation reads; and one value in two forms.
#[test]
fn what_would_be_two_labels_and_is_one_value_is_refused() {
    let cases: [&[&str]; 9] = [
        &["2020-05", "2020-05-17"],
        &["2020-05", "2020"],
        &["1990-95", "1993-98"],
        &["20~29", "25~34"],
        &["47XXX", "47906"],
        &["{F;M}", "F"],
        &["{[20,30), [30,40)}", "x"],
        &["{20-29, 30-39}", "x"],
        &["{47*, 48*}", "47906"],
    ];
    for texts in cases {
        assert_eq!(refused(texts).0, "D125", "{texts:?}");
        let exact = Wish { notation: Notation::Exact, ..Wish::default() };
        let assumed = read_column(texts, exact).unwrap().assumptions;
        assert!(assumed.iter().any(|assumed| assumed.contains("nothing in common")), "{texts:?} {assumed:?}");
    }
    assert_eq!(refused(&["25", "Unknown", "25.0"]).0, "D133");
    assert_eq!(refused(&["1.000-1.999", "500-999"]), ("D125".into(), vec![2]));
    assert_eq!(auto(&["1.250-1.500", "1.5-2"]), "[1.25,1.51)|1 [1.5,2.01)|1", "there are decimals");
    assert_eq!(auto(&["2020-05", "2020-06"]), "2020-05|1 2020-06|1");
    assert_eq!(auto(&["O'Neil", "{O'Neil, Smith}", "Jones"]), "Jones|1 O'Neil|1 {O'Neil, Smith}|1");
}

/// Sensitive values and links stand for themselves: blanks and .0 make no other value.
#[test]
fn a_value_in_two_forms_is_refused() {
    let code = |texts: &[&str]| read_texts(texts, &ask(&["q"], &["s"])).unwrap_err().code();
    assert_eq!(code(&["q,s\n1,flu\n1,flu \n"]), "D133");
    assert_eq!(code(&["q,s\n1,1\n1,2\n", "q,s\n1,1.0\n1,3.0\n"]), "D133");
    assert_eq!(code(&["q,s,record\n1,a,1\n1,b,2\n", "q,s,record\n1,a, 1\n1,b, 2\n"]), "D133");
    assert_eq!(code(&["q,s\n1,flu\n1,Flu\n"]), "D133");
    assert_eq!(code(&["q,s\n1,flu\n1,gout\n", "q,s\n1,FLU\n1,gout\n"]), "D133");
    // Rows without a link are not linked with each other.
    let read = read_texts(&["q,s,record\n1,a,\n1,b,\n1,c,x\n"], &ask(&["q"], &["s"])).unwrap();
    let mut links = read.releases[0].linked.clone();
    links.dedup();
    assert_eq!(links.len(), 3);
}

/// What nobody asked for is named, and what is counted in a doubtful way.
#[test]
fn what_is_taken_for_granted_is_said() {
    let said = |text: &str, ask: &Ask| read_texts(&[text], ask).unwrap().assumptions;
    let plain = ask(&["q"], &["s"]);
    assert_eq!(said("q,s\n1,a\n2,b\n", &plain), [""; 0]);
    assert_eq!(
        said("q,s,name,ssn\n1,a,x,y\n", &plain),
        ["Columns name, ssn of the files: not examined, as if they told nothing about anyone."]
    );
    let of_nothing =
        "In the sensitive column s 3 cells say nothing (empty, NA, NULL, *), which is read as a value of its own.";
    assert_eq!(said("q,s\n1,\n1,NA\n1,*\n1,a\n", &plain), [of_nothing]);
    let apart = "In column q different texts are read as values that have nothing in common.";
    assert_eq!(said("q,s\nB7,a\nC7,b\n", &plain), [apart]);
    assert_eq!(said("q,s\nunknown,a\nF,b\n", &plain), [apart]);
    assert_eq!(said("q,s\nM,a\nF,b\n", &plain), [apart]);
    assert_eq!(said("q,s\nM,a\nM,b\n", &plain), [""; 0], "one label overlaps no other");
    let two = said("q,s,t\n1,a,b\n", &ask(&["q"], &["s", "t"]));
    assert_eq!(two.len(), 1);
    assert!(two[0].contains("count as one value together"), "{two:?}");
}
