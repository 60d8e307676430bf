//! Brings releases to the databases of the policy file, and withdrawals too.
//!
//! The ledger is first: a release is delivered after it is published, and the ledger records each delivery. So what is
//! owed can be told from the ledger and the policy file. A crash between the database and the ledger line is harmless,
//! because a database that has the release says so when it is asked again.

use crate::folder;
use crate::ingest::{Loaded, read_policy};
use crate::ledger::{Delivery, Event, LedgerError, Store};
use crate::promise::DeliveryTarget;
use crate::publish::{POLICY_FILE, ProjectError, assert_signer, now};
use crate::use_cases::{
    Database, DatabaseError, Delivered, Progress, ProjectFolder, UseCaseError, Withdrawal, Withdrawn,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The answer of deliver.
#[derive(Debug, JsonSchema, Serialize)]
pub struct DeliverReport {
    /// The series' name.
    pub series: String,
    /// What was done or failed, in order. Empty if nothing was owed.
    pub deliveries: Vec<DeliveryReport>,
}

/// One release on its way to one place.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct DeliveryReport {
    /// The place's name in the policy file.
    pub to: String,
    /// The release's number.
    pub release: u32,
    /// What happened.
    pub outcome: DeliveryOutcome,
    /// The code of what failed.
    pub code: Option<String>,
    /// What failed.
    pub message: Option<String>,
}

/// What happened to a delivery.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryOutcome {
    /// The release arrived.
    Delivered,
    /// It was there before.
    Already,
    /// It is marked there as withdrawn.
    Withdrawn,
    /// It is withdrawn, and it never arrived there.
    Absent,
    /// It is not there, or not marked.
    Failed,
}

/// What a place lacks, by the ledger and the policy file.
#[derive(Clone, Debug, Eq, JsonSchema, PartialEq, Serialize)]
pub struct OwedDelivery {
    /// The place's name in the policy file.
    pub to: String,
    /// The release's number.
    pub release: u32,
    /// Whether the place has the release, and must be told that it is withdrawn.
    pub withdrawal: bool,
}

/// Which deliveries are wanted.
#[derive(Clone, Copy, Debug, Default)]
pub struct WantedDeliveries<'a> {
    /// The place; all of them if left out.
    pub to: Option<&'a str>,
    /// The release, by number or label. The database is asked even if the ledger has the delivery. If left out, all that
    /// the ledger lacks.
    pub release: Option<&'a str>,
}

impl DeliveryReport {
    /// Those that failed.
    pub fn failed(reports: &[DeliveryReport]) -> impl Iterator<Item = &DeliveryReport> {
        reports.iter().filter(|report| report.outcome == DeliveryOutcome::Failed)
    }
}

/// Delivers what is owed.
pub fn deliver(
    project: &ProjectFolder,
    wanted: WantedDeliveries<'_>,
    progress: Progress<'_>,
) -> Result<DeliverReport, UseCaseError> {
    let targets = targets(project)?;
    let mut store = open(project)?;
    let left = stranded(&store, &targets);
    if targets.is_empty() && left.is_empty() {
        return Err(UseCaseError::usage("the policy file names no place to deliver to; add a section [deliver.NAME]"));
    }
    let mut known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
    known.extend(left.iter().map(|one| one.to.as_str()));
    known.sort_unstable();
    known.dedup();
    if let Some(name) = wanted.to.filter(|name| !known.contains(name)) {
        return Err(UseCaseError::usage(format!("there is no delivery {name}; there is {}", known.join(", "))));
    }
    if let Some(name) = wanted.release {
        let number = number_of(&store, name).ok_or(UseCaseError::NoSuchRelease)?;
        if !made_here(&store).any(|made| made == number) {
            let why = "was made elsewhere and adopted, so its recipients have it already; it is not delivered";
            return Err(UseCaseError::usage(format!("release {number} {why}")));
        }
    }
    let database = project.database.as_deref();
    let mut deliveries = settle(&mut store, &targets, database, wanted, progress);
    for target in targets.iter().filter(|target| wanted.to.is_none_or(|name| name == target.name)) {
        let failed = DeliveryReport::failed(&deliveries).any(|one| one.to == target.name);
        if wanted.release.is_none() && !failed {
            deliveries.extend(look_after(&mut store, target, database));
        }
    }
    // What is wanted may be a number or a label; the ledger tells which release that is.
    let number = wanted.release.and_then(|name| number_of(&store, name));
    let is_wanted = |one: &&Stranded| {
        wanted.to.is_none_or(|name| name == one.to) && number.is_none_or(|number| number == one.release)
    };
    deliveries.extend(left.iter().filter(is_wanted).map(|one| one.report(&targets)));
    Ok(DeliverReport { series: store.series().into(), deliveries })
}

