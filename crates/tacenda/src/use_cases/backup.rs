//! A copy of a project in one encrypted file, and the way back.

use crate::files;
use crate::keys::{KeyError, KeyFolder};
use crate::ledger::{Disk, LedgerError, RealDisk, Store, unpack, unsealed, verify};
use crate::publish::{POLICY_FILE, ProjectError, back_up};
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, BufRead, BufReader};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// How the name of a folder begins that a backup is unpacked into.
const BESIDE: &str = ".tacenda-restore";

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

/// Puts the state of a project back into a folder that has none. What is there of the policy's files stays as it is. A restore that
/// was killed is finished by the same again.
pub fn restore(project: &ProjectFolder, file: &Path) -> Result<BackupReport, UseCaseError> {
    let (root, keys) = (&project.root, keys(project)?);
    project.anchors.as_ref().map_or(Ok(()), |anchors| anchors.assert_outside(root))?;
    // What stands in for a lost anchor is read first: where it cannot be, nothing is put in place.
    let anchors = project.held_anchors()?;
    // A link that leads nowhere is in the way as well.
    let is_there = |name: &str| fs::symlink_metadata(root.join(name)).is_ok();
    let message = format!("{} has a project; restore into an empty folder: -C FOLDER", root.display());
    let taken = || UseCaseError::Exists(message.clone());
    if is_there(".tacenda") {
        return Err(taken());
    }
    fs::create_dir_all(root).map_err(UseCaseError::file(root))?;
    let beside = tempfile::Builder::new().prefix(BESIDE).tempdir_in(root).map_err(UseCaseError::file(root))?;
    let place = beside.path();
    let open = || {
        let opened = files::open(file);
        opened.map(BufReader::new).map_err(|source| KeyError::Disk { action: "read", path: file.into(), source })
    };
    let names = unpack(&RealDisk, &mut keys.decrypt_with_own(open)?, place)?;
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let store = Store::open_read(unsealed(disk, place, Some(keys))?, place)?;
    refuse_others(&store, place, &names, project.policy.as_deref())?;
    if let Some(fault) = verify(&store).into_iter().next() {
        return Err(fault.into());
    }
    let behind = match anchors.as_ref().and_then(|anchors| store.compare_with(anchors).err()) {
        Some(error @ (LedgerError::RolledBack { .. } | LedgerError::LacksRelease { .. })) => Some(error.to_string()),
        Some(error) => return Err(error.into()),
        None => None,
    };
    // A restore that was killed may have come as far as the releases.
    let (there, unpacked) = (root.join("releases"), place.join("releases"));
    if is_there("releases") && !is_same(&there, &unpacked).map_err(UseCaseError::file(&there))? {
        return Err(taken());
    }
    let report = report(file, &store, behind);
    put_back(place, root, &names)?;
    drop(beside);
    remove_left(root)?;
    Ok(report)
}

/// Removes what restores that were killed unpacked and did not put in place.
fn remove_left(root: &Path) -> Result<(), UseCaseError> {
    for entry in fs::read_dir(root).map_err(UseCaseError::file(root))?.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(BESIDE);
        if is_ours && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            fs::remove_dir_all(entry.path()).map_err(UseCaseError::file(&entry.path()))?;
        }
    }
    Ok(())
}

