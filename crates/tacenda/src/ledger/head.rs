//! The vault's record of how far the ledger went.
//!
//! `vault/head` is one line: the number of lines of the ledger, the hash of the last one, and the BLAKE3 hash of these
//! two words with the blank between them. It is updated by one rename after each append. So a ledger that lost its last
//! lines can be distinguished from one whose last line was cut short by a crash. It is written as `head.next.ATTEMPT`
//! before the line is appended, so after the commit only a rename is left to do.

use crate::ledger::line::NO_HASH;
use crate::ledger::vault::{VAULT, shown};
use crate::ledger::{Disk, LedgerError};
use crate::model::hex;
use std::io;
use std::path::Path;

pub(super) const HEAD: &str = "head";

/// The prefix of the names of prepared heads. Each writer adds its attempt, so two writers never prepare the same file.
pub(super) const NEXT: &str = "head.next";

/// How far the ledger went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub seq: u64,
    pub hash: String,
}

impl Head {
    /// The head before the first line.
    pub fn none() -> Head {
        Head { seq: 0, hash: NO_HASH.into() }
    }

    fn text(&self) -> String {
        let words = format!("{} {}", self.seq, self.hash);
        let check = hex(blake3::hash(words.as_bytes()).as_bytes());
        format!("{words} {check}\n")
    }

    /// Whether these bytes say so.
    pub fn is_written(&self, bytes: &[u8]) -> bool {
        bytes == self.text().as_bytes()
    }

    /// The recorded head, if there is one.
    pub fn read(disk: &dyn Disk, root: &Path) -> Result<Option<Head>, LedgerError> {
        let path = root.join(VAULT).join(HEAD);
        let bytes = match disk.read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(LedgerError::disk("read", &path, error)),
        };
        let parsed = std::str::from_utf8(&bytes).ok().and_then(|text| {
            let mut words = text.split(' ');
            let head = Head { seq: words.next()?.parse().ok()?, hash: words.next()?.to_string() };
            (head.text() == text).then_some(head)
        });
        parsed.map(Some).ok_or_else(|| LedgerError::Vault { file: shown(HEAD), fault: "it is damaged" })
    }

    /// Writes and syncs it beside the old one; the caller syncs the folder.
    pub fn prepare(&self, disk: &dyn Disk, root: &Path, attempt: &str) -> Result<(), LedgerError> {
        let path = root.join(VAULT).join(format!("{NEXT}.{attempt}"));
        let write = || {
            let mut file = disk.create(&path)?;
            file.write_all(self.text().as_bytes())?;
            file.sync_and_close()
        };
        write().map_err(|error| LedgerError::disk("write", &path, error))
    }

    /// Durably replaces the old head by the prepared one.
    pub fn take(disk: &dyn Disk, root: &Path, attempt: &str) -> Result<(), LedgerError> {
        let vault = root.join(VAULT);
        let path = vault.join(HEAD);
        disk.rename(&vault.join(format!("{NEXT}.{attempt}")), &path)
            .and_then(|()| disk.sync_folder(&vault))
            .map_err(|error| LedgerError::disk("rename", &path, error))
    }
}
