//! The vault: the private state after a release, as immutable files named by the release.
//!
//! | file | holds |
//! |---|---|
//! | `seed` | the seed, 32 bytes, and their BLAKE3 hash, 32 bytes |
//! | `head` | how many lines the ledger has, and the hash of the last |
//! | `policy-NNNN` | the policy in its canonical form |
//! | `keys-NNNN.parquet` | everyone ever seen: `hi`, `lo` (the key), `present` (in the snapshot) |
//! | `records-NNNN.parquet` | in the same order: `first_seen`, `cohort`, `last_release`, `group`, `value`, `value_set` |
//! | `past-NNNN.parquet` | earlier value sets: `hi`, `lo`, `value_set` |
//! | `regions-NNNN.parquet`, `cells-NNNN.parquet` | the last release's groups: `lo_0`, `hi_0`, `lo_1`, … |
//! | `met-NNNN.parquet`, `places-NNNN.parquet` | for a promise per release: where all releases put each record: `place`, `fewest`; and these places: `lo_0`, … |
//! | `views-NNNN.parquet` | for promises about views: what each view is out with: `view`, `count`, `lo_0`, `hi_0`, … |
//! | `keys_PPPP-NNNN.parquet`, `records_…`, `snapshot_…` | the same for many people: one file per part, by the first bits of the key |
//! | `snapshot-NNNN.parquet` | those present, in the same order: `quasi_0`, …, `sensitive`, and `public` where there is one |
//! | `history-NNNN.json`, `snapshot-NNNN.json` | texts of values, value sets, facts, public texts |
//!
//! The ledger has each file's digest: BLAKE3 keyed with the seed's key for `vault digest` and the file's name. Without
//! the key nobody can test a guess about a file. Because the key depends on the name, equal files of two releases have
//! different digests. Record keys are stored once, because everyone in the snapshot is in the history too.
//!
//! Where the project has a key, every file but `head` is encrypted (`sealed.rs`); the digests are of what they hold.
//!
//! The number in a name is followed by the attempt that wrote the file, as in `keys-0002.3fa9c1d2.parquet`: two writers
//! that do not see each other's lock never write the same file. Earlier versions wrote names without it.

use crate::ledger::columns::{Column, ColumnFile};
use crate::ledger::head::{HEAD, NEXT};
use crate::ledger::sealed::{KEY_FILES, RESEALED, looks_sealed};
use crate::ledger::{Disk, DiskFile, Event, LedgerError, What, columns};
use crate::model::{
    History, Met, PastGroups, PastView, PeopleCounts, Record, RecordKey, Regions, Seed, Span, Table, Value, ValueSetId,
    ValueSets, Values, hex,
};
use parquet::errors::ParquetError;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The path of the vault, relative to the project folder.
pub(super) const VAULT: &str = ".tacenda/vault";

/// The name of the seed's file.
pub(super) const SEED: &str = "seed";

const DAMAGED: &str = "it is damaged (its digest is not the one in the ledger)";
const UNOPENED: &str = "it cannot be decrypted: it is damaged, another file, or encrypted with another key";
const UNREADABLE: &str = "its digest is right but it cannot be read; it was written by another version";

type Texts = Vec<Box<[Box<str>]>>;

/// The prefix of the names of kept plans.
pub(super) const PLANNED: &str = "planned-";

/// The kind of files that hold people while a release is made. They are gone when it is made, and after a crash the
/// next open for writing removes them, like other files of the vault that no line names.
pub(super) const SCRATCH: &str = "scratch";

/// The kinds that are cut into parts where there are many people.
const IN_PARTS: [&str; 3] = ["keys", "records", "snapshot"];

/// How many people one file holds at most.
pub(super) const PEOPLE_PER_PART: usize = 1 << 18;

/// Up to so many files of a kind are made before files grow to [`PEOPLE_PER_PART`]: what is being written is in memory
/// several times over, and a smaller table has less memory.
const SMALL_PARTS: usize = 16;

/// No file that is followed by others holds fewer people.
const LEAST_PER_PART: usize = 1 << 16;

/// In how many parts so many people are kept: a power of two.
pub(crate) fn parts_of(people: usize, per_part: usize) -> usize {
    people.div_ceil(per_part.max(1)).max(1).next_power_of_two()
}

/// The kind of a file that holds a part.
fn kind_of(kind: &str, part: usize, parts: usize) -> String {
    if parts == 1 { kind.into() } else { format!("{kind}_{part:04}") }
}

/// The people of a state, handed over in parts.
pub trait People {
    /// The records of a part, and those of its people who are in the snapshot. Both are sorted by key.
    fn part(&self, part: usize, parts: usize) -> Result<(Vec<Record>, Table), LedgerError>;
}

