//! `[person]`: how several rows of one person are merged.

use crate::ingest::policy_file::columns::read_pattern;
use crate::ingest::policy_file::keys::COLUMN;
use crate::model::{CombineRule, Domain, OrderKind, PersonOrder, PersonRows, RowRule, Schema};
use crate::settings::{FaultKind, Section, Walk};
use toml::de::DeValue;

/// Reads the section, and the rules of the columns.
pub(super) fn read(root: &Section<'_, '_>, schema: &Schema, walk: &mut Walk) -> PersonRows {
    let section = walk.section(root, "person");
    if let Some(section) = &section {
        walk.check_keys(section);
    }
    let rule = section.as_ref().and_then(|section| walk.word(section, "rows", &RowRule::WORDS)).unwrap_or_default();
    let order = section.as_ref().and_then(|section| read_order(root, section, schema, walk));
    if let (RowRule::First | RowRule::Latest, None, Some(section)) = (rule, &order, &section)
        && section.get("order").is_none()
    {
        let message = format!("rows = \"{}\" without an order", rule.word());
        let help = "add order = \"COLUMN\": the column of dates or numbers that says which row is later";
        walk.fault(FaultKind::BadPerson, message, section.at("rows"), help);
    }
    if let (RowRule::One, Some(section)) = (rule, section.as_ref().filter(|section| section.get("order").is_some())) {
        let help = "set rows = \"first\", \"latest\" or \"combine\", or take order out";
        walk.fault(
            FaultKind::BadPerson,
            "order has no effect where each person has one row",
            section.at("order"),
            help,
        );
    }
    let mut choice = |name: &str, is_ordered: bool| {
        let column = column(root, name)?;
        let chosen = walk.word(&column, "combine", &CombineRule::WORDS)?;
        let fault = match chosen {
            _ if rule != RowRule::Combine => Some("combine without rows = \"combine\" under [person]"),
            CombineRule::First | CombineRule::Latest if order.is_none() => {
                Some("first and latest need order under [person]")
            }
            CombineRule::Least | CombineRule::Most if !is_ordered => Some("least and most are for numbers and dates"),
            _ => None,
        };
        if let Some(message) = fault {
            let help = "correct the column, or what [person] says";
            walk.fault(FaultKind::BadPerson, format!("column {name}: {message}"), column.at("combine"), help);
        }
        Some(chosen)
    };
    let is_number = |domain: &Domain| !matches!(domain, Domain::Category(_));
    let quasi = schema.quasi.iter().map(|quasi| choice(&quasi.name, is_number(&quasi.domain)).unwrap_or_default());
    let quasi = quasi.collect();
    let public = schema.public.iter().map(|public| choice(&public.name, false).unwrap_or_default()).collect();
    PersonRows { rule, order, quasi, public }
}

/// What the policy file says of a column.
fn column<'t, 'i>(root: &Section<'t, 'i>, name: &str) -> Option<Section<'t, 'i>> {
    let DeValue::Table(columns) = root.get("columns")?.get_ref() else { return None };
    let value = columns.get(name)?;
    let DeValue::Table(table) = value.get_ref() else { return None };
    Some(Section::column(name, COLUMN, table, value.span()))
}

fn read_order(
    root: &Section<'_, '_>,
    section: &Section<'_, '_>,
    schema: &Schema,
    walk: &mut Walk,
) -> Option<PersonOrder> {
    let (name, span) = walk.string(section, "order")?;
    let order = |kind: OrderKind| Some(PersonOrder { column: name.into(), kind });
    if let Some(at) = schema.quasi.iter().position(|quasi| quasi.name == name) {
        if matches!(schema.quasi[at].domain, Domain::Category(_)) {
            let help = "order by a column of dates or numbers";
            walk.fault(FaultKind::BadPerson, format!("the column {name} has no order in time"), span, help);
        }
        return order(OrderKind::Quasi(at));
    }
    let Some(column) = column(root, name).filter(|_| schema.dropped.iter().any(|dropped| dropped == name)) else {
        let message = format!("{name} is no column with role = \"quasi\" or \"drop\"");
        walk.fault(
            FaultKind::BadPerson,
            message,
            span,
            "name the column of dates or numbers that orders a person's rows",
        );
        return None;
    };
    match walk.word(&column, "type", &[("date", true), ("integer", false)]) {
        Some(true) => order(OrderKind::Date(read_pattern(&column, walk))),
        Some(false) => order(OrderKind::Integer),
        None => {
            let message = format!("the column {name} orders a person's rows, and its type is not given");
            let help =
                "add type = \"date\", with format where dates are not written like 2025-12-31, or type = \"integer\"";
            walk.fault(FaultKind::BadPerson, message, span, help);
            None
        }
    }
}
