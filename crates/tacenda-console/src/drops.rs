//! What is dropped on a page: files in a private folder that goes with the server.
//!
//! A server that was killed leaves its folder; the next one removes it. A folder in use is told by a lock.

use crate::door::secret;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// The most bytes of one file.
const MOST_BYTES: u64 = 1 << 30;

/// The most bytes of all files together.
const MOST_IN_ALL: u64 = 4 << 30;

const PREFIX: &str = "tacenda-console-";

/// The lists that files are dropped on.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum List {
    /// Private tables.
    Tables,
    /// Releases to audit, in order.
    Audit,
    /// Private tables behind the audited releases, in order.
    Truth,
}

impl List {
    /// All lists.
    pub const ALL: [List; 3] = [List::Tables, List::Audit, List::Truth];

    /// Its word in an address.
    pub fn word(self) -> &'static str {
        match self {
            List::Tables => "tables",
            List::Audit => "audit",
            List::Truth => "truth",
        }
    }

    /// The list of a word.
    pub fn named(word: &str) -> Option<List> {
        List::ALL.into_iter().find(|list| list.word() == word)
    }
}

/// A dropped file.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Dropped {
    /// Its number in its list; it gives the order.
    pub number: u32,
    /// Its name, as the browser gave it, but for letters that mean something to a file system.
    pub name: String,
    /// Where it lies.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
}

/// The private folder.
#[derive(Debug)]
pub struct Drops {
    folder: PathBuf,
    /// Held as long as the folder is in use.
    _lock: File,
    is_of_root: bool,
    /// The most bytes of one file, and of all together.
    pub most: (u64, u64),
}

impl Drops {
    /// A new private folder. Folders of servers that are gone are removed.
    pub fn open() -> io::Result<Drops> {
        remove_left(&env::temp_dir());
        let folder = env::temp_dir().join(format!("{PREFIX}{}", secret()));
        make_private(&folder)?;
        let lock = File::create(folder.join("lock"))?;
        lock.try_lock().map_err(io::Error::other)?;
        for list in List::ALL {
            make_private(&folder.join(list.word()))?;
        }
        let is_of_root = is_of_root(&folder)?;
        Ok(Drops { folder, _lock: lock, is_of_root, most: (MOST_BYTES, MOST_IN_ALL) })
    }

    /// Whether the server runs as root: the owner of what it made is asked.
    pub fn is_of_root(&self) -> bool {
        self.is_of_root
    }

    /// A place for what the console keeps for itself.
    pub fn own(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// The files of a list, in order.
    pub fn list(&self, list: List) -> Vec<Dropped> {
        let numbers = fs::read_dir(self.folder.join(list.word())).into_iter().flatten().flatten();
        let file = |entry: fs::DirEntry| {
            let number = entry.file_name().to_str()?.parse().ok()?;
            let inside = fs::read_dir(entry.path()).ok()?.flatten().next()?;
            let bytes = inside.metadata().ok()?.len();
            Some(Dropped { number, name: inside.file_name().to_str()?.into(), path: inside.path(), bytes })
        };
        let mut files: Vec<Dropped> = numbers.filter_map(file).collect();
        files.sort_by_key(|file| file.number);
        files
    }

    /// A place for a new file at the end of a list. The file does not exist yet.
    pub fn place(&self, list: List, name: &str) -> io::Result<PathBuf> {
        let number = self.list(list).last().map_or(1, |last| last.number + 1);
        let folder = self.folder.join(list.word()).join(number.to_string());
        make_private(&folder)?;
        Ok(folder.join(plain_name(name)))
    }

    /// Takes a file off its list.
    pub fn forget(&self, list: List, number: u32) {
        let _ = fs::remove_dir_all(self.folder.join(list.word()).join(number.to_string()));
    }

    /// Moves a file one place up its list.
    pub fn move_up(&self, list: List, number: u32) -> io::Result<()> {
        let files = self.list(list);
        let Some(at) = files.iter().position(|file| file.number == number).filter(|at| *at > 0) else { return Ok(()) };
        let folder = |name: &str| self.folder.join(list.word()).join(name);
        let (here, before) = (number.to_string(), files[at - 1].number.to_string());
        fs::rename(folder(&here), folder("moving"))?;
        fs::rename(folder(&before), folder(&here))?;
        fs::rename(folder("moving"), folder(&before))
    }

    /// How many bytes the next file may have.
    pub fn room(&self) -> u64 {
        self.most.1.saturating_sub(self.bytes()).min(self.most.0)
    }

    fn bytes(&self) -> u64 {
        List::ALL.into_iter().flat_map(|list| self.list(list)).map(|file| file.bytes).sum()
    }

    /// Removes the folder with everything in it.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Drop for Drops {
    fn drop(&mut self) {
        self.remove();
    }
}

/// A name without a path, without what a shell or a sheet name would read, and not too long.
fn plain_name(name: &str) -> String {
    let last = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |letter: char| if letter.is_alphanumeric() || "-_. ".contains(letter) { letter } else { '_' };
    let name: String = last.chars().map(plain).take(100).collect();
    match name.trim_start_matches(['.', ' ', '-']) {
        "" => "table".into(),
        name => name.into(),
    }
}

/// Makes a folder that only its owner can open.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

#[cfg(unix)]
fn is_of_root(folder: &Path) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::uid(&fs::metadata(folder)?) == 0)
}

