//! Reads a table and drafts the policy file: roles, types, padded domains.

use crate::ingest;
use crate::ingest::{Draft, Given, Source};
use crate::model::{Role, percent};
use crate::promise::{Connection, DatabaseTable};
use crate::publish::{
    Access, ForecastRelease, ForecastReport, Input, MOST_COMPARED, NextRelease, POLICY_FILE, Project, ProjectError,
    Ways, is_project,
};
use crate::use_cases::check::ends_early;
use crate::use_cases::private_file::refuse_link;
use crate::use_cases::{DatabaseError, Fetched, Progress, ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// The table a policy file is drafted for.
#[derive(Debug)]
pub struct DraftRequest {
    /// Where the project will be.
    pub project: ProjectFolder,
    /// The table.
    pub data: Given,
    /// The series' name; made from the table's where not given.
    pub name: Option<String>,
    /// The promise; the one that fits the columns where not given.
    pub promise: Option<String>,
}

/// A draft that can still be changed. Nothing is written yet.
pub struct Drafting {
    /// What is proposed.
    pub draft: Draft,
    policy: PathBuf,
    series: String,
    source: Source,
    /// The file of the table, if it is in one.
    table: PathBuf,
    /// The section that names the table in a database.
    section: String,
}

/// The answer of init.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InitReport {
    /// The policy file.
    pub policy: PathBuf,
    /// Hierarchy files, relative to it.
    pub hierarchies: Vec<String>,
    /// Rows of the table.
    pub rows: u64,
    /// What is proposed for each column.
    pub columns: Vec<InitColumn>,
    /// What was concluded about the input.
    pub notes: Vec<String>,
    /// Whether the draft can publish this table as it is. If not, the notes say what must be corrected first.
    pub is_usable: bool,
}

/// What is proposed for a column.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InitColumn {
    /// Its name.
    pub name: String,
    /// Its role.
    pub role: String,
    /// Why.
    pub because: String,
    /// Cells that are empty.
    pub missing: u64,
    /// Distinct values; none if there are too many to count.
    pub distinct: Option<usize>,
    /// Frequent values, each in at least five rows.
    pub samples: Vec<String>,
    /// Whether the role could not be recognised, so that the safe choice was taken.
    pub undecided: bool,
    /// Whether it is left as a question, which check refuses until it is answered.
    pub open: bool,
}

impl DraftRequest {
    /// Reads every row of the table and proposes a policy.
    pub fn draft(self, progress: Progress<'_>) -> Result<Drafting, UseCaseError> {
        let root = &self.project.root;
        let policy = self.project.policy.clone().unwrap_or_else(|| root.join(POLICY_FILE));
        if is_project(root) || policy.exists() {
            let set_aside = match is_project(root) {
                true => {
                    "set its series aside with tacenda new --name NAME, which keeps the policy file; for another draft move"
                }
                false => "move",
            };
            let message = format!(
                "{} holds a project already; nothing was changed: choose another folder with -C; or {set_aside} tacenda.toml and the \
                 folder hierarchies away, and try again",
                root.display()
            );
            return Err(UseCaseError::Exists(message));
        }
        let (source, section, table) = match self.data {
            Given::Path(path) if Connection::is_url(&path.to_string_lossy()) => {
                let (source, section) = from_database(&self.project, &path.to_string_lossy())?;
                // A schema is no part of the name.
                let table = PathBuf::from(source.name().rsplit('.').next().unwrap_or_default());
                (source, section, table)
            }
            // A table in memory has no name.
            given => {
                let table = if let Given::Path(path) = &given { path.clone() } else { PathBuf::new() };
                (given.open()?, String::new(), table)
            }
        };
        let series = self.name.unwrap_or_else(|| series_name(&table));
        progress(1, "looking at every row");
        let mut draft = ingest::draft(&source)?;
        if let Some(promise) = &self.promise
            && !draft.set_promise(promise)
        {
            return Err(UseCaseError::usage("there is no such promise; tacenda promises lists them"));
        }
        Ok(Drafting { draft, policy, series, table, source, section })
    }
}

impl Drafting {
    /// The policy file as it would be written now.
    pub fn text(&self) -> String {
        self.draft.to_toml(&self.series) + &self.section
    }

    /// The series' name.
    pub fn series(&self) -> &str {
        &self.series
    }

    /// The file of the table, if it is in one.
    pub(super) fn table(&self) -> &Path {
        &self.table
    }

