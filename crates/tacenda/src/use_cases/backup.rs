//! A copy of a project in one encrypted file, and the way back.

use crate::files;
use crate::keys::{KeyError, KeyFolder};
use crate::ledger::{Disk, LedgerError, RealDisk, Store, unpack, unsealed, verify};
use crate::publish::{POLICY_FILE, ProjectError, back_up};
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What backup and restore answer with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct BackupReport {
    /// The backup.
    pub backup: PathBuf,
    /// The series.
    pub series: String,
    /// How many releases it has.
    pub releases: u32,
    /// How many lines its ledger has.
    pub lines: usize,
    /// Why nothing but what followed then may follow now: the series was seen to go further. Only after a restore.
    pub behind: Option<String>,
}

fn keys(project: &ProjectFolder) -> Result<&KeyFolder, UseCaseError> {
    project.keys.as_ref().ok_or_else(|| UseCaseError::usage("there is no folder for keys; name one with --keys"))
}

/// Writes the state of a project into one file, encrypted for the user's key and the recovery key.
pub fn backup(project: &ProjectFolder, file: &Path) -> Result<BackupReport, UseCaseError> {
    let keys = keys(project)?;
    let store = Store::open_write(project.disk()?, &project.root)?;
    let policy = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    back_up(&store, &RealDisk, keys, &policy, file)?;
    Ok(report(file, &store, None))
}

/// Puts the state of a project back into a folder that has none. What is there of the policy's files stays as it is.
pub fn restore(project: &ProjectFolder, file: &Path) -> Result<BackupReport, UseCaseError> {
    let (root, keys) = (&project.root, keys(project)?);
    // A link that leads nowhere is in the way as well.
    if [".tacenda", "releases"].iter().any(|name| fs::symlink_metadata(root.join(name)).is_ok()) {
        let message = format!("{} has a project; restore into an empty folder: -C FOLDER", root.display());
        return Err(UseCaseError::Exists(message));
    }
    fs::create_dir_all(root).map_err(UseCaseError::file(root))?;
    let beside =
        tempfile::Builder::new().prefix(".tacenda-restore").tempdir_in(root).map_err(UseCaseError::file(root))?;
    let place = beside.path();
    let open = || {
        let opened = files::open(file);
        opened.map(BufReader::new).map_err(|source| KeyError::Disk { action: "read", path: file.into(), source })
    };
    let names = unpack(&RealDisk, &mut keys.decrypt_with_own(open)?, place)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let store = Store::open_read(unsealed(disk, place, Some(keys))?, place)?;
    if let Some(fault) = verify(&store).into_iter().next() {
        return Err(fault.into());
    }
    let behind = project.anchors.as_ref().and_then(|anchors| store.compare_with(anchors).err());
    let behind = match behind {
        Some(error @ LedgerError::RolledBack { .. }) => Some(error.to_string()),
        Some(error) => return Err(error.into()),
        None => None,
    };
    let report = report(file, &store, behind);
    put_back(place, root, &names)?;
    Ok(report)
}

/// Moves what was unpacked to where it belongs; the ledger and the vault last.
fn put_back(place: &Path, root: &Path, names: &[PathBuf]) -> Result<(), UseCaseError> {
    let is_own = |name: &Path| [".tacenda", "releases"].iter().any(|own| name.starts_with(own));
    for name in names.iter().filter(|name| !is_own(name) && !root.join(name).exists()) {
        let target = root.join(name);
        let parent = target.parent().expect("a file has a folder");
        fs::create_dir_all(parent).map_err(UseCaseError::file(parent))?;
        fs::rename(place.join(name), &target).map_err(UseCaseError::file(&target))?;
    }
    for own in ["releases", ".tacenda"] {
        if place.join(own).exists() {
            fs::rename(place.join(own), root.join(own)).map_err(UseCaseError::file(root))?;
        }
    }
    Ok(RealDisk
        .sync_folder(root)
        .map_err(|error| LedgerError::disk("sync", root, error))
        .map_err(ProjectError::from)?)
}

fn report(file: &Path, store: &Store, behind: Option<String>) -> BackupReport {
    let (series, releases, lines) = (store.series().to_string(), store.releases(), store.events().len());
    BackupReport { backup: file.into(), series, releases, lines, behind }
}
