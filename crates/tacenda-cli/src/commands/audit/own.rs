//! Releases of ours: folders with a manifest, and the ledger of a project.

use crate::args::Common;
use crate::args::ReadingArgs;
use crate::commands::audit::subject::Subject;
use crate::commands::audit::subject::software;
use crate::commands::shared::failure;
use crate::commands::shared::open;
use crate::failure::Failure;
use crate::screen::Screen;
use std::path::Path;
use std::path::PathBuf;
use tacenda::audit::Traces;
use tacenda::folder;
use tacenda::folder::FolderError;
use tacenda::folder::Published;
use tacenda::ingest::IngestError;
use tacenda::ingest::Source;
use tacenda::ingest::foreign;
use tacenda::ledger::LedgerError;
use tacenda::model::History;
use tacenda::model::RecordKey;
use tacenda::model::Release;
use tacenda::model::Schema;
use tacenda::model::Table;
use tacenda::model::Values;
use tacenda::publish::Access;
use tacenda::report;
use tacenda::report::About;
use tacenda::report::FileFacts;

/// The release folder that a path names: the folder, or a file in it.
pub fn folder_of(path: &Path) -> Option<PathBuf> {
    let folder = if path.is_dir() { path.to_path_buf() } else { path.parent()?.to_path_buf() };
    folder.join(folder::MANIFEST).exists().then_some(folder)
}

/// The data file that a path names: the file, or that of a release folder.
pub fn data_file(path: &Path) -> Result<PathBuf, FolderError> {
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let published = folder::read(path)?;
    let files = published.manifest["files"].as_array().cloned().unwrap_or_default();
    let is_data =
        |name: &&str| (name.ends_with(".csv") || name.ends_with(".parquet")) && !name.ends_with(".counterfeits.csv");
    let name = files.iter().filter_map(|file| file["name"].as_str()).find(is_data);
    name.map(|name| path.join(name)).ok_or(FolderError::Manifest { what: "no data file is listed".into() })
}

/// Reads release folders.
pub fn folders(folders: &[PathBuf], args: &ReadingArgs, screen: &Screen) -> Result<Subject, Failure> {
    let read = read_folders(folders, screen)?;
    let schema = read[0].schema.clone();
    if read.iter().any(|other| other.schema.quasi != schema.quasi) {
        return Err(Failure::usage("these releases have different columns; name them with --quasi and --sensitive"));
    }
    let identifier = args.id.clone();
    subject(read, schema, args, identifier, Vec::new(), Box::new(foreign::key), screen)
}

/// Reads the releases of a project, and its truth where there is one.
pub fn project(args: &ReadingArgs, common: &Common, screen: &Screen) -> Result<Subject, Failure> {
    let project = open(common, Access::Look, screen)?;
    let folders: Vec<PathBuf> = match project.store() {
        Some(store) => store.publications().map(|publication| store.release_folder(publication.number)).collect(),
        None => Vec::new(),
    };
    if project.store().is_some_and(|store| store.events().iter().any(|event| event.is_adoption())) {
        let message = "some releases of this project were made elsewhere; name all files, with --quasi and --sensitive";
        return Err(Failure::usage(message));
    }
    if folders.is_empty() {
        return Err(Failure::new("U202", 2, "the project has no release yet; name files, or publish first"));
    }
    if !args.truth.is_empty() && args.truth.len() != folders.len() {
        let (truth, releases) = (args.truth.len(), folders.len());
        return Err(Failure::usage(format!(
            "--truth names {truth} tables for {releases} releases; name one a release"
        )));
    }
    let read = read_folders(&folders, screen)?;
    let policy = project.policy();
    let from_vault = |error: LedgerError| failure(error.into(), screen);
    let kept = match project.store() {
        Some(store) if args.truth.is_empty() && folders.len() == 1 => store.snapshot().map_err(from_vault)?,
        _ => None,
    };
    let identifier = args.id.clone().or(Some(policy.schema.identifier.clone()));
    let key: Box<dyn Fn(&str) -> RecordKey> = match project.store() {
        Some(store) => {
            let secret = store.seed().key("identifier");
            Box::new(move |identifier| RecordKey::of(&secret, identifier.as_bytes()))
        }
        None => Box::new(foreign::key),
    };
    let mut subject = subject(read, policy.schema.clone(), args, identifier, kept.into_iter().collect(), key, screen)?;
    if let (Some(store), false) = (project.store(), subject.truth.is_empty()) {
        let history = store.history().map_err(from_vault)?;
        for (table, release) in subject.truth.iter_mut().zip(1..) {
            *table = published(table, &history, release);
        }
    }
    subject.promise = Some(policy.promise.clone());
    subject.about.name = policy.series.name.clone();
    subject.about.title = policy.series.title.clone();
    subject.about.contact = policy.series.contact.clone();
    subject.about.policy_sha256 = Some(project.policy_digest().to_string());
    subject.about.ledger_head = Some(project.ledger_head().to_string());
    if subject.truth.is_empty() {
        let note = "the vault keeps the last snapshot only: give all of them with --truth for exact counts of people";
        subject.about.notes.push(note.into());
    }
    Ok(subject)
}

