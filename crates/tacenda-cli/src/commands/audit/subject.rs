//! What is audited: files of anyone, release folders of ours, or a project's ledger.

use crate::args::{Common, ReadingArgs, SubjectArgs};
use crate::commands::audit::{own, wishes};
use crate::commands::shared::failure_of;
use crate::failure::Failure;
use crate::screen::Screen;
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::audit::knowledge::Knowledge;
use tacenda::audit::{Series, Thresholds, Traces};
use tacenda::ingest::foreign::{File, Foreign, Shown};
use tacenda::ingest::{IngestError, Source, foreign};
use tacenda::model::{Membership, RecordKey, Release, Schema, Table, Terms};
use tacenda::publish::ProjectError;
use tacenda::report;
use tacenda::report::{About, FileFacts, PrivateFacts};

/// A series, ready to be examined. Holds the truth where it was given: private.
pub struct Subject {
    pub schema: Schema,
    pub releases: Vec<Release>,
    pub traces: Vec<Traces>,
    pub promise: Option<Terms>,
    pub truth: Vec<Table>,
    /// Per table of the truth, who is known to have been left out of the release; empty where nobody is.
    pub left_out: Vec<Membership>,
    pub about: About,
    /// How an identifier of the truth becomes a key.
    pub key: Box<dyn Fn(&str) -> RecordKey>,
}

impl Subject {
    /// Reads what the command line names.
    pub fn read(args: &SubjectArgs, common: &Common, screen: &Screen) -> Result<Subject, Failure> {
        let reading = &args.reading;
        if args.files.is_empty() {
            return own::project(reading, common, screen);
        }
        if !reading.truth.is_empty() && reading.truth.len() != args.files.len() {
            let (truth, files) = (reading.truth.len(), args.files.len());
            return Err(Failure::usage(format!(
                "--truth names {truth} tables for {files} releases; name one a release"
            )));
        }
        if reading.truth.len() > 1 && reading.id.is_none() {
            let message = "--truth needs --id COLUMN where there are several releases: otherwise nobody is known to be in two of \
                           them, and what comparing them gives away is not found";
            return Err(Failure::usage(message));
        }
        if !reading.quasi.is_empty() {
            return of_anyone(&args.files, reading, screen);
        }
        match args.files.iter().map(|file| own::folder_of(file)).collect::<Option<Vec<PathBuf>>>() {
            Some(folders) => own::folders(&folders, reading, screen),
            None => Err(name_columns(&args.files, screen)),
        }
    }

    /// What the attacker knows, where the truth is at hand.
    pub fn knowledge(&self) -> Option<Knowledge<'_>> {
        match (self.truth.is_empty(), self.left_out.is_empty()) {
            (true, _) => None,
            (false, true) => Some(Knowledge::from_tables(&self.truth)),
            (false, false) => Some(Knowledge::from_published(self.truth.iter().zip(&self.left_out))),
        }
    }

    /// What the releases are against the truth, where it is at hand.
    pub fn private(&self, thresholds: &Thresholds) -> Option<PrivateFacts> {
        if self.truth.is_empty() {
            return None;
        }
        let releases = self.releases.iter().zip(&self.traces).zip(&self.truth);
        let truth = releases.map(|((release, traces), table)| {
            report::truth_facts(release, !traces.without_sensitive, table, &self.schema, thresholds)
        });
        Some(PrivateFacts { truth: truth.collect(), churn: Vec::new() })
    }

    /// The series as the auditor sees it.
    pub fn series<'a>(&'a self, knowledge: Option<&'a Knowledge<'a>>) -> Series<'a> {
        Series {
            schema: &self.schema,
            releases: &self.releases,
            traces: &self.traces,
            promise: self.promise.as_ref(),
            knowledge,
        }
    }
}