/// The places that the policy file names.
pub(super) fn targets(project: &ProjectFolder) -> Result<Vec<DeliveryTarget>, ProjectError> {
    Ok(policy(project)?.databases.deliver)
}

fn policy(project: &ProjectFolder) -> Result<Loaded, ProjectError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    Ok(read_policy(&path)?)
}

/// The ledger, open for writing.
pub(super) fn open(project: &ProjectFolder) -> Result<Store, UseCaseError> {
    let anchors = project.held_anchors()?;
    let signer = project.signer()?;
    // A line by a key that is not listed would be refused by everyone who checks the series. A policy file that cannot be
    // read stops nobody.
    let rules = policy(project).map(|loaded| loaded.policy.series.signatures);
    rules.map_or(Ok(()), |rules| assert_signer(&rules, signer.as_ref()))?;
    let mut store = Store::open_write(project.disk()?, &project.root)?;
    signer.into_iter().for_each(|signer| store.sign_with(Arc::new(signer)));
    if let Some(anchors) = &anchors {
        store.hold_against(anchors, &now(), project.accept_rollback.as_deref())?;
    }
    Ok(store)
}

/// The number of a release, by its number or its label.
pub(super) fn number_of(store: &Store, name: &str) -> Option<u32> {
    let is_wanted = |number: u32, label: &str| label == name || name.trim_start_matches('r').parse() == Ok(number);
    store.publications().find(|one| is_wanted(one.number, &one.label)).map(|one| one.number)
}

/// What the ledger says is owed to the places of the policy file, and withdrawals to places that it does not name any more.
/// Where that file cannot be read, it names none.
pub(super) fn owed_by(project: &ProjectFolder, store: &Store) -> Vec<OwedDelivery> {
    let targets = targets(project).unwrap_or_default();
    let of = |target: &DeliveryTarget| -> Vec<OwedDelivery> {
        let numbers = made_here(store).filter(|&number| debt(store, target, number) == Debt::Owed);
        let one = |release| OwedDelivery { to: target.name.clone(), release, withdrawal: is_retracted(store, release) };
        numbers.map(one).collect()
    };
    let mut owed: Vec<OwedDelivery> = targets.iter().flat_map(of).collect();
    for Stranded { to, release, .. } in stranded(store, &targets) {
        let one = OwedDelivery { to, release, withdrawal: true };
        // A place may have had it in two schemas.
        if !owed.contains(&one) {
            owed.push(one);
        }
    }
    owed
}

/// A withdrawn release at a place that the policy file does not lead to any more. People can still read it there.
#[derive(Clone, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(super) struct Stranded {
    /// The place's name, as the policy file had it.
    pub to: String,
    /// The release's number.
    pub release: u32,
    /// The schema, where the ledger has it.
    schema: Option<String>,
}

impl Stranded {
    /// That the place was not told, and why.
    pub(super) fn report(&self, targets: &[DeliveryTarget]) -> DeliveryReport {
        let Stranded { to, release, schema } = self;
        let of_schema = schema.as_ref().map_or(String::new(), |schema| format!(" in the schema {schema}"));
        let now = match targets.iter().find(|target| target.name == *to) {
            Some(target) => format!("[deliver.{to}] names the schema {} now", target.schema),
            None => format!("the policy file has no section [deliver.{to}] any more"),
        };
        let with = schema.as_ref().map_or(String::new(), |schema| format!(" with schema = \"{schema}\""));
        let error = DatabaseError::OutOfReach {
            what: format!("{to} has this withdrawn release{of_schema} by the ledger, and {now}, so it was not told"),
            way_out: format!("write [deliver.{to}]{with} as it was, and run: tacenda deliver --release {release}"),
        };
        let (code, message) = (Some(error.code().into()), Some(error.to_string()));
        DeliveryReport { to: to.clone(), release: *release, outcome: DeliveryOutcome::Failed, code, message }
    }
}

