//! Reports of a project: the page that leaves with a release, and the report on the whole series.
//!
//! The page in a release folder says only what the release and its manifest say: the same release
//! gives the same bytes. The report on the series reads every release back from its folder, as a
//! recipient would, and attacks them all; the vault is opened only where the edition may use it.

use crate::audit::Assessment;
use crate::audit::Attacker;
use crate::audit::Check;
use crate::audit::Limits;
use crate::audit::Series;
use crate::audit::Thresholds;
use crate::audit::Traces;
use crate::audit::examine;
use crate::folder;
use crate::ledger::Event;
use crate::ledger::Publication;
use crate::ledger::Store;
use crate::measure::Workload;
use crate::measure::query_error;
use crate::model::DiversityMode;
use crate::model::History;
use crate::model::OnDelete;
use crate::model::PolicyFile;
use crate::model::Promise;
use crate::model::Release;
use crate::model::Rng;
use crate::model::Table;
use crate::publish::Prepared;
use crate::publish::ProjectError;
use crate::publish::adopt;
use crate::report;
use crate::report::About;
use crate::report::ChurnFacts;
use crate::report::Edition;
use crate::report::FileFacts;
use crate::report::Gate;
use crate::report::Material;
use crate::report::Names;
use crate::report::PrivateFacts;
use crate::report::QueryErrorFacts;
use crate::report::Report;
use crate::report::Source;
use jiff::ToSpan;
use jiff::civil::Date;
use std::slice;

/// The page's name in a release folder.
pub const REPORT: &str = "report.html";

/// What kind of report is wanted.
#[derive(Clone, Debug)]
pub struct ReportRequest {
    /// Whom it is for.
    pub edition: Edition,
    /// Whether sensitive values are named.
    pub names: Names,
    /// How much work the attacks may do.
    pub limits: Limits,
    /// Until when it is to hold; a year after the last release where not given.
    pub review_by: Option<String>,
    /// When it was made.
    pub made_at: Option<String>,
}

/// The page for recipients of one release, made before anyone has it.
pub fn page(policy: &PolicyFile, prepared: &Prepared, software: &str, policy_digest: &str) -> Vec<u8> {
    // A view has some of the columns only.
    let policy = prepared.view.as_ref().map_or(policy, |view| &view.file);
    let about = About {
        software: software.into(),
        policy_sha256: Some(policy_digest.into()),
        gate: if prepared.findings.is_empty() { Gate::FoundNothing } else { Gate::Found(prepared.findings.clone()) },
        ..names(policy)
    };
    let traces = [Traces { counterfeits_known: true, ..Traces::default() }];
    let material = Material {
        edition: Edition::Recipient,
        series: Series {
            schema: &policy.schema,
            releases: slice::from_ref(&prepared.release),
            traces: &traces,
            promise: Some(&policy.promise),
            knowledge: None,
        },
        assessment: &Assessment::default(),
        attacker: Attacker::default(),
        thresholds: Thresholds::of(&policy.promise),
        about: &about,
        names: Names::Coded,
        private: None,
    };
    report::html(&Report::new(&material)).into_bytes()
}

/// The report on everything a project has published.
pub fn series_report(
    policy: &PolicyFile,
    policy_digest: &str,
    store: &Store,
    request: &ReportRequest,
    step: &(dyn Fn(&str) + Sync),
) -> Result<Report, ProjectError> {
    let events: Vec<&Event> = store.events().iter().filter(|event| event.publication().is_some()).collect();
    let publications: Vec<(&str, &Publication)> = events
        .iter()
        .filter_map(|event| event.publication().map(|publication| (event.at.as_str(), publication)))
        .collect();
    let Some((last_at, _)) = publications.last() else { return Err(ProjectError::NothingPublished) };
    let is_private = request.edition != Edition::Recipient;
    let snapshot = if is_private { store.snapshot()? } else { None };
    // Numbers of values that the snapshot and the releases share.
    let mut values = snapshot.as_ref().map_or_else(Default::default, |table| table.values.clone());
    let (mut releases, mut traces) = (Vec::new(), Vec::new());
    for ((_, publication), event) in publications.iter().zip(&events) {
        step(&format!("reading release {}", publication.number));
        let folder = store.release_folder(publication.number);
        if event.is_adoption() {
            let (release, counterfeits_known) = adopt::reread(&policy.schema, &folder, publication, &mut values)?;
            releases.push(release);
            traces.push(Traces { counterfeits_known, ..Traces::default() });
        } else {
            let published = folder::read_with(&folder, &mut values)?;
            let without_sensitive = published.schema.sensitive.is_empty();
            let (release, columns) = published.release.laid_out(&published.schema, &policy.schema);
            releases.push(release);
            traces.push(Traces { counterfeits_known: true, columns, without_sensitive, ..Traces::default() });
        }
    }
    let thresholds = Thresholds::of(&policy.promise);
    let series = Series {
        schema: &policy.schema,
        releases: &releases,
        traces: &traces,
        promise: Some(&policy.promise),
        knowledge: None,
    };
    let attacker = Attacker::default();
    let ask = |check: Check| step(check.question());
    let assessment = examine(&series, attacker, &thresholds, &request.limits, &ask);
    step("gathering");
    let private = match is_private {
        true => {
            let last = releases.last().zip(snapshot.as_ref());
            Some(private_facts(policy, &store.history()?, releases.len() as u32, last, last_at, request))
        }
        false => None,
    };
    let about = About {
        software: software(),
        policy_sha256: Some(policy_digest.into()),
        seed_commitment: Some(crate::ledger::commitment(store.seed())),
        ledger_head: Some(store.head().into()),
        made_at: request.made_at.clone(),
        sources: publications.iter().map(|(at, publication)| source(at, publication)).collect(),
        gate: if policy.choices.made_up { Gate::NotAsked } else { Gate::FoundNothing },
        ..names(policy)
    };
    Ok(Report::new(&Material {
        edition: request.edition,
        series,
        assessment: &assessment,
        attacker,
        thresholds,
        about: &about,
        names: request.names,
        private,
    }))
}

