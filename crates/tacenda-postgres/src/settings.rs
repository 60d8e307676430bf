//! How a server is reached: the words of the policy file, then the service file, then the environment, as libpq does.
//!
//! Differences to libpq, all of them stricter:
//!
//! - Off this machine the server's certificate is always checked, and its name too. A weaker `sslmode` is an error.
//! - A file with a password that others can read is an error; libpq would ignore it.
//! - A word that is not known is an error, and so is a list of hosts. So are variables that ask for a check that is not made here.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{env, fs};
use tacenda::promise::{CONNECTION_WORDS, Connection};
use tacenda::use_cases::DatabaseError;

/// Where the variables of the environment come from.
type Environment<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Everything that is needed to reach a server.
pub struct ServerSettings {
    pub host: Host,
    pub hostaddr: Option<IpAddr>,
    pub port: u16,
    pub database: String,
    pub user: String,
    pub password: Option<String>,
    pub application: String,
    pub options: Option<String>,
    pub timeout: Duration,
    pub time_zone: Option<String>,
    /// How the server proves who it is; `None` for an open connection, which never leaves this machine.
    pub tls: Option<TlsFiles>,
}

/// Where the server listens.
pub enum Host {
    /// A folder with a socket, on this machine.
    Socket(PathBuf),
    /// A name or an address.
    Name(String),
}

/// The files of an encrypted connection.
#[derive(Debug, Default, Eq, PartialEq)]
pub struct TlsFiles {
    /// The certificates of authorities; those of the system if left out.
    pub authorities: Option<PathBuf>,
    /// The client's own certificate and its private key.
    pub own: Option<(PathBuf, PathBuf)>,
}

/// The folders in which a server on this machine puts its socket: of Debian and others, and of PostgreSQL itself.
const SOCKET_FOLDERS: [&str; 2] = ["/var/run/postgresql", "/tmp"];

/// The folder of the service file of the whole machine.
const SYSTEM_FOLDER: &str = "/etc/postgresql-common";

/// Variables of libpq that demand something of the connection which is not checked here, and their values that demand nothing
/// more than what is done anyway. Who sets another value relies on it.
///
/// All others are read here, or change nothing of what matters: `PGCLIENTENCODING`, `PGDATESTYLE`, `PGGEQO`,
/// `PGGSSDELEGATION`, `PGGSSLIB`, `PGKRBSRVNAME`, `PGLOADBALANCEHOSTS`, `PGLOCALEDIR`, `PGMAXPROTOCOLVERSION`, `PGOAUTHDEBUG` and
/// `PGSSLCOMPRESSION`.
const UNCHECKED_VARIABLES: [(&str, &[&str]); 13] = [
    ("PGCHANNELBINDING", &["disable", "prefer"]),
    ("PGGSSENCMODE", &["disable", "prefer"]),
    ("PGMINPROTOCOLVERSION", &["3.0"]),
    ("PGREQUIREAUTH", &[]),
    ("PGREQUIREPEER", &[]),
    ("PGSSLCERTMODE", &["allow"]),
    ("PGSSLCRL", &[]),
    ("PGSSLCRLDIR", &[]),
    ("PGSSLMAXPROTOCOLVERSION", &["TLSv1.3"]),
    ("PGSSLMINPROTOCOLVERSION", &["TLSv1", "TLSv1.1", "TLSv1.2"]),
    ("PGSSLNEGOTIATION", &["postgres"]),
    ("PGSSLSNI", &["1"]),
    ("PGTARGETSESSIONATTRS", &["any"]),
];

/// How long a server may take to answer at first, if nothing else is said.
const PATIENCE: Duration = Duration::from_secs(30);

impl ServerSettings {
    /// What the words, the service file and this process's environment say together.
    pub fn of(connection: &Connection) -> Result<ServerSettings, DatabaseError> {
        ServerSettings::in_environment(connection, &|name| env::var(name).ok())
    }

