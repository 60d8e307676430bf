//! What a policy file says about databases: where the table comes from, and where releases are delivered.
//!
//! A connection is written in the words of libpq, `host=… dbname=…` or `postgresql://…`. It never holds a password:
//! a policy file is shown to people, and arguments are shown in the list of processes.

use std::collections::BTreeMap;
use std::fmt;

/// The databases of a project. Both parts may change at any time, because no promise depends on them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Databases {
    /// Where the table comes from, if no file is named.
    pub source: Option<DatabaseTable>,
    /// Where releases are delivered.
    pub deliver: Vec<DeliveryTarget>,
}

/// A table in a database.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DatabaseTable {
    /// How the database is reached.
    pub connection: Connection,
    /// Which rows are read.
    pub rows: DatabaseRows,
}

/// The rows that are read from a database.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum DatabaseRows {
    /// Those of a table or view. Its names are taken as they are.
    Table {
        /// Its schema; the first one in the search path if left out.
        schema: Option<String>,
        /// Its name.
        name: String,
    },
    /// The result of a query.
    Query {
        /// The file of the query, as the policy names it.
        file: String,
        /// Its text.
        sql: String,
    },
}

/// A place that releases are delivered to.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct DeliveryTarget {
    /// Its name in the policy file. The ledger names it so.
    pub name: String,
    /// How the database is reached.
    pub connection: Connection,
    /// The schema that tables are made in.
    pub schema: String,
    /// The roles that may read them.
    pub grant: Vec<String>,
}

/// The words that a connection may have, as in libpq. `service` names a section of the service file with more of them.
pub const CONNECTION_WORDS: [&str; 14] = [
    "application_name",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "options",
    "passfile",
    "port",
    "service",
    "sslcert",
    "sslkey",
    "sslmode",
    "sslrootcert",
    "user",
];

/// How the URL of a database begins.
const SCHEMES: [&str; 2] = ["postgresql://", "postgres://"];

/// How a database is reached: words and their values. There is no password among them.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Connection(BTreeMap<String, String>);

/// What is wrong with the text of a connection. It never shows the text, which may hold a password.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum ConnectionFault {
    /// It holds a password.
    Password,
    /// A word that is not known. Only a plain word is shown.
    Unknown(String),
    /// It cannot be read.
    Unreadable(&'static str),
}

impl ConnectionFault {
    /// What is wrong, in words.
    pub fn message(&self) -> String {
        match self {
            ConnectionFault::Password => "the connection holds a password".into(),
            ConnectionFault::Unknown(word) => format!("a connection has no word {word}"),
            ConnectionFault::Unreadable(why) => format!("the connection cannot be read: {why}"),
        }
    }

    /// What to do.
    pub fn help(&self) -> String {
        match self {
            ConnectionFault::Password => {
                "take it out, change it, and put the new one into ~/.pgpass (chmod 600), or use PGPASSWORD".into()
            }
            ConnectionFault::Unknown(_) => format!("known words: {}", CONNECTION_WORDS.join(", ")),
            ConnectionFault::Unreadable(_) => {
                "write words such as service=ward_ro, or host=db.example.org dbname=hospital".into()
            }
        }
    }
}

impl Connection {
    /// The value of a word.
    pub fn get(&self, word: &str) -> Option<&str> {
        self.0.get(word).map(String::as_str)
    }

    /// Whether a text names a database and not a file.
    pub fn is_url(text: &str) -> bool {
        SCHEMES.iter().any(|scheme| text.starts_with(scheme))
    }

    /// Whether a text is the address of anything together with a password, anywhere in it. In doubt it does: who asks wants to
    /// print the text. The scheme may be any, for people write `pgsql://` or `PostgreSQL://` as well, and a password may have
    /// any character.
    pub fn has_password(text: &str) -> bool {
        let mut urls = text.match_indices("://").map(|(at, found)| &text[at + found.len()..]);
        let of_url = |url: &str| {
            // A sentence may go on behind an address.
            let url = url.split(char::is_whitespace).next().unwrap_or_default();
            let mut parameters = url.split(['?', '&', ';']).skip(1).filter_map(|parameter| parameter.split('=').next());
            url.rsplit_once('@').is_some_and(|(user, _)| user.contains(':'))
                || parameters.any(|word| ["passw", "pwd"].iter().any(|secret| word.to_lowercase().contains(secret)))
        };
        let has_place = ["host=", "hostaddr=", "dbname=", "user=", "service="].iter().any(|word| text.contains(word));
        urls.any(of_url) || (has_place && Connection::parse(text) == Err(ConnectionFault::Password))
    }

    /// Reads the text of a connection: words, or a URL.
    pub fn parse(text: &str) -> Result<Connection, ConnectionFault> {
        match Connection::is_url(text) {
            true => Ok(Connection::parse_url(text)?.0),
            false => Connection::of_words(words(text)?),
        }
    }

