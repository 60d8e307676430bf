//! Everyone after a release, on disk, until the vault has them.

use crate::ledger::{LedgerError, People, ScratchFile};
use crate::model::{Record, RecordKey, Schema, Table};
use crate::publish::on_disk::{OnDisk, rows};
use std::ops::Range;

/// The records after a release, by part of the snapshot.
#[derive(Debug, Default)]
pub(in crate::publish) struct NextPeople {
    pub(super) records: Vec<Option<ScratchFile>>,
}

/// What is handed to the vault.
pub(in crate::publish) struct Everyone<'a> {
    pub on_disk: &'a OnDisk,
    pub next: &'a NextPeople,
    pub schema: &'a Schema,
}

impl Everyone<'_> {
    fn some(&self, parts: Range<usize>) -> Result<(Vec<Record>, Table), LedgerError> {
        let scratch = &self.on_disk.scratch;
        let files = &self.next.records[parts.clone()];
        let bytes: u64 = files.iter().flatten().map(|file| file.bytes()).sum();
        let mut records = Vec::with_capacity(bytes as usize / (4 * rows::KEY_AND_RECORD));
        for &file in files {
            rows::each(scratch, file, rows::KEY_AND_RECORD, &mut |row| {
                records.push(rows::record(rows::key(row), rows::after_key(row)));
                Ok(())
            })?;
        }
        Ok((records, self.on_disk.snapshot.read_some(scratch, parts, self.schema)?))
    }
}

impl People for Everyone<'_> {
    fn part(&self, part: usize, parts: usize) -> Result<(Vec<Record>, Table), LedgerError> {
        let mine = self.on_disk.snapshot.len();
        if parts <= mine {
            let finer = mine / parts;
            return self.some(part * finer..(part + 1) * finer);
        }
        let coarser = part * mine / parts;
        let (records, table) = self.some(coarser..coarser + 1)?;
        let here = RecordKey::part_of(&records, |record| record.key, part, parts);
        Ok((records[here].to_vec(), table.part(part, parts)))
    }
}
