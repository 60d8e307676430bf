//! The manifest: what a release promises and holds, for programs.
//!
//! Everything in it can be computed from the published files and the policy. There is no clock, no
//! host and no path in it: the same release gives the same bytes.

use crate::folder::digest::Written;
use crate::folder::{FolderError, public_schema};
use crate::model::{DiversityMode, ListedShare, PolicyFile, Promise, Release, Span};
use rustc_hash::FxHashSet;
use serde_json::{Value as Json, json};

/// The file's name.
pub const MANIFEST: &str = "manifest.json";

/// The format that is written. Higher numbers are refused, lower ones must stay readable.
pub const FORMAT: u64 = 1;

/// What the manifest says beside the release and the policy.
#[derive(Clone, Debug, Default)]
pub struct ManifestFacts {
    /// The release before this one.
    pub previous: Option<PreviousRelease>,
    /// The ledger's head before this release.
    pub ledger_head: String,
    /// The checksum of the policy file.
    pub policy_digest: String,
    /// The view it is of, for promises about views.
    pub view: Option<String>,
    /// The program and its version, such as `tacenda 0.1.0`.
    pub software: String,
    /// Loss measures that can be computed from the release and the policy.
    pub loss: Json,
    /// More files for the folder, name and content; such as the recipient's report.
    pub more_files: Vec<(String, Vec<u8>)>,
}

/// The release before.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PreviousRelease {
    /// Its number.
    pub number: u32,
    /// Its label.
    pub label: String,
    /// The checksum of its manifest.
    pub manifest_digest: String,
}

/// The manifest of `release`, whose other files are `files`.
pub fn manifest(release: &Release, policy: &PolicyFile, facts: &ManifestFacts, files: &[Written]) -> Json {
    let files: Vec<Json> =
        files.iter().map(|file| json!({ "name": file.name, "bytes": file.bytes, "sha256": file.sha256 })).collect();
    let previous = facts.previous.as_ref().map(|previous| {
        json!({
            "number": previous.number,
            "label": previous.label,
            "manifest_sha256": previous.manifest_digest,
        })
    });
    let mut manifest = json!({
        "format": FORMAT,
        "series": {
            "name": policy.series.name,
            "title": policy.series.title,
            "contact": policy.series.contact,
        },
        "release": { "number": release.number, "label": release.label },
        "promise": said_promise(policy),
        "numbers": numbers(release),
        "loss": facts.loss,
        "linked_ids": !release.linked.is_empty(),
        "row_weight": policy.output.row_weight,
        "columns": public_schema::to_json(&policy.schema),
        "files": files,
        "previous": previous,
        "ledger_head": facts.ledger_head,
        "policy_sha256": facts.policy_digest,
        "software": facts.software,
    });
    if policy.choices.made_up {
        manifest["made_up"] = json!(true);
    }
    if let Some(view) = &facts.view {
        manifest["view"] = json!(view);
        manifest["also"] = policy.views.also.iter().map(promise).collect();
    }
    manifest
}

/// Reads the promise back.
pub fn read_promise(promise: &Json) -> Result<Promise, FolderError> {
    let missing = |name: &str| FolderError::Manifest { what: format!("promise: {name} is missing or of another kind") };
    let parameters = &promise["parameters"];
    let number = |name: &str| {
        let number = parameters[name].as_u64().and_then(|number| u32::try_from(number).ok());
        number.ok_or_else(|| missing(name))
    };
    let optional = |name: &str| if parameters[name].is_null() { Ok(None) } else { number(name).map(Some) };
    let names = |name: &str| {
        let list = parameters[name].as_array().ok_or_else(|| missing(name))?;
        list.iter().map(|item| item.as_str().map(String::from).ok_or_else(|| missing(name))).collect::<Result<_, _>>()
    };
    Ok(match promise["model"].as_str().ok_or_else(|| missing("model"))? {
        "m-invariance" => Promise::MInvariance { m: number("m")?, k: optional("k")? },
        "incremental-k-anonymity" => Promise::IncrementalKAnonymity {
            k: number("k")?,
            cohorts: parameters["cohorts"].as_bool().ok_or_else(|| missing("cohorts"))?,
            l: optional("l")?,
        },
        "k-anonymity" => Promise::KAnonymity { k: number("k")? },
        "incremental-l-diversity" => {
            let mode = match parameters["mode"].as_str() {
                Some("safe") => DiversityMode::Safe,
                Some("paper") => DiversityMode::Paper,
                _ => return Err(missing("mode")),
            };
            Promise::IncrementalLDiversity { l: number("l")?, mode }
        }
        "xy-anonymity" => Promise::XyAnonymity { x: names("x")?, y: names("y")?, k: number("k")? },
        "xy-linkability" => Promise::XyLinkability {
            x: names("x")?,
            y: names("y")?,
            max_confidence_permille: number("max_confidence_permille")?,
            listed: match &parameters["listed"] {
                Json::Null => Vec::new(),
                listed => read_listed(listed).ok_or_else(|| missing("listed"))?,
            },
            only_listed: parameters["only_listed"].as_bool().unwrap_or(false),
        },
        _ => return Err(FolderError::Manifest { what: "promise: the model is unknown to this version".into() }),
    })
}