#[cfg(not(unix))]
fn is_of_root(_: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Removes folders whose server is gone: nobody holds their lock. Folders of other users cannot be opened, and stay.
fn remove_left(temporary: &Path) {
    for entry in fs::read_dir(temporary).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_ours || !is_folder {
            continue;
        }
        if let Ok(lock) = File::options().write(true).open(entry.path().join("lock"))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_leads_nowhere_else() {
        let names = [
            ("../../etc/passwd", "passwd"),
            ("C:\\people\\q1.csv", "q1.csv"),
            ("q1.xlsx#Sheet2", "q1.xlsx_Sheet2"),
            ("<img src=x>.csv", "_img src_x_.csv"),
            ("..", "table"),
            ("-rf.csv", "rf.csv"),
            ("Zählung 2026.csv", "Zählung 2026.csv"),
        ];
        for (given, name) in names {
            assert_eq!(plain_name(given), name, "{given}");
        }
        assert_eq!(plain_name(&"a".repeat(500)).len(), 100);
    }

    #[test]
    fn files_are_listed_in_order_moved_and_forgotten_and_the_folder_goes() {
        let drops = Drops::open().unwrap();
        for name in ["a.csv", "b.csv", "c.csv"] {
            fs::write(drops.place(List::Audit, name).unwrap(), name).unwrap();
        }
        let names = |drops: &Drops| drops.list(List::Audit).into_iter().map(|file| file.name).collect::<Vec<_>>();
        drops.move_up(List::Audit, 3).unwrap();
        drops.move_up(List::Audit, 1).unwrap();
        assert_eq!(names(&drops), ["a.csv", "c.csv", "b.csv"]);
        drops.forget(List::Audit, 1);
        assert_eq!((names(&drops), drops.bytes()), (vec!["c.csv".to_string(), "b.csv".into()], 10));
        let folder = drops.folder.clone();
        drop(drops);
        assert!(!folder.exists());
    }

    #[test]
    fn what_a_killed_server_left_is_removed_and_a_running_one_keeps_its_own() {
        let place = tempfile::tempdir().unwrap();
        let (left, used) = (place.path().join("tacenda-console-a"), place.path().join("tacenda-console-b"));
        for folder in [&left, &used] {
            fs::create_dir(folder).unwrap();
            fs::write(folder.join("lock"), "").unwrap();
        }
        let lock = File::options().write(true).open(used.join("lock")).unwrap();
        lock.try_lock().unwrap();
        remove_left(place.path());
        assert!(!left.exists() && used.exists());
    }
}