/// People who are in memory.
pub(super) struct InMemory<'a>(pub &'a History, pub &'a Table);

impl People for InMemory<'_> {
    fn part(&self, part: usize, parts: usize) -> Result<(Vec<Record>, Table), LedgerError> {
        let records = &self.0.records;
        let here = RecordKey::part_of(records, |record| record.key, part, parts);
        Ok((records[here].to_vec(), self.1.part(part, parts)))
    }
}

/// The name of a file of the state after a release.
pub(super) fn name(kind: &str, release: u32, attempt: &str) -> String {
    let (stem, ending) = parts(kind, release);
    format!("{stem}.{attempt}{ending}")
}

/// The parts of a name before and after the attempt.
fn parts(kind: &str, release: u32) -> (String, &'static str) {
    match kind {
        "policy" => (format!("policy-{release:04}"), ""),
        "history" => (format!("history-{release:04}"), ".json"),
        "texts" => (format!("snapshot-{release:04}"), ".json"),
        SCRATCH => (format!("{SCRATCH}-{release:04}"), ""),
        _ => (format!("{kind}-{release:04}"), ".parquet"),
    }
}

/// The attempt in a name of this kind; empty in a name of an earlier version; `None` for any other name.
fn attempt_in<'n>(name: &'n str, kind: &str, release: u32) -> Option<&'n str> {
    let (stem, ending) = parts(kind, release);
    match name.strip_prefix(&*stem)?.strip_suffix(ending)? {
        "" => Some(""),
        rest => rest.strip_prefix('.').filter(|attempt| is_attempt(attempt)),
    }
}

fn is_attempt(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
}

/// The file of a kind, among those that a line names.
pub(super) fn find<'f>(files: &'f BTreeMap<String, String>, kind: &str, release: u32) -> Result<&'f str, LedgerError> {
    let found = files.keys().find(|name| attempt_in(name, kind, release).is_some());
    found.map(|name| &**name).ok_or_else(|| LedgerError::VaultMissing { file: shown(&plain(kind, release)) })
}

/// The attempt that wrote the state after a release; empty for an earlier version.
pub(super) fn attempt_of(files: &BTreeMap<String, String>, release: u32) -> &str {
    files.keys().find_map(|name| attempt_in(name, "policy", release)).unwrap_or_default()
}

/// A name without its attempt, for people.
fn plain(kind: &str, release: u32) -> String {
    let (stem, ending) = parts(kind, release);
    stem + ending
}

/// Whether a file belongs to the state of some release (or to one that was never committed).
pub(super) fn is_state(name: &str) -> bool {
    let kinds = [
        "policy", "keys", "records", "past", "regions", "cells", "met", "places", "snapshot", "history", "texts",
        "views", SCRATCH,
    ];
    let of_part = name.split('-').next().unwrap_or_default();
    let is_part = of_part.split_once('_').is_some_and(|(kind, part)| {
        IN_PARTS.contains(&kind) && part.len() >= 4 && part.bytes().all(|digit| digit.is_ascii_digit())
    });
    let release = name.split(['-', '.']).nth(1).and_then(|digits| digits.parse().ok());
    name == SEED
        || name.ends_with(RESEALED)
        || name.starts_with(NEXT)
        || release.is_some_and(|release| {
            let mut kinds = kinds.into_iter().chain(is_part.then_some(of_part));
            kinds.any(|kind| attempt_in(name, kind, release).is_some())
        })
}

/// Whether a file of the vault holds what is private, the tables of plans included.
pub(super) fn is_sealable(name: &str) -> bool {
    let is_ours = is_state(name) || name.starts_with(PLANNED);
    is_ours && !name.ends_with(RESEALED) && !name.starts_with(NEXT)
}

/// Whether a file of the vault must be private.
pub(super) fn is_private(name: &str) -> bool {
    is_state(name) || name == HEAD || KEY_FILES.contains(&name) || name.starts_with(PLANNED)
}

/// The error of a file that could not be read: gone, damaged, or refused by the disk.
pub(super) fn unread(name: &str, path: &Path, error: io::Error) -> LedgerError {
    match error.kind() {
        io::ErrorKind::NotFound => LedgerError::VaultMissing { file: shown(name) },
        io::ErrorKind::InvalidData => LedgerError::Vault { file: shown(name), fault: UNOPENED },
        _ => LedgerError::disk("read", path, error),
    }
}

#[derive(Deserialize, Serialize)]
struct SmallHistory {
    releases: u32,
    values: Texts,
    value_sets: Vec<Vec<u32>>,
    facts: BTreeMap<String, u64>,
    region_attributes: usize,
    cell_attributes: usize,
    /// In how many parts people are kept; 0 for one.
    #[serde(default, skip_serializing_if = "is_zero")]
    parts: usize,
    #[serde(default, skip_serializing_if = "is_zero")]
    place_attributes: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<SmallView>,
    /// The counts that were published, with the number of their release.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    counts: Vec<(u32, PeopleCounts)>,
    /// The keys of people who are left out for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    erased: Vec<[u64; 2]>,
}