    /// Writes the policy file and its hierarchies, and tries the ways to keep its promise on the table. Files that are
    /// there already may be somebody's work, and stay.
    pub fn write(mut self, progress: Progress<'_>) -> Result<InitReport, UseCaseError> {
        let folder = self.policy.parent().unwrap_or(Path::new("."));
        let hierarchies = self.draft.hierarchies();
        if let Some(path) = hierarchies.iter().map(|(name, _)| folder.join(name)).find(|path| path.exists()) {
            let message = format!("{} exists already; nothing was changed: move it away first", path.display());
            return Err(UseCaseError::Exists(message));
        }
        for (name, text) in &hierarchies {
            write(&folder.join(name), text)?;
        }
        write(&self.policy, &self.text())?;
        let column = |column: &ingest::DraftColumn| InitColumn {
            name: column.name.clone(),
            role: column.role.word().to_string(),
            because: column.because.clone(),
            missing: column.missing,
            distinct: column.distinct,
            samples: if column.role == Role::Identifier { Vec::new() } else { column.samples(3) },
            undecided: column.undecided,
            open: column.open,
        };
        // A draft is a proposal. `check` reports what is wrong with it or with the table.
        let (tried, failed) = match tried(&self.policy, self.source, self.draft.may_be_lowered(), progress) {
            Ok(tried) => (tried, None),
            Err(error) => (Tried::default(), Some(format!("the draft cannot publish this table yet: {error}"))),
        };
        let Tried { ways, forecast, busy, lasting } = tried;
        let lowered = lasting.and_then(|m| self.draft.lower_to(m));
        if let Some(forecast) = &forecast {
            raise_limits(&mut self.draft, forecast);
            busy.iter().for_each(|busy| raise_limits(&mut self.draft, busy));
            write(&self.policy, &(self.draft.to_toml(&self.series) + &self.section))?;
        }
        let lacking: Vec<String> = self.draft.lacking().into_iter().map(String::from).collect();
        let is_usable = lacking.is_empty() && failed.is_none();
        let lacking: Vec<String> = lacking.into_iter().chain(self.draft.too_uneven()).collect();
        // What the draft lacks is the reason why it failed.
        let failed = failed.filter(|_| lacking.is_empty());
        let ends = forecast.and_then(|forecast| forecast.ends).map(|why| ends_early(&why));
        let ends_if_busy =
            || Some(format!("if {} of the people left each time: {}", percent(BUSY), ends_early(&busy?.ends?)));
        let ends = ends.or_else(ends_if_busy);
        Ok(InitReport {
            columns: self.draft.columns.iter().map(column).collect(),
            hierarchies: hierarchies.into_iter().map(|(name, _)| name).collect(),
            rows: self.draft.rows,
            notes: self
                .draft
                .notes
                .iter()
                .cloned()
                .chain(lacking)
                .chain(failed)
                .chain(ends)
                .chain(lowered)
                .chain(self.draft.over_limits())
                .chain(ways.notes())
                .collect(),
            policy: self.policy,
            is_usable,
        })
    }
}

/// The table in a database that a URL names, and the section that names it in the policy file.
fn from_database(project: &ProjectFolder, url: &str) -> Result<(Source, String), UseCaseError> {
    let table = DatabaseTable::of_url(url).map_err(DatabaseError::from)?;
    let database = project.database()?;
    let closed = database.closed_columns(&table)?;
    let wanted = |name: &str| !closed.iter().any(|(closed, _)| closed == name);
    let source = match database.fetch(&table, &wanted, None)? {
        Fetched::Table(source) => source,
        Fetched::TooLarge(_) => unreachable!("nothing is too large where no limit is given"),
    };
    let text = |text: &str| toml::Value::String(text.into()).to_string();
    let (name, connection) = (text(&table.name()), text(&table.connection.to_string()));
    let dropped = |(name, why): &(String, String)| {
        // Somebody else named the type.
        let why: String = why.chars().filter(|letter| !letter.is_control()).collect();
        format!("\n# Left out: {why}.\n[columns.{}]\nrole = \"drop\"\n", text(name))
    };
    let source_section = format!(
        "\n# Where the table comes from, where no file is named.\n[source]\npostgres = {connection}\ntable = {name}\n"
    );
    Ok((source, closed.iter().map(dropped).collect::<String>() + &source_section))
}

/// Raises the drafted limits to one and a half times what the next releases are expected to need.
fn raise_limits(draft: &mut Draft, forecast: &ForecastReport) {
    let needed = |share: fn(&ForecastRelease) -> f64| {
        let most = forecast.releases.iter().map(share).fold(0.0, f64::max);
        // In steps of five percent, because the limit is public and should reveal no more.
        ((most * 1.5 * 20.0).ceil() * 5.0) as u32
    };
    draft.raise_limits(needed(|release| release.counterfeits_most), needed(|release| release.withheld_most));
}