/// Whether two folders hold the same names and bytes, and no links.
fn is_same(one: &Path, other: &Path) -> io::Result<bool> {
    let (Ok(here), Ok(there)) = (fs::symlink_metadata(one), fs::symlink_metadata(other)) else { return Ok(false) };
    if here.is_file() && there.is_file() {
        return Ok(here.len() == there.len() && is_same_file(one, other)?);
    }
    if !here.is_dir() || !there.is_dir() {
        return Ok(false);
    }
    let names = |folder: &Path| -> io::Result<BTreeSet<OsString>> {
        fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect()
    };
    let found = names(one)?;
    if found != names(other)? {
        return Ok(false);
    }
    for name in found {
        if !is_same(&one.join(&name), &other.join(&name))? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn is_same_file(one: &Path, other: &Path) -> io::Result<bool> {
    let (mut one, mut other) = (BufReader::new(files::open(one)?), BufReader::new(files::open(other)?));
    loop {
        let (here, there) = (one.fill_buf()?, other.fill_buf()?);
        let length = here.len().min(there.len());
        if length == 0 || here[..length] != there[..length] {
            return Ok(here.is_empty() && there.is_empty());
        }
        one.consume(length);
        other.consume(length);
    }
}

/// Moves what was unpacked to where it belongs; the ledger and the vault last. What is there stays: it is the same, or the user's.
fn put_back(place: &Path, root: &Path, names: &[PathBuf]) -> Result<(), UseCaseError> {
    // A hidden file may command programs, so it is never put into a person's folder, whatever a policy names.
    for name in names.iter().filter(|name| !is_own(name) && !is_hidden(name) && !root.join(name).exists()) {
        let target = root.join(name);
        let parent = target.parent().expect("a file has a folder");
        fs::create_dir_all(parent).map_err(UseCaseError::file(parent))?;
        fs::rename(place.join(name), &target).map_err(UseCaseError::file(&target))?;
    }
    for own in ["releases", ".tacenda"] {
        if place.join(own).exists() && !root.join(own).exists() {
            fs::rename(place.join(own), root.join(own)).map_err(UseCaseError::file(root))?;
        }
    }
    Ok(RealDisk
        .sync_folder(root)
        .map_err(|error| LedgerError::disk("sync", root, error))
        .map_err(ProjectError::from)?)
}

/// Whether a file is one of those that the ledger answers for.
fn is_own(name: &Path) -> bool {
    [".tacenda", "releases"].iter().any(|own| name.starts_with(own))
}

/// Whether a file, or a folder on the way to it, is hidden.
fn is_hidden(name: &Path) -> bool {
    name.components().any(|part| part.as_os_str().to_string_lossy().starts_with('.'))
}

/// Refuses an archive with anything that a backup does not have. Anybody who knows the public key can make an archive, and what
/// it holds beside the project could be a file that other programs obey.
fn refuse_others(store: &Store, place: &Path, names: &[PathBuf], policy: Option<&Path>) -> Result<(), UseCaseError> {
    let own: BTreeSet<PathBuf> = store.packed().into_iter().map(PathBuf::from).collect();
    let beside: Vec<&Path> = names.iter().map(PathBuf::as_path).filter(|name| !is_own(name)).collect();
    let named = policy_in(&beside, policy).map_or_else(BTreeSet::new, |policy| named_by(place, policy));
    // Files of an adopted folder are named by their folder.
    let is_named = |name: &Path| name.ancestors().take(2).any(|path| named.contains(path));
    match names.iter().all(|name| own.contains(name) || (!is_own(name) && is_named(name))) {
        true => Ok(()),
        false => {
            let fault = "it holds files that no backup has, or its policy file has another name: then name that with \
                         --policy";
            Err(LedgerError::BadBackup { fault }.into())
        }
    }
}

/// The policy file of an archive: the one of the given name, or of the usual one, or the only one that can be one.
fn policy_in<'n>(beside: &[&'n Path], policy: Option<&Path>) -> Option<&'n Path> {
    let wanted = policy.and_then(Path::file_name);
    let is_toml = |name: &&&Path| name.extension().is_some_and(|ending| ending == "toml") && !is_hidden(name);
    let by_name = beside.iter().find(|name| wanted.is_some() && name.file_name() == wanted);
    let usual = || beside.iter().find(|name| **name == Path::new(POLICY_FILE));
    let only = || {
        let mut tables = beside.iter().filter(is_toml);
        tables.next().filter(|_| tables.next().is_none())
    };
    by_name.or_else(usual).or_else(only).copied()
}

/// A policy file and the paths that it has as texts, from the project folder. One that cannot be read names nothing.
fn named_by(place: &Path, policy: &Path) -> BTreeSet<PathBuf> {
    let mut named = BTreeSet::from([policy.to_path_buf()]);
    let folder = policy.parent().unwrap_or(Path::new(""));
    let text = files::read_text(&place.join(policy)).unwrap_or_default();
    let mut values: Vec<toml::Value> = text.parse::<toml::Table>().map(toml::Value::Table).into_iter().collect();
    while let Some(value) = values.pop() {
        match value {
            toml::Value::Table(table) => values.extend(table.into_iter().map(|(_, value)| value)),
            toml::Value::Array(more) => values.extend(more),
            toml::Value::String(text) => {
                let stays = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
                let is_plain = !text.is_empty() && Path::new(&text).components().all(stays);
                let whole = folder.join(&text);
                let parts = whole.components().filter(|part| matches!(part, Component::Normal(_)));
                named.extend(Some(parts.collect::<PathBuf>()).filter(|path| is_plain && !path.as_os_str().is_empty()));
            }
            _ => {}
        }
    }
    named
}

