//! Reaches a server, and tells what went wrong there without a cell.

use crate::settings::{Host, ServerSettings};
use crate::tls::Tls;
use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};
use std::error::Error;
use std::time::Duration;
use tacenda::promise::Connection;
use tacenda::use_cases::DatabaseError;
use tokio_rustls::rustls;

/// How long a connection may be silent before it is tried, and how long the other side may then be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// A connection to a server. It speaks UTF-8.
pub fn connect(connection: &Connection) -> Result<Client, DatabaseError> {
    let settings = ServerSettings::of(connection)?;
    let mut config = Config::new();
    match &settings.host {
        Host::Socket(folder) => config.host_path(folder),
        Host::Name(name) => config.host(name),
    };
    if let Some(address) = settings.hostaddr {
        config.hostaddr(address);
    }
    if let Some(options) = &settings.options {
        config.options(options);
    }
    if let Some(password) = &settings.password {
        config.password(password);
    }
    config.port(settings.port).dbname(&settings.database).user(&settings.user);
    config.application_name(&settings.application).connect_timeout(settings.timeout);
    config.keepalives_idle(SILENCE).keepalives_interval(SILENCE).tcp_user_timeout(SILENCE * 4);
    let client = match &settings.tls {
        Some(files) => config.ssl_mode(SslMode::Require).connect(Tls::new(files)?),
        None => config.ssl_mode(SslMode::Disable).connect(NoTls),
    };
    let mut client = client.map_err(|error| unreached(&error))?;
    if let Some(zone) = &settings.time_zone {
        let set = client.execute("select pg_catalog.set_config('TimeZone', $1, false)", &[zone]);
        set.map_err(|_| DatabaseError::Setting {
            what: "the server knows no time zone of the name in PGTZ".into(),
            way_out: "write a name such as Europe/Berlin".into(),
        })?;
    }
    Ok(client)
}

/// Why no connection was made.
fn unreached(error: &postgres::Error) -> DatabaseError {
    if let Some(answer) = error.as_db_error() {
        let (state, what) = (answer.code().code(), answer.message().to_string());
        return match &state[..2] {
            "28" | "3D" => DatabaseError::SignIn { what },
            _ => DatabaseError::Unreachable { what },
        };
    }
    let mut causes = std::iter::successors(error.source(), |cause| inner(*cause));
    match causes.find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        // The server ended it: about our certificate, or about how to encrypt. Its own certificate is not the matter.
        Some(rustls::Error::AlertReceived(alert)) => {
            let what =
                format!("the server ended the encrypted connection ({alert:?}); sslcert and sslkey say who you are");
            return DatabaseError::SignIn { what };
        }
        Some(cause) => return DatabaseError::Certificate { what: cause.to_string() },
        None => {}
    }
    let text = texts(error);
    match () {
        () if text.contains("does not support TLS") => {
            DatabaseError::Certificate { what: "the server offers no encrypted connection".into() }
        }
        () if text.contains("password missing") => {
            DatabaseError::SignIn { what: "it wants a password, and none is known".into() }
        }
        () => DatabaseError::Unreachable { what: text },
    }
}

/// What lies behind a cause. An error of input and output hides its own.
fn inner<'e>(cause: &'e (dyn Error + 'static)) -> Option<&'e (dyn Error + 'static)> {
    match cause.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref) {
        Some(hidden) => Some(hidden),
        None => cause.source(),
    }
}

/// An error and its causes, each once.
fn texts(error: &postgres::Error) -> String {
    let mut text = error.to_string();
    for cause in std::iter::successors(error.source(), |cause| (*cause).source()) {
        let cause = cause.to_string();
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// Classes of states whose messages name things of the database and never cells: rights, names, syntax, resources, conflicts
/// with others, the server's end.
const WITHOUT_CELLS: [&str; 12] = ["08", "0A", "25", "28", "2B", "3D", "3F", "40", "42", "53", "55", "57"];

/// What went wrong on the server.
pub fn told(error: &postgres::Error) -> String {
    match error.as_db_error() {
        Some(answer) if WITHOUT_CELLS.contains(&&answer.code().code()[..2]) => {
            format!("{} (state {})", answer.message(), answer.code().code())
        }
        // The message may quote a row.
        Some(answer) => format!("state {}", answer.code().code()),
        None if error.is_closed() => "the connection broke".into(),
        None => texts(error),
    }
}

/// The error of a step that the server refused, or that did not get through.
pub fn failed(error: postgres::Error) -> DatabaseError {
    DatabaseError::Failed { what: told(&error) }
}
