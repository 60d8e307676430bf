//! What a call in Python says: keywords and their values, read into what the requests of the library have.

use crate::error::raise;
use crate::objects;
use crate::series::PyData;
use pyo3::conversion::FromPyObjectOwned;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use tacenda::ingest::Given;
use tacenda::keys::KeyFolder;
use tacenda::ledger::Anchors;
use tacenda::use_cases::{FileOptions, Order, ProjectFolder, ReleaseRequest, Said, SubjectRequest};
use tacenda_postgres::Postgres;

/// The keywords of a call. What is None was not said.
pub struct Keywords<'py>(pub Bound<'py, PyDict>);

impl<'py> Keywords<'py> {
    pub fn py(&self) -> Python<'py> {
        self.0.py()
    }

    fn value(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.0.get_item(name)?.filter(|value| !value.is_none()))
    }

    /// Whether a keyword was said. Its value is not looked at: a stream of rows can be read only once.
    pub fn has(&self, name: &str) -> PyResult<bool> {
        Ok(self.value(name)?.is_some())
    }

    /// The value of a keyword, if it was said.
    pub fn get<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Option<T>> {
        let Some(value) = self.value(name)? else { return Ok(None) };
        value.extract::<T>().map(Some).map_err(|error| wrong(self.py(), name, error.into()))
    }

    /// The value of a keyword that must be said.
    pub fn need<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<T> {
        self.get(name)?.ok_or_else(|| PyTypeError::new_err(format!("{name} is missing")))
    }

    /// Whether a keyword is true.
    pub fn is(&self, name: &str) -> PyResult<bool> {
        Ok(self.get::<bool>(name)?.unwrap_or(false))
    }

    /// One of several words.
    pub fn word<T: Copy>(&self, name: &str, words: &[(&str, T)]) -> PyResult<Option<T>> {
        let Some(said) = self.get::<String>(name)? else { return Ok(None) };
        match words.iter().find(|(word, _)| *word == said) {
            Some((_, meant)) => Ok(Some(*meant)),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                Err(PyValueError::new_err(format!("{name} is one of {}", known.join(", "))))
            }
        }
    }

    /// One thing, or several. One text is one thing, not its letters.
    pub fn several<T: FromPyObjectOwned<'py>>(&self, name: &str) -> PyResult<Vec<T>> {
        let Some(value) = self.value(name)? else { return Ok(Vec::new()) };
        items(&value, name)
    }

    /// Tables, in order.
    pub fn tables(&self, name: &str) -> PyResult<Vec<Given>> {
        Ok(self.several::<PyData>(name)?.into_iter().map(Given::from).collect())
    }

    /// A table.
    pub fn table(&self, name: &str) -> PyResult<Option<Given>> {
        Ok(self.get::<PyData>(name)?.map(Given::from))
    }

    /// An option of columns: a dict of columns, or texts such as `COLUMN=TEXT`, or a text for all columns.
    pub fn said(&self, name: &str) -> PyResult<Vec<Said>> {
        let Some(value) = self.value(name)? else { return Ok(Vec::new()) };
        let Ok(columns) = value.cast::<PyDict>() else {
            return Ok(items::<String>(&value, name)?.iter().map(|words| Said::parse(words)).collect());
        };
        let mut said = Vec::new();
        for (column, texts) in columns.iter() {
            let column: String = column.extract().map_err(|error| wrong(self.py(), name, error))?;
            let texts = items::<String>(&texts, name)?;
            said.extend(texts.into_iter().map(|text| Said { column: Some(column.clone()), text }));
        }
        Ok(said)
    }

    /// The project folder.
    pub fn project(&self) -> PyResult<ProjectFolder> {
        let root: PathBuf = self.get("root")?.unwrap_or_else(|| PathBuf::from("."));
        Ok(ProjectFolder {
            place: self.get("objects")?.map(|bucket| objects::disk(bucket, &root)),
            root,
            policy: self.get("policy")?,
            anchors: match self.get::<PathBuf>("anchor")? {
                Some(folder) => Some(Anchors::at(&folder)),
                None => Anchors::of_user(),
            },
            anchor_from: self.get("anchor_from")?,
            keys: self.keys()?,
            accept_rollback: self.get("accept_rollback")?,
            database: Some(Arc::new(Postgres)),
        })
    }

    /// The user's keys. A passphrase comes from the environment: nobody is asked in the middle of a program.
    pub fn keys(&self) -> PyResult<Option<KeyFolder>> {
        let folder = match self.get::<PathBuf>("keys")? {
            Some(folder) => Some(KeyFolder::at(&folder)),
            None => KeyFolder::of_user(),
        };
        Ok(folder.map(|folder| folder.asking(Arc::new(|_: &str| env::var("TACENDA_PASSPHRASE").ok()))))
    }

    /// The next release, which a vault and an anchor will remember.
    pub fn remembered_release(&self) -> PyResult<ReleaseRequest> {
        let request = self.release()?;
        request.project.assert_remembered().map_err(|error| raise(self.py(), error))?;
        Ok(request)
    }

    /// The next release.
    pub fn release(&self) -> PyResult<ReleaseRequest> {
        Ok(ReleaseRequest {
            project: self.project()?,
            data: self.table("data")?,
            delta: self.is("delta")?,
            label: self.get("label")?,
            view: self.get("view")?,
            show_values: false,
            memory: self.get("memory")?,
            threads: self.get("threads")?.unwrap_or(0),
            backup: self.get("backup")?,
        })
    }

    /// How files of other tools are read.
    pub fn reading(&self) -> PyResult<FileOptions> {
        Ok(FileOptions {
            group: self.get("group")?,
            notation: self.said("notation")?,
            hierarchy: self.said("hierarchy")?,
            hierarchies: self.get("hierarchies")?,
            any: self.said("any")?,
        })
    }

    /// What is audited.
    pub fn subject(&self) -> PyResult<SubjectRequest> {
        let dates = self.several::<String>("dates")?;
        let order = self.word("order", &[("given", false), ("date", true)])?.unwrap_or(false);
        Ok(SubjectRequest {
            releases: self.tables("releases")?,
            truth: self.tables("truth")?,
            project: self.project()?,
            quasi: self.several("quasi")?,
            sensitive: self.several("sensitive")?,
            id: self.get("id")?,
            linked: self.get("linked")?,
            options: self.reading()?,
            domain: self.said("domain")?,
            missing: self.said("missing")?,
            date_format: self.said("date_format")?,
            weight: self.get("weight")?,
            order: match (dates.is_empty(), order) {
                (false, _) => Order::Dated(dates),
                (true, true) => Order::Named,
                (true, false) => Order::Given,
            },
        })
    }
}

/// One thing, or each of several.
fn items<'py, T: FromPyObjectOwned<'py>>(value: &Bound<'py, PyAny>, name: &str) -> PyResult<Vec<T>> {
    let one = |item: &Bound<'py, PyAny>| item.extract::<T>().map_err(|error| wrong(value.py(), name, error.into()));
    // A frame can be walked through too, by its columns.
    let is_one =
        value.is_instance_of::<PyString>() || value.hasattr("__arrow_c_stream__")? || value.hasattr("__fspath__")?;
    if is_one {
        return Ok(vec![one(value)?]);
    }
    let several = value.try_iter().map_err(|error| wrong(value.py(), name, error))?;
    several.map(|item| one(&item?)).collect()
}

/// The same error with the name of the keyword.
fn wrong(py: Python<'_>, name: &str, error: PyErr) -> PyErr {
    PyTypeError::new_err(format!("{name}: {}", error.value(py)))
}