/// A published view, without its rows.
#[derive(Deserialize, Serialize)]
struct SmallView {
    name: String,
    release: u32,
    recipients: Vec<String>,
    columns: Vec<String>,
}

#[derive(Deserialize, Serialize)]
struct SmallSnapshot {
    quasi: usize,
    values: Texts,
    public: bool,
    public_texts: Vec<Vec<Box<str>>>,
}

/// Writes and reads the files of the vault.
pub(super) struct Vault<'a> {
    pub disk: &'a dyn Disk,
    pub folder: PathBuf,
    pub seed: &'a Seed,
    /// How many people one file holds at most.
    pub per_part: usize,
}

impl<'a> Vault<'a> {
    pub fn new(disk: &'a dyn Disk, root: &Path, seed: &'a Seed) -> Vault<'a> {
        Vault { disk, folder: root.join(VAULT), seed, per_part: PEOPLE_PER_PART }
    }

    fn key(&self, name: &str) -> Zeroizing<[u8; 32]> {
        self.seed.key(&format!("vault digest {name}"))
    }

    /// Writes the state after a release and syncs each file; the caller syncs the folder. Returns names and digests.
    /// `people` hands over the records of `history` and the rows of `snapshot`, which need not be in these. `published`
    /// is the number of published rows: it decides in how many parts people are kept. The ledger names the parts, and may
    /// not tell how many people wait or have left.
    pub fn write_state(
        &self,
        (release, published): (u32, u64),
        attempt: &str,
        history: &History,
        snapshot: &Table,
        people: &dyn People,
        policy: &str,
    ) -> Result<BTreeMap<String, String>, LedgerError> {
        let published = published as usize;
        let parts = parts_of(published, self.per_part.min((published / SMALL_PARTS).max(LEAST_PER_PART)));
        let mut digests = BTreeMap::new();
        let mut put = |kind: &str, write: &dyn Fn(&mut Sealed) -> Result<(), ParquetError>| {
            let name = name(kind, release, attempt);
            digests.insert(name.clone(), self.write(&name, write)?);
            Ok::<(), LedgerError>(())
        };
        put("policy", &|out| Ok(out.write_all(policy.as_bytes())?))?;
        for part in 0..parts {
            let (records, rows) = people.part(part, parts)?;
            put(&kind_of("keys", part, parts), &|out| write_keys(out, &records, &rows))?;
            put(&kind_of("records", part, parts), &|out| write_records(out, &records))?;
            put(&kind_of("snapshot", part, parts), &|out| write_snapshot(out, &rows))?;
        }
        put("past", &|out| write_past(out, &history.past_sets))?;
        put("regions", &|out| write_regions(out, &history.groups.regions))?;
        put("cells", &|out| write_regions(out, &history.groups.cells))?;
        if !history.met.is_empty() {
            put("met", &|out| write_met(out, &history.met))?;
            put("places", &|out| write_regions(out, &history.places))?;
        }
        if !history.views.is_empty() {
            put("views", &|out| write_views(out, &history.views))?;
        }
        put("history", &|out| Ok(out.write_all(&json(&SmallHistory::of(history, parts)))?))?;
        put("texts", &|out| Ok(out.write_all(&json(&SmallSnapshot::of(snapshot)))?))?;
        Ok(digests)
    }

    /// Writes one file, syncs it, and returns its digest.
    pub fn write(
        &self,
        name: &str,
        write: &dyn Fn(&mut Sealed) -> Result<(), ParquetError>,
    ) -> Result<String, LedgerError> {
        let path = self.folder.join(name);
        let fault = |error: io::Error| LedgerError::disk("write", &path, error);
        let file = self.disk.create(&path).map_err(fault)?;
        let mut out =
            BufWriter::with_capacity(1 << 20, Sealing { file, hasher: blake3::Hasher::new_keyed(&self.key(name)) });
        write(&mut out).map_err(|error| fault(into_io(error)))?;
        let sealing = out.into_inner().map_err(|error| fault(error.into_error()))?;
        sealing.file.sync_and_close().map_err(fault)?;
        Ok(hex(sealing.hasher.finalize().as_bytes()))
    }

    /// Writes and syncs the seed, and returns the file's digest.
    pub fn write_seed(&self, seed: &Seed) -> Result<String, LedgerError> {
        self.write(SEED, &|out| {
            out.write_all(&seed.0)?;
            Ok(out.write_all(blake3::hash(&seed.0).as_bytes())?)
        })
    }

    /// The bytes of a file, if they have the digest in the ledger.
    pub fn read(&self, files: &BTreeMap<String, String>, name: &str) -> Result<Vec<u8>, LedgerError> {
        let path = self.folder.join(name);
        let Some(digest) = files.get(name) else {
            return Err(LedgerError::VaultMissing { file: shown(name) });
        };
        let bytes = self.disk.read(&path).map_err(|error| unread(name, &path, error))?;
        if hex(blake3::keyed_hash(&self.key(name), &bytes).as_bytes()) != *digest {
            return Err(LedgerError::Vault { file: shown(name), fault: DAMAGED });
        }
        Ok(bytes)
    }

    /// The history after a release.
    pub fn read_history(&self, files: &BTreeMap<String, String>, release: u32) -> Result<History, LedgerError> {
        let (mut history, parts) = self.read_past(files, release)?;
        for part in 0..parts {
            history.records.append(&mut self.read_records(files, release, (part, parts))?);
        }
        let is_odd = |met: &Met| !is_among(met, &history.places);
        if !history.met.is_empty() && (history.met.len() != history.records.len() || history.met.iter().any(is_odd)) {
            return Err(unreadable("met", release));
        }
        Ok(history)
    }

    /// The records of a part.
    pub fn read_records(
        &self,
        files: &BTreeMap<String, String>,
        release: u32,
        (part, parts): (usize, usize),
    ) -> Result<Vec<Record>, LedgerError> {
        let kind = kind_of("keys", part, parts);
        let keys = self.columns(files, &kind, release)?;
        let mut records = vec![NOBODY; keys.rows()];
        keys.fill(&mut records, fill_keys).ok_or_else(|| unreadable(&kind, release))?;
        drop(keys);
        let kind = kind_of("records", part, parts);
        let file = self.columns(files, &kind, release)?;
        file.fill(&mut records, fill_records).ok_or_else(|| unreadable(&kind, release))?;
        Ok(records)
    }

    /// The history after a release without its records, and in how many parts these are kept.
    pub fn read_past(&self, files: &BTreeMap<String, String>, release: u32) -> Result<(History, usize), LedgerError> {
        let small: SmallHistory = self.parse(files, "history", release, |bytes| serde_json::from_slice(&bytes).ok())?;
        let parts = small.parts.max(1);
        if !parts.is_power_of_two() {
            return Err(unreadable("history", release));
        }
        let past = self.columns(files, "past", release)?;
        let mut past_sets = vec![(NOBODY.key, NOBODY.value_set); past.rows()];
        past.fill(&mut past_sets, fill_past).ok_or_else(|| unreadable("past", release))?;
        let mut value_sets = ValueSets::default();
        for set in &small.value_sets {
            if !set.is_sorted_by(|a, b| a < b) {
                return Err(unreadable("history", release));
            }
            value_sets.intern(&set.iter().copied().map(Value).collect::<Vec<Value>>());
        }
        let erased: Vec<RecordKey> = small.erased.iter().map(|&[hi, lo]| RecordKey { hi, lo }).collect();
        if !erased.is_sorted_by(|a, b| a < b) {
            return Err(unreadable("history", release));
        }
        let regions = |kind: &str, attributes: usize| {
            read_regions(&self.columns(files, kind, release)?, attributes).ok_or_else(|| unreadable(kind, release))
        };
        let views = match small.views.is_empty() {
            true => Vec::new(),
            false => read_views(&self.columns(files, "views", release)?, small.views)
                .ok_or_else(|| unreadable("views", release))?,
        };
        let has_places = small.place_attributes > 0;
        let met = match has_places {
            true => read_met(&self.columns(files, "met", release)?).ok_or_else(|| unreadable("met", release))?,
            false => Vec::new(),
        };
        let places = match has_places {
            true => regions("places", small.place_attributes)?,
            false => Regions::default(),
        };
        let history = History {
            releases: small.releases,
            records: Vec::new(),
            past_sets,
            value_sets,
            values: Values::from_ordered(small.values),
            groups: PastGroups {
                regions: regions("regions", small.region_attributes)?,
                cells: regions("cells", small.cell_attributes)?,
            },
            facts: small.facts,
            met,
            places,
            views,
            counts: small.counts,
            erased,
        };
        Ok((history, parts))
    }

    /// The snapshot a release was made from.
    pub fn read_snapshot(&self, files: &BTreeMap<String, String>, release: u32) -> Result<Table, LedgerError> {
        let parts = self.parts(files, release)?;
        let mut tables = (0..parts).map(|part| self.read_rows(files, release, (part, parts)));
        let first = tables.next().expect("there is a part")?;
        tables.try_fold(first, |all, part| Ok(all.followed_by(part?)))
    }

    /// In how many parts people are kept.
    fn parts(&self, files: &BTreeMap<String, String>, release: u32) -> Result<usize, LedgerError> {
        let small: SmallHistory = self.parse(files, "history", release, |bytes| serde_json::from_slice(&bytes).ok())?;
        Ok(small.parts.max(1))
    }

    /// The rows of a part of the snapshot.
    pub fn read_rows(
        &self,
        files: &BTreeMap<String, String>,
        release: u32,
        (part, parts): (usize, usize),
    ) -> Result<Table, LedgerError> {
        let small: SmallSnapshot = self.parse(files, "texts", release, |bytes| serde_json::from_slice(&bytes).ok())?;
        let kind = kind_of("snapshot", part, parts);
        let bad = || unreadable(&kind, release);
        let columns = self.columns(files, &kind, release)?;
        let keys = self
            .columns(files, &kind_of("keys", part, parts), release)
            .and_then(|file| read_present(&file, columns.rows()).ok_or_else(|| unreadable("keys", release)))?;
        let quasi = (0..small.quasi).map(|at| columns.numbers(at).ok_or_else(bad)).collect::<Result<Vec<_>, _>>()?;
        let sensitive = columns.numbers(small.quasi).ok_or_else(bad)?.into_iter().map(Value).collect();
        let public = if small.public { columns.numbers(small.quasi + 1).ok_or_else(bad)? } else { Vec::new() };
        Ok(Table::new(keys, quasi, sensitive, Values::from_ordered(small.values), public, small.public_texts))
    }

    /// Writes and syncs the table of a plan, under its own name. Returns names and digests.
    pub fn write_planned(&self, name: &str, table: &Table) -> Result<BTreeMap<String, String>, LedgerError> {
        let (rows, texts) = (format!("{PLANNED}{name}.parquet"), format!("{PLANNED}{name}.json"));
        let keys = table.keys();
        let write_rows = |out: &mut Sealed| {
            let mut columns = vec![
                Column::hashes("hi", |rows| keys[rows].iter().map(|key| key.hi).collect()),
                Column::hashes("lo", |rows| keys[rows].iter().map(|key| key.lo).collect()),
            ];
            columns.extend(snapshot_columns(table));
            columns::write(out, table.len(), &columns)
        };
        let rows_digest = self.write(&rows, &write_rows)?;
        let texts_digest = self.write(&texts, &|out| Ok(out.write_all(&json(&SmallSnapshot::of(table)))?))?;
        Ok(BTreeMap::from([(rows, rows_digest), (texts, texts_digest)]))
    }

    /// The table of a plan, as it was kept.
    pub fn read_planned(&self, files: &BTreeMap<String, String>) -> Result<Table, LedgerError> {
        let find = |ending: &str| files.keys().find(|name| name.starts_with(PLANNED) && name.ends_with(ending));
        let missing = || LedgerError::VaultMissing { file: shown(PLANNED) };
        let (rows, texts) = (find(".parquet").ok_or_else(missing)?, find(".json").ok_or_else(missing)?);
        let bad = || LedgerError::Vault { file: shown(rows), fault: UNREADABLE };
        let small: SmallSnapshot = serde_json::from_slice(&self.read(files, texts)?).map_err(|_| bad())?;
        let file = ColumnFile::open(self.read(files, rows)?).ok_or_else(bad)?;
        let mut keys = vec![RecordKey { hi: 0, lo: 0 }; file.rows()];
        let fill = |decoded: &columns::Decoded, out: &mut [RecordKey]| {
            let (hi, lo) = (decoded.hashes(0)?, decoded.hashes(1)?);
            out.iter_mut().zip(hi.iter().zip(lo)).for_each(|(key, (&hi, &lo))| *key = RecordKey { hi, lo });
            Some(())
        };
        file.fill(&mut keys, fill).ok_or_else(bad)?;
        let quasi = (0..small.quasi).map(|at| file.numbers(2 + at).ok_or_else(bad)).collect::<Result<Vec<_>, _>>()?;
        let sensitive = file.numbers(2 + small.quasi).ok_or_else(bad)?.into_iter().map(Value).collect();
        let public = if small.public { file.numbers(3 + small.quasi).ok_or_else(bad)? } else { Vec::new() };
        Ok(Table::new(keys, quasi, sensitive, Values::from_ordered(small.values), public, small.public_texts))
    }

    /// Removes the tables of all plans, or says why one stays: people in it must be gone.
    pub fn remove_planned(&self) -> Result<(), LedgerError> {
        let fault = |error| LedgerError::disk("remove", &self.folder, error);
        let names = self.disk.list(&self.folder).map_err(fault)?;
        for name in names.iter().filter(|name| name.starts_with(PLANNED)) {
            self.disk.remove_file(&self.folder.join(name)).map_err(fault)?;
        }
        self.disk.sync_folder(&self.folder).map_err(fault)
    }

    /// Removes the tables of all plans: a release is out, and none of them can be published any more.
    pub fn forget_planned(&self) {
        let names = self.disk.list(&self.folder).unwrap_or_default();
        for name in names.iter().filter(|name| name.starts_with(PLANNED)) {
            // A file that stays is removed after the next release.
            let _ = self.disk.remove_file(&self.folder.join(name));
        }
    }

    fn columns(&self, files: &BTreeMap<String, String>, kind: &str, release: u32) -> Result<ColumnFile, LedgerError> {
        self.parse(files, kind, release, ColumnFile::open)
    }

    fn parse<T>(
        &self,
        files: &BTreeMap<String, String>,
        kind: &str,
        release: u32,
        parse: impl FnOnce(Vec<u8>) -> Option<T>,
    ) -> Result<T, LedgerError> {
        parse(self.read(files, find(files, kind, release)?)?).ok_or_else(|| unreadable(kind, release))
    }
}

