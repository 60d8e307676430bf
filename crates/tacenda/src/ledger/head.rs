//! The vault's memory of how far the ledger went.
//!
//! `vault/head` is one line: how many lines the ledger has, the hash of the last, and the BLAKE3 hash
//! of those two words with the blank between them. It follows the ledger by one rename, so that a
//! ledger that lost its last lines is told from one whose last line a crash cut short. It is written
//! as `head.next.ATTEMPT` before the line is appended: after the commit nothing has to be written, only renamed.

use crate::ledger::line::NO_HASH;
use crate::ledger::vault::{VAULT, shown};
use crate::ledger::{Disk, LedgerError};
use crate::model::hex;
use std::io;
use std::path::Path;

pub(super) const HEAD: &str = "head";

/// How the names of prepared heads begin. Each writer adds its attempt: two of them never prepare the same file.
pub(super) const NEXT: &str = "head.next";

/// How far the ledger went.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Head {
    pub seq: u64,
    pub hash: String,
}

impl Head {
    /// Before the first line.
    pub fn none() -> Head {
        Head { seq: 0, hash: NO_HASH.into() }
    }

    fn text(&self) -> String {
        let words = format!("{} {}", self.seq, self.hash);
        let check = hex(blake3::hash(words.as_bytes()).as_bytes());
        format!("{words} {check}\n")
    }

    /// The head that is remembered, if any.
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

    /// Puts the prepared head in the place of the old one, durably.
    pub fn take(disk: &dyn Disk, root: &Path, attempt: &str) -> Result<(), LedgerError> {
        let vault = root.join(VAULT);
        let path = vault.join(HEAD);
        disk.rename(&vault.join(format!("{NEXT}.{attempt}")), &path)
            .and_then(|()| disk.sync_folder(&vault))
            .map_err(|error| LedgerError::disk("rename", &path, error))
    }
}
