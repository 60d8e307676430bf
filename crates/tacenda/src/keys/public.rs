//! A public key, and what it can check.

use crate::keys::KeyError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};
use std::path::Path;
use std::{fmt, io};

/// The unsigned comment line of our signature files. It is fixed, so that no byte can be changed unnoticed.
pub(crate) fn untrusted_comment(id: &str) -> String {
    format!("signature from tacenda key {id}")
}

/// The public half of a signing key, as minisign writes it.
#[derive(Clone)]
pub struct PublicKey {
    text: String,
    id: String,
    minisign: minisign::PublicKey,
    raw: VerifyingKey,
}

impl PublicKey {
    /// Reads a key: its 56 characters, alone or below a line of comment.
    pub fn parse(text: &str) -> Result<PublicKey, KeyError> {
        let last = text.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
        let wrong = || KeyError::NotAKey { what: shown(text) };
        let minisign = minisign::PublicKey::from_base64(last).map_err(|_| wrong())?;
        let bytes = minisign.to_bytes();
        let raw = bytes.get(10..42).and_then(|raw| raw.try_into().ok()).ok_or_else(wrong)?;
        let raw = VerifyingKey::from_bytes(raw).map_err(|_| wrong())?;
        if bytes[..2] != *b"Ed" || raw.is_weak() {
            return Err(wrong());
        }
        let mut id = minisign.keynum().to_vec();
        id.reverse();
        let id = crate::model::hex(&id).to_uppercase();
        Ok(PublicKey { text: last.into(), id, minisign, raw })
    }

    /// A key given on the command line: a file, or the key itself.
    pub fn named(words: &str) -> Result<PublicKey, KeyError> {
        match crate::files::read_text(Path::new(words)) {
            Ok(text) => PublicKey::parse(&text).map_err(|_| KeyError::NotAKey { what: words.into() }),
            Err(source) if source.kind() == io::ErrorKind::InvalidInput => {
                Err(KeyError::Disk { action: "read", path: words.into(), source })
            }
            Err(_) => PublicKey::parse(words),
        }
    }

    /// Its 56 characters.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Its id as minisign prints it: 16 hexadecimal digits.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The file that minisign reads.
    pub fn file(&self) -> String {
        format!("untrusted comment: minisign public key {}\n{}\n", self.id, self.text)
    }

    /// Checks a signature file over `bytes`, ours or minisign's. Returns the signed comment.
    pub fn check_file(&self, what: &str, bytes: &[u8], signature: &str) -> Result<String, KeyError> {
        let bad = || KeyError::BadSignature { what: what.into() };
        let parsed = minisign::SignatureBox::from_string(signature).map_err(|_| bad())?;
        // Base64 can be written in several ways; only one is accepted.
        if parsed.to_string() != signature {
            return Err(bad());
        }
        minisign::verify(&self.minisign, &parsed, std::io::Cursor::new(bytes), true, false, false)
            .map_err(|_| bad())?;
        parsed.trusted_comment().map_err(|_| bad())
    }

    /// Checks a signature over `bytes` of some kind, as [`super::Signer::sign`] makes it.
    pub fn check(&self, what: &str, kind: &str, bytes: &[u8], signature: &str) -> Result<(), KeyError> {
        let bad = || KeyError::BadSignature { what: what.into() };
        let signature = STANDARD.decode(signature).ok().and_then(|bytes| Signature::from_slice(&bytes).ok());
        let signature = signature.ok_or_else(bad)?;
        self.raw.verify_strict(&pre_authentication(kind, bytes), &signature).map_err(|_| bad())
    }
}

/// The id of the key that made a signature file.
pub(super) fn signer_of(signature: &str) -> Option<String> {
    let parsed = minisign::SignatureBox::from_string(signature).ok()?;
    let mut id = parsed.keynum().to_vec();
    id.reverse();
    Some(crate::model::hex(&id).to_uppercase())
}

/// The bytes to sign for a text of some kind: DSSE's encoding, so that a signature of one kind is not valid for
/// another.
pub(super) fn pre_authentication(kind: &str, bytes: &[u8]) -> Vec<u8> {
    let mut text = format!("DSSEv1 {} {kind} {} ", kind.len(), bytes.len()).into_bytes();
    text.extend_from_slice(bytes);
    text
}

/// A given text, shortened for an error.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    match line.chars().count() > 60 {
        true => line.chars().take(60).chain(['…']).collect(),
        false => line.into(),
    }
}

impl PartialEq for PublicKey {
    fn eq(&self, other: &PublicKey) -> bool {
        self.text == other.text
    }
}

impl Eq for PublicKey {}

impl fmt::Debug for PublicKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "PublicKey({})", self.id)
    }
}
