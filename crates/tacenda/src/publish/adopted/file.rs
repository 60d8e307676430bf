//! A view in a file that some other tool wrote: CSV, TSV or Parquet, in any of the usual notations.
//!
//! Each row may be recoded in its own way. A cell is read exactly or refused. A wider span would match more rows than
//! it really does, and a view that is judged with it would promise too much.

use crate::ingest::foreign::{ColumnNote, File, Foreign};
use crate::ingest::{IngestError, Source, foreign};
use crate::model::{GROUP_ID, Quasi, RECORD, ROW_WEIGHT, Schema, Span, SpanColumn};
use crate::promise::{NamedView, PolicyFile};
use crate::publish::ProjectError;
use crate::publish::adopt::{ask, express};
use crate::publish::adopted::{Found, fault, refuse_unlisted};
use std::path::Path;

pub(super) fn read(
    file: &PolicyFile,
    named: &NamedView,
    path: &Path,
    columns: &[Quasi],
) -> Result<Found, ProjectError> {
    let source = Source::open(path)?;
    let header = foreign::header(&source).map_err(IngestError::of_view)?;
    refuse_unlisted(&file.schema, named, header.iter().map(String::as_str))?;
    let own = Schema::new(&file.schema.identifier, columns.to_vec(), Vec::new());
    let published = File { source, label: String::new(), counterfeits: None };
    let read = foreign::read(&[published], &[], &ask(&own, &named.reading)).map_err(IngestError::of_view)?;
    let release = &read.releases[0];
    if !release.linked.is_empty() {
        let what = format!("its column {RECORD} ties a person's rows of several releases together");
        return Err(fault(named, what));
    }
    let spans =
        columns.iter().enumerate().map(|(at, quasi)| cells(&read, at, quasi).map_err(|what| fault(named, what)));
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    let mut notes = vec![conclusion(named, &name, &read)];
    notes.extend(unknown(&header, named, &name));
    Ok(Found { columns: spans.collect::<Result<Vec<SpanColumn>, ProjectError>>()?, name, notes })
}

/// The spans of one column, row by row, in the order of the groups that were read.
fn cells(read: &Foreign, at: usize, quasi: &Quasi) -> Result<SpanColumn, String> {
    let (release, theirs) = (&read.releases[0], &read.schema.quasi[at]);
    let mut spans: Vec<Span> = Vec::with_capacity(release.row_count());
    for group in 0..release.group_count() {
        let rows = release.group_rows(group);
        let first = rows.clone().filter_map(|row| read.shown[0].places.get(row)).min();
        let span = express(release.region(group)[at], theirs, quasi).ok_or_else(|| {
            let row = first.map_or(0, |place| place + 1);
            format!("column {} says in row {row} what the policy file has no word for", quasi.name)
        })?;
        spans.extend(rows.map(|_| span));
    }
    Ok(SpanColumn::new(&spans))
}

/// How the file was understood.
fn conclusion(named: &NamedView, name: &str, read: &Foreign) -> String {
    let column = |note: &ColumnNote| {
        let forms: Vec<String> = note.notations.iter().map(|(form, count)| format!("{form} {count}")).collect();
        format!("{}: {}", note.column, forms.join(", "))
    };
    let columns: Vec<String> = read.columns.iter().map(column).collect();
    let rows = read.releases[0].row_count();
    format!("view {} was made elsewhere: {name} has {rows} rows; {}", named.name, columns.join("; "))
}

/// Columns that the policy file does not know.
fn unknown(header: &[String], named: &NamedView, name: &str) -> Option<String> {
    let own = [GROUP_ID, ROW_WEIGHT];
    let is_unknown = |column: &&String| !named.columns.contains(column) && !own.contains(&column.as_str());
    let unknown: Vec<&str> = header.iter().filter(is_unknown).map(String::as_str).collect();
    (!unknown.is_empty()).then(|| {
        let columns = unknown.join(", ");
        format!("{name} also has {columns}, which no view lists: what readers learn from these columns was not judged")
    })
}
