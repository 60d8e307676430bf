//! Which keys are trusted: those that a person names, and those that a trusted key signed at a rotation.

use crate::keys::public::signer_of;
use crate::keys::{KeyError, PublicKey};
use serde::{Deserialize, Serialize};

/// The introduction of a signing key, in the first ledger line that it signs and beside every release.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Introduction {
    /// Its id.
    pub key: String,
    /// Its public half; in the ledger only in the first line that it signs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub public_key: Option<String>,
    /// The keys before it, the oldest first: each signed the next.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<Succession>,
}

/// A key that an older one signed.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct Succession {
    /// The public half of the new key.
    pub public_key: String,
    /// The id of the key that signed it.
    pub by: String,
    /// The signature file over the new key's public key file.
    pub signature: String,
}

/// The trusted keys.
#[derive(Clone, Debug, Default)]
pub struct Trust {
    keys: Vec<PublicKey>,
}

impl Trust {
    /// Trusts the keys that a person named.
    pub fn new(named: &[PublicKey]) -> Trust {
        Trust { keys: named.to_vec() }
    }

    /// Whether no key was named. Then signatures cannot be checked.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Adds the keys that a trusted key signed, and those that these signed.
    pub fn follow(&mut self, introduction: &Introduction) {
        for link in &introduction.lineage {
            let Ok(key) = PublicKey::parse(&link.public_key) else { continue };
            let is_signed = |by: &PublicKey| {
                by.id() == link.by && by.check_file(&link.by, key.file().as_bytes(), &link.signature).is_ok()
            };
            if !self.keys.contains(&key) && self.keys.iter().any(is_signed) {
                self.keys.push(key);
            }
        }
    }

    /// The trusted key of this id.
    pub fn find(&self, what: &str, id: &str) -> Result<&PublicKey, KeyError> {
        let stranger = || KeyError::Stranger { what: what.into(), key: id.into() };
        self.keys.iter().find(|key| key.id() == id).ok_or_else(stranger)
    }

    /// Checks a signature file over `bytes` with the trusted key that made it. Returns the key's id and the comment.
    pub fn check_file(&self, what: &str, bytes: &[u8], signature: &str) -> Result<(String, String), KeyError> {
        let id = signer_of(signature).ok_or_else(|| KeyError::BadSignature { what: what.into() })?;
        let comment = self.find(what, &id)?.check_file(what, bytes, signature)?;
        Ok((id, comment))
    }
}
