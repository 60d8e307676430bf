//! Reads a release folder back, with nothing but the folder.
//!
//! Checksums are compared before anything is used. The result equals what was written, except for the numbers of the
//! sensitive values. These follow the order of the texts, or existing values if several releases are compared.

use crate::folder::digest::SUMS;
use crate::folder::manifest::{MANIFEST, Manifest};
use crate::folder::order::FileColumns;
use crate::folder::{FolderError, digest, public_schema, read_csv, read_parquet};
use crate::model::{COUNTERFEITS, COUNTS, ChainLink, Regions, Release, Schema, Span, Value, Values, hex, is_data_file};
use crate::promise::Promise;
use rustc_hash::FxHashMap;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// A release as a recipient has it.
#[derive(Clone, Debug)]
pub struct ReceivedRelease {
    /// The data.
    pub release: Release,
    /// The published columns; no identifier, nothing that was dropped.
    pub schema: Schema,
    /// What was promised.
    pub promise: Promise,
    /// The name of the series.
    pub series: String,
    /// The whole manifest.
    pub manifest: Manifest,
    /// The checksum of the manifest's bytes.
    pub manifest_digest: String,
}

impl ReceivedRelease {
    /// What it says of its place in its series.
    pub fn link(&self) -> ChainLink {
        link_of(&self.manifest, &self.manifest_digest)
    }
}

/// Reads a release folder.
pub fn read(folder: &Path) -> Result<ReceivedRelease, FolderError> {
    read_with(folder, &mut Values::default())
}

/// The published columns of a release, from the text of its manifest alone.
pub fn schema_of_manifest(text: &[u8]) -> Result<Schema, FolderError> {
    public_schema::schema_of(&parse_manifest(text)?.columns)
}

/// What a release says of its place in its series, from its manifest alone.
pub fn read_link(folder: &Path) -> Result<ChainLink, FolderError> {
    let text = manifest_text(folder)?;
    Ok(link_of(&parse_manifest(&text)?, &hex(&Sha256::digest(&text))))
}

fn link_of(manifest: &Manifest, digest: &str) -> ChainLink {
    let previous = manifest.previous.as_ref().map(|previous| (previous.number, previous.manifest_digest.clone()));
    ChainLink {
        series: manifest.series.name.clone(),
        number: manifest.release.number,
        manifest: digest.into(),
        previous,
        of_view: manifest.view.is_some(),
    }
}

fn manifest_text(folder: &Path) -> Result<Vec<u8>, FolderError> {
    let mut text = Vec::new();
    let read = digest::open(&folder.join(MANIFEST)).and_then(|mut file| file.read_to_end(&mut text));
    read.map_err(|source| FolderError::Read { file: MANIFEST.into(), source })?;
    Ok(text)
}

fn parse_manifest(text: &[u8]) -> Result<Manifest, FolderError> {
    let manifest: Json = serde_json::from_slice(text)
        .map_err(|error| FolderError::Manifest { what: format!("not JSON (line {})", error.line()) })?;
    Manifest::read(manifest)
}

/// Reads a release folder; its sensitive values are added to `values`, so that releases read one
/// after another share their numbers.
pub fn read_with(folder: &Path, values: &mut Values) -> Result<ReceivedRelease, FolderError> {
    let text = manifest_text(folder)?;
    let listed = digest::verify(folder)?;
    let manifest = parse_manifest(&text)?;
    let promise = manifest.promise.promise()?;
    let schema = public_schema::schema_of(&manifest.columns)?;

    let files = Files::named(&manifest)?;
    let beside = files.counterfeits.as_deref().into_iter().chain(files.counts.as_deref());
    for name in [MANIFEST, &files.data].into_iter().chain(beside) {
        if !listed.iter().any(|listed| listed == name) {
            return Err(FolderError::File { file: SUMS.into(), what: format!("{name} is not listed") });
        }
    }
    let counts = match &files.counterfeits {
        Some(name) => Some(read_csv::read_counterfeits(&folder.join(name), name)?),
        None => None,
    };
    let published_counts = match (&files.counts, &manifest.counts) {
        (Some(name), Some(stated)) => Some(read_csv::read_counts(&folder.join(name), name, stated, &schema)?),
        _ => None,
    };
    let shape = FileColumns { schema: &schema, linked: manifest.linked_ids, row_weight: manifest.row_weight };
    let (path, name) = (folder.join(&files.data), files.data.as_str());
    let rows = if name.ends_with(".csv") {
        read_csv::read_data(&path, name, &shape, counts.as_deref())?
    } else {
        read_parquet::read_data(&path, name, &shape, counts.as_deref())?
    };
    let numbers = &manifest.numbers;
    for (what, said, found) in
        [("rows", numbers.rows, rows.sensitive.len()), ("groups", numbers.groups, rows.ends.len())]
    {
        if said != found as u64 {
            let what = format!("it has {found} {what}, the manifest says otherwise");
            return Err(FolderError::File { file: files.data, what });
        }
    }
    let counterfeits = match counts {
        Some(counts) => counts.iter().map(|&(_, counterfeits)| counterfeits).collect(),
        None => vec![0; rows.ends.len()],
    };
    let release = rows.finish(manifest.release.number, manifest.release.label.clone(), counterfeits, values);
    let release = Release { counts: published_counts, ..release };
    let series = manifest.series.name.clone();
    let manifest_digest = hex(&Sha256::digest(&text));
    Ok(ReceivedRelease { release, schema, promise, series, manifest, manifest_digest })
}

