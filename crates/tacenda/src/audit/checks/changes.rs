//! What follows from the change of a value (science B5, A3.12; Bu 2008: HD-composition).
//!
//! If people are known, two questions are asked. First: is the change visible? It is, if the groups over the person
//! before and after have no value in common. If a promise says that people keep their value sets, it is enough that
//! they have no value set in common. Then any reader sees that the value changed. That is a note, because no promise
//! hides it.
//!
//! Second, if permanent values are named: what do they rule out? A person whose value changed did not have a permanent
//! value before. Removing these values from such people, and matching everyone again, may leave others with fewer
//! values. A person who had enough values before and has too few now is a finding.

use crate::audit::checks::candidates::{groups_over, telling, truth};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, pairs};
use crate::audit::knowledge::Knowledge;
use crate::audit::refine::{RefineLimits, refine};
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Release, Span};
use crate::space::sets::insert;
use crate::space::stab::Stab;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let Some(knowledge) = ask.people().filter(|_| ask.attacker.presence) else {
        return Outcome::not_applicable(Check::Changes, ask.why_unplaced());
    };
    let periods = periods(ask, knowledge);
    if periods.is_empty() {
        return Outcome::not_applicable(Check::Changes, Reason::ValuesStay);
    }
    let changes = periods.len() as u64;
    let mut outcome = Outcome::new(Check::Changes, Coverage { looked_at: changes, of: changes, what: "changes" });
    outcome.measure(None, Quantity::ValuesChanged, changes as f64);
    let (last, others) = ask.last_and_others();
    let mut shown = shown(ask, knowledge, &periods);
    shown.without_groups();
    outcome.measure(None, Quantity::ChangesShown, shown.people() as f64);
    outcome.found(shown.finding(last, others.clone()));
    if !ask.series.permanent.is_empty() {
        permanent(ask, knowledge, &periods, &mut outcome);
    }
    outcome
}

/// Somebody before and after a change: two of [`Ask::people`].
struct Change {
    before: u32,
    after: u32,
}

/// All changes, by person.
fn periods(ask: &Ask<'_>, knowledge: &Knowledge<'_>) -> Vec<Change> {
    let owners = ask.series.knowledge.map_or(0, Knowledge::len);
    let mut now: Vec<u32> = (0..owners as u32).collect();
    // Later periods of a person come after all people, in order.
    (owners as u32..knowledge.len() as u32)
        .map(|after| {
            let before = std::mem::replace(&mut now[ask.owner(after) as usize], after);
            Change { before, after }
        })
        .collect()
}

/// The people whose change is visible.
fn shown(ask: &Ask<'_>, knowledge: &Knowledge<'_>, changes: &[Change]) -> Tally {
    let releases = ask.series.releases;
    let keeps_sets = pairs::keeps_sets(ask.series.promise);
    let stabs: Vec<Stab> = releases.iter().map(|release| Stab::new(release, release.values.len())).collect();
    let rows: Vec<Vec<u32>> = (0..releases.len()).map(|release| knowledge.rows(release)).collect();
    let is_in = |release: usize, person: u32| ask.tells(release) && rows[release][person as usize] != Knowledge::ABSENT;
    let groups = |release: usize, person: u32| -> Vec<u32> {
        let mut point = vec![0; knowledge.attributes()];
        knowledge.read_point(release, rows[release][person as usize] as usize, &mut point);
        let region: Vec<Span> = point.iter().map(|&code| Span::exact(code)).collect();
        let mut groups = Vec::new();
        stabs[release].each_overlapping(&region, |group| {
            groups.push(group);
            true
        });
        groups.sort_unstable();
        groups
    };
    let may_stay = |(one, group): (&Release, u32), (other, at): (&Release, u32)| match keeps_sets {
        true => one.value_set(group as usize) == other.value_set(at as usize),
        false => one.value_set(group as usize).iter().any(|value| other.value_set(at as usize).contains(value)),
    };
    let mut tally = Tally::new(Fault::ChangeShows);
    let mut told: Vec<u32> = Vec::new();
    for change in changes {
        let last = (0..releases.len()).rev().find(|&release| is_in(release, change.before));
        let first = (0..releases.len()).find(|&release| is_in(release, change.after));
        let (Some(last), Some(first)) = (last, first) else { continue };
        let (before, after) = (groups(last, change.before), groups(first, change.after));
        let stays = before
            .iter()
            .any(|&group| after.iter().any(|&at| may_stay((&releases[last], group), (&releases[first], at))));
        if stays || before.is_empty() || after.is_empty() {
            continue;
        }
        let owner = ask.owner(change.after);
        let is_new = u64::from(!told.contains(&owner));
        told.push(owner);
        tally.add(is_new, 0, || {
            let groups = before.iter().map(|&group| (last as u32, group));
            let groups = groups.chain(after.iter().map(|&group| (first as u32, group))).collect();
            Witness {
                person: Some(owner),
                ..Witness::new(Statement::ChangeShows { by_sets: keeps_sets }, groups, 1, 1)
            }
        });
    }
    tally
}

