//! Our own releases: folders with a manifest, and the ledger of a project.

use crate::folder::{FolderError, ReceivedRelease, WrittenFile};
use crate::ingest::{Given, IngestError, Source, foreign};
use crate::model::{Quasi, RecordKey, Release, Role, Row, Schema, Table, Values};
use crate::publish::{Access, PrivateTables, laid_out, software};
use crate::report::{About, FileFacts};
use crate::use_cases::releases::{vouch_in_place, withdrawn};
use crate::use_cases::subject::fit;
use crate::use_cases::{Progress, Subject, SubjectRequest, UseCaseError};
use crate::{folder, report};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The release folder that a path names: the folder, or a file in it.
pub(super) fn folder_of(given: &Given) -> Option<PathBuf> {
    let Given::Path(path) = given else { return None };
    let folder = if path.is_dir() { path.to_path_buf() } else { path.parent()?.to_path_buf() };
    folder.join(folder::MANIFEST).exists().then_some(folder)
}

/// The data file that a path names: the file, or that of a release folder.
pub(super) fn data_file(path: &Path) -> Result<PathBuf, FolderError> {
    if !path.is_dir() {
        return Ok(path.to_path_buf());
    }
    let files = listed(&folder::read(path)?);
    let name = report::ReleaseOrigin::data_name(files.iter().map(|file| file.name.as_str()));
    name.map(|name| path.join(name)).ok_or(FolderError::Manifest { what: "no data file is listed".into() })
}

/// Reads release folders.
pub(super) fn folders(
    folders: Vec<PathBuf>,
    request: SubjectRequest,
    progress: Progress<'_>,
) -> Result<Subject, UseCaseError> {
    let mut values = Values::default();
    let mut read = Vec::new();
    for folder in &folders {
        progress(folders.len(), "reading");
        read.push(folder::read_with(folder, &mut values)?);
        vouch_in_place(folder)?;
    }
    let schema = together(&read)?;
    let sources = request.truth.into_iter().map(Given::open).collect::<Result<Vec<Source>, IngestError>>()?;
    let mut truth = foreign::read_truth(&sources, &schema, request.id.as_deref(), &mut values, &foreign::key)?;
    let schemas: Vec<&Schema> = read.iter().map(|published| &published.schema).collect();
    read_as_then(&schemas, &schema, &mut truth);
    let last = read.last().expect("at least one release was named");
    let about = About {
        name: last.series.clone(),
        software: software(),
        sources: read.iter().zip(&folders).map(|(published, folder)| source(published, folder)).collect(),
        ..About::default()
    };
    let root = &request.project.root;
    let gone = |(one, folder): (&ReceivedRelease, &PathBuf)| withdrawn(root, folder, one.release.number);
    let gone: Vec<String> = read.iter().zip(&folders).filter_map(gone).collect();
    let several = several_series(&read);
    // A promise is about one series, so several series have none.
    let promise = several.is_none().then(|| last.promise.terms());
    let about = match &several {
        Some(names) => About { name: names.join(" and "), notes: [vec![not_covered(names)], gone].concat(), ..about },
        None => About { notes: gone, ..about },
    };
    let (mut traces, mut releases) = (Vec::new(), Vec::new());
    for (number, published) in (1..).zip(read) {
        let series = published.series.clone();
        let (release, shown) = laid_out(published, &schema);
        traces.push(shown);
        // Later releases may have values that earlier ones did not know of yet.
        let release = Release { values: values.clone(), ..release };
        releases.push(match several {
            Some(_) => Release { number, label: format!("{series} {}", release.label), ..release },
            None => release,
        });
    }
    // Who was withheld the folders do not say; the people whom no group covers were.
    let fit = fit::fit(&schema, &releases, &truth);
    let about = match fit.is_doubted {
        true => about,
        false => About { notes: [about.notes, fit.said].concat(), ..about },
    };
    Ok(Subject {
        traces,
        releases,
        promise,
        truth,
        left_out: fit.left_out,
        kept_sets: false,
        is_doubted: false,
        about,
        made_with: None,
        schema,
        key: Box::new(foreign::key),
    })
}

/// Reads every table as it was read for its release: a value that was listed later is `other`, and so it stays for people
/// who are there from release to release.
fn read_as_then(schemas: &[&Schema], schema: &Schema, tables: &mut [Table]) {
    let firsts = first_seen(tables);
    for (attribute, quasi) in schema.quasi.iter().enumerate() {
        let (Some(other), Some(tree)) = (quasi.other(), quasi.hierarchy()) else { continue };
        let is_listed = |release: usize, code: u32| {
            let then = schemas[release].quasi.iter().find(|then| then.name == quasi.name);
            then.and_then(Quasi::hierarchy).is_none_or(|then| then.leaf(tree.leaf_label(code)).is_some())
        };
        for at in 0..tables.len().min(schemas.len()) {
            let (before, rest) = tables.split_at_mut(at);
            let (table, before) = (&mut rest[0], before.last());
            let was_other = |row: Row| {
                let found = before.and_then(|before| Some((before, before.find(table.key(row))?)));
                found.is_some_and(|(before, row)| before.quasi(attribute)[row.index()] == other)
            };
            let is_moved = |&row: &Row| {
                let code = table.quasi(attribute)[row.index()];
                !is_listed(at, code) || (was_other(row) && !is_listed(firsts[&table.key(row)], code))
            };
            let moved: Vec<Row> = table.rows().filter(is_moved).collect();
            table.set(attribute, &moved, other);
        }
    }
}

