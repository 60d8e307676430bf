//! Whether the releases are one unbroken series, as their manifests say (science D4.14).
//!
//! Nothing is learned of anybody here. What is found says that the promise was judged over other releases than these.

use crate::audit::checks::Ask;
use crate::audit::{Check, Coverage, Fault, Finding, Outcome, Reason, Statement, Witness};
use crate::model::{ChainBreak, ChainFault, ChainLink, chain_breaks};

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    let links: Vec<Option<&ChainLink>> = ask.series.traces.iter().map(|traces| traces.link.as_ref()).collect();
    let linked = links.iter().flatten().count() as u64;
    if linked < 2 {
        return Outcome::not_applicable(Check::Chain, Reason::NoChain);
    }
    let mut outcome = Outcome::new(Check::Chain, Coverage { looked_at: linked, of: linked, what: "releases" });
    let number = |place: usize| links[place].map_or(0, |link| link.number);
    // What a project took in from elsewhere is there without a manifest.
    let elsewhere = |number: u32| {
        let mut without = ask.series.releases.iter().zip(&links).filter(|(_, link)| link.is_none());
        without.any(|(release, _)| release.number == number)
    };
    let is_there = |found: &ChainBreak| {
        found.fault == ChainFault::Missing && (number(found.with) + 1..number(found.at)).all(elsewhere)
    };
    for found in chain_breaks(&links).into_iter().filter(|found| !is_there(found)) {
        let (fault, statement) = Fault::of_chain(found.fault);
        let (release, with) = (&ask.series.releases[found.at], &ask.series.releases[found.with]);
        let (number, line) = (u64::from(number(found.at)), u64::from(number(found.with)));
        outcome.found([Finding {
            fault,
            release: release.number,
            people: release.row_count() as u64 - release.counterfeit_count(),
            groups: 0,
            example: None,
            others: if found.at == found.with { Vec::new() } else { vec![with.number] },
            witness: Some(Witness::new(statement, Vec::new(), number, line)),
        }]);
    }
    outcome
}

impl Fault {
    /// The fault of a broken chain, and what its witness states.
    fn of_chain(fault: ChainFault) -> (Fault, Statement) {
        match fault {
            ChainFault::TwoOfOneNumber => (Fault::TwoOfOneNumber, Statement::TwoOfOneNumber),
            ChainFault::Broken => (Fault::ChainBroken, Statement::ChainBroken),
            ChainFault::Missing => (Fault::ReleasesMissing, Statement::ReleasesMissing),
        }
    }
}