    fn in_environment(connection: &Connection, environment: Environment<'_>) -> Result<ServerSettings, DatabaseError> {
        let demands = |(name, harmless): &&(&str, &[&str])| {
            environment(name).is_some_and(|value| !value.is_empty() && !harmless.contains(&value.as_str()))
        };
        if let Some((name, _)) = UNCHECKED_VARIABLES.iter().find(demands) {
            return Err(wrong(
                &format!("{name} is set, and its check is not made here"),
                &format!("run: unset {name}"),
            ));
        }
        let words = Words::of(connection, environment)?;
        let port = words.get("port").unwrap_or_else(|| "5432".into());
        let port: u16 = port.parse().map_err(|_| wrong("the port is no number", "write a port such as port=5432"))?;
        let hostaddr = words.get("hostaddr").map(|text| text.parse::<IpAddr>()).transpose();
        let hostaddr = hostaddr.map_err(|_| wrong("hostaddr is no address", "write an address, or host=NAME"))?;
        let host = match (words.get("host").filter(|host| !host.is_empty()), hostaddr) {
            (Some(path), _) if path.starts_with('/') => Host::Socket(path.into()),
            (Some(name), _) => Host::Name(name),
            (None, Some(address)) => Host::Name(address.to_string()),
            (None, None) => Host::Socket(socket_folder(port)?),
        };
        let name = environment("USER").or_else(|| environment("LOGNAME"));
        let unnamed = || wrong("nobody says which user connects", "write user=NAME, or set PGUSER");
        let user = words.get("user").or(name).filter(|user| !user.is_empty()).ok_or_else(unnamed)?;
        let database = words.get("dbname").filter(|name| !name.is_empty()).unwrap_or_else(|| user.clone());
        let tls = words.tls(&host, hostaddr)?;
        let password = words.password(&host, port, &database, &user)?;
        let timeout = words.get("connect_timeout").map(|text| text.parse::<u64>()).transpose();
        let timeout = timeout.map_err(|_| wrong("connect_timeout is no number of seconds", "write a number"))?;
        Ok(ServerSettings {
            host,
            hostaddr,
            port,
            database,
            user,
            password,
            application: words.get("application_name").unwrap_or_else(|| "tacenda".into()),
            options: words.get("options"),
            timeout: timeout.filter(|&seconds| seconds > 0).map_or(PATIENCE, Duration::from_secs),
            time_zone: environment("PGTZ"),
            tls,
        })
    }
}

/// The words of a connection, of its service and of the environment.
struct Words<'a> {
    connection: &'a Connection,
    service: Vec<(String, String)>,
    environment: Environment<'a>,
}

impl<'a> Words<'a> {
    fn of(connection: &'a Connection, environment: Environment<'a>) -> Result<Words<'a>, DatabaseError> {
        let name = connection.get("service").map(String::from).or_else(|| environment("PGSERVICE"));
        let service = name.map_or(Ok(Vec::new()), |name| read_service(&name, environment))?;
        Ok(Words { connection, service, environment })
    }

    fn get(&self, word: &str) -> Option<String> {
        let own = self.connection.get(word).map(String::from);
        let service = || self.service.iter().find(|(name, _)| name == word).map(|(_, value)| value.clone());
        own.or_else(service).or_else(|| (self.environment)(variable(word)?))
    }

    fn home(&self, file: &str) -> Option<PathBuf> {
        Some(Path::new(&(self.environment)("HOME")?).join(file))
    }

    /// Whether the connection is encrypted and the server checked. On this machine that must be asked for.
    fn tls(&self, host: &Host, hostaddr: Option<IpAddr>) -> Result<Option<TlsFiles>, DatabaseError> {
        let is_near = match (host, hostaddr) {
            (Host::Socket(_), _) => return Ok(None),
            (Host::Name(_), Some(address)) => address.is_loopback(),
            (Host::Name(name), None) => {
                name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
            }
        };
        // An old word for the same, which libpq reads where there is no newer one.
        let required = || (self.environment)("PGREQUIRESSL").filter(|value| value.starts_with('1'));
        let mode = self.get("sslmode").or_else(|| required().map(|_| "require".into()));
        let is_wanted = match (mode.as_deref(), is_near) {
            (None, is_near) => !is_near,
            (Some("require" | "verify-ca" | "verify-full"), _) => true,
            (Some("disable" | "allow" | "prefer"), true) => false,
            (Some("disable" | "allow" | "prefer"), false) => {
                let what = "this sslmode would send people's rows to a server that nobody checked";
                return Err(wrong(what, "take sslmode out, or write sslmode=verify-full"));
            }
            (Some(_), _) => {
                return Err(wrong("there is no such sslmode", "write sslmode=verify-full, or take it out"));
            }
        };
        if !is_wanted {
            return Ok(None);
        }
        if self.home(".postgresql/root.crl").is_some_and(|file| file.is_file()) {
            let what = "~/.postgresql/root.crl lists revoked certificates, and that check is not made here";
            return Err(wrong(what, "move the file away if you can do without the check"));
        }
        let named = self.get("sslrootcert");
        let usual = || self.home(".postgresql/root.crt").filter(|file| file.is_file());
        let authorities = match named.as_deref() {
            Some("system") => None,
            Some(file) => Some(PathBuf::from(file)),
            None => usual(),
        };
        let own = |word: &str, file: &str| {
            let usual = || self.home(file).filter(|file| file.is_file());
            self.get(word).map(PathBuf::from).or_else(usual)
        };
        let certificate = own("sslcert", ".postgresql/postgresql.crt");
        let own = certificate.zip(own("sslkey", ".postgresql/postgresql.key"));
        if let Some((_, key)) = &own {
            refuse_loose(key)?;
        }
        Ok(Some(TlsFiles { authorities, own }))
    }

    /// The password: of the service, of the environment, or of the file of passwords.
    fn password(&self, host: &Host, port: u16, database: &str, user: &str) -> Result<Option<String>, DatabaseError> {
        let service = self.service.iter().find(|(name, _)| name == "password").map(|(_, value)| value.clone());
        let said = service.or_else(|| (self.environment)("PGPASSWORD"));
        // An empty one counts as none, as in libpq.
        if let Some(password) = said.filter(|password| !password.is_empty()) {
            return Ok(Some(password));
        }
        let named = self.get("passfile").map(PathBuf::from);
        let Some(file) = named.or_else(|| self.home(".pgpass")).filter(|file| file.is_file()) else { return Ok(None) };
        refuse_loose(&file)?;
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        let host = match host {
            Host::Socket(folder) if SOCKET_FOLDERS.iter().any(|usual| folder == Path::new(usual)) => "localhost".into(),
            Host::Socket(folder) => folder.display().to_string(),
            Host::Name(name) => name.clone(),
        };
        Ok(find_password(&text, [&host, &port.to_string(), database, user]))
    }
}

