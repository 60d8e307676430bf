//! A disk that encrypts the vault: whatever is written there is sealed, and what is read is opened.
//!
//! A sealed file is a header and chunks. The header has 16 bytes `tacenda-vault-2` and a line feed, 8 bytes that tell the key
//! from others, and 19 random bytes, the nonce. The chunks are encrypted with XChaCha20-Poly1305 in the STREAM construction,
//! so that none can be cut off, moved or repeated. Associated with each chunk are the header and the name of the file, which
//! has the release's number in it: a file under another name, or of another release, cannot be opened.
//!
//! The key lies elsewhere. `vault/key.age` is the project's key, wrapped for those who may open it. `vault/head` says how many
//! lines the ledger has and stays readable. What is not sealed yet is read as it is, so that an older vault goes on.

use crate::keys::{ChunkReader, ChunkWriter, Chunks, KeyError, KeyFolder, VaultKey};
use crate::ledger::head::HEAD;
use crate::ledger::vault::VAULT;
use crate::ledger::{Disk, DiskFile, Folder, Lock, Status};
use std::io::{self, Cursor, Read, Write};
use std::path::Path;
use std::sync::Arc;

/// The wrapped key, in the vault; and the next one, while files move from one to the other.
pub(super) const KEY: &str = "key.age";
pub(super) const NEXT_KEY: &str = "key.next.age";

/// What the key says of the next one. Anybody who knows the recipients can wrap a key of their own, and only who has the key
/// of the vault can make this.
pub(super) const NEXT_TAG: &str = "key.next.tag";

/// The files of keys, in the order in which they are written.
pub(super) const KEY_FILES: [&str; 3] = [KEY, NEXT_TAG, NEXT_KEY];

/// How the names of files end that are being sealed anew.
pub(super) const RESEALED: &str = ".resealed";

const MAGIC: &[u8; 16] = b"tacenda-vault-2\n";
const NONCE: usize = 19;
const HEADER: usize = MAGIC.len() + 8 + NONCE;

/// A disk whose vault is sealed.
pub struct SealedDisk {
    inner: Arc<dyn Disk>,
    /// Every key that files may be sealed with.
    keys: Vec<VaultKey>,
    /// The one that new files are sealed with; none for a vault that is being unlocked.
    writes: Option<VaultKey>,
}

impl SealedDisk {
    /// Seals with a key.
    pub fn new(inner: Arc<dyn Disk>, key: VaultKey) -> SealedDisk {
        SealedDisk { inner, keys: vec![key.clone()], writes: Some(key) }
    }

    /// Reads what these keys seal, and seals with `writes`, or not at all.
    pub(super) fn between(inner: Arc<dyn Disk>, keys: Vec<VaultKey>, writes: Option<VaultKey>) -> SealedDisk {
        SealedDisk { inner, keys, writes }
    }
}

/// The keys of a project's vault, the one to write with first. None where it is not sealed. A next key that the present one
/// does not vouch for is refused: somebody else may know it.
pub(super) fn keys_of(disk: &dyn Disk, root: &Path, keys: &KeyFolder) -> Result<Vec<VaultKey>, KeyError> {
    let read = |name: &str| {
        let path = root.join(VAULT).join(name);
        match disk.read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(KeyError::Disk { action: "read", path, source }),
        }
    };
    let key = read(KEY)?.map(|wrapped| keys.unwrap(&wrapped)).transpose()?;
    let Some(wrapped) = read(NEXT_KEY)? else { return Ok(key.into_iter().collect()) };
    let foreign = || KeyError::Foreign { file: root.join(VAULT).join(NEXT_KEY) };
    // Without the key there is nobody to ask.
    let key = key.ok_or_else(foreign)?;
    let next = keys.unwrap(&wrapped).map_err(|error| match error {
        KeyError::NoVaultKey { .. } | KeyError::NotAge => foreign(),
        other => other,
    })?;
    match read(NEXT_TAG)?.is_some_and(|tag| key.vouches_for(&next, &tag)) {
        true => Ok(vec![next, key]),
        false => Err(foreign()),
    }
}

/// The disk to open a project with: one that opens its vault, if that is sealed. Without keys it stays closed.
pub fn unsealed(disk: Arc<dyn Disk>, root: &Path, keys: Option<&KeyFolder>) -> Result<Arc<dyn Disk>, KeyError> {
    let Some(keys) = keys else { return Ok(disk) };
    let found = keys_of(&*disk, root, keys)?;
    Ok(match found.first().cloned() {
        Some(writes) => Arc::new(SealedDisk::between(disk, found, Some(writes))),
        None => disk,
    })
}