/// What a record is before it is read.
const NOBODY: Record = Record {
    key: RecordKey { hi: 0, lo: 0 },
    first_seen: 0,
    cohort: 0,
    last_release: 0,
    group: 0,
    value: Value(0),
    value_set: ValueSetId(0),
};

/// The commitment to the seed in the first line. It proves that the seed was fixed then, and reveals nothing else.
pub(crate) fn commitment(seed: &Seed) -> String {
    hex(&Sha256::new().chain_update(b"tacenda seed").chain_update(seed.0).finalize())
}

/// The seed, if it is the one that the first line commits to.
pub(super) fn read_seed(disk: &dyn Disk, root: &Path, events: &[Event]) -> Result<Seed, LedgerError> {
    let path = root.join(VAULT).join(SEED);
    let bytes = Zeroizing::new(disk.read(&path).map_err(|error| unread(SEED, &path, error))?);
    let fault = |fault| LedgerError::Vault { file: shown(SEED), fault };
    if looks_sealed(&bytes) {
        return Err(fault("it is encrypted, and no key was given"));
    }
    let (seed, check) = bytes.split_first_chunk::<32>().ok_or_else(|| fault("it is cut short"))?;
    if check != blake3::hash(seed).as_bytes() {
        return Err(fault("it is damaged (its hash is not that of its bytes)"));
    }
    let seed = Seed(*seed);
    match events.first().map(|event| &event.what) {
        Some(What::Init(init)) if init.seed_commitment == commitment(&seed) => Ok(seed),
        _ => Err(fault("it is not the seed this project was set up with")),
    }
}