/// The withdrawn releases that the ledger has at places to which none of `targets` leads, and not as withdrawn there.
pub(super) fn stranded(store: &Store, targets: &[DeliveryTarget]) -> Vec<Stranded> {
    let is_told = |at: &Delivery| {
        let same = |one: &Delivery| one.schema.is_none() || at.schema.is_none() || one.schema == at.schema;
        store.deliveries().any(|one| one.withdrawn && one.to == at.to && one.release == at.release && same(one))
    };
    let is_out_of_reach = |one: &&Delivery| !targets.iter().any(|target| is_at(one, target));
    let left = store.deliveries().filter(|one| !one.withdrawn && is_retracted(store, one.release));
    let left = left.filter(is_out_of_reach).filter(|&one| !is_told(one));
    let one = |one: &Delivery| Stranded { to: one.to.clone(), release: one.release, schema: one.schema.clone() };
    // The same release may have been brought there twice.
    left.map(one).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Whether a line of the ledger is about a place. A place with another schema is another one. Older lines name no schema.
fn is_at(one: &Delivery, target: &DeliveryTarget) -> bool {
    one.to == target.name && one.schema.as_ref().is_none_or(|schema| *schema == target.schema)
}

/// Delivers what is owed to each place, the oldest release first. At a place where one release fails, later ones wait. But what
/// is in the way of one withdrawal does not hinder the others, and neither does a view that somebody else holds.
pub(super) fn settle(
    store: &mut Store,
    targets: &[DeliveryTarget],
    database: Option<&dyn Database>,
    wanted: WantedDeliveries<'_>,
    progress: Progress<'_>,
) -> Vec<DeliveryReport> {
    let mut reports = Vec::new();
    // Who names both asks about this one thing, after being told that the place does not have it.
    let if_gone = match (wanted.to, wanted.release) {
        (Some(_), Some(_)) => IfGone::Settle,
        _ => IfGone::Tell,
    };
    for target in targets.iter().filter(|target| wanted.to.is_none_or(|name| name == target.name)) {
        let owed = to_bring(store, target, wanted.release);
        for release in &owed {
            progress(owed.len(), "delivering");
            let report = |outcome, failed: Option<(&str, String)>| {
                let (code, message) = failed.unzip();
                let code = code.map(String::from);
                DeliveryReport { to: target.name.clone(), release: *release, outcome, code, message }
            };
            match bring(store, target, *release, database, if_gone) {
                // The database was asked only to be sure.
                Ok(DeliveryOutcome::Absent) if wanted.release.is_none() && is_unsure(store, target, *release) => {}
                Ok(outcome) => reports.push(report(outcome, None)),
                Err(error) => {
                    reports.push(report(DeliveryOutcome::Failed, Some((error.code(), error.to_string()))));
                    let goes_on = match error {
                        UseCaseError::Database(DatabaseError::LatestBehind { .. }) => true,
                        UseCaseError::Database(
                            DatabaseError::NotOurs { .. }
                            | DatabaseError::NotAllowed { .. }
                            | DatabaseError::OutOfReach { .. },
                        ) => is_retracted(store, *release),
                        _ => false,
                    };
                    if !goes_on {
                        break;
                    }
                }
            }
        }
    }
    reports
}

/// Asks a place whether it still has what it has by the ledger, and lets those read it who may by now. What it lost is brought
/// again.
fn look_after(store: &mut Store, target: &DeliveryTarget, database: Option<&dyn Database>) -> Vec<DeliveryReport> {
    let is_there = |&release: &u32| debt(store, target, release) == Debt::Paid && !is_retracted(store, release);
    let delivered: Vec<u32> = made_here(store).filter(is_there).collect();
    let Some(&newest) = delivered.last() else { return Vec::new() };
    let report = |release, outcome, failed: Option<UseCaseError>| {
        let (code, message) = failed.map(|error| (error.code().to_string(), error.to_string())).unzip();
        DeliveryReport { to: target.name.clone(), release, outcome, code, message }
    };
    let looked = database.ok_or(DatabaseError::NoClient);
    let lost = match looked.and_then(|database| database.look_after(target, store.series(), &delivered)) {
        Ok(lost) => lost,
        Err(error) => return vec![report(newest, DeliveryOutcome::Failed, Some(error.into()))],
    };
    let mut reports = Vec::new();
    for release in lost {
        match bring(store, target, release, database, IfGone::Tell) {
            Ok(outcome) => reports.push(report(release, outcome, None)),
            Err(error) => {
                let goes_on = matches!(error, UseCaseError::Database(DatabaseError::LatestBehind { .. }));
                reports.push(report(release, DeliveryOutcome::Failed, Some(error)));
                if !goes_on {
                    break;
                }
            }
        }
    }
    reports
}

/// The releases to bring to a place: what it lacks or may lack according to the ledger, or the one that is wanted.
fn to_bring(store: &Store, target: &DeliveryTarget, release: Option<&str>) -> Vec<u32> {
    let wanted = release.and_then(|name| number_of(store, name));
    let is_owed = |number: u32| debt(store, target, number) != Debt::Paid;
    made_here(store).filter(|&number| wanted.map_or_else(|| is_owed(number), |wanted| wanted == number)).collect()
}

/// The releases that this project made. Adopted ones were given to their recipients elsewhere.
fn made_here(store: &Store) -> impl Iterator<Item = u32> {
    let made = store.events().iter().filter(|event| !event.is_adoption()).filter_map(Event::publication);
    made.map(|publication| publication.number)
}

/// What the ledger says about a release and a place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Debt {
    /// The place has what it must have.
    Paid,
    /// It lacks the release, or its withdrawal.
    Owed,
    /// The release is withdrawn, and the ledger has no delivery. It may still be there: the line of a delivery is written
    /// after the delivery, and a crash may have come between. Only the database knows.
    Unsure,
}

