//! A draft as the text of a policy file, and its hierarchy files.

use crate::ingest::draft::{Draft, DraftColumn, Guess, guess, rare};
use crate::model::{Domain, Hierarchy, OTHER, Quasi, Role};
use crate::promise::{Entry, SeriesPromise};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// The most values that are listed in the policy file itself.
const LISTED: usize = 40;

/// The least number of rows that must have a value before the draft lists it.
const SHARED: u32 = 3;

/// Fewer codes are listed without a tree.
const FEW_CODES: usize = 6;

/// The comment above values and hierarchies.
const EVERY_VALUE: &str = "# list every value that may occur: the list is published with every release; it can gain \
    values later, but not lose any";

/// The comment above a long list of values.
const UNCOUNTED: &str =
    "# so many values without groups of them get no published counts: give the hierarchy file a column of groups";

/// Whether the hierarchy file lists too many values, and no groups of them, for published counts.
fn is_uncounted(column: &DraftColumn) -> bool {
    let Some((_, text)) = hierarchy(column, false) else { return false };
    let rows: Vec<Vec<String>> = text.lines().map(|line| line.split(';').map(String::from).collect()).collect();
    let tree = Hierarchy::from_rows(&rows);
    tree.is_ok_and(|tree| Quasi::new("", Domain::Category(tree)).not_counted_because().is_some())
}

pub(super) fn policy(draft: &Draft, series: &str) -> String {
    let mut out = String::new();
    line(
        &mut out,
        &format!("# Drafted from {} rows. Read every line: what is published is your decision.", draft.rows),
    );
    for what in draft.lacking() {
        line(&mut out, &format!("# NOT USABLE YET: {what}."));
    }
    questions(draft, &mut out);
    line(&mut out, "policy = 1\n\n[series]");
    line(&mut out, &format!("name    = {}", quoted(&series_name(series))));
    line(&mut out, "title   = \"\"\ncontact = \"\"\n");
    line(
        &mut out,
        "# Every column of the source is named. Roles: identifier, quasi (an attacker may know it; generalised),",
    );
    line(&mut out, "# sensitive (must not be learned; published as it is), public (needs because = \"…\"), drop.");
    line(&mut out, "# Domains are public, half open and rounded outwards: check that the next releases fit, too.");
    line(&mut out, "[columns]");
    // One name of a page's length would push all others off the screen, and the formatter takes no width of 65,536.
    let width = draft.columns.iter().map(|column| key(&column.name).chars().count()).max().unwrap_or(0).min(60);
    for column in &draft.columns {
        line(&mut out, &format!("# {}: {}", said(&column.name), describe(column)));
        let is_declared = column.role == Role::Quasi && column.kind == Guess::Category;
        if is_declared || draft.has_views() && column.role == Role::Sensitive {
            line(&mut out, EVERY_VALUE);
        }
        if is_declared && !draft.has_views() && is_uncounted(column) {
            line(&mut out, UNCOUNTED);
        }
        if let Some(rare) = rare::of(column).filter(|_| !draft.has_views()) {
            line(&mut out, &rare.comment());
        }
        let orders = draft.order.is_some_and(|at| draft.columns[at].name == column.name);
        let declared = match (column.open, column.role, orders) {
            (true, ..) => "{ role = \"?\" }".to_string(),
            (false, Role::Drop, true) => format!("{{ role = \"drop\", type = \"date\"{} }}", format_of(column)),
            _ => declaration(column, draft.has_views()),
        };
        line(&mut out, &format!("{:width$} = {declared}", key(&column.name)));
    }
    line(&mut out, "");
    if let Some(at) = draft.order.filter(|_| draft.has_several_rows()) {
        line(
            &mut out,
            "# Some people have several rows. Only the latest one of each is published; rows = \"combine\" unites them.",
        );
        line(&mut out, &format!("[person]\nrows  = \"latest\"\norder = {}\n", quoted(&draft.columns[at].name)));
    }
    promise(draft, &mut out);
    if let Some(over) = draft.over_limits() {
        line(&mut out, &format!("\n# LIMITS: {over}."));
    }
    let (counterfeits, withheld) = draft.limits;
    line(
        &mut out,
        &format!(
            "\n# A release that needs more is refused. A release needs more than usual when many people leave at \
             once.\n\
             [counterfeits]\nmax_share = {:.2}\n\n[withheld]\nmax_share = {:.2}\n",
            f64::from(counterfeits) / 100.0,
            f64::from(withheld) / 100.0
        ),
    );
    line(&mut out, "[output]\nformats    = [\"csv\", \"parquet\"]\nrow_weight = true");
    out
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{text}").expect("writing to a string cannot fail");
}