/// A file of the vault, relative to the project folder.
pub(super) fn shown(name: &str) -> String {
    format!("{VAULT}/{name}")
}

fn unreadable(kind: &str, release: u32) -> LedgerError {
    LedgerError::Vault { file: shown(&plain(kind, release)), fault: UNREADABLE }
}

/// A file being written and hashed.
pub(super) struct Sealing {
    file: Box<dyn DiskFile>,
    hasher: blake3::Hasher,
}

/// Buffered, because hashing is faster over long pieces.
pub(super) type Sealed = BufWriter<Sealing>;

impl Write for Sealing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn into_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("strings, numbers and maps with text keys become JSON")
}

fn texts(values: &Values) -> Texts {
    values.iter().map(|(_, cells)| cells.into()).collect()
}

impl SmallHistory {
    fn of(history: &History, parts: usize) -> SmallHistory {
        SmallHistory {
            parts: if parts == 1 { 0 } else { parts },
            releases: history.releases,
            values: texts(&history.values),
            value_sets: history.value_sets.iter().map(|(_, set)| set.iter().map(|value| value.0).collect()).collect(),
            facts: history.facts.clone(),
            region_attributes: history.groups.regions.attributes(),
            cell_attributes: history.groups.cells.attributes(),
            place_attributes: if history.met.is_empty() { 0 } else { history.places.attributes() },
            views: history.views.iter().map(SmallView::of).collect(),
            counts: history.counts.clone(),
            erased: history.erased.iter().map(|key| [key.hi, key.lo]).collect(),
        }
    }
}

