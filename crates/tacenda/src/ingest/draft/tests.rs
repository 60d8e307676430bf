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

/// What other programs write for nothing, and blanks around a value, make values that nobody meant.
#[test]
fn words_for_nothing_and_outer_blanks_are_told() {
    let row = |n: u32| {
        let age = if n.is_multiple_of(10) { "NA".to_string() } else { (20 + n % 60).to_string() };
        let sex = ["F", "M", " F"][n as usize % 3];
        format!("{n},{age},{sex},{}\n", ["flu", "n/a", "gout", "rash", "ache"][n as usize % 5])
    };
    let draft = look(&("patient_id,age,sex,diagnosis\n".to_string() + &(0..200).map(row).collect::<String>()));
    let told = |start: &str| draft.notes.iter().filter(|note| note.starts_with(start)).count();
    assert_eq!(told("column age: 20 cells say NA"), 1, "{:?}", draft.notes);
    assert_eq!(told("column diagnosis: 40 cells say n/a"), 1, "{:?}", draft.notes);
    assert_eq!(told("column sex: some cells begin or end with a blank"), 1, "{:?}", draft.notes);
    assert!(
        !look(&hospital())
            .notes
            .iter()
            .any(|note| note.starts_with("column diagnosis") || note.starts_with("column sex"))
    );
}