/// The model of the promise and the bound on certainty, as one in how many.
pub(super) fn chosen(draft: &Draft) -> (&'static Entry, u64) {
    let has_values = draft.columns.iter().any(|column| column.role == Role::Sensitive);
    let fitting = match has_values {
        true => SeriesPromise::usual_if(draft.leaving),
        false => SeriesPromise::usual_without_values(),
    };
    (draft.model.unwrap_or(fitting), draft.one_in().max(2))
}

/// The three questions that decide everything, and what the draft assumes.
fn questions(draft: &Draft, out: &mut String) {
    let (entry, m) = chosen(draft);
    let names = |role: Role| -> String {
        let of_role = draft.columns.iter().filter(|column| column.role == role);
        of_role.map(|column| said(&column.name)).collect::<Vec<_>>().join(", ")
    };
    line(out, "#\n# Three questions decide everything. What this draft assumes:");
    line(out, &format!("# 1. Do people leave, return or change between releases? Here: {}.", entry.draft.leaving));
    let sensitive = names(Role::Sensitive);
    let sensitive = if sensitive.is_empty() { "only which row is theirs; no column is sensitive" } else { &sensitive };
    line(out, &format!("# 2. What must nobody learn about a person? Here: {sensitive}."));
    let sure = match entry.draft.needs_sensitive {
        true if draft.columns.iter().filter(|column| column.role == Role::Sensitive).count() > 1 => {
            format!("1 in {m} about the combination of these columns. One of them alone may be certain")
        }
        true => format!("1 in {m}"),
        false => "about a value: without limit. About who a person is: see k".to_string(),
    };
    line(out, &format!("# 3. How sure may anybody be? Here: {sure}.\n#"));
    let left_out = |why: &dyn Fn(&DraftColumn) -> bool| -> Vec<String> {
        let left_out = draft.columns.iter().filter(|column| column.undecided && !column.open && why(column));
        left_out.map(|column| said(&column.name)).collect()
    };
    let undecided = left_out(&|column| column.because == guess::UNDECIDED);
    let uneven = left_out(&|column| column.seen.too_frequent().is_some() && column.because != guess::UNDECIDED);
    let second = left_out(&|column| column.seen.too_frequent().is_none() && column.because != guess::UNDECIDED);
    if !second.is_empty() {
        line(
            out,
            &format!(
                "# Left out, because two sensitive columns would protect neither alone, see below: {}.",
                second.join(", ")
            ),
        );
    }
    if !uneven.is_empty() {
        line(
            out,
            &format!(
                "# Left out, because more than half of the rows have one value of it, see below: {}.",
                uneven.join(", ")
            ),
        );
    }
    if !undecided.is_empty() {
        line(
            out,
            &format!(
                "# The names of these columns do not tell their role, so they are left out: {}.",
                undecided.join(", ")
            ),
        );
    }
    if let Some(uneven) = draft.too_uneven() {
        line(out, &format!("# {uneven}."));
    }
    if let Some(tight) = draft.too_tight().filter(|_| entry.draft.needs_sensitive) {
        line(out, &format!("# {tight}."));
    }
}

fn promise(draft: &Draft, out: &mut String) {
    let (entry, m) = chosen(draft);
    if draft.has_views() {
        out.push_str(&views(draft));
    }
    out.push_str(entry.draft.comment);
    line(out, &format!("[promise]\nmodel = \"{}\"", entry.name));
    if draft.has_views() {
        let (x, y) = (names(draft, Role::Quasi), names(draft, Role::Sensitive));
        line(out, &format!("x     = [{}]\ny     = [{}]", x.join(", "), y.join(", ")));
    }
    for number in (entry.draft.parameters)(m).lines() {
        match draft.least_group.filter(|_| number.starts_with("k ")) {
            Some(k) => line(out, &format!("{}= {k}", &number[..number.find('=').unwrap_or(0)])),
            None => line(out, number),
        }
    }
}

