//! A project folder.

use crate::release::Release;
use crate::series::Data;
use crate::{error, plain};
use pyo3::prelude::*;
use serde_json::Value;
use std::path::PathBuf;
use tacenda::publish;
use tacenda::publish::{Access, Input, Material, NextRelease, ProjectError, Rehearsal};

/// A project folder. It is opened anew for every call, so that it sees what others have published.
#[pyclass(frozen, module = "tacenda._native")]
pub struct Project {
    root: PathBuf,
    policy: Option<PathBuf>,
}

impl Project {
    fn open(&self, access: Access) -> Result<publish::Project, ProjectError> {
        publish::Project::open(&self.root, self.policy.as_deref(), access)
    }

    fn rehearse(
        project: &publish::Project,
        data: Data,
        label: Option<&str>,
        delta: bool,
        threads: usize,
    ) -> Result<(Material, Rehearsal), ProjectError> {
        let input = Input { path: PathBuf::new(), delta, show_values: false, memory: None, threads };
        let material = project.material_from(&data.open()?, &input, &|_| {})?;
        let rehearsal = project.rehearse(&material, NextRelease { label, ..NextRelease::default() }, &|_| {})?;
        Ok((material, rehearsal))
    }
}

#[pymethods]
impl Project {
    #[new]
    #[pyo3(signature = (root, policy=None))]
    fn new(py: Python<'_>, root: PathBuf, policy: Option<PathBuf>) -> PyResult<Project> {
        let project = Project { root, policy };
        project.open(Access::Look).map_err(|fault| error::raise(py, fault))?;
        Ok(project)
    }

    /// Rehearses the next release.
    #[pyo3(signature = (data, label=None, delta=false, threads=0))]
    fn plan(
        &self,
        py: Python<'_>,
        data: Data,
        label: Option<String>,
        delta: bool,
        threads: usize,
    ) -> PyResult<Release> {
        let planned = py.detach(|| {
            let project = self.open(Access::Rehearse)?;
            let (_, rehearsal) = Project::rehearse(&project, data, label.as_deref(), delta, threads)?;
            Ok((rehearsal, project.policy().clone()))
        });
        let (rehearsal, policy) = planned.map_err(|fault| error::raise(py, fault))?;
        Ok(Release::new(rehearsal, policy, None))
    }

    /// Publishes the next release.
    #[pyo3(signature = (data, label=None, delta=false, threads=0))]
    fn publish(
        &self,
        py: Python<'_>,
        data: Data,
        label: Option<String>,
        delta: bool,
        threads: usize,
    ) -> PyResult<Release> {
        let published = py.detach(|| {
            let mut project = self.open(Access::Publish)?;
            let (material, rehearsal) = Project::rehearse(&project, data, label.as_deref(), delta, threads)?;
            let outcome = project.publish(&material, &rehearsal, &|_| {})?;
            Ok((rehearsal, project.policy().clone(), outcome))
        });
        let (rehearsal, policy, outcome) = published.map_err(|fault| error::raise(py, fault))?;
        Ok(Release::new(rehearsal, policy, Some(outcome)))
    }

    /// Everything that happened, the oldest first: the lines of the ledger.
    fn log<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let project = self.open(Access::Look).map_err(|fault| error::raise(py, fault))?;
        let events = project.store().map_or(&[][..], |store| store.events());
        let lines: Value = events
            .iter()
            .map(|event| {
                let mut line = serde_json::to_value(&event.what).unwrap_or_default();
                line["seq"] = event.seq.into();
                line["at"] = event.at.clone().into();
                line["hash"] = event.hash.clone().into();
                line
            })
            .collect();
        plain::to_python(py, &lines)
    }
}
