//! Everything that a project has published, read back from its folders as a recipient would, and the private tables if
//! they are available. Releases made elsewhere are read in their original form.

use crate::audit::knowledge::Knowledge;
use crate::audit::{Fault, Finding, Traces};
use crate::folder::ReceivedRelease;
use crate::ingest::{Given, ReadOptions};
use crate::ledger::{Event, Publication, Store, What};
use crate::model::{History, Membership, Release, Row, Schema, Table, Terms, Values};
use crate::promise::PolicyFile;
use crate::publish::report::beside;
use crate::publish::{Project, ProjectError, Remaking, adopt, retract};
use crate::report::FileFacts;
use crate::{folder, ingest, report};

/// Which private tables are used.
#[derive(Debug)]
pub enum PrivateTables {
    /// None, so the result may be published.
    None,
    /// These, one per release, in order.
    Given(Vec<Given>),
    /// The table in the vault, which is that of the last release.
    Kept,
}

/// Everything published so far. Private where it holds tables.
#[derive(Debug)]
pub struct PublishedSeries {
    /// The releases, with one numbering of values.
    pub releases: Vec<Release>,
    /// Per release, what its files show beside the rows.
    pub traces: Vec<Traces>,
    /// Per release, when it was published, and its files.
    pub sources: Vec<report::ReleaseOrigin>,
    /// The private table of each release, if it is available.
    pub tables: Vec<Option<Table>>,
    /// Per table, who was left out of the release.
    pub left_out: Vec<Membership>,
    /// Whether the gate saw that everyone kept one value set, in these releases, made from these tables.
    pub kept_sets: bool,
    /// What is not covered, besides what the promise itself names, one sentence each.
    pub not_covered: Vec<String>,
    /// The sentence that some releases were made elsewhere, if some were.
    pub adopted: Option<String>,
    /// How those break the promise, as the auditor found when they were adopted.
    pub broken: Vec<Finding>,
    /// What was assumed about the publishers of those, one sentence each.
    pub assumptions: Vec<String>,
}

impl PublishedSeries {
    /// What the strongest attacker knows; `None` unless the table of every release is available.
    pub fn knowledge(&self) -> Option<Knowledge<'_>> {
        let tables: Option<Vec<&Table>> = self.tables.iter().map(Option::as_ref).collect();
        let knowledge = tables.map(|tables| Knowledge::from_published(tables.into_iter().zip(&self.left_out)));
        knowledge.map(|knowledge| knowledge.with_kept_sets(self.kept_sets))
    }

    /// The promise of the policy, as far as conclusions may rest on its being kept.
    pub fn terms(&self, policy: &PolicyFile) -> Terms {
        let terms = policy.first_promise().terms();
        if self.broken.is_empty() { terms } else { terms.not_kept() }
    }
}