/// Two views as an example.
fn views(draft: &Draft) -> String {
    let (quasi, sensitive) = (names(draft, Role::Quasi), names(draft, Role::Sensitive));
    let joined: Vec<String> = quasi.iter().take(1).chain(&sensitive).cloned().collect();
    format!(
        "# Which columns go to whom, one view after another; rows of two views are matched on the columns they share.\n\
         [views.people]\ncolumns    = [{}]\nrecipients = [\"everyone\"]\n\n\
         [views.values]\ncolumns    = [{}]\nrecipients = [\"everyone\"]\n\n",
        quasi.join(", "),
        joined.join(", "),
    )
}

/// The names of the columns with a role, in quotes.
fn names(draft: &Draft, role: Role) -> Vec<String> {
    let columns = draft.columns.iter().filter(|column| column.role == role);
    columns.map(|column| quoted(&column.name)).collect()
}

fn describe(column: &DraftColumn) -> String {
    let distinct = match column.distinct {
        Some(count) => format!("{count} distinct"),
        None => "very many distinct".into(),
    };
    let missing = if column.missing == 0 { String::new() } else { format!(", {} missing", column.missing) };
    format!("{distinct}{missing}; {}", column.because)
}

fn declaration(column: &DraftColumn, has_views: bool) -> String {
    let missing = |usual: &str| {
        if usual == "error" && column.missing > 0 { ", missing = \"value\"" } else { "" }
    };
    match column.role {
        Role::Identifier => "{ role = \"identifier\" }".into(),
        Role::Drop => "{ role = \"drop\" }".into(),
        Role::Public => "{ role = \"public\", because = \"\" } # say why this harms no one".into(),
        // Any column of a view may join it to another, so its values are declared.
        Role::Sensitive if has_views => {
            format!("{{ role = \"sensitive\", {}{} }}", declared(column, false), missing("error"))
        }
        Role::Sensitive => {
            let rare = rare::of(column).map_or(String::new(), |_| {
                format!(", hierarchy = {}, level = 1, unlisted = \"prefix\"", quoted(&path(column)))
            });
            format!("{{ role = \"sensitive\", type = \"category\"{rare}{} }}", missing("error"))
        }
        Role::Quasi => {
            // Views are joined by the values declared at that time, so there is no value for unknown ones.
            let unknown = if column.kind == Guess::Category && !has_views { ", unknown = \"other\"" } else { "" };
            let missing = if column.missing == 0 { ", missing = \"error\"" } else { "" };
            format!("{{ role = \"quasi\", {}{unknown}{missing} }}", quasi(column, has_views))
        }
    }
}

fn quasi(column: &DraftColumn, has_views: bool) -> String {
    match &column.kind {
        Guess::Integer { lo, hi } => format!("type = \"integer\", domain = [{lo}, {hi}]{}", grid(lo, hi, 0)),
        Guess::Real { lo: low, hi: high, decimals } => {
            let unit = 10f64.powi(i32::from(*decimals));
            let digits = usize::from(*decimals).max(1);
            let (lo, hi) = (*low as f64 / unit, *high as f64 / unit);
            let precision = 1.0 / unit;
            format!(
                "type = \"real\", domain = [{lo:.digits$}, {hi:.digits$}], precision = {precision:.digits$}{}",
                grid(low, high, *decimals)
            )
        }
        Guess::Date { lo, hi, .. } => {
            let born = guess::says("birth", &column.name).is_some();
            let grid = if born { "year" } else { "month" };
            let format = format_of(column);
            format!("type = \"date\", domain = [{lo:04}-01-01, {hi:04}-01-01], grid = \"{grid}\"{format}")
        }
        Guess::Category => format!("type = \"category\", {}", declared(column, !has_views)),
    }
}

