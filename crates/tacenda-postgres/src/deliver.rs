//! Makes a schema have a release: one transaction, so that all of it is there or nothing.
//!
//! The table `tacenda_releases` of the schema is the registry: which release of which series is there, by the SHA-256 of
//! its manifest. A release that is listed with the same digest is done; with another digest it is refused. Nothing that
//! the registry does not list is ever changed.

use crate::connect::{connect, failed, told};
use crate::encode::{DeliveredColumn, columns, write_rows};
use crate::{literal, quoted};
use postgres::error::SqlState;
use postgres::{Client, IsolationLevel, Transaction};
use sha2::{Digest, Sha256};
use tacenda::folder::ReceivedRelease;
use tacenda::promise::{DeliveryTarget, latest_name, table_name};
use tacenda::use_cases::{DatabaseError, Delivered, Withdrawal, Withdrawn};

/// The name of the registry.
const REGISTRY: &str = "tacenda_releases";

/// Names mean what they say whatever the user's settings are, and nobody waits for ever.
const SESSION: &str = "set search_path = ''; set standard_conforming_strings = on; set lock_timeout = '30s'";

/// The role that everybody has. It is no name, so it is not quoted.
const EVERYBODY: &str = "public";

/// Makes the database have a release.
pub fn deliver(to: &DeliveryTarget, received: &ReceivedRelease) -> Result<Delivered, DatabaseError> {
    let (series, release) = (&received.series, received.release.number);
    let mut client = connect(&to.connection)?;
    let mut shelf = Shelf::open(&mut client, to, series)?;
    shelf.assert_rights()?;
    shelf.make_registry()?;
    let registered = shelf.registered(release)?;
    if registered.as_ref().is_some_and(|found| found.digest != received.manifest_digest) {
        return Err(DatabaseError::OtherRelease { release });
    }
    let name = table_name(series, release);
    match (registered, shelf.find(&name)?) {
        (Some(Registered { is_withdrawn: true, .. }), _) => return Ok(Delivered::Before),
        (Some(_), Some(Relation { is_ours: true, is_view: false })) => {
            shelf.let_all_read(&[name])?;
            shelf.commit()?;
            return Ok(Delivered::Before);
        }
        (_, Some(_)) => return Err(DatabaseError::NotOurs { what: shelf.shown(&name) }),
        // Somebody dropped a table that is registered: the same release is brought again.
        (_, None) => {}
    }
    let columns = columns(received);
    shelf.make_table(&name, &columns, received)?;
    shelf.fill(&name, &columns, received)?;
    shelf.let_read(&name)?;
    let row = format!(
        "insert into {} (series, number, label, table_name, rows, manifest_sha256) values ($1, $2, $3, $4, $5, $6) on \
         conflict (series, number) do update set delivered = pg_catalog.now()",
        shelf.place(REGISTRY)
    );
    let (number, rows) = (release as i32, received.release.row_count() as i64);
    let values: [&(dyn postgres::types::ToSql + Sync); 6] =
        [series, &number, &received.release.label, &name, &rows, &received.manifest_digest];
    shelf.step.execute(&row, &values).map_err(failed)?;
    shelf.show_latest()?;
    shelf.commit()?;
    Ok(Delivered::Now)
}

/// Lets the readers read what was delivered, for they may have changed, and returns the releases that are not there any more.
pub fn look_after(to: &DeliveryTarget, series: &str, delivered: &[u32]) -> Result<Vec<u32>, DatabaseError> {
    let mut client = connect(&to.connection)?;
    let mut shelf = Shelf::open(&mut client, to, series)?;
    shelf.assert_rights()?;
    shelf.make_registry()?;
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for &release in delivered {
        let name = table_name(series, release);
        match (shelf.registered(release)?, shelf.find(&name)?) {
            (Some(Registered { is_withdrawn: true, .. }), _) => {}
            (Some(_), Some(Relation { is_ours: true, is_view: false })) => there.push(name),
            (Some(_), Some(_)) => return Err(DatabaseError::NotOurs { what: shelf.shown(&name) }),
            _ => missing.push(release),
        }
    }
    shelf.let_all_read(&there)?;
    shelf.commit()?;
    Ok(missing)
}

