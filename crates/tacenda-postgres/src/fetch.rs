//! Reads a table or the result of a query, as it is at one moment, into Arrow's columns.
//!
//! The server first says which columns there are. Those that nobody wants are never asked for. The rows come by
//! `COPY … (FORMAT binary)` in a transaction that sees one moment and cannot write. Rows that a policy of the server would hide
//! are an error, because a table that lacks people in silence is another table.

use crate::connect::{connect, failed, told};
use crate::decode::{Decoder, Sent};
use crate::quoted;
use postgres::types::{Kind, Type};
use postgres::{Client, IsolationLevel, Transaction};
use std::io::BufRead;
use tacenda::ingest::Source;
use tacenda::promise::{DatabaseRows, DatabaseTable};
use tacenda::report::number;
use tacenda::use_cases::{DatabaseError, Fetched};

/// The server must not leave rows out because of who asks; it refuses the query instead.
const ALL_ROWS: &str = "set local row_security = off";

/// Reads the table, unless it has more rows than `most`. They are counted before the first one is fetched, at the same moment.
pub fn fetch(
    table: &DatabaseTable,
    wanted: &dyn Fn(&str) -> bool,
    most: Option<u64>,
) -> Result<Fetched, DatabaseError> {
    let mut client = connect(&table.connection)?;
    let (version, zone) = about(&mut client)?;
    let moment = client.build_transaction().isolation_level(IsolationLevel::RepeatableRead).read_only(true);
    let mut moment = moment.start().map_err(failed)?;
    moment.batch_execute(ALL_ROWS).map_err(failed)?;
    let from = named(table);
    let refused = |error: postgres::Error| refused(table, &error);
    let columns = columns(&mut moment, &from, table, wanted)?;
    if let Some(most) = most {
        let list: Vec<String> = columns.iter().map(|column| quoted(&column.name)).collect();
        let count = format!("select pg_catalog.count(*) from (select {} from {from}) as tacenda_rows", list.join(", "));
        let rows: i64 = moment.query_one(&count, &[]).map_err(refused)?.get(0);
        if rows as u64 > most {
            return Ok(Fetched::TooLarge(rows as u64));
        }
    }
    let list: Vec<String> = columns.iter().map(|column| column.selected()).collect();
    let copy = format!("copy (select {} from {from}) to stdout (format binary)", list.join(", "));
    let mut reader = moment.copy_out(&copy).map_err(refused)?;
    let sent: Vec<(String, Sent)> = columns.iter().map(|column| (column.name.clone(), column.sent)).collect();
    let mut decoder = Decoder::new(&sent);
    loop {
        let bytes = reader.fill_buf().map_err(|error| broke_off(table, error))?;
        if bytes.is_empty() {
            break;
        }
        let length = bytes.len();
        decoder.take(bytes)?;
        reader.consume(length);
    }
    drop(reader);
    moment.commit().map_err(failed)?;
    let (schema, batches, rows) = decoder.finish()?;
    let mut note = format!("{} rows of {} from PostgreSQL {version}", number(rows), table.name());
    if columns.iter().any(|column| column.has_zone) {
        note += &format!("; times with a time zone are read in {zone}");
    }
    Ok(Fetched::Table(Source::frame(&table.name(), schema, batches).noting(note)))
}

/// The columns of a table that cannot be read, each with the reason: they have another type, or belong to others.
pub fn closed_columns(table: &DatabaseTable) -> Result<Vec<(String, String)>, DatabaseError> {
    let mut client = connect(&table.connection)?;
    let from = named(table);
    let refused = |error: postgres::Error| refused(table, &error);
    let statement = client.prepare(&format!("select * from {from}")).map_err(refused)?;
    let rights =
        "select attname::text, pg_catalog.has_column_privilege(attrelid, attnum, 'select') from pg_catalog.pg_attribute
        where attrelid = $1::text::pg_catalog.regclass and attnum > 0 and not attisdropped";
    let rights = client.query(rights, &[&from]).map_err(refused)?;
    let may_read = |name: &str| rights.iter().any(|right| right.get::<_, &str>(0) == name && right.get(1));
    let closed = statement.columns().iter().filter_map(|column| {
        let why = match sent_as(base(column.type_())) {
            None => format!("its type {} is not read", column.type_().name()),
            Some(_) if !may_read(column.name()) => "you have no right to read it".into(),
            Some(_) => return None,
        };
        Some((column.name().to_string(), why))
    });
    Ok(closed.collect())
}

/// What rows are selected from.
fn named(table: &DatabaseTable) -> String {
    match &table.rows {
        DatabaseRows::Table { schema: Some(schema), name } => format!("{}.{}", quoted(schema), quoted(name)),
        DatabaseRows::Table { schema: None, name } => quoted(name),
        // A line break, because the query may end in a comment.
        DatabaseRows::Query { sql, .. } => format!("(\n{sql}\n) as tacenda_source"),
    }
}

/// The server's version, and the time zone of the session.
fn about(client: &mut Client) -> Result<(String, String), DatabaseError> {
    let row = client
        .query_one("select pg_catalog.current_setting('server_version'), pg_catalog.current_setting('TimeZone')", &[]);
    let row = row.map_err(failed)?;
    let version: String = row.get(0);
    Ok((version.split(' ').next().unwrap_or_default().into(), row.get(1)))
}

/// A column that is read.
struct ReadColumn {
    name: String,
    sent: Sent,
    has_zone: bool,
}

impl ReadColumn {
    /// How it is asked for. A time with a zone is a day only where somebody says where: there, the session does.
    fn selected(&self) -> String {
        let cast = if self.has_zone { "::pg_catalog.timestamp" } else { "" };
        format!("{}{cast}", quoted(&self.name))
    }
}

