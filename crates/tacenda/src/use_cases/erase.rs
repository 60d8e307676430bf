//! Forgets people: those who asked for it, and those who left long ago.

use crate::publish::{Access, Erased, Project};
use crate::use_cases::{ProjectFolder, UseCaseError};
use schemars::JsonSchema;
use serde::Serialize;

/// What erase and retain answer with.
#[derive(Debug, JsonSchema, Serialize)]
pub struct EraseReport {
    /// How many people, rows, values and texts.
    #[serde(flatten)]
    pub erased: Erased,
    /// What the next release does with people who are gone.
    pub departures: String,
    /// What cannot be erased, one sentence each. Empty if nobody was forgotten.
    pub stays: Vec<String>,
}

/// Forgets the people with these identifiers: rows, values and value sets leave the vault, and they are in no later release.
pub fn erase(project: &ProjectFolder, identifiers: &[String]) -> Result<EraseReport, UseCaseError> {
    if identifiers.is_empty() {
        return Err(UseCaseError::usage("give the identifier on standard input, one on each line"));
    }
    let mut project = open(project)?;
    let erased = project.erase(identifiers)?;
    Ok(report(&project, erased))
}

/// Forgets people who left and have not been published for so many releases. They are in no later release.
pub fn retain(project: &ProjectFolder, releases: u32) -> Result<EraseReport, UseCaseError> {
    if releases == 0 {
        return Err(UseCaseError::usage("retain keeps people who left for at least 1 release"));
    }
    let mut project = open(project)?;
    let erased = project.retain(releases)?;
    Ok(report(&project, erased))
}

fn open(project: &ProjectFolder) -> Result<Project, UseCaseError> {
    // Opening for writing would set up a project where there is none.
    match project.open(Access::Look)?.store() {
        Some(store) if store.releases() > 0 => {
            let project = project.open(Access::Publish)?;
            project.assert_signer()?;
            Ok(project)
        }
        _ => Err(UseCaseError::NoRelease),
    }
}

fn report(project: &Project, erased: Erased) -> EraseReport {
    EraseReport {
        departures: project.policy().departures().into(),
        stays: if erased.people > 0 { erased.stays() } else { Vec::new() },
        erased,
    }
}