/// The variable of the environment that stands for a word.
fn variable(word: &str) -> Option<&'static str> {
    Some(match word {
        "application_name" => "PGAPPNAME",
        "connect_timeout" => "PGCONNECT_TIMEOUT",
        "dbname" => "PGDATABASE",
        "host" => "PGHOST",
        "hostaddr" => "PGHOSTADDR",
        "options" => "PGOPTIONS",
        "passfile" => "PGPASSFILE",
        "port" => "PGPORT",
        "sslcert" => "PGSSLCERT",
        "sslkey" => "PGSSLKEY",
        "sslmode" => "PGSSLMODE",
        "sslrootcert" => "PGSSLROOTCERT",
        "user" => "PGUSER",
        _ => return None,
    })
}

/// The words of a service, from the user's file or else from the machine's.
fn read_service(name: &str, environment: Environment<'_>) -> Result<Vec<(String, String)>, DatabaseError> {
    let usual = || environment("HOME").map(|home| format!("{home}/.pg_service.conf"));
    let users = environment("PGSERVICEFILE").or_else(usual);
    let system = environment("PGSYSCONFDIR").unwrap_or_else(|| SYSTEM_FOLDER.into()) + "/pg_service.conf";
    for file in users.into_iter().chain([system]).map(PathBuf::from).filter(|file| file.is_file()) {
        let text = fs::read_to_string(&file).map_err(|error| unreadable(&file, &error))?;
        let Some(words) = find_service(&text, name) else { continue };
        let known = |word: &str| word == "password" || (word != "service" && CONNECTION_WORDS.contains(&word));
        if words.iter().any(|(word, _)| !known(word)) {
            let what = format!("{}: a service has a word that is not known here", file.display());
            return Err(wrong(&what, &format!("known words: {}", CONNECTION_WORDS.join(", "))));
        }
        if words.iter().any(|(word, _)| word == "password") {
            refuse_loose(&file)?;
        }
        return Ok(words);
    }
    Err(wrong(&format!("there is no service {name}"), "add a section of this name to ~/.pg_service.conf"))
}

/// The words in the section `[name]` of a service file.
fn find_service(text: &str, name: &str) -> Option<Vec<(String, String)>> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let mut inside =
        lines.skip_while(|line| line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) != Some(name));
    inside.next()?;
    let words = inside.take_while(|line| !line.starts_with('[')).filter_map(|line| line.split_once('='));
    Some(words.map(|(word, value)| (word.trim().into(), value.trim().into())).collect())
}

