//! Addresses of databases on the command line: where one may stand, and that none holds a password.
//!
//! A word that is refused here is never printed. Elsewhere it would be, as the name of a file that is not there.

use crate::failure::Failure;
use clap::ArgMatches;
use std::ffi::OsString;
use tacenda::promise::Connection;
use tacenda::use_cases::DatabaseError;

/// The arguments that may be a table of a database: the command, and what its argument is called in `args.rs`.
const TABLES: [(&str, &str); 4] = [("init", "data"), ("check", "path"), ("plan", "path"), ("publish", "path")];

/// Refuses words with a password, whatever they were meant for.
pub fn refuse_passwords(words: &[OsString]) -> Result<(), Failure> {
    match words.iter().any(|word| Connection::has_password(&word.to_string_lossy())) {
        true => Err(refusal(&DatabaseError::Password)),
        false => Ok(()),
    }
}

/// Refuses the address of a database where a file or a folder must be named.
pub fn refuse_misplaced(found: &ArgMatches) -> Result<(), Failure> {
    match has_misplaced("", found) {
        true => Err(refusal(&DatabaseError::Setting {
            what: "a database is named where a file or a folder must be".into(),
            way_out: "only DATA of init, check, plan and publish may be a database".into(),
        })),
        false => Ok(()),
    }
}

fn has_misplaced(command: &str, found: &ArgMatches) -> bool {
    let is_url = |id: &str| {
        let mut values = found.get_raw(id).into_iter().flatten();
        values.any(|value| Connection::is_url(&value.to_string_lossy()))
    };
    found.ids().any(|id| !TABLES.contains(&(command, id.as_str())) && is_url(id.as_str()))
        || found.subcommand().is_some_and(|(name, inside)| has_misplaced(name, inside))
}

fn refusal(error: &DatabaseError) -> Failure {
    Failure::new(error.code(), error.exit_code(), error)
}
