//! Moves a vault from one key to another: from none to one, from one to none, or to a new one.
//!
//! Every file is written anew beside the old one and renamed. The key that files may still need stays readable until the last
//! of them has moved, so a crash at any moment leaves a vault that opens. Running the same again goes on from there. The
//! digests in the ledger are of what the files hold, so they stay right.

use crate::keys::{KeyError, KeyFolder, VaultKey};
use crate::ledger::sealed::{KEY, NEXT_KEY, NEXT_TAG, RESEALED, SealedDisk, keys_of};
use crate::ledger::vault::VAULT;
use crate::ledger::{Disk, LedgerError, Store, vault};
use std::path::Path;
use std::sync::Arc;

/// What becomes of a vault.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Reseal {
    /// It is encrypted, if it is not.
    Lock,
    /// It is decrypted, if it is encrypted.
    Unlock,
    /// It is encrypted with a new key.
    Rekey,
}

/// Why a vault cannot be moved to another key.
#[derive(Debug)]
pub enum ResealError {
    /// A key is at fault.
    Key(KeyError),
    /// The ledger, the vault or the disk is.
    Ledger(LedgerError),
}

impl From<KeyError> for ResealError {
    fn from(error: KeyError) -> ResealError {
        ResealError::Key(error)
    }
}

impl From<LedgerError> for ResealError {
    fn from(error: LedgerError) -> ResealError {
        ResealError::Ledger(error)
    }
}

/// Moves the vault of the project in `root` to another key, or to none. Says how many files were written anew.
pub fn reseal(disk: Arc<dyn Disk>, root: &Path, keys: &KeyFolder, how: Reseal) -> Result<usize, ResealError> {
    let mut found = keys_of(&*disk, root, keys)?;
    let opened: Arc<dyn Disk> = match found.first().cloned() {
        Some(writes) => Arc::new(SealedDisk::between(Arc::clone(&disk), found.clone(), Some(writes))),
        None => Arc::clone(&disk),
    };
    // Opening for writing takes the lock, and removes what a crash left.
    let store = Store::open_write(opened, root)?;
    // What is damaged stays as it is: sealed anew, it could not be told from what was written.
    let vault = store.vault()?;
    store.state().keys().try_for_each(|name| vault.read(store.state(), name).map(drop))?;
    let writes = match how {
        Reseal::Unlock => None,
        Reseal::Lock if found.is_empty() => Some(new_key(&*disk, root, keys, &mut found)?),
        // A rekey that a crash stopped goes on with the key that it has begun with.
        Reseal::Rekey if found.len() < 2 => Some(new_key(&*disk, root, keys, &mut found)?),
        Reseal::Lock | Reseal::Rekey => found.first().cloned(),
    };
    let moved = move_files(SealedDisk::between(disk, found, writes), root)?;
    finish(&store, root, how)?;
    Ok(moved)
}

/// Makes a key, and writes it into the vault before any file needs it. The key that is there vouches for it first: a next
/// key without that is refused.
fn new_key(disk: &dyn Disk, root: &Path, keys: &KeyFolder, found: &mut Vec<VaultKey>) -> Result<VaultKey, ResealError> {
    let key = VaultKey::random()?;
    let wrapped = keys.wrap(&key)?;
    match found.first() {
        None => write_key(disk, root, KEY, &wrapped)?,
        Some(old) => {
            write_key(disk, root, NEXT_TAG, &old.tag_of(&key))?;
            write_key(disk, root, NEXT_KEY, &wrapped)?;
        }
    }
    found.insert(0, key.clone());
    Ok(key)
}

/// Writes a wrapped key into the vault, durably, whole or not at all: half a key would close the vault.
pub(super) fn write_key(disk: &dyn Disk, root: &Path, name: &str, wrapped: &[u8]) -> Result<(), LedgerError> {
    let vault = root.join(VAULT);
    let (path, beside) = (vault.join(name), vault.join(format!("{name}{RESEALED}")));
    let write = || {
        let mut file = disk.create(&beside)?;
        file.write_all(wrapped)?;
        file.sync_and_close()?;
        disk.rename(&beside, &path)?;
        disk.sync_folder(&vault)
    };
    write().map_err(|error| LedgerError::disk("write", &path, error))
}

/// Writes every file of the vault anew.
fn move_files(disk: SealedDisk, root: &Path) -> Result<usize, LedgerError> {
    let folder = root.join(VAULT);
    let names = disk.list(&folder).map_err(|error| LedgerError::disk("list", &folder, error))?;
    let names: Vec<String> = names.into_iter().filter(|name| vault::is_sealable(name)).collect();
    for name in &names {
        let (path, beside) = (folder.join(name), folder.join(format!("{name}{RESEALED}")));
        let bytes = disk.read(&path).map_err(|error| vault::unread(name, &path, error))?;
        let write = || {
            let mut file = disk.create(&beside)?;
            file.write_all(&bytes)?;
            file.sync_and_close()?;
            disk.rename(&beside, &path)
        };
        write().map_err(|error| LedgerError::disk("write", &path, error))?;
    }
    disk.sync_folder(&folder).map_err(|error| LedgerError::disk("sync", &folder, error))?;
    Ok(names.len())
}

/// Every file has moved: only the key that they need stays.
fn finish(store: &Store, root: &Path, how: Reseal) -> Result<(), LedgerError> {
    let folder = root.join(VAULT);
    let [key, next, tag] = [KEY, NEXT_KEY, NEXT_TAG].map(|name| folder.join(name));
    let disk = &store.disk;
    let exists = |path: &Path| disk.exists(path).map_err(|error| LedgerError::disk("read", path, error));
    let sync = || disk.sync_folder(&folder).map_err(|error| LedgerError::disk("sync", &folder, error));
    let remove = |path: &Path| match exists(path)? {
        true => disk.remove_file(path).map_err(|error| LedgerError::disk("remove", path, error)),
        false => Ok(()),
    };
    // Each step is on the disk before the one after it: a next key without its tag, or without the key, is refused.
    if how == Reseal::Unlock {
        remove(&next)?;
        sync()?;
        remove(&key)?;
    } else if exists(&next)? {
        disk.rename(&next, &key).map_err(|error| LedgerError::disk("rename", &key, error))?;
    }
    sync()?;
    remove(&tag)?;
    sync()
}
