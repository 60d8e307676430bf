//! Makes a schema have a release: one transaction, so that all of it is there or nothing. Only the view of the latest release may
//! stay behind, because others build on it and read it, and nothing of theirs may hinder a release or a withdrawal.
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
use tacenda::model::ROW_WEIGHT;
use tacenda::promise::{DeliveryTarget, latest_name, table_name};
use tacenda::use_cases::{DatabaseError, Delivered, Withdrawal, Withdrawn};

/// The name of the registry.
const REGISTRY: &str = "tacenda_releases";

/// Names mean what they say whatever the user's settings are, and nobody waits for ever.
const SESSION: &str = "set search_path = ''; set standard_conforming_strings = on; set lock_timeout = '30s'";

/// While a withdrawal is not committed yet, it waits for nobody for long.
const SHORT_PATIENCE: &str = "set local lock_timeout = '2s'";

/// What a view shows that is closed.
const CLOSED: &str = "nothing, for nobody may read it now";

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
            let readable = shelf.let_all_read(&[name]);
            return shelf.end(readable).map(|()| Delivered::Before);
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
    let shown = shelf.show_latest();
    shelf.end(shown).map(|()| Delivered::Now)
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
    let readable = shelf.let_all_read(&there);
    match shelf.end(readable) {
        // What is missing is brought next. That defines the view anew, and tells of it.
        Err(DatabaseError::LatestBehind { .. }) if !missing.is_empty() => Ok(missing),
        ended => ended.map(|()| missing),
    }
}

/// Marks a release as withdrawn, takes away the right to read it, and shows the one before as the latest.
///
/// What others hold must not keep the table readable. So the rights go first, which waits for no reader, and whatever becomes of
/// the view, they stay away. A view that cannot be defined anew is closed.
pub fn withdraw(to: &DeliveryTarget, withdrawal: &Withdrawal) -> Result<Withdrawn, DatabaseError> {
    let mut client = connect(&to.connection)?;
    let Withdrawal { series, release, .. } = withdrawal;
    let mut shelf = Shelf::open(&mut client, to, series)?;
    match shelf.find(REGISTRY)? {
        None => return Ok(Withdrawn::NeverThere),
        Some(Relation { is_view: false, is_ours: true }) => {}
        Some(_) => return Err(DatabaseError::NotOurs { what: shelf.shown(REGISTRY) }),
    }
    if shelf.registered(*release)?.is_none() {
        return Ok(Withdrawn::NeverThere);
    }
    let left = shelf.take_back(withdrawal)?;
    let mut shown = shelf.unless_it_fails(Shelf::show_latest);
    shelf.commit()?;
    if shown.is_err() {
        // Now there is time to wait for those who read the view.
        let mut again = Shelf::open(&mut client, to, series).map_err(halfway)?;
        shown = again.unless_it_fails(Shelf::show_latest);
        if let Err(error) = shown {
            shown = Err(again.close_latest(error).map_err(halfway)?);
        }
        again.commit().map_err(halfway)?;
    }
    match left {
        Some(error) => Err(error),
        None => shown.map(|()| Withdrawn::Marked),
    }
}

/// The error of a step after the release was marked: it cannot be said any more that nothing was changed.
fn halfway(error: DatabaseError) -> DatabaseError {
    match error {
        DatabaseError::Failed { what } => DatabaseError::Uncertain { what },
        error => error,
    }
}

/// The schema of a delivery, in a transaction that holds the series' lock.
struct Shelf<'c> {
    step: Transaction<'c>,
    schema: String,
    series: String,
    readers: Vec<String>,
    user: String,
}

/// A release that is in the schema, by the registry.
struct Listed {
    table: String,
    label: String,
    is_valid: bool,
}

