//! The folder of a person's keys, outside every project.
//!
//! | file | holds |
//! |---|---|
//! | `signing.key` | the secret signing key, as minisign writes it (0600) |
//! | `signing.pub` | its public half |
//! | `lineage.json` | the keys before it, each with the signature over the next |
//! | `retired-ID.key` | a secret key that was rotated out (0600) |

use crate::keys::{KeyError, PublicKey, Signer, Succession};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fmt, fs, io};
use zeroize::Zeroizing;

/// Asks a person the given question for a passphrase. `None` if nobody can be asked.
pub type AskPassphrase = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

const SECRET: &str = "signing.key";
const PUBLIC: &str = "signing.pub";
const LINEAGE: &str = "lineage.json";
const SIGNING_QUESTION: &str = "Passphrase of the signing key in";

/// A folder of keys, and whom to ask for passphrases.
#[derive(Clone)]
pub struct KeyFolder {
    folder: PathBuf,
    ask: Option<AskPassphrase>,
}

/// A key that was made.
#[derive(Clone, Debug)]
pub struct NewKey {
    /// Its public half.
    pub public: PublicKey,
    /// The id of the key before it.
    pub before: Option<String>,
    /// Whether the secret key is encrypted with a passphrase.
    pub has_passphrase: bool,
}

impl KeyFolder {
    /// A folder of the caller's choice. Nobody is asked for a passphrase.
    pub fn at(folder: &Path) -> KeyFolder {
        KeyFolder { folder: folder.into(), ask: None }
    }

    /// The folder of the user, in the user's configuration folder. `None` for a user without a home.
    pub fn of_user() -> Option<KeyFolder> {
        let named = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let configuration = named("XDG_CONFIG_HOME")
            .or_else(|| named("APPDATA"))
            .or_else(|| named("HOME").map(|home| home.join(".config")))?;
        Some(KeyFolder { folder: configuration.join("tacenda/keys"), ask: None })
    }

    /// The same, with a function that asks for passphrases.
    pub fn asking(self, ask: AskPassphrase) -> KeyFolder {
        KeyFolder { ask: Some(ask), ..self }
    }

    /// The same, with a function that is asked before the one that there is. It answers `None` where it does not know.
    pub fn asking_first(self, ask: AskPassphrase) -> KeyFolder {
        let before = self.ask.clone();
        self.asking(Arc::new(move |question| ask(question).or_else(|| before.as_ref()?(question))))
    }

