//! Brings releases to the databases of the policy file, and withdrawals too.
//!
//! The ledger is first: a release is delivered after it is published, and the ledger records each delivery. So what is
//! owed can be told from the ledger and the policy file. A crash between the database and the ledger line is harmless,
//! because a database that has the release says so when it is asked again.

use crate::folder;
use crate::ingest::read_policy;
use crate::ledger::{Delivery, Event, LedgerError, Store};
use crate::promise::DeliveryTarget;
use crate::publish::{POLICY_FILE, ProjectError, now};
use crate::use_cases::{Database, DatabaseError, Delivered, Progress, ProjectFolder, UseCaseError, Withdrawal};
use schemars::JsonSchema;
use serde::Serialize;
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
    /// It is not there, or not marked.
    Failed,
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
    if targets.is_empty() {
        return Err(UseCaseError::usage("the policy file names no place to deliver to; add a section [deliver.NAME]"));
    }
    if let Some(name) = wanted.to.filter(|name| targets.iter().all(|target| target.name != *name)) {
        let known: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        return Err(UseCaseError::usage(format!("there is no delivery {name}; there is {}", known.join(", "))));
    }
    let mut store = open(project)?;
    if let Some(name) = wanted.release {
        number_of(&store, name).ok_or(UseCaseError::NoSuchRelease)?;
    }
    let deliveries = settle(&mut store, &targets, project.database.as_deref(), wanted, progress);
    Ok(DeliverReport { series: store.series().into(), deliveries })
}

/// The places that the policy file names.
pub(super) fn targets(project: &ProjectFolder) -> Result<Vec<DeliveryTarget>, ProjectError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    Ok(read_policy(&path)?.databases.deliver)
}

/// The ledger, open for writing.
pub(super) fn open(project: &ProjectFolder) -> Result<Store, UseCaseError> {
    let anchors = project.held_anchors()?;
    let mut store = Store::open_write(project.disk()?, &project.root)?;
    project.signer()?.into_iter().for_each(|signer| store.sign_with(Arc::new(signer)));
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

/// Delivers what is owed to each place, the oldest release first. At a place where one release fails, later ones wait.
pub(super) fn settle(
    store: &mut Store,
    targets: &[DeliveryTarget],
    database: Option<&dyn Database>,
    wanted: WantedDeliveries<'_>,
    progress: Progress<'_>,
) -> Vec<DeliveryReport> {
    let mut reports = Vec::new();
    for target in targets.iter().filter(|target| wanted.to.is_none_or(|name| name == target.name)) {
        let owed = owed(store, target, wanted.release);
        for release in &owed {
            progress(owed.len(), "delivering");
            let report = |outcome, failed: Option<(&str, String)>| {
                let (code, message) = failed.unzip();
                let code = code.map(String::from);
                DeliveryReport { to: target.name.clone(), release: *release, outcome, code, message }
            };
            let done = bring(store, target, *release, database);
            reports.push(match &done {
                Ok(outcome) => report(*outcome, None),
                Err(error) => report(DeliveryOutcome::Failed, Some((error.code(), error.to_string()))),
            });
            if done.is_err() {
                break;
            }
        }
    }
    reports
}

/// The releases that a place lacks according to the ledger, or the one that is wanted.
fn owed(store: &Store, target: &DeliveryTarget, release: Option<&str>) -> Vec<u32> {
    let wanted = release.and_then(|name| number_of(store, name));
    let made_here = store.events().iter().filter(|event| !event.is_adoption()).filter_map(Event::publication);
    let is_owed = |number: u32| {
        let mut there = store.deliveries().filter(|one| one.to == target.name && one.release == number).peekable();
        match is_retracted(store, number) {
            false => there.peek().is_none(),
            // What never arrived need not be withdrawn.
            true => there.peek().is_some() && !there.any(|one| one.withdrawn),
        }
    };
    let numbers = made_here.map(|publication| publication.number);
    numbers.filter(|&number| wanted.map_or_else(|| is_owed(number), |wanted| wanted == number)).collect()
}

fn is_retracted(store: &Store, release: u32) -> bool {
    store.retracted().iter().any(|&(number, _, _)| number == release)
}

/// Brings one release to one place, or its withdrawal, and records that in the ledger.
fn bring(
    store: &mut Store,
    target: &DeliveryTarget,
    release: u32,
    database: Option<&dyn Database>,
) -> Result<DeliveryOutcome, UseCaseError> {
    let database = database.ok_or(DatabaseError::NoClient)?;
    let withdrawal = store.retracted().into_iter().find(|&(number, _, _)| number == release).map(|(_, at, because)| {
        let on = at.split('T').next().unwrap_or_default().to_string();
        Withdrawal { series: store.series().into(), release, on, because: because.into() }
    });
    let outcome = match &withdrawal {
        Some(withdrawal) => {
            database.withdraw(target, withdrawal)?;
            DeliveryOutcome::Withdrawn
        }
        None => {
            // What is delivered is what the ledger vouches for.
            store.vouch(release, folder::SUMS)?;
            let received = folder::read(&store.release_folder(release))?;
            match database.deliver(target, &received)? {
                Delivered::Now => DeliveryOutcome::Delivered,
                Delivered::Before => DeliveryOutcome::Already,
            }
        }
    };
    record(store, target, release, withdrawal.is_some())?;
    Ok(outcome)
}

/// Adds the line of a delivery, unless the ledger has it.
fn record(store: &mut Store, target: &DeliveryTarget, release: u32, withdrawn: bool) -> Result<(), LedgerError> {
    let publication = store.publications().find(|publication| publication.number == release);
    let files = publication.map(|publication| &publication.files).expect("it is a release of this ledger");
    let manifest_sha256 = files.get(folder::MANIFEST).map_or(String::new(), |file| file.sha256.clone());
    let delivery = Delivery { to: target.name.clone(), release, manifest_sha256, withdrawn };
    let is_known = store.deliveries().any(|one| *one == delivery);
    if is_known { Ok(()) } else { store.delivered(&now(), delivery) }
}