/// The password of the first line `host:port:database:user:password` that fits. `*` fits everything.
fn find_password(text: &str, wanted: [&str; 4]) -> Option<String> {
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let mut fields = vec![(String::new(), true)];
        let mut letters = line.trim_end_matches('\r').chars();
        while let Some(letter) = letters.next() {
            let is_last = fields.len() == 5;
            let (field, is_bare) = fields.last_mut()?;
            match letter {
                '\\' => {
                    field.extend(letters.next());
                    *is_bare = false;
                }
                ':' if !is_last => fields.push((String::new(), true)),
                letter => field.push(letter),
            }
        }
        let [places @ .., (password, _)] = &fields[..] else { return None };
        let fits = |((field, is_bare), wanted): (&(String, bool), &str)| (*is_bare && field == "*") || field == wanted;
        (places.len() == 4 && places.iter().zip(wanted).all(fits)).then(|| password.clone())
    })
}

fn socket_folder(port: u16) -> Result<PathBuf, DatabaseError> {
    let mut folders = SOCKET_FOLDERS.iter().map(PathBuf::from);
    let has_socket = |folder: &PathBuf| folder.join(format!(".s.PGSQL.{port}")).exists();
    let what = || format!("no host is named, and no server listens on port {port} of this machine");
    folders.find(has_socket).ok_or_else(|| wrong(&what(), "write host=NAME, or set PGHOST"))
}

/// Refuses a file that others can read.
#[cfg(unix)]
fn refuse_loose(file: &Path) -> Result<(), DatabaseError> {
    let found = fs::metadata(file).map_err(|error| unreadable(file, &error))?;
    match std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o077 {
        0 => Ok(()),
        _ => Err(DatabaseError::Loose { file: file.into() }),
    }
}

#[cfg(not(unix))]
fn refuse_loose(_file: &Path) -> Result<(), DatabaseError> {
    Ok(())
}

pub fn unreadable(file: &Path, error: &dyn std::fmt::Display) -> DatabaseError {
    wrong(&format!("{} cannot be read: {error}", file.display()), "check the path and the permissions")
}

