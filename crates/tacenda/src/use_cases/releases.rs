//! The releases of a project, from the ledger and the release folders alone: listed, shown, counted in, verified.

use crate::audit::Fault;
use crate::folder::{FolderError, ReceivedRelease};
use crate::keys::{KeyError, KeyFolder, PublicKey, Trust};
use crate::ledger::{
    Amendment, Anchors, Delivery, Erasure, Event, LedgerError, PublishedTo, RealDisk, Store, What, unsealed,
};
use crate::measure::Loss;
use crate::model::{ChainBreak, ChainFault, ChainLink, chain_breaks, counted};
use crate::publish::{SIGNATURE, check_signed, not_kept, uncovered};
use crate::use_cases::{OwedDelivery, Progress, ProjectFolder, UseCaseError, deliver};
use crate::{folder, ledger, measure};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The answer of log.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogReport {
    /// The series' name.
    pub series: String,
    /// The hash of the ledger's last line.
    pub head: String,
    /// All events, the oldest first.
    pub events: Vec<LogEvent>,
    /// What databases of the project's policy file lack.
    pub owed: Vec<OwedDelivery>,
}

/// A view made elsewhere.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogView {
    /// Its name.
    pub name: String,
    /// Who has it.
    pub recipients: Vec<String>,
}

/// One event.
#[derive(Debug, JsonSchema, Serialize)]
pub struct LogEvent {
    /// Its number.
    pub seq: u64,
    /// When.
    pub at: String,
    /// What: init, publish, adopt, deliver, erase, erratum, retract or rollback.
    pub event: String,
    /// The release, for a publication.
    pub release: Option<u32>,
    /// Its label.
    pub label: Option<String>,
    /// Its promise.
    pub model: Option<String>,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// Who got it.
    pub recipients: Vec<String>,
    /// Views made elsewhere that were joined with it for the first time.
    pub taken_in: Vec<LogView>,
    /// The values that columns gained since the release before, one sentence each.
    pub amended: Vec<String>,
    /// Its rows, counterfeits included.
    pub rows: Option<u64>,
    /// Its groups.
    pub groups: Option<u64>,
    /// Its counterfeits.
    pub counterfeits: Option<u64>,
    /// The id of the key that signed the line. `verify --key` checks the signature.
    pub signed_by: Option<String>,
    /// The id of the key that approved the plan of a release.
    pub approved_by: Option<String>,
    /// The text of an erratum, a withdrawal or a delivery.
    pub says: Option<String>,
    /// The hash of the line.
    pub hash: String,
}

/// The answer of show.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ShowReport {
    /// The release folder.
    pub folder: PathBuf,
    /// The series' name.
    pub series: String,
    /// The release's number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// The promise in full.
    pub promise: String,
    /// The promise in one short sentence.
    pub promise_in_short: String,
    /// That releases of its series were made elsewhere and do not keep the promise, one sentence each, if the ledger says so.
    pub not_kept: Vec<String>,
    /// That it was withdrawn, and why, if the ledger says so.
    pub withdrawn: Option<String>,
    /// To which databases of the project's policy file it is owed.
    pub owed: Vec<OwedDelivery>,
    /// What the promise does not cover.
    pub limits: Vec<String>,
    /// Rows, counterfeits included.
    pub rows: u64,
    /// Groups.
    pub groups: u64,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// The number of people in the smallest group.
    pub smallest_group: u32,
    /// The sentence about people who are alone in a group with counterfeits; absent if nobody is.
    pub alone: Option<String>,
    /// Loss measures; docs/formats.md defines them.
    #[serde(serialize_with = "Loss::rounded")]
    #[schemars(with = "serde_json::Value")]
    pub loss: Loss,
}

/// The answer of count.
#[derive(Debug, JsonSchema, Serialize)]
pub struct CountReport {
    /// The condition.
    pub condition: String,
    /// The expected number of people. People are spread within each region by the published counts, or evenly without
    /// them.
    pub estimate: f64,
    /// No fewer people than this can meet the condition.
    pub lowest: u64,
    /// No more people than this can meet the condition.
    pub highest: u64,
    /// What the asker should know, such as a value that no row has.
    pub notes: Vec<String>,
}

