//! The gate for views: a finished view is judged with everything published, before it exists.
//!
//! # Definition
//! The view must be true, like any release. For each group of recipients who may pool, the views they see are joined.
//! Every promise must hold on the join and on its kernel (`join` defines both). A recipient need not use all views, and
//! a view that lacks a person removes that person from the join. So the promise must also hold on the join of the new
//! view with any selection of the others (`model::SubJoins`). The new view is read from the finished release, not taken
//! from the program that formed it.
//!
//! # Not concluded
//! If there are too many views to try all selections, some are tried, and a warning says so. A join that is too large
//! to be counted, or whose kernel over all views takes too many steps, is a finding, unless the policy is content with
//! each two views (`too_large = "pairs"`).

use crate::audit::join::JoinCoverage;
use crate::audit::{
    Evidence, Fault, Finding, JoinEvidence, JoinReading, JoinReport, RequirementReport, gate, judge_joins,
};
use crate::model::{Asked, Bound, Demand, Impossible, PublishedView, Requirement, SubJoins, asked};
use std::collections::BTreeMap;

/// What the gate judges. Private: it holds the truth.
#[derive(Clone, Copy, Debug)]
pub struct ViewEvidence<'a> {
    /// The release of the view: its schema and table have the view's columns only.
    pub release: Evidence<'a>,
    /// The view's name.
    pub name: &'a str,
    /// The published views.
    pub earlier: &'a [PublishedView],
    /// Per group of recipients who may pool: which of the earlier views they see.
    pub seen: &'a [Vec<usize>],
    /// Everything that is asked of joins.
    pub demands: &'a [Demand],
    /// Which values never belong to one person.
    pub impossible: &'a [Impossible],
    /// Per earlier view, whether it was made elsewhere. Such a view may lack people or have others. Ours all have the
    /// same people, row for row.
    pub elsewhere: &'a [bool],
    /// Whether judging every two views is enough if the join of all is too large.
    pub pairs_suffice: bool,
    /// How many steps the counting may take.
    pub limit: u64,
}

/// What the gate says of a view.
#[derive(Clone, Debug, Default)]
pub struct ViewVerdict {
    /// Why the view is refused; empty if it is not.
    pub findings: Vec<Finding>,
    /// How every demand fares on the worst of all joins, one sentence each.
    pub standing: Vec<String>,
    /// What was not examined, one sentence each.
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
    let mut worst: Vec<Option<JoinReading>> = vec![None; evidence.demands.len()];
    for seen in evidence.seen {
        let (asked, report) = judge_pool(evidence, &own, seen);
        collect(evidence, seen, &report, &mut found, &mut verdict.warnings);
        for (asked, report) in asked.iter().zip(report.requirements) {
            let reading = report.kernel.unwrap_or(report.raw);
            let worst = &mut worst[asked.demand];
            *worst = Some(worst.take().unwrap_or_default().and(reading));
        }
        if !SubJoins::of(seen).is_complete {
            verdict.warnings.push(format!(
                "{} views can be joined: the new view was joined with each one, with all but one, and with all, not \
                 with every selection",
                seen.len() + 1
            ));
        }
    }
    let standing = evidence
        .demands
        .iter()
        .zip(&worst)
        .filter_map(|(demand, worst)| Some(describe(&demand.bound, worst.as_ref()?)));
    verdict.standing = standing.collect();
    verdict.warnings.dedup();
    let number = release.number;
    verdict.findings.extend(found.into_iter().map(|(fault, (people, values))| finding(fault, number, people, values)));
    verdict
}

/// The joins of the new view with those of one group of recipients.
fn judge_pool(evidence: &ViewEvidence<'_>, own: &PublishedView, seen: &[usize]) -> (Vec<Asked>, JoinReport) {
    let mut views = vec![own.clone()];
    views.extend(seen.iter().map(|&view| evidence.earlier[view].clone()));
    let is_exact = own.exact_columns();
    let new = (&own.view, |column: usize| is_exact[column]);
    let asked = asked(evidence.demands, new, &views[1..], &[(0..seen.len()).collect()]);
    let requirements: Vec<Requirement> = asked.iter().map(|asked| asked.requirement.clone()).collect();
    let with_own = |asked: &Asked| std::iter::once(0).chain(asked.members.iter().copied()).collect();
    let members: Vec<Vec<usize>> = asked.iter().map(with_own).collect();
    let (impossible, limit) = (evidence.impossible, evidence.limit);
    let report = judge_joins(&JoinEvidence { views: &views, requirements: &requirements, impossible, limit }, &members);
    (asked, report)
}

