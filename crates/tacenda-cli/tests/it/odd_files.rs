//! Files as they come out of real systems: each is drafted, checked and published twice, and nobody touches the policy.

use crate::kit::TestProject;
use rust_xlsxwriter::{ExcelDateTime, Format, Formula, Workbook};
use std::fs;

/// A person of a table.
struct OddPerson {
    id: u32,
    age: u32,
    sex: &'static str,
    illness: &'static str,
    day: u32,
    month: u32,
}

/// The people of a quarter: 20 of 150 leave, 30 come.
fn people(quarter: u32) -> Vec<OddPerson> {
    let range = if quarter == 1 { 0..150 } else { 20..180 };
    let illnesses = ["flu", "gastritis", "dyspepsia", "bronchitis", "asthma", "migraine"];
    range
        .map(|id| OddPerson {
            id: 1000 + id,
            age: 18 + id * 7 % 60,
            sex: ["F", "M"][(id % 2) as usize],
            illness: illnesses[(id * 5 % 6) as usize],
            day: 1 + id % 28,
            month: 1 + id % 12,
        })
        .collect()
}

/// A table of text: a header, and a line for each person.
fn table(quarter: u32, header: &str, line: impl Fn(&OddPerson) -> String) -> String {
    let lines: Vec<String> = people(quarter).iter().map(line).collect();
    format!("{header}\n{}\n", lines.join("\n"))
}