/// What is to be verified, and against what.
#[derive(Clone, Debug)]
pub struct VerifyRequest<'a> {
    /// A project folder, or release folders, or folders of such.
    pub folders: Vec<PathBuf>,
    /// Where it is remembered how far series went.
    pub anchors: Option<&'a Anchors>,
    /// The public keys that count. Without any, signatures are not checked.
    pub keys: &'a [PublicKey],
    /// Where the user's own keys are: they open the vault, so that it can be checked.
    pub own: Option<&'a KeyFolder>,
}

impl<'a> VerifyRequest<'a> {
    /// A folder, by its digests alone.
    pub fn of(folder: &Path) -> VerifyRequest<'a> {
        VerifyRequest { folders: vec![folder.into()], anchors: None, keys: &[], own: None }
    }
}

/// The answer of verify.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerifyReport {
    /// Whether no fault was found. `ledger` and `signed_by` tell what vouches for that, and `not_checked` what was left out.
    pub whole: bool,
    /// Whether the only fault is a publish that was committed but not finished. The next publish finishes it.
    pub unfinished: bool,
    /// How many releases were checked.
    pub releases: u32,
    /// Whether they were compared with a ledger. Otherwise, and without a key, a release only fits its own checksums, and
    /// anybody can make one that does.
    pub ledger: bool,
    /// Whether the vault was there to be checked.
    pub vault: bool,
    /// Whether something is signed.
    pub signed: bool,
    /// The ids of the keys whose signatures were checked and are valid. Empty if no key was named.
    pub signed_by: Vec<String>,
    /// What is wrong, one sentence each.
    pub faults: Vec<VerifyFault>,
    /// What of the project was not checked, and why, one sentence each. Whether that is whole is not known.
    pub not_checked: Vec<String>,
}

/// One thing that is wrong.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VerifyFault {
    /// Its code.
    pub code: String,
    /// What and where.
    pub message: String,
}

/// The series so far, from the ledger of the project in `root`.
pub fn log(root: &Path) -> Result<LogReport, UseCaseError> {
    let store = open(root)?;
    let events = store.events().iter().map(logged).collect();
    let owed = deliver::owed_by(&ProjectFolder { root: root.into(), ..ProjectFolder::default() }, &store);
    Ok(LogReport { series: store.series().to_string(), head: store.head().to_string(), events, owed })
}

/// One release, named by its folder, its number or its label; the last one where none is named.
pub fn show(root: &Path, release: Option<&str>, progress: Progress<'_>) -> Result<ShowReport, UseCaseError> {
    let (folder, published) = read(root, release, progress)?;
    let (release, terms) = (&published.release, published.promise.terms());
    let InProject { withdrawn, owed, not_kept } = in_project(root, &folder, release.number).unwrap_or_default();
    Ok(ShowReport {
        promise_in_short: terms.short(),
        not_kept,
        series: published.series.clone(),
        release: release.number,
        label: release.label.clone(),
        view: published.manifest.view.clone(),
        promise: terms.sentence,
        withdrawn,
        owed,
        limits: published.manifest.promise.limits.clone(),
        rows: release.row_count() as u64,
        groups: release.group_count() as u64,
        counterfeits: release.counterfeit_count(),
        smallest_group: (0..release.group_count()).map(|group| release.people(group)).min().unwrap_or(0),
        alone: release.alone_sentence(),
        loss: measure::loss(release, &published.schema, terms.least_group),
        folder,
    })
}

/// A published file, as the ledger has it.
#[derive(Clone, Debug)]
pub struct ReleaseFile {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its SHA-256.
    pub sha256: String,
}

/// The files of a release, by its number.
pub fn release_files(root: &Path, release: u32) -> Result<Vec<ReleaseFile>, UseCaseError> {
    let store = open(root)?;
    let publication = store.publications().find(|publication| publication.number == release);
    let folder = store.release_folder(release);
    let file = |(name, digest): (&String, &ledger::FileDigest)| ReleaseFile {
        name: name.clone(),
        path: folder.join(name),
        bytes: digest.bytes,
        sha256: digest.sha256.clone(),
    };
    Ok(publication.ok_or(UseCaseError::NoSuchRelease)?.files.iter().map(file).collect())
}

/// What the ledger of its project says of a release.
#[derive(Default)]
struct InProject {
    /// Why it was withdrawn, if it was.
    withdrawn: Option<String>,
    /// To whom it is owed.
    owed: Vec<OwedDelivery>,
    /// How releases made elsewhere break the promise.
    not_kept: Vec<String>,
}