impl SmallView {
    fn of(view: &PastView) -> SmallView {
        SmallView {
            name: view.name.clone(),
            release: view.release,
            recipients: view.recipients.clone(),
            columns: view.columns.clone(),
        }
    }
}

impl SmallSnapshot {
    fn of(table: &Table) -> SmallSnapshot {
        SmallSnapshot {
            quasi: table.quasi_count(),
            values: texts(&table.values),
            public: !table.public_texts.is_empty(),
            public_texts: table.public_texts.clone(),
        }
    }
}

fn write_keys(out: &mut Sealed, records: &[Record], snapshot: &Table) -> Result<(), ParquetError> {
    let mut present = vec![false; records.len()];
    let mut at = 0;
    for &key in snapshot.keys() {
        while at < records.len() && records[at].key < key {
            at += 1;
        }
        assert!(at < records.len() && records[at].key == key, "everyone in the snapshot is in the history");
        present[at] = true;
    }
    let columns = [
        Column::hashes("hi", |rows| records[rows].iter().map(|record| record.key.hi).collect()),
        Column::hashes("lo", |rows| records[rows].iter().map(|record| record.key.lo).collect()),
        Column::flags("present", |rows| present[rows].to_vec()),
    ];
    columns::write(out, records.len(), &columns)
}

