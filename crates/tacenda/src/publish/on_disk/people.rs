//! Everyone after a release, on disk, until the vault has them.

use crate::ledger::{LedgerError, People, ScratchFile};
use crate::model::{Record, RecordKey, Schema, Table};
use crate::publish::on_disk::{OnDisk, rows};

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
    fn one(&self, part: usize) -> Result<(Vec<Record>, Table), LedgerError> {
        let scratch = &self.on_disk.scratch;
        let numbers = rows::read_some(scratch, self.next.records[part])?;
        let records = numbers.chunks_exact(rows::KEY_AND_RECORD);
        let records = records.map(|row| rows::record(rows::key(row), rows::after_key(row))).collect();
        Ok((records, self.on_disk.snapshot.read(scratch, part, self.schema)?))
    }
}

impl People for Everyone<'_> {
    fn part(&self, part: usize, parts: usize) -> Result<(Vec<Record>, Table), LedgerError> {
        let mine = self.on_disk.snapshot.len();
        if parts >= mine {
            let (records, table) = self.one(part * mine / parts)?;
            let here = RecordKey::part_of(&records, |record| record.key, part, parts);
            return Ok((records[here].to_vec(), table.part(part, parts)));
        }
        let finer = mine / parts;
        let (mut records, mut table) = self.one(part * finer)?;
        for next in part * finer + 1..(part + 1) * finer {
            let (mut more, rows) = self.one(next)?;
            records.append(&mut more);
            table = table.followed_by(rows);
        }
        Ok((records, table))
    }
}
