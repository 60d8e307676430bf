//! What several requests have in common: a project, a table, how files are read, and who hears of progress.

use crate::ingest::foreign::Notation;
use crate::model::Reading;
use crate::publish::{Access, Project, ProjectError};
use crate::use_cases::UseCaseError;
use std::path::PathBuf;

/// Called before each step, with the number of steps and what is done.
pub type Progress<'a> = &'a (dyn Fn(usize, &str) + Sync);

/// A project folder, by its path.
#[derive(Clone, Debug, Default)]
pub struct ProjectFolder {
    /// The folder.
    pub root: PathBuf,
    /// The policy file, where it has another name than `tacenda.toml`.
    pub policy: Option<PathBuf>,
}

impl ProjectFolder {
    /// Opens the project.
    pub fn open(&self, access: Access) -> Result<Project, ProjectError> {
        Project::open(&self.root, self.policy.as_deref(), access)
    }
}

/// Something that is said of one column, or of all.
#[derive(Clone, Debug)]
pub struct Said {
    /// The column; none for all of them.
    pub column: Option<String>,
    /// What is said.
    pub text: String,
}

impl Said {
    /// Reads `COLUMN=TEXT`, or `TEXT` for all columns.
    pub fn parse(words: &str) -> Said {
        match words.split_once('=') {
            Some((column, text)) => Said { column: Some(column.into()), text: text.into() },
            None => Said { column: None, text: words.into() },
        }
    }

    /// As it is said on the command line.
    pub(super) fn words(&self) -> String {
        self.column.as_ref().map_or_else(|| self.text.clone(), |column| format!("{column}={}", self.text))
    }

    /// The columns that are meant. A column must be one of `quasi`, and `option` is named where it is not.
    pub(super) fn columns<'a>(&'a self, option: &str, quasi: &'a [String]) -> Result<&'a [String], UseCaseError> {
        let Some(column) = &self.column else { return Ok(quasi) };
        let wrong = || UseCaseError::usage(format!("{option} {}: {column} is not a quasi column", self.words()));
        quasi.iter().position(|name| name == column).map(|at| &quasi[at..=at]).ok_or_else(wrong)
    }

    /// The column that is meant, where one must be named.
    pub(super) fn column<'a>(&'a self, option: &str, quasi: &'a [String]) -> Result<&'a String, UseCaseError> {
        match self.column {
            Some(_) => Ok(&self.columns(option, quasi)?[0]),
            None => Err(UseCaseError::usage(format!("{option} {}: say COLUMN=…", self.text))),
        }
    }
}

/// How the files of other tools are to be read.
#[derive(Clone, Debug, Default)]
pub struct FileOptions {
    /// The column that numbers groups, if not `group_id`.
    pub group: Option<String>,
    /// The notations of columns.
    pub notation: Vec<Said>,
    /// The trees of columns: files in ARX's layout.
    pub hierarchy: Vec<Said>,
    /// Texts that mean any value.
    pub any: Vec<Said>,
}

impl FileOptions {
    /// The same per column, once every column is known to be one of `quasi`.
    pub(super) fn reading(&self, quasi: &[String]) -> Result<Reading, UseCaseError> {
        let mut reading = Reading { group: self.group.clone(), ..Reading::default() };
        for said in &self.notation {
            let column = said.column("--notation", quasi)?;
            if Notation::named(&said.text).is_none() {
                let known = "auto, interval, integer, real, real:DECIMALS, date, prefix, set, exact";
                return Err(UseCaseError::usage(format!("--notation {}: there is {known}", said.words())));
            }
            reading.notation.insert(column.clone(), said.text.clone());
        }
        for said in &self.hierarchy {
            let column = said.column("--hierarchy", quasi)?;
            reading.hierarchy.insert(column.clone(), PathBuf::from(&said.text));
        }
        for said in &self.any {
            for column in said.columns("--any", quasi)? {
                reading.any.entry(column.clone()).or_default().push(said.text.clone());
            }
        }
        Ok(reading)
    }
}
