//! The next release: rehearsed, and then published.

use crate::ingest;
use crate::ingest::{Given, Source};
use crate::promise::{Connection, DatabaseTable};
use crate::publish::{
    Access, Cluster, ClusterTable, Ingredients, Input, NextRelease, POLICY_FILE, Project, ProjectError, Rehearsal,
    memory_for, most_rows,
};
use crate::use_cases::plan::Plan;
use crate::use_cases::{
    Database, DatabaseError, DeliveryReport, Fetched, Progress, ProjectFolder, Summary, UseCaseError, WantedDeliveries,
    deliver,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The next release that is wanted.
#[derive(Debug, Default)]
pub struct ReleaseRequest {
    /// The project.
    pub project: ProjectFolder,
    /// The table it is made from. A plan names its own.
    pub data: Option<Given>,
    /// Whether the table holds changes rather than a whole snapshot.
    pub delta: bool,
    /// Its label; its number where not given.
    pub label: Option<String>,
    /// The view it is of, for a policy with views.
    pub view: Option<String>,
    /// Whether errors may name values that a hierarchy lacks.
    pub show_values: bool,
    /// The most memory that may be used.
    pub memory: Option<u64>,
    /// How many threads read; 0 for as many as the machine has.
    pub threads: usize,
    /// Where to write a backup of the state before the release, right before that is committed; otherwise as the policy file says.
    pub backup: Option<PathBuf>,
}

/// A release that could be published now. Nothing is written yet. Private.
pub struct Rehearsed {
    /// The project.
    pub project: Project,
    /// What the release is made from.
    pub material: Ingredients,
    /// The release, judged.
    pub rehearsal: Rehearsal,
    /// What speaks to the databases that it is delivered to.
    database: Option<Arc<dyn Database>>,
}

/// Where a table is.
pub(super) enum TableOf {
    /// In a file or in memory.
    Given(Given),
    /// In a database.
    Database(DatabaseTable),
}

/// The next step: a release, or nothing because it is already published.
pub enum Next {
    /// A release that could be published now.
    Release(Box<Rehearsed>),
    /// The release that was made from the same table already.
    Already(PublishReport),
    /// The release that has the wanted label already. The database was not read, so its table may have changed.
    Committed(PublishReport),
}

/// The answer of publish.
#[derive(Debug, JsonSchema, Serialize)]
pub struct PublishReport {
    /// The release folder.
    pub folder: PathBuf,
    /// Its files.
    pub files: Vec<String>,
    /// Whether it was published before, so that nothing was done.
    pub already: bool,
    /// Its number.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The id of the key that signed it.
    pub signed_by: Option<String>,
    /// The id of the key that approved its plan.
    pub approved_by: Option<String>,
    /// The backup of the state before it, if one was written.
    pub backup: Option<PathBuf>,
    /// What was delivered to databases, and what not. The release is published in any case.
    pub deliveries: Vec<DeliveryReport>,
    /// The release in numbers, if it is new.
    pub summary: Option<Box<Summary>>,
}

impl ReleaseRequest {
    /// Where the table is: where the request says, or else where the policy file says. Nothing is opened yet.
    pub(super) fn table(&mut self) -> Result<TableOf, UseCaseError> {
        match self.data.take() {
            Some(Given::Path(path)) if Connection::is_url(&path.to_string_lossy()) => {
                let table = DatabaseTable::of_url(&path.to_string_lossy()).map_err(DatabaseError::from)?;
                Ok(TableOf::Database(table))
            }
            Some(given) => Ok(TableOf::Given(given)),
            None => {
                let path = self.project.policy.clone().unwrap_or_else(|| self.project.root.join(POLICY_FILE));
                let source = ingest::read_policy(&path)?.databases.source;
                let unnamed = "name a table: tacenda … DATA; - is standard input; or add [source] to the policy file";
                source.map(TableOf::Database).ok_or_else(|| UseCaseError::usage(unnamed))
            }
        }
    }

    /// What the release is made from. A table in a database is read now.
    pub(super) fn input(&self, table: TableOf, project: &Project) -> Result<Input, UseCaseError> {
        let table = match table {
            TableOf::Given(given) => given,
            TableOf::Database(_) if self.delta => {
                return Err(UseCaseError::usage("a database holds the whole table; leave out --delta"));
            }
            TableOf::Database(table) => {
                let schema = &project.policy().schema;
                let orders = |column: &str| schema.person.order_column() == Some(column);
                let wanted = |column: &str| orders(column) || schema.dropped.iter().all(|dropped| dropped != column);
                match self.project.database()?.fetch(&table, &wanted, self.memory.map(most_rows))? {
                    Fetched::Table(source) => Given::Frame(source),
                    Fetched::TooLarge(rows) => return Err(memory_for(rows, self.memory.unwrap_or(0)).into()),
                }
            }
        };
        Ok(Input {
            table,
            delta: self.delta,
            show_values: self.show_values,
            memory: self.memory,
            threads: self.threads,
        })
    }

    /// Makes the release and has it judged, to look at it.
    pub fn rehearse(mut self, progress: Progress<'_>) -> Result<Rehearsed, UseCaseError> {
        let table = self.table()?;
        let project = self.project.open(Access::Rehearse)?;
        let input = self.input(table, &project)?;
        let step = |what: &str| progress(REHEARSED, what);
        rehearsed(project, input, &self, &step)
    }

    /// The same, to publish it next, according to a plan if there is one. A table that was already published under this
    /// label, or as the last release if no label is given, is not published again.
    pub fn prepare(mut self, plan: Option<PathBuf>, progress: Progress<'_>) -> Result<Next, UseCaseError> {
        let file = plan;
        let plan = file.as_deref().map(Plan::read).transpose()?;
        if let Some(plan) = &plan {
            self.data = Some(Given::Path(plan.data.clone()));
            (self.delta, self.label, self.view) = (plan.delta, Some(plan.label.clone()), plan.view.clone());
        }
        let table = self.table()?;
        let mut project = self.project.open(Access::Publish)?;
        self.backup.iter().for_each(|file| project.back_up_to(file));
        self.assert_as_published(&project)?;
        let step = |what: &str| progress(REHEARSED, what);
        let done = plan.as_ref().and_then(|plan| project.published_with(&plan.label, &plan.input));
        if let Some(number) = done {
            return Ok(self.already(project, number, progress));
        }
        if plan.as_ref().is_some_and(|plan| plan.ledger_head != project.series_head()) {
            return Err(ProjectError::PlanStale { what: "the ledger" }.into());
        }
        if let Some(number) = plan.is_none().then(|| self.committed(&table, &project)).transpose()?.flatten() {
            return Ok(match (self.already(project, number, progress), table) {
                (Next::Already(report), TableOf::Database(_)) => Next::Committed(report),
                (next, _) => next,
            });
        }
        let rules = &project.policy().series.signatures;
        let approval = file.as_deref().map_or(Ok(None), |file| Plan::approval(file, rules))?;
        // Checked before the work is done.
        project.assert_signatures(approval.as_ref())?;
        project.assert_backup()?;
        let planned = plan.as_ref().filter(|plan| !plan.kept.is_empty());
        let material = match planned {
            // The kept table has the codes of the policy that it was made with.
            Some(plan) if plan.policy_sha256 != project.policy_digest() => {
                return Err(ProjectError::PlanStale { what: "the policy" }.into());
            }
            Some(plan) => project.planned_material(&plan.kept, &plan.source, &plan.notes, &step)?,
            None => project.material_within(self.input(table, &project)?, &step)?,
        };
        let next = self.next();
        if let Some(number) = project.published_from(&material, next)? {
            return Ok(self.already(project, number, progress));
        }
        let mut rehearsal =
            project.rehearse(&material, next, &step).map_err(|error| explained(&project, &material, next, error))?;
        rehearsal.approval = approval;
        let rehearsed = Rehearsed { project, material, rehearsal, database: self.project.database.clone() };
        if let Some(plan) = &plan {
            plan.matches(&rehearsed)?;
        }
        Ok(Next::Release(Box::new(rehearsed)))
    }
}

impl ReleaseRequest {
    /// Refuses to go on from releases that are not what was published. Only the last one is hashed as a whole, and only
    /// where that does not fetch it from afar.
    fn assert_as_published(&self, project: &Project) -> Result<(), UseCaseError> {
        project.assert_as_published()?;
        match project.store().filter(|_| self.project.place.is_none()) {
            Some(store) => Ok(store.vouch_last()?),
            None => Ok(()),
        }
    }

    /// The same with a table that a cluster has. The cluster forms the release and judges it unit by unit.
    pub fn prepare_in(
        self,
        cluster: &mut dyn Cluster,
        columns: &[String],
        cut: ClusterCut,
        progress: Progress<'_>,
    ) -> Result<Next, UseCaseError> {
        self.assert_possible_there()?;
        let mut project = self.project.open(Access::Publish)?;
        self.backup.iter().for_each(|file| project.back_up_to(file));
        self.assert_as_published(&project)?;
        project.assert_signatures(None)?;
        project.assert_backup()?;
        let step = |what: &str| progress(CLUSTER_STEPS, what);
        let table = ClusterTable { columns, parts: cut.parts, unit: cut.unit, memory: self.memory };
        let next = self.next();
        let material = project.material_of_cluster(cluster, &table, next.label, &step)?;
        if let Some(number) = project.published_from(&material, next)? {
            return Ok(self.already(project, number, progress));
        }
        let rehearsal = project.rehearse(&material, next, &step)?;
        let database = self.project.database.clone();
        Ok(Next::Release(Box::new(Rehearsed { project, material, rehearsal, database })))
    }
}

impl ReleaseRequest {
    /// Refuses what a project in object storage cannot do: what is delivered is read from a folder, and so are the files that a
    /// policy names and that belong into a backup.
    fn assert_possible_there(&self) -> Result<(), UseCaseError> {
        if self.project.place.is_none() {
            return Ok(());
        }
        // Asked before the project is opened for writing: that already takes the turn of another driver.
        let project = self.project.open(Access::Look)?;
        if !project.databases().deliver.is_empty() {
            return Err(UseCaseError::usage(
                "a project in object storage delivers to no database; leave out [deliver]",
            ));
        }
        if self.backup.is_some() || project.policy().series.backup.is_some() {
            let cannot = "a project in object storage writes no backup: the policy file would not be in it; leave out [backup], and \
                          back up a copy that tacenda.objects.fetch makes with vault=True";
            return Err(UseCaseError::usage(cannot));
        }
        Ok(())
    }
}

/// How the work of a cluster is cut. No release depends on it.
#[derive(Clone, Copy, Debug)]
pub struct ClusterCut {
    /// In how many parts people are kept.
    pub parts: usize,
    /// How many people a unit may have.
    pub unit: usize,
}

impl Default for ClusterCut {
    fn default() -> ClusterCut {
        ClusterCut { parts: 64, unit: 1 << 18 }
    }
}

/// How many steps a release from a cluster has before it is written.
const CLUSTER_STEPS: usize = 8;

impl ReleaseRequest {
    /// The release with the wanted label, if there is one and the table need not be read to know that it is this one: a
    /// database moves on, so what it holds now says nothing about a release of the past. A delta is known by its bytes.
    fn committed(&self, table: &TableOf, project: &Project) -> Result<Option<u32>, UseCaseError> {
        let publications = project.publications();
        let Some(label) = &self.label else { return Ok(None) };
        let Some(found) = publications.iter().find(|one| one.label == *label) else { return Ok(None) };
        let view = found.view.as_ref().map(|view| view.name.as_str());
        match table {
            TableOf::Database(_) if view == self.view.as_deref() => Ok(Some(found.number)),
            TableOf::Database(_) => Err(ProjectError::LabelUsed { label: label.clone(), number: found.number }.into()),
            TableOf::Given(Given::Path(path)) if self.delta => {
                Ok(project.changed_by(label, &Source::open(path)?.look()?.digest)?)
            }
            TableOf::Given(Given::Frame(source)) if self.delta => {
                Ok(project.changed_by(label, &source.look()?.digest)?)
            }
            TableOf::Given(_) => Ok(None),
        }
    }

    /// The release that is published already, once what it still owes to databases is delivered.
    fn already(&self, mut project: Project, number: u32, progress: Progress<'_>) -> Next {
        let report = PublishReport::already(&project, number);
        let deliveries = settled(&mut project, self.project.database.as_deref(), progress);
        Next::Already(PublishReport { deliveries, ..report })
    }

    fn next(&self) -> NextRelease<'_> {
        NextRelease { view: self.view.as_deref(), label: self.label.as_deref(), policy: None }
    }
}

