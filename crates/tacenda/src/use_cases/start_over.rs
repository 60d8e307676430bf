//! Starts a new series in the same folder and sets the old one aside.
//!
//! # Guarantee
//! Nothing is deleted. The old series moves as a whole (policy, ledger, vault, releases) into a folder of its own,
//! where every command still works on it. What was published stays published. The new series knows nothing of it, and
//! the answer says so. The moves are renames, in an order that a second run completes.

use crate::files;
use crate::ledger::{LedgerError, Store};
use crate::publish::POLICY_FILE;
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::{fs, io};
use toml::de::{DeTable, DeValue};

/// Where earlier series are kept, below the project folder.
pub const EARLIER: &str = "earlier";

/// The answer of new.
#[derive(Debug, JsonSchema, Serialize)]
pub struct NewReport {
    /// The series that was set aside.
    pub old_series: String,
    /// The series that begins.
    pub new_series: String,
    /// The folder that the old one is kept in, a project of its own.
    pub kept_in: PathBuf,
    /// How many of its releases are published.
    pub releases: u32,
    /// Their folders, for an audit of both series together.
    pub folders: Vec<PathBuf>,
}

/// What would be done: the first half. Holds the lock of the old series.
pub struct StartOver {
    /// The series that would be set aside.
    pub old_series: String,
    /// How many of its releases are published.
    pub releases: u32,
    new_series: String,
    root: PathBuf,
    policy: PathBuf,
    renamed: String,
    store: Store,
}

/// Looks at the series of a folder, which would be set aside for one of another name. Changes nothing.
pub fn start_over(project: &ProjectFolder, name: Option<&str>) -> Result<StartOver, UseCaseError> {
    let root = &project.root;
    let policy = project.policy.clone().unwrap_or_else(|| root.join(POLICY_FILE));
    if !root.join(".tacenda/ledger.jsonl").exists() {
        let message = format!("{} has no series yet; tacenda publish begins one", root.display());
        return Err(UseCaseError::Exists(message));
    }
    let store = match Store::open_write(project.disk()?, root) {
        // Without its vault nobody can publish in it, so there is nothing to lock out. It moves as it is.
        Err(LedgerError::VaultMissing { .. }) => Store::open_outside(project.disk()?, root)?,
        opened => opened?,
    };
    let old_series = store.series().to_string();
    let releases = store.publications().count() as u32;
    let new_series = match name {
        Some(name) => name.to_string(),
        // Nobody has anything of that name.
        None if releases == 0 => old_series.clone(),
        None => {
            let message = "releases of this series are published: give the new one another name with --name, so that \
                recipients can tell them apart";
            return Err(UseCaseError::usage(message));
        }
    };
    if releases > 0 && new_series == old_series {
        return Err(UseCaseError::usage("the new series needs another name than the old one: --name"));
    }
    let renamed = renamed(&policy, &new_series)?;
    Ok(StartOver { old_series, releases, new_series, root: root.clone(), policy, renamed, store })
}

impl StartOver {
    /// Sets the old series aside, and renames the series in the policy file.
    pub fn carry_out(self) -> Result<NewReport, UseCaseError> {
        let StartOver { old_series, releases, new_series, root, policy, renamed, store } = self;
        let kept_in = free_folder(&root.join(EARLIER), &old_series);
        copy_policy(&policy, &root, &kept_in)?;
        let own_releases = root.join("releases").join(&old_series);
        let kept_releases = kept_in.join("releases");
        if own_releases.exists() {
            fs::create_dir_all(&kept_releases).map_err(UseCaseError::file(&kept_releases))?;
            let target = kept_releases.join(&old_series);
            fs::rename(&own_releases, &target).map_err(UseCaseError::file(&target))?;
        }
        let target = kept_in.join(".tacenda");
        fs::rename(root.join(".tacenda"), &target).map_err(UseCaseError::file(&target))?;
        drop(store);
        fs::write(&policy, renamed).map_err(UseCaseError::file(&policy))?;
        let folder = |number: u32| kept_releases.join(&old_series).join(format!("r{number:04}"));
        let folders = (1..=releases).map(folder).collect();
        Ok(NewReport { old_series, new_series, kept_in, releases, folders })
    }
}

/// The policy file with another name of the series.
fn renamed(policy: &Path, name: &str) -> Result<String, UseCaseError> {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if name.is_empty() || name.len() > 64 || name.starts_with('-') || !name.bytes().all(plain) {
        return Err(UseCaseError::usage(
            "a series name has lower case letters, digits and dashes, such as ward-stays-2",
        ));
    }
    let text = files::read_text(policy).map_err(UseCaseError::file(policy))?;
    let span = DeTable::parse(&text).ok().and_then(|root| {
        let DeValue::Table(series) = root.get_ref().get("series")?.get_ref() else { return None };
        Some(series.get("name")?.span())
    });
    let Some(span) = span else {
        return Err(UseCaseError::usage(
            "the policy file does not name its series; tacenda check says what is wrong with it",
        ));
    };
    Ok(format!("{}\"{name}\"{}", &text[..span.start], &text[span.end..]))
}

/// A folder for a series that is set aside: one that a run before left half done, or a new one.
fn free_folder(earlier: &Path, series: &str) -> PathBuf {
    let numbered = |number: u32| match number {
        1 => earlier.join(series),
        number => earlier.join(format!("{series}-{number}")),
    };
    (1..).map(numbered).find(|folder| !folder.join(".tacenda").exists()).expect("numbers do not end")
}

/// Copies the policy file and the hierarchies beside it, so that the old series can be read with its own.
fn copy_policy(policy: &Path, root: &Path, kept_in: &Path) -> Result<(), UseCaseError> {
    let copy = |from: &Path, to: &Path| -> io::Result<()> {
        fs::create_dir_all(to.parent().unwrap_or(Path::new(".")))?;
        fs::copy(from, to).map(drop)
    };
    let to = kept_in.join(POLICY_FILE);
    copy(policy, &to).map_err(UseCaseError::file(&to))?;
    for path in named_files(policy) {
        let (from, to) = (policy.parent().unwrap_or(root).join(&path), kept_in.join(&path));
        // A path out of the folder is not copied, so the old series no longer finds that file.
        if from.is_file() && !path.is_absolute() && !path.starts_with("..") {
            copy(&from, &to).map_err(UseCaseError::file(&to))?;
        }
    }
    Ok(())
}

/// The hierarchy files that a policy file names.
fn named_files(policy: &Path) -> Vec<PathBuf> {
    let text = files::read_text(policy).unwrap_or_default();
    let Ok(root) = text.parse::<toml::Table>() else { return Vec::new() };
    let columns = root.get("columns").and_then(toml::Value::as_table);
    let hierarchy = |column: &toml::Value| Some(PathBuf::from(column.get("hierarchy")?.as_str()?));
    columns.into_iter().flat_map(|columns| columns.values()).filter_map(hierarchy).collect()
}
