//! Reports of a project: the page that leaves with a release, and the report on the whole series.
//!
//! The page in a release folder says only what the release and its manifest say, so the same release gives the same
//! bytes. The report on the series reads every release back from its folder, as a recipient would, and attacks them
//! all. The vault is opened only if the edition may use it.

use crate::audit::{
    Assessment, Attacker, Budget, Check, Finding, Outcome, Rerun, Series, Thresholds, Traces, examine, examine_only,
};
use crate::ingest::Given;
use crate::ledger::Store;
use crate::model::{History, Language, Scope, Table};
use crate::promise::PolicyFile;
use crate::publish::project::now;
use crate::publish::{Prepared, PrivateTables, Project, ProjectError, PublishedSeries, Remaking, retract, series};
use crate::report;
use crate::report::{
    About, ChurnFacts, DeclaredFact, Edition, Gate, GovernanceFacts, Material, Names, PrivateFacts, Report,
};
use jiff::ToSpan;
use jiff::civil::Date;
use std::slice;

/// The page's name in a release folder.
pub const REPORT: &str = "report.html";

/// What kind of report is wanted.
#[derive(Debug)]
pub struct ReportRequest {
    /// Whom it is for.
    pub edition: Edition,
    /// The private tables behind the releases, one per release, in order; may be none. Not read for recipients.
    pub truth: Vec<Given>,
    /// Until when it is meant to hold; by default a year after the last release.
    pub review_by: Option<String>,
    /// How much work the attacks may do.
    pub budget: Budget,
    /// The language of the page for recipients; the policy file's where not given.
    pub language: Option<Language>,
}

/// What the page of a release says of earlier ones.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Which were made elsewhere, and which were withdrawn; one sentence each.
    pub told: Vec<String>,
    /// Whether some were made elsewhere.
    pub has_adopted: bool,
    /// How these break the promise.
    pub broken: Vec<Finding>,
}

impl Past {
    /// What the ledger knows.
    pub fn of(store: &Store) -> Past {
        let adopted = series::adopted(store);
        Past {
            has_adopted: adopted.is_some(),
            told: adopted.into_iter().chain(retract::told(store)).collect(),
            broken: series::broken(store),
        }
    }
}

/// The page for recipients of one release, made before anyone has it.
pub(super) fn page(
    policy: &PolicyFile,
    prepared: &Prepared,
    software: &str,
    policy_digest: &str,
    past: Past,
) -> Vec<u8> {
    let terms = policy.first_promise().terms();
    let named = names(policy);
    let about = About {
        not_covered: past.told.into_iter().chain(named.not_covered.iter().cloned()).collect(),
        software: software.into(),
        policy_sha256: Some(policy_digest.into()),
        gate: match prepared.findings() {
            [] => Gate::FoundNothing,
            findings => Gate::Found(findings.to_vec()),
        },
        has_adopted: past.has_adopted,
        broken: past.broken,
        ..named
    };
    let without_sensitive = prepared.schema.sensitive.is_empty();
    let traces = [Traces { counterfeits_known: true, without_sensitive, ..Traces::default() }];
    let series = Series {
        schema: &prepared.schema,
        releases: slice::from_ref(&prepared.release),
        traces: &traces,
        promise: Some(&terms),
        knowledge: None,
        permanent: &[],
        population: None,
        households: None,
        rerun: None,
    };
    let (attacker, budget) = (Attacker::default(), Budget::default());
    let material = Material {
        edition: Edition::Recipient,
        series,
        assessment: &Assessment { at_two: in_sight(&series, attacker, &budget), ..Assessment::default() },
        attacker,
        thresholds: Thresholds::of(&terms),
        about: &about,
        names: Names::Coded,
        budget,
        governance: None,
        private: None,
        has_truth: false,
    };
    report::html(&Report::new(&material)).into_bytes()
}

/// What anyone sees in a release alone, although no promise covers it: the report on the series says it of this release, too.
fn in_sight(series: &Series<'_>, attacker: Attacker, budget: &Budget) -> Vec<Outcome> {
    let (two, seen) = (Thresholds::default(), [Check::GroupSizes, Check::Diversity, Check::Boundaries]);
    examine_only(series, attacker, &two, budget, &|_| (), &seen).outcomes
}