/// Reads files of anyone.
fn of_anyone(paths: &[PathBuf], args: &ReadingArgs, screen: &Screen) -> Result<Subject, Failure> {
    let ask = wishes::ask(args)?;
    let mut order = wishes::order(paths, args)?;
    let rejected = |error: IngestError| refused(error.into(), screen);
    let bar = screen.steps(1);
    bar.set_message("reading");
    let (mut files, mut named) = (Vec::new(), Vec::new());
    for &at in &order {
        let data = own::data_file(&paths[at]).map_err(|error| refused(error.into(), screen))?;
        let counterfeits =
            foreign::counts_beside(&data).map(|path| Source::open(&path)).transpose().map_err(rejected)?;
        files.push(File { source: Source::open(&data).map_err(rejected)?, label: label(&data), counterfeits });
        named.push(data);
    }
    let truth = order.iter().filter_map(|&at| args.truth.get(at)).map(|path| Source::open(path));
    let truth = truth.collect::<Result<Vec<Source>, IngestError>>().map_err(rejected)?;
    let mut read = foreign::read(&files, &truth, &ask).map_err(rejected)?;
    bar.finish_and_clear();
    let keep = once(&mut read);
    retain(&mut order, &keep);
    retain(&mut named, &keep);
    let mut notes: Vec<String> = read
        .columns
        .iter()
        .map(|column| {
            let forms: Vec<String> = column.notations.iter().map(|(form, count)| format!("{form} {count}")).collect();
            format!("{}: {} ({}), domain {}", column.column, column.values, forms.join(", "), column.domain)
        })
        .collect();
    notes.extend(read.notes);
    notes.extend(match keep.iter().filter(|&&kept| !kept).count() {
        0 => None,
        1 => Some("1 file is the release before again: it counts once".into()),
        _ => Some("some files are the release before again: it counts once".into()),
    });
    notes.extend(read.assumptions.iter().cloned());
    if read.columns.iter().any(|column| column.missing.is_some()) {
        notes.push("--missing says what cells that say nothing stand for: any value, or a value of their own".into());
    }
    let source = |(data, digest): (&PathBuf, &String)| report::Source {
        at: None,
        data: Some(data.display().to_string()),
        files: vec![FileFacts { name: shown_name(data), bytes: length(data), sha256: digest.clone() }],
    };
    let about = About {
        name: common_name(&order.iter().map(|&at| label(&paths[at])).collect::<Vec<String>>()),
        software: software(),
        notes,
        assumptions: read.assumptions,
        sources: named.iter().zip(&read.digests).map(source).collect(),
        ..About::default()
    };
    Ok(Subject {
        schema: read.schema,
        releases: read.releases,
        traces: read.shown.into_iter().map(traces).collect(),
        promise: None,
        truth: read.truth,
        left_out: Vec::new(),
        about,
        key: Box::new(foreign::key),
    })
}

/// Leaves out releases that are the one before again, of the same people: they tell nothing more. Answers per file whether
/// it stays.
fn once(read: &mut Foreign) -> Vec<bool> {
    let is_first = |at: usize| {
        let is_again = |before: usize| {
            let (a, b) = (&read.releases[before], &read.releases[at]);
            let is_same = a.regions == b.regions
                && a.ends == b.ends
                && a.sensitive == b.sensitive
                && a.counterfeits == b.counterfeits
                && a.linked == b.linked
                && read.shown[before].columns == read.shown[at].columns
                && read.shown[before].without_sensitive == read.shown[at].without_sensitive;
            is_same && read.truth.get(before) == read.truth.get(at)
        };
        !at.checked_sub(1).is_some_and(is_again)
    };
    let keep: Vec<bool> = (0..read.releases.len()).map(is_first).collect();
    retain(&mut read.releases, &keep);
    retain(&mut read.shown, &keep);
    retain(&mut read.truth, &keep);
    retain(&mut read.digests, &keep);
    (1..).zip(&mut read.releases).for_each(|(number, release)| release.number = number);
    keep
}

/// Keeps what belongs to the files that stay; a list may be empty.
fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    list.retain(|_| keep.next().is_none_or(|&kept| kept));
}

fn traces(shown: Shown) -> Traces {
    Traces {
        places: shown.places,
        group_names: shown.group_names,
        columns: shown.columns,
        without_sensitive: shown.without_sensitive,
        counterfeits_known: shown.counterfeits_known,
    }
}

/// Without --quasi nothing is proposed; the columns there are make the choice quick.
fn name_columns(files: &[PathBuf], screen: &Screen) -> Failure {
    let mut columns: Vec<String> = Vec::new();
    for file in files {
        let header = Source::open(file).and_then(|source| foreign::header(&source));
        match header {
            Ok(header) => header.into_iter().for_each(|name| {
                if !columns.contains(&name) {
                    columns.push(name);
                }
            }),
            Err(error) => return refused(error.into(), screen),
        }
    }
    Failure::usage("say which columns an attacker may know: --quasi age,zip,sex --sensitive disease")
        .line(format!("  the files have the columns {}", columns.join(", ")))
}

/// What a release is called after its file.
pub fn label(path: &Path) -> String {
    let name = shown_name(path);
    let endings = [".gz", ".zst", ".csv", ".tsv", ".txt", ".parquet"];
    let mut stem = name.as_str();
    while let Some(shorter) = endings.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    if stem.is_empty() { name } else { stem.to_string() }
}

fn shown_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// What all labels begin with.
fn common_name(labels: &[String]) -> String {
    let Some(first) = labels.first() else { return String::new() };
    let shared = |length: usize| {
        first.is_char_boundary(length) && labels.iter().all(|label| label.starts_with(&first[..length]))
    };
    let length = (0..=first.len()).rev().find(|&length| shared(length)).unwrap_or(0);
    let name = first[..length].trim_end_matches(|letter: char| !letter.is_alphabetic());
    if name.is_empty() { "releases".into() } else { name.to_string() }
}

/// An error of what was named.
pub fn refused(error: ProjectError, screen: &Screen) -> Failure {
    failure_of(error, "what was named could not be read; nothing was looked at", screen)
}

/// The program and its version.
pub fn software() -> String {
    format!("tacenda {}", env!("CARGO_PKG_VERSION"))
}
