//! The text of the policy file, read and changed. What cannot be used is not saved.

use crate::files;
use crate::publish::{Access, POLICY_FILE, ProjectError};
use crate::use_cases::{ProjectFolder, UseCaseError};
use std::fs;

/// The text of the policy file.
pub fn policy_text(project: &ProjectFolder) -> Result<String, UseCaseError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    files::read_text(&path).map_err(UseCaseError::file(&path))
}

/// Changes the policy file, if the new text is a policy under which the series may go on. Otherwise the old one stays, and the error has every fault.
pub fn save_policy_text(project: &ProjectFolder, text: &str) -> Result<(), UseCaseError> {
    let path = project.policy.clone().unwrap_or_else(|| project.root.join(POLICY_FILE));
    let new = path.with_extension("toml.new");
    // Beside the old file, because hierarchies are looked for from there.
    fs::write(&new, text).map_err(UseCaseError::file(&new))?;
    if let Err(error) = may_be_used(&ProjectFolder { policy: Some(new.clone()), ..project.clone() }) {
        let _ = fs::remove_file(&new);
        return Err(error);
    }
    fs::rename(&new, &path).map_err(UseCaseError::file(&path))
}

/// Whether a project may go on under its policy file. What else is wrong with the project is not the file's fault.
pub(super) fn may_be_used(project: &ProjectFolder) -> Result<(), UseCaseError> {
    match project.open(Access::Look) {
        Err(
            error @ (ProjectError::PolicyFile(_) | ProjectError::Loosened { .. } | ProjectError::OtherSeries { .. }),
        ) => Err(error.into()),
        _ => Ok(()),
    }
}
