//! Which pairs of groups can share a person at all, and with which values (science D4.6).
//!
//! If nobody left, every row of the earlier release needs a row of the later one. A value that no such matching sends
//! from one group to another cannot be the value of anyone who is in both. If groups of one release overlap, the values of
//! all groups over a person remain; if people are not known, every part of the place is looked at.

use crate::audit::checks::correspondence::{People, names};
use crate::audit::checks::flows::{Edge, Flows, Over, Standing};
use crate::audit::checks::tally::Tally;
use crate::audit::checks::{Ask, flows};
use crate::audit::{Check, Fault, Outcome, Quantity, Reason, Statement, Witness};
use crate::model::Value;

pub(in crate::audit) fn check(ask: &Ask<'_>) -> Outcome {
    flows::each(ask, Check::Matching, Reason::SharedPlaces, judge).0
}

fn judge(ask: &Ask<'_>, flows: &Flows<'_>, mut outcome: Outcome) -> Outcome {
    let l = u64::from(ask.thresholds.l);
    let mut few = Tally::new(Fault::FewMatchedValues);
    let (mut possible, mut unclear) = (0u64, 0u64);
    let (mut told, mut open): (Vec<(&Edge, Vec<Value>)>, Vec<&Edge>) = (Vec::new(), Vec::new());
    for edge in flows.edges.iter().filter(|edge| !edge.most.is_empty()) {
        possible += 1;
        if edge.most.len() as u64 >= l {
            continue;
        }
        let (old, new) = flows.over(edge);
        let all = old.iter().flat_map(|&old| new.iter().filter_map(move |&new| flows.edge(old, new)));
        let mut values: Vec<Value> = all.flat_map(|edge| edge.most.iter().map(|&(value, _)| value)).collect();
        values.sort_unstable();
        values.dedup();
        let count = values.len() as u64;
        // Several groups cover parts of the place. All their values together bound the values left in each part from
        // above.
        if count >= l {
            open.push(edge);
            continue;
        }
        told.push((edge, values));
    }
    let pairs: Vec<(u32, u32)> = told.iter().map(|(edge, _)| (edge.earlier, edge.later)).collect();
    let mut people = People::new(flows.people_between(ask, &pairs));
    for (at, (edge, values)) in told.into_iter().enumerate() {
        let Some(there) = people.count(at, edge.rows) else { continue };
        let (old, new) = flows.over(edge);
        let count = values.len() as u64;
        few.add(there, count, || Witness {
            values,
            ..Witness::new(Statement::FewMatchedValues, names(flows, &old, &new), count, l)
        });
    }
    let pairs: Vec<(u32, u32)> = open.iter().map(|edge| (edge.earlier, edge.later)).collect();
    // The same groups lie over a point whichever pair of them is asked.
    let mut at_sets: Vec<Over> = Vec::new();
    for standing in flows.over_points(ask, &pairs) {
        unclear += u64::from(standing.is_none());
        for Standing { at, people: there } in standing.into_iter().flatten() {
            let all = at.earlier.iter().flat_map(|&old| at.later.iter().filter_map(move |&new| flows.edge(old, new)));
            let (mut values, mut rows): (Vec<Value>, u64) = (Vec::new(), 0);
            all.for_each(|edge| {
                values.extend(edge.most.iter().map(|&(value, _)| value));
                rows += edge.rows;
            });
            values.sort_unstable();
            values.dedup();
            let count = values.len() as u64;
            if (1..l).contains(&count) && !at_sets.contains(&at) {
                at_sets.push(at.clone());
                few.add(people.tell(&there, rows), count, || Witness {
                    values,
                    ..Witness::new(Statement::FewMatchedValues, names(flows, &at.earlier, &at.later), count, l)
                });
            }
        }
    }
    let edges = flows.edges.len() as u64;
    outcome.coverage.of += edges;
    outcome.coverage.looked_at += edges.saturating_sub(flows.passed_over + unclear);
    let number = Some(flows.later.number);
    outcome.measure(number, Quantity::PairsOverlapping, edges as f64);
    outcome.measure(number, Quantity::PairsSharing, possible as f64);
    few.at_most(flows.later.row_count() as u64);
    outcome.found(few.finding(flows.later.number, vec![flows.earlier.number]));
    outcome
}
