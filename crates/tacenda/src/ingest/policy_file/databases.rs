//! `[source]` and `[deliver.NAME]`: the databases of a project.

use crate::files;
use crate::model::{GROUP_ID, RECORD, ROW_WEIGHT, Role, Schema};
use crate::promise::{
    Connection, ConnectionFault, DatabaseRows, DatabaseTable, Databases, DeliveryTarget, MOST_NAME_BYTES, PolicyFile,
    latest_name, table_name,
};
use crate::settings::{FaultKind, Section, Walk};
use sha2::Digest;
use toml::de::DeValue;

/// Columns that every table of PostgreSQL has already.
const SYSTEM_COLUMNS: [&str; 6] = ["tableoid", "xmin", "cmin", "xmax", "cmax", "ctid"];

/// The largest number that a release will ever have, for the length of names.
const MANY_RELEASES: u32 = 99_999;

/// The databases that a policy file names. `policy` is the rest of it, if that is sound so far.
pub(super) fn read(root: &Section<'_, '_>, policy: Option<&PolicyFile>, walk: &mut Walk) -> Databases {
    let source = walk.section(root, "source").and_then(|section| read_source(&section, walk));
    let Some(section) = walk.section(root, "deliver") else { return Databases { source, deliver: Vec::new() } };
    let mut deliver = Vec::new();
    for (name, span, value) in section.entries() {
        let DeValue::Table(table) = value.get_ref() else {
            walk.wrong_kind::<()>(name, "a section such as [deliver.open_data]", value.span());
            continue;
        };
        let section = Section::named(format!("delivery {name}"), "deliver.NAME", table, span.clone());
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        if name.is_empty() || name.len() > 64 || !name.bytes().all(plain) {
            let message = "the name of a delivery is made of letters, digits, - and _";
            walk.fault(FaultKind::BadDelivery, message, span, "for example [deliver.open_data]");
        }
        deliver.extend(read_target(name, &section, walk));
    }
    if let Some(policy) = policy {
        refuse_names(&section, policy, walk);
    }
    Databases { source, deliver }
}

fn read_source(section: &Section<'_, '_>, walk: &mut Walk) -> Option<DatabaseTable> {
    walk.check_keys(section);
    let connection = read_connection(section, walk);
    let rows = match (walk.string(section, "table"), walk.string(section, "query")) {
        (Some((text, span)), None) => {
            let rows = DatabaseRows::table(text);
            if rows.is_none() {
                let help = "for example table = \"hospital.stays\"; where a name has a dot, write a query";
                walk.fault(FaultKind::BadSource, "table takes SCHEMA.NAME", span, help);
            }
            rows
        }
        (None, Some((path, span))) => {
            let file = walk.inside(path, &span)?;
            let text = files::read(&file).ok().and_then(|bytes| String::from_utf8(bytes).ok());
            match text.map(|text| text.trim().trim_end_matches([';', ' ', '\n', '\r', '\t']).to_string()) {
                Some(sql) if !sql.is_empty() && !sql.contains('\0') => {
                    // The query decides what is published, as hierarchies do.
                    walk.digest.update(sql.as_bytes());
                    Some(DatabaseRows::Query { file: path.into(), sql })
                }
                _ => {
                    let message = "the file of the query cannot be read, or has no query";
                    walk.fault(FaultKind::BadSource, message, span, "its path is relative to the policy file");
                    None
                }
            }
        }
        _ => {
            let message = "[source] has either query or table";
            walk.fault(FaultKind::BadSource, message, section.span(), "for example table = \"hospital.stays\"");
            None
        }
    };
    Some(DatabaseTable { connection: connection?, rows: rows? })
}

