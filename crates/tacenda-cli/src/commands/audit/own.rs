//! Releases of ours: folders with a manifest, and the ledger of a project.

use crate::args::{Common, ReadingArgs};
use crate::commands::audit::subject::{Subject, refused, software};
use crate::commands::shared::open;
use crate::failure::Failure;
use crate::screen;
use crate::screen::Screen;
use std::path::{Path, PathBuf};
use tacenda::audit::Traces;
use tacenda::folder::{FolderError, Published, Written};
use tacenda::ingest::{IngestError, Source, foreign};
use tacenda::model::{Quasi, RecordKey, Release, Role, Schema, Table, Values};
use tacenda::publish::{Access, PrivateTables};
use tacenda::report::{About, FileFacts};
use tacenda::{folder, report};

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
    let name = report::Source::data_name(published.manifest.files.iter().map(|file| file.name.as_str()));
    name.map(|name| path.join(name)).ok_or(FolderError::Manifest { what: "no data file is listed".into() })
}

/// Reads release folders.
pub fn folders(folders: &[PathBuf], args: &ReadingArgs, screen: &Screen) -> Result<Subject, Failure> {
    let read = read_folders(folders, screen)?;
    let schema = together(&read)?;
    let identifier = args.id.clone();
    subject(read, folders, schema, args, identifier, screen)
}

/// The columns of all releases: views have some each.
fn together(read: &[Published]) -> Result<Schema, Failure> {
    let mut all = read[0].schema.clone();
    for other in &read[1..] {
        let known = |quasi: &Quasi| all.quasi.iter().find(|known| known.name == quasi.name).cloned();
        let clashes = |quasi: &Quasi| known(quasi).is_some_and(|known| known != *quasi);
        let new: Vec<Quasi> = other.schema.quasi.iter().filter(|quasi| known(quasi).is_none()).cloned().collect();
        if other.schema.sensitive != all.sensitive || other.schema.quasi.iter().any(clashes) {
            let message = "these releases declare a column in different ways; name them with --quasi and --sensitive";
            return Err(Failure::usage(message));
        }
        for quasi in new {
            all.order.push((Role::Quasi, all.quasi.len()));
            all.quasi.push(quasi);
        }
    }
    Ok(all)
}

/// Reads the releases of a project, those that were made elsewhere included, and its truth where there is one.
pub fn project(args: &ReadingArgs, common: &Common, screen: &Screen) -> Result<Subject, Failure> {
    let project = open(common, Access::Look, screen)?;
    let Some(store) = project.store().filter(|store| store.releases() > 0) else {
        return Err(Failure::new("U202", 2, "the project has no release yet; name files, or publish first"));
    };
    let policy = project.policy();
    if args.id.as_ref().is_some_and(|id| *id != policy.schema.identifier) {
        return Err(Failure::usage("the policy file of a project names the identifier; leave --id out"));
    }
    let bar = screen.steps(u64::from(store.releases()));
    let step = screen::telling(&bar);
    let tables = match args.truth.is_empty() {
        true => PrivateTables::Kept,
        false => PrivateTables::Given(&args.truth),
    };
    let read = project.published(tables, &step).map_err(|error| refused(error, screen))?;
    bar.finish_and_clear();
    let note = match read.tables.iter().all(Option::is_some) {
        true => "someone who was published before and after a release counts as published in it",
        false => "the vault keeps the last snapshot only: give all of them with --truth for exact counts of people",
    };
    let about = About {
        name: policy.series.name.clone(),
        title: policy.series.title.clone(),
        contact: policy.series.contact.clone(),
        software: software(),
        policy_sha256: Some(project.policy_digest().to_string()),
        ledger_head: Some(project.ledger_head().to_string()),
        sources: read.sources,
        notes: vec![note.into()],
        assumptions: read.assumptions,
        not_covered: read.adopted.into_iter().chain(read.not_covered).collect(),
        ..About::default()
    };
    let secret = store.seed().key("identifier");
    let truth: Option<Vec<Table>> = read.tables.into_iter().collect();
    Ok(Subject {
        schema: policy.schema.clone(),
        releases: read.releases,
        traces: read.traces,
        promise: Some(policy.first_promise().terms()),
        left_out: truth.as_ref().map_or_else(Vec::new, |_| read.left_out),
        truth: truth.unwrap_or_default(),
        about,
        key: Box::new(move |identifier| RecordKey::of(&secret, identifier.as_bytes())),
    })
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
        read.collect::<Result<Vec<Published>, FolderError>>().map_err(|error| refused(error.into(), screen))?;
    bar.finish_and_clear();
    // Later releases may have values that earlier ones did not know of yet.
    read.iter_mut().for_each(|published| published.release.values = values.clone());
    Ok(read)
}

fn subject(
    read: Vec<Published>,
    folders: &[PathBuf],
    schema: Schema,
    args: &ReadingArgs,
    identifier: Option<String>,
    screen: &Screen,
) -> Result<Subject, Failure> {
    let rejected = |error: IngestError| refused(error.into(), screen);
    let sources = args.truth.iter().map(|path| Source::open(path));
    let sources = sources.collect::<Result<Vec<Source>, IngestError>>().map_err(rejected)?;
    let mut values = read.last().map_or_else(Values::default, |published| published.release.values.clone());
    let truth =
        foreign::read_truth(&sources, &schema, identifier.as_deref(), &mut values, &foreign::key).map_err(rejected)?;
    let last = read.last().expect("at least one release was named");
    let about = About {
        name: last.series.clone(),
        software: software(),
        sources: read.iter().zip(folders).map(|(published, folder)| source(published, folder)).collect(),
        ..About::default()
    };
    let promise = Some(last.promise.terms());
    let (mut traces, mut releases) = (Vec::new(), Vec::new());
    for published in read {
        let without_sensitive = published.schema.sensitive.is_empty();
        let (release, columns) = published.release.laid_out(&published.schema, &schema);
        traces.push(Traces::ours(&release, columns, without_sensitive));
        releases.push(Release { values: values.clone(), ..release });
    }
    Ok(Subject { traces, releases, promise, truth, left_out: Vec::new(), about, schema, key: Box::new(foreign::key) })
}

fn source(published: &Published, folder: &Path) -> report::Source {
    let files = &published.manifest.files;
    let facts = |file: &Written| FileFacts { name: file.name.clone(), bytes: file.bytes, sha256: file.sha256.clone() };
    let data = report::Source::data_name(files.iter().map(|file| file.name.as_str()));
    report::Source {
        at: None,
        data: data.map(|name| folder.join(name).display().to_string()),
        files: files.iter().map(facts).collect(),
    }
}