    /// Reads a URL, and returns its parameters that are ours: `table`.
    fn parse_url(url: &str) -> Result<(Connection, Option<String>), ConnectionFault> {
        let mut found = url_words(url)?;
        let table = found.iter().position(|(word, _)| word == "table").map(|at| found.remove(at).1);
        Ok((Connection::of_words(found)?, table))
    }

    fn of_words(found: Vec<(String, String)>) -> Result<Connection, ConnectionFault> {
        if found.iter().any(|(word, _)| word.contains("password")) {
            return Err(ConnectionFault::Password);
        }
        let mut connection = Connection::default();
        for (word, value) in found {
            if !CONNECTION_WORDS.contains(&word.as_str()) {
                let is_plain = word.len() <= 40 && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
                return Err(match is_plain {
                    true => ConnectionFault::Unknown(word),
                    false => ConnectionFault::Unreadable("it has no words of the form word=value"),
                });
            }
            if value.contains('\0') {
                return Err(ConnectionFault::Unreadable("a value has a byte that no value can have"));
            }
            if word.starts_with("host") && value.contains(',') {
                return Err(ConnectionFault::Unreadable("it has several hosts; name one"));
            }
            connection.0.insert(word, value);
        }
        Ok(connection)
    }
}

impl fmt::Display for Connection {
    /// Words that [`Connection::parse`] reads back.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (word, value)) in self.0.iter().enumerate() {
            let blank = if index > 0 { " " } else { "" };
            let value = value.replace('\\', "\\\\").replace('\'', "\\'");
            let is_plain = !value.is_empty() && !value.contains(char::is_whitespace);
            let quote = if is_plain { "" } else { "'" };
            write!(out, "{blank}{word}={quote}{value}{quote}")?;
        }
        Ok(())
    }
}

impl DatabaseTable {
    /// The table that a URL names by its parameter `table`: `postgresql://host/database?table=schema.name`.
    pub fn of_url(url: &str) -> Result<DatabaseTable, ConnectionFault> {
        let (connection, table) = Connection::parse_url(url)?;
        let table = table.and_then(|table| DatabaseRows::table(&table));
        let unnamed = ConnectionFault::Unreadable("it names no table; end it with ?table=SCHEMA.NAME");
        Ok(DatabaseTable { connection, rows: table.ok_or(unnamed)? })
    }

    /// What the table is called in notes and errors.
    pub fn name(&self) -> String {
        match &self.rows {
            DatabaseRows::Table { schema: Some(schema), name } => format!("{schema}.{name}"),
            DatabaseRows::Table { schema: None, name } => name.clone(),
            DatabaseRows::Query { file, .. } => file.clone(),
        }
    }
}

impl DatabaseRows {
    /// The table `schema.name` or `name`.
    pub fn table(text: &str) -> Option<DatabaseRows> {
        let (schema, name) = match text.split_once('.') {
            Some((schema, name)) => (Some(schema), name),
            None => (None, text),
        };
        let is_name = |name: &str| !name.is_empty() && name.len() <= MOST_NAME_BYTES && !name.contains(['.', '\0']);
        let are_names = is_name(name) && schema.is_none_or(is_name);
        are_names.then(|| DatabaseRows::Table { schema: schema.map(String::from), name: name.into() })
    }
}

/// The most bytes of a name in PostgreSQL. It cuts longer ones, and two cut names may be the same.
pub const MOST_NAME_BYTES: usize = 63;

/// What the table of a series is called: the series, with underscores for dashes, and the release's number.
pub fn table_name(series: &str, release: u32) -> String {
    format!("{}_r{release:04}", series.replace('-', "_"))
}

/// What the view of a series' latest release is called.
pub fn latest_name(series: &str) -> String {
    format!("{}_latest", series.replace('-', "_"))
}

/// Words of the form `word = value`, separated by blanks. A value may be in single quotes; `\` takes the next letter as
/// it is.
fn words(text: &str) -> Result<Vec<(String, String)>, ConnectionFault> {
    let unreadable = |why| Err(ConnectionFault::Unreadable(why));
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some((word, after)) = rest.split_once('=') else { return unreadable("a word has no value") };
        let after = after.trim_start();
        let (is_quoted, mut letters) = match after.strip_prefix('\'') {
            Some(inside) => (true, inside.char_indices()),
            None => (false, after.char_indices()),
        };
        let (mut value, mut end) = (String::new(), None);
        while let Some((at, letter)) = letters.next() {
            match letter {
                '\\' => value.extend(letters.next().map(|(_, letter)| letter)),
                '\'' if is_quoted => end = Some(at + 1),
                letter if !is_quoted && letter.is_whitespace() => end = Some(at),
                letter => value.push(letter),
            }
            if end.is_some() {
                break;
            }
        }
        if is_quoted && end.is_none() {
            return unreadable("a quote is not closed");
        }
        found.push((word.trim().to_string(), value));
        let taken = after.strip_prefix('\'').unwrap_or(after);
        rest = end.map_or("", |end| &taken[end..]).trim_start();
    }
    Ok(found)
}

