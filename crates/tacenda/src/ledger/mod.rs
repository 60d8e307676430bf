//! Ledger and vault: the one room that writes history to disk.
//!
//! A project folder holds `.tacenda/ledger.jsonl` (one line per event, chained by hashes, safe to
//! show), `.tacenda/vault/` (private: who is who, value sets, the last snapshot, the seed) and
//! `releases/<series>/rNNNN/` (what left). A publish stages and syncs the release folder, writes and
//! syncs the vault state, appends and syncs the ledger line, and renames the folder. The line is the
//! commit: before it there is no release, after it there is one, whatever crash comes.
//!
//! # Guarantee
//! When [`Store::commit`] has returned `Ok`, the release is there at every later open. When it has
//! not, the next [`Store::open_write`] finds the old state or the new one, whole. A damaged ledger
//! or vault is an error that names the file; it is never read as a shorter history.

mod error;
mod disk;
mod line;
mod columns;
mod vault;
mod head;
mod anchor;
mod receipt;
mod staging;
mod sealed;
mod reseal;
mod store;
mod backup;
mod recover;
mod verify;

pub use anchor::{Anchor, Anchors};
pub use backup::unpack;
pub use disk::{Disk, DiskFile, FileKind, Folder, Lock, RealDisk, Status};
pub use error::LedgerError;
pub use line::{Amendment, Approval, Erasure, Event, FileDigest, Init, LineNumbers, Publication, PublishedTo, What};
pub use receipt::{Receipt, ReceiptRelease, Seen};
pub use reseal::{Reseal, ResealError, reseal};
pub use sealed::{SealedDisk, is_sealed, unsealed};
pub use staging::{StagedFile, Staging};
pub use store::{Commit, Forgotten, NewProject, Store};
pub use verify::verify;