/// The report on everything a project has published.
pub fn series_report(
    project: &Project,
    request: ReportRequest,
    step: &(dyn Fn(&str) + Sync),
) -> Result<Report, ProjectError> {
    let (policy, store) = (project.policy(), project.store().ok_or(ProjectError::NothingPublished)?);
    let ReportRequest { edition, truth, review_by, budget, language } = request;
    let is_private = edition != Edition::Recipient;
    let tables = match (is_private, truth.is_empty()) {
        (false, _) => PrivateTables::None,
        (true, true) => PrivateTables::Kept,
        (true, false) => PrivateTables::Given(truth),
    };
    let read = series::read(project, tables, step)?;
    let knowledge = read.knowledge();
    let tables: Option<Vec<&Table>> = read.tables.iter().map(Option::as_ref).collect();
    let seed = store.seed().ok();
    let rerun = tables.zip(seed).map(|(tables, seed)| Remaking { policy, seed, tables, releases: &read.releases });
    let terms = read.terms(policy);
    let thresholds = Thresholds::of(&terms);
    let series = Series {
        schema: &policy.schema,
        releases: &read.releases,
        traces: &read.traces,
        promise: Some(&terms),
        knowledge: knowledge.as_ref(),
        permanent: &[],
        population: None,
        households: None,
        rerun: rerun.as_ref().map(|rerun| rerun as &dyn Rerun),
    };
    let attacker = Attacker::of(&terms);
    let ask = |check: Check| step(check.question());
    let assessment = examine(&series, attacker, &thresholds, &budget, &ask);
    step("gathering");
    let last_at = read.sources.last().and_then(|source| source.at.clone()).unwrap_or_default();
    let private = match edition {
        Edition::Steward => {
            let (history, last) = project.past()?;
            Some(private_facts(policy, &read, &history, last.as_ref(), &thresholds))
        }
        _ => None,
    };
    let mut about = about_series(project, store, &read, edition, &thresholds);
    about.language = language.unwrap_or(about.language);
    if budget != Budget::default() {
        about.command = about.command.map(|command| format!("{command} --budget {}", budget.steps));
    }
    Ok(Report::new(&Material {
        edition,
        series,
        assessment: &assessment,
        attacker,
        thresholds,
        about: &about,
        names: Names::Coded,
        budget,
        governance: Some(governance(policy, review_by.or_else(|| a_year_after(&last_at)))),
        private,
        has_truth: false,
    }))
}

/// Facts about the whole series, besides its releases.
fn about_series(
    project: &Project,
    store: &Store,
    read: &PublishedSeries,
    edition: Edition,
    thresholds: &Thresholds,
) -> About {
    let policy = project.policy();
    let is_private = edition != Edition::Recipient;
    let note = "The vault keeps the last private table only: give all of them with --truth, one per release, to attack \
        people one by one.";
    let notes = (is_private && read.tables.iter().any(Option::is_none)).then(|| note.to_string());
    // Which views others hold is not for recipients.
    let not_covered = match is_private {
        true => read.not_covered.clone(),
        false => beside(policy).into_iter().chain(retract::told(store)).collect(),
    };
    About {
        software: software(),
        policy_sha256: Some(project.policy_digest().into()),
        seed_commitment: Some(store.seed_commitment().to_string()),
        ledger_head: Some(store.head().into()),
        command: Some(format!("tacenda report --edition {}", edition.word())),
        reproduce: reproduce(read, store, thresholds),
        notes: notes.into_iter().collect(),
        assumptions: read.assumptions.clone(),
        // A recipient gets the same bytes for the same releases. Signers need the date.
        made_at: is_private.then(now),
        sources: read.sources.clone(),
        gate: if policy.is_study() { Gate::NotAsked } else { Gate::FoundNothing },
        has_adopted: read.adopted.is_some(),
        broken: read.broken.clone(),
        not_covered: read.adopted.iter().cloned().chain(not_covered).collect(),
        ..names(policy)
    }
}

/// What an auditor without the project can do with the release folders alone.
fn reproduce(read: &PublishedSeries, store: &Store, thresholds: &Thresholds) -> Vec<String> {
    let folders: Vec<String> =
        read.releases.iter().map(|release| series::folder_in_project(store, release.number)).collect();
    vec![
        "(cd RELEASE && sha256sum -c SHA256SUMS) in every release folder; the digests are those listed here".into(),
        format!("tacenda audit {} --k {} --l {} --format json", folders.join(" "), thresholds.k, thresholds.l),
        "with the private tables also --truth TABLE… --id COLUMN, one table per release".into(),
        "tacenda explain finding N --audit AUDIT.json for each finding and what proves it".into(),
        "in the project: tacenda verify, for the ledger's chain and every published file".into(),
    ]
}

/// The program and its version.
pub fn software() -> String {
    format!("tacenda {}", env!("CARGO_PKG_VERSION"))
}

/// What is not covered, besides what the promise itself names.
pub(super) fn beside(policy: &PolicyFile) -> Vec<String> {
    let own = policy.first_promise().terms().limits;
    let said = policy.terms().limits.into_iter().filter(|limit| !own.contains(limit)).map(String::from);
    said.chain(accepted(policy)).collect()
}

/// That the risk of the series was accepted, and why, where the promise is about one release at a time.
fn accepted(policy: &PolicyFile) -> Option<String> {
    let reason = policy.reasons.accept_series_risk.as_ref()?;
    (policy.terms().scope == Scope::EachRelease).then(|| {
        format!(
            "The promise covers one release at a time. What comparing releases reveals was accepted, with the reason \
             \"{reason}\"."
        )
    })
}

fn names(policy: &PolicyFile) -> About {
    About {
        name: policy.series.name.clone(),
        title: policy.series.title.clone(),
        contact: policy.series.contact.clone(),
        language: policy.series.language,
        not_covered: beside(policy),
        accepted_series_risk: policy.reasons.accept_series_risk.clone(),
        ..About::default()
    }
}

