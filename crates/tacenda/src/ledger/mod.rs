//! Ledger and vault: the only room that writes history to disk.
//!
//! A project folder holds three things. `.tacenda/ledger.jsonl` has one line per event, chained by hashes, and is safe
//! to show. `.tacenda/vault/` is private: identities, value sets, the last snapshot, the seed.
//! `releases/<series>/rNNNN/` holds what was published. To publish, the store writes and syncs the staged release
//! folder and the vault state, appends and syncs the ledger line, and renames the folder. The line is the commit:
//! before it there is no release, after it there is one, whatever crash comes.
//!
//! # Guarantee
//! When [`Store::commit`] has returned `Ok`, the release is there at every later open. Otherwise the next
//! [`Store::open_write`] finds either the whole old state or the whole new one. A damaged ledger or vault is an error
//! that names the file; it is never read as a shorter history.

mod error;
mod disk;
mod objects;
mod line;
mod columns;
mod vault;
mod head;
mod anchor;
mod receipt;
mod scratch;
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
pub use line::{
    Amendment, Approval, Delivery, Erasure, Event, FileDigest, Init, LineNumbers, Publication, PublishedTo, What,
};
pub use objects::{ObjectBody, Objects, ObjectsDisk, fetch};
pub use receipt::{Receipt, ReceiptRelease, Seen};
pub use reseal::{Reseal, ResealError, reseal};
pub use scratch::{Scratch, ScratchFile, ScratchReader, ScratchWriter};
pub use sealed::{SealedDisk, is_sealed, unsealed};
pub use staging::{StagedFile, Staging};
pub use store::{Commit, Forgotten, NewProject, Store};
pub use vault::People;
pub(crate) use vault::parts_of;
pub use verify::verify;