/// The wanted columns.
fn columns(
    moment: &mut Transaction<'_>,
    from: &str,
    table: &DatabaseTable,
    wanted: &dyn Fn(&str) -> bool,
) -> Result<Vec<ReadColumn>, DatabaseError> {
    let statement = moment.prepare(&format!("select * from {from}")).map_err(|error| refused(table, &error))?;
    let query =
        |what: String, way_out: &str| DatabaseError::Query { name: table.name(), what, way_out: way_out.into() };
    if !statement.params().is_empty() {
        return Err(query("it has parameters such as $1".into(), "write the values themselves"));
    }
    let mut found: Vec<ReadColumn> = Vec::new();
    for column in statement.columns().iter().filter(|column| wanted(column.name())) {
        let name = column.name().to_string();
        if found.iter().any(|known| known.name == name) {
            return Err(query(format!("two columns are called {name}"), "give one of them another name with as"));
        }
        let kind = base(column.type_());
        let sent = sent_as(kind).ok_or_else(|| unsupported(&name, column.type_(), table))?;
        found.push(ReadColumn { name, sent, has_zone: *kind == Type::TIMESTAMPTZ });
    }
    Ok(found)
}

/// The type that a domain is made of.
fn base(kind: &Type) -> &Type {
    match kind.kind() {
        Kind::Domain(inner) => base(inner),
        _ => kind,
    }
}

/// How cells of a type are sent; `None` if the type is not read.
fn sent_as(kind: &Type) -> Option<Sent> {
    Some(match *kind {
        Type::BOOL => Sent::Boolean,
        Type::INT2 => Sent::Int2,
        Type::INT4 => Sent::Int4,
        Type::INT8 => Sent::Int8,
        Type::FLOAT4 => Sent::Float4,
        Type::FLOAT8 => Sent::Float8,
        Type::NUMERIC => Sent::Numeric,
        Type::DATE => Sent::Date,
        Type::TIMESTAMP | Type::TIMESTAMPTZ => Sent::Timestamp,
        Type::TEXT | Type::VARCHAR => Sent::Text,
        Type::BPCHAR => Sent::Padded,
        Type::UUID => Sent::Uuid,
        _ if matches!(kind.kind(), Kind::Enum(_)) => Sent::Text,
        _ => return None,
    })
}

fn unsupported(column: &str, kind: &Type, table: &DatabaseTable) -> DatabaseError {
    let name = quoted(column);
    let (why, cast) = match base(kind).kind() {
        Kind::Range(_) | Kind::Multirange(_) => {
            ("a range is generalised already, and a row must have the person's own value", format!("lower({name})"))
        }
        Kind::Array(_) => ("a cell has one value", format!("{name}[1]")),
        _ => ("it is none of the types that are read", format!("{name}::text")),
    };
    let way_out = match table.rows {
        DatabaseRows::Query { .. } => format!("write {cast} as {name} in the query, or role = \"drop\" at the column"),
        DatabaseRows::Table { .. } => {
            format!("write a query with {cast} as {name} in place of the table, or role = \"drop\" at the column")
        }
    };
    DatabaseError::UnsupportedType { column: column.into(), kind: kind.name().into(), why, way_out }
}

/// Whether a state tells of the server's own trouble, or of others who use it, so that the same query may succeed later: lost
/// connections, conflicts with other transactions or with the recovery of a standby, scarce resources, what its owner stops, its
/// files and its bugs; and of the states about locks and transactions those that pass.
fn passes(state: &str) -> bool {
    let class = state.get(..2).unwrap_or_default();
    matches!(class, "08" | "40" | "53" | "57" | "58" | "XX")
        || matches!(state, "" | "25P02" | "25P03" | "25P04" | "55P03")
}

/// The error of a query or table that the server does not take.
fn refused(table: &DatabaseTable, error: &postgres::Error) -> DatabaseError {
    let answer = error.as_db_error();
    let state = answer.map_or("", |answer| answer.code().code());
    if passes(state) {
        return DatabaseError::Failed { what: told(error) };
    }
    let way_out = match state {
        // The message is in the language of the server; the name of its function is not.
        "42501" if answer.and_then(|answer| answer.routine()) == Some("check_enable_rls") => {
            "row-level security would leave people out in silence; let a role with bypassrls read it, or a view of the table's \
             owner that names the rows"
        }
        "42501" => "let the user read it: grant select on it",
        "42P01" | "3F000" => "check schema and name; they are taken as they are written",
        "25006" => "a query only reads",
        _ => "try the query in psql",
    };
    DatabaseError::Query { name: table.name(), what: told(error), way_out: way_out.into() }
}

/// The error of rows that stopped coming. The database's own error is inside.
fn broke_off(table: &DatabaseTable, error: std::io::Error) -> DatabaseError {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>());
    inner.map_or_else(|| DatabaseError::Failed { what: error.to_string() }, |inner| refused(table, inner))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_pass_is_tried_again_and_what_a_person_must_mend_is_not() {
        // Serialisation, a deadlock, a standby's conflict, a lock, limits of time, a full disk, a shutdown, a lost connection.
        for state in [
            "", "40001", "40P01", "40003", "55P03", "25P02", "25P03", "25P04", "57014", "57P01", "53100", "58030",
            "08006",
        ] {
            assert!(passes(state), "{state}");
        }
        for state in ["42501", "42P01", "42703", "22P02", "22012", "25006", "55000", "0A000"] {
            assert!(!passes(state), "{state}");
        }
    }
}
