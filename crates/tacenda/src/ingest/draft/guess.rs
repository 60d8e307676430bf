//! Proposes a type, padded bounds and a role for each column, from what was seen.

use crate::ingest::draft::seen::Seen;
use crate::ingest::draft::{DraftColumn, Guess};
use crate::model::Role;

/// The vocabulary of column names, one line per role.
const WORDS: &str = include_str!("words.txt");

/// The word of a name that the vocabulary lists for a role.
pub(super) fn says(role: &str, name: &str) -> Option<String> {
    words(name).into_iter().find(|word| listed(role, word))
}

/// Whether the vocabulary lists a word for a role.
fn listed(role: &str, word: &str) -> bool {
    let lines = WORDS.lines().filter_map(|line| line.strip_prefix(role)?.strip_prefix(':'));
    lines.flat_map(str::split_whitespace).any(|entry| match entry.strip_prefix('*') {
        Some(ending) => word.len() > ending.len() && word.ends_with(ending),
        None => word == entry,
    })
}

/// The proposals for all columns.
pub(super) fn columns(header: Vec<String>, seen: Vec<Seen>, rows: u64) -> Vec<DraftColumn> {
    let mut columns: Vec<DraftColumn> = header
        .into_iter()
        .zip(seen)
        .map(|(name, seen)| {
            let kind = kind(&name, &seen);
            let (role, because) = role(&name, &kind, &seen, rows);
            let undecided = because == UNDECIDED;
            DraftColumn {
                undecided,
                open: false,
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
    if let Some((at, doubt)) = doubt_about_people(&columns) {
        columns[at].because = format!("{}; but {doubt}", columns[at].because);
    }
    drop_uneven(&mut columns);
    drop_few_valued(&mut columns);
    keep_one_sensitive(&mut columns);
    columns
}

/// Several sensitive columns count as one combined value, and a group with many combinations may have one value of a column. So
/// the draft keeps the first one: then what it says of a value holds. The others are a question where somebody can be asked.
fn keep_one_sensitive(columns: &mut [DraftColumn]) {
    let mut sensitive = columns.iter_mut().filter(|column| column.role == Role::Sensitive);
    let Some(first) = sensitive.next().map(|column| column.name.clone()) else { return };
    for column in sensitive {
        column.role = Role::Drop;
        column.undecided = true;
        column.because = format!(
            "{}, but beside {first} it would count as a part of one combined value, and a part alone may be certain; it is left out: \
             publish it in a series of its own, or make it sensitive in place of {first}",
            column.because
        );
    }
}

/// A value that more than half of the rows have cannot be hidden among others: some group holds no other. So the column is
/// left out. Where somebody can be asked, it is a question.
fn drop_uneven(columns: &mut [DraftColumn]) {
    for column in columns.iter_mut().filter(|column| column.role == Role::Sensitive) {
        let Some(most) = column.seen.too_frequent() else { continue };
        column.role = Role::Drop;
        column.undecided = true;
        column.because = format!(
            "{}, but {} of {} rows have one value, so a group could hold that value only; it is left out. To publish it: split that \
             value into finer ones; or publish only the people without it; or publish how often each value occurs, in a table of its \
             own; or, if everybody may learn it, make it sensitive under a promise about identity only",
            column.because, most, column.seen.rows
        );
    }
}

/// Several sensitive columns count as one combined value. A column with two or three values hides nobody, and it would
/// make the combination look diverse. So it is left out if another column is sensitive.
fn drop_few_valued(columns: &mut [DraftColumn]) {
    let is_sensitive = |column: &DraftColumn| column.role == Role::Sensitive;
    let few = |column: &DraftColumn| column.distinct.is_some_and(|distinct| distinct < FEW);
    if !columns.iter().any(|column| is_sensitive(column) && !few(column)) {
        return;
    }
    for column in columns.iter_mut().filter(|column| is_sensitive(column) && few(column)) {
        column.role = Role::Drop;
        column.because = format!(
            "{}, but {} values are too few to hide anybody; publish it in a series of its own, or make it quasi",
            column.because,
            column.distinct.unwrap_or(0)
        );
    }
}

/// A sensitive column with fewer values hides nobody among three.
const FEW: usize = 4;

/// Chooses the column that identifies the person. A column named after people comes first, even if people have several rows:
/// a number of stays or visits is unique, and would turn one person into several. Otherwise it is the first unique column
/// that is named like an identifier, or the first unique one.
fn choose_identifier(columns: &mut [DraftColumn]) {
    // A postcode has "code" in its name, and is no identifier even if no two rows share one.
    let is_other =
        |name: &str| says("quasi", name).is_some() || says("code", name).is_some() && says("person", name).is_none();
    let called = |column: &DraftColumn| says("identifier", &column.name).is_some() && !is_other(&column.name);
    let whole = |column: &DraftColumn| {
        column.missing == 0 && column.seen.breaks == 0 && matches!(column.kind, Guess::Integer { .. } | Guess::Category)
    };
    let fit = |column: &DraftColumn| column.unique && whole(column);
    let plain = |column: &DraftColumn| fit(column) && column.undecided;
    let of_event = |column: &DraftColumn| says("event", &column.name).is_some();
    // A number that many rows share is a ward, not a person.
    let often = |column: &DraftColumn| column.distinct.is_none_or(|distinct| distinct as u64 * 10 >= column.seen.rows);
    let shared = |column: &DraftColumn| whole(column) && called(column) && often(column) && !column.unique;
    let find = |fits: &dyn Fn(&DraftColumn) -> bool| columns.iter().position(fits);
    // People of whom there are more are rather those whom the rows are about: patients, not their doctors.
    let several = || (0..columns.len()).rev().filter(|&at| names_people(&columns[at]));
    let several = || several().max_by_key(|&at| columns[at].distinct.unwrap_or(usize::MAX));
    let chosen = find(&|column| fit(column) && names_people(column))
        .or_else(several)
        .or_else(|| find(&|column| fit(column) && called(column) && !of_event(column)))
        // What follows a unique number of visits is rather the number of the visitor.
        .or_else(|| find(&shared))
        .or_else(|| find(&|column| fit(column) && called(column)))
        .or_else(|| find(&plain));
    for (index, column) in columns.iter_mut().enumerate() {
        let is_plain = plain(column);
        if Some(index) == chosen {
            column.role = Role::Identifier;
            column.undecided = false;
            column.because = match column.unique {
                true => "no two rows have the same value, and none is missing".into(),
                false => "its name says that it names people; some have several rows".into(),
            };
        } else if is_plain {
            column.role = Role::Drop;
            column.undecided = false;
            column.because = "no two rows have the same value: it names each row, as the identifier does".into();
        }
    }
}

/// Whether a column is named after people, and has as many values as people would be. Cells may be empty: then `check`
/// refuses the table, because nobody can tell whose rows these are. A number of their visits names visits.
fn names_people(column: &DraftColumn) -> bool {
    let is = |role: &str| says(role, &column.name).is_some();
    let is_person = is("person") && !["event", "quasi", "sensitive", "drop"].into_iter().any(is);
    let is_number = !matches!(column.kind, Guess::Date { .. }) && column.seen.breaks == 0;
    let many = column.distinct.is_none_or(|distinct| {
        let of_people = |word: &str| listed("person", word) || listed("identifier", word);
        let only_people = words(&column.name)
            .iter()
            .all(|word| of_people(word.strip_suffix("id").unwrap_or(word)) || of_people(word));
        distinct as u64 * 10 >= column.seen.rows || only_people && distinct > MOST_KINDS
    });
    is_person && is_number && many && column.missing < column.seen.rows
}

/// A column with so few values says of what kind people are, not who they are.
const MOST_KINDS: usize = 40;

/// What is not certain about who a person is: visits that may be of one person, or two columns that could both name them.
fn doubt_about_people(columns: &[DraftColumn]) -> Option<(usize, String)> {
    let at = columns.iter().position(|column| column.role == Role::Identifier && column.unique)?;
    if names_people(&columns[at]) {
        return None;
    }
    let name = &columns[at].name;
    let repeats = |column: &&DraftColumn| {
        let is_number = says("identifier", &column.name).is_some() && says("quasi", &column.name).is_none();
        let distinct = column.distinct.map_or(u64::MAX, |distinct| distinct as u64);
        is_number && !column.unique && column.missing == 0 && distinct.saturating_mul(10) >= column.seen.rows
    };
    if let Some(other) = columns.iter().filter(|column| column.role == Role::Drop).find(repeats) {
        let doubt = format!(
            "several rows can share {0}: if {0} names the people, give it role = \"identifier\", and {name} role = \"drop\"; \
             otherwise the promise is about rows, not about people",
            other.name
        );
        return Some((at, doubt));
    }
    let word = says("event", name)?;
    let doubt = format!(
        "its name says {word:?}, and no other column names people: if somebody can have two rows, the promise is about rows, not \
         about people; then add a column that says whose rows they are"
    );
    Some((at, doubt))
}

/// The column of dates that orders a person's rows: the first one that is no date of birth and has no empty cell.
/// `None` if each person has one row.
pub(super) fn row_order(columns: &[DraftColumn]) -> Option<usize> {
    if columns.iter().any(|column| column.role == Role::Identifier && column.unique) {
        return None;
    }
    let is_birth = |column: &DraftColumn| says("birth", &column.name).is_some();
    let is_date = |column: &DraftColumn| matches!(column.kind, Guess::Date { .. }) && column.missing == 0;
    columns.iter().position(|column| is_date(column) && !is_birth(column))
}

/// The reason for a column whose role is not recognised.
pub(super) const UNDECIDED: &str = "its name does not tell its role, so it is left out; make it quasi if an attacker may know it, sensitive if nobody \
     may learn it";

fn role(name: &str, kind: &Guess, seen: &Seen, rows: u64) -> (Role, String) {
    let one_of = |role: &str| says(role, name);
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
    // Notes on a diagnosis are notes.
    if let Some(word) = one_of("drop") {
        return (Role::Drop, format!("its name contains {word:?}"));
    }
    if let [(first, ..), (second, ..), ..] = seen.patterns()[..] {
        return (
            Role::Drop,
            format!(
                "dates in which day and month cannot be told apart; write type = \"date\" with format = \"{first}\" or \"{second}\""
            ),
        );
    }
    if seen.has_month_names() {
        return (Role::Drop, MONTH_NAMES.into());
    }
    if seen.integers && one_of("date").is_some() && seen.least >= SERIALS.0 && seen.greatest <= SERIALS.1 {
        return (Role::Drop, SERIAL.into());
    }
    let distinct = seen.counts.as_ref().map(|counts| counts.len() as u64);
    let is_text = *kind == Guess::Category;
    let texty = is_text && seen.bytes > 20 * filled && seen.blanks * 2 > filled;
    if texty && distinct.is_none_or(|distinct| distinct * 2 > filled) {
        return (Role::Drop, "it looks like free text".into());
    }
    let is_unique = distinct.is_none_or(|distinct| distinct > ALIKE && distinct * 2 > filled);
    let unique =
        || (Role::Drop, "most rows have a value of their own: it would name people, as free text does".to_string());
    if let Some(word) = one_of("sensitive") {
        return match is_unique {
            false => (Role::Sensitive, format!("its name contains {word:?}")),
            true if is_text => unique(),
            true => (Role::Drop, BANDS.into()),
        };
    }
    if is_text && distinct.is_none() {
        return (Role::Drop, "it has too many values for a hierarchy".into());
    }
    match one_of("quasi") {
        // The prefix of a code is shared even if the code is not.
        Some(_) if is_text && is_unique && one_of("code").is_none() => unique(),
        Some(word) => (Role::Quasi, format!("its name contains {word:?}")),
        None => (Role::Drop, UNDECIDED.into()),
    }
}

/// The reason for a sensitive column of numbers that hardly any two rows share.
const BANDS: &str = "hardly any two rows have the same value: published as it is, it would follow a person through the series; write bands \
     such as 20000-29999 into the table, so that many rows share each, and make it sensitive";

/// The most units of a real number that a domain of a policy has.
const MOST_UNITS: i64 = 9_000_000_000_000_000;

/// With so few values a table is small, and values that one row has say nothing.
const ALIKE: u64 = 20;

/// Days from 1954 to 2064, as spreadsheets count them.
const SERIALS: (f64, f64) = (20_000.0, 60_000.0);

/// The reason for dates with the month as a word.
const MONTH_NAMES: &str = "its cells look like dates with the name of a month, which are not read; write them like 2025-12-31 (in a \
     spreadsheet, give the column the format YYYY-MM-DD and save it), and draft again";

/// The reason for a column of such days.
const SERIAL: &str = "its name says dates, and its numbers may be days as a spreadsheet counts them; if so, write type = \"date\" with format = \
     \"excel\"";

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
            words.last_mut().expect("there is a first").extend(letter.to_lowercase().flat_map(plain));
        }
    }
    // INMATEID and patientid end in `id`.
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

/// A letter without its accent.
fn plain(letter: char) -> impl Iterator<Item = char> {
    let plain = match letter {
        'ä' => "ae",
        'ö' => "oe",
        'ü' => "ue",
        'ß' => "ss",
        'á' | 'à' | 'â' | 'ã' | 'å' => "a",
        'é' | 'è' | 'ê' | 'ë' => "e",
        'í' | 'ì' | 'î' | 'ï' => "i",
        'ó' | 'ò' | 'ô' | 'õ' => "o",
        'ú' | 'ù' | 'û' => "u",
        'ç' => "c",
        'ñ' => "n",
        _ => "",
    };
    let letter = if plain.is_empty() { Some(letter) } else { None };
    letter.into_iter().chain(plain.chars())
}

fn kind(name: &str, seen: &Seen) -> Guess {
    let code = says("code", name).is_some();
    if seen.missing == seen.rows {
        return Guess::Category;
    }
    if seen.dates {
        return dates(seen.first_day, seen.last_day, None);
    }
    if let [(written, first, last)] = seen.patterns()[..] {
        return dates(first, last, Some(written));
    }
    if !seen.reals || code && seen.integers {
        return Guess::Category;
    }
    let decimals = if seen.integers { 0 } else { fitting_decimals(seen) };
    let unit = 10f64.powi(i32::from(decimals));
    let (least, greatest) = ((seen.least * unit).floor() as i64, (seen.greatest * unit).floor() as i64);
    let is_age = |word: &String| ["age", "alter", "edad", "idade", "eta", "leeftijd"].contains(&word.as_str());
    if seen.integers && words(name).iter().any(is_age) && least >= 0 && greatest < 120 {
        return Guess::Integer { lo: 0, hi: 130 };
    }
    // Leaves room for the next years, on both sides.
    let spread = greatest - least;
    let lowest = if least >= 0 { (least - spread).max(0) } else { least - spread };
    let (lo, hi) = padded(lowest, greatest + spread);
    if (i128::from(hi) - i128::from(lo)) >= i128::from(u32::MAX) - 2 {
        return Guess::Category;
    }
    match seen.integers {
        true => Guess::Integer { lo, hi },
        // A policy takes no bound above: beyond it, not every whole number is a floating-point number.
        false if hi.max(-lo) >= MOST_UNITS => Guess::Category,
        false => Guess::Real { lo, hi, decimals },
    }
}

/// Dates in whole decades with room on both sides, because the series should last for years.
fn dates(first: i64, last: i64, written: Option<&'static str>) -> Guess {
    let year = |day: i64| 1970 + (day as f64 / 365.2425).floor() as i64;
    let (lo, hi) = (year(first - 1), year(last + 1));
    let decade = |year: i64| year.div_euclid(10) * 10;
    Guess::Date { lo: (decade(lo) - 10).max(1), hi: (decade(hi + 15) + 10).min(9_990), written }
}

/// As many decimals as were seen, or fewer if their values could not be numbered.
fn fitting_decimals(seen: &Seen) -> u8 {
    let far = seen.greatest.abs().max(seen.least.abs());
    let fits = |decimals: u8| {
        let unit = 10f64.powi(i32::from(decimals));
        (seen.greatest - seen.least) * unit < 4e8 && far * unit < MOST_UNITS as f64
    };
    (0..=seen.decimals).rev().find(|&decimals| fits(decimals)).unwrap_or(0)
}

/// Round bounds well outside of the values seen. If no value is negative, the lower bound is not negative either.
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