/// Finds people who have too few values left once it is known that nobody whose value changed had a permanent one.
fn permanent<'a>(ask: &Ask<'a>, knowledge: &Knowledge<'a>, changes: &[Change], outcome: &mut Outcome) {
    let Some(left) = ask.left() else { return };
    let truth = truth(ask);
    let had_one =
        |change: &Change| truth[change.before as usize].is_some_and(|value| ask.series.permanent.contains(&value));
    if changes.iter().any(had_one) {
        // Somebody had the value and lost it, so it is not permanent.
        outcome.verdict = Verdict::NotAssessed(Reason::NotPermanent);
        return;
    }
    let mut candidates = left.candidates.clone();
    for change in changes {
        let mut kept = vec![0; candidates.words()];
        let values = candidates.values(change.before).into_iter();
        values.filter(|value| !ask.series.permanent.contains(value)).for_each(|value| insert(&mut kept, value.index()));
        candidates.narrow(change.before, &kept);
    }
    let (releases, part) = telling(ask, knowledge);
    let (releases, knowledge) = match &part {
        Some(part) => (&releases[..], part),
        None => (ask.series.releases, knowledge),
    };
    let refined = refine(&mut candidates, releases, knowledge, RefineLimits::of(ask.budget));
    let l = ask.thresholds.l.max(2);
    let (mut certain, mut few) = (Tally::new(Fault::PermanentCertain), Tally::new(Fault::PermanentFewValues));
    let mut told: Vec<u32> = Vec::new();
    for person in 0..knowledge.len() as u32 {
        let (before, now) = (left.candidates.size(person), candidates.size(person));
        let is_true = truth[person as usize].is_none_or(|value| candidates.has(person, value));
        // People whose value changed are the premise. Only conclusions about others are findings.
        let is_put_in = changes.iter().any(|change| change.before == person);
        if is_put_in || !is_true || now == 0 || now >= l || now == before {
            continue;
        }
        let owner = ask.owner(person);
        let is_new = u64::from(!told.contains(&owner));
        told.push(owner);
        let tally = if now == 1 { &mut certain } else { &mut few };
        tally.add(is_new, u64::from(now), || Witness {
            values: candidates.values(person),
            person: Some(owner),
            ..Witness::new(Statement::FewByPermanent, groups_over(ask, person), u64::from(now), u64::from(l))
        });
    }
    let (last, others) = ask.last_and_others();
    for mut tally in [certain, few] {
        tally.without_groups();
        outcome.found(tally.finding(last, others.clone()));
    }
    let is_found = outcome.verdict == Verdict::Fail;
    if !is_found && (refined.not_assessed > 0 || !refined.finished) {
        outcome.verdict = Verdict::NotAssessed(Reason::MatchingUnfinished);
        outcome.needs = Some(refined.needs()).filter(|&needs| needs > ask.budget.steps);
    }
}