/// The first table that each person is in.
fn first_seen(tables: &[Table]) -> FxHashMap<RecordKey, usize> {
    let mut firsts = FxHashMap::default();
    for (at, table) in tables.iter().enumerate() {
        table.keys().iter().for_each(|key| _ = firsts.entry(*key).or_insert(at));
    }
    firsts
}

/// The names of the series that releases belong to, where there are several.
fn several_series(read: &[ReceivedRelease]) -> Option<Vec<String>> {
    let mut names: Vec<String> = read.iter().map(|published| published.series.clone()).collect();
    names.sort_unstable();
    names.dedup();
    (names.len() > 1).then_some(names)
}

fn not_covered(names: &[String]) -> String {
    format!(
        "these releases belong to different series, {}: no promise of one series covers them together",
        names.join(" and ")
    )
}

/// The columns of all releases: views have some each.
fn together(read: &[ReceivedRelease]) -> Result<Schema, UseCaseError> {
    let mut all = read[0].schema.clone();
    for other in &read[1..] {
        // A column may gain values from release to release.
        for quasi in &mut all.quasi {
            let now = other.schema.quasi.iter().find(|other| other.name == quasi.name);
            *quasi = now.and_then(|now| now.grown(quasi)).unwrap_or_else(|| quasi.clone());
        }
        let known = |quasi: &Quasi| all.quasi.iter().find(|known| known.name == quasi.name).cloned();
        let clashes = |quasi: &Quasi| known(quasi).is_some_and(|known| known.grown(quasi).as_ref() != Some(&known));
        let new: Vec<Quasi> = other.schema.quasi.iter().filter(|quasi| known(quasi).is_none()).cloned().collect();
        if other.schema.sensitive != all.sensitive || other.schema.quasi.iter().any(clashes) {
            let message = "these releases declare a column in different ways; name them with --quasi and --sensitive";
            return Err(UseCaseError::usage(message));
        }
        for quasi in new {
            all.order.push((Role::Quasi, all.quasi.len()));
            all.quasi.push(quasi);
        }
    }
    Ok(all)
}

/// Reads the releases of a project, those that were made elsewhere included, and its private tables where they are
/// at hand.
pub(super) fn project(request: SubjectRequest, progress: Progress<'_>) -> Result<Subject, UseCaseError> {
    let project = request.project.open(Access::Look)?;
    let Some(store) = project.store().filter(|store| store.releases() > 0) else {
        return Err(UseCaseError::NoRelease);
    };
    let policy = project.policy();
    if request.id.as_ref().is_some_and(|id| *id != policy.schema.identifier) {
        let message = "the policy file of a project names the identifier; leave --id out";
        return Err(UseCaseError::usage(message));
    }
    let steps = store.releases() as usize + request.truth.len();
    let tables = match request.truth.is_empty() {
        true => PrivateTables::Kept,
        false => PrivateTables::Given(request.truth),
    };
    let read = project.published(tables, &|what| progress(steps, what))?;
    let note = match read.tables.iter().all(Option::is_some) {
        true => "a person who was published before and after a release counts as published in it",
        false if !store.has_vault() => "the vault was not opened: give all snapshots with --truth to count people",
        false => "the vault has the last snapshot only: give all snapshots with --truth to count people exactly",
    };
    let retracted = store.retracted();
    let gone = retracted.iter().map(|(number, on, because)| {
        format!("release {number} was withdrawn on {}: {because}", on.split('T').next().unwrap_or_default())
    });
    let terms = read.terms(policy);
    let about = About {
        name: policy.series.name.clone(),
        title: policy.series.title.clone(),
        contact: policy.series.contact.clone(),
        software: software(),
        policy_sha256: Some(project.policy_digest().to_string()),
        ledger_head: Some(project.ledger_head().to_string()),
        sources: read.sources,
        notes: gone.chain([note.into()]).collect(),
        assumptions: read.assumptions,
        has_adopted: read.adopted.is_some(),
        broken: read.broken,
        not_covered: read.adopted.into_iter().chain(read.not_covered).collect(),
        ..About::default()
    };
    // Without the vault there are no tables, so nobody is looked up.
    let secret = store.seed().map_or_else(|_| Zeroizing::default(), |seed| seed.key("identifier"));
    let truth: Option<Vec<Table>> = read.tables.into_iter().collect();
    Ok(Subject {
        schema: policy.schema.clone(),
        releases: read.releases,
        traces: read.traces,
        promise: Some(terms),
        left_out: truth.as_ref().map_or_else(Vec::new, |_| read.left_out),
        kept_sets: read.kept_sets,
        is_doubted: false,
        truth: truth.unwrap_or_default(),
        about,
        made_with: store.seed().ok().map(|seed| (policy.clone(), seed.clone())),
        key: Box::new(move |identifier| RecordKey::of(&secret, identifier.as_bytes())),
    })
}

/// The files that the manifest of a release lists.
fn listed(published: &ReceivedRelease) -> Vec<FileFacts> {
    let facts =
        |file: &WrittenFile| FileFacts { name: file.name.clone(), bytes: file.bytes, sha256: file.sha256.clone() };
    published.manifest.files.iter().map(facts).collect()
}

fn source(published: &ReceivedRelease, folder: &Path) -> report::ReleaseOrigin {
    let files = listed(published);
    let data = report::ReleaseOrigin::data_name(files.iter().map(|file| file.name.as_str()));
    report::ReleaseOrigin { at: None, data: data.map(|name| folder.join(name).display().to_string()), files }
}
