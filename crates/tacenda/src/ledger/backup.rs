//! A project's state in one archive, and the way back.
//!
//! The archive is a tar file: the ledger, what its last line relies on in the vault, as it lies there, every release, and files
//! that the caller adds. Whoever packs it encrypts it. Anybody can encrypt something for a reader, so an archive is not
//! trusted: it is unpacked beside the project, names that lead elsewhere are refused, and the ledger is checked as always.

use crate::ledger::head::HEAD;
use crate::ledger::line::LEDGER;
use crate::ledger::sealed::KEY_FILES;
use crate::ledger::store::release_name;
use crate::ledger::vault::VAULT;
use crate::ledger::verify::damage;
use crate::ledger::{Disk, Folder, LedgerError, Store};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

impl Store {
    /// The files of ours that a backup may have, from the project folder: the ledger, what its last line relies on, and every
    /// release.
    pub fn packed(&self) -> Vec<String> {
        let mut names = vec![LEDGER.to_string()];
        for name in [HEAD].into_iter().chain(KEY_FILES).chain(self.state().keys().map(String::as_str)) {
            names.push(format!("{VAULT}/{name}"));
        }
        for publication in self.publications() {
            let folder = release_name(self.series(), publication.number);
            names.extend(publication.files.keys().map(|name| format!("{folder}/{name}")));
        }
        names
    }

    /// Packs the project as it was committed. It is checked first: a damaged project would give a backup that nobody can
    /// restore, found out too late. `disk` is the one below encryption: sealed files stay sealed. `more` are
    /// files from the project folder that belong to it, such as the policy.
    ///
    /// # Panics
    /// If the project is open for reading: a writer might change it meanwhile.
    pub fn pack(&self, disk: &dyn Disk, more: &[PathBuf], out: &mut dyn Write) -> Result<u64, LedgerError> {
        self.assert_writer();
        if let Some(fault) = damage(self).into_iter().next() {
            return Err(self.or_overtaken(fault));
        }
        let mut names: Vec<String> = more.iter().map(|path| path.display().to_string()).collect();
        names.extend(self.packed());
        let mut archive = tar::Builder::new(out);
        let mut packed = 0;
        for name in names {
            let path = self.root.join(&name);
            let bytes = match disk.read(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && may_lack(&name) => continue,
                read => read.map_err(|error| LedgerError::disk("read", &path, error))?,
            };
            let mut header = tar::Header::new_gnu();
            header.set_size(bytes.len() as u64);
            header.set_mode(0o600);
            let added = archive.append_data(&mut header, &name, &bytes[..]);
            added.map_err(|error| LedgerError::disk("write", &path, error))?;
            packed += 1;
        }
        let finished = archive.into_inner().and_then(|out| out.flush());
        finished.map_err(|error| LedgerError::disk("write", &self.root, error))?;
        Ok(packed)
    }
}

/// No path that we pack is longer.
const LONGEST_NAME: u64 = 4096;

/// Whether a project may do without a file: a vault in the clear has no keys, and a next key only while it is rekeyed.
fn may_lack(name: &str) -> bool {
    Path::new(name).strip_prefix(VAULT).is_ok_and(|name| KEY_FILES.iter().any(|key| name == Path::new(key)))
}

/// Unpacks an archive into a folder that nobody uses yet. Returns the names of its files.
pub fn unpack(disk: &dyn Disk, input: &mut dyn Read, into: &Path) -> Result<Vec<PathBuf>, LedgerError> {
    let unread = |error: io::Error| match error.kind() {
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof | io::ErrorKind::Other => {
            LedgerError::BadBackup { fault: "it is damaged, or no backup" }
        }
        _ => LedgerError::disk("read", into, error),
    };
    let (mut names, mut folders) = (Vec::new(), BTreeSet::from([into.to_path_buf()]));
    let mut archive = tar::Archive::new(&mut *input);
    // Raw: the names that do not fit into a header are read here, because theirs may be of any length.
    let mut long_name = None;
    for entry in archive.entries().map_err(unread)?.raw(true) {
        let mut entry = entry.map_err(unread)?;
        if entry.header().entry_type().is_gnu_longname() && long_name.is_none() && entry.size() <= LONGEST_NAME {
            let mut text = String::new();
            entry.read_to_string(&mut text).map_err(unread)?;
            long_name = Some(PathBuf::from(text.trim_end_matches('\0')));
            continue;
        }
        let name = long_name.take().map_or_else(|| entry.path().map(Cow::into_owned), Ok).map_err(unread)?;
        let stays_inside = name.components().all(|part| matches!(part, Component::Normal(_)));
        if !stays_inside || !entry.header().entry_type().is_file() || name.as_os_str().is_empty() {
            return Err(LedgerError::BadBackup { fault: "it holds something that does not belong into a project" });
        }
        let path = into.join(&name);
        let parent = path.parent().expect("a file has a folder");
        let kind = if name.starts_with(VAULT) { Folder::Private } else { Folder::Plain };
        let faulty = |error| LedgerError::disk("write", &path, error);
        disk.create_folder(parent, kind).map_err(faulty)?;
        let mut file = disk.create(&path).map_err(faulty)?;
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = match entry.read(&mut buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read.map_err(unread)?,
            };
            if read == 0 {
                break;
            }
            file.write_all(&buffer[..read]).map_err(faulty)?;
        }
        file.sync_and_close().map_err(faulty)?;
        folders.extend(name.ancestors().skip(1).map(|folder| into.join(folder)));
        names.push(name);
    }
    // Names are kept by their folders: power may be lost right after this.
    for folder in folders {
        disk.sync_folder(&folder).map_err(|error| LedgerError::disk("sync", &folder, error))?;
    }
    // Only at its end is an encrypted text known to be whole.
    io::copy(&mut input.take(1 << 20), &mut io::sink()).map_err(unread)?;
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::RealDisk;

    fn archive(name: &str, kind: tar::EntryType) -> Vec<u8> {
        let mut archive = tar::Builder::new(Vec::new());
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(1);
        archive.append_data(&mut header, name, &b"x"[..]).unwrap();
        archive.into_inner().unwrap()
    }

    fn unpacked(bytes: &[u8]) -> Result<Vec<PathBuf>, LedgerError> {
        let folder = tempfile::tempdir().unwrap();
        unpack(&RealDisk, &mut &bytes[..], &folder.path().join("into"))
    }

    /// What a header cannot hold of a name comes before it, and may be as long as the archive.
    #[test]
    fn a_name_is_as_long_as_a_path_and_no_longer() {
        let named = |length: usize| ["12345678"; 600].join("/")[..length].to_string();
        for length in [1, 98, 100, 101, 300] {
            let names = unpacked(&archive(&named(length), tar::EntryType::Regular)).unwrap();
            assert_eq!(names, [PathBuf::from(named(length))]);
        }
        let error = unpacked(&archive(&named(5000), tar::EntryType::Regular)).unwrap_err();
        assert_eq!(error.code(), "L514");
        // A file with holes is larger than the archive.
        for kind in [tar::EntryType::GNUSparse, tar::EntryType::Symlink, tar::EntryType::XHeader, tar::EntryType::Fifo]
        {
            assert_eq!(unpacked(&archive("data", kind)).unwrap_err().code(), "L514", "{kind:?}");
        }
    }
}
