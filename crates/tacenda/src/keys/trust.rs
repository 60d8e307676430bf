//! Which keys are trusted: those that a person names, and those that a trusted key signed at a rotation.

use crate::keys::public::signer_of;
use crate::keys::{KeyError, PublicKey, Signer};
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

impl Succession {
    /// The old key names the new one as its successor.
    pub(super) fn new(old: &Signer, key: &PublicKey) -> Result<Succession, KeyError> {
        let signature = old.sign_file(key.file().as_bytes(), &succession(old.public(), key))?;
        Ok(Succession { public_key: key.text().into(), by: old.public().id().into(), signature })
    }

    /// Whether `by` named `key` as its successor. A signature over the file of somebody else's key may mean anything: that it was
    /// checked, or when it arrived. So the comment, which is signed too, must say what is meant.
    pub(super) fn is_by(&self, by: &PublicKey, key: &PublicKey) -> bool {
        let comment = by.check_file(&self.by, key.file().as_bytes(), &self.signature);
        by.id() == self.by && comment.is_ok_and(|comment| comment == succession(by, key))
    }
}

/// The comment of a signature that names a successor.
fn succession(old: &PublicKey, new: &PublicKey) -> String {
    format!("tacenda key {} follows {}", new.id(), old.id())
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

    /// Adds the keys that a trusted key named as its successors, and those that these named.
    pub fn follow(&mut self, introduction: &Introduction) {
        for link in &introduction.lineage {
            let Ok(key) = PublicKey::parse(&link.public_key) else { continue };
            if !self.keys.contains(&key) && self.keys.iter().any(|by| link.is_by(by, &key)) {
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