/// The people of a table who were not withheld from its release, by what the vault says of them. Who was
/// published before and after a release and not in it is not known there and stays.
fn published(table: &Table, history: &History, release: u32) -> Table {
    let is_in = |row: &usize| {
        let key = table.keys()[*row];
        let record = history.records.binary_search_by(|record| record.key.cmp(&key)).ok();
        record
            .map(|at| &history.records[at])
            .is_none_or(|record| (record.cohort..=record.last_release).contains(&release))
    };
    let rows: Vec<usize> = (0..table.len()).filter(is_in).collect();
    Table::new(
        rows.iter().map(|&row| table.keys()[row]).collect(),
        (0..table.quasi_count()).map(|at| rows.iter().map(|&row| table.quasi(at)[row]).collect()).collect(),
        rows.iter().map(|&row| table.sensitive()[row]).collect(),
        table.values.clone(),
        Vec::new(),
        Vec::new(),
    )
}

fn read_folders(folders: &[PathBuf], screen: &Screen) -> Result<Vec<Published>, Failure> {
    let bar = screen.steps(folders.len() as u64);
    bar.set_message("reading");
    let mut values = Values::default();
    let read = folders.iter().map(|folder| {
        bar.inc(1);
        folder::read_with(folder, &mut values)
    });
    let mut read =
        read.collect::<Result<Vec<Published>, FolderError>>().map_err(|error| failure(error.into(), screen))?;
    bar.finish_and_clear();
    // Later releases may have values that earlier ones did not know of yet.
    read.iter_mut().for_each(|published| published.release.values = values.clone());
    Ok(read)
}

fn subject(
    read: Vec<Published>,
    schema: Schema,
    args: &ReadingArgs,
    identifier: Option<String>,
    kept: Vec<Table>,
    key: Box<dyn Fn(&str) -> RecordKey>,
    screen: &Screen,
) -> Result<Subject, Failure> {
    let rejected = |error: IngestError| failure(error.into(), screen);
    let sources = args.truth.iter().map(|path| Source::open(path));
    let sources = sources.collect::<Result<Vec<Source>, IngestError>>().map_err(rejected)?;
    let mut values = read.last().map_or_else(Values::default, |published| published.release.values.clone());
    let mut truth =
        foreign::read_truth(&sources, &schema, identifier.as_deref(), &mut values, &key).map_err(rejected)?;
    if truth.is_empty() {
        truth = kept.into_iter().map(|table| foreign::renumbered(&table, &mut values)).collect();
    }
    let last = read.last().expect("at least one release was named");
    let about = About {
        name: last.series.clone(),
        software: software(),
        sources: read.iter().map(source).collect(),
        ..About::default()
    };
    let promise = Some(last.promise.clone());
    // Our own files say how many counterfeits there are, and their order is sorted, not the input's.
    let traces = read.iter().map(|published| Traces {
        group_names: (1..=published.release.group_count()).map(|group| group.to_string().into()).collect(),
        counterfeits_known: true,
        ..Traces::default()
    });
    Ok(Subject {
        traces: traces.collect(),
        releases: read.into_iter().map(|published| Release { values: values.clone(), ..published.release }).collect(),
        promise,
        truth,
        about,
        schema,
        key,
    })
}

fn source(published: &Published) -> report::Source {
    let files = published.manifest["files"].as_array().cloned().unwrap_or_default();
    let facts = |file: &serde_json::Value| FileFacts {
        name: file["name"].as_str().unwrap_or_default().into(),
        bytes: file["bytes"].as_u64().unwrap_or(0),
        sha256: file["sha256"].as_str().unwrap_or_default().into(),
    };
    report::Source { at: None, files: files.iter().map(facts).collect() }
}
