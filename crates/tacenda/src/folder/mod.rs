//! A release folder: written, and read back as a recipient would.
//!
//! [`write()`] makes every file of a release, in a fixed order, each with its checksum. [`read`] needs
//! nothing but the folder: the manifest describes every column. [`count`] answers questions from the
//! published files alone.
//!
//! Nothing in a folder depends on the clock, the host, the order of the input, or internal numbers of values. The same
//! release gives the same bytes.

mod error;
mod digest;
mod order;
mod csv;
mod parquet;
mod public_schema;
mod manifest;
mod describe;
mod read;
mod read_csv;
mod read_parquet;
mod query;
mod fits;
mod count;

pub use count::{Answer, answer, count};
pub use digest::WrittenFile;
pub use error::FolderError;
pub(crate) use manifest::MANIFEST;
pub use manifest::{
    GroupSizes, Manifest, ManifestFacts, PreviousRelease, ReleaseName, ReleaseNumbers, SeriesNames, StatedPromise,
};
pub use parquet::frame;
pub use query::{Comparison, Condition, Question, Word, parse_question};
pub(crate) use read::schema_of_manifest;
pub use read::{ReceivedRelease, read, read_link, read_with};

use crate::folder::digest::Digesting;
pub use crate::folder::digest::SUMS;
pub(crate) use crate::folder::digest::{sums, unlisted};
use crate::model::{COUNTERFEITS, COUNTS, Release, Schema};
use crate::promise::{Format, PolicyFile};
use std::fs::File;
use std::io;
use std::io::Write;

/// A file of the folder while it is written.
pub trait Target: Write + Send {
    /// Ends the file: all of it is written, or the error says why not. A file that is dropped instead is not whole.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

impl Target for File {
    fn finish(mut self: Box<Self>) -> io::Result<()> {
        self.flush()
    }
}

/// Creates a file of the folder: takes its name, returns where to write it.
pub type Create<'a> = dyn FnMut(&str) -> io::Result<Box<dyn Target>> + 'a;

/// What every file of a release is called: series, number, ending.
pub fn file_stem(series: &str, number: u32) -> String {
    format!("{series}-r{number:04}")
}

/// A release as a folder is written from it.
#[derive(Clone, Copy, Debug)]
pub struct Issue<'a> {
    /// The release.
    pub release: &'a Release,
    /// Its columns: those of the policy, or of the view it is.
    pub schema: &'a Schema,
    /// The policy it was made under.
    pub policy: &'a PolicyFile,
}

impl<'a> Issue<'a> {
    /// A release with all columns of its policy.
    pub fn new(release: &'a Release, policy: &'a PolicyFile) -> Issue<'a> {
        Issue { release, schema: &policy.schema, policy }
    }

    /// Whether the folder lists the counterfeits of each group. It always does if the promise may add some, zeros
    /// included. Otherwise there are none, except in study modes.
    fn counts_counterfeits(&self) -> bool {
        self.policy.terms().adds_counterfeits || self.release.counterfeits.iter().any(|&count| count > 0)
    }
}

/// Writes all files of a release through `create`, and returns their names in order. Every file is finished before the
/// next one is created.
pub fn write(issue: &Issue<'_>, facts: &ManifestFacts, create: &mut Create<'_>) -> Result<Vec<String>, FolderError> {
    Ok(write_with_digests(issue, facts, create)?.into_iter().map(|file| file.name).collect())
}

/// The same, and returns the checksum of each file, so that the caller need not compute it again. The list of checksums
/// is the last file.
pub(crate) fn write_with_digests(
    issue: &Issue<'_>,
    facts: &ManifestFacts,
    create: &mut Create<'_>,
) -> Result<Vec<WrittenFile>, FolderError> {
    let Issue { release, policy, .. } = *issue;
    let stem = file_stem(&policy.series.name, release.number);
    let mut files: Vec<WrittenFile> = Vec::new();
    let mut put = |name: &str, fill: &mut Fill<'_>| -> Result<WrittenFile, FolderError> {
        let failed = |source| FolderError::Write { file: name.to_string(), source };
        let mut out = Digesting::new(create(name).map_err(failed)?);
        fill(&mut out).map_err(failed)?;
        out.finish(name).map_err(failed)
    };
    for format in &policy.output.formats {
        files.push(match format {
            Format::Csv => put(&format!("{stem}.csv"), &mut |out| csv::write_data(issue, out))?,
            Format::Parquet => put(&format!("{stem}.parquet"), &mut |out| parquet::write_data(issue, out))?,
        });
    }
    if issue.counts_counterfeits() {
        let name = format!("{stem}{COUNTERFEITS}");
        files.push(put(&name, &mut |out| csv::write_counterfeits(release, out))?);
    }
    if let Some(counts) = &release.counts {
        let name = format!("{stem}{COUNTS}");
        files.push(put(&name, &mut |out| csv::write_counts(counts, issue.schema, out))?);
    }
    let data_package = pretty(&describe::data_package(issue, &files));
    files.push(put("datapackage.json", &mut |out| out.write_all(data_package.as_bytes()))?);
    let readme = describe::readme(issue, facts);
    files.push(put("README.md", &mut |out| out.write_all(readme.as_bytes()))?);
    for (name, content) in &facts.more_files {
        files.push(put(name, &mut |out| out.write_all(content))?);
    }
    let manifest = serde_json::to_value(Manifest::of(issue, facts, &files)).expect("names and numbers are JSON");
    let manifest = pretty(&manifest);
    files.push(put(MANIFEST, &mut |out| out.write_all(manifest.as_bytes()))?);
    let list = sums(&files);
    files.push(put(SUMS, &mut |out| out.write_all(list.as_bytes()))?);
    Ok(files)
}

/// What fills a file.
type Fill<'a> = dyn FnMut(&mut Digesting) -> io::Result<()> + 'a;

fn pretty(json: &serde_json::Value) -> String {
    let mut text = serde_json::to_string_pretty(json).expect("a value without odd keys is JSON");
    text.push('\n');
    text
}

#[cfg(test)]
mod samples;
#[cfg(test)]
mod tests;
