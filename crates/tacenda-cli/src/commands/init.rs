//! Look at a table and draft the policy file: roles, types, padded domains.

use crate::args::{Common, InitArgs};
use crate::commands::shared;
use crate::failure::Failure;
use crate::screen::{Screen, number};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use tacenda::ingest;
use tacenda::ingest::{Draft, Source};
use tacenda::model::Role;
use tacenda::publish::{POLICY_FILE, is_project};

/// What init answers with.
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
}

/// What is proposed for a column.
#[derive(Debug, JsonSchema, Serialize)]
pub struct InitColumn {
    /// Its name.
    pub name: String,
    /// The part it plays.
    pub role: String,
    /// Why.
    pub because: String,
    /// Cells that are empty.
    pub missing: u64,
    /// Distinct values; none if there are too many to count.
    pub distinct: Option<usize>,
}

pub fn run(args: &InitArgs, common: &Common, screen: &Screen) -> Result<u8, Failure> {
    let policy = common.policy.clone().unwrap_or_else(|| common.project.join(POLICY_FILE));
    if is_project(&common.project) || policy.exists() {
        let message = format!("{} holds a project already; nothing was changed", common.project.display());
        return Err(Failure::new("U204", 2, message));
    }
    let failed = |error: ingest::IngestError| shared::failure(error.into(), screen);
    let source = Source::open(&args.data).map_err(failed)?;
    let bar = screen.steps(1);
    bar.set_message("looking at every row");
    let mut draft = ingest::draft(&source).map_err(failed)?;
    bar.finish_and_clear();
    if let Some(promise) = &args.promise
        && !draft.set_promise(promise)
    {
        return Err(Failure::usage("there is no such promise; tacenda promises lists them"));
    }
    confirm(&mut draft, common, screen)?;
    refuse_overwriting(&draft, &policy)?;
    let series = args.name.clone().unwrap_or_else(|| series_name(&args.data));
    let hierarchies = write(&draft, &policy, &series)?;
    let columns = draft.columns.iter().map(|column| InitColumn {
        name: column.name.clone(),
        role: column.role.word().to_string(),
        because: column.because.clone(),
        missing: column.missing,
        distinct: column.distinct,
    });
    let notes = draft.notes.iter().cloned().chain(draft.lacking().into_iter().map(String::from)).collect();
    let report = InitReport { policy, hierarchies, rows: draft.rows, columns: columns.collect(), notes };
    screen.result(&text(&report, args, common), &report)?;
    Ok(0)
}

/// On a terminal, shows each proposal and lets the steward change the role; elsewhere `--yes` must have
/// been said.
fn confirm(draft: &mut Draft, common: &Common, screen: &Screen) -> Result<(), Failure> {
    if common.yes {
        return Ok(());
    }
    let names: Vec<String> = draft.columns.iter().map(|column| column.name.clone()).collect();
    for name in names {
        loop {
            let column = draft.column(&name).expect("the column was just listed");
            let question = format!(
                "{name}: {} ({}). Enter to keep, or identifier, quasi, sensitive, public, drop:",
                column.role.word(),
                column.because
            );
            let Some(answer) = screen.ask(&question)? else {
                let message =
                    "nothing was drafted: nobody can be asked here; say --yes to take every proposal as it is";
                return Err(Failure::new("U601", 6, message));
            };
            if answer.is_empty() {
                break;
            }
            if let Some(role) = role_of(&answer) {
                draft.set_role(&name, role);
                break;
            }
            screen.note("that is none of the roles");
        }
    }
    Ok(())
}

/// Files that are there may be somebody's work.
fn refuse_overwriting(draft: &Draft, policy: &Path) -> Result<(), Failure> {
    let folder = policy.parent().unwrap_or(Path::new("."));
    match draft.hierarchies().into_iter().map(|(name, _)| folder.join(name)).find(|path| path.exists()) {
        Some(path) => {
            let message = format!("{} exists already; nothing was changed: move it away first", path.display());
            Err(Failure::new("U204", 2, message))
        }
        None => Ok(()),
    }
}

/// Writes the policy file and its hierarchies; answers with the hierarchies' paths.
fn write(draft: &Draft, policy: &Path, series: &str) -> Result<Vec<String>, Failure> {
    let folder = policy.parent().unwrap_or(Path::new("."));
    let failed = |path: &Path, error| Failure::environment(format!("{}: {error}", path.display()));
    let mut written = Vec::new();
    for (name, text) in draft.hierarchies() {
        let path = folder.join(&name);
        let parent = path.parent().expect("a file in a folder has a parent");
        fs::create_dir_all(parent).map_err(|error| failed(parent, error))?;
        fs::write(&path, text).map_err(|error| failed(&path, error))?;
        written.push(name);
    }
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    fs::write(policy, draft.to_toml(series)).map_err(|error| failed(policy, error))?;
    Ok(written)
}

/// A series name made from the table's name.
fn series_name(data: &Path) -> String {
    let stem = data.file_stem().map_or("series".into(), |stem| stem.to_string_lossy().to_lowercase());
    let stem = stem.split('.').next().unwrap_or_default().to_string();
    let name: String = stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).collect();
    let name = name.trim_matches('-').to_string();
    if name.is_empty() { "series".to_string() } else { name }
}

fn role_of(text: &str) -> Option<Role> {
    let roles = [Role::Identifier, Role::Quasi, Role::Sensitive, Role::Public, Role::Drop];
    roles.into_iter().find(|&role| role.word() == text.to_ascii_lowercase())
}

fn text(report: &InitReport, args: &InitArgs, common: &Common) -> String {
    let mut out = format!("{} rows. Proposed:\n\n", number(report.rows));
    for column in &report.columns {
        let _ = writeln!(out, "  {:<20} {:<11} {}", column.name, column.role, column.because);
    }
    for note in &report.notes {
        let _ = writeln!(out, "  note: {note}");
    }
    let project = shared::project_words(common);
    let _ = writeln!(
        out,
        "\nThe policy is in {}. Read it: what it does not say, nobody can promise. Then",
        report.policy.display()
    );
    let _ = writeln!(out, "  tacenda{project} check {0}\n  tacenda{project} plan {0}", args.data.display());
    out
}