/// What is in a file, by the number of the quarter.
type Odd = (&'static str, fn(u32) -> Vec<u8>);

fn latin(text: &str) -> Vec<u8> {
    text.chars().map(|letter| u8::try_from(u32::from(letter)).expect("letters of one byte")).collect()
}

const ODD: [Odd; 13] = [
    ("semicolons.csv", |quarter| {
        table(quarter, "PatientenNr;Alter;Geschlecht;Diagnose;Kosten", |one| {
            format!("{};{};{};{};{},50", one.id, one.age, one.sex, one.illness, 100 + one.id)
        })
        .into_bytes()
    }),
    ("byte order mark.csv", |quarter| {
        let text = table(quarter, "patient_id,age,sex,diagnosis", |one| {
            format!("{},{},{},{}", one.id, one.age, one.sex, one.illness)
        });
        [&b"\xef\xbb\xbf"[..], text.replace('\n', "\r\n").as_bytes()].concat()
    }),
    ("umlauts.csv", |quarter| {
        latin(&table(quarter, "Kennung;Alter;Stadt;Geschlecht;Diagnose", |one| {
            let city = ["Köln", "München", "Zürich"][(one.id % 3) as usize];
            format!("{};{};{city};{};{}", one.id, one.age, one.sex, one.illness.replace("asthma", "Grüner Star"))
        }))
    }),
    ("unicode.txt", |quarter| {
        let text = table(quarter, "id\tedad\tsexo\tdiagnóstico", |one| {
            format!("{}\t{}\t{}\t{}", one.id, one.age, one.sex, one.illness)
        });
        [0xfeff].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    }),
    ("german dates.csv", |quarter| {
        table(quarter, "Fallnummer;Geburtsdatum;Aufnahmedatum;Geschlecht;Diagnose;Bemerkung", |one| {
            let OddPerson { id, day, month, .. } = *one;
            format!(
                "{id};{day:02}.{month:02}.{};{day}.{month}.2025;{};{};kam zu Fuß, ging wieder {id}",
                1940 + one.age,
                one.sex,
                one.illness
            )
        })
        .into_bytes()
    }),
    ("american dates.csv", |quarter| {
        table(quarter, "mrn,dob,admitted,sex,icd10", |one| {
            let code = ["J10.1", "K29.7", "K30", "J40", "J45.9", "M54.5"][(one.id * 5 % 6) as usize];
            let OddPerson { id, day, month, .. } = *one;
            format!("{id},{month:02}/{day:02}/{},{month:02}/{day:02}/2025 10:30,{},{code}", 1940 + one.age, one.sex)
        })
        .into_bytes()
    }),
    ("dates that could be either.csv", |quarter| {
        table(quarter, "id,age,seen_on,sex,disease", |one| {
            format!("{},{},{:02}/{:02}/2025,{},{}", one.id, one.age, 1 + one.id % 12, one.month, one.sex, one.illness)
        })
        .into_bytes()
    }),
    ("Excel.xlsx", |quarter| {
        let mut workbook = Workbook::new();
        let sheet = workbook.add_worksheet();
        let date = Format::new().set_num_format("dd.mm.yyyy");
        for (column, name) in (0..).zip(["Patient No", "Age", "Admitted", "Sex", "Diagnosis", "Stay"]) {
            sheet.write(0, column, name).unwrap();
        }
        for (row, one) in (1..).zip(people(quarter)) {
            sheet.write(row, 0, one.id).unwrap();
            sheet.write(row, 1, one.age).unwrap();
            let day = ExcelDateTime::from_ymd(2025, one.month as u8, one.day as u8).unwrap();
            sheet.write_with_format(row, 2, day, &date).unwrap();
            sheet.write(row, 3, one.sex).unwrap();
            sheet.write(row, 4, one.illness).unwrap();
            sheet.write_formula(row, 5, Formula::new("=1+2").set_result("3")).unwrap();
        }
        workbook.save_to_buffer().unwrap()
    }),
    ("empty cells.csv", |quarter| {
        table(quarter, "id,age,sex,county,diagnosis", |one| {
            let blank = |every: u32, text: String| if one.id % every == 0 { String::new() } else { text };
            let (age, sex, illness) = (one.age.to_string(), one.sex.to_string(), one.illness.to_string());
            format!("{},{},{},,{}", one.id, blank(9, age), blank(7, sex), blank(11, illness))
        })
        .into_bytes()
    }),
    ("free text.csv", |quarter| {
        table(quarter, "id,full_name,age,gender,diagnosis,notes", |one| {
            let OddPerson { id, age, sex, illness, .. } = one;
            format!("{id},\"O'Neill, Ann {id}\",{age},{sex},{illness},\"said \"\"well\"\",\nand left {id}\"")
        })
        .into_bytes()
    }),
    ("codes.csv", |quarter| {
        table(quarter, "person_id,zip,naics,birth_year,income", |one| {
            let income = ["low", "lower", "middle", "upper", "high"][(one.id % 5) as usize];
            format!(
                "{:08},0{:04},{},{},{income}",
                one.id,
                2100 + one.id % 40,
                541_100 + one.id % 9 * 10,
                1940 + one.age
            )
        })
        .into_bytes()
    }),
    ("packed.csv.zst", |quarter| {
        let text = table(quarter, "Matricule;Âge;Sexe;Maladie", |one| {
            format!("{};{};{};{}", one.id, one.age, one.sex, one.illness)
        });
        zstd::encode_all(text.as_bytes(), 3).unwrap()
    }),
    ("several stays.csv", |quarter| {
        table(quarter, "stay_id,patient_id,age,sex,admitted,diagnosis", |one| {
            let OddPerson { id, age, sex, illness, day, month } = one;
            let stay = |number: u32, illness: &str| {
                format!("{id}-{number},{id},{age},{sex},202{}-{month:02}-{day:02},{illness}", 3 + number)
            };
            match id % 4 {
                0 => format!("{}\n{}", stay(1, "flu"), stay(2, illness)),
                _ => stay(1, illness),
            }
        })
        .into_bytes()
    }),
];

#[test]
fn odd_files_are_drafted_checked_and_published_twice_untouched() {
    for (name, contents) in ODD {
        let project = TestProject::empty();
        let names = [format!("1 {name}"), format!("2 {name}")];
        for (quarter, name) in (1..).zip(&names) {
            fs::write(project.file(name), contents(quarter)).unwrap();
        }
        let drafted = project.ok(&["init", &names[0], "--yes", "--name", "odd"]);
        let policy = project.read("tacenda.toml");
        let run = |words: &[&str]| {
            let ended = project.run(words);
            assert_eq!(ended.code, 0, "{name}: {words:?}\n{}\n{}\n{drafted}\n{policy}", ended.stdout, ended.stderr);
            ended.stdout
        };
        run(&["check", &names[0]]);
        run(&["publish", &names[0], "--yes"]);
        run(&["publish", &names[1], "--yes"]);
        run(&["verify"]);
        assert_eq!(project.read("tacenda.toml"), policy, "{name}");
        assert!(policy.contains("model = \"m-invariance\""), "{name}\n{policy}");
        assert_eq!(policy.contains("missing = \"error\""), name != "empty cells.csv", "{name}\n{policy}");
        assert!(project.file("releases/odd/r0002").is_dir(), "{name}");
    }
}

#[test]
fn a_file_that_is_no_table_is_refused_with_its_place() {
    let project = TestProject::empty();
    let ragged = table(1, "id,age,sex,diagnosis", |one| match one.id {
        1004 => format!("{},{},{},{},and more", one.id, one.age, one.sex, one.illness),
        _ => format!("{},{},{},{}", one.id, one.age, one.sex, one.illness),
    });
    project.write("ragged.csv", &ragged);
    let ended = project.fails(&["init", "ragged.csv", "--yes"], 3, "D113");
    assert!(ended.stderr.contains("line 6") && !ended.stderr.contains("and more"), "{}", ended.stderr);
    let mut workbook = Workbook::new();
    let sheet = workbook.add_worksheet();
    sheet.write(0, 0, "Patients").unwrap().write(2, 0, "id").unwrap();
    workbook.save(project.file("titled.xlsx")).unwrap();
    let ended = project.fails(&["init", "titled.xlsx", "--yes"], 3, "D135");
    assert!(ended.stderr.contains("Sheet1!A2"), "{}", ended.stderr);
    assert!(!project.file("tacenda.toml").exists());
}

/// What the drafts say of columns: codes get trees, several stays are told, empty cells are allowed only where there are some.
#[test]
fn drafts_say_what_was_found() {
    let draft = |wanted: &str| {
        let (name, contents) = ODD.into_iter().find(|(name, _)| *name == wanted).unwrap();
        let project = TestProject::empty();
        fs::write(project.file(name), contents(1)).unwrap();
        let said = project.ok(&["init", name, "--yes"]);
        (project, said)
    };
    let (codes, _) = draft("codes.csv");
    let policy = codes.read("tacenda.toml");
    assert!(policy.contains("person_id  = { role = \"identifier\" }"), "{policy}");
    assert!(codes.read("hierarchies/zip.csv").starts_with("02100;0210*;021**;02***;0****;*\n"), "{policy}");
    assert!(policy.contains("hierarchy = \"hierarchies/naics.csv\""), "{policy}");
    let (american, _) = draft("american dates.csv");
    let policy = american.read("tacenda.toml");
    assert!(policy.contains("format = \"MM/DD/YYYY\"") && policy.contains("format = \"MM/DD/YYYY…\""), "{policy}");
    let (stays, said) = draft("several stays.csv");
    let policy = stays.read("tacenda.toml");
    assert!(policy.contains("[person]\nrows  = \"latest\"\norder = \"admitted\""), "{policy}");
    assert!(policy.contains("stay_id    = { role = \"drop\" }"), "{policy}");
    assert!(said.contains("some have several rows"), "{said}");
    let check = stays.ok(&["check", "several stays.csv"]);
    assert!(
        check.contains("of 150 people have several rows, 188 rows in all; the latest one counts, 38 rows are left out"),
        "{check}"
    );
    let (empty, _) = draft("empty cells.csv");
    let policy = empty.read("tacenda.toml");
    assert!(policy.contains("# 2. What must nobody learn about a person? Here: diagnosis."), "{policy}");
    let sex = policy.lines().find(|line| line.starts_with("sex ")).unwrap();
    assert!(!sex.contains("missing = \"error\""), "{sex}");
    let (german, said) = draft("german dates.csv");
    assert!(german.read("tacenda.toml").contains("format = \"DD.MM.YYYY\""), "{said}");
    assert!(said.contains("Bemerkung            drop"), "{said}");
}

/// Four of five have one value: no group can hide it, so `init --yes` leaves it out. It was published as it is before.
#[test]
fn a_value_that_most_people_have_is_not_published_by_a_draft() {
    let project = TestProject::empty();
    let hiv = |one: &OddPerson| if one.id.is_multiple_of(5) { "positive" } else { "negative" };
    let text = table(1, "id,age,sex,hiv", |one| format!("{},{},{},{}", one.id, one.age, one.sex, hiv(one)));
    project.write("table.csv", &text);
    let said = project.ok(&["init", "table.csv", "--yes", "--name", "odd"]);
    let policy = project.read("tacenda.toml");
    assert!(policy.contains("hiv = { role = \"drop\" }") && policy.contains("no column is sensitive"), "{policy}");
    assert!(said.contains("120 of 150 rows have one value"), "{said}");
    assert!(!policy.contains("max_share = 1.00"), "{policy}");
    project.ok(&["check", "table.csv"]);
    project.ok(&["publish", "table.csv", "--yes"]);
    assert!(!project.read("releases/odd/r0001/odd-r0001.csv").contains("positive"));

    // Whoever publishes it nevertheless is told what the promise leaves open.
    let other = TestProject::with(&[("table.csv", &text)]);
    let policy = policy.replace("hiv = { role = \"drop\" }", "hiv = { role = \"sensitive\", type = \"category\" }");
    other.write("tacenda.toml", &policy);
    let said = other.ok(&["check", "table.csv"]);
    let told = "the promise does not protect the values of hiv: 120 of 150 people have its most frequent value";
    assert!(said.contains(told) && said.contains("a group may hold one value only"), "{said}");
    assert!(!said.contains("negative"), "{said}");
}

/// A draft that cannot be used says what to correct first; a quiet one prints its path.
#[test]
fn a_draft_says_whether_it_can_be_used() {
    let project = TestProject::empty();
    project.write("table.csv", &table(1, "ref,colour,illness", |one| format!("{},red,{}", one.id % 3, one.illness)));
    let said = project.ok(&["init", "table.csv", "--yes"]);
    assert!(said.contains("It is not usable yet: the notes above say what must be corrected first. Then"), "{said}");
    let good = table(1, "id,age,sex,diagnosis,", |one| format!("{},{},{},{},", one.id, one.age, one.sex, one.illness));
    let quiet = TestProject::with(&[("table.csv", &good)]);
    assert_eq!(quiet.ok(&["init", "table.csv", "--yes", "-q"]).trim(), "./tacenda.toml");
    assert!(!quiet.read("tacenda.toml").contains("\"\" ="), "a delimiter at the end of each line is no column");
    let said = quiet.ok(&["check", "table.csv"]);
    assert!(said.contains("This table can be published under it"), "{said}");
}

/// What was concluded about the table is said when its plan is published, too.
#[test]
fn a_plan_remembers_the_notes_of_its_table() {
    let (name, contents) = ODD.into_iter().find(|(name, _)| *name == "several stays.csv").unwrap();
    let project = TestProject::empty();
    fs::write(project.file(name), contents(1)).unwrap();
    project.ok(&["init", name, "--yes"]);
    let planned = project.ok(&["plan", name]);
    let published = project.ok(&["publish", "--plan", "tacenda-plan.json", "--yes"]);
    let note = "the latest one counts, 38 rows are left out";
    assert!(planned.contains(note) && published.contains(note), "{planned}\n{published}");
}