/// Reads the releases of a project.
pub(super) fn read(
    project: &Project,
    private: PrivateTables,
    step: &(dyn Fn(&str) + Sync),
) -> Result<PublishedSeries, ProjectError> {
    let (policy, store) = (project.policy(), project.store().ok_or(ProjectError::NothingPublished)?);
    let events: Vec<(&Event, &Publication)> =
        store.events().iter().filter_map(|event| Some((event, event.publication()?))).collect();
    let Some((_, last)) = events.last() else { return Err(ProjectError::NothingPublished) };
    // A release that was adopted without its people has no table. Then the vault has an older one.
    let (history, kept) = match &private {
        PrivateTables::None => (History::default(), None),
        PrivateTables::Kept if !store.has_vault() => (History::default(), None),
        _ => project.past()?,
    };
    // Nor is the table whole if people were erased from it since.
    let since = store.events().iter().rev().take_while(|event| event.publication().is_none());
    let is_whole = !since.into_iter().any(|event| matches!(event.what, What::Erase(_)));
    let kept = kept.filter(|_| last.numbers.truth_known != Some(false) && is_whole);
    let mut values = kept.as_ref().map_or_else(Values::default, |table| table.values.clone());
    let (mut releases, mut traces, mut assumptions) = (Vec::new(), Vec::new(), Vec::new());
    for (event, publication) in &events {
        step(&format!("reading release {}", publication.number));
        store.vouch(publication.number, folder::SUMS)?;
        let folder = store.release_folder(publication.number);
        if event.is_adoption() {
            let (release, shown, assumed) = adopt::reread(&policy.schema, &folder, publication, &mut values)?;
            releases.push(release);
            traces.push(shown);
            assumptions.extend(assumed);
        } else {
            let published = folder::read_with(&folder, &mut values)?;
            let (release, shown) = laid_out(published, &policy.schema);
            releases.push(release);
            traces.push(shown);
        }
    }
    let mut tables: Vec<Option<Table>> = releases.iter().map(|_| None).collect();
    match private {
        PrivateTables::Given(given) => {
            if given.len() != releases.len() {
                return Err(ProjectError::TruthCount { tables: given.len(), releases: releases.len() });
            }
            step("reading the private tables");
            let numbers = events.iter().map(|(_, publication)| publication.number);
            tables = given_tables(project, given.into_iter().zip(numbers), &mut values, &history)?;
        }
        PrivateTables::Kept => *tables.last_mut().expect("there is a release") = kept,
        PrivateTables::None => (),
    }
    let kept_sets = saw_kept_sets(project, &events, &tables);
    // Later releases may have values that earlier ones did not know of yet.
    releases.iter_mut().for_each(|release| release.values = values.clone());
    tables.iter_mut().flatten().for_each(|table| table.values = values.clone());
    let left_out: Vec<Membership> =
        (1..).zip(&tables).map(|(number, table)| left_out(number, table.as_ref(), &history)).collect();
    let left_out = made_again(project, &releases, &tables, &left_out).unwrap_or(left_out);
    let sources = events.iter().map(|(event, publication)| source(&event.at, store, publication)).collect();
    let not_covered = not_covered(policy, store, &events);
    let (adopted, broken) = (adopted(store), broken(store));
    Ok(PublishedSeries {
        releases,
        traces,
        sources,
        tables,
        left_out,
        kept_sets,
        not_covered,
        adopted,
        broken,
        assumptions,
    })
}

/// The private tables that were given, each as it was read for its release.
fn given_tables(
    project: &Project,
    given: impl Iterator<Item = (Given, u32)>,
    values: &mut Values,
    history: &History,
) -> Result<Vec<Option<Table>>, ProjectError> {
    let store = project.store().ok_or(ProjectError::NothingPublished)?;
    let (key, schema) = (store.seed()?.key("identifier"), &project.policy().schema);
    let mut tables: Vec<Option<Table>> = Vec::new();
    for (given, number) in given {
        let read = ingest::read_snapshot(&given.open()?, schema, &key, values, &ReadOptions::default())?;
        let mut table = read.table;
        project.read_as_of(number, &mut table);
        project.stay(&mut table, tables.last().and_then(Option::as_ref), history);
        *values = table.values.clone();
        tables.push(Some(table));
    }
    Ok(tables)
}

/// Whether the gate saw that everyone kept one value set. It must have judged every release, the ledger must vouch for
/// the files, and the tables must be those that the releases were made from.
fn saw_kept_sets(project: &Project, events: &[(&Event, &Publication)], tables: &[Option<Table>]) -> bool {
    let is_ours = |(event, publication): &(&Event, &Publication)| {
        !event.is_adoption() && publication.files.contains_key(folder::SUMS)
    };
    let is_behind = |((_, publication), table): (&(&Event, &Publication), &Option<Table>)| {
        table.as_ref().is_some_and(|table| project.was_made_from(publication, table))
    };
    !project.policy().is_study() && events.iter().all(is_ours) && events.iter().zip(tables).all(is_behind)
}

/// A release of ours in the columns of a whole series, and what its files show beside the rows.
pub(crate) fn laid_out(published: ReceivedRelease, schema: &Schema) -> (Release, Traces) {
    let (without_sensitive, link) = (published.schema.sensitive.is_empty(), published.link());
    let (release, columns) = published.release.laid_out(&published.schema, schema);
    let traces = Traces { link: Some(link), ..Traces::ours(&release, columns, without_sensitive) };
    (release, traces)
}

/// The sentence that names the releases made elsewhere. They were published before anything here could judge them.
pub(super) fn adopted(store: &Store) -> Option<String> {
    let adopted = store.events().iter().filter(|event| event.is_adoption()).filter_map(|event| event.publication());
    let numbers: Vec<u32> = adopted.map(|publication| publication.number).collect();
    let (first, last) = (numbers.first()?, numbers.last()?);
    let (which, them) = match numbers.len() {
        1 => (format!("Release {first} was"), "it"),
        count if (last - first) as usize + 1 == count => (format!("Releases {first} to {last} were"), "them"),
        _ => {
            let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
            (format!("Releases {} were", numbers.join(", ")), "them")
        }
    };
    Some(format!("{which} made elsewhere and adopted: this project did not judge {them} before publication."))
}

