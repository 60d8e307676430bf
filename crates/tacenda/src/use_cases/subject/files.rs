//! Files and tables of any tool: put in order and read together. A release that repeats the one before is left out.

use crate::ingest::foreign::{File, Foreign};
use crate::ingest::{Given, Source, foreign};
use crate::model::ChainLink;
use crate::publish::{rows_that_fit, software};
use crate::report::{About, FileFacts};
use crate::use_cases::releases::vouch_for_file;
use crate::use_cases::subject::{fit, own};
use crate::use_cases::{Order, Progress, Subject, SubjectRequest, UseCaseError};
use crate::{folder, report};
use std::fs;
use std::path::{Path, PathBuf};

/// A release that was named: a file, or a frame.
struct Named {
    /// What it is called in sentences.
    name: String,
    /// The common prefix of these names the series.
    stem: String,
    /// Its data file; a frame has none.
    data: Option<PathBuf>,
    /// What a release of ours says of its place in its series.
    link: Option<ChainLink>,
}

/// Reads files of anyone.
pub(super) fn read(mut request: SubjectRequest, progress: Progress<'_>) -> Result<Subject, UseCaseError> {
    let ask = request.ask()?;
    // A small file can hold more than any memory.
    let most = rows_that_fit(ask.quasi.len() + ask.sensitive.len());
    let order = order(&request)?;
    progress(1, "reading");
    let mut releases: Vec<Option<Given>> = request.releases.drain(..).map(Some).collect();
    let mut tables: Vec<Option<Given>> = request.truth.drain(..).map(Some).collect();
    let (mut files, mut named, mut truth) = (Vec::new(), Vec::new(), Vec::new());
    for &at in &order {
        let (File { source, label, counterfeits }, name) =
            open(releases[at].take().expect("each place is in the order once"), at)?;
        files.push(File { source: source.at_most(most), label, counterfeits });
        named.push(name);
        let table = tables.get_mut(at).and_then(Option::take);
        truth.extend(table.map(Given::open).transpose()?.map(|source| source.at_most(most)));
    }
    let mut read = foreign::read(&files, &truth, &ask)?;
    let repeats = repeats(&read);
    let repeated = said(&repeats, &named);
    let keep: Vec<bool> = repeats.iter().map(Option::is_none).collect();
    leave_out(&mut read, &keep);
    retain(&mut named, &keep);
    read.shown.iter_mut().zip(&named).for_each(|(shown, named)| shown.link.clone_from(&named.link));
    let mut notes: Vec<String> = read
        .columns
        .iter()
        .map(|column| {
            let forms: Vec<String> = column.notations.iter().map(|(form, count)| format!("{form} {count}")).collect();
            format!("{}: {} ({}), domain {}", column.column, column.values, forms.join(", "), column.domain)
        })
        .collect();
    let fit = fit::fit(&read);
    read.assumptions.extend(fit.said);
    notes.extend(read.notes);
    notes.extend(repeated);
    notes.extend(read.assumptions.iter().cloned());
    if read.columns.iter().any(|column| column.missing.is_some()) {
        notes.push("--missing says how to read empty cells: as any value, or as a value of their own".into());
    }
    let about = About {
        name: common_name(&named),
        software: software(),
        notes,
        assumptions: read.assumptions,
        guessed: read.columns.iter().filter(|note| note.guessed).map(|note| note.column.clone()).collect(),
        sources: named.iter().zip(&read.digests).map(|(named, digest)| source(named, digest)).collect(),
        ..About::default()
    };
    Ok(Subject {
        schema: read.schema,
        releases: read.releases,
        traces: read.shown,
        promise: None,
        truth: read.truth,
        left_out: fit.left_out,
        kept_sets: false,
        is_doubted: fit.is_doubted,
        about,
        made_with: None,
        key: Box::new(foreign::key),
    })
}

/// Opens a release, with the counts of counterfeits beside it.
fn open(given: Given, at: usize) -> Result<(File, Named), UseCaseError> {
    match given {
        Given::Path(path) => {
            let data = own::data_file(&path)?;
            vouch_for_file(&data)?;
            let counterfeits = foreign::counts_beside(&data).map(|path| Source::open(&path));
            let counterfeits = counterfeits.transpose()?;
            let link = own::folder_of(&Given::Path(path.clone())).and_then(|folder| folder::read_link(&folder).ok());
            let named = Named { name: file_name(&data), stem: label(&path), data: Some(data.clone()), link };
            Ok((File { source: Source::open(&data)?, label: label(&data), counterfeits }, named))
        }
        Given::Frame(source) => {
            let name = frame_name(at);
            let file = File { source, label: name.clone(), counterfeits: None };
            Ok((file, Named { stem: name.clone(), name, data: None, link: None }))
        }
    }
}

fn frame_name(at: usize) -> String {
    format!("frame {}", at + 1)
}