fn in_project(root: &Path, folder: &Path, release: u32) -> Option<InProject> {
    let store = open(root).ok()?;
    // The folder may belong to another project.
    if store.release_folder(release).canonicalize().ok()? != folder.canonicalize().ok()? {
        return None;
    }
    let retracted = store.retracted();
    let found = retracted.iter().find(|(number, _, _)| *number == release);
    let why = |on: &str, because: &str| format!("withdrawn on {}: {because}", on.split('T').next().unwrap_or_default());
    let mut owed = deliver::owed_by(&ProjectFolder { root: root.into(), ..ProjectFolder::default() }, &store);
    owed.retain(|one| one.release == release);
    let withdrawn = found.map(|(_, on, because)| why(on, because));
    Some(InProject { withdrawn, owed, not_kept: not_kept(&store) })
}

/// That a release of the project was withdrawn, and why, if it was.
pub(super) fn withdrawn(root: &Path, folder: &Path, release: u32) -> Option<String> {
    let why = in_project(root, folder, release)?.withdrawn?;
    Some(format!("release {release} was {why}"))
}

/// Counts the people of a release who meet a condition.
pub fn count(root: &Path, release: &str, condition: &str, progress: Progress<'_>) -> Result<CountReport, UseCaseError> {
    let (folder, published) = read(root, Some(release), progress)?;
    let count = folder::count(&published.release, &published.schema, condition)?;
    Ok(CountReport {
        condition: condition.into(),
        estimate: count.estimate,
        lowest: count.lowest,
        highest: count.highest,
        notes: withdrawn(root, &folder, published.release.number).into_iter().chain(count.notes).collect(),
    })
}

/// Checks ledger, vault and release folders against their digests, and reads every release back. Without its vault, a
/// project is checked as far as it left the house, and the answer says so; where it was last published from, the vault must be
/// there. Release folders that lie in their project are held against its ledger. Others are checked against their own checksums
/// alone. All are held against each other: two with one number, a broken chain or a gap is a fault.
/// The ledger is held against its anchor, if one is given, and signatures against the keys that are named.
pub fn verify(request: &VerifyRequest<'_>, progress: Progress<'_>) -> Result<VerifyReport, UseCaseError> {
    let VerifyRequest { folders, anchors, keys, own } = request;
    let root = match &folders[..] {
        [root] if root.join(".tacenda").exists() => root,
        _ => return verify_folders(folders, keys, progress),
    };
    let store = match unsealed(Arc::new(RealDisk), root, *own) {
        // Somebody else's vault is closed to us, and its releases are not.
        Err(error) if error.leaves_vault_closed() => open(root)?,
        disk => Store::open_look(disk?, root)?,
    };
    let made_here = store.events().iter().filter(|event| !event.is_adoption()).filter_map(Event::publication);
    let made_here: Vec<u32> = made_here.map(|publication| publication.number).collect();
    let step = |what: &str| progress(made_here.len() + 1, what);
    step("checking digests");
    let mut found = ledger::verify(&store);
    found.extend(anchors.and_then(|anchors| store.compare_with(anchors).err()));
    let mut not_checked = Vec::new();
    match vault_left_out(&store, *anchors) {
        Ok(why) => not_checked.extend(why),
        Err(gone) => found.push(gone),
    }
    // A publish that ran at the same time may have changed files; that is no damage.
    if !found.is_empty() && open(root).is_ok_and(|now| now.head() != store.head()) {
        return Err(LedgerError::MovedOn.into());
    }
    let mut faults: Vec<VerifyFault> =
        found.iter().map(|error| VerifyFault::new(error.code(), error.to_string())).collect();
    let mut links = Vec::new();
    if faults.is_empty() {
        // Digests prove that the files are the published ones; reading proves that they can be used.
        for &number in &made_here {
            step(&format!("reading release {number}"));
            match folder::read(&store.release_folder(number)) {
                Ok(release) => links.push(release.link()),
                Err(error) => faults.push(VerifyFault::new(error.code(), error.to_string())),
            }
        }
        // What was made elsewhere leaves gaps; the ledger has its lines.
        faults
            .extend(chain_faults(&links).into_iter().filter(|(fault, _)| *fault != ChainFault::Missing).map(|it| it.1));
    }
    let mut signers = Vec::new();
    if !keys.is_empty() {
        let mut trust = Trust::new(keys);
        faults.extend(store.check_signatures(&mut trust).iter().map(VerifyFault::of_key));
        // Releases from before the key existed have no signature; the signed ledger vouches for them.
        for &number in made_here.iter().filter(|&&number| store.signed_by(number).is_some()) {
            check_folder(&store.release_folder(number), &mut trust, &mut signers, &mut faults);
        }
    }
    let signed = store.events().iter().any(|event| event.signer.is_some());
    let unfinished = !found.is_empty() && found.iter().all(|error| matches!(error, LedgerError::Unfinished { .. }));
    let (releases, vault) = (store.releases(), store.has_vault());
    let unfinished = unfinished && faults.len() == found.len();
    let (whole, signed_by) = (faults.is_empty(), signers);
    Ok(VerifyReport { whole, unfinished, releases, ledger: true, vault, signed, signed_by, faults, not_checked })
}

