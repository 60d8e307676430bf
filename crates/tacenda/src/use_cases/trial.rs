//! A table read once, so that other numbers of the promise can be tried on it quickly. Writes nothing into the project.

use crate::ingest::Given;
use crate::measure::nine_decimals;
use crate::promise::{PolicyFile, Promised, ShareLimits};
use crate::publish::{Access, Ingredients, Input, NextRelease, Project, ProjectError};
use crate::use_cases::draft::write;
use crate::use_cases::{Drafting, Progress, ProjectFolder, ReleaseRequest, Summary, UseCaseError};
use crate::{files, ingest, publish};
use std::path::{Path, PathBuf};

/// Limits that never refuse, for the question what a release costs.
const LIFTED: ShareLimits = ShareLimits { counterfeits: 1.0, withheld: 1.0 };

/// A policy and a table that was read under it. Private.
pub struct Trial {
    project: Project,
    material: Ingredients,
}

/// What a release would be with other numbers.
#[derive(Clone, Debug)]
pub struct TrialReport {
    /// Why it cannot be made, if it cannot.
    pub refused: Option<String>,
    /// People in the table.
    pub people: u64,
    /// Groups.
    pub groups: u64,
    /// The fewest people of a group.
    pub smallest_group: u32,
    /// Counterfeits: rows with nobody behind them.
    pub counterfeits: u64,
    /// People who are left out.
    pub withheld: u64,
    /// Mean loss.
    pub loss: f64,
    /// Median relative error of counts of one column, against the table; none for views.
    pub count_error: Option<f64>,
}

/// A setting of the policy file that changes what a release costs.
#[derive(Clone, Debug, PartialEq)]
pub struct SettingChoice {
    /// Its name for people, such as `m` or `age: grid`.
    pub name: String,
    /// What it is now, as text; empty if the policy file leaves it out.
    pub now: String,
    /// Where it stands in the policy file.
    path: Vec<String>,
}

impl SettingChoice {
    /// The settings of a project's policy file: the numbers of the promise, the limits, and the grid and weight of each column.
    pub fn of_project(project: &ProjectFolder) -> Result<Vec<SettingChoice>, UseCaseError> {
        let table = read_table(project)?;
        let now = |path: &[&str]| {
            let found = path.iter().try_fold(&toml::Value::Table(table.clone()), |value, key| value.get(key)).cloned();
            found.map_or_else(String::new, |value| value.as_str().map_or_else(|| value.to_string(), String::from))
        };
        let choice = |name: String, path: &[&str]| SettingChoice {
            name,
            now: now(path),
            path: path.iter().map(|key| key.to_string()).collect(),
        };
        let mut choices = Vec::new();
        let section = |name: &str| table.get(name).and_then(toml::Value::as_table).cloned().unwrap_or_default();
        for (name, value) in &section("promise") {
            choices.extend(value.is_integer().then(|| choice(name.clone(), &["promise", name])));
        }
        for name in ["counterfeits", "withheld"] {
            choices.push(choice(format!("{name}: max_share"), &[name, "max_share"]));
        }
        for (column, value) in &section("columns") {
            if value.get("role").and_then(toml::Value::as_str) != Some("quasi") {
                continue;
            }
            for key in ["grid", "weight"] {
                let fits = key == "weight" || value.get(key).is_some();
                choices.extend(fits.then(|| choice(format!("{column}: {key}"), &["columns", column, key])));
            }
        }
        Ok(choices)
    }

    /// The policy file with another value of this setting.
    fn changed(&self, mut table: toml::Table, value: &str) -> toml::Table {
        let value = match (value.parse::<i64>(), value.parse::<f64>()) {
            (Ok(number), _) => toml::Value::Integer(number),
            (_, Ok(number)) => toml::Value::Float(number),
            _ => toml::Value::String(value.into()),
        };
        let Some((last, sections)) = self.path.split_last() else { return table };
        let mut place = &mut table;
        for name in sections {
            let inner = place.entry(name.clone()).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            match inner.as_table_mut() {
                Some(inner) => place = inner,
                None => return table,
            }
        }
        place.insert(last.clone(), value);
        table
    }

    /// Whether it is a limit, which says how much a release may cost and not what it costs.
    fn is_limit(&self) -> bool {
        self.path.last().is_some_and(|name| name == "max_share")
    }
}

/// The policy file as TOML. What is wrong with it is told by its reader.
fn read_table(project: &ProjectFolder) -> Result<toml::Table, UseCaseError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(publish::POLICY_FILE));
    ingest::read_policy(&path)?;
    let text = files::read_text(&path).map_err(UseCaseError::file(&path))?;
    Ok(toml::from_str(&text).unwrap_or_default())
}

/// Writes a policy file and copies of its hierarchies into a private folder.
fn write_variant(project: &ProjectFolder, mut table: toml::Table, folder: &Path) -> Result<PathBuf, UseCaseError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(publish::POLICY_FILE));
    let beside = path.parent().unwrap_or(&project.root);
    // The table is given, and nothing is delivered.
    for section in ["source", "deliver"] {
        table.remove(section);
    }
    let columns = table.get("columns").and_then(toml::Value::as_table).cloned().unwrap_or_default();
    for name in columns.values().filter_map(|column| column.get("hierarchy")?.as_str()) {
        let tree = beside.join(name);
        write(&folder.join(name), &files::read_text(&tree).map_err(UseCaseError::file(&tree))?)?;
    }
    let variant = folder.join(publish::POLICY_FILE);
    write(&variant, &table.to_string())?;
    Ok(variant)
}