/// Marks a release as withdrawn, takes away the right to read it, and shows the one before as the latest.
pub fn withdraw(to: &DeliveryTarget, withdrawal: &Withdrawal) -> Result<Withdrawn, DatabaseError> {
    let mut client = connect(&to.connection)?;
    let Withdrawal { series, release, on, because } = withdrawal;
    let mut shelf = Shelf::open(&mut client, to, series)?;
    if shelf.find(REGISTRY)?.is_none() {
        return Ok(Withdrawn::NeverThere);
    }
    shelf.make_registry()?;
    if shelf.registered(*release)?.is_none() {
        return Ok(Withdrawn::NeverThere);
    }
    let name = table_name(series, *release);
    match shelf.find(&name)? {
        // Its rights are not ours to take away, so it must not be told that they are gone.
        Some(Relation { is_ours: false, .. }) => return Err(DatabaseError::NotOurs { what: shelf.shown(&name) }),
        Some(_) => {
            shelf.close(&name)?;
            shelf.close_views_of(&name)?;
            let comment = format!("WITHDRAWN on {on}: {}. Do not use it.", because.trim_end_matches('.'));
            shelf.run(&format!("comment on table {} is {}", shelf.place(&name), literal(&comment)))?;
        }
        None => {}
    }
    let update = format!(
        "update {} set withdrawn = pg_catalog.now(), withdrawn_because = $3 where series = $1 and number = $2 and \
         withdrawn is null",
        shelf.place(REGISTRY)
    );
    shelf.step.execute(&update, &[series, &(*release as i32), because]).map_err(failed)?;
    shelf.show_latest()?;
    shelf.commit()?;
    Ok(Withdrawn::Marked)
}

/// The schema of a delivery, in a transaction that holds the series' lock.
struct Shelf<'c> {
    step: Transaction<'c>,
    schema: String,
    series: String,
    readers: Vec<String>,
    user: String,
}

/// What the registry says about a release.
struct Registered {
    /// The SHA-256 of its manifest.
    digest: String,
    is_withdrawn: bool,
}

/// A table or view that is there.
struct Relation {
    is_view: bool,
    /// Whether the user who delivers owns it.
    is_ours: bool,
}

