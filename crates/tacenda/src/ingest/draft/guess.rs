//! From what was seen to a proposal: type, padded bounds, role.

use crate::ingest::draft::seen::Seen;
use crate::ingest::draft::{DraftColumn, Guess};
use crate::model::Role;

const IDENTIFIERS: &[&str] = &[
    "id",
    "ids",
    "key",
    "uuid",
    "guid",
    "identifier",
    "number",
    "nr",
    "no",
    "num",
    "mrn",
    "ssn",
    "pid",
    "nhs",
    "code",
];
const CONTACTS: &[&str] = &[
    "name",
    "names",
    "surname",
    "firstname",
    "lastname",
    "forename",
    "fullname",
    "email",
    "mail",
    "phone",
    "telephone",
    "mobile",
    "fax",
    "address",
    "street",
    "comment",
    "comments",
    "note",
    "notes",
    "text",
    "remark",
    "remarks",
    "description",
    "ip",
    "url",
    "user",
    "username",
    "login",
    "ssn",
    "passport",
    "iban",
    "photo",
    "signature",
];
const SENSITIVE: &[&str] = &[
    "diagnosis",
    "diagnoses",
    "disease",
    "illness",
    "icd",
    "icd9",
    "icd10",
    "condition",
    "income",
    "salary",
    "wage",
    "wages",
    "charge",
    "charges",
    "offence",
    "offense",
    "crime",
    "treatment",
    "medication",
    "drug",
    "hiv",
    "debt",
    "cause",
    "procedure",
    "symptom",
    "symptoms",
    "therapy",
    "balance",
    "earnings",
    "pay",
    "verdict",
    "sentence",
    "infraction",
];
const QUASI: &[&str] = &[
    "age",
    "birth",
    "birthdate",
    "birthday",
    "dob",
    "born",
    "date",
    "day",
    "year",
    "month",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "plz",
    "sex",
    "gender",
    "race",
    "ethnicity",
    "marital",
    "country",
    "birthplace",
    "city",
    "town",
    "county",
    "state",
    "region",
    "education",
    "occupation",
    "workclass",
    "relationship",
    "nationality",
    "religion",
    "language",
    "admitted",
    "discharged",
    "admission",
    "discharge",
    "height",
    "weight",
    "hours",
    "ward",
];
const CODES: &[&str] = &["zip", "zipcode", "postcode", "postal", "plz", "icd", "icd9", "icd10", "code"];

/// The proposals for all columns.
pub(super) fn columns(header: Vec<String>, seen: Vec<Seen>, rows: u64) -> Vec<DraftColumn> {
    let mut columns: Vec<DraftColumn> = header
        .into_iter()
        .zip(seen)
        .map(|(name, seen)| {
            let kind = kind(&name, &seen);
            let (role, because) = role(&name, &kind, &seen, rows);
            DraftColumn {
                kind,
                missing: seen.missing,
                distinct: seen.counts.as_ref().map(|counts| counts.len()),
                unique: seen.unique(),
                role,
                because,
                name,
                seen,
            }
        })
        .collect();
    choose_identifier(&mut columns);
    columns
}

/// One column names the person: the first that is unique and called so, or else just unique.
fn choose_identifier(columns: &mut [DraftColumn]) {
    let called = |column: &DraftColumn| words(&column.name).iter().any(|word| IDENTIFIERS.contains(&word.as_str()));
    let fit = |column: &DraftColumn| {
        column.unique && column.seen.breaks == 0 && matches!(column.kind, Guess::Integer { .. } | Guess::Category)
    };
    let known = |column: &DraftColumn| words(&column.name).iter().any(|word| QUASI.contains(&word.as_str()));
    let plain = |column: &DraftColumn| fit(column) && column.role == Role::Quasi && !known(column);
    let chosen =
        columns.iter().position(|column| fit(column) && called(column)).or_else(|| columns.iter().position(plain));
    for (index, column) in columns.iter_mut().enumerate() {
        if Some(index) == chosen {
            column.role = Role::Identifier;
            column.because = "no two rows have the same value, and none is missing".into();
        } else if plain(column) {
            column.role = Role::Drop;
            column.because = "it names each person as well as the identifier does".into();
        }
    }
}