impl Next {
    /// Publishes the release, if there is one to publish.
    pub fn publish(self, progress: Progress<'_>) -> Result<PublishReport, UseCaseError> {
        match self {
            Next::Release(mut rehearsed) => rehearsed.publish(progress),
            Next::Already(report) | Next::Committed(report) => Ok(report),
        }
    }
}

impl PublishReport {
    fn already(project: &Project, number: u32) -> PublishReport {
        let store = project.store().expect("a project with a release has a ledger");
        let publication = store.publications().find(|publication| publication.number == number);
        let publication = publication.expect("the number was found in the ledger");
        PublishReport {
            folder: store.release_folder(number),
            files: publication.files.keys().cloned().collect(),
            already: true,
            release: number,
            label: publication.label.clone(),
            signed_by: store.signed_by(number).map(String::from),
            approved_by: publication.approved.as_ref().map(|approval| approval.key.clone()),
            backup: None,
            deliveries: Vec::new(),
            summary: None,
        }
    }
}

/// How many steps a rehearsal has.
pub(super) const REHEARSED: usize = Project::MATERIAL_STEPS + Project::REHEARSE_STEPS;

/// Makes the next release and has it judged.
pub(super) fn rehearsed(
    project: Project,
    input: Input,
    request: &ReleaseRequest,
    step: &dyn Fn(&str),
) -> Result<Rehearsed, UseCaseError> {
    let (material, next) = (project.material(input, step)?, request.next());
    let rehearsal =
        project.rehearse(&material, next, step).map_err(|error| explained(&project, &material, next, error))?;
    Ok(Rehearsed { project, material, rehearsal, database: request.project.database.clone() })
}

