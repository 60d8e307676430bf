//! `[columns]`: every column of the source, its role and what its cells may be.

use crate::files;
use crate::ingest::policy_file::keys::COLUMN;
use crate::ingest::text::line_of;
use crate::model::{
    DatePattern, Domain, Grid, Hierarchy, HierarchyError, Public, Quasi, Role, Schema, Sensitive, Unlisted,
};
use crate::settings::{FaultKind, Section, Walk, integer_of, number_of};
use jiff::civil::Date;
use sha2::Digest;
use std::ops::Range;
use toml::Spanned;
use toml::de::DeValue;

const RESERVED: [&str; 3] = ["group_id", "row_weight", "record"];

#[derive(Clone, Copy, Eq, PartialEq)]
enum Type {
    Integer,
    Real,
    Date,
    Category,
}

const TYPES: [(&str, Type); 4] =
    [("integer", Type::Integer), ("real", Type::Real), ("date", Type::Date), ("category", Type::Category)];

/// The columns; `None` if a fault makes them unusable.
///
/// Under a promise about views (`of_views`) every published column has its own domain, so sensitive columns are read
/// like quasi ones.
pub(super) fn read(section: &Section<'_, '_>, of_views: bool, walk: &mut Walk) -> Option<Schema> {
    let mut schema = Schema::default();
    let mut identifiers = 0;
    let mut roles_known = true;
    walk.columns = section.entries().iter().map(|(name, _, _)| name.to_string()).collect();
    for (name, key_span, value) in section.entries() {
        let Some((column, role)) = read_role(name, key_span, value, walk) else {
            roles_known = false;
            continue;
        };
        read_column(&mut schema, (name, role), &column, of_views, walk);
        identifiers += u32::from(role == Role::Identifier);
        if role == Role::Identifier && identifiers == 2 {
            walk.fault(
                FaultKind::NotOneIdentifier,
                "a second identifier",
                column.span(),
                "keep one; list the other with role = \"drop\"",
            );
        }
    }
    if identifiers == 0 && roles_known {
        walk.fault(
            FaultKind::NotOneIdentifier,
            "no column has the role identifier",
            section.span(),
            "say which column names a person",
        );
    }
    if schema.quasi.is_empty() && roles_known {
        let help = "say which columns an attacker may know: age, postcode, dates, sex …";
        walk.fault(FaultKind::NoQuasi, "no column has the role quasi", section.span(), help);
    }
    roles_known.then_some(schema)
}

/// The table of a column and its role; `None` if it has none.
fn read_role<'t, 'i>(
    name: &str,
    key_span: Range<usize>,
    value: &'t Spanned<DeValue<'i>>,
    walk: &mut Walk,
) -> Option<(Section<'t, 'i>, Role)> {
    let DeValue::Table(table) = value.get_ref() else {
        return walk.wrong_kind(name, "a table such as { role = \"drop\" }", value.span());
    };
    let column = Section::column(name, COLUMN, table, key_span.clone());
    walk.check_keys(&column);
    if let Some(DeValue::String(word)) = column.get("role").map(|value| value.get_ref())
        && word == "?"
    {
        let help = "write role = \"quasi\" if an attacker may know it, \"sensitive\" if nobody may learn it, \"drop\" to leave it out";
        walk.fault(
            FaultKind::OpenQuestion,
            format!("the role of column {name} is not decided"),
            column.at("role"),
            help,
        );
        return None;
    }
    let Some(role) = walk.word(&column, "role", &Role::WORDS) else {
        if column.get("role").is_none() {
            walk.missing(&column, "role", "role = \"drop\" if it is not to be published");
        }
        return None;
    };
    if matches!(role, Role::Quasi | Role::Sensitive | Role::Public) && RESERVED.contains(&name) {
        let message = format!("a release has a column {name} of its own");
        walk.fault(FaultKind::ReservedName, message, key_span.clone(), "rename the column");
    }
    if name.is_empty() {
        walk.fault(FaultKind::ReservedName, "a column without a name", key_span, "name the column");
    }
    Some((column, role))
}

