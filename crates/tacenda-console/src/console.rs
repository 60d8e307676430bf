//! What the console knows: its project, its door, its jobs, and what was dropped on it.

use crate::door::{Door, secret};
use crate::drops::{Dropped, Drops, List};
use crate::jobs::{Jobs, Standing, Work};
use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tacenda::audit::Effort;
use tacenda::ingest::Given;
use tacenda::keys::KeyFolder;
use tacenda::model::Language;
use tacenda::publish::ReportRequest;
use tacenda::report::{Edition, Report};
use tacenda::use_cases::{self, Overview, ProjectFolder, Trial, UseCaseError};

/// How the console is opened.
#[derive(Clone, Debug)]
pub struct ConsoleSettings {
    /// The project.
    pub project: ProjectFolder,
    /// The address to listen on.
    pub bind: IpAddr,
    /// The port; 0 for any.
    pub port: u16,
    /// Whether the address is `127.0.0.1`, for browsers that do not know names that end in `.localhost`.
    pub plain_address: bool,
    /// Whether releases may be published from the page.
    pub allow_publish: bool,
    /// Whether a person said that root or another address is meant.
    pub i_know: bool,
    /// After how long without use the console locks itself.
    pub idle: Duration,
    /// The words that name the project in a command that a user may copy, such as ` -C ward`; may be empty.
    pub words: String,
}

/// The console.
pub(crate) struct Console {
    pub(crate) settings: ConsoleSettings,
    pub(crate) door: Door,
    pub(crate) drops: Drops,
    pub(crate) jobs: Arc<Jobs>,
    /// The language that a person chose on a page.
    pub(crate) language: Mutex<Option<Language>>,
    /// A table that was read under a draft, and under which answers: so that sliders need not read it again.
    pub(crate) trial: Mutex<Option<(String, Trial)>>,
    /// The passphrase of a signing key that was made on a page, as long as the console runs.
    pub(crate) passphrase: Arc<Mutex<Option<String>>>,
    announce: Box<dyn Fn(&str) + Send + Sync>,
}

/// A table that can be chosen: it was dropped, or it lies in the project folder.
#[derive(Clone, Debug)]
pub(crate) struct Choosable {
    /// Its name in a form.
    pub key: String,
    /// Its name for people.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// How many bytes it has.
    pub bytes: u64,
    /// Its number among the dropped ones.
    pub dropped: Option<u32>,
}

/// Endings of tables that are looked for in the project folder.
const ENDINGS: [&str; 5] = ["csv", "tsv", "parquet", "xlsx", "gz"];

impl Console {
    /// A console that listens on a port.
    pub(crate) fn new(
        mut settings: ConsoleSettings,
        drops: Drops,
        port: u16,
        announce: Box<dyn Fn(&str) + Send + Sync>,
    ) -> Console {
        let is_here = settings.bind.is_loopback();
        let name = match settings.plain_address || !is_here {
            true => settings.bind.to_string(),
            false => format!("t{}.localhost", &secret()[..12]),
        };
        let passphrase: Arc<Mutex<Option<String>>> = Arc::default();
        let known = Arc::clone(&passphrase);
        settings.project.keys = settings.project.keys.take().map(|keys| {
            keys.asking_first(Arc::new(move |question| match KeyFolder::asks_for_signing(question) {
                true => known.lock().ok()?.clone(),
                false => None,
            }))
        });
        Console {
            passphrase,
            door: Door::new(&name, port, settings.idle),
            settings,
            drops,
            jobs: Arc::new(Jobs::default()),
            language: Mutex::new(None),
            trial: Mutex::new(None),
            announce,
        }
    }

    /// Tells the terminal the link.
    pub(crate) fn announce(&self) {
        if let Some(link) = self.door.link() {
            (self.announce)(&link);
        }
    }

    pub(crate) fn project(&self) -> &ProjectFolder {
        &self.settings.project
    }

    pub(crate) fn root(&self) -> &Path {
        &self.settings.project.root
    }