/// The files of interest.
struct Files {
    data: String,
    counterfeits: Option<String>,
    counts: Option<String>,
}

impl Files {
    fn named(manifest: &Manifest) -> Result<Files, FolderError> {
        let names: Vec<&str> = manifest.files.iter().map(|file| file.name.as_str()).collect();
        let beside = |ending: &str| names.iter().find(|name| name.ends_with(ending)).map(|name| name.to_string());
        let is_data = |name: &str| name.ends_with(".csv") && is_data_file(name);
        let csv = names.iter().find(|name| is_data(name));
        let parquet = names.iter().find(|name| name.ends_with(".parquet"));
        let data = csv.or(parquet).ok_or(FolderError::Manifest { what: "no data file is listed".into() })?;
        Ok(Files { data: data.to_string(), counterfeits: beside(COUNTERFEITS), counts: beside(COUNTS) })
    }
}

/// Rows while they are read; combinations of cells are numbered in order of appearance.
#[derive(Default)]
pub struct Rows {
    /// One past the last row of each group.
    pub ends: Vec<u32>,
    /// The groups' regions.
    pub regions: Regions,
    /// Per row, which of `values` it has.
    pub sensitive: Vec<u32>,
    /// The combinations of sensitive cells.
    pub values: Combinations,
    /// Per row, which of `publics` it has.
    pub public: Vec<u32>,
    /// The combinations of public cells.
    pub publics: Combinations,
    /// Per row, the linked id.
    pub linked: Vec<u64>,
}

/// Combinations of cells, numbered in order of appearance.
#[derive(Default)]
pub struct Combinations {
    numbers: FxHashMap<Vec<u8>, u32>,
    texts: Vec<Box<[Box<str>]>>,
    key: Vec<u8>,
}

impl Combinations {
    /// The number of a combination; `None` if a cell is not UTF-8.
    pub fn number<'c>(&mut self, cells: impl Iterator<Item = &'c [u8]> + Clone) -> Option<u32> {
        self.key.clear();
        for cell in cells.clone() {
            self.key.extend_from_slice(cell);
            // This byte is in no UTF-8 text.
            self.key.push(0xff);
        }
        if let Some(&number) = self.numbers.get(&self.key) {
            return Some(number);
        }
        let texts = cells.map(|cell| std::str::from_utf8(cell).ok().map(Box::from)).collect::<Option<_>>()?;
        let number = self.texts.len() as u32;
        self.numbers.insert(self.key.clone(), number);
        self.texts.push(texts);
        Some(number)
    }
}

impl Rows {
    /// Nothing yet.
    pub fn new(attributes: usize) -> Rows {
        Rows { regions: Regions::new(attributes), ..Rows::default() }
    }

    /// Starts a group.
    pub fn start(&mut self, region: &[Span]) {
        self.regions.push(region);
        self.ends.push(self.sensitive.len() as u32);
    }

    /// How many rows the last group has so far.
    pub fn last_size(&self) -> usize {
        let start = if self.ends.len() < 2 { 0 } else { self.ends[self.ends.len() - 2] };
        self.sensitive.len() - start as usize
    }

    /// Notes that a row was added to the last group.
    pub fn grow(&mut self) {
        if let Some(end) = self.ends.last_mut() {
            *end = self.sensitive.len() as u32;
        }
    }

    /// Numbers values by their texts and sorts the rows of each group by those numbers.
    fn finish(self, number: u32, label: String, counterfeits: Vec<u32>, values: &mut Values) -> Release {
        values.extend(self.values.texts.iter().cloned());
        let index = values.index();
        let of_value: Vec<Value> = self.values.texts.iter().map(|cells| index[&cells[..]]).collect();
        let mut sorted: Vec<u32> = (0..self.publics.texts.len() as u32).collect();
        sorted.sort_unstable_by_key(|&public| &self.publics.texts[public as usize]);
        let mut of_public = vec![0; sorted.len()];
        for (place, &public) in sorted.iter().enumerate() {
            of_public[public as usize] = place as u32;
        }
        let key = |row: u32| {
            let row = row as usize;
            let public = self.public.get(row).map_or(0, |&public| of_public[public as usize]);
            (of_value[self.sensitive[row] as usize], public, self.linked.get(row).copied().unwrap_or(0))
        };
        let mut rows: Vec<u32> = (0..self.sensitive.len() as u32).collect();
        let mut start = 0;
        for &end in &self.ends {
            rows[start..end as usize].sort_unstable_by_key(|&row| key(row));
            start = end as usize;
        }
        let keys = || rows.iter().map(|&row| key(row));
        let publics = || sorted.iter().map(|&public| self.publics.texts[public as usize].to_vec());
        Release {
            number,
            label,
            sensitive: keys().map(|(value, _, _)| value).collect(),
            public: if self.public.is_empty() { Vec::new() } else { keys().map(|(_, public, _)| public).collect() },
            public_texts: publics().collect(),
            linked: if self.linked.is_empty() { Vec::new() } else { keys().map(|(_, _, linked)| linked).collect() },
            ends: self.ends,
            regions: self.regions,
            counterfeits,
            values: values.clone(),
            counts: None,
        }
    }
}
