//! A view that was made elsewhere: read from its release folder as a recipient would.
//!
//! Whatever policy made it, cell by cell or group by group, it is a bag of rows with one span a column.

use crate::folder;
use crate::model::NamedView;
use crate::model::PastView;
use crate::model::PolicyFile;
use crate::model::PublishedView;
use crate::model::Quasi;
use crate::model::Span;
use crate::model::SpanColumn;
use crate::model::View;
use crate::publish::ProjectError;
use std::path::Path;

/// Reads the adopted views of a policy file that `known` does not hold yet.
pub(super) fn read(file: &PolicyFile, known: &[PastView]) -> Result<Vec<PastView>, ProjectError> {
    let new = file.views.list.iter().filter(|view| known.iter().all(|past| past.name != view.name));
    new.filter_map(|view| Some((view, view.adopted.as_deref()?))).map(|(view, path)| one(file, view, path)).collect()
}

fn one(file: &PolicyFile, named: &NamedView, path: &Path) -> Result<PastView, ProjectError> {
    let published = folder::read(path)?;
    let fault = |what: String| ProjectError::Adopted { view: named.name.clone(), what };
    let theirs = |name: &str| published.schema.published_columns().any(|column| column == name);
    for quasi in &file.schema.quasi {
        if theirs(&quasi.name) && !named.columns.contains(&quasi.name) {
            return Err(fault(format!("the release has column {}, and the view does not list it", quasi.name)));
        }
    }
    let (mut columns, mut spans) = (Vec::new(), Vec::new());
    for name in &named.columns {
        let quasi = file.schema.quasi.iter().find(|quasi| quasi.name == *name);
        let quasi = quasi.expect("the policy file was checked").clone();
        spans.push(SpanColumn::new(&cells(&published, &quasi).map_err(&fault)?));
        columns.push(quasi);
    }
    let view = PublishedView::new(View { name: named.name.clone(), columns }, spans);
    Ok(PastView::of(&view, 0, named.recipients.clone()))
}

/// The spans of one column, row by row.
fn cells(published: &folder::Published, quasi: &Quasi) -> Result<Vec<Span>, String> {
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