impl Trial {
    /// Reads a table under a draft. The draft is written into `folder`, a private one that is not the project's.
    pub fn of_draft(drafting: &Drafting, folder: &Path) -> Result<Trial, UseCaseError> {
        let policy = folder.join(publish::POLICY_FILE);
        for (name, text) in drafting.draft.hierarchies() {
            write(&folder.join(name), &text)?;
        }
        write(&policy, &drafting.text())?;
        let project = Project::open(folder, Some(&policy), Access::Look)?;
        let table = Given::Path(drafting.table().to_path_buf());
        let input = Input { table, delta: false, show_values: false, memory: None, threads: 0 };
        let material = project.material(input, &|_| {})?;
        Ok(Trial { project, material })
    }

    /// Reads a table under the policy of a project, as its next release.
    pub fn of_project(mut request: ReleaseRequest, progress: Progress<'_>) -> Result<Trial, UseCaseError> {
        let mut project = request.project.open(Access::Look)?;
        project.need_vault()?;
        let table = request.table()?;
        let input = request.input(table, &project)?;
        let material = project.material(input, &|what| progress(Project::MATERIAL_STEPS + 2, what))?;
        Ok(Trial { project, material })
    }

    /// The next release of a project with another value of a setting; `folder` is a private one that is not the project's.
    pub fn of_setting(
        request: ReleaseRequest,
        choice: &SettingChoice,
        value: &str,
        folder: &Path,
        progress: Progress<'_>,
    ) -> Result<TrialReport, UseCaseError> {
        let table = choice.changed(read_table(&request.project)?, value);
        let variant = write_variant(&request.project, table, folder)?;
        let project = ProjectFolder { policy: Some(variant), ..request.project.clone() };
        let trial = match Trial::of_project(ReleaseRequest { project, ..request }, progress) {
            Ok(trial) => trial,
            // The series may not go on so: an answer, not an accident.
            Err(UseCaseError::Project(error @ (ProjectError::Loosened { .. } | ProjectError::PolicyFile(_)))) => {
                return Ok(TrialReport::refused(0, error.to_string()));
            }
            Err(error) => return Err(error),
        };
        let mut policy = trial.project.policy().clone();
        if !choice.is_limit() {
            policy.limits = LIFTED;
        }
        trial.tried(&policy)
    }

    /// How many people the table has.
    pub fn people(&self) -> u64 {
        self.material.table().len() as u64
    }

    /// The numbers of the promise, such as `m = 4`, in the order of the policy file.
    pub fn numbers(&self) -> Vec<String> {
        self.project.policy().terms().parameters
    }

    /// The release with these numbers of the promise; others stay as they are. The limits are lifted, because the question is
    /// what the release would cost.
    pub fn with(&self, numbers: &[(&str, u32)]) -> Result<TrialReport, UseCaseError> {
        let mut policy = self.project.policy().clone();
        policy.limits = LIFTED;
        for (name, value) in numbers {
            if !policy.set(name, *value) {
                let promise = policy.terms().name;
                return Err(UseCaseError::usage(format!("{promise} has no parameter {name}")));
            }
        }
        self.tried(&policy)
    }

    /// The release under a policy. Of the errors of counts only one is measured: the others take ten times as long as all the rest.
    fn tried(&self, policy: &PolicyFile) -> Result<TrialReport, UseCaseError> {
        let refused = |why: String| Ok(TrialReport::refused(self.people(), why));
        if let Some(why) = self.project.barred(policy, &self.material) {
            return refused(why);
        }
        if let Some(fault) = ingest::faults_of(policy).first() {
            return refused(format!("{}: {}", fault.kind.code(), fault.message));
        }
        let next = NextRelease { policy: Some(policy), ..NextRelease::default() };
        let rehearsal = match self.project.rehearse(&self.material, next, &|_| {}) {
            Ok(rehearsal) => rehearsal,
            Err(ProjectError::Publish(error)) => return refused(error.to_string()),
            Err(error) => return Err(error.into()),
        };
        let release = &rehearsal.prepared.release;
        let smallest = (0..release.group_count()).map(|group| release.people(group)).min().unwrap_or(0);
        let is_series = matches!(policy.promise, Promised::Series(_));
        let summary = Summary::new(policy, &self.material, &rehearsal);
        Ok(TrialReport {
            refused: None,
            people: summary.people,
            groups: summary.groups,
            smallest_group: smallest,
            counterfeits: summary.counterfeits,
            withheld: summary.withheld,
            loss: nine_decimals(rehearsal.loss.leaf_share),
            count_error: is_series.then(|| rehearsal.count_error_of_one(&self.material)),
        })
    }
}

impl TrialReport {
    fn refused(people: u64, why: String) -> TrialReport {
        TrialReport {
            refused: Some(why),
            people,
            groups: 0,
            smallest_group: 0,
            counterfeits: 0,
            withheld: 0,
            loss: 1.0,
            count_error: None,
        }
    }
}