fn read_target(name: &str, section: &Section<'_, '_>, walk: &mut Walk) -> Option<DeliveryTarget> {
    walk.check_keys(section);
    let connection = read_connection(section, walk);
    if section.get("schema").is_none() {
        walk.missing(section, "schema", "schema = \"open_data\"");
    }
    let schema = walk.string(section, "schema").map(|(schema, _)| schema.to_string());
    let grant = match section.get("grant") {
        Some(_) => walk.names(section, "grant").unwrap_or_default(),
        None => Vec::new(),
    };
    for (key, name) in schema.iter().map(|schema| ("schema", schema)).chain(grant.iter().map(|role| ("grant", role))) {
        if let Some(why) = refused(name) {
            walk.fault(FaultKind::BadDelivery, format!("{key}: {why}"), section.at(key), "choose another name");
        }
    }
    Some(DeliveryTarget { name: name.into(), connection: connection?, schema: schema?, grant })
}

fn read_connection(section: &Section<'_, '_>, walk: &mut Walk) -> Option<Connection> {
    let Some((text, span)) = walk.string(section, "postgres") else {
        if section.get("postgres").is_none() {
            walk.missing(section, "postgres", "postgres = \"service=ward_ro\"");
        }
        return None;
    };
    let fault = match Connection::parse(text) {
        Ok(connection) => return Some(connection),
        Err(fault) => fault,
    };
    let kind = match fault {
        ConnectionFault::Password => FaultKind::PasswordWritten,
        _ => FaultKind::BadConnection,
    };
    walk.fault(kind, format!("{}: {}", section.name, fault.message()), span, fault.help());
    None
}

/// Records a fault for everything of the policy that could not be delivered.
fn refuse_names(section: &Section<'_, '_>, policy: &PolicyFile, walk: &mut Walk) {
    let mut wrong = |message: String, help: &str| {
        walk.fault(FaultKind::BadDelivery, message, section.span(), help);
    };
    if policy.views().is_some() {
        let help = "take [deliver] out, and hand each view to its recipients";
        wrong("views are not delivered: in one schema everyone would see all of them".into(), help);
    }
    let series = &policy.series.name;
    if table_name(series, MANY_RELEASES).len().max(latest_name(series).len()) > MOST_NAME_BYTES {
        wrong("the name of the series is too long for the name of a table".into(), "at most 56 characters");
    }
    for name in delivered_columns(&policy.schema) {
        if let Some(why) = refused(&name) {
            wrong(format!("column {name}: {why}"), "rename it in the source, before the first release");
        }
    }
}

/// The names of the columns of a delivered table.
fn delivered_columns(schema: &Schema) -> Vec<String> {
    let mut names: Vec<String> = [GROUP_ID, RECORD, ROW_WEIGHT].map(String::from).to_vec();
    for &(role, index) in &schema.order {
        let name = schema.column_name(role, index);
        names.push(name.into());
        if role == Role::Quasi && schema.quasi[index].nullable && schema.quasi[index].hierarchy().is_none() {
            names.push(format!("{name}_maybe_missing"));
        }
    }
    names
}