fn write_records(out: &mut Sealed, records: &[Record]) -> Result<(), ParquetError> {
    let columns = [
        Column::numbers("first_seen", |rows| records[rows].iter().map(|record| record.first_seen).collect()),
        Column::numbers("cohort", |rows| records[rows].iter().map(|record| record.cohort).collect()),
        Column::numbers("last_release", |rows| records[rows].iter().map(|record| record.last_release).collect()),
        Column::numbers("group", |rows| records[rows].iter().map(|record| record.group).collect()),
        Column::numbers("value", |rows| records[rows].iter().map(|record| record.value.0).collect()),
        Column::numbers("value_set", |rows| records[rows].iter().map(|record| record.value_set.0).collect()),
    ];
    columns::write(out, records.len(), &columns)
}

fn write_past(out: &mut Sealed, past: &[(RecordKey, ValueSetId)]) -> Result<(), ParquetError> {
    let columns = [
        Column::hashes("hi", |rows| past[rows].iter().map(|(key, _)| key.hi).collect()),
        Column::hashes("lo", |rows| past[rows].iter().map(|(key, _)| key.lo).collect()),
        Column::numbers("value_set", |rows| past[rows].iter().map(|(_, set)| set.0).collect()),
    ];
    columns::write(out, past.len(), &columns)
}

fn write_regions(out: &mut Sealed, regions: &Regions) -> Result<(), ParquetError> {
    let columns: Vec<Column<'_>> = (0..regions.attributes())
        .flat_map(|at| {
            [
                Column::numbers(format!("lo_{at}"), move |rows| rows.map(|group| regions.get(group)[at].lo).collect()),
                Column::numbers(format!("hi_{at}"), move |rows| rows.map(|group| regions.get(group)[at].hi).collect()),
            ]
        })
        .collect();
    columns::write(out, regions.len(), &columns)
}

fn write_met(out: &mut Sealed, met: &[Met]) -> Result<(), ParquetError> {
    let columns = [
        Column::numbers("place", |rows| met[rows].iter().map(|met| met.place).collect()),
        Column::numbers("fewest", |rows| met[rows].iter().map(|met| met.fewest).collect()),
    ];
    columns::write(out, met.len(), &columns)
}

fn read_met(file: &ColumnFile) -> Option<Vec<Met>> {
    let (places, fewest) = (file.numbers(0)?, file.numbers(1)?);
    Some(places.into_iter().zip(fewest).map(|(place, fewest)| Met { place, fewest }).collect())
}