    /// A command of the user's, for this project.
    pub(crate) fn command(&self, rest: &str) -> String {
        format!("tacenda{} {rest}", self.settings.words)
    }

    /// Where the project stands.
    pub(crate) fn overview(&self) -> Result<Overview, UseCaseError> {
        use_cases::overview(self.project())
    }

    /// The tables that can be chosen, dropped ones first.
    pub(crate) fn tables(&self) -> Vec<Choosable> {
        let dropped = |file: Dropped| Choosable {
            key: format!("dropped:{}", file.number),
            name: file.name,
            path: file.path,
            bytes: file.bytes,
            dropped: Some(file.number),
        };
        let mut tables: Vec<Choosable> = self.drops.list(List::Tables).into_iter().map(dropped).collect();
        // The newest first: it is the one to go on with.
        tables.reverse();
        for folder in ["", "data"] {
            let entries = fs::read_dir(self.root().join(folder)).into_iter().flatten().flatten();
            let mut here: Vec<Choosable> = entries.filter_map(|entry| self.lying(folder, &entry)).collect();
            here.sort_by(|a, b| a.name.cmp(&b.name));
            tables.extend(here);
        }
        tables
    }

    /// A table of the project folder.
    fn lying(&self, folder: &str, entry: &fs::DirEntry) -> Option<Choosable> {
        let name = entry.file_name().to_str()?.to_string();
        let is_table =
            entry.file_type().ok()?.is_file() && ENDINGS.iter().any(|ending| name.ends_with(&format!(".{ending}")));
        let name = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        is_table.then(|| Choosable {
            key: format!("file:{name}"),
            path: entry.path(),
            bytes: entry.metadata().map_or(0, |data| data.len()),
            name,
            dropped: None,
        })
    }

    /// A table that was chosen in a form. Nothing outside of the list can be named.
    pub(crate) fn table(&self, key: &str) -> Result<Choosable, UseCaseError> {
        let unknown = || UseCaseError::Usage("choose a table from the list, or drop one".into());
        self.tables().into_iter().find(|table| table.key == key).ok_or_else(unknown)
    }

    /// The language of the pages: the chosen one, or that of the policy.
    pub(crate) fn spoken(&self) -> Language {
        let chosen = *self.language.lock().expect("nobody panics with it in hand");
        chosen.unwrap_or_else(|| {
            let overview = self.overview().ok();
            overview.and_then(|overview| overview.policy).map_or(Language::English, |policy| policy.language)
        })
    }

    /// The report on the series as it is now, if it was made already. Otherwise it is begun.
    pub(crate) fn judged(&self, head: &str) -> Option<Report> {
        let file = self.drops.own(&format!("report-{head}.json"));
        if let Ok(text) = fs::read_to_string(&file) {
            return serde_json::from_str(&text).ok();
        }
        let was_tried =
            matches!(self.jobs.standing(Work::Judge, head), Some(Standing::Failed(_) | Standing::Cancelled));
        if !was_tried {
            self.judge(head, Vec::new());
        }
        None
    }

    /// Begins the report on the series, with the private tables of its releases if there are some.
    pub(crate) fn judge(&self, head: &str, truth: Vec<Given>) {
        let (project, file) = (self.project().clone(), self.drops.own(&format!("report-{head}.json")));
        let page = self.drops.own(&format!("report-{head}.html"));
        self.jobs.start(Work::Judge, head, move |progress| {
            let request = ReportRequest {
                edition: Edition::Steward,
                truth,
                review_by: None,
                budget: use_cases::budget(Effort::default(), None),
                language: None,
            };
            let report = use_cases::report(&project, request, progress)?;
            let failed = |source| UseCaseError::File { file: "the report".into(), source };
            fs::write(&page, tacenda::report::html(&report)).map_err(failed)?;
            fs::write(&file, tacenda::report::json(&report)).map_err(failed)?;
            Ok(String::new())
        });
    }
}