impl<'c> Shelf<'c> {
    /// Begins. Two deliveries of a series into a schema wait for each other.
    fn open(client: &'c mut Client, to: &DeliveryTarget, series: &str) -> Result<Shelf<'c>, DatabaseError> {
        client.batch_execute(SESSION).map_err(failed)?;
        // What another delivery committed meanwhile must be seen after the lock.
        let step = client.build_transaction().isolation_level(IsolationLevel::ReadCommitted).read_only(false).start();
        let mut step = step.map_err(failed)?;
        wait_for(&mut step, &format!("tacenda {} {series}", to.schema))?;
        let user: String = step.query_one("select current_user::text", &[]).map_err(failed)?.get(0);
        let (schema, series) = (to.schema.clone(), series.to_string());
        Ok(Shelf { step, schema, series, readers: to.grant.clone(), user })
    }

    /// Waits for other series' deliveries that make what all of them need, until they have committed.
    fn wait_for_schema(&mut self) -> Result<(), DatabaseError> {
        wait_for(&mut self.step, &format!("tacenda\n{}", self.schema))
    }

    /// A thing of the schema, as SQL names it.
    fn place(&self, name: &str) -> String {
        format!("{}.{}", quoted(&self.schema), quoted(name))
    }

    /// The same for people.
    fn shown(&self, name: &str) -> String {
        format!("{}.{name}", self.schema)
    }

    fn run(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.step.batch_execute(sql).map_err(failed)
    }

    /// A table, view or anything else of that name.
    fn find(&mut self, name: &str) -> Result<Option<Relation>, DatabaseError> {
        let sql = "select c.relkind = 'v', pg_catalog.pg_has_role(c.relowner, 'MEMBER') from pg_catalog.pg_class c \
                   join pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2";
        let found = self.step.query_opt(sql, &[&self.schema, &name]).map_err(failed)?;
        Ok(found.map(|row| Relation { is_view: row.get(0), is_ours: row.get(1) }))
    }

    /// Refuses a schema, roles and rights that are not as they must be, with what its owner can run.
    fn assert_rights(&mut self) -> Result<(), DatabaseError> {
        let (schema, user) = (quoted(&self.schema), quoted(&self.user));
        let missing = |what: String, sql: String| Err(DatabaseError::NotAllowed { what, sql });
        let sql = "select pg_catalog.has_schema_privilege(oid, 'CREATE') and pg_catalog.has_schema_privilege(oid, 'USAGE'), \
                   pg_catalog.pg_has_role(nspowner, 'MEMBER') from pg_catalog.pg_namespace where nspname = $1";
        let Some(found) = self.step.query_opt(sql, &[&self.schema]).map_err(failed)? else {
            let what = format!("there is no schema {}", self.schema);
            return missing(what, format!("create schema {schema} authorization {user}"));
        };
        if !found.get::<_, bool>(0) {
            let what = format!("{} may not create tables in the schema {}", self.user, self.schema);
            return missing(what, format!("grant usage, create on schema {schema} to {user}"));
        }
        let is_owner: bool = found.get(1);
        for reader in self.readers.clone() {
            let known = self.step.query_opt("select 1 from pg_catalog.pg_roles where rolname = $1", &[&reader]);
            if reader != EVERYBODY && known.map_err(failed)?.is_none() {
                return missing(format!("there is no role {reader}"), format!("create role {}", role(&reader)));
            }
            let sql = "select pg_catalog.has_schema_privilege($1::name, oid, 'USAGE') from pg_catalog.pg_namespace where \
                       nspname = $2";
            let may: bool = self.step.query_one(sql, &[&reader, &self.schema]).map_err(failed)?.get(0);
            let grant = format!("grant usage on schema {schema} to {}", role(&reader));
            match (may, is_owner) {
                (true, _) => {}
                (false, true) => {
                    self.wait_for_schema()?;
                    self.run(&grant)?;
                }
                (false, false) => return missing(format!("{reader} may not use the schema {}", self.schema), grant),
            }
        }
        Ok(())
    }

    /// Makes the registry where there is none. One that belongs to somebody else could run anything.
    fn make_registry(&mut self) -> Result<(), DatabaseError> {
        if self.find(REGISTRY)?.is_none() {
            self.wait_for_schema()?;
        }
        match self.find(REGISTRY)? {
            Some(Relation { is_view: false, is_ours: true }) => return self.let_read(REGISTRY),
            Some(_) => return Err(DatabaseError::NotOurs { what: self.shown(REGISTRY) }),
            None => {}
        }
        let place = self.place(REGISTRY);
        self.run(&format!(
            "create table {place} (series text, number int4, label text not null, table_name text not null, rows int8 not \
             null, manifest_sha256 text not null, delivered timestamptz not null default pg_catalog.now(), withdrawn \
             timestamptz, withdrawn_because text, primary key (series, number)); comment on table {place} is 'Which \
             releases tacenda delivered into this schema, and which of them are withdrawn.'"
        ))?;
        self.let_read(REGISTRY)
    }

    /// What is registered of a release.
    fn registered(&mut self, release: u32) -> Result<Option<Registered>, DatabaseError> {
        let sql = format!(
            "select manifest_sha256, withdrawn is not null from {} where series = $1 and number = $2",
            self.place(REGISTRY)
        );
        let row = self.step.query_opt(&sql, &[&self.series, &(release as i32)]).map_err(failed)?;
        Ok(row.map(|row| Registered { digest: row.get(0), is_withdrawn: row.get(1) }))
    }

    fn make_table(
        &mut self,
        name: &str,
        columns: &[DeliveredColumn],
        received: &ReceivedRelease,
    ) -> Result<(), DatabaseError> {
        let place = self.place(name);
        let list: Vec<String> =
            columns.iter().map(|column| format!("{} {}", quoted(&column.name), column.kind)).collect();
        self.run(&format!("create table {place} ({})", list.join(", ")))?;
        let release = &received.release;
        let artificial = match release.counterfeits.iter().map(|&count| u64::from(count)).sum::<u64>() {
            0 => String::new(),
            count => format!(" Artificial rows, with nobody behind them: {count}."),
        };
        let comment = format!(
            "{}, release {}, label {}. {}{artificial} Manifest SHA-256 {}.",
            received.series,
            release.number,
            release.label,
            received.manifest.promise.sentence,
            received.manifest_digest
        );
        let mut sql = format!("comment on table {place} is {};", literal(&comment));
        for column in columns {
            sql += &format!(" comment on column {place}.{} is {};", quoted(&column.name), literal(&column.comment));
        }
        self.run(&sql)
    }

    fn fill(
        &mut self,
        name: &str,
        columns: &[DeliveredColumn],
        received: &ReceivedRelease,
    ) -> Result<(), DatabaseError> {
        let copy = format!("copy {} from stdin (format binary)", self.place(name));
        let mut writer = self.step.copy_in(&copy).map_err(failed)?;
        write_rows(received, columns, &mut writer).map_err(|error| {
            let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<postgres::Error>());
            DatabaseError::Failed { what: inner.map_or_else(|| error.to_string(), told) }
        })?;
        let rows = writer.finish().map_err(failed)?;
        match rows == received.release.row_count() as u64 {
            true => Ok(()),
            false => Err(DatabaseError::Failed { what: "the server took another number of rows".into() }),
        }
    }