/// How releases made elsewhere break the promise, as the auditor found when they were adopted. The ledger has the codes; it
/// does not say how many people they concern.
pub(super) fn broken(store: &Store) -> Vec<Finding> {
    let adopted = store.events().iter().filter(|event| event.is_adoption()).filter_map(|event| event.publication());
    let faults = adopted.flat_map(|publication| {
        let codes = publication.numbers.findings.iter().flatten();
        codes.map(|code| (publication.number, code))
    });
    let mut broken = Vec::new();
    for (release, code) in faults {
        let Some(&fault) = Fault::ALL.iter().find(|fault| fault.code() == code) else { continue };
        let finding =
            Finding { fault, release, people: 0, groups: 0, example: None, others: Vec::new(), witness: None };
        if !broken.contains(&finding) {
            broken.push(finding);
        }
    }
    broken
}

/// The same in one sentence each.
pub(crate) fn not_kept(store: &Store) -> Vec<String> {
    let said = |old: &Finding| {
        format!("release {} was made elsewhere and does not keep the promise: {}", old.release, old.fault.title())
    };
    broken(store).iter().map(said).collect()
}

/// Views made elsewhere have no folder here; only the vault holds them.
fn not_covered(policy: &PolicyFile, store: &Store, events: &[(&Event, &Publication)]) -> Vec<String> {
    let elsewhere = events.iter().flat_map(|(_, publication)| &publication.taken_in).map(|view| {
        format!(
            "View {} was made elsewhere. Every view was judged together with it before publication. It is not \
             examined again here.",
            view.name
        )
    });
    beside(policy).into_iter().chain(elsewhere).chain(retract::told(store)).collect()
}

/// Who was left out of each release, where the vault does not say: it knows nobody who was published before and after a
/// release and waited in it. Then the releases are made again, which tells.
fn made_again(
    project: &Project,
    releases: &[Release],
    tables: &[Option<Table>],
    known: &[Membership],
) -> Option<Vec<Membership>> {
    let tables: Vec<&Table> = tables.iter().map(Option::as_ref).collect::<Option<_>>()?;
    let people = |release: &Release| release.row_count() - release.counterfeit_count() as usize;
    let is_short = |((release, table), known): ((&Release, &&Table), &Membership)| {
        people(release) + known.withheld.len() != table.len()
    };
    if !releases.iter().zip(&tables).zip(known).any(is_short) {
        return None;
    }
    Remaking { policy: project.policy(), seed: project.seed(), tables, releases }.left_out()
}

/// The people of a table who were not in the release of that number, as far as the vault knows: first published later,
/// last published earlier, or never. A person who was published before and after counts as published.
fn left_out(number: u32, table: Option<&Table>, history: &History) -> Membership {
    let Some(table) = table else { return Membership::default() };
    let is_out = |record: Option<&crate::model::Record>| {
        record.is_none_or(|record| !record.is_published() || record.cohort > number || record.last_release < number)
    };
    let withheld = (0u32..).zip(history.align(table)).filter(|(_, record)| is_out(*record)).map(|(row, _)| Row(row));
    Membership { withheld: withheld.collect(), ..Membership::default() }
}

fn source(at: &str, store: &Store, publication: &Publication) -> report::ReleaseOrigin {
    let file = |(name, digest): (&String, &crate::ledger::FileDigest)| FileFacts {
        name: name.clone(),
        bytes: digest.bytes,
        sha256: digest.sha256.clone(),
    };
    let data = report::ReleaseOrigin::data_name(publication.files.keys().map(String::as_str));
    report::ReleaseOrigin {
        at: Some(at.into()),
        data: data.map(|name| format!("{}/{name}", folder_in_project(store, publication.number))),
        files: publication.files.iter().map(file).collect(),
    }
}

/// The path of a release's folder from the project's on.
pub(super) fn folder_in_project(store: &Store, number: u32) -> String {
    let folder = store.release_folder(number);
    let inside = folder.strip_prefix(store.root()).unwrap_or(&folder);
    inside.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/")
}
