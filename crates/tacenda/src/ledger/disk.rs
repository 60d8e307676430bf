//! The little that is asked of a disk, as a trait, so that a test can be the failing disk.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Write};
#[cfg(unix)]
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::{fs, io};

/// A file being written.
pub trait DiskFile: Write + Send {
    /// Makes what was written durable, and closes the file. Its name is durable once its folder is synced.
    fn sync_and_close(self: Box<Self>) -> io::Result<()>;
}

/// Who may look into a new folder.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Folder {
    /// Whoever the system's defaults allow.
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
    /// A new file; one that is there is emptied.
    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>>;
    /// Adds bytes to the end of a file that exists, and syncs it.
    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;
    /// Cuts a file to `len` bytes, and syncs it.
    fn truncate(&self, path: &Path, len: u64) -> io::Result<()>;
    /// Gives a file or folder another name, all at once. A file of that name is replaced.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove_file(&self, path: &Path) -> io::Result<()>;
    /// Removes a folder and everything in it.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;
    /// Makes a folder, and those above it, unless they are there.
    fn create_folder(&self, path: &Path, kind: Folder) -> io::Result<()>;
    /// Makes the names in a folder durable.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;
    /// The names in a folder, sorted. None where the folder is not there.
    fn list(&self, path: &Path) -> io::Result<Vec<String>>;
    /// Whether there is something of that name.
    fn exists(&self, path: &Path) -> io::Result<bool>;
    /// Takes a lock that lasts as long as what is returned; `None` where another holds it.
    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>>;
}

/// The file system.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl DiskFile for File {
    fn sync_and_close(self: Box<Self>) -> io::Result<()> {
        self.sync_all()
    }
}

impl Disk for RealDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(File::open(path)?))
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        // What is in the vault stays private even where the folder is copied.
        #[cfg(unix)]
        if path.components().any(|part| part.as_os_str() == "vault") {
            options.mode(0o600);
        }
        Ok(Box::new(options.open(path)?))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().append(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
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
        if kind == Folder::Private {
            use std::os::unix::fs::DirBuilderExt;
            builder.mode(0o700);
        }
        #[cfg(not(unix))]
        let _ = kind;
        builder.create(path)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    // Elsewhere a folder cannot be opened, and the file system keeps names in order by itself.
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

    fn try_lock(&self, path: &Path) -> io::Result<Option<Box<dyn Send + Sync>>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Box::new(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
