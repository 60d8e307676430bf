//! A project folder.

use crate::release::PyRelease;
use crate::series::PyData;
use crate::{audit, error, plain};
use pyo3::prelude::*;
use std::env;
use std::path::PathBuf;
use std::sync::Arc;
use tacenda::audit::Effort;
use tacenda::ingest::Given;
use tacenda::keys::{KeyError, KeyFolder, PublicKey};
use tacenda::ledger::Anchors;
use tacenda::model::Language;
use tacenda::publish::{Access, ProjectError, ReportRequest};
use tacenda::report::{Edition, html};
use tacenda::use_cases;
use tacenda::use_cases::{
    AuditRequest, Next, ProjectFolder, ReleaseRequest, SubjectRequest, UseCaseError, VerifyRequest,
};

/// A project folder. It is opened anew for every call, so that it sees what others have published.
#[pyclass(name = "Project", frozen, module = "tacenda._native")]
pub struct PyProject {
    folder: ProjectFolder,
}

impl PyProject {
    fn next(&self, data: PyData, label: Option<String>, delta: bool, threads: usize) -> ReleaseRequest {
        let data = Some(Given::from(data));
        ReleaseRequest { project: self.folder.clone(), data, delta, label, threads, ..ReleaseRequest::default() }
    }
}

#[pymethods]
impl PyProject {
    #[new]
    #[pyo3(signature = (root, policy=None, anchor_from=None))]
    fn new(
        py: Python<'_>,
        root: PathBuf,
        policy: Option<PathBuf>,
        anchor_from: Option<PathBuf>,
    ) -> PyResult<PyProject> {
        let anchors = Anchors::of_user();
        let folder = ProjectFolder { root, policy, anchors, anchor_from, keys: keys(), ..ProjectFolder::default() };
        folder.open(Access::Look).map_err(|fault| error::raise(py, fault))?;
        Ok(PyProject { folder })
    }

    /// Rehearses the next release.
    #[pyo3(signature = (data, label=None, delta=false, threads=0))]
    fn plan(
        &self,
        py: Python<'_>,
        data: PyData,
        label: Option<String>,
        delta: bool,
        threads: usize,
    ) -> PyResult<PyRelease> {
        let request = self.next(data, label, delta, threads);
        let planned = py.detach(|| request.rehearse(&|_, _| {})).map_err(|fault| error::raise(py, fault))?;
        Ok(PyRelease::new(planned.rehearsal.into(), planned.project.policy().clone(), None))
    }

    /// Publishes the next release.
    #[pyo3(signature = (data, label=None, delta=false, threads=0))]
    fn publish(
        &self,
        py: Python<'_>,
        data: PyData,
        label: Option<String>,
        delta: bool,
        threads: usize,
    ) -> PyResult<PyRelease> {
        let request = self.next(data, label, delta, threads);
        let published = py.detach(|| -> Result<_, UseCaseError> {
            let mut rehearsed = match request.prepare(None, &|_, _| {})? {
                Next::Release(rehearsed) => rehearsed,
                Next::Already(report) => {
                    return Err(ProjectError::Already { number: report.release, label: report.label }.into());
                }
            };
            let report = rehearsed.publish(&|_, _| {})?;
            Ok((rehearsed, report))
        });
        let (rehearsed, report) = published.map_err(|fault| error::raise(py, fault))?;
        Ok(PyRelease::new(rehearsed.rehearsal.into(), rehearsed.project.policy().clone(), Some(report)))
    }