/// The date format of a column, if it is not like 2025-12-31.
fn format_of(column: &DraftColumn) -> String {
    match &column.kind {
        Guess::Date { written: Some(written), .. } => format!(", format = \"{written}\""),
        _ => String::new(),
    }
}

/// A public grid for wide domains, so that no published bound is somebody's value. Its pitch is a round number, about a
/// sixtieth of the domain.
fn grid(lo: &i64, hi: &i64, decimals: u8) -> String {
    let step = (hi - lo) / 60;
    if step < 2 {
        return String::new();
    }
    let power = 10i64.pow(step.ilog10());
    let round = [5, 2, 1].into_iter().map(|digit| digit * power).find(|&round| round <= step).unwrap_or(power);
    let digits = usize::from(decimals);
    // The ends of the domain must lie on the grid, because they are boundaries in any case.
    match (lo % round, hi % round) {
        (0, 0) => format!(", grid = {:.digits$}", round as f64 / 10f64.powi(i32::from(decimals))),
        _ => String::new(),
    }
}

/// The values of a category, or the hierarchy file that has them, with a value for all that are not listed.
fn declared(column: &DraftColumn, with_other: bool) -> String {
    match listed(column) {
        Some(mut values) => {
            if with_other {
                // The list is published, so a value of one or two people would reveal their presence.
                values.retain(|value| column.seen.count(value) >= SHARED);
            }
            add_other(&mut values, with_other);
            let values: Vec<String> = values.iter().map(|value| quoted(value)).collect();
            format!("values = [{}]", values.join(", "))
        }
        None => format!("hierarchy = {}", quoted(&path(column))),
    }
}

/// The values, if they are few enough to list and are not codes.
fn listed(column: &DraftColumn) -> Option<Vec<String>> {
    column.seen.values().map(usable).filter(|values| values.len() <= LISTED && !has_tree(column, values))
}

/// Whether the values are codes whose prefixes mean something, such as postcodes. Then a tree is better than a list.
fn has_tree(column: &DraftColumn, values: &[String]) -> bool {
    let is_code = |value: &String| {
        value.len() <= 10
            && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b' '))
    };
    values.len() >= FEW_CODES && guess::says("code", &column.name).is_some() && values.iter().all(is_code)
}

fn add_other(values: &mut Vec<String>, wanted: bool) {
    if wanted && !values.iter().any(|value| value == OTHER) {
        values.push(OTHER.into());
    }
}

/// A hierarchy cannot have `*` as a value, so such cells are left to the steward.
fn usable(mut values: Vec<String>) -> Vec<String> {
    values.retain(|value| value != "*");
    values
}

/// The hierarchy file of a category with many values.
pub(super) fn hierarchy(column: &DraftColumn, has_views: bool) -> Option<(String, String)> {
    if let Some(rare) = rare::of(column).filter(|_| !has_views) {
        return Some((path(column), written(rare.rows())));
    }
    let is_quasi = column.role == Role::Quasi && column.kind == Guess::Category;
    let is_declared = is_quasi || has_views && column.role == Role::Sensitive;
    if !is_declared || listed(column).is_some() {
        return None;
    }
    let mut values = usable(column.seen.values().unwrap_or_default());
    let is_code = has_tree(column, &values);
    if !has_views {
        values = shared(column, values, is_code);
    }
    let mut rows = rows(&values, is_code);
    if !has_views && !values.iter().any(|value| value == OTHER) {
        let levels = rows.first().map_or(2, Vec::len);
        let mut row = vec![OTHER.to_string(); levels - 1];
        row.push("*".into());
        rows.push(row);
    }
    Some((path(column), written(rows)))
}

