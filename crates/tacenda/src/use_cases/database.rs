//! What a project needs of a database. The library speaks to none: the caller hands over something that does.

use crate::folder::ReceivedRelease;
use crate::ingest::Source;
use crate::model::{coded, exit_of};
use crate::promise::{ConnectionFault, DatabaseTable, DeliveryTarget};
use std::fmt;
use std::path::PathBuf;

/// A table of a database.
#[derive(Debug)]
pub enum Fetched {
    /// It was read.
    Table(Source),
    /// It has this many rows, more than may be read.
    TooLarge(u64),
}

/// A way to speak to databases.
pub trait Database: fmt::Debug + Send + Sync {
    /// Reads a table as it is at one moment. Columns that are not `wanted` are never asked for. If a table has more rows than `most`,
    /// it is not read.
    fn fetch(
        &self,
        table: &DatabaseTable,
        wanted: &dyn Fn(&str) -> bool,
        most: Option<u64>,
    ) -> Result<Fetched, DatabaseError>;

    /// The columns of a table that cannot be read, each with the reason.
    fn closed_columns(&self, _table: &DatabaseTable) -> Result<Vec<(String, String)>, DatabaseError> {
        Ok(Vec::new())
    }

    /// Makes the database have a release. All of it arrives, or nothing. A release that is there already stays. The release has
    /// arrived, too, if the error is [`DatabaseError::LatestBehind`].
    fn deliver(&self, to: &DeliveryTarget, release: &ReceivedRelease) -> Result<Delivered, DatabaseError>;

    /// Lets those read the delivered releases of a series who may read them by now. Returns those that are not there any more.
    fn look_after(&self, _to: &DeliveryTarget, _series: &str, _delivered: &[u32]) -> Result<Vec<u32>, DatabaseError> {
        Ok(Vec::new())
    }

    /// Marks a delivered release as withdrawn and takes away the right to read it. A release that is not there needs
    /// nothing. All that is done, too, if the error is [`DatabaseError::LatestBehind`].
    fn withdraw(&self, to: &DeliveryTarget, withdrawal: &Withdrawal) -> Result<Withdrawn, DatabaseError>;
}

/// Whether a release arrived now.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Delivered {
    /// It did.
    Now,
    /// It was there before.
    Before,
}

/// Whether a release was there to be withdrawn.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Withdrawn {
    /// It is marked, now or before.
    Marked,
    /// It never arrived.
    NeverThere,
}

/// What a database is told of a release that was withdrawn.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Withdrawal {
    /// The series.
    pub series: String,
    /// The release's number.
    pub release: u32,
    /// The day on which it was withdrawn.
    pub on: String,
    /// Why. Recipients read it.
    pub because: String,
}