    /// Attacks everything published so far, with the private tables where they are given.
    #[pyo3(signature = (truth, k=None, l=None, presence=true))]
    fn audit<'py>(
        &self,
        py: Python<'py>,
        truth: Vec<PyData>,
        k: Option<u32>,
        l: Option<u32>,
        presence: bool,
    ) -> PyResult<(Bound<'py, PyAny>, String)> {
        let subject = SubjectRequest {
            project: self.folder.clone(),
            truth: truth.into_iter().map(Given::from).collect(),
            ..SubjectRequest::default()
        };
        audit::judged(
            py,
            AuditRequest { subject, k, l, attacker: audit::attacker(presence), ..AuditRequest::default() },
        )
    }

    /// The report for recipients, the steward or an auditor, as one HTML page.
    #[pyo3(signature = (edition, language=None))]
    fn report(&self, py: Python<'_>, edition: &str, language: Option<&str>) -> PyResult<String> {
        let refused = |what: String| error::raise(py, UseCaseError::Usage(what));
        let editions = [Edition::Recipient, Edition::Steward, Edition::Auditor];
        let edition = editions.into_iter().find(|known| known.word() == edition);
        let edition = edition.ok_or_else(|| refused("edition is recipient, steward or auditor".into()))?;
        let named =
            |word: &str| Language::WORDS.iter().find(|(known, _)| *known == word).map(|(_, language)| *language);
        let unknown = || refused("language is en, de or fr".into());
        let language = language.map(|word| named(word).ok_or_else(unknown)).transpose()?;
        let budget = use_cases::budget(Effort::default(), None);
        let request = ReportRequest { edition, truth: Vec::new(), review_by: None, budget, language };
        let report = py.detach(|| use_cases::report(&self.folder, request, &|_, _| {}));
        report.map(|report| html(&report)).map_err(|fault| error::raise(py, fault))
    }

    /// Checks everything against its digests, and signatures against the keys that are named.
    #[pyo3(signature = (keys))]
    fn verify<'py>(&self, py: Python<'py>, keys: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let named = keys.iter().map(|key| PublicKey::named(key)).collect::<Result<Vec<PublicKey>, KeyError>>();
        let named = named.map_err(|fault| error::raise(py, fault))?;
        let anchors = self.folder.held_anchors().map_err(|fault| error::raise(py, fault))?;
        let (folders, own) = (vec![self.folder.root.clone()], self.folder.keys.as_ref());
        let request = VerifyRequest { folders, anchors: anchors.as_ref(), keys: &named, own };
        let report = py.detach(|| use_cases::verify(&request, &|_, _| {})).map_err(|fault| error::raise(py, fault))?;
        plain::to_python(py, &serde_json::to_value(&report).expect("a report becomes JSON"))
    }

    /// Erases people from the vault and from all later releases.
    fn erase<'py>(&self, py: Python<'py>, identifiers: Vec<String>) -> PyResult<Bound<'py, PyAny>> {
        let report = py.detach(|| use_cases::erase(&self.folder, &identifiers));
        let report = report.map_err(|fault| error::raise(py, fault))?;
        plain::to_python(py, &serde_json::to_value(&report).expect("a report becomes JSON"))
    }

    /// Forgets people who left and have not been published for so many releases.
    fn retain<'py>(&self, py: Python<'py>, releases: u32) -> PyResult<Bound<'py, PyAny>> {
        let report = py.detach(|| use_cases::retain(&self.folder, releases));
        let report = report.map_err(|fault| error::raise(py, fault))?;
        plain::to_python(py, &serde_json::to_value(&report).expect("a report becomes JSON"))
    }

    /// How far the series has come, to be printed and kept apart.
    fn receipt<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let answer = use_cases::receipt(&self.folder.root).map_err(|fault| error::raise(py, fault))?;
        let mut report = serde_json::to_value(&answer.report).expect("a report becomes JSON");
        report["text"] = answer.text().into();
        plain::to_python(py, &report)
    }

    /// The events of the series, the oldest first.
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let report = use_cases::log(&self.folder.root).map_err(|fault| error::raise(py, fault))?;
        let events = serde_json::to_value(&report.events).expect("events become JSON");
        plain::to_python(py, &events)
    }
}

/// The user's keys. A passphrase comes from the environment: nobody is asked in the middle of a program.
fn keys() -> Option<KeyFolder> {
    Some(KeyFolder::of_user()?.asking(Arc::new(|_: &str| env::var("TACENDA_PASSPHRASE").ok())))
}