    /// Lets the readers read tables that are there, and the view of the latest one.
    fn let_all_read(&mut self, names: &[String]) -> Result<(), DatabaseError> {
        for name in names {
            self.let_read(name)?;
        }
        let view = latest_name(&self.series);
        match self.find(&view)? {
            Some(Relation { is_view: true, is_ours: true }) => self.let_read(&view),
            _ if names.is_empty() => Ok(()),
            _ => self.show_latest(),
        }
    }

    /// Lets the readers read a table or view, those who may not yet.
    fn let_read(&mut self, name: &str) -> Result<(), DatabaseError> {
        let sql = "select pg_catalog.has_table_privilege($1::name, c.oid, 'SELECT') from pg_catalog.pg_class c join \
                   pg_catalog.pg_namespace n on n.oid = c.relnamespace where n.nspname = $2 and c.relname = $3";
        let mut grants = String::new();
        for reader in &self.readers {
            let may: bool = self.step.query_one(sql, &[reader, &self.schema, &name]).map_err(failed)?.get(0);
            if !may {
                grants += &format!("grant select on {} to {};", self.place(name), role(reader));
            }
        }
        if !grants.is_empty() && name == REGISTRY {
            // Other series' deliveries may be granting the same.
            self.wait_for_schema()?;
        }
        self.run(&grants)
    }

    /// Takes every right away to views that read a table, if the user who delivers owns them: a view reads with the rights of
    /// its owner. The view of the latest release is defined anew instead.
    fn close_views_of(&mut self, table: &str) -> Result<(), DatabaseError> {
        let sql = "with recursive on_it (oid) as (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on \
                   n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2 union select r.ev_class from on_it join \
                   pg_catalog.pg_depend d on d.refobjid = on_it.oid and d.refclassid = \
                   'pg_catalog.pg_class'::pg_catalog.regclass and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass \
                   join pg_catalog.pg_rewrite r on r.oid = d.objid join pg_catalog.pg_class v on v.oid = r.ev_class join \
                   pg_catalog.pg_namespace n on n.oid = v.relnamespace where not (n.nspname = $1 and v.relname = $3)) select \
                   n.nspname::text, c.relname::text from on_it join pg_catalog.pg_class c on c.oid = on_it.oid join \
                   pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm') and \
                   pg_catalog.pg_has_role(c.relowner, 'MEMBER')";
        let latest = latest_name(&self.series);
        let views = self.step.query(sql, &[&self.schema, &table, &latest]).map_err(failed)?;
        for view in views {
            self.close_in(view.get(0), view.get(1))?;
        }
        Ok(())
    }

    /// Takes every right away that anybody but the owner has, to the table or to some of its columns. Rights that somebody
    /// passed on go with his.
    fn close(&mut self, name: &str) -> Result<(), DatabaseError> {
        self.close_in(&self.schema.clone(), name)
    }