coded! {
    /// Why a database did not do what it should. It holds no cell and no secret.
    #[derive(Debug, thiserror::Error)]
    #[non_exhaustive]
    pub enum DatabaseError {
        #[error("{what}; {way_out}")]
        Setting {
            /// What is wrong.
            what: String,
            /// What to do.
            way_out: String,
        } = "C201", "a wrong setting of a connection",
            "How a database is reached comes from the policy file or the URL, then from the service file, then from the \
             environment (PGHOST, PGPORT, PGDATABASE, PGUSER and others). One of these settings is wrong or missing. Off \
             this machine the server must show a certificate that is checked: sslmode is verify-full.";
        #[error("{}; {}", ConnectionFault::Password.message(), ConnectionFault::Password.help())]
        Password = "C202", "a password in an argument",
            "Everyone on this machine can read the arguments of a command, and shells keep them. Change the password. Write the \
             new one into ~/.pgpass, which only you can read, or use PGPASSWORD or a client certificate.";
        #[error("{} can be read by others; run: chmod 600 {}", file.display(), file.display())]
        Loose {
            /// The file.
            file: PathBuf,
        } = "C203", "a secret is open to others",
            "A file with a password or a private key can be read by other users of this machine. Nothing was read from it.";
        #[error("this program has no database client; use the tacenda command")]
        NoClient = "C204", "no database client",
            "The policy file names a database, and this program was built without a client for it. The tacenda command has one.";
        #[error("{name}: {what}; {way_out}")]
        Query {
            /// The table or the file of the query.
            name: String,
            /// What is wrong.
            what: String,
            /// What to do.
            way_out: String,
        } = "C205", "the query cannot be run",
            "The server refused the query, or the table is not there. The query is one SELECT. It runs in a transaction that \
             cannot write.";
        #[error("column {column} has the type {kind}: {why}; {way_out}")]
        UnsupportedType {
            /// The column.
            column: String,
            /// Its type.
            kind: String,
            /// Why it is refused.
            why: &'static str,
            /// What to do.
            way_out: String,
        } = "C301", "a type that is not read",
            "These types are read: smallint, integer, bigint, real, double precision, numeric, boolean, date, timestamp with and \
             without time zone, text, varchar, char, uuid and enums. Cast any other column in a query, or leave it out.";
        #[error("column {column}, row {row}: {what}; change it in the query, or in the table")]
        BadCell {
            /// The column.
            column: String,
            /// The row, from 1, as the server sent it.
            row: u64,
            /// What is wrong.
            what: &'static str,
        } = "C302", "a cell that cannot be read",
            "A date or time is infinite or too far away, or a text is not UTF-8. No person has such a value.";
        #[error("the database cannot be reached: {what}; check host and port, and that the server runs")]
        Unreachable {
            /// What failed.
            what: String,
        } = "C701", "the database cannot be reached",
            "No connection was made. Host and port come from the policy file, the service file or the environment.";
        #[error("the server's certificate is not accepted: {what}; set sslrootcert to the certificate of the authority that signed it, \
                 and host to the name in it")]
        Certificate {
            /// Why not.
            what: String,
        } = "C702", "the server's certificate is not accepted",
            "Off this machine a server must prove who it is. Its certificate must be signed by an authority that you trust, and must \
             have the name that you connect to. Otherwise somebody between you and the server could read the table.";
        #[error("the server refuses to let you in: {what}; check user, database and password (~/.pgpass)")]
        SignIn {
            /// What the server says.
            what: String,
        } = "C703", "the server refuses the user",
            "The server knows no such user or database, or the password is wrong or missing. Passwords come from PGPASSWORD or \
             ~/.pgpass.";
        #[error("the database failed: {what}; nothing was changed, try again")]
        Failed {
            /// What failed: a state of SQL, or what happened to the connection.
            what: String,
        } = "C704", "the database failed",
            "The server refused a step, or the connection broke. The transaction was not finished, so the database is as before. \
             Try again. The state, five letters or digits, is listed in an appendix of PostgreSQL's manual.";
        #[error("the connection broke at the last step, so it is not known whether everything arrived: {what}; try again")]
        Uncertain {
            /// What happened.
            what: String,
        } = "C705", "not known whether it arrived",
            "The connection broke while the database was told to keep what it had received. It kept all of it, or nothing. Try again: \
             what is there already is recognised.";
        #[error("release {release} is there with other contents: its manifest has another digest; find out who delivered it, and use \
                 another schema")]
        OtherRelease {
            /// The release.
            release: u32,
        } = "C801", "another release is delivered under this number",
            "The database has a release of this series and number whose manifest has another SHA-256. So two projects deliver the same \
             series, or somebody changed the registry. Nothing was changed. A delivered release is never overwritten.";
        #[error("{what} is there, and it is not tacenda's; rename it, give it back to the user who delivers, or use another \
                 schema")]
        NotOurs {
            /// The table or view.
            what: String,
        } = "C802", "a table of this name is there",
            "The schema has a table or view of the name that a release needs. The registry tacenda_releases does not list it, or another \
             user owns it. It is never changed. If it holds a release that is withdrawn, people can still read it there.";
        #[error("{what}; as a role that may, run: {sql}")]
        NotAllowed {
            /// What is missing.
            what: String,
            /// What the owner of the database can run.
            sql: String,
        } = "C803", "a schema, a role or a right is missing",
            "A delivery creates tables and views in a schema and lets roles read them. It creates no schema and no role: the owner of \
             the database decides about these.";
        #[error("the table of the release is as it must be, but the view {view} is not: it shows {shows}, because {why}; {way_out}")]
        LatestBehind {
            /// The view of the latest release.
            view: String,
            /// What it shows.
            shows: String,
            /// What is in the way.
            why: String,
            /// What to do.
            way_out: String,
        } = "C804", "the view of the latest release is behind",
            "A release was delivered or withdrawn, and that is done. But the view that shows the latest release could not be defined \
             anew. Other people's views are built on it, and these are never dropped. Or somebody reads it in a transaction that does not \
             end. It never shows rows of a release that is withdrawn. Once nothing is in the way, tacenda deliver brings it up to date.";
        #[error("{what}; {way_out}")]
        OutOfReach {
            /// Which place has the release, and why it was not told.
            what: String,
            /// What to do.
            way_out: String,
        } = "C805", "a place that has a withdrawn release was not told",
            "The ledger says that a release was delivered to a place. The release is withdrawn, and the policy file does not lead to \
             that place any more: its section is gone or names another schema or database. People may still read the release there. \
             Write the section as it was and run tacenda deliver; then change it again.";
    }
}

impl DatabaseError {
    /// The exit code that goes with it.
    pub fn exit_code(&self) -> u8 {
        exit_of(self.code())
    }
}

impl From<ConnectionFault> for DatabaseError {
    fn from(fault: ConnectionFault) -> DatabaseError {
        match fault {
            ConnectionFault::Password => DatabaseError::Password,
            fault => DatabaseError::Setting { what: fault.message(), way_out: fault.help() },
        }
    }
}
