//! The gate for views: a finished view is judged with everything that is out, before it exists.
//!
//! # Definition
//! The view must be true like any release. Then, for each group of recipients who may pool, all views
//! they see are joined: on the join, and on its kernel (`join` says what these are), every promise must
//! hold. The new view is read off the finished release and not taken from whoever made it.
//!
//! # Not concluded
//! With three and more views the kernel looks at two at a time, and where the whole join is too large so
//! does everything; a warning says so. What could not be judged at all is a finding.

use crate::audit::Evidence;
use crate::audit::Fault;
use crate::audit::Finding;
use crate::audit::JoinEvidence;
use crate::audit::JoinReport;
use crate::audit::RequirementReport;
use crate::audit::gate;
use crate::audit::join::Coverage;
use crate::audit::judge_join;
use crate::model::Bound;
use crate::model::Impossible;
use crate::model::Promise;
use crate::model::PublishedView;
use crate::model::Requirement;
use crate::model::View;
use std::collections::BTreeMap;

/// What the gate looks at. Private: holds the truth.
#[derive(Clone, Copy, Debug)]
pub struct ViewEvidence<'a> {
    /// The release of the view: its schema and table have the view's columns only.
    pub release: Evidence<'a>,
    /// The view's name.
    pub name: &'a str,
    /// The views that are out.
    pub earlier: &'a [PublishedView],
    /// Per group of recipients who may pool: which of the earlier views they see.
    pub seen: &'a [Vec<usize>],
    /// Everything that is promised.
    pub promises: &'a [&'a Promise],
    /// Which values never belong to one person.
    pub impossible: &'a [Impossible],
    /// Whether views are of the same people, row for row. Releases made elsewhere may not be.
    pub same_people: bool,
    /// How many steps the counting may take.
    pub limit: u64,
}

/// What the gate says of a view.
#[derive(Clone, Debug, Default)]
pub struct ViewVerdict {
    /// Why it is refused; empty: it is not.
    pub findings: Vec<Finding>,
    /// How every promise fares for each group of recipients, in the order of `seen`.
    pub reports: Vec<JoinReport>,
    /// What was not looked at, one sentence each.
    pub warnings: Vec<String>,
}

/// Judges a view.
pub fn gate_view(evidence: &ViewEvidence<'_>) -> ViewVerdict {
    let mut verdict = ViewVerdict { findings: gate::gate_truth(evidence.release), ..ViewVerdict::default() };
    if verdict.findings.iter().any(|finding| finding.fault == Fault::Malformed) {
        return verdict;
    }
    let release = evidence.release.release;
    let schema = evidence.release.schema;
    let Ok(own) = PublishedView::of_release(evidence.name, schema, &[], release) else {
        verdict.findings.push(finding(Fault::Malformed, release.number, release.row_count() as u64, 0));
        return verdict;
    };
    let mut found: BTreeMap<Fault, (u64, u64)> = BTreeMap::new();
    for seen in evidence.seen {
        let report = judge_pool(evidence, &own, seen);
        collect(evidence, &report, &mut found, &mut verdict.warnings);
        verdict.reports.push(report);
    }
    let number = release.number;
    verdict.findings.extend(found.into_iter().map(|(fault, (people, values))| finding(fault, number, people, values)));
    verdict
}

/// The join of the new view with those of one group of recipients.
fn judge_pool(evidence: &ViewEvidence<'_>, own: &PublishedView, seen: &[usize]) -> JoinReport {
    let mut views = vec![own.clone()];
    views.extend(seen.iter().map(|&view| evidence.earlier[view].clone()));
    let names: Vec<&View> = views.iter().map(|published| &published.view).collect();
    let requirements: Vec<Requirement> =
        evidence.promises.iter().flat_map(|promise| promise.requirements(&names)).collect();
    judge_join(&JoinEvidence {
        views: &views,
        requirements: &requirements,
        impossible: evidence.impossible,
        limit: evidence.limit,
    })
}

/// Turns a report into faults: the people and the combinations of X each concerns.
fn collect(
    evidence: &ViewEvidence<'_>,
    report: &JoinReport,
    found: &mut BTreeMap<Fault, (u64, u64)>,
    warnings: &mut Vec<String>,
) {
    let rows = evidence.release.release.row_count() as u64;
    let mut add = |fault: Fault, people: u64, values: u64| {
        let known = found.entry(fault).or_insert((0, 0));
        *known = (known.0.max(people), known.1.max(values));
    };
    let mut warn = |text: &str| {
        if !warnings.iter().any(|known| known == text) {
            warnings.push(text.to_string());
        }
    };
    let dangling: u64 = report.dangling.iter().sum();
    match (dangling > 0, evidence.same_people) {
        (true, true) => add(Fault::ViewsNotRelated, dangling, 0),
        (true, false) => warn("some rows of a view match no row of another: they are no part of the join"),
        _ => {}
    }
    match (report.has_assignment, evidence.same_people) {
        (Some(false), true) => add(Fault::ViewsNotRelated, rows, 0),
        (Some(false), false) => {
            warn("the rows of two views cannot all be matched: what lies in no matching was not left out")
        }
        _ => {}
    }
    if report.dangling.len() > 2 {
        warn("with three and more views, pairs of rows that lie in no matching are left out for two views at a time");
    }
    for requirement in &report.requirements {
        judge(evidence, requirement, report.has_assignment == Some(false), &mut add, &mut warn);
    }
}

fn judge(
    evidence: &ViewEvidence<'_>,
    report: &RequirementReport,
    no_assignment: bool,
    add: &mut impl FnMut(Fault, u64, u64),
    warn: &mut impl FnMut(&str),
) {
    match report.coverage {
        Coverage::NotAssessed => add(Fault::JoinNotJudged, evidence.release.release.row_count() as u64, 0),
        Coverage::PairsOnly => {
            warn(
                "the join of all views is too large: each two were judged alone, and what three tell together was not",
            );
        }
        Coverage::All => {}
    }
    if !report.raw.holds {
        let fault = if report.raw.least.is_some() { Fault::JoinTooFewValues } else { Fault::JoinShareTooLarge };
        add(fault, report.raw.people, report.raw.broken);
    }
    match &report.kernel {
        Some(kernel) if !kernel.holds && report.raw.holds => {
            add(Fault::MatchingTellsMore, kernel.people, kernel.broken)
        }
        Some(_) => {}
        // Where there is no assignment at all, that is said once; otherwise the kernel was too large.
        None if no_assignment => {}
        None => add(Fault::JoinNotJudged, evidence.release.release.row_count() as u64, 0),
    }
}

/// In words: how a requirement fares on join and kernel, for a steward.
pub fn describe(requirement: &Requirement, report: &RequirementReport) -> String {
    let reading = report.kernel.as_ref().unwrap_or(&report.raw);
    match requirement.bound {
        Bound::Anonymity { k } => match reading.least {
            Some(least) => format!("every combination of X goes with at least {least} values of Y, {k} are promised"),
            None => "no combination of X occurs".into(),
        },
        Bound::Linkability { .. } | Bound::OneIn { .. } => match reading.largest_ppm {
            Some(ppm) => format!("no sensitive value of Y exceeds a share of {:.1} %", ppm as f64 / 10_000.0),
            None => "no sensitive value of Y occurs".into(),
        },
    }
}

fn finding(fault: Fault, release: u32, people: u64, values: u64) -> Finding {
    Finding { fault, release, people, groups: values, example: None, others: Vec::new(), witness: None }
}