/// The share of people who leave each time in a busy series. One table does not show how many do, so a draft's limits are made for
/// this many.
const BUSY: f64 = 0.2;

/// What a draft's policy file does with the table.
#[derive(Default)]
struct Tried {
    ways: Ways,
    forecast: Option<ForecastReport>,
    /// What they would need if many people left and arrived each time; only for promises that people may leave.
    busy: Option<ForecastReport>,
    /// The m under which a simulation of the next releases goes on, or ends later, where it ends early with the drafted one.
    lasting: Option<u32>,
}

/// The ways to keep the promise of a policy file, tried on a table, and what the next releases will need. If they cannot be
/// made, each `m` from `lower` downwards is tried. Nothing is written.
fn tried(
    policy: &Path,
    table: Source,
    lower: std::ops::Range<u32>,
    progress: Progress<'_>,
) -> Result<Tried, ProjectError> {
    let step = |what: &str| progress(Project::MATERIAL_STEPS + Project::REHEARSE_STEPS + 1, what);
    let project = Project::open(policy.parent().unwrap_or(Path::new(".")), Some(policy), Access::Look)?;
    // It is open already; standard input could not be opened twice.
    let input = Input { table: Given::Frame(table), delta: false, show_values: false, memory: None, threads: 0 };
    let material = project.material(input, &step)?;
    let rehearsal = project.rehearse(&material, NextRelease::default(), &step)?;
    step("comparing choices");
    let mut found = (project.policy().clone(), rehearsal.forecast(project.policy(), &material), rehearsal);
    let mut lasting = None;
    for m in lower.rev() {
        let goes_on =
            |forecast: &Option<ForecastReport>| forecast.as_ref().map(|it| (it.ends.is_none(), it.releases.len()));
        let mut other = project.policy().clone();
        if goes_on(&found.1).is_none_or(|(goes_on, _)| goes_on) || !other.set("m", m) {
            break;
        }
        let next = NextRelease { policy: Some(&other), ..NextRelease::default() };
        let Ok(rehearsal) = project.rehearse(&material, next, &step) else { continue };
        let forecast = rehearsal.forecast(&other, &material);
        if goes_on(&forecast) > goes_on(&found.1) {
            (found, lasting) = ((other, forecast, rehearsal), Some(m));
        }
    }
    let (policy, forecast, rehearsal) = found;
    let may_leave = policy.terms().adds_counterfeits;
    let busy = may_leave.then(|| rehearsal.forecast_if(BUSY, &policy, &material)).flatten();
    Ok(Tried { ways: project.ways(&policy, &material, &rehearsal, MOST_COMPARED)?, forecast, busy, lasting })
}

/// Writes a file, and the folder it is in where there is none.
pub(super) fn write(path: &Path, text: &str) -> Result<(), UseCaseError> {
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(UseCaseError::file(parent))?;
    refuse_link(path)?;
    fs::write(path, text).map_err(UseCaseError::file(path))
}

/// A series name made from the table's name. Dates are left out, because the series outlives its first table and cannot
/// be renamed.
fn series_name(data: &Path) -> String {
    let stem = data.file_stem().map_or(String::new(), |stem| stem.to_string_lossy().to_lowercase());
    let stem = stem.split('.').next().unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut words: Vec<&str> = Vec::new();
    let mut after_year = false;
    for word in stem.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        let is_year = is_number(word) && [4, 6, 8].contains(&word.len()) && ["19", "20"].contains(&&word[..2]);
        let is_part = is_number(word.trim_start_matches(['q', 'h', 'w']));
        // q01 is a quarter, wherever it occurs.
        let is_period = is_part && !is_number(word);
        after_year = is_year || (after_year && is_part);
        if !after_year && !is_period {
            words.push(word);
        }
    }
    if words.is_empty() { "series".to_string() } else { words.join("-") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_is_not_named_after_the_date_of_its_first_table() {
        let names = [
            ("data/2026-Q3.csv", "series"),
            ("stays-2026-Q3.csv", "stays"),
            ("stays_2026-11-15.csv.gz", "stays"),
            ("20261115_ward-3.parquet", "ward-3"),
            ("Ward Stays.csv", "ward-stays"),
            ("census2020.csv", "census2020"),
            ("-.csv", "series"),
            ("q01.csv", "series"),
            ("stays-q3.csv", "stays"),
        ];
        for (path, name) in names {
            assert_eq!(series_name(Path::new(path)), name, "{path}");
        }
    }
}