/// The words of `postgresql://user@host:port/database?word=value&…`.
fn url_words(url: &str) -> Result<Vec<(String, String)>, ConnectionFault> {
    let unreadable = ConnectionFault::Unreadable;
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (rest, parameters) = rest.split_once('?').unwrap_or((rest, ""));
    let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, place) = place.rsplit_once('@').unwrap_or(("", place));
    if user.contains(':') {
        return Err(ConnectionFault::Password);
    }
    let (host, port) = match place.strip_prefix('[').and_then(|place| place.split_once(']')) {
        Some((host, port)) => (host, port.strip_prefix(':').unwrap_or(port)),
        None => place.split_once(':').unwrap_or((place, "")),
    };
    let mut found = Vec::new();
    for (word, value) in [("user", user), ("host", host), ("port", port), ("dbname", database)] {
        if !value.is_empty() {
            found.push((word.to_string(), decoded(value).ok_or(unreadable("a % is not followed by two digits"))?));
        }
    }
    for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
        let (word, value) = parameter.split_once('=').ok_or(unreadable("a parameter has no value"))?;
        let value = decoded(value).ok_or(unreadable("a % is not followed by two digits"))?;
        found.push((word.to_string(), value));
    }
    Ok(found)
}

/// A text without percent encoding.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| byte.and_then(|byte| char::from(byte).to_digit(16));
                (digit(rest.next())? * 16 + digit(rest.next())?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        match Connection::parse(text) {
            Ok(connection) => connection.0.iter().map(|(word, value)| format!("{word}={value};")).collect(),
            Err(fault) => fault.message(),
        }
    }

    #[test]
    fn a_connection_is_read_as_libpq_reads_it() {
        for (text, found) in [
            ("service=ward_ro", "service=ward_ro;"),
            (" host = db.example.org   port=5433 ", "host=db.example.org;port=5433;"),
            (r"user='O\'Neill' dbname='a b' options=a\ b", "dbname=a b;options=a b;user=O'Neill;"),
            ("dbname='' host=x", "dbname=;host=x;"),
            ("", ""),
            (
                "postgresql://ann@db:5433/ward?sslmode=verify-full",
                "dbname=ward;host=db;port=5433;sslmode=verify-full;user=ann;",
            ),
            ("postgres:///ward?host=%2Frun%2Fpg", "dbname=ward;host=/run/pg;"),
            ("postgresql://[::1]:5433/ward", "dbname=ward;host=::1;port=5433;"),
            ("host=a,b", "the connection cannot be read: it has several hosts; name one"),
            ("host='a", "the connection cannot be read: a quote is not closed"),
            ("ward", "the connection cannot be read: a word has no value"),
            ("sslcrl=x", "a connection has no word sslcrl"),
            ("postgresql://db/%zz", "the connection cannot be read: a % is not followed by two digits"),
        ] {
            assert_eq!(shown(text), found, "{text}");
        }
    }

    #[test]
    fn a_password_is_refused_and_never_shown() {
        for text in [
            "host=db password=Geheim1",
            "password = 'Geheim1'",
            "postgresql://ann:Geheim1@db/ward",
            "postgresql://db/ward?password=Geheim1",
            "sslpassword=Geheim1",
        ] {
            assert_eq!(Connection::parse(text), Err(ConnectionFault::Password), "{text}");
        }
        // A password without its word is no reason to show it either.
        assert!(!shown("host=db Geheim1=x").contains("Geheim1"));
        assert!(!shown("host=db Geheim1").contains("Geheim1"));
    }

    #[test]
    fn a_password_is_seen_wherever_it_stands() {
        for text in [
            "postgresql://ann:Geheim1@db/ward",
            "age=postgres://ann:Geheim1@db/ward",
            "postgresql://db/ward?x&password=Geheim1",
            "postgresql://db/%zz?table=t&sslpassword=Geheim1",
            "host=db password=Geheim1",
            "postgresql+psycopg://ann:Geheim1@db/ward",
            "PostgreSQL://ann:Geheim1@db/ward",
            "pgsql://ann:Gehe/im?1@db/ward",
            "jdbc:postgresql://db/ward?user=ann&Password=Geheim1",
            "https://ann:Geheim1@example.org/t.csv",
        ] {
            assert!(Connection::has_password(text), "{text}");
        }
        for text in [
            "postgresql://ann@db:5433/ward?table=hospital.passwords",
            "postgresql://[::1]:5433/ward",
            "password=exact",
            "people.csv",
            "C:\\a@b",
            "see https://example.org/why: mail ann@example.org",
        ] {
            assert!(!Connection::has_password(text), "{text}");
        }
    }

    #[test]
    fn a_url_names_a_table() {
        let table = |url: &str| DatabaseTable::of_url(url).map(|table| table.name());
        assert_eq!(table("postgresql:///ward?table=hospital.stays"), Ok("hospital.stays".into()));
        assert_eq!(table("postgresql:///ward?table=stays"), Ok("stays".into()));
        assert!(table("postgresql:///ward").is_err() && table("postgresql:///ward?table=a.b.c").is_err());
    }
}