    /// The same in any schema.
    fn close_in(&mut self, schema: &str, name: &str) -> Result<(), DatabaseError> {
        let sql = "select distinct coalesce(r.rolname::text, 'public') from pg_catalog.pg_class c join \
                   pg_catalog.pg_namespace n on n.oid = c.relnamespace cross join lateral (select c.relacl as acl union \
                   all select attacl from pg_catalog.pg_attribute where attrelid = c.oid) given cross join lateral \
                   pg_catalog.aclexplode(given.acl) a left join pg_catalog.pg_roles r on r.oid = a.grantee where \
                   n.nspname = $1 and c.relname = $2 and a.grantee <> c.relowner";
        let rows = self.step.query(sql, &[&schema, &name]).map_err(failed)?;
        let place = format!("{}.{}", quoted(schema), quoted(name));
        // This takes away the rights to columns as well.
        let revoke = |name: String| format!("revoke all on {place} from {} cascade;", role(&name));
        let revokes: String = rows.iter().map(|row| revoke(row.get(0))).collect();
        self.run(&revokes)
    }

    /// Lets the view of the latest release show the newest one that is there and not withdrawn; nothing if there is none.
    fn show_latest(&mut self) -> Result<(), DatabaseError> {
        let view = latest_name(&self.series);
        let sql = format!(
            "select table_name, label, withdrawn is null from {} where series = $1 order by (withdrawn is null) desc, \
             number desc",
            self.place(REGISTRY)
        );
        let listed = self.step.query(&sql, &[&self.series]).map_err(failed)?;
        let mut shown = None;
        for row in &listed {
            let name: String = row.get(0);
            if self.find(&name)?.is_some_and(|found| found.is_ours) {
                shown = Some((name, row.get::<_, String>(1), row.get::<_, bool>(2)));
                break;
            }
        }
        let Some((table, label, is_valid)) = shown else {
            // No table is where it was put. One that was renamed must not be read through the view.
            return match self.find(&view)? {
                Some(found) if found.is_ours => self.close(&view),
                _ => Ok(()),
            };
        };
        if self.find(&view)?.is_some_and(|found| !found.is_view || !found.is_ours) {
            return Err(DatabaseError::NotOurs { what: self.shown(&view) });
        }
        let place = self.place(&view);
        let only = if is_valid { "" } else { " where false" };
        let rows = format!("view {place} as select * from {}{only}", self.place(&table));
        self.replace_view(&place, &rows)?;
        let comment = match is_valid {
            true => format!("The latest release of {}: {label}.", self.series),
            false => format!("All releases of {} here are withdrawn.", self.series),
        };
        self.run(&format!("comment on view {place} is {}", literal(&comment)))?;
        self.let_read(&view)
    }

    /// Defines a view anew. Where a column changed its type, the view must be dropped first; what was built on it is in the
    /// way then.
    fn replace_view(&mut self, place: &str, rows: &str) -> Result<(), DatabaseError> {
        let mut attempt = self.step.savepoint("view").map_err(failed)?;
        match attempt.batch_execute(&format!("create or replace {rows}")) {
            Ok(()) => attempt.commit().map_err(failed),
            Err(error) if error.code() == Some(&SqlState::INVALID_TABLE_DEFINITION) => {
                attempt.rollback().map_err(failed)?;
                self.run(&format!("drop view {place}; create {rows}"))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Ends. Only now anything is there. A server that shuts down may have kept everything just before it said so.
    fn commit(self) -> Result<(), DatabaseError> {
        let shuts_down = [SqlState::ADMIN_SHUTDOWN, SqlState::CRASH_SHUTDOWN];
        self.step.commit().map_err(|error| match error.code() {
            Some(code) if !shuts_down.contains(code) => failed(error),
            _ => DatabaseError::Uncertain { what: told(&error) },
        })
    }
}

/// Waits until nobody else holds the lock of this name, and holds it until the transaction ends.
fn wait_for(step: &mut Transaction<'_>, name: &str) -> Result<(), DatabaseError> {
    let digest = Sha256::digest(name);
    let lock = i64::from_be_bytes(*digest.first_chunk().expect("it has 32 bytes"));
    step.execute("select pg_catalog.pg_advisory_xact_lock($1)", &[&lock]).map_err(failed)?;
    Ok(())
}

/// A role, as SQL names it.
fn role(name: &str) -> String {
    if name == EVERYBODY { EVERYBODY.into() } else { quoted(name) }
}