/// Why the vault was not checked, if it was not. An auditor has none; where the series was last published from, it is lost.
fn vault_left_out(store: &Store, anchors: Option<&Anchors>) -> Result<Option<String>, LedgerError> {
    let is_published_from_here = || anchors.is_some_and(|anchors| store.is_published_from_here(anchors));
    match (store.has_vault(), store.has_vault_folder()) {
        (true, _) => Ok(None),
        (false, true) => {
            let why =
                "the vault was not checked: its files are there, and what opens them is not here, or closed to you";
            Ok(Some(why.into()))
        }
        (false, false) if is_published_from_here() => Err(LedgerError::VaultMissing { file: ".tacenda/vault".into() }),
        (false, false) => Ok(Some("the vault was not checked: it is not here".into())),
    }
}

/// Checks release folders without a project.
fn verify_folders(
    folders: &[PathBuf],
    keys: &[PublicKey],
    progress: Progress<'_>,
) -> Result<VerifyReport, UseCaseError> {
    let mut found = Vec::new();
    for folder in folders {
        match release_folders(folder, 3) {
            // Nothing of ours: opening says what it lacks.
            none if none.is_empty() => return Err(open(folder).err().unwrap_or(UseCaseError::NoRelease)),
            some => found.extend(some),
        }
    }
    let (mut faults, mut links, mut signed_by) = (Vec::new(), Vec::new(), Vec::new());
    let (mut held, mut not_checked) = (0, Vec::new());
    let mut trust = Trust::new(keys);
    for folder in &found {
        progress(found.len(), "reading the release");
        // One folder needs no name.
        let named = |message: String| match found.len() {
            1 => message,
            _ => format!("{}: {message}", folder.display()),
        };
        let before = faults.len();
        match in_place(folder) {
            Some(Ok((store, number))) => {
                let found = store.faults_of(number);
                faults.extend(found.iter().map(|error| VerifyFault::new(error.code(), error.to_string())));
                held += 1;
            }
            Some(Err(error)) => {
                not_checked.push(named(format!("it was not compared with the ledger of its project: {error}")));
            }
            None => {}
        }
        // What the ledger says of a folder, its own checksums need not say again.
        let is_damaged = faults.len() > before;
        if !is_damaged {
            match folder::read(folder) {
                Ok(release) => links.push(release.link()),
                Err(error) => faults.push(VerifyFault::new(error.code(), named(error.to_string()))),
            }
        }
        let before = faults.len();
        if !keys.is_empty() {
            check_folder(folder, &mut trust, &mut signed_by, &mut faults);
        } else if !is_damaged {
            // Whoever reads the folder would take it for a part of the release.
            let added = uncovered(folder).ok().flatten().map(|file| FolderError::Unlisted { file });
            faults.extend(added.map(|error| VerifyFault::new(error.code(), error.to_string())));
        }
        faults[before..].iter_mut().for_each(|fault| fault.message = named(std::mem::take(&mut fault.message)));
    }
    faults.extend(chain_faults(&links).into_iter().map(|(_, fault)| fault));
    let signed = found.iter().any(|folder| folder.join(SIGNATURE).exists());
    let (whole, releases) = (faults.is_empty(), found.len() as u32);
    let (unfinished, ledger, vault) = (false, held == found.len(), false);
    if ledger {
        not_checked.push("the vault and what else is in the project were not checked: only releases were named".into());
    }
    Ok(VerifyReport { whole, unfinished, releases, ledger, vault, signed, signed_by, faults, not_checked })
}