/// What a view that is refused means for the promise, beside the error.
fn explained(project: &Project, material: &Ingredients, next: NextRelease<'_>, error: ProjectError) -> UseCaseError {
    match next.view.map(|view| project.explain_view(material, view)) {
        Some(Ok(notes)) => UseCaseError::NotMet { error, notes },
        _ => error.into(),
    }
}

/// Delivers what the project owes to databases.
fn settled(project: &mut Project, database: Option<&dyn Database>, progress: Progress<'_>) -> Vec<DeliveryReport> {
    let targets = project.databases().deliver.clone();
    deliver::settle(project.store_mut(), &targets, database, WantedDeliveries::default(), progress)
}

impl Rehearsed {
    /// The release in numbers.
    pub fn summary(&self) -> Summary {
        Summary::new(self.project.policy(), &self.material, &self.rehearsal)
    }

    /// Keeps the table in the vault for a plan.
    pub(super) fn keep_planned(&self) -> Result<BTreeMap<String, String>, ProjectError> {
        self.project.keep_planned(&self.material)
    }

    /// Publishes it and delivers it to the databases of the policy file. The release folder is complete or absent,
    /// whatever happens. A delivery that fails is in the report; the release is published.
    pub fn publish(&mut self, progress: Progress<'_>) -> Result<PublishReport, UseCaseError> {
        let step = |what: &str| progress(Project::PUBLISH_STEPS, what);
        let outcome = self.project.publish(&self.material, &self.rehearsal, &step)?;
        let summary = self.summary();
        let deliveries = settled(&mut self.project, self.database.as_deref(), progress);
        Ok(PublishReport {
            folder: outcome.folder,
            files: outcome.files,
            already: false,
            release: summary.release,
            label: summary.label.clone(),
            signed_by: self.project.signer().map(|signer| signer.public().id().into()),
            approved_by: self.rehearsal.approval.as_ref().map(|approval| approval.key.clone()),
            backup: outcome.backup,
            deliveries,
            summary: Some(Box::new(summary)),
        })
    }
}