    /// Whether a question is about the passphrase of the signing key.
    pub fn asks_for_signing(question: &str) -> bool {
        question.starts_with(SIGNING_QUESTION)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Makes the first signing key. Without a passphrase, anyone who can read the file can sign.
    pub fn create(&self, passphrase: Option<&str>) -> Result<NewKey, KeyError> {
        self.need_none()?;
        let (public, text) = generate(passphrase)?;
        self.write(SECRET, text.as_bytes())?;
        self.write(PUBLIC, public.file().as_bytes())?;
        Ok(NewKey { public, before: None, has_passphrase: passphrase.is_some() })
    }

    /// Makes a new signing key, signed by the old one, which is put aside.
    pub fn rotate(&self, passphrase: Option<&str>) -> Result<NewKey, KeyError> {
        let old = self.signer()?.ok_or_else(|| self.no_key())?;
        let before = old.public().id().to_string();
        let (public, text) = generate(passphrase)?;
        let mut lineage = old.introduction().lineage;
        lineage.push(Succession::new(&old, &public)?);
        let lineage = serde_json::to_string_pretty(&lineage).expect("texts become JSON") + "\n";
        // A crash after any of these steps leaves a working key, because a chain that continues beyond the key is cut
        // off there.
        self.write(LINEAGE, lineage.as_bytes())?;
        self.write(&format!("retired-{before}.key"), &self.read(SECRET)?)?;
        self.write(SECRET, text.as_bytes())?;
        self.write(PUBLIC, public.file().as_bytes())?;
        Ok(NewKey { public, before: Some(before), has_passphrase: passphrase.is_some() })
    }

    /// The public half of the signing key, without opening the secret one. `None` if there is no key.
    pub fn public(&self) -> Result<Option<PublicKey>, KeyError> {
        if !self.folder.join(SECRET).exists() {
            return Ok(None);
        }
        let bytes = self.read(PUBLIC)?;
        let damaged = || KeyError::Damaged { file: self.folder.join(PUBLIC) };
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
        PublicKey::parse(text).map(Some).map_err(|_| damaged())
    }

    /// The same if there must be a key.
    pub fn need_public(&self) -> Result<PublicKey, KeyError> {
        self.public()?.ok_or_else(|| self.no_key())
    }

    /// Refuses where there is a key already.
    pub fn need_none(&self) -> Result<(), KeyError> {
        match self.folder.join(SECRET).exists() {
            true => Err(KeyError::Exists { folder: self.folder.clone() }),
            false => Ok(()),
        }
    }

    /// The id of the key that signed the one that is there.
    pub fn follows(&self) -> Result<Option<String>, KeyError> {
        let public = self.need_public()?;
        let by = |link: &Succession| (link.public_key == public.text()).then(|| link.by.clone());
        Ok(self.lineage()?.iter().rev().find_map(by))
    }

    /// Whether the key that is there goes back to this one: each key signed the next. The public half of the first key is
    /// not here, so what that one signed is taken on trust; recipients check it.
    pub fn descends_from(&self, id: &str) -> Result<bool, KeyError> {
        let lineage = self.lineage()?;
        let mut key = self.need_public()?;
        // Nobody signed twice, so there are no more steps than links.
        for _ in &lineage {
            let Some(link) = lineage.iter().find(|link| link.public_key == key.text()) else { return Ok(false) };
            if link.by == id {
                return Ok(true);
            }
            let mut keys = lineage.iter().filter_map(|link| PublicKey::parse(&link.public_key).ok());
            let Some(before) = keys.find(|before| before.id() == link.by) else { return Ok(false) };
            if !link.is_by(&before, &key) {
                return Ok(false);
            }
            key = before;
        }
        Ok(false)
    }

    /// The keys so far, each signed by the one before.
    fn lineage(&self) -> Result<Vec<Succession>, KeyError> {
        let file = self.folder.join(LINEAGE);
        match file.exists() {
            true => serde_json::from_slice(&self.read(LINEAGE)?).map_err(|_| KeyError::Damaged { file }),
            false => Ok(Vec::new()),
        }
    }

    /// Whether the secret signing key is encrypted with a passphrase.
    pub fn has_passphrase(&self) -> Result<bool, KeyError> {
        Ok(self.secret()?.is_some_and(|secret| secret.is_encrypted()))
    }

    /// Opens the signing key. Asks for its passphrase, if it has one. `None` if there is no key.
    pub fn signer(&self) -> Result<Option<Signer>, KeyError> {
        let Some(locked) = self.secret()? else { return Ok(None) };
        let file = self.folder.join(SECRET);
        let damaged = || KeyError::Damaged { file: file.clone() };
        let text = locked.to_box(None).map_err(|_| damaged())?;
        let open = match locked.is_encrypted() {
            false => text.into_unencrypted_secret_key().map_err(|_| damaged())?,
            true => {
                let passphrase = self.passphrase(SECRET, &format!("{SIGNING_QUESTION} {}:", file.display()))?;
                let wrong = |_| KeyError::WrongPassphrase { file: file.clone() };
                text.into_secret_key(Some(passphrase.to_string())).map_err(wrong)?
            }
        };
        Signer::new(open, self.lineage()?).map(Some).ok_or_else(damaged)
    }

    /// Asks for the passphrase of a key file.
    pub(super) fn passphrase(&self, name: &str, question: &str) -> Result<Zeroizing<String>, KeyError> {
        let given = self.ask.as_ref().and_then(|ask| ask(question)).map(Zeroizing::new);
        given.ok_or_else(|| KeyError::NeedsPassphrase { file: self.folder.join(name) })
    }

    /// The secret signing key as stored, encrypted or not.
    fn secret(&self) -> Result<Option<minisign::SecretKey>, KeyError> {
        let file = self.folder.join(SECRET);
        if !file.exists() {
            return Ok(None);
        }
        let bytes = Zeroizing::new(self.read(SECRET)?);
        let damaged = || KeyError::Damaged { file: file.clone() };
        let text = std::str::from_utf8(&bytes).map_err(|_| damaged())?;
        let encoded = text.lines().nth(1).unwrap_or_default().trim();
        use base64::Engine;
        let raw = base64::engine::general_purpose::STANDARD.decode(encoded).map_err(|_| damaged())?;
        minisign::SecretKey::from_bytes(&Zeroizing::new(raw)).map(Some).map_err(|_| damaged())
    }

    fn no_key(&self) -> KeyError {
        KeyError::NoKey { folder: self.folder.clone() }
    }

    /// Opens the signing key, which must be there.
    pub fn need_signer(&self) -> Result<Signer, KeyError> {
        self.signer()?.ok_or_else(|| self.no_key())
    }

    /// Reads a file of the folder. A link, or a file that others may read, is refused.
    pub(super) fn read(&self, name: &str) -> Result<Vec<u8>, KeyError> {
        let path = self.folder.join(name);
        let found = fs::symlink_metadata(&path).map_err(KeyError::disk("read", &path))?;
        if !found.is_file() {
            return Err(KeyError::Damaged { file: path });
        }
        if name.ends_with(".key") && !is_private(&found) {
            return Err(KeyError::Loose { file: path });
        }
        // Others could put their own keys in.
        for open in [&path, &self.folder] {
            if fs::metadata(open).is_ok_and(|found| is_open(&found)) {
                return Err(KeyError::Open { file: open.clone() });
            }
        }
        fs::read(&path).map_err(KeyError::disk("read", &path))
    }

    /// Atomically writes a file of the folder that only its owner may read.
    pub(super) fn write(&self, name: &str, bytes: &[u8]) -> Result<(), KeyError> {
        let path = self.folder.join(name);
        let written = self.beside(bytes).and_then(|file| Ok(file.persist(&path).map(drop)?));
        written.map_err(KeyError::disk("write", &path))
    }

    /// The same where there is no such file. Says whether it was written.
    pub(super) fn write_new(&self, name: &str, bytes: &[u8]) -> Result<bool, KeyError> {
        let path = self.folder.join(name);
        let written = self.beside(bytes).and_then(|file| match file.persist_noclobber(&path) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        });
        written.map_err(KeyError::disk("write", &path))
    }

