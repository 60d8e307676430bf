//! The vault: encrypted, decrypted, moved to a new key.

use crate::keys::{KeyFolder, VaultIdentity};
use crate::ledger::{RealDisk, Reseal, is_sealed, reseal};
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;

/// What the vault commands answer with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct VaultReport {
    /// Whether the vault is encrypted now; absent where no project was asked about.
    pub encrypted: Option<bool>,
    /// How many files were written anew.
    pub files: usize,
    /// The folder with the key.
    pub keys: PathBuf,
    /// Whether the key was made just now.
    pub new_key: bool,
    /// Whether the key is encrypted with a passphrase.
    pub has_passphrase: bool,
    /// Whether the recovery key still lies beside it. It belongs elsewhere.
    pub recovery_is_here: bool,
}

/// Encrypts the vault of a project, decrypts it, or moves it to a new key. A crash in between leaves a vault that opens; the
/// same again goes on from there.
pub fn reseal_vault(project: &ProjectFolder, how: Reseal) -> Result<VaultReport, UseCaseError> {
    let Some(keys) = &project.keys else {
        return Err(UseCaseError::usage("there is no folder for keys; name one with --keys"));
    };
    let had_keys = keys.has_vault_identity();
    let files = reseal(Arc::new(RealDisk), &project.root, keys, how).map_err(crate::publish::ProjectError::from)?;
    let new_key = !had_keys && keys.has_vault_identity();
    let VaultIdentity { has_passphrase, recovery_is_here } = keys.vault_identity()?;
    let encrypted = Some(is_sealed(&RealDisk, &project.root));
    Ok(VaultReport { encrypted, files, keys: keys.path().into(), new_key, has_passphrase, recovery_is_here })
}

/// Encrypts the key that vaults are opened with by a passphrase, or takes the passphrase away.
pub fn set_vault_passphrase(keys: &KeyFolder, passphrase: Option<&str>) -> Result<VaultReport, UseCaseError> {
    let new_key = !keys.has_vault_identity();
    let VaultIdentity { has_passphrase, recovery_is_here } = keys.set_vault_passphrase(passphrase)?;
    let keys = keys.path().into();
    Ok(VaultReport { encrypted: None, files: 0, keys, new_key, has_passphrase, recovery_is_here })
}