/// Why PostgreSQL cannot have a thing of that name, if it cannot.
fn refused(name: &str) -> Option<&'static str> {
    match name {
        "" => Some("the name is empty"),
        name if name.len() > MOST_NAME_BYTES => Some("the name has more than 63 bytes"),
        name if name.chars().any(char::is_control) => Some("the name has a control character"),
        name if SYSTEM_COLUMNS.contains(&name) => Some("every table of PostgreSQL has a column of this name already"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ingest::policy_file::{Loaded, PolicyFileError, parse_policy};
    use crate::promise::DatabaseRows;
    use std::path::Path;

    const REST: &str = "[series]\nname = 'ward'\n[columns]\nid = { role = 'identifier' }\nage = { role = 'quasi', type = \
                        'integer', domain = [0, 120] }\nill = { role = 'sensitive' }\n[promise]\nmodel = 'm-invariance'\nm = 2\n";

    fn read(sections: &str) -> Result<Loaded, PolicyFileError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("q.sql"), "select 1; -- one\n ;\n").unwrap();
        parse_policy(&format!("policy = 1\n{REST}{sections}"), &folder.path().join("tacenda.toml"))
    }

    fn codes(sections: &str) -> Vec<&'static str> {
        read(sections).map_or_else(|error| error.faults.iter().map(|fault| fault.kind.code()).collect(), |_| Vec::new())
    }

    #[test]
    fn databases_are_named_and_queries_are_read() {
        let policy = "[source]\npostgres = 'service=a'\nquery = 'q.sql'\n[deliver.open]\npostgres = 'host=b'\nschema = 's'\n\
                      grant = ['r']\n[deliver.more]\npostgres = 'host=c'\nschema = 't'\n";
        let databases = read(policy).unwrap().databases;
        let source = databases.source.unwrap();
        assert!(matches!(&source.rows, DatabaseRows::Query { sql, .. } if sql == "select 1; -- one"), "{source:?}");
        let names: Vec<&str> = databases.deliver.iter().map(|target| target.name.as_str()).collect();
        assert_eq!((names, &databases.deliver[0].grant[..]), (vec!["open", "more"], &["r".to_string()][..]));
        // Another query is another policy.
        let table = read("[source]\npostgres = 'service=a'\ntable = 'a.b'\n").unwrap();
        assert_ne!(table.digest, read(policy).unwrap().digest);
    }

    #[test]
    fn what_no_database_could_take_is_refused_at_its_place() {
        let deliver = |more: &str| format!("[deliver.open]\npostgres = 'host=b'\n{more}\n");
        for (sections, expected) in [
            ("[source]\npostgres = 'service=a'\n".to_string(), vec!["P245"]),
            ("[source]\npostgres = 'service=a'\ntable = 'a'\nquery = 'q.sql'\n".into(), vec!["P245"]),
            ("[source]\npostgres = 'service=a'\ntable = 'a.b.c'\n".into(), vec!["P245"]),
            ("[source]\npostgres = 'service=a'\nquery = 'gone.sql'\n".into(), vec!["P245"]),
            ("[source]\npostgres = 'service=a'\nquery = '../q.sql'\n".into(), vec!["P240"]),
            ("[source]\ntable = 'a'\n".into(), vec!["P204"]),
            ("[source]\npostgres = 'service=a'\ntable = 'a'\nhost = 'b'\n".into(), vec!["P202"]),
            ("[source]\npostgres = 'sslcrl=a'\ntable = 'a'\n".into(), vec!["P243"]),
            (deliver(""), vec!["P204"]),
            (deliver("schema = ''"), vec!["P246"]),
            (deliver(&format!("schema = '{}'", "s".repeat(64))), vec!["P246"]),
            (deliver("schema = 's'\ngrant = ['r', 'r']"), vec!["P218"]),
            (deliver("schema = 's'").replace("[deliver.open]", "[deliver.'a b']"), vec!["P246"]),
            ("[deliver]\nopen = 1\n".into(), vec!["P203"]),
        ] {
            assert_eq!(codes(&sections), expected, "{sections}");
        }
        let long = format!(
            "policy = 1\n{}{}",
            REST.replace("'ward'", &format!("'{}'", "w".repeat(60))),
            deliver("schema = 's'")
        );
        assert_eq!(parse_policy(&long, Path::new("tacenda.toml")).unwrap_err().code(), "P246");
        let taken = format!("policy = 1\n{}{}", REST.replace("\nill =", "\nctid ="), deliver("schema = 's'"));
        assert_eq!(parse_policy(&taken, Path::new("tacenda.toml")).unwrap_err().code(), "P246");
    }

    #[test]
    fn a_line_that_may_hold_a_password_is_not_shown() {
        for connection in ["password=Geheim1", "host=a Geheim1", "postgresql://u:Geheim1@h/d"] {
            for section in [
                format!("[source]\npostgres = '{connection}'\ntable = 'a'\n"),
                format!("source = {{ postgres = '{connection}', table = 'a', oops = 1 }}\n"),
            ] {
                let inline = section.starts_with("source");
                let text = match inline {
                    true => format!("policy = 1\n{section}{REST}"),
                    false => format!("policy = 1\n{REST}{section}"),
                };
                let error = parse_policy(&text, Path::new("tacenda.toml")).unwrap_err();
                assert!(!error.to_string().contains("Geheim1") && error.text.is_empty(), "{section}: {error}");
            }
        }
    }
}