/// Adds a column to the schema.
fn read_column(
    schema: &mut Schema,
    (name, role): (&str, Role),
    column: &Section<'_, '_>,
    of_views: bool,
    walk: &mut Walk,
) {
    // A column with a fault keeps its place, so that other checks can continue.
    let stand_in = || Quasi::new(name, Domain::Integer { lo: 0, hi: 1 });
    match role {
        Role::Identifier => {
            walk.only_keys(column, &["role", "type"], "an identifier");
            schema.identifier = name.into();
        }
        Role::Drop => {
            // Type and format matter if the column orders a person's rows.
            walk.only_keys(column, &["role", "type", "format"], "a dropped column");
            schema.dropped.push(name.into());
        }
        Role::Public if of_views => {
            let help = "give it role = \"quasi\" and its values; in no x it is published as it is";
            walk.fault(
                FaultKind::NotForViews,
                format!("column {name} is public, and views join on it"),
                column.span(),
                help,
            );
        }
        Role::Public => {
            walk.only_keys(column, &["role", "type", "because", "combine"], "a public column");
            schema.order.push((Role::Public, schema.public.len()));
            schema.public.push(read_public(name, column, walk));
        }
        Role::Quasi => {
            schema.order.push((Role::Quasi, schema.quasi.len()));
            let quasi = read_quasi(name, column, walk).unwrap_or_else(stand_in);
            if of_views && quasi.sets {
                let message = format!("column {name} has cells = \"sets\", and views publish nodes");
                walk.fault(FaultKind::NotForViews, message, column.at("cells"), "take cells out");
            }
            schema.quasi.push(quasi);
        }
        Role::Sensitive if of_views => {
            schema.order.push((Role::Quasi, schema.quasi.len()));
            schema.quasi.push(read_declared(name, column, walk).unwrap_or_else(stand_in));
        }
        Role::Sensitive => {
            schema.order.push((Role::Sensitive, schema.sensitive.len()));
            schema.sensitive.push(read_sensitive(name, column, walk));
        }
    }
}

fn read_public(name: &str, column: &Section<'_, '_>, walk: &mut Walk) -> Public {
    let because = walk.string(column, "because").map_or(String::new(), |(because, _)| because.trim().to_string());
    if because.is_empty() {
        let help = "add because = \"…\": why publishing it as it is harms no one";
        walk.fault(FaultKind::NoReason, format!("column {name} is public without a reason"), column.span(), help);
    }
    Public { name: name.into(), because }
}

fn read_quasi(name: &str, column: &Section<'_, '_>, walk: &mut Walk) -> Option<Quasi> {
    let Some(kind) = walk.word(column, "type", &TYPES) else {
        if column.get("type").is_none() {
            walk.missing(column, "type", "type = \"integer\", \"real\", \"date\" or \"category\"");
        }
        return None;
    };
    let (allowed, place) = quasi_keys(kind);
    walk.only_keys(column, allowed, place);
    let decimals = if kind == Type::Real { read_precision(column, walk) } else { 0 };
    let domain = match kind {
        Type::Category => read_category(column, walk).map(|(tree, _)| Domain::Category(tree)),
        _ => read_domain(column, kind, decimals, walk),
    };
    let nullable = walk.word(column, "missing", &[("error", false), ("value", true)]).unwrap_or(true);
    let weight = walk.number(column, "weight").map_or(1.0, |(weight, span)| {
        if weight <= 0.0 || weight > 1e6 {
            walk.fault(
                FaultKind::BadNumber,
                "weight lies above 0 and at most 1000000",
                span,
                "1.0 is the usual weight",
            );
        }
        weight
    });
    let unit = 10f64.powi(i32::from(decimals));
    let min_width = walk.number(column, "min_width").map_or(1, |(width, span)| {
        let units = (width * unit).round();
        if (units - width * unit).abs() > 1e-6 || !(1.0..4e9).contains(&units) {
            walk.fault(FaultKind::BadNumber, "min_width is a whole number of values, at least one", span, "");
        }
        units as u32
    });
    let domain = domain?;
    let grid = read_grid(column, &domain, decimals, walk);
    let takes_unknown = walk.word(column, "unknown", &[("refuse", false), ("other", true)]).unwrap_or(false);
    let sets = walk.word(column, "cells", &[("nodes", false), ("sets", true)]).unwrap_or(false);
    let written = read_pattern(column, walk);
    let mut quasi = Quasi { grid, min_width, weight, takes_unknown, sets, written, ..Quasi::new(name, domain) };
    if takes_unknown && quasi.other().is_none() {
        let span = column.get("unknown").map_or(column.span(), |value| value.span());
        walk.fault(
            FaultKind::UnlistedValues,
            "unknown = \"other\" needs a value other",
            span,
            "list a value \"other\" among the column's values",
        );
    }
    if nullable {
        quasi = quasi.nullable();
    }
    Some(quasi)
}

