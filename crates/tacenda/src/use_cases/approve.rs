//! A second person approves a plan.

use crate::files;
use crate::keys::KeyFolder;
use crate::publish::signature_of;
use crate::use_cases::{Plan, UseCaseError, write_private};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The answer of approve.
#[derive(Debug, JsonSchema, Serialize)]
pub struct ApproveReport {
    /// The plan file.
    pub plan: PathBuf,
    /// The signature file beside it, as minisign writes it.
    pub signature: PathBuf,
    /// The release that is planned.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// A digest of the rehearsed release.
    pub release_digest: String,
    /// The id of the key that approves.
    pub key: String,
    /// The public key, for `[signatures] approvers` of the policy file.
    pub public_key: String,
}

/// A plan that a person may approve. Nothing is signed yet.
#[derive(Debug)]
pub struct Approving {
    path: PathBuf,
    bytes: Vec<u8>,
    plan: Plan,
}

impl Approving {
    /// Reads a plan.
    pub fn read(path: &Path) -> Result<Approving, UseCaseError> {
        let bytes = files::read(path).map_err(UseCaseError::file(path))?;
        let plan = Plan::parse(path, &bytes)?;
        Ok(Approving { path: path.into(), bytes, plan })
    }

    /// What is to be approved.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Signs the plan with the user's key, and writes the signature beside it.
    pub fn approve(self, keys: &KeyFolder) -> Result<ApproveReport, UseCaseError> {
        let signer = keys.need_signer()?;
        let Plan { release, label, release_digest, ledger_head, .. } = self.plan;
        let comment = format!("tacenda approval release:{release} head:{ledger_head} digest:{release_digest}");
        let text = signer.sign_file(&self.bytes, &comment)?;
        let signature = signature_of(&self.path);
        write_private(&signature, text.as_bytes())?;
        let (key, public_key) = (signer.public().id().into(), signer.public().text().into());
        Ok(ApproveReport { plan: self.path, signature, release, label, release_digest, key, public_key })
    }
}
