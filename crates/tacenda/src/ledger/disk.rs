//! The few operations that are needed from a disk, as a trait, so that a test can provide a failing disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes what was written durable, and closes the file. Its name is durable once its folder is synced.
    fn sync_and_close(self: Box<Self>) -> io::Result<()>;

    /// Closes a file that need not outlive a crash.
    fn close(self: Box<Self>) -> io::Result<()> {
        self.sync_and_close()
    }
}

/// A lock that is held as long as this lives.
pub trait Lock: Send + Sync {
    /// Whether the lock's file is still the one that was locked. A person who thinks it is stale may have removed it.
    fn is_held(&self) -> io::Result<bool>;
}

/// The status of a path. Links are never followed.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Status {
    /// What is there.
    pub kind: FileKind,
    /// Whether only its owner may read or write it.
    pub is_private: bool,
}

/// What a path can be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum FileKind {
    /// Nothing.
    Absent,
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link, a pipe, a socket or a device.
    Other,
}

/// Who may look into a new folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Folder {
    /// Anyone whom the system's defaults allow.
    Plain,
    /// Only its owner.
    Private,
}

/// What the ledger room needs from a disk. Nothing is durable before it is synced: contents by
/// [`DiskFile::sync_and_close`], [`Disk::append`] and [`Disk::truncate`], names by [`Disk::sync_folder`].
pub trait Disk: Send + Sync {
    /// The whole content of a file.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;
    /// A file to be read from its beginning.
    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>>;
    /// Creates a file; an existing one is emptied. A link is refused.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Adds bytes to the end of a file that exists, and syncs it.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to `len` bytes, and syncs it.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Renames a file or folder atomically. An existing file of the new name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and everything in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes a folder and its parents, unless they exist.
    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder, sorted. Empty if the folder does not exist.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Whether there is something of that name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// The status of a path.
    fn status(&self, path: &Path) -> io::Result<Status>;
    /// Whether everybody on the machine may write it. Where there are no such permissions, nobody.
    fn may_all_write(&self, _path: &Path) -> bool {
        false
    }
    /// Whether it opens files of the vault that are encrypted.
    fn opens_vault(&self) -> bool {
        false
    }
    /// Takes a lock that lasts as long as what is returned; `None` where another holds it.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>>;
}

impl fmt::Debug for dyn Disk {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("Disk(…)")
    }
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl DiskFile for File {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        self.sync_all()
    }

    fn close(self: Box<Self>) -> io::Result<()> {
        Ok(())
    }
}

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        refuse_odd(path)?;
        fs::read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        refuse_odd(path)?;
        Ok(Box::new(File::open(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        refuse_odd(path)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // Files of the vault stay private even if the folder is copied. No file is everybody's to write, whatever the umask.
        #[cfg(unix)]
        options.mode(if path.components().any(|part| part.as_os_str() == "vault") { 0o600 } else { 0o664 });
        Ok(Box::new(options.open(path)?))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        refuse_odd(path)?;
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        refuse_odd(path)?;
        let file = OpenOptions::new().write(true).open(path)?;
        file.set_len(len)?;
        file.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()> {
        let mut builder = fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt;
            // What is published may be read by all. No folder is everybody's to write, whatever the umask.
            builder.mode(if kind == Folder::Private { 0o700 } else { 0o775 });
        }
        #[cfg(not(unix))]
        let _ = kind;
        builder.create(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    // On other systems a folder cannot be opened, and the file system orders names itself.
    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let entries = match fs::read_dir(path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut names = entries
            .map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()))
            .collect::<io::Result<Vec<String>>>()?;
        names.sort_unstable();
        Ok(names)
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn status(&self, path: &Path) -> io::Result<Status> {
        let found = match fs::symlink_metadata(path) {
            Ok(found) => found,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(Status { kind: FileKind::Absent, is_private: true });
            }
            Err(error) => return Err(error),
        };
        let kind = match found.file_type() {
            kind if kind.is_file() => FileKind::File,
            kind if kind.is_dir() => FileKind::Folder,
            _ => FileKind::Other,
        };
        Ok(Status { kind, is_private: is_private(&found) })
    }

    fn may_all_write(&self, path: &Path) -> bool {
        may_all_write(path)
    }

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Lock>>> {
        refuse_odd(path)?;
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).write(true);
        #[cfg(unix)]
        options.mode(0o664);
        let file = options.open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(FileLock { file, path: path.into() }))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// The lock of the file system.
struct FileLock {
    file: File,
    path: PathBuf,
}

impl Lock for FileLock {
    #[cfg(unix)]
    fn is_held(&self) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;
        let ours = self.file.metadata()?;
        match fs::symlink_metadata(&self.path) {
            Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    // On other systems an open file cannot be removed.
    #[cfg(not(unix))]
    fn is_held(&self) -> io::Result<bool> {
        self.file.metadata()?;
        self.path.try_exists()
    }
}

/// Refuses a link, which leads out of the project, and a pipe, which may never end. A missing file is fine.
fn refuse_odd(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(found) if !found.is_file() && !found.is_dir() => {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a symbolic link or no regular file"))
        }
        _ => Ok(()),
    }
}

#[cfg(unix)]
fn is_private(found: &fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    found.permissions().mode() & 0o077 == 0
}

// On other systems permissions are not bits, and the user's own folders are private.
#[cfg(not(unix))]
fn is_private(_found: &fs::Metadata) -> bool {
    true
}

/// Whether everybody may write what is there. What is not there is nobody's.
#[cfg(unix)]
pub(super) fn may_all_write(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o002 != 0)
}

#[cfg(not(unix))]
pub(super) fn may_all_write(_path: &Path) -> bool {
    false
}