fn is_among(met: &Met, places: &Regions) -> bool {
    met.place == Met::NOWHERE || (met.place as usize) < places.len()
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// All views one after another: the number of the view, the count, and the spans. A view with fewer columns leaves
/// zeros.
fn write_views(out: &mut Sealed, views: &[PastView]) -> Result<(), ParquetError> {
    let places: Vec<(u32, usize)> =
        views.iter().zip(0u32..).flat_map(|(view, at)| (0..view.rows.len()).map(move |row| (at, row))).collect();
    let places = &places;
    let widest = views.iter().map(|view| view.columns.len()).max().unwrap_or(0);
    let mut columns = vec![
        Column::numbers("view", move |rows| places[rows].iter().map(|place| place.0).collect()),
        Column::numbers("count", move |rows| {
            places[rows].iter().map(|&(view, row)| views[view as usize].counts[row]).collect()
        }),
    ];
    for at in 0..widest {
        let span = move |&(view, row): &(u32, usize)| {
            views[view as usize].rows.get(row).get(at).copied().unwrap_or(Span::exact(0))
        };
        columns
            .push(Column::numbers(format!("lo_{at}"), move |rows| places[rows].iter().map(|at| span(at).lo).collect()));
        columns
            .push(Column::numbers(format!("hi_{at}"), move |rows| places[rows].iter().map(|at| span(at).hi).collect()));
    }
    columns::write(out, places.len(), &columns)
}

fn read_views(file: &ColumnFile, small: Vec<SmallView>) -> Option<Vec<PastView>> {
    let numbers = (0..file.columns()).map(|column| file.numbers(column)).collect::<Option<Vec<_>>>()?;
    let past = |view: SmallView| PastView {
        name: view.name,
        release: view.release,
        recipients: view.recipients,
        rows: Regions::new(view.columns.len()),
        columns: view.columns,
        counts: Vec::new(),
    };
    let mut views: Vec<PastView> = small.into_iter().map(past).collect();
    for row in 0..file.rows() {
        let view = views.get_mut(*numbers.first()?.get(row)? as usize)?;
        view.counts.push(*numbers.get(1)?.get(row)?);
        let span = |at: usize| Some(Span { lo: numbers.get(2 + 2 * at)?[row], hi: numbers.get(3 + 2 * at)?[row] });
        let region = (0..view.columns.len()).map(span).collect::<Option<Vec<Span>>>()?;
        view.rows.push(&region);
    }
    Some(views)
}

fn write_snapshot(out: &mut Sealed, table: &Table) -> Result<(), ParquetError> {
    columns::write(out, table.len(), &snapshot_columns(table))
}

fn snapshot_columns(table: &Table) -> Vec<Column<'_>> {
    let mut columns: Vec<Column<'_>> = (0..table.quasi_count())
        .map(|at| Column::numbers(format!("quasi_{at}"), move |rows| table.quasi(at)[rows].to_vec()))
        .collect();
    columns.push(Column::numbers("sensitive", |rows| table.sensitive()[rows].iter().map(|value| value.0).collect()));
    if !table.public_texts.is_empty() {
        columns.push(Column::numbers("public", |rows| table.public()[rows].to_vec()));
    }
    columns
}

fn fill_keys(decoded: &columns::Decoded, out: &mut [Record]) -> Option<()> {
    let (hi, lo) = (decoded.hashes(0)?, decoded.hashes(1)?);
    for ((record, &hi), &lo) in out.iter_mut().zip(hi).zip(lo) {
        record.key = RecordKey { hi, lo };
    }
    Some(())
}

fn fill_records(decoded: &columns::Decoded, out: &mut [Record]) -> Option<()> {
    let [first_seen, cohort, last_release, group, value, value_set] =
        [0, 1, 2, 3, 4, 5].map(|column| decoded.numbers(column));
    let (first_seen, cohort, last_release) = (first_seen?, cohort?, last_release?);
    let (group, value, value_set) = (group?, value?, value_set?);
    for (row, record) in out.iter_mut().enumerate() {
        record.first_seen = first_seen[row];
        record.cohort = cohort[row];
        record.last_release = last_release[row];
        record.group = group[row];
        record.value = Value(value[row]);
        record.value_set = ValueSetId(value_set[row]);
    }
    Some(())
}

fn fill_past(decoded: &columns::Decoded, out: &mut [(RecordKey, ValueSetId)]) -> Option<()> {
    let (hi, lo, set) = (decoded.hashes(0)?, decoded.hashes(1)?, decoded.numbers(2)?);
    for (row, out) in out.iter_mut().enumerate() {
        *out = (RecordKey { hi: hi[row], lo: lo[row] }, ValueSetId(set[row]));
    }
    Some(())
}

/// The keys of those who are in the snapshot.
fn read_present(file: &ColumnFile, wanted: usize) -> Option<Vec<RecordKey>> {
    let mut keys = Vec::with_capacity(wanted);
    for (group, start) in (0..file.rows()).step_by(columns::ROWS_PER_GROUP).enumerate() {
        let decoded = file.decode(group, (file.rows() - start).min(columns::ROWS_PER_GROUP))?;
        let (hi, lo, present) = (decoded.hashes(0)?, decoded.hashes(1)?, decoded.flags(2)?);
        let here = (0..present.len()).filter(|&row| present.value(row));
        keys.extend(here.map(|row| RecordKey { hi: hi[row], lo: lo[row] }));
    }
    (keys.len() == wanted).then_some(keys)
}

fn read_regions(file: &ColumnFile, attributes: usize) -> Option<Regions> {
    if file.columns() != attributes * 2 {
        return None;
    }
    let columns = (0..file.columns()).map(|column| file.numbers(column)).collect::<Option<Vec<_>>>()?;
    let mut regions = Regions::new(attributes);
    let mut region = vec![Span::EMPTY; attributes];
    for group in 0..file.rows() {
        for (span, ends) in region.iter_mut().zip(columns.chunks_exact(2)) {
            *span = Span { lo: ends[0][group], hi: ends[1][group] };
        }
        regions.push(&region);
    }
    Some(regions)
}