/// The values that enough rows share. The file is published, so a value of one or two people would reveal their presence.
/// Of codes of digits, all that have a prefix are listed if enough rows have it and a rare code: that reveals none of them.
fn shared(column: &DraftColumn, values: Vec<String>, is_code: bool) -> Vec<String> {
    let length = values.first().map_or(0, String::len);
    let is_digits = |value: &String| value.len() == length && value.bytes().all(|byte| byte.is_ascii_digit());
    let is_complete = is_code && values.iter().all(is_digits);
    let (kept, mut rare): (Vec<String>, Vec<String>) =
        values.into_iter().partition(|value| column.seen.count(value) >= SHARED);
    let mut listed: BTreeSet<String> = kept.into_iter().collect();
    for hidden in (1..=2).filter(|&hidden| is_complete && hidden < length) {
        let mut rows: BTreeMap<String, u32> = BTreeMap::new();
        for value in &rare {
            *rows.entry(value[..length - hidden].into()).or_default() += column.seen.count(value);
        }
        rows.retain(|_, rows| *rows >= SHARED);
        rare.retain(|value| !rows.contains_key(&value[..length - hidden]));
        let below = |prefix: &String| {
            let prefix = prefix.clone();
            (0..10u32.pow(hidden as u32)).map(move |rest| format!("{prefix}{rest:0hidden$}"))
        };
        listed.extend(rows.keys().flat_map(below));
    }
    listed.into_iter().collect()
}

/// The text of a hierarchy file.
pub(crate) fn written(rows: Vec<Vec<String>>) -> String {
    let mut writer = csv::WriterBuilder::new().delimiter(b';').from_writer(Vec::new());
    for row in rows {
        writer.write_record(&row).expect("writing to memory cannot fail, and all rows are as long");
    }
    let bytes = writer.into_inner().expect("writing to memory cannot fail");
    String::from_utf8(bytes).expect("texts make text")
}

/// Codes are grouped by their prefixes, character by character. All other values are directly under the root.
fn rows(values: &[String], is_code: bool) -> Vec<Vec<String>> {
    let length = values.first().map_or(0, |value| value.chars().count());
    let code =
        |value: &String| value.chars().count() == length && value.chars().all(|letter| letter.is_ascii_alphanumeric());
    if is_code && !values.iter().all(code) {
        return beginnings(values);
    }
    if !(2..=10).contains(&length) || !values.iter().all(code) {
        return values.iter().map(|value| vec![value.clone(), "*".into()]).collect();
    }
    let row = |value: &String| {
        let shortened = (1..length).map(|hidden| format!("{}{}", &value[..length - hidden], "*".repeat(hidden)));
        std::iter::once(value.clone()).chain(shortened).chain(["*".to_string()]).collect()
    };
    values.iter().map(row).collect()
}

/// Codes of different lengths, such as J10.1 and K30. A shorter code is repeated at the levels that it does not reach.
fn beginnings(values: &[String]) -> Vec<Vec<String>> {
    let longest = values.iter().map(String::len).max().unwrap_or(0);
    let label = |value: &String, length: usize| match value.len() <= length {
        true => value.clone(),
        false => format!("{}*", &value[..length]),
    };
    let row =
        |value: &String| (1..=longest).rev().map(|length| label(value, length)).chain(["*".to_string()]).collect();
    values.iter().map(row).collect()
}

fn path(column: &DraftColumn) -> String {
    let plain = |letter: char| if letter.is_alphanumeric() || letter == '-' || letter == '_' { letter } else { '_' };
    let name: String = column.name.chars().map(plain).take(60).collect();
    // `zip code` and `zip_code` are two columns and need two file names. A file's name may have 255 bytes.
    let apart = if name == column.name {
        String::new()
    } else {
        format!("-{}", &blake3::hash(column.name.as_bytes()).to_hex()[..6])
    };
    format!("hierarchies/{name}{apart}.csv")
}

/// A name that a series may have.
fn series_name(text: &str) -> String {
    let lower = text.to_lowercase();
    let plain = |letter: char| if letter.is_ascii_lowercase() || letter.is_ascii_digit() { letter } else { '-' };
    let name: String = lower.chars().map(plain).take(64).collect();
    let name = name.trim_matches('-');
    if name.is_empty() { "series".into() } else { name.into() }
}

/// A name within a comment, on one line whatever it contains.
fn said(name: &str) -> String {
    name.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

fn key(name: &str) -> String {
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    if !name.is_empty() && name.bytes().all(bare) { name.into() } else { quoted(name) }
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if letter.is_control() => {
                write!(out, "\\u{:04X}", letter as u32).expect("writing to a string cannot fail");
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}
