//! Signs a release, and checks who signed and who approved.
//!
//! The list of checksums is signed in the format of minisign. So anyone with the publisher's public key can check a
//! release without Tacenda. A statement about the manifest is added for supply-chain tools. The file that introduces
//! the signer is on the list.

use crate::folder::{ManifestFacts, WrittenFile};
use crate::keys::{
    Introduction, KeyError, PublicKey, ReleaseStatement, SIGNER, STATEMENT, Signer, StatementFacts, Trust,
    untrusted_comment,
};
use crate::ledger::{Approval, Staging};
use crate::model::{Release, hex};
use crate::promise::SignatureRules;
use crate::publish::ProjectError;
use crate::{files, folder};
use sha2::{Digest, Sha256};
use std::io;
use std::path::Path;

/// The name of the signature over the list of checksums.
pub const SIGNATURE: &str = "SHA256SUMS.minisig";

/// The name of the signature file of a file.
pub(crate) fn signature_of(path: &Path) -> std::path::PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".minisig");
    name.into()
}

/// The page that introduces the signer: one of the files of the release.
pub(super) fn introduction(signer: &Signer) -> (String, Vec<u8>) {
    let text = serde_json::to_string_pretty(&signer.introduction()).expect("texts become JSON") + "\n";
    (SIGNER.into(), text.into_bytes())
}

/// Signs a staged release: its list of checksums, and a statement about its manifest. Returns the names of the new
/// files.
pub(super) fn sign_staged(
    staging: &Staging,
    signer: &Signer,
    files: &[WrittenFile],
    (series, release): (&str, &Release),
    facts: &ManifestFacts,
) -> Result<Vec<String>, ProjectError> {
    let manifest = files.iter().find(|file| file.name == folder::MANIFEST).expect("every release has a manifest");
    let stated = StatementFacts {
        series: series.into(),
        release: release.number,
        label: release.label.clone(),
        ledger_head: facts.ledger_head.clone(),
        policy_sha256: facts.policy_digest.clone(),
        software: facts.software.clone(),
    };
    let statement = ReleaseStatement::new(folder::MANIFEST, &manifest.sha256, stated).seal(signer);
    staging.write(STATEMENT, statement.as_bytes())?;
    let comment = format!("tacenda series:{series} release:{} head:{}", release.number, facts.ledger_head);
    let signature = signer.sign_file(folder::sums(files).as_bytes(), &comment)?;
    staging.write(SIGNATURE, signature.as_bytes())?;
    Ok(vec![STATEMENT.into(), SIGNATURE.into()])
}

/// Checks the signatures of a release folder, and returns the id of the key. The reader of the folder checks that its
/// files fit the list of checksums.
pub(crate) fn check_signed(place: &Path, trust: &mut Trust) -> Result<String, KeyError> {
    let read = |name: &str| files::read(&place.join(name));
    let shown = |name: &str| format!("{}/{name}", place.display());
    let unsigned = |error: io::Error, name: &str| match error.kind() {
        io::ErrorKind::NotFound => KeyError::Unsigned { what: shown(name) },
        _ => KeyError::Disk { action: "read", path: place.join(name), source: error },
    };
    let bad = |name: &str| KeyError::BadSignature { what: shown(name) };
    if let Ok(introduction) = serde_json::from_slice::<Introduction>(&read(SIGNER).unwrap_or_default()) {
        trust.follow(&introduction);
    }
    let signature = String::from_utf8(read(SIGNATURE).map_err(|error| unsigned(error, &shown(folder::SUMS)))?);
    let signature = signature.map_err(|_| bad(SIGNATURE))?;
    let sums = read(folder::SUMS).map_err(|error| unsigned(error, folder::SUMS))?;
    let (key, _) = trust.check_file(&shown(folder::SUMS), &sums, &signature)?;
    if !signature.starts_with(&format!("untrusted comment: {}\n", untrusted_comment(&key))) {
        return Err(bad(SIGNATURE));
    }
    let statement = String::from_utf8(read(STATEMENT).map_err(|error| unsigned(error, STATEMENT))?);
    let manifest = read(folder::MANIFEST).map_err(|error| unsigned(error, folder::MANIFEST))?;
    let digest = hex(&Sha256::digest(&manifest));
    ReleaseStatement::open(&statement.map_err(|_| bad(STATEMENT))?, &digest, trust)?;
    match uncovered(place).map_err(|source| KeyError::Disk { action: "read", path: place.into(), source })? {
        Some(name) => Err(KeyError::NotCovered { what: shown(&name) }),
        None => Ok(key),
    }
}

/// A file of a release folder that neither its list of checksums names nor a signature covers.
pub(crate) fn uncovered(place: &Path) -> io::Result<Option<String>> {
    folder::unlisted(place, &[SIGNATURE, STATEMENT])
}

/// Whether the policy's rules on signatures are met.
pub(super) fn assert_rules(
    rules: &SignatureRules,
    signer: Option<&Signer>,
    approval: Option<&Approval>,
) -> Result<(), KeyError> {
    assert_signer(rules, signer)?;
    if rules.approvers.is_empty() {
        return Ok(());
    }
    let why = match approval {
        None => "the plan has no approval, or there is no plan",
        Some(approval) if signer.is_some_and(|signer| signer.public().id() == approval.key) => {
            "it was approved with the key that signs the release"
        }
        Some(_) => return Ok(()),
    };
    Err(KeyError::NotApproved { why: why.into() })
}

/// Whether the policy lets this key sign.
pub fn assert_signer(rules: &SignatureRules, signer: Option<&Signer>) -> Result<(), KeyError> {
    let may_sign = |signer: &Signer| rules.signers.iter().any(|key| key == signer.public().text());
    let why = match signer {
        _ if rules.signers.is_empty() => return Ok(()),
        Some(signer) if may_sign(signer) => return Ok(()),
        Some(signer) => format!("the key {} is not among them", signer.public().id()),
        None => "there is no signing key here".into(),
    };
    Err(KeyError::NotASigner { why })
}

/// The approval of a plan, if the policy names the key that gave it.
pub(crate) fn approval(rules: &SignatureRules, plan: &[u8], signature: &str) -> Result<Approval, KeyError> {
    let keys = rules.approvers.iter().map(|key| PublicKey::parse(key)).collect::<Result<Vec<PublicKey>, KeyError>>()?;
    let (key, _) = Trust::new(&keys).check_file("the plan", plan, signature)?;
    Ok(Approval { key, plan_sha256: hex(&Sha256::digest(plan)), signature: signature.into() })
}
