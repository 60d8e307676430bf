//! What several requests have in common: a project, a table, how files are read, and progress.

use crate::folder::ReceivedRelease;
use crate::ingest::foreign;
use crate::ingest::foreign::Notation;
use crate::keys::{KeyError, KeyFolder, Signer};
use crate::ledger::{Anchors, Disk, LedgerError, RealDisk, Receipt, Seen, unsealed};
use crate::model::Reading;
use crate::publish::{Access, Machine, Project, ProjectError, is_project};
use crate::use_cases::{Database, DatabaseError, PublishReport, UseCaseError};
use crate::{files, folder};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

/// Called before each step, with the number of steps and what is done.
pub type Progress<'a> = &'a (dyn Fn(usize, &str) + Sync);

/// A project folder, by its path.
#[derive(Clone, Debug, Default)]
pub struct ProjectFolder {
    /// The folder; or a URL, if `place` leads there.
    pub root: PathBuf,
    /// Where the project is, if it is not on the file system.
    pub place: Option<Arc<dyn Disk>>,
    /// The policy file, where it has another name than `tacenda.toml`.
    pub policy: Option<PathBuf>,
    /// The anchors outside of the project that record how far its series went; none if left out.
    pub anchors: Option<Anchors>,
    /// A receipt or a release folder that stands in for an anchor that is lost: the series must have come as far.
    pub anchor_from: Option<PathBuf>,
    /// Where the user's keys are. Without them nothing is signed, a new vault is not encrypted, and one that is stays closed.
    pub keys: Option<KeyFolder>,
    /// Why a project that is behind its anchor may continue.
    pub accept_rollback: Option<String>,
    /// What speaks to the databases of the policy file. Without it nothing is read from them or delivered.
    pub database: Option<Arc<dyn Database>>,
}

impl ProjectFolder {
    /// Opens the project. One that is behind its anchor is neither rehearsed nor published.
    pub fn open(&self, access: Access) -> Result<Project, ProjectError> {
        if access != Access::Look {
            self.anchors.as_ref().map_or(Ok(()), |anchors| anchors.assert_outside(&self.root))?;
        }
        // The key is opened before the lock is taken, because a person may be asked for a passphrase.
        let signer = if access == Access::Publish { self.signer()? } else { None };
        let anchors = self.held_anchors()?;
        let (keys, remembered) = (self.keys.clone(), anchors.clone());
        let machine = Machine { disk: self.below(), keys, anchors: remembered, ..Machine::default() };
        let mut project = Project::open_on(machine, &self.root, self.policy.as_deref(), access)?;
        signer.into_iter().for_each(|signer| project.sign_with(signer));
        if let Some(anchors) = &anchors {
            project.hold_against(anchors, access, self.accept_rollback.as_deref())?;
        }
        Ok(project)
    }

    /// Refuses where nothing would remember how far the series went, or no key could close a new vault.
    pub fn assert_remembered(&self) -> Result<(), UseCaseError> {
        if self.anchors.is_some() && self.keys.is_some() {
            return Ok(());
        }
        let why = "there is no home folder: nothing would remember how far the series went, and a new vault would not be \
                   encrypted; set HOME, or name folders with --anchor and --keys";
        Err(UseCaseError::usage(why))
    }

    /// The disk that opens the project's vault.
    pub(super) fn disk(&self) -> Result<Arc<dyn Disk>, KeyError> {
        unsealed(self.below(), &self.root, self.keys.as_ref())
    }

    /// The disk as it is.
    pub(super) fn below(&self) -> Arc<dyn Disk> {
        self.place.clone().unwrap_or_else(|| Arc::new(RealDisk))
    }

    /// Reads a release back that was published. One that lies elsewhere is fetched first.
    pub fn received(&self, published: &PublishReport) -> Result<ReceivedRelease, UseCaseError> {
        let Some(place) = &self.place else { return Ok(folder::read(&published.folder)?) };
        let here = tempfile::tempdir().map_err(|error| LedgerError::disk("create", &published.folder, error))?;
        for name in &published.files {
            let (from, to) = (published.folder.join(name), here.path().join(name));
            let copy = || io::copy(&mut place.open(&from)?, &mut fs::File::create(&to)?);
            copy().map_err(|error| LedgerError::disk("read", &from, error))?;
        }
        Ok(folder::read(here.path())?)
    }

