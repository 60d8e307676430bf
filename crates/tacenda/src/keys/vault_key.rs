//! The key of a vault: random, one a project, and wrapped for the people who may open it.
//!
//! A person opens vaults with an age identity in the folder of keys. A second one, for recovery, is made with the first: it
//! belongs in a safe, apart from the machine. Every project's key is wrapped for both, in a file that stock age opens too.
//!
//! | file | holds |
//! |---|---|
//! | `vault.key` | the age identity, alone or encrypted with a passphrase, as `age -p` writes it (0600) |
//! | `recovery.key` | the identity for recovery, until it is moved away (0600) |
//! | `vault.pub` | the recipients that keys of projects are wrapped for, one a line |

use crate::keys::age_file::{AgeError, AgeIdentity, AgeRecipient, Opener, VERSION, decrypt, encrypt_for, encrypt_with};
use crate::keys::stream::{ChunkReader, ChunkWriter};
use crate::keys::{KeyError, KeyFolder};
use std::fmt;
use std::io::{self, Read, Write};
use zeroize::Zeroizing;

const IDENTITY: &str = "vault.key";
const RECOVERY: &str = "recovery.key";
const RECIPIENTS: &str = "vault.pub";

/// The key that the files of a vault are encrypted with. Zeroised when dropped.
#[derive(Clone)]
pub struct VaultKey(Zeroizing<[u8; 32]>);

/// The identities that vaults are opened with.
#[derive(Clone, Debug)]
pub struct VaultIdentity {
    /// Whether the identity is encrypted with a passphrase.
    pub has_passphrase: bool,
    /// Whether the identity for recovery still lies beside it.
    pub recovery_is_here: bool,
}

impl VaultKey {
    /// A key that nobody knows.
    pub fn random() -> Result<VaultKey, KeyError> {
        let mut key = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *key).map_err(|_| KeyError::NoRandomness)?;
        Ok(VaultKey(key))
    }

    /// Its bytes.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// What it is called in the files it encrypts: tells it from another key, and nothing else of it.
    pub(crate) fn id(&self) -> [u8; 8] {
        let hash = blake3::Hasher::new_derive_key("tacenda vault key id").update(&*self.0).finalize();
        *hash.as_bytes().first_chunk().expect("a hash has 32 bytes")
    }

    /// What this key says of the one that takes its place. Only who has both can make it.
    pub(crate) fn tag_of(&self, next: &VaultKey) -> [u8; 32] {
        *self.tag(next).as_bytes()
    }

    /// Whether a tag says that this key is followed by that one. How much of it is right cannot be told from the time it takes.
    pub(crate) fn vouches_for(&self, next: &VaultKey, tag: &[u8]) -> bool {
        <[u8; 32]>::try_from(tag).is_ok_and(|tag| self.tag(next) == tag)
    }

    fn tag(&self, next: &VaultKey) -> blake3::Hash {
        blake3::Hasher::new_keyed(&self.0).update(b"next").update(&*next.0).finalize()
    }
}

impl fmt::Debug for VaultKey {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("VaultKey(…)")
    }
}

impl KeyFolder {
    /// The identities that vaults are opened with, as far as they are there.
    pub fn vault_identity(&self) -> Result<VaultIdentity, KeyError> {
        let has_passphrase = self.has(IDENTITY) && self.read(IDENTITY)?.starts_with(VERSION.as_bytes());
        Ok(VaultIdentity { has_passphrase, recovery_is_here: self.has(RECOVERY) })
    }

    /// Makes the identities that vaults are opened with, without a passphrase, unless they are there.
    pub fn make_vault_identity(&self) -> Result<(), KeyError> {
        if self.has_vault_identity() {
            return Ok(());
        }
        // Two programs may do this at once: whoever comes second takes the keys that are there.
        let mut recipients = String::new();
        for name in [IDENTITY, RECOVERY] {
            let made = AgeIdentity::random().map_err(|_| KeyError::NoRandomness)?;
            let own = match self.write_new(name, identity_text(&made).as_bytes())? {
                true => made,
                false => self.read_identity(name)?,
            };
            recipients += &format!("{}\n", own.recipient());
        }
        self.write(RECIPIENTS, recipients.as_bytes())
    }

    /// Whether there are identities to open vaults with.
    pub fn has_vault_identity(&self) -> bool {
        self.has(RECIPIENTS)
    }

    fn has(&self, name: &str) -> bool {
        self.path().join(name).exists()
    }

    /// Encrypts the identity with a passphrase, or takes the passphrase away.
    pub fn set_vault_passphrase(&self, passphrase: Option<&str>) -> Result<VaultIdentity, KeyError> {
        self.make_vault_identity()?;
        let text = identity_text(&self.read_identity(IDENTITY)?);
        let mut sealed = Vec::new();
        let written = match passphrase {
            None => return self.write(IDENTITY, text.as_bytes()).and_then(|()| self.vault_identity()),
            Some(passphrase) => encrypt_with(passphrase, &mut sealed).and_then(|out| write_whole(out, text.as_bytes())),
        };
        written.map_err(KeyError::disk("write", &self.path().join(IDENTITY)))?;
        self.write(IDENTITY, &sealed)?;
        self.vault_identity()
    }

