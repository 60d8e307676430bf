//! Whether the groups would have been the same if people had exchanged their values (science A3.11).
//!
//! A reader who knows the program reruns it on every assignment of values that fits. If an exchange of values gives
//! other groups, that reader can rule the exchange out. Only the publisher can try this, because it takes the private
//! tables and the seed. If the promise does not cover such a reader, the result is measured and never fails.

use crate::audit::checks::Ask;
use crate::audit::checks::tally::Tally;
use crate::audit::{Check, Coverage, Fault, Outcome, Quantity, Reason, Statement, Verdict, Witness};
use crate::model::{Hides, Reader, Terms};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let hides_values = |promise: &&Terms| promise.keeps_value_sets && matches!(promise.hides, Hides::Value(_));
    // An auditor who names this reader wants an answer, whatever was promised.
    let is_named = ask.attacker.reader == Some(Reader::Method);
    let open = |why: Reason| {
        let coverage = Coverage { what: "people of releases", ..Coverage::default() };
        Outcome { verdict: Verdict::NotAssessed(why), ..Outcome::new(Check::Rerun, coverage) }
    };
    let Some(promise) = ask.series.promise.filter(hides_values) else {
        return match is_named {
            true => open(Reason::SeedUnknown),
            false => Outcome::not_applicable(Check::Rerun, Reason::MethodNotPromised),
        };
    };
    let is_promised = ask.attacker.judged_reader(Some(promise)) == Reader::Method;
    let Some(rerun) = ask.series.rerun else {
        if is_named {
            return open(Reason::SeedUnknown);
        }
        return Outcome::not_applicable(
            Check::Rerun,
            match (is_promised, ask.series.knowledge) {
                (false, _) => Reason::MethodNotPromised,
                (true, None) => Reason::PeopleUnknown,
                (true, Some(_)) => Reason::SeedUnknown,
            },
        );
    };
    let Some(releases) = rerun.exchange() else {
        let mut outcome = Outcome::not_applicable(Check::Rerun, Reason::MethodNotPromised);
        if is_promised {
            outcome.verdict = Verdict::NotAssessed(Reason::NotMadeAgain);
        }
        return outcome;
    };
    let people = releases.iter().map(|release| release.people).sum();
    let mut outcome =
        Outcome::new(Check::Rerun, Coverage { looked_at: people, of: people, what: "people of releases" });
    let mut moved = Tally::new(Fault::GroupsTellValues);
    for (place, exchanged) in (0u32..).zip(&releases) {
        let number = ask.series.releases[place as usize].number;
        outcome.measure(Some(number), Quantity::PeopleMoved, exchanged.moved as f64);
        let Some(&group) = exchanged.groups.first() else { continue };
        moved.add(exchanged.moved, 0, || {
            Witness::new(Statement::GroupsMoved, vec![(place, group)], exchanged.moved, exchanged.people)
        });
    }
    match is_promised {
        true => {
            let (last, others) = ask.last_and_others();
            outcome.found(moved.finding(last, others));
        }
        false => outcome.verdict = Verdict::NotApplicable(Reason::MethodNotPromised),
    }
    outcome
}