fn wrong(what: &str, way_out: &str) -> DatabaseError {
    DatabaseError::Setting { what: what.into(), way_out: way_out.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;
    use tempfile::TempDir;

    /// A home with files, and an environment that points at it.
    struct House(TempDir);

    impl House {
        fn new(files: &[(&str, u32, &str)]) -> House {
            let house = House(tempfile::tempdir().unwrap());
            for (name, mode, text) in files {
                let path = house.0.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, text).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(*mode)).unwrap();
            }
            house
        }

        fn settings(&self, words: &str, more: &[(&str, &str)]) -> Result<ServerSettings, DatabaseError> {
            let home = self.0.path().display().to_string();
            let environment = |name: &str| match name {
                "HOME" => Some(home.clone()),
                "USER" => Some("ann".into()),
                "PGSYSCONFDIR" => Some("/nonexistent".into()),
                name => more.iter().find(|(known, _)| *known == name).map(|(_, value)| value.to_string()),
            };
            ServerSettings::in_environment(&Connection::parse(words).unwrap(), &environment)
        }
    }

    fn code<T>(result: Result<T, DatabaseError>) -> &'static str {
        result.err().map_or("accepted", |error| error.code())
    }

    #[test]
    fn words_come_before_the_service_and_the_service_before_the_environment() {
        let services = "# ours\n[other]\nport=1\n[ward]\nport = 5434\nuser=reader\n\n[next]\nport=2\n";
        let house = House::new(&[(".pg_service.conf", 0o644, services)]);
        let environment =
            [("PGPORT", "7777"), ("PGUSER", "nobody"), ("PGDATABASE", "hospital"), ("PGHOST", "127.0.0.1")];
        let found = house.settings("service=ward port=5433", &environment).unwrap();
        assert_eq!((found.port, &*found.user, &*found.database), (5433, "reader", "hospital"));
        let found = house.settings("", &[("PGSERVICE", "ward"), ("PGHOST", "127.0.0.1")]).unwrap();
        assert_eq!((found.port, &*found.user, &*found.database), (5434, "reader", "reader"));
        assert_eq!(code(house.settings("service=gone host=x", &[])), "C201");
    }

    #[test]
    fn a_password_comes_from_a_file_that_only_its_owner_reads() {
        let lines = "# a comment\ndb:5432:ward:ann:first\n*:*:*:bo\\:b:two\\:words\n*:*:ward:*:last:one\n";
        let house = House::new(&[(".pgpass", 0o600, lines)]);
        let password = |words: &str| house.settings(words, &[]).unwrap().password;
        assert_eq!(password("host=db dbname=ward").as_deref(), Some("first"));
        assert_eq!(password("host=db dbname=x user=bo:b").as_deref(), Some("two:words"));
        assert_eq!(password("host=else dbname=ward").as_deref(), Some("last:one"));
        assert_eq!(password("host=else dbname=other"), None);
        let given = house.settings("host=db dbname=ward", &[("PGPASSWORD", "from outside")]).unwrap();
        assert_eq!(given.password.as_deref(), Some("from outside"));
        let empty = house.settings("host=db dbname=ward", &[("PGPASSWORD", "")]).unwrap();
        assert_eq!(empty.password.as_deref(), Some("first"));
        let loose = House::new(&[(".pgpass", 0o640, lines)]);
        assert_eq!(code(loose.settings("host=db dbname=ward", &[])), "C203");
        let service = House::new(&[(".pg_service.conf", 0o644, "[ward]\npassword=x\n")]);
        assert_eq!(code(service.settings("service=ward host=db", &[])), "C203");
    }

    #[test]
    fn a_server_elsewhere_must_prove_who_it_is() {
        let house = House::new(&[]);
        let is_checked = |words: &str| house.settings(words, &[]).map(|settings| settings.tls.is_some());
        for (words, expected) in [
            ("host=db.example.org", true),
            ("host=10.0.0.7", true),
            ("host=db.example.org sslmode=require", true),
            ("host=127.0.0.1", false),
            ("host=localhost", false),
            ("host=::1 sslmode=prefer", false),
            ("host=localhost sslmode=verify-full", true),
            ("host=/run/pg sslmode=verify-full", false),
            ("host=db.example.org hostaddr=127.0.0.1", false),
            ("host=localhost hostaddr=10.0.0.7", true),
        ] {
            assert_eq!(is_checked(words).ok(), Some(expected), "{words}");
        }
        for mode in ["disable", "allow", "prefer", "verify_full"] {
            assert_eq!(code(is_checked(&format!("host=db.example.org sslmode={mode}"))), "C201", "{mode}");
        }
        let outside = [("PGSSLMODE", "disable")];
        assert_eq!(code(house.settings("host=db.example.org", &outside)), "C201");
    }

    #[test]
    fn a_check_that_is_not_made_is_refused_and_not_ignored() {
        let house = House::new(&[]);
        for (name, harmless) in UNCHECKED_VARIABLES {
            assert_eq!(code(house.settings("host=localhost", &[(name, "x")])), "C201", "{name}");
            for &value in harmless.iter().chain([&""]) {
                assert_eq!(code(house.settings("host=localhost", &[(name, value)])), "accepted", "{name}={value}");
            }
        }
        for (name, value) in [("PGGSSENCMODE", "require"), ("PGSSLNEGOTIATION", "direct"), ("PGSSLSNI", "0")] {
            assert_eq!(code(house.settings("host=localhost", &[(name, value)])), "C201", "{name}={value}");
        }
        let is_checked = |words: &str, more: &[(&str, &str)]| {
            house.settings(words, more).map(|settings| settings.tls.is_some()).ok()
        };
        assert_eq!(is_checked("host=localhost", &[("PGREQUIRESSL", "1")]), Some(true));
        assert_eq!(is_checked("host=localhost", &[("PGREQUIRESSL", "0")]), Some(false));
        assert_eq!(is_checked("host=localhost sslmode=prefer", &[("PGREQUIRESSL", "1")]), Some(false));
        let revoked = House::new(&[(".postgresql/root.crl", 0o644, "")]);
        assert_eq!(code(revoked.settings("host=localhost", &[])), "accepted");
        assert_eq!(code(revoked.settings("host=db.example.org", &[])), "C201");
        let service = House::new(&[(".pg_service.conf", 0o644, "[ward]\nhost=db\nsslcrl=x\n")]);
        assert_eq!(code(service.settings("service=ward", &[])), "C201");
    }
}
