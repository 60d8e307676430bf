//! Writes a backup: the archive of a project, encrypted, in a file that is whole or not there.

use crate::keys::KeyFolder;
use crate::ledger::{Disk, Store};
use crate::promise::BackupRule;
use crate::publish::ProjectError;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// How many digits of a hash are in the name of a backup.
const DIGITS: usize = 8;

/// The file for a backup of the present state in the folder of the policy file. The name has the series, the number of releases,
/// and the beginnings of two hashes: another project or another state of the series never has the same.
pub(super) fn file_by(rule: &BackupRule, store: &Store) -> Result<PathBuf, ProjectError> {
    let failed = |why: String| ProjectError::NoBackup { place: rule.folder.clone(), why };
    match fs::symlink_metadata(&rule.folder) {
        Ok(found) if found.is_symlink() => Err(failed("it is a symbolic link".into())),
        Ok(found) if !found.is_dir() => Err(failed("it is no folder".into())),
        Ok(_) => {
            Ok(rule.folder.join(format!("{}{:04}-{}.age", stem(store), store.releases(), &store.head()[..DIGITS])))
        }
        Err(error) => Err(failed(error.to_string())),
    }
}

/// How the names of a project's backups begin.
fn stem(store: &Store) -> String {
    format!("{}-{}-r", store.series(), &store.seed_commitment()[..DIGITS])
}

/// Removes backups of this project that are too old by the rule, and nothing else. What is newer than the present state stays.
pub(super) fn rotate(rule: &BackupRule, store: &Store) -> Result<(), ProjectError> {
    let Some(keep) = rule.keep else { return Ok(()) };
    let stem = stem(store);
    let number = |name: &str| -> Option<u32> {
        let (number, hash) = name.strip_prefix(&stem)?.strip_suffix(".age")?.split_once('-')?;
        let is_ours = hash.len() == DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        number.parse().ok().filter(|_| is_ours)
    };
    let remove = || -> io::Result<()> {
        for entry in fs::read_dir(&rule.folder)? {
            let entry = entry?;
            let is_old = number(&entry.file_name().to_string_lossy())
                .is_some_and(|number| number.saturating_add(keep) <= store.releases());
            if is_old && entry.file_type()?.is_file() {
                fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    remove().map_err(|error| ProjectError::NoBackup { place: rule.folder.clone(), why: error.to_string() })
}

/// Writes the state of a project into `file`, encrypted for the user's key and the recovery key. `disk` is the one below
/// encryption, and `policy` the policy file.
pub fn back_up(
    store: &Store,
    disk: &dyn Disk,
    keys: &KeyFolder,
    policy: &Path,
    file: &Path,
) -> Result<u64, ProjectError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed = |error: io::Error| ProjectError::NoBackup { place: file.into(), why: error.to_string() };
    let beside = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    let mut out = keys.encrypt_for_recipients(BufWriter::new(beside))?;
    let packed = store.pack(disk, &policy_files(store.root(), policy), &mut out)?;
    let mut beside = out.finish().map_err(failed)?;
    beside.flush().map_err(failed)?;
    let beside = beside.into_inner().map_err(|error| failed(error.into_error()))?;
    beside.as_file().sync_all().map_err(failed)?;
    beside.persist(file).map_err(|error| failed(error.error))?;
    Ok(packed)
}

/// The policy file and the hierarchies that it names, as seen from the project folder; those that lie in it.
fn policy_files(root: &Path, policy: &Path) -> Vec<PathBuf> {
    let mut names = Vec::new();
    let text = fs::read_to_string(policy).unwrap_or_default();
    if let Ok(table) = text.parse::<toml::Table>() {
        let folder = policy.parent().unwrap_or(root);
        named_hierarchies(&toml::Value::Table(table), &mut |name| names.push(folder.join(name)));
        names.push(policy.into());
    }
    names.sort();
    names.dedup();
    let inside = |path: PathBuf| path.strip_prefix(root).ok().filter(|_| path.is_file()).map(Path::to_path_buf);
    names.into_iter().filter_map(inside).collect()
}

fn named_hierarchies(value: &toml::Value, found: &mut dyn FnMut(&str)) {
    match value {
        toml::Value::Table(table) => {
            table.get("hierarchy").and_then(toml::Value::as_str).into_iter().for_each(&mut *found);
            table.values().for_each(|value| named_hierarchies(value, found));
        }
        toml::Value::Array(values) => values.iter().for_each(|value| named_hierarchies(value, found)),
        _ => {}
    }
}
