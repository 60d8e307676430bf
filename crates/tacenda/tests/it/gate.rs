//! Policies that cheat on purpose are refused by the gate.

use crate::kit;
use crate::kit::{TestPerson, publish_all};
use tacenda::audit::Fault;
use tacenda::grouping::GroupingError;
use tacenda::model::{Grouping, History, Lots, Schema, Span, Table};
use tacenda::promise::{Grouper, MInvariance, OnIneligible, SeriesPromise};
use tacenda::publish::PublishError;

const HONEST: MInvariance = MInvariance { on_ineligible: OnIneligible::Counterfeit, ..MInvariance::new(2) };

type Cheating = fn(&Schema, &History, &Table, &Lots) -> Result<Grouping, GroupingError>;

/// Promises what the honest policy promises, and does something else.
struct Cheat(Cheating);

impl Grouper for Cheat {
    fn promise(&self) -> SeriesPromise {
        HONEST.promise()
    }

    fn group(&self, schema: &Schema, history: &History, table: &Table, lots: &Lots) -> Result<Grouping, GroupingError> {
        self.0(schema, history, table, lots)
    }
}

/// Four diseases; in the second snapshot nobody has the second one any more, and others have come.
fn snapshots() -> Vec<Vec<TestPerson>> {
    let person = |id: u32| TestPerson { id, age: 20 + id * 3 % 60, place: id % 8, disease: (id % 4) as u8 };
    vec![(0..24).map(person).collect(), (4..27).filter(|id| id % 4 != 1).map(person).collect()]
}

fn faults(cheating: Cheating) -> Vec<Fault> {
    let cheat = Cheat(cheating);
    match publish_all(&kit::file(cheat.promise()), &cheat, &snapshots()) {
        Err(PublishError::Refused(findings)) => findings.into_iter().map(|finding| finding.fault).collect(),
        Err(error) => panic!("{error}"),
        Ok(_) => Vec::new(),
    }
}

#[test]
fn an_honest_policy_passes() {
    assert_eq!(faults(|schema, history, table, lots| HONEST.group(schema, history, table, lots)), []);
}

#[test]
fn a_policy_that_ignores_history_is_refused() {
    let found = faults(|schema, _, table, lots| HONEST.group(schema, &History::default(), table, lots));
    assert_eq!(found, [Fault::ValueSetChanged]);
}

#[test]
fn a_policy_that_drops_counterfeits_is_refused() {
    let found = faults(|schema, history, table, lots| {
        let honest = HONEST.group(schema, history, table, lots)?;
        let mut cheated = Grouping::default();
        cheated.withheld = honest.withheld.clone();
        honest.groups().for_each(|group| cheated.push(group.rows, &[]));
        assert!(history.releases == 0 || honest.counterfeit_count() > 0, "there is something to drop");
        Ok(cheated)
    });
    assert!(found.contains(&Fault::TooFewValues), "{found:?}");
    assert!(found.contains(&Fault::ValueSetChanged), "{found:?}");
}

#[test]
fn a_policy_that_shrinks_a_region_is_refused() {
    let found = faults(|schema, history, table, lots| {
        let honest = HONEST.group(schema, history, table, lots)?;
        let mut cheated = Grouping::default();
        cheated.withheld = honest.withheld.clone();
        for group in honest.groups() {
            let region: Vec<Span> = (0..schema.quasi.len())
                .map(|attribute| Span::exact(table.quasi(attribute)[group.rows[0].index()]))
                .collect();
            cheated.push_with_region(group.rows, group.counterfeits, &region);
        }
        Ok(cheated)
    });
    assert_eq!(found, [Fault::RegionMisses]);
}

#[test]
#[should_panic(expected = "a policy placed a row twice")]
fn a_policy_that_doubles_a_person_is_a_bug() {
    faults(|schema, history, table, lots| {
        let honest = HONEST.group(schema, history, table, lots)?;
        let mut cheated = honest.clone();
        cheated.push(honest.group(0).rows, &[]);
        Ok(cheated)
    });
}