/// Turns a report into faults: the people and the combinations of X each concerns.
fn collect(
    evidence: &ViewEvidence<'_>,
    seen: &[usize],
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
    let is_ours = |view: usize| view == 0 || !evidence.elsewhere[seen[view - 1]];
    let mut alone = (0, 0);
    for (view, others) in report.lonely.iter().enumerate() {
        let rows = |ours: bool| {
            let of = others.iter().enumerate().filter(|(other, _)| (is_ours(view) && is_ours(*other)) == ours);
            of.map(|(_, &rows)| rows).max().unwrap_or(0)
        };
        alone = (alone.0 + rows(true), alone.1 + rows(false));
    }
    if alone.0 > 0 {
        add(Fault::ViewsNotRelated, alone.0, 0);
    }
    if alone.1 > 0 {
        warn("some rows of a view match no row of a view made elsewhere: they were judged without that view");
    }
    for &(view, other) in &report.unassigned {
        if is_ours(view) && is_ours(other) {
            add(Fault::ViewsNotRelated, rows, 0);
        } else {
            warn(
                "the rows of a view made elsewhere cannot all be matched with those of another: between these two, \
                 impossible pairs of rows were counted too",
            );
        }
    }
    if report.requirements.iter().any(|report| report.coverage == JoinCoverage::Unassigned) {
        if (0..=seen.len()).all(is_ours) {
            add(Fault::ViewsNotRelated, rows, 0);
        } else {
            warn(
                "with a view made elsewhere, the rows of all views cannot all be matched at once: impossible \
                 combinations were excluded for two views at a time only",
            );
        }
    }
    for requirement in &report.requirements {
        judge(evidence, requirement, &mut add, &mut warn);
    }
}

fn judge(
    evidence: &ViewEvidence<'_>,
    report: &RequirementReport,
    add: &mut impl FnMut(Fault, u64, u64),
    warn: &mut impl FnMut(&str),
) {
    match report.coverage {
        JoinCoverage::NotAssessed => add(Fault::JoinNotJudged, evidence.release.release.row_count() as u64, 0),
        JoinCoverage::PairsOnly | JoinCoverage::KernelOfTwo if !evidence.pairs_suffice => {
            add(Fault::JoinNotJudged, evidence.release.release.row_count() as u64, 0);
        }
        JoinCoverage::PairsOnly => {
            warn(
                "the join of all views is too large: views were judged two at a time, and what three reveal together \
                 was not",
            );
        }
        JoinCoverage::KernelOfTwo => warn(
            "matching the rows of all views at once takes too many steps: impossible combinations were excluded for \
             two views at a time only",
        ),
        JoinCoverage::All | JoinCoverage::Unassigned => {}
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
        None => add(Fault::JoinNotJudged, evidence.release.release.row_count() as u64, 0),
    }
}

/// A sentence for the steward: how a demand fares.
fn describe(bound: &Bound, reading: &JoinReading) -> String {
    match (bound, reading.least, reading.largest_ppm) {
        (Bound::Anonymity { k }, Some(least), _) => {
            format!("every combination of X has at least {least} values of Y; {k} are promised")
        }
        (Bound::Anonymity { .. }, None, _) => "no combination of X occurs".into(),
        (_, _, Some(ppm)) => format!("no sensitive value of Y exceeds a share of {:.1} %", ppm as f64 / 10_000.0),
        (_, _, None) => "no sensitive value of Y occurs".into(),
    }
}

fn finding(fault: Fault, release: u32, people: u64, values: u64) -> Finding {
    Finding { fault, release, people, groups: values, example: None, others: Vec::new(), witness: None }
}
