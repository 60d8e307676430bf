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
            ("cost", Role::Drop),
            ("diagnosis", Role::Sensitive),
            ("remarks", Role::Drop),
            ("visits", Role::Drop),
        ]
    );
    let column = |name: &str| draft.column(name).unwrap();
    assert_eq!(column("age").kind, Guess::Integer { lo: 0, hi: 130 });
    assert_eq!(column("admitted_on").kind, Guess::Date { lo: 2010, hi: 2040, written: None });
    assert_eq!(column("cost").kind, Guess::Real { lo: 0, hi: 6_000, decimals: 1 });
    assert_eq!(column("postcode").kind, Guess::Category, "a leading zero makes a code");
    assert_eq!((column("sex").missing, column("sex").distinct), (4, Some(2)));
    assert_eq!(draft.rows, 200);
    let undecided: Vec<&str> =
        draft.columns.iter().filter(|column| column.undecided).map(|column| &*column.name).collect();
    assert_eq!(undecided, ["cost", "visits"], "nothing becomes quasi because nobody objected");
    assert_eq!(column("sex").samples(3), ["F", "M"]);
    assert_eq!(column("full_name").samples(3), Vec::<String>::new(), "what few rows share is not shown");
}

/// Codes become trees of their beginnings, of one length or of several, and the tree is one that is read.
#[test]
fn codes_become_trees() {
    let codes = ["J10.1", "J10.8", "J45", "K29.7", "K30", "L20.0", "L20"];
    let rows: String =
        (0..70).map(|n| format!("{n},{},{},{}\n", 20 + n % 40, codes[n % 7], ["a", "b", "c"][n % 3])).collect();
    let text = format!("id,age,unit_code,illness\n{rows}");
    let draft = look(&text);
    assert_eq!(draft.column("unit_code").unwrap().role, Role::Drop, "a code may be anything");
    let text = text.replace("unit_code", "postcode");
    let draft = look(&text);
    round(&draft, &text);
    let (path, tree) = draft.hierarchies().remove(0);
    assert_eq!(path, "hierarchies/postcode.csv");
    assert!(tree.contains("J10.1;J10.*;J10*;J1*;J*;*\n") && tree.contains("K30;K30;K30;K3*;K*;*\n"), "{tree}");
    assert!(tree.ends_with("other;other;other;other;other;*\n"), "{tree}");
}

/// A question that nobody answered is refused; the safe reading of the same column is not.
#[test]
fn an_open_question_is_refused_until_it_is_answered() {
    let text = hospital();
    let mut draft = look(&text);
    draft.leave_open("visits");
    let toml = draft.to_toml("s");
    assert!(
        toml.contains("visits      = { role = \"?\" }") && toml.contains("NOT USABLE YET: the role of some"),
        "{toml}"
    );
    let error = parse_policy(&toml, std::path::Path::new("tacenda.toml")).unwrap_err();
    assert!(error.faults.iter().any(|fault| fault.kind.code() == "P241"), "{error}");
    assert!(draft.set_role("visits", Role::Quasi));
    round(&draft, &text);
}

#[test]
fn the_three_questions_decide_the_promise() {
    let text = hospital();
    let mut draft = look(&text);
    let toml = round(&draft, &text);
    assert!(toml.contains("# 1. Do people leave, return or change between releases? Here: yes."), "{toml}");
    assert!(toml.contains("# 2. What must nobody learn about a person? Here: diagnosis."), "{toml}");
    assert!(toml.contains("# 3. How sure may anybody be? Here: 1 in 3."), "{toml}");
    draft.set_leaving(false);
    draft.set_sure(4);
    let toml = round(&draft, &text);
    assert!(toml.contains("model = \"incremental-l-diversity\"\nl     = 4"), "{toml}");
    draft.set_leaving(true);
    draft.set_sure(9);
    let toml = round(&draft, &text);
    assert!(toml.contains("m     = 5"), "five values are as even as they can be: {toml}");
}

/// The person counts, not the stay: a number of stays is unique and would make two people of one.
#[test]
fn people_with_several_rows_are_told_from_stays() {
    let rows: String = (0..60)
        .map(|n| {
            format!("s{n},{},{},2025-01-{:02},{}\n", n / 2, 20 + n / 2 % 40, 1 + n % 28, ["a", "b", "c", "d"][n % 4])
        })
        .collect();
    let text = format!("stay_id,patient_id,age,admitted,illness\n{rows}");
    let draft = look(&text);
    assert_eq!(draft.column("patient_id").unwrap().role, Role::Identifier);
    assert_eq!(draft.column("stay_id").unwrap().role, Role::Drop);
    let toml = draft.to_toml("s");
    assert!(toml.contains("[person]\nrows  = \"latest\"\norder = \"admitted\""), "{toml}");
    let undated = text.replace("2025-01-", "day ");
    let draft = look(&undated);
    assert!(draft.lacking()[0].starts_with("people have several rows"), "{:?}", draft.lacking());
}

#[test]
fn a_value_that_most_people_have_is_told_before_anything_is_published() {
    let rows: String =
        (0..100).map(|n| format!("{n},{},{}\n", 20 + n % 40, if n < 71 { "flu" } else { "gout" })).collect();
    let draft = look(&format!("id,age,illness\n{rows}"));
    let said = draft.too_uneven().unwrap();
    assert!(said.starts_with("71 % of the rows have the same value of illness"), "{said}");
    assert!(!said.contains("flu") && draft.to_toml("s").contains("# 71 % of the rows"), "{said}");
    assert_eq!(look(&hospital()).too_uneven(), None);
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
    let said = "# If no cell of admitted_on will ever be empty, set that before the first release.";
    assert!(toml.contains(said), "{toml}");
    assert!(draft.set_promise("m-invariance") && !draft.to_toml("s").contains("cohorts"));
}

#[test]
fn lists_come_with_what_becomes_of_other_values() {
    let toml = look(&hospital()).to_toml("s");
    let lines: Vec<&str> = toml.lines().collect();
    let warned = |column: &str| {
        let at = lines.iter().position(|line| line.starts_with(column)).unwrap();
        lines[at - 1].starts_with("# list every value that may occur: the list is published with every release")
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
