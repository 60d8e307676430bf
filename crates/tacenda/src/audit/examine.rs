//! Asks all questions about a series of releases, made by any publisher.
//!
//! Each check has its own file under `checks` and returns one [`Outcome`]. Checks share only the question and what
//! several of them build on, such as the candidates.

use crate::audit::checks::Ask;
use crate::audit::knowledge::Knowledge;
use crate::audit::story::Story;
use crate::audit::{
    Assessment, Attacker, Budget, Check, Coverage, Fault, Outcome, Reason, Series, Thresholds, Verdict, checks, story,
};
use crate::model::{GroupRule, Terms};

/// Examines a series by all checks, in the order of [`Check::ALL`]. `progress` is called before each check.
///
/// # Panics
/// If the parts of the series do not fit each other. There must be one list of traces per release and, if knowledge is
/// given, one table per release.
pub fn examine(
    series: &Series<'_>,
    attacker: Attacker,
    thresholds: &Thresholds,
    budget: &Budget,
    progress: &(dyn Fn(Check) + Sync),
) -> Assessment {
    examine_only(series, attacker, thresholds, budget, progress, &Check::ALL)
}

/// Examines a series by some checks, in the order of [`Check::ALL`] whatever the order given.
///
/// # Panics
/// As [`examine`].
pub fn examine_only(
    series: &Series<'_>,
    attacker: Attacker,
    thresholds: &Thresholds,
    budget: &Budget,
    progress: &(dyn Fn(Check) + Sync),
    checks: &[Check],
) -> Assessment {
    let (mut ask, mut assessment) = examined(series, attacker, thresholds, budget, progress, checks);
    // What was worked out for everyone does not depend on the thresholds, and is used again.
    ask.thresholds = at_least_two(thresholds);
    let again = checks.iter().copied().filter(|&check| is_open_below_two(check, thresholds, series.promise));
    let again: Vec<Check> = again.collect();
    assessment.at_two =
        Check::ALL.into_iter().filter(|check| again.contains(check)).map(|check| answer(check, &ask)).collect();
    assessment
}

/// The same at the given thresholds only. The gate uses this.
pub(super) fn examine_at(
    series: &Series<'_>,
    attacker: Attacker,
    thresholds: &Thresholds,
    budget: &Budget,
    checks: &[Check],
) -> Assessment {
    examined(series, attacker, thresholds, budget, &|_| {}, checks).1
}

/// At least two people and two values: with less, nobody is hidden.
fn at_least_two(thresholds: &Thresholds) -> Thresholds {
    Thresholds { k: thresholds.k.max(2), l: thresholds.l.max(2), t: thresholds.t }
}

/// Whether a check would find more at two people and two values than at the thresholds given.
fn is_open_below_two(check: Check, thresholds: &Thresholds, promise: Option<&Terms>) -> bool {
    let of_people = match check {
        Check::GroupSizes | Check::LinkedIds | Check::Correspondence | Check::Joins => true,
        // With balanced groups it asks nothing about the number of arrivals.
        Check::Difference => promise.is_none_or(|promise| promise.groups != GroupRule::Balanced),
        _ => false,
    };
    let of_values = [
        Check::Diversity,
        Check::LinkedIds,
        Check::Difference,
        Check::Candidates,
        Check::Matching,
        Check::Posterior,
        Check::Joins,
    ];
    (thresholds.k < 2 && of_people) || (thresholds.l < 2 && of_values.contains(&check))
}

fn examined<'a>(
    series: &Series<'a>,
    attacker: Attacker,
    thresholds: &Thresholds,
    budget: &Budget,
    progress: &(dyn Fn(Check) + Sync),
    checks: &[Check],
) -> (Ask<'a>, Assessment) {
    assert_eq!(series.traces.len(), series.releases.len(), "one list of traces per release");
    if let Some(knowledge) = series.knowledge {
        assert_eq!(knowledge.releases(), series.releases.len(), "one table of knowledge per release");
    }
    let ask = Ask::new(*series, attacker, *thresholds, *budget);
    let asked = Check::ALL.into_iter().filter(|check| checks.contains(check));
    let outcomes: Vec<Outcome> = asked
        .map(|check| {
            progress(check);
            answer(check, &ask)
        })
        .collect();
    let is_doubted = series.knowledge.is_some_and(Knowledge::is_doubted);
    let story = match checks.contains(&Check::Candidates) && !is_doubted {
        true => checks::candidates::story(&ask).or_else(|| story_of_place(series, &outcomes)),
        false => None,
    };
    let pairs_left_out = ask.left_out.pairs;
    (ask, Assessment { outcomes, story, at_two: Vec::new(), pairs_left_out })
}

