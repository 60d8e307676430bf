//! Views that were made elsewhere and are published already: every view of ours is judged together with them.
//!
//! However it was made, such a view is a bag of rows with one span per column. A release of ours is read from its
//! folder as a recipient would read it. Another tool's file is read as `audit` and `adopt` read it. It is read once;
//! from then on the vault holds it.

mod file;
mod fit;
mod folder;

use crate::model::{PastView, PublishedView, Quasi, Schema, SpanColumn, Table, View, ViewColumn};
use crate::promise::{NamedView, PolicyFile, Views};
use crate::publish::ProjectError;
use crate::publish::adopted::fit::Fit;

/// Views made elsewhere, and what was concluded about them.
#[derive(Debug, Default)]
pub(super) struct TakenIn {
    /// The views.
    pub views: Vec<PastView>,
    /// What a steward should know, one sentence each.
    pub notes: Vec<String>,
}

/// Rows of a view that was made elsewhere, before they are remembered.
struct Found {
    /// Per column of the view, its spans.
    columns: Vec<SpanColumn>,
    /// Its name in sentences.
    name: String,
    notes: Vec<String>,
}

/// Reads the adopted views of a policy file that `known` does not hold yet. `table` is the truth: it shows whether they
/// are about the same people.
pub(super) fn read(
    file: &PolicyFile,
    views: &Views,
    known: &[PastView],
    table: &Table,
) -> Result<TakenIn, ProjectError> {
    let mut taken = TakenIn::default();
    let new = views.list.iter().filter(|view| known.iter().all(|past| past.name != view.name));
    for (named, path) in new.filter_map(|view| Some((view, view.adopted.as_deref()?))) {
        let columns = columns(&file.schema, named);
        let found = match path.is_dir() {
            true => folder::read(file, named, path, &columns)?,
            false => file::read(file, named, path, &columns)?,
        };
        let view = View { name: named.name.clone(), columns };
        let published = PublishedView::new(view, found.columns);
        refuse_inexact(views, named, &published)?;
        let past = PastView::of(&published, 0, named.recipients.clone());
        taken.notes.extend(found.notes);
        let fit = Fit::of(&past, &file.schema, table);
        if fit.is_some_and(|fit| fit.is_nobodys()) {
            let what = format!("no row of {} fits anybody in the table: it is about other people", found.name);
            return Err(fault(named, what));
        }
        taken.notes.extend(Fit::notes(fit, &found.name));
        taken.views.push(past);
    }
    Ok(taken)
}

/// The columns of a view.
fn columns(schema: &Schema, named: &NamedView) -> Vec<Quasi> {
    let find = |name: &String| schema.quasi.iter().find(|quasi| quasi.name == *name);
    named.columns.iter().map(|name| find(name).expect("the policy file was checked").clone()).collect()
}

/// Refuses generalised cells in columns whose values are counted or ruled out. A set beside its own members would count
/// as one more value, and its share would be undefined. Ranges that overlap in part rule out more together than each
/// alone.
fn refuse_inexact(views: &Views, named: &NamedView, published: &PublishedView) -> Result<(), ProjectError> {
    let exact = published.exact_columns();
    for (quasi, _) in published.view.columns.iter().zip(exact).filter(|(_, is_exact)| !is_exact) {
        let demands = views.demands();
        let mut counted = demands.iter().flat_map(|demand| &demand.y);
        let is_counted = counted.any(|name| ViewColumn::is_meant(name, &named.name, &quasi.name));
        let is_ruled = views.impossible.iter().any(|rule| [&rule.left.0, &rule.right.0].contains(&&quasi.name));
        if is_counted || is_ruled {
            let why = if is_counted { "the promise counts its values" } else { "an impossible pair names it" };
            return Err(fault(
                named,
                format!("its column {} is generalised, and {why}: that cannot be judged", quasi.name),
            ));
        }
    }
    Ok(())
}

/// Refuses columns that a release has and the view does not list, because readers would join on them and the gate would
/// not.
fn refuse_unlisted<'n>(
    schema: &Schema,
    named: &NamedView,
    mut theirs: impl Iterator<Item = &'n str>,
) -> Result<(), ProjectError> {
    let is_unlisted = |name: &&str| {
        let is_ours = schema.quasi.iter().any(|quasi| quasi.name == **name) || schema.identifier == **name;
        is_ours && !named.columns.iter().any(|listed| listed == name)
    };
    match theirs.find(is_unlisted) {
        Some(name) => Err(fault(named, format!("the release has column {name}, and the view does not list it"))),
        None => Ok(()),
    }
}

fn fault(named: &NamedView, what: String) -> ProjectError {
    ProjectError::Adopted { view: named.name.clone(), what }
}
