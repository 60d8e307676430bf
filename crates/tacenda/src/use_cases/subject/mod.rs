//! What is audited: files of any tool, our release folders, or the ledger of a project.

mod files;
mod fit;
mod folder;
mod own;

use crate::audit::knowledge::Knowledge;
use crate::audit::{Rerun, Series, Thresholds, Traces};
use crate::ingest::foreign::{Ask, DateForm, Missing, Notation, Weight, Wish};
use crate::ingest::{Given, foreign};
use crate::model::{Membership, RecordKey, Release, Schema, Seed, Table, Terms};
use crate::promise::PolicyFile;
use crate::publish::Remaking;
use crate::report;
use crate::report::{About, PrivateFacts};
use crate::use_cases::{FileOptions, Progress, ProjectFolder, Said, UseCaseError};
use std::path::PathBuf;

/// What is audited, and how it is read.
#[derive(Debug, Default)]
pub struct SubjectRequest {
    /// Published files, tables in memory or release folders, in order of time; if there are none, the project's
    /// releases.
    pub releases: Vec<Given>,
    /// The private tables behind the releases, one per release, in the same order; may be none.
    pub truth: Vec<Given>,
    /// The project, for when no releases are named.
    pub project: ProjectFolder,
    /// The quasi-identifiers. Without them the releases must be our folders, which name them.
    pub quasi: Vec<String>,
    /// The sensitive columns; several count as one combined value.
    pub sensitive: Vec<String>,
    /// The column of the private tables that names a person.
    pub id: Option<String>,
    /// The column that links records of different releases, if not `record`; `none` where none is looked for.
    pub linked: Option<String>,
    /// How the files are read.
    pub options: FileOptions,
    /// Domains of columns, half open: `LO..HI`.
    pub domain: Vec<Said>,
    /// What missing values mean: `any` or `value`.
    pub missing: Vec<Said>,
    /// The forms of dates and times, such as `%d.%m.%Y`.
    pub date_format: Vec<Said>,
    /// The column that says for how many people a row stands; `none` where none is looked for.
    pub weight: Option<String>,
    /// The order of the releases.
    pub order: Order,
}

/// The order of releases.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub enum Order {
    /// As they are named.
    #[default]
    Given,
    /// By the dates in their names.
    Named,
    /// By these dates, one per release.
    Dated(Vec<String>),
}

/// A series, ready to be examined. Holds the private tables where they were given.
pub struct Subject {
    pub(super) schema: Schema,
    pub(super) releases: Vec<Release>,
    pub(super) traces: Vec<Traces>,
    pub(super) promise: Option<Terms>,
    truth: Vec<Table>,
    /// Per private table, who is known to have been left out of the release; empty where nobody is.
    left_out: Vec<Membership>,
    /// Whether the gate saw that everyone kept one value set, in these releases, made from these tables.
    kept_sets: bool,
    /// Whether people of the tables fit no group, so that the files may be misread.
    is_doubted: bool,
    pub(super) about: About,
    /// What a project made its releases with.
    made_with: Option<(PolicyFile, Seed)>,
    /// How an identifier of the private tables becomes a key.
    pub(super) key: Box<dyn Fn(&str) -> RecordKey + Send + Sync>,
}

impl Subject {
    /// Reads what is to be audited.
    pub fn read(mut request: SubjectRequest, progress: Progress<'_>) -> Result<Subject, UseCaseError> {
        folder::unfold(&mut request)?;
        if request.releases.is_empty() {
            return own::project(request, progress);
        }
        let (truth, releases) = (request.truth.len(), request.releases.len());
        if truth > 0 && truth != releases {
            let message = format!("--truth names {truth} tables for {releases} releases; name one per release");
            return Err(UseCaseError::usage(message));
        }
        if truth > 1 && request.id.is_none() {
            let message = "--truth needs --id COLUMN if there are several releases: without it nobody can be \
                           followed from one release to the next";
            return Err(UseCaseError::usage(message));
        }
        if !request.quasi.is_empty() {
            return files::read(request, progress);
        }
        match request.releases.iter().map(own::folder_of).collect::<Option<Vec<PathBuf>>>() {
            Some(folders) => own::folders(folders, request, progress),
            None => Err(no_columns(request.releases)),
        }
    }

    /// What was concluded about the input, one sentence each.
    pub fn notes(&self) -> &[String] {
        &self.about.notes
    }