fn role(name: &str, kind: &Guess, seen: &Seen, rows: u64) -> (Role, String) {
    let words = words(name);
    let one_of = |list: &[&str]| words.iter().find(|word| list.contains(&word.as_str())).cloned();
    let filled = rows - seen.missing;
    if matches!(name, "group_id" | "row_weight" | "record") {
        return (Role::Drop, "a release has a column of this name".into());
    }
    if filled == 0 {
        return (Role::Drop, "every cell is empty".into());
    }
    if seen.breaks > 0 {
        return (Role::Drop, "cells hold line breaks: free text, or rows that stray quotes have swallowed".into());
    }
    if let Some(word) = one_of(SENSITIVE) {
        return (Role::Sensitive, format!("its name contains {word:?}"));
    }
    if let Some(word) = one_of(CONTACTS) {
        return (Role::Drop, format!("its name contains {word:?}"));
    }
    let texty = *kind == Guess::Category && seen.bytes > 20 * filled && seen.blanks * 2 > filled;
    if texty && seen.counts.as_ref().is_none_or(|counts| counts.len() as u64 * 2 > filled) {
        return (Role::Drop, "it looks like free text".into());
    }
    if *kind == Guess::Category && seen.counts.is_none() {
        return (Role::Drop, "it has too many values for a hierarchy".into());
    }
    match one_of(QUASI) {
        Some(word) => (Role::Quasi, format!("its name contains {word:?}")),
        None => (Role::Quasi, "nothing speaks against someone knowing it".into()),
    }
}

/// The words of a name, in lower case: `admittedOn`, `admitted_on` and `Admitted On` have the same.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut before_lower = false;
    for letter in name.chars() {
        if !letter.is_alphanumeric() || letter.is_uppercase() && before_lower {
            words.push(String::new());
        }
        before_lower = letter.is_lowercase();
        if letter.is_alphanumeric() {
            words.last_mut().expect("there is a first").extend(letter.to_lowercase());
        }
    }
    // INMATEID and patientid end in what they are.
    if let Some(stem) = words.last().and_then(|word| word.strip_suffix("id")).filter(|stem| stem.len() > 3) {
        words.push(stem.to_string());
        words.push("id".into());
    }
    // income50 is an income.
    let stems = words.iter().map(|word| word.trim_end_matches(|letter: char| letter.is_ascii_digit()).to_string());
    let stems: Vec<String> = stems.collect();
    words.extend(stems);
    words.retain(|word| !word.is_empty());
    words
}

fn kind(name: &str, seen: &Seen) -> Guess {
    let code = words(name).iter().any(|word| CODES.contains(&word.as_str()));
    if seen.missing == seen.rows {
        return Guess::Category;
    }
    if seen.dates {
        let year = |day: i64| 1970 + (day as f64 / 365.2425).floor() as i64;
        // Whole decades, and one more year: the next releases should fit.
        let (lo, hi) = (year(seen.first_day - 1), year(seen.last_day + 1));
        return Guess::Date { lo: (lo.div_euclid(10) * 10).max(1), hi: (hi.div_euclid(10) * 10 + 11).min(9_990) };
    }
    if !seen.reals || code && seen.integers {
        return Guess::Category;
    }
    let decimals = if seen.integers { 0 } else { fitting_decimals(seen) };
    let unit = 10f64.powi(i32::from(decimals));
    let (least, greatest) = ((seen.least * unit).floor() as i64, (seen.greatest * unit).floor() as i64);
    if seen.integers && words(name).iter().any(|word| word == "age") && least >= 0 && greatest < 120 {
        return Guess::Integer { lo: 0, hi: 120 };
    }
    let (lo, hi) = padded(least, greatest);
    if (i128::from(hi) - i128::from(lo)) >= i128::from(u32::MAX) - 2 {
        return Guess::Category;
    }
    if seen.integers { Guess::Integer { lo, hi } } else { Guess::Real { lo, hi, decimals } }
}

/// As many decimals as were seen, or fewer if their values could not be numbered.
fn fitting_decimals(seen: &Seen) -> u8 {
    let fits = |decimals: u8| (seen.greatest - seen.least) * 10f64.powi(i32::from(decimals)) < 4e8;
    (0..=seen.decimals).rev().find(|&decimals| fits(decimals)).unwrap_or(0)
}

/// Round bounds well outside of what was seen; zero stays zero for what is never negative.
pub(super) fn padded(least: i64, greatest: i64) -> (i64, i64) {
    let spread = (greatest - least).max(1);
    let step = 10i64.pow(spread.ilog10()).max(10);
    let mut lo = least.div_euclid(step) * step;
    if least - lo < step / 10 {
        lo -= step;
    }
    if least >= 0 {
        lo = lo.max(0);
    }
    let mut hi = (greatest.div_euclid(step) + 1) * step;
    if hi - greatest <= step / 10 {
        hi += step;
    }
    (lo, hi)
}
