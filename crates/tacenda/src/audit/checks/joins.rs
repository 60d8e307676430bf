//! What joining releases with different columns gives away (science D4.9, A4).
//!
//! Each two releases that do not have the same columns are joined as views of the same people. X is every
//! quasi column of both, Y the row of the first and, where there is one, the sensitive value. Pairs of rows
//! that no assignment of all rows contains are left out first.

use crate::audit::checks::Ask;
use crate::audit::{
    Check, Coverage, Fault, Finding, JoinCoverage, JoinEvidence, JoinReading, Outcome, Quantity, Reason, Statement,
    Verdict, Witness, judge_join,
};
use crate::model::{Domain, PublishedView, Quasi, Requirement, Scope, Span, SpanColumn, View, ViewColumn};

/// How many steps one join may take at most, whatever the limits say.
const STEPS: u64 = 20_000_000;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let count = ask.series.releases.len() as u32;
    let mut pairs: Vec<(u32, u32)> = (1..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    pairs.retain(|&(a, b)| columns(ask, a) != columns(ask, b));
    if pairs.is_empty() {
        return Outcome::not_applicable(Check::Joins, Reason::SameColumns);
    }
    let coverage = Coverage { looked_at: 0, of: pairs.len() as u64, what: "pairs of releases" };
    let mut outcome = Outcome::new(Check::Joins, coverage);
    let (k, l) = (ask.thresholds.k, ask.thresholds.l);
    if k <= 1 && l <= 1 && ask.series.promise.is_some_and(|promise| promise.scope == Scope::Views) {
        outcome.verdict = Verdict::NotAssessed(Reason::NoJoinThresholds);
        return outcome;
    }
    for (a, b) in pairs {
        let views = [view(ask, a), view(ask, b)];
        let (requirements, faults) = requirements(ask, &views);
        let limit = ask.limits.pairs.min(STEPS);
        let report = judge_join(&JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit });
        let (first, second) = (&ask.series.releases[a as usize], &ask.series.releases[b as usize]);
        outcome.measure(Some(second.number), Quantity::RowsUnmatched, report.dangling.iter().sum::<u64>() as f64);
        let is_whole = report.has_assignment == Some(true)
            && report.requirements.iter().all(|part| part.coverage == JoinCoverage::All && part.kernel.is_some());
        outcome.coverage.looked_at += u64::from(is_whole);
        for (part, fault) in report.requirements.iter().zip(faults) {
            let reading = part.kernel.as_ref().unwrap_or(&part.raw);
            outcome.measure(Some(second.number), Quantity::RowsOfJoin, reading.rows as f64);
            if !reading.holds {
                outcome.found([finding(ask, fault, reading, (a, b), (first.number, second.number))]);
            }
        }
    }
    if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        outcome.verdict = Verdict::NotAssessed(Reason::JoinTooLarge);
    }
    outcome
}

/// Which quasi columns a release has, and whether it has the sensitive one.
fn columns(ask: &Ask<'_>, place: u32) -> (Vec<usize>, bool) {
    let traces = &ask.series.traces[place as usize];
    let has = |attribute: &usize| traces.columns.get(*attribute).copied().unwrap_or(true);
    ((0..ask.series.schema.quasi.len()).filter(has).collect(), !traces.without_sensitive)
}

const SENSITIVE: &str = "the sensitive value";

fn view(ask: &Ask<'_>, place: u32) -> PublishedView {
    let release = &ask.series.releases[place as usize];
    let (quasi, has_sensitive) = columns(ask, place);
    let mut all: Vec<Quasi> = quasi.iter().map(|&at| ask.series.schema.quasi[at].clone()).collect();
    let groups = 0..release.group_count();
    let spans = |at: usize| -> Vec<Span> {
        groups.clone().flat_map(|group| release.group_rows(group).map(move |_| release.region(group)[at])).collect()
    };
    let mut columns: Vec<SpanColumn> = quasi.iter().map(|&at| SpanColumn::new(&spans(at))).collect();
    if has_sensitive {
        all.push(Quasi::new(SENSITIVE, Domain::Integer { lo: 0, hi: release.values.len() as i64 }));
        let exact: Vec<Span> = release.sensitive.iter().map(|value| Span::exact(value.0)).collect();
        columns.push(SpanColumn::new(&exact));
    }
    PublishedView::new(View { name: format!("release {}", release.number), columns: all }, columns)
}

fn requirements(ask: &Ask<'_>, views: &[PublishedView; 2]) -> (Vec<Requirement>, Vec<Fault>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for (at, view) in views.iter().enumerate() {
        for (column, quasi) in view.view.columns.iter().enumerate() {
            let side = if quasi.name == SENSITIVE { &mut y } else { &mut x };
            side.push(ViewColumn::new(at, column));
        }
    }
    let mut requirements =
        vec![Requirement::anonymity(x.clone(), vec![ViewColumn::record(0)], ask.thresholds.k.into())];
    let mut faults = vec![Fault::JoinFewPeople];
    if !y.is_empty() && ask.thresholds.l > 1 {
        requirements.push(Requirement::one_in(x, y, ask.thresholds.l));
        faults.push(Fault::JoinLikelyValue);
    }
    (requirements, faults)
}

fn finding(ask: &Ask<'_>, fault: Fault, reading: &JoinReading, places: (u32, u32), numbers: (u32, u32)) -> Finding {
    let (statement, number, line) = match fault {
        Fault::JoinFewPeople => (Statement::FewAfterJoin, reading.least.unwrap_or(0), u64::from(ask.thresholds.k)),
        _ => (Statement::LikelyAfterJoin, reading.largest_ppm.unwrap_or(0), 1_000_000 / u64::from(ask.thresholds.l)),
    };
    Finding {
        fault,
        release: numbers.1,
        people: reading.people,
        groups: 0,
        example: None,
        others: vec![numbers.0],
        witness: Some(Witness::new(statement, vec![(places.0, 0), (places.1, 0)], number, line)),
    }
}
