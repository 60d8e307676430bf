//! What joining releases with different columns gives away (science D4.9, A4).
//!
//! Each two releases that do not have the same columns are joined as views of the same people. X is every quasi column
//! of both. Y is the row of the first and, if there is one, the sensitive value. Pairs of rows that no assignment of
//! all rows contains are excluded first.
//!
//! If there are three or more sets of columns, releases are also matched all at once, one release of each set. What one
//! of them says about a person must leave at least k rows and l values of every other one possible.

use crate::audit::checks::Ask;
use crate::audit::{
    Check, Coverage, Fault, Finding, JoinCoverage, JoinEvidence, JoinReading, Outcome, Quantity, Reason, Statement,
    Verdict, Witness, judge_join,
};
use crate::model::{Domain, PublishedView, Quasi, Requirement, Scope, Span, SpanColumn, View, ViewColumn};

/// The most steps of one join, whatever the budget.
const STEPS: u64 = 20_000_000;

/// The most selections of three or more releases that are matched.
const MOST_SELECTIONS: usize = 64;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let count = ask.series.releases.len() as u32;
    let mut pairs: Vec<(u32, u32)> = (1..count).flat_map(|b| (0..b).map(move |a| (a, b))).collect();
    pairs.retain(|&(a, b)| columns(ask, a) != columns(ask, b));
    if pairs.is_empty() {
        return Outcome::not_applicable(Check::Joins, Reason::SameColumns);
    }
    let (selections, more) = selections(ask);
    let what = if selections.is_empty() { "pairs of releases" } else { "joins of releases" };
    let of = (pairs.len() as u64 + selections.len() as u64).saturating_add(more);
    let coverage = Coverage { looked_at: 0, of, what };
    let mut outcome = Outcome::new(Check::Joins, coverage);
    let (k, l) = (ask.thresholds.k, ask.thresholds.l);
    if k <= 1 && l <= 1 && ask.series.promise.is_some_and(|promise| promise.scope == Scope::Views) {
        outcome.verdict = Verdict::NotAssessed(Reason::NoJoinThresholds);
        return outcome;
    }
    for (a, b) in pairs {
        let views = [view(ask, a), view(ask, b)];
        let (requirements, faults) = requirements(ask, &views);
        let limit = ask.budget.steps.min(STEPS);
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
    let mut reason = Reason::JoinTooLarge;
    for places in &selections {
        let is_whole = match_at_once(ask, places, &mut outcome);
        outcome.coverage.looked_at += u64::from(is_whole == Whole::Yes);
        if is_whole == Whole::TooManySteps {
            reason = Reason::TooLargeAtOnce;
        }
    }
    if outcome.findings.is_empty() && outcome.coverage.looked_at < outcome.coverage.of {
        outcome.verdict = Verdict::NotAssessed(if more > 0 { Reason::TooLargeAtOnce } else { reason });
    }
    outcome
}

/// The selections of three or more releases, no two with the same columns, and how many there are beyond those listed.
/// The latest releases of all sets of columns come first.
fn selections(ask: &Ask<'_>) -> (Vec<Vec<u32>>, u64) {
    type Columns = (Vec<usize>, bool);
    let mut sets: Vec<(Columns, Vec<u32>)> = Vec::new();
    for place in 0..ask.series.releases.len() as u32 {
        let own = columns(ask, place);
        match sets.iter_mut().find(|(columns, _)| *columns == own) {
            Some((_, places)) => places.push(place),
            None => sets.push((own, vec![place])),
        }
    }
    fn choose(sets: &[(Columns, Vec<u32>)], chosen: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
        let Some(((_, places), rest)) = sets.split_first() else {
            if chosen.len() > 2 {
                found.push(chosen.clone());
            }
            return;
        };
        for &place in places.iter().rev() {
            if found.len() == MOST_SELECTIONS {
                return;
            }
            chosen.push(place);
            choose(rest, chosen, found);
            chosen.pop();
        }
        choose(rest, chosen, found);
    }
    let mut found = Vec::new();
    choose(&sets, &mut Vec::new(), &mut found);
    // A selection takes at most one release of each set of columns, and at least three releases.
    let (mut one, mut two, mut any) = (0u64, 0u64, 1u64);
    for (_, places) in &sets {
        let count = places.len() as u64;
        two = two.saturating_add(one.saturating_mul(count));
        one = one.saturating_add(count);
        any = any.saturating_mul(count + 1);
    }
    let more = any.saturating_sub(two.saturating_add(one + 1)).saturating_sub(found.len() as u64);
    (found, more)
}

/// Whether some releases were matched all at once.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Whole {
    Yes,
    TooManySteps,
    No,
}

/// Matches all rows of three and more releases at once.
fn match_at_once(ask: &Ask<'_>, places: &[u32], outcome: &mut Outcome) -> Whole {
    let mut is_whole = Whole::Yes;
    for &first in places {
        // What the first release says about a person is compared with every other.
        let mut places: Vec<u32> = places.to_vec();
        places.sort_by_key(|&place| place != first);
        let views: Vec<PublishedView> = places.iter().map(|&place| view(ask, place)).collect();
        let (mut requirements, mut about) = (Vec::new(), Vec::new());
        let quasi = views[0].view.columns.iter().filter(|quasi| quasi.name != SENSITIVE).count();
        let x: Vec<ViewColumn> = (0..quasi).map(|column| ViewColumn::new(0, column)).collect();
        for (at, other) in views.iter().enumerate().skip(1) {
            let (k, l) = (ask.thresholds.k, ask.thresholds.l);
            requirements.push(Requirement::anonymity(x.clone(), vec![ViewColumn::record(at)], k.into()));
            about.push((at, Fault::AtOnceFewRows, Statement::FewRowsAtOnce, k));
            if let Some(value) = other.view.column(SENSITIVE) {
                requirements.push(Requirement::anonymity(x.clone(), vec![ViewColumn::new(at, value)], l.into()));
                about.push((at, Fault::AtOnceFewValues, Statement::FewValuesAtOnce, l));
            }
        }
        let limit = ask.budget.steps.min(STEPS);
        let report = judge_join(&JoinEvidence { views: &views, requirements: &requirements, impossible: &[], limit });
        for (part, (at, fault, claim, line)) in report.requirements.iter().zip(about) {
            match part.coverage {
                JoinCoverage::All if report.has_assignment == Some(true) => {}
                JoinCoverage::KernelOfTwo => {
                    is_whole = Whole::TooManySteps;
                    continue;
                }
                _ => {
                    is_whole = Whole::No;
                    continue;
                }
            }
            let Some(reading) = part.kernel.as_ref().filter(|reading| !reading.holds) else { continue };
            let number = |place: u32| ask.series.releases[place as usize].number;
            let mut groups: Vec<(u32, u32)> = places.iter().map(|&place| (place, 0)).collect();
            groups.swap(1, at);
            let others: Vec<u32> =
                groups.iter().filter(|group| group.0 != places[at]).map(|group| number(group.0)).collect();
            // Another selection may have shown the same already.
            let is_known = |known: &Finding| {
                (known.fault, known.release, known.others.first()) == (fault, number(places[at]), others.first())
            };
            if outcome.findings.iter().any(is_known) {
                continue;
            }
            let witness = Witness::new(claim, groups, reading.least.unwrap_or(0), line.into());
            let (release, people) = (number(places[at]), reading.people);
            let finding = Finding { fault, release, people, groups: 0, example: None, others, witness: Some(witness) };
            outcome.found([finding]);
        }
    }
    is_whole
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