/// The keys that a quasi column of a type takes, and what it is called.
fn quasi_keys(kind: Type) -> (&'static [&'static str], &'static str) {
    match kind {
        Type::Integer => {
            (&["role", "type", "domain", "grid", "min_width", "weight", "missing", "combine"], "a quasi number")
        }
        Type::Date => {
            let keys = &["role", "type", "domain", "format", "grid", "min_width", "weight", "missing", "combine"];
            (keys, "a quasi date")
        }
        Type::Real => {
            let keys = &["role", "type", "domain", "precision", "grid", "min_width", "weight", "missing", "combine"];
            (keys, "a quasi real")
        }
        Type::Category => {
            let keys = &[
                "role",
                "type",
                "hierarchy",
                "values",
                "cells",
                "min_width",
                "weight",
                "missing",
                "unknown",
                "combine",
            ];
            (keys, "a quasi category")
        }
    }
}

/// How the source writes dates.
pub(super) fn read_pattern(column: &Section<'_, '_>, walk: &mut Walk) -> Option<DatePattern> {
    let (text, span) = walk.string(column, "format")?;
    let pattern = DatePattern::read(text);
    if pattern.is_none() {
        let help = "for example format = \"DD.MM.YYYY\", \"MM/DD/YYYY\", \"YYYYMMDD\", \"YYYY-MM-DD…\" with a time behind, or \"excel\"";
        walk.fault(
            FaultKind::BadFormat,
            "format says how dates are written: YYYY, MM, DD and the marks between them",
            span,
            help,
        );
    }
    pattern
}

/// A sensitive column whose values are declared.
fn read_declared(name: &str, column: &Section<'_, '_>, walk: &mut Walk) -> Option<Quasi> {
    walk.only_keys(
        column,
        &["role", "type", "hierarchy", "values", "missing", "combine"],
        "a sensitive column of a view",
    );
    if walk.word(column, "type", &TYPES).is_some_and(|kind| kind != Type::Category)
        || column.get("hierarchy").is_none() && column.get("values").is_none()
    {
        let help = "add values = [\"…\"] or a hierarchy, or give it role = \"quasi\" with a domain";
        walk.fault(
            FaultKind::NotForViews,
            format!("the values of column {name} are not declared"),
            column.span(),
            help,
        );
        return None;
    }
    let nullable = walk.word(column, "missing", &[("error", false), ("value", true)]).unwrap_or(false);
    let quasi = Quasi::new(name, Domain::Category(read_category(column, walk)?.0));
    Some(if nullable { quasi.nullable() } else { quasi })
}

/// The number of decimals of a unit.
fn read_precision(column: &Section<'_, '_>, walk: &mut Walk) -> u8 {
    let Some((precision, span)) = walk.number(column, "precision") else { return 2 };
    let decimals = (0..=9u8).find(|&decimals| (precision * 10f64.powi(i32::from(decimals)) - 1.0).abs() < 1e-9);
    decimals.unwrap_or_else(|| {
        walk.fault(FaultKind::BadNumber, "precision is 1, 0.1, 0.01 and so on down to 0.000000001", span, "");
        2
    })
}