/// A release folder, or those in a folder, by name.
fn release_folders(folder: &Path, depth: u32) -> Vec<PathBuf> {
    if folder.join(folder::MANIFEST).exists() {
        return vec![folder.to_path_buf()];
    }
    let entries = fs::read_dir(folder).ok().filter(|_| depth > 0).into_iter().flatten().flatten();
    let mut inside: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    inside.sort();
    inside.iter().flat_map(|path| release_folders(path, depth - 1)).collect()
}

/// Where releases are not one series.
fn chain_faults(links: &[ChainLink]) -> Vec<(ChainFault, VerifyFault)> {
    let chain: Vec<Option<&ChainLink>> = links.iter().map(Some).collect();
    let fault = |found: ChainBreak| {
        let (link, with) = (&links[found.at], &links[found.with]);
        let (series, number, other) = (&link.series, link.number, with.number);
        let (fault, message) = match found.fault {
            ChainFault::TwoOfOneNumber => (
                Fault::TwoOfOneNumber,
                format!(
                    "two different releases {number} of {series}: their manifests differ; the series was continued twice"
                ),
            ),
            ChainFault::Broken => (
                Fault::ChainBroken,
                format!(
                    "release {number} of {series} names another release before it than release {other} that is here"
                ),
            ),
            ChainFault::Missing => (
                Fault::ReleasesMissing,
                format!("after release {other} of {series} comes release {number}; those between are not here"),
            ),
        };
        (found.fault, VerifyFault::new(fault.code(), message))
    };
    chain_breaks(&chain).into_iter().map(fault).collect()
}

fn check_folder(folder: &Path, trust: &mut Trust, signers: &mut Vec<String>, faults: &mut Vec<VerifyFault>) {
    match check_signed(folder, trust) {
        Ok(key) if signers.contains(&key) => {}
        Ok(key) => signers.push(key),
        Err(error) => faults.push(VerifyFault::of_key(&error)),
    }
}

impl VerifyFault {
    fn of_key(error: &KeyError) -> VerifyFault {
        VerifyFault::new(error.code(), error.to_string())
    }

    fn new(code: &str, message: String) -> VerifyFault {
        VerifyFault { code: code.into(), message }
    }
}

fn open(root: &Path) -> Result<Store, UseCaseError> {
    Ok(Store::open_look(Arc::new(RealDisk), root)?)
}

fn logged(event: &Event) -> LogEvent {
    let publication = event.publication();
    let numbers = publication.map(|publication| &publication.numbers);
    let view = publication.and_then(|publication| publication.view.as_ref());
    let taken_in = |view: &PublishedTo| LogView { name: view.name.clone(), recipients: view.recipients.clone() };
    let amended = |amended: &Amendment| format!("column {} has {}", amended.column, amended.what);
    let event_name = match event.what {
        What::Init(_) => "init",
        What::Publish(_) => "publish",
        What::Adopt(_) => "adopt",
        What::Erratum { .. } => "erratum",
        What::Erase(_) => "erase",
        What::Retract { .. } => "retract",
        What::Rollback { .. } => "rollback",
        What::Deliver(_) => "deliver",
    };
    LogEvent {
        seq: event.seq,
        at: event.at.clone(),
        event: event_name.into(),
        release: publication.map(|publication| publication.number),
        label: publication.map(|publication| publication.label.clone()),
        model: publication.and_then(|publication| publication.promise["model"].as_str().map(String::from)),
        view: view.map(|view| view.name.clone()),
        recipients: view.map_or_else(Vec::new, |view| view.recipients.clone()),
        taken_in: publication.iter().flat_map(|publication| &publication.taken_in).map(taken_in).collect(),
        amended: publication.iter().flat_map(|publication| &publication.amended).map(amended).collect(),
        rows: numbers.map(|numbers| numbers.rows),
        groups: numbers.and_then(|numbers| numbers.groups),
        counterfeits: numbers.map(|numbers| numbers.counterfeits),
        signed_by: event.signer.as_ref().map(|signer| signer.key.clone()),
        approved_by: publication.and_then(|one| one.approved.as_ref()).map(|approval| approval.key.clone()),
        says: says(event),
        hash: event.hash.clone(),
    }
}

