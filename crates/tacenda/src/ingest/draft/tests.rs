//! A draft says what the columns are, and is a policy file that reads the table it was drafted from.

use super::*;
use crate::ingest::policy_file::parse_policy;
use crate::ingest::{ReadOptions, read_snapshot};
use crate::model::Values;
use proptest::prelude::*;

fn look(text: &str) -> Draft {
    draft(&Source::spool("a test", text.as_bytes()).unwrap()).unwrap_or_else(|error| panic!("{error}"))
}

fn hospital() -> String {
    let mut text = "patientId,full_name,age,postcode,sex,admitted_on,cost,diagnosis,remarks,visits\n".to_string();
    for n in 0..200u32 {
        let diagnosis = ["flu", "cough", "ache", "gout", "rash"][n as usize % 5];
        let sex = if n % 50 == 7 { "" } else { ["F", "M"][n as usize % 2] };
        text += &format!(
            "{n},Ann {n},{},{:05},{sex},2023-{:02}-11,{}.5,{diagnosis},\"came in, was seen\nagain {n}\",{}\n",
            20 + n % 60,
            1000 + n * 37 % 5000,
            1 + n % 12,
            100 + n,
            n % 7
        );
    }
    text
}

#[test]
fn columns_get_the_part_they_play() {
    let draft = look(&hospital());
    let found: Vec<(&str, Role)> = draft.columns.iter().map(|column| (&*column.name, column.role)).collect();
    assert_eq!(
        found,
        [
            ("patientId", Role::Identifier),
            ("full_name", Role::Drop),
            ("age", Role::Quasi),
            ("postcode", Role::Quasi),
            ("sex", Role::Quasi),
            ("admitted_on", Role::Quasi),
            ("cost", Role::Quasi),
            ("diagnosis", Role::Sensitive),
            ("remarks", Role::Drop),
            ("visits", Role::Quasi),
        ]
    );
    let column = |name: &str| draft.column(name).unwrap();
    assert_eq!(column("age").kind, Guess::Integer { lo: 0, hi: 130 });
    assert_eq!(column("admitted_on").kind, Guess::Date { lo: 2010, hi: 2040, written: None });
    assert_eq!(column("cost").kind, Guess::Real { lo: 0, hi: 6_000, decimals: 1 });
    assert_eq!(column("postcode").kind, Guess::Category, "a leading zero makes a code");
    assert_eq!((column("sex").missing, column("sex").distinct), (4, Some(2)));
    assert_eq!(draft.rows, 200);
}

/// Writes the draft to a folder, and reads the table with it.
fn round(draft: &Draft, text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (path, contents) in draft.hierarchies() {
        std::fs::create_dir_all(folder.path().join("hierarchies")).unwrap();
        std::fs::write(folder.path().join(path), contents).unwrap();
    }
    let toml = draft.to_toml("Ward Stays");
    let loaded =
        parse_policy(&toml, &folder.path().join("tacenda.toml")).unwrap_or_else(|error| panic!("{error}\n{toml}"));
    let source = Source::spool("a test", text.as_bytes()).unwrap();
    let schema = &loaded.policy.schema;
    let read = read_snapshot(&source, schema, &[0; 32], &Values::default(), &ReadOptions::default());
    assert_eq!(read.unwrap_or_else(|error| panic!("{error}\n{toml}")).rows, draft.rows);
    toml
}

#[test]
fn the_draft_is_a_policy_that_reads_its_table() {
    let text = hospital();
    let mut draft = look(&text);
    let toml = round(&draft, &text);
    assert!(
        toml.contains("name    = \"ward-stays\"")
            && toml.contains("values = [\"F\", \"M\", \"other\"], unknown = \"other\""),
        "{toml}"
    );
    assert!(toml.contains("model = \"m-invariance\"\nm     = 3\nk     = 2"), "{toml}");
    let (path, contents) = draft.hierarchies().remove(0);
    assert_eq!(path, "hierarchies/postcode.csv");
    assert!(contents.starts_with("01000;0100*;010**;01***;0****;*\n"), "{contents}");

    assert!(draft.set_role("diagnosis", Role::Drop) && draft.set_role("full_name", Role::Identifier));
    assert!(!draft.set_role("nobody", Role::Drop));
    let toml = round(&draft, &text);
    assert!(toml.contains("model = \"incremental-k-anonymity\""), "{toml}");
    assert_eq!(draft.column("patientId").unwrap().role, Role::Drop);
}

