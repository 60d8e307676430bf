//! A view in a release folder of ours, read as a recipient would.

use crate::folder;
use crate::model::{Quasi, Span, SpanColumn};
use crate::promise::{NamedView, PolicyFile};
use crate::publish::ProjectError;
use crate::publish::adopted::{Found, fault, refuse_unlisted};
use std::path::Path;

pub(super) fn read(
    file: &PolicyFile,
    named: &NamedView,
    path: &Path,
    columns: &[Quasi],
) -> Result<Found, ProjectError> {
    let published = folder::read(path)?;
    refuse_unlisted(&file.schema, named, published.schema.published_columns())?;
    let spans = |quasi: &Quasi| {
        let cells = cells(&published, quasi).map_err(|what| fault(named, what))?;
        Ok(SpanColumn::new(&cells))
    };
    Ok(Found {
        columns: columns.iter().map(spans).collect::<Result<Vec<SpanColumn>, ProjectError>>()?,
        name: format!("view {}", named.name),
        notes: Vec::new(),
    })
}

/// The spans of one column, row by row.
fn cells(published: &folder::ReceivedRelease, quasi: &Quasi) -> Result<Vec<Span>, String> {
    let (release, schema) = (&published.release, &published.schema);
    if let Some(at) = schema.quasi.iter().position(|theirs| theirs.name == quasi.name) {
        if schema.quasi[at].domain != quasi.domain || schema.quasi[at].nullable != quasi.nullable {
            return Err(format!("column {} has another domain in the release", quasi.name));
        }
        let of_group = |group: usize| release.group_rows(group).map(move |_| release.region(group)[at]);
        return Ok((0..release.group_count()).flat_map(of_group).collect());
    }
    let Some(at) = schema.sensitive.iter().position(|theirs| theirs.name == quasi.name) else {
        return Err(format!("the release has no column {}, or publishes it apart from the rows", quasi.name));
    };
    let cell = |value: &crate::model::Value| {
        let code = quasi.encode(&release.values.cells(*value)[at]);
        code.map(Span::exact).map_err(|_| format!("column {} has values that the policy does not declare", quasi.name))
    };
    release.sensitive.iter().map(cell).collect()
}