fn read_domain(column: &Section<'_, '_>, kind: Type, decimals: u8, walk: &mut Walk) -> Option<Domain> {
    let Some((bounds, span)) = walk.list(column, "domain") else {
        if column.get("domain").is_none() {
            let help = "add domain = [lo, hi]: public bounds that do not follow the data, hi not included";
            walk.fault(FaultKind::NoDomain, format!("{} has no domain", column.name), column.span(), help);
        }
        return None;
    };
    let bound = |value: &DeValue<'_>| match kind {
        Type::Integer => integer_of(value),
        Type::Real => {
            let units = number_of(value)? * 10f64.powi(i32::from(decimals));
            let whole = units.round();
            ((units - whole).abs() <= 1e-6 * units.abs().max(1.0) && whole.abs() < 9e15).then_some(whole as i64)
        }
        Type::Date => day_of(value),
        Type::Category => None,
    };
    let bounds: Option<Vec<i64>> = bounds.iter().map(|value| bound(value.get_ref())).collect();
    let Some([lo, hi]) = bounds.as_deref().map(|bounds| <[i64; 2]>::try_from(bounds).unwrap_or([0, 0])) else {
        let wanted = match kind {
            Type::Integer => "domain = [0, 120]",
            Type::Real => "domain = [0.0, 250.0], on whole units of its precision",
            _ => "domain = [2020-01-01, 2031-01-01], without quotes",
        };
        walk.fault(
            FaultKind::BadDomain,
            "a domain is two bounds of the column's type",
            span,
            format!("for example {wanted}"),
        );
        return None;
    };
    if lo >= hi {
        walk.fault(
            FaultKind::BadDomain,
            "the lower bound of a domain lies below the upper",
            span,
            "write domain = [lo, hi], hi not included",
        );
        return None;
    }
    if hi.checked_sub(lo).is_none_or(|size| size > i64::from(u32::MAX) - 2) {
        walk.fault(
            FaultKind::DomainTooLarge,
            "the domain has more values than 32 bits can number",
            span,
            "choose a coarser precision or narrower bounds",
        );
        return None;
    }
    Some(match kind {
        Type::Integer => Domain::Integer { lo, hi },
        Type::Real => Domain::Real { lo, hi, decimals },
        _ => Domain::Date { lo, hi },
    })
}

/// Days since 1970-01-01 of a TOML date.
fn day_of(value: &DeValue<'_>) -> Option<i64> {
    let DeValue::Datetime(moment) = value else { return None };
    let date = moment.date.filter(|_| moment.time.is_none())?;
    days(Date::new(i16::try_from(date.year).ok()?, date.month as i8, date.day as i8).ok()?)
}

fn days(date: Date) -> Option<i64> {
    Some(i64::from(date.since(Date::constant(1970, 1, 1)).ok()?.get_days()))
}

fn read_grid(column: &Section<'_, '_>, domain: &Domain, decimals: u8, walk: &mut Walk) -> Grid {
    let Some(value) = column.get("grid") else { return Grid::Free };
    let span = value.span();
    match (value.get_ref(), domain) {
        (_, Domain::Category(_)) => Grid::Free,
        (DeValue::String(word), Domain::Date { lo, hi }) if word == "month" || word == "year" => {
            calendar_lines(*lo, *hi, word == "year")
        }
        (DeValue::String(_), Domain::Date { .. }) => {
            walk.fault(FaultKind::BadGrid, "grid for dates is \"month\", \"year\" or a number of days", span, "");
            Grid::Free
        }
        (value, Domain::Integer { lo, .. } | Domain::Real { lo, .. } | Domain::Date { lo, .. }) => {
            let units = number_of(value).map(|number| number * 10f64.powi(i32::from(decimals)));
            let pitch =
                units.filter(|units| (units - units.round()).abs() < 1e-6 && (1.0..4e9).contains(&units.round()));
            let Some(pitch) = pitch else {
                walk.fault(
                    FaultKind::BadGrid,
                    "grid is a whole number of units, at least one",
                    span,
                    "for example grid = 5",
                );
                return Grid::Free;
            };
            let pitch = pitch.round() as u32;
            // Lines are the multiples of the pitch. For dates they are counted from the start of the domain.
            let phase = match domain {
                Domain::Date { .. } => 0,
                // -lo would overflow at the lowest bound of all.
                _ => ((i64::from(pitch) - lo.rem_euclid(i64::from(pitch))) % i64::from(pitch)) as u32,
            };
            Grid::Every { pitch, phase }
        }
    }
}