fn report(file: &Path, store: &Store, behind: Option<String>) -> BackupReport {
    let (series, releases, lines) = (store.series().to_string(), store.releases(), store.events().len());
    BackupReport { backup: file.into(), series, releases, lines, behind }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Anchors;
    use crate::use_cases::ReleaseRequest;
    use std::io::{Read, Write};

    const POLICY: &str = "policy = 1\n[series]\nname = 'wards'\n[columns]\nid = { role = 'identifier' }\n\
        age = { role = 'quasi', type = 'integer', domain = [0, 120] }\nillness = { role = 'sensitive', type = 'category' }\n\
        [promise]\nmodel = 'm-invariance'\nm = 2\n[counterfeits]\nmax_share = 0.5\n[withheld]\nmax_share = 0.5\n";

    /// An archive of an archive's files and of others, encrypted for the same people.
    fn with_more(keys: &KeyFolder, good: &Path, more: &[(&str, &str)], out: &Path) {
        let mut packed = Vec::new();
        let open = || Ok(BufReader::new(fs::File::open(good).unwrap()));
        keys.decrypt_with_own(open).unwrap().read_to_end(&mut packed).unwrap();
        let mut archive = tar::Builder::new(Vec::new());
        for entry in tar::Archive::new(&packed[..]).entries().unwrap() {
            let mut entry = entry.unwrap();
            let (mut header, name) = (entry.header().clone(), entry.path().unwrap().into_owned());
            archive.append_data(&mut header, name, &mut entry).unwrap();
        }
        for (name, text) in more {
            let mut header = tar::Header::new_gnu();
            header.set_size(text.len() as u64);
            header.set_mode(0o700);
            archive.append_data(&mut header, name, text.as_bytes()).unwrap();
        }
        let mut sealed = keys.encrypt_for_recipients(fs::File::create(out).unwrap()).unwrap();
        sealed.write_all(&archive.into_inner().unwrap()).unwrap();
        sealed.finish().unwrap();
    }

    /// Somebody who knows the public key makes an archive that opens, and adds to it what other programs obey.
    #[test]
    fn an_archive_with_more_than_a_backup_restores_nothing() {
        let house = tempfile::tempdir().unwrap();
        let place = |name: &str| house.path().join(name);
        let keys = KeyFolder::at(&place("keys"));
        let project = |name: &str| ProjectFolder {
            root: place(name),
            anchors: Some(Anchors::at(&place("anchors"))),
            keys: Some(keys.clone()),
            ..ProjectFolder::default()
        };
        fs::create_dir_all(place("project/trees")).unwrap();
        let policy = format!("{POLICY}[views.old]\nadopted = 'trees/.hidden.csv'\n");
        fs::write(place("project/tacenda.toml"), POLICY).unwrap();
        fs::write(place("project/trees/.hidden.csv"), "named by the policy").unwrap();
        let row = |id: usize| format!("p{id},{},{}\n", 20 + id % 50, ["flu", "gout", "asthma"][id % 3]);
        fs::write(place("table.csv"), format!("id,age,illness\n{}", (0..30).map(row).collect::<String>())).unwrap();
        let data = Some(crate::ingest::Given::Path(place("table.csv")));
        let request = ReleaseRequest { project: project("project"), data, ..ReleaseRequest::default() };
        request.prepare(None, &|_, _| {}).unwrap().publish(&|_, _| {}).unwrap();
        fs::write(place("project/tacenda.toml"), &policy).unwrap();
        backup(&project("project"), &place("good.age")).unwrap();
        for name in [
            ".git/hooks/post-checkout",
            ".bashrc",
            "Makefile",
            "more.toml",
            ".tacenda/staging/x",
            ".tacenda/vault/planned-x",
            ".tacenda/.gitignore",
            "releases/wards/r0001/more.csv",
        ] {
            with_more(&keys, &place("good.age"), &[(name, "a canary")], &place("bad.age"));
            let error = restore(&project("nothing"), &place("bad.age")).unwrap_err();
            assert_eq!((error.code(), error.exit_code()), ("L514", 5), "{name}: {error}");
            assert_eq!(fs::read_dir(place("nothing")).unwrap().count(), 0, "{name}");
        }
        // Without more it restores, and nothing hidden is put into the folder, though a policy names it.
        with_more(&keys, &place("good.age"), &[], &place("same.age"));
        restore(&project("restored"), &place("same.age")).unwrap();
        assert!(place("restored/tacenda.toml").is_file() && !place("restored/trees").exists());
    }
}