#[test]
fn any_promise_can_be_drafted_and_is_a_policy() {
    let text = hospital();
    let mut draft = look(&text);
    for (model, wanted) in [
        ("m-invariance", "m     = 3\nk     = 2"),
        ("incremental-k-anonymity", "k     = 5"),
        ("k-anonymity", "accept_series_risk"),
        ("incremental-l-diversity", "l     = 3"),
        ("xy-anonymity", "y     = [\"diagnosis\"]"),
        ("xy-linkability", "max_confidence = 0.333"),
    ] {
        assert!(draft.set_promise(model));
        let toml = round(&draft, &text);
        assert!(toml.contains(&format!("model = \"{model}\"")) && toml.contains(wanted), "{toml}");
    }
    assert!(!draft.set_promise("differential-privacy"));
    assert!(draft.set_role("diagnosis", Role::Drop) && draft.set_promise("incremental-l-diversity"));
    assert!(draft.to_toml("s").contains("NOT USABLE YET: the promise is about sensitive values"));
}

/// Without cohorts a number with room for empty cells is hardly cut; the draft, which leaves cohorts on, says so.
#[test]
fn a_draft_says_what_cohorts_false_needs() {
    let text = hospital().replacen(",20,", ",,", 1);
    let mut draft = look(&text);
    assert!(draft.set_promise("incremental-k-anonymity"));
    let toml = round(&draft, &text);
    let said = "# If no cell of admitted_on, cost, visits will ever be empty, set that before the first release.";
    assert!(toml.contains(said), "{toml}");
    assert!(draft.set_promise("m-invariance") && !draft.to_toml("s").contains("cohorts"));
}

#[test]
fn lists_come_with_what_becomes_of_other_values() {
    let toml = look(&hospital()).to_toml("s");
    let lines: Vec<&str> = toml.lines().collect();
    let warned = |column: &str| {
        let at = lines.iter().position(|line| line.starts_with(column)).unwrap();
        lines[at - 1].starts_with("# list every value that may come: the list is published with every release")
    };
    assert!(warned("sex ") && warned("postcode ") && !warned("age "), "{toml}");
    assert!(!toml.contains("NOT USABLE YET"), "{toml}");
}

#[test]
fn values_that_hardly_anybody_has_are_not_listed() {
    let rows: String =
        (0..60).map(|n| format!("{n},{},{}\n", if n == 7 { "Rareton" } else { "Bigtown" }, n % 5)).collect();
    let text = format!("id,town,illness\n{rows}");
    let toml = round(&look(&text), &text);
    assert!(toml.contains("values = [\"Bigtown\", \"other\"]") && !toml.contains("Rareton"), "{toml}");
}

#[test]
fn a_draft_without_identifier_or_quasi_says_so_at_the_top() {
    let draft = look("name,illness\nx,flu\nx,flu\n");
    let toml = draft.to_toml("s");
    let top: Vec<&str> = toml.lines().take(3).collect();
    assert!(top[1].starts_with("# NOT USABLE YET: no column names a person"), "{toml}");
    assert!(top[2].starts_with("# NOT USABLE YET: no column looks like what an attacker may know"), "{toml}");
    assert!(draft.lacking()[0].starts_with("no column names a person"), "{:?}", draft.lacking());
    assert!(draft.lacking()[1].starts_with("no column looks like"), "{:?}", draft.lacking());
}

