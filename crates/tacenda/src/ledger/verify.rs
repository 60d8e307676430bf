//! Checking a project: the chain, every file of the vault, every published file.

use crate::ledger::store::release_name;
use crate::ledger::vault::{VAULT, shown};
use crate::ledger::{Disk, LedgerError, Publication, Store, recover};
use crate::model::hex;
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

const CHANGED: &str = "is not what was published; restore the published file from a backup or from a recipient";
const MISSING: &str = "is missing; restore the published file from a backup or from a recipient";
const STRAY: &str = "was never published; move it out of the release folder";

/// Checks everything on the disk that the ledger relies on, the vault only if it exists and as far as it opens, and that
/// release folders hold nothing else. Returns every fault, in the order of the files.
pub fn verify(store: &Store) -> Vec<LedgerError> {
    let mut faults = damage(store);
    store.publications().for_each(|publication| find_strays(store, publication, &mut faults));
    faults
}

/// What the ledger relies on and is not there, or is not what it was.
pub(super) fn damage(store: &Store) -> Vec<LedgerError> {
    let mut faults = Vec::new();
    let looked = match store.has_vault() {
        true => recover::look(&*store.disk, &store.root),
        false => recover::look_outside(&*store.disk, &store.root),
    };
    faults.extend(looked.err());
    match store.vault() {
        Ok(vault) => faults.extend(store.state().keys().filter_map(|name| vault.read(store.state(), name).err())),
        Err(_) => faults.extend(missing(store)),
    }
    for publication in store.publications() {
        verify_release(store, publication, &mut faults);
    }
    faults
}

/// The files that the last line names and a vault that stays closed does not have. Digests are of what the files hold, so nothing
/// more can be seen without the key. Of a vault that is not here, or that nobody here may look into, nothing is missing.
fn missing(store: &Store) -> Vec<LedgerError> {
    let there = store.disk.list(&store.root.join(VAULT)).ok().filter(|_| store.has_vault_folder());
    let Some(there) = there else { return Vec::new() };
    let lost = store.state().keys().filter(|name| !there.contains(name));
    lost.map(|name| LedgerError::VaultMissing { file: shown(name) }).collect()
}

impl Store {
    /// Refuses a release folder that is not the published one. `list` is the file with the checksums of all others.
    /// Every reader of the folder checks it, so its own checksum is enough here. A folder without it is checked file by
    /// file.
    pub fn vouch(&self, number: u32, list: &str) -> Result<(), LedgerError> {
        let publication = self.publications().find(|publication| publication.number == number);
        let publication = publication.expect("the caller asks about a release of this ledger");
        self.compare(publication, |name| name == list || !publication.files.contains_key(list))
    }

    /// Refuses a release folder that is not the published one, file by file: for readers of one file who check no list.
    pub fn vouch_whole(&self, number: u32) -> Result<(), LedgerError> {
        let publication = self.publications().find(|publication| publication.number == number);
        self.compare(publication.expect("the caller asks about a release of this ledger"), |_| true)
    }

    /// What is wrong with a release folder, by the ledger: files that are changed, missing or were never published.
    pub fn faults_of(&self, number: u32) -> Vec<LedgerError> {
        let mut faults = Vec::new();
        for publication in self.publications().filter(|publication| publication.number == number) {
            verify_release(self, publication, &mut faults);
            find_strays(self, publication, &mut faults);
        }
        faults
    }

    /// Refuses to go on from a last release that is not the published one, file by file. One that was moved away does no harm.
    pub fn vouch_last(&self) -> Result<(), LedgerError> {
        let Some(last) = self.publications().last() else { return Ok(()) };
        let folder = self.release_folder(last.number);
        match self.disk.exists(&folder).map_err(|error| LedgerError::disk("read", &folder, error))? {
            true => self.compare(last, |_| true),
            false => Ok(()),
        }
    }

    /// Refuses a release folder where one of the wanted files is not the published one.
    fn compare(&self, publication: &Publication, wanted: impl Fn(&str) -> bool) -> Result<(), LedgerError> {
        let path = self.release_folder(publication.number);
        for (name, digest) in publication.files.iter().filter(|(name, _)| wanted(name)) {
            let file = format!("{}/{name}", release_name(self.series(), publication.number));
            match hash(&*self.disk, &path.join(name)) {
                Ok((sha256, _)) if sha256 == digest.sha256 => {}
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(LedgerError::disk("read", &path.join(name), error));
                }
                _ => return Err(LedgerError::ReleaseFile { file, fault: CHANGED }),
            }
        }
        Ok(())
    }
}

impl Store {
    /// Refuses a project with a release folder that is not the published one, as far as the lists of checksums tell. A folder
    /// that was moved away does no harm to what follows.
    pub fn vouch_all(&self, list: &str) -> Result<(), LedgerError> {
        let listed = self.publications().filter(|publication| publication.files.contains_key(list));
        for number in listed.map(|publication| publication.number) {
            let folder = self.release_folder(number);
            if self.disk.exists(&folder).map_err(|error| LedgerError::disk("read", &folder, error))? {
                self.vouch(number, list)?;
            }
        }
        Ok(())
    }
}

fn verify_release(store: &Store, publication: &Publication, faults: &mut Vec<LedgerError>) {
    let folder = release_name(store.series(), publication.number);
    let path = store.root.join(&folder);
    let there = match store.disk.list(&path) {
        Ok(names) => names,
        Err(error) => return faults.push(LedgerError::disk("list", &path, error)),
    };
    if there.is_empty() {
        // After a crash, or during a publish, the last release may still be staged.
        let staged = recover::staged_folder(&store.root, publication);
        let is_staged = publication.number == store.releases() && store.disk.exists(&staged).unwrap_or(false);
        let missing = LedgerError::MissingRelease { folder };
        return faults.push(match is_staged {
            true => LedgerError::Unfinished { seq: store.events.len() as u64, source: Box::new(missing) },
            false => missing,
        });
    }
    for (name, digest) in &publication.files {
        let file = format!("{folder}/{name}");
        match hash(&*store.disk, &path.join(name)) {
            Ok((sha256, bytes)) if sha256 == digest.sha256 && bytes == digest.bytes => {}
            Ok(_) => faults.push(LedgerError::ReleaseFile { file, fault: CHANGED }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                faults.push(LedgerError::ReleaseFile { file, fault: MISSING });
            }
            Err(error) => faults.push(LedgerError::disk("read", &path.join(name), error)),
        }
    }
}

/// Finds what lies in a release folder and was never published. A folder that cannot be listed is damage, and told as such.
fn find_strays(store: &Store, publication: &Publication, faults: &mut Vec<LedgerError>) {
    let folder = release_name(store.series(), publication.number);
    let there = store.disk.list(&store.root.join(&folder)).unwrap_or_default();
    let strays = there.iter().filter(|name| !publication.files.contains_key(*name));
    faults.extend(strays.map(|name| LedgerError::ReleaseFile { file: format!("{folder}/{name}"), fault: STRAY }));
}

fn hash(disk: &dyn Disk, path: &Path) -> io::Result<(String, u64)> {
    let mut file = disk.open(path)?;
    let mut hasher = Sha256::new();
    let bytes = io::copy(&mut file, &mut hasher)?;
    Ok((hex(&hasher.finalize()), bytes))
}