/// What an event without a release says.
fn says(event: &Event) -> Option<String> {
    match &event.what {
        What::Erratum { text } => Some(text.clone()),
        What::Rollback { because, lines, .. } => Some(format!(
            "the ledger was seen before with {lines} lines; the series continues without the later ones: \
                {because}"
        )),
        What::Erase(Erasure { people: count, retain: None, .. }) => Some(format!(
            "{} erased: the vault was written anew without them",
            counted(*count, "person was", "people were")
        )),
        What::Erase(Erasure { people: count, retain: Some(releases), .. }) => Some(format!(
            "{} forgotten, not published for {}",
            counted(*count, "person was", "people were"),
            counted(u64::from(*releases), "release", "releases")
        )),
        What::Deliver(Delivery { to, release, withdrawn: false, .. }) => {
            Some(format!("release {release} was delivered to {to}"))
        }
        What::Deliver(Delivery { to, release, withdrawn: true, .. }) => {
            Some(format!("release {release} is marked as withdrawn in {to}"))
        }
        What::Retract { details } => {
            let because = details["because"].as_str().unwrap_or_default();
            Some(format!("release {} was withdrawn: {because}", details["release"]))
        }
        _ => None,
    }
}

/// Finds a release and reads it as a recipient would.
pub(super) fn read(
    root: &Path,
    name: Option<&str>,
    progress: Progress<'_>,
) -> Result<(PathBuf, ReceivedRelease), UseCaseError> {
    let folder = match name {
        Some(path) if Path::new(path).join(folder::MANIFEST).exists() => PathBuf::from(path),
        name => find(root, name)?,
    };
    progress(1, "reading the release");
    let published = folder::read(&folder)?;
    vouch_in_place(&folder)?;
    Ok((folder, published))
}

/// Refuses a release folder that lies in its project and is not what the ledger there says was published. Whoever calls this has
/// compared the files with the checksums of the folder. One whose ledger cannot be read has none: nobody asked for it.
pub(super) fn vouch_in_place(folder: &Path) -> Result<(), UseCaseError> {
    match in_place(folder) {
        Some(Ok((store, number))) => Ok(store.vouch(number, folder::SUMS)?),
        Some(Err(_)) | None => Ok(()),
    }
}

/// The same for a file, whose folder nobody has read: every file of the folder is compared.
pub(super) fn vouch_for_file(file: &Path) -> Result<(), UseCaseError> {
    match file.canonicalize().ok().and_then(|file| in_place(file.parent()?)) {
        Some(Ok((store, number))) => Ok(store.vouch_whole(number)?),
        Some(Err(_)) | None => Ok(()),
    }
}

/// The ledger that a release folder lies beside, and the number that the release has there; or why that ledger cannot be read. A
/// folder elsewhere has none.
fn in_place(folder: &Path) -> Option<Result<(Store, u32), UseCaseError>> {
    let whole = folder.canonicalize().ok()?;
    let root = whole.ancestors().nth(3).filter(|root| root.join(".tacenda/ledger.jsonl").exists())?;
    let store = match open(root) {
        Ok(store) => store,
        Err(error) => return Some(Err(error)),
    };
    let number = store.publications().map(|one| one.number).find(|&number| store.release_folder(number) == whole)?;
    Some(Ok((store, number)))
}

/// The folder of a release, by its number or its label.
fn find(root: &Path, name: Option<&str>) -> Result<PathBuf, UseCaseError> {
    let store = open(root)?;
    let is_wanted = |number: u32, label: &str| {
        name.is_none_or(|name| label == name || name.trim_start_matches('r').parse() == Ok(number))
    };
    let published = store.events().iter().filter_map(|event| Some((event, event.publication()?)));
    let found = published.rev().find(|(_, publication)| is_wanted(publication.number, &publication.label));
    let (event, publication) = found.ok_or(UseCaseError::NoSuchRelease)?;
    let place = store.release_folder(publication.number);
    if event.is_adoption() {
        return Err(UseCaseError::MadeElsewhere { release: publication.number, folder: place });
    }
    store.vouch(publication.number, folder::SUMS)?;
    Ok(place)
}