fn private_facts(
    policy: &PolicyFile,
    read: &PublishedSeries,
    history: &History,
    snapshot: Option<&Table>,
    thresholds: &Thresholds,
) -> PrivateFacts {
    let tables = read.releases.iter().zip(&read.traces).zip(&read.tables);
    let truth = tables.filter_map(|((release, traces), table)| {
        let has_values = !traces.without_sensitive;
        Some(report::truth_facts(release, has_values, table.as_ref()?, &policy.schema, thresholds))
    });
    PrivateFacts { truth: truth.collect(), churn: churn(read.releases.len() as u32, history, snapshot) }
}

/// Arrivals, departures and people who wait, release by release.
fn churn(releases: u32, history: &History, snapshot: Option<&Table>) -> Vec<ChurnFacts> {
    let mut churn: Vec<ChurnFacts> =
        (1..=releases).map(|release| ChurnFacts { release, ..ChurnFacts::default() }).collect();
    let at = |release: u32| release as usize - 1;
    for record in &history.records {
        if (1..=releases).contains(&record.first_seen) {
            churn[at(record.first_seen)].arrived += 1;
        }
        if record.is_published() && record.last_release < releases {
            churn[at(record.last_release)].last_published += 1;
        }
    }
    // Only people in the last snapshot wait. People who left while they waited do not count.
    for record in snapshot.into_iter().flat_map(|table| history.align(table)).flatten() {
        if record.last_release < releases {
            let since = if record.is_published() { record.last_release + 1 } else { record.first_seen };
            churn[at(since.clamp(1, releases))].waiting_since += 1;
        }
    }
    churn
}

fn governance(policy: &PolicyFile, review_by: Option<String>) -> GovernanceFacts {
    let share = |share: f64| format!("{} %", (share * 1e4).round() / 1e2);
    GovernanceFacts {
        declared: declared(policy),
        deletion: policy.departures().into(),
        limits: vec![
            format!("counterfeits: at most {} of the published rows", share(policy.limits.counterfeits)),
            format!("withheld: at most {} of the snapshot's rows", share(policy.limits.withheld)),
        ],
        accepted_risk: policy.reasons.accept_series_risk.clone(),
        review_by,
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

/// What the policy file says that only people know, with its heads on the page.
fn declared(policy: &PolicyFile) -> Vec<DeclaredFact> {
    let governance = &policy.series.governance;
    let rows = [
        ("Purpose of the release", &governance.purpose),
        ("Recipients of each release", &governance.recipients),
        ("Environment (public, under contract, secure room)", &governance.environment),
        ("Contract and technical controls", &governance.controls),
        ("Other data that recipients can reasonably get", &governance.other_data),
        ("Legal basis", &governance.legal_basis),
    ];
    rows.map(|(name, text)| DeclaredFact { name: name.into(), text: text.clone() }).to_vec()
}

/// The date a year after a moment such as `2026-11-15T10:00:00Z`.
fn a_year_after(at: &str) -> Option<String> {
    let date: Date = at.split('T').next()?.parse().ok()?;
    date.checked_add(1.year()).ok().map(|date| date.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Record, RecordKey, Value, ValueSetId, Values};

    /// First seen, first published, last published.
    fn record(key: u64, first_seen: u32, cohort: u32, last_release: u32) -> Record {
        let key = RecordKey { hi: 0, lo: key };
        Record { key, first_seen, cohort, last_release, group: 0, value: Value(0), value_set: ValueSetId(0) }
    }

    #[test]
    fn who_left_while_waiting_waits_no_more() {
        // 1 is in all three; 2 waits since the first; 3 waited and left; 4 was published and waits since the second;
        // 5 was published and left.
        let records =
            vec![record(1, 1, 1, 3), record(2, 1, 0, 0), record(3, 2, 0, 0), record(4, 1, 1, 1), record(5, 1, 1, 2)];
        let history = History { releases: 3, records, ..History::default() };
        let keys = [1, 2, 4].map(|lo| RecordKey { hi: 0, lo }).to_vec();
        let snapshot = Table::new(keys, vec![], vec![Value(0); 3], Values::of(["a"]), vec![], vec![]);
        let churn = churn(3, &history, Some(&snapshot));
        let waiting: Vec<u64> = churn.iter().map(|churn| churn.waiting_since).collect();
        assert_eq!(waiting, [1, 1, 0]);
        assert_eq!(churn.iter().map(|churn| churn.arrived).collect::<Vec<u64>>(), [4, 1, 0]);
        assert_eq!(churn.iter().map(|churn| churn.last_published).collect::<Vec<u64>>(), [1, 1, 0]);
    }

    #[test]
    fn a_report_holds_for_a_year() {
        assert_eq!(a_year_after("2026-11-15T10:00:00Z").as_deref(), Some("2027-11-15"));
        assert_eq!(a_year_after("2028-02-29T10:00:00Z").as_deref(), Some("2029-02-28"));
        assert_eq!(a_year_after("yesterday"), None);
    }
}