/// The codes of the first days of months or years.
fn calendar_lines(lo: i64, hi: i64, years_only: bool) -> Grid {
    let epoch = Date::constant(1970, 1, 1);
    let start = jiff::Span::new().try_days(lo).ok().and_then(|days| epoch.checked_add(days).ok());
    let mut lines = Vec::new();
    let mut next = start.map(|date| if years_only { date.first_of_year() } else { date.first_of_month() });
    while let Some(date) = next {
        let Some(day) = days(date) else { break };
        if day >= hi {
            break;
        }
        if day >= lo {
            lines.push((day - lo) as u32);
        }
        let step = if years_only { jiff::Span::new().years(1) } else { jiff::Span::new().months(1) };
        next = date.checked_add(step).ok();
    }
    Grid::Lines(lines)
}

fn read_sensitive(name: &str, column: &Section<'_, '_>, walk: &mut Walk) -> Sensitive {
    let keys = ["role", "type", "hierarchy", "values", "level", "missing", "unlisted"];
    walk.only_keys(column, &keys, "a sensitive column");
    walk.word(column, "type", &TYPES);
    let nullable = walk.word(column, "missing", &[("error", false), ("value", true)]).unwrap_or(false);
    let level = walk.integer(column, "level");
    let closed = column.get("hierarchy").is_some() || column.get("values").is_some();
    if let (Some((_, span)), true) = (&level, column.get("hierarchy").is_none()) {
        walk.fault(FaultKind::BadLevel, "level without a hierarchy", span.clone(), "name a hierarchy file");
    }
    let mut labels = Vec::new();
    if closed && let Some((_, rows)) = read_category(column, walk) {
        let (at, span) = level.unwrap_or((0, 0..0));
        let height = rows.first().map_or(1, Vec::len) as i64;
        let same = |at: usize| rows.len() > 1 && rows.iter().all(|row| row.get(at) == rows[0].get(at));
        if at < 0 || at >= height || same(at as usize) {
            let help = format!("give a level from 0 to {}", (height - 2).max(0));
            walk.fault(FaultKind::BadLevel, "the level is not one of the hierarchy's, or is its root", span, help);
        } else {
            labels = rows.iter().map(|row| (row[0].clone(), row[at as usize].clone())).collect();
        }
    }
    labels.sort_unstable();
    let by_prefix = walk.word(column, "unlisted", &[("refuse", false), ("prefix", true)]).unwrap_or(false);
    if by_prefix && !closed {
        let span = column.get("unlisted").map_or(column.span(), |value| value.span());
        walk.fault(
            FaultKind::UnlistedValues,
            "unlisted without a hierarchy",
            span,
            "name a hierarchy file, or leave unlisted out",
        );
    }
    let unlisted = if by_prefix { Unlisted::by_prefix(&labels) } else { Unlisted::Refused };
    Sensitive { name: name.into(), nullable, labels, unlisted }
}

/// The tree of a category, and its rows.
fn read_category(column: &Section<'_, '_>, walk: &mut Walk) -> Option<(Hierarchy, Vec<Vec<String>>)> {
    match (column.get("hierarchy"), column.get("values")) {
        (Some(_), Some(values)) => {
            walk.fault(
                FaultKind::ValuesOrHierarchy,
                format!("{} has both a hierarchy and values", column.name),
                values.span(),
                "keep one",
            );
            None
        }
        (None, None) => {
            let help = "add values = [\"…\"], or hierarchy = \"hierarchies/….csv\"";
            walk.fault(
                FaultKind::ValuesOrHierarchy,
                format!("{} has neither hierarchy nor values", column.name),
                column.span(),
                help,
            );
            None
        }
        (Some(_), None) => {
            let (path, span) = walk.string(column, "hierarchy")?;
            read_hierarchy(path, span, walk)
        }
        (None, Some(_)) => read_values(column, walk),
    }
}

