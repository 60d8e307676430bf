//! Writes a backup: the archive of a project, encrypted, in a file that is whole or not there.

use crate::files;
use crate::keys::KeyFolder;
use crate::ledger::{Disk, Store};
use crate::promise::BackupRule;
use crate::publish::ProjectError;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Component, Path, PathBuf};

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

/// The policy file and every file that it names, as seen from the project folder; those that lie in it. Each text of the
/// policy that is the path of a file counts, whatever its key is: a backup that lacks one of them gives no working project.
fn policy_files(root: &Path, policy: &Path) -> Vec<PathBuf> {
    let real = |path: &Path| match path.as_os_str().is_empty() {
        true => Path::new(".").canonicalize(),
        false => path.canonicalize(),
    };
    let (Ok(root), Ok(folder)) = (real(root), real(policy.parent().unwrap_or(root))) else { return Vec::new() };
    let mut names: Vec<PathBuf> = policy.file_name().map(|name| folder.join(name)).into_iter().collect();
    let text = files::read_text(policy).unwrap_or_default();
    if let Ok(table) = text.parse::<toml::Table>() {
        texts("", &toml::Value::Table(table), &mut |key, text| {
            let stays =
                Path::new(text).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
            let path: PathBuf = folder.join(text).components().collect();
            // A release folder can be adopted, too.
            let listed = fs::read_dir(&path).ok().filter(|_| stays && key == "adopted");
            names.extend(listed.into_iter().flatten().flatten().map(|entry| entry.path()));
            names.extend(stays.then_some(path));
        });
    }
    names.sort();
    names.dedup();
    // A link may lead anywhere. What the ledger knows of is packed in any case.
    let is_here = |path: &Path| path.is_file() && real(path).is_ok_and(|real| real.starts_with(&root));
    let is_own = |name: &Path| [".tacenda", "releases"].iter().any(|own| name.starts_with(own));
    let inside = |path: PathBuf| path.strip_prefix(&root).ok().filter(|_| is_here(&path)).map(Path::to_path_buf);
    names.into_iter().filter_map(inside).filter(|name| !is_own(name)).collect()
}

/// Every text in the value of a key, with the key it stands under.
fn texts(key: &str, value: &toml::Value, found: &mut dyn FnMut(&str, &str)) {
    match value {
        toml::Value::String(text) => found(key, text),
        toml::Value::Table(table) => table.iter().for_each(|(key, value)| texts(key, value, found)),
        toml::Value::Array(values) => values.iter().for_each(|value| texts(key, value, found)),
        _ => {}
    }
}
