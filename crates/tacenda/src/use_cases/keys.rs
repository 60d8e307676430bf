//! The user's signing key: made, shown, rotated.

use crate::keys::{KeyFolder, NewKey};
use crate::use_cases::UseCaseError;
use schemars::JsonSchema;
use serde::Serialize;
use std::path::PathBuf;

/// The answer of the key commands.
#[derive(Debug, JsonSchema, Serialize)]
pub struct KeyReport {
    /// The folder of keys.
    pub folder: PathBuf,
    /// The id of the key.
    pub key: String,
    /// The public key. Give it to recipients separately from any release.
    pub public_key: String,
    /// Whether the secret key is encrypted with a passphrase.
    pub has_passphrase: bool,
    /// The id of the key that signed this one.
    pub follows: Option<String>,
}

/// Makes the first signing key. Without a passphrase, anyone who can read the file can sign.
pub fn new_key(keys: &KeyFolder, passphrase: Option<&str>) -> Result<KeyReport, UseCaseError> {
    Ok(report(keys, keys.create(passphrase)?))
}

/// Makes a new signing key that the old one signs.
pub fn rotate_key(keys: &KeyFolder, passphrase: Option<&str>) -> Result<KeyReport, UseCaseError> {
    Ok(report(keys, keys.rotate(passphrase)?))
}

/// The signing key that there is. Its secret half stays closed.
pub fn show_key(keys: &KeyFolder) -> Result<KeyReport, UseCaseError> {
    let public = keys.need_public()?;
    let before = keys.follows()?;
    Ok(report(keys, NewKey { public, before, has_passphrase: keys.has_passphrase()? }))
}

fn report(keys: &KeyFolder, key: NewKey) -> KeyReport {
    KeyReport {
        folder: keys.path().into(),
        key: key.public.id().into(),
        public_key: key.public.text().into(),
        has_passphrase: key.has_passphrase,
        follows: key.before,
    }
}
