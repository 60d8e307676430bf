//! Tables from PostgreSQL, and releases into it.
//!
//! [`Postgres`] does what the library asks of a database. `settings` finds out how a server is reached, as libpq does;
//! `connect` reaches it, and tells errors without cells; `fetch` reads a table; `deliver` makes a schema have a release.
//! Nothing is decided here: what is read, published and delivered is the library's business.

mod settings;
mod tls;
mod connect;
mod decode;
mod fetch;
mod encode;
mod deliver;

use tacenda::folder::ReceivedRelease;
use tacenda::promise::{DatabaseTable, DeliveryTarget};
use tacenda::use_cases::{Database, DatabaseError, Delivered, Fetched, Withdrawal, Withdrawn};

/// Speaks to servers of PostgreSQL. Passwords, services and defaults come from where libpq looks for them.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postgres;

impl Database for Postgres {
    fn fetch(
        &self,
        table: &DatabaseTable,
        wanted: &dyn Fn(&str) -> bool,
        most: Option<u64>,
    ) -> Result<Fetched, DatabaseError> {
        fetch::fetch(table, wanted, most)
    }

    fn closed_columns(&self, table: &DatabaseTable) -> Result<Vec<(String, String)>, DatabaseError> {
        fetch::closed_columns(table)
    }

    fn deliver(&self, to: &DeliveryTarget, release: &ReceivedRelease) -> Result<Delivered, DatabaseError> {
        deliver::deliver(to, release)
    }

    fn look_after(&self, to: &DeliveryTarget, series: &str, delivered: &[u32]) -> Result<Vec<u32>, DatabaseError> {
        deliver::look_after(to, series, delivered)
    }

    fn withdraw(&self, to: &DeliveryTarget, withdrawal: &Withdrawal) -> Result<Withdrawn, DatabaseError> {
        deliver::withdraw(to, withdrawal)
    }
}

/// A name between quotation marks, so that it means itself and nothing else.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text between quotation marks.
fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