/// What became of an attempt to define the view.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Attempt {
    Done,
    /// What others built on it is in the way, or its columns would not fit.
    Refused,
    /// Somebody reads it, or something else holds it.
    Busy,
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
        if names.is_empty() {
            return Ok(());
        }
        let view = latest_name(&self.series);
        let newest = self.newest()?.filter(|newest| newest.is_valid);
        let is_ours = matches!(self.find(&view)?, Some(Relation { is_view: true, is_ours: true }));
        match newest {
            Some(newest) if is_ours && self.reads(&view, &newest.table)? => self.let_read(&view),
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

    /// Takes every right to a release away and marks it. Returns the error of a view of ours that could not be closed.
    fn take_back(&mut self, withdrawal: &Withdrawal) -> Result<Option<DatabaseError>, DatabaseError> {
        let Withdrawal { release, on, because, .. } = withdrawal;
        let name = table_name(&self.series, *release);
        let found = self.find(&name)?;
        let left = match &found {
            // Its rights are not ours to take away, so it must not be told that they are gone.
            Some(Relation { is_ours: false, .. }) => return Err(DatabaseError::NotOurs { what: self.shown(&name) }),
            Some(_) => {
                self.close(&name)?;
                self.close_views_of(&name)?
            }
            None => None,
        };
        let update = format!(
            "update {} set withdrawn = pg_catalog.now(), withdrawn_because = $3 where series = $1 and number = $2 and \
             withdrawn is null",
            self.place(REGISTRY)
        );
        self.step.execute(&update, &[&self.series, &(*release as i32), because]).map_err(failed)?;
        self.run(SHORT_PATIENCE)?;
        if found.is_some() {
            let comment = format!("WITHDRAWN on {on}: {}. Do not use it.", because.trim_end_matches('.'));
            let comment = format!("comment on table {} is {}", self.place(&name), literal(&comment));
            // It only tells. Somebody may be cleaning the table up, and the rights must not wait for that.
            let _ = self.unless_it_fails(|shelf| shelf.run(&comment));
        }
        Ok(left)
    }

    /// Takes every right to the view of the latest release away, and to what of ours is built on it, if it reads a table that is
    /// withdrawn. Returns the error that tells so.
    fn close_latest(&mut self, error: DatabaseError) -> Result<DatabaseError, DatabaseError> {
        let view = latest_name(&self.series);
        let is_ours = self.find(&view)?.is_some_and(|found| found.is_ours);
        let is_closed = is_ours && self.shows_withdrawn()?;
        if is_closed {
            self.close(&view)?;
            if let Some(left) = self.close_views_of(&view)? {
                return Ok(left);
            }
        }
        let DatabaseError::Failed { what: why } = error else { return Ok(error) };
        let shows = match is_closed {
            true => CLOSED.into(),
            false => self.showing(&view)?,
        };
        let way_out = "mend that, and run: tacenda deliver".into();
        Ok(DatabaseError::LatestBehind { view: self.shown(&view), shows, why, way_out })
    }

    /// Does a step. If it fails, the transaction is as before it, and what came before is kept.
    fn unless_it_fails(
        &mut self,
        step: impl FnOnce(&mut Shelf<'c>) -> Result<(), DatabaseError>,
    ) -> Result<(), DatabaseError> {
        self.run("savepoint before_it")?;
        let done = step(self);
        let ends = match &done {
            // What could be done is done.
            Ok(()) | Err(DatabaseError::LatestBehind { .. }) => "release savepoint before_it",
            Err(_) => "rollback to savepoint before_it; release savepoint before_it",
        };
        // The step's own error says more than that of a connection which it broke.
        let ended = self.run(ends);
        done.and(ended)
    }

    /// Takes every right away to views that read a table or view, if the user who delivers owns them: a view reads with the
    /// rights of its owner. The view of the latest release is defined anew instead. Returns the error of one that could not be
    /// closed; the others are.
    fn close_views_of(&mut self, table: &str) -> Result<Option<DatabaseError>, DatabaseError> {
        let sql = "with recursive on_it (oid) as (select c.oid from pg_catalog.pg_class c join pg_catalog.pg_namespace n on \
                   n.oid = c.relnamespace where n.nspname = $1 and c.relname = $2 union select r.ev_class from on_it join \
                   pg_catalog.pg_depend d on d.refobjid = on_it.oid and d.refclassid = \
                   'pg_catalog.pg_class'::pg_catalog.regclass and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass \
                   join pg_catalog.pg_rewrite r on r.oid = d.objid join pg_catalog.pg_class v on v.oid = r.ev_class join \
                   pg_catalog.pg_namespace n on n.oid = v.relnamespace where not (n.nspname = $1 and v.relname = $3)) select \
                   n.nspname::text, c.relname::text from on_it join pg_catalog.pg_class c on c.oid = on_it.oid join \
                   pg_catalog.pg_namespace n on n.oid = c.relnamespace where c.relkind in ('v', 'm') and \
                   pg_catalog.pg_has_role(c.relowner, 'MEMBER') and not (n.nspname = $1 and c.relname = $3)";
        let latest = latest_name(&self.series);
        let views = self.step.query(sql, &[&self.schema, &table, &latest]).map_err(failed)?;
        let mut left = None;
        for view in views {
            let (schema, name): (String, String) = (view.get(0), view.get(1));
            // A schema that the user who delivers may not use any more keeps him from his own views in it.
            if self.unless_it_fails(|shelf| shelf.close_in(&schema, &name)).is_err() {
                let what = format!(
                    "the view {schema}.{name} reads the withdrawn rows, and its rights could not be taken away"
                );
                let sql = format!("grant usage on schema {} to {}", quoted(&schema), quoted(&self.user));
                left = Some(DatabaseError::NotAllowed { what, sql });
            }
        }
        Ok(left)
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

    /// The releases of the series that are where they were put: the newest one first, and those that are withdrawn last.
    fn listed(&mut self) -> Result<Vec<Listed>, DatabaseError> {
        let sql = format!(
            "select table_name, label, withdrawn is null from {} where series = $1 order by (withdrawn is null) desc, \
             number desc",
            self.place(REGISTRY)
        );
        let rows = self.step.query(&sql, &[&self.series]).map_err(failed)?;
        let mut listed = Vec::new();
        for row in rows {
            let one = Listed { table: row.get(0), label: row.get(1), is_valid: row.get(2) };
            if self.find(&one.table)?.is_some_and(|found| found.is_ours) {
                listed.push(one);
            }
        }
        Ok(listed)
    }

    /// The one that the view of the latest release must show.
    fn newest(&mut self) -> Result<Option<Listed>, DatabaseError> {
        Ok(self.listed()?.into_iter().next())
    }

    /// Whether a view reads a table itself.
    fn reads(&mut self, view: &str, table: &str) -> Result<bool, DatabaseError> {
        let sql = "select exists (select 1 from pg_catalog.pg_class v join pg_catalog.pg_namespace n on n.oid = v.relnamespace \
                   join pg_catalog.pg_rewrite r on r.ev_class = v.oid join pg_catalog.pg_depend d on d.objid = r.oid and \
                   d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and d.refclassid = \
                   'pg_catalog.pg_class'::pg_catalog.regclass join pg_catalog.pg_class t on t.oid = d.refobjid and \
                   t.relnamespace = v.relnamespace where n.nspname = $1 and v.relname = $2 and t.relname = $3)";
        Ok(self.step.query_one(sql, &[&self.schema, &view, &table]).map_err(failed)?.get(0))
    }

    /// Whether the view of the latest release reads the table of a release that is withdrawn.
    fn shows_withdrawn(&mut self) -> Result<bool, DatabaseError> {
        let view = latest_name(&self.series);
        for one in self.listed()?.iter().filter(|one| !one.is_valid) {
            if self.reads(&view, &one.table)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Lets the view of the latest release show the newest one that is there and not withdrawn; nothing if there is none. If
    /// others are in the way, it is left behind, and shows no withdrawn release unless somebody holds it.
    fn show_latest(&mut self) -> Result<(), DatabaseError> {
        let view = latest_name(&self.series);
        let Some(newest) = self.newest()? else {
            // No table is where it was put. One that was renamed must not be read through the view.
            return match self.find(&view)? {
                Some(found) if found.is_ours => self.close(&view),
                _ => Ok(()),
            };
        };
        if self.find(&view)?.is_some_and(|found| !found.is_view || !found.is_ours) {
            return Err(DatabaseError::NotOurs { what: self.shown(&view) });
        }
        let (attempt, absent) = self.replace_view(&view, &newest)?;
        match attempt {
            Attempt::Done => {}
            Attempt::Busy => return Err(self.busy(&view)?),
            Attempt::Refused => return Err(self.kept_behind(&view, &newest)?),
        }
        let comment = match (newest.is_valid, &absent[..]) {
            (false, _) => format!("All releases of {} here are withdrawn.", self.series),
            (true, []) => format!("The latest release of {}: {}.", self.series, newest.label),
            (true, absent) => format!(
                "The latest release of {}: {}. It has no {}; views of others need the column here.",
                self.series,
                newest.label,
                absent.join(", ")
            ),
        };
        self.run(&format!("comment on view {} is {}", self.place(&view), literal(&comment)))?;
        self.let_read(&view)
    }

    /// Defines the view of the latest release anew. Returns the columns that it keeps although the release has them not.
    fn replace_view(&mut self, view: &str, newest: &Listed) -> Result<(Attempt, Vec<String>), DatabaseError> {
        let (place, from) = (self.place(view), self.place(&newest.table));
        let only = if newest.is_valid { "" } else { " where false" };
        let whole = format!("view {place} as select * from {from}{only}");
        // A view can only be widened at its end. For anything else it is dropped first, if nobody built on it.
        for sql in [format!("create or replace {whole}"), format!("drop view {place}; create {whole}")] {
            match self.attempt(&sql)? {
                Attempt::Refused => {}
                attempt => return Ok((attempt, Vec::new())),
            }
        }
        let (kept, given) = (self.columns_of(view)?, self.columns_of(&newest.table)?);
        let (mut columns, mut casts, mut absent) = (Vec::new(), Vec::new(), Vec::new());
        for (name, kind) in &kept {
            let column = quoted(name);
            match given.iter().find(|(other, _)| other == name) {
                Some((_, same)) if same == kind => columns.push(column),
                Some(_) => {
                    let cast = format!("{column}::text::{kind}");
                    columns.push(format!("{cast} as {column}"));
                    casts.push(format!("pg_catalog.count({cast})"));
                }
                None => {
                    columns.push(format!("{} as {column}", stand_in(name, kind)));
                    absent.push(name.clone());
                }
            }
        }
        let is_new = |(name, _): &&(String, String)| kept.iter().all(|(other, _)| other != name);
        columns.extend(given.iter().filter(is_new).map(|(name, _)| quoted(name)));
        // A cell that does not fit into the kept type would be an error for everyone who reads it.
        if !casts.is_empty() {
            let fits = self.attempt(&format!("select {} from {from}", casts.join(", ")))?;
            if fits != Attempt::Done {
                return Ok((fits, Vec::new()));
            }
        }
        let padded = format!("create or replace view {place} as select {} from {from}{only}", columns.join(", "));
        Ok((self.attempt(&padded)?, absent))
    }

    /// The columns of a table or view, and their types.
    fn columns_of(&mut self, name: &str) -> Result<Vec<(String, String)>, DatabaseError> {
        let sql = "select a.attname::text, pg_catalog.format_type(a.atttypid, a.atttypmod) from pg_catalog.pg_attribute a join \
                   pg_catalog.pg_class c on c.oid = a.attrelid join pg_catalog.pg_namespace n on n.oid = c.relnamespace where \
                   n.nspname = $1 and c.relname = $2 and a.attnum > 0 and not a.attisdropped order by a.attnum";
        let rows = self.step.query(sql, &[&self.schema, &name]).map_err(failed)?;
        Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
    }

    /// Tries statements that others may be in the way of. Unless they are done, nothing is changed.
    fn attempt(&mut self, sql: &str) -> Result<Attempt, DatabaseError> {
        let mut attempt = self.step.savepoint("attempt").map_err(failed)?;
        let Err(error) = attempt.batch_execute(sql) else {
            attempt.commit().map_err(failed)?;
            return Ok(Attempt::Done);
        };
        let refused = [SqlState::INVALID_TABLE_DEFINITION, SqlState::DEPENDENT_OBJECTS_STILL_EXIST];
        let found = match error.code() {
            Some(code) if *code == SqlState::LOCK_NOT_AVAILABLE => Attempt::Busy,
            // Class 22: a cell does not fit.
            Some(code) if refused.contains(code) || code.code().starts_with("22") => Attempt::Refused,
            _ => return Err(failed(error)),
        };
        attempt.rollback().map_err(failed)?;
        Ok(found)
    }

    /// The error of a view that somebody holds.
    fn busy(&mut self, view: &str) -> Result<DatabaseError, DatabaseError> {
        let shows = match self.shows_withdrawn()? {
            // It is closed by whoever withdraws.
            true => CLOSED.into(),
            false => self.showing(view)?,
        };
        Ok(DatabaseError::LatestBehind {
            view: self.shown(view),
            shows,
            why: "somebody reads it in a transaction that does not end".into(),
            way_out: "once that one has ended (see pg_stat_activity), run: tacenda deliver".into(),
        })
    }

    /// Leaves the view on what it shows, for what others built on it cannot take the newest release. It is emptied if that is
    /// withdrawn. Returns the error that tells all this.
    fn kept_behind(&mut self, view: &str, newest: &Listed) -> Result<DatabaseError, DatabaseError> {
        let mut shows = self.showing(view)?;
        if self.shows_withdrawn()? {
            let columns = self.columns_of(view)?;
            let empty = |(name, kind): &(String, String)| format!("null::{kind} as {}", quoted(name));
            let columns: Vec<String> = columns.iter().map(empty).collect();
            let place = self.place(view);
            let sql = format!("create or replace view {place} as select {} where false", columns.join(", "));
            if self.attempt(&sql)? != Attempt::Done {
                return self.busy(view);
            }
            let comment = literal("It shows no release, because views of others are built on columns of another type.");
            self.run(&format!("comment on view {place} is {comment}"))?;
            shows = "no row".into();
        }
        let built = self.built_on(view)?.join(", ");
        Ok(DatabaseError::LatestBehind {
            view: self.shown(view),
            shows,
            why: format!("these are built on it, and release {} has columns of other types: {built}", newest.label),
            way_out: "once their owners have dropped them, run: tacenda deliver".into(),
        })
    }

    /// Which release the view shows, for people.
    fn showing(&mut self, view: &str) -> Result<String, DatabaseError> {
        for one in self.listed()? {
            if self.reads(view, &one.table)? {
                return Ok(format!("release {}", one.label));
            }
        }
        Ok("no row".into())
    }

    /// What is built on a view: other views by their names, and anything else as the server describes it.
    fn built_on(&mut self, view: &str) -> Result<Vec<String>, DatabaseError> {
        let sql = "select distinct coalesce(m.nspname || '.' || w.relname, pg_catalog.pg_describe_object(d.classid, d.objid, 0)) \
                   from pg_catalog.pg_class v join pg_catalog.pg_namespace n on n.oid = v.relnamespace join \
                   pg_catalog.pg_depend d on d.deptype = 'n' and ((d.refclassid = \
                   'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjid = v.oid) or (d.refclassid = \
                   'pg_catalog.pg_type'::pg_catalog.regclass and d.refobjid = v.reltype)) left join pg_catalog.pg_rewrite r \
                   on r.oid = d.objid and d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass left join \
                   pg_catalog.pg_class w on w.oid = r.ev_class left join pg_catalog.pg_namespace m on m.oid = w.relnamespace \
                   where n.nspname = $1 and v.relname = $2 and w.oid is distinct from v.oid order by 1";
        let rows = self.step.query(sql, &[&self.schema, &view]).map_err(failed)?;
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Ends with all that was done, also if only the view of the latest release is behind. Any other error leaves everything
    /// as it was.
    fn end(self, done: Result<(), DatabaseError>) -> Result<(), DatabaseError> {
        match done {
            Ok(()) | Err(DatabaseError::LatestBehind { .. }) => self.commit().and(done),
            Err(error) => Err(error),
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

/// What stands for a column that a release has not, in a view that must keep it.
fn stand_in(name: &str, kind: &str) -> String {
    match (name, kind) {
        // A row stands for a person, where nothing else is said.
        (ROW_WEIGHT, _) => format!("1::{kind}"),
        // Such a column says what may be missing. Where there is none, nothing may be.
        (_, "boolean") => "false".into(),
        _ => format!("null::{kind}"),
    }
}
