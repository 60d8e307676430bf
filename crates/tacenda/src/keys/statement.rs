//! A statement about a manifest in the format of supply chains: an in-toto statement in a DSSE envelope.

use crate::keys::{KeyError, Signer, Trust};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The name of the file.
pub const STATEMENT: &str = "manifest.intoto.jsonl";

const PAYLOAD: &str = "application/vnd.in-toto+json";
const TYPE: &str = "https://in-toto.io/Statement/v1";
const PREDICATE: &str = "urn:tacenda:release:1";

/// What a statement says about a release, besides the digest of its manifest.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
pub struct StatementFacts {
    /// The series.
    pub series: String,
    /// The number of the release.
    pub release: u32,
    /// Its label.
    pub label: String,
    /// The ledger's head before it.
    pub ledger_head: String,
    /// The digest of the policy.
    pub policy_sha256: String,
    /// The program and its version.
    pub software: String,
}

/// A statement about the manifest of a release.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseStatement {
    #[serde(rename = "_type")]
    kind: String,
    subject: Vec<Stated>,
    predicate_type: String,
    predicate: StatementFacts,
}

/// A file by its digest.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
struct Stated {
    name: String,
    digest: BTreeMap<String, String>,
}

#[derive(Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    payload: String,
    payload_type: String,
    signatures: Vec<EnvelopeSignature>,
}

#[derive(Deserialize, Serialize)]
struct EnvelopeSignature {
    keyid: String,
    sig: String,
}

impl ReleaseStatement {
    /// A statement over a manifest.
    pub fn new(manifest: &str, sha256: &str, predicate: StatementFacts) -> ReleaseStatement {
        let digest = BTreeMap::from([("sha256".into(), sha256.into())]);
        let subject = vec![Stated { name: manifest.into(), digest }];
        ReleaseStatement { kind: TYPE.into(), subject, predicate_type: PREDICATE.into(), predicate }
    }

    /// The signed envelope: one line of JSON.
    pub fn seal(&self, signer: &Signer) -> String {
        let payload = serde_json::to_vec(self).expect("texts and numbers become JSON");
        let signature = EnvelopeSignature { keyid: signer.public().id().into(), sig: signer.sign(PAYLOAD, &payload) };
        let payload_type = PAYLOAD.into();
        let envelope = Envelope { payload: STANDARD.encode(payload), payload_type, signatures: vec![signature] };
        serde_json::to_string(&envelope).expect("texts become JSON") + "\n"
    }

    /// Opens an envelope that a trusted key signed, if it is about a manifest with this digest.
    pub fn open(text: &str, sha256: &str, trust: &Trust) -> Result<ReleaseStatement, KeyError> {
        let bad = || KeyError::BadSignature { what: STATEMENT.into() };
        let envelope: Envelope = serde_json::from_str(text).map_err(|_| bad())?;
        let payload = STANDARD.decode(&envelope.payload).map_err(|_| bad())?;
        let [signature] = &envelope.signatures[..] else { return Err(bad()) };
        let key = trust.find(STATEMENT, &signature.keyid)?;
        key.check(STATEMENT, &envelope.payload_type, &payload, &signature.sig)?;
        let statement: ReleaseStatement = serde_json::from_slice(&payload).map_err(|_| bad())?;
        let is_of = |stated: &Stated| stated.digest.get("sha256").is_some_and(|found| found == sha256);
        let is_whole = serde_json::to_string(&envelope).is_ok_and(|line| line + "\n" == text);
        match is_whole
            && envelope.payload_type == PAYLOAD
            && matches!(&statement.subject[..], [stated] if is_of(stated))
        {
            true => Ok(statement),
            false => Err(bad()),
        }
    }

    /// Its facts about the release.
    pub fn facts(&self) -> &StatementFacts {
        &self.predicate
    }
}