/// Numbers near the greatest that a policy takes, and names as long as a page, are drafted like others.
#[test]
fn extreme_numbers_and_names_are_drafted() {
    let long = "x".repeat(70_000);
    for cell in ["8.9e15", "-8.9e15", "8999999999999999", "8e15", "0.000001"] {
        let rows: String = (0..50).map(|n| format!("{n},{cell},{cell},flu\n")).collect();
        let draft = look(&format!("id,age,{long},diagnosis\n{rows}"));
        let policy = draft.to_toml("extreme");
        assert!(policy.contains(&long), "{cell}");
        for (name, _) in draft.hierarchies() {
            assert!(name.len() < 255, "{cell}");
        }
    }
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

/// Five even values leave a reserve for one in three, and none for one in five. Where one in three leaves none, the draft
/// says one in two, unless three was asked for.
#[test]
fn a_bound_without_reserve_is_lowered_or_told() {
    let mut draft = look(&hospital());
    assert!(!draft.to_toml("s").contains("1 in 3 allows"));
    draft.set_sure(5);
    let toml = draft.to_toml("s");
    assert!(toml.contains("1 in 5 allows 20 %.") && toml.contains("1 in 4 would last longer: the number"), "{toml}");
    let rows: String =
        (0..60).map(|n| format!("{n},{},{}\n", 20 + n % 40, ["a", "b", "c", "d"][(n % 7) / 2])).collect();
    let mut draft = look(&format!("id,age,illness\n{rows}"));
    let toml = draft.to_toml("s");
    assert!(toml.contains("# One value is held by 30 % of the rows, and 1 in 3 allows 33 %."), "{toml}");
    assert!(toml.contains("So this draft says 1 in 2: the number") && toml.contains("m     = 2"), "{toml}");
    draft.set_sure(3);
    let toml = draft.to_toml("s");
    assert!(toml.contains("1 in 2 would last longer: the number") && toml.contains("m     = 3"), "{toml}");
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

/// A number of visits is unique and says nothing about who came twice. So whoever is named after people is the person, and where
/// no column is, the draft says that its promise is about rows.
#[test]
fn a_number_of_visits_is_never_taken_for_a_person() {
    let draft_of = |event: &str, person: &str, visits: u32| {
        let row = |n: u32| {
            let illness = ["flu", "cough", "ache", "gout", "rash"][n as usize % 5];
            format!("{n},{},{},2025-01-{:02},{illness}\n", n / visits, 20 + n % 40, 1 + n % 28)
        };
        let rows: String = (0..1200).map(row).collect();
        look(&format!("{event},{person},age,seen_on,illness\n{rows}"))
    };
    for person in
        ["patient", "pid", "PID", "member", "patient_id", "patientid", "Versichertennummer", "mrn", "Patient No"]
    {
        for (event, visits) in [("visit_id", 2), ("stay_no", 6), ("row", 20), ("id", 3), ("Fallnummer", 2), ("key", 12)]
        {
            let draft = draft_of(event, person, visits);
            let role = |name: &str| draft.column(name).unwrap().role;
            assert_eq!((role(person), role(event)), (Role::Identifier, Role::Drop), "{event} {person} {visits}");
            assert!(draft.has_several_rows() && draft.to_toml("s").contains("rows  = \"latest\""));
        }
    }
    // Two visits for each client, whatever a client is.
    let draft = draft_of("visit_id", "account_no", 2);
    assert_eq!(draft.column("account_no").unwrap().role, Role::Identifier);
    // Kinds of people are not people, and the doubt is said.
    for (event, person, said) in
        [("visit_id", "colour", "visit"), ("id", "account_no", "if account_no names the people")]
    {
        let draft = draft_of(event, person, 2);
        let column = draft.column(event).unwrap();
        assert!(column.role == Role::Identifier && column.because.contains(said), "{}", column.because);
        assert!(column.because.contains("the promise is about rows, not about people"), "{}", column.because);
    }
    let kinds = draft_of("visit_id", "member", 300);
    assert_eq!(kinds.column("visit_id").unwrap().role, Role::Identifier);
}

/// One in three of a combined value says nothing about its parts, so a draft with --yes has one sensitive column. Whoever makes a
/// second one sensitive reads what is then promised.
#[test]
fn a_draft_claims_nothing_of_parts_of_a_combined_value() {
    let row = |n: u32| {
        let illness = ["flu", "cough", "ache", "gout", "rash"][n as usize % 5];
        let income = ["low", "lower", "middle", "upper", "high"][n as usize / 5 % 5];
        format!("{n},{},{illness},{income}\n", 20 + n % 60)
    };
    let text = "patient_id,age,diagnosis,income\n".to_string() + &(0..200).map(row).collect::<String>();
    let mut draft = look(&text);
    let roles = |draft: &Draft| ["diagnosis", "income"].map(|name| draft.column(name).unwrap().role);
    assert_eq!(roles(&draft), [Role::Sensitive, Role::Drop]);
    let toml = round(&draft, &text);
    assert!(toml.contains("Here: diagnosis.\n") && toml.contains("Here: 1 in 3.\n"), "{toml}");
    assert!(toml.contains("two sensitive columns would protect neither alone, see below: income."), "{toml}");
    assert!(draft.column("income").unwrap().undecided, "on a terminal it is a question");
    assert!(draft.set_role("income", Role::Sensitive));
    let toml = round(&draft, &text);
    assert!(toml.contains("about the combination of these columns. One of them alone may be certain"), "{toml}");
}

/// What names people stays out, whatever its name says; a code is known by its prefix, and is nobody's name.
#[test]
fn text_that_names_people_is_left_out() {
    let row = |n: u32| {
        let illness = ["flu", "cough", "ache", "gout", "rash"][n as usize % 5];
        format!(
            "p{n},{},clerk of office {n},seen for {illness} {n},{illness},1.{}.{},{},{:05}\n",
            20 + n % 40,
            n % 12 + 1,
            50 + n % 40,
            30_000 + n * 11,
            10_000 + n * 3
        )
    };
    let rows: String = (0..200).map(row).collect();
    let text = format!("ref,age,occupation,diagnosis_notes,condition,born,admission_date,postcode\n{rows}");
    let draft = look(&text);
    let role = |name: &str| draft.column(name).unwrap().role;
    let dropped = ["occupation", "diagnosis_notes", "born", "admission_date"];
    assert!(dropped.iter().all(|name| role(name) == Role::Drop), "{}", draft.to_toml("s"));
    assert!(draft.column("admission_date").unwrap().because.contains("format = \"excel\""));
    assert_eq!([role("ref"), role("condition"), role("postcode")], [Role::Identifier, Role::Sensitive, Role::Quasi]);
    round(&draft, &text);
}

/// A hierarchy file is published. A value of one person is not in it; codes of digits are listed by their prefix.
#[test]
fn no_value_of_one_person_is_listed() {
    let row = |n: u32| {
        let city = if n == 7 { "Nowhere".to_string() } else { format!("City {}", n % 50) };
        let code = if n < 150 {
            10_100 + n % 30
        } else if n == 199 {
            99_999
        } else {
            20_300 + n
        };
        format!("{n},{},{city},{code},{}\n", 20 + n % 40, ["a", "b", "c", "d"][n as usize % 4])
    };
    let rows: String = (0..200).map(row).collect();
    let text = format!("id,age,city,postcode,illness\n{rows}");
    let draft = look(&text);
    round(&draft, &text);
    let file = |name: &str| draft.hierarchies().into_iter().find(|(path, _)| path.contains(name)).unwrap().1;
    let (cities, codes) = (file("city"), file("postcode"));
    assert!(cities.contains("City 12;*\n") && !cities.contains("Nowhere"), "{cities}");
    assert!(
        codes.contains("\n20459;2045*;") && codes.contains("\n20499;"),
        "all below a prefix that ten people share: {codes}"
    );
    assert!(!codes.contains("99999"), "{codes}");
}

/// An answer counts whenever it is given, and a promise that was asked for by name stays.
#[test]
fn answers_hold_in_any_order() {
    let text = hospital();
    let mut draft = look(&text);
    assert!(draft.set_role("diagnosis", Role::Drop));
    draft.set_leaving(false);
    assert!(draft.to_toml("s").contains("model = \"incremental-k-anonymity\""));
    assert!(draft.set_role("diagnosis", Role::Sensitive));
    assert!(draft.to_toml("s").contains("model = \"incremental-l-diversity\""), "nobody leaves, as was said before");
    assert!(draft.set_promise("k-anonymity"));
    draft.set_leaving(true);
    assert!(draft.to_toml("s").contains("model = \"k-anonymity\""));
}

/// A column that more than half of the rows share one value of is left out: under any promise that can be kept, a group may
/// hold that value only. It used to be published as it is, under a promise about identity.
#[test]
fn a_value_that_most_people_have_is_left_out_and_told() {
    let rows: String =
        (0..100).map(|n| format!("{n},{},{}\n", 20 + n % 40, if n < 71 { "flu" } else { "gout" })).collect();
    let text = format!("id,age,illness\n{rows}");
    let mut draft = look(&text);
    let column = draft.column("illness").unwrap();
    assert!(column.role == Role::Drop && column.undecided, "{}", column.because);
    assert!(column.because.contains("but 71 of 100 rows have one value"), "{}", column.because);
    let toml = round(&draft, &text);
    assert!(toml.contains("illness = { role = \"drop\" }") && !toml.contains("flu"), "{toml}");
    assert!(toml.contains("Here: only which row is theirs; no column is sensitive."), "{toml}");
    assert!(toml.contains("more than half of the rows have one value of it, see below: illness."), "{toml}");
    assert!(toml.contains("model = \"incremental-k-anonymity\"") && draft.too_uneven().is_none(), "{toml}");

    draft.leave_open("illness");
    assert!(draft.to_toml("s").contains("illness = { role = \"?\" }"));

    // Whoever insists gets a promise about the value, or is told that the chosen one does not protect it.
    assert!(draft.set_role("illness", Role::Sensitive));
    let said = draft.too_uneven().unwrap();
    assert!(said.starts_with("71 % of the rows have the same value of illness") && !said.contains("flu"), "{said}");
    assert!(draft.to_toml("s").contains("model = \"m-invariance\"\nm     = 2"), "{}", draft.to_toml("s"));
    assert!(draft.set_promise("incremental-k-anonymity"));
    assert!(draft.too_uneven().unwrap().ends_with("a group may hold one value only"));
    assert_eq!(look(&hospital()).too_uneven(), None);
}

/// Another sensitive column does not hide it: their combinations are many, and the value is still nearly certain.
#[test]
fn an_uneven_column_is_left_out_beside_an_even_one() {
    let status = |n: u32| if n < 70 { "none".to_string() } else { format!("s{}", n % 5) };
    let illness = ["flu", "cough", "ache", "gout", "rash"];
    let rows: String =
        (0..100).map(|n| format!("{n},{},{},{}\n", 20 + n % 40, status(n), illness[n as usize % 5])).collect();
    let text = format!("id,age,hiv,illness\n{rows}");
    let draft = look(&text);
    assert_eq!(draft.column("hiv").unwrap().role, Role::Drop);
    let toml = round(&draft, &text);
    assert!(toml.contains("Here: illness.") && toml.contains("model = \"m-invariance\"\nm     = 3"), "{toml}");
}

/// A number that hardly anybody shares would follow a person through all releases.
#[test]
fn numbers_that_nobody_shares_are_left_out() {
    let table = |income: fn(u32) -> u32| {
        let rows: String = (0..200).map(|n| format!("{n},{},{}\n", 20 + n % 40, income(n))).collect();
        format!("id,age,income\n{rows}")
    };
    let exact = look(&table(|n| 20_000 + n * 37));
    let column = exact.column("income").unwrap();
    assert!(column.role == Role::Drop && column.because.contains("write bands"), "{}", column.because);
    assert!(exact.to_toml("s").contains("no column is sensitive"), "{}", exact.to_toml("s"));
    let rounded = table(|n| 20_000 + n % 10 * 1_000);
    assert_eq!(look(&rounded).column("income").unwrap().role, Role::Sensitive);
    round(&look(&rounded), &rounded);
}

#[test]
fn a_draft_never_allows_everything() {
    let mut draft = look(&hospital());
    draft.raise_limits(40, 30);
    assert_eq!((draft.limits(), draft.over_limits()), ((40, 30), None));
    draft.raise_limits(150, 100);
    let (toml, said) = (draft.to_toml("s"), draft.over_limits().unwrap());
    assert!(toml.contains("max_share = 0.50") && !toml.contains("max_share = 1.00"), "{toml}");
    assert!(said.contains("more than 50 % counterfeits (up to 100 %) and more than 50 % withheld people"), "{said}");
    assert!(toml.contains(&format!("# LIMITS: {said}.")), "{toml}");
}

/// Birth dates are published by year in every language; dates with the name of a month are told, not taken for labels.
#[test]
fn dates_of_birth_and_names_of_months() {
    let rows = |day: fn(u32) -> String| -> String {
        (0..60).map(|n| format!("{n},{},{}\n", day(n), ["a", "b", "c", "d"][n as usize % 4])).collect()
    };
    let iso = rows(|n| format!("19{}-03-{:02}", 40 + n, 1 + n % 28));
    for name in ["geburtsdatum", "data_nascimento", "dob"] {
        let toml = look(&format!("id,{name},illness\n{iso}")).to_toml("s");
        assert!(toml.contains("grid = \"year\""), "{toml}");
    }
    let months = rows(|n| format!("{:02}-{}-2025", 1 + n % 28, ["Jan", "Feb", "Mai"][n as usize % 3]));
    let draft = look(&format!("id,admission_date,illness\n{months}"));
    let column = draft.column("admission_date").unwrap();
    assert!(column.role == Role::Drop && column.because.contains("the name of a month"), "{}", column.because);
}

/// Lines that all end with a delimiter, and what spreadsheets write above the header, are no columns.
#[test]
fn what_is_no_column_is_ignored_or_refused_with_a_way_out() {
    let text = "id;age;illness;\n1;20;a;\n2;30;b;\n3;40;c;\n4;50;d;\n";
    let draft = look(text);
    assert_eq!(draft.columns.len(), 3);
    assert!(draft.notes.iter().any(|note| note.contains("every line ends with a delimiter")), "{:?}", draft.notes);
    round(&draft, text);
    let said = format!("sep=;\r\n{}", text.replace('\n', "\r\n"));
    let draft = look(&said);
    assert_eq!((draft.columns.len(), draft.rows), (3, 4));
    assert!(draft.notes.iter().any(|note| note.contains("the first line says which delimiter")), "{:?}", draft.notes);
    round(&draft, &said);

    let refused = |text: &str| draft_error(text).to_string();
    let nameless = refused(&text.replace("4;50;d;", "4;50;d;secret"));
    assert!(nameless.starts_with("D142 column without a name: column 4 of the first line; give"), "{nameless}");
    assert!(!nameless.contains("secret"), "{nameless}");
    let doubled = refused("id,age,age,illness\n1,2,3,a\n");
    assert!(doubled.starts_with("D103 duplicate column age; "), "{doubled}");
    let filled = Source::spool("a test", text.replace("4;50;d;", "4;50;d;secret").as_bytes()).unwrap();
    let toml = look(text).to_toml("s");
    let schema = parse_policy(&toml, std::path::Path::new("tacenda.toml")).unwrap().policy.schema;
    let error = read_snapshot(&filled, &schema, &[0; 32], &Values::default(), &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().starts_with("D142 column without a name: 1 row (line 5); give"), "{error}");
}

fn draft_error(text: &str) -> IngestError {
    draft(&Source::spool("a test", text.as_bytes()).unwrap()).unwrap_err()
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
        ("incremental-k-anonymity", "k         = 5"),
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