/// Per release, the earlier one that it repeats. It repeats a release if it has the same rows, no other release lies
/// between, and the known people are the same. Then it reveals nothing more.
fn repeats(read: &Foreign) -> Vec<Option<usize>> {
    let is_again = |before: usize, at: usize| {
        let (a, b) = (&read.releases[before], &read.releases[at]);
        a.regions == b.regions
            && a.ends == b.ends
            && a.sensitive == b.sensitive
            && a.counterfeits == b.counterfeits
            && a.linked == b.linked
            && read.shown[before].columns == read.shown[at].columns
            && read.shown[before].without_sensitive == read.shown[at].without_sensitive
            && read.truth.get(before) == read.truth.get(at)
    };
    let mut repeats: Vec<Option<usize>> = Vec::new();
    for at in 0..read.releases.len() {
        let before = at.checked_sub(1).filter(|&before| is_again(before, at));
        repeats.push(before.map(|before| repeats[before].unwrap_or(before)));
    }
    repeats
}

/// Notes which releases repeat which, and how the others are renumbered.
fn said(repeats: &[Option<usize>], named: &[Named]) -> Vec<String> {
    let repeated = |(at, first): (usize, &Option<usize>)| {
        let first = (*first)?;
        Some(format!("{} repeats {} and is ignored", named[at].name, named[first].name))
    };
    let mut notes: Vec<String> = repeats.iter().enumerate().filter_map(repeated).collect();
    let kept = repeats.iter().enumerate().filter(|(_, first)| first.is_none());
    let moved = (0..).zip(kept).filter(|(number, (at, _))| number != at);
    let moved: Vec<String> =
        moved.map(|(number, (at, _))| format!("{} is release {}", named[at].name, number + 1)).collect();
    if !moved.is_empty() {
        notes.push(format!("releases are numbered without what is ignored: {}", moved.join(", ")));
    }
    notes
}

/// Keeps some of the releases, and numbers them anew.
fn leave_out(read: &mut Foreign, keep: &[bool]) {
    retain(&mut read.releases, keep);
    retain(&mut read.shown, keep);
    retain(&mut read.truth, keep);
    retain(&mut read.digests, keep);
    (1..).zip(&mut read.releases).for_each(|(number, release)| release.number = number);
}

/// Keeps the entries of the files that stay; a list may be empty.
fn retain<T>(list: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    list.retain(|_| keep.next().is_none_or(|&kept| kept));
}

fn source(named: &Named, digest: &str) -> report::ReleaseOrigin {
    let Some(data) = &named.data else { return report::ReleaseOrigin::default() };
    let bytes = fs::metadata(data).map_or(0, |metadata| metadata.len());
    report::ReleaseOrigin {
        at: None,
        data: Some(data.display().to_string()),
        files: vec![FileFacts { name: named.name.clone(), bytes, sha256: digest.into() }],
    }
}

/// What a release is called after its file.
fn label(path: &Path) -> String {
    let name = file_name(path);
    let endings = [".gz", ".zst", ".csv", ".tsv", ".txt", ".parquet"];
    let mut stem = name.as_str();
    while let Some(shorter) = endings.iter().find_map(|ending| stem.strip_suffix(ending)) {
        stem = shorter;
    }
    if stem.is_empty() { name } else { stem.to_string() }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// What all names begin with.
fn common_name(named: &[Named]) -> String {
    let Some(first) = named.first().map(|named| &named.stem) else { return String::new() };
    let shared = |length: usize| {
        first.is_char_boundary(length) && named.iter().all(|named| named.stem.starts_with(&first[..length]))
    };
    let length = (0..=first.len()).rev().find(|&length| shared(length)).unwrap_or(0);
    let name = first[..length].trim_end_matches(|letter: char| !letter.is_alphabetic());
    if name.is_empty() { "releases".into() } else { name.to_string() }
}

/// The places of the releases in order of time.
fn order(request: &SubjectRequest) -> Result<Vec<usize>, UseCaseError> {
    let releases = &request.releases;
    let mut order: Vec<usize> = (0..releases.len()).collect();
    let dates: Vec<String> = match &request.order {
        Order::Given => return Ok(order),
        Order::Named => releases.iter().enumerate().map(date_of).collect::<Result<_, UseCaseError>>()?,
        Order::Dated(dates) if dates.len() != releases.len() => {
            let (dates, files) = (dates.len(), releases.len());
            return Err(UseCaseError::usage(format!("--dates names {dates} dates for {files} files")));
        }
        Order::Dated(dates) => dates.iter().map(|date| given(date)).collect::<Result<_, UseCaseError>>()?,
    };
    order.sort_by(|&left, &right| dates[left].cmp(&dates[right]));
    match order.windows(2).find(|pair| dates[pair[0]] == dates[pair[1]]) {
        Some(pair) => Err(UseCaseError::usage(format!("two files have the date {}", dates[pair[0]]))),
        None => Ok(order),
    }
}

fn date_of((at, given): (usize, &Given)) -> Result<String, UseCaseError> {
    let name = match given {
        Given::Path(path) => file_name(path),
        Given::Frame(_) => frame_name(at),
    };
    match foreign::date_in(&name) {
        Some(date) => Ok(sortable(date)),
        None => Err(UseCaseError::usage(format!("--order date: {name} has no clear date; use --dates"))),
    }
}

fn given(date: &str) -> Result<String, UseCaseError> {
    let wrong = || UseCaseError::usage(format!("--dates {date}: write 2026-11-15, 2026-11, 2026-Q4, 2026-H2 or 2026"));
    foreign::date(date.trim()).map(sortable).ok_or_else(wrong)
}

fn sortable((year, month, day): (u16, u8, u8)) -> String {
    format!("{year:04}-{month:02}-{day:02}")
}