/// The program and its version.
pub fn software() -> String {
    format!("tacenda {}", env!("CARGO_PKG_VERSION"))
}

fn names(policy: &PolicyFile) -> About {
    About {
        name: policy.series.name.clone(),
        title: policy.series.title.clone(),
        contact: policy.series.contact.clone(),
        ..About::default()
    }
}

fn source(at: &str, publication: &Publication) -> Source {
    let file = |(name, digest): (&String, &crate::ledger::FileDigest)| FileFacts {
        name: name.clone(),
        bytes: digest.bytes,
        sha256: digest.sha256.clone(),
    };
    Source { at: Some(at.into()), files: publication.files.iter().map(file).collect() }
}

fn private_facts(
    policy: &PolicyFile,
    history: &History,
    releases: u32,
    last: Option<(&Release, &Table)>,
    last_at: &str,
    request: &ReportRequest,
) -> PrivateFacts {
    let mut churn: Vec<ChurnFacts> =
        (1..=releases).map(|release| ChurnFacts { release, ..ChurnFacts::default() }).collect();
    for record in &history.records {
        let at = |release: u32| release as usize - 1;
        if (1..=releases).contains(&record.first_seen) {
            churn[at(record.first_seen)].arrived += 1;
            if !record.is_published() {
                churn[at(record.first_seen)].still_waiting += 1;
            }
        }
        if record.is_published() && record.last_release < releases {
            churn[at(record.last_release)].last_published += 1;
        }
    }
    let workload = Workload::default();
    let query_error = last.map(|(release, table)| {
        let error = query_error(release, &policy.schema, table, &workload, &mut Rng::from_number(1));
        QueryErrorFacts {
            release: release.number,
            queries: error.queries,
            selectivity: workload.selectivity,
            median: error.median,
            mean: error.mean,
            ninth_decile: error.ninth_decile,
        }
    });
    if let (Some(churn), Some((release, table))) = (churn.last_mut(), last) {
        let people = release.row_count() as u64 - release.counterfeit_count();
        churn.withheld = Some((table.len() as u64).saturating_sub(people));
    }
    let share = |share: f64| format!("{} %", (share * 1e4).round() / 1e2);
    PrivateFacts {
        churn,
        query_error,
        deletion: deletion(policy).into(),
        limits: vec![
            format!("counterfeits: at most {} of the published rows", share(policy.limits.counterfeits)),
            format!("withheld: at most {} of the snapshot's rows", share(policy.limits.withheld)),
        ],
        accepted_risk: policy.choices.accept_series_risk.clone(),
        review_by: request.review_by.clone().or_else(|| a_year_after(last_at)),
        review_triggers: [
            "a new release of this series",
            "new data about the same people, published by anyone",
            "an advisory about this promise or its algorithm",
            "other recipients, or another environment, than named above",
        ]
        .map(String::from)
        .to_vec(),
    }
}

/// How people who leave the data are treated under a promise.
fn deletion(policy: &PolicyFile) -> &'static str {
    match (&policy.promise, policy.choices.on_delete) {
        (Promise::MInvariance { .. }, _) => {
            "People who leave are published no more; counterfeits stand in for them where a group would fall short. Their value \
             set and the keyed hash of their identifier stay in the vault while the series runs, because a return must meet the \
             same value set. Erasing these too is possible only if the person never returns to the data."
        }
        (Promise::IncrementalKAnonymity { .. } | Promise::IncrementalLDiversity { .. }, OnDelete::Withhold) => {
            "Records are only added. When a person leaves, their whole group is withheld for good, because a single gap would \
             give its member away. Keyed hashes stay in the vault while the series runs."
        }
        (Promise::IncrementalLDiversity { mode: DiversityMode::Paper, .. }, _) => {
            "Records are only added. This is a study mode."
        }
        (Promise::IncrementalKAnonymity { .. } | Promise::IncrementalLDiversity { .. }, OnDelete::Refuse) => {
            "Records are only added: a release that lacks a person who was published before is refused. Erasure ends the series, \
             or needs on_delete = \"withhold\"."
        }
        (Promise::KAnonymity { .. }, _) => {
            "People who leave are taken out of their groups. Nothing is promised to them against someone who compares releases."
        }
        (Promise::XyAnonymity { .. } | Promise::XyLinkability { .. }, _) => {
            "All views show the same records. When a person leaves, further views are refused."
        }
    }
}

/// The date a year after a moment such as `2026-11-15T10:00:00Z`.
fn a_year_after(at: &str) -> Option<String> {
    let date: Date = at.split('T').next()?.parse().ok()?;
    date.checked_add(1.year()).ok().map(|date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_holds_for_a_year() {
        assert_eq!(a_year_after("2026-11-15T10:00:00Z").as_deref(), Some("2027-11-15"));
        assert_eq!(a_year_after("2028-02-29T10:00:00Z").as_deref(), Some("2029-02-28"));
        assert_eq!(a_year_after("yesterday"), None);
    }
}
