//! Writes a backup: the archive of a project, encrypted, in a file that is whole or not there.

use crate::keys::{KeyError, KeyFolder};
use crate::ledger::{Disk, Store};
use crate::publish::ProjectError;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

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
    let failed = |source: io::Error| KeyError::Disk { action: "write", path: file.into(), source };
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