    /// What the attacker knows, where the private tables are at hand.
    pub(super) fn knowledge(&self) -> Option<Knowledge<'_>> {
        match (self.truth.is_empty(), self.left_out.is_empty()) {
            (true, _) => None,
            (false, true) => Some(Knowledge::from_tables(&self.truth).with_doubt(self.is_doubted)),
            (false, false) => {
                let knowledge = Knowledge::from_published(self.truth.iter().zip(&self.left_out));
                Some(knowledge.with_kept_sets(self.kept_sets))
            }
        }
    }

    /// What the releases are against the private tables, where those are at hand.
    pub(super) fn private(&self, thresholds: &Thresholds) -> Option<PrivateFacts> {
        if self.truth.is_empty() {
            return None;
        }
        let releases = self.releases.iter().zip(&self.traces).zip(&self.truth);
        let truth = releases.map(|((release, traces), table)| {
            report::truth_facts(release, !traces.without_sensitive, table, &self.schema, thresholds)
        });
        Some(PrivateFacts { truth: truth.collect(), churn: Vec::new() })
    }

    /// What makes the releases again, where a project has the private tables of all.
    pub(super) fn remaking(&self) -> Option<Remaking<'_>> {
        let (policy, seed) = self.made_with.as_ref().filter(|_| !self.truth.is_empty())?;
        Some(Remaking { policy, seed, tables: self.truth.iter().collect(), releases: &self.releases })
    }

    /// The series as the auditor sees it.
    pub(super) fn series<'a>(
        &'a self,
        knowledge: Option<&'a Knowledge<'a>>,
        rerun: Option<&'a Remaking<'a>>,
    ) -> Series<'a> {
        Series {
            schema: &self.schema,
            releases: &self.releases,
            traces: &self.traces,
            promise: self.promise.as_ref(),
            knowledge,
            permanent: &[],
            population: None,
            households: None,
            rerun: rerun.map(|rerun| rerun as &dyn Rerun),
        }
    }
}

impl SubjectRequest {
    /// What the reader of files is asked.
    fn ask(&self) -> Result<Ask, UseCaseError> {
        let quasi = &self.quasi;
        let twice =
            |name: &&String| quasi.iter().filter(|other| other == name).count() > 1 || self.sensitive.contains(name);
        if let Some(name) = quasi.iter().find(twice) {
            return Err(UseCaseError::usage(format!("column {name} is named twice")));
        }
        let reading = self.options.reading(quasi)?;
        let is_none = |column: &Option<String>| column.as_deref() == Some("none");
        if let Some(file) = reading.hierarchy.values().find(|file| !foreign::is_hierarchy(file)) {
            return Err(UseCaseError::usage(format!("--hierarchy {}: there is no such file", file.display())));
        }
        let wish = |name: &String| {
            let notation = reading.notation.get(name).and_then(|notation| Notation::named(notation));
            let wish = Wish {
                notation: notation.unwrap_or_default(),
                hierarchy: reading.hierarchy.get(name).cloned(),
                any: reading.any.get(name).cloned().unwrap_or_default(),
                ..Wish::default()
            };
            (name.clone(), wish)
        };
        let mut ask = Ask {
            quasi: quasi.clone(),
            sensitive: self.sensitive.clone(),
            group: reading.group.clone(),
            linked: self.linked.clone().filter(|_| !is_none(&self.linked)),
            finds_links: self.linked.is_none(),
            reads_around: true,
            weight: match &self.weight {
                None => Weight::Find,
                Some(_) if is_none(&self.weight) => Weight::None,
                Some(column) => Weight::Column(column.clone()),
            },
            identifier: self.id.clone(),
            wishes: quasi.iter().map(wish).collect(),
        };
        for said in &self.domain {
            let ends = said.text.split_once("..").map(|(lo, hi)| (lo.to_string(), hi.to_string()));
            let wrong = || UseCaseError::usage(format!("--domain {}: write LO..HI", said.words()));
            let ends = ends.ok_or_else(wrong)?;
            let column = said.column("--domain", quasi)?;
            ask.wishes.entry(column.clone()).or_default().domain = Some(ends);
        }
        for said in &self.date_format {
            let known = "write %d.%m.%Y, %m/%d/%Y, %H:%M and the like, or COLUMN=%d.%m.%Y";
            let wrong = || UseCaseError::usage(format!("--date-format {}: {known}", said.words()));
            let form = DateForm::parse(&said.text).ok_or_else(wrong)?;
            for column in said.columns("--date-format", quasi)? {
                ask.wishes.entry(column.clone()).or_default().dates = Some(form.clone());
            }
        }
        for said in &self.missing {
            let wrong =
                || UseCaseError::usage(format!("--missing {}: write any or value, or COLUMN=any", said.words()));
            let missing = Missing::named(&said.text).ok_or_else(wrong)?;
            for column in said.columns("--missing", quasi)? {
                ask.wishes.entry(column.clone()).or_default().missing = missing;
            }
        }
        Ok(ask)
    }
}

/// The error if no quasi-identifiers are named. It lists the columns to choose from.
fn no_columns(releases: Vec<Given>) -> UseCaseError {
    let mut columns: Vec<String> = Vec::new();
    for given in releases {
        match given.open().and_then(|source| foreign::header(&source)) {
            Ok(header) => header.into_iter().for_each(|name| {
                if !columns.contains(&name) {
                    columns.push(name);
                }
            }),
            Err(error) => return error.into(),
        }
    }
    UseCaseError::NoColumns { columns }
}