    /// Wraps the key of a vault for everybody who may open it. One of them must be here: otherwise what is written next
    /// could never be read.
    pub fn wrap(&self, key: &VaultKey) -> Result<Vec<u8>, KeyError> {
        let mut wrapped = Vec::new();
        let out = self.encrypt_for_recipients(&mut wrapped)?;
        write_whole(out, key.bytes()).map_err(KeyError::disk("write", self.path()))?;
        self.unwrap(&wrapped)?;
        Ok(wrapped)
    }

    /// Encrypts what is written for everybody who may open the vaults of this user, as an age file.
    pub(crate) fn encrypt_for_recipients<W: Write>(&self, out: W) -> Result<ChunkWriter<W>, KeyError> {
        self.make_vault_identity()?;
        let file = self.path().join(RECIPIENTS);
        let damaged = || KeyError::Damaged { file: file.clone() };
        let text = String::from_utf8(self.read(RECIPIENTS)?).map_err(|_| damaged())?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let recipients = lines.map(AgeRecipient::parse).collect::<Option<Vec<_>>>();
        let recipients = recipients.filter(|recipients| !recipients.is_empty()).ok_or_else(damaged)?;
        encrypt_for(&recipients, out).map_err(KeyError::disk("write", &file))
    }

    /// The key of a vault, if one of the identities opens it. Asks for a passphrase, if it needs the identity that has one.
    pub fn unwrap(&self, wrapped: &[u8]) -> Result<VaultKey, KeyError> {
        let closed = || KeyError::NoVaultKey { folder: self.path().into() };
        let mut bytes = Zeroizing::new(Vec::new());
        self.decrypt_with_own(|| Ok(wrapped))?.read_to_end(&mut bytes).map_err(|_| closed())?;
        let key = <[u8; 32]>::try_from(&bytes[..]).map(Zeroizing::new).map_err(|_| closed())?;
        Ok(VaultKey(key))
    }

    /// Opens an age file with one of the identities. It is opened anew for each.
    pub(crate) fn decrypt_with_own<R: Read>(
        &self,
        open: impl Fn() -> Result<R, KeyError>,
    ) -> Result<ChunkReader<R>, KeyError> {
        // The one for recovery first: it has no passphrase, and who put it here may have lost the other one's.
        let here: Vec<&str> = [RECOVERY, IDENTITY].into_iter().filter(|name| self.has(name)).collect();
        // Both must be private, whichever opens it.
        here.iter().try_for_each(|name| self.read(name).map(Zeroizing::new).map(drop))?;
        for name in here {
            match decrypt(open()?, &Opener::Identity(&self.read_identity(name)?)) {
                Ok(reader) => return Ok(reader),
                Err(AgeError::Closed) => {}
                Err(AgeError::Damaged) => return Err(KeyError::NotAge),
                Err(AgeError::Io(source)) => {
                    return Err(KeyError::Disk { action: "read", path: self.path().join(name), source });
                }
            }
        }
        Err(KeyError::NoVaultKey { folder: self.path().into() })
    }

    fn read_identity(&self, name: &str) -> Result<AgeIdentity, KeyError> {
        let file = self.path().join(name);
        let mut bytes = Zeroizing::new(self.read(name)?);
        if bytes.starts_with(VERSION.as_bytes()) {
            let question = format!("Passphrase of the vault key in {}:", file.display());
            let passphrase = self.passphrase(name, &question)?;
            let mut opened = Zeroizing::new(Vec::new());
            let reader = decrypt(&bytes[..], &Opener::Passphrase(&passphrase)).map_err(|error| match error {
                AgeError::Closed => KeyError::WrongPassphrase { file: file.clone() },
                _ => KeyError::Damaged { file: file.clone() },
            });
            reader?.read_to_end(&mut opened).map_err(|_| KeyError::Damaged { file: file.clone() })?;
            bytes = opened;
        }
        let text = std::str::from_utf8(&bytes).ok();
        let line = text.and_then(|text| text.lines().map(str::trim).find(|line| line.starts_with("AGE-SECRET-KEY-")));
        line.and_then(AgeIdentity::parse).ok_or(KeyError::Damaged { file })
    }
}

/// An identity as the lines of its file, which are those of `age-keygen`.
fn identity_text(own: &AgeIdentity) -> Zeroizing<String> {
    Zeroizing::new(format!("# public key: {}\n{}\n", own.recipient(), *own.text()))
}

fn write_whole(mut out: ChunkWriter<impl Write>, text: &[u8]) -> io::Result<()> {
    out.write_all(text)?;
    out.finish().map(drop)
}