/// Whether a project's vault is sealed.
pub fn is_sealed(disk: &dyn Disk, root: &Path) -> bool {
    [KEY, NEXT_KEY].iter().any(|name| disk.exists(&root.join(VAULT).join(name)).unwrap_or(false))
}

/// Whether bytes are those of a sealed file.
pub(super) fn looks_sealed(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// The name that a file of the vault is sealed under; `None` for what stays as it is.
fn sealed_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let name = name.strip_suffix(RESEALED).unwrap_or(name);
    let is_in_vault = path.parent().is_some_and(|folder| folder.ends_with(VAULT));
    let stays = KEY_FILES.contains(&name) || name == HEAD || name.starts_with("head.next");
    (is_in_vault && !stays).then_some(name)
}

/// What encrypts the chunks of a file. Bound to each are its header and its name.
fn chunks(header: &[u8; HEADER], name: &str, key: &VaultKey) -> Chunks {
    let nonce = header.last_chunk::<NONCE>().expect("a header ends with the nonce");
    Chunks::of_vault(key.bytes(), *nonce, [&header[..], name.as_bytes()].concat())
}

/// A file being sealed.
struct SealedFile(ChunkWriter<Box<dyn DiskFile>>);

impl SealedFile {
    fn new(mut file: Box<dyn DiskFile>, key: &VaultKey, name: &str) -> io::Result<SealedFile> {
        let mut header = [0; HEADER];
        header[..MAGIC.len()].copy_from_slice(MAGIC);
        header[MAGIC.len()..HEADER - NONCE].copy_from_slice(&key.id());
        getrandom::fill(&mut header[HEADER - NONCE..]).map_err(io::Error::other)?;
        file.write_all(&header)?;
        Ok(SealedFile(ChunkWriter::new(file, chunks(&header, name, key))))
    }
}

impl Write for SealedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl DiskFile for SealedFile {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        self.0.finish()?.sync_and_close()
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        self.0.finish()?.close()
    }
}

impl SealedDisk {
    /// Opens the bytes of a sealed file; what is not sealed is left as it is.
    fn open_sealed(&self, bytes: Vec<u8>, name: &str) -> io::Result<Vec<u8>> {
        if !looks_sealed(&bytes) {
            return Ok(bytes);
        }
        let (header, sealed) = bytes.split_first_chunk::<HEADER>().ok_or_else(|| closed("it is cut short"))?;
        let mut opened = Vec::with_capacity(sealed.len());
        ChunkReader::new(sealed, self.chunks_of(header, name)?).read_to_end(&mut opened)?;
        Ok(opened)
    }

    /// What decrypts the chunks of a file with this header.
    fn chunks_of(&self, header: &[u8; HEADER], name: &str) -> io::Result<Chunks> {
        let id = &header[MAGIC.len()..HEADER - NONCE];
        let key = self.keys.iter().find(|key| key.id() == id);
        Ok(chunks(header, name, key.ok_or_else(|| closed("it is encrypted with another key"))?))
    }
}

/// The error of a file that stays closed.
fn closed(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_string())
}

impl Disk for SealedDisk {
    fn opens_vault(&self) -> bool {
        true
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.inner.read(path)?;
        match sealed_name(path) {
            Some(name) => self.open_sealed(bytes, name),
            None => Ok(bytes),
        }
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        let mut file = self.inner.open(path)?;
        let Some(name) = sealed_name(path) else { return Ok(file) };
        let mut header = Vec::with_capacity(HEADER);
        file.by_ref().take(HEADER as u64).read_to_end(&mut header)?;
        if !looks_sealed(&header) {
            return Ok(Box::new(Cursor::new(header).chain(file)));
        }
        let header = header.first_chunk::<HEADER>().ok_or_else(|| closed("it is cut short"))?;
        Ok(Box::new(ChunkReader::new(file, self.chunks_of(header, name)?)))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let file = self.inner.create(path)?;
        match (sealed_name(path), &self.writes) {
            (Some(name), Some(key)) => Ok(Box::new(SealedFile::new(file, key, name)?)),
            _ => Ok(file),
        }
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.inner.append(path, bytes)
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.inner.truncate(path, len)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.inner.rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.inner.remove_folder(path)
    }

    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()> {
        self.inner.create_folder(path, kind)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.inner.sync_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.inner.list(path)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        self.inner.exists(path)
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        self.inner.status(path)
    }

    fn may_all_write(&self, path: &Path) -> bool {
        self.inner.may_all_write(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        self.inner.try_lock(path)
    }
}