fn read_values(column: &Section<'_, '_>, walk: &mut Walk) -> Option<(Hierarchy, Vec<Vec<String>>)> {
    let (items, span) = walk.list(column, "values")?;
    let mut rows: Vec<Vec<String>> = Vec::new();
    for item in items {
        let DeValue::String(text) = item.get_ref() else {
            return walk.wrong_kind("values", "texts in quotes", item.span());
        };
        rows.push(vec![text.to_string()]);
    }
    match Hierarchy::flat(rows.iter().map(|row| row[0].clone())) {
        Ok(tree) => Some((tree, rows)),
        Err(error) => {
            let message = match error {
                HierarchyError::Empty => "the list of values is empty".to_string(),
                HierarchyError::Repeated { line, first } => format!("the {line}. value repeats the {first}."),
                _ => "a value may not be empty or *".to_string(),
            };
            walk.fault(FaultKind::BadList, message, span, "list each value once");
            None
        }
    }
}

fn read_hierarchy(path: &str, span: Range<usize>, walk: &mut Walk) -> Option<(Hierarchy, Vec<Vec<String>>)> {
    let file = walk.inside(path, &span)?;
    let bytes = match files::read(&file) {
        Ok(bytes) => bytes,
        Err(error) => {
            let message = format!("cannot read the hierarchy file {}: {error}", file.display());
            walk.fault(FaultKind::HierarchyMissing, message, span, "paths are relative to the policy file");
            return None;
        }
    };
    walk.digest.update((bytes.len() as u64).to_le_bytes());
    walk.digest.update(&bytes);
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = csv::ReaderBuilder::new().delimiter(b';').has_headers(false).flexible(true).from_reader(text);
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut lines: Vec<usize> = Vec::new();
    for record in reader.records() {
        match record {
            Ok(record) => {
                lines.push(record.position().map_or(0, |position| line_of(position, text) as usize));
                rows.push(record.iter().map(str::to_string).collect());
            }
            Err(_) => {
                let line = lines.last().map_or(1, |line| line + 1);
                let message = format!("{}: line {line} is not UTF-8", file.display());
                walk.fault(FaultKind::BadHierarchy, message, span, "save the hierarchy as UTF-8");
                return None;
            }
        }
    }
    if is_table(&rows, &walk.columns) {
        let message = format!("{}: this is a table, and no hierarchy", file.display());
        let help = "its lines would be published; a hierarchy has one line per value, value;group;…;*, and no header";
        walk.fault(FaultKind::BadHierarchy, message, span, help);
        return None;
    }
    match Hierarchy::from_rows(&rows) {
        Ok(tree) => Some((tree, rows)),
        Err(error) => {
            walk.fault(FaultKind::BadHierarchy, format!("{}: {}", file.display(), relocate(error, &lines)), span, "");
            None
        }
    }
}

/// Whether the lines of a file are those of a table: the first one names columns of the source, or they have other marks between
/// their cells. What is taken for a hierarchy is published with every release.
fn is_table(rows: &[Vec<String>], columns: &[String]) -> bool {
    let marks = [',', '\t', '|'];
    let is_name = |cell: &&str| columns.iter().any(|column| column == cell.trim().trim_matches('"'));
    let names = rows.first().into_iter().flatten().flat_map(|cell| cell.split(marks)).filter(|cell| is_name(cell));
    let has_marks = |row: &Vec<String>| matches!(&row[..], [cell] if cell.contains(marks));
    names.count() > 1 || rows.iter().any(has_marks)
}

/// The error with line numbers of the file instead of row numbers. Blank lines are no rows.
fn relocate(mut error: HierarchyError, lines: &[usize]) -> HierarchyError {
    let move_to = |row: &mut usize| *row = lines.get(row.saturating_sub(1)).copied().unwrap_or(*row);
    match &mut error {
        HierarchyError::Ragged { line, .. }
        | HierarchyError::TwoPlaces { line, .. }
        | HierarchyError::BadLabel { line, .. } => move_to(line),
        HierarchyError::Repeated { line, first } => {
            move_to(line);
            move_to(first);
        }
        _ => {}
    }
    error
}