    /// A file without its name yet.
    fn beside(&self, bytes: &[u8]) -> io::Result<tempfile::NamedTempFile> {
        make_private(&self.folder)?;
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// A new key pair: the public half, and the text of the secret file.
fn generate(passphrase: Option<&str>) -> Result<(PublicKey, Zeroizing<String>), KeyError> {
    let pair = match passphrase {
        Some(passphrase) => minisign::KeyPair::generate_encrypted_keypair(Some(passphrase.into())),
        None => minisign::KeyPair::generate_unencrypted_keypair(),
    };
    let pair = pair.map_err(|_| KeyError::NoRandomness)?;
    let public = PublicKey::parse(&pair.pk.to_base64())?;
    let comment = format!("minisign secret key {}", public.id());
    let text = pair.sk.to_box(Some(&comment)).map_err(|_| KeyError::NoRandomness)?;
    Ok((public, Zeroizing::new(text.into_string())))
}

#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o077 == 0
}

/// Whether others may write it.
#[cfg(unix)]
fn is_open(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o022 != 0
}

// On other systems permissions are not bits, and the user's own folders are private.
#[cfg(not(unix))]
fn is_open(_found: &fs::Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_private(_found: &fs::Metadata) -> bool {
    true
}

impl fmt::Debug for KeyFolder {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "KeyFolder({})", self.folder.display())
    }
}