fn read_listed(listed: &Json) -> Option<Vec<ListedShare>> {
    let share = |share: &Json| {
        let text = |value: &Json| value.as_str().map(String::from);
        let code = |value: &Json| u32::try_from(value.as_u64()?).ok();
        let span = |span: &Json| Some(Span { lo: code(&span[0])?, hi: code(&span[1])? });
        Some(ListedShare {
            values: share["values"].as_array()?.iter().map(text).collect::<Option<_>>()?,
            spans: share["spans"].as_array()?.iter().map(span).collect::<Option<_>>()?,
            max_permille: code(&share["max_permille"])?,
        })
    };
    listed.as_array()?.iter().map(share).collect()
}

/// The promise of a policy file, with everything that is not covered.
fn said_promise(policy: &PolicyFile) -> Json {
    let mut said = promise(&policy.promise);
    said["limits"] = json!(policy.limits_said());
    said
}

/// A promise for programs: its model, parameters, sentence and limits.
pub fn promise(promise: &Promise) -> Json {
    let parameters = match promise {
        Promise::MInvariance { m, k } => json!({ "m": m, "k": k }),
        Promise::IncrementalKAnonymity { k, cohorts, l } => json!({ "k": k, "cohorts": cohorts, "l": l }),
        Promise::KAnonymity { k } => json!({ "k": k }),
        Promise::IncrementalLDiversity { l, mode } => {
            let mode = match mode {
                DiversityMode::Safe => "safe",
                DiversityMode::Paper => "paper",
            };
            json!({ "l": l, "mode": mode })
        }
        Promise::XyAnonymity { x, y, k } => json!({ "x": x, "y": y, "k": k }),
        Promise::XyLinkability { x, y, max_confidence_permille, listed, only_listed } => {
            let listed: Vec<Json> = listed
                .iter()
                .map(|share| {
                    let spans: Vec<[u32; 2]> = share.spans.iter().map(|span| [span.lo, span.hi]).collect();
                    json!({ "values": share.values, "spans": spans, "max_permille": share.max_permille })
                })
                .collect();
            json!({
                "x": x, "y": y, "max_confidence_permille": max_confidence_permille,
                "listed": listed, "only_listed": only_listed,
            })
        }
    };
    json!({
        "model": promise.model(),
        "parameters": parameters,
        "sentence": promise.sentence(),
        "limits": promise.limits(),
    })
}

fn numbers(release: &Release) -> Json {
    let sizes = || (0..release.group_count()).map(|group| release.group_rows(group).len());
    let mean = release.row_count() as f64 / release.group_count().max(1) as f64;
    let counterfeits = release.counterfeit_count();
    json!({
        "rows": release.row_count(),
        "people": release.row_count() as u64 - counterfeits,
        "counterfeits": counterfeits,
        "groups": release.group_count(),
        "group_size": {
            "min": sizes().min().unwrap_or(0),
            "mean": (mean * 1e6).round() / 1e6,
            "max": sizes().max().unwrap_or(0),
        },
        "value_sets": value_set_count(release),
    })
}

/// How many different value sets the groups have.
fn value_set_count(release: &Release) -> usize {
    let mut seen = FxHashSet::default();
    let mut set = Vec::new();
    for group in 0..release.group_count() {
        set.clear();
        set.extend_from_slice(release.group_values(group));
        set.sort_unstable();
        set.dedup();
        if !seen.contains(&set) {
            seen.insert(set.clone());
        }
    }
    seen.len()
}