    /// Where it is remembered how far the series went, with what stands in for a lost anchor.
    pub fn held_anchors(&self) -> Result<Option<Anchors>, ProjectError> {
        // A folder that is no project, such as one with releases, sets nothing back.
        if let Some(anchors) = self.anchors.as_ref().filter(|_| is_project(&self.root)) {
            anchors.assert_outside(&self.root)?;
        }
        let Some(path) = &self.anchor_from else { return Ok(self.anchors.clone()) };
        let nowhere = LedgerError::BadReceipt { what: "there is no folder for anchors; name one with --anchor" };
        let anchors = self.anchors.clone().ok_or(nowhere)?;
        if path.join(folder::MANIFEST).exists() {
            return Ok(Some(anchors.and_seen(Seen::Release(folder::read_link(path)?))));
        }
        let text = files::read(path).map_err(|error| LedgerError::disk("read", path, error))?;
        let receipt = Receipt::read(&String::from_utf8_lossy(&text))?;
        Ok(Some(anchors.and_seen(Seen::Receipt(receipt))))
    }

    /// What speaks to databases.
    pub(super) fn database(&self) -> Result<&dyn Database, DatabaseError> {
        self.database.as_deref().ok_or(DatabaseError::NoClient)
    }

    /// Whether the user's signing key goes back to this one by signatures.
    pub(super) fn follows(&self, key: &str) -> bool {
        self.keys.as_ref().is_some_and(|keys| keys.descends_from(key).unwrap_or(false))
    }

    /// The user's signing key, if there is one.
    pub(super) fn signer(&self) -> Result<Option<Signer>, KeyError> {
        self.keys.as_ref().map_or(Ok(None), KeyFolder::signer)
    }
}

/// An option for one column, or for all.
#[derive(Clone, Debug)]
pub struct Said {
    /// The column; none for all of them.
    pub column: Option<String>,
    /// The value of the option.
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

    /// The option as written on the command line.
    pub(super) fn words(&self) -> String {
        self.column.as_ref().map_or_else(|| self.text.clone(), |column| format!("{column}={}", self.text))
    }

    /// The columns that are meant. A column must be one of `quasi`; otherwise the error names `option`.
    pub(super) fn columns<'a>(&'a self, option: &str, quasi: &'a [String]) -> Result<&'a [String], UseCaseError> {
        let Some(column) = &self.column else { return Ok(quasi) };
        let wrong = || UseCaseError::usage(format!("{option} {}: {column} is not a quasi column", self.words()));
        quasi.iter().position(|name| name == column).map(|at| &quasi[at..=at]).ok_or_else(wrong)
    }

    /// The column that is meant, if one must be named.
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
    /// A folder of trees, each in a file named after its column.
    pub hierarchies: Option<PathBuf>,
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
        if let Some(folder) = &self.hierarchies {
            for (column, file) in trees(folder, quasi)? {
                reading.hierarchy.entry(column).or_insert(file);
            }
        }
        for said in &self.any {
            for column in said.columns("--any", quasi)? {
                reading.any.entry(column.clone()).or_default().push(said.text.clone());
            }
        }
        Ok(reading)
    }
}

/// The trees in a folder: files named `COLUMN.csv`, or, as ARX's examples are, `…hierarchy_COLUMN.csv`. Or those in a project
/// file of ARX.
fn trees(folder: &Path, quasi: &[String]) -> Result<Vec<(String, PathBuf)>, UseCaseError> {
    let wrong = |what: String| UseCaseError::usage(format!("--hierarchies {}: {what}", folder.display()));
    let files: Vec<(String, PathBuf)> = if folder.is_file() {
        let no_project = |_| wrong("this file is no ARX project (.deid); give one, or a folder".into());
        foreign::arx_hierarchies(folder).map_err(no_project)?
    } else {
        let entries = std::fs::read_dir(folder).map_err(|_| wrong("there is no such folder".into()))?;
        let files = entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file());
        let mut files: Vec<(String, PathBuf)> = files.filter_map(|path| Some((stem(&path)?, path))).collect();
        files.sort();
        files
    };
    let is_of = |name: &str, column: &str| {
        let (name, column) = (name.to_lowercase(), column.to_lowercase());
        name == column || name.ends_with(&format!("hierarchy_{column}"))
    };
    let mut found = Vec::new();
    for column in quasi {
        let here: Vec<&(String, PathBuf)> = files.iter().filter(|(name, _)| is_of(name, column)).collect();
        match here[..] {
            [] => (),
            [(_, file)] => found.push((column.clone(), file.clone())),
            _ => return Err(wrong(format!("two files are named after column {column}"))),
        }
    }
    match found.is_empty() {
        true => Err(wrong(format!("no file is named after a quasi column, such as {}.csv", quasi.join(".csv, ")))),
        false => Ok(found),
    }
}

/// The name of a file of trees, without its ending.
fn stem(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_string_lossy().into_owned();
    let lower = name.to_lowercase();
    let is_table = lower.ends_with(".csv") || lower.ends_with(".txt");
    let bare = name.len().checked_sub(4).filter(|_| is_table).and_then(|end| name.get(..end));
    Some(bare.unwrap_or(&name).to_string())
}
