//! An opened secret key, ready to sign.

use crate::keys::public::{PublicKey, pre_authentication, untrusted_comment};
use crate::keys::{Introduction, KeyError, Succession};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey};
use std::fmt;
use zeroize::Zeroizing;

/// The position of the secret in the bytes of a minisign key: the seed, then the public half.
const SECRET: std::ops::Range<usize> = 62..126;

/// An opened secret key. It signs files in the format of minisign, and texts in that of DSSE.
pub struct Signer {
    secret: minisign::SecretKey,
    /// Zeroised when dropped.
    raw: SigningKey,
    public: PublicKey,
    lineage: Vec<Succession>,
}

impl Signer {
    /// Opens a decrypted key. `None` if it is not a valid key.
    pub(super) fn new(secret: minisign::SecretKey, lineage: Vec<Succession>) -> Option<Signer> {
        let bytes = Zeroizing::new(secret.to_bytes());
        let pair: Zeroizing<[u8; 64]> = Zeroizing::new(bytes.get(SECRET)?.try_into().ok()?);
        let raw = SigningKey::from_keypair_bytes(&pair).ok()?;
        let public = minisign::PublicKey::from_secret_key(&secret).ok()?;
        let public = PublicKey::parse(&public.to_base64()).ok()?;
        // After a crash, the chain may end with a key that was never stored.
        let end = lineage.iter().rposition(|link| link.public_key == public.text()).map_or(0, |at| at + 1);
        let lineage = lineage[..end].to_vec();
        Some(Signer { secret, raw, public, lineage })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// The introduction of this key, with the chain of keys before it.
    pub fn introduction(&self) -> Introduction {
        let public_key = Some(self.public.text().into());
        Introduction { key: self.public.id().into(), public_key, lineage: self.lineage.clone() }
    }

    /// A signature file over `bytes`. The comment is signed too; it has no line breaks.
    pub fn sign_file(&self, bytes: &[u8], comment: &str) -> Result<String, KeyError> {
        let comment: String = comment.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
        let untrusted = untrusted_comment(self.public.id());
        // Only the random numbers that harden the signature can fail.
        minisign::sign(None, &self.secret, bytes, Some(comment.trim()), Some(&untrusted))
            .map(minisign::SignatureBox::into_string)
            .map_err(|_| KeyError::NoRandomness)
    }

    /// A signature over `bytes` of some kind, in base64.
    pub fn sign(&self, kind: &str, bytes: &[u8]) -> String {
        STANDARD.encode(self.raw.sign(&pre_authentication(kind, bytes)).to_bytes())
    }
}

impl fmt::Debug for Signer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Signer({})", self.public.id())
    }
}