/// Attacks one person step by step, as the candidates of [`examine`] count them. There is one story for each period
/// without a change of value, and none if people or presence are not known.
///
/// # Panics
/// As [`examine`].
pub fn stories_of(series: &Series<'_>, attacker: Attacker, budget: &Budget, person: u32) -> Vec<Story> {
    assert_eq!(series.traces.len(), series.releases.len(), "one list of traces per release");
    let ask = Ask::new(*series, attacker, Thresholds::default(), *budget);
    checks::candidates::stories_of(&ask, person)
}

/// The story of the worst place found, if people are not known: the one with the fewest values left.
fn story_of_place(series: &Series<'_>, outcomes: &[Outcome]) -> Option<Story> {
    let findings = outcomes.iter().flat_map(|outcome| &outcome.findings);
    let places = findings.filter(|finding| finding.fault == Fault::PlaceGivesAway);
    let worst = places.filter_map(|finding| finding.witness.as_ref()).min_by_key(|witness| witness.number)?;
    story::tell_place(series.schema, series.releases, &worst.groups, &worst.values)
}

/// Whether a check concludes something from the groups that cover people.
fn places_people(check: Check) -> bool {
    use Check::{
        Candidates, Changes, Correspondence, Difference, Equivalence, EverLinked, Joins, Matching, Posterior, Rerun,
        Waiting,
    };
    let of_groups = matches!(check, Candidates | Correspondence | Difference | Joins | Matching);
    of_groups || matches!(check, Changes | Equivalence | EverLinked | Posterior | Rerun | Waiting)
}

/// Whether a check asks about the values of people.
fn asks_of_values(check: Check) -> bool {
    use Check::{Changes, Equivalence, EverLinked, Learned, Posterior, Waiting};
    matches!(check, Changes | Equivalence | EverLinked | Learned | Posterior | Waiting)
}

fn answer(check: Check, ask: &Ask<'_>) -> Outcome {
    // A person whom no group covers shows that the reading is wrong, so its findings about others may be wrong too.
    if ask.series.knowledge.is_some_and(Knowledge::is_doubted) && places_people(check) {
        let verdict = Verdict::NotAssessed(Reason::ReadingDoubted);
        return Outcome { verdict, ..Outcome::new(check, Coverage::default()) };
    }
    // Without values there is nothing that private tables could answer.
    if asks_of_values(check) && ask.with_sensitive().next().is_none() {
        return Outcome::not_applicable(check, Reason::NoSensitiveColumn);
    }
    match check {
        Check::GroupSizes => checks::group_sizes::check(ask),
        Check::Diversity => checks::diversity::check(ask),
        Check::Frequency => checks::frequency::check(ask),
        Check::Closeness => checks::closeness::check(ask),
        Check::LinkedIds => checks::linked_ids::check(ask),
        Check::Difference => checks::difference::check(ask),
        Check::Candidates => checks::candidates::check(ask),
        Check::Correspondence => checks::correspondence::check(ask),
        Check::Matching => checks::matching::check(ask),
        Check::Posterior => checks::posterior::check(ask),
        Check::Equivalence => checks::equivalence::check(ask),
        Check::Joins => checks::joins::check(ask),
        Check::RowOrder => checks::row_order::check(ask),
        Check::GroupNames => checks::group_names::check(ask),
        Check::MovedRegions => checks::moved_regions::check(ask),
        Check::Boundaries => checks::boundaries::check(ask),
        Check::Drift => checks::drift::check(ask),
        Check::Learned => checks::learned::check(ask),
        Check::EverLinked => checks::ever_linked::check(ask),
        Check::Changes => checks::changes::check(ask),
        Check::Waiting => checks::waiting::check(ask),
        Check::Chain => checks::chain::check(ask),
        Check::Rerun => checks::rerun::check(ask),
    }
}