fn debt(store: &Store, target: &DeliveryTarget, release: u32) -> Debt {
    let mut there = store.deliveries().filter(|one| is_at(one, target) && one.release == release).peekable();
    match (is_retracted(store, release), there.peek().is_some()) {
        (false, false) => Debt::Owed,
        (true, false) => Debt::Unsure,
        (true, true) if !there.any(|one| one.withdrawn) => Debt::Owed,
        (_, true) => Debt::Paid,
    }
}

fn is_unsure(store: &Store, target: &DeliveryTarget, release: u32) -> bool {
    debt(store, target, release) == Debt::Unsure
}

fn is_retracted(store: &Store, release: u32) -> bool {
    store.retracted().iter().any(|&(number, _, _)| number == release)
}

/// What is done about a withdrawn release that the ledger has at a place, and the place says that it has not.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum IfGone {
    /// It is told. The place may be another one by now, and people may read the release where it was.
    Tell,
    /// Somebody said that it is gone, so nothing is owed any more.
    Settle,
}

/// Brings one release to one place, or its withdrawal, and records that in the ledger.
fn bring(
    store: &mut Store,
    target: &DeliveryTarget,
    release: u32,
    database: Option<&dyn Database>,
    if_gone: IfGone,
) -> Result<DeliveryOutcome, UseCaseError> {
    let database = database.ok_or(DatabaseError::NoClient)?;
    let withdrawal = store.retracted().into_iter().find(|&(number, _, _)| number == release).map(|(_, at, because)| {
        let on = at.split('T').next().unwrap_or_default().to_string();
        Withdrawal { series: store.series().into(), release, on, because: because.into() }
    });
    let answer = match &withdrawal {
        Some(withdrawal) => match database.withdraw(target, withdrawal) {
            Ok(Withdrawn::NeverThere) => return gone(store, target, release, if_gone),
            Ok(Withdrawn::Marked) => Ok(DeliveryOutcome::Withdrawn),
            Err(error) => Err(error),
        },
        None => {
            // What is delivered is what the ledger vouches for.
            store.vouch(release, folder::SUMS)?;
            let received = folder::read(&store.release_folder(release))?;
            database.deliver(target, &received).map(|delivered| match delivered {
                Delivered::Now => DeliveryOutcome::Delivered,
                Delivered::Before => DeliveryOutcome::Already,
            })
        }
    };
    match answer {
        // The release itself is as it must be, so nothing is owed. The view is told and looked after.
        Err(error) if !matches!(error, DatabaseError::LatestBehind { .. }) => Err(error.into()),
        answer => {
            record(store, target, release, withdrawal.is_some())?;
            Ok(answer?)
        }
    }
}

/// What it means that a place does not have a withdrawn release. Where the ledger has no delivery, it never arrived.
fn gone(
    store: &mut Store,
    target: &DeliveryTarget,
    release: u32,
    if_gone: IfGone,
) -> Result<DeliveryOutcome, UseCaseError> {
    if debt(store, target, release) != Debt::Owed {
        // Nothing is marked there, so the ledger must not say so.
        return Ok(DeliveryOutcome::Absent);
    }
    let is_same_schema =
        |one: &Delivery| one.to == target.name && one.release == release && one.schema.as_ref() == Some(&target.schema);
    let (to, schema) = (&target.name, &target.schema);
    if if_gone == IfGone::Settle && store.deliveries().any(is_same_schema) {
        record(store, target, release, true)?;
        return Ok(DeliveryOutcome::Absent);
    }
    Err(UseCaseError::Database(DatabaseError::OutOfReach {
        what: format!(
            "{to} had this withdrawn release by the ledger, and its schema {schema} does not list it: the place names another \
             schema or database now, or lost it"
        ),
        way_out: format!(
            "correct [deliver.{to}], and run: tacenda deliver --release {release}; only if the place is right and lost it, run: \
             tacenda deliver {to} --release {release}"
        ),
    }))
}

/// Adds the line of a delivery, unless the ledger has it.
fn record(store: &mut Store, target: &DeliveryTarget, release: u32, withdrawn: bool) -> Result<(), LedgerError> {
    let publication = store.publications().find(|publication| publication.number == release);
    let files = publication.map(|publication| &publication.files).expect("it is a release of this ledger");
    let manifest_sha256 = files.get(folder::MANIFEST).map_or(String::new(), |file| file.sha256.clone());
    let schema = Some(target.schema.clone());
    let delivery = Delivery { to: target.name.clone(), release, manifest_sha256, schema, withdrawn };
    let is_known = store.deliveries().any(|one| *one == delivery);
    if is_known { Ok(()) } else { store.delivered(&now(), delivery) }
}