#[test]
fn dates_are_read_as_they_are_written_or_asked_about() {
    let table = |born: fn(u32) -> String| {
        let rows: String =
            (1..40).map(|n| format!("{n},{},{},{}\n", 20 + n % 9, born(n), ["a", "b", "c"][n as usize % 3])).collect();
        format!("id,age,born,illness\n{rows}")
    };
    let german = table(|n| format!("{}.{}.19{:02}", 1 + n % 28, 1 + n % 12, n));
    let toml = round(&look(&german), &german);
    assert!(toml.contains("format = \"DD.MM.YYYY\""), "{toml}");
    let american = table(|n| format!("{:02}/{:02}/19{:02}", 1 + n % 12, 1 + n % 28, n));
    let toml = round(&look(&american), &american);
    assert!(toml.contains("format = \"MM/DD/YYYY\""), "{toml}");
    let iso_with_time = table(|n| format!("19{:02}-{:02}-{:02} 10:30", n, 1 + n % 12, 1 + n % 28));
    assert!(round(&look(&iso_with_time), &iso_with_time).contains("format = \"YYYY-MM-DD…\""));
    let digits = table(|n| format!("19{:02}{:02}{:02}", n, 1 + n % 12, 1 + n % 28));
    assert!(round(&look(&digits), &digits).contains("format = \"YYYYMMDD\""));
    let either = look(&table(|n| format!("{:02}/{:02}/19{:02}", 1 + n % 12, 1 + n % 11, n)));
    let column = either.column("born").unwrap();
    assert!(
        column.role == Role::Drop && column.because.contains("\"DD/MM/YYYY\" or \"MM/DD/YYYY\""),
        "{}",
        column.because
    );
    assert_eq!(look(&table(|n| format!("{n}.{n}.{n}"))).column("born").unwrap().kind, Guess::Category);
}

#[test]
fn cells_with_line_breaks_are_not_proposed() {
    let draft = look("id,sex,illness\n1,F,flu\n2,\"M,flu\n3,M\",flu\n4,F,\"a\nb\"\n");
    assert_eq!(
        draft.columns.iter().map(|column| column.role).collect::<Vec<_>>(),
        [Role::Identifier, Role::Drop, Role::Drop]
    );
}

#[test]
fn a_value_that_most_rows_have_leaves_only_a_promise_about_people() {
    let text = "id,age,income50\n1,30,low\n2,31,low\n3,32,high\n";
    let toml = round(&look(text), text);
    assert!(toml.contains("income50 = { role = \"sensitive\"") && toml.contains("incremental-k-anonymity"), "{toml}");
}

#[test]
fn bounds_are_no_ones_value() {
    for (least, greatest, wanted) in [
        (0, 6, (0, 10)),
        (17, 90, (10, 100)),
        (1990, 2024, (1980, 2030)),
        (-3, 5, (-10, 10)),
        (100, 99_999, (0, 110_000)),
    ] {
        assert_eq!(guess::padded(least, greatest), wanted, "{least}..{greatest}");
    }
}

#[test]
fn ragged_rows_and_empty_tables_are_refused() {
    let code = |text: &str| draft(&Source::spool("a test", text.as_bytes()).unwrap()).unwrap_err().code();
    assert_eq!((code("a,b\n1,2,3\n"), code("a,b\n"), code("")), ("D113", "D116", "D115"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_table_gets_a_draft_that_reads_it(
        rows in prop::collection::vec(("[0-9]{1,6}", "[-]?[0-9]{0,7}(\\.[0-9]{1,4})?", "[a-z*;\" é]{0,6}", "(19|20)[0-9]{2}-0[1-9]-1[0-9]"), 1..40),
    ) {
        let cell = |text: &str| format!("\"{}\"", text.replace('"', "\"\""));
        let mut text = "id,age,a \"b\",when\n".replace("a \"b\"", "\"a \"\"b\"\"\"");
        for (number, (age, x, word, day)) in rows.iter().enumerate() {
            let word = if word == "*" { "" } else { word };
            text += &format!("{number},{},{},{day}\n", cell(&format!("{age}{x}")), cell(word));
        }
        let mut draft = look(&text);
        for name in ["age", "a \"b\"", "when"] {
            draft.set_role(name, Role::Quasi);
        }
        if draft.columns.iter().all(|column| column.distinct != Some(0)) {
            round(&draft, &text);
        }
    }
}
